#pragma once

#include "analysis/ConstantInterval.h"
#include "ir/Expr.h"
#include "ir/Scope.h"

#include <ostream>
#include <string>

namespace Halide {
namespace Internal {

/// How an expression moves if a variable grows.
enum class Monotonic { Constant,
                       Increasing,  ///< never falls
                       Decreasing,  ///< never rises
                       Unknown };

/// Monotonicity of `e` in `var`. `scope` holds the derivative of other names with respect to `var` (absent: constant).
Monotonic is_monotonic(const Expr &e, const std::string &var,
                       const Scope<ConstantInterval> &scope = Scope<ConstantInterval>::empty_scope());
Monotonic is_monotonic(const Expr &e, const std::string &var, const Scope<Monotonic> &scope);

/// Bounds of e(var + 1) - e(var), for scalars; for booleans, false counts 0 and true counts 1.
ConstantInterval derivative_bounds(const Expr &e, const std::string &var,
                                   const Scope<ConstantInterval> &scope = Scope<ConstantInterval>::empty_scope());

std::ostream &operator<<(std::ostream &stream, const Monotonic &m);

}  // namespace Internal
}  // namespace Halide
