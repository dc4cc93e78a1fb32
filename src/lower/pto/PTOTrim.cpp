#include "lower/pto/PTOTrim.h"

#include <optional>

#include "analysis/ExprUsesVar.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/Substitute.h"
#include "lower/pto/PTOUtil.h"
#include "simplify/Simplify.h"

namespace Halide {
namespace Internal {

namespace {

class DropPromises : public IRMutator {
    using IRMutator::visit;
    Expr visit(const Call *op) override {
        return op->is_intrinsic({Call::promise_clamped, Call::unsafe_promise_clamped}) ? mutate(op->args[0]) :
                                                                                            IRMutator::visit(op);
    }
};

void split_conditions(const Expr &e, std::vector<Expr> &list) {
    if (const And *a = e.as<And>()) {
        split_conditions(a->a, list);
        split_conditions(a->b, list);
    } else if (const Call *tag = Call::as_tag(e)) {
        split_conditions(tag->args[0], list);
    } else {
        list.push_back(e);
    }
}

class TrimLoops : public IRMutator {
    using IRMutator::visit;

    /// lets { if (conditions) S }, or S.
    struct Body {
        std::vector<const LetStmt *> lets;
        std::vector<Expr> conditions;
        Stmt inner;
    };

    static std::optional<Body> open(const Stmt &s) {
        Body b;
        Stmt body = s;
        while (const LetStmt *let = body.as<LetStmt>()) {
            b.lets.push_back(let);
            body = let->body;
        }
        const IfThenElse *cond = body.as<IfThenElse>();
        if (!cond || cond->else_case.defined()) {
            return std::nullopt;
        }
        split_conditions(cond->condition, b.conditions);
        b.inner = cond->then_case;
        return b;
    }

    static Expr expand(Expr e, const std::vector<const LetStmt *> &lets) {
        for (size_t i = lets.size(); i-- > 0;) {
            if (expr_uses_var(e, lets[i]->name)) {
                e = substitute(lets[i]->name, lets[i]->value, e);
            }
        }
        return e;
    }

    /// How much is left until the condition fails: it holds where this is not negative.
    static Expr room(const Expr &condition) {
        if (const LT *c = condition.as<LT>()) {
            return c->b - c->a - 1;
        }
        if (const LE *c = condition.as<LE>()) {
            return c->b - c->a;
        }
        if (const GT *c = condition.as<GT>()) {
            return c->a - c->b - 1;
        }
        if (const GE *c = condition.as<GE>()) {
            return c->a - c->b;
        }
        return Expr();
    }

    Stmt visit(const For *op) override {
        const Stmt s = IRMutator::visit(op);
        op = s.as<For>();
        if (!op || is_gpu(op->for_type) || op->for_type == ForType::Extern) {
            return s;
        }
        std::optional<Body> body = open(op->body);
        if (!body) {
            return s;
        }
        Expr min = op->min, max = op->max;
        std::vector<Expr> rest;
        for (const Expr &c : body->conditions) {
            const Expr left = room(c);
            if (!left.defined() || left.type() != Int(32) || !is_index_arithmetic(left)) {
                rest.push_back(c);
                continue;
            }
            const Expr r = expand(left, body->lets);
            const Expr step = linear_coefficient(r, op->name);
            const std::optional<int64_t> k = step.defined() ? as_const_int(step) : std::nullopt;
            if (!k || (*k != 1 && *k != -1)) {
                rest.push_back(c);
                continue;
            }
            const Expr at_zero = simplify(substitute(op->name, make_zero(Int(32)), r));
            if (*k == -1) {
                max = Min::make(max, at_zero);    // at_zero - v >= 0
            } else {
                min = Max::make(min, simplify(0 - at_zero));
            }
        }
        if (rest.size() == body->conditions.size()) {
            return s;
        }
        Stmt inner = body->inner;
        if (!rest.empty()) {
            Expr condition = rest[0];
            for (size_t i = 1; i < rest.size(); i++) {
                condition = condition && rest[i];
            }
            inner = IfThenElse::make(condition, inner);
        }
        for (size_t i = body->lets.size(); i-- > 0;) {
            inner = LetStmt::make(body->lets[i]->name, body->lets[i]->value, inner);
        }
        return op->changed(&For::min, simplify(min), &For::max, simplify(max), &For::body, inner);
    }

public:
    using IRMutator::mutate;
    Expr mutate(const Expr &e) override {
        return e;
    }
};

}  // namespace

Stmt pto_trim(const Stmt &s, LowerContext &ctx) {
    return simplify(TrimLoops()(simplify(DropPromises()(s))));
}

}  // namespace Internal
}  // namespace Halide
