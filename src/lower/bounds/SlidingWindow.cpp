#include "lower/bounds/SlidingWindow.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "analysis/ExprUsesVar.h"
#include "analysis/Monotonic.h"
#include "ir/IREquality.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"
#include "ir/Substitute.h"
#include "regions/EnclosingLets.h"
#include "regions/Solve.h"
#include "simplify/Simplify.h"
#include "support/Error.h"
#include "support/Util.h"

// Let [L(v), U(v)] be what iteration v needs of a Func along one dimension, both ends rising with v, and let the loop
// start at a. Iteration v computes [max(U(v-1) + 1, L(a)), U(v)]. Before the first iteration that anybody reads,
// everything from L(a) on must be there: so the loop starts at the last v for which U(v-1) + 1 <= L(a), and consumers
// wait until a. Falling ends are treated alike.

namespace Halide {
namespace Internal {

namespace {

bool produces(const Stmt &s, const std::string &func) {
    bool found = false;
    visit_with(s, [&](auto *self, const ProducerConsumer *op) {
        found = found || (op->is_producer && op->name == func);
        if (!found) {
            self->visit_base(op);
        }
    });
    return found;
}

bool contains_producer(const Stmt &s) {
    bool found = false;
    visit_with(s, [&](auto *self, const ProducerConsumer *op) {
        found = found || op->is_producer;
        if (!found) {
            self->visit_base(op);
        }
    });
    return found;
}

/// The lets and loops on the way from the body of a loop to where a Func is produced.
class FindPath : public IRVisitor {
    using IRVisitor::visit;
    const std::string &func;

    void visit(const LetStmt *op) override {
        lets.emplace_back(op->name, op->value);
        op->body.accept(this);
        if (!found) {
            lets.pop_back();
        }
    }
    void visit(const For *op) override {
        loops.push_back(op->name);
        op->body.accept(this);
        if (!found) {
            loops.pop_back();
        }
    }
    void visit(const ProducerConsumer *op) override {
        if (op->is_producer && op->name == func) {
            found = true;
            count++;
        } else if (!found) {
            op->body.accept(this);
        }
    }
    void visit(const Block *op) override {
        op->first.accept(this);
        if (!found) {
            op->rest.accept(this);
        }
    }

public:
    std::vector<std::pair<std::string, Expr>> lets;
    std::vector<std::string> loops;
    bool found = false;
    int count = 0;
    explicit FindPath(const std::string &func) : func(func) {}
};

/// An expression at the end of a path, in terms of loops and what is outside.
Expr expand(Expr e, const std::vector<std::pair<std::string, Expr>> &lets) {
    for (size_t i = lets.size(); i-- > 0;) {
        if (expr_uses_var(e, lets[i].first)) {
            e = simplify(substitute(lets[i].first, lets[i].second, e));
        }
    }
    return e;
}

/// The end of the region of a Func that is needed before anything else: by each consumer in the first iteration that
/// runs it, and by the body of the loop itself in the first of the loop as it was.
class FirstNeed {
    const For &loop;
    const std::vector<std::pair<std::string, Expr>> &lets;
    const std::string &func;
    const std::map<std::string, Expr> &starts;
    std::map<std::pair<size_t, std::string>, Expr> done;

    const Expr &start_of(const std::string &owner) const {
        auto it = starts.find(owner);
        return owner == func || it == starts.end() ? loop.min : it->second;
    }

