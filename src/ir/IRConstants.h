#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ir/Expr.h"
#include "ir/Type.h"
#include "support/Error.h"
#include "support/Float16.h"
#include "support/Util.h"

namespace Halide {
namespace Internal {

/// @name Recognizing constants
/// All look through Broadcast, so that a vector of equal constants counts as that constant.
/// @{
bool is_const(const Expr &e);
bool is_const(const Expr &e, int64_t v);
/// The value of an integer constant of signed type.
std::optional<int64_t> as_const_int(const Expr &e);
/// The value of an integer constant of unsigned type.
std::optional<uint64_t> as_const_uint(const Expr &e);
/// The value of a float constant.
std::optional<double> as_const_float(const Expr &e);
/// The exponent of an integer constant that is a power of two.
std::optional<int> is_const_power_of_two_integer(const Expr &e);
std::optional<int> is_const_power_of_two_integer(uint64_t v);
std::optional<int> is_const_power_of_two_integer(int64_t v);
bool is_positive_const(const Expr &e);
bool is_negative_const(const Expr &e);
bool is_const_zero(const Expr &e);
bool is_const_one(const Expr &e);
/// A direct `undef()`, not an expression that contains one.
bool is_undef(const Expr &e);
/// A statement that does nothing.
bool is_no_op(const Stmt &s);
/// No side effect, and the same value whenever evaluated: no impure call, no call of a Func, no load from an internal
/// allocation.
bool is_pure(const Expr &e);
/// @}

/// @name Making constants
/// @{
Expr make_const_int(Type t, int64_t v);
Expr make_const_uint(Type t, uint64_t v);
Expr make_const_float(Type t, double v);

/// The number v as a constant of type t, converted as by a C cast, broadcast if t is a vector.
template<typename T>
Expr make_const(Type t, T v) {
    if constexpr (std::is_same_v<T, float16_t> || std::is_same_v<T, bfloat16_t>) {
        return make_const_float(t, (double)v);
    } else if constexpr (std::is_floating_point_v<T>) {
        return make_const_float(t, (double)v);
    } else if constexpr (std::is_unsigned_v<T> && sizeof(T) == 8) {
        return make_const_uint(t, (uint64_t)v);
    } else {
        return make_const_int(t, (int64_t)v);
    }
}

Expr make_bool(bool val, int lanes = 1);
Expr make_zero(Type t);
Expr make_one(Type t);
Expr make_two(Type t);
Expr const_true(int lanes = 1);
Expr const_false(int lanes = 1);

/// Stands for the result of constant arithmetic that leaves a signed type; an error if it survives lowering.
Expr make_signed_integer_overflow(Type type);
bool is_signed_integer_overflow(const Expr &expr);

/// @throws CompileError if the integer is not exactly representable in t.
void check_representable(Type t, int64_t v);

/// A C++ integer standing beside an operand: a constant of that operand's type.
Expr make_matching_const(const Expr &other, int v);
/// @}

/// @name Making types agree
/// @{
/// Gives both the same type, by the rules of promotion.
void match_types(Expr &a, Expr &b);
/// The same for bitwise operators: integers of one signedness only.
void match_types_bitwise(Expr &a, Expr &b, const char *op_name);
/// Gives both the same number of bits, each keeping its signedness.
void match_bits(Expr &a, Expr &b);
/// Broadcasts a scalar that stands beside a vector.
void match_lanes(Expr &a, Expr &b);
/// @}

/// x^p by repeated multiplication, in the type of x.
Expr raise_to_integer_power(Expr x, int64_t p);

/// The conditions whose conjunction is `cond`.
void split_into_ands(const Expr &cond, std::vector<Expr> &result);

/// If e is a ramp of this constant stride, its base; otherwise undefined.
Expr strided_ramp_base(const Expr &e, int stride = 1);

/// @name Division of the language: Euclidean and total
/// @{
/// a / b; 0 if b is 0.
template<typename T>
T div_imp(T a, T b) {
    if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, float16_t> || std::is_same_v<T, bfloat16_t>) {
        return a / b;
    } else {
        if (b == 0) {
            return 0;
        }
        if constexpr (std::is_signed_v<T>) {
            using U = std::make_unsigned_t<T>;
            if (b == T(-1)) {
                return (T)(U(0) - (U)a);
            }
            const T quotient = (T)(a / b);
            const T remainder = (T)(a % b);
            return remainder >= 0 ? quotient : (T)(b > 0 ? quotient - 1 : quotient + 1);
        } else {
            return (T)(a / b);
        }
    }
}

/// a % b, never negative; 0 if b is 0. For floats: a − b · floor(a / b).
template<typename T>
T mod_imp(T a, T b) {
    if constexpr (std::is_same_v<T, float16_t> || std::is_same_v<T, bfloat16_t>) {
        return T(mod_imp((float)a, (float)b));
    } else if constexpr (std::is_floating_point_v<T>) {
        return a - b * std::floor(a / b);
    } else {
        if (b == 0 || b == (T)-1) {
            if constexpr (std::is_signed_v<T>) {
                return 0;
            } else if (b == 0) {
                return 0;
            }
        }
        const T remainder = (T)(a % b);
        if constexpr (std::is_signed_v<T>) {
            return remainder >= 0 ? remainder : (T)(b > 0 ? remainder + b : remainder - b);
        } else {
            return remainder;
        }
    }
}
/// @}

/// @name Lets around an expression
/// @{
using LetList = std::vector<std::pair<std::string, Expr>>;
/// Takes off the Lets around e, outermost first.
Expr peel_lets(const Expr &e, LetList &lets);
/// Puts Lets around e again, all of them or those that are used.
Expr rewrap_all_lets(const Expr &e, const LetList &lets);
Expr rewrap_used_lets(const Expr &e, const LetList &lets);
/// @}

/// @name Tags
/// @{
Expr remove_likelies(const Expr &e);
Stmt remove_likelies(const Stmt &s);
Expr remove_promises(const Expr &e);
Stmt remove_promises(const Stmt &s);
/// Takes likely, likely_if_innermost and promises off the outside of e.
Expr unwrap_tags(const Expr &e);
/// @}

/// The operands of a node that has exactly two (Add … Or).
std::optional<std::pair<Expr, Expr>> as_binary_operands(const Expr &e);
/// A node of a type that has two operands.
Expr make_binary_op(IRNodeType type, Expr a, Expr b);

}  // namespace Internal
}  // namespace Halide
