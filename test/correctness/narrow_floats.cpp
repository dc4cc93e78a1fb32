// Floats of 8 and 4 bits: every code, and rounding against a search through all codes.

#include <Halide.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

namespace {

using namespace Halide;

struct Format {
    int exponent_bits, mantissa_bits, bias;
    bool infinities, one_nan;
};
const Format e4m3{4, 3, 7, false, true}, e5m2{5, 2, 15, true, false}, e2m1{2, 1, 1, false, false}, e1m2{1, 2, 1, false, false};

/// From the definition of the format.
double value_of(int code, const Format &f) {
    const int bits = 1 + f.exponent_bits + f.mantissa_bits;
    const double sign = code >> (bits - 1) & 1 ? -1 : 1;
    const int top = (1 << f.exponent_bits) - 1;
    const int exponent = code >> f.mantissa_bits & top, mantissa = code & ((1 << f.mantissa_bits) - 1);
    if (f.infinities && exponent == top) {
        return mantissa ? NAN : sign * INFINITY;
    }
    if (f.one_nan && exponent == top && mantissa == (1 << f.mantissa_bits) - 1) {
        return NAN;
    }
    const double fraction = std::ldexp(mantissa, -f.mantissa_bits);
    return sign * (exponent ? std::ldexp(1 + fraction, exponent - f.bias) : std::ldexp(fraction, 1 - f.bias));
}

/// The nearest finite code, the even one of two; beyond the largest number, the largest.
int nearest(double x, const Format &f) {
    const int bits = 1 + f.exponent_bits + f.mantissa_bits, half = 1 << (bits - 1);
    double largest = 0;
    for (int code = 0; code < half; code++) {
        const double v = value_of(code, f);
        largest = std::isfinite(v) ? std::max(largest, v) : largest;
    }
    const double magnitude = std::min(std::fabs(x), largest);
    int best = 0;
    for (int code = 0; code < half; code++) {
        const double v = value_of(code, f);
        if (!std::isfinite(v)) {
            continue;
        }
        const double d = std::fabs(magnitude - v), e = std::fabs(magnitude - value_of(best, f));
        if (d < e || (d == e && code % 2 == 0)) {
            best = code;
        }
    }
    return best | (std::signbit(x) ? half : 0);
}

Buffer<float> samples() {
    const int n = 4096;
    Buffer<float> x(n);
    std::mt19937 random(7);
    for (int i = 0; i < n; i++) {
        const double scale = std::ldexp(1.0, (int)(random() % 40) - 24);
        x(i) = (float)(((double)(random() % 2001) - 1000) / 64 * scale);
    }
    // Ties, borders, and what is beyond.
    const float special[] = {0.0f,   -0.0f,  448.0f,   449.0f,   464.0f,  465.0f,        1e30f, -1e30f, 57344.0f, 61440.0f,
                             0.0625f, 0.25f, 0.75f, 1.25f, 1.75f, 2.5f, 3.5f, 5.0f, 6.0f, 7.0f, INFINITY, -INFINITY};
    int i = 0;
    for (float s : special) {
        x(i++) = s;
    }
    return x;
}

Buffer<uint8_t> all_codes() {
    Buffer<uint8_t> codes(256);
    for (int i = 0; i < 256; i++) {
        codes(i) = (uint8_t)i;
    }
    return codes;
}

TEST(NarrowFloats, DecodeFp8) {
    Buffer<uint8_t> codes = all_codes();
    const std::pair<Expr (*)(Expr), Format> formats[] = {{fp8_e4m3_to_float, e4m3}, {fp8_e5m2_to_float, e5m2}};
    for (const auto &[decode, format] : formats) {
        for (int lanes : {1, 8}) {
            Var x("x");
            Func f("f");
            f(x) = decode(codes(x));
            if (lanes > 1) {
                f.vectorize(x, lanes);
            }
            Buffer<float> got = f.realize({256});
            for (int i = 0; i < 256; i++) {
                const double want = value_of(i, format);
                EXPECT_TRUE(std::isnan(want) ? std::isnan(got(i)) : got(i) == want && std::signbit(got(i)) == std::signbit(want))
                    << i << ": " << got(i) << ", must be " << want;
            }
        }
    }
}

TEST(NarrowFloats, EncodeFp8) {
    Buffer<float> in = samples();
    const std::pair<Expr (*)(Expr), Format> formats[] = {{float_to_fp8_e4m3, e4m3}, {float_to_fp8_e5m2, e5m2}};
    for (const auto &[encode, format] : formats) {
        Var x("x");
        Func f("f");
        f(x) = encode(in(x));
        f.vectorize(x, 16);
        Buffer<uint8_t> got = f.realize({in.width()});
        for (int i = 0; i < in.width(); i++) {
            EXPECT_EQ((int)got(i), nearest(in(i), format)) << in(i);
        }
    }
    Func g("g");
    Var x("x");
    g(x) = float_to_fp8_e4m3(Expr(NAN) * x) | (cast<uint8_t>(float_to_fp8_e5m2(Expr(NAN) * x)) & cast<uint8_t>(1));
    Buffer<uint8_t> nan = g.realize({1});
    EXPECT_EQ(nan(0) & 0x7f, 0x7f);
}

TEST(NarrowFloats, Fp4) {
    Buffer<uint8_t> codes = all_codes();
    Buffer<float> in = samples();
    using Decode = Expr (*)(Expr, Expr);
    const std::tuple<Decode, Decode, Format> formats[] = {{fp4_e2m1_to_float, float_to_fp4_e2m1, e2m1},
                                                          {fp4_e1m2_to_float, float_to_fp4_e1m2, e1m2}};
    for (const auto &[decode, encode, format] : formats) {
        Var x("x");
        Func f("f"), g("g");
        f(x) = decode(codes(x / 2), x % 2);
        f.vectorize(x, 8);
        Buffer<float> got = f.realize({512});
        for (int i = 0; i < 512; i++) {
            EXPECT_EQ(got(i), value_of(i % 2 ? (i / 2) >> 4 : (i / 2) & 15, format)) << i;
        }
        g(x) = encode(in(x), in(in.width() - 1 - x));
        Buffer<uint8_t> packed = g.realize({in.width()});
        for (int i = 0; i < in.width(); i++) {
            const double first = (float)bfloat16_t(in(i)), second = (float)bfloat16_t(in(in.width() - 1 - i));
            EXPECT_EQ((int)packed(i), nearest(first, format) | nearest(second, format) << 4) << first << ", " << second;
        }
    }
}

TEST(NarrowFloats, WrongTypes) {
    try {
        fp8_e4m3_to_float(Expr(1));
        FAIL();
    } catch (const CompileError &e) {
        EXPECT_STREQ(e.what(), "Error: fp8_e4m3_to_float takes a byte (UInt(8)), not 1 of type int32.\n");
    }
}

}  // namespace
