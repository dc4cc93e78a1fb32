#include "func/Schedule.h"

#include "func/Function.h"
#include "ir/IRMutator.h"
#include "ir/IRVisitor.h"
#include "support/Util.h"

#include <algorithm>
#include <tuple>

namespace Halide {
namespace Internal {

struct LoopLevelContents {
    enum class Kind { Undefined, Inlined, Root, Loop };

    mutable RefCount ref_count;
    Kind kind = Kind::Undefined;
    std::string func_name, var_name;
    bool is_rvar = false;
    int stage_index = LoopLevel::any_stage;
    bool locked = false;

    bool same_place(const LoopLevelContents &o) const {
        return kind == o.kind && func_name == o.func_name && var_name == o.var_name && is_rvar == o.is_rvar &&
               stage_index == o.stage_index;
    }
};

template<>
RefCount &ref_count<LoopLevelContents>(const LoopLevelContents *p) noexcept {
    return p->ref_count;
}

template<>
void destroy<LoopLevelContents>(const LoopLevelContents *p) {
    delete p;
}

}  // namespace Internal

using namespace Internal;
using Kind = LoopLevelContents::Kind;

LoopLevel::LoopLevel() : contents(new LoopLevelContents) {
}

LoopLevel::LoopLevel(const std::string &func_name, const std::string &var_name, bool is_rvar, int stage_index,
                     bool locked)
    : contents(new LoopLevelContents) {
    contents->kind = Kind::Loop;
    contents->func_name = func_name;
    contents->var_name = var_name;
    contents->is_rvar = is_rvar;
    contents->stage_index = stage_index;
    contents->locked = locked;
}

LoopLevel LoopLevel::inlined() {
    LoopLevel result;
    result.contents->kind = Kind::Inlined;
    return result;
}

LoopLevel LoopLevel::root() {
    LoopLevel result;
    result.contents->kind = Kind::Root;
    return result;
}

void LoopLevel::check_defined() const {
    user_assert(defined()) << "A LoopLevel is used before it was set: call LoopLevel::set() on it, or construct it with a "
                              "Func and a Var.\n";
}

void LoopLevel::check_locked() const {
    user_assert(contents->locked)
        << "Cannot read a LoopLevel that is not locked: where it points may still change. Lowering locks it.\n";
}

void LoopLevel::check_defined_and_locked() const {
    check_defined();
    check_locked();
}

bool LoopLevel::defined() const {
    return contents->kind != Kind::Undefined;
}

void LoopLevel::set(const LoopLevel &other) {
    user_assert(!contents->locked) << "Cannot call set() on a locked LoopLevel: a pipeline that uses it was already "
                                      "lowered.\n";
    const LoopLevelContents &from = *other.contents;
    contents->kind = from.kind;
    contents->func_name = from.func_name;
    contents->var_name = from.var_name;
    contents->is_rvar = from.is_rvar;
    contents->stage_index = from.stage_index;
}

LoopLevel &LoopLevel::lock() {
    contents->locked = true;
    // A level that nobody set would stay undefined: say so while the user can still see why.
    check_defined();
    return *this;
}

bool LoopLevel::locked() const {
    return contents->locked;
}

std::string LoopLevel::func() const {
    check_defined_and_locked();
    user_assert(contents->kind == Kind::Loop) << "LoopLevel " << to_string() << " has no Func.\n";
    return contents->func_name;
}

std::string LoopLevel::func_name() const {
    return func();
}

std::string LoopLevel::var_name() const {
    check_defined_and_locked();
    user_assert(contents->kind == Kind::Loop) << "LoopLevel " << to_string() << " has no Var.\n";
    return contents->var_name;
}

bool LoopLevel::is_rvar() const {
    check_defined_and_locked();
    return contents->is_rvar;
}

int LoopLevel::stage_index() const {
    return get_stage_index();
}

int LoopLevel::get_stage_index() const {
    check_defined_and_locked();
    return contents->stage_index;
}

bool LoopLevel::is_inlined() const {
    check_defined_and_locked();
    return contents->kind == Kind::Inlined;
}

bool LoopLevel::is_root() const {
    check_defined_and_locked();
    return contents->kind == Kind::Root;
}

std::string LoopLevel::to_string() const {
    switch (contents->kind) {
    case Kind::Undefined:
        return "<undefined>";
    case Kind::Inlined:
        return "<inlined>";
    case Kind::Root:
        return "<root>";
    case Kind::Loop:
        break;
    }
    check_locked();
    std::string result = contents->func_name;
    if (contents->stage_index != any_stage) {
        result += ".s" + std::to_string(contents->stage_index);
    }
    return result + "." + contents->var_name;
}

bool LoopLevel::match(const std::string &loop) const {
    check_defined_and_locked();
    if (contents->kind != Kind::Loop) {
        return false;
    }
    const std::string prefix = contents->stage_index == any_stage ?
                                   contents->func_name + ".s" :
                                   contents->func_name + ".s" + std::to_string(contents->stage_index) + ".";
    return starts_with(loop, prefix) && ends_with(loop, "." + contents->var_name);
}

bool LoopLevel::match(const LoopLevel &other) const {
    check_defined_and_locked();
    other.check_defined_and_locked();
    const LoopLevelContents &a = *contents, &b = *other.contents;
    if (a.kind != Kind::Loop || b.kind != Kind::Loop) {
        return a.kind == b.kind;
    }
    return a.func_name == b.func_name &&
           (a.var_name == b.var_name || ends_with(a.var_name, "." + b.var_name) ||
            ends_with(b.var_name, "." + a.var_name)) &&
           (a.stage_index == any_stage || b.stage_index == any_stage || a.stage_index == b.stage_index);
}

bool LoopLevel::operator==(const LoopLevel &other) const {
    check_defined();
    other.check_defined();
    return contents.same_as(other.contents) || contents->same_place(*other.contents);
}

namespace Internal {

bool FusedPair::operator==(const FusedPair &o) const {
    return func_1 == o.func_1 && func_2 == o.func_2 && stage_1 == o.stage_1 && stage_2 == o.stage_2 &&
           var_name == o.var_name;
}

bool FusedPair::operator<(const FusedPair &o) const {
    return std::tie(func_1, func_2, stage_1, stage_2, var_name) <
           std::tie(o.func_1, o.func_2, o.stage_1, o.stage_2, o.var_name);
}

struct FuncScheduleContents {
    mutable RefCount ref_count;

