// Operators: what follows from linear forms and known bounds, where no rule applies.

#include "analysis/ModulusRemainder.h"
#include "ir/IREquality.h"
#include "ir/IROperator.h"
#include "simplify/Simplifier.h"

#include <algorithm>
#include <limits>

namespace Halide {
namespace Internal {

namespace {

using Wide = __int128;

// Forms looked at for one comparison, minimum or maximum.
constexpr int comparison_fuel = 8;

bool nowrap(const Type &t) {
    return t.is_int() && t.bits() >= 32;
}

// A coefficient or constant of a wrapping type, as the number of least magnitude that means the same.
int64_t wrap_to(const Type &t, int64_t v) {
    if (t.bits() >= 64 || nowrap(t)) {
        return v;
    }
    const int shift = 64 - t.bits();
    return (int64_t)((uint64_t)v << shift) >> shift;
}

}  // namespace

Expr Simplifier::build_sum(const LinearForm &form, const Type &t) {
    auto multiple = [&](const Expr &atom, int64_t k) {
        return k == 1 ? atom : mul(atom, make_const(t, k));
    };
    Expr result;
    for (const LinearForm::Term &term : form.terms) {
        if (term.coefficient > 0) {
            const Expr m = multiple(term.atom, term.coefficient);
            result = result.defined() ? add(result, m) : m;
        }
    }
    int64_t constant = form.constant;
    for (const LinearForm::Term &term : form.terms) {
        if (term.coefficient > 0) {
            continue;
        }
        if (!result.defined()) {
            if (constant == 0 && t.is_int()) {
                result = multiple(term.atom, term.coefficient);
                continue;
            }
            result = make_const(t, constant);
            constant = 0;
        }
        result = sub(result, multiple(term.atom, -term.coefficient));
    }
    if (!result.defined()) {
        return make_const(t, constant);
    } else if (constant == 0) {
        return result;
    } else if (constant < 0 && t.is_uint()) {
        return sub(result, make_const(t, -constant));
    }
    return add(result, make_const(t, constant));
}

// (x + y) - x → y, wherever in the sums the equal terms stand.
Expr Simplifier::sum_by_form(IRNodeType type, const Expr &a, const Expr &b) {
    const Type t = a.type();
    LinearForm form;
    form.add(a, 1, LinearForm::Use::Rebuild);
    form.merged = 0;
    form.add(b, type == IRNodeType::Add ? 1 : -1, LinearForm::Use::Rebuild);
    if (!form.valid) {
        return Expr();
    }
    bool changed = form.merged > 0;
    if (nowrap(t)) {
        changed |= join_quotient_and_rest(form);
        changed |= cancel_inside_min_max(form, t);
        const bool correlated = std::any_of(form.terms.begin(), form.terms.end(), [](const LinearForm::Term &term) {
            return term.atom.as<Min>() || term.atom.as<Max>() || term.atom.as<Div>();
        });
        if (form.valid && correlated && form.terms.size() > 1) {
            int fuel = 6;
            const ConstantInterval bounds = bounds_of_form(form, fuel);
            if (bounds.is_single_point() && t.can_represent(bounds.min) && is_pure(a) && is_pure(b)) {
                return make_const(t, bounds.min);
            }
        }
    }
    if (!form.valid || !changed) {
        return Expr();
    }
    for (size_t i = form.terms.size(); i-- > 0;) {
        int64_t &k = form.terms[i].coefficient;
        k = wrap_to(t, k);
        if (k == 0) {
            form.terms.erase(form.terms.begin() + i);
        } else if (!t.can_represent(k < 0 && t.is_uint() ? -k : k) || (nowrap(t) && !t.can_represent(-k))) {
            return Expr();
        }
    }
    form.constant = wrap_to(t, form.constant);
    if (nowrap(t) && !t.can_represent(form.constant)) {
        return Expr();
    }
    return build_sum(form, t);
}

// k * (x % c) + (k * c) * (x / c) → k * x
bool Simplifier::join_quotient_and_rest(LinearForm &form) {
    for (size_t i = 0; i < form.terms.size(); i++) {
        const Mod *rest = form.terms[i].atom.as<Mod>();
        const auto c = rest ? as_const_int(rest->b) : std::nullopt;
        int64_t wanted;
        if (!c || *c == 0 || __builtin_mul_overflow(form.terms[i].coefficient, *c, &wanted)) {
            continue;
        }
        for (size_t j = 0; j < form.terms.size(); j++) {
            const Div *quotient = form.terms[j].atom.as<Div>();
            if (quotient && form.terms[j].coefficient == wanted && as_const_int(quotient->b) == c &&
                same_expr(quotient->a, rest->a)) {
                const Expr x = rest->a;
                const int64_t k = form.terms[i].coefficient;
                form.terms.erase(form.terms.begin() + std::max(i, j));
                form.terms.erase(form.terms.begin() + std::min(i, j));
                form.add(x, k, LinearForm::Use::Rebuild);
                return true;
            }
        }
    }
    return false;
}

// min(x, y) - x + z → min(0, y - x) + z, if that takes a term away.
bool Simplifier::cancel_inside_min_max(LinearForm &form, const Type &t) {
    for (size_t i = 0; i < form.terms.size(); i++) {
        const Min *lesser = form.terms[i].atom.as<Min>();
        const Max *greater = form.terms[i].atom.as<Max>();
        if ((!lesser && !greater) || form.terms.size() < 2) {
            continue;
        }
        const int64_t k = form.terms[i].coefficient;
        const LinearForm others = form.without(i);
        for (int p = 0; p < 2; p++) {
            const Expr part = lesser ? (p ? lesser->b : lesser->a) : (p ? greater->b : greater->a);
            const Expr other = lesser ? (p ? lesser->a : lesser->b) : (p ? greater->a : greater->b);
            LinearForm rest = others;
            rest.add(part, k, LinearForm::Use::Rebuild);
            if (!rest.valid || rest.terms.size() >= others.terms.size()) {
                continue;
            }
            LinearForm distance;
            distance.add(other, 1, LinearForm::Use::Rebuild);
            distance.add(part, -1, LinearForm::Use::Rebuild);
            if (!distance.valid || !t.can_represent(distance.constant)) {
                continue;
            }
            rest.add(binary(lesser ? IRNodeType::Min : IRNodeType::Max, build_sum(distance, t), make_zero(t)), k,
                     LinearForm::Use::Rebuild);
            form = rest;
            return true;
        }
    }
    return false;
}

// r(x, s, n) / c where x is known modulo c: one value if all lanes stay within the same multiple of c.
Expr Simplifier::divide_ramp(IRNodeType type, const Ramp *a, int64_t c) {
    const auto stride = as_const_int(a->stride);
    if (!stride || !a->base.type().is_scalar() || !nowrap(a->base.type())) {
        return Expr();
    }
    const Type t = a->base.type();
    const ModulusRemainder m = info(a->base).alignment % c;
    // Base modulo c: exact, or within a range.
    ConstantInterval first(0, c - 1);
    if (m.modulus == 0) {
        first = ConstantInterval::single_point(m.remainder);
    } else if (c % m.modulus == 0) {
        first = ConstantInterval(m.remainder, c - m.modulus + m.remainder);
    }
    const ConstantInterval all = first + ConstantInterval::single_point(*stride) * ConstantInterval(0, a->lanes - 1);
    if (!(all >= 0 && all < c)) {
        return Expr();
    }
    const Expr by = make_const(t, c);
    return type == IRNodeType::Div ? broadcast(div(a->base, by), a->lanes) :
                                     ramp(mod(a->base, by), a->stride, a->lanes);
}

Expr Simplifier::divide_by_form(IRNodeType type, const Expr &a, const Expr &b) {
    const Type t = a.type();
    const auto divisor = t.is_int() ? as_const_int(b) : std::optional<int64_t>();
    const auto unsigned_divisor = t.is_uint() ? as_const_uint(b) : std::optional<uint64_t>();
    const int64_t c = divisor ? *divisor : unsigned_divisor && *unsigned_divisor < (1ull << 62) ? (int64_t)*unsigned_divisor : 0;
    if (c <= 1) {
        return Expr();
    }
    if (const Ramp *ramp = a.as<Ramp>()) {
        const Expr r = divide_ramp(type, ramp, c);
        if (r.defined()) {
            return r;
        }
    }
    LinearForm form;
    form.add(a, 1, LinearForm::Use::Rebuild);
    if (!form.valid || (!nowrap(t) && !exact_in_type(form, t))) {
        return Expr();
    }
    // a = c * multiple + rest
    LinearForm multiple, rest;
    bool changed = false;
    for (LinearForm::Term term : form.terms) {
        const Mod *mod = type == IRNodeType::Mod ? term.atom.as<Mod>() : nullptr;
        if (mod && nowrap(t)) {
            // (x % 12 + y) % 4 → (x + y) % 4
            const auto m = as_const_int(mod->b);
            if (m && *m > 0 && *m % c == 0) {
                rest.add(mod->a, term.coefficient, LinearForm::Use::Rebuild);
                changed = true;
                continue;
            }
        }
        if (term.coefficient % c == 0) {
            multiple.add_term(term.atom, term.coefficient / c);
            changed = true;
        } else if (type == IRNodeType::Mod && (term.coefficient >= c || term.coefficient <= -c)) {
            rest.add_term(term.atom, term.coefficient % c);
            changed = true;
        } else {
            rest.add_term(term.atom, term.coefficient);
        }
    }
    if (!rest.valid) {
        return Expr();
    }
    // What is known of rest without its constant, modulo a divisor of c.
    ModulusRemainder m(0, rest.constant);
    for (const LinearForm::Term &term : rest.terms) {
        m = m + info(term.atom).alignment * term.coefficient;
    }
    int64_t k = form.constant;
    int64_t outside = 0;
    if (type == IRNodeType::Mod || rest.terms.empty()) {
        // Whole multiples of c leave.
        const int64_t whole = div_imp(k, c);
        if (whole != 0) {
            outside = whole;
            k -= whole * c;
            changed = true;
        }
    }
    const ModulusRemainder known = m % c;
    if (known.modulus == 0) {
        // rest is r modulo c: the constant acts on r only.
        const int64_t r = mod_imp(known.remainder, c);
        if (type == IRNodeType::Mod) {
            return make_const(t, mod_imp(r + k, c));
        }
        const int64_t carried = div_imp(r + k, c);
        if (k != 0 && !rest.terms.empty()) {
            outside += carried;
            k = 0;
            changed = true;
        }
    } else if (type == IRNodeType::Div && known.modulus > 1 && c % known.modulus == 0) {
        const int64_t excess = mod_imp(known.remainder + k, known.modulus);
        if (excess != 0) {
            k -= excess;
            changed = true;
        }
    }
    LinearForm numerator = rest;
    numerator.add_constant(k);
    int fuel = 2;
    const ConstantInterval bounds = bounds_of_form(numerator, fuel);
    const bool within = bounds.is_bounded() && div_imp(bounds.min, c) == div_imp(bounds.max, c);
    auto fits = [&](int64_t v) { return t.can_represent(v); };
    if (!nowrap(t) && !(exact_in_type(numerator, t) && exact_in_type(multiple, t))) {
        return Expr();
    }
    if (type == IRNodeType::Mod && within) {
        numerator.add_constant(-div_imp(bounds.min, c) * c);
        return numerator.valid && fits(numerator.constant) ? build_sum(numerator, t) : Expr();
    }
    Expr inner;
    if (type == IRNodeType::Div && within) {
        outside += div_imp(bounds.min, c);
        changed = true;
    } else {
        // (4x + 6) / 8 → (2x + 1... ) / 4: a factor common to the terms and c.
        const int64_t g = gcd(numerator.common_factor(), c);
        if (g > 1 && g < c) {
            const int64_t k0 = mod_imp(numerator.constant, g);
            for (LinearForm::Term &term : numerator.terms) {
                term.coefficient /= g;
            }
            numerator.constant = div_imp(numerator.constant, g);
            const Expr by = make_const(t, c / g), sum = build_sum(numerator, t);
            if (type == IRNodeType::Div) {
                inner = div(sum, by);
            } else {
                inner = mul(mod(sum, by), make_const(t, g));
                return k0 ? add(inner, make_const(t, k0)) : inner;
            }
            changed = true;
        } else if (changed) {
            if (!fits(numerator.constant)) {
                return Expr();
            }
            const Expr sum = build_sum(numerator, t);
            inner = type == IRNodeType::Div ? div(sum, b) : mod(sum, b);
        }
    }
    if (!changed || !fits(outside)) {
        return Expr();
    }
    if (type == IRNodeType::Mod) {
        return inner;
    }
    multiple.constant = outside;
    if (!inner.defined()) {
        return build_sum(multiple, t);
    }
    if (multiple.terms.empty() && outside == 0) {
        return inner;
    }
    return add(inner, build_sum(multiple, t));
}

Expr Simplifier::min_max_by_form(IRNodeType type, const Expr &a, const Expr &b) {
    const Type t = a.type();
    const bool least = type == IRNodeType::Min;
    auto decide = [&](const Expr &x, const Expr &y, int fuel) -> int {
        const ConstantInterval d = bounds_of_difference(x, y, fuel);
        return d <= 0 ? (least ? 1 : 2) : d >= 0 ? (least ? 2 : 1) : 0;
    };
    switch (decide(a, b, comparison_fuel)) {
    case 1:
        return a;
    case 2:
        return b;
    default:
        break;
    }
    // min(min(p, q), b): a part that is never the least goes.
    std::vector<Expr> parts;
    auto take_apart = [&](const Expr &e) {
        const auto operands = e.node_type() == type ? as_binary_operands(e) : std::nullopt;
        if (operands && parts.size() < 8) {
            Expr rest = e;
            while (rest.node_type() == type && parts.size() < 8) {
                const auto o = as_binary_operands(rest);
                parts.push_back(o->second);
                rest = o->first;
            }
            parts.push_back(rest);
            return true;
        }
        return false;
    };
    if (take_apart(a)) {
        for (size_t i = 0; i < parts.size(); i++) {
            const int which = decide(parts[i], b, 2);
            if (which == 1) {
                return a;
            } else if (which == 2) {
                Expr result;
                for (size_t j = parts.size(); j-- > 0;) {
                    if (j != i) {
                        result = result.defined() ? make_binary_op(type, result, parts[j]) : parts[j];
                    }
                }
                return binary(type, result, b);
            }
        }
    } else if (take_apart(b)) {
        for (size_t i = 0; i < parts.size(); i++) {
            const int which = decide(a, parts[i], 2);
            if (which == 2) {
                return b;
            } else if (which == 1) {
                Expr result;
                for (size_t j = parts.size(); j-- > 0;) {
                    if (j != i) {
                        result = result.defined() ? make_binary_op(type, result, parts[j]) : parts[j];
                    }
                }
                return binary(type, a, result);
            }
        }
    }
    // min(x + y, x + z) → x + min(y, z), whichever terms are common.
    if (nowrap(t)) {
        LinearForm f, g, common;
        f.add(a, 1, LinearForm::Use::Rebuild);
        g.add(b, 1, LinearForm::Use::Rebuild);
        if (!f.valid || !g.valid) {
            return Expr();
        }
        for (size_t i = f.terms.size(); i-- > 0;) {
            for (size_t j = 0; j < g.terms.size(); j++) {
                if (f.terms[i].coefficient == g.terms[j].coefficient && same_expr(f.terms[i].atom, g.terms[j].atom)) {
                    common.terms.insert(common.terms.begin(), f.terms[i]);
                    f.terms.erase(f.terms.begin() + i);
                    g.terms.erase(g.terms.begin() + j);
                    break;
                }
            }
        }
        if (!common.terms.empty()) {
            return add(build_sum(common, t), binary(type, build_sum(f, t), build_sum(g, t)));
        }
    }
    return Expr();
}

Expr Simplifier::compare_by_form(IRNodeType type, const Expr &a, const Expr &b) {
    const Type t = a.type();
    const int lanes = t.lanes();
    if (t.is_bool()) {
        return Expr();
    }
    const ConstantInterval d = bounds_of_difference(a, b, comparison_fuel);
    if (type == IRNodeType::LT) {
        if (d < 0) {
            return const_true(lanes);
        } else if (d >= 0) {
            return const_false(lanes);
        }
    } else if (d < 0 || d > 0) {
        return const_false(lanes);
    } else if (d.is_single_point(0)) {
        return const_true(lanes);
    }
    if (!nowrap(t)) {
        return Expr();
    }
    LinearForm left, right;
    left.add(a, 1, LinearForm::Use::Rebuild);
    right.add(b, 1, LinearForm::Use::Rebuild);
    LinearForm form = left;
    form.merged = 0;
    form.add(right, -1);
    if (!form.valid || form.terms.empty()) {
        return Expr();
    }
    // Constants belong on the right, or on the left if there is nothing else; what is subtracted belongs on the other
    // side.
    bool changed = form.merged > 0 || (left.constant != 0 && !left.terms.empty()) ||
                   (right.constant != 0 && left.terms.empty());
    for (const LinearForm *side : {&left, &right}) {
        for (const LinearForm::Term &term : side->terms) {
            changed = changed || term.coefficient < 0;
        }
    }
    if (type == IRNodeType::LT) {
        // f < 0 with f = min(f with p, f with q), or max: a part that cannot decide goes.
        for (size_t i = 0; i < form.terms.size(); i++) {
            const Min *lesser = form.terms[i].atom.as<Min>();
            const Max *greater = form.terms[i].atom.as<Max>();
            if (!lesser && !greater) {
                continue;
            }
            const Expr parts[2] = {lesser ? lesser->a : greater->a, lesser ? lesser->b : greater->b};
            const int64_t k = form.terms[i].coefficient;
            const bool least = (lesser != nullptr) == (k > 0);
            for (int p = 0; p < 2; p++) {
                LinearForm with_part = form.without(i);
                with_part.add(parts[p], k, LinearForm::Use::Rebuild);
                int fuel = 3;
                const ConstantInterval bounds = bounds_of_form(with_part, fuel);
                if (least ? bounds >= 0 : bounds < 0) {
                    form = form.without(i);
                    form.add(parts[1 - p], k, LinearForm::Use::Rebuild);
                    changed = true;
                    i = (size_t)-1;
                    break;
                }
            }
        }
    }
    const int64_t g = form.common_factor();
    if (!form.valid || g == 0) {
        return Expr();
    }
    if (g > 1) {
        if (type == IRNodeType::EQ && form.constant % g != 0) {
            return const_false(lanes);
        }
        for (LinearForm::Term &term : form.terms) {
            term.coefficient /= g;
        }
        form.constant = div_imp(form.constant, g);
        changed = true;
    }
    if (!changed) {
        return Expr();
    }
    LinearForm l, r;
    for (const LinearForm::Term &term : form.terms) {
        if (!t.can_represent(term.coefficient) || !t.can_represent(-term.coefficient)) {
            return Expr();
        }
        (term.coefficient > 0 ? l : r).add_term(term.atom, std::abs(term.coefficient));
    }
    if (!t.can_represent(form.constant) || form.constant == std::numeric_limits<int64_t>::min() ||
        !t.can_represent(-form.constant)) {
        return Expr();
    }
    if (l.terms.empty()) {
        if (type == IRNodeType::EQ) {
            std::swap(l, r);
            r.constant = form.constant;
        } else {
            l.constant = form.constant;
        }
    } else {
        r.constant = -form.constant;
    }
    const Expr x = build_sum(l, t), y = build_sum(r, t);
    if (equal(x, a) && equal(y, b)) {
        return Expr();
    }
    // Once more for the bounds, which may be clearer now; it ends because nothing is left to move.
    return binary(type, x, y);
}

}  // namespace Internal
}  // namespace Halide
