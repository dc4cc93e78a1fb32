// The blur by JIT: prints the loop nest of the schedule and how much faster it makes the same algorithm.

#include <cstdio>

#include "Halide.h"
#include "blur.h"
#include "halide_benchmark.h"
#include "halide_image_io.h"

using namespace Halide;

/// Seconds of one run over `in`.
static double time_blur(Blur &blur, Buffer<uint16_t> in, Buffer<uint16_t> out) {
    blur.input.set(in);
    blur.blur_y.compile_jit();
    return Tools::benchmark(5, 3, [&]() { blur.blur_y.realize(out); });
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: %s PICTURE\n", argv[0]);
        return 1;
    }
    try {
        Buffer<uint8_t> picture = Tools::load_and_convert_image(argv[1]);
        if (picture.dimensions() == 2) {
            picture.add_dimension();
        }
        if (picture.width() < 18 || picture.height() < 3) {
            fprintf(stderr, "%s: %d x %d pixels are too few to blur (at least 18 x 3)\n", argv[1], picture.width(), picture.height());
            return 1;
        }
        Buffer<uint16_t> in(picture.width(), picture.height(), picture.channels());
        in.for_each_element([&](int x, int y, int c) { in(x, y, c) = picture(x, y, c); });
        Buffer<uint16_t> plain_out(in.width() - 2, in.height() - 2, in.channels());
        Buffer<uint16_t> fast_out(in.width() - 2, in.height() - 2, in.channels());

        Blur plain, fast;
        fast.schedule(16);
        fast.blur_y.print_loop_nest();
        const double t_plain = time_blur(plain, in, plain_out);
        const double t_fast = time_blur(fast, in, fast_out);
        bool equal = true;
        fast_out.for_each_element([&](int x, int y, int c) { equal = equal && fast_out(x, y, c) == plain_out(x, y, c); });
        printf("unscheduled: %.3f ms, scheduled: %.3f ms, speed-up %.1f x, results %s\n", t_plain * 1e3, t_fast * 1e3,
               t_plain / t_fast, equal ? "identical" : "DIFFERENT");
        return equal ? 0 : 1;
    } catch (const Error &e) {
        fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