    LoopLevel store_level = LoopLevel::inlined();
    LoopLevel compute_level = LoopLevel::inlined();
    LoopLevel hoist_storage_level = LoopLevel::inlined();
    std::vector<StorageDim> storage_dims;
    std::vector<Bound> bounds, estimates;
    std::map<std::string, FunctionPtr> wrappers;
    MemoryType memory_type = MemoryType::Auto;
    bool memoized = false, async = false;
    Expr ring_buffer, memoize_eviction_key;
    std::vector<std::pair<Expr, std::string>> type_change_checks;

    /// Every Expr in the schedule, to be read or replaced.
    template<typename Action>
    void for_each_expr(Action action) {
        for (StorageDim &d : storage_dims) {
            action(d.alignment);
            action(d.bound);
            action(d.fold_factor);
        }
        for (std::vector<Bound> *list : {&bounds, &estimates}) {
            for (Bound &b : *list) {
                action(b.min);
                action(b.extent);
                action(b.modulus);
                action(b.remainder);
            }
        }
        action(ring_buffer);
        action(memoize_eviction_key);
        for (auto &check : type_change_checks) {
            action(check.first);
        }
    }
};

template<>
RefCount &ref_count<FuncScheduleContents>(const FuncScheduleContents *p) noexcept {
    return p->ref_count;
}

template<>
void destroy<FuncScheduleContents>(const FuncScheduleContents *p) {
    delete p;
}

struct StageScheduleContents {
    mutable RefCount ref_count;

    std::vector<ReductionVariable> rvars;
    std::vector<Split> splits;
    std::vector<Dim> dims;
    std::vector<PrefetchDirective> prefetches;
    FuseLoopLevel fuse_level;
    std::vector<FusedPair> fused_pairs;
    bool touched = false;
    bool allow_race_conditions = false;
    bool atomic = false;
    bool override_atomic_associativity_test = false;
    bool stream_stores = false;
    std::optional<std::vector<std::string>> stream_loads_names;

