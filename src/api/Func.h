#pragma once

#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "api/Callable.h"
#include "api/FuncRef.h"
#include "api/OutputImageParam.h"
#include "api/Pipeline.h"
#include "api/RDom.h"
#include "api/Stage.h"
#include "api/StandardHeaders.h"
#include "api/Tuple.h"
#include "api/Var.h"
#include "func/Function.h"
#include "ir/Argument.h"
#include "ir/Target.h"

namespace Halide {

/// What entries of the cache of a memoized Func are called when they are to be evicted: an integer or a handle.
struct EvictionKey {
    Expr key;

    explicit EvictionKey(const Expr &expr = Expr()) : key(expr) {}

    friend class Func;
};

/// A function over an integer grid, defined by expressions, with a schedule of how it is computed and stored.
///
/// A handle: copies are the same Func. Loop directives (LoopDirectives) act on the pure definition; `update(k)` gives
/// the stages of updates.
class Func : public LoopDirectives<Func> {
    Internal::Function func;
    Pipeline pipeline_;

    void invalidate_cache();
    Pipeline pipeline(const char *what);
    Func &set_bound(const Var &var, const Internal::Bound &bound, const char *directive, bool estimate);
    Internal::StorageDim &storage_dim(const Var &dim, const char *directive);
    Func make_copy(DeviceAPI d, const char *directive);
    Func wrapper_for(const std::vector<Func> &consumers, bool clone);

    friend class LoopDirectives<Func>;
    /// The stage that loop directives act on; compiled code is out of date from now on.
    Stage directive_stage();

public:
    /// @name Construction
    // @{
    /// A Func with a name of its own. Names that are taken get a suffix.
    explicit Func(const std::string &name);
    /// A Func whose definition must have these types and dimensions (-1: any).
    explicit Func(const Type &required_type, int required_dims, const std::string &name);
    explicit Func(const std::vector<Type> &required_types, int required_dims, const std::string &name);
    /// A Func with a fresh name.
    Func();
    /// The expression as a function of its implicit Vars.
    explicit Func(const Expr &e);
    explicit Func(Internal::Function f);
    /// A Func that reads a buffer.
    template <typename T, int Dims>
    explicit Func(Buffer<T, Dims> &im) : Func() {
        (*this)(_) = im(_);
    }
    template <typename T, int Dims>
    explicit Func(const Buffer<T, Dims> &im) : Func() {
        (*this)(_) = im(_);
    }
    // @}

    /// @name Running. @see Pipeline
    // @{
    Realization realize(std::vector<int32_t> sizes = {}, const Target &target = Target());
    Realization realize(JITUserContext *context, std::vector<int32_t> sizes = {}, const Target &target = Target());
    void realize(Pipeline::RealizationArg outputs, const Target &target = Target());
    void realize(JITUserContext *context, Pipeline::RealizationArg outputs, const Target &target = Target());
    void infer_input_bounds(const std::vector<int32_t> &sizes,
                            const Target &target = get_jit_target_from_environment());
    void infer_input_bounds(JITUserContext *context, const std::vector<int32_t> &sizes,
                            const Target &target = get_jit_target_from_environment());
    void infer_input_bounds(Pipeline::RealizationArg outputs, const Target &target = get_jit_target_from_environment());
    void infer_input_bounds(JITUserContext *context, Pipeline::RealizationArg outputs,
                            const Target &target = get_jit_target_from_environment());
    // @}

