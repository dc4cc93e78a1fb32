// More programs that once failed, each reduced to what broke.
#include "Halide.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

using namespace Halide;

namespace {

TEST(ProgramsReported3, SpecializationForOneSizeUnrollsByIt) {
    ImageParam in(UInt(8), 3);
    Func f("f");
    Var x, y, c;
    f(x, y, c) = cast<uint8_t>(255) - in(x, y, c);
    in.dim(0).set_stride(Expr());
    f.output_buffer().dim(0).set_stride(Expr());
    f.specialize(f.output_buffer().dim(0).stride() == 3 && f.output_buffer().dim(2).stride() == 1 &&
                 f.output_buffer().dim(2).extent() == 3)
        .reorder(c, x, y)
        .unroll(c)
        .vectorize(x, 16);
    for (int interleaved = 0; interleaved < 2; interleaved++) {
        const auto make = [&](int channels) {
            return interleaved ? Buffer<uint8_t>::make_interleaved(37, 11, channels) :
                                 Buffer<uint8_t>(37, 11, channels);
        };
        for (int channels : {2, 3, 4}) {
            Buffer<uint8_t> from = make(channels), to = make(channels);
            from.fill([](int x, int y, int c) { return (uint8_t)(x * 3 + y * 5 + c * 70); });
            in.set(from);
            f.realize(to);
            to.for_each_element([&](int x, int y, int c) { EXPECT_EQ(to(x, y, c), 255 - from(x, y, c)); });
        }
    }
}

TEST(ProgramsReported3, SpecializationForOneSizeVectorizesByIt) {
    Param<int> n("n");
    Func f("f"), g("g");
    Var x, y;
    RDom r(0, n);
    f(x, y) = x + y;
    f(x, y) += r * x;
    f.specialize(f.output_buffer().width() == 4).vectorize(x);
    f.update().specialize(!(n != 3)).reorder(r, x, y).unroll(r);
    for (int width : {3, 4, 5}) {
        for (int count : {2, 3, 4}) {
            n.set(count);
            Buffer<int> out(width, 6);
            f.realize(out);
            out.for_each_element(
                [&](int x, int y) { EXPECT_EQ(out(x, y), x + y + count * (count - 1) / 2 * x); });
        }
    }
}

TEST(ProgramsReported3, UpdateOfImplicitArgumentsDefinesTheFunc) {
    Func f, sum, product;
    Var x, y;
    f(x, y) = x + 10 * y;
    sum(_) += f(_);
    product(_) *= f(_0, _1) + 1;
    EXPECT_EQ(sum.dimensions(), 2);
    Buffer<int> s = sum.realize({4, 3}), p = product.realize({4, 3});
    s.for_each_element([&](int x, int y) {
        EXPECT_EQ(s(x, y), x + 10 * y);
        EXPECT_EQ(p(x, y), x + 10 * y + 1);
    });
}

TEST(ProgramsReported3, ExpressionsMatchPatterns) {
    using namespace Halide::Internal;
    const Expr any = Variable::make(Int(32), "*"), x = Var("x"), y = Var("y");
    std::vector<Expr> found;
    EXPECT_TRUE(expr_match(any + any * 3, x + (y + 2) * 3, found));
    ASSERT_EQ(found.size(), 2u);
    EXPECT_TRUE(equal(found[0], x));
    EXPECT_TRUE(equal(found[1], y + 2));
    EXPECT_FALSE(expr_match(any * 2, x + 1, found));
    EXPECT_TRUE(found.empty());
    EXPECT_FALSE(expr_match(any, cast<int16_t>(x), found));
    EXPECT_TRUE(expr_match(Variable::make(Int(0, 0), "*"), cast<int16_t>(x), found));
    EXPECT_TRUE(expr_match(any * 2, any * 2, found));
    EXPECT_EQ(found.size(), 1u);

    std::map<std::string, Expr> named;
    const Expr a = Variable::make(Int(32), "a"), b = Variable::make(Int(32), "b");
    EXPECT_TRUE(expr_match(a * b + a, x * (y - 1) + x, named));
    EXPECT_TRUE(equal(named["a"], x));
    EXPECT_TRUE(equal(named["b"], y - 1));
    EXPECT_FALSE(expr_match(a * b, y * x, named));
    EXPECT_TRUE(named.empty());
    EXPECT_FALSE(expr_match(a + a, x + y, named));
}

// Both tasks compute the Func without async for themselves; its storage is outside of both.
TEST(ProgramsReported3, TasksThatComputeTheSameHaveStorageOfTheirOwn) {
    for (int variant = 0; variant < 6; variant++) {
        Func f("f"), g("g"), out("out");
        Var x("x"), y("y"), xo("xo"), yo("yo"), xi("xi"), yi("yi");
        f(x, y) = x * 3 + y;
        g(x, y) = f(x, y) + f(x + 1, y);
        out(x, y) = g(x, y) * f(x, y);
        out.tile(x, y, xo, yo, xi, yi, 16, 8);
        f.compute_at(out, xo).hoist_storage(out, yo);
        g.compute_at(out, xo).hoist_storage(out, yo).ring_buffer(1 + variant % 3).async();
        if (variant >= 3) {
            f.ring_buffer(2).async();
        }
        Buffer<int> result = out.realize({64, 32});
        result.for_each_element([&](int x, int y) {
            const int value = x * 3 + y;
            EXPECT_EQ(result(x, y), (2 * value + 3) * value) << x << " " << y << " variant " << variant;
        });
    }
}

// The loop over yo begins earlier for f, where h is not produced; the consumer of h waits all the same.
TEST(ProgramsReported3, ConsumersDoNotWaitForSkippedProductions) {
    Func f("f"), g("g"), h("h"), out("out");
    Var x("x"), y("y"), xo("xo"), yo("yo"), xi("xi"), yi("yi");
    f(x, y) = x + y;
    g(x, y) = f(x, y) * 2;
    h(x, y) = g(x, y) + 1;
    out(x, y) = h(x, y) + h(x, y + 1) + f(x, y);
    out.tile(x, y, xo, yo, xi, yi, 16, 8);
    f.store_root().compute_at(out, xo).async();
    g.compute_at(out, xo);
    h.compute_at(out, xo).async();
    Buffer<int> result = out.realize({48, 24});
    result.for_each_element([&](int x, int y) { EXPECT_EQ(result(x, y), 5 * (x + y) + 4); });
}

TEST(ProgramsReported3, ConsumersDoNotWaitForSkippedStages) {
    Func f("f"), out("out");
    Var x("x"), y("y");
    Param<bool> wanted("wanted");
    f(x, y) = x * y;
    out(x, y) = select(wanted, f(x, y) + f(x, y + 1), -1);
    f.compute_at(out, y).async();
    for (int want = 0; want < 2; want++) {
        wanted.set(want != 0);
        Buffer<int> result = out.realize({8, 6});
        result.for_each_element([&](int x, int y) { EXPECT_EQ(result(x, y), want ? x * (2 * y + 1) : -1); });
    }
}

}  // namespace
