#pragma once

#include "lower/Pipeline.h"
#include "ir/Interval.h"
#include "ir/Scope.h"

namespace Halide {
namespace Internal {

/// What is known at a vectorized loop.
struct TileScope {
    Scope<> local;            ///< Funcs in UB or registers; everything else is in global memory.
    Scope<Interval> bounds;   ///< Constant bounds of lets and loops around.
    std::vector<std::pair<std::string, Expr>> lets;   ///< Definitions around, outermost first.
};

/// Gives one outermost vectorized loop of a kernel tiles in UB for its accesses to global memory; cuts it into pieces if
/// the tiles would be too large or of unknown size. @see pto_stage
Stmt stage_vector_loop(const For *loop, const TileScope &scope, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
