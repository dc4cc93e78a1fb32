#include "regions/Solve.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "analysis/ExprUsesVar.h"
#include "ir/IR.h"
#include "ir/IREquality.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/Substitute.h"
#include "simplify/Simplify.h"
#include "support/Error.h"
#include "support/Util.h"

namespace Halide {
namespace Internal {

namespace {

bool exact_type(const Type &t) {
    return t.is_scalar() && t.is_int() && t.bits() >= 32;
}

/// Σ coefficient·term + constant, in exact arithmetic. Terms are distinct and not themselves sums.
struct LinearSum {
    struct Term {
        Expr value;
        int64_t coefficient;
    };
    std::vector<Term> terms;
    int64_t constant = 0;
    bool overflow = false;

    void add(const Expr &e, int64_t coefficient) {
        if (coefficient == 0 || overflow) {
            return;
        }
        if (std::optional<int64_t> c = as_const_int(e)) {
            add_constant(*c, coefficient);
        } else if (const Add *op = e.as<Add>()) {
            add(op->a, coefficient);
            add(op->b, coefficient);
        } else if (const Sub *op = e.as<Sub>()) {
            add(op->a, coefficient);
            add(op->b, negated(coefficient));
        } else if (const Mul *op = e.as<Mul>(); op && as_const_int(op->b)) {
            add(op->a, product(coefficient, *as_const_int(op->b)));
        } else if (const Mul *op = e.as<Mul>(); op && as_const_int(op->a)) {
            add(op->b, product(coefficient, *as_const_int(op->a)));
        } else {
            add_term(e, coefficient);
        }
    }

    /// The sum without its i-th term.
    LinearSum without(size_t i) const {
        LinearSum s = *this;
        s.terms.erase(s.terms.begin() + (std::ptrdiff_t)i);
        return s;
    }

    LinearSum scaled(int64_t factor) {
        LinearSum s = *this;
        for (Term &t : s.terms) {
            t.coefficient = s.product(t.coefficient, factor);
        }
        s.constant = s.product(s.constant, factor);
        return s;
    }

    Expr to_expr(Type t) const {
        Expr result;
        for (const Term &term : terms) {
            Expr magnitude = term.value;
            const bool negative = term.coefficient < 0 && result.defined();
            const int64_t c = negative ? -term.coefficient : term.coefficient;
            if (c != 1) {
                magnitude = magnitude * make_const(t, c);
            }
            result = !result.defined() ? magnitude : negative ? result - magnitude : result + magnitude;
        }
        if (!result.defined()) {
            return make_const(t, constant);
        }
        if (constant > 0) {
            return result + make_const(t, constant);
        }
        return constant < 0 ? result - make_const(t, -constant) : result;
    }

    int64_t product(int64_t a, int64_t b) {
        int64_t r = 0;
        overflow = __builtin_mul_overflow(a, b, &r) || r == INT64_MIN || overflow;
        return overflow ? 0 : r;
    }

private:
    int64_t negated(int64_t a) { return product(a, -1); }

    void add_constant(int64_t c, int64_t coefficient) {
        const int64_t p = product(c, coefficient);
        overflow = __builtin_add_overflow(constant, p, &constant) || overflow;
    }

    void add_term(const Expr &e, int64_t coefficient) {
        for (size_t i = 0; i < terms.size(); i++) {
            if (equal(terms[i].value, e)) {
                overflow = __builtin_add_overflow(terms[i].coefficient, coefficient, &terms[i].coefficient) || overflow;
                if (terms[i].coefficient == 0) {
                    terms.erase(terms.begin() + (std::ptrdiff_t)i);
                }
                return;
            }
        }
        terms.push_back({e, coefficient});
    }
};

/// Solves a condition for one variable.
///
/// Each step splits the condition along and/or/not, or along a min, max or select under a sum, until what is left is
/// linear in the variable. `inner` asks for a sufficient interval, otherwise for a necessary one.
class IntervalSolver {
public:
    IntervalSolver(const std::string &variable, bool inner) : variable(variable), inner(inner) {}

