#pragma once

#include "ir/Expr.h"
#include "ir/IR.h"
#include "ir/Type.h"

#include <cstdint>
#include <vector>

namespace Halide {
namespace Internal {

/// The meaning of an intrinsic call in simpler operations, correct bit for bit; undefined if it has no expansion.
Expr lower_intrinsic(const Call *op);

/// Expands every intrinsic that has an expansion.
Expr lower_intrinsics(const Expr &e);
Stmt lower_intrinsics(const Stmt &s);

/// @name Expansions of single intrinsics. The operands have the types that the builders give them.
/// @{
Expr lower_widen_right_add(const Expr &a, const Expr &b);
Expr lower_widen_right_mul(const Expr &a, const Expr &b);
Expr lower_widen_right_sub(const Expr &a, const Expr &b);
Expr lower_widening_add(const Expr &a, const Expr &b);
Expr lower_widening_mul(const Expr &a, const Expr &b);
Expr lower_widening_sub(const Expr &a, const Expr &b);
Expr lower_widening_shift_left(const Expr &a, const Expr &b);
Expr lower_widening_shift_right(const Expr &a, const Expr &b);
Expr lower_rounding_shift_left(const Expr &a, const Expr &b);
Expr lower_rounding_shift_right(const Expr &a, const Expr &b);
Expr lower_saturating_add(const Expr &a, const Expr &b);
Expr lower_saturating_sub(const Expr &a, const Expr &b);
Expr lower_saturating_cast(const Type &t, const Expr &a);
Expr lower_halving_add(const Expr &a, const Expr &b);
Expr lower_halving_sub(const Expr &a, const Expr &b);
Expr lower_rounding_halving_add(const Expr &a, const Expr &b);
Expr lower_sorted_avg(const Expr &a, const Expr &b);
Expr lower_mul_shift_right(const Expr &a, const Expr &b, const Expr &q);
Expr lower_rounding_mul_shift_right(const Expr &a, const Expr &b, const Expr &q);
Expr lower_absd(const Expr &a, const Expr &b);
Expr lower_abs(const Expr &a);
/// @}

/// Shifts by amounts of any sign, in shifts by unsigned amounts.
Expr lower_signed_shift_left(const Expr &a, const Expr &b);
Expr lower_signed_shift_right(const Expr &a, const Expr &b);

/// `zero` and `one` have type final_type's width; see the language reference for the rounding.
Expr lower_lerp(Type final_type, Expr zero_val, Expr one_val, const Expr &weight);

/// a / b and a % b of the language (remainder not negative, division by zero gives zero) in div_round_to_zero and
/// mod_round_to_zero, which have no defined value for zero divisors.
Expr lower_euclidean_div(Expr a, Expr b);
Expr lower_euclidean_mod(Expr a, Expr b);

/// The same for constant divisors: by multiplication and shifts. No division remains.
Expr lower_int_uint_div(const Expr &a, const Expr &b, bool round_to_zero = false);
Expr lower_int_uint_mod(const Expr &a, const Expr &b);

/// Float remainder: a − b · floor(a / b).
Expr lower_float_mod(const Expr &a, const Expr &b);

Expr lower_mux(const Call *mux);
Expr lower_extract_bits(const Call *op);
Expr lower_concat_bits(const Call *op);

/// round: ties to even, in operations every target has.
Expr lower_round_to_nearest_ties_to_even(const Expr &e);

Expr lower_popcount(const Expr &e);
Expr lower_count_leading_zeros(const Expr &e);
Expr lower_count_trailing_zeros(const Expr &e);

/// A random value of the type given by its parts: seed (optional), call, definition, coordinates.
Expr lower_random_value(Type t, const std::vector<Expr> &parts);

/// @name Constant division of unsigned numbers by multiplication
/// @{
/// ⌊a / d⌋ = ((a >> pre_shift) · multiplier) >> shift, with the product in twice the width. If multiplier_is_wide, the
/// true multiplier is 2^bits + multiplier. A power of two has multiplier 0: only pre_shift is done.
struct DivisionMagic {
    uint64_t multiplier = 0;
    bool multiplier_is_wide = false;
    int pre_shift = 0;
    int shift = 0;
};

/// @param numerator_bits  the numerators are below 2^numerator_bits …
/// @param bits            … and have a type of so many bits, up to 64.
/// @param d               at least 1.
DivisionMagic find_division_magic(int numerator_bits, int bits, uint64_t d);
/// @}

}  // namespace Internal
}  // namespace Halide
