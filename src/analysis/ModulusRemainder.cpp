#include "analysis/ModulusRemainder.h"

#include "analysis/Transfer.h"
#include "ir/IR.h"
#include "ir/IROperator.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace Halide {
namespace Internal {

namespace {

using Wide = __int128;

Wide wide_gcd(Wide a, Wide b) {
    a = a < 0 ? -a : a;
    b = b < 0 ? -b : b;
    if (a == 1 || b == 1) {
        return 1;
    }
    if ((uint64_t)a == (unsigned __int128)a && (uint64_t)b == (unsigned __int128)b) {
        // Division of 128-bit numbers is a slow library call.
        uint64_t x = (uint64_t)a, y = (uint64_t)b;
        while (y != 0) {
            const uint64_t r = x % y;
            x = y;
            y = r;
        }
        return x;
    }
    while (b != 0) {
        const Wide r = a % b;
        a = b;
        b = r;
    }
    return a;
}

bool fits(Wide x) {
    return x >= std::numeric_limits<int64_t>::min() && x <= std::numeric_limits<int64_t>::max();
}

// A congruence from exact numbers; what does not fit int64 is forgotten, or weakened to a power of two that fits.
ModulusRemainder congruence(Wide modulus, Wide remainder) {
    modulus = modulus < 0 ? -modulus : modulus;
    if (modulus == 0) {
        return fits(remainder) ? ModulusRemainder(0, (int64_t)remainder) : ModulusRemainder();
    }
    if (modulus == 1) {
        return ModulusRemainder();
    }
    if (fits(modulus) && fits(remainder)) {
        const int64_t m = (int64_t)modulus, r = (int64_t)remainder % m;
        return ModulusRemainder(m, r < 0 ? r + m : r);
    }
    while (!fits(modulus)) {
        if (modulus % 2 != 0) {
            return ModulusRemainder();
        }
        modulus /= 2;
    }
    Wide r = remainder % modulus;
    if (r < 0) {
        r += modulus;
    }
    return ModulusRemainder((int64_t)modulus, (int64_t)r);
}

// Keeps what survives arithmetic modulo 2^bits.
ModulusRemainder wrap(const ModulusRemainder &m, const Type &t) {
    if (m.modulus == 0) {
        const Wide period = Wide(1) << t.bits();
        Wide r = Wide(m.remainder) % period;
        const Wide lowest = t.is_int() ? -(period >> 1) : Wide(0);
        if (r < lowest) {
            r += period;
        } else if (r >= lowest + period) {
            r -= period;
        }
        return congruence(0, r);
    }
    return congruence(wide_gcd(m.modulus, Wide(1) << t.bits()), m.remainder);
}

}  // namespace

int64_t gcd(int64_t a, int64_t b) {
    return (int64_t)wide_gcd(a, b);
}

int64_t lcm(int64_t a, int64_t b) {
    if (a == 0 || b == 0) {
        return 0;
    }
    const Wide r = Wide(a) / wide_gcd(a, b) * b;
    return (int64_t)(r < 0 ? -r : r);
}

ModulusRemainder ModulusRemainder::unify(const ModulusRemainder &a, const ModulusRemainder &b) {
    const Wide difference = Wide(a.remainder) - b.remainder;
    return congruence(wide_gcd(wide_gcd(a.modulus, b.modulus), difference), a.remainder);
}

ModulusRemainder ModulusRemainder::intersect(const ModulusRemainder &a, const ModulusRemainder &b) {
    if (a.modulus == 0) {
        return a;
    }
    if (b.modulus == 0) {
        return b;
    }
    // x = a.remainder + a.modulus * k, with k solving a.modulus * k = b.remainder - a.remainder modulo b.modulus.
    const Wide g = wide_gcd(a.modulus, b.modulus);
    const Wide difference = Wide(b.remainder) - a.remainder;
    const Wide common = Wide(a.modulus) / g * b.modulus;
    if (difference % g != 0 || !fits(common)) {
        // Contradictory (unreachable code), or not representable: the stronger of both is still true.
        return a.modulus >= b.modulus ? a : b;
    }
    // Inverse of a.modulus / g modulo b.modulus / g by the extended Euclidean algorithm.
    Wide r0 = Wide(a.modulus) / g, r1 = Wide(b.modulus) / g, s0 = 1, s1 = 0;
    const Wide period = r1;
    while (r1 != 0) {
        const Wide q = r0 / r1;
        const Wide r = r0 - q * r1, s = s0 - q * s1;
        r0 = r1, r1 = r;
        s0 = s1, s1 = s;
    }
    const Wide k = ((difference / g) % period) * (s0 % period) % period;
    return congruence(common, a.remainder + Wide(a.modulus) * k);
}

ModulusRemainder operator+(const ModulusRemainder &a, const ModulusRemainder &b) {
    return congruence(wide_gcd(a.modulus, b.modulus), Wide(a.remainder) + b.remainder);
}

ModulusRemainder operator-(const ModulusRemainder &a, const ModulusRemainder &b) {
    return congruence(wide_gcd(a.modulus, b.modulus), Wide(a.remainder) - b.remainder);
}

ModulusRemainder operator*(const ModulusRemainder &a, const ModulusRemainder &b) {
    // (m k + r)(n j + s) = mn kj + ms k + nr j + rs
    const Wide modulus = wide_gcd(wide_gcd(Wide(a.modulus) * b.modulus, Wide(a.modulus) * b.remainder),
                                  Wide(b.modulus) * a.remainder);
    return congruence(modulus, Wide(a.remainder) * b.remainder);
}

ModulusRemainder operator/(const ModulusRemainder &a, const ModulusRemainder &b) {
    if (b.modulus != 0) {
        return a.modulus == 0 && a.remainder == 0 ? a : ModulusRemainder();
    }
    const int64_t c = b.remainder;
    if (c == 0) {
        return ModulusRemainder(0, 0);
    }
    if (a.modulus % c == 0) {
        Wide q = Wide(a.remainder) / c;
        if (Wide(a.remainder) % c < 0) {
            q += c > 0 ? -1 : 1;
        }
        return congruence(Wide(a.modulus) / c, q);
    }
    return ModulusRemainder();
}

ModulusRemainder operator%(const ModulusRemainder &a, const ModulusRemainder &b) {
    if (b.modulus == 0 && b.remainder == 0) {
        return b;
    }
    if (b.modulus == 0 && a.modulus % b.remainder == 0) {
        Wide r = Wide(a.remainder) % b.remainder;
        if (r < 0) {
            r += b.remainder < 0 ? -Wide(b.remainder) : Wide(b.remainder);
        }
        return congruence(0, r);
    }
    // a % b = a - b q, and b is a multiple of gcd(modulus, remainder); but a % 0 is 0.
    const Wide divisor = wide_gcd(b.modulus, b.remainder);
    const ModulusRemainder r = congruence(wide_gcd(a.modulus, divisor), a.remainder);
    const bool may_be_zero = b.modulus != 0 && b.remainder == 0;
    return may_be_zero ? ModulusRemainder::unify(r, ModulusRemainder(0, 0)) : r;
}

ModulusRemainder operator+(const ModulusRemainder &a, int64_t b) {
    return a + ModulusRemainder(0, b);
}
ModulusRemainder operator-(const ModulusRemainder &a, int64_t b) {
    return a - ModulusRemainder(0, b);
}
ModulusRemainder operator*(const ModulusRemainder &a, int64_t b) {
    return a * ModulusRemainder(0, b);
}
ModulusRemainder operator/(const ModulusRemainder &a, int64_t b) {
    return a / ModulusRemainder(0, b);
}
ModulusRemainder operator%(const ModulusRemainder &a, int64_t b) {
    return a % ModulusRemainder(0, b);
}

ModulusRemainder modulus_remainder_of_node(const Expr &e, FactsOf<ModulusRemainder> child) {
    const Type t = e.type();
    if (!t.is_int_or_uint() || t.is_bool()) {
        return ModulusRemainder();
    }
    auto fit = [&](const ModulusRemainder &m) { return t.can_overflow() ? wrap(m, t) : m; };
    switch (e.node_type()) {
    case IRNodeType::IntImm:
        return ModulusRemainder(0, e.as<IntImm>()->value);
    case IRNodeType::UIntImm:
        return congruence(0, e.as<UIntImm>()->value);
    case IRNodeType::Broadcast:
        return child(e.as<Broadcast>()->value);
    case IRNodeType::Cast:
    case IRNodeType::Reinterpret: {
        const Cast *cast = e.as<Cast>();
        const Expr &value = cast ? cast->value : e.as<Reinterpret>()->value;
        const Type from = value.type();
        if (!from.is_int_or_uint() || (!cast && from.bits() != t.bits())) {
            return ModulusRemainder();
        }
        const ModulusRemainder m = child(value);
        return t.can_represent(from) ? m : wrap(m, t);
    }
    case IRNodeType::Add:
        return fit(child(e.as<Add>()->a) + child(e.as<Add>()->b));
    case IRNodeType::Sub:
        return fit(child(e.as<Sub>()->a) - child(e.as<Sub>()->b));
    case IRNodeType::Mul:
        return fit(child(e.as<Mul>()->a) * child(e.as<Mul>()->b));
    case IRNodeType::Div:
        return fit(child(e.as<Div>()->a) / child(e.as<Div>()->b));
    case IRNodeType::Mod:
        return child(e.as<Mod>()->a) % child(e.as<Mod>()->b);
    case IRNodeType::Min:
        return ModulusRemainder::unify(child(e.as<Min>()->a), child(e.as<Min>()->b));
    case IRNodeType::Max:
        return ModulusRemainder::unify(child(e.as<Max>()->a), child(e.as<Max>()->b));
    case IRNodeType::Select:
        return ModulusRemainder::unify(child(e.as<Select>()->true_value), child(e.as<Select>()->false_value));
    case IRNodeType::Ramp: {
        const Ramp *op = e.as<Ramp>();
        // Lane i is base + i * stride, with i anything.
        return fit(child(op->base) + child(op->stride) * ModulusRemainder());
    }
    case IRNodeType::Shuffle: {
        const Shuffle *op = e.as<Shuffle>();
        ModulusRemainder r = child(op->vectors[0]);
        for (size_t i = 1; i < op->vectors.size(); i++) {
            r = ModulusRemainder::unify(r, child(op->vectors[i]));
        }
        return r;
    }
    case IRNodeType::VectorReduce: {
        const VectorReduce *op = e.as<VectorReduce>();
        return op->op == VectorReduce::Min || op->op == VectorReduce::Max ? child(op->value) : ModulusRemainder();
    }
    case IRNodeType::Let:
        return child(e.as<Let>()->body);
    case IRNodeType::Call: {
        const Call *op = e.as<Call>();
        if (op->is_intrinsic({Call::likely, Call::likely_if_innermost, Call::promise_clamped,
                              Call::unsafe_promise_clamped})) {
            return child(op->args[0]);
        } else if (op->is_intrinsic({Call::return_second, Call::require}) && op->args[1].type() == t) {
            return child(op->args[1]);
        } else if (op->is_intrinsic(Call::if_then_else) && op->args.size() == 3) {
            return ModulusRemainder::unify(child(op->args[1]), child(op->args[2]));
        } else if (op->is_intrinsic({Call::shift_left, Call::shift_right})) {
            const ModulusRemainder by = child(op->args[1]);
            if (by.modulus == 0 && by.remainder >= 0 && by.remainder < std::min(t.bits(), 63)) {
                const int64_t factor = (int64_t)1 << by.remainder;
                return op->is_intrinsic(Call::shift_left) ? wrap(child(op->args[0]) * factor, t) :
                                                            fit(child(op->args[0]) / factor);
            }
        }
        return ModulusRemainder();
    }
    default:
        return ModulusRemainder();
    }
}

namespace {

class Congruences {
    Scope<ModulusRemainder> scope;

public:
    explicit Congruences(const Scope<ModulusRemainder> &s) {
        scope.set_containing_scope(&s);
    }