    Interval solve(const Expr &c) {
        if (--budget < 0) {
            return unknown();
        }
        if (is_const_one(c)) {
            return Interval::everything();
        }
        if (is_const_zero(c)) {
            return Interval::nothing();
        }
        if (!expr_uses_var(c, variable)) {
            return unknown();
        }
        if (const And *op = c.as<And>()) {
            return both(solve(op->a), solve(op->b));
        }
        if (const Or *op = c.as<Or>()) {
            return either(solve(op->a), solve(op->b));
        }
        if (const Not *op = c.as<Not>()) {
            return solve_negation(op->a);
        }
        if (const Let *op = c.as<Let>()) {
            return solve(substitute(op->name, op->value, op->body));
        }
        if (const Call *op = c.as<Call>(); op && op->is_tag()) {
            return solve(op->args[0]);
        }
        if (const Select *op = c.as<Select>()) {
            return either(both(solve(op->condition), solve(op->true_value)),
                          both(solve_negation(op->condition), solve(op->false_value)));
        }
        if (const LT *op = c.as<LT>()) {
            return solve_less(op->a, op->b, true);
        }
        if (const GT *op = c.as<GT>()) {
            return solve_less(op->b, op->a, true);
        }
        if (const LE *op = c.as<LE>()) {
            return solve_less(op->a, op->b, false);
        }
        if (const GE *op = c.as<GE>()) {
            return solve_less(op->b, op->a, false);
        }
        if (const EQ *op = c.as<EQ>()) {
            return solve_equal(op->a, op->b);
        }
        return unknown();
    }

private:
    const std::string &variable;
    const bool inner;
    int budget = 256;

    Interval unknown() const { return inner ? Interval::nothing() : Interval::everything(); }

    static Interval both(const Interval &a, const Interval &b) {
        if (a.is_empty() || b.is_empty()) {
            return Interval::nothing();
        }
        return Interval::make_intersection(a, b);
    }

    Interval either(const Interval &a, const Interval &b) const {
        if (a.is_empty()) {
            return b;
        }
        if (b.is_empty()) {
            return a;
        }
        if (!inner) {
            return Interval::make_union(a, b);
        }
        // An interval inside the union: the longer ray if both are rays in one direction, else one of the two.
        if (a.is_everything() || b.is_everything()) {
            return Interval::everything();
        }
        if (!a.has_lower_bound() && !b.has_lower_bound()) {
            return Interval(Interval::neg_inf(), Interval::make_max(a.max, b.max));
        }
        if (!a.has_upper_bound() && !b.has_upper_bound()) {
            return Interval(Interval::make_min(a.min, b.min), Interval::pos_inf());
        }
        const bool b_is_ray = !b.has_lower_bound() || !b.has_upper_bound();
        return b_is_ray ? b : a;
    }

    Interval solve_negation(const Expr &c) {
        if (const Not *op = c.as<Not>()) {
            return solve(op->a);
        }
        if (const And *op = c.as<And>()) {
            return either(solve_negation(op->a), solve_negation(op->b));
        }
        if (const Or *op = c.as<Or>()) {
            return both(solve_negation(op->a), solve_negation(op->b));
        }
        if (const LT *op = c.as<LT>()) {
            return solve(op->b <= op->a);
        }
        if (const LE *op = c.as<LE>()) {
            return solve(op->b < op->a);
        }
        if (const GT *op = c.as<GT>()) {
            return solve(op->a <= op->b);
        }
        if (const GE *op = c.as<GE>()) {
            return solve(op->a < op->b);
        }
        if (const NE *op = c.as<NE>()) {
            return solve(op->a == op->b);
        }
        if (const Call *op = c.as<Call>(); op && op->is_tag()) {
            return solve_negation(op->args[0]);
        }
        if (is_const_zero(c)) {
            return Interval::everything();
        }
        if (is_const_one(c)) {
            return Interval::nothing();
        }
        return unknown();
    }

    Interval solve_less(const Expr &a, const Expr &b, bool strict) {
        if (!exact_type(a.type())) {
            return unknown();
        }
        LinearSum sum;
        sum.add(a, 1);
        sum.add(b, -1);
        if (strict) {
            sum.add(make_one(a.type()), 1);
        }
        return solve_not_positive(sum, a.type());
    }

    Interval solve_equal(const Expr &a, const Expr &b) {
        if (!exact_type(a.type())) {
            return unknown();
        }
        Interval result = both(solve_less(a, b, false), solve_less(b, a, false));
        if (inner && !result.is_single_point() && !(result.is_bounded() && can_prove(result.min == result.max))) {
            // a*x == b has a solution only where a divides b; the two inequalities alone do not say so.
            if (!has_unit_coefficient(a, b)) {
                return Interval::nothing();
            }
        }
        return result;
    }

