#include "lower/loops/ConstantExtent.h"

#include "analysis/ExprUsesVar.h"
#include "ir/IROperator.h"
#include "ir/Substitute.h"
#include "simplify/Simplify.h"

namespace Halide {
namespace Internal {

std::optional<int64_t> constant_extent(const For *op, const Scope<Expr> &lets) {
    Expr e = simplify(op->max - op->min + 1);
    // The bounds may be names of enclosing lets: follow them, a step at a time, while they cancel or vanish.
    for (int step = 0; step < 16; step++) {
        if (std::optional<int64_t> c = as_const_int(e)) {
            return c;
        }
        Expr next = e;
        for (auto it = lets.cbegin(); it != lets.cend(); ++it) {
            if (expr_uses_var(next, it.name())) {
                next = substitute(it.name(), it.value(), next);
            }
        }
        if (next.same_as(e)) {
            break;
        }
        e = simplify(next);
    }
    return std::nullopt;
}

}  // namespace Internal
}  // namespace Halide
