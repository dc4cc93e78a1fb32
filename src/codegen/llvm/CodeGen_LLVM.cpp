#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "codegen/llvm/CodeGen_LLVM.h"

#include "codegen/llvm/LLVMTarget.h"
#include "codegen/llvm/Mangling.h"
#include "ir/IROperator.h"
#include "ir/IRVisitor.h"
#include "ir/IRPrinter.h"
#include "support/Error.h"
#include "support/Util.h"

namespace Halide::Internal {

std::unique_ptr<CodeGen_LLVM> CodeGen_LLVM::make(const Target &t, llvm::LLVMContext &context) {
    switch (t.arch) {
    case Target::X86:
        return new_CodeGen_X86(t, context);
    case Target::ARM:
        return new_CodeGen_ARM(t, context);
    default:
        return new_CodeGen_Generic(t, context);
    }
}

CodeGen_LLVM::CodeGen_LLVM(const Target &t, llvm::LLVMContext &c)
    : target(t), context(c), builder(std::make_unique<llvm::IRBuilder<>>(c)) {
    i1_t = llvm::Type::getInt1Ty(c);
    i8_t = llvm::Type::getInt8Ty(c);
    i16_t = llvm::Type::getInt16Ty(c);
    i32_t = llvm::Type::getInt32Ty(c);
    i64_t = llvm::Type::getInt64Ty(c);
    f16_t = llvm::Type::getHalfTy(c);
    f32_t = llvm::Type::getFloatTy(c);
    f64_t = llvm::Type::getDoubleTy(c);
    void_t = llvm::Type::getVoidTy(c);
    ptr_t = llvm::PointerType::get(c, 0);
    dimension_t = llvm::StructType::create(c, {i32_t, i32_t, i32_t, i32_t}, "halide_dimension_t");
    llvm::StructType *type_t = llvm::StructType::get(c, {i8_t, i8_t, i16_t});
    buffer_t = llvm::StructType::create(c, {i64_t, ptr_t, ptr_t, i64_t, type_t, i32_t, ptr_t, ptr_t},
                                        "halide_buffer_t");
}

CodeGen_LLVM::~CodeGen_LLVM() = default;

std::unique_ptr<llvm::Module> CodeGen_LLVM::compile(const Module &m) {
    module = std::make_unique<llvm::Module>(m.name(), context);
    const std::unique_ptr<llvm::TargetMachine> tm = make_target_machine(target);
    module->setTargetTriple(tm->getTargetTriple());
    module->setDataLayout(tm->createDataLayout());
    module->setPICLevel(llvm::PICLevel::BigPIC);
    if (target.has_feature(Target::LLVMLargeCodeModel)) {
        module->setCodeModel(llvm::CodeModel::Large);
    }

    for (const Buffer<> &b : m.buffers()) {
        compile_buffer(b);
    }
    for (const LoweredFunc &f : m.functions()) {
        declare_function(f);
    }
    for (const LoweredFunc &f : m.functions()) {
        compile_function(f);
        llvm::Function *compiled = module->getFunction(symbol_name(f, target));
        if (f.linkage == LinkageType::ExternalPlusArgv || f.linkage == LinkageType::ExternalPlusMetadata) {
            add_argv_wrapper(compiled, f, symbol_name(f, target) + "_argv");
        }
        if (f.linkage == LinkageType::ExternalPlusMetadata) {
            add_metadata_getter(f, symbol_name(f, target) + "_metadata", m);
        }
    }

    std::string problems;
    llvm::raw_string_ostream out(problems);
    if (llvm::verifyModule(*module, &out)) {
        std::string text;
        llvm::raw_string_ostream code(text);
        module->print(code, nullptr);
        debug(1) << text << "\n";
        internal_error << "LLVM code of " << m.name() << " is invalid: " << problems << "\n  Please report this.";
    }
    return std::move(module);
}

std::string CodeGen_LLVM::symbol_name(const LoweredFunc &f, const Target &t) {
    std::vector<std::string> namespaces;
    const std::string simple = extract_namespaces(f.name, namespaces);
    const bool mangle = f.linkage != LinkageType::Internal &&
                        (f.name_mangling == NameMangling::CPlusPlus ||
                         (f.name_mangling == NameMangling::Default && t.has_feature(Target::CPlusPlusMangling)));
    if (!mangle) {
        return simple;
    }
    std::vector<Halide::Type> types;
    for (const LoweredArgument &a : f.args) {
        types.push_back(a.is_buffer() ? type_of<halide_buffer_t *>() : a.type);
    }
    return mangle_cplusplus_name(simple, namespaces, Int(32), types, t);
}

llvm::GlobalValue::LinkageTypes CodeGen_LLVM::linkage_of(LinkageType l) const {
    return l == LinkageType::Internal ? llvm::GlobalValue::InternalLinkage : llvm::GlobalValue::ExternalLinkage;
}

// Callers extend small integers to the width of a register; `argument` tells which way.
static llvm::Attribute::AttrKind extension_of(const Halide::Type &argument) {
    if (argument.is_scalar() && argument.is_int_or_uint() && argument.bits() < 32) {
        return argument.is_int() ? llvm::Attribute::SExt : llvm::Attribute::ZExt;
    }
    return llvm::Attribute::None;
}

llvm::Function *CodeGen_LLVM::add_function(const std::string &name, const LoweredFunc &f) {
    std::vector<llvm::Type *> types;
    for (const LoweredArgument &a : f.args) {
        types.push_back(a.is_buffer() ? (llvm::Type *)ptr_t : llvm_type(a.type));
    }
    llvm::FunctionType *type = llvm::FunctionType::get(i32_t, types, false);
    llvm::Function *result = llvm::Function::Create(type, linkage_of(f.linkage), name, *module);
    for (size_t i = 0; i < f.args.size(); i++) {
        const auto kind = f.args[i].is_buffer() ? llvm::Attribute::None : extension_of(f.args[i].type);
        if (kind != llvm::Attribute::None) {
            result->addParamAttr((unsigned)i, kind);
        }
    }
    return result;
}

void CodeGen_LLVM::declare_function(const LoweredFunc &f) {
    const std::string name = symbol_name(f, target);
    user_assert(!module->getFunction(name)) << "Two functions of module " << module->getName().str()
                                            << " have the name " << name << ".";
    llvm::Function *declared = add_function(name, f);
    declared->setDoesNotThrow();
    declared->addFnAttr(llvm::Attribute::MustProgress);
    own_functions.emplace_back(f.name, declared);
}

namespace {

/// Whether a function computes with lanes in integer registers: words of SWAR loops (which become integers only where they
/// are loaded and stored), or storage in general-purpose registers.
bool uses_words(const Stmt &s) {
    bool found = false;
    visit_with(
        s,
        [&](auto *self, const Reinterpret *op) {
            found = found || op->type.lanes() != op->value.type().lanes();
            self->visit_base(op);
        },
        [&](auto *self, const Allocate *op) {
            found = found || op->memory_type == MemoryType::GPR;
            self->visit_base(op);
        });
    return found;
}

}  // namespace

void CodeGen_LLVM::compile_function(const LoweredFunc &f) {
    function = module->getFunction(symbol_name(f, target));
    set_target_attributes(function, target);
    if (uses_words(f.body)) {
        // LLVM's vectorizers, and what merges stores, would make vectors of neighbouring words. This attribute keeps them
        // away; vectors and floats that the code asks for are not affected.
        function->addFnAttr(llvm::Attribute::NoImplicitFloat);
    }
    llvm::BasicBlock *entry = new_block("entry");
    llvm::BasicBlock *body = new_block("body");
    exit_block = new_block("exit");
    builder->SetInsertPoint(exit_block);
    exit_code = builder->CreatePHI(i32_t, 0, "exit_code");
    cleanups.clear();
    allocations.clear();

    builder->SetInsertPoint(body);
    std::vector<std::string> names;
    for (size_t i = 0; i < f.args.size(); i++) {
        const LoweredArgument &a = f.args[i];
        llvm::Argument *arg = function->getArg((unsigned)i);
        const std::string name = a.is_buffer() ? a.name + ".buffer" : a.name;
        arg->setName(name);
        bind(name, arg);
        names.push_back(name);
    }
    codegen(f.body);
    exit_function(int_constant(i32_t, 0));
    finish_exit_block();
    builder->SetInsertPoint(entry);
    builder->CreateBr(body);
    for (const std::string &name : names) {
        unbind(name);
    }
    function = nullptr;
}

llvm::BasicBlock *CodeGen_LLVM::new_block(const std::string &name) {
    return llvm::BasicBlock::Create(context, name, function);
}

llvm::Function *CodeGen_LLVM::add_argv_wrapper(llvm::Function *f, const LoweredFunc &lowered,
                                               const std::string &name) {
    llvm::FunctionType *type = llvm::FunctionType::get(i32_t, {ptr_t}, false);
    llvm::Function *wrapper = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, *module);
    set_target_attributes(wrapper, target);
    wrapper->setDoesNotThrow();
    builder->SetInsertPoint(llvm::BasicBlock::Create(context, "entry", wrapper));
    std::vector<llvm::Value *> args;
    for (size_t i = 0; i < lowered.args.size(); i++) {
        const LoweredArgument &a = lowered.args[i];
        llvm::Value *slot = builder->CreateConstGEP1_64(ptr_t, wrapper->getArg(0), i);
        llvm::Value *p = builder->CreateLoad(ptr_t, slot);
        if (!a.is_buffer()) {
            p = from_memory(builder->CreateLoad(memory_type(a.type), p), a.type);
        }
        args.push_back(p);
    }
    llvm::CallInst *call = builder->CreateCall(f, args);
    call->setAttributes(f->getAttributes());
    builder->CreateRet(call);
    return wrapper;
}

