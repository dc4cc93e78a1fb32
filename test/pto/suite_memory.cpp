// M4 and M5: pipelines in the unified buffer; gathers, scatters, strides, packed pairs, bytes.

#include "Suite.h"

#include <gtest/gtest.h>

namespace {

using namespace bromide;

const Var x("x"), y("y"), xo("xo"), xi("xi"), yo("yo"), yi("yi");

std::string name_of(const Type &type) {
    return (type.is_bfloat() ? "bf" : type.is_float() ? "f" : type.is_int() ? "i" : "u") + std::to_string(type.bits());
}

// ---- M4

TEST(PTOSuite, M4Chains) {
    for (const Type &t : {Float(32), Int(16), UInt(8), BFloat(16)}) {
        run({"chain_" + name_of(t), [=](Build &b) {
                 ImageParam in = b.input("in", t, {b.w, b.h});
                 Func g = b.func("g"), k = b.func("k"), f = b.func("f");
                 g(x, y) = in(x, y) * cast(t, 2) + in(x, y);
                 k(x, y) = g(x, y) - cast(t, 1);
                 f(x, y) = k(x, y) * g(x, y);
                 if (b.scheduled) {
                     f.split(x, xo, xi, 1024).pto_blocks(y).vectorize(xi, 64);
                     g.compute_at(f, xo).store_in(MemoryType::UB).vectorize(x, 64);
                     k.compute_at(f, xo).store_in(MemoryType::UB).vectorize(x, 64);
                 }
                 return f;
             }});
    }
    run({"chain_shifted", [](Build &b) {
             ImageParam in = b.input<float>("in", {b.w + 2, b.h});
             Func g = b.func("g"), k = b.func("k"), f = b.func("f");
             g(x, y) = in(x, y) * 2.0f + in(x + 2, y);
             k(x, y) = g(x, y) - 1.0f;
             f(x, y) = k(x, y) * g(x, y);
             if (b.scheduled) {
                 f.split(x, xo, xi, 1024).pto_blocks(y).vectorize(xi, 64);
                 g.compute_at(f, xo).vectorize(x, 64);
                 k.compute_at(f, xo).vectorize(x, 64);
             }
             return f;
         }});
    run({"chain_of_neighbours", [](Build &b) {
             ImageParam in = b.input<float>("in", {b.w + 4, b.h});
             Func g = b.func("g"), f = b.func("f");
             g(x, y) = in(x, y) + in(x + 1, y) * 0.5f;
             f(x, y) = g(x, y) + g(x + 1, y) + g(x + 3, y);
             if (b.scheduled) {
                 f.split(x, xo, xi, 512).pto_blocks(y).vectorize(xi, 64);
                 g.compute_at(f, xo).vectorize(x, 64);
             }
             return f;
         }});
    run({"tile_in_two_dimensions", [](Build &b) {
             ImageParam in = b.input<int16_t>("in", {b.w, b.h});
             Func g = b.func("g"), f = b.func("f");
             g(x, y) = in(x, y) + 7;
             f(x, y) = g(x, y) * 2;
             if (b.scheduled) {
                 f.tile(x, y, xo, yo, xi, yi, 128, 2).pto_blocks(xo, yo).vectorize(xi, 128);
                 g.compute_at(f, xo).vectorize(x, 128);
                 in.in(g).compute_at(f, xo).store_in(MemoryType::UB);
             }
             return f;
         }});
    run({"two_readers", [](Build &b) {
             ImageParam in = b.input<int32_t>("in", {b.w, b.h});
             Func g = b.func("g"), k = b.func("k"), l = b.func("l"), f = b.func("f");
             g(x, y) = in(x, y) * 3;
             k(x, y) = g(x, y) + 1;
             l(x, y) = g(x, y) - 1;
             f(x, y) = max(k(x, y), l(x, y)) ^ g(x, y);
             if (b.scheduled) {
                 f.split(x, xo, xi, 512).pto_blocks(xo, y).vectorize(xi, 64);
                 for (Func h : {g, k, l}) {
                     h.compute_at(f, xo).vectorize(x, 64);
                 }
             }
             return f;
         }});
    run({"through_global_memory", [](Build &b) {
             ImageParam in = b.input<int32_t>("in", {b.w, b.h});
             Func g = b.func("g"), f = b.func("f");
             g(x, y) = in(x, y) * 3;
             f(x, y) = g(x, y) + g(x, b.extent(in, 1) - 1 - y);
             if (b.scheduled) {
                 g.compute_root().pto_blocks(y).vectorize(x, 64);
                 f.pto_blocks(y).vectorize(x, 64);
             }
             return f;
         }});
    run({"three_kernels", [](Build &b) {
             ImageParam in = b.input<float>("in", {b.w + 2, b.h + 2});
             Func g = b.func("g"), k = b.func("k"), f = b.func("f");
             g(x, y) = in(x, y) + in(x + 1, y) + in(x + 2, y);
             k(x, y) = g(x, y) + g(x, y + 1) + g(x, y + 2);
             f(x, y) = k(x, y) * 0.125f;
             if (b.scheduled) {
                 g.compute_root().pto_blocks(y).vectorize(x, 64);
                 k.compute_root().pto_blocks(y).vectorize(x, 128);
                 f.pto_blocks(y).vectorize(x, 64);
             }
             return f;
         }});
    run({"sliding_rows", [](Build &b) {
             ImageParam in = b.input<float>("in", {b.w, b.h + 2});
             Func g = b.func("g"), f = b.func("f");
             g(x, y) = in(x, y) * 2.0f;
             f(x, y) = g(x, y) + g(x, y + 1) + g(x, y + 2);
             if (b.scheduled) {
                 f.split(x, xo, xi, 512).reorder(xi, y, xo).pto_blocks(xo).vectorize(xi, 64);
                 g.store_at(f, xo).compute_at(f, y).vectorize(x, 64);
             }
             return f;
         }});
    run({"whole_pipeline", [](Build &b) {
             ImageParam in = b.input<float>("in", {b.w, b.h});
             Func g = b.func("g"), f = b.func("f");
             g(x, y) = in(x, y) * 2.0f;
             f(x, y) = g(x, y) + 1.0f;
             if (b.scheduled) {
                 g.compute_root().vectorize(x, 64);
                 f.vectorize(x, 64);
             }
             return f;
         }});
}

TEST(PTOSuite, M4DoubleBuffering) {
    for (const Type &t : {Float(32), UInt(8)}) {
        run({"ring_" + name_of(t), [=](Build &b) {
                 ImageParam in = b.input("in", t, {b.w, b.h});
                 Func f = b.func("f");
                 f(x, y) = in(x, y) * in(x, y);
                 if (b.scheduled) {
                     f.split(x, xo, xi, 256).pto_blocks(y).vectorize(xi, 64);
                     in.in(f).compute_at(f, xo).hoist_storage(f, y).ring_buffer(2).async();
                 }
                 return f;
             }});
    }
    run({"two_rings", [](Build &b) {
             ImageParam u = b.input<float>("u", {b.w, b.h}), v = b.input<float>("v", {b.w, b.h});
             Func f = b.func("f");
             f(x, y) = u(x, y) * v(x, y) + 1.0f;
             if (b.scheduled) {
                 f.split(x, xo, xi, 256).pto_blocks(y).vectorize(xi, 64);
                 u.in(f).compute_at(f, xo).hoist_storage(f, y).ring_buffer(2).async();
                 v.in(f).compute_at(f, xo).hoist_storage(f, y).ring_buffer(3).async();
             }
             return f;
         }});
    run({"ring_over_rows", [](Build &b) {
             ImageParam in = b.input<int32_t>("in", {b.w, b.h});
             Func f = b.func("f");
             f(x, y) = in(x, y) + 5;
             if (b.scheduled) {
                 f.split(x, xo, xi, 1024).reorder(xi, y, xo).pto_blocks(xo).vectorize(xi, 64);
                 in.in(f).compute_at(f, y).hoist_storage(f, xo).ring_buffer(2).async();
             }
             return f;
         }});
}

TEST(PTOSuite, M4LargeRows) {
    Pipe p = {"rows_larger_than_ub", [](Build &b) {
                  ImageParam u = b.input<float>("u", {b.w, b.h}), v = b.input<float>("v", {b.w, b.h});
                  Func f = b.func("f");
                  f(x, y) = u(x, y) * v(x, y) - 2.0f;
                  if (b.scheduled) {
                      f.pto_blocks(y).vectorize(x, 64);
                  }
                  return f;
              }};
    p.widths = {70000, 20001};
    run(p);
    Pipe bytes = {"long_bursts", [](Build &b) {
                      ImageParam in = b.input<uint8_t>("in", {b.w, b.h});
                      Func f = b.func("f");
                      f(x, y) = in(x, y) ^ cast<uint8_t>(85);
                      if (b.scheduled) {
                          f.split(x, xo, xi, 100000).pto_blocks(y).vectorize(xi, 256);
                          in.in(f).compute_at(f, xo).store_in(MemoryType::UB);
                      }
                      return f;
                  }};
    bytes.widths = {100000, 130001};
    run(bytes);
}

// ---- M5

TEST(PTOSuite, M5Gathers) {
    for (const Type &t : {Float(32), Int(32), UInt(32), UInt(16), Int(16)}) {
        run({"table_" + name_of(t), [=](Build &b) {
                 ImageParam table = b.input("table", t, {128}), at = b.input<int32_t>("at", {b.w, b.h});
                 Func f = b.func("f");
                 f(x, y) = table(clamp(at(x, y) & 127, 0, 127)) + cast(t, 1);
                 if (b.scheduled) {
                     f.split(x, xo, xi, 1024).pto_blocks(y).vectorize(xi, 64);
                     table.in(f).compute_at(f, xo).store_in(MemoryType::UB);
                 }
                 return f;
             }});
    }
    run({"table_by_bytes", [](Build &b) {
             ImageParam table = b.input<float>("table", {256}), at = b.input<uint8_t>("at", {b.w, b.h});
             Func f = b.func("f");
             f(x, y) = table(cast<int32_t>(at(x, y))) * 2.0f;
             if (b.scheduled) {
                 f.split(x, xo, xi, 512).pto_blocks(y).vectorize(xi, 64);
                 table.in(f).compute_at(f, y).store_in(MemoryType::UB);
             }
             return f;
         }});
    run({"interpolated_table", [](Build &b) {
             ImageParam table = b.input<float>("table", {65}), in = b.input<float>("in", {b.w, b.h}, {Fill::Unit});
             Func f = b.func("f");
             Expr at = clamp((in(x, y) + 1.0f) * 32.0f, 0.0f, 63.0f), i = clamp(cast<int32_t>(at), 0, 63);
             Expr w = at - cast<float>(i);
             f(x, y) = table(i) * (1.0f - w) + table(i + 1) * w;
             if (b.scheduled) {
                 f.split(x, xo, xi, 512).pto_blocks(y).vectorize(xi, 64);
                 table.in(f).compute_at(f, y).store_in(MemoryType::UB);
             }
             return f;
         }});
    run({"computed_table", [](Build &b) {
             ImageParam in = b.input<uint8_t>("in", {b.w, b.h});
             Func lut = b.func("lut"), f = b.func("f");
             lut(x) = x * x + 3;
             f(x, y) = lut(cast<int32_t>(in(x, y)));
             if (b.scheduled) {
                 f.split(x, xo, xi, 512).pto_blocks(y).vectorize(xi, 64);
                 lut.compute_at(f, y).vectorize(x, 64);
             }
             return f;
         }});
    run({"reversed", [](Build &b) {
             ImageParam in = b.input<int32_t>("in", {b.w, b.h});
             Func f = b.func("f");
             f(x, y) = in(b.extent(in, 0) - 1 - x, y);
             if (b.scheduled) {
                 f.split(x, xo, xi, 256).pto_blocks(y).vectorize(xi, 64);
             }
             return f;
         }});
}

TEST(PTOSuite, M5Strides) {
    for (const Type &t : {Float(32), Int(32), UInt(16), UInt(8)}) {
        run({"every_second_" + name_of(t), [=](Build &b) {
                 ImageParam in = b.input("in", t, {b.w * 2, b.h});
                 Func f = b.func("f");
                 f(x, y) = in(2 * x, y) + in(2 * x + 1, y);
                 if (b.scheduled) {
                     f.split(x, xo, xi, 256).pto_blocks(xo, y).vectorize(xi, 2048 / t.bits());
                     in.in(f).compute_at(f, xo).store_in(MemoryType::UB);
                 }
                 return f;
             }});
    }
    run({"every_second_unstaged", [](Build &b) {
             ImageParam in = b.input<float>("in", {b.w * 2, b.h});
             Func f = b.func("f");
             f(x, y) = in(2 * x, y) - in(2 * x + 1, y);
             if (b.scheduled) {
                 f.split(x, xo, xi, 256).pto_blocks(xo, y).vectorize(xi, 64);
             }
             return f;
         }});
    run({"every_third", [](Build &b) {
             ImageParam in = b.input<int32_t>("in", {b.w * 3, b.h});
             Func f = b.func("f");
             f(x, y) = in(3 * x + 1, y);
             if (b.scheduled) {
                 f.split(x, xo, xi, 256).pto_blocks(xo, y).vectorize(xi, 64);
                 in.in(f).compute_at(f, xo).store_in(MemoryType::UB);
             }
             return f;
         }});
    run({"halved_image", [](Build &b) {
             ImageParam in = b.input<uint8_t>("in", {b.w * 2, b.h * 2});
             Func f = b.func("f");
             auto at = [&](Expr i, Expr j) { return cast<uint16_t>(in(i, j)); };
             f(x, y) = cast<uint8_t>((at(2 * x, 2 * y) + at(2 * x + 1, 2 * y) + at(2 * x, 2 * y + 1) + at(2 * x + 1, 2 * y + 1) + 2) / 4);
             if (b.scheduled) {
                 f.output_buffer().dim(0).set_min(0);
                 f.split(x, xo, xi, 512).pto_blocks(xo, y).vectorize(xi, 256);
                 in.in(f).compute_at(f, xo).store_in(MemoryType::UB);
             }
             return f;
         }, 2, 0, {300, 4096}});   // shorter rows are gathered in words, of which the emulator sees undefined bytes
    run({"upsampled", [](Build &b) {
             ImageParam in = b.input<int32_t>("in", {b.w / 2 + 1, b.h});
             Func f = b.func("f");
             f(x, y) = in(x / 2, y) + x % 2;
             if (b.scheduled) {
                 f.split(x, xo, xi, 256).pto_blocks(xo, y).vectorize(xi, 64);
                 in.in(f).compute_at(f, xo).store_in(MemoryType::UB);
             }
             return f;
         }});
    run({"transposed", [](Build &b) {
             ImageParam in = b.input<int32_t>("in", {b.h, b.w});
             Func f = b.func("f");
             f(x, y) = in(y, x) + 1;
             if (b.scheduled) {
                 f.split(x, xo, xi, 128).pto_blocks(xo, y).vectorize(xi, 64);
             }
             return f;
         }, 2, 0, {1, 63, 64, 65, 300}});
}

TEST(PTOSuite, M5Scatters) {
    run({"scatter_reversed", [](Build &b) {
             ImageParam in = b.input<int32_t>("in", {256, b.h});
             Func g = b.func("g"), f = b.func("f");
             RDom r(0, 256, "r");
             g(x, y) = 0;
             g(255 - r, y) = in(r, y) * 2;
             f(x, y) = g(x, y);
             if (b.scheduled) {
                 f.bound(x, 0, 256).split(x, xo, xi, 256).pto_blocks(y).vectorize(xi, 64);
                 g.compute_at(f, xo).vectorize(x, 64).bound_extent(x, 256).update().vectorize(r, 64);
             }
             return f;
         }, 2, 0, {256}});
    run({"scatter_stride", [](Build &b) {
             ImageParam in = b.input<float>("in", {100, b.h});
             Func g = b.func("g"), f = b.func("f");
             RDom r(0, 100, "r");
             g(x, y) = 1.0f;
             g(3 * r, y) = in(r, y);
             f(x, y) = g(x, y);
             if (b.scheduled) {
                 f.bound(x, 0, 300).split(x, xo, xi, 300).pto_blocks(y).vectorize(xi, 64);
                 g.compute_at(f, xo).vectorize(x, 64).bound_extent(x, 300).update().vectorize(r, 64);
             }
             return f;
         }, 2, 0, {300}});
}

TEST(PTOSuite, M5NarrowData) {
    run({"fp4_scale", [](Build &b) {
             ImageParam in = b.input<uint8_t>("in", {(b.w + 1) / 2, b.h});
             Expr scale = b.scalar("scale", Float(32), 0.75);
             Func f = b.func("f");
             f(x, y) = fp4_e2m1_to_float(in(x / 2, y), x % 2) * scale;
             f.output_buffer().dim(0).set_min(0);   // pairs begin with the low nibble
             if (b.scheduled) {
                 f.split(x, xo, xi, 1024).pto_blocks(y).vectorize(xi, 128);
                 in.in(f).compute_at(f, xo).store_in(MemoryType::UB);
             }
             return f;
         }});
    run({"fp4_e1m2", [](Build &b) {
             ImageParam in = b.input<uint8_t>("in", {(b.w + 1) / 2, b.h}), other = b.input<float>("other", {b.w, b.h});
             Func f = b.func("f");
             f(x, y) = fp4_e1m2_to_float(in(x / 2, y), x % 2) + other(x, y);
             f.output_buffer().dim(0).set_min(0);
             if (b.scheduled) {
                 f.split(x, xo, xi, 1024).pto_blocks(y).vectorize(xi, 128);
                 in.in(f).compute_at(f, xo).store_in(MemoryType::UB);
             }
             return f;
         }});
    run({"quantize_fp4", [](Build &b) {
             ImageParam in = b.input<float>("in", {b.w * 2, b.h});
             Func f = b.func("f");
             f(x, y) = float_to_fp4_e2m1(in(2 * x, y), in(2 * x + 1, y));
             if (b.scheduled) {
                 f.split(x, xo, xi, 512).pto_blocks(y).vectorize(xi, 64);
                 in.in(f).compute_at(f, xo).store_in(MemoryType::UB);
             }
             return f;
         }});
    run({"fp8_dot", [](Build &b) {
             ImageParam u = b.input<uint8_t>("u", {b.w, 16}, {Fill::Below, 100}), v = b.input<float>("v", {16});
             Func g = b.func("g"), f = b.func("f");
             RDom r(0, 16, "r");
             g(x) += fp8_e4m3_to_float(u(x, r)) * v(r);
             f(x) = g(x);
             if (b.scheduled) {
                 f.split(x, xo, xi, 256).pto_blocks(xo).vectorize(xi, 64);
                 g.compute_at(f, xo).vectorize(x, 64).update().reorder(x, r).vectorize(x, 64);
             }
             return f;
         }, 1});
    run({"int8_matmul", [](Build &b) {
             ImageParam a = b.input<int8_t>("a", {32, b.h}), m = b.input<int8_t>("m", {b.w, 32});
             Func g = b.func("g"), f = b.func("f");
             RDom r(0, 32, "r");
             g(x, y) += cast<int32_t>(a(r, y)) * cast<int32_t>(m(x, r));
             f(x, y) = cast<int8_t>(clamp((g(x, y) + 64) >> 7, -128, 127));
             if (b.scheduled) {
                 f.split(x, xo, xi, 128).pto_blocks(xo, y).vectorize(xi, 64);
                 g.compute_at(f, xo).vectorize(x, 64).update().reorder(x, r, y).vectorize(x, 64);
             }
             return f;
         }});
    run({"dequantize", [](Build &b) {
             ImageParam q = b.input<int8_t>("q", {b.w, b.h}), scale = b.input<float>("scale", {b.w / 32 + 1, b.h});
             Func f = b.func("f");
             f(x, y) = cast<float>(q(x, y)) * scale(x / 32, y);
             if (b.scheduled) {
                 f.split(x, xo, xi, 512).pto_blocks(y).vectorize(xi, 64);
                 scale.in(f).compute_at(f, xo).store_in(MemoryType::UB);
             }
             return f;
         }});
    run({"alpha_blend", [](Build &b) {
             ImageParam u = b.input<uint8_t>("u", {b.w, b.h}), v = b.input<uint8_t>("v", {b.w, b.h}), a = b.input<uint8_t>("a", {b.w, b.h});
             Func f = b.func("f");
             Expr alpha = cast<uint16_t>(a(x, y));
             f(x, y) = cast<uint8_t>((cast<uint16_t>(u(x, y)) * alpha + cast<uint16_t>(v(x, y)) * (255 - alpha)) / 255);
             if (b.scheduled) {
                 f.split(x, xo, xi, 512).pto_blocks(y).vectorize(xi, 128);
             }
             return f;
         }});
    run({"quantize_u8", [](Build &b) {
             ImageParam in = b.input<float>("in", {b.w, b.h});
             Func f = b.func("f");
             f(x, y) = saturating_cast<uint8_t>(round(in(x, y) * 16.0f + 128.0f));
             if (b.scheduled) {
                 f.split(x, xo, xi, 1024).pto_blocks(y).vectorize(xi, 256);
             }
             return f;
         }});
    run({"nibbles", [](Build &b) {
             ImageParam in = b.input<uint8_t>("in", {b.w, b.h}, {Fill::Bits});
             Func f = b.func("f");
             f(x, y) = cast<float>(cast<int32_t>(in(x, y) & 15) - 8) + cast<float>(in(x, y) >> 4);
             if (b.scheduled) {
                 f.split(x, xo, xi, 1024).pto_blocks(y).vectorize(xi, 64);
             }
             return f;
         }});
}

}  // namespace
