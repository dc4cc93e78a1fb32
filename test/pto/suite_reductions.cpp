// M3 and M6: reductions over lanes and over serial loops, rows end to end, accumulators that live across loops.

#include "Suite.h"

#include <gtest/gtest.h>

namespace {

using namespace bromide;

const Var x("x"), y("y"), xo("xo"), xi("xi"), u("u");

const auto one_per_row = [](int, int h) { return std::vector<int>{h}; };

/// A float sum of n terms in any order is within n·2⁻²⁴·Σ|terms|.
Expr slack(const Expr &n, const Expr &magnitude) {
    return cast<float>(n) * 0x1p-24f * magnitude;
}

std::string name_of(const Type &type) {
    return (type.is_bfloat() ? "bf" : type.is_float() ? "f" : type.is_int() ? "i" : "u") + std::to_string(type.bits());
}

TEST(PTOSuite, M3RowSums) {
    for (const Type &t : {Int(8), UInt(8), Int(16), UInt(16), Int(32), UInt(32), Float(32), Float(16)}) {
        Pipe p = {"row_sum_" + name_of(t), [=](Build &b) {
                      ImageParam in = b.input("in", t, {b.w, b.h}, {t == Float(16) ? Fill::Unit : Fill::Numbers});
                      const Type wide = t.is_float() ? Float(32) : t.is_int() ? Int(32) : UInt(32);
                      RDom r(0, b.extent(in, 0), "r");
                      Func sum = b.func("sum"), f = b.func("f");
                      sum(y) += cast(wide, in(r, y));
                      f(y) = sum(y) + cast(wide, 1);
                      if (t.is_float()) {
                          Func a = b.func("a");
                          a(y) += abs(cast<float>(in(r, y)));
                          b.allowed = b.func("allowed");
                          b.allowed(y) = slack(b.extent(in, 0) + 1, a(y) + 1.0f);
                      }
                      if (b.scheduled) {
                          f.pto_blocks(y);
                          sum.compute_at(f, y).update().atomic().vectorize(r, 64);
                      }
                      return f;
                  }};
        p.output = one_per_row;
        run(p);
    }
}

TEST(PTOSuite, M3RowExtremes) {
    for (const Type &t : {Int(8), UInt(8), Int(16), UInt(16), Int(32), UInt(32), Float(32), Float(16)}) {
        for (bool most : {false, true}) {
            Pipe p = {(most ? "row_max_" : "row_min_") + name_of(t), [=](Build &b) {
                          ImageParam in = b.input("in", t, {b.w, b.h});
                          RDom r(0, b.extent(in, 0), "r");
                          Func m = b.func("m"), f = b.func("f");
                          m(y) = most ? t.min() : t.max();
                          m(y) = most ? max(m(y), in(r, y)) : min(m(y), in(r, y));
                          f(y) = m(y);
                          if (b.scheduled) {
                              f.pto_blocks(y);
                              m.compute_at(f, y).update().atomic().vectorize(r, 64);
                          }
                          return f;
                      }};
            p.output = one_per_row;
            run(p);
        }
    }
}

TEST(PTOSuite, M3AnyAllArgmax) {
    for (bool any : {true, false}) {
        Pipe p = {any ? "any" : "all", [=](Build &b) {
                      ImageParam in = b.input<int32_t>("in", {b.w, b.h});
                      RDom r(0, b.extent(in, 0), "r");
                      Func m = b.func("m"), f = b.func("f");
                      m(y) = cast<bool>(Expr(any ? 0 : 1));
                      m(y) = any ? m(y) || in(r, y) > 990000 : m(y) && in(r, y) > -990000;
                      f(y) = cast<uint8_t>(m(y));
                      if (b.scheduled) {
                          f.pto_blocks(y);
                          m.compute_at(f, y).update().atomic().vectorize(r, 64);
                      }
                      return f;
                  }};
        p.output = one_per_row;
        run(p);
    }
    for (const Type &t : {Float(32), Int(32), UInt(8)}) {
        for (bool most : {true, false}) {
            // The place of the extreme: pass 1 finds it, pass 2 the first index where it is.
            Pipe p = {(most ? "argmax_" : "argmin_") + name_of(t), [=](Build &b) {
                          ImageParam in = b.input("in", t, {b.w, b.h});
                          RDom r(0, b.extent(in, 0), "r"), q(0, b.extent(in, 0), "q");
                          Func m = b.func("m"), at = b.func("at"), f = b.func("f");
                          m(y) = most ? t.min() : t.max();
                          m(y) = most ? max(m(y), in(r, y)) : min(m(y), in(r, y));
                          at(y) = 1 << 20;
                          at(y) = min(at(y), select(in(q, y) == m(y), q, 1 << 20));
                          f(y) = at(y);
                          if (b.scheduled) {
                              f.pto_blocks(y);
                              m.compute_at(f, y).update().atomic().vectorize(r, 64);
                              at.compute_at(f, y).update().atomic().vectorize(q, 64);
                          }
                          return f;
                      }};
            p.output = one_per_row;
            run(p);
        }
        // The language's own argmax, its loop serial.
        Pipe p = {"argmax_tuple_" + name_of(t), [=](Build &b) {
                      ImageParam in = b.input("in", t, {b.w, 9});
                      RDom r(0, 9, "r");
                      Func f = b.func("f");
                      f(x) = argmax(in(x, r), "am")[0];
                      if (b.scheduled) {
                          f.vectorize(x, 64);
                      }
                      return f;
                  }, 1};
        run(p);
    }
}

TEST(PTOSuite, M3Rows) {
    run({"minus_row_max", [](Build &b) {
             ImageParam in = b.input<float>("in", {b.w, b.h});
             RDom r(0, b.extent(in, 0), "r");
             Func m = b.func("m"), f = b.func("f");
             m(y) = -1e30f;
             m(y) = max(m(y), in(r, y));
             f(x, y) = in(x, y) - m(y);
             if (b.scheduled) {
                 f.pto_blocks(y).vectorize(x, 64);
                 m.compute_at(f, y).update().atomic().vectorize(r, 64);
             }
             return f;
         }});
    run({"centred_i32", [](Build &b) {
             ImageParam in = b.input<int16_t>("in", {b.w, b.h});
             RDom r(0, b.extent(in, 0), "r");
             Func s = b.func("s"), f = b.func("f");
             s(y) += cast<int32_t>(in(r, y));
             f(x, y) = cast<int32_t>(in(x, y)) * 4 - (s(y) >> 4);
             if (b.scheduled) {
                 f.pto_blocks(y).vectorize(x, 64);
                 s.compute_at(f, y).update().atomic().vectorize(r, 64);
             }
             return f;
         }});
    Pipe softmax = {"softmax", [](Build &b) {
                        ImageParam in = b.input<float>("in", {b.w, b.h}, {Fill::Unit});
                        RDom r(0, b.extent(in, 0), "r"), q(0, b.extent(in, 0), "q");
                        Func m = b.func("m"), e = b.func("e"), s = b.func("s"), f = b.func("f");
                        m(y) = -1e30f;
                        m(y) = max(m(y), in(r, y));
                        e(x, y) = exp(in(x, y) - m(y));
                        s(y) += e(q, y);
                        f(x, y) = e(x, y) / s(y);
                        b.allowed = b.func("allowed");
                        b.allowed(x, y) = slack(b.extent(in, 0) + 8, abs(f(x, y)));
                        if (b.scheduled) {
                            f.pto_blocks(y).vectorize(x, 64);
                            m.compute_at(f, y).update().atomic().vectorize(r, 64);
                            s.compute_at(f, y).update().atomic().vectorize(q, 64);
                            e.compute_at(f, y).vectorize(x, 64).bound_storage(x, 4096);
                        }
                        return f;
                    }, 2, 8};
    run(softmax);
    Pipe layer_norm = {"layer_norm", [](Build &b) {
                           ImageParam in = b.input<float>("in", {b.w, b.h}), gain = b.input<float>("gain", {b.w}),
                                      bias = b.input<float>("bias", {b.w});
                           Expr n = cast<float>(b.extent(in, 0));
                           RDom r(0, b.extent(in, 0), "r"), q(0, b.extent(in, 0), "q");
                           Func s = b.func("s"), v = b.func("v"), f = b.func("f"), mean = b.func("mean"), scale = b.func("scale");
                           s(y) += in(r, y);
                           mean(y) = s(y) / n;
                           v(y) += (in(q, y) - mean(y)) * (in(q, y) - mean(y));
                           scale(y) = 1.0f / sqrt(v(y) / n + 1e-5f);
                           f(x, y) = (in(x, y) - mean(y)) * scale(y) * gain(x) + bias(x);
                           Func a = b.func("a");
                           a(y) += abs(in(r, y));
                           b.allowed = b.func("allowed");
                           // Relative to the largest value of a row; a row of one element is its bias, whatever its scale.
                           b.allowed(x, y) = slack(b.extent(in, 0) + 16, 64.0f * (abs(gain(x)) * scale(y) * a(y) / n + abs(bias(x)))) +
                                             select(b.extent(in, 0) == 1, 1e-2f, 0.0f);
                           if (b.scheduled) {
                               f.pto_blocks(y).vectorize(x, 64);
                               s.compute_at(f, y).update().atomic().vectorize(r, 64);
                               v.compute_at(f, y).update().atomic().vectorize(q, 64);
                               mean.compute_at(f, y);
                               scale.compute_at(f, y);
                           }
                           return f;
                       }, 2, 16};
    run(layer_norm);
    Pipe rms = {"rms_norm", [](Build &b) {
                    ImageParam in = b.input<float>("in", {b.w, b.h});
                    RDom r(0, b.extent(in, 0), "r");
                    Func s = b.func("s"), f = b.func("f");
                    s(y) += in(r, y) * in(r, y);
                    f(x, y) = in(x, y) / sqrt(s(y) / cast<float>(b.extent(in, 0)) + 1e-6f);
                    b.allowed = b.func("allowed");
                    b.allowed(x, y) = slack(b.extent(in, 0) + 8, abs(f(x, y)));
                    if (b.scheduled) {
                        f.pto_blocks(y).vectorize(x, 64);
                        s.compute_at(f, y).update().atomic().vectorize(r, 64);
                    }
                    return f;
                }, 2, 8};
    run(rms);
    Pipe dot = {"dot_products", [](Build &b) {
                    ImageParam p = b.input<int8_t>("p", {b.w, b.h}), q = b.input<int8_t>("q", {b.w});
                    RDom r(0, b.extent(p, 0), "r");
                    Func s = b.func("s"), f = b.func("f");
                    s(y) += cast<int32_t>(p(r, y)) * cast<int32_t>(q(r));
                    f(y) = s(y);
                    if (b.scheduled) {
                        f.pto_blocks(y);
                        s.compute_at(f, y).update().atomic().vectorize(r, 64);
                    }
                    return f;
                }};
    dot.output = one_per_row;
    run(dot);
}

// ---- M6

TEST(PTOSuite, M6Accumulators) {
    Pipe partial = {"rfactor_sum", [](Build &b) {
                        ImageParam in = b.input<int32_t>("in", {b.w, b.h});
                        RDom r(0, b.extent(in, 0), "r");
                        RVar ro("ro"), ri("ri");
                        Func s = b.func("s"), f = b.func("f");
                        s(y) += in(r, y);
                        f(y) = s(y);
                        if (b.scheduled) {
                            f.pto_blocks(y);
                            s.compute_at(f, y).update().split(r, ro, ri, 64);
                            Func part = s.update().rfactor(ri, u);
                            part.compute_at(f, y).vectorize(u, 64).update().vectorize(u, 64);
                            s.update().atomic().vectorize(ri, 64);
                        }
                        return f;
                    }};
    partial.output = one_per_row;
    run(partial);
    Pipe lanes = {"lane_accumulators", [](Build &b) {
                      // One accumulator per lane, combined by a second Func.
                      ImageParam in = b.input<float>("in", {64 * 8, b.w});
                      RDom r(0, 8, "r"), q(0, 64, "q");
                      Func part = b.func("part"), s = b.func("s"), f = b.func("f"), a = b.func("a");
                      part(x, y) += in(x + r * 64, y);
                      s(y) += part(q, y);
                      f(y) = s(y);
                      RDom all(0, 512, "all");
                      a(y) += abs(in(all, y));
                      b.allowed = b.func("allowed");
                      b.allowed(y) = slack(512, a(y));
                      if (b.scheduled) {
                          f.pto_blocks(y);
                          part.compute_at(f, y).vectorize(x, 64).update().vectorize(x, 64);
                          s.compute_at(f, y).update().atomic().vectorize(q, 64);
                      }
                      return f;
                  }, 1};
    lanes.widths = {1, 7, 64};
    run(lanes);
    Pipe tuple = {"sum_and_maximum", [](Build &b) {
                      ImageParam in = b.input<int32_t>("in", {b.w, 12});
                      RDom r(0, 12, "r");
                      Func g = b.func("g"), f = b.func("f");
                      g(x) = Tuple(0, Int(32).min());
                      g(x) = Tuple(g(x)[0] + in(x, r), max(g(x)[1], in(x, r)));
                      f(x) = g(x)[0] ^ g(x)[1];
                      if (b.scheduled) {
                          f.split(x, xo, xi, 256).pto_blocks(xo).vectorize(xi, 64);
                          g.compute_at(f, xo).vectorize(x, 64).update().reorder(x, r).vectorize(x, 64);
                      }
                      return f;
                  }, 1};
    run(tuple);
    Pipe welford = {"welford", [](Build &b) {
                        // Mean and squared deviation of each column in one pass.
                        ImageParam in = b.input<float>("in", {b.w, 16});
                        RDom r(0, 16, "r");
                        Func g = b.func("g"), f = b.func("f");
                        g(x) = Tuple(0.0f, 0.0f);
                        Expr mean = g(x)[0], delta = in(x, r) - mean, next = mean + delta / cast<float>(r + 1);
                        g(x) = Tuple(next, g(x)[1] + delta * (in(x, r) - next));
                        f(x) = g(x)[1] / 16.0f + g(x)[0];
                        b.allowed = b.func("allowed");
                        b.allowed(x) = 1e-5f * abs(f(x)) + 1e-5f;
                        if (b.scheduled) {
                            f.split(x, xo, xi, 256).pto_blocks(xo).vectorize(xi, 64);
                            g.compute_at(f, xo).vectorize(x, 64).update().reorder(x, r).vectorize(x, 64);
                        }
                        return f;
                    }, 1, 8};
    run(welford);
    Pipe online = {"online_softmax", [](Build &b) {
                       // Per column: the running maximum and the sum of exponentials relative to it, in one pass.
                       ImageParam in = b.input<float>("in", {b.w, 16}, {Fill::Unit});
                       RDom r(0, 16, "r");
                       Func g = b.func("g"), f = b.func("f");
                       g(x) = Tuple(-1e30f, 0.0f);
                       Expr m = max(g(x)[0], in(x, r));
                       g(x) = Tuple(m, g(x)[1] * exp(g(x)[0] - m) + exp(in(x, r) - m));
                       f(x, y) = exp(in(x, y) - g(x)[0]) / g(x)[1];
                       b.allowed = b.func("allowed");
                       b.allowed(x, y) = 1e-5f * abs(f(x, y));
                       if (b.scheduled) {
                           f.split(x, xo, xi, 256).reorder(xi, y, xo).pto_blocks(xo).vectorize(xi, 64);
                           g.compute_at(f, xo).vectorize(x, 64).update().reorder(x, r).vectorize(x, 64);
                       }
                       return f;
                   }, 2, 16};
    online.output = [](int w, int) { return std::vector<int>{w, 16}; };
    run(online);
    Pipe moments = {"moments", [](Build &b) {
                        ImageParam in = b.input<int16_t>("in", {b.w, b.h});
                        RDom r(0, b.extent(in, 0), "r"), q(0, b.extent(in, 0), "q");
                        Func s = b.func("s"), t = b.func("t"), f = b.func("f");
                        s(y) += cast<int32_t>(in(r, y));
                        t(y) += cast<int32_t>(in(q, y)) * cast<int32_t>(in(q, y) >> 8);
                        f(y) = s(y) ^ t(y);
                        if (b.scheduled) {
                            f.pto_blocks(y);
                            s.compute_at(f, y).update().atomic().vectorize(r, 64);
                            t.compute_at(f, y).update().atomic().vectorize(q, 64);
                        }
                        return f;
                    }};
    moments.output = one_per_row;
    run(moments);
    Pipe carried = {"sum_over_tiles", [](Build &b) {
                        ImageParam in = b.input<int32_t>("in", {b.w, 40});
                        RDom r(0, 40, "r");
                        RVar ro("ro"), ri("ri");
                        Func s = b.func("s"), f = b.func("f");
                        s(x) = 0;
                        s(x) += in(x, r);
                        f(x) = s(x);
                        if (b.scheduled) {
                            f.split(x, xo, xi, 128).pto_blocks(xo).vectorize(xi, 64);
                            s.compute_at(f, xo).vectorize(x, 64).update().split(r, ro, ri, 8).reorder(x, ri, ro).vectorize(x, 64);
                            in.in(s).compute_at(s, ro).store_in(MemoryType::UB);
                        }
                        return f;
                    }, 1};
    run(carried);
}

}  // namespace
