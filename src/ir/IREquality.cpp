#include "ir/IREquality.h"

#include "ir/IRConstants.h"
#include "ir/IRMatch.h"
#include "ir/StructuralHash.h"

#include <array>
#include <cstring>
#include <functional>
#include <unordered_map>
#include <unordered_set>

namespace Halide {
namespace Internal {

namespace {

int compare_values(int64_t a, int64_t b) {
    return a < b ? -1 : a > b ? 1 : 0;
}
int compare_values(uint64_t a, uint64_t b) {
    return a < b ? -1 : a > b ? 1 : 0;
}
int compare_values(const std::string &a, const std::string &b) {
    const int c = a.compare(b);
    return c < 0 ? -1 : c > 0 ? 1 : 0;
}
int compare_values(const Type &a, const Type &b) {
    return a == b ? 0 : a < b ? -1 : 1;
}
int compare_values(double a, double b) {
    if (a < b) {
        return -1;
    }
    if (a > b) {
        return 1;
    }
    // Zeros of both signs, and NaNs, differ by their bits.
    uint64_t a_bits, b_bits;
    memcpy(&a_bits, &a, 8);
    memcpy(&b_bits, &b, 8);
    return compare_values(a_bits, b_bits);
}

// A fixed number of pending pairs on the stack, more on the heap: most comparisons are of small things.
class PendingPairs {
    using Pair = std::pair<const IRNode *, const IRNode *>;
    std::array<Pair, 32> local;
    size_t count = 0;
    std::vector<Pair> more;

public:
    bool empty() const {
        return count == 0;
    }
    size_t size() const {
        return count + more.size();
    }
    void push(const IRNode *a, const IRNode *b) {
        if (count < local.size()) {
            local[count++] = {a, b};
        } else {
            more.emplace_back(a, b);
        }
    }
    Pair pop() {
        if (!more.empty()) {
            Pair p = more.back();
            more.pop_back();
            return p;
        }
        return local[--count];
    }
};

struct PairHash {
    size_t operator()(const std::pair<const IRNode *, const IRNode *> &p) const {
        return ((size_t)p.first >> 4) * 0x9e3779b97f4a7c15u ^ ((size_t)p.second >> 4);
    }
};

// What expr_match does with a Variable of the pattern: it matches, it does not, or it is an ordinary name.
enum class Hole { Filled, Refused, None };
using FillHole = std::function<Hole(const Variable *, const IRNode *)>;

bool matches_type(Type pattern, Type type) {
    return pattern.code() == type.code() && (pattern.bits() == 0 || pattern.bits() == type.bits()) &&
           (pattern.lanes() == 0 || pattern.lanes() == type.lanes());
}

// Compares two graphs: first what nodes hold themselves, then their children from left to right. The first difference
// in this walk decides.
class Comparer {
    PendingPairs pending;
    const bool remember;
    // If given, the left side is a pattern.
    const FillHole *fill_hole;
    std::unordered_set<std::pair<const IRNode *, const IRNode *>, PairHash> seen;

    // The children of the node at hand, in order; pushed backwards so that the first is looked at first.
    std::vector<std::pair<const IRNode *, const IRNode *>> children;

    int result = 0;

    template<typename V>
    bool differs(const V &a, const V &b) {
        result = compare_values(a, b);
        return result != 0;
    }

