#include "lower/pto/PTOUtil.h"

#include <cctype>
#include <cstdlib>

#include "analysis/ExprUsesVar.h"
#include "analysis/ModulusRemainder.h"
#include "ir/IROperator.h"
#include "ir/IRVisitor.h"
#include "ir/Scope.h"
#include "ir/Substitute.h"
#include "regions/Bounds.h"
#include "simplify/Simplify.h"

#include <set>

namespace Halide {
namespace Internal {

bool is_aligned(const Expr &offset, const Type &t) {
    const ModulusRemainder m = modulus_remainder(offset);
    const int64_t n = pto_align_elements(t);
    return (m.modulus == 0 || m.modulus % n == 0) && m.remainder % n == 0;
}

Expr linear_coefficient(const Expr &e, const std::string &var) {
    if (!expr_uses_var(e, var)) {
        return make_zero(e.type());
    }
    const Expr v = Variable::make(Int(32), var);
    const Expr step = simplify(substitute(var, v + 1, e) - e);
    return expr_uses_var(step, var) ? Expr() : step;
}

namespace {

/// The terms of a sum; those that are subtracted in the second list.
void terms_of(const Expr &e, bool negative, std::vector<Expr> &plus, std::vector<Expr> &minus) {
    if (const Add *op = e.as<Add>()) {
        terms_of(op->a, negative, plus, minus);
        terms_of(op->b, negative, plus, minus);
    } else if (const Sub *op = e.as<Sub>()) {
        terms_of(op->a, negative, plus, minus);
        terms_of(op->b, !negative, plus, minus);
    } else {
        (negative ? minus : plus).push_back(e);
    }
}

Expr sum_of(const std::vector<Expr> &plus, const std::vector<Expr> &minus) {
    Expr result = make_zero(Int(32));
    for (const Expr &e : plus) {
        result = result + e;
    }
    for (const Expr &e : minus) {
        result = result - e;
    }
    return simplify(result);
}

/// q/k − p/k + r is at most ⌈(q + r·k − p)/k⌉, in which what q and p share cancels. Extents of Funcs that are read at x/k look
/// like that.
Expr bound_of_quotients(const Expr &e, const Scope<Interval> &bounds, int depth) {
    if (const Expr known = find_constant_bound(e, Direction::Upper, bounds); known.defined() || depth == 0) {
        return known;
    }
    std::vector<Expr> plus, minus;
    terms_of(e, false, plus, minus);
    for (Expr &term : plus) {
        const Max *most = term.as<Max>();
        const Min *least = term.as<Min>();
        if (!most && !least) {
            continue;
        }
        const Expr a = most ? most->a : least->a, b = most ? most->b : least->b;
        term = a;
        const Expr first = bound_of_quotients(sum_of(plus, minus), bounds, depth - 1);
        term = b;
        const Expr second = bound_of_quotients(sum_of(plus, minus), bounds, depth - 1);
        if (!first.defined() || !second.defined()) {
            return most ? Expr() : first.defined() ? first : second;
        }
        return simplify(most ? max(first, second) : min(first, second));
    }
    for (size_t i = 0; i < minus.size(); i++) {
        const Div *p = minus[i].as<Div>();
        const std::optional<int64_t> k = p ? as_const_int(p->b) : std::nullopt;
        if (!k || *k <= 0) {
            continue;
        }
        const Expr factor = make_const(Int(32), *k);
        minus.erase(minus.begin() + (ptrdiff_t)i);
        Expr q = make_zero(Int(32));
        for (size_t j = 0; j < plus.size(); j++) {
            const Div *other = plus[j].as<Div>();
            if (other && is_const(other->b, *k)) {
                q = other->a;
                plus.erase(plus.begin() + (ptrdiff_t)j);
                break;
            }
        }
        const Expr all = bound_of_quotients(simplify(q + sum_of(plus, minus) * factor - p->a), bounds, depth - 1);
        return all.defined() ? simplify((all + (factor - 1)) / factor) : all;
    }
    return Expr();
}

}  // namespace

Expr constant_upper_bound(const Expr &e, const std::vector<std::pair<std::string, Expr>> &lets, const Scope<Interval> &bounds) {
    Expr value = simplify(e);
    constexpr int depth = 6;
    Expr bound = bound_of_quotients(value, bounds, depth);
    for (size_t i = lets.size(); i-- > 0 && !bound.defined();) {
        if (expr_uses_var(value, lets[i].first)) {
            value = simplify(substitute(lets[i].first, lets[i].second, value));
            bound = bound_of_quotients(value, bounds, depth);
        }
    }
    return bound;
}

namespace {

class FreeVariables : public IRGraphVisitor {
    using IRGraphVisitor::visit;
    Scope<> bound;
    std::set<std::string> seen;

