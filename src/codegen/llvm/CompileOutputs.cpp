#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/Object/ArchiveWriter.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "codegen/llvm/CHeader.h"
#include "codegen/llvm/CodeGen_LLVM.h"
#include "codegen/llvm/CompileOutputs.h"
#include "codegen/llvm/LLVMTarget.h"
#include "codegen/llvm/RuntimeBitcode.h"
#include "codegen/pto/PTOOutputs.h"

#include <fstream>
#include <sstream>

#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "support/Error.h"
#include "support/Process.h"
#include "support/Util.h"

#if __has_include("codegen/c/CodeGen_C.h")
#include "codegen/c/CodeGen_C.h"
#define BROMIDE_HAS_C_BACK_END
#endif

namespace Halide {

namespace Internal {

namespace {

void write_text(const std::string &path, const std::string &text) {
    write_entire_file(path, text.data(), text.size());
}

/// LLVM code of a module with its runtime, optimized for its target.
struct CompiledCode {
    Target target;
    llvm::LLVMContext context;
    std::unique_ptr<llvm::TargetMachine> machine;
    std::unique_ptr<llvm::Module> module;

    explicit CompiledCode(const Module &m)
        : target(m.target().with_implied_features()) {
        machine = make_target_machine(target);
        module = CodeGen_LLVM::make(target, context)->compile(m);
        optimize();
        if (!target.has_feature(Target::NoRuntime)) {
            link_runtime(*module, target);
        }
        apply_runtime_prefixes(*module, m.get_runtime_prefixes_map());
        if (target.has_feature(Target::EmbedBitcode)) {
            embed_bitcode();
        }
    }

    /// Only the runtime.
    CompiledCode(const std::string &name, const Target &t, const RuntimeNamespaceMap &prefixes)
        : target(t.with_implied_features()) {
        machine = make_target_machine(target);
        module = std::make_unique<llvm::Module>(name, context);
        module->setTargetTriple(machine->getTargetTriple());
        module->setDataLayout(machine->createDataLayout());
        link_runtime(*module, target);
        apply_runtime_prefixes(*module, prefixes);
    }

    std::vector<char> object() {
        return emit(EmitKind::Object);
    }
    std::vector<char> assembly() {
        return emit(EmitKind::Assembly);
    }
    std::string llvm_text() const {
        std::string text;
        llvm::raw_string_ostream out(text);
        module->print(out, nullptr);
        return text;
    }
    std::vector<char> bitcode() const {
        llvm::SmallVector<char, 0> bytes;
        llvm::raw_svector_ostream out(bytes);
        llvm::WriteBitcodeToFile(*module, out);
        return std::vector<char>(bytes.begin(), bytes.end());
    }

private:
    void optimize() {
        OptimizeOptions options;
        options.vectorizers = target.has_feature(Target::EnableLLVMLoopOpt);
        optimize_module(*module, *machine, target, options);
    }
    // Code generation changes the module: it gets a copy, so that several kinds of output can be made.
    std::vector<char> emit(EmitKind kind) {
        const std::unique_ptr<llvm::Module> copy = llvm::CloneModule(*module);
        return emit_machine_code(*copy, *machine, kind);
    }

