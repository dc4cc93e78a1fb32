#include "lower/vector/NarrowIndices.h"

#include <optional>

#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/Scope.h"

namespace Halide {
namespace Internal {

namespace {

bool is_exact(const Type &t) {
    return t.is_int() && t.bits() == 32;
}

class NarrowIndicesMutator : public IRMutator {
protected:
    using IRMutator::visit;

    Expr visit(const Load *op) override {
        Expr predicate = mutate(op->predicate);
        Expr index = address(op->index);
        if (predicate.same_as(op->predicate) && index.same_as(op->index)) {
            return op;
        }
        return op->changed(&Load::index, index, &Load::predicate, predicate);
    }

    Stmt visit(const Store *op) override {
        Expr predicate = mutate(op->predicate), value = mutate(op->value);
        Expr index = address(op->index);
        if (predicate.same_as(op->predicate) && index.same_as(op->index) && value.same_as(op->value)) {
            return op;
        }
        return op->changed(&Store::index, index, &Store::predicate, predicate, &Store::value, value);
    }

    // let t = x*4 in … A[t] …   →   let t = x*4, t.wide = i64(x)*4 in … A[t.wide] …
    Stmt visit(const LetStmt *op) override {
        Expr value = mutate(op->value);
        if (!has_wide_form(op->value)) {
            ScopedBinding<int> hide(wide_lets, op->name, no_wide_form);
            Stmt body = mutate(op->body);
            return value.same_as(op->value) && body.same_as(op->body) ? Stmt(op) : LetStmt::make(op->name, value, body);
        }
        const std::string name = op->name + ".wide";
        Expr wide = widen(op->value);
        ScopedBinding<int> bind(wide_lets, op->name, 0);
        Stmt body = mutate(op->body);
        if (wide_lets.get(op->name) != 0) {
            body = LetStmt::make(name, wide, body);
        }
        return LetStmt::make(op->name, value, body);
    }

    Expr visit(const Let *op) override {
        Expr value = mutate(op->value);
        if (!has_wide_form(op->value)) {
            ScopedBinding<int> hide(wide_lets, op->name, no_wide_form);
            Expr body = mutate(op->body);
            return value.same_as(op->value) && body.same_as(op->body) ? Expr(op) : Let::make(op->name, value, body);
        }
        Expr wide = widen(op->value);
        ScopedBinding<int> bind(wide_lets, op->name, 0);
        Expr body = mutate(op->body);
        if (wide_lets.get(op->name) != 0) {
            body = Let::make(op->name + ".wide", wide, body);
        }
        return Let::make(op->name, value, body);
    }

    Stmt visit(const For *op) override {
        ScopedBinding<int> hide(wide_lets, op->name, no_wide_form);
        return IRMutator::visit(op);
    }

private:
    /// Lets that have a wide form, and whether it is used; or that this name, bound again further in, has none.
    Scope<int> wide_lets;
    static constexpr int no_wide_form = -1;

    static bool is_arithmetic(const Expr &e) {
        switch (e.node_type()) {
        case IRNodeType::Add:
        case IRNodeType::Sub:
        case IRNodeType::Mul:
        case IRNodeType::Min:
        case IRNodeType::Max:
        case IRNodeType::Select:
            return true;
        default:
            return false;
        }
    }

    bool has_wide_form(const Expr &e) const { return e.type().is_scalar() && is_exact(e.type()) && is_arithmetic(e); }

    Expr address(const Expr &index) {
        if (!index.type().element_of().is_int() || index.type().bits() > 32) {
            return mutate(index);
        }
        if (index.type().is_scalar()) {
            return widen(index);
        }
        if (const Ramp *ramp = index.as<Ramp>(); ramp && ramp->base.type().is_scalar()) {
            return Ramp::make(widen(ramp->base), widen(ramp->stride), ramp->lanes);
        }
        return mutate(index);
    }

    /// The 64-bit form of an exact 32-bit scalar. Division is left narrow: it is slow, and its operands are leaves.
    Expr widen(const Expr &e) {
        if (!e.type().is_scalar() || !is_exact(e.type())) {
            return mutate(e);
        }
        if (std::optional<int64_t> c = as_const_int(e)) {
            return make_const(Int(64), *c);
        }
        if (const Variable *op = e.as<Variable>()) {
            if (const int *state = wide_lets.find(op->name); state && *state != no_wide_form) {
                wide_lets.ref(op->name) = 1;
                return Variable::make(Int(64), op->name + ".wide");
            }
            return cast(Int(64), e);
        }
        if (const Add *op = e.as<Add>()) {
            return Add::make(widen(op->a), widen(op->b));
        }
        if (const Sub *op = e.as<Sub>()) {
            return Sub::make(widen(op->a), widen(op->b));
        }
        if (const Mul *op = e.as<Mul>()) {
            return Mul::make(widen(op->a), widen(op->b));
        }
        if (const Min *op = e.as<Min>()) {
            return Min::make(widen(op->a), widen(op->b));
        }
        if (const Max *op = e.as<Max>()) {
            return Max::make(widen(op->a), widen(op->b));
        }
        if (const Select *op = e.as<Select>()) {
            return Select::make(mutate(op->condition), widen(op->true_value), widen(op->false_value));
        }
        if (const Let *op = e.as<Let>()) {
            Expr value = mutate(op->value);
            if (!has_wide_form(op->value)) {
                ScopedBinding<int> hide(wide_lets, op->name, no_wide_form);
                return Let::make(op->name, value, widen(op->body));
            }
            Expr wide = widen(op->value);
            ScopedBinding<int> bind(wide_lets, op->name, 0);
            Expr body = widen(op->body);
            return Let::make(op->name, value, Let::make(op->name + ".wide", wide, body));
        }
        return cast(Int(64), mutate(e));
    }
};

}  // namespace

Stmt narrow_indices(const Stmt &s, LowerContext &ctx) {
    if (ctx.target.bits != 64) {
        return s;
    }
    return NarrowIndicesMutator()(s);
}

}  // namespace Internal
}  // namespace Halide
