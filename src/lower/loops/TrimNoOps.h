#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Shortens loops whose first or last iterations do nothing.
///
/// Needs:     Level::Vectors.
/// Gives:     the same.
/// Position:  after partition-loops, which is what leaves conditions on loop variables behind.
/// Keeps:     all iterations that have an effect, in order.
/// Errors:    none.
/// Example:   for x in 0..n: if (x >= y) A[x] = 0   →   for x in max(0, y)..n: A[x] = 0
Stmt trim_no_ops(const Stmt &s, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
