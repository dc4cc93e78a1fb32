#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ir/Expr.h"
#include "ir/IRConstants.h"
#include "ir/Scope.h"
#include "ir/Target.h"
#include "ir/Type.h"

namespace Halide {
namespace Internal {

template<typename T>
using if_float = std::enable_if_t<std::is_floating_point_v<T>>;

struct ConstantInterval;

/// e as type t if that certainly keeps its value, else undefined.
/// @param scope  known ranges of integer variables.
/// @param cache  remembers ranges of subexpressions between calls.
Expr lossless_cast(Type t, Expr e);
Expr lossless_cast(Type t, Expr e, const Scope<ConstantInterval> &scope,
                   std::map<Expr, ConstantInterval, ExprCompare> *cache = nullptr);

/// −e if it can be written without a negation and certainly does not overflow, else undefined.
Expr lossless_negate(const Expr &e);

/// Marks a place that is never reached, as a value of type t.
Expr unreachable(Type t = Int(32));
template<typename T>
Expr unreachable() {
    return unreachable(type_of<T>());
}

/// value, of which the compiler has proved (not been told) that it lies between min and max.
Expr promise_clamped(const Expr &value, const Expr &min, const Expr &max);

/// Requires cond to be true where the value is used; args go into the message.
Expr requirement_failed_error(Expr condition, const std::vector<Expr> &args);

/// A call of halide_memoize… key replacement; see memoize_tag.
Expr memoize_tag_helper(Expr result, const std::vector<Expr> &cache_key_values);

/// The values of these as one value of pointer type, printed by the runtime.
Expr stringify(const std::vector<Expr> &args);

/// Rewrites all float arithmetic below e into its strict form. Calls of Funcs are not entered.
Expr strictify_float(const Expr &e);

/// Puts the definition's tag and its free variables into the random numbers below e.
Expr lower_random(const Expr &e, const std::vector<std::string> &free_vars, int tag);

/// @name Maths in the operations every target has, for float32
/// @{
Expr halide_log(const Expr &x);
Expr halide_exp(const Expr &x);
Expr halide_erf(const Expr &x);
/// @}

/// One argument of print, print_when or require.
inline void collect_print_args(std::vector<Expr> &) {
}
template<typename... Args>
void collect_print_args(std::vector<Expr> &args, const char *arg, Args &&...more_args) {
    args.push_back(Expr(std::string(arg)));
    collect_print_args(args, std::forward<Args>(more_args)...);
}
template<typename... Args>
void collect_print_args(std::vector<Expr> &args, Expr arg, Args &&...more_args) {
    args.push_back(std::move(arg));
    collect_print_args(args, std::forward<Args>(more_args)...);
}

}  // namespace Internal

/// @name Casts
/// @{
/// e converted to type t. @see the table in the language reference for out-of-range values.
Expr cast(Type t, Expr a);
template<typename T>
Expr cast(Expr a) {
    return cast(type_of<T>(), std::move(a));
}

/// e converted to type t, clamped to its range.
Expr saturating_cast(Type t, Expr e);
template<typename T>
Expr saturating_cast(Expr e) {
    return saturating_cast(type_of<T>(), std::move(e));
}

/// The bits of e as another type of the same total size.
Expr reinterpret(Type t, Expr e);
template<typename T>
Expr reinterpret(Expr e) {
    return reinterpret(type_of<T>(), std::move(e));
}
/// @}

/// @name Arithmetic
/// Operand types are matched first; a C++ int takes the type of the other operand. Division rounds so that the
/// remainder is not negative, and division by zero gives zero.
/// @{
Expr operator+(Expr a, Expr b);
Expr operator+(Expr a, int b);
Expr operator+(int a, Expr b);
Expr operator-(Expr a, Expr b);
Expr operator-(Expr a, int b);
Expr operator-(int a, Expr b);
Expr operator*(Expr a, Expr b);
Expr operator*(Expr a, int b);
Expr operator*(int a, Expr b);
Expr operator/(Expr a, Expr b);
Expr operator/(Expr a, int b);
Expr operator/(int a, Expr b);
Expr operator%(Expr a, Expr b);
Expr operator%(Expr a, int b);
Expr operator%(int a, Expr b);
Expr operator-(Expr a);

/// The right side is cast to the type of the left, which never changes.
Expr &operator+=(Expr &a, Expr b);
Expr &operator-=(Expr &a, Expr b);
Expr &operator*=(Expr &a, Expr b);
Expr &operator/=(Expr &a, Expr b);

/// Division as in C: toward zero; the remainder has the sign of x.
Expr div_round_to_zero(Expr x, Expr y);
Expr mod_round_to_zero(Expr x, Expr y);

/// Division by an unsigned 8-bit number through a table. The numerator has at most 32 bits.
Expr fast_integer_divide(const Expr &numerator, const Expr &denominator);
Expr fast_integer_divide_round_to_zero(const Expr &numerator, const Expr &denominator);
Expr fast_integer_modulo(const Expr &numerator, const Expr &denominator);
/// @}

/// @name Comparison and logic
/// @{
Expr operator<(Expr a, Expr b);
Expr operator<(Expr a, int b);
Expr operator<(int a, Expr b);
Expr operator>(Expr a, Expr b);
Expr operator>(Expr a, int b);
Expr operator>(int a, Expr b);
Expr operator<=(Expr a, Expr b);
Expr operator<=(Expr a, int b);
Expr operator<=(int a, Expr b);
Expr operator>=(Expr a, Expr b);
Expr operator>=(Expr a, int b);
Expr operator>=(int a, Expr b);
Expr operator==(Expr a, Expr b);
Expr operator==(Expr a, int b);
Expr operator==(int a, Expr b);
Expr operator!=(Expr a, Expr b);
Expr operator!=(Expr a, int b);
Expr operator!=(int a, Expr b);
Expr operator&&(Expr a, Expr b);
Expr operator&&(Expr a, bool b);
Expr operator&&(bool a, Expr b);
Expr operator||(Expr a, Expr b);
Expr operator||(Expr a, bool b);
Expr operator||(bool a, Expr b);
Expr operator!(Expr a);
/// @}

/// @name Floating-point literals: a double counts as a float, whatever the other operand is
/// @{
template<typename T, typename = Internal::if_float<T>>
Expr operator+(Expr a, T b) {
    return std::move(a) + Expr((float)b);
}
template<typename T, typename = Internal::if_float<T>>
Expr operator+(T a, Expr b) {
    return Expr((float)a) + std::move(b);
}
template<typename T, typename = Internal::if_float<T>>
Expr operator-(Expr a, T b) {
    return std::move(a) - Expr((float)b);
}
template<typename T, typename = Internal::if_float<T>>
Expr operator-(T a, Expr b) {
    return Expr((float)a) - std::move(b);
}
template<typename T, typename = Internal::if_float<T>>
Expr operator*(Expr a, T b) {
    return std::move(a) * Expr((float)b);
}
template<typename T, typename = Internal::if_float<T>>
Expr operator*(T a, Expr b) {
    return Expr((float)a) * std::move(b);
}
template<typename T, typename = Internal::if_float<T>>
Expr operator/(Expr a, T b) {
    return std::move(a) / Expr((float)b);
}
template<typename T, typename = Internal::if_float<T>>
Expr operator/(T a, Expr b) {
    return Expr((float)a) / std::move(b);
}
template<typename T, typename = Internal::if_float<T>>
Expr operator%(Expr a, T b) {
    return std::move(a) % Expr((float)b);
}
template<typename T, typename = Internal::if_float<T>>
Expr operator%(T a, Expr b) {
    return Expr((float)a) % std::move(b);
}
template<typename T, typename = Internal::if_float<T>>
Expr operator<(Expr a, T b) {
    return std::move(a) < Expr((float)b);
}
template<typename T, typename = Internal::if_float<T>>
Expr operator<(T a, Expr b) {
    return Expr((float)a) < std::move(b);
}
template<typename T, typename = Internal::if_float<T>>
Expr operator>(Expr a, T b) {
    return std::move(a) > Expr((float)b);
}
template<typename T, typename = Internal::if_float<T>>
Expr operator>(T a, Expr b) {
    return Expr((float)a) > std::move(b);
}
template<typename T, typename = Internal::if_float<T>>
Expr operator<=(Expr a, T b) {
    return std::move(a) <= Expr((float)b);
}
template<typename T, typename = Internal::if_float<T>>
Expr operator<=(T a, Expr b) {
    return Expr((float)a) <= std::move(b);
}
template<typename T, typename = Internal::if_float<T>>
Expr operator>=(Expr a, T b) {
    return std::move(a) >= Expr((float)b);
}
template<typename T, typename = Internal::if_float<T>>
Expr operator>=(T a, Expr b) {
    return Expr((float)a) >= std::move(b);
}
template<typename T, typename = Internal::if_float<T>>
Expr operator==(Expr a, T b) {
    return std::move(a) == Expr((float)b);
}
template<typename T, typename = Internal::if_float<T>>
Expr operator==(T a, Expr b) {
    return Expr((float)a) == std::move(b);
}
template<typename T, typename = Internal::if_float<T>>
Expr operator!=(Expr a, T b) {
    return std::move(a) != Expr((float)b);
}
template<typename T, typename = Internal::if_float<T>>
Expr operator!=(T a, Expr b) {
    return Expr((float)a) != std::move(b);
}
/// @}

/// @name Bits
/// A negative shift amount shifts the other way.
/// @{
Expr operator&(Expr x, Expr y);
Expr operator&(Expr x, int y);
Expr operator&(int x, Expr y);
Expr operator|(Expr x, Expr y);
Expr operator|(Expr x, int y);
Expr operator|(int x, Expr y);
Expr operator^(Expr x, Expr y);
Expr operator^(Expr x, int y);
Expr operator^(int x, Expr y);
Expr operator~(Expr x);
Expr operator<<(Expr x, Expr y);
Expr operator<<(Expr x, int y);
Expr operator>>(Expr x, Expr y);
Expr operator>>(Expr x, int y);

Expr popcount(Expr x);
/// The number of bits of x if x is zero.
Expr count_leading_zeros(Expr x);
Expr count_trailing_zeros(Expr x);

/// Bits lsb … lsb + bits(t) − 1 of e; bits that e does not have are zero.
Expr extract_bits(Type t, const Expr &e, const Expr &lsb);
template<typename T>
Expr extract_bits(const Expr &e, const Expr &lsb) {
    return extract_bits(type_of<T>(), e, lsb);
}
/// The bits of all e, the first least significant. Their number is a power of two.
Expr concat_bits(const std::vector<Expr> &e);
/// @}

/// @name Smallest, largest, distance
/// @{
Expr min(Expr a, Expr b);
Expr min(Expr a, int b);
Expr min(int a, Expr b);
Expr max(Expr a, Expr b);
Expr max(Expr a, int b);
Expr max(int a, Expr b);
template<typename T, typename = Internal::if_float<T>>
Expr min(Expr a, T b) {
    return min(std::move(a), Expr((float)b));
}
template<typename T, typename = Internal::if_float<T>>
Expr min(T a, Expr b) {
    return min(Expr((float)a), std::move(b));
}
template<typename T, typename = Internal::if_float<T>>
Expr max(Expr a, T b) {
    return max(std::move(a), Expr((float)b));
}
template<typename T, typename = Internal::if_float<T>>
Expr max(T a, Expr b) {
    return max(Expr((float)a), std::move(b));
}
/// Of three and more, folded from the right.
template<typename A, typename B, typename C, typename... Rest,
         std::enable_if_t<Internal::all_are_convertible<Expr, Rest...>::value> * = nullptr>
Expr min(const A &a, const B &b, const C &c, Rest &&...rest) {
    return min(a, min(b, c, std::forward<Rest>(rest)...));
}
template<typename A, typename B, typename C, typename... Rest,
         std::enable_if_t<Internal::all_are_convertible<Expr, Rest...>::value> * = nullptr>
Expr max(const A &a, const B &b, const C &c, Rest &&...rest) {
    return max(a, max(b, c, std::forward<Rest>(rest)...));
}

/// max(min(a, max_val), min_val). The bounds must fit in a's type.
Expr clamp(Expr a, const Expr &min_val, const Expr &max_val);
/// Unsigned for signed integers, so that it is always exact.
Expr abs(Expr a);
/// The distance of a and b; unsigned for integers.
Expr absd(Expr a, Expr b);
/// @}

/// @name Fixed-point arithmetic
/// Intermediate results are exact; the name says what happens at the end.
/// @{
Expr widening_add(Expr a, Expr b);
Expr widening_sub(Expr a, Expr b);
Expr widening_mul(Expr a, Expr b);
Expr widen_right_add(Expr a, Expr b);
Expr widen_right_sub(Expr a, Expr b);
Expr widen_right_mul(Expr a, Expr b);
Expr widening_shift_left(Expr a, Expr b);
Expr widening_shift_left(Expr a, int b);
Expr widening_shift_right(Expr a, Expr b);
Expr widening_shift_right(Expr a, int b);
Expr rounding_shift_left(Expr a, Expr b);
Expr rounding_shift_left(Expr a, int b);
Expr rounding_shift_right(Expr a, Expr b);
Expr rounding_shift_right(Expr a, int b);
Expr saturating_add(Expr a, Expr b);
Expr saturating_sub(Expr a, Expr b);
Expr halving_add(Expr a, Expr b);
Expr rounding_halving_add(Expr a, Expr b);
Expr halving_sub(Expr a, Expr b);
Expr mul_shift_right(Expr a, Expr b, Expr q);
Expr mul_shift_right(Expr a, Expr b, int q);
Expr rounding_mul_shift_right(Expr a, Expr b, Expr q);
Expr rounding_mul_shift_right(Expr a, Expr b, int q);

namespace Internal {
using Halide::halving_add;
using Halide::halving_sub;
using Halide::mul_shift_right;
using Halide::rounding_halving_add;
using Halide::rounding_mul_shift_right;
using Halide::rounding_shift_left;
using Halide::rounding_shift_right;
using Halide::saturating_add;
using Halide::saturating_sub;
using Halide::widen_right_add;
using Halide::widen_right_mul;
using Halide::widen_right_sub;
using Halide::widening_add;
using Halide::widening_mul;
using Halide::widening_shift_left;
using Halide::widening_shift_right;
using Halide::widening_sub;
}  // namespace Internal
/// @}

/// @name Maths
/// Float(64) and Float(16) arguments keep their type; everything else is computed in Float(32).
/// @{
Expr sin(Expr x);
Expr asin(Expr x);
Expr cos(Expr x);
Expr acos(Expr x);
Expr tan(Expr x);
Expr atan(Expr x);
Expr atan2(Expr y, Expr x);
Expr sinh(Expr x);
Expr asinh(Expr x);
Expr cosh(Expr x);
Expr acosh(Expr x);
Expr tanh(Expr x);
Expr atanh(Expr x);
Expr sqrt(Expr x);
Expr hypot(const Expr &x, const Expr &y);
Expr exp(Expr x);
Expr log(Expr x);
/// An integer constant as y multiplies repeatedly, in the type of x.
Expr pow(Expr x, Expr y);
/// Float(32) only.
Expr erf(const Expr &x);
/// a·b + c rounded once, always.
Expr fma(const Expr &a, const Expr &b, const Expr &c);

/// Less exact and faster, Float(32) only. fast_sin and fast_cos: error below 1e-5; the others: last five bits.
Expr fast_sin(const Expr &x);
Expr fast_cos(const Expr &x);
Expr fast_log(const Expr &x);
Expr fast_exp(const Expr &x);
Expr fast_pow(Expr x, Expr y);
/// Estimates of the hardware, which differ between CPUs. Float(16) or Float(32).
Expr fast_inverse(Expr x);
Expr fast_inverse_sqrt(Expr x);

Expr floor(Expr x);
Expr ceil(Expr x);
Expr trunc(Expr x);
/// To the nearest integer, ties to even.
Expr round(Expr x);
/// x − trunc(x).
Expr fract(const Expr &x);

Expr is_nan(Expr x);
Expr is_inf(Expr x);
Expr is_finite(Expr x);

/// All float operations below e exactly as written, with NaN, infinities and signed zeros.
Expr strict_float(const Expr &e);

/// zero·(1 − weight) + one·weight, where an unsigned integer weight stands for weight / its maximum.
Expr lerp(Expr zero_val, Expr one_val, Expr weight);
/// @}

/// @name Choice
/// @{
/// true_value where the condition holds, else false_value. All operands may be evaluated.
Expr select(Expr condition, Expr true_value, Expr false_value);

/// The value after the first condition that holds, or the last value.
template<typename... Args,
         std::enable_if_t<Internal::all_are_convertible<Expr, Args...>::value> * = nullptr>
Expr select(Expr c0, Expr v0, Expr c1, Expr v1, Args &&...args) {
    return select(std::move(c0), std::move(v0), select(std::move(c1), std::move(v1), std::forward<Args>(args)...));
}

/// Value number id, the last one if there is none of this number.
Expr mux(const Expr &id, const std::initializer_list<Expr> &values);
Expr mux(const Expr &id, const std::vector<Expr> &values);

/// Marks the usual case of a condition or bound, for loop partitioning.
Expr likely(Expr e);
Expr likely_if_innermost(Expr e);
/// @}

/// @name Printing and checking at run time
/// @{
/// The value of the first; each evaluation prints all of them.
Expr print(const std::vector<Expr> &values);
template<typename... Args>
Expr print(Expr a, Args &&...args) {
    std::vector<Expr> collected = {std::move(a)};
    Internal::collect_print_args(collected, std::forward<Args>(args)...);
    return print(collected);
}

/// Prints only when the condition holds.
Expr print_when(Expr condition, const std::vector<Expr> &values);
template<typename... Args>
Expr print_when(Expr condition, Expr a, Args &&...args) {
    std::vector<Expr> collected = {std::move(a)};
    Internal::collect_print_args(collected, std::forward<Args>(args)...);
    return print_when(std::move(condition), collected);
}

/// The value of the first; stops the pipeline with an error if the condition is false.
Expr require(Expr condition, const std::vector<Expr> &values);
template<typename... Args>
Expr require(Expr condition, Expr value, Args &&...args) {
    std::vector<Expr> collected = {std::move(value)};
    Internal::collect_print_args(collected, std::forward<Args>(args)...);
    return require(std::move(condition), collected);
}
/// @}

/// @name Special values
/// @{
/// A value that is not there: storing it does nothing.
Expr undef(Type t);
template<typename T>
Expr undef() {
    return undef(type_of<T>());
}

/// result; in the cache key of a memoized Func its dependences are replaced by its value, or by the given keys.
template<typename... Args>
Expr memoize_tag(Expr result, Args &&...args) {
    std::vector<Expr> keys{Expr(std::forward<Args>(args))...};
    return Internal::memoize_tag_helper(std::move(result), keys);
}

/// value, of which the program says that it lies between min and max (either may be undefined).
Expr unsafe_promise_clamped(const Expr &value, const Expr &min, const Expr &max);

/// Random numbers that depend on the point, the call and the seed only. Float in [0, 1).
Expr random_float(Expr seed = Expr());
Expr random_uint(Expr seed = Expr());
Expr random_int(Expr seed = Expr());

/// Several places, or several values, of one update.
Expr scatter(const std::vector<Expr> &args);
Expr gather(const std::vector<Expr> &args);
template<typename... Args>
Expr scatter(const Expr &e, Args &&...args) {
    return scatter(std::vector<Expr>{e, Expr(std::forward<Args>(args))...});
}
template<typename... Args>
Expr gather(const Expr &e, Args &&...args) {
    return gather(std::vector<Expr>{e, Expr(std::forward<Args>(args))...});
}
/// @}

/// @name The target, known when the pipeline is compiled
/// @{
Expr target_arch_is(Target::Arch arch);
Expr target_os_is(Target::OS os);
Expr target_has_feature(Target::Feature feature);
Expr target_bits();
Expr target_natural_vector_size(Type t);
template<typename T>
Expr target_natural_vector_size() {
    return target_natural_vector_size(type_of<T>());
}
/// @}

}  // namespace Halide
