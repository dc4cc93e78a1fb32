#include "lower/bounds/BoundSmallAllocations.h"

#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"
#include "regions/Bounds.h"
#include "regions/EnclosingLets.h"
#include "simplify/Simplify.h"
#include "support/Error.h"
#include "support/Util.h"

#include <sstream>

namespace Halide {
namespace Internal {

namespace {

/// Up to this size, memory of type Auto is cheaper on the stack, even if not all of it is used.
constexpr int64_t small_bytes = 16384;

bool must_be_constant(MemoryType t) {
    return t == MemoryType::Register || t == MemoryType::GPR || t == MemoryType::UB;
}

/// `g.x.extent_realized` is "its extent in x".
std::string dimension_in_words(const Expr &extent) {
    const Variable *v = extent.as<Variable>();
    const std::string suffix = ".extent_realized";
    if (v && ends_with(v->name, suffix)) {
        const std::string name = v->name.substr(0, v->name.size() - suffix.size());
        return "its extent in " + name.substr(name.rfind('.') + 1);
    }
    std::ostringstream text;
    text << "its extent " << extent;
    return text.str();
}

class BoundSmall : public IRMutator {
    using IRMutator::visit;
    Scope<Interval> scope;

    Expr visit(const Call *op) override {
        return op;
    }

    /// What is known of a let or loop variable, in constants.
    Interval constant_bounds(const Expr &low, const Expr &high) {
        Interval i;
        const Expr min = find_constant_bound(low, Direction::Lower, scope);
        const Expr max = find_constant_bound(high, Direction::Upper, scope);
        i.min = min.defined() ? min : i.min;
        i.max = max.defined() ? max : i.max;
        return i;
    }

    Stmt visit(const LetStmt *op) override {
        std::vector<const LetStmt *> lets;
        std::vector<ScopedBinding<Interval>> bindings;
        Stmt body;
        for (const LetStmt *let = op; let; let = body.as<LetStmt>()) {
            lets.push_back(let);
            const bool is_index = let->value.type() == Int(32);
            const Interval i = is_index ? constant_bounds(let->value, let->value) : Interval();
            bindings.emplace_back(scope, let->name, i);
            values.push(let->name, let->value);
            body = let->body;
        }
        body = mutate(body);
        for (size_t i = lets.size(); i-- > 0;) {
            values.pop(lets[i]->name);
            body = lets[i]->with(lets[i]->value, body);
        }
        return body;
    }

    Stmt visit(const For *op) override {
        ScopedBinding<Interval> bind(scope, op->name, constant_bounds(op->min, op->max));
        return IRMutator::visit(op);
    }

    /// Ends are often lets of their own (`f.y.extent_realized`): what they stand for says more than their constant bounds.
    Expr bound_of(const Expr &extent) {
        const Expr bound = find_constant_bound(values.simplify_to_constant(extent), Direction::Upper, scope);
        return bound.defined() ? bound : find_constant_bound(extent, Direction::Upper, scope);
    }

    template<typename SetExtents>
    Stmt bound(const std::string &name, MemoryType memory, int bytes, const std::vector<Expr> &extents,
               const Stmt &unchanged, SetExtents set_extents) {
        const bool required = must_be_constant(memory);
        if (!required && memory != MemoryType::Stack && memory != MemoryType::Auto) {
            return unchanged;
        }
        std::vector<Expr> bounds;
        int64_t total = bytes;
        bool all_constant = true;
        for (const Expr &e : extents) {
            all_constant = all_constant && is_const(e);
            const Expr b = is_const(e) ? e : bound_of(e);
            const auto n = b.defined() ? as_const_int(b) : std::nullopt;
            if (!n || *n < 0 || mul_would_overflow(64, total, std::max<int64_t>(*n, 1))) {
                user_assert(memory != MemoryType::UB)
                    << "PTO, memory: " << name << " is stored in UB, where its size must be known when it is compiled, but "
                    << dimension_in_words(e) << " has no constant upper bound.\n"
                    << "  Split the loops that " << name << " is computed in by constants, or use bound, bound_extent or bound_storage.\n";
                user_assert(!required) << "The allocation of " << name << (memory == MemoryType::UB ? " in UB" : " in registers") << " has no constant size: the extent "
                                       << e << " has no constant upper bound.\n  Use bound or bound_extent.\n";
                return unchanged;
            }
            total *= *n;
            bounds.push_back(b);
        }
        if (all_constant || (!required && total > small_bytes)) {
            return unchanged;
        }
        return set_extents(bounds);
    }

    Stmt visit(const Realize *op) override {
        Stmt body = mutate(op->body);
        Stmt s = op->with(op->bounds, op->condition, body);
        op = s.as<Realize>();
        std::vector<Expr> extents;
        for (const Range &r : op->bounds) {
            extents.push_back(r.extent);
        }
        int bytes = 0;
        for (const Type &t : op->types) {
            bytes = std::max(bytes, t.bytes());
        }
        return bound(op->name, op->memory_type, bytes, extents, s, [&](const std::vector<Expr> &bounds) {
            Region region = op->bounds;
            for (size_t i = 0; i < region.size(); i++) {
                region[i].extent = bounds[i];
            }
            return op->changed(&Realize::bounds, region);
        });
    }

    Stmt visit(const Allocate *op) override {
        Stmt body = mutate(op->body);
        Stmt s = body.same_as(op->body) ? Stmt(op) : op->changed(&Allocate::body, body);
        op = s.as<Allocate>();
        return bound(op->name, op->memory_type, op->type.bytes(), op->extents, s, [&](const std::vector<Expr> &bounds) {
            return op->changed(&Allocate::extents, bounds);
        });
    }

    EnclosingLets values;

public:
    using IRMutator::mutate;
    Expr mutate(const Expr &e) override {
        return e;
    }
};

}  // namespace

Stmt bound_small_allocations(const Stmt &s, LowerContext &ctx) {
    return BoundSmall()(s);
}

}  // namespace Internal
}  // namespace Halide
