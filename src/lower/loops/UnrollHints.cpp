#include "lower/loops/UnrollHints.h"

#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"
#include "ir/Scope.h"
#include "lower/loops/ConstantExtent.h"
#include "simplify/Simplify.h"
#include "support/Error.h"

namespace Halide {
namespace Internal {

namespace {

/// A hint asks for speed: beyond this many nodes in all copies, code no longer fits in any instruction cache.
constexpr int64_t max_nodes = 1 << 18;

/// Counts nodes as a code generator meets them: shared ones once for each place. Stops counting at a limit.
class CountNodes : public IRGraphVisitor {
public:
    explicit CountNodes(int64_t limit)
        : limit(limit) {
    }
    int64_t count = 0;

protected:
    void include(const Expr &e) override {
        if (count++ <= limit) {
            e.accept(this);
        }
    }
    void include(const Stmt &s) override {
        if (count++ <= limit) {
            s.accept(this);
        }
    }

private:
    const int64_t limit;
};

/// A loop evaluates its ends once, before the first iteration: later they may give something else.
bool may_change(const Expr &e) {
    bool result = !is_pure(e);
    visit_with(e, [&](auto *, const Load *) { result = true; });
    return result;
}

class ExpandHints : public IRMutator {
public:
    explicit ExpandHints(LowerContext &ctx)
        : ctx(ctx) {
    }

protected:
    using IRMutator::visit;

    Stmt visit(const LetStmt *op) override {
        ScopedBinding<Expr> bind(lets, op->name, op->value);
        return IRMutator::visit(op);
    }

    Stmt visit(const For *op) override {
        if (!op->hint.defined()) {
            return IRMutator::visit(op);
        }
        internal_assert(op->for_type == ForType::Serial) << "Loop " << op->name << " has an unroll hint and is not serial";
        for (Expr For::*end : {&For::min, &For::max}) {
            if (may_change(op->*end)) {
                const std::string name = ctx.unique_name(op->name + ".end");
                const Stmt fixed = op->changed(end, Variable::make((op->*end).type(), name));
                return mutate(LetStmt::make(name, op->*end, fixed));
            }
        }
        const Stmt body = mutate(op->body);
        const std::optional<int64_t> extent = constant_extent(op, lets);
        return op->hint.kind == UnrollHint::Kind::Full ? full(op, body, extent) : by_factor(op, body, extent);
    }

private:
    LowerContext &ctx;
    Scope<Expr> lets;

    static Stmt loop(const For *op, const Expr &min, const Stmt &body) {
        return For::make(op->name, min, op->max, op->for_type, op->partition_policy, op->device_api, body);
    }

    /// Iterations `first` … `first + count` − 1. The variable stays, as a let: its value may use names that the body
    /// binds again.
    static Stmt iterations(const For *op, const Stmt &body, const Expr &first, int64_t count) {
        std::vector<Stmt> copies;
        copies.reserve(count);
        for (int64_t i = 0; i < count; i++) {
            copies.push_back(LetStmt::make(op->name, simplify(first + make_const(first.type(), i)), body));
        }
        return Block::make(copies);
    }

    Stmt keep(const For *op, const Stmt &body, const std::string &why) {
        user_warning << "The unroll hint of loop " << op->name << " has no effect: " << why << ".\n";
        return loop(op, op->min, body);
    }

    static bool too_large(const Stmt &body, int64_t copies) {
        CountNodes nodes(max_nodes / copies);
        body.accept(&nodes);
        return nodes.count > max_nodes / copies;
    }

    // for x in a..a+2: S(x)   →   let x = a in S(x); let x = a + 1 in S(x); let x = a + 2 in S(x)
    Stmt full(const For *op, const Stmt &body, const std::optional<int64_t> &extent) {
        if (!extent) {
            return keep(op, body, "its number of iterations varies, and the target cannot unroll such a loop fully");
        }
        if (*extent <= 0) {
            return Evaluate::make(0);
        }
        if (too_large(body, *extent)) {
            return keep(op, body, "its " + std::to_string(*extent) + " iterations are too much code to repeat");
        }
        return iterations(op, body, op->min, *extent);
    }

    // for x in a..b by 2: S(x)
    //   →   for i in 0..n−1: { let x = a + 2i in S(x); let x = a + 2i + 1 in S(x) };  for x in a + 2n..b: S(x)
    // where n = max(b − a + 1, 0) / 2
    Stmt by_factor(const For *op, const Stmt &body, const std::optional<int64_t> &extent) {
        const int64_t factor = op->hint.factor;
        if (factor == 1 || (extent && *extent < factor)) {
            return loop(op, op->min, body);
        }
        if (too_large(body, factor)) {
            return keep(op, body, std::to_string(factor) + " copies of its body are too much code");
        }
        const Type t = op->min.type();
        const std::string rounds_name = ctx.unique_name(op->name + ".rounds"), round_name = ctx.unique_name(op->name);
        const Expr rounds = extent ? make_const(t, *extent / factor) : Variable::make(t, rounds_name);
        const Expr first = op->min + Variable::make(t, round_name) * make_const(t, factor);
        Stmt result = For::make(round_name, make_zero(t), simplify(rounds - 1), op->for_type, op->partition_policy,
                                op->device_api, iterations(op, body, first, factor));
        if (!extent || *extent % factor) {
            result = Block::make(result, loop(op, simplify(op->min + rounds * make_const(t, factor)), body));
        }
        if (extent) {
            return result;
        }
        // Without the maximum, a loop from 0 to −6 would have a remainder from −8 to −6.
        const Expr count = max(op->max - op->min + 1, make_zero(t)) / make_const(t, factor);
        return LetStmt::make(rounds_name, simplify(count), result);
    }
};

}  // namespace

Stmt expand_unroll_hints(const Stmt &s, LowerContext &ctx) {
    return ExpandHints(ctx)(s);
}

}  // namespace Internal
}  // namespace Halide
