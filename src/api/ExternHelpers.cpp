#include "api/ExternHelpers.h"

#include "ir/IR.h"
#include "ir/IRPrinter.h"

namespace Halide {
namespace Internal {

Expr make_extern_call(const Type &return_type, const std::string &name, const std::vector<Type> &parameter_types,
                      const std::vector<Expr> &args, bool pure) {
    for (size_t i = 0; i < args.size(); i++) {
        user_assert(args[i].defined()) << "Argument " << i << " of the extern function " << name << " is undefined.\n";
        user_assert(args[i].type() == parameter_types[i])
            << "Type mismatch for argument " << i << " to extern function " << name << ". Type expected is "
            << parameter_types[i] << " but the argument " << args[i] << " has type " << args[i].type() << ".\n";
    }
    return Call::make(return_type, name, args, pure ? Call::PureExtern : Call::Extern);
}

}  // namespace Internal
}  // namespace Halide
