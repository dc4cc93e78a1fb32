// Mistakes with unroll hints: each with the full text, in whichever order the directives come.

#include "Halide.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

using namespace Halide;

namespace {

struct Program {
    Var x{"x"}, y{"y"}, z{"z"}, xo{"xo"}, xi{"xi"};
    Func g{Internal::Function("g")};
    RDom r{0, 10, "r"};

    Program() {
        g(x, y) = x * y;
        g(x, y) += r;
    }
};

std::string message_of(const std::function<void(Program &)> &mistake) {
    Program p;
    try {
        mistake(p);
    } catch (const CompileError &e) {
        return e.what();
    } catch (const Error &e) {
        return std::string("not a CompileError: ") + e.what();
    }
    return "no error";
}

struct Case {
    const char *name;
    std::function<void(Program &)> mistake;
    std::string message;
};

TEST(UnrollHintErrors, Directives) {
    const std::string only_serial = "; only a serial loop can have an unroll hint.\n";
    const std::string has_hint = " has an unroll hint, which only a serial loop can have.\n";
    const std::string factor = "the factor must be a constant int of at least 1.\n";
    const std::vector<Case> cases = {
        {"zero", [](Program &p) { p.g.unroll_hint(p.x, 0); }, "Error: g.unroll_hint(x, 0): " + factor},
        {"negative", [](Program &p) { p.g.unroll_hint(p.x, -4); }, "Error: g.unroll_hint(x, -4): " + factor},
        {"varying", [](Program &p) { p.g.unroll_hint(p.x, p.y + 1); }, "Error: g.unroll_hint(x, (y + 1)): " + factor},
        {"float", [](Program &p) { p.g.unroll_hint(p.x, 2.0f); }, "Error: g.unroll_hint(x, 2.000000f): " + factor},
        {"too_large", [](Program &p) { p.g.unroll_hint(p.x, Expr((int64_t)1 << 40)); },
         "Error: g.unroll_hint(x, 1099511627776_i64): " + factor},
        {"undefined", [](Program &p) { p.g.unroll_hint(p.x, Expr()); }, "Error: g.unroll_hint(x, (undefined)): " + factor},
        {"unknown", [](Program &p) { p.g.unroll_hint(p.z); },
         "Error: g.unroll_hint(z): could not find dimension z in the schedule of g.\n"
         "  Loops of g, innermost first: Vars: x, y, __outermost\n"},
        {"unknown_in_update", [](Program &p) { p.g.update().unroll_hint(p.z, 2); },
         "Error: g.update(0).unroll_hint(z, 2): could not find dimension z in the schedule of g.update(0).\n"
         "  Loops of g.update(0), innermost first: Vars: r$x, x, y, __outermost\n"},
        {"gone_by_split", [](Program &p) { p.g.split(p.x, p.xo, p.xi, 4).fuse(p.xi, p.xo, p.z).unroll_hint(p.xo); },
         "Error: g.unroll_hint(xo): could not find dimension xo in the schedule of g.\n"
         "  Loops of g, innermost first: Vars: x.xi.z, y, __outermost\n"},
        {"outermost", [](Program &p) { p.g.unroll_hint(Var::outermost()); },
         "Error: g.unroll_hint(__outermost): Var::outermost() stands for the place outside of all loops and has nothing "
         "to unroll.\n"},
        {"twice", [](Program &p) { p.g.unroll_hint(p.x).unroll_hint(p.x, 4); },
         "Error: g.unroll_hint(x, 4): x has an unroll hint already.\n"},
        {"twice_the_same", [](Program &p) { p.g.unroll_hint(p.x, 4).unroll_hint(p.x, 4); },
         "Error: g.unroll_hint(x, 4): x has an unroll hint already.\n"},
        {"vectorized", [](Program &p) { p.g.vectorize(p.x).unroll_hint(p.x); },
         "Error: g.unroll_hint(x): x is vectorized" + only_serial},
        {"swar", [](Program &p) { p.g.vectorize(p.x, VectorizeIn::SWAR).unroll_hint(p.x); },
         "Error: g.unroll_hint(x): x is vectorized" + only_serial},
        {"parallel", [](Program &p) { p.g.parallel(p.y).unroll_hint(p.y, 2); },
         "Error: g.unroll_hint(y, 2): y is parallel" + only_serial},
        {"unrolled", [](Program &p) { p.g.unroll(p.x).unroll_hint(p.x); },
         "Error: g.unroll_hint(x): x is unrolled already" + only_serial},
        {"device", [](Program &p) { p.g.gpu_blocks(p.y).unroll_hint(p.y); },
         "Error: g.unroll_hint(y): y is a device loop" + only_serial},
        {"device_threads", [](Program &p) { p.g.gpu_threads(p.x).unroll_hint(p.x); },
         "Error: g.unroll_hint(x): x is a device loop" + only_serial},
        {"vectorized_later", [](Program &p) { p.g.unroll_hint(p.x).vectorize(p.x); },
         "Error: g.vectorize(x): x" + has_hint},
        {"parallel_later", [](Program &p) { p.g.unroll_hint(p.x).parallel(p.x); },
         "Error: g.parallel(x): x" + has_hint},
        {"parallel_by_tasks_later", [](Program &p) { p.g.unroll_hint(p.x).parallel(p.x, 4); },
         "Error: g.parallel(x): x" + has_hint},
        {"unrolled_later", [](Program &p) { p.g.unroll_hint(p.x, 2).unroll(p.x); },
         "Error: g.unroll(x): x" + has_hint},
        {"device_later", [](Program &p) { p.g.unroll_hint(p.x, 2).gpu_blocks(p.x); },
         "Error: g.gpu_blocks(x): x" + has_hint},
        {"fused_inner", [](Program &p) { p.g.unroll_hint(p.x).fuse(p.x, p.y, p.z); },
         "Error: g.fuse(x, y, z): x has an unroll hint, but no loop of its own in the fused one.\n"
         "  Fuse first, then give a hint for z.\n"},
        {"fused_outer", [](Program &p) { p.g.unroll_hint(p.y, 2).fuse(p.x, p.y, p.z); },
         "Error: g.fuse(x, y, z): y has an unroll hint, but no loop of its own in the fused one.\n"
         "  Fuse first, then give a hint for z.\n"},
    };
    for (const Case &c : cases) {
        EXPECT_EQ(message_of(c.mistake), c.message) << c.name;
    }
}

TEST(UnrollHintErrors, FoundWhenCompiled) {
    Var x{"x"}, y{"y"};
    auto compile = [](Func f) { f.compile_to_module({}, "f", Target("x86-64-linux-sse41")); };
    auto text = [&](const std::function<void()> &mistake) { return message_of([&](Program &) { mistake(); }); };

    EXPECT_EQ(text([&] {
                  Func a{Internal::Function("a")}, b{Internal::Function("b")};
                  a(x, y) = x + y;
                  b(x, y) = a(x, y) * 2;
                  a.unroll_hint(x);
                  compile(b);
              }),
              "Error: Cannot hint how to unroll dimension x of Func \"a\" because the Func is scheduled inline.\n"
              "  Give it a compute_at or compute_root as well, or drop the directive.\n");
    EXPECT_EQ(text([&] {
                  Func a{Internal::Function("a")}, b{Internal::Function("b")}, c{Internal::Function("c")};
                  a(x, y) = x + y;
                  b(x, y) = x - y;
                  c(x, y) = a(x, y) * b(x, y);
                  a.compute_root();
                  b.compute_root().unroll_hint(y, 2).compute_with(a, x);
                  compile(c);
              }),
              "Error: Invalid compute_with: b with a, x: the loop y of b has an unroll hint that y of a does not have.\n"
              "  The two loops become one, scheduled as the latter says: give the hint there.\n");
    EXPECT_EQ(text([&] {
                  Func a{Internal::Function("a")};
                  a.define_extern("make_a", {}, Int(32), {x, y});
                  a.unroll_hint(x);
              }),
              "Error: a.unroll_hint(x): x is computed by an extern function; only a serial loop can have an unroll hint.\n");
}

}  // namespace
