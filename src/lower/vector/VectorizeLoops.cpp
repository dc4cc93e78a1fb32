// One file in spite of its length: most of it is one class, with the rule for each kind of node beside those for the nodes
// that it is made of.

#include "lower/vector/VectorizeLoops.h"

#include <algorithm>
#include <optional>
#include <set>

#include "analysis/ExprUsesVar.h"
#include "ir/IREquality.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"
#include "ir/Scope.h"
#include "ir/Substitute.h"
#include "lower/vector/LaneOf.h"
#include "lower/vector/LaneStorage.h"
#include "lower/vector/ReductionStore.h"
#include "lower/LoopWords.h"
#include "simplify/Simplify.h"
#include "support/Error.h"
#include "support/Util.h"

namespace Halide {
namespace Internal {

namespace {

/// One vectorized loop around the statement at hand.
struct VectorVar {
    std::string name;
    Expr min;   // scalar, in terms of what is outside of all vectorized loops, or of outer vectorized variables
    int lanes;
};

Expr widen(const Expr &e, int lanes) {
    if (e.type().lanes() == lanes) {
        return e;
    }
    // A short vector that is the same in all lanes of the loop.
    internal_assert(lanes % e.type().lanes() == 0) << "Cannot widen " << e << " to " << lanes << " lanes\n";
    return Broadcast::make(e, lanes / e.type().lanes());
}

/// For an expression of `lanes` lanes before vectorization: scalars of other operands, vectorized or not, at that width.
Expr match_lanes(const Expr &vectorized, const Expr &original, int lanes) {
    return original.type().lanes() == lanes ? vectorized : repeat_each(vectorized, lanes);
}

/// Whether running a statement under a lane mask means the same as masking its loads and stores.
class CanPredicate : public IRVisitor {
public:
    bool result = true;

protected:
    using IRVisitor::visit;

    void visit(const Call *op) override {
        if (!op->is_pure() && !op->is_intrinsic(Call::undef)) {
            result = false;
        }
        IRVisitor::visit(op);
    }
    void visit(const AssertStmt *op) override { result = false; }
    void visit(const Allocate *op) override { result = false; }
    void visit(const Atomic *op) override { result = false; }
    void visit(const Acquire *op) override { result = false; }
    void visit(const Fork *op) override { result = false; }
    void visit(const Free *op) override { result = false; }
};

bool can_predicate(const Stmt &s) {
    if (!s.defined()) {
        return true;
    }
    CanPredicate c;
    s.accept(&c);
    return c.result;
}

/// Whether an expression does something once per evaluation that has no vector form: printing, checks, conditional
/// evaluation.
bool acts_per_lane(const Expr &e) {
    class Finder : public IRGraphVisitor {
    public:
        bool found = false;

    protected:
        using IRGraphVisitor::visit;
        void visit(const Call *op) override {
            found = found || op->is_intrinsic({Call::if_then_else, Call::stringify, Call::require, Call::return_second});
            if (!found) {
                IRGraphVisitor::visit(op);
            }
        }
    } finder;
    e.accept(&finder);
    return finder.found;
}

/// Rewrites the body of one or more nested vectorized loops.
class VectorizeBody : public IRMutator {
public:
    VectorizeBody(LowerContext &ctx, std::vector<VectorVar> vars, const WordHooks *words = nullptr)
        : ctx(ctx), vars(std::move(vars)), words(words) {
        compute_replacements();
    }

protected:
    using IRMutator::mutate;
    using IRMutator::visit;

    // Expressions

    Expr visit(const Variable *op) override {
        if (auto it = replacements.find(op->name); it != replacements.end()) {
            return it->second;
        }
        return op;
    }

    Expr visit(const Cast *op) override {
        Expr value = mutate(op->value);
        return value.same_as(op->value) ? Expr(op) : Cast::make(op->type.with_lanes(value.type().lanes()), value);
    }
    Expr visit(const Reinterpret *op) override {
        Expr value = mutate(op->value);
        if (value.same_as(op->value)) {
            return op;
        }
        // Scalars became vectors: every lane keeps its bits.
        return Reinterpret::make(op->type.with_lanes(value.type().lanes() * op->type.lanes() / op->value.type().lanes()),
                                 value);
    }

