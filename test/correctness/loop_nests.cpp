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

TEST(LoopNests, MergedLoops) {
    Var x("x"), y("y"), xo("xo"), xi("xi"), yo("yo"), yi("yi");
    struct Form {
        const char *name;
        std::function<void(Func &f, Func &g, Func &h)> schedule;
    };
    const Form forms[] = {
        {"three at y", [&](Func &f, Func &g, Func &h) { g.compute_with(f, y); h.compute_with(f, y); }},
        {"chain at y", [&](Func &f, Func &g, Func &h) { g.compute_with(f, y); h.compute_with(g, y); }},
        {"chain, outer first", [&](Func &f, Func &g, Func &h) { g.compute_with(f, y); h.compute_with(g, x); }},
        {"chain, inner first", [&](Func &f, Func &g, Func &h) { g.compute_with(f, x); h.compute_with(g, y); }},
        {"ends aligned", [&](Func &f, Func &g, Func &h) { g.compute_with(f, x, LoopAlignStrategy::AlignEnd); h.compute_with(f, y, LoopAlignStrategy::AlignStart); }},
        {"mixed alignment", [&](Func &f, Func &g, Func &h) { g.compute_with(f, x, {{x, LoopAlignStrategy::AlignEnd}, {y, LoopAlignStrategy::AlignStart}}); }},
        {"parallel", [&](Func &f, Func &g, Func &h) { f.parallel(y); g.parallel(y).compute_with(f, y); }},
        {"split", [&](Func &f, Func &g, Func &h) {
             f.split(y, yo, yi, 4);
             g.split(y, yo, yi, 4).compute_with(f, yo);
         }},
        {"tiled and vectorized", [&](Func &f, Func &g, Func &h) {
             f.tile(x, y, xo, yo, xi, yi, 8, 4, T::GuardWithIf).vectorize(xi);
             g.tile(x, y, xo, yo, xi, yi, 8, 4, T::GuardWithIf).vectorize(xi).compute_with(f, xo);
         }},
    };
    for (const Form &form : forms) {
        run_all({{form.name, [&] {
                      Func in("in"), f("f"), g("g"), h("h"), out("out");
                      in(x, y) = x + 2 * y;
                      f(x, y) = in(x, y) + 1;
                      g(x, y) = in(x, y) * 2;
                      h(x, y) = in(x, y) - 7;
                      out(x, y) = f(x, y) + g(x + 3, y - 2) * 10 + h(x - 1, y + 5) * 100;
                      for (Func *p : {&in, &f, &g, &h}) {
                          p->compute_root();
                      }
                      form.schedule(f, g, h);
                      Buffer<int> result = out.realize({23, 14});
                      check2(form.name, result, [](int x, int y) {
                          auto in = [](int x, int y) { return x + 2 * y; };
                          return in(x, y) + 1 + in(x + 3, y - 2) * 2 * 10 + (in(x - 1, y + 5) - 7) * 100;
                      });
                  }}});
    }
}

