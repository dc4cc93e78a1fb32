#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Reports to the runtime what the program or the target asks to trace: loads, stores, realizations, the pipeline.
///
/// Needs:     Level::Bounded.
/// Gives:     the same.
/// Position:  after sliding-window; before the first simplification, which may do away with the symbols of regions, and
///            before storage-folding and split-tuples, because coordinates and value indices are those of the program.
/// Keeps:     all values.
/// Errors:    none.
/// Example:   f(x) = v   →   let f.trace_value_0 = v  halide_trace_helper("f", …)  f(x) = f.trace_value_0
///
/// The id of an event is the parent of those inside: `pipeline.trace_id`, and `f.trace_id` for realizations and, inside, for
/// produce and consume nodes.
Stmt inject_tracing(const Stmt &s, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
