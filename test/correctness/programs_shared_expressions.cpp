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

}  // namespace