    void embed_bitcode() {
        const std::vector<char> bytes = bitcode();
        llvm::Constant *data =
            llvm::ConstantDataArray::getString(context, llvm::StringRef(bytes.data(), bytes.size()), false);
        auto *g = new llvm::GlobalVariable(*module, data->getType(), true, llvm::GlobalValue::PrivateLinkage, data,
                                           "llvm.embedded.module");
        g->setSection(module->getTargetTriple().isOSBinFormatMachO() ? "__LLVM,__bitcode" : ".llvmbc");
        g->setAlignment(llvm::Align(1));
    }
};

struct ArchiveEntry {
    std::string name;
    std::vector<char> bytes;
};

void write_archive(const std::string &path, const std::vector<ArchiveEntry> &entries, const Target &t) {
    std::vector<llvm::NewArchiveMember> members;
    for (const ArchiveEntry &e : entries) {
        llvm::NewArchiveMember member;
        member.Buf = llvm::MemoryBuffer::getMemBuffer(llvm::StringRef(e.bytes.data(), e.bytes.size()), e.name, false);
        member.MemberName = e.name;
        members.push_back(std::move(member));
    }
    const auto kind = t.os == Target::OSX || t.os == Target::IOS ? llvm::object::Archive::K_DARWIN :
                                                                   llvm::object::Archive::K_GNU;
    llvm::Error e = llvm::writeArchive(path, members, llvm::SymtabWritingMode::NormalSymtab, kind,
                                       /*Deterministic*/ true, /*Thin*/ false);
    if (e) {
        const std::string why = llvm::toString(std::move(e));
        user_error << "The library " << path << " cannot be written: " << why;
    }
}

/// `dir/name.ext` → `dir/name<suffix>.ext`. The extension is what the kind of output has.
std::string with_suffix(const std::string &path, const std::string &suffix, const std::string &extension) {
    if (!extension.empty() && ends_with(path, extension)) {
        return path.substr(0, path.size() - extension.size()) + suffix + extension;
    }
    const size_t dot = path.rfind('.');
    const size_t slash = path.find_last_of('/');
    if (dot == std::string::npos || (slash != std::string::npos && dot < slash)) {
        return path + suffix;
    }
    return path.substr(0, dot) + suffix + path.substr(dot);
}

std::string object_name(const Module &m, const Target &t) {
    return c_print_name(m.name(), false) + (t.os == Target::Windows ? ".obj" : ".o");
}

bool is_llvm_output(OutputFileType type) {
    switch (type) {
    case OutputFileType::assembly:
    case OutputFileType::bitcode:
    case OutputFileType::llvm_assembly:
    case OutputFileType::object:
    case OutputFileType::static_library:
        return true;
    default:
        return false;
    }
}

void write_llvm_output(OutputFileType type, const std::string &path, CompiledCode &code, const Module &m) {
    switch (type) {
    case OutputFileType::assembly:
        write_entire_file(path, code.assembly());
        break;
    case OutputFileType::bitcode:
        write_entire_file(path, code.bitcode());
        break;
    case OutputFileType::llvm_assembly:
        write_text(path, code.llvm_text());
        break;
    case OutputFileType::object:
        write_entire_file(path, code.object());
        break;
    default:
        write_archive(path, {{object_name(m, m.target()), code.object()}}, m.target());
    }
}

void write_text_output(OutputFileType type, const std::string &path, const Module &m) {
    switch (type) {
    case OutputFileType::pto_kernel:
    case OutputFileType::pto_assembly:
    case OutputFileType::pto_launch:
        write_pto_output(type, path, m);
        break;
    case OutputFileType::c_header:
        write_text(path, c_header(m));
        break;
    case OutputFileType::function_info_header:
        write_text(path, function_info_header(m));
        break;
    case OutputFileType::registration:
        write_text(path, registration_source(m));
        break;
    case OutputFileType::stmt: {
        std::ostringstream text;
        text << m;
        write_text(path, text.str());
        break;
    }
    case OutputFileType::stmt_html:
        write_text(path, module_to_html(m));
        break;
    case OutputFileType::conceptual_stmt:
    case OutputFileType::conceptual_stmt_html: {
        const Stmt &s = m.get_conceptual_stmt();
        std::ostringstream text;
        if (s.defined()) {
            text << s;
        } else {
            text << m;
        }
        if (type == OutputFileType::conceptual_stmt) {
            write_text(path, text.str());
        } else {
            write_text(path, s.defined() ? stmt_to_html(m.name(), s) : module_to_html(m));
        }
        break;
    }
    case OutputFileType::schedule: {
        const AutoSchedulerResults *r = m.get_auto_scheduler_results();
        write_text(path, r && !r->schedule_source.empty() ? r->schedule_source :
                                                            "// No autoscheduler has been run for this Generator.\n");
        break;
    }
    case OutputFileType::featurization: {
        const AutoSchedulerResults *r = m.get_auto_scheduler_results();
        write_entire_file(path, r ? r->featurization.data() : nullptr, r ? r->featurization.size() : 0);
        break;
    }
    case OutputFileType::device_code: {
        const Buffer<> b = m.get_device_code_buffer();
        write_entire_file(path, b.defined() ? b.data() : nullptr, b.defined() ? b.size_in_bytes() : 0);
        break;
    }
#ifdef BROMIDE_HAS_C_BACK_END
    case OutputFileType::c_source: {
        std::ofstream file(path);
        CodeGen_C(file, m.target(),
                  m.target().has_feature(Target::CPlusPlusMangling) ? CodeGen_C::CPlusPlusImplementation :
                                                                      CodeGen_C::CImplementation)
            .compile(m);
        break;
    }
#endif
    default:
        user_error << "The output " << get_output_info(m.target()).at(type).name << " of " << m.name()
                   << " cannot be made: this library has no back end for it.";
    }
}

}  // namespace

std::string llvm_text_before_optimization(const Module &m) {
    llvm::LLVMContext context;
    const std::unique_ptr<llvm::Module> module =
        CodeGen_LLVM::make(m.target().with_implied_features(), context)->compile(m);
    std::string text;
    llvm::raw_string_ostream out(text);
    module->print(out, nullptr);
    return text;
}

void compile_module(const Module &m, const std::map<OutputFileType, std::string> &outputs) {
    bool needs_code = false;
    for (const auto &[type, path] : outputs) {
        needs_code = needs_code || is_llvm_output(type);
    }
    std::unique_ptr<CompiledCode> code;
    if (needs_code) {
        user_assert(!m.get_pto_program())
            << "The target " << m.target().to_string() << " is a PTO device, for which " << m.name()
            << " becomes kernels and no code for the CPU.\n"
            << "  Ask for pto_kernel, pto_assembly or pto_launch, or leave the PTO feature away.\n";
        code = std::make_unique<CompiledCode>(m);
    }
    for (const auto &[type, path] : outputs) {
        if (is_llvm_output(type)) {
            write_llvm_output(type, path, *code, m);
        } else {
            write_text_output(type, path, m);
        }
    }
}

}  // namespace Internal

using namespace Internal;

void Module::compile(const std::map<OutputFileType, std::string> &output_files) const {
    run_with_large_stack([&] { compile_module(submodules().empty() ? *this : resolve_submodules(), output_files); });
}

Buffer<uint8_t> Module::compile_to_buffer() const {
    std::vector<char> object;
    run_with_large_stack([&] { object = CompiledCode(*this).object(); });
    Buffer<uint8_t> result((int)object.size(), name());
    memcpy(result.data(), object.data(), object.size());
    return result;
}

void compile_standalone_runtime(const std::string &object_filename, const Target &t,
                                const RuntimeNamespaceMap &runtime_prefixes) {
    compile_standalone_runtime({{OutputFileType::object, object_filename}}, t, runtime_prefixes);
}

std::map<OutputFileType, std::string> compile_standalone_runtime(
    const std::map<OutputFileType, std::string> &output_files, const Target &t,
    const RuntimeNamespaceMap &runtime_prefixes) {
    std::map<OutputFileType, std::string> written;
    CompiledCode code("standalone_runtime", t.without_feature(Target::NoRuntime).without_feature(Target::JIT),
                      runtime_prefixes);
    for (const auto &[type, path] : output_files) {
        if (type == OutputFileType::object) {
            write_entire_file(path, code.object());
        } else if (type == OutputFileType::static_library) {
            write_archive(path, {{"standalone_runtime.o", code.object()}}, t);
        } else {
            continue;
        }
        written[type] = path;
    }
    return written;
}

namespace {

void check_multitarget(const std::string &fn_name, const std::map<OutputFileType, std::string> &outputs,
                       const std::vector<Target> &targets, const std::vector<std::string> &suffixes) {
    user_assert(!fn_name.empty()) << "compile_multitarget: the function needs a name.";
    user_assert(!targets.empty()) << "compile_multitarget of " << fn_name << ": there must be at least one target.";
    user_assert(suffixes.empty() || suffixes.size() == targets.size())
        << "compile_multitarget of " << fn_name << ": there are " << suffixes.size() << " suffixes for "
        << targets.size() << " targets.";
    const Target &base = targets.back();
    const bool object = outputs.count(OutputFileType::object), library = outputs.count(OutputFileType::static_library);
    user_assert(targets.size() == 1 || object != library)
        << "compile_multitarget of " << fn_name << ": exactly one of object and static_library must be asked for.";
    constexpr Target::Feature must_match[] = {Target::ASAN,   Target::MSAN,        Target::TSAN,
                                              Target::Debug,  Target::JIT,         Target::SanitizerCoverage,
                                              Target::NoRuntime, Target::UserContext, Target::CPlusPlusMangling};
    for (const Target &t : targets) {
        user_assert(t.arch == base.arch && t.bits == base.bits && t.os == base.os)
            << "All targets must have matching arch-bits-os for compile_multitarget: " << t.to_string() << " and "
            << base.to_string() << " have not.";
        for (Target::Feature f : must_match) {
            user_assert(t.has_feature(f) == base.has_feature(f))
                << "All targets must have feature '" << Target::feature_to_name(f)
                << "' set identically for compile_multitarget: " << t.to_string() << " and " << base.to_string()
                << " have not.";
        }
    }
}

// halide_can_use_target_features(words, {bits}) != 0
Expr can_use(const Target &t) {
    constexpr int bits_per_word = 64;
    std::vector<Expr> words;
    for (int first = 0; first < (int)Target::FeatureEnd; first += bits_per_word) {
        uint64_t word = 0;
        for (int bit = 0; bit < bits_per_word && first + bit < (int)Target::FeatureEnd; bit++) {
            if (t.has_feature((Target::Feature)(first + bit))) {
                word |= (uint64_t)1 << bit;
            }
        }
        words.push_back(make_const(UInt(64), word));
    }
    Expr array = Call::make(type_of<uint64_t *>(), Call::make_struct, words, Call::Intrinsic);
    Expr call = Call::make(Int(32), "halide_can_use_target_features", {Expr((int)words.size()), array}, Call::Extern);
    return call != 0;
}

/// The function that chooses among the compiled ones at its first call.
Module dispatcher(const std::string &fn_name, const Target &t, const LoweredFunc &like,
                  const std::vector<Expr> &choices) {
    Module m(fn_name, t);
    Expr result = Variable::make(Int(32), "result");
    Expr call = Call::make(Int(32), Call::call_cached_indirect_function, choices, Call::Intrinsic);
    Stmt body = LetStmt::make("result", call, AssertStmt::make(result == 0, result));
    m.append(LoweredFunc(fn_name, like.args, body, LinkageType::ExternalPlusMetadata, like.name_mangling));
    return m;
}

}  // namespace

void compile_multitarget(const std::string &fn_name, const std::map<OutputFileType, std::string> &output_files,
                         const std::vector<Target> &targets, const std::vector<std::string> &suffixes,
                         const ModuleFactory &module_factory) {
    check_multitarget(fn_name, output_files, targets, suffixes);
    if (targets.size() == 1) {
        reset_random_counters();
        module_factory(fn_name, targets[0]).compile(output_files);
        return;
    }
    const Target &base = targets.back();
    const auto info = get_output_info(base);
    const bool archive = output_files.count(OutputFileType::static_library);
    std::vector<ArchiveEntry> entries;
    std::vector<Expr> choices;
    MetadataNameMap names;
    RuntimeNamespaceMap prefixes;
    LoweredFunc like;
    for (size_t i = 0; i < targets.size(); i++) {
        const Target t = targets[i].with_feature(Target::NoRuntime);
        const std::string text = replace_all(targets[i].to_string(), "-", "_");
        const std::string suffix = suffixes.empty() ? "-" + targets[i].to_string() : suffixes[i];
        const std::string sub_name = fn_name + "_" + (suffixes.empty() ? text : replace_all(c_print_name(suffix, false), "-", "_"));
        reset_random_counters();
        const Module m = module_factory(sub_name, t);
        like = m.get_function_by_name(sub_name);
        names = m.get_metadata_name_map();
        prefixes = m.get_runtime_prefixes_map();

        std::map<OutputFileType, std::string> outputs;
        for (const auto &[type, path] : output_files) {
            if (info.at(type).is_multi) {
                outputs[type] = with_suffix(path, suffix, info.at(type).extension);
            }
        }
        if (archive) {
            const TemporaryFile object(c_print_name(sub_name, false), ".o");
            outputs[OutputFileType::object] = object.pathname();
            m.compile(outputs);
            entries.push_back({c_print_name(sub_name, false) + ".o", read_entire_file(object.pathname())});
        } else {
            m.compile(outputs);
        }
        choices.push_back(i + 1 == targets.size() ? const_true() : can_use(targets[i]));
        choices.emplace_back(CodeGen_LLVM::symbol_name(like, t));
    }

    Module wrapper = dispatcher(fn_name, base.with_feature(Target::NoRuntime), like, choices);
    for (const auto &[from, to] : names) {
        wrapper.remap_metadata_name(from, to);
    }
    wrapper.set_runtime_prefixes_map(prefixes);
    std::map<OutputFileType, std::string> outputs;
    for (const auto &[type, path] : output_files) {
        if (!info.at(type).is_multi && type != OutputFileType::static_library && type != OutputFileType::c_header) {
            outputs[type] = path;
        }
    }
    if (const auto it = output_files.find(OutputFileType::c_header); it != output_files.end()) {
        // The header is that of the wrapper with the base target's runtime.
        Module declared = dispatcher(fn_name, base, like, choices);
        declared.compile({{OutputFileType::c_header, it->second}});
    }
    Target runtime_target = base;
    for (const Target &t : targets) {
        Target common;
        if (runtime_target.get_runtime_compatible_target(t, common)) {
            runtime_target = common;
        }
    }
    const bool with_runtime = !base.has_feature(Target::NoRuntime);
    if (archive) {
        const TemporaryFile object(c_print_name(fn_name, false) + "_wrapper", ".o");
        outputs[OutputFileType::object] = object.pathname();
        wrapper.compile(outputs);
        entries.push_back({c_print_name(fn_name, false) + "_wrapper.o", read_entire_file(object.pathname())});
        if (with_runtime) {
            const TemporaryFile runtime(c_print_name(fn_name, false) + "_runtime", ".o");
            compile_standalone_runtime(runtime.pathname(), runtime_target, prefixes);
            entries.push_back({c_print_name(fn_name, false) + "_runtime.o", read_entire_file(runtime.pathname())});
        }
        write_archive(output_files.at(OutputFileType::static_library), entries, base);
    } else {
        const std::string &path = output_files.at(OutputFileType::object);
        const std::string extension = info.at(OutputFileType::object).extension;
        outputs[OutputFileType::object] = with_suffix(path, "_wrapper", extension);
        wrapper.compile(outputs);
        if (with_runtime) {
            compile_standalone_runtime(with_suffix(path, "_runtime", extension), runtime_target, prefixes);
        }
    }
}

}  // namespace Halide
