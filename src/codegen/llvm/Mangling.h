#pragma once

#include <string>
#include <vector>

#include "func/Function.h"
#include "ir/Target.h"
#include "ir/Type.h"

namespace Halide::Internal {

/// The symbol of a C++ function in the Itanium ABI. (With the Microsoft ABI it is an error to ask.)
std::string mangle_cplusplus_name(const std::string &name, const std::vector<std::string> &namespaces,
                                  const Type &return_type, const std::vector<Type> &args, const Target &target);

/// The same for the arguments of an extern stage.
std::string cplusplus_function_mangled_name(const std::string &name, const std::vector<std::string> &namespaces,
                                            Type return_type, const std::vector<ExternFuncArgument> &args,
                                            const Target &target);

}  // namespace Halide::Internal
