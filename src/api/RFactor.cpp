#include <algorithm>
#include <map>
#include <set>

#include "api/Func.h"
#include "api/LoopNestEditor.h"
#include "api/Stage.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"
#include "ir/Substitute.h"
#include "regions/Associativity.h"
#include "simplify/Simplify.h"
#include "support/Util.h"

namespace Halide {

using namespace Internal;

namespace {

struct LoopBounds {
    Expr min, extent;
};

/// The reduction loops that a stage has now: leaves of the tree of splits whose roots are the RVars of its RDom.
struct ReductionLoops {
    std::map<std::string, LoopBounds> bounds;
    /// What each RVar, and each loop that was split, is in terms of the loops made of it; innermost splits last.
    std::vector<std::pair<std::string, Expr>> values;
    /// Conditions that keep the tails of splits inside.
    std::vector<Expr> guards;

    explicit ReductionLoops(const StageSchedule &schedule, const std::string &what) {
        for (const ReductionVariable &rv : schedule.rvars()) {
            bounds[rv.var] = {rv.min, rv.extent};
        }
        const auto var = [](const std::string &name) { return Variable::make(Int(32), name); };
        for (const Split &s : schedule.splits()) {
            if (s.is_fuse()) {
                const bool in = bounds.count(s.inner), out = bounds.count(s.outer);
                user_assert(in == out) << what << ": the loop " << s.old_var << " is fused from a Var and an RVar, so "
                                       << "the reduction cannot be factored.\n";
                if (in) {
                    const LoopBounds inner = bounds[s.inner], outer = bounds[s.outer];
                    bounds[s.old_var] = {0, simplify(inner.extent * outer.extent)};
                    // An empty inner loop leaves the fused one empty; max keeps the division defined.
                    const Expr n = max(inner.extent, 1);
                    values.emplace_back(s.inner, var(s.old_var) % n + inner.min);
                    values.emplace_back(s.outer, var(s.old_var) / n + outer.min);
                }
            } else if (bounds.count(s.old_var)) {
                const LoopBounds old = bounds[s.old_var];
                if (s.is_rename()) {
                    bounds[s.outer] = old;
                    values.emplace_back(s.old_var, var(s.outer));
                } else {
                    bounds[s.inner] = {0, s.factor};
                    bounds[s.outer] = {0, simplify((old.extent + s.factor - 1) / s.factor)};
                    const Expr offset = var(s.outer) * s.factor + var(s.inner);
                    values.emplace_back(s.old_var, offset + old.min);
                    if (!can_prove(old.extent % s.factor == 0)) {
                        guards.push_back(offset < old.extent);
                    }
                }
            }
        }
    }
};

/// Replaces reduction loops by expressions, and calls of the Func that is factored by calls of the intermediate.
class Rewrite : public IRGraphMutator {
    using IRGraphMutator::visit;

    const std::map<std::string, Expr> &replacements;
    const Function &from;
    const Function &to;
    const std::vector<Expr> &extra_args;

    Expr visit(const Variable *op) override {
        auto it = replacements.find(op->name);
        return it == replacements.end() ? Expr(op) : it->second;
    }

