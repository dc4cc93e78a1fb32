// Loops with unroll hints: the same values, on the back end that passes hints on and where they are expanded; and which
// loops of the LLVM code carry which hint.

#include "api/BoundaryConditions.h"
#include "api/Func.h"
#include "api/ImageParam.h"
#include "api/InlineReductions.h"
#include "api/RDom.h"
#include "api/Tuple.h"
#include "api/Var.h"
#include "codegen/llvm/CompileOutputs.h"
#include "func/Module.h"
#include "ir/IRVisitor.h"
#include "lower/Pipeline.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <regex>
#include <string>
#include <vector>

namespace {

using namespace Halide;
using namespace Halide::Internal;

Var x("x"), y("y"), xo("xo"), xi("xi"), t("t");

/// Expands hints in the compiler while it lives.
struct NativeUnrolling {
    NativeUnrolling() {
        setenv("BROMIDE_NATIVE_UNROLL", "1", 1);
    }
    ~NativeUnrolling() {
        unsetenv("BROMIDE_NATIVE_UNROLL");
    }
};

Buffer<int> picture(int w, int h) {
    Buffer<int> b(w, h);
    b.fill([](int i, int j) { return (i * 37 + j * 91 + i * j * 5) & 255; });
    return b;
}

/// A program under test: makes its output with (`hint` > 0: by that factor, 0: fully) or without (< 0) hints.
struct Program {
    const char *name;
    std::function<Func(Buffer<int>, int hint)> make;
};

template<typename F, typename V>
void give_hint(F f, const V &var, int hint) {
    if (hint == 0) {
        f.unroll_hint(var);
    } else if (hint > 0) {
        f.unroll_hint(var, hint);
    }
}

const std::vector<Program> &programs() {
    static const std::vector<Program> all = {
        {"stencil",
         [](Buffer<int> in, int hint) {
             Func f("f");
             Func b = BoundaryConditions::repeat_edge(in);
             f(x, y) = b(x - 1, y) + 2 * b(x, y) + b(x + 1, y - 1);
             give_hint(f, x, hint);
             return f;
         }},
        {"outer_loop",
         [](Buffer<int> in, int hint) {
             Func f("f");
             f(x, y) = BoundaryConditions::constant_exterior(in, 3)(x + 2, y - 1) * 5;
             f.vectorize(x, 4, TailStrategy::GuardWithIf);
             give_hint(f, y, hint);
             return f;
         }},
        {"both_loops",
         [](Buffer<int> in, int hint) {
             Func f("f");
             f(x, y) = BoundaryConditions::mirror_image(in)(x - 3, y + 2) + x * y;
             give_hint(f, x, hint);
             give_hint(f, y, hint);
             return f;
         }},
        {"beside_unroll_and_vectorize",
         [](Buffer<int> in, int hint) {
             Func f("f");
             f(x, y) = BoundaryConditions::repeat_edge(in)(y, x) - x;
             f.split(x, xo, xi, 8, TailStrategy::GuardWithIf).unroll(xi, 2).vectorize(y, 2, TailStrategy::GuardWithIf);
             give_hint(f, xo, hint);
             return f;
         }},
        {"inside_parallel",
         [](Buffer<int> in, int hint) {
             Func f("f");
             f(x, y) = BoundaryConditions::repeat_edge(in)(x, y) + 7;
             f.parallel(y);
             give_hint(f, x, hint);
             return f;
         }},
        {"scan",
         [](Buffer<int> in, int hint) {
             Func f("f");
             f(x, y) = BoundaryConditions::repeat_edge(in)(x, y);
             RDom r(1, 12, "r");
             f(r, y) = (f(r - 1, y) * 3 + f(r, y)) % 1000;
             f.bound(x, 0, 13);
             give_hint(f.update(), RVar(r.x), hint);
             return f;
         }},
        {"triangle",
         [](Buffer<int> in, int hint) {
             Func f("f"), b = BoundaryConditions::repeat_edge(in);
             RDom r(0, 6, 0, 5, "r");
             r.where(r.x <= r.y && r.x + x > 2);
             f(x, y) = 1;
             f(x, y) = (f(x, y) * 7 + b(x + r.x, y + r.y)) % 10007;
             give_hint(f.update(), RVar(r.x), hint);
             give_hint(f.update(), RVar(r.y), hint);
             return f;
         }},
        {"tuple_and_histogram",
         [](Buffer<int> in, int hint) {
             Func h("h"), f("f"), b = BoundaryConditions::repeat_edge(in);
             RDom r(0, 11, 0, 7, "r");
             h(t) = Tuple(0, 100);
             Expr bin = b(r.x, r.y) % 16;
             h(bin) = Tuple(h(bin)[0] + 1, min(h(bin)[1], r.x * 3 - r.y));
             h.compute_root();
             give_hint(h.update(), RVar(r.x), hint);
             f(x, y) = h((x + y) % 16)[0] * 1000 + h(x % 16)[1];
             return f;
         }},
        {"producer_inside",
         [](Buffer<int> in, int hint) {
             Func g("g"), f("f"), b = BoundaryConditions::repeat_edge(in);
             g(x, y) = b(x, y) * 3;
             f(x, y) = g(x - 1, y) + g(x + 1, y + 1);
             g.store_root().compute_at(f, y);
             give_hint(f, y, hint);
             give_hint(g, x, hint);
             return f;
         }},
        {"rfactor_keeps_it",
         [](Buffer<int> in, int hint) {
             Func f("f"), b = BoundaryConditions::repeat_edge(in);
             RDom r(0, 13, "r");
             RVar ro("ro"), ri("ri");
             f(x, y) = 0;
             f(x, y) += b(x + r, y);
             f.update().split(r, ro, ri, 4);
             give_hint(f.update(), ri, hint);
             Func g = f.update().rfactor(ro, t);
             g.compute_root();
             give_hint(f.update(), ro, hint);
             return f;
         }},
    };
    return all;
}

TEST(UnrollHints, DoNotChangeValues) {
    const Buffer<int> in = picture(19, 11);
    for (const Program &p : programs()) {
        Func plain = p.make(in, -1);
        std::vector<std::pair<int, int>> sizes = {{1, 1}, {2, 3}, {5, 4}, {13, 7}, {16, 8}};
        if (std::string(p.name) == "scan") {
            sizes = {{13, 1}, {13, 4}};
        }
        auto check = [&](int hint, const char *how) {
            Func hinted = p.make(in, hint);
            for (const auto &[w, h] : sizes) {
                const Buffer<int> expected = plain.realize({w, h}), got = hinted.realize({w, h});
                for (int j = 0; j < h; j++) {
                    for (int i = 0; i < w; i++) {
                        ASSERT_EQ(got(i, j), expected(i, j)) << p.name << ", " << how << ", hint " << hint << ", " << w
                                                             << " x " << h << " at " << i << ", " << j;
                    }
                }
            }
        };
        for (int hint : {0, 4}) {
            check(hint, "by LLVM");
        }
        NativeUnrolling native;
        for (int hint : {0, 2, 3, 7}) {
            check(hint, "natively");
        }
    }
}

/// The hints of the loops of LLVM code, by the names of the loops: "full", "4", or "" for a loop without one. Loops made
/// of one loop have its name with a number behind.
std::map<std::string, std::string> loop_hints(const std::string &llvm) {
    // Metadata nodes by number.
    std::map<std::string, std::string> nodes;
    const std::regex node("\\n(!\\d+) = (.*)"), latch("br i1 [^,]+, label %\"end for ([^\"]*)\", label %\"for ([^\"]*)\"(, !llvm\\.loop (!\\d+))?");
    for (std::sregex_iterator i(llvm.begin(), llvm.end(), node), end; i != end; ++i) {
        nodes[(*i)[1]] = (*i)[2];
    }
    std::map<std::string, std::string> result;
    std::map<std::string, int> seen;
    for (std::sregex_iterator i(llvm.begin(), llvm.end(), latch), end; i != end; ++i) {
        const std::string name = (*i)[2], id = (*i)[4];
        if (id.empty()) {
            result[name] = "";
            continue;
        }
        // distinct !{!self, !property}
        const std::regex loop_node("distinct !\\{(!\\d+), (!\\d+)\\}");
        std::smatch m;
        EXPECT_TRUE(std::regex_match(nodes[id], m, loop_node)) << id << " = " << nodes[id];
        EXPECT_EQ(m[1], id) << "the metadata of a loop refers to itself";
        EXPECT_EQ(seen[id]++, 0) << "two loops share " << id;
        const std::string property = nodes[m[2]];
        std::smatch count;
        if (property == "!{!\"llvm.loop.unroll.full\"}") {
            result[name] = "full";
        } else if (std::regex_match(property, count, std::regex("!\\{!\"llvm\\.loop\\.unroll\\.count\", i32 (\\d+)\\}"))) {
            result[name] = count[1];
        } else if (property == "!{!\"llvm.loop.unroll.runtime.disable\"}") {
            // No hint: LLVM's own unrolling of loops of unknown length is off.
            result[name] = "";
        } else {
            ADD_FAILURE() << name << " has the property " << property;
        }
    }
    return result;
}

std::map<std::string, std::string> llvm_hints(Func f, const std::vector<Argument> &args) {
    const Target target("x86-64-linux-sse41-no_asserts-no_bounds_query-no_runtime");
    return loop_hints(llvm_text_before_optimization(f.compile_to_module(args, "f", target)));
}

using Hints = std::map<std::string, std::string>;

TEST(UnrollHints, LLVMGetsThem) {
    ImageParam in(Int(32), 2, "in");
    Func f(Function("f"));
    f(x, y) = in(x, y) + 1;
    f.unroll_hint(x, 4);
    EXPECT_EQ(llvm_hints(f, {in}), (Hints{{"f.s0.y.rebased", ""}, {"f.s0.x.rebased", "4"}}));
}

TEST(UnrollHints, LLVMGetsThemOnUpdatesAndSplits) {
    ImageParam in(Int(32), 2, "in");
    Func f(Function("f"));
    RDom r(0, 16, "r");
    f(x, y) = 0;
    f(x, y) += in(x + r, y);
    f.bound(x, 0, 64).bound(y, 0, 8);
    // The outer part keeps the name and the hint.
    f.unroll_hint(x, 2).vectorize(x, 4);
    f.update().unroll_hint(r).split(y, xo, xi, 2).unroll_hint(xi).parallel(xo).reorder(r, xi, x, xo);
    EXPECT_EQ(llvm_hints(f, {in}),
              (Hints{{"f.s0.y", ""}, {"f.s0.x.x", "2"}, {"f.s1.x", ""}, {"f.s1.y.xi", "full"}, {"f.s1.r$x", "full"}}));
}

TEST(UnrollHints, LLVMGetsThemOnPartitionedLoops) {
    Buffer<int> in = picture(32, 32);
    Func b = BoundaryConditions::repeat_edge(in);
    for (const bool full : {false, true}) {
        Func f(Function("f"));
        f(x, y) = b(x - 1, y) + b(x + 1, y);
        f.never_partition(y);
        give_hint(f, x, full ? 0 : 8);
        const Hints hints = llvm_hints(f, {});
        int of_x = 0, with_hint = 0;
        for (const auto &h : hints) {
            if (h.first.find("f.s0.x") == 0) {
                of_x++;
                with_hint += h.second == (full ? "full" : "8");
            } else {
                EXPECT_EQ(h.second, "") << h.first;
            }
        }
        // Prologue, steady state, epilogue.
        EXPECT_EQ(of_x, 3);
        EXPECT_EQ(with_hint, full ? 3 : 1);
    }
}

TEST(UnrollHints, MergedLoopsKeepThem) {
    ImageParam in(Int(32), 2, "in");
    Func a(Function("a")), b(Function("b")), f(Function("f"));
    a(x, y) = in(x, y) + 1;
    b(x, y) = in(x, y) * 2;
    f(x, y) = a(x, y) + b(x, y);
    a.compute_root().unroll_hint(x, 4);
    b.compute_root().unroll_hint(x, 4).compute_with(a, x);
    const Hints hints = llvm_hints(f, {in});
    int merged = 0;
    for (const auto &h : hints) {
        merged += h.second == "4";
    }
    EXPECT_EQ(merged, 1);
}

TEST(UnrollHints, NeverBothWays) {
    ImageParam in(Int(32), 2, "in");
    Func f(Function("f"));
    f(x, y) = in(x, y) + 1;
    f.unroll_hint(x, 4).unroll_hint(y);   // y varies: reported, and not expanded
    NativeUnrolling native;
    const Hints hints = llvm_hints(f, {in});
    EXPECT_EQ(hints.size(), 3u);   // y, the rounds of x, the rest of x
    for (const auto &h : hints) {
        EXPECT_EQ(h.second, "") << h.first;
    }
}

TEST(UnrollHints, WhatCannotBeExpandedIsReported) {
    struct Reporter : public CompileTimeErrorReporter {
        std::string text;
        void warning(const char *message) override {
            text += message;
        }
        void error(const char *message) override {
            throw CompileError(message);
        }
    } reporter;
    Func f(Function("f")), g(Function("g"));
    f(x) = x;
    f.unroll_hint(x);
    g(x) = x;
    g.bound(x, 0, 1 << 20).unroll_hint(x);
    set_custom_compile_time_error_reporter(&reporter);
    {
        NativeUnrolling native;
        llvm_hints(f, {});
        llvm_hints(g, {});
    }
    set_custom_compile_time_error_reporter(nullptr);
    EXPECT_EQ(reporter.text,
              "Warning: The unroll hint of loop f.s0.x.rebased has no effect: its number of iterations varies, and the target "
              "cannot unroll such a loop fully.\n"
              "Warning: The unroll hint of loop g.s0.x has no effect: its 1048576 iterations are too much code to repeat.\n");
}

}  // namespace
