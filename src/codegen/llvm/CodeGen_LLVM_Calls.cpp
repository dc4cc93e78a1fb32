/// Calls: intrinsics, the runtime, extern functions.

#include "codegen/llvm/CodeGen_LLVM.h"
#include "codegen/llvm/Mangling.h"
#include "codegen/llvm/Operands.h"

#include <set>

#include "ir/BitMoves.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/LowerIntrinsics.h"
#include "support/Error.h"
#include "support/Util.h"

namespace Halide::Internal {

bool CodeGen_LLVM::takes_user_context(const std::string &name) {
    // All functions of the runtime do, except these.
    static const std::set<std::string> without = {
        "halide_can_use_target_features",
        "halide_cond_broadcast",
        "halide_cond_signal",
        "halide_cond_wait",
        "halide_current_thread_id",
        "halide_double_to_string",
        "halide_float16_bits_to_double",
        "halide_float16_bits_to_float",
        "halide_get_library_symbol",
        "halide_get_num_threads",
        "halide_get_symbol",
        "halide_host_cpu_count",
        "halide_int64_to_string",
        "halide_jit_current_context",
        "halide_join_thread",
        "halide_load_library",
        "halide_malloc_alignment",
        "halide_memoization_cache_cleanup",
        "halide_memoization_cache_set_size",
        "halide_mutex_array_create",
        "halide_mutex_array_lock",
        "halide_mutex_array_unlock",
        "halide_mutex_lock",
        "halide_mutex_unlock",
        "halide_pointer_to_string",
        "halide_profiler_decr_active_threads",
        "halide_profiler_get_pipeline_state",
        "halide_profiler_get_state",
        "halide_profiler_incr_active_threads",
        "halide_profiler_lock",
        "halide_profiler_reset",
        "halide_profiler_sample",
        "halide_profiler_set_current_func",
        "halide_profiler_shutdown",
        "halide_profiler_unlock",
        "halide_register_argv_and_metadata",
        "halide_register_device_allocation_pool",
        "halide_semaphore_init",
        "halide_semaphore_release",
        "halide_semaphore_try_acquire",
        "halide_set_gpu_device",
        "halide_set_num_threads",
        "halide_set_trace_file",
        "halide_shutdown_thread_pool",
        "halide_shutdown_trace",
        "halide_spawn_thread",
        "halide_string_to_string",
        "halide_type_to_string",
        "halide_buffer_to_string",
        "halide_uint64_to_string",
    };
    if (starts_with(name, "_halide_buffer_")) {
        return name == "_halide_buffer_crop" || starts_with(name, "_halide_buffer_retire_crop");
    }
    const bool accessor = ends_with(name, "_device_interface");
    return starts_with(name, "halide_") && !accessor && !starts_with(name, "halide_set_custom_") && !without.count(name);
}

llvm::Value *CodeGen_LLVM::user_context() {
    if (const Binding *b = lookup("__user_context")) {
        return b->value;
    }
    return llvm::ConstantPointerNull::get(ptr_t);
}

llvm::FunctionCallee CodeGen_LLVM::runtime_function(const std::string &name, llvm::Type *result,
                                                    const std::vector<llvm::Type *> &args) {
    llvm::FunctionType *type = llvm::FunctionType::get(result, args, false);
    llvm::FunctionCallee callee = module->getOrInsertFunction(name, type);
    if (auto *f = llvm::dyn_cast<llvm::Function>(callee.getCallee()); f && f->isDeclaration()) {
        f->setDoesNotThrow();
    }
    return callee;
}

llvm::Value *CodeGen_LLVM::target_call(const Call *) {
    return nullptr;
}

void CodeGen_LLVM::visit(const Call *op) {
    if (op->is_intrinsic()) {
        value = target_call(op);
        if (!value) {
            value = codegen_intrinsic(op);
        }
        return;
    }
    user_assert(op->is_extern()) << "Internal: a call of " << op->name << " was not lowered";
    value = codegen_buffer_access(op);
    if (!value) {
        value = target_call(op);
    }
    if (!value) {
        if (const Expr expansion = lower_bit_move(op); expansion.defined()) {
            value = codegen(expansion);
        }
    }
    if (!value) {
        value = codegen_math(op);
    }
    if (!value) {
        std::string name = op->name;
        if (op->call_type == Call::ExternCPlusPlus) {
            std::vector<std::string> namespaces;
            const std::string simple = extract_namespaces(op->name, namespaces);
            std::vector<Halide::Type> types;
            for (const Expr &e : op->args) {
                types.push_back(e.type().element_of());
            }
            name = mangle_cplusplus_name(simple, namespaces, op->type, types, target);
        }
        if (name == "halide_mutex_array_unlock") {
            disarm_unlock();
        }
        llvm::Value *result = extern_call(name, op->type, op->args, op->call_type == Call::PureExtern);
        if (name == "halide_mutex_array_lock") {
            arm_unlock(op);
        }
        value = result;
    }
}

// An error inside a locked update leaves the function, and other threads may be waiting for the lock.
void CodeGen_LLVM::arm_unlock(const Call *lock) {
    llvm::AllocaInst *index_slot = frame_slot(i32_t, 1, "locked.index");
    builder->CreateStore(codegen(lock->args[1]), index_slot);
    held_locks.push_back(register_cleanup(codegen(lock->args[0]), "locked", [this, index_slot](llvm::Value *mutexes) {
        builder->CreateCall(runtime_function("halide_mutex_array_unlock", i32_t, {ptr_t, i32_t}),
                            {mutexes, builder->CreateLoad(i32_t, index_slot)});
    }));
}

void CodeGen_LLVM::disarm_unlock() {
    internal_assert(!held_locks.empty()) << "halide_mutex_array_unlock without a lock";
    builder->CreateStore(llvm::ConstantPointerNull::get(ptr_t), held_locks.back());
    held_locks.pop_back();
}

llvm::Value *CodeGen_LLVM::extern_call(const std::string &name, const Halide::Type &type,
                                       const std::vector<Expr> &args, bool pure) {
    std::vector<llvm::Value *> values;
    bool has_handle = false;
    for (const Expr &e : args) {
        values.push_back(codegen(e));
        has_handle = has_handle || e.type().is_handle();
    }
    const bool context_first = takes_user_context(name);
    llvm::Function *own = nullptr;
    for (const auto &[own_name, f] : own_functions) {
        if (own_name == name) {
            own = f;
        }
    }
    llvm::Type *result = llvm_type(type.element_of());
    const auto call = [&](const std::vector<llvm::Value *> &lane) -> llvm::Value * {
        std::vector<llvm::Value *> actual;
        if (context_first) {
            actual.push_back(user_context());
        }
        actual.insert(actual.end(), lane.begin(), lane.end());
        if (own) {
            llvm::CallInst *c = builder->CreateCall(own, actual);
            c->setAttributes(own->getAttributes());
            return c;
        }
        std::vector<llvm::Type *> types;
        for (llvm::Value *v : actual) {
            types.push_back(v->getType());
        }
        llvm::CallInst *c = builder->CreateCall(runtime_function(name, result, types), actual);
        c->setDoesNotThrow();
        const auto extend = [](const Halide::Type &t) {
            const bool narrow = t.is_int_or_uint() && t.bits() < 32;
            return !narrow ? llvm::Attribute::None : t.is_int() ? llvm::Attribute::SExt : llvm::Attribute::ZExt;
        };
        for (size_t i = 0; i < args.size(); i++) {
            if (const auto kind = extend(args[i].type()); kind != llvm::Attribute::None) {
                c->addParamAttr((unsigned)(i + (context_first ? 1 : 0)), kind);
            }
        }
        if (const auto kind = extend(type); kind != llvm::Attribute::None) {
            c->addRetAttr(kind);
        }
        if (pure && !has_handle && !type.is_handle()) {
            c->setDoesNotAccessMemory();
            c->addFnAttr(llvm::Attribute::WillReturn);
        }
        return c;
    };
    return per_lane(type.lanes(), result, values, call);
}

// Buffers

llvm::Value *CodeGen_LLVM::codegen_buffer_access(const Call *op) {
    static const std::map<std::string, int> fields = {
        {Call::buffer_get_device, 0},     {Call::buffer_get_device_interface, 1}, {Call::buffer_get_host, 2},
        {Call::buffer_get_type, 4},       {Call::buffer_get_dimensions, 5},       {Call::buffer_get_shape, 6},
        {Call::buffer_get_host_dirty, 3}, {Call::buffer_get_device_dirty, 3},     {Call::buffer_set_host_dirty, 3},
        {Call::buffer_set_device_dirty, 3},
    };
    static const std::map<std::string, int> dimension_fields = {
        {Call::buffer_get_min, 0}, {Call::buffer_get_extent, 1}, {Call::buffer_get_stride, 2}, {Call::buffer_get_max, -1}};
    if (op->type.is_vector() || !starts_with(op->name, "_halide_buffer_")) {
        return nullptr;
    }
    const std::string tag = "halide_buffer_t";
    const auto load = [&](llvm::Value *p, llvm::Type *t) -> llvm::Value * {
        return mark(builder->CreateLoad(t, p), tag);
    };
    const auto field = [&](llvm::Value *buf, int i) { return builder->CreateStructGEP(buffer_t, buf, (unsigned)i); };
    const auto as_type = [&](llvm::Value *v) -> llvm::Value * {
        llvm::Type *t = llvm_type(op->type);
        return v->getType() == t || t->isPointerTy() ? v : builder->CreateIntCast(v, t, op->type.is_int());
    };
    if (const auto it = dimension_fields.find(op->name); it != dimension_fields.end()) {
        llvm::Value *dims = load(field(codegen(op->args[0]), 6), ptr_t);
        llvm::Value *dim = builder->CreateGEP(dimension_t, dims, codegen_index(op->args[1]));
        const auto get = [&](int i) { return load(builder->CreateStructGEP(dimension_t, dim, (unsigned)i), i32_t); };
        if (it->second >= 0) {
            return as_type(get(it->second));
        }
        llvm::Value *end = builder->CreateAdd(get(0), get(1));
        return as_type(builder->CreateSub(end, int_constant(i32_t, 1)));
    }
    if (op->name == Call::buffer_is_bounds_query) {
        llvm::Value *buf = codegen(op->args[0]);
        llvm::Value *no_host = builder->CreateIsNull(load(field(buf, 2), ptr_t));
        llvm::Value *no_device = builder->CreateIsNull(load(field(buf, 0), i64_t));
        llvm::Value *both = builder->CreateAnd(no_host, no_device);
        return op->type.is_bool() ? both : builder->CreateZExt(both, llvm_type(op->type));
    }
    const auto it = fields.find(op->name);
    if (it == fields.end()) {
        return nullptr;
    }
    llvm::Value *p = field(codegen(op->args[0]), it->second);
    if (it->second == 3) {
        const bool host = op->name == Call::buffer_get_host_dirty || op->name == Call::buffer_set_host_dirty;
        const int64_t bit = host ? halide_buffer_flag_host_dirty : halide_buffer_flag_device_dirty;
        llvm::Value *flags = load(p, i64_t);
        if (op->args.size() == 1) {
            llvm::Value *set = builder->CreateAnd(flags, int_constant(i64_t, bit));
            set = builder->CreateICmpNE(set, int_constant(i64_t, 0));
            return op->type.is_bool() ? set : builder->CreateZExt(set, llvm_type(op->type));
        }
        llvm::Value *dirty = codegen(op->args[1]);
        dirty = builder->CreateICmpNE(dirty, llvm::Constant::getNullValue(dirty->getType()));
        llvm::Value *with = builder->CreateOr(flags, int_constant(i64_t, bit));
        llvm::Value *without = builder->CreateAnd(flags, int_constant(i64_t, ~bit));
        mark(builder->CreateStore(builder->CreateSelect(dirty, with, without), p), tag);
        return llvm::Constant::getNullValue(llvm_type(op->type));
    }
    static const std::map<int, int> widths = {{0, 64}, {4, 32}, {5, 32}};
    const auto w = widths.find(it->second);
    return as_type(load(p, w == widths.end() ? (llvm::Type *)ptr_t :
                                               llvm::Type::getIntNTy(context, (unsigned)w->second)));
}

// Intrinsics

llvm::Value *CodeGen_LLVM::codegen_expansion(const Call *op) {
    Operands operands(*this);
    std::vector<Expr> args;
    for (const Expr &e : op->args) {
        args.push_back(operands.name(e));
    }
    const Expr call = Call::make(op->type, op->name, args, op->call_type);
    const Expr expanded = lower_intrinsic(call.as<Call>());
    internal_assert(expanded.defined()) << "No code for intrinsic " << op->name;
    return codegen(expanded);
}

llvm::Value *CodeGen_LLVM::codegen_if_then_else(const Call *op) {
    const Expr otherwise = op->args.size() > 2 ? op->args[2] : make_zero(op->type);
    if (op->args[0].type().is_vector()) {
        return codegen(Select::make(op->args[0], op->args[1], otherwise));
    }
    llvm::Value *condition = codegen(op->args[0]);
    llvm::BasicBlock *then_block = new_block("then"), *else_block = new_block("else"), *after = new_block("end if");
    builder->CreateCondBr(condition, then_block, else_block);
    builder->SetInsertPoint(then_block);
    llvm::Value *a = codegen(op->args[1]);
    then_block = builder->GetInsertBlock();
    builder->CreateBr(after);
    builder->SetInsertPoint(else_block);
    llvm::Value *b = codegen(otherwise);
    else_block = builder->GetInsertBlock();
    builder->CreateBr(after);
    builder->SetInsertPoint(after);
    llvm::PHINode *phi = builder->CreatePHI(a->getType(), 2);
    phi->addIncoming(a, then_block);
    phi->addIncoming(b, else_block);
    return phi;
}

llvm::StructType *CodeGen_LLVM::struct_type(const Call *op) {
    std::vector<llvm::Type *> types;
    for (const Expr &e : op->args) {
        types.push_back(memory_type(e.type()));
    }
    return llvm::StructType::get(context, types);
}

llvm::Value *CodeGen_LLVM::make_struct(const Call *op) {
    if (op->args.empty()) {
        return llvm::ConstantPointerNull::get(ptr_t);
    }
    llvm::StructType *type = struct_type(op);
    std::vector<llvm::Value *> values;
    for (const Expr &e : op->args) {
        values.push_back(to_memory(codegen(e), e.type()));
    }
    // All members of one type: an array, which is what the runtime takes for coordinates and shapes.
    llvm::AllocaInst *slot = frame_slot(type, 1, "struct", 16);
    for (size_t i = 0; i < values.size(); i++) {
        builder->CreateStore(values[i], builder->CreateStructGEP(type, slot, (unsigned)i));
    }
    return slot;
}

void CodeGen_LLVM::codegen_register_destructor(const Call *op) {
    const StringImm *name = op->args[0].as<StringImm>();
    internal_assert(name) << "register_destructor needs the name of a function";
    const std::string f = name->value;
    register_cleanup(codegen(op->args[1]), "destructor", [this, f](llvm::Value *v) {
        builder->CreateCall(runtime_function(f, void_t, {ptr_t, ptr_t}), {user_context(), v});
    });
}

// The arguments as text, one after the other, in a buffer in the frame.
llvm::Value *CodeGen_LLVM::codegen_stringify(const std::vector<Expr> &args) {
    constexpr int unknown_text = 1024, one_number = 64;
    int64_t size = 1;
    for (const Expr &e : args) {
        const StringImm *s = e.as<StringImm>();
        size += s ? (int64_t)s->value.size() : e.type().is_handle() ? unknown_text : one_number * e.type().lanes();
    }
    llvm::AllocaInst *buffer = frame_slot(i8_t, size, "text");
    llvm::Value *end = builder->CreateConstGEP1_64(i8_t, buffer, (uint64_t)size);
    llvm::Value *at = buffer;
    builder->CreateStore(int_constant(i8_t, 0), buffer);
    const auto append = [&](const std::string &function, llvm::Value *v, llvm::Value *extra) {
        std::vector<llvm::Type *> types = {ptr_t, ptr_t, v->getType()};
        std::vector<llvm::Value *> values = {at, end, v};
        if (extra) {
            types.push_back(i32_t);
            values.push_back(extra);
        }
        at = builder->CreateCall(runtime_function(function, ptr_t, types), values);
    };
    const halide_handle_cplusplus_type *buffer_handle = type_of<halide_buffer_t *>().handle_type();
    for (const Expr &e : args) {
        const Halide::Type t = e.type();
        llvm::Value *v = codegen(e);
        for (int lane = 0; lane < t.lanes(); lane++) {
            llvm::Value *x = t.is_vector() ? builder->CreateExtractElement(v, (uint64_t)lane) : v;
            if (t.is_vector()) {
                append("halide_string_to_string", string_constant(lane == 0 ? "<" : ", "), nullptr);
            }
            const Halide::Type scalar = t.element_of();
            if (t.is_handle() && t.handle_type() && buffer_handle && *t.handle_type() == *buffer_handle) {
                append("halide_buffer_to_string", x, nullptr);
            } else if (e.as<StringImm>() ||
                       (t.is_handle() && (t == type_of<const char *>() || t == type_of<char *>()))) {
                append("halide_string_to_string", x, nullptr);
            } else if (t.is_handle()) {
                if (const Call *c = e.as<Call>(); c && c->is_intrinsic(Call::stringify)) {
                    append("halide_string_to_string", x, nullptr);
                } else {
                    append("halide_pointer_to_string", x, nullptr);
                }
            } else if (t.is_float()) {
                // Doubles in scientific notation, shorter ones with six decimals.
                append("halide_double_to_string", convert(x, scalar, Float(64)),
                       int_constant(i32_t, t.bits() == 64 ? 1 : 0));
            } else if (t.is_uint()) {
                append("halide_uint64_to_string", convert(x, scalar, UInt(64)), int_constant(i32_t, 1));
            } else {
                append("halide_int64_to_string", convert(x, scalar, Int(64)), int_constant(i32_t, 1));
            }
        }
        if (t.is_vector()) {
            append("halide_string_to_string", string_constant(">"), nullptr);
        }
    }
    return buffer;
}

// Chooses one of several functions at the first call: args are condition, name, condition, name, …
llvm::Value *CodeGen_LLVM::codegen_cached_indirect_call(const Call *op) {
    auto *cache = new llvm::GlobalVariable(*module, ptr_t, false, llvm::GlobalValue::InternalLinkage,
                                           llvm::ConstantPointerNull::get(ptr_t), "chosen_function");
    llvm::FunctionType *type = function->getFunctionType();
    std::vector<llvm::Value *> args;
    for (llvm::Argument &a : function->args()) {
        args.push_back(&a);
    }
    const auto atomic_load = [&] {
        llvm::LoadInst *l = builder->CreateAlignedLoad(ptr_t, cache, llvm::Align((uint64_t)target.bits / 8));
        l->setAtomic(llvm::AtomicOrdering::Monotonic);
        return l;
    };
    llvm::Value *known = atomic_load();
    llvm::BasicBlock *before = builder->GetInsertBlock();
    llvm::BasicBlock *choose = new_block("choose"), *chosen = new_block("chosen");
    builder->CreateCondBr(builder->CreateIsNotNull(known), chosen, choose);
    builder->SetInsertPoint(chosen);
    llvm::PHINode *f = builder->CreatePHI(ptr_t, 2);
    f->addIncoming(known, before);
    builder->SetInsertPoint(choose);
    for (size_t i = 0; i + 1 < op->args.size(); i += 2) {
        llvm::Value *candidate =
            module->getOrInsertFunction(op->args[i + 1].as<StringImm>()->value, type).getCallee();
        llvm::BasicBlock *take = new_block("take"), *next = new_block("next");
        llvm::Value *c = codegen(op->args[i]);
        builder->CreateCondBr(builder->CreateICmpNE(c, llvm::Constant::getNullValue(c->getType())), take, next);
        builder->SetInsertPoint(take);
        llvm::StoreInst *s = builder->CreateAlignedStore(candidate, cache, llvm::Align((uint64_t)target.bits / 8));
        s->setAtomic(llvm::AtomicOrdering::Monotonic);
        f->addIncoming(candidate, take);
        builder->CreateBr(chosen);
        builder->SetInsertPoint(next);
    }
    // The last condition is always true.
    builder->CreateUnreachable();
    builder->SetInsertPoint(chosen);
    llvm::CallInst *call = builder->CreateCall(type, f, args);
    return call;
}

constexpr int cache_line_bytes = 64;

// args: buffer, offset, then (extent, stride) per dimension, in elements of the call's type.
llvm::Value *CodeGen_LLVM::codegen_prefetch(const Call *op) {
    llvm::Type *element = memory_type(op->type.element_of());
    llvm::Value *p = builder->CreateGEP(element, codegen(op->args[0]), codegen_index(op->args[1]));
    const std::function<void(llvm::Value *, size_t)> emit = [&](llvm::Value *at, size_t dim) {
        if (dim + 1 >= op->args.size()) {
            builder->CreateIntrinsic(void_t, llvm::Intrinsic::prefetch,
                                     {at, int_constant(i32_t, 0), int_constant(i32_t, 3), int_constant(i32_t, 1)});
            return;
        }
        if (is_const_one(op->args[dim])) {
            emit(at, dim + 2);
            return;
        }
        llvm::Value *extent = codegen_index(op->args[dim]);
        llvm::Value *stride = codegen_index(op->args[dim + 1]);
        const int line = std::max(1, cache_line_bytes / std::max(1, op->type.bytes()));
        if (is_const_one(op->args[dim + 1]) && line > 1) {
            // Dense: one hint per cache line.
            extent = builder->CreateAdd(extent, int_constant(i64_t, line - 1));
            extent = builder->CreateSDiv(extent, int_constant(i64_t, line));
            stride = int_constant(i64_t, line);
        }
        llvm::BasicBlock *before = builder->GetInsertBlock();
        llvm::BasicBlock *loop = new_block("prefetch"), *after = new_block("prefetched");
        builder->CreateCondBr(builder->CreateICmpSGT(extent, int_constant(i64_t, 0)), loop, after);
        builder->SetInsertPoint(loop);
        llvm::PHINode *i = builder->CreatePHI(i64_t, 2);
        i->addIncoming(int_constant(i64_t, 0), before);
        emit(builder->CreateGEP(element, at, builder->CreateMul(i, stride)), dim + 2);
        llvm::Value *next = builder->CreateNSWAdd(i, int_constant(i64_t, 1));
        i->addIncoming(next, builder->GetInsertBlock());
        builder->CreateCondBr(builder->CreateICmpSLT(next, extent), loop, after);
        builder->SetInsertPoint(after);
    };
    emit(p, 2);
    return llvm::Constant::getNullValue(llvm_type(op->type));
}

llvm::Value *CodeGen_LLVM::codegen_intrinsic(const Call *op) {
    const auto arg = [&](size_t i) { return codegen(op->args[i]); };
    const auto zero = [&] { return llvm::Constant::getNullValue(llvm_type(op->type)); };
    const Halide::Type t = op->type;
    switch (op->intrinsic_op) {
    case Call::bitwise_and: {
        llvm::Value *a = arg(0);
        return builder->CreateAnd(a, arg(1));
    }
    case Call::bitwise_or: {
        llvm::Value *a = arg(0);
        return builder->CreateOr(a, arg(1));
    }
    case Call::bitwise_xor: {
        llvm::Value *a = arg(0);
        return builder->CreateXor(a, arg(1));
    }
    case Call::bitwise_not:
        return builder->CreateNot(arg(0));
    case Call::shift_left:
        return codegen_shift(op, true);
    case Call::shift_right:
        return codegen_shift(op, false);
    case Call::div_round_to_zero:
        return divide_toward_zero(op, false);
    case Call::mod_round_to_zero:
        return divide_toward_zero(op, true);
    case Call::popcount:
        return builder->CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, arg(0));
    case Call::count_leading_zeros:
        return call_llvm(llvm::Intrinsic::ctlz, llvm_type(t), {arg(0), llvm::ConstantInt::getFalse(context)});
    case Call::count_trailing_zeros:
        return call_llvm(llvm::Intrinsic::cttz, llvm_type(t), {arg(0), llvm::ConstantInt::getFalse(context)});
    case Call::abs: {
        llvm::Value *x = arg(0);
        const Halide::Type from = op->args[0].type();
        if (from.is_float()) {
            if (!native_type(from)) {
                return builder->CreateAnd(x, int_constant(x->getType(), 0x7fff));
            }
            return builder->CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
        }
        return from.is_uint() ? x : call_llvm(llvm::Intrinsic::abs, x->getType(), {x, llvm::ConstantInt::getFalse(context)});
    }
    case Call::absd: {
        const Halide::Type from = op->args[0].type();
        if (from.is_float()) {
            return codegen_expansion(op);
        }
        llvm::Value *a = arg(0);
        llvm::Value *b = arg(1);
        llvm::Value *high = CodeGen_LLVM::min_or_max(from, a, b, false);
        return builder->CreateSub(high, CodeGen_LLVM::min_or_max(from, a, b, true));
    }
    case Call::saturating_add:
    case Call::saturating_sub: {
        if (t.is_float()) {
            return codegen_expansion(op);
        }
        const bool add = op->is_intrinsic(Call::saturating_add);
        llvm::Value *a = arg(0);
        const llvm::Intrinsic::ID id = t.is_int() ? (add ? llvm::Intrinsic::sadd_sat : llvm::Intrinsic::ssub_sat) :
                                                    (add ? llvm::Intrinsic::uadd_sat : llvm::Intrinsic::usub_sat);
        return builder->CreateBinaryIntrinsic(id, a, arg(1));
    }
    case Call::round: {
        if (!native_type(t)) {
            return codegen(cast(t, Call::make(Float(32, t.lanes()), Call::round,
                                              {cast(Float(32, t.lanes()), op->args[0])}, op->call_type)));
        }
        return builder->CreateUnaryIntrinsic(llvm::Intrinsic::nearbyint, arg(0));
    }
    case Call::strict_add:
    case Call::strict_sub:
    case Call::strict_mul:
    case Call::strict_div:
    case Call::strict_min:
    case Call::strict_max:
    case Call::strict_lt:
    case Call::strict_le:
    case Call::strict_eq:
    case Call::strict_cast:
    case Call::strict_fma:
        return strict_operation(op);
    case Call::if_then_else:
    case Call::if_then_else_mask:
        return codegen_if_then_else(op);
    case Call::select_mask: {
        llvm::Value *m = arg(0);
        m = builder->CreateICmpNE(m, llvm::Constant::getNullValue(m->getType()));
        llvm::Value *a = arg(1);
        return builder->CreateSelect(m, a, arg(2));
    }
    case Call::bool_to_mask:
        return builder->CreateSExt(arg(0), llvm_type(t));
    case Call::cast_mask:
        return builder->CreateIntCast(arg(0), llvm_type(t), true);
    case Call::extract_mask_element: {
        llvm::Value *m = arg(0);
        m = builder->CreateExtractElement(m, arg(1));
        return builder->CreateICmpNE(m, llvm::Constant::getNullValue(m->getType()));
    }
    case Call::require:
    case Call::require_mask: {
        llvm::Value *condition = arg(0);
        if (lanes_of(condition) > 1) {
            condition = builder->CreateAndReduce(condition);
        }
        return_unless(condition, [&] { return codegen(op->args[2]); });
        return arg(1);
    }
    case Call::return_second:
        codegen(op->args[0]);
        return arg(1);
    case Call::likely:
    case Call::likely_if_innermost:
    case Call::promise_clamped:
    case Call::unsafe_promise_clamped:
    case Call::memoize_expr:
        return arg(0);
    case Call::make_struct:
        return make_struct(op);
    case Call::load_typed_struct_member: {
        const Call *prototype = op->args[1].as<Call>();
        const auto index = as_const_int(op->args[2]);
        internal_assert(prototype && prototype->is_intrinsic(Call::make_struct) && index)
            << "load_typed_struct_member needs a make_struct and a constant: " << Expr(op);
        llvm::StructType *type = struct_type(prototype);
        llvm::Value *p = builder->CreateStructGEP(type, arg(0), (unsigned)*index);
        return from_memory(builder->CreateLoad(memory_type(t), p), t);
    }
    case Call::alloca: {
        const auto size = as_const_int(op->args[0]);
        const auto usize = as_const_uint(op->args[0]);
        if (size || usize) {
            return frame_slot(i8_t, size ? *size : (int64_t)*usize, "space", 16);
        }
        const Call *c = op->args[0].as<Call>();
        if (c && c->is_intrinsic(Call::size_of_halide_buffer_t)) {
            return frame_slot(buffer_t, 1, "buffer", 16);
        }
        llvm::AllocaInst *slot = builder->CreateAlloca(i8_t, codegen_index(op->args[0]));
        slot->setAlignment(llvm::Align(16));
        return slot;
    }
    case Call::size_of_halide_buffer_t:
        return int_constant(llvm_type(t), (int64_t)module->getDataLayout().getTypeAllocSize(buffer_t).getFixedValue());
    case Call::offset_pointer: {
        llvm::Value *p = arg(0);
        return builder->CreateGEP(i8_t, p, codegen_index(op->args[1]));
    }
    case Call::get_user_context:
        return user_context();
    case Call::register_destructor:
        codegen_register_destructor(op);
        return zero();
    case Call::stringify:
        return codegen_stringify(op->args);
    case Call::undef:
        return zero();
    case Call::unreachable:
        builder->CreateUnreachable();
        builder->SetInsertPoint(new_block("unreachable"));
        return zero();
    case Call::signed_integer_overflow:
        user_error << "Signed integer overflow occurred during constant-folding. Signed integer overflow for int32 and "
                      "int64 is undefined behavior in Halide.";
        return zero();
    case Call::prefetch:
        return codegen_prefetch(op);
    case Call::call_cached_indirect_function:
        return codegen_cached_indirect_call(op);
    case Call::debug_to_file: {
        const Expr file = op->args.front(), buffer = op->args.back();
        return extern_call("halide_debug_to_file", t, {file, buffer}, false);
    }
    case Call::stream_store_fence:
        builder->CreateFence(llvm::AtomicOrdering::SequentiallyConsistent);
        return zero();
    case Call::bundle:
        for (size_t i = 0; i < op->args.size(); i++) {
            arg(i);
        }
        return zero();
    case Call::dynamic_shuffle: {
        llvm::Value *v = arg(0);
        llvm::Value *index = arg(1);
        return per_lane(t.lanes(), llvm_type(t.element_of()), {index}, [&](const std::vector<llvm::Value *> &lane) {
            return builder->CreateExtractElement(v, lane[0]);
        });
    }
    case Call::get_runtime_vscale:
    case Call::get_runtime_streaming_vscale:
        return call_llvm(llvm::Intrinsic::vscale, llvm_type(t), {});
    case Call::declare_box_touched:
    case Call::declare_box_required_at_root:
    case Call::declare_stage:
    case Call::declare_allocation:
    case Call::add_image_checks_marker:
    case Call::skip_stages_marker:
    case Call::sliding_window_marker:
    case Call::specialization_branch_marker:
    case Call::profiling_enable_instance_marker:
    case Call::cuda_await_copies:
    case Call::cuda_bypass_registers:
        return zero();
    case Call::gpu_thread_barrier:
    case Call::image_load:
    case Call::image_store:
    case Call::hvx_gather:
    case Call::hvx_scatter:
    case Call::hvx_scatter_acc:
    case Call::hvx_scatter_release:
        user_error << op->name << " cannot be compiled for the target " << target.to_string() << ".";
        return zero();
    default:
        return codegen_expansion(op);
    }
}

