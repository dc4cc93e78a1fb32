// Every expression is made a graph in which equal parts are one node (lets are opened first); nodes with several uses
// get names. What is only evaluated under a condition (the arms of if_then_else, the value of require) is treated as an
// expression of its own, so that no load, call or division leaves its guard.

#include "simplify/CommonSubexpressions.h"

#include "ir/IREquality.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRVisitor.h"

#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace Halide {
namespace Internal {

namespace {

// -- Equal nodes become one.

uint64_t mix(uint64_t h, uint64_t v) {
    h ^= v + 0x9e3779b97f4a7c15ull + (h << 6) + (h >> 2);
    return h * 0xff51afd7ed558ccdull;
}

// Children count by address: they are unique already.
template<typename F>
uint64_t hash_field(const F &f) {
    if constexpr (std::is_same_v<F, Expr>) {
        return (uint64_t)f.get() >> 4;
    } else if constexpr (std::is_same_v<F, std::vector<Expr>>) {
        uint64_t h = f.size();
        for (const Expr &e : f) {
            h = mix(h, (uint64_t)e.get() >> 4);
        }
        return h;
    } else if constexpr (std::is_same_v<F, std::string>) {
        return std::hash<std::string>()(f);
    } else if constexpr (std::is_same_v<F, std::vector<int>>) {
        uint64_t h = f.size();
        for (int i : f) {
            h = mix(h, (uint64_t)i);
        }
        return h;
    } else if constexpr (std::is_integral_v<F> || std::is_enum_v<F>) {
        return (uint64_t)f;
    } else {
        return 0;
    }
}

template<typename T>
uint64_t hash_node(const T *node) {
    if constexpr (std::is_same_v<T, IntImm> || std::is_same_v<T, UIntImm>) {
        return (uint64_t)node->value;
    } else if constexpr (std::is_same_v<T, FloatImm>) {
        return std::hash<double>()(node->value);
    } else if constexpr (std::is_same_v<T, StringImm>) {
        return std::hash<std::string>()(node->value);
    } else {
        uint64_t h = 0;
        std::apply([&](auto... field) { ((h = mix(h, hash_field(node->*field))), ...); }, T::fields());
        return h;
    }
}

uint64_t shallow_hash(const Expr &e) {
    const Type t = e.type();
    uint64_t h = mix((uint64_t)e.node_type(), ((uint64_t)t.code() << 32) | (t.bits() << 16) | t.lanes());
    switch (e.node_type()) {
#define HALIDE_HASH_NODE(T)                        \
    case IRNodeType::T:                            \
        return mix(h, hash_node((const T *)e.get()));
        HALIDE_FOR_EACH_IR_EXPR(HALIDE_HASH_NODE)
#undef HALIDE_HASH_NODE
    default:
        return h;
    }
}

// Rebuilds one node with its children mapped.
template<typename F>
class MapChildren : public IRMutator {
    F &map;
    bool at_root = true;

public:
    explicit MapChildren(F &map)
        : map(map) {
    }
    using IRMutator::mutate;
    Expr mutate(const Expr &e) override {
        if (!at_root) {
            return e.defined() ? map(e) : e;
        }
        at_root = false;
        return IRMutator::mutate(e);
    }
};

template<typename F>
Expr map_children(const Expr &e, F &&map) {
    return MapChildren<std::remove_reference_t<F>>(map).mutate(e);
}

class Uniquer {
    std::unordered_map<uint64_t, std::vector<Expr>> table;
    struct Known {
        Expr keep, unique;
        int scope;
    };
    std::unordered_map<const BaseExprNode *, Known> known;
    std::unordered_map<std::string, std::vector<Expr>> lets;
    int scope = 0, last_scope = 0;

    Expr intern(const Expr &e) {
        std::vector<Expr> &bucket = table[shallow_hash(e)];
        for (const Expr &other : bucket) {
            if (equal(other, e)) {
                return other;
            }
        }
        bucket.push_back(e);
        return e;
    }

