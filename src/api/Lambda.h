#pragma once

#include "api/Func.h"
#include "api/Var.h"

namespace Halide {

/// A Func without a name of its own: the expression as a function of its implicit Vars, or of those listed.
// @{
Func lambda(const Expr &e);
Func lambda(const Var &x, const Expr &e);
Func lambda(const Var &x, const Var &y, const Expr &e);
Func lambda(const Var &x, const Var &y, const Var &z, const Expr &e);
Func lambda(const Var &x, const Var &y, const Var &z, const Var &w, const Expr &e);
Func lambda(const Var &x, const Var &y, const Var &z, const Var &w, const Var &v, const Expr &e);
// @}

}  // namespace Halide
