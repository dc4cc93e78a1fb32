#pragma once

#include "ir/IR.h"

#include <string>
#include <vector>

namespace Halide {
namespace Internal {

struct WellFormedOptions {
    /// Whether variables that nothing binds are allowed (parameters and the like are always).
    bool allow_free_variables = true;
};

/// What is structurally wrong with a statement: undefined children, types or lane counts that do not fit together,
/// buffers used with different types or outside their scope of life. One line per finding; empty if all is well.
std::vector<std::string> check_well_formed(const Stmt &s, const WellFormedOptions &options = WellFormedOptions());
std::vector<std::string> check_well_formed(const Expr &e, const WellFormedOptions &options = WellFormedOptions());

}  // namespace Internal
}  // namespace Halide
