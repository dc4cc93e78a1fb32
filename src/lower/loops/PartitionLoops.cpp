#include "lower/loops/PartitionLoops.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>

#include "analysis/ExprUsesVar.h"
#include "ir/IREquality.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"
#include "ir/Scope.h"
#include "ir/Substitute.h"
#include "regions/Bounds.h"
#include "regions/Solve.h"
#include "simplify/Simplify.h"
#include "support/Error.h"

namespace Halide {
namespace Internal {

namespace {

/// Whether an expression or statement holds a mark that counts: `likely`, and `likely_if_innermost` where no loop is
/// further in.
class HasLikely : public IRGraphVisitor {
public:
    explicit HasLikely(bool innermost) : innermost(innermost) {}
    bool found = false;

protected:
    using IRGraphVisitor::visit;
    void visit(const Call *op) override {
        found = found || op->is_intrinsic(Call::likely) || (innermost && op->is_intrinsic(Call::likely_if_innermost));
        if (!found) {
            IRGraphVisitor::visit(op);
        }
    }

private:
    const bool innermost;
};

template<typename T>
bool has_likely(const T &e, bool innermost) {
    HasLikely h(innermost);
    e.accept(&h);
    return h.found;
}

/// A node whose value is `replacement` wherever the condition that was solved holds.
struct Simplification {
    const IRNode *node = nullptr;
    Expr replacement;          // expressions
    std::optional<bool> branch;   // IfThenElse: which case is taken
    Interval interval;         // of the loop variable
};

/// Finds nodes under a loop that simplify on an interval of its variable.
class FindSimplifications : public IRVisitor {
public:
    FindSimplifications(const std::string &variable, bool innermost, const Stmt &body)
        : variable(variable), innermost(innermost) {
        visit_with(
            body,
            [&](auto *self, const Store *op) {
                written_inside.insert(op->name);
                self->visit_base(op);
            },
            [&](auto *self, const Allocate *op) {
                written_inside.insert(op->name);
                self->visit_base(op);
            },
            [&](auto *, const Variable *op) {
                // What an extern stage gets as a buffer it may write.
                if (op->type.is_handle()) {
                    written_inside.insert(op->name.substr(0, op->name.rfind(".buffer")));
                }
            });
    }
    std::vector<Simplification> found;
    /// Nodes that do not simplify at one of the places where they stand. A node is shared by the copies that unrolling
    /// makes, inside lets of different values, and it can only be replaced everywhere or nowhere.
    std::set<const IRNode *> kept_as_they_are;

protected:
    using IRVisitor::visit;

    template<typename T>
    void visit_min_max(const T *op, bool is_min) {
        IRVisitor::visit(op);
        const bool a = has_likely(op->a, innermost), b = has_likely(op->b, innermost);
        if (a == b || (!uses(op->a) && !uses(op->b))) {
            kept_as_they_are.insert(op);
            return;
        }
        const Expr &likely = a ? op->a : op->b, &other = a ? op->b : op->a;
        add(op, is_min ? likely <= other : other <= likely, likely, std::nullopt);
    }
    void visit(const Min *op) override { visit_min_max(op, true); }
    void visit(const Max *op) override { visit_min_max(op, false); }

    void visit(const Select *op) override {
        IRVisitor::visit(op);
        if (!uses(op->condition)) {
            kept_as_they_are.insert(op);
            return;
        }
        const bool c = has_likely(op->condition, innermost);
        const bool t = has_likely(op->true_value, innermost), f = has_likely(op->false_value, innermost);
        if (c || (t && !f)) {
            add(op, op->condition, op->true_value, std::nullopt);
        } else if (f && !t) {
            add(op, !op->condition, op->false_value, std::nullopt);
        }
    }

    void visit(const IfThenElse *op) override {
        if (uses(op->condition) && has_likely(op->condition, innermost)) {
            add(op, op->condition, Expr(), true);
        } else {
            kept_as_they_are.insert(op);
        }
        IRVisitor::visit(op);
    }

    void visit(const Load *op) override {
        IRVisitor::visit(op);
        visit_predicate(op->predicate);
    }
    void visit(const Store *op) override {
        IRVisitor::visit(op);
        visit_predicate(op->predicate);
    }

