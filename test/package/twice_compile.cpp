#include "Halide.h"

using namespace Halide;

int main(int argc, char **argv) {
    if (argc != 2) {
        return 1;
    }
    ImageParam in(Int(32), 1, "in");
    Var x("x");
    Func twice("twice");
    twice(x) = in(x) * 2;
    twice.vectorize(x, 8).parallel(x, 4);
    twice.compile_to_static_library(argv[1], {in}, "twice");
    return 0;
}
