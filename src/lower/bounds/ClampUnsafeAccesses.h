#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Clamps values of Funcs that are used as indices to the bounds that were derived for them.
///
/// Loops may run over more points than needed (RoundUp, ShiftInwards), and then read values that were never computed. Such
/// garbage is never used in the end, but as an index it could leave the bounds that allocations were made for.
///
/// Needs:     Level::Bounded; Func calls with coordinates.
/// Gives:     the same level.
/// Position:  after allocation-bounds; before flattening.
/// Keeps:     values that are used.
/// Errors:    none.
/// Example:   f(x) = g(h(x)), h(x) = clamp(…, 0, 9)   →   f(x) = g(clamp(h(x), 0, 9))
Stmt clamp_unsafe_accesses(const Stmt &s, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
