// Blurs a picture with the pipeline compiled ahead of time.

#include "app_run.h"
#include "blur.aot.h"

using Halide::Runtime::Buffer;

static Buffer<uint16_t> reference(const Buffer<uint16_t> &in) {
    Buffer<uint16_t> rows(in.width() - 2, in.height(), in.channels()), out(in.width() - 2, in.height() - 2, in.channels());
    rows.for_each_element([&](int x, int y, int c) {
        rows(x, y, c) = (uint16_t)((uint16_t)(in(x, y, c) + in(x + 1, y, c) + in(x + 2, y, c)) / 3);
    });
    out.for_each_element([&](int x, int y, int c) {
        out(x, y, c) = (uint16_t)((uint16_t)(rows(x, y, c) + rows(x, y + 1, c) + rows(x, y + 2, c)) / 3);
    });
    return out;
}

static int test() {
    for (int width : {18, 19, 33, 200}) {
        for (int height : {3, 4, 34, 101}) {
            Buffer<uint16_t> in = random_buffer<uint16_t>({width, height, 3}, width * 1000 + height);
            Buffer<uint16_t> out(width - 2, height - 2, 3);
            if (blur(in, out) != 0) {
                return 1;
            }
            Buffer<uint16_t> expected = reference(in);
            if (!same(out, expected)) {
                fprintf(stderr, "blur of %d x %d\n", width, height);
                return 1;
            }
        }
    }
    return 0;
}

static int process(const std::string &in_name, const std::string &out_name) {
    Buffer<uint8_t> picture = Halide::Tools::load_and_convert_image(in_name);
    if (picture.dimensions() == 2) {
        picture.add_dimension();
    }
    if (picture.width() < 18 || picture.height() < 3) {
        fprintf(stderr, "%s: %d x %d pixels are too few to blur (at least 18 x 3)\n", in_name.c_str(), picture.width(), picture.height());
        return 1;
    }
    Buffer<uint16_t> in(picture.width(), picture.height(), picture.channels());
    in.for_each_element([&](int x, int y, int c) { in(x, y, c) = picture(x, y, c); });
    Buffer<uint16_t> out(in.width() - 2, in.height() - 2, in.channels());
    const double seconds = Halide::Tools::benchmark(5, 10, [&]() { blur(in, out); });
    Buffer<uint8_t> result(out.width(), out.height(), out.channels());
    result.for_each_element([&](int x, int y, int c) { result(x, y, c) = (uint8_t)out(x, y, c); });
    Halide::Tools::convert_and_save_image(result, out_name);
    printf("blur (ahead of time): %.3f ms for %d x %d x %d\n", seconds * 1e3, in.width(), in.height(), in.channels());
    return 0;
}

int main(int argc, char **argv) {
    return app_main(argc, argv, test, process);
}
