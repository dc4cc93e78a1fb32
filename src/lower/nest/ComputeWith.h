#pragma once

#include "func/Function.h"
#include "lower/nest/Inline.h"

#include <vector>

namespace Halide {
namespace Internal {

/// Builds all stages of Funcs that are merged by compute_with (or of one Func), in an order that respects the stages of
/// each. The `fused_pairs` of the schedules say what is merged.
///
/// Merged loops are `f.s0.fused.y`, named after the stage that the others were attached to, from `<loop>.loop_min` to
/// `.loop_max`: the union of what the stages need. Inside, each stage runs only where the loop is in its own range; an attached stage
/// keeps its loops, with one iteration.
///
/// @throws CompileError  the stages cannot be ordered.
Stmt build_fused_stages(const std::vector<Function> &group, const Target &target, Inliner &inliner);

}  // namespace Internal
}  // namespace Halide
