#include "ir/IROperator.h"
#include "ir/LowerIntrinsics.h"
#include "../support/ScalarEvaluator.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace {

using namespace Halide;
using namespace Halide::Internal;
using ScalarEvaluator::Evaluator;
using ScalarEvaluator::floor_div;
using ScalarEvaluator::max_of;
using ScalarEvaluator::min_of;
using ScalarEvaluator::Wide;
using ScalarEvaluator::wrap;

const std::vector<Type> all_types = {Int(8), UInt(8), Int(16), UInt(16), Int(32), UInt(32), Int(64), UInt(64)};

Wide euclidean_div(Wide a, Wide b) {
    return b == 0 ? 0 : b > 0 ? floor_div(a, b) : -floor_div(a, -b);
}
Wide euclidean_mod(Wide a, Wide b) {
    return b == 0 ? 0 : a - b * euclidean_div(a, b);
}

/// The extreme values of a type, those around powers of two, and random ones of all magnitudes.
std::vector<Wide> interesting_values(const Type &t, int random_count) {
    std::vector<Wide> values;
    const auto add = [&](Wide v) {
        if (v >= min_of(t) && v <= max_of(t)) {
            values.push_back(v);
        }
    };
    if (t.bits() == 8) {
        for (int v = -128; v < 256; v++) {
            add(v);
        }
        return values;
    }
    for (int bit = 0; bit <= t.bits(); bit += t.bits() / 8) {
        for (int delta = -1; delta <= 1; delta++) {
            add(((Wide)1 << bit) + delta);
            add(-((Wide)1 << bit) + delta);
        }
    }
    std::mt19937_64 random(t.bits() + t.is_int());
    for (int i = 0; i < random_count; i++) {
        const uint64_t bits = random() >> (random() % t.bits());
        values.push_back(wrap(t, (Wide)bits));
    }
    return values;
}

std::string text(Wide v) {
    return v < 0 ? "-" + text(-v) : v < 10 ? std::string(1, (char)('0' + (int)v)) : text(v / 10) + text(v % 10);
}

#define EXPECT_WIDE_EQ(actual, expected, what) EXPECT_EQ(text(actual), text(expected)) << what

TEST(MagicDivision, ConstantDivisors) {
    for (const Type &t : all_types) {
        const Expr x = Variable::make(t, "x");
        const std::vector<Wide> numerators = interesting_values(t, 4);
        for (Wide d : interesting_values(t, 20)) {
            const Expr divisor = t.is_int() ? make_const(t, (int64_t)d) : make_const(t, (uint64_t)d);
            const Expr quotient = lower_intrinsics(lower_int_uint_div(x, divisor));
            const Expr remainder = lower_intrinsics(lower_int_uint_mod(x, divisor));
            const Expr truncated = lower_intrinsics(lower_int_uint_div(x, divisor, true));
            for (Wide a : numerators) {
                Evaluator eval;
                eval.set("x", a);
                const std::string what = concat_strings(t, ": ", text(a), " by ", text(d));
                EXPECT_WIDE_EQ(eval.integer(quotient), wrap(t, euclidean_div(a, d)), what);
                EXPECT_WIDE_EQ(eval.integer(remainder), euclidean_mod(a, d), what);
                EXPECT_WIDE_EQ(eval.integer(truncated), wrap(t, d == 0 ? 0 : a / d), what);
                ASSERT_EQ(eval.undefined, "") << what;
                if (HasFailure()) {
                    return;
                }
            }
        }
    }
}

TEST(MagicDivision, MagicNumbersForAllDivisorsOf16Bits) {
    for (int bits : {8, 16}) {
        for (uint64_t d = 1; d < (1u << bits); d++) {
            const DivisionMagic m = find_division_magic(bits, bits, d);
            // Floor division only changes at multiples of d: those and their predecessors decide.
            for (uint64_t k = d; k < (1u << bits) + d; k += d * (bits == 8 || d > 64 ? 1 : 37)) {
                for (uint64_t a : {k - 1, k}) {
                    if (a >= (1u << bits)) {
                        continue;
                    }
                    const uint64_t multiplier = m.multiplier + (m.multiplier_is_wide ? (uint64_t)1 << bits : 0);
                    const uint64_t shifted = a >> m.pre_shift;
                    const uint64_t q = m.multiplier == 0 ? shifted : (shifted * multiplier) >> m.shift;
                    ASSERT_EQ(q, a / d) << a << " / " << d << " in " << bits << " bits";
                }
            }
        }
    }
}

