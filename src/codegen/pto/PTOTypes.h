#pragma once

#include "func/VMIProgram.h"

#include <map>
#include <string>

namespace Halide {
namespace Internal {

/// How the PTO texts write names, numbers and types.

/// The dtype of a kernel parameter in PTODSL, without `pto.`: buffers by their elements, Int(32) as the signless i32.
std::string pto_dtype(const PTOKernelArg &arg);

/// Python's exact form of a float: `float.fromhex("0x1.8p+0")`, `float("inf")`.
std::string pto_float(double value);

/// A name without the numbers that made it unique in the process (`in_im$607` is `in_im`): what was compiled before must not show
/// in a kernel.
std::string pto_plain_name(const std::string &name);

/// Turns names of the IR into distinct Python identifiers, always the same for the same program.
class PTONames {
public:
    PTONames();
    /// The identifier of a name; made when first asked for.
    std::string of(const std::string &name);
    /// A new identifier like this one.
    std::string fresh(const std::string &hint);

private:
    std::map<std::string, std::string> known;
    std::map<std::string, int> taken;
};

}  // namespace Internal
}  // namespace Halide
