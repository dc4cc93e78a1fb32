#include "lower/vector/FindIntrinsics.h"

#include <algorithm>
#include <utility>

#include "analysis/ConstantBounds.h"
#include "ir/IR.h"
#include "ir/IREquality.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"

namespace Halide {
namespace Internal {

namespace {

using Operands = std::optional<std::pair<Expr, Expr>>;

/// e as type n if e says itself that this loses nothing: a constant, a cast from a type within n, or vectors of such.
Expr narrow(const Expr &e, Type n) {
    n = n.with_lanes(e.type().lanes());
    if (e.type() == n) {
        return e;
    }
    if (auto i = as_const_int(e)) {
        return n.element_of().can_represent(*i) ? make_const(n, *i) : Expr();
    }
    if (auto u = as_const_uint(e)) {
        return n.element_of().can_represent(*u) ? make_const(n, *u) : Expr();
    }
    if (const Cast *c = e.as<Cast>()) {
        if (!c->value.type().is_int_or_uint() || !c->type.can_represent(c->value.type())) {
            return Expr();
        }
        return n.can_represent(c->value.type()) ? cast(n, c->value) : narrow(c->value, n);
    }
    if (const Broadcast *b = e.as<Broadcast>()) {
        const Expr value = narrow(b->value, n);
        return value.defined() ? Broadcast::make(value, b->lanes) : Expr();
    }
    if (const Shuffle *s = e.as<Shuffle>()) {
        std::vector<Expr> vectors;
        for (const Expr &v : s->vectors) {
            vectors.push_back(narrow(v, n));
            if (!vectors.back().defined()) {
                return Expr();
            }
        }
        return Shuffle::make(vectors, s->indices);
    }
    return Expr();
}

/// Two operands in one narrower type: the narrowest that holds both, of the signedness of t if there is a choice.
Operands narrow_both(const Type &t, const Expr &a, const Expr &b) {
    if (is_const(a) && is_const(b)) {
        return std::nullopt;
    }
    for (int bits = 8; bits < t.bits(); bits *= 2) {
        for (halide_type_code_t code : {t.code(), t.is_int() ? Type::UInt : Type::Int}) {
            const Type n = t.with_bits(bits).with_code(code);
            const Expr na = narrow(a, n);
            const Expr nb = na.defined() ? narrow(b, n) : Expr();
            if (nb.defined()) {
                return std::make_pair(na, nb);
            }
        }
    }
    return std::nullopt;
}

/// Two factors in types of one narrower width, whose signedness may differ.
Operands narrow_factors(const Type &t, const Expr &a, const Expr &b) {
    if (is_const(a) && is_const(b)) {
        return std::nullopt;
    }
    for (int bits = 8; bits < t.bits(); bits *= 2) {
        const Type s = Int(bits), u = UInt(bits);
        for (const auto &[ta, tb] : {std::pair(u, u), std::pair(s, s), std::pair(u, s), std::pair(s, u)}) {
            const Expr na = narrow(a, ta);
            const Expr nb = na.defined() ? narrow(b, tb) : Expr();
            if (nb.defined()) {
                return std::make_pair(na, nb);
            }
        }
    }
    return std::nullopt;
}

/// Types whose arithmetic does not overflow, by definition.
bool is_exact(const Type &t) {
    return t.is_int() && t.bits() >= 32;
}

/// Whether x + c stays in the type of x.
bool sum_fits(const Expr &x, int64_t c) {
    if (is_exact(x.type())) {
        return true;
    }
    return x.type().can_represent(constant_integer_bounds(x) + c);
}

struct ShiftByConstant {
    Expr value;
    int amount;
};

/// v >> k or v / 2^k, which are the same, for a constant k ≥ 1.
std::optional<ShiftByConstant> as_shift_right(const Expr &e) {
    if (const Call *c = Call::as_intrinsic(e, {Call::shift_right})) {
        const auto i = as_const_int(c->args[1]);
        const auto u = as_const_uint(c->args[1]);
        const int64_t amount = i ? *i : u ? (int64_t)*u : 0;
        if (amount >= 1 && amount < c->type.bits()) {
            return ShiftByConstant{c->args[0], (int)amount};
        }
    }
    if (const Div *d = e.as<Div>()) {
        const auto amount = is_const_power_of_two_integer(d->b);
        if (amount && *amount >= 1) {
            return ShiftByConstant{d->a, *amount};
        }
    }
    return std::nullopt;
}

/// The call of a widening operation, perhaps inside casts that keep its value.
const Call *as_widening(const Expr &e, Call::IntrinsicOp op) {
    Expr value = e;
    while (const Cast *c = value.as<Cast>()) {
        if (!c->type.is_int_or_uint() || !c->value.type().is_int_or_uint() ||
            !(c->type.can_represent(c->value.type()) || c->type.can_represent(constant_integer_bounds(c->value)))) {
            return nullptr;
        }
        value = c->value;
    }
    return Call::as_intrinsic(value, {op});
}

/// e minus the constant c, if it is a sum with that constant in it.
Expr without_constant(const Expr &e, int64_t c) {
    if (const Add *a = e.as<Add>()) {
        if (is_const(a->b, c)) {
            return a->a;
        }
        if (is_const(a->a, c)) {
            return a->b;
        }
    }
    // widening_add(x, c), if c was narrow enough.
    if (const Call *w = as_widening(e, Call::widening_add)) {
        if (is_const(w->args[1], c)) {
            return cast(e.type(), w->args[0]);
        }
        if (is_const(w->args[0], c)) {
            return cast(e.type(), w->args[1]);
        }
    }
    return Expr();
}

/// The three parts of a + b + c where two were already combined, rid of the constant 1: a and b, in one narrow type.
Operands as_sum_plus_one(const Expr &e) {
    const Expr rest = without_constant(e, 1);
    if (rest.defined()) {
        if (const Call *w = as_widening(rest, Call::widening_add)) {
            return std::make_pair(w->args[0], w->args[1]);
        }
        return std::nullopt;
    }
    const Add *a = e.as<Add>();
    if (!a) {
        return std::nullopt;
    }
    // (x + 1) + y
    for (const auto &[sum, other] : {std::pair(a->a, a->b), std::pair(a->b, a->a)}) {
        if (const Call *w = as_widening(sum, Call::widening_add)) {
            for (int i = 0; i < 2; i++) {
                if (is_const(w->args[i], 1)) {
                    const Expr x = w->args[1 - i];
                    const Expr y = narrow(other, x.type());
                    return y.defined() ? Operands(std::make_pair(x, y)) : std::nullopt;
                }
            }
        }
    }
    return std::nullopt;
}

class FindIntrinsics : public IRGraphMutator {
    using IRGraphMutator::visit;

