#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "func/PTOKernel.h"
#include "func/VMIProgram.h"
#include "ir/Argument.h"
#include "ir/Expr.h"
#include "ir/IR.h"

namespace Halide {
namespace Internal {

/// How the host finds the value of a kernel's parameter of the same index.
struct PTOArgumentValue {
    bool read = false, written = false;  ///< Only for pointers.
    std::string buffer;      ///< Pointers: the user's buffer or the temporary they point into, at its first element.
    Expr value;              ///< Scalars: in terms of user scalars and of fields of buffers (`f.min.0`, `f.extent.0` …).
};

/// A buffer in the unified buffer.
struct PTOLocalBuffer {
    std::string name;
    Type type;
    int64_t address = 0;     ///< In bytes, a multiple of 256.
    int64_t bytes = 0;       ///< Of all copies together.
    int copies = 1;
};

/// One launch of a kernel.
struct PTOLaunch {
    PTOKernel kernel;
    VMIKernel code;
    std::vector<PTOArgumentValue> values;
    Expr blocks;             ///< How many to launch, in terms of the host's scalars. Any other number is right as well.
    std::vector<PTOLocalBuffer> local;
    int64_t local_bytes = 0;
};

/// Memory that the host allocates in global memory before the first kernel.
struct PTOTemporary {
    std::string name;
    Type type;
    Expr elements;
};

/// A condition that the host checks before the first kernel.
struct PTOCheck {
    Expr condition;
    std::string message;
};

/// What a pipeline is for a PTO device: kernels that are launched one after another. The rows of lower/pto/ fill it.
struct PTOProgram {
    std::string name;
    std::vector<Argument> args;
    std::vector<PTOCheck> checks;
    std::vector<PTOTemporary> temporaries;
    std::vector<PTOLaunch> launches;
    /// Lanes that the schedule asks for, by the name of the vectorized loop (`f.s0.x`).
    std::map<std::string, int> lanes;
    /// Buffers in UB that pto-stage made: behind their rows there is nothing.
    std::set<std::string> tiles;
    /// Where the buffers of each kernel lie in UB, by the name of the kernel.
    std::map<std::string, std::vector<PTOLocalBuffer>> local;
};

}  // namespace Internal
}  // namespace Halide
