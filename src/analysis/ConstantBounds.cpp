#include "analysis/ConstantBounds.h"

#include "analysis/Transfer.h"
#include "ir/IR.h"
#include "ir/IROperator.h"

#include <limits>

namespace Halide {
namespace Internal {

namespace {

// Int(32) and Int(64) do not overflow, so what lies outside the type cannot happen; other types wrap.
ConstantInterval fit(ConstantInterval i, const Type &t) {
    if (t.is_int() && t.bits() >= 32) {
        const ConstantInterval r = ConstantInterval::make_intersection(i, ConstantInterval::bounds_of_type(t));
        // An inverted interval means the code is never reached, or overflows: claim nothing.
        return r.is_bounded() && r.min > r.max ? ConstantInterval::bounds_of_type(t) : r;
    }
    i.cast_to(t);
    return i;
}

ConstantInterval truth(bool known_true, bool known_false) {
    return ConstantInterval(known_true ? 1 : 0, known_false ? 0 : 1);
}

// The smallest 2^k - 1 that is at least x, for x >= 0.
int64_t fill_low_bits(int64_t x) {
    for (int s = 1; s < 64; s *= 2) {
        x |= x >> s;
    }
    return x;
}

ConstantInterval bitwise_bounds(const Call *op, const ConstantInterval &a, const ConstantInterval &b) {
    const Type t = op->type;
    const bool a_nonnegative = a >= 0, b_nonnegative = b >= 0;
    if (op->is_intrinsic(Call::bitwise_and)) {
        if (!a_nonnegative && !b_nonnegative) {
            return ConstantInterval::bounds_of_type(t);
        }
        ConstantInterval r = ConstantInterval::bounded_below(0);
        for (const ConstantInterval *i : {&a, &b}) {
            if (*i >= 0 && i->max_defined && (!r.max_defined || i->max < r.max)) {
                r.max_defined = true;
                r.max = i->max;
            }
        }
        return fit(r, t);
    }
    if (!a_nonnegative || !b_nonnegative) {
        return ConstantInterval::bounds_of_type(t);
    }
    ConstantInterval r = ConstantInterval::bounded_below(0);
    if (op->is_intrinsic(Call::bitwise_or)) {
        r = max(a, b);
        r.max_defined = false;
    }
    if (a.max_defined && b.max_defined) {
        r.max_defined = true;
        r.max = fill_low_bits(a.max | b.max);
    }
    return fit(r, t);
}

ConstantInterval bounds_of_call(const Call *op, FactsOf<ConstantInterval> child) {
    const Type t = op->type;
    const ConstantInterval all = ConstantInterval::bounds_of_type(t);
    if (op->call_type != Call::PureIntrinsic && op->call_type != Call::Intrinsic) {
        return all;
    }
    for (const Expr &e : op->args) {
        // Only integers are followed.
        if (!e.defined() || (!e.type().is_int_or_uint() && !op->is_intrinsic({Call::return_second, Call::require}))) {
            return all;
        }
    }
    auto arg = [&](size_t i) { return child(op->args[i]); };
    // Shifts wrap in every type, and amounts of the width or more give anything.
    auto shifted = [&](ConstantInterval r, const ConstantInterval &amount) {
        if (!(amount > -t.bits() && amount < t.bits())) {
            return all;
        }
        r.cast_to(t);
        return r;
    };

    if (op->is_intrinsic({Call::likely, Call::likely_if_innermost, Call::strict_cast}) && op->args.size() == 1 &&
        op->args[0].type() == t) {
        return arg(0);
    } else if (op->is_intrinsic({Call::promise_clamped, Call::unsafe_promise_clamped})) {
        ConstantInterval r = arg(0);
        const ConstantInterval lo = arg(1), hi = arg(2);
        if (lo.min_defined && (!r.min_defined || r.min < lo.min)) {
            r.min_defined = true;
            r.min = lo.min;
        }
        if (hi.max_defined && (!r.max_defined || r.max > hi.max)) {
            r.max_defined = true;
            r.max = hi.max;
        }
        return r;
    } else if (op->is_intrinsic({Call::return_second, Call::require})) {
        return op->args[1].type() == t && t.is_int_or_uint() ? arg(1) : all;
    } else if (op->is_intrinsic({Call::if_then_else, Call::select_mask, Call::if_then_else_mask})) {
        return op->args.size() == 3 ? ConstantInterval::make_union(arg(1), arg(2)) : arg(1);
    } else if (op->is_intrinsic(Call::mux)) {
        ConstantInterval r = arg(1);
        for (size_t i = 2; i < op->args.size(); i++) {
            r.include(arg(i));
        }
        return r;
    } else if (op->is_intrinsic(Call::abs)) {
        return fit(abs(arg(0)), t);
    } else if (op->is_intrinsic(Call::absd)) {
        return fit(abs(arg(0) - arg(1)), t);
    } else if (op->is_intrinsic({Call::bitwise_and, Call::bitwise_or, Call::bitwise_xor})) {
        return bitwise_bounds(op, arg(0), arg(1));
    } else if (op->is_intrinsic(Call::bitwise_not)) {
        return fit(t.is_int() ? -arg(0) - 1 : (all.max_defined ? ConstantInterval::single_point(all.max) - arg(0) : all), t);
    } else if (op->is_intrinsic({Call::shift_left, Call::widening_shift_left})) {
        return shifted(arg(0) << arg(1), arg(1));
    } else if (op->is_intrinsic({Call::shift_right, Call::widening_shift_right})) {
        return shifted(arg(0) >> arg(1), arg(1));
    } else if (op->is_intrinsic({Call::widening_add, Call::widen_right_add})) {
        return fit(arg(0) + arg(1), t);
    } else if (op->is_intrinsic({Call::widening_sub, Call::widen_right_sub})) {
        return fit(arg(0) - arg(1), t);
    } else if (op->is_intrinsic({Call::widening_mul, Call::widen_right_mul})) {
        return fit(arg(0) * arg(1), t);
    } else if (op->is_intrinsic(Call::saturating_add)) {
        return saturating_cast(t, arg(0) + arg(1));
    } else if (op->is_intrinsic(Call::saturating_sub)) {
        return saturating_cast(t, arg(0) - arg(1));
    } else if (op->is_intrinsic(Call::saturating_cast)) {
        return saturating_cast(t, arg(0));
    } else if (op->is_intrinsic(Call::halving_add)) {
        return fit((arg(0) + arg(1)) / 2, t);
    } else if (op->is_intrinsic(Call::rounding_halving_add)) {
        return fit((arg(0) + arg(1) + 1) / 2, t);
    } else if (op->is_intrinsic(Call::halving_sub)) {
        return fit((arg(0) - arg(1)) / 2, t);
    } else if (op->is_intrinsic(Call::rounding_shift_right)) {
        const ConstantInterval b = arg(1);
        return b >= 1 ? shifted((arg(0) + ((int64_t)1 << (b - 1))) >> b, b) : all;
    } else if (op->is_intrinsic(Call::rounding_shift_left)) {
        const ConstantInterval b = arg(1);
        return b >= 0 ? shifted(arg(0) << b, b) : all;
    } else if (op->is_intrinsic(Call::mul_shift_right)) {
        return saturating_cast(t, (arg(0) * arg(1)) >> arg(2));
    } else if (op->is_intrinsic(Call::rounding_mul_shift_right)) {
        const ConstantInterval q = arg(2);
        return q >= 1 ? saturating_cast(t, (arg(0) * arg(1) + ((int64_t)1 << (q - 1))) >> q) : all;
    } else if (op->is_intrinsic(Call::sorted_avg)) {
        return fit((arg(0) + arg(1)) / 2, t);
    } else if (op->is_intrinsic({Call::count_leading_zeros, Call::count_trailing_zeros, Call::popcount})) {
        return ConstantInterval(0, op->args[0].type().bits());
    } else if (op->is_intrinsic(Call::div_round_to_zero)) {
        const ConstantInterval b = arg(1);
        if (b > 0 || b < 0) {
            // Rounding toward zero is symmetric, so the magnitudes divide.
            const ConstantInterval q = abs(arg(0)) / abs(b);
            const bool nonnegative = (arg(0) >= 0 && b > 0) || (arg(0) <= 0 && b < 0);
            return fit(nonnegative ? q : ConstantInterval::make_union(q, -q), t);
        }
        return all;
    } else if (op->is_intrinsic(Call::mod_round_to_zero)) {
        const ConstantInterval b = arg(1);
        if (b > 0 || b < 0) {
            const ConstantInterval r = abs(arg(0)) % abs(b);
            return fit(arg(0) >= 0 ? r : ConstantInterval::make_union(r, -r), t);
        }
        return all;
    }
    return all;
}

ConstantInterval bounds_of_reduction(const VectorReduce *op, FactsOf<ConstantInterval> child) {
    const ConstantInterval v = child(op->value);
    const int factor = op->value.type().lanes() / op->type.lanes();
    switch (op->op) {
    case VectorReduce::Add:
        return fit(v * factor, op->type);
    case VectorReduce::SaturatingAdd:
        return saturating_cast(op->type, v * factor);
    case VectorReduce::Mul: {
        ConstantInterval r = v;
        for (int i = 1; i < factor && !r.is_everything(); i++) {
            r *= v;
        }
        return fit(r, op->type);
    }
    case VectorReduce::Min:
    case VectorReduce::Max:
    case VectorReduce::And:
    case VectorReduce::Or:
        return v;
    }
    return ConstantInterval::bounds_of_type(op->type);
}

}  // namespace

ConstantInterval constant_bounds_of_node(const Expr &e, FactsOf<ConstantInterval> child) {
    const Type t = e.type();
    const ConstantInterval all = ConstantInterval::bounds_of_type(t);
    if (!t.is_int_or_uint()) {
        return ConstantInterval::everything();
    }
    auto binary = [&](const auto *op, auto &&f) { return fit(f(child(op->a), child(op->b)), t); };
    // Comparisons of anything but integers are unknown.
    auto comparison = [&](const auto *op, auto &&known_true, auto &&known_false) {
        if (!op->a.type().is_int_or_uint()) {
            return ConstantInterval(0, 1);
        }
        const ConstantInterval a = child(op->a), b = child(op->b);
        return truth(known_true(a, b), known_false(a, b));
    };
    using I = const ConstantInterval &;
    auto lt = [](I a, I b) { return a < b; };
    auto le = [](I a, I b) { return a <= b; };
    auto gt = [](I a, I b) { return a > b; };
    auto ge = [](I a, I b) { return a >= b; };
    auto same = [](I a, I b) { return a.is_single_point() && b.is_single_point() && a.min == b.min; };
    auto apart = [](I a, I b) { return a < b || a > b; };

    switch (e.node_type()) {
    case IRNodeType::IntImm:
        return ConstantInterval::single_point(e.as<IntImm>()->value);
    case IRNodeType::UIntImm: {
        const uint64_t v = e.as<UIntImm>()->value;
        return v <= (uint64_t)std::numeric_limits<int64_t>::max() ? ConstantInterval::single_point((int64_t)v) :
                                                                    ConstantInterval::bounded_below(std::numeric_limits<int64_t>::max());
    }
    case IRNodeType::Broadcast:
        return child(e.as<Broadcast>()->value);
    case IRNodeType::Cast: {
        const Expr &value = e.as<Cast>()->value;
        if (!value.type().is_int_or_uint()) {
            return all;
        }
        ConstantInterval r = child(value);
        r.cast_to(t);
        return r;
    }
    case IRNodeType::Reinterpret: {
        const Expr &value = e.as<Reinterpret>()->value;
        if (!value.type().is_int_or_uint() || value.type().bits() != t.bits()) {
            return all;
        }
        ConstantInterval r = child(value);
        r.cast_to(t);
        return r;
    }
    case IRNodeType::Add:
        return binary(e.as<Add>(), [](I a, I b) { return a + b; });
    case IRNodeType::Sub:
        return binary(e.as<Sub>(), [](I a, I b) { return a - b; });
    case IRNodeType::Mul:
        return binary(e.as<Mul>(), [](I a, I b) { return a * b; });
    case IRNodeType::Div:
        return binary(e.as<Div>(), [](I a, I b) { return a / b; });
    case IRNodeType::Mod:
        return binary(e.as<Mod>(), [](I a, I b) { return a % b; });
    case IRNodeType::Min:
        return binary(e.as<Min>(), [](I a, I b) { return min(a, b); });
    case IRNodeType::Max:
        return binary(e.as<Max>(), [](I a, I b) { return max(a, b); });
    case IRNodeType::EQ:
        return comparison(e.as<EQ>(), same, apart);
    case IRNodeType::NE:
        return comparison(e.as<NE>(), apart, same);
    case IRNodeType::LT:
        return comparison(e.as<LT>(), lt, ge);
    case IRNodeType::LE:
        return comparison(e.as<LE>(), le, gt);
    case IRNodeType::GT:
        return comparison(e.as<GT>(), gt, le);
    case IRNodeType::GE:
        return comparison(e.as<GE>(), ge, lt);
    case IRNodeType::And:
        return binary(e.as<And>(), [](I a, I b) { return min(a, b); });
    case IRNodeType::Or:
        return binary(e.as<Or>(), [](I a, I b) { return max(a, b); });
    case IRNodeType::Not:
        return ConstantInterval::single_point(1) - child(e.as<Not>()->a);
    case IRNodeType::Select: {
        const Select *op = e.as<Select>();
        const ConstantInterval c = child(op->condition);
        if (c.is_single_point()) {
            return child(c.min ? op->true_value : op->false_value);
        }
        return ConstantInterval::make_union(child(op->true_value), child(op->false_value));
    }
    case IRNodeType::Ramp: {
        const Ramp *op = e.as<Ramp>();
        return fit(child(op->base) + child(op->stride) * ConstantInterval(0, op->lanes - 1), t);
    }
    case IRNodeType::Shuffle: {
        const Shuffle *op = e.as<Shuffle>();
        ConstantInterval r = child(op->vectors[0]);
        for (size_t i = 1; i < op->vectors.size(); i++) {
            r.include(child(op->vectors[i]));
        }
        return r;
    }
    case IRNodeType::VectorReduce:
        return bounds_of_reduction(e.as<VectorReduce>(), child);
    case IRNodeType::Call:
        return bounds_of_call(e.as<Call>(), child);
    case IRNodeType::Let:
        return child(e.as<Let>()->body);
    default:
        return all;
    }
}

namespace {

class Bounder {
    Scope<ConstantInterval> scope;
    std::map<Expr, ConstantInterval, ExprCompare> *cache;
    const std::map<std::pair<std::string, int>, Interval> &func_bounds;
    int lets = 0;

