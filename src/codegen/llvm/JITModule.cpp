/// JIT on ORC: object code of our own making, linked into this process. One session per module, so that its memory goes
/// when it does.

#include <llvm/ExecutionEngine/Orc/AbsoluteSymbols.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/EHFrameRegistrationPlugin.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>

#include "codegen/llvm/CodeGen_LLVM.h"
#include "codegen/llvm/JITContext.h"
#include "codegen/llvm/JITModule.h"
#include "codegen/llvm/LLVMTarget.h"

#include <set>

#include "func/Module.h"
#include "ir/IROperator.h"
#include "ir/IRVisitor.h"
#include "runtime/RuntimeSymbols.h"
#include "support/Error.h"
#include "support/Util.h"

namespace Halide::Internal {

class JITModuleContents {
public:
    std::map<std::string, JITModule::Symbol> exports;
    std::vector<JITModule> dependencies;
    JITModule::Symbol entrypoint, argv_entrypoint;
    std::unique_ptr<llvm::orc::ExecutionSession> session;
    std::unique_ptr<llvm::orc::ObjectLinkingLayer> layer;

    ~JITModuleContents() {
        if (session) {
            if (llvm::Error e = session->endSession()) {
                llvm::consumeError(std::move(e));
            }
        }
    }
};

namespace {

std::string text_of(llvm::Error e) {
    std::string text;
    llvm::raw_string_ostream out(text);
    out << e;
    llvm::consumeError(std::move(e));
    return text;
}

/// Resolves what the code refers to: modules it depends on, the runtime, this process.
class ProcessSymbols : public llvm::orc::DefinitionGenerator {
    std::vector<JITModule> dependencies;
    char prefix;

public:
    ProcessSymbols(std::vector<JITModule> dependencies, char prefix)
        : dependencies(std::move(dependencies)), prefix(prefix) {
    }

    static void *find(const std::vector<JITModule> &dependencies, const std::string &name) {
        for (const JITModule &m : dependencies) {
            if (void *p = m.find_symbol_by_name(name).address) {
                return p;
            }
        }
        return find_process_symbol(name);
    }

    llvm::Error tryToGenerate(llvm::orc::LookupState &, llvm::orc::LookupKind, llvm::orc::JITDylib &dylib,
                              llvm::orc::JITDylibLookupFlags, const llvm::orc::SymbolLookupSet &names) override {
        llvm::orc::SymbolMap found;
        for (const auto &[symbol, flags] : names) {
            std::string name = (*symbol).str();
            if (prefix && !name.empty() && name[0] == prefix) {
                name.erase(0, 1);
            }
            if (void *p = find(dependencies, name)) {
                found[symbol] = {llvm::orc::ExecutorAddr::fromPtr(p), llvm::JITSymbolFlags::Exported};
            }
        }
        return found.empty() ? llvm::Error::success() : dylib.define(llvm::orc::absoluteSymbols(std::move(found)));
    }
};

/// Calls of functions of the program go through a function that stops exceptions.
class Trampolines {
    llvm::Module &m;
    llvm::LLVMContext &context;

