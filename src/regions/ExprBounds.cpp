#include "regions/ExprBounds.h"

#include "analysis/ConstantBounds.h"
#include "analysis/ConstantInterval.h"
#include "ir/IREquality.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"
#include "ir/Substitute.h"
#include "regions/ExprBoundsHelpers.h"
#include "simplify/Simplify.h"

#include <algorithm>
#include <cmath>
#include <limits>

// The rules of interval arithmetic, one per kind of node. Ends are expressions of what is fixed. Types that wrap need a
// proof that they do not; Int(32) and Int(64) are exact integers.

namespace Halide {
namespace Internal {

ConstantInterval constant_range(const Interval &i, const Type &t) {
    ConstantInterval r = ConstantInterval::everything();
    if (i.has_lower_bound()) {
        const ConstantInterval c = constant_integer_bounds(i.min);
        r.min_defined = c.min_defined;
        r.min = c.min;
    }
    if (i.has_upper_bound()) {
        const ConstantInterval c = constant_integer_bounds(i.max);
        r.max_defined = c.max_defined;
        r.max = c.max;
    }
    if (t.is_uint() && !r.min_defined) {
        r.min_defined = true;
        r.min = 0;
    }
    return r;
}

bool holds_without_wrap(const Type &t, const ConstantInterval &exact) {
    return !t.can_overflow() || t.can_represent(exact);
}

Sign sign_of(const Interval &i, const Type &t) {
    if (t.is_float()) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        const double lo = i.has_lower_bound() ? as_const_float(i.min).value_or(-infinity) : -infinity;
        const double hi = i.has_upper_bound() ? as_const_float(i.max).value_or(infinity) : infinity;
        if (lo >= 0) {
            return lo > 0 ? Sign::Positive : Sign::NonNegative;
        }
        if (hi <= 0) {
            return hi < 0 ? Sign::Negative : Sign::NonPositive;
        }
        return Sign::Unknown;
    }
    const ConstantInterval c = constant_range(i, t);
    if (c.is_single_point(0)) {
        return Sign::Zero;
    }
    if (c.min_defined && c.min > 0) {
        return Sign::Positive;
    }
    if (c.min_defined && c.min >= 0) {
        return Sign::NonNegative;
    }
    if (c.max_defined && c.max < 0) {
        return Sign::Negative;
    }
    return c.max_defined && c.max <= 0 ? Sign::NonPositive : Sign::Unknown;
}

bool at_least_zero(Sign s) {
    return s == Sign::Zero || s == Sign::Positive || s == Sign::NonNegative;
}
bool at_most_zero(Sign s) {
    return s == Sign::Zero || s == Sign::Negative || s == Sign::NonPositive;
}

Interval bounds_of_bool() {
    return Interval(const_false(), const_true());
}

Expr negated(const Expr &e) {
    return index_sub(make_zero(e.type()), e);
}

Expr widened(const Expr &e) {
    const Type t = e.type();
    if (t.is_float() || (t.is_int() && t.bits() >= 32) || (t.is_uint() && t.bits() >= 64)) {
        return e;
    }
    return cast(t.bits() < 32 ? Int(32) : Int(64), e);
}

Interval bounds_of_type(const Type &type) {
    const Type t = type.element_of();
    if (t.is_bool()) {
        return bounds_of_bool();
    }
    if (t.is_int_or_uint() && t.bits() <= 16) {
        return Interval(t.min(), t.max());
    }
    if (t.is_uint()) {
        return Interval(make_zero(t), Interval::pos_inf());
    }
    return Interval::everything();
}

Interval ExprBounds::bounds(const Expr &e) {
    if (is_const(e)) {
        const Broadcast *b = e.as<Broadcast>();
        return b ? bounds(b->value) : Interval::single_point(e);
    }
    const bool worth_caching = e.get()->ref_count.value() > 1 && !e.as<Variable>();
    if (worth_caching) {
        auto it = cache.find(e.get());
        if (it != cache.end()) {
            return it->second;
        }
    }
    Interval i = uncached(e);
    if (!i.is_single_point() && !i.is_bounded()) {
        // What is not known is at least a value of the type.
        const Interval t = bounds_of_type(e.type());
        i = Interval(i.has_lower_bound() ? i.min : t.min, i.has_upper_bound() ? i.max : t.max);
    }
    if (worth_caching) {
        if (!i.is_single_point(e)) {
            i = shared.share(i);
        }
        cache[e.get()] = i;
        cached_nodes.push_back(e);
    }
    return i;
}

Interval ExprBounds::uncached(const Expr &e) {
    const Type t = e.type().element_of();
    // Nodes whose operands are fixed are fixed themselves: keep the node instead of building it again.
    auto binary = [&](const Expr &x, const Expr &y, auto &&rule) {
        const Interval a = bounds(x), b = bounds(y);
        if (e.type().is_scalar() && a.is_single_point(x) && b.is_single_point(y)) {
            return Interval::single_point(e);
        }
        return rule(a, b);
    };
    switch (e.node_type()) {
    case IRNodeType::IntImm:
    case IRNodeType::UIntImm:
    case IRNodeType::FloatImm:
    case IRNodeType::StringImm:
        return Interval::single_point(e);
    case IRNodeType::Broadcast:
        return bounds(e.as<Broadcast>()->value);
    case IRNodeType::Cast:
        return of_cast(e, e.as<Cast>()->value, t);
    case IRNodeType::Reinterpret: {
        const Interval a = bounds(e.as<Reinterpret>()->value);
        return e.type().is_scalar() && a.is_single_point(e.as<Reinterpret>()->value) ? Interval::single_point(e) :
                                                                                      bounds_of_type(t);
    }
    case IRNodeType::Variable:
        return of_variable(e, e.as<Variable>());
    case IRNodeType::Add:
        return binary(e.as<Add>()->a, e.as<Add>()->b,
                      [&](const Interval &a, const Interval &b) { return of_add(t, a, b); });
    case IRNodeType::Sub:
        return binary(e.as<Sub>()->a, e.as<Sub>()->b,
                      [&](const Interval &a, const Interval &b) { return of_sub(t, a, b); });
    case IRNodeType::Mul:
        return binary(e.as<Mul>()->a, e.as<Mul>()->b,
                      [&](const Interval &a, const Interval &b) { return of_mul(t, a, b); });
    case IRNodeType::Div:
        return binary(e.as<Div>()->a, e.as<Div>()->b,
                      [&](const Interval &a, const Interval &b) { return of_div(t, a, b); });
    case IRNodeType::Mod:
        return binary(e.as<Mod>()->a, e.as<Mod>()->b,
                      [&](const Interval &a, const Interval &b) { return of_mod(t, a, b); });
    case IRNodeType::Min:
        return binary(e.as<Min>()->a, e.as<Min>()->b, [&](const Interval &a, const Interval &b) {
            return Interval(end_min(a.min, b.min), end_min(a.max, b.max));
        });
    case IRNodeType::Max:
        return binary(e.as<Max>()->a, e.as<Max>()->b, [&](const Interval &a, const Interval &b) {
            return Interval(end_max(a.min, b.min), end_max(a.max, b.max));
        });
    case IRNodeType::EQ:
    case IRNodeType::NE:
    case IRNodeType::LT:
    case IRNodeType::LE:
    case IRNodeType::GT:
    case IRNodeType::GE: {
        auto operands = as_binary_operands(e);
        return binary(operands->first, operands->second, [&](const Interval &a, const Interval &b) {
            return of_compare(e.node_type(), a, b);
        });
    }
    case IRNodeType::And:
        return binary(e.as<And>()->a, e.as<And>()->b,
                      [&](const Interval &a, const Interval &b) { return of_and(a, b); });
    case IRNodeType::Or:
        return binary(e.as<Or>()->a, e.as<Or>()->b,
                      [&](const Interval &a, const Interval &b) { return of_or(a, b); });
    case IRNodeType::Not: {
        const Interval a = bounds(e.as<Not>()->a);
        return e.type().is_scalar() && a.is_single_point(e.as<Not>()->a) ? Interval::single_point(e) : of_not(a);
    }
    case IRNodeType::Select:
        return of_select(e.as<Select>()->condition, e.as<Select>()->true_value, e.as<Select>()->false_value);
    case IRNodeType::Load: {
        // The value of memory is a range of the type, whatever the index.
        return bounds_of_type(t);
    }
    case IRNodeType::Ramp: {
        const Ramp *op = e.as<Ramp>();
        const Interval base = bounds(op->base), stride = bounds(op->stride);
        const Interval last = of_mul(t, stride, Interval::single_point(make_const(t, op->lanes - 1)));
        return interval_union(base, of_add(t, base, last));
    }
    case IRNodeType::Call:
        return of_call(e, e.as<Call>());
    case IRNodeType::Let:
        return of_lets(e);
    case IRNodeType::Shuffle: {
        Interval all = Interval::nothing();
        for (const Expr &v : e.as<Shuffle>()->vectors) {
            all = interval_union(all, bounds(v));
        }
        return all;
    }
    case IRNodeType::VectorReduce:
        return of_vector_reduce(e.as<VectorReduce>());
    default:
        internal_error << "not an expression: " << e << "\n";
        return Interval::everything();
    }
}

Interval ExprBounds::of_variable(const Expr &e, const Variable *op) {
    const Interval *known = lets.find(op->name);
    if (!known && lookup) {
        known = lookup(op->name);
    }
    const Type t = op->type.element_of();
    if (known) {
        if (!const_bound) {
            return *known;
        }
        Interval i = *known;
        if (i.is_single_point() && i.min.as<Variable>() && i.min.as<Variable>()->name == op->name) {
            return bounds_of_type(t);
        }
        if (i.has_lower_bound() && !is_const(i.min)) {
            const ConstantInterval c = constant_integer_bounds(i.min);
            i.min = c.min_defined && !t.is_float() ? make_const(t, c.min) : Interval::neg_inf();
        }
        if (i.has_upper_bound() && !is_const(i.max)) {
            const ConstantInterval c = constant_integer_bounds(i.max);
            i.max = c.max_defined && !t.is_float() ? make_const(t, c.max) : Interval::pos_inf();
        }
        return i;
    }
    if (op->param.defined() && !op->param.is_buffer()) {
        Interval range = Interval::everything();
        if (Expr lo = op->param.min_value(); lo.defined() && (!const_bound || is_const(lo))) {
            range.min = lo;
        }
        if (Expr hi = op->param.max_value(); hi.defined() && (!const_bound || is_const(hi))) {
            range.max = hi;
        }
        if (!range.is_everything()) {
            return range;
        }
    }
    return const_bound || op->type.is_vector() ? bounds_of_type(t) : Interval::single_point(e);
}

Interval ExprBounds::of_cast(const Expr &e, const Expr &value, const Type &to) {
    const Interval a = bounds(value);
    const Type from = value.type().element_of();
    if (e.type().is_scalar() && a.is_single_point(value)) {
        return Interval::single_point(e);
    }
    if (a.is_single_point()) {
        return Interval::single_point(cast(to, a.min));
    }
    bool keeps_order = to.can_represent(from) || to.is_float();
    if (!keeps_order && to.is_int() && to.bits() >= 32) {
        // Leaving Int(32) or Int(64) does not happen in a correct program, but half-open ranges would hide that it does.
        keeps_order = !from.is_uint() || a.is_bounded();
    } else if (!keeps_order && a.is_bounded()) {
        if (from.is_float()) {
            auto lo = as_const_float(a.min), hi = as_const_float(a.max);
            keeps_order = lo && hi && to.is_int_or_uint() && to.bits() <= 32 && to.can_represent((int64_t)*lo) &&
                          to.can_represent((int64_t)*hi) && std::abs(*lo) < 1e15 && std::abs(*hi) < 1e15;
        } else {
            keeps_order = to.can_represent(constant_range(a, from));
        }
    }
    Interval i = bounds_of_type(to);
    if (keeps_order) {
        if (a.has_lower_bound()) {
            i.min = cast(to, a.min);
        }
        if (a.has_upper_bound()) {
            i.max = cast(to, a.max);
        }
    }
    return i;
}

Interval ExprBounds::of_add(const Type &t, const Interval &a, const Interval &b) {
    if (!holds_without_wrap(t, t.is_float() ? ConstantInterval() : constant_range(a, t) + constant_range(b, t))) {
        return bounds_of_type(t);
    }
    if (a.is_single_point() && b.is_single_point()) {
        return Interval::single_point(index_add(a.min, b.min));
    }
    Interval i;
    if (a.has_lower_bound() && b.has_lower_bound()) {
        i.min = index_add(a.min, b.min);
    }
    if (a.has_upper_bound() && b.has_upper_bound()) {
        i.max = index_add(a.max, b.max);
    }
    return i;
}

Interval ExprBounds::of_sub(const Type &t, const Interval &a, const Interval &b) {
    if (!holds_without_wrap(t, t.is_float() ? ConstantInterval() : constant_range(a, t) - constant_range(b, t))) {
        return bounds_of_type(t);
    }
    if (a.is_single_point() && b.is_single_point()) {
        return Interval::single_point(index_sub(a.min, b.min));
    }
    Interval i;
    if (a.has_lower_bound() && b.has_upper_bound()) {
        i.min = index_sub(a.min, b.max);
    }
    if (a.has_upper_bound() && b.has_lower_bound()) {
        i.max = index_sub(a.max, b.min);
    }
    return i;
}

Interval ExprBounds::of_mul(const Type &t, Interval a, Interval b) {
    if (!holds_without_wrap(t, t.is_float() ? ConstantInterval() : constant_range(a, t) * constant_range(b, t))) {
        return bounds_of_type(t);
    }
    if (a.is_single_point() && b.is_single_point()) {
        return Interval::single_point(index_mul(a.min, b.min));
    }
    if (a.is_single_point()) {
        std::swap(a, b);
    }
    const Sign sa = sign_of(a, t), sb = sign_of(b, t);
    if (sa == Sign::Zero || sb == Sign::Zero) {
        return Interval::single_point(make_zero(t));
    }
    if (b.is_single_point()) {
        if (at_most_zero(sb)) {
            return Interval(a.has_upper_bound() ? index_mul(a.max, b.min) : Interval::neg_inf(),
                            a.has_lower_bound() ? index_mul(a.min, b.min) : Interval::pos_inf());
        }
        if (at_least_zero(sb)) {
            return Interval(a.has_lower_bound() ? index_mul(a.min, b.min) : Interval::neg_inf(),
                            a.has_upper_bound() ? index_mul(a.max, b.min) : Interval::pos_inf());
        }
        if (!a.is_bounded()) {
            return Interval::everything();
        }
        b = shared.share(b);
        const Expr low = shared.share(index_mul(a.min, b.min)), high = shared.share(index_mul(a.max, b.min));
        const Expr positive = b.min >= make_zero(t);
        return Interval(select(positive, low, high), select(positive, high, low));
    }
    if (at_least_zero(sa) && at_least_zero(sb)) {
        return Interval(index_mul(a.min, b.min),
                        a.has_upper_bound() && b.has_upper_bound() ? index_mul(a.max, b.max) : Interval::pos_inf());
    }
    if (at_least_zero(sb)) {
        std::swap(a, b);
    }
    if (at_least_zero(sign_of(a, t))) {
        // b may have any sign: the extremes are at the largest a, unless b leaves zero on that side.
        Interval i;
        if (a.is_bounded() && b.has_lower_bound()) {
            i.min = end_min(index_mul(a.min, b.min), index_mul(a.max, b.min));
        }
        if (a.is_bounded() && b.has_upper_bound()) {
            i.max = end_max(index_mul(a.min, b.max), index_mul(a.max, b.max));
        }
        return i;
    }
    if (!a.is_bounded() || !b.is_bounded()) {
        return Interval::everything();
    }
    a = shared.share(a);
    b = shared.share(b);
    const Expr p[4] = {shared.share(index_mul(a.min, b.min)), shared.share(index_mul(a.min, b.max)),
                       shared.share(index_mul(a.max, b.min)), shared.share(index_mul(a.max, b.max))};
    return Interval(end_min(end_min(p[0], p[1]), end_min(p[2], p[3])),
                    end_max(end_max(p[0], p[1]), end_max(p[2], p[3])));
}

Interval ExprBounds::of_div(const Type &t, Interval a, Interval b) {
    if (a.is_single_point() && b.is_single_point()) {
        return Interval::single_point(Div::make(a.min, b.min));
    }
    const Sign sa = sign_of(a, t), sb = sign_of(b, t);
    auto quotient = [](const Expr &x, const Expr &y) { return is_const_one(y) ? x : Div::make(x, y); };
    if (b.is_single_point()) {
        if (sb == Sign::Zero) {
            return t.is_float() ? Interval::everything() : Interval::single_point(make_zero(t));
        }
        if (sb == Sign::Positive || (t.is_uint() && a.is_bounded())) {
            return Interval(a.has_lower_bound() ? quotient(a.min, b.min) : Interval::neg_inf(),
                            a.has_upper_bound() ? quotient(a.max, b.min) : Interval::pos_inf());
        }
        if (sb == Sign::Negative) {
            return Interval(a.has_upper_bound() ? quotient(a.max, b.min) : Interval::neg_inf(),
                            a.has_lower_bound() ? quotient(a.min, b.min) : Interval::pos_inf());
        }
        if (!a.is_bounded()) {
            return Interval::everything();
        }
        // A float divisor of zero gives ends that are infinite or not numbers exactly where the quotients are.
        b = shared.share(b);
        const Expr low = shared.share(quotient(a.min, b.min)), high = shared.share(quotient(a.max, b.min));
        const Expr positive = b.min >= make_zero(t);
        return Interval(select(positive, low, high), select(positive, high, low));
    }
    if (sb == Sign::Positive) {
        // Dividing by more moves the quotient toward zero (from below: toward −1).
        Interval i;
        const bool up = b.has_upper_bound();
        if (a.has_lower_bound()) {
            if (at_least_zero(sa)) {
                i.min = up ? quotient(a.min, b.max) : make_zero(t);
            } else if (at_most_zero(sa)) {
                i.min = quotient(a.min, b.min);
            } else if (up) {
                a = shared.share(a);
                i.min = end_min(quotient(a.min, b.min), quotient(a.min, b.max));
            } else {
                i.min = end_min(quotient(a.min, b.min), t.is_float() ? make_zero(t) : make_const(t, -1));
            }
        }
        if (a.has_upper_bound()) {
            if (at_least_zero(sa)) {
                i.max = quotient(a.max, b.min);
            } else if (sa == Sign::Negative) {
                i.max = up ? quotient(a.max, b.max) : (t.is_float() ? make_zero(t) : make_const(t, -1));
            } else if (up) {
                a = shared.share(a);
                i.max = end_max(quotient(a.max, b.min), quotient(a.max, b.max));
            } else {
                i.max = end_max(quotient(a.max, b.min), make_zero(t));
            }
        }
        return i;
    }
    if (t.is_float() || !a.is_bounded()) {
        return t.is_uint() ? Interval(make_zero(t), a.max) : Interval::everything();
    }
    if (t.is_uint()) {
        return Interval(make_zero(t), a.max);
    }
    if (sb == Sign::Negative && b.is_bounded()) {
        a = shared.share(a);
        b = shared.share(b);
        const Expr q[4] = {quotient(a.min, b.min), quotient(a.min, b.max), quotient(a.max, b.min),
                           quotient(a.max, b.max)};
        return Interval(end_min(end_min(q[0], q[1]), end_min(q[2], q[3])),
                        end_max(end_max(q[0], q[1]), end_max(q[2], q[3])));
    }
    // The divisor may be zero (then the quotient is zero) or ±1: the magnitude does not grow.
    if (t.bits() < 32) {
        return bounds_of_type(t);
    }
    a = shared.share(a);
    const Expr zero = make_zero(t);
    return Interval(end_min(zero, end_min(a.min, negated(a.max))), end_max(zero, end_max(a.max, negated(a.min))));
}

Interval ExprBounds::of_mod(const Type &t, Interval a, Interval b) {
    if (a.is_single_point() && b.is_single_point()) {
        return Interval::single_point(Mod::make(a.min, b.min));
    }
    if (t.is_float()) {
        return Interval::everything();
    }
    const Sign sb = sign_of(b, t);
    if (sb == Sign::Zero) {
        return Interval::single_point(make_zero(t));
    }
    const Expr zero = make_zero(t), one = make_one(t);
    Interval i(zero, Interval::pos_inf());
    if (b.is_bounded()) {
        if (sb == Sign::Positive) {
            i.max = index_sub(b.max, one);
        } else if (t.is_uint() || at_least_zero(sb)) {
            i.max = index_sub(end_max(b.max, one), one);
        } else if (t.bits() >= 32) {
            b = shared.share(b);
            i.max = index_sub(end_max(end_max(b.max, negated(b.min)), one), one);
        }
    }
    if (at_least_zero(sign_of(a, t)) && a.has_upper_bound()) {
        // A remainder is never more than what is divided.
        i.max = end_min(a.max, i.max);
    }
    if (a.is_bounded() && b.is_single_point() && sb == Sign::Positive && !t.is_uint()) {
        // Within one period the remainder only moves.
        const Expr first = simplify(Div::make(a.min, b.min)), last = simplify(Div::make(a.max, b.min));
        if (equal(first, last)) {
            return Interval(simplify(Mod::make(a.min, b.min)), simplify(Mod::make(a.max, b.min)));
        }
    }
    return i;
}

Interval ExprBounds::of_compare(IRNodeType op, const Interval &a, const Interval &b) {
    if (a.is_single_point() && b.is_single_point()) {
        return Interval::single_point(make_binary_op(op, a.min, b.min));
    }
    Interval i = bounds_of_bool();
    switch (op) {
    case IRNodeType::LT:
    case IRNodeType::LE:
        if (a.has_upper_bound() && b.has_lower_bound()) {
            i.min = make_binary_op(op, a.max, b.min);
        }
        if (a.has_lower_bound() && b.has_upper_bound()) {
            i.max = make_binary_op(op, a.min, b.max);
        }
        return i;
    case IRNodeType::GT:
        return of_compare(IRNodeType::LT, b, a);
    case IRNodeType::GE:
        return of_compare(IRNodeType::LE, b, a);
    case IRNodeType::NE:
        return of_not(of_compare(IRNodeType::EQ, a, b));
    default:
        // Equality is possible if the intervals meet.
        if (a.min.type().is_handle() || a.min.type().is_bool()) {
            return i;
        }
        if (a.has_lower_bound() && b.has_upper_bound()) {
            i.max = LE::make(a.min, b.max);
        }
        if (a.has_upper_bound() && b.has_lower_bound()) {
            const Expr below = LE::make(b.min, a.max);
            i.max = is_const_one(i.max) ? below : And::make(i.max, below);
        }
        return i;
    }
}

Interval ExprBounds::of_and(const Interval &a, const Interval &b) {
    if (a.is_single_point() && b.is_single_point()) {
        return Interval::single_point(a.min && b.min);
    }
    return Interval(a.min && b.min, a.max && b.max);
}

Interval ExprBounds::of_or(const Interval &a, const Interval &b) {
    if (a.is_single_point() && b.is_single_point()) {
        return Interval::single_point(a.min || b.min);
    }
    return Interval(a.min || b.min, a.max || b.max);
}

Interval ExprBounds::of_not(const Interval &a) {
    if (a.is_single_point()) {
        return Interval::single_point(!a.min);
    }
    return Interval(!a.max, !a.min);
}

Interval ExprBounds::of_select(const Expr &condition, const Expr &true_value, const Expr &false_value) {
    const Interval c = bounds(condition);
    if (!c.is_single_point()) {
        // A condition that varies decides only if it is the same for all values.
        if (is_const_one(simplify(c.min))) {
            return bounds(true_value);
        }
        if (is_const_zero(simplify(c.max))) {
            return bounds(false_value);
        }
    } else if (is_const_one(c.min)) {
        return bounds(true_value);
    } else if (is_const_zero(c.min)) {
        return bounds(false_value);
    }
    const Interval a = bounds(true_value), b = bounds(false_value);
    if (!c.is_single_point() || const_bound || c.min.type().is_vector()) {
        return interval_union(a, b);
    }
    const Expr cond = shared.share(c.min);
    auto choose = [&](const Expr &x, const Expr &y) {
        return equal(x, y) ? x : Select::make(cond, x, y);
    };
    if (a.is_single_point() && b.is_single_point()) {
        return Interval::single_point(choose(a.min, b.min));
    }
    Interval i;
    if (a.has_lower_bound() && b.has_lower_bound()) {
        i.min = choose(a.min, b.min);
    }
    if (a.has_upper_bound() && b.has_upper_bound()) {
        i.max = choose(a.max, b.max);
    }
    return i;
}

Interval ExprBounds::of_lets(Expr e) {
    // Lets can be nested by the thousand: no recursion along the bodies.
    std::vector<std::string> pushed;
    while (const Let *let = e.as<Let>()) {
        lets.push(let->name, shared.share(bounds(let->value)));
        pushed.push_back(let->name);
        cache.clear();
        e = let->body;
    }
    const Interval i = bounds(e);
    for (const std::string &name : pushed) {
        lets.pop(name);
    }
    cache.clear();
    return i;
}

Interval ExprBounds::of_vector_reduce(const VectorReduce *op) {
    const Type t = op->type.element_of();
    const Interval a = bounds(op->value);
    const int factor = op->value.type().lanes() / op->type.lanes();
    switch (op->op) {
    case VectorReduce::Min:
    case VectorReduce::Max:
        return a;
    case VectorReduce::Add:
        return of_mul(t, a, Interval::single_point(make_const(t, factor)));
    case VectorReduce::And:
    case VectorReduce::Or:
        return bounds_of_bool();
    case VectorReduce::SaturatingAdd:
    case VectorReduce::Mul:
        break;
    }
    return bounds_of_type(t);
}

}  // namespace Internal
}  // namespace Halide
