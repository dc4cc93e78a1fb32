// Bounds of calls and intrinsics.

#include "ir/IROperator.h"
#include "ir/LowerIntrinsics.h"
#include "regions/ExprBounds.h"
#include "regions/ExprBoundsHelpers.h"
#include "simplify/Simplify.h"
#include "support/Util.h"

#include <algorithm>
#include <limits>

namespace Halide {
namespace Internal {

Interval ExprBounds::of_call(const Expr &e, const Call *op) {
    const Type t = op->type.element_of();
    if (op->call_type == Call::Halide || op->call_type == Call::Image) {
        auto it = func_bounds.find({op->name, op->value_index});
        if (it == func_bounds.end() || op->call_type == Call::Image) {
            return bounds_of_type(t);
        }
        Interval i = it->second;
        if (const_bound) {
            i.min = i.has_lower_bound() && is_const(i.min) ? i.min : bounds_of_type(t).min;
            i.max = i.has_upper_bound() && is_const(i.max) ? i.max : bounds_of_type(t).max;
        }
        return i;
    }
    if (op->is_intrinsic()) {
        return of_intrinsic(e, op);
    }
    // Functions of one float that never fall.
    static const std::set<std::string> increasing = {"exp", "floor", "ceil", "round", "trunc", "atan", "sinh",
                                                     "tanh", "asinh", "erf", "fast_exp"};
    const size_t suffix = op->name.rfind("_f");
    if (op->args.size() == 1 && suffix != std::string::npos && t.is_float()) {
        const std::string base = op->name.substr(0, suffix);
        if (increasing.count(base)) {
            return monotonic_call(op, {1});
        }
        if (base == "sin" || base == "cos") {
            return Interval(make_const(t, -1.0), make_const(t, 1.0));
        }
        if (base == "sqrt") {
            const Interval a = bounds(op->args[0]);
            const bool low = at_least_zero(sign_of(a, t));
            return Interval(low ? op->changed(&Call::args, std::vector<Expr>{a.min}) : make_zero(t),
                            a.has_upper_bound() ? op->changed(&Call::args, std::vector<Expr>{a.max}) :
                                                  Interval::pos_inf());
        }
    }
    if (op->call_type == Call::PureExtern || starts_with(op->name, "_halide_buffer_get_")) {
        bool fixed = op->type.is_scalar() && !const_bound, same = true;
        std::vector<Expr> args;
        for (const Expr &arg : op->args) {
            const Interval i = bounds(arg);
            fixed = fixed && i.is_single_point();
            same = same && i.is_single_point(arg);
            args.push_back(i.min);
        }
        if (fixed) {
            return Interval::single_point(same ? e : op->changed(&Call::args, args));
        }
    }
    return bounds_of_type(t);
}

/// Bounds of a call that is monotonic in each argument: 1 rising, -1 falling, 0 not used.
Interval ExprBounds::monotonic_call(const Call *op, const std::vector<int> &directions) {
    std::vector<Expr> low, high;
    bool has_low = true, has_high = true, fixed = op->type.is_scalar();
    for (size_t i = 0; i < op->args.size(); i++) {
        const Interval a = bounds(op->args[i]);
        fixed = fixed && a.is_single_point();
        const bool rising = directions[i] >= 0;
        has_low = has_low && (rising ? a.has_lower_bound() : a.has_upper_bound());
        has_high = has_high && (rising ? a.has_upper_bound() : a.has_lower_bound());
        low.push_back(rising ? a.min : a.max);
        high.push_back(rising ? a.max : a.min);
    }
    const Type t = op->type.element_of();
    auto make = [&](const std::vector<Expr> &args) {
        return Call::make(t, op->name, args, op->call_type);
    };
    if (fixed) {
        return Interval::single_point(make(low));
    }
    return Interval(has_low ? make(low) : Interval::neg_inf(), has_high ? make(high) : Interval::pos_inf());
}

Interval ExprBounds::of_abs(const Type &t, const Interval &a) {
    const Sign s = sign_of(a, a.min.type().is_handle() ? t : a.min.type());
    const Type unbounded = t;
    if (at_least_zero(s) && a.has_lower_bound()) {
        return Interval(cast(t, a.min), a.has_upper_bound() ? cast(t, a.max) : Interval::pos_inf());
    }
    if (!a.is_bounded()) {
        return Interval(make_zero(unbounded), bounds_of_type(unbounded).max);
    }
    const Expr lo = widened(a.min), hi = widened(a.max), zero = make_zero(lo.type());
    if (at_most_zero(s)) {
        return Interval(cast(t, negated(hi)), cast(t, negated(lo)));
    }
    return Interval(cast(t, end_max(zero, end_max(lo, negated(hi)))), cast(t, end_max(hi, negated(lo))));
}

Interval ExprBounds::of_shift(const Expr &e, const Call *op, bool left) {
    const Type t = op->type.element_of();
    const Interval a = bounds(op->args[0]), b = bounds(op->args[1]);
    if (e.type().is_scalar() && a.is_single_point(op->args[0]) && b.is_single_point(op->args[1])) {
        return Interval::single_point(e);
    }
    const ConstantInterval amount = constant_range(b, op->args[1].type().element_of());
    if (!b.is_bounded() || !amount.is_bounded() || amount.min <= -t.bits() || amount.max >= t.bits()) {
        return left ? bounds_of_type(t) : interval_union(a, Interval::single_point(make_zero(t)));
    }
    // The result is monotonic in the amount for each value: the extremes are at the ends of both.
    const ConstantInterval value = constant_range(a, t);
    if (!holds_without_wrap(t, left ? value << amount : value >> amount)) {
        return bounds_of_type(t);
    }
    auto shift = [&](const Expr &x, const Expr &y) {
        if (auto c = as_const_int(y); c && *c < 0) {
            return left ? x >> (int)-*c : x << (int)-*c;
        }
        return Call::make(t, op->name, {x, y}, op->call_type);
    };
    Interval i = Interval::nothing();
    for (const Expr &y : {b.min, b.max}) {
        i = interval_union(i, Interval(a.has_lower_bound() ? shift(a.min, y) : Interval::neg_inf(),
                                       a.has_upper_bound() ? shift(a.max, y) : Interval::pos_inf()));
        if (b.is_single_point()) {
            break;
        }
    }
    return i;
}

Interval ExprBounds::of_bitwise(const Type &t, const Call *op) {
    // Operands are asked for their bounds once: twice at each level is 2^n in a chain of n.
    const Interval a = bounds(op->args[0]);
    const bool a_fixed = op->type.is_scalar() && a.is_single_point(op->args[0]);
    if (op->is_intrinsic(Call::bitwise_not)) {
        if (a_fixed) {
            return Interval::single_point(op);
        }
        if (t.is_uint()) {
            const Expr top = t.max();
            return a.is_bounded() ? Interval(index_sub(top, a.max), index_sub(top, a.min)) : bounds_of_type(t);
        }
        return of_sub(t, Interval::single_point(make_const(t, -1)), a);
    }
    const Interval b = bounds(op->args[1]);
    if (a_fixed && b.is_single_point(op->args[1])) {
        return Interval::single_point(op);
    }
    const bool a_up = at_least_zero(sign_of(a, t)), b_up = at_least_zero(sign_of(b, t));
    if (op->is_intrinsic(Call::bitwise_and)) {
        // Masking a value that is not negative only takes bits away.
        if (!a_up && !b_up) {
            return bounds_of_type(t);
        }
        Interval i(make_zero(t), Interval::pos_inf());
        if (a_up && a.has_upper_bound()) {
            i.max = a.max;
        }
        if (b_up && b.has_upper_bound()) {
            i.max = end_min(i.max, b.max);
        }
        return i;
    }
    if (!a_up || !b_up) {
        return bounds_of_type(t);
    }
    Interval i(make_zero(t), Interval::pos_inf());
    if (op->is_intrinsic(Call::bitwise_or)) {
        i.min = a.has_lower_bound() && b.has_lower_bound() ? end_max(a.min, b.min) : i.min;
    }
    const ConstantInterval ca = constant_range(a, t), cb = constant_range(b, t);
    if (ca.max_defined && cb.max_defined) {
        // No bit above the highest of either.
        uint64_t all = (uint64_t)std::max(ca.max, cb.max);
        for (int s = 1; s < 64; s *= 2) {
            all |= all >> s;
        }
        if (t.can_represent((int64_t)all)) {
            i.max = make_const(t, (int64_t)all);
        }
    }
    return i;
}

Interval ExprBounds::of_intrinsic(const Expr &e, const Call *op) {
    const Type t = op->type.element_of();
    switch (op->intrinsic_op) {
    case Call::likely:
    case Call::likely_if_innermost:
    case Call::memoize_expr:
    case Call::strict_cast:
        if (op->is_intrinsic(Call::strict_cast)) {
            return of_cast(e, op->args[0], t);
        }
        return bounds(op->args[0]);
    case Call::return_second:
    case Call::require:
        return bounds(op->args[1]);
    case Call::promise_clamped:
    case Call::unsafe_promise_clamped: {
        Interval i = bounds(op->args[0]);
        const Interval lo = bounds(op->args[1]), hi = bounds(op->args[2]);
        if (i.is_single_point()) {
            // The compiler's own promise says where a guarded loop ends; beyond, nothing is needed.
            if (op->is_intrinsic(Call::promise_clamped) && hi.has_upper_bound()) {
                return Interval::single_point(end_min(i.max, hi.max));
            }
            return i;
        }
        return Interval(lo.has_lower_bound() ? end_max(i.min, lo.min) : i.min,
                        hi.has_upper_bound() ? end_min(i.max, hi.max) : i.max);
    }
    case Call::abs:
        return of_abs(t, bounds(op->args[0]));
    case Call::absd: {
        const Interval a = bounds(op->args[0]), b = bounds(op->args[1]);
        if (!a.is_bounded() || !b.is_bounded()) {
            return Interval(make_zero(t), bounds_of_type(t).max);
        }
        const Interval difference(index_sub(widened(a.min), widened(b.max)), index_sub(widened(a.max), widened(b.min)));
        return of_abs(t, difference);
    }
    case Call::shift_left:
        return of_shift(e, op, true);
    case Call::shift_right:
        return of_shift(e, op, false);
    case Call::bitwise_and:
    case Call::bitwise_or:
    case Call::bitwise_xor:
    case Call::bitwise_not:
        return of_bitwise(t, op);
    case Call::popcount:
    case Call::count_leading_zeros:
    case Call::count_trailing_zeros:
        return Interval(make_zero(t), make_const(t, op->args[0].type().bits()));
    case Call::lerp:
        return interval_union(bounds(op->args[0]), bounds(op->args[1]));
    case Call::if_then_else:
        if (op->args.size() == 2) {
            return bounds(op->args[1]);
        }
        return of_select(op->args[0], op->args[1], op->args[2]);
    case Call::mux: {
        Interval all = Interval::nothing();
        for (size_t i = 1; i < op->args.size(); i++) {
            all = interval_union(all, bounds(op->args[i]));
        }
        return all;
    }
    case Call::scatter_gather: {
        // Each evaluation takes one of them.
        Interval all = Interval::nothing();
        for (const Expr &e : op->args) {
            all = interval_union(all, bounds(e));
        }
        return all;
    }
    case Call::round:
        return monotonic_call(op, {1});
    case Call::widening_add:
    case Call::saturating_add:
    case Call::halving_add:
    case Call::rounding_halving_add:
    case Call::sorted_avg:
        return monotonic_call(op, {1, 1});
    case Call::widening_sub:
    case Call::saturating_sub:
        return monotonic_call(op, {1, -1});
    case Call::saturating_cast: {
        const Interval a = bounds(op->args[0]);
        return Interval(a.has_lower_bound() ? saturating_cast(t, a.min) : bounds_of_type(t).min,
                        a.has_upper_bound() ? saturating_cast(t, a.max) : bounds_of_type(t).max);
    }
    case Call::strict_add:
        return of_add(t, bounds(op->args[0]), bounds(op->args[1]));
    case Call::strict_sub:
        return of_sub(t, bounds(op->args[0]), bounds(op->args[1]));
    case Call::strict_mul:
        return of_mul(t, bounds(op->args[0]), bounds(op->args[1]));
    case Call::strict_div:
        return of_div(t, bounds(op->args[0]), bounds(op->args[1]));
    case Call::strict_fma:
        return of_add(t, of_mul(t, bounds(op->args[0]), bounds(op->args[1])), bounds(op->args[2]));
    case Call::strict_min: {
        const Interval a = bounds(op->args[0]), b = bounds(op->args[1]);
        return Interval(end_min(a.min, b.min), end_min(a.max, b.max));
    }
    case Call::strict_max: {
        const Interval a = bounds(op->args[0]), b = bounds(op->args[1]);
        return Interval(end_max(a.min, b.min), end_max(a.max, b.max));
    }
    case Call::extract_bits:
    case Call::concat_bits:
    case Call::random:
        return bounds_of_type(t);
    default:
        break;
    }
    // Tags and values without effects that do not vary stay as they are.
    if (op->call_type == Call::PureIntrinsic && op->type.is_scalar() && !const_bound) {
        bool fixed = true;
        for (const Expr &arg : op->args) {
            fixed = fixed && bounds(arg).is_single_point(arg);
        }
        if (fixed) {
            return Interval::single_point(e);
        }
    }
    if (op->call_type == Call::PureIntrinsic && (t.is_int_or_uint() || t.is_float())) {
        if (Expr expansion = lower_intrinsic(op); expansion.defined()) {
            return bounds(expansion);
        }
    }
    return bounds_of_type(t);
}

}  // namespace Internal
}  // namespace Halide
