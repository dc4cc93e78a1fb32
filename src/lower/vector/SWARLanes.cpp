/// The part of SWAROps that counts bits in lanes, moves lanes, and combines all of a word.

#include "lower/vector/SWAROps.h"

#include <algorithm>
#include <bit>
#include <map>

#include "ir/BitMoves.h"
#include "ir/IROperator.h"
#include "lower/vector/WordArithmetic.h"

namespace Halide {
namespace Internal {

// ---- Counts ---------------------------------------------------------------------------------------------------------

namespace {

/// Fields of 2k bits whose low k bits are set.
uint64_t low_fields(int k) {
    uint64_t w = 0;
    for (int at = 0; at < 64; at += 2 * k) {
        w |= ((((uint64_t)1 << k) - 1)) << at;
    }
    return w;
}

}  // namespace

// Fields of 2, 4, 8 … bits up to the lane hold the counts of their bits.
LaneWord SWAROps::popcount(LaneWord a) {
    const LaneShape s = a.shape;
    a = name(a);
    Expr w = w_sub(a.word, w_and(w_shr(a.word, 1), word(s, low_fields(1))));
    w = name(w);
    w = name(w_add(w_and(w, word(s, low_fields(2))), w_and(w_shr(w, 2), word(s, low_fields(2)))));
    for (int k = 4; k < s.bits; k *= 2) {
        // The counts fit the lower half of their fields from here on.
        w = name(w_and(w_add(w, w_shr(w, k)), word(s, low_fields(k))));
    }
    return make(s, w, (uint64_t)s.bits);
}

// Below the highest bit set everything is set; the rest are the zeros above.
LaneWord SWAROps::count_leading_zeros(LaneWord a) {
    for (int k = 1; k < a.shape.bits; k *= 2) {
        a = name(a);
        a = bit_or(a, shift_right(a, k, false));
    }
    return popcount(bit_not(a));
}

// not(a) and (a − 1): the zeros below the lowest bit set.
LaneWord SWAROps::count_trailing_zeros(LaneWord a) {
    a = name(a);
    const LaneWord less_one = add(a, constant(a.shape, a.shape.word_mask()));
    return popcount(bit_and(bit_not(a), less_one));
}

// ---- Widths ---------------------------------------------------------------------------------------------------------

namespace {

int lanes_rounded_up(int lanes) {
    return (int)std::bit_ceil((unsigned)lanes);
}

/// Blocks of `block` bits, one every `stride` bits.
uint64_t blocks(int block, int stride, int word_bits) {
    uint64_t w = 0;
    for (int at = 0; at < word_bits; at += stride) {
        w |= (block >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << block) - 1) << at;
    }
    return w;
}

}  // namespace

// The upper half of the lanes moves to its place, then the upper halves of both halves, and so on; or all at once, where
// that is an instruction.
LaneWord SWAROps::widen(LaneWord a, const LaneShape &to, bool is_signed) {
    const LaneShape from = a.shape;
    const bool flip = is_signed && !a.top_bit_clear();
    if (flip) {
        a = flip_sign(a);
    }
    Expr w = a.word;
    const int lanes = lanes_rounded_up(to.lanes);
    const bool at_once = bit_moves && to.word_bits >= 32;
    if (!from.is_full() && !at_once) {
        w = w_and(w, word(from, from.live()));
    }
    w = cast(to.word_type(), w);
    if (at_once) {
        w = scatter_bits(w, blocks(from.bits, to.bits, to.bits * to.lanes));
    }
    const int grown = to.bits - from.bits;
    for (int half = at_once ? 0 : lanes / 2; half >= 1; half /= 2) {
        w = name(w);
        w = w_and(w_or(w, w_shl(w, half * grown)), word(to, blocks(half * from.bits, half * to.bits, to.word_bits)));
    }
    if (!flip) {
        return make(to, w, a.top);
    }
    const uint64_t sign = (uint64_t)1 << (to.bits - 1), old_sign = (uint64_t)1 << (from.bits - 1);
    return make(to, w_xor(w_add(w, word(to, to.each(sign - old_sign))), word(to, to.high())));
}

LaneWord SWAROps::narrow(LaneWord a, const LaneShape &to) {
    const LaneShape from = a.shape;
    const int shrunk = from.bits - to.bits;
    if (bit_moves && from.word_bits >= 32) {
        const Expr w = gather_bits(a.word, blocks(to.bits, from.bits, from.bits * from.lanes));
        return make(to, cast(to.word_type(), w), a.top);
    }
    Expr w = a.word;
    if (a.top > to.lane_mask()) {
        w = w_and(w, word(from, from.each(to.lane_mask())));
    }
    const int last = lanes_rounded_up(to.lanes) / 2;
    for (int half = 1; half <= last; half *= 2) {
        w = name(w);
        w = w_or(w, w_shr(w, half * shrunk));
        if (half < last) {
            w = w_and(w, word(from, blocks(2 * half * to.bits, 2 * half * from.bits, from.word_bits)));
        }
    }
    return make(to, cast(to.word_type(), w), a.top);
}

LaneWord SWAROps::convert_mask(LaneWord a, const LaneShape &to) {
    if (a.shape == to) {
        return a;
    }
    if (const auto c = as_const_uint(a.word)) {
        uint64_t w = 0;
        for (int i = 0; i < to.lanes; i++) {
            w |= (*c >> (i * a.shape.bits)) & 1 ? to.lane_mask() << (i * to.bits) : 0;
        }
        return constant(to, w);
    }
    return a.shape.bits > to.bits ? narrow(a, to) : mask_of_low_bits(widen(a, to, false));
}

LaneWord SWAROps::permute(LaneWord a, const LaneShape &to, const std::vector<int> &from) {
    const int b = to.bits;
    LaneShape wide = a.shape.word_bits > to.word_bits ? a.shape : to;
    wide.bits = b;
    const Expr w = name(cast(wide.word_type(), a.word));
    std::map<int, uint64_t> groups;
    for (int i = 0; i < (int)from.size(); i++) {
        if (from[i] >= 0) {
            groups[i - from[i]] |= to.lane_mask() << (from[i] * b);
        }
    }
    Expr result = word(wide, 0);
    for (const auto &[distance, lanes] : groups) {
        // What the shift drops, or what lies outside of the source, need not be masked.
        const uint64_t present = a.shape.bits * a.shape.lanes == 64 ? ~(uint64_t)0 : a.shape.live();
        const int k = std::abs(distance) * b;
        const uint64_t survives = distance >= 0 ? (wide.word_mask() >> k) : (wide.word_mask() >> k) << k;
        const bool whole = (present & survives & ~lanes) == 0;
        const Expr part = whole ? w : w_and(w, word(wide, lanes));
        result = w_or(result, distance >= 0 ? w_shl(part, k) : w_shr(part, k));
    }
    return make(to, cast(to.word_type(), result), a.top);
}

// ---- Across lanes ---------------------------------------------------------------------------------------------------

// Neighbours are added in lanes of twice the width; then one multiplication by 1 in each such lane leaves the sum of
// all in the highest.
Expr SWAROps::wide_sum(LaneWord a) {
    const LaneShape s = a.shape;
    Expr w = name(s.is_full() ? a.word : w_and(a.word, word(s, s.live())));
    const int count = s.word_bits / s.bits;
    if (fits_product(a.top, (uint64_t)s.lanes, s.lane_mask())) {
        return w_shr(w_mul(w, word(s, s.ones())), s.word_bits - s.bits);
    }
    const Expr even = word(s, s.even());
    w = w_add(w_and(w, even), w_and(w_shr(w, s.bits), even));
    if (count > 2) {
        w = w_shr(w_mul(w, word(s, s.even() / s.lane_mask())), s.word_bits - 2 * s.bits);
    }
    return w;
}

Expr SWAROps::sum(const LaneWord &a) {
    const LaneShape &s = a.shape;
    if (s.lanes == 2) {
        const Expr w = name(a.word);
        return w_add(w, w_shr(w, s.bits));
    }
    return wide_sum(a);
}

Expr SWAROps::any(const LaneWord &mask) {
    const LaneShape &s = mask.shape;
    return w_and(mask.word, word(s, s.live())) != make_zero(s.word_type());
}

Expr SWAROps::all(const LaneWord &mask) {
    const LaneShape &s = mask.shape;
    return w_and(mask.word, word(s, s.live())) == word(s, s.live());
}

Expr SWAROps::extract(const LaneWord &a, int lane) {
    const LaneShape &s = a.shape;
    const Expr w = w_shr(a.word, lane * s.bits);
    return (lane + 1) * s.bits == s.word_bits ? w : w_and(w, make_const(s.word_type(), s.lane_mask()));
}

}  // namespace Internal
}  // namespace Halide
