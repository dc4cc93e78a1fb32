/// Loads, stores and reductions of a SWAR loop: where words come from and go to.

#include "lower/vector/SWARPack.h"

#include <algorithm>
#include <bit>

#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "simplify/Simplify.h"
#include "support/Error.h"

namespace Halide {
namespace Internal {

// ---- Memory ---------------------------------------------------------------------------------------------------------

/// Where each lane lies relative to lane 0, if that is constant.
std::optional<std::vector<int>> SWARPack::offsets(const Expr &index) const {
    const Expr first = lane_of(index, 0);
    std::vector<int> result = {0};
    for (int i = 1; i < place.lanes; i++) {
        const auto d = as_const_int(simplify(lane_of(index, i) - first));
        if (!d || *d != (int)*d) {
            return std::nullopt;
        }
        result.push_back((int)*d);
    }
    return result;
}

/// Neighbouring elements as one unsigned integer of exactly their bits.
Expr SWARPack::load_run(const Load *op, const Expr &index, int elements) const {
    const Type element = op->type.element_of();
    const int bits = element.is_bool() ? 8 : element.bits();
    const Expr at = elements == 1 ? index : Ramp::make(index, make_one(index.type()), elements);
    const Expr e = op->changed(&Load::type, element.with_lanes(elements), &Load::index, at, &Load::predicate,
                               const_true(elements), &Load::alignment, ModulusRemainder());
    const Expr numbers = element.is_bool() ? cast(UInt(8, elements), e) : e;
    const Type word = UInt(bits * elements);
    return numbers.type() == word ? numbers : Reinterpret::make(word, numbers);
}

LaneWord SWARPack::pack_load(const Load *op) {
    const Expr e = op;
    const LaneShape s = shape(e, op->type.is_bool() ? 8 : op->type.bits());
    const Expr index = simplify(op->index);
    const auto lane_by_lane = [&] {
        const Expr load = op->changed(&Load::index, index);
        return assemble(op->type.is_bool() ? cast(UInt(8, s.lanes), load) : load, s);
    };
    if (const Broadcast *b = index.as<Broadcast>()) {
        return ops.broadcast(s, load_run(op, b->value, 1), s.lane_mask());
    }
    const auto at = offsets(index);
    if (!at) {
        if (!is_index(index)) {
            refuse(e, "is a gather: where its lanes come from depends on data.");
        }
        return lane_by_lane();
    }
    const int first = *std::min_element(at->begin(), at->end());
    const int elements = *std::max_element(at->begin(), at->end()) - first + 1;
    const int run_bits = elements * s.bits;
    if (run_bits > place.word_bits || !std::has_single_bit((unsigned)run_bits)) {
        return lane_by_lane();
    }
    const Expr base = simplify(lane_of(index, 0) + make_const(index.type().element_of(), first));
    LaneShape run = s;
    run.lanes = elements;
    run.word_bits = std::max(run_bits, 16);
    const Expr word = cast(run.word_type(), load_run(op, base, elements));
    std::vector<int> from;
    bool in_order = elements == s.lanes;
    for (int i = 0; i < s.lanes; i++) {
        from.push_back((*at)[i] - first);
        in_order = in_order && from[i] == i;
    }
    if (in_order) {
        return {word, s, s.lane_mask()};
    }
    return ops.permute({ops.name(word), run, s.lane_mask()}, s, from);
}

Stmt SWARPack::store(const Store *op) {
    const Type t = op->value.type(), element = t.element_of();
    const Expr index = simplify(op->index);
    LaneWord w;
    if (t.is_bool()) {
        w = convert(pack_bool(op->value, 8), op->value, 8);
        w = ops.bit_and(w, SWAROps::constant(w.shape, w.shape.ones()));
    } else {
        w = pack(op->value);
    }
    const LaneShape s = w.shape;
    const auto at = offsets(index);
    if (!at && !is_index(index)) {
        refuse(Load::make(t, op->name, op->index),
               "is the place of a scatter: where lanes go depends on data.");
    }
    int first = 0;
    std::vector<int> from(s.lanes, -1);
    if (at) {
        first = *std::min_element(at->begin(), at->end());
        for (int i = 0; i < s.lanes; i++) {
            const int place_of_lane = (*at)[i] - first;
            if (place_of_lane < s.lanes) {
                from[place_of_lane] = i;
            }
        }
    }
    const bool dense = at && s.is_full() && std::find(from.begin(), from.end(), -1) == from.end();
    const Expr base = lane_of(index, 0);
    if (dense) {
        if (!std::is_sorted(from.begin(), from.end())) {
            w = ops.permute(w, s, from);
        }
        const Type stored = element.is_bool() ? UInt(8) : element;
        Expr value = Reinterpret::make(stored.with_lanes(s.lanes), w.word);
        value = element.is_bool() ? Cast::make(t, value) : value;
        const Expr start = simplify(base + make_const(base.type(), first));
        return with_lets(op->changed(&Store::value, value, &Store::index,
                                     Ramp::make(start, make_one(start.type()), s.lanes), &Store::predicate,
                                     const_true(s.lanes), &Store::alignment, ModulusRemainder()));
    }
    w = ops.name(w);
    std::vector<Stmt> stores;
    std::vector<Expr> places;
    for (int i = 0; i < s.lanes; i++) {
        places.push_back(ops.name(simplify(lane_of(index, i))));
    }
    for (int i = 0; i < s.lanes; i++) {
        const Expr bits = cast(UInt(s.bits), ops.extract(w, i));
        const Expr value = element.is_float() ? reinterpret(element, bits) : cast(element, bits);
        stores.push_back(op->changed(&Store::value, value, &Store::index, places[i], &Store::predicate, const_true(),
                                     &Store::alignment, ModulusRemainder()));
    }
    return with_lets(Block::make(stores));
}

// ---- Reductions -----------------------------------------------------------------------------------------------------

Expr SWARPack::reduce(const VectorReduce *op) {
    const Expr e = op;
    const Type t = op->type;
    internal_assert(t.is_scalar()) << "A SWAR loop gives one scalar: " << e << "\n";
    if (t.is_bool()) {
        const LaneWord m = pack_bool(op->value, 8);
        return op->op == VectorReduce::And || op->op == VectorReduce::Min ? ops.all(m) : ops.any(m);
    }
    if (op->op == VectorReduce::Add && t.is_int_or_uint()) {
        // In the narrowest lanes that hold the terms, if the sum is wider.
        for (int bits = 8; bits < t.bits() && fits(bits); bits *= 2) {
            const auto s = type_within({op->value}, bits);
            if (!s || 2 * bits > t.bits()) {
                continue;
            }
            LaneWord w = pack(narrowed_operand(op->value, *s, true));
            if (s->is_uint() || w.top_bit_clear()) {
                return cast(t, ops.wide_sum(w));
            }
            const uint64_t half = (uint64_t)1 << (bits - 1);
            w = ops.bit_xor(w, SWAROps::constant(w.shape, w.shape.high()));
            return cast(t, ops.wide_sum(w)) - make_const(t, half * (uint64_t)place.lanes);
        }
        return cast(t, ops.sum(pack(op->value)));
    }
    // One after the other.
    const LaneWord w = ops.name(pack(op->value));
    Expr result;
    for (int i = 0; i < w.shape.lanes; i++) {
        const Expr bits = cast(UInt(w.shape.bits), ops.extract(w, i));
        const Expr x = t.is_float() ? reinterpret(t, bits) : cast(t, bits);
        if (i == 0) {
            result = x;
            continue;
        }
        switch (op->op) {
        case VectorReduce::Mul: result = result * x; break;
        case VectorReduce::Min: result = min(result, x); break;
        case VectorReduce::Max: result = max(result, x); break;
        case VectorReduce::SaturatingAdd: result = saturating_add(result, x); break;
        default: refuse(op->value, "is reduced by an operation that lanes of a word do not have.");
        }
    }
    return result;
}

}  // namespace Internal
}  // namespace Halide
