// Pipelines under many schedules: after each pass of lowering, from the one at which all regions are known, the statement is
// interpreted, and must give what plain loops give. Parallel loops run in three orders. This finds the pass that breaks a
// program, not only that one does.

#include "api/BoundaryConditions.h"
#include "api/Func.h"
#include "api/ImageParam.h"
#include "api/InlineReductions.h"
#include "api/RDom.h"
#include "api/Tuple.h"
#include "api/Var.h"
#include "interp/Interpreter.h"
#include "ir/IRText.h"
#include "ir/IRVisitor.h"
#include "ir/Target.h"
#include "lower/Pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace {

using namespace Halide;
using namespace Halide::Internal;

constexpr int width = 21, height = 13;
Var x("x"), y("y"), xo("xo"), xi("xi"), yo("yo"), yi("yi"), u("u"), v("v"), t("t");

/// A small picture, larger than the output on all sides.
Buffer<uint8_t> picture() {
    static Buffer<uint8_t> image = [] {
        Buffer<uint8_t> b(width + 24, height + 24, "picture");
        b.set_min(-12, -12);
        b.fill([](int i, int j) { return (uint8_t)((i * 37 + j * 91 + i * j * 5) & 255); });
        return b;
    }();
    return image;
}

int pixel(int i, int j) {
    return picture()(i, j);
}

using Expected = std::function<int64_t(int, int)>;

/// Compares the output with the expectation; says where it differs first.
std::string difference(const Buffer<> &out, const Expected &expected) {
    std::string text;
    for (int j = 0; j < height && text.empty(); j++) {
        for (int i = 0; i < width && text.empty(); i++) {
            const int64_t got = out.type() == UInt(8) ? out.as<uint8_t>()(i, j) :
                                out.type() == Int(16) ? out.as<int16_t>()(i, j) :
                                                        out.as<int32_t>()(i, j);
            if (got != expected(i, j)) {
                text = "at (" + std::to_string(i) + ", " + std::to_string(j) + "): " + std::to_string(got) +
                       ", expected " + std::to_string(expected(i, j));
            }
        }
    }
    return text;
}

bool has_parallel_loops(const Stmt &s) {
    bool found = false;
    visit_with(s, [&](auto *self, const For *op) {
        found |= op->is_unordered_parallel();
        self->visit_base(op);
    });
    return found;
}

/// The output, with room for what a schedule may write beyond the part that is compared.
struct Size {
    int width = ::width, height = ::height;
};

void check_passes(const std::string &what, Func f, const Expected &expected, const Size &size) {
    const Target target("x86-64-linux-sse41-avx-avx2-f16c-fma");
    LowerContext ctx = make_lower_context({f.function()}, "pipeline", target, {}, {}, false, {});
    Stmt s;
    std::string previous;
    for (const Pass &pass : lowering_passes()) {
        if (pass.gives == Level::Closed) {
            break;
        }
        if (pass.applies && !pass.applies(ctx)) {
            continue;
        }
        s = pass.run(s, ctx);
        if (previous.empty() && pass.name != std::string("allocation-bounds")) {
            continue;
        }
        using Order = Interpreter::ParallelOrder;
        std::vector<Order> orders = {Order::Ascending};
        if (has_parallel_loops(s)) {
            orders = {Order::Ascending, Order::Descending, Order::Shuffled};
        }
        for (Order order : orders) {
            Buffer<> out(f.type(), {size.width, size.height}, f.name());
            Interpreter interp;
            interp.set_parallel_order(order, 1);
            interp.set_buffer(f.name(), out);
            interp.set_buffer("picture", picture());
            std::string problem;
            try {
                const int code = interp.run(s);
                problem = code ? "error " + std::to_string(code) + ": " + interp.error_message() :
                                 difference(out, expected);
                const bool is_padded = size.width != width || size.height != height;
                if (problem.empty() && !is_padded && interp.undefined_elements(f.name())) {
                    problem = "some elements depend on undefined values";
                }
            } catch (const InterpreterFault &fault) {
                problem = fault.what();
            }
            if (!problem.empty()) {
                ADD_FAILURE() << what << ": wrong after " << pass.name << " (and right after "
                              << (previous.empty() ? "nothing" : previous) << "), order " << (int)order << ": "
                              << problem;
                if (!get_env_variable("BROMIDE_PRINT").empty()) {
                    std::cerr << to_text(s);
                }
                return;
            }
        }
        previous = pass.name;
    }
}

