#pragma once

/// The side of JIT code that faces the program: handlers, exceptions, symbols. Without LLVM.

#include <string>

#include "codegen/llvm/JITModule.h"

namespace Halide::Internal {

/// Installs our handlers in the native runtime, once per process.
void install_jit_handlers();

/// The context of the run that the calling thread works for; null if there is none.
JITUserContext *current_jit_context();

/// Called by compiled code with an exception in flight out of an extern function (Itanium ABI): keeps it for the end
/// of the run.
extern "C" void halide_jit_caught_exception(void *exception);
/// Called by trampolines of pipelines used as extern functions.
extern "C" void *halide_jit_current_context();

/// Address of a symbol that JIT code may use: the native runtime, then this process, then the symbol table of the
/// program's own executable. Null if there is none.
void *find_process_symbol(const std::string &name);

/// Functions of the C library that compiled code calls, and which throw nothing.
bool is_c_library_function(const std::string &name);

}  // namespace Halide::Internal
