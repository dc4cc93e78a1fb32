#pragma once

#include <string>
#include <vector>

#include "func/Function.h"

namespace Halide {
namespace Internal {

/// The loop nests of a pipeline as people read them (spec surface.md 5.2).
std::string loop_nest_text(const std::vector<Function> &outputs);

}  // namespace Internal
}  // namespace Halide
