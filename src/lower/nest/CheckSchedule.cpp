#include "lower/nest/CheckSchedule.h"

#include "ir/IR.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"
#include "support/Util.h"

#include <algorithm>
#include <set>

namespace Halide {
namespace Internal {

namespace {

/// The name of the Func whose buffer symbol this is: f.buffer, f.0.buffer.
bool is_buffer_of(const std::string &symbol, const std::string &func) {
    return symbol.size() > func.size() && ends_with(symbol, ".buffer") && starts_with(symbol, func + ".") &&
           symbol.find_first_not_of("0123456789.", func.size() + 1) == symbol.size() - 6;
}

template<typename Visitor>
class UseFinder : public Visitor {
protected:
    using Visitor::visit;
    const std::string &func;

    virtual void use() = 0;

    void visit(const Call *op) override {
        if (op->call_type == Call::Halide && op->name == func) {
            use();
        }
        Visitor::visit(op);
    }
    void visit(const Variable *op) override {
        if (op->type.is_handle() && is_buffer_of(op->name, func)) {
            use();
        }
    }

public:
    explicit UseFinder(const std::string &func) : func(func) {
    }
};

class IsUsed : public UseFinder<IRGraphVisitor> {
    void use() override {
        found = true;
    }
    void include(const Expr &e) override {
        if (!found) {
            IRGraphVisitor::include(e);
        }
    }
    void include(const Stmt &s) override {
        if (!found) {
            IRGraphVisitor::include(s);
        }
    }

public:
    bool found = false;
    using UseFinder::UseFinder;
};

struct Site {
    std::string loop;
    ForType for_type;

    std::string func() const {
        return loop.substr(0, loop.find('.'));
    }
    /// How a program names the loop's variable.
    std::string var() const {
        return loop.substr(loop.rfind('.') + 1);
    }
};

/// The loops around each use, outermost first.
class FindUses : public UseFinder<IRVisitor> {
    using UseFinder::visit;
    std::vector<Site> stack;
    std::set<const IRNode *> seen_exprs;

    void use() override {
        if (uses.empty() || !same(uses.back(), stack)) {
            uses.push_back(stack);
        }
    }

    static bool same(const std::vector<Site> &a, const std::vector<Site> &b) {
        return a.size() == b.size() &&
               std::equal(a.begin(), a.end(), b.begin(), [](const Site &x, const Site &y) { return x.loop == y.loop; });
    }

