#include "lower/loops/ConstantExtents.h"

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
