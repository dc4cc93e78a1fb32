#include "regions/Bounds.h"

#include <gtest/gtest.h>

#include "ir/IREquality.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "simplify/Simplify.h"

// Bounds of expressions and regions of statements. Expected ends are worked out by hand.

namespace {

using namespace Halide;
using namespace Halide::Internal;

Expr var(const std::string &name) {
    return Variable::make(Int(32), name);
}

Expr load(Type t, const std::string &name, const std::vector<Expr> &args) {
    return Call::make(t, name, args, Call::Image);
}

Expr call(const std::string &name, const std::vector<Expr> &args, Type t = Int(32)) {
    return Call::make(t, name, args, Call::Halide);
}

::testing::AssertionResult same(const char *, const char *, const Expr &got, const Expr &expected) {
    const Expr g = simplify(got), e = simplify(expected);
    if (equal(g, e) || can_prove(g == e)) {
        return ::testing::AssertionSuccess();
    }
    return ::testing::AssertionFailure() << "got " << g << ", expected " << e;
}

/// x in [0, 9], y in [1, 3], z in [-4, 7], w in [a, b].
class BoundsOfExpr : public ::testing::Test {
protected:
    Expr x = var("x"), y = var("y"), z = var("z"), w = var("w"), a = var("a"), b = var("b"), p = var("p");
    Scope<Interval> scope;

    void SetUp() override {
        scope.push("x", Interval(0, 9));
        scope.push("y", Interval(1, 3));
        scope.push("z", Interval(-4, 7));
        scope.push("w", Interval(a, b));
    }

