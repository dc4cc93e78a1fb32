#include "regions/EnclosingLets.h"

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

}  // namespace

void EnclosingLets::push(const std::string &name, const Expr &value) {
    values.push(name, value);
}

void EnclosingLets::pop(const std::string &name) {
    values.pop(name);
}

Expr EnclosingLets::simplify_to_constant(const Expr &e) const {
    const Expr simplified = simplify(e);
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
