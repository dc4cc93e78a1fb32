#pragma once

#include "ir/Expr.h"
#include "ir/Scope.h"

#include <set>
#include <string>

namespace Halide {
namespace Internal {

/// Whether a statement or expression refers to a free variable of one of the given names, or to a buffer of that name
/// (Load, Store). Names bound inside (Let, For) are not free there. Names that `values` maps to an expression count
/// as uses of what that expression uses.
bool uses_any_var(const Expr &e, const std::set<std::string> &names,
                  const Scope<Expr> &values = Scope<Expr>::empty_scope());
bool uses_any_var(const Stmt &s, const std::set<std::string> &names,
                  const Scope<Expr> &values = Scope<Expr>::empty_scope());

template<typename StmtOrExpr>
inline bool stmt_or_expr_uses_var(const StmtOrExpr &e, const std::string &name,
                                  const Scope<Expr> &values = Scope<Expr>::empty_scope()) {
    return uses_any_var(e, std::set<std::string>{name}, values);
}

/// `names` is any Scope: its visible names are asked for.
template<typename StmtOrExpr, typename T>
inline bool stmt_or_expr_uses_vars(const StmtOrExpr &e, const Scope<T> &names,
                                   const Scope<Expr> &values = Scope<Expr>::empty_scope()) {
    std::set<std::string> set;
    for (auto it = names.cbegin(); it != names.cend(); ++it) {
        set.insert(it.name());
    }
    return !set.empty() && uses_any_var(e, set, values);
}

inline bool expr_uses_var(const Expr &e, const std::string &name,
                          const Scope<Expr> &values = Scope<Expr>::empty_scope()) {
    return stmt_or_expr_uses_var(e, name, values);
}

inline bool stmt_uses_var(const Stmt &s, const std::string &name,
                          const Scope<Expr> &values = Scope<Expr>::empty_scope()) {
    return stmt_or_expr_uses_var(s, name, values);
}

template<typename T>
inline bool expr_uses_vars(const Expr &e, const Scope<T> &names,
                           const Scope<Expr> &values = Scope<Expr>::empty_scope()) {
    return stmt_or_expr_uses_vars(e, names, values);
}

template<typename T>
inline bool stmt_uses_vars(const Stmt &s, const Scope<T> &names,
                           const Scope<Expr> &values = Scope<Expr>::empty_scope()) {
    return stmt_or_expr_uses_vars(s, names, values);
}

}  // namespace Internal
}  // namespace Halide
