#pragma once

#include <optional>

#include "ir/IR.h"
#include "ir/Scope.h"

namespace Halide {
namespace Internal {

/// The number of iterations of a loop, if it is the same in every run. Its ends may be names of `lets`, the lets around
/// it. Zero or less: the loop does nothing.
std::optional<int64_t> constant_extent(const For *op, const Scope<Expr> &lets);

}  // namespace Internal
}  // namespace Halide
