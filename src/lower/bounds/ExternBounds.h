#pragma once

#include "lower/Pipeline.h"
#include "regions/Bounds.h"

#include <map>
#include <string>
#include <vector>

namespace Halide {
namespace Internal {

// Extern stages in bounds-inference. What an extern stage reads is not known from its definition: the stage is asked,
// by a call with buffers that have a shape but no memory. The results are read back from those buffers.

/// A LetStmt, or (if `before` is defined) a statement to run before what follows.
struct BoundsStep {
    std::string name;
    Expr value;
    Stmt before;
};

/// The regions that an extern stage requires of its inputs, read from the buffers that add_extern_query defines.
std::map<std::string, Box> extern_stage_requirements(const Function &f, const Target &target);

/// Gives what a symbol means one level further out the name `<symbol>.outer`, before it is defined again.
void keep_outer(std::vector<BoundsStep> &steps, const std::string &name);

/// Steps that ask an extern stage about the region in the symbols `f.s0.x.min/.max`: it may enlarge that region, which
/// redefines the symbols, and says what it requires.
///
/// Answers are unknown values. Inside loops they are clamped to the answer at the next level outside, so that regions of
/// realizations around the loop are bounded.
void add_extern_query(std::vector<BoundsStep> &steps, const Function &f, bool at_root, LowerContext &ctx);

/// The region that the stage computes in `body`, which is inside some of its loops.
std::vector<Interval> extern_region_inside(const Function &f, const Stmt &body);

/// Evaluate nodes that tell later passes which regions of its inputs the stage reads; undefined if it has none. (Which part of the
/// Func itself a call writes is said by the loop nest.)
Stmt declare_extern_accesses(const Function &f, const Target &target);

}  // namespace Internal
}  // namespace Halide
