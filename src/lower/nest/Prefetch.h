#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Puts Prefetch nodes into the loops that the schedule asks for.
///
/// Needs:     Level::Bounded: the regions of Realize nodes are known.
/// Gives:     the same.
/// Position:  after image-checks, because what is prefetched is not required; before storage-folding, because boxes are in
///            the coordinates of the program.
/// Keeps:     everything else.
/// Errors:    CompileError if the loop to look ahead in is not around the loop to prefetch in.
/// Example:   f.prefetch(g, y, y, 2)  →  for f.s0.y { prefetch g over the box that iteration f.s0.y + 2 reads … }
Stmt inject_prefetch(const Stmt &s, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