    void visit(const Let *op) override {
        op->value.accept(this);
        ScopedBinding<Expr> bind(lets, op->name, op->value);
        op->body.accept(this);
    }
    void visit(const LetStmt *op) override {
        op->value.accept(this);
        ScopedBinding<Expr> bind(lets, op->name, op->value);
        op->body.accept(this);
    }
    void visit(const For *op) override {
        op->min.accept(this);
        op->max.accept(this);
        ScopedBinding<Interval> bind(inner_loops, op->name, Interval(expand(op->min), expand(op->max)));
        op->body.accept(this);
    }

private:
    const std::string &variable;
    const bool innermost;
    std::set<std::string> written_inside;
    Scope<Expr> lets;             // inside the loop
    Scope<Interval> inner_loops;

    /// Does the expression read memory that the loop allocates or writes, or have effects?
    bool changes_inside(const Expr &e) const {
        bool result = !is_pure(e);
        visit_with(e, [&](auto *self, const Load *op) {
            result = result || written_inside.count(op->name);
            self->visit_base(op);
        });
        return result;
    }

    bool uses(const Expr &e) const { return expr_uses_var(e, variable, lets) || expr_uses_vars(e, inner_loops, lets); }

    void visit_predicate(const Expr &p) {
        if (!is_const_one(p) && has_likely(p, innermost) && uses(p)) {
            // Lanes that are repeated or in another order all hold where those that they come from do.
            Expr condition = p;
            const Shuffle *s = condition.as<Shuffle>();
            while (s && s->vectors.size() == 1) {
                condition = s->vectors[0];
                s = condition.as<Shuffle>();
            }
            add(p.get(), condition, const_true(p.type().lanes()), std::nullopt);
        } else {
            kept_as_they_are.insert(p.get());
        }
    }

    /// Replaces names of lets inside the loop by their values.
    Expr expand(Expr e) const {
        for (int i = 0; i < 64; i++) {
            std::map<std::string, Expr> values;
            for (auto it = lets.cbegin(); it != lets.cend(); ++it) {
                if (expr_uses_var(e, it.name())) {
                    values[it.name()] = it.value();
                }
            }
            if (values.empty()) {
                break;
            }
            e = substitute(values, e);
        }
        return e;
    }

    void add(const IRNode *node, const Expr &condition, const Expr &replacement, std::optional<bool> branch) {
        const Interval i = where_it_holds(condition);
        if (i.is_empty()) {
            kept_as_they_are.insert(node);
        } else if (!i.is_everything()) {
            found.push_back({node, replacement, branch, i});
        }
    }

    /// An interval of the loop variable with ends that do not vary in the loop; empty if there is none.
    Interval where_it_holds(const Expr &condition) const {
        Expr c = remove_likelies(expand(condition));
        Scope<Interval> varying;
        for (auto it = inner_loops.cbegin(); it != inner_loops.cend(); ++it) {
            varying.push(it.name(), it.value());
        }
        if (c.type().is_vector()) {
            c = for_all_lanes(c, varying);
            if (!c.defined()) {
                return Interval::nothing();
            }
        }
        if (expr_uses_vars(c, inner_loops)) {
            c = and_condition_over_domain(c, varying);
        }
        c = simplify(c);
        if (is_const_one(c)) {
            return Interval::everything();
        }
        if (is_const_zero(c) || !expr_uses_var(c, variable)) {
            return Interval::nothing();
        }
        const Interval i = solve_for_inner_interval(c, variable);
        if (i.is_empty()) {
            return i;
        }
        // The ends are evaluated outside of the loop: they may use nothing that varies in it.
        for (const Expr *end : {&i.min, &i.max}) {
            if (expr_uses_vars(*end, inner_loops) || expr_uses_var(*end, variable) || changes_inside(*end)) {
                return Interval::nothing();
            }
        }
        return i;
    }

