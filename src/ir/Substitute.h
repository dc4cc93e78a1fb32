#pragma once

#include <map>
#include <string>

#include "ir/Expr.h"

namespace Halide {
namespace Internal {

/// Replaces free occurrences of a variable; inner definitions of the same name hide it.
Expr substitute(const std::string &name, const Expr &replacement, const Expr &expr);
Stmt substitute(const std::string &name, const Expr &replacement, const Stmt &stmt);

/// Replaces several variables at the same time.
Expr substitute(const std::map<std::string, Expr> &replacements, const Expr &expr);
Stmt substitute(const std::map<std::string, Expr> &replacements, const Stmt &stmt);

/// Replaces every subexpression that equals `find`.
Expr substitute(const Expr &find, const Expr &replacement, const Expr &expr);
Stmt substitute(const Expr &find, const Expr &replacement, const Stmt &stmt);

/// The same for graphs in which nodes are shared: each node is visited once. Names must be unique, because the place
/// of an occurrence (inside a definition that hides the name or not) is not known.
Expr graph_substitute(const std::string &name, const Expr &replacement, const Expr &expr);
Stmt graph_substitute(const std::string &name, const Expr &replacement, const Stmt &stmt);
Expr graph_substitute(const Expr &find, const Expr &replacement, const Expr &expr);
Stmt graph_substitute(const Expr &find, const Expr &replacement, const Stmt &stmt);

/// Replaces all Lets (of expressions, not of statements) by their values; the result is a graph with shared nodes.
Expr substitute_in_all_lets(const Expr &expr);
Stmt substitute_in_all_lets(const Stmt &stmt);

}  // namespace Internal
}  // namespace Halide