    /// The value of `e`, which stands after the first `visible` lets, as `owner` sees it.
    Expr value(const Expr &e, size_t visible, const std::string &owner) {
        return mutate_with(e, [&](auto *, const Variable *op) -> Expr {
            if (op->name == loop.name) {
                return start_of(owner);
            }
            for (size_t i = visible; i-- > 0;) {
                if (lets[i].first != op->name) {
                    continue;
                }
                const std::string of = op->name.substr(0, op->name.find('.'));
                const std::string &sees = starts.count(of) ? of : owner;
                auto [it, fresh] = done.try_emplace({i, sees});
                if (fresh) {
                    it->second = simplify(value(lets[i].second, i, sees));
                }
                return it->second;
            }
            return op;
        });
    }

public:
    FirstNeed(const For &loop, const std::vector<std::pair<std::string, Expr>> &lets, const std::string &func,
              const std::map<std::string, Expr> &starts)
        : loop(loop), lets(lets), func(func), starts(starts) {}
    Expr of(const std::string &symbol) { return simplify(value(Variable::make(Int(32), symbol), lets.size(), func)); }
};

/// Whether all stages write a dimension only at their own pure Var.
bool is_pure_in(const Definition &def, const std::string &arg, size_t d) {
    const Variable *v = def.args()[d].as<Variable>();
    if (!v || v->name != arg) {
        return false;
    }
    for (const Specialization &s : def.specializations()) {
        if (s.failure_message.empty() && !is_pure_in(s.definition, arg, d)) {
            return false;
        }
    }
    return true;
}

/// Factors of splits that may move points of a dimension back to where earlier iterations have been.
void find_shifting_factors(const Definition &def, const std::string &arg, std::vector<Expr> &factors) {
    std::set<std::string> descendants = {arg};
    for (const Split &s : def.schedule().splits()) {
        if (s.is_fuse()) {
            if (descendants.count(s.inner) || descendants.count(s.outer)) {
                descendants.insert(s.old_var);
            }
        } else if (descendants.count(s.old_var)) {
            descendants.insert(s.outer);
            if (s.is_split()) {
                descendants.insert(s.inner);
                if (s.tail == TailStrategy::ShiftInwards || s.tail == TailStrategy::ShiftInwardsAndBlend ||
                    (s.tail == TailStrategy::Auto && def.is_init())) {
                    factors.push_back(s.factor);
                }
            }
        }
    }
    for (const Specialization &s : def.specializations()) {
        if (s.failure_message.empty()) {
            find_shifting_factors(s.definition, arg, factors);
        }
    }
}

/// Whether the production of a Func in the body of a loop reads Funcs that are produced in that body too. If not,
/// points that are computed again get the values that they had.
bool reads_from_inside(const Stmt &body, const std::string &func) {
    std::set<std::string> produced, read;
    visit_with(body, [&](auto *self, const ProducerConsumer *op) {
        if (op->is_producer) {
            produced.insert(op->name);
        }
        if (op->is_producer && op->name == func) {
            visit_with(op->body, [&](auto *inner, const Call *call) {
                if (call->call_type == Call::Halide) {
                    read.insert(call->name);
                }
                inner->visit_base(call);
            });
        }
        self->visit_base(op);
    });
    read.erase(func);
    return std::any_of(read.begin(), read.end(), [&](const std::string &r) { return produced.count(r); });
}

/// Gives the region symbols of one Func, where it is produced, another end.
class ReplaceEnd : public IRMutator {
    using IRMutator::visit;
    const std::string &func, &name;
    const Expr &value;

    Stmt visit(const LetStmt *op) override {
        Stmt body = mutate(op->body);
        if (op->name == name && !done && produces(body, func)) {
            // The innermost one counts: those further out describe more than one production.
            done = true;
            return LetStmt::make(op->name, value, body);
        }
        return op->with(op->value, body);
    }
    Expr visit(const Call *op) override { return op; }

public:
    bool done = false;
    ReplaceEnd(const std::string &func, const std::string &name, const Expr &value)
        : func(func), name(name), value(value) {}
};

/// Runs each part of the body of a loop only from the iteration on that it is meant for.
class GuardStarts : public IRMutator {
    using IRMutator::visit;
    const Expr &loop_var;
    const Expr &first;                          // of the loop as it is now
    const std::map<std::string, Expr> &starts;  // of Funcs
    Expr current;                               // of the production at hand; outside of all, that of the loop as it was

    Stmt guard(const Stmt &s, const Expr &start) {
        if (equal(start, first)) {
            return s;
        }
        return IfThenElse::make(likely_if_innermost(start <= loop_var), s);
    }

    Stmt visit(const ProducerConsumer *op) override {
        if (!op->is_producer) {
            return IRMutator::visit(op);
        }
        auto it = starts.find(op->name);
        const Expr start = it == starts.end() ? current : it->second;
        if (!starts_otherwise(op->body, start)) {
            return guard(op, start);
        }
        // A Func produced further in has a warm-up of its own: only the rest of this production waits.
        ScopedValue<Expr> bind(current, start);
        return IRMutator::visit(op);
    }

