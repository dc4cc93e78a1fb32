#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Asserts the declared ranges of scalar parameters and the requirements of the pipeline, before anything runs.
///
/// Needs:     Level::Nest.
/// Gives:     the same.
/// Position:  before bounds-inference, which may rely on the ranges.
/// Keeps:     the statement behind the asserts.
/// Errors:    none.
/// Example:   produce f …   →   assert(p >= 0, halide_error_param_too_small_i64("p", p, 0)); produce f …
Stmt parameter_checks(const Stmt &s, LowerContext &ctx);

/// Asserts that split factors which are not constant are positive (error code −46).
///
/// Needs, Gives, Position: as parameter_checks.
Stmt split_factor_checks(const Stmt &s, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
