#pragma once

#include "ir/Expr.h"
#include "ir/IR.h"
#include "ir/Interval.h"
#include "ir/Scope.h"
#include "regions/Bounds.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace Halide {
namespace Internal {

/// @name Index arithmetic that folds what is easy to fold
/// Not a replacement for simplify: it keeps sums in the form `base + constant`, so that ends of intervals can be compared cheaply.
/// @{
Expr index_add(const Expr &a, const Expr &b);
Expr index_sub(const Expr &a, const Expr &b);
Expr index_mul(const Expr &a, const Expr &b);
/// min and max over ends of intervals, infinities included. Ends that differ by a constant are decided, also against the
/// operands of a min or max that is there already.
Expr end_min(const Expr &a, const Expr &b);
Expr end_max(const Expr &a, const Expr &b);
Interval interval_union(const Interval &a, const Interval &b);
Interval interval_intersection(const Interval &a, const Interval &b);
/// @}

/// Whether the tree of an expression of plain arithmetic has at most so many nodes.
bool has_at_most_nodes(const Expr &e, int limit);

/// find_constant_bound, looking at no more than so many cases of operands of min, max and select.
Expr find_constant_bound(const Expr &e, Direction d, const Scope<Interval> &scope, int cases);

/// Names given to subexpressions of ends, so that ends built from them share instead of repeating them.
///
/// Inside, a name starts with '@', which no name of a program does; `close` gives names that are free in the result.
class SharedExprs {
    std::vector<std::pair<std::string, Expr>> bindings;

public:
    /// `e` itself if it is cheap to repeat, otherwise a variable that stands for it.
    Expr share(const Expr &e);
    Interval share(const Interval &i);
    bool empty() const {
        return bindings.empty();
    }
    /// Puts what they stand for in place of names, as long as the result stays small.
    Expr expand(const Expr &e) const;
    Interval expand(const Interval &i) const;
    /// Wraps `e` in Lets for the names in it.
    Expr close(const Expr &e) const;
    Interval close(const Interval &i) const;
};

/// Interval arithmetic: bounds of expressions from bounds of their variables, without looking at what variables have to
/// do with each other.
class ExprBounds {
public:
    using Lookup = std::function<const Interval *(const std::string &)>;

    /// @param lookup  the interval of a variable, null if it is fixed.
    ExprBounds(Lookup lookup, const FuncValueBounds &func_bounds, bool const_bound, SharedExprs &shared)
        : lookup(std::move(lookup)), func_bounds(func_bounds), const_bound(const_bound), shared(shared) {
    }

    Interval bounds(const Expr &e);

    /// Must be called when what `lookup` says changes.
    void forget() {
        cache.clear();
    }

private:
    Lookup lookup;
    const FuncValueBounds &func_bounds;
    const bool const_bound;
    SharedExprs &shared;
    Scope<Interval> lets;
    std::unordered_map<const IRNode *, Interval> cache;
    std::vector<Expr> cached_nodes;

    Interval uncached(const Expr &e);
    Interval of_variable(const Expr &e, const Variable *op);
    Interval of_cast(const Expr &e, const Expr &value, const Type &to);
    Interval of_add(const Type &t, const Interval &a, const Interval &b);
    Interval of_sub(const Type &t, const Interval &a, const Interval &b);
    Interval of_mul(const Type &t, Interval a, Interval b);
    Interval of_div(const Type &t, Interval a, Interval b);
    Interval of_mod(const Type &t, Interval a, Interval b);
    Interval of_compare(IRNodeType op, const Interval &a, const Interval &b);
    Interval of_and(const Interval &a, const Interval &b);
    Interval of_or(const Interval &a, const Interval &b);
    Interval of_not(const Interval &a);
    Interval of_select(const Expr &condition, const Expr &t, const Expr &f);
    Interval of_lets(Expr e);
    Interval of_call(const Expr &e, const Call *op);
    Interval of_intrinsic(const Expr &e, const Call *op);
    Interval of_shift(const Expr &e, const Call *op, bool left);
    Interval of_bitwise(const Type &t, const Call *op);
    Interval of_abs(const Type &t, const Interval &a);
    Interval of_vector_reduce(const VectorReduce *op);
    Interval monotonic_call(const Call *op, const std::vector<int> &directions);
};

}  // namespace Internal
}  // namespace Halide
