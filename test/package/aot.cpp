#include "twice.h"

#include "HalideBuffer.h"

int main() {
    Halide::Runtime::Buffer<int, 1> in(100), out(100);
    in.for_each_element([&](int x) { in(x) = x; });
    return twice(in, out) == 0 && out(99) == 198 ? 0 : 1;
}
