#pragma once

// A 3×3 box blur in two stages, over 16-bit pictures [width, height, channels]. The output is two pixels smaller than
// the input: pixel (x, y) is the mean of input (x … x+2, y … y+2), rounded down twice.

#include "Halide.h"

struct Blur {
    Halide::ImageParam input{Halide::UInt(16), 3, "input"};
    Halide::Func blur_x{"blur_x"}, blur_y{"blur_y"};
    Halide::Var x{"x"}, y{"y"}, c{"c"}, yi{"yi"}, xi{"xi"};

    Blur() {
        blur_x(x, y, c) = (input(x, y, c) + input(x + 1, y, c) + input(x + 2, y, c)) / 3;
        blur_y(x, y, c) = (blur_x(x, y, c) + blur_x(x, y + 1, c) + blur_x(x, y + 2, c)) / 3;
    }

    /// Strips of 32 rows in parallel; the first stage slides down each strip, three rows alive at a time.
    void schedule(int lanes) {
        blur_y.split(y, y, yi, 32, Halide::TailStrategy::GuardWithIf).parallel(y).vectorize(x, lanes);
        blur_x.store_at(blur_y, y).compute_at(blur_y, yi).vectorize(x, lanes);
    }
};