TEST(LoopNests, Rewiring) {
    Var x("x"), y("y"), u("u"), v("v"), t("t");
    run_all({
        {"global wrapper",
         [&] {
             Func f("f"), g("g"), h("h"), out("out");
             f(x, y) = x - y;
             g(x, y) = f(x, y) * 2;
             h(x, y) = f(x + 1, y) * 3;
             out(x, y) = g(x, y) + h(x, y);
             f.compute_root();
             f.in().compute_root().vectorize(x, 4);
             g.compute_root();
             h.compute_root();
             Buffer<int> result = out.realize({9, 5});
             check2("global wrapper", result, [](int x, int y) { return (x - y) * 2 + (x + 1 - y) * 3; });
         }},
        {"wrapper of a wrapper",
         [&] {
             Func f("f"), g("g");
             f(x, y) = x * y;
             g(x, y) = f(x, y) + f(x, y + 1);
             f.compute_root();
             Func w = f.in(g);
             w.compute_root();
             w.in(g).compute_at(g, y);
             Buffer<int> result = g.realize({9, 5});
             check2("wrapper of a wrapper", result, [](int x, int y) { return x * y + x * (y + 1); });
         }},
        {"clone with updates",
         [&] {
             Func f("f"), g("g"), h("h"), out("out");
             f(x, y) = x;
             f(x, y) += f(x, y) * y;
             g(x, y) = f(x, y);
             h(x, y) = f(x, y) * 2;
             out(x, y) = g(x, y) + h(x, y);
             f.compute_root();
             f.clone_in(h).compute_at(h, y);
             h.compute_root();
             Buffer<int> result = out.realize({9, 5});
             check2("clone with updates", result, [](int x, int y) { return 3 * (x + x * y); });
         }},
        {"input wrapped",
         [&] {
             ImageParam in(Int(32), 2, "in_image");
             Func f("f");
             f(x, y) = in(x, y) + in(x + 1, y);
             in.in().compute_at(f, y).vectorize(_0, 4, T::GuardWithIf);
             Buffer<int> data(10, 5);
             data.fill([](int x, int y) { return x * 10 + y; });
             in.set(data);
             Buffer<int> result = f.realize({9, 5});
             check2("input wrapped", result, [](int x, int y) { return 20 * x + 10 + 2 * y; });
         }},
        {"rfactor of two",
         [&] {
             RDom r(0, 12, 0, 9);
             RVar rxo("rxo"), rxi("rxi");
             Func f("f");
             f(x, y) = 0;
             f(x, y) += r.x * r.y + x;
             Func intm = f.update(0).split(r.x, rxo, rxi, 4).rfactor({{rxi, u}, {r.y, v}});
             intm.compute_at(f, x).update(0).vectorize(u, 4);
             Buffer<int> result = f.realize({5, 3});
             check2("rfactor of two", result, [](int x, int y) { return 66 * 36 + 108 * x; });
         }},
        {"rfactor of argmin",
         [&] {
             RDom r(0, 40);
             RVar ro("ro"), ri("ri");
             Func f("f"), g("g");
             f(x, y) = Tuple(0, 1000);
             Expr key = (r * 7 + x) % 41;
             f(x, y) = Tuple(select(key < f(x, y)[1], r, f(x, y)[0]), min(key, f(x, y)[1]));
             g(x, y) = f(x, y)[0] * 100 + f(x, y)[1];
             Func intm = f.update(0).split(r, ro, ri, 8).rfactor(ro, u);
             intm.compute_root();
             f.compute_root();
             Buffer<int> result = g.realize({6, 2});
             check2("rfactor of argmin", result, [](int x, int y) {
                 int best = 0, value = 1000;
                 for (int r = 0; r < 40; r++) {
                     const int key = (r * 7 + x) % 41;
                     if (key < value) {
                         best = r, value = key;
                     }
                 }
                 return best * 100 + value;
             });
         }},
        {"atomic histogram in parallel",
         [&] {
             RDom r(0, 1000);
             Func f("f"), g("g");
             f(x) = 0;
             f((r * r) % 17) += 1;
             g(x, y) = f(x);
             f.compute_root().update(0).atomic().parallel(r);
             Buffer<int> result = g.realize({17, 1});
             int counts[17] = {};
             for (int i = 0; i < 1000; i++) {
                 counts[(i * i) % 17]++;
             }
             check2("atomic histogram", result, [&](int x, int y) { return counts[x]; });
         }},
        {"fused reduction loops",
         [&] {
             RDom r(0, 6, 0, 5);
             RVar rf("rf");
             Func f("f");
             f(x, y) = 0;
             f(x, y) += r.x * 10 + r.y;
             f.update(0).fuse(r.x, r.y, rf).unroll(rf, 5);
             Buffer<int> result = f.realize({3, 3});
             check2("fused reduction loops", result, [](int x, int y) { return 25 * 30 + 60; });
         }},
        {"specialize_fail",
         [&] {
             Param<int> p("p");
             Func f("f");
             f(x, y) = x + p;
             f.specialize(p == 1);
             f.specialize_fail("only one");
             p.set(1);
             Buffer<int> result = f.realize({4, 2});
             check2("specialize_fail", result, [](int x, int y) { return x + 1; });
             p.set(2);
             EXPECT_THROW(f.realize({4, 2}), RuntimeError);
         }},
        {"a level set later",
         [&] {
             Func f("f"), g("g");
             g(x, y) = x + y;
             f(x, y) = g(x, y) + g(x, y + 1);
             LoopLevel level;
             g.compute_at(level);
             level.set(LoopLevel(f, y));
             Buffer<int> result = f.realize({5, 5});
             check2("a level set later", result, [](int x, int y) { return 2 * (x + y) + 1; });
         }},
        {"an output that another output reads",
         [&] {
             Func f("f"), g("g");
             f(x, y) = x * y;
             g(x, y) = f(x, y) + 1;
             Buffer<int> a(6, 4), b(6, 4);
             Pipeline({f, g}).realize({a, b});
             check2("first output", a, [](int x, int y) { return x * y; });
             check2("second output", b, [](int x, int y) { return x * y + 1; });
         }},
        {"reduction inside a predicate",
         [&] {
             RDom r(0, 8), s(0, 4);
             r.where(sum(s + 0) + r > 8);
             Func f("f");
             f(x, y) = 0;
             f(x, y) += r;
             Buffer<int> result = f.realize({2, 2});
             check2("reduction inside a predicate", result, [](int x, int y) { return 3 + 4 + 5 + 6 + 7; });
         }},
        {"exact bounds",
         [&] {
             Func f("f"), g("g");
             g(x, y) = x + y;
             f(x, y) = g(x, y) * 3;
             f.bound(x, 0, 16).vectorize(x, 8).bound_extent(y, 5);
             g.compute_root().align_bounds(x, 8).vectorize(x, 8);
             Buffer<int> result = f.realize({16, 5});
             check2("exact bounds", result, [](int x, int y) { return (x + y) * 3; });
         }},
        {"nested tiles with updates",
         [&] {
             Var xo("xo"), xi("xi"), yo("yo"), yi("yi");
             RDom r(0, 7);
             Func f("f"), g("g");
             g(x, y) = x;
             g(x, y) += r * y;
             f(x, y) = g(x, y) + g(x + 1, y);
             f.tile(x, y, xo, yo, xi, yi, 8, 8).vectorize(xi, 4).parallel(yo);
             g.compute_at(f, xo).vectorize(x, 4).update(0).reorder(x, r, y).vectorize(x, 4).unroll(y, 2);
             Buffer<int> result = f.realize({37, 21});
             check2("nested tiles with updates", result, [](int x, int y) { return 2 * x + 1 + 42 * y; });
         }},
    });
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

// The published schedule of blur: the first stage slides down the strip, and not along x, where tiles only meet in the
// tail, so that every vector of the output has one vector of the first stage.
TEST(LoopNests, NothingSlidesForTheSakeOfATail) {
    Var x("x"), y("y"), yi("yi");
    Func in("in"), first("first"), second("second");
    in(x, y) = x * 7 + y * y;
    first(x, y) = in(x, y) + in(x + 1, y) + in(x + 2, y);
    second(x, y) = first(x, y) + first(x, y + 1) + first(x, y + 2);
    in.compute_root();
    second.split(y, y, yi, 8).vectorize(x, 8);
    first.store_at(second, y).compute_at(second, x).vectorize(x, 8);
    Buffer<int> out = second.realize({61, 27});
    auto row = [](int x, int y) { return 3 * (x * 7 + y * y) + 21; };
    check2("blur", out, [&](int x, int y) { return row(x, y) + row(x, y + 1) + row(x, y + 2); });

    // In the lowered program first is produced in a loop over x of second, in one vector.
    const Module m = second.compile_to_module({}, "blur", Target("x86-64-linux-sse41"));
    int loops_inside = 0;
    for (const Internal::LoweredFunc &f : m.functions()) {
        Internal::visit_with(f.body, [&](auto *self, const Internal::ProducerConsumer *op) {
            if (op->is_producer && op->name == first.name()) {
                Internal::visit_with(op->body, [&](auto *inner, const Internal::For *loop) {
                    loops_inside++;
                    inner->visit_base(loop);
                });
            }
            self->visit_base(op);
        });
    }
    EXPECT_EQ(loops_inside, 0);
}
