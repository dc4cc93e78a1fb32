#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Marks where each allocation ends.
///
/// Needs:     Level::Indices; no Free nodes.
/// Gives:     the same, with exactly one Free in the body of each Allocate, on every path to the body's end.
/// Position:  after all passes that move or duplicate statements.
/// Keeps:     no access follows the Free. A Free stays at the loop depth of its Allocate, but may move into the body of a
///            later one: of a chain of Funcs, two live at a time.
/// Errors:    none.
/// Example:   allocate f { produce f …; g = f…; h = g… }   →   allocate f { produce f …; g = f…; free f; h = g… }
Stmt early_free(const Stmt &s, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
