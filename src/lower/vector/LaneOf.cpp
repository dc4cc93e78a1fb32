#include "lower/vector/LaneOf.h"

#include <vector>

#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "simplify/Simplify.h"

namespace Halide {
namespace Internal {

namespace {

class ExtractLane : public IRMutator {
public:
    explicit ExtractLane(int lane) : lane(lane) {}

    using IRMutator::mutate;
    Expr mutate(const Expr &e) override { return !e.defined() || e.type().is_scalar() ? e : IRMutator::mutate(e); }

protected:
    using IRMutator::visit;

    Expr visit(const Ramp *op) override {
        return op->base + op->stride * make_const(op->stride.type(), lane);
    }
    Expr visit(const Broadcast *op) override { return op->value; }
    Expr visit(const Cast *op) override { return Cast::make(op->type.element_of(), mutate(op->value)); }
    Expr visit(const Reinterpret *op) override { return Reinterpret::make(op->type.element_of(), mutate(op->value)); }
    Expr visit(const Load *op) override {
        return op->changed(&Load::type, op->type.element_of(), &Load::index, mutate(op->index), &Load::predicate,
                           mutate(op->predicate), &Load::alignment, ModulusRemainder());
    }
    Expr visit(const Call *op) override {
        std::vector<Expr> args;
        for (const Expr &e : op->args) {
            args.push_back(mutate(e));
        }
        return op->changed(&Call::type, op->type.element_of(), &Call::args, args);
    }
    Expr visit(const Variable *op) override { return Shuffle::make_extract_element(op, lane); }
    Expr visit(const Shuffle *op) override { return Shuffle::make_extract_element(op, lane); }

private:
    const int lane;
};

}  // namespace

Expr lane_of(const Expr &e, int lane) {
    return ExtractLane(lane).mutate(e);
}

Expr repeat_each(const Expr &e, int times) {
    if (times == 1) {
        return e;
    }
    if (e.type().is_scalar()) {
        return Broadcast::make(e, times);
    }
    if (const Broadcast *b = e.as<Broadcast>(); b && b->value.type().is_scalar()) {
        return Broadcast::make(b->value, b->lanes * times);
    }
    std::vector<int> indices;
    for (int i = 0; i < e.type().lanes() * times; i++) {
        indices.push_back(i / times);
    }
    return Shuffle::make({e}, indices);
}

std::optional<std::pair<Expr, Expr>> as_affine_lanes(const Expr &e) {
    if (const Ramp *r = e.as<Ramp>(); r && r->base.type().is_scalar()) {
        return std::pair(r->base, r->stride);
    }
    if (const Broadcast *b = e.as<Broadcast>(); b && b->value.type().is_scalar()) {
        return std::pair(b->value, make_zero(b->value.type()));
    }
    const Expr first = lane_of(e, 0);
    const Expr step = simplify(lane_of(e, 1) - first);
    for (int i = 2; i < e.type().lanes(); i++) {
        if (!is_const_zero(simplify(lane_of(e, i) - first - step * make_const(step.type(), i)))) {
            return std::nullopt;
        }
    }
    return std::pair(simplify(first), step);
}

}  // namespace Internal
}  // namespace Halide
