#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Cuts loops into prologue, steady state and epilogue, so that clamps and guards vanish from the steady state.
///
/// Needs:     Level::Vectors. What the program expects to hold is marked with `likely`.
/// Gives:     Level::Vectors; no `likely` is left.
/// Position:  after vectorize-loops, whose guarded tails are conditions like any other; before trim-no-ops.
/// Keeps:     values and order of iterations. A parallel loop stays one loop with a branch inside.
/// Errors:    CompileError if a loop with Partition::Always has nothing to cut.
/// Example:   for x in 0..n: A[x] = B[max(likely(x − 1), 0)]
///            →  for x in 0..0: A[x] = B[max(x − 1, 0)];   for x in 1..n: A[x] = B[x − 1]
///
/// Loops inside a prologue or epilogue are not cut again, unless their policy is Always. The steady state keeps the unroll
/// hint; prologue and epilogue have it too if it says to unroll fully.
Stmt partition_loops(const Stmt &s, LowerContext &ctx);

/// Drops all `likely` marks.
Stmt remove_likely_marks(const Stmt &s);

}  // namespace Internal
}  // namespace Halide
