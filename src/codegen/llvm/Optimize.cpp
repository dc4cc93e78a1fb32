#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/PassInstrumentation.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Instrumentation/AddressSanitizer.h>
#include <llvm/Transforms/Instrumentation/SanitizerCoverage.h>
#include <llvm/Transforms/Instrumentation/ThreadSanitizer.h>

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
    mpm.run(m, mam);

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
