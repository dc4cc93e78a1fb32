#pragma once

#include "func/Function.h"
#include "ir/Expr.h"
#include "ir/IRMutator.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

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

/// Inlines several Funcs on demand. The same call (same Func, same arguments) is expanded once and shared, so that chains of
/// thousands of Funcs and diamonds of calls cost no more than the different points at which they are evaluated.
class Inliner : public IRGraphMutator {
    using IRGraphMutator::visit;

    struct CompareArgs {
        bool operator()(const std::vector<Expr> &a, const std::vector<Expr> &b) const;
    };
    std::map<std::string, Function> to_inline;
    /// What calls became, by Func and value index.
    std::map<std::pair<std::string, int>, std::map<std::vector<Expr>, Expr, CompareArgs>> expanded;
    int inlined_calls = 0;

protected:
    Expr visit(const Call *op) override;
    Stmt visit(const Provide *op) override;

public:
    Inliner() = default;

    /// From now on, inline `f`.
    void inline_func(const Function &f);

    /// Inlines into an expression. What the result has in common, arguments of inlined calls above all, is bound by
    /// lets.
    Expr do_inlining(const Expr &e);
    /// Inlines into all expressions of a statement, with lets in the values that Provides store.
    Stmt do_inlining(const Stmt &s);
};

}  // namespace Internal
}  // namespace Halide
