#pragma once

#include "ir/Expr.h"

#include <optional>
#include <utility>

namespace Halide {
namespace Internal {

/// One lane of a vector expression, as a scalar. The vector must come from one loop: no nested ramps.
Expr lane_of(const Expr &e, int lane);

/// Each lane `times` times in a row.
Expr repeat_each(const Expr &e, int times);

/// The first lane of an integer vector and the step from each lane to the next, if all steps are the same.
std::optional<std::pair<Expr, Expr>> as_affine_lanes(const Expr &e);

}  // namespace Internal
}  // namespace Halide