    Expr open_lets(Expr e) {
        std::vector<std::string> names;
        const int outer = scope;
        while (const Let *let = e.as<Let>()) {
            const Expr value = unique(let->value);
            lets[let->name].push_back(value);
            names.push_back(let->name);
            scope = ++last_scope;
            e = let->body;
        }
        const Expr result = unique(e);
        for (const std::string &n : names) {
            lets[n].pop_back();
        }
        scope = outer;
        return result;
    }

public:
    Expr unique(const Expr &e) {
        if (e.as<Let>()) {
            return open_lets(e);
        }
        if (const Variable *v = e.as<Variable>()) {
            auto it = lets.find(v->name);
            if (it != lets.end() && !it->second.empty()) {
                return it->second.back();
            }
        }
        auto it = known.find(e.get());
        if (it != known.end() && it->second.scope == scope) {
            return it->second.unique;
        }
        const Expr result = intern(map_children(e, [this](const Expr &c) { return unique(c); }));
        known[e.get()] = {e, result, scope};
        return result;
    }
};

// -- Which nodes get names.

bool is_guard(const Call *call) {
    return call && call->is_intrinsic({Call::if_then_else, Call::require});
}

bool has_effect(const Expr &e) {
    const Call *c = e.as<Call>();
    return c && !c->is_pure() && c->call_type != Call::Halide;
}

bool worth_a_name(const Expr &e, bool lift_all) {
    if (is_const(e) || e.as<Variable>() || e.as<StringImm>() || e.type().is_handle()) {
        return false;
    }
    if (const Call *c = e.as<Call>()) {
        return !c->is_tag() && !c->is_intrinsic({Call::undef, Call::signed_integer_overflow, Call::unreachable,
                                                 Call::make_struct, Call::stringify, Call::bundle});
    }
    if (lift_all) {
        return true;
    }
    switch (e.node_type()) {
    case IRNodeType::Cast:
    case IRNodeType::Broadcast:
    case IRNodeType::Ramp:
        return false;
    case IRNodeType::Add:
    case IRNodeType::Sub: {
        const auto operands = as_binary_operands(e);
        return !is_const(operands->first) && !is_const(operands->second);
    }
    default:
        return true;
    }
}

class Eliminator {
    const bool lift_all;
    const std::set<std::string> &taken;
    int &counter;
    // Names given in this expression and those around it.
    std::unordered_map<const BaseExprNode *, Expr> named;

    struct Node {
        Expr e;
        /// Uses in this expression, and in what it guards.
        int uses = 0, guarded_uses = 0;
        bool effects = false;
    };

    struct Scan {
        std::unordered_map<const BaseExprNode *, Node> nodes;
        /// Children before parents.
        std::vector<Expr> order;
    };

    std::string next_name() {
        for (;;) {
            std::string name = "t" + std::to_string(counter++);
            if (!taken.count(name)) {
                return name;
            }
        }
    }

    // Calls f(child, whether it is guarded).
    template<typename F>
    static void for_each_child(const Expr &e, bool guarded, F &&f) {
        int arg = 0;
        const bool guard = is_guard(e.as<Call>());
        map_children(e, [&](const Expr &c) {
            f(c, guarded || (guard && arg > 0));
            arg++;
            return c;
        });
    }

