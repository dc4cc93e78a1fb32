#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "analysis/ConstantBounds.h"
#include "api/Func.h"
#include "func/FunctionContents.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"
#include "regions/Associativity.h"
#include "simplify/Simplify.h"

// f(x) = e; f(x) = u(f(x))   →   f_typed(x) = T(e); f_typed(x) = T(u(S(f_typed(x)))); f(x) = S(f_typed(x))
//
// S is the old type and T the new one. If every value that f ever has is one of T's, S(f_typed) is f in every stage,
// whatever u is. Casts then move inwards only where arithmetic of T wraps, which does not change the low bits.

namespace Halide {

using namespace Internal;

namespace {

/// What the values of all stages lie in, and what must hold at run time for that to be true.
class ValueRange {
    const Function &func;
    const Type type;
    const std::string &what;
    ConstantInterval range;

    bool fits() const { return type.is_int_or_uint() && type.can_represent(range); }

    /// The number of times that an update may change one value.
    static Expr repetitions(const Definition &update) {
        Expr n = make_const(Int(64), 1);
        for (const ReductionVariable &rv : update.schedule().rvars()) {
            n = n * max(cast<int64_t>(rv.extent), make_const(Int(64), 0));
        }
        return simplify(n);
    }

    ConstantInterval bounds(const Expr &value) const {
        const std::string name = func.name() + ".old";
        const Expr old = Variable::make(value.type(), name);
        const Expr e = mutate_with(value, [&](auto *self, const Call *op) -> Expr {
            return op->call_type == Call::Halide && op->name == func.name() ? old : self->visit_base(op);
        });
        Scope<ConstantInterval> scope;
        scope.push(name, range);
        return constant_integer_bounds(simplify(e), scope);
    }

    /// The range after an update that adds, or a run-time limit of how often it may.
    bool include_sum(const Definition &update, const Expr &added, FuncSchedule &schedule) {
        const ConstantInterval step = bounds(added);
        if (!step.is_bounded() || !range.is_bounded()) {
            return false;
        }
        const Expr n = repetitions(update);
        if (const auto times = as_const_int(n)) {
            const ConstantInterval up = ConstantInterval::single_point(*times) * step;
            range = ConstantInterval::make_union(range, range + up);
            return true;
        }
        const ConstantInterval all = ConstantInterval::bounds_of_type(type);
        int64_t limit = INT64_MAX;
        if (step.max > 0) {
            limit = all.max_defined ? std::min(limit, (all.max - range.max) / step.max) : limit;
        }
        if (step.min < 0) {
            limit = std::min(limit, (all.min - range.min) / step.min);
        }
        if (!fits()) {
            return false;
        }
        if (limit != INT64_MAX) {
            schedule.type_change_checks().emplace_back(n <= make_const(Int(64), limit),
                                                       what + ": a reduction of more than " + std::to_string(limit) +
                                                           " steps may not fit in the type.");
        }
        range = all;
        return true;
    }

public:
    ValueRange(const Function &func, Type type, const std::string &what) : func(func), type(type), what(what) {}

