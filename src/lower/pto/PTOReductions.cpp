#include "lower/pto/PTOReductions.h"

#include "analysis/ExprUsesVar.h"
#include "ir/IREquality.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRVisitor.h"
#include "ir/Substitute.h"
#include "lower/pto/PTOAnalysis.h"
#include "support/Error.h"

namespace Halide {
namespace Internal {

namespace {

struct Update {
    VectorReduce::Operator op = VectorReduce::Add;
    Expr term;
    /// What the term names, innermost first.
    std::vector<std::pair<std::string, Expr>> lets = {};

    Expr with_lets(Expr e) const {
        for (const auto &[name, value] : lets) {
            e = Let::make(name, value, e);
        }
        return e;
    }
};

/// The term of f[i] = f[i] op term.
std::optional<Update> match_update(const Store *store) {
    auto is_old = [&](const Expr &e) {
        const Load *load = e.as<Load>();
        return load && load->name == store->name && equal(load->index, store->index);
    };
    auto operands = [&](const Expr &a, const Expr &b, VectorReduce::Operator op) -> std::optional<Update> {
        if (is_old(a)) {
            return Update{op, b};
        }
        if (is_old(b)) {
            return Update{op, a};
        }
        return std::nullopt;
    };
    // Shared operands are named in front of the update: f[i] = (let t = … in f[i] + t*t).
    std::vector<std::pair<std::string, Expr>> lets;
    Expr v = store->value;
    while (const Let *let = v.as<Let>()) {
        lets.emplace_back(let->name, let->value);
        v = let->body;
    }
    std::optional<Update> result;
    if (v.as<Add>()) {
        // The old value may stand anywhere in a chain of additions.
        std::vector<Expr> pending = {v}, terms;
        bool found = false;
        while (!pending.empty()) {
            const Expr e = pending.back();
            pending.pop_back();
            if (const Add *op = e.as<Add>()) {
                pending.push_back(op->b);
                pending.push_back(op->a);
            } else if (!found && is_old(e)) {
                found = true;
            } else {
                terms.push_back(e);
            }
        }
        if (found && !terms.empty()) {
            Expr sum = terms[0];
            for (size_t i = 1; i < terms.size(); i++) {
                sum = sum + terms[i];
            }
            result = Update{VectorReduce::Add, sum};
        }
    } else if (const Sub *op = v.as<Sub>()) {
        if (is_old(op->a)) {
            result = Update{VectorReduce::Add, make_zero(op->type) - op->b};
        }
    } else if (const Min *op = v.as<Min>()) {
        result = operands(op->a, op->b, VectorReduce::Min);
    } else if (const Max *op = v.as<Max>()) {
        result = operands(op->a, op->b, VectorReduce::Max);
    } else if (const Or *op = v.as<Or>()) {
        result = operands(op->a, op->b, VectorReduce::Or);
    } else if (const And *op = v.as<And>()) {
        result = operands(op->a, op->b, VectorReduce::And);
    } else if (const Call *op = v.as<Call>()) {
        if (op->is_intrinsic(Call::strict_fma) && is_old(op->args[2])) {
            // Products that were to be added with one rounding keep it, lane by lane.
            result = Update{VectorReduce::Add, v};
        } else if (op->is_intrinsic({Call::bitwise_or, Call::bitwise_and}) && op->type.is_bool()) {
            result = operands(op->args[0], op->args[1],
                              op->is_intrinsic(Call::bitwise_or) ? VectorReduce::Or : VectorReduce::And);
        }
    }
    if (!result) {
        return std::nullopt;
    }
    // The term must not read what the update writes.
    Expr rest = result->term;
    if (const Call *fma = Call::as_intrinsic(rest, {Call::strict_fma})) {
        if (is_old(fma->args[2])) {
            rest = fma->args[0] + fma->args[1];
        }
    }
    for (size_t i = lets.size(); i-- > 0;) {
        rest = Let::make(lets[i].first, lets[i].second, rest);
        result->lets.emplace_back(lets[i]);
    }
    return loaded_buffers(rest).count(store->name) ? std::nullopt : result;
}

/// f[i] = uint8(f[i] != 0 || …) of bools in memory, as f[i] = f[i] || … .
const Store *bools_in_memory(const Store *store, Stmt &as_bools) {
    const Cast *cast = store->value.as<Cast>();
    const bool logical = cast && cast->type == UInt(8) && (cast->value.as<Or>() || cast->value.as<And>());
    if (!logical) {
        return store;
    }
    class Loads : public IRMutator {
        using IRMutator::visit;
        const Store *const store;
        Expr visit(const NE *op) override {
            const Load *load = op->a.as<Load>();
            if (load && load->name == store->name && is_const_zero(op->b) && equal(load->index, store->index)) {
                return Load::make(Bool(), load->name, load->index);
            }
            return IRMutator::visit(op);
        }

    public:
        explicit Loads(const Store *store) : store(store) {}
    } loads(store);
    as_bools = Store::make(store->name, loads.mutate(cast->value), store->index);
    return as_bools.as<Store>();
}

Expr neutral_of(VectorReduce::Operator op, const Type &t) {
    switch (op) {
    case VectorReduce::Min:
        return t.max();
    case VectorReduce::Max:
        return t.min();
    case VectorReduce::And:
        return make_one(t);
    default:
        return make_zero(t);
    }
}

class FindReductions : public IRMutator {
public:
    FindReductions(const For *loop, int lanes, LowerContext &ctx, VectorReductions &result)
        : loop(loop), lanes(lanes), ctx(ctx), result(result) {
        inner.insert(loop->name);
    }

protected:
    using IRMutator::visit;

