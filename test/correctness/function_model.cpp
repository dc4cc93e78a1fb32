// What a program is: definitions, their checks, call graphs, copies, and what is known about updates.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "api/Func.h"
#include "api/RDom.h"
#include "api/Var.h"
#include "func/Environment.h"
#include "ir/IREquality.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "lower/nest/ApplySplit.h"
#include "lower/nest/Inline.h"
#include "lower/nest/WrapCalls.h"
#include "regions/Associativity.h"
#include "support/Process.h"

using namespace Halide;
using namespace Halide::Internal;

namespace {

std::string text(const Expr &e) {
    std::ostringstream s;
    s << e;
    return s.str();
}

std::string dims_of(const StageSchedule &s) {
    std::string result;
    for (const Dim &d : s.dims()) {
        const std::string kind = d.dim_type == DimType::PureVar ? "" : d.dim_type == DimType::PureRVar ? "!" : "?";
        const std::string name = d.var.substr(d.var.find('$') == std::string::npos ? 0 : d.var.find('$'));
        result += (result.empty() ? "" : " ") + name + kind;
    }
    return result;
}

void expect_error(const char *what, const std::function<void()> &action, const std::string &part) {
    try {
        action();
        ADD_FAILURE() << what << ": no error";
    } catch (const CompileError &e) {
        EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << what << ": " << e.what();
    }
}

}  // namespace

TEST(FunctionModel, PureDefinition) {
    Var x("x"), y("y");
    Func f("model_f");
    f(x, y) = cast<uint8_t>(x + y);
    const Function fn = f.function();
    EXPECT_TRUE(fn.is_pure());
    EXPECT_TRUE(fn.can_be_inlined());
    EXPECT_EQ(fn.args(), (std::vector<std::string>{"x", "y"}));
    EXPECT_EQ(fn.output_types(), std::vector<Type>{UInt(8)});
    EXPECT_EQ(dims_of(fn.definition().schedule()), "x y __outermost");
    EXPECT_EQ(fn.output_buffers().size(), 1u);
    EXPECT_EQ(fn.output_buffers()[0].dimensions(), 2);
}

TEST(FunctionModel, LoopsOfUpdates) {
    // RVars (first innermost) inside the pure Vars of the left side; `!` marks proven independence, `?` the lack of it.
    Var x("x"), y("y");
    struct Case {
        const char *name;
        std::function<void(Func &, RDom &)> update;
        const char *dims;
    };
    const Case cases[] = {
        {"sum", [&](Func &f, RDom &r) { f(x, y) += r.x + r.y; }, "$x? $y? x y __outermost"},
        {"own column", [&](Func &f, RDom &r) { f(r.x, y) = f(r.x, y) + r.y; }, "$x! $y? y __outermost"},
        {"own point", [&](Func &f, RDom &r) { f(r.x, r.y) += 1; }, "$x! $y! __outermost"},
        {"skewed", [&](Func &f, RDom &r) { f(r.x + r.y, r.y) += 1; }, "$x! $y! __outermost"},
        {"scan", [&](Func &f, RDom &r) { f(r.x, y) = f(r.x - 1, y) + r.y; }, "$x? $y? y __outermost"},
        {"far away", [&](Func &f, RDom &r) { f(r.x, y) = f(r.x + 10, y); }, "$x! $y? y __outermost"},
        {"even and odd", [&](Func &f, RDom &r) { f(2 * r.x, r.y) = f(2 * r.x + 1, r.y); }, "$x! $y! __outermost"},
        {"flat", [&](Func &f, RDom &r) { f(r.x + 10 * r.y, y) += 1; }, "$x! $y! y __outermost"},
        {"overlapping", [&](Func &f, RDom &r) { f(r.x + 9 * r.y, y) += 1; }, "$x? $y? y __outermost"},
        {"histogram", [&](Func &f, RDom &r) { f((r.x * r.x) % 7, y) += 1; }, "$x? $y? y __outermost"},
    };
    for (const Case &c : cases) {
        Func f("loops");
        f(x, y) = 0;
        RDom r(0, 10, 0, 5);
        c.update(f, r);
        EXPECT_EQ(dims_of(f.function().update(0).schedule()), c.dims) << c.name;
    }
}

