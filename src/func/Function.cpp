#include "func/Function.h"

#include "ir/IR.h"
#include "ir/IREquality.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"
#include "regions/Dependence.h"
#include "support/Process.h"
#include "support/Util.h"

#include <algorithm>
#include <memory>
#include <set>

namespace Halide {

ExternFuncArgument::ExternFuncArgument(const Internal::Parameter &p) {
    if (p.is_buffer()) {
        arg_type = ImageParamArg;
        image_param = p;
    } else {
        arg_type = ExprArg;
        expr = Internal::Variable::make(p.type(), p.name(), p);
    }
}

namespace Internal {

struct FunctionContents {
    std::string name, origin_name;
    std::vector<Type> output_types;
    std::vector<Type> required_types;
    int required_dims = -1;
    std::vector<std::string> args;

    FuncSchedule func_schedule;
    Definition init_def;
    std::vector<Definition> updates;

    std::string debug_file;
    std::vector<Parameter> output_buffers;

    std::string extern_function_name;
    NameMangling extern_mangling = NameMangling::Default;
    DeviceAPI extern_function_device_api = DeviceAPI::Host;
    std::vector<ExternFuncArgument> extern_arguments;
    Expr extern_proxy_expr;

    bool trace_loads = false, trace_stores = false, trace_realizations = false;
    std::vector<std::string> trace_tags;
    bool no_profiling = false;
    bool frozen = false;
    bool is_wrapper = false;
    /// Held weakly: wrappers live in the group of what they wrap.
    FunctionPtr global_wrapper;

    void accept(IRVisitor *v) const {
        func_schedule.accept(v);
        if (init_def.defined()) {
            init_def.accept(v);
        }
        for (const Definition &d : updates) {
            d.accept(v);
        }
        for (const ExternFuncArgument &a : extern_arguments) {
            if (a.is_expr()) {
                a.expr.accept(v);
            }
        }
        if (extern_proxy_expr.defined()) {
            extern_proxy_expr.accept(v);
        }
    }

    void mutate(IRMutator *m) {
        func_schedule.mutate(m);
        if (init_def.defined()) {
            init_def.mutate(m);
        }
        for (Definition &d : updates) {
            d.mutate(m);
        }
        for (ExternFuncArgument &a : extern_arguments) {
            if (a.is_expr()) {
                a.expr = (*m)(a.expr);
            }
        }
        if (extern_proxy_expr.defined()) {
            extern_proxy_expr = (*m)(extern_proxy_expr);
        }
    }
};

struct FunctionGroup {
    mutable RefCount ref_count;
    std::vector<std::unique_ptr<FunctionContents>> members;
};

FunctionContents *FunctionPtr::get() const {
    return group() ? group()->members[idx].get() : nullptr;
}

template<>
RefCount &ref_count<FunctionGroup>(const FunctionGroup *g) noexcept {
    return g->ref_count;
}

// A group owns the expressions of its functions, which own the groups that they call: in a chain of thousands of
// functions, deleting recursively would exhaust the stack. So nested calls only add to a list.
template<>
void destroy<FunctionGroup>(const FunctionGroup *g) {
    static thread_local std::vector<const FunctionGroup *> *pending = nullptr;
    if (pending) {
        pending->push_back(g);
        return;
    }
    std::vector<const FunctionGroup *> list = {g};
    pending = &list;
    while (!list.empty()) {
        const FunctionGroup *next = list.back();
        list.pop_back();
        delete next;
    }
    pending = nullptr;
}

namespace {

/// Makes the calls of some functions hold them weakly.
class WeakenCalls : public IRGraphMutator {
    using IRGraphMutator::visit;
    const FunctionGroup *group;

