#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Decides where the values of a kernel live, and gives vectorized loops tiles in the unified buffer for what they read
/// from and write to global memory, which vector code cannot reach.
///
/// Needs:     Level::Checked. Realizations have one value each.
/// Gives:     Level::Checked. Realizations inside kernels are in UB or Register, those around kernels in Heap; inside
///            a vectorized loop of a kernel no call or Provide names a buffer in global memory.
/// Position:  after split-tuples; before bound-allocations, which makes the sizes of tiles constant, and
///            flatten-storage, after which dimensions are gone.
/// Keeps:     values; what is stored to global memory, element for element.
/// Errors:    CompileError for gathers from and scatters to global memory, for UB storage outside of a kernel, and for
///            tiles without constant size.
/// Example:   for x in a..b (vectorized): f(x) = in(x) * 2
///            →  realize t (UB), u (UB) { for x: t(x) = in(x);  for x (vectorized): u(x) = t(x) * 2;  for x: f(x) = u(x) }
Stmt pto_stage(const Stmt &s, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