    bool has_unit_coefficient(const Expr &a, const Expr &b) const {
        LinearSum sum;
        sum.add(a, 1);
        sum.add(b, -1);
        int found = 0;
        for (const LinearSum::Term &t : sum.terms) {
            if (const Variable *v = t.value.as<Variable>(); v && v->name == variable) {
                found += (t.coefficient == 1 || t.coefficient == -1) ? 1 : 2;
            } else if (expr_uses_var(t.value, variable)) {
                return false;
            }
        }
        return found == 1;
    }

    /// Where is the sum ≤ 0?
    Interval solve_not_positive(LinearSum sum, Type t) {
        if (--budget < 0 || sum.overflow) {
            return unknown();
        }
        std::optional<size_t> complex, plain;
        for (size_t i = 0; i < sum.terms.size(); i++) {
            const Expr &v = sum.terms[i].value;
            if (const Variable *var = v.as<Variable>()) {
                if (var->name == variable) {
                    plain = i;
                }
            } else if (!complex && expr_uses_var(v, variable)) {
                complex = i;
            }
        }
        if (complex) {
            return split_term(sum, *complex, plain.has_value(), t);
        }
        if (!plain) {
            Expr c = simplify(sum.to_expr(t) <= make_zero(t));
            return is_const_one(c) ? Interval::everything() : is_const_zero(c) ? Interval::nothing() : unknown();
        }
        // a·x + rest ≤ 0
        const int64_t a = sum.terms[*plain].coefficient;
        LinearSum rest = sum.without(*plain);
        if (a > 0) {
            LinearSum negated = rest.scaled(-1);
            if (negated.overflow) {
                return unknown();
            }
            Expr limit = negated.to_expr(t);
            return Interval(Interval::neg_inf(), simplify(a == 1 ? limit : limit / make_const(t, a)));
        }
        Expr limit = rest.to_expr(t);
        if (a != -1) {
            limit = (limit + make_const(t, -a - 1)) / make_const(t, -a);
        }
        return Interval(simplify(limit), Interval::pos_inf());
    }

    Interval split_term(LinearSum &sum, size_t i, bool also_plain, Type t) {
        const Expr value = sum.terms[i].value;
        const int64_t c = sum.terms[i].coefficient;
        LinearSum rest = sum.without(i);
        auto with = [&](const Expr &e) {
            LinearSum s = rest;
            s.add(e, c);
            return solve_not_positive(s, t);
        };
        if (const Min *op = value.as<Min>()) {
            return c > 0 ? either(with(op->a), with(op->b)) : both(with(op->a), with(op->b));
        }
        if (const Max *op = value.as<Max>()) {
            return c > 0 ? both(with(op->a), with(op->b)) : either(with(op->a), with(op->b));
        }
        if (const Select *op = value.as<Select>()) {
            if (!expr_uses_var(op->condition, variable)) {
                // Which arm is taken is unknown here: both must fit to be sure, either may be it.
                return inner ? both(with(op->true_value), with(op->false_value)) :
                               either(with(op->true_value), with(op->false_value));
            }
            return either(both(solve(op->condition), with(op->true_value)),
                          both(solve_negation(op->condition), with(op->false_value)));
        }
        if (const Let *op = value.as<Let>()) {
            return with(substitute(op->name, op->value, op->body));
        }
        if (const Call *op = value.as<Call>(); op && op->is_tag()) {
            return with(op->args[0]);
        }
        if (const Cast *op = value.as<Cast>(); op && exact_type(op->value.type())) {
            return with_exact_cast(rest, op->value, c, t);
        }
        if (const Div *op = value.as<Div>()) {
            const std::optional<int64_t> k = as_const_int(op->b);
            if (k && *k > 0) {
                return solve_division(rest, op->a, *k, c, also_plain, t);
            }
        }
        if (const Mod *op = value.as<Mod>()) {
            const std::optional<int64_t> k = as_const_int(op->b);
            if (k && *k > 0) {
                // The extreme remainder: the worst for a sufficient interval, the best for a necessary one.
                return with(make_const(t, (c > 0) == inner ? *k - 1 : 0));
            }
        }
        return unknown();
    }

