#include "ir/IR.h"
#include "ir/IRConstants.h"
#include "ir/IREquality.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/IRText.h"
#include "ir/IRVisitor.h"
#include "ir/Interval.h"
#include "ir/Scope.h"
#include "ir/WellFormed.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <sstream>

struct IRCoreUserStruct;
namespace ir_core_ns {
class UserClass;
}
HALIDE_DECLARE_EXTERN_STRUCT_TYPE(IRCoreUserStruct);
HALIDE_DECLARE_EXTERN_CLASS_TYPE(ir_core_ns::UserClass);

namespace {

using namespace Halide;
using namespace Halide::Internal;

template<typename T>
std::string text(const T &x) {
    std::ostringstream s;
    s << x;
    return s.str();
}

Expr var(const std::string &name, Type t = Int(32)) {
    return Variable::make(t, name);
}

TEST(IRCore, TypesPrint) {
    const std::pair<Type, const char *> cases[] = {
        {Int(8), "int8"},
        {UInt(16), "uint16"},
        {Float(32), "float32"},
        {BFloat(16), "bfloat16"},
        {Int(8, 4), "int8x4"},
        {Bool(), "uint1"},
        {Handle(), "(void *)"},
        {type_of<const char *>(), "(char const *)"},
        {type_of<void *>(), "(void *)"},
        {type_of<halide_buffer_t *>(), "(struct halide_buffer_t *)"},
        {type_of<const IRCoreUserStruct *>(), "(struct IRCoreUserStruct const *)"},
        {type_of<ir_core_ns::UserClass **>(), "(::ir_core_ns::UserClass * *)"},
    };
    for (const auto &[type, expected] : cases) {
        EXPECT_EQ(text(type), expected);
    }
}

TEST(IRCore, TypesOfCppTypes) {
    EXPECT_EQ(type_of<bool>(), UInt(1));
    EXPECT_EQ(type_of<int8_t>(), Int(8));
    EXPECT_EQ(type_of<uint64_t>(), UInt(64));
    EXPECT_EQ(type_of<double>(), Float(64));
    EXPECT_EQ(type_of<float16_t>(), Float(16));
    EXPECT_EQ(type_of<bfloat16_t>(), BFloat(16));
    EXPECT_NE(type_of<const char *>(), type_of<char *>());
    EXPECT_EQ(type_of<const char *>(), type_of<const char *>());
    EXPECT_TRUE(Int(32) == halide_type_of<int32_t>());
}

TEST(IRCore, TypesWidenAndNarrow) {
    EXPECT_EQ(Bool().widen(), UInt(8));
    EXPECT_EQ(BFloat(16).widen(), Float(32));
    EXPECT_EQ(Int(8, 4).widen(), Int(16, 4));
    EXPECT_EQ(UInt(8).narrow(), UInt(1));
    EXPECT_EQ(Int(64).narrow(), Int(32));
    EXPECT_THROW((void)Bool().narrow(), InternalError);
}

TEST(IRCore, TypesRepresent) {
    struct Case {
        Type outer, inner;
        bool expected;
    };
    const Case types[] = {
        {Int(16), UInt(8), true},     {Int(8), UInt(8), false},     {UInt(16), Int(8), false},
        {Float(32), Int(16), true},   {Float(32), Int(32), false},  {Float(64), Int(32), true},
        {Float(16), UInt(8), true},   {Float(16), Int(16), false},  {Float(32), BFloat(16), true},
        {BFloat(16), UInt(8), true},  {BFloat(16), Int(16), false}, {Float(16), BFloat(16), false},
        {Int(32, 4), Int(16), false}, {Int(32, 4), Int(16, 4), true},
    };
    for (const Case &c : types) {
        EXPECT_EQ(c.outer.can_represent(c.inner), c.expected) << c.outer << " " << c.inner;
    }
    EXPECT_TRUE(UInt(8).can_represent((int64_t)255));
    EXPECT_FALSE(UInt(8).can_represent((int64_t)256));
    EXPECT_FALSE(UInt(8).can_represent((int64_t)-1));
    EXPECT_TRUE(Int(8).can_represent((int64_t)-128));
    EXPECT_TRUE(Int(64).can_represent(INT64_MIN));
    EXPECT_FALSE(Int(64).can_represent((uint64_t)1 << 63));
    EXPECT_FALSE(Int(64).can_represent(9223372036854775808.0));
    EXPECT_FALSE(Float(32).can_represent((int64_t)16777217));
    EXPECT_FALSE(Float(16).can_represent(65536.0));
    EXPECT_TRUE(Float(16).can_represent(0.5));
    EXPECT_FALSE(Float(32).can_represent(0.1));
}

TEST(IRCore, TypesExtremes) {
    EXPECT_TRUE(is_const(Int(8).min(), -128));
    EXPECT_TRUE(is_const(UInt(8).max(), 255));
    EXPECT_EQ(UInt(64).max().as<UIntImm>()->value, UINT64_MAX);
    EXPECT_EQ(Int(64).min().as<IntImm>()->value, INT64_MIN);
    EXPECT_EQ(Float(32).max().as<FloatImm>()->value, (double)INFINITY);
    EXPECT_EQ(Float(32).min().as<FloatImm>()->value, -(double)INFINITY);
    EXPECT_EQ(Int(16, 8).max().type(), Int(16, 8));
    EXPECT_TRUE(Int(8).is_max((int64_t)127));
    EXPECT_TRUE(UInt(8).is_min((int64_t)0));
}

TEST(IRCore, CTypeNames) {
    const std::tuple<Type, bool, const char *> cases[] = {
        {Int(32), true, "int32_t"},      {UInt(8), true, "uint8_t"},
        {Bool(), true, "bool"},          {Float(32), true, "float"},
        {Float(64), true, "double"},     {Float(16), true, "float16_t"},
        {Int(8, 16), true, "int8x16_t"}, {Handle(), true, "void *"},
        {type_of<halide_buffer_t *>(), false, "struct halide_buffer_t *"},
        {type_of<ir_core_ns::UserClass *>(), false, "void *"},
        {type_of<ir_core_ns::UserClass *>(), true, "::ir_core_ns::UserClass *"},
    };
    for (const auto &[type, c_plus_plus, expected] : cases) {
        EXPECT_EQ(type_to_c_type(type, false, c_plus_plus), expected);
    }
    EXPECT_EQ(type_to_c_type(Int(32), true), "int32_t ");
    EXPECT_EQ(type_to_c_type(Handle(), true), "void *");
}

TEST(IRCore, ImmediatesNormalize) {
    EXPECT_EQ(IRHandle(IntImm::make(Int(8), 200)).as<IntImm>()->value, -56);
    EXPECT_EQ(IRHandle(UIntImm::make(UInt(8), 300)).as<UIntImm>()->value, 44u);
    EXPECT_EQ(IRHandle(FloatImm::make(Float(32), 0.1)).as<FloatImm>()->value, (double)0.1f);
    EXPECT_EQ(IRHandle(FloatImm::make(Float(16), 1.0009)).as<FloatImm>()->value, 1.0009765625);
    EXPECT_EQ(Expr(3).type(), Int(32));
    EXPECT_EQ(Expr(3.f).type(), Float(32));
    EXPECT_EQ(Expr((uint8_t)3).type(), UInt(8));
    EXPECT_EQ(Expr("x").type(), type_of<const char *>());
    static_assert(!std::is_convertible_v<double, Expr>);
    static_assert(!std::is_convertible_v<int64_t, Expr>);
    static_assert(!std::is_constructible_v<Expr, bool>);
    static_assert(std::is_convertible_v<float16_t, Expr>);
}

TEST(IRCore, ExpressionsPrint) {
    Expr x = var("x"), y = var("y"), p = var("p3", UInt(8));
    Expr vec = Ramp::make(x, 2, 8);
    const std::pair<Expr, const char *> cases[] = {
        {Add::make(x, y), "(x + y)"},
        {Mul::make(Add::make(x, 1), y), "((x + 1)*y)"},
        {Div::make(x, y), "(x/y)"},
        {Mod::make(x, y), "(x % y)"},
        {Min::make(Add::make(x, 1), y), "min(x + 1, y)"},
        {Select::make(GT::make(x, 0), x, y), "select(x > 0, x, y)"},
        {Not::make(GT::make(x, 0)), "!(x > 0)"},
        {And::make(GT::make(x, 0), LE::make(y, x)), "((x > 0) && (y <= x))"},
        {Cast::make(UInt(8), x), "uint8(x)"},
        {Expr((uint8_t)3), "3_u8"},
        {Expr((int64_t)5), "5_i64"},
        {Expr(2.5f), "2.500000f"},
        {Expr(1.5), "1.500000"},
        {Expr(float16_t(1.5f)), "1.500000h"},
        {const_true(), "true"},
        {p, "(uint8)p3"},
        {Call::make(Int(32), "f", {x, Add::make(y, 1)}, Call::Halide), "f(x, y + 1)"},
        {Call::make(UInt(32), Call::abs, {x}, Call::PureIntrinsic), "(uint32)abs(x)"},
        {Call::make(Int(32), Call::bitwise_and, {x, 3}, Call::PureIntrinsic), "(x & 3)"},
        {Call::make(Int(32), Call::bitwise_not, {x}, Call::PureIntrinsic), "~x"},
        {Call::make(Int(32), Call::likely, {x}, Call::PureIntrinsic), "likely(x)"},
        {vec, "ramp(x, 2, 8)"},
        {Broadcast::make(Add::make(x, y), 8), "x8(x + y)"},
        {Let::make("t", Add::make(x, 1), Mul::make(var("t"), 2)), "(let t = x + 1 in (t*2))"},
        {Load::make(Int(32), "in", x), "in[x]"},
        {Load::make(UInt(8), "in", x), "(uint8)in[x]"},
        {Load::make(Int(32, 8), "in", vec, Buffer<>(), Parameter(), const_true(8), ModulusRemainder(8, 4)),
         "(int32x8)in[ramp(x, 2, 8) aligned(8, 4)]"},
        {Shuffle::make_concat({x, y}), "concat_vectors(x, y)"},
        {Shuffle::make_interleave({vec, vec}), "interleave_vectors(ramp(x, 2, 8), ramp(x, 2, 8))"},
        {Shuffle::make_slice(vec, 1, 2, 3), "slice_vectors(ramp(x, 2, 8), 1, 2, 3)"},
        {Shuffle::make_extract_element(vec, 5), "extract_element(ramp(x, 2, 8), 5)"},
        {VectorReduce::make(VectorReduce::Add, vec, 2), "(int32x2)vector_reduce_add(ramp(x, 2, 8))"},
        {Expr("a\"b\n"), "\"a\\\"b\\n\""},
        {Expr(), "(undefined)"},
    };
    for (const auto &[e, expected] : cases) {
        EXPECT_EQ(text(e), expected);
    }
}

TEST(IRCore, StatementsPrint) {
    Expr x = var("x");
    Stmt store = Store::make("f", Load::make(UInt(8), "g", x), Add::make(x, 1));
    Stmt loop = For::make("x", 0, 9, ForType::Parallel, Partition::Never, DeviceAPI::None, store);
    Stmt body = Block::make(ProducerConsumer::make_produce("f", loop), Free::make("g"));
    Stmt s = LetStmt::make(
        "n", 7, Allocate::make("g", UInt(8), MemoryType::Stack, {var("n"), 2}, const_true(), body));
    EXPECT_EQ(text(s), "let n = 7\n"
                       "allocate g[uint8 * n * 2] in Stack\n"
                       "produce f {\n"
                       " parallel<Never> (x, 0, 9) {\n"
                       "  f[x + 1] = g[x]\n"
                       " }\n"
                       "}\n"
                       "free g\n");
    Expr code = Call::make(Int(32), "halide_error_x", {}, Call::Extern);
    Stmt branches = IfThenElse::make(
        GT::make(x, 0), Evaluate::make(0),
        IfThenElse::make(LT::make(x, 0), AssertStmt::make(EQ::make(x, -1), code), Evaluate::make(1)));
    EXPECT_EQ(text(branches), "if (x > 0) {\n"
                              " 0\n"
                              "} else if (x < 0) {\n"
                              " assert(x == -1, halide_error_x())\n"
                              "} else {\n"
                              " 1\n"
                              "}\n");
    Stmt realize = Realize::make("f", {UInt(8), Int(32)}, MemoryType::Auto, {{0, 10}, {x, 3}}, const_true(),
                                 Provide::make("f", {Expr((uint8_t)1), 2}, {x, 0}, const_true()));
    EXPECT_EQ(text(realize), "realize f([0, 10], [x, 3]) {\n"
                             " f(x, 0) = {1_u8, 2}\n"
                             "}\n");
}

TEST(IRCore, LoopExtents) {
    Expr x = var("x"), e = var("e");
    const std::tuple<Expr, Expr, const char *> cases[] = {
        {0, 9, "10"},
        {3, 9, "7"},
        {0, Sub::make(e, 1), "e"},
        {0, Add::make(e, -1), "e"},
        {x, Sub::make(Add::make(x, e), 1), "e"},
        {x, Add::make(x, 7), "8"},
        {x, x, "1"},
        {x, Sub::make(x, 1), "0"},
        {x, e, "((e + 1) - x)"},
    };
    for (const auto &[min, max, expected] : cases) {
        Stmt s = For::make("i", min, max, ForType::Serial, Partition::Auto, DeviceAPI::None, Evaluate::make(0));
        EXPECT_EQ(text(s.as<For>()->extent()), expected);
    }
}

TEST(IRCore, MakeChecks) {
    Expr x = var("x");
    EXPECT_THROW(Add::make(x, Expr(1.f)), InternalError);
    EXPECT_THROW(Add::make(x, Expr()), InternalError);
    EXPECT_THROW(Not::make(x), InternalError);
    EXPECT_THROW(Ramp::make(x, 1, 1), InternalError);
    EXPECT_THROW(Reinterpret::make(UInt(16), x), InternalError);
    EXPECT_THROW(Shuffle::make({x}, {1}), InternalError);
    EXPECT_THROW(VectorReduce::make(VectorReduce::Add, Broadcast::make(x, 8), 3), InternalError);
    EXPECT_THROW(Store::make("f", Broadcast::make(x, 4), x), InternalError);
    EXPECT_THROW(Call::make(Int(32), "f", {Expr(1.f)}, Call::Halide), InternalError);
    EXPECT_THROW(Allocate::constant_allocation_size({65536, 65536}, "f"), CompileError);
    EXPECT_EQ(Allocate::constant_allocation_size({3, 5}, "f"), 15);
    EXPECT_EQ(Allocate::constant_allocation_size({3, x}, "f"), 0);
}

TEST(IRCore, Shuffles) {
    Expr v = Ramp::make(var("x"), 1, 6), w = Ramp::make(var("y"), 1, 6);
    Expr interleaved = Shuffle::make_interleave({v, w});
    const Shuffle *interleave = interleaved.as<Shuffle>();
    EXPECT_TRUE(interleave->is_interleave());
    EXPECT_FALSE(interleave->is_concat());
    EXPECT_EQ(interleave->indices, (std::vector<int>{0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11}));
    EXPECT_EQ(interleave->vector_and_lane_indices()[3], std::make_pair(1, 1));

    Expr t = Shuffle::make_transpose(v, 2);
    EXPECT_TRUE(t.as<Shuffle>()->is_transpose());
    EXPECT_EQ(t.as<Shuffle>()->transpose_factor(), 2);
    EXPECT_EQ(t.as<Shuffle>()->indices, (std::vector<int>{0, 2, 4, 1, 3, 5}));

    Expr b = Shuffle::make_broadcast(v, 3);
    EXPECT_TRUE(b.as<Shuffle>()->is_broadcast());
    EXPECT_EQ(b.as<Shuffle>()->broadcast_factor(), 3);

    EXPECT_TRUE(Shuffle::make_slice(v, 0, 1, 6).same_as(v));
    EXPECT_TRUE(Shuffle::make_slice(v, 5, -1, 6).as<Shuffle>()->is_slice());
    EXPECT_EQ(Shuffle::make_slice(v, 5, -1, 6).as<Shuffle>()->slice_stride(), -1);
    EXPECT_TRUE(Shuffle::make_extract_element(v, 2).as<Shuffle>()->is_extract_element());
    EXPECT_EQ(Shuffle::make_extract_element(v, 2).type(), Int(32));
}

TEST(IRCore, BlocksNestToTheRight) {
    Stmt a = Evaluate::make(1), b = Evaluate::make(2), c = Evaluate::make(3);
    Stmt left = Block::make(Block::make(a, b), c);
    const Block *outer = left.as<Block>();
    ASSERT_TRUE(outer);
    EXPECT_TRUE(outer->first.same_as(a));
    ASSERT_TRUE(outer->rest.as<Block>());
    EXPECT_TRUE(outer->rest.as<Block>()->rest.same_as(c));
    EXPECT_TRUE(equal(left, Block::make({a, b, c})));
    EXPECT_TRUE(Block::make(a, Stmt()).same_as(a));
    EXPECT_FALSE(Block::make(std::vector<Stmt>{}).defined());
}

TEST(IRCore, WithAndChanged) {
    Expr x = var("x"), y = var("y");
    Expr sum = Add::make(x, y);
    const Add *add = sum.as<Add>();
    EXPECT_TRUE(add->with(x, y).same_as(sum));
    EXPECT_EQ(text(add->with(y, y)), "(y + y)");
    Expr load = Load::make(Int(32), "in", x);
    EXPECT_EQ(text(load.as<Load>()->changed(&Load::index, y, &Load::name, "out")), "out[y]");
    EXPECT_THROW((void)load.as<Load>()->changed(&Load::index, Broadcast::make(x, 4)), InternalError);
    // The original is as before.
    EXPECT_EQ(text(load), "in[x]");
}

TEST(IRCore, Equality) {
    auto make = [](int i) { return Add::make(var("x"), Mul::make(var("y"), i)); };
    EXPECT_TRUE(equal(make(2), make(2)));
    EXPECT_FALSE(equal(make(2), make(3)));
    EXPECT_TRUE(less_than(make(2), make(3)) != less_than(make(3), make(2)));
    EXPECT_FALSE(less_than(make(2), make(2)));
    EXPECT_FALSE(equal(Expr(3), Expr((uint8_t)3)));
    EXPECT_TRUE(equal(Expr((uint8_t)3), 3));
    EXPECT_TRUE(equal(Expr(), Expr()));
    EXPECT_FALSE(equal(Expr(), Expr(1)));
    // Zeros of different sign are different constants; a NaN is one constant.
    EXPECT_FALSE(equal(Expr(0.f), Expr(-0.f)));
    EXPECT_TRUE(equal(Expr(NAN), Expr(NAN)));
    // A predicate, an alignment, a hint are part of a statement.
    Stmt loop = For::make("i", 0, 9, ForType::Serial, Partition::Auto, DeviceAPI::None, Evaluate::make(0));
    EXPECT_FALSE(equal(loop, loop.as<For>()->changed(&For::hint, UnrollHint::by(4))));
    EXPECT_EQ(structural_hash(make(2)), structural_hash(make(2)));
    EXPECT_NE(structural_hash(make(2)), structural_hash(make(3)));
    std::map<Expr, int, IRDeepCompare> table;
    table[make(2)] = 1;
    table[make(3)] = 2;
    EXPECT_EQ(table.at(make(2)), 1);
}

// An expression of n nodes that is 2^n operations.
Expr doubled(int n) {
    Expr e = var("x");
    for (int i = 0; i < n; i++) {
        e = Add::make(e, e);
    }
    return e;
}

TEST(IRCore, SharedGraphs) {
    EXPECT_TRUE(graph_equal(doubled(60), doubled(60)));
    EXPECT_FALSE(graph_equal(doubled(60), doubled(61)));
    EXPECT_NE(graph_less_than(doubled(60), doubled(61)), graph_less_than(doubled(61), doubled(60)));
    EXPECT_EQ(structural_hash(doubled(60)), structural_hash(doubled(60)));

    class CountAdds : public IRGraphVisitor {
        using IRGraphVisitor::visit;
        void visit(const Add *op) override {
            count++;
            IRGraphVisitor::visit(op);
        }

    public:
        int count = 0;
    } counter;
    doubled(60).accept(&counter);
    EXPECT_EQ(counter.count, 60);

    class Rename : public IRGraphMutator {
        using IRGraphMutator::visit;
        Expr visit(const Variable *op) override {
            return Variable::make(op->type, "y");
        }
    } rename;
    Expr renamed = rename(doubled(60));
    EXPECT_TRUE(renamed.as<Add>()->a.same_as(renamed.as<Add>()->b));
}

TEST(IRCore, DeepChains) {
    const int n = 200000;
    Expr e = var("x"), f = var("x");
    for (int i = 0; i < n; i++) {
        e = Add::make(e, 1);
        f = Add::make(f, 1);
    }
    EXPECT_TRUE(equal(e, f));
    EXPECT_EQ(structural_hash(e), structural_hash(f));
    std::vector<Stmt> stmts(n, Evaluate::make(0));
    Stmt s = Block::make(stmts);
    for (int i = 0; i < n; i++) {
        s = LetStmt::make("t", 0, s);
    }
    EXPECT_GT(text(s).size(), (size_t)n);
    // Destruction of all of these happens here.
}

TEST(IRCore, MutatorsKeepUnchangedNodes) {
    const char *program = R"(
        let n = 7
        allocate g[i32, n, 2] in Heap if (n > 3)
        realize h[0, n] : i32 {
          produce h {
            parallel x in [0, (n - 1)] {
              h(x) when (x < 4) = (let t = (x * 2) in (t + select((t > 3), min(t, 1), max(t, 2))))
            }
          }
          if (n == 3) { g[r(n, 1, 8)] = h(n)⟨8⟩ } else { g[0] = reduce(+, g[r(n, 1, 8)]:i32x8, 1) }
          assert (n != 0), extern halide_error(n, "text")
          fork { free g } { evaluate shuffle(r(n, 1, 4); 0, 2):i32x2 }
          atomic h, lock { g[n] = i32(reinterpret<f32>(g[n])) }
        }
    )";
    // A shuffle has no ascription: its type follows.
    std::string source = program;
    source.replace(source.find(":i32x2 }"), 8, " }");
    Stmt s = parse_stmt(source);
    class Identity : public IRMutator {
    } identity;
    EXPECT_TRUE(identity(s).same_as(s));