llvm::Constant *CodeGen_LLVM::string_constant(const std::string &s) {
    return constant_global(llvm::ConstantDataArray::getString(context, s), "str");
}

llvm::GlobalVariable *CodeGen_LLVM::constant_global(llvm::Constant *c, const std::string &name) {
    auto *g = new llvm::GlobalVariable(*module, c->getType(), true, llvm::GlobalValue::PrivateLinkage, c, name);
    g->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    return g;
}

void CodeGen_LLVM::compile_buffer(const Buffer<> &buf) {
    const halide_buffer_t *b = buf.raw_buffer();
    user_assert(b->host || b->size_in_bytes() == 0)
        << "Can't embed buffer " << buf.name() << " into the code: it has a null host pointer.";
    user_assert(!b->device_dirty()) << "Can't embed buffer " << buf.name()
                                    << " into the code: it has data on a device that is not on the host; "
                                       "call copy_to_host first.";
    const llvm::StringRef bytes((const char *)b->begin(), b->size_in_bytes());
    llvm::Constant *data = llvm::ConstantDataArray::getString(context, bytes, false);
    llvm::GlobalVariable *data_global = constant_global(data, buf.name() + ".data");
    data_global->setAlignment(llvm::Align(128));
    llvm::Constant *host =
        llvm::ConstantExpr::getGetElementPtr(i8_t, data_global, int_constant(i64_t, b->host - b->begin()));

    std::vector<llvm::Constant *> dims;
    for (int d = 0; d < b->dimensions; d++) {
        dims.push_back(llvm::ConstantStruct::get(
            dimension_t, {int_constant(i32_t, b->dim[d].min), int_constant(i32_t, b->dim[d].extent),
                          int_constant(i32_t, b->dim[d].stride), int_constant(i32_t, 0)}));
    }
    llvm::ArrayType *dims_type = llvm::ArrayType::get(dimension_t, dims.size());
    llvm::GlobalVariable *dims_global =
        constant_global(llvm::ConstantArray::get(dims_type, dims), buf.name() + ".shape");
    auto *type_t = llvm::cast<llvm::StructType>(buffer_t->getElementType(4));
    llvm::Constant *type = llvm::ConstantStruct::get(
        type_t, {int_constant(i8_t, b->type.code), int_constant(i8_t, b->type.bits), int_constant(i16_t, 0)});
    llvm::Constant *null = llvm::ConstantPointerNull::get(ptr_t);
    llvm::Constant *init = llvm::ConstantStruct::get(
        buffer_t, {int_constant(i64_t, 0), null, host, int_constant(i64_t, halide_buffer_flag_host_dirty), type,
                   int_constant(i32_t, b->dimensions), dims_global, null});
    auto *g = new llvm::GlobalVariable(*module, buffer_t, false, llvm::GlobalValue::InternalLinkage, init,
                                       buf.name() + ".buffer");
    bind(buf.name() + ".buffer", g);
}

