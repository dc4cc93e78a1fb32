#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Defines the symbols of buffer arguments by reading their halide_buffer_t.
///
/// Needs:     Level::Flat. Symbols `b`, `b.min.d`, `b.extent.d`, `b.stride.d` of arguments are free.
/// Gives:     Level::Flat. Only `b.buffer` of arguments and scalar parameters are free.
/// Position:  after flatten-storage, which uses the last of the symbols.
/// Keeps:     null pointers are refused before anything is read through them.
/// Errors:    none.
/// Example:   in[x*in.stride.0]   →   assert(in.buffer != null, …); let in = host(in.buffer); let in.stride.0 = … ; …
Stmt unpack_buffers(const Stmt &s, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
