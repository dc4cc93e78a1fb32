// Golden kernels: the whole text that some pipelines are emitted as, in test/pto/golden. BROMIDE_UPDATE_PTO_GOLDEN=1 writes them anew.
// Those that the emulator has a hand-written kernel for are measured against it by emulate.py.

#include "Suite.h"

#include "support/Error.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace {

using namespace bromide;

const Var x("x"), y("y"), xo("xo"), xi("xi"), yo("yo"), yi("yi");

struct Golden {
    std::string name;
    std::function<Func(Build &)> make;
    /// Extents of a run, in which every loop has at least three iterations.
    std::vector<int> extents;
    bool measured = false;   ///< test/ptosim/reference has a kernel of this name.
    int ulp = 0;
};

Func softmax(Build &b) {
    ImageParam in = b.input<float>("in", {b.w, b.h}, {Fill::Unit});
    in.dim(0).set_bounds(0, b.w);
    RDom r(0, b.w, "r"), q(0, b.w, "q");
    Func m = b.func("m"), e = b.func("e"), s = b.func("s"), f = b.func("softmax_row");
    m(y) = Float(32).min();
    m(y) = max(m(y), in(r, y));
    e(x, y) = exp(in(x, y) - m(y));
    s(y) += e(q, y);
    f(x, y) = e(x, y) / s(y);
    b.allowed = b.func("allowed");
    b.allowed(x, y) = 1e-5f * f(x, y);
    if (b.scheduled) {
        f.bound(x, 0, b.w).pto_blocks(y).vectorize(x, 64);
        in.in().compute_at(f, y).store_in(MemoryType::UB);
        m.compute_at(f, y).update().atomic().vectorize(r, 64);
        e.compute_at(f, y).vectorize(x, 64);
        s.compute_at(f, y).update().atomic().vectorize(q, 64);
    }
    return f;
}

Func layer_norm(Build &b) {
    ImageParam in = b.input<float>("in", {b.w, b.h}), gain = b.input<float>("gain", {b.w}), bias = b.input<float>("bias", {b.w});
    in.dim(0).set_bounds(0, b.w);
    RDom r(0, b.w, "r"), q(0, b.w, "q");
    Func s = b.func("s"), v = b.func("v"), mean = b.func("mean"), scale = b.func("scale"), f = b.func("layer_norm");
    s(y) += in(r, y);
    mean(y) = s(y) * (1.0f / (float)b.w);
    v(y) += (in(q, y) - mean(y)) * (in(q, y) - mean(y));
    scale(y) = 1.0f / sqrt(v(y) * (1.0f / (float)b.w) + 1e-5f);
    f(x, y) = (in(x, y) - mean(y)) * scale(y) * gain(x) + bias(x);
    b.allowed = b.func("allowed");
    b.allowed(x, y) = 1e-4f * (abs(f(x, y)) + 1.0f);
    if (b.scheduled) {
        f.bound(x, 0, b.w).pto_blocks(y).vectorize(x, 64);
        in.in().compute_at(f, y).store_in(MemoryType::UB);
        s.compute_at(f, y).update().atomic().vectorize(r, 64);
        v.compute_at(f, y).update().atomic().vectorize(q, 64);
        mean.compute_at(f, y);
        scale.compute_at(f, y);
    }
    return f;
}

