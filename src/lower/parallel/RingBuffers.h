#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Gives Funcs with a ring buffer several copies of their storage, used in turn by the iterations of the loops between
/// the place of allocation and the place of storage.
///
/// Needs:     Level::Checked, HoistedStorage nodes; storage is folded.
/// Gives:     the same; the Realize nodes have one dimension more, which is the outermost in memory.
/// Position:  after storage-folding; before async-producers, which lets the copies be used at the same time.
/// Keeps:     values.
/// Errors:    CompileError if a loop in between is parallel.
/// Example:   hoisted f { for y { realize f([a, n]) { f(x) = …  … f(x) … } } }, ring_buffer(2)   →
///            hoisted f { for y { realize f([a, n], [0, 2]) { f(x, (y − min) % 2) = …  … f(x, (y − min) % 2) … } } }
Stmt ring_buffers(const Stmt &s, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
