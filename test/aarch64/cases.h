#pragma once

// Pipelines that run on AArch64, and what they compute.

#include <functional>
#include <string>
#include <vector>

#include "api/Func.h"

namespace cross {

struct Case {
    /// A C identifier.
    std::string name;
    /// The pipeline, with its schedule for the target or with none.
    std::function<Halide::Func(bool scheduled)> make;
    /// Region of the output that is computed.
    std::vector<int> extents;
    /// How many floats the result may be off: more than 0 only for what libm computes.
    int ulps = 0;
    /// Features that the case is about, as in a target string: the case is compiled with them as well.
    std::string features = {};
};

/// Arithmetic on vectors of all types.
std::vector<Case> arithmetic_cases();

/// Loads, stores, reductions, parallel loops and tasks.
std::vector<Case> memory_cases();

/// The values of an input of this name and size: the same in every process.
Halide::Buffer<> input_values(const Halide::Type &type, const std::vector<int> &extents, const std::string &name);

}  // namespace cross
