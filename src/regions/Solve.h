#pragma once

#include <string>

#include "ir/Expr.h"
#include "ir/Interval.h"
#include "ir/Scope.h"

namespace Halide {
namespace Internal {

struct SolverResult {
    Expr result;
    bool fully_solved = false;
};

/// Brings `variable` to the left: a comparison becomes `variable op rest`, a sum `variable*a + rest`.
///
/// @param scope  values of let variables that may hide `variable`.
/// @returns an equivalent expression; `fully_solved` if the variable occurs at most once, leftmost.
SolverResult solve_expression(const Expr &e, const std::string &variable,
                              const Scope<Expr> &scope = Scope<Expr>::empty_scope());

/// An interval of `variable` inside which the condition certainly holds; empty if none was found.
/// The ends may use the other variables of the condition. Inclusive.
Interval solve_for_inner_interval(const Expr &c, const std::string &variable);

/// An interval of `variable` outside of which the condition certainly does not hold; everything if none was found.
Interval solve_for_outer_interval(const Expr &c, const std::string &variable);

}  // namespace Internal
}  // namespace Halide
