#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Moves allocations out to the place that hoist_storage names, with a size that suffices for all iterations in between.
///
/// Needs:     Level::Flat.
/// Gives:     the same; no HoistedStorage node is left.
/// Position:  after flatten-storage, where sizes are explicit; before vectors, which widen allocations.
/// Keeps:     the layout of each realization: mins and strides are still defined where it is stored.
/// Errors:    CompileError if the size cannot be bounded over the loops in between.
/// Example:   hoisted f { for y in 0..9 { allocate f[int32 * (y + 3)] { … } } }   →
///            allocate f[int32 * 12] { for y in 0..9 { … } }
Stmt hoist_storage(const Stmt &s, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