    /// @name Compilation. @see Pipeline
    // @{
    void compile_to(const std::map<OutputFileType, std::string> &output_files, const std::vector<Argument> &args,
                    const std::string &fn_name, const Target &target = get_target_from_environment());
    void compile_to_bitcode(const std::string &filename, const std::vector<Argument> &args, const std::string &fn_name,
                            const Target &target = get_target_from_environment());
    void compile_to_bitcode(const std::string &filename, const std::vector<Argument> &args,
                            const Target &target = get_target_from_environment());
    void compile_to_llvm_assembly(const std::string &filename, const std::vector<Argument> &args,
                                  const std::string &fn_name, const Target &target = get_target_from_environment());
    void compile_to_llvm_assembly(const std::string &filename, const std::vector<Argument> &args,
                                  const Target &target = get_target_from_environment());
    void compile_to_object(const std::string &filename, const std::vector<Argument> &args, const std::string &fn_name,
                           const Target &target = get_target_from_environment());
    void compile_to_object(const std::string &filename, const std::vector<Argument> &args,
                           const Target &target = get_target_from_environment());
    void compile_to_assembly(const std::string &filename, const std::vector<Argument> &args, const std::string &fn_name,
                             const Target &target = get_target_from_environment());
    void compile_to_assembly(const std::string &filename, const std::vector<Argument> &args,
                             const Target &target = get_target_from_environment());
    void compile_to_header(const std::string &filename, const std::vector<Argument> &args,
                           const std::string &fn_name = "", const Target &target = get_target_from_environment());
    void compile_to_c(const std::string &filename, const std::vector<Argument> &args, const std::string &fn_name = "",
                      const Target &target = get_target_from_environment());
    void compile_to_lowered_stmt(const std::string &filename, const std::vector<Argument> &args,
                                 StmtOutputFormat fmt = Text, const Target &target = get_target_from_environment());
    void compile_to_conceptual_stmt(const std::string &filename, const std::vector<Argument> &args,
                                    StmtOutputFormat fmt = Text, const Target &target = get_target_from_environment());
    void print_loop_nest();
    void compile_to_file(const std::string &filename_prefix, const std::vector<Argument> &args,
                         const std::string &fn_name = "", const Target &target = get_target_from_environment());
    void compile_to_static_library(const std::string &filename_prefix, const std::vector<Argument> &args,
                                   const std::string &fn_name = "",
                                   const Target &target = get_target_from_environment());
    void compile_to_multitarget_static_library(const std::string &filename_prefix, const std::vector<Argument> &args,
                                               const std::vector<Target> &targets);
    void compile_to_multitarget_object_files(const std::string &filename_prefix, const std::vector<Argument> &args,
                                             const std::vector<Target> &targets,
                                             const std::vector<std::string> &suffixes);
    Module compile_to_module(const std::vector<Argument> &args, const std::string &fn_name = "",
                             const Target &target = get_target_from_environment());
    void compile_jit(const Target &target = get_jit_target_from_environment());
    Callable compile_to_callable(const std::vector<Argument> &args,
                                 const Target &target = get_jit_target_from_environment());
    void set_jit_externs(const std::map<std::string, JITExtern> &externs);
    const std::map<std::string, JITExtern> &get_jit_externs();
    JITHandlers &jit_handlers();
    template <typename T>
    void add_custom_lowering_pass(T *pass) {
        add_custom_lowering_pass(pass, [pass]() { delete pass; });
    }
    void add_custom_lowering_pass(Internal::IRMutator *pass, std::function<void()> deleter);
    void clear_custom_lowering_passes();
    const std::vector<CustomLoweringPass> &custom_lowering_passes();
    std::vector<Argument> infer_arguments() const;
    // @}

    /// @name Inspection
    // @{
    const std::string &name() const;
    std::vector<Var> args() const;
    /// Right side of the pure definition; all of them for a Func with several values.
    Expr value() const;
    Tuple values() const;
    bool defined() const;
    const std::vector<Expr> &update_args(int idx = 0) const;
    Expr update_value(int idx = 0) const;
    Tuple update_values(int idx = 0) const;
    std::vector<RVar> rvars(int idx = 0) const;
    bool has_update_definition() const;
    int num_update_definitions() const;
    bool is_extern() const;
    const std::string &extern_function_name() const;
    /// Type of the value, or all of them.
    const Type &type() const;
    const std::vector<Type> &types() const;
    /// How many values the Func has.
    int outputs() const;
    /// -1 for an undefined Func.
    int dimensions() const;
    const Internal::StageSchedule &get_schedule() const { return Stage(func, func.definition(), 0).get_schedule(); }
    std::vector<std::variant<Var, RVar>> split_vars() const;
    Internal::Function function() const { return func; }
    /// Where the Func was defined in the program; empty if not known.
    std::string source_location() const { return ""; }
    // @}

    /// Defines the Func by a function of the process or of the program that links with the pipeline.
    /// @see spec language.md 4.7
    // @{
    void define_extern(const std::string &function_name, const std::vector<ExternFuncArgument> &params, Type type,
                       int dimensionality, NameMangling mangling = NameMangling::Default,
                       DeviceAPI device_api = DeviceAPI::Host);
    void define_extern(const std::string &function_name, const std::vector<ExternFuncArgument> &params,
                       const std::vector<Type> &types, int dimensionality,
                       NameMangling mangling = NameMangling::Default, DeviceAPI device_api = DeviceAPI::Host);
    void define_extern(const std::string &function_name, const std::vector<ExternFuncArgument> &params, Type type,
                       const std::vector<Var> &arguments, NameMangling mangling = NameMangling::Default,
                       DeviceAPI device_api = DeviceAPI::Host);
    void define_extern(const std::string &function_name, const std::vector<ExternFuncArgument> &params,
                       const std::vector<Type> &types, const std::vector<Var> &arguments,
                       NameMangling mangling = NameMangling::Default, DeviceAPI device_api = DeviceAPI::Host);
    // @}

    /// A call, or the left side of a definition.
    // @{
    FuncRef operator()(std::vector<Var>) const;
    template <typename... Args>
    std::enable_if_t<(std::is_convertible_v<Args, Var> && ...), FuncRef> operator()(Args &&...args) const {
        std::vector<Var> collected{Var(std::forward<Args>(args))...};
        return this->operator()(collected);
    }
    FuncRef operator()(std::vector<Expr>) const;
    template <typename... Args>
    std::enable_if_t<(std::is_convertible_v<Args, Expr> && ...), FuncRef> operator()(const Expr &x,
                                                                                     Args &&...args) const {
        std::vector<Expr> collected{x, Expr(std::forward<Args>(args))...};
        return this->operator()(collected);
    }
    // @}

