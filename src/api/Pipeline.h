#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "api/CustomLoweringPass.h"
#include "api/Realization.h"
#include "codegen/llvm/JITModule.h"
#include "func/Function.h"
#include "func/Module.h"
#include "ir/Argument.h"
#include "ir/IROperator.h"
#include "ir/Target.h"
#include "runtime/HalideBuffer.h"
#include "support/IntrusivePtr.h"

namespace Halide {

class Callable;
class Func;
class Pipeline;
struct JITExtern;

/// The form in which statements are written to files.
enum StmtOutputFormat { Text, HTML };

using AutoSchedulerFn =
    std::function<void(const Pipeline &, const Target &, const AutoschedulerParams &, AutoSchedulerResults *outputs)>;

namespace Internal {

struct PipelineContents;

template <>
RefCount &ref_count<PipelineContents>(const PipelineContents *) noexcept;
template <>
void destroy<PipelineContents>(const PipelineContents *);

}  // namespace Internal

/// One or more Funcs to be compiled and run together. A shared handle.
class Pipeline {
public:
    /// Where `realize` puts its results: existing buffers, one for each value of each output.
    class RealizationArg {
        std::vector<Buffer<>> buffers_;
        /// Used if there are no Buffers; null is left to the entry checks of the pipeline.
        halide_buffer_t *raw_ = nullptr;
        bool is_raw_ = false;

    public:
        // @{
        RealizationArg(Realization &r);
        RealizationArg(Realization &&r);
        RealizationArg(halide_buffer_t *buf) : raw_(buf), is_raw_(true) {}
        template <typename T, int Dims>
        RealizationArg(Runtime::Buffer<T, Dims> &dst) : raw_(dst.raw_buffer()), is_raw_(true) {}
        template <typename T, int Dims>
        RealizationArg(Runtime::Buffer<T, Dims> &&dst) : raw_(dst.raw_buffer()), is_raw_(true) {}
        template <typename T, int Dims, typename... Args,
                  typename = std::enable_if_t<(std::is_convertible_v<Args, Buffer<>> && ...)>>
        RealizationArg(const Buffer<T, Dims> &a, Args &&...args)
            : buffers_{Buffer<>(a), Buffer<>(std::forward<Args>(args))...} {}
        RealizationArg(const std::vector<Buffer<>> &buffers) : buffers_(buffers) {}
        // @}

        RealizationArg(RealizationArg &&from) = default;

        /// How many buffers there are.
        size_t size() const { return is_raw_ ? 1 : buffers_.size(); }
        /// Buffer number i in the form that compiled code takes.
        halide_buffer_t *raw_buffer(size_t i) const;
    };

private:
    Internal::IntrusivePtr<Internal::PipelineContents> contents;

    void check_defined(const char *what) const;
    void infer_bounds(JITUserContext *context, const RealizationArg &output, const Target &target);
    Target jit_target(const Target &requested) const;
    std::string default_function_name() const;

    friend struct Internal::PipelineContents;
    static Internal::PipelineContents *contents_of(const Pipeline &p);

public:
    /// An undefined pipeline.
    Pipeline();
    Pipeline(const Func &output);
    Pipeline(const std::vector<Func> &outputs);
    Pipeline(const std::vector<Func> &outputs, const std::vector<Internal::Stmt> &requirements);

    std::vector<Func> outputs() const;
    std::vector<Internal::Stmt> requirements() const;
    bool defined() const;

    /// Func number `index` of all that this pipeline computes, producers before consumers.
    Func get_func(size_t index);

    /// The inputs: buffers first, then scalars, each by name. @see compile_to_module
    std::vector<Argument> infer_arguments();

    /// @name Autoschedulers
    // @{
    /// Registers an autoscheduler. @throws CompileError  the name is taken.
    static void add_autoscheduler(const std::string &autoscheduler_name, const AutoSchedulerFn &autoscheduler);
    /// Schedules the pipeline. @throws CompileError  there is no autoscheduler of this name.
    AutoSchedulerResults apply_autoscheduler(const Target &target,
                                             const AutoschedulerParams &autoscheduler_params) const;
    // @}

