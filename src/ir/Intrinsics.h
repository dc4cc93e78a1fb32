#pragma once

#include <string>

#include "ir/Expr.h"
#include "ir/IR.h"

namespace Halide {
namespace Internal {

/// What is known about an intrinsic, whatever its arguments.
struct IntrinsicInfo {
    const char *name;
    Call::IntrinsicOp op;
    int min_args, max_args;
    /// Without side effect, and the same value whenever evaluated.
    bool pure;
    /// Each lane of the result depends on the same lane of the arguments only.
    bool elementwise;
    /// Has an expansion into other operations (lower_intrinsic), which also defines its meaning.
    bool expands;
};

const IntrinsicInfo &intrinsic_info(Call::IntrinsicOp op);

/// Null if there is no intrinsic of this name.
const IntrinsicInfo *find_intrinsic(const std::string &name);

}  // namespace Internal
}  // namespace Halide
