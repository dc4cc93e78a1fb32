// Multiplies matrices with the pipeline compiled ahead of time.

#include "app_run.h"
#include "matmul.aot.h"

using Halide::Runtime::Buffer;

static int test() {
    for (int n : {24, 48, 100}) {
        for (int m : {4, 37}) {
            const int depth = 65;
            Buffer<float> a = random_buffer<float>({depth, m}, n), b = random_buffer<float>({n, depth}, m);
            Buffer<float> c(n, m), expected(n, m);
            if (matmul(a, b, c) != 0) {
                return 1;
            }
            expected.for_each_element([&](int x, int y) {
                double sum = 0;
                for (int k = 0; k < depth; k++) {
                    sum += (double)a(k, y) * (double)b(x, k);
                }
                expected(x, y) = (float)sum;
            });
            if (!same(c, expected, 1e-4)) {
                fprintf(stderr, "matmul of %d x %d\n", n, m);
                return 1;
            }
        }
    }
    return 0;
}

int main(int argc, char **argv) {
    return app_main(argc, argv, test, nullptr);
}
