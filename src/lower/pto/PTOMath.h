#pragma once

/// Mathematical functions that the vector core has no instruction for, in terms of those that it has.

#include "ir/IR.h"

namespace Halide {
namespace Internal {

/// The call as arithmetic, selects, exp, log and sqrt in float32; undefined if it has no expansion. Within a few units in the
/// last place of float32 of the true value, and for sin, cos and tan of arguments below 2^15; those above lose digits. The
/// result is of the call's type.
Expr expand_pto_math(const Call *op);

}  // namespace Internal
}  // namespace Halide
