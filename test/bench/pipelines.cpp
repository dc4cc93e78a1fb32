// One side of the benchmarks. The same source is compiled against our Halide.h and against a peer's; tools/bench runs both
// processes and alternates between them. Each line read from stdin names a measurement; the answer is its seconds.

#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iostream>
#include <map>
#include <string>

#include "Halide.h"

using namespace Halide;

namespace {

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct BlurProgram {
    ImageParam input{UInt(16), 2};
    Func blur_x, blur_y;
    Var x, y, yi;

    BlurProgram() {
        blur_x(x, y) = (input(x, y) + input(x + 1, y) + input(x + 2, y)) / 3;
        blur_y(x, y) = (blur_x(x, y) + blur_x(x, y + 1) + blur_x(x, y + 2)) / 3;
        blur_y.split(y, y, yi, 32).parallel(y).vectorize(x, 16);
        blur_x.store_at(blur_y, y).compute_at(blur_y, x).vectorize(x, 16);
    }
};

struct MatmulProgram {
    ImageParam a{Float(32), 2}, b{Float(32), 2};
    Func product, output;
    Var x, y, xi, yi, yo;
    RDom k;

    explicit MatmulProgram(int depth) : k(0, depth) {
        product(x, y) += a(k, y) * b(x, k);
        output(x, y) = product(x, y);
        output.tile(x, y, xi, yi, 24, 4).vectorize(xi, 8).unroll(xi).unroll(yi);
        output.split(y, yo, y, 16).parallel(yo);
        product.compute_at(output, x).vectorize(x, 8).unroll(x).unroll(y);
        product.update().reorder(x, y, k).vectorize(x, 8).unroll(x).unroll(y);
    }
};

struct UnsharpProgram {
    ImageParam input{UInt(8), 3};
    Func kernel, padded, gray, blur_y, blur_x, ratio, output;
    Var x, y, c, yi;

    UnsharpProgram() {
        const float sigma = 1.5f;
        kernel(x) = exp(-x * x / (2 * sigma * sigma)) / (2.5066f * sigma);
        padded = BoundaryConditions::repeat_edge(input);
        gray(x, y) = 0.299f * padded(x, y, 0) + 0.587f * padded(x, y, 1) + 0.114f * padded(x, y, 2);
        blur_y(x, y) = kernel(0) * gray(x, y) + kernel(1) * (gray(x, y - 1) + gray(x, y + 1)) +
                       kernel(2) * (gray(x, y - 2) + gray(x, y + 2));
        blur_x(x, y) = kernel(0) * blur_y(x, y) + kernel(1) * (blur_y(x - 1, y) + blur_y(x + 1, y)) +
                       kernel(2) * (blur_y(x - 2, y) + blur_y(x + 2, y));
        ratio(x, y) = (2 * gray(x, y) - blur_x(x, y)) / max(gray(x, y), 1.0f);
        output(x, y, c) = cast<uint8_t>(clamp(ratio(x, y) * input(x, y, c), 0.0f, 255.0f));
        kernel.compute_root();
        output.bound(c, 0, 3).reorder(c, x, y).unroll(c).split(y, y, yi, 16).parallel(y).vectorize(x, 8);
        ratio.compute_at(output, yi).vectorize(x, 8);
        blur_y.store_at(output, y).compute_at(output, yi).vectorize(x, 8);
        gray.store_at(output, y).compute_at(output, yi).vectorize(x, 8);
    }
};

/// A chain of stencils with a new constant each time, so that nothing is found in a cache.
struct ChainProgram {
    ImageParam input{UInt(16), 2};
    std::vector<Func> stages;
    Var x, y;

    ChainProgram(int length, int salt) {
        Func previous;
        previous(x, y) = BoundaryConditions::repeat_edge(input)(x, y);
        for (int i = 0; i < length; i++) {
            Func f;
            f(x, y) = (previous(x - 1, y) + previous(x, y + 1) * cast<uint16_t>(3 + salt % 7) + previous(x + 1, y - 1)) / 5;
            f.compute_root().vectorize(x, 16).parallel(y, 8);
            stages.push_back(f);
            previous = f;
        }
    }
    Func &output() { return stages.back(); }
};

}  // namespace

int main(int argc, char **argv) {
    const Target target = argc > 1 ? Target(argv[1]) : get_jit_target_from_environment();
    const int blur_size = 4096, n = 768;

    Buffer<uint16_t> blur_in(blur_size + 2, blur_size + 2), blur_out(blur_size, blur_size);
    uint32_t random = 1;
    blur_in.for_each_value([&](uint16_t &v) { v = (uint16_t)((random = random * 1664525 + 1013904223) >> 18); });
    BlurProgram blur;
    blur.input.set(blur_in);
    blur.blur_y.compile_jit(target);

    Buffer<float> a(n, n), b(n, n), c(n, n);
    auto small = [&](float &v) { v = (float)((random = random * 1664525 + 1013904223) >> 16) / 65536 - 0.5f; };
    a.for_each_value(small);
    b.for_each_value(small);
    MatmulProgram matmul(n);
    matmul.a.set(a);
    matmul.b.set(b);
    matmul.output.compile_jit(target);

    int salt = 0;
    std::map<std::string, std::function<void()>> measurements = {
        {"blur", [&]() { blur.blur_y.realize(blur_out, target); }},
        {"matmul", [&]() { matmul.output.realize(c, target); }},
    };
    // Construction of the programs is not timed: these return what to time.
    std::map<std::string, std::function<double()>> timed = {
        {"lower", [&]() {
             BlurProgram p1;
             MatmulProgram p2(n);
             UnsharpProgram p3;
             ChainProgram p4(12, salt++);
             const double start = now();
             p1.blur_y.compile_to_module({p1.input}, "f1", target);
             p2.output.compile_to_module({p2.a, p2.b}, "f2", target);
             p3.output.compile_to_module({p3.input}, "f3", target);
             p4.output().compile_to_module({p4.input}, "f4", target);
             return now() - start;
         }},
        {"jit", [&]() {
             UnsharpProgram p1;
             ChainProgram p2(4, salt++);
             const double start = now();
             p1.output.compile_jit(target);
             p2.output().compile_jit(target);
             return now() - start;
         }},
    };

    std::string line;
    while (std::getline(std::cin, line)) {
        double seconds = -1;
        if (auto it = measurements.find(line); it != measurements.end()) {
            const double start = now();
            it->second();
            seconds = now() - start;
        } else if (auto it = timed.find(line); it != timed.end()) {
            seconds = it->second();
        }
        printf("%.9f\n", seconds);
        fflush(stdout);
    }
    return 0;
}