TEST(FunctionModel, DefinitionErrors) {
    Var x("x"), y("y");
    expect_error("duplicate argument", [&] { Func f; f(x, x) = 0; }, "not distinct");
    expect_error("unknown Var", [&] { Func f; f(x) = x + y; }, "y");
    expect_error("RDom in pure definition", [&] { Func f; RDom r(0, 3); f(x) = x + r; }, "eduction");
    expect_error("update type", [&] { Func f; f(x) = cast<uint8_t>(x); f(x) = x; }, "uint8");
    expect_error("update dimensionality", [&] { Func f; f(x, y) = x; f.function().define_update({x}, {x}); }, "dimension");
    expect_error("Var not on the left", [&] { Func f; f(x, y) = x; f(x, 0) = y; }, "y");
    expect_error("Var at another place", [&] { Func f; f(x, y) = x; f(y, 0) = y; }, "y");
    expect_error("recursion elsewhere", [&] { Func f; f(x, y) = x; f(x, y) = f(x + 1, y); }, "same pure variables");
    expect_error("two RDoms", [&] { Func f; RDom r(0, 3), s(0, 3); f(x) = x; f(r) = s + 0; }, "RDom");
    expect_error("frozen", [&] { Func f, g; f(x) = x; g(x) = f(x); f(x) += 1; }, "used in the definition");
    expect_error("dot in name", [&] { Func f("a.b"); }, "'.'");
    expect_error("required type", [&] { Func f(UInt(8), 1, "req"); f(x) = x; }, "constrained");
    expect_error("required dimensions", [&] { Func f(Int(32), 2, "req"); f(x) = x; }, "constrained");
}

TEST(FunctionModel, CallGraph) {
    Var x("x");
    Func a("cg_a"), b("cg_b"), c("cg_c"), d("cg_d");
    a(x) = x;
    b(x) = a(x);
    c(x) = a(x) + 1;
    d(x) = b(x) + c(x);
    d(x) += d(x);
    std::map<std::string, Function> direct = find_direct_calls(d.function());
    EXPECT_EQ(direct.size(), 3u);
    EXPECT_TRUE(direct.count(d.name()));
    std::map<std::string, Function> env = build_environment({d.function()});
    EXPECT_EQ(env.size(), 4u);
    const auto [order, groups] = realization_order({d.function()}, env);
    EXPECT_EQ(order, (std::vector<std::string>{a.name(), b.name(), c.name(), d.name()}));
    EXPECT_EQ(groups.size(), 4u);
    EXPECT_EQ(topological_order({d.function()}, env), order);
}

TEST(FunctionModel, DeepCopyIsIndependent) {
    Var x("x");
    Func a("dc_a"), b("dc_b");
    a(x) = x;
    b(x) = a(x);
    b(x) += b(x) * 2;
    std::map<std::string, Function> env = build_environment({b.function()});
    auto [outputs, copies] = deep_copy({b.function()}, env);
    EXPECT_FALSE(outputs[0].same_as(b.function()));
    EXPECT_EQ(outputs[0].name(), b.name());
    EXPECT_EQ(text(outputs[0].update(0).values()[0]), text(b.function().update(0).values()[0]));
    std::map<std::string, Function> calls = find_direct_calls(outputs[0]);
    EXPECT_TRUE(calls.at(a.name()).same_as(copies.at(a.name())));
    EXPECT_TRUE(calls.at(b.name()).same_as(outputs[0]));
    outputs[0].definition().schedule().dims()[0].for_type = ForType::Parallel;
    EXPECT_EQ(b.function().definition().schedule().dims()[0].for_type, ForType::Serial);
}

