#pragma once

#include "ir/Expr.h"

#include <string>

namespace Halide {
namespace Internal {

/// A loop in the words of the program: the loop f.s1.r$x.ro is the dimension `r$x.ro` of the stage `f.update(0)`.
struct LoopWords {
    std::string func, stage, dim;

    explicit LoopWords(const std::string &loop_name);

    /// "the extent of x is n" if n is made of parameters and constants only, otherwise "… is not known at compile
    /// time".
    std::string extent(const Expr &extent) const;
};

}  // namespace Internal
}  // namespace Halide
