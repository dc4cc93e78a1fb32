// Pipelines × extents × dimensions through the whole PTO back end (issue 4, milestones M1 to M6).

#include "PipelineHarness.h"

namespace {

using namespace bromide;

constexpr int extents[] = {1, 63, 64, 65, 127, 300, 4096};

/// Runs a pipeline over rows of every extent, as one row and as three.
template <typename T>
void over_extents(const std::string &name, const std::function<Program(bool, int w, int h)> &make, int ulp = 0,
                  bool row_values = false) {
    for (int w : extents) {
        for (int h : {1, 3}) {
            check<T>(name + "_" + std::to_string(w) + "x" + std::to_string(h),
                     [&](bool s) { return make(s, w, h); }, row_values ? std::vector<int>{h} : std::vector<int>{w, h},
                     nullptr, {}, ulp);
        }
    }
}

/// One of the usual schedules: by extent, so that all of them meet all programs.
void schedule_rows(Func f, int w) {
    if (w % 2) {
        f.pto_blocks(y).vectorize(x, 64);
    } else {
        f.split(x, xo, xi, 256).pto_blocks(xo, y).vectorize(xi, 64);
    }
}

// ---- M1: element by element

TEST(PTOPipelines, FloatArithmetic) {
    over_extents<float>("float_arithmetic", [](bool s, int w, int h) {
        Program p;
        ImageParam a = image("a", 2, data<float>({w, h}, 1), p), b = image("b", 2, data<float>({w, h}, 2), p);
        p.f = Func("f");
        p.f(x, y) = max(a(x, y) * 2.0f, b(x, y)) - min(a(x, y), abs(b(x, y)));
        if (s) {
            schedule_rows(p.f, w);
        }
        return p;
    });
}

TEST(PTOPipelines, ExpOfStagedInput) {
    over_extents<float>("exp", [](bool s, int w, int h) {
        Program p;
        ImageParam in = image("in", 2, data<float>({w, h}, 3), p);
        p.f = Func("f");
        p.f(x, y) = exp(in(x, y)) * 2.0f;
        if (s) {
            p.f.split(x, xo, xi, 4096).pto_blocks(y).vectorize(xi, 128);
            in.in(p.f).compute_at(p.f, xo).store_in(MemoryType::UB);
        }
        return p;
    }, 4);
}

TEST(PTOPipelines, IntegerBits) {
    over_extents<int32_t>("integer_bits", [](bool s, int w, int h) {
        Program p;
        ImageParam a = image("a", 2, data<int32_t>({w, h}, 4), p), b = image("b", 2, data<int32_t>({w, h}, 5), p);
        p.f = Func("f");
        p.f(x, y) = ((a(x, y) * 5 + b(x, y)) ^ (a(x, y) >> 3)) & (b(x, y) | 255);
        if (s) {
            schedule_rows(p.f, w);
        }
        return p;
    });
}

TEST(PTOPipelines, BytesWithWidening) {
    over_extents<uint8_t>("bytes", [](bool s, int w, int h) {
        Program p;
        ImageParam a = image("a", 2, data<uint8_t>({w, h}, 6), p), b = image("b", 2, data<uint8_t>({w, h}, 7), p);
        p.f = Func("f");
        p.f(x, y) = cast<uint8_t>((cast<uint16_t>(a(x, y)) * 3 + b(x, y)) / 4);
        if (s) {
            schedule_rows(p.f, w);
        }
        return p;
    });
}

TEST(PTOPipelines, ShortsToFloat) {
    over_extents<float>("shorts_to_float", [](bool s, int w, int h) {
        Program p;
        ImageParam a = image("a", 2, data<int16_t>({w, h}, 8), p);
        p.f = Func("f");
        p.f(x, y) = cast<float>(a(x, y)) * 0.25f;
        if (s) {
            schedule_rows(p.f, w);
        }
        return p;
    });
}

// ---- M2: conditions, borders, stencils

TEST(PTOPipelines, Selects) {
    over_extents<float>("selects", [](bool s, int w, int h) {
        Program p;
        ImageParam a = image("a", 2, data<float>({w, h}, 9), p);
        p.f = Func("f");
        p.f(x, y) = select(a(x, y) > 0.5f, a(x, y) * 3.0f, x < 40, -1.0f, cast<float>(x + y));
        if (s) {
            schedule_rows(p.f, w);
        }
        return p;
    });
}

TEST(PTOPipelines, StencilWithBorder) {
    over_extents<int32_t>("stencil", [](bool s, int w, int h) {
        Program p;
        ImageParam in = image("in", 2, data<int32_t>({w, h}, 10), p);
        Func clamped = BoundaryConditions::repeat_edge(in);
        p.f = Func("f");
        p.f(x, y) = clamped(x - 1, y) + 2 * clamped(x, y) + clamped(x + 1, y) + clamped(x, y - 1) + clamped(x, y + 1);
        if (s) {
            schedule_rows(p.f, w);
        }
        return p;
    });
}

// ---- M3: reductions

TEST(PTOPipelines, SumOfRows) {
    over_extents<int32_t>("row_sums", [](bool s, int w, int h) {
        Program p;
        ImageParam in = image("in", 2, data<int32_t>({w, h}, 11), p);
        RDom r(0, w);
        Func sum("sum");
        sum(y) += in(r, y);
        p.f = Func("f");
        p.f(y) = sum(y) + 1;
        if (s) {
            p.f.pto_blocks(y);
            sum.compute_at(p.f, y).update().atomic().vectorize(r, 64);
        }
        return p;
    }, 0, true);
}

TEST(PTOPipelines, MaximumOfRows) {
    over_extents<float>("row_maxima", [](bool s, int w, int h) {
        Program p;
        ImageParam in = image("in", 2, data<float>({w, h}, 12), p);
        RDom r(0, w);
        Func most("most");
        most(y) = -1e30f;
        most(y) = max(most(y), in(r, y));
        p.f = Func("f");
        p.f(x, y) = in(x, y) - most(y);
        if (s) {
            p.f.pto_blocks(y).vectorize(x, 64);
            most.compute_at(p.f, y).update().atomic().vectorize(r, 64);
        }
        return p;
    });
}

// ---- M4: several Funcs in UB

TEST(PTOPipelines, ChainsInUB) {
    over_extents<float>("chain", [](bool s, int w, int h) {
        Program p;
        ImageParam in = image("in", 2, data<float>({w + 2, h}, 13), p);
        Func g("g"), k("k");
        g(x, y) = in(x, y) * 2.0f + in(x + 2, y);
        k(x, y) = g(x, y) - 1.0f;
        p.f = Func("f");
        p.f(x, y) = k(x, y) * g(x, y);
        if (s) {
            p.f.split(x, xo, xi, 1024).pto_blocks(y).vectorize(xi, 64);
            g.compute_at(p.f, xo).store_in(MemoryType::UB).vectorize(x, 64);
            k.compute_at(p.f, xo).store_in(MemoryType::UB).vectorize(x, 64);
        }
        return p;
    });
}

TEST(PTOPipelines, DoubleBuffered) {
    over_extents<float>("double_buffered", [](bool s, int w, int h) {
        Program p;
        ImageParam in = image("in", 2, data<float>({w, h}, 14), p);
        p.f = Func("f");
        p.f(x, y) = in(x, y) * in(x, y);
        if (s) {
            p.f.split(x, xo, xi, 256).pto_blocks(y).vectorize(xi, 64);
            in.in(p.f).compute_at(p.f, xo).hoist_storage(p.f, y).ring_buffer(2).async();
        }
        return p;
    });
}

// ---- M5: tables

TEST(PTOPipelines, TablesInUB) {
    over_extents<float>("table", [](bool s, int w, int h) {
        Program p;
        ImageParam table = image("table", 1, data<float>({128}, 15), p), at = image("at", 2, data<int32_t>({w, h}, 16), p);
        p.f = Func("f");
        p.f(x, y) = table(clamp(at(x, y) & 127, 0, 127)) + 1.0f;
        if (s) {
            p.f.split(x, xo, xi, 1024).pto_blocks(y).vectorize(xi, 64);
            table.in(p.f).compute_at(p.f, xo).store_in(MemoryType::UB);
        }
        return p;
    });
}

}  // namespace
