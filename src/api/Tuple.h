#pragma once

#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <utility>
#include <vector>

#include "ir/IROperator.h"

namespace Halide {

class FuncRef;

/// A small ordered list of expressions: the value of a Func that computes several things at each point.
class Tuple {
    std::vector<Expr> exprs;

public:
    /// One element.
    explicit Tuple(Expr e);
    /// The elements of a non-empty list.
    explicit Tuple(const std::vector<Expr> &e);
    /// All values of a call.
    Tuple(const FuncRef &f);

    /// Two or more elements.
    template <typename... Args, typename = std::enable_if_t<(std::is_convertible_v<Args, Expr> && ...)>>
    Tuple(const Expr &a, const Expr &b, Args &&...args) : exprs{a, b, Expr(std::forward<Args>(args))...} {}

    size_t size() const { return exprs.size(); }

    /// @throws CompileError  the index is out of range.
    Expr &operator[](size_t x);
    Expr operator[](size_t x) const;

    const std::vector<Expr> &as_vector() const { return exprs; }
};

/// Element by element: the true value where the condition holds. Sizes must agree.
// @{
Tuple select(const Tuple &condition, const Tuple &true_value, const Tuple &false_value);
Tuple select(const Expr &condition, const Tuple &true_value, const Tuple &false_value);
// @}

/// A chain of choices between Tuples: the value of the first condition that holds, else the last argument.
// @{
template <typename... Args>
inline Tuple select(const Tuple &c0, const Tuple &v0, const Tuple &c1, const Tuple &v1, Args &&...args) {
    return select(c0, v0, select(c1, v1, std::forward<Args>(args)...));
}
template <typename... Args>
inline Tuple select(const Expr &c0, const Tuple &v0, const Expr &c1, const Tuple &v1, Args &&...args) {
    return select(c0, v0, select(c1, v1, std::forward<Args>(args)...));
}
// @}

/// Value number `id`; outside the list, the last one. All must have the same type, Tuples the same size.
// @{
Expr mux(const Expr &id, const Tuple &values);
Expr mux(const Expr &id, const std::initializer_list<FuncRef> &values);
Tuple mux(const Expr &id, const std::initializer_list<Tuple> &values);
Tuple mux(const Expr &id, const std::vector<Tuple> &values);
// @}

}  // namespace Halide