    Stmt t = mutate_with(s, [](auto *self, const Variable *op) -> Expr {
        return op->name == "n" ? Variable::make(op->type, "m") : Expr(op);
    });
    EXPECT_FALSE(equal(s, t));
    Stmt back = mutate_with(t, [](auto *self, const Variable *op) -> Expr {
        return op->name == "m" ? Variable::make(op->type, "n") : Expr(op);
    });
    EXPECT_TRUE(equal(s, back));
}

TEST(IRCore, VisitorsOfLambdas) {
    Stmt s = parse_stmt("for x in [0, 9] { f[x] = g[x + 1] + g[x] }\nf[3] = 4");
    int loads = 0, variables = 0, stores = 0;
    visit_with(
        s, [&](auto *self, const Load *op) { loads++; },
        [&](auto *self, const Store *op) {
            stores++;
            self->visit_base(op);
        },
        [&](auto *self, const Variable *op) { variables++; });
    EXPECT_EQ(loads, 2);
    EXPECT_EQ(stores, 2);
    // The loads were not entered.
    EXPECT_EQ(variables, 1);

    int expressions = 0;
    mutate_with(s, [&](auto *self, const Expr &e) {
        expressions++;
        return self->mutate_base(e);
    });
    // min, max; predicate, value (sum, 2 loads, each predicate and index), index; and the second store.
    EXPECT_EQ(expressions, 2 + 1 + 3 + 2 + 3 + 1 + 1 + 3);
}

