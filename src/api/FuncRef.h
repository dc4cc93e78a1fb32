#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "api/Tuple.h"
#include "api/Var.h"
#include "func/Function.h"

namespace Halide {

class FuncTupleElementRef;
class Stage;

/// A Func applied to arguments. Used as a value it is a call; assigned to, it defines the Func or adds an update.
class FuncRef {
    Internal::Function func;
    int implicit_placeholder_pos;
    int implicit_count;
    std::vector<Expr> args;

    std::vector<Expr> args_with_implicit_vars(const std::vector<Expr> &values) const;
    Stage define(const std::vector<Expr> &values);
    Stage update(Internal::IRNodeType op, const std::vector<Expr> &values);

    friend class FuncTupleElementRef;

public:
    FuncRef(const Internal::Function &func, const std::vector<Expr> &args, int placeholder_pos = -1,
            int implicit_count = 0);
    FuncRef(Internal::Function func, const std::vector<Var> &args, int placeholder_pos = -1, int implicit_count = 0);

    /// The first assignment is the pure definition, later ones are updates.
    // @{
    Stage operator=(const Expr &e);
    Stage operator=(const Tuple &e);
    Stage operator=(const FuncRef &e);
    // @}

    /// Updates in place. An undefined Func starts as zero (sum, difference) or one (product, quotient) everywhere, in
    /// the type of the right side.
    // @{
    Stage operator+=(const Expr &e);
    Stage operator+=(const Tuple &e);
    Stage operator+=(const FuncRef &e);
    Stage operator-=(const Expr &e);
    Stage operator-=(const Tuple &e);
    Stage operator-=(const FuncRef &e);
    Stage operator*=(const Expr &e);
    Stage operator*=(const Tuple &e);
    Stage operator*=(const FuncRef &e);
    Stage operator/=(const Expr &e);
    Stage operator/=(const Tuple &e);
    Stage operator/=(const FuncRef &e);
    // @}

    FuncRef(const FuncRef &) = default;

    /// The value of the call, for Funcs with one value.
    operator Expr() const;

    /// One value of a Func that has several.
    FuncTupleElementRef operator[](int i) const;

    /// How many values the Func has.
    size_t size() const;

    Internal::Function function() const { return func; }

    /// Whether both call the same Func with provably equal arguments.
    bool equivalent_to(const FuncRef &other) const;

    /// Type of the value (a Func with one value), or all of them.
    // @{
    const Type &type() const;
    const std::vector<Type> &types() const;
    // @}
};

/// One element of a call of a Func with several values. Assigning to it updates that element and leaves the others.
class FuncTupleElementRef {
    FuncRef func_ref;
    std::vector<Expr> args;
    int idx;

    Tuple values_with_undef(const Expr &e) const;

public:
    FuncTupleElementRef(const FuncRef &ref, const std::vector<Expr> &args, int idx);

    // @{
    Stage operator=(const Expr &e);
    Stage operator+=(const Expr &e);
    Stage operator-=(const Expr &e);
    Stage operator*=(const Expr &e);
    Stage operator/=(const Expr &e);
    Stage operator=(const FuncRef &e);
    // @}

    operator Expr() const;

    int index() const { return idx; }
};

/// These keep `min` and `max` of two calls unambiguous where a program also uses namespace std.
// @{
inline Expr min(const FuncRef &a, const FuncRef &b) {
    return min(Expr(a), Expr(b));
}
inline Expr max(const FuncRef &a, const FuncRef &b) {
    return max(Expr(a), Expr(b));
}
// @}

/// A choice between the values of two calls of single-valued Funcs.
/// @throws CompileError  a Func has several values: convert the calls to Tuple.
Expr select(const Expr &condition, const FuncRef &true_value, const FuncRef &false_value);
template <typename... Args>
inline Expr select(const Expr &c0, const FuncRef &v0, const Expr &c1, const FuncRef &v1, Args &&...args) {
    return select(c0, Expr(v0), select(c1, Expr(v1), std::forward<Args>(args)...));
}

}  // namespace Halide
