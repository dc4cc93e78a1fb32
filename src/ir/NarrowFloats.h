#pragma once

#include "ir/Expr.h"

namespace Halide {

/// @name Floats of 8 and 4 bits
/// The language has no types for them: they are bytes (UInt(8)) in memory, converted where they are used. Conversions
/// to them round to nearest, ties to even, and clamp what is beyond the largest finite value, infinities included.
/// Every target has them; PTO makes them one instruction.
/// @{

/// e4m3 as in OCP's 8-bit formats: bias 7, largest 448, no infinity, NaN is 0x7f and 0xff.
Expr fp8_e4m3_to_float(Expr code);
Expr float_to_fp8_e4m3(Expr x);
/// e5m2: the upper half of a float16. Largest 57344; has infinities.
Expr fp8_e5m2_to_float(Expr code);
Expr float_to_fp8_e5m2(Expr x);

/// e2m1: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives; two per byte, the first in the low nibble.
///
/// @param codes  the byte (UInt(8)).
/// @param which  its first value if even, its second if odd: with n values per row, f(x) is in byte x / 2, value x % 2.
Expr fp4_e2m1_to_float(Expr codes, Expr which);
/// Both are rounded to bfloat16 first; NaN becomes zero.
Expr float_to_fp4_e2m1(Expr first, Expr second);
/// e1m2: 0, 0.25, … 1.75 and their negatives.
Expr fp4_e1m2_to_float(Expr codes, Expr which);
Expr float_to_fp4_e1m2(Expr first, Expr second);
/// @}

namespace Internal {

struct Call;

/// The meaning of one of these calls in simpler operations; undefined if it is another one.
Expr lower_narrow_float(const Call *op);

/// Replaces all of them.
Stmt lower_narrow_floats(const Stmt &s);

}  // namespace Internal
}  // namespace Halide