    bool field(const std::string &a, const std::string &b) {
        return differs(a, b);
    }
    bool field(const Type &a, const Type &b) {
        return differs(a, b);
    }
    bool field(const ModulusRemainder &a, const ModulusRemainder &b) {
        return differs(a.modulus, b.modulus) || differs(a.remainder, b.remainder);
    }
    bool field(const UnrollHint &a, const UnrollHint &b) {
        return field(a.kind, b.kind) || field(a.factor, b.factor);
    }
    template<typename E, typename = std::enable_if_t<std::is_enum_v<E> || std::is_integral_v<E>>>
    bool field(E a, E b) {
        return differs((int64_t)a, (int64_t)b);
    }
    template<typename V, typename = std::enable_if_t<!std::is_same_v<V, Expr> && !std::is_same_v<V, Range>>>
    bool field(const std::vector<V> &a, const std::vector<V> &b) {
        if (field(a.size(), b.size())) {
            return true;
        }
        for (size_t i = 0; i < a.size(); i++) {
            if (field(a[i], b[i])) {
                return true;
            }
        }
        return false;
    }
    template<typename V>
    bool field(const std::optional<V> &a, const std::optional<V> &b) {
        return field(a.has_value(), b.has_value()) || (a && field(*a, *b));
    }
    bool field(const IRHandle &a, const IRHandle &b) {
        children.emplace_back(a.get(), b.get());
        return false;
    }
    bool field(const std::vector<Expr> &a, const std::vector<Expr> &b) {
        if (field(a.size(), b.size())) {
            return true;
        }
        for (size_t i = 0; i < a.size(); i++) {
            children.emplace_back(a[i].get(), b[i].get());
        }
        return false;
    }
    bool field(const Region &a, const Region &b) {
        if (field(a.size(), b.size())) {
            return true;
        }
        for (size_t i = 0; i < a.size(); i++) {
            children.emplace_back(a[i].min.get(), b[i].min.get());
            children.emplace_back(a[i].extent.get(), b[i].extent.get());
        }
        return false;
    }
    bool field(const PrefetchDirective &a, const PrefetchDirective &b) {
        return field(a.name, b.name) || field(a.at, b.at) || field(a.from, b.from) || field(a.offset, b.offset) ||
               field(a.strategy, b.strategy);
    }
    // What a name is attached to does not count.
    bool field(const FunctionPtr &, const FunctionPtr &) {
        return false;
    }
    bool field(const Buffer<> &, const Buffer<> &) {
        return false;
    }
    bool field(const Parameter &, const Parameter &) {
        return false;
    }
    bool field(const ReductionDomain &, const ReductionDomain &) {
        return false;
    }

    bool fields(const IntImm *a, const IntImm *b) {
        return differs(a->value, b->value);
    }
    bool fields(const UIntImm *a, const UIntImm *b) {
        return differs(a->value, b->value);
    }
    bool fields(const FloatImm *a, const FloatImm *b) {
        return differs(a->value, b->value);
    }
    bool fields(const StringImm *a, const StringImm *b) {
        return differs(a->value, b->value);
    }
    template<typename T>
    bool fields(const T *a, const T *b) {
        return std::apply([&](auto... f) { return (field(a->*f, b->*f) || ...); }, T::fields());
    }

    bool node(const IRNode *a, const IRNode *b) {
        if (field(a->node_type, b->node_type)) {
            return true;
        }
        if (a->node_type <= StrongestExprNodeType) {
            const Type left = ((const BaseExprNode *)a)->type, right = ((const BaseExprNode *)b)->type;
            if (!(fill_hole && matches_type(left, right)) && differs(left, right)) {
                return true;
            }
        }
        switch (a->node_type) {
#define HALIDE_IR_CASE(T) \
    case IRNodeType::T:   \
        return fields((const T *)a, (const T *)b);
            HALIDE_FOR_EACH_IR_NODE(HALIDE_IR_CASE)
#undef HALIDE_IR_CASE
        }
        return false;
    }

public:
    explicit Comparer(bool remember, const FillHole *fill_hole = nullptr)
        : remember(remember), fill_hole(fill_hole) {
    }

