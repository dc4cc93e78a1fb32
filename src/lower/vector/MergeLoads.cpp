#include "lower/vector/MergeLoads.h"

#include <optional>
#include <vector>

#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "simplify/Simplify.h"

namespace Halide {
namespace Internal {

namespace {

/// A byte in memory, at bits `shift` … `shift` + 7 of the whole.
struct Part {
    const Load *load = nullptr;
    int shift = 0;
};

/// e · 2^shift, however it is written.
std::optional<std::pair<Expr, int>> shifted(const Expr &e) {
    if (const Mul *op = e.as<Mul>()) {
        const std::optional<int> power = is_const_power_of_two_integer(op->b);
        return power ? std::make_optional(std::make_pair(op->a, *power)) : std::nullopt;
    }
    if (const Call *op = Call::as_intrinsic(e, {Call::shift_left})) {
        const auto by = as_const_uint(op->args[1]);
        const auto by_signed = as_const_int(op->args[1]);
        if (by || (by_signed && *by_signed >= 0)) {
            return std::make_pair(op->args[0], by ? (int)*by : (int)*by_signed);
        }
        return std::nullopt;
    }
    return std::make_pair(e, 0);
}

/// The bytes of which `e` is made by or, or by addition, which is the same while no bits meet. False if it has others.
bool collect(const Expr &e, int shift, int bits, std::vector<Part> &parts) {
    const auto both = [&](const Expr &a, const Expr &b) {
        return collect(a, shift, bits, parts) && collect(b, shift, bits, parts);
    };
    if (const Call *op = Call::as_intrinsic(e, {Call::bitwise_or})) {
        return both(op->args[0], op->args[1]);
    }
    if (const Add *op = e.as<Add>()) {
        return both(op->a, op->b);
    }
    const auto s = shifted(e);
    if (s && s->second > 0) {
        return shift + s->second < bits && collect(s->first, shift + s->second, bits, parts);
    }
    const Cast *cast = e.as<Cast>();
    const Load *load = cast ? cast->value.as<Load>() : nullptr;
    if (!load || load->type.element_of() != UInt(8) || !is_const_one(load->predicate) || shift % 8 != 0) {
        return false;
    }
    parts.push_back({load, shift});
    return true;
}

class MergeLoadsMutator : public IRMutator {
protected:
    using IRMutator::mutate;

public:
    Expr mutate(const Expr &e) override {
        if (e.defined() && e.type().is_uint() && e.type().bits() > 8 && e.type().bits() <= 64 &&
            (e.as<Add>() || Call::as_intrinsic(e, {Call::bitwise_or}))) {
            if (Expr merged = merge(e); merged.defined()) {
                return merged;
            }
        }
        return IRMutator::mutate(e);
    }

private:
    static Expr merge(const Expr &e) {
        const int bytes = e.type().bits() / 8;
        std::vector<Part> parts;
        if (!collect(e, 0, e.type().bits(), parts) || (int)parts.size() != bytes) {
            return Expr();
        }
        std::vector<const Load *> by_place(bytes, nullptr);
        for (const Part &p : parts) {
            if (by_place[p.shift / 8]) {
                return Expr();
            }
            by_place[p.shift / 8] = p.load;
        }
        const Load *first = by_place[0];
        Expr start = first->index;
        if (e.type().is_vector()) {
            const Ramp *ramp = start.as<Ramp>();
            if (!ramp || !ramp->base.type().is_scalar() || !is_const(ramp->stride, bytes)) {
                return Expr();
            }
            start = ramp->base;
        }
        for (int i = 1; i < bytes; i++) {
            const Load *l = by_place[i];
            const Expr apart = simplify(l->index - first->index);
            if (l->name != first->name || l->is_streaming != first->is_streaming || !is_const(apart, i)) {
                return Expr();
            }
        }
        const int lanes = bytes * e.type().lanes();
        Expr dense = Load::make(UInt(8, lanes), first->name, Ramp::make(start, make_one(start.type()), lanes), first->image,
                                first->param, const_true(lanes), first->alignment, first->is_streaming);
        return Reinterpret::make(e.type(), dense);
    }
};

}  // namespace

Stmt merge_loads(const Stmt &s, LowerContext &ctx) {
    return MergeLoadsMutator()(s);
}

}  // namespace Internal
}  // namespace Halide