    template<typename T>
    Expr binary(const T *op) {
        Expr a = mutate(op->a), b = mutate(op->b);
        if (a.same_as(op->a) && b.same_as(op->b)) {
            return op;
        }
        const int lanes = std::max(a.type().lanes(), b.type().lanes());
        return T::make(widen(a, lanes), widen(b, lanes));
    }
    Expr visit(const Add *op) override { return binary(op); }
    Expr visit(const Sub *op) override { return binary(op); }
    Expr visit(const Mul *op) override { return binary(op); }
    Expr visit(const Div *op) override { return binary(op); }
    Expr visit(const Mod *op) override { return binary(op); }
    Expr visit(const Min *op) override { return binary(op); }
    Expr visit(const Max *op) override { return binary(op); }
    Expr visit(const EQ *op) override { return binary(op); }
    Expr visit(const NE *op) override { return binary(op); }
    Expr visit(const LT *op) override { return binary(op); }
    Expr visit(const LE *op) override { return binary(op); }
    Expr visit(const GT *op) override { return binary(op); }
    Expr visit(const GE *op) override { return binary(op); }
    Expr visit(const And *op) override { return binary(op); }
    Expr visit(const Or *op) override { return binary(op); }

    Expr visit(const Select *op) override {
        Expr c = mutate(op->condition), t = mutate(op->true_value), f = mutate(op->false_value);
        if (c.same_as(op->condition) && t.same_as(op->true_value) && f.same_as(op->false_value)) {
            return op;
        }
        if (c.type().is_vector()) {
            c = match_lanes(c, op->condition, op->type.lanes());
        }
        const int lanes = std::max({c.type().lanes(), t.type().lanes(), f.type().lanes()});
        return Select::make(c.type().is_scalar() ? c : widen(c, lanes), widen(t, lanes), widen(f, lanes));
    }

    // Vectors that were there before the loop is vectorized.

    // r(b, s, n) with b = r(x, y, N)   →   r(r(x, s, n), y, N): N rows of n neighbours
    Expr visit(const Ramp *op) override {
        Expr base = mutate(op->base), stride = mutate(op->stride);
        if (base.same_as(op->base) && stride.same_as(op->stride)) {
            return op;
        }
        const int lanes = std::max(base.type().lanes(), stride.type().lanes()) / op->base.type().lanes();
        internal_assert(op->base.type().is_scalar()) << "A nested ramp inside of a vectorized loop: " << Expr(op) << "\n";
        if (stride.type().is_scalar()) {
            const Expr written_out = inline_lets(op->base);
            const auto rows = as_affine_lanes(simplify(has_loads(written_out) ? base : mutate(written_out)));
            if (rows && is_const(rows->second, op->lanes) && is_const_one(stride)) {
                return Ramp::make(rows->first, stride, op->lanes * lanes);
            }
            if (rows) {
                return Ramp::make(Ramp::make(rows->first, stride, op->lanes), Broadcast::make(rows->second, op->lanes),
                                  lanes);
            }
        }
        const Expr steps = Ramp::make(make_zero(op->stride.type()), make_one(op->stride.type()), op->lanes);
        return repeat_each(widen(base, lanes), op->lanes) +
               repeat_each(widen(stride, lanes), op->lanes) * Broadcast::make(steps, lanes);
    }

    Expr visit(const Broadcast *op) override {
        const Expr value = mutate(op->value);
        if (value.same_as(op->value)) {
            return op;
        }
        internal_assert(op->value.type().is_scalar()) << "A nested broadcast inside of a vectorized loop: " << Expr(op) << "\n";
        return repeat_each(value, op->lanes);
    }

