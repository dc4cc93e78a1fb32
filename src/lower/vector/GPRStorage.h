#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Makes sure that allocations of MemoryType::GPR can live in general-purpose registers.
///
/// Needs:     Level::Vectors.
/// Gives:     the same level; dense accesses of such allocations are no wider than a register. One that fits a register as
///            a whole is accessed at places known at run time only by shifts of that word, so that it needs no address.
/// Position:  after simplify-vectors, where accesses have their final width.
/// Keeps:     values.
/// Errors:    CompileError for a dense access wider than a register, and in device loops. (That the size is constant,
///            bound-allocations has made sure of.)
/// Example:   A[i] of four bytes   →   u8(reinterpret(A[r(0,1,4)]) >> (8 * i))
Stmt gpr_storage(const Stmt &s, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
