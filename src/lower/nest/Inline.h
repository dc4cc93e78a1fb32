#pragma once

#include "func/Function.h"
#include "ir/Expr.h"
#include "ir/IRMutator.h"

#include <map>
#include <set>
#include <string>

namespace Halide {
namespace Internal {

/// Replaces calls of `f` by its definition. Arguments that are not trivial are bound by lets.
/// @throws CompileError  `f` has a schedule directive that an inlined Func cannot have.
Stmt inline_function(Stmt s, const Function &f);
Expr inline_function(Expr e, const Function &f);
void inline_function(Function caller, const Function &f);
void inline_function(Definition &caller, const Function &f);

/// Warns or raises an error if `f` cannot be inlined, or has directives that inlining makes void.
void validate_schedule_inlined_function(const Function &f);

/// Inlines several Funcs on demand, each body completely and only once, so that chains of thousands of Funcs and
/// diamonds of calls cost no more than the size of their definitions.
class Inliner : public IRGraphMutator {
    using IRGraphMutator::visit;

    std::set<Function, Function::Compare> to_inline;
    /// Fully inlined bodies, by function and value index.
    std::map<std::pair<std::string, int>, Expr> bodies;

    const Expr &inlined_body(const Function &f, int value_index);

protected:
    Expr visit(const Call *op) override;
    Expr visit(const Variable *op) override;

public:
    Inliner() = default;

    /// From now on, inline `f`.
    void inline_func(const Function &f);

    /// Inlines into an expression, and simplifies the result: common subexpressions become lets.
    Expr do_inlining(const Expr &e);
    Stmt do_inlining(const Stmt &s);
};

}  // namespace Internal
}  // namespace Halide
