// Schedules of all kinds give what plain loops give.

#include "Halide.h"
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

using namespace Halide;

namespace {

using T = TailStrategy;

/// Compares a result with a function of the coordinates.
template<typename Value, typename Expected>
void check2(const char *name, const Buffer<Value> &result, Expected expected) {
    for (int y = result.dim(1).min(); y <= result.dim(1).max(); y++) {
        for (int x = result.dim(0).min(); x <= result.dim(0).max(); x++) {
            ASSERT_EQ(result(x, y), (Value)expected(x, y)) << name << " at " << x << ", " << y;
        }
    }
}

struct Case {
    const char *name;
    std::function<void()> run;
};

void run_all(const std::vector<Case> &cases) {
    for (const Case &c : cases) {
        try {
            c.run();
        } catch (const Error &e) {
            ADD_FAILURE() << c.name << ": " << e.what();
        }
    }
}

}  // namespace

TEST(LoopNests, TailsOfPureDefinitions) {
    Var x("x"), y("y"), xo("xo"), xi("xi"), xii("xii");
    for (T tail : {T::RoundUp, T::GuardWithIf, T::Predicate, T::PredicateLoads, T::PredicateStores, T::ShiftInwards,
                   T::ShiftInwardsAndBlend, T::RoundUpAndBlend, T::Auto}) {
        for (int vectorized = 0; vectorized < 2; vectorized++) {
            const std::string name = "tail " + std::to_string((int)tail) + (vectorized ? " vectorized" : " scalar");
            run_all({{name.c_str(), [&] {
                          Func f("f"), g("g");
                          g(x, y) = x * 3 + y;
                          f(x, y) = g(x, y) + g(x + 1, y) * 2;
                          g.compute_root();
                          f.split(x, xo, xi, 8, tail);
                          if (vectorized) {
                              f.vectorize(xi);
                          }
                          Buffer<int> out = f.realize({29, 5});
                          check2(name.c_str(), out, [](int x, int y) { return x * 3 + y + ((x + 1) * 3 + y) * 2; });
                      }}});
        }
    }
}

TEST(LoopNests, TailsOfIntermediates) {
    Var x("x"), y("y"), xo("xo"), xi("xi");
    for (T tail : {T::RoundUp, T::GuardWithIf, T::PredicateLoads, T::PredicateStores, T::ShiftInwards,
                   T::ShiftInwardsAndBlend, T::RoundUpAndBlend}) {
        const std::string name = "intermediate " + std::to_string((int)tail);
        run_all({{name.c_str(), [&] {
                      Func f("f"), g("g"), h("h");
                      h(x, y) = x + 100 * y;
                      g(x, y) = h(x - 1, y) + h(x + 1, y + 1);
                      f(x, y) = g(x, y) + g(x, y + 1);
                      h.compute_root().vectorize(x, 4, T::RoundUp);
                      g.compute_at(f, y).split(x, xo, xi, 8, tail).vectorize(xi);
                      f.vectorize(x, 4, T::GuardWithIf);
                      Buffer<int> out = f.realize({21, 6});
                      check2(name.c_str(), out, [](int x, int y) {
                          auto g = [](int x, int y) { return (x - 1 + 100 * y) + (x + 1 + 100 * (y + 1)); };
                          return g(x, y) + g(x, y + 1);
                      });
                  }}});
    }
}