/// Builds a pipeline, runs the passes on it and interprets after each.
void check(const std::string &what, const std::function<Func()> &build, const Expected &expected,
           const Size &size = Size()) {
    try {
        check_passes(what, build(), expected, size);
    } catch (const Error &e) {
        ADD_FAILURE() << what << ": " << e.what();
    }
}

/// A schedule for the last stage of any two-dimensional Func.
struct Schedule {
    const char *name;
    std::function<void(Func)> apply;
};

const std::vector<Schedule> &output_schedules() {
    static const std::vector<Schedule> schedules = {
        {"plain", [](Func f) {}},
        {"vectorized", [](Func f) { f.vectorize(x, 8); }},
        {"vectorized by 4, guarded", [](Func f) { f.vectorize(x, 4, TailStrategy::GuardWithIf); }},
        {"vectorized by 5, predicated", [](Func f) { f.vectorize(x, 5, TailStrategy::Predicate); }},
        {"vectorized by 8, shifted", [](Func f) { f.vectorize(x, 8, TailStrategy::ShiftInwards); }},
        {"vectorized, predicated stores", [](Func f) { f.vectorize(x, 8, TailStrategy::PredicateStores); }},
        {"parallel rows", [](Func f) { f.parallel(y); }},
        {"parallel tasks", [](Func f) { f.parallel(y, 4).vectorize(x, 8); }},
        {"unrolled", [](Func f) { f.unroll(x, 3); }},
        {"tiled", [](Func f) { f.tile(x, y, xo, yo, xi, yi, 8, 4).vectorize(xi).unroll(yi, 2).parallel(yo); }},
        {"tiled, guarded",
         [](Func f) { f.tile(x, y, xo, yo, xi, yi, 5, 3, TailStrategy::GuardWithIf).reorder(xo, yo, xi, yi); }},
        {"fused", [](Func f) { f.fuse(x, y, t).parallel(t); }},
        {"fused and split", [](Func f) { f.fuse(x, y, t).vectorize(t, 8, TailStrategy::GuardWithIf); }},
        {"columns first", [](Func f) { f.reorder(y, x).vectorize(y, 4); }},
        {"two vectorized dimensions",
         [](Func f) { f.tile(x, y, xi, yi, 4, 2, TailStrategy::GuardWithIf).vectorize(xi).vectorize(yi); }},
        {"nested splits", [](Func f) { f.split(x, xo, xi, 10).split(xi, u, v, 4).vectorize(v).reorder(v, xo, u); }},
        {"specialized", [](Func f) { f.specialize(f.output_buffer().width() >= 16).vectorize(x, 16); }},
        {"never partitioned", [](Func f) { f.vectorize(x, 8).never_partition_all(); }},
    };
    return schedules;
}

TEST(LoweringInterpreted, Pointwise) {
    for (const Schedule &schedule : output_schedules()) {
        check(
            std::string("pointwise, ") + schedule.name,
            [&] {
                Func f("f");
                f(x, y) = cast<int32_t>(picture()(x, y)) * 3 + x - 100 * y;
                schedule.apply(f);
                return f;
            },
            [](int i, int j) { return pixel(i, j) * 3 + i - 100 * j; });
    }
}

TEST(LoweringInterpreted, NarrowArithmetic) {
    for (const Schedule &schedule : output_schedules()) {
        check(
            std::string("narrow, ") + schedule.name,
            [&] {
                Func f("f");
                Expr a = picture()(x, y), b = picture()(x + 1, y);
                Expr mean = cast<uint8_t>((cast<uint16_t>(a) + b + 1) / 2);
                f(x, y) = select(a > b, a - b, mean) + cast<uint8_t>(clamp(cast<int16_t>(a) - b, 0, 100));
                schedule.apply(f);
                return f;
            },
            [](int i, int j) {
                const int a = pixel(i, j), b = pixel(i + 1, j);
                return (uint8_t)((a > b ? a - b : (a + b + 1) / 2) + std::clamp(a - b, 0, 100));
            });
    }
}

