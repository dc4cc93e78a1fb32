#include "simplify/RuleSet.h"

#include "ir/IR.h"
#include "ir/IREquality.h"
#include "ir/IROperator.h"
#include "support/Error.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>

namespace Halide {
namespace Internal {

namespace {

using Rule = RuleSet::Rule;
using Node = RuleSet::Node;
using Kind = RuleSet::Kind;
using Sort = RuleSet::Sort;

constexpr int const_broadcast_kind = (int)IRNodeType::VectorReduce + 1;

int kind_of(const Expr &e) {
    if (const Broadcast *b = e.as<Broadcast>()) {
        return is_const(b->value) ? const_broadcast_kind : (int)IRNodeType::Broadcast;
    }
    return (int)e.node_type();
}

bool is_constant_kind(int kind) {
    return kind == (int)IRNodeType::IntImm || kind == (int)IRNodeType::UIntImm || kind == (int)IRNodeType::FloatImm ||
           kind == const_broadcast_kind;
}

bool kind_can_match(const Node &n, int kind) {
    switch (n.kind) {
    case Kind::Wildcard:
        return !(n.varies && is_constant_kind(kind));
    case Kind::Constant:
    case Kind::Literal:
        return is_constant_kind(kind);
    case Kind::Node:
        return kind == (int)n.node || (n.node == IRNodeType::Broadcast && kind == const_broadcast_kind);
    default:
        return false;
    }
}

// The place of a grandchild that is not there.
constexpr uint8_t no_child = 63;
static_assert(const_broadcast_kind < no_child);

// Up to three children of an expression, as far as patterns name them.
struct Children {
    const Expr *child[3] = {nullptr, nullptr, nullptr};
    int lanes = 0;
};

Children children_of(const BaseExprNode *e) {
    Children r;
    switch (e->node_type) {
#define HALIDE_BINARY_CHILDREN(T)          \
    case IRNodeType::T:                    \
        r.child[0] = &((const T *)e)->a;   \
        r.child[1] = &((const T *)e)->b;   \
        break;
        HALIDE_BINARY_CHILDREN(Add)
        HALIDE_BINARY_CHILDREN(Sub)
        HALIDE_BINARY_CHILDREN(Mul)
        HALIDE_BINARY_CHILDREN(Div)
        HALIDE_BINARY_CHILDREN(Mod)
        HALIDE_BINARY_CHILDREN(Min)
        HALIDE_BINARY_CHILDREN(Max)
        HALIDE_BINARY_CHILDREN(EQ)
        HALIDE_BINARY_CHILDREN(NE)
        HALIDE_BINARY_CHILDREN(LT)
        HALIDE_BINARY_CHILDREN(LE)
        HALIDE_BINARY_CHILDREN(GT)
        HALIDE_BINARY_CHILDREN(GE)
        HALIDE_BINARY_CHILDREN(And)
        HALIDE_BINARY_CHILDREN(Or)
#undef HALIDE_BINARY_CHILDREN
    case IRNodeType::Not:
        r.child[0] = &((const Not *)e)->a;
        break;
    case IRNodeType::Select:
        r.child[0] = &((const Select *)e)->condition;
        r.child[1] = &((const Select *)e)->true_value;
        r.child[2] = &((const Select *)e)->false_value;
        break;
    case IRNodeType::Ramp:
        r.child[0] = &((const Ramp *)e)->base;
        r.child[1] = &((const Ramp *)e)->stride;
        r.lanes = ((const Ramp *)e)->lanes;
        break;
    case IRNodeType::Broadcast:
        r.child[0] = &((const Broadcast *)e)->value;
        r.lanes = ((const Broadcast *)e)->lanes;
        break;
    default:
        break;
    }
    return r;
}

std::optional<int64_t> integer_constant(const Expr &e) {
    if (auto i = as_const_int(e)) {
        return i;
    }
    if (auto u = as_const_uint(e); u && *u <= (uint64_t)std::numeric_limits<int64_t>::max()) {
        return (int64_t)*u;
    }
    return std::nullopt;
}

class Matcher {
    const Rule &rule;
    RuleSet::Bindings &bindings;

    bool type_allowed(const Expr &e, Sort sort) const {
        return sort == Sort::Bool || (rule.types & RuleSet::class_of(e.type()));
    }

    bool match_lanes(int index, int lanes) {
        const Node &n = rule.nodes[index];
        if (n.kind == Kind::Literal) {
            return n.literal == lanes;
        }
        if (bindings.lanes[n.slot] == 0) {
            bindings.lanes[n.slot] = lanes;
            return true;
        }
        return bindings.lanes[n.slot] == lanes;
    }

public:
    Matcher(const Rule &rule, RuleSet::Bindings &bindings)
        : rule(rule), bindings(bindings) {
    }