TEST(FunctionModel, WrappersReplaceCalls) {
    Var x("x");
    Func f("wr_f"), g("wr_g"), h("wr_h");
    f(x) = x;
    g(x) = f(x);
    h(x) = f(x) + g(x);
    Func w = f.in(g);
    std::map<std::string, Function> env = build_environment({h.function()});
    auto [outputs, copies] = deep_copy({h.function()}, env);
    std::map<std::string, Function> wrapped = wrap_func_calls(copies);
    EXPECT_TRUE(find_direct_calls(wrapped.at(g.name())).count(w.name()));
    EXPECT_FALSE(find_direct_calls(wrapped.at(g.name())).count(f.name()));
    EXPECT_TRUE(find_direct_calls(wrapped.at(h.name())).count(f.name()));
}

TEST(FunctionModel, Associativity) {
    Var x("x");
    RDom r(0, 10, "assoc_r");
    struct Case {
        const char *name;
        std::function<Tuple(Func &)> value;
        bool associative, commutative;
    };
    auto one = [](const Expr &e) { return Tuple(e); };
    const Case cases[] = {
        {"sum", [&](Func &f) { return one(f(x) + r); }, true, true},
        {"sum in the middle", [&](Func &f) { return one(r + f(x) - 3 * r); }, true, true},
        {"negated", [&](Func &f) { return one(r - f(x)); }, false, false},
        {"twice", [&](Func &f) { return one(f(x) + f(x)); }, false, false},
        {"product", [&](Func &f) { return one(f(x) * (r + 1)); }, true, true},
        {"affine", [&](Func &f) { return one(f(x) * 2 + r); }, false, false},
        {"min", [&](Func &f) { return one(min(r, f(x))); }, true, true},
        {"max of several", [&](Func &f) { return one(max(max(f(x), r), 7)); }, true, true},
        {"select as max", [&](Func &f) { return one(select(f(x) < r, r, f(x))); }, true, true},
        {"conditional sum", [&](Func &f) { return one(select(r % 2 == 0, f(x) + r, f(x))); }, true, true},
        {"xor", [&](Func &f) { return one(f(x) ^ r); }, true, true},
        {"shift", [&](Func &f) { return one(f(x) >> 1); }, false, false},
        {"overwrite", [&](Func &f) { return one(r * 1); }, true, false},
        {"elsewhere", [&](Func &f) { return one(f(x) + r / 2); }, true, true},
    };
    for (const Case &c : cases) {
        Func f("assoc");
        f(x) = 0;
        const AssociativeOp op = prove_associativity(f.name(), {x}, c.value(f).as_vector());
        EXPECT_EQ(op.associative(), c.associative) << c.name;
        EXPECT_EQ(op.associative() && op.commutative(), c.commutative) << c.name;
        if (!op.associative()) {
            continue;
        }
        // The identity is one on the left.
        for (size_t i = 0; i < op.size(); i++) {
            EXPECT_TRUE(op.pattern.ops[i].defined()) << c.name;
            EXPECT_TRUE(op.pattern.identities[i].defined()) << c.name;
        }
    }
}

TEST(FunctionModel, AssociativityOfTuples) {
    Var x("x");
    RDom r(0, 10, "tuple_r");
    Func f("assoc_t");
    f(x) = Tuple(0, 0);
    struct Case {
        const char *name;
        std::vector<Expr> values;
        bool associative;
    };
    const Expr a = f(x)[0], b = f(x)[1], key = (r * 7) % 5;
    const Case cases[] = {
        {"independent", {a + r, max(b, r)}, true},
        {"argmin", {select(key < b, r, a), min(b, key)}, true},
        {"argmin by select", {select(key < b, r, a), select(key < b, key, b)}, true},
        {"argmax", {select(key > b, r, a), max(b, key)}, true},
        {"wrong extreme", {select(key < b, r, a), max(b, key)}, false},
        {"complex product", {a * r - b * key, b * r + a * key}, true},
        {"not a ring", {a * r - b * key, b * r + a * 3}, false},
        {"swap", {b, a}, false},
    };
    for (const Case &c : cases) {
        EXPECT_EQ(prove_associativity(f.name(), {x}, c.values).associative(), c.associative) << c.name;
    }
}

