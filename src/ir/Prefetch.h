#pragma once

#include "ir/Enums.h"
#include "ir/Expr.h"
#include "ir/Parameter.h"

#include <string>

namespace Halide {
namespace Internal {

/// A prefetch asked for by the schedule: inside loop `at`, fetch what iteration `from + offset` will read of `name`.
struct PrefetchDirective {
    std::string name;
    std::string at;
    std::string from;
    Expr offset;
    PrefetchBoundStrategy strategy = PrefetchBoundStrategy::GuardWithIf;
    /// If the data is an input image, its parameter.
    Parameter param;
};

}  // namespace Internal
}  // namespace Halide