    Expr visit(const Shuffle *op) override {
        std::vector<Expr> vectors;
        int factor = 1;
        for (const Expr &v : op->vectors) {
            vectors.push_back(mutate(v));
            factor = std::max(factor, vectors.back().type().lanes() / v.type().lanes());
        }
        if (factor == 1) {
            return op->with(vectors);
        }
        std::vector<int> starts;
        int total = 0;
        for (size_t i = 0; i < vectors.size(); i++) {
            vectors[i] = widen(vectors[i], factor * op->vectors[i].type().lanes());
            starts.push_back(total);
            total += vectors[i].type().lanes();
        }
        std::vector<int> indices;
        const auto places = op->vector_and_lane_indices();
        for (int lane = 0; lane < factor; lane++) {
            for (const auto &[vector, element] : places) {
                indices.push_back(starts[vector] + lane * op->vectors[vector].type().lanes() + element);
            }
        }
        return Shuffle::make(vectors, indices);
    }

    Expr visit(const VectorReduce *op) override {
        const Expr value = mutate(op->value);
        const int factor = value.type().lanes() / op->value.type().lanes();
        return value.same_as(op->value) ? Expr(op) : VectorReduce::make(op->op, value, op->type.lanes() * factor);
    }

    Expr visit(const Load *op) override {
        Expr index = mutate(op->index), predicate = mutate(full_predicate(op->predicate, op->type.lanes()));
        const int lanes = std::max(index.type().lanes(), predicate.type().lanes());
        if (index.same_as(op->index) && predicate.same_as(op->predicate)) {
            return op;
        }
        return op->changed(&Load::type, op->type.with_lanes(lanes), &Load::predicate, widen(predicate, lanes), &Load::index, widen(index, lanes), &Load::alignment, lanes == 1 ? op->alignment : ModulusRemainder());
    }

    Expr visit(const Call *op) override {
        if (op->is_intrinsic(Call::if_then_else)) {
            const Expr condition = mutate(op->args[0]);
            if (condition.type().is_vector()) {
                return if_then_else_by_lane(op, condition);
            }
        }
        if (op->name == Call::trace) {
            return trace_lanes(op);
        }
        if (op->is_intrinsic(Call::return_second)) {
            // The first operand is there for its effect.
            const Expr first = mutate(op->args[0]), second = mutate(op->args[1]);
            return op->changed(&Call::type, second.type(), &Call::args, std::vector<Expr>{first, second});
        }
        std::vector<Expr> args;
        bool changed = false;
        int lanes = 1;
        for (const Expr &a : op->args) {
            args.push_back(mutate(a));
            changed = changed || !args.back().same_as(a);
            if (args.back().type().is_vector()) {
                args.back() = match_lanes(args.back(), a, op->type.lanes());
            }
            lanes = std::max(lanes, args.back().type().lanes());
        }
        if (!changed) {
            return op;
        }
        if (lanes > 1) {
            for (Expr &a : args) {
                if (!a.as<StringImm>()) {
                    a = widen(a, lanes);
                }
            }
        }
        return op->changed(&Call::type, op->type.with_lanes(lanes), &Call::args, args);
    }

    /// if_then_else(c, a, b) with a condition per lane: the loads of each operand are masked.
    Expr if_then_else_by_lane(const Call *op, const Expr &condition) {
        auto under = [&](const Expr &c, const Expr &e) {
            ScopedValue<Expr> bind(mask, mask.defined() ? mask && c : c);
            return mutate(e);
        };
        const Expr then_value = under(op->args[0], op->args[1]);
        if (op->args.size() == 2) {
            return then_value;
        }
        const Expr else_value = under(!remove_likelies(op->args[0]), op->args[2]);
        const int lanes = condition.type().lanes();
        return Select::make(condition, widen(then_value, lanes), widen(else_value, lanes));
    }

    /// One event for all lanes: coordinate d of lane l is number d·lanes + l, and the call stays a scalar.
    Expr trace_lanes(const Call *op) {
        constexpr int value_arg = 1, coordinates_arg = 2, lanes_arg = 5, dimensions_arg = 9;
        std::vector<Expr> args = op->args;
        int lanes = 1;
        std::map<int, std::vector<Expr>> elements;
        for (int i : {value_arg, coordinates_arg}) {
            if (const Call *list = Call::as_intrinsic(args[i], {Call::make_struct})) {
                for (const Expr &e : list->args) {
                    elements[i].push_back(mutate(e));
                    lanes = std::max(lanes, elements[i].back().type().lanes());
                }
            }
        }
        for (auto &[i, list] : elements) {
            for (Expr &e : list) {
                e = widen(e, lanes);
            }
            args[i] = args[i].as<Call>()->changed(&Call::args, list);
        }
        for (size_t i = 0; i < args.size(); i++) {
            if (!elements.count((int)i)) {
                args[i] = mutate(args[i]);
            }
        }
        for (int i : {lanes_arg, dimensions_arg}) {
            args[i] = simplify(args[i] * lanes);
        }
        return op->changed(&Call::args, args);
    }