    /// Index arithmetic is exact, so a widening cast is the identity; a narrowing one is too, on live values.
    Interval with_exact_cast(LinearSum rest, const Expr &value, int64_t c, Type t) {
        if (value.type().bits() > t.bits()) {
            return unknown();
        }
        if (const Variable *v = value.as<Variable>(); v && v->name == variable) {
            rest.add(Variable::make(t, variable), c);
            return solve_not_positive(rest, t);
        }
        return unknown();
    }

    /// c·(p / k) + rest ≤ 0 with k > 0.
    Interval solve_division(LinearSum rest, const Expr &p, int64_t k, int64_t c, bool also_plain, Type t) {
        bool elsewhere = also_plain;
        for (const LinearSum::Term &term : rest.terms) {
            elsewhere = elsewhere || expr_uses_var(term.value, variable);
        }
        LinearSum s;
        if (!elsewhere && (c == 1 || c == -1)) {
            // c = 1:  p/k ≤ −rest  ⇔  p ≤ −rest·k + k − 1.     c = −1:  rest ≤ p/k  ⇔  rest·k ≤ p.
            s = rest.scaled(k);
            s.add(p, c);
            if (c == 1) {
                s.add(make_const(t, k - 1), -1);
            }
            return solve_not_positive(s, t);
        }
        // k·(p/k) lies in [p − k + 1, p]: multiply by k and take the end that is safe.
        s = rest.scaled(k);
        s.add(p, c);
        const bool take_upper = (c > 0) == inner;
        if (!take_upper) {
            s.add(make_const(t, k - 1), s.product(c, -1));
        }
        return solve_not_positive(s, t);
    }
};

/// Writes sums with the variable in front, and comparisons with the variable alone on the left.
class ExpressionSolver : public IRMutator {
public:
    ExpressionSolver(const std::string &variable, const Scope<Expr> &scope) : variable(variable), scope(scope) {}

protected:
    using IRMutator::visit;

    Expr visit(const Variable *op) override {
        if (const Expr *value = scope.find(op->name); value && expr_uses_var(*value, variable, scope)) {
            return mutate(*value);
        }
        return op;
    }
    Expr visit(const Let *op) override { return mutate(substitute(op->name, op->value, op->body)); }
    Expr visit(const Add *op) override { return order_sum(op); }
    Expr visit(const Sub *op) override { return order_sum(op); }
    Expr visit(const Mul *op) override { return order_sum(op); }
    Expr visit(const Min *op) override { return order<Min>(op); }
    Expr visit(const Max *op) override { return order<Max>(op); }
    Expr visit(const And *op) override { return order<And>(op); }
    Expr visit(const Or *op) override { return order<Or>(op); }
    Expr visit(const LT *op) override { return compare<LT, GT>(op); }
    Expr visit(const LE *op) override { return compare<LE, GE>(op); }
    Expr visit(const GT *op) override { return compare<GT, LT>(op); }
    Expr visit(const GE *op) override { return compare<GE, LE>(op); }
    Expr visit(const EQ *op) override { return compare<EQ, EQ>(op); }
    Expr visit(const NE *op) override { return compare<NE, NE>(op); }

private:
    const std::string &variable;
    const Scope<Expr> &scope;

    bool uses(const Expr &e) const { return expr_uses_var(e, variable); }

    template<typename T>
    Expr order(const T *op) {
        Expr a = mutate(op->a), b = mutate(op->b);
        return uses(b) && !uses(a) ? T::make(b, a) : T::make(a, b);
    }

    template<typename T>
    Expr order_sum(const T *op) {
        Expr a = mutate(op->a), b = mutate(op->b);
        Expr e = T::make(a, b);
        if (!exact_type(e.type()) || !uses(e)) {
            return e;
        }
        LinearSum sum;
        sum.add(e, 1);
        if (sum.overflow) {
            return e;
        }
        std::stable_partition(sum.terms.begin(), sum.terms.end(),
                              [&](const LinearSum::Term &t) { return uses(t.value); });
        return sum.to_expr(e.type());
    }

    template<typename T, typename Flipped>
    Expr compare(const T *op) {
        Expr a = mutate(op->a), b = mutate(op->b);
        if (uses(b) && !uses(a)) {
            return compare_left<Flipped>(b, a);
        }
        return compare_left<T>(a, b);
    }

