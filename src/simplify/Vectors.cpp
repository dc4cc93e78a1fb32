// Casts, and the nodes that make vectors.

#include "ir/IREquality.h"
#include "ir/IROperator.h"
#include "simplify/Simplifier.h"

#include <cmath>
#include <cstring>

namespace Halide {
namespace Internal {

namespace {

bool nowrap(const Type &t) {
    return t.is_int() && t.bits() >= 32;
}

// The bits of a scalar constant, for types that C++ has.
std::optional<uint64_t> bits_of(const Expr &e) {
    if (const IntImm *i = e.as<IntImm>()) {
        const int unused = 64 - e.type().bits();
        return ((uint64_t)i->value << unused) >> unused;
    } else if (const UIntImm *u = e.as<UIntImm>()) {
        return u->value;
    } else if (const FloatImm *f = e.as<FloatImm>(); f && !e.type().is_bfloat()) {
        if (e.type().bits() == 32) {
            const float v = (float)f->value;
            uint32_t r;
            memcpy(&r, &v, 4);
            return r;
        } else if (e.type().bits() == 64) {
            uint64_t r;
            memcpy(&r, &f->value, 8);
            return r;
        }
    }
    return std::nullopt;
}

Expr constant_of_bits(const Type &t, uint64_t bits) {
    if (t.is_int()) {
        return IntImm::make(t, (int64_t)bits);
    } else if (t.is_uint()) {
        return UIntImm::make(t, bits);
    } else if (t.is_float() && !t.is_bfloat() && t.bits() == 32) {
        const uint32_t low = (uint32_t)bits;
        float v;
        memcpy(&v, &low, 4);
        return std::isnan(v) ? Expr() : Expr(FloatImm::make(t, v));
    } else if (t.is_float() && t.bits() == 64) {
        double v;
        memcpy(&v, &bits, 8);
        return std::isnan(v) ? Expr() : Expr(FloatImm::make(t, v));
    }
    return Expr();
}

bool is_number(const Expr &e) {
    return e.as<IntImm>() || e.as<UIntImm>() || e.as<FloatImm>();
}

}  // namespace

Expr Simplifier::cast(const Type &t, const Expr &value, const Expr &original) {
    const Type from = value.type();
    if (t == from) {
        return value;
    }
    if (is_undef(value)) {
        return undef(t);
    }
    if (is_signed_integer_overflow(value) && t.is_int() && t.bits() >= 32) {
        return make_signed_integer_overflow(t);
    }
    if (is_number(value)) {
        return Halide::cast(t, value);
    }
    if (const Broadcast *b = value.as<Broadcast>()) {
        return broadcast(cast(t.with_lanes(b->value.type().lanes()), b->value), b->lanes);
    }
    const bool integers = t.is_int_or_uint() && from.is_int_or_uint();
    if (const Ramp *r = value.as<Ramp>(); r && integers && (nowrap(from) || t.bits() <= from.bits())) {
        const Type inner = t.with_lanes(r->base.type().lanes());
        return ramp(cast(inner, r->base), cast(inner, r->stride), r->lanes);
    }
    if (const Cast *c = value.as<Cast>()) {
        const Type first = c->value.type();
        const bool first_integer = first.is_int_or_uint(), second_integer = from.is_int_or_uint();
        const bool lossless = from.can_represent(first) && (first_integer == second_integer || t.can_represent(first));
        const bool truncating = first_integer && integers && from.bits() <= first.bits() && t.bits() <= from.bits();
        if (!first.is_handle() && (lossless || truncating)) {
            return cast(t, c->value);
        }
        if (integers && first_integer && t.bits() <= from.bits() && from.bits() >= first.bits()) {
            // Extended and cut again: low bits only, or an extension of the same kind.
            return cast(t, c->value);
        }
    }
    if (const Add *a = value.as<Add>(); a && nowrap(from) && t.is_int() && t.bits() > from.bits() && is_const(a->b)) {
        return add(cast(t, a->a), cast(t, a->b));
    }
    if (const Select *s = value.as<Select>(); s && is_const(s->true_value) && is_const(s->false_value)) {
        return select(s->condition, cast(t, s->true_value), cast(t, s->false_value));
    }
    const Cast *op = original.as<Cast>();
    return op && op->value.same_as(value) ? original : Cast::make(t, value);
}

Expr Simplifier::reinterpret(const Type &t, const Expr &value, const Expr &original) {
    const Type from = value.type();
    if (t == from) {
        return value;
    }
    if (const Reinterpret *r = value.as<Reinterpret>()) {
        return reinterpret(t, r->value);
    }
    if (is_number(value) && t.is_scalar()) {
        if (auto bits = bits_of(value)) {
            const Expr r = constant_of_bits(t, *bits);
            if (r.defined()) {
                return r;
            }
        }
    }
    if (const Broadcast *b = value.as<Broadcast>(); b && t.lanes() == from.lanes()) {
        return broadcast(reinterpret(t.with_lanes(b->value.type().lanes()), b->value), b->lanes);
    }
    if (const Ramp *r = value.as<Ramp>(); r && t.lanes() == from.lanes() && t.is_int_or_uint() && from.is_int_or_uint()) {
        const Type inner = t.with_lanes(r->base.type().lanes());
        if (!nowrap(t) || nowrap(from)) {
            return ramp(reinterpret(inner, r->base), reinterpret(inner, r->stride), r->lanes);
        }
    }
    const Reinterpret *op = original.as<Reinterpret>();
    return op && op->value.same_as(value) ? original : Reinterpret::make(t, value);
}

Expr Simplifier::broadcast(const Expr &value, int lanes, const Expr &original) {
    if (lanes == 1) {
        return value;
    }
    if (is_undef(value)) {
        return undef(value.type().with_lanes(value.type().lanes() * lanes));
    }
    const Broadcast *op = original.as<Broadcast>();
    const Expr e = op && op->value.same_as(value) ? original : Broadcast::make(value, lanes);
    const Expr r = apply_rules(e);
    return r.defined() ? r : e;
}

Expr Simplifier::ramp(const Expr &base, const Expr &stride, int lanes, const Expr &original) {
    if (lanes == 1) {
        return base;
    }
    const Ramp *op = original.as<Ramp>();
    const Expr e = op && op->base.same_as(base) && op->stride.same_as(stride) ? original :
                                                                                Ramp::make(base, stride, lanes);
    const Expr r = apply_rules(e);
    return r.defined() ? r : e;
}

// Lanes of ramps and broadcasts that are in arithmetic progression again are one ramp.
Expr Simplifier::shuffle_of_ramps(const std::vector<Expr> &vectors, const std::vector<int> &indices) {
    const Type t = vectors[0].type();
    if (!t.is_int_or_uint() || t.is_bool()) {
        return Expr();
    }
    // Each lane as scalar base + constant.
    struct Lane {
        Expr base;
        int64_t offset;
    };
    std::vector<Lane> lanes;
    for (const Expr &v : vectors) {
        const Ramp *r = v.as<Ramp>();
        const Broadcast *b = v.as<Broadcast>();
        Expr base = r ? r->base : b ? b->value : v;
        if (!base.type().is_scalar()) {
            return Expr();
        }
        int64_t stride = 0;
        if (r) {
            const auto s = as_const_int(r->stride);
            const auto u = as_const_uint(r->stride);
            if (!s && !(u && *u < (1u << 30))) {
                return Expr();
            }
            stride = s ? *s : (int64_t)*u;
        }
        for (int i = 0; i < v.type().lanes(); i++) {
            lanes.push_back({base, stride * i});
        }
    }
    const Lane &first = lanes[indices[0]];
    // Distances from the first lane wanted.
    auto distance = [&](const Lane &lane) -> std::optional<int64_t> {
        if (lane.base.same_as(first.base)) {
            return lane.offset - first.offset;
        }
        LinearForm f;
        f.add(lane.base, 1, LinearForm::Use::Rebuild);
        f.add(first.base, -1, LinearForm::Use::Rebuild);
        return f.valid && f.terms.empty() ? std::optional<int64_t>(f.constant + lane.offset - first.offset) : std::nullopt;
    };
    const auto stride = distance(lanes[indices[1]]);
    if (!stride) {
        return Expr();
    }
    for (size_t i = 2; i < indices.size(); i++) {
        const auto d = distance(lanes[indices[i]]);
        if (!d || *d != *stride * (int64_t)i) {
            return Expr();
        }
    }
    const Type scalar = t.element_of();
    if (nowrap(scalar) && (!scalar.can_represent(*stride) || !scalar.can_represent(first.offset))) {
        return Expr();
    }
    const Expr base = add(first.base, make_const(scalar, first.offset));
    return ramp(base, make_const(scalar, *stride), (int)indices.size());
}

// Interleaved or concatenated loads of one buffer that together are one dense or strided load.
Expr Simplifier::shuffle_of_loads(const std::vector<Expr> &vectors, const std::vector<int> &indices) {
    std::vector<Expr> index;
    const Load *first = vectors[0].as<Load>();
    for (const Expr &v : vectors) {
        const Load *op = v.as<Load>();
        if (!op || op->name != first->name || !is_const_one(op->predicate) || op->is_streaming != first->is_streaming) {
            return Expr();
        }
        index.push_back(op->index);
    }
    const Expr whole = shuffle(index, indices);
    const Ramp *r = whole.as<Ramp>();
    if (!r || !r->base.type().is_scalar()) {
        return Expr();
    }
    return Load::make(first->type.with_lanes((int)indices.size()), first->name, whole, first->image, first->param,
                      const_true((int)indices.size()), alignment_of_first_lane(whole, ModulusRemainder()),
                      first->is_streaming);
}

Expr Simplifier::shuffle(const std::vector<Expr> &vectors, const std::vector<int> &indices, const Expr &original) {
    int total = 0;
    for (const Expr &v : vectors) {
        total += v.type().lanes();
    }
    const int lanes = (int)indices.size();
    if (vectors.size() == 1 && lanes == total) {
        bool identity = true;
        for (int i = 0; i < lanes; i++) {
            identity = identity && indices[i] == i;
        }
        if (identity) {
            return vectors[0];
        }
    }
    // Vectors of which no lane is taken go; if one is left, look into it.
    std::vector<int> offset(vectors.size() + 1, 0);
    for (size_t v = 0; v < vectors.size(); v++) {
        offset[v + 1] = offset[v] + vectors[v].type().lanes();
    }
    auto vector_of = [&](int index) {
        size_t v = 0;
        while (index >= offset[v + 1]) {
            v++;
        }
        return v;
    };
    std::vector<bool> used(vectors.size(), false);
    for (int i : indices) {
        used[vector_of(i)] = true;
    }
    std::vector<Expr> needed;
    std::vector<int> moved(vectors.size(), 0);
    int start = 0;
    for (size_t v = 0; v < vectors.size(); v++) {
        moved[v] = start - offset[v];
        if (used[v]) {
            needed.push_back(vectors[v]);
            start += vectors[v].type().lanes();
        }
    }
    if (needed.size() < vectors.size()) {
        std::vector<int> renumbered;
        for (int i : indices) {
            renumbered.push_back(i + moved[vector_of(i)]);
        }
        return shuffle(needed, renumbered);
    }

    if (vectors.size() == 1) {
        const Expr &v = vectors[0];
        const Type scalar = v.type().element_of();
        if (const Broadcast *b = v.as<Broadcast>()) {
            if (b->value.type().is_scalar()) {
                return broadcast(b->value, lanes);
            }
            std::vector<int> inner;
            for (int i : indices) {
                inner.push_back(i % b->value.type().lanes());
            }
            return shuffle({b->value}, inner);
        }
        if (const Ramp *r = v.as<Ramp>(); r && lanes == 1 && r->base.type().is_scalar()) {
            return add(r->base, mul(r->stride, make_const(scalar, indices[0])));
        }
        if (const Shuffle *s = v.as<Shuffle>()) {
            std::vector<int> inner;
            for (int i : indices) {
                inner.push_back(s->indices[i]);
            }
            return shuffle(s->vectors, inner);
        }
        if (v.type().is_scalar()) {
            return broadcast(v, lanes);
        }
    } else if (lanes == 1) {
        return vectors[0];
    }
    // Equal vectors are one; all broadcasts of one scalar are a broadcast.
    bool same_scalar = true;
    Expr scalar;
    for (const Expr &v : vectors) {
        const Broadcast *b = v.as<Broadcast>();
        const Expr value = b ? b->value : v;
        if (!value.type().is_scalar() || (scalar.defined() && !same_expr(scalar, value))) {
            same_scalar = false;
            break;
        }
        scalar = value;
    }
    if (same_scalar && is_pure(scalar)) {
        return broadcast(scalar, lanes);
    }
    if (lanes > 1) {
        Expr r = shuffle_of_ramps(vectors, indices);
        if (r.defined()) {
            return r;
        }
        if (vectors[0].as<Load>()) {
            r = shuffle_of_loads(vectors, indices);
            if (r.defined()) {
                return r;
            }
        }
    }
    return original.defined() ? original : Shuffle::make(vectors, indices);
}

Expr Simplifier::reduce(VectorReduce::Operator op, const Expr &value, int lanes, const Expr &original) {
    const Type t = value.type();
    if (t.lanes() == lanes) {
        return value;
    }
    const int factor = t.lanes() / lanes;
    const bool exact = t.is_int_or_uint() || (op != VectorReduce::Add && op != VectorReduce::Mul);
    if (const Broadcast *b = value.as<Broadcast>()) {
        const Expr &v = b->value;
        if (v.type().is_scalar()) {
            if (op == VectorReduce::Add && t.is_int_or_uint() && t.element_of().can_represent((int64_t)factor)) {
                return broadcast(mul(v, make_const(v.type(), factor)), lanes);
            } else if (op != VectorReduce::Add && op != VectorReduce::Mul && op != VectorReduce::SaturatingAdd) {
                return broadcast(v, lanes);
            }
        } else if (v.type().lanes() % factor == 0) {
            return broadcast(reduce(op, v, v.type().lanes() / factor), b->lanes);
        }
    }
    if (const VectorReduce *inner = value.as<VectorReduce>();
        inner && inner->op == op && exact && op != VectorReduce::SaturatingAdd) {
        return reduce(op, inner->value, lanes);
    }
    const VectorReduce *same = original.as<VectorReduce>();
    return same && same->value.same_as(value) ? original : VectorReduce::make(op, value, lanes);
}

// The index of lane 0, as far as alignment goes.
ModulusRemainder Simplifier::alignment_of_first_lane(const Expr &index, const ModulusRemainder &known) {
    Expr first = index;
    for (;;) {
        if (const Ramp *r = first.as<Ramp>()) {
            first = r->base;
        } else if (const Broadcast *b = first.as<Broadcast>()) {
            first = b->value;
        } else {
            break;
        }
    }
    return ModulusRemainder::intersect(info(first).alignment, known);
}

Expr Simplifier::mutate_load(const Load *op) {
    const Expr predicate = mutate(op->predicate);
    const Expr index = mutate(op->index);
    if (is_const_zero(predicate)) {
        // Nothing is read, and the value of such lanes is undefined.
        return make_zero(op->type);
    }
    const Broadcast *bi = index.as<Broadcast>(), *bp = predicate.as<Broadcast>();
    if (bi && bi->value.type().is_scalar() && bp && bp->value.type().is_scalar()) {
        const Expr load = Load::make(op->type.element_of(), op->name, bi->value, op->image, op->param, bp->value,
                                     alignment_of_first_lane(index, op->alignment), op->is_streaming);
        return broadcast(load, op->type.lanes());
    }
    const ModulusRemainder alignment = alignment_of_first_lane(index, op->alignment);
    if (predicate.same_as(op->predicate) && index.same_as(op->index) && alignment == op->alignment) {
        return op;
    }
    return Load::make(op->type, op->name, index, op->image, op->param, predicate, alignment, op->is_streaming);
}

}  // namespace Internal
}  // namespace Halide
