#include <utility>

#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/LowerIntrinsics.h"

// Integer division of the language (remainder never negative, division by zero gives zero) in what machines do: division
// toward zero where the divisor is known at run time only, multiplication and shifts where it is a constant.

namespace Halide {
namespace Internal {

namespace {

Type unsigned_of(const Type &t) {
    return t.with_code(Type::UInt);
}

/// Division toward zero that has no defined value for zero, nor for the smallest number divided by −1.
Expr machine_division(const Expr &a, const Expr &b) {
    return Call::make(a.type(), Call::div_round_to_zero, {a, b}, Call::PureIntrinsic);
}

Expr machine_remainder(const Expr &a, const Expr &b) {
    return Call::make(a.type(), Call::mod_round_to_zero, {a, b}, Call::PureIntrinsic);
}

/// b, or 1 where dividing a by b has no defined value on a machine.
Expr safe_divisor(const Expr &a, const Expr &b) {
    const Type t = b.type();
    if (is_const(b) && !is_const_zero(b) && !is_const(b, -1)) {
        return b;
    }
    Expr unsafe = b == make_zero(t);
    if (t.is_int()) {
        unsafe = unsafe || (b == make_const(t, -1) && a == t.min());
    }
    return select(unsafe, make_one(t), b);
}

}  // namespace

Expr lower_euclidean_div(Expr a, Expr b) {
    const Type t = a.type();
    internal_assert(t == b.type() && t.is_int_or_uint()) << "lower_euclidean_div of " << a << " and " << b;
    const Expr divisor = safe_divisor(a, b);
    Expr quotient = machine_division(a, divisor);
    if (t.is_int()) {
        // A negative remainder becomes positive by one more |b|.
        const Expr remainder = a - quotient * divisor;
        const Expr correction = select(divisor > make_zero(t), make_const(t, -1), make_one(t));
        quotient = quotient + select(remainder < make_zero(t), correction, make_zero(t));
    }
    return is_const(b) && !is_const_zero(b) ? quotient : select(b == make_zero(t), make_zero(t), quotient);
}

Expr lower_euclidean_mod(Expr a, Expr b) {
    const Type t = a.type();
    internal_assert(t == b.type() && t.is_int_or_uint()) << "lower_euclidean_mod of " << a << " and " << b;
    // Where the divisor had to be replaced the remainder is zero, as it must be.
    const Expr divisor = safe_divisor(a, b);
    const Expr remainder = machine_remainder(a, divisor);
    if (t.is_uint()) {
        return remainder;
    }
    const Expr positive = select(divisor > make_zero(t), remainder + divisor, remainder - divisor);
    return select(remainder < make_zero(t), positive, remainder);
}

// ---- Constant divisors ----------------------------------------------------------------------------------------------

// Let a < 2^N, the product have room for 2·bits, and d not be a power of two. For any s, with m = ⌈2^(bits+s) / d⌉ and
// the error e = m·d − 2^(bits+s) (0 < e < d),
//   a·m / 2^(bits+s) = a/d + (a/d)·(e / 2^(bits+s)),
// and the floor of that is ⌊a/d⌋ if the second term is below 1/d, the distance from a/d to the next integer above it:
// a·e < 2^(bits+s), which holds if e·2^N ≤ 2^(bits+s). For s = ⌈log2 d⌉ it always does, since e < d ≤ 2^s and N ≤ bits.
// The smallest such s gives the smallest m. If m needs bits + 1 bits and d is even, dividing both a and d by the power
// of two in d first makes N smaller, and then m fits.

DivisionMagic find_division_magic(int numerator_bits, int bits, uint64_t d) {
    internal_assert(d >= 1 && numerator_bits >= 1 && numerator_bits <= bits && bits <= 64)
        << "find_division_magic(" << numerator_bits << ", " << bits << ", " << d << ")";
    DivisionMagic magic;
    if ((d & (d - 1)) == 0) {
        magic.pre_shift = ctz64(d);
        return magic;
    }
    using Wide = unsigned __int128;
    for (int s = 0;; s++) {
        // 2^(bits+s) may be 2^128: its quotient and remainder by d come from 2^(bits+s) − 1.
        const int exponent = bits + s;
        const Wide below = exponent == 128 ? ~(Wide)0 : ((Wide)1 << exponent) - 1;
        const Wide m = below / d + 1;
        const uint64_t e = d - 1 - (uint64_t)(below % d);
        if (bits + s < 128 && ((Wide)e << numerator_bits) > ((Wide)1 << exponent)) {
            continue;
        }
        const Wide limit = (Wide)1 << bits;
        if (m < limit) {
            magic.multiplier = (uint64_t)m;
            magic.shift = exponent;
            return magic;
        }
        const int even = ctz64(d);
        if (even > 0) {
            magic = find_division_magic(numerator_bits - even, bits, d >> even);
            magic.pre_shift = even;
            return magic;
        }
        magic.multiplier = (uint64_t)(m - limit);
        magic.multiplier_is_wide = true;
        magic.shift = exponent;
        return magic;
    }
}

namespace {

/// ⌊a / d⌋ for unsigned a below 2^numerator_bits.
Expr divide_unsigned(const Expr &a, int numerator_bits, uint64_t d) {
    const Type t = a.type();
    const int bits = t.bits();
    if (numerator_bits < 64 && d >> numerator_bits) {
        return make_zero(t);
    }
    const DivisionMagic magic = find_division_magic(numerator_bits, bits, d);
    const Expr shifted = magic.pre_shift ? a >> magic.pre_shift : a;
    if (magic.multiplier == 0) {
        return shifted;
    }
    const Expr multiplier = make_const(t, magic.multiplier);
    if (!magic.multiplier_is_wide) {
        return mul_shift_right(shifted, multiplier, magic.shift);
    }
    // (a·2^bits + a·m') >> (bits + s), as (a + h) >> s with h = a·m' >> bits ≤ a; the sum by halves, as it may overflow.
    const Expr high = mul_shift_right(shifted, multiplier, bits);
    return halving_add(shifted, high) >> (magic.shift - bits - 1);
}

Expr negate_wrapped(const Expr &a) {
    const Type u = unsigned_of(a.type());
    return cast(a.type(), make_zero(u) - cast(u, a));
}

/// a / d for signed a and a constant d > 1, rounded down.
Expr divide_signed_down(const Expr &a, uint64_t d) {
    const Type t = a.type();
    if (auto shift = is_const_power_of_two_integer(d)) {
        return a >> *shift;
    }
    // ⌊a/d⌋ = ~⌊~a/d⌋ for negative a, and ~a needs one bit less.
    const Expr sign = a >> (t.bits() - 1);
    const Expr quotient = divide_unsigned(cast(unsigned_of(t), a ^ sign), t.bits() - 1, d);
    return cast(t, quotient) ^ sign;
}

/// a / d for signed a and a constant d > 1, rounded toward zero.
Expr divide_signed_to_zero(const Expr &a, uint64_t d) {
    const Type t = a.type();
    const Expr sign = a >> (t.bits() - 1);
    // |a| of the smallest number needs all bits.
    const Expr quotient = cast(t, divide_unsigned(abs(a), t.bits(), d));
    return (quotient ^ sign) - sign;
}

}  // namespace

Expr lower_int_uint_div(const Expr &a, const Expr &b, bool round_to_zero) {
    const Type t = a.type();
    internal_assert(t == b.type() && t.is_int_or_uint()) << "lower_int_uint_div of " << a << " and " << b;
    if (auto d = as_const_uint(b)) {
        return *d == 0 ? make_zero(t) : *d == 1 ? a : divide_unsigned(a, t.bits(), *d);
    }
    if (auto d = as_const_int(b)) {
        if (*d == 0 || *d == 1) {
            return *d == 0 ? make_zero(t) : a;
        }
        if (*d == -1) {
            return negate_wrapped(a);
        }
        // a = d·q + r = |d|·(−q) + r: the quotient by −|d| is the negated quotient by |d|, in both ways of rounding.
        const uint64_t magnitude = *d < 0 ? 0 - (uint64_t)*d : (uint64_t)*d;
        const Expr quotient = round_to_zero ? divide_signed_to_zero(a, magnitude) : divide_signed_down(a, magnitude);
        return *d < 0 ? make_zero(t) - quotient : quotient;
    }
    return round_to_zero ? machine_division(a, b) : lower_euclidean_div(a, b);
}

Expr lower_int_uint_mod(const Expr &a, const Expr &b) {
    const Type t = a.type();
    internal_assert(t == b.type() && t.is_int_or_uint()) << "lower_int_uint_mod of " << a << " and " << b;
    if (!is_const(b)) {
        return lower_euclidean_mod(a, b);
    }
    if (is_const_zero(b)) {
        return make_zero(t);
    }
    // The sign of the divisor does not matter to the remainder.
    const auto d = as_const_int(b);
    const uint64_t magnitude = !d ? *as_const_uint(b) : *d < 0 ? 0 - (uint64_t)*d : (uint64_t)*d;
    if (is_const_power_of_two_integer(magnitude)) {
        return a & make_const(t, magnitude - 1);
    }
    const Type u = unsigned_of(t);
    const Expr quotient = lower_int_uint_div(a, make_const(t, magnitude));
    // The product may leave a signed type by less than |b|.
    return cast(t, cast(u, a) - cast(u, quotient) * make_const(u, magnitude));
}

Expr lower_float_mod(const Expr &a, const Expr &b) {
    return a - b * floor(a / b);
}

}  // namespace Internal
}  // namespace Halide
