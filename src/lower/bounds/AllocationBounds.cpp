#include "lower/bounds/AllocationBounds.h"

#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRVisitor.h"
#include "regions/Bounds.h"
#include "regions/EnclosingLets.h"
#include "regions/IndexedBoxes.h"
#include "simplify/Simplify.h"
#include "support/Error.h"

namespace Halide {
namespace Internal {

namespace {

class AllocationBounds : public IRMutator {
    using IRMutator::visit;
    LowerContext &ctx;
    EnclosingLets lets;
    const NameIndex index;

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

    Stmt visit(const Realize *op) override {
        const Function &f = ctx.env.at(op->name);
        Stmt body = mutate(op->body);
        // What is defined inside for other Funcs are the sizes of their memory: no coordinate depends on them.
        Box box = box_touched(op->body, op->name, index, ctx.func_bounds);
        const std::vector<std::string> args = f.args();
        if (box.empty()) {
            // Nothing is left that uses it.
            box = Box(std::vector<Interval>(args.size(), Interval(0, 0)));
        }
        Stmt s = op->with(op->bounds, op->condition, body);
        std::vector<Stmt> checks;
        for (size_t d = args.size(); d-- > 0;) {
            user_assert(box[d].is_bounded())
                << op->name << " is accessed over an unbounded domain in dimension " << args[d]
                << ", so that it cannot be allocated.\n  Clamp the indices, or use bound.\n";
            s = define(f, args[d], box[d], s, checks);
        }
        return checks.empty() ? s : Block::make(Block::make(checks), s);
    }

    /// Defines the symbols of one dimension, as the storage directives for it ask.
    Stmt define(const Function &f, const std::string &arg, const Interval &touched, const Stmt &body,
                std::vector<Stmt> &checks) {
        const std::string prefix = f.name() + "." + arg + ".";
        const Expr min = Variable::make(Int(32), prefix + "min_realized");
        const Expr max = Variable::make(Int(32), prefix + "max_realized");
        const StorageDim *storage = nullptr;
        for (const StorageDim &d : f.schedule().storage_dims()) {
            storage = d.var == arg ? &d : storage;
        }
        Expr extent = lets.simplify_to_constant(touched.max - touched.min + 1);
        if (!is_const(extent) && lets.varies(extent)) {
            extent = max - min + 1;
        } else if (!is_const(extent)) {
            const Expr bound = find_constant_bound(extent, Direction::Upper);
            // Where two ends move together, their distance is a constant that simplification alone does not find.
            if (bound.defined() && is_const(find_constant_bound_if_equal(extent, bound))) {
                extent = bound;
            } else {
                extent = max - min + 1;
            }
        }
        if (storage && storage->bound.defined()) {
            if (!ctx.target.has_feature(Target::NoAsserts)) {
                const Expr needed = simplify(touched.max - touched.min + 1);
                const Expr error =
                    Call::make(Int(32), "halide_error_storage_bound_too_small",
                               {Expr(f.name()), Expr(arg), storage->bound, needed}, Call::Extern);
                checks.push_back(AssertStmt::make(storage->bound >= needed, error));
            }
            extent = storage->bound;
        }
        if (storage && storage->alignment.defined()) {
            extent = simplify(((extent + storage->alignment - 1) / storage->alignment) * storage->alignment);
        }
        Stmt s = LetStmt::make(prefix + "extent_realized", extent, body);
        s = LetStmt::make(prefix + "max_realized", touched.is_single_point() ? min : touched.max, s);
        return LetStmt::make(prefix + "min_realized", touched.min, s);
    }

    static Expr find_constant_bound_if_equal(const Expr &extent, const Expr &bound) {
        const Expr lower = find_constant_bound(extent, Direction::Lower);
        return lower.defined() && can_prove(lower == bound) ? bound : extent;
    }

public:
    using IRMutator::mutate;
    Expr mutate(const Expr &e) override {
        return e;
    }
    AllocationBounds(const Stmt &s, LowerContext &ctx) : ctx(ctx), index(s) {
    }
};

}  // namespace

Stmt allocation_bounds_inference(const Stmt &s, LowerContext &ctx) {
    return AllocationBounds(s, ctx)(s);
}

}  // namespace Internal
}  // namespace Halide
