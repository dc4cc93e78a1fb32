#include "cases.h"

#include <random>

#include "api/ConciseCasts.h"
#include "api/ImageParam.h"
#include "api/InlineReductions.h"
#include "ir/IROperator.h"

namespace cross {

using namespace Halide;

namespace {

constexpr int elements = 203;  // no multiple of any number of lanes

/// Two operands of one type.
struct Operands {
    ImageParam p, q;
    Expr a, b;

    Operands(const Type &t, const Var &x)
        : p(t, 1, "p"), q(t, 1, "q") {
        a = p(x);
        b = q(x);
    }
};

class Collector {
public:
    std::vector<Case> cases;

    /// One case per type; lanes fill a register of 128 bits, or two.
    void add(const std::string &what, const std::vector<Type> &types, const std::function<Expr(Expr, Expr)> &make,
             int ulps = 0, const std::string &features = "") {
        for (const Type &t : types) {
            const std::string name =
                what + "_" + (t.is_bfloat() ? "bf" : t.is_float() ? "f" : t.is_int() ? "i" : "u") + std::to_string(t.bits());
            const bool twice = cases.size() % 3 == 0;
            const TailStrategy tail = cases.size() % 2 ? TailStrategy::GuardWithIf : TailStrategy::Predicate;
            const int lanes = (twice ? 256 : 128) / t.bits();
            cases.push_back({name,
                             [=](bool scheduled) {
                                 Var x("x");
                                 const Operands in(t, x);
                                 Func f("f");
                                 f(x) = make(in.a, in.b);
                                 if (scheduled) {
                                     f.vectorize(x, lanes, tail);
                                 }
                                 return f;
                             },
                             {elements}, ulps, features});
        }
    }
};

const std::vector<Type> signed_types = {Int(8), Int(16), Int(32), Int(64)};
const std::vector<Type> unsigned_types = {UInt(8), UInt(16), UInt(32), UInt(64)};
const std::vector<Type> float_types = {Float(16), Float(32), Float(64), BFloat(16)};

std::vector<Type> together(const std::vector<Type> &a, const std::vector<Type> &b) {
    std::vector<Type> all = a;
    all.insert(all.end(), b.begin(), b.end());
    return all;
}

std::vector<Type> up_to(int bits, const std::vector<Type> &types) {
    std::vector<Type> some;
    for (const Type &t : types) {
        if (t.bits() <= bits) {
            some.push_back(t);
        }
    }
    return some;
}

/// In a type where sums and products of two values do not leave Int(32) or Int(64): those overflows mean nothing.
Expr small(const Expr &e) {
    return e.type().is_int() && e.type().bits() >= 32 ? e >> (e.type().bits() / 2 + 1) : e;
}

void add_integers(Collector &c) {
    const std::vector<Type> integers = together(signed_types, unsigned_types), narrow = up_to(32, integers);
    c.add("add", integers, [](Expr a, Expr b) { return small(a) + small(b); });
    c.add("sub", integers, [](Expr a, Expr b) { return small(a) - small(b); });
    c.add("mul", integers, [](Expr a, Expr b) { return small(a) * small(b); });
    c.add("div", integers, [](Expr a, Expr b) { return small(a) / b; });
    c.add("mod", integers, [](Expr a, Expr b) { return small(a) % b; });
    c.add("div_constant", integers, [](Expr a, Expr b) { return a / cast(a.type(), 7) + b / cast(b.type(), 16) / cast(b.type(), 2); });
    c.add("min", integers, [](Expr a, Expr b) { return min(a, b); });
    c.add("max", integers, [](Expr a, Expr b) { return max(a, b); });
    c.add("bitwise", integers, [](Expr a, Expr b) { return ((a & b) | (~a & cast(a.type(), 0x55))) ^ b; });
    c.add("shift", integers, [](Expr a, Expr b) {
        const Expr n = b & cast(b.type(), b.type().bits() - 1);
        const Expr left = a.type().is_int() && a.type().bits() >= 32 ? cast(a.type(), cast(a.type().with_code(halide_type_uint), a) << cast(a.type().with_code(halide_type_uint), n)) : a << n;
        return left ^ (a >> n);
    });
    c.add("shift_signed", signed_types, [](Expr a, Expr b) {
        const Expr n = b % cast(b.type(), 5) - cast(b.type(), 2);
        return (a >> (n + cast(b.type(), 2))) ^ (small(a) << n);
    });
    c.add("less", integers, [](Expr a, Expr b) { return select(a < b, a, cast(a.type(), 7)); });
    c.add("equal", integers, [](Expr a, Expr b) {
        return select(a % cast(a.type(), 3) == b % cast(b.type(), 3) || a > b, a, b);
    });
    c.add("absd", integers, [](Expr a, Expr b) { return absd(a, b); });
    c.add("abs", signed_types, [](Expr a, Expr b) { return abs(a); });
    c.add("saturating_add", integers, [](Expr a, Expr b) { return saturating_add(a, b); });
    c.add("saturating_sub", integers, [](Expr a, Expr b) { return saturating_sub(a, b); });
    c.add("halving_add", integers, [](Expr a, Expr b) { return halving_add(a, b); });
    c.add("halving_sub", integers, [](Expr a, Expr b) { return halving_sub(a, b); });
    c.add("rounding_halving_add", integers, [](Expr a, Expr b) { return rounding_halving_add(a, b); });
    c.add("widening_add", narrow, [](Expr a, Expr b) { return widening_add(a, b); });
    c.add("widening_sub", narrow, [](Expr a, Expr b) { return widening_sub(a, b); });
    c.add("widening_mul", narrow, [](Expr a, Expr b) { return widening_mul(a, b); });
    c.add("widen_right", narrow, [](Expr a, Expr b) {
        const Type wide = a.type().widen();
        return small(cast(wide, a)) * cast(wide, 2) + b;
    });
    c.add("multiply_accumulate", narrow, [](Expr a, Expr b) {
        const Type wide = a.type().widen();
        return small(cast(wide, a) + cast(wide, 5)) + widening_mul(a >> 2, b >> 2);
    });
    c.add("widening_shift", narrow, [](Expr a, Expr b) { return widening_shift_left(a, 3) + widening_shift_right(b, 1); });
    c.add("rounding_shift", integers, [](Expr a, Expr b) { return rounding_shift_right(a, 3) ^ rounding_shift_right(b, 1); });
    c.add("rounding_shift_left", integers, [](Expr a, Expr b) {
        return rounding_shift_left(small(a), cast(b.type(), b % cast(b.type(), 4)) - cast(b.type(), b.type().is_int() ? 2 : 0));
    });
    c.add("mul_shift_right", narrow, [](Expr a, Expr b) { return mul_shift_right(a, b, a.type().bits() - 1); });
    c.add("mul_shift_high", narrow, [](Expr a, Expr b) { return mul_shift_right(a, b, a.type().bits()); });
    c.add("rounding_mul_shift_right", narrow,
          [](Expr a, Expr b) { return rounding_mul_shift_right(a, b, a.type().bits() - 1); });
    c.add("count_bits", integers,
          [](Expr a, Expr b) { return popcount(a) + count_leading_zeros(b) * cast(a.type(), 2) + count_trailing_zeros(a); });
    for (const Type &to : integers) {
        const std::string name = (to.is_int() ? "i" : "u") + std::to_string(to.bits());
        c.add("to_" + name, integers, [=](Expr a, Expr b) { return cast(to, a); });
        c.add("saturate_to_" + name, integers, [=](Expr a, Expr b) { return saturating_cast(to, a); });
    }
    c.add("narrow_shift", {Int(16), Int(32), UInt(16), UInt(32)}, [](Expr a, Expr b) {
        return saturating_cast(a.type().narrow(), rounding_shift_right(a, 4));
    });
    c.add("lerp", {UInt(8), UInt(16), UInt(32)}, [](Expr a, Expr b) { return lerp(a, b, cast(a.type(), 77)); });
    c.add("bool_logic", integers, [](Expr a, Expr b) {
        return cast<uint8_t>((a > b && a != cast(a.type(), 3)) || !(b >= cast(b.type(), 9)));
    });
}

void add_floats(Collector &c) {
    const std::vector<Type> native = {Float(16), Float(32), Float(64)};
    for (const std::string features : {"", "arm_fp16"}) {
        const std::string p = features.empty() ? "" : "native_";
        const std::vector<Type> types = features.empty() ? float_types : std::vector<Type>{Float(16)};
        c.add(p + "fadd", types, [](Expr a, Expr b) { return a + b; }, 0, features);
        c.add(p + "fsub", types, [](Expr a, Expr b) { return a - b; }, 0, features);
        c.add(p + "fmul", types, [](Expr a, Expr b) { return a * b; }, 0, features);
        c.add(p + "fdiv", types, [](Expr a, Expr b) { return a / b; }, 0, features);
        c.add(p + "fmin", types, [](Expr a, Expr b) { return min(a, b) + max(a, b) * cast(a.type(), 2); }, 0, features);
        c.add(p + "fselect", types, [](Expr a, Expr b) { return select(a < b, a, b * cast(b.type(), 3)); }, 0, features);
        c.add(p + "fabs", types, [](Expr a, Expr b) { return abs(a) - abs(b); }, 0, features);
    }
    c.add("fma", native, [](Expr a, Expr b) { return fma(a, b, a); });
    c.add("native_fma", {Float(16)}, [](Expr a, Expr b) { return fma(a, b, b); }, 0, "arm_fp16");
    c.add("sqrt", native, [](Expr a, Expr b) { return sqrt(abs(a)); });
    c.add("round", native, [](Expr a, Expr b) { return floor(a) + ceil(b) * cast(a.type(), 3) + trunc(a) + round(b); });
    c.add("classify", native, [](Expr a, Expr b) {
        const Expr odd = a / (b - b);
        return cast<uint8_t>(is_nan(odd)) + cast<uint8_t>(is_inf(odd)) * cast<uint8_t>(2) + cast<uint8_t>(is_finite(a));
    });
    for (const Type &to : {Int(8), Int(16), Int(32), Int(64), UInt(8), UInt(16), UInt(32), UInt(64)}) {
        const std::string name = (to.is_int() ? "i" : "u") + std::to_string(to.bits());
        c.add("float_to_" + name, float_types, [=](Expr a, Expr b) { return cast(to, to.is_uint() ? abs(a) : a); });
        c.add("float_from_" + name, {to}, [](Expr a, Expr b) { return cast<float>(a) + cast<float>(b); });
        c.add("double_from_" + name, {to}, [](Expr a, Expr b) { return cast<double>(a); });
        c.add("half_from_" + name, {to}, [](Expr a, Expr b) { return cast(Float(16), a); });
        c.add("saturate_float_to_" + name, {Float(32)}, [=](Expr a, Expr b) { return saturating_cast(to, a * 1e9f); });
    }
    for (const Type &to : float_types) {
        const std::string name = (to.is_bfloat() ? "bf" : "f") + std::to_string(to.bits());
        c.add("to_" + name, float_types, [=](Expr a, Expr b) { return cast(to, a) + cast(to, b); });
    }
    // One algorithm of our own, and what libm computes.
    c.add("exp", {Float(32)}, [](Expr a, Expr b) { return exp(a * 0.3f); });
    c.add("log", {Float(32)}, [](Expr a, Expr b) { return log(abs(a)); });
    c.add("pow", {Float(32)}, [](Expr a, Expr b) { return pow(abs(a) + 0.5f, b * 0.05f); }, 4);
    c.add("exp", {Float(64)}, [](Expr a, Expr b) { return exp(a * 0.3); }, 2);
    c.add("trigonometry", {Float(32), Float(64)}, [](Expr a, Expr b) { return sin(a) + cast(a.type(), 4) + cos(b); }, 8);
    c.add("hyperbolic", {Float(32), Float(64)}, [](Expr a, Expr b) { return tanh(a * cast(a.type(), 0.02f)) + cast(a.type(), 3); }, 8);
    c.add("fast_exp", {Float(32)}, [](Expr a, Expr b) { return fast_exp(a * 0.1f); });
    c.add("half_exp", {Float(16)}, [](Expr a, Expr b) { return exp(a * cast(Float(16), 0.05f)); });
}

}  // namespace

std::vector<Case> arithmetic_cases() {
    Collector c;
    add_integers(c);
    add_floats(c);
    return c.cases;
}

Buffer<> input_values(const Type &type, const std::vector<int> &extents, const std::string &name) {
    Buffer<> b(type, extents, name);
    std::mt19937 random((uint32_t)name.size() * 7919u + (uint32_t)name[0] * 31u + (uint32_t)type.bits());
    uint8_t *bytes = (uint8_t *)b.data();
    const size_t count = b.number_of_elements();
    for (size_t i = 0; i < count; i++) {
        if (!type.is_float()) {
            for (int k = 0; k < type.bytes(); k++) {
                bytes[i * type.bytes() + k] = (uint8_t)(random() >> 9);
            }
            continue;
        }
        // Of all magnitudes that casts to bytes survive.
        const float v = ((float)(random() >> 8) / (1 << 23) - 1.0f) * (i % 3 ? 100.0f : 2.0f);
        if (type.is_bfloat()) {
            ((bfloat16_t *)bytes)[i] = bfloat16_t(v);
        } else if (type.bits() == 16) {
            ((float16_t *)bytes)[i] = float16_t(v);
        } else if (type.bits() == 32) {
            ((float *)bytes)[i] = v;
        } else {
            ((double *)bytes)[i] = v * 1.000000123;
        }
    }
    return b;
}

}  // namespace cross
