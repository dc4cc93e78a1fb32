#pragma once

// Unsharp masking: the luma of a picture [width, height, 3] of bytes, minus its Gaussian blur, is added back.

#include "Halide.h"

struct Unsharp {
    Halide::ImageParam input{Halide::UInt(8), 3, "input"};
    Halide::Param<float> sigma{"sigma", 1.5f, 0.1f, 20.0f};
    Halide::Func kernel{"kernel"}, padded{"padded"}, gray{"gray"}, blur_y{"blur_y"}, blur_x{"blur_x"}, ratio{"ratio"};
    Halide::Func output{"output"};
    Halide::Var x{"x"}, y{"y"}, c{"c"}, yi{"yi"};

    Unsharp() {
        using namespace Halide;
        kernel(x) = exp(-x * x / (2 * sigma * sigma)) / (sqrtf(2 * 3.14159265f) * sigma);
        padded = BoundaryConditions::repeat_edge(input);
        gray(x, y) = 0.299f * padded(x, y, 0) + 0.587f * padded(x, y, 1) + 0.114f * padded(x, y, 2);
        blur_y(x, y) = kernel(0) * gray(x, y) + kernel(1) * (gray(x, y - 1) + gray(x, y + 1)) +
                       kernel(2) * (gray(x, y - 2) + gray(x, y + 2)) + kernel(3) * (gray(x, y - 3) + gray(x, y + 3));
        blur_x(x, y) = kernel(0) * blur_y(x, y) + kernel(1) * (blur_y(x - 1, y) + blur_y(x + 1, y)) +
                       kernel(2) * (blur_y(x - 2, y) + blur_y(x + 2, y)) +
                       kernel(3) * (blur_y(x - 3, y) + blur_y(x + 3, y));
        ratio(x, y) = (2 * gray(x, y) - blur_x(x, y)) / max(gray(x, y), 1.0f);
        output(x, y, c) = cast<uint8_t>(clamp(ratio(x, y) * input(x, y, c), 0.0f, 255.0f));
    }

    void schedule(int lanes) {
        kernel.compute_root();
        output.bound(c, 0, 3).reorder(c, x, y).unroll(c).split(y, y, yi, 16, Halide::TailStrategy::GuardWithIf).parallel(y).vectorize(x, lanes);
        ratio.compute_at(output, yi).vectorize(x, lanes);
        blur_y.store_at(output, y).compute_at(output, yi).vectorize(x, lanes);
        gray.store_at(output, y).compute_at(output, yi).vectorize(x, lanes);
    }
};
