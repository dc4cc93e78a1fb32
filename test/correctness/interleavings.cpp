// Strided accesses that together are dense become dense; loops and allocations whose ends cancel become constant. Values
// against plain loops, and the shape of the lowered code where it is the point.

#include <cstdint>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "Halide.h"

using namespace Halide;

namespace {

std::string lowered(Func f, const std::vector<Argument> &args) {
    std::ostringstream text;
    text << f.compile_to_module(args, "f", Target("x86-64-linux-sse41-avx-avx2"));
    return text.str();
}

int count(const std::string &text, const std::string &what) {
    int n = 0;
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
        n++;
    }
    return n;
}

Buffer<uint8_t> interleaved_picture(int w, int h, int channels) {
    Buffer<uint8_t> b = Buffer<uint8_t>::make_interleaved(w, h, channels);
    uint32_t seed = 7;
    b.for_each_value([&](uint8_t &v) {
        seed = seed * 1664525 + 1013904223;
        v = (uint8_t)(seed >> 24);
    });
    return b;
}

class Channels : public testing::TestWithParam<int> {};

TEST_P(Channels, AreSwappedThroughOneDenseStore) {
    const int channels = GetParam(), w = 67, h = 3;
    Buffer<uint8_t> in = interleaved_picture(w, h, channels);
    Var x("x"), y("y"), c("c");
    ImageParam p(UInt(8), 3, "p");
    p.dim(0).set_stride(channels);
    p.dim(2).set_stride(1).set_bounds(0, channels);
    Func f("f");
    f(x, y, c) = p(x, y, channels - 1 - c) + cast<uint8_t>(c);
    f.reorder(c, x, y).bound(c, 0, channels).unroll(c).vectorize(x, 16);
    f.output_buffer().dim(0).set_stride(channels);
    f.output_buffer().dim(2).set_stride(1);
    EXPECT_GE(count(lowered(f, {p}), "interleave_vectors("), 1);
    Buffer<uint8_t> out = Buffer<uint8_t>::make_interleaved(w, h, channels);
    p.set(in);
    f.realize(out);
    out.for_each_element([&](int x, int y, int c) {
        ASSERT_EQ(out(x, y, c), (uint8_t)(in(x, y, channels - 1 - c) + c)) << x << " " << y << " " << c;
    });
}

INSTANTIATE_TEST_SUITE_P(TwoToEight, Channels, testing::Values(2, 3, 4, 5, 8));

TEST(Interleavings, UpdatesInPlace) {
    const int w = 48;
    Var x("x"), c("c");
    Func f("f");
    f(x, c) = cast<uint8_t>(3 * x + c);
    f(x, c) = f(x, c) * cast<uint8_t>(5);
    f.output_buffer().dim(0).set_stride(2);
    f.output_buffer().dim(1).set_stride(1);
    f.bound(c, 0, 2).reorder(c, x).unroll(c).vectorize(x, 16);
    f.update().reorder(c, x).unroll(c).vectorize(x, 16);
    EXPECT_GE(count(lowered(f, {}), "interleave_vectors("), 2);
    Buffer<uint8_t> out = Buffer<uint8_t>::make_interleaved(w, 1, 2).sliced(1);
    f.realize(out);
    out.for_each_element([&](int x, int c) { ASSERT_EQ(out(x, c), (uint8_t)((3 * x + c) * 5)); });
}

// The second channel's update reads what the first channel's update of the neighbouring pixels wrote.
TEST(Interleavings, StoresThatFeedEachOtherStay) {
    const int w = 32;
    Var x("x"), c("c");
    Func f("f");
    f(x, c) = cast<uint8_t>(x + 10 * c);
    f(x, 0) = f(x, 0) + cast<uint8_t>(1);
    f(x, 1) = f(x, 0) + f(x, 1);
    f.output_buffer().dim(0).set_stride(2);
    f.output_buffer().dim(1).set_stride(1);
    f.bound(c, 0, 2).bound(x, 0, w);
    f.update(0).vectorize(x, 16);
    f.update(1).vectorize(x, 16);
    Buffer<uint8_t> out = Buffer<uint8_t>::make_interleaved(w, 1, 2).sliced(1);
    f.realize(out);
    for (int i = 0; i < w; i++) {
        ASSERT_EQ(out(i, 0), (uint8_t)(i + 1));
        ASSERT_EQ(out(i, 1), (uint8_t)(i + 1 + i + 10));
    }
}

