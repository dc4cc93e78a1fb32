/// Loads, stores, allocations.

#include "codegen/llvm/CodeGen_LLVM.h"

#include <numeric>

#include "ir/IREquality.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRVisitor.h"
#include "ir/Substitute.h"
#include "support/Error.h"
#include "support/Util.h"

namespace Halide::Internal {

bool CodeGen_LLVM::has_gather(const Halide::Type &) const {
    return false;
}

bool CodeGen_LLVM::has_scatter(const Halide::Type &) const {
    return false;
}

// Different buffers never alias: each has a type of its own under a common root, in the words of LLVM's type based
// alias analysis.
llvm::MDNode *CodeGen_LLVM::alias_tag(const std::string &buffer) {
    llvm::MDNode *&tag = alias_tags[buffer];
    if (!tag) {
        llvm::MDBuilder builder(context);
        llvm::MDNode *root = builder.createTBAARoot("Halide buffer");
        llvm::MDNode *type = builder.createTBAAScalarTypeNode(buffer, root);
        tag = builder.createTBAAStructTagNode(type, type, 0);
    }
    return tag;
}

llvm::Instruction *CodeGen_LLVM::mark(llvm::Instruction *access, const std::string &buffer, bool streaming) {
    access->setMetadata(llvm::LLVMContext::MD_tbaa, alias_tag(buffer));
    if (streaming) {
        access->setMetadata(
            llvm::LLVMContext::MD_nontemporal,
            llvm::MDNode::get(context, llvm::ConstantAsMetadata::get(int_constant(i32_t, 1))));
    }
    return access;
}

llvm::Value *CodeGen_LLVM::from_memory(llvm::Value *v, const Halide::Type &t) {
    return t.bits() == 1 ? builder->CreateTrunc(v, vector_type(i1_t, lanes_of(v))) : v;
}

llvm::Value *CodeGen_LLVM::to_memory(llvm::Value *v, const Halide::Type &t) {
    return t.bits() == 1 ? builder->CreateZExt(v, vector_type(i8_t, lanes_of(v))) : v;
}

llvm::Value *CodeGen_LLVM::element_address(const Access &a, llvm::Value *index) {
    return builder->CreateGEP(memory_type(a.type.element_of()), symbol(a.name), index, "",
                              llvm::GEPNoWrapFlags::inBounds());
}

// The alignment in bytes of an element whose index is `m.remainder` modulo `m.modulus`.
int CodeGen_LLVM::access_alignment(const Access &a, const ModulusRemainder &m) const {
    const int element = std::max(1, a.type.bytes());
    int base = element;
    if (const auto it = allocations.find(a.name); it != allocations.end() && !it->second.empty()) {
        base = std::max(element, it->second.back().alignment);
    } else if (a.param.defined()) {
        base = std::max(element, a.param.host_alignment());
    }
    int64_t step = std::gcd(m.modulus, m.remainder);
    if (step == 0) {
        return base;  // element 0
    }
    int64_t bytes = step * element;
    bytes &= -bytes;
    return (int)std::min<int64_t>(base, bytes);
}

llvm::Value *CodeGen_LLVM::mask_of(const Expr &predicate, int lanes) {
    if (!predicate.defined() || is_const_one(predicate)) {
        return nullptr;
    }
    llvm::Value *mask = codegen(predicate);
    return lanes_of(mask) == lanes ? mask : splat(mask, lanes);
}

namespace {

ModulusRemainder moved(const ModulusRemainder &m, int64_t by) {
    ModulusRemainder r = m;
    r.remainder += by;
    if (r.modulus != 0) {
        r.remainder %= r.modulus;
        if (r.remainder < 0) {
            r.remainder += r.modulus;
        }
    }
    return r;
}

}  // namespace

bool CodeGen_LLVM::wants_scalar_accesses(const Access &a) const {
    const auto it = allocations.find(a.name);
    return it != allocations.end() && !it->second.empty() && it->second.back().memory_type == MemoryType::GPR;
}

llvm::Value *CodeGen_LLVM::load_dense(const Access &a, llvm::Value *index, int lanes, const ModulusRemainder &m,
                                      llvm::Value *mask) {
    llvm::Value *p = element_address(a, index);
    const llvm::Align align((uint64_t)access_alignment(a, m));
    const Halide::Type t = a.type.with_lanes(lanes);
    llvm::Type *type = memory_type(t);
    if (mask) {
        // The value of a dead lane is undefined, but must not be poison: it may become a divisor.
        llvm::CallInst *load =
            builder->CreateMaskedLoad(type, p, align, mask, llvm::Constant::getNullValue(type));
        return from_memory(mark(load, a.name, a.streaming), t);
    }
    const int bits = lanes * a.type.bytes() * 8;
    if (wants_scalar_accesses(a) && lanes > 1 && bits <= 64 && is_power_of_two(bits)) {
        llvm::Value *word = mark(
            builder->CreateAlignedLoad(llvm::Type::getIntNTy(context, (unsigned)bits), p, align), a.name);
        return from_memory(builder->CreateBitCast(word, type), t);
    }
    return from_memory(mark(builder->CreateAlignedLoad(type, p, align), a.name, a.streaming), t);
}

void CodeGen_LLVM::store_dense(const Access &a, llvm::Value *index, llvm::Value *v, const ModulusRemainder &m,
                               llvm::Value *mask) {
    llvm::Value *p = element_address(a, index);
    const llvm::Align align((uint64_t)access_alignment(a, m));
    const int lanes = lanes_of(v);
    v = to_memory(v, a.type);
    if (mask) {
        mark(builder->CreateMaskedStore(v, p, align, mask), a.name, a.streaming);
        return;
    }
    const int bits = lanes * a.type.bytes() * 8;
    if (wants_scalar_accesses(a) && lanes > 1 && bits <= 64 && is_power_of_two(bits)) {
        v = builder->CreateBitCast(v, llvm::Type::getIntNTy(context, (unsigned)bits));
    }
    mark(builder->CreateAlignedStore(v, p, align), a.name, a.streaming);
}

// A few dense loads that cover exactly the elements between the first and the last lane: nothing outside is read. The
// last load ends at the last lane's element, overlapping the one before.
llvm::Value *CodeGen_LLVM::load_strided(const Access &a, const Expr &base, int64_t stride, int lanes) {
    const int64_t s = std::abs(stride);
    const int64_t span = s * (lanes - 1) + 1;
    llvm::Value *first = codegen_index(base);
    ModulusRemainder m = a.alignment;
    if (stride < 0) {
        first = builder->CreateNSWAdd(first, int_constant(i64_t, stride * (lanes - 1)));
        m = moved(m, stride * (lanes - 1));
    }
    std::vector<llvm::Value *> parts;
    std::vector<int64_t> starts;
    for (int64_t at = 0; at < span; at += lanes) {
        const int64_t start = std::min(at, span - lanes);
        starts.push_back(start);
        llvm::Value *index = start ? builder->CreateNSWAdd(first, int_constant(i64_t, start)) : first;
        parts.push_back(load_dense(a, index, lanes, moved(m, start)));
    }
    std::vector<int> indices(lanes);
    for (int i = 0; i < lanes; i++) {
        const int64_t element = s * (stride < 0 ? lanes - 1 - i : i);
        const size_t part = std::min((size_t)(element / lanes), parts.size() - 1);
        indices[i] = (int)(part * lanes + element - starts[part]);
    }
    return parts.size() == 2 ? shuffle(parts[0], parts[1], indices) : shuffle(concat(parts), indices);
}

// A varying index is split into a uniform part, added to the pointer in 64 bits, and a 32-bit offset per lane.
void CodeGen_LLVM::for_each_address(const Access &a, const Expr &index,
                                    const std::function<void(int, llvm::Value *)> &f) {
    const int lanes = index.type().lanes();
    if (const Ramp *r = index.as<Ramp>(); r && r->base.type().is_scalar()) {
        llvm::Value *at = codegen_index(r->base);
        llvm::Value *stride = codegen_index(r->stride);
        for (int i = 0; i < lanes; i++) {
            f(i, element_address(a, at));
            if (i + 1 < lanes) {
                at = builder->CreateNSWAdd(at, stride);
            }
        }
        return;
    }
    Expr varying = index;
    llvm::Value *uniform = nullptr;
    while (const Add *add = varying.as<Add>()) {
        const Broadcast *ba = add->a.as<Broadcast>();
        const Broadcast *bb = add->b.as<Broadcast>();
        const Broadcast *b = bb ? bb : ba;
        if (!b || b->value.type().is_vector() || !index.type().is_int()) {
            break;
        }
        llvm::Value *u = codegen_index(b->value);
        uniform = uniform ? builder->CreateNSWAdd(uniform, u) : u;
        varying = bb ? add->a : add->b;
    }
    llvm::Value *v = codegen(varying);
    for (int i = 0; i < lanes; i++) {
        llvm::Value *at = lanes == 1 ? v : builder->CreateExtractElement(v, (uint64_t)i);
        at = builder->CreateIntCast(at, i64_t, index.type().is_int());
        if (uniform) {
            at = builder->CreateNSWAdd(at, uniform);
        }
        f(i, element_address(a, at));
    }
}

llvm::Value *CodeGen_LLVM::address_vector(const Access &a, const Expr &index) {
    llvm::Value *v = codegen(index);
    llvm::Type *wide = vector_type(i64_t, lanes_of(v));
    return builder->CreateGEP(memory_type(a.type.element_of()), symbol(a.name),
                              builder->CreateIntCast(v, wide, index.type().is_int()));
}

llvm::Value *CodeGen_LLVM::load_lanes(const Access &a, const Expr &index, const Expr &predicate) {
    const int lanes = index.type().lanes();
    const Halide::Type t = a.type.with_lanes(lanes);
    llvm::Value *mask = mask_of(predicate, lanes);
    const llvm::Align align((uint64_t)std::max(1, a.type.bytes()));
    if (mask || (has_gather(t) && !index.as<Ramp>())) {
        llvm::Type *type = memory_type(t);
        llvm::CallInst *load = builder->CreateMaskedGather(type, address_vector(a, index), align, mask,
                                                           llvm::Constant::getNullValue(type));
        return from_memory(mark(load, a.name), t);
    }
    llvm::Type *element = memory_type(t.element_of());
    llvm::Value *result = llvm::PoisonValue::get(vector_type(element, lanes));
    for_each_address(a, index, [&](int lane, llvm::Value *p) {
        llvm::Value *v = mark(builder->CreateAlignedLoad(element, p, align), a.name, a.streaming);
        result = builder->CreateInsertElement(result, v, (uint64_t)lane);
    });
    return from_memory(result, t);
}

void CodeGen_LLVM::store_lanes(const Access &a, const Expr &index, llvm::Value *v, const Expr &predicate) {
    const int lanes = index.type().lanes();
    llvm::Value *mask = mask_of(predicate, lanes);
    const llvm::Align align((uint64_t)std::max(1, a.type.bytes()));
    v = to_memory(v, a.type);
    if (mask || (has_scatter(a.type.with_lanes(lanes)) && !index.as<Ramp>())) {
        mark(builder->CreateMaskedScatter(v, address_vector(a, index), align, mask), a.name);
        return;
    }
    // In lane order: the highest lane wins.
    for_each_address(a, index, [&](int lane, llvm::Value *p) {
        llvm::Value *x = builder->CreateExtractElement(v, (uint64_t)lane);
        mark(builder->CreateAlignedStore(x, p, align), a.name, a.streaming);
    });
}

namespace {

// Part i of an index that is several vectors in a row, or undefined if it is not of that form.
Expr index_part(const Expr &index, int i) {
    if (const Ramp *r = index.as<Ramp>()) {
        if (!r->base.type().is_vector()) {
            return Expr();
        }
        // Ramps in parts keep their form: their base moves.
        const Ramp *inner = r->base.as<Ramp>();
        const Broadcast *b = r->stride.as<Broadcast>();
        if (inner && b && inner->base.type().is_scalar()) {
            Expr base = i == 0 ? inner->base : inner->base + b->value * i;
            return Ramp::make(base, inner->stride, inner->lanes);
        }
        return i == 0 ? r->base : r->base + r->stride * make_const(r->stride.type(), i);
    }
    if (const Broadcast *b = index.as<Broadcast>()) {
        return b->value.type().is_vector() ? b->value : Expr();
    }
    return Expr();
}

int index_parts(const Expr &index) {
    if (const Ramp *r = index.as<Ramp>()) {
        return r->base.type().is_vector() ? r->lanes : 1;
    }
    if (const Broadcast *b = index.as<Broadcast>()) {
        return b->value.type().is_vector() ? b->lanes : 1;
    }
    return 1;
}

bool always_true(const Expr &predicate) {
    return !predicate.defined() || is_const_one(predicate);
}

constexpr int max_strided = 4;

// Rows of a few dense elements that fill an integer: they are accessed as such, and a vector of integers takes the place
// of shuffles.
int row_word_bits(const Halide::Type &element, const Expr &index) {
    const Ramp *r = index.as<Ramp>();
    const Ramp *row = r ? r->base.as<Ramp>() : nullptr;
    if (!row || !is_const_one(row->stride) || row->base.type().is_vector() || element.is_bool() || element.is_handle()) {
        return 0;
    }
    const int bits = row->lanes * element.bits();
    return (bits == 16 || bits == 32 || bits == 64) && element.bits() < bits ? bits : 0;
}

}  // namespace

void CodeGen_LLVM::visit(const Load *op) {
    Access a{op->name, op->type.element_of(), op->alignment, op->param, op->is_streaming};
    if (atomic_load && atomic_load->name == op->name && equal(atomic_load->index, op->index)) {
        value = atomic_load->value;
        return;
    }
    const int lanes = op->type.lanes();
    const bool full = always_true(op->predicate);
    if (lanes == 1) {
        if (full) {
            value = load_dense(a, codegen_index(op->index), 1, a.alignment);
            return;
        }
        llvm::Value *p = codegen(op->predicate);
        llvm::BasicBlock *before = builder->GetInsertBlock();
        llvm::BasicBlock *load = new_block("load"), *after = new_block("loaded");
        builder->CreateCondBr(p, load, after);
        builder->SetInsertPoint(load);
        llvm::Value *v = load_dense(a, codegen_index(op->index), 1, a.alignment);
        load = builder->GetInsertBlock();
        builder->CreateBr(after);
        builder->SetInsertPoint(after);
        llvm::PHINode *phi = builder->CreatePHI(v->getType(), 2);
        phi->addIncoming(v, load);
        phi->addIncoming(llvm::Constant::getNullValue(v->getType()), before);
        value = phi;
        return;
    }
    const Ramp *ramp = op->index.as<Ramp>();
    if (ramp && ramp->base.type().is_scalar()) {
        const auto stride = as_const_int(ramp->stride);
        if (stride && *stride == 1) {
            llvm::Value *index = codegen_index(ramp->base);
            value = load_dense(a, index, lanes, a.alignment, mask_of(op->predicate, lanes));
            return;
        }
        if (stride && *stride == -1 && !full) {
            llvm::Value *first = codegen_index(ramp->base);
            first = builder->CreateNSWAdd(first, int_constant(i64_t, 1 - lanes));
            std::vector<int> reverse(lanes);
            for (int i = 0; i < lanes; i++) {
                reverse[i] = lanes - 1 - i;
            }
            llvm::Value *mask = shuffle(mask_of(op->predicate, lanes), reverse);
            value = shuffle(load_dense(a, first, lanes, moved(a.alignment, 1 - lanes), mask), reverse);
            return;
        }
        // A load or two more than lanes are needed are cheaper than one load per lane, unless there are few lanes.
        if (full && stride && *stride != 0 && std::abs(*stride) <= max_strided && lanes >= 2 * std::abs(*stride)) {
            value = load_strided(a, ramp->base, *stride, lanes);
            return;
        }
    }
    if (full && index_parts(op->index) > 1) {
        const int n = index_parts(op->index);
        std::vector<llvm::Value *> parts;
        if (const int bits = row_word_bits(a.type, op->index)) {
            llvm::Type *word = llvm::Type::getIntNTy(context, (unsigned)bits);
            for (int i = 0; i < n; i++) {
                llvm::Value *p = element_address(a, codegen_index(index_part(op->index, i).as<Ramp>()->base));
                const int align = access_alignment(a, i == 0 ? op->alignment : ModulusRemainder());
                parts.push_back(mark(builder->CreateAlignedLoad(word, p, llvm::Align((uint64_t)align)), a.name, a.streaming));
            }
            value = builder->CreateBitCast(concat(parts), memory_type(op->type));
            return;
        }
        if (op->index.as<Broadcast>()) {
            llvm::Value *part = codegen(Load::make(op->type.with_lanes(lanes / n), op->name, index_part(op->index, 0),
                                                   op->image, op->param, const_true(lanes / n), op->alignment,
                                                   op->is_streaming));
            parts.assign(n, part);
        } else {
            for (int i = 0; i < n; i++) {
                const ModulusRemainder m = i == 0 ? op->alignment : ModulusRemainder();
                parts.push_back(codegen(Load::make(op->type.with_lanes(lanes / n), op->name,
                                                   index_part(op->index, i), op->image, op->param,
                                                   const_true(lanes / n), m, op->is_streaming)));
            }
        }
        value = concat(parts);
        return;
    }
    if (const Broadcast *b = op->index.as<Broadcast>(); b && full && b->value.type().is_scalar()) {
        value = splat(load_dense(a, codegen_index(b->value), 1, a.alignment), lanes);
        return;
    }
    value = load_lanes(a, op->index, op->predicate);
}

void CodeGen_LLVM::visit(const Store *op) {
    if (in_atomic) {
        store_atomic(op);
        value = nullptr;
        return;
    }
    const Halide::Type type = op->value.type();
    Access a{op->name, type.element_of(), op->alignment, op->param, op->is_streaming};
    const int lanes = type.lanes();
    const bool full = always_true(op->predicate);
    llvm::Value *v = nullptr;
    if (lanes == 1) {
        llvm::BasicBlock *after = nullptr;
        if (!full) {
            llvm::BasicBlock *store = new_block("store");
            after = new_block("stored");
            builder->CreateCondBr(codegen(op->predicate), store, after);
            builder->SetInsertPoint(store);
        }
        v = codegen(op->value);
        store_dense(a, codegen_index(op->index), v, a.alignment);
        if (after) {
            builder->CreateBr(after);
            builder->SetInsertPoint(after);
        }
        value = nullptr;
        return;
    }
    v = codegen(op->value);
    const Ramp *ramp = op->index.as<Ramp>();
    if (ramp && ramp->base.type().is_scalar()) {
        const auto stride = as_const_int(ramp->stride);
        if (stride && *stride == 1) {
            llvm::Value *mask = mask_of(op->predicate, lanes);
            store_dense(a, codegen_index(ramp->base), v, a.alignment, mask);
            value = nullptr;
            return;
        }
        if (stride && *stride == -1) {
            std::vector<int> reverse(lanes);
            for (int i = 0; i < lanes; i++) {
                reverse[i] = lanes - 1 - i;
            }
            llvm::Value *mask = mask_of(op->predicate, lanes);
            llvm::Value *first = builder->CreateNSWAdd(codegen_index(ramp->base), int_constant(i64_t, 1 - lanes));
            store_dense(a, first, shuffle(v, reverse), moved(a.alignment, 1 - lanes),
                        mask ? shuffle(mask, reverse) : nullptr);
            value = nullptr;
            return;
        }
    }
    if (full && index_parts(op->index) > 1) {
        const int n = index_parts(op->index);
        const int part_lanes = lanes / n;
        if (const int bits = row_word_bits(a.type, op->index)) {
            llvm::Type *word = llvm::Type::getIntNTy(context, (unsigned)bits);
            llvm::Value *words = builder->CreateBitCast(v, vector_type(word, n));
            for (int i = 0; i < n; i++) {
                llvm::Value *p = element_address(a, codegen_index(index_part(op->index, i).as<Ramp>()->base));
                const int align = access_alignment(a, i == 0 ? op->alignment : ModulusRemainder());
                mark(builder->CreateAlignedStore(builder->CreateExtractElement(words, (uint64_t)i), p,
                                                 llvm::Align((uint64_t)align)),
                     a.name, a.streaming);
            }
            value = nullptr;
            return;
        }
        // The value is computed before anything is written.
        const std::string name = op->name + ".value." + std::to_string((uintptr_t)op);
        for (int i = 0; i < n; i++) {
            bind(name, slice(v, i * part_lanes, part_lanes));
            Expr part = Variable::make(type.with_lanes(part_lanes), name);
            const ModulusRemainder m = i == 0 ? op->alignment : ModulusRemainder();
            codegen(Store::make(op->name, part, index_part(op->index, i), op->param, const_true(part_lanes), m,
                                op->is_streaming));
            unbind(name);
        }
        value = nullptr;
        return;
    }
    store_lanes(a, op->index, v, op->predicate);
    value = nullptr;
}

// Allocations

int CodeGen_LLVM::heap_alignment() const {
    if (target.arch == Target::Hexagon) {
        return 128;
    }
    return target.bits == 32 && target.arch != Target::X86 ? 32 : 64;
}

// Bytes of an allocation in 64 bits; leaves with an error if they exceed what a buffer may have.
llvm::Value *CodeGen_LLVM::allocation_bytes(const Allocate *op) {
    llvm::Value *bytes = int_constant(i64_t, std::max(1, op->type.bytes()) * op->type.lanes());
    llvm::Value *overflow = llvm::ConstantInt::getFalse(context);
    for (const Expr &e : op->extents) {
        llvm::Value *extent = codegen_index(e);
        extent = builder->CreateBinaryIntrinsic(llvm::Intrinsic::smax, extent, int_constant(i64_t, 0));
        llvm::Value *product = builder->CreateBinaryIntrinsic(llvm::Intrinsic::umul_with_overflow, bytes, extent);
        overflow = builder->CreateOr(overflow, builder->CreateExtractValue(product, 1));
        bytes = builder->CreateExtractValue(product, 0);
    }
    if (!target.has_feature(Target::NoAsserts)) {
        const int64_t most = target.maximum_buffer_size();
        llvm::Value *ok = builder->CreateAnd(builder->CreateNot(overflow),
                                             builder->CreateICmpULE(bytes, int_constant(i64_t, most)));
        return_unless(ok, [&] {
            llvm::FunctionCallee report =
                runtime_function("halide_error_buffer_allocation_too_large", i32_t, {ptr_t, ptr_t, i64_t, i64_t});
            return builder->CreateCall(report, {user_context(), string_constant(op->name), bytes,
                                                int_constant(i64_t, most)});
        });
    }
    if (op->padding) {
        bytes = builder->CreateAdd(bytes, int_constant(i64_t, (int64_t)op->padding * op->type.bytes()));
    }
    return bytes;
}

namespace {

constexpr int64_t max_automatic_stack_bytes = 16 * 1024;

}  // namespace

llvm::Value *CodeGen_LLVM::heap_allocate(const Allocate *op, llvm::Value *bytes, Allocation &a) {
    const std::string free_function = op->free_function.empty() ? "halide_free" : op->free_function;
    a.on_heap = true;
    a.free_function = free_function;
    llvm::Value *p = nullptr;
    if (op->new_expr.defined()) {
        p = codegen(op->new_expr);
    } else {
        llvm::FunctionCallee allocate = runtime_function("halide_malloc", ptr_t, {ptr_t, i64_t});
        llvm::CallInst *call = builder->CreateCall(allocate, {user_context(), bytes});
        call->addRetAttr(llvm::Attribute::NoAlias);
        p = call;
    }
    a.slot = register_cleanup(nullptr, op->name, [this, free_function](llvm::Value *v) {
        builder->CreateCall(runtime_function(free_function, void_t, {ptr_t, ptr_t}), {user_context(), v});
    });
    builder->CreateStore(p, a.slot);
    if (!op->new_expr.defined() || !target.has_feature(Target::NoAsserts)) {
        // A custom allocation may yield null on purpose when it is not needed.
        llvm::Value *ok = builder->CreateIsNotNull(p);
        if (!is_const_one(op->condition)) {
            ok = builder->CreateOr(ok, builder->CreateNot(codegen(op->condition)));
        }
        return_unless(ok, [&] {
            return builder->CreateCall(runtime_function("halide_error_out_of_memory", i32_t, {ptr_t}),
                                       {user_context()});
        });
    }
    return p;
}

// A frame allocation whose size varies: memory that is kept between iterations and only grows.
llvm::Value *CodeGen_LLVM::growing_allocate(const Allocate *op, llvm::Value *bytes, Allocation &a) {
    a.on_heap = true;
    a.keep_until_exit = true;
    llvm::AllocaInst *size_slot = frame_slot(i64_t, 1, op->name + ".size");
    {
        llvm::IRBuilder<>::InsertPointGuard guard(*builder);
        builder->SetInsertPoint(&function->getEntryBlock());
        builder->CreateStore(int_constant(i64_t, 0), size_slot);
    }
    const auto release = [this](llvm::Value *v) {
        builder->CreateCall(runtime_function("halide_free", void_t, {ptr_t, ptr_t}), {user_context(), v});
    };
    a.slot = register_cleanup(nullptr, op->name, release);
    llvm::BasicBlock *grow = new_block("grow"), *enough = new_block("enough");
    llvm::Value *have = builder->CreateLoad(i64_t, size_slot);
    builder->CreateCondBr(builder->CreateICmpUGT(bytes, have), grow, enough,
                          llvm::MDBuilder(context).createUnlikelyBranchWeights());
    builder->SetInsertPoint(grow);
    llvm::Value *old = builder->CreateLoad(ptr_t, a.slot);
    llvm::BasicBlock *drop = new_block("drop"), *fresh = new_block("fresh");
    builder->CreateCondBr(builder->CreateIsNotNull(old), drop, fresh);
    builder->SetInsertPoint(drop);
    release(old);
    builder->CreateStore(llvm::ConstantPointerNull::get(ptr_t), a.slot);
    builder->CreateBr(fresh);
    builder->SetInsertPoint(fresh);
    builder->CreateStore(int_constant(i64_t, 0), size_slot);
    llvm::Value *p = builder->CreateCall(runtime_function("halide_malloc", ptr_t, {ptr_t, i64_t}),
                                         {user_context(), bytes});
    return_unless(builder->CreateIsNotNull(p), [&] {
        return builder->CreateCall(runtime_function("halide_error_out_of_memory", i32_t, {ptr_t}), {user_context()});
    });
    builder->CreateStore(p, a.slot);
    builder->CreateStore(bytes, size_slot);
    builder->CreateBr(enough);
    builder->SetInsertPoint(enough);
    return builder->CreateLoad(ptr_t, a.slot);
}

void CodeGen_LLVM::visit(const Allocate *op) {
    Allocation a;
    a.memory_type = op->memory_type;
    a.alignment = heap_alignment();
    const int64_t elements = op->constant_allocation_size();
    const bool is_constant = !op->extents.empty() ? elements > 0 : true;
    const int64_t constant_bytes =
        ((op->extents.empty() ? 1 : elements) + op->padding) * std::max(1, op->type.bytes()) * op->type.lanes();
    const bool asks_for_frame = op->memory_type == MemoryType::Stack || op->memory_type == MemoryType::Register ||
                                op->memory_type == MemoryType::GPR;
    const bool may_use_frame = asks_for_frame || op->memory_type == MemoryType::Auto;
    if (!op->new_expr.defined() && is_constant && may_use_frame &&
        (asks_for_frame || constant_bytes <= max_automatic_stack_bytes)) {
        a.slot = frame_slot(i8_t, std::max<int64_t>(constant_bytes, 1), op->name, a.alignment);
        builder->CreateLifetimeStart(a.slot);
        a.ptr = a.slot;
    } else if (op->new_expr.defined()) {
        a.alignment = op->type.bytes();
        a.ptr = heap_allocate(op, nullptr, a);
    } else {
        llvm::Value *bytes = allocation_bytes(op);
        if (!is_const_one(op->condition)) {
            bytes = builder->CreateSelect(codegen(op->condition), bytes, int_constant(i64_t, 0));
        }
        a.ptr = op->memory_type == MemoryType::Stack ? growing_allocate(op, bytes, a) : heap_allocate(op, bytes, a);
    }
    allocations[op->name].push_back(a);
    symbols[op->name].push_back({a.ptr, nullptr});
    codegen(op->body);

    // A Free statement has popped the allocation already.
    std::vector<Allocation> &stack = allocations[op->name];
    if (!stack.empty() && stack.back().ptr == a.ptr) {
        free_allocation(stack.back());
        stack.pop_back();
        unbind(op->name);
    }
}

void CodeGen_LLVM::free_allocation(Allocation &a) {
    if (a.keep_until_exit) {
        return;
    }
    if (!a.on_heap) {
        builder->CreateLifetimeEnd(a.slot);
        return;
    }
    llvm::Value *p = builder->CreateLoad(ptr_t, a.slot);
    builder->CreateCall(runtime_function(a.free_function, void_t, {ptr_t, ptr_t}), {user_context(), p});
    builder->CreateStore(llvm::ConstantPointerNull::get(ptr_t), a.slot);
}

void CodeGen_LLVM::visit(const Free *op) {
    std::vector<Allocation> &stack = allocations[op->name];
    internal_assert(!stack.empty()) << "Free of " << op->name << ", which is not allocated";
    free_allocation(stack.back());
    stack.pop_back();
    unbind(op->name);
}

}  // namespace Halide::Internal