    /// A scalar condition under which all lanes of a vector condition hold.
    Expr for_all_lanes(const Expr &c, Scope<Interval> &varying) const {
        const std::string lane = variable + ".lane";
        Expr scalar = scalarize(c, Variable::make(Int(32), lane));
        if (!scalar.defined()) {
            return Expr();
        }
        Scope<Interval> lanes;
        lanes.push(lane, Interval(0, c.type().lanes() - 1));
        return and_condition_over_domain(simplify(scalar), lanes);
    }

    /// The value of one lane, or undefined if the expression is not made of ramps, broadcasts and arithmetic.
    static Expr scalarize(const Expr &e, const Expr &lane) {
        if (e.type().is_scalar()) {
            return e;
        }
        if (const Broadcast *op = e.as<Broadcast>()) {
            return op->value.type().is_scalar() ? op->value : Expr();
        }
        if (const Ramp *op = e.as<Ramp>()) {
            return op->base.type().is_scalar() ? op->base + cast(op->base.type(), lane) * op->stride : Expr();
        }
        if (const Not *op = e.as<Not>()) {
            Expr a = scalarize(op->a, lane);
            return a.defined() ? !a : Expr();
        }
        if (const Cast *op = e.as<Cast>()) {
            Expr a = scalarize(op->value, lane);
            return a.defined() ? cast(op->type.element_of(), a) : Expr();
        }
        if (const Call *op = e.as<Call>(); op && op->is_tag()) {
            return scalarize(op->args[0], lane);
        }
        const auto operands = as_binary_operands(e);
        if (!operands) {
            return Expr();
        }
        Expr a = scalarize(operands->first, lane), b = scalarize(operands->second, lane);
        return a.defined() && b.defined() ? make_binary_op(e.node_type(), a, b) : Expr();
    }
};

/// Rewrites the nodes found, for the steady state.
class ApplySimplifications : public IRMutator {
public:
    explicit ApplySimplifications(const std::vector<Simplification> &found) {
        for (const Simplification &s : found) {
            by_node[s.node] = &s;
        }
    }

protected:
    using IRMutator::mutate;

    Expr mutate(const Expr &e) override {
        auto it = e.defined() ? by_node.find(e.get()) : by_node.end();
        if (it == by_node.end()) {
            return IRMutator::mutate(e);
        }
        // The replacement is a child of the node, so this ends.
        return mutate(it->second->replacement);
    }
    Stmt mutate(const Stmt &s) override {
        auto it = s.defined() ? by_node.find(s.get()) : by_node.end();
        if (it == by_node.end()) {
            return IRMutator::mutate(s);
        }
        return mutate(s.as<IfThenElse>()->then_case);
    }

private:
    std::unordered_map<const IRNode *, const Simplification *> by_node;
};

class ContainsLoop : public IRVisitor {
public:
    bool found = false;

protected:
    using IRVisitor::visit;
    void visit(const For *op) override { found = true; }
};

class PartitionLoopsMutator : public IRMutator {
public:
    explicit PartitionLoopsMutator(LowerContext &ctx) : ctx(ctx) {}

protected:
    using IRMutator::visit;

    Stmt visit(const For *op) override {
        const bool wanted = op->partition_policy == Partition::Always ||
                            (op->partition_policy == Partition::Auto && !in_tail);
        if (!wanted || is_gpu(op->for_type) || op->for_type == ForType::Extern) {
            return IRMutator::visit(op);
        }
        ContainsLoop inner;
        op->body.accept(&inner);
        FindSimplifications finder(op->name, !inner.found, op->body);
        op->body.accept(&finder);
        std::vector<Simplification> &found = finder.found;
        drop_conflicting(found, finder.kept_as_they_are);
        if (found.empty()) {
            user_assert(op->partition_policy != Partition::Always)
                << "Loop " << op->name << " has Partition::Always, but nothing in its body becomes simpler on a part of "
                << "its range.\n  Mark what is likely to hold, or use Partition::Auto.\n";
            return IRMutator::visit(op);
        }
        return cut(op, found);
    }

private:
    LowerContext &ctx;
    bool in_tail = false;