    Expr visit(const Call *op) override {
        Expr e = IRGraphMutator::visit(op);
        const Call *call = e.as<Call>();
        if (call && call->func.defined() && call->func.group() == group && call->func.strong.defined()) {
            FunctionPtr weak = call->func;
            weak.weaken();
            e = Call::make(call->type, call->name, call->args, call->call_type, weak, call->value_index, call->image,
                           call->param);
        }
        return e;
    }

public:
    explicit WeakenCalls(const FunctionGroup *group) : group(group) {
    }
};

void weaken_calls_within_group(const FunctionPtr &f) {
    WeakenCalls weaken(f.group());
    f->mutate(&weaken);
    for (ExternFuncArgument &a : f->extern_arguments) {
        if (a.is_func() && a.func.group() == f.group() && a.func.strong.defined()) {
            a.func.weaken();
        }
    }
}

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

std::string type_list(const std::vector<Type> &types) {
    std::ostringstream s;
    s << (types.size() == 1 ? "" : "(");
    for (size_t i = 0; i < types.size(); i++) {
        s << (i ? ", " : "") << types[i];
    }
    s << (types.size() == 1 ? "" : ")");
    return s.str();
}

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

Function::Function(const std::string &n) : Function(std::vector<Type>{}, -1, n) {
}

Function::Function(const std::vector<Type> &required_types, int required_dims, const std::string &n) {
    for (char c : n) {
        user_assert(c != '.') << "Func name \"" << n << "\" contains a '.', which separates names of loops. "
                              << "Choose a name without it.\n";
    }
    contents.strong = IntrusivePtr<FunctionGroup>(new FunctionGroup);
    contents.strong->members.push_back(std::make_unique<FunctionContents>());
    contents->name = n;
    contents->origin_name = n.substr(0, n.find('$'));
    contents->required_types = required_types;
    contents->required_dims = required_dims;
}

Function::Function(const FunctionPtr &ptr) : contents(ptr) {
    internal_assert(ptr.defined()) << "Function made from a null pointer";
    contents.strengthen();
}

Function Function::new_function_in_same_group(const std::string &n) {
    FunctionGroup *group = contents.group();
    FunctionPtr ptr;
    ptr.strong = IntrusivePtr<FunctionGroup>(group);
    ptr.idx = (int)group->members.size();
    group->members.push_back(std::make_unique<FunctionContents>());
    ptr->name = n;
    ptr->origin_name = n;
    return Function(ptr);
}

void Function::deep_copy(const FunctionPtr &copy, std::map<FunctionPtr, FunctionPtr> &copied_map) const {
    internal_assert(copy.defined() && contents.defined());
    copied_map[contents] = copy;
    const FunctionContents &from = *contents;
    FunctionContents &to = *copy;
    to.origin_name = from.origin_name;
    to.output_types = from.output_types;
    to.required_types = from.required_types;
    to.required_dims = from.required_dims;
    to.args = from.args;
    to.debug_file = from.debug_file;
    to.output_buffers = from.output_buffers;
    to.extern_function_name = from.extern_function_name;
    to.extern_mangling = from.extern_mangling;
    to.extern_function_device_api = from.extern_function_device_api;
    to.extern_arguments = from.extern_arguments;
    to.extern_proxy_expr = from.extern_proxy_expr;
    to.trace_loads = from.trace_loads;
    to.trace_stores = from.trace_stores;
    to.trace_realizations = from.trace_realizations;
    to.trace_tags = from.trace_tags;
    to.no_profiling = from.no_profiling;
    to.frozen = from.frozen;
    to.is_wrapper = from.is_wrapper;
    to.func_schedule = from.func_schedule.deep_copy(copied_map);
    to.init_def = from.init_def.defined() ? from.init_def.get_copy() : Definition();
    to.updates.clear();
    for (const Definition &d : from.updates) {
        to.updates.push_back(d.get_copy());
    }
}

void Function::check_types(const Expr &e) const {
    check_types(std::vector<Type>{e.type()});
}

void Function::check_types(const std::vector<Expr> &exprs) const {
    std::vector<Type> types;
    for (const Expr &e : exprs) {
        types.push_back(e.type());
    }
    check_types(types);
}

void Function::check_types(const Type &t) const {
    check_types(std::vector<Type>{t});
}

void Function::check_types(const std::vector<Type> &types) const {
    const std::vector<Type> &required = contents->required_types;
    user_assert(required.empty() || required == types)
        << "Func \"" << name() << "\" is constrained to only hold values of type " << type_list(required)
        << " but is defined with values of type " << type_list(types) << ".\n";
}

void Function::check_dims(int dims) const {
    user_assert(contents->required_dims < 0 || contents->required_dims == dims)
        << "Func \"" << name() << "\" is constrained to have exactly " << contents->required_dims
        << " dimensions, but is defined with " << dims << " dimensions.\n";
}

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

Expr Function::make_call_to_extern_definition(const std::vector<Expr> &args, const Target &target) const {
    internal_assert(has_extern_definition());
    bool cpp = contents->extern_mangling == NameMangling::CPlusPlus;
    if (contents->extern_mangling == NameMangling::Default) {
        cpp = target.has_feature(Target::CPlusPlusMangling);
    }
    return Call::make(Int(32), extern_function_name(), args, cpp ? Call::ExternCPlusPlus : Call::Extern, contents);
}

void Function::accept(IRVisitor *v) const {
    contents->accept(v);
}

void Function::mutate(IRMutator *m) {
    contents->mutate(m);
}

const std::string &Function::name() const {
    return contents->name;
}
const std::string &Function::origin_name() const {
    return contents->origin_name;
}
Definition &Function::definition() {
    internal_assert(contents->init_def.defined()) << "Func " << name() << " has no definition";
    return contents->init_def;
}
const Definition &Function::definition() const {
    internal_assert(contents->init_def.defined()) << "Func " << name() << " has no definition";
    return contents->init_def;
}
const std::vector<std::string> Function::args() const {
    return contents->args;
}
int Function::dimensions() const {
    return (int)contents->args.size();
}
const std::vector<Type> &Function::output_types() const {
    return contents->output_types;
}
const std::vector<Type> &Function::required_types() const {
    return contents->required_types;
}
int Function::required_dimensions() const {
    return contents->required_dims;
}
const std::vector<Expr> &Function::values() const {
    static const std::vector<Expr> none;
    return contents->init_def.defined() ? contents->init_def.values() : none;
}
bool Function::has_pure_definition() const {
    return contents->init_def.defined() && !has_extern_definition();
}
bool Function::can_be_inlined() const {
    return is_pure() && definition().specializations().empty();
}
FuncSchedule &Function::schedule() {
    return contents->func_schedule;
}
const FuncSchedule &Function::schedule() const {
    return contents->func_schedule;
}
const std::vector<Parameter> &Function::output_buffers() const {
    return contents->output_buffers;
}
StageSchedule &Function::update_schedule(int idx) {
    return update(idx).schedule();
}
Definition &Function::update(int idx) {
    internal_assert(idx >= 0 && idx < (int)contents->updates.size()) << "Func " << name() << " has no update " << idx;
    return contents->updates[idx];
}
const Definition &Function::update(int idx) const {
    internal_assert(idx >= 0 && idx < (int)contents->updates.size()) << "Func " << name() << " has no update " << idx;
    return contents->updates[idx];
}
const std::vector<Definition> &Function::updates() const {
    return contents->updates;
}
bool Function::has_update_definition() const {
    return !contents->updates.empty();
}
bool Function::has_extern_definition() const {
    return !contents->extern_function_name.empty();
}
NameMangling Function::extern_definition_name_mangling() const {
    return contents->extern_mangling;
}
NameMangling &Function::extern_definition_name_mangling() {
    return contents->extern_mangling;
}
const std::vector<ExternFuncArgument> &Function::extern_arguments() const {
    return contents->extern_arguments;
}
std::vector<ExternFuncArgument> &Function::extern_arguments() {
    return contents->extern_arguments;
}
const std::string &Function::extern_function_name() const {
    return contents->extern_function_name;
}
DeviceAPI Function::extern_function_device_api() const {
    return contents->extern_function_device_api;
}
Expr Function::extern_definition_proxy_expr() const {
    return contents->extern_proxy_expr;
}
Expr &Function::extern_definition_proxy_expr() {
    return contents->extern_proxy_expr;
}
const std::string &Function::debug_file() const {
    return contents->debug_file;
}
std::string &Function::debug_file() {
    return contents->debug_file;
}
void Function::trace_loads() {
    contents->trace_loads = true;
}
void Function::trace_stores() {
    contents->trace_stores = true;
}
void Function::trace_realizations() {
    contents->trace_realizations = true;
}
void Function::add_trace_tag(const std::string &trace_tag) {
    contents->trace_tags.push_back(trace_tag);
}
bool Function::is_tracing_loads() const {
    return contents->trace_loads;
}
bool Function::is_tracing_stores() const {
    return contents->trace_stores;
}
bool Function::is_tracing_realizations() const {
    return contents->trace_realizations;
}
const std::vector<std::string> &Function::get_trace_tags() const {
    return contents->trace_tags;
}

void Function::lock_loop_levels() {
    FuncSchedule &s = contents->func_schedule;
    s.compute_level().lock();
    s.store_level().lock();
    s.hoist_storage_level().lock();
    if (s.store_level().is_inlined()) {
        s.store_level() = s.compute_level();
    }
    if (s.hoist_storage_level().is_inlined()) {
        s.hoist_storage_level() = s.store_level();
    }
    if (contents->init_def.defined()) {
        contents->init_def.schedule().fuse_level().level.lock();
    }
    for (Definition &d : contents->updates) {
        d.schedule().fuse_level().level.lock();
    }
}

void Function::do_not_profile() {
    contents->no_profiling = true;
}
bool Function::should_not_profile() const {
    return contents->no_profiling;
}
void Function::freeze() {
    contents->frozen = true;
}
bool Function::frozen() const {
    return contents->frozen;
}

void Function::add_wrapper(const std::string &f, Function &wrapper) {
    wrapper.freeze();
    wrapper.contents->is_wrapper = true;
    FunctionPtr ptr = wrapper.contents;
    if (ptr.group() == contents.group()) {
        ptr.weaken();
        weaken_calls_within_group(wrapper.contents);
    }
    contents->func_schedule.add_wrapper(f, ptr);
}

const std::map<std::string, FunctionPtr> &Function::wrappers() const {
    return contents->func_schedule.wrappers();
}

void Function::set_global_wrapper(const Function &wrapper) {
    FunctionPtr ptr = wrapper.contents;
    if (ptr.group() == contents.group()) {
        ptr.weaken();
    }
    contents->global_wrapper = ptr;
}

Function Function::global_wrapper() const {
    return contents->global_wrapper.defined() ? Function(contents->global_wrapper) : Function();
}

bool Function::has_global_wrapper() const {
    return contents->global_wrapper.defined();
}

bool Function::is_wrapper() const {
    return contents->is_wrapper;
}

namespace {

class SubstituteCalls : public IRGraphMutator {
    using IRGraphMutator::visit;
    const std::map<FunctionPtr, FunctionPtr> &substitutions;
    const FunctionGroup *own_group;