    /// Is a Func produced inside that starts in another iteration?
    bool starts_otherwise(const Stmt &body, const Expr &start) const {
        for (const auto &s : starts) {
            if (!equal(s.second, start) && produces(body, s.first)) {
                return true;
            }
        }
        return false;
    }

    Stmt visit(const Block *op) override {
        Stmt a = mutate(op->first), b = mutate(op->rest);
        return op->with(a, b);
    }

public:
    using IRMutator::mutate;
    GuardStarts(const Expr &loop_var, const Expr &first, const Expr &original,
                const std::map<std::string, Expr> &starts)
        : loop_var(loop_var), first(first), starts(starts), current(original) {}
    Stmt mutate(const Stmt &s) override {
        if (!s.defined()) {
            return s;
        }
        const bool transparent =
            s.as<LetStmt>() || s.as<Block>() || s.as<ProducerConsumer>() || s.as<Realize>() || s.as<HoistedStorage>();
        if (transparent || contains_producer(s)) {
            return IRMutator::mutate(s);
        }
        return guard(s, current);
    }
    Expr mutate(const Expr &e) override { return e; }
};

/// What an end is in most iterations: min(likely(x*16), n) → x*16. Without the tags.
Expr in_most_iterations(const Expr &e) {
    auto is_tagged = [](const Expr &part) {
        bool found = false;
        visit_with(part, [&](auto *self, const Call *op) {
            found = found || Call::as_tag(op);
            self->visit_base(op);
        });
        return found;
    };
    auto likely_one = [&](auto *self, const auto *op) -> Expr {
        const bool a = is_tagged(op->a), b = is_tagged(op->b);
        return a == b ? self->visit_base(op) : self->mutate(a ? op->a : op->b);
    };
    return remove_likelies(mutate_with(
        e, [&](auto *self, const Min *op) -> Expr { return likely_one(self, op); },
        [&](auto *self, const Max *op) -> Expr { return likely_one(self, op); }));
}

class SlidingWindow : public IRMutator {
    using IRMutator::visit;
    LowerContext &ctx;
    std::vector<std::string> sliding;  // Funcs realized outside, outermost first
    std::map<std::string, std::set<size_t>> slid_dimensions;
    EnclosingLets lets;  // ends of loops are names by now, and only their values tell how far two of them are apart

    bool proves(const Expr &condition) const {
        return can_prove(condition) || is_const_one(lets.simplify_to_constant(condition));
    }

    Stmt visit(const LetStmt *op) override {
        lets.push(op->name, op->value);
        Stmt body = mutate(op->body);
        lets.pop(op->name);
        return op->with(op->value, body);
    }

    Expr visit(const Call *op) override { return op; }

    Stmt visit(const Realize *op) override {
        const Function &f = ctx.env.at(op->name);
        if (f.schedule().compute_level() == f.schedule().store_level() || f.has_extern_definition()) {
            return IRMutator::visit(op);
        }
        sliding.push_back(op->name);
        Stmt body = mutate(op->body);
        sliding.pop_back();
        slid_dimensions.erase(op->name);
        return op->with(op->bounds, op->condition, body);
    }

    Stmt visit(const For *op) override {
        Stmt body = mutate(op->body);
        if (op->for_type != ForType::Serial && op->for_type != ForType::Unrolled) {
            return op->with(op->min, op->max, body);
        }
        if (equal(op->min, op->max)) {
            return op->with(op->min, op->max, body);
        }
        Expr first = op->min;
        std::map<std::string, Expr> starts;
        std::optional<Uses> uses;
        // Consumers first: their warm-up is part of what producers must be ready for.
        for (size_t i = sliding.size(); i-- > 0;) {
            if (produces(body, sliding[i])) {
                if (!uses) {
                    uses.emplace(body);
                }
                std::map<std::string, Expr> known = starts;
                add_starts_of_others(*uses, op->min, known);
                slide(op, sliding[i], known, body, first, starts);
            }
        }
        if (!starts.empty() && !equal(first, op->min)) {
            add_starts_of_others(*uses, op->min, starts);
            const Expr v = Variable::make(Int(32), op->name);
            body = GuardStarts(v, first, op->min, starts).mutate(body);
        }
        if (body.same_as(op->body) && first.same_as(op->min)) {
            return op;
        }
        return op->changed(&For::min, first, &For::body, body);
    }