namespace {

// A constant Expr as the eight bytes of a halide_scalar_value_t.
uint64_t scalar_bits(const Expr &e, const Type &t) {
    if (const auto i = as_const_int(e)) {
        return t.is_float() ? reinterpret_bits<uint64_t>((double)*i) : (uint64_t)*i;
    }
    if (const auto u = as_const_uint(e)) {
        return *u;
    }
    const auto f = as_const_float(e);
    internal_assert(f) << "Estimate is no constant: " << e;
    if (t.is_bfloat()) {
        return bfloat16_t(*f).to_bits();
    }
    switch (t.bits()) {
    case 16:
        return float16_t(*f).to_bits();
    case 32:
        return reinterpret_bits<uint32_t>((float)*f);
    default:
        return reinterpret_bits<uint64_t>(*f);
    }
}

}  // namespace

llvm::Function *CodeGen_LLVM::add_metadata_getter(const LoweredFunc &lowered, const std::string &name,
                                                  const Module &m) {
    llvm::Constant *null = llvm::ConstantPointerNull::get(ptr_t);
    llvm::StructType *type_t = llvm::StructType::get(context, {i8_t, i8_t, i16_t});
    llvm::StructType *argument_t = llvm::StructType::get(
        context, {ptr_t, i32_t, i32_t, type_t, ptr_t, ptr_t, ptr_t, ptr_t, ptr_t});
    const MetadataNameMap names = m.get_metadata_name_map();

    auto scalar = [&](const Expr &e, const Halide::Type &t) -> llvm::Constant * {
        if (!e.defined() || !is_const(e)) {
            return null;
        }
        return constant_global(int_constant(i64_t, (int64_t)scalar_bits(e, t)), "scalar");
    };
    auto estimates = [&](const Region &r) -> llvm::Constant * {
        if (r.empty()) {
            return null;
        }
        std::vector<llvm::Constant *> entries;
        for (const Range &range : r) {
            for (const Expr &e : {range.min, range.extent}) {
                entries.push_back(e.defined() ? scalar(cast(Int(64), e), Int(64)) : null);
            }
        }
        return constant_global(llvm::ConstantArray::get(llvm::ArrayType::get(ptr_t, entries.size()), entries),
                               "estimates");
    };

    std::vector<llvm::Constant *> arguments;
    for (const LoweredArgument &a : lowered.args) {
        const ArgumentEstimates &est = a.argument_estimates;
        const auto renamed = names.find(a.name);
        llvm::Constant *type = llvm::ConstantStruct::get(
            type_t, {int_constant(i8_t, a.type.code()), int_constant(i8_t, a.type.bits()), int_constant(i16_t, 0)});
        const bool s = a.is_scalar();
        arguments.push_back(llvm::ConstantStruct::get(
            argument_t, {string_constant(renamed == names.end() ? a.name : renamed->second),
                         int_constant(i32_t, a.kind), int_constant(i32_t, a.dimensions), type,
                         s ? scalar(est.scalar_def, a.type) : null, s ? scalar(est.scalar_min, a.type) : null,
                         s ? scalar(est.scalar_max, a.type) : null, s ? scalar(est.scalar_estimate, a.type) : null,
                         s ? null : estimates(est.buffer_estimates)}));
    }
    llvm::Constant *table = constant_global(
        llvm::ConstantArray::get(llvm::ArrayType::get(argument_t, arguments.size()), arguments), "arguments");
    llvm::StructType *metadata_t = llvm::StructType::get(context, {i32_t, i32_t, ptr_t, ptr_t, ptr_t});
    std::vector<std::string> namespaces;
    const std::string simple_name = extract_namespaces(lowered.name, namespaces);
    llvm::Constant *metadata = llvm::ConstantStruct::get(
        metadata_t, {int_constant(i32_t, 1), int_constant(i32_t, (int64_t)arguments.size()), table,
                     string_constant(m.target().to_string()), string_constant(simple_name)});
    llvm::GlobalVariable *storage = constant_global(metadata, name + "_storage");

    llvm::FunctionType *type = llvm::FunctionType::get(ptr_t, {}, false);
    llvm::Function *getter = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, *module);
    set_target_attributes(getter, target);
    getter->setDoesNotThrow();
    builder->SetInsertPoint(llvm::BasicBlock::Create(context, "entry", getter));
    builder->CreateRet(storage);
    return getter;
}