const std::vector<Golden> &goldens() {
    static const std::vector<Golden> all = {
        {"axpy", [](Build &b) {
             ImageParam u = b.input<float>("u", {b.w}), v = b.input<float>("v", {b.w});
             Expr a = b.scalar("a", Float(32), 1.5);
             Func f = b.func("axpy");
             f(x) = u(x) * a + v(x);
             if (b.scheduled) {
                 f.split(x, xo, xi, 1024).pto_blocks(xo).vectorize(xi, 64);
             }
             return f;
         }, {3500}, true},
        {"blur3", [](Build &b) {
             ImageParam in = b.input<float>("in", {b.w + 2});
             Func f = b.func("blur3");
             f(x) = (in(x) + in(x + 1) + in(x + 2)) / 3.0f;
             if (b.scheduled) {
                 f.split(x, xo, xi, 1024).pto_blocks(xo).vectorize(xi, 64);
             }
             return f;
         }, {3500}, true, 2},
        {"softmax_row", softmax, {300, 4}, true, 12},
        {"layer_norm", layer_norm, {300, 4}, true, 16},
        {"to_u8", [](Build &b) {
             ImageParam in = b.input<float>("in", {b.w});
             Func f = b.func("to_u8");
             f(x) = saturating_cast<uint8_t>(round(in(x)));
             if (b.scheduled) {
                 f.split(x, xo, xi, 4096).pto_blocks(xo).vectorize(xi, 256);
             }
             return f;
         }, {13000}, true},
        {"table_lookup", [](Build &b) {
             ImageParam table = b.input<float>("table", {1000}), at = b.input<uint32_t>("at", {b.w}, {Fill::Below, 1000});
             table.dim(0).set_bounds(0, 1000);
             Func f = b.func("table_lookup");
             f(x) = table(unsafe_promise_clamped(cast<int32_t>(at(x)), 0, 999));
             if (b.scheduled) {
                 f.split(x, xo, xi, 1024).pto_blocks(xo).vectorize(xi, 64);
                 table.in(f).compute_at(f, xo).store_in(MemoryType::UB);
             }
             return f;
         }, {3500}, true},
        {"fp4_scale", [](Build &b) {
             ImageParam in = b.input<uint8_t>("in", {b.w / 2});
             Expr scale = b.scalar("scale", Float(32), 1.5);
             Func f = b.func("fp4_scale");
             f(x) = fp4_e2m1_to_float(in(x / 2), x % 2) * scale;
             f.output_buffer().dim(0).set_min(0);
             if (b.scheduled) {
                 f.split(x, xo, xi, 2048).pto_blocks(xo).vectorize(xi, 128);
                 in.in(f).compute_at(f, xo).store_in(MemoryType::UB);
             }
             return f;
         }, {7000}, true},
        {"example", [](Build &b) {
             ImageParam in = b.input<float>("in", {b.w, b.h});
             Func f = b.func("f");
             f(x, y) = exp(in(x, y)) * 2.0f;
             if (b.scheduled) {
                 f.split(x, xo, xi, 4096).pto_blocks(y).vectorize(xi, 128);
                 in.in(f).compute_at(f, xo).store_in(MemoryType::UB);
             }
             return f;
         }, {13000, 4}, false, 2},
        {"double_buffer", [](Build &b) {
             ImageParam in = b.input<float>("in", {b.w, b.h});
             Func f = b.func("f");
             f(x, y) = in(x, y) * in(x, y);
             if (b.scheduled) {
                 f.split(x, xo, xi, 1024).pto_blocks(y).vectorize(xi, 64);
                 in.in(f).compute_at(f, xo).hoist_storage(f, y).ring_buffer(2).async();
             }
             return f;
         }, {6000, 4}},
        {"constant_row", [](Build &b) {
             b.constant = true;
             ImageParam in = b.input<int32_t>("in", {1024});
             Func f = b.func("f");
             f(x) = in(x) * 3 + 1;
             if (b.scheduled) {
                 f.bound(x, 0, 1024).vectorize(x, 64);
             }
             return f;
         }, {1024}},
        {"row_sum", [](Build &b) {
             ImageParam in = b.input<int16_t>("in", {b.w, b.h});
             RDom r(0, b.w, "r");
             Func s = b.func("s"), f = b.func("f");
             s(y) += cast<int32_t>(in(r, y));
             f(y) = s(y);
             if (b.scheduled) {
                 f.pto_blocks(y);
                 s.compute_at(f, y).update().atomic().vectorize(r, 64);
             }
             return f;
         }, {4}},
        {"chain", [](Build &b) {
             ImageParam in = b.input<float>("in", {b.w});
             Func g = b.func("g"), f = b.func("f");
             g(x) = in(x) * 2.0f + 1.0f;
             f(x) = g(x) * g(x) - in(x);
             if (b.scheduled) {
                 f.split(x, xo, xi, 512).pto_blocks(xo).vectorize(xi, 64);
                 g.compute_at(f, xo).vectorize(x, 64);
             }
             return f;
         }, {2000}},
        {"matmul", [](Build &b) {
             ImageParam a = b.input<float>("a", {32, b.h}), m = b.input<float>("m", {b.w, 32});
             Func g = b.func("g"), f = b.func("f");
             RDom r(0, 32, "r");
             g(x, y) = 0.0f;
             g(x, y) += a(r, y) * m(x, r);
             f(x, y) = g(x, y);
             if (b.scheduled) {
                 f.split(x, xo, xi, 128).pto_blocks(xo, y).vectorize(xi, 64);
                 g.compute_at(f, xo).vectorize(x, 64).update().reorder(x, r, y).vectorize(x, 64);
             }
             return f;
         }, {400, 4}},
        {"bytes", [](Build &b) {
             ImageParam u = b.input<uint8_t>("u", {b.w}), v = b.input<uint8_t>("v", {b.w});
             Func f = b.func("f");
             f(x) = cast<uint8_t>((cast<uint16_t>(u(x)) * 3 + v(x)) / 4);
             if (b.scheduled) {
                 f.split(x, xo, xi, 2048).pto_blocks(xo).vectorize(xi, 128);
             }
             return f;
         }, {7000}},
        {"select", [](Build &b) {
             ImageParam in = b.input<float>("in", {b.w});
             Func f = b.func("f");
             f(x) = select(in(x) > 0.5f, in(x) * 3.0f, x < 40, -1.0f, cast<float>(x));
             if (b.scheduled) {
                 f.split(x, xo, xi, 512).pto_blocks(xo).vectorize(xi, 64);
             }
             return f;
         }, {2000}},
        {"border", [](Build &b) {
             ImageParam in = b.input<float>("in", {b.w});
             Func edge = BoundaryConditions::repeat_edge(in), f = b.func("f");
             f(x) = edge(x - 1) + edge(x + 1);
             if (b.scheduled) {
                 f.split(x, xo, xi, 512).pto_blocks(xo).vectorize(xi, 64);
             }
             return f;
         }, {2000}},
        {"two_kernels", [](Build &b) {
             ImageParam in = b.input<int32_t>("in", {b.w, b.h});
             Func g = b.func("g"), f = b.func("f");
             g(x, y) = in(x, y) * 3;
             f(x, y) = g(x, y) + g(x, b.h - 1 - y);
             if (b.scheduled) {
                 g.compute_root().pto_blocks(y).vectorize(x, 64);
                 f.pto_blocks(y).vectorize(x, 64);
             }
             return f;
         }, {300, 4}},
        {"deinterleave", [](Build &b) {
             ImageParam in = b.input<float>("in", {2 * b.w});
             Func f = b.func("f");
             f(x) = in(2 * x) - in(2 * x + 1);
             f.output_buffer().dim(0).set_min(0);
             if (b.scheduled) {
                 f.split(x, xo, xi, 512).pto_blocks(xo).vectorize(xi, 64);
                 in.in(f).compute_at(f, xo).store_in(MemoryType::UB);
             }
             return f;
         }, {2000}},
        {"fp8", [](Build &b) {
             ImageParam in = b.input<float>("in", {b.w});
             Func f = b.func("f");
             f(x) = float_to_fp8_e4m3(in(x) * 0.5f);
             if (b.scheduled) {
                 f.split(x, xo, xi, 1024).pto_blocks(xo).vectorize(xi, 64);
             }
             return f;
         }, {3500}},
        {"tiles", [](Build &b) {
             ImageParam in = b.input<int16_t>("in", {b.w, b.h});
             Func g = b.func("g"), f = b.func("f");
             g(x, y) = in(x, y) + 7;
             f(x, y) = g(x, y) * 2;
             if (b.scheduled) {
                 f.tile(x, y, xo, yo, xi, yi, 512, 4).pto_blocks(xo, yo).vectorize(xi, 128);
                 g.compute_at(f, xo).vectorize(x, 128);
                 in.in(g).compute_at(f, xo).store_in(MemoryType::UB);
             }
             return f;
         }, {2000, 16}},
    };
    return all;
}

