#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Gives allocations that must, or had better, have a constant size their constant upper bound.
///
/// Needs:     Allocate or Realize nodes with symbolic extents; memory types of the schedule.
/// Gives:     the same level; extents of Register, GPR and Stack allocations are constants.
/// Position:  before flattening fixes strides.
/// Keeps:     every access is inside.
/// Errors:    CompileError if an allocation in registers has no constant bound.
/// Example:   realize g([y, min(n, 8)]) in Stack   →   realize g([y, 8]) in Stack
Stmt bound_small_allocations(const Stmt &s, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
