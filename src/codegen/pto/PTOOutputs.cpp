#include "codegen/pto/PTOOutputs.h"

#include "codegen/pto/CodeGen_PTO.h"
#include "func/PTOProgram.h"
#include "support/Error.h"
#include "support/Util.h"

namespace Halide {
namespace Internal {

namespace {

std::string file_part(const std::string &path) {
    const size_t slash = path.find_last_of('/');
    return slash == std::string::npos ? path : path.substr(slash + 1);
}

/// out/f.launch.json → f.pto.py: both come from one prefix.
std::string kernel_file_beside(const std::string &launch_path) {
    const std::string name = file_part(launch_path), suffix = ".launch.json";
    return (ends_with(name, suffix) ? name.substr(0, name.size() - suffix.size()) : name) + ".pto.py";
}

}  // namespace

void write_pto_output(OutputFileType type, const std::string &path, const Module &m) {
    const PTOProgram *program = m.get_pto_program();
    user_assert(program) << "The output " << get_output_info(m.target()).at(type).name << " of " << m.name()
                         << " is for PTO devices, but the target " << m.target().to_string()
                         << " has none.\n  Add the feature pto_a5 to the target, or use compile_to_pto.\n";
    std::vector<VMIKernel> kernels;
    for (const PTOLaunch &launch : program->launches) {
        kernels.push_back(launch.code);
    }
    PTOTextOptions options;
    options.unroll_keywords = m.target().has_feature(Target::PTOUnrollPTODSL);
    std::string text;
    switch (type) {
    case OutputFileType::pto_launch:
        text = pto_launch_plan(*program, kernel_file_beside(path));
        break;
    case OutputFileType::pto_kernel:
        text = emit_ptodsl(kernels, options);
        break;
    case OutputFileType::pto_assembly:
        text = emit_pto_assembly(kernels, options);
        break;
    default:
        user_error << "The output " << get_output_info(m.target()).at(type).name << " of " << m.name()
                   << " cannot be made: this library has no back end for it.";
    }
    write_entire_file(path, text.data(), text.size());
}

}  // namespace Internal
}  // namespace Halide