    Expr visit(const Call *op) override {
        Expr e = IRGraphMutator::visit(op);
        const Call *call = e.as<Call>();
        if (!call || call->call_type != Call::Halide || !call->func.defined()) {
            return e;
        }
        auto it = substitutions.find(call->func);
        if (it == substitutions.end()) {
            return e;
        }
        FunctionPtr f = it->second;
        if (f.group() == own_group) {
            f.weaken();
        }
        return Call::make(call->type, f->name, call->args, call->call_type, f, call->value_index, call->image,
                          call->param);
    }

public:
    SubstituteCalls(const std::map<FunctionPtr, FunctionPtr> &s, const FunctionGroup *own_group)
        : substitutions(s), own_group(own_group) {
    }
};

}  // namespace

Function &Function::substitute_calls(const std::map<FunctionPtr, FunctionPtr> &substitutions) {
    if (substitutions.empty()) {
        return *this;
    }
    SubstituteCalls subs(substitutions, contents.group());
    contents->mutate(&subs);
    for (ExternFuncArgument &a : contents->extern_arguments) {
        if (a.is_func()) {
            auto it = substitutions.find(a.func);
            if (it != substitutions.end()) {
                a.func = it->second;
                if (a.func.group() == contents.group()) {
                    a.func.weaken();
                }
            }
        }
    }
    return *this;
}

Function &Function::substitute_calls(const Function &orig, const Function &substitute) {
    return substitute_calls(std::map<FunctionPtr, FunctionPtr>{{orig.contents, substitute.contents}});
}

bool Function::is_pure_arg(const std::string &name) const {
    return std::find(contents->args.begin(), contents->args.end(), name) != contents->args.end();
}

Expr Call::make(const Function &f, const std::vector<Expr> &args, int idx, bool follow_global_wrappers) {
    const Function callee = follow_global_wrappers && f.has_global_wrapper() ? f.global_wrapper() : f;
    user_assert(callee.has_pure_definition() || callee.has_extern_definition())
        << "Can't call Func \"" << f.name() << "\" because it has not yet been defined.\n";
    internal_assert(idx >= 0 && idx < callee.outputs()) << "Func " << callee.name() << " has no value " << idx;
    return Call::make(callee.output_types()[(size_t)idx], callee.name(), args, Call::Halide, callee.get_contents(), idx,
                      Buffer<>(), Parameter());
}

}  // namespace Internal
}  // namespace Halide
