#include "func/FunctionContents.h"

#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "regions/Dependence.h"
#include "support/Process.h"

#include <algorithm>
#include <set>
#include <sstream>

// Definitions of functions and what makes them legal (spec language.md 4.2 and 4.7).

namespace Halide {
namespace Internal {

namespace {

/// Freezes every function called, except the one being defined.
class FreezeCallees : public IRGraphVisitor {
    using IRGraphVisitor::visit;
    const FunctionPtr &self;

    void visit(const Call *op) override {
        IRGraphVisitor::visit(op);
        if (op->call_type == Call::Halide && op->func.defined() && !op->func.same_as(self)) {
            op->func->frozen = true;
        }
    }

public:
    explicit FreezeCallees(const FunctionPtr &self) : self(self) {
    }
};

/// Checks the variables and the recursive calls of one definition.
class CheckDefinition : public IRGraphVisitor {
    using IRGraphVisitor::visit;

    const FunctionPtr &self;
    /// Name of the pure Var at each position of the left side, or "".
    const std::vector<std::string> &pure_args;
    Scope<> lets;

    void visit(const Let *op) override {
        include(op->value);
        ScopedBinding<> bind(lets, op->name);
        include(op->body);
    }

    void visit(const Call *op) override {
        IRGraphVisitor::visit(op);
        if (op->call_type != Call::Halide || !op->func.defined() || !op->func.same_as(self)) {
            return;
        }
        calls_self = true;
        for (size_t i = 0; i < op->args.size() && i < pure_args.size(); i++) {
            if (pure_args[i].empty()) {
                continue;
            }
            const Variable *v = op->args[i].as<Variable>();
            if (!v || v->name != pure_args[i]) {
                misplaced_self_call = Expr(op);
            }
        }
    }

    void visit(const Variable *op) override {
        if (op->param.defined() || op->image.defined() || lets.contains(op->name)) {
            return;
        }
        if (op->reduction_domain.defined()) {
            if (!rdom.defined()) {
                rdom = op->reduction_domain;
            } else if (!rdom.same_as(op->reduction_domain)) {
                second_rdom = true;
            }
            return;
        }
        if (std::find(pure_args.begin(), pure_args.end(), op->name) == pure_args.end()) {
            unknown.insert(op->name);
        }
    }

public:
    ReductionDomain rdom;
    bool second_rdom = false;
    bool calls_self = false;
    Expr misplaced_self_call;
    std::set<std::string> unknown;

    CheckDefinition(const FunctionPtr &self, const std::vector<std::string> &pure_args)
        : self(self), pure_args(pure_args) {
    }

    void check(const Expr &e) {
        include(e);
    }

