#include "Halide.h"

#include <atomic>
#include <functional>
#include <gtest/gtest.h>

// Which regions are computed, required and stored: what programs depend on, and how often values are computed.

namespace {

using namespace Halide;

std::atomic<int> evaluations{0};

}  // namespace

extern "C" HALIDE_EXPORT_SYMBOL int count_evaluation(int x, int y) {
    evaluations++;
    return x + 100 * y;
}
HalideExtern_2(int, count_evaluation, int, int);

namespace {

Var x("x"), y("y"), xi("xi"), xo("xo"), yi("yi"), yo("yo");

using Ends = std::vector<std::pair<int, int>>;

/// The region of an input that a pipeline over `sizes` requires.
void expect_required(const std::string &name, const std::function<Func(ImageParam)> &make,
                     const std::vector<int> &sizes, const Ends &expected) {
    SCOPED_TRACE(name);
    ImageParam in(UInt(8), (int)expected.size(), "in");
    Func f = make(in);
    f.infer_input_bounds(sizes);
    Buffer<> b = in.get();
    for (size_t d = 0; d < expected.size(); d++) {
        EXPECT_EQ(b.dim((int)d).min(), expected[d].first) << "min of dimension " << d;
        EXPECT_EQ(b.dim((int)d).max(), expected[d].second) << "max of dimension " << d;
    }
}

/// Extents of allocations, by name without the part that makes it unique.
class FindAllocations : public Internal::IRMutator {
    using Internal::IRMutator::visit;
    Internal::Stmt visit(const Internal::Allocate *op) override {
        std::ostringstream extents;
        for (const Expr &e : op->extents) {
            extents << "[" << e << "]";
        }
        found[op->name.substr(0, op->name.find('$'))] = extents.str();
        return Internal::IRMutator::visit(op);
    }

public:
    std::map<std::string, std::string> found;
};

int F(int x, int y) {
    return x + 100 * y;
}
int stencil(int x, int y) {
    return F(x, y - 1) + F(x, y) + F(x, y + 1);
}

/// How often `f` is evaluated, what comes out, and what the extents of f's allocation end with (if given).
void expect_computed(const std::string &name, const std::function<Func()> &make, const std::vector<int> &sizes,
                     int expected_evaluations, const std::function<int(int, int)> &value,
                     const std::string &storage = "") {
    SCOPED_TRACE(name);
    Func f = make();
    FindAllocations allocations;
    f.add_custom_lowering_pass(&allocations, [] {});
    evaluations = 0;
    Buffer<int> result = f.realize(sizes);
    EXPECT_EQ(evaluations, expected_evaluations);
    for (int j = 0; j < result.height(); j++) {
        for (int i = 0; i < result.width(); i++) {
            ASSERT_EQ(result(i, j), value(i, j)) << "at " << i << ", " << j;
        }
    }
    if (!storage.empty()) {
        const std::string extents = allocations.found["f"];
        EXPECT_TRUE(Internal::ends_with(extents, storage)) << extents;
    }
}

/// g reads three rows of f; `schedule` says when they are computed.
std::function<Func()> three_rows(const std::function<void(Func &, Func &)> &schedule) {
    return [=]() {
        Func f("f"), g("g");
        f(x, y) = count_evaluation(x, y);
        g(x, y) = f(x, y - 1) + f(x, y) + f(x, y + 1);
        schedule(f, g);
        return g;
    };
}

TEST(Regions, Required) {
    expect_required("shift",
                    [&](ImageParam in) {
                        Func f;
                        f(x) = in(x + 3);
                        return f;
                    },
                    {10}, {{3, 12}});
    expect_required("stencil",
                    [&](ImageParam in) {
                        Func f;
                        f(x) = in(x - 1) + in(x) + in(x + 1);
                        return f;
                    },
                    {10}, {{-1, 10}});
    expect_required("mul",
                    [&](ImageParam in) {
                        Func f;
                        f(x) = in(2 * x) + in(2 * x + 1);
                        return f;
                    },
                    {10}, {{0, 19}});
    expect_required("div",
                    [&](ImageParam in) {
                        Func f;
                        f(x) = in(x / 2) + in(x / 2 + 1);
                        return f;
                    },
                    {10}, {{0, 5}});
    expect_required("mod",
                    [&](ImageParam in) {
                        Func f;
                        f(x) = in(x % 4);
                        return f;
                    },
                    {10}, {{0, 3}});
    expect_required("select",
                    [&](ImageParam in) {
                        Func f;
                        f(x) = select(x > 5, in(x + 10), in(x - 10));
                        return f;
                    },
                    {10}, {{-10, 19}});
    expect_required("clamp",
                    [&](ImageParam in) {
                        Func f;
                        f(x) = in(clamp(x, 2, 5));
                        return f;
                    },
                    {10}, {{2, 5}});
    expect_required("mirror",
                    [&](ImageParam in) {
                        Func f;
                        f(x) = in(9 - x);
                        return f;
                    },
                    {10}, {{0, 9}});
    expect_required("lut",
                    [&](ImageParam in) {
                        Func f, g;
                        g(x) = cast<uint8_t>(x * 7);
                        f(x) = in(g(x));
                        return f;
                    },
                    {10}, {{0, 255}});
    expect_required("lut root",
                    [&](ImageParam in) {
                        Func f, g;
                        g(x) = cast<uint8_t>(x * 7);
                        f(x) = in(g(x));
                        g.compute_root();
                        return f;
                    },
                    {10}, {{0, 255}});
    expect_required("lut clamp root",
                    [&](ImageParam in) {
                        Func f, g;
                        g(x) = clamp(x * 7, 3, 30);
                        f(x) = in(g(x));
                        g.compute_root();
                        return f;
                    },
                    {100}, {{3, 30}});
    expect_required("rdom",
                    [&](ImageParam in) {
                        Func f;
                        RDom r(-2, 5);
                        f(x) = cast<uint8_t>(0);
                        f(x) += in(x + r);
                        return f;
                    },
                    {10}, {{-2, 11}});
    expect_required("rdom sum",
                    [&](ImageParam in) {
                        Func f;
                        RDom r(0, 5);
                        f(x) = sum(in(x + r));
                        return f;
                    },
                    {10}, {{0, 13}});
    expect_required("where",
                    [&](ImageParam in) {
                        Func f;
                        RDom r(0, 5);
                        r.where(r < 3);
                        f(x) = cast<uint8_t>(0);
                        f(x) += in(x + r);
                        return f;
                    },
                    {10}, {{0, 11}});
    expect_required("triangle",
                    [&](ImageParam in) {
                        Func f;
                        RDom r(0, 10, 0, 10);
                        r.where(r.x + r.y < 10);
                        f(x) = cast<uint8_t>(0);
                        f(x) += in(r.x + r.y);
                        return f;
                    },
                    {10}, {{0, 9}});
    expect_required("update write",
                    [&](ImageParam in) {
                        Func f, g;
                        RDom r(0, 20);
                        f(x) = in(x);
                        f(r) = cast<uint8_t>(3);
                        g(x) = f(x);
                        f.compute_root();
                        return g;
                    },
                    {10}, {{0, 19}});
    expect_required("update scan",
                    [&](ImageParam in) {
                        Func f, g;
                        RDom r(1, 9);
                        f(x) = in(x);
                        f(r) = f(r - 1) + f(r);
                        g(x) = f(x);
                        f.compute_root();
                        return g;
                    },
                    {5}, {{0, 9}});
    expect_required("two roots",
                    [&](ImageParam in) {
                        Func f, g;
                        f(x) = in(x - 1) + in(x + 1);
                        g(x) = f(x - 1) + f(x + 1);
                        f.compute_root();
                        return g;
                    },
                    {10}, {{-2, 11}});
    expect_required("compute_at",
                    [&](ImageParam in) {
                        Func f, g;
                        f(x, y) = in(x - 1, y) + in(x + 1, y);
                        g(x, y) = f(x, y - 1) + f(x, y + 1);
                        f.compute_at(g, y);
                        return g;
                    },
                    {10, 10}, {{-1, 10}, {-1, 10}});
    expect_required("tile compute_at",
                    [&](ImageParam in) {
                        Func f, g;
                        Var yo, yi;
                        f(x, y) = in(x - 1, y) + in(x + 1, y);
                        g(x, y) = f(x, y - 1) + f(x, y + 1);
                        g.tile(x, y, xo, yo, xi, yi, 4, 4);
                        f.compute_at(g, xo);
                        return g;
                    },
                    {16, 16}, {{-1, 16}, {-1, 16}});
    expect_required("tile guard",
                    [&](ImageParam in) {
                        Func f, g;
                        Var yo, yi;
                        f(x, y) = in(x - 1, y) + in(x + 1, y);
                        g(x, y) = f(x, y - 1) + f(x, y + 1);
                        g.tile(x, y, xo, yo, xi, yi, 4, 4, TailStrategy::GuardWithIf);
                        f.compute_at(g, xo);
                        return g;
                    },
                    {10, 10}, {{-1, 10}, {-1, 10}});
    expect_required("tile shift",
                    [&](ImageParam in) {
                        Func f, g;
                        Var yo, yi;
                        f(x, y) = in(x - 1, y) + in(x + 1, y);
                        g(x, y) = f(x, y - 1) + f(x, y + 1);
                        g.tile(x, y, xo, yo, xi, yi, 4, 4);
                        f.compute_at(g, xo);
                        return g;
                    },
                    {10, 10}, {{-1, 10}, {-1, 10}});
    expect_required("split roundup",
                    [&](ImageParam in) {
                        Func f;
                        f(x) = in(x);
                        f.split(x, xo, xi, 8, TailStrategy::RoundUp);
                        return f;
                    },
                    {10}, {{0, 15}});
    expect_required("split guard",
                    [&](ImageParam in) {
                        Func f;
                        f(x) = in(x);
                        f.split(x, xo, xi, 8, TailStrategy::GuardWithIf);
                        return f;
                    },
                    {10}, {{0, 9}});
    expect_required("split guard nested",
                    [&](ImageParam in) {
                        Func f;
                        Var a, b;
                        f(x) = in(x);
                        f.split(x, xo, xi, 8, TailStrategy::GuardWithIf).split(xi, a, b, 3, TailStrategy::GuardWithIf);
                        return f;
                    },
                    {10}, {{0, 9}});
    expect_required("split shift",
                    [&](ImageParam in) {
                        Func f;
                        f(x) = in(x);
                        f.split(x, xo, xi, 8);
                        return f;
                    },
                    {10}, {{0, 9}});
    expect_required("split shift small",
                    [&](ImageParam in) {
                        Func f, g;
                        f(x) = in(x);
                        f.split(x, xo, xi, 8);
                        return f;
                    },
                    {8}, {{0, 7}});
    expect_required("rvar split guard",
                    [&](ImageParam in) {
                        Func f;
                        RVar ro, ri;
                        RDom r(0, 10);
                        f(x) = cast<uint8_t>(0);
                        f(x) += in(x + r);
                        f.update().split(r, ro, ri, 4);
                        return f;
                    },
                    {10}, {{0, 18}});
    expect_required("inner producer rvar split",
                    [&](ImageParam in) {
                        Func f, g;
                        RVar ro, ri;
                        RDom r(0, 10);
                        g(x) = in(x);
                        f(x) = cast<uint8_t>(0);
                        f(x) += g(x + r);
                        f.update().split(r, ro, ri, 4);
                        g.compute_at(f, ro);
                        return f;
                    },
                    {10}, {{0, 18}});
    expect_required("sliding",
                    [&](ImageParam in) {
                        Func f, g;
                        f(x, y) = in(x, y);
                        g(x, y) = f(x, y - 1) + f(x, y + 1);
                        f.store_root().compute_at(g, y);
                        return g;
                    },
                    {10, 10}, {{0, 9}, {-1, 10}});
    expect_required("sliding chain",
                    [&](ImageParam in) {
                        Func f, g, h;
                        f(x, y) = in(x, y);
                        g(x, y) = f(x, y - 1) + f(x, y + 1);
                        h(x, y) = g(x, y - 1) + g(x, y + 1);
                        f.store_root().compute_at(h, y);
                        g.store_root().compute_at(h, y);
                        return h;
                    },
                    {10, 10}, {{0, 9}, {-2, 11}});
    expect_required("sliding both",
                    [&](ImageParam in) {
                        Func f, g, h;
                        f(x, y) = in(x, y);
                        g(x, y) = f(x, y - 1) + f(x, y + 1);
                        h(x, y) = g(x, y - 1) + g(x, y + 1) + f(x, y);
                        f.store_root().compute_at(h, y);
                        g.store_root().compute_at(h, y);
                        return h;
                    },
                    {10, 10}, {{0, 9}, {-2, 11}});
    expect_required("repeat_edge",
                    [&](ImageParam in) {
                        Func c = BoundaryConditions::repeat_edge(in, {{0, 5}});
                        Func f;
                        f(x) = c(x - 3) + c(x + 3);
                        return f;
                    },
                    {10}, {{0, 4}});
    expect_required("bound",
                    [&](ImageParam in) {
                        Func f, g;
                        f(x) = in(x);
                        g(x) = f(x);
                        f.compute_root().bound(x, -2, 14);
                        return g;
                    },
                    {10}, {{-2, 11}});
    expect_required("align",
                    [&](ImageParam in) {
                        Func f, g;
                        f(x) = in(x);
                        g(x) = f(x + 1);
                        f.compute_root().align_bounds(x, 8);
                        return g;
                    },
                    {10}, {{0, 15}});
    expect_required("align rem",
                    [&](ImageParam in) {
                        Func f, g;
                        f(x) = in(x);
                        g(x) = f(x + 1);
                        f.compute_root().align_bounds(x, 8, 1);
                        return g;
                    },
                    {10}, {{1, 16}});
    expect_required("tuple",
                    [&](ImageParam in) {
                        Func f, g;
                        f(x) = Tuple(in(x - 1), in(x + 4));
                        g(x) = f(x)[0] + f(x + 1)[1];
                        f.compute_root();
                        return g;
                    },
                    {10}, {{-1, 14}});
    expect_required("specialize",
                    [&](ImageParam in) {
                        Param<bool> p;
                        Func f, g;
                        f(x) = in(x);
                        g(x) = f(x + 1);
                        g.specialize(p).vectorize(x, 4, TailStrategy::GuardWithIf);
                        f.compute_root();
                        p.set(true);
                        return g;
                    },
                    {10}, {{1, 10}});
    expect_required("fuse",
                    [&](ImageParam in) {
                        Func f, g;
                        Var t;
                        f(x, y) = in(x, y);
                        g(x, y) = f(x, y + 1);
                        g.fuse(x, y, t);
                        return g;
                    },
                    {4, 4}, {{0, 3}, {1, 4}});
    expect_required("abs",
                    [&](ImageParam in) {
                        Func f;
                        f(x) = in(cast<int>(abs(x - 5)));
                        return f;
                    },
                    {10}, {{0, 5}});
    expect_required("promise",
                    [&](ImageParam in) {
                        Func f, g;
                        g(x) = cast<int>(in(x)) * 1000;
                        f(x) = in(unsafe_promise_clamped(g(x), 10, 20));
                        g.compute_root();
                        return f;
                    },
                    {5}, {{0, 20}});
    expect_required("argmax",
                    [&](ImageParam in) {
                        Func f;
                        RDom r(0, 5);
                        f(x) = cast<uint8_t>(argmax(in(x + r))[0]);
                        return f;
                    },
                    {10}, {{0, 13}});
    expect_required("rfactor-like",
                    [&](ImageParam in) {
                        Func f;
                        RDom r(0, 32);
                        RVar ro, ri;
                        Var u;
                        f() = cast<uint8_t>(0);
                        f() += in(r);
                        f.update().split(r, ro, ri, 8);
                        Func g = f.update().rfactor(ri, u);
                        g.compute_root();
                        return f;
                    },
                    {}, {{0, 31}});
}

TEST(Regions, Computed) {
    expect_computed("root", three_rows([&](Func &f, Func &g) { f.compute_root(); }), {10, 20}, 10 * 22, stencil);
    expect_computed("inline", three_rows([&](Func &f, Func &g) {}), {10, 20}, 3 * 200, stencil);
    expect_computed("at y", three_rows([&](Func &f, Func &g) { f.compute_at(g, y); }), {10, 20}, 600, stencil, "[3]");
    expect_computed("slide y", three_rows([&](Func &f, Func &g) { f.store_root().compute_at(g, y); }), {10, 20}, 220,
                    stencil, "[4]");
    expect_computed("slide x inner y root", three_rows([&](Func &f, Func &g) { f.store_root().compute_at(g, x); }),
                    {10, 20}, 220, stencil, "[4]");
    expect_computed("slide split y", three_rows([&](Func &f, Func &g) {
                        g.split(y, yo, yi, 5);
                        f.store_at(g, yo).compute_at(g, yi);
                    }),
                    {10, 20}, 4 * 7 * 10, stencil, "[4]");
    expect_computed("slide split y root", three_rows([&](Func &f, Func &g) {
                        g.split(y, yo, yi, 5);
                        f.store_root().compute_at(g, yi);
                    }),
                    {10, 20}, 4 * 7 * 10, stencil, "[8]");
    expect_computed("slide over tiles", three_rows([&](Func &f, Func &g) {
                        g.split(y, yo, yi, 5);
                        f.store_root().compute_at(g, yo);
                    }),
                    {10, 20}, 220, stencil, "[8]");
    expect_computed(
        "slide reverse",
        [&]() {
            Func f("f"), g("g");
            f(x, y) = count_evaluation(x, y);
            g(x, y) = f(x, 20 - y) + f(x, 21 - y) + f(x, 22 - y);
            f.store_root().compute_at(g, y);
            return g;
        },
        {10, 20}, 220, [&](int x, int y) { return stencil(x, 21 - y); }, "[4]");
    expect_computed(
        "slide by 2",
        [&]() {
            Func f("f"), g("g");
            f(x, y) = count_evaluation(x, y);
            g(x, y) = f(x, 2 * y) + f(x, 2 * y + 1) + f(x, 2 * y + 2);
            f.store_root().compute_at(g, y);
            return g;
        },
        {10, 20}, 410, [&](int x, int y) { return stencil(x, 2 * y + 1); }, "[4]");
    expect_computed(
        "slide up by half",
        [&]() {
            Func f("f"), g("g");
            f(x, y) = count_evaluation(x, y);
            g(x, y) = f(x, y / 2) + f(x, y / 2 + 1);
            f.store_root().compute_at(g, y);
            return g;
        },
        {10, 20}, 110, [&](int x, int y) { return F(x, y / 2) + F(x, y / 2 + 1); }, "[2]");
    expect_computed(
        "slide clamp",
        [&]() {
            Func f("f"), g("g");
            f(x, y) = count_evaluation(x, y);
            g(x, y) = f(x, clamp(y - 1, 0, 19)) + f(x, clamp(y + 1, 0, 19));
            f.store_root().compute_at(g, y);
            return g;
        },
        {10, 20}, 200, [&](int x, int y) { return F(x, std::max(y - 1, 0)) + F(x, std::min(y + 1, 19)); }, "[4]");
    expect_computed(
        "slide with update",
        [&]() {
            Func f("f"), g("g");
            f(x, y) = count_evaluation(x, y);
            f(x, y) += 1;
            g(x, y) = f(x, y - 1) + f(x, y) + f(x, y + 1);
            f.store_root().compute_at(g, y);
            return g;
        },
        {10, 20}, 220, [&](int x, int y) { return stencil(x, y) + 3; }, "[4]");
    expect_computed(
        "slide rdom update",
        [&]() {
            Func f("f"), g("g");
            RDom r(0, 3);
            f(x, y) = count_evaluation(x, y);
            f(x, y) += r;
            g(x, y) = f(x, y - 1) + f(x, y) + f(x, y + 1);
            f.store_root().compute_at(g, y);
            return g;
        },
        {10, 20}, 220, [&](int x, int y) { return stencil(x, y) + 9; });
    expect_computed(
        "no slide impure",
        [&]() {
            Func f("f"), g("g");
            RDom r(0, 3);
            f(x, y) = count_evaluation(x, y);
            f(x, r) += 1;
            g(x, y) = f(x, y - 1) + f(x, y) + f(x, y + 1);
            f.store_root().compute_at(g, y);
            return g;
        },
        {10, 20}, 2320,
        [&](int x, int y) {
            int s = stencil(x, y);
            for (int k = -1; k <= 1; k++)
                if (y + k >= 0 && y + k < 3)
                    s++;
            return s;
        });
    expect_computed(
        "slide in consumer update",
        [&]() {
            Func f("f"), g("g");
            RDom r(0, 20);
            f(x, y) = count_evaluation(x, y);
            g(x, y) = 0;
            g(x, r) = f(x, r - 1) + f(x, r) + f(x, r + 1);
            f.store_root().compute_at(g, r);
            return g;
        },
        {10, 20}, 220, stencil);
    expect_computed(
        "slide two consumers",
        [&]() {
            Func f("f"), g("g"), h("h");
            f(x, y) = count_evaluation(x, y);
            h(x, y) = f(x, y - 1) + f(x, y + 1);
            g(x, y) = h(x, y) + f(x, y);
            f.store_root().compute_at(g, y);
            h.compute_at(g, y);
            return g;
        },
        {10, 20}, 220, stencil);
    expect_computed(
        "slide chain",
        [&]() {
            Func f("f"), g("g"), h("h");
            f(x, y) = count_evaluation(x, y);
            h(x, y) = f(x, y - 1) + f(x, y + 1);
            g(x, y) = h(x, y - 1) + h(x, y + 1);
            f.store_root().compute_at(g, y);
            h.store_root().compute_at(g, y);
            return g;
        },
        {10, 20}, 240, [&](int x, int y) { return F(x, y - 2) + 2 * F(x, y) + F(x, y + 2); }, "[4]");
    expect_computed("slide vectorized x", three_rows([&](Func &f, Func &g) {
                        g.vectorize(x, 8);
                        f.store_root().compute_at(g, y).vectorize(x, 8, TailStrategy::RoundUp);
                    }),
                    {16, 20}, 16 * 22, stencil);
    expect_computed("slide unroll", three_rows([&](Func &f, Func &g) {
                        g.bound(y, 0, 20).unroll(y);
                        f.store_root().compute_at(g, y);
                    }),
                    {10, 20}, 220, stencil);
    expect_computed("slide unroll2", three_rows([&](Func &f, Func &g) {
                        g.unroll(y, 2);
                        f.store_root().compute_at(g, y);
                    }),
                    {10, 20}, 220, stencil);
    expect_computed("fold explicit",
                    three_rows([&](Func &f, Func &g) { f.store_root().compute_at(g, y).fold_storage(y, 5); }), {10, 20},
                    220, stencil, "[5]");
    expect_computed("store_at compute_at", three_rows([&](Func &f, Func &g) {
                        g.reorder(y, x);
                        f.store_at(g, x).compute_at(g, y);
                    }),
                    {10, 20}, 220, stencil);
    expect_computed("parallel x slide y", three_rows([&](Func &f, Func &g) {
                        g.reorder(y, x).parallel(x);
                        f.store_at(g, x).compute_at(g, y);
                    }),
                    {10, 20}, 220, stencil);
    expect_computed(
        "skip select",
        [&]() {
            Param<bool> p("p");
            Func f("f"), g("g");
            f(x, y) = count_evaluation(x, y);
            g(x, y) = select(p, f(x, y), 7);
            f.compute_root();
            p.set(false);
            return g;
        },
        {10, 20}, 0, [&](int, int) { return 7; });
    expect_computed(
        "skip if used",
        [&]() {
            Param<bool> p("p");
            Func f("f"), g("g");
            f(x, y) = count_evaluation(x, y);
            g(x, y) = select(p, f(x, y), 7);
            f.compute_root();
            p.set(true);
            return g;
        },
        {10, 20}, 200, F);
    expect_computed(
        "skip select x",
        [&]() {
            Func f("f"), g("g");
            f(x, y) = count_evaluation(x, y);
            g(x, y) = select(y < 5, f(x, y), 7);
            f.compute_at(g, y);
            return g;
        },
        {10, 20}, 50, [&](int x, int y) { return y < 5 ? F(x, y) : 7; });
    expect_computed(
        "lut",
        [&]() {
            Func f("f"), g("g");
            f(x) = count_evaluation(x, 0);
            g(x, y) = f(cast<uint8_t>(x * 3 + y));
            f.compute_root();
            return g;
        },
        {10, 20}, 256, [&](int x, int y) { return (x * 3 + y) & 255; }, "[256]");
    expect_computed(
        "lut clamp",
        [&]() {
            Func f("f"), g("g"), h("h");
            h(x, y) = clamp(x * 3 + y, 2, 21);
            f(x) = count_evaluation(x, 0);
            g(x, y) = f(h(x, y));
            f.compute_root();
            h.compute_root();
            return g;
        },
        {10, 20}, 20, [&](int x, int y) { return std::min(std::max(x * 3 + y, 2), 21); }, "[20]");
    expect_computed(
        "compute_with",
        [&]() {
            Func f("f"), h("h"), g("g");
            f(x, y) = count_evaluation(x, y);
            h(x, y) = count_evaluation(x, y) * 2;
            g(x, y) = f(x, y - 1) + h(x, y + 1);
            f.compute_root();
            h.compute_root().compute_with(f, y);
            return g;
        },
        {10, 20}, 400, [&](int x, int y) { return F(x, y - 1) + 2 * F(x, y + 1); });
    expect_computed(
        "compute_with inner",
        [&]() {
            Func f("f"), h("h"), g("g"), k("k");
            k(x, y) = count_evaluation(x, y);
            f(x, y) = k(x, y) + 1;
            h(x, y) = k(x, y + 1) * 2;
            g(x, y) = f(x, y) + h(x, y);
            f.compute_root();
            h.compute_root().compute_with(f, y);
            k.compute_at(f, y);
            return g;
        },
        {10, 20}, 400, [&](int x, int y) { return F(x, y) + 1 + 2 * F(x, y + 1); });
    expect_computed("bound on inner", three_rows([&](Func &f, Func &g) {
                        g.bound(x, 0, 10);
                        f.compute_at(g, y).bound(x, 0, 10).unroll(x);
                    }),
                    {10, 20}, 600, stencil, "[10][3]");
    expect_computed("reorder_storage", three_rows([&](Func &f, Func &g) { f.compute_root().reorder_storage(y, x); }),
                    {10, 20}, 220, stencil);
    expect_computed(
        "guard inner producer",
        [&]() {
            Func f("f"), g("g");
            f(x, y) = count_evaluation(x, y);
            g(x, y) = f(x, y) + f(x + 1, y);
            g.split(x, xo, xi, 4, TailStrategy::GuardWithIf);
            f.compute_at(g, xo);
            return g;
        },
        {10, 2}, 2 * (5 + 5 + 3), [&](int x, int y) { return F(x, y) + F(x + 1, y); });
    expect_computed(
        "update inner tiles",
        [&]() {
            Func f("f"), g("g");
            f(x, y) = count_evaluation(x, y);
            g(x, y) = 0;
            g(x, y) += f(x, y);
            g.update().split(x, xo, xi, 4, TailStrategy::GuardWithIf);
            f.compute_at(g, xo);
            return g;
        },
        {10, 2}, 20, F);
    expect_computed(
        "multi stage producer",
        [&]() {
            Func f("f"), g("g");
            RDom r(0, 5);
            f(x, y) = count_evaluation(x, y);
            f(x, y) += f(x, y);
            f(x, y) = f(x, y) + r * 0;
            g(x, y) = f(x + 2, y - 1);
            f.compute_at(g, y);
            return g;
        },
        {10, 2}, 20, [&](int x, int y) { return 2 * F(x + 2, y - 1); });
}

/// What a realization reports as error, or "" if it succeeds.
std::string error_of(const std::function<void()> &run) {
    try {
        run();
    } catch (const Error &e) {
        return e.what();
    }
    return "";
}

TEST(Regions, Errors) {
    struct Case {
        const char *name;
        std::function<void()> run;
        const char *text;
    };
    const Case cases[] = {
        {"unbounded index",
         [] {
             Func f, g("g");
             f(x) = count_evaluation(x, 0);
             g(x) = f(cast<int>(sqrt(cast<float>(f(x))) * 1000.0f));
             f.compute_root();
             g.realize({10});
         },
         "in an unbounded way in dimension 0"},
        {"bound too small",
         [] {
             Func f, g;
             f(x) = x;
             g(x) = f(x);
             f.compute_root().bound(x, 0, 5);
             g.realize({10});
         },
         "do not cover required region"},
        {"fold factor too small",
         [] {
             Func f, g;
             Param<int> p;
             f(x, y) = x + y;
             g(x, y) = f(x, y) + f(x, y + p);
             f.store_root().compute_at(g, y).fold_storage(y, 2);
             p.set_range(0, 20);
             p.set(7);
             g.realize({10, 10});
         },
         "too small"},
        {"nothing to fold over",
         [] {
             Func f, g;
             f(x, y) = x + y;
             g(x, y) = f(x, y);
             f.compute_root().fold_storage(y, 2);
             g.realize({10, 10});
         },
         "Could not fold the storage"},
        {"storage bound too small",
         [] {
             Func f, g;
             f(x) = x;
             g(x) = f(x);
             f.compute_root().bound_storage(x, 5);
             g.realize({10});
         },
         "bound"},
    };
    for (const Case &c : cases) {
        SCOPED_TRACE(c.name);
        const std::string error = error_of(c.run);
        EXPECT_NE(error.find(c.text), std::string::npos) << "got: " << error;
    }
}

}  // namespace
