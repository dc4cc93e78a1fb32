#include "lower/bounds/ClampUnsafeAccesses.h"

#include "func/Function.h"
#include "ir/IREquality.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"

namespace Halide {
namespace Internal {

namespace {

class ClampIndices : public IRMutator {
    using IRMutator::visit;
    LowerContext &ctx;
    bool in_index = false;
    // Lets inside expressions may carry a value into an index.
    Scope<int> used_as_index;

    Expr visit(const Let *op) override {
        // A let is an index if its body uses it as one: that is known after the body.
        bool is_index = in_index;
        Expr body;
        {
            ScopedBinding<int> bind(used_as_index, op->name, 0);
            body = mutate(op->body);
            is_index = is_index || used_as_index.get(op->name);
        }
        ScopedValue<bool> inside(in_index, is_index);
        Expr value = mutate(op->value);
        return op->with(value, body);
    }

    Stmt visit(const LetStmt *op) override {
        bool is_index;
        Stmt body;
        {
            ScopedBinding<int> bind(used_as_index, op->name, 0);
            body = mutate(op->body);
            is_index = used_as_index.get(op->name) != 0;
        }
        ScopedValue<bool> inside(in_index, is_index);
        Expr value = mutate(op->value);
        return op->with(value, body);
    }

    Expr visit(const Variable *op) override {
        if (in_index) {
            if (int *used = used_as_index.shallow_find(op->name)) {
                *used = 1;
            }
        }
        return op;
    }

    Stmt visit(const Provide *op) override {
        std::vector<Expr> args, values;
        {
            ScopedValue<bool> inside(in_index, true);
            args = mutate(op->args);
        }
        values = mutate(op->values);
        Expr predicate = mutate(op->predicate);
        return op->with(values, args, predicate);
    }

    Expr visit(const Call *op) override {
        const bool is_load = op->call_type == Call::Halide || op->call_type == Call::Image;
        std::vector<Expr> args;
        {
            ScopedValue<bool> inside(in_index, in_index || is_load);
            args = mutate(op->args);
        }
        Expr call = op->with(args);
        if (!in_index || op->call_type != Call::Halide) {
            return call;
        }
        auto found = ctx.func_bounds.find({op->name, op->value_index});
        if (found == ctx.func_bounds.end() || is_output(op->name)) {
            return call;
        }
        // Bounds that are those of the type cannot be left.
        const Interval &b = found->second, type_bounds = bounds_of_type(op->type);
        Expr result = call;
        if (b.has_lower_bound() && !equal(b.min, type_bounds.min)) {
            result = max(result, b.min);
        }
        if (b.has_upper_bound() && !equal(b.max, type_bounds.max)) {
            result = min(result, b.max);
        }
        return result;
    }

    /// The whole buffer of an output is computed.
    bool is_output(const std::string &name) const {
        for (const Function &f : ctx.outputs) {
            if (f.name() == name) {
                return true;
            }
        }
        return false;
    }

public:
    explicit ClampIndices(LowerContext &ctx) : ctx(ctx) {
    }
};

}  // namespace

Stmt clamp_unsafe_accesses(const Stmt &s, LowerContext &ctx) {
    return ClampIndices(ctx)(s);
}

}  // namespace Internal
}  // namespace Halide
