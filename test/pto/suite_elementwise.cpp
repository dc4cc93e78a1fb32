// M1: element by element. Types × operations × schedules × extents.

#include "Suite.h"

#include <gtest/gtest.h>

namespace {

using namespace bromide;

const Var x("x"), y("y"), xo("xo"), xi("xi"), yo("yo"), yi("yi"), t("t");

const std::vector<Type> integers = {Int(8), UInt(8), Int(16), UInt(16), Int(32), UInt(32)};
const std::vector<Type> floats = {Float(32), Float(16), BFloat(16)};

std::string name_of(const Type &type) {
    return (type.is_bfloat() ? "bf" : type.is_float() ? "f" : type.is_int() ? "i" : "u") + std::to_string(type.bits());
}

/// Schedules of an element-wise program, all of which mean the same.
void schedule(Func f, int number, bool rows) {
    const int lanes[] = {64, 128, 256};
    if (!rows) {
        switch (number % 4) {
        case 0: f.vectorize(x, lanes[number / 4 % 3]); break;
        case 1: f.split(x, xo, xi, 1024).pto_blocks(xo).vectorize(xi, 64); break;
        case 2: f.split(x, xo, xi, 200, TailStrategy::GuardWithIf).pto_blocks(xo).vectorize(xi); break;
        case 3: f.split(x, xo, xi, 512, TailStrategy::ShiftInwards).vectorize(xi, 128); break;
        }
        return;
    }
    switch (number % 6) {
    case 0: f.pto_blocks(y).vectorize(x, 64); break;
    case 1: f.split(x, xo, xi, 256).pto_blocks(xo, y).vectorize(xi, lanes[number / 6 % 3]); break;
    case 2: f.vectorize(x); break;
    case 3: f.tile(x, y, xo, yo, xi, yi, 128, 2).pto_blocks(xo, yo).vectorize(xi, 64); break;
    case 4: f.split(x, xo, xi, 500, TailStrategy::Predicate).pto_blocks(y).vectorize(xi, 128); break;
    case 5: f.split(y, yo, yi, 2).pto_blocks(yo).vectorize(x, 256); break;
    }
}

/// f(x, y) = value(a, b), over inputs of type `from`.
void elementwise(const std::string &name, const Type &from, const std::function<Expr(Expr, Expr)> &value, Fill fill_a = {},
                 Fill fill_b = {}, int ulp = 0) {
    static int count = 0;
    const int number = count++;
    Pipe p;
    p.name = name;
    p.dims = number % 3 == 0 ? 1 : 2;
    p.ulp = ulp;
    p.make = [=](Build &b) {
        Func f = b.func("f");
        if (p.dims == 1) {
            ImageParam u = b.input("u", from, {b.w}, fill_a), v = b.input("v", from, {b.w}, fill_b);
            f(x) = value(u(x), v(x));
        } else {
            ImageParam u = b.input("u", from, {b.w, b.h}, fill_a), v = b.input("v", from, {b.w, b.h}, fill_b);
            f(x, y) = value(u(x, y), v(x, y));
        }
        if (b.scheduled) {
            schedule(f, number, p.dims == 2);
        }
        return f;
    };
    run(p);
}

TEST(PTOSuite, M1Integers) {
    for (const Type &type : integers) {
        const std::string n = name_of(type);
        const Expr one = cast(type, 1), three = cast(type, 3);
        elementwise("sum_" + n, type, [=](Expr a, Expr b) { return a + b * three - one; });
        elementwise("minmax_" + n, type, [=](Expr a, Expr b) { return max(min(a, b), a / 2) + clamp(b, one, three); });
        elementwise("bits_" + n, type, [=](Expr a, Expr b) { return ((a & b) | (a ^ three)) ^ ~b; }, {Fill::Bits}, {Fill::Bits});
        elementwise("shift_" + n, type, [=](Expr a, Expr b) { return (a << 2) + (b >> 1); });
        elementwise("divide_" + n, type, [=](Expr a, Expr b) { return a / cast(type, 7) + b % cast(type, 10); });
        elementwise("compare_" + n, type, [=](Expr a, Expr b) { return select(a < b, a, a == b, three, b - one); });
    }
    for (const Type &type : {Int(8), Int(16), Int(32)}) {
        elementwise("abs_" + name_of(type), type, [=](Expr a, Expr b) { return cast<int32_t>(abs(a)) - cast<int32_t>(-b); });
    }
    for (const Type &type : {UInt(8), Int(8), UInt(16), Int(16)}) {
        elementwise("saturating_" + name_of(type), type, [](Expr a, Expr b) { return saturating_add(a, b); }, {Fill::Bits}, {Fill::Bits});
        elementwise("halving_" + name_of(type), type,
                    [](Expr a, Expr b) { return halving_add(a, b) ^ rounding_halving_add(a, b); }, {Fill::Bits}, {Fill::Bits});
        elementwise("absd_" + name_of(type), type, [](Expr a, Expr b) { return absd(a, b); }, {Fill::Bits}, {Fill::Bits});
        elementwise("variable_shift_" + name_of(type), type, [=](Expr a, Expr b) { return a >> cast(type, cast<uint8_t>(b) & 3); });
    }
}

TEST(PTOSuite, M1Floats) {
    for (const Type &type : floats) {
        const std::string n = name_of(type);
        const Expr two = cast(type, 2.0f);
        elementwise("axpy_" + n, type, [=](Expr a, Expr b) { return a * two + b; });
        elementwise("minmax_" + n, type, [=](Expr a, Expr b) { return max(a, b) - min(a, two); });
        elementwise("neg_abs_" + n, type, [=](Expr a, Expr b) { return abs(a) + -b; });
        elementwise("compare_" + n, type, [=](Expr a, Expr b) { return select(a < b && b > two, a, b * two); });
        elementwise("round_" + n, type, [=](Expr a, Expr b) { return floor(a) + ceil(b) * two + round(a) - trunc(b); });
    }
    for (const Type &type : {Float(32), Float(16)}) {
        const std::string n = name_of(type);
        elementwise("quotient_" + n, type, [=](Expr a, Expr b) { return a / b; }, {}, {Fill::Positive}, 2);
        elementwise("root_" + n, type, [=](Expr a, Expr b) { return sqrt(a) + b; }, {Fill::Positive}, {Fill::Positive}, 3);
        elementwise("exp_" + n, type, [=](Expr a, Expr b) { return exp(a) * abs(b); }, {Fill::Unit}, {Fill::Unit}, 4);
        elementwise("log_" + n, type, [=](Expr a, Expr b) { return log(a); }, {Fill::Positive}, {}, 2);
    }
    elementwise("sigmoid", Float(32), [](Expr a, Expr b) { return 1.0f / (1.0f + exp(-a)) + 0.0f * b; }, {Fill::Unit}, {Fill::Unit}, 6);
    elementwise("polynomial", Float(32), [](Expr a, Expr b) { return ((a * 0.3f + b) * a - 1.25f) * a + 2.0f; }, {Fill::Unit});
}

/// Whether floats of this type can be out of the range of `to`, or one conversion would round twice.
bool is_defined(const Type &from, const Type &to) {
    const bool twice = !from.is_float() && from.bits() == 32 && to.is_float() && to.bits() == 16;
    return from != to && !twice;
}

TEST(PTOSuite, M1Conversions) {
    for (const Type &from : {Int(8), UInt(8), Int(16), UInt(16), Int(32), UInt(32), Float(32), Float(16), BFloat(16)}) {
        for (const Type &to : {Int(8), UInt(8), Int(16), UInt(16), Int(32), UInt(32), Float(32), Float(16), BFloat(16)}) {
            if (is_defined(from, to)) {
                const bool small = from.is_float() && to.is_uint();
                elementwise("cast_" + name_of(from) + "_" + name_of(to), from, [=](Expr a, Expr) { return cast(to, a); },
                            {small ? Fill::Positive : Fill::Numbers});
            }
        }
    }
    for (const Type &to : {UInt(8), Int(8), UInt(16), Int(16), Int(32)}) {
        elementwise("saturate_round_" + name_of(to), Float(32),
                    [=](Expr a, Expr b) { return saturating_cast(to, round(a * 40.0f + b)); });
        elementwise("saturate_f16_" + name_of(to), Float(16), [=](Expr a, Expr) { return saturating_cast(to, a); });
        elementwise("saturate_i32_" + name_of(to), Int(32), [=](Expr a, Expr b) { return saturating_cast(to, a + b); });
        elementwise("floor_" + name_of(to), Float(32), [=](Expr a, Expr) { return cast(to, floor(abs(a))); });
        elementwise("ceil_" + name_of(to), Float(32), [=](Expr a, Expr) { return cast(to, ceil(abs(a))); });
    }
    elementwise("nearest_i32", Float(32), [](Expr a, Expr b) { return cast<int32_t>(round(a)) + cast<int32_t>(trunc(b)); });
    elementwise("to_e4m3", Float(32), [](Expr a, Expr) { return float_to_fp8_e4m3(a); });
    elementwise("to_e5m2", Float(32), [](Expr a, Expr) { return float_to_fp8_e5m2(a); });
    elementwise("of_e4m3", UInt(8), [](Expr a, Expr b) { return fp8_e4m3_to_float(a & cast<uint8_t>(119)) + cast<float>(b); });
    elementwise("of_e5m2", UInt(8), [](Expr a, Expr b) { return fp8_e5m2_to_float(a & cast<uint8_t>(119)) * 2.0f + cast<float>(b); });
    elementwise("fp8_round_trip", UInt(8), [](Expr a, Expr) {
        return float_to_fp8_e4m3(fp8_e4m3_to_float(a & cast<uint8_t>(119)) * 0.5f);
    });
    elementwise("bf16_through_f32", BFloat(16), [](Expr a, Expr b) { return cast<bfloat16_t>(cast<float>(a) * cast<float>(b)); });
    elementwise("f16_through_f32", Float(16), [](Expr a, Expr b) { return cast<float16_t>(cast<float>(a) * cast<float>(b) + 0.5f); });
    elementwise("weighted_bytes", UInt(8), [](Expr a, Expr b) {
        return cast<uint8_t>((cast<uint16_t>(a) * 3 + cast<uint16_t>(b) * 5 + 4) / 8);
    });
    elementwise("bytes_to_float", UInt(8), [](Expr a, Expr b) { return cast<float>(a) * (1.0f / 255.0f) - cast<float>(b); });
    elementwise("requantize", Int(32), [](Expr a, Expr b) {
        return saturating_cast<int8_t>(round(cast<float>(a) * 0.01f) + cast<float>(b % 3));
    });
}

// Scalars, several inputs of different types, coordinates.

TEST(PTOSuite, M1Arguments) {
    run({"scalars", [](Build &b) {
             ImageParam in = b.input<float>("in", {b.w, b.h});
             Expr gain = b.scalar("gain", Float(32), 1.75), offset = b.scalar("offset", Int(32), -3);
             Func f = b.func("f");
             f(x, y) = in(x, y) * gain + cast<float>(offset);
             if (b.scheduled) {
                 f.split(x, xo, xi, 1024).pto_blocks(xo, y).vectorize(xi, 64);
             }
             return f;
         }});
    run({"coordinates", [](Build &b) {
             Func f = b.func("f");
             f(x, y) = x * 3 - y * y;
             if (b.scheduled) {
                 f.pto_blocks(y).vectorize(x, 64);
             }
             return f;
         }});
    run({"coordinates_float", [](Build &b) {
             Func f = b.func("f");
             f(x, y) = cast<float>(x) * 0.5f + cast<float>(y);
             if (b.scheduled) {
                 f.pto_blocks(y).vectorize(x, 64);
             }
             return f;
         }});
    run({"mixed_types", [](Build &b) {
             ImageParam i = b.input<int16_t>("i", {b.w, b.h}), u = b.input<uint8_t>("u", {b.w, b.h});
             ImageParam g = b.input<float>("g", {b.w, b.h});
             Func f = b.func("f");
             f(x, y) = cast<float>(i(x, y)) * g(x, y) + cast<float>(u(x, y));
             if (b.scheduled) {
                 f.split(x, xo, xi, 512).pto_blocks(y, xo).vectorize(xi);
             }
             return f;
         }});
    run({"row_vector", [](Build &b) {
             ImageParam in = b.input<float>("in", {b.w, b.h}), bias = b.input<float>("bias", {b.w});
             Func f = b.func("f");
             f(x, y) = in(x, y) + bias(x);
             if (b.scheduled) {
                 f.pto_blocks(y).vectorize(x, 64);
             }
             return f;
         }});
    run({"column_vector", [](Build &b) {
             ImageParam in = b.input<float>("in", {b.w, b.h}), bias = b.input<float>("bias", {b.h});
             Func f = b.func("f");
             f(x, y) = in(x, y) * bias(y);
             if (b.scheduled) {
                 f.pto_blocks(y).vectorize(x, 64);
             }
             return f;
         }});
    Pipe moved = {"moved", [](Build &b) {
                      ImageParam in = b.input<int32_t>("in", {b.w, b.h}, {}, {-7, 5});
                      Func f = b.func("f");
                      f(x, y) = in(x, y) + x * y;
                      if (b.scheduled) {
                          f.split(x, xo, xi, 128).pto_blocks(y).vectorize(xi, 64);
                      }
                      return f;
                  }};
    moved.mins = {-7, 5};
    run(moved);
    Pipe deep = {"three_dimensions", [](Build &b) {
                     ImageParam in = b.input<int16_t>("in", {b.w, b.h, 4});
                     Func f = b.func("f");
                     f(x, y, t) = in(x, y, t) * 3 + cast<int16_t>(t);
                     if (b.scheduled) {
                         f.pto_blocks(y, t).vectorize(x, 128);
                     }
                     return f;
                 }};
    deep.output = [](int w, int h) { return std::vector<int>{w, h, 4}; };
    run(deep);
    run({"predicate", [](Build &b) {
             ImageParam in = b.input<float>("in", {b.w, b.h});
             Func f = b.func("f");
             f(x, y) = cast<uint8_t>(in(x, y) > 1.0f && in(x, y) < 4.0f);
             if (b.scheduled) {
                 f.pto_blocks(y).vectorize(x, 64);
             }
             return f;
         }});
    run({"stored_first", [](Build &b) {
             ImageParam in = b.input<float>("in", {b.w, b.h});
             Func f = b.func("f");
             f(x, y) = exp(in(x, y)) * 2.0f;
             if (b.scheduled) {
                 f.split(x, xo, xi, 4096).pto_blocks(y).vectorize(xi, 128);
                 in.in(f).compute_at(f, xo).store_in(MemoryType::UB);
             }
             return f;
         }, 2, 2});
}

}  // namespace
