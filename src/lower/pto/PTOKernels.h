#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Cuts a pipeline into kernels and maps block loops to the launch grid.
///
/// Needs:     Level::Unrolled.
/// Gives:     Level::Unrolled. A kernel is a loop `NAME.kN` of type GPUBlock over the blocks of a launch, and the only one of
///            this type in it; its body asks for its place with pto_block_idx() and does what is its share, whatever the
///            number of blocks. Around kernels there are only assertions, lets, and allocations in global memory.
/// Position:  after unroll-loops; before pto-copies, which sees the statements of one kernel.
/// Keeps:     values; the order of kernels is that of the statement.
/// Errors:    CompileError if iterations of different blocks would have to wait for each other.
/// Example:   for y in 0..9 (block) S(y)   →   for f.k0 in 0..9 (block) { for t in 0..(9 - idx)/num: S(idx + t*num) }
Stmt pto_kernels(const Stmt &s, LowerContext &ctx);

/// Fills the context's program from the statement: kernels with arguments, launch sizes, temporaries, checks.
///
/// Position:  the last row: kernels are complete.
/// Gives:     the statement as it is.
Stmt pto_launches(const Stmt &s, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
