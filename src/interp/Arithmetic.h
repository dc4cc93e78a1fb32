#pragma once

#include "interp/Value.h"
#include "ir/IR.h"

#include <optional>

namespace Halide {
namespace Internal {

// The meaning of operations on single lanes, as the language defines them. Operands and results of Int(32) and Int(64)
// are exact: they may lie outside their type.

/// Reduces an integer modulo 2^bits into the range of its type.
Int128 wrap(const Type &t, Int128 v);
/// Whether an integer is a value of its type.
bool fits(const Type &t, Int128 v);
/// Clamps an integer to the range of its type.
Int128 saturate(const Type &t, Int128 v);
/// Rounds to a float type.
double round_to(const Type &t, double v);

/// Add … Max on a type, EQ … GE on operands of a type (the result is a bool), And, Or.
Scalar binary_operation(IRNodeType op, const Type &t, const Scalar &a, const Scalar &b);

Scalar cast_scalar(const Type &to, const Type &from, const Scalar &v);

/// The bits of a lane, and a lane from its bits.
uint64_t to_bits(const Type &t, const Scalar &v);
Scalar from_bits(const Type &t, uint64_t bits);

/// An intrinsic whose lanes are independent of each other. Empty if `op` is no such.
std::optional<Scalar> elementwise_intrinsic(Call::IntrinsicOp op, const Type &result, const std::vector<Type> &types,
                                            const std::vector<Scalar> &args);

/// A function of the mathematical library by the name that it has in IR (`sin_f32`). Empty if `name` is no such.
std::optional<Scalar> math_function(const std::string &name, const Type &result, const std::vector<Type> &types,
                                    const std::vector<Scalar> &args);

}  // namespace Internal
}  // namespace Halide
