#include "Halide.h"

#include <gtest/gtest.h>

// Expressions that are deep: the time of an analysis must not double with each level.

namespace {

using namespace Halide;

TEST(DeepExpressions, ChainOfBitwiseOperators) {
    const int levels = 300;
    Var x("x");
    Param<int> p("p");
    p.set(3);
    Func f("f");
    Expr e = x;
    for (int i = 0; i < levels; i++) {
        e = (e ^ i) + p;
    }
    f(x) = e;
    Buffer<int> out = f.realize({8});
    for (int i = 0; i < 8; i++) {
        int expected = i;
        for (int j = 0; j < levels; j++) {
            expected = (expected ^ j) + 3;
        }
        EXPECT_EQ(out(i), expected) << i;
    }
}

}  // namespace
