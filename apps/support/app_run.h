#pragma once

// What the run-time sides of the apps share: they use only the runtime's headers and the compiled pipeline.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "HalideBuffer.h"
#include "halide_benchmark.h"
#include "halide_image_io.h"

/// A buffer of pseudo-random values, the same on every machine.
template<typename T>
Halide::Runtime::Buffer<T> random_buffer(std::vector<int> sizes, uint32_t seed) {
    Halide::Runtime::Buffer<T> b(sizes);
    std::mt19937 random(seed);
    b.for_each_value([&](T &v) {
        if constexpr (std::is_floating_point_v<T>) {
            v = (T)(random() % 1024) / 1024 - (T)0.5;
        } else {
            v = (T)random();
        }
    });
    return b;
}

/// Prints the first difference of two buffers of one shape; true if there is none beyond `tolerance`.
template<typename T>
bool same(Halide::Runtime::Buffer<T> &a, Halide::Runtime::Buffer<T> &b, double tolerance = 0) {
    bool ok = true;
    a.for_each_element([&](const int *pos) {
        const double d = (double)a(pos) - (double)b(pos);
        if (ok && !(d <= tolerance && -d <= tolerance)) {
            ok = false;
            fprintf(stderr, "difference at (");
            for (int i = 0; i < a.dimensions(); i++) {
                fprintf(stderr, "%s%d", i ? ", " : "", pos[i]);
            }
            fprintf(stderr, "): %g, expected %g\n", (double)a(pos), (double)b(pos));
        }
    });
    return ok;
}

/// Runs `--test`, or processes IN to OUT.
inline int app_main(int argc, char **argv, int (*test)(), int (*process)(const std::string &, const std::string &)) {
    if (argc == 2 && std::string(argv[1]) == "--test") {
        const int result = test();
        printf(result == 0 ? "Success!\n" : "Failed.\n");
        return result;
    }
    if (argc == 3 && process) {
        return process(argv[1], argv[2]);
    }
    fprintf(stderr, process ? "usage: %s IN OUT | --test\n" : "usage: %s --test\n", argv[0]);
    return 1;
}