    Stmt visit(const For *op) override {
        inner.insert(op->name);
        return IRMutator::visit(op);
    }
    Stmt visit(const LetStmt *op) override {
        inner.insert(op->name);
        return IRMutator::visit(op);
    }
    Stmt visit(const Allocate *op) override {
        private_buffers.insert(op->name);
        return IRMutator::visit(op);
    }

    Stmt visit(const Store *op) override {
        if (private_buffers.count(op->name) || uses_any_var(op->index, inner) || !loaded_buffers(op->index).empty() ||
            op->value.type().bits() > 32) {
            return op;
        }
        Stmt as_bools;
        const Store *logical = bools_in_memory(op, as_bools);
        const auto update = match_update(logical);
        if (!update) {
            return op;
        }
        const Type t = logical->value.type();
        const bool is_sum = update->op == VectorReduce::Add;
        VectorReductions::Reduction r;
        r.name = ctx.unique_name(op->name + ".acc");
        // Sums of narrow numbers are made in 32 bits, of which the low ones are the same; there is no reduction of bf16.
        r.type = t.is_bool()                                        ? Int(32) :
                 t.is_float() ? (is_sum || t.is_bfloat() ? Float(32) : t) :
                                t.with_bits(32);
        r.lanes = lanes;
        r.neutral = neutral_of(update->op, t.is_bool() ? Bool() : t);
        r.neutral = t.is_bool() ? select(r.neutral, make_one(r.type), make_zero(r.type)) : cast(r.type, r.neutral);
        const Expr lane = Variable::make(Int(32), loop->name + ".lane");
        const Expr acc = Load::make(r.type, r.name, lane);
        Expr value;
        Expr term = t.is_bool() ? select(update->term, make_one(r.type), make_zero(r.type)) : update->term;
        const Call *fma = Call::as_intrinsic(update->term, {Call::strict_fma});
        if (fma && is_sum && loaded_buffers(fma->args[2]).count(op->name)) {
            value = Call::make(t, Call::strict_fma, {fma->args[0], fma->args[1], acc}, Call::PureIntrinsic);
            if (r.type != t) {
                return op;
            }
        } else {
            term = cast(r.type, term);
            value = is_sum                                                             ? acc + term :
                    update->op == VectorReduce::Min || update->op == VectorReduce::And ? min(acc, term) :
                                                                                         max(acc, term);
        }
        const Expr whole = VectorReduce::make(
            is_sum                                                             ? VectorReduce::Add :
            update->op == VectorReduce::Min || update->op == VectorReduce::And ? VectorReduce::Min :
                                                                                 VectorReduce::Max,
            Load::make(r.type.with_lanes(lanes), r.name, Ramp::make(0, 1, lanes)), 1);
        const Expr old = logical == op ? Load::make(t, op->name, op->index) :
                                         Load::make(UInt(8), op->name, op->index) != make_zero(UInt(8));
        Expr combined;
        switch (update->op) {
        case VectorReduce::Add:
            combined = cast(t, cast(r.type, old) + whole);
            break;
        case VectorReduce::Min:
            combined = cast(t, min(cast(r.type, old), whole));
            break;
        case VectorReduce::Max:
            combined = cast(t, max(cast(r.type, old), whole));
            break;
        case VectorReduce::Or:
            combined = old || whole != make_zero(r.type);
            break;
        default:
            combined = old && whole != make_zero(r.type);
            break;
        }
        r.combine = For::make(ctx.unique_name("once"), 0, 0, ForType::Vectorized, Partition::Auto, DeviceAPI::None,
                              Store::make(op->name, logical == op ? combined : cast(UInt(8), combined), op->index));
        result.reductions.push_back(r);
        const Stmt accumulate = Store::make(r.name, update->with_lets(value), lane);
        return is_const_one(op->predicate) ? accumulate : IfThenElse::make(op->predicate, accumulate);
    }

    Stmt visit(const Atomic *op) override {
        return mutate(op->body);
    }

private:
    const For *loop;
    const int lanes;
    LowerContext &ctx;
    VectorReductions &result;
    std::set<std::string> inner, private_buffers;
};

}  // namespace

VectorReductions find_vector_reductions(const For *loop, const Stmt &body, int lanes, LowerContext &ctx) {
    VectorReductions result;
    result.body = FindReductions(loop, lanes, ctx, result).mutate(body);
    return result;
}

Stmt VectorReductions::wrap(const Stmt &chunks) const {
    if (reductions.empty()) {
        return chunks;
    }
    std::vector<Stmt> parts;
    for (const Reduction &r : reductions) {
        const std::string lane = r.name + ".lane";
        parts.push_back(For::make(lane, 0, r.lanes - 1, ForType::Vectorized, Partition::Auto, DeviceAPI::None,
                                  Store::make(r.name, r.neutral, Variable::make(Int(32), lane))));
    }
    parts.push_back(chunks);
    for (const Reduction &r : reductions) {
        parts.push_back(r.combine);
    }
    Stmt s = Block::make(parts);
    for (size_t i = reductions.size(); i > 0; i--) {
        const Reduction &r = reductions[i - 1];
        s = Allocate::make(r.name, r.type, MemoryType::Register, {r.lanes}, const_true(), s);
    }
    return s;
}

}  // namespace Internal
}  // namespace Halide
