#pragma once

#include "ir/IR.h"
#include "lower/Pipeline.h"

namespace Halide::Internal {

/// Turns a·b + c into one operation with one rounding where the target has it.
///
/// Needs:     Level::Funcs.
/// Gives:     Level::Funcs. Values of Funcs may contain strict_fma; indices in them, and values cast to 32- or 64-bit
///            integers (which may become indices), do not.
/// Position:  first: a product is fused with a sum if both stand in one definition. After inlining, unrolling or CSE the
///            choice would depend on the schedule, and so would the last bit of the result.
/// Keeps:     nothing under strict_float is touched; the outermost addition of an atomic update stays an addition.
/// Errors:    none.
/// Example:   f(x) = a(x)*b(x) + c   →   f(x) = strict_fma(a(x), b(x), c)
Stmt contract_floats(const Stmt &s, LowerContext &ctx);

/// Whether the target multiplies and adds floats of this type in one instruction.
bool has_fused_multiply_add(const Target &t, const Type &type);

}  // namespace Halide::Internal
