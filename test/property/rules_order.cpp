// That the rewrite rules of the simplifier end, that no rule hides another one, and that each has a name.

#include "RuleModel.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace {

using namespace rule_model;

// Termination. Each rule makes the expression less: by weight (operators and wildcards count more than constants), then
// by how deep constants stand, then by the left side of a comparison, then by operators from the outside in, then by
// constants (negative ones are large). Each holds whatever the wildcards stand for.

int weight_of(const Rule &rule, int index) {
    const Node &n = rule.nodes[index];
    if (n.sort == Sort::LaneCount) {
        return 0;
    }
    if (n.computed || n.kind == Kind::Constant || n.kind == Kind::Literal) {
        return 1;
    }
    if (n.kind == Kind::Wildcard) {
        return 2;
    }
    // Subtraction is the heavier of sum and difference, negation the lightest of all; ramps are heavy so that joining
    // two pays for a second subtraction.
    int w = n.node == IRNodeType::Sub || n.node == IRNodeType::Ramp ? 3 : n.node == IRNodeType::Not ? 1 : 2;
    for (int i = 0; i < n.children; i++) {
        w += weight_of(rule, n.child[i]);
    }
    return w;
}

bool is_vector_node(const Node &n) {
    return n.kind == Kind::Node && (n.node == IRNodeType::Ramp || n.node == IRNodeType::Broadcast);
}

bool is_leaf_constant(const Node &n) {
    return n.computed || n.kind == Kind::Constant || n.kind == Kind::Literal;
}

int constant_depth(const Rule &rule, int index, int depth) {
    const Node &n = rule.nodes[index];
    if (n.sort == Sort::LaneCount) {
        return 0;
    }
    if (is_leaf_constant(n)) {
        return depth;
    }
    int sum = 0;
    for (int i = 0; i < n.children; i++) {
        sum += constant_depth(rule, n.child[i], depth + !is_vector_node(n));
    }
    return sum;
}

// The operands of a comparison: the left one should be small.
int left_weight(const Rule &rule, int index) {
    const Node &n = rule.nodes[index];
    return n.kind == Kind::Node && is_comparison(n.node) ? weight_of(rule, n.child[0]) : 0;
}

struct Symbol {
    enum { Wildcard, Operator, Constant } kind;
    int rank;
    bool varies;
    bool operator==(const Symbol &o) const {
        return kind == o.kind && rank == o.rank;
    }
};

void preorder(const Rule &rule, int index, std::vector<Symbol> &out) {
    static const std::vector<IRNodeType> rank = {
        IRNodeType::Broadcast, IRNodeType::Ramp, IRNodeType::Not, IRNodeType::And, IRNodeType::Or, IRNodeType::EQ,
        IRNodeType::NE, IRNodeType::LT, IRNodeType::LE, IRNodeType::Add, IRNodeType::Sub, IRNodeType::Select,
        IRNodeType::Mul, IRNodeType::Mod, IRNodeType::Div, IRNodeType::Min, IRNodeType::Max};
    const Node &n = rule.nodes[index];
    if (n.sort == Sort::LaneCount) {
        return;
    }
    if (is_leaf_constant(n)) {
        out.push_back({Symbol::Constant, 0, false});
    } else if (n.kind == Kind::Wildcard) {
        out.push_back({Symbol::Wildcard, n.slot, n.varies});
    } else {
        out.push_back({Symbol::Operator, (int)(std::find(rank.begin(), rank.end(), n.node) - rank.begin()), false});
        for (int i = 0; i < n.children; i++) {
            preorder(rule, n.child[i], out);
        }
    }
}

// Whether a is greater than b whatever the wildcards stand for; constants are greater than everything.
bool greater(const std::vector<Symbol> &a, const std::vector<Symbol> &b) {
    for (size_t i = 0; i < a.size() && i < b.size(); i++) {
        if (a[i] == b[i]) {
            continue;
        }
        if (a[i].kind == Symbol::Constant) {
            return b[i].kind == Symbol::Operator || b[i].varies;
        }
        return a[i].kind == Symbol::Operator && b[i].kind == Symbol::Operator && a[i].rank > b[i].rank;
    }
    return false;
}

