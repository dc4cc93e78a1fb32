// Vectorized sums of products of bytes, at the ends of their ranges, where an instruction that saturates or a sign that
// moves would show; and integers put together of bytes.

#include "Halide.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <vector>

using namespace Halide;

namespace {

constexpr int outputs = 40;

template<typename T>
Buffer<T> bytes(int count, uint32_t seed) {
    Buffer<T> b(count);
    uint32_t state = seed;
    for (int i = 0; i < count; i++) {
        state = state * 1664525 + 1013904223;
        // Every other value is at an end of its range.
        const int edges[] = {0, 127, 128, 129, 255, 15, 240, 1};
        b(i) = (T)((state >> 20) & 1 ? edges[(state >> 21) & 7] : state >> 24);
    }
    return b;
}

template<typename A, typename B>
struct Case {
    const char *name;
    Type result;
    int factor;
    std::function<Expr(Expr, Expr)> product;
    std::function<int64_t(int64_t, int64_t)> expected;
};

template<typename A, typename B>
void check(const Case<A, B> &c, const Target &target) {
    const Buffer<A> a = bytes<A>(outputs * c.factor, 1);
    const Buffer<B> b = bytes<B>(outputs * c.factor, 99);
    Var x("x");
    RDom r(0, c.factor, "r");
    Func f("f");
    const Expr i = c.factor * x + r;
    f(x) = cast(c.result, 3);
    f(x) += cast(c.result, c.product(a(i), b(i)));
    f.vectorize(x, 8).update().reorder(r, x).vectorize(x, 8).atomic().vectorize(r);
    const Buffer<> out = f.realize({outputs}, target);
    for (int k = 0; k < outputs; k++) {
        int64_t sum = 3;
        for (int j = 0; j < c.factor; j++) {
            sum += c.expected(a(k * c.factor + j), b(k * c.factor + j));
        }
        if (c.result == Int(16)) {
            ASSERT_EQ(out.as<int16_t>()(k), (int16_t)sum) << c.name << " at " << k << " for " << target.to_string();
        } else {
            ASSERT_EQ(out.as<int32_t>()(k), (int32_t)sum) << c.name << " at " << k << " for " << target.to_string();
        }
    }
}

Expr to16(const Expr &e) {
    return cast<int16_t>(e);
}
Expr to32(const Expr &e) {
    return cast<int32_t>(e);
}

TEST(ProductsOfBytes, AreExact) {
    const auto product = [](int64_t a, int64_t b) { return a * b; };
    const std::vector<Case<uint8_t, int8_t>> mixed = {
        {"any, 16 bits", Int(16), 2, [](Expr a, Expr b) { return to16(a) * to16(b); }, product},
        {"any, 16 bits, by four", Int(16), 4, [](Expr a, Expr b) { return to16(a) * to16(b); }, product},
        {"any, 32 bits", Int(32), 4, [](Expr a, Expr b) { return to32(a) * to32(b); }, product},
        {"7 bits, 16 bits", Int(16), 2, [](Expr a, Expr b) { return to16(a & 127) * to16(b); },
         [](int64_t a, int64_t b) { return (a & 127) * b; }},
        {"7 bits, 32 bits, by eight", Int(32), 8, [](Expr a, Expr b) { return to32(b) * to32(a & 127); },
         [](int64_t a, int64_t b) { return (a & 127) * b; }},
        {"nibble", Int(32), 4, [](Expr a, Expr b) { return to32(a >> 4) * to32(b); },
         [](int64_t a, int64_t b) { return (a >> 4) * b; }},
    };
    const std::vector<Case<int8_t, int8_t>> both_signed = {
        {"signed", Int(32), 4, [](Expr a, Expr b) { return to32(a) * to32(b); }, product},
        {"signed, 16 bits", Int(16), 2, [](Expr a, Expr b) { return to16(a) * to16(b); }, product},
        {"signed, one is not -128", Int(32), 4,
         [](Expr a, Expr b) { return to32(a) * to32(max(b, cast<int8_t>(-127))); },
         [](int64_t a, int64_t b) { return a * std::max<int64_t>(b, -127); }},
        {"signed, the first is not -128", Int(16), 2,
         [](Expr a, Expr b) { return to16(max(a, cast<int8_t>(-127))) * to16(b); },
         [](int64_t a, int64_t b) { return std::max<int64_t>(a, -127) * b; }},
    };
    std::vector<Target> targets = {get_jit_target_from_environment()};
    if (targets[0].arch == Target::X86) {
        targets.push_back(Target("x86-64-linux-sse41"));
    }
    for (const Target &t : targets) {
        for (const auto &c : mixed) {
            check(c, t);
        }
        for (const auto &c : both_signed) {
            check(c, t);
        }
    }
}

/// let t = … in f(i) + product(t): the old value stands inside of what CSE named.
TEST(ProductsOfBytes, SharedSubexpressionsDoNotHideAReduction) {
    Buffer<uint8_t> a = bytes<uint8_t>(64, 5);
    Var x("x");
    RDom r(0, 4, "r");
    Func f("f");
    f(x) = 0;
    const Expr i = 4 * x + r;
    f(x) += cast<int>(a(i)) * cast<int>(a(63 - i));
    f.update().reorder(r, x).vectorize(x, 4).atomic().vectorize(r);
    const Buffer<int> out = f.realize({16});
    for (int k = 0; k < 16; k++) {
        int sum = 0;
        for (int j = 0; j < 4; j++) {
            sum += a(4 * k + j) * a(63 - 4 * k - j);
        }
        EXPECT_EQ(out(k), sum);
    }
}

/// Memory that only one task sees needs no atomic instructions; that of all tasks does.
TEST(ProductsOfBytes, AtomicUpdatesInsideParallelLoops) {
    Buffer<uint8_t> a = bytes<uint8_t>(256, 9);
    Var x("x"), y("y");
    RDom r(0, 8, "r"), all(0, 32, "all");
    Func inner("inner"), sum("sum");
    inner(x, y) = 0;
    inner(x, y) += cast<int>(a((8 * x + r) % 256)) + y;
    sum(x) = 0;
    sum(all % 2) += inner(all, all);   // the same two elements from all tasks
    inner.compute_at(sum, all).update().atomic().vectorize(r);
    sum.update().atomic().parallel(all);
    const Buffer<int> out = sum.realize({2});
    int expected[2] = {0, 0};
    for (int k = 0; k < 32; k++) {
        for (int j = 0; j < 8; j++) {
            expected[k % 2] += a((8 * k + j) % 256) + k;
        }
    }
    EXPECT_EQ(out(0), expected[0]);
    EXPECT_EQ(out(1), expected[1]);
}

TEST(MergedLoads, GiveTheSameIntegers) {
    const Buffer<uint8_t> in = bytes<uint8_t>(160, 3);
    Var x("x");
    for (const int lanes : {1, 8}) {
        Func f("f"), g("g"), h("h");
        f(x) = cast<uint16_t>(in(2 * x + 5)) | (cast<uint16_t>(in(2 * x + 6)) << 8);
        g(x) = cast<uint32_t>(in(4 * x)) | (cast<uint32_t>(in(4 * x + 1)) << 8) | (cast<uint32_t>(in(4 * x + 2)) << 16) |
               (cast<uint32_t>(in(4 * x + 3)) << 24);
        // Not neighbours in order: nothing to merge.
        h(x) = cast<uint16_t>(in(2 * x + 1)) | (cast<uint16_t>(in(2 * x)) << 8);
        for (Func *k : {&f, &g, &h}) {
            k->vectorize(x, lanes);
        }
        const Buffer<uint16_t> of = f.realize({32}), oh = h.realize({32});
        const Buffer<uint32_t> og = g.realize({32});
        for (int i = 0; i < 32; i++) {
            EXPECT_EQ(of(i), in(2 * i + 5) | in(2 * i + 6) << 8);
            EXPECT_EQ(oh(i), in(2 * i + 1) | in(2 * i) << 8);
            EXPECT_EQ(og(i), (uint32_t)in(4 * i) | (uint32_t)in(4 * i + 1) << 8 | (uint32_t)in(4 * i + 2) << 16 |
                                 (uint32_t)in(4 * i + 3) << 24);
        }
    }
}

}  // namespace
