#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Orders the pipes of a core where one depends on another: flags between pipes, mem_bar inside vector and scalar code.
///
/// Needs:     Level::Unrolled, moves recognized, addresses in UB known.
/// Gives:     Level::Unrolled. Each two accesses of the same memory of which one writes happen in the order of the
///            statement; every flag that is waited for is raised exactly once before, and none is left raised.
/// Position:  after pto-memory-plan, which says what shares memory; before pto-vectorize, since it reads loads and stores.
///            Inside of a vectorized loop it changes nothing: what needs a barrier there, vectorize knows.
/// Keeps:     values. No flag or barrier stands where nothing depends on it.
/// Example:   move(in → t); for x (vectorized): u[x] = t[x]; move(u → f)
///            →  move(in → t); set(MTE2, V, 0); wait(MTE2, V, 0); for x …; set(V, MTE3, 0); wait(V, MTE3, 0); move(u → f)
Stmt pto_sync(const Stmt &s, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