void constants_of(const Rule &rule, int index, Evaluator &e, __int128 &sum) {
    const Node &n = rule.nodes[index];
    if (n.sort == Sort::LaneCount || n.kind == Kind::Wildcard) {
        return;
    }
    if (is_leaf_constant(n)) {
        const __int128 v = e.evaluate(index, false);
        sum += v < 0 ? ((__int128)1 << 40) - v : v;
        return;
    }
    for (int i = 0; i < n.children; i++) {
        constants_of(rule, n.child[i], e, sum);
    }
}

// The law: what is not constant is not repeated.
void count_wildcards(const Rule &rule, int index, std::map<int, int> &count) {
    const Node &n = rule.nodes[index];
    if (n.kind == Kind::Wildcard) {
        count[n.slot]++;
    }
    for (int i = 0; i < n.children; i++) {
        count_wildcards(rule, n.child[i], count);
    }
}

TEST(Rules, RepeatNothing) {
    for (const Rule &rule : all_rules()) {
        std::map<int, int> before, after;
        count_wildcards(rule, rule.before, before);
        count_wildcards(rule, rule.after, after);
        for (const auto &[slot, n] : after) {
            EXPECT_LE(n, before[slot]) << rule.file << ":" << rule.line << "\n  " << rule.text;
        }
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// A rule is hidden if an earlier one without condition matches whenever it does.

bool covers(const Rule &general, int g, const Rule &special, int s, std::map<std::pair<int, int>, int> &bound) {
    const Node &a = general.nodes[g], &b = special.nodes[s];
    auto same_tree = [&](auto &&self, int x, int y) -> bool {
        const Node &p = special.nodes[x], &q = special.nodes[y];
        if (p.kind != q.kind || p.slot != q.slot || p.literal != q.literal || p.children != q.children ||
            (p.kind == Kind::Node && p.node != q.node)) {
            return false;
        }
        for (int i = 0; i < p.children; i++) {
            if (!self(self, p.child[i], q.child[i])) {
                return false;
            }
        }
        return true;
    };
    switch (a.kind) {
    case Kind::Wildcard:
    case Kind::Constant:
    case Kind::Lanes: {
        if (a.kind == Kind::Wildcard && a.varies && !(b.kind == Kind::Wildcard && b.varies) && b.kind != Kind::Node) {
            return false;
        }
        if (a.kind == Kind::Constant && b.kind != Kind::Constant && b.kind != Kind::Literal) {
            return false;
        }
        if (a.kind == Kind::Lanes && b.kind != Kind::Lanes) {
            return false;
        }
        auto [it, added] = bound.try_emplace({(int)a.kind, a.slot}, s);
        return added || same_tree(same_tree, it->second, s);
    }
    case Kind::Literal:
        return b.kind == Kind::Literal && a.literal == b.literal;
    case Kind::Node:
        if (b.kind != Kind::Node || a.node != b.node) {
            return false;
        }
        for (int i = 0; i < a.children; i++) {
            if (!covers(general, a.child[i], special, b.child[i], bound)) {
                return false;
            }
        }
        return true;
    default:
        return false;
    }
}

// The rule with some of its wildcards bound to constants.
Rule with_constants(const Rule &rule, unsigned slots) {
    Rule r = rule;
    for (Node &n : r.nodes) {
        if (n.kind == Kind::Wildcard && (slots >> n.slot & 1)) {
            n.kind = Kind::Constant;
            n.slot = (uint8_t)(rule.constants + n.slot);
            n.computed = true;
        }
    }
    // What is computed from constants only becomes one.
    bool changed = true;
    while (changed) {
        changed = false;
        for (size_t i = 0; i < r.nodes.size(); i++) {
            Node &n = r.nodes[i];
            const bool vector = is_vector_node(n);
            if (n.kind != Kind::Node || n.computed || vector) {
                continue;
            }
            bool all = true;
            for (int c = 0; c < n.children; c++) {
                all = all && r.nodes[n.child[c]].computed;
            }
            if (all) {
                n.computed = changed = true;
            }
        }
    }
    return r;
}

// Whether a simplified expression can look like this: operations on constants are folded, and constants stand right.
bool occurs(const Rule &rule, int index) {
    const Node &n = rule.nodes[index];
    if (n.kind != Kind::Node) {
        return true;
    }
    auto constant = [&](int c) { return is_leaf_constant(rule.nodes[n.child[c]]); };
    const bool commutes = n.node == IRNodeType::Add || n.node == IRNodeType::Mul || n.node == IRNodeType::Min ||
                          n.node == IRNodeType::Max || n.node == IRNodeType::EQ || n.node == IRNodeType::NE ||
                          n.node == IRNodeType::And || n.node == IRNodeType::Or;
    if ((commutes && constant(0)) || (n.node == IRNodeType::Not && constant(0)) ||
        (n.node == IRNodeType::Select && constant(0)) || n.computed ||
        (n.children == 2 && !is_vector_node(n) && constant(0) && constant(1))) {
        return false;
    }
    for (int i = 0; i < n.children; i++) {
        if (!occurs(rule, n.child[i])) {
            return false;
        }
    }
    return true;
}

// Empty, or why the rule does not make an expression less.
std::string not_less(const Rule &rule, std::mt19937 &random) {
    const int w0 = weight_of(rule, rule.before), w1 = weight_of(rule, rule.after);
    if (w0 != w1) {
        return w1 < w0 ? "" : "heavier";
    }
    const int d0 = constant_depth(rule, rule.before, 0), d1 = constant_depth(rule, rule.after, 0);
    if (d0 != d1) {
        return d1 < d0 ? "" : "constants deeper";
    }
    const int l0 = left_weight(rule, rule.before), l1 = left_weight(rule, rule.after);
    if (l0 != l1) {
        return l1 < l0 ? "" : "left side heavier";
    }
    std::vector<Symbol> p0, p1;
    preorder(rule, rule.before, p0);
    preorder(rule, rule.after, p1);
    if (!(p0 == p1)) {
        return greater(p0, p1) ? "" : "operators not less";
    }
    for (const Domain &d : domains_of(rule)) {
        for (int i = 0; i < 1000; i++) {
            Evaluator e(rule, d, random);
            if (rule.condition >= 0 && !e.evaluate(rule.condition, true)) {
                continue;
            }
            __int128 before = 0, after = 0;
            constants_of(rule, rule.before, e, before);
            constants_of(rule, rule.after, e, after);
            if (!(after < before)) {
                return "constants not less:" + e.text();
            }
        }
    }
    return "";
}

TEST(Rules, End) {
    std::mt19937 random(2);
    const std::vector<Rule> rules = all_rules(true);
    for (size_t i = 0; i < rules.size(); i++) {
        const Rule &rule = rules[i];
        unsigned varying = 0;
        for (const Node &n : rule.nodes) {
            if (n.kind == Kind::Wildcard && n.varies) {
                varying |= 1u << n.slot;
            }
        }
        for (unsigned slots = 0; slots < 1u << rule.wildcards; slots++) {
            if (slots & varying) {
                continue;
            }
            const Rule instance = with_constants(rule, slots);
            bool reachable = occurs(instance, instance.before);
            for (size_t j = 0; j < i && reachable && slots; j++) {
                std::map<std::pair<int, int>, int> bound;
                reachable = !(rules[j].condition < 0 && (rule.types & ~rules[j].types) == 0 &&
                              covers(rules[j], rules[j].before, instance, instance.before, bound));
            }
            if (reachable) {
                EXPECT_EQ(not_less(instance, random), "") << rule.file << ":" << rule.line << " with constants " << slots
                                                          << "\n  " << rule.text;
            }
        }
    }
}

TEST(Rules, AreNotHidden) {
    const std::vector<Rule> rules = all_rules(true);
    // All written forms of a rule must be hidden for the rule to be.
    std::map<std::string, std::pair<int, int>> forms;
    std::map<std::string, std::string> by;
    std::set<std::string> names;
    for (size_t i = 0; i < rules.size(); i++) {
        auto &[total, hidden] = forms[rules[i].name];
        total++;
        for (size_t j = 0; j < i; j++) {
            if (rules[j].condition >= 0 || rules[j].name == rules[i].name ||
                (rules[i].types & ~rules[j].types) != 0) {
                continue;
            }
            std::map<std::pair<int, int>, int> bound;
            if (covers(rules[j], rules[j].before, rules[i], rules[i].before, bound)) {
                hidden++;
                by[rules[i].name] = rules[j].name;
                break;
            }
        }
    }
    for (const auto &[name, counts] : forms) {
        EXPECT_LT(counts.second, counts.first) << name << " is hidden by " << by[name];
    }
}

TEST(Rules, HaveDifferentNames) {
    std::set<std::string> names;
    for (const Rule &rule : all_rules()) {
        EXPECT_TRUE(names.insert(rule.name).second) << rule.file << ":" << rule.line << ": " << rule.name;
    }
    EXPECT_GE(names.size(), 300u);
}

}  // namespace
