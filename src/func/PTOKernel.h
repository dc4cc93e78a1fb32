#pragma once

#include "ir/IR.h"
#include "ir/Type.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace Halide {
namespace Internal {

/// One parameter of a PTO kernel: a pointer to elements of `type` in global memory, or a scalar.
struct PTOKernelArg {
    std::string name;
    Type type;
    bool is_buffer = false;
};

/// A kernel of the PTO back end while it is still a statement: what the memory passes hand to the vector passes.
///
/// `body` is the kernel statement: serial loops, branches on scalars, lets and allocations (MemoryType::UB or Register)
/// around vectorized loops, DMA calls and flags. Names of allocations are unique. Scalar loads and stores may reach
/// global memory and the unified buffer; what stands inside a vectorized loop reaches the unified buffer only.
struct PTOKernel {
    std::string name;
    std::vector<PTOKernelArg> args;
    Stmt body;
    /// Byte address of each UB allocation, by name.
    std::map<std::string, int64_t> ub_address;
};

}  // namespace Internal
}  // namespace Halide