    void expect(const Expr &e, const Expr &min, const Expr &max) {
        SCOPED_TRACE(::testing::Message() << e);
        const Interval i = bounds_of_expr_in_scope(e, scope);
        if (min.defined()) {
            ASSERT_TRUE(i.has_lower_bound());
            EXPECT_PRED_FORMAT2(same, i.min, min);
        } else {
            EXPECT_FALSE(i.has_lower_bound()) << i.min;
        }
        if (max.defined()) {
            ASSERT_TRUE(i.has_upper_bound());
            EXPECT_PRED_FORMAT2(same, i.max, max);
        } else {
            EXPECT_FALSE(i.has_upper_bound()) << i.max;
        }
    }
};

TEST_F(BoundsOfExpr, Affine) {
    expect(x, 0, 9);
    expect(x + 1, 1, 10);
    expect(5 - x, -4, 5);
    expect(x * 3 + z, -4, 34);
    expect(x * -2, -18, 0);
    expect(w + 1, a + 1, b + 1);
    expect(2 * w - 1, a * 2 - 1, b * 2 - 1);
    expect(p + x, p, p + 9);
    expect(w - x, a - 9, b);
    expect(x - x, 0, 0);
    expect(3 * x - 2 * x, 0, 9);
}

TEST_F(BoundsOfExpr, Products) {
    expect(x * z, -36, 63);
    expect(x * y, 0, 27);
    expect(z * y, -12, 21);
    expect(y * y * y, 1, 27);
    expect(x * p, select(p >= 0, 0, p * 9), select(p >= 0, p * 9, 0));
}

TEST_F(BoundsOfExpr, Division) {
    expect(x / 4, 0, 2);
    expect(z / 4, -1, 1);
    expect(x / -3, -3, 0);
    expect(w / 8, a / 8, b / 8);
    expect(x / y, 0, 9);
    expect(z / y, -4, 7);
    expect(100 / y, 33, 100);
    // The divisor may be zero or negative: the magnitude does not grow.
    expect(x / z, -9, 9);
}

TEST_F(BoundsOfExpr, Modulo) {
    expect(x % 4, 0, 3);
    expect(z % 5, 0, 4);
    expect(x % 100, 0, 9);
    expect((x + 20) % 10, 0, 9);
    expect((x + 21) % 100, 21, 30);
    expect(y % 8, 1, 3);
    expect(w % 7, 0, 6);
    expect(load(Int(32), "im", {x}) % 7, 0, 6);
}

TEST_F(BoundsOfExpr, Choices) {
    expect(min(x, z), -4, 7);
    expect(max(x, z), 0, 9);
    expect(clamp(x, 2, 5), 2, 5);
    expect(clamp(w, 0, 9), clamp(a, 0, 9), clamp(b, 0, 9));
    expect(select(x > 5, x + 10, x - 10), -10, 19);
    expect(select(x > 20, x + 10, x - 10), -10, -1);
    expect(select(p > 5, x, z), select(p > 5, 0, -4), select(p > 5, 9, 7));
    expect(max(load(Int(32), "im", {x}), 3), 3, Expr());
    expect(clamp(load(Int(32), "im", {x}), 3, 17), 3, 17);
}

TEST_F(BoundsOfExpr, NarrowTypesAndCasts) {
    const Expr u8 = load(UInt(8), "im", {x}), i8 = load(Int(8), "im", {x}), u16 = load(UInt(16), "im", {x});
    const Expr f = load(Float(32), "im", {x}), i32 = load(Int(32), "im", {x});
    expect(cast<int>(u8), 0, 255);
    expect(cast<int>(i8), -128, 127);
    expect(cast<int>(u16), 0, 65535);
    expect(cast<int>(load(Bool(), "im", {x})), 0, 1);
    expect(i32, Expr(), Expr());
    // Sums of bytes may wrap.
    expect(cast<int>(u8 + cast<uint8_t>(1)), 0, 255);
    expect(cast<int>(u8) + 1, 1, 256);
    expect(cast<int>(u8 / cast<uint8_t>(2)), 0, 127);
    expect(cast<int>(u8 / cast<uint8_t>(2) + cast<uint8_t>(3)), 3, 130);
    expect(cast<int>(u8 >> 4), 0, 15);
    expect(cast<int>(u8 & cast<uint8_t>(15)), 0, 15);
    expect(cast<int>(f), Expr(), Expr());
    expect(cast<int>(clamp(f, 0.0f, 100.0f)), 0, 100);
    expect(cast<int>(clamp(f, 0.0f, 1.0f) * 255.0f), 0, 255);
    expect(cast<int>(cast<uint8_t>(clamp(i32, 10, 20))), 10, 20);
    expect(cast<int>(cast<uint8_t>(i32)), 0, 255);
    expect(cast<int>(saturating_cast<uint8_t>(i32)), 0, 255);
}

TEST_F(BoundsOfExpr, Intrinsics) {
    const Expr u8 = load(UInt(8), "im", {x}), v8 = load(UInt(8), "im2", {x});
    expect(cast<int>(abs(z)), 0, 7);
    expect(cast<int>(abs(x - 20)), 11, 20);
    expect(cast<int>(absd(x, z)), 0, 13);
    expect(cast<int>(widening_add(u8, v8)), 0, 510);
    expect(cast<int>(saturating_add(u8, v8)), 0, 255);
    expect(cast<int>(halving_add(u8, v8)), 0, 255);
    expect(x << 2, 0, 36);
    expect(z >> 1, -2, 3);
    expect(cast<int>(popcount(u8)), 0, 8);
    expect(likely(x), 0, 9);
    expect(unsafe_promise_clamped(load(Int(32), "im", {x}), 2, 11), 2, 11);
    expect(unsafe_promise_clamped(x, 2, 11), 2, 9);
    expect(cast<int>(floor(cast<float>(x) * 0.5f)), 0, 4);
    expect(cast<int>(lerp(cast<uint8_t>(10), cast<uint8_t>(20), cast<uint8_t>(u8))), 10, 20);
    expect(mux(x, {p, p + 3, p - 2}), p - 2, p + 3);
}

TEST_F(BoundsOfExpr, Lets) {
    const Expr t = var("t");
    expect(Let::make("t", x * 2, t + 1), 1, 19);
    expect(Let::make("t", x + y, t * t), 1, 144);
    // A let hides a variable of the scope.
    expect(Let::make("x", y, x + 1), 2, 4);
    // What both uses share cancels.
    expect(Let::make("t", load(Int(32), "im", {x}), t - t), 0, 0);
}

TEST_F(BoundsOfExpr, CorrelatedVariables) {
    // y+2 at most, whatever the clamps do.
    const Expr q = var("q");
    Scope<Interval> s;
    s.push("q", Interval(0, p));
    const Interval i = bounds_of_expr_in_scope(min(q + 2, a) - max(q - 1, b), s);
    ASSERT_TRUE(i.has_upper_bound());
    EXPECT_TRUE(can_prove(i.max <= 3)) << i.max;
}

TEST_F(BoundsOfExpr, ConditionsOverDomains) {
    EXPECT_PRED_FORMAT2(same, and_condition_over_domain(x < 20, scope), const_true());
    EXPECT_PRED_FORMAT2(same, and_condition_over_domain(x < 5, scope), const_false());
    EXPECT_PRED_FORMAT2(same, or_condition_over_domain(x < 5, scope), const_true());
    EXPECT_PRED_FORMAT2(same, or_condition_over_domain(x < 0, scope), const_false());
    EXPECT_PRED_FORMAT2(same, and_condition_over_domain(w < p, scope), b < p);
    EXPECT_PRED_FORMAT2(same, or_condition_over_domain(w < p, scope), a < p);
    EXPECT_PRED_FORMAT2(same, and_condition_over_domain(x + p < x + a, scope), p < a);
    EXPECT_PRED_FORMAT2(same, and_condition_over_domain(p > 3 && x < 20, scope), p > 3);
}

TEST_F(BoundsOfExpr, ConstantBounds) {
    EXPECT_PRED_FORMAT2(same, find_constant_bound(x + y, Direction::Upper, scope), Expr(12));
    EXPECT_PRED_FORMAT2(same, find_constant_bound(x + y, Direction::Lower, scope), Expr(1));
    EXPECT_FALSE(find_constant_bound(x + p, Direction::Upper, scope).defined());
    EXPECT_PRED_FORMAT2(same, find_constant_bound(min(x + p, 20), Direction::Upper, scope), Expr(20));
    EXPECT_PRED_FORMAT2(same, find_constant_bound(min(p + 3, a) - max(p, b), Direction::Upper), Expr(3));
    EXPECT_PRED_FORMAT2(same, find_constant_bound(max(p + 3, a) - max(p, a), Direction::Upper), Expr(3));
    EXPECT_PRED_FORMAT2(same, span_of_bounds(Interval(p - 1, p + 1)), Expr(2));
}

/// Boxes of statements.
class Boxes : public ::testing::Test {
protected:
    Expr x = var("x"), y = var("y"), n = var("n"), m = var("m"), p = var("p");

