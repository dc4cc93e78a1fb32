#include "lower/loops/ConstantExtents.h"

#include <map>
#include <string>
#include <vector>

#include "ir/IREquality.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "regions/EnclosingLets.h"
#include "simplify/Simplify.h"

namespace Halide {
namespace Internal {

namespace {

class ConstantExtents : public IRMutator {
    EnclosingLets lets;

    using IRMutator::visit;

    /// Lets come in long chains: walked by iteration.
    Stmt visit(const LetStmt *op) override {
        std::vector<const LetStmt *> chain;
        Stmt body;
        for (const LetStmt *let = op; let; let = body.as<LetStmt>()) {
            chain.push_back(let);
            lets.push(let->name, let->value);
            body = let->body;
        }
        body = mutate(body);
        for (size_t i = chain.size(); i-- > 0;) {
            lets.pop(chain[i]->name);
            body = chain[i]->with(chain[i]->value, body);
        }
        return body;
    }

    /// What a condition says about the values of names: a specialization for one size is asked for to unroll or vectorize
    /// by it.
    void collect_values(const Expr &condition, bool holds, std::map<std::string, Expr> &found) {
        if (const Variable *v = condition.as<Variable>()) {
            if (const Expr *value = lets.find(v->name)) {
                collect_values(*value, holds, found);
            }
        } else if (const Not *n = condition.as<Not>()) {
            collect_values(n->a, !holds, found);
        } else if (const And *a = holds ? condition.as<And>() : nullptr) {
            collect_values(a->a, holds, found);
            collect_values(a->b, holds, found);
        } else if (const Or *o = holds ? nullptr : condition.as<Or>()) {
            collect_values(o->a, holds, found);
            collect_values(o->b, holds, found);
        } else if (const EQ *eq = holds ? condition.as<EQ>() : nullptr) {
            add_value(eq->a, eq->b, found);
        } else if (const NE *ne = holds ? nullptr : condition.as<NE>()) {
            add_value(ne->a, ne->b, found);
        }
    }

    void add_value(const Expr &a, const Expr &b, std::map<std::string, Expr> &found) {
        const bool swap = is_const(a);
        const Variable *v = (swap ? b : a).as<Variable>();
        const Expr &value = swap ? a : b;
        if (v && is_const(value)) {
            found.emplace(v->name, value);
        }
    }

    Stmt mutate_branch(const Stmt &s, const Expr &condition, bool holds) {
        if (!s.defined()) {
            return s;
        }
        std::map<std::string, Expr> found;
        collect_values(condition, holds, found);
        for (const auto &[name, value] : found) {
            lets.push(name, value);
        }
        Stmt result = mutate(s);
        for (const auto &[name, value] : found) {
            lets.pop(name);
        }
        return result;
    }

    Stmt visit(const IfThenElse *op) override {
        const Stmt then_case = mutate_branch(op->then_case, op->condition, true);
        const Stmt else_case = mutate_branch(op->else_case, op->condition, false);
        return op->changed(&IfThenElse::then_case, then_case, &IfThenElse::else_case, else_case);
    }

    Stmt visit(const For *op) override {
        const Stmt body = mutate(op->body);
        Expr max = op->max;
        if (!is_const(op->min) || !is_const(op->max)) {
            const Expr count = lets.simplify_to_constant(op->max - op->min);
            if (is_const(count)) {
                max = is_const_zero(count) ? op->min : simplify(op->min + count);
            }
        }
        return max.same_as(op->max) || equal(max, op->max) ? op->changed(&For::body, body) :
                                                            op->changed(&For::max, max, &For::body, body);
    }

public:
    using IRMutator::mutate;
    Expr mutate(const Expr &e) override {
        return e;
    }
};

}  // namespace

Stmt constant_extents(const Stmt &s, LowerContext &ctx) {
    return ConstantExtents()(s);
}

}  // namespace Internal
}  // namespace Halide