    /// a op b: keep multiples of the variable on the left, everything else on the right; divide if exact.
    template<typename T>
    Expr compare_left(const Expr &a, const Expr &b) {
        const Type t = a.type();
        if (!exact_type(t) || !uses(a)) {
            return T::make(a, b);
        }
        LinearSum sum, rest;
        sum.add(a, 1);
        sum.add(b, -1);
        std::vector<LinearSum::Term> left;
        rest.constant = sum.constant;
        for (const LinearSum::Term &term : sum.terms) {
            (uses(term.value) ? left : rest.terms).push_back(term);
        }
        rest = rest.scaled(-1);
        if (sum.overflow || rest.overflow || left.size() != 1) {
            return T::make(a, b);
        }
        const int64_t c = left[0].coefficient;
        const Expr &x = left[0].value;
        Expr limit = rest.to_expr(t);
        if (c == 1) {
            return T::make(x, simplify(limit));
        }
        if (c == -1) {
            return flip<T>(x, simplify(rest.scaled(-1).to_expr(t)));
        }
        return divide<T>(x, c, rest, t);
    }

    /// −x op r  ⇔  x flipped(op) −r
    template<typename T>
    static Expr flip(const Expr &x, const Expr &r) {
        if constexpr (std::is_same_v<T, LT>) {
            return GT::make(x, r);
        } else if constexpr (std::is_same_v<T, LE>) {
            return GE::make(x, r);
        } else if constexpr (std::is_same_v<T, GT>) {
            return LT::make(x, r);
        } else if constexpr (std::is_same_v<T, GE>) {
            return LE::make(x, r);
        } else {
            return T::make(x, r);
        }
    }

    /// c·x op r with |c| > 1.
    template<typename T>
    static Expr divide(const Expr &x, int64_t c, LinearSum r, Type t) {
        if (c < 0) {
            r = r.scaled(-1);
        }
        const Expr rest = r.to_expr(t);
        const Expr k = make_const(t, c < 0 ? -c : c), round = make_const(t, (c < 0 ? -c : c) - 1);
        const Expr below = simplify(rest / k), above = simplify((rest + round) / k);
        if constexpr (std::is_same_v<T, EQ>) {
            return rest % k == make_zero(t) && x == below;
        } else if constexpr (std::is_same_v<T, NE>) {
            return rest % k != make_zero(t) || x != below;
        } else {
            const bool less = std::is_same_v<T, LT> || std::is_same_v<T, LE>;
            const bool strict = std::is_same_v<T, LT> || std::is_same_v<T, GT>;
            if (less == (c > 0)) {
                return strict ? LT::make(x, above) : LE::make(x, below);
            }
            return strict ? GT::make(x, below) : GE::make(x, above);
        }
    }
};

/// How often a variable occurs, and whether it is the leftmost leaf.
bool solved(const Expr &e, const std::string &variable) {
    if (const Variable *v = e.as<Variable>()) {
        return v->name == variable;
    }
    if (!expr_uses_var(e, variable)) {
        return true;
    }
    const auto operands = as_binary_operands(e);
    return operands && !expr_uses_var(operands->second, variable) && solved(operands->first, variable);
}

}  // namespace

SolverResult solve_expression(const Expr &e, const std::string &variable, const Scope<Expr> &scope) {
    Expr result = ExpressionSolver(variable, scope)(e);
    return {result, solved(result, variable)};
}

Interval solve_for_inner_interval(const Expr &c, const std::string &variable) {
    internal_assert(c.type().is_bool() && c.type().is_scalar()) << "solve_for_inner_interval of " << c << "\n";
    Interval i = IntervalSolver(variable, true).solve(simplify(c));
    if (i.is_bounded() && can_prove(i.min > i.max)) {
        return Interval::nothing();
    }
    return i;
}

Interval solve_for_outer_interval(const Expr &c, const std::string &variable) {
    internal_assert(c.type().is_bool() && c.type().is_scalar()) << "solve_for_outer_interval of " << c << "\n";
    Interval i = IntervalSolver(variable, false).solve(simplify(c));
    if (i.is_bounded() && can_prove(i.min > i.max)) {
        return Interval::nothing();
    }
    return i;
}

}  // namespace Internal
}  // namespace Halide
