#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Writes Funcs to the files that debug_to_file names, each time that they have been produced.
///
/// Needs:     Level::Checked.
/// Gives:     the same.
/// Position:  before split-tuples and flatten-storage, which make the buffers that are passed on.
/// Keeps:     everything else.
/// Errors:    none; a failure to write is an error of the run.
/// Example:   produce f { P }   →   produce f { P  assert(debug_to_file("f.tif", f.buffer) == 0, …) }
///
/// The values of a tuple go to files of their own: `name_0.tif`, `name_1.tif` ….
Stmt debug_to_file(const Stmt &s, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
