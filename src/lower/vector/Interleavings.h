#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Turns groups of strided accesses that together cover a dense range into dense accesses and shuffles, for which
/// machines have instructions and strided accesses have none.
///
/// Needs:     Level::Vectors.
/// Gives:     the same.
/// Position:  after a simplify, so that neighbouring addresses differ by visible constants; before cse, which shares
///            the wide loads.
/// Keeps:     values; no element is read that is not between two elements that were read; the same elements are
///            written, each with the same value. Stores move only over stores of the same buffer that write other
///            elements, and over loads of other elements.
/// Errors:    none.
/// Example:   A[ramp(b, 2, n)] = x; A[ramp(b + 1, 2, n)] = y   →   A[ramp(b, 1, 2n)] = interleave(x, y)
///            A[ramp(b, 2, n)] + A[ramp(b + 1, 2, n)]   →   slices of A[ramp(b, 1, 2n)]
Stmt interleavings(const Stmt &s, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