int blurred(int i, int j) {
    int sum = 0;
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            sum += pixel(i + dx, j + dy);
        }
    }
    return sum / 9;
}

TEST(LoweringInterpreted, TwoStages) {
    const std::vector<std::pair<const char *, std::function<void(Func, Func)>>> producers = {
        {"inlined", [](Func g, Func f) {}},
        {"at root", [](Func g, Func f) { g.compute_root().vectorize(x, 8).parallel(y); }},
        {"per row", [](Func g, Func f) { g.compute_at(f, y).vectorize(x, 8); }},
        {"per pixel", [](Func g, Func f) { g.compute_at(f, x); }},
        {"sliding", [](Func g, Func f) { g.store_root().compute_at(f, y).vectorize(x, 4); }},
        {"folded", [](Func g, Func f) { g.store_root().compute_at(f, y).fold_storage(y, 4); }},
    };
    for (const auto &[name, schedule] : producers) {
        for (const char *consumer : {"plain", "vectorized", "vectorized by 4, guarded"}) {
            check(
                std::string("blur, ") + name + ", consumer " + consumer,
                [&, &schedule = schedule] {
                    Func g("g"), f("f");
                    g(x, y) = cast<uint16_t>(picture()(x - 1, y)) + picture()(x, y) + picture()(x + 1, y);
                    f(x, y) = cast<uint8_t>((g(x, y - 1) + g(x, y) + g(x, y + 1)) / 9);
                    for (const Schedule &s : output_schedules()) {
                        if (std::string(s.name) == consumer) {
                            s.apply(f);
                        }
                    }
                    schedule(g, f);
                    return f;
                },
                [](int i, int j) { return blurred(i, j); });
        }
    }
    check(
        "blur in tiles",
        [] {
            Func g("g"), f("f");
            g(x, y) = cast<uint16_t>(picture()(x - 1, y)) + picture()(x, y) + picture()(x + 1, y);
            f(x, y) = cast<uint8_t>((g(x, y - 1) + g(x, y) + g(x, y + 1)) / 9);
            f.tile(x, y, xi, yi, 8, 4).vectorize(xi).parallel(y);
            g.compute_at(f, x).vectorize(x, 8);
            return f;
        },
        [](int i, int j) { return blurred(i, j); });
    check(
        "blur by an asynchronous producer",
        [] {
            Func g("g"), f("f");
            g(x, y) = cast<uint16_t>(picture()(x - 1, y)) + picture()(x, y) + picture()(x + 1, y);
            f(x, y) = cast<uint8_t>((g(x, y - 1) + g(x, y) + g(x, y + 1)) / 9);
            g.store_root().compute_at(f, y).fold_storage(y, 4).async();
            return f;
        },
        [](int i, int j) { return blurred(i, j); });
}

TEST(LoweringInterpreted, Updates) {
    auto triangle = [](int i, int j) {
        int sum = i;
        for (int r = 0; r <= j % 5; r++) {
            sum += pixel(i + r % 4, j) * (r + 1);
        }
        return sum;
    };
    const std::vector<std::pair<const char *, std::function<void(Func, RVar)>>> schedules = {
        {"plain", [](Func f, RVar r) {}},
        {"update vectorized", [](Func f, RVar r) { f.vectorize(x, 8).update().vectorize(x, 8); }},
        {"update reordered", [](Func f, RVar r) { f.update().reorder(x, r).vectorize(x, 4); }},
        {"reduction unrolled", [](Func f, RVar r) { f.update().unroll(r, 2); }},
        {"reduction vectorized", [](Func f, RVar r) { f.update().atomic().vectorize(r, 4); }},
        {"update in parallel", [](Func f, RVar r) { f.parallel(y).update().parallel(y); }},
    };
    for (const auto &[name, schedule] : schedules) {
        check(
            std::string("update, ") + name,
            [&, &schedule = schedule] {
                Func f("f");
                RDom r(0, 5, "r");
                r.where(r <= y % 5);
                f(x, y) = x;
                f(x, y) += cast<int32_t>(picture()(x + r % 4, y)) * (r + 1);
                schedule(f, r);
                return f;
            },
            triangle,
            // Updates cannot be shifted inwards: vectors round their region up.
            Size{width + 3, height});
    }
}

