#pragma once

#include "func/Definition.h"
#include "func/Schedule.h"
#include "ir/Buffer.h"
#include "ir/Enums.h"
#include "ir/Expr.h"
#include "ir/FunctionPtr.h"
#include "ir/Parameter.h"
#include "ir/Reduction.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace Halide {

struct Target;
class Var;

/// An argument of an extern stage.
struct ExternFuncArgument {
    enum ArgType { UndefinedArg = 0, FuncArg, BufferArg, ExprArg, ImageParamArg };
    ArgType arg_type = UndefinedArg;
    Internal::FunctionPtr func;
    Buffer<> buffer;
    Expr expr;
    Internal::Parameter image_param;

    ExternFuncArgument() = default;
    ExternFuncArgument(Internal::FunctionPtr f) : arg_type(FuncArg), func(std::move(f)) {
    }
    template<typename T, int Dims>
    ExternFuncArgument(const Buffer<T, Dims> &b) : arg_type(BufferArg), buffer(b) {
    }
    ExternFuncArgument(Expr e) : arg_type(ExprArg), expr(std::move(e)) {
    }
    ExternFuncArgument(int e) : arg_type(ExprArg), expr(e) {
    }
    ExternFuncArgument(float e) : arg_type(ExprArg), expr(e) {
    }
    /// A buffer parameter is an image; a scalar one is passed by value.
    ExternFuncArgument(const Internal::Parameter &p);

    bool is_func() const {
        return arg_type == FuncArg;
    }
    bool is_expr() const {
        return arg_type == ExprArg;
    }
    bool is_buffer() const {
        return arg_type == BufferArg;
    }
    bool is_image_param() const {
        return arg_type == ImageParamArg;
    }
    bool defined() const {
        return arg_type != UndefinedArg;
    }
};

namespace Internal {

struct Call;
class IRVisitor;
class IRMutator;

/// A function of the program: definitions, schedule and everything else that a Func means.
///
/// A shared handle. Functions that refer to each other in a circle (a Func and its own updates, or its
/// wrappers) live in one group and hold each other weakly, so that nothing leaks.
class Function {
    FunctionPtr contents;

public:
    /// Orders by name, for sets whose order programs can see.
    struct Compare {
        bool operator()(const Function &a, const Function &b) const {
            return a.name() < b.name();
        }
    };

    Function() = default;
    /// `name` must not be that of another function of the program: Func makes it unique.
    explicit Function(const std::string &name);
    /// With requirements that the definition must meet; `required_dims` -1 means any.
    Function(const std::vector<Type> &required_types, int required_dims, const std::string &name);
    explicit Function(const FunctionPtr &ptr);

    const FunctionPtr &get_contents() const {
        return contents;
    }
    FunctionPtr &get_contents() {
        return contents;
    }

    /// Copies everything into `copy` (of an existing, empty function), renaming nothing. References to
    /// functions in `copied_map` are not changed here; see deep_copy in Environment.h.
    void deep_copy(const FunctionPtr &copy, std::map<FunctionPtr, FunctionPtr> &copied_map) const;

    /// The pure definition.
    /// @throws CompileError  per spec language.md 4.2.
    void define(const std::vector<std::string> &args, std::vector<Expr> values);

    /// Forgets definition, updates and extern definition, keeping name and requirements.
    void clear_definition();

    /// Adds an update. Which Vars are pure follows from the left side.
    void define_update(const std::vector<Expr> &args, std::vector<Expr> values, const ReductionDomain &rdom = {});

    /// Visits, or rewrites, every Expr of definitions, schedules and extern arguments.
    void accept(IRVisitor *v) const;
    void mutate(IRMutator *m);

    const std::string &name() const;
    /// The name without the suffix that made it unique.
    const std::string &origin_name() const;

    Definition &definition();
    const Definition &definition() const;

    /// Names of the pure Vars.
    const std::vector<std::string> args() const;
    int dimensions() const;
    int outputs() const {
        return (int)output_types().size();
    }
    const std::vector<Type> &output_types() const;
    const std::vector<Type> &required_types() const;
    int required_dimensions() const;

