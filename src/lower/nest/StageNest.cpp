#include "lower/nest/StageNest.h"

#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRVisitor.h"
#include "ir/Substitute.h"
#include "lower/nest/ApplySplit.h"
#include "simplify/CommonSubexpressions.h"
#include "simplify/Simplify.h"

#include <algorithm>
#include <map>
#include <set>

namespace Halide {
namespace Internal {

namespace {

/// Gives the pure Vars and RVars of a stage their names as loop variables: x → f.s0.x.
class QualifyVariables : public IRGraphMutator {
    using IRGraphMutator::visit;
    const std::string &prefix;
    const std::set<std::string> &names;

    Expr visit(const Variable *op) override {
        if (op->param.defined() || op->image.defined() || !names.count(op->name)) {
            return op;
        }
        return Variable::make(op->type, prefix + op->name);
    }

public:
    QualifyVariables(const std::string &prefix, const std::set<std::string> &names) : prefix(prefix), names(names) {
    }
};

bool is_load_of_func_or_image(const Call *op) {
    return op->call_type == Call::Halide || op->call_type == Call::Image;
}

/// f(x) → if_then_else(condition, f(x)), for every load.
class PredicateLoads : public IRGraphMutator {
    using IRGraphMutator::visit;
    const Expr &condition;

    Expr visit(const Call *op) override {
        Expr e = IRGraphMutator::visit(op);
        return is_load_of_func_or_image(op) ?
                   Call::make(op->type, Call::if_then_else, {condition, e}, Call::PureIntrinsic) :
                   e;
    }

public:
    explicit PredicateLoads(const Expr &condition) : condition(condition) {
    }
};

class FindVariables : public IRGraphVisitor {
    using IRGraphVisitor::visit;
    void visit(const Variable *op) override {
        names.insert(op->name);
    }
    void visit(const Call *op) override {
        if (is_load_of_func_or_image(op)) {
            has_loads = true;
        }
        IRGraphVisitor::visit(op);
    }

public:
    std::set<std::string> names;
    bool has_loads = false;
};

/// How many evaluations the scatters and gathers of an expression ask for; 0 if there are none.
class FindScatterGather : public IRGraphVisitor {
    using IRGraphVisitor::visit;
    void visit(const Call *op) override {
        if (op->is_intrinsic(Call::scatter_gather)) {
            user_assert(size == 0 || size == op->args.size())
                << "In an update definition of Func \"" << func << "\": a scatter or gather of length " << op->args.size()
                << " is used together with one of length " << size << ". All must have the same length.\n";
            size = op->args.size();
        }
        IRGraphVisitor::visit(op);
    }

public:
    const std::string &func;
    size_t size = 0;
    explicit FindScatterGather(const std::string &func) : func(func) {
    }
};

class SelectScatterGather : public IRGraphMutator {
    using IRGraphMutator::visit;
    const size_t index;
    Expr visit(const Call *op) override {
        return op->is_intrinsic(Call::scatter_gather) ? mutate(op->args[index]) : IRGraphMutator::visit(op);
    }

public:
    explicit SelectScatterGather(size_t index) : index(index) {
    }
};

/// f(scatter(a, b)) = v   →   let p = a  let q = b  let r = v  let s = v  f(p) = r  f(q) = s
/// Everything is loaded and computed before anything is stored.
Stmt expand_scatter_gather(const std::string &prefix, const Provide *op) {
    FindScatterGather find(op->name);
    for (const std::vector<Expr> *list : {&op->args, &op->values}) {
        for (const Expr &e : *list) {
            e.accept(&find);
        }
    }
    if (find.size == 0) {
        return op;
    }
    std::vector<std::pair<std::string, Expr>> lets;
    std::vector<Stmt> stores;
    for (size_t i = 0; i < find.size; i++) {
        SelectScatterGather select(i);
        auto bind = [&](const std::vector<Expr> &exprs, const char *what) {
            std::vector<Expr> result;
            for (const Expr &e : exprs) {
                const Expr value = select(e);
                if (is_const(value) || value.as<Variable>() || is_undef(value)) {
                    result.push_back(value);
                    continue;
                }
                lets.emplace_back(prefix + what + std::to_string(lets.size()), value);
                result.push_back(Variable::make(value.type(), lets.back().first));
            }
            return result;
        };
        const std::vector<Expr> args = bind(op->args, "scatter_site_"), values = bind(op->values, "scatter_value_");
        stores.push_back(Provide::make(op->name, values, args, op->predicate));
    }
    Stmt s = Block::make(stores);
    for (size_t i = lets.size(); i > 0; i--) {
        s = LetStmt::make(lets[i - 1].first, lets[i - 1].second, s);
    }
    return s;
}

/// Makes subexpressions that the values of a tuple share common to all of them, by lets around the store.
Stmt share_between_values(const std::string &prefix, const std::string &name, const std::vector<Expr> &values,
                          const std::vector<Expr> &args, const Expr &predicate) {
    const Expr bundle = Call::make(Int(32), Call::bundle, values, Call::PureIntrinsic);
    Expr shared = common_subexpression_elimination(bundle);
    std::vector<std::pair<std::string, Expr>> lets;
    std::map<std::string, Expr> renamed;
    while (const Let *let = shared.as<Let>()) {
        const std::string unique = prefix + "shared_" + std::to_string(lets.size());
        lets.emplace_back(unique, substitute(renamed, let->value));
        renamed[let->name] = Variable::make(let->value.type(), unique);
        shared = let->body;
    }
    const Call *call = shared.as<Call>();
    if (!call || !call->is_intrinsic(Call::bundle) || lets.empty()) {
        std::vector<Expr> separate;
        for (const Expr &v : values) {
            separate.push_back(common_subexpression_elimination(v));
        }
        return Provide::make(name, separate, args, predicate);
    }
    std::vector<Expr> results;
    for (const Expr &v : call->args) {
        results.push_back(substitute(renamed, v));
    }
    Stmt s = Provide::make(name, results, args, predicate);
    for (size_t i = lets.size(); i > 0; i--) {
        s = LetStmt::make(lets[i - 1].first, lets[i - 1].second, s);
    }
    return s;
}

/// The splits of a schedule with their effects on the body of the nest.
struct Effects {
    std::vector<ApplySplitResult> results;
    std::vector<std::pair<std::string, Expr>> bounds;
};

/// Does a split of the inner part of an earlier one compute points of the neighbouring tile? They would be computed
/// there as well, and those beyond the last tile would make the region grow each time it is asked for.
bool leaves_its_tile(const Split &split, const std::vector<Split> &earlier,
                     const std::map<std::string, Expr> &alignment) {
    if (split.tail != TailStrategy::RoundUp && split.tail != TailStrategy::ShiftInwards) {
        return false;
    }
    const bool is_inner = std::any_of(earlier.begin(), earlier.end(),
                                      [&](const Split &s) { return s.is_split() && s.inner == split.old_var; });
    const auto extent = alignment.find(split.old_var);
    if (!is_inner || extent == alignment.end() || is_const_zero(simplify(extent->second % split.factor))) {
        return false;
    }
    return split.tail == TailStrategy::RoundUp || !can_prove(extent->second >= split.factor);
}

Effects apply_all_splits(const Function &f, const Definition &def, const std::string &prefix) {
    const StageSchedule &schedule = def.schedule();
    std::map<std::string, Expr> alignment;
    for (const Bound &b : f.schedule().bounds()) {
        if (b.extent.defined()) {
            alignment[b.var] = b.extent;
        } else if (b.modulus.defined()) {
            alignment[b.var] = b.modulus;
        }
    }
    for (const ReductionVariable &rv : schedule.rvars()) {
        alignment[rv.var] = rv.extent;
    }

    Effects effects;
    std::vector<std::vector<ApplySplitResult>> by_split;
    std::vector<Split> earlier;
    for (Split split : schedule.splits()) {
        if (split.is_split() && split.tail == TailStrategy::Auto) {
            split.tail = resolve_tail_strategy(split.tail, split.old_var, split.factor, split.exact, !def.is_init(),
                                               earlier, f.name());
        }
        if (split.is_split() && leaves_its_tile(split, earlier, alignment)) {
            split.tail = TailStrategy::GuardWithIf;
        }
        by_split.push_back(apply_split(split, prefix, alignment));
        for (const auto &let : compute_loop_bounds_after_split(split, prefix)) {
            effects.bounds.push_back(let);
        }
        earlier.push_back(split);
    }
    // A later split takes apart what an earlier one made, so its variables come first.
    for (size_t i = by_split.size(); i > 0; i--) {
        for (const ApplySplitResult &r : by_split[i - 1]) {
            effects.results.push_back(r);
        }
    }
    return effects;
}

std::vector<std::pair<std::string, Expr>> root_bounds(const Function &f, const Definition &def,
                                                      const std::string &prefix) {
    std::vector<std::pair<std::string, Expr>> lets;
    auto add = [&](const std::string &var, const Expr &min, const Expr &max) {
        const std::string name = prefix + var;
        lets.emplace_back(name + ".loop_min", min);
        lets.emplace_back(name + ".loop_max", max);
        lets.emplace_back(name + ".loop_extent", Variable::make(Int(32), name + ".loop_max") -
                                                     Variable::make(Int(32), name + ".loop_min") + 1);
    };
    add("__outermost", 0, 0);
    for (const ReductionVariable &rv : def.schedule().rvars()) {
        const std::string name = prefix + rv.var;
        lets.emplace_back(name + ".min", rv.min);
        lets.emplace_back(name + ".max", rv.min + rv.extent - 1);
        add(rv.var, Variable::make(Int(32), name + ".min"), Variable::make(Int(32), name + ".max"));
    }
    const std::vector<std::string> pure_args = f.args();
    for (size_t i = 0; i < pure_args.size(); i++) {
        // Only those that the stage has loops over.
        const Variable *v = def.args()[i].as<Variable>();
        if (v && v->name == pure_args[i]) {
            const std::string name = prefix + pure_args[i];
            add(pure_args[i], Variable::make(Int(32), name + ".min"), Variable::make(Int(32), name + ".max"));
        }
    }
    return lets;
}

}  // namespace

Stmt StageNest::inner(int depth) const {
    Stmt s = body;
    for (int d = (int)loops.size(); d >= depth; d--) {
        for (size_t i = items.size(); i > 0; i--) {
            const Item &item = items[i - 1];
            if (d == depth ? item.depth > d : item.depth != d) {
                continue;
            }
            if (item.name.empty()) {
                s = IfThenElse::make(item.value, s);
            } else {
                s = LetStmt::make(item.name, item.value, s);
            }
        }
        if (d > depth) {
            const Loop &l = loops[d - 1];
            s = For::make(l.name, Variable::make(Int(32), l.name + ".loop_min"),
                          Variable::make(Int(32), l.name + ".loop_max"), l.for_type, l.partition_policy, l.device_api, s,
                          l.hint);
        }
    }
    return s;
}

Stmt StageNest::with_bounds(Stmt s) const {
    for (size_t i = bounds.size(); i > 0; i--) {
        s = LetStmt::make(bounds[i - 1].first, bounds[i - 1].second, s);
    }
    return s;
}

StageNest build_stage_nest(const Function &f, int stage, const Definition &def, Inliner &inliner) {
    StageNest nest;
    nest.prefix = f.name() + ".s" + std::to_string(stage) + ".";
    const std::string &prefix = nest.prefix;
    const StageSchedule &schedule = def.schedule();

    for (size_t i = schedule.dims().size(); i > 0; i--) {
        const Dim &d = schedule.dims()[i - 1];
        nest.loops.push_back({prefix + d.var, d.var, d.for_type, d.device_api, d.partition_policy, d.hint});
    }
    Effects effects = apply_all_splits(f, def, prefix);
    nest.bounds = root_bounds(f, def, prefix);
    nest.bounds.insert(nest.bounds.end(), effects.bounds.begin(), effects.bounds.end());

    std::set<std::string> names;
    for (const std::string &arg : f.args()) {
        names.insert(arg);
    }
    for (const ReductionVariable &rv : schedule.rvars()) {
        names.insert(rv.var);
    }
    QualifyVariables qualify(prefix, names);
    auto prepare = [&](const Expr &e) { return qualify(inliner.do_inlining(e)); };

    // What the innermost loop does.
    std::vector<Expr> args, values;
    for (const Expr &e : def.args()) {
        args.push_back(prepare(e));
    }
    for (const Expr &e : def.values()) {
        values.push_back(prepare(e));
    }
    Expr store_predicate = const_true();
    for (const ApplySplitResult &r : effects.results) {
        if (r.type == ApplySplitResult::PredicateCalls) {
            PredicateLoads predicate(r.value);
            args = predicate(args);
            values = predicate(values);
        } else if (r.type == ApplySplitResult::PredicateProvides) {
            store_predicate = is_const_one(store_predicate) ? r.value : store_predicate && r.value;
        }
    }
    for (const ApplySplitResult &r : effects.results) {
        if (r.type == ApplySplitResult::BlendProvides) {
            for (size_t i = 0; i < values.size(); i++) {
                const Expr old = Call::make(values[i].type(), f.name(), args, Call::Halide, f.get_contents(), (int)i);
                values[i] = select(r.value, values[i], old);
            }
        }
    }
    if (values.empty()) {
        // An extern stage, whose body is made elsewhere.
        nest.body = Evaluate::make(0);
    } else if (values.size() > 1) {
        nest.body = share_between_values(prefix, f.name(), values, args, store_predicate);
    } else {
        nest.body = Provide::make(f.name(), values, args, store_predicate);
    }
    if (const Provide *provide = nest.body.as<Provide>()) {
        nest.body = expand_scatter_gather(prefix, provide);
    } else if (!values.empty()) {
        nest.body = mutate_with(nest.body, [&](auto *self, const Provide *op) { return expand_scatter_gather(prefix, op); });
    }
    if (schedule.atomic()) {
        bool parallel = false;
        for (const Dim &d : schedule.dims()) {
            parallel |= d.is_parallel();
        }
        if (parallel) {
            nest.body = Atomic::make(f.name(), "", nest.body);
        }
    }

    // What stands between the loops, each as far out as its variables allow.
    std::map<std::string, int> depths;
    for (size_t i = 0; i < nest.loops.size(); i++) {
        depths[nest.loops[i].name] = (int)i + 1;
    }
    auto depth_of = [&](const Expr &e, bool *has_loads = nullptr) {
        FindVariables find;
        e.accept(&find);
        int depth = 0;
        for (const std::string &name : find.names) {
            auto it = depths.find(name);
            if (it != depths.end()) {
                depth = std::max(depth, it->second);
            }
        }
        if (has_loads) {
            *has_loads = find.has_loads;
        }
        return depth;
    };
    for (const ApplySplitResult &r : effects.results) {
        if (r.type == ApplySplitResult::LetStmt) {
            const int depth = depth_of(r.value);
            depths[r.name] = depth;
            nest.items.push_back({r.name, r.value, depth});
        } else if (r.type == ApplySplitResult::Predicate) {
            nest.items.push_back({"", r.value, depth_of(r.value)});
        }
    }
    for (const Expr &p : def.split_predicate()) {
        const Expr predicate = prepare(p);
        if (is_const_one(predicate)) {
            continue;
        }
        // A predicate that reads a Func stays where the Func may have to be computed for it.
        bool has_loads = false;
        const int depth = depth_of(predicate, &has_loads);
        nest.items.push_back({"", likely(predicate), has_loads ? (int)nest.loops.size() : depth});
    }
    return nest;
}

namespace {

Stmt wrap_streaming(const Function &f, const StageSchedule &schedule, Stmt s) {
    if (schedule.stream_loads_names()) {
        const std::vector<std::string> &names = *schedule.stream_loads_names();
        s = StreamingLoads::make(names.empty() ? std::optional<std::vector<std::string>>() : names, s);
    }
    if (schedule.stream_stores()) {
        s = StreamingStore::make(f.name(), s);
    }
    return s;
}

Stmt build_definition(const Function &f, int stage, const Definition &def, Inliner &inliner) {
    const StageNest nest = build_stage_nest(f, stage, def, inliner);
    Stmt s = wrap_streaming(f, def.schedule(), nest.with_bounds(nest.whole()));

    const std::vector<Specialization> &alternatives = def.specializations();
    for (size_t i = alternatives.size(); i > 0; i--) {
        const Specialization &a = alternatives[i - 1];
        if (!a.failure_message.empty()) {
            internal_assert(i == alternatives.size()) << "specialize_fail is not the last alternative";
            s = AssertStmt::make(const_false(), Call::make(Int(32), "halide_error_specialize_fail",
                                                           {StringImm::make(a.failure_message)}, Call::Extern));
        } else {
            s = IfThenElse::make(a.condition, build_definition(f, stage, a.definition, inliner), s);
        }
    }
    return s;
}

}  // namespace

Stmt build_stage(const Function &f, int stage, Inliner &inliner) {
    return build_definition(f, stage, stage == 0 ? f.definition() : f.update(stage - 1), inliner);
}

}  // namespace Internal
}  // namespace Halide
