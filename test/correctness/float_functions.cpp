#include "ir/IROperator.h"

#include "../support/ScalarEvaluator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace {

using namespace Halide;
using namespace Halide::Internal;
using ScalarEvaluator::Evaluator;

constexpr float inf = std::numeric_limits<float>::infinity();

Expr x() {
    return Variable::make(Float(32), "x");
}

float value(const Expr &e, float v) {
    Evaluator eval;
    eval.set_float("x", v);
    const float result = (float)eval.real(e);
    EXPECT_EQ(eval.undefined, "") << v;
    return result;
}

/// The distance of a float from the exact result, in units of its last place.
double error_in_ulps(float actual, double expected) {
    if ((double)actual == expected || (std::isnan(actual) && std::isnan(expected))) {
        return 0;
    }
    const float rounded = (float)expected;
    if (std::isinf(rounded) || std::isinf(actual)) {
        return rounded == actual ? 0 : 1e9;
    }
    const float magnitude = std::max(std::fabs(rounded), 0x1p-126f);
    const double ulp = std::ldexp(1.0, std::ilogb(magnitude) - 23);
    return std::fabs(actual - expected) / ulp;
}

TEST(FloatFunctions, Exp) {
    const Expr e = halide_exp(x());
    EXPECT_EQ(value(e, 0), 1);
    EXPECT_EQ(value(e, inf), inf);
    EXPECT_EQ(value(e, -inf), 0);
    EXPECT_EQ(value(e, 1000), inf);
    EXPECT_EQ(value(e, -1000), 0);
    EXPECT_EQ(value(e, 88.8f), inf);
    EXPECT_TRUE(std::isnan(value(e, NAN)));
    double worst = 0;
    for (float v = -103; v < 88.7f; v += 0.0917f) {
        worst = std::max(worst, error_in_ulps(value(e, v), std::exp((double)v)));
    }
    EXPECT_LE(worst, 1.0);
}

TEST(FloatFunctions, Log) {
    const Expr e = halide_log(x());
    EXPECT_EQ(value(e, 1), 0);
    EXPECT_EQ(value(e, inf), inf);
    EXPECT_EQ(value(e, 0), -inf);
    EXPECT_EQ(value(e, -0.0f), -inf);
    EXPECT_TRUE(std::isnan(value(e, -1)));
    EXPECT_TRUE(std::isnan(value(e, -inf)));
    EXPECT_TRUE(std::isnan(value(e, NAN)));
    double worst = 0;
    std::mt19937 random(1);
    for (int i = 0; i < 3000; i++) {
        const float v = i % 2 ? reinterpret_bits<float>(random() % 0x7f800000u) : 0.5f + (float)(random() % 100000) / 66666;
        worst = std::max(worst, error_in_ulps(value(e, v), std::log((double)v)));
    }
    EXPECT_LE(worst, 1.1);
}

TEST(FloatFunctions, Erf) {
    const Expr e = erf(x());
    double worst = 0;
    for (float v = -5; v < 5; v += 0.00317f) {
        worst = std::max(worst, error_in_ulps(value(e, v), std::erf((double)v)));
    }
    EXPECT_LE(worst, 4);
    EXPECT_EQ(value(e, 30), 1);
    EXPECT_EQ(value(e, -inf), -1);
    EXPECT_EQ(value(e, 0), 0);
}

TEST(FloatFunctions, FastVariants) {
    const Expr s = fast_sin(x()), c = fast_cos(x()), l = fast_log(x()), e = fast_exp(x()), p = fast_pow(x(), 2.5f);
    for (float v = -20; v < 20; v += 0.0371f) {
        ASSERT_NEAR(value(s, v), std::sin((double)v), 1e-5) << v;
        ASSERT_NEAR(value(c, v), std::cos((double)v), 1e-5) << v;
        ASSERT_LE(error_in_ulps(value(e, v), std::exp((double)v)), 32) << v;
        if (v > 0) {
            ASSERT_LE(error_in_ulps(value(l, v), std::log((double)v)), 32) << v;
            ASSERT_LE(error_in_ulps(value(p, v), std::pow((double)v, 2.5)), 256) << v;
        }
    }
    EXPECT_EQ(value(p, 0), 0);
    EXPECT_EQ(value(e, -200), 0);
}

}  // namespace