    Expr visit(const Call *op) override {
        if (op->call_type != Call::Halide || !op->func.same_as(from.get_contents())) {
            return IRGraphMutator::visit(op);
        }
        std::vector<Expr> args;
        for (const Expr &a : op->args) {
            args.push_back(mutate(a));
        }
        args.insert(args.end(), extra_args.begin(), extra_args.end());
        return Call::make(op->type, to.name(), args, Call::Halide, to.get_contents(), op->value_index);
    }

public:
    Rewrite(const std::map<std::string, Expr> &replacements, const Function &from, const Function &to,
            const std::vector<Expr> &extra_args)
        : replacements(replacements), from(from), to(to), extra_args(extra_args) {}
};

bool uses_rvar(const Expr &e) {
    bool found = false;
    visit_with(e, [&](auto *, const Variable *op) { found = found || op->reduction_domain.defined(); });
    return found;
}

/// Whether `e` grows with the RVar, and depends on no other one.
bool grows_with(Expr e, const std::string &rvar) {
    while (const Cast *c = e.as<Cast>()) {
        // Int(32) to these types keeps the order; in float only up to 2^24, beyond which neighbours become equal.
        if (c->value.type() != Int(32) || !(c->type.is_float() || c->type == Int(64))) {
            return false;
        }
        e = c->value;
    }
    bool only = true;
    visit_with(
        e, [&](auto *, const Variable *op) { only = only && (op->name == rvar || !op->reduction_domain.defined()); });
    return only && e.type() == Int(32) && can_prove(substitute(rvar, Variable::make(Int(32), rvar) + 1, e) > e);
}

/// Makes the choices in `op` independent of the order of iteration, by comparing the reduction variables that the tuple
/// holds where keys are equal.
///
/// @returns  whether that is possible: the tuple must hold all of them, and its first value must not look like one.
bool order_ties(AssociativeOp &op, const Function &f, const Definition &definition) {
    if (f.updates().empty() || !f.update(0).same_as(definition)) {
        return false;
    }
    for (const AssociativeOp::Choice &choice : op.choices) {
        const std::string key = std::to_string(choice.key);
        const Type key_type = f.output_types()[choice.key];
        const Expr xk = Variable::make(key_type, "x" + key), yk = Variable::make(key_type, "y" + key);
        const Expr worst = op.pattern.identities[choice.key], first_key = f.values()[choice.key];
        const bool first_is_worst = can_prove(first_key == worst);

        // Lexicographic order of the positions, the outermost RVar first.
        std::set<size_t> positions;
        Expr x_earlier = const_false(), y_earlier = const_false();
        for (const ReductionVariable &rv : definition.schedule().rvars()) {
            const auto place = std::find_if(choice.elements.begin(), choice.elements.end(), [&](size_t i) {
                return i != choice.key && op.ys[i].expr.defined() && grows_with(op.ys[i].expr, rv.var);
            });
            if (place == choice.elements.end()) {
                return false;
            }
            positions.insert(*place);
            const Type t = f.output_types()[*place];
            const Expr x = Variable::make(t, "x" + std::to_string(*place));
            const Expr y = Variable::make(t, "y" + std::to_string(*place));
            x_earlier = x < y || (x == y && x_earlier);
            y_earlier = y < x || (x == y && y_earlier);
            const Expr smallest = substitute(rv.var, rv.min, op.ys[*place].expr);
            const bool before_all = can_prove(f.values()[*place] <= smallest);
            if (!before_all && !(choice.first_wins && first_is_worst)) {
                return false;
            }
            op.pattern.identities[*place] = choice.first_wins ? t.max() : t.min();
        }
        if (!choice.first_wins && positions.size() + 1 < choice.elements.size()) {
            return false;
        }
        const Expr better = choice.smaller_wins ? yk < xk : yk > xk;
        const Expr tie = xk == yk && (choice.first_wins ? yk != worst && y_earlier : x_earlier);
        for (size_t i : choice.elements) {
            const Type t = f.output_types()[i];
            op.pattern.ops[i] = select(better || tie, Variable::make(t, "y" + std::to_string(i)),
                                       Variable::make(t, "x" + std::to_string(i)));
        }
    }
    for (size_t i = 0; i < op.size(); i++) {
        // All elements of a choice are read now.
        if (op.xs[i].var.empty()) {
            return false;
        }
    }
    return true;
}

}  // namespace

Func Stage::rfactor(const std::vector<std::pair<RVar, Var>> &preserved) {
    std::vector<std::string> given;
    for (const auto &p : preserved) {
        given.push_back("{" + p.first.name() + ", " + p.second.name() + "}");
    }
    const std::string what = name() + ".rfactor(" + join_strings(given, ", ") + ")";
    user_assert(!definition_.is_init()) << what << ": rfactor() must be called on an update definition, as in "
                                        << function_.name() << ".update(0).rfactor(...).\n";
    user_assert(!preserved.empty()) << what << ": no RVars are given.\n";
    user_assert(definition_.specializations().empty())
        << what << ": the stage has specializations; factor first and specialize then.\n";

    StageSchedule &schedule = definition_.schedule();
    const ReductionLoops loops(schedule, what);

    // The loops that become dimensions of the intermediate.
    std::map<std::string, Var> kept;
    const std::vector<std::string> func_args = function_.args();
    for (const auto &p : preserved) {
        const auto dim = std::find_if(schedule.dims().begin(), schedule.dims().end(), [&](const Dim &d) {
            return d.is_rvar() && dim_name_matches(d.var, p.first.name());
        });
        user_assert(dim != schedule.dims().end())
            << what << ": can't perform rfactor() on " << p.first.name() << ", which is not a reduction loop of "
            << name() << ".\n  " << dump_argument_list();
        user_assert(kept.emplace(dim->var, p.second).second) << what << ": " << p.first.name() << " is listed twice.\n";
        const bool taken =
            std::find(func_args.begin(), func_args.end(), p.second.name()) != func_args.end() ||
            std::count_if(kept.begin(), kept.end(), [&](const auto &k) { return k.second.same_as(p.second); }) > 1;
        user_assert(!taken) << what << ": the Var " << p.second.name()
                            << " is in use already; the new dimension needs a Var of its own.\n";
    }

    AssociativeOp op = prove_associativity(function_.name(), definition_.args(), definition_.values());
    user_assert(op.associative()) << what << ": failed to call rfactor() on " << name()
                                  << " since it can't prove associativity of the update.\n"
                                  << "  An update that can be factored combines the old value with a new one by +, *, "
                                  << "min, max, && or another associative operator.\n";
    // Without commutativity, each part must be a run of neighbours in the original order.
    std::string outside_of_kept;
    bool kept_seen = false;
    for (const Dim &d : schedule.dims()) {
        if (d.is_rvar()) {
            outside_of_kept = kept_seen && !kept.count(d.var) ? d.var : outside_of_kept;
            kept_seen = kept_seen || kept.count(d.var);
        }
    }
    user_assert(op.commutative() || outside_of_kept.empty())
        << what
        << ": the update is associative but not commutative, so only the outermost reduction loops can be factored "
        << "out, and " << outside_of_kept << " is outside of one of them.\n";
    const bool order_matters = !op.choices.empty() && !outside_of_kept.empty();
    if (order_matters) {
        user_assert(order_ties(op, function_, definition_))
            << what
            << ": among equal keys, the update keeps the first or the last in order of iteration. Factored like this, "
            << "it would keep another one, because " << outside_of_kept << " is outside of what is factored out.\n"
            << "  Factor out the outermost reduction loops, or let the tuple hold all reduction variables.\n";
    }

    // Two domains: of what the intermediate reduces, and of the combination.
    std::vector<ReductionVariable> inner_vars, outer_vars;
    for (const Dim &d : schedule.dims()) {
        if (d.is_rvar()) {
            const LoopBounds &b = loops.bounds.at(d.var);
            (kept.count(d.var) ? outer_vars : inner_vars).push_back({d.var, b.min, b.extent});
        }
    }
    const ReductionDomain outer_domain(outer_vars);
    ReductionDomain inner_domain;
    if (!inner_vars.empty()) {
        inner_domain = ReductionDomain(inner_vars);
    }

    // Every RVar in terms of the loops: dimensions of the intermediate, and RVars of the inner domain.
    std::map<std::string, Expr> replacements;
    for (const auto &k : kept) {
        replacements[k.first] = k.second;
    }
    for (const ReductionVariable &rv : inner_vars) {
        replacements[rv.var] = Variable::make(Int(32), rv.var, inner_domain);
    }
    for (auto v = loops.values.rbegin(); v != loops.values.rend(); ++v) {
        replacements[v->first] = simplify(substitute(replacements, v->second));
    }

    // The intermediate: identity everywhere, then the same update with the kept loops as dimensions.
    Func intermediate(function_.name() + "_intm");
    Function intm = intermediate.function();
    std::vector<std::string> intm_args = func_args;
    std::vector<Expr> extra_args;
    for (const auto &p : preserved) {
        intm_args.push_back(p.second.name());
        extra_args.push_back(p.second);
    }
    intm.define(intm_args, op.pattern.identities);

    Rewrite rewrite(replacements, function_, intm, extra_args);
    Expr predicate = rewrite(definition_.predicate());
    for (const Expr &g : loops.guards) {
        predicate = predicate && substitute(replacements, g);
    }
    predicate = simplify(predicate);
    std::vector<Expr> update_args = rewrite(definition_.args());
    update_args.insert(update_args.end(), extra_args.begin(), extra_args.end());
    if (inner_domain.defined()) {
        inner_domain.where(predicate);
    }
    std::vector<Expr> update_values = definition_.values();
    if (order_matters) {
        std::map<std::string, Expr> operands;
        for (size_t i = 0; i < op.size(); i++) {
            operands[op.xs[i].var] = op.xs[i].expr;
            operands[op.ys[i].var] = op.ys[i].expr;
        }
        operands.erase("");
        for (size_t i = 0; i < op.size(); i++) {
            update_values[i] = substitute(operands, op.pattern.ops[i]);
        }
    }
    intm.define_update(update_args, rewrite(update_values), inner_domain);
    Definition intm_update = intm.update(0);
    if (!inner_domain.defined()) {
        intm_update.predicate() = predicate;
    }

    // Both stages keep what was scheduled of the loops that they have.
    std::vector<Split> pure_splits;
    for (const Split &s : schedule.splits()) {
        if (!loops.bounds.count(s.is_fuse() ? s.inner : s.old_var)) {
            pure_splits.push_back(s);
        }
    }
    std::vector<Dim> intm_dims, dims;
    for (const Dim &d : schedule.dims()) {
        Dim copy = d;
        auto k = kept.find(d.var);
        if (k != kept.end()) {
            copy.var = k->second.name();
            copy.dim_type = DimType::PureVar;
        }
        intm_dims.push_back(copy);
        if (k != kept.end()) {
            Dim combine;
            combine.var = d.var;
            combine.dim_type = DimType::ImpureRVar;
            dims.push_back(combine);
        } else if (!d.is_rvar()) {
            dims.push_back(d);
        }
    }
    intm_update.schedule().splits() = pure_splits;
    intm_update.schedule().dims() = intm_dims;
    intm_update.schedule().touched() = true;
    intm_update.schedule().allow_race_conditions() = schedule.allow_race_conditions();
    intm_update.schedule().atomic() = schedule.atomic();
    intm_update.schedule().override_atomic_associativity_test() = schedule.override_atomic_associativity_test();

    // The combination. An index that varied with the reduction becomes the dimension itself: places that the
    // intermediate did not touch are combined with the identity.
    std::vector<Expr> args = definition_.args();
    for (size_t i = 0; i < args.size(); i++) {
        if (uses_rvar(args[i])) {
            args[i] = Var(func_args[i]);
            Dim d;
            d.var = func_args[i];
            dims.insert(dims.end() - 1, d);
        }
    }
    std::vector<Expr> intm_call_args = args;
    for (const auto &p : preserved) {
        for (const auto &k : kept) {
            if (k.second.same_as(p.second)) {
                intm_call_args.push_back(Variable::make(Int(32), k.first, outer_domain));
            }
        }
    }
    // A strong handle to the Func in its own definition would keep it alive for ever.
    FunctionPtr self = function_.get_contents();
    self.weaken();
    std::map<std::string, Expr> operands;
    for (size_t i = 0; i < op.size(); i++) {
        const Type t = function_.output_types()[i];
        if (!op.xs[i].var.empty()) {
            operands[op.xs[i].var] = Call::make(t, function_.name(), args, Call::Halide, self, (int)i);
        }
        if (!op.ys[i].var.empty()) {
            operands[op.ys[i].var] = Call::make(intm, intm_call_args, (int)i);
        }
    }
    std::vector<Expr> values;
    for (size_t i = 0; i < op.size(); i++) {
        values.push_back(substitute(operands, op.pattern.ops[i]));
    }
    definition_.args() = args;
    definition_.values() = values;
    definition_.predicate() = const_true();
    schedule.rvars() = outer_vars;
    schedule.splits() = pure_splits;
    schedule.dims() = dims;
    schedule.touched() = true;
    intm.freeze();
    return intermediate;
}

}  // namespace Halide
