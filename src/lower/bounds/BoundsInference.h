#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Decides which region of each Func is computed: defines the symbols `f.s<k>.<dim>.min` and `.max` that the loop
/// nests of schedule-functions leave free.
///
/// Needs:     Level::Nest.
/// Gives:     every `f.s<k>.<dim>.min/.max` used is defined by a LetStmt in the body of the loop (or at the root) that the
///            nest of `f` stands in.
/// Position:  after schedule-functions; before everything that needs to know how large anything is.
/// Keeps:     loops and definitions.
/// Errors:    CompileError if a Func is used over a region that cannot be bounded; halide_error_explicit_bounds_too_small
///            at run time if `bound` is smaller than what is needed.
/// Example:   f(x) = g(x) + g(x+1), g.compute_at(f, x)   →
///            for f.s0.x { let g.s0.x.min = f.s0.x   let g.s0.x.max = f.s0.x + 1   produce g … }
///
/// In the body of each loop of stage k of `f` in which other Funcs are produced, and at the root, are defined, from the outside in:
///  * f.s<k>.<dim>.min/.max again: the part of the stage that one iteration computes;
///  * g.s<j>.<dim>.min/.max of every stage of every Func `g` produced somewhere in the body, consumers first: what the current
///    iteration of `f` and the other Funcs produced in the body read of it. Later stages of `g` itself come first.
///  * for Funcs with explicit bounds, `.min_unbounded`, `.max_unbounded`: what was needed before they were applied.
Stmt bounds_inference(const Stmt &s, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
