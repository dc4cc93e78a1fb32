#include "lower/nest/NameSharedValues.h"

#include "ir/IRMutator.h"
#include "ir/IRVisitor.h"
#include "simplify/CommonSubexpressions.h"

#include <algorithm>
#include <unordered_map>

namespace Halide {
namespace Internal {

namespace {

/// Paths from the root of an expression to its nodes, and the nodes. Beyond `most` nothing is counted.
class CountPaths : public IRGraphVisitor {
    using IRGraphVisitor::include;
    static constexpr int64_t most = int64_t(1) << 40;
    std::unordered_map<const IRNode *, int64_t> known;
    int64_t below = 0;

    void include(const Expr &e) override {
        auto it = known.find(e.get());
        if (it == known.end()) {
            const int64_t outer = below;
            below = 0;
            e.accept(this);
            it = known.emplace(e.get(), below + 1).first;
            below = outer;
        }
        below = std::min(below + it->second, most);
    }

public:
    int64_t paths(const Expr &e) {
        include(e);
        return below;
    }
    int64_t nodes() const {
        return (int64_t)known.size();
    }
};

bool is_tangled(const Expr &e) {
    constexpr int64_t ordinary = 500, ratio = 8;
    CountPaths count;
    const int64_t paths = count.paths(e);
    return paths > ordinary && paths > ratio * count.nodes();
}

}  // namespace

Expr name_shared_values(const Expr &e) {
    return is_tangled(e) ? common_subexpression_elimination(e) : e;
}

Stmt name_shared_values(const Stmt &s, LowerContext &) {
    class NameShared : public IRMutator {
    public:
        using IRMutator::mutate;
        Expr mutate(const Expr &e) override {
            return e.defined() ? name_shared_values(e) : e;
        }
    };
    return NameShared().mutate(s);
}

}  // namespace Internal
}  // namespace Halide
