#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Expands the loops that carry an unroll hint, for back ends whose compiler takes no hints.
///
/// Needs:     Level::Vectors. Hints are on serial loops only.
/// Gives:     Level::Vectors; no loop has a hint, so nobody can act on it a second time.
/// Position:  after partition-loops, trim-no-ops and rebase-loops, so that the parts of a loop are expanded as they will
///            run; before a simplify, which folds the indices of the copies.
/// Keeps:     order of iterations; values bit for bit.
/// Errors:    none. A loop that cannot be expanded (full, but the number of iterations varies; or the copies would be
///            enormous) stays a loop, with a warning that names it.
/// Example:   for x in 0..n−1 unroll_hint 2: A[x] = x
///            →  for i in 0..max(n, 0)/2 − 1: { A[2i] = 2i; A[2i + 1] = 2i + 1 };  for x in max(n, 0)/2·2..n−1: A[x] = x
///
/// Runs as a row of the table if `LowerContext::native_unroll_hints` is set; a back end with kernels of its own may
/// call it on one of them.
Stmt expand_unroll_hints(const Stmt &s, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
