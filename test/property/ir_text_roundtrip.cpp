// Random statements and expressions of every kind of node: their exact text reads back as the same thing, and the text of
// that is the same text.

#include "ir/IR.h"
#include "ir/IRConstants.h"
#include "ir/IREquality.h"
#include "ir/IRMutator.h"
#include "ir/IRPrinter.h"
#include "ir/IRText.h"
#include "ir/IRVisitor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>
#include <sstream>

namespace {

using namespace Halide;
using namespace Halide::Internal;

class Generator {
    std::mt19937 rng;

    int pick(int n) {
        return (int)(rng() % (unsigned)n);
    }
    bool chance(int percent) {
        return pick(100) < percent;
    }

    std::string name() {
        static const char *const names[] = {
            "x",   "f.s0.x", "in",   "r5$x",    "t",         "f$1",    "min",        "true",       "f32",      "let",
            "for", "free",   "a::b", "weird`\\", "inf_f32",  "extern", "x.lanes",    "when",       "f.buffer", "r",
            "x8",  "with space", "_", "evaluate", "nan_bf16", "abs",    "f32x8",      "0begins",    "if",       "bool",
        };
        return names[pick(sizeof(names) / sizeof(names[0]))];
    }

    Type element() {
        static const Type types[] = {
            Int(8),   Int(16),   Int(32),   Int(64),   UInt(8),    UInt(16), UInt(32),
            UInt(64), Float(16), Float(32), Float(64), BFloat(16), Bool(),   Int(32),
        };
        return types[pick(sizeof(types) / sizeof(types[0]))];
    }
    int lanes() {
        static const int counts[] = {1, 1, 1, 2, 3, 8};
        return counts[pick(6)];
    }

    Expr constant(Type t) {
        if (t.is_vector()) {
            return Broadcast::make(constant(t.element_of()), t.lanes());
        }
        static const int64_t ints[] = {0, 1, -1, 3, 127, -128, 255, INT64_MAX, INT64_MIN, 123456789012345};
        if (t.is_int()) {
            return IntImm::make(t, ints[pick(10)]);
        }
        if (t.is_uint()) {
            return UIntImm::make(t, (uint64_t)ints[pick(10)]);
        }
        if (t.is_handle()) {
            return Variable::make(t, name());
        }
        static const double floats[] = {0.0,      -0.0,      1.0,     -2.5,     0.1,  1e30,
                                        INFINITY, -INFINITY, NAN, 5e-324, 1e300, 123456789.0};
        return FloatImm::make(t, floats[pick(12)]);
    }

    std::vector<Expr> exprs(int count, Type t, int depth) {
        std::vector<Expr> result;
        for (int i = 0; i < count; i++) {
            result.push_back(expr(t, depth));
        }
        return result;
    }

    Expr leaf(Type t) {
        return chance(50) ? constant(t) : Variable::make(t, name());
    }

    ModulusRemainder alignment() {
        return chance(70) ? ModulusRemainder() : ModulusRemainder(1 << pick(5), pick(3));
    }
    Expr predicate(int n, int depth) {
        return chance(70) ? const_true(n) : expr(Bool(n), depth);
    }

public:
    explicit Generator(unsigned seed)
        : rng(seed) {
    }

    Type type() {
        return element().with_lanes(lanes());
    }

