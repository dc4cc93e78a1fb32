#include "func/LoweredFunc.h"

#include <utility>

namespace Halide {
namespace Internal {

LoweredFunc::LoweredFunc(const std::string &name, const std::vector<LoweredArgument> &args, Stmt body,
                         LinkageType linkage, NameMangling mangling)
    : name(name), args(args), body(std::move(body)), linkage(linkage), name_mangling(mangling) {
}

LoweredFunc::LoweredFunc(const std::string &name, const std::vector<Argument> &args, Stmt body, LinkageType linkage,
                         NameMangling mangling)
    : name(name), body(std::move(body)), linkage(linkage), name_mangling(mangling) {
    for (const Argument &a : args) {
        this->args.emplace_back(a);
    }
}

}  // namespace Internal
}  // namespace Halide
