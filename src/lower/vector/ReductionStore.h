#pragma once

#include <optional>

#include "ir/IR.h"

namespace Halide {
namespace Internal {

/// The update `f[i] = f[i] op e`.
struct ReductionStore {
    VectorReduce::Operator op = VectorReduce::Add;
    Expr old_value, term;
};

/// Recognizes such an update; the term must not read what the update writes.
std::optional<ReductionStore> match_reduction(const Store *store);

/// a op b.
Expr combine(VectorReduce::Operator op, const Expr &a, const Expr &b);

/// What a dead lane contributes.
Expr identity(VectorReduce::Operator op, const Type &t);

}  // namespace Internal
}  // namespace Halide
