#pragma once

#include "func/Function.h"
#include "ir/Expr.h"
#include "ir/Target.h"

#include <map>
#include <string>
#include <vector>

namespace Halide {
namespace Internal {

/// Checks what a schedule says about a Func as such, wherever it is used (spec language.md 5.2 to 5.5), and warns of
/// updates that were forgotten.
/// @throws CompileError  naming the Func, the dimension and the stage.
void check_schedule(const Function &f, bool is_output, const Target &target);

/// Checks that Func `f` is computed and stored where all its users can see it.
/// @param s  the loop nests of all users.
/// @throws CompileError  with a list of the places that are legal.
void check_levels(const Function &f, const Stmt &s);

/// Does `s` call Func `f`, or pass its buffer to an extern stage?
bool uses_func(const Stmt &s, const Function &f);
bool uses_func(const Expr &e, const Function &f);

}  // namespace Internal
}  // namespace Halide
