#pragma once

#include "ir/Expr.h"
#include "ir/IR.h"

#include <string>

namespace Halide {
namespace Internal {

/// Makes the accesses of an allocation inside vectorized loops private to each lane of L lanes: element i of lane l is at
/// i·L + l, so that all lanes at once are dense. If short vectors are accessed (words of a SWAR loop), those take the
/// place of elements where they are aligned; else the lanes' copies stand one after the other.
///
/// @param lane  the number of the lane, in terms of the loops' variables.
/// @param size  elements of one copy; undefined if it differs by lane.
Stmt storage_per_lane(const Stmt &body, const std::string &buffer, int lanes, const Expr &lane, const Expr &size);

}  // namespace Internal
}  // namespace Halide
