#include <llvm/IR/Attributes.h>
#include <llvm/IR/Function.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetOptions.h>

#include "codegen/llvm/LLVMTarget.h"

#include <iostream>
#include <mutex>

#include "ir/BitMoves.h"
#include "support/Error.h"
#include "support/Util.h"

namespace Halide::Internal {

int get_llvm_version() {
    return LLVM_VERSION_MAJOR * 10 + LLVM_VERSION_MINOR;
}

namespace {

void on_llvm_fatal_error(void *, const char *reason, bool) {
    internal_error << "LLVM: " << reason << "\n  Please report this, with the program.";
}

// LLVM keeps pointers to its arguments, and parsing them is not thread safe: once per process.
void parse_llvm_arguments() {
    const std::string text = get_env_variable("HL_LLVM_ARGS");
    if (text.empty()) {
        return;
    }
    static std::vector<std::string> words = split_string(text, " ");
    static std::vector<const char *> args = {"llvm"};
    for (const std::string &w : words) {
        if (!w.empty()) {
            args.push_back(w.c_str());
        }
    }
    llvm::cl::ParseCommandLineOptions((int)args.size(), args.data(), "Halide compiler\n");
}

}  // namespace

void initialize_llvm() {
    static std::once_flag once;
    std::call_once(once, [] {
        llvm::install_fatal_error_handler(on_llvm_fatal_error, nullptr);
        llvm::InitializeAllTargetInfos();
        llvm::InitializeAllTargets();
        llvm::InitializeAllTargetMCs();
        llvm::InitializeAllAsmParsers();
        llvm::InitializeAllAsmPrinters();
        parse_llvm_arguments();
    });
}

namespace {

std::string arch_name(const Target &t) {
    switch (t.arch) {
    case Target::X86:
        return t.bits == 64 ? "x86_64" : "i386";
    case Target::ARM:
        if (t.bits == 64) {
            return t.os == Target::IOS || t.os == Target::OSX ? "arm64" : "aarch64";
        }
        return t.has_feature(Target::ARMv7s) ? "armv7s" : "armv7a";
    case Target::POWERPC:
        return t.bits == 64 ? "powerpc64le" : "powerpc";
    case Target::WebAssembly:
        return t.bits == 64 ? "wasm64" : "wasm32";
    case Target::RISCV:
        return t.bits == 64 ? "riscv64" : "riscv32";
    case Target::Hexagon:
        return "hexagon";
    case Target::ArchUnknown:
        break;
    }
    user_error << "The target " << t.to_string() << " names no architecture, so no code can be made for it.";
    return "";
}

std::string system_name(const Target &t) {
    const bool arm32 = t.arch == Target::ARM && t.bits == 32;
    switch (t.os) {
    case Target::Linux:
        return arm32 ? (t.has_feature(Target::SoftFloatABI) ? "-unknown-linux-gnueabi" : "-unknown-linux-gnueabihf") :
                       "-unknown-linux-gnu";
    case Target::Windows:
        return "-pc-windows-msvc";
    case Target::OSX:
        return "-apple-macosx11.0.0";
    case Target::IOS:
        return "-apple-ios13.0.0";
    case Target::Android:
        return arm32 ? "-unknown-linux-androideabi21" : "-unknown-linux-android21";
    case Target::QuRT:
        return "-unknown-unknown-elf";
    case Target::Fuchsia:
        return "-unknown-fuchsia";
    case Target::WebAssemblyRuntime:
        return "-unknown-unknown-wasm";
    case Target::NoOS:
        return arm32 ? "-unknown-none-eabihf" : "-unknown-none-elf";
    case Target::OSUnknown:
        break;
    }
    user_error << "The target " << t.to_string() << " names no operating system, so no code can be made for it.";
    return "";
}

struct FeatureRow {
    Target::Feature feature;
    const char *names;
};

// Target features with the instruction sets they stand for. Implied features have rows of their own.
constexpr FeatureRow x86_rows[] = {
    {Target::SSE41, "+sse4.1"},
    {Target::AVX, "+avx,+sse4.2"},
    {Target::AVX2, "+avx2"},
    {Target::FMA, "+fma"},
    {Target::FMA4, "+fma4"},
    {Target::F16C, "+f16c"},
    {Target::AVXVNNI, "+avxvnni"},
    {Target::AVX512, "+avx512f,+avx512cd"},
    {Target::AVX512_Skylake, "+avx512vl,+avx512bw,+avx512dq"},
    {Target::AVX512_Cannonlake, "+avx512ifma,+avx512vbmi"},
    {Target::AVX512_Zen4, "+avx512bf16,+avx512vnni,+avx512vbmi2,+avx512bitalg,+avx512vpopcntdq,+gfni,+vpclmulqdq,+vaes"},
    {Target::AVX512_Zen5, "+avx512vp2intersect"},
    {Target::AVX512_SapphireRapids, "+avx512fp16,+amx-tile,+amx-int8,+amx-bf16"},
    {Target::AVX10_1, "+avx10.1"},
    {Target::X86APX, "+egpr,+push2pop2,+ppx,+ndd,+ccmp,+nf,+cf,+zu"},
};

constexpr FeatureRow arm_rows[] = {
    {Target::ARMDotProd, "+dotprod"}, {Target::ARMFp16, "+fullfp16"}, {Target::SVE, "+sve"},
    {Target::SVE2, "+sve2"},          {Target::SME2, "+sme2"},        {Target::ARMv8a, "+v8a"},
    {Target::ARMv81a, "+v8.1a"},      {Target::ARMv82a, "+v8.2a"},    {Target::ARMv83a, "+v8.3a"},
    {Target::ARMv84a, "+v8.4a"},      {Target::ARMv85a, "+v8.5a"},    {Target::ARMv86a, "+v8.6a"},
    {Target::ARMv87a, "+v8.7a"},      {Target::ARMv88a, "+v8.8a"},    {Target::ARMv89a, "+v8.9a"},
};

constexpr FeatureRow powerpc_rows[] = {
    {Target::VSX, "+vsx"},
    {Target::POWER_ARCH_2_07, "+power8-vector"},
};

constexpr FeatureRow wasm_rows[] = {
    {Target::WasmSimd128, "+simd128"},
    {Target::WasmThreads, "+atomics,+bulk-memory"},
    {Target::WasmBulkMemory, "+bulk-memory"},
};

template<size_t n>
void append_rows(const FeatureRow (&rows)[n], const Target &t, std::vector<std::string> &out) {
    for (const FeatureRow &row : rows) {
        if (t.has_feature(row.feature)) {
            out.emplace_back(row.names);
        }
    }
}

}  // namespace

llvm::Triple llvm_triple(const Target &t) {
    std::string system = system_name(t);
    if (t.has_feature(Target::Simulator) && t.os == Target::IOS) {
        system += "-simulator";
    }
    return llvm::Triple(arch_name(t) + system);
}

std::string llvm_cpu(const Target &t) {
    switch (t.arch) {
    case Target::X86:
        return t.bits == 64 ? "x86-64" : "i686";
    case Target::ARM:
        return t.bits == 32 ? (t.has_feature(Target::ARMv7s) ? "swift" : "cortex-a9") :
               t.os == Target::IOS || t.os == Target::OSX ? "cyclone" :
                                                            "generic";
    case Target::POWERPC:
        return t.has_feature(Target::POWER_ARCH_2_07) ? "pwr8" : t.has_feature(Target::VSX) ? "pwr7" : "g4";
    case Target::WebAssembly:
        return t.has_feature(Target::WasmMvpOnly) ? "mvp" : "generic";
    case Target::RISCV:
        return t.bits == 64 ? "generic-rv64" : "generic-rv32";
    case Target::Hexagon:
        return t.has_feature(Target::HVX_v68) ? "hexagonv68" : t.has_feature(Target::HVX_v66) ? "hexagonv66" : "hexagonv65";
    default:
        return "";
    }
}

std::string llvm_tune_cpu(const Target &t) {
    switch (t.processor_tune) {
    case Target::Processor::K8:
        return "k8";
    case Target::Processor::K8_SSE3:
        return "k8-sse3";
    case Target::Processor::AMDFam10:
        return "amdfam10";
    case Target::Processor::BtVer1:
        return "btver1";
    case Target::Processor::BdVer1:
        return "bdver1";
    case Target::Processor::BdVer2:
        return "bdver2";
    case Target::Processor::BdVer3:
        return "bdver3";
    case Target::Processor::BdVer4:
        return "bdver4";
    case Target::Processor::BtVer2:
        return "btver2";
    case Target::Processor::ZnVer1:
        return "znver1";
    case Target::Processor::ZnVer2:
        return "znver2";
    case Target::Processor::ZnVer3:
        return "znver3";
    case Target::Processor::ZnVer4:
        return "znver4";
    case Target::Processor::ZnVer5:
        return "znver5";
    case Target::Processor::ProcessorGeneric:
        break;
    }
    if (t.arch == Target::X86) {
        // LLVM's generic model knows no latencies of vector instructions, so that its scheduler spills where registers just
        // suffice. The first processor with these features is a better guess.
        static const std::pair<Target::Feature, const char *> first_with[] = {
            {Target::AVX512_Zen5, "znver5"},           {Target::AVX512_SapphireRapids, "sapphirerapids"},
            {Target::AVX512_Zen4, "znver4"},           {Target::AVX512_Cannonlake, "cannonlake"},
            {Target::AVX512_Skylake, "skylake-avx512"}, {Target::AVX512_KNL, "knl"},
            {Target::AVX512, "skylake-avx512"},        {Target::AVX2, "haswell"},
            {Target::AVX, "sandybridge"},              {Target::SSE41, "nehalem"},
        };
        for (const auto &row : first_with) {
            if (t.has_feature(row.first)) {
                return row.second;
            }
        }
    }
    return "";
}

std::string llvm_features(const Target &t) {
    std::vector<std::string> out;
    switch (t.arch) {
    case Target::X86:
        append_rows(x86_rows, t, out);
        if (moves_bits_fast(t)) {
            out.emplace_back("+bmi2");
        }
        break;
    case Target::ARM:
        if (t.has_feature(Target::NoNEON)) {
            out.emplace_back("-neon");
        } else {
            out.emplace_back("+neon");
        }
        if (t.bits == 64) {
            append_rows(arm_rows, t, out);
        } else if (t.has_feature(Target::SoftFloatABI)) {
            out.emplace_back("+soft-float-abi");
        }
        break;
    case Target::POWERPC:
        append_rows(powerpc_rows, t, out);
        break;
    case Target::WebAssembly:
        append_rows(wasm_rows, t, out);
        if (!t.has_feature(Target::WasmMvpOnly)) {
            out.emplace_back("+sign-ext,+nontrapping-fptoint");
        }
        break;
    case Target::RISCV:
        out.emplace_back("+m,+a,+f,+d,+c");
        if (t.has_feature(Target::RVV)) {
            out.emplace_back("+v");
            if (t.vector_bits >= 128) {
                out.emplace_back("+zvl" + std::to_string(t.vector_bits) + "b");
            }
        }
        break;
    default:
        break;
    }
    return join_strings(out, ",");
}

std::unique_ptr<llvm::TargetMachine> make_target_machine(const Target &t) {
    initialize_llvm();
    const llvm::Triple triple = llvm_triple(t);
    std::string message;
    const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, message);
    user_assert(target) << "Code for " << t.to_string() << " cannot be made: LLVM was built without this back end ("
                        << message << ").";
    llvm::TargetOptions options;
    options.AllowFPOpFusion = llvm::FPOpFusion::Strict;  // contraction is decided on the IR
    options.FloatABIType = t.has_feature(Target::SoftFloatABI) ? llvm::FloatABI::Soft : llvm::FloatABI::Hard;
    options.FunctionSections = true;
    options.UseInitArray = true;
    if (t.arch == Target::RISCV) {
        options.MCOptions.ABIName = t.bits == 64 ? "lp64d" : "ilp32d";
    }
    const bool jit = t.has_feature(Target::JIT);
    const auto code_model = t.has_feature(Target::LLVMLargeCodeModel) ? llvm::CodeModel::Large : llvm::CodeModel::Small;
    llvm::TargetMachine *tm =
        target->createTargetMachine(triple, llvm_cpu(t), llvm_features(t), options, llvm::Reloc::PIC_, code_model,
                                    llvm::CodeGenOptLevel::Aggressive, jit);
    internal_assert(tm) << "LLVM has no target machine for " << triple.str();
    return std::unique_ptr<llvm::TargetMachine>(tm);
}

