#include "lower/pto/PTOUtil.h"

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

Expr constant_upper_bound(const Expr &e, const std::vector<std::pair<std::string, Expr>> &lets, const Scope<Interval> &bounds) {
    Expr value = simplify(e);
    Expr bound = find_constant_bound(value, Direction::Upper, bounds);
    for (size_t i = lets.size(); i-- > 0 && !bound.defined();) {
        if (expr_uses_var(value, lets[i].first)) {
            value = simplify(substitute(lets[i].first, lets[i].second, value));
            bound = find_constant_bound(value, Direction::Upper, bounds);
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
