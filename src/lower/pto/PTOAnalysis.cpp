#include "lower/pto/PTOAnalysis.h"

#include "analysis/ConstantBounds.h"
#include "analysis/ExprUsesVar.h"
#include "analysis/ModulusRemainder.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRVisitor.h"
#include "simplify/Simplify.h"
#include "support/Util.h"

#include <algorithm>

namespace Halide {
namespace Internal {

Expr without_tags(const Expr &e) {
    if (const Call *tag = Call::as_tag(e)) {
        return without_tags(tag->args[0]);
    }
    if (const Call *c = Call::as_intrinsic(e, {Call::promise_clamped, Call::unsafe_promise_clamped})) {
        return without_tags(c->args[0]);
    }
    return e;
}

namespace {

/// Aliases are followed so deep at most; each step may double the work.
constexpr int max_alias_depth = 64;

std::optional<LaneAffine> affine(const Expr &index, const std::string &lane, const Scope<Expr> &aliases, int depth) {
    if (depth > max_alias_depth) {
        return std::nullopt;
    }
    const Expr e = without_tags(index);
    auto recurse = [&](const Expr &x) { return affine(x, lane, aliases, depth + 1); };
    if (const Variable *v = e.as<Variable>()) {
        if (v->name == lane) {
            return LaneAffine{make_zero(e.type()), 1};
        }
        if (const Expr *value = aliases.find(v->name)) {
            return recurse(*value);
        }
        return LaneAffine{e, 0};
    }
    if (const Add *op = e.as<Add>()) {
        auto a = recurse(op->a), b = recurse(op->b);
        if (a && b) {
            return LaneAffine{a->base + b->base, a->stride + b->stride};
        }
        return std::nullopt;
    }
    if (const Sub *op = e.as<Sub>()) {
        auto a = recurse(op->a), b = recurse(op->b);
        if (a && b) {
            return LaneAffine{a->base - b->base, a->stride - b->stride};
        }
        return std::nullopt;
    }
    if (const Mul *op = e.as<Mul>()) {
        auto a = recurse(op->a), b = recurse(op->b);
        if (!a || !b) {
            return std::nullopt;
        }
        if (a->stride != 0) {
            std::swap(a, b);
        }
        if (a->stride != 0) {
            return std::nullopt;
        }
        if (b->stride == 0) {
            return LaneAffine{a->base * b->base, 0};
        }
        auto factor = as_const_int(simplify(a->base));
        if (!factor) {
            return std::nullopt;
        }
        return LaneAffine{a->base * b->base, b->stride * *factor};
    }
    // Anything else must not depend on the lane, nor read memory.
    class Inspect : public IRMutator {
    public:
        Inspect(const std::string &lane, const Scope<Expr> &aliases) : lane(lane), aliases(aliases) {}
        bool ok = true;

    protected:
        using IRMutator::visit;
        Expr visit(const Variable *op) override {
            if (op->name == lane) {
                ok = false;
            } else if (const Expr *value = aliases.find(op->name)) {
                if (++steps > 4096) {
                    ok = false;
                    return op;
                }
                return mutate(*value);
            }
            return op;
        }
        Expr visit(const Load *op) override {
            ok = false;
            return op;
        }
        Expr visit(const VectorReduce *op) override {
            ok = false;
            return op;
        }

    private:
        const std::string &lane;
        const Scope<Expr> &aliases;
        int steps = 0;
    } inspect(lane, aliases);
    const Expr base = inspect.mutate(e);
    if (!inspect.ok || !e.type().is_int_or_uint()) {
        return std::nullopt;
    }
    return LaneAffine{base, 0};
}

}  // namespace

std::optional<LaneAffine> lane_affine(const Expr &index, const std::string &lane, const Scope<Expr> &aliases) {
    auto result = affine(index, lane, aliases, 0);
    if (!result || !index.type().is_scalar()) {
        return std::nullopt;
    }
    result->base = simplify(result->base);
    return result;
}

bool is_block_aligned(const Expr &base, int element_bytes, const Scope<ModulusRemainder> &facts) {
    const int64_t elements = std::max(1, 32 / element_bytes);
    const ModulusRemainder m = modulus_remainder(base, facts);
    return m.modulus == 0 ? m.remainder % elements == 0 : m.modulus % elements == 0 && m.remainder % elements == 0;
}

LaneAccess classify_access(const std::optional<LaneAffine> &index, int element_bytes,
                           const Scope<ModulusRemainder> &facts) {
    if (!index) {
        return LaneAccess::Irregular;
    }
    if (index->stride == 0) {
        return LaneAccess::Uniform;
    }
    if (index->stride == 1) {
        return is_block_aligned(index->base, element_bytes, facts) ? LaneAccess::Contiguous : LaneAccess::Unaligned;
    }
    return LaneAccess::Strided;
}

bool is_pto_call(const Expr &e, const char *name) {
    const Call *c = e.as<Call>();
    return c && c->name == name;
}

bool is_pto_effect(const Stmt &s) {
    const Evaluate *e = s.as<Evaluate>();
    const Call *c = e ? e->value.as<Call>() : nullptr;
    return c && starts_with(c->name, "pto_");
}

namespace {

class FindBorder : public IRVisitor {
public:
    bool found = false;

protected:
    using IRVisitor::visit;

