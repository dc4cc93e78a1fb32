// Forms of programs that the PTO back end compiles (issue 4, M1 to M6): those that need more than one instruction per operation.

#include "Halide.h"

#include "Forms.h"

namespace {

using namespace forms;

/// One of the usual schedules of an output of rows.
void rows(Func f) {
    f.pto_blocks(y).vectorize(x, 64);
}

// ---- Calls, and divisions by values

template<typename T>
Make unary(const std::function<Expr(Expr)> &value, Fill fill, double tolerance = 0) {
    return [=](Form &p) {
        ImageParam in = p.input<T>("in", {p.w, p.h}, fill);
        Func f("f");
        f(x, y) = value(in(x, y));
        if (p.scheduled) {
            rows(f);
        }
        p.tolerance = tolerance;
        p.output(f, p.w, p.h);
    };
}

template<typename T>
Make binary(const std::function<Expr(Expr, Expr)> &value, Fill fa = Fill::Numbers, Fill fb = Fill::Numbers, double tolerance = 0) {
    return [=](Form &p) {
        ImageParam a = p.input<T>("a", {p.w, p.h}, fa), b = p.input<T>("b", {p.w, p.h}, fb);
        Func f("f");
        f(x, y) = value(a(x, y), b(x, y));
        if (p.scheduled) {
            rows(f);
        }
        p.tolerance = tolerance;
        p.output(f, p.w, p.h);
    };
}

TEST(PTOForms, Calls) {
    Forms t;
    const std::vector<std::pair<std::string, std::function<Expr(Expr)>>> any = {
        {"sin", [](const Expr &e) { return sin(e); }},
        {"cos", [](const Expr &e) { return cos(e); }},
        {"tan", [](const Expr &e) { return tan(e); }},
        {"atan", [](const Expr &e) { return atan(e); }},
        {"tanh", [](const Expr &e) { return tanh(e); }},
        {"asinh", [](const Expr &e) { return asinh(e); }},
        {"erf", [](const Expr &e) { return erf(e); }},
        {"fast_exp", [](const Expr &e) { return fast_exp(e); }},
        {"sinh", [](const Expr &e) { return sinh(e * 0.25f); }},
        {"cosh", [](const Expr &e) { return cosh(e * 0.25f); }},
        {"asin", [](const Expr &e) { return asin(e * 0.1f); }},
        {"acos", [](const Expr &e) { return acos(e * 0.1f); }},
        {"atanh", [](const Expr &e) { return atanh(e * 0.1f); }},
    };
    for (const auto &[name, call] : any) {
        t.add("call_" + name, unary<float>(call, Fill::Numbers, 2e-5), {{300, 2}});
    }
    t.add("call_fast_log", unary<float>([](Expr e) { return fast_log(e); }, Fill::Positive, 2e-5), {{300, 2}});
    t.add("call_acosh", unary<float>([](Expr e) { return acosh(e + 1.0f); }, Fill::Positive, 2e-5), {{300, 2}});
    t.add("call_atan2", binary<float>([](Expr a, Expr b) { return atan2(a, b); }, Fill::Numbers, Fill::Numbers, 2e-5), {{300, 2}});
    t.add("call_pow", binary<float>([](Expr a, Expr b) { return pow(a, b * 0.25f); }, Fill::Positive, Fill::Numbers, 2e-4), {{300, 2}});
    t.add("call_fast_pow", binary<float>([](Expr a, Expr b) { return fast_pow(a, b * 0.25f); }, Fill::Positive, Fill::Numbers, 2e-4), {{300, 2}});
    t.add("call_hypot", binary<float>([](Expr a, Expr b) { return hypot(a, b); }, Fill::Numbers, Fill::Numbers, 2e-6), {{300, 2}});
    t.add("call_isnan", unary<float>([](Expr e) { return select(is_nan(sqrt(e)), 1.0f, is_inf(1.0f / (e - e)), 2.0f, 3.0f); }, Fill::Numbers), {{300, 2}});
    t.add("call_rsqrt", unary<float>([](Expr e) { return fast_inverse_sqrt(e); }, Fill::Positive, 1e-3), {{300, 2}});
    t.add("call_lerp", binary<uint8_t>([](Expr a, Expr b) { return lerp(a, b, cast<uint8_t>(77)); }), {{300, 2}});
    t.add("call_sin_f16", [](Form &p) {
        ImageParam in = p.input<float16_t>("in", {p.w, p.h}, Fill::Small);
        Func f("f");
        f(x, y) = cast<float16_t>(sin(cast<float>(in(x, y))));
        if (p.scheduled) {
            rows(f);
        }
        p.tolerance = 1e-3;
        p.output(f, p.w, p.h);
    }, {{300, 2}});
    t.execute("calls");
}

template<typename T>
void divisions(Forms &t, const std::string &name) {
    t.add("divide_" + name, binary<T>([](Expr a, Expr b) { return a / b; }), {{300, 2}});
    t.add("divide_small_" + name, binary<T>([](Expr a, Expr b) { return a / b; }, Fill::Numbers, Fill::Small), {{300, 2}});
    t.add("modulo_" + name, binary<T>([](Expr a, Expr b) { return a % b; }), {{300, 2}});
    t.add("modulo_small_" + name, binary<T>([](Expr a, Expr b) { return a % b; }, Fill::Numbers, Fill::Small), {{300, 2}});
    t.add("divide_big_" + name, binary<T>([](Expr a, Expr b) { return (a * cast<T>(40503)) / b; }, Fill::Numbers, Fill::Small), {{300, 2}});
    t.add("modulo_big_" + name, binary<T>([](Expr a, Expr b) { return (a * cast<T>(40503)) % (b * cast<T>(40961)); }), {{300, 2}});
}

TEST(PTOForms, IntegerDivision) {
    Forms t;
    divisions<int8_t>(t, "i8");
    divisions<uint8_t>(t, "u8");
    divisions<int16_t>(t, "i16");
    divisions<uint16_t>(t, "u16");
    divisions<int32_t>(t, "i32");
    divisions<uint32_t>(t, "u32");
    t.add("divide_by_scalar", [](Form &p) {
        ImageParam a = p.input<int32_t>("a", {p.w, p.h});
        Func f("f");
        f(x, y) = a(x, y) / (y + 3) + a(x, y) % (y + 2);
        if (p.scheduled) {
            rows(f);
        }
        p.output(f, p.w, p.h);
    });
    t.add("divide_lane", [](Form &p) {
        ImageParam a = p.input<int32_t>("a", {p.w, p.h});
        Func f("f");
        f(x, y) = a(x, y) / (x + 1) + x / (y + 1) + x % 3;
        if (p.scheduled) {
            rows(f);
        }
        p.output(f, p.w, p.h);
    });
    t.execute("divisions");
}

// ---- M2

TEST(PTOForms, Boundaries) {
    Forms t;
    const std::vector<std::pair<std::string, std::function<Func(ImageParam)>>> conditions = {
        {"edge", [](ImageParam in) { return BoundaryConditions::repeat_edge(in); }},
        {"exterior", [](ImageParam in) { return BoundaryConditions::constant_exterior(in, 7); }},
        {"repeat", [](ImageParam in) { return BoundaryConditions::repeat_image(in); }},
        {"mirror", [](ImageParam in) { return BoundaryConditions::mirror_image(in); }},
        {"interior", [](ImageParam in) { return BoundaryConditions::mirror_interior(in); }},
    };
    for (const auto &[name, condition] : conditions) {
        const auto make = condition;
        t.add("boundary_" + name, [=](Form &p) {
            ImageParam in = p.input<int32_t>("in", {p.w, p.h});
            Func b = make(in), f("f");
            f(x, y) = b(x - 2, y) + b(x, y - 1) * 3 + b(x + 2, y + 1);
            if (p.scheduled) {
                rows(f);
            }
            p.output(f, p.w, p.h);
        }, {{300, 5}, {64, 3}});
        t.add("boundary_ub_" + name, [=](Form &p) {
            ImageParam in = p.input<float>("in", {p.w, p.h});
            Func b = make(in), f("f");
            f(x, y) = b(x - 1, y) + b(x, y - 1) * 3.0f + b(x + 1, y + 1);
            if (p.scheduled) {
                f.split(x, xo, xi, 128).pto_blocks(y).vectorize(xi, 64);
                b.compute_at(f, xo).store_in(MemoryType::UB);
            }
            p.tolerance = 1e-6;
            p.output(f, p.w, p.h);
        }, {{300, 5}, {64, 3}});
    }
    t.execute("boundaries");
}

TEST(PTOForms, InnerLoops) {
    Forms t;
    t.add("stencil_rdom", [](Form &p) {
        ImageParam in = p.input<float>("in", {p.w + 2, p.h + 2}), k = p.input<float>("k", {3, 3});
        Func f("f");
        RDom r(0, 3, 0, 3);
        f(x, y) = 0.0f;
        f(x, y) += in(x + r.x, y + r.y) * k(r.x, r.y);
        if (p.scheduled) {
            rows(f);
            f.update().reorder(x, r.x, r.y, y).pto_blocks(y).vectorize(x, 64);
        }
        p.tolerance = 1e-5;
        p.output(f, p.w, p.h);
    });
    t.add("stencil_sum", [](Form &p) {
        ImageParam in = p.input<float>("in", {p.w + 2, p.h + 2});
        Func f("f");
        RDom r(0, 3, 0, 3);
        f(x, y) = sum(in(x + r.x, y + r.y)) / 9.0f;
        if (p.scheduled) {
            rows(f);
        }
        p.tolerance = 1e-5;
        p.output(f, p.w, p.h);
    });
    t.add("matmul", [](Form &p) {
        ImageParam a = p.input<float>("a", {32, p.h}), b = p.input<float>("b", {p.w, 32});
        Func f("f"), m("m");
        RDom r(0, 32);
        m(x, y) = 0.0f;
        m(x, y) += a(r, y) * b(x, r);
        f(x, y) = m(x, y);
        if (p.scheduled) {
            f.split(x, xo, xi, 128).pto_blocks(xo, y).vectorize(xi, 64);
            m.compute_at(f, xo).vectorize(x, 64).update().reorder(x, r).vectorize(x, 64);
        }
        p.tolerance = 1e-4;
        p.output(f, p.w, p.h);
    });
    t.add("matmul_run_time", [](Form &p) {
        ImageParam a = p.input<float>("a", {p.w / 7, p.h}), b = p.input<float>("b", {p.w, p.w / 7});
        Func f("f"), m("m");
        RDom r(0, a.dim(0).extent());
        m(x, y) = 0.0f;
        m(x, y) += a(r, y) * b(x, r);
        f(x, y) = m(x, y);
        if (p.scheduled) {
            f.split(x, xo, xi, 128).pto_blocks(xo, y).vectorize(xi, 64);
            m.compute_at(f, xo).vectorize(x, 64).update().reorder(x, r).vectorize(x, 64);
        }
        p.tolerance = 1e-4;
        p.output(f, p.w, p.h);
    });
    t.add("horner", [](Form &p) {
        ImageParam in = p.input<float>("in", {p.w, p.h}), k = p.input<float>("k", {7});
        Func f("f");
        RDom r(0, 7);
        f(x, y) = 0.0f;
        f(x, y) = f(x, y) * (in(x, y) * 0.1f) + k(r);
        if (p.scheduled) {
            rows(f);
            f.update().reorder(r, x, y).pto_blocks(y).vectorize(x, 64);
        }
        p.tolerance = 1e-4;
        p.output(f, p.w, p.h);
    });
    t.add("triangle_where", [](Form &p) {
        ImageParam in = p.input<int32_t>("in", {p.w, p.h});
        Func f("f");
        RDom r(0, 10);
        r.where(r <= x % 8);
        f(x, y) = 0;
        f(x, y) += in(x, y) * r;
        if (p.scheduled) {
            rows(f);
            f.update().reorder(r, x, y).pto_blocks(y).vectorize(x, 64);
        }
        p.output(f, p.w, p.h);
    });
    t.add("triangle_uniform", [](Form &p) {
        ImageParam in = p.input<int32_t>("in", {p.w, p.h});
        Func f("f");
        RDom r(0, 10);
        r.where(r <= y);
        f(x, y) = 0;
        f(x, y) += in(x, y) * (r + 1);
        if (p.scheduled) {
            rows(f);
            f.update().reorder(r, x, y).pto_blocks(y).vectorize(x, 64);
        }
        p.output(f, p.w, p.h);
    });
    t.add("specialize", [](Form &p) {
        ImageParam in = p.input<int32_t>("in", {p.w, p.h});
        Func f("f");
        f(x, y) = in(x, y) * 3 + x;
        if (p.scheduled) {
            f.specialize(in.dim(0).extent() > 100).pto_blocks(y).vectorize(x, 64);
            f.vectorize(x, 64);
        }
        p.output(f, p.w, p.h);
    });
    t.add("specialize_inside", [](Form &p) {
        ImageParam in = p.input<int32_t>("in", {p.w, p.h});
        Func f("f");
        f(x, y) = in(x, y) * 3 + x;
        if (p.scheduled) {
            f.specialize(in.dim(0).extent() > 100).split(x, xo, xi, 128).pto_blocks(xo, y).vectorize(xi, 64);
            f.specialize(in.dim(1).extent() > 2).pto_blocks(y).vectorize(x, 64);
            f.pto_blocks(y).vectorize(x, 128);
        }
        p.output(f, p.w, p.h);
    });
    t.add("ramps", [](Form &p) {
        ImageParam in = p.input<float>("in", {p.w, p.h});
        Func f("f");
        f(x, y) = in(x, y) * cast<float>(x) + cast<float>(y * 3) + cast<float>(cast<uint32_t>(x) * 77777777);
        if (p.scheduled) {
            rows(f);
        }
        p.tolerance = 1e-6;
        p.output(f, p.w, p.h);
    });
    t.add("scalar_params", [](Form &p) {
        ImageParam in = p.input<float>("in", {p.w, p.h});
        Func f("f");
        f(x, y) = in(x, y) * cast<float>(in.dim(0).extent()) + cast<float>(in.dim(1).extent());
        if (p.scheduled) {
            rows(f);
        }
        p.tolerance = 1e-6;
        p.output(f, p.w, p.h);
    });
    t.execute("inner");
}

// ---- M3: reductions

TEST(PTOForms, Reductions) {
    Forms t;
    t.add("sum_rows_run_time", [](Form &p) {
        ImageParam in = p.input<float>("in", {p.w, p.h});
        Func f("f");
        RDom r(0, in.dim(0).extent());
        f(y) = 0.0f;
        f(y) += in(r, y);
        if (p.scheduled) {
            f.pto_blocks(y);
            f.update().pto_blocks(y).atomic().vectorize(r, 64);
        }
        p.tolerance = 1e-4;
        p.output(f, p.h);
    });
    t.add("sum_u8", [](Form &p) {
        ImageParam in = p.input<uint8_t>("in", {p.w, p.h});
        Func f("f"), s("s");
        RDom r(0, p.w);
        s(y) += cast<uint32_t>(in(r, y));
        f(y) = s(y);
        if (p.scheduled) {
            f.pto_blocks(y);
            s.compute_at(f, y).update().atomic().vectorize(r, 64);
        }
        p.output(f, p.h);
    }, {{300, 5}});
    t.add("dot_i16", [](Form &p) {
        ImageParam a = p.input<int16_t>("a", {p.w, p.h}), b = p.input<int16_t>("b", {p.w, p.h});
        Func f("f"), s("s");
        RDom r(0, p.w);
        s(y) += cast<int32_t>(a(r, y)) * cast<int32_t>(b(r, y));
        f(y) = s(y);
        if (p.scheduled) {
            f.pto_blocks(y);
            s.compute_at(f, y).update().atomic().vectorize(r, 64);
        }
        p.output(f, p.h);
    }, {{300, 5}});
    t.add("argmax_two_passes", [](Form &p) {
        ImageParam in = p.input<float>("in", {p.w, p.h});
        Func f("f"), most("most"), first("first");
        RDom r(0, p.w);
        most(y) = in(0, y);
        most(y) = max(most(y), in(r, y));
        first(y) = p.w;
        first(y) = min(first(y), select(in(r, y) == most(y), r, p.w));
        f(y) = first(y);
        if (p.scheduled) {
            f.pto_blocks(y);
            most.compute_at(f, y).update().atomic().vectorize(r, 64);
            first.compute_at(f, y).update().atomic().vectorize(r, 64);
        }
        p.output(f, p.h);
    }, {{300, 5}});
    t.add("argmax_inline", [](Form &p) {
        ImageParam in = p.input<int32_t>("in", {p.w, p.h});
        Func f("f");
        RDom r(0, p.w);
        f(y) = argmax(r, in(r, y))[0];
        if (p.scheduled) {
            f.pto_blocks(y);
        }
        p.output(f, p.h);
    }, {{300, 5}});
    t.add("argmax_serial", [](Form &p) {
        ImageParam in = p.input<float>("in", {p.w, p.h});
        Func f("f"), best("best");
        RDom r(0, p.h);
        best(x) = Tuple(0, -1e30f);
        const Expr better = in(x, r) > best(x)[1];
        best(x) = Tuple(select(better, r, best(x)[0]), select(better, in(x, r), best(x)[1]));
        f(x) = cast<float>(best(x)[0]) + best(x)[1];
        if (p.scheduled) {
            f.split(x, xo, xi, 128).pto_blocks(xo).vectorize(xi, 64);
            best.compute_at(f, xo).vectorize(x, 64).update().reorder(x, r).vectorize(x, 64);
        }
        p.output(f, p.w);
    }, {{300, 5}});
    t.add("softmax_run_time", [](Form &p) {
        ImageParam in = p.input<float>("in", {p.w, p.h});
        Func f("f"), m("m"), s("s");
        RDom r(0, in.dim(0).extent());
        m(y) = -1e30f;
        m(y) = max(m(y), in(r, y));
        s(y) = 0.0f;
        s(y) += exp(in(r, y) - m(y));
        f(x, y) = exp(in(x, y) - m(y)) / s(y);
        if (p.scheduled) {
            f.pto_blocks(y).vectorize(x, 64);
            m.compute_at(f, y).update().atomic().vectorize(r, 64);
            s.compute_at(f, y).update().atomic().vectorize(r, 64);
        }
        p.tolerance = 1e-5;
        p.output(f, p.w, p.h);
    });
    t.add("layer_norm", [](Form &p) {
        ImageParam in = p.input<float>("in", {p.w, p.h}), g = p.input<float>("g", {p.w});
        Func f("f"), m("m"), s("s"), inv("inv");
        const float n = (float)p.w;
        RDom r(0, p.w);
        m(y) += in(r, y) / n;
        s(y) += (in(r, y) - m(y)) * (in(r, y) - m(y));
        inv(y) = 1.0f / sqrt(s(y) / n + 1e-5f);
        f(x, y) = (in(x, y) - m(y)) * inv(y) * g(x);
        if (p.scheduled) {
            f.bound(x, 0, p.w).pto_blocks(y).vectorize(x, 64);
            m.compute_at(f, y).update().atomic().vectorize(r, 64);
            s.compute_at(f, y).update().atomic().vectorize(r, 64);
            inv.compute_at(f, y);
            in.in().compute_at(f, y).store_in(MemoryType::UB);
        }
        p.tolerance = 1e-4;
        p.output(f, p.w, p.h);
    }, {{300, 5}});
    t.add("sum_2d", [](Form &p) {
        ImageParam in = p.input<float>("in", {p.w, p.h, 3});
        Func f("f"), s("s");
        RDom r(0, p.w, 0, p.h);
        s(z) += in(r.x, r.y, z);
        f(z) = s(z);
        if (p.scheduled) {
            f.pto_blocks(z);
            s.compute_at(f, z).update().atomic().vectorize(r.x, 64);
        }
        p.tolerance = 1e-4;
        p.output(f, 3);
    }, {{300, 5}});
    t.add("scan", [](Form &p) {
        ImageParam in = p.input<int32_t>("in", {p.w, p.h});
        Func f("f");
        RDom r(1, p.w - 1);
        f(x, y) = in(x, y);
        f(r, y) += f(r - 1, y);
        if (p.scheduled) {
            rows(f);
            f.update().pto_blocks(y);
        }
        p.output(f, p.w, p.h);
    }, {{300, 5}});
    t.execute("reductions");
}

TEST(PTOForms, GroupedRows) {
    Forms t;
    for (const int n : {8, 16, 20, 32}) {
        t.add("row_sums_" + std::to_string(n), [=](Form &p) {
            ImageParam in = p.input<float>("in", {n, p.w});
            Func f("f"), s("s");
            RDom r(0, n);
            s(y) += in(r, y);
            f(y) = s(y);
            if (p.scheduled) {
                f.split(y, yo, yi, 64).pto_blocks(yo).vectorize(yi, 64);
                s.compute_at(f, yo).vectorize(y, 64).update().reorder(r, y).atomic().vectorize(r, 8).vectorize(y, 8);
            }
            p.tolerance = 1e-4;
            p.output(f, p.w);
        }, {{300, 1}});
    }
    t.add("row_max_grouped", [](Form &p) {
        ImageParam in = p.input<int32_t>("in", {8, p.w});
        Func f("f"), s("s");
        RDom r(0, 8);
        s(y) = -1000000;
        s(y) = max(s(y), in(r, y));
        f(x, y) = in(x, y) - s(y);
        if (p.scheduled) {
            f.bound_extent(x, 8).split(y, yo, yi, 64).pto_blocks(yo).vectorize(x);
            s.compute_at(f, yo).vectorize(y, 64).update().reorder(r, y).atomic().vectorize(r, 8).vectorize(y, 8);
        }
        p.output(f, 8, p.w);
    }, {{300, 1}});
    t.execute("grouped");
}

// ---- M4

TEST(PTOForms, Memory) {
    Forms t;
    t.add("large_tiles", [](Form &p) {
        ImageParam in = p.input<float>("in", {p.w, p.h});
        Func f("f");
        f(x, y) = in(x, y) * 2.0f;
        if (p.scheduled) {
            f.split(x, xo, xi, 100000).pto_blocks(y).vectorize(xi, 64);
        }
        p.output(f, p.w, p.h);
    }, {{70000, 2}});
    t.add("two_dimensional_tiles", [](Form &p) {
        ImageParam in = p.input<int32_t>("in", {p.w + 4, p.h + 4});
        Func f("f"), bx("bx"), by("by");
        bx(x, y) = in(x, y) + in(x + 1, y) + in(x + 2, y);
        by(x, y) = bx(x, y) + bx(x, y + 1) + bx(x, y + 2);
        f(x, y) = by(x, y) + by(x + 2, y + 2);
        if (p.scheduled) {
            f.tile(x, y, xo, yo, xi, yi, 128, 4).pto_blocks(xo, yo).vectorize(xi, 64);
            by.compute_at(f, xo).vectorize(x, 64);
            bx.compute_at(f, xo).vectorize(x, 64);
            in.in().compute_at(f, xo);
        }
        p.output(f, p.w, p.h);
    });
    t.add("sliding", [](Form &p) {
        ImageParam in = p.input<int32_t>("in", {p.w, p.h + 2});
        Func f("f"), b("b");
        b(x, y) = in(x, y) * 3 + 1;
        f(x, y) = b(x, y) + b(x, y + 1) + b(x, y + 2);
        if (p.scheduled) {
            f.split(x, xo, xi, 128).reorder(xi, y, xo).pto_blocks(xo).vectorize(xi, 64);
            b.store_at(f, xo).compute_at(f, y).fold_storage(y, 4).vectorize(x, 64);
        }
        p.output(f, p.w, p.h);
    });
    t.add("double_buffer_in", [](Form &p) {
        ImageParam in = p.input<float>("in", {p.w, p.h});
        Func f("f");
        f(x, y) = in(x, y) * in(x, y) + 1.0f;
        if (p.scheduled) {
            f.split(x, xo, xi, 64).pto_blocks(y).vectorize(xi, 64);
            in.in(f).compute_at(f, xo).hoist_storage(f, y).ring_buffer(3).async();
        }
        p.output(f, p.w, p.h);
    });
    t.add("double_buffer_stage", [](Form &p) {
        ImageParam in = p.input<float>("in", {p.w, p.h});
        Func f("f"), g("g");
        g(x, y) = in(x, y) * 3.0f;
        f(x, y) = g(x, y) + 1.0f;
        if (p.scheduled) {
            f.split(x, xo, xi, 64).pto_blocks(y).vectorize(xi, 64);
            g.compute_at(f, xo).hoist_storage(f, y).ring_buffer(2).vectorize(x, 64);
            in.in(g).compute_at(f, xo).hoist_storage(f, y).ring_buffer(2).async();
        }
        p.output(f, p.w, p.h);
    });
    t.add("two_kernels", [](Form &p) {
        ImageParam in = p.input<int32_t>("in", {p.w, p.h});
        Func f("f"), g("g");
        g(x, y) = in(x, y) * 3;
        f(x, y) = g(x, y) + g(in.dim(0).extent() - 1 - x, y);
        if (p.scheduled) {
            f.split(x, xo, xi, 128).pto_blocks(y).vectorize(xi, 64);
            g.compute_root().split(x, xo, xi, 128).pto_blocks(xo, y).vectorize(xi, 64);
        }
        p.output(f, p.w, p.h);
    });
    t.add("many_blocks", [](Form &p) {
        ImageParam in = p.input<int32_t>("in", {p.w, 3, 2, 2, p.h});
        Func f("f");
        f(x, y, z, c, u) = in(x, y, z, c, u) + x + y + z + c + u;
        if (p.scheduled) {
            f.split(x, xo, xi, 64).gpu_blocks(xo, DeviceAPI::PTO).gpu_blocks(y, DeviceAPI::PTO).gpu_blocks(z, DeviceAPI::PTO)
                .gpu_blocks(c, DeviceAPI::PTO).gpu_blocks(u, DeviceAPI::PTO).vectorize(xi, 64);
        }
        p.output(f, p.w, 3, 2, 2, p.h);
    }, {{100, 2}});
    t.execute("memory");
}

// ---- M5

template<typename T>
void accesses(Forms &t, const std::string &n) {
    t.add("deinterleave_" + n, [](Form &p) {
        ImageParam in = p.input<T>("in", {2 * p.w, p.h});
        Func f("f");
        f(x, y) = in(2 * x, y) + in(2 * x + 1, y) * cast<T>(3);
        if (p.scheduled) {
            f.split(x, xo, xi, 128).pto_blocks(y).vectorize(xi, 128);
        }
        p.output(f, p.w, p.h);
    });
    t.add("interleave_" + n, [](Form &p) {
        ImageParam a = p.input<T>("a", {p.w, p.h}), b = p.input<T>("b", {p.w, p.h});
        Func f("f");
        f(c, x, y) = mux(c, {a(x, y), b(x, y) + cast<T>(1)});
        if (p.scheduled) {
            f.bound(c, 0, 2).unroll(c).split(x, xo, xi, 128).pto_blocks(y).vectorize(xi, 128);
        }
        p.output(f, 2, p.w, p.h);
    });
    t.add("interleave_x_" + n, [](Form &p) {
        ImageParam a = p.input<T>("a", {p.w, p.h}), b = p.input<T>("b", {p.w, p.h});
        Func f("f");
        f(x, y) = select(x % 2 == 0, a(x / 2, y), b(x / 2, y));
        if (p.scheduled) {
            f.split(x, xo, xi, 256).pto_blocks(y).vectorize(xi, 128);
        }
        p.output(f, 2 * p.w, p.h);
    });
    t.add("rgb_to_planar_" + n, [](Form &p) {
        ImageParam in = p.input<T>("in", {3, p.w, p.h});
        Func f("f");
        f(x, y, c) = in(c, x, y);
        if (p.scheduled) {
            f.bound(c, 0, 3).split(x, xo, xi, 128).pto_blocks(y).vectorize(xi, 64);
        }
        p.output(f, p.w, p.h, 3);
    });
    t.add("rgb_to_gray_" + n, [](Form &p) {
        ImageParam in = p.input<T>("in", {3, p.w, p.h});
        Func f("f");
        f(x, y) = in(0, x, y) + in(1, x, y) * cast<T>(2) + in(2, x, y) * cast<T>(3);
        if (p.scheduled) {
            f.split(x, xo, xi, 128).pto_blocks(y).vectorize(xi, 64);
        }
        p.output(f, p.w, p.h);
    });
    t.add("planar_to_rgb_" + n, [](Form &p) {
        ImageParam in = p.input<T>("in", {p.w, p.h, 3});
        Func f("f");
        f(c, x, y) = in(x, y, c);
        if (p.scheduled) {
            f.bound(c, 0, 3).split(x, xo, xi, 128).reorder(c, xi, xo, y).pto_blocks(y).unroll(c).vectorize(xi, 64);
        }
        p.output(f, 3, p.w, p.h);
    });
    t.add("reverse_" + n, [](Form &p) {
        ImageParam in = p.input<T>("in", {p.w, p.h});
        Func f("f");
        f(x, y) = in(in.dim(0).extent() - 1 - x, y);
        if (p.scheduled) {
            f.split(x, xo, xi, 128).pto_blocks(y).vectorize(xi, 64);
        }
        p.output(f, p.w, p.h);
    });
    t.add("transpose_" + n, [](Form &p) {
        ImageParam in = p.input<T>("in", {p.h, p.w});
        Func f("f");
        f(x, y) = in(y, x);
        if (p.scheduled) {
            f.split(x, xo, xi, 64).pto_blocks(y, xo).vectorize(xi, 64);
        }
        p.output(f, p.w, p.h);
    });
    t.add("upsample_" + n, [](Form &p) {
        ImageParam in = p.input<T>("in", {p.w, p.h});
        Func f("f");
        f(x, y) = in(x / 2, y / 2);
        if (p.scheduled) {
            f.split(x, xo, xi, 128).pto_blocks(y).vectorize(xi, 64);
        }
        p.output(f, 2 * p.w, 2 * p.h);
    });
    t.add("table_" + n, [](Form &p) {
        ImageParam table = p.input<T>("table", {256}), at = p.input<uint8_t>("at", {p.w, p.h});
        Func f("f");
        f(x, y) = table(cast<int32_t>(at(x, y)));
        if (p.scheduled) {
            f.split(x, xo, xi, 128).pto_blocks(y).vectorize(xi, 64);
            table.in(f).compute_at(f, y).store_in(MemoryType::UB);
        }
        p.output(f, p.w, p.h);
    });
}

TEST(PTOForms, Accesses) {
    Forms t;
    accesses<float>(t, "f32");
    accesses<int16_t>(t, "i16");
    accesses<uint8_t>(t, "u8");
    t.add("scatter_columns", [](Form &p) {
        ImageParam in = p.input<int32_t>("in", {p.w, 4});
        Func f("f"), g("g");
        g(x, y) = in(y, x) + 1;
        f(x, y) = g(x, y) * 2;
        if (p.scheduled) {
            f.bound(x, 0, 4).split(y, yo, yi, 64).pto_blocks(yo).vectorize(x);
            g.compute_at(f, yo).reorder_storage(x, y).vectorize(y, 64);
        }
        p.output(f, 4, p.w);
    });
    t.execute("accesses");
}

// ---- M6

TEST(PTOForms, Reducers) {
    Forms t;
    t.add("rfactor_lanes", [](Form &p) {
        ImageParam in = p.input<float>("in", {p.w, p.h});
        Func f("f"), s("s");
        RDom r(0, 256);
        RVar ro("ro"), ri("ri");
        s(y) += in(r, y);
        f(y) = s(y);
        if (p.scheduled) {
            f.pto_blocks(y);
            s.compute_at(f, y);
            s.update().split(r, ro, ri, 64);
            Func part = s.update().rfactor(ri, u);
            part.compute_at(f, y).vectorize(u, 64).update().reorder(u, ro).vectorize(u, 64);
            s.update().atomic().vectorize(ri, 64);
        }
        p.tolerance = 1e-4;
        p.output(f, p.h);
    }, {{300, 5}});
    t.add("rfactor_blocks", [](Form &p) {
        ImageParam in = p.input<int32_t>("in", {p.w});
        Func f("f");
        RDom r(0, in.dim(0).extent());
        RVar ro("ro"), ri("ri");
        f() = 0;
        f() += in(r);
        if (p.scheduled) {
            f.update().split(r, ro, ri, 100);
            Func part = f.update().rfactor(ro, u);
            part.compute_root().pto_blocks(u).update().pto_blocks(u).atomic().vectorize(ri, 64);
            f.update().atomic().vectorize(ro, 64);
        }
        p.output(f);
    }, {{300, 5}});
    t.add("online_softmax_columns", [](Form &p) {
        ImageParam in = p.input<float>("in", {p.w, p.h});
        Func f("f"), s("s");
        RDom r(0, in.dim(1).extent());
        s(x) = Tuple(-1e30f, 0.0f);
        const Expr m = max(s(x)[0], in(x, r));
        s(x) = Tuple(m, s(x)[1] * exp(s(x)[0] - m) + exp(in(x, r) - m));
        f(x, y) = exp(in(x, y) - s(x)[0]) / s(x)[1];
        if (p.scheduled) {
            f.split(x, xo, xi, 128).reorder(xi, y, xo).pto_blocks(xo).vectorize(xi, 64);
            s.compute_at(f, xo).vectorize(x, 64).update().reorder(x, r).vectorize(x, 64);
        }
        p.tolerance = 1e-4;
        p.output(f, p.w, p.h);
    });
    t.add("online_softmax_rfactor", [](Form &p) {
        ImageParam in = p.input<float>("in", {p.w, p.h});
        Func f("f"), s("s"), part("part");
        RDom r(0, 4), q(0, 64);
        part(u, y) = Tuple(-1e30f, 0.0f);
        const Expr m = max(part(u, y)[0], in(u + r * 64, y));
        part(u, y) = Tuple(m, part(u, y)[1] * exp(part(u, y)[0] - m) + exp(in(u + r * 64, y) - m));
        Func most("most"), total("total");
        most(y) = -1e30f;
        most(y) = max(most(y), part(q, y)[0]);
        total(y) += part(q, y)[1] * exp(part(q, y)[0] - most(y));
        f(x, y) = exp(in(x, y) - most(y)) / total(y);
        if (p.scheduled) {
            f.pto_blocks(y).vectorize(x, 64);
            part.compute_at(f, y).vectorize(u, 64).update().reorder(u, r).vectorize(u, 64);
            most.compute_at(f, y).update().atomic().vectorize(q, 64);
            total.compute_at(f, y).update().atomic().vectorize(q, 64);
        }
        p.tolerance = 1e-4;
        p.output(f, p.w, p.h);
    }, {{256, 5}});
    t.add("welford_columns", [](Form &p) {
        ImageParam in = p.input<float>("in", {p.w, p.h});
        Func f("f"), s("s");
        RDom r(0, in.dim(1).extent());
        s(x) = Tuple(0.0f, 0.0f);
        const Expr d = in(x, r) - s(x)[0], mean = s(x)[0] + d / cast<float>(r + 1);
        s(x) = Tuple(mean, s(x)[1] + d * (in(x, r) - mean));
        f(x) = s(x)[1] / cast<float>(in.dim(1).extent());
        if (p.scheduled) {
            f.split(x, xo, xi, 128).pto_blocks(xo).vectorize(xi, 64);
            s.compute_at(f, xo).vectorize(x, 64).update().reorder(x, r).vectorize(x, 64);
        }
        p.tolerance = 1e-4;
        p.output(f, p.w);
    });
    t.execute("reducers");
}

}  // namespace
