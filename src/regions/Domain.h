#pragma once

#include "ir/IREquality.h"
#include "regions/ExprBounds.h"

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace Halide {
namespace Internal {

/// A sum with a min, max or select among its operands, as two sums without it.
struct Distributed {
    Expr first, second;
    bool rises;            ///< the operand counts positively
    bool is_min, is_max;   ///< of what kind it was; neither: a select

    /// Whether the upper (else lower) end of either sum is one of the whole, or only that of both.
    bool either(bool upper) const {
        return upper == rises ? is_min : is_max;
    }
};

/// The ways to do that with operands that use `var` (any if it is empty), to find the upper (else lower) end of a sum. If
/// there is an operand of which both cases count, it is the only one: then the better of the others can be chosen for each case.
std::vector<Distributed> distribute(const Expr &e, const std::string &var, bool upper);

/// The loops and lets around a piece of a program, and the conditions that hold there: what is needed to bound an
/// expression inside by expressions of what is fixed outside.
///
/// Variables are renamed when they are pushed, so that a definition may hide another of the same name. Nothing is
/// computed about a variable before it is needed.
///
/// Bounds come from interval arithmetic, except where an expression uses the same variable in more than one way, directly or
/// through lets and loop bounds (`y+2 - max(y-1, 0)`). Then variables are eliminated one by one, innermost first: where the
/// expression is monotonic in a variable, by its symbolic bound on the right side, so that later ones can cancel.
class Domain {
public:
    Domain(const Scope<Interval> &given, const FuncValueBounds &func_bounds, SharedExprs &shared);
    ~Domain();

    void push_loop(const std::string &name, const Expr &min, const Expr &max);
    void push_let(const std::string &name, const Expr &value);
    void pop();

    /// Bounds in terms of what is fixed (and of names in `shared`).
    Interval bounds(const Expr &e);

    /// If the expression does not depend on any loop or unknown value: itself in terms of what is fixed. Else undefined.
    Expr fixed_value(const Expr &e);

    /// From here until `widen`, a condition holds.
    void narrow(const Expr &condition);
    void widen();

private:
    struct Var;
    struct Saved;
    struct Narrowing {
        size_t saved_size, stack_size;
    };
    class Rename;

    const Scope<Interval> &given;
    SharedExprs &shared;
    std::vector<std::unique_ptr<Var>> stack;
    std::unordered_map<std::string, std::vector<Var *>> by_program_name;
    std::unordered_map<std::string, Var *> by_name;
    std::unordered_map<std::string, std::unique_ptr<Var>> given_vars;
    std::vector<Saved> saved;
    std::vector<Narrowing> narrowings;
    int next_id = 0;
    /// Bounds of small expressions, as long as nothing that they depend on changes.
    std::map<Expr, Interval, IRDeepCompare> known_bounds;
    ExprBounds arithmetic;

    Var *push(const std::string &program_name);
    Var *lookup(const std::string &program_name, int as_of);
    void evaluate(Var *v);
    void save(Var *v);
    Expr rename(const Expr &e, int as_of);
    std::vector<Var *> variables_of(const Expr &e);
    bool is_correlated(const Expr &e);
    Interval bounds_of_renamed(const Expr &e);
    Expr end_of(const Expr &e, bool upper);
    Expr eliminate(Expr e, bool upper, int &budget);
    void narrow_by(const Expr &conjunct);
    void restrict_to(Var *v, const Interval &i);
    Expr expand_definitions(const Expr &e);
};

}  // namespace Internal
}  // namespace Halide
