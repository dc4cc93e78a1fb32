#pragma once

#include "analysis/ConstantInterval.h"
#include "ir/Expr.h"
#include "ir/IREquality.h"
#include "ir/Interval.h"
#include "ir/Scope.h"

#include <map>
#include <string>
#include <utility>

namespace Halide {
namespace Internal {

/// Constant bounds of an integer expression, without building any expression.
///
/// @param scope        what is known of variables.
/// @param cache        reuse results of earlier calls with the same scope.
/// @param func_bounds  bounds of the values of Funcs, by name and tuple element; only their constant ends are used.
/// @returns  an interval that contains every value (for vectors: of every lane). The types that wrap are bounded by
///           their range; Int(32) and Int(64) are exact integers, and may be unbounded.
ConstantInterval constant_integer_bounds(const Expr &e,
                                         const Scope<ConstantInterval> &scope =
                                             Scope<ConstantInterval>::empty_scope(),
                                         std::map<Expr, ConstantInterval, ExprCompare> *cache = nullptr,
                                         const std::map<std::pair<std::string, int>, Interval> &func_bounds = {});

}  // namespace Internal
}  // namespace Halide
