#pragma once

// What a Pipeline holds: for Pipeline.cpp and PipelineOutputs.cpp.

#include "api/CustomLoweringPass.h"
#include "api/InferArguments.h"
#include "api/Pipeline.h"

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace Halide {
namespace Internal {

/// A pipeline compiled for this process.
struct CompiledPipeline {
    mutable RefCount ref_count;
    Target target;
    std::vector<InferredArgument> args;
    JITModule module;
};

template <>
RefCount &ref_count<CompiledPipeline>(const CompiledPipeline *c) noexcept;
template <>
void destroy<CompiledPipeline>(const CompiledPipeline *c);

struct PipelineContents {
    mutable RefCount ref_count;

    std::vector<Function> outputs;
    std::vector<Stmt> requirements;
    bool trace_pipeline = false;

    /// Guards what runs in several threads share: the compiled code.
    std::mutex mutex;
    IntrusivePtr<CompiledPipeline> compiled;

    JITHandlers jit_handlers;
    std::map<std::string, JITExtern> jit_externs;
    std::vector<CustomLoweringPass> custom_passes;
    RuntimeNamespaceMap runtime_prefixes;

    void invalidate() {
        std::lock_guard<std::mutex> lock(mutex);
        compiled = IntrusivePtr<CompiledPipeline>();
    }

    void clear_custom_passes() {
        invalidate();
        for (const CustomLoweringPass &p : custom_passes) {
            if (p.deleter) {
                p.deleter();
            }
        }
        custom_passes.clear();
    }

    std::vector<IRMutator *> passes() const {
        std::vector<IRMutator *> result;
        for (const CustomLoweringPass &p : custom_passes) {
            result.push_back(p.pass);
        }
        return result;
    }

    void check_outputs() const {
        for (const Function &f : outputs) {
            user_assert(f.has_pure_definition() || f.has_extern_definition())
                << "Can't compile undefined Func " << f.name() << ".\n";
            user_assert(!f.schedule().memoized())
                << "Can't compile Func " << f.name()
                << " as an output of a pipeline, because it is memoized: the caller owns its memory.\n"
                << "  Memoize a Func that the output reads.\n";
        }
    }

    IntrusivePtr<CompiledPipeline> compile(Target target);
    JITModule externs_module(const Target &target);

    ~PipelineContents() { clear_custom_passes(); }
};

/// The argument through which programs pass a context to their handlers.
const Argument &user_context_argument();

/// The name of a C function for a pipeline whose first output has this name.
std::string function_name_for(std::string name);

}  // namespace Internal
}  // namespace Halide