    int compare(const IRNode *a, const IRNode *b) {
        pending.push(a, b);
        while (!pending.empty()) {
            auto [x, y] = pending.pop();
            // Equal parts of a pattern still have holes to fill.
            if (x == y && !fill_hole) {
                continue;
            }
            if (!x && !y) {
                continue;
            }
            if (!x || !y) {
                return x ? 1 : -1;
            }
            if (remember && !seen.insert({x, y}).second) {
                // Equal, or the walk would have ended; or still being compared.
                continue;
            }
            if (fill_hole && x->node_type == IRNodeType::Variable) {
                const Hole hole = (*fill_hole)((const Variable *)x, y);
                if (hole == Hole::Filled) {
                    continue;
                }
                if (hole == Hole::Refused) {
                    return 1;
                }
            }
            children.clear();
            if (node(x, y)) {
                return result;
            }
            for (size_t i = children.size(); i > 0; i--) {
                pending.push(children[i - 1].first, children[i - 1].second);
            }
        }
        return 0;
    }
};

// Decides the easy cases without setting up a walk.
int compare(const IRHandle &a, const IRHandle &b, bool remember) {
    if (a.get() == b.get()) {
        return 0;
    }
    if (!a.defined() || !b.defined()) {
        return a.defined() ? 1 : -1;
    }
    if (a.node_type() != b.node_type()) {
        return a.node_type() < b.node_type() ? -1 : 1;
    }
    return Comparer(remember).compare(a.get(), b.get());
}

}  // namespace

bool equal(const Expr &a, const Expr &b) {
    return compare(a, b, false) == 0;
}
bool equal(const Stmt &a, const Stmt &b) {
    return compare(a, b, false) == 0;
}
bool equal(const Expr &a, int b) {
    return is_const(a, b);
}
bool graph_equal(const Expr &a, const Expr &b) {
    return compare(a, b, true) == 0;
}
bool graph_equal(const Stmt &a, const Stmt &b) {
    return compare(a, b, true) == 0;
}
bool less_than(const Expr &a, const Expr &b) {
    return compare(a, b, false) < 0;
}
bool less_than(const Stmt &a, const Stmt &b) {
    return compare(a, b, false) < 0;
}
bool graph_less_than(const Expr &a, const Expr &b) {
    return compare(a, b, true) < 0;
}
bool graph_less_than(const Stmt &a, const Stmt &b) {
    return compare(a, b, true) < 0;
}

namespace {

// A hole takes an expression of a fitting type.
bool fits(const Variable *hole, const IRNode *node) {
    return node->node_type <= StrongestExprNodeType && matches_type(hole->type, ((const BaseExprNode *)node)->type);
}

}  // namespace

bool expr_match(const Expr &pattern, const Expr &expr, std::vector<Expr> &result) {
    result.clear();
    const FillHole fill = [&](const Variable *hole, const IRNode *node) {
        if (hole->name != "*") {
            return Hole::None;
        }
        if (!fits(hole, node)) {
            return Hole::Refused;
        }
        result.emplace_back((const BaseExprNode *)node);
        return Hole::Filled;
    };
    if (Comparer(false, &fill).compare(pattern.get(), expr.get()) == 0) {
        return true;
    }
    result.clear();
    return false;
}

bool expr_match(const Expr &pattern, const Expr &expr, std::map<std::string, Expr> &result) {
    const FillHole fill = [&](const Variable *hole, const IRNode *node) {
        if (!fits(hole, node)) {
            return Hole::Refused;
        }
        Expr &matched = result[hole->name];
        const Expr e((const BaseExprNode *)node);
        if (!matched.defined()) {
            matched = e;
        }
        return equal(matched, e) ? Hole::Filled : Hole::Refused;
    };
    if (Comparer(false, &fill).compare(pattern.get(), expr.get()) == 0) {
        return true;
    }
    result.clear();
    return false;
}

namespace {

class Hasher {
    std::unordered_map<const IRNode *, uint64_t> hashes;
    uint64_t h = 0;
    // Children whose hashes are still missing.
    std::vector<const IRNode *> missing;
    // While there is some, children are hashed by recursion: enough for what is small. When it has run out, the hashes
    // of nodes are remembered.
    int fuel = 0;
    // Whether only the kind counts of what is left when the fuel has run out.
    bool top_only = false;

    void mix(uint64_t x) {
        h = (h ^ x) * 0x9e3779b97f4a7c15u;
        h ^= h >> 32;
    }
    void child(const IRNode *n) {
        if (!n) {
            mix(0);
            return;
        }
        if (fuel > 0) {
            fuel--;
            const uint64_t outer = h;
            const uint64_t below = hash_of_node(n);
            h = outer;
            mix(below);
            return;
        }
        if (top_only) {
            mix((uint64_t)n->node_type);
            return;
        }
        auto it = hashes.find(n);
        if (it == hashes.end()) {
            missing.push_back(n);
        } else {
            mix(it->second);
        }
    }

