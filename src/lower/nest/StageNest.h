#pragma once

#include "func/Function.h"
#include "ir/IR.h"
#include "lower/nest/Inline.h"

#include <string>
#include <utility>
#include <vector>

namespace Halide {
namespace Internal {

/// The loop nest of one stage, taken apart so that it can be merged with others: loops, and what stands between them.
struct StageNest {
    /// "f.s0."
    std::string prefix;

    /// Outermost first. Bounds are the symbols `<name>.loop_min`, `.loop_max`.
    struct Loop {
        std::string name;
        /// The dimension's own name, as "x.xo".
        std::string var;
        ForType for_type;
        DeviceAPI device_api;
        Partition partition_policy;
        UnrollHint hint;
    };
    std::vector<Loop> loops;

    /// A LetStmt (with a name) or an IfThenElse (without), directly inside of the first `depth` loops. Those of equal
    /// depth in order, outermost first.
    struct Item {
        std::string name;
        Expr value;
        int depth;
    };
    std::vector<Item> items;

    /// What the innermost loop does.
    Stmt body;

    /// LetStmts around everything: the bounds of loops. Each depends on earlier ones.
    std::vector<std::pair<std::string, Expr>> bounds;

    /// The nest without the outermost `depth` loops and without the bounds; the variables of those loops are free. What stands
    /// between them comes in front of the rest.
    Stmt inner(int depth) const;

    /// The whole nest without the bounds.
    Stmt whole() const {
        return inner(0);
    }

    /// `s` with the bounds defined around it.
    Stmt with_bounds(Stmt s) const;
};

/// Builds the nest of a definition of stage `stage` of `f`: one of its specializations, or the general one.
/// @param inliner  inlines the Funcs that are to be inlined.
StageNest build_stage_nest(const Function &f, int stage, const Definition &def, Inliner &inliner);

/// The same as a statement, with specializations as alternatives, and with bounds.
Stmt build_stage(const Function &f, int stage, Inliner &inliner);

}  // namespace Internal
}  // namespace Halide
