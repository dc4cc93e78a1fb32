#include "cases.h"

#include "api/BoundaryConditions.h"
#include "api/ConciseCasts.h"
#include "api/ImageParam.h"
#include "api/InlineReductions.h"
#include "api/RDom.h"
#include "ir/IROperator.h"

namespace cross {

using namespace Halide;

namespace {

const std::vector<Type> types = {Int(8), UInt(16), Int(32), UInt(64), Float(16), Float(32), Float(64)};

std::string name_of(const Type &t) {
    return (t.is_float() ? "f" : t.is_int() ? "i" : "u") + std::to_string(t.bits());
}

int lanes_of(const Type &t) {
    return 128 / t.bits();
}

void add_accesses(std::vector<Case> &cases) {
    for (const Type &t : types) {
        const int lanes = 2 * lanes_of(t);
        // Strides: interleaved loads, and those that have no instruction.
        for (int stride : {-1, 2, 3, 4, 5}) {
            cases.push_back({"stride_" + std::string(stride < 0 ? "reverse" : std::to_string(stride)) + "_" + name_of(t),
                             [=](bool scheduled) {
                                 Var x("x");
                                 ImageParam in(t, 1, "in");
                                 Func f("f");
                                 f(x) = stride < 0 ? in(300 - x) : in(stride * x) + in(stride * x + stride - 1);
                                 if (scheduled) {
                                     f.vectorize(x, lanes, TailStrategy::GuardWithIf);
                                 }
                                 return f;
                             },
                             {203}});
        }
        // Channels in memory side by side: interleaved stores.
        for (int channels : {2, 3, 4}) {
            cases.push_back({"interleave_" + std::to_string(channels) + "_" + name_of(t),
                             [=](bool scheduled) {
                                 Var x("x"), c("c");
                                 ImageParam in(t, 2, "in");
                                 Func f("f");
                                 f(c, x) = in(x, c) + cast(t, c);
                                 if (scheduled) {
                                     f.bound(c, 0, channels).reorder(c, x).unroll(c).vectorize(x, lanes, TailStrategy::GuardWithIf);
                                 }
                                 return f;
                             },
                             {channels, 101}});
        }
        cases.push_back({"transpose_" + name_of(t),
                         [=](bool scheduled) {
                             Var x("x"), y("y"), xo("xo"), yo("yo"), xi("xi"), yi("yi");
                             ImageParam in(t, 2, "in");
                             Func f("f");
                             f(x, y) = in(y, x);
                             if (scheduled) {
                                 f.tile(x, y, xo, yo, xi, yi, 8, 8, TailStrategy::GuardWithIf).vectorize(xi).unroll(yi);
                             }
                             return f;
                         },
                         {37, 29}});
        cases.push_back({"gather_" + name_of(t),
                         [=](bool scheduled) {
                             Var x("x");
                             ImageParam in(t, 1, "in"), places(UInt(16), 1, "places");
                             Func f("f");
                             f(x) = in(cast<int>(places(x) % 256));
                             if (scheduled) {
                                 f.vectorize(x, lanes, TailStrategy::Predicate);
                             }
                             return f;
                         },
                         {203}});
        cases.push_back({"scatter_" + name_of(t),
                         [=](bool scheduled) {
                             Var x("x");
                             RDom r(0, 200, "r");
                             ImageParam in(t, 1, "in");
                             Func f("f");
                             f(x) = cast(t, 0);
                             f((r * 77) % 203) = in(r);
                             if (scheduled) {
                                 f.vectorize(x, lanes, TailStrategy::GuardWithIf);
                                 f.update().allow_race_conditions().vectorize(r, lanes, TailStrategy::GuardWithIf);
                             }
                             return f;
                         },
                         {203}});
        for (TailStrategy tail : {TailStrategy::RoundUp, TailStrategy::GuardWithIf, TailStrategy::Predicate,
                                  TailStrategy::PredicateLoads, TailStrategy::PredicateStores, TailStrategy::ShiftInwards,
                                  TailStrategy::ShiftInwardsAndBlend, TailStrategy::RoundUpAndBlend}) {
            cases.push_back({"tail_" + std::to_string((int)tail) + "_" + name_of(t),
                             [=](bool scheduled) {
                                 Var x("x"), y("y");
                                 ImageParam in(t, 2, "in");
                                 Func clamped = BoundaryConditions::repeat_edge(in, {{0, 40}, {0, 20}});
                                 Func f("f");
                                 f(x, y) = clamped(x, y) + clamped(x + 1, y);
                                 if (scheduled) {
                                     f.vectorize(x, lanes, tail);
                                 }
                                 return f;
                             },
                             {37, 9}});
        }
    }
}

void add_reductions(std::vector<Case> &cases) {
    for (const Type &t : {Int(8), UInt(8), Int(16), UInt(16), Int(32), UInt(32)}) {
        const Type wide = Int(32).with_code(t.code());
        // Products of bytes are what the dot product instructions take.
        for (const std::string features : {"", "arm_dot_prod"}) {
            cases.push_back({std::string(features.empty() ? "" : "native_") + "dot_" + name_of(t),
                             [=](bool scheduled) {
                                 Var x("x");
                                 ImageParam a(t, 2, "a"), b(t, 2, "b");
                                 RDom r(0, 64, "r");
                                 Func dot("dot"), f("f");
                                 const auto term = [&](ImageParam &p) { return cast(wide, t.bits() == 32 ? p(r, x) >> 20 : Expr(p(r, x))); };
                                 dot(x) = cast(wide, 1);
                                 dot(x) += (t.bits() == 16 ? term(a) >> 4 : term(a)) * term(b);
                                 f(x) = dot(x);
                                 if (scheduled) {
                                     RVar ro("ro"), ri("ri");
                                     dot.compute_at(f, x);
                                     dot.update().split(r, ro, ri, 16).atomic().vectorize(ri);
                                 }
                                 return f;
                             },
                             {11}, 0, features});
        }
        cases.push_back({"pairwise_" + name_of(t),
                         [=](bool scheduled) {
                             Var x("x");
                             ImageParam a(t, 1, "a");
                             RDom r(0, 2, "r");
                             Func f("f");
                             f(x) = cast(t.bits() < 32 ? t.widen() : t, 0);
                             f(x) += cast(t.bits() < 32 ? t.widen() : t, t.bits() < 32 ? Expr(a(2 * x + r)) : a(2 * x + r) >> 3);
                             if (scheduled) {
                                 f.update().reorder(r, x).atomic().vectorize(r).vectorize(x, 8, TailStrategy::GuardWithIf);
                             }
                             return f;
                         },
                         {61}});
        for (int kind = 0; kind < 3; kind++) {
            cases.push_back({"reduce_" + std::to_string(kind) + "_" + name_of(t),
                             [=](bool scheduled) {
                                 Var x("x");
                                 ImageParam a(t, 2, "a");
                                 RDom r(0, 100, "r");
                                 Func f("f");
                                 const Expr e = t.bits() == 32 ? a(r, x) >> 8 : Expr(a(r, x));
                                 f(x) = e.type().is_int() ? cast(t, 0) : cast(t, 3);
                                 f(x) = kind == 0 ? f(x) + e : kind == 1 ? min(f(x), e) : max(f(x), e);
                                 if (scheduled) {
                                     f.update().atomic().vectorize(r, 16, TailStrategy::GuardWithIf);
                                 }
                                 return f;
                             },
                             {9}});
        }
    }
    for (const Type &t : {Float(32), Float(64)}) {
        // Sums of small integers: exact in any order.
        cases.push_back({"reduce_sum_" + name_of(t),
                         [=](bool scheduled) {
                             Var x("x");
                             ImageParam a(UInt(8), 2, "a");
                             RDom r(0, 100, "r");
                             Func f("f");
                             f(x) = cast(t, 0);
                             f(x) += cast(t, a(r, x));
                             if (scheduled) {
                                 f.update().atomic().vectorize(r, 8, TailStrategy::GuardWithIf);
                             }
                             return f;
                         },
                         {9}});
    }
}

void add_parallel(std::vector<Case> &cases) {
    cases.push_back({"parallel_rows",
                     [](bool scheduled) {
                         Var x("x"), y("y");
                         ImageParam in(UInt(16), 2, "in");
                         Func blur_x("blur_x"), f("f");
                         blur_x(x, y) = (in(x, y) + in(x + 1, y) + in(x + 2, y)) / cast<uint16_t>(3);
                         f(x, y) = (blur_x(x, y) + blur_x(x, y + 1) + blur_x(x, y + 2)) / cast<uint16_t>(3);
                         if (scheduled) {
                             Var yi("yi");
                             f.split(y, y, yi, 8).parallel(y).vectorize(x, 8);
                             blur_x.store_at(f, y).compute_at(f, yi).vectorize(x, 8);
                         }
                         return f;
                     },
                     {61, 43}});
    cases.push_back({"nested_parallel",
                     [](bool scheduled) {
                         Var x("x"), y("y");
                         ImageParam in(Int(32), 2, "in");
                         Func g("g"), f("f");
                         g(x, y) = in(x, y) / 3;
                         f(x, y) = g(x, y) - g(x + 1, y);
                         if (scheduled) {
                             g.compute_at(f, y).parallel(x, 8);
                             f.parallel(y);
                         }
                         return f;
                     },
                     {33, 21}});
    cases.push_back({"async_producer",
                     [](bool scheduled) {
                         Var x("x"), y("y");
                         ImageParam in(UInt(8), 2, "in");
                         Func g("g"), f("f");
                         g(x, y) = in(x, y) * cast<uint8_t>(3);
                         f(x, y) = g(x, y) + g(x, y + 1);
                         if (scheduled) {
                             g.store_root().compute_at(f, y).async();
                         }
                         return f;
                     },
                     {33, 21}});
    for (const Type &t : {UInt(8), UInt(16), Int(32), UInt(64), Float(32)}) {
        cases.push_back({"atomic_histogram_" + name_of(t),
                         [=](bool scheduled) {
                             Var x("x");
                             ImageParam in(UInt(8), 2, "in");
                             RDom r(0, 50, 0, 20, "r");
                             Func f("f");
                             f(x) = cast(t, 0);
                             f(cast<int>(in(r.x, r.y) % 16)) += cast(t, 1);
                             if (scheduled) {
                                 f.update().atomic().parallel(r.y);
                             }
                             return f;
                         },
                         {16}});
    }
    // No instruction updates two values at once: a lock per element.
    cases.push_back({"atomic_tuple",
                     [](bool scheduled) {
                         Var x("x");
                         ImageParam in(UInt(8), 2, "in");
                         RDom r(0, 50, 0, 20, "r");
                         Func g("g"), f("f");
                         g(x) = Tuple(0, 0);
                         const Expr place = cast<int>(in(r.x, r.y) % 16);
                         g(place) = Tuple(g(place)[0] + 1, max(g(place)[1], cast<int>(in(r.x, r.y))));
                         f(x) = g(x)[0] * 1000 + g(x)[1];
                         if (scheduled) {
                             g.compute_root();
                             g.update().atomic().parallel(r.y);
                         }
                         return f;
                     },
                     {16}});
    cases.push_back({"parallel_reduction",
                     [](bool scheduled) {
                         Var x("x"), u("u");
                         ImageParam in(UInt(8), 2, "in");
                         RDom r(0, 96, 0, 8, "r");
                         Func total("total"), f("f");
                         total() = cast<uint32_t>(0);
                         total() += cast<uint32_t>(in(r.x, r.y));
                         f(x) = total() + cast<uint32_t>(x);
                         if (scheduled) {
                             total.compute_root();
                             Func part = total.update().rfactor(r.y, u);
                             part.compute_root().parallel(u).update().parallel(u).atomic().vectorize(r.x, 16);
                         }
                         return f;
                     },
                     {5}});
}

}  // namespace

std::vector<Case> memory_cases() {
    std::vector<Case> cases;
    add_accesses(cases);
    add_reductions(cases);
    add_parallel(cases);
    return cases;
}

}  // namespace cross
