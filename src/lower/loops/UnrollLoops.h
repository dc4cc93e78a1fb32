#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Expands loops marked unrolled.
///
/// Needs:     Level::Flat. Extents of unrolled loops simplify to constants.
/// Gives:     Level::Unrolled. No loop is marked unrolled.
/// Position:  before vectorize-loops (an unrolled loop inside a vectorized one must be gone).
/// Keeps:     order of iterations.
/// Errors:    CompileError if an extent is not constant; only a warning, and a serial loop, if
///            HL_PERMIT_FAILED_UNROLL is 1.
/// Example:   unrolled for x in 0..1: A[x] = x   →   A[0] = 0; A[1] = 1
Stmt unroll_loops(const Stmt &s, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
