#include "analysis/Monotonic.h"

#include "analysis/ConstantBounds.h"
#include "ir/IR.h"
#include "ir/IROperator.h"

#include <vector>

namespace Halide {
namespace Internal {

namespace {

const ConstantInterval unchanged(0, 0);

bool is_unchanged(const ConstantInterval &d) {
    return d.is_single_point(0);
}

// Only the direction of a change: what remains after an operation that keeps order but not distance.
ConstantInterval direction(const ConstantInterval &d) {
    if (is_unchanged(d)) {
        return d;
    } else if (d >= 0) {
        return ConstantInterval::bounded_below(0);
    } else if (d <= 0) {
        return ConstantInterval::bounded_above(0);
    }
    return ConstantInterval::everything();
}

// A boolean that can only turn on, only turn off, or either.
ConstantInterval step(const ConstantInterval &d) {
    return ConstantInterval::make_intersection(direction(d), ConstantInterval(-1, 1));
}

class Derivative {
    const std::string &var;
    Scope<ConstantInterval> scope;
    std::map<Expr, ConstantInterval, ExprCompare> bounds_cache;

    ConstantInterval bounds(const Expr &e) {
        return constant_integer_bounds(e, Scope<ConstantInterval>::empty_scope(), &bounds_cache);
    }

    // Arithmetic of a type that wraps has the exact derivative only if the exact values fit; floats round.
    ConstantInterval in_type(const Expr &e, const ConstantInterval &exact_values, const ConstantInterval &d) {
        const Type t = e.type();
        if (is_unchanged(d)) {
            return d;
        }
        if (t.is_float()) {
            return direction(d);
        }
        if (!t.can_overflow() || ConstantInterval::bounds_of_type(t).contains(exact_values)) {
            return d;
        }
        return ConstantInterval::everything();
    }

    ConstantInterval product(const Expr &e, const Expr &a, const Expr &b) {
        const ConstantInterval da = of(a), db = of(b);
        if (is_unchanged(da) && is_unchanged(db)) {
            return unchanged;
        }
        if (e.type().is_float()) {
            const Expr &factor = is_unchanged(db) ? b : a;
            const ConstantInterval d = is_unchanged(db) ? da : db;
            if (is_unchanged(da) || is_unchanged(db)) {
                if (is_positive_const(factor) || is_const_zero(factor)) {
                    return direction(d);
                } else if (is_negative_const(factor)) {
                    return direction(-d);
                }
            }
            return ConstantInterval::everything();
        }
        if (!e.type().is_int_or_uint()) {
            return ConstantInterval::everything();
        }
        // (a + da)(b + db) - ab = da b + a db + da db
        const ConstantInterval ba = bounds(a), bb = bounds(b);
        return in_type(e, ba * bb, da * bb + ba * db + da * db);
    }

    ConstantInterval quotient(const Expr &e, const Expr &a, const Expr &b) {
        const ConstantInterval da = of(a), db = of(b);
        if (is_unchanged(da) && is_unchanged(db)) {
            return unchanged;
        }
        if (!is_unchanged(db)) {
            return ConstantInterval::everything();
        }
        if (e.type().is_float()) {
            return is_positive_const(b) ? direction(da) : is_negative_const(b) ? direction(-da) :
                                                                                  ConstantInterval::everything();
        }
        const ConstantInterval by = bounds(b);
        // Between the floor and the ceiling of da / b.
        auto spread = [](const ConstantInterval &d, const ConstantInterval &by) {
            return ConstantInterval::make_union(d / by, -(-d / by));
        };
        if (by > 0) {
            return in_type(e, bounds(a) / by, spread(da, by));
        } else if (by < 0) {
            return in_type(e, bounds(a) / by, spread(-da, -by));
        } else if (by >= 0) {
            return direction(da);  // x / 0 is 0, and stays
        }
        return ConstantInterval::everything();
    }