    /// Right sides of the pure definition.
    const std::vector<Expr> &values() const;

    bool has_pure_definition() const;
    /// Has a pure definition, no updates, and no extern definition.
    bool is_pure() const {
        return has_pure_definition() && !has_update_definition() && !has_extern_definition();
    }
    /// May be substituted into its users: pure and not specialized.
    bool can_be_inlined() const;

    FuncSchedule &schedule();
    const FuncSchedule &schedule() const;

    /// One buffer Parameter per output value.
    const std::vector<Parameter> &output_buffers() const;

    StageSchedule &update_schedule(int idx = 0);
    Definition &update(int idx = 0);
    const Definition &update(int idx = 0) const;
    const std::vector<Definition> &updates() const;
    bool has_update_definition() const;

    bool has_extern_definition() const;
    NameMangling extern_definition_name_mangling() const;
    NameMangling &extern_definition_name_mangling();
    const std::vector<ExternFuncArgument> &extern_arguments() const;
    std::vector<ExternFuncArgument> &extern_arguments();
    const std::string &extern_function_name() const;
    DeviceAPI extern_function_device_api() const;
    /// If defined, an Expr that reads what the extern stage reads and is used in its place when bounds are inferred.
    Expr extern_definition_proxy_expr() const;
    Expr &extern_definition_proxy_expr();
    /// The call of the C function, in the calling convention that `target` has.
    Expr make_call_to_extern_definition(const std::vector<Expr> &args, const Target &target) const;

    void define_extern(const std::string &function_name, const std::vector<ExternFuncArgument> &args,
                       const std::vector<Type> &types, const std::vector<Var> &dims, NameMangling mangling,
                       DeviceAPI device_api);
    /// The same with the names of the dimensions. (The other is defined in api.)
    void define_extern(const std::string &function_name, const std::vector<ExternFuncArgument> &args,
                       const std::vector<Type> &types, const std::vector<std::string> &dims, NameMangling mangling,
                       DeviceAPI device_api);

    bool same_as(const Function &other) const {
        return contents.same_as(other.contents);
    }

    const std::string &debug_file() const;
    std::string &debug_file();

    operator ExternFuncArgument() const {
        return ExternFuncArgument(contents);
    }

    void trace_loads();
    void trace_stores();
    void trace_realizations();
    void add_trace_tag(const std::string &trace_tag);
    bool is_tracing_loads() const;
    bool is_tracing_stores() const;
    bool is_tracing_realizations() const;
    const std::vector<std::string> &get_trace_tags() const;

    /// Locks every LoopLevel in the schedule, so that it can be read.
    void lock_loop_levels();

    void do_not_profile();
    bool should_not_profile() const;

    /// After this, no definition may be added.
    void freeze();
    bool frozen() const;

    /// A new, empty function that lives and dies with this one.
    Function new_function_in_same_group(const std::string &name);

    /// Makes `f` (the name of a consumer, or "" for all) read `wrapper` instead of this function.
    void add_wrapper(const std::string &f, Function &wrapper);
    const std::map<std::string, FunctionPtr> &wrappers() const;

    /// The function that future calls of this one shall go to, if any.
    void set_global_wrapper(const Function &wrapper);
    Function global_wrapper() const;
    bool has_global_wrapper() const;

    /// Was made by `in` or `clone_in`.
    bool is_wrapper() const;

    /// Redirects calls in definitions and extern arguments.
    Function &substitute_calls(const std::map<FunctionPtr, FunctionPtr> &substitutions);
    Function &substitute_calls(const Function &orig, const Function &substitute);

    /// Is `name` one of the pure Vars?
    bool is_pure_arg(const std::string &name) const;

    /// @throws CompileError  the requirements given at construction are not met.
    void check_types(const Expr &e) const;
    void check_types(const std::vector<Expr> &exprs) const;
    void check_types(const Type &t) const;
    void check_types(const std::vector<Type> &types) const;
    void check_dims(int dims) const;
};

}  // namespace Internal
}  // namespace Halide
