// Compilation of pipelines ahead of time.

#include "api/Pipeline.h"

#include <algorithm>
#include <iostream>

#include "api/Func.h"
#include "api/PipelineContents.h"
#include "api/PrintLoopNest.h"
#include "lower/Pipeline.h"

namespace Halide {

using namespace Internal;

std::string Pipeline::default_function_name() const {
    return function_name_for(contents->outputs[0].name());
}

Module Pipeline::compile_to_module(const std::vector<Argument> &args, const std::string &fn_name, const Target &target,
                                   LinkageType linkage_type) {
    check_defined("compile");
    contents->check_outputs();
    for (Function &f : contents->outputs) {
        f.freeze();
    }
    for (const Argument &a : args) {
        user_assert(!a.is_output()) << "The argument list of a pipeline contains its inputs only, but " << a.name
                                    << " is an output buffer; outputs come after the inputs by themselves.\n";
    }
    std::vector<Argument> all = args;
    const bool has_context =
        std::any_of(all.begin(), all.end(), [](const Argument &a) { return a.name == "__user_context"; });
    if (target.has_feature(Target::UserContext) && !has_context) {
        all.insert(all.begin(), user_context_argument());
    }
    Module module = lower(contents->outputs, fn_name.empty() ? default_function_name() : fn_name, target, all,
                          linkage_type, contents->requirements, contents->trace_pipeline, contents->passes());
    if (!contents->runtime_prefixes.empty()) {
        module.set_runtime_prefixes_map(contents->runtime_prefixes);
    }
    return module;
}

void Pipeline::compile_to(const std::map<OutputFileType, std::string> &output_files, const std::vector<Argument> &args,
                          const std::string &fn_name, const Target &target) {
    compile_to_module(args, fn_name, target).compile(output_files);
}

void Pipeline::compile_to_bitcode(const std::string &filename, const std::vector<Argument> &args,
                                  const std::string &fn_name, const Target &target) {
    compile_to({{OutputFileType::bitcode, filename}}, args, fn_name, target);
}

void Pipeline::compile_to_llvm_assembly(const std::string &filename, const std::vector<Argument> &args,
                                        const std::string &fn_name, const Target &target) {
    compile_to({{OutputFileType::llvm_assembly, filename}}, args, fn_name, target);
}

void Pipeline::compile_to_object(const std::string &filename, const std::vector<Argument> &args,
                                 const std::string &fn_name, const Target &target) {
    compile_to({{OutputFileType::object, filename}}, args, fn_name, target);
}

void Pipeline::compile_to_header(const std::string &filename, const std::vector<Argument> &args,
                                 const std::string &fn_name, const Target &target) {
    compile_to({{OutputFileType::c_header, filename}}, args, fn_name, target);
}

void Pipeline::compile_to_assembly(const std::string &filename, const std::vector<Argument> &args,
                                   const std::string &fn_name, const Target &target) {
    compile_to({{OutputFileType::assembly, filename}}, args, fn_name, target);
}

void Pipeline::compile_to_c(const std::string &filename, const std::vector<Argument> &args, const std::string &fn_name,
                            const Target &target) {
    compile_to({{OutputFileType::c_source, filename}}, args, fn_name, target);
}

void Pipeline::compile_to_lowered_stmt(const std::string &filename, const std::vector<Argument> &args,
                                       StmtOutputFormat fmt, const Target &target) {
    compile_to({{fmt == HTML ? OutputFileType::stmt_html : OutputFileType::stmt, filename}}, args, "", target);
}

void Pipeline::compile_to_conceptual_stmt(const std::string &filename, const std::vector<Argument> &args,
                                          StmtOutputFormat fmt, const Target &target) {
    compile_to({{fmt == HTML ? OutputFileType::conceptual_stmt_html : OutputFileType::conceptual_stmt, filename}}, args,
               "", target);
}

void Pipeline::print_loop_nest() {
    check_defined("print the loop nest of");
    contents->check_outputs();
    std::cerr << loop_nest_text(contents->outputs);
}

void Pipeline::compile_to_file(const std::string &filename_prefix, const std::vector<Argument> &args,
                               const std::string &fn_name, const Target &target) {
    const auto info = get_output_info(target);
    compile_to({{OutputFileType::c_header, filename_prefix + info.at(OutputFileType::c_header).extension},
                {OutputFileType::object, filename_prefix + info.at(OutputFileType::object).extension}},
               args, fn_name, target);
}

void Pipeline::compile_to_static_library(const std::string &filename_prefix, const std::vector<Argument> &args,
                                         const std::string &fn_name, const Target &target) {
    const auto info = get_output_info(target);
    compile_to({{OutputFileType::c_header, filename_prefix + info.at(OutputFileType::c_header).extension},
                {OutputFileType::static_library, filename_prefix + info.at(OutputFileType::static_library).extension}},
               args, fn_name, target);
}

void Pipeline::compile_to_pto(const std::string &filename_prefix, const std::vector<Argument> &args,
                              const std::string &fn_name, const Target &target) {
    const Target t = target.has_feature(Target::PTO) || target.has_feature(Target::PTO_A5) ?
                         target :
                         target.with_feature(Target::PTO_A5);
    const auto info = get_output_info(t);
    compile_to({{OutputFileType::pto_kernel, filename_prefix + info.at(OutputFileType::pto_kernel).extension},
                {OutputFileType::pto_launch, filename_prefix + info.at(OutputFileType::pto_launch).extension}},
               args, fn_name, t);
}

void Pipeline::compile_to_multitarget_static_library(const std::string &filename_prefix,
                                                     const std::vector<Argument> &args,
                                                     const std::vector<Target> &targets) {
    check_defined("compile");
    user_assert(!targets.empty()) << "compile_to_multitarget_static_library: no targets are given.\n";
    const auto info = get_output_info(targets.back());
    compile_multitarget(
        default_function_name(),
        {{OutputFileType::c_header, filename_prefix + info.at(OutputFileType::c_header).extension},
         {OutputFileType::static_library, filename_prefix + info.at(OutputFileType::static_library).extension}},
        targets, {},
        [&](const std::string &name, const Target &target) { return compile_to_module(args, name, target); });
}

void Pipeline::compile_to_multitarget_object_files(const std::string &filename_prefix,
                                                   const std::vector<Argument> &args,
                                                   const std::vector<Target> &targets,
                                                   const std::vector<std::string> &suffixes) {
    check_defined("compile");
    user_assert(!targets.empty()) << "compile_to_multitarget_object_files: no targets are given.\n";
    const auto info = get_output_info(targets.back());
    compile_multitarget(default_function_name(),
                        {{OutputFileType::c_header, filename_prefix + info.at(OutputFileType::c_header).extension},
                         {OutputFileType::object, filename_prefix + info.at(OutputFileType::object).extension}},
                        targets, suffixes, [&](const std::string &name, const Target &target) {
                            return compile_to_module(args, name, target);
                        });
}

}  // namespace Halide
