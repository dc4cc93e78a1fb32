#include "support/Float16.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace {

using Halide::bfloat16_t;
using Halide::float16_t;

TEST(Float16, EveryValueSurvivesTheWayThroughFloat) {
    for (int bits = 0; bits < 0x10000; bits++) {
        const float16_t h = float16_t::make_from_bits((uint16_t)bits);
        const bfloat16_t b = bfloat16_t::make_from_bits((uint16_t)bits);
        if (!h.is_nan()) {
            ASSERT_EQ(float16_t((float)h).to_bits(), bits);
            ASSERT_EQ(float16_t((double)h).to_bits(), bits);
        } else {
            ASSERT_TRUE(std::isnan((float)h));
            ASSERT_TRUE(float16_t((float)h).is_nan());
        }
        if (!b.is_nan()) {
            ASSERT_EQ(bfloat16_t((float)b).to_bits(), bits);
            const uint32_t wide = (uint32_t)bits << 16;
            float expected;
            memcpy(&expected, &wide, sizeof(expected));
            ASSERT_EQ((float)b, expected);
        } else {
            ASSERT_TRUE(bfloat16_t((float)b).is_nan());
        }
    }
}

#ifdef HALIDE_CPP_COMPILER_HAS_FLOAT16
TEST(Float16, AgreesWithTheCompiler) {
    std::mt19937 random(1);
    for (int i = 0; i < 200000; i++) {
        const uint32_t bits = random();
        float f;
        memcpy(&f, &bits, sizeof(f));
        if (std::isnan(f)) {
            continue;
        }
        const _Float16 expected = (_Float16)f;
        uint16_t expected_bits;
        memcpy(&expected_bits, &expected, sizeof(expected_bits));
        ASSERT_EQ(float16_t(f).to_bits(), expected_bits) << f;
    }
}
#endif

/// The nearest of the two neighbours in a sorted list of magnitudes, by exhaustive definition.
TEST(Float16, RoundsToNearestEven) {
    for (int bits = 0; bits < 0x7bff; bits++) {
        const double low = (double)float16_t::make_from_bits((uint16_t)bits);
        const double high = (double)float16_t::make_from_bits((uint16_t)(bits + 1));
        const double middle = (low + high) / 2;
        ASSERT_EQ(float16_t(middle).to_bits(), bits & 1 ? bits + 1 : bits);
        ASSERT_EQ(float16_t(std::nextafter(middle, 0.0)).to_bits(), bits);
        ASSERT_EQ(float16_t(std::nextafter(middle, 1e9)).to_bits(), bits + 1);
        ASSERT_EQ(float16_t(-middle).to_bits(), 0x8000 | (bits & 1 ? bits + 1 : bits));
    }
    EXPECT_EQ(float16_t(65519.99).to_bits(), 0x7bff);
    EXPECT_EQ(float16_t(65520.0).to_bits(), 0x7c00);
    EXPECT_EQ(float16_t(1e300).to_bits(), 0x7c00);
    EXPECT_EQ(float16_t(std::ldexp(1.0, -25)).to_bits(), 0);
    EXPECT_EQ(float16_t(std::ldexp(1.0000001, -25)).to_bits(), 1);
    EXPECT_EQ(bfloat16_t(3.4e38f).to_bits(), 0x7f80);
    EXPECT_EQ(bfloat16_t(1.00390625f).to_bits(), 0x3f80);
    EXPECT_EQ(bfloat16_t(1.01171875f).to_bits(), 0x3f82);
}

TEST(Float16, FromIntegers) {
    EXPECT_EQ((float)float16_t(2049), 2048);
    EXPECT_EQ((float)float16_t(2051), 2052);
    EXPECT_EQ((float)float16_t(-3), -3);
    EXPECT_TRUE(float16_t((int64_t)70000).is_infinity());
    EXPECT_TRUE(float16_t((uint64_t)~(uint64_t)0).is_infinity());
    // 2^62 + 2^54 + 1 is above the middle of two neighbours; rounded to double first it would be on it.
    const int64_t above_tie = ((int64_t)1 << 62) + ((int64_t)1 << 54) + 1;
    EXPECT_EQ((double)bfloat16_t(above_tie), std::ldexp(1.0, 62) + std::ldexp(1.0, 55));
    EXPECT_EQ((double)bfloat16_t(std::numeric_limits<int64_t>::min()), -std::ldexp(1.0, 63));
    EXPECT_EQ((int)float16_t(-2.75f), -2);
}

TEST(Float16, SpecialValues) {
    EXPECT_EQ(float16_t::make_zero().to_bits(), 0);
    EXPECT_EQ(float16_t::make_negative_zero().to_bits(), 0x8000);
    EXPECT_TRUE(float16_t::make_infinity().is_infinity());
    EXPECT_TRUE(float16_t::make_negative_infinity().is_negative());
    EXPECT_TRUE(float16_t::make_nan().is_nan());
    EXPECT_FALSE(float16_t::make_nan() == float16_t::make_nan());
    EXPECT_TRUE(float16_t::make_zero() == float16_t::make_negative_zero());
    EXPECT_TRUE((-float16_t::make_zero()).is_negative());
    EXPECT_TRUE(bfloat16_t::nan.is_nan());
    EXPECT_TRUE(bfloat16_t::negative_zero.is_zero());
    EXPECT_EQ(bfloat16_t::infinity.to_bits(), 0x7f80);
    EXPECT_EQ(bfloat16_t::negative_infinity.to_bits(), 0xff80);
    EXPECT_EQ(sizeof(float16_t), 2u);
    EXPECT_EQ(halide_type_of<float16_t>().bits, 16);
    EXPECT_EQ(halide_type_of<bfloat16_t>().code, halide_type_bfloat);
}

TEST(Float16, Arithmetic) {
    const float16_t a(1.5f), b(0.25f);
    EXPECT_EQ((float)(a + b), 1.75f);
    EXPECT_EQ((float)(a - b), 1.25f);
    EXPECT_EQ((float)(a * b), 0.375f);
    EXPECT_EQ((float)(a / b), 6.0f);
    float16_t c = a;
    c += b;
    c *= a;
    EXPECT_EQ((float)c, 2.625f);
    EXPECT_TRUE(b < a && a > b && a >= a && b <= b && a != b);
    EXPECT_EQ((float)(float16_t(2048) + float16_t(1)), 2048.0f);
    EXPECT_EQ((float)(bfloat16_t(256) + bfloat16_t(1)), 256.0f);
}

}  // namespace