TEST(IRCore, Intervals) {
    Expr x = var("x");
    EXPECT_TRUE(Interval::everything().is_everything());
    EXPECT_TRUE(Interval::nothing().is_empty());
    Interval i = Interval::nothing();
    i.include(Expr(3));
    EXPECT_TRUE(i.is_single_point(i.min));
    i.include(Expr(7));
    EXPECT_EQ(text(i), "[3, 7]");
    i.include(x);
    EXPECT_EQ(text(i), "[min(3, x), max(7, x)]");
    EXPECT_TRUE(i.is_bounded());
    Interval upper(Interval::neg_inf(), 5);
    EXPECT_FALSE(upper.has_lower_bound());
    EXPECT_TRUE(upper.has_upper_bound());
    EXPECT_EQ(text(Interval::make_intersection(upper, Interval(2, 9))), "[2, 5]");
    EXPECT_TRUE(Interval::make_union(upper, Interval(2, 9)).min.same_as(Interval::neg_inf()));
    EXPECT_TRUE(Interval(2, x) == Interval(2, var("x")));
}

TEST(IRCore, Scopes) {
    Scope<int> outer, inner;
    outer.push("a", 1);
    inner.set_containing_scope(&outer);
    EXPECT_EQ(inner.get("a"), 1);
    EXPECT_EQ(inner.shallow_find("a"), nullptr);
    {
        ScopedBinding<int> bind(inner, "a", 2);
        EXPECT_EQ(inner.get("a"), 2);
        ScopedBinding<int> none(false, inner, "a", 3);
        EXPECT_FALSE(none.bound());
        EXPECT_EQ(inner.count("a"), 1u);
    }
    EXPECT_EQ(inner.get("a"), 1);
    EXPECT_THROW((void)inner.get("b"), InternalError);
    Scope<int> moved = std::move(inner);
    EXPECT_EQ(moved.get("a"), 1);
}

