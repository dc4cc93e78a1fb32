// Operators: folding of constants, then rules; then ArithmeticByForm.cpp.

#include "analysis/ModulusRemainder.h"
#include "ir/IREquality.h"
#include "ir/IROperator.h"
#include "simplify/Simplifier.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace Halide {
namespace Internal {

namespace {

using Wide = __int128;

bool nowrap(const Type &t) {
    return t.is_int() && t.bits() >= 32;
}

bool commutes(IRNodeType t) {
    return t == IRNodeType::Add || t == IRNodeType::Mul || t == IRNodeType::Min || t == IRNodeType::Max ||
           t == IRNodeType::EQ || t == IRNodeType::NE || t == IRNodeType::And || t == IRNodeType::Or;
}

bool is_comparison(IRNodeType t) {
    return t >= IRNodeType::EQ && t <= IRNodeType::GE;
}

// The value of an integer or float constant, or of what a broadcast repeats.
Expr scalar_constant(const Expr &e) {
    if (const Broadcast *b = e.as<Broadcast>()) {
        return scalar_constant(b->value);
    }
    return e.as<IntImm>() || e.as<UIntImm>() || e.as<FloatImm>() ? e : Expr();
}

double round_to(const Type &t, double x) {
    return FloatImm::make(t.element_of(), x)->value;
}

Expr fold_float(IRNodeType type, const Type &t, double a, double b) {
    const Type truth = Bool(t.lanes());
    switch (type) {
    case IRNodeType::Add:
        return make_const_float(t, a + b);
    case IRNodeType::Sub:
        return make_const_float(t, a - b);
    case IRNodeType::Mul:
        return make_const_float(t, a * b);
    case IRNodeType::Div:
        return make_const_float(t, a / b);
    case IRNodeType::Mod: {
        const double q = round_to(t, std::floor(round_to(t, a / b)));
        return make_const_float(t, a - round_to(t, b * q));
    }
    default:
        break;
    }
    if (std::isnan(a) || std::isnan(b)) {
        return Expr();
    }
    switch (type) {
    case IRNodeType::Min:
        return make_const_float(t, std::min(a, b));
    case IRNodeType::Max:
        return make_const_float(t, std::max(a, b));
    case IRNodeType::EQ:
        return make_const(truth, (int)(a == b));
    case IRNodeType::NE:
        return make_const(truth, (int)(a != b));
    case IRNodeType::LT:
        return make_const(truth, (int)(a < b));
    case IRNodeType::LE:
        return make_const(truth, (int)(a <= b));
    case IRNodeType::GT:
        return make_const(truth, (int)(a > b));
    case IRNodeType::GE:
        return make_const(truth, (int)(a >= b));
    default:
        return Expr();
    }
}

// A wide result in an integer type: wrapped, or marked where the type does not wrap.
Expr integer_of(const Type &t, Wide v) {
    if (nowrap(t)) {
        const Wide limit = Wide(1) << (t.bits() - 1);
        return v >= -limit && v < limit ? make_const_int(t, (int64_t)v) : make_signed_integer_overflow(t);
    }
    return t.is_int() ? make_const_int(t, (int64_t)(uint64_t)v) : make_const_uint(t, (uint64_t)v);
}

Expr fold_integer(IRNodeType type, const Type &t, Wide a, Wide b) {
    const Type truth = Bool(t.lanes());
    auto quotient = [](Wide a, Wide b) -> Wide {
        const Wide q = a / b;
        return a % b < 0 ? (b > 0 ? q - 1 : q + 1) : q;
    };
    switch (type) {
    case IRNodeType::Add:
        return integer_of(t, a + b);
    case IRNodeType::Sub:
        return integer_of(t, a - b);
    case IRNodeType::Mul:
        return integer_of(t, a * b);
    case IRNodeType::Div:
        if (b == 0) {
            return make_zero(t);
        } else if (b == -1 && nowrap(t) && a == -(Wide(1) << (t.bits() - 1))) {
            return make_const_int(t, (int64_t)a);  // min / -1 = min
        }
        return integer_of(t, quotient(a, b));
    case IRNodeType::Mod:
        return b == 0 ? make_zero(t) : integer_of(t, a - b * quotient(a, b));
    case IRNodeType::Min:
        return integer_of(t, std::min(a, b));
    case IRNodeType::Max:
        return integer_of(t, std::max(a, b));
    case IRNodeType::EQ:
        return make_const(truth, (int)(a == b));
    case IRNodeType::NE:
        return make_const(truth, (int)(a != b));
    case IRNodeType::LT:
        return make_const(truth, (int)(a < b));
    case IRNodeType::LE:
        return make_const(truth, (int)(a <= b));
    case IRNodeType::GT:
        return make_const(truth, (int)(a > b));
    case IRNodeType::GE:
        return make_const(truth, (int)(a >= b));
    case IRNodeType::And:
        return make_const(truth, (int)(a && b));
    case IRNodeType::Or:
        return make_const(truth, (int)(a || b));
    default:
        return Expr();
    }
}

Expr original_or_new(IRNodeType type, const Expr &a, const Expr &b, const Expr &original) {
    if (original.defined() && original.node_type() == type) {
        const auto operands = as_binary_operands(original);
        if (operands && operands->first.same_as(a) && operands->second.same_as(b)) {
            return original;
        }
    }
    return make_binary_op(type, a, b);
}

}  // namespace

Expr Simplifier::fold(IRNodeType type, const Expr &a, const Expr &b) {
    const Expr x = scalar_constant(a), y = x.defined() ? scalar_constant(b) : Expr();
    if (!y.defined() || x.type() != y.type()) {
        return Expr();
    }
    const Type t = a.type();
    if (t.is_float()) {
        return fold_float(type, t, x.as<FloatImm>()->value, y.as<FloatImm>()->value);
    } else if (t.is_int()) {
        return fold_integer(type, t, x.as<IntImm>()->value, y.as<IntImm>()->value);
    }
    return fold_integer(type, t, x.as<UIntImm>()->value, y.as<UIntImm>()->value);
}

Expr Simplifier::binary(IRNodeType type, const Expr &a, const Expr &b, const Expr &original) {
    const bool exact_order = !a.type().is_float();
    // Only ==, < and (for floats, where negation is not exact) <= remain.
    auto keep_original = [&](const Expr &e) {
        return original.defined() && e.node_type() == original.node_type() && equal(e, original) ? original : e;
    };
    if (type == IRNodeType::GT) {
        return binary(IRNodeType::LT, b, a);
    } else if (type == IRNodeType::GE) {
        return exact_order ? not_(binary(IRNodeType::LT, a, b)) : binary(IRNodeType::LE, b, a);
    } else if (type == IRNodeType::LE && exact_order) {
        return keep_original(not_(binary(IRNodeType::LT, b, a)));
    } else if (type == IRNodeType::NE) {
        return keep_original(not_(binary(IRNodeType::EQ, a, b)));
    }

    if (is_undef(a) || is_undef(b)) {
        return undef(is_comparison(type) ? Bool(a.type().lanes()) : a.type());
    }
    if (is_signed_integer_overflow(a) && !is_comparison(type)) {
        return a;
    }
    if (is_signed_integer_overflow(b) && !is_comparison(type)) {
        return b;
    }
    if (is_const(a)) {
        const Expr folded = fold(type, a, b);
        if (folded.defined()) {
            return folded;
        }
        if (commutes(type) && !is_const(b)) {
            return binary(type, b, a, original);
        }
    }

    const Expr e = original_or_new(type, a, b, original);
    Expr r = apply_rules(e);
    if (!r.defined()) {
        r = lift_broadcast(type, a, b);
    }
    if (r.defined()) {
        return r;
    }
    if (type == IRNodeType::Div && a.type().is_float()) {
        // The reciprocal of a power of two is exact.
        const auto by = as_const_float(b);
        int exponent;
        if (by && std::fabs(std::frexp(*by, &exponent)) == 0.5 && exponent > -10 && exponent < 12) {
            return mul(a, make_const_float(a.type(), 1 / *by));
        }
    }
    if (a.type().is_int_or_uint()) {
        switch (type) {
        case IRNodeType::Add:
        case IRNodeType::Sub:
            r = sum_by_form(type, a, b);
            break;
        case IRNodeType::Div:
        case IRNodeType::Mod:
            r = divide_by_form(type, a, b);
            break;
        case IRNodeType::Min:
        case IRNodeType::Max:
            r = min_max_by_form(type, a, b);
            break;
        case IRNodeType::EQ:
        case IRNodeType::LT:
            r = compare_by_form(type, a, b);
            break;
        default:
            break;
        }
        if (r.defined()) {
            return r;
        }
        const Type t = e.type();
        if (!t.is_bool() && type != IRNodeType::Add && type != IRNodeType::Sub) {
            // What can only be one value is that value.
            const ConstantInterval bounds = bounds_of(e);
            if (bounds.is_single_point() && t.can_represent(bounds.min) && is_pure(e)) {
                return make_const(t, bounds.min);
            }
        }
    }
    return e.type().is_bool() ? boolean_by_facts(e) : e;
}

Expr Simplifier::boolean_by_facts(const Expr &e) {
    if (auto known = known_truth(e)) {
        return make_bool(*known, e.type().lanes());
    }
    return e;
}

// op(broadcast(x, 6), broadcast(y, 3)) → broadcast(op(broadcast(x, 2), y), 3); and for ramps of vectors the same.
Expr Simplifier::lift_broadcast(IRNodeType type, const Expr &a, const Expr &b) {
    const Broadcast *x = a.as<Broadcast>(), *y = b.as<Broadcast>();
    const Ramp *rx = a.as<Ramp>(), *ry = b.as<Ramp>();
    auto split = [](const Broadcast *v, int outer) {
        return Expr(Broadcast::make(Broadcast::make(v->value, v->lanes / outer), outer));
    };
    if (x && y && x->lanes != y->lanes) {
        const int outer = std::min(x->lanes, y->lanes);
        if (x->lanes % outer == 0 && y->lanes % outer == 0) {
            const Expr inner_x = x->lanes == outer ? x->value : broadcast(x->value, x->lanes / outer);
            const Expr inner_y = y->lanes == outer ? y->value : broadcast(y->value, y->lanes / outer);
            return broadcast(binary(type, inner_x, inner_y), outer);
        }
    } else if (rx && y && y->lanes != rx->lanes && y->lanes % rx->lanes == 0) {
        return apply_rules(make_binary_op(type, a, split(y, rx->lanes)));
    } else if (x && ry && x->lanes != ry->lanes && x->lanes % ry->lanes == 0) {
        return apply_rules(make_binary_op(type, split(x, ry->lanes), b));
    }
    return Expr();
}

Expr Simplifier::not_(const Expr &a, const Expr &original) {
    if (is_const(a)) {
        return make_bool(is_const_zero(a), a.type().lanes());
    }
    switch (a.node_type()) {
    case IRNodeType::Not:
        return a.as<Not>()->a;
    case IRNodeType::EQ:
        return boolean_by_facts(NE::make(a.as<EQ>()->a, a.as<EQ>()->b));
    case IRNodeType::NE:
        return boolean_by_facts(EQ::make(a.as<NE>()->a, a.as<NE>()->b));
    case IRNodeType::LT:
        if (!a.as<LT>()->a.type().is_float()) {
            return boolean_by_facts(LE::make(a.as<LT>()->b, a.as<LT>()->a));
        }
        break;
    case IRNodeType::LE:
        if (!a.as<LE>()->a.type().is_float()) {
            return boolean_by_facts(LT::make(a.as<LE>()->b, a.as<LE>()->a));
        }
        break;
    case IRNodeType::Broadcast:
        return broadcast(not_(a.as<Broadcast>()->value), a.as<Broadcast>()->lanes);
    case IRNodeType::Call:
        if (const Call *tag = Call::as_tag(a)) {
            return tag->with(std::vector<Expr>{not_(tag->args[0])});
        }
        break;
    default:
        break;
    }
    const Not *op = original.as<Not>();
    const Expr e = op && op->a.same_as(a) ? original : Not::make(a);
    const Expr r = apply_rules(e);
    return r.defined() ? r : boolean_by_facts(e);
}

Expr Simplifier::select(const Expr &c, const Expr &t, const Expr &f, const Expr &original) {
    if (is_const(c)) {
        return is_const_zero(c) ? f : t;
    }
    if (same_expr(t, f) && is_pure(c)) {
        return t;
    }
    if (is_undef(t) && is_undef(f)) {
        return t;
    }
    const Select *op = original.as<Select>();
    const bool unchanged = op && op->condition.same_as(c) && op->true_value.same_as(t) && op->false_value.same_as(f);
    const Expr e = unchanged ? original : Select::make(c, t, f);
    // Rules are about lanes: a scalar condition is shown to them as a vector.
    const bool mixed = c.type().is_scalar() && t.type().is_vector();
    const Expr r = apply_rules(mixed ? Select::make(Broadcast::make(c, t.type().lanes()), t, f) : e);
    if (!r.defined()) {
        return e;
    }
    const Select *result = r.as<Select>();
    if (mixed && result) {
        if (const Broadcast *b = result->condition.as<Broadcast>(); b && b->value.type().is_scalar()) {
            return Select::make(b->value, result->true_value, result->false_value);
        }
    }
    return r;
}

}  // namespace Internal
}  // namespace Halide