    static Stmt loop(const std::string &name, const Expr &min, const Expr &max, const Stmt &body) {
        return For::make(name, min, max, ForType::Serial, Partition::Auto, DeviceAPI::None, body);
    }
    static Stmt store(const std::string &f, const std::vector<Expr> &args, const Expr &value) {
        return Provide::make(f, {value}, args, const_true());
    }
    static void expect(const Box &box, const std::vector<std::pair<Expr, Expr>> &bounds) {
        SCOPED_TRACE(::testing::Message() << box);
        ASSERT_EQ(box.size(), bounds.size());
        for (size_t i = 0; i < bounds.size(); i++) {
            ASSERT_TRUE(box[i].is_bounded());
            EXPECT_PRED_FORMAT2(same, box[i].min, bounds[i].first);
            EXPECT_PRED_FORMAT2(same, box[i].max, bounds[i].second);
        }
    }
};

TEST_F(Boxes, Stencil) {
    const Stmt s =
        loop("y", 0, m, loop("x", 0, n, store("f", {x, y}, call("g", {x - 1, y}) + call("g", {x + 1, y + 2}))));
    expect(box_provided(s, "f"), {{0, n}, {0, m}});
    expect(box_required(s, "g"), {{-1, n + 1}, {0, m + 2}});
    EXPECT_TRUE(box_required(s, "f").empty());
    EXPECT_EQ(boxes_touched(s).size(), 2u);
}

TEST_F(Boxes, SplitWithEveryTail) {
    const Expr xo = var("xo"), xi = var("xi"), extent = n;
    const Expr tiles = (extent + 7) / 8 - 1;
    auto split = [&](const Stmt &body) { return loop("xo", 0, tiles, loop("xi", 0, 7, body)); };
    const Stmt leaf = store("f", {x}, call("g", {x}));
    // Rounded up.
    expect(box_required(split(LetStmt::make("x", xo * 8 + xi, leaf)), "g"), {{0, ((n + 7) / 8) * 8 - 1}});
    // Guarded.
    const Stmt guarded = LetStmt::make(
        "r", xo * 8 + xi, IfThenElse::make(likely(var("r") < extent), LetStmt::make("x", var("r") + m, leaf)));
    const Box b = box_required(split(guarded), "g");
    ASSERT_EQ(b.size(), 1u);
    EXPECT_PRED_FORMAT2(same, b[0].min, m);
    EXPECT_TRUE(can_prove(b[0].max <= m + n - 1)) << b[0].max;
    // Shifted inwards.
    const Stmt shifted = LetStmt::make("base", min(xo * 8, n - 8), LetStmt::make("x", var("base") + xi, leaf));
    const Box c = box_required(split(shifted), "g");
    ASSERT_EQ(c.size(), 1u);
    EXPECT_TRUE(can_prove(c[0].max <= n - 1)) << c[0].max;
    EXPECT_TRUE(can_prove(c[0].min >= min(n - 8, 0))) << c[0].min;
    // One tile: its own eight points.
    expect(box_required(loop("xi", 0, 7, shifted), "g"), {{min(xo * 8, n - 8), min(xo * 8, n - 8) + 7}});
}

TEST_F(Boxes, TriangularLoops) {
    // What an inner loop shares with an outer one cancels.
    const Stmt s = loop("y", 0, m, loop("x", y, y + 2, store("f", {x - y}, call("g", {x}))));
    expect(box_provided(s, "f"), {{0, 2}});
    expect(box_required(s, "g"), {{0, m + 2}});
}

TEST_F(Boxes, RegionsDefinedByLets) {
    // The extent of the inner production is a constant although both ends move.
    const Expr lo = var("lo"), hi = var("hi"), e = var("e"), i = var("i");
    Stmt s = store("g", {i + lo}, 0);
    s = loop("i", 0, e - 1, s);
    s = LetStmt::make("e", hi - lo + 1, s);
    s = LetStmt::make("hi", min(y + 1, m), LetStmt::make("lo", max(y - 1, 0), s));
    s = loop("y", 0, m, s);
    const Box b = box_provided(s, "g");
    ASSERT_EQ(b.size(), 1u);
    EXPECT_TRUE(can_prove(b[0].min >= 0)) << b[0].min;
    EXPECT_TRUE(can_prove(b[0].max <= m)) << b[0].max;
}

TEST_F(Boxes, ConditionsNarrow) {
    const Stmt use = Evaluate::make(call("g", {x}));
    expect(box_required(loop("x", 0, 99, IfThenElse::make(x < 10, use)), "g"), {{0, 9}});
    expect(box_required(loop("x", 0, 99, IfThenElse::make(x < 10, Evaluate::make(0), use)), "g"), {{10, 99}});
    expect(box_required(loop("x", 0, 99, IfThenElse::make(x > 3 && x <= 50, use)), "g"), {{4, 50}});
    expect(box_required(loop("y", 0, 9, loop("x", 0, 99, IfThenElse::make(x + y < 10, use))), "g"), {{0, 9}});
    // The condition of a select does not.
    expect(box_required(loop("x", 0, 99, Evaluate::make(select(x < 10, call("g", {x}), 0))), "g"), {{0, 99}});
}

TEST_F(Boxes, FixedConditionsSayWhetherUsed) {
    const Box b = box_required(IfThenElse::make(p > 0, Evaluate::make(call("g", {5}))), "g");
    ASSERT_TRUE(b.maybe_unused());
    EXPECT_PRED_FORMAT2(same, b.used, p > 0);
    const Box both = box_required(
        Block::make(IfThenElse::make(p > 0, Evaluate::make(call("g", {5}))), Evaluate::make(call("g", {7}))), "g");
    EXPECT_FALSE(both.maybe_unused());
    expect(both, {{select(p > 0, 5, 7), 7}});
}

TEST_F(Boxes, Arithmetic) {
    const Box a({Interval(0, 9), Interval(n, n + 3)}), b({Interval(5, 20), Interval(n + 1, n + 2)});
    expect(box_union(a, b), {{0, 20}, {n, n + 3}});
    expect(box_intersection(a, b), {{5, 9}, {n + 1, n + 2}});
    EXPECT_TRUE(boxes_overlap(a, b));
    EXPECT_FALSE(boxes_overlap(a, Box({Interval(10, 20), Interval(n, n)})));
    EXPECT_TRUE(box_contains(a, Box({Interval(1, 2), Interval(n + 3, n + 3)})));
    EXPECT_FALSE(box_contains(a, b));
}

TEST_F(Boxes, ManyUsesStaySmall) {
    // A chain of lets that each use the one before twice.
    Stmt s = Evaluate::make(call("g", {var("t40")}));
    for (int i = 40; i > 0; i--) {
        const Expr t = var("t" + std::to_string(i - 1));
        s = LetStmt::make("t" + std::to_string(i), max(t * p, t + y), s);
    }
    s = loop("t0", 0, n, s);
    const Box b = box_required(s, "g");
    ASSERT_EQ(b.size(), 1u);
    ASSERT_TRUE(b[0].is_bounded());
    size_t nodes = 0;
    class Count : public IRVisitor {
    public:
        size_t n = 0;
        using IRVisitor::visit;
        void visit(const Variable *) override { n++; }
    } count;
    b[0].max.accept(&count);
    nodes = count.n;
    // A tree of all uses would have 2^40 leaves.
    EXPECT_LT(nodes, 20000u);
}

}  // namespace
