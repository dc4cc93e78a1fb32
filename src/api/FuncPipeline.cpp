#include "api/Func.h"

// Running and compiling a Func: all by the pipeline that has this Func as its only output.

namespace Halide {

using namespace Internal;

Realization Func::realize(std::vector<int32_t> sizes, const Target &target) {
    return pipeline("realize").realize(std::move(sizes), target);
}

Realization Func::realize(JITUserContext *context, std::vector<int32_t> sizes, const Target &target) {
    return pipeline("realize").realize(context, std::move(sizes), target);
}

void Func::realize(Pipeline::RealizationArg outputs, const Target &target) {
    pipeline("realize").realize(std::move(outputs), target);
}

void Func::realize(JITUserContext *context, Pipeline::RealizationArg outputs, const Target &target) {
    pipeline("realize").realize(context, std::move(outputs), target);
}

void Func::infer_input_bounds(const std::vector<int32_t> &sizes, const Target &target) {
    pipeline("infer input bounds of").infer_input_bounds(sizes, target);
}

void Func::infer_input_bounds(Pipeline::RealizationArg outputs, const Target &target) {
    pipeline("infer input bounds of").infer_input_bounds(std::move(outputs), target);
}

void Func::infer_input_bounds(JITUserContext *context, const std::vector<int32_t> &sizes, const Target &target) {
    pipeline("infer input bounds of").infer_input_bounds(context, sizes, target);
}

void Func::infer_input_bounds(JITUserContext *context, Pipeline::RealizationArg outputs, const Target &target) {
    pipeline("infer input bounds of").infer_input_bounds(context, std::move(outputs), target);
}

void Func::compile_to(const std::map<OutputFileType, std::string> &output_files, const std::vector<Argument> &args,
                      const std::string &fn_name, const Target &target) {
    pipeline("compile").compile_to(output_files, args, fn_name, target);
}

void Func::compile_to_bitcode(const std::string &filename, const std::vector<Argument> &args,
                              const std::string &fn_name, const Target &target) {
    pipeline("compile").compile_to_bitcode(filename, args, fn_name, target);
}

void Func::compile_to_bitcode(const std::string &filename, const std::vector<Argument> &args, const Target &target) {
    compile_to_bitcode(filename, args, "", target);
}

void Func::compile_to_llvm_assembly(const std::string &filename, const std::vector<Argument> &args,
                                    const std::string &fn_name, const Target &target) {
    pipeline("compile").compile_to_llvm_assembly(filename, args, fn_name, target);
}

void Func::compile_to_llvm_assembly(const std::string &filename, const std::vector<Argument> &args,
                                    const Target &target) {
    compile_to_llvm_assembly(filename, args, "", target);
}

void Func::compile_to_object(const std::string &filename, const std::vector<Argument> &args, const std::string &fn_name,
                             const Target &target) {
    pipeline("compile").compile_to_object(filename, args, fn_name, target);
}

void Func::compile_to_object(const std::string &filename, const std::vector<Argument> &args, const Target &target) {
    compile_to_object(filename, args, "", target);
}

void Func::compile_to_assembly(const std::string &filename, const std::vector<Argument> &args,
                               const std::string &fn_name, const Target &target) {
    pipeline("compile").compile_to_assembly(filename, args, fn_name, target);
}

void Func::compile_to_assembly(const std::string &filename, const std::vector<Argument> &args, const Target &target) {
    compile_to_assembly(filename, args, "", target);
}

void Func::compile_to_header(const std::string &filename, const std::vector<Argument> &args, const std::string &fn_name,
                             const Target &target) {
    pipeline("compile").compile_to_header(filename, args, fn_name, target);
}

void Func::compile_to_c(const std::string &filename, const std::vector<Argument> &args, const std::string &fn_name,
                        const Target &target) {
    pipeline("compile").compile_to_c(filename, args, fn_name, target);
}

void Func::compile_to_lowered_stmt(const std::string &filename, const std::vector<Argument> &args, StmtOutputFormat fmt,
                                   const Target &target) {
    pipeline("compile").compile_to_lowered_stmt(filename, args, fmt, target);
}

void Func::compile_to_conceptual_stmt(const std::string &filename, const std::vector<Argument> &args,
                                      StmtOutputFormat fmt, const Target &target) {
    pipeline("compile").compile_to_conceptual_stmt(filename, args, fmt, target);
}

void Func::print_loop_nest() {
    pipeline("print the loop nest of").print_loop_nest();
}

void Func::compile_to_file(const std::string &filename_prefix, const std::vector<Argument> &args,
                           const std::string &fn_name, const Target &target) {
    pipeline("compile").compile_to_file(filename_prefix, args, fn_name, target);
}

void Func::compile_to_static_library(const std::string &filename_prefix, const std::vector<Argument> &args,
                                     const std::string &fn_name, const Target &target) {
    pipeline("compile").compile_to_static_library(filename_prefix, args, fn_name, target);
}

void Func::compile_to_pto(const std::string &filename_prefix, const std::vector<Argument> &args,
                          const std::string &fn_name, const Target &target) {
    pipeline("compile").compile_to_pto(filename_prefix, args, fn_name, target);
}

void Func::compile_to_multitarget_static_library(const std::string &filename_prefix, const std::vector<Argument> &args,
                                                 const std::vector<Target> &targets) {
    pipeline("compile").compile_to_multitarget_static_library(filename_prefix, args, targets);
}

void Func::compile_to_multitarget_object_files(const std::string &filename_prefix, const std::vector<Argument> &args,
                                               const std::vector<Target> &targets,
                                               const std::vector<std::string> &suffixes) {
    pipeline("compile").compile_to_multitarget_object_files(filename_prefix, args, targets, suffixes);
}

Module Func::compile_to_module(const std::vector<Argument> &args, const std::string &fn_name, const Target &target) {
    return pipeline("compile").compile_to_module(args, fn_name, target);
}

void Func::compile_jit(const Target &target) {
    pipeline("jit-compile").compile_jit(target);
}

Callable Func::compile_to_callable(const std::vector<Argument> &args, const Target &target) {
    return pipeline("compile").compile_to_callable(args, target);
}

void Func::set_jit_externs(const std::map<std::string, JITExtern> &externs) {
    pipeline("set the externs of").set_jit_externs(externs);
}

const std::map<std::string, JITExtern> &Func::get_jit_externs() {
    return pipeline("get the externs of").get_jit_externs();
}

JITHandlers &Func::jit_handlers() {
    return pipeline("set the handlers of").jit_handlers();
}

void Func::add_custom_lowering_pass(IRMutator *pass, std::function<void()> deleter) {
    pipeline("add a lowering pass to").add_custom_lowering_pass(pass, std::move(deleter));
}

void Func::clear_custom_lowering_passes() {
    pipeline("remove the lowering passes of").clear_custom_lowering_passes();
}

const std::vector<CustomLoweringPass> &Func::custom_lowering_passes() {
    return pipeline("list the lowering passes of").custom_lowering_passes();
}

std::vector<Argument> Func::infer_arguments() const {
    return Pipeline(*this).infer_arguments();
}

}  // namespace Halide
