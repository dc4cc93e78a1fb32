#pragma once

#include "func/VMIProgram.h"

#include <string>
#include <vector>

namespace Halide {
namespace Internal {

/// Options of the text that depend on the version of the toolchain.
struct PTOTextOptions {
    /// Write unroll hints as keywords of pto.for_ (target feature pto_unroll_ptodsl).
    bool unroll_keywords = false;
};

/// A PTODSL file with these kernels (spec pto-vmi.md 23): the same program always gives the same text.
std::string emit_ptodsl(const std::vector<VMIKernel> &kernels, const PTOTextOptions &options = PTOTextOptions());

/// The same as a `.pto` module (spec pto-vmi.md 21).
std::string emit_pto_assembly(const std::vector<VMIKernel> &kernels, const PTOTextOptions &options = PTOTextOptions());

}  // namespace Internal
}  // namespace Halide
