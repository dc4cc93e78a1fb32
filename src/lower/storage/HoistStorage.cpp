#include "lower/storage/HoistStorage.h"

#include <algorithm>

#include "analysis/ExprUsesVar.h"
#include "ir/IR.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/Substitute.h"
#include "regions/Bounds.h"
#include "simplify/Simplify.h"

namespace Halide {
namespace Internal {

namespace {

/// A loop or a let between the hoisted place and the allocation.
struct Between {
    std::string name;
    Expr value;         // of a let
    Expr min, max;      // of a loop
};

bool is_value_of(const std::string &allocation, const std::string &func) {
    return allocation == func || (allocation.compare(0, func.size() + 1, func + ".") == 0 &&
                                  allocation.find_first_not_of("0123456789", func.size() + 1) == std::string::npos);
}

/// Takes the allocations of one Func out of a statement.
class TakeAllocations : public IRMutator {
    using IRMutator::visit;
    const std::string &func;
    std::vector<Between> path;

    /// An upper bound of the size in all iterations in between.
    Expr bound(Expr e) const {
        for (size_t i = path.size(); i > 0; i--) {
            const Between &b = path[i - 1];
            if (!expr_uses_var(e, b.name)) {
                continue;
            }
            if (b.value.defined()) {
                e = simplify(substitute(b.name, b.value, e));
                continue;
            }
            Scope<Interval> scope;
            scope.push(b.name, Interval(b.min, b.max));
            const Interval range = bounds_of_expr_in_scope(e, scope);
            user_assert(range.has_upper_bound())
                << "Func \"" << func << "\" has hoist_storage, but its size cannot be bounded over the loop " << b.name
                << " between the place of allocation and the place of storage.\n"
                << "  Give the dimensions of " << func << " bounds with bound_storage.\n";
            e = simplify(range.max);
        }
        return e;
    }

    Stmt visit(const Allocate *op) override {
        if (!is_value_of(op->name, func)) {
            return IRMutator::visit(op);
        }
        std::vector<Expr> extents;
        for (const Expr &e : op->extents) {
            extents.push_back(bound(e));
        }
        const Stmt body = mutate(op->body);
        const auto known = std::find_if(taken.begin(), taken.end(), [&](const Taken &t) { return t.name == op->name; });
        if (known == taken.end()) {
            taken.push_back({op->name, op->type, op->memory_type, extents, op->padding});
        } else {
            // Stored in several places, one after the other.
            for (size_t i = 0; i < extents.size(); i++) {
                known->extents[i] = simplify(max(known->extents[i], extents[i]));
            }
            known->padding = std::max(known->padding, op->padding);
        }
        return body;
    }

    Stmt visit(const HoistedStorage *op) override {
        // A task of its own has storage of its own.
        return op->name == func ? Stmt(op) : IRMutator::visit(op);
    }

    Stmt visit(const LetStmt *op) override {
        std::vector<const LetStmt *> lets;
        Stmt body = op;
        while (const LetStmt *let = body.as<LetStmt>()) {
            path.push_back({let->name, let->value, Expr(), Expr()});
            lets.push_back(let);
            body = let->body;
        }
        Stmt result = mutate(body);
        path.resize(path.size() - lets.size());
        if (result.same_as(body)) {
            return op;
        }
        for (size_t i = lets.size(); i > 0; i--) {
            result = LetStmt::make(lets[i - 1]->name, lets[i - 1]->value, result);
        }
        return result;
    }

    Stmt visit(const For *op) override {
        path.push_back({op->name, Expr(), op->min, op->max});
        const Stmt body = mutate(op->body);
        path.pop_back();
        return body.same_as(op->body) ? Stmt(op) : op->changed(&For::body, body);
    }

public:
    struct Taken {
        std::string name;
        Type type;
        MemoryType memory_type;
        std::vector<Expr> extents;
        int padding;
    };
    std::vector<Taken> taken;

    explicit TakeAllocations(const std::string &func) : func(func) {
    }
    using IRMutator::mutate;
    Expr mutate(const Expr &e) override {
        return e;
    }
};

class HoistAllocations : public IRMutator {
    using IRMutator::visit;

    Stmt visit(const HoistedStorage *op) override {
        TakeAllocations take(op->name);
        Stmt s = mutate(take(op->body));
        for (size_t i = take.taken.size(); i > 0; i--) {
            const TakeAllocations::Taken &t = take.taken[i - 1];
            s = Allocate::make(t.name, t.type, t.memory_type, t.extents, const_true(), s, Expr(), "", t.padding);
        }
        return s;
    }

public:
    using IRMutator::mutate;
    Expr mutate(const Expr &e) override {
        return e;
    }
};

}  // namespace

Stmt hoist_storage(const Stmt &s, LowerContext &ctx) {
    const bool any = std::any_of(ctx.env.begin(), ctx.env.end(), [](const auto &entry) {
        const FuncSchedule &schedule = entry.second.schedule();
        return !(schedule.hoist_storage_level() == schedule.store_level());
    });
    return any ? HoistAllocations()(s) : s;
}

}  // namespace Internal
}  // namespace Halide