    /// Which Funcs are produced in the body of a loop, and which of those read a Func.
    struct Uses {
        std::map<std::string, std::set<std::string>> consumers;
        std::set<std::string> produced;

        explicit Uses(const Stmt &body) {
            visit_with(body, [&](auto *self, const ProducerConsumer *op) {
                if (op->is_producer) {
                    produced.insert(op->name);
                    const auto read = [&](const std::string &name) {
                        if (name != op->name) {
                            consumers[name].insert(op->name);
                        }
                    };
                    visit_with(
                        op->body,
                        [&](auto *inner, const Call *call) {
                            if (call->call_type == Call::Halide) {
                                read(call->name);
                            }
                            inner->visit_base(call);
                        },
                        // An extern stage reads f or, of a tuple, f.0 through its buffer.
                        [&](auto *, const Variable *v) {
                            if (v->type.is_handle() && ends_with(v->name, ".buffer")) {
                                read(v->name.substr(0, v->name.find('.')));
                            }
                        });
                }
                self->visit_base(op);
            });
        }
    };

    /// Funcs that do not slide, or not yet, start with the first of their consumers.
    void add_starts_of_others(const Uses &uses, const Expr &original, std::map<std::string, Expr> &starts) {
        for (size_t i = ctx.order.size(); i-- > 0;) {
            const std::string &name = ctx.order[i];
            if (!uses.produced.count(name) || starts.count(name)) {
                continue;
            }
            Expr start = original;
            const auto consumers = uses.consumers.find(name);
            for (const std::string &c :
                 consumers == uses.consumers.end() ? std::set<std::string>() : consumers->second) {
                auto it = starts.find(c);
                if (it != starts.end()) {
                    start = simplify(min(start, it->second));
                }
            }
            starts[name] = start;
        }
    }

