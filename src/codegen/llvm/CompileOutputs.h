#pragma once

#include <map>
#include <string>

#include "func/Module.h"

namespace Halide::Internal {

/// Writes the files asked for of one module: what Module::compile does. Submodules must be resolved.
///
/// @throws CompileError  an output cannot be made by the back ends that this library has, or a file not be written.
void compile_module(const Module &m, const std::map<OutputFileType, std::string> &outputs);

/// The LLVM code of a module as it is before LLVM works on it, without the runtime: what we ask of LLVM.
std::string llvm_text_before_optimization(const Module &m);

/// A self-contained page that shows a module's statements as a foldable tree.
std::string module_to_html(const Module &m);
/// The same for one statement.
std::string stmt_to_html(const std::string &title, const Stmt &s);

}  // namespace Halide::Internal