    /// Whether the only effects of a value are events.
    static bool is_pure_except_tracing(const Expr &e) {
        bool result = true;
        visit_with(e, [&](auto *self, const Call *op) {
            result = result && (op->is_pure() || op->call_type == Call::Halide || op->name == Call::trace ||
                                op->is_intrinsic({Call::return_second, Call::make_struct}));
            self->visit_base(op);
        });
        return result;
    }

    Expr visit(const Let *op) override {
        Expr value = mutate(op->value);
        if (value.type().lanes() == op->value.type().lanes()) {
            Expr body = mutate(op->body);
            return Let::make(op->name, value, body);
        }
        if (words && !has_loads(op->value)) {
            ScopedReplacement bind(*this, op->name, value, op->value);
            return mutate(op->body);
        }
        const std::string name = ctx.unique_name(op->name + ".lanes");
        ScopedReplacement bind(*this, op->name, Variable::make(value.type(), name), op->value);
        return Let::make(name, value, mutate(op->body));
    }

    // Statements

    Stmt visit(const LetStmt *op) override {
        if (!op->value.type().is_handle() && !is_pure(op->value) && !is_pure_except_tracing(op->value)) {
            Expr value = mutate(op->value);
            if (!value.type().is_scalar()) {
                return lane_by_lane(op);
            }
        }
        Expr value = mutate(op->value);
        if (value.type().lanes() == op->value.type().lanes()) {
            Stmt body = mutate(op->body);
            return LetStmt::make(op->name, value, body);
        }
        if (words && !has_loads(op->value)) {
            // Indices are wider than the words of lanes: they must not have names of their own.
            ScopedReplacement bind(*this, op->name, value, op->value);
            return mutate(op->body);
        }
        const std::string name = ctx.unique_name(op->name + ".lanes");
        ScopedReplacement bind(*this, op->name, Variable::make(value.type(), name), op->value);
        return LetStmt::make(name, value, mutate(op->body));
    }

    Stmt visit(const Store *op) override {
        if (acts_per_lane(op->value)) {
            return lane_by_lane(op);
        }
        Expr value = mutate(op->value), index = mutate(op->index);
        Expr predicate = mutate(full_predicate(op->predicate, op->value.type().lanes()));
        if (value.same_as(op->value) && index.same_as(op->index) && predicate.same_as(op->predicate)) {
            return op;
        }
        const int lanes = std::max({value.type().lanes(), index.type().lanes(), predicate.type().lanes()});
        const Stmt s = op->changed(&Store::predicate, widen(predicate, lanes), &Store::value, widen(value, lanes), &Store::index, widen(index, lanes), &Store::alignment, lanes == 1 ? op->alignment : ModulusRemainder());
        return words ? words->store(s, [&] { return lane_by_lane(op); }) : s;
    }

    Stmt visit(const IfThenElse *op) override {
        Expr condition = mutate(op->condition);
        if (condition.type().is_scalar()) {
            Stmt then_case = mutate(op->then_case);
            Stmt else_case = op->else_case.defined() ? mutate(op->else_case) : Stmt();
            return IfThenElse::make(condition, then_case, else_case);
        }
        if (words) {
            return words->condition(mutate(inline_lets(op->condition)), [&] { return mutate(op->then_case); },
                                    [&] { return lane_by_lane(op); });
        }
        if (!can_predicate(op->then_case) || !can_predicate(op->else_case)) {
            return lane_by_lane(op);
        }
        Stmt then_case, else_case;
        {
            ScopedValue<Expr> bind(mask, mask.defined() ? mask && op->condition : op->condition);
            then_case = mutate(op->then_case);
        }
        if (op->else_case.defined()) {
            Expr negated = !remove_likelies(op->condition);
            ScopedValue<Expr> bind(mask, mask.defined() ? mask && negated : negated);
            else_case = mutate(op->else_case);
            return Block::make(then_case, else_case);
        }
        return then_case;
    }

