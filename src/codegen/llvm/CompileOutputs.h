#pragma once

#include <map>
#include <string>

#include "func/Module.h"

namespace Halide::Internal {

/// Writes the files asked for of one module: what Module::compile does. Submodules must be resolved.
///
/// @throws CompileError  an output cannot be made by the back ends that this library has, or a file not be written.
void compile_module(const Module &m, const std::map<OutputFileType, std::string> &outputs);

/// A self-contained page that shows a module's statements as a foldable tree, with LLVM or native assembly if given.
std::string module_to_html(const Module &m, const std::string &assembly = "");

/// The C++ header that describes the arguments of a module's public functions at compile time.
std::string function_info_header(const Module &m);

/// The C++ source whose static initialiser registers a module's public functions for RunGen.
std::string registration_source(const Module &m);

}  // namespace Halide::Internal
