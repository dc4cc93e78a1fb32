#include "lower/vector/IndexRanges.h"

#include "ir/IROperator.h"

namespace Halide {
namespace Internal {

namespace {

ConstantInterval range_of_type(const Type &t) {
    return t.is_int_or_uint() && t.bits() <= 32 ? ConstantInterval::bounds_of_type(t.element_of()) :
                                                  ConstantInterval::everything();
}

}  // namespace

bool fits_int32(const ConstantInterval &i) {
    return i.is_bounded() && ConstantInterval::bounds_of_type(Int(32)).contains(i);
}

bool is_index_type(const Type &t) {
    return t.is_int() && (t.bits() == 32 || t.bits() == 64);
}

IndexRanges::Binding::Binding(IndexRanges &ranges, const std::string &name, const ConstantInterval &range)
    : ranges(ranges), name(name) {
    ranges.bound.push(name, range);
    ranges.known.clear();
}

IndexRanges::Binding::~Binding() {
    ranges.bound.pop(name);
    ranges.known.clear();
}

ConstantInterval IndexRanges::of(const Expr &e) {
    if (const auto it = known.find(e.get()); it != known.end()) {
        return it->second.second;
    }
    const ConstantInterval result = compute(e);
    known.emplace(e.get(), std::make_pair(e, result));
    return result;
}

ConstantInterval IndexRanges::compute(const Expr &e) {
    if (const auto c = as_const_int(e)) {
        return ConstantInterval::single_point(*c);
    }
    const ConstantInterval by_type = range_of_type(e.type());
    if (const Variable *op = e.as<Variable>()) {
        const ConstantInterval *range = bound.find(op->name);
        return range ? *range : by_type;
    }
    if (const Broadcast *op = e.as<Broadcast>()) {
        return of(op->value);
    }
    if (const Cast *op = e.as<Cast>()) {
        if (!op->value.type().is_int_or_uint()) {
            return by_type;
        }
        const ConstantInterval from = of(op->value);
        return by_type.contains(from) ? from : by_type;
    }
    if (!is_index_type(e.type())) {
        return by_type;
    }
    switch (e.node_type()) {
    case IRNodeType::Add:
        return of(e.as<Add>()->a) + of(e.as<Add>()->b);
    case IRNodeType::Sub:
        return of(e.as<Sub>()->a) - of(e.as<Sub>()->b);
    case IRNodeType::Mul:
        return of(e.as<Mul>()->a) * of(e.as<Mul>()->b);
    case IRNodeType::Div:
        return of(e.as<Div>()->a) / of(e.as<Div>()->b);
    case IRNodeType::Mod:
        return of(e.as<Mod>()->a) % of(e.as<Mod>()->b);
    case IRNodeType::Min:
        return min(of(e.as<Min>()->a), of(e.as<Min>()->b));
    case IRNodeType::Max:
        return max(of(e.as<Max>()->a), of(e.as<Max>()->b));
    case IRNodeType::Select:
        return ConstantInterval::make_union(of(e.as<Select>()->true_value), of(e.as<Select>()->false_value));
    case IRNodeType::Ramp: {
        const Ramp *op = e.as<Ramp>();
        return of(op->base) + of(op->stride) * ConstantInterval(0, op->lanes - 1);
    }
    case IRNodeType::Let: {
        const Let *op = e.as<Let>();
        const ConstantInterval value = of(op->value);
        const Binding binding(*this, op->name, value);
        return of(op->body);
    }
    case IRNodeType::Shuffle: {
        const Shuffle *op = e.as<Shuffle>();
        ConstantInterval all = of(op->vectors[0]);
        for (const Expr &v : op->vectors) {
            all.include(of(v));
        }
        return all;
    }
    case IRNodeType::Call: {
        const Call *op = e.as<Call>();
        return op->is_intrinsic({Call::likely, Call::likely_if_innermost}) ? of(op->args[0]) : by_type;
    }
    default:
        return by_type;
    }
}

}  // namespace Internal
}  // namespace Halide