    Stmt visit(const For *op) override {
        if (is_vectorized(op->for_type)) {
            return enter_vector_loop(op);
        }
        Expr min = mutate(op->min), max = mutate(op->max);
        if (min.type().is_scalar() && max.type().is_scalar()) {
            return op->changed(&For::min, min, &For::max, max, &For::body, mutate(op->body));
        }
        const Expr count = mutate(simplify(op->max - op->min));
        if (count.type().is_scalar()) {
            // Lanes start at different places, but run equally often: count from zero. Written out, the starts cancel
            // in the addresses of what is stored in the loop.
            const std::string name = ctx.unique_name(op->name);
            const Expr start = Variable::make(op->min.type(), name) + op->min;
            return op->changed(&For::name, name, &For::min, make_zero(op->min.type()), &For::max, count, &For::body,
                               mutate(substitute(op->name, start, op->body)));
        }
        if (words) {
            return lane_by_lane(op);
        }
        // Lanes run different ranges: run the union, and mask each lane to its own.
        Expr x = Variable::make(op->min.type(), op->name);
        Stmt guarded = IfThenElse::make(op->min <= x && x <= op->max, op->body);
        if (min.type().is_vector()) {
            min = VectorReduce::make(VectorReduce::Min, min, 1);
        }
        if (max.type().is_vector()) {
            max = VectorReduce::make(VectorReduce::Max, max, 1);
        }
        return op->changed(&For::min, min, &For::max, max, &For::body, mutate(guarded));
    }

    Stmt visit(const Allocate *op) override {
        int lanes = 1;
        Expr lane = make_zero(Int(32));
        for (const VectorVar &v : vars) {
            Expr offset = Variable::make(v.min.type(), v.name) - v.min;
            lane = lane * v.lanes + offset;
            lanes *= v.lanes;
        }
        std::vector<Expr> extents = {lanes};
        Expr size = make_one(Int(32));
        for (const Expr &e : op->extents) {
            Expr extent = mutate(e);
            if (extent.type().is_vector()) {
                extent = VectorReduce::make(VectorReduce::Max, extent, 1);
                size = Expr();
            }
            size = size.defined() ? size * extent : size;
            extents.push_back(extent);
        }
        Expr condition = mutate(op->condition);
        if (condition.type().is_vector()) {
            condition = VectorReduce::make(VectorReduce::Or, condition, 1);
        }
        Stmt body = storage_per_lane(op->body, op->name, lanes, lane, size);
        return Allocate::make(op->name, op->type, op->memory_type, extents, condition, mutate(body), op->new_expr,
                              op->free_function, op->padding);
    }

    Stmt visit(const AssertStmt *op) override {
        Stmt s = IRMutator::visit(op);
        const AssertStmt *a = s.as<AssertStmt>();
        if (a && (a->condition.type().is_vector() || a->message.type().is_vector())) {
            return lane_by_lane(op);
        }
        return s;
    }

    Stmt visit(const Evaluate *op) override {
        Expr value = mutate(op->value);
        if (value.same_as(op->value)) {
            return op;
        }
        if (!is_pure(op->value) && !is_pure_except_tracing(op->value)) {
            return lane_by_lane(op);
        }
        return Evaluate::make(value);
    }

    Stmt visit(const Acquire *op) override { return lane_by_lane(op); }
    Stmt visit(const Fork *op) override { return lane_by_lane(op); }

