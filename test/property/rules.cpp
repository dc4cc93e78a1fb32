// Every rewrite rule of the simplifier, as it is written, against an SMT solver and random numbers; that the rules end;
// and that no rule hides another one.
//
// Proofs are cached in rules_proved.txt by hash of line and solver version. The ordinary run proves what is not in there
// and a twentieth of the rest; BROMIDE_FULL=1 proves everything; BROMIDE_UPDATE_PROOFS=1 writes the file.

#include "simplify/RuleSet.h"

#include <gtest/gtest.h>
#include <z3++.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>

namespace {

using namespace Halide;
using namespace Halide::Internal;
using Rule = RuleSet::Rule;
using Node = RuleSet::Node;
using Kind = RuleSet::Kind;
using Sort = RuleSet::Sort;

// Steps of the solver, so that the answer does not depend on the machine; and a time limit far above.
constexpr unsigned step_limit = 4000000, time_limit_ms = 60000;

std::vector<Rule> all_rules(bool expand = false) {
    std::vector<Rule> result;
    for (const auto &[file, text] : RuleSet::sources()) {
        for (Rule &r : RuleSet::parse(text, file, expand)) {
            result.push_back(std::move(r));
        }
    }
    return result;
}

bool is_logic(IRNodeType t) {
    return t == IRNodeType::And || t == IRNodeType::Or || t == IRNodeType::Not;
}

bool is_comparison(IRNodeType t) {
    return t >= IRNodeType::EQ && t <= IRNodeType::GE;
}

// The lanes of ramps and broadcasts are one lane here: number l0 of n0, within number l1 of n1. A dimension of n0 * n1
// lanes has lane l1 * n0 + l0.
bool is_lane_product(const Rule &rule, int index) {
    return rule.nodes[index].kind == Kind::Node && rule.nodes[index].node == IRNodeType::Mul;
}

// ---------------------------------------------------------------------------------------------------------------------
// Proofs.

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

std::vector<Domain> domains_of(const Rule &rule) {
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

class Translator {
    z3::context &c;
    const Rule &rule;
    const Domain d;
    // Conditions are exact; the constants of wrapping types are extended to so many bits for them.
    static constexpr unsigned exact_bits = 64;

    z3::expr number(const std::string &name) {
        switch (d.type) {
        case Domain::Integers:
            return c.int_const(name.c_str());
        case Domain::Bits:
            return c.bv_const(name.c_str(), d.bits);
        default:
            return c.fpa_const(name.c_str(), 3, 5);
        }
    }

    z3::expr literal(int64_t v) {
        switch (d.type) {
        case Domain::Integers:
            return c.int_val(v);
        case Domain::Bits:
            return c.bv_val(v, d.bits);
        default:
            return z3::expr(c, Z3_mk_fpa_numeral_int(c, (int)v, c.fpa_sort(3, 5)));
        }
    }

    z3::expr exact_literal(int64_t v) {
        return d.type == Domain::Bits ? c.bv_val(v, exact_bits) : c.int_val(v);
    }

    z3::expr extend(const z3::expr &e) {
        if (d.type != Domain::Bits) {
            return e;
        }
        return d.is_signed ? z3::sext(e, exact_bits - d.bits) : z3::zext(e, exact_bits - d.bits);
    }

    z3::expr zero_if(const z3::expr &divisor, const z3::expr &zero, const z3::expr &otherwise) {
        return z3::ite(divisor == zero, zero, otherwise);
    }

    // Euclidean.
    z3::expr divide(const z3::expr &a, const z3::expr &b, bool as_signed, bool remainder) {
        if (a.is_int()) {
            return zero_if(b, c.int_val(0), remainder ? z3::mod(a, b) : a / b);
        }
        const unsigned bits = a.get_sort().bv_size();
        const z3::expr zero = c.bv_val(0, bits);
        if (!as_signed) {
            return zero_if(b, zero, remainder ? z3::urem(a, b) : z3::udiv(a, b));
        }
        const z3::expr q = a / b, r = z3::srem(a, b), one = c.bv_val(1, bits);
        if (remainder) {
            return zero_if(b, zero, z3::ite(r < zero, z3::ite(b > zero, r + b, r - b), r));
        }
        return zero_if(b, zero, z3::ite(r < zero, z3::ite(b > zero, q - one, q + one), q));
    }

    z3::expr less(const z3::expr &a, const z3::expr &b, bool as_signed) {
        if (a.is_bool()) {
            return !a && b;
        }
        return a.is_bv() && !as_signed ? z3::ult(a, b) : a < b;
    }

    z3::expr operation(IRNodeType type, const z3::expr &a, const z3::expr &b, bool as_signed) {
        const bool fp = a.is_fpa();
        switch (type) {
        case IRNodeType::Add:
            return a + b;
        case IRNodeType::Sub:
            return a - b;
        case IRNodeType::Mul:
            return a * b;
        case IRNodeType::Div:
            return fp ? a / b : divide(a, b, as_signed, false);
        case IRNodeType::Mod:
            if (fp) {
                // Some function of both.
                const z3::sort s = a.get_sort();
                return c.function("float_mod", s, s, s)(a, b);
            }
            return divide(a, b, as_signed, true);
        case IRNodeType::Min:
            return z3::ite(less(a, b, as_signed), a, b);
        case IRNodeType::Max:
            return z3::ite(less(b, a, as_signed), a, b);
        case IRNodeType::EQ:
            return fp ? z3::expr(c, Z3_mk_fpa_eq(c, a, b)) : a == b;
        case IRNodeType::NE:
            return fp ? !z3::expr(c, Z3_mk_fpa_eq(c, a, b)) : a != b;
        case IRNodeType::LT:
            return less(a, b, as_signed);
        case IRNodeType::LE:
            return fp ? a <= b : !less(b, a, as_signed);
        case IRNodeType::GT:
            return less(b, a, as_signed);
        case IRNodeType::GE:
            return fp ? b <= a : !less(a, b, as_signed);
        case IRNodeType::And:
            return a && b;
        case IRNodeType::Or:
            return a || b;
        default:
            throw std::runtime_error("unexpected node in " + rule.name);
        }
    }

    z3::expr lane(int index) {
        if (is_lane_product(rule, index)) {
            return lane(rule.nodes[index].child[1]) * number("n" + std::to_string(rule.nodes[rule.nodes[index].child[0]].slot)) +
                   lane(rule.nodes[index].child[0]);
        }
        return number("l" + std::to_string(rule.nodes[index].slot));
    }

public:
    // What must hold for constants that are computed.
    std::vector<z3::expr> side_conditions;

    Translator(z3::context &c, const Rule &rule, const Domain &d)
        : c(c), rule(rule), d(d) {
    }

    // exact: in a condition, or inside exact(…).
    z3::expr translate(int index, bool exact) {
        const Node &n = rule.nodes[index];
        switch (n.kind) {
        case Kind::Wildcard:
            return n.sort == Sort::Bool ? c.bool_const(("b" + std::to_string(n.slot)).c_str()) :
                                          number("x" + std::to_string(n.slot));
        case Kind::Constant: {
            const z3::expr v = number("c" + std::to_string(n.slot));
            return exact ? extend(v) : v;
        }
        case Kind::Lanes: {
            const z3::expr v = number("n" + std::to_string(n.slot));
            return exact ? extend(v) : v;
        }
        case Kind::Literal:
            if (n.sort == Sort::Bool) {
                return c.bool_val(n.literal != 0);
            }
            return exact ? exact_literal(n.literal) : literal(n.literal);
        case Kind::Negate: {
            const z3::expr v = translate(n.child[0], exact);
            return -v;
        }
        case Kind::Exact: {
            const z3::expr wrapped = translate(n.child[0], false);
            if (d.type == Domain::Bits) {
                side_conditions.push_back(extend(wrapped) == translate(n.child[0], true));
            }
            return wrapped;
        }
        case Kind::Node:
            break;
        }
        switch (n.node) {
        case IRNodeType::Not:
            return !translate(n.child[0], exact);
        case IRNodeType::Select:
            return z3::ite(translate(n.child[0], exact), translate(n.child[1], exact), translate(n.child[2], exact));
        case IRNodeType::Broadcast:
            return translate(n.child[0], exact);
        case IRNodeType::Ramp:
            return translate(n.child[0], exact) + lane(n.child[2]) * translate(n.child[1], exact);
        default:
            return operation(n.node, translate(n.child[0], exact), translate(n.child[1], exact), exact || d.is_signed);
        }
    }
};

// Empty if proved, else what happened.
std::string prove(const Rule &rule, const Domain &domain) {
    z3::context c;
    z3::solver solver(c);
    z3::params p(c);
    p.set("timeout", time_limit_ms);
    p.set("rlimit", step_limit);
    solver.set(p);
    Translator t(c, rule, domain);
    const z3::expr before = t.translate(rule.before, false), after = t.translate(rule.after, false);
    if (rule.condition >= 0) {
        solver.add(t.translate(rule.condition, true));
    }
    for (const z3::expr &e : t.side_conditions) {
        solver.add(e);
    }
    // For floats, equal means the same bits, except that every NaN is one value.
    solver.add(before != after);
    switch (solver.check()) {
    case z3::unsat:
        return "";
    case z3::unknown:
        return "not decided within the limit";
    default: {
        std::ostringstream s;
        s << "wrong for " << solver.get_model();
        return s.str();
    }
    }
}

std::string cache_file() {
    return std::string(BROMIDE_SOURCE_DIR) + "/test/property/rules_proved.txt";
}

std::string key_of(const Rule &rule) {
    uint64_t h = 14695981039346656037ull;
    for (const char ch : rule.text + "|" + Z3_get_full_version()) {
        if (ch != ' ') {
            h = (h ^ (unsigned char)ch) * 1099511628211ull;
        }
    }
    std::ostringstream s;
    s << std::hex << h;
    return s.str();
}

TEST(Rules, AreProved) {
    std::set<std::string> proved;
    {
        std::ifstream in(cache_file());
        std::string key, name;
        while (in >> key >> name) {
            proved.insert(key);
        }
    }
    const bool full = getenv("BROMIDE_FULL") != nullptr, update = getenv("BROMIDE_UPDATE_PROOFS") != nullptr;
    const char *only = getenv("BROMIDE_RULE");
    std::mt19937 random(2026);
    std::vector<std::pair<std::string, std::string>> results;
    int attempted = 0;
    for (const Rule &rule : all_rules()) {
        const std::string key = key_of(rule);
        const bool chosen = random() % 20 == 0;
        if (only && rule.name != only) {
            continue;
        }
        if (proved.count(key) && !full && !chosen && !only) {
            results.emplace_back(key, rule.name);
            continue;
        }
        if (!rule.proved_by.empty() && !full && !only) {
            continue;  // the line brings its own argument, and AreTrueOfRandomNumbers tries it
        }
        attempted++;
        bool good = true;
        for (const Domain &d : domains_of(rule)) {
            std::string problem = prove(rule, d);
            if (problem[0] == 'n' && !rule.proved_by.empty()) {
                problem.clear();
            }
            good = good && problem.empty();
            EXPECT_EQ(problem, "") << rule.file << ":" << rule.line << " over " << d.name() << "\n  " << rule.text;
        }
        if (good) {
            results.emplace_back(key, rule.name);
            if (update) {
                std::ofstream(cache_file(), std::ios::app) << key << " " << rule.name << "\n";
            }
        }
    }
    std::cout << attempted << " rules sent to the solver\n";
    if (update) {
        std::ofstream out(cache_file());
        for (const auto &[key, name] : results) {
            out << key << " " << name << "\n";
        }
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Random numbers: all rules over small and extreme values, including those that the solver could not decide.

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

    static __int128 quotient(__int128 a, __int128 b) {
        if (b == 0) {
            return 0;
        }
        const __int128 q = a / b;
        return a % b < 0 ? (b > 0 ? q - 1 : q + 1) : q;
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
        const __int128 b = evaluate(n.child[1], exact);
        switch (n.node) {
        case IRNodeType::Add:
            return fit(a + b);
        case IRNodeType::Sub:
            return fit(a - b);
        case IRNodeType::Mul:
            return fit(a * b);
        case IRNodeType::Div:
            return fit(quotient(a, b));
        case IRNodeType::Mod:
            return b == 0 ? 0 : fit(a - b * quotient(a, b));
        case IRNodeType::Min:
            return std::min(a, b);
        case IRNodeType::Max:
            return std::max(a, b);
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
        case IRNodeType::And:
            return a && b;
        case IRNodeType::Or:
            return a || b;
        default:
            throw std::runtime_error("unexpected node in " + rule.name);
        }
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

TEST(Rules, AreTrueOfRandomNumbers) {
    std::mt19937 random(1);
    for (const Rule &rule : all_rules()) {
        int fired = 0;
        for (const Domain &d : domains_of(rule)) {
            if (d.type == Domain::Floats) {
                fired = 1;
                continue;
            }
            for (int i = 0; i < 400; i++) {
                Evaluator e(rule, d, random);
                const __int128 before = e.evaluate(rule.before, false);
                if (rule.condition >= 0 && !e.evaluate(rule.condition, true)) {
                    continue;
                }
                const __int128 after = e.evaluate(rule.after, false);
                if (!e.fires) {
                    continue;
                }
                fired++;
                if (before != after) {
                    ADD_FAILURE() << rule.file << ":" << rule.line << " over " << d.name() << " with" << e.text() << ": "
                                  << (int64_t)before << " becomes " << (int64_t)after << "\n  " << rule.text;
                    break;
                }
            }
        }
        EXPECT_GT(fired, 0) << "never tried: " << rule.text;
    }
}

// ---------------------------------------------------------------------------------------------------------------------
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
