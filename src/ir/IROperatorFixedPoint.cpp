#include "ir/IROperator.h"

#include <cstdlib>
#include <utility>

#include "ir/IR.h"
#include "ir/IRPrinter.h"

// The fixed-point family. These only check and build calls; LowerIntrinsics.cpp says what the calls mean.

namespace Halide {

using namespace Internal;

namespace {

void check_numbers(const char *name, const Expr &a, const Expr &b) {
    user_assert(a.defined() && b.defined()) << name << " of undefined Expr.\n";
    user_assert(!a.type().is_handle() && !b.type().is_handle())
        << name << " of opaque pointers: " << a << " has type " << a.type() << ", " << b << " has type " << b.type()
        << ".\n";
}

void check_integers(const char *name, const Expr &a, const Expr &b) {
    check_numbers(name, a, b);
    user_assert(a.type().is_int_or_uint() && b.type().is_int_or_uint())
        << name << " needs integers: " << a << " has type " << a.type() << ", " << b << " has type " << b.type()
        << ".\n";
}

void check_can_widen(const char *name, const Expr &e) {
    user_assert(e.type().bits() <= 32)
        << name << " of " << e << " of type " << e.type() << " would need more than 64 bits.\n";
}

Expr pure_call(Type t, Call::IntrinsicOp op, std::vector<Expr> args) {
    return Call::make(t, op, args, Call::PureIntrinsic);
}

/// A shift amount given as a C++ int: unsigned unless it is negative.
Expr shift_amount(const Type &t, int amount) {
    return amount >= 0 ? make_const(t.with_code(Type::UInt), amount) : make_const(t.with_code(Type::Int), amount);
}

Expr widening_shift(Call::IntrinsicOp op, const char *name, Expr a, Expr b) {
    check_integers(name, a, b);
    match_lanes(a, b);
    match_bits(a, b);
    check_can_widen(name, a);
    return pure_call(a.type().widen(), op, {a, b});
}

Expr rounding_shift(Call::IntrinsicOp op, const char *name, Expr a, Expr b) {
    check_integers(name, a, b);
    match_lanes(a, b);
    match_bits(a, b);
    return pure_call(a.type(), op, {a, b});
}

Expr halving(Call::IntrinsicOp op, const char *name, Expr a, Expr b) {
    check_integers(name, a, b);
    match_types(a, b);
    return pure_call(a.type(), op, {a, b});
}

Expr widen_right(Call::IntrinsicOp op, const char *name, Expr a, Expr b) {
    check_numbers(name, a, b);
    match_lanes(a, b);
    check_can_widen(name, b);
    user_assert(a.type() == b.type().widen())
        << name << ": the first argument must have twice the width of the second: " << a << " has type " << a.type()
        << ", " << b << " has type " << b.type() << ".\n";
    return pure_call(a.type(), op, {a, b});
}

Expr multiply_shift(Call::IntrinsicOp op, const char *name, Expr a, Expr b, Expr q) {
    check_integers(name, a, b);
    check_integers(name, a, q);
    user_assert(q.type().is_uint()) << name << " requires shift of type UInt, but " << q << " has type " << q.type()
                                    << ".\n";
    match_types(a, b);
    match_lanes(a, q);
    match_lanes(b, q);
    q = cast(q.type().with_bits(a.type().bits()), q);
    return pure_call(a.type(), op, {a, b, q});
}

Expr multiply_shift(Call::IntrinsicOp op, const char *name, Expr a, Expr b, int q) {
    check_integers(name, a, b);
    user_assert(q >= 0) << name << " by the negative amount " << q << ".\n";
    match_types(a, b);
    const Expr amount = make_const(a.type().with_code(Type::UInt), q);
    return multiply_shift(op, name, std::move(a), std::move(b), amount);
}

}  // namespace

Expr widening_add(Expr a, Expr b) {
    check_numbers("widening_add", a, b);
    match_types(a, b);
    check_can_widen("widening_add", a);
    const Type wide = a.type().widen();
    return wide.is_float() ? cast(wide, a) + cast(wide, b) : pure_call(wide, Call::widening_add, {a, b});
}

Expr widening_sub(Expr a, Expr b) {
    check_numbers("widening_sub", a, b);
    match_types(a, b);
    check_can_widen("widening_sub", a);
    const Type wide = a.type().widen();
    return wide.is_float() ? cast(wide, a) - cast(wide, b) :
                             pure_call(wide.with_code(Type::Int), Call::widening_sub, {a, b});
}

Expr widening_mul(Expr a, Expr b) {
    check_numbers("widening_mul", a, b);
    match_lanes(a, b);
    if (a.type().is_float() || b.type().is_float()) {
        // An integer takes part if it is certainly a value of the float type.
        const Type t = !a.type().is_float()                  ? b.type() :
                       !b.type().is_float()                  ? a.type() :
                       a.type().bits() >= b.type().bits() ? a.type() :
                                                               b.type();
        const Expr exact_a = lossless_cast(t, a), exact_b = lossless_cast(t, b);
        user_assert(exact_a.defined() && exact_b.defined())
            << "widening_mul: " << a << " of type " << a.type() << " and " << b << " of type " << b.type()
            << " can't both be converted to " << t << " without loss.\n";
        check_can_widen("widening_mul", exact_a);
        return cast(t.widen(), exact_a) * cast(t.widen(), exact_b);
    }
    match_bits(a, b);
    check_can_widen("widening_mul", a);
    Type wide = a.type().widen();
    if (b.type().is_int()) {
        wide = wide.with_code(Type::Int);
    }
    return pure_call(wide, Call::widening_mul, {a, b});
}

Expr widen_right_add(Expr a, Expr b) {
    return widen_right(Call::widen_right_add, "widen_right_add", std::move(a), std::move(b));
}
Expr widen_right_sub(Expr a, Expr b) {
    return widen_right(Call::widen_right_sub, "widen_right_sub", std::move(a), std::move(b));
}
Expr widen_right_mul(Expr a, Expr b) {
    return widen_right(Call::widen_right_mul, "widen_right_mul", std::move(a), std::move(b));
}

Expr widening_shift_left(Expr a, Expr b) {
    return widening_shift(Call::widening_shift_left, "widening_shift_left", std::move(a), std::move(b));
}
Expr widening_shift_left(Expr a, int b) {
    user_assert(a.defined()) << "widening_shift_left of undefined Expr.\n";
    return widening_shift_left(a, shift_amount(a.type(), b));
}
Expr widening_shift_right(Expr a, Expr b) {
    return widening_shift(Call::widening_shift_right, "widening_shift_right", std::move(a), std::move(b));
}
Expr widening_shift_right(Expr a, int b) {
    user_assert(a.defined()) << "widening_shift_right of undefined Expr.\n";
    return widening_shift_right(a, shift_amount(a.type(), b));
}

Expr rounding_shift_left(Expr a, Expr b) {
    return rounding_shift(Call::rounding_shift_left, "rounding_shift_left", std::move(a), std::move(b));
}
Expr rounding_shift_left(Expr a, int b) {
    user_assert(a.defined()) << "rounding_shift_left of undefined Expr.\n";
    return b >= 0 ? std::move(a) << b : rounding_shift_right(a, shift_amount(a.type(), -b));
}
Expr rounding_shift_right(Expr a, Expr b) {
    return rounding_shift(Call::rounding_shift_right, "rounding_shift_right", std::move(a), std::move(b));
}
Expr rounding_shift_right(Expr a, int b) {
    user_assert(a.defined()) << "rounding_shift_right of undefined Expr.\n";
    return b <= 0 ? std::move(a) << -b : rounding_shift_right(a, shift_amount(a.type(), b));
}

Expr saturating_add(Expr a, Expr b) {
    check_numbers("saturating_add", a, b);
    match_types(a, b);
    return a.type().is_float() ? std::move(a) + std::move(b) : pure_call(a.type(), Call::saturating_add, {a, b});
}
Expr saturating_sub(Expr a, Expr b) {
    check_numbers("saturating_sub", a, b);
    match_types(a, b);
    return a.type().is_float() ? std::move(a) - std::move(b) : pure_call(a.type(), Call::saturating_sub, {a, b});
}

Expr halving_add(Expr a, Expr b) {
    return halving(Call::halving_add, "halving_add", std::move(a), std::move(b));
}
Expr rounding_halving_add(Expr a, Expr b) {
    return halving(Call::rounding_halving_add, "rounding_halving_add", std::move(a), std::move(b));
}
Expr halving_sub(Expr a, Expr b) {
    return halving(Call::halving_sub, "halving_sub", std::move(a), std::move(b));
}

Expr mul_shift_right(Expr a, Expr b, Expr q) {
    return multiply_shift(Call::mul_shift_right, "mul_shift_right", std::move(a), std::move(b), std::move(q));
}
Expr mul_shift_right(Expr a, Expr b, int q) {
    return multiply_shift(Call::mul_shift_right, "mul_shift_right", std::move(a), std::move(b), q);
}
Expr rounding_mul_shift_right(Expr a, Expr b, Expr q) {
    return multiply_shift(Call::rounding_mul_shift_right, "rounding_mul_shift_right", std::move(a), std::move(b),
                          std::move(q));
}
Expr rounding_mul_shift_right(Expr a, Expr b, int q) {
    return multiply_shift(Call::rounding_mul_shift_right, "rounding_mul_shift_right", std::move(a), std::move(b), q);
}

}  // namespace Halide
