#pragma once

#include "lower/Pipeline.h"

#include <map>
#include <string>
#include <vector>

namespace Halide {
namespace Internal {

/// Builds the loop nests of the whole program from definitions and schedules, and checks that every Func is computed
/// and stored where all its users can see it.
///
/// Needs:     Level::Funcs: ctx.outputs, env, order, fused_groups, target; loop levels are locked. The argument is
///            ignored.
/// Gives:     Level::Nest, in the form below.
/// Position:  first.
/// Keeps:     the meaning of the definitions in the order of stages.
/// Errors:    CompileError: a compute_at/store_at/hoist_storage that does not enclose all uses (with a list of the
///            places that do), an inlined Func that cannot be inlined, an output that is not at root, and so on.
/// Example:   f(x) = x, vectorize(x, 8)   →
///            produce f { let f.s0.x.loop_max = f.s0.x.max  …  for (f.s0.x.x, f.s0.x.x.loop_min, f.s0.x.x.loop_max) …
///
/// The form. Let `f` be a Func, `k` a stage (0 the pure definition), `P` = "f.sk." and `x` a dimension of the stage:
/// a pure Var of the Func, in stages k > 0 also an RVar under its name (`r$x`).
///
/// * `For` loops are named P + path, where a split of `x` into `xo`, `xi` gives `P.x.xo`, `P.x.xi`, a rename to `t`
///   gives `P.x.t`, a fusion of inner `a` and outer `b` to `t` gives `P.a.t`. A loop runs from
///   `<loop>.loop_min` to `<loop>.loop_max` (inclusive), variables defined by LetStmts around the nest together with
///   `<loop>.loop_extent`. The outermost loop of a stage is `P.__outermost`, one iteration from 0 to 0.
/// * For a dimension `x` of the Func or of the RDom: `P.x.loop_min = P.x.min`, `P.x.loop_max = P.x.max`, `P.x.loop_extent
///   = P.x.max - P.x.min + 1`. The symbols `P.x.min` and `P.x.max` of all pure dimensions (of all arguments of the Func,
///   also of those that stage k does not loop over) and of RVars are free in the whole `ProducerConsumer` node of `f`
///   and are defined by bounds_inference, with LetStmts directly around the produce node's body part of that stage,
///   or further out. For RVars, schedule_functions itself defines `P.r$x.min` and `.max` directly inside the stage (from
///   the RDom), so that the bounds of outer loops can use them.
/// * Inside the loops a LetStmt defines every split variable, fused variable and at last the dimension itself under its
///   loop name: `P.x = P.x.xi + base …`. Guards of tails are IfThenElse around the body (`likely(...)`), or the predicate
///   of the Provide and of the loads (Predicate strategies).
/// * The values are stored by `Provide(f, values, args)`. Calls of other Funcs are Call::Halide.
/// * `ProducerConsumer::make_produce(f, stages in order)` followed by `make_consume(f, rest)` in a Block stands
///   inside the body of the compute loop; `Realize(f, types, memory_type, bounds, const_true(), …)` stands around both, inside the
///   store loop, with bounds { `f.x.min_realized`, `f.x.extent_realized` } per Var `x` of `f`: free here, defined by
///   allocation_bounds_inference. Outputs have no Realize.
/// * `HoistedStorage(f, …)` stands inside the hoist_storage loop, if that differs from the store loop.
/// * Stages of extern Funcs are an AssertStmt over the call's result, with `f.buffer` and the buffers of the inputs
///   made by lets (`g.buffer` …) from regions that bounds_inference knows (see make_extern_stage in the .cpp).
/// * Loops merged by compute_with are `P.fused.x`, from `P.fused.x.loop_min` to `.loop_max`.
/// * Updates with atomic(): the Provide is inside `Atomic(f, mutex_name, …)`.
Stmt schedule_functions(const Stmt &ignored, LowerContext &ctx);

/// The same without a context; `any_memoized` tells whether a Func is memoized.
Stmt schedule_functions(const std::vector<Function> &outputs,
                        const std::vector<std::vector<std::string>> &fused_groups,
                        const std::map<std::string, Function> &env, const Target &target, bool &any_memoized);

}  // namespace Internal
}  // namespace Halide
