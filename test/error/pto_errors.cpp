// What the PTO back end refuses: each case with the full text.

#include "Halide.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

using namespace Halide;

namespace {

struct Case {
    const char *name;
    std::function<void()> mistake;
    std::string message;
};

/// A Func of exactly this name, so that the texts are fixed.
Func named(const char *name) {
    return Func(Internal::Function(name));
}

std::string report_of(const std::function<void()> &mistake) {
    try {
        mistake();
    } catch (const CompileError &e) {
        return e.what();
    } catch (const Error &e) {
        return std::string("not a CompileError: ") + e.what();
    }
    return "no error";
}

const Var x("x"), y("y"), xo("xo"), xi("xi");

Target device() {
    return Target("x86-64-linux-pto_a5");
}

void compile(Func f) {
    f.compile_to_pto("/tmp/bromide_pto_error", f.infer_arguments(), "f", device());
}

std::vector<Case> cases() {
    return {
        {"gather_from_global_memory",
         [] {
             ImageParam in(Float(32), 1, "in"), index(Int(32), 1, "index");
             Func f = named("f");
             f(x) = in(clamp(index(x), 0, 99));
             f.vectorize(x, 64);
             compile(f);
         },
         ""},
        {"scatter_to_global_memory",
         [] {
             ImageParam in(Float(32), 1, "in"), index(Int(32), 1, "index");
             Func f = named("f");
             RDom r(0, 100, "r");
             f(x) = 0.0f;
             f(clamp(index(r), 0, 99)) = in(r);
             f.update().allow_race_conditions().vectorize(r, 64);
             compile(f);
         },
         ""},
        {"ub_outside_of_kernels",
         [] {
             Func f = named("f"), g = named("g");
             g(x) = x;
             f(x) = g(x) + 1;
             g.compute_root().store_in(MemoryType::UB);
             f.split(x, xo, xi, 64).pto_blocks(xo);
             compile(f);
         },
         ""},
        {"memory_type_of_another_device",
         [] {
             Func f = named("f"), g = named("g");
             g(x) = x;
             f(x) = g(x) + 1;
             f.split(x, xo, xi, 64).pto_blocks(xo);
             g.compute_at(f, xo).store_in(MemoryType::GPUShared);
             compile(f);
         },
         ""},
        {"heap_inside_of_a_kernel",
         [] {
             Func f = named("f"), g = named("g");
             g(x) = x;
             f(x) = g(x) + 1;
             f.split(x, xo, xi, 64).pto_blocks(xo);
             g.compute_at(f, xo).store_in(MemoryType::Heap);
             compile(f);
         },
         ""},
        {"ub_without_constant_size",
         [] {
             ImageParam in(Float(32), 2, "in");
             Func f = named("f"), g = named("g");
             g(x, y) = in(x, y) * 2.0f;
             f(x, y) = g(x, y) + 1.0f;
             f.pto_blocks(y).vectorize(x, 64);
             g.compute_at(f, y).vectorize(x, 64);
             compile(f);
         },
         ""},
        {"ub_overflow",
         [] {
             ImageParam in(Float(32), 2, "in");
             Func f = named("f"), g = named("g"), h = named("h");
             g(x, y) = in(x, y) * 2.0f;
             h(x, y) = g(x, y) + 1.0f;
             f(x, y) = g(x, y) + h(x, y);
             f.split(x, xo, xi, 32768).pto_blocks(y);
             f.vectorize(xi, 64);
             g.compute_at(f, xo).vectorize(x, 64);
             h.compute_at(f, xo).vectorize(x, 64);
             compile(f);
         },
         ""},
        {"embedded_buffer",
         [] {
             Buffer<float> table(100, "table");
             Func f = named("f");
             f(x) = table(x);
             f.bound(x, 0, 100).vectorize(x, 64);
             compile(f);
         },
         ""},
        {"blocks_inside_of_a_serial_recurrence",
         [] {
             Func f = named("f");
             RDom r(1, 9, "r");
             f(x, y) = x + y;
             f(x, r) = f(x, r - 1) + 1;
             f.bound(x, 0, 64).bound(y, 0, 10);
             f.pto_blocks(y).vectorize(x, 64);
             f.update().split(x, xo, xi, 16).reorder(xi, xo, r).pto_blocks(xo);
             compile(f);
         },
         ""},
        {"swar_in_a_kernel",
         [] {
             ImageParam in(UInt(8), 1, "in");
             Func f = named("f");
             f(x) = in(x) + cast<uint8_t>(1);
             f.vectorize(x, 8, VectorizeIn::SWAR);
             compile(f);
         },
         ""},
        {"code_for_the_cpu",
         [] {
             Func f = named("f");
             f(x) = x;
             f.compile_to_object("/tmp/bromide_pto_error.o", {}, "f", device());
         },
         ""},
        {"kernels_for_the_cpu",
         [] {
             Func f = named("f");
             f(x) = x;
             f.compile_to({{OutputFileType::pto_kernel, "/tmp/bromide_pto_error.pto.py"}}, {}, "f",
                          Target("x86-64-linux"));
         },
         ""},
        {"temporary_of_unknown_size",
         [] {
             ImageParam in(Int(32), 1, "in");
             Func f = named("f"), g = named("g"), n = named("n");
             n() = clamp(in(0), 1, 100);
             RDom r(0, 100, "r");
             g(x) = x * 3;
             f(x) = g(x + clamp(in(x), 0, n()));
             n.compute_root();
             g.compute_root().pto_blocks(x);
             f.pto_blocks(x);
             compile(f);
         },
         ""},
    };
}

TEST(PTOErrors, FullText) {
    for (const Case &c : cases()) {
        EXPECT_EQ(report_of(c.mistake), c.message) << c.name;
    }
}

}  // namespace