// Tables of native instructions

llvm::Value *CodeGen_LLVM::native_intrinsic(const Call *op, const std::vector<NativeIntrinsic> &table) {
    if (!op->is_intrinsic() || op->type.is_scalar()) {
        return nullptr;
    }
    for (const NativeIntrinsic &row : table) {
        if (row.op != op->intrinsic_op || row.result_code != op->type.code() || row.result_bits != op->type.bits() ||
            (row.feature != Target::FeatureEnd && !target.has_feature(row.feature))) {
            continue;
        }
        bool matches = true;
        for (size_t i = 0; matches && i < 3; i++) {
            if (i >= op->args.size()) {
                matches = row.args[i].bits == 0;
                continue;
            }
            // A constant at the end that the row does not list is left to the target's own code.
            const Halide::Type t = op->args[i].type();
            matches = row.args[i].bits == t.bits() && row.args[i].code == t.code();
        }
        if (!matches) {
            continue;
        }
        std::vector<llvm::Value *> args;
        for (const Expr &e : op->args) {
            args.push_back(codegen(e));
        }
        return call_in_pieces(row, op->type, args);
    }
    return nullptr;
}

llvm::Value *CodeGen_LLVM::call_in_pieces(const NativeIntrinsic &row, const Halide::Type &type,
                                          const std::vector<llvm::Value *> &args) {
    const llvm::Intrinsic::ID id = llvm::Intrinsic::lookupIntrinsicID(row.llvm_name);
    internal_assert(id != llvm::Intrinsic::not_intrinsic) << "LLVM has no intrinsic " << row.llvm_name;
    const int lanes = type.lanes();
    const int step = row.lanes ? row.lanes : lanes;
    std::vector<llvm::Value *> parts;
    for (int i = 0; i < lanes; i += step) {
        std::vector<llvm::Value *> piece;
        std::vector<llvm::Type *> types;
        for (llvm::Value *a : args) {
            // An argument may have several lanes per lane of the result.
            const int per_lane = lanes_of(a) / lanes;
            piece.push_back(per_lane ? slice(a, i * per_lane, step * per_lane) : a);
        }
        for (int extra : row.extra_args) {
            piece.push_back(int_constant(i32_t, extra));
        }
        for (llvm::Value *p : piece) {
            types.push_back(p->getType());
        }
        llvm::Type *result = llvm_type(type.with_lanes(step));
        llvm::Function *f = llvm::Intrinsic::getOrInsertDeclaration(module.get(), id, result, types);
        parts.push_back(builder->CreateCall(f, piece));
    }
    return slice(concat(parts), 0, lanes);
}

}  // namespace Halide::Internal
