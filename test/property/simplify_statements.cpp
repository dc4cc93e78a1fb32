// Random statements do the same before and after simplify: loops with symbolic ends, branches, lets that hide each
// other, blocks, stores and loads of the same buffer, assertions. The interpreter is the judge.

#include "interp/Interpreter.h"
#include "ir/Buffer.h"
#include "ir/IR.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "simplify/CommonSubexpressions.h"
#include "simplify/Simplify.h"

#include <gtest/gtest.h>

#include <random>
#include <sstream>

namespace {

using namespace Halide;
using namespace Halide::Internal;

constexpr int elements = 32;

class Statements {
    std::mt19937 &random;
    // Names that are bound where the generator is.
    std::vector<std::string> names = {"a", "b", "n"};
    int loops = 0;

    int below(int n) {
        return (int)(random() % n);
    }

    Expr variable() {
        return Variable::make(Int(32), names[below((int)names.size())]);
    }

    Expr expr(int depth) {
        if (depth <= 0) {
            return below(3) ? variable() : Expr(below(12) - 3);
        }
        switch (below(11)) {
        case 0:
            return expr(depth - 1) - expr(depth - 1);
        case 1:
            return min(expr(depth - 1), expr(depth - 1));
        case 2:
            return max(expr(depth - 1), expr(depth - 1));
        case 3:
            return expr(depth - 1) * (below(7) - 2);
        case 4:
            return expr(depth - 1) / (below(6) + 1);
        case 5:
            return expr(depth - 1) % (below(6) + 1);
        case 6:
            return select(condition(depth - 1), expr(depth - 1), expr(depth - 1));
        case 7:
            return Load::make(Int(32), "out", index(depth - 1)) % 16;
        default:
            return expr(depth - 1) + expr(depth - 1);
        }
    }

    Expr index(int depth) {
        return below(2) ? clamp(expr(depth), 0, elements - 1) : expr(depth) % elements;
    }

    Expr condition(int depth) {
        const Expr x = expr(depth), y = below(2) ? expr(0) : expr(depth);
        switch (below(8)) {
        case 0:
            return x == y;
        case 1:
            return x != y;
        case 2:
            return x < y && expr(0) < expr(0);
        case 3:
            return x < y || expr(0) <= expr(0);
        case 4:
            return !(x < y);
        case 5:
            return likely(x < y);
        default:
            return below(2) ? x < y : x <= y;
        }
    }

    Stmt store() {
        return Store::make("out", expr(2), index(1));
    }

public:
    explicit Statements(std::mt19937 &random)
        : random(random) {
    }

    Stmt statement(int depth) {
        if (depth <= 0) {
            return store();
        }
        switch (below(9)) {
        case 0:
        case 1: {
            std::vector<Stmt> s;
            for (int i = 0, n = 2 + below(2); i < n; i++) {
                s.push_back(statement(depth - 1));
            }
            return Block::make(s);
        }
        case 2:
        case 3:
            return IfThenElse::make(condition(2), statement(depth - 1), below(2) ? statement(depth - 1) : Stmt());
        case 4: {
            // Sometimes a name that is bound already.
            const std::string name = below(3) ? "t" + std::to_string(names.size()) : names[below((int)names.size())];
            const Expr value = expr(2);
            names.push_back(name);
            const Stmt body = statement(depth - 1);
            names.pop_back();
            return LetStmt::make(name, value, body);
        }
        case 5:
            return Block::make(AssertStmt::make(condition(1) || below(3) == 0, 7), statement(depth - 1));
        case 6: {
            const Stmt body = Block::make(Store::make("scratch", expr(1), 0), statement(depth - 1));
            return Allocate::make("scratch", Int(32), MemoryType::Heap, {1 + below(4)}, const_true(), body);
        }
        default: {
            if (loops >= 3) {
                return store();
            }
            loops++;
            const Expr min = expr(1);
            // At most a few iterations, sometimes none.
            const Expr max = below(2) ? min + clamp(expr(1), -1, 3) : Halide::min(expr(1), min + below(4));
            const std::string name = below(4) ? "i" + std::to_string(loops) : names[below((int)names.size())];
            names.push_back(name);
            const Stmt body = statement(depth - 1);
            names.pop_back();
            loops--;
            return For::make(name, min, max, ForType::Serial, Partition::Auto, DeviceAPI::None, body);
        }
        }
    }
};

struct Outcome {
    int code = 0;
    bool overflow = false;
    std::vector<int32_t> out;
    bool operator==(const Outcome &o) const {
        return code == o.code && out == o.out;
    }
};

Outcome run(const Stmt &s, const std::vector<int> &values) {
    Buffer<int32_t> out(elements);
    for (int i = 0; i < elements; i++) {
        out(i) = i * 3 - 7;
    }
    Interpreter interpreter;
    interpreter.set_buffer("out", out);
    const char *const names[] = {"a", "b", "n"};
    for (int i = 0; i < 3; i++) {
        interpreter.set_scalar(names[i], values[i]);
    }
    Outcome r;
    r.code = interpreter.run(s);
    r.overflow = !interpreter.overflow().empty();
    r.out.assign(out.data(), out.data() + elements);
    return r;
}

TEST(SimplifyStatements, DoTheSame) {
    const int cases = getenv("BROMIDE_FULL") ? 20000 : 200;
    for (int seed = 0; seed < cases; seed++) {
        std::mt19937 random(seed);
        const Stmt s = Statements(random).statement(3 + seed % 4);
        const Stmt simpler = simplify(s);
        const Stmt shared = common_subexpression_elimination(simpler, seed % 2);
        for (int i = 0; i < 5; i++) {
            const std::vector<int> values = {(int)(random() % 21) - 10, (int)(random() % 9) - 2, (int)(random() % 30)};
            const Outcome before = run(s, values);
            if (before.overflow) {
                continue;
            }
            for (const Stmt &t : {simpler, shared}) {
                std::ostringstream where;
                where << "seed " << seed << ", a=" << values[0] << " b=" << values[1] << " n=" << values[2] << "\n"
                      << s << "became\n" << t;
                Outcome after;
                ASSERT_NO_THROW(after = run(t, values)) << where.str();
                // What an assertion that fails leaves behind is the same, too.
                ASSERT_TRUE(before == after) << where.str();
            }
        }
    }
}

}  // namespace
