#include "lower/loops/TrimNoOps.h"

#include "analysis/ExprUsesVar.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRVisitor.h"
#include "ir/Scope.h"
#include "ir/Substitute.h"
#include "regions/Bounds.h"
#include "regions/Solve.h"
#include "simplify/Simplify.h"

namespace Halide {
namespace Internal {

namespace {

/// A condition outside of which a statement does nothing, as far as its if-nodes show. Undefined: always does something.
Expr effect_condition(const Stmt &s) {
    if (const IfThenElse *op = s.as<IfThenElse>()) {
        if (op->else_case.defined() || !is_pure(op->condition)) {
            return Expr();
        }
        Expr inner = effect_condition(op->then_case);
        return inner.defined() ? op->condition && inner : op->condition;
    }
    if (const LetStmt *op = s.as<LetStmt>()) {
        Expr c = effect_condition(op->body);
        if (!c.defined() || !expr_uses_var(c, op->name)) {
            return c;
        }
        return is_pure(op->value) ? graph_substitute(op->name, op->value, c) : Expr();
    }
    if (const ProducerConsumer *op = s.as<ProducerConsumer>()) {
        return effect_condition(op->body);
    }
    if (const Block *op = s.as<Block>()) {
        Expr a = effect_condition(op->first), b = effect_condition(op->rest);
        return a.defined() && b.defined() ? a || b : Expr();
    }
    if (const For *op = s.as<For>()) {
        Expr c = effect_condition(op->body);
        if (!c.defined() || !expr_uses_var(c, op->name)) {
            return c;
        }
        Scope<Interval> scope;
        scope.push(op->name, Interval(op->min, op->max));
        c = or_condition_over_domain(c, scope);
        return expr_uses_var(c, op->name) ? Expr() : c;
    }
    return Expr();
}

class TrimNoOpsMutator : public IRMutator {
protected:
    using IRMutator::visit;

    Stmt visit(const For *op) override {
        Stmt s = IRMutator::visit(op);
        op = s.as<For>();
        if (!op || is_gpu(op->for_type) || op->for_type == ForType::Extern) {
            return s;
        }
        Expr condition = effect_condition(op->body);
        if (!condition.defined() || !condition.type().is_scalar()) {
            return s;
        }
        condition = simplify(remove_likelies(condition));
        if (!expr_uses_var(condition, op->name)) {
            return s;
        }
        Interval i = solve_for_outer_interval(condition, op->name);
        if (i.is_empty()) {
            return Evaluate::make(0);
        }
        Expr min = op->min, max = op->max;
        if (i.has_lower_bound()) {
            min = Max::make(min, cast(min.type(), i.min));
        }
        if (i.has_upper_bound()) {
            max = Min::make(max, cast(max.type(), i.max));
        }
        if (min.same_as(op->min) && max.same_as(op->max)) {
            return s;
        }
        return For::make(op->name, simplify(min), simplify(max), op->for_type, op->partition_policy, op->device_api,
                         op->body)
            .as<For>()
            ->with_hint(op->hint);
    }
};

}  // namespace

Stmt trim_no_ops(const Stmt &s, LowerContext &ctx) {
    return TrimNoOpsMutator()(s);
}

}  // namespace Internal
}  // namespace Halide
