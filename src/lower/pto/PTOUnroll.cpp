#include "lower/pto/PTOUnroll.h"

#include "ir/IRMutator.h"
#include "lower/loops/UnrollHints.h"
#include "support/Error.h"

namespace Halide {
namespace Internal {

namespace {

class DropHints : public IRMutator {
    using IRMutator::visit;
    LowerContext &ctx;

    Stmt visit(const For *op) override {
        const Stmt s = IRMutator::visit(op);
        op = s.as<For>();
        if (!op || !op->hint.defined()) {
            return s;
        }
        ctx.explain(op->name + ": the unroll hint is dropped, as the target says (pto_unroll_none)");
        return op->with_hint(UnrollHint());
    }

public:
    explicit DropHints(LowerContext &ctx) : ctx(ctx) {
    }
    using IRMutator::mutate;
    Expr mutate(const Expr &e) override {
        return e;
    }
};

}  // namespace

Stmt pto_unroll_hints(const Stmt &s, LowerContext &ctx) {
    const bool none = ctx.target.has_feature(Target::PTOUnrollNone), text = ctx.target.has_feature(Target::PTOUnrollPTODSL);
    user_assert(!none || !text) << "The target " << ctx.target.to_string() << " says both pto_unroll_none and "
                                << "pto_unroll_ptodsl about unroll hints.\n  Use one of them, or neither to unroll here.\n";
    return none ? DropHints(ctx)(s) : text ? s : expand_unroll_hints(s, ctx);
}

}  // namespace Internal
}  // namespace Halide
