#pragma once

#include "analysis/NameIndex.h"
#include "regions/Bounds.h"

#include <string>

namespace Halide {
namespace Internal {

/// As box_touched(s, fn, …), walking only where the index of the whole program says that `fn` occurs.
Box box_touched(const Stmt &s, const std::string &fn, const NameIndex &index,
                const FuncValueBounds &func_bounds = empty_func_value_bounds());

}  // namespace Internal
}  // namespace Halide