    static bool concerns(const Type &t) {
        return t.is_vector() && t.is_int_or_uint() && t.bits() >= 8;
    }

    // ---- Sums, differences, products --------------------------------------------------------------------------------

    Expr visit(const Add *op) override {
        const Expr a = mutate(op->a), b = mutate(op->b);
        if (concerns(op->type)) {
            if (auto n = narrow_both(op->type, a, b)) {
                return cast(op->type, widening_add(n->first, n->second));
            }
        }
        return op->with(a, b);
    }

    Expr visit(const Sub *op) override {
        const Expr a = mutate(op->a), b = mutate(op->b);
        if (!concerns(op->type)) {
            return op->with(a, b);
        }
        // max(x, y) - y   →   saturating_sub(x, y)        max(x, y) - min(x, y)   →   absd(x, y)
        if (const Max *m = a.as<Max>()) {
            if (op->type.is_uint() && (equal(m->b, b) || equal(m->a, b))) {
                return equal(m->b, b) ? saturating_sub(m->a, b) : saturating_sub(m->b, b);
            }
            const Min *n = b.as<Min>();
            if (n && ((equal(m->a, n->a) && equal(m->b, n->b)) || (equal(m->a, n->b) && equal(m->b, n->a)))) {
                return cast(op->type, absd(m->a, m->b));
            }
        }
        if (auto n = narrow_both(op->type, a, b)) {
            return cast(op->type, widening_sub(n->first, n->second));
        }
        return op->with(a, b);
    }

    Expr visit(const Mul *op) override {
        const Expr a = mutate(op->a), b = mutate(op->b);
        if (concerns(op->type)) {
            if (auto n = narrow_factors(op->type, a, b)) {
                return cast(op->type, widening_mul(n->first, n->second));
            }
        }
        return op->with(a, b);
    }

    // ---- Shifts and divisions by powers of two ----------------------------------------------------------------------

