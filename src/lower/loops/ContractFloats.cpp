#include "lower/loops/ContractFloats.h"

#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "support/Util.h"

#include <map>

namespace Halide::Internal {

bool has_fused_multiply_add(const Target &target, const Type &type) {
    if (!type.is_float() || type.bits() < 32) {
        return false;
    }
    const Target t = target.with_implied_features();
    switch (t.arch) {
    case Target::X86:
        return t.has_feature(Target::FMA);
    case Target::ARM:
        return t.bits == 64 && !t.has_feature(Target::NoNEON);
    case Target::RISCV:
        return true;
    case Target::POWERPC:
        return t.has_feature(Target::VSX);
    default:
        return false;
    }
}

namespace {

class ContractFloats : public IRMutator {
    const Target &target;
    bool enabled = true;

    using IRMutator::visit;

    static Expr negated(const Expr &e) {
        return e * make_const(e.type(), -1);
    }

    static Expr fused(const Expr &a, const Expr &b, const Expr &c) {
        return Call::make(a.type(), Call::strict_fma, {a, b, c}, Call::PureIntrinsic);
    }

    // Products of constants are folded elsewhere, with their own rounding.
    static const Mul *product(const Expr &e) {
        const Mul *m = e.as<Mul>();
        return m && !(is_const(m->a) && is_const(m->b)) ? m : nullptr;
    }

    Expr visit(const Add *op) override {
        Expr a = mutate(op->a), b = mutate(op->b);
        if (enabled && has_fused_multiply_add(target, op->type)) {
            if (const Mul *m = product(b)) {
                return fused(m->a, m->b, a);
            }
            if (const Mul *m = product(a)) {
                return fused(m->a, m->b, b);
            }
        }
        return op->with(a, b);
    }

    Expr visit(const Sub *op) override {
        Expr a = mutate(op->a), b = mutate(op->b);
        if (enabled && has_fused_multiply_add(target, op->type)) {
            if (const Mul *m = product(b)) {
                return fused(negated(m->a), m->b, a);
            }
            if (const Mul *m = product(a)) {
                return fused(m->a, m->b, negated(b));
            }
        }
        return op->with(a, b);
    }

    Expr visit(const Cast *op) override {
        const bool may_index = op->type.is_int() && op->type.bits() >= 32 && op->value.type().is_float();
        ScopedValue<bool> scope(enabled, enabled && !may_index);
        return IRMutator::visit(op);
    }

    Expr visit(const Call *op) override {
        const bool indices = op->call_type == Call::Halide || op->call_type == Call::Image;
        ScopedValue<bool> scope(enabled, enabled && !indices);
        return IRMutator::visit(op);
    }

    // What a shared node becomes, with contraction and without.
    std::map<Expr, Expr, ExprCompare> rewritten[2];

public:
    explicit ContractFloats(const Target &target)
        : target(target) {
    }

    using IRMutator::mutate;
    Expr mutate(const Expr &e) override {
        if (!e.defined() || e.get()->ref_count.value() == 1) {
            return IRMutator::mutate(e);
        }
        auto &known = rewritten[enabled];
        auto it = known.find(e);
        if (it != known.end()) {
            return it->second;
        }
        const Expr result = IRMutator::mutate(e);
        known.emplace(e, result);
        return result;
    }

    // The sum that makes an atomic update is recognized by its form later on.
    Expr run(const Expr &value, bool atomic) {
        const Add *add = value.as<Add>();
        return atomic && add ? add->with(mutate(add->a), mutate(add->b)) : mutate(value);
    }
};

void contract_definition(Definition &d, ContractFloats &contract) {
    const bool atomic = d.schedule().atomic();
    for (Expr &value : d.values()) {
        value = contract.run(value, atomic);
    }
    for (Specialization &s : d.specializations()) {
        if (s.definition.defined()) {
            contract_definition(s.definition, contract);
        }
    }
}

}  // namespace

Stmt contract_floats(const Stmt &s, LowerContext &ctx) {
    if (ctx.target.has_feature(Target::StrictFloat) || !has_fused_multiply_add(ctx.target, Float(32))) {
        return s;
    }
    ContractFloats contract(ctx.target);
    for (auto &[name, f] : ctx.env) {
        if (f.has_pure_definition()) {
            contract_definition(f.definition(), contract);
        }
        for (int i = 0; i < (int)f.updates().size(); i++) {
            contract_definition(f.update(i), contract);
        }
    }
    return s;
}

}  // namespace Halide::Internal
