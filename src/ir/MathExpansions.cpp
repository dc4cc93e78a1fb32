#include <cmath>
#include <initializer_list>
#include <iterator>
#include <string>
#include <utility>

#include "ir/IR.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"

// Functions of Float(32) in the operations that every target has, so that scalar code, vector code and the interpreter
// compute the same values. The polynomials are minimax fits (iteratively reweighted least squares in double precision
// over the reduced range, weighted by relative error of the function).

namespace Halide {
namespace Internal {

namespace {

/// Builds an expression in which values that are used more than once have names.
class Steps {
    const std::string function;
    LetList lets;

public:
    explicit Steps(const char *function)
        : function(function) {
    }
    Expr name(const char *what, const Expr &value) {
        const std::string full = function + "." + what;
        lets.emplace_back(full, value);
        return Variable::make(value.type(), full);
    }
    Expr result(const Expr &e) const {
        return rewrap_all_lets(e, lets);
    }
};

/// The polynomial with these coefficients, the constant term first.
Expr polynomial(const Expr &x, std::initializer_list<float> coefficients) {
    Expr result;
    for (auto c = std::rbegin(coefficients); c != std::rend(coefficients); ++c) {
        const Expr term = make_const(x.type(), *c);
        result = result.defined() ? result * x + term : term;
    }
    return result;
}

Expr constant(const Expr &like, double v) {
    return make_const(like.type(), v);
}

/// Comparisons that mean what they say for NaN too.
Expr is_less(const Expr &a, const Expr &b) {
    return Call::make(Bool(a.type().lanes()), Call::strict_lt, {a, b}, Call::PureIntrinsic);
}
Expr is_equal(const Expr &a, const Expr &b) {
    return Call::make(Bool(a.type().lanes()), Call::strict_eq, {a, b}, Call::PureIntrinsic);
}

Expr int_bits(const Expr &x) {
    return reinterpret(Int(32, x.type().lanes()), x);
}

/// The exponent e of x = 2^e·m with √½ ≤ m < √2, from the bits of x: those of √½ make the cut.
Expr centered_exponent(const Expr &bits) {
    const Type u = UInt(32, bits.type().lanes());
    return cast(bits.type(), cast(u, bits) - make_const(u, 0x3f3504f3)) >> 23;
}

Expr float_of_bits(const Expr &x) {
    return reinterpret(Float(32, x.type().lanes()), x);
}

/// m of the same.
Expr mantissa(const Expr &bits, const Expr &e) {
    const Type u = UInt(32, bits.type().lanes());
    return reinterpret(Float(32, u.lanes()), cast(u, bits) - (cast(u, e) << 23));
}

/// 2^k for −127 < k < 128.
Expr power_of_two(const Expr &k) {
    return float_of_bits((k + 127) << 23);
}

constexpr double log2_of_e = 1.442695022;
// A first part of 12 bits, so that its products with exponents are exact, and the rest.
constexpr double ln2_high = 6.931152344e-01, ln2_low = 3.194618330e-05;
constexpr double half_pi_high = 1.5703125, half_pi_low = 4.838267923e-04;

constexpr double infinity = HUGE_VAL;

}  // namespace

Expr halide_exp(const Expr &x_full) {
    Steps steps("exp");
    const Expr x_in = steps.name("x", x_full);
    // Beyond these limits the result is 0 or infinity; NaN is neither less nor greater and stays.
    const Expr low = constant(x_in, -104), high = constant(x_in, 89);
    const Expr x = steps.name("clamped", select(is_less(x_in, low), low, select(is_less(high, x_in), high, x_in)));
    // x = k·ln 2 + r with |r| ≤ ln 2 / 2
    const Expr k_float = steps.name("k_float", floor(x * constant(x, log2_of_e) + constant(x, 0.5)));
    const Expr k = steps.name("k", cast(Int(32, x.type().lanes()), k_float));
    const Expr r =
        steps.name("r", (x - k_float * constant(x, ln2_high)) - k_float * constant(x, ln2_low));
    const Expr q = polynomial(r, {0.5f, 1.666651219e-01f, 4.166618735e-02f, 8.369598538e-03f, 1.395171974e-03f});
    const Expr e_to_r = constant(x, 1) + (r + r * r * q);
    // In two factors, as k may be beyond the exponents of normal numbers.
    const Expr half = steps.name("half", k >> 1);
    return steps.result(e_to_r * power_of_two(half) * power_of_two(k - half));
}

Expr halide_log(const Expr &x_full) {
    Steps steps("log");
    const Expr x_in = steps.name("x", x_full);
    const Expr is_denormal = steps.name("is_denormal", is_less(x_in, constant(x_in, 0x1p-126)));
    const Expr x = select(is_denormal, x_in * constant(x_in, 0x1p25), x_in);
    const Expr bits = steps.name("bits", int_bits(x));
    const Expr e = steps.name("e", centered_exponent(bits));
    const Expr r = steps.name("r", mantissa(bits, e) - constant(x, 1));
    const Expr square = steps.name("square", r * r);
    const Expr q = polynomial(r, {3.333331347e-01f, -2.500000894e-01f, 2.000211924e-01f, -1.666799635e-01f,
                                  1.421955228e-01f, -1.240558922e-01f, 1.188816279e-01f, -1.167565137e-01f,
                                  6.746638566e-02f});
    const Expr exponent = steps.name(
        "exponent", cast(x.type(), e - select(is_denormal, make_const(e.type(), 25), make_zero(e.type()))));
    const Expr small = exponent * constant(x, ln2_low) + (square * r * q - square * constant(x, 0.5));
    const Expr value = exponent * constant(x, ln2_high) + (r + small);
    const Expr zero = make_zero(x.type()), inf = constant(x, infinity);
    const Expr special = select(is_equal(x_in, zero), constant(x, -infinity), constant(x, NAN));
    return steps.result(
        select(is_less(zero, x_in), select(is_less(x_in, inf), value, inf), special));
}

Expr halide_erf(const Expr &x_full) {
    Steps steps("erf");
    const Expr x = steps.name("x", x_full);
    const Expr magnitude = steps.name("magnitude", abs(x));
    const Expr square = steps.name("square", x * x);
    const Expr near_zero =
        x * polynomial(square, {1.128379226e+00f, -3.761263490e-01f, 1.128369719e-01f, -2.685949951e-02f,
                                5.201286171e-03f, -8.145597531e-04f, 8.382390661e-05f});
    // 1 − erf(a) = e^−p(a); beyond 3.92 that is less than half of the last bit of 1.
    const Expr limit = constant(x, 3.92);
    const Expr a = steps.name("a", select(is_less(limit, magnitude), limit, magnitude));
    const Expr p = polynomial(a, {-1.746832859e-04f, 1.129514933e+00f, 6.333469152e-01f, 1.082800776e-01f,
                                  -2.511941828e-02f, 4.171059001e-03f, -4.344617482e-04f, 2.109496927e-05f});
    const Expr far = constant(x, 1) - halide_exp(-p);
    const Expr signed_far = select(is_less(x, make_zero(x.type())), -far, far);
    return steps.result(select(is_less(magnitude, constant(x, 0.92)), near_zero, signed_far));
}

}  // namespace Internal

using namespace Internal;

namespace {

void check_float32(const char *name, const Expr &x) {
    user_assert(x.defined()) << name << " of undefined Expr.\n";
    user_assert(x.type().element_of() == Float(32))
        << name << " only works for Float(32): " << x << " has type " << x.type() << ".\n";
}

/// sin or cos: the quadrant says which polynomial, and with which sign.
Expr fast_sin_cos(const char *name, const Expr &x_full, int quadrant_of_zero) {
    check_float32(name, x_full);
    Steps steps(name);
    const Expr x = steps.name("x", x_full);
    const Expr k_float = steps.name("k_float", floor(x * constant(x, 2 / M_PI) + constant(x, 0.5)));
    const Expr k = steps.name("k", cast(Int(32, x.type().lanes()), k_float) + quadrant_of_zero);
    const Expr r = steps.name("r", (x - k_float * constant(x, half_pi_high)) - k_float * constant(x, half_pi_low));
    const Expr square = steps.name("square", r * r);
    const Expr sine = r * polynomial(square, {1.0f, -1.666665077e-01f, 8.332031779e-03f, -1.950335281e-04f});
    const Expr cosine = polynomial(square, {1.0f, -4.999985695e-01f, 4.165498167e-02f, -1.358530833e-03f});
    const Expr value = steps.name("value", select((k & 1) == 0, sine, cosine));
    return steps.result(select((k & 2) == 0, value, -value));
}

}  // namespace

Expr fast_sin(const Expr &x) {
    return fast_sin_cos("fast_sin", x, 0);
}

Expr fast_cos(const Expr &x) {
    return fast_sin_cos("fast_cos", x, 1);
}

Expr fast_log(const Expr &x_full) {
    check_float32("fast_log", x_full);
    Steps steps("fast_log");
    const Expr x = steps.name("x", x_full);
    const Expr bits = steps.name("bits", int_bits(x));
    const Expr e = steps.name("e", centered_exponent(bits));
    const Expr r = steps.name("r", mantissa(bits, e) - constant(x, 1));
    const Expr square = steps.name("square", r * r);
    const Expr q = polynomial(r, {3.333424628e-01f, -2.498326749e-01f, 1.992450356e-01f, -1.713712811e-01f,
                                  1.602437943e-01f, -1.019172445e-01f});
    return steps.result(cast(x.type(), e) * constant(x, ln2_high + ln2_low) +
                        (r + (square * r * q - square * constant(x, 0.5))));
}

Expr fast_exp(const Expr &x_full) {
    check_float32("fast_exp", x_full);
    Steps steps("fast_exp");
    const Expr x = steps.name("x", x_full);
    const Expr k_float = steps.name("k_float", floor(x * constant(x, log2_of_e) + constant(x, 0.5)));
    const Expr r = steps.name("r", (x - k_float * constant(x, ln2_high)) - k_float * constant(x, ln2_low));
    const Expr q = polynomial(r, {4.999911189e-01f, 1.666644812e-01f, 4.190293327e-02f, 8.375471458e-03f});
    const Expr biased = clamp(cast(Int(32, x.type().lanes()), k_float) + 127, 0, 255);
    return steps.result((constant(x, 1) + (r + r * r * q)) * float_of_bits(biased << 23));
}

Expr fast_pow(Expr x, Expr y) {
    user_assert(x.defined() && y.defined()) << "fast_pow of undefined Expr.\n";
    if (auto i = as_const_int(y)) {
        return raise_to_integer_power(std::move(x), *i);
    }
    match_lanes(x, y);
    const Type t = Float(32, x.type().lanes());
    Steps steps("fast_pow");
    const Expr base = steps.name("base", cast(t, x)), exponent = steps.name("exponent", cast(t, y));
    return steps.result(
        select(base == make_zero(base.type()), make_zero(base.type()), fast_exp(fast_log(base) * exponent)));
}

}  // namespace Halide
