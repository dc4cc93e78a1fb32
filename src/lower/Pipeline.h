#pragma once

/// Lowering: from Funcs and schedules to a Module that a code generator takes.
///
/// `pipeline` (Pipeline.cpp) is the only list of passes. Each row names a pass, the level it needs and the level it
/// gives; the driver dumps, times and verifies between rows.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "func/Function.h"
#include "func/LoweredFunc.h"
#include "func/Module.h"
#include "ir/Argument.h"
#include "ir/IR.h"
#include "ir/Target.h"
#include "regions/Bounds.h"

namespace Halide {
namespace Internal {

class IRMutator;
struct PTOProgram;

/// What holds of a statement between two passes. Later levels include what earlier ones promise, except where
/// a pass removes the construct that the promise is about.
enum class Level {
    Funcs,       ///< no statement yet: only Functions and their schedules
    Nest,        ///< loop nests around Provide/Realize; bounds symbols free
    Bounded,     ///< every bounds symbol is defined; regions of Realize nodes are known
    Checked,     ///< entry assertions and bounds-query code are in place
    Flat,        ///< no Provide, Realize or Halide call: Allocate, Store, Load with one index
    Unrolled,    ///< no loop is marked unrolled
    Vectors,     ///< no loop is marked vectorized
    Indices,     ///< every index and loop bound has a type that the target can use in that place
    Closed,      ///< no parallel loop: bodies have become closures
};

/// State of one run of lowering that passes may read, and the results besides the statement itself.
struct LowerContext {
    std::string pipeline_name;
    Target target;
    std::vector<Function> outputs;                        ///< deep copies; passes may change them
    std::map<std::string, Function> env;                  ///< every Function reachable from the outputs
    std::vector<std::string> order;                       ///< realization order: producers before consumers
    std::vector<std::vector<std::string>> fused_groups;   ///< compute_with groups, in realization order
    FuncValueBounds func_bounds;                          ///< bounds of each Function's values
    std::vector<Stmt> requirements;                       ///< assertions of Pipeline::add_requirement
    std::vector<Argument> args;                           ///< declared arguments without the outputs
    std::vector<IRMutator *> custom_passes;               ///< run at Level::Vectors, not owned
    bool trace_pipeline = false;
    bool native_unroll_hints = false;                     ///< expand loops with unroll hints: no compiler behind takes them
    std::vector<LoweredFunc> closures;                    ///< filled by lower-parallel
    std::shared_ptr<PTOProgram> pto;                      ///< the kernels; null unless the target has a PTO device

    /// A name that no other call on this context returns, and that no Func, Var or symbol derived from one can have.
    std::string unique_name(const std::string &prefix);

    /// Records one decision a user could act on; printed if BROMIDE_EXPLAIN is set.
    void explain(const std::string &what);

private:
    std::map<std::string, int> counters;
};

using PassFunction = Stmt (*)(const Stmt &, LowerContext &);

/// One row of the table of passes.
struct Pass {
    const char *name;
    PassFunction run;
    Level needs;
    Level gives;
    bool (*applies)(const LowerContext &);   ///< null: always
    bool optional;                           ///< may be skipped by BROMIDE_SKIP
};

/// The table, in order of execution.
const std::vector<Pass> &lowering_passes();
const char *level_name(Level level);

/// Checks that `s` satisfies `level`; InternalError naming `after_pass` and the offending node if it does not.
void verify(const Stmt &s, Level level, const LowerContext &ctx, const std::string &after_pass);

/// Runs the rows of the table from the first to the one named `last` (all if empty) on a fresh context.
Stmt run_lowering_passes(LowerContext &ctx, const std::string &last = "");

/// Prepares a context: copies the call graph, applies wrappers, orders the Functions, checks outputs.
LowerContext make_lower_context(const std::vector<Function> &outputs, const std::string &pipeline_name,
                                const Target &target, const std::vector<Argument> &args,
                                const std::vector<Stmt> &requirements, bool trace_pipeline,
                                const std::vector<IRMutator *> &custom_passes);

/// Lowers a pipeline to a Module with one public function `pipeline_name` and its closures.
///
/// @param args  inputs in call order (scalars and buffers); outputs are appended by this function.
/// @throws CompileError  for every mistake in the algorithm or schedule that shows only now, and for inputs that are
///                       used but not listed in `args`.
Module lower(const std::vector<Function> &outputs, const std::string &pipeline_name, const Target &target,
             const std::vector<Argument> &args, LinkageType linkage_type,
             const std::vector<Stmt> &requirements = {}, bool trace_pipeline = false,
             const std::vector<IRMutator *> &custom_passes = {});

/// The main statement of the lowered pipeline, before parallel loops become closures.
Stmt lower_main_stmt(const std::vector<Function> &outputs, const std::string &pipeline_name, const Target &target,
                     const std::vector<Stmt> &requirements = {}, bool trace_pipeline = false,
                     const std::vector<IRMutator *> &custom_passes = {});

}  // namespace Internal
}  // namespace Halide
