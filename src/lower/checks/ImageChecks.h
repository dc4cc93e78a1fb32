#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Wraps the statement in what a pipeline checks of its buffers at entry, and in the answer to bounds queries.
///
/// Needs:     Level::Bounded; loops and regions are final as far as they decide which parts of buffers are touched.
/// Gives:     Level::Checked. Constrained symbols (`in.stride.0` …) are replaced in the body by their constraints.
/// Position:  after allocation-bounds (reads the final regions); before storage-folding and flattening, which
///            hide coordinates.
/// Keeps:     the body runs only if every check holds and no buffer is a bounds query.
/// Errors:    CompileError if a buffer is accessed over an unbounded region.
/// Example:   produce f …   →   if (f is query || in is query) { write shapes } else { asserts; produce f … }
///
/// Order of the checks (surface.md §4.4): type, dimensions, constraints, required region, extents, sizes, host
/// alignment, device flags, host pointer; outputs before inputs.
Stmt image_checks(const Stmt &s, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
