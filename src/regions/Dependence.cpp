#include "regions/Dependence.h"

#include "analysis/ExprUsesVar.h"
#include "ir/IR.h"
#include "ir/IREquality.h"
#include "ir/IROperator.h"
#include "ir/IRVisitor.h"
#include "ir/Substitute.h"
#include "regions/Associativity.h"
#include "simplify/Simplify.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <optional>
#include <set>

namespace Halide {
namespace Internal {

namespace {

/// Name of a reduction variable in the second of two iterations that are compared.
std::string other(const std::string &name) {
    return name + ".other_iteration";
}

/// A sum of constants times terms. A term is a variable, or something that is not linear.
struct LinearSum {
    std::map<Expr, int64_t, IRDeepCompare> terms;
    int64_t constant = 0;

    void add_term(const Expr &e, int64_t scale) {
        auto [it, inserted] = terms.emplace(e, scale);
        if (!inserted && (it->second += scale) == 0) {
            terms.erase(it);
        }
    }

    void add(const Expr &e, int64_t scale) {
        if (const std::optional<int64_t> c = as_const_int(e)) {
            constant += *c * scale;
        } else if (const Add *op = e.as<Add>()) {
            add(op->a, scale);
            add(op->b, scale);
        } else if (const Sub *op = e.as<Sub>()) {
            add(op->a, scale);
            add(op->b, -scale);
        } else if (const Mul *op = e.as<Mul>(); op && as_const_int(op->b)) {
            add(op->a, scale * *as_const_int(op->b));
        } else if (const Mul *op = e.as<Mul>(); op && as_const_int(op->a)) {
            add(op->b, scale * *as_const_int(op->a));
        } else if (const Call *tag = Call::as_tag(e)) {
            add(tag->args[0], scale);
        } else if (scale != 0) {
            add_term(e, scale);
        }
    }

    int64_t coefficient(const std::string &name) const {
        for (const auto &[term, c] : terms) {
            const Variable *v = term.as<Variable>();
            if (v && v->name == name) {
                return c;
            }
        }
        return 0;
    }
};

/// Places of the function that its own update reads.
class FindSelfReads : public IRGraphVisitor {
    using IRGraphVisitor::visit;
    const std::string &func;
    void visit(const Call *op) override {
        IRGraphVisitor::visit(op);
        if (op->call_type == Call::Halide && op->name == func) {
            places.push_back(op->args);
        }
    }

public:
    std::vector<std::vector<Expr>> places;
    explicit FindSelfReads(const std::string &func) : func(func) {
    }
};

/// Two iterations of the update that differ in one reduction variable.
class TwoIterations {
    const std::string rvar;
    const std::vector<ReductionVariable> &rvars;
    std::map<std::string, Expr> renamed;
    std::set<std::string> varying;

    std::optional<int64_t> extent(const std::string &name) const {
        for (const ReductionVariable &rv : rvars) {
            if (rv.var == name) {
                return as_const_int(simplify(rv.extent));
            }
        }
        return {};
    }

    /// May c·d + rest be zero, where d is a difference of values of `rvar` of this sign, and the rest from low to high?
    static bool may_vanish(int64_t c, int sign, int64_t low, int64_t high) {
        // c·sign·d for d ≥ 1 is at least |c| away from 0, on one side.
        const int64_t step = c * sign;
        if (step > 0) {
            return !(low + step > 0);
        }
        if (step < 0) {
            return !(high + step < 0);
        }
        return low <= 0 && high >= 0;
    }

    /// Can the two iterations have equal values of an index, of which `sum` is the difference?
    bool may_be_equal(const LinearSum &sum) const {
        // r − r' are the only terms left: solve.
        const int64_t c = sum.coefficient(rvar), c_other = sum.coefficient(other(rvar));
        int64_t divisor = 0;
        bool all_integer_variables = true;
        size_t own_terms = (c != 0) + (c_other != 0);
        for (const auto &[term, k] : sum.terms) {
            divisor = std::gcd(divisor, std::abs(k));
            if (!term.as<Variable>()) {
                all_integer_variables = false;
            }
        }
        if (sum.terms.empty()) {
            return sum.constant == 0;
        }
        if (divisor > 1 && sum.constant % divisor != 0) {
            return false;
        }
        if (c != -c_other) {
            return true;
        }
        if (c != 0 && own_terms == sum.terms.size()) {
            if (sum.constant == 0) {
                return false;
            }
            const std::optional<int64_t> e = extent(rvar);
            return !(e && std::abs(sum.constant / c) >= *e);
        }
        // The other reduction variables move the sum within a range: does the step of r leave it?
        if (!all_integer_variables) {
            return true;
        }
        int64_t low = sum.constant, high = sum.constant;
        std::set<std::string> done = {rvar, other(rvar)};
        for (const auto &[term, k] : sum.terms) {
            const std::string &name = term.as<Variable>()->name;
            if (done.count(name)) {
                continue;
            }
            std::string base = name;
            for (const ReductionVariable &rv : rvars) {
                if (other(rv.var) == name) {
                    base = rv.var;
                }
            }
            const int64_t k1 = sum.coefficient(base), k2 = sum.coefficient(other(base));
            const std::optional<int64_t> e = extent(base);
            if (!varying.count(base) || !e || k1 != -k2) {
                return true;
            }
            const int64_t reach = std::abs(k1) * std::max<int64_t>(*e - 1, 0);
            low -= reach;
            high += reach;
            done.insert(base);
            done.insert(other(base));
        }
        return (may_vanish(c, 1, low, high) || may_vanish(c, -1, low, high)) && may_meet_grid(sum, c);
    }

