#include "func/Module.h"

#include "support/Error.h"
#include "support/Util.h"

#include <memory>
#include <set>

namespace Halide {
namespace Internal {

struct ModuleContents {
    mutable RefCount ref_count;
    std::string name;
    Target target;
    std::vector<Buffer<>> buffers;
    std::vector<LoweredFunc> functions;
    std::vector<Module> submodules;
    MetadataNameMap metadata_name_map;
    RuntimeNamespaceMap runtime_prefixes;
    bool any_strict_float = false;
    Stmt conceptual_stmt;
    std::unique_ptr<AutoSchedulerResults> auto_scheduler_results;
    std::shared_ptr<const PTOProgram> pto_program;
};

template<>
RefCount &ref_count<ModuleContents>(const ModuleContents *p) noexcept {
    return p->ref_count;
}

template<>
void destroy<ModuleContents>(const ModuleContents *p) {
    delete p;
}

std::map<OutputFileType, const OutputInfo> get_output_info(const Target &target) {
    const bool windows = target.os == Target::Windows;
    return {
        {OutputFileType::assembly, {"assembly", ".s", true}},
        {OutputFileType::bitcode, {"bitcode", ".bc", true}},
        {OutputFileType::c_header, {"c_header", ".h", false}},
        {OutputFileType::c_source, {"c_source", ".halide_generated.cpp", false}},
        {OutputFileType::conceptual_stmt, {"conceptual_stmt", ".conceptual.stmt", true}},
        {OutputFileType::conceptual_stmt_html, {"conceptual_stmt_html", ".conceptual.stmt.html", true}},
        {OutputFileType::cpp_stub, {"cpp_stub", ".stub.h", false}},
        {OutputFileType::device_code, {"device_code", ".device_code", true}},
        {OutputFileType::featurization, {"featurization", ".featurization", true}},
        {OutputFileType::function_info_header, {"function_info_header", ".function_info.h", false}},
        {OutputFileType::hlpipe, {"hlpipe", ".hlpipe", false}},
        {OutputFileType::llvm_assembly, {"llvm_assembly", ".ll", true}},
        {OutputFileType::object, {"object", windows ? ".obj" : ".o", true}},
        {OutputFileType::python_extension, {"python_extension", ".py.cpp", false}},
        {OutputFileType::pytorch_wrapper, {"pytorch_wrapper", ".pytorch.h", false}},
        {OutputFileType::registration, {"registration", ".registration.cpp", false}},
        {OutputFileType::schedule, {"schedule", ".schedule.h", false}},
        {OutputFileType::static_library, {"static_library", windows ? ".lib" : ".a", false}},
        {OutputFileType::stmt, {"stmt", ".stmt", true}},
        {OutputFileType::stmt_html, {"stmt_html", ".stmt.html", true}},
        {OutputFileType::pto_kernel, {"pto_kernel", ".pto.py", false}},
        {OutputFileType::pto_assembly, {"pto_assembly", ".pto", false}},
        {OutputFileType::pto_launch, {"pto_launch", ".launch.json", false}},
    };
}

}  // namespace Internal

using namespace Internal;

std::string AutoschedulerParams::to_string() const {
    std::string result = name;
    for (const auto &[key, value] : extra) {
        result += " autoscheduler." + key + "=" + value;
    }
    return result;
}

Module::Module(const std::string &name, const Target &target, const MetadataNameMap &metadata_name_map,
               const RuntimeNamespaceMap &runtime_prefixes)
    : contents(new ModuleContents) {
    contents->name = name;
    contents->target = target;
    contents->metadata_name_map = metadata_name_map;
    contents->runtime_prefixes = runtime_prefixes;
}

const Target &Module::target() const {
    return contents->target;
}
const std::string &Module::name() const {
    return contents->name;
}
const std::vector<Buffer<>> &Module::buffers() const {
    return contents->buffers;
}
std::vector<Buffer<>> &Module::buffers() {
    return contents->buffers;
}
const std::vector<LoweredFunc> &Module::functions() const {
    return contents->functions;
}
std::vector<LoweredFunc> &Module::functions() {
    return contents->functions;
}
const std::vector<Module> &Module::submodules() const {
    return contents->submodules;
}

LoweredFunc Module::get_function_by_name(const std::string &name) const {
    for (const LoweredFunc &f : functions()) {
        if (f.name == name) {
            return f;
        }
    }
    user_error << "get_function_by_name: function \"" << name << "\" not found in module " << this->name() << ".\n";
}

void Module::append(const Buffer<> &buffer) {
    contents->buffers.push_back(buffer);
}

void Module::append(const LoweredFunc &function) {
    contents->functions.push_back(function);
}

void Module::append(const Module &module) {
    contents->submodules.push_back(module);
}

void Module::remap_metadata_name(const std::string &from, const std::string &to) const {
    user_assert(!from.empty() && !to.empty()) << "remap_metadata_name: names may not be empty.\n";
    user_assert(contents->metadata_name_map.count(from) == 0)
        << "remap_metadata_name: \"" << from << "\" already has another name.\n";
    if (from != to) {
        contents->metadata_name_map[from] = to;
    }
}

MetadataNameMap Module::get_metadata_name_map() const {
    return contents->metadata_name_map;
}

RuntimeNamespaceMap Module::get_runtime_prefixes_map() const {
    return contents->runtime_prefixes;
}

void Module::set_runtime_prefixes_map(const RuntimeNamespaceMap &prefixes) {
    contents->runtime_prefixes = prefixes;
}

void Module::set_auto_scheduler_results(const AutoSchedulerResults &results) {
    internal_assert(!contents->auto_scheduler_results) << "autoscheduler results were set before";
    contents->auto_scheduler_results = std::make_unique<AutoSchedulerResults>(results);
}

const AutoSchedulerResults *Module::get_auto_scheduler_results() const {
    return contents->auto_scheduler_results.get();
}

bool Module::any_strict_float() const {
    return contents->any_strict_float;
}

void Module::set_any_strict_float(bool any_strict_float) {
    contents->any_strict_float = any_strict_float;
}

void Module::set_conceptual_code_stmt(const Stmt &stmt) {
    contents->conceptual_stmt = stmt;
}

const Stmt &Module::get_conceptual_stmt() const {
    return contents->conceptual_stmt;
}

void Module::set_pto_program(std::shared_ptr<const PTOProgram> program) {
    contents->pto_program = std::move(program);
}

const PTOProgram *Module::get_pto_program() const {
    return contents->pto_program.get();
}

namespace {

Buffer<> find_buffer_ending_in(const std::vector<Buffer<>> &buffers, const std::string &suffix) {
    for (const Buffer<> &b : buffers) {
        if (ends_with(b.name(), suffix)) {
            return b;
        }
    }
    return Buffer<>();
}

}  // namespace

Buffer<> Module::get_cuda_ptx_assembly_buffer() const {
    return find_buffer_ending_in(buffers(), "cuda_gpu_source_kernels");
}

Buffer<> Module::get_device_code_buffer() const {
    return find_buffer_ending_in(buffers(), "gpu_source_kernels");
}

Module Module::resolve_submodules() const {
    if (submodules().empty()) {
        return *this;
    }
    Module result(name(), target(), contents->metadata_name_map, contents->runtime_prefixes);
    for (const LoweredFunc &f : functions()) {
        result.append(f);
    }
    for (const Buffer<> &b : buffers()) {
        result.append(b);
    }
    for (const Module &m : submodules()) {
        const Buffer<uint8_t> object = m.resolve_submodules().compile_to_buffer();
        result.append(Buffer<>(object));
    }
    result.set_any_strict_float(any_strict_float());
    result.set_conceptual_code_stmt(get_conceptual_stmt());
    result.set_pto_program(contents->pto_program);
    return result;
}

Module link_modules(const std::string &name, const std::vector<Module> &modules) {
    user_assert(!modules.empty()) << "link_modules: no modules.\n";
    Module output(name, modules[0].target(), modules[0].get_metadata_name_map(), modules[0].get_runtime_prefixes_map());
    std::set<std::string> function_names;
    for (const Module &m : modules) {
        user_assert(m.target() == output.target())
            << "link_modules: module \"" << m.name() << "\" is for target " << m.target().to_string()
            << ", but module \"" << modules[0].name() << "\" is for target " << output.target().to_string() << ".\n";
        for (const Buffer<> &b : m.buffers()) {
            output.append(b);
        }
        for (const LoweredFunc &f : m.functions()) {
            user_assert(f.linkage == LinkageType::Internal || function_names.insert(f.name).second)
                << "link_modules: function \"" << f.name << "\" is defined in more than one module.\n";
            output.append(f);
        }
        for (const Module &s : m.submodules()) {
            output.append(s);
        }
        if (m.any_strict_float()) {
            output.set_any_strict_float(true);
        }
    }
    return output;
}

}  // namespace Halide
