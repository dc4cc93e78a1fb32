#include "lower/vector/VectorizeSWAR.h"

#include <algorithm>
#include <vector>

#include "ir/BitMoves.h"
#include "ir/IREquality.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"
#include "ir/Substitute.h"
#include "lower/vector/FindIntrinsics.h"
#include "lower/vector/SWARPack.h"
#include "lower/vector/VectorizeLoops.h"
#include "simplify/Simplify.h"
#include "support/Error.h"

namespace Halide {
namespace Internal {

namespace {

// ---- Conditions that usually hold in all lanes ----------------------------------------------------------------------

/// A scalar condition under which a condition holds in every lane; undefined if none was found.
Expr in_all_lanes(const Expr &condition, int lanes) {
    const Expr c = condition;
    if (c.type().is_scalar()) {
        return c;
    }
    if (const Broadcast *b = c.as<Broadcast>()) {
        return b->value.type().is_scalar() ? b->value : Expr();
    }
    if (const Call *call = Call::as_intrinsic(c, {Call::likely, Call::likely_if_innermost})) {
        return in_all_lanes(call->args[0], lanes);
    }
    if (const And *op = c.as<And>()) {
        const Expr a = in_all_lanes(op->a, lanes), b = in_all_lanes(op->b, lanes);
        return a.defined() && b.defined() ? a && b : Expr();
    }
    if (const Or *op = c.as<Or>()) {
        const Expr a = in_all_lanes(op->a, lanes), b = in_all_lanes(op->b, lanes);
        return !a.defined() ? b : !b.defined() ? a : a || b;
    }
    if (const Not *op = c.as<Not>()) {
        const Expr inverse = simplify(op->a.as<LT>()   ? op->a.as<LT>()->a >= op->a.as<LT>()->b :
                                      op->a.as<LE>() ? op->a.as<LE>()->a > op->a.as<LE>()->b :
                                      op->a.as<GT>() ? op->a.as<GT>()->a <= op->a.as<GT>()->b :
                                      op->a.as<GE>() ? op->a.as<GE>()->a < op->a.as<GE>()->b :
                                                         Expr(op));
        return inverse.as<Not>() ? Expr() : in_all_lanes(inverse, lanes);
    }
    const bool ordered = c.as<LT>() || c.as<LE>() || c.as<GT>() || c.as<GE>();
    const auto operands = as_binary_operands(c);
    if (!ordered || operands->first.type().element_of() != Int(32)) {
        return Expr();
    }
    // Of an affine difference, one end decides.
    const Expr d = simplify(operands->first - operands->second);
    const Ramp *r = d.as<Ramp>();
    const auto stride = r ? as_const_int(r->stride) : std::nullopt;
    if (!stride) {
        return d.as<Broadcast>() && d.as<Broadcast>()->value.type().is_scalar() ? lane_of(c, 0) : Expr();
    }
    const bool upper_end = (*stride > 0) == (c.as<LT>() || c.as<LE>());
    return lane_of(c, upper_end ? lanes - 1 : 0);
}

/// Takes for granted, in the statement of a SWAR loop, what holds in all lanes except at edges: predicates of loads and
/// stores, conditions marked likely, clamps of indices. Collects what was assumed.
class AssumeInterior : public IRMutator {
public:
    explicit AssumeInterior(int lanes) : lanes(lanes) {}

    /// Scalars; all must hold.
    std::vector<Expr> assumed;
    /// A predicate could not be decided for all lanes at once.
    bool failed = false;

protected:
    using IRMutator::visit;

    Stmt visit(const Store *op) override {
        const Expr value = mutate(op->value), index = mutate_index(op->index);
        return op->with(true_everywhere(op->predicate), value, index);
    }

    Expr visit(const Load *op) override {
        const Expr index = mutate_index(op->index);
        return op->with(true_everywhere(op->predicate), index);
    }

    Expr visit(const Call *op) override {
        if (op->is_intrinsic({Call::likely, Call::likely_if_innermost}) && op->type.is_bool() && assume(op)) {
            return const_true(op->type.lanes());
        }
        if (in_index && op->is_intrinsic({Call::likely, Call::likely_if_innermost})) {
            return mutate(op->args[0]);
        }
        return IRMutator::visit(op);
    }

