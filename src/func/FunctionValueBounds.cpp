#include "func/Function.h"
#include "ir/IROperator.h"
#include "regions/Bounds.h"

namespace Halide {
namespace Internal {

FuncValueBounds compute_function_value_bounds(const std::vector<std::string> &order,
                                              const std::map<std::string, Function> &env) {
    FuncValueBounds result;
    for (const std::string &name : order) {
        const Function &f = env.find(name)->second;
        Scope<Interval> args;
        for (const std::string &arg : f.args()) {
            args.push(arg, Interval::everything());
        }
        for (int i = 0; i < f.outputs(); i++) {
            // Updates may store anything.
            Interval bounds = bounds_of_type(f.output_types()[i]);
            if (f.is_pure()) {
                bounds = bounds_of_expr_in_scope(f.values()[i], args, result);
            }
            if (!bounds.is_everything()) {
                result[{name, i}] = bounds;
            }
        }
    }
    return result;
}

}  // namespace Internal
}  // namespace Halide
