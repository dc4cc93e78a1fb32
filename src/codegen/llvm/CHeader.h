#pragma once

#include <string>

#include "func/Module.h"

namespace Halide::Internal {

/// The C and C++ header that declares a module's public functions (spec aot.md 1.2). It stands alone: unless the target
/// has no_runtime, it contains HalideRuntime.h.
std::string c_header(const Module &m);

/// The declaration of one function without `extern "C"` and semicolon.
std::string c_declaration(const LoweredFunc &f, const std::string &name);

/// The C++ header that describes the arguments of a module's public functions at compile time.
std::string function_info_header(const Module &m);

/// The C++ source whose static initialiser registers a module's public functions for RunGen.
std::string registration_source(const Module &m);

}  // namespace Halide::Internal