TEST(FunctionModel, TailStrategies) {
    auto made = [](const std::string &old, const std::string &outer, const std::string &inner, int factor, TailStrategy t) {
        Split s;
        s.old_var = old;
        s.outer = outer;
        s.inner = inner;
        s.factor = factor;
        s.tail = t;
        return s;
    };
    using T = TailStrategy;
    const std::vector<Split> shifted = {made("x", "x.xo", "x.xi", 8, T::ShiftInwards)};
    EXPECT_EQ(resolve_tail_strategy(T::Auto, "x", 8, false, false, {}, "f"), T::ShiftInwards);
    EXPECT_EQ(resolve_tail_strategy(T::Auto, "x", 8, false, true, {}, "f"), T::RoundUp);
    EXPECT_EQ(resolve_tail_strategy(T::Auto, "r$x", 8, true, true, {}, "f"), T::GuardWithIf);
    EXPECT_EQ(resolve_tail_strategy(T::Auto, "x.xo", 4, false, false, shifted, "f"), T::RoundUp);
    EXPECT_EQ(resolve_tail_strategy(T::Auto, "x.xo", 16, false, false, shifted, "f"), T::ShiftInwards);
    EXPECT_EQ(resolve_tail_strategy(T::Auto, "x.xi", 4, false, false, shifted, "f"), T::ShiftInwards);
    const std::vector<Split> rounded = {made("x", "x.xo", "x.xi", 8, T::RoundUp)};
    EXPECT_EQ(resolve_tail_strategy(T::Auto, "x.xi", 3, false, true, rounded, "f"), T::GuardWithIf);
    expect_error("RoundUp inside", [&] { resolve_tail_strategy(T::RoundUp, "x.xi", 3, false, true, rounded, "f"); },
                 "earlier split");
    expect_error("RVar", [&] { resolve_tail_strategy(T::RoundUp, "r$x", 3, true, true, {}, "f"); }, "RVar");
    expect_error("shift in update", [&] { resolve_tail_strategy(T::ShiftInwards, "x", 3, false, true, {}, "f"); },
                 "update");
    expect_error("PredicateLoads inside",
                 [&] { resolve_tail_strategy(T::PredicateLoads, "x.xi", 3, false, false, rounded, "f"); }, "outermost");
    const std::vector<Split> predicated = {made("x", "x.xo", "x.xi", 8, T::PredicateStores)};
    expect_error("split of predicated", [&] { resolve_tail_strategy(T::Auto, "x.xo", 3, false, false, predicated, "f"); },
                 "PredicateStores");
}

TEST(FunctionModel, InliningSharesEqualCalls) {
    Var x("x");
    // As a tree, the result has 2^60 leaves; it is evaluated at 61 points.
    std::vector<Func> chain;
    Func first("share");
    first(x) = x * x;
    chain.push_back(first);
    Inliner inliner;
    inliner.inline_func(first.function());
    for (int i = 0; i < 60; i++) {
        Func next("share");
        next(x) = chain.back()(x) + chain.back()(x + 1);
        inliner.inline_func(next.function());
        chain.push_back(next);
    }
    const Expr e = inliner.do_inlining(Call::make(chain.back().function(), {Expr(x)}, 0));
    EXPECT_TRUE(e.as<Let>() != nullptr);
}

TEST(FunctionModel, LongChainsSurvive) {
    Var x("x");
    constexpr int length = 3000;
    run_with_large_stack([&] {
        Func last("long_chain");
        last(x) = x;
        for (int i = 0; i < length; i++) {
            Func next("long_chain");
            next(x) = last(x) + 1;
            last = next;
        }
        std::map<std::string, Function> env = build_environment({last.function()});
        EXPECT_EQ(env.size(), (size_t)length + 1);
        auto [outputs, copies] = deep_copy({last.function()}, env);
        EXPECT_EQ(topological_order(outputs, copies).size(), (size_t)length + 1);
    });
}