void StepTimer::step(const char *name) {
    static const bool wanted = !get_env_variable("BROMIDE_TIME").empty();
    const auto now = std::chrono::steady_clock::now();
    if (wanted) {
        const std::chrono::duration<double, std::milli> ms = now - start;
        std::cerr << name << ": " << ms.count() << " ms\n";
    }
    start = now;
}

void set_target_attributes(llvm::Function *f, const Target &t) {
    if (const std::string cpu = llvm_cpu(t); !cpu.empty()) {
        f->addFnAttr("target-cpu", cpu);
    }
    if (const std::string tune = llvm_tune_cpu(t); !tune.empty()) {
        f->addFnAttr("tune-cpu", tune);
    }
    f->addFnAttr("target-features", llvm_features(t));
    f->addFnAttr("frame-pointer", "all");
    if (t.vector_bits >= 128 && t.arch == Target::ARM && t.has_feature(Target::SVE2)) {
        // With a fixed register size LLVM maps vectors of constant length to SVE registers.
        const unsigned vscale = (unsigned)t.vector_bits / 128;
        f->addFnAttr(llvm::Attribute::getWithVScaleRangeArgs(f->getContext(), vscale, vscale));
    } else if (t.vector_bits >= 64 && t.arch == Target::RISCV && t.has_feature(Target::RVV)) {
        const unsigned vscale = (unsigned)t.vector_bits / 64;
        f->addFnAttr(llvm::Attribute::getWithVScaleRangeArgs(f->getContext(), vscale, vscale));
    }
    if (f->isDeclaration()) {
        return;
    }
    if (t.has_feature(Target::ASAN)) {
        f->addFnAttr(llvm::Attribute::SanitizeAddress);
    }
    if (t.has_feature(Target::MSAN)) {
        f->addFnAttr(llvm::Attribute::SanitizeMemory);
    }
    if (t.has_feature(Target::TSAN)) {
        f->addFnAttr(llvm::Attribute::SanitizeThread);
    }
}

}  // namespace Halide::Internal
