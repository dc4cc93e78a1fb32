#include "interp/Arithmetic.h"

#include "support/Util.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

namespace Halide {
namespace Internal {

namespace {

__extension__ typedef unsigned __int128 UInt128;

Int128 integer_min(const Type &t) {
    return t.is_int() ? -((Int128)1 << (t.bits() - 1)) : 0;
}
Int128 integer_max(const Type &t) {
    return ((Int128)1 << (t.is_int() ? t.bits() - 1 : t.bits())) - 1;
}

// The result of exact arithmetic in a type: types whose arithmetic wraps by definition wrap here.
Int128 arithmetic_result(const Type &t, Int128 v) {
    // Far outside of any type exactness has no use, and the next operation could leave 128 bits.
    const Int128 limit = (Int128)1 << 100;
    return t.is_handle() || t.can_overflow() || v > limit || v < -limit ? wrap(t, v) : v;
}

Int128 floor_div(Int128 a, Int128 b) {
    Int128 q = a / b, r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? q - 1 : q;
}

// Euclidean: the remainder is never negative; anything by zero is zero.
Int128 euclidean_mod(Int128 a, Int128 b) {
    if (b == 0) {
        return 0;
    }
    Int128 r = a % b;
    return r < 0 ? r + (b < 0 ? -b : b) : r;
}
Int128 euclidean_div(Int128 a, Int128 b) {
    return b == 0 ? 0 : (a - euclidean_mod(a, b)) / b;
}

Int128 multiply(Int128 a, Int128 b) {
    // Modulo 2^128 if it comes to that.
    return (Int128)((UInt128)a * (UInt128)b);
}

double float_operation(IRNodeType op, const Type &t, double a, double b) {
    switch (op) {
    case IRNodeType::Add:
        return round_to(t, a + b);
    case IRNodeType::Sub:
        return round_to(t, a - b);
    case IRNodeType::Mul:
        return round_to(t, a * b);
    case IRNodeType::Div:
        return round_to(t, a / b);
    case IRNodeType::Mod: {
        const double q = round_to(t, a / b);
        return round_to(t, a - round_to(t, b * std::floor(q)));
    }
    case IRNodeType::Min:
        return a < b ? a : b;
    case IRNodeType::Max:
        return a > b ? a : b;
    default:
        internal_error << "not float arithmetic: " << IRNodeType_string(op) << "\n";
    }
}

template<typename T>
bool compare(IRNodeType op, T a, T b) {
    switch (op) {
    case IRNodeType::EQ:
        return a == b;
    case IRNodeType::NE:
        return a != b;
    case IRNodeType::LT:
        return a < b;
    case IRNodeType::LE:
        return a <= b;
    case IRNodeType::GT:
        return a > b;
    case IRNodeType::GE:
        return a >= b;
    default:
        internal_error << "not a comparison: " << IRNodeType_string(op) << "\n";
    }
}

Int128 integer_operation(IRNodeType op, const Type &t, Int128 a, Int128 b) {
    switch (op) {
    case IRNodeType::Add:
        return arithmetic_result(t, a + b);
    case IRNodeType::Sub:
        return arithmetic_result(t, a - b);
    case IRNodeType::Mul:
        return arithmetic_result(t, multiply(a, b));
    case IRNodeType::Div:
        // min / -1 is min, which is the wrapped quotient; of operands outside of the type nothing is known.
        return fits(t, a) && fits(t, b) ? wrap(t, euclidean_div(a, b)) : euclidean_div(a, b);
    case IRNodeType::Mod:
        return euclidean_mod(a, b);
    case IRNodeType::Min:
        return a < b ? a : b;
    case IRNodeType::Max:
        return a > b ? a : b;
    default:
        internal_error << "not integer arithmetic: " << IRNodeType_string(op) << "\n";
    }
}

}  // namespace

Int128 wrap(const Type &t, Int128 v) {
    const int unused = 128 - (t.is_handle() ? 64 : t.bits());
    return t.is_int() ? (Int128)((UInt128)v << unused) >> unused : (Int128)((UInt128)v << unused >> unused);
}

bool fits(const Type &t, Int128 v) {
    return v >= integer_min(t) && v <= integer_max(t);
}

Int128 saturate(const Type &t, Int128 v) {
    const Int128 lo = integer_min(t), hi = integer_max(t);
    return v < lo ? lo : v > hi ? hi : v;
}

double round_to(const Type &t, double v) {
    if (t.is_bfloat()) {
        return (double)bfloat16_t((float)v);
    }
    switch (t.bits()) {
    case 16:
        return (double)float16_t((float)v);
    case 32:
        return (double)(float)v;
    default:
        return v;
    }
}

Scalar binary_operation(IRNodeType op, const Type &t, const Scalar &a, const Scalar &b) {
    const bool undefined = a.undefined || b.undefined;
    switch (op) {
    case IRNodeType::And:
        // What is known to be false is false, whatever the other operand may be.
        return Scalar::of_int(a.i && b.i, undefined && !(!a.undefined && !a.i) && !(!b.undefined && !b.i));
    case IRNodeType::Or:
        return Scalar::of_int(a.i || b.i, undefined && !(!a.undefined && a.i) && !(!b.undefined && b.i));
    case IRNodeType::EQ:
    case IRNodeType::NE:
    case IRNodeType::LT:
    case IRNodeType::LE:
    case IRNodeType::GT:
    case IRNodeType::GE:
        return Scalar::of_int(t.is_float() ? compare(op, a.f, b.f) : compare(op, a.i, b.i), undefined);
    default:
        return t.is_float() ? Scalar::of_float(float_operation(op, t, a.f, b.f), undefined) :
                              Scalar::of_int(integer_operation(op, t, a.i, b.i), undefined);
    }
}

namespace {

// Truncation toward zero. Out of range and NaN: some value of the type.
Scalar float_to_int(const Type &to, double v, bool undefined) {
    if (std::isnan(v)) {
        return Scalar::of_int(0, true);
    }
    const double truncated = std::trunc(v);
    // All limits are powers of two, so exact.
    const double lo = (double)integer_min(to), end = std::ldexp(1.0, to.is_int() ? to.bits() - 1 : to.bits());
    if (truncated < lo) {
        return Scalar::of_int(integer_min(to), true);
    }
    if (truncated >= end) {
        return Scalar::of_int(integer_max(to), true);
    }
    return Scalar::of_int((Int128)truncated, undefined);
}

double int_to_float(const Type &to, Int128 v) {
    return to.bits() == 64 ? (double)v : round_to(to, (double)(float)v);
}

double float_to_float(const Type &to, double v) {
    if (to.is_bfloat()) {
        return (double)bfloat16_t(v);
    }
    return to.bits() == 16 ? (double)float16_t(v) : to.bits() == 32 ? (double)(float)v : v;
}

}  // namespace

Scalar cast_scalar(const Type &to, const Type &from, const Scalar &v) {
    if (from.is_float()) {
        return to.is_float() ? Scalar::of_float(float_to_float(to, v.f), v.undefined) :
                               float_to_int(to, v.f, v.undefined);
    }
    if (to.is_float()) {
        return Scalar::of_float(int_to_float(to, v.i), v.undefined);
    }
    // An index that is relabelled to a wider type stays exact.
    const bool stays_exact = from.is_int() && to.is_int() && from.bits() >= 32 && to.bits() >= from.bits();
    return Scalar::of_int(stays_exact ? v.i : wrap(to, v.i), v.undefined);
}

uint64_t to_bits(const Type &t, const Scalar &v) {
    if (!t.is_float()) {
        const uint64_t bits = (uint64_t)v.i;
        return t.is_handle() || t.bits() == 64 ? bits : bits & (((uint64_t)1 << t.bits()) - 1);
    }
    if (t.is_bfloat()) {
        return bfloat16_t(v.f).to_bits();
    }
    if (t.bits() == 16) {
        return float16_t(v.f).to_bits();
    }
    if (t.bits() == 32) {
        return reinterpret_bits<uint32_t>((float)v.f);
    }
    return reinterpret_bits<uint64_t>(v.f);
}

Scalar from_bits(const Type &t, uint64_t bits) {
    if (!t.is_float()) {
        return Scalar::of_int(wrap(t, (Int128)bits));
    }
    if (t.is_bfloat()) {
        return Scalar::of_float((double)bfloat16_t::make_from_bits((uint16_t)bits));
    }
    if (t.bits() == 16) {
        return Scalar::of_float((double)float16_t::make_from_bits((uint16_t)bits));
    }
    if (t.bits() == 32) {
        return Scalar::of_float((double)reinterpret_bits<float>((uint32_t)bits));
    }
    return Scalar::of_float(reinterpret_bits<double>(bits));
}

namespace {

// The exact value shifted left by some amount of either sign, with the bits beyond the type lost.
Int128 shift_left(const Type &t, Int128 a, Int128 amount);

Int128 shift_right(const Type &t, Int128 a, Int128 amount) {
    if (amount < 0) {
        return shift_left(t, a, -amount);
    }
    return wrap(t, amount >= 127 ? (a < 0 ? -1 : 0) : a >> (int)amount);
}

Int128 shift_left(const Type &t, Int128 a, Int128 amount) {
    if (amount < 0) {
        return shift_right(t, a, -amount);
    }
    return amount >= 127 ? 0 : wrap(t, (Int128)((UInt128)a << (int)amount));
}

bool is_large_shift(const Type &t, Int128 amount) {
    return amount >= t.bits() || amount <= -t.bits();
}

Int128 rounding_shift_right(const Type &t, Int128 a, Int128 amount) {
    if (amount <= 0) {
        return shift_left(t, a, -amount);
    }
    return amount >= 120 ? 0 : wrap(t, (a + ((Int128)1 << (int)(amount - 1))) >> (int)amount);
}

// An interpolation of n-bit values with weight w' of 2^n - 1: see the language, 2.4.
Scalar lerp(const Type &t, const std::vector<Type> &types, const std::vector<Scalar> &args) {
    const Scalar &zero = args[0], &one = args[1], &weight = args[2];
    const Type w = types[2];
    const bool undefined = zero.undefined || one.undefined || weight.undefined;
    if (t.is_float()) {
        double factor;
        if (w.is_float()) {
            factor = float_to_float(t, weight.f);
        } else {
            factor = round_to(t, int_to_float(t, weight.i) / int_to_float(t, integer_max(w)));
        }
        const double left = round_to(t, zero.f * round_to(t, 1.0 - factor)), right = round_to(t, one.f * factor);
        return Scalar::of_float(round_to(t, left + right), undefined);
    }
    if (t.is_bool()) {
        const bool second = w.is_float() ? weight.f > 0.5 : weight.i > integer_max(w) / 2;
        return Scalar::of_int(second ? one.i : zero.i, undefined);
    }
    const Int128 m = integer_max(t.with_code(halide_type_uint));
    Int128 scaled;
    if (w.is_float()) {
        const double product = t.bits() == 32 ? 65535.0 * 65537.0 * weight.f : (double)((float)m * (float)weight.f);
        scaled = float_to_int(t.with_code(halide_type_uint), product, false).i;
    } else if (w.bits() <= t.bits()) {
        scaled = weight.i * (m / integer_max(w));
    } else {
        scaled = weight.i / (integer_max(w) / m);
    }
    // Signed values are shifted to unsigned ones, which changes nothing but the direction of rounding.
    const Int128 bias = t.is_int() ? -integer_min(t) : 0;
    const Int128 z = wrap(t, zero.i) + bias, o = wrap(t, one.i) + bias;
    return Scalar::of_int((z * (m - scaled) + o * scaled + m / 2) / m - bias, undefined);
}

Scalar saturating_cast(const Type &to, const Type &from, const Scalar &v) {
    if (!from.is_float()) {
        return to.is_float() ? Scalar::of_float(int_to_float(to, v.i), v.undefined) :
                               Scalar::of_int(saturate(to, v.i), v.undefined);
    }
    if (to.is_float()) {
        const double largest = to.is_bfloat()   ? std::ldexp(2.0 - std::ldexp(1.0, -7), 127) :
                               to.bits() == 16  ? 65504.0 :
                               to.bits() == 32  ? (double)std::numeric_limits<float>::max() :
                                                  std::numeric_limits<double>::max();
        return Scalar::of_float(float_to_float(to, std::min(std::max(v.f, -largest), largest)), v.undefined);
    }
    Scalar result = float_to_int(to, v.f, v.undefined);
    // Clamping makes all but NaN defined.
    result.undefined = v.undefined || std::isnan(v.f);
    return result;
}

double strict_fma(const Type &t, double a, double b, double c) {
    return t.bits() == 32 ? (double)std::fma((float)a, (float)b, (float)c) : float_to_float(t, std::fma(a, b, c));
}

}  // namespace

std::optional<Scalar> elementwise_intrinsic(Call::IntrinsicOp op, const Type &result, const std::vector<Type> &types,
                                            const std::vector<Scalar> &args) {
    bool undefined = false;
    for (const Scalar &a : args) {
        undefined |= a.undefined;
    }
    auto integer = [&](Int128 v, bool open = false) { return Scalar::of_int(v, undefined || open); };
    auto real = [&](double v) { return Scalar::of_float(v, undefined); };
    const bool is_float = result.is_float();
    const Int128 a = !args.empty() && !types[0].is_float() ? args[0].i : 0;
    const Int128 b = args.size() > 1 && !types[1].is_float() ? args[1].i : 0;
    const Int128 c = args.size() > 2 && !types[2].is_float() ? args[2].i : 0;
    const Type element = result.element_of();

    switch (op) {
    case Call::abs:
        return is_float ? real(std::fabs(args[0].f)) : integer(wrap(element, a < 0 ? -a : a));
    case Call::absd:
        return is_float ? real(std::fabs(round_to(element, args[0].f - args[1].f))) :
                          integer(wrap(element, a < b ? b - a : a - b));
    case Call::bitwise_and:
        return is_float ? from_bits(element, to_bits(types[0], args[0]) & to_bits(types[1], args[1])) :
                          integer(wrap(element, a & b));
    case Call::bitwise_or:
        return is_float ? from_bits(element, to_bits(types[0], args[0]) | to_bits(types[1], args[1])) :
                          integer(wrap(element, a | b));
    case Call::bitwise_xor:
        return is_float ? from_bits(element, to_bits(types[0], args[0]) ^ to_bits(types[1], args[1])) :
                          integer(wrap(element, a ^ b));
    case Call::bitwise_not:
        return is_float ? from_bits(element, ~to_bits(types[0], args[0])) : integer(wrap(element, ~a));
    case Call::count_leading_zeros: {
        const uint64_t bits = to_bits(types[0], args[0]);
        return integer(std::countl_zero(bits) - (64 - types[0].bits()));
    }
    case Call::count_trailing_zeros: {
        const uint64_t bits = to_bits(types[0], args[0]);
        return integer(bits ? std::countr_zero(bits) : types[0].bits());
    }
    case Call::popcount:
        return integer(std::popcount(to_bits(types[0], args[0])));
    case Call::div_round_to_zero:
        return b == 0 ? integer(0, true) : integer(arithmetic_result(element, a / b));
    case Call::mod_round_to_zero:
        return b == 0 ? integer(0, true) : integer(a % b);
    case Call::shift_left:
        return integer(shift_left(element, wrap(types[0], a), b), is_large_shift(types[0], b));
    case Call::shift_right:
        return integer(shift_right(element, wrap(types[0], a), b), is_large_shift(types[0], b));
    case Call::widening_shift_left:
        return integer(shift_left(element, wrap(types[0], a), b), is_large_shift(element, b));
    case Call::widening_shift_right:
        return integer(shift_right(element, wrap(types[0], a), b), is_large_shift(element, b));
    case Call::rounding_shift_right:
        return integer(rounding_shift_right(element, wrap(types[0], a), b), is_large_shift(types[0], b));
    case Call::rounding_shift_left:
        return integer(rounding_shift_right(element, wrap(types[0], a), -b), is_large_shift(types[0], b));
    case Call::widening_add:
        return is_float ? real(round_to(element, args[0].f + args[1].f)) : integer(wrap(element, a + b));
    case Call::widening_sub:
        return is_float ? real(round_to(element, args[0].f - args[1].f)) : integer(wrap(element, a - b));
    case Call::widening_mul: {
        if (is_float) {
            auto number = [&](int i) {
                return types[i].is_float() ? args[i].f : int_to_float(element, args[i].i);
            };
            return real(round_to(element, number(0) * number(1)));
        }
        return integer(wrap(element, a * b));
    }
    case Call::widen_right_add:
        return is_float ? real(round_to(element, args[0].f + args[1].f)) : integer(arithmetic_result(element, a + b));
    case Call::widen_right_sub:
        return is_float ? real(round_to(element, args[0].f - args[1].f)) : integer(arithmetic_result(element, a - b));
    case Call::widen_right_mul:
        return is_float ? real(round_to(element, args[0].f * args[1].f)) :
                          integer(arithmetic_result(element, multiply(a, b)));
    case Call::saturating_add:
        return is_float ? real(round_to(element, args[0].f + args[1].f)) : integer(saturate(element, a + b));
    case Call::saturating_sub:
        return is_float ? real(round_to(element, args[0].f - args[1].f)) : integer(saturate(element, a - b));
    case Call::saturating_cast: {
        Scalar s = saturating_cast(element, types[0], args[0]);
        return s;
    }
    case Call::halving_add:
    case Call::sorted_avg:
        return integer(floor_div(a + b, 2));
    case Call::rounding_halving_add:
        return integer(floor_div(a + b + 1, 2));
    case Call::halving_sub:
        return integer(wrap(element, floor_div(a - b, 2)));
    case Call::mul_shift_right:
    case Call::rounding_mul_shift_right: {
        const Int128 product = multiply(a, b);
        const Int128 rounding = op == Call::rounding_mul_shift_right && c > 0 ? (Int128)1 << (int)(c - 1) : 0;
        return integer(saturate(element, c >= 126 ? (product < 0 ? -1 : 0) : (product + rounding) >> (int)c));
    }
    case Call::lerp:
        return lerp(element, types, args);
    case Call::round:
        return real(std::nearbyint(args[0].f));
    case Call::extract_bits: {
        // Bits beyond either end of the value are zero.
        const uint64_t bits = to_bits(types[0], args[0]);
        const uint64_t shifted = b >= 64 || b <= -64 ? 0 : b >= 0 ? bits >> (int)b : bits << (int)-b;
        Scalar s = from_bits(element, element.bits() == 64 ? shifted : shifted & (((uint64_t)1 << element.bits()) - 1));
        s.undefined = undefined;
        return s;
    }
    case Call::concat_bits: {
        uint64_t bits = 0;
        for (size_t i = args.size(); i > 0; i--) {
            bits = (types[i - 1].bits() == 64 ? 0 : bits << types[i - 1].bits()) | to_bits(types[i - 1], args[i - 1]);
        }
        Scalar s = from_bits(element, bits);
        s.undefined = undefined;
        return s;
    }
    case Call::bool_to_mask:
    case Call::cast_mask:
        return integer(wrap(element, a ? -1 : 0));
    case Call::strict_add:
        return binary_operation(IRNodeType::Add, element, args[0], args[1]);
    case Call::strict_sub:
        return binary_operation(IRNodeType::Sub, element, args[0], args[1]);
    case Call::strict_mul:
        return binary_operation(IRNodeType::Mul, element, args[0], args[1]);
    case Call::strict_div:
        return binary_operation(IRNodeType::Div, element, args[0], args[1]);
    case Call::strict_min:
        return binary_operation(IRNodeType::Min, element, args[0], args[1]);
    case Call::strict_max:
        return binary_operation(IRNodeType::Max, element, args[0], args[1]);
    case Call::strict_eq:
        return binary_operation(IRNodeType::EQ, types[0], args[0], args[1]);
    case Call::strict_lt:
        return binary_operation(IRNodeType::LT, types[0], args[0], args[1]);
    case Call::strict_le:
        return binary_operation(IRNodeType::LE, types[0], args[0], args[1]);
    case Call::strict_fma:
        return real(strict_fma(element, args[0].f, args[1].f, args[2].f));
    case Call::strict_cast:
        return cast_scalar(element, types[0], args[0]);
    default:
        return std::nullopt;
    }
}

namespace {

struct MathFunction {
    float (*single)(float);
    double (*real)(double);
};

#define HALIDE_MATH(name)                                                                                           \
    {                                                                                                               \
        #name, {                                                                                                    \
            [](float x) { return std::name(x); }, [](double x) { return std::name(x); }                             \
        }                                                                                                           \
    }
const std::map<std::string, MathFunction> &unary_functions() {
    static const std::map<std::string, MathFunction> table = {
        HALIDE_MATH(sin),   HALIDE_MATH(cos),   HALIDE_MATH(tan),   HALIDE_MATH(asin),  HALIDE_MATH(acos),
        HALIDE_MATH(atan),  HALIDE_MATH(sinh),  HALIDE_MATH(cosh),  HALIDE_MATH(tanh),  HALIDE_MATH(asinh),
        HALIDE_MATH(acosh), HALIDE_MATH(atanh), HALIDE_MATH(sqrt),  HALIDE_MATH(exp),   HALIDE_MATH(log),
        HALIDE_MATH(floor), HALIDE_MATH(ceil),  HALIDE_MATH(trunc), {"round", {[](float x) { return std::nearbyint(x); }, [](double x) { return std::nearbyint(x); }}},
    };
    return table;
}
#undef HALIDE_MATH

}  // namespace

std::optional<Scalar> math_function(const std::string &name, const Type &result, const std::vector<Type> &types,
                                    const std::vector<Scalar> &args) {
    const size_t underscore = name.rfind('_');
    if (underscore == std::string::npos || args.empty() || !types[0].is_float()) {
        return std::nullopt;
    }
    const std::string base = name.substr(0, underscore), suffix = name.substr(underscore + 1);
    if (suffix != "f16" && suffix != "f32" && suffix != "f64" && suffix != "bf16") {
        return std::nullopt;
    }
    bool undefined = false;
    for (const Scalar &a : args) {
        undefined |= a.undefined;
    }
    const Type t = types[0];
    const double x = args[0].f;
    // Half precision is computed in single.
    auto rounded = [&](double v) { return Scalar::of_float(float_to_float(t, v), undefined); };
    if (args.size() == 1) {
        auto it = unary_functions().find(base);
        if (it != unary_functions().end()) {
            return rounded(t.bits() == 64 ? it->second.real(x) : (double)it->second.single((float)x));
        }
        if (base == "is_nan") {
            return Scalar::of_int(std::isnan(x), undefined);
        }
        if (base == "is_inf") {
            return Scalar::of_int(std::isinf(x), undefined);
        }
        if (base == "is_finite") {
            return Scalar::of_int(std::isfinite(x), undefined);
        }
        if (base == "abs") {
            return rounded(std::fabs(x));
        }
        // Estimates differ between machines.
        if (base == "fast_inverse") {
            return Scalar::of_float(float_to_float(t, 1.0 / x), true);
        }
        if (base == "fast_inverse_sqrt") {
            return Scalar::of_float(float_to_float(t, 1.0 / std::sqrt(x)), true);
        }
    } else if (args.size() == 2) {
        const double y = args[1].f;
        const bool is_double = t.bits() == 64;
        if (base == "pow") {
            return rounded(is_double ? std::pow(x, y) : (double)std::pow((float)x, (float)y));
        }
        if (base == "atan2") {
            return rounded(is_double ? std::atan2(x, y) : (double)std::atan2((float)x, (float)y));
        }
        if (base == "fmod") {
            return rounded(std::fmod(x, y));
        }
    } else if (args.size() == 3 && base == "fma") {
        return Scalar::of_float(strict_fma(t, x, args[1].f, args[2].f), undefined);
    }
    return std::nullopt;
}

}  // namespace Internal
}  // namespace Halide
