// Tiles, moves, flags and kernels of the PTO back end, one kind of schedule after another.

#include "PipelineHarness.h"

namespace {

using namespace bromide;

// ---- Tiles and moves

Program scale(bool scheduled, int w, int h, int factor) {
    Program p;
    ImageParam in = image("in", 2, data<float>({w, h}), p);
    p.f = Func("f");
    p.f(x, y) = in(x, y) * 2.0f + 1.0f;
    if (scheduled) {
        p.f.split(x, xo, xi, factor).pto_blocks(y).vectorize(xi, 128);
        in.in(p.f).compute_at(p.f, xo).store_in(MemoryType::UB);
    }
    return p;
}

TEST(PTOKernels, ElementwiseInTilesOfAnyExtent) {
    for (int w : {1, 63, 64, 65, 127, 300, 4096, 5000}) {
        check<float>("width " + std::to_string(w), [&](bool s) { return scale(s, w, 5, 4096); }, {w, 5});
    }
}

TEST(PTOKernels, TheExampleHasOneMoveEachWay) {
    Counts n;
    check<float>("example", [&](bool s) { return scale(s, 9000, 3, 4096); }, {9000, 3}, &n);
    EXPECT_EQ(n.moves, 2);
    EXPECT_EQ(n.kernels, 1);
    EXPECT_EQ(n.scalar_stores, 0);
    EXPECT_EQ(n.barriers, 0);
    // MTE2→V, V→MTE3 in each iteration, V→MTE2 and MTE3→V from one to the next (raised twice: before the loop and in it).
    EXPECT_EQ(n.flags, 6);
}

TEST(PTOKernels, VectorLoopsWithoutAnyTileAreCutIntoPieces) {
    for (int w : {1, 100, 20000, 70000}) {
        check<float>("width " + std::to_string(w), [&](bool s) {
            Program p;
            ImageParam in = image("in", 1, data<float>({w}), p);
            p.f = Func("f");
            p.f(x) = in(x) * 3.0f - 1.0f;
            if (s) {
                p.f.vectorize(x, 64);
            }
            return p;
        }, {w});
    }
}

TEST(PTOKernels, NeighboursComeByMovesOfTheirOwn) {
    for (bool staged : {false, true}) {
        Counts n;
        check<float>("blur", [&](bool s) {
            Program p;
            ImageParam in = image("in", 1, data<float>({402}), p);
            p.f = Func("f");
            p.f(x) = (in(x) + in(x + 1) + in(x + 2)) * 0.5f;
            if (s) {
                p.f.split(x, xo, xi, 256).vectorize(xi, 64);
                if (staged) {
                    in.in(p.f).compute_at(p.f, xo).store_in(MemoryType::UB);
                }
            }
            return p;
        }, {400}, &n);
        EXPECT_EQ(n.moves, 4);
        EXPECT_EQ(n.scalar_stores, 0);
    }
}

TEST(PTOKernels, TwoDimensionalTilesAreOneMove) {
    Counts n;
    check<int16_t>("tile", [&](bool s) {
        Program p;
        ImageParam in = image("in", 2, data<int16_t>({300, 40}), p);
        Func g("g");
        p.f = Func("f");
        g(x, y) = in(x, y) + 7;
        p.f(x, y) = g(x, y);
        if (s) {
            p.f.tile(x, y, xo, yo, xi, yi, 128, 8).pto_blocks(xo, yo);
            g.compute_at(p.f, xo).vectorize(x, 128);
            in.in(g).compute_at(p.f, xo).store_in(MemoryType::UB);
        }
        return p;
    }, {300, 40}, &n);
    EXPECT_EQ(n.moves, 2);
    EXPECT_EQ(n.scalar_stores, 0);
}

TEST(PTOKernels, BoundaryConditionsAreCutIntoMovesAndElements) {
    for (int kind = 0; kind < 2; kind++) {
        check<float>(kind ? "constant_exterior" : "repeat_edge", [&](bool s) {
            Program p;
            ImageParam in = image("in", 2, data<float>({100, 9}), p);
            Func clamped = kind ? BoundaryConditions::constant_exterior(in, 5.0f) : BoundaryConditions::repeat_edge(in);
            p.f = Func("f");
            p.f(x, y) = clamped(x - 1, y) + clamped(x, y - 1) * 2.0f + clamped(x + 1, y + 1);
            if (s) {
                p.f.pto_blocks(y).vectorize(x, 64);
                clamped.compute_at(p.f, y).store_in(MemoryType::UB).bound_storage(clamped.args()[0], 128);
            }
            return p;
        }, {100, 9});
    }
}

TEST(PTOKernels, ReductionsReadTheirOutputBack) {
    check<int>("sum over rows", [&](bool s) {
        Program p;
        ImageParam in = image("in", 2, data<int>({200, 10}), p);
        RDom r(0, 10);
        p.f = Func("f");
        p.f(x) = 3;
        p.f(x) += in(x, r);
        if (s) {
            p.f.vectorize(x, 64);
            p.f.update().vectorize(x, 64);
        }
        return p;
    }, {200});
    check<int>("sum over lanes", [&](bool s) {
        Program p;
        ImageParam in = image("in", 2, data<int>({200, 10}), p);
        RDom r(0, 200);
        Func sum("sum");
        p.f = Func("f");
        sum(y) += in(r, y);
        p.f(y) = sum(y) * 2;
        if (s) {
            p.f.pto_blocks(y);
            sum.compute_at(p.f, y).update().atomic().vectorize(r, 64);
        }
        return p;
    }, {10});
}

TEST(PTOKernels, SeveralKernelsPassValuesThroughGlobalMemory) {
    Counts n;
    check<int>("two kernels", [&](bool s) {
        Program p;
        ImageParam in = image("in", 2, data<int>({130, 20}), p);
        Func g("g");
        p.f = Func("f");
        g(x, y) = in(x, y) * 3;
        p.f(x, y) = g(x, y) + g(x, 19 - y);
        if (s) {
            g.compute_root().pto_blocks(y).vectorize(x, 64);
            p.f.pto_blocks(y).vectorize(x, 64);
        }
        return p;
    }, {130, 20}, &n);
    EXPECT_EQ(n.kernels, 2);
}

TEST(PTOKernels, BlockLoopsOfAnyNumberAndExtent) {
    for (int w : {1, 7, 33}) {
        check<int>("three block loops", [&](bool s) {
            Program p;
            ImageParam in = image("in", 3, data<int>({w, 5, 6}), p);
            p.f = Func("f");
            p.f(x, y, z) = in(x, y, z) * 2 + x;
            if (s) {
                p.f.split(x, xo, xi, 16).pto_blocks(xo, y, z).vectorize(xi);
            }
            return p;
        }, {w, 5, 6}, nullptr, {0, 2 - 2, 0});
    }
}

TEST(PTOKernels, DoubleBuffering) {
    Counts n;
    check<float>("ring", [&](bool s) {
        Program p;
        ImageParam in = image("in", 2, data<float>({1000, 3}), p);
        p.f = Func("f");
        p.f(x, y) = in(x, y) * 2.0f;
        if (s) {
            p.f.split(x, xo, xi, 256).pto_blocks(y).vectorize(xi, 64);
            in.in(p.f).compute_at(p.f, xo).hoist_storage(p.f, y).ring_buffer(2).async();
        }
        return p;
    }, {1000, 3}, &n);
    EXPECT_EQ(n.moves, 2);
}

TEST(PTOKernels, GuardsAndWhere) {
    check<int>("where", [&](bool s) {
        Program p;
        ImageParam in = image("in", 2, data<int>({150, 10}), p);
        RDom r(0, 150, 0, 10);
        r.where(r.x + r.y < 140);
        p.f = Func("f");
        p.f(x, y) = 1;
        p.f(r.x, r.y) += in(r.x, r.y);
        if (s) {
            p.f.pto_blocks(y).vectorize(x, 64);
            p.f.update().pto_blocks(r.y).vectorize(r.x, 64);
        }
        return p;
    }, {150, 10});
}

// ---- Schedules on a CPU

TEST(PTOKernels, TheSameScheduleRunsOnTheCPU) {
    Program p = scale(true, 1000, 7, 256), q = scale(false, 1000, 7, 256);
    Buffer<float> a(1000, 7), b(1000, 7);
    p.f.realize(a);
    q.f.realize(b);
    b.for_each_element([&](const int *at) { ASSERT_EQ(a(at), b(at)); });
}

}  // namespace
