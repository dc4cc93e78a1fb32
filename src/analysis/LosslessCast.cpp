// lossless_cast and lossless_negate are declared with the other operators in ir/IROperator.h; they are defined here
// because they need to know ranges.

#include <utility>

#include "analysis/ConstantBounds.h"
#include "analysis/ConstantInterval.h"
#include "ir/IR.h"
#include "ir/IROperator.h"

namespace Halide {
namespace Internal {

namespace {

using Cache = std::map<Expr, ConstantInterval, ExprCompare>;

Expr lossless_constant(Type t, const Expr &e) {
    const Type element = t.element_of();
    if (auto i = as_const_int(e)) {
        return element.can_represent(*i) ? cast(t, e) : Expr();
    }
    if (auto u = as_const_uint(e)) {
        return element.can_represent(*u) ? cast(t, e) : Expr();
    }
    if (auto f = as_const_float(e)) {
        return element.can_represent(*f) ? cast(t, e) : Expr();
    }
    return Expr();
}

class LosslessCast {
    const Scope<ConstantInterval> &scope;
    Cache *cache;

    /// Both operands in the narrower type, if the operation on the narrowed operands cannot leave it: the caller has
    /// shown that the result fits.
    template<typename Node>
    Expr narrow_operands(Type t, const Node *op) {
        const Expr a = cast_to(t, op->a);
        const Expr b = a.defined() ? cast_to(t, op->b) : Expr();
        return b.defined() ? Node::make(a, b) : Expr();
    }

    /// Pushes the conversion to the operands, so that the result is computed in type t. The value is known to fit.
    Expr push_inward(Type t, const Expr &e) {
        switch (e.node_type()) {
        case IRNodeType::Add:
            return narrow_operands(t, e.as<Add>());
        case IRNodeType::Sub:
            return narrow_operands(t, e.as<Sub>());
        case IRNodeType::Mul:
            return narrow_operands(t, e.as<Mul>());
        case IRNodeType::Min:
            return narrow_operands(t, e.as<Min>());
        case IRNodeType::Max:
            return narrow_operands(t, e.as<Max>());
        case IRNodeType::Mod:
            return narrow_operands(t, e.as<Mod>());
        case IRNodeType::Div:
            return narrow_operands(t, e.as<Div>());
        case IRNodeType::Select: {
            const Select *op = e.as<Select>();
            const Expr a = cast_to(t, op->true_value);
            const Expr b = a.defined() ? cast_to(t, op->false_value) : Expr();
            return b.defined() ? Select::make(op->condition, a, b) : Expr();
        }
        case IRNodeType::Call:
            return push_into_call(t, e.as<Call>());
        default:
            return Expr();
        }
    }

    Expr push_into_call(Type t, const Call *op) {
        if (op->is_intrinsic({Call::shift_left, Call::shift_right}) && t.is_int() == op->type.is_int()) {
            // The amount keeps its meaning in fewer bits, the shifted value if it fits.
            const Type amount_type = op->args[1].type().with_bits(t.bits());
            const Expr value = cast_to(t, op->args[0]);
            const Expr amount = value.defined() ? cast_to(amount_type, op->args[1]) : Expr();
            if (!amount.defined()) {
                return Expr();
            }
            // An amount that is too large for the narrow type is not too large for the wide one.
            const ConstantInterval range = constant_integer_bounds(amount, scope, cache);
            const bool in_range = ConstantInterval(1 - t.bits(), t.bits() - 1).contains(range);
            return in_range ? Call::make(t, op->name, {value, amount}, Call::PureIntrinsic) : Expr();
        }
        if (op->is_intrinsic({Call::widening_add, Call::widening_sub, Call::widening_mul})) {
            const Expr a = cast_to(t, op->args[0]);
            const Expr b = a.defined() ? cast_to(t, op->args[1]) : Expr();
            if (!b.defined()) {
                return Expr();
            }
            return op->is_intrinsic(Call::widening_add) ? a + b :
                   op->is_intrinsic(Call::widening_sub) ? a - b :
                                                          a * b;
        }
        if (op->is_tag()) {
            const Expr value = cast_to(t, op->args[0]);
            return value.defined() ? Call::make(t, op->name, {value}, Call::PureIntrinsic) : Expr();
        }
        return Expr();
    }