TEST(LoweringInterpreted, HistogramAndScan) {
    // counts[v] over the picture, then the cumulative sum, looked up for each pixel.
    std::vector<int> cdf(256, 0);
    for (int j = 0; j < height; j++) {
        for (int i = 0; i < width; i++) {
            cdf[(size_t)pixel(i, j)]++;
        }
    }
    for (int i = 1; i < 256; i++) {
        cdf[(size_t)i] += cdf[(size_t)i - 1];
    }
    for (int variant = 0; variant < 3; variant++) {
        check(
            "equalization " + std::to_string(variant),
            [&] {
                Func counts("counts"), sums("sums"), f("f");
                RDom r(0, width, 0, height, "r"), s(1, 255, "s");
                counts(x) = 0;
                counts(picture()(r.x, r.y)) += 1;
                sums(x) = counts(x);
                sums(s) += sums(s - 1);
                f(x, y) = sums(picture()(x, y));
                counts.compute_root();
                sums.compute_root();
                if (variant > 0) {
                    f.vectorize(x, 8);
                    counts.vectorize(x, 8);
                }
                if (variant > 1) {
                    counts.update().atomic().parallel(r.y);
                }
                return f;
            },
            [&](int i, int j) { return cdf[(size_t)pixel(i, j)]; });
    }
}

TEST(LoweringInterpreted, TuplesAndReductions) {
    for (int variant = 0; variant < 3; variant++) {
        check(
            "argmax " + std::to_string(variant),
            [&] {
                Func g("g"), f("f");
                RDom r(-2, 5, "r");
                g(x, y) = Tuple(argmax(r, picture()(x + r, y)));
                f(x, y) = g(x, y)[0] * 1000 + cast<int32_t>(g(x, y)[1]);
                if (variant == 1) {
                    g.compute_root().vectorize(x, 4);
                } else if (variant == 2) {
                    g.compute_at(f, y);
                    f.vectorize(x, 8);
                }
                return f;
            },
            [](int i, int j) {
                int best = -2;
                for (int r = -1; r < 3; r++) {
                    if (pixel(i + r, j) > pixel(i + best, j)) {
                        best = r;
                    }
                }
                return best * 1000 + pixel(i + best, j);
            });
        check(
            "sum " + std::to_string(variant),
            [&] {
                Func f("f");
                RDom r(0, 4, 0, 3, "r");
                f(x, y) = sum(cast<int32_t>(picture()(x + r.x, y + r.y)) * (r.x + 2 * r.y));
                if (variant == 1) {
                    f.vectorize(x, 8);
                } else if (variant == 2) {
                    f.parallel(y).unroll(x, 2);
                }
                return f;
            },
            [](int i, int j) {
                int total = 0;
                for (int b = 0; b < 3; b++) {
                    for (int a = 0; a < 4; a++) {
                        total += pixel(i + a, j + b) * (a + 2 * b);
                    }
                }
                return total;
            });
    }
}

