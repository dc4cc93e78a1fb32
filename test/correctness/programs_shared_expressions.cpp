// Expressions are graphs: what is built by using one value many times must not cost time in the size of the tree.
#include "Halide.h"

#include <gtest/gtest.h>

using namespace Halide;
using namespace Halide::Internal;

namespace {

/// A value used twice per step: a tree of 2^steps leaves, a graph of `steps` nodes.
Expr repeated_squares(const Expr &x, int steps) {
    Expr e = x;
    for (int i = 0; i < steps; i++) {
        e = e * e + i;
    }
    return e;
}

TEST(ProgramsSharedExpressions, BoundsAreLinearInTheGraph) {
    Var x("x");
    Scope<Interval> scope;
    scope.push("x", Interval(0, 1));
    const Interval i = bounds_of_expr_in_scope(repeated_squares(x, 60), scope);
    EXPECT_TRUE(i.min.defined() && i.max.defined());
}

TEST(ProgramsSharedExpressions, NameHiddenByALetMeansTheLet) {
    // The x of the body is y + 100, although an equal node outside means the x of the scope.
    const Expr x = Variable::make(Int(32), "x"), y = Variable::make(Int(32), "y");
    const Expr shared = x + x * 2;
    const Expr e = shared + Let::make("x", y + 100, shared);
    Scope<Interval> scope;
    scope.push("x", Interval(0, 10));
    scope.push("y", Interval(0, 1));
    const Interval i = bounds_of_expr_in_scope(e, scope);
    EXPECT_TRUE(can_prove(i.min <= 300 && i.max >= 333)) << i.min << " " << i.max;
    EXPECT_TRUE(can_prove(i.min >= 300 && i.max <= 333)) << i.min << " " << i.max;
}

TEST(ProgramsSharedExpressions, RepeatedOperandsStillCancel) {
    Var x("x");
    Scope<Interval> scope;
    scope.push("x", Interval(0, 10));
    const Expr half = Expr(x) / 2;
    const Interval i = bounds_of_expr_in_scope(half * 3 - half * 2, scope);
    EXPECT_TRUE(is_const(i.min, 0)) << i.min;
    EXPECT_TRUE(is_const(i.max, 5)) << i.max;
}

TEST(ProgramsSharedExpressions, LoweringIsLinearInTheGraph) {
    Var x("x");
    Buffer<uint32_t> in(64);
    in.for_each_element([&](int i) { in(i) = (uint32_t)i * 2654435761u; });
    Func squares("squares"), chosen("chosen"), inlined("inlined");
    Expr a = in(x), b = in(x);
    Func previous("previous");
    previous(x) = in(x);
    for (int i = 0; i < 60; i++) {
        a = a * a + cast<uint32_t>(i);
        b = select(b > cast<uint32_t>(i << 24), b - 1, b + cast<uint32_t>(i));
        Func next;
        next(x) = previous(x) * 3 + (previous(x) >> 7);
        previous = next;
    }
    squares(x) = a;
    chosen(x) = b;
    inlined(x) = previous(x);
    squares.vectorize(x, 8);
    Buffer<uint32_t> s = squares.realize({64}), c = chosen.realize({64}), p = inlined.realize({64});
    for (int x = 0; x < 64; x++) {
        uint32_t e = in(x), f = in(x), g = in(x);
        for (uint32_t i = 0; i < 60; i++) {
            e = e * e + i;
            f = f > (i << 24) ? f - 1 : f + i;
            g = g * 3 + (g >> 7);
        }
        ASSERT_EQ(s(x), e) << x;
        ASSERT_EQ(c(x), f) << x;
        ASSERT_EQ(p(x), g) << x;
    }
}

TEST(ProgramsSharedExpressions, WhatIsWrittenOutAtEachUseCountsItsPartsTwice) {
    // A sum with a constant gets no name of its own, so the product in it must.
    const Expr x = Variable::make(Int(32), "x"), y = Variable::make(Int(32), "y");
    const Expr sum = x * y + 1;
    const Expr e = common_subexpression_elimination(sum * sum);
    const Let *let = e.as<Let>();
    ASSERT_TRUE(let) << e;
    EXPECT_TRUE(let->value.as<Mul>()) << e;
    EXPECT_FALSE(let->body.as<Let>()) << e;
}

}  // namespace