TEST(MagicDivision, DivisorsKnownAtRunTime) {
    for (const Type &t : all_types) {
        const Expr x = Variable::make(t, "x"), y = Variable::make(t, "y");
        const Expr quotient = lower_euclidean_div(x, y), remainder = lower_euclidean_mod(x, y);
        for (Wide d : interesting_values(t, 3)) {
            for (Wide a : interesting_values(t, 3)) {
                Evaluator eval;
                eval.set("x", a);
                eval.set("y", d);
                const std::string what = concat_strings(t, ": ", text(a), " by ", text(d));
                EXPECT_WIDE_EQ(eval.integer(quotient), wrap(t, euclidean_div(a, d)), what);
                EXPECT_WIDE_EQ(eval.integer(remainder), euclidean_mod(a, d), what);
                ASSERT_EQ(eval.undefined, "") << what;
                if (HasFailure()) {
                    return;
                }
            }
        }
    }
}

TEST(MagicDivision, HostArithmeticAgreesWithTheLanguage) {
    // Observed with the reference: see the language page, 2.1.
    EXPECT_EQ(div_imp(-7, 2), -4);
    EXPECT_EQ(mod_imp(-7, 2), 1);
    EXPECT_EQ(div_imp(-7, -2), 4);
    EXPECT_EQ(mod_imp(-7, -2), 1);
    EXPECT_EQ(div_imp(7, -2), -3);
    EXPECT_EQ(mod_imp(7, -2), 1);
    EXPECT_EQ(div_imp(5, 0), 0);
    EXPECT_EQ(mod_imp(5, 0), 0);
    EXPECT_EQ(div_imp(INT32_MIN, -1), INT32_MIN);
    EXPECT_EQ(mod_imp(INT32_MIN, -1), 0);
    EXPECT_EQ(mod_imp(-0.5, 2.0), 1.5);
    for (int a = -128; a < 128; a++) {
        for (int b = -128; b < 128; b++) {
            ASSERT_EQ(div_imp((int8_t)a, (int8_t)b), (int8_t)euclidean_div(a, b)) << a << " / " << b;
            ASSERT_EQ(mod_imp((int8_t)a, (int8_t)b), (int8_t)euclidean_mod(a, b)) << a << " % " << b;
        }
    }
}

TEST(MagicDivision, TablesOfFastIntegerDivision) {
    for (const Type &t : {Int(8), UInt(8), Int(16), UInt(16), Int(32), UInt(32)}) {
        const Expr x = Variable::make(t, "x"), y = Variable::make(UInt(8), "y");
        const Expr quotient = lower_intrinsics(fast_integer_divide(x, y));
        const Expr remainder = lower_intrinsics(fast_integer_modulo(x, y));
        const Expr truncated = lower_intrinsics(fast_integer_divide_round_to_zero(x, y));
        for (int d = 0; d < 256; d++) {
            for (Wide a : interesting_values(t, 3)) {
                if (t.bits() == 8 && (a * 7 + d) % 23 != 0) {
                    continue;
                }
                Evaluator eval;
                eval.set("x", a);
                eval.set("y", d);
                const std::string what = concat_strings(t, ": ", text(a), " by ", d);
                EXPECT_WIDE_EQ(eval.integer(quotient), wrap(t, euclidean_div(a, d)), what);
                EXPECT_WIDE_EQ(eval.integer(remainder), wrap(t, euclidean_mod(a, d)), what);
                EXPECT_WIDE_EQ(eval.integer(truncated), wrap(t, d == 0 ? 0 : a / d), what);
                if (HasFailure()) {
                    return;
                }
            }
        }
    }
}

}  // namespace
