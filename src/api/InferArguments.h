#pragma once

#include <vector>

#include "func/Function.h"
#include "ir/Argument.h"
#include "ir/Buffer.h"
#include "ir/Parameter.h"

namespace Halide {
namespace Internal {

/// An input that a pipeline uses: a parameter, or a buffer embedded in the program.
struct InferredArgument {
    Argument arg;
    Parameter param;
    /// Defined for embedded buffers, which have no parameter.
    Buffer<> buffer;
};

/// All inputs of a pipeline, except the user context: buffers first, then scalars, each by name.
///
/// @throws CompileError  two different inputs have the same name.
std::vector<InferredArgument> infer_arguments(const std::vector<Function> &outputs,
                                              const std::vector<Stmt> &requirements);

}  // namespace Internal
}  // namespace Halide
