/// Ramps, broadcasts, shuffles, reductions.

#include "codegen/llvm/CodeGen_LLVM.h"

#include <numeric>

#include "ir/IROperator.h"
#include "support/Error.h"

namespace Halide::Internal {

llvm::Value *CodeGen_LLVM::shuffle(llvm::Value *a, llvm::Value *b, const std::vector<int> &indices) {
    const std::vector<int> &mask = indices;
    if (indices.size() == 1) {
        const int n = lanes_of(a);
        return indices[0] < n ? builder->CreateExtractElement(a, (uint64_t)indices[0]) :
                                builder->CreateExtractElement(b, (uint64_t)(indices[0] - n));
    }
    return builder->CreateShuffleVector(a, b, mask);
}

llvm::Value *CodeGen_LLVM::shuffle(llvm::Value *a, const std::vector<int> &indices) {
    if (lanes_of(a) == 1) {
        return splat(a, (int)indices.size());
    }
    return shuffle(a, llvm::PoisonValue::get(a->getType()), indices);
}

llvm::Value *CodeGen_LLVM::slice(llvm::Value *v, int begin, int lanes) {
    const int n = lanes_of(v);
    if (begin == 0 && lanes == n) {
        return v;
    }
    if (n == 1) {
        internal_assert(begin == 0 && lanes == 1) << "Slice of a scalar";
        return v;
    }
    std::vector<int> indices;
    for (int i = 0; i < lanes; i++) {
        indices.push_back(begin + i < n ? begin + i : -1);
    }
    return shuffle(v, indices);
}

llvm::Value *CodeGen_LLVM::concat(const std::vector<llvm::Value *> &parts) {
    internal_assert(!parts.empty()) << "Nothing to concatenate";
    if (parts.size() == 1) {
        return parts[0];
    }
    bool all_scalar = true;
    int total = 0;
    for (llvm::Value *p : parts) {
        all_scalar = all_scalar && lanes_of(p) == 1;
        total += lanes_of(p);
    }
    if (all_scalar) {
        llvm::Value *r = llvm::PoisonValue::get(vector_type(parts[0]->getType(), total));
        for (size_t i = 0; i < parts.size(); i++) {
            r = builder->CreateInsertElement(r, parts[i], (uint64_t)i);
        }
        return r;
    }
    // In pairs, each widened to the longer of the two.
    std::vector<llvm::Value *> level = parts;
    while (level.size() > 1) {
        std::vector<llvm::Value *> next;
        for (size_t i = 0; i + 1 < level.size(); i += 2) {
            llvm::Value *a = level[i], *b = level[i + 1];
            int na = lanes_of(a), nb = lanes_of(b);
            const int wide = std::max({na, nb, 2});
            const auto widen = [&](llvm::Value *v, int n) {
                if (n == 1) {
                    return builder->CreateInsertElement(llvm::PoisonValue::get(vector_type(v->getType(), wide)), v,
                                                        (uint64_t)0);
                }
                return slice(v, 0, wide);
            };
            a = widen(a, na);
            b = widen(b, nb);
            std::vector<int> indices(na + nb);
            for (int j = 0; j < na + nb; j++) {
                indices[j] = j < na ? j : wide + j - na;
            }
            next.push_back(shuffle(a, b, indices));
        }
        if (level.size() % 2) {
            next.push_back(level.back());
        }
        level = next;
    }
    return level[0];
}

llvm::Value *CodeGen_LLVM::interleave(const std::vector<llvm::Value *> &parts) {
    const int n = lanes_of(parts[0]);
    const int k = (int)parts.size();
    llvm::Value *all = concat(parts);
    if (n == 1 || k == 1) {
        return all;
    }
    std::vector<int> indices(n * k);
    for (int i = 0; i < n * k; i++) {
        indices[i] = (i % k) * n + i / k;
    }
    return shuffle(all, indices);
}

llvm::Value *CodeGen_LLVM::per_lane(int lanes, llvm::Type *element, const std::vector<llvm::Value *> &args,
                                    const std::function<llvm::Value *(const std::vector<llvm::Value *> &)> &f) {
    if (lanes == 1) {
        return f(args);
    }
    llvm::Value *result = llvm::PoisonValue::get(vector_type(element, lanes));
    for (int i = 0; i < lanes; i++) {
        std::vector<llvm::Value *> lane;
        for (llvm::Value *a : args) {
            lane.push_back(lanes_of(a) == 1 ? a : builder->CreateExtractElement(a, (uint64_t)i));
        }
        result = builder->CreateInsertElement(result, f(lane), (uint64_t)i);
    }
    return result;
}

void CodeGen_LLVM::visit(const Ramp *op) {
    llvm::Value *base = codegen(op->base);
    llvm::Value *stride = codegen(op->stride);
    const Halide::Type t = op->type;
    internal_assert(native_type(t)) << "Ramp of small floats";
    const int inner = op->base.type().lanes();
    if (inner == 1 && t.is_int_or_uint()) {
        llvm::Type *type = llvm_type(t);
        std::vector<llvm::Constant *> lanes;
        for (int i = 0; i < op->lanes; i++) {
            lanes.push_back(int_constant(type->getScalarType(), i));
        }
        llvm::Value *offsets = llvm::ConstantVector::get(lanes);
        if (!is_const_one(op->stride)) {
            offsets = builder->CreateMul(offsets, splat(stride, op->lanes));
        }
        value = builder->CreateAdd(splat(base, op->lanes), offsets);
        return;
    }
    std::vector<llvm::Value *> parts;
    for (int i = 0; i < op->lanes; i++) {
        if (i == 0) {
            parts.push_back(base);
        } else if (t.is_float()) {
            llvm::Value *factor = llvm::ConstantFP::get(stride->getType(), (double)i);
            parts.push_back(builder->CreateFAdd(base, builder->CreateFMul(stride, factor)));
        } else {
            llvm::Value *offset = builder->CreateMul(stride, int_constant(stride->getType(), i));
            parts.push_back(builder->CreateAdd(base, offset));
        }
    }
    value = concat(parts);
}

void CodeGen_LLVM::visit(const Broadcast *op) {
    llvm::Value *v = codegen(op->value);
    const int n = lanes_of(v);
    if (n == 1) {
        value = splat(v, op->lanes);
        return;
    }
    std::vector<int> indices(n * op->lanes);
    for (int i = 0; i < n * op->lanes; i++) {
        indices[i] = i % n;
    }
    value = shuffle(v, indices);
}

void CodeGen_LLVM::visit(const Shuffle *op) {
    std::vector<llvm::Value *> vectors;
    for (const Expr &e : op->vectors) {
        vectors.push_back(codegen(e));
    }
    // One lane: straight from its vector.
    if (op->indices.size() == 1) {
        const auto [v, lane] = op->vector_and_lane_indices()[0];
        value = lanes_of(vectors[v]) == 1 ? vectors[v] :
                                            builder->CreateExtractElement(vectors[v], (uint64_t)lane);
        return;
    }
    if (vectors.size() == 2 && lanes_of(vectors[0]) == lanes_of(vectors[1]) && lanes_of(vectors[0]) > 1) {
        value = shuffle(vectors[0], vectors[1], op->indices);
        return;
    }
    llvm::Value *all = concat(vectors);
    const int n = lanes_of(all);
    bool identity = (int)op->indices.size() == n;
    for (size_t i = 0; identity && i < op->indices.size(); i++) {
        identity = op->indices[i] == (int)i;
    }
    value = identity ? all : shuffle(all, op->indices);
}

llvm::Value *CodeGen_LLVM::combine(VectorReduce::Operator op, const Halide::Type &t, llvm::Value *a, llvm::Value *b) {
    if (!native_type(t)) {
        const Halide::Type wide = Float(32, lanes_of(a)), narrow = t.with_lanes(lanes_of(a));
        llvm::Value *r = combine(op, wide, small_float_to_f32(a, narrow), small_float_to_f32(b, narrow));
        return f32_to_small_float(r, narrow);
    }
    switch (op) {
    case VectorReduce::Add:
        return t.is_float() ? builder->CreateFAdd(a, b) : builder->CreateAdd(a, b);
    case VectorReduce::SaturatingAdd:
        return t.is_float() ? builder->CreateFAdd(a, b) :
                              builder->CreateBinaryIntrinsic(t.is_int() ? llvm::Intrinsic::sadd_sat :
                                                                          llvm::Intrinsic::uadd_sat,
                                                             a, b);
    case VectorReduce::Mul:
        return t.is_float() ? builder->CreateFMul(a, b) : builder->CreateMul(a, b);
    case VectorReduce::Min:
        return min_or_max(t, a, b, true);
    case VectorReduce::Max:
        return min_or_max(t, a, b, false);
    case VectorReduce::And:
        return builder->CreateAnd(a, b);
    case VectorReduce::Or:
        return builder->CreateOr(a, b);
    }
    return nullptr;
}

llvm::Value *CodeGen_LLVM::target_reduce(const VectorReduce *) {
    return nullptr;
}

// Adjacent lanes are combined pair by pair while their number is even, then one after the other. The order is the same
// for every target, so that float results are too. Saturating sums are taken strictly in order.
void CodeGen_LLVM::visit(const VectorReduce *op) {
    if (llvm::Value *v = target_reduce(op)) {
        value = v;
        return;
    }
    const int out = op->type.lanes();
    int factor = op->value.type().lanes() / out;
    const Halide::Type element = op->type.element_of();
    llvm::Value *v = codegen(op->value);
    if (out == 1 && element.is_int_or_uint() && factor > 1) {
        llvm::Intrinsic::ID id = llvm::Intrinsic::not_intrinsic;
        switch (op->op) {
        case VectorReduce::Add:
            id = llvm::Intrinsic::vector_reduce_add;
            break;
        case VectorReduce::Mul:
            id = llvm::Intrinsic::vector_reduce_mul;
            break;
        case VectorReduce::Min:
            id = element.is_int() ? llvm::Intrinsic::vector_reduce_smin : llvm::Intrinsic::vector_reduce_umin;
            break;
        case VectorReduce::Max:
            id = element.is_int() ? llvm::Intrinsic::vector_reduce_smax : llvm::Intrinsic::vector_reduce_umax;
            break;
        case VectorReduce::And:
            id = llvm::Intrinsic::vector_reduce_and;
            break;
        case VectorReduce::Or:
            id = llvm::Intrinsic::vector_reduce_or;
            break;
        case VectorReduce::SaturatingAdd:
            break;
        }
        if (id != llvm::Intrinsic::not_intrinsic) {
            value = builder->CreateUnaryIntrinsic(id, v);
            return;
        }
    }
    const auto every = [&](llvm::Value *x, int first, int stride) {
        std::vector<int> indices;
        for (int i = first; i < lanes_of(x); i += stride) {
            indices.push_back(i);
        }
        return shuffle(x, indices);
    };
    const bool pairs = op->op != VectorReduce::SaturatingAdd;
    while (pairs && factor % 2 == 0) {
        v = combine(op->op, element, every(v, 0, 2), every(v, 1, 2));
        factor /= 2;
    }
    if (factor > 1) {
        llvm::Value *r = every(v, 0, factor);
        for (int i = 1; i < factor; i++) {
            r = combine(op->op, element, r, every(v, i, factor));
        }
        v = r;
    }
    value = v;
}

}  // namespace Halide::Internal