// Errors and exits

llvm::AllocaInst *CodeGen_LLVM::frame_slot(llvm::Type *t, int64_t count, const std::string &name, int alignment) {
    llvm::IRBuilder<>::InsertPointGuard guard(*builder);
    llvm::BasicBlock &entry = function->getEntryBlock();
    builder->SetInsertPoint(&entry, entry.begin());
    llvm::AllocaInst *slot = builder->CreateAlloca(t, count == 1 ? nullptr : int_constant(i64_t, count), name);
    if (alignment) {
        slot->setAlignment(llvm::Align((uint64_t)alignment));
    }
    return slot;
}

llvm::AllocaInst *CodeGen_LLVM::register_cleanup(llvm::Value *initial, const std::string &name,
                                                 const std::function<void(llvm::Value *)> &run) {
    llvm::AllocaInst *slot = frame_slot(ptr_t, 1, name + ".slot");
    {
        llvm::IRBuilder<>::InsertPointGuard guard(*builder);
        builder->SetInsertPoint(&function->getEntryBlock());
        builder->CreateStore(llvm::ConstantPointerNull::get(ptr_t), slot);
    }
    if (initial) {
        builder->CreateStore(initial, slot);
    }
    cleanups.push_back({slot, run});
    return slot;
}

void CodeGen_LLVM::exit_function(llvm::Value *code) {
    exit_code->addIncoming(code, builder->GetInsertBlock());
    builder->CreateBr(exit_block);
}

