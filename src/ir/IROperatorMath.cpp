#include "ir/IROperator.h"

#include <cmath>
#include <mutex>
#include <utility>

#include "ir/IR.h"
#include "ir/IRMutator.h"
#include "ir/IRPrinter.h"
#include "ir/LowerIntrinsics.h"

// Mathematical functions, strict arithmetic, and what is computed here in simpler operations.

namespace Halide {

using namespace Internal;

namespace {

void check_number(const char *name, const Expr &x) {
    user_assert(x.defined()) << name << " of undefined Expr.\n";
    user_assert(!x.type().is_handle()) << name << " of an opaque pointer: " << x << "\n";
}

/// The float type in which a function of a value of this type is computed.
Type math_type(Type t) {
    const bool native = t.is_float() && !t.is_bfloat() && (t.bits() == 64 || t.bits() == 16);
    return native ? t : Float(32, t.lanes());
}

std::string suffix(Type t) {
    return t.bits() == 64 ? "_f64" : t.bits() == 32 ? "_f32" : "_f16";
}

/// `name`_f16|_f32|_f64 of x.
Expr math_call(const std::string &name, Expr x) {
    check_number(name.c_str(), x);
    const Type t = math_type(x.type());
    return Call::make(t, name + suffix(t), {cast(t, std::move(x))}, Call::PureExtern);
}

Expr math_call(const std::string &name, Expr x, Expr y) {
    check_number(name.c_str(), x);
    check_number(name.c_str(), y);
    match_lanes(x, y);
    const Type t = math_type(x.type());
    return Call::make(t, name + suffix(t), {cast(t, std::move(x)), cast(t, std::move(y))}, Call::PureExtern);
}

Expr classify(const std::string &name, Expr x) {
    user_assert(x.defined()) << name << " of undefined Expr.\n";
    user_assert(x.type().is_float()) << name << " only works for float: " << x << " has type " << x.type() << ".\n";
    const Type t = math_type(x.type());
    const Expr arg = strictify_float(cast(t, std::move(x)));
    return Call::make(Bool(t.lanes()), name + suffix(t), {arg}, Call::PureExtern);
}

void check_float32(const char *name, const Expr &x) {
    user_assert(x.defined()) << name << " of undefined Expr.\n";
    user_assert(x.type().element_of() == Float(32))
        << name << " only works for Float(32): " << x << " has type " << x.type() << ".\n";
}

}  // namespace

Expr sin(Expr x) {
    return math_call("sin", std::move(x));
}
Expr asin(Expr x) {
    return math_call("asin", std::move(x));
}
Expr cos(Expr x) {
    return math_call("cos", std::move(x));
}
Expr acos(Expr x) {
    return math_call("acos", std::move(x));
}
Expr tan(Expr x) {
    return math_call("tan", std::move(x));
}
Expr atan(Expr x) {
    return math_call("atan", std::move(x));
}
Expr atan2(Expr y, Expr x) {
    return math_call("atan2", std::move(y), std::move(x));
}
Expr sinh(Expr x) {
    return math_call("sinh", std::move(x));
}
Expr asinh(Expr x) {
    return math_call("asinh", std::move(x));
}
Expr cosh(Expr x) {
    return math_call("cosh", std::move(x));
}
Expr acosh(Expr x) {
    return math_call("acosh", std::move(x));
}
Expr tanh(Expr x) {
    return math_call("tanh", std::move(x));
}
Expr atanh(Expr x) {
    return math_call("atanh", std::move(x));
}
Expr sqrt(Expr x) {
    return math_call("sqrt", std::move(x));
}
Expr hypot(const Expr &x, const Expr &y) {
    return sqrt(x * x + y * y);
}
Expr exp(Expr x) {
    return math_call("exp", std::move(x));
}
Expr log(Expr x) {
    return math_call("log", std::move(x));
}

Expr pow(Expr x, Expr y) {
    check_number("pow", x);
    check_number("pow", y);
    if (auto i = as_const_int(y)) {
        return raise_to_integer_power(std::move(x), *i);
    }
    if (auto u = as_const_uint(y)) {
        return raise_to_integer_power(std::move(x), (int64_t)*u);
    }
    return math_call("pow", std::move(x), std::move(y));
}

Expr erf(const Expr &x) {
    check_float32("erf", x);
    return halide_erf(x);
}

Expr fma(const Expr &a, const Expr &b, const Expr &c) {
    user_assert(a.defined() && b.defined() && c.defined()) << "fma of undefined Expr.\n";
    user_assert(a.type().is_float() && !a.type().is_bfloat() && a.type() == b.type() && a.type() == c.type())
        << "fma needs three floats (not bfloat) of equal type: " << a << " has type " << a.type() << ", " << b
        << " has type " << b.type() << ", " << c << " has type " << c.type() << ".\n";
    return Call::make(a.type(), Call::strict_fma, {a, b, c}, Call::PureIntrinsic);
}

namespace {

Expr hardware_estimate(const char *name, Expr x) {
    user_assert(x.defined()) << name << " of undefined Expr.\n";
    const Type t = x.type();
    user_assert(t.is_float() && !t.is_bfloat() && t.bits() <= 32)
        << name << " only works for Float(32) or Float(16): " << x << " has type " << t << ".\n";
    return Call::make(t, name + suffix(t), {std::move(x)}, Call::PureExtern);
}

}  // namespace

Expr fast_inverse(Expr x) {
    return hardware_estimate("fast_inverse", std::move(x));
}
Expr fast_inverse_sqrt(Expr x) {
    return hardware_estimate("fast_inverse_sqrt", std::move(x));
}

Expr floor(Expr x) {
    return math_call("floor", std::move(x));
}
Expr ceil(Expr x) {
    return math_call("ceil", std::move(x));
}
Expr trunc(Expr x) {
    return math_call("trunc", std::move(x));
}
Expr round(Expr x) {
    check_number("round", x);
    const Type t = x.type().is_float() ? x.type() : Float(32, x.type().lanes());
    return Call::make(t, Call::round, {cast(t, std::move(x))}, Call::PureIntrinsic);
}
Expr fract(const Expr &x) {
    return x - trunc(x);
}

Expr is_nan(Expr x) {
    return classify("is_nan", std::move(x));
}
Expr is_inf(Expr x) {
    return classify("is_inf", std::move(x));
}
Expr is_finite(Expr x) {
    return classify("is_finite", std::move(x));
}

Expr lerp(Expr zero_val, Expr one_val, Expr weight) {
    user_assert(zero_val.defined() && one_val.defined() && weight.defined()) << "lerp of undefined Expr.\n";
    if (as_const_int(zero_val)) {
        zero_val = cast(one_val.type(), std::move(zero_val));
    }
    if (as_const_int(one_val)) {
        one_val = cast(zero_val.type(), std::move(one_val));
    }
    match_lanes(zero_val, one_val);
    match_lanes(zero_val, weight);
    match_lanes(one_val, weight);
    const Type t = zero_val.type();
    user_assert(t == one_val.type()) << "The first two arguments to lerp do not have a matching type: " << zero_val
                                     << " has type " << t << ", " << one_val << " has type " << one_val.type()
                                     << ".\n";
    user_assert(!t.is_handle() && (t.is_float() || t.bits() <= 32))
        << "lerp of " << zero_val << " and " << one_val << ": type " << t << " is not supported.\n";
    user_assert(weight.type().is_uint() || weight.type().is_float())
        << "A lerp weight must be an unsigned integer or a float, but " << weight << " has type " << weight.type()
        << ".\n";
    if (auto w = as_const_float(weight)) {
        user_assert(t.is_float() || (*w >= 0.0 && *w <= 1.0))
            << "Floating-point weight for lerp with integer arguments is " << *w
            << ", which is not in the range [0.0, 1.0].\n";
    }
    return Call::make(t, Call::lerp, {std::move(zero_val), std::move(one_val), std::move(weight)}, Call::PureIntrinsic);
}

Expr strict_float(const Expr &e) {
    user_assert(e.defined()) << "strict_float of undefined Expr.\n";
    return strictify_float(e);
}

namespace Internal {

namespace {

class Strictify : public IRGraphMutator {
    using IRGraphMutator::visit;

