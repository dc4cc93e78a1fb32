#include "interp/Arithmetic.h"
#include "interp/Task.h"
#include "ir/IRPrinter.h"

#include <sstream>

namespace Halide {
namespace Internal {

// Of lanes that nobody may depend on.
Value InterpreterTask::undefined_value(Type t) {
    Value result(t);
    for (int i = 0; i < t.lanes(); i++) {
        result[i] = from_bits(t.element_of(), state.random());
        result[i].undefined = true;
    }
    return result;
}

void InterpreterTask::note_overflow(const BaseExprNode *op, const Value &v) {
    const Type t = v.type.element_of();
    if (!state.overflow.empty() || !t.is_int() || t.bits() < 32) {
        return;
    }
    for (int i = 0; i < v.lanes(); i++) {
        if (!v[i].undefined && !fits(t, v[i].i)) {
            std::ostringstream text;
            text << Expr(op) << " is " << to_string(v[i].i) << ", which is not a value of " << t;
            state.overflow = text.str();
            return;
        }
    }
}

Value InterpreterTask::binary(IRNodeType node_type, const BaseExprNode *op, const Expr &a, const Expr &b) {
    const Value x = eval(a), y = eval(b);
    const Type t = a.type().element_of();
    Value result(op->type);
    for (int i = 0; i < result.lanes(); i++) {
        result[i] = binary_operation(node_type, t, x[i], y[i]);
    }
    if (node_type == IRNodeType::Add || node_type == IRNodeType::Sub || node_type == IRNodeType::Mul) {
        note_overflow(op, result);
    }
    return result;
}

Value InterpreterTask::select(const Select *op) {
    const Value c = eval(op->condition), t = eval(op->true_value), f = eval(op->false_value);
    Value result(op->type);
    for (int i = 0; i < result.lanes(); i++) {
        const Scalar &chosen = c.lane_or_scalar(i);
        result[i] = chosen.i ? t[i] : f[i];
        result[i].undefined |= chosen.undefined;
    }
    return result;
}

Value InterpreterTask::load(const Load *op) {
    const Value predicate = eval(op->predicate), index = eval(op->index);
    const Type element = op->type.element_of();
    Value result = Value(op->type);
    MemoryRegion *region = nullptr;
    Int128 base = 0;
    for (int i = 0; i < result.lanes(); i++) {
        if (!predicate[i].i || !is_active(i, result.lanes())) {
            result[i] = from_bits(element, state.random());
            result[i].undefined = true;
            continue;
        }
        if (!region) {
            // Of a load without a live lane the buffer need not exist.
            base = variable(op->name, Handle(), op->image, op->param)[0].i;
            region = state.memory.find((uint64_t)base);
            if (!region) {
                throw InterpreterFault("load from " + op->name + ", which is " +
                                       (base ? "not in memory that the statement may touch" : "null"));
            }
        }
        const Int128 address = base + index[i].i * element.bytes();
        uint8_t *at = InterpreterMemory::check(region, address, (uint64_t)element.bytes(), "load from", op->name,
                                               index[i].i);
        result[i] = InterpreterMemory::read(region, at, element);
        result[i].undefined |= index[i].undefined || predicate[i].undefined;
    }
    return result;
}

Value InterpreterTask::ramp(const Ramp *op) {
    const Value base = eval(op->base), stride = eval(op->stride);
    const Type t = op->type.element_of();
    Value result(op->type);
    const int inner = base.lanes();
    for (int i = 0; i < op->lanes; i++) {
        for (int j = 0; j < inner; j++) {
            const bool undefined = base[j].undefined || stride[j].undefined;
            if (t.is_float()) {
                result[i * inner + j] =
                    Scalar::of_float(round_to(t, base[j].f + round_to(t, stride[j].f * i)), undefined);
            } else {
                const Int128 exact = base[j].i + stride[j].i * i;
                result[i * inner + j] = Scalar::of_int(t.can_overflow() ? wrap(t, exact) : exact, undefined);
            }
        }
    }
    note_overflow(op, result);
    return result;
}

Value InterpreterTask::shuffle(const Shuffle *op) {
    std::vector<Scalar> lanes;
    for (const Expr &e : op->vectors) {
        const Value v = eval(e);
        for (int i = 0; i < v.lanes(); i++) {
            lanes.push_back(v[i]);
        }
    }
    Value result(op->type);
    for (int i = 0; i < result.lanes(); i++) {
        result[i] = lanes[(size_t)op->indices[(size_t)i]];
    }
    return result;
}

Value InterpreterTask::vector_reduce(const VectorReduce *op) {
    const Value v = eval(op->value);
    const Type t = op->type.element_of();
    Value result(op->type);
    const int factor = v.lanes() / result.lanes();
    auto combine = [&](const Scalar &a, const Scalar &b) {
        switch (op->op) {
        case VectorReduce::Add:
            return binary_operation(IRNodeType::Add, t, a, b);
        case VectorReduce::SaturatingAdd:
            return *elementwise_intrinsic(Call::saturating_add, t, {t, t}, {a, b});
        case VectorReduce::Mul:
            return binary_operation(IRNodeType::Mul, t, a, b);
        case VectorReduce::Min:
            return binary_operation(IRNodeType::Min, t, a, b);
        case VectorReduce::Max:
            return binary_operation(IRNodeType::Max, t, a, b);
        case VectorReduce::And:
            return binary_operation(IRNodeType::And, t, a, b);
        case VectorReduce::Or:
            return binary_operation(IRNodeType::Or, t, a, b);
        }
        return Scalar();
    };
    for (int i = 0; i < result.lanes(); i++) {
        Scalar s = v[i * factor];
        for (int j = 1; j < factor; j++) {
            s = combine(s, v[i * factor + j]);
        }
        result[i] = s;
    }
    note_overflow(op, result);
    return result;
}

Value InterpreterTask::let(const Let *op) {
    std::vector<const std::string *> bound;
    while (true) {
        values[op->name].push_back(eval(op->value));
        bound.push_back(&op->name);
        const Let *next = op->body.as<Let>();
        if (!next) {
            break;
        }
        op = next;
    }
    Value result = eval(op->body);
    for (const std::string *name : bound) {
        values[*name].pop_back();
    }
    return result;
}

Value InterpreterTask::eval(const Expr &e) {
    const BaseExprNode *node = e.get();
    switch (e.node_type()) {
    case IRNodeType::IntImm:
        return Value(node->type, Scalar::of_int(((const IntImm *)node)->value));
    case IRNodeType::UIntImm:
        return Value(node->type, Scalar::of_int((Int128)((const UIntImm *)node)->value));
    case IRNodeType::FloatImm:
        return Value(node->type, Scalar::of_float(((const FloatImm *)node)->value));
    case IRNodeType::StringImm:
        return string_value(((const StringImm *)node)->value);
    case IRNodeType::Broadcast: {
        const auto *op = (const Broadcast *)node;
        const Value v = eval(op->value);
        Value result(op->type);
        for (int i = 0; i < result.lanes(); i++) {
            result[i] = v[i % v.lanes()];
        }
        return result;
    }
    case IRNodeType::Cast: {
        const auto *op = (const Cast *)node;
        const Value v = eval(op->value);
        Value result(op->type);
        for (int i = 0; i < result.lanes(); i++) {
            result[i] = cast_scalar(op->type.element_of(), v.type.element_of(), v[i]);
        }
        return result;
    }
    case IRNodeType::Reinterpret: {
        const auto *op = (const Reinterpret *)node;
        const Value v = eval(op->value);
        Value result(op->type);
        const Type from = v.type.element_of(), to = op->type.element_of();
        if (v.lanes() == result.lanes()) {
            for (int i = 0; i < result.lanes(); i++) {
                result[i] = from_bits(to, to_bits(from, v[i]));
                result[i].undefined = v[i].undefined;
            }
            return result;
        }
        // Bit by bit, so that any widths go together; little-endian.
        const int total = from.bits() * v.lanes();
        std::vector<uint64_t> words((size_t)result.lanes(), 0);
        for (int bit = 0; bit < total; bit++) {
            const int source = bit / from.bits(), target = bit / to.bits();
            const uint64_t b = (to_bits(from, v[source]) >> (bit % from.bits())) & 1;
            words[(size_t)target] |= b << (bit % to.bits());
            result[target].undefined |= v[source].undefined;
        }
        for (int i = 0; i < result.lanes(); i++) {
            const bool undefined = result[i].undefined;
            result[i] = from_bits(to, words[(size_t)i]);
            result[i].undefined = undefined;
        }
        return result;
    }
    case IRNodeType::Variable: {
        const auto *op = (const Variable *)node;
        auto it = values.find(op->name);
        if (it != values.end() && !it->second.empty()) {
            return it->second.back();
        }
        return variable(op->name, op->type, op->image, op->param);
    }
#define HALIDE_IR_BINARY(T) \
    case IRNodeType::T:     \
        return binary(IRNodeType::T, node, ((const T *)node)->a, ((const T *)node)->b);
        HALIDE_IR_BINARY(Add)
        HALIDE_IR_BINARY(Sub)
        HALIDE_IR_BINARY(Mod)
        HALIDE_IR_BINARY(Mul)
        HALIDE_IR_BINARY(Div)
        HALIDE_IR_BINARY(Min)
        HALIDE_IR_BINARY(Max)
        HALIDE_IR_BINARY(EQ)
        HALIDE_IR_BINARY(NE)
        HALIDE_IR_BINARY(LT)
        HALIDE_IR_BINARY(LE)
        HALIDE_IR_BINARY(GT)
        HALIDE_IR_BINARY(GE)
        HALIDE_IR_BINARY(And)
        HALIDE_IR_BINARY(Or)
#undef HALIDE_IR_BINARY
    case IRNodeType::Not: {
        Value v = eval(((const Not *)node)->a);
        for (int i = 0; i < v.lanes(); i++) {
            v[i].i = !v[i].i;
        }
        return v;
    }
    case IRNodeType::Select:
        return select((const Select *)node);
    case IRNodeType::Load:
        return load((const Load *)node);
    case IRNodeType::Ramp:
        return ramp((const Ramp *)node);
    case IRNodeType::Call:
        return call((const Call *)node);
    case IRNodeType::Let:
        return let((const Let *)node);
    case IRNodeType::Shuffle:
        return shuffle((const Shuffle *)node);
    case IRNodeType::VectorReduce:
        return vector_reduce((const VectorReduce *)node);
    default:
        internal_error << "not an expression: " << IRNodeType_string(e.node_type()) << "\n";
    }
}

}  // namespace Internal
}  // namespace Halide
