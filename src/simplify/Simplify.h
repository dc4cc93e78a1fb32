#pragma once

#include "ir/Expr.h"
#include "ir/Interval.h"
#include "ir/ModulusRemainder.h"
#include "ir/Scope.h"

#include <vector>

namespace Halide {
namespace Internal {

/// Rewrites to an equal, simpler form. Linear in the size of the argument; idempotent in practice.
///
/// @param bounds       known bounds of variables (ends may be symbolic).
/// @param alignment    known congruences of variables.
/// @param assumptions  boolean expressions that may be taken as true.
/// Keeps: values bit for bit, except that Int(32) and Int(64) are assumed not to overflow, and float rules that hold
/// for every float; order of effects; `likely` marks that still decide something.
/// A constant that does not fit Int(32) or Int(64) becomes the intrinsic signed_integer_overflow, which lowering reports.
Expr simplify(const Expr &e, const Scope<Interval> &bounds = Scope<Interval>::empty_scope(),
              const Scope<ModulusRemainder> &alignment = Scope<ModulusRemainder>::empty_scope(),
              const std::vector<Expr> &assumptions = {});
Stmt simplify(const Stmt &s, const Scope<Interval> &bounds = Scope<Interval>::empty_scope(),
              const Scope<ModulusRemainder> &alignment = Scope<ModulusRemainder>::empty_scope(),
              const std::vector<Expr> &assumptions = {});

/// Whether a boolean is true for all values of its variables within bounds. False also means "could not tell".
/// Tries harder than `simplify` (case splits over min, max and select; bounds of differences).
bool can_prove(Expr e, const Scope<Interval> &bounds = Scope<Interval>::empty_scope());

/// Simplifies every expression inside a statement, but leaves the statements as they are.
Stmt simplify_exprs(const Stmt &s);

}  // namespace Internal
}  // namespace Halide