    /// Adds run-time checks to `schedule`. @returns whether all values are values of the type then.
    bool establish(FuncSchedule &schedule) {
        range = bounds(func.values()[0]);
        for (const Definition &update : func.updates()) {
            if (!fits()) {
                return false;
            }
            const Expr value = update.values()[0];
            const AssociativeOp op = prove_associativity(func.name(), update.args(), {value});
            if (op.associative() && op.xs[0].expr.defined() && op.pattern.ops[0].as<Add>()) {
                if (!include_sum(update, op.ys[0].expr, schedule)) {
                    return false;
                }
                continue;
            }
            // Anything else must reach values that it reproduces.
            const ConstantInterval once = ConstantInterval::make_union(range, bounds(value));
            range = once;
            if (!once.contains(bounds(value))) {
                return false;
            }
        }
        return fits();
    }
};

/// Moves a cast to a type inwards: through what keeps the low bits if the type wraps, or through all arithmetic. Old
/// values of the Func `typed` have that type already.
Expr push_cast(const Type &t, const Expr &e, bool through_everything, const std::string &typed) {
    if (e.type() == t) {
        return e;
    }
    const bool low_bits = t.can_overflow() && !t.is_bool() && e.type().is_int_or_uint() && e.type().bits() >= t.bits();
    if (const Cast *c = e.as<Cast>(); c && c->value.type() == t) {
        const Call *old = c->value.as<Call>();
        if (c->type.can_represent(t) || (through_everything && old && old->name == typed)) {
            return c->value;
        }
    }
    if (low_bits || through_everything) {
        const auto both = [&](const Expr &a, const Expr &b, auto make) {
            return make(push_cast(t, a, through_everything, typed), push_cast(t, b, through_everything, typed));
        };
        if (const Add *op = e.as<Add>()) {
            return both(op->a, op->b, Add::make);
        }
        if (const Sub *op = e.as<Sub>()) {
            return both(op->a, op->b, Sub::make);
        }
        if (const Mul *op = e.as<Mul>()) {
            return both(op->a, op->b, Mul::make);
        }
        if (const Select *op = e.as<Select>()) {
            return select(op->condition, push_cast(t, op->true_value, through_everything, typed),
                          push_cast(t, op->false_value, through_everything, typed));
        }
    }
    if (through_everything) {
        const auto both = [&](const Expr &a, const Expr &b, auto make) {
            return make(push_cast(t, a, true, typed), push_cast(t, b, true, typed));
        };
        if (const Div *op = e.as<Div>()) {
            return both(op->a, op->b, Div::make);
        }
        if (const Min *op = e.as<Min>()) {
            return both(op->a, op->b, Min::make);
        }
        if (const Max *op = e.as<Max>()) {
            return both(op->a, op->b, Max::make);
        }
    }
    return cast(t, e);
}

}  // namespace

Func Func::change_type(const Type &t, bool unsafe) {
    std::ostringstream call;
    call << name() << ".change_type(" << t << ")";
    const std::string what = call.str();
    user_assert(defined()) << what << ": the Func is not defined yet.\n";
    user_assert(!func.has_extern_definition()) << what << ": the Func is computed by an extern function.\n";
    user_assert(func.outputs() == 1) << what << ": the Func has " << func.outputs()
                                     << " values; only one can change.\n";
    user_assert(t.is_scalar() && (t.is_int_or_uint() || t.is_float()))
        << what << ": the new type must be a scalar number.\n";
    const Type old_type = func.output_types()[0];
    user_assert(old_type.is_int_or_uint() || old_type.is_float())
        << what << ": the Func has type " << old_type << ", which is not a number.\n";
    user_assert(!func.definition().schedule().touched() && func.definition().specializations().empty())
        << what << ": the Func has a schedule already. Change its type first, and schedule what change_type returns.\n";
    user_assert(t != old_type) << what << ": that is the type it has.\n";
    invalidate_cache();

    FuncSchedule checks;
    if (!unsafe) {
        // A float type holds what a narrower one, or an integer of few bits, can be.
        bool exact = t.can_represent(old_type);
        if (!exact && old_type.is_int_or_uint() && t.is_int_or_uint()) {
            exact = ValueRange(func, t, what).establish(checks);
        }
        user_assert(exact) << what << ": values of type " << old_type << " may not fit in " << t
                           << ", and nothing shows that those of " << name() << " do.\n"
                           << "  Clamp what it computes, bound its reductions, or write change_type(..., true).\n";
    }
    const bool compute_in_new_type = unsafe && (t.is_float() || old_type.is_float());

    Function typed = func.new_function_in_same_group(name() + "_typed");
    const auto retyped_calls = [&](const Expr &e) {
        return mutate_with(e, [&](auto *self, const Call *op) -> Expr {
            if (op->call_type != Call::Halide || !op->func.same_as(func.get_contents())) {
                return self->visit_base(op);
            }
            std::vector<Expr> args;
            for (const Expr &a : op->args) {
                args.push_back(self->mutate(a));
            }
            return cast(old_type, Call::make(typed, args, 0, false));
        });
    };
    typed.define(func.args(), {push_cast(t, func.values()[0], compute_in_new_type, typed.name())});
    for (const Definition &update : func.updates()) {
        std::vector<Expr> args;
        for (const Expr &a : update.args()) {
            args.push_back(retyped_calls(a));
        }
        const Expr value = push_cast(t, retyped_calls(update.values()[0]), compute_in_new_type, typed.name());
        ReductionDomain rdom;
        if (!update.schedule().rvars().empty()) {
            visit_with(Call::make(Int(32), Call::bundle, {value}, Call::PureIntrinsic),
                       [&](auto *, const Variable *op) {
                           rdom = op->reduction_domain.defined() ? op->reduction_domain : rdom;
                       });
            for (const Expr &a : args) {
                visit_with(a, [&](auto *, const Variable *op) {
                    rdom = op->reduction_domain.defined() ? op->reduction_domain : rdom;
                });
            }
        }
        typed.define_update(args, {value}, rdom);
    }
    typed.schedule().type_change_checks() = checks.type_change_checks();

    // Consumers keep their handle of this Func, so it is its definition that changes.
    FunctionContents &contents = *func.get_contents();
    const std::vector<Expr> args = contents.init_def.args();
    contents.updates.clear();
    contents.init_def.values() = {cast(old_type, Call::make(typed, args, 0, false))};
    return Func(typed);
}

}  // namespace Halide
