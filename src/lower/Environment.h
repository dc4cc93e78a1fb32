#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Brings the Functions of a pipeline into the form that the passes expect: questions about the target are answered,
/// and float arithmetic is made strict if the target asks for it.
///
/// Runs before the first row of the table, on ctx.env.
void lower_environment(LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
