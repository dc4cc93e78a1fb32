#pragma once

#include "ir/Expr.h"

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace Halide {
namespace Internal {

/// Where in a statement Funcs, images and buffers are mentioned: built in one walk, and then asked for any part of it.
/// Passes that follow each Func through the whole program ask it, so as not to walk where the Func does not occur.
class NameIndex {
public:
    explicit NameIndex(const Stmt &s);

    /// Whether a part of the statement mentions a name: in a call, a store or prefetch of it, a load, a declaration of a
    /// box, or a variable `name` or `name.….buffer`. True of statements that were no part of what was indexed.
    bool may_mention(const Stmt &part, const std::string &name) const;

private:
    class Walk;
    /// Positions in the order of the walk: of statements from their begin to their end.
    std::unordered_map<const IRNode *, std::pair<int, int>> spans;
    std::unordered_map<std::string, std::vector<int>> occurrences;
};

}  // namespace Internal
}  // namespace Halide
