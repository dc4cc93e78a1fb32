#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Runs the producers of async Funcs as tasks of their own, beside their consumers.
///
/// Needs:     Level::Checked; storage is folded.
/// Gives:     the same, with Fork and Acquire nodes.
/// Position:  after storage-folding and skip-stages; before split-tuples.
/// Keeps:     every value is stored before it is read, and not overwritten before its last read.
/// Errors:    CompileError if what a producer needs is shared with its consumer in a way that cannot be ordered.
/// Example:   realize f { for y { produce f { P }  consume f { C } } }   →
///            realize f { let f.semaphore = … 0
///                        fork { for y { produce f { P }  release f.semaphore } }
///                        and  { for y { acquire f.semaphore  consume f { C } } } }
Stmt async_producers(const Stmt &s, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
