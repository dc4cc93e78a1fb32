#pragma once

#include <map>
#include <string>

#include <llvm/IR/Module.h>

#include "func/Module.h"
#include "ir/Target.h"

namespace Halide::Internal {

/// Links the runtime for the target into a module: all of it, as weak symbols, compiled for the module's CPU.
///
/// @throws CompileError  if this library was built without the runtime for this system.
void link_runtime(llvm::Module &m, const Target &t);

/// Renames runtime symbols (RuntimePrefixParams): what a kernel imports, what a runtime exports, what it uses inside.
void apply_runtime_prefixes(llvm::Module &m, const RuntimeNamespaceMap &prefixes);

}  // namespace Halide::Internal