    Expr expr(Type t, int depth) {
        if (depth <= 0) {
            return leaf(t);
        }
        const int d = depth - 1;
        switch (pick(16)) {
        case 0:
        case 1: {
            if (t.is_bool() || t.is_handle()) {
                break;
            }
            Expr a = expr(t, d), b = expr(t, d);
            switch (pick(7)) {
            case 0:
                return Add::make(a, b);
            case 1:
                return Sub::make(a, b);
            case 2:
                return Mul::make(a, b);
            case 3:
                return Div::make(a, b);
            case 4:
                return Mod::make(a, b);
            case 5:
                return Min::make(a, b);
            default:
                return Max::make(a, b);
            }
        }
        case 2: {
            if (!t.is_bool()) {
                break;
            }
            const Type s = element().with_lanes(t.lanes());
            Expr a = expr(s, d), b = expr(s, d);
            switch (pick(6)) {
            case 0:
                return EQ::make(a, b);
            case 1:
                return NE::make(a, b);
            case 2:
                return LT::make(a, b);
            case 3:
                return LE::make(a, b);
            case 4:
                return GT::make(a, b);
            default:
                return GE::make(a, b);
            }
        }
        case 3:
            if (!t.is_bool()) {
                break;
            }
            return chance(30) ? Not::make(expr(t, d)) :
                   chance(50) ? And::make(expr(t, d), expr(t, d)) :
                                Or::make(expr(t, d), expr(t, d));
        case 4:
            return Select::make(expr(Bool(chance(50) ? 1 : t.lanes()), d), expr(t, d), expr(t, d));
        case 5:
            return Cast::make(t, expr(element().with_lanes(t.lanes()), d));
        case 6: {
            const Type from = t.with_code(t.is_uint() ? halide_type_int : halide_type_uint);
            return t.bits() > 1 && !t.is_handle() ? Reinterpret::make(t, expr(from, d)) : leaf(t);
        }
        case 7:
            return Load::make(t, name(), expr(Int(32, t.lanes()), d), Buffer<>(), Parameter(), predicate(t.lanes(), d),
                              alignment(), chance(10));
        case 8:
            if (t.is_vector() && !t.is_bool() && !t.is_handle()) {
                return Ramp::make(expr(t.element_of(), d), expr(t.element_of(), d), t.lanes());
            }
            break;
        case 9:
            if (t.is_vector()) {
                return Broadcast::make(expr(t.element_of(), d), t.lanes());
            }
            break;
        case 10:
            return Let::make(name(), expr(type(), d), expr(t, d));
        case 11: {
            const Call::CallType kinds[] = {Call::Image,  Call::Extern,    Call::ExternCPlusPlus, Call::PureExtern,
                                            Call::Halide, Call::Intrinsic, Call::PureIntrinsic};
            const Call::CallType kind = kinds[pick(7)];
            if (kind == Call::Image || kind == Call::Halide) {
                return Call::make(t, name(), exprs(pick(4), Int(32), d), kind, FunctionPtr(),
                                  kind == Call::Halide ? pick(3) : 0);
            }
            if (kind == Call::Intrinsic || kind == Call::PureIntrinsic) {
                return Call::make(t, (Call::IntrinsicOp)pick(Call::IntrinsicOpCount), exprs(pick(4), type(), d), kind);
            }
            std::vector<Expr> args = exprs(pick(3), type(), d);
            args.push_back(Expr(std::string("text \"\\\n\x01")));
            return Call::make(t, name(), args, kind);
        }
        case 12: {
            std::vector<Expr> vectors;
            int total = 0;
            for (int i = 0; i <= pick(3); i++) {
                vectors.push_back(expr(t.with_lanes(lanes()), d));
                total += vectors.back().type().lanes();
            }
            std::vector<int> indices;
            for (int i = 0; i < t.lanes(); i++) {
                indices.push_back(pick(total));
            }
            return Shuffle::make(vectors, indices);
        }
        case 13:
            if (t.lanes() % 2 == 0) {
                Expr half = expr(t.with_lanes(t.lanes() / 2), d), other = expr(half.type(), d);
                return chance(50) ? Shuffle::make_concat({half, other}) : Shuffle::make_interleave({half, other});
            }
            return Shuffle::make_slice(expr(t.with_lanes(t.lanes() * 3 + 1), 0), pick(2), 1 + pick(2), t.lanes());
        case 14: {
            const VectorReduce::Operator ops[] = {VectorReduce::Add, VectorReduce::SaturatingAdd, VectorReduce::Mul,
                                                  VectorReduce::Min, VectorReduce::Max};
            return t.is_handle() ? leaf(t) :
                                   VectorReduce::make(t.is_bool() ? VectorReduce::And : ops[pick(5)],
                                                      expr(t.with_lanes(t.lanes() * (1 + pick(3))), d), t.lanes());
        }
        default:
            break;
        }
        return leaf(t);
    }

    Region region(int depth) {
        Region bounds;
        for (int i = 0; i < pick(3); i++) {
            bounds.emplace_back(expr(Int(32), depth), expr(Int(32), depth));
        }
        return bounds;
    }
    std::vector<Type> types() {
        std::vector<Type> result;
        for (int i = 0; i <= pick(2); i++) {
            result.push_back(element());
        }
        return result;
    }
    MemoryType memory() {
        return (MemoryType)pick(12);
    }
    Expr condition() {
        return chance(60) ? const_true() : expr(Bool(), 2);
    }

