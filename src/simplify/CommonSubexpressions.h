#pragma once

#include "ir/Expr.h"

namespace Halide {
namespace Internal {

/// Gives every pure subexpression that occurs more than once a name (`t0`, `t1` … not used otherwise inside), bound by
/// lets around the expression, inner ones first.
///
/// In statements every expression of a statement node is treated by itself.
/// @param lift_all  names also what is cheap to repeat: x + c, casts, ramps and broadcasts.
Expr common_subexpression_elimination(const Expr &e, bool lift_all = false);
Stmt common_subexpression_elimination(const Stmt &s, bool lift_all = false);

}  // namespace Internal
}  // namespace Halide
