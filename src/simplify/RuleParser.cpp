// Reads rules from text. A rule with ~ is parsed once per combination of swaps: bit i of `swaps` says whether the i-th ~ of
// the pattern is swapped.

#include "simplify/RuleSet.h"

#include "ir/IR.h"
#include "support/Error.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace Halide {
namespace Internal {

namespace {

using Rule = RuleSet::Rule;
using Node = RuleSet::Node;
using Kind = RuleSet::Kind;
using Sort = RuleSet::Sort;

class Parser {
    std::string_view text;
    size_t position = 0;
    Rule &rule;
    uint32_t swaps;
    std::map<std::string, int> &wildcard_slots;
    bool in_pattern;

    [[noreturn]] void fail(const std::string &what) {
        internal_error << rule.file << ":" << rule.line << ": " << what << " in \"" << std::string(text)
                       << "\" at column " << position + 1 << "\n";
    }

    void skip_spaces() {
        while (position < text.size() && text[position] == ' ') {
            position++;
        }
    }

    bool accept(std::string_view token) {
        skip_spaces();
        if (text.substr(position, token.size()) != token) {
            return false;
        }
        position += token.size();
        return true;
    }

    void expect(std::string_view token) {
        if (!accept(token)) {
            fail("expected " + std::string(token));
        }
    }

    int add(Node n) {
        rule.nodes.push_back(n);
        return (int)rule.nodes.size() - 1;
    }

    int make(IRNodeType type, std::vector<int> children, bool commutes) {
        if (commutes) {
            if (swaps & (1u << tildes)) {
                std::swap(children[0], children[1]);
            }
            tildes++;
        }
        Node n;
        n.kind = Kind::Node;
        n.node = type;
        n.computed = type != IRNodeType::Ramp && type != IRNodeType::Broadcast;
        for (int c : children) {
            n.child[n.children++] = (int16_t)c;
            n.computed = n.computed && rule.nodes[c].computed;
        }
        // In the pattern, every node is a node of the expression.
        n.computed = n.computed && !in_pattern;
        return add(n);
    }

    int literal(int64_t value) {
        Node n;
        n.kind = Kind::Literal;
        n.literal = value;
        n.computed = true;
        return add(n);
    }

    int numbered(Kind kind, int number, int &count) {
        if (number >= RuleSet::max_slots) {
            fail("number too large");
        }
        if (in_pattern) {
            count = std::max(count, number + 1);
        } else if (number >= count) {
            fail("not bound by the pattern");
        }
        Node n;
        n.kind = kind;
        n.slot = (uint8_t)number;
        n.computed = true;
        if (kind == Kind::Lanes) {
            n.sort = Sort::LaneCount;
        }
        return add(n);
    }

    int wildcard(const std::string &name) {
        auto it = wildcard_slots.find(name);
        if (it == wildcard_slots.end()) {
            if (!in_pattern) {
                fail("not bound by the pattern: " + name);
            }
            it = wildcard_slots.emplace(name, rule.wildcards++).first;
            if (rule.wildcards > RuleSet::max_slots) {
                fail("too many wildcards");
            }
        }
        Node n;
        n.kind = Kind::Wildcard;
        n.varies = isupper(name[0]);
        n.slot = (uint8_t)it->second;
        return add(n);
    }

    int call(const std::string &name, bool commutes) {
        static const std::map<std::string, std::pair<IRNodeType, int>> functions = {
            {"min", {IRNodeType::Min, 2}},
            {"max", {IRNodeType::Max, 2}},
            {"select", {IRNodeType::Select, 3}},
            {"ramp", {IRNodeType::Ramp, 3}},
            {"broadcast", {IRNodeType::Broadcast, 2}},
        };
        if (name == "exact" && !in_pattern) {
            Node n;
            n.kind = Kind::Exact;
            n.children = 1;
            n.child[0] = (int16_t)expression();
            n.computed = true;
            expect(")");
            return add(n);
        }
        auto it = functions.find(name);
        if (it == functions.end()) {
            fail("unknown function " + name);
        }
        std::vector<int> args = {expression()};
        while ((int)args.size() < it->second.second) {
            expect(",");
            args.push_back(expression());
        }
        expect(")");
        return make(it->second.first, args, commutes);
    }

