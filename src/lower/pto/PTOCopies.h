#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Turns loops that copy between global memory and the unified buffer into moves (DMA).
///
/// Needs:     Level::Unrolled, kernels extracted; indices flat, UB allocations of constant size whose rows begin at
///            multiples of 32 bytes.
/// Gives:     Level::Unrolled. Calls of pto_mte_gm_ub and pto_mte_ub_gm whose fields fit the hardware: bursts of at most
///            65535 bytes, UB offsets and strides multiples of 32 bytes.
/// Position:  after pto-kernels; before the rows that look at vector code, which never see global memory.
/// Keeps:     values of every element that is read later. Where an index is clamped or selected (boundary conditions), the
///            loop is cut there; what is constant or misaligned is copied element by element.
/// Example:   for x in 0..99: t[x] = in[x + b]   →   pto_mte_gm_ub(in, b, t, 0, 100)
Stmt pto_copies(const Stmt &s, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
