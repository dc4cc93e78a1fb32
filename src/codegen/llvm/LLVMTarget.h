#pragma once

/// From a Target to LLVM's words for it: triple, CPU, features, target machine. Also optimization and emission.

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "ir/Target.h"

namespace Halide::Internal {

/// Registers LLVM's back ends and installs a handler that turns fatal errors of LLVM into InternalErrors. Once.
void initialize_llvm();

llvm::Triple llvm_triple(const Target &t);
std::string llvm_cpu(const Target &t);
std::string llvm_tune_cpu(const Target &t);
std::string llvm_features(const Target &t);

/// @throws CompileError  if LLVM was built without the back end.
std::unique_ptr<llvm::TargetMachine> make_target_machine(const Target &t);

/// Sets target-cpu, target-features, tune-cpu, frame pointer, vector length and sanitizer attributes.
void set_target_attributes(llvm::Function *f, const Target &t);

/// What optimization has to know besides the target.
struct OptimizeOptions {
    /// LLVM's own loop and SLP vectorizers may run.
    bool vectorizers = false;
    /// Sanitizers of the target instrument the code.
    bool sanitize = true;
};

/// Runs LLVM's standard pipeline for -O3.
void optimize_module(llvm::Module &m, llvm::TargetMachine &tm, const Target &t, const OptimizeOptions &options);

/// Prints how long the steps of code generation take if BROMIDE_TIME is set.
class StepTimer {
    std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();

public:
    /// Time since the last step, or since construction.
    void step(const char *name);
};

enum class EmitKind { Object, Assembly };

/// Machine code or assembly of a module. The module is changed by code generation.
std::vector<char> emit_machine_code(llvm::Module &m, llvm::TargetMachine &tm, EmitKind kind);

}  // namespace Halide::Internal
