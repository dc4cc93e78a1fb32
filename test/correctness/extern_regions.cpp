#include "Halide.h"

#include <functional>
#include <gtest/gtest.h>

// Extern stages are asked which regions they need, and may enlarge what is asked of them.

namespace {

using namespace Halide;

int calls = 0;

int F(int x, int y) {
    return x + 100 * y;
}

}  // namespace

/// out(x, y) = in(x - 1, y) + in(x + 1, y)
extern "C" HALIDE_EXPORT_SYMBOL int extern_regions_neighbours(halide_buffer_t *in, halide_buffer_t *out) {
    if (in->is_bounds_query()) {
        in->dim[0].min = out->dim[0].min - 1;
        in->dim[0].extent = out->dim[0].extent + 2;
        in->dim[1].min = out->dim[1].min;
        in->dim[1].extent = out->dim[1].extent;
        return 0;
    }
    calls++;
    Runtime::Buffer<int> i(*in), o(*out);
    o.for_each_element([&](int x, int y) { o(x, y) = i(x - 1, y) + i(x + 1, y); });
    return 0;
}

/// out(x, y) = in(x, y) * 2, eight points at a time.
extern "C" HALIDE_EXPORT_SYMBOL int extern_regions_by_eight(halide_buffer_t *in, halide_buffer_t *out) {
    if (out->is_bounds_query()) {
        const int max = (out->dim[0].min + out->dim[0].extent - 1) | 7;
        out->dim[0].min &= ~7;
        out->dim[0].extent = max - out->dim[0].min + 1;
    }
    if (in->is_bounds_query()) {
        in->dim[0] = out->dim[0];
        in->dim[1] = out->dim[1];
    }
    if (in->is_bounds_query() || out->is_bounds_query()) {
        return 0;
    }
    calls++;
    Runtime::Buffer<int> i(*in), o(*out);
    if (o.dim(0).extent() % 8 != 0) {
        return -1;
    }
    o.for_each_element([&](int x, int y) { o(x, y) = i(x, y) * 2; });
    return 0;
}

/// out(x, y) = (x + 100 y) * scale
extern "C" HALIDE_EXPORT_SYMBOL int extern_regions_source(int scale, halide_buffer_t *out) {
    if (out->is_bounds_query()) {
        return 0;
    }
    calls++;
    Runtime::Buffer<int> o(*out);
    o.for_each_element([&](int x, int y) { o(x, y) = F(x, y) * scale; });
    return 0;
}