TEST(LoopNests, Updates) {
    Var x("x"), y("y"), xo("xo"), xi("xi"), u("u");
    auto expected = [](int x, int y) {
        int v = x + y;
        for (int r = 0; r < 11; r++) {
            v += r * (x + 1);
        }
        return v;
    };
    for (T tail : {T::RoundUp, T::GuardWithIf, T::ShiftInwardsAndBlend, T::RoundUpAndBlend, T::PredicateStores, T::Auto}) {
        const std::string name = "update tail " + std::to_string((int)tail);
        run_all({{name.c_str(), [&] {
                      RDom r(0, 11);
                      Func f("f");
                      f(x, y) = x + y;
                      f(x, y) += r * (x + 1);
                      f.update(0).split(x, xo, xi, 8, tail).vectorize(xi);
                      Buffer<int> out = f.realize({19, 3});
                      check2(name.c_str(), out, expected);
                  }}});
    }
    run_all({
        {"split rvar",
         [&] {
             RDom r(0, 11);
             RVar ro("ro"), ri("ri");
             Func f("f");
             f(x, y) = x + y;
             f(x, y) += r * (x + 1);
             f.update(0).split(r, ro, ri, 4).reorder(ri, x, ro, y).unroll(ri);
             Buffer<int> out = f.realize({19, 3});
             check2("split rvar", out, expected);
         }},
        {"rfactor",
         [&] {
             RDom r(0, 11);
             RVar ro("ro"), ri("ri");
             Func f("f"), g("g");
             f(x, y) = x + y;
             f(x, y) += r * (x + 1);
             g(x, y) = f(x, y);
             Func intm = f.update(0).split(r, ro, ri, 4).rfactor(ri, u);
             intm.compute_at(f, y).vectorize(u, 4).update(0).vectorize(u, 4);
             f.compute_root();
             Buffer<int> out = g.realize({19, 3});
             check2("rfactor", out, expected);
         }},
        {"atomic vectorized reduction",
         [&] {
             RDom r(0, 16);
             Func f("f"), h("h");
             h(x) = x * x;
             f(x, y) = x + y;
             f(x, y) += h(r);
             h.compute_root();
             f.update(0).atomic().vectorize(r, 8);
             Buffer<int> out = f.realize({7, 3});
             check2("atomic", out, [](int x, int y) { return x + y + 1240; });
         }},
        {"histogram",
         [&] {
             RDom r(0, 100);
             Func f("f"), g("g");
             f(x) = 0;
             f(clamp((r * 7) % 10, 0, 9)) += 1;
             g(x, y) = f(x);
             f.compute_root();
             Buffer<int> out = g.realize({10, 1});
             check2("histogram", out, [](int x, int y) { return 10; });
         }},
        {"where",
         [&] {
             RDom r(0, 10, 0, 10);
             r.where(r.x < r.y);
             Func f("f");
             f(x, y) = 0;
             f(r.x, r.y) = 1 + r.x;
             Buffer<int> out = f.realize({10, 10});
             check2("where", out, [](int x, int y) { return x < y ? 1 + x : 0; });
         }},
        {"scan",
         [&] {
             RDom r(1, 19);
             Func f("f");
             f(x, y) = y + 1;
             f(r, y) = f(r - 1, y) + f(r, y);
             f.update(0).vectorize(y, 4, T::GuardWithIf);
             Buffer<int> out = f.realize({20, 7});
             check2("scan", out, [](int x, int y) { return (x + 1) * (y + 1); });
         }},
    });
}

TEST(LoopNests, Placement) {
    Var x("x"), y("y"), yo("yo"), yi("yi"), xo("xo"), xi("xi"), t("t");
    auto expected = [](int x, int y) {
        auto g = [](int x, int y) { return x * y + 7; };
        return g(x - 1, y) + g(x, y + 1) + g(x + 1, y + 2);
    };
    struct Place {
        const char *name;
        std::function<void(Func &f, Func &g)> schedule;
    };
    const Place places[] = {
        {"inline", [&](Func &f, Func &g) {}},
        {"root", [&](Func &f, Func &g) { g.compute_root(); }},
        {"at y", [&](Func &f, Func &g) { g.compute_at(f, y); }},
        {"at x", [&](Func &f, Func &g) { g.compute_at(f, x); }},
        {"sliding", [&](Func &f, Func &g) { g.compute_at(f, y).store_root(); }},
        {"sliding in x", [&](Func &f, Func &g) { g.compute_at(f, x).store_at(f, y); }},
        {"tiles", [&](Func &f, Func &g) { f.tile(x, y, xo, yo, xi, yi, 8, 4); g.compute_at(f, xo); }},
        {"tiles, parallel", [&](Func &f, Func &g) { f.tile(x, y, xo, yo, xi, yi, 8, 4).fuse(xo, yo, t).parallel(t); g.compute_at(f, t).vectorize(x, 4); }},
        {"strips sliding", [&](Func &f, Func &g) { f.split(y, yo, yi, 4).parallel(yo); g.store_at(f, yo).compute_at(f, yi); }},
        {"folded", [&](Func &f, Func &g) { g.compute_at(f, y).store_root().fold_storage(y, 4); }},
        {"reordered storage", [&](Func &f, Func &g) { g.compute_root().reorder_storage(y, x); }},
        {"hoisted", [&](Func &f, Func &g) { g.compute_at(f, y).hoist_storage_root(); }},
        {"unrolled", [&](Func &f, Func &g) { f.unroll(y, 3, T::GuardWithIf); g.compute_at(f, y); }},
        {"reordered", [&](Func &f, Func &g) { f.reorder(y, x); g.compute_at(f, x); }},
        {"wrapped", [&](Func &f, Func &g) { g.compute_root(); g.in(f).compute_at(f, y); }},
        {"cloned", [&](Func &f, Func &g) { g.clone_in(f).compute_at(f, y); }},
        {"outermost", [&](Func &f, Func &g) { g.compute_at(f, Var::outermost()); }},
        {"renamed", [&](Func &f, Func &g) { f.rename(y, t); g.compute_at(f, t); }},
    };
    for (const Place &p : places) {
        run_all({{p.name, [&] {
                      Func f("f"), g("g");
                      g(x, y) = x * y + 7;
                      f(x, y) = g(x - 1, y) + g(x, y + 1) + g(x + 1, y + 2);
                      p.schedule(f, g);
                      Buffer<int> out = f.realize({19, 13});
                      check2(p.name, out, expected);
                  }}});
    }
}

