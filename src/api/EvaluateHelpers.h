#pragma once

#include <utility>

#include "api/Func.h"
#include "api/Tuple.h"

namespace Halide {

namespace Internal {

/// @throws CompileError  the value of an expression is not of the type it is to be stored as.
void check_evaluate_type(const Expr &e, const Type &type);

/// A Func without dimensions that has these values; scheduled for a GPU if the JIT target has one and it is asked for.
Func zero_dimensional_func(const Tuple &values, bool may_gpu);

template <typename First, typename... Rest>
inline void check_evaluate_types(const Tuple &t, size_t i, First *, Rest *...rest) {
    check_evaluate_type(t[i], type_of<First>());
    if constexpr (sizeof...(Rest) > 0) {
        check_evaluate_types(t, i + 1, rest...);
    }
}

template <typename First, typename... Rest>
inline void store_evaluated(const Realization &r, size_t i, First *first, Rest *...rest) {
    *first = Buffer<First>(r[i])();
    if constexpr (sizeof...(Rest) > 0) {
        store_evaluated(r, i + 1, rest...);
    }
}

/// @throws CompileError  the sizes differ.
void check_evaluate_size(const Tuple &t, size_t destinations);

template <typename... Ts>
inline void evaluate_tuple(JITUserContext *context, const Tuple &t, bool may_gpu, Ts *...destinations) {
    check_evaluate_size(t, sizeof...(Ts));
    check_evaluate_types(t, 0, destinations...);
    store_evaluated(zero_dimensional_func(t, may_gpu).realize(context), 0, destinations...);
}

}  // namespace Internal

/// The value of an expression without Vars, computed by JIT code. The type must match exactly.
// @{
template <typename T>
T evaluate(JITUserContext *context, const Expr &e) {
    T result;
    Internal::evaluate_tuple(context, Tuple(e), false, &result);
    return result;
}
template <typename T>
T evaluate(const Expr &e) {
    return evaluate<T>(nullptr, e);
}
template <typename First, typename... Rest>
void evaluate(JITUserContext *context, const Tuple &t, First first, Rest... rest) {
    Internal::evaluate_tuple(context, t, false, first, rest...);
}
template <typename First, typename... Rest>
void evaluate(const Tuple &t, First first, Rest... rest) {
    Internal::evaluate_tuple(nullptr, t, false, first, rest...);
}
// @}

/// The same on the GPU, if the JIT target has one.
// @{
template <typename T>
T evaluate_may_gpu(const Expr &e) {
    T result;
    Internal::evaluate_tuple(nullptr, Tuple(e), true, &result);
    return result;
}
template <typename First, typename... Rest>
void evaluate_may_gpu(const Tuple &t, First first, Rest... rest) {
    Internal::evaluate_tuple(nullptr, t, true, first, rest...);
}
// @}

}  // namespace Halide