TEST(LoweringInterpreted, BoundaryConditionsAndGathers) {
    for (const Schedule &schedule : output_schedules()) {
        check(
            std::string("boundary, ") + schedule.name,
            [&] {
                Func f("f");
                Func edge = BoundaryConditions::repeat_edge(picture(), {{0, width}, {0, height}});
                Func mirror = BoundaryConditions::mirror_image(picture(), {{0, width}, {0, height}});
                f(x, y) = cast<int32_t>(edge(x - 3, y + 2)) + 256 * cast<int32_t>(mirror(x + 2, y - 3));
                schedule.apply(f);
                return f;
            },
            [](int i, int j) {
                auto mirrored = [](int c, int e) {
                    int m = ((c % (2 * e)) + 2 * e) % (2 * e);
                    return m >= e ? 2 * e - 1 - m : m;
                };
                return pixel(std::clamp(i - 3, 0, width - 1), std::clamp(j + 2, 0, height - 1)) +
                       256 * pixel(mirrored(i + 2, width), mirrored(j - 3, height));
            });
    }
    for (bool vectorized : {false, true}) {
        check(
            vectorized ? "gather, vectorized" : "gather",
            [&] {
                Func table("table"), f("f");
                table(x) = x * x - 7;
                f(x, y) = table(cast<int32_t>(picture()(x, y)) % 100) + table(clamp(x - y, 0, 20));
                table.compute_root();
                if (vectorized) {
                    f.vectorize(x, 8);
                }
                return f;
            },
            [](int i, int j) {
                const int a = pixel(i, j) % 100, b = std::clamp(i - j, 0, 20);
                return a * a - 7 + b * b - 7;
            });
    }
}

TEST(LoweringInterpreted, MergedLoops) {
    check(
        "compute_with",
        [] {
            Func g("g"), h("h"), f("f");
            g(x, y) = cast<int32_t>(picture()(x, y)) + 1;
            h(x, y) = cast<int32_t>(picture()(x, y)) * 2;
            f(x, y) = g(x, y) + h(x, y + 1);
            g.compute_root();
            h.compute_root().compute_with(g, y);
            return f;
        },
        [](int i, int j) { return pixel(i, j) + 1 + 2 * pixel(i, j + 1); });
    check(
        "stages in one loop",
        [] {
            Func a("a"), b("b"), c("c"), f("f");
            a(x, y) = cast<int32_t>(picture()(x, y));
            b(x, y) = a(x, y) + a(x + 1, y);
            c(x, y) = b(x, y) - b(x, y + 1);
            f(x, y) = c(x, y) * b(x, y);
            f.split(y, yo, yi, 4).parallel(yo);
            c.compute_at(f, yi);
            b.store_at(f, yo).compute_at(f, yi).vectorize(x, 8);
            a.store_at(f, yo).compute_at(f, yi);
            return f;
        },
        [](int i, int j) {
            auto b = [](int p, int q) { return pixel(p, q) + pixel(p + 1, q); };
            return (b(i, j) - b(i, j + 1)) * b(i, j);
        });
}

TEST(LoweringInterpreted, TailStrategiesOfUpdates) {
    const std::pair<const char *, TailStrategy> tails[] = {
        {"RoundUpAndBlend", TailStrategy::RoundUpAndBlend},
        {"ShiftInwardsAndBlend", TailStrategy::ShiftInwardsAndBlend},
        {"GuardWithIf", TailStrategy::GuardWithIf},
        {"Predicate", TailStrategy::Predicate},
        {"PredicateStores", TailStrategy::PredicateStores},
        {"RoundUp", TailStrategy::RoundUp},
    };
    for (const auto &[name, tail] : tails) {
        check(
            std::string("update with tail ") + name,
            [&, tail = tail] {
                Func f("f");
                f(x, y) = cast<int32_t>(picture()(x, y));
                f(x, y) = f(x, y) * 3 + y;
                f.update().vectorize(x, 8, tail);
                return f;
            },
            [](int i, int j) { return pixel(i, j) * 3 + j; }, Size{width + 3, height});
    }
    check(
        "predicated loads",
        [] {
            Func g("g"), f("f");
            g(x, y) = cast<int32_t>(picture()(x, y)) + 1;
            f(x, y) = g(x, y) + g(x + 1, y);
            g.compute_root();
            f.vectorize(x, 8, TailStrategy::PredicateLoads);
            return f;
        },
        [](int i, int j) { return pixel(i, j) + pixel(i + 1, j) + 2; }, Size{width + 3, height});
}

