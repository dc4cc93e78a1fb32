#pragma once

#include "ir/Expr.h"
#include "ir/Interval.h"
#include "ir/Scope.h"

#include <map>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace Halide {
namespace Internal {

class Function;

/// Bounds of the values that a Func can have, by name and index of the value.
typedef std::map<std::pair<std::string, int>, Interval> FuncValueBounds;

const FuncValueBounds &empty_func_value_bounds();

/// Bounds of an expression, as expressions of the names that `scope` does not bind. Ends that are not known are
/// infinite. For vectors, the ends are scalars that hold for every lane.
///
/// @param scope        intervals of variables; all others are taken as fixed.
/// @param func_bounds  bounds of the values of Funcs; without an entry the range of the type serves.
/// @param const_bound  ends may not depend on any variable: those not in scope have only the bounds of their type, or
///                     the range of their parameter.
Interval bounds_of_expr_in_scope(const Expr &expr, const Scope<Interval> &scope,
                                 const FuncValueBounds &func_bounds = empty_func_value_bounds(),
                                 bool const_bound = false);

/// The values that a type can have, if they are few enough to be worth anything as a region (up to 16 bits);
/// unsigned types of more bits have a lower end only.
Interval bounds_of_type(const Type &t);

enum class Direction { Upper,
                       Lower };

/// The tightest constant bound of `e` on one side that can be found; undefined if there is none.
Expr find_constant_bound(const Expr &e, Direction d, const Scope<Interval> &scope = Scope<Interval>::empty_scope());

/// Both ends at once; ends without constant bound are infinite.
Interval find_constant_bounds(const Expr &e, const Scope<Interval> &scope);

/// A condition without the variables in `vars` (nor anything that depends on other things than the rest), which implies
/// `c` for all values of them in their intervals ("and"), or is implied by `c` for any of them ("or").
Expr and_condition_over_domain(const Expr &c, const Scope<Interval> &vars);
Expr or_condition_over_domain(const Expr &c, const Scope<Interval> &vars);

/// A region of a Func or an image: one interval per dimension.
struct Box {
    /// The condition under which anything of it is touched at all; undefined means always.
    Expr used;
    std::vector<Interval> bounds;

    Box() = default;
    explicit Box(size_t dimensions) : bounds(dimensions) {
    }
    explicit Box(std::vector<Interval> b) : bounds(std::move(b)) {
    }

    size_t size() const {
        return bounds.size();
    }
    bool empty() const {
        return bounds.empty();
    }
    Interval &operator[](size_t i) {
        return bounds[i];
    }
    const Interval &operator[](size_t i) const {
        return bounds[i];
    }
    void resize(size_t n) {
        bounds.resize(n);
    }
    void push_back(const Interval &i) {
        bounds.push_back(i);
    }

    /// Whether there is a condition `used`.
    bool maybe_unused() const {
        return used.defined();
    }

    friend std::ostream &operator<<(std::ostream &stream, const Box &b);
};

/// Grows `a` to contain `b`. An empty box contains nothing.
void merge_boxes(Box &a, const Box &b);
Box box_union(const Box &a, const Box &b);
/// False only if the two provably have no point in common.
bool boxes_overlap(const Box &a, const Box &b);
Box box_intersection(const Box &a, const Box &b);
/// True only if `inner` is provably inside `outer`.
bool box_contains(const Box &outer, const Box &inner);

/// Regions that a piece of a program reads (required), writes (provided), or both (touched), by the name of the Func
/// or image; in terms of the variables that are free in it.
///
/// `scope` bounds some of the free variables. Conditions of IfThenElse narrow the variables in them.
std::map<std::string, Box> boxes_required(const Expr &e, const Scope<Interval> &scope = Scope<Interval>::empty_scope(),
                                          const FuncValueBounds &func_bounds = empty_func_value_bounds());
std::map<std::string, Box> boxes_required(Stmt s, const Scope<Interval> &scope = Scope<Interval>::empty_scope(),
                                          const FuncValueBounds &func_bounds = empty_func_value_bounds());
std::map<std::string, Box> boxes_provided(const Expr &e, const Scope<Interval> &scope = Scope<Interval>::empty_scope(),
                                          const FuncValueBounds &func_bounds = empty_func_value_bounds());
std::map<std::string, Box> boxes_provided(Stmt s, const Scope<Interval> &scope = Scope<Interval>::empty_scope(),
                                          const FuncValueBounds &func_bounds = empty_func_value_bounds());
std::map<std::string, Box> boxes_touched(const Expr &e, const Scope<Interval> &scope = Scope<Interval>::empty_scope(),
                                         const FuncValueBounds &func_bounds = empty_func_value_bounds());
std::map<std::string, Box> boxes_touched(Stmt s, const Scope<Interval> &scope = Scope<Interval>::empty_scope(),
                                         const FuncValueBounds &func_bounds = empty_func_value_bounds());

/// The same for some Funcs and images.
std::map<std::string, Box> boxes_touched(Stmt s, const std::set<std::string> &names,
                                         const Scope<Interval> &scope = Scope<Interval>::empty_scope(),
                                         const FuncValueBounds &func_bounds = empty_func_value_bounds());

/// The same for one Func or image `fn`; an empty box if it does not occur.
Box box_required(const Expr &e, const std::string &fn, const Scope<Interval> &scope = Scope<Interval>::empty_scope(),
                 const FuncValueBounds &func_bounds = empty_func_value_bounds());
Box box_required(Stmt s, const std::string &fn, const Scope<Interval> &scope = Scope<Interval>::empty_scope(),
                 const FuncValueBounds &func_bounds = empty_func_value_bounds());
Box box_provided(const Expr &e, const std::string &fn, const Scope<Interval> &scope = Scope<Interval>::empty_scope(),
                 const FuncValueBounds &func_bounds = empty_func_value_bounds());
Box box_provided(Stmt s, const std::string &fn, const Scope<Interval> &scope = Scope<Interval>::empty_scope(),
                 const FuncValueBounds &func_bounds = empty_func_value_bounds());
Box box_touched(const Expr &e, const std::string &fn, const Scope<Interval> &scope = Scope<Interval>::empty_scope(),
                const FuncValueBounds &func_bounds = empty_func_value_bounds());
Box box_touched(Stmt s, const std::string &fn, const Scope<Interval> &scope = Scope<Interval>::empty_scope(),
                const FuncValueBounds &func_bounds = empty_func_value_bounds());

/// Bounds of some variables at the places where `fn` is stored to, in terms of what is free in the statement. Variables that
/// are free themselves are points.
std::vector<Interval> bounds_at_stores(const Stmt &s, const std::string &fn, const std::vector<std::string> &vars,
                                       const Scope<Interval> &scope = Scope<Interval>::empty_scope(),
                                       const FuncValueBounds &func_bounds = empty_func_value_bounds());

/// Bounds of the values of every Func in `env`, where a Func's values are bounded by its pure definition (Funcs with
/// updates or extern definitions have only the range of their type).
/// @param order  producers first.
FuncValueBounds compute_function_value_bounds(const std::vector<std::string> &order,
                                              const std::map<std::string, Function> &env);

/// An upper bound of the number of points in the interval of an Int(32), or of its size minus one: max − min, where
/// variables that occur in both ends cancel.
Expr span_of_bounds(const Interval &bounds);

}  // namespace Internal
}  // namespace Halide
