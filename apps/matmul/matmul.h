#pragma once

// C = A·B for matrices of floats, stored [columns, rows].

#include "Halide.h"

struct Matmul {
    Halide::ImageParam a{Halide::Float(32), 2, "A"}, b{Halide::Float(32), 2, "B"};
    Halide::Func product{"product"}, output{"output"};
    Halide::Var x{"x"}, y{"y"}, xi{"xi"}, yi{"yi"}, xo{"xo"}, yo{"yo"}, xv{"xv"};
    Halide::RDom k;

    Matmul() : k(0, a.width(), "k") {
        product(x, y) += a(k, y) * b(x, k);
        output(x, y) = product(x, y);
    }

    /// Tiles of 4 rows by 3 vectors stay in registers over the whole reduction; blocks of rows run in parallel.
    void schedule(int lanes) {
        const int tile_x = 3 * lanes, tile_y = 4;
        output.tile(x, y, xi, yi, tile_x, tile_y).vectorize(xi, lanes).unroll(xi).unroll(yi);
        output.split(y, yo, y, 16, Halide::TailStrategy::GuardWithIf).parallel(yo);
        product.compute_at(output, x).vectorize(x, lanes).unroll(x).unroll(y);
        product.update().reorder(x, y, k).vectorize(x, lanes).unroll(x).unroll(y);
    }
};
