#pragma once

#include "analysis/ConstantInterval.h"
#include "ir/Expr.h"
#include "ir/ModulusRemainder.h"

namespace Halide {
namespace Internal {

/// A callable passed down by reference: where the facts about a child node come from (recursion, a cache, a scope).
template<typename Result>
class FactsOf {
    const void *callee;
    Result (*invoke)(const void *, const Expr &);

public:
    template<typename F>
    FactsOf(const F &f)
        : callee(&f), invoke([](const void *c, const Expr &e) -> Result { return (*static_cast<const F *>(c))(e); }) {
    }
    Result operator()(const Expr &e) const {
        return invoke(callee, e);
    }
};

/// Constant bounds of one node from those of its children. Variables, lets and calls of Funcs are the caller's: here
/// they have the bounds of their type.
ConstantInterval constant_bounds_of_node(const Expr &e, FactsOf<ConstantInterval> child);

/// What is known of one node modulo a constant, from what is known of its children. Variables and lets are the caller's.
ModulusRemainder modulus_remainder_of_node(const Expr &e, FactsOf<ModulusRemainder> child);

}  // namespace Internal
}  // namespace Halide