    llvm::Function *trampoline_for(llvm::Function *f) {
        llvm::Type *ptr = llvm::PointerType::get(context, 0);
        llvm::FunctionType *type = f->getFunctionType();
        llvm::Function *t =
            llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, f->getName() + ".guarded", m);
        t->setDoesNotThrow();
        t->addFnAttr(llvm::Attribute::NoInline);
        t->setPersonalityFn(llvm::cast<llvm::Constant>(
            m.getOrInsertFunction("__gxx_personality_v0", llvm::FunctionType::get(llvm::Type::getInt32Ty(context), true))
                .getCallee()));
        auto *entry = llvm::BasicBlock::Create(context, "entry", t);
        auto *returned = llvm::BasicBlock::Create(context, "returned", t);
        auto *thrown = llvm::BasicBlock::Create(context, "thrown", t);
        llvm::IRBuilder<> b(entry);
        std::vector<llvm::Value *> args;
        for (llvm::Argument &a : t->args()) {
            args.push_back(&a);
        }
        llvm::InvokeInst *call = b.CreateInvoke(type, f, returned, thrown, args);
        b.SetInsertPoint(returned);
        type->getReturnType()->isVoidTy() ? b.CreateRetVoid() : b.CreateRet(call);
        b.SetInsertPoint(thrown);
        llvm::LandingPadInst *pad =
            b.CreateLandingPad(llvm::StructType::get(context, {ptr, llvm::Type::getInt32Ty(context)}), 1);
        pad->addClause(llvm::ConstantPointerNull::get(llvm::PointerType::get(context, 0)));
        llvm::FunctionCallee caught = m.getOrInsertFunction(
            "halide_jit_caught_exception", llvm::FunctionType::get(llvm::Type::getVoidTy(context), {ptr}, false));
        llvm::cast<llvm::Function>(caught.getCallee())->setDoesNotThrow();
        b.CreateCall(caught, {b.CreateExtractValue(pad, 0)});
        llvm::Type *result = type->getReturnType();
        if (result->isVoidTy()) {
            b.CreateRetVoid();
        } else if (result->isIntegerTy(32)) {
            b.CreateRet(llvm::ConstantInt::get(result, (uint64_t)(uint32_t)halide_error_code_generic_error));
        } else {
            b.CreateRet(llvm::Constant::getNullValue(result));
        }
        return t;
    }

    // The extensions of narrow arguments that the calls asked for hold for the trampoline's own call too.
    static void copy_extensions(llvm::Function *f, llvm::Function *trampoline) {
        for (llvm::User *u : trampoline->users()) {
            auto *call = llvm::dyn_cast<llvm::CallBase>(u);
            if (!call || call->getCalledOperand() != trampoline) {
                continue;
            }
            for (llvm::BasicBlock &block : *trampoline) {
                if (auto *invoke = llvm::dyn_cast<llvm::InvokeInst>(block.getTerminator())) {
                    llvm::AttributeList attributes;
                    for (unsigned i = 0; i < call->arg_size(); i++) {
                        for (auto kind : {llvm::Attribute::SExt, llvm::Attribute::ZExt}) {
                            if (call->paramHasAttr(i, kind)) {
                                attributes = attributes.addParamAttribute(f->getContext(), i, kind);
                            }
                        }
                    }
                    for (auto kind : {llvm::Attribute::SExt, llvm::Attribute::ZExt}) {
                        if (call->hasRetAttr(kind)) {
                            attributes = attributes.addRetAttribute(f->getContext(), kind);
                        }
                    }
                    invoke->setAttributes(attributes);
                }
            }
            return;
        }
    }

public:
    explicit Trampolines(llvm::Module &m)
        : m(m), context(m.getContext()) {
    }

    void run(const Target &target) {
        std::vector<llvm::Function *> externs;
        for (llvm::Function &f : m) {
            const std::string name = f.getName().str();
            if (f.isDeclaration() && !f.isIntrinsic() && !f.use_empty() && !is_c_library_function(name) &&
                !Runtime::Internal::find_runtime_symbol(name.c_str())) {
                externs.push_back(&f);
            }
        }
        for (llvm::Function *f : externs) {
            llvm::Function *t = trampoline_for(f);
            f->removeFnAttr(llvm::Attribute::NoUnwind);
            f->replaceUsesWithIf(t, [&](llvm::Use &u) {
                auto *i = llvm::dyn_cast<llvm::Instruction>(u.getUser());
                return !i || i->getFunction() != t;
            });
            copy_extensions(f, t);
            set_target_attributes(t, target);
        }
    }
};

void check_all_defined(const llvm::Module &m, const std::vector<JITModule> &dependencies) {
    std::string missing;
    for (const llvm::Function &f : m) {
        const std::string name = f.getName().str();
        if (f.isDeclaration() && !f.isIntrinsic() && !f.use_empty() && !ProcessSymbols::find(dependencies, name)) {
            missing += (missing.empty() ? "" : ", ") + name;
        }
    }
    user_assert(missing.empty())
        << "Undefined extern function: " << missing << "\n  " << m.getName().str()
        << " calls it, but neither set_jit_externs nor this process defines it.\n"
        << "  Link the program with -rdynamic if it is a function of its own.";
}

}  // namespace

