#pragma once

// Two ways to run a pipeline, and the comparison of their results.

#include <string>
#include <vector>

#include "ProgramGenerator.h"

namespace fuzz {

/// The output's elements, one buffer per tuple element.
using Result = std::vector<Halide::Buffer<>>;

/// Lowers and interprets.
Result interpret(const Built &built, int width, int height);

/// Compiles by JIT and runs.
Result compile_and_run(const Built &built, int width, int height);

/// The first element that differs, in words; empty if there is none.
std::string difference(const Result &expected, const Result &got);

}  // namespace fuzz