    // atomic { f[i] = f[i] + e⟨8⟩ }   →   f[i] = f[i] + reduce(+, e⟨8⟩, 1)
    Stmt visit(const Atomic *op) override {
        const Store *store = innermost_store(op->body);
        if (!store) {
            return lane_by_lane(op);
        }
        std::vector<std::pair<std::string, Expr>> lets = lets_around(op->body);
        std::optional<ReductionStore> r = match_reduction(store);
        Expr index = with_lets(lets, store->index);
        const int used = lanes_of_outer_variables(index);
        if (!r || used < 0 || (words && used != 1)) {
            return lane_by_lane(op);
        }
        if (used == total_lanes()) {
            Stmt body = mutate(op->body);
            return Atomic::make(op->producer_name, op->mutex_name, body);
        }
        Expr term = mutate(with_lets(lets, r->term));
        Expr predicate = mutate(with_lets(lets, full_predicate(store->predicate, 1)));
        term = widen(term, total_lanes());
        if (!is_const_one(predicate)) {
            predicate = widen(predicate, total_lanes());
            term = select(predicate, term, widen(identity(r->op, store->value.type()), total_lanes()));
        }
        // Where lanes of outer loops survive, the index is taken at lane 0 of the inner ones.
        VectorizeBody outer(ctx, outer_vars(used));
        outer.lets_in_scope = lets_in_scope;
        std::map<std::string, Expr> at_zero;
        for (size_t i = outer.vars.size(); i < vars.size(); i++) {
            at_zero[vars[i].name] = vars[i].min;
        }
        Expr narrow_index = outer.mutate(substitute(at_zero, inline_lets(index)));
        // Lets go outside: what is reduced is then in plain sight of find-intrinsics and of code generators.
        std::vector<std::pair<std::string, Expr>> term_lets;
        Expr reducible = term;
        while (const Let *let = reducible.as<Let>()) {
            const std::string name = ctx.unique_name(let->name);
            term_lets.emplace_back(name, let->value);
            reducible = substitute(let->name, Variable::make(let->value.type(), name), let->body);
        }
        Expr reduced = VectorReduce::make(r->op, reducible, used);
        const Load *old = r->old_value.as<Load>();
        Expr old_value = old->changed(&Load::type, old->type.with_lanes(used), &Load::predicate, const_true(used), &Load::index, widen(narrow_index, used), &Load::alignment, ModulusRemainder());
        Stmt s = store->changed(&Store::predicate, const_true(used), &Store::value, combine(r->op, old_value, reduced), &Store::index, widen(narrow_index, used), &Store::alignment, ModulusRemainder());
        if (!is_const_one(predicate)) {
            // Dead lanes only: the address may not be valid either.
            Expr any = VectorReduce::make(VectorReduce::Or, predicate, 1);
            s = IfThenElse::make(any, s);
            if (used > 1) {
                return lane_by_lane(op);
            }
        }
        for (size_t i = term_lets.size(); i > 0; i--) {
            s = LetStmt::make(term_lets[i - 1].first, term_lets[i - 1].second, s);
        }
        return Atomic::make(op->producer_name, op->mutex_name, s);
    }

private:
    friend class VectorizeLoopsMutator;

    struct NamedLet {
        std::string name;
        Expr value;   // scalar, as in the program
    };

    LowerContext &ctx;
    std::vector<VectorVar> vars;
    std::map<std::string, Expr> replacements;
    std::vector<NamedLet> lets_in_scope;   // those whose value varies over lanes, outermost first
    Expr mask;                             // scalar form of the conditions of enclosing vector ifs
    const WordHooks *const words;          // of a SWAR loop, else null

    static bool has_loads(const Expr &e) {
        bool found = false;
        visit_with(e, [&](auto *self, const Load *op) { found = true; });
        return found;
    }

    /// Binds a let that varies over lanes while its body is visited.
    struct ScopedReplacement {
        VectorizeBody &self;
        const std::string name;
        std::optional<Expr> outer;
        ScopedReplacement(VectorizeBody &self, const std::string &name, const Expr &replacement, const Expr &value)
            : self(self), name(name) {
            if (auto it = self.replacements.find(name); it != self.replacements.end()) {
                outer = it->second;
            }
            self.replacements[name] = replacement;
            self.lets_in_scope.push_back({name, value});
        }
        ~ScopedReplacement() {
            self.lets_in_scope.pop_back();
            if (outer) {
                self.replacements[name] = *outer;
            } else {
                self.replacements.erase(name);
            }
        }
    };