    template<typename Action>
    void for_each_expr(Action action) {
        for (ReductionVariable &r : rvars) {
            action(r.min);
            action(r.extent);
        }
        for (Split &s : splits) {
            action(s.factor);
        }
        for (PrefetchDirective &p : prefetches) {
            action(p.offset);
        }
    }
};

template<>
RefCount &ref_count<StageScheduleContents>(const StageScheduleContents *p) noexcept {
    return p->ref_count;
}

template<>
void destroy<StageScheduleContents>(const StageScheduleContents *p) {
    delete p;
}

namespace {

template<typename Contents>
void visit_exprs(Contents &contents, IRVisitor *v) {
    contents.for_each_expr([&](Expr &e) {
        if (e.defined()) {
            e.accept(v);
        }
    });
}

template<typename Contents>
void mutate_exprs(Contents &contents, IRMutator *m) {
    contents.for_each_expr([&](Expr &e) {
        if (e.defined()) {
            e = (*m)(e);
        }
    });
}

}  // namespace

FuncSchedule::FuncSchedule() : contents(new FuncScheduleContents) {
}
FuncSchedule::FuncSchedule(IntrusivePtr<FuncScheduleContents> c) : contents(std::move(c)) {
}
FuncSchedule::FuncSchedule(const FuncSchedule &) = default;
FuncSchedule &FuncSchedule::operator=(const FuncSchedule &) = default;
FuncSchedule::~FuncSchedule() = default;

FuncSchedule FuncSchedule::deep_copy(const std::map<FunctionPtr, FunctionPtr> &copied_map) const {
    FuncSchedule copy(IntrusivePtr<FuncScheduleContents>(new FuncScheduleContents(*contents)));
    copy.contents->wrappers.clear();
    for (const auto &[consumer, wrapper] : contents->wrappers) {
        auto it = copied_map.find(wrapper);
        if (it != copied_map.end()) {
            copy.contents->wrappers.emplace(consumer, it->second);
        }
    }
    return copy;
}

bool &FuncSchedule::memoized() {
    return contents->memoized;
}
bool FuncSchedule::memoized() const {
    return contents->memoized;
}
Expr &FuncSchedule::memoize_eviction_key() {
    return contents->memoize_eviction_key;
}
Expr FuncSchedule::memoize_eviction_key() const {
    return contents->memoize_eviction_key;
}
bool &FuncSchedule::async() {
    return contents->async;
}
bool FuncSchedule::async() const {
    return contents->async;
}
Expr &FuncSchedule::ring_buffer() {
    return contents->ring_buffer;
}
Expr FuncSchedule::ring_buffer() const {
    return contents->ring_buffer;
}
std::vector<std::pair<Expr, std::string>> &FuncSchedule::type_change_checks() {
    return contents->type_change_checks;
}
const std::vector<std::pair<Expr, std::string>> &FuncSchedule::type_change_checks() const {
    return contents->type_change_checks;
}
std::vector<StorageDim> &FuncSchedule::storage_dims() {
    return contents->storage_dims;
}
const std::vector<StorageDim> &FuncSchedule::storage_dims() const {
    return contents->storage_dims;
}
MemoryType &FuncSchedule::memory_type() {
    return contents->memory_type;
}
MemoryType FuncSchedule::memory_type() const {
    return contents->memory_type;
}
std::vector<Bound> &FuncSchedule::bounds() {
    return contents->bounds;
}
const std::vector<Bound> &FuncSchedule::bounds() const {
    return contents->bounds;
}
std::vector<Bound> &FuncSchedule::estimates() {
    return contents->estimates;
}
const std::vector<Bound> &FuncSchedule::estimates() const {
    return contents->estimates;
}
std::map<std::string, FunctionPtr> &FuncSchedule::wrappers() {
    return contents->wrappers;
}
const std::map<std::string, FunctionPtr> &FuncSchedule::wrappers() const {
    return contents->wrappers;
}
void FuncSchedule::add_wrapper(const std::string &f, const FunctionPtr &wrapper) {
    auto [it, inserted] = contents->wrappers.emplace(f, wrapper);
    if (!inserted && !it->second.same_as(wrapper)) {
        internal_assert(f.empty()) << "A second wrapper for consumer " << f << "\n";
        user_error << "There is already a wrapper for all consumers; a second one would never be read.\n";
    }
}
LoopLevel &FuncSchedule::store_level() {
    return contents->store_level;
}
const LoopLevel &FuncSchedule::store_level() const {
    return contents->store_level;
}
LoopLevel &FuncSchedule::compute_level() {
    return contents->compute_level;
}
const LoopLevel &FuncSchedule::compute_level() const {
    return contents->compute_level;
}
LoopLevel &FuncSchedule::hoist_storage_level() {
    return contents->hoist_storage_level;
}
const LoopLevel &FuncSchedule::hoist_storage_level() const {
    return contents->hoist_storage_level;
}
void FuncSchedule::accept(IRVisitor *v) const {
    visit_exprs(*contents, v);
}
void FuncSchedule::mutate(IRMutator *m) {
    mutate_exprs(*contents, m);
}

StageSchedule::StageSchedule() : contents(new StageScheduleContents) {
}
StageSchedule::StageSchedule(IntrusivePtr<StageScheduleContents> c) : contents(std::move(c)) {
}
StageSchedule::StageSchedule(const std::vector<ReductionVariable> &rvars, const std::vector<Split> &splits,
                             const std::vector<Dim> &dims, const std::vector<PrefetchDirective> &prefetches,
                             const FuseLoopLevel &fuse_level, const std::vector<FusedPair> &fused_pairs, bool touched,
                             bool allow_race_conditions, bool atomic, bool override_atomic_associativity_test)
    : contents(new StageScheduleContents) {
    contents->rvars = rvars;
    contents->splits = splits;
    contents->dims = dims;
    contents->prefetches = prefetches;
    contents->fuse_level = fuse_level;
    contents->fused_pairs = fused_pairs;
    contents->touched = touched;
    contents->allow_race_conditions = allow_race_conditions;
    contents->atomic = atomic;
    contents->override_atomic_associativity_test = override_atomic_associativity_test;
}
StageSchedule::StageSchedule(const StageSchedule &) = default;
StageSchedule &StageSchedule::operator=(const StageSchedule &) = default;
StageSchedule::~StageSchedule() = default;

StageSchedule StageSchedule::get_copy() const {
    return StageSchedule(IntrusivePtr<StageScheduleContents>(new StageScheduleContents(*contents)));
}

bool &StageSchedule::touched() {
    return contents->touched;
}
bool StageSchedule::touched() const {
    return contents->touched;
}
std::vector<ReductionVariable> &StageSchedule::rvars() {
    return contents->rvars;
}
const std::vector<ReductionVariable> &StageSchedule::rvars() const {
    return contents->rvars;
}
std::vector<Split> &StageSchedule::splits() {
    return contents->splits;
}
const std::vector<Split> &StageSchedule::splits() const {
    return contents->splits;
}
std::vector<Dim> &StageSchedule::dims() {
    return contents->dims;
}
const std::vector<Dim> &StageSchedule::dims() const {
    return contents->dims;
}
std::vector<PrefetchDirective> &StageSchedule::prefetches() {
    return contents->prefetches;
}
const std::vector<PrefetchDirective> &StageSchedule::prefetches() const {
    return contents->prefetches;
}
FuseLoopLevel &StageSchedule::fuse_level() {
    return contents->fuse_level;
}
const FuseLoopLevel &StageSchedule::fuse_level() const {
    return contents->fuse_level;
}
std::vector<FusedPair> &StageSchedule::fused_pairs() {
    return contents->fused_pairs;
}
const std::vector<FusedPair> &StageSchedule::fused_pairs() const {
    return contents->fused_pairs;
}
bool &StageSchedule::allow_race_conditions() {
    return contents->allow_race_conditions;
}
bool StageSchedule::allow_race_conditions() const {
    return contents->allow_race_conditions;
}
bool &StageSchedule::atomic() {
    return contents->atomic;
}
bool StageSchedule::atomic() const {
    return contents->atomic;
}
bool &StageSchedule::override_atomic_associativity_test() {
    return contents->override_atomic_associativity_test;
}
bool StageSchedule::override_atomic_associativity_test() const {
    return contents->override_atomic_associativity_test;
}
bool &StageSchedule::stream_stores() {
    return contents->stream_stores;
}
bool StageSchedule::stream_stores() const {
    return contents->stream_stores;
}
std::optional<std::vector<std::string>> &StageSchedule::stream_loads_names() {
    return contents->stream_loads_names;
}
const std::optional<std::vector<std::string>> &StageSchedule::stream_loads_names() const {
    return contents->stream_loads_names;
}
void StageSchedule::accept(IRVisitor *v) const {
    visit_exprs(*contents, v);
}
void StageSchedule::mutate(IRMutator *m) {
    mutate_exprs(*contents, m);
}

}  // namespace Internal
}  // namespace Halide
