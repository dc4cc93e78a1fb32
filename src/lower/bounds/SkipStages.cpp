#include "lower/bounds/SkipStages.h"

#include "analysis/ExprUsesVar.h"
#include "analysis/NameIndex.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRVisitor.h"
#include "ir/Substitute.h"
#include "regions/Bounds.h"
#include "simplify/Simplify.h"
#include "support/Util.h"

namespace Halide {
namespace Internal {

namespace {

/// Whether a condition can be asked before anything is computed.
bool can_be_asked_early(const Expr &e) {
    bool early = true;
    visit_with(
        e,
        [&](auto *self, const Call *op) {
            early = early && op->call_type != Call::Halide && op->call_type != Call::Image && op->is_pure();
            self->visit_base(op);
        },
        [&](auto *, const Load *) { early = false; });
    return early;
}

/// Under which condition a statement uses values of a Func, in terms of what is free in the statement.
class FindUse : public IRVisitor {
    using IRVisitor::visit;
    const std::string &func;
    const bool selects_guard;
    const NameIndex &index;

    void walk(const Stmt &s) {
        if (index.may_mention(s, func)) {
            s.accept(this);
        }
    }
    Expr in(const Expr &e) {
        ScopedValue<Expr> fresh(use, const_false());
        e.accept(this);
        return use;
    }
    Expr in(const Stmt &s) {
        ScopedValue<Expr> fresh(use, const_false());
        walk(s);
        return use;
    }
    bool certain() const {
        return is_const_one(use);
    }
    void add(const Expr &condition) {
        if (certain() || is_const_zero(condition)) {
            return;
        }
        use = is_const_one(condition) || is_const_zero(use) ? condition : simplify(use || condition);
    }

    template<typename Case>
    void branch(const Expr &condition, const Case &true_case, const Case &false_case) {
        add(in(condition));
        if (certain()) {
            return;
        }
        const Expr t = in(true_case), f = false_case.defined() ? in(false_case) : const_false();
        if (is_const_zero(t) && is_const_zero(f)) {
            return;
        }
        // What is marked as likely holds at some time: it is not worth asking.
        const Expr c = condition;
        if (Call::as_tag(c) || !can_be_asked_early(c)) {
            add(t);
            add(f);
            return;
        }
        if (!is_const_zero(t)) {
            add(simplify(c && t));
        }
        if (!is_const_zero(f)) {
            add(simplify(!c && f));
        }
    }

    void visit(const IfThenElse *op) override {
        branch(op->condition, op->then_case, op->else_case);
    }
    void visit(const Select *op) override {
        if (selects_guard && op->condition.type().is_scalar()) {
            branch(op->condition, op->true_value, op->false_value);
        } else {
            IRVisitor::visit(op);
        }
    }
    void visit(const Call *op) override {
        if (certain()) {
            return;
        }
        if (op->name == func && op->call_type == Call::Halide) {
            add(const_true());
            return;
        }
        if (op->is_intrinsic(Call::if_then_else) && op->args[0].type().is_scalar()) {
            branch(op->args[0], op->args[1], op->args.size() > 2 ? op->args[2] : Expr());
            return;
        }
        IRVisitor::visit(op);
    }
    void visit(const Variable *op) override {
        // An extern stage reads through a buffer.
        if (op->type.is_handle() && starts_with(op->name, func + ".") && ends_with(op->name, ".buffer")) {
            add(const_true());
        }
    }
    void visit(const ProducerConsumer *op) override {
        if (!(op->is_producer && op->name == func)) {
            IRVisitor::visit(op);
        }
    }

    /// The condition outside of the definition of a name.
    Expr leave(const Expr &condition, const std::string &name, const Expr &value) {
        if (is_const(condition) || !expr_uses_var(condition, name)) {
            return condition;
        }
        return can_be_asked_early(value) ? simplify(substitute(name, value, condition)) : const_true();
    }
    void visit(const LetStmt *op) override {
        add(in(op->value));
        if (!certain()) {
            add(leave(in(op->body), op->name, op->value));
        }
    }
    void visit(const Let *op) override {
        add(in(op->value));
        if (!certain()) {
            add(leave(in(op->body), op->name, op->value));
        }
    }
    void visit(const For *op) override {
        add(in(op->min));
        add(in(op->max));
        if (certain()) {
            return;
        }
        Expr inside = in(op->body);
        if (!is_const(inside) && expr_uses_var(inside, op->name)) {
            if (!can_be_asked_early(op->min) || !can_be_asked_early(op->max)) {
                inside = const_true();
            } else {
                Scope<Interval> scope;
                scope.push(op->name, Interval(op->min, op->max));
                inside = or_condition_over_domain(inside, scope);
            }
        }
        add(inside);
    }
    void visit(const Block *op) override {
        walk(op->first);
        if (!certain()) {
            walk(op->rest);
        }
    }
    // These name the Func without using values.
    void visit(const Prefetch *op) override {
        op->body.accept(this);
    }

public:
    Expr use = const_false();
    FindUse(const std::string &func, bool selects_guard, const NameIndex &index)
        : func(func), selects_guard(selects_guard), index(index) {
    }
};

class GuardProduction : public IRMutator {
    using IRMutator::visit;
    const std::string &func;
    const Expr &condition;
    Stmt visit(const ProducerConsumer *op) override {
        if (op->is_producer && op->name == func) {
            return IfThenElse::make(condition, op);
        }
        return IRMutator::visit(op);
    }

public:
    using IRMutator::mutate;
    GuardProduction(const std::string &func, const Expr &condition) : func(func), condition(condition) {
    }
    Expr mutate(const Expr &e) override {
        return e;
    }
};

class SkipStages : public IRMutator {
    using IRMutator::visit;
    LowerContext &ctx;
    const NameIndex index;

    Stmt visit(const Realize *op) override {
        // Inside first: a consumer that is skipped itself does not need its producers.
        Stmt body = mutate(op->body);
        Expr condition = op->condition;
        auto find = [&](bool selects_guard) {
            FindUse finder(op->name, selects_guard, index);
            body.accept(&finder);
            return simplify(finder.use);
        };
        const Expr computed = ctx.env.count(op->name) ? find(true) : const_true();
        if (!is_const_one(computed)) {
            // Both sides of a select are loaded, so the memory must exist.
            const Expr allocated = find(false);
            if (!is_const(computed)) {
                ctx.explain(op->name + " is computed only under a condition");
            }
            body = GuardProduction(op->name, computed).mutate(body);
            condition = is_const_one(condition) ? allocated : condition && allocated;
        }
        return op->with(op->bounds, condition, body);
    }

public:
    using IRMutator::mutate;
    Expr mutate(const Expr &e) override {
        return e;
    }
    SkipStages(const Stmt &s, LowerContext &ctx) : ctx(ctx), index(s) {
    }
};

}  // namespace

Stmt skip_stages(const Stmt &s, LowerContext &ctx) {
    return SkipStages(s, ctx)(s);
}

}  // namespace Internal
}  // namespace Halide
