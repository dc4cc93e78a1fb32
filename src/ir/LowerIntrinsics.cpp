#include "ir/LowerIntrinsics.h"

#include <algorithm>
#include <utility>

#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"

// The meaning of the intrinsics. Int(32) and Int(64) have no overflow, so no expansion may overflow there even where
// the wrapped result would come out right: such steps are done in unsigned types.
// Division is in LowerDivision.cpp.

namespace Halide {
namespace Internal {

namespace {

Type unsigned_of(const Type &t) {
    return t.with_code(Type::UInt);
}

Expr call(const Type &t, Call::IntrinsicOp op, const std::vector<Expr> &args) {
    return Call::make(t, op, args, Call::PureIntrinsic);
}

/// The lowest bit of x.
Expr low_bit(const Expr &x) {
    return call(x.type(), Call::bitwise_and, {x, make_one(x.type())});
}

Expr widen(const Expr &x) {
    return cast(x.type().widen(), x);
}

/// All ones if x is negative, else zero.
Expr sign_mask(const Expr &x) {
    return x >> (x.type().bits() - 1);
}

}  // namespace

// ---- Widening -------------------------------------------------------------------------------------------------------

Expr lower_widen_right_add(const Expr &a, const Expr &b) {
    return a + widen(b);
}
Expr lower_widen_right_mul(const Expr &a, const Expr &b) {
    return a * widen(b);
}
Expr lower_widen_right_sub(const Expr &a, const Expr &b) {
    return a - widen(b);
}
Expr lower_widening_add(const Expr &a, const Expr &b) {
    return widen(a) + widen(b);
}
Expr lower_widening_mul(const Expr &a, const Expr &b) {
    const Type t = (b.type().is_int() ? b : a).type().widen();
    return cast(t, a) * cast(t, b);
}
Expr lower_widening_sub(const Expr &a, const Expr &b) {
    const Type t = a.type().is_float() ? a.type().widen() : a.type().widen().with_code(Type::Int);
    return cast(t, a) - cast(t, b);
}
Expr lower_widening_shift_left(const Expr &a, const Expr &b) {
    return widen(a) << widen(b);
}
Expr lower_widening_shift_right(const Expr &a, const Expr &b) {
    return widen(a) >> widen(b);
}

// ---- Shifts ---------------------------------------------------------------------------------------------------------

namespace {

/// Shifts left by b (right if b is negative), b signed, in shifts by unsigned amounts.
Expr shift_both_ways(const Expr &a, const Expr &b, bool left) {
    if (auto amount = as_const_int(b)) {
        // Constants choose the direction at once.
        const Expr distance = make_const(unsigned_of(b.type()), *amount < 0 ? 0 - (uint64_t)*amount : (uint64_t)*amount);
        return left == (*amount >= 0) ? a << distance : a >> distance;
    }
    const Expr distance = abs(b);
    return left ? select(b >= 0, a << distance, a >> distance) : select(b >= 0, a >> distance, a << distance);
}

}  // namespace

Expr lower_signed_shift_left(const Expr &a, const Expr &b) {
    return b.type().is_int() ? shift_both_ways(a, b, true) : a << b;
}

Expr lower_signed_shift_right(const Expr &a, const Expr &b) {
    return b.type().is_int() ? shift_both_ways(a, b, false) : a >> b;
}

namespace {

/// What rounding adds to a >> b for b > 0: the last bit that is shifted out. b ≤ 0 adds nothing.
Expr rounding_bit(const Expr &a, const Expr &b) {
    if (is_const(b)) {
        const int64_t amount = as_const_int(b).value_or((int64_t)as_const_uint(b).value_or(0));
        return amount > 0 ? low_bit(a >> make_const(b.type(), amount - 1)) : make_zero(a.type());
    }
    const Expr one = make_one(b.type());
    return select(b > make_zero(b.type()), low_bit(a >> (max(b, one) - one)), make_zero(a.type()));
}

}  // namespace

Expr lower_rounding_shift_left(const Expr &a, const Expr &b) {
    if (b.type().is_uint()) {
        return a << b;
    }
    return (a << b) + rounding_bit(a, -b);
}

Expr lower_rounding_shift_right(const Expr &a, const Expr &b) {
    return (a >> b) + rounding_bit(a, b);
}

// ---- Halving --------------------------------------------------------------------------------------------------------

// With a = 2A + p and b = 2B + q, p and q being the lowest bits, (a ± b) / 2 is A ± B and something that depends on p
// and q only. No step leaves the type.

Expr lower_halving_add(const Expr &a, const Expr &b) {
    return (a >> 1) + (b >> 1) + low_bit(a & b);
}
Expr lower_rounding_halving_add(const Expr &a, const Expr &b) {
    return (a >> 1) + (b >> 1) + low_bit(a | b);
}
Expr lower_halving_sub(const Expr &a, const Expr &b) {
    return (a >> 1) - (b >> 1) - low_bit(~a & b);
}
Expr lower_sorted_avg(const Expr &a, const Expr &b) {
    return lower_halving_add(a, b);
}

// ---- Saturation -----------------------------------------------------------------------------------------------------

Expr lower_saturating_add(const Expr &a, const Expr &b) {
    const Type t = a.type();
    if (t.is_float()) {
        return a + b;
    }
    if (t.is_uint()) {
        return min(a, ~b) + b;
    }
    // Restrict a to where adding b does not overflow.
    const Expr zero = make_zero(t);
    return max(min(a, t.max() - max(b, zero)), t.min() - min(b, zero)) + b;
}

Expr lower_saturating_sub(const Expr &a, const Expr &b) {
    const Type t = a.type();
    if (t.is_float()) {
        return a - b;
    }
    if (t.is_uint()) {
        return max(a, b) - b;
    }
    const Expr zero = make_zero(t);
    return max(min(a, t.max() + min(b, zero)), t.min() + max(b, zero)) - b;
}

Expr lower_saturating_cast(const Type &t, const Expr &a) {
    const Type from = a.type();
    if (t.is_float() || from.is_float()) {
        return saturating_cast(t, a);
    }
    Expr result = a;
    const int value_bits = t.is_int() ? t.bits() - 1 : t.bits();
    const int from_value_bits = from.is_int() ? from.bits() - 1 : from.bits();
    if (value_bits < from_value_bits) {
        result = min(std::move(result), cast(from, t.max()));
    }
    if (from.is_int() && t.is_uint()) {
        result = max(std::move(result), make_zero(from));
    } else if (from.is_int() && t.bits() < from.bits()) {
        result = max(std::move(result), cast(from, t.min()));
    }
    return cast(t, std::move(result));
}

// ---- Multiplication with a shift ------------------------------------------------------------------------------------

namespace {

struct WideProduct {
    /// The upper half has the signedness of the product, the lower is unsigned.
    Expr high, low;
};

/// The product of two 64-bit numbers of one type, by parts of 32 bits.
WideProduct multiply_64(const Expr &a, const Expr &b) {
    const Type u = unsigned_of(a.type());
    const Expr ua = cast(u, a), ub = cast(u, b);
    const Expr mask = make_const(u, (uint64_t)0xffffffff);
    const Expr a0 = ua & mask, a1 = ua >> 32, b0 = ub & mask, b1 = ub >> 32;
    const Expr p00 = a0 * b0;
    const Expr middle = a1 * b0 + (p00 >> 32);
    const Expr middle2 = a0 * b1 + (middle & mask);
    Expr high = a1 * b1 + (middle >> 32) + (middle2 >> 32);
    if (a.type().is_int()) {
        // A negative factor was taken as itself plus 2^64.
        high = high - (cast(u, sign_mask(a)) & ub) - (cast(u, sign_mask(b)) & ua);
    }
    return {cast(a.type(), high), ua * ub};
}

/// The 128-bit number (high, low) shifted right by q, saturated to the type of high; `extra` is 0 or 1 and is added.
Expr shift_right_saturated_128(const WideProduct &p, const Expr &q, const Expr &extra) {
    const Type t = p.high.type();
    const Expr bits = make_const(q.type(), 64);
    const Expr short_q = min(q, bits - 1);
    // q < 64: bits of both halves; beyond: of the upper one only.
    const Expr from_high = select(q == make_zero(q.type()), make_zero(p.low.type()),
                                  cast(p.low.type(), p.high) << ((bits - short_q) & make_const(q.type(), 63)));
    const Expr low_part = (p.low >> short_q) | from_high;
    const Expr high_part = p.high >> short_q;
    const Expr beyond = p.high >> min(max(q, bits) - bits, bits - 1);
    const Expr value = cast(t, select(q < bits, low_part, cast(p.low.type(), beyond)));
    const Expr sign = t.is_int() ? sign_mask(value) : make_zero(t);
    const Expr fits = q >= bits || high_part == sign;
    const Expr limit = t.is_int() ? select(p.high < make_zero(t), t.min(), t.max()) : t.max();
    // Adding one may leave the type only at its maximum.
    return select(fits, min(value, t.max() - extra) + extra, limit);
}

bool is_known_at_least(const Expr &q, int bits) {
    auto v = as_const_uint(q);
    return v && *v >= (uint64_t)bits;
}

}  // namespace

Expr lower_mul_shift_right(const Expr &a, const Expr &b, const Expr &q) {
    const Type t = a.type();
    if (t.bits() == 64) {
        const WideProduct p = multiply_64(a, b);
        return is_known_at_least(q, 64) ? p.high >> make_const(q.type(), std::min(*as_const_uint(q) - 64, (uint64_t)63)) :
                                          shift_right_saturated_128(p, q, make_zero(t));
    }
    const Expr product = widening_mul(a, b) >> widen(q);
    // The product of two n-bit numbers shifted by n fits in n bits.
    return is_known_at_least(q, t.bits()) ? cast(t, product) : saturating_cast(t, product);
}

Expr lower_rounding_mul_shift_right(const Expr &a, const Expr &b, const Expr &q) {
    const Type t = a.type();
    if (t.bits() == 64) {
        const WideProduct p = multiply_64(a, b);
        const Expr bits = make_const(q.type(), 64), one = make_one(q.type());
        const Expr before = max(q, one) - one;
        const Expr bit = select(before < bits, cast(t, low_bit(p.low >> min(before, bits - 1))),
                                cast(t, low_bit(p.high >> min(max(before, bits) - bits, bits - 1))));
        return shift_right_saturated_128(p, q, select(q > make_zero(q.type()), bit, make_zero(t)));
    }
    return saturating_cast(t, lower_rounding_shift_right(widening_mul(a, b), widen(q)));
}

// ---- Distance -------------------------------------------------------------------------------------------------------

Expr lower_absd(const Expr &a, const Expr &b) {
    const Type u = unsigned_of(a.type());
    return cast(u, max(a, b)) - cast(u, min(a, b));
}

Expr lower_abs(const Expr &a) {
    const Type t = a.type();
    if (t.is_float()) {
        const Type u = unsigned_of(t);
        return reinterpret(t, reinterpret(u, a) & make_const(u, ~(uint64_t)0 >> (65 - t.bits())));
    }
    if (t.is_uint()) {
        return a;
    }
    const Expr bits = cast(unsigned_of(t), a);
    return select(a < make_zero(t), make_zero(bits.type()) - bits, bits);
}

// ---- lerp -----------------------------------------------------------------------------------------------------------

namespace {

/// An integer weight of m bits as one of n bits: 2^m − 1 and 2^n − 1 are multiples of one another.
Expr rescale_weight(const Type &t, const Expr &weight) {
    const int m = weight.type().bits(), n = t.bits();
    const auto all_ones = [](int bits) { return ~(uint64_t)0 >> (64 - bits); };
    if (m <= n) {
        return cast(t, weight) * make_const(t, all_ones(n) / all_ones(m));
    }
    return cast(t, weight / make_const(weight.type(), all_ones(m) / all_ones(n)));
}

/// A float weight in [0, 1] as an integer of the range of t, truncated.
Expr quantize_weight(const Type &t, const Expr &weight) {
    const Type from = weight.type();
    const Type f = t.bits() == 32 || from.bits() == 64 ? Float(64, from.lanes()) : Float(32, from.lanes());
    return cast(t, make_const(f, (double)(~(uint64_t)0 >> (64 - t.bits()))) * cast(f, weight));
}

Expr lerp_float(const Type &t, const Expr &zero_val, const Expr &one_val, const Expr &weight) {
    Expr w = weight;
    if (w.type().is_uint()) {
        // In at least 32 bits, where the largest weight is (nearly) exact.
        const Type f = t.bits() >= 32 ? t : Float(32, t.lanes());
        w = cast(f, w) / make_const(f, ~(uint64_t)0 >> (64 - w.type().bits()));
    }
    w = cast(t, w);
    return zero_val * (make_one(t) - w) + one_val * w;
}

Expr lerp_integer(const Type &t, const Expr &zero_val, const Expr &one_val, const Expr &weight) {
    const int n = t.bits();
    const Type u = unsigned_of(t), wide = u.widen();
    const Expr w = weight.type().is_float() ? quantize_weight(u, weight) : rescale_weight(u, weight);
    const Expr bias = t.is_int() ? make_const(u, (uint64_t)1 << (n - 1)) : make_zero(u);
    const Expr a = cast(u, zero_val) ^ bias, b = cast(u, one_val) ^ bias;
    const Expr sum = widening_mul(a, ~w) + widening_mul(b, w);
    // sum ≤ M² with M = 2^n − 1. For t = sum + 2^(n−1), (t + ⌊t/2^n⌋) / 2^n = ⌊(sum + ⌊M/2⌋) / M⌋: if that quotient is k,
    // then kM + 1 ≤ t ≤ (k+1)M, and k − 1 ≤ ⌊t/2^n⌋ ≤ k makes the numerator lie in [k·2^n, (k+1)·2^n).
    const Expr biased = sum + make_const(wide, (uint64_t)1 << (n - 1));
    const Expr result = cast(u, (biased + (biased >> n)) >> n);
    return cast(t, result ^ bias);
}

}  // namespace

Expr lower_lerp(Type final_type, Expr zero_val, Expr one_val, const Expr &weight) {
    const Type t = zero_val.type();
    Expr result;
    if (t.is_bool()) {
        const Type w = weight.type();
        const Expr half = w.is_float() ? make_const(w, 0.5) : make_const(w, (~(uint64_t)0 >> (64 - w.bits())) / 2);
        result = select(weight > half, one_val, zero_val);
    } else if (t.is_float()) {
        result = lerp_float(t, zero_val, one_val, weight);
    } else {
        result = lerp_integer(t, zero_val, one_val, weight);
    }
    return cast(final_type, result);
}

// ---- Bits -----------------------------------------------------------------------------------------------------------

namespace {

uint64_t const_value(const Expr &e) {
    auto u = as_const_uint(e);
    return u ? *u : (uint64_t)*as_const_int(e);
}

/// v, or the largest value of a type that is too narrow for it.
Expr make_const_limit(const Type &t, int v) {
    return t.element_of().can_represent((int64_t)v) ? make_const(t, v) : t.max();
}

}  // namespace

Expr lower_extract_bits(const Call *op) {
    const Type t = op->type;
    Expr value = op->args[0];
    const Expr lsb = cast(op->args[1].type().with_bits(std::max(op->args[1].type().bits(), 8)), op->args[1]);
    const Type from = unsigned_of(value.type());
    value = value.type().is_float() ? reinterpret(from, value) : cast(from, value);
    // The wider type holds both the bits asked for and the bits that are there.
    const Type wide = from.with_bits(std::max(from.bits(), std::max(t.bits(), 8)));
    value = cast(wide, value);
    const Type amount = lsb.type().is_int() ? Int(wide.bits(), wide.lanes()) : wide;
    // Beyond the type there are zeros, which a shift by so much would not promise.
    Expr shifted = value >> cast(amount, lsb);
    if (!is_const(lsb)) {
        shifted = select(lsb < make_const_limit(lsb.type(), wide.bits()), shifted, make_zero(wide));
    } else if (const_value(lsb) >= (uint64_t)wide.bits()) {
        shifted = make_zero(wide);
    }
    const Expr bits = cast(unsigned_of(t), shifted);
    return t.is_float() ? reinterpret(t, bits) : cast(t, bits);
}

Expr lower_concat_bits(const Call *op) {
    const Type t = op->type, u = unsigned_of(t);
    const Type part = unsigned_of(op->args[0].type());
    Expr result;
    for (size_t i = 0; i < op->args.size(); i++) {
        Expr bits = op->args[i];
        bits = cast(u, bits.type().is_float() ? reinterpret(part, bits) : cast(part, bits));
        bits = i == 0 ? bits : bits << (part.bits() * (int)i);
        result = result.defined() ? result | bits : bits;
    }
    return t.is_float() ? reinterpret(t, result) : cast(t, result);
}

Expr lower_popcount(const Expr &e) {
    const Type t = unsigned_of(e.type());
    if (t.is_bool()) {
        return e;
    }
    const auto pattern = [&](uint64_t byte) { return make_const(t, byte * 0x0101010101010101); };
    Expr x = cast(t, e);
    // Sums of neighbours: of bits, of pairs, of nibbles; then of bytes.
    x = x - ((x >> 1) & pattern(0x55));
    x = (x & pattern(0x33)) + ((x >> 2) & pattern(0x33));
    x = (x + (x >> 4)) & pattern(0x0f);
    for (int shift = 8; shift < t.bits(); shift *= 2) {
        x = x + (x >> shift);
    }
    return cast(e.type(), x & make_const(t, 0x7f));
}

Expr lower_count_leading_zeros(const Expr &e) {
    const Type t = unsigned_of(e.type());
    if (t.is_bool()) {
        return ~e;
    }
    Expr x = cast(t, e);
    // Copies of the leading one in all places below it; the zeros left are the leading ones.
    for (int shift = 1; shift < t.bits(); shift *= 2) {
        x = x | (x >> shift);
    }
    return cast(e.type(), lower_popcount(~x));
}

Expr lower_count_trailing_zeros(const Expr &e) {
    const Type t = unsigned_of(e.type());
    if (t.is_bool()) {
        return ~e;
    }
    const Expr x = cast(t, e);
    return cast(e.type(), lower_popcount(~x & (x - make_one(t))));
}

// ---- Others ---------------------------------------------------------------------------------------------------------

Expr lower_mux(const Call *mux) {
    const Expr id = mux->args[0];
    const size_t count = mux->args.size() - 1;
    // Ids that the type cannot express are never equal.
    Expr result = mux->args[count];
    for (size_t i = count - 1; i-- > 0;) {
        if (id.type().element_of().can_represent((int64_t)i)) {
            result = select(id == make_const(id.type(), i), mux->args[i + 1], result);
        }
    }
    return result;
}

Expr lower_round_to_nearest_ties_to_even(const Expr &e) {
    const Type t = e.type();
    if (t.bits() == 16) {
        return cast(t, lower_round_to_nearest_ties_to_even(cast(Float(32, t.lanes()), e)));
    }
    // From 2^mantissa_bits on every float is an integer; adding and subtracting that number drops the fraction.
    const Type u = unsigned_of(t);
    const Expr magic = make_const(t, t.bits() == 32 ? 0x1p23 : 0x1p52);
    const Expr sign = reinterpret(u, e) & make_const(u, (uint64_t)1 << (t.bits() - 1));
    const Expr magnitude = reinterpret(t, reinterpret(u, e) ^ sign);
    const Expr sum = call(t, Call::strict_add, {magnitude, magic});
    const Expr rounded = call(t, Call::strict_sub, {sum, magic});
    const Expr is_small = call(Bool(t.lanes()), Call::strict_lt, {magnitude, magic});
    return reinterpret(t, reinterpret(u, select(is_small, rounded, magnitude)) | sign);
}

Expr lower_random_value(Type t, const std::vector<Expr> &parts) {
    internal_assert(!parts.empty()) << "A random value without anything to depend on";
    const Type u = UInt(32, t.lanes());
    const auto permute = [&](const Expr &x) {
        return (make_const(u, 1040796640u) * x + make_const(u, 1121052041u)) * x + make_const(u, 576942909u);
    };
    Expr r = permute(cast(u, parts[0]));
    for (size_t i = 1; i < parts.size(); i++) {
        r = permute(r + cast(u, parts[i]));
    }
    // The low bits repeat soonest.
    r = r ^ (r >> 16);
    if (t.is_float()) {
        const Expr one_to_two = (r >> 9) | make_const(u, 127u << 23);
        return reinterpret(Float(32, t.lanes()), one_to_two) - make_one(Float(32, t.lanes()));
    }
    return cast(t, r);
}

// ---- All of them ----------------------------------------------------------------------------------------------------

Expr lower_intrinsic(const Call *op) {
    const std::vector<Expr> &a = op->args;
    switch (op->intrinsic_op) {
    case Call::widen_right_add:
        return lower_widen_right_add(a[0], a[1]);
    case Call::widen_right_mul:
        return lower_widen_right_mul(a[0], a[1]);
    case Call::widen_right_sub:
        return lower_widen_right_sub(a[0], a[1]);
    case Call::widening_add:
        return lower_widening_add(a[0], a[1]);
    case Call::widening_mul:
        return lower_widening_mul(a[0], a[1]);
    case Call::widening_sub:
        return lower_widening_sub(a[0], a[1]);
    case Call::widening_shift_left:
        return lower_widening_shift_left(a[0], a[1]);
    case Call::widening_shift_right:
        return lower_widening_shift_right(a[0], a[1]);
    case Call::rounding_shift_left:
        return lower_rounding_shift_left(a[0], a[1]);
    case Call::rounding_shift_right:
        return lower_rounding_shift_right(a[0], a[1]);
    case Call::saturating_add:
        return lower_saturating_add(a[0], a[1]);
    case Call::saturating_sub:
        return lower_saturating_sub(a[0], a[1]);
    case Call::saturating_cast:
        return lower_saturating_cast(op->type, a[0]);
    case Call::halving_add:
        return lower_halving_add(a[0], a[1]);
    case Call::halving_sub:
        return lower_halving_sub(a[0], a[1]);
    case Call::rounding_halving_add:
        return lower_rounding_halving_add(a[0], a[1]);
    case Call::sorted_avg:
        return lower_sorted_avg(a[0], a[1]);
    case Call::mul_shift_right:
        return lower_mul_shift_right(a[0], a[1], a[2]);
    case Call::rounding_mul_shift_right:
        return lower_rounding_mul_shift_right(a[0], a[1], a[2]);
    case Call::absd:
        return lower_absd(a[0], a[1]);
    case Call::abs:
        return lower_abs(a[0]);
    case Call::lerp:
        return lower_lerp(op->type, a[0], a[1], a[2]);
    case Call::extract_bits:
        return lower_extract_bits(op);
    case Call::concat_bits:
        return lower_concat_bits(op);
    case Call::mux:
        return lower_mux(op);
    case Call::round:
        return lower_round_to_nearest_ties_to_even(a[0]);
    default:
        return Expr();
    }
}

namespace {

class LowerAll : public IRGraphMutator {
    using IRGraphMutator::visit;
    Expr visit(const Call *op) override {
        const Expr lowered = lower_intrinsic(op);
        return lowered.defined() ? mutate(lowered) : IRGraphMutator::visit(op);
    }
};

}  // namespace

Expr lower_intrinsics(const Expr &e) {
    return LowerAll().mutate(e);
}

Stmt lower_intrinsics(const Stmt &s) {
    return LowerAll().mutate(s);
}

}  // namespace Internal
}  // namespace Halide
