#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// What becomes of unroll hints in kernels, by features of the target: pto_unroll_ptodsl leaves them for the text of the
/// kernel, pto_unroll_none drops them, neither expands the loops here, since released toolchains have no hints.
///
/// Needs:     Level::Unrolled, moves recognized.
/// Gives:     Level::Unrolled; hints only with pto_unroll_ptodsl, so that nobody acts on one twice.
/// Position:  after pto-copies, which would not see a copy in expanded loops; before pto-lane-layout.
/// Keeps:     order of iterations; values bit for bit.
/// Errors:    CompileError if the target has both features.
Stmt pto_unroll_hints(const Stmt &s, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