    template<typename Node>
    Expr binary(const Node *op, Call::IntrinsicOp strict_op, bool swapped = false) {
        Expr a = mutate(op->a), b = mutate(op->b);
        if (!a.type().is_float()) {
            return IRGraphMutator::visit(op);
        }
        if (swapped) {
            std::swap(a, b);
        }
        return Call::make(op->type, strict_op, {a, b}, Call::PureIntrinsic);
    }

    Expr visit(const Add *op) override {
        return binary(op, Call::strict_add);
    }
    Expr visit(const Sub *op) override {
        return binary(op, Call::strict_sub);
    }
    Expr visit(const Mul *op) override {
        return binary(op, Call::strict_mul);
    }
    Expr visit(const Div *op) override {
        return binary(op, Call::strict_div);
    }
    Expr visit(const Min *op) override {
        return binary(op, Call::strict_min);
    }
    Expr visit(const Max *op) override {
        return binary(op, Call::strict_max);
    }
    Expr visit(const LT *op) override {
        return binary(op, Call::strict_lt);
    }
    Expr visit(const LE *op) override {
        return binary(op, Call::strict_le);
    }
    Expr visit(const GT *op) override {
        return binary(op, Call::strict_lt, true);
    }
    Expr visit(const GE *op) override {
        return binary(op, Call::strict_le, true);
    }
    Expr visit(const EQ *op) override {
        return binary(op, Call::strict_eq);
    }
    Expr visit(const NE *op) override {
        return op->a.type().is_float() ? Not::make(mutate(EQ::make(op->a, op->b))) : IRGraphMutator::visit(op);
    }
    Expr visit(const Mod *op) override {
        return op->type.is_float() ? mutate(lower_float_mod(op->a, op->b)) : IRGraphMutator::visit(op);
    }
    Expr visit(const Cast *op) override {
        if (!op->type.is_float() && !op->value.type().is_float()) {
            return IRGraphMutator::visit(op);
        }
        return Call::make(op->type, Call::strict_cast, {mutate(op->value)}, Call::PureIntrinsic);
    }
    Expr visit(const Call *op) override {
        if (op->call_type == Call::Halide) {
            return op;
        }
        if (op->is_intrinsic(Call::lerp) && op->type.is_float()) {
            return mutate(lower_intrinsic(op));
        }
        return IRGraphMutator::visit(op);
    }
};

}  // namespace

Expr strictify_float(const Expr &e) {
    return Strictify().mutate(e);
}

}  // namespace Internal

// ---- Division through tables ----------------------------------------------------------------------------------------

namespace {

/// For each divisor, what find_division_magic says, as three images over the divisor. One set per width.
struct DivisionTables {
    Buffer<uint32_t> multiplier;
    Buffer<uint8_t> shift;

