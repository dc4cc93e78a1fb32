#pragma once

#include <string>
#include <unordered_map>
#include <utility>

#include "analysis/ConstantInterval.h"
#include "ir/IR.h"
#include "ir/Scope.h"

namespace Halide {
namespace Internal {

/// The values that index arithmetic can take, as exact integers: sums and products of Int(32) and Int(64) may leave the
/// type they are labelled with. Leaves have the range of their type, or the one their binding is known to have.
///
/// Takes time linear in the graph of an expression, however often its nodes are shared.
class IndexRanges {
public:
    /// Contains every value of `e`; of a vector, every lane.
    ConstantInterval of(const Expr &e);

    /// Binds a name while it lives.
    class Binding {
    public:
        Binding(IndexRanges &ranges, const std::string &name, const ConstantInterval &range);
        ~Binding();
        Binding(const Binding &) = delete;
        Binding &operator=(const Binding &) = delete;

    private:
        IndexRanges &ranges;
        const std::string name;
    };

private:
    Scope<ConstantInterval> bound;
    /// By node, which the entry keeps alive.
    std::unordered_map<const IRNode *, std::pair<Expr, ConstantInterval>> known;

    ConstantInterval compute(const Expr &e);
};

/// Whether all values are Int(32).
bool fits_int32(const ConstantInterval &i);

/// Whether a type is one of index arithmetic, scalar or vector.
bool is_index_type(const Type &t);

}  // namespace Internal
}  // namespace Halide
