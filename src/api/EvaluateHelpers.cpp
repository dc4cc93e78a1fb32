#include "api/EvaluateHelpers.h"

#include "ir/IRPrinter.h"

namespace Halide {
namespace Internal {

void check_evaluate_type(const Expr &e, const Type &type) {
    user_assert(e.defined()) << "Can't evaluate an undefined Expr.\n";
    user_assert(e.type() == type) << "Can't evaluate expression " << e << " of type " << e.type()
                                  << " as a scalar of type " << type << ".\n";
}

void check_evaluate_size(const Tuple &t, size_t destinations) {
    user_assert(t.size() == destinations)
        << "Can't evaluate a Tuple of " << t.size() << " elements into " << destinations << " variables.\n";
}

Func zero_dimensional_func(const Tuple &values, bool may_gpu) {
    Func f;
    f() = values;
    if (may_gpu && get_jit_target_from_environment().has_gpu_feature()) {
        f.gpu_single_thread();
    }
    return f;
}

}  // namespace Internal
}  // namespace Halide
