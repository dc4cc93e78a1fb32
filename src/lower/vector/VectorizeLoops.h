#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Turns loops marked vectorized into vector statements.
///
/// Needs:     Level::Unrolled. Extents of vectorized loops simplify to constants.
/// Gives:     Level::Vectors. No loop is marked vectorized; statement conditions are scalar.
/// Position:  after unroll-loops (an unrolled loop inside must be gone); before partition-loops, which cuts off tails.
/// Keeps:     values bit for bit, except float reductions under `atomic()`. What cannot be a vector statement runs as a
///            serial loop over the lanes.
/// Errors:    CompileError if an extent is not constant.
/// Example:   for x in 0..7 (vectorized): A[x] = B[x] * 2   →   A[ramp(0, 1, 8)] = B[ramp(0, 1, 8)] * x8(2)
///
/// Vectorized loops may nest: the innermost loop's lanes are adjacent.
Stmt vectorize_loops(const Stmt &s, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