void CodeGen_LLVM::finish_exit_block() {
    exit_block->moveAfter(&function->back());
    builder->SetInsertPoint(exit_block);
    // The last thing made is the first to go. Cleaning up may add no cleanups.
    for (size_t i = cleanups.size(); i-- > 0;) {
        llvm::Value *p = builder->CreateLoad(ptr_t, cleanups[i].slot);
        llvm::BasicBlock *run = new_block("cleanup");
        llvm::BasicBlock *next = new_block("cleaned");
        builder->CreateCondBr(builder->CreateIsNotNull(p), run, next);
        builder->SetInsertPoint(run);
        cleanups[i].run(p);
        builder->CreateBr(next);
        builder->SetInsertPoint(next);
    }
    builder->CreateRet(exit_code);
}

void CodeGen_LLVM::return_unless(llvm::Value *condition, const std::function<llvm::Value *()> &code) {
    if (auto *c = llvm::dyn_cast<llvm::ConstantInt>(condition); c && c->isOne()) {
        return;
    }
    llvm::BasicBlock *failed = new_block("failed");
    llvm::BasicBlock *passed = new_block("passed");
    builder->CreateCondBr(condition, passed, failed, llvm::MDBuilder(context).createLikelyBranchWeights());
    builder->SetInsertPoint(failed);
    exit_function(code());
    builder->SetInsertPoint(passed);
}

// Names

void CodeGen_LLVM::bind(const std::string &name, llvm::Value *v, llvm::Value *wide) {
    if (!llvm::isa<llvm::Constant>(v) && !v->hasName()) {
        v->setName(name);
    }
    symbols[name].push_back({v, wide});
}

void CodeGen_LLVM::unbind(const std::string &name) {
    auto it = symbols.find(name);
    internal_assert(it != symbols.end()) << name << " is not bound";
    it->second.pop_back();
    if (it->second.empty()) {
        symbols.erase(it);
    }
}

const CodeGen_LLVM::Binding *CodeGen_LLVM::lookup(const std::string &name) const {
    const auto it = symbols.find(name);
    return it == symbols.end() ? nullptr : &it->second.back();
}

llvm::Value *CodeGen_LLVM::symbol(const std::string &name) {
    if (const Binding *b = lookup(name)) {
        return b->value;
    }
    for (const auto &[own_name, f] : own_functions) {
        if (starts_with(name, "::") && own_name == name.substr(2)) {
            return f;
        }
    }
    internal_error << "Symbol not found in code generation: " << name;
    return nullptr;
}