TEST(LoopNests, SpecialForms) {
    Var x("x"), y("y"), xi("xi");
    run_all({
        {"specialize",
         [&] {
             Param<int> p("p");
             Func f("f");
             f(x, y) = x + y * p;
             f.specialize(p == 3).vectorize(x, 8);
             f.specialize(p > 5).unroll(x, 2);
             for (int v : {1, 3, 7}) {
                 p.set(v);
                 Buffer<int> out = f.realize({21, 3});
                 check2("specialize", out, [v](int x, int y) { return x + y * v; });
             }
         }},
        {"compute_with",
         [&] {
             Func f("f"), g("g"), h("h");
             f(x, y) = x + y;
             g(x, y) = x - y;
             h(x, y) = f(x, y) * 1000 + g(x + 2, y + 3);
             f.compute_root();
             g.compute_root().compute_with(f, y);
             Buffer<int> out = h.realize({9, 8});
             check2("compute_with", out, [](int x, int y) { return (x + y) * 1000 + (x + 2) - (y + 3); });
         }},
        {"compute_with at start, two outputs",
         [&] {
             Func f("f"), g("g"), in("in");
             in(x, y) = x * y;
             f(x, y) = in(x, y) + 1;
             g(x, y) = in(x, y) + 2;
             in.compute_at(f, y);
             g.compute_with(f, x, LoopAlignStrategy::AlignStart);
             Buffer<int> a(9, 8), b(9, 8);
             Pipeline({f, g}).realize({a, b});
             check2("two outputs, first", a, [](int x, int y) { return x * y + 1; });
             check2("two outputs, second", b, [](int x, int y) { return x * y + 2; });
         }},
        {"compute_with of updates",
         [&] {
             Func f("f"), g("g"), h("h");
             f(x, y) = x + y;
             f(x, y) += 1;
             g(x, y) = x - y;
             g(x, y) += 2;
             h(x, y) = f(x, y) * 100 + g(x, y);
             f.compute_root();
             g.compute_root();
             g.compute_with(f, y);
             g.update(0).compute_with(f.update(0), y);
             Buffer<int> out = h.realize({9, 8});
             check2("compute_with of updates", out, [](int x, int y) { return (x + y + 1) * 100 + (x - y + 2); });
         }},
        {"inline reduction",
         [&] {
             RDom r(0, 5);
             Func f("f");
             f(x, y) = sum(x * r + y);
             f.vectorize(x, 4);
             Buffer<int> out = f.realize({13, 3});
             check2("inline reduction", out, [](int x, int y) { return 10 * x + 5 * y; });
         }},
        {"tuple",
         [&] {
             Func f("f"), g("g");
             f(x, y) = Tuple(x + y, cast<float>(x * y));
             f(x, y) = Tuple(f(x, y)[0] * 2, f(x, y)[1] + 0.5f);
             g(x, y) = cast<int>(f(x, y)[1] * 2.0f) + f(x, y)[0];
             f.compute_at(g, y).vectorize(x, 4).update(0).vectorize(x, 4);
             Buffer<int> out = g.realize({13, 3});
             check2("tuple", out, [](int x, int y) { return x * y * 2 + 1 + (x + y) * 2; });
         }},
        {"scatter and gather",
         [&] {
             Func f("f");
             f(x, y) = x;
             RDom r(0, 4);
             // Swaps neighbours.
             f(scatter(2 * r, 2 * r + 1), y) = f(gather(2 * r + 1, 2 * r), y);
             Buffer<int> out = f.realize({8, 2});
             check2("scatter and gather", out, [](int x, int y) { return x ^ 1; });
         }},
        {"argmax",
         [&] {
             RDom r(0, 16);
             Func f("f");
             f(x, y) = argmax((r * 5 + x) % 16)[0];
             Buffer<int> out = f.realize({4, 2});
             check2("argmax", out, [](int x, int y) {
                 int best = 0;
                 for (int r = 1; r < 16; r++) {
                     best = (r * 5 + x) % 16 > (best * 5 + x) % 16 ? r : best;
                 }
                 return best;
             });
         }},
        {"memoize",
         [&] {
             Param<int> p("p");
             Func f("f"), g("g");
             f(x, y) = x * p + y;
             g(x, y) = f(x, y) + f(x + 1, y);
             f.compute_root().memoize();
             for (int v : {1, 2, 1}) {
                 p.set(v);
                 Buffer<int> out = g.realize({9, 4});
                 check2("memoize", out, [v](int x, int y) { return x * v + y + (x + 1) * v + y; });
             }
         }},
        {"prefetch",
         [&] {
             Func f("f"), g("g");
             g(x, y) = x + y;
             f(x, y) = g(x, y) * 2;
             g.compute_root();
             f.prefetch(g, y, y, 2);
             Buffer<int> out = f.realize({9, 4});
             check2("prefetch", out, [](int x, int y) { return (x + y) * 2; });
         }},
    });
}

