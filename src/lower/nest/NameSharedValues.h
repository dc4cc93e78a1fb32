#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Gives names to parts of expressions that are used again and again.
///
/// Needs:     Level::Nest.
/// Gives:     the same; a walk of an expression meets at most a small multiple of the nodes that it has.
/// Position:  after schedule-functions, which puts inlined Funcs in place of calls; before the passes that rewrite
///            expressions place by place, and would take time, and make copies, for every path to a shared part.
/// Keeps:     values; expressions of ordinary size are left alone, so that nothing is hidden from later passes.
/// Errors:    none.
/// Example:   f(x) = e₃₀ with eᵢ₊₁ = eᵢ*eᵢ + i   →   f(x) = let t0 = e₀*e₀ in let t1 = (t0 + 0)*(t0 + 0) in …
Stmt name_shared_values(const Stmt &s, LowerContext &ctx);

/// The same for one expression, for passes that build expressions of definitions themselves.
Expr name_shared_values(const Expr &e);

}  // namespace Internal
}  // namespace Halide