TEST(IRCore, WellFormed) {
    const std::pair<const char *, const char *> cases[] = {
        {"for x in [0, 3] { f[x] = x }", ""},
        {"for x in [0, 3] { for x in [0, 3] { f[x] = x } }", "a loop over x inside another one"},
        {"allocate f[i32, 3] in Heap\nf[0] = 1\nfree f", ""},
        {"allocate f[i32, 3] in Heap\nfree f\nf[0] = 1", "store to f after it is freed"},
        {"allocate f[i32, 3] in Heap\nf[0] = 1_u8", "store to f as uint8, which is allocated as int32"},
        {"allocate f[i32, 3] in Heap\nif (x > 0) { free f } else { f[0] = 1 }", ""},
        {"free f", "free of f, which is not allocated"},
        {"realize f[0, 3] : i32 { f(0) = 1_u8 }", "a value of type uint8 for f, which is realized as int32"},
    };
    for (const auto &[program, expected] : cases) {
        const std::vector<std::string> findings = check_well_formed(parse_stmt(program));
        if (!*expected) {
            EXPECT_TRUE(findings.empty()) << program << ": " << findings[0];
        } else {
            ASSERT_FALSE(findings.empty()) << program;
            EXPECT_EQ(findings[0].find(expected), 0u) << findings[0];
        }
    }
    EXPECT_FALSE(check_well_formed(parse_expr("x + 1"), {.allow_free_variables = false}).empty());
}

TEST(IRCore, Intrinsics) {
    EXPECT_STREQ(Call::get_intrinsic_name(Call::abs), "abs");
    EXPECT_STREQ(Call::get_intrinsic_name(Call::widening_sub), "widening_sub");
    Expr e = Call::make(Int(32), Call::likely, {var("x")}, Call::PureIntrinsic);
    EXPECT_TRUE(Call::as_tag(e));
    EXPECT_TRUE(e.as<Call>()->is_intrinsic({Call::abs, Call::likely}));
    // An extern function of the same name is none.
    EXPECT_FALSE(Call::make(Int(32), "abs", {var("x")}, Call::Extern).as<Call>()->is_intrinsic(Call::abs));
}

}  // namespace