JITModule::JITModule()
    : contents(std::make_shared<JITModuleContents>()) {
}

JITModule::JITModule(const Module &m, const LoweredFunc &fn, const std::vector<JITModule> &dependencies)
    : JITModule() {
    // Long chains of lets nest deeply, here and in LLVM.
    run_with_large_stack([&] {
        llvm::LLVMContext context;
        context.setDiscardValueNames(debug_level() < 1);
        StepTimer timer;
        std::unique_ptr<llvm::Module> code = CodeGen_LLVM::make(m.target(), context)->compile(m);
        timer.step("llvm-code");
        compile_module(std::move(code), CodeGen_LLVM::symbol_name(fn, m.target()), m.target(), dependencies);
    });
}

void JITModule::compile_module(std::unique_ptr<llvm::Module> m, const std::string &function_name,
                               const Target &target, const std::vector<JITModule> &dependencies,
                               const std::vector<std::string> &requested_exports) {
    install_jit_handlers();
    contents->dependencies = dependencies;
    check_all_defined(*m, dependencies);
    Trampolines(*m).run(target);
    std::vector<std::string> wanted = requested_exports;
    const std::string argv_name = function_name + "_argv";
    for (const std::string &name : {function_name, argv_name}) {
        const llvm::Function *f = m->getFunction(name);
        if (f && !f->isDeclaration()) {
            wanted.push_back(name);
        }
    }

    StepTimer timer;
    const std::unique_ptr<llvm::TargetMachine> tm = make_target_machine(target.with_feature(Target::JIT));
    OptimizeOptions options;
    options.vectorizers = target.has_feature(Target::EnableLLVMLoopOpt);
    optimize_module(*m, *tm, target, options);
    timer.step("llvm-optimize");
    if (debug_level() >= 2) {
        std::string text;
        llvm::raw_string_ostream out(text);
        m->print(out, nullptr);
        debug(2) << text << "\n";
    }
    const std::vector<char> object = emit_machine_code(*m, *tm, EmitKind::Object);
    timer.step("llvm-emit");
    const char prefix = m->getDataLayout().getGlobalPrefix();

    auto control = llvm::orc::SelfExecutorProcessControl::Create();
    internal_assert(control) << "JIT: " << text_of(control.takeError());
    contents->session = std::make_unique<llvm::orc::ExecutionSession>(std::move(*control));
    llvm::orc::ExecutionSession &session = *contents->session;
    std::string linker_error;
    session.setErrorReporter([&](llvm::Error e) { linker_error += text_of(std::move(e)) + "\n"; });
    contents->layer = std::make_unique<llvm::orc::ObjectLinkingLayer>(session);
    auto frames = llvm::orc::EHFrameRegistrationPlugin::Create(session);
    internal_assert(frames) << "JIT: " << text_of(frames.takeError());
    contents->layer->addPlugin(std::move(*frames));
    llvm::orc::JITDylib &dylib = session.createBareJITDylib("code");
    dylib.addGenerator(std::make_unique<ProcessSymbols>(dependencies, prefix));

    auto buffer = llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(object.data(), object.size()), m->getName());
    llvm::Error added = contents->layer->add(dylib, std::move(buffer));
    internal_assert(!added) << "JIT: " << text_of(std::move(added));
    for (const std::string &name : wanted) {
        const std::string symbol = prefix ? prefix + name : name;
        auto address = session.lookup({&dylib}, session.intern(symbol));
        if (!address) {
            const std::string text = text_of(address.takeError());
            user_error << "The code of " << m->getName().str() << " cannot be linked: " << text << "\n" << linker_error;
        }
        contents->exports[name] = Symbol(address->getAddress().toPtr<void *>());
    }
    timer.step("llvm-link");
    session.setErrorReporter([](llvm::Error e) { llvm::consumeError(std::move(e)); });
    const auto find = [&](const std::string &name) {
        const auto it = contents->exports.find(name);
        return it == contents->exports.end() ? Symbol() : it->second;
    };
    contents->entrypoint = find(function_name);
    contents->argv_entrypoint = find(argv_name);
}

