#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Turns Tuple-valued Funcs into one single-valued realization per element, and drops stores of `undef`.
///
/// Needs:     Level::Checked. Provide nodes carry all values of a Tuple.
/// Gives:     Level::Checked. Every Provide and Realize has one value; element i of `f` is called `f.i`; no `undef`.
/// Position:  before flatten-storage, which knows single values only; after image-checks and storage-folding, which
///            know Funcs by their names.
/// Keeps:     all values and indices of one Provide are evaluated before any of them is stored.
/// Errors:    none.
/// Example:   f(x) = {f(x)[1], f(x)[0]}   →   let t0 = f.1(x); let t1 = f.0(x); f.0(x) = t0; f.1(x) = t1
Stmt split_tuples(const Stmt &s, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
