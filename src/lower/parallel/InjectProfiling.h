#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Tells the runtime's profiler which Func is being computed, by how many threads, and with how much memory.
///
/// Needs:     explicit Free statements; parallel loops are still loops.
/// Gives:     the same level.
/// Position:  after early-free, whose Free statements it observes; before lower-parallel.
/// Keeps:     everything else.
/// Errors:    none.
/// Example:   produce f { P }   →   produce f { set_current_func(f)  P  set_current_func(what was computed before) }
///
/// Entry 0 is overhead. A Func with no_profiling() is billed to whoever uses it. Runs that only answer bounds queries
/// are not counted.
Stmt inject_profiling(const Stmt &s, LowerContext &ctx);

bool wants_profiling(const LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