std::string read(const std::string &path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(PTOGolden, TextOfKernels) {
    const std::string folder = BROMIDE_SOURCE_DIR "/test/pto/golden", made = BROMIDE_BUILD_DIR "/pto_golden";
    std::filesystem::create_directories(made);
    const bool update = getenv("BROMIDE_UPDATE_PTO_GOLDEN") != nullptr;
    for (const Golden &g : goldens()) {
        SCOPED_TRACE(g.name);
        std::string texts[2];
        try {
            for (std::string &text : texts) {
                Build b;
                b.scheduled = true;
                b.w = g.name == "row_sum" ? 300 : g.extents[0];
                b.h = g.extents.back();
                Func f = g.make(b);
                const std::string path = made + "/" + g.name;
                f.compile_to_pto(path, f.infer_arguments(), g.name, Target("x86-64-linux-pto_a5"));
                text = read(path + ".pto.py") + "\n# " + g.name + ".launch.json\n" + read(path + ".launch.json");
            }
        } catch (const Halide::Error &e) {
            ADD_FAILURE() << e.what();
            continue;
        }
        EXPECT_EQ(texts[0], texts[1]) << "compiled twice";
        const std::string path = folder + "/" + g.name + ".txt";
        if (update) {
            std::filesystem::create_directories(folder);
            std::ofstream(path) << texts[0];
        }
        EXPECT_EQ(texts[0], read(path)) << "BROMIDE_UPDATE_PTO_GOLDEN=1 writes " << path;
    }
}

TEST(PTOGolden, RunsAndCounts) {
    for (const Golden &g : goldens()) {
        Pipe p;
        p.name = "golden_" + g.name;
        p.make = g.make;
        p.ulp = g.ulp;
        p.dims = (int)g.extents.size();
        p.run_time = true;
        p.constant = false;
        p.widths = {g.name == "row_sum" ? 300 : g.extents[0]};
        p.heights = {g.extents.back()};
        if (g.name == "row_sum") {
            p.dims = 2;
            p.output = [](int, int h) { return std::vector<int>{h}; };
        }
        p.measure = g.measured ? g.name : "-";
        run(p);
    }
}

}  // namespace