// A let of index arithmetic keeps its exact value beside the one of its type, so that addresses see no wrap-around.
// What is not used is dropped by LLVM.
CodeGen_LLVM::Binding CodeGen_LLVM::codegen_let_value(const Expr &e, const std::string &name) {
    Binding b{codegen(e), nullptr};
    const bool index_like = e.type() == Int(32);
    if (index_like && !is_const(e)) {
        switch (e.node_type()) {
        case IRNodeType::Add:
        case IRNodeType::Sub:
        case IRNodeType::Mul:
        case IRNodeType::Variable:
        case IRNodeType::Select:
        case IRNodeType::Min:
        case IRNodeType::Max:
            b.wide = codegen_index(e);
            break;
        default:
            b.wide = builder->CreateSExt(b.value, i64_t);
        }
    }
    return b;
}

// Statements

void CodeGen_LLVM::codegen(const Stmt &s) {
    internal_assert(s.defined()) << "Code of an undefined statement";
    s.accept(this);
}

void CodeGen_LLVM::visit(const LetStmt *op) {
    const Binding b = codegen_let_value(op->value, op->name);
    bind(op->name, b.value, b.wide);
    codegen(op->body);
    unbind(op->name);
}

void CodeGen_LLVM::visit(const AssertStmt *op) {
    if (is_const_one(op->condition)) {
        return;
    }
    return_unless(codegen(op->condition), [&] {
        llvm::Value *code = codegen(op->message);
        if (code->getType() != i32_t) {
            code = builder->CreateIntCast(code, i32_t, true);
        }
        return code;
    });
}

void CodeGen_LLVM::visit(const ProducerConsumer *op) {
    codegen(op->body);
}

/// Adds a property to those of the loop that `back` closes. The first operand of a loop's metadata is itself: that makes
/// it one of its own.
static void add_loop_property(llvm::BranchInst *back, const char *name, llvm::Constant *value = nullptr) {
    llvm::LLVMContext &context = back->getContext();
    std::vector<llvm::Metadata *> operands = {nullptr};
    if (const llvm::MDNode *old = back->getMetadata(llvm::LLVMContext::MD_loop)) {
        operands.insert(operands.end(), old->op_begin() + 1, old->op_end());
    }
    std::vector<llvm::Metadata *> property = {llvm::MDString::get(context, name)};
    if (value) {
        property.push_back(llvm::ConstantAsMetadata::get(value));
    }
    operands.push_back(llvm::MDNode::get(context, property));
    llvm::MDNode *id = llvm::MDNode::getDistinct(context, operands);
    id->replaceOperandWith(0, id);
    back->setMetadata(llvm::LLVMContext::MD_loop, id);
}

// for i in min..max:  test before increment, so that max may be the largest value of the type.
void CodeGen_LLVM::visit(const For *op) {
    internal_assert(op->for_type == ForType::Serial)
        << "Loop " << op->name << " reaches code generation without having become serial";
    llvm::Value *min = codegen(op->min);
    llvm::Value *max = codegen(op->max);
    const bool is_signed = op->min.type().is_int();

    llvm::BasicBlock *before = builder->GetInsertBlock();
    llvm::BasicBlock *loop = new_block("for " + op->name);
    llvm::BasicBlock *after = new_block("end for " + op->name);
    builder->CreateCondBr(is_signed ? builder->CreateICmpSLE(min, max) : builder->CreateICmpULE(min, max), loop, after,
                          llvm::MDBuilder(context).createLikelyBranchWeights());
    builder->SetInsertPoint(loop);
    llvm::PHINode *i = builder->CreatePHI(min->getType(), 2, op->name);
    i->addIncoming(min, before);
    llvm::Value *wide = nullptr;
    if (min->getType()->getIntegerBitWidth() < 64) {
        wide = builder->CreateIntCast(i, i64_t, is_signed);
    }
    bind(op->name, i, wide);
    codegen(op->body);
    unbind(op->name);

    llvm::Value *done = builder->CreateICmpEQ(i, max);
    llvm::Value *next = builder->CreateAdd(i, int_constant(i->getType(), 1), op->name + ".next", !is_signed, is_signed);
    i->addIncoming(next, builder->GetInsertBlock());
    llvm::BranchInst *back = builder->CreateCondBr(done, after, loop);
    if (op->hint.kind == UnrollHint::Kind::Full) {
        add_loop_property(back, "llvm.loop.unroll.full");
    } else if (op->hint.kind == UnrollHint::Kind::Factor) {
        add_loop_property(back, "llvm.loop.unroll.count", int_constant(i32_t, op->hint.factor));
    } else if (!is_const(op->max)) {
        // Copies for a remainder cost more to compile than they gain: loops of unknown length stay as the schedule has them.
        add_loop_property(back, "llvm.loop.unroll.runtime.disable");
    }
    builder->SetInsertPoint(after);
}

