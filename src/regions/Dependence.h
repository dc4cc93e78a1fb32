#pragma once

#include "ir/Expr.h"
#include "ir/Reduction.h"

#include <string>
#include <vector>

namespace Halide {
namespace Internal {

/// Can the iterations of reduction loop `rvar` run in any order and at the same time?
///
/// That is so if, for two different values of `rvar` (and any values of the other RVars), the places of `func` that one
/// writes are never written or read by the other: decided by proving that an equation of the indices, together with
/// the predicate, has no solution. "No" may mean "not proven".
///
/// @param args, values, predicate  of the update `func(args) = values if predicate`.
/// @param rvars                    of its reduction domain.
bool can_parallelize_rvar(const std::string &rvar, const std::string &func, const std::vector<Expr> &args,
                          const std::vector<Expr> &values, const Expr &predicate,
                          const std::vector<ReductionVariable> &rvars);

/// May the reduction loops of the update change order? They may if all of them are free of dependences, or the
/// update is associative and commutative, or what it stores does not depend on the order.
///
/// @param rvars_moved  for each loop whose order relative to the others changes, the RVar that it stems from. The parts of a
///                     split RVar are loops of their own.
bool can_reorder_rvars(const std::vector<std::string> &rvars_moved, const std::string &func,
                       const std::vector<Expr> &args, const std::vector<Expr> &values, const Expr &predicate,
                       const std::vector<ReductionVariable> &rvars);

}  // namespace Internal
}  // namespace Halide
