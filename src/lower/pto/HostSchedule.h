#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Makes the PTO directives of the context's Functions fit its target. On a CPU, block loops become parallel loops and
/// Funcs stored in the unified buffer are stored on stack or heap, so that a schedule can be debugged without the
/// device. On a PTO device, `vectorize(x, n)` becomes one vectorized loop over all of x with n lanes preferred, since
/// lanes are masked there; and producers are not tasks, since the pipes of a core run by themselves.
///
/// Position:  on the context's copies, before any pass.
/// Keeps:     every value; regions may shrink where a split of a vectorized loop rounded them up.
void adapt_pto_schedules(LowerContext &ctx);

/// Whether the kernels of this context are for a PTO device.
bool for_pto(const LowerContext &ctx);
/// The opposite: rows of the table that end in code for a CPU.
bool for_cpu(const LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
