#include "regions/EnclosingLets.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "ir/IR.h"
#include "ir/IRConstants.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "simplify/Simplify.h"

namespace Halide {
namespace Internal {

namespace {

constexpr int max_layers = 8;
constexpr int max_nodes = 256;

/// Replaces variables by their values, and counts the nodes of the result as a tree, up to a limit.
class WriteOut : public IRMutator {
    const Scope<Expr> &values;
    int left = max_nodes;

    using IRMutator::visit;

    Expr visit(const Variable *op) override {
        const Expr *value = values.find(op->name);
        return value ? *value : Expr(op);
    }

public:
    explicit WriteOut(const Scope<Expr> &values)
        : values(values) {
    }

    using IRMutator::mutate;
    Expr mutate(const Expr &e) override {
        left--;
        return left < 0 ? e : IRMutator::mutate(e);
    }

    bool too_large() const {
        return left < 0;
    }
};

/// The value of an integer expression for one choice of the variables that nothing defines. Empty if it has other things
/// than arithmetic, or is large.
class Probe {
    using Value = std::optional<int64_t>;
    const Scope<Expr> &values;
    const uint64_t choice;
    std::unordered_map<const BaseExprNode *, Value> known;
    int left = 2000;

    Value variable(const Variable *op) {
        if (const Expr *value = values.find(op->name)) {
            return of(*value);
        }
        return (int64_t)((std::hash<std::string>()(op->name) ^ choice) * 0x9e3779b97f4a7c15ull >> 40) % 2000 - 700;
    }

    template<typename T, typename F>
    Value binary(const Expr &e, F &&f) {
        const T *op = e.as<T>();
        const Value a = of(op->a), b = a ? of(op->b) : a;
        return a && b ? f(*a, *b) : std::nullopt;
    }

    Value compute(const Expr &e) {
        const Type t = e.type();
        if (!t.is_scalar() || !(t.is_bool() || (t.is_int() && t.bits() >= 32))) {
            return std::nullopt;
        }
        int64_t r = 0;
        switch (e.node_type()) {
        case IRNodeType::IntImm:
            return e.as<IntImm>()->value;
        case IRNodeType::UIntImm:
            return (int64_t)e.as<UIntImm>()->value;
        case IRNodeType::Variable:
            return variable(e.as<Variable>());
        case IRNodeType::Cast:
            return e.as<Cast>()->value.type().is_int() ? of(e.as<Cast>()->value) : std::nullopt;
        case IRNodeType::Add:
            return binary<Add>(e, [&](int64_t a, int64_t b) { return __builtin_add_overflow(a, b, &r) ? Value() : r; });
        case IRNodeType::Sub:
            return binary<Sub>(e, [&](int64_t a, int64_t b) { return __builtin_sub_overflow(a, b, &r) ? Value() : r; });
        case IRNodeType::Mul:
            return binary<Mul>(e, [&](int64_t a, int64_t b) { return __builtin_mul_overflow(a, b, &r) ? Value() : r; });
        case IRNodeType::Div:
            return binary<Div>(e, [](int64_t a, int64_t b) { return Value(div_imp(a, b)); });
        case IRNodeType::Mod:
            return binary<Mod>(e, [](int64_t a, int64_t b) { return Value(mod_imp(a, b)); });
        case IRNodeType::Min:
            return binary<Min>(e, [](int64_t a, int64_t b) { return Value(std::min(a, b)); });
        case IRNodeType::Max:
            return binary<Max>(e, [](int64_t a, int64_t b) { return Value(std::max(a, b)); });
        case IRNodeType::EQ:
            return binary<EQ>(e, [](int64_t a, int64_t b) { return Value(a == b); });
        case IRNodeType::NE:
            return binary<NE>(e, [](int64_t a, int64_t b) { return Value(a != b); });
        case IRNodeType::LT:
            return binary<LT>(e, [](int64_t a, int64_t b) { return Value(a < b); });
        case IRNodeType::LE:
            return binary<LE>(e, [](int64_t a, int64_t b) { return Value(a <= b); });
        case IRNodeType::GT:
            return binary<GT>(e, [](int64_t a, int64_t b) { return Value(a > b); });
        case IRNodeType::GE:
            return binary<GE>(e, [](int64_t a, int64_t b) { return Value(a >= b); });
        case IRNodeType::Select: {
            const Select *op = e.as<Select>();
            const Value c = of(op->condition);
            return c ? of(*c ? op->true_value : op->false_value) : c;
        }
        case IRNodeType::Call: {
            const Call *op = Call::as_tag(e);
            return op ? of(op->args[0]) : std::nullopt;
        }
        default:
            return std::nullopt;
        }
    }

public:
    Probe(const Scope<Expr> &values, uint64_t choice)
        : values(values), choice(choice) {
    }
    Value of(const Expr &e) {
        auto it = known.find(e.get());
        if (it == known.end()) {
            it = known.emplace(e.get(), --left < 0 ? std::nullopt : compute(e)).first;
        }
        return it->second;
    }
};

}  // namespace

bool EnclosingLets::varies(const Expr &e) const {
    const std::optional<int64_t> a = Probe(values, 1).of(e);
    return a && a.value() != Probe(values, 0x5bd1e995).of(e).value_or(*a);
}

void EnclosingLets::push(const std::string &name, const Expr &value) {
    values.push(name, value);
}

void EnclosingLets::pop(const std::string &name) {
    values.pop(name);
}

Expr EnclosingLets::simplify_to_constant(const Expr &e) const {
    const Expr simplified = simplify(e);
    if (is_const(simplified) || varies(simplified)) {
        return simplified;
    }
    Expr layer = remove_likelies(simplified);
    for (int i = 0; i < max_layers && !is_const(layer); i++) {
        WriteOut writer(values);
        const Expr next = writer.mutate(layer);
        if (writer.too_large() || next.same_as(layer)) {
            break;
        }
        layer = simplify(remove_likelies(next));
    }
    return is_const(layer) ? layer : simplified;
}

}  // namespace Internal
}  // namespace Halide
