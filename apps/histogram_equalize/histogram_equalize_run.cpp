// Equalizes the histogram of a gray picture with the pipeline compiled ahead of time.

#include "app_run.h"
#include "histogram_equalize.aot.h"

using Halide::Runtime::Buffer;

static Buffer<uint8_t> reference(const Buffer<uint8_t> &in) {
    uint32_t cdf[256] = {};
    in.for_each_value([&](uint8_t v) { cdf[v]++; });
    for (int i = 1; i < 256; i++) {
        cdf[i] += cdf[i - 1];
    }
    const uint64_t pixels = (uint64_t)in.width() * in.height();
    const uint64_t span = pixels > cdf[0] ? pixels - cdf[0] : 1;
    Buffer<uint8_t> out(in.width(), in.height());
    out.for_each_element([&](int x, int y) { out(x, y) = (uint8_t)((uint64_t)(cdf[in(x, y)] - cdf[0]) * 255 / span); });
    return out;
}

static int test() {
    for (int width : {8, 31, 300}) {
        Buffer<uint8_t> in = random_buffer<uint8_t>({width, 77}, width);
        in.for_each_value([](uint8_t &v) { v = (uint8_t)(40 + v / 4); });
        Buffer<uint8_t> out(width, 77);
        if (histogram_equalize(in, out) != 0) {
            return 1;
        }
        Buffer<uint8_t> expected = reference(in);
        if (!same(out, expected)) {
            return 1;
        }
    }
    return 0;
}

static int process(const std::string &in_name, const std::string &out_name) {
    Buffer<uint8_t> picture = Halide::Tools::load_and_convert_image(in_name);
    Buffer<uint8_t> gray(picture.width(), picture.height());
    gray.for_each_element([&](int x, int y) {
        if (picture.dimensions() == 3 && picture.channels() >= 3) {
            gray(x, y) = (uint8_t)((picture(x, y, 0) * 299 + picture(x, y, 1) * 587 + picture(x, y, 2) * 114) / 1000);
        } else {
            gray(x, y) = picture.dimensions() == 3 ? picture(x, y, 0) : picture(x, y);
        }
    });
    Buffer<uint8_t> out(gray.width(), gray.height());
    if (int error = histogram_equalize(gray, out)) {
        return error;
    }
    Halide::Tools::convert_and_save_image(out, out_name);
    return 0;
}

int main(int argc, char **argv) {
    return app_main(argc, argv, test, process);
}
