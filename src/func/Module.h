#pragma once

#include "func/LoweredFunc.h"
#include "ir/Buffer.h"
#include "ir/Expr.h"
#include "ir/Target.h"
#include "support/IntrusivePtr.h"

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace Halide {

/// The kinds of file that a Module can be compiled to (spec aot.md 1.1).
enum class OutputFileType {
    assembly,
    bitcode,
    c_header,
    c_source,
    conceptual_stmt,
    conceptual_stmt_html,
    cpp_stub,
    device_code,
    featurization,
    function_info_header,
    hlpipe,
    llvm_assembly,
    object,
    python_extension,
    pytorch_wrapper,
    registration,
    schedule,
    static_library,
    stmt,
    stmt_html,
    pto_kernel,
    pto_assembly,
    pto_launch,
};

/// How a runtime symbol is named: those a kernel imports, those a runtime exports, its internal ones.
enum class RuntimeLinkage { Import, Export, Internal };

/// Prefixes that replace `halide_` in names of runtime symbols (spec aot.md 1.4).
struct RuntimePrefixParams {
    std::map<RuntimeLinkage, std::string> prefixes;
};

/// Which autoscheduler to run, and with what parameters.
struct AutoschedulerParams {
    std::string name;
    std::map<std::string, std::string> extra;

    AutoschedulerParams() = default;
    /*not-explicit*/ AutoschedulerParams(const std::string &name) : name(name) {
    }
    AutoschedulerParams(const std::string &name, const std::map<std::string, std::string> &extra)
        : name(name), extra(extra) {
    }
    std::string to_string() const;
};

/// What an autoscheduler returned.
struct AutoSchedulerResults {
    Target target;
    AutoschedulerParams autoscheduler_params;
    /// The schedule as C++ source.
    std::string schedule_source;
    std::vector<uint8_t> featurization;
};

using MetadataNameMap = std::map<std::string, std::string>;
using RuntimeNamespaceMap = std::map<RuntimeLinkage, std::string>;

namespace Internal {

struct ModuleContents;
struct PTOProgram;

/// Name, suffix, and whether there is one such file per target when several targets are compiled.
struct OutputInfo {
    std::string name, extension;
    bool is_multi = false;
};
std::map<OutputFileType, const OutputInfo> get_output_info(const Target &target);

}  // namespace Internal

/// Lowered functions, constant buffers and submodules: what a code generator takes. A shared handle.
class Module {
    Internal::IntrusivePtr<Internal::ModuleContents> contents;

public:
    Module(const std::string &name, const Target &target, const MetadataNameMap &metadata_name_map = {},
           const RuntimeNamespaceMap &runtime_prefixes = {});

    const Target &target() const;
    const std::string &name() const;

    const std::vector<Buffer<>> &buffers() const;
    std::vector<Buffer<>> &buffers();
    const std::vector<Internal::LoweredFunc> &functions() const;
    std::vector<Internal::LoweredFunc> &functions();
    const std::vector<Module> &submodules() const;

    /// @throws CompileError  if no function has this name.
    Internal::LoweredFunc get_function_by_name(const std::string &name) const;

    void append(const Buffer<> &buffer);
    void append(const Internal::LoweredFunc &function);
    void append(const Module &module);

    /// Writes the files asked for.
    void compile(const std::map<OutputFileType, std::string> &output_files) const;

    /// The object code of this module, in memory.
    Buffer<uint8_t> compile_to_buffer() const;

    /// A module in which all submodules were compiled to buffers of object code.
    Module resolve_submodules() const;

    /// Metadata shall call argument `from` by the name `to`.
    void remap_metadata_name(const std::string &from, const std::string &to) const;
    MetadataNameMap get_metadata_name_map() const;

    RuntimeNamespaceMap get_runtime_prefixes_map() const;
    void set_runtime_prefixes_map(const RuntimeNamespaceMap &prefixes);

    void set_auto_scheduler_results(const AutoSchedulerResults &results);
    const AutoSchedulerResults *get_auto_scheduler_results() const;

    /// Some float operation in this module must be done strictly.
    bool any_strict_float() const;
    void set_any_strict_float(bool any_strict_float);

    /// The statement before the last, target specific lowering: what users read.
    void set_conceptual_code_stmt(const Internal::Stmt &stmt);
    const Internal::Stmt &get_conceptual_stmt() const;

    /// The kernels for a PTO device, if the target has one; null otherwise.
    void set_pto_program(std::shared_ptr<const Internal::PTOProgram> program);
    const Internal::PTOProgram *get_pto_program() const;

    /// Code for devices that travels in this module, if any (a buffer without data otherwise).
    Buffer<> get_cuda_ptx_assembly_buffer() const;
    Buffer<> get_device_code_buffer() const;
};

/// One module with all functions, buffers and submodules of `modules`, whose targets must agree.
Module link_modules(const std::string &name, const std::vector<Module> &modules);

/// Writes the runtime for `target` as an object file.
void compile_standalone_runtime(const std::string &object_filename, const Target &t,
                                const RuntimeNamespaceMap &runtime_prefixes = {});

/// The same as object or static library; other kinds are ignored.
/// @returns  what was written.
std::map<OutputFileType, std::string> compile_standalone_runtime(
    const std::map<OutputFileType, std::string> &output_files, const Target &t,
    const RuntimeNamespaceMap &runtime_prefixes = {});

using ModuleFactory = std::function<Module(const std::string &fn_name, const Target &target)>;

/// Compiles one pipeline for several targets with a dispatcher (spec aot.md 1.3).
void compile_multitarget(const std::string &fn_name, const std::map<OutputFileType, std::string> &output_files,
                         const std::vector<Target> &targets, const std::vector<std::string> &suffixes,
                         const ModuleFactory &module_factory);

}  // namespace Halide
