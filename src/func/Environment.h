#pragma once

#include "func/Function.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace Halide {
namespace Internal {

/// The functions that `f` calls itself, in definitions, schedules and extern arguments, by name. `f` itself is
/// among them only if it is recursive.
std::map<std::string, Function> find_direct_calls(const Function &f);

/// The functions that `f` calls, directly or not, and `f` itself.
std::map<std::string, Function> find_transitive_calls(const Function &f);

/// All functions that computing `funcs` involves, by name.
/// @throws CompileError  two different functions have one name.
std::map<std::string, Function> build_environment(const std::vector<Function> &funcs);

/// An order in which every function comes after those that it calls, and in which functions merged by
/// compute_with are neighbours.
///
/// @returns the order, and the same as groups of merged functions. The `fused_pairs` of all stages are set anew.
/// @throws CompileError  a compute_with is illegal (spec language.md 5.7).
std::pair<std::vector<std::string>, std::vector<std::vector<std::string>>> realization_order(
    const std::vector<Function> &outputs, std::map<std::string, Function> &env);

/// An order in which every function comes after those that it calls. Ignores compute_with.
std::vector<std::string> topological_order(const std::vector<Function> &outputs,
                                           const std::map<std::string, Function> &env);

/// Copies of all functions, which refer to each other as the originals do. Parameters and buffers are shared.
std::pair<std::vector<Function>, std::map<std::string, Function>> deep_copy(
    const std::vector<Function> &outputs, const std::map<std::string, Function> &env);

}  // namespace Internal
}  // namespace Halide
