#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/PassInstrumentation.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Instrumentation/AddressSanitizer.h>
#include <llvm/Transforms/Instrumentation/SanitizerCoverage.h>
#include <llvm/Transforms/Instrumentation/ThreadSanitizer.h>

#include <memory>
#include <set>
#include <string>

#include "codegen/llvm/LLVMTarget.h"

#include "support/Error.h"

namespace Halide::Internal {

namespace {

void add_sanitizers(llvm::PassBuilder &pb, const Target &t) {
    pb.registerOptimizerLastEPCallback([t](llvm::ModulePassManager &mpm, llvm::OptimizationLevel,
                                           llvm::ThinOrFullLTOPhase) {
        if (t.has_feature(Target::SanitizerCoverage)) {
            llvm::SanitizerCoverageOptions options;
            options.CoverageType = llvm::SanitizerCoverageOptions::SCK_Edge;
            options.IndirectCalls = true;
            options.TraceCmp = true;
            options.Inline8bitCounters = true;
            options.PCTable = true;
            mpm.addPass(llvm::SanitizerCoveragePass(options));
        }
        if (t.has_feature(Target::ASAN)) {
            llvm::AddressSanitizerOptions options;
            options.UseAfterScope = true;
            // Generated code has no unwinding, and globals of several pipelines may share names.
            mpm.addPass(llvm::AddressSanitizerPass(options, /*UseGlobalGC*/ false, /*UseOdrIndicator*/ false,
                                                   llvm::AsanDtorKind::None));
        }
        if (t.has_feature(Target::TSAN)) {
            mpm.addPass(llvm::ModuleThreadSanitizerPass());
            mpm.addPass(llvm::createModuleToFunctionPassAdaptor(llvm::ThreadSanitizerPass()));
        }
    });
}

/// What LLVM says of loops that it did not transform as asked, in the names of the program.
class ReportLoops : public llvm::DiagnosticHandler {
public:
    bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
        const auto *failure = llvm::dyn_cast<llvm::DiagnosticInfoOptimizationFailure>(&info);
        if (!failure) {
            return false;
        }
        const llvm::Value *header = failure->getCodeRegion();
        llvm::StringRef name = header ? header->getName() : llvm::StringRef();
        name.consume_front("for ");
        // Copies that LLVM makes of a loop are the same loop to the program.
        if (reported.insert(name.split(".us").first.str()).second) {
            user_warning << "The unroll hint of loop " << name.str() << " has no effect: LLVM does not unroll this loop.\n";
        }
        return true;
    }

private:
    std::set<std::string> reported;
};

/// Handles LLVM's diagnostics while it lives.
class ScopedDiagnostics {
public:
    ScopedDiagnostics(llvm::LLVMContext &context, std::unique_ptr<llvm::DiagnosticHandler> handler)
        : context(context), before(context.getDiagnosticHandler()) {
        context.setDiagnosticHandler(std::move(handler));
    }
    ~ScopedDiagnostics() {
        context.setDiagnosticHandler(std::move(before));
    }
    ScopedDiagnostics(const ScopedDiagnostics &) = delete;
    ScopedDiagnostics &operator=(const ScopedDiagnostics &) = delete;

private:
    llvm::LLVMContext &context;
    std::unique_ptr<llvm::DiagnosticHandler> before;
};

}  // namespace

void optimize_module(llvm::Module &m, llvm::TargetMachine &tm, const Target &t, const OptimizeOptions &options) {
    llvm::PipelineTuningOptions tuning;
    tuning.LoopVectorization = options.vectorizers;
    tuning.SLPVectorization = options.vectorizers;
    tuning.LoopInterleaving = options.vectorizers;
    // Schedules say what is unrolled for their own reasons; short loops that are left keep small arrays in memory unless
    // LLVM unrolls them.
    tuning.LoopUnrolling = true;
    tuning.ForgetAllSCEVInLoopUnroll = true;

    // LLVM 22's vector-combine does not terminate on some chains of shuffles of loads. Our vectors are written in the
    // form that the machine wants, so little is lost.
    llvm::PassInstrumentationCallbacks instrumentation;
    instrumentation.registerShouldRunOptionalPassCallback(
        [](llvm::StringRef pass, llvm::Any) { return pass != "VectorCombinePass"; });
    llvm::PassBuilder pb(&tm, tuning, std::nullopt, &instrumentation);
    llvm::LoopAnalysisManager lam;
    llvm::FunctionAnalysisManager fam;
    llvm::CGSCCAnalysisManager cgam;
    llvm::ModuleAnalysisManager mam;

    // Calls of functions named like libm's or libc's mean those only if the target has a C library.
    llvm::TargetLibraryInfoImpl library(m.getTargetTriple());
    if (t.os == Target::NoOS) {
        library.disableAllFunctions();
    }
    fam.registerPass([&] { return llvm::TargetLibraryAnalysis(library); });
    pb.registerModuleAnalyses(mam);
    pb.registerCGSCCAnalyses(cgam);
    pb.registerFunctionAnalyses(fam);
    pb.registerLoopAnalyses(lam);
    pb.crossRegisterProxies(lam, fam, cgam, mam);

    if (options.sanitize) {
        add_sanitizers(pb, t);
    }
    llvm::ModulePassManager mpm = pb.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3);
    {
        ScopedDiagnostics diagnostics(m.getContext(), std::make_unique<ReportLoops>());
        mpm.run(m, mam);
    }

    std::string problems;
    llvm::raw_string_ostream out(problems);
    internal_assert(!llvm::verifyModule(m, &out)) << "LLVM code is invalid after optimization: " << problems;
}

std::vector<char> emit_machine_code(llvm::Module &m, llvm::TargetMachine &tm, EmitKind kind) {
    llvm::SmallVector<char, 0> bytes;
    llvm::raw_svector_ostream out(bytes);
    llvm::legacy::PassManager pm;
    pm.add(new llvm::TargetLibraryInfoWrapperPass(m.getTargetTriple()));
    const auto type =
        kind == EmitKind::Object ? llvm::CodeGenFileType::ObjectFile : llvm::CodeGenFileType::AssemblyFile;
    const bool failed = tm.addPassesToEmitFile(pm, out, nullptr, type);
    internal_assert(!failed) << "LLVM cannot emit this kind of file for the target";
    pm.run(m);
    return std::vector<char>(bytes.begin(), bytes.end());
}

}  // namespace Halide::Internal
