#include "regions/Domain.h"

#include "analysis/ExprUsesVar.h"
#include "analysis/Monotonic.h"
#include "ir/IREquality.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRVisitor.h"
#include "ir/Substitute.h"
#include "regions/Solve.h"
#include "simplify/Simplify.h"

#include <algorithm>
#include <functional>
#include <set>
#include <unordered_map>

namespace Halide {
namespace Internal {

namespace {

/// One operand of a sum.
struct Term {
    Expr value;
    int sign;
};

void flatten_sum(const Expr &e, int sign, std::vector<Term> &terms) {
    if (const Add *add = e.as<Add>()) {
        flatten_sum(add->a, sign, terms);
        flatten_sum(add->b, sign, terms);
    } else if (const Sub *sub = e.as<Sub>()) {
        flatten_sum(sub->a, sign, terms);
        flatten_sum(sub->b, -sign, terms);
    } else {
        terms.push_back({e, sign});
    }
}

Expr sum_of(const std::vector<Term> &terms, size_t replaced, const Expr &by) {
    Expr sum = make_zero(by.type());
    for (size_t i = 0; i < terms.size(); i++) {
        const Expr &value = i == replaced ? by : terms[i].value;
        sum = terms[i].sign > 0 ? index_add(sum, value) : index_sub(sum, value);
    }
    return sum;
}

}  // namespace

std::vector<Distributed> distribute(const Expr &e, const std::string &var, bool upper) {
    std::vector<Distributed> result;
    std::vector<Term> terms;
    flatten_sum(e, 1, terms);
    for (size_t i = 0; i < terms.size(); i++) {
        const Expr &term = terms[i].value;
        Expr a, b, scale;
        Expr chosen = term;
        if (const Mul *mul = term.as<Mul>(); mul && is_const(mul->b)) {
            chosen = mul->a;
            scale = mul->b;
        }
        if (const Min *op = chosen.as<Min>()) {
            a = op->a;
            b = op->b;
        } else if (const Max *op = chosen.as<Max>()) {
            a = op->a;
            b = op->b;
        } else if (const Select *op = chosen.as<Select>()) {
            a = op->true_value;
            b = op->false_value;
        } else {
            continue;
        }
        if (!var.empty() && !expr_uses_var(chosen, var)) {
            continue;
        }
        const bool negative_scale = scale.defined() && is_negative_const(scale);
        auto scaled = [&](const Expr &x) { return scale.defined() ? index_mul(x, scale) : x; };
        const Distributed d = {sum_of(terms, i, scaled(a)), sum_of(terms, i, scaled(b)),
                               (terms[i].sign > 0) != negative_scale, chosen.as<Min>() != nullptr,
                               chosen.as<Max>() != nullptr};
        if (!d.either(upper)) {
            return {d};
        }
        result.push_back(d);
    }
    return result;
}

struct Domain::Var {
    std::string program_name;
    std::string name;   // unique inside the domain
    int id = 0;
    int order = 0;      // position in the stack; those given from outside come first
    Expr program_min, program_max, program_value;   // not renamed yet
    bool evaluated = false;

    Expr fixed;         // the value, if it does not vary
    Interval interval;  // in terms of what is fixed
    Expr definition;    // of a let
    std::vector<Expr> lower, upper;  // other bounds, in terms of variables further out
    std::set<int> roots;             // the loops and unknown values that this depends on
};

struct Domain::Saved {
    Var *var;
    Var before;
};

namespace {

/// Looks for what makes the value of an expression depend on more than its variables.
class FindMemory : public IRGraphVisitor {
    using IRGraphVisitor::visit;

    void visit(const Call *op) override {
        found = found || op->call_type == Call::Halide || op->call_type == Call::Image ||
                op->call_type == Call::Extern || op->call_type == Call::ExternCPlusPlus ||
                op->call_type == Call::Intrinsic;
        IRGraphVisitor::visit(op);
    }
    void visit(const Load *op) override {
        found = true;
    }

public:
    bool found = false;
};

bool reads_memory(const Expr &e) {
    FindMemory memory;
    e.accept(&memory);
    return memory.found;
}

/// The names of the variables in an expression, those that occur more than once at least twice. A shared node is entered
/// twice and no more: that shows all repetitions, in time linear in the number of nodes.
class OccurringNames : public IRGraphVisitor {
    using IRGraphVisitor::include;
    using IRGraphVisitor::visit;
    std::unordered_map<const IRNode *, int> entered;

    void include(const Expr &e) override {
        const bool shared = e.get()->ref_count.value() > 1 && e.node_type() != IRNodeType::Variable;
        if (!shared || entered[e.get()]++ < 2) {
            e.accept(this);
        }
    }
    void visit(const Variable *op) override {
        found(op->name);
    }