    int total_lanes() const {
        int lanes = 1;
        for (const VectorVar &v : vars) {
            lanes *= v.lanes;
        }
        return lanes;
    }

    /// Each variable as a vector over all lanes, the last variable fastest.
    void compute_replacements() {
        int inner = total_lanes(), outer = 1;
        for (const VectorVar &v : vars) {
            inner /= v.lanes;
            Expr base = v.min;
            if (!replacements.empty()) {
                base = mutate(base);
            }
            internal_assert(base.type().is_scalar()) << "The min of vectorized loop " << v.name << " varies over lanes\n";
            Expr e;
            if (inner > 1) {
                e = Ramp::make(Broadcast::make(base, inner), Broadcast::make(make_one(base.type()), inner), v.lanes);
            } else {
                e = Ramp::make(base, make_one(base.type()), v.lanes);
            }
            if (outer > 1) {
                e = Broadcast::make(e, outer);
            }
            replacements[v.name] = e;
            outer *= v.lanes;
        }
    }

    /// The predicate of an access of so many lanes, which is in the scope of the mask.
    Expr full_predicate(const Expr &p, int lanes) const {
        if (!mask.defined()) {
            return p;
        }
        const Expr m = lanes > 1 ? Broadcast::make(mask, lanes) : mask;
        return is_const_one(p) ? m : p && m;
    }

    /// Wraps lets that vary over lanes, in their scalar form, around a statement.
    template<typename StmtOrExpr, typename LetNode>
    StmtOrExpr wrap_scalar_lets(StmtOrExpr s) const {
        for (size_t i = lets_in_scope.size(); i > 0; i--) {
            const NamedLet &let = lets_in_scope[i - 1];
            if (stmt_or_expr_uses_var(s, let.name)) {
                s = LetNode::make(let.name, let.value, s);
            }
        }
        return s;
    }

    Expr inline_lets(Expr e) const {
        for (size_t i = lets_in_scope.size(); i > 0; i--) {
            if (expr_uses_var(e, lets_in_scope[i - 1].name)) {
                e = substitute(lets_in_scope[i - 1].name, lets_in_scope[i - 1].value, e);
            }
        }
        return e;
    }

    Stmt enter_vector_loop(const For *op) {
        const int lanes = vector_loop_lanes(op);
        if (lanes == 1) {
            return mutate(LetStmt::make(op->name, op->min, op->body));
        }
        Expr vector_min = mutate(op->min);
        if (vector_min.type().is_vector()) {
            // The inner loop starts elsewhere in each lane: count from zero instead.
            const std::string name = ctx.unique_name(op->name);
            Expr x = Variable::make(op->min.type(), name);
            Stmt body = LetStmt::make(op->name, x + op->min, op->body);
            return enter_vector_loop(For::make(name, make_zero(op->min.type()), make_const(op->min.type(), lanes - 1),
                                               op->for_type, op->partition_policy, op->device_api, body)
                                         .as<For>());
        }
        std::vector<VectorVar> inner_vars = vars;
        inner_vars.push_back({op->name, op->min, lanes});
        VectorizeBody inner(ctx, inner_vars);
        inner.mask = mask;
        Stmt body = op->body;
        if (mask.defined()) {
            // Lets that the mask uses must be visible where it is evaluated again, at the new width.
            body = IfThenElse::make(mask, body);
            inner.mask = Expr();
        }
        return inner.mutate(wrap_scalar_lets<Stmt, LetStmt>(body));
    }

    /// Runs a statement once per lane, in lane order.
    Stmt lane_by_lane(const Stmt &s) const {
        Stmt body = s;
        if (mask.defined()) {
            body = IfThenElse::make(mask, body);
        }
        body = wrap_scalar_lets<Stmt, LetStmt>(body);
        class Serialize : public IRMutator {
        protected:
            using IRMutator::visit;
            Stmt visit(const For *op) override {
                Stmt s = IRMutator::visit(op);
                const For *loop = s.as<For>();
                return loop && is_vectorized(loop->for_type) ? loop->changed(&For::for_type, ForType::Serial) : s;
            }
        } serialize;
        body = serialize(body);
        for (size_t i = vars.size(); i > 0; i--) {
            const VectorVar &v = vars[i - 1];
            body = For::make(v.name, v.min, simplify(v.min + make_const(v.min.type(), v.lanes - 1)), ForType::Serial,
                             Partition::Auto, DeviceAPI::None, body);
        }
        ctx.explain(vars.back().name + ": a statement runs lane by lane");
        return body;
    }

