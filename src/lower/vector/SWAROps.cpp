#include "lower/vector/SWAROps.h"

#include <algorithm>
#include <bit>
#include <map>

#include "ir/IR.h"
#include "ir/IREquality.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "lower/vector/WordArithmetic.h"
#include "support/Error.h"

namespace Halide {
namespace Internal {

namespace {

/// ⌊x / divisor⌋ = ((x + increment) · multiplier) >> shift for 0 ≤ x ≤ top.
struct Reciprocal {
    uint64_t multiplier = 0;
    int shift = 0;
    bool increment = false;
};

// Either the reciprocal rounded up serves, if its error times top stays below one unit in the quotient; or the one
// rounded down, with x + 1 in the place of x. The product must fit twice the bits of a lane.
Reciprocal find_reciprocal(uint64_t divisor, uint64_t top, int bits) {
    __extension__ typedef unsigned __int128 Wide;
    const Wide most = (((Wide)1 << (2 * bits - 1)) - 1) * 2 + 1;
    for (int s = bits; s <= 2 * bits; s++) {
        const Wide power = (Wide)1 << s;
        const Wide down = power / divisor, up = down + 1;
        const Wide too_much = up * divisor - power, too_little = power - down * divisor;
        if (too_much * top < power && up * top <= most) {
            return {(uint64_t)up, s, false};
        }
        if (too_little * ((Wide)top + 1) <= power && too_little > 0 && down * ((Wide)top + 1) <= most) {
            return {(uint64_t)down, s, true};
        }
    }
    internal_error << "No reciprocal of " << divisor << " for numbers up to " << top << "\n";
    return {};
}

}  // namespace

// ---- Shapes ---------------------------------------------------------------------------------------------------------

uint64_t LaneShape::each(uint64_t value) const {
    uint64_t w = 0;
    for (int at = 0; at + bits <= word_bits; at += bits) {
        w |= value << at;
    }
    return w;
}

uint64_t LaneShape::live() const {
    const int used = bits * lanes;
    return used == 64 ? ~(uint64_t)0 : ((uint64_t)1 << used) - 1;
}

uint64_t LaneShape::even() const {
    uint64_t w = 0;
    for (int at = 0; at + bits <= word_bits; at += 2 * bits) {
        w |= lane_mask() << at;
    }
    return w;
}

Type LaneShape::word_type() const {
    return UInt(word_bits);
}

Expr SWAROps::name(const Expr &e) {
    if (is_const(e) || e.as<Variable>()) {
        return e;
    }
    for (const auto &let : lets) {
        if (Halide::Internal::equal(let.second, e)) {
            return Variable::make(e.type(), let.first);
        }
    }
    lets.emplace_back(unique_name(), e);
    return Variable::make(e.type(), lets.back().first);
}

LaneWord SWAROps::make(const LaneShape &s, const Expr &word, uint64_t top) const {
    internal_assert(word.type() == s.word_type()) << "A word of " << s.word_bits << " bits has type " << word.type();
    return {word, s, std::min(top, s.lane_mask())};
}

Expr SWAROps::word(const LaneShape &s, uint64_t v) const {
    return make_const(s.word_type(), v & s.word_mask());
}

LaneWord SWAROps::constant(const LaneShape &s, uint64_t word) {
    uint64_t top = 0;
    for (int i = 0; i < s.lanes; i++) {
        top = std::max(top, (word >> (i * s.bits)) & s.lane_mask());
    }
    return {make_const(s.word_type(), word & s.word_mask()), s, top};
}

LaneWord SWAROps::broadcast(const LaneShape &s, const Expr &scalar, uint64_t top) {
    if (const auto c = as_const_uint(scalar)) {
        return constant(s, s.each(*c & s.lane_mask()));
    }
    Expr once = cast(s.word_type(), cast(UInt(s.bits), scalar));
    return make(s, w_mul(once, word(s, s.ones())), top);
}

// ---- Bits -----------------------------------------------------------------------------------------------------------

LaneWord SWAROps::bit_and(const LaneWord &a, const LaneWord &b) {
    return make(a.shape, w_and(a.word, b.word), std::min(a.top, b.top));
}

LaneWord SWAROps::bit_or(const LaneWord &a, const LaneWord &b) {
    const uint64_t either = a.top | b.top;
    return make(a.shape, w_or(a.word, b.word), either == 0 ? 0 : ~(uint64_t)0 >> std::countl_zero(either));
}

LaneWord SWAROps::bit_xor(const LaneWord &a, const LaneWord &b) {
    const uint64_t either = a.top | b.top;
    return make(a.shape, w_xor(a.word, b.word), either == 0 ? 0 : ~(uint64_t)0 >> std::countl_zero(either));
}

LaneWord SWAROps::bit_not(const LaneWord &a) {
    return make(a.shape, w_not(a.word));
}

LaneWord SWAROps::flip_sign(const LaneWord &a) {
    return make(a.shape, w_xor(a.word, word(a.shape, a.shape.high())));
}

// ---- Modulo 2^bits --------------------------------------------------------------------------------------------------

// The low bits of each lane are added without their top bits, so that no carry leaves the lane; top bits by xor.
LaneWord SWAROps::add(LaneWord a, LaneWord b) {
    const LaneShape s = a.shape;
    if (a.top <= s.lane_mask() - b.top) {
        return make(s, w_add(a.word, b.word), a.top + b.top);
    }
    a = name(a), b = name(b);
    const Expr high = word(s, s.high()), low = word(s, s.low());
    const Expr x = a.top_bit_clear() ? a.word : w_and(a.word, low);
    const Expr y = b.top_bit_clear() ? b.word : w_and(b.word, low);
    const Expr tops = b.top_bit_clear() ? w_and(a.word, high) :
                      a.top_bit_clear() ? w_and(b.word, high) :
                                          w_and(w_xor(a.word, b.word), high);
    return make(s, w_xor(w_add(x, y), tops));
}

// With the top bit of each lane set, subtracting what has none borrows nothing from the next lane. Bit b−1 of a lane
// of the difference is set if the low bits of a were not less than those of b.
Expr SWAROps::difference(const LaneWord &a, const LaneWord &b) {
    const LaneShape &s = a.shape;
    return w_sub(w_or(a.word, word(s, s.high())), b.top_bit_clear() ? b.word : w_and(b.word, word(s, s.low())));
}

LaneWord SWAROps::sub(LaneWord a, LaneWord b) {
    const LaneShape s = a.shape;
    if (b.top == 0) {
        return a;
    }
    if (const auto c = as_const_uint(a.word)) {
        bool borrows = false;
        for (int at = 0; at + s.bits <= s.word_bits; at += s.bits) {
            borrows = borrows || ((*c >> at) & s.lane_mask()) < b.top;
        }
        if (!borrows) {
            return make(s, w_sub(a.word, b.word), a.top);
        }
    }
    a = name(a), b = name(b);
    const Expr high = word(s, s.high());
    const Expr d = name(difference(a, b));
    if (a.top_bit_clear() && b.top_bit_clear()) {
        return make(s, w_xor(d, high));
    }
    // not (a xor b), where the not of a constant costs nothing.
    const Expr same = b.top_bit_clear() ? w_not(a.word) :
                      a.top_bit_clear() ? w_not(b.word) :
                      is_const(b.word)  ? w_xor(a.word, w_not(b.word)) :
                      is_const(a.word)  ? w_xor(w_not(a.word), b.word) :
                                          w_not(w_xor(a.word, b.word));
    return make(s, w_xor(d, w_and(same, high)));
}

LaneWord SWAROps::negate(const LaneWord &a) {
    return sub(constant(a.shape, 0), a);
}

// Products of neighbours would run into each other: even lanes and odd lanes are multiplied separately, each with room
// above for what leaves the lane.
LaneWord SWAROps::multiply(LaneWord a, const Expr &factor, uint64_t factor_top) {
    const LaneShape s = a.shape;
    if (fits_product(a.top, factor_top, s.lane_mask())) {
        return make(s, w_mul(a.word, factor), a.top * factor_top);
    }
    a = name(a);
    const Expr f = name(factor), even = word(s, s.even()), odd = word(s, ~s.even());
    Expr upper = w_mul(w_and(a.word, odd), f);
    if (2 * s.bits < s.word_bits) {
        upper = w_and(upper, odd);
    }
    return make(s, w_or(w_and(w_mul(w_and(a.word, even), f), even), upper));
}

LaneWord SWAROps::multiply(const LaneWord &operand, const std::vector<uint64_t> &factors) {
    const LaneShape s = operand.shape;
    if (std::all_of(factors.begin(), factors.end(), [&](uint64_t f) { return f == factors[0]; })) {
        if (std::has_single_bit(factors[0])) {
            return shift_left(operand, std::countr_zero(factors[0]));
        }
        return multiply(operand, word(s, factors[0]), factors[0]);
    }
    const LaneWord a = name(operand);
    std::map<std::pair<uint64_t, bool>, uint64_t> groups;
    for (int i = 0; i < s.lanes; i++) {
        groups[{factors[i], i % 2 == 1}] |= s.lane_mask() << (i * s.bits);
    }
    Expr result = word(s, 0);
    for (const auto &[key, lanes] : groups) {
        if (key.first != 0) {
            const Expr part = w_mul(w_and(a.word, word(s, lanes)), word(s, key.first));
            result = w_or(result, w_and(part, word(s, lanes)));
        }
    }
    return make(s, result);
}

// In lanes of twice the width, even and odd ones separately: by multiplication with the reciprocal and a shift.
LaneWord SWAROps::divide_unsigned(LaneWord a, uint64_t divisor) {
    const LaneShape s = a.shape;
    if (divisor > a.top) {
        return constant(s, 0);
    }
    if (std::has_single_bit(divisor)) {
        return shift_right(a, std::countr_zero(divisor), false);
    }
    a = name(a);
    const Reciprocal r = find_reciprocal(divisor, a.top, s.bits);
    const Expr even = word(s, s.even());
    const uint64_t wide_ones = s.even() / s.lane_mask();
    const Expr quotients = word(s, wide_ones * (~(uint64_t)0 >> std::countl_zero(a.top / divisor)));
    const auto product = [&](Expr x) {
        if (r.increment) {
            x = w_add(x, word(s, wide_ones));
        }
        return w_mul(x, word(s, r.multiplier));
    };
    const Expr low = w_and(w_shr(product(w_and(a.word, even)), r.shift), quotients);
    const Expr high = w_and(w_shr(product(w_and(w_shr(a.word, s.bits), even)), r.shift - s.bits),
                            w_shl(quotients, s.bits));
    return make(s, w_or(low, high), a.top / divisor);
}

// ⌊a / d⌋ of a negative a is not(⌊not(a) / d⌋), where not(a) = −a − 1 is not negative.
LaneWord SWAROps::divide_signed_floor(LaneWord a, uint64_t divisor) {
    if (std::has_single_bit(divisor)) {
        return shift_right(a, std::countr_zero(divisor), true);
    }
    if (a.top_bit_clear()) {
        return divide_unsigned(a, divisor);
    }
    a = name(a);
    const LaneWord sign = name(sign_mask(a));
    LaneWord magnitude = bit_xor(a, sign);
    magnitude.top = a.shape.lane_mask() >> 1;
    return bit_xor(divide_unsigned(magnitude, divisor), sign);
}

// ---- Shifts ---------------------------------------------------------------------------------------------------------

LaneWord SWAROps::shift_left(const LaneWord &a, int k) {
    const LaneShape &s = a.shape;
    if (k == 0) {
        return a;
    }
    if (a.top <= s.lane_mask() >> k) {
        return make(s, w_shl(a.word, k), a.top << k);
    }
    const uint64_t kept = (s.lane_mask() << k) & s.lane_mask();
    return make(s, w_and(w_shl(a.word, k), word(s, s.each(kept))), kept);
}

// Signed: with the sign flipped lanes are a + 2^(b−1) ≥ 0; shifted, that is too much by 2^(b−1−k).
LaneWord SWAROps::shift_right(const LaneWord &a, int k, bool is_signed) {
    const LaneShape &s = a.shape;
    if (k == 0) {
        return a;
    }
    const Expr kept = word(s, s.each(s.lane_mask() >> k));
    if (!is_signed || a.top_bit_clear()) {
        return make(s, w_and(w_shr(a.word, k), kept), a.top >> k);
    }
    if (k >= s.bits - 1) {
        return sign_mask(a);
    }
    const uint64_t half = (uint64_t)1 << (s.bits - 1);
    const Expr shifted = w_and(w_shr(flip_sign(a).word, k), kept);
    return make(s, w_xor(w_add(shifted, word(s, s.each(half - (half >> k)))), word(s, s.high())));
}

// The mask of the bits that stay is made by the same shift: 2^n in each lane minus 1 in each lane.
LaneWord SWAROps::shift_left(LaneWord a, Expr n) {
    const LaneShape s = a.shape;
    n = name(n);
    const Expr ones = word(s, s.ones());
    const Expr lost = w_sub(ones << n, ones);
    return make(s, w_and(a.word << n, w_not(lost)));
}

LaneWord SWAROps::shift_right(LaneWord a, Expr n, bool is_signed) {
    const LaneShape s = a.shape;
    n = name(n);
    const Expr high = word(s, s.high());
    // 2^(b−1−n) in each lane.
    const Expr half = name(high >> n);
    const Expr kept = w_sub(w_shl(half, 1), word(s, s.ones()));
    if (!is_signed || a.top_bit_clear()) {
        return make(s, w_and(a.word >> n, kept), a.top);
    }
    const Expr shifted = w_and(flip_sign(a).word >> n, kept);
    return make(s, w_xor(w_add(shifted, w_sub(high, half)), high));
}

LaneWord SWAROps::shift(const LaneWord &operand, const std::vector<int> &amounts, bool left, bool is_signed) {
    const LaneShape s = operand.shape;
    if (std::all_of(amounts.begin(), amounts.end(), [&](int k) { return k == amounts[0]; })) {
        return left ? shift_left(operand, amounts[0]) : shift_right(operand, amounts[0], is_signed);
    }
    is_signed = is_signed && !left && !operand.top_bit_clear();
    const LaneWord a = name(is_signed ? flip_sign(operand) : operand);
    const uint64_t half = (uint64_t)1 << (s.bits - 1);
    std::map<int, uint64_t> groups;
    uint64_t correction = 0;
    for (int i = 0; i < s.lanes; i++) {
        const int k = amounts[i];
        const uint64_t kept = left ? (s.lane_mask() << k) & s.lane_mask() : s.lane_mask() >> k;
        groups[k] |= kept << (i * s.bits);
        correction |= (half - (half >> k)) << (i * s.bits);
    }
    Expr result = word(s, 0);
    for (const auto &[k, kept] : groups) {
        result = w_or(result, w_and(left ? w_shl(a.word, k) : w_shr(a.word, k), word(s, kept)));
    }
    if (is_signed) {
        result = w_xor(w_add(result, word(s, correction)), word(s, s.high()));
    }
    return make(s, result, left || is_signed ? s.lane_mask() : operand.top);
}

// One step for each bit of the amounts, by a power of two where that bit is set.
LaneWord SWAROps::shift(LaneWord a, LaneWord amounts, bool left, bool is_signed) {
    const LaneShape s = a.shape;
    amounts = name(amounts);
    for (int j = 0; (1 << j) < s.bits && amounts.top >> j; j++) {
        a = name(a);
        const Expr bit = w_and(w_shr(amounts.word, j), word(s, s.ones()));
        const LaneWord moved = left ? shift_left(a, 1 << j) : shift_right(a, 1 << j, is_signed);
        a = select(mask_of_low_bits(make(s, bit, 1)), moved, a);
    }
    return a;
}

// ---- Masks ----------------------------------------------------------------------------------------------------------

// h has bit b−1 of lanes only: 2·2^(b−1) − 1 where it is set.
LaneWord SWAROps::spread_high_bit(const LaneShape &s, Expr h) {
    h = name(h);
    return make(s, w_sub(w_shl(h, 1), w_shr(h, s.bits - 1)));
}

LaneWord SWAROps::sign_mask(const LaneWord &a) {
    return spread_high_bit(a.shape, w_and(a.word, word(a.shape, a.shape.high())));
}

LaneWord SWAROps::mask_of_low_bits(LaneWord a) {
    const LaneShape &s = a.shape;
    const Expr bit = name(a.top <= 1 ? a.word : w_and(a.word, word(s, s.ones())));
    return make(s, w_sub(w_shl(bit, s.bits), bit));
}

// Adding 2^(b−1) − 1 to the low bits of a lane sets its top bit unless they are all zero.
LaneWord SWAROps::not_equal(LaneWord a, LaneWord b) {
    const LaneShape s = a.shape;
    const Expr low = word(s, s.low()), high = word(s, s.high());
    const Expr z = name(w_xor(a.word, b.word));
    if (a.top_bit_clear() && b.top_bit_clear()) {
        return spread_high_bit(s, w_and(w_add(z, low), high));
    }
    return spread_high_bit(s, w_and(w_or(w_add(w_and(z, low), low), z), high));
}

LaneWord SWAROps::equal(LaneWord a, LaneWord b) {
    const LaneShape s = a.shape;
    const Expr low = word(s, s.low()), high = word(s, s.high());
    const Expr z = name(w_xor(a.word, b.word));
    if (a.top_bit_clear() && b.top_bit_clear()) {
        return spread_high_bit(s, w_and(w_not(w_add(z, low)), high));
    }
    return spread_high_bit(s, w_and(w_not(w_or(w_add(w_and(z, low), low), z)), high));
}

// a < b: the top bits decide if they differ, else the low bits, whose comparison is bit b−1 of the difference.
Expr SWAROps::less_in_high_bit(LaneWord &a, LaneWord &b, bool is_signed) {
    const LaneShape s = a.shape;
    const Expr high = word(s, s.high());
    if (is_signed && b.top == 0) {
        return w_and(a.word, high);
    }
    a = name(a), b = name(b);
    const Expr d = name(difference(a, b));
    const bool a_clear = a.top_bit_clear(), b_clear = b.top_bit_clear();
    if (a_clear && b_clear) {
        return w_and(w_not(d), high);
    }
    if (b_clear) {
        return is_signed ? w_and(w_or(a.word, w_not(d)), high) : w_and(w_not(w_or(a.word, d)), high);
    }
    if (a_clear) {
        return is_signed ? w_and(w_not(w_or(b.word, d)), high) : w_and(w_or(b.word, w_not(d)), high);
    }
    const Expr x = name(w_xor(a.word, b.word));
    return w_and(w_or(w_and(x, is_signed ? a.word : b.word), w_not(w_or(x, d))), high);
}

LaneWord SWAROps::less(LaneWord a, LaneWord b, bool is_signed) {
    const Expr h = less_in_high_bit(a, b, is_signed);
    return spread_high_bit(a.shape, h);
}

LaneWord SWAROps::select(LaneWord mask, LaneWord t, LaneWord f) {
    const LaneShape s = t.shape;
    const uint64_t all = s.word_mask();
    const uint64_t top = std::max(t.top, f.top);
    if (is_word(f.word, 0)) {
        return make(s, w_and(t.word, mask.word), t.top);
    }
    if (is_word(t.word, 0)) {
        return make(s, w_and(f.word, w_not(mask.word)), f.top);
    }
    if (is_word(t.word, all)) {
        return make(s, w_or(f.word, mask.word));
    }
    if (is_word(f.word, all)) {
        return make(s, w_or(t.word, w_not(mask.word)));
    }
    if (is_const(mask.word)) {
        return make(s, w_or(w_and(t.word, mask.word), w_and(f.word, w_not(mask.word))), top);
    }
    f = name(f);
    return make(s, w_xor(f.word, w_and(w_xor(t.word, f.word), mask.word)), top);
}

// ---- What comparisons and masks give --------------------------------------------------------------------------------

LaneWord SWAROps::min(LaneWord a, LaneWord b, bool is_signed) {
    a = name(a), b = name(b);
    LaneWord r = select(less(a, b, is_signed), a, b);
    r.top = is_signed && !(a.top_bit_clear() && b.top_bit_clear()) ? r.top : std::min(a.top, b.top);
    return r;
}

LaneWord SWAROps::max(LaneWord a, LaneWord b, bool is_signed) {
    a = name(a), b = name(b);
    return select(less(a, b, is_signed), b, a);
}

// not(a) + 1 where a is negative: at most 2^(b−1), so that no carry leaves the lane.
LaneWord SWAROps::abs(LaneWord a) {
    const LaneShape s = a.shape;
    if (a.top_bit_clear()) {
        return a;
    }
    a = name(a);
    const Expr h = name(w_and(a.word, word(s, s.high())));
    const Expr one = name(w_shr(h, s.bits - 1));
    const Expr mask = w_sub(w_shl(h, 1), one);
    return make(s, w_add(w_xor(a.word, mask), one), (uint64_t)1 << (s.bits - 1));
}

// a − b negated where a < b, that is where it is not zero: no carry leaves the lane.
LaneWord SWAROps::absd(LaneWord a, LaneWord b, bool is_signed) {
    const LaneShape s = a.shape;
    a = name(a), b = name(b);
    const LaneWord m = name(less(a, b, is_signed));
    const LaneWord d = sub(a, b);
    return make(s, w_add(w_xor(d.word, m.word), w_and(m.word, word(s, s.ones()))));
}

LaneWord SWAROps::saturating_add(LaneWord a, LaneWord b, bool is_signed) {
    const LaneShape s = a.shape;
    const Expr high = word(s, s.high());
    if (a.top <= (is_signed ? s.lane_mask() >> 1 : s.lane_mask()) && b.top <= (s.lane_mask() >> is_signed) - a.top) {
        return add(a, b);
    }
    a = name(a), b = name(b);
    const LaneWord r = name(add(a, b));
    if (!is_signed) {
        // A carry leaves the lane if both top bits are set, or one of them and the sum's is not.
        const Expr carry = w_and(w_or(w_and(a.word, b.word), w_and(w_or(a.word, b.word), w_not(r.word))), high);
        return make(s, w_or(r.word, spread_high_bit(s, carry).word));
    }
    // Operands of one sign, and a sum of the other.
    const Expr overflow = w_and(w_and(w_not(w_xor(a.word, b.word)), w_xor(a.word, r.word)), high);
    const Expr limit = w_add(w_shr(w_and(a.word, high), s.bits - 1), word(s, s.low()));
    return select(spread_high_bit(s, overflow), make(s, limit), r);
}

LaneWord SWAROps::saturating_sub(LaneWord a, LaneWord b, bool is_signed) {
    const LaneShape s = a.shape;
    const Expr high = word(s, s.high());
    a = name(a), b = name(b);
    if (!is_signed) {
        const LaneWord less_mask = less(a, b, false);
        return make(s, w_and(sub(a, b).word, w_not(less_mask.word)), a.top);
    }
    const LaneWord r = name(sub(a, b));
    const Expr overflow = w_and(w_and(w_xor(a.word, b.word), w_xor(a.word, r.word)), high);
    const Expr limit = w_add(w_shr(w_and(a.word, high), s.bits - 1), word(s, s.low()));
    return select(spread_high_bit(s, overflow), make(s, limit), r);
}

// a + b = 2·(a and b) + (a xor b). Signed lanes count from −2^(b−1): flipping the sign adds that to both, and to half of
// the sum.
LaneWord SWAROps::halving_add(LaneWord a, LaneWord b, bool is_signed) {
    const LaneShape s = a.shape;
    const bool flip = is_signed && !(a.top_bit_clear() && b.top_bit_clear());
    a = name(flip ? flip_sign(a) : a), b = name(flip ? flip_sign(b) : b);
    const Expr half = w_and(w_shr(w_xor(a.word, b.word), 1), word(s, s.low()));
    const LaneWord r = make(s, w_add(w_and(a.word, b.word), half), a.top / 2 + b.top / 2 + (a.top & b.top & 1));
    return flip ? flip_sign(r) : r;
}

// a + b + 1 = 2·(a or b) − (a xor b) + 1
LaneWord SWAROps::rounding_halving_add(LaneWord a, LaneWord b, bool is_signed) {
    const LaneShape s = a.shape;
    const bool flip = is_signed && !(a.top_bit_clear() && b.top_bit_clear());
    a = name(flip ? flip_sign(a) : a), b = name(flip ? flip_sign(b) : b);
    const Expr half = w_and(w_shr(w_xor(a.word, b.word), 1), word(s, s.low()));
    const LaneWord r = make(s, w_sub(w_or(a.word, b.word), half), a.top / 2 + b.top / 2 + ((a.top | b.top) & 1));
    return flip ? flip_sign(r) : r;
}

// a − b = (a xor b) − 2·(not(a) and b)
LaneWord SWAROps::halving_sub(LaneWord a, LaneWord b, bool is_signed) {
    const LaneShape s = a.shape;
    const bool flip = is_signed && !(a.top_bit_clear() && b.top_bit_clear());
    a = name(flip ? flip_sign(a) : a), b = name(flip ? flip_sign(b) : b);
    const Expr half = w_and(w_shr(w_xor(a.word, b.word), 1), word(s, s.low()));
    return sub(make(s, half, s.lane_mask() >> 1), make(s, w_and(w_not(a.word), b.word)));
}

}  // namespace Internal
}  // namespace Halide
