#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Writes the last value of a loop as its first one plus a constant where the number of iterations is constant.
///
/// Bounds inference gives the ends of a loop names of their own (`f.s0.x.min`, `f.s0.x.max`), so that the number of
/// iterations is visible only when the definitions are written out; passes that unroll, vectorize and rebase loops
/// should not each have to do it. Inside a branch, what its condition says about names counts too.
///
/// Expects: unique names. Guarantees: the same iterations; no other change.
Stmt constant_extents(const Stmt &s, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
