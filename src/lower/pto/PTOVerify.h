#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Reports what a kernel contains that vector code cannot do.
///
/// Needs:     the form that pto-lane-layout gives.
/// Gives:     the same statement.
/// Position:  before memory is planned: a message about an expression is worth more than one about sizes.
/// Keeps:     everything.
/// Errors:    CompileError for the first such thing, with its category (lanes, loop structure, statement, expression,
///            memory access, dtype, dtype/cast, call) and place. The checks are those of pto-vectorize, which runs here
///            without keeping its result, so the two cannot disagree.
Stmt pto_verify(const Stmt &s, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
