#pragma once

#include <string>

#include "ir/Expr.h"
#include "ir/Scope.h"

namespace Halide {
namespace Internal {

/// The definitions around a place of a statement, written out: two ends that are lets of their own cancel only when both
/// are expressed in the same loop variables.
///
/// Expects: names are unique along a path from the root, as they are from schedule-functions on.
/// Guarantees: a value written out has at most `max_nodes` nodes; a definition that would be larger stays a variable.
class EnclosingLets {
public:
    /// Enters a definition. Values that are not integers are not kept.
    void push(const std::string &name, const Expr &value);
    void pop(const std::string &name);

    /// `e` with the definitions around it written out, or `e` itself where the result would be too large.
    Expr expand(const Expr &e) const;

private:
    static constexpr int max_nodes = 64;
    /// Written out already; undefined where the value is too large to be repeated.
    Scope<Expr> values;
};

}  // namespace Internal
}  // namespace Halide
