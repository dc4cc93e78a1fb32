#pragma once

#include "func/Function.h"

#include <map>
#include <string>

namespace Halide {
namespace Internal {

/// Makes the consumers of wrapped Funcs read the wrappers (`in`, `clone_in`) instead.
///
/// @param env  copies of all functions (deep_copy), which are changed.
/// @returns    the environment with the wrappers in it.
/// @throws CompileError  a wrapper is for a consumer that does not call the wrapped Func.
std::map<std::string, Function> wrap_func_calls(const std::map<std::string, Function> &env);

}  // namespace Internal
}  // namespace Halide