    bool match(int index, const Expr &e) {
        const Node &n = rule.nodes[index];
        switch (n.kind) {
        case Kind::Wildcard:
            if (const Expr *bound = bindings.wildcard[n.slot]) {
                return bound->same_as(e) || equal(*bound, e);
            }
            if (!type_allowed(e, n.sort) || (n.varies && is_const(e))) {
                return false;
            }
            bindings.wildcard[n.slot] = &e;
            return true;
        case Kind::Constant: {
            if (!type_allowed(e, n.sort)) {
                return false;
            }
            const std::optional<int64_t> value = integer_constant(e);
            if (!value) {
                return false;
            }
            const uint8_t bit = (uint8_t)(1 << n.slot);
            if (bindings.bound_constants & bit) {
                return bindings.constant[n.slot] == *value;
            }
            bindings.bound_constants |= bit;
            bindings.constant[n.slot] = *value;
            return true;
        }
        case Kind::Literal:
            return type_allowed(e, n.sort) && is_const(e, n.literal) &&
                   !(n.literal == 0 && e.type().is_float() && std::signbit(*as_const_float(e)));
        case Kind::Node: {
            if (e.node_type() != n.node) {
                return false;
            }
            const Children c = children_of(e.get());
            switch (n.node) {
            case IRNodeType::Broadcast:
                return match_lanes(n.child[1], c.lanes) && match(n.child[0], *c.child[0]);
            case IRNodeType::Ramp:
                return match_lanes(n.child[2], c.lanes) && match(n.child[0], *c.child[0]) &&
                       match(n.child[1], *c.child[1]);
            default:
                for (int i = 0; i < n.children; i++) {
                    if (!match(n.child[i], *c.child[i])) {
                        return false;
                    }
                }
                return true;
            }
        }
        default:
            return false;
        }
    }
};

using Wide = __int128;

std::optional<int64_t> fit(Wide v, const Type *type) {
    if (type && type->is_int_or_uint() && type->can_overflow() && type->bits() < 64) {
        const Wide period = Wide(1) << type->bits();
        v = ((v % period) + period) % period;
        if (type->is_int() && v >= period / 2) {
            v -= period;
        }
        return (int64_t)v;
    }
    if (v < std::numeric_limits<int64_t>::min() || v > std::numeric_limits<int64_t>::max()) {
        return std::nullopt;
    }
    if (type && !type->can_represent((int64_t)v)) {
        return std::nullopt;
    }
    return (int64_t)v;
}

Wide euclidean_quotient(Wide a, Wide b) {
    if (b == 0) {
        return 0;
    }
    const Wide q = a / b;
    return a % b < 0 ? (b > 0 ? q - 1 : q + 1) : q;
}

std::optional<int64_t> evaluate(const Rule &rule, int index, const RuleSet::Bindings &bindings, const Type *type) {
    const Node &n = rule.nodes[index];
    switch (n.kind) {
    case Kind::Literal:
        return fit(n.literal, type);
    case Kind::Constant:
        return bindings.constant[n.slot];
    case Kind::Lanes:
        return bindings.lanes[n.slot];
    case Kind::Negate: {
        const auto a = evaluate(rule, n.child[0], bindings, type);
        return a ? fit(-Wide(*a), type) : std::nullopt;
    }
    case Kind::Exact: {
        const auto exact = evaluate(rule, n.child[0], bindings, nullptr);
        return exact && type->can_represent(*exact) ? exact : std::nullopt;
    }
    case Kind::Wildcard:
        return std::nullopt;
    case Kind::Node:
        break;
    }
    const auto x = evaluate(rule, n.child[0], bindings, type);
    if (!x) {
        return std::nullopt;
    }
    // The second operand of && and || may be meaningless where the first decides.
    switch (n.node) {
    case IRNodeType::Not:
        return !*x;
    case IRNodeType::And:
        return *x ? evaluate(rule, n.child[1], bindings, type) : 0;
    case IRNodeType::Or:
        return *x ? 1 : evaluate(rule, n.child[1], bindings, type);
    case IRNodeType::Select:
        return evaluate(rule, n.child[*x ? 1 : 2], bindings, type);
    default:
        break;
    }
    const auto y = evaluate(rule, n.child[1], bindings, type);
    if (!y) {
        return std::nullopt;
    }
    const Wide a = *x, b = *y;
    switch (n.node) {
    case IRNodeType::Add:
        return fit(a + b, type);
    case IRNodeType::Sub:
        return fit(a - b, type);
    case IRNodeType::Mul:
        return fit(a * b, type);
    case IRNodeType::Div:
        return fit(euclidean_quotient(a, b), type);
    case IRNodeType::Mod:
        return fit(b == 0 ? 0 : a - b * euclidean_quotient(a, b), type);
    case IRNodeType::Min:
        return (int64_t)std::min(a, b);
    case IRNodeType::Max:
        return (int64_t)std::max(a, b);
    case IRNodeType::EQ:
        return a == b;
    case IRNodeType::NE:
        return a != b;
    case IRNodeType::LT:
        return a < b;
    case IRNodeType::LE:
        return a <= b;
    case IRNodeType::GT:
        return a > b;
    case IRNodeType::GE:
        return a >= b;
    default:
        return std::nullopt;
    }
}

}  // namespace

RuleSet::TypeClass RuleSet::class_of(const Type &type) {
    if (type.is_int()) {
        return type.bits() >= 32 ? Nowrap : Wrap;
    }
    return type.is_uint() ? Wrap : type.is_float() ? Float : Other;
}

std::optional<int64_t> RuleSet::compute(const Rule &rule, int node, const Bindings &bindings) {
    return evaluate(rule, node, bindings, nullptr);
}

std::optional<int64_t> RuleSet::compute_in(const Rule &rule, int node, const Bindings &bindings, const Type &type) {
    const auto value = evaluate(rule, node, bindings, &type);
    return value && (type.is_float() || type.can_represent(*value)) ? value : std::nullopt;
}

bool RuleSet::match(const Rule &rule, const Expr &e, Bindings &bindings) {
    bindings = Bindings();
    if (!Matcher(rule, bindings).match(rule.before, e)) {
        return false;
    }
    if (rule.condition >= 0) {
        const auto c = compute(rule, rule.condition, bindings);
        return c && *c;
    }
    return true;
}

RuleSet::RuleSet() {
    index.resize((size_t)IRNodeType::VectorReduce + 1);
    for (const auto &[file, text] : sources()) {
        for (Rule &r : parse(text, file, true)) {
            rules.push_back(std::move(r));
        }
    }
    internal_assert(rules.size() < 65536);
    for (size_t i = 0; i < rules.size(); i++) {
        const Node &root = rules[i].nodes[rules[i].before];
        internal_assert(root.kind == Kind::Node) << rules[i].name << ": the pattern is a leaf\n";
        index[(size_t)root.node].rules.push_back((uint16_t)i);
    }
    for (const Rule &rule : rules) {
        const Node &root = rule.nodes[rule.before];
        Quick q;
        q.grandchild.fill(~(uint64_t)0);
        for (int i = 0; i < 2 && root.child[i] >= 0; i++) {
            const Node &child = rule.nodes[root.child[i]];
            for (int j = 0; j < 2 && child.kind == Kind::Node && child.child[j] >= 0; j++) {
                const Node &below = rule.nodes[child.child[j]];
                if (below.sort == Sort::LaneCount) {
                    continue;
                }
                uint64_t &kinds = q.grandchild[2 * i + j];
                kinds = 0;
                for (int k = 0; k <= const_broadcast_kind; k++) {
                    kinds |= (uint64_t)kind_can_match(below, k) << k;
                }
            }
        }
        // Everything below a number has its type, or is a lane of it.
        q.types = rule.nodes[root.child[0]].sort == Sort::Number ? rule.types : 0xff;
        quick.push_back(q);
    }
    for (Index &in : index) {
        if (in.rules.empty()) {
            continue;
        }
        in.by_children.resize(child_kinds * child_kinds);
        for (uint16_t r : in.rules) {
            const Rule &rule = rules[r];
            const Node &root = rule.nodes[rule.before];
            const bool unary = root.children == 1 || root.node == IRNodeType::Broadcast;
            std::vector<int> first, second;
            for (int k = 0; k <= const_broadcast_kind; k++) {
                if (kind_can_match(rule.nodes[root.child[0]], k)) {
                    first.push_back(k);
                }
                if (!unary && kind_can_match(rule.nodes[root.child[1]], k)) {
                    second.push_back(k);
                }
            }
            if (unary) {
                second = {0};
            }
            for (int k0 : first) {
                for (int k1 : second) {
                    in.by_children[k0 * child_kinds + k1].push_back(r);
                }
            }
        }
    }
}

const RuleSet &RuleSet::get() {
    static const RuleSet set;
    return set;
}

RuleSet::Shape RuleSet::shape_of(const Expr &e) {
    Shape s;
    s.root = e.node_type();
    s.child = {0, 0};
    s.grandchild.fill(no_child);
    s.type_class = 0xff;
    const Children c = children_of(e.get());
    for (int i = 0; i < 2 && c.child[i]; i++) {
        s.child[i] = (uint8_t)kind_of(*c.child[i]);
        const Children below = children_of(c.child[i]->get());
        for (int j = 0; j < 2 && below.child[j]; j++) {
            s.grandchild[2 * i + j] = (uint8_t)kind_of(*below.child[j]);
        }
    }
    if (c.child[0]) {
        s.type_class = class_of(c.child[0]->type());
    }
    return s;
}

const std::vector<uint16_t> &RuleSet::candidates(const Shape &shape) const {
    static const std::vector<uint16_t> none;
    const Index &in = index[(size_t)shape.root];
    return in.by_children.empty() ? none : in.by_children[shape.child[0] * child_kinds + shape.child[1]];
}

}  // namespace Internal
}  // namespace Halide
