#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Gives vectorized loops the shape that vector code likes, before they get lanes.
///
/// Needs:     kernel statements as pto-copies leaves them.
/// Gives:     the same, where neighbouring vectorized loops over one range that share a buffer are one loop; a serial
///            loop around a vectorized one that accumulates stands inside it, with the accumulators in registers; what
///            a vectorized loop stores and loads again is a value.
/// Position:  before pto-lane-layout.
/// Keeps:     values bit for bit: per element, the order of operations does not change.
/// Errors:    none.
/// Example:   for x (vectorized): f[x] = 0;  for k: for x (vectorized): f[x] = f[x] + a[k]*b[k*64 + x]
///               →  for x (vectorized): { allocate f.acc[f32, 1] in Register; f.acc[0] = 0;
///                                        for k: f.acc[0] = f.acc[0] + a[k]*b[k*64 + x];  f[x] = f.acc[0] }
Stmt pto_legalize(const Stmt &s, LowerContext &ctx);

/// The same for one kernel.
Stmt shape_vector_regions(const Stmt &kernel, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
