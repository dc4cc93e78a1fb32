// Vectors of lanes that read x/k: values against plain loops, for known and unknown remainders of the first lane, and
// that no gather is left.

#include <cstdint>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "Halide.h"

using namespace Halide;

namespace {

Var x("x"), y("y");

Buffer<uint16_t> numbers(int w, int h) {
    Buffer<uint16_t> b(w, h);
    uint32_t seed = 11;
    b.for_each_value([&](uint16_t &v) {
        seed = seed * 1664525 + 1013904223;
        v = (uint16_t)(seed >> 16);
    });
    return b;
}

int floor_div(int a, int b) {
    return a >= 0 ? a / b : -((-a + b - 1) / b);
}

/// Whether a vector is loaded from a buffer at addresses that are not a ramp.
bool gathers(Func f, const std::vector<Argument> &args, const std::string &from) {
    bool result = false;
    const Module m = f.compile_to_module(args, "f", Target("x86-64-linux-sse41-avx-avx2"));
    for (const Internal::LoweredFunc &lowered : m.functions()) {
        Internal::visit_with(lowered.body, [&](auto *self, const Internal::Load *op) {
            result = result || (op->name == from && op->index.type().is_vector() && !op->index.as<Internal::Ramp>());
            self->visit_base(op);
        });
    }
    return result;
}

using Reads = std::function<int(int)>;  // from the coordinate to what is read

struct Case {
    const char *name;
    Expr index;
    Reads reads;
};

class Upsampled : public testing::TestWithParam<TailStrategy> {};

TEST_P(Upsampled, ReadsAsAPlainLoop) {
    const Case cases[] = {
        {"x/2", x / 2, [](int x) { return floor_div(x, 2); }},
        {"x/2 + 1", x / 2 + 1, [](int x) { return floor_div(x, 2) + 1; }},
        {"(x + 1)/2", (x + 1) / 2, [](int x) { return floor_div(x + 1, 2); }},
        {"x/3", x / 3, [](int x) { return floor_div(x, 3); }},
        {"x/4 - 1", x / 4 - 1, [](int x) { return floor_div(x, 4) - 1; }},
        {"3*x/2", 3 * x / 2, [](int x) { return floor_div(3 * x, 2); }},
        {"x >> 1", x >> 1, [](int x) { return floor_div(x, 2); }},
        {"x % 2", x % 2, [](int x) { return x - 2 * floor_div(x, 2); }},
        {"x & 3", x & 3, [](int x) { return x - 4 * floor_div(x, 4); }},
        {"x/2 + x%2", x / 2 + x % 2, [](int x) { return floor_div(x, 2) + x - 2 * floor_div(x, 2); }},
    };
    Buffer<uint16_t> in = numbers(200, 3);
    in.set_min(-60, 0);
    for (const Case &c : cases) {
        for (int lanes : {4, 12}) {
            ImageParam p(UInt(16), 2, "p");
            Func f("f");
            f(x, y) = p(c.index, y) * cast<uint16_t>(3) + p(x, y);
            f.vectorize(x, lanes, GetParam());
            p.set(in);
            for (int min : {0, 1, -7}) {
                const int w = GetParam() == TailStrategy::RoundUp ? 48 : 53;
                Buffer<uint16_t> out(w, 3);
                out.set_min(min, 0);
                f.realize(out);
                for (int j = 0; j < 3; j++) {
                    for (int i = min; i < min + w; i++) {
                        ASSERT_EQ(out(i, j), (uint16_t)(in(c.reads(i), j) * 3 + in(i, j)))
                            << c.name << ", " << lanes << " lanes, at " << i << ", " << j;
                    }
                }
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Tails, Upsampled,
                         testing::Values(TailStrategy::ShiftInwards, TailStrategy::GuardWithIf, TailStrategy::RoundUp,
                                         TailStrategy::Predicate));

TEST(AlternatingLanes, LeaveNoGather) {
    for (int k : {2, 3, 4}) {
        ImageParam p(UInt(8), 2, "p");
        Func f("f");
        f(x, y) = p(x / k, y) + p(x / k + 1, y) * cast<uint8_t>(3);
        f.vectorize(x, 24);
        EXPECT_FALSE(gathers(f, {p}, "p")) << k;
    }
    // The judge is able to find one.
    ImageParam p(UInt(8), 2, "p");
    Func f("f");
    f(x, y) = p(x * x, y);
    f.vectorize(x, 16);
    EXPECT_TRUE(gathers(f, {p}, "p"));
}

// Four pictures in one, as behind the filters of a sensor.
TEST(AlternatingLanes, Mosaic) {
    Buffer<uint16_t> a = numbers(40, 20), b = numbers(40, 20), c = numbers(40, 20), d = numbers(40, 20);
    b.for_each_value([](uint16_t &v) { v ^= 0x1234; });
    c.for_each_value([](uint16_t &v) { v += 77; });
    d.for_each_value([](uint16_t &v) { v *= 5; });
    for (int first : {0, 1, 2, 5}) {
        for (bool aligned : {false, true}) {
            ImageParam pa(UInt(16), 2, "pa"), pb(UInt(16), 2, "pb"), pc(UInt(16), 2, "pc"), pd(UInt(16), 2, "pd");
            Func f("f");
            Expr even = select(x % 2 == 0, pa(x / 2, y / 2) + pa(x / 2 + 1, y / 2), pb(x / 2, y / 2));
            Expr odd = select(x % 2 == 0, pc(x / 2, y / 2), absd(pd(x / 2, y / 2), pc(x / 2 + 1, y / 2)));
            f(x, y) = select(y % 2 == 0, even, odd);
            f.vectorize(x, 16);
            if (aligned) {
                f.align_bounds(x, 2, first % 2);
            }
            pa.set(a), pb.set(b), pc.set(c), pd.set(d);
            Buffer<uint16_t> out(32, 32);
            out.set_min(first, 0);
            f.realize(out);
            out.for_each_element([&](int x, int y) {
                const int i = x / 2, j = y / 2;
                const uint16_t even = x % 2 == 0 ? a(i, j) + a(i + 1, j) : b(i, j);
                const uint16_t odd = x % 2 == 0 ? c(i, j) : (uint16_t)std::abs(d(i, j) - c(i + 1, j));
                ASSERT_EQ(out(x, y), y % 2 == 0 ? even : odd) << x << ", " << y;
            });
            for (const char *name : {"pa", "pb", "pc", "pd"}) {
                EXPECT_FALSE(gathers(f, {pa, pb, pc, pd}, name)) << name;
            }
        }
    }
}

// One definition used many times keeps its name, and conditions and addresses that have names of their own are seen.
TEST(AlternatingLanes, SharedValues) {
    ImageParam p(Int(32), 1, "p");
    Func f("f");
    Expr e = p(x / 2);
    Expr want_twice = e;
    for (int i = 0; i < 12; i++) {
        e = select(x % 2 == 0, e + want_twice * i, e * e - i) + e;
    }
    f(x) = e;
    f.vectorize(x, 8);
    Buffer<int> in(40);
    in.for_each_element([&](int i) { in(i) = i * 37 - 100; });
    p.set(in);
    Buffer<int> out(61);
    f.realize(out);
    for (int i = 0; i < 61; i++) {
        uint32_t v = (uint32_t)in(i / 2), w = v;
        for (uint32_t k = 0; k < 12; k++) {
            v = (i % 2 == 0 ? v + w * k : v * v - k) + v;
        }
        ASSERT_EQ((uint32_t)out(i), v) << i;
    }
}

// What has no parts of its own still finds the values that have.
TEST(AlternatingLanes, SharedValuesUnderConditions) {
    ImageParam p(UInt(32), 1, "p"), table(UInt(32), 1, "table");
    Func f("f");
    Expr e = p(x / 2);
    for (int i = 0; i < 12; i++) {
        e = e * e + p(x / 2 + 1) + cast<uint32_t>(i);
    }
    f(x) = require(p(x / 2) < cast<uint32_t>(5000), e, "large") + table(cast<int>(e % cast<uint32_t>(8))) + e;
    f.vectorize(x, 8);
    Buffer<uint32_t> in(40), t(8);
    in.for_each_element([&](int i) { in(i) = (uint32_t)i * 37; });
    t.for_each_element([&](int i) { t(i) = (uint32_t)(i * i); });
    p.set(in), table.set(t);
    Buffer<uint32_t> out(61);
    f.realize(out);
    for (int i = 0; i < 61; i++) {
        uint32_t v = in(i / 2);
        for (uint32_t k = 0; k < 12; k++) {
            v = v * v + in(i / 2 + 1) + k;
        }
        ASSERT_EQ(out(i), v + t((int)(v % 8)) + v) << i;
    }
}

}  // namespace
