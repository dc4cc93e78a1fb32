// Bounds of linear forms: by the bounds of atoms, by facts, by cases of min, max and select, by the definition of
// division, and by replacing a variable by a bound of it. `fuel` limits how many forms are looked at for one question.

#include "analysis/ModulusRemainder.h"
#include "ir/IROperator.h"
#include "simplify/Simplifier.h"

#include <algorithm>

namespace Halide {
namespace Internal {

namespace {

constexpr int max_depth = 8;

bool nowrap(const Type &t) {
    return t.is_int() && t.bits() >= 32;
}

}  // namespace

bool Simplifier::exact_in_type(const LinearForm &form, const Type &t) {
    return form.valid && ConstantInterval::bounds_of_type(t).contains(bounds_of_terms(form));
}

// The form of a - b, if arithmetic on it is exact.
std::optional<LinearForm> Simplifier::difference(const Expr &a, const Expr &b) {
    const Type t = a.type();
    if (!t.is_int_or_uint() || t.is_bool()) {
        return std::nullopt;
    }
    LinearForm form;
    if (nowrap(t)) {
        form.add(a, 1, LinearForm::Use::Value);
        form.add(b, -1, LinearForm::Use::Value);
    } else {
        for (int side = 0; side < 2; side++) {
            const Expr &e = side == 0 ? a : b;
            LinearForm f;
            f.add(e, 1, LinearForm::Use::Value);
            if (!exact_in_type(f, t)) {
                f = LinearForm();
                f.add_term(e, 1);
            }
            form.add(f, side == 0 ? 1 : -1);
        }
    }
    return form.valid ? std::optional<LinearForm>(std::move(form)) : std::nullopt;
}

// Adds factor * e: taken apart if its arithmetic is exact, as an atom otherwise.
static void add_value(LinearForm &form, const Expr &e, int64_t factor) {
    if (nowrap(e.type())) {
        form.add(e, factor, LinearForm::Use::Value);
    } else if (is_const(e)) {
        form.add(e, factor, LinearForm::Use::Value);
    } else {
        form.add_term(e, factor);
    }
}

ConstantInterval Simplifier::bounds_of_terms(const LinearForm &form) {
    ConstantInterval r = ConstantInterval::single_point(form.constant);
    ModulusRemainder m(0, form.constant);
    for (const LinearForm::Term &t : form.terms) {
        const Info i = info(t.atom);
        r += i.bounds * t.coefficient;
        m = m + i.alignment * t.coefficient;
    }
    if (m.modulus > 1) {
        // Move the ends to the nearest values of the right remainder.
        int64_t moved;
        if (r.min_defined && !__builtin_add_overflow(r.min, mod_imp<int64_t>(m.remainder - mod_imp(r.min, m.modulus), m.modulus), &moved)) {
            r.min = moved;
        }
        if (r.max_defined && !__builtin_sub_overflow(r.max, mod_imp<int64_t>(mod_imp(r.max, m.modulus) - m.remainder, m.modulus), &moved)) {
            r.max = moved;
        }
    }
    return r;
}

// min(p, q) is p or q, and the form with min is the lesser (or greater) of the forms with p and q.
ConstantInterval Simplifier::bounds_by_cases(const LinearForm &form, int &fuel, int depth) {
    ConstantInterval result;
    for (size_t i = 0; i < form.terms.size(); i++) {
        const Expr &atom = form.terms[i].atom;
        const int64_t k = form.terms[i].coefficient;
        const Min *lesser = atom.as<Min>();
        const Max *greater = atom.as<Max>();
        const Select *choice = atom.as<Select>();
        if (!lesser && !greater && !choice) {
            continue;
        }
        const Expr &p = lesser ? lesser->a : greater ? greater->a : choice->true_value;
        const Expr &q = lesser ? lesser->b : greater ? greater->b : choice->false_value;
        LinearForm with_p = form.without(i), with_q = with_p;
        add_value(with_p, p, k);
        add_value(with_q, q, k);
        fuel--;
        if (choice) {
            // What is found while simplifying may remove a clamp, and interval analysis, which looks at both arms in full,
            // must find the same bounds without it: there the condition is not used.
            const bool scalar = proving && choice->condition.type().is_scalar() && fuel > 4;
            ConstantInterval a, b;
            {
                FactScope scope(*this);
                if (scalar) {
                    learn_true(choice->condition);
                }
                a = bounds_of_form(with_p, fuel, depth + 1);
            }
            {
                FactScope scope(*this);
                if (scalar) {
                    learn_false(choice->condition);
                }
                b = bounds_of_form(with_q, fuel, depth + 1);
            }
            return ConstantInterval::make_union(a, b);
        }
        const ConstantInterval a = bounds_of_form(with_p, fuel, depth + 1);
        const ConstantInterval b = bounds_of_form(with_q, fuel, depth + 1);
        return (lesser != nullptr) == (k > 0) ? min(a, b) : max(a, b);
    }
    return result;
}

// c * (x / c) = x - x % c: multiply the form by c, so that x can meet what else it holds.
ConstantInterval Simplifier::bounds_by_division(const LinearForm &form, int &fuel, int depth) {
    if (form.terms.size() < 2) {
        return {};
    }
    for (size_t i = 0; i < form.terms.size(); i++) {
        const Div *div = form.terms[i].atom.as<Div>();
        if (!div || !nowrap(div->type)) {
            continue;
        }
        const auto c = as_const_int(div->b);
        if (!c || *c <= 1 || *c > (1 << 30)) {
            continue;
        }
        const int64_t k = form.terms[i].coefficient;
        LinearForm scaled = form.without(i);
        scaled.scale(*c);
        scaled.add(div->a, k, LinearForm::Use::Value);
        if (!scaled.valid) {
            continue;
        }
        ConstantInterval remainder(0, *c - 1);
        const ModulusRemainder m = info(div->a).alignment % *c;
        if (m.modulus == 0) {
            remainder = ConstantInterval::single_point(m.remainder);
        } else if (*c % m.modulus == 0) {
            remainder = ConstantInterval(m.remainder, *c - m.modulus + m.remainder);
        }
        fuel--;
        return divide_inward(bounds_of_form(scaled, fuel, depth + 1) - remainder * k, *c);
    }
    return {};
}

// form = form' + k * fact, where form' does not have the variable.
ConstantInterval Simplifier::bounds_by_elimination(const LinearForm &form, int &fuel, int depth) {
    ConstantInterval result;
    auto eliminate = [&](const LinearForm &fact, const ConstantInterval &range, const std::string &name, int64_t k) {
        for (const LinearForm::Term &t : fact.terms) {
            const Variable *v = t.atom.as<Variable>();
            if (v && v->name == name && t.coefficient != 0 && k % t.coefficient == 0) {
                const int64_t factor = k / t.coefficient;
                // Only the end that is known can help.
                LinearForm rest = form;
                rest.add(fact, -factor);
                if (rest.valid && rest.terms.size() <= form.terms.size() + 1) {
                    fuel--;
                    tighten(result, bounds_of_form(rest, fuel, depth + 1) + range * factor);
                }
                return;
            }
        }
    };
    for (const LinearForm::Term &t : form.terms) {
        const Variable *v = t.atom.as<Variable>();
        if (!v || fuel <= 0) {
            continue;
        }
        auto it = facts_by_name.find(v->name);
        if (it != facts_by_name.end()) {
            int tried = 0;
            for (size_t j = it->second.size(); j-- > 0 && tried < 6 && fuel > 0; tried++) {
                const Fact f = facts[it->second[j]];
                if (!f.hidden) {
                    eliminate(f.form, f.range, v->name, t.coefficient);
                }
            }
        }
        auto own = variables.find(v->name);
        if (own != variables.end() && own->second.bound_here) {
            continue;
        }
        if (const Interval *i = given_bounds.find(v->name)) {
            for (int end = 0; end < 2 && fuel > 0; end++) {
                const bool usable = end ? i->has_upper_bound() : i->has_lower_bound();
                const Expr &bound = end ? i->max : i->min;
                if (usable && !is_const(bound) && nowrap(bound.type()) && means_the_same_here(bound)) {
                    LinearForm fact;
                    fact.add_term(t.atom, 1);
                    fact.add(bound, -1, LinearForm::Use::Value);
                    eliminate(fact, end ? ConstantInterval::bounded_above(0) : ConstantInterval::bounded_below(0),
                              v->name, t.coefficient);
                }
            }
        }
    }
    return result;
}

ConstantInterval Simplifier::bounds_of_form(const LinearForm &form, int &fuel, int depth) {
    if (!form.valid) {
        return {};
    }
    if (form.terms.empty()) {
        return ConstantInterval::single_point(form.constant);
    }
    ConstantInterval result = bounds_of_terms(form);
    tighten(result, bounds_from_facts(form));
    if (fuel > 0 && depth < max_depth && !result.is_single_point()) {
        tighten(result, bounds_by_cases(form, fuel, depth));
        if (fuel > 0) {
            tighten(result, bounds_by_division(form, fuel, depth));
        }
        if (fuel > 0) {
            tighten(result, bounds_by_elimination(form, fuel, depth));
        }
    }
    return result;
}

ConstantInterval Simplifier::bounds_of_difference(const Expr &a, const Expr &b, int fuel) {
    if (!a.type().is_int_or_uint() || a.type().is_bool()) {
        return {};
    }
    const auto form = difference(a, b);
    return form ? bounds_of_form(*form, fuel) : bounds_of(a) - bounds_of(b);
}

bool Simplifier::prove_comparison(IRNodeType type, const Expr &a, const Expr &b, int fuel) {
    if (!a.type().is_int_or_uint()) {
        return false;
    }
    const ConstantInterval d = bounds_of_difference(a, b, fuel);
    switch (type) {
    case IRNodeType::LT:
        return d < 0;
    case IRNodeType::LE:
        return d <= 0;
    case IRNodeType::EQ:
        return d.is_single_point(0);
    case IRNodeType::NE:
        return d < 0 || d > 0;
    default:
        return false;
    }
}

bool Simplifier::refute(const Expr &e, int fuel) {
    if (is_const(e)) {
        return is_const_zero(e);
    }
    if (auto known = known_truth(e)) {
        return !*known;
    }
    switch (e.node_type()) {
    case IRNodeType::Not:
        return prove(e.as<Not>()->a, fuel);
    case IRNodeType::And:
        return refute(e.as<And>()->a, fuel) || refute(e.as<And>()->b, fuel);
    case IRNodeType::Or:
        return refute(e.as<Or>()->a, fuel) && refute(e.as<Or>()->b, fuel);
    case IRNodeType::EQ:
        return prove_comparison(IRNodeType::NE, e.as<EQ>()->a, e.as<EQ>()->b, fuel);
    case IRNodeType::NE:
        return prove_comparison(IRNodeType::EQ, e.as<NE>()->a, e.as<NE>()->b, fuel);
    case IRNodeType::LT:
        return prove_comparison(IRNodeType::LE, e.as<LT>()->b, e.as<LT>()->a, fuel);
    case IRNodeType::LE:
        return prove_comparison(IRNodeType::LT, e.as<LE>()->b, e.as<LE>()->a, fuel);
    case IRNodeType::GT:
        return prove_comparison(IRNodeType::LE, e.as<GT>()->a, e.as<GT>()->b, fuel);
    case IRNodeType::GE:
        return prove_comparison(IRNodeType::LT, e.as<GE>()->a, e.as<GE>()->b, fuel);
    case IRNodeType::Broadcast:
        return refute(e.as<Broadcast>()->value, fuel);
    case IRNodeType::Call:
        return Call::as_tag(e) && refute(e.as<Call>()->args[0], fuel);
    default:
        return false;
    }
}

bool Simplifier::prove(const Expr &e, int fuel) {
    if (is_const(e)) {
        return is_const_one(e);
    }
    if (auto known = known_truth(e)) {
        return *known;
    }
    switch (e.node_type()) {
    case IRNodeType::Not:
        return refute(e.as<Not>()->a, fuel);
    case IRNodeType::And:
        return prove(e.as<And>()->a, fuel) && prove(e.as<And>()->b, fuel);
    case IRNodeType::Or: {
        const Or *op = e.as<Or>();
        if (prove(op->a, fuel) || prove(op->b, fuel)) {
            return true;
        }
        // Where one side is false the other must hold.
        {
            FactScope scope(*this);
            learn_false(op->a);
            if (prove(op->b, fuel)) {
                return true;
            }
        }
        FactScope scope(*this);
        learn_false(op->b);
        return prove(op->a, fuel);
    }
    case IRNodeType::Select: {
        const Select *op = e.as<Select>();
        bool result;
        {
            FactScope scope(*this);
            learn_true(op->condition);
            result = prove(op->true_value, fuel);
        }
        if (result) {
            FactScope scope(*this);
            learn_false(op->condition);
            result = prove(op->false_value, fuel);
        }
        return result;
    }
    case IRNodeType::Let: {
        const Let *op = e.as<Let>();
        FactScope scope(*this);
        VariableInfo info;
        if (op->value.type().is_int_or_uint()) {
            const Info i = this->info(op->value);
            info.bounds = i.bounds;
            info.alignment = i.alignment;
        }
        if (bind(op->name, op->value.type(), info) != op->name) {
            return false;
        }
        learn_let(op->name, op->value);
        if (op->value.type().is_bool()) {
            change_variable(op->name).definition = op->value;
        }
        return prove(op->body, fuel);
    }
    case IRNodeType::EQ:
        return prove_comparison(IRNodeType::EQ, e.as<EQ>()->a, e.as<EQ>()->b, fuel);
    case IRNodeType::NE:
        return prove_comparison(IRNodeType::NE, e.as<NE>()->a, e.as<NE>()->b, fuel);
    case IRNodeType::LT:
        return prove_comparison(IRNodeType::LT, e.as<LT>()->a, e.as<LT>()->b, fuel);
    case IRNodeType::LE:
        return prove_comparison(IRNodeType::LE, e.as<LE>()->a, e.as<LE>()->b, fuel);
    case IRNodeType::GT:
        return prove_comparison(IRNodeType::LT, e.as<GT>()->b, e.as<GT>()->a, fuel);
    case IRNodeType::GE:
        return prove_comparison(IRNodeType::LE, e.as<GE>()->b, e.as<GE>()->a, fuel);
    case IRNodeType::Broadcast:
        return prove(e.as<Broadcast>()->value, fuel);
    case IRNodeType::Call:
        return Call::as_tag(e) && prove(e.as<Call>()->args[0], fuel);
    default:
        return false;
    }
}

}  // namespace Internal
}  // namespace Halide
