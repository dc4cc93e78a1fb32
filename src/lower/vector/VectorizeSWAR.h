#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Turns loops marked VectorizedSWAR into integer arithmetic on words whose parts are the lanes.
///
/// Needs:     Level::Unrolled. Extents of SWAR loops are constants.
/// Gives:     the same level; no loop is marked VectorizedSWAR. What such a loop computed is unsigned integers of up to
///            the target's register width; lane i of b bits is bits [i·b, (i+1)·b). A word in memory is a Reinterpret of
///            a dense load or store of lanes; nothing else is a vector.
/// Position:  after unroll-loops (an unrolled loop inside must be gone); directly before vectorize-loops, so that a
///            SIMD loop around makes vectors of words.
/// Keeps:     order of effects; values bit for bit. Iterations under a condition that differs by lane run one by one.
/// Errors:    CompileError for what lanes of a word cannot do (gather, scatter, product of two values that vary by
///            lane, floating point, lanes wider than the word), for a vectorized loop inside, and in device loops.
/// Example:   for x in 0..4 (swar): A[x] = B[x] & 63   →   A[r(0,1,4)] = reinterpret(reinterpret(B[r(0,1,4)]) & 0x3f3f3f3f)
Stmt vectorize_swar(const Stmt &s, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