    int primary() {
        skip_spaces();
        const bool commutes = accept("~");
        if (accept("(")) {
            const int e = expression();
            expect(")");
            return e;
        }
        if (accept("-")) {
            skip_spaces();
            if (position < text.size() && isdigit(text[position])) {
                return literal(-number());
            }
            Node n;
            n.kind = Kind::Negate;
            n.children = 1;
            n.child[0] = (int16_t)primary();
            n.computed = rule.nodes[n.child[0]].computed && !in_pattern;
            if (!n.computed) {
                fail("unary - is for constants");
            }
            return add(n);
        }
        if (accept("!")) {
            return make(IRNodeType::Not, {primary()}, false);
        }
        skip_spaces();
        if (position >= text.size()) {
            fail("unexpected end");
        }
        if (isdigit(text[position])) {
            return literal(number());
        }
        std::string name;
        while (position < text.size() && isalnum(text[position])) {
            name += text[position++];
        }
        if (name.empty()) {
            fail("unexpected character");
        }
        if (accept("(")) {
            return call(name, commutes);
        }
        if (name == "true" || name == "false") {
            const int e = literal(name == "true");
            rule.nodes[e].sort = Sort::Bool;
            return e;
        }
        if (name.size() == 2 && name[0] == 'c' && isdigit(name[1])) {
            return numbered(Kind::Constant, name[1] - '0', rule.constants);
        }
        if (name.size() == 2 && name[0] == 'n' && isdigit(name[1])) {
            return numbered(Kind::Lanes, name[1] - '0', rule.lane_counts);
        }
        if (name.size() != 1) {
            fail("unknown name " + name);
        }
        return wildcard(name);
    }

    int64_t number() {
        int64_t value = 0;
        while (position < text.size() && isdigit(text[position])) {
            value = value * 10 + (text[position++] - '0');
        }
        return value;
    }

    struct Operator {
        const char *token;
        IRNodeType node;
    };

    // Binary operators of one level, left associative.
    template<size_t N, typename Next>
    int level(const Operator (&operators)[N], Next next) {
        int left = next();
        for (;;) {
            skip_spaces();
            const size_t start = position;
            const bool commutes = accept("~");
            const Operator *found = nullptr;
            for (const Operator &o : operators) {
                if (accept(o.token)) {
                    found = &o;
                    break;
                }
            }
            if (!found) {
                position = start;
                return left;
            }
            left = make(found->node, {left, next()}, commutes);
        }
    }

    int product() {
        static constexpr Operator operators[] = {
            {"*", IRNodeType::Mul}, {"/", IRNodeType::Div}, {"%", IRNodeType::Mod}};
        return level(operators, [&] { return primary(); });
    }
    int sum() {
        static constexpr Operator operators[] = {{"+", IRNodeType::Add}, {"-", IRNodeType::Sub}};
        return level(operators, [&] { return product(); });
    }
    int comparison() {
        static constexpr Operator operators[] = {{"==", IRNodeType::EQ}, {"!=", IRNodeType::NE},
                                                 {"<=", IRNodeType::LE}, {">=", IRNodeType::GE},
                                                 {"<", IRNodeType::LT}, {">", IRNodeType::GT}};
        return level(operators, [&] { return sum(); });
    }
    int conjunction() {
        static constexpr Operator operators[] = {{"&&", IRNodeType::And}};
        return level(operators, [&] { return comparison(); });
    }
    int expression() {
        static constexpr Operator operators[] = {{"||", IRNodeType::Or}};
        return level(operators, [&] { return conjunction(); });
    }

public:
    int tildes = 0;

    Parser(std::string_view text, Rule &rule, uint32_t swaps, std::map<std::string, int> &slots, bool in_pattern)
        : text(text), rule(rule), swaps(swaps), wildcard_slots(slots), in_pattern(in_pattern) {
    }

    int parse() {
        const int e = expression();
        skip_spaces();
        if (position != text.size()) {
            fail("unexpected text");
        }
        return e;
    }
};

// Decides for each wildcard whether it is a bool or a number, from where it stands.
class SortInference {
    Rule &rule;
    std::array<Sort, RuleSet::max_slots> wildcard{};
    bool changed = true;

    static Sort join(Sort a, Sort b) {
        return a == Sort::Unknown ? b : a;
    }

    // The sort of a node, given what its parent knows.
    Sort infer(int index, Sort expected) {
        Node &n = rule.nodes[index];
        Sort s = join(n.sort, expected);
        switch (n.kind) {
        case Kind::Wildcard: {
            s = join(s, wildcard[n.slot]);
            if (wildcard[n.slot] != s) {
                wildcard[n.slot] = s;
                changed = true;
            }
            break;
        }
        case Kind::Lanes:
            s = Sort::LaneCount;
            break;
        case Kind::Constant:
        case Kind::Negate:
        case Kind::Exact:
            s = join(s, Sort::Number);
            break;
        case Kind::Literal:
            break;
        case Kind::Node:
            s = infer_node(n, s);
            break;
        }
        n.sort = s;
        return s;
    }

    Sort same(std::initializer_list<int> children, Sort s) {
        for (int round = 0; round < 2; round++) {
            for (int c : children) {
                s = join(s, infer(c, s));
            }
        }
        return s;
    }