    /// The other terms are multiples of a number: can r's own term be one, up to the constant? As in r.x + 10·r.y with r.x
    /// below 10.
    bool may_meet_grid(const LinearSum &sum, int64_t c) const {
        int64_t grid = 0;
        for (const auto &[term, k] : sum.terms) {
            const std::string &name = term.as<Variable>()->name;
            if (name != rvar && name != other(rvar)) {
                grid = std::gcd(grid, std::abs(k));
            }
        }
        const std::optional<int64_t> e = extent(rvar);
        constexpr int64_t most = 4096;
        if (grid == 0 || !e || c == 0 || grid / std::gcd(grid, std::abs(c)) > most) {
            return true;
        }
        const int64_t period = grid / std::gcd(grid, std::abs(c));
        for (int64_t d = 1; d < *e && d <= period; d++) {
            if ((c * d + sum.constant) % grid == 0 || (-c * d + sum.constant) % grid == 0) {
                return true;
            }
        }
        return false;
    }

public:
    TwoIterations(const std::string &rvar, const std::vector<ReductionVariable> &rvars) : rvar(rvar), rvars(rvars) {
        for (const ReductionVariable &rv : rvars) {
            renamed[rv.var] = Variable::make(Int(32), other(rv.var));
            varying.insert(rv.var);
        }
    }

    /// Can place `a` in one iteration be place `b` in another?
    bool may_coincide(const std::vector<Expr> &a, const std::vector<Expr> &b) const {
        std::map<std::string, Expr> rename = renamed;
        // Dimensions that force another reduction variable to be equal in both help to decide the others.
        std::set<std::string> equal_vars;
        for (bool progress = true; progress;) {
            progress = false;
            for (size_t i = 0; i < a.size(); i++) {
                LinearSum sum;
                sum.add(simplify(a[i]), 1);
                sum.add(simplify(substitute(rename, b[i])), -1);
                if (!may_be_equal(sum)) {
                    return false;
                }
                if (sum.terms.size() != 2 || sum.constant != 0) {
                    continue;
                }
                for (const ReductionVariable &rv : rvars) {
                    const int64_t c = sum.coefficient(rv.var);
                    if (rv.var != rvar && c != 0 && c == -sum.coefficient(other(rv.var)) &&
                        equal_vars.insert(rv.var).second) {
                        rename[rv.var] = Variable::make(Int(32), rv.var);
                        progress = true;
                    }
                }
            }
        }
        return true;
    }
};

/// Reduction variables in expressions of a definition, as plain variables.
std::vector<Expr> plain_variables(const std::vector<Expr> &exprs, const std::vector<ReductionVariable> &rvars) {
    std::map<std::string, Expr> plain;
    for (const ReductionVariable &rv : rvars) {
        plain[rv.var] = Variable::make(Int(32), rv.var);
    }
    std::vector<Expr> result;
    for (const Expr &e : exprs) {
        result.push_back(substitute(plain, substitute_in_all_lets(e)));
    }
    return result;
}

}  // namespace

bool can_parallelize_rvar(const std::string &rvar, const std::string &func, const std::vector<Expr> &args_in,
                          const std::vector<Expr> &values_in, const Expr &predicate,
                          const std::vector<ReductionVariable> &rvars) {
    const std::vector<Expr> args = plain_variables(args_in, rvars), values = plain_variables(values_in, rvars);
    FindSelfReads reads(func);
    for (const std::vector<Expr> *list : {&args, &values}) {
        for (const Expr &e : *list) {
            e.accept(&reads);
        }
    }
    if (predicate.defined()) {
        for (const Expr &e : plain_variables({predicate}, rvars)) {
            e.accept(&reads);
        }
    }
    const TwoIterations iterations(rvar, rvars);
    if (iterations.may_coincide(args, args)) {
        return false;
    }
    return std::none_of(reads.places.begin(), reads.places.end(), [&](const std::vector<Expr> &place) {
        return iterations.may_coincide(args, place) || iterations.may_coincide(place, args);
    });
}

bool can_reorder_rvars(const std::vector<std::string> &rvars_moved, const std::string &func,
                       const std::vector<Expr> &args, const std::vector<Expr> &values, const Expr &predicate,
                       const std::vector<ReductionVariable> &rvars) {
    // If all but one of them are free of dependences, two iterations that touch the same place differ in that one only,
    // and keep their order.
    int dependent = 0;
    for (const std::string &name : rvars_moved) {
        dependent += !can_parallelize_rvar(name, func, args, values, predicate, rvars);
    }
    if (dependent <= 1) {
        return true;
    }
    // The same value goes to a place in whatever order.
    FindSelfReads reads(func);
    std::set<std::string> names;
    for (const ReductionVariable &rv : rvars) {
        names.insert(rv.var);
    }
    bool values_vary = false;
    for (const Expr &v : values) {
        v.accept(&reads);
        values_vary |= uses_any_var(v, names);
    }
    for (const Expr &a : args) {
        a.accept(&reads);
    }
    if (predicate.defined()) {
        predicate.accept(&reads);
    }
    if (reads.places.empty() && !values_vary) {
        return true;
    }
    if (predicate.defined()) {
        FindSelfReads in_predicate(func);
        predicate.accept(&in_predicate);
        if (!in_predicate.places.empty()) {
            return false;
        }
    }
    const AssociativeOp op = prove_associativity(func, args, values);
    return op.associative() && op.commutative();
}

}  // namespace Internal
}  // namespace Halide
