#pragma once

// Histogram equalization of a gray picture [width, height] of bytes: a scattering reduction, a scan, and a table lookup.

#include "Halide.h"

struct HistogramEqualize {
    Halide::ImageParam input{Halide::UInt(8), 2, "input"};
    Halide::Func histogram{"histogram"}, cdf{"cdf"}, table{"table"}, output{"output"};
    Halide::Var x{"x"}, y{"y"}, i{"i"}, u{"u"};
    Halide::RDom r, scan{1, 255, "scan"};

    HistogramEqualize() : r(input) {
        using namespace Halide;
        histogram(i) = cast<uint32_t>(0);
        histogram(cast<int>(input(r.x, r.y))) += cast<uint32_t>(1);
        cdf(i) = histogram(i);
        cdf(scan) = cdf(scan - 1) + histogram(scan);
        Expr pixels = cast<uint32_t>(input.width() * input.height());
        Expr first = cdf(0);
        Expr span = max(pixels - first, cast<uint32_t>(1));
        Expr above = select(cdf(i) > first, cdf(i) - first, cast<uint32_t>(0));
        table(i) = cast<uint8_t>((cast<uint64_t>(above) * 255) / cast<uint64_t>(span));
        output(x, y) = table(cast<int>(input(x, y)));
    }

    void schedule(int lanes) {
        using namespace Halide;
        Func partial = histogram.update().rfactor(r.y, u);
        partial.compute_root().vectorize(i, lanes).update().parallel(u);
        histogram.compute_root().vectorize(i, lanes);
        histogram.update().reorder(i, r.y).vectorize(i, lanes);
        cdf.compute_root();
        table.compute_root().vectorize(i, lanes);
        output.parallel(y, 16).vectorize(x, lanes);
    }
};
