// Text of values.
#include "runtime/HalideRuntime.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

extern "C" {
char *halide_string_to_string(char *dst, char *end, const char *arg);
char *halide_double_to_string(char *dst, char *end, double arg, int scientific);
char *halide_int64_to_string(char *dst, char *end, int64_t arg, int min_digits);
char *halide_uint64_to_string(char *dst, char *end, uint64_t arg, int min_digits);
char *halide_pointer_to_string(char *dst, char *end, const void *arg);
char *halide_type_to_string(char *dst, char *end, const halide_type_t *arg);
char *halide_buffer_to_string(char *dst, char *end, const halide_buffer_t *arg);
}

namespace {

template <typename Fn, typename... Args>
std::string text(Fn f, Args... args) {
    char buf[512];
    memset(buf, 'x', sizeof(buf));
    char *end = f(buf, buf + sizeof(buf) - 1, args...);
    EXPECT_EQ(*end, 0);
    return buf;
}

std::string fixed(double d) {
    return text(halide_double_to_string, d, 0);
}

std::string scientific(double d) {
    return text(halide_double_to_string, d, 1);
}

}  // namespace

TEST(ToString, Integers) {
    EXPECT_EQ(text(halide_int64_to_string, (int64_t)0, 1), "0");
    EXPECT_EQ(text(halide_int64_to_string, (int64_t)-17, 1), "-17");
    EXPECT_EQ(text(halide_int64_to_string, INT64_MIN, 1), "-9223372036854775808");
    EXPECT_EQ(text(halide_uint64_to_string, UINT64_MAX, 1), "18446744073709551615");
    EXPECT_EQ(text(halide_uint64_to_string, (uint64_t)7, 3), "007");
    EXPECT_EQ(text(halide_pointer_to_string, (const void *)nullptr), "0x0");
    EXPECT_EQ(text(halide_pointer_to_string, (const void *)0xdeadbeef01ull), "0xdeadbeef01");
}

TEST(ToString, DoublesLikePrintf) {
    std::vector<double> values = {0.0,
                                  -0.0,
                                  1.0,
                                  -1.5,
                                  0.1,
                                  1e-7,
                                  5e-7,
                                  4.9999995e-7,
                                  0.5,
                                  2.5e-6,
                                  9.5,
                                  99.9999995,
                                  9.9999995,
                                  9.99999949,
                                  123456789.0,
                                  1e15,
                                  1e16,
                                  1e22,
                                  1e23,
                                  1e100,
                                  0.0000005,
                                  0.0000015,
                                  0.0000025,
                                  1.0000005,
                                  4294967296.0,
                                  18446744073709551616.0,
                                  std::numeric_limits<double>::max(),
                                  std::numeric_limits<double>::min(),
                                  std::numeric_limits<double>::denorm_min(),
                                  2.2250738585072009e-308,
                                  std::numeric_limits<double>::infinity(),
                                  -std::numeric_limits<double>::infinity()};
    std::mt19937_64 random(1);
    for (int i = 0; i < 20000; i++) {
        const uint64_t bits = random();
        double d;
        memcpy(&d, &bits, sizeof(d));
        if (d == d) {
            values.push_back(d);
        }
        values.push_back((double)(int64_t)bits / 1e6);
        values.push_back(std::ldexp((double)(bits >> 40), -(int)(bits % 40)));
    }
    char expected[400];
    for (double d : values) {
        snprintf(expected, sizeof(expected), "%f", d);
        ASSERT_EQ(fixed(d), expected);
        snprintf(expected, sizeof(expected), "%e", d);
        ASSERT_EQ(scientific(d), expected);
    }
    EXPECT_EQ(fixed(std::numeric_limits<double>::quiet_NaN()), "nan");
    EXPECT_EQ(fixed(-std::numeric_limits<double>::quiet_NaN()), "-nan");
}

TEST(ToString, StringsAreCutOff) {
    EXPECT_EQ(text(halide_string_to_string, (const char *)nullptr), "<null>");
    char buf[8];
    char *end = halide_string_to_string(buf, buf + 7, "0123456789");
    EXPECT_EQ(end, buf + 7);
    EXPECT_STREQ(buf, "0123456");
    end = halide_double_to_string(buf, buf + 7, 12345.678, 0);
    EXPECT_STREQ(buf, "12345.6");
}

TEST(ToString, Types) {
    const std::pair<halide_type_t, const char *> cases[] = {
        {halide_type_of<uint8_t>(), "uint8"},           {halide_type_of<int64_t>(), "int64"},
        {halide_type_of<float>(), "float32"},           {halide_type_of<void *>(), "handle64"},
        {{halide_type_bfloat, 16}, "bfloat16"},         {halide_type_of<bool>(), "uint1"},
        {{(halide_type_code_t)9, 3}, "bad_type_code3"},
    };
    for (const auto &c : cases) {
        EXPECT_EQ(text(halide_type_to_string, &c.first), c.second);
    }
}

TEST(ToString, Buffers) {
    halide_dimension_t dim[2] = {{0, 10, 1}, {-1, 5, 10}};
    halide_buffer_t b = {};
    b.type = halide_type_of<uint8_t>();
    b.dimensions = 2;
    b.dim = dim;
    b.set_host_dirty();
    EXPECT_EQ(text(halide_buffer_to_string, (const halide_buffer_t *)&b),
              "buffer(0, 0x0, 0x0, 1, uint8, {0, 10, 1}, {-1, 5, 10})");
    EXPECT_EQ(text(halide_buffer_to_string, (const halide_buffer_t *)nullptr), "nullptr");
}

TEST(Float16, AllBits) {
    for (uint32_t bits = 0; bits < 65536; bits++) {
        const float sign = bits & 0x8000 ? -1.f : 1.f;
        const int exponent = (bits >> 10) & 31, mantissa = bits & 0x3ff;
        const float f = halide_float16_bits_to_float((uint16_t)bits);
        if (exponent == 31) {
            ASSERT_EQ(std::isnan(f), mantissa != 0);
            ASSERT_TRUE(mantissa != 0 || f == sign * INFINITY);
        } else {
            const float expected =
                sign * (exponent ? std::ldexp(1024.f + mantissa, exponent - 25) : std::ldexp((float)mantissa, -24));
            ASSERT_EQ(f, expected);
            ASSERT_EQ(std::signbit(f), (bits & 0x8000) != 0);
            ASSERT_EQ(halide_float16_bits_to_double((uint16_t)bits), expected);
        }
    }
}
