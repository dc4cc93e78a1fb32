#pragma once

#include "func/PTOKernel.h"
#include "ir/Buffer.h"
#include "runtime/HalideBuffer.h"

#include <string>
#include <vector>

namespace bromide {

/// One kernel written as IR text, with its data. The text names its arguments; UB buffers are its allocations.
struct KernelCase {
    struct Arg {
        std::string name;
        Halide::Type type;
        int elements = 0;       ///< 0: a scalar
        bool output = false;
        double value = 0;       ///< of a scalar
        std::string fill = "";  ///< "": numbers of both signs; "index": 0, 1, 2 … below `limit`; "bits": all bit patterns
        int limit = 0;
    };
    std::string name;
    std::vector<Arg> args;
    std::string text;
    int lanes = 0;        ///< what the schedule asks for; 0: nothing
    int ulp = 0;          ///< difference allowed in outputs of floats
    double relative = 0;  ///< of the largest magnitude; for sums in another order
};

std::vector<KernelCase> kernel_cases();

/// The statement of a case, with the moves of its buffers.
Halide::Internal::Stmt kernel_statement(const KernelCase &c);

/// The kernel of a case, through lane layout and the rest, with UB addresses and blunt synchronization.
Halide::Internal::PTOKernel prepare_kernel(const KernelCase &c);

}  // namespace bromide
