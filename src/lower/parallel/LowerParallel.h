#pragma once

#include <functional>
#include <string>
#include <vector>

#include "func/LoweredFunc.h"
#include "ir/IR.h"
#include "ir/Target.h"
#include "lower/Pipeline.h"

namespace Halide::Internal {

/// Cuts the bodies of parallel loops and forks out into functions of their own, which the runtime calls.
///
/// Needs:     a statement ready for a code generator except for For(Parallel), Fork, Acquire and Atomic.
/// Gives:     Level::Closed. Each parallel loop is a call of halide_do_par_for (or, where semaphores or forks take
///            part, of halide_do_parallel_tasks) with a closure made by make_struct; its body is a LoweredFunc in
///            ctx.closures that reads the closure by load_typed_struct_member. Atomic nodes that one instruction cannot
///            do have become locks of an array of mutexes; those outside of parallel loops are gone.
/// Position:  last before code generation, so that users' passes and the profiler still see the loops.
/// Keeps:     order of effects; the first non-zero result of a task leaves the enclosing function at once.
/// Errors:    none.
/// Example:   parallel (f.s0.y, a, b) { f[y*w] = in[y] }
///            →  let r = halide_do_par_for(::p.par_for.f.s0.y, a, b - a + 1, make_struct(f, in, w))
///               assert(r == 0, r)
Stmt lower_parallel(const Stmt &s, LowerContext &ctx);

/// The same without a context.
///
/// @param name         the pipeline's name, prefix of the names of the functions made.
/// @param unique_name  gives a name not used before, from a prefix.
Stmt lower_parallel_tasks(const Stmt &s, std::vector<LoweredFunc> &closures, const std::string &name, const Target &t,
                          const std::function<std::string(const std::string &)> &unique_name);

}  // namespace Halide::Internal