    Sort infer_node(const Node &n, Sort s) {
        switch (n.node) {
        case IRNodeType::Add:
        case IRNodeType::Sub:
        case IRNodeType::Mul:
        case IRNodeType::Div:
        case IRNodeType::Mod:
            return same({n.child[0], n.child[1]}, Sort::Number);
        case IRNodeType::Min:
        case IRNodeType::Max:
            return same({n.child[0], n.child[1]}, s);
        case IRNodeType::And:
        case IRNodeType::Or:
            return same({n.child[0], n.child[1]}, Sort::Bool);
        case IRNodeType::Not:
            return same({n.child[0]}, Sort::Bool);
        case IRNodeType::Select:
            same({n.child[0]}, Sort::Bool);
            return same({n.child[1], n.child[2]}, s);
        case IRNodeType::Ramp:
            infer(n.child[2], Sort::LaneCount);
            return same({n.child[0], n.child[1]}, Sort::Number);
        case IRNodeType::Broadcast:
            infer(n.child[1], Sort::LaneCount);
            return same({n.child[0]}, s);
        default:
            // Comparisons: what is compared may be anything.
            same({n.child[0], n.child[1]}, Sort::Unknown);
            return Sort::Bool;
        }
    }

public:
    explicit SortInference(Rule &rule)
        : rule(rule) {
    }

    void run() {
        while (changed) {
            changed = false;
            const Sort s = infer(rule.before, Sort::Unknown);
            infer(rule.after, s);
            infer(rule.before, rule.nodes[rule.after].sort);
        }
    }
};

std::vector<std::string> columns(std::string_view line) {
    std::vector<std::string> result;
    size_t i = 0;
    while (i < line.size()) {
        while (i < line.size() && line[i] == ' ') {
            i++;
        }
        size_t end = line.find("  ", i);
        end = end == std::string_view::npos ? line.size() : end;
        std::string c(line.substr(i, end - i));
        while (!c.empty() && c.back() == ' ') {
            c.pop_back();
        }
        if (!c.empty()) {
            result.push_back(c);
        }
        i = end;
    }
    return result;
}

uint8_t type_classes(const std::string &word) {
    static const std::map<std::string, uint8_t> classes = {
        {"nowrap", RuleSet::Nowrap},
        {"wrap", RuleSet::Wrap},
        {"int", RuleSet::Nowrap | RuleSet::Wrap},
        {"float", RuleSet::Float},
        {"any", RuleSet::Nowrap | RuleSet::Wrap | RuleSet::Float | RuleSet::Other},
    };
    auto it = classes.find(word);
    return it == classes.end() ? 0 : it->second;
}

// The parts of a line: name, before, after, condition (perhaps empty), types, proved-by (perhaps empty).
std::vector<std::string> parts_of_line(std::string_view line, const std::string &file, int number) {
    std::vector<std::string> c = columns(line);
    std::string proved_by;
    if (!c.empty() && c.back().compare(0, 10, "proved-by:") == 0) {
        proved_by = c.back().substr(10);
        c.pop_back();
    }
    // "->" may stand in a column of its own or at the start or end of one.
    std::string joined;
    std::vector<std::string> rest;
    internal_assert(c.size() >= 3) << file << ":" << number << ": a rule has a name, a rewrite and types\n";
    const std::string name = c.front(), types = c.back();
    std::string before, after, condition;
    bool arrow = false;
    for (size_t i = 1; i + 1 < c.size(); i++) {
        const size_t at = c[i].find("->");
        if (!arrow && at != std::string::npos) {
            arrow = true;
            before += c[i].substr(0, at);
            after = c[i].substr(at + 2);
        } else if (!arrow) {
            before += c[i];
        } else if (after.find_first_not_of(' ') == std::string::npos) {
            after = c[i];
        } else {
            condition += c[i];
        }
    }
    internal_assert(arrow && type_classes(types)) << file << ":" << number << ": malformed rule " << name << "\n";
    return {name, before, after, condition, types, proved_by};
}

Rule parse_rule(const std::vector<std::string> &parts, std::string_view line, const std::string &file, int number,
                uint32_t swaps, int &tildes) {
    Rule rule;
    rule.name = parts[0];
    rule.text = std::string(line);
    rule.file = file;
    rule.line = number;
    rule.types = type_classes(parts[4]);
    rule.proved_by = parts[5];
    std::map<std::string, int> slots;
    Parser before(parts[1], rule, swaps, slots, true);
    rule.before = before.parse();
    tildes = before.tildes;
    rule.after = Parser(parts[2], rule, 0, slots, false).parse();
    if (!parts[3].empty()) {
        rule.condition = Parser(parts[3], rule, 0, slots, false).parse();
        internal_assert(rule.nodes[rule.condition].computed)
            << file << ":" << number << ": a condition is about constants\n";
    }
    SortInference(rule).run();
    return rule;
}

}  // namespace

std::vector<RuleSet::Rule> RuleSet::parse(std::string_view text, const std::string &file, bool expand) {
    std::vector<Rule> result;
    int number = 0;
    while (!text.empty()) {
        const size_t end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
        number++;
        if (line.find_first_not_of(' ') == std::string_view::npos || line[0] == '#') {
            continue;
        }
        const std::vector<std::string> parts = parts_of_line(line, file, number);
        int tildes = 0;
        result.push_back(parse_rule(parts, line, file, number, 0, tildes));
        for (uint32_t swaps = 1; expand && swaps < (1u << tildes); swaps++) {
            result.push_back(parse_rule(parts, line, file, number, swaps, tildes));
        }
    }
    return result;
}

}  // namespace Internal
}  // namespace Halide
