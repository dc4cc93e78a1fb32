#include "api/Func.h"

#include <algorithm>
#include <set>

#include "api/LoopNestEditor.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"
#include "simplify/Simplify.h"
#include "support/Util.h"

namespace Halide {

using namespace Internal;

namespace {

std::string names_of(const std::vector<Var> &vars) {
    std::vector<std::string> names;
    for (const Var &v : vars) {
        names.push_back(v.name());
    }
    return join_strings(names, ", ");
}

/// Replaces `_` by implicit Vars. For a Func that is not defined, only takes `_` out.
///
/// @param placeholder  where `_` stood, or -1.
/// @param count        how many implicit Vars took its place.
template <typename T>
void expand_placeholder(const Function &f, std::vector<T> &args, int &placeholder, int &count) {
    placeholder = -1;
    count = 0;
    for (size_t i = 0; i < args.size();) {
        bool is_placeholder;
        if constexpr (std::is_same_v<T, Var>) {
            is_placeholder = args[i].is_placeholder();
        } else {
            const Variable *v = args[i].template as<Variable>();
            is_placeholder = v && Var::is_placeholder(v->name);
        }
        if (is_placeholder) {
            user_assert(placeholder < 0) << f.name() << ": `_` occurs twice among the arguments; it can stand for the "
                                         << "remaining dimensions only once.\n";
            placeholder = (int)i;
            args.erase(args.begin() + i);
        } else {
            i++;
        }
    }
    if (!f.has_pure_definition() && !f.has_extern_definition()) {
        return;
    }
    while (placeholder >= 0 && (int)args.size() < f.dimensions()) {
        args.insert(args.begin() + placeholder + count, Var::implicit(count));
        count++;
    }
    user_assert((int)args.size() == f.dimensions()) << "Func \"" << f.name() << "\" was called with " << args.size()
                                                    << " arguments, but was defined with " << f.dimensions() << ".\n";
}

Expr as_int32(const Expr &e, const std::string &what, const char *role) {
    user_assert(e.defined()) << what << ": the " << role << " is undefined.\n";
    Expr result = lossless_cast(Int(32), e);
    user_assert(result.defined()) << what << ": the " << role << " " << e << " has type " << e.type()
                                  << " and cannot be represented as an int32.\n";
    return result;
}

}  // namespace

Func::Func(const std::string &name) : func(unique_name(name)) {}

Func::Func(const Type &required_type, int required_dims, const std::string &name)
    : func({required_type}, required_dims, unique_name(name)) {}

Func::Func(const std::vector<Type> &required_types, int required_dims, const std::string &name)
    : func(required_types, required_dims, unique_name(name)) {}

Func::Func() : func(unique_name('f')) {}

Func::Func(const Expr &e) : Func() {
    (*this)(_) = e;
}

Func::Func(Function f) : func(std::move(f)) {}

void Func::invalidate_cache() {
    if (pipeline_.defined()) {
        pipeline_.invalidate_cache();
    }
}

Pipeline Func::pipeline(const char *what) {
    user_assert(defined()) << "Can't " << what << " undefined Func " << name() << ".\n"
                           << "  Give it a definition, as in " << name() << "(x, y) = ..., first.\n";
    if (!pipeline_.defined()) {
        pipeline_ = Pipeline(*this);
    }
    return pipeline_;
}

Stage Func::directive_stage() {
    user_assert(defined()) << "Can't schedule undefined Func " << name() << ".\n"
                           << "  Its loops are known once it has a definition.\n";
    invalidate_cache();
    return Stage(func, func.definition(), 0);
}

// ---- Inspection

const std::string &Func::name() const {
    return func.name();
}

std::vector<Var> Func::args() const {
    std::vector<Var> result;
    for (const std::string &a : func.args()) {
        result.emplace_back(a);
    }
    return result;
}

bool Func::defined() const {
    return func.has_pure_definition() || func.has_extern_definition();
}

Expr Func::value() const {
    user_assert(defined()) << "Can't call Func::value() on undefined Func " << name() << ".\n";
    user_assert(!is_extern()) << "Can't call Func::value() on " << name()
                              << ", which is defined by an extern function.\n";
    user_assert(func.outputs() == 1) << "Can't call Func::value() on Func \"" << name()
                                     << "\", because it has multiple values: use values().\n";
    return func.values()[0];
}

Tuple Func::values() const {
    user_assert(defined()) << "Can't call Func::values() on undefined Func " << name() << ".\n";
    user_assert(!is_extern()) << "Can't call Func::values() on " << name()
                              << ", which is defined by an extern function.\n";
    return Tuple(func.values());
}

const std::vector<Expr> &Func::update_args(int idx) const {
    user_assert(idx >= 0 && idx < num_update_definitions())
        << "Update index out of bounds: " << name() << " has " << num_update_definitions()
        << " updates, asked for number " << idx << ".\n";
    return func.update(idx).args();
}

Expr Func::update_value(int idx) const {
    const Tuple all = update_values(idx);
    user_assert(all.size() == 1) << "Can't call Func::update_value() on Func \"" << name()
                                 << "\", because it has multiple values: use update_values().\n";
    return all[0];
}

Tuple Func::update_values(int idx) const {
    user_assert(idx >= 0 && idx < num_update_definitions())
        << "Update index out of bounds: " << name() << " has " << num_update_definitions()
        << " updates, asked for number " << idx << ".\n";
    return Tuple(func.update(idx).values());
}

std::vector<RVar> Func::rvars(int idx) const {
    user_assert(idx >= 0 && idx < num_update_definitions())
        << "Update index out of bounds: " << name() << " has " << num_update_definitions()
        << " updates, asked for number " << idx << ".\n";
    std::vector<RVar> result;
    for (const ReductionVariable &r : func.update(idx).schedule().rvars()) {
        result.emplace_back(r.var);
    }
    return result;
}

bool Func::has_update_definition() const {
    return func.has_update_definition();
}

int Func::num_update_definitions() const {
    return (int)func.updates().size();
}

bool Func::is_extern() const {
    return func.has_extern_definition();
}

const std::string &Func::extern_function_name() const {
    return func.extern_function_name();
}

const Type &Func::type() const {
    const std::vector<Type> &all = types();
    user_assert(all.size() == 1) << "Can't call Func::type() on Func \"" << name()
                                 << "\", because it has multiple values: use types().\n";
    return all[0];
}

const std::vector<Type> &Func::types() const {
    user_assert(defined()) << "Can't call Func::types() on Func \"" << name() << "\", which is not yet defined.\n";
    return func.output_types();
}

int Func::outputs() const {
    user_assert(defined()) << "Can't call Func::outputs() on Func \"" << name() << "\", which is not yet defined.\n";
    return func.outputs();
}

int Func::dimensions() const {
    return defined() ? func.dimensions() : -1;
}

std::vector<std::variant<Var, RVar>> Func::split_vars() const {
    user_assert(defined()) << "Can't call Func::split_vars() on undefined Func " << name() << ".\n";
    return Stage(func, func.definition(), 0).split_vars();
}

// ---- Extern definitions

void Func::define_extern(const std::string &function_name, const std::vector<ExternFuncArgument> &params, Type type,
                         int dimensionality, NameMangling mangling, DeviceAPI device_api) {
    define_extern(function_name, params, std::vector<Type>{type}, make_argument_list(dimensionality), mangling,
                  device_api);
}

void Func::define_extern(const std::string &function_name, const std::vector<ExternFuncArgument> &params,
                         const std::vector<Type> &types, int dimensionality, NameMangling mangling,
                         DeviceAPI device_api) {
    define_extern(function_name, params, types, make_argument_list(dimensionality), mangling, device_api);
}

void Func::define_extern(const std::string &function_name, const std::vector<ExternFuncArgument> &params, Type type,
                         const std::vector<Var> &arguments, NameMangling mangling, DeviceAPI device_api) {
    define_extern(function_name, params, std::vector<Type>{type}, arguments, mangling, device_api);
}

void Func::define_extern(const std::string &function_name, const std::vector<ExternFuncArgument> &params,
                         const std::vector<Type> &types, const std::vector<Var> &arguments, NameMangling mangling,
                         DeviceAPI device_api) {
    func.define_extern(function_name, params, types, arguments, mangling, device_api);
}

// ---- Calls

FuncRef Func::operator()(std::vector<Var> args) const {
    int placeholder, count;
    expand_placeholder(func, args, placeholder, count);
    return FuncRef(func, args, placeholder, count);
}

FuncRef Func::operator()(std::vector<Expr> args) const {
    for (const Expr &a : args) {
        user_assert(a.defined()) << "Func \"" << name() << "\" is called with an undefined argument.\n";
    }
    int placeholder, count;
    expand_placeholder(func, args, placeholder, count);
    return FuncRef(func, args, placeholder, count);
}

Stage Func::update(int idx) {
    user_assert(idx >= 0 && idx < num_update_definitions())
        << "Call to update with index larger than last defined update stage: " << name() << ".update(" << idx
        << "), but " << name() << " has " << num_update_definitions() << " update definitions.\n";
    invalidate_cache();
    return Stage(func, func.update(idx), idx + 1);
}

Func::operator Stage() const {
    user_assert(defined()) << "Func " << name() << " has no definition and hence no stage to be scheduled.\n";
    return Stage(func, func.definition(), 0);
}

Func::operator ExternFuncArgument() const {
    return ExternFuncArgument(func.get_contents());
}

OutputImageParam Func::output_buffer() const {
    user_assert(defined()) << "Can't access output buffer of undefined Func " << name() << ".\n";
    user_assert(func.output_buffers().size() == 1) << "Can't call Func::output_buffer on Func \"" << name()
                                                   << "\", because it returns a Tuple: use output_buffers().\n";
    return OutputImageParam(func.output_buffers()[0], Argument::OutputBuffer);
}

std::vector<OutputImageParam> Func::output_buffers() const {
    user_assert(defined()) << "Can't access output buffers of undefined Func " << name() << ".\n";
    std::vector<OutputImageParam> result;
    for (const Parameter &p : func.output_buffers()) {
        result.emplace_back(p, Argument::OutputBuffer);
    }
    return result;
}

// ---- Devices and types

Func Func::make_copy(DeviceAPI d, const char *directive) {
    const std::string what = name() + "." + directive + "()";
    user_assert(defined()) << what << ": " << name() << " is not defined.\n";
    user_assert(!is_extern() && !has_update_definition() && func.outputs() == 1)
        << what << ": only a Func with one value, one pure definition and no updates can be a copy.\n";
    const Call *call = func.values()[0].as<Call>();
    bool is_copy = call && (call->call_type == Call::Halide || call->call_type == Call::Image) &&
                   call->args.size() == func.args().size();
    for (size_t i = 0; is_copy && i < call->args.size(); i++) {
        const Variable *v = call->args[i].as<Variable>();
        is_copy = v && v->name == func.args()[i];
    }
    user_assert(is_copy) << what << ": " << name() << " is defined as " << func.values()[0]
                         << ", but a copy must be a plain call of another Func or image with the same arguments in the "
                         << "same order.\n";
    invalidate_cache();
    LoopNestEditor(Stage(func, func.definition(), 0)).set_device_api(Var::outermost(), d, directive);
    return *this;
}

Func Func::copy_to_device(DeviceAPI d) {
    return make_copy(d, "copy_to_device");
}

Func Func::copy_to_host() {
    return make_copy(DeviceAPI::Host, "copy_to_host");
}

// ---- Where things happen

Func &Func::compute_at(LoopLevel loop_level) {
    invalidate_cache();
    func.schedule().compute_level() = std::move(loop_level);
    return *this;
}

Func &Func::compute_at(const Func &f, const Var &var) {
    return compute_at(LoopLevel(f, var));
}

Func &Func::compute_at(const Func &f, const RVar &var) {
    return compute_at(LoopLevel(f, var));
}

Func &Func::compute_root() {
    return compute_at(LoopLevel::root());
}

Func &Func::compute_inline() {
    return compute_at(LoopLevel::inlined());
}

Func &Func::store_at(LoopLevel loop_level) {
    invalidate_cache();
    func.schedule().store_level() = std::move(loop_level);
    return *this;
}

Func &Func::store_at(const Func &f, const Var &var) {
    return store_at(LoopLevel(f, var));
}

Func &Func::store_at(const Func &f, const RVar &var) {
    return store_at(LoopLevel(f, var));
}

Func &Func::store_root() {
    return store_at(LoopLevel::root());
}

Func &Func::hoist_storage(LoopLevel loop_level) {
    invalidate_cache();
    func.schedule().hoist_storage_level() = std::move(loop_level);
    return *this;
}

Func &Func::hoist_storage(const Func &f, const Var &var) {
    return hoist_storage(LoopLevel(f, var));
}

Func &Func::hoist_storage(const Func &f, const RVar &var) {
    return hoist_storage(LoopLevel(f, var));
}

Func &Func::hoist_storage_root() {
    return hoist_storage(LoopLevel::root());
}

// ---- Storage

StorageDim &Func::storage_dim(const Var &dim, const char *directive) {
    invalidate_cache();
    for (StorageDim &d : func.schedule().storage_dims()) {
        if (dim_name_matches(d.var, dim.name())) {
            return d;
        }
    }
    user_error << name() << "." << directive << "(" << dim.name() << "): could not find dimension " << dim.name()
               << " in the storage of " << name() << ".\n  Dimensions of " << name() << ": "
               << (defined() ? names_of(args()) : std::string("none, it is not defined")) << "\n";
}

Func &Func::store_in(MemoryType memory_type) {
    invalidate_cache();
    func.schedule().memory_type() = memory_type;
    return *this;
}

Func &Func::reorder_storage(const std::vector<Var> &dims) {
    const std::string what = name() + ".reorder_storage(" + names_of(dims) + ")";
    user_assert(dims.size() > 1) << what << ": reorder_storage must have at least two dimensions.\n";
    std::vector<StorageDim> &storage = func.schedule().storage_dims();
    std::vector<size_t> positions;
    for (const Var &v : dims) {
        const size_t i = &storage_dim(v, "reorder_storage") - storage.data();
        user_assert(std::find(positions.begin(), positions.end(), i) == positions.end())
            << what << ": " << v.name() << " is listed twice.\n";
        positions.push_back(i);
    }
    std::vector<size_t> places = positions;
    std::sort(places.begin(), places.end());
    const std::vector<StorageDim> before = storage;
    for (size_t k = 0; k < positions.size(); k++) {
        storage[places[k]] = before[positions[k]];
    }
    return *this;
}

Func &Func::reorder_storage(const Var &x, const Var &y) {
    return reorder_storage(std::vector<Var>{x, y});
}

Func &Func::align_storage(const Var &dim, const Expr &alignment) {
    storage_dim(dim, "align_storage").alignment =
        as_int32(alignment, name() + ".align_storage(" + dim.name() + ")", "alignment");
    return *this;
}

Func &Func::bound_storage(const Var &dim, const Expr &bound) {
    storage_dim(dim, "bound_storage").bound = as_int32(bound, name() + ".bound_storage(" + dim.name() + ")", "bound");
    return *this;
}

Func &Func::fold_storage(const Var &dim, const Expr &extent, bool fold_forward) {
    StorageDim &d = storage_dim(dim, "fold_storage");
    const std::string what = name() + ".fold_storage(" + dim.name() + ")";
    d.fold_factor = as_int32(extent, what, "factor");
    const auto constant = as_const_int(d.fold_factor);
    user_assert(!constant || *constant > 0)
        << what << ": the factor is " << *constant << ", but it must be positive.\n";
    d.fold_forward = fold_forward;
    return *this;
}

Func &Func::ring_buffer(const Expr &extent) {
    invalidate_cache();
    func.schedule().ring_buffer() = as_int32(extent, name() + ".ring_buffer", "extent");
    return *this;
}

Func &Func::memoize(const EvictionKey &eviction_key) {
    invalidate_cache();
    func.schedule().memoized() = true;
    if (eviction_key.key.defined()) {
        const Type t = eviction_key.key.type();
        user_assert(t.is_scalar() && (t.is_int_or_uint() || t.is_handle()))
            << name() << ".memoize: the eviction key " << eviction_key.key << " has type " << t
            << "; it must be a scalar integer or a handle.\n";
        func.schedule().memoize_eviction_key() =
            t.is_handle() ? reinterpret(UInt(64), eviction_key.key) : cast(UInt(64), eviction_key.key);
    }
    return *this;
}

Func &Func::async() {
    invalidate_cache();
    func.schedule().async() = true;
    return *this;
}

// ---- Regions

Func &Func::set_bound(const Var &var, const Bound &bound, const char *directive, bool estimate) {
    const std::vector<std::string> all = func.args();
    user_assert(std::find(all.begin(), all.end(), var.name()) != all.end())
        << name() << "." << directive << "(" << var.name() << "): can't give bounds for " << var.name() << " because "
        << name() << " does not use it: it is not a pure variable of " << name() << ".\n"
        << "  Pure variables of " << name() << ": " << names_of(args()) << "\n";
    invalidate_cache();
    std::vector<Bound> &bounds = estimate ? func.schedule().estimates() : func.schedule().bounds();
    if (estimate) {
        for (Bound &b : bounds) {
            if (b.var == bound.var) {
                b = bound;
                return *this;
            }
        }
    }
    bounds.push_back(bound);
    return *this;
}

Func &Func::bound(const Var &var, Expr min, Expr extent) {
    const std::string what = name() + ".bound(" + var.name() + ")";
    user_assert(extent.defined()) << what << ": the extent is undefined.\n";
    Bound b;
    b.var = var.name();
    b.min = min.defined() ? as_int32(min, what, "min") : Expr();
    b.extent = as_int32(extent, what, "extent");
    set_bound(var, b, "bound", false);

    // What is known is also the best estimate.
    Bound estimate;
    estimate.var = b.var;
    if (b.min.defined() && is_const(b.min)) {
        estimate.min = b.min;
    }
    if (is_const(b.extent)) {
        estimate.extent = b.extent;
    }
    if (estimate.min.defined() || estimate.extent.defined()) {
        set_bound(var, estimate, "bound", true);
    }
    return *this;
}

Func &Func::bound_extent(const Var &var, Expr extent) {
    return bound(var, Expr(), std::move(extent));
}

Func &Func::align_bounds(const Var &var, Expr modulus, Expr remainder) {
    const std::string what = name() + ".align_bounds(" + var.name() + ")";
    Bound b;
    b.var = var.name();
    b.modulus = as_int32(modulus, what, "modulus");
    b.remainder = as_int32(remainder, what, "remainder");
    const auto constant = as_const_int(b.modulus);
    user_assert(!constant || *constant > 0)
        << what << ": the modulus is " << *constant << ", but alignments must be positive.\n";
    b.remainder = simplify(b.remainder % b.modulus);
    return set_bound(var, b, "align_bounds", false);
}

Func &Func::align_extent(const Var &var, Expr modulus) {
    const std::string what = name() + ".align_extent(" + var.name() + ")";
    Bound b;
    b.var = var.name();
    b.modulus = as_int32(modulus, what, "modulus");
    const auto constant = as_const_int(b.modulus);
    user_assert(!constant || *constant > 0)
        << what << ": the modulus is " << *constant << ", but alignments must be positive.\n";
    return set_bound(var, b, "align_extent", false);
}

Func &Func::set_estimate(const Var &var, const Expr &min, const Expr &extent) {
    const std::string what = name() + ".set_estimate(" + var.name() + ")";
    Bound b;
    b.var = var.name();
    b.min = as_int32(min, what, "min");
    b.extent = as_int32(extent, what, "extent");
    set_bound(var, b, "set_estimate", true);
    const std::vector<std::string> all = func.args();
    const int dim = (int)(std::find(all.begin(), all.end(), var.name()) - all.begin());
    for (Parameter p : func.output_buffers()) {
        p.set_min_constraint_estimate(dim, b.min);
        p.set_extent_constraint_estimate(dim, b.extent);
    }
    return *this;
}

Func &Func::set_estimates(const Region &estimates) {
    const std::vector<Var> all = args();
    user_assert(estimates.size() == all.size()) << name() << ".set_estimates: Func " << name() << " has " << all.size()
                                                << " dimensions, but the estimates passed to "
                                                << "set_estimates contain " << estimates.size() << " pairs.\n";
    for (size_t i = 0; i < all.size(); i++) {
        set_estimate(all[i], estimates[i].min, estimates[i].extent);
    }
    return *this;
}

// ---- Observation

void Func::debug_to_file(const std::string &filename) {
    invalidate_cache();
    func.debug_file() = filename;
}

Func &Func::trace_loads() {
    invalidate_cache();
    func.trace_loads();
    return *this;
}

Func &Func::trace_stores() {
    invalidate_cache();
    func.trace_stores();
    return *this;
}

Func &Func::trace_realizations() {
    invalidate_cache();
    func.trace_realizations();
    return *this;
}

Func &Func::add_trace_tag(const std::string &trace_tag) {
    invalidate_cache();
    func.add_trace_tag(trace_tag);
    return *this;
}

Func &Func::no_profiling() {
    invalidate_cache();
    func.do_not_profile();
    return *this;
}

// ---- Members of other classes that know Func or Var

LoopLevel::LoopLevel(const Function &f, const VarOrRVar &v, int stage_index)
    : LoopLevel(f.name(), v.name(), v.is_rvar, stage_index) {}

LoopLevel::LoopLevel(const Func &f, const VarOrRVar &v, int stage_index)
    : LoopLevel(f.name(), v.name(), v.is_rvar, stage_index) {}

VarOrRVar LoopLevel::var() const {
    return VarOrRVar(var_name(), is_rvar());
}

namespace Internal {

void Function::define_extern(const std::string &function_name, const std::vector<ExternFuncArgument> &args,
                             const std::vector<Type> &types, const std::vector<Var> &dims, NameMangling mangling,
                             DeviceAPI device_api) {
    std::vector<std::string> names;
    for (const Var &v : dims) {
        names.push_back(v.name());
    }
    define_extern(function_name, args, types, names, mangling, device_api);
}

}  // namespace Internal
}  // namespace Halide