    ModulusRemainder of(const Expr &e) {
        if (const Variable *v = e.as<Variable>()) {
            const ModulusRemainder *m = scope.find(v->name);
            return m ? *m : ModulusRemainder();
        }
        if (e.as<Let>()) {
            std::vector<ScopedBinding<ModulusRemainder>> bindings;
            Expr body = e;
            while (const Let *let = body.as<Let>()) {
                ModulusRemainder value = of(let->value);
                bindings.emplace_back(scope, let->name, value);
                body = let->body;
            }
            const ModulusRemainder result = of(body);
            while (!bindings.empty()) {
                bindings.pop_back();
            }
            return result;
        }
        return modulus_remainder_of_node(e, [this](const Expr &c) { return of(c); });
    }
};

}  // namespace

ModulusRemainder modulus_remainder(const Expr &e, const Scope<ModulusRemainder> &scope) {
    return Congruences(scope).of(e);
}

ModulusRemainder modulus_remainder(const Expr &e) {
    return modulus_remainder(e, Scope<ModulusRemainder>::empty_scope());
}

bool reduce_expr_modulo(const Expr &e, int64_t modulus, int64_t *remainder, const Scope<ModulusRemainder> &scope) {
    if (modulus == 0) {
        return false;
    }
    const ModulusRemainder m = modulus_remainder(e, scope) % modulus;
    if (m.modulus != 0) {
        return false;
    }
    *remainder = m.remainder;
    return true;
}

bool reduce_expr_modulo(const Expr &e, int64_t modulus, int64_t *remainder) {
    return reduce_expr_modulo(e, modulus, remainder, Scope<ModulusRemainder>::empty_scope());
}

}  // namespace Internal
}  // namespace Halide
