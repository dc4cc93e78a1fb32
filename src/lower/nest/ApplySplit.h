#pragma once

#include "func/Schedule.h"
#include "ir/Expr.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace Halide {
namespace Internal {

/// One thing that a split does to the body of a loop nest.
struct ApplySplitResult {
    enum Type {
        /// Define variable `name` around the body.
        LetStmt,
        /// Run the body only if `value`.
        Predicate,
        /// Loads (not stores) only if `value`.
        PredicateCalls,
        /// Stores (not loads) only if `value`.
        PredicateProvides,
        /// Where `value` is false, store what was there before.
        BlendProvides,
    };
    std::string name;
    Expr value;
    Type type = LetStmt;

    ApplySplitResult(const std::string &name, const Expr &value, Type type) : name(name), value(value), type(type) {
    }
    ApplySplitResult(const Expr &value, Type type) : value(value), type(type) {
    }
};

/// Defines the variable that `split` takes apart in terms of the new ones.
///
/// @param split            of stage `prefix` (as "f.s0.").
/// @param dim_extent_alignment  for names of dimensions of which the extent is a known multiple, that number;
///                         updated for the new dimensions. A factor that divides it needs no tail.
/// @returns                what to do to the body, in an order in which each entry depends only on earlier ones.
std::vector<ApplySplitResult> apply_split(const Split &split, const std::string &prefix,
                                          std::map<std::string, Expr> &dim_extent_alignment);

/// Bounds (`loop_min`, `loop_max`, `loop_extent`) of the loops that `split` makes, as values for LetStmts around the
/// nest, in terms of those of the old variable.
std::vector<std::pair<std::string, Expr>> compute_loop_bounds_after_split(const Split &split,
                                                                          const std::string &prefix);

/// The strategies that `Auto` stands for, and the legality of all (spec language.md 5.2).
///
/// @param splits    earlier splits of the stage.
/// @returns         the strategy to use.
/// @throws CompileError  naming `stage_name`, if the strategy is not legal there.
TailStrategy resolve_tail_strategy(TailStrategy tail, const std::string &old_var, const Expr &factor, bool is_rvar,
                                   bool is_update, const std::vector<Split> &splits, const std::string &stage_name);

}  // namespace Internal
}  // namespace Halide
