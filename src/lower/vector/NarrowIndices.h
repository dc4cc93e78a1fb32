#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Gives each index the machine type that is best in its place.
///
/// Needs:     Level::Vectors. Index arithmetic is exact: its Int(32) label does not mean that it wraps.
/// Gives:     Level::Indices. On targets with 64-bit addresses, scalar indices and the bases and strides of ramps are
///            Int(64), computed without wrapping from leaves that fit their own type. Vectors of offsets (gathers,
///            scatters) keep their type.
/// Position:  after user passes, which know Int(32) indices; before code generation.
/// Keeps:     addresses. Values that are not addresses keep their types.
/// Errors:    none.
/// Example:   A[ramp(y*s + x, 1, 8)]   →   A[ramp(i64(y)*i64(s) + i64(x), 1_i64, 8)]
///
/// 64-bit scalars are free in addressing modes where 32-bit ones would need an extension per access.
Stmt narrow_indices(const Stmt &s, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