    /// Prefixes of runtime symbols for code compiled ahead of time. @throws CompileError  the target is for JIT.
    void apply_runtime_prefixes(const Target &target, const RuntimePrefixParams &params);

    /// @name Compilation ahead of time
    ///
    /// `args` lists the inputs in the order of the call; unused ones are allowed. An empty `fn_name` means the name
    /// of the first output.
    /// @throws CompileError  an input is used but not listed, or the program or schedule is wrong.
    // @{
    void compile_to(const std::map<OutputFileType, std::string> &output_files, const std::vector<Argument> &args,
                    const std::string &fn_name, const Target &target);
    void compile_to_bitcode(const std::string &filename, const std::vector<Argument> &args, const std::string &fn_name,
                            const Target &target = get_target_from_environment());
    void compile_to_llvm_assembly(const std::string &filename, const std::vector<Argument> &args,
                                  const std::string &fn_name, const Target &target = get_target_from_environment());
    void compile_to_object(const std::string &filename, const std::vector<Argument> &args, const std::string &fn_name,
                           const Target &target = get_target_from_environment());
    void compile_to_header(const std::string &filename, const std::vector<Argument> &args, const std::string &fn_name,
                           const Target &target = get_target_from_environment());
    void compile_to_assembly(const std::string &filename, const std::vector<Argument> &args, const std::string &fn_name,
                             const Target &target = get_target_from_environment());
    void compile_to_c(const std::string &filename, const std::vector<Argument> &args, const std::string &fn_name,
                      const Target &target = get_target_from_environment());
    void compile_to_lowered_stmt(const std::string &filename, const std::vector<Argument> &args,
                                 StmtOutputFormat fmt = Text, const Target &target = get_target_from_environment());
    void compile_to_conceptual_stmt(const std::string &filename, const std::vector<Argument> &args,
                                    StmtOutputFormat fmt = Text, const Target &target = get_target_from_environment());
    /// Prints the loop nests to standard error.
    void print_loop_nest();
    void compile_to_file(const std::string &filename_prefix, const std::vector<Argument> &args,
                         const std::string &fn_name, const Target &target = get_target_from_environment());
    void compile_to_static_library(const std::string &filename_prefix, const std::vector<Argument> &args,
                                   const std::string &fn_name, const Target &target = get_target_from_environment());
    /// Writes kernels for an Ascend core and how to launch them: `filename_prefix`.pto.py and .launch.json.
    ///
    /// @param target  gets the feature pto_a5 if it has no PTO device.
    /// @throws CompileError  the schedule asks for what such a core does not have.
    void compile_to_pto(const std::string &filename_prefix, const std::vector<Argument> &args,
                        const std::string &fn_name = "", const Target &target = get_target_from_environment());
    void compile_to_multitarget_static_library(const std::string &filename_prefix, const std::vector<Argument> &args,
                                               const std::vector<Target> &targets);
    void compile_to_multitarget_object_files(const std::string &filename_prefix, const std::vector<Argument> &args,
                                             const std::vector<Target> &targets,
                                             const std::vector<std::string> &suffixes);
    Module compile_to_module(const std::vector<Argument> &args, const std::string &fn_name,
                             const Target &target = get_target_from_environment(),
                             LinkageType linkage_type = LinkageType::ExternalPlusMetadata);
    // @}

    /// @name Compilation in this process
    // @{
    /// Compiles now what `realize` would compile on its first call.
    void compile_jit(const Target &target = get_jit_target_from_environment());
    /// A function object that takes the arguments in this order, then the outputs.
    Callable compile_to_callable(const std::vector<Argument> &args,
                                 const Target &target = get_jit_target_from_environment());
    /// Functions that extern calls of this pipeline shall find before those of the process.
    void set_jit_externs(const std::map<std::string, JITExtern> &externs);
    const std::map<std::string, JITExtern> &get_jit_externs();
    /// Services that runs of this pipeline replace. May be changed between runs.
    JITHandlers &jit_handlers();
    // @}

