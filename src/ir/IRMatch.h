#pragma once

#include "ir/Expr.h"

#include <map>
#include <string>
#include <vector>

namespace Halide {
namespace Internal {

// Comparison with holes: an expression matches a pattern if they are equal up to the pattern's wildcards. A wildcard
// matches any expression of its type; a type of 0 bits or 0 lanes stands for any width or number of lanes. On failure
// the result is emptied.

/// Wildcards are the Variables named "*". What they matched is given in the order of the pattern, from left to right.
bool expr_match(const Expr &pattern, const Expr &expr, std::vector<Expr> &result);

/// All Variables are wildcards, and one that occurs several times must match equal things. Entries that `result` holds
/// at the call are taken as matched already.
bool expr_match(const Expr &pattern, const Expr &expr, std::map<std::string, Expr> &result);

}  // namespace Internal
}  // namespace Halide
