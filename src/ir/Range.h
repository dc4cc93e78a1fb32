#pragma once

#include <utility>
#include <vector>

#include "ir/Expr.h"

namespace Halide {

/// The coordinates min, min + 1, …, min + extent − 1 of one dimension.
struct Range {
    Expr min, extent;

    Range() = default;
    Range(const Expr &min, const Expr &extent);
};

/// A box: one range per dimension.
typedef std::vector<Range> Region;

}  // namespace Halide
