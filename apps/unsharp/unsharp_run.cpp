// Sharpens a picture with the pipeline compiled ahead of time.

#include <algorithm>
#include <cmath>

#include "app_run.h"
#include "unsharp.aot.h"

using Halide::Runtime::Buffer;

static Buffer<uint8_t> reference(const Buffer<uint8_t> &in, float sigma) {
    const int w = in.width(), h = in.height();
    float k[4];
    for (int i = 0; i < 4; i++) {
        k[i] = std::exp((float)(-i * i) / (2 * sigma * sigma)) / (std::sqrt(2 * 3.14159265f) * sigma);
    }
    auto gray = [&](int x, int y) {
        x = std::clamp(x, 0, w - 1);
        y = std::clamp(y, 0, h - 1);
        return 0.299f * in(x, y, 0) + 0.587f * in(x, y, 1) + 0.114f * in(x, y, 2);
    };
    auto blur_y = [&](int x, int y) {
        float v = k[0] * gray(x, y);
        for (int i = 1; i < 4; i++) {
            v += k[i] * (gray(x, y - i) + gray(x, y + i));
        }
        return v;
    };
    Buffer<uint8_t> out(w, h, 3);
    for (int y = 0; y < h; y++) {
        for (int x = 0; x < w; x++) {
            float b = k[0] * blur_y(x, y);
            for (int i = 1; i < 4; i++) {
                b += k[i] * (blur_y(x - i, y) + blur_y(x + i, y));
            }
            const float ratio = (2 * gray(x, y) - b) / std::max(gray(x, y), 1.0f);
            for (int c = 0; c < 3; c++) {
                out(x, y, c) = (uint8_t)std::clamp(ratio * in(x, y, c), 0.0f, 255.0f);
            }
        }
    }
    return out;
}

static int test() {
    for (int width : {16, 37, 100}) {
        Buffer<uint8_t> in = random_buffer<uint8_t>({width, 51, 3}, width);
        Buffer<uint8_t> out(width, 51, 3);
        if (unsharp(in, 1.5f, out) != 0) {
            return 1;
        }
        // Sums in another order may round a value across an integer.
        Buffer<uint8_t> expected = reference(in, 1.5f);
        if (!same(out, expected, 1)) {
            return 1;
        }
    }
    return 0;
}

static int process(const std::string &in_name, const std::string &out_name) {
    Buffer<uint8_t> in = Halide::Tools::load_and_convert_image(in_name);
    if (in.dimensions() != 3 || in.channels() < 3) {
        fprintf(stderr, "%s: unsharp needs a picture with three colours\n", in_name.c_str());
        return 1;
    }
    Buffer<uint8_t> out(in.width(), in.height(), 3);
    if (int error = unsharp(in, 1.5f, out)) {
        return error;
    }
    Halide::Tools::convert_and_save_image(out, out_name);
    return 0;
}

int main(int argc, char **argv) {
    return app_main(argc, argv, test, process);
}