    void visit(const For *op) override {
        op->min.accept(this);
        op->max.accept(this);
        stack.push_back({op->name, op->for_type});
        op->body.accept(this);
        stack.pop_back();
    }

public:
    std::vector<std::vector<Site>> uses;
    using UseFinder::UseFinder;
};

constexpr int nowhere = -2, root_index = -1;

/// Which of the loops is meant.
int find_site(const std::vector<Site> &stack, const LoopLevel &level) {
    if (level.is_root()) {
        return root_index;
    }
    for (size_t i = 0; i < stack.size(); i++) {
        if (level.match(stack[i].loop)) {
            return (int)i;
        }
    }
    return nowhere;
}

std::string call_text(const Function &f, const char *directive, const LoopLevel &level) {
    if (level.is_root()) {
        const std::string name = directive;
        return f.name() + "." + (name == "hoist_storage" ? "hoist_storage_root" :
                                 name == "store_at"      ? "store_root" :
                                                           "compute_root") + "()";
    }
    return f.name() + "." + directive + "(" + level.func_name() + ", " + level.var_name() + ")";
}

std::string place_text(const Site &site) {
    const std::string var = site.var() == "__outermost" ? "Var::outermost()" : site.var();
    return "(" + site.func() + ", " + var + ")";
}

/// The loops that are around all uses.
std::vector<Site> common_sites(const std::vector<std::vector<Site>> &uses) {
    std::vector<Site> result;
    for (const Site &site : uses[0]) {
        const LoopLevel level(site.func(), site.var(), false, LoopLevel::any_stage, true);
        const bool everywhere = std::all_of(uses.begin(), uses.end(), [&](const std::vector<Site> &stack) {
            return find_site(stack, level) != nowhere;
        });
        if (everywhere && std::none_of(result.begin(), result.end(), [&](const Site &s) {
                return s.func() == site.func() && s.var() == site.var();
            })) {
            result.push_back(site);
        }
    }
    return result;
}

std::string legal_places(const Function &f, const std::vector<std::vector<Site>> &uses) {
    std::ostringstream s;
    s << "  Places that enclose all uses of " << f.name() << ":\n    compute_root()\n";
    for (const Site &site : common_sites(uses)) {
        s << "    compute_at" << place_text(site) << "\n";
    }
    return s.str();
}

}  // namespace

bool uses_func(const Stmt &s, const Function &f) {
    IsUsed used(f.name());
    s.accept(&used);
    return used.found;
}

bool uses_func(const Expr &e, const Function &f) {
    IsUsed used(f.name());
    e.accept(&used);
    return used.found;
}

void check_levels(const Function &f, const Stmt &s) {
    const LoopLevel &compute = f.schedule().compute_level(), &store = f.schedule().store_level(),
                    &hoist = f.schedule().hoist_storage_level();
    if (compute.is_root() && store.is_root() && hoist.is_root()) {
        return;
    }
    FindUses find(f.name());
    s.accept(&find);
    if (find.uses.empty()) {
        return;
    }
    for (const std::vector<Site> &stack : find.uses) {
        const int c = find_site(stack, compute), a = find_site(stack, store), h = find_site(stack, hoist);
        user_assert(c != nowhere) << "Func \"" << f.name() << "\" has the schedule " << call_text(f, "compute_at", compute)
                                  << ", but that loop does not enclose all uses of it.\n"
                                  << legal_places(f, find.uses);
        user_assert(a != nowhere) << "Func \"" << f.name() << "\" has the schedule " << call_text(f, "store_at", store)
                                  << ", but that loop does not enclose all uses of it.\n"
                                  << legal_places(f, find.uses);
        user_assert(h != nowhere) << "Func \"" << f.name() << "\" has the schedule "
                                  << call_text(f, "hoist_storage", hoist)
                                  << ", but that loop does not enclose all uses of it.\n"
                                  << legal_places(f, find.uses);
        user_assert(a <= c) << "Func \"" << f.name() << "\" has the schedule " << call_text(f, "store_at", store) << " and "
                            << call_text(f, "compute_at", compute)
                            << ": the place of storage must enclose the place of computation.\n";
        user_assert(h <= a) << "Func \"" << f.name() << "\" has the schedule " << call_text(f, "hoist_storage", hoist)
                            << " and " << call_text(f, "store_at", store)
                            << ": the place of allocation must enclose the place of storage.\n";
        for (int i = h + 1; i <= a; i++) {
            user_assert(!is_parallel(stack[i].for_type))
                << "Func \"" << f.name() << "\" is allocated outside the parallel loop over " << stack[i].func() << "."
                << stack[i].var() << " but stored within it. This is a potential race condition.\n"
                << "  Hoist its storage inside that loop only.\n";
        }
        for (int i = a + 1; i <= c; i++) {
            user_assert(!is_parallel(stack[i].for_type))
                << "Func \"" << f.name() << "\" is stored outside the parallel loop over " << stack[i].func() << "."
                << stack[i].var() << " but computed within it. This is a potential race condition.\n"
                << "  Store it inside that loop, or compute it outside.\n";
        }
    }
}

namespace {

std::string stage_name(const Function &f, int stage) {
    return stage == 0 ? f.name() : f.name() + ".update(" + std::to_string(stage - 1) + ")";
}

/// Dimensions that stem from one dimension by later splits.
std::set<std::string> descendants(const std::vector<Split> &splits, size_t from) {
    std::set<std::string> names = {splits[from].outer, splits[from].inner};
    for (size_t i = from + 1; i < splits.size(); i++) {
        const Split &s = splits[i];
        if (s.is_fuse()) {
            if (names.count(s.inner) || names.count(s.outer)) {
                names.insert(s.old_var);
            }
        } else if (names.count(s.old_var)) {
            names.insert(s.outer);
            if (s.is_split()) {
                names.insert(s.inner);
            }
        }
    }
    return names;
}

void check_stage(const Function &f, int stage, const Definition &def, const Target &target) {
    const StageSchedule &schedule = def.schedule();
    for (const Dim &d : schedule.dims()) {
        user_assert(target.supports_device_api(d.device_api))
            << "The schedule of " << stage_name(f, stage) << " runs the loop over " << d.var << " with "
            << "a device API that the target " << target.to_string() << " does not have.\n"
            << "  Add the feature of that API to the target, or drop the directive.\n";
    }
    if (!schedule.allow_race_conditions()) {
        const std::vector<Split> &splits = schedule.splits();
        for (size_t i = 0; i < splits.size(); i++) {
            if (!splits[i].is_split() || (splits[i].tail != TailStrategy::ShiftInwardsAndBlend &&
                                          splits[i].tail != TailStrategy::RoundUpAndBlend)) {
                continue;
            }
            const std::set<std::string> names = descendants(splits, i);
            for (const Dim &d : schedule.dims()) {
                user_assert(!names.count(d.var) || !d.is_unordered_parallel())
                    << "In the schedule of " << stage_name(f, stage) << ", the tail strategy of the split of "
                    << splits[i].old_var << " rewrites values that other iterations store, and the loop over " << d.var
                    << " runs in parallel. This is a potential race condition.\n"
                    << "  Use another tail strategy, or call allow_race_conditions().\n";
            }
        }
    }
    for (const Specialization &s : def.specializations()) {
        if (s.failure_message.empty()) {
            check_stage(f, stage, s.definition, target);
        }
    }
}

void check_forgotten_updates(const Function &f) {
    const int updates = (int)f.updates().size();
    bool any = f.definition().schedule().touched();
    for (int i = 0; i < updates; i++) {
        any |= f.update(i).schedule().touched();
    }
    for (int i = 0; any && i < updates; i++) {
        if (!f.update(i).schedule().touched()) {
            user_warning << "Update definition " << i << " of Func \"" << f.name()
                         << "\" has not been scheduled, although other definitions of it have been.\n"
                         << "  If that is intended, call " << f.name() << ".update(" << i << ").unscheduled().\n";
        }
    }
}

}  // namespace

void check_schedule(const Function &f, bool is_output, const Target &target) {
    const FuncSchedule &s = f.schedule();
    const LoopLevel &compute = s.compute_level(), &store = s.store_level(), &hoist = s.hoist_storage_level();
    const std::string name = "Func \"" + f.name() + "\"";

    for (const ExternFuncArgument &arg : f.extern_arguments()) {
        if (!arg.is_func()) {
            continue;
        }
        const Function g(arg.func);
        user_assert(!g.schedule().compute_level().is_inlined())
            << "Func \"" << g.name() << "\" cannot be computed inline, because it is an argument of the extern Func \""
            << f.name() << "\", which needs it in memory.\n  Give it a compute_root or compute_at.\n";
    }
    check_stage(f, 0, f.definition(), target);
    for (size_t i = 0; i < f.updates().size(); i++) {
        check_stage(f, (int)i + 1, f.update((int)i), target);
    }
    check_forgotten_updates(f);

    if (is_output) {
        auto at_root = [](const LoopLevel &l) { return l.is_inlined() || l.is_root(); };
        user_assert(at_root(compute) && at_root(store) && at_root(hoist))
            << name << " is an output of the pipeline, so it must be scheduled compute_root and store_root, but has the "
            << "schedule " << call_text(f, "compute_at", at_root(compute) ? (at_root(store) ? hoist : store) : compute)
            << ".\n";
        user_assert(!s.memoized()) << name << " is an output of the pipeline, so it cannot be memoized.\n";
        return;
    }
    if (compute.is_inlined()) {
        user_assert(store.is_inlined() && hoist.is_inlined())
            << name << " is scheduled store_at or hoist_storage, but is inlined.\n"
            << "  Give it a compute_at or compute_root as well.\n";
        user_assert(!s.memoized()) << "Cannot memoize " << name << " because the Func is scheduled inline.\n";
        user_assert(!s.async()) << "Cannot make " << name << " async because the Func is scheduled inline.\n";
        user_assert(!s.ring_buffer().defined())
            << "Cannot give " << name << " a ring buffer because the Func is scheduled inline.\n";
        return;
    }
    user_assert(!s.memoized() || compute == store)
        << name << " is memoized, so it must be stored where it is computed: " << call_text(f, "compute_at", compute)
        << " and " << call_text(f, "store_at", store) << " differ.\n";
    user_assert(hoist == store || !f.has_extern_definition())
        << name << " has an extern definition, so its storage cannot be hoisted.\n";
    user_assert(!s.ring_buffer().defined() || !(hoist == store))
        << name << " has a ring buffer, which needs a hoist_storage outside of the place of storage, "
        << store.to_string() << ".\n";
}

}  // namespace Internal
}  // namespace Halide