    static void take_constant_ends(const Interval &i, ConstantInterval &r) {
        if (i.has_lower_bound()) {
            if (auto c = as_const_int(i.min); c && (!r.min_defined || r.min < *c)) {
                r.min_defined = true;
                r.min = *c;
            }
        }
        if (i.has_upper_bound()) {
            if (auto c = as_const_int(i.max); c && (!r.max_defined || r.max > *c)) {
                r.max_defined = true;
                r.max = *c;
            }
        }
    }

    ConstantInterval compute(const Expr &e) {
        if (const Variable *v = e.as<Variable>()) {
            if (const ConstantInterval *i = scope.find(v->name)) {
                return fit(*i, v->type);
            }
        } else if (e.as<Let>()) {
            // Iterative over chains of lets, which can be long.
            std::vector<ScopedBinding<ConstantInterval>> bindings;
            Expr body = e;
            lets++;
            while (const Let *let = body.as<Let>()) {
                ConstantInterval value = bounds(let->value);
                bindings.emplace_back(scope, let->name, value);
                body = let->body;
            }
            const ConstantInterval result = bounds(body);
            lets--;
            while (!bindings.empty()) {
                bindings.pop_back();
            }
            return result;
        } else if (const Call *call = e.as<Call>(); call && call->call_type == Call::Halide) {
            ConstantInterval r = ConstantInterval::bounds_of_type(call->type);
            auto it = func_bounds.find({call->name, call->value_index});
            if (it != func_bounds.end()) {
                take_constant_ends(it->second, r);
            }
            return r;
        }
        return constant_bounds_of_node(e, [this](const Expr &c) { return bounds(c); });
    }

public:
    Bounder(const Scope<ConstantInterval> &s, std::map<Expr, ConstantInterval, ExprCompare> *cache,
            const std::map<std::pair<std::string, int>, Interval> &func_bounds)
        : cache(cache), func_bounds(func_bounds) {
        scope.set_containing_scope(&s);
    }

    ConstantInterval bounds(const Expr &e) {
        // Under a let the meaning of a node depends on more than the node, so it is not kept.
        if (!cache || lets > 0) {
            return compute(e);
        }
        auto it = cache->find(e);
        if (it != cache->end()) {
            return it->second;
        }
        const ConstantInterval result = compute(e);
        cache->emplace(e, result);
        return result;
    }
};

}  // namespace

ConstantInterval constant_integer_bounds(const Expr &e, const Scope<ConstantInterval> &scope,
                                         std::map<Expr, ConstantInterval, ExprCompare> *cache,
                                         const std::map<std::pair<std::string, int>, Interval> &func_bounds) {
    return Bounder(scope, cache, func_bounds).bounds(e);
}

}  // namespace Internal
}  // namespace Halide