    void field(const std::string &s) {
        mix(s.size());
        size_t i = 0;
        for (; i + 8 <= s.size(); i += 8) {
            uint64_t word;
            memcpy(&word, s.data() + i, 8);
            mix(word);
        }
        uint64_t rest = 0;
        if (i < s.size()) {
            memcpy(&rest, s.data() + i, s.size() - i);
        }
        mix(rest);
    }
    void field(const Type &t) {
        mix((uint64_t)t.code() | (uint64_t)t.bits() << 8 | (uint64_t)t.lanes() << 16);
    }
    void field(double x) {
        uint64_t bits;
        memcpy(&bits, &x, 8);
        mix(bits);
    }
    void field(const ModulusRemainder &m) {
        mix((uint64_t)m.modulus);
        mix((uint64_t)m.remainder);
    }
    void field(const UnrollHint &hint) {
        mix((uint64_t)hint.kind);
        mix((uint64_t)hint.factor);
    }
    template<typename E, typename = std::enable_if_t<std::is_enum_v<E> || std::is_integral_v<E>>>
    void field(E a) {
        mix((uint64_t)a);
    }
    void field(const IRHandle &handle) {
        child(handle.get());
    }
    void field(const Range &r) {
        child(r.min.get());
        child(r.extent.get());
    }
    template<typename V>
    void field(const std::vector<V> &items) {
        mix(items.size());
        for (const V &v : items) {
            field(v);
        }
    }
    template<typename V>
    void field(const std::optional<V> &v) {
        mix(v.has_value());
        if (v) {
            field(*v);
        }
    }
    void field(const PrefetchDirective &p) {
        field(p.name);
        field(p.at);
        field(p.from);
        field(p.offset);
        field(p.strategy);
    }
    void field(const FunctionPtr &) {
    }
    void field(const Buffer<> &) {
    }
    void field(const Parameter &) {
    }
    void field(const ReductionDomain &) {
    }

    void fields(const IntImm *op) {
        field(op->value);
    }
    void fields(const UIntImm *op) {
        field(op->value);
    }
    void fields(const FloatImm *op) {
        field(op->value);
    }
    void fields(const StringImm *op) {
        field(op->value);
    }
    template<typename T>
    void fields(const T *op) {
        std::apply([&](auto... f) { (field(op->*f), ...); }, T::fields());
    }

    uint64_t hash_of_node(const IRNode *n) {
        h = 0;
        field(n->node_type);
        if (n->node_type <= StrongestExprNodeType) {
            field(((const BaseExprNode *)n)->type);
        }
        switch (n->node_type) {
#define HALIDE_IR_CASE(T)      \
    case IRNodeType::T:        \
        fields((const T *)n);  \
        break;
            HALIDE_FOR_EACH_IR_NODE(HALIDE_IR_CASE)
#undef HALIDE_IR_CASE
        }
        return h;
    }

public:
    uint64_t hash_of_top(const IRNode *root) {
        constexpr int top = 64;
        top_only = true;
        fuel = top;
        return root ? hash_of_node(root) : 0;
    }

    uint64_t hash(const IRNode *root) {
        if (!root) {
            return 0;
        }
        constexpr int small = 100;
        fuel = small;
        const uint64_t whole = hash_of_node(root);
        if (fuel > 0) {
            return whole;
        }
        missing.clear();
        std::vector<const IRNode *> stack = {root};
        while (!stack.empty()) {
            const IRNode *n = stack.back();
            if (hashes.count(n)) {
                stack.pop_back();
                continue;
            }
            missing.clear();
            const uint64_t value = hash_of_node(n);
            if (missing.empty()) {
                hashes.emplace(n, value);
                stack.pop_back();
            } else {
                stack.insert(stack.end(), missing.begin(), missing.end());
            }
        }
        return hashes.at(root);
    }
};

}  // namespace

uint64_t structural_hash(const Expr &e) {
    return Hasher().hash(e.get());
}
uint64_t structural_hash(const Stmt &s) {
    return Hasher().hash(s.get());
}
uint64_t structural_hash_of_top(const Expr &e) {
    return Hasher().hash_of_top(e.get());
}

}  // namespace Internal
}  // namespace Halide
