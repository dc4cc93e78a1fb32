#pragma once

// The rules of the simplifier as the tests see them: all of them, the types they are for, and their values for random operands.

#include <cstdint>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "ExactArithmetic.h"
#include "simplify/RuleSet.h"

namespace rule_model {

using namespace Halide;
using namespace Halide::Internal;
using Rule = RuleSet::Rule;
using Node = RuleSet::Node;
using Kind = RuleSet::Kind;
using Sort = RuleSet::Sort;

inline std::vector<Rule> all_rules(bool expand = false) {
    std::vector<Rule> result;
    for (const auto &[file, text] : RuleSet::sources()) {
        for (Rule &r : RuleSet::parse(text, file, expand)) {
            result.push_back(std::move(r));
        }
    }
    return result;
}

inline bool is_logic(IRNodeType t) {
    return t == IRNodeType::And || t == IRNodeType::Or || t == IRNodeType::Not;
}

inline bool is_comparison(IRNodeType t) {
    return t >= IRNodeType::EQ && t <= IRNodeType::GE;
}

// The lanes of ramps and broadcasts are one lane here: number l0 of n0, within number l1 of n1. A dimension of n0 * n1
// lanes has lane l1 * n0 + l0.
inline bool is_lane_product(const Rule &rule, int index) {
    return rule.nodes[index].kind == Kind::Node && rule.nodes[index].node == IRNodeType::Mul;
}

/// What a rule holds for: one kind of numbers.
struct Domain {
    enum Type { Integers, Bits, Floats } type;
    unsigned bits;
    bool is_signed;
    std::string name() const {
        return type == Integers ? "unbounded integers" :
               type == Floats   ? "floats" :
                                  (is_signed ? "int" : "uint") + std::to_string(bits);
    }
};

inline std::vector<Domain> domains_of(const Rule &rule) {
    std::vector<Domain> r;
    if (rule.types & RuleSet::Nowrap) {
        r.push_back({Domain::Integers, 0, true});
    }
    if (rule.types & RuleSet::Wrap) {
        for (unsigned bits : {8u, 16u}) {
            r.push_back({Domain::Bits, bits, true});
            r.push_back({Domain::Bits, bits, false});
        }
        r.push_back({Domain::Bits, 1, false});
    }
    if (rule.types & RuleSet::Float) {
        r.push_back({Domain::Floats, 0, true});
    }
    return r;
}

/// A rule over small and extreme values, drawn where they are first needed.
class Evaluator {
    const Rule &rule;
    const Domain &d;
    std::mt19937 &random;
    std::map<std::pair<int, int>, int64_t> values;

    int64_t wrap(__int128 v) const {
        if (d.type != Domain::Bits) {
            return (int64_t)v;
        }
        const __int128 period = (__int128)1 << d.bits;
        v = ((v % period) + period) % period;
        return (int64_t)(d.is_signed && v >= period / 2 ? v - period : v);
    }

    int64_t value_of(Kind kind, int slot) {
        auto [it, added] = values.try_emplace({(int)kind, slot}, 0);
        if (added) {
            switch (random() % 4) {
            case 0:
                it->second = wrap((int)(random() % 5) - 2);
                break;
            case 1:
                it->second = wrap((int)(random() % 33) - 16);
                break;
            case 2:
                it->second = wrap((int64_t)(random() % 4096) - 2048);
                break;
            default:
                // Often related to another value.
                it->second = values.size() > 1 ? wrap(values.begin()->second * (int)(random() % 4) + (int)(random() % 3) - 1) : 0;
            }
        }
        return it->second;
    }

    int64_t lane(int index) {
        if (is_lane_product(rule, index)) {
            return lane(rule.nodes[index].child[1]) * lanes(rule.nodes[index].child[0]) + lane(rule.nodes[index].child[0]);
        }
        return value_of(Kind::Lanes, 100 + rule.nodes[index].slot) & 7;
    }

    int64_t lanes(int index) {
        return (value_of(Kind::Lanes, rule.nodes[index].slot) & 7) + 1;
    }

public:
    bool fires = true;

    Evaluator(const Rule &rule, const Domain &d, std::mt19937 &random)
        : rule(rule), d(d), random(random) {
    }

    __int128 evaluate(int index, bool exact) {
        const Node &n = rule.nodes[index];
        auto fit = [&](__int128 v) { return exact ? v : (__int128)wrap(v); };
        switch (n.kind) {
        case Kind::Wildcard:
            return n.sort == Sort::Bool ? value_of(n.kind, n.slot) & 1 : value_of(n.kind, n.slot);
        case Kind::Constant:
            return value_of(n.kind, n.slot);
        case Kind::Lanes:
            return lanes(index);
        case Kind::Literal:
            return n.sort == Sort::Bool ? n.literal : fit(n.literal);
        case Kind::Negate:
            return fit(-evaluate(n.child[0], exact));
        case Kind::Exact: {
            const __int128 v = evaluate(n.child[0], true);
            fires = fires && v == wrap(v);
            return wrap(v);
        }
        case Kind::Node:
            break;
        }
        const __int128 a = evaluate(n.child[0], exact);
        switch (n.node) {
        case IRNodeType::Not:
            return !a;
        case IRNodeType::Select:
            return evaluate(n.child[a ? 1 : 2], exact);
        case IRNodeType::Broadcast:
            return a;
        case IRNodeType::Ramp:
            return fit(a + lane(n.child[2]) * evaluate(n.child[1], exact));
        default:
            break;
        }
        const auto v = exact_arithmetic::binary(n.node, a, evaluate(n.child[1], exact));
        if (!v) {
            throw std::runtime_error("unexpected node in " + rule.name);
        }
        return fit(*v);
    }

    std::string text() const {
        std::string s;
        for (const auto &[key, v] : values) {
            s += (key.first == (int)Kind::Constant ? " c" : key.first == (int)Kind::Wildcard ? " x" : " n") +
                 std::to_string(key.second) + "=" + std::to_string(v);
        }
        return s;
    }
};

}  // namespace rule_model
