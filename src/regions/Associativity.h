#pragma once

#include "ir/Expr.h"
#include "ir/IR.h"
#include "ir/Type.h"

#include <string>
#include <vector>

namespace Halide {
namespace Internal {

/// An associative operator on tuples: for element i, `ops[i]` over variables x0, x1, … (the left operand) and y0, y1,
/// … (the right operand), with an identity on the left.
struct AssociativePattern {
    std::vector<Expr> ops;
    std::vector<Expr> identities;
    bool is_commutative = false;

    AssociativePattern() = default;
    explicit AssociativePattern(size_t size) : ops(size), identities(size) {
    }
    AssociativePattern(const std::vector<Expr> &ops, const std::vector<Expr> &ids, bool is_commutative)
        : ops(ops), identities(ids), is_commutative(is_commutative) {
    }
    AssociativePattern(const Expr &op, const Expr &id, bool is_commutative)
        : ops({op}), identities({id}), is_commutative(is_commutative) {
    }

    size_t size() const {
        return ops.size();
    }
    bool operator==(const AssociativePattern &other) const;
};

/// The way in which an update is an application of an associative operator.
struct AssociativeOp {
    struct Replacement {
        /// Variable of the pattern; empty if the element does not need it.
        std::string var;
        /// What it stands for in the update.
        Expr expr;

        Replacement() = default;
        Replacement(const std::string &var, const Expr &expr) : var(var), expr(expr) {
        }
    };

    /// Elements that are chosen together by comparing one of them, the key: the smaller (or larger) one wins. Among
    /// equal keys the first in order of iteration wins, or the last; only up to that is the operator commutative.
    struct Choice {
        std::vector<size_t> elements;
        size_t key = 0;
        bool smaller_wins = true;
        bool first_wins = true;
    };

    AssociativePattern pattern;
    std::vector<Choice> choices;
    /// The old values (calls of the function itself), and the values combined with them.
    std::vector<Replacement> xs, ys;
    bool is_associative = false;

    AssociativeOp() = default;
    explicit AssociativeOp(size_t size) : pattern(size), xs(size), ys(size) {
    }

    bool associative() const {
        return is_associative;
    }
    bool commutative() const {
        return pattern.is_commutative;
    }
    size_t size() const {
        return pattern.size();
    }
};

/// Finds an associative operator `op` such that the update `f(args) = exprs` is
/// `f(args) = op(f(args), something that does not read f)`.
///
/// Floating point + and * count as associative. If none is found, `associative()` of the result is false.
AssociativeOp prove_associativity(const std::string &f, std::vector<Expr> args, std::vector<Expr> exprs);

/// The identity of a binary operator node (Add, Mul, Min, Max, And, Or) on a type.
Expr get_associative_identity(const Type &t, IRNodeType op);

}  // namespace Internal
}  // namespace Halide