    Stmt stmt(int depth) {
        const int d = depth - 1;
        if (depth <= 0) {
            switch (pick(4)) {
            case 0: {
                const Type t = type();
                return Store::make(name(), expr(t, 2), expr(Int(32, t.lanes()), 2), Parameter(),
                                   predicate(t.lanes(), 1), alignment(), chance(10));
            }
            case 1: {
                const int values = 1 + pick(2);
                return Provide::make(name(), exprs(values, type(), 2), exprs(pick(3), Int(32), 2),
                                     predicate(lanes(), 1));
            }
            case 2:
                return Free::make(name());
            default:
                return Evaluate::make(expr(type(), 3));
            }
        }
        switch (pick(20)) {
        case 0:
        case 1:
            return LetStmt::make(name(), expr(type(), 2), stmt(d));
        case 2:
            return AssertStmt::make(expr(Bool(), 2), expr(Int(32), 1));
        case 3:
            return ProducerConsumer::make(name(), chance(50), stmt(d));
        case 4:
        case 5: {
            const ForType kind = (ForType)pick(9);
            const UnrollHint hint = chance(70) ? UnrollHint() : chance(50) ? UnrollHint::full() : UnrollHint::by(4);
            return For::make(name(), expr(Int(32), 2), expr(Int(32), 2), kind, (Partition)pick(3), (DeviceAPI)pick(13),
                             stmt(d), hint);
        }
        case 6:
            return Acquire::make(Variable::make(type_of<halide_semaphore_t *>(), name()), expr(Int(32), 1), stmt(d));
        case 7:
            return Allocate::make(name(), type(), memory(), exprs(pick(3), Int(32), 1), condition(), stmt(d),
                                  chance(80) ? Expr() : Variable::make(Handle(), name()), chance(80) ? "" : name(),
                                  chance(80) ? 0 : pick(9));
        case 8:
            return Realize::make(name(), types(), memory(), region(1), condition(), stmt(d));
        case 9:
            return Fork::make(stmt(d), stmt(d));
        case 10:
        case 11:
            return IfThenElse::make(expr(Bool(), 2), stmt(d), chance(50) ? Stmt() : stmt(d));
        case 12: {
            PrefetchDirective directive;
            directive.name = name();
            directive.at = name();
            directive.from = chance(20) ? "" : name();
            directive.offset = expr(Int(32), 1);
            directive.strategy = (PrefetchBoundStrategy)pick(3);
            return Prefetch::make(name(), types(), region(1), directive, condition(), stmt(d));
        }
        case 13:
            return Atomic::make(name(), chance(50) ? "" : name(), stmt(d));
        case 14:
            return StreamingStore::make(name(), stmt(d));
        case 15: {
            std::optional<std::vector<std::string>> names;
            if (chance(60)) {
                names.emplace();
                for (int i = pick(3); i > 0; i--) {
                    names->push_back(name());
                }
            }
            return StreamingLoads::make(names, stmt(d));
        }
        case 16:
            return HoistedStorage::make(name(), stmt(d));
        default: {
            std::vector<Stmt> stmts;
            for (int i = 0; i < 2 + pick(3); i++) {
                stmts.push_back(stmt(d));
            }
            return Block::make(stmts);
        }
        }
    }
};

class KindsSeen : public IRVisitor {
#define HALIDE_IR_VISIT(T)             \
    void visit(const T *op) override { \
        kinds.insert(op->node_type);   \
        IRVisitor::visit(op);          \
    }
    HALIDE_FOR_EACH_IR_NODE(HALIDE_IR_VISIT)
#undef HALIDE_IR_VISIT

public:
    std::set<IRNodeType> kinds;
};

TEST(IRText, RandomExpressionsReadBack) {
    for (unsigned seed = 0; seed < 3000; seed++) {
        Generator g(seed);
        Expr e = g.expr(g.type(), 4);
        const std::string text = to_text(e);
        Expr back = parse_expr(text);
        ASSERT_TRUE(equal(e, back)) << "seed " << seed << ":\n" << text << "\nreads as\n" << to_text(back);
        ASSERT_EQ(text, to_text(back)) << "seed " << seed;
        ASSERT_EQ(structural_hash(e), structural_hash(back)) << "seed " << seed;
    }
}

TEST(IRText, RandomStatementsReadBack) {
    KindsSeen seen;
    for (unsigned seed = 0; seed < 1500; seed++) {
        Generator g(seed);
        Stmt s = g.stmt(4);
        s.accept(&seen);
        const std::string text = to_text(s);
        Stmt back = parse_stmt(text);
        ASSERT_TRUE(equal(s, back)) << "seed " << seed << ":\n" << text << "\nreads as\n" << to_text(back);
        ASSERT_EQ(text, to_text(back)) << "seed " << seed;
        // The text for people does not crash on anything either.
        std::ostringstream people;
        people << s;
        ASSERT_FALSE(people.str().empty());
    }
#define HALIDE_IR_SEEN(T) EXPECT_TRUE(seen.kinds.count(IRNodeType::T)) << #T << " was never generated";
    HALIDE_FOR_EACH_IR_NODE(HALIDE_IR_SEEN)
#undef HALIDE_IR_SEEN
}

TEST(IRText, RandomStatementsSurviveTheIdentity) {
    class Identity : public IRMutator {
    } identity;
    class GraphIdentity : public IRGraphMutator {
    };
    for (unsigned seed = 0; seed < 500; seed++) {
        Stmt s = Generator(seed).stmt(4);
        ASSERT_TRUE(identity(s).same_as(s)) << "seed " << seed;
        ASSERT_TRUE(GraphIdentity()(s).same_as(s)) << "seed " << seed;
        // A copy made by renaming back and forth is equal, but not the same.
        auto rename = [](const Stmt &stmt, const std::string &suffix, size_t cut) {
            return mutate_with(stmt, [&](auto *self, const Variable *op) -> Expr {
                return Variable::make(op->type, op->name.substr(0, op->name.size() - cut) + suffix);
            });
        };
        ASSERT_TRUE(equal(s, rename(rename(s, "#", 0), "", 1))) << "seed " << seed;
    }
}

TEST(IRText, OrderIsTotal) {
    std::vector<Expr> exprs;
    for (unsigned seed = 0; seed < 60; seed++) {
        Generator g(seed);
        exprs.push_back(g.expr(g.type(), 2));
    }
    for (const Expr &a : exprs) {
        for (const Expr &b : exprs) {
            ASSERT_EQ(less_than(a, b) + less_than(b, a) + equal(a, b), 1);
            ASSERT_EQ(less_than(a, b), graph_less_than(a, b));
            for (const Expr &c : exprs) {
                ASSERT_FALSE(less_than(a, b) && less_than(b, c) && !less_than(a, c));
            }
        }
    }
}

TEST(IRText, HandWritten) {
    // What people write may differ from what is printed.
    const std::pair<const char *, const char *> cases[] = {
        {"1+2*x", "1 + (2 * x)"},
        {"a - b - c", "(a - b) - c"},
        {"a - -3", "a - -3"},
        {"p:bool && !q:bool || x < 3 + 4", "(p:bool && !q:bool) || (x < (3 + 4))"},
        {"ramp(x, 1, 8)", "r(x, 1, 8)"},
        {"broadcast(x, 8)", "x⟨8⟩"},
        {"r(x, 1, 4).lanes(1, 2, 2)", "(r(x, 1, 4)).lanes(1, 2, 2)"},
        {"(x ++ y ++ z)", "x ++ y ++ z"},
        {"1.5", "1.5_f32"},
        {"select(x > 0, // why\n x, y)", "select(x > 0, x, y)"},
        {"u1(x)", "bool(x)"},
        {"f(x)#2:u8", "f(x)#2:u8"},
        {"likely(x)", "likely(x)"},
        {"A[r(0,1,8)]:f32x8 when p:boolx8", "A[r(0, 1, 8)]:f32x8 when p:boolx8"},
    };
    for (const auto &[in, out] : cases) {
        EXPECT_EQ(to_text(parse_expr(in)), out);
    }
    EXPECT_EQ(to_text(parse_stmt("let x = 1; let y = 2\n\n  f[x] = y ; free f")),
              "let x = 1\nlet y = 2\nf[x] = y\nfree f\n");
}

TEST(IRText, Errors) {
    const std::pair<const char *, const char *> cases[] = {
        {"f[x] = 1 + 2_u8", "line 1, column 16: operands of different types: i32 and u8"},
        {"for x in [0, 3] {\n f[x] = \n}", "line 2, column 9: expected an expression"},
        {"let x = 3", "expected a statement"},
        {"f[x] = 3 free f", "expected the end of the statement"},
        {"f[x] = 3 }", "expected the end of the text"},
        {"evaluate -x", "expected a number"},
        {"evaluate \"abc", "no closing quote"},
        {"assert !x, 3", "needs a bool"},
    };
    for (const auto &[program, expected] : cases) {
        try {
            (void)parse_stmt(program);
            ADD_FAILURE() << program;
        } catch (const CompileError &e) {
            EXPECT_NE(std::string(e.what()).find(expected), std::string::npos) << e.what();
        }
    }
}

}  // namespace