    Expr widen_from_cast(Type t, const Cast *op) {
        // A cast that loses nothing may be skipped.
        return op->type.can_represent(op->value.type()) ? cast_to(t, op->value) : Expr();
    }

public:
    LosslessCast(const Scope<ConstantInterval> &scope, Cache *cache)
        : scope(scope), cache(cache) {
    }

    Expr cast_to(Type t, const Expr &e) {
        if (!e.defined() || t == e.type()) {
            return e;
        }
        if (t.is_handle() || e.type().is_handle()) {
            return Expr();
        }
        t = t.with_lanes(e.type().lanes());
        if (is_const(e)) {
            return lossless_constant(t, e);
        }
        if (t.can_represent(e.type())) {
            return cast(t, e);
        }
        if (const Cast *c = e.as<Cast>()) {
            const Expr peeled = widen_from_cast(t, c);
            if (peeled.defined()) {
                return peeled;
            }
        }
        if (const Broadcast *b = e.as<Broadcast>()) {
            const Expr value = cast_to(t.with_lanes(b->value.type().lanes()), b->value);
            return value.defined() ? Broadcast::make(value, b->lanes) : Expr();
        }
        if (!t.is_int_or_uint() || !e.type().is_int_or_uint()) {
            return Expr();
        }
        const ConstantInterval range = constant_integer_bounds(e, scope, cache);
        if (!t.can_represent(range)) {
            return Expr();
        }
        const Expr pushed = push_inward(t, e);
        return pushed.defined() ? pushed : cast(t, e);
    }
};

}  // namespace

Expr lossless_cast(Type t, Expr e, const Scope<ConstantInterval> &scope, Cache *cache) {
    Cache local;
    return LosslessCast(scope, cache ? cache : &local).cast_to(t, e);
}

Expr lossless_cast(Type t, Expr e) {
    return lossless_cast(t, std::move(e), Scope<ConstantInterval>::empty_scope());
}

Expr lossless_negate(const Expr &e) {
    const Type t = e.type();
    if (auto i = as_const_int(e)) {
        return sub_would_overflow(t.bits(), 0, *i) ? Expr() : make_const(t, -*i);
    }
    if (auto f = as_const_float(e)) {
        return make_const(t, -*f);
    }
    if (const Mul *m = e.as<Mul>()) {
        const Expr b = lossless_negate(m->b);
        if (b.defined()) {
            return Mul::make(m->a, b);
        }
        const Expr a = lossless_negate(m->a);
        return a.defined() ? Mul::make(a, m->b) : Expr();
    }
    if (const Sub *s = e.as<Sub>(); s && is_const_zero(s->a)) {
        return s->b;
    }
    if (const Broadcast *b = e.as<Broadcast>()) {
        const Expr value = lossless_negate(b->value);
        return value.defined() ? Broadcast::make(value, b->lanes) : Expr();
    }
    if (const Ramp *r = e.as<Ramp>()) {
        const Expr base = lossless_negate(r->base);
        const Expr stride = base.defined() ? lossless_negate(r->stride) : Expr();
        return stride.defined() ? Ramp::make(base, stride, r->lanes) : Expr();
    }
    if (const Cast *c = e.as<Cast>(); 
        c && t.is_int() && !c->value.type().can_overflow() && t.can_represent(c->value.type())) {
        const Expr value = lossless_negate(c->value);
        return value.defined() ? cast(t, value) : Expr();
    }
    return Expr();
}

}  // namespace Internal
}  // namespace Halide
