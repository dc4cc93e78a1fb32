#pragma once

#include "func/Function.h"
#include "ir/Expr.h"
#include "ir/Target.h"

namespace Halide {
namespace Internal {

class Inliner;

/// Builds the stage of a Func with an extern definition: the loops around the call, if any, and the call.
///
/// The call takes `g.buffer` for an input Func `g` (`g.0.buffer` … for a tuple), `f.buffer` for the results; each
/// replaced by a crop to the region needed if more than that is stored: `f.s0.x.min` to `.max`, or what the loops leave of it,
/// and `g.s<last>.x.min` to `.max`. What is written is declared by declare_box_touched("f", min, max, …).
Stmt build_extern_stage(const Function &f, const Target &target, Inliner &inliner);

}  // namespace Internal
}  // namespace Halide
