#pragma once

#include "lower/Pipeline.h"

#include <map>
#include <string>

namespace Halide {
namespace Internal {

/// Gives every vectorized loop of a kernel its lanes.
///
/// Needs:     kernel statements as pto-copies leaves them: vectorized loops of any extent whose accesses reach the
///            unified buffer and registers only.
/// Gives:     every vectorized loop runs over the lanes 0 … L−1, L 64, 128 or 256, or over one lane where a value is
///            computed once; loops over chunks are serial, with at most one masked chunk behind the full ones. Values
///            that vectors accumulate stand in registers (Allocate in Register, one element per lane). Allocations have
///            the padding that whole vectors need.
/// Position:  after the moves between memories are in place, before flags are.
/// Keeps:     values bit for bit, except float reductions under `atomic()`, whose order is free.
/// Errors:    none; pto-verify reports what has no vector form.
/// Example:   for x in 0..99 (vectorized): B[x] = A[x]
///               →  for q in 0..0: for l in 0..63 (vectorized): B[q*64 + l] = A[q*64 + l];
///                  for l in 0..63 (vectorized): if (l < 36) B[64 + l] = A[64 + l]
Stmt pto_lane_layout(const Stmt &s, LowerContext &ctx);

/// The same for one kernel. `preferred`: lanes that the schedule asks for, by loop name.
Stmt lay_out_lanes(const Stmt &kernel, const std::map<std::string, int> &preferred, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
