#include "ir/IROperator.h"
#include "ir/LowerIntrinsics.h"
#include "../support/ScalarEvaluator.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <vector>

namespace {

using namespace Halide;
using namespace Halide::Internal;
using ScalarEvaluator::Evaluator;
using ScalarEvaluator::floor_div;
using ScalarEvaluator::max_of;
using ScalarEvaluator::min_of;
using ScalarEvaluator::saturate;
using ScalarEvaluator::Wide;
using ScalarEvaluator::wrap;

Wide pow2(Wide n) {
    return (Wide)1 << (int)n;
}

std::string text(Wide v) {
    return v < 0 ? "-" + text(-v) : v < 10 ? std::string(1, (char)('0' + (int)v)) : text(v / 10) + text(v % 10);
}

std::vector<Wide> sample(const Type &t) {
    std::vector<Wide> values = {min_of(t), min_of(t) + 1, max_of(t), max_of(t) - 1, 0, 1, 2, 3, 7, 100};
    if (t.is_int()) {
        for (int v : {-1, -2, -3, -7, -100}) {
            values.push_back(v);
        }
    }
    std::mt19937_64 random(t.bits());
    for (int i = 0; i < 4; i++) {
        values.push_back(wrap(t, (Wide)(random() >> (random() % t.bits()))));
    }
    return values;
}

struct BinaryCase {
    const char *name;
    Expr (*build)(Expr, Expr);
    /// The value in exact integers; t is the type of the operands.
    std::function<Wide(Type t, Wide a, Wide b)> expected;
    int max_bits;
};

Expr build_absd(Expr a, Expr b) {
    return absd(a, b);
}

TEST(FixedPoint, BinaryOperations) {
    const BinaryCase cases[] = {
        {"widening_add", widening_add, [](Type, Wide a, Wide b) { return a + b; }, 32},
        {"widening_sub", widening_sub, [](Type, Wide a, Wide b) { return a - b; }, 32},
        {"widening_mul", widening_mul, [](Type, Wide a, Wide b) { return a * b; }, 32},
        {"saturating_add", saturating_add, [](Type t, Wide a, Wide b) { return saturate(t, a + b); }, 64},
        {"saturating_sub", saturating_sub, [](Type t, Wide a, Wide b) { return saturate(t, a - b); }, 64},
        {"halving_add", halving_add, [](Type, Wide a, Wide b) { return floor_div(a + b, 2); }, 64},
        {"rounding_halving_add", rounding_halving_add, [](Type, Wide a, Wide b) { return floor_div(a + b + 1, 2); }, 64},
        {"halving_sub", halving_sub, [](Type t, Wide a, Wide b) { return wrap(t, floor_div(a - b, 2)); }, 64},
        {"absd", build_absd, [](Type, Wide a, Wide b) { return a > b ? a - b : b - a; }, 64},
    };
    for (const BinaryCase &c : cases) {
        for (int bits = 8; bits <= c.max_bits; bits *= 2) {
            for (const Type &t : {Int(bits), UInt(bits)}) {
                const Expr e = lower_intrinsics(c.build(Variable::make(t, "a"), Variable::make(t, "b")));
                for (Wide a : sample(t)) {
                    for (Wide b : sample(t)) {
                        Evaluator eval;
                        eval.set("a", a);
                        eval.set("b", b);
                        ASSERT_EQ(text(eval.integer(e)), text(c.expected(t, a, b)))
                            << c.name << " of " << t << " " << text(a) << ", " << text(b) << "\n" << e;
                        ASSERT_EQ(eval.undefined, "") << c.name << " " << text(a) << ", " << text(b);
                    }
                }
            }
        }
    }
}

TEST(FixedPoint, MixedSignedness) {
    for (int bits : {8, 16, 32}) {
        const Type s = Int(bits), u = UInt(bits);
        const Expr e = widening_mul(Variable::make(u, "a"), Variable::make(s, "b"));
        EXPECT_EQ(e.type(), Int(2 * bits));
        const Expr lowered = lower_intrinsics(e);
        for (Wide a : sample(u)) {
            for (Wide b : sample(s)) {
                Evaluator eval;
                eval.set("a", a);
                eval.set("b", b);
                ASSERT_EQ(text(eval.integer(lowered)), text(a * b));
                ASSERT_EQ(eval.undefined, "");
            }
        }
    }
    EXPECT_EQ(widening_sub(Variable::make(UInt(8), "a"), Variable::make(UInt(8), "b")).type(), Int(16));
}

Wide rounding_shift_right_value(const Type &t, Wide a, Wide n) {
    return n > 0 ? floor_div(a + pow2(n - 1), pow2(n)) : wrap(t, a * pow2(-n));
}

TEST(FixedPoint, RoundingShifts) {
    for (int bits : {8, 16, 32, 64}) {
        for (const Type &t : {Int(bits), UInt(bits)}) {
            for (const Type &amount : {Int(bits), UInt(bits)}) {
                const Expr a = Variable::make(t, "a"), n = Variable::make(amount, "n");
                const Expr right = lower_intrinsics(rounding_shift_right(a, n));
                const Expr left = lower_intrinsics(rounding_shift_left(a, n));
                for (Wide v : sample(t)) {
                    for (int k = amount.is_int() ? 1 - bits : 0; k < bits; k++) {
                        Evaluator eval;
                        eval.set("a", v);
                        eval.set("n", k);
                        ASSERT_EQ(text(eval.integer(right)), text(rounding_shift_right_value(t, v, k)))
                            << t << " " << text(v) << " by " << k;
                        ASSERT_EQ(text(eval.integer(left)), text(rounding_shift_right_value(t, v, -k)))
                            << t << " " << text(v) << " by " << k;
                        ASSERT_EQ(eval.undefined, "");
                    }
                }
                for (int k : {-3, -1, 0, 1, 3, bits - 1}) {
                    const Expr constant = lower_intrinsics(rounding_shift_right(a, k));
                    for (Wide v : sample(t)) {
                        Evaluator eval;
                        eval.set("a", v);
                        ASSERT_EQ(text(eval.integer(constant)), text(rounding_shift_right_value(t, v, k)));
                    }
                }
            }
        }
    }
}

TEST(FixedPoint, MultiplicationWithShift) {
    for (int bits : {8, 16, 32, 64}) {
        for (const Type &t : {Int(bits), UInt(bits)}) {
            const Expr a = Variable::make(t, "a"), b = Variable::make(t, "b");
            const Expr q = Variable::make(UInt(bits), "q");
            const Expr plain = lower_intrinsics(mul_shift_right(a, b, q));
            const Expr rounded = lower_intrinsics(rounding_mul_shift_right(a, b, q));
            for (int k = 0; k < 2 * bits; k += (bits < 32 ? 1 : 5)) {
                const Expr plain_k = lower_intrinsics(mul_shift_right(a, b, k));
                const Expr rounded_k = lower_intrinsics(rounding_mul_shift_right(a, b, k));
                for (Wide va : sample(t)) {
                    for (Wide vb : sample(t)) {
                        // Unsigned products of 64 bits do not fit in the signed 128 bits of the expected value.
                        if (bits == 64 && t.is_uint() && va > max_of(Int(64)) && vb > max_of(Int(64))) {
                            continue;
                        }
                        Evaluator eval;
                        eval.set("a", va);
                        eval.set("b", vb);
                        eval.set("q", k);
                        const Wide product = va * vb;
                        const Wide floor = k >= 127 ? (product < 0 ? -1 : 0) : product >> k;
                        const Wide up = k == 0 ? 0 : (product >> (k - 1)) & 1;
                        const std::string what =
                            concat_strings(t, " ", text(va), " * ", text(vb), " >> ", k);
                        ASSERT_EQ(text(eval.integer(plain)), text(saturate(t, floor))) << what;
                        ASSERT_EQ(text(eval.integer(plain_k)), text(saturate(t, floor))) << what;
                        ASSERT_EQ(text(eval.integer(rounded)), text(saturate(t, floor + up))) << what;
                        ASSERT_EQ(text(eval.integer(rounded_k)), text(saturate(t, floor + up))) << what;
                        ASSERT_EQ(eval.undefined, "") << what;
                    }
                }
            }
        }
    }
}

TEST(FixedPoint, SaturatingCasts) {
    for (int from_bits : {8, 16, 32, 64}) {
        for (int to_bits : {8, 16, 32, 64}) {
            for (const Type &from : {Int(from_bits), UInt(from_bits)}) {
                for (const Type &to : {Int(to_bits), UInt(to_bits)}) {
                    const Expr e = lower_intrinsics(saturating_cast(to, Variable::make(from, "a")));
                    for (Wide a : sample(from)) {
                        Evaluator eval;
                        eval.set("a", a);
                        ASSERT_EQ(text(eval.integer(e)), text(saturate(to, a))) << from << " to " << to;
                    }
                }
            }
        }
    }
}

TEST(FixedPoint, SaturatingCastsOfFloats) {
    struct Case {
        Type from, to;
        double value;
        Wide expected;
    } cases[] = {
        {Float(32), UInt(8), -1.5, 0},           {Float(32), UInt(8), 255.9, 255},
        {Float(32), UInt(8), 1e30, 255},         {Float(32), Int(8), -128.9, -128},
        {Float(32), Int(32), 3e9, INT32_MAX},    {Float(32), Int(32), -3e9, INT32_MIN},
        {Float(32), UInt(32), 4294967296.0, UINT32_MAX}, {Float(64), Int(32), 2147483646.7, 2147483646},
        {Float(64), Int(64), 1e19, INT64_MAX},   {Float(64), Int(64), -1e19, INT64_MIN},
        {Float(16), Int(16), 40000, 32767},      {Float(16), UInt(16), HUGE_VAL, 65535},
        {Float(16), Int(32), -HUGE_VAL, INT32_MIN}, {BFloat(16), Int(8), 300, 127},
        {Float(32), Int(16), 3.99, 3},           {Float(32), Int(16), -3.99, -3},
    };
    for (const Case &c : cases) {
        const Expr e = lower_intrinsics(saturating_cast(c.to, Variable::make(c.from, "a")));
        Evaluator eval;
        eval.set_float("a", c.value);
        EXPECT_EQ(text(eval.integer(e)), text(c.expected)) << c.value << " from " << c.from << " to " << c.to;
    }
    const auto narrowed = [](Type from, Type to, double v) {
        Evaluator eval;
        eval.set_float("a", v);
        return eval.real(saturating_cast(to, Variable::make(from, "a")));
    };
    EXPECT_EQ(narrowed(Float(32), Float(16), 1e9), 65504);
    EXPECT_EQ(narrowed(Float(32), Float(16), -HUGE_VAL), -65504);
    EXPECT_EQ(narrowed(Float(64), Float(32), HUGE_VAL), (double)std::numeric_limits<float>::max());
    EXPECT_EQ(narrowed(BFloat(16), Float(16), 1e30), 65504);
    EXPECT_EQ(narrowed(Float(16), Float(32), HUGE_VAL), (double)std::numeric_limits<float>::max());
    EXPECT_EQ(narrowed(Float(32), Float(16), 1.5), 1.5);
}

TEST(FixedPoint, Bits) {
    for (int bits : {8, 16, 32, 64}) {
        for (const Type &t : {Int(bits), UInt(bits)}) {
            const Expr a = Variable::make(t, "a");
            for (Wide v : sample(t)) {
                Evaluator eval;
                eval.set("a", v);
                const uint64_t u = (uint64_t)wrap(UInt(bits), v);
                EXPECT_EQ((int)eval.integer(lower_popcount(a)), popcount64(u));
                EXPECT_EQ((int)eval.integer(lower_count_leading_zeros(a)), clz64(u) - (64 - bits)) << text(v);
                EXPECT_EQ((int)eval.integer(lower_count_trailing_zeros(a)), std::min(ctz64(u), bits)) << text(v);
            }
        }
    }
    Evaluator eval;
    eval.set("a", 0xabcd);
    eval.set("n", 12);
    const Expr a = Variable::make(UInt(16), "a"), n = Variable::make(Int(32), "n");
    EXPECT_EQ(text(eval.integer(lower_intrinsics(extract_bits<uint8_t>(a, 12)))), text(0x0a));
    EXPECT_EQ(text(eval.integer(lower_intrinsics(extract_bits<uint8_t>(a, n)))), text(0x0a));
    EXPECT_EQ(text(eval.integer(lower_intrinsics(extract_bits<uint8_t>(a, 4)))), text(0xbc));
    EXPECT_EQ(text(eval.integer(lower_intrinsics(extract_bits<int8_t>(a, 0)))), text((int8_t)0xcd));
    EXPECT_EQ(text(eval.integer(lower_intrinsics(extract_bits<uint32_t>(a, 8)))), text(0xab));
    EXPECT_EQ(text(eval.integer(lower_intrinsics(extract_bits<uint8_t>(a, 16)))), text(0));
    EXPECT_EQ(text(eval.integer(lower_intrinsics(concat_bits({a, a})))), text(0xabcdabcd));
    EXPECT_EQ(concat_bits({a, a}).type(), UInt(32));
}

/// The formula of the language page, 2.4, in exact integers.
Wide lerp_value(Type t, Wide zero, Wide one, Wide w) {
    const Wide m = max_of(UInt(t.bits()));
    const Wide bias = t.is_int() ? pow2(t.bits() - 1) : 0;
    return floor_div((zero + bias) * (m - w) + (one + bias) * w + m / 2, m) - bias;
}

TEST(FixedPoint, LerpOfIntegers) {
    for (int bits : {8, 16, 32}) {
        for (const Type &t : {Int(bits), UInt(bits)}) {
            for (int weight_bits : {1, 8, 16, 32}) {
                const Type wt = UInt(weight_bits);
                const Expr a = Variable::make(t, "a"), b = Variable::make(t, "b"), w = Variable::make(wt, "w");
                const Expr e = lower_intrinsics(lerp(a, b, w));
                const Wide wm = max_of(wt), tm = max_of(UInt(bits));
                std::vector<Wide> weights = {0, 1, wm, wm / 2};
                if (weight_bits > 1) {
                    weights.push_back(wm / 3);
                    weights.push_back(wm - 1);
                    weights.push_back(100);
                }
                for (Wide va : sample(t)) {
                    for (Wide vb : sample(t)) {
                        for (Wide vw : weights) {
                            Evaluator eval;
                            eval.set("a", va);
                            eval.set("b", vb);
                            eval.set("w", vw);
                            const Wide scaled = wm <= tm ? vw * (tm / wm) : vw / (wm / tm);
                            ASSERT_EQ(text(eval.integer(e)), text(lerp_value(t, va, vb, scaled)))
                                << t << " " << text(va) << " " << text(vb) << " by " << text(vw) << " of " << wt;
                            ASSERT_EQ(eval.undefined, "");
                        }
                    }
                }
            }
        }
    }
}

TEST(FixedPoint, LerpObserved) {
    const Expr a = make_const(UInt(8), 42), b = make_const(UInt(8), 69);
    Evaluator eval;
    EXPECT_EQ((int)eval.integer(lower_intrinsics(lerp(a, b, 0.5f))), 55);
    EXPECT_EQ((int)eval.integer(lower_intrinsics(lerp(b, a, 0.5f))), 56);
    EXPECT_EQ((int)eval.integer(lower_intrinsics(lerp(a, b, make_const(UInt(8), 128)))), 56);
    EXPECT_EQ(eval.real(lower_intrinsics(lerp(Expr(1.0f), Expr(3.0f), 0.25f))), 1.5);
    EXPECT_EQ(eval.real(lower_intrinsics(lerp(Expr(1.0f), Expr(3.0f), make_const(UInt(8), 255)))), 3);
    EXPECT_EQ((int)eval.integer(lower_intrinsics(lerp(const_false(), const_true(), 0.75f))), 1);
}

TEST(FixedPoint, RoundTiesToEven) {
    for (double v : {0.5, 1.5, 2.5, -0.5, -1.5, 0.49999997, 8388609.0, 1e20, -3.7, 3.2, 0.0}) {
        for (const Type &t : {Float(32), Float(64)}) {
            Evaluator eval;
            eval.set_float("a", t.bits() == 32 ? (float)v : v);
            const double expected = std::nearbyint(t.bits() == 32 ? (double)(float)v : v);
            const double actual = eval.real(lower_intrinsics(round(Variable::make(t, "a"))));
            EXPECT_EQ(actual, expected) << v;
            EXPECT_EQ(std::signbit(actual), std::signbit(expected)) << v;
        }
    }
}

TEST(FixedPoint, ShiftsBothWays) {
    const Expr a = Variable::make(Int(32), "a"), n = Variable::make(Int(32), "n");
    for (int k = -31; k < 32; k++) {
        Evaluator eval;
        eval.set("a", -12345);
        eval.set("n", k);
        const Wide left = k >= 0 ? wrap(Int(32), (Wide)-12345 * pow2(k)) : floor_div(-12345, pow2(-k));
        const Wide right = k <= 0 ? wrap(Int(32), (Wide)-12345 * pow2(-k)) : floor_div(-12345, pow2(k));
        EXPECT_EQ(text(eval.integer(lower_intrinsics(lower_signed_shift_left(a, n)))), text(left));
        EXPECT_EQ(text(eval.integer(lower_intrinsics(lower_signed_shift_right(a, n)))), text(right));
        EXPECT_EQ(text(eval.integer(a << k)), text(left));
        EXPECT_EQ(text(eval.integer(a >> k)), text(right));
    }
}

TEST(FixedPoint, MuxTakesTheLastValueOutOfRange) {
    const Expr id = Variable::make(Int(32), "id");
    const Expr e = lower_intrinsics(mux(id, {Expr(10), Expr(20), Expr(30)}));
    for (const auto &[v, expected] : {std::pair(-1, 30), {0, 10}, {1, 20}, {2, 30}, {3, 30}}) {
        Evaluator eval;
        eval.set("id", v);
        EXPECT_EQ((int)eval.integer(e), expected) << v;
    }
}

TEST(FixedPoint, RandomNumbersFollowTheRecipe) {
    const auto permute = [](uint32_t x) { return (1040796640u * x + 1121052041u) * x + 576942909u; };
    const uint32_t parts[] = {3, 7, 11, 5, 2};
    uint32_t r = permute(parts[0]);
    for (int i = 1; i < 5; i++) {
        r = permute(r + parts[i]);
    }
    r ^= r >> 16;
    reset_random_counters();
    Expr call;
    for (int i = 0; i < 8; i++) {
        call = random_uint(3);
    }
    Evaluator eval;
    eval.set("x", 2);
    eval.set("y", 5);
    EXPECT_EQ(text(eval.integer(lower_random(call, {"x", "y"}, 11))), text(r));
}

}  // namespace