    // select(c, likely(a), b)   →   a
    Expr visit(const Select *op) override {
        const auto is_likely = [](const Expr &e) {
            return Call::as_intrinsic(e, {Call::likely, Call::likely_if_innermost}) != nullptr;
        };
        if (op->condition.type().is_vector()) {
            if (is_likely(op->true_value) && assume(op->condition)) {
                return mutate(op->true_value.as<Call>()->args[0]);
            }
            if (is_likely(op->false_value) && assume(simplify(!op->condition))) {
                return mutate(op->false_value.as<Call>()->args[0]);
            }
        }
        return IRMutator::visit(op);
    }

    Expr visit(const Min *op) override {
        const Expr e = without_clamp(op->a, op->b, true);
        return e.defined() ? e : IRMutator::visit(op);
    }
    Expr visit(const Max *op) override {
        const Expr e = without_clamp(op->a, op->b, false);
        return e.defined() ? e : IRMutator::visit(op);
    }

private:
    const int lanes;
    bool in_index = false;

    bool assume(const Expr &condition) {
        const Expr scalar = in_all_lanes(simplify(remove_likelies(condition)), lanes);
        if (!scalar.defined()) {
            return false;
        }
        const Expr s = simplify(scalar);
        const bool known = is_const_one(s) || std::any_of(assumed.begin(), assumed.end(),
                                                         [&](const Expr &e) { return equal(e, s); });
        if (!known) {
            assumed.push_back(s);
        }
        return true;
    }

    Expr true_everywhere(const Expr &predicate) {
        if (predicate.type().is_scalar() || is_const_one(predicate)) {
            return predicate;
        }
        failed = failed || !assume(predicate);
        return const_true(predicate.type().lanes());
    }

    Expr mutate_index(const Expr &index) {
        ScopedValue<bool> scope(in_index, true);
        return index.type().is_vector() ? mutate(simplify(index)) : mutate(index);
    }

    // In an index, min(varying, limit) → varying.
    Expr without_clamp(const Expr &a, const Expr &b, bool is_min) {
        if (!in_index || !a.type().is_vector() || a.type().element_of() != Int(32)) {
            return Expr();
        }
        const auto is_limit = [](const Expr &e) { return e.as<Broadcast>() != nullptr; };
        if (is_limit(a) == is_limit(b)) {
            return Expr();
        }
        const Expr &inner = is_limit(a) ? b : a, &limit = is_limit(a) ? a : b;
        // What is inside may be a clamp itself: the outer condition is about the value that it lets through.
        const Expr value = mutate(inner);
        return assume(is_min ? value <= limit : value >= limit) ? value : Expr();
    }
};

// ---- From vectors to words ------------------------------------------------------------------------------------------

/// Replaces the vectors in the statement of one SWAR loop.
class PackWords : public IRMutator {
public:
    PackWords(LowerContext &ctx, SWARPack::Place place) : ctx(ctx), place(std::move(place)) {}

protected:
    using IRMutator::visit;

    Stmt visit(const Store *op) override {
        ScopedValue<std::string> in_func(place.func, op->name.substr(0, op->name.find('.')));
        SWARPack pack(ctx, place, words);
        if (op->value.type().is_vector() || op->index.type().is_vector()) {
            return pack.store(op);
        }
        return with_reductions(pack, [&] { return IRMutator::visit(op); });
    }

    Stmt visit(const LetStmt *op) override {
        SWARPack pack(ctx, place, words);
        if (op->value.type().is_scalar()) {
            Expr value;
            const Stmt let = with_reductions(pack, [&] {
                value = mutate(op->value);
                return LetStmt::make(op->name, value, mutate(op->body));
            });
            return let;
        }
        const LaneWord w = op->value.type().is_bool() ? pack.pack_bool(op->value, 8) : pack.pack(op->value);
        LaneWord named = w;
        named.word = Variable::make(w.word.type(), op->name);
        words[op->name] = named;
        return pack.with_lets(LetStmt::make(op->name, w.word, mutate(op->body)));
    }

    Stmt visit(const IfThenElse *op) override {
        SWARPack pack(ctx, place, words);
        return with_reductions(pack, [&] { return IRMutator::visit(op); });
    }

    Stmt visit(const Evaluate *op) override {
        if (op->value.type().is_vector()) {
            return Evaluate::make(0);
        }
        SWARPack pack(ctx, place, words);
        return with_reductions(pack, [&] { return IRMutator::visit(op); });
    }