    /// For dividing `bits`-bit unsigned numbers by 2 … 255 as ((a − t) >> 1) + t >> shift, t = mulhi(a, multiplier):
    /// the most general method, so that one formula serves all divisors.
    explicit DivisionTables(int bits)
        : multiplier(256, "division_multiplier_" + std::to_string(bits)),
          shift(256, "division_shift_" + std::to_string(bits)) {
        multiplier.fill(0);
        shift.fill(0);
        for (int d = 2; d < 256; d++) {
            // With l = ⌈log2 d⌉, m = ⌊2^bits·(2^l − d)/d⌋ + 1 and shift l − 1, the formula is exact for all a < 2^bits.
            int l = 0;
            while ((1 << l) < d) {
                l++;
            }
            const uint64_t m = (((uint64_t)((1 << l) - d)) << bits) / (uint64_t)d + 1;
            multiplier(d) = (uint32_t)m;
            shift(d) = (uint8_t)(l - 1);
        }
    }
};

const DivisionTables &division_tables(int bits) {
    static const DivisionTables tables[] = {DivisionTables(8), DivisionTables(16), DivisionTables(32)};
    return tables[bits == 8 ? 0 : bits == 16 ? 1 : 2];
}

void check_table_division(const char *name, const Expr &numerator, const Expr &denominator) {
    user_assert(numerator.defined() && denominator.defined()) << name << " of undefined Expr.\n";
    user_assert(denominator.type().element_of() == UInt(8))
        << name << " requires a denominator of type UInt(8), but " << denominator << " has type "
        << denominator.type() << ".\n";
    const Type t = numerator.type();
    user_assert(t.is_int_or_uint() && (t.bits() == 8 || t.bits() == 16 || t.bits() == 32))
        << name << " requires a numerator with 8, 16, or 32 bits, but " << numerator << " has type " << t << ".\n";
}

/// a / d for unsigned a; 0 if d is 0.
Expr divide_unsigned_by_table(const Expr &a, const Expr &d) {
    const Type t = a.type();
    const DivisionTables &tables = division_tables(t.bits());
    const Expr index = cast(Int(32, d.type().lanes()), d);
    const Expr multiplier = cast(t, Call::make(tables.multiplier, {index}));
    const Expr shift = cast(t, Call::make(tables.shift, {index}));
    const Expr high = mul_shift_right(a, multiplier, t.bits());
    const Expr quotient = (((a - high) >> 1) + high) >> shift;
    return select(d == 0, make_zero(t), d == 1, a, quotient);
}

}  // namespace

Expr fast_integer_divide(const Expr &numerator, const Expr &denominator) {
    check_table_division("fast_integer_divide", numerator, denominator);
    const Type t = numerator.type();
    if (t.is_uint()) {
        return divide_unsigned_by_table(numerator, denominator);
    }
    // Rounding down: for a negative a, ⌊a/d⌋ = ~(~a / d).
    const Type u = t.with_code(Type::UInt);
    const Expr sign = numerator >> (t.bits() - 1);
    const Expr quotient = divide_unsigned_by_table(cast(u, numerator ^ sign), denominator);
    return select(denominator == 0, make_zero(t), cast(t, quotient) ^ sign);
}

Expr fast_integer_divide_round_to_zero(const Expr &numerator, const Expr &denominator) {
    check_table_division("fast_integer_divide_round_to_zero", numerator, denominator);
    const Type t = numerator.type();
    if (t.is_uint()) {
        return divide_unsigned_by_table(numerator, denominator);
    }
    const Expr sign = numerator >> (t.bits() - 1);
    const Expr quotient = cast(t, divide_unsigned_by_table(abs(numerator), denominator));
    return (quotient ^ sign) - sign;
}

Expr fast_integer_modulo(const Expr &numerator, const Expr &denominator) {
    check_table_division("fast_integer_modulo", numerator, denominator);
    const Type t = numerator.type();
    const Expr remainder = numerator - fast_integer_divide(numerator, denominator) * cast(t, denominator);
    return select(denominator == 0, make_zero(t), remainder);
}

}  // namespace Halide
