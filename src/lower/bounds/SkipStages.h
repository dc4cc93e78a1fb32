#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Skips the computation, and the heap allocation, of Funcs of which no value is used in the end, because all uses stand under
/// conditions that turn out false.
///
/// Needs:     Level::Bounded, ProducerConsumer nodes and calls.
/// Gives:     the same level; produce nodes inside IfThenElse, Realize nodes with a condition.
/// Position:  after storage-folding; before flattening.
/// Keeps:     values that are used; conditions are evaluated where all their variables are known.
/// Errors:    none.
/// Example:   produce g { … }  consume g { for x { f(x) = select(p, g(x), 0) } }   →   if (p) produce g { … } …
Stmt skip_stages(const Stmt &s, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
