#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Turns many-dimensional storage into memory: allocations, loads and stores with one index.
///
/// Needs:     Level::Checked, and one value per Provide and Realize.
/// Gives:     Level::Flat. Symbols `f.min.d`, `f.stride.d` of realizations are defined by lets around the Allocate;
///            those of buffers stay free (unpack-buffers defines them).
/// Position:  after split-tuples; before everything that knows about addresses.
/// Keeps:     the address of element (x, y, …) is Σ coordinate·stride − Σ min·stride, so that the loop-invariant
///            part is one term. Its type is Int(32), or Int(64) with large_buffers.
/// Errors:    none.
/// Example:   realize f([0, 8], [ymin, 4]) { f(x, y) = in(x + 1, y) }
///            →  let f.stride.1 = 8 … allocate f[8 * 4] { f[x + y*8 − ymin*8] = in[x + 1 + y*in.stride.1 − …] }
Stmt flatten_storage(const Stmt &s, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
