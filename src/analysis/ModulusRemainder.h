#pragma once

#include "ir/Expr.h"
#include "ir/ModulusRemainder.h"
#include "ir/Scope.h"

#include <cstdint>

namespace Halide {
namespace Internal {

/// What is known of an integer expression modulo some constant. For vectors it holds in every lane.
///
/// A modulus of 0 says that the value is `remainder` exactly; a modulus of 1 says nothing.
ModulusRemainder modulus_remainder(const Expr &e);
ModulusRemainder modulus_remainder(const Expr &e, const Scope<ModulusRemainder> &scope);

/// If e % modulus is a constant, stores it in `remainder`.
/// @returns whether it is.
bool reduce_expr_modulo(const Expr &e, int64_t modulus, int64_t *remainder);
bool reduce_expr_modulo(const Expr &e, int64_t modulus, int64_t *remainder, const Scope<ModulusRemainder> &scope);

/// The greatest common divisor and least common multiple of magnitudes; gcd(0, x) = |x|, lcm(0, x) = 0.
int64_t gcd(int64_t a, int64_t b);
int64_t lcm(int64_t a, int64_t b);

}  // namespace Internal
}  // namespace Halide
