#pragma once

#include <functional>

#include "ir/IRMutator.h"

namespace Halide {

/// A pass that a program adds to the lowering of a pipeline.
struct CustomLoweringPass {
    Internal::IRMutator *pass;
    /// Called when the pass is removed; may be empty.
    std::function<void()> deleter;
};

}  // namespace Halide
