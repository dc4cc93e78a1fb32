#include "func/FunctionContents.h"

#include "ir/IR.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"

#include <algorithm>
#include <memory>
#include <sstream>

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

void weaken_calls_within_group(const FunctionPtr &f) {
    WeakenCalls weaken(f.group());
    f->mutate(&weaken);
    for (ExternFuncArgument &a : f->extern_arguments) {
        if (a.is_func() && a.func.group() == f.group() && a.func.strong.defined()) {
            a.func.weaken();
        }
    }
}

std::string type_list(const std::vector<Type> &types) {
    std::ostringstream s;
    s << (types.size() == 1 ? "" : "(");
    for (size_t i = 0; i < types.size(); i++) {
        s << (i ? ", " : "") << types[i];
    }
    s << (types.size() == 1 ? "" : ")");
    return s.str();
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
