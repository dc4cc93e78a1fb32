// Programs that once failed, each reduced to what broke.
#include "Halide.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

using namespace Halide;

extern "C" __attribute__((visibility("default"))) int programs_reported_copy(halide_buffer_t *in,
                                                                             halide_buffer_t *out) {
    if (in->is_bounds_query()) {
        for (int d = 0; d < 2; d++) {
            in->dim[d].min = out->dim[d].min;
            in->dim[d].extent = out->dim[d].extent;
        }
        return 0;
    }
    const Runtime::Buffer<int> from(*in);
    Runtime::Buffer<int> to(*out);
    to.for_each_element([&](int x, int y) { to(x, y) = from(x, y); });
    return 0;
}

namespace {

template <typename F>
std::string runtime_error(F run) {
    try {
        run();
    } catch (const RuntimeError &e) {
        return e.what();
    }
    return "";
}

template <typename F>
std::string compile_error(F run) {
    try {
        run();
    } catch (const CompileError &e) {
        return e.what();
    }
    return "";
}

bool contains(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

TEST(ProgramsReported, SlidingFuncsOfOneLoopReadNoMoreThanTheyNeed) {
    // Two Funcs side by side slide over a third: neither may count the warm-up of the other as its own.
    for (bool fused : {false, true}) {
        Buffer<float> in(64, 48);
        in.fill([](int x, int y) { return (float)((x * 7 + y * 13) % 31); });
        Func gray("gray"), ix("ix"), iy("iy"), out("out");
        Var x("x"), y("y"), yi("yi");
        gray(x, y) = in(x, y) * 0.5f;
        ix(x, y) = gray(x - 1, y - 1) + gray(x + 1, y + 1);
        iy(x, y) = gray(x + 1, y - 1) - gray(x - 1, y + 1);
        out(x, y) = ix(x, y - 1) + ix(x, y + 1) + iy(x, y - 1) + iy(x, y + 1);
        out.split(y, y, yi, 16, TailStrategy::GuardWithIf).parallel(y);
        for (Func f : {gray, ix, iy}) {
            f.store_at(out, y).compute_at(out, yi);
        }
        if (fused) {
            ix.compute_with(iy, x);
        }
        Buffer<float> result(62, 44);
        result.set_min(1, 2);
        out.realize(result);
        auto g = [&](int x, int y) { return in(x, y) * 0.5f; };
        auto f = [&](int x, int y) { return g(x - 1, y - 1) + g(x + 1, y + 1) + g(x + 1, y - 1) - g(x - 1, y + 1); };
        result.for_each_element([&](int x, int y) { ASSERT_EQ(result(x, y), f(x, y - 1) + f(x, y + 1)); });
    }
}

TEST(ProgramsReported, ConsumersWithDifferentWarmUpsNeedNothingBeforeTheirOwn) {
    ImageParam in(Int(32), 2, "in");
    Func f0("f0"), f1("f1"), f2("f2"), out("out");
    Var x("x"), y("y");
    f0(x, y) = in(x, 2 * y + 2);
    f1(x, y) = f0(x, 2 * y + 2);
    f2(x, y) = f1(x, y / 2 + 1) + f0(x, y + 2);
    out(x, y) = f2(x, y - 1) + f2(x, y + 2) + f1(x, y);
    const auto required = [&] {
        in.reset();
        out.infer_input_bounds({5, 13});
        return std::make_pair(in.get().dim(1).min(), in.get().dim(1).extent());
    };
    const auto unscheduled = required();
    f0.store_root().compute_at(out, y);
    f1.store_root().compute_at(out, y);
    f2.compute_at(out, y);
    EXPECT_EQ(required(), unscheduled);
}

TEST(ProgramsReported, RoundingUpInsideATileDoesNotMakeTheOutputGrow) {
    for (TailStrategy outer : {TailStrategy::ShiftInwards, TailStrategy::RoundUp, TailStrategy::Auto}) {
        Func f("f");
        Var x("x"), xo("xo"), xi("xi"), xio("xio"), xii("xii");
        f(x) = x * 3;
        f.split(x, xo, xi, 8, outer).split(xi, xio, xii, 3, TailStrategy::RoundUp);
        for (int n : {1, 8, 9, 25}) {
            Buffer<int> result = f.realize({n});
            for (int i = 0; i < n; i++) {
                ASSERT_EQ(result(i), i * 3);
            }
        }
    }
}

TEST(ProgramsReported, ConstrainedSizesFollowConstrainedSizes) {
    ImageParam a(Int(32), 1, "a"), b(Int(32), 1, "b"), c(Int(32), 1, "c");
    Func f("f");
    Var x("x");
    f(x) = a(x) + b(x) + c(x);
    a.dim(0).set_extent(b.dim(0).extent());
    b.dim(0).set_extent(c.dim(0).extent());
    c.dim(0).set_extent(100);
    f.infer_input_bounds({13});
    for (ImageParam *p : {&a, &b, &c}) {
        EXPECT_EQ(p->get().dim(0).extent(), 100);
    }
    EXPECT_EQ(runtime_error([&] { f.realize({13}); }), "");
}

TEST(ProgramsReported, ElementsOfATupleHaveOneShape) {
    Func f("f");
    Var x("x");
    f(x) = {x, x * 2};
    Buffer<int> a(10), b(11);
    EXPECT_TRUE(contains(runtime_error([&] { f.realize({a, b}); }), f.name() + ".1.extent.0"));
}

TEST(ProgramsReported, MemoizeTagHidesWhatIsBehindFuncs) {
    // Calling an ImageParam makes a Func of its own.
    ImageParam image(Int(32), 1, "image");
    Param<int> version("version");
    Func f("f"), g("g");
    Var x("x");
    f(x) = memoize_tag(image(x), version);
    f.compute_root().memoize();
    g(x) = f(x) * 2;
    Buffer<int> input(4);
    image.set(input);
    const auto run = [&](int value, int v) {
        input.fill(value);
        version.set(v);
        Buffer<int> result = g.realize({4});
        return result(0);
    };
    EXPECT_EQ(run(3, 1), 6);
    EXPECT_EQ(run(4, 1), 6);
    EXPECT_EQ(run(4, 2), 8);
}

TEST(ProgramsReported, ErrorsInsideLockedUpdatesReleaseTheLock) {
    for (int repeat = 0; repeat < 5; repeat++) {
        Func f("f");
        Var x("x");
        RDom r(0, 1000);
        f(x) = 0;
        f(r % 10) = require(f(r % 10) < 5, f(r % 10) + 1, "too many");
        f.update().atomic(true).parallel(r);
        EXPECT_TRUE(contains(runtime_error([&] { f.realize({10}); }), "too many"));
    }
}

TEST(ProgramsReported, AtomicUpdateOfAPlaceThatDependsOnItself) {
    Func f("f");
    Var x("x");
    RDom r(0, 10, "r");
    f(x) = 0;
    f(clamp(f(r), 0, 5)) += 1;
    EXPECT_TRUE(contains(compile_error([&] { f.update().atomic(true).parallel(r); }),
                         "the place that it updates depends on values of " + f.name() + " itself"));
}

TEST(ProgramsReported, IndexDividedByAFloatParameter) {
    Param<float> scale("scale");
    Func source("source"), f("f");
    Var x("x");
    source(x) = x;
    source.compute_root();
    f(x) = source(cast<int>(ceil((x + 0.5f) / scale)));
    for (float s : {0.6f, -2.0f}) {
        scale.set(s);
        Buffer<int> result = f.realize({20});
        for (int i = 0; i < 20; i++) {
            EXPECT_EQ(result(i), (int)std::ceil((i + 0.5f) / s));
        }
    }
}

TEST(ProgramsReported, UnsafePromisesAreCheckedOnRequest) {
    Buffer<int> table(100);
    table.fill(3);
    Param<int> p("p");
    Func f("f");
    Var x("x");
    f(x) = table(unsafe_promise_clamped(p + x, 0, 99));
    const Target checked = get_jit_target_from_environment().with_feature(Target::CheckUnsafePromises);
    for (bool vectorized : {false, true}) {
        if (vectorized) {
            f.vectorize(x, 4);
        }
        p.set(3);
        EXPECT_EQ(runtime_error([&] { f.realize({4}, checked); }), "");
        p.set(98);
        EXPECT_TRUE(contains(runtime_error([&] { f.realize({4}, checked); }), "is broken: the value is 100"));
    }
}

TEST(ProgramsReported, MaximumOfSumsIsASum) {
    Func f("f"), g("g");
    Var x("x"), y("y"), u("u");
    RDom r(10, 20, 30, 40);
    f(x, y) = x - y + 20;
    g(x, y) = 40;
    g(r.x, r.y) = max(g(r.x, r.y) + f(r.x, r.y), g(r.x, r.y));
    Func parts = g.update().rfactor(r.y, u);
    parts.compute_root().update().parallel(u);
    Buffer<int> result = g.realize({80, 80});
    result.for_each_element([&](int x, int y) {
        const bool inside = x >= 10 && x < 30 && y >= 30 && y < 70;
        ASSERT_EQ(result(x, y), 40 + (inside ? std::max(0, x - y + 20) : 0));
    });
}

TEST(ProgramsReported, SignedSaturationIsNotAssociative) {
    Func f("f"), g("g");
    Var u("u");
    RDom r(0, 100);
    f() = cast<int8_t>(0);
    f() = saturating_add(f(), cast<int8_t>(r % 7));
    EXPECT_TRUE(contains(compile_error([&] { f.update().rfactor(r, u); }), "can't prove associativity"));
    g() = cast<uint8_t>(0);
    g() = saturating_add(g(), cast<uint8_t>(r % 7));
    g.update().rfactor(r, u).compute_root();
    Buffer<uint8_t> result = g.realize();
    EXPECT_EQ(result(), 255);
}

TEST(ProgramsReported, FactoredChoicesKeepTheSameOneOfEqualKeys) {
    for (bool last_wins : {false, true}) {
        for (int variant = 0; variant < 3; variant++) {
            Func key("key"), best("best");
            Var x("x"), y("y"), u("u"), v("v");
            RVar ro("ro"), ri("ri");
            RDom r(0, 20, 0, 10);
            key(x, y) = (x * 7 + y * 3) % 4;
            key.compute_root();
            best() = {1000, 0, 0};
            const Expr take = last_wins ? key(r.x, r.y) <= best()[0] : key(r.x, r.y) < best()[0];
            best() = {select(take, key(r.x, r.y), best()[0]), select(take, r.x, best()[1]),
                      select(take, r.y, best()[2])};
            Func parts;
            if (variant == 0) {
                parts = best.update().rfactor(r.x, u);
            } else {
                best.update().split(r.x, ro, ri, 6);
                parts = variant == 1 ? best.update().rfactor(ro, u) : best.update().rfactor({{ri, u}, {r.y, v}});
            }
            parts.compute_root();
            int expected[3] = {1000, 0, 0};
            for (int j = 0; j < 10; j++) {
                for (int i = 0; i < 20; i++) {
                    const int k = (i * 7 + j * 3) % 4;
                    if (last_wins ? k <= expected[0] : k < expected[0]) {
                        expected[0] = k, expected[1] = i, expected[2] = j;
                    }
                }
            }
            Realization result = best.realize();
            for (int i = 0; i < 3; i++) {
                Buffer<int> element = result[i];
                EXPECT_EQ(element(), expected[i]) << "element " << i << ", variant " << variant;
            }
        }
    }
    // Without the position in the tuple, only the order of iteration says which one is first.
    Func best("best");
    Var u("u");
    RDom r(0, 20, 0, 10);
    const Expr key = (r.x * 7 + r.y) % 4;
    best() = {1000, 0};
    best() = {select(key < best()[0], key, best()[0]), select(key < best()[0], r.x, best()[1])};
    EXPECT_TRUE(contains(compile_error([&] { best.update().rfactor(r.x, u); }), "among equal keys"));
}

TEST(ProgramsReported, CropsOfFoldedStorageKeepTheirCoordinates) {
    // The whole realization is one window of the extern stage, so only a fold that is as long works.
    for (int fold : {4, 64}) {
        Func a("a"), e("e"), out("out");
        Var x("x"), y("y");
        a(x, y) = x + 10 * y;
        a.compute_root();
        e.define_extern("programs_reported_copy", {a}, Int(32), {x, y});
        out(x, y) = e(x, y) + e(x, y + 1);
        e.store_root().compute_at(out, y).fold_storage(y, fold);
        Buffer<int> result(8, 12);
        const std::string error = runtime_error([&] { out.realize(result); });
        EXPECT_EQ(contains(error, "fold factor (4)"), fold == 4) << error;
        if (fold == 64) {
            result.for_each_element([&](int x, int y) { ASSERT_EQ(result(x, y), 2 * x + 20 * y + 10); });
        }
    }
}

TEST(ProgramsReported, SizesInBracesAreSizes) {
    Runtime::Buffer<float> r({3, 4});
    Buffer<float> b({3, 4}), named({3, 4}, "named"), ordered({3, 4}, {1, 0});
    EXPECT_EQ(r.dimensions(), 2);
    EXPECT_EQ(b.dim(1).extent(), 4);
    EXPECT_EQ(named.name(), "named");
    EXPECT_EQ(ordered.dim(1).stride(), 1);
}

TEST(ProgramsReported, ScalarsMayBeIndexedByZero) {
    Func f("f");
    f() = 7;
    Buffer<int> result = f.realize();
    EXPECT_EQ(result(0), 7);
}

TEST(ProgramsReported, TargetsPrint) {
    std::ostringstream text;
    text << Target("x86-64-linux-avx2");
    EXPECT_EQ(text.str(), "x86-64-linux-avx2");
}

TEST(ProgramsReported, LoopsOfUnknownExtentAreNamedAsInTheProgram) {
    Param<int> n("n");
    Func f("f"), g("g");
    Var x("x"), xo("xo"), xi("xi");
    f(x) = x;
    f.split(x, xo, xi, n).vectorize(xi);
    EXPECT_TRUE(contains(compile_error([&] { f.compile_jit(); }),
                         f.name() +
                             ".vectorize(x.xi): Can only vectorize loops over a constant extent > 1, but the extent of "
                             "x.xi is n, which is not a constant"));
    g(x) = x;
    g(x) += 1;
    g.update().unroll(x);
    EXPECT_TRUE(contains(compile_error([&] { g.compile_jit(); }),
                         g.name() +
                             ".update(0).unroll(x): Can only unroll for loops over a constant extent, but the extent "
                             "of x is not known at compile time"));
}

TEST(ProgramsReported, StagesMayBeComputedWithEachOtherInAZigzag) {
    Func f("f"), g("g"), h("h");
    Var x("x"), y("y");
    for (Func p : {f, g}) {
        p(x, y) = 0;
        p(x, y) += y;
        p(x, y) += x;
        p.compute_root();
    }
    h(x, y) = f(x, y) + g(x, y);
    g.compute_with(f, y);
    f.update(0).compute_with(g.update(0), y);
    g.update(1).compute_with(f.update(1), y);
    Buffer<int> result = h.realize({8, 6});
    result.for_each_element([&](int x, int y) { ASSERT_EQ(result(x, y), 2 * (x + y)); });
}

TEST(ProgramsReported, RangesOfMixedTypesAreErrorsOfTheProgram) {
    EXPECT_TRUE(contains(compile_error([] { RDom r(0, cast<float>(Expr(3))); }), "must have one type"));
}

TEST(ChangeType, ComputesInANarrowerTypeThatHoldsAllValues) {
    Buffer<uint8_t> in(20, 20);
    in.fill([](int x, int y) { return x * 7 + y * 13; });
    Func f("f"), g("g");
    Var x("x"), y("y");
    RDom r(-2, 5, -2, 5);
    Func clamped = BoundaryConditions::repeat_edge(in);
    f(x, y) = 0;
    f(x, y) += cast<int>(clamped(x + r.x, y + r.y));
    g(x, y) = f(x, y);
    Func typed = f.change_type(UInt(16));
    EXPECT_EQ(typed.name(), f.name() + "_typed");
    EXPECT_EQ(typed.type(), UInt(16));
    EXPECT_EQ(f.type(), Int(32));
    typed.compute_root().vectorize(x, 8).update().vectorize(x, 8);
    Buffer<int> result = g.realize({20, 20});
    result.for_each_element([&](int x, int y) {
        int sum = 0;
        for (int i = -2; i <= 2; i++) {
            for (int j = -2; j <= 2; j++) {
                sum += in(std::clamp(x + i, 0, 19), std::clamp(y + j, 0, 19));
            }
        }
        ASSERT_EQ(result(x, y), sum);
    });
}

TEST(ChangeType, ChecksTheExtentOfAReductionWhenItRuns) {
    Buffer<uint8_t> in(400);
    in.fill(255);
    Param<int> n("n");
    Func f("f"), g("g");
    Var x("x");
    RDom r(0, n);
    f() = 0;
    f() += cast<int>(in(r));
    g() = f();
    f.change_type(UInt(16)).compute_root();
    n.set(257);
    Buffer<int> result = g.realize();
    EXPECT_EQ(result(), 257 * 255);
    n.set(258);
    EXPECT_TRUE(contains(runtime_error([&] { g.realize(); }), f.name() + ".change_type(uint16)"));
}

TEST(ChangeType, RefusesWhatMayLoseValues) {
    Func f("f"), pair("pair");
    Var x("x");
    f(x) = x * 3;
    pair(x) = {x, x};
    EXPECT_TRUE(contains(compile_error([&] { f.change_type(UInt(8)); }), "may not fit in uint8"));
    EXPECT_TRUE(contains(compile_error([&] { pair.change_type(UInt(8)); }), "has 2 values"));
    f.change_type(UInt(8), true);
    Buffer<int> result = f.realize({100});
    EXPECT_EQ(result(99), 297 & 255);
}

}  // namespace