    const std::function<void(const std::string &)> found;

public:
    explicit OccurringNames(std::function<void(const std::string &)> found) : found(std::move(found)) {
    }
};

bool has_end(const Expr &e) {
    return e.defined() && !e.same_as(Interval::pos_inf()) && !e.same_as(Interval::neg_inf());
}

}  // namespace

/// Puts the names of the domain in place of those of the program. What is shared stays shared.
class Domain::Rename : public IRGraphMutator {
    using IRGraphMutator::visit;
    Domain &domain;
    const int as_of;
    std::set<std::string> hidden;

    Expr visit(const Variable *op) override {
        if (hidden.count(op->name)) {
            return op;
        }
        Var *v = domain.lookup(op->name, as_of);
        if (!v) {
            return op;
        }
        domain.evaluate(v);
        return v->fixed.defined() ? v->fixed : Variable::make(op->type, v->name);
    }

    Expr visit(const Let *op) override {
        Expr value = mutate(op->value);
        if (hidden.count(op->name) || !domain.lookup(op->name, as_of)) {
            return op->with(value, mutate(op->body));
        }
        // In the body the name means something else: what was rewritten outside does not hold there.
        Rename inner(domain, as_of);
        inner.hidden = hidden;
        inner.hidden.insert(op->name);
        return op->with(value, inner.mutate(op->body));
    }

public:
    Rename(Domain &domain, int as_of) : domain(domain), as_of(as_of) {
    }
};

Domain::Domain(const Scope<Interval> &given, const FuncValueBounds &func_bounds, SharedExprs &shared)
    : given(given), shared(shared),
      arithmetic(
          [this](const std::string &name) -> const Interval * {
              auto it = by_name.find(name);
              if (it == by_name.end()) {
                  return nullptr;
              }
              evaluate(it->second);
              return &it->second->interval;
          },
          func_bounds, false, shared) {
}

Domain::~Domain() = default;

Domain::Var *Domain::push(const std::string &program_name) {
    known_bounds.clear();
    auto var = std::make_unique<Var>();
    var->program_name = program_name;
    var->id = next_id++;
    var->name = "#" + std::to_string(var->id);
    var->order = (int)stack.size();
    Var *v = var.get();
    stack.push_back(std::move(var));
    by_program_name[program_name].push_back(v);
    by_name[v->name] = v;
    return v;
}

void Domain::push_loop(const std::string &name, const Expr &min, const Expr &max) {
    Var *v = push(name);
    v->program_min = min;
    v->program_max = max;
}

void Domain::push_let(const std::string &name, const Expr &value) {
    push(name)->program_value = value;
}

void Domain::pop() {
    known_bounds.clear();
    Var *v = stack.back().get();
    by_program_name[v->program_name].pop_back();
    by_name.erase(v->name);
    arithmetic.forget();
    stack.pop_back();
}

/// The variable that a name means at a place that sees the first `as_of` variables of the stack.
Domain::Var *Domain::lookup(const std::string &program_name, int as_of) {
    auto it = by_program_name.find(program_name);
    if (it != by_program_name.end()) {
        for (auto v = it->second.rbegin(); v != it->second.rend(); ++v) {
            if ((*v)->order < as_of) {
                return *v;
            }
        }
    }
    auto known = given_vars.find(program_name);
    if (known != given_vars.end()) {
        return known->second.get();
    }
    const Interval *i = given.find(program_name);
    if (!i) {
        return nullptr;
    }
    auto var = std::make_unique<Var>();
    var->id = next_id++;
    var->name = "#" + std::to_string(var->id);
    var->order = -1;
    var->evaluated = true;
    if (i->is_single_point()) {
        var->fixed = i->min;
    }
    var->interval = *i;
    if (i->has_lower_bound()) {
        var->lower.push_back(i->min);
    }
    if (i->has_upper_bound()) {
        var->upper.push_back(i->max);
    }
    var->roots.insert(var->id);
    Var *v = var.get();
    by_name[v->name] = v;
    given_vars[program_name] = std::move(var);
    return v;
}

Expr Domain::rename(const Expr &e, int as_of) {
    return Rename(*this, as_of).mutate(e);
}

/// What is known about a variable, computed when first needed.
void Domain::evaluate(Var *v) {
    if (v->evaluated) {
        return;
    }
    if (!narrowings.empty() && v->order < (int)narrowings.back().stack_size) {
        // What is computed now may rest on a condition that will not hold later.
        save(v);
    }
    v->evaluated = true;
    auto is_fixed = [&](const Expr &e, const Interval &i) {
        return i.is_single_point() && variables_of(i.min).empty() && !reads_memory(e);
    };
    auto add_roots = [&](const Expr &e) {
        for (Var *u : variables_of(e)) {
            v->roots.insert(u->roots.begin(), u->roots.end());
        }
    };
    if (v->program_value.defined()) {
        v->definition = simplify(rename(v->program_value, v->order));
        v->interval = bounds_of_renamed(v->definition);
        if (is_fixed(v->definition, v->interval)) {
            v->fixed = shared.share(v->interval.min);
            v->interval = Interval::single_point(v->fixed);
            return;
        }
        v->interval = shared.share(v->interval);
        add_roots(v->definition);
        if (reads_memory(v->definition)) {
            // The value cannot be computed again somewhere else.
            v->definition = Expr();
            v->roots.insert(v->id);
        }
        return;
    }
    const Expr min = simplify(rename(v->program_min, v->order)), max = simplify(rename(v->program_max, v->order));
    const Interval low = bounds_of_renamed(min), high = bounds_of_renamed(max);
    if (equal(min, max) && is_fixed(min, low)) {
        v->fixed = shared.share(low.min);
        v->interval = Interval::single_point(v->fixed);
        return;
    }
    v->interval = shared.share(Interval(low.min, high.max));
    v->lower.push_back(min);
    v->upper.push_back(max);
    v->roots.insert(v->id);
    add_roots(min);
    add_roots(max);
}

/// The variables of the domain in a renamed expression; those that occur more than once at least twice.
std::vector<Domain::Var *> Domain::variables_of(const Expr &e) {
    std::vector<Var *> found;
    if (!has_end(e)) {
        return found;
    }
    OccurringNames names([&](const std::string &name) {
        if (name[0] == '#') {
            auto it = by_name.find(name);
            if (it != by_name.end()) {
                found.push_back(it->second);
            }
        }
    });
    e.accept(&names);
    return found;
}

bool Domain::is_correlated(const Expr &e) {
    const std::vector<Var *> vars = variables_of(e);
    if (vars.size() < 2) {
        return false;
    }
    std::set<int> seen;
    for (Var *v : vars) {
        evaluate(v);
        for (int root : v->roots) {
            if (!seen.insert(root).second) {
                return true;
            }
        }
    }
    return false;
}

Interval Domain::bounds(const Expr &e) {
    if (is_const(e)) {
        return Interval::single_point(e);
    }
    const bool small = has_at_most_nodes(e, 8);
    if (small) {
        auto known = known_bounds.find(e);
        if (known != known_bounds.end()) {
            return known->second;
        }
    }
    const Interval i = bounds_of_renamed(simplify(rename(e, (int)stack.size())));
    if (small) {
        known_bounds[e] = i;
    }
    return i;
}

Expr Domain::fixed_value(const Expr &e) {
    const Expr r = rename(e, (int)stack.size());
    return variables_of(r).empty() && !reads_memory(r) ? r : Expr();
}

Interval Domain::bounds_of_renamed(const Expr &e) {
    arithmetic.forget();
    Interval i = arithmetic.bounds(e);
    if (i.is_single_point() || !e.type().is_int() || e.type().bits() < 32 || !is_correlated(e)) {
        return i;
    }
    int budget = 24;
    const Expr low = eliminate(e, false, budget);
    budget = 24;
    const Expr high = eliminate(e, true, budget);
    return Interval(has_end(low) ? low : i.min, has_end(high) ? high : i.max);
}

Expr Domain::end_of(const Expr &e, bool upper) {
    arithmetic.forget();
    const Interval i = arithmetic.bounds(e);
    return upper ? i.max : i.min;
}

Expr Domain::eliminate(Expr e, bool upper, int &budget) {
    e = simplify(e);
    Var *v = nullptr;
    for (Var *u : variables_of(e)) {
        evaluate(u);
        if (!v || u->order > v->order) {
            v = u;
        }
    }
    // Definitions that are put in place of their names can double what they are put into.
    constexpr int largest = 120;
    if (!v || budget-- <= 0 || !has_at_most_nodes(e, largest) || !is_correlated(e)) {
        return end_of(e, upper);
    }
    const bool plain_let = v->definition.defined() && v->lower.empty() && v->upper.empty();
    if (plain_let) {
        return eliminate(substitute(v->name, v->definition, e), upper, budget);
    }
    auto tighter = [&](const Expr &a, const Expr &b) { return upper ? end_min(a, b) : end_max(a, b); };
    auto looser = [&](const Expr &a, const Expr &b) { return upper ? end_max(a, b) : end_min(a, b); };

    const Monotonic m = is_monotonic(e, v->name);
    if (m != Monotonic::Unknown) {
        const bool use_upper = (m == Monotonic::Decreasing) != upper;
        std::vector<Expr> candidates = use_upper ? v->upper : v->lower;
        if (v->definition.defined()) {
            candidates.push_back(v->definition);
        }
        Expr best;
        for (const Expr &c : candidates) {
            const Expr end = eliminate(substitute(v->name, c, e), upper, budget);
            best = best.defined() ? tighter(best, end) : end;
        }
        return best.defined() ? best : end_of(e, upper);
    }
    const std::vector<Distributed> ways = distribute(e, v->name, upper);
    if (!ways.empty()) {
        Expr best;
        for (const Distributed &d : ways) {
            const Expr a = eliminate(d.first, upper, budget), b = eliminate(d.second, upper, budget);
            // The sum is at most either of the two if the operand is a min that counts positively, and so on.
            const Expr end = d.either(upper) ? tighter(a, b) : looser(a, b);
            best = best.defined() ? tighter(best, end) : end;
            if (is_const(best) || budget <= 0) {
                break;
            }
        }
        return best;
    }
    if (v->definition.defined()) {
        return eliminate(substitute(v->name, v->definition, e), upper, budget);
    }
    return end_of(e, upper);
}

void Domain::save(Var *v) {
    saved.push_back({v, *v});
}

void Domain::narrow(const Expr &condition) {
    known_bounds.clear();
    narrowings.push_back({saved.size(), stack.size()});
    std::vector<Expr> conjuncts;
    split_into_ands(simplify(remove_likelies(rename(condition, (int)stack.size()))), conjuncts);
    for (const Expr &c : conjuncts) {
        narrow_by(c);
    }
}

void Domain::widen() {
    known_bounds.clear();
    const size_t mark = narrowings.back().saved_size;
    narrowings.pop_back();
    while (saved.size() > mark) {
        *saved.back().var = std::move(saved.back().before);
        saved.pop_back();
    }
    arithmetic.forget();
}

/// Lets replaced by their definitions, as long as that stays small.
Expr Domain::expand_definitions(const Expr &e) {
    Expr result = e;
    for (int i = 0; i < 8; i++) {
        Var *let = nullptr;
        for (Var *v : variables_of(result)) {
            evaluate(v);
            if (v->definition.defined() && (!let || v->order > let->order)) {
                let = v;
            }
        }
        if (!let || !has_at_most_nodes(result, 60)) {
            break;
        }
        result = simplify(substitute(let->name, let->definition, result));
    }
    return result;
}

void Domain::narrow_by(const Expr &conjunct) {
    std::vector<Var *> done;
    auto solve = [&](const Expr &c) {
        for (Var *v : variables_of(c)) {
            if (std::find(done.begin(), done.end(), v) != done.end()) {
                continue;
            }
            done.push_back(v);
            const Interval i = solve_for_outer_interval(c, v->name);
            if (!i.is_everything() && !i.is_empty()) {
                restrict_to(v, i);
            }
        }
    };
    solve(conjunct);
    const Expr expanded = expand_definitions(conjunct);
    if (!expanded.same_as(conjunct)) {
        solve(expanded);
    }
}

void Domain::restrict_to(Var *v, const Interval &i) {
    evaluate(v);
    save(v);
    auto further_out = [&](const Expr &e) {
        for (Var *u : variables_of(e)) {
            if (u->order >= v->order) {
                return false;
            }
        }
        return true;
    };
    auto apply = [&](const Expr &end, bool upper) {
        if (!has_end(end) || !end.type().is_int() || expr_uses_var(end, v->name)) {
            return;
        }
        const Interval b = bounds_of_renamed(end);
        if (upper) {
            v->interval.max = end_min(v->interval.max, shared.share(b.max));
        } else {
            v->interval.min = end_max(v->interval.min, shared.share(b.min));
        }
        if (further_out(end)) {
            (upper ? v->upper : v->lower).push_back(end);
            for (Var *u : variables_of(end)) {
                v->roots.insert(u->roots.begin(), u->roots.end());
            }
        }
    };
    apply(i.min, false);
    apply(i.max, true);

    // Lets computed from it move with it.
    std::set<std::string> changed = {v->name};
    for (size_t k = std::max(v->order + 1, 0); k < stack.size(); k++) {
        Var *u = stack[k].get();
        if (!u->evaluated || !u->definition.defined() || !uses_any_var(u->definition, changed)) {
            continue;
        }
        save(u);
        u->interval = interval_intersection(u->interval, shared.share(bounds_of_renamed(u->definition)));
        for (Var *w : variables_of(u->definition)) {
            u->roots.insert(w->roots.begin(), w->roots.end());
        }
        changed.insert(u->name);
    }
}

}  // namespace Internal
}  // namespace Halide
