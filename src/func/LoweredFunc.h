#pragma once

#include "ir/Argument.h"
#include "ir/Enums.h"
#include "ir/Expr.h"
#include "ir/ModulusRemainder.h"

#include <string>
#include <vector>

namespace Halide {
namespace Internal {

/// An argument of a compiled function.
struct LoweredArgument : public Argument {
    /// For buffers, what is known about the host pointer; for scalars, about the value.
    ModulusRemainder alignment;

    LoweredArgument() = default;
    explicit LoweredArgument(const Argument &arg) : Argument(arg) {
    }
    LoweredArgument(const std::string &name, Kind kind, const Type &t, uint8_t dimensions,
                    const ArgumentEstimates &estimates)
        : Argument(name, kind, t, dimensions, estimates) {
    }
};

/// A function ready for a code generator.
struct LoweredFunc {
    std::string name;
    std::vector<LoweredArgument> args;
    Stmt body;
    LinkageType linkage = LinkageType::Internal;
    NameMangling name_mangling = NameMangling::Default;
    /// Facts for the code generator, in its own words.
    std::vector<std::string> attributes;

    LoweredFunc() = default;
    LoweredFunc(const std::string &name, const std::vector<LoweredArgument> &args, Stmt body, LinkageType linkage,
                NameMangling mangling = NameMangling::Default);
    LoweredFunc(const std::string &name, const std::vector<Argument> &args, Stmt body, LinkageType linkage,
                NameMangling mangling = NameMangling::Default);
};

}  // namespace Internal
}  // namespace Halide
