#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Stores a dimension of a Func in a circular buffer, if only a window of it is alive at any time.
///
/// Needs:     Level::Bounded, Provide and Call nodes with coordinates.
/// Gives:     the same level; indices in folded dimensions are `coordinate % size`, their bounds [0, size).
/// Position:  after image checks, which need true coordinates; before flattening.
/// Keeps:     no live value is overwritten.
/// Errors:    CompileError if fold_storage cannot be arranged; halide_error_bad_fold, halide_error_fold_factor_too_small at
///            run time if an explicit factor turns out not to hold.
/// Example:   realize g([0, n]) { for y { g(y + 1) = …   … g(y - 1) … g(y + 1) … } }   →
///            realize g([0, 4]) { for y { g((y + 1) % 4) = …   … g((y - 1) % 4) … g((y + 1) % 4) … } }
///
/// The automatic size is the smallest power of two that holds what one iteration touches, if that is a constant.
Stmt storage_folding(const Stmt &s, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
