#include "lower/loops/RebaseLoops.h"

#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "simplify/Simplify.h"

namespace Halide {
namespace Internal {

namespace {

class RebaseLoopsMutator : public IRMutator {
protected:
    using IRMutator::visit;

    Stmt visit(const For *op) override {
        Stmt body = mutate(op->body);
        if (is_const_zero(op->min)) {
            return op->changed(&For::body, body);
        }
        const std::string name = op->name + ".rebased";
        Expr x = Variable::make(op->min.type(), name) + op->min;
        return For::make(name, make_zero(op->min.type()), simplify(op->max - op->min), op->for_type,
                         op->partition_policy, op->device_api, LetStmt::make(op->name, x, body))
            .as<For>()
            ->with_hint(op->hint);
    }
};

}  // namespace

Stmt rebase_loops(const Stmt &s, LowerContext &ctx) {
    return RebaseLoopsMutator()(s);
}

}  // namespace Internal
}  // namespace Halide
