#pragma once

#include "lower/Pipeline.h"

#include <functional>

namespace Halide {
namespace Internal {

/// Turns loops marked vectorized into vector statements.
///
/// Needs:     Level::Unrolled. Extents of vectorized loops simplify to constants.
/// Gives:     Level::Vectors. No loop is marked vectorized; statement conditions are scalar.
/// Position:  after unroll-loops (an unrolled loop inside must be gone); before partition-loops, which cuts off tails.
/// Keeps:     values bit for bit, except float reductions under `atomic()`. What cannot be a vector statement runs as a
///            serial loop over the lanes.
/// Errors:    CompileError if an extent is not constant.
/// Example:   for x in 0..7 (vectorized): A[x] = B[x] * 2   →   A[ramp(0, 1, 8)] = B[ramp(0, 1, 8)] * x8(2)
///
/// Vectorized loops may nest: the innermost loop's lanes are adjacent. The body may hold short vectors already (the words
/// of a SWAR loop in memory): a vector of n lanes becomes one of N·n, those of the loop's first lane first.
Stmt vectorize_loops(const Stmt &s, LowerContext &ctx);

/// What vectorize-swar decides while the body of its loop becomes vectors. `lane_by_lane` makes the statement as a serial
/// loop over the lanes.
struct WordHooks {
    /// What to do instead of a vector store.
    std::function<Stmt(const Stmt &store, const std::function<Stmt()> &lane_by_lane)> store;
    /// What to do with a statement under a condition that varies by lane; `in_all_lanes` makes it without the condition.
    std::function<Stmt(const Expr &condition, const std::function<Stmt()> &in_all_lanes,
                       const std::function<Stmt()> &lane_by_lane)>
        condition;
};

/// The statement of one loop marked VectorizedSWAR, as vectors. Names of vectors stand for values that were loaded; all
/// other lets have been put in.
Stmt vectorize_in_words(const For *loop, LowerContext &ctx, const WordHooks &hooks);

/// The constant number of lanes of a vectorized loop.
/// @throws CompileError  if it is not a constant.
int vector_loop_lanes(const For *loop);

}  // namespace Internal
}  // namespace Halide
