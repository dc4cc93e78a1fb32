// M2: conditions, borders, stencils and serial loops inside the lanes.

#include "Suite.h"

#include <gtest/gtest.h>

namespace {

using namespace bromide;

const Var x("x"), y("y"), xo("xo"), xi("xi"), yo("yo"), yi("yi"), k("k");

void rows(Func f, const Build &b, int lanes = 64) {
    if (b.scheduled) {
        f.pto_blocks(y).vectorize(x, lanes);
    }
}

void tiles(Func f, const Build &b, int size = 256, int lanes = 64) {
    if (b.scheduled) {
        f.split(x, xo, xi, size).pto_blocks(xo, y).vectorize(xi, lanes);
    }
}

TEST(PTOSuite, M2Selects) {
    run({"select_data", [](Build &b) {
             ImageParam in = b.input<float>("in", {b.w, b.h});
             Func f = b.func("f");
             f(x, y) = select(in(x, y) > 0.5f, in(x, y) * 3.0f, in(x, y) - 1.0f);
             rows(f, b);
             return f;
         }});
    run({"select_chain", [](Build &b) {
             ImageParam in = b.input<float>("in", {b.w, b.h});
             Func f = b.func("f");
             f(x, y) = select(in(x, y) > 0.5f, in(x, y), x < 40, -1.0f, cast<float>(x + y));
             tiles(f, b);
             return f;
         }});
    run({"select_lane", [](Build &b) {
             ImageParam in = b.input<int32_t>("in", {b.w, b.h});
             Func f = b.func("f");
             f(x, y) = select(x % 3 == 0, in(x, y), x % 2 == 0, -in(x, y), 7);
             rows(f, b);
             return f;
         }});
    run({"select_uniform", [](Build &b) {
             ImageParam in = b.input<int16_t>("in", {b.w, b.h}), which = b.input<uint8_t>("which", {b.h}, {Fill::Below, 2});
             Func f = b.func("f");
             f(x, y) = select(which(y) == 1, in(x, y) * 2, in(x, y) + 3);
             rows(f, b, 128);
             return f;
         }});
    run({"select_scalar", [](Build &b) {
             ImageParam in = b.input<float>("in", {b.w, b.h});
             Expr mode = b.scalar("mode", Int(32), 1);
             Func f = b.func("f");
             f(x, y) = select(mode == 1, in(x, y) * 2.0f, in(x, y) + 3.0f);
             rows(f, b);
             return f;
         }});
    run({"select_bytes", [](Build &b) {
             ImageParam in = b.input<uint8_t>("in", {b.w, b.h}), limit = b.input<uint8_t>("limit", {b.w, b.h});
             Func f = b.func("f");
             f(x, y) = select(in(x, y) > limit(x, y), cast<uint8_t>(255), in(x, y));
             tiles(f, b, 512, 256);
             return f;
         }});
    run({"select_mixed_widths", [](Build &b) {
             ImageParam in = b.input<uint8_t>("in", {b.w, b.h}), w = b.input<float>("w", {b.w, b.h});
             Func f = b.func("f");
             f(x, y) = select(in(x, y) > 100 && w(x, y) < 0.0f, cast<float>(in(x, y)), w(x, y));
             tiles(f, b);
             return f;
         }});
    run({"likely", [](Build &b) {
             ImageParam in = b.input<float>("in", {b.w, b.h});
             Func f = b.func("f");
             f(x, y) = select(likely(x > 5), in(x, y), 0.0f);
             rows(f, b);
             return f;
         }});
}

TEST(PTOSuite, M2Borders) {
    const char *names[] = {"constant_exterior", "repeat_edge", "repeat_image", "mirror_image", "mirror_interior"};
    for (int kind = 0; kind < 5; kind++) {
        for (bool staged : {false, true}) {
            Pipe p = {std::string(names[kind]) + (staged ? "_staged" : ""), [=](Build &b) {
                          ImageParam in = b.input<float>("in", {b.w, b.h});
                          Func edge = kind == 0 ? BoundaryConditions::constant_exterior(in, 5.0f) :
                                      kind == 1 ? BoundaryConditions::repeat_edge(in) :
                                      kind == 2 ? BoundaryConditions::repeat_image(in) :
                                      kind == 3 ? BoundaryConditions::mirror_image(in) :
                                                  BoundaryConditions::mirror_interior(in);
                          Func f = b.func("f");
                          f(x, y) = edge(x - 1, y) + edge(x, y) * 2.0f + edge(x + 1, y);
                          if (b.scheduled) {
                              f.split(x, xo, xi, 128).pto_blocks(y).vectorize(xi, 64);
                              if (staged) {
                                  edge.compute_at(f, xo).store_in(MemoryType::UB);
                              }
                          }
                          return f;
                      }};
            p.widths = {1, 63, 64, 65, 300};
            if (kind == 4) {
                p.widths = {2, 63, 64, 65, 300};   // mirror_interior of one element divides by zero
            }
            run(p);
        }
    }
    run({"clamped", [](Build &b) {
             ImageParam in = b.input<int32_t>("in", {b.w, b.h});
             Func f = b.func("f");
             f(x, y) = in(clamp(x - 3, 0, b.extent(in, 0) - 1), y) + in(clamp(x + 2, 0, b.extent(in, 0) - 1), y);
             tiles(f, b, 128);
             return f;
         }});
}

TEST(PTOSuite, M2Stencils) {
    for (const Type &t : {Float(32), Int(32), UInt(8), Int(16)}) {
        const std::string n = t.is_float() ? "f32" : t.bits() == 8 ? "u8" : t.bits() == 16 ? "i16" : "i32";
        run({"blur3_" + n, [=](Build &b) {
                 ImageParam in = b.input("in", t, {b.w + 2, b.h});
                 Func f = b.func("f");
                 const Type wide = t.is_float() || t.bits() == 32 ? t : Int(16);
                 f(x, y) = cast(t, (cast(wide, in(x, y)) / cast(wide, 4) + cast(wide, in(x + 1, y)) + cast(wide, in(x + 2, y)) / cast(wide, 4)));
                 tiles(f, b);
                 return f;
             }});
        run({"blur3x3_" + n, [=](Build &b) {
                 ImageParam in = b.input("in", t, {b.w + 2, b.h + 2});
                 Func f = b.func("f");
                 Expr sum = cast(t, 0);
                 for (int j = 0; j < 3; j++) {
                     for (int i = 0; i < 3; i++) {
                         sum += in(x + i, y + j) * cast(t, 1 + i * j);
                     }
                 }
                 f(x, y) = sum;
                 rows(f, b, t.bits() == 8 ? 256 : 64);
                 return f;
             }});
    }
    run({"two_stage_blur", [](Build &b) {
             ImageParam in = b.input<float>("in", {b.w + 2, b.h + 2});
             Func g = b.func("g"), f = b.func("f");
             g(x, y) = in(x, y) + in(x + 1, y) + in(x + 2, y);
             f(x, y) = g(x, y) + g(x, y + 1) + g(x, y + 2);
             if (b.scheduled) {
                 f.split(x, xo, xi, 256).pto_blocks(xo, y).vectorize(xi, 64);
                 g.compute_at(f, xo).vectorize(x, 64);
             }
             return f;
         }});
    run({"sobel", [](Build &b) {
             ImageParam in = b.input<uint8_t>("in", {b.w + 2, b.h + 2});
             Func s = b.func("s"), f = b.func("f");
             s(x, y) = cast<int16_t>(in(x, y));
             Expr gx = s(x + 2, y) - s(x, y) + 2 * (s(x + 2, y + 1) - s(x, y + 1)) + s(x + 2, y + 2) - s(x, y + 2);
             Expr gy = s(x, y + 2) - s(x, y) + 2 * (s(x + 1, y + 2) - s(x + 1, y)) + s(x + 2, y + 2) - s(x + 2, y);
             f(x, y) = cast<uint8_t>(clamp(abs(gx) + abs(gy), cast<uint16_t>(0), cast<uint16_t>(255)));
             tiles(f, b);
             return f;
         }});
}

TEST(PTOSuite, M2SerialLoops) {
    for (const Type &t : {Float(32), Int(32)}) {
        const std::string n = t.is_float() ? "f32" : "i32";
        run({"fir_" + n, [=](Build &b) {
                 ImageParam in = b.input("in", t, {b.w + 7, b.h}), taps = b.input("taps", t, {8});
                 Func f = b.func("f");
                 RDom r(0, 8, "r");
                 f(x, y) = cast(t, 0);
                 f(x, y) += in(x + r, y) * taps(r);
                 if (b.scheduled) {
                     f.pto_blocks(y).vectorize(x, 64);
                     f.update().reorder(r, x, y).pto_blocks(y).vectorize(x, 64);
                 }
                 return f;
             }});
        run({"fir_in_registers_" + n, [=](Build &b) {
                 ImageParam in = b.input("in", t, {b.w + 7, b.h}), taps = b.input("taps", t, {8});
                 Func g = b.func("g"), f = b.func("f");
                 RDom r(0, 8, "r");
                 g(x, y) += in(x + r, y) * taps(r);
                 f(x, y) = g(x, y) + cast(t, 1);
                 if (b.scheduled) {
                     f.split(x, xo, xi, 256).pto_blocks(xo, y).vectorize(xi, 64);
                     g.compute_at(f, xo).vectorize(x, 64).update().reorder(x, r, y).vectorize(x, 64);
                 }
                 return f;
             }});
        run({"matmul_" + n, [=](Build &b) {
                 ImageParam a = b.input("a", t, {32, b.h}), m = b.input("m", t, {b.w, 32});
                 Func g = b.func("g"), f = b.func("f");
                 RDom r(0, 32, "r");
                 g(x, y) = cast(t, 0);
                 g(x, y) += a(r, y) * m(x, r);
                 f(x, y) = g(x, y);
                 if (b.scheduled) {
                     f.split(x, xo, xi, 128).pto_blocks(xo, y).vectorize(xi, 64);
                     g.compute_at(f, xo).vectorize(x, 64).update().reorder(x, r, y).vectorize(x, 64);
                 }
                 return f;
             }});
        run({"horner_" + n, [=](Build &b) {
                 ImageParam in = b.input("in", t, {b.w, b.h}, {Fill::Unit}), c = b.input("c", t, {6}, {Fill::Unit});
                 Func f = b.func("f");
                 RDom r(0, 6, "r");
                 f(x, y) = cast(t, 0);
                 f(x, y) = f(x, y) * (t.is_float() ? in(x, y) : in(x, y) & 7) + c(r);
                 if (b.scheduled) {
                     f.pto_blocks(y).vectorize(x, 64);
                     f.update().reorder(r, x, y).pto_blocks(y).vectorize(x, 64);
                 }
                 return f;
             }});
        run({"rows_summed_" + n, [=](Build &b) {
                 ImageParam in = b.input("in", t, {b.w, 10});
                 Func f = b.func("f");
                 RDom r(0, 10, "r");
                 f(x) = cast(t, 3);
                 f(x) += in(x, r);
                 if (b.scheduled) {
                     f.vectorize(x, 64);
                     f.update().vectorize(x, 64);
                 }
                 return f;
             }, 1});
    }
    run({"where_triangle", [](Build &b) {
             ImageParam in = b.input<int32_t>("in", {b.w, b.h});
             Func f = b.func("f");
             RDom r(0, b.extent(in, 0), 0, b.extent(in, 1), "r");
             r.where(r.x + r.y < b.extent(in, 0) - 5);
             f(x, y) = 1;
             f(r.x, r.y) += in(r.x, r.y);
             if (b.scheduled) {
                 f.pto_blocks(y).vectorize(x, 64);
                 f.update().pto_blocks(r.y).vectorize(r.x, 64);
             }
             return f;
         }});
    run({"where_data", [](Build &b) {
             ImageParam in = b.input<int32_t>("in", {b.w, b.h}), take = b.input<int32_t>("take", {b.w, b.h});
             Func f = b.func("f");
             RDom r(0, b.extent(in, 0), 0, b.extent(in, 1), "r");
             r.where(take(r.x, r.y) > 0);
             f(x, y) = 1;
             f(r.x, r.y) += in(r.x, r.y);
             if (b.scheduled) {
                 f.pto_blocks(y).vectorize(x, 64);
                 f.update().pto_blocks(r.y).vectorize(r.x, 64);
             }
             return f;
         }});
    run({"updates", [](Build &b) {
             ImageParam in = b.input<float>("in", {b.w, b.h});
             Func f = b.func("f");
             f(x, y) = in(x, y);
             f(x, y) = f(x, y) * 2.0f;
             f(x, y) += 1.0f;
             if (b.scheduled) {
                 f.pto_blocks(y).vectorize(x, 64);
                 f.update(0).pto_blocks(y).vectorize(x, 64);
                 f.update(1).pto_blocks(y).vectorize(x, 64);
             }
             return f;
         }});
    run({"recurrence_over_rows", [](Build &b) {
             ImageParam in = b.input<float>("in", {b.w, 6});
             Func g = b.func("g"), f = b.func("f");
             RDom r(1, 5, "r");
             g(x, y) = in(x, y);
             g(x, r) = g(x, r - 1) * 0.5f + in(x, r);
             f(x, y) = g(x, clamp(y, 0, 5));
             if (b.scheduled) {
                 f.split(x, xo, xi, 128).reorder(xi, y, xo).pto_blocks(xo).vectorize(xi, 64);
                 g.compute_at(f, xo).vectorize(x, 64).update().reorder(x, r).vectorize(x, 64);
             }
             return f;
         }, 2, 0, {1, 63, 64, 65, 127, 300, 4096}, [](int w, int) { return std::vector<int>{w, 6}; }});
}

}  // namespace
