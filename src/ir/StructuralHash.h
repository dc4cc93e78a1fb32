#pragma once

#include "ir/Expr.h"

#include <cstdint>

namespace Halide {
namespace Internal {

/// structural_hash for tables in which things of any size are looked up again and again: a few dozen nodes count at
/// most, so that it takes a constant time.
uint64_t structural_hash_of_top(const Expr &e);

}  // namespace Internal
}  // namespace Halide
