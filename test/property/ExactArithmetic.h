#pragma once

// What operators mean for exact integers, written apart from the compiler.

#include <algorithm>
#include <optional>

#include "ir/IR.h"

namespace exact_arithmetic {

using Halide::Internal::IRNodeType;

/// Euclidean; 0 for a division by zero.
inline __int128 quotient(__int128 a, __int128 b) {
    if (b == 0) {
        return 0;
    }
    const __int128 q = a / b;
    return a % b < 0 ? (b > 0 ? q - 1 : q + 1) : q;
}

/// Nothing for what is no binary operator.
inline std::optional<__int128> binary(IRNodeType op, __int128 a, __int128 b) {
    switch (op) {
    case IRNodeType::Add:
        return a + b;
    case IRNodeType::Sub:
        return a - b;
    case IRNodeType::Mul:
        return a * b;
    case IRNodeType::Div:
        return quotient(a, b);
    case IRNodeType::Mod:
        return b == 0 ? 0 : a - b * quotient(a, b);
    case IRNodeType::Min:
        return std::min(a, b);
    case IRNodeType::Max:
        return std::max(a, b);
    case IRNodeType::EQ:
        return a == b;
    case IRNodeType::NE:
        return a != b;
    case IRNodeType::LT:
        return a < b;
    case IRNodeType::LE:
        return a <= b;
    case IRNodeType::GT:
        return a > b;
    case IRNodeType::GE:
        return a >= b;
    case IRNodeType::And:
        return a && b;
    case IRNodeType::Or:
        return a || b;
    default:
        return std::nullopt;
    }
}

}  // namespace exact_arithmetic
