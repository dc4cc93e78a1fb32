#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Computes vectors whose lanes read x/k, as upsampling and demosaicing do, in k parts: the lanes with one remainder of
/// x modulo k read densely, where all together would be gathered.
///
/// Needs:     Level::Vectors.
/// Gives:     the same.
/// Position:  after a simplify, which makes addresses ramps; before interleavings, which serves what reads x in such
///            parts, and before cse, which shares the loads.
/// Keeps:     values; the same elements are read.
/// Errors:    none.
/// Example:   A[ramp(x, 1, 2n)/2] + y   →   interleave(A[ramp(x/2, 1, n)], A[ramp((x + 1)/2, 1, n)]) + y
///            select(ramp(x, 1, 2n) % 2 == 0, A[ramp(x, 1, 2n)/2], B[ramp(x, 1, 2n)/2]), x = 2t
///              →   interleave(A[ramp(t, 1, n)], B[ramp(t, 1, n)])
Stmt alternating_lanes(const Stmt &s, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