    void visit(const Call *op) override {
        if (starts_with(op->name, "pto_") && op->name != "pto_mem_bar") {
            found = true;
        }
        IRVisitor::visit(op);
    }
    void visit(const Allocate *op) override {
        if (op->memory_type == MemoryType::Register) {
            registers.insert(op->name);
        }
        IRVisitor::visit(op);
    }
    void visit(const Load *op) override {
        found = found || (!inside && !registers.count(op->name));
        IRVisitor::visit(op);
    }
    void visit(const Store *op) override {
        found = found || (!inside && !registers.count(op->name));
        IRVisitor::visit(op);
    }
    void visit(const For *op) override {
        op->min.accept(this);
        op->max.accept(this);
        const bool outer = inside;
        inside = inside || op->for_type == ForType::Vectorized;
        op->body.accept(this);
        inside = outer;
    }

private:
    bool inside = false;
    std::set<std::string> registers;
};

class FindVectorLoop : public IRVisitor {
public:
    bool found = false;

protected:
    using IRVisitor::visit;
    void visit(const For *op) override {
        found = found || op->for_type == ForType::Vectorized;
        if (!found) {
            IRVisitor::visit(op);
        }
    }
};

class Accesses : public IRGraphVisitor {
public:
    std::set<std::string> loads, stores;

protected:
    using IRGraphVisitor::visit;
    void visit(const Load *op) override {
        loads.insert(op->name);
        IRGraphVisitor::visit(op);
    }
    void visit(const Store *op) override {
        stores.insert(op->name);
        IRGraphVisitor::visit(op);
    }
    void visit(const Call *op) override {
        // A move reads and writes: destination and source are both handles.
        if (starts_with(op->name, "pto_mte")) {
            for (const Expr &arg : op->args) {
                const Variable *v = arg.as<Variable>();
                if (v && v->type.is_handle()) {
                    loads.insert(v->name);
                    stores.insert(v->name);
                }
            }
        }
        IRGraphVisitor::visit(op);
    }
};

}  // namespace

bool contains_scope_border(const Stmt &s) {
    FindBorder f;
    s.accept(&f);
    return f.found;
}

bool contains_vector_loop(const Stmt &s) {
    FindVectorLoop f;
    s.accept(&f);
    return f.found;
}

std::set<std::string> stored_buffers(const Stmt &s) {
    Accesses a;
    s.accept(&a);
    return a.stores;
}

std::set<std::string> loaded_buffers(const Stmt &s) {
    Accesses a;
    s.accept(&a);
    return a.loads;
}

std::set<std::string> loaded_buffers(const Expr &e) {
    Accesses a;
    e.accept(&a);
    return a.loads;
}

namespace {

class PaddedElements : public IRVisitor {
public:
    std::map<std::string, int64_t> result;

protected:
    using IRVisitor::visit;

    void visit(const Allocate *op) override {
        if (op->memory_type != MemoryType::Register) {
            result[op->name] = std::max<int64_t>(1, op->constant_allocation_size());
        }
        IRVisitor::visit(op);
    }
    void visit(const For *op) override {
        op->min.accept(this);
        op->max.accept(this);
        const ConstantInterval lo = constant_integer_bounds(op->min, bounds), hi = constant_integer_bounds(op->max, bounds);
        ConstantInterval range = ConstantInterval::everything();
        range.min = lo.min;
        range.min_defined = lo.min_defined;
        range.max = hi.max;
        range.max_defined = hi.max_defined;
        ScopedBinding<ConstantInterval> bind(bounds, op->name, range);
        const std::string outer_lane = lane;
        const int64_t outer_lanes = lanes;
        if (op->for_type == ForType::Vectorized) {
            lane = op->name;
            const auto extent = as_const_int(simplify(op->extent()));
            lanes = extent ? *extent : 256;
        }
        op->body.accept(this);
        lane = outer_lane;
        lanes = outer_lanes;
    }
    void visit(const LetStmt *op) override {
        op->value.accept(this);
        ScopedBinding<ConstantInterval> bind(bounds, op->name,
                                             op->value.type().is_int_or_uint() ?
                                                 constant_integer_bounds(op->value, bounds) :
                                                 ConstantInterval::everything());
        ScopedBinding<Expr> alias(!lane.empty(), aliases, op->name, op->value);
        op->body.accept(this);
    }
    void visit(const Load *op) override {
        access(op->name, op->index);
        IRVisitor::visit(op);
    }

private:
    Scope<ConstantInterval> bounds;
    Scope<Expr> aliases;
    std::string lane;
    int64_t lanes = 0;

    /// A vector load that starts inside the buffer may end up to a whole vector beyond its last element.
    void access(const std::string &name, const Expr &index) {
        auto it = result.find(name);
        if (it == result.end() || lane.empty() || lanes <= 1) {
            return;
        }
        const auto a = lane_affine(index, lane, aliases);
        if (!a || a->stride == 0) {
            return;
        }
        const int64_t own = extents.emplace(name, it->second).first->second;
        int64_t last = own - 1 + lanes * std::abs(a->stride);
        const ConstantInterval base = constant_integer_bounds(a->base, bounds);
        if (base.max_defined) {
            last = std::min(last, base.max + (a->stride == 2 ? 2 * lanes : lanes) - 1);
        }
        it->second = std::max(it->second, last + 1);
    }
    std::map<std::string, int64_t> extents;
};

}  // namespace

std::map<std::string, int64_t> pto_padded_elements(const Stmt &kernel) {
    PaddedElements p;
    kernel.accept(&p);
    return p.result;
}

}  // namespace Internal
}  // namespace Halide
