#pragma once

#include "func/VMIProgram.h"
#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Turns a kernel statement into a VMI program.
///
/// Needs:     the form that pto-lane-layout gives: vectorized loops run over the lanes 0 … L−1 (L 64, 128 or 256), or
///            over one lane for values that are computed once; UB addresses and flags are decided.
/// Gives:     a program in which every value has a form that VMI has (spec pto-vmi.md), masks and broadcasts of scalars
///            stand as far out as they can, equal instructions are one, and nothing unused is left.
/// Position:  last before emission.
/// Keeps:     values bit for bit, except where the instruction's accuracy is not specified (exp, log, sqrt, division).
/// Errors:    CompileError for what has no VMI form, with category and place. pto-verify finds most of them earlier.
/// Example:   for lane in 0..63 (vectorized): B[q*64 + lane] = A[q*64 + lane] * 2
///               →   vstore(vmul(vload(A, q*64, size=64), 2.0, full), B, q*64)
VMIKernel pto_vectorize(const PTOKernel &kernel, LowerContext &ctx);

/// Only the errors of pto_vectorize, before UB addresses are decided.
void check_vectorizable(const PTOKernel &kernel, LowerContext &ctx);

/// Drops instructions without effect whose results nothing uses.
void remove_dead_instructions(VMIKernel &kernel);

}  // namespace Internal
}  // namespace Halide
