#pragma once

#include <string>

#include "api/Func.h"
#include "api/RDom.h"
#include "api/Tuple.h"

namespace Halide {

/// Reductions inside an expression. The domain is the given one, or the only one that occurs in the expression; with
/// a domain given, variables of other domains are free. The result has the type of the expression: a sum of uint8
/// wraps. Pass an undefined Func to schedule the reduction.
///
/// @throws CompileError  there is no reduction variable, or several domains and none given, or the Func is defined.
// @{
Expr sum(Expr, const std::string &s = "sum");
Expr saturating_sum(Expr, const std::string &s = "saturating_sum");
Expr product(Expr, const std::string &s = "product");
Expr maximum(Expr, const std::string &s = "maximum");
Expr minimum(Expr, const std::string &s = "minimum");

Expr sum(const RDom &, Expr, const std::string &s = "sum");
Expr saturating_sum(const RDom &, Expr, const std::string &s = "saturating_sum");
Expr product(const RDom &, Expr, const std::string &s = "product");
Expr maximum(const RDom &, Expr, const std::string &s = "maximum");
Expr minimum(const RDom &, Expr, const std::string &s = "minimum");

Expr sum(Expr, const Func &);
Expr saturating_sum(Expr, const Func &);
Expr product(Expr, const Func &);
Expr maximum(Expr, const Func &);
Expr minimum(Expr, const Func &);

Expr sum(const RDom &, Expr, const Func &);
Expr saturating_sum(const RDom &, Expr, const Func &);
Expr product(const RDom &, Expr, const Func &);
Expr maximum(const RDom &, Expr, const Func &);
Expr minimum(const RDom &, Expr, const Func &);
// @}

/// The coordinates of the first greatest or least value in the order of the domain, followed by the value.
// @{
Tuple argmax(Expr, const std::string &s = "argmax");
Tuple argmin(Expr, const std::string &s = "argmin");
Tuple argmax(const RDom &, Expr, const std::string &s = "argmax");
Tuple argmin(const RDom &, Expr, const std::string &s = "argmin");
Tuple argmax(Expr, const Func &);
Tuple argmin(Expr, const Func &);
Tuple argmax(const RDom &, Expr, const Func &);
Tuple argmin(const RDom &, Expr, const Func &);
// @}

}  // namespace Halide
