#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Gives each buffer of a kernel its address in the unified buffer.
///
/// Needs:     Level::Unrolled, kernels extracted; allocations in UB have constant sizes.
/// Gives:     the statement as it is; addresses in the context's program. Buffers lie apart if they fit; if not, buffers
///            that are never alive at the same time share memory.
/// Position:  after pto-legalize, which decides how far behind a buffer vector loads reach; before pto-sync, which must
///            know what shares memory.
/// Errors:    CompileError if the buffers do not fit, with their list and a split factor that would.
Stmt pto_memory_plan(const Stmt &s, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