    std::string unknown_names() const {
        std::string result;
        for (const std::string &n : unknown) {
            result += (result.empty() ? "" : ", ") + n;
        }
        return result;
    }
};

void make_output_buffers(FunctionContents &c) {
    c.output_buffers.clear();
    for (size_t i = 0; i < c.output_types.size(); i++) {
        const std::string name = c.output_types.size() > 1 ? c.name + "." + std::to_string(i) : c.name;
        Parameter output(c.output_types[i], true, (int)c.args.size(), name);
        c.output_buffers.push_back(output);
    }
}

void add_storage_dims(FunctionContents &c) {
    c.func_schedule.storage_dims().clear();
    for (const std::string &arg : c.args) {
        StorageDim d;
        d.var = arg;
        c.func_schedule.storage_dims().push_back(d);
    }
}

Dim outermost_dim() {
    Dim d;
    d.var = "__outermost";
    return d;
}

}  // namespace

void Function::define(const std::vector<std::string> &args, std::vector<Expr> values) {
    FunctionContents &c = *contents;
    user_assert(!has_extern_definition())
        << "In pure definition of Func \"" << name() << "\":\nFunc with extern definition cannot be given a pure "
        << "definition.\n";
    user_assert(!name().empty()) << "A Func may not have an empty name.\n";
    user_assert(!values.empty()) << "In pure definition of Func \"" << name() << "\":\nNo values.\n";
    for (const Expr &value : values) {
        user_assert(value.defined()) << "In pure definition of Func \"" << name() << "\":\nUndefined expression in "
                                     << "right-hand-side of definition.\n";
    }
    user_assert(!frozen()) << "Func \"" << name() << "\" cannot be given a new pure definition, because it has "
                           << "already been realized or used in the definition of another Func.\n";
    user_assert(!c.init_def.defined()) << "In pure definition of Func \"" << name() << "\":\nFunc is already "
                                       << "defined.\n";
    std::set<std::string> seen;
    for (const std::string &arg : args) {
        user_assert(seen.insert(arg).second)
            << "In pure definition of Func \"" << name() << "\":\nArguments are not distinct: \"" << arg
            << "\" occurs more than once.\n";
    }
    check_types(values);
    check_dims((int)args.size());

    CheckDefinition check(contents, args);
    for (const Expr &value : values) {
        check.check(value);
    }
    user_assert(!check.rdom.defined())
        << "In pure definition of Func \"" << name() << "\":\nReduction domain referenced in pure function "
        << "definition. Use it in an update definition, or inside sum(), maximum() and so on.\n";
    user_assert(check.unknown.empty())
        << "In pure definition of Func \"" << name() << "\":\nUndefined variable in right-hand-side: "
        << check.unknown_names() << ". Every Var used on the right must be an argument on the left.\n";
    user_assert(!check.calls_self) << "In pure definition of Func \"" << name() << "\":\nThe Func is used in its own "
                                   << "pure definition. Recursion is for update definitions.\n";

    FreezeCallees freeze(contents);
    for (const Expr &value : values) {
        value.accept(&freeze);
    }
    const int tag = next_random_counter(RandomCounter::DefinitionTag);
    for (Expr &value : values) {
        value = lower_random(value, args, tag);
    }

    std::vector<Expr> arg_exprs;
    for (const std::string &arg : args) {
        arg_exprs.push_back(Variable::make(Int(32), arg));
    }
    c.args = args;
    c.output_types.clear();
    for (const Expr &value : values) {
        c.output_types.push_back(value.type());
    }
    c.init_def = Definition(arg_exprs, values, ReductionDomain(), true);
    for (const std::string &arg : args) {
        Dim d;
        d.var = arg;
        c.init_def.schedule().dims().push_back(d);
    }
    c.init_def.schedule().dims().push_back(outermost_dim());
    add_storage_dims(c);
    make_output_buffers(c);
}

void Function::clear_definition() {
    FunctionContents &c = *contents;
    user_assert(!frozen()) << "The definition of Func \"" << name() << "\" cannot be removed, because it has already "
                           << "been realized or used in the definition of another Func.\n";
    c.init_def = Definition();
    c.updates.clear();
    c.args.clear();
    c.output_types.clear();
    c.output_buffers.clear();
    c.extern_function_name.clear();
    c.extern_arguments.clear();
    c.extern_proxy_expr = Expr();
    c.func_schedule = FuncSchedule();
}

void Function::define_update(const std::vector<Expr> &args_in, std::vector<Expr> values, const ReductionDomain &rdom) {
    FunctionContents &c = *contents;
    const int update_idx = (int)c.updates.size();
    std::ostringstream where_stream;
    where_stream << "In update definition " << update_idx << " of Func \"" << name() << "\":\n";
    const std::string where = where_stream.str();

    user_assert(!name().empty()) << "A Func may not have an empty name.\n";
    user_assert(has_pure_definition() || has_extern_definition())
        << where << "Can't add an update definition without a pure definition first.\n";
    user_assert(!frozen()) << "Func \"" << name() << "\" cannot be given a new update definition, because it has "
                           << "already been realized or used in the definition of another Func.\n";
    for (const Expr &value : values) {
        user_assert(value.defined()) << where << "Undefined expression in right-hand-side of definition.\n";
    }
    for (const Expr &arg : args_in) {
        user_assert(arg.defined()) << where << "Undefined expression in left-hand-side of definition.\n";
    }
    user_assert(args_in.size() == c.args.size())
        << where << "The left-hand-side has " << args_in.size() << " arguments, but the pure definition has "
        << c.args.size() << ". An update must have the same dimensionality as the pure definition.\n";
    user_assert(values.size() == c.output_types.size())
        << where << "The right-hand-side has " << values.size() << " values, but the pure definition has "
        << c.output_types.size() << ". An update must have as many Tuple elements as the pure definition.\n";
    for (size_t i = 0; i < values.size(); i++) {
        const Type t = values[i].type();
        user_assert(t == c.output_types[i])
            << where << "Tuple element " << i << " of update definition has type " << t
            << ", but pure definition has type " << c.output_types[i] << ". Write cast<...>(...) around the value.\n";
    }

    std::vector<Expr> args = args_in;
    for (Expr &arg : args) {
        if (arg.type() != Int(32)) {
            user_assert(arg.type().is_scalar() && !arg.type().is_handle() && Int(32).can_represent(arg.type()))
                << where << "Argument " << arg << " has type " << arg.type()
                << ", which does not fit in int32. Coordinates are int32.\n";
            arg = cast(Int(32), arg);
        }
    }

    // A Var that stands alone at its own position is a pure dimension of this stage; all others are indices.
    std::vector<std::string> pure_args(args.size());
    for (size_t i = 0; i < args.size(); i++) {
        const Variable *v = args[i].as<Variable>();
        if (v && !v->param.defined() && !v->image.defined() && !v->reduction_domain.defined() && v->name == c.args[i]) {
            pure_args[i] = v->name;
        }
    }

    CheckDefinition check(contents, pure_args);
    for (const Expr &arg : args) {
        check.check(arg);
    }
    for (const Expr &value : values) {
        check.check(value);
    }
    ReductionDomain domain = rdom;
    if (!domain.defined()) {
        domain = check.rdom;
    }
    if (domain.defined()) {
        for (const ReductionVariable &rv : domain.domain()) {
            CheckDefinition check_bounds(contents, pure_args);
            check_bounds.check(rv.min);
            check_bounds.check(rv.extent);
            user_assert(check_bounds.unknown.empty() && !check_bounds.rdom.defined())
                << where << "The bounds of reduction variable " << rv.var << " depend on variables.\n";
        }
        if (domain.predicate().defined()) {
            check.check(domain.predicate());
        }
    }
    user_assert(!check.second_rdom && (!check.rdom.defined() || check.rdom.same_as(domain)))
        << where << "Multiple reduction domains are used. An update can iterate over one RDom.\n";
    user_assert(!check.misplaced_self_call.defined())
        << where << "All of a Func's recursive references to itself must contain the same pure variables in the same "
        << "places as on the left-hand-side: " << check.misplaced_self_call << " does not.\n";
    user_assert(check.unknown.empty())
        << where << "Undefined variable: " << check.unknown_names()
        << ". A pure Var can be used only if it is also an argument on the left, alone, at the position that it has "
        << "in the pure definition.\n";

    std::vector<std::string> free_vars;
    for (const std::string &arg : pure_args) {
        if (!arg.empty()) {
            free_vars.push_back(arg);
        }
    }
    const bool all_pure = free_vars.size() == args.size();
    if (domain.defined()) {
        for (const ReductionVariable &rv : domain.domain()) {
            free_vars.push_back(rv.var);
        }
    }

    FreezeCallees freeze(contents);
    const int tag = next_random_counter(RandomCounter::DefinitionTag);
    for (std::vector<Expr> *list : {&args, &values}) {
        for (Expr &e : *list) {
            e.accept(&freeze);
            e = lower_random(e, free_vars, tag);
        }
    }
    if (domain.defined()) {
        if (domain.predicate().defined()) {
            domain.predicate().accept(&freeze);
            domain.set_predicate(lower_random(domain.predicate(), free_vars, tag));
        }
        domain.freeze();
    }

    Definition update(args, values, domain, false);
    std::vector<Dim> &dims = update.schedule().dims();
    if (domain.defined()) {
        for (const ReductionVariable &rv : domain.domain()) {
            Dim d;
            d.var = rv.var;
            d.dim_type = can_parallelize_rvar(rv.var, name(), args, values, update.predicate(), domain.domain()) ?
                             DimType::PureRVar :
                             DimType::ImpureRVar;
            dims.push_back(d);
        }
    }
    for (const std::string &arg : pure_args) {
        if (!arg.empty()) {
            Dim d;
            d.var = arg;
            dims.push_back(d);
        }
    }
    dims.push_back(outermost_dim());

    // The function owns its definitions; a recursive call that owned the function would keep both alive for ever.
    WeakenCalls weaken(contents.group());
    update.mutate(&weaken);
    c.updates.push_back(update);

    if (all_pure && !domain.defined() && !check.calls_self) {
        user_warning << "In update definition " << update_idx << " of Func \"" << name()
                     << "\":\nUpdate definition completely hides earlier definitions, because all the arguments are "
                     << "pure, it contains no self-references, and no reduction domain.\n";
    }
}

void Function::define_extern(const std::string &function_name, const std::vector<ExternFuncArgument> &args,
                             const std::vector<Type> &types, const std::vector<std::string> &dims,
                             NameMangling mangling, DeviceAPI device_api) {
    FunctionContents &c = *contents;
    check_types(types);
    check_dims((int)dims.size());
    user_assert(!has_pure_definition() && !has_update_definition())
        << "In extern definition for Func \"" << name() << "\":\nFunc with a pure definition cannot have an extern "
        << "definition.\n";
    user_assert(!has_extern_definition()) << "In extern definition for Func \"" << name()
                                          << "\":\nFunc already has an extern definition.\n";
    user_assert(!types.empty()) << "In extern definition for Func \"" << name() << "\":\nNo output types.\n";
    std::set<std::string> seen;
    for (const std::string &d : dims) {
        user_assert(seen.insert(d).second) << "In extern definition for Func \"" << name()
                                           << "\":\nArguments are not distinct: \"" << d << "\".\n";
    }
    FreezeCallees freeze(contents);
    for (const ExternFuncArgument &arg : args) {
        user_assert(arg.defined()) << "In extern definition for Func \"" << name() << "\":\nUndefined argument.\n";
        if (arg.is_func()) {
            user_assert(!arg.func.same_as(contents))
                << "In extern definition for Func \"" << name() << "\":\nThe Func is an argument of itself.\n";
            const Function input(arg.func);
            user_assert(input.has_pure_definition() || input.has_extern_definition())
                << "In extern definition for Func \"" << name() << "\":\nFunc \"" << input.name()
                << "\" is used before it is defined.\n";
            arg.func->frozen = true;
        } else if (arg.is_expr()) {
            user_assert(arg.expr.defined()) << "In extern definition for Func \"" << name()
                                            << "\":\nUndefined Expr as argument.\n";
            arg.expr.accept(&freeze);
        }
    }
    c.args = dims;
    c.extern_function_name = function_name;
    c.extern_arguments = args;
    c.output_types = types;
    c.extern_mangling = mangling;
    c.extern_function_device_api = device_api;

    std::vector<Expr> arg_exprs;
    for (const std::string &d : dims) {
        arg_exprs.push_back(Variable::make(Int(32), d));
    }
    c.init_def = Definition(arg_exprs, {}, ReductionDomain(), true);
    for (const std::string &d : dims) {
        Dim dim;
        dim.var = d;
        dim.for_type = ForType::Extern;
        c.init_def.schedule().dims().push_back(dim);
    }
    c.init_def.schedule().dims().push_back(outermost_dim());
    add_storage_dims(c);
    make_output_buffers(c);
}

}  // namespace Internal
}  // namespace Halide