    /// Reduces what one Func computes per iteration of one loop.
    ///
    /// @param known   where Funcs start, as far as decided; for this one, the first iteration that reads it.
    /// @param first   where the loop starts; moved if needed. Other Funcs may have a longer warm-up than this one.
    /// @param starts  the starts of the Funcs that slide.
    void slide(const For *loop, const std::string &name, const std::map<std::string, Expr> &known, Stmt &body,
               Expr &first, std::map<std::string, Expr> &starts) {
        const Expr used = known.at(name);
        const Function &f = ctx.env.at(name);
        FindPath path(name);
        body.accept(&path);
        if (!path.found) {
            return;
        }
        const std::string prefix = name + ".s" + std::to_string(f.updates().size()) + ".";
        const std::vector<std::string> args = f.args();

        // Exactly one dimension may move with the loop.
        size_t dim = args.size();
        Expr low, high;
        for (size_t d = 0; d < args.size(); d++) {
            const Expr l = expand(Variable::make(Int(32), prefix + args[d] + ".min"), path.lets);
            const Expr h = expand(Variable::make(Int(32), prefix + args[d] + ".max"), path.lets);
            if (!expr_uses_var(l, loop->name) && !expr_uses_var(h, loop->name)) {
                continue;
            }
            if (dim < args.size()) {
                return;
            }
            dim = d;
            low = l;
            high = h;
        }
        if (dim == args.size() || slid_dimensions[name].count(dim)) {
            return;
        }
        if (!is_pure_in(f.definition(), args[dim], dim)) {
            return;
        }
        for (const Definition &def : f.updates()) {
            if (!is_pure_in(def, args[dim], dim)) {
                return;
            }
        }
        const Monotonic m_low = is_monotonic(low, loop->name), m_high = is_monotonic(high, loop->name);
        auto rises = [](Monotonic m) { return m == Monotonic::Increasing || m == Monotonic::Constant; };
        auto falls = [](Monotonic m) { return m == Monotonic::Decreasing || m == Monotonic::Constant; };
        const bool up = m_high == Monotonic::Increasing && rises(m_low);
        const bool down = m_low == Monotonic::Decreasing && falls(m_high);
        if (!up && !down) {
            ctx.explain(name + " does not slide over " + loop->name + ": the region needed of " + args[dim] +
                        " does not move in one direction");
            return;
        }

        const Expr v = Variable::make(Int(32), loop->name);
        auto at = [&](const Expr &e, const Expr &iteration) { return simplify(substitute(loop->name, iteration, e)); };
        // What the previous iteration has left to do: from `next` on (upwards or downwards).
        const Expr next = up ? simplify(at(high, v - 1) + 1) : simplify(at(low, v - 1) - 1);
        if (proves(up ? next <= low : next >= high)) {
            return;  // nothing in common with the previous iteration
        }
        const Expr usual_low = in_most_iterations(low), usual_high = in_most_iterations(high);
        const Expr usual_next = up ? at(usual_high, v - 1) + 1 : at(usual_low, v - 1) - 1;
        if (proves(up ? usual_next <= usual_low : usual_next >= usual_high)) {
            // Only a last iteration that was shifted inwards meets the one before it. To save a few points there would make
            // the size of all others vary.
            ctx.explain(name + " does not slide over " + loop->name + ": only the tail of a split has something in common " +
                        "with what was computed before");
            return;
        }
        std::vector<Expr> factors;
        find_shifting_factors(f.definition(), args[dim], factors);
        for (const Definition &def : f.updates()) {
            find_shifting_factors(def, args[dim], factors);
        }
        const Expr step = up ? high - next + 1 : next - low + 1;
        for (const Expr &factor : factors) {
            // A point computed again by the pure definition would also lose the updates it has had.
            if (!proves(simplify(step) >= factor) && (reads_from_inside(body, name) || f.has_update_definition())) {
                ctx.explain(name + " does not slide over " + loop->name + ": a split of " + args[dim] +
                            " would compute points again that earlier iterations have computed");
                return;
            }
        }

        // Where must the loop start?
        const std::string end_name = prefix + args[dim] + (up ? ".min" : ".max");
        const Expr begin = FirstNeed(*loop, path.lets, name, known).of(end_name);
        const std::string start_name = ctx.unique_name(loop->name + ".start");
        const Expr start_var = Variable::make(Int(32), start_name);
        const Expr ready = up ? at(next, start_var) <= begin : at(next, start_var) >= begin;
        const Interval solution = solve_for_inner_interval(simplify(ready), start_name);
        Expr start;
        if (!solution.is_empty() && solution.has_upper_bound()) {
            start = simplify(min(solution.max, used));
            for (const std::string &inner : path.loops) {
                start = start.defined() && expr_uses_var(start, inner) ? Expr() : start;
            }
            if (start.defined() && (expr_uses_var(start, start_name) || expr_uses_var(start, loop->name))) {
                start = Expr();
            }
            if (start.defined() && loop->for_type == ForType::Unrolled && !is_const(simplify(used - start))) {
                // The number of iterations must stay a constant.
                start = Expr();
            }
        }
        Expr end;
        if (start.defined()) {
            // If the first step lands exactly on the beginning, later ones are beyond it.
            const bool exact = can_prove(at(next, start) == begin);
            end = exact ? next : simplify(up ? max(next, begin) : min(next, begin));
        } else {
            // All at once in the first iteration. What is not needed stays out, so that the window of later ones is
            // visibly no larger than what is needed.
            start = used;
            const Expr whole = up ? low : high;
            const Expr part = select(v <= used, whole, likely_if_innermost(next));
            end = up ? max(part, whole) : min(part, whole);
        }
        ReplaceEnd replace(name, end_name, end);
        Stmt replaced = replace.mutate(body);
        if (!replace.done) {
            return;
        }
        body = replaced;
        first = simplify(min(start, first));
        starts[name] = start;
        slid_dimensions[name].insert(dim);
        ctx.explain(name + " slides over " + loop->name + " along " + args[dim]);
    }

public:
    explicit SlidingWindow(LowerContext &ctx) : ctx(ctx) {}
};

}  // namespace

Stmt sliding_window(const Stmt &s, LowerContext &ctx) {
    return SlidingWindow(ctx)(s);
}

}  // namespace Internal
}  // namespace Halide
