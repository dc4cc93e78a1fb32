#include "lower/vector/ReductionStore.h"

#include "analysis/ExprUsesVar.h"
#include "ir/IREquality.h"
#include "ir/IROperator.h"
#include "ir/IRVisitor.h"
#include "ir/Substitute.h"
#include "support/Error.h"

namespace Halide {
namespace Internal {

std::optional<ReductionStore> match_reduction(const Store *store) {
    // let t = … in f[i] op e(t): what the value shares is named before it, perhaps parts of the index too.
    std::vector<const Let *> lets;
    Expr v = store->value;
    while (const Let *let = v.as<Let>()) {
        lets.push_back(let);
        v = let->body;
    }
    auto without_lets = [&](Expr e) {
        for (size_t i = lets.size(); i > 0; i--) {
            e = substitute(lets[i - 1]->name, lets[i - 1]->value, e);
        }
        return e;
    };
    auto is_old_value = [&](const Expr &e) {
        const Load *load = e.as<Load>();
        return load && load->name == store->name && equal(without_lets(load->index), store->index);
    };
    auto try_operands = [&](const Expr &a, const Expr &b, VectorReduce::Operator op) -> std::optional<ReductionStore> {
        if (is_old_value(a)) {
            return ReductionStore{op, a, b};
        }
        if (is_old_value(b)) {
            return ReductionStore{op, b, a};
        }
        return std::nullopt;
    };
    std::optional<ReductionStore> r;
    if (const Add *op = v.as<Add>()) {
        r = try_operands(op->a, op->b, VectorReduce::Add);
        if (!r) {
            // f[i] + a + b: the old value may be deeper in a chain of additions.
            std::vector<Expr> pending = {op->a, op->b}, terms;
            std::optional<Expr> old;
            while (!pending.empty()) {
                Expr e = pending.back();
                pending.pop_back();
                if (const Add *inner = e.as<Add>()) {
                    pending.push_back(inner->a);
                    pending.push_back(inner->b);
                } else if (!old && is_old_value(e)) {
                    old = e;
                } else {
                    terms.push_back(e);
                }
            }
            if (old && !terms.empty()) {
                Expr sum = terms[0];
                for (size_t i = 1; i < terms.size(); i++) {
                    sum = sum + terms[i];
                }
                r = ReductionStore{VectorReduce::Add, *old, sum};
            }
        }
    } else if (const Mul *op = v.as<Mul>()) {
        r = try_operands(op->a, op->b, VectorReduce::Mul);
    } else if (const Min *op = v.as<Min>()) {
        r = try_operands(op->a, op->b, VectorReduce::Min);
    } else if (const Max *op = v.as<Max>()) {
        r = try_operands(op->a, op->b, VectorReduce::Max);
    } else if (const Call *op = v.as<Call>()) {
        if (op->is_intrinsic(Call::saturating_add) && op->type.is_uint()) {
            r = try_operands(op->args[0], op->args[1], VectorReduce::SaturatingAdd);
        } else if (op->is_intrinsic(Call::bitwise_and) && op->type.is_bool()) {
            r = try_operands(op->args[0], op->args[1], VectorReduce::And);
        } else if (op->is_intrinsic(Call::bitwise_or) && op->type.is_bool()) {
            r = try_operands(op->args[0], op->args[1], VectorReduce::Or);
        }
    }
    if (r) {
        for (size_t i = lets.size(); i > 0; i--) {
            if (expr_uses_var(r->term, lets[i - 1]->name)) {
                r->term = Let::make(lets[i - 1]->name, lets[i - 1]->value, r->term);
            }
        }
        // The term must not read what the update writes.
        class Reads : public IRGraphVisitor {
        public:
            explicit Reads(const std::string &name) : name(name) {}
            bool found = false;

        protected:
            using IRGraphVisitor::visit;
            void visit(const Load *op) override {
                found = found || op->name == name;
                IRGraphVisitor::visit(op);
            }

        private:
            const std::string &name;
        } reads(store->name);
        r->term.accept(&reads);
        store->index.accept(&reads);
        if (reads.found) {
            return std::nullopt;
        }
    }
    return r;
}

Expr combine(VectorReduce::Operator op, const Expr &a, const Expr &b) {
    switch (op) {
    case VectorReduce::Add: return a + b;
    case VectorReduce::Mul: return a * b;
    case VectorReduce::Min: return min(a, b);
    case VectorReduce::Max: return max(a, b);
    case VectorReduce::And: return a && b;
    case VectorReduce::Or: return a || b;
    case VectorReduce::SaturatingAdd: return saturating_add(a, b);
    }
    internal_error << "Unknown reduction\n";
    return Expr();
}

Expr identity(VectorReduce::Operator op, const Type &t) {
    switch (op) {
    case VectorReduce::Add:
        return t.is_float() ? make_const(t, -0.0) : make_zero(t);
    case VectorReduce::SaturatingAdd:
    case VectorReduce::Or:
        return make_zero(t);
    case VectorReduce::Mul:
    case VectorReduce::And:
        return make_one(t);
    case VectorReduce::Min: return t.max();
    case VectorReduce::Max: return t.min();
    }
    internal_error << "Unknown reduction\n";
    return Expr();
}

}  // namespace Internal
}  // namespace Halide
