#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Decides how large each realization is: defines `f.<dim>.min_realized`, `.max_realized` and `.extent_realized`
/// around every Realize node.
///
/// Needs:     all regions computed are known (after bounds-inference and sliding-window, which moves them).
/// Gives:     Level::Bounded.
/// Position:  after sliding-window; before image checks, storage-folding and flattening.
/// Keeps:     the body.
/// Errors:    CompileError if the region touched cannot be bounded; halide_error_storage_bound_too_small at run time.
/// Example:   realize f([f.x.min_realized, f.x.extent_realized]) { … f(0..n) … }   →
///            let f.x.min_realized = 0   let f.x.extent_realized = n + 1   realize f(…) …
///
/// The region is that of all reads and writes in the body: more than what is needed, where loops round up.
Stmt allocation_bounds_inference(const Stmt &s, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
