// Random loops do the same before and after expand_unroll_hints: symbolic and constant ends, empty loops, values carried
// from one iteration to the next, branches, allocations, ends that the body changes. Every iteration reports itself by an
// extern call, so the order of effects is compared too. The interpreter is the judge.

#include "interp/Interpreter.h"
#include "ir/Buffer.h"
#include "ir/IR.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"
#include "lower/Pipeline.h"
#include "lower/loops/UnrollHints.h"
#include "simplify/Simplify.h"
#include "support/Error.h"

#include <gtest/gtest.h>

#include <random>
#include <sstream>

namespace {

using namespace Halide;
using namespace Halide::Internal;

constexpr int elements = 16;

class Loops {
    std::mt19937 &random;
    std::vector<std::string> names = {"a", "b", "n"};
    int loops = 0, allocations = 0;

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
        switch (below(6)) {
        case 0:
            return expr(depth - 1) - expr(depth - 1);
        case 1:
            return min(expr(depth - 1), expr(depth - 1));
        case 2:
            return expr(depth - 1) % (below(6) + 1);
        case 3:
            return Load::make(Int(32), "out", expr(depth - 1) % elements) % 16;
        default:
            return expr(depth - 1) + expr(depth - 1);
        }
    }
    Stmt effect() {
        switch (below(3)) {
        case 0:
            return Evaluate::make(Call::make(Int(32), "report", {expr(1), variable()}, Call::Extern));
        case 1: {
            // A value carried to the next iteration.
            const Expr at = below(4);
            return Store::make("out", (Load::make(Int(32), "out", at) * 3 + expr(1)) % 1000, at);
        }
        default:
            return Store::make("out", expr(2), expr(1) % elements);
        }
    }

public:
    explicit Loops(std::mt19937 &random)
        : random(random) {
    }

    Stmt statement(int depth) {
        if (depth <= 0) {
            return effect();
        }
        switch (below(8)) {
        case 0:
            return Block::make(statement(depth - 1), statement(depth - 1));
        case 1:
            return IfThenElse::make(expr(1) < expr(1), statement(depth - 1), below(2) ? statement(depth - 1) : Stmt());
        case 2: {
            const std::string name = "t" + std::to_string(names.size());
            const Expr value = expr(2);
            names.push_back(name);
            const Stmt body = statement(depth - 1);
            names.pop_back();
            return LetStmt::make(name, value, body);
        }
        case 3: {
            const std::string name = "memory" + std::to_string(allocations++);
            const Stmt body = Block::make(
                {Store::make(name, expr(1), 0), statement(depth - 1),
                 Evaluate::make(Call::make(Int(32), "report", {Load::make(Int(32), name, 0), variable()}, Call::Extern))});
            return Allocate::make(name, Int(32), MemoryType::Heap, {2}, const_true(), body);
        }
        default: {
            if (loops >= 3) {
                return effect();
            }
            loops++;
            const Expr min = expr(1);
            const Expr max = below(2) ? min + (below(9) - 2) : below(2) ? min + clamp(expr(1), -3, 8) : Halide::min(expr(1), min + 7);
            // Sometimes the name of a loop outside.
            const std::string name = below(4) ? "i" + std::to_string(loops) : names[below((int)names.size())];
            names.push_back(name);
            const Stmt body = statement(depth - 1);
            names.pop_back();
            loops--;
            const UnrollHint hint = below(4) == 0 ? UnrollHint() :
                                    below(2)      ? UnrollHint::full() :
                                                    UnrollHint::by(1 + below(6));
            return For::make(name, min, max, ForType::Serial, Partition::Auto, DeviceAPI::None, body, hint);
        }
        }
    }
};

struct Outcome {
    bool overflow = false;
    std::vector<int32_t> out;
    std::vector<int64_t> reports;
    bool operator==(const Outcome &o) const {
        return out == o.out && reports == o.reports;
    }
};

Outcome run(const Stmt &s, const std::vector<int> &values) {
    Buffer<int32_t> out(elements);
    for (int i = 0; i < elements; i++) {
        out(i) = i * 3 - 7;
    }
    Outcome r;
    Interpreter interpreter;
    interpreter.set_buffer("out", out);
    interpreter.set_extern("report", [&](const std::vector<Interpreter::Argument> &args) {
        for (const Interpreter::Argument &a : args) {
            r.reports.push_back(a.i);
        }
        return Interpreter::Argument{Int(32), 0, 0};
    });
    const char *const names[] = {"a", "b", "n"};
    for (int i = 0; i < 3; i++) {
        interpreter.set_scalar(names[i], values[i]);
    }
    interpreter.run(s);
    r.overflow = !interpreter.overflow().empty();
    r.out.assign(out.data(), out.data() + elements);
    return r;
}

/// Loops that vary and were to be unrolled fully are reported, which is not what this test looks at.
class QuietReporter : public CompileTimeErrorReporter {
public:
    void warning(const char *) override {
        warnings++;
    }
    void error(const char *message) override {
        throw CompileError(message);
    }
    int warnings = 0;
};

TEST(UnrollHints, DoTheSame) {
    QuietReporter quiet;
    set_custom_compile_time_error_reporter(&quiet);
    struct Restore {
        ~Restore() {
            set_custom_compile_time_error_reporter(nullptr);
        }
    } restore;
    const int cases = getenv("BROMIDE_FULL") ? 20000 : 400;
    int hints = 0, iterations = 0;
    for (int seed = 0; seed < cases; seed++) {
        std::mt19937 random(seed);
        const Stmt s = Loops(random).statement(3 + seed % 4);
        LowerContext ctx;
        const Stmt expanded = expand_unroll_hints(s, ctx);
        visit_with(s, [&](auto *self, const For *op) {
            hints += op->hint.defined();
            self->visit_base(op);
        });
        visit_with(expanded, [&](auto *self, const For *op) {
            EXPECT_FALSE(op->hint.defined()) << "a second party could act on the hint of " << op->name;
            self->visit_base(op);
        });
        const Stmt simpler = simplify(expanded);
        for (int i = 0; i < 5; i++) {
            const std::vector<int> values = {(int)(random() % 21) - 10, (int)(random() % 9) - 2, (int)(random() % 30)};
            const Outcome before = run(s, values);
            if (before.overflow) {
                continue;
            }
            iterations += (int)before.reports.size() / 2;
            for (const Stmt &t : {expanded, simpler}) {
                std::ostringstream where;
                where << "seed " << seed << ", a=" << values[0] << " b=" << values[1] << " n=" << values[2] << "\n"
                      << s << "became\n" << t;
                Outcome after;
                ASSERT_NO_THROW(after = run(t, values)) << where.str();
                ASSERT_TRUE(before == after) << where.str();
            }
        }
    }
    EXPECT_GT(hints, cases / 2);
    EXPECT_GT(iterations, cases);
    EXPECT_GT(quiet.warnings, 0);
}

}  // namespace
