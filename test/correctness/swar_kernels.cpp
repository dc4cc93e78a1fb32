// Programs as the author of a quantized kernel writes them: words, registers and hints in the middle of everything
// else.

#include "Halide.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>

using namespace Halide;
using namespace Halide::ConciseCasts;

namespace {

/// Runs a program without schedule and with one.
void compare(const std::string &what, int w, int h, const std::function<Func(bool)> &make) {
    try {
        const Buffer<> expected = make(false).realize({w, h}), got = make(true).realize({w, h});
        const size_t bytes = expected.type().bytes();
        for (int y = 0; y < h; y++) {
            for (int x = 0; x < w; x++) {
                const char *pe = (const char *)expected.data() + ((size_t)y * w + x) * bytes;
                const char *pg = (const char *)got.data() + ((size_t)y * w + x) * bytes;
                ASSERT_EQ(std::memcmp(pe, pg, bytes), 0) << what << ": differs at " << x << ", " << y;
            }
        }
    } catch (const Error &e) {
        FAIL() << what << ": " << e.what();
    }
}

TEST(SWARKernels, programs) {
    Buffer<uint8_t> q(144, 64);
    uint32_t s = 1;
    q.for_each_value([&](uint8_t &v) {
        s = s * 1664525 + 1013904223;
        v = s >> 24;
    });
    Buffer<int8_t> act(256, 64);
    act.for_each_value([&](int8_t &v) {
        s = s * 1664525 + 1013904223;
        v = (int8_t)(s >> 24);
    });
    Var x("x"), y("y"), xo("xo"), xi("xi"), yo("yo"), yi("yi"), u("u");
    RVar ro("ro"), ri("ri");
    const auto swar = VectorizeIn::SWAR;
    auto scale = [&](Expr j, Expr b) {
        Expr lo = j % 4, up = j >= 4;
        Expr a = q(4 + lo, b), c = q(12 + lo, b);
        return select(up, (c & 15) | ((a >> 2) & 0x30), a & 63);
    };
    compare("scales in registers feed vectors, in parallel", 32, 16, [&](bool scheduled) {
        Func sc("sc"), f("f");
        sc(x, y) = scale(x, y);
        f(x, y) = i32(sc(x / 4, y)) * act(x, y);
        if (scheduled) {
            f.bound(x, 0, 32).parallel(y).vectorize(x, 8);
            sc.compute_at(f, y)
                .store_in(MemoryType::GPR)
                .bound_extent(x, 8)
                .split(x, xo, xi, 4)
                .unroll(xo)
                .vectorize(xi, swar);
        }
        return f;
    });
    compare("async producer in words", 8, 32, [&](bool scheduled) {
        Func sc("sc"), f("f");
        sc(x, y) = scale(x, y);
        f(x, y) = sc(x, y) + sc(7 - x, y);
        f.bound(x, 0, 8);
        if (scheduled) {
            sc.compute_at(f, y)
                .store_root()
                .fold_storage(y, 2)
                .async()
                .split(x, xo, xi, 4)
                .unroll(xo)
                .vectorize(xi, swar);
            f.vectorize(x, 8, swar);
        }
        return f;
    });
    compare("rfactor over words, wide sums", 4, 8, [&](bool scheduled) {
        RDom r(0, 64);
        Func f("f");
        f(x, y) = 0;
        f(x, y) += i32(q(r + x, y));
        if (scheduled) {
            f.update().split(r, ro, ri, 8);
            Func p = f.update().rfactor(ro, u);
            p.compute_root().vectorize(u, 4);
            p.update().atomic().vectorize(ri, swar).parallel(u);
        }
        return f;
    });
    compare("compute_with of scale and min", 8, 16, [&](bool scheduled) {
        Func a("a"), b("b"), f("f");
        a(x, y) = scale(x, y);
        b(x, y) = scale(x, y) ^ q(x, y);
        f(x, y) = a(x, y) * 3 + b(x, y);
        f.bound(x, 0, 8);
        if (scheduled) {
            for (Func *g : {&a, &b})
                g->compute_at(f, yo).split(x, xo, xi, 4).vectorize(xi, swar).unroll(xo);
            b.compute_with(a, xo);
            f.split(y, yo, yi, 4);
        }
        return f;
    });
    compare("popcount dot of one-bit codes, words of 8, hints", 8, 16, [&](bool scheduled) {
        RDom r(0, 128);
        Func f("f");
        f(x, y) = i32(0);
        f(x, y) += i32(popcount(q(r, y) ^ q((r + x) % 144, y + 1)));
        if (scheduled) {
            f.update().atomic().split(r, ro, ri, 8).vectorize(ri, swar).unroll_hint(ro, 4);
            f.parallel(y);
            f.update().parallel(y);
        }
        return f;
    });
    compare("SWAR and SIMD stages; update by RVar; hints on rvars", 32, 16, [&](bool scheduled) {
        RDom r(0, 5);
        Func f("f");
        f(x, y) = q(x, y);
        f(x, y) = max(f(x, y), q(x + r, y) >> 1);
        f(x, y) = absd(f(x, y), q(x + 9, y));
        if (scheduled) {
            f.vectorize(x, 16);
            f.update(0).reorder(x, r, y).vectorize(x, 8, swar).unroll_hint(r, 2).parallel(y);
            f.update(1).vectorize(x, 4, swar).unroll(x, 2);
        }
        return f;
    });
    compare("partitioned loop with hint in parallel, boundary condition", 61, 16, [&](bool scheduled) {
        Func b = BoundaryConditions::mirror_image(q);
        Func f("f");
        f(x, y) = rounding_halving_add(b(x - 3, y - 1), b(x + 100, y));
        if (scheduled) {
            f.parallel(y).split(x, xo, xi, 4, TailStrategy::GuardWithIf).vectorize(xi, swar).unroll_hint(xo, 3);
        }
        return f;
    });
    compare("words at a simd loop, scalar and simd consumers", 32, 16, [&](bool scheduled) {
        Func sc("sc"), g("g"), f("f");
        sc(x, y) = scale(x % 8, y);
        g(x, y) = u16(sc(x, y)) * 7;
        f(x, y) = i32(g(x, y)) + sc(0, y) + sc(x, y);
        if (scheduled) {
            f.bound(x, 0, 32).split(y, yo, yi, 4).reorder(x, yi, yo).vectorize(yi);
            g.compute_at(f, yi).vectorize(x, 4, swar).bound_extent(x, 32);
            sc.compute_at(f, yi).bound_extent(x, 32).split(x, xo, xi, 4).vectorize(xi, swar).unroll(xo);
        }
        return f;
    });
    compare("nibbles interleaved", 64, 16, [&](bool scheduled) {
        Func f("f");
        f(x, y) = select(x % 2 == 0, q(x / 2, y) & 15, q(x / 2, y) >> 4);
        if (scheduled) {
            f.bound(x, 0, 64).split(x, xo, xi, 8).vectorize(xi, swar).unroll(xo, 2);
        }
        return f;
    });
    compare("q5 high bit by lane", 32, 16, [&](bool scheduled) {
        Func f("f");
        f(x, y) = (q(x, y) & 15) | (((q(x / 8 + 64, y) >> u8(x % 8)) & 1) << 4);
        if (scheduled) {
            f.bound(x, 0, 32).split(x, xo, xi, 8).vectorize(xi, swar).unroll(xo);
        }
        return f;
    });
    compare("saturating int8 requantize in 16 bits", 32, 16, [&](bool scheduled) {
        Func f("f");
        f(x, y) = i8_sat((i16(act(x, y)) * 5 + 8) >> 4) - i8(3);
        if (scheduled) {
            f.split(x, xo, xi, 4).vectorize(xi, swar).parallel(y);
        }
        return f;
    });
    compare("tuple argmax of bytes", 8, 16, [&](bool scheduled) {
        RDom r(0, 16);
        Func f("f"), g("g");
        f(x, y) = Tuple(u8(0), u8(0));
        Expr better = q(x + r, y) > f(x, y)[0];
        f(x, y) = Tuple(select(better, q(x + r, y), f(x, y)[0]), select(better, u8(r), f(x, y)[1]));
        g(x, y) = f(x, y)[0] ^ f(x, y)[1];
        if (scheduled) {
            f.compute_at(g, y)
                .bound_extent(x, 8)
                .vectorize(x, 8, swar)
                .update()
                .reorder(x, r)
                .vectorize(x, 8, swar)
                .unroll(r);
            g.bound(x, 0, 8).vectorize(x, 8);
        } else
            f.compute_root();
        return g;
    });
    compare("specialize and hint, hist via gpr", 16, 8, [&](bool scheduled) {
        Func h("h"), f("f");
        RDom r(0, 32);
        h(x, y) = u8(0);
        h(q(r, y) & 7, y) += u8(1);
        f(x, y) = h(x & 7, y);
        if (scheduled) {
            f.bound(x, 0, 16);
            h.compute_at(f, y).store_in(MemoryType::GPR).bound_extent(x, 8).vectorize(x, 8, swar);
            h.update().unroll_hint(r, 8);
            f.vectorize(x, 8, swar);
        } else
            h.compute_root();
        return f;
    });
}

}  // namespace