    static const Store *innermost_store(const Stmt &s) {
        if (const LetStmt *let = s.as<LetStmt>()) {
            return innermost_store(let->body);
        }
        return s.as<Store>();
    }
    static std::vector<std::pair<std::string, Expr>> lets_around(Stmt s) {
        std::vector<std::pair<std::string, Expr>> lets;
        while (const LetStmt *let = s.as<LetStmt>()) {
            lets.emplace_back(let->name, let->value);
            s = let->body;
        }
        return lets;
    }
    static Expr with_lets(const std::vector<std::pair<std::string, Expr>> &lets, Expr e) {
        for (size_t i = lets.size(); i > 0; i--) {
            if (expr_uses_var(e, lets[i - 1].first)) {
                e = substitute(lets[i - 1].first, lets[i - 1].second, e);
            }
        }
        return e;
    }

    /// The number of lanes of the outer variables that an index uses, if it uses none of those further in than the first
    /// that it does not use; −1 otherwise.
    int lanes_of_outer_variables(const Expr &index) const {
        Expr scalar = inline_lets(index);
        int lanes = 1;
        bool ended = false;
        for (const VectorVar &v : vars) {
            if (expr_uses_var(scalar, v.name)) {
                if (ended) {
                    return -1;
                }
                lanes *= v.lanes;
            } else {
                ended = true;
            }
        }
        return lanes;
    }

    std::vector<VectorVar> outer_vars(int lanes) const {
        std::vector<VectorVar> result;
        for (const VectorVar &v : vars) {
            if (lanes == 1) {
                break;
            }
            lanes /= v.lanes;
            result.push_back(v);
        }
        return result;
    }
};

class VectorizeLoopsMutator : public IRMutator {
public:
    explicit VectorizeLoopsMutator(LowerContext &ctx) : ctx(ctx) {}

protected:
    using IRMutator::visit;

    Stmt visit(const For *op) override {
        if (!is_vectorized(op->for_type)) {
            return IRMutator::visit(op);
        }
        const int lanes = vector_loop_lanes(op);
        if (lanes == 1) {
            return mutate(LetStmt::make(op->name, op->min, op->body));
        }
        return VectorizeBody(ctx, {{op->name, op->min, lanes}}).mutate(op->body);
    }

private:
    LowerContext &ctx;
};

}  // namespace

Stmt vectorize_loops(const Stmt &s, LowerContext &ctx) {
    return VectorizeLoopsMutator(ctx)(s);
}

Stmt vectorize_in_words(const For *loop, LowerContext &ctx, const WordHooks &hooks) {
    return VectorizeBody(ctx, {{loop->name, loop->min, vector_loop_lanes(loop)}}, &hooks)(loop->body);
}

int vector_loop_lanes(const For *op) {
    const Expr extent = simplify(op->max - op->min + 1);
    const std::optional<int64_t> lanes = as_const_int(extent);
    const LoopWords loop(op->name);
    user_assert(lanes) << loop.stage << ".vectorize(" << loop.dim
                       << "): Can only vectorize loops over a constant extent > 1, but " << loop.extent(extent)
                       << ".\n  Write " << loop.stage << ".vectorize(" << loop.dim
                       << ", 8), which splits the loop first, or fix its extent with " << loop.func << ".bound().\n";
    user_assert(*lanes >= 1 && *lanes <= 65535)
        << loop.stage << ".vectorize(" << loop.dim << "): the extent of " << loop.dim << " is " << *lanes
        << ", which is not a possible number of lanes.\n";
    return (int)*lanes;
}

}  // namespace Internal
}  // namespace Halide