    ConstantInterval choice(const Expr &c, const Expr &t, const Expr &f) {
        const ConstantInterval dc = of(c);
        ConstantInterval result = ConstantInterval::make_union(of(t), of(f));
        if (is_unchanged(dc)) {
            return result;
        }
        if (!t.type().is_int_or_uint()) {
            return ConstantInterval::everything();
        }
        const ConstantInterval jump = bounds(t) - bounds(f);
        if (!(dc <= 0)) {
            result.include(jump);
        }
        if (!(dc >= 0)) {
            result.include(-jump);
        }
        return result;
    }

    ConstantInterval conversion(const Expr &e, const Expr &value) {
        const ConstantInterval d = of(value);
        const Type to = e.type(), from = value.type();
        if (is_unchanged(d)) {
            return d;
        }
        if (to.is_float() && (from.is_int_or_uint() || from.is_float())) {
            return direction(d);
        }
        if (from.is_float()) {
            // Out of range is unspecified.
            return to.is_int_or_uint() && to.bits() >= 32 ? direction(d) : ConstantInterval::everything();
        }
        if (to.is_int_or_uint() && from.is_int_or_uint() &&
            (to.can_represent(from) || ConstantInterval::bounds_of_type(to).contains(bounds(value)))) {
            return d;
        }
        return ConstantInterval::everything();
    }

    bool all_unchanged(const std::vector<Expr> &args) {
        for (const Expr &a : args) {
            if (!is_unchanged(of(a))) {
                return false;
            }
        }
        return true;
    }

    ConstantInterval of_call(const Expr &e, const Call *op) {
        if (op->is_intrinsic({Call::likely, Call::likely_if_innermost})) {
            return of(op->args[0]);
        } else if (op->is_intrinsic({Call::return_second, Call::require})) {
            return of(op->args[1]);
        } else if (op->is_intrinsic({Call::promise_clamped, Call::unsafe_promise_clamped})) {
            ConstantInterval d = of(op->args[0]);
            d.include(of(op->args[1]));
            d.include(of(op->args[2]));
            return d;
        } else if (op->is_intrinsic(Call::if_then_else) && op->args.size() == 3) {
            return choice(op->args[0], op->args[1], op->args[2]);
        }
        if (all_unchanged(op->args)) {
            return op->is_pure() || op->call_type == Call::Halide || op->call_type == Call::Image ?
                       unchanged :
                       ConstantInterval::everything();
        }
        if (op->is_intrinsic({Call::shift_left, Call::shift_right}) && is_unchanged(of(op->args[1])) &&
            bounds(op->args[1]) >= 0 && bounds(op->args[1]) < op->type.bits()) {
            const ConstantInterval d = of(op->args[0]), by = bounds(op->args[1]), values = bounds(op->args[0]);
            if (op->is_intrinsic(Call::shift_right)) {
                return ConstantInterval::make_union(d >> by, -(-d >> by));
            }
            const bool exact = ConstantInterval::bounds_of_type(op->type).contains(values << by);
            return exact || !op->type.can_overflow() ? d << by : ConstantInterval::everything();
        } else if (op->is_intrinsic({Call::widening_add, Call::widen_right_add})) {
            return in_type(e, bounds(op->args[0]) + bounds(op->args[1]), of(op->args[0]) + of(op->args[1]));
        } else if (op->is_intrinsic({Call::widening_sub, Call::widen_right_sub})) {
            return in_type(e, bounds(op->args[0]) - bounds(op->args[1]), of(op->args[0]) - of(op->args[1]));
        } else if (op->is_intrinsic({Call::widening_mul, Call::widen_right_mul})) {
            return product(e, op->args[0], op->args[1]);
        } else if (op->is_intrinsic({Call::saturating_add, Call::halving_add, Call::rounding_halving_add})) {
            return direction(of(op->args[0]) + of(op->args[1]));
        } else if (op->is_intrinsic({Call::saturating_sub})) {
            return direction(of(op->args[0]) - of(op->args[1]));
        } else if (op->is_intrinsic({Call::saturating_cast, Call::round})) {
            return direction(of(op->args[0]));
        } else if (op->is_intrinsic(Call::abs) && op->args[0].type().is_int()) {
            const ConstantInterval v = bounds(op->args[0]), d = of(op->args[0]);
            if (v >= 0) {
                return d;
            } else if (v <= 0) {
                return -d;
            }
            return ConstantInterval::make_union(d, -d);
        } else if (op->call_type == Call::PureExtern && op->args.size() == 1) {
            // Rounded values of increasing functions are in order, too.
            for (const char *increasing : {"floor_", "ceil_", "trunc_", "round_", "sqrt_", "exp_", "log_", "tanh_",
                                           "atan_", "asin_", "sinh_", "asinh_"}) {
                if (op->name.compare(0, std::string(increasing).size(), increasing) == 0) {
                    return direction(of(op->args[0]));
                }
            }
        }
        return ConstantInterval::everything();
    }