TEST(LoopNests, AsyncProducers) {
    Var x("x"), y("y");
    struct Form {
        const char *name;
        std::function<void(Func &f, Func &g, Func &h)> schedule;
    };
    const Form forms[] = {
        {"at root", [&](Func &f, Func &g, Func &h) { g.compute_root().async(); }},
        {"at y", [&](Func &f, Func &g, Func &h) { g.compute_at(f, y).async(); }},
        {"stored outside", [&](Func &f, Func &g, Func &h) { g.store_root().compute_at(f, y).async(); }},
        {"folded", [&](Func &f, Func &g, Func &h) { g.store_root().compute_at(f, y).fold_storage(y, 8).async(); }},
        {"folded tightly", [&](Func &f, Func &g, Func &h) { g.store_root().compute_at(f, y).fold_storage(y, 4).async(); }},
        {"input inside", [&](Func &f, Func &g, Func &h) { g.store_root().compute_at(f, y).async(); h.compute_at(f, y); }},
        {"input shared outside", [&](Func &f, Func &g, Func &h) { g.store_root().compute_at(f, y).async(); h.store_root().compute_at(f, y); }},
        {"two", [&](Func &f, Func &g, Func &h) { g.store_root().compute_at(f, y).async(); h.store_root().compute_at(f, y).async(); }},
        {"two at root", [&](Func &f, Func &g, Func &h) { g.compute_root().async(); h.compute_root().async(); }},
        {"ring buffer", [&](Func &f, Func &g, Func &h) { g.hoist_storage_root().compute_at(f, y).ring_buffer(2).async(); }},
        {"ring buffer without async", [&](Func &f, Func &g, Func &h) { g.hoist_storage_root().compute_at(f, y).ring_buffer(3); }},
    };
    for (const Form &form : forms) {
        run_all({{form.name, [&] {
                      Func f("f"), g("g"), h("h");
                      h(x, y) = x + 3 * y;
                      g(x, y) = h(x, y) * h(x + 1, y);
                      f(x, y) = g(x, y - 1) + g(x, y + 1) + h(x, y);
                      form.schedule(f, g, h);
                      for (int run = 0; run < 3; run++) {
                          Buffer<int> out = f.realize({17, 40});
                          check2(form.name, out, [](int x, int y) {
                              auto h = [](int x, int y) { return x + 3 * y; };
                              auto g = [&](int x, int y) { return h(x, y) * h(x + 1, y); };
                              return g(x, y - 1) + g(x, y + 1) + h(x, y);
                          });
                      }
                  }}});
    }
}

TEST(LoopNests, PlacementErrors) {
    Var x("x"), y("y"), z("z");
    struct Wrong {
        const char *name;
        std::function<void(Func &, Func &, Func &)> schedule;
        const char *part;
    };
    const Wrong cases[] = {
        {"not all uses", [&](Func &f, Func &g, Func &h) { h.compute_at(g, y); g.compute_root(); }, "does not enclose all uses"},
        {"no such loop", [&](Func &f, Func &g, Func &h) { h.compute_at(f, z); }, "compute_root()"},
        {"store inside compute", [&](Func &f, Func &g, Func &h) { h.compute_root().store_at(f, y); }, "must enclose"},
        {"parallel between", [&](Func &f, Func &g, Func &h) { f.parallel(y); h.compute_at(f, y).store_root(); }, "race condition"},
        {"store without compute", [&](Func &f, Func &g, Func &h) { h.store_root(); }, "inlined"},
        {"output not at root", [&](Func &f, Func &g, Func &h) { f.compute_at(g, y); }, "output"},
        {"vectorized inline", [&](Func &f, Func &g, Func &h) { h.vectorize(x, 4); }, "inline"},
    };
    for (const Wrong &c : cases) {
        Func f("f"), g("g"), h("h");
        h(x, y) = x + y;
        g(x, y) = h(x, y) * 2;
        f(x, y) = g(x, y) + h(x, y + 1);
        try {
            c.schedule(f, g, h);
            f.compile_jit();
            ADD_FAILURE() << c.name << ": no error";
        } catch (const CompileError &e) {
            EXPECT_NE(std::string(e.what()).find(c.part), std::string::npos) << c.name << ": " << e.what();
        }
    }
}