    /// e is a shift or a division whose operands have been rewritten.
    Expr rewrite_shift_right(const Expr &e) {
        const auto shift = as_shift_right(e);
        if (!shift) {
            return e;
        }
        const Expr &v = shift->value;
        const Type t = e.type();
        if (shift->amount == 1) {
            // (x + y) >> 1   →   halving_add(x, y)        (x + y + 1) >> 1   →   rounding_halving_add(x, y)
            if (const Call *sum = as_widening(v, Call::widening_add)) {
                // x + 1 has a rounding form of its own below.
                if (!is_const(sum->args[0], 1) && !is_const(sum->args[1], 1)) {
                    return cast(t, halving_add(sum->args[0], sum->args[1]));
                }
            }
            if (auto sum = as_sum_plus_one(v)) {
                return cast(t, rounding_halving_add(sum->first, sum->second));
            }
            // (x - y) >> 1   →   halving_sub(x, y), whose result fits if it is signed.
            if (const Call *difference = as_widening(v, Call::widening_sub)) {
                if (difference->args[0].type().is_int()) {
                    return cast(t, halving_sub(difference->args[0], difference->args[1]));
                }
            }
        }
        // (x + 2^(k-1)) >> k   →   rounding_shift_right(x, k)
        const int64_t half = (int64_t)1 << (shift->amount - 1);
        const Expr rest = without_constant(v, half);
        if (rest.defined() && sum_fits(rest, half)) {
            return rewrite_rounding_shift(rest, shift->amount);
        }
        // x·y >> k   →   mul_shift_right(x, y, k), if k leaves nothing to saturate.
        if (const Call *product = as_widening(v, Call::widening_mul)) {
            const Expr &x = product->args[0], &y = product->args[1];
            if (x.type() == y.type() && shift->amount >= x.type().bits()) {
                return cast(t, mul_shift_right(x, y, shift->amount));
            }
        }
        return e;
    }

    /// rounding_shift_right(x, k), in the narrowest type that has x and the bits that count.
    Expr rewrite_rounding_shift(const Expr &x, int k) {
        const Type t = x.type();
        if (const Call *product = as_widening(x, Call::widening_mul)) {
            const Expr &a = product->args[0], &b = product->args[1];
            if (a.type() == b.type() && k >= a.type().bits()) {
                return cast(t, rounding_mul_shift_right(a, b, k));
            }
        }
        for (int bits = 8; bits < t.bits(); bits *= 2) {
            for (halide_type_code_t code : {t.code(), t.is_int() ? Type::UInt : Type::Int}) {
                const Expr n = k < bits ? narrow(x, t.with_bits(bits).with_code(code)) : Expr();
                if (n.defined()) {
                    return cast(t, rounding_shift_right(n, k));
                }
            }
        }
        return rounding_shift_right(x, k);
    }

    Expr visit(const Div *op) override {
        const Expr e = op->with(mutate(op->a), mutate(op->b));
        return concerns(op->type) ? rewrite_shift_right(e) : e;
    }

    // ---- Conversions to narrower types ------------------------------------------------------------------------------

    /// If e is clamped to the range of t, what is clamped. A bound that e respects anyway may be missing.
    Expr without_clamp(const Type &t, const Expr &e) {
        const Type from = e.type();
        const ConstantInterval range = ConstantInterval::bounds_of_type(t);
        Expr inner = e;
        bool below = false, above = !range.max_defined;
        for (int i = 0; i < 2; i++) {
            const Min *lesser = inner.as<Min>();
            const Max *greater = inner.as<Max>();
            if (lesser && !above && is_const(lesser->b, range.max)) {
                above = true;
                inner = lesser->a;
            } else if (greater && !below && is_const(greater->b, range.min)) {
                below = true;
                inner = greater->a;
            }
        }
        if (inner.same_as(e)) {
            return Expr();
        }
        const ConstantInterval known = constant_integer_bounds(inner);
        below = below || from.is_uint() || (known.min_defined && known.min >= range.min);
        above = above || (known.max_defined && known.max <= range.max);
        return below && above ? inner : Expr();
    }