const std::map<std::string, JITModule::Symbol> &JITModule::exports() const {
    return contents->exports;
}

void *JITModule::main_function() const {
    return contents->entrypoint.address;
}

JITModule::Symbol JITModule::entrypoint_symbol() const {
    return contents->entrypoint;
}

JITModule::Symbol JITModule::argv_entrypoint_symbol() const {
    return contents->argv_entrypoint;
}

JITModule::argv_wrapper JITModule::argv_function() const {
    return (argv_wrapper)contents->argv_entrypoint.address;
}

void JITModule::add_dependency(JITModule &dep) {
    contents->dependencies.push_back(dep);
}

void JITModule::add_symbol_for_export(const std::string &name, const Symbol &extern_symbol) {
    contents->exports[name] = extern_symbol;
}

void JITModule::add_extern_for_export(const std::string &name, const ExternCFunction &extern_c_function) {
    contents->exports[name] = Symbol(extern_c_function.address());
}

// int name(args…) { return pipeline(halide_jit_current_context(), args…); }
void JITModule::add_pipeline_for_export(const std::string &name, const JITModule &pipeline,
                                        const std::vector<Type> &args) {
    const Target target = get_host_target().with_feature(Target::JIT);
    const std::string pipeline_name = name + ".pipeline";
    Module m(name, target);
    std::vector<LoweredArgument> parameters;
    std::vector<Expr> actual = {Call::make(Handle(), "halide_jit_current_context", {}, Call::Extern)};
    for (size_t i = 0; i < args.size(); i++) {
        const std::string arg_name = "arg" + std::to_string(i);
        parameters.emplace_back(arg_name, Argument::InputScalar, args[i], 0, ArgumentEstimates());
        actual.push_back(Variable::make(args[i], arg_name));
    }
    Expr result = Variable::make(Int(32), "result");
    Stmt body = LetStmt::make("result", Call::make(Int(32), pipeline_name, actual, Call::Extern),
                              AssertStmt::make(result == 0, result));
    const LoweredFunc f(name, parameters, body, LinkageType::External, NameMangling::C);
    m.append(f);
    JITModule target_symbol;
    target_symbol.add_symbol_for_export(pipeline_name, pipeline.entrypoint_symbol());
    JITModule trampoline(m, f, {target_symbol});
    contents->exports[name] = trampoline.entrypoint_symbol();
    contents->dependencies.push_back(trampoline);
    contents->dependencies.push_back(pipeline);
}

JITModule::Symbol JITModule::find_symbol_by_name(const std::string &name) const {
    const auto it = contents->exports.find(name);
    if (it != contents->exports.end()) {
        return it->second;
    }
    for (const JITModule &m : contents->dependencies) {
        const Symbol s = m.find_symbol_by_name(name);
        if (s.address) {
            return s;
        }
    }
    return Symbol();
}

void JITModule::memoization_cache_set_size(int64_t size) const {
    JITSharedRuntime::memoization_cache_set_size(size);
}

void JITModule::memoization_cache_evict(uint64_t eviction_key) const {
    JITSharedRuntime::memoization_cache_evict(eviction_key);
}

void JITModule::reuse_device_allocations(bool b) const {
    JITSharedRuntime::reuse_device_allocations(b);
}

int JITModule::get_num_threads() const {
    return JITSharedRuntime::get_num_threads();
}

int JITModule::set_num_threads(int n) const {
    return JITSharedRuntime::set_num_threads(n);
}

bool JITModule::compiled() const {
    return contents->session != nullptr;
}

std::vector<JITModule> JITSharedRuntime::get(llvm::Module *, const Target &, bool create) {
    if (create) {
        install_jit_handlers();
    }
    return {};
}

}  // namespace Halide::Internal
