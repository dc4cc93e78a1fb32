// Every rewrite rule of the simplifier, as it is written, against an SMT solver and random numbers.
//
// Proofs are cached in rules_proved.txt by hash of line and solver version. The ordinary run proves what is not in there
// and a twentieth of the rest; BROMIDE_FULL=1 proves everything; BROMIDE_UPDATE_PROOFS=1 writes the file.

#include "RuleModel.h"

#include <gtest/gtest.h>
#include <z3++.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>

namespace {

using namespace rule_model;

// Steps of the solver, so that the answer does not depend on the machine; and a time limit far above.
constexpr unsigned step_limit = 4000000, time_limit_ms = 60000;

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

}  // namespace
