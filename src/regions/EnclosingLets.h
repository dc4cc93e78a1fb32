#pragma once

#include <string>

#include "ir/Expr.h"
#include "ir/Scope.h"

namespace Halide {
namespace Internal {

/// The definitions around a place of a statement. Two ends that are definitions of their own cancel only when both are
/// expressed in the same variables.
///
/// Expects: names are unique along a path from the root, as they are from schedule-functions on.
class EnclosingLets {
public:
    void push(const std::string &name, const Expr &value);
    void pop(const std::string &name);

    /// The value of a name, null if it is not defined here.
    const Expr *find(const std::string &name) const {
        return values.find(name);
    }

    /// `e` simplified; definitions are written out, one layer at a time, until the result is a constant. Gives the
    /// simplified `e` if that does not happen within a few layers, or without growing too large.
    Expr simplify_to_constant(const Expr &e) const;

    /// Whether an integer or condition certainly is no constant: two choices of the variables that are defined further
    /// out give different values. Cheap.
    bool varies(const Expr &e) const;

private:
    Scope<Expr> values;
};

}  // namespace Internal
}  // namespace Halide