    /// Update number idx, to be scheduled.
    Stage update(int idx = 0);
    /// The pure definition, to be scheduled.
    operator Stage() const;
    operator ExternFuncArgument() const;

    /// The output buffers as parameters: to constrain strides and bounds.
    // @{
    OutputImageParam output_buffer() const;
    std::vector<OutputImageParam> output_buffers() const;
    // @}

    /// A Func that copies this one, for some consumers to read instead, or for all of them. Asking again for the same
    /// consumers returns the same Func.
    // @{
    Func in(const Func &f);
    Func in(const std::vector<Func> &fs);
    Func in();
    // @}
    /// The same with a copy of the definition and schedule: the consumers no longer depend on this Func.
    // @{
    Func clone_in(const Func &f);
    Func clone_in(const std::vector<Func> &fs);
    // @}

    /// Makes this Func, a plain call of another one, a copy to a device or back.
    // @{
    Func copy_to_device(DeviceAPI d = DeviceAPI::Default_GPU);
    Func copy_to_host();
    // @}

    /// Computes this Func in another type: it becomes an inlined cast of a new Func, which is returned to be scheduled.
    /// Values are those of the unchanged program, as long as all of them have the new type.
    ///
    /// @param unsafe  take the programmer's word for that; floating point is then computed in the new type throughout.
    /// @throws CompileError  the Func has several values, an extern definition or a schedule, or values may be lost.
    ///                       Where that depends on the extent of a reduction, the pipeline checks it when it runs.
    Func change_type(const Type &t, bool unsafe = false);

    /// @name Where things happen
    // @{
    /// Computes what is needed inside each iteration of a loop of a consumer.
    Func &compute_at(const Func &f, const Var &var);
    Func &compute_at(const Func &f, const RVar &var);
    Func &compute_at(LoopLevel loop_level);
    /// Computes everything once, before the consumers.
    Func &compute_root();
    /// Substitutes the definition into the consumers (the default).
    Func &compute_inline();
    /// Where the results are kept. Must enclose the place of computation.
    Func &store_at(const Func &f, const Var &var);
    Func &store_at(const Func &f, const RVar &var);
    Func &store_at(LoopLevel loop_level);
    Func &store_root();
    /// Where memory is allocated. Must enclose the place of storage.
    Func &hoist_storage(const Func &f, const Var &var);
    Func &hoist_storage(const Func &f, const RVar &var);
    Func &hoist_storage(LoopLevel loop_level);
    Func &hoist_storage_root();
    // @}

    /// @name Storage
    // @{
    Func &store_in(MemoryType memory_type);
    /// The order of dimensions in memory, innermost first.
    Func &reorder_storage(const std::vector<Var> &dims);
    Func &reorder_storage(const Var &x, const Var &y);
    template <typename... Args>
    std::enable_if_t<(std::is_convertible_v<Args, Var> && ...), Func &> reorder_storage(const Var &x, const Var &y,
                                                                                        Args &&...args) {
        return reorder_storage(std::vector<Var>{x, y, Var(std::forward<Args>(args))...});
    }
    /// Rounds the extent in memory up to a multiple.
    Func &align_storage(const Var &dim, const Expr &alignment);
    /// Allocates exactly this extent.
    Func &bound_storage(const Var &dim, const Expr &bound);
    /// Keeps only the last `extent` coordinates, in a circular buffer.
    Func &fold_storage(const Var &dim, const Expr &extent, bool fold_forward = true);
    /// Several copies of the storage, used in turn.
    Func &ring_buffer(const Expr &extent);
    /// Keeps results between runs, by the values of all parameters.
    Func &memoize(const EvictionKey &eviction_key = EvictionKey());
    /// Produces in a task of its own.
    Func &async();
    // @}

    /// @name Regions
    // @{
    /// Promises that exactly this region is computed in one dimension. @see bound_extent for the extent only
    Func &bound(const Var &var, Expr min, Expr extent);
    Func &bound_extent(const Var &var, Expr extent);
    /// Grows the region until min % modulus == remainder and the extent is a multiple of modulus.
    Func &align_bounds(const Var &var, Expr modulus, Expr remainder = 0);
    /// Grows the extent only.
    Func &align_extent(const Var &var, Expr modulus);
    /// What to expect; no effect on the code.
    Func &set_estimate(const Var &var, const Expr &min, const Expr &extent);
    Func &set_estimates(const Region &estimates);
    // @}

    /// @name Observation
    // @{
    /// Writes the values to a file whenever they are produced.
    void debug_to_file(const std::string &filename);
    Func &trace_loads();
    Func &trace_stores();
    Func &trace_realizations();
    Func &add_trace_tag(const std::string &trace_tag);
    Func &no_profiling();
    // @}
};

}  // namespace Halide
