#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Lets every loop start at zero.
///
/// Needs:     Level::Vectors.
/// Gives:     the same; the min of every loop is the constant 0.
/// Position:  after the passes that reason about coordinates (partition-loops, trim-no-ops); before user passes, which
///            programs have written against rebased loops.
/// Keeps:     iterations and their order. The loop's new name is the old one with the suffix `.rebased`.
/// Errors:    none.
/// Example:   for x in a..b: A[x] = 0   →   for x.rebased in 0..b − a: A[x.rebased + a] = 0
Stmt rebase_loops(const Stmt &s, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
