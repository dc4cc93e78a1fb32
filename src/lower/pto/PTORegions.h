#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Gives vectorized loops the shape that vector code likes, before they get lanes: neighbours over the same range are
/// joined, serial loops around vectorized ones move inside where what they accumulate can then stay in a register.
///
/// Example:   for x (vectorized): f[x] = 0;  for k: for x (vectorized): f[x] = f[x] + a[k]*b[k*64 + x]
///               →  for x (vectorized): { allocate f.acc[f32, 1] in Register; f.acc[0] = 0;
///                                        for k: f.acc[0] = f.acc[0] + a[k]*b[k*64 + x];  f[x] = f.acc[0] }
Stmt shape_vector_regions(const Stmt &kernel, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