    // A shared node may be free in one place and bound in another.
    void include(const Expr &e) override {
        e.accept(this);
    }
    void include(const Stmt &s) override {
        s.accept(this);
    }
    void note(const std::string &name, const Type &t) {
        if (!bound.contains(name) && seen.insert(name).second) {
            found.emplace_back(name, t);
        }
    }
    void visit(const Variable *op) override {
        note(op->name, op->type);
    }
    void visit(const Load *op) override {
        note(op->name, Handle());
        IRGraphVisitor::visit(op);
    }
    void visit(const Store *op) override {
        note(op->name, Handle());
        IRGraphVisitor::visit(op);
    }
    void visit(const Let *op) override {
        include(op->value);
        ScopedBinding<> b(bound, op->name);
        include(op->body);
    }
    void visit(const LetStmt *op) override {
        include(op->value);
        ScopedBinding<> b(bound, op->name);
        include(op->body);
    }
    void visit(const For *op) override {
        include(op->min);
        include(op->max);
        ScopedBinding<> b(bound, op->name);
        include(op->body);
    }
    void visit(const Allocate *op) override {
        for (const Expr &e : op->extents) {
            include(e);
        }
        include(op->condition);
        ScopedBinding<> b(bound, op->name);
        include(op->body);
    }

public:
    std::vector<std::pair<std::string, Type>> found;
};

}  // namespace

std::vector<std::pair<std::string, Type>> free_variables(const Stmt &s) {
    FreeVariables v;
    s.accept(&v);
    return v.found;
}

bool scalar_unit_computes(const Expr &e) {
    bool ok = true;
    const auto integers = [&](auto *self, const auto *op) {
        ok = ok && !op->a.type().is_float();
        self->visit_base(op);
    };
    visit_with(
        e, [&](auto *self, const Add *op) { integers(self, op); }, [&](auto *self, const Sub *op) { integers(self, op); },
        [&](auto *self, const Mul *op) { integers(self, op); }, [&](auto *self, const Div *op) { integers(self, op); },
        [&](auto *self, const Mod *op) { integers(self, op); }, [&](auto *self, const Min *op) { integers(self, op); },
        [&](auto *self, const Max *op) { integers(self, op); }, [&](auto *self, const EQ *op) { integers(self, op); },
        [&](auto *self, const NE *op) { integers(self, op); }, [&](auto *self, const LT *op) { integers(self, op); },
        [&](auto *self, const LE *op) { integers(self, op); }, [&](auto *self, const GT *op) { integers(self, op); },
        [&](auto *self, const GE *op) { integers(self, op); },
        [&](auto *self, const Cast *op) {
            ok = ok && !op->type.is_float() && !op->value.type().is_float();
            self->visit_base(op);
        },
        [&](auto *, const Reinterpret *) { ok = false; },
        [&](auto *self, const Call *op) {
            const bool shift = op->is_intrinsic({Call::shift_left, Call::shift_right});
            ok = ok && (op->call_type == Call::Halide || op->call_type == Call::Image || op->is_tag() ||
                        op->is_intrinsic({Call::bitwise_and, Call::bitwise_or, Call::bitwise_xor, Call::promise_clamped,
                                          Call::unsafe_promise_clamped, Call::pto_block_idx, Call::pto_block_num}) ||
                        (shift && is_const(op->args[1])) || (op->is_intrinsic(Call::abs) && !op->args[0].type().is_float()));
            self->visit_base(op);
        });
    return ok;
}

std::string var_of_loop(const std::string &name) {
    const size_t stage = name.find(".s");
    const size_t var = stage == std::string::npos ? stage : name.find('.', stage + 1);
    std::string result = var != std::string::npos && isdigit((unsigned char)name[stage + 2]) ? name.substr(var + 1) : name;
    // What vectorize(x, 8) splits off is x.v8.
    const size_t part = result.rfind(".v");
    if (part != std::string::npos && part + 2 < result.size() &&
        result.find_first_not_of("0123456789", part + 2) == std::string::npos) {
        result.resize(part);
    }
    // What split(x, xo, xi, 8) makes of x is x.xo and x.xi.
    return result.substr(result.rfind('.') == std::string::npos ? 0 : result.rfind('.') + 1);
}

std::string loop_in_words(const std::string &name) {
    const size_t stage = name.find(".s");
    if (stage == std::string::npos || !isdigit((unsigned char)name[stage + 2])) {
        return "the loop over " + name;
    }
    const int number = atoi(name.c_str() + stage + 2);
    return "the loop over " + var_of_loop(name) + " in " +
           (number == 0 ? std::string("the pure definition") : "update " + std::to_string(number - 1)) + " of " +
           name.substr(0, stage);
}

bool is_index_arithmetic(const Expr &e) {
    bool result = true;
    visit_with(
        e, [&](auto *, const Load *) { result = false; },
        [&](auto *self, const Call *op) {
            result = result && op->is_pure() && op->call_type != Call::Image && op->call_type != Call::Halide;
            self->visit_base(op);
        });
    return result;
}

}  // namespace Internal
}  // namespace Halide
