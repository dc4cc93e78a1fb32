#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Makes one load of neighbouring bytes that a program puts together to a wider integer.
///
/// Needs:     Level::Vectors. The target is little-endian, as all are.
/// Gives:     Level::Vectors.
/// Position:  after a simplify, which gives shifts one form; before interleavings and cse, which may put the byte loads
///            out of sight, and before find-intrinsics.
/// Keeps:     values bit for bit. The same bytes are read.
/// Errors:    none.
/// Example:   u16(A[2x]) | u16(A[2x + 1])·256   →   reinterpret⟨u16⟩(A[ramp(2x, 1, 2)]); for vectors with a stride of
///            the number of bytes likewise
Stmt merge_loads(const Stmt &s, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
