#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Ends loops where conditions in their bodies end them, so that tiles, moves and masks have the extents that are needed.
///
/// Needs:     Level::Checked.
/// Gives:     Level::Checked. What a loop does only below or above some iteration has become its bounds, and the condition is
///            gone; promises about indices are gone, since regions are decided.
/// Position:  before pto-stage, which looks at extents.
/// Keeps:     order of effects; values bit for bit.
/// Example:   for xi in 0..4095: if (xo*4096 + xi < w) S   →   for xi in 0..min(4095, w - xo*4096 - 1): S
Stmt pto_trim(const Stmt &s, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
