#pragma once

#include <set>
#include <string>

#include "ir/IR.h"

namespace Halide {
namespace Internal {

/// Buffers that different iterations of a loop touch in different places only: every access lies in a window that moves with
/// the loop by at least its own width. Accesses of moves between memories do not count as such.
std::set<std::string> buffers_apart_in_iterations(const For *loop);

}  // namespace Internal
}  // namespace Halide
