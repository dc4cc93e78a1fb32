// Calls: intrinsics and float functions of constants, and identities.

#include "ir/IREquality.h"
#include "ir/IROperator.h"
#include "ir/Intrinsics.h"
#include "simplify/Simplifier.h"
#include "support/Util.h"

#include <cmath>
#include <limits>

namespace Halide {
namespace Internal {

namespace {

using Wide = __int128;

bool nowrap(const Type &t) {
    return t.is_int() && t.bits() >= 32;
}

std::optional<Wide> wide_constant(const Expr &e) {
    if (auto i = as_const_int(e)) {
        return Wide(*i);
    } else if (auto u = as_const_uint(e)) {
        return Wide(*u);
    }
    return std::nullopt;
}

Wide lowest(const Type &t) {
    return t.is_int() ? -(Wide(1) << (t.bits() - 1)) : Wide(0);
}

Wide highest(const Type &t) {
    return (Wide(1) << (t.is_int() ? t.bits() - 1 : t.bits())) - 1;
}

// The low bits as a constant.
Expr wrapped(const Type &t, Wide v) {
    return t.is_int() ? make_const_int(t, (int64_t)(uint64_t)v) : make_const_uint(t, (uint64_t)v);
}

Expr saturated(const Type &t, Wide v) {
    return wrapped(t, std::min(std::max(v, lowest(t)), highest(t)));
}

bool all_ones(const Expr &e) {
    const auto v = wide_constant(e);
    const Type t = e.type();
    return v && (t.is_int() ? *v == -1 : *v == highest(t));
}

// Integer operations whose value for constants is a formula over exact integers.
std::optional<Expr> evaluate_fixed_point(const Call *op, const std::vector<Wide> &v) {
    const Type t = op->type;
    auto half = [](Wide q) { return q > 0 ? Wide(1) << (int)(q - 1) : Wide(0); };
    const bool shift_in_range = v.size() < 2 || (v[1] > -t.bits() && v[1] < t.bits());
    switch (op->intrinsic_op) {
    case Call::widening_add:
    case Call::widen_right_add:
        return wrapped(t, v[0] + v[1]);
    case Call::widening_sub:
    case Call::widen_right_sub:
        return wrapped(t, v[0] - v[1]);
    case Call::widening_mul:
    case Call::widen_right_mul:
        return wrapped(t, v[0] * v[1]);
    case Call::saturating_add:
        return saturated(t, v[0] + v[1]);
    case Call::saturating_sub:
        return saturated(t, v[0] - v[1]);
    case Call::saturating_cast:
        return saturated(t, v[0]);
    case Call::halving_add:
        return wrapped(t, (v[0] + v[1]) >> 1);
    case Call::rounding_halving_add:
        return wrapped(t, (v[0] + v[1] + 1) >> 1);
    case Call::halving_sub:
        return wrapped(t, (v[0] - v[1]) >> 1);
    case Call::absd:
        return wrapped(t, v[0] > v[1] ? v[0] - v[1] : v[1] - v[0]);
    case Call::abs:
        return wrapped(t, v[0] < 0 ? -v[0] : v[0]);
    case Call::rounding_shift_right:
        if (shift_in_range) {
            return wrapped(t, v[1] > 0 ? (v[0] + half(v[1])) >> (int)v[1] : v[0] * (Wide(1) << (int)-v[1]));
        }
        break;
    case Call::rounding_shift_left:
        if (shift_in_range) {
            return wrapped(t, v[1] < 0 ? (v[0] + half(-v[1])) >> (int)-v[1] : v[0] * (Wide(1) << (int)v[1]));
        }
        break;
    case Call::shift_left:
    case Call::widening_shift_left:
        if (shift_in_range) {
            return wrapped(t, v[1] >= 0 ? v[0] * (Wide(1) << (int)v[1]) : v[0] >> (int)-v[1]);
        }
        break;
    case Call::shift_right:
    case Call::widening_shift_right:
        if (shift_in_range) {
            return wrapped(t, v[1] >= 0 ? v[0] >> (int)v[1] : v[0] * (Wide(1) << (int)-v[1]));
        }
        break;
    case Call::mul_shift_right:
        if (v[2] >= 0 && v[2] < 126) {
            return saturated(t, (v[0] * v[1]) >> (int)v[2]);
        }
        break;
    case Call::rounding_mul_shift_right:
        if (t.bits() <= 32 && v[2] >= 0 && v[2] < 64) {
            return saturated(t, (v[0] * v[1] + half(v[2])) >> (int)v[2]);
        }
        break;
    case Call::div_round_to_zero:
        if (v[1] != 0 && v[0] / v[1] <= highest(t)) {
            return wrapped(t, v[0] / v[1]);
        }
        break;
    case Call::mod_round_to_zero:
        if (v[1] != 0 && v[0] / v[1] <= highest(t)) {
            return wrapped(t, v[0] % v[1]);
        }
        break;
    case Call::bitwise_and:
        return wrapped(t, v[0] & v[1]);
    case Call::bitwise_or:
        return wrapped(t, v[0] | v[1]);
    case Call::bitwise_xor:
        return wrapped(t, v[0] ^ v[1]);
    case Call::bitwise_not:
        return wrapped(t, ~v[0]);
    case Call::popcount:
    case Call::count_leading_zeros:
    case Call::count_trailing_zeros: {
        const int bits = op->args[0].type().bits();
        const uint64_t x = (uint64_t)v[0] & (bits == 64 ? ~0ull : (1ull << bits) - 1);
        const int count = op->is_intrinsic(Call::popcount)            ? __builtin_popcountll(x) :
                          x == 0                                      ? bits :
                          op->is_intrinsic(Call::count_leading_zeros) ? __builtin_clzll(x) - (64 - bits) :
                                                                        __builtin_ctzll(x);
        return wrapped(t, count);
    }
    default:
        break;
    }
    return std::nullopt;
}

}  // namespace

Expr Simplifier::fold_fixed_point(const Call *op, const std::vector<Expr> &args) {
    std::vector<Wide> values;
    for (const Expr &a : args) {
        const auto v = a.defined() && a.type().is_int_or_uint() ? wide_constant(a) : std::nullopt;
        if (!v) {
            return Expr();
        }
        values.push_back(*v);
    }
    if (values.empty() || !op->type.is_int_or_uint()) {
        return Expr();
    }
    return evaluate_fixed_point(op, values).value_or(Expr());
}

Expr Simplifier::fold_bits(const Call *op, const std::vector<Expr> &args) {
    const Type t = op->type;
    if (op->is_intrinsic({Call::shift_left, Call::shift_right})) {
        const auto amount = wide_constant(args[1]);
        if (!amount || *amount <= -t.bits() || *amount >= t.bits()) {
            return is_const_zero(args[0]) ? args[0] : Expr();
        }
        const bool left = op->is_intrinsic(Call::shift_left) == (*amount >= 0);
        const int by = (int)(*amount < 0 ? -*amount : *amount);
        if (by == 0) {
            return args[0];
        }
        const Wide factor = Wide(1) << by;
        if (factor > highest(t)) {
            return Expr();
        }
        if (!left) {
            return div(args[0], wrapped(t, factor));
        }
        // A shift may overflow even where multiplication may not.
        if (!nowrap(t) || ConstantInterval::bounds_of_type(t).contains(bounds_of(args[0]) << by)) {
            return mul(args[0], wrapped(t, factor));
        }
    } else if (op->is_intrinsic({Call::bitwise_and, Call::bitwise_or, Call::bitwise_xor})) {
        Expr a = args[0], b = args[1];
        if (is_const(a)) {
            std::swap(a, b);
        }
        const bool conjunction = op->is_intrinsic(Call::bitwise_and);
        if (is_const_zero(b)) {
            return conjunction ? b : a;
        }
        if (all_ones(b)) {
            return conjunction ? a : op->is_intrinsic(Call::bitwise_or) ? b : Expr();
        }
        if (same_expr(a, b) && is_pure(a)) {
            return op->is_intrinsic(Call::bitwise_xor) ? make_zero(t) : a;
        }
        const auto mask = wide_constant(b);
        if (conjunction && mask && *mask > 0 && (*mask & (*mask + 1)) == 0 && *mask < highest(t)) {
            return mod(a, wrapped(t, *mask + 1));
        }
        const Call *inner = a.as<Call>();
        if (mask && inner && inner->is_intrinsic(op->intrinsic_op)) {
            if (const auto other = wide_constant(inner->args[1])) {
                const Wide both = conjunction ? (*mask & *other) :
                                  op->is_intrinsic(Call::bitwise_or) ? (*mask | *other) :
                                                                       (*mask ^ *other);
                return call(inner, {inner->args[0], wrapped(t, both)}, true);
            }
        }
    } else if (op->is_intrinsic(Call::bitwise_not)) {
        if (const Call *inner = Call::as_intrinsic(args[0], {Call::bitwise_not})) {
            return inner->args[0];
        }
    }
    return Expr();
}

Expr Simplifier::fold_float_function(const Call *op, const std::vector<Expr> &args) {
    if (args.size() != 1 || !args[0].type().is_float()) {
        return Expr();
    }
    const std::string &name = op->name;
    const bool floor = starts_with(name, "floor_f"), ceil = starts_with(name, "ceil_f"),
               trunc = starts_with(name, "trunc_f"), round = op->is_intrinsic(Call::round);
    const bool integral = floor || ceil || trunc || round;
    if (integral) {
        // Integers, and what was made one already.
        const Call *inner = args[0].as<Call>();
        if (inner && (starts_with(inner->name, "floor_f") || starts_with(inner->name, "ceil_f") ||
                      starts_with(inner->name, "trunc_f") || inner->is_intrinsic(Call::round))) {
            return args[0];
        }
        const Cast *c = args[0].as<Cast>();
        if (c && c->value.type().is_int_or_uint()) {
            return args[0];
        }
    }
    const auto x = as_const_float(args[0]);
    if (!x) {
        return Expr();
    }
    if (floor) {
        return make_const_float(op->type, std::floor(*x));
    } else if (ceil) {
        return make_const_float(op->type, std::ceil(*x));
    } else if (trunc) {
        return make_const_float(op->type, std::trunc(*x));
    } else if (round) {
        return make_const_float(op->type, std::nearbyint(*x));
    } else if (op->is_intrinsic(Call::abs)) {
        return make_const_float(op->type, std::fabs(*x));
    } else if (starts_with(name, "sqrt_f")) {
        // Correctly rounded in double, hence also after rounding once more to a narrower type.
        return make_const_float(op->type, std::sqrt(*x));
    } else if (starts_with(name, "is_nan_f")) {
        return make_bool(std::isnan(*x), op->type.lanes());
    } else if (starts_with(name, "is_inf_f")) {
        return make_bool(std::isinf(*x), op->type.lanes());
    } else if (starts_with(name, "is_finite_f")) {
        return make_bool(std::isfinite(*x), op->type.lanes());
    }
    return Expr();
}

Expr Simplifier::fold_call(const Call *op, const std::vector<Expr> &args) {
    const Type t = op->type;
    Expr r = fold_fixed_point(op, args);
    if (!r.defined()) {
        r = fold_float_function(op, args);
    }
    if (!r.defined() && op->is_intrinsic()) {
        r = fold_bits(op, args);
    }
    if (r.defined() || !op->is_intrinsic()) {
        return r;
    }
    switch (op->intrinsic_op) {
    case Call::likely:
    case Call::likely_if_innermost:
        if (is_const(args[0])) {
            return args[0];
        } else if (const Call *inner = Call::as_tag(args[0])) {
            return inner->is_intrinsic(op->intrinsic_op) || inner->is_intrinsic(Call::likely) ?
                       args[0] :
                       Call::make(t, op->intrinsic_op, inner->args, Call::PureIntrinsic);
        }
        break;
    case Call::abs:
        if (args[0].type().is_int()) {
            const ConstantInterval b = bounds_of(args[0]);
            if (b >= 0) {
                return cast(t, args[0]);
            } else if (b <= 0) {
                return cast(t, sub(make_zero(args[0].type()), args[0]));
            }
        }
        break;
    case Call::absd:
        if (same_expr(args[0], args[1]) && is_pure(args[0]) && t.is_int_or_uint()) {
            return make_zero(t);
        }
        break;
    case Call::promise_clamped:
    case Call::unsafe_promise_clamped: {
        if (is_const(args[0])) {
            return args[0];
        }
        if (!t.is_int_or_uint()) {
            break;
        }
        // A promise that is known already says nothing.
        const ConstantInterval v = bounds_of(args[0]), lo = bounds_of(args[1]), hi = bounds_of(args[2]);
        if (v >= ConstantInterval(lo.is_single_point() ? lo : ConstantInterval::everything()) && hi.is_single_point() &&
            v <= hi) {
            return args[0];
        }
        const Call *inner = args[0].as<Call>();
        if (inner && inner->is_intrinsic(op->intrinsic_op) && same_expr(inner->args[1], args[1]) &&
            same_expr(inner->args[2], args[2])) {
            return args[0];
        }
        break;
    }
    case Call::if_then_else:
        if (is_const(args[0]) && args.size() == 3) {
            return is_const_zero(args[0]) ? args[2] : args[1];
        } else if (is_const_one(args[0])) {
            return args[1];
        }
        break;
    case Call::mux: {
        const auto id = wide_constant(args[0]);
        if (id) {
            const Wide last = (Wide)args.size() - 2;
            return args[1 + (size_t)(*id < 0 || *id > last ? last : *id)];
        }
        break;
    }
    case Call::require:
        if (is_const_one(args[0])) {
            return args[1];
        }
        break;
    case Call::return_second:
        if (is_pure(args[0])) {
            return args[1];
        }
        break;
    case Call::saturating_cast:
        if (args[0].type().is_int_or_uint() && t.is_int_or_uint() && t.can_represent(bounds_of(args[0]))) {
            return cast(t, args[0]);
        }
        break;
    case Call::lerp:
        if (is_const_zero(args[2])) {
            return args[0];
        } else if (args[2].type().is_uint() && all_ones(args[2])) {
            return args[1];
        }
        break;
    default:
        break;
    }
    return Expr();
}

Expr Simplifier::call(const Call *op, const std::vector<Expr> &args, bool changed) {
    // Pure operations on broadcasts are done once.
    if (op->call_type == Call::PureIntrinsic && op->type.is_vector() && !args.empty() &&
        op->intrinsic_op != Call::IntrinsicOpCount && intrinsic_info(op->intrinsic_op).elementwise &&
        intrinsic_info(op->intrinsic_op).pure) {
        std::vector<Expr> scalars;
        for (const Expr &a : args) {
            const Broadcast *b = a.as<Broadcast>();
            if (b && b->value.type().is_scalar()) {
                scalars.push_back(b->value);
            } else if (a.defined() && a.type().is_scalar()) {
                scalars.push_back(a);
            }
        }
        if (scalars.size() == args.size()) {
            const Expr scalar = Call::make(op->type.element_of(), op->intrinsic_op, scalars, op->call_type);
            return broadcast(call(scalar.as<Call>(), scalars, false), op->type.lanes());
        }
    }
    const Expr folded = fold_call(op, args);
    if (folded.defined() && folded.type() == op->type) {
        return folded;
    }
    const Expr e = changed ? Call::make(op->type, op->name, args, op->call_type, op->func, op->value_index, op->image,
                                        op->param) :
                             Expr(op);
    return e.type().is_bool() && op->is_pure() ? boolean_by_facts(e) : e;
}

Expr Simplifier::mutate_call(const Call *op) {
    if (op->is_intrinsic({Call::if_then_else, Call::require}) && op->args[0].type().is_scalar()) {
        // The arms run only where the condition says so.
        std::vector<Expr> args = {mutate(op->args[0])};
        bool changed = !args[0].same_as(op->args[0]);
        for (size_t i = 1; i < op->args.size(); i++) {
            const bool holds = op->is_intrinsic(Call::if_then_else) ? i == 1 : true;
            if (op->is_intrinsic(Call::require) && i >= 2) {
                args.push_back(mutate(op->args[i]));
            } else {
                FactScope scope(*this);
                holds ? learn_true(args[0]) : learn_false(args[0]);
                args.push_back(mutate(op->args[i]));
            }
            changed = changed || !args[i].same_as(op->args[i]);
        }
        return call(op, args, changed);
    }
    bool changed = false;
    const std::vector<Expr> args = mutate(op->args, changed);
    return call(op, args, changed);
}

}  // namespace Internal
}  // namespace Halide
