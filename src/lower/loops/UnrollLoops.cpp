#include "lower/loops/UnrollLoops.h"

#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/Scope.h"
#include "ir/Substitute.h"
#include "lower/LoopWords.h"
#include "lower/loops/ConstantExtent.h"
#include "simplify/Simplify.h"
#include "support/Error.h"
#include "support/Util.h"

namespace Halide {
namespace Internal {

namespace {

class UnrollLoopsMutator : public IRMutator {
protected:
    using IRMutator::visit;

    Stmt visit(const LetStmt *op) override {
        ScopedBinding<Expr> bind(lets, op->name, op->value);
        return IRMutator::visit(op);
    }

    Stmt visit(const For *op) override {
        if (op->for_type != ForType::Unrolled) {
            return IRMutator::visit(op);
        }
        Stmt body = mutate(op->body);
        const std::optional<int64_t> extent = constant_extent(op, lets);
        if (!extent) {
            const LoopWords loop(op->name);
            const std::string problem = loop.stage + ".unroll(" + loop.dim +
                                        "): Can only unroll for loops over a constant extent, but " +
                                        loop.extent(simplify(op->extent())) + ".\n";
            if (get_env_variable("HL_PERMIT_FAILED_UNROLL") == "1") {
                user_warning << problem;
                return For::make(op->name, op->min, op->max, ForType::Serial, op->partition_policy, op->device_api,
                                 body);
            }
            user_error << problem << "  Write " << loop.stage << ".unroll(" << loop.dim
                       << ", 4), which splits the loop first, or fix its extent with " << loop.func << ".bound().\n";
        }
        if (*extent <= 0) {
            return Evaluate::make(0);
        }
        std::vector<Stmt> iterations;
        iterations.reserve(*extent);
        for (int64_t i = 0; i < *extent; i++) {
            iterations.push_back(substitute(op->name, simplify(op->min + make_const(op->min.type(), i)), body));
        }
        return Block::make(iterations);
    }

private:
    Scope<Expr> lets;
};

}  // namespace

Stmt unroll_loops(const Stmt &s, LowerContext &ctx) {
    return UnrollLoopsMutator()(s);
}

}  // namespace Internal
}  // namespace Halide