    /// @name Passes added to the end of lowering
    // @{
    /// The pipeline owns the pass.
    template <typename T>
    void add_custom_lowering_pass(T *pass) {
        // What a deleter captures must not depend on T being complete where the pipeline dies.
        add_custom_lowering_pass(pass, [pass]() { delete pass; });
    }
    void add_custom_lowering_pass(Internal::IRMutator *pass, std::function<void()> deleter);
    void clear_custom_lowering_passes();
    const std::vector<CustomLoweringPass> &custom_lowering_passes();
    // @}

    /// @name Running
    ///
    /// With sizes, outputs are allocated from (0, 0, …), all of the same size; regions that the schedule rounds up are
    /// computed in full and cropped. With buffers, exactly these are filled; they must be large enough.
    /// An unset target means the one compiled for, or else that of the environment.
    // @{
    Realization realize(std::vector<int32_t> sizes = {}, const Target &target = Target());
    Realization realize(JITUserContext *context, std::vector<int32_t> sizes = {}, const Target &target = Target());
    void realize(RealizationArg output, const Target &target = Target());
    void realize(JITUserContext *context, RealizationArg output, const Target &target = Target());
    // @}

    /// @name Sizes of inputs
    /// Allocates every input image that is not bound, in the size that this output needs.
    // @{
    void infer_input_bounds(const std::vector<int32_t> &sizes,
                            const Target &target = get_jit_target_from_environment());
    void infer_input_bounds(JITUserContext *context, const std::vector<int32_t> &sizes,
                            const Target &target = get_jit_target_from_environment());
    void infer_input_bounds(RealizationArg output, const Target &target = get_jit_target_from_environment());
    void infer_input_bounds(JITUserContext *context, RealizationArg output,
                            const Target &target = get_jit_target_from_environment());
    // @}

    /// Forgets compiled code.
    void invalidate_cache();

    /// A condition on parameters and buffer shapes, checked at entry. What follows it goes into the message.
    ///
    /// @throws CompileError  the condition depends on a Var or a Func.
    // @{
    void add_requirement(const Expr &condition, const std::vector<Expr> &error_args);
    template <typename... Args>
    std::enable_if_t<(!std::is_same_v<std::decay_t<Args>, std::vector<Expr>> && ...)>
    add_requirement(const Expr &condition, Args &&...error_args) {
        std::vector<Expr> collected;
        Internal::collect_print_args(collected, std::forward<Args>(error_args)...);
        add_requirement(condition, collected);
    }
    // @}

    /// Traces the start and the end of runs.
    void trace_pipeline();
};

/// What an extern call in JIT code can be bound to: a C function, or another pipeline.
struct JITExtern {
private:
    Pipeline pipeline_;
    ExternCFunction extern_c_function_;

public:
    // @{
    JITExtern(const Pipeline &pipeline);
    JITExtern(const Func &func);
    JITExtern(const ExternCFunction &extern_c_function);
    template <typename RT, typename... Args>
    JITExtern(RT (*f)(Args... args)) : JITExtern(ExternCFunction(f)) {}
    // @}

    const Pipeline &pipeline() const { return pipeline_; }
    const ExternCFunction &extern_c_function() const { return extern_c_function_; }
};

namespace Internal {

/// Registers a class with a static method `std::string name()` and a call operator of AutoSchedulerFn's type.
template <typename AutoschedulerImplementation>
struct RegisterAutoscheduler {
    explicit RegisterAutoscheduler(const std::string &name) {
        Pipeline::add_autoscheduler(name, AutoschedulerImplementation{});
    }
};

}  // namespace Internal

#define HALIDE_REGISTER_AUTOSCHEDULER(Class, Name)                                                                     \
    namespace halide_register_autoscheduler {                                                                          \
    static const ::Halide::Internal::RegisterAutoscheduler<Class> Class##_registered(#Name);                           \
    }

}  // namespace Halide