    // Counts uses. @returns whether evaluating it has effects.
    bool scan(Scan &s, const Expr &e, bool guarded) {
        if (named.count(e.get())) {
            return false;
        }
        auto it = s.nodes.find(e.get());
        if (it != s.nodes.end()) {
            int &uses = guarded ? it->second.guarded_uses : it->second.uses;
            const bool first_unguarded = !guarded && it->second.uses == 0;
            uses++;
            if (!first_unguarded) {
                if (!worth_a_name(e, lift_all) && !is_const(e)) {
                    // It will be written out at each of its uses, and its parts with it.
                    for_each_child(e, guarded, [&](const Expr &c, bool g) { scan(s, c, g); });
                }
                return it->second.effects;
            }
        } else {
            Node n;
            n.e = e;
            (guarded ? n.guarded_uses : n.uses) = 1;
            s.nodes[e.get()] = n;
        }
        bool effects = has_effect(e);
        for_each_child(e, guarded, [&](const Expr &c, bool g) { effects |= scan(s, c, g); });
        s.nodes[e.get()].effects = effects;
        if (!guarded) {
            s.order.push_back(e);
        }
        return effects;
    }

public:
    Eliminator(bool lift_all, const std::set<std::string> &taken, int &counter)
        : lift_all(lift_all), taken(taken), counter(counter) {
    }

    Expr eliminate(const Expr &e) {
        Scan s;
        scan(s, e, false);
        std::vector<const BaseExprNode *> added;
        std::vector<std::pair<std::string, Expr>> lets;
        std::unordered_map<const BaseExprNode *, Expr> rebuilt;
        for (const Expr &node : s.order) {
            auto replace = [&](const Expr &c) {
                auto n = named.find(c.get());
                if (n != named.end()) {
                    return n->second;
                }
                auto r = rebuilt.find(c.get());
                return r != rebuilt.end() ? r->second : c;
            };
            int arg = 0;
            const bool guard = is_guard(node.as<Call>());
            Expr result = map_children(node, [&](const Expr &c) {
                const bool guarded = guard && arg > 0;
                arg++;
                if (guarded && !named.count(c.get())) {
                    return eliminate(c);
                }
                return replace(c);
            });
            const Node &n = s.nodes[node.get()];
            if (!node.same_as(e) && n.uses + n.guarded_uses > 1 && !n.effects && worth_a_name(node, lift_all)) {
                const std::string name = next_name();
                lets.emplace_back(name, result);
                result = Variable::make(node.type(), name);
                named[node.get()] = result;
                added.push_back(node.get());
            } else {
                rebuilt[node.get()] = result;
            }
        }
        auto n = named.find(e.get());
        Expr result = n != named.end() ? n->second : rebuilt[e.get()];
        for (const BaseExprNode *a : added) {
            named.erase(a);
        }
        for (size_t i = lets.size(); i-- > 0;) {
            result = Let::make(lets[i].first, lets[i].second, result);
        }
        return result;
    }
};

class NamesUsed : public IRGraphVisitor {
    using IRGraphVisitor::visit;
    void visit(const Variable *op) override {
        names.insert(op->name);
    }

public:
    std::set<std::string> names;
};

Expr eliminate_in(const Expr &e, bool lift_all, int &counter) {
    if (!e.defined() || is_const(e) || e.as<Variable>()) {
        return e;
    }
    Uniquer uniquer;
    const Expr unique = uniquer.unique(e);
    // Without its lets, so that the names of an earlier elimination can be given again.
    NamesUsed used;
    unique.accept(&used);
    const Expr result = Eliminator(lift_all, used.names, counter).eliminate(unique);
    return equal(result, e) ? e : result;
}

}  // namespace

Expr common_subexpression_elimination(const Expr &e, bool lift_all) {
    int counter = 0;
    return eliminate_in(e, lift_all, counter);
}

Stmt common_subexpression_elimination(const Stmt &s, bool lift_all) {
    class EveryExpr : public IRMutator {
        const bool lift_all;
        // Goes on from expression to expression: names are given once in a statement.
        int counter = 0;

    public:
        explicit EveryExpr(bool lift_all)
            : lift_all(lift_all) {
        }
        using IRMutator::mutate;
        Expr mutate(const Expr &e) override {
            return eliminate_in(e, lift_all, counter);
        }
    };
    return EveryExpr(lift_all).mutate(s);
}

}  // namespace Internal
}  // namespace Halide
