#include "simplify/Linear.h"

#include "analysis/ModulusRemainder.h"
#include "ir/IR.h"
#include "ir/IREquality.h"
#include "ir/IROperator.h"

#include <limits>

namespace Halide {
namespace Internal {

namespace {

constexpr size_t max_terms = 16;
constexpr int max_depth = 24;
constexpr const char *lane_prefix = "<lane ";

std::optional<int64_t> integer_constant(const Expr &e) {
    if (const IntImm *i = e.as<IntImm>()) {
        return i->value;
    }
    if (const UIntImm *u = e.as<UIntImm>(); u && u->value <= (uint64_t)std::numeric_limits<int64_t>::max()) {
        return (int64_t)u->value;
    }
    if (const Broadcast *b = e.as<Broadcast>()) {
        return integer_constant(b->value);
    }
    return std::nullopt;
}

}  // namespace

bool same_expr(const Expr &a, const Expr &b) {
    if (a.same_as(b)) {
        return true;
    }
    if (a.node_type() != b.node_type() || a.type() != b.type()) {
        return false;
    }
    if (const Variable *v = a.as<Variable>()) {
        return v->name == b.as<Variable>()->name;
    }
    return equal(a, b);
}

Expr lane_variable(int inner_lanes, int lanes) {
    return Variable::make(Int(32), lane_prefix + std::to_string(lanes) + " of " + std::to_string(inner_lanes) + ">");
}

int lanes_of_lane_variable(const std::string &name) {
    if (name.empty() || name[0] != lane_prefix[0]) {
        return 0;
    }
    const std::string prefix = lane_prefix;
    return name.compare(0, prefix.size(), prefix) == 0 ? std::stoi(name.substr(prefix.size())) : 0;
}

void LinearForm::add_constant(int64_t c, int64_t factor) {
    int64_t product;
    valid = valid && !__builtin_mul_overflow(c, factor, &product) &&
            !__builtin_add_overflow(constant, product, &constant);
}

void LinearForm::add_term(const Expr &atom, int64_t factor) {
    if (factor == 0) {
        return;
    }
    for (size_t i = 0; i < terms.size(); i++) {
        if (same_expr(terms[i].atom, atom)) {
            merged++;
            valid = valid && !__builtin_add_overflow(terms[i].coefficient, factor, &terms[i].coefficient);
            if (terms[i].coefficient == 0) {
                terms.erase(terms.begin() + i);
            }
            return;
        }
    }
    terms.push_back({atom, factor});
}

void LinearForm::add(const LinearForm &other, int64_t factor) {
    valid = valid && other.valid;
    add_constant(other.constant, factor);
    for (const Term &t : other.terms) {
        int64_t product;
        valid = valid && !__builtin_mul_overflow(t.coefficient, factor, &product);
        if (!valid) {
            return;
        }
        add_term(t.atom, product);
    }
}

LinearForm LinearForm::without(size_t i) const {
    LinearForm r = *this;
    r.terms.erase(r.terms.begin() + i);
    return r;
}

void LinearForm::scale(int64_t factor) {
    for (Term &t : terms) {
        valid = valid && !__builtin_mul_overflow(t.coefficient, factor, &t.coefficient);
    }
    valid = valid && !__builtin_mul_overflow(constant, factor, &constant);
}

int64_t LinearForm::common_factor() const {
    int64_t g = 0;
    for (const Term &t : terms) {
        g = gcd(g, t.coefficient);
    }
    return g;
}

void LinearForm::add(const Expr &e, int64_t factor, Use use) {
    collect(e, factor, use, 0);
}

void LinearForm::collect(const Expr &e, int64_t factor, Use use, int depth) {
    if (!valid) {
        return;
    }
    if (auto c = integer_constant(e)) {
        add_constant(*c, factor);
        return;
    }
    if (depth < max_depth && terms.size() < max_terms) {
        if (const Add *op = e.as<Add>()) {
            collect(op->a, factor, use, depth + 1);
            collect(op->b, factor, use, depth + 1);
            return;
        } else if (const Sub *op = e.as<Sub>()) {
            if (factor == std::numeric_limits<int64_t>::min()) {
                valid = false;
                return;
            }
            collect(op->a, factor, use, depth + 1);
            collect(op->b, -factor, use, depth + 1);
            return;
        } else if (const Mul *op = e.as<Mul>()) {
            if (auto c = integer_constant(op->b)) {
                int64_t product;
                valid = !__builtin_mul_overflow(factor, *c, &product);
                if (valid && product != 0) {
                    collect(op->a, product, use, depth + 1);
                }
                return;
            }
        } else if (use == Use::Value) {
            if (const Broadcast *op = e.as<Broadcast>()) {
                collect(op->value, factor, use, depth + 1);
                return;
            } else if (const Ramp *op = e.as<Ramp>()) {
                if (auto s = integer_constant(op->stride)) {
                    int64_t product;
                    valid = !__builtin_mul_overflow(factor, *s, &product);
                    collect(op->base, factor, use, depth + 1);
                    add_term(lane_variable(op->base.type().lanes(), op->lanes), product);
                    return;
                }
            } else if (const Call *tag = Call::as_tag(e)) {
                collect(tag->args[0], factor, use, depth + 1);
                return;
            } else if (const Cast *op = e.as<Cast>()) {
                // Exact integers keep their value in a wider type; what wraps is an atom.
                const Type from = op->value.type();
                if (from.is_int_or_uint() && e.type().is_int_or_uint() && e.type().can_represent(from)) {
                    if (from.can_overflow()) {
                        add_term(op->value, factor);
                    } else {
                        collect(op->value, factor, use, depth + 1);
                    }
                    return;
                }
            }
        }
    }
    add_term(e, factor);
}

}  // namespace Internal
}  // namespace Halide
