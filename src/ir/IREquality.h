#pragma once

#include "ir/IR.h"

#include <cstdint>

namespace Halide {
namespace Internal {

// Two pieces of IR are equal if they have the same structure: kinds, types, names, constants. What a name is attached
// to (a Parameter, a Buffer, a ReductionDomain, a Function) is not looked at: within a program names are unique.
// The order is total and the same in every run. None of these functions recurses.

/// Whether two expressions or statements have the same structure. Undefined equals undefined only.
bool equal(const Expr &a, const Expr &b);
bool equal(const Stmt &a, const Stmt &b);

/// Whether an expression is this integer constant (of any type, or a broadcast of it).
bool equal(const Expr &a, int b);

/// The same for expressions that share much of themselves: never looks twice at the same pair of nodes.
bool graph_equal(const Expr &a, const Expr &b);
bool graph_equal(const Stmt &a, const Stmt &b);

/// A total order.
bool less_than(const Expr &a, const Expr &b);
bool less_than(const Stmt &a, const Stmt &b);
bool graph_less_than(const Expr &a, const Expr &b);
bool graph_less_than(const Stmt &a, const Stmt &b);

/// For maps and sets whose keys are compared by structure.
struct IRDeepCompare {
    bool operator()(const Expr &a, const Expr &b) const {
        return less_than(a, b);
    }
    bool operator()(const Stmt &a, const Stmt &b) const {
        return less_than(a, b);
    }
};

/// The same for keys that share much of themselves.
struct IRGraphDeepCompare {
    bool operator()(const Expr &a, const Expr &b) const {
        return graph_less_than(a, b);
    }
    bool operator()(const Stmt &a, const Stmt &b) const {
        return graph_less_than(a, b);
    }
};

/// A hash of the structure, the same in every run; equal things hash alike. Visits shared nodes once.
uint64_t structural_hash(const Expr &e);
uint64_t structural_hash(const Stmt &s);

}  // namespace Internal
}  // namespace Halide
