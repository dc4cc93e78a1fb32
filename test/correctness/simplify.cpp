// What simplify makes of expressions and statements, where it must stop, and that its time is linear.

#include "ir/IR.h"
#include "ir/IREquality.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "simplify/CommonSubexpressions.h"
#include "simplify/RuleSet.h"
#include "simplify/Simplify.h"
#include "support/Util.h"

#include <gtest/gtest.h>

#include <ctime>
#include <functional>
#include <sstream>

namespace {

using namespace Halide;
using namespace Halide::Internal;

std::string text(const Expr &e) {
    std::ostringstream s;
    s << e;
    return s.str();
}

std::string text(const Stmt &st) {
    std::ostringstream s;
    s << st;
    return s.str();
}

Expr var(const char *name, Type t = Int(32)) {
    return Variable::make(t, name);
}

const Expr x = var("x"), y = var("y"), z = var("z"), w = var("w"), n = var("n");
const Expr a = var("a", UInt(8)), b = var("b", UInt(8)), c = var("c", Int(16));
const Expr f = var("f", Float(32)), g = var("g", Float(32));
const Expr p = var("p", Bool()), q = var("q", Bool());

struct Case {
    Expr before, after;
};

void check(const std::vector<Case> &cases) {
    for (const Case &k : cases) {
        const Expr result = simplify(k.before);
        EXPECT_TRUE(equal(result, k.after)) << k.before << "\n  became " << result << "\n  instead of " << k.after;
        EXPECT_TRUE(equal(simplify(result), result)) << "not stable: " << result << " -> " << simplify(result);
    }
}

void unchanged(const std::vector<Expr> &exprs) {
    for (const Expr &e : exprs) {
        const Expr result = simplify(e);
        EXPECT_TRUE(result.same_as(e)) << e << "\n  became " << result;
    }
}

TEST(Simplify, Constants) {
    check({
        {Expr(3) + Expr(8), 11},
        {Expr(7) / -2, -3},
        {Expr(-7) / 2, -4},
        {Expr(-7) % 2, 1},
        {Expr(-7) / -2, 4},
        {Expr(7) % 0, 0},
        {Expr(7) / 0, 0},
        {cast<uint8_t>(Expr(250)) + cast<uint8_t>(Expr(10)), make_const(UInt(8), 4)},
        {cast<int8_t>(Expr(127)) + cast<int8_t>(Expr(1)), make_const(Int(8), -128)},
        {Expr(1.5f) * Expr(2.0f), 3.0f},
        {Expr(1.0f) / Expr(0.0f) > 5.0f, const_true()},
        {min(Expr(3), 5) + max(Expr(3), 5), 8},
        {Expr(3) < Expr(4), const_true()},
        {abs(Expr(-5)), make_const(UInt(32), 5)},
        {Expr(5) << 2, 20},
        {make_const(Int(32), -5) >> 1, -3},
        {cast<uint8_t>(Expr(0xab)) & cast<uint8_t>(Expr(0x0f)), make_const(UInt(8), 0x0b)},
        {saturating_add(cast<uint8_t>(Expr(200)), cast<uint8_t>(Expr(100))), make_const(UInt(8), 255)},
        {halving_sub(cast<uint8_t>(Expr(3)), cast<uint8_t>(Expr(10))), make_const(UInt(8), 252)},
        {popcount(Expr(255)), 8},
        {count_leading_zeros(cast<uint8_t>(Expr(0))), make_const(UInt(8), 8)},
        {floor(Expr(2.5f)), 2.0f},
        {round(Expr(2.5f)), 2.0f},
        {sqrt(Expr(9.0f)), 3.0f},
    });
}

TEST(Simplify, OverflowOfSignedConstantsIsMarked) {
    EXPECT_TRUE(is_signed_integer_overflow(simplify(Expr(0x7fffffff) + 1 + x * 0)));
    EXPECT_TRUE(is_signed_integer_overflow(simplify(Expr(100000) * 100000)));
    EXPECT_TRUE(is_signed_integer_overflow(simplify(Expr((int64_t)1 << 62) * Expr((int64_t)4))));
    // The sum of two constants would overflow, but the expression need not.
    const Expr e = (x + 0x7fffffff) + 1;
    EXPECT_FALSE(is_signed_integer_overflow(simplify(e)));
}

TEST(Simplify, Sums) {
    check({
        {x + 0, x},
        {3 + x, x + 3},
        {(x + 3) + 4, x + 7},
        {(x + 3) + y, x + y + 3},
        {x - 3, x + -3},
        {x + x, x * 2},
        {x - x, 0},
        {(x + y) - x, y},
        {(x + y + z + w) - (w + y), x + z},
        {x * 3 + y - x * 2, x + y},
        {(x + 3) - (y + 3), x - y},
        {x * 4 + y * 4, (x + y) * 4},
        {(x + y) * 4 - y * 4, x * 4},
        {x - (y - z), (x + z) - y},
        {(x / 8) * 8 + x % 8, x},
        {(x % 8 + y) + (x / 8) * 8, x + y},
        {x - x % 8, (x / 8) * 8},
        {min(x, y) + max(x, y), x + y},
        {min(x, y) - x, min(y - x, 0)},
        {select(p, x + 1, x + 2) - x, select(p, 1, 2)},
        {a + a - a, a},
        {(a + make_const(UInt(8), 200)) + make_const(UInt(8), 100), a + make_const(UInt(8), 44)},
        {Expr(0) - x, x * -1},
    });
    unchanged({x + y, x - y, f + 0.0f, f + g, a - make_const(UInt(8), 1)});
}

TEST(Simplify, ProductsAndQuotients) {
    check({
        {x * 0, 0},
        {x * 1, x},
        {(x * 2) * 3, x * 6},
        {(x + 3) * 2, x * 2 + 6},
        {x / 1, x},
        {(x * 8) / 8, x},
        {(x * 8 + 3) / 8, x},
        {(x * 8 + y) / 8, y / 8 + x},
        {(x * 8 + 8) / 4, x * 2 + 2},
        {(x * 4 + 2) / 8, x / 2},
        {(x / 4) / 2, x / 8},
        {(x + 16) / 8, x / 8 + 2},
        {(x * 8) % 4, 0},
        {(x * 8 + 3) % 4, 3},
        {(x * 8 + y) % 4, y % 4},
        {(x % 12) % 4, x % 4},
        {(x + 17) % 8, (x + 1) % 8},
        {(x * 2 + 1) % 4, (x % 2) * 2 + 1},
        {x % 1, 0},
        {f * 1.0f, f},
        {f / 1.0f, f},
    });
    unchanged({x / 8, (x + 3) / 8, x % 8, x / y, f * 0.0f, f / 3.0f, (a * make_const(UInt(8), 2)) / make_const(UInt(8), 2)});
}

TEST(Simplify, MinimaAndMaxima) {
    check({
        {min(x, x), x},
        {min(x + 1, x), x},
        {max(x + 1, x), x + 1},
        {min(x, 3) < 5, const_true()},
        {min(min(x, 5), 3), min(x, 3)},
        {min(min(x, 5), y), min(min(x, y), 5)},
        {min(x + 3, y + 3), min(x, y) + 3},
        {min(x + 3, 5), min(x, 2) + 3},
        {min(x * 8, 64), min(x, 8) * 8},
        {max(min(x, 10), 0), min(max(x, 0), 10)},
        {min(max(x, 5), 3), 3},
        {min(max(x, y), x), x},
        {max(min(x, y), min(x, z)), min(max(y, z), x)},
        {min(min(x, y) + 1, x), min(x, y + 1)},
        {min(x / 4, y / 4), min(x, y) / 4},
        {min(x % 8, 10), x % 8},
        {max(x % 8, 0), x % 8},
        {min((x / 8) * 8 + 7, x), x},
        {min(cast<int32_t>(a), 300), cast<int32_t>(a)},
        {max(x * 3 + y, x * 3 + z), max(y, z) + x * 3},
    });
    // The bounds of a tail that is shifted inwards: 8 elements that end at the end.
    const Expr start = min(x * 8, n - 8);
    EXPECT_TRUE(can_prove(start + 7 < n));
    EXPECT_TRUE(can_prove((start + 7) - start == 7));
    EXPECT_TRUE(can_prove(start + 7 <= x * 8 + 7));
}

TEST(Simplify, Comparisons) {
    check({
        {x < x + 1, const_true()},
        {x + 3 < y + 3, x < y},
        {x + 3 < 5, x < 2},
        {x * 2 < y * 2, x < y},
        {x * 4 < 10, x < 3},
        {x / 4 < 3, x < 12},
        {x - y < z, x < z + y},
        {x * 2 == y * 2 + 1, const_false()},
        {x + y == y, x == 0},
        {!(x < y), y <= x},
        {x >= y, y <= x},
        {x > y, y < x},
        {min(x, y) <= x, const_true()},
        {max(x, y) < x, const_false()},
        {x % 4 < 4, const_true()},
        {(x / 4) * 4 <= x, const_true()},
        {x < (x / 4) * 4 + 4, const_true()},
        {cast<int32_t>(a) < 256, const_true()},
        {cast<int32_t>(a) + cast<int32_t>(b) < 511, const_true()},
        {a < make_const(UInt(8), 0), const_false()},
        {select(p, 3, 5) == 3, p},
        {select(p, x, y) == x, p || y == x},
        {(x + 4) / 8 - x / 8 <= 1, const_true()},
    });
    // a + 1 may wrap; and floats may be NaN.
    unchanged({a < a + make_const(UInt(8), 1), f == f, f <= g, !(f < g)});
}

TEST(Simplify, Logic) {
    check({
        {p && p, p},
        {p && !p, const_false()},
        {p || !p, const_true()},
        {p && const_true(), p},
        {p || const_true(), const_true()},
        {!(!p), p},
        {x < 5 && x < 3, x < 3},
        {x < 5 || x < 3, x < 5},
        {x < 5 && 7 < x, const_false()},
        {x < 5 || 3 < x, const_true()},
        {x == 3 && x != 4, x == 3},
        {x <= y && y <= x, x == y},
        {x < y || y < x, x != y},
        {x < y && x < z, x < min(y, z)},
        {(p && q) || (p && x < 3), p && (q || x < 3)},
        {x == 3 && y < x, x == 3 && y < 3},
        {x < y && x < y + 1, x < y},
        {p && (p || q), p},
    });
}

TEST(Simplify, Choices) {
    check({
        {select(p, x, x), x},
        {select(!p, x, y), select(p, y, x)},
        {select(x < y, x, y), min(x, y)},
        {select(x < y, y, x), max(x, y)},
        {select(p, x + y, x + z), select(p, y, z) + x},
        {select(p, select(p, x, y), z), select(p, x, z)},
        {select(p, const_true(), const_false()), p},
        {select(x == y, x, y), y},
        {likely(const_true()), const_true()},
        {mux(Expr(1), {x, y, z}), y},
        {mux(Expr(7), {x, y, z}), z},
        {mux(Expr(-1), {x, y, z}), z},
    });
    // A float comparison that is false for NaN.
    unchanged({select(f < g, f, g), likely(x < y), select(f == g, f, g)});
    // What a select reads is read whatever the condition: an index that the condition makes safe stays clamped.
    const Expr guarded = select(x < n, Load::make(Int(32), "buf", min(x, n + -1)), 0);
    // And interval analysis, which looks at each arm alone, still finds the clamp of an arm.
    unchanged({guarded, select(x < n, min(x, n), 0)});
}

TEST(Simplify, Casts) {
    check({
        {cast<int32_t>(cast<int16_t>(a)), cast<int32_t>(a)},
        {cast<uint8_t>(cast<int32_t>(a)), a},
        {cast<uint8_t>(cast<uint16_t>(x)), cast<uint8_t>(x)},
        {cast<int64_t>(x + 3), cast<int64_t>(x) + cast<int64_t>(Expr(3))},
        {reinterpret<uint32_t>(reinterpret<float>(reinterpret<uint32_t>(x))), reinterpret<uint32_t>(x)},
        {abs(cast<int32_t>(a)), cast<uint32_t>(a)},
        {saturating_cast<uint8_t>(min(max(x, 0), 255)), cast<uint8_t>(min(max(x, 0), 255))},
    });
    unchanged({cast<uint8_t>(x), cast<int32_t>(cast<uint8_t>(x)), cast<float>(cast<int32_t>(f))});
}

TEST(Simplify, Vectors) {
    const Expr r = Ramp::make(x, 1, 8);
    check({
        {Ramp::make(x, 0, 8), Broadcast::make(x, 8)},
        {r + Broadcast::make(y, 8), Ramp::make(x + y, 1, 8)},
        {r + Ramp::make(y, 2, 8), Ramp::make(x + y, 3, 8)},
        {r * Broadcast::make(3, 8), Ramp::make(x * 3, 3, 8)},
        {Ramp::make(x * 8, 8, 4) / Broadcast::make(8, 4), Ramp::make(x, 1, 4)},
        {Ramp::make(x * 8, 8, 4) % Broadcast::make(4, 4), Broadcast::make(0, 4)},
        {Ramp::make(x * 8, 1, 8) / Broadcast::make(8, 8), Broadcast::make(x, 8)},
        {Broadcast::make(x, 4) + Broadcast::make(y, 4), Broadcast::make(x + y, 4)},
        {Broadcast::make(Broadcast::make(x, 2), 4), Broadcast::make(x, 8)},
        {Ramp::make(Ramp::make(x, 1, 4), Broadcast::make(4, 4), 2), Ramp::make(x, 1, 8)},
        {Ramp::make(Broadcast::make(x, 2), Broadcast::make(1, 2), 3) + Broadcast::make(3, 6),
         Ramp::make(Broadcast::make(x + 3, 2), Broadcast::make(1, 2), 3)},
        {Ramp::make(x, 1, 4) < Broadcast::make(x + 4, 4), const_true(4)},
        {min(Ramp::make(x, 1, 4), Broadcast::make(x + 3, 4)), Ramp::make(x, 1, 4)},
        {Shuffle::make_concat({Ramp::make(x, 1, 4), Ramp::make(x + 4, 1, 4)}), Ramp::make(x, 1, 8)},
        {Shuffle::make_interleave({Ramp::make(x, 2, 4), Ramp::make(x + 1, 2, 4)}), Ramp::make(x, 1, 8)},
        {Shuffle::make_slice(Ramp::make(x, 3, 8), 1, 2, 4), Ramp::make(x + 3, 6, 4)},
        {Shuffle::make_extract_element(Ramp::make(x, 3, 8), 2), x + 6},
        {Shuffle::make_extract_element(Broadcast::make(x, 8), 2), x},
        {Shuffle::make({r}, {0, 1, 2, 3, 4, 5, 6, 7}), r},
        {VectorReduce::make(VectorReduce::Add, Broadcast::make(x, 8), 1), x * 8},
        {VectorReduce::make(VectorReduce::Max, Broadcast::make(x, 8), 2), Broadcast::make(x, 2)},
        {cast(Int(64, 8), Ramp::make(x, 2, 8)), Ramp::make(cast<int64_t>(x), cast<int64_t>(Expr(2)), 8)},
        {select(Broadcast::make(p, 4), Broadcast::make(x, 4), Broadcast::make(y, 4)), Broadcast::make(select(p, x, y), 4)},
        {Load::make(Int(32, 4), "buf", Broadcast::make(x, 4)), Broadcast::make(Load::make(Int(32), "buf", x), 4)},
        {Shuffle::make_concat({Load::make(Int(32, 4), "buf", Ramp::make(x, 1, 4)),
                               Load::make(Int(32, 4), "buf", Ramp::make(x + 4, 1, 4))}),
         Load::make(Int(32, 8), "buf", Ramp::make(x, 1, 8))},
    });
    unchanged({r, Ramp::make(x, y, 4), Broadcast::make(x, 4), Shuffle::make({r}, {7, 6, 5, 4, 3, 2, 1, 1}),
               Shuffle::make_concat({Ramp::make(x, 1, 4), Ramp::make(y, 1, 4)})});
}

TEST(Simplify, BoundsAndAlignment) {
    Scope<Interval> bounds;
    bounds.push("x", Interval(0, 7));
    bounds.push("y", Interval(x, n));
    Scope<ModulusRemainder> alignment;
    alignment.push("z", ModulusRemainder(8, 3));
    auto with_facts = [&](const Expr &e) { return simplify(e, bounds, alignment); };
    EXPECT_TRUE(equal(with_facts(x / 8), 0));
    EXPECT_TRUE(equal(with_facts(x % 8), x));
    EXPECT_TRUE(equal(with_facts((w * 8 + x) / 8), w));
    EXPECT_TRUE(equal(with_facts((w * 8 + x) % 8), x));
    EXPECT_TRUE(equal(with_facts(min(x, 7)), x));
    EXPECT_TRUE(equal(with_facts(x < 8), const_true()));
    EXPECT_TRUE(equal(with_facts(z % 4), 3));
    EXPECT_TRUE(equal(with_facts((z + 5) % 8), 0));
    EXPECT_TRUE(equal(with_facts(max(y, 0)), y));
    EXPECT_TRUE(can_prove(y <= n, bounds));
    EXPECT_TRUE(can_prove(x <= n + 1, bounds) == false);
    EXPECT_TRUE(can_prove(y - x >= 0, bounds));
    EXPECT_TRUE(can_prove(min(y, n) == y, bounds));
    EXPECT_TRUE(equal(simplify(min(x, n), Scope<Interval>::empty_scope(), Scope<ModulusRemainder>::empty_scope(), {x <= n}), x));
    EXPECT_TRUE(equal(simplify(x / 4 + y, Scope<Interval>::empty_scope(), Scope<ModulusRemainder>::empty_scope(), {x == 9}), y + 2));
}

TEST(Simplify, Proofs) {
    const std::vector<Expr> provable = {
        // Splits: an outer and an inner loop that cover the extent and little more.
        ((n + 7) / 8) * 8 >= n,
        ((n + 7) / 8) * 8 <= n + 7,
        (n / 8) * 8 > n - 8,
        (x + 7) / 8 >= x / 8,
        max(min(x, y), z) <= max(x, z),
        min(x, y) + min(z, w) <= x + w,
        min(x - y, z) <= x - min(y, 3) || y < 3 || true,
        max(x, y) - min(x, y) >= 0,
        select(x < y, y - x, x - y) >= 0,
        select(x < y, x, y) == min(x, y),
        clamp(x, 0, n) >= 0,
        (x * 2 + 1) % 2 == 1,
        (x < y) || (y <= x),
        !(x < y && y < x),
        max(x, 0) * 8 + 7 >= 0,
        min(n - 8, x * 8) + 8 <= n,
        max(min(n - 8, x * 8), 0) + 7 <= max(n - 1, 7),
        x / 4 * 4 + 3 >= x,
        (x / 2) * 2 + x % 2 == x,
        Let::make("t", max(x, y), x <= var("t")),
    };
    for (const Expr &e : provable) {
        EXPECT_TRUE(can_prove(e)) << e << "\n  became " << simplify(e);
    }
    const std::vector<Expr> not_provable = {
        x < y, x + 1 > y, min(x, y) >= x, (n / 8) * 8 >= n, x * x >= 0 && x < 3, a + make_const(UInt(8), 1) > a, f == f,
        max(x, y) <= x + y,
    };
    for (const Expr &e : not_provable) {
        EXPECT_FALSE(can_prove(e)) << e;
    }
}

TEST(Simplify, Lets) {
    check({
        {Let::make("t", 3, var("t") + x), x + 3},
        {Let::make("t", y, var("t") + x), y + x},
        {Let::make("t", y + 1, var("t") + x), y + x + 1},
        {Let::make("t", y * z, x), x},
        // The name of a let may be that of a variable around it.
        {Let::make("x", x + 1, x * 2), x * 2 + 2},
        {Let::make("t", x % 8, var("t") < 8), const_true()},
    });
    // A ramp shows in the body, around the name of what is not.
    const Expr index = Variable::make(Int(32, 8), "i");
    const Expr load = Let::make("i", Ramp::make(y * z, 1, 8), Load::make(Int(32, 8), "buf", index + Broadcast::make(x, 8)));
    EXPECT_TRUE(equal(simplify(load), Let::make("i.base", y * z, Load::make(Int(32, 8), "buf", Ramp::make(var("i.base") + x, 1, 8)))))
        << simplify(load);
    const Expr kept = Let::make("t", y * z, var("t") + var("t") * var("t"));
    EXPECT_TRUE(equal(simplify(kept), Let::make("t", y * z, var("t") * var("t") + var("t"))) || simplify(kept).as<Let>())
        << simplify(kept);
    // An outer let that stands for x + 1 must not be caught by an inner x.
    const Expr capture = Let::make("t", x + 1, Let::make("x", y * z, var("t") + x * x));
    const Expr result = simplify(capture);
    const Let *let = result.as<Let>();
    ASSERT_TRUE(let) << result;
    EXPECT_NE(let->name, "x") << result;
}

Stmt store(const Expr &value, const Expr &index) {
    return Store::make("buf", value, index);
}

Stmt loop(const char *name, const Expr &min, const Expr &max, const Stmt &body, ForType t = ForType::Serial) {
    return For::make(name, min, max, t, Partition::Auto, DeviceAPI::None, body);
}

TEST(Simplify, Loops) {
    // No iteration, one iteration, and what the loop variable's bounds decide.
    EXPECT_TRUE(is_no_op(simplify(loop("x", 5, 4, store(x, x)))));
    EXPECT_TRUE(is_no_op(simplify(loop("x", n, n - 1, store(x, x)))));
    EXPECT_EQ(text(simplify(loop("x", n, n, store(x, x)))), text(store(n, n)));
    const Stmt body = IfThenElse::make(x < 10, store(1, x), store(2, x));
    EXPECT_EQ(text(simplify(loop("x", 0, 9, body))), text(loop("x", 0, 9, store(1, x))));
    const Stmt guarded = IfThenElse::make(x < n, store(1, min(x, n - 1)));
    EXPECT_EQ(text(simplify(loop("x", 0, n - 1, guarded))), text(loop("x", 0, n + -1, store(1, x))));
    EXPECT_EQ(text(simplify(loop("x", 0, min(n - 1, y), guarded))), text(loop("x", 0, min(n + -1, y), store(1, x))));
    // Inside, there is at least one iteration.
    const Stmt nested = loop("x", 0, n - 1, IfThenElse::make(n > 0, store(1, x)));
    EXPECT_EQ(text(simplify(nested)), text(loop("x", 0, n + -1, store(1, x))));
    // After the loop nothing of it is known.
    const Stmt after = Block::make(loop("y", 0, 3, store(y, y)), IfThenElse::make(y < 4, store(1, 0)));
    EXPECT_EQ(text(simplify(after)), text(after));
    // A loop with nothing in it is nothing.
    EXPECT_TRUE(is_no_op(simplify(loop("x", 0, 9, Evaluate::make(x + 1)))));
    // One GPU thread is still a thread.
    EXPECT_TRUE(simplify(loop("x", 3, 3, store(x, x), ForType::GPUThread)).as<For>());
}

TEST(Simplify, Branches) {
    EXPECT_EQ(text(simplify(IfThenElse::make(x < x + 1, store(1, x), store(2, x)))), text(store(1, x)));
    EXPECT_EQ(text(simplify(IfThenElse::make(p, store(1, x), store(1, x)))), text(store(1, x)));
    EXPECT_EQ(text(simplify(IfThenElse::make(x == 3, store(x, x)))), text(IfThenElse::make(x == 3, store(3, 3))));
    EXPECT_EQ(text(simplify(IfThenElse::make(p, Evaluate::make(0), store(1, x)))), text(IfThenElse::make(!p, store(1, x))));
    EXPECT_TRUE(is_no_op(simplify(IfThenElse::make(p, Evaluate::make(0), Evaluate::make(1)))));
    const Stmt same_first = IfThenElse::make(p, Block::make(store(0, 0), store(1, x)), Block::make(store(0, 0), store(2, x)));
    EXPECT_EQ(text(simplify(same_first)), text(Block::make(store(0, 0), IfThenElse::make(p, store(1, x), store(2, x)))));
    const Stmt twice = Block::make(IfThenElse::make(p, store(1, x)), IfThenElse::make(p, store(2, y)));
    EXPECT_EQ(text(simplify(twice)), text(IfThenElse::make(p, Block::make(store(1, x), store(2, y)))));
    // But not if the condition is in memory, which the first part changes.
    const Expr flag = Load::make(Int(32), "buf", 0) > 0;
    const Stmt reads = Block::make(IfThenElse::make(flag, store(1, x)), IfThenElse::make(flag, store(2, y)));
    EXPECT_TRUE(simplify(reads).as<Block>());
    const Stmt assert_then = Block::make(AssertStmt::make(x < n, 0), IfThenElse::make(x <= n, store(1, x)));
    EXPECT_EQ(text(simplify(assert_then)), text(Block::make(AssertStmt::make(x < n, 0), store(1, x))));
    EXPECT_TRUE(is_no_op(simplify(AssertStmt::make(x <= max(x, y), 0))));
}

TEST(Simplify, Statements) {
    EXPECT_TRUE(is_no_op(simplify(store(Load::make(Int(32), "buf", x + 1), 1 + x))));
    EXPECT_TRUE(is_no_op(simplify(store(undef(Int(32)), x))));
    EXPECT_EQ(text(simplify(LetStmt::make("t", y * z, store(1, x)))), text(store(1, x)));
    EXPECT_EQ(text(simplify(LetStmt::make("t", x + 1, store(var("t"), x)))), text(store(x + 1, x)));
    // A let of a pointer may name the buffer that is stored to.
    const Stmt pointer = LetStmt::make("buf", var("host", Handle()), store(1, x));
    EXPECT_TRUE(simplify(pointer).as<LetStmt>()) << simplify(pointer);
    EXPECT_TRUE(is_no_op(simplify(ProducerConsumer::make_produce("h", Evaluate::make(0)))));
    const Stmt all = Block::make({Evaluate::make(0), store(1, x), Evaluate::make(x), store(2, y)});
    EXPECT_EQ(text(simplify(all)), text(Block::make(store(1, x), store(2, y))));
    const Stmt alloc = Allocate::make("m", Int(32), MemoryType::Heap, {x + 3 - x}, const_true(), Store::make("m", 1, 0));
    EXPECT_EQ(text(simplify(alloc)),
              text(Allocate::make("m", Int(32), MemoryType::Heap, {3}, const_true(), Store::make("m", 1, 0))));
    EXPECT_TRUE(is_no_op(simplify(Allocate::make("m", Int(32), MemoryType::Heap, {x}, const_true(), Free::make("m")))));
    // Unchanged statements are the same node.
    const Stmt s = loop("x", 0, n, Block::make(store(x, x), store(y, x + y)));
    EXPECT_TRUE(simplify(s).same_as(s)) << s << simplify(s);
}

// Of this process, whatever else the machine does.
double seconds(const std::function<void()> &f) {
    const std::clock_t start = std::clock();
    f();
    return (double)(std::clock() - start) / CLOCKS_PER_SEC;
}

// Doubling the size must not much more than double the time. The least of three measurements counts.
void expect_linear(const char *what, const std::function<std::function<void()>(int)> &make, int size) {
    auto least = [&](int n) {
        double best = 1e9;
        for (int i = 0; i < 3; i++) {
            best = std::min(best, seconds(make(n)));
        }
        return best;
    };
    const double small = least(size), large = least(size * 4);
    EXPECT_LT(large, small * 9 + 0.01) << what << ": " << small << " s for " << size << ", " << large << " s for four times that";
}

TEST(Simplify, TimeIsLinear) {
    RuleSet::get();
    expect_linear("a long sum", [](int n) {
        Expr e = x;
        for (int i = 0; i < n; i++) {
            e = e + var(("v" + std::to_string(i)).c_str()) * (i + 2);
        }
        return [e] { simplify(e); };
    }, 500);
    expect_linear("nested minima", [](int n) {
        Expr e = x;
        for (int i = 0; i < n; i++) {
            e = min(e + 1, var(("v" + std::to_string(i)).c_str()));
        }
        return [e] { simplify(e); };
    }, 250);
    expect_linear("a chain of lets", [](int n) {
        Expr e = var("l0");
        for (int i = 0; i < n; i++) {
            e = Let::make("l" + std::to_string(i), var(("l" + std::to_string(i + 1)).c_str()) * var("k"), e);
        }
        return [e] { simplify(e); };
    }, 1000);
    expect_linear("a shared graph", [](int n) {
        Expr e = x;
        for (int i = 0; i < n; i++) {
            e = (e * y) + (e / (z + i));
        }
        return [e] { simplify(e); };
    }, 16);
    expect_linear("a long block", [](int n) {
        std::vector<Stmt> s;
        for (int i = 0; i < n; i++) {
            s.push_back(store(x * i, y + i));
        }
        const Stmt b = Block::make(s);
        return [b] { simplify(b); };
    }, 1000);
    expect_linear("nested conditions", [](int n) {
        Stmt s = store(1, 0);
        for (int i = 0; i < n; i++) {
            s = IfThenElse::make(var(("v" + std::to_string(i)).c_str()) < var(("v" + std::to_string(i + 1)).c_str()), s);
        }
        return [s] { simplify(s); };
    }, 100);
    expect_linear("common subexpressions", [](int n) {
        Expr e = x;
        for (int i = 0; i < n; i++) {
            e = e * e + var(("v" + std::to_string(i % 7)).c_str());
        }
        return [e] { common_subexpression_elimination(e); };
    }, 200);
}

TEST(Simplify, RulesLoadFast) {
    // The budget is 5 ms; a loaded machine gets some room.
    double best = 1e9;
    for (int i = 0; i < 5; i++) {
        best = std::min(best, seconds([] {
            for (const auto &[file, content] : RuleSet::sources()) {
                RuleSet::parse(content, file, true);
            }
        }));
    }
    EXPECT_LT(best, 0.02);
}

TEST(CommonSubexpressions, NamesWhatOccursTwice) {
    const Expr t = x * y;
    const Expr t0 = var("t0");
    struct {
        Expr before, after;
    } cases[] = {
        {t + t, Let::make("t0", t, t0 + t0)},
        {(x * y) + (x * y) * z, Let::make("t0", t, t0 + t0 * z)},
        {Let::make("k", x * y, var("k") + x * y), Let::make("t0", t, t0 + t0)},
        {x + x, x + x},
        {(x + 1) * (x + 1), (x + 1) * (x + 1)},
    };
    for (const auto &k : cases) {
        const Expr result = common_subexpression_elimination(k.before);
        EXPECT_TRUE(equal(result, k.after)) << k.before << " -> " << result;
    }
    EXPECT_TRUE(equal(common_subexpression_elimination((x + 1) * (x + 1), true), Let::make("t0", x + 1, t0 * t0)));
    // A name that is in use is not taken.
    const Expr used = common_subexpression_elimination(t * t0 + t);
    EXPECT_TRUE(equal(used, Let::make("t1", t, var("t1") * t0 + var("t1")))) << used;
}

TEST(CommonSubexpressions, KeepsGuardsAndEffects) {
    const Expr load = Load::make(Int(32), "buf", x);
    const Expr guarded = Call::make(Int(32), Call::if_then_else, {x < n, load * load, 0}, Call::PureIntrinsic);
    const Expr result = common_subexpression_elimination(guarded);
    ASSERT_TRUE(result.as<Call>()) << result;
    EXPECT_TRUE(result.as<Call>()->args[1].as<Let>()) << result;
    const Expr effect = Call::make(Int(32), "next_number", {x}, Call::Extern);
    EXPECT_TRUE(equal(common_subexpression_elimination(effect + effect), effect + effect));
}

}  // namespace