namespace {

Var x("x"), y("y"), yo("yo"), yi("yi");

int neighbours(int x, int y) {
    return F(x - 1, y) + F(x + 1, y);
}

struct Case {
    const char *name;
    std::function<Func()> make;
    std::function<int(int, int)> value;
    int expected_calls;
};

Func coordinates() {
    Func f("f");
    f(x, y) = x + 100 * y;
    return f;
}

Func extern_stage(const char *function, const std::vector<ExternFuncArgument> &args) {
    Func g("g");
    g.define_extern(function, args, Int(32), {x, y});
    return g;
}

Func plus_one(Func g) {
    Func h("h");
    h(x, y) = g(x, y) + 1;
    return h;
}

TEST(ExternRegions, Schedules) {
    const auto neighbours_plus_one = [](int x, int y) { return neighbours(x, y) + 1; };
    const Case cases[] = {
        {"output",
         [] {
             Func f = coordinates();
             f.compute_root();
             return extern_stage("extern_regions_neighbours", {f});
         },
         neighbours, 1},
        {"at root",
         [] {
             Func f = coordinates(), g = extern_stage("extern_regions_neighbours", {f}), h = plus_one(g);
             f.compute_root();
             g.compute_root();
             return h;
         },
         neighbours_plus_one, 1},
        {"once per row",
         [] {
             Func f = coordinates(), g = extern_stage("extern_regions_neighbours", {f}), h = plus_one(g);
             f.compute_root();
             g.compute_at(h, y);
             return h;
         },
         neighbours_plus_one, 5},
        {"with its input",
         [] {
             Func f = coordinates(), g = extern_stage("extern_regions_neighbours", {f}), h = plus_one(g);
             f.compute_at(h, y);
             g.compute_at(h, y);
             return h;
         },
         neighbours_plus_one, 5},
        {"input stored further out",
         [] {
             Func f = coordinates(), g = extern_stage("extern_regions_neighbours", {f}), h = plus_one(g);
             f.store_root().compute_at(h, y);
             g.compute_at(h, y);
             return h;
         },
         neighbours_plus_one, 5},
        {"stored further out",
         [] {
             Func f = coordinates(), g = extern_stage("extern_regions_neighbours", {f}), h = plus_one(g);
             f.compute_root();
             g.store_root().compute_at(h, y);
             return h;
         },
         neighbours_plus_one, 5},
        {"rounding at root",
         [] {
             Func f = coordinates(), g = extern_stage("extern_regions_by_eight", {f}), h("h");
             h(x, y) = g(x + 3, y);
             f.compute_root();
             g.compute_root();
             return h;
         },
         [](int x, int y) { return 2 * F(x + 3, y); }, 1},
        {"rounding per row",
         [] {
             Func f = coordinates(), g = extern_stage("extern_regions_by_eight", {f}), h("h");
             h(x, y) = g(x + 3, y);
             f.compute_root();
             g.compute_at(h, y);
             return h;
         },
         [](int x, int y) { return 2 * F(x + 3, y); }, 5},
        {"rounding output",
         [] {
             Func f = coordinates();
             f.compute_root();
             return extern_stage("extern_regions_by_eight", {f});
         },
         [](int x, int y) { return 2 * F(x, y); }, 1},
        {"chain per row",
         [] {
             Func f = extern_stage("extern_regions_source", {1}), g = extern_stage("extern_regions_neighbours", {f});
             Func h = plus_one(g);
             f.compute_at(h, y);
             g.compute_at(h, y);
             return h;
         },
         neighbours_plus_one, 10},
        {"with an update",
         [] {
             Func f = extern_stage("extern_regions_source", {3});
             f(x, y) += 5;
             f.compute_root();
             return plus_one(f);
         },
         [](int x, int y) { return 3 * F(x, y) + 6; }, 1},
        {"split outer loop",
         [] {
             Func f = extern_stage("extern_regions_source", {1}), h = plus_one(f);
             f.compute_root().split(y, yo, yi, 2);
             return h;
         },
         [](int x, int y) { return F(x, y) + 1; }, 3},
    };
    for (const Case &c : cases) {
        SCOPED_TRACE(c.name);
        calls = 0;
        Buffer<int> result = c.make().realize({10, 5});
        EXPECT_EQ(calls, c.expected_calls);
        for (int j = 0; j < 5; j++) {
            for (int i = 0; i < 10; i++) {
                ASSERT_EQ(result(i, j), c.value(i, j)) << "at " << i << ", " << j;
            }
        }
    }
}

TEST(ExternRegions, ImagesAreAskedAbout) {
    for (bool per_row : {false, true}) {
        SCOPED_TRACE(per_row);
        ImageParam in(Int(32), 2);
        Func g = extern_stage("extern_regions_neighbours", {in}), h = plus_one(g);
        if (per_row) {
            g.compute_at(h, y);
        } else {
            g.compute_root();
        }
        h.infer_input_bounds({10, 5});
        Buffer<int> image = in.get();
        EXPECT_EQ(image.dim(0).min(), -1);
        EXPECT_EQ(image.dim(0).max(), 10);
        EXPECT_EQ(image.dim(1).min(), 0);
        EXPECT_EQ(image.dim(1).max(), 4);
        image.for_each_element([&](int i, int j) { image(i, j) = F(i, j); });
        Buffer<int> result = h.realize({10, 5});
        for (int j = 0; j < 5; j++) {
            for (int i = 0; i < 10; i++) {
                ASSERT_EQ(result(i, j), neighbours(i, j) + 1);
            }
        }
    }
}

}  // namespace