TEST(Interleavings, NeighboursShareOneLoad) {
    const int w = 64;
    Var x("x");
    ImageParam p(UInt(16), 1, "p");
    Func f("f");
    f(x) = p(2 * x - 1) + p(2 * x) * cast<uint16_t>(3) + p(2 * x + 1) * cast<uint16_t>(3) + p(2 * x + 2);
    f.vectorize(x, 16, TailStrategy::RoundUp);
    const std::string text = lowered(f, {p});
    EXPECT_EQ(count(text, "slice_vectors("), 4) << text;
    Buffer<uint16_t> in(2 * w + 2);
    in.set_min(-1);
    in.for_each_element([&](int i) { in(i) = (uint16_t)(i * 7919); });
    p.set(in);
    Buffer<uint16_t> out = f.realize({w});
    for (int i = 0; i < w; i++) {
        ASSERT_EQ(out(i), (uint16_t)(in(2 * i - 1) + 3 * in(2 * i) + 3 * in(2 * i + 1) + in(2 * i + 2)));
    }
}

// Only the elements between the first and the last one may be touched: the buffer ends with them.
TEST(Interleavings, ReadsNothingOutside) {
    const int w = 32;
    Var x("x");
    ImageParam p(UInt(8), 1, "p");
    Func f("f");
    f(x) = p(3 * x) + p(3 * x + 1);
    f.vectorize(x, 16);
    Buffer<uint8_t> in(3 * w - 1);
    in.for_each_element([&](int i) { in(i) = (uint8_t)(i * 31); });
    p.set(in);
    Buffer<uint8_t> out = f.realize({w});
    for (int i = 0; i < w; i++) {
        ASSERT_EQ(out(i), (uint8_t)(in(3 * i) + in(3 * i + 1)));
    }
}

// A stencil of a clamped picture at the innermost vectorized loop: the tile moves in another way in each lane, but its
// size is the same in all of them.
TEST(ConstantEnds, TilesInsideVectorLoops) {
    const int w = 40, h = 6;
    Buffer<uint8_t> in(2 * w, 2 * h);
    in.for_each_element([&](int x, int y) { in(x, y) = (uint8_t)(x * 5 + y * 13); });
    Var x("x"), y("y");
    Func clamped = BoundaryConditions::repeat_edge(in);
    Func g("g"), half("half"), f("f");
    g(x, y) = cast<uint16_t>(clamped(x, y)) * cast<uint16_t>(3);
    half(x, y) = g(2 * x - 1, y) + g(2 * x, y) + g(2 * x + 1, y) + g(2 * x + 2, y);
    f(x, y) = half(clamp(x, 0, w - 1), clamp(y, 0, h - 1));
    f.vectorize(x, 8);
    g.compute_at(f, x);
    const std::string text = lowered(f, {});
    EXPECT_EQ(count(text, "vector_reduce"), 0) << text;
    Buffer<uint16_t> out = f.realize({w, h});
    const auto at = [&](int x, int y) {
        return 3 * in(std::min(std::max(x, 0), 2 * w - 1), std::min(std::max(y, 0), 2 * h - 1));
    };
    out.for_each_element([&](int x, int y) {
        ASSERT_EQ(out(x, y), at(2 * x - 1, y) + at(2 * x, y) + at(2 * x + 1, y) + at(2 * x + 2, y));
    });
}

// Inline reductions inside a loop: their storage has constant size, on the stack.
TEST(ConstantEnds, ReductionsInsideReductions) {
    const int w = 24;
    Var x("x"), y("y");
    Func in("in"), cols("cols"), f("f");
    RDom r(-2, 5, "r"), s(-2, 5, "s");
    in(x, y) = x * y + x;
    cols(x, y) = sum(in(x, y + r));
    f(x, y) = sum(cols(x + s, y));
    cols.compute_at(f, y).vectorize(x, 8);
    f.vectorize(x, 8);
    const std::string text = lowered(f, {});
    EXPECT_EQ(count(text, "extent_realized]"), 0) << text;
    Buffer<int> out = f.realize({w, w});
    out.for_each_element([&](int x, int y) {
        int sum = 0;
        for (int i = -2; i <= 2; i++) {
            for (int j = -2; j <= 2; j++) {
                sum += (x + i) * (y + j) + x + i;
            }
        }
        ASSERT_EQ(out(x, y), sum);
    });
}

}  // namespace
