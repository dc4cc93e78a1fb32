#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Gives each index the machine type that is best in its place.
///
/// Needs:     Level::Vectors. Index arithmetic is exact: its label, Int(32) or Int(64), does not mean that it wraps.
/// Gives:     Level::Indices. On targets with 64-bit addresses all indices are Int(64). Scalars, and the bases and strides
///            of ramps, are computed in it from leaves that fit their own type. Other vectors are a uniform part in
///            64 bits and 32-bit offsets, widened last, wherever ranges allow. Where vectors are compared with a limit,
///            lanes are counted in narrow integers.
/// Position:  after user passes, which know Int(32) indices; before code generation.
/// Keeps:     addresses of live lanes. Values that are not addresses keep their types.
/// Errors:    none.
/// Example:   A[ramp(y*s + x, 1, 8)]   →   A[ramp(i64(y)*i64(s) + i64(x), 1_i64, 8)]
///            A[x8(y*s) + v]           →   A[x8(i64(y)*i64(s)) + i64x8(v)]
///            ramp(x, 1, 8) < x8(n)    →   ramp(0_i8, 1_i8, 8) < x8(i8(clamp(i64(n) - i64(x), 0, 8)))
///
/// 64-bit scalars are free in addressing modes where 32-bit ones would need an extension per access; gathers take 32-bit
/// offsets twice as many at a time.
Stmt narrow_indices(const Stmt &s, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