    Expr visit(const VectorReduce *op) override {
        internal_assert(current) << "A reduction over lanes outside of a statement: " << Expr(op) << "\n";
        return current->reduce(op);
    }

private:
    LowerContext &ctx;
    SWARPack::Place place;
    SWARPack::Words words;
    SWARPack *current = nullptr;

    template<typename F>
    Stmt with_reductions(SWARPack &pack, F make) {
        ScopedValue<SWARPack *> scope(current, &pack);
        const Stmt s = make();
        return pack.with_lets(s);
    }
};

class VectorizeSWARMutator : public IRMutator {
public:
    explicit VectorizeSWARMutator(LowerContext &ctx) : ctx(ctx) {}

protected:
    using IRMutator::visit;

    Stmt visit(const For *op) override {
        if (op->for_type != ForType::VectorizedSWAR) {
            const bool device = op->device_api != DeviceAPI::None && op->device_api != DeviceAPI::Host;
            ScopedValue<std::string> scope(device_loop, device ? op->name : device_loop);
            ScopedValue<bool> in_simd(inside_simd, inside_simd || op->for_type == ForType::Vectorized);
            return IRMutator::visit(op);
        }
        user_assert(device_loop.empty())
            << "The loop " << op->name << " is vectorized with VectorizeIn::SWAR inside of " << device_loop
            << ", which runs on a device. Words of integer registers are made for CPUs only.\n"
            << "  Use VectorizeIn::SIMD for this loop.\n";
        const int lanes = vector_loop_lanes(op);
        if (lanes == 1) {
            return mutate(LetStmt::make(op->name, op->min, op->body));
        }
        refuse_vectors_inside(op);
        WordHooks hooks;
        hooks.store = [&](const Stmt &store, const std::function<Stmt()> &lane_by_lane) {
            AssumeInterior interior(lanes);
            const Stmt fast = interior.mutate(store);
            if (interior.failed) {
                return lane_by_lane();
            }
            return guarded(interior.assumed, fast, lane_by_lane);
        };
        hooks.condition = [&](const Expr &condition, const std::function<Stmt()> &fast,
                              const std::function<Stmt()> &lane_by_lane) {
            const Expr all = in_all_lanes(simplify(remove_likelies(condition)), lanes);
            return all.defined() ? guarded({simplify(all)}, fast(), lane_by_lane) : lane_by_lane();
        };
        Stmt s = vectorize_in_words(op, ctx, hooks);
        s = find_intrinsics(simplify(s));
        s = substitute_in_all_lets(s);
        // Vectors of words have no instruction that moves bits.
        const SWARPack::Place place{op->name.substr(0, op->name.find('.')), op->name, lanes,
                                    std::min(64, ctx.target.bits), moves_bits_fast(ctx.target) && !inside_simd};
        return PackWords(ctx, place)(s);
    }

private:
    LowerContext &ctx;
    // What unrolling made constant decides where lanes come from.
    Stmt visit(const LetStmt *op) override {
        const Expr value = simplify(op->value);
        return is_const(value) ? mutate(substitute(op->name, value, op->body)) : IRMutator::visit(op);
    }

    std::string device_loop;
    bool inside_simd = false;

    static Stmt guarded(const std::vector<Expr> &conditions, const Stmt &fast, const std::function<Stmt()> &lane_by_lane) {
        Expr all;
        for (const Expr &c : conditions) {
            if (!is_const_one(c)) {
                all = all.defined() ? all && c : c;
            }
        }
        return all.defined() ? IfThenElse::make(likely(all), fast, lane_by_lane()) : fast;
    }

    static void refuse_vectors_inside(const For *outer) {
        visit_with(outer->body, [&](auto *self, const For *op) {
            user_assert(!is_vectorized(op->for_type))
                << "The loop " << op->name << " is vectorized inside of " << outer->name
                << ", which is vectorized with VectorizeIn::SWAR. A word of lanes cannot hold vectors.\n"
                << "  Reorder the loops, so that the SWAR loop is inside the SIMD loop, or vectorize only one of them.\n";
            self->visit_base(op);
        });
    }
};

}  // namespace

Stmt vectorize_swar(const Stmt &s, LowerContext &ctx) {
    return VectorizeSWARMutator(ctx)(s);
}

}  // namespace Internal
}  // namespace Halide
