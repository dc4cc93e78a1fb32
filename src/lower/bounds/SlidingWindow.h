#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Computes in each iteration of a serial loop only the part of a Func that earlier iterations have not computed.
///
/// Needs:     bounds-inference has run; Realize nodes outside the loops that their Func is computed in.
/// Gives:     the same level. Loops that need warm-up iterations start earlier.
/// Position:  after bounds-inference; before allocation-bounds, which measures the result.
/// Keeps:     every value that is read has been computed before, by this or an earlier iteration of the loop.
/// Errors:    none: what cannot slide is computed in full.
/// Example:   realize g { for y in a..b { let g.s0.y.min = y - 1   let g.s0.y.max = y + 1   produce g …  consume g … } }
///        →   realize g { for y in a-2..b { let g.s0.y.min = y + 1   let g.s0.y.max = y + 1   produce g …
///                        consume g { if (a <= y) … } } }
///
/// Slides along one dimension per loop: in which the required interval moves monotonically with the loop variable, and in
/// which every stage of the Func is pure.
Stmt sliding_window(const Stmt &s, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
