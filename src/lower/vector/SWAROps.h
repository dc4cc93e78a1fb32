#pragma once

/// Arithmetic on lanes packed in one integer word, as pure functions from words to words.
///
/// Lane i of a word is bits [i·b, (i+1)·b). Every function treats all lanes alike and lets nothing flow from one lane
/// into another. docs/swar.md lists the operations with their costs; the formulas stand above each definition.

#include "ir/Expr.h"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace Halide {
namespace Internal {

/// How lanes lie in a word.
struct LaneShape {
    int bits = 8;        ///< of one lane
    int lanes = 4;       ///< that count; the word may have room for more, whose contents mean nothing
    int word_bits = 32;  ///< 16, 32 or 64

    uint64_t word_mask() const { return word_bits == 64 ? ~(uint64_t)0 : ((uint64_t)1 << word_bits) - 1; }
    uint64_t lane_mask() const { return bits == 64 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1; }
    /// The value in every lane, those that do not count included.
    uint64_t each(uint64_t value) const;
    uint64_t ones() const { return each(1); }
    uint64_t high() const { return each((uint64_t)1 << (bits - 1)); }
    uint64_t low() const { return each(((uint64_t)1 << (bits - 1)) - 1); }
    /// Bits of the lanes that count.
    uint64_t live() const;
    /// Lanes 0, 2, 4 …
    uint64_t even() const;
    bool is_full() const { return bits * lanes == word_bits; }
    Type word_type() const;

    bool operator==(const LaneShape &o) const {
        return bits == o.bits && lanes == o.lanes && word_bits == o.word_bits;
    }
};

/// A word, and what is known of its lanes.
struct LaneWord {
    Expr word;           ///< UInt(shape.word_bits)
    LaneShape shape;
    uint64_t top = 0;    ///< no lane is greater, read as an unsigned number

    bool top_bit_clear() const { return top >> (shape.bits - 1) == 0; }
};

/// Builds words. A value that is used more than once gets a name, so that expressions stay as small as the code they
/// become.
class SWAROps {
public:
    /// @param unique_name  gives names for values.
    /// @param bit_moves    whether the target moves the bits of one word in one instruction (ir/BitMoves.h).
    SWAROps(std::function<std::string()> unique_name, bool bit_moves)
        : unique_name(std::move(unique_name)), bit_moves(bit_moves) {}

    /// Names with their values, in order of definition.
    std::vector<std::pair<std::string, Expr>> lets;

    /// e, or a variable that stands for it if it is neither a constant nor a variable.
    Expr name(const Expr &e);
    LaneWord name(LaneWord w) {
        w.word = name(w.word);
        return w;
    }

    static LaneWord constant(const LaneShape &s, uint64_t word);
    /// The low bits of a scalar integer in every lane. `top` bounds it.
    LaneWord broadcast(const LaneShape &s, const Expr &scalar, uint64_t top);

    // Bits
    LaneWord bit_and(const LaneWord &a, const LaneWord &b);
    LaneWord bit_or(const LaneWord &a, const LaneWord &b);
    LaneWord bit_xor(const LaneWord &a, const LaneWord &b);
    LaneWord bit_not(const LaneWord &a);

    // Modulo 2^bits
    LaneWord add(LaneWord a, LaneWord b);
    LaneWord sub(LaneWord a, LaneWord b);
    LaneWord negate(const LaneWord &a);
    /// By one scalar for all lanes, given as a word that holds it once; `factor_top` bounds it.
    LaneWord multiply(LaneWord a, const Expr &factor, uint64_t factor_top);
    /// By a constant for each lane.
    LaneWord multiply(const LaneWord &a, const std::vector<uint64_t> &factors);
    /// Quotient rounded down, by a constant > 0.
    LaneWord divide_unsigned(LaneWord a, uint64_t divisor);
    LaneWord divide_signed_floor(LaneWord a, uint64_t divisor);

    // Shifts; amounts are in 0 … bits−1
    LaneWord shift_left(const LaneWord &a, int amount);
    LaneWord shift_right(const LaneWord &a, int amount, bool is_signed);
    /// By one amount for all lanes that is known at run time only, a scalar of the word's type.
    LaneWord shift_left(LaneWord a, Expr amount);
    LaneWord shift_right(LaneWord a, Expr amount, bool is_signed);
    /// By a constant for each lane.
    LaneWord shift(const LaneWord &a, const std::vector<int> &amounts, bool left, bool is_signed);
    /// By an amount for each lane.
    LaneWord shift(LaneWord a, LaneWord amounts, bool left, bool is_signed);

    // Masks: every bit of a lane is set, or none
    LaneWord equal(LaneWord a, LaneWord b);
    LaneWord not_equal(LaneWord a, LaneWord b);
    LaneWord less(LaneWord a, LaneWord b, bool is_signed);
    /// From the lowest bit of each lane.
    LaneWord mask_of_low_bits(LaneWord a);
    LaneWord sign_mask(const LaneWord &a);
    LaneWord select(LaneWord mask, LaneWord t, LaneWord f);

    LaneWord min(LaneWord a, LaneWord b, bool is_signed);
    LaneWord max(LaneWord a, LaneWord b, bool is_signed);
    LaneWord abs(LaneWord a);
    LaneWord absd(LaneWord a, LaneWord b, bool is_signed);
    LaneWord saturating_add(LaneWord a, LaneWord b, bool is_signed);
    LaneWord saturating_sub(LaneWord a, LaneWord b, bool is_signed);
    LaneWord halving_add(LaneWord a, LaneWord b, bool is_signed);
    LaneWord rounding_halving_add(LaneWord a, LaneWord b, bool is_signed);
    LaneWord halving_sub(LaneWord a, LaneWord b, bool is_signed);

    LaneWord popcount(LaneWord a);
    LaneWord count_leading_zeros(LaneWord a);
    LaneWord count_trailing_zeros(LaneWord a);

    // Between lanes of different widths; the shape of the result has the same number of lanes
    LaneWord widen(LaneWord a, const LaneShape &to, bool is_signed);
    LaneWord narrow(LaneWord a, const LaneShape &to);
    /// The same for masks.
    LaneWord convert_mask(LaneWord a, const LaneShape &to);

    /// Lane i of the result is lane from[i] of a, for any a.shape. Lanes −1 are zero.
    LaneWord permute(LaneWord a, const LaneShape &to, const std::vector<int> &from);

    // All lanes that count in one scalar of the word's type, exact in `bits` of the lane for sums
    Expr sum(const LaneWord &a);
    /// The sum without overflow: lanes as unsigned numbers; at most 2^(2·bits) if there are two lanes or more.
    Expr wide_sum(LaneWord a);
    Expr any(const LaneWord &mask);
    Expr all(const LaneWord &mask);
    /// One lane, as an unsigned scalar of the word's type.
    Expr extract(const LaneWord &a, int lane);

private:
    std::function<std::string()> unique_name;
    const bool bit_moves;

    LaneWord make(const LaneShape &s, const Expr &word, uint64_t top) const;
    LaneWord make(const LaneShape &s, const Expr &word) const { return make(s, word, s.lane_mask()); }
    Expr word(const LaneShape &s, uint64_t v) const;
    Expr difference(const LaneWord &a, const LaneWord &b);
    Expr less_in_high_bit(LaneWord &a, LaneWord &b, bool is_signed);
    LaneWord spread_high_bit(const LaneShape &s, Expr h);
    LaneWord flip_sign(const LaneWord &a);
};

}  // namespace Internal
}  // namespace Halide
