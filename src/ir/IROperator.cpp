#include "ir/IROperator.h"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "ir/IR.h"
#include "ir/IRPrinter.h"

// Casts, arithmetic, comparison, logic, bits, choice. See also IROperatorFixedPoint, IROperatorMath, IROperatorMisc.

namespace Halide {

using namespace Internal;

namespace {

/// A node over two operands of matched type.
template<typename Node>
Expr binary(const char *name, Expr a, Expr b) {
    user_assert(a.defined() && b.defined()) << name << " of undefined Expr.\n";
    match_types(a, b);
    user_assert(!a.type().is_handle() || Node::_node_type == IRNodeType::EQ || Node::_node_type == IRNodeType::NE)
        << name << " of opaque pointers: " << a << " and " << b << "\n";
    return Node::make(std::move(a), std::move(b));
}

template<typename Node>
Expr binary(const char *name, Expr a, int b) {
    user_assert(a.defined()) << name << " of undefined Expr.\n";
    Expr constant = make_matching_const(a, b);
    return binary<Node>(name, std::move(a), std::move(constant));
}

template<typename Node>
Expr binary(const char *name, int a, Expr b) {
    user_assert(b.defined()) << name << " of undefined Expr.\n";
    Expr constant = make_matching_const(b, a);
    return binary<Node>(name, std::move(constant), std::move(b));
}

template<typename Node>
void update(const char *name, Expr &a, Expr b) {
    user_assert(a.defined() && b.defined()) << name << " of undefined Expr.\n";
    const Type t = a.type();
    a = Node::make(std::move(a), cast(t, std::move(b)));
}

void check_integer(const char *name, const Expr &e) {
    user_assert(e.defined()) << name << " of undefined Expr.\n";
    user_assert(e.type().is_int_or_uint())
        << name << " needs an integer, but its argument " << e << " has type " << e.type() << ".\n";
}

void check_integers(const char *name, const Expr &a, const Expr &b) {
    check_integer(name, a);
    check_integer(name, b);
}

}  // namespace

Expr operator+(Expr a, Expr b) {
    return binary<Add>("operator+", std::move(a), std::move(b));
}
Expr operator+(Expr a, int b) {
    return binary<Add>("operator+", std::move(a), b);
}
Expr operator+(int a, Expr b) {
    return binary<Add>("operator+", a, std::move(b));
}
Expr operator-(Expr a, Expr b) {
    return binary<Sub>("operator-", std::move(a), std::move(b));
}
Expr operator-(Expr a, int b) {
    return binary<Sub>("operator-", std::move(a), b);
}
Expr operator-(int a, Expr b) {
    return binary<Sub>("operator-", a, std::move(b));
}
Expr operator*(Expr a, Expr b) {
    return binary<Mul>("operator*", std::move(a), std::move(b));
}
Expr operator*(Expr a, int b) {
    return binary<Mul>("operator*", std::move(a), b);
}
Expr operator*(int a, Expr b) {
    return binary<Mul>("operator*", a, std::move(b));
}
Expr operator/(Expr a, Expr b) {
    return binary<Div>("operator/", std::move(a), std::move(b));
}
Expr operator/(Expr a, int b) {
    return binary<Div>("operator/", std::move(a), b);
}
Expr operator/(int a, Expr b) {
    return binary<Div>("operator/", a, std::move(b));
}
Expr operator%(Expr a, Expr b) {
    return binary<Mod>("operator%", std::move(a), std::move(b));
}
Expr operator%(Expr a, int b) {
    return binary<Mod>("operator%", std::move(a), b);
}
Expr operator%(int a, Expr b) {
    return binary<Mod>("operator%", a, std::move(b));
}
Expr operator<(Expr a, Expr b) {
    return binary<LT>("operator<", std::move(a), std::move(b));
}
Expr operator<(Expr a, int b) {
    return binary<LT>("operator<", std::move(a), b);
}
Expr operator<(int a, Expr b) {
    return binary<LT>("operator<", a, std::move(b));
}
Expr operator>(Expr a, Expr b) {
    return binary<GT>("operator>", std::move(a), std::move(b));
}
Expr operator>(Expr a, int b) {
    return binary<GT>("operator>", std::move(a), b);
}
Expr operator>(int a, Expr b) {
    return binary<GT>("operator>", a, std::move(b));
}
Expr operator<=(Expr a, Expr b) {
    return binary<LE>("operator<=", std::move(a), std::move(b));
}
Expr operator<=(Expr a, int b) {
    return binary<LE>("operator<=", std::move(a), b);
}
Expr operator<=(int a, Expr b) {
    return binary<LE>("operator<=", a, std::move(b));
}
Expr operator>=(Expr a, Expr b) {
    return binary<GE>("operator>=", std::move(a), std::move(b));
}
Expr operator>=(Expr a, int b) {
    return binary<GE>("operator>=", std::move(a), b);
}
Expr operator>=(int a, Expr b) {
    return binary<GE>("operator>=", a, std::move(b));
}
Expr operator==(Expr a, Expr b) {
    return binary<EQ>("operator==", std::move(a), std::move(b));
}
Expr operator==(Expr a, int b) {
    return binary<EQ>("operator==", std::move(a), b);
}
Expr operator==(int a, Expr b) {
    return binary<EQ>("operator==", a, std::move(b));
}
Expr operator!=(Expr a, Expr b) {
    return binary<NE>("operator!=", std::move(a), std::move(b));
}
Expr operator!=(Expr a, int b) {
    return binary<NE>("operator!=", std::move(a), b);
}
Expr operator!=(int a, Expr b) {
    return binary<NE>("operator!=", a, std::move(b));
}
Expr &operator+=(Expr &a, Expr b) {
    update<Add>("operator+=", a, std::move(b));
    return a;
}
Expr &operator-=(Expr &a, Expr b) {
    update<Sub>("operator-=", a, std::move(b));
    return a;
}
Expr &operator*=(Expr &a, Expr b) {
    update<Mul>("operator*=", a, std::move(b));
    return a;
}
Expr &operator/=(Expr &a, Expr b) {
    update<Div>("operator/=", a, std::move(b));
    return a;
}

// ---- Casts ----------------------------------------------------------------------------------------------------------

Expr cast(Type t, Expr a) {
    user_assert(a.defined()) << "cast of undefined Expr.\n";
    if (a.type() == t) {
        return a;
    }
    user_assert(t.is_handle() == a.type().is_handle() || is_signed_integer_overflow(a))
        << "Can't cast " << a << " of type " << a.type() << " to " << t << ". Use reinterpret.\n";
    if (t.is_handle()) {
        return reinterpret(t, std::move(a));
    }
    if (auto i = as_const_int(a)) {
        return make_const_int(t, *i);
    }
    if (auto u = as_const_uint(a)) {
        return make_const_uint(t, *u);
    }
    if (auto f = as_const_float(a)) {
        return make_const_float(t, *f);
    }
    if (t.is_vector() && a.type().is_scalar()) {
        return Broadcast::make(cast(t.element_of(), std::move(a)), t.lanes());
    }
    user_assert(t.lanes() == a.type().lanes())
        << "Can't cast " << a << " of type " << a.type() << " to " << t << ": the numbers of lanes differ.\n";
    if (const Broadcast *b = a.as<Broadcast>()) {
        return Broadcast::make(cast(t.with_lanes(b->value.type().lanes()), b->value), b->lanes);
    }
    return Cast::make(t, std::move(a));
}

namespace {

/// The largest finite value of a float type of at most 32 bits, or of double.
double largest_finite(Type t) {
    if (t.is_bfloat()) {
        return (double)bfloat16_t::make_from_bits(0x7f7f);
    }
    return t.bits() == 16 ? 65504.0 :
           t.bits() == 32 ? (double)std::numeric_limits<float>::max() :
                            std::numeric_limits<double>::max();
}

Expr saturate_float_to_float(Type t, Expr e) {
    const double limit = largest_finite(t);
    const Type from = e.type();
    // The limit must be exact in the type in which it is compared.
    const bool clamp_first = largest_finite(from) > limit;
    const Type compare_type = !clamp_first ? t : from.bits() == 16 ? Float(32, from.lanes()) : from;
    e = cast(compare_type, std::move(e));
    return cast(t, clamp(std::move(e), make_const(compare_type, -limit), make_const(compare_type, limit)));
}

Expr saturate_float_to_int(Type t, Expr e) {
    if (e.type().bits() == 16) {
        e = cast(Float(32, e.type().lanes()), e);
    }
    const Type from = e.type();
    const int mantissa_bits = from.bits() == 32 ? 24 : 53;
    const int value_bits = t.is_int() ? t.bits() - 1 : t.bits();
    // The lower limit is zero or minus a power of two: exact in every float type.
    const Expr low = t.is_int() ? make_const(from, -std::ldexp(1.0, value_bits)) : make_zero(from);
    if (value_bits <= mantissa_bits) {
        return cast(t, clamp(std::move(e), low, make_const(from, std::ldexp(1.0, value_bits) - 1)));
    }
    // The upper limit is not exact, but the first value beyond it is.
    const Expr beyond = make_const(from, std::ldexp(1.0, value_bits));
    return select(e >= beyond, t.max(), cast(t, max(e, low)));
}

}  // namespace

Expr saturating_cast(Type t, Expr e) {
    user_assert(e.defined()) << "saturating_cast of undefined Expr.\n";
    user_assert(!t.is_handle() && !e.type().is_handle())
        << "Can't saturating_cast " << e << " of type " << e.type() << " to " << t << ".\n";
    if (t.is_vector() && e.type().is_scalar()) {
        return Broadcast::make(saturating_cast(t.element_of(), std::move(e)), t.lanes());
    }
    if (e.type() == t) {
        return e;
    }
    if (t.is_float()) {
        return e.type().is_float() ? saturate_float_to_float(t, std::move(e)) :
               t.bits() == 16      ? saturate_float_to_float(t, cast(Float(32, t.lanes()), std::move(e))) :
                                     cast(t, std::move(e));
    }
    if (e.type().is_float()) {
        return saturate_float_to_int(t, std::move(e));
    }
    if (auto i = as_const_int(e)) {
        return t.element_of().can_represent(*i) ? make_const(t, *i) : *i < 0 ? t.min() : t.max();
    }
    if (auto u = as_const_uint(e)) {
        return t.element_of().can_represent(*u) ? make_const(t, *u) : t.max();
    }
    return Call::make(t, Call::saturating_cast, {std::move(e)}, Call::PureIntrinsic);
}

Expr reinterpret(Type t, Expr e) {
    user_assert(e.defined()) << "reinterpret of undefined Expr.\n";
    if (e.type() == t) {
        return e;
    }
    const int from_bits = e.type().bits() * e.type().lanes();
    const int to_bits = t.bits() * t.lanes();
    user_assert(from_bits == to_bits)
        << "Reinterpret cast of " << e << " from type " << e.type() << " which has " << from_bits << " bits, to type "
        << t << " which has " << to_bits << " bits.\n";
    return Reinterpret::make(t, std::move(e));
}

// ---- Arithmetic -----------------------------------------------------------------------------------------------------

Expr operator-(Expr a) {
    user_assert(a.defined()) << "operator- of undefined Expr.\n";
    const Type t = a.type();
    user_assert(!t.is_handle()) << "operator- of an opaque pointer: " << a << "\n";
    if (auto f = as_const_float(a)) {
        return make_const(t, -*f);
    }
    if (auto i = as_const_int(a)) {
        if (t.can_overflow() || !sub_would_overflow(t.bits(), 0, *i)) {
            return make_const(t, (int64_t)(0 - (uint64_t)*i));
        }
    }
    return Sub::make(make_zero(t), std::move(a));
}

namespace {

Expr round_to_zero(Call::IntrinsicOp op, const char *name, Expr x, Expr y) {
    check_integers(name, x, y);
    match_types(x, y);
    if (x.type().is_uint()) {
        return op == Call::div_round_to_zero ? std::move(x) / std::move(y) : std::move(x) % std::move(y);
    }
    const Type t = x.type();
    return Call::make(t, op, {std::move(x), std::move(y)}, Call::PureIntrinsic);
}

}  // namespace

Expr div_round_to_zero(Expr x, Expr y) {
    return round_to_zero(Call::div_round_to_zero, "div_round_to_zero", std::move(x), std::move(y));
}

Expr mod_round_to_zero(Expr x, Expr y) {
    return round_to_zero(Call::mod_round_to_zero, "mod_round_to_zero", std::move(x), std::move(y));
}

// ---- Logic ----------------------------------------------------------------------------------------------------------

namespace {

template<typename Node>
Expr logical(const char *name, Expr a, Expr b) {
    user_assert(a.defined() && b.defined()) << name << " of undefined Expr.\n";
    match_types(a, b);
    user_assert(a.type().is_bool()) << "The operands of " << name << " must be booleans: " << a << " and " << b
                                    << " have type " << a.type() << ". Compare with != 0.\n";
    return Node::make(std::move(a), std::move(b));
}

}  // namespace

Expr operator&&(Expr a, Expr b) {
    return logical<And>("operator&&", std::move(a), std::move(b));
}
Expr operator&&(Expr a, bool b) {
    user_assert(a.defined() && a.type().is_bool()) << "The operands of operator&& must be booleans.\n";
    return b ? a : const_false(a.type().lanes());
}
Expr operator&&(bool a, Expr b) {
    return std::move(b) && a;
}
Expr operator||(Expr a, Expr b) {
    return logical<Or>("operator||", std::move(a), std::move(b));
}
Expr operator||(Expr a, bool b) {
    user_assert(a.defined() && a.type().is_bool()) << "The operands of operator|| must be booleans.\n";
    return b ? const_true(a.type().lanes()) : a;
}
Expr operator||(bool a, Expr b) {
    return std::move(b) || a;
}
Expr operator!(Expr a) {
    user_assert(a.defined()) << "operator! of undefined Expr.\n";
    user_assert(a.type().is_bool())
        << "The operand of operator! must be a boolean: " << a << " has type " << a.type() << ".\n";
    return Not::make(std::move(a));
}

// ---- Bits -----------------------------------------------------------------------------------------------------------

namespace {

Expr bitwise(Call::IntrinsicOp op, const char *name, Expr x, Expr y) {
    match_types_bitwise(x, y, name);
    const Type t = x.type();
    if (t.is_bool()) {
        return op == Call::bitwise_and ? And::make(std::move(x), std::move(y)) :
               op == Call::bitwise_or  ? Or::make(std::move(x), std::move(y)) :
                                         NE::make(std::move(x), std::move(y));
    }
    return Call::make(t, op, {std::move(x), std::move(y)}, Call::PureIntrinsic);
}

Expr shift(Call::IntrinsicOp op, const char *name, Expr x, Expr y) {
    check_integers(name, x, y);
    match_lanes(x, y);
    match_bits(x, y);
    const Type t = x.type();
    return Call::make(t, op, {std::move(x), std::move(y)}, Call::PureIntrinsic);
}

/// The other direction is taken for negative amounts, so that the amount is unsigned.
Expr shift_by_constant(Call::IntrinsicOp op, Call::IntrinsicOp opposite, const char *name, Expr x, int y) {
    check_integer(name, x);
    const Expr amount = make_const(x.type().with_code(Type::UInt), std::abs((int64_t)y));
    return shift(y >= 0 ? op : opposite, name, std::move(x), amount);
}

Expr count_bits(Call::IntrinsicOp op, const char *name, Expr x) {
    check_integer(name, x);
    const Type t = x.type();
    return Call::make(t, op, {std::move(x)}, Call::PureIntrinsic);
}

}  // namespace

Expr operator&(Expr x, Expr y) {
    return bitwise(Call::bitwise_and, "operator&", std::move(x), std::move(y));
}
Expr operator&(Expr x, int y) {
    Expr constant = make_matching_const(x, y);
    return std::move(x) & std::move(constant);
}
Expr operator&(int x, Expr y) {
    return make_matching_const(y, x) & y;
}
Expr operator|(Expr x, Expr y) {
    return bitwise(Call::bitwise_or, "operator|", std::move(x), std::move(y));
}
Expr operator|(Expr x, int y) {
    Expr constant = make_matching_const(x, y);
    return std::move(x) | std::move(constant);
}
Expr operator|(int x, Expr y) {
    return make_matching_const(y, x) | y;
}
Expr operator^(Expr x, Expr y) {
    return bitwise(Call::bitwise_xor, "operator^", std::move(x), std::move(y));
}
Expr operator^(Expr x, int y) {
    Expr constant = make_matching_const(x, y);
    return std::move(x) ^ std::move(constant);
}
Expr operator^(int x, Expr y) {
    return make_matching_const(y, x) ^ y;
}
Expr operator~(Expr x) {
    check_integer("operator~", x);
    const Type t = x.type();
    return t.is_bool() ? Not::make(std::move(x)) :
                         Call::make(t, Call::bitwise_not, {std::move(x)}, Call::PureIntrinsic);
}
Expr operator<<(Expr x, Expr y) {
    return shift(Call::shift_left, "operator<<", std::move(x), std::move(y));
}
Expr operator<<(Expr x, int y) {
    return shift_by_constant(Call::shift_left, Call::shift_right, "operator<<", std::move(x), y);
}
Expr operator>>(Expr x, Expr y) {
    return shift(Call::shift_right, "operator>>", std::move(x), std::move(y));
}
Expr operator>>(Expr x, int y) {
    return shift_by_constant(Call::shift_right, Call::shift_left, "operator>>", std::move(x), y);
}

Expr popcount(Expr x) {
    return count_bits(Call::popcount, "popcount", std::move(x));
}
Expr count_leading_zeros(Expr x) {
    return count_bits(Call::count_leading_zeros, "count_leading_zeros", std::move(x));
}
Expr count_trailing_zeros(Expr x) {
    return count_bits(Call::count_trailing_zeros, "count_trailing_zeros", std::move(x));
}

Expr extract_bits(Type t, const Expr &e, const Expr &lsb) {
    user_assert(e.defined() && lsb.defined()) << "extract_bits of undefined Expr.\n";
    user_assert(!t.is_handle() && !e.type().is_handle())
        << "extract_bits of " << e << " of type " << e.type() << " as " << t << ": not a number.\n";
    check_integer("extract_bits", lsb);
    const Type result = t.with_lanes(e.type().lanes());
    Expr value = e, position = lsb;
    match_lanes(value, position);
    return Call::make(result.with_lanes(value.type().lanes()), Call::extract_bits, {value, position},
                      Call::PureIntrinsic);
}

Expr concat_bits(const std::vector<Expr> &e) {
    user_assert(!e.empty()) << "concat_bits needs at least one argument.\n";
    user_assert(is_power_of_two((int64_t)e.size()))
        << "concat_bits needs a power of two of arguments, but got " << e.size() << ".\n";
    for (const Expr &part : e) {
        user_assert(part.defined()) << "concat_bits of undefined Expr.\n";
        user_assert(part.type() == e[0].type())
            << "The arguments of concat_bits must have equal types: " << e[0] << " has type " << e[0].type() << ", "
            << part << " has type " << part.type() << ".\n";
    }
    const Type t = e[0].type();
    user_assert(t.bits() * (int)e.size() <= 64)
        << "concat_bits of " << e.size() << " values of type " << t << " has more than 64 bits.\n";
    return Call::make(t.with_bits(t.bits() * (int)e.size()), Call::concat_bits, e, Call::PureIntrinsic);
}

// ---- Smallest, largest, distance ------------------------------------------------------------------------------------

Expr min(Expr a, Expr b) {
    return binary<Min>("min", std::move(a), std::move(b));
}
Expr min(Expr a, int b) {
    return binary<Min>("min", std::move(a), b);
}
Expr min(int a, Expr b) {
    return binary<Min>("min", a, std::move(b));
}
Expr max(Expr a, Expr b) {
    return binary<Max>("max", std::move(a), std::move(b));
}
Expr max(Expr a, int b) {
    return binary<Max>("max", std::move(a), b);
}
Expr max(int a, Expr b) {
    return binary<Max>("max", a, std::move(b));
}

Expr clamp(Expr a, const Expr &min_val, const Expr &max_val) {
    user_assert(a.defined() && min_val.defined() && max_val.defined()) << "clamp of undefined Expr.\n";
    const Type t = a.type();
    Expr low = lossless_cast(t, min_val);
    user_assert(low.defined()) << "Type mismatch in call to clamp. First argument (" << a << ") has type " << t
                               << ", but second argument (" << min_val << ") has type " << min_val.type()
                               << ". Use an explicit cast.\n";
    Expr high = lossless_cast(t, max_val);
    user_assert(high.defined()) << "Type mismatch in call to clamp. First argument (" << a << ") has type " << t
                                << ", but third argument (" << max_val << ") has type " << max_val.type()
                                << ". Use an explicit cast.\n";
    match_lanes(a, high);
    match_lanes(a, low);
    match_lanes(a, high);
    return Max::make(Min::make(std::move(a), high), low);
}

Expr abs(Expr a) {
    user_assert(a.defined()) << "abs of undefined Expr.\n";
    const Type t = a.type();
    user_assert(!t.is_handle()) << "abs of an opaque pointer: " << a << "\n";
    if (t.is_uint()) {
        user_warning << "abs of the unsigned value " << a << " is a no-op.\n";
        return a;
    }
    return Call::make(t.is_int() ? t.with_code(Type::UInt) : t, Call::abs, {std::move(a)}, Call::PureIntrinsic);
}

Expr absd(Expr a, Expr b) {
    user_assert(a.defined() && b.defined()) << "absd of undefined Expr.\n";
    match_types(a, b);
    const Type t = a.type();
    user_assert(!t.is_handle()) << "absd of opaque pointers: " << a << ", " << b << "\n";
    if (t.is_float()) {
        return abs(std::move(a) - std::move(b));
    }
    return Call::make(t.with_code(Type::UInt), Call::absd, {std::move(a), std::move(b)}, Call::PureIntrinsic);
}

// ---- Choice ---------------------------------------------------------------------------------------------------------

namespace {

/// An integer constant as written in a program, which takes the type of what it stands beside.
bool is_int_literal(const Expr &e) {
    return e.type().element_of() == Int(32) && as_const_int(e);
}

}  // namespace

Expr select(Expr condition, Expr true_value, Expr false_value) {
    user_assert(condition.defined() && true_value.defined() && false_value.defined()) << "select of undefined Expr.\n";
    if (as_const_int(condition)) {
        condition = cast(Bool(condition.type().lanes()), condition);
    }
    if (is_int_literal(true_value)) {
        true_value = cast(false_value.type(), std::move(true_value));
    }
    if (is_int_literal(false_value)) {
        false_value = cast(true_value.type(), std::move(false_value));
    }
    user_assert(condition.type().is_bool())
        << "The first argument to a select must be a boolean: " << condition << " has type " << condition.type()
        << ".\n";
    match_lanes(true_value, false_value);
    user_assert(true_value.type() == false_value.type())
        << "The second and third arguments to a select do not have a matching type: " << true_value << " has type "
        << true_value.type() << ", " << false_value << " has type " << false_value.type() << ".\n";
    if (condition.type().is_vector()) {
        match_lanes(condition, true_value);
        match_lanes(condition, false_value);
    }
    return Select::make(std::move(condition), std::move(true_value), std::move(false_value));
}

Expr mux(const Expr &id, const std::vector<Expr> &values) {
    user_assert(id.defined()) << "mux of undefined Expr.\n";
    user_assert(!values.empty()) << "mux needs at least one value to choose from.\n";
    user_assert(id.type().is_int_or_uint())
        << "The number given to mux must be an integer: " << id << " has type " << id.type() << ".\n";
    for (const Expr &v : values) {
        user_assert(v.defined()) << "mux of undefined Expr.\n";
        user_assert(v.type() == values[0].type())
            << "The values given to mux must have equal types: " << values[0] << " has type " << values[0].type()
            << ", " << v << " has type " << v.type() << ".\n";
    }
    if (values.size() == 1) {
        return values[0];
    }
    std::vector<Expr> args = {id};
    args.insert(args.end(), values.begin(), values.end());
    return Call::make(values[0].type(), Call::mux, args, Call::PureIntrinsic);
}

Expr mux(const Expr &id, const std::initializer_list<Expr> &values) {
    return mux(id, std::vector<Expr>(values));
}

}  // namespace Halide