void CodeGen_LLVM::visit(const Block *op) {
    codegen(op->first);
    const Stmt *rest = &op->rest;
    while (const Block *b = rest->as<Block>()) {
        codegen(b->first);
        rest = &b->rest;
    }
    codegen(*rest);
}

void CodeGen_LLVM::visit(const IfThenElse *op) {
    if (is_const_one(op->condition)) {
        codegen(op->then_case);
        return;
    }
    llvm::Value *condition = codegen(op->condition);
    llvm::BasicBlock *then_block = new_block("then");
    llvm::BasicBlock *after = new_block("end if");
    llvm::BasicBlock *else_block = op->else_case.defined() ? new_block("else") : after;
    const Call *c = op->condition.as<Call>();
    const bool likely = c && c->is_intrinsic({Call::likely, Call::likely_if_innermost});
    builder->CreateCondBr(condition, then_block, else_block,
                          likely ? llvm::MDBuilder(context).createLikelyBranchWeights() : nullptr);
    builder->SetInsertPoint(then_block);
    codegen(op->then_case);
    builder->CreateBr(after);
    if (op->else_case.defined()) {
        builder->SetInsertPoint(else_block);
        codegen(op->else_case);
        builder->CreateBr(after);
    }
    builder->SetInsertPoint(after);
}

void CodeGen_LLVM::visit(const Evaluate *op) {
    codegen(op->value);
    value = nullptr;
}

void CodeGen_LLVM::visit(const Atomic *op) {
    internal_assert(op->mutex_name.empty()) << "Atomic with a mutex reaches code generation";
    ScopedValue<bool> scope(in_atomic, true);
    codegen(op->body);
}

void CodeGen_LLVM::visit(const StreamingStore *op) {
    codegen(op->body);
}

void CodeGen_LLVM::visit(const StreamingLoads *op) {
    codegen(op->body);
}

void CodeGen_LLVM::visit(const HoistedStorage *op) {
    codegen(op->body);
}

void CodeGen_LLVM::visit(const Acquire *) {
    internal_error << "Acquire reaches code generation";
}

void CodeGen_LLVM::visit(const Fork *) {
    internal_error << "Fork reaches code generation";
}

void CodeGen_LLVM::visit(const Provide *op) {
    internal_error << "Provide of " << op->name << " reaches code generation";
}

void CodeGen_LLVM::visit(const Realize *op) {
    internal_error << "Realize of " << op->name << " reaches code generation";
}

void CodeGen_LLVM::visit(const Prefetch *op) {
    internal_error << "Prefetch of " << op->name << " reaches code generation";
}

// Targets without tables of their own: LLVM's generic vectors.

namespace {

class CodeGen_Generic : public CodeGen_LLVM {
public:
    CodeGen_Generic(const Target &t, llvm::LLVMContext &context)
        : CodeGen_LLVM(t, context) {
    }

protected:
    int native_vector_bits() const override {
        if (target.arch == Target::RISCV && target.has_feature(Target::RVV) && target.vector_bits) {
            return target.vector_bits;
        }
        return target.arch == Target::WebAssembly && !target.has_feature(Target::WasmSimd128) ? 64 : 128;
    }
    bool has_gather(const Halide::Type &) const override {
        return target.has_feature(Target::RVV);
    }
    bool has_scatter(const Halide::Type &) const override {
        return target.has_feature(Target::RVV);
    }
};

}  // namespace

std::unique_ptr<CodeGen_LLVM> new_CodeGen_Generic(const Target &t, llvm::LLVMContext &context) {
    user_assert(t.arch != Target::Hexagon)
        << "Code for Hexagon cannot be made: this library has back ends for x86, ARM, RISC-V, PowerPC and WebAssembly.";
    return std::make_unique<CodeGen_Generic>(t, context);
}

}  // namespace Halide::Internal
