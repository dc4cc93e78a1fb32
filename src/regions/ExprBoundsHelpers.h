#pragma once

// What the rules of interval arithmetic share (ExprBounds.cpp, ExprBoundsOfCalls.cpp); nobody else includes this.

#include "analysis/ConstantInterval.h"
#include "ir/Expr.h"
#include "ir/Interval.h"

namespace Halide {
namespace Internal {

/// Known range of the values in an interval.
ConstantInterval constant_range(const Interval &i, const Type &t);

/// Whether an operation with this exact result has the same in the type.
bool holds_without_wrap(const Type &t, const ConstantInterval &exact);

enum class Sign {
    Zero,
    Positive,
    NonNegative,
    Negative,
    NonPositive,
    Unknown,
};

Sign sign_of(const Interval &i, const Type &t);
bool at_least_zero(Sign s);
bool at_most_zero(Sign s);

Interval bounds_of_bool();
Expr negated(const Expr &e);

/// A value whose arithmetic does not wrap: narrow integers in 32 bits, unsigned ones of 32 bits in 64.
Expr widened(const Expr &e);

}  // namespace Internal
}  // namespace Halide