TEST(LoweringInterpreted, FactoredReductions) {
    auto weighted = [](int i, int j) {
        int sum = 0;
        for (int r = 0; r < 12; r++) {
            sum += pixel(i + r - 3, j) * (r + 1);
        }
        return sum;
    };
    for (int variant = 0; variant < 3; variant++) {
        check(
            "rfactor " + std::to_string(variant),
            [&] {
                Func g("g"), f("f");
                RDom r(0, 12, "r");
                RVar ro("ro"), ri("ri");
                g(x, y) = 0;
                g(x, y) += cast<int32_t>(picture()(x + r - 3, y)) * (r + 1);
                f(x, y) = g(x, y);
                g.compute_root();
                g.update().split(r, ro, ri, 4);
                Func partial = g.update().rfactor(variant == 2 ? ro : ri, u);
                partial.compute_at(g, x);
                if (variant == 1) {
                    partial.vectorize(u).update().vectorize(u);
                }
                return f;
            },
            weighted);
    }
}

TEST(LoweringInterpreted, Wrappers) {
    for (int variant = 0; variant < 3; variant++) {
        check(
            "wrapper " + std::to_string(variant),
            [&] {
                Func g("g"), f("f"), h("h");
                g(x, y) = cast<int32_t>(picture()(x, y)) * 5;
                h(x, y) = g(x, y) + g(x, y + 1);
                f(x, y) = h(x, y) - g(x + 1, y);
                h.compute_root();
                g.compute_root();
                if (variant == 0) {
                    g.in().compute_root().vectorize(x, 4);
                } else if (variant == 1) {
                    g.in(f).compute_at(f, x);
                } else {
                    g.clone_in(f).compute_at(f, y);
                }
                return f;
            },
            [](int i, int j) { return 5 * (pixel(i, j) + pixel(i, j + 1) - pixel(i + 1, j)); });
    }
}

TEST(LoweringInterpreted, PlacesOfStorage) {
    auto expected = [](int i, int j) { return pixel(i - 1, j) + pixel(i + 1, j); };
    const std::vector<std::pair<const char *, std::function<void(Func, Func)>>> schedules = {
        {"on the stack", [](Func g, Func f) { g.compute_at(f, y).store_in(MemoryType::Stack).bound_storage(x, 64); }},
        {"hoisted", [](Func g, Func f) { g.compute_at(f, y).hoist_storage_root(); }},
        {"prefetched", [](Func g, Func f) {
             g.compute_root();
             f.prefetch(g, y, y, 2);
         }},
        {"rows reordered", [](Func g, Func f) { g.compute_root().reorder_storage(y, x); }},
        {"rows aligned", [](Func g, Func f) { g.compute_root().align_storage(x, 16); }},
        {"under a condition", [](Func g, Func f) { g.compute_at(f, y).specialize(g.output_buffer().dim(0).stride() == 1); }},
        {"ring buffer", [](Func g, Func f) { g.compute_at(f, y).hoist_storage_root().ring_buffer(2).async(); }},
    };
    for (const auto &[name, schedule] : schedules) {
        check(
            std::string("storage ") + name,
            [&, &schedule = schedule] {
                Func g("g"), f("f");
                g(x, y) = cast<int32_t>(picture()(x, y));
                f(x, y) = g(x - 1, y) + g(x + 1, y);
                schedule(g, f);
                return f;
            },
            expected);
    }
}

TEST(LoweringInterpreted, ValuesUnderConditions) {
    // Where the condition is false, g must not be needed.
    for (bool vectorized : {false, true}) {
        check(
            vectorized ? "conditional producer, vectorized" : "conditional producer",
            [&] {
                Func g("g"), f("f");
                g(x, y) = cast<int32_t>(picture()(x, y));
                f(x, y) = select(y > 5, g(x, y), -1);
                g.compute_at(f, y);
                if (vectorized) {
                    f.vectorize(x, 8);
                }
                return f;
            },
            [](int i, int j) { return j > 5 ? pixel(i, j) : -1; });
    }
}

}  // namespace
