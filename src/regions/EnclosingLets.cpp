#include "regions/EnclosingLets.h"

#include "ir/IR.h"
#include "ir/IRMutator.h"

namespace Halide {
namespace Internal {

namespace {

/// Replaces variables by their values, and counts the nodes of the result as a tree, up to a limit.
class WriteOut : public IRMutator {
    const Scope<Expr> &values;
    int left;

    using IRMutator::visit;

    Expr visit(const Variable *op) override {
        const Expr *value = values.find(op->name);
        return value && value->defined() ? mutate(*value) : Expr(op);
    }

public:
    WriteOut(const Scope<Expr> &values, int limit)
        : values(values), left(limit) {
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
    Expr written_out;
    if (value.type() == Int(32)) {
        WriteOut writer(values, max_nodes);
        written_out = writer.mutate(value);
        if (writer.too_large()) {
            written_out = Expr();
        }
    }
    values.push(name, written_out);
}

void EnclosingLets::pop(const std::string &name) {
    values.pop(name);
}

Expr EnclosingLets::expand(const Expr &e) const {
    WriteOut writer(values, 4 * max_nodes);
    const Expr result = writer.mutate(e);
    return writer.too_large() ? e : result;
}

}  // namespace Internal
}  // namespace Halide