    /// saturating_cast(t, v), or the operation that saturates by itself.
    Expr make_saturating(const Type &t, const Expr &v) {
        for (Call::IntrinsicOp op : {Call::widening_add, Call::widening_sub}) {
            if (const Call *w = as_widening(v, op)) {
                const Expr a = narrow(cast_to_wider(w->args[0], v.type()), t);
                const Expr b = narrow(cast_to_wider(w->args[1], v.type()), t);
                if (a.defined() && b.defined()) {
                    return op == Call::widening_add ? saturating_add(a, b) : saturating_sub(a, b);
                }
            }
        }
        // x·y >> k
        if (auto shift = as_shift_right(v)) {
            if (const Call *product = as_widening(shift->value, Call::widening_mul)) {
                if (product->args[0].type() == t && product->args[1].type() == t) {
                    return mul_shift_right(product->args[0], product->args[1], shift->amount);
                }
            }
        }
        if (const Call *shift = Call::as_intrinsic(v, {Call::rounding_shift_right})) {
            const Call *product = as_widening(shift->args[0], Call::widening_mul);
            const auto amount = as_const_uint(shift->args[1]);
            if (product && amount && product->args[0].type() == t && product->args[1].type() == t) {
                return rounding_mul_shift_right(product->args[0], product->args[1], (int)*amount);
            }
        }
        return saturating_cast(t, v);
    }

    static Expr cast_to_wider(const Expr &e, const Type &t) {
        return e.type() == t ? e : Cast::make(t, e);
    }

    Expr visit(const Cast *op) override {
        const Expr value = mutate(op->value);
        const Type t = op->type, from = value.type();
        if (!concerns(t) || !concerns(from)) {
            return op->with(value);
        }
        if (t.bits() < from.bits() || (t.bits() == from.bits() && t.code() != from.code())) {
            const Expr clamped = without_clamp(t, value);
            if (clamped.defined()) {
                return make_saturating(t, clamped);
            }
        }
        if (t.bits() < from.bits()) {
            // (x - y) >> 1 of unsigned x and y, wrapped   →   halving_sub(x, y)
            const auto shift = as_shift_right(value);
            if (shift && shift->amount == 1) {
                const Call *difference = as_widening(shift->value, Call::widening_sub);
                if (difference && difference->args[0].type() == t) {
                    return halving_sub(difference->args[0], difference->args[1]);
                }
            }
        }
        // A cast that only passes through a type which holds the value.
        if (const Cast *c = value.as<Cast>()) {
            if (concerns(c->value.type()) && c->type.can_represent(c->value.type())) {
                return cast(t, c->value);
            }
        }
        return op->with(value);
    }

    // ---- Others -----------------------------------------------------------------------------------------------------

    Expr visit(const Select *op) override {
        const Expr e = IRGraphMutator::visit(op);
        const Select *s = e.as<Select>();
        if (!s || !concerns(e.type())) {
            return e;
        }
        // x < y ? y - x : x - y   →   absd(x, y)
        const Sub *p = s->true_value.as<Sub>(), *q = s->false_value.as<Sub>();
        if (!p || !q || !equal(p->a, q->b) || !equal(p->b, q->a)) {
            return e;
        }
        const auto sides = as_binary_operands(s->condition);
        const bool less = s->condition.as<LT>() || s->condition.as<LE>();
        const bool greater = s->condition.as<GT>() || s->condition.as<GE>();
        if (!sides || (!less && !greater)) {
            return e;
        }
        const Expr &small = less ? sides->first : sides->second;
        const Expr &large = less ? sides->second : sides->first;
        return equal(p->a, large) && equal(p->b, small) ? cast(e.type(), absd(large, small)) : e;
    }

    Expr visit(const Call *op) override {
        const Expr e = IRGraphMutator::visit(op);
        const Call *c = e.as<Call>();
        if (!c || !concerns(c->type)) {
            return e;
        }
        if (c->is_intrinsic(Call::shift_right)) {
            return rewrite_shift_right(e);
        }
        // |x - y|   →   absd(x, y)
        if (c->is_intrinsic(Call::abs)) {
            if (const Call *difference = as_widening(c->args[0], Call::widening_sub)) {
                return cast(c->type, absd(difference->args[0], difference->args[1]));
            }
            const Sub *s = c->args[0].as<Sub>();
            if (s && is_exact(s->type)) {
                return cast(c->type, absd(s->a, s->b));
            }
        }
        if (c->is_intrinsic(Call::saturating_cast) && c->args[0].type().bits() > c->type.bits()) {
            return make_saturating(c->type, c->args[0]);
        }
        return e;
    }
};

}  // namespace

Expr find_intrinsics(const Expr &e) {
    return FindIntrinsics().mutate(e);
}

Stmt find_intrinsics(const Stmt &s) {
    return FindIntrinsics().mutate(s);
}

}  // namespace Internal
}  // namespace Halide
