// What the PTO back end refuses: each case with the full text.

#include "Halide.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

using namespace Halide;

HalideExtern_1(float, my_function, float)

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

/// The number in a generated name depends on what was named before.
std::string without_numbers(const std::string &text) {
    std::string result;
    for (size_t i = 0; i < text.size(); i++) {
        result += text[i];
        if (text[i] == '$' && i + 1 < text.size() && isdigit((unsigned char)text[i + 1])) {
            result += '0';
            i = std::min(text.find_first_not_of("0123456789", i + 1), text.size()) - 1;
        }
    }
    return result;
}

std::string report_of(const std::function<void()> &mistake) {
    try {
        mistake();
    } catch (const CompileError &e) {
        return without_numbers(e.what());
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
         "Error: PTO, memory access: the loop over x in the pure definition of f is vectorized and loads from global "
         "memory at a place that depends on data, in(min(max(index(x), 0), 99)).\n"
         "  Vector code reaches the unified buffer only: keep in there, as "
         "in.in().compute_at(…).store_in(MemoryType::UB) does, or do not vectorize this loop.\n"},
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
         "Error: PTO, memory access: the loop over r$x in update 0 of f is vectorized and stores to global memory at "
         "a place that depends on data, f(min(max(index(r$x), 0), 99)).\n"
         "  Vector code reaches the unified buffer only: compute f there with store_in(MemoryType::UB), and copy it "
         "out by another Func, or do not vectorize this loop.\n"},
        {"ub_outside_of_kernels",
         [] {
             Func f = named("f"), g = named("g");
             g(x) = x;
             f(x) = g(x) + 1;
             g.compute_root().store_in(MemoryType::UB);
             f.split(x, xo, xi, 64).pto_blocks(xo);
             compile(f);
         },
         "Error: PTO, memory: g is stored in UB, but outside of all block loops. The unified buffer belongs to one "
         "core while it runs one kernel.\n"
         "  Store g inside a block loop with store_at or compute_at, or leave its storage to Auto.\n"},
        {"memory_type_of_another_device",
         [] {
             Func f = named("f"), g = named("g");
             g(x) = x;
             f(x) = g(x) + 1;
             f.split(x, xo, xi, 64).pto_blocks(xo);
             g.compute_at(f, xo).store_in(MemoryType::GPUShared);
             compile(f);
         },
         "Error: PTO, memory: g is computed in a kernel, which has no memory of the kind GPUShared.\n"
         "  Use store_in(MemoryType::UB), or leave it to Auto.\n"},
        {"heap_inside_of_a_kernel",
         [] {
             Func f = named("f"), g = named("g");
             g(x) = x;
             f(x) = g(x) + 1;
             f.split(x, xo, xi, 64).pto_blocks(xo);
             g.compute_at(f, xo).store_in(MemoryType::Heap);
             compile(f);
         },
         "Error: PTO, memory: g is stored in global memory (MemoryType::Heap) inside of a kernel, which cannot "
         "allocate there.\n"
         "  Use store_in(MemoryType::UB), or compute it outside of the block loops.\n"},
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
         "Error: PTO, memory: g is stored in UB, where its size must be known when it is compiled, but its extent in "
         "x has no constant upper bound.\n"
         "  Split the loops that g is computed in by constants, or use bound, bound_extent or bound_storage.\n"},
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
         "Error: PTO, memory: the buffers of kernel f_k0 need 327680 bytes of the unified buffer, which has 253952:\n"
         "    g: 131072 bytes\n"
         "    h: 131072 bytes\n"
         "    tile of in: 65792 bytes\n"
         "    tile of f: 65536 bytes\n"
         "  Split by 25344 or less where g now has 32768 elements in a row.\n"},
        {"embedded_buffer",
         [] {
             Buffer<float> table(100, "table");
             Func f = named("f");
             f(x) = table(x);
             f.bound(x, 0, 100).vectorize(x, 64);
             compile(f);
         },
         "Error: PTO, memory: f reads the Buffer table, which is part of the program, but a kernel gets its data as "
         "arguments.\n"
         "  Make it an ImageParam.\n"},
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
         "Error: PTO, loop structure: the loop over r$x in update 0 of f is serial and has block loops inside, and "
         "its iterations pass values of f on through global memory, where blocks cannot wait for each other.\n"
         "  Move the block loops outside of r$x.\n"},
        {"swar_in_a_kernel",
         [] {
             ImageParam in(UInt(8), 1, "in");
             Func f = named("f");
             f(x) = in(x) + cast<uint8_t>(1);
             f.vectorize(x, 8, VectorizeIn::SWAR);
             compile(f);
         },
         "Error: PTO, lanes: the loop over x in the pure definition of f packs lanes into words (VectorizeIn::SWAR), "
         "but a PTO device has vectors of its own.\n"
         "  Leave VectorizeIn::SWAR away.\n"},
        {"code_for_the_cpu",
         [] {
             Func f = named("f");
             f(x) = x;
             f.compile_to_object("/tmp/bromide_pto_error.o", {}, "f", device());
         },
         "Error: The target x86-64-linux-pto_a5 is a PTO device, for which f becomes kernels and no code for the "
         "CPU.\n"
         "  Ask for pto_kernel, pto_assembly or pto_launch, or leave the PTO feature away.\n"},
        {"kernels_for_the_cpu",
         [] {
             Func f = named("f");
             f(x) = x;
             f.compile_to({{OutputFileType::pto_kernel, "/tmp/bromide_pto_error.pto.py"}}, {}, "f",
                          Target("x86-64-linux"));
         },
         "Error: The output pto_kernel of f is for PTO devices, but the target x86-64-linux has none.\n"
         "  Add the feature pto_a5 to the target, or use compile_to_pto.\n"},
        {"double_lanes",
         [] {
             ImageParam in(Float(64), 1, "in");
             Func f = named("f");
             f(x) = in(x) * 2.0;
             f.split(x, xo, xi, 256).pto_blocks(xo).vectorize(xi);
             compile(f);
         },
         "Error: PTO, dtype: f holds float64, which vectors cannot\n"
         "  In kernel f_k0.\n"
         "  Vectors have elements of at most 32 bits: cast to a 32-bit type.\n"},
        {"int64_lanes",
         [] {
             ImageParam in(Int(32), 1, "in");
             Func f = named("f");
             f(x) = cast<int32_t>((cast<int64_t>(in(x)) * in(x)) >> 32);
             f.split(x, xo, xi, 256).pto_blocks(xo).vectorize(xi);
             compile(f);
         },
         "Error: PTO, dtype: `((int64(t0)*int64(t0))/4294967296_i64)` has 64-bit lanes\n"
         "  In the pure definition of f, vectorized over xi, kernel f_k0.\n"
         "  Vectors have elements of at most 32 bits: cast to a 32-bit type first.\n"},
        {"extern_function",
         [] {
             ImageParam in(Float(32), 1, "in");
             Func f = named("f");
             f(x) = my_function(in(x));
             f.split(x, xo, xi, 256).pto_blocks(xo).vectorize(xi);
             compile(f);
         },
         "Error: PTO, call: `(float32)my_function((float32)in[xi])` is a call that vector code cannot make\n"
         "  In the pure definition of f, vectorized over xi, kernel f_k0.\n"
         "  Vector code has the mathematical functions of the language; what others compute must be written as "
         "expressions.\n"},
        {"extern_stage",
         [] {
             Func f = named("f"), g = named("g");
             g.define_extern("make_g", {}, Float(32), 1);
             f(x) = g(x) + 1.0f;
             g.compute_root();
             f.split(x, xo, xi, 256).pto_blocks(xo).vectorize(xi);
             compile(f);
         },
         "Error: PTO, call: g is computed by the extern function make_g, which kernels cannot call.\n"
         "  Compute it before the pipeline, and pass it as an ImageParam.\n"},
        {"print_in_a_kernel",
         [] {
             ImageParam in(Float(32), 1, "in");
             Func f = named("f");
             f(x) = print(in(x), "at", x);
             f.split(x, xo, xi, 256).pto_blocks(xo).vectorize(xi);
             compile(f);
         },
         "Error: PTO, statement: a kernel cannot print, as the value that is computed here does\n"
         "  In the pure definition of f, vectorized over xi, kernel f_k0.\n"
         "  Take print and print_when away, or compile for the CPU, where the same schedule runs.\n"},
        {"trace_of_a_kernel",
         [] {
             ImageParam in(Float(32), 1, "in");
             Func f = named("f");
             f(x) = in(x) + 1.0f;
             f.trace_stores().split(x, xo, xi, 256).pto_blocks(xo).vectorize(xi);
             compile(f);
         },
         "Error: PTO, statement: f is traced, but a kernel has nobody to report to.\n"
         "  Take trace_loads, trace_stores and trace_realizations away, or compile for the CPU, where the same "
         "schedule runs.\n"},
        {"lanes_that_race",
         [] {
             ImageParam in(Int(32), 1, "in");
             Func f = named("f"), sum = named("sum");
             RDom r(0, 256, "r");
             sum() += in(r);
             f(x) = sum() + x;
             f.split(x, xo, xi, 256).pto_blocks(xo).vectorize(xi);
             sum.compute_at(f, xo).update().vectorize(r, 64);
             compile(f);
         },
         "Error: sum.update(0).vectorize(r1): r$x.r1 is a reduction loop of sum.update(0), so running its iterations "
         "at the same time may give a race condition, and the result depends on their order.\n"
         "  Call sum.update(0).atomic() first if the update is associative and commutative, split the reduction with "
         "rfactor, or call allow_race_conditions() if you know that the order does not matter.\n"},
        {"blocks_over_a_reduction",
         [] {
             ImageParam in(Int(32), 2, "in");
             Func f = named("f");
             RDom r(0, 256, "r");
             f(x) += in(x, r);
             f.split(x, xo, xi, 256).pto_blocks(xo).vectorize(xi);
             f.update().pto_blocks(r);
             compile(f);
         },
         "Error: f.update(0).pto_blocks(r$x): r$x is a reduction loop of f.update(0), so running its iterations at "
         "the same time may give a race condition, and the result depends on their order.\n"
         "  Call f.update(0).atomic() first if the update is associative and commutative, split the reduction with "
         "rfactor, or call allow_race_conditions() if you know that the order does not matter.\n"},
        {"blocks_over_an_unknown_loop",
         [] {
             Func f = named("f");
             f(x) = x;
             f.pto_blocks(y);
             compile(f);
         },
         "Error: f.pto_blocks(y): could not find dimension y in the schedule of f.\n"
         "  Loops of f, innermost first: Vars: x, __outermost\n"},
        {"blocks_of_another_device",
         [] {
             Func f = named("f");
             f(x) = x;
             f.split(x, xo, xi, 64).gpu_blocks(xo, DeviceAPI::CUDA);
             compile(f);
         },
         "Error: The schedule of f runs the loop over x.xo with a device API that the target "
         "x86-64-linux-no_bounds_query-pto-pto_a5 does not have.\n"
         "  Add the feature of that API to the target, or drop the directive.\n"},
        {"threads",
         [] {
             Func f = named("f");
             f(x) = x;
             f.split(x, xo, xi, 64).pto_blocks(xo).gpu_threads(xi, DeviceAPI::PTO);
             compile(f);
         },
         "Error: PTO, loop structure: f runs its loop over xi on the threads of a GPU, which a vector core does not "
         "have.\n"
         "  Vectorize xi instead.\n"},
        {"two_answers_about_hints",
         [] {
             Func f = named("f");
             f(x) = x;
             f.vectorize(x, 64);
             f.compile_to_pto("/tmp/bromide_pto_error", {}, "f",
                              Target("x86-64-linux-pto_a5-pto_unroll_none-pto_unroll_ptodsl"));
         },
         "Error: The target x86-64-linux-no_bounds_query-pto-pto_a5-pto_unroll_none-pto_unroll_ptodsl says both "
         "pto_unroll_none and pto_unroll_ptodsl about unroll hints.\n"
         "  Use one of them, or neither to unroll here.\n"},
        {"run_by_the_host",
         [] {
             Func f = named("f");
             f(x) = x;
             f.realize({64}, get_host_target().with_feature(Target::PTO_A5));
         },
         "Error: A target with PTO features cannot be used for JIT: this process has no PTO device.\n"
         "  Leave the PTO feature away to run the same schedule on the CPU, or emit kernels with compile_to_pto.\n"},
        {"missing_argument",
         [] {
             ImageParam in(Float(32), 1, "in");
             Func f = named("f");
             f(x) = in(x) + 1.0f;
             f.vectorize(x, 64);
             f.compile_to_pto("/tmp/bromide_pto_error", {}, "f", device());
         },
         "Error: Generated code refers to image parameter in, which was not found in the argument list.\n"
         "  Add what is missing to the arguments of f.\n"},
        {"tiles_too_large",
         [] {
             ImageParam in(Float(32), 2, "in");
             Func f = named("f");
             RDom r(0, 4000, "r");
             f(x) = 0.0f;
             f(x) += in(r, x);
             f.bound(x, 0, 64).vectorize(x, 64);
             f.update().reorder(r, x).vectorize(x, 64);
             compile(f);
         },
         "Error: PTO, memory access: the loop over x in update 0 of f is vectorized and accesses global memory, and "
         "the tiles that it needs in the unified buffer are too large even for 64 iterations.\n"
         "  Split the loops inside it and move the outer parts outside.\n"},
        {"scatter_in_ub",
         [] {
             ImageParam in(Int(32), 1, "in");
             Func f = named("f"), h = named("h");
             RDom r(0, 256, "r");
             h(x) = 0;
             h(clamp(in(r), 0, 63)) += 1;
             f(x) = h(x);
             f.bound(x, 0, 64).split(x, xo, xi, 64).pto_blocks(xo).vectorize(xi);
             h.compute_at(f, xo).vectorize(x, 64);
             h.update().allow_race_conditions().vectorize(r, 64);
             in.in(h).compute_at(f, xo).store_in(MemoryType::UB);
             compile(f);
         },
         "Error: PTO, memory access: two lanes may write the same element `h[min(max(in_im$0_in_h$0[r$x], 0), 63)]`\n"
         "  In update 0 of h, vectorized over r$x, kernel f_k0.\n"
         "  A scatter has no order among its lanes: only addresses that provably differ can be written at once.\n"},
        {"sum_of_64_bits",
         [] {
             ImageParam in(Int(32), 1, "in");
             Func f = named("f"), sum = named("sum");
             RDom r(0, 256, "r");
             sum() = cast<int64_t>(0);
             sum() += cast<int64_t>(in(r));
             f(x) = cast<int32_t>(sum() >> 8) + x;
             f.split(x, xo, xi, 256).pto_blocks(xo).vectorize(xi);
             sum.compute_at(f, xo).update().atomic().vectorize(r, 64);
             compile(f);
         },
         "Error: PTO, dtype: sum holds int64, which vectors cannot\n"
         "  In kernel f_k0.\n"
         "  Vectors have elements of at most 32 bits: cast to a 32-bit type.\n"},
    };
}

TEST(PTOErrors, FullText) {
    for (const Case &c : cases()) {
        EXPECT_EQ(report_of(c.mistake), c.message) << c.name;
    }
}

}  // namespace
