#pragma once

#include "ir/Expr.h"

namespace Halide {
namespace Internal {

/// Finds the fixed-point intrinsics that plain vector arithmetic stands for: widening_add, widening_sub, widening_mul,
/// halving_add, halving_sub, rounding_halving_add, rounding_shift_right, saturating_add, saturating_sub,
/// saturating_cast, mul_shift_right, rounding_mul_shift_right, absd.
///
/// Needs:     any level at which loops are vectorized. Scalars are left alone: their users see plain arithmetic.
/// Gives:     the same level.
/// Keeps:     every value, bit for bit; types of all expressions.
/// Example:   uint8x16((uint16x16(a) + uint16x16(b) + 1) / 2)   →   rounding_halving_add(a, b)
Expr find_intrinsics(const Expr &e);
Stmt find_intrinsics(const Stmt &s);

}  // namespace Internal
}  // namespace Halide
