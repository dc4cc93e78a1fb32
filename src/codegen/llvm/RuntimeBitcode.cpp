#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/MemoryBuffer.h>

#include "codegen/llvm/LLVMTarget.h"
#include "codegen/llvm/RuntimeBitcode.h"

#include "support/Error.h"
#include "support/Util.h"

/// The runtimes that were compiled at build time (RuntimeBitcode.cmake makes this table).
struct BromideRuntimeBitcode {
    const char *family;
    const char *begin, *end;
};
extern const BromideRuntimeBitcode bromide_runtime_bitcode[];

namespace Halide::Internal {

namespace {

// Systems whose ABI and C library calls the runtime uses alike share its bitcode.
std::string family_of(const Target &t) {
    const std::string arch = Target(Target::Linux, t.arch, t.bits).to_string();
    const std::string machine = arch.substr(0, arch.rfind('-'));
    switch (t.os) {
    case Target::Linux:
    case Target::Android:
    case Target::Fuchsia:
        return machine + "-linux";
    case Target::OSX:
    case Target::IOS:
        return machine + "-osx";
    case Target::NoOS:
        return machine + "-noos";
    default:
        return machine + "-other";
    }
}

const BromideRuntimeBitcode *find_family(const std::string &family, std::string *known) {
    for (const BromideRuntimeBitcode *b = bromide_runtime_bitcode; b->family; b++) {
        if (b->family == family) {
            return b;
        }
        *known += (known->empty() ? "" : ", ") + std::string(b->family);
    }
    return nullptr;
}

bool is_public_symbol(llvm::StringRef name) {
    return name.starts_with("halide_");
}

}  // namespace

void link_runtime(llvm::Module &m, const Target &t) {
    std::string known;
    const std::string family = family_of(t);
    const BromideRuntimeBitcode *b = find_family(family, &known);
    user_assert(b) << "This library has no runtime for the target " << t.to_string() << " (there are: " << known
                   << ").\n  Add no_runtime to the target and link a runtime of your own, or build the library with "
                   << "-DBROMIDE_RUNTIME_FAMILIES=" << family << ".";
    auto buffer = llvm::MemoryBuffer::getMemBuffer(llvm::StringRef(b->begin, (size_t)(b->end - b->begin)), family,
                                                   false);
    auto parsed = llvm::parseBitcodeFile(buffer->getMemBufferRef(), m.getContext());
    if (!parsed) {
        internal_error << "The bitcode of the runtime cannot be read: " << llvm::toString(parsed.takeError());
    }
    std::unique_ptr<llvm::Module> runtime = std::move(*parsed);
    runtime->setTargetTriple(m.getTargetTriple());
    runtime->setDataLayout(m.getDataLayout());
    for (llvm::Function &f : *runtime) {
        if (f.isDeclaration()) {
            continue;
        }
        for (const char *a : {"target-cpu", "target-features", "tune-cpu"}) {
            f.removeFnAttr(a);
        }
        set_target_attributes(&f, t);
        if (f.hasExternalLinkage()) {
            f.setLinkage(llvm::GlobalValue::WeakAnyLinkage);
        }
    }
    for (llvm::GlobalVariable &g : runtime->globals()) {
        if (!g.isDeclaration() && g.hasExternalLinkage()) {
            g.setLinkage(llvm::GlobalValue::WeakAnyLinkage);
        }
    }
    // Flags that the compiler of the runtime set are those of its command line, not of this module.
    if (llvm::NamedMDNode *flags = runtime->getModuleFlagsMetadata()) {
        runtime->eraseNamedMetadata(flags);
    }
    if (llvm::NamedMDNode *ident = runtime->getNamedMetadata("llvm.ident")) {
        runtime->eraseNamedMetadata(ident);
    }
    const bool failed = llvm::Linker::linkModules(m, std::move(runtime));
    internal_assert(!failed) << "The runtime cannot be linked into " << m.getName().str();
}

void apply_runtime_prefixes(llvm::Module &m, const RuntimeNamespaceMap &prefixes) {
    const auto prefix_of = [&](RuntimeLinkage l) {
        const auto it = prefixes.find(l);
        return it == prefixes.end() ? std::string() : it->second;
    };
    const std::string import = prefix_of(RuntimeLinkage::Import), exported = prefix_of(RuntimeLinkage::Export);
    const std::string internal = prefix_of(RuntimeLinkage::Internal);
    const size_t halide = std::string("halide_").size();
    for (llvm::GlobalObject &g : m.global_objects()) {
        if (!g.hasName() || g.hasLocalLinkage()) {
            continue;
        }
        const std::string name = g.getName().str();
        const bool weak = g.hasWeakLinkage();
        if (g.isDeclaration()) {
            if (!import.empty() && is_public_symbol(name)) {
                g.setName(import + name.substr(halide));
            }
        } else if (weak && is_public_symbol(name)) {
            if (!exported.empty()) {
                g.setName(exported + name.substr(halide));
            }
        } else if (weak && !internal.empty()) {
            g.setName(internal + name);
        }
    }
}

}  // namespace Halide::Internal