    ConstantInterval of_let(Expr e) {
        std::vector<ScopedBinding<ConstantInterval>> bindings;
        while (const Let *let = e.as<Let>()) {
            ConstantInterval d = of(let->value);
            bindings.emplace_back(scope, let->name, d);
            e = let->body;
        }
        const ConstantInterval result = of(e);
        while (!bindings.empty()) {
            bindings.pop_back();
        }
        return result;
    }

public:
    Derivative(const std::string &var, const Scope<ConstantInterval> &s)
        : var(var) {
        scope.set_containing_scope(&s);
    }

    ConstantInterval of(const Expr &e) {
        switch (e.node_type()) {
        case IRNodeType::IntImm:
        case IRNodeType::UIntImm:
        case IRNodeType::FloatImm:
        case IRNodeType::StringImm:
            return unchanged;
        case IRNodeType::Variable: {
            const Variable *v = e.as<Variable>();
            if (const ConstantInterval *d = scope.find(v->name)) {
                return *d;
            }
            return v->name == var ? ConstantInterval(1, 1) : unchanged;
        }
        case IRNodeType::Broadcast:
            return of(e.as<Broadcast>()->value);
        case IRNodeType::Cast:
            return conversion(e, e.as<Cast>()->value);
        case IRNodeType::Reinterpret: {
            const ConstantInterval d = of(e.as<Reinterpret>()->value);
            return is_unchanged(d) ? d : ConstantInterval::everything();
        }
        case IRNodeType::Add: {
            const Add *op = e.as<Add>();
            const ConstantInterval d = of(op->a) + of(op->b);
            return in_type(e, bounds(op->a) + bounds(op->b), d);
        }
        case IRNodeType::Sub: {
            const Sub *op = e.as<Sub>();
            const ConstantInterval d = of(op->a) - of(op->b);
            return in_type(e, bounds(op->a) - bounds(op->b), d);
        }
        case IRNodeType::Mul:
            return product(e, e.as<Mul>()->a, e.as<Mul>()->b);
        case IRNodeType::Div:
            return quotient(e, e.as<Div>()->a, e.as<Div>()->b);
        case IRNodeType::Mod: {
            const Mod *op = e.as<Mod>();
            return is_unchanged(of(op->a)) && is_unchanged(of(op->b)) ? unchanged : ConstantInterval::everything();
        }
        case IRNodeType::Min:
            return ConstantInterval::make_union(of(e.as<Min>()->a), of(e.as<Min>()->b));
        case IRNodeType::Max:
            return ConstantInterval::make_union(of(e.as<Max>()->a), of(e.as<Max>()->b));
        case IRNodeType::EQ:
        case IRNodeType::NE: {
            const EQ *eq = e.as<EQ>();
            const Expr &a = eq ? eq->a : e.as<NE>()->a, &b = eq ? eq->b : e.as<NE>()->b;
            const ConstantInterval da = of(a), db = of(b);
            return is_unchanged(da) && is_unchanged(db) ? unchanged : ConstantInterval(-1, 1);
        }
        case IRNodeType::LT:
            return step(of(e.as<LT>()->b) - of(e.as<LT>()->a));
        case IRNodeType::LE:
            return step(of(e.as<LE>()->b) - of(e.as<LE>()->a));
        case IRNodeType::GT:
            return step(of(e.as<GT>()->a) - of(e.as<GT>()->b));
        case IRNodeType::GE:
            return step(of(e.as<GE>()->a) - of(e.as<GE>()->b));
        case IRNodeType::And:
            return step(ConstantInterval::make_union(of(e.as<And>()->a), of(e.as<And>()->b)));
        case IRNodeType::Or:
            return step(ConstantInterval::make_union(of(e.as<Or>()->a), of(e.as<Or>()->b)));
        case IRNodeType::Not:
            return -of(e.as<Not>()->a);
        case IRNodeType::Select:
            return choice(e.as<Select>()->condition, e.as<Select>()->true_value, e.as<Select>()->false_value);
        case IRNodeType::Load: {
            const Load *op = e.as<Load>();
            return is_unchanged(of(op->index)) && is_unchanged(of(op->predicate)) ? unchanged :
                                                                                    ConstantInterval::everything();
        }
        case IRNodeType::Ramp: {
            const Ramp *op = e.as<Ramp>();
            const ConstantInterval d = of(op->base) + of(op->stride) * ConstantInterval(0, op->lanes - 1);
            return in_type(e, bounds(op->base) + bounds(op->stride) * ConstantInterval(0, op->lanes - 1), d);
        }
        case IRNodeType::Shuffle: {
            const Shuffle *op = e.as<Shuffle>();
            ConstantInterval d = of(op->vectors[0]);
            for (size_t i = 1; i < op->vectors.size(); i++) {
                d.include(of(op->vectors[i]));
            }
            return d;
        }
        case IRNodeType::VectorReduce: {
            const VectorReduce *op = e.as<VectorReduce>();
            const ConstantInterval d = of(op->value);
            const int factor = op->value.type().lanes() / op->type.lanes();
            switch (op->op) {
            case VectorReduce::Add:
                return in_type(e, bounds(op->value) * factor, d * factor);
            case VectorReduce::SaturatingAdd:
                return direction(d);
            case VectorReduce::Mul:
                return is_unchanged(d) ? d : ConstantInterval::everything();
            default:
                return d;
            }
        }
        case IRNodeType::Let:
            return of_let(e);
        case IRNodeType::Call:
            return of_call(e, e.as<Call>());
        default:
            return ConstantInterval::everything();
        }
    }
};

}  // namespace

ConstantInterval derivative_bounds(const Expr &e, const std::string &var, const Scope<ConstantInterval> &scope) {
    return e.defined() ? Derivative(var, scope).of(e) : ConstantInterval::everything();
}

Monotonic is_monotonic(const Expr &e, const std::string &var, const Scope<ConstantInterval> &scope) {
    const ConstantInterval d = derivative_bounds(e, var, scope);
    if (is_unchanged(d)) {
        return Monotonic::Constant;
    } else if (d >= 0) {
        return Monotonic::Increasing;
    } else if (d <= 0) {
        return Monotonic::Decreasing;
    }
    return Monotonic::Unknown;
}

Monotonic is_monotonic(const Expr &e, const std::string &var, const Scope<Monotonic> &scope) {
    Scope<ConstantInterval> derivatives;
    for (auto it = scope.cbegin(); it != scope.cend(); ++it) {
        switch (it.value()) {
        case Monotonic::Constant:
            derivatives.push(it.name(), unchanged);
            break;
        case Monotonic::Increasing:
            derivatives.push(it.name(), ConstantInterval::bounded_below(0));
            break;
        case Monotonic::Decreasing:
            derivatives.push(it.name(), ConstantInterval::bounded_above(0));
            break;
        case Monotonic::Unknown:
            derivatives.push(it.name(), ConstantInterval::everything());
            break;
        }
    }
    return is_monotonic(e, var, derivatives);
}

std::ostream &operator<<(std::ostream &stream, const Monotonic &m) {
    switch (m) {
    case Monotonic::Constant:
        return stream << "Constant";
    case Monotonic::Increasing:
        return stream << "Increasing";
    case Monotonic::Decreasing:
        return stream << "Decreasing";
    case Monotonic::Unknown:
        return stream << "Unknown";
    }
    return stream;
}

}  // namespace Internal
}  // namespace Halide
