#pragma once

/// Operations on whole words that fold constants and drop what does nothing, so that the formulas of SWAROps can be written
/// for the general case and are as short as can be where an operand is constant.

#include "ir/Expr.h"

#include <cstdint>

namespace Halide {
namespace Internal {

/// Whether e is this constant.
bool is_word(const Expr &e, uint64_t v);

Expr w_and(const Expr &a, const Expr &b);
Expr w_or(const Expr &a, const Expr &b);
Expr w_xor(const Expr &a, const Expr &b);
Expr w_not(const Expr &a);
Expr w_add(const Expr &a, const Expr &b);
Expr w_sub(const Expr &a, const Expr &b);
Expr w_mul(const Expr &a, const Expr &b);
Expr w_shl(const Expr &a, int k);
Expr w_shr(const Expr &a, int k);

/// Whether a · b ≤ most.
bool fits_product(uint64_t a, uint64_t b, uint64_t most);

}  // namespace Internal
}  // namespace Halide
