#pragma once

#include <string>

#include "func/Module.h"

namespace Halide {
namespace Internal {

/// Writes one of the files about a module's kernels: PTODSL text, `.pto` text, or the launch plan.
///
/// @throws CompileError  the module was not compiled for a PTO device.
void write_pto_output(OutputFileType type, const std::string &path, const Module &m);

/// The launch plan as JSON text: what to allocate, which kernels to start in which order and with what arguments.
/// @param kernel_file  the name of the file that holds the kernels.
std::string pto_launch_plan(const PTOProgram &program, const std::string &kernel_file);

}  // namespace Internal
}  // namespace Halide