    /// Two conditions that provably exclude each other cannot both shape the steady state: the first one wins. A node that
    /// does not simplify everywhere it stands is not touched anywhere.
    static void drop_conflicting(std::vector<Simplification> &found, std::set<const IRNode *> &kept_as_they_are) {
        Interval all = Interval::everything();
        for (const Simplification &s : found) {
            if (kept_as_they_are.count(s.node)) {
                continue;
            }
            const Interval i = Interval::make_intersection(all, s.interval);
            if (i.is_bounded() && can_prove(i.min > i.max)) {
                kept_as_they_are.insert(s.node);
            } else {
                all = i;
            }
        }
        found.erase(std::remove_if(found.begin(), found.end(),
                                   [&](const Simplification &s) { return kept_as_they_are.count(s.node) != 0; }),
                    found.end());
    }

    Stmt cut(const For *op, const std::vector<Simplification> &found) {
        Interval steady = Interval::everything();
        for (const Simplification &s : found) {
            steady = Interval::make_intersection(steady, s.interval);
        }
        const Type t = op->min.type();
        const std::string first_name = ctx.unique_name(op->name + ".steady_min");
        const std::string last_name = ctx.unique_name(op->name + ".steady_max");
        Expr first = Variable::make(t, first_name), last = Variable::make(t, last_name);
        const bool has_prologue = steady.has_lower_bound(), has_epilogue = steady.has_upper_bound();

        Stmt steady_body = mutate(ApplySimplifications(found)(op->body));
        Stmt tail_body;
        {
            ScopedValue<bool> tail(in_tail, true);
            tail_body = mutate(op->body);
        }

        Stmt result;
        if (op->for_type == ForType::Parallel) {
            Expr x = Variable::make(t, op->name);
            Expr in_steady = const_true();
            if (has_prologue) {
                in_steady = in_steady && first <= x;
            }
            if (has_epilogue) {
                in_steady = in_steady && x <= last;
            }
            result = For::make(op->name, op->min, op->max, op->for_type, op->partition_policy, op->device_api,
                               IfThenElse::make(in_steady, steady_body, tail_body)).as<For>()->with_hint(op->hint);
        } else {
            // A loop to be unrolled by a factor is long; its tails are not. All of a loop that goes is all of its parts.
            const UnrollHint tail_hint = op->hint.kind == UnrollHint::Kind::Full ? op->hint : UnrollHint();
            auto loop = [&](const Expr &min, const Expr &max, const Stmt &body, const UnrollHint &hint) {
                return For::make(op->name, min, max, op->for_type, op->partition_policy, op->device_api, body, hint);
            };
            result = loop(has_prologue ? first : op->min, has_epilogue ? last : op->max, steady_body, op->hint);
            if (has_prologue) {
                result = Block::make(loop(op->min, first - 1, tail_body, tail_hint), result);
            }
            if (has_epilogue) {
                result = Block::make(result, loop(last + 1, op->max, tail_body, tail_hint));
            }
        }
        // An empty steady state must leave prologue and epilogue adjacent: min ≤ first ≤ max + 1 and
        // first − 1 ≤ last ≤ max.
        if (has_epilogue) {
            Expr lower = (has_prologue ? first : op->min) - 1;
            result = LetStmt::make(last_name, simplify(max(min(cast(t, steady.max), op->max), lower)), result);
        }
        if (has_prologue) {
            result = LetStmt::make(first_name, simplify(min(max(cast(t, steady.min), op->min), op->max + 1)), result);
        }
        ctx.explain(op->name + ": cut into " + (has_prologue ? "prologue, " : "") + "steady state" +
                    (has_epilogue ? ", epilogue" : ""));
        return result;
    }
};

class RemoveMarks : public IRMutator {
protected:
    using IRMutator::visit;
    Expr visit(const Call *op) override {
        if (op->is_intrinsic(Call::likely) || op->is_intrinsic(Call::likely_if_innermost)) {
            return mutate(op->args[0]);
        }
        return IRMutator::visit(op);
    }
};

}  // namespace

Stmt remove_likely_marks(const Stmt &s) {
    return RemoveMarks()(s);
}

Stmt partition_loops(const Stmt &s, LowerContext &ctx) {
    return remove_likely_marks(PartitionLoopsMutator(ctx)(s));
}

}  // namespace Internal
}  // namespace Halide
