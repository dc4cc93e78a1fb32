#include "regions/Bounds.h"

#include "ir/IREquality.h"
#include "ir/IROperator.h"
#include "ir/IRVisitor.h"
#include "regions/Domain.h"
#include "regions/ExprBounds.h"
#include "simplify/Simplify.h"

#include <set>

namespace Halide {
namespace Internal {

const FuncValueBounds &empty_func_value_bounds() {
    static const FuncValueBounds empty;
    return empty;
}

namespace {

Interval simplified(const Interval &i) {
    if (i.is_single_point()) {
        return Interval::single_point(simplify(i.min));
    }
    Interval s = i;
    if (s.has_lower_bound()) {
        s.min = simplify(s.min);
    }
    if (s.has_upper_bound()) {
        s.max = simplify(s.max);
    }
    return s.is_bounded() && equal(s.min, s.max) ? Interval::single_point(s.min) : s;
}

/// Whether some variable occurs more than once.
bool repeats_variable(const Expr &e) {
    std::set<std::string> seen;
    bool repeats = false;
    visit_with(e, [&](auto *, const Variable *op) { repeats = repeats || !seen.insert(op->name).second; });
    return repeats;
}

/// A constant end of an expression: by interval arithmetic, or where that loses what variables have to do with
/// each other, by cases over the operands of min, max and select.
Expr constant_end(const Expr &expr, bool upper, const Scope<Interval> &scope, int &budget) {
    const Expr e = simplify(expr);
    if (is_const(e)) {
        return e;
    }
    SharedExprs shared;
    ExprBounds arithmetic([&](const std::string &name) { return scope.find(name); }, empty_func_value_bounds(), true,
                          shared);
    const Interval i = arithmetic.bounds(e);
    Expr end;
    if (upper ? i.has_upper_bound() : i.has_lower_bound()) {
        end = simplify(shared.close(upper ? i.max : i.min));
        end = is_const(end) ? end : Expr();
    }
    if (budget-- <= 0 || !e.type().is_int() || e.type().bits() < 32 || !e.type().is_scalar() ||
        !repeats_variable(e)) {
        return end;
    }
    auto tighter = [&](const Expr &x, const Expr &y) {
        if (!x.defined() || !y.defined()) {
            return x.defined() ? x : y;
        }
        return upper ? end_min(x, y) : end_max(x, y);
    };
    for (const Distributed &d : distribute(e, "", upper)) {
        const Expr a = constant_end(d.first, upper, scope, budget), b = constant_end(d.second, upper, scope, budget);
        if (d.either(upper)) {
            end = tighter(end, tighter(a, b));
        } else if (a.defined() && b.defined()) {
            end = tighter(end, upper ? end_max(a, b) : end_min(a, b));
        }
    }
    return end;
}

/// When a condition is true for all values of some variables (min), and when for any (max).
class ConditionBounds {
    const Scope<Interval> &vars;
    SharedExprs &shared;
    Domain domain;
    ExprBounds arithmetic;

public:
    ConditionBounds(const Scope<Interval> &vars, SharedExprs &shared)
        : vars(vars), shared(shared), domain(vars, empty_func_value_bounds(), shared),
          arithmetic([&vars](const std::string &name) { return vars.find(name); }, empty_func_value_bounds(), false,
                     shared) {
    }

    Interval of(const Expr &c) {
        if (const And *op = c.as<And>()) {
            const Interval a = of(op->a), b = of(op->b);
            return Interval(a.min && b.min, a.max && b.max);
        }
        if (const Or *op = c.as<Or>()) {
            const Interval a = of(op->a), b = of(op->b);
            return Interval(a.min || b.min, a.max || b.max);
        }
        if (const Not *op = c.as<Not>()) {
            const Interval a = of(op->a);
            return Interval(!a.max, !a.min);
        }
        if (const Call *tag = Call::as_tag(c)) {
            return of(tag->args[0]);
        }
        if (const GT *op = c.as<GT>()) {
            return of(op->b < op->a);
        }
        if (const GE *op = c.as<GE>()) {
            return of(op->b <= op->a);
        }
        auto operands = as_binary_operands(c);
        const bool less = c.as<LT>(), less_equal = c.as<LE>();
        if ((less || less_equal) && operands->first.type().is_int() && operands->first.type().is_scalar() &&
            operands->first.type().bits() >= 32 && repeats_variable(c)) {
            // What both sides share cancels in their difference.
            const Interval d = domain.bounds(operands->first - operands->second);
            const Expr zero = make_zero(operands->first.type());
            auto holds = [&](const Expr &x) { return less ? x < zero : x <= zero; };
            return Interval(d.has_upper_bound() ? holds(d.max) : const_false(),
                            d.has_lower_bound() ? holds(d.min) : const_true());
        }
        return arithmetic.bounds(c);
    }
};

Expr condition_over_domain(const Expr &c, const Scope<Interval> &vars, bool all) {
    SharedExprs shared;
    const Interval i = ConditionBounds(vars, shared).of(simplify(c));
    return simplify(shared.close(all ? i.min : i.max));
}

}  // namespace

Interval bounds_of_expr_in_scope(const Expr &expr, const Scope<Interval> &scope, const FuncValueBounds &func_bounds,
                                 bool const_bound) {
    SharedExprs shared;
    if (!const_bound) {
        return simplified(shared.close(Domain(scope, func_bounds, shared).bounds(expr)));
    }
    ExprBounds arithmetic([&](const std::string &name) { return scope.find(name); }, func_bounds, true, shared);
    return simplified(shared.close(arithmetic.bounds(simplify(expr))));
}

Expr find_constant_bound(const Expr &e, Direction d, const Scope<Interval> &scope) {
    return find_constant_bound(e, d, scope, 32);
}

Expr find_constant_bound(const Expr &e, Direction d, const Scope<Interval> &scope, int cases) {
    return constant_end(e, d == Direction::Upper, scope, cases);
}

Interval find_constant_bounds(const Expr &e, const Scope<Interval> &scope) {
    const Expr min = find_constant_bound(e, Direction::Lower, scope);
    const Expr max = find_constant_bound(e, Direction::Upper, scope);
    Interval i;
    i.min = min.defined() ? min : i.min;
    i.max = max.defined() ? max : i.max;
    return i.is_bounded() && equal(i.min, i.max) ? Interval::single_point(i.min) : i;
}

Expr and_condition_over_domain(const Expr &c, const Scope<Interval> &vars) {
    return condition_over_domain(c, vars, true);
}

Expr or_condition_over_domain(const Expr &c, const Scope<Interval> &vars) {
    return condition_over_domain(c, vars, false);
}

Expr span_of_bounds(const Interval &bounds) {
    internal_assert(bounds.is_bounded()) << "the span of an unbounded interval\n";
    const Expr span = simplify(bounds.max - bounds.min);
    if (is_const(span)) {
        return span;
    }
    const Expr constant = find_constant_bound(span, Direction::Upper);
    return constant.defined() ? constant : span;
}

}  // namespace Internal
}  // namespace Halide
