// Errors in the data that a pipeline runs on: each case with the full text.

#include "ErrorCases.h"
#include "Halide.h"

using namespace Halide;
using namespace error_cases;

extern "C" __attribute__((visibility("default"))) int runtime_errors_extern(halide_buffer_t *out) {
    return out->is_bounds_query() ? 0 : 13;
}

namespace {

std::vector<Case> cases() {
    return {
        {"input_too_small_after", Kind::Runtime,
         [] {
             Var x("x");
             Buffer<int> in(10, "in");
             Func f = named("f");
             f(x) = in(x + 1);
             f.realize({10});
         },
         "Error: Input buffer in is accessed at 10, which is beyond the max (9) in dimension 0\n"},
        {"input_too_small_before", Kind::Runtime,
         [] {
             Var x("x");
             Buffer<int> in(10, "in");
             Func f = named("f");
             f(x) = in(x - 3);
             f.realize({10});
         },
         "Error: Input buffer in is accessed at -3, which is before the min (0) in dimension 0\n"},
        {"input_too_small_in_y", Kind::Runtime,
         [] {
             Var x("x"), y("y");
             ImageParam in(UInt(8), 2, "in");
             Func f = named("f");
             f(x, y) = in(x, y) + in(x, y + 1);
             in.set(Buffer<uint8_t>(8, 8));
             f.realize({8, 8});
         },
         "Error: Input buffer in is accessed at 8, which is beyond the max (7) in dimension 1\n"},
        {"output_too_small_for_vectors", Kind::Runtime,
         [] {
             Var x("x");
             Func f = named("f");
             f(x) = x;
             f.vectorize(x, 8);
             Buffer<int> b(4);
             f.realize(b);
         },
         "Error: Output buffer f is accessed at -4, which is before the min (0) in dimension 0\n"},
        {"output_too_small_for_round_up", Kind::Runtime,
         [] {
             Var x("x");
             Func f = named("f");
             f(x) = x;
             f.vectorize(x, 8, TailStrategy::RoundUp);
             Buffer<int> b(12);
             f.realize(b);
         },
         "Error: Output buffer f is accessed at 15, which is beyond the max (11) in dimension 0\n"},
        {"output_type", Kind::Runtime,
         [] {
             Var x("x");
             Func f = named("f");
             f(x) = x;
             Buffer<float> b(4);
             f.realize(b);
         },
         "Error: Output buffer f has type int32 but type of the buffer passed in is float32\n"},
        {"output_dimensions", Kind::Runtime,
         [] {
             Var x("x");
             Func f = named("f");
             f(x) = x;
             Buffer<int> b(4, 4);
             f.realize(b);
         },
         "Error: Output buffer f requires a buffer of exactly 1 dimensions, but the buffer passed in has 2 "
         "dimensions\n"},
        {"output_stride", Kind::Runtime,
         [] {
             Var x("x"), y("y");
             Func f = named("f");
             f(x, y) = x;
             Buffer<int> b(4, 4);
             b.transpose(0, 1);
             f.realize(b);
         },
         "Error: Constraint violated: f.stride.0 (4) == 1 (1)\n"},
        {"input_stride", Kind::Runtime,
         [] {
             Var x("x"), y("y");
             ImageParam in(Int(32), 2, "in");
             Func f = named("f");
             f(x, y) = in(x, y);
             Buffer<int> b(4, 4);
             b.transpose(0, 1);
             in.set(b);
             f.realize({4, 4});
         },
         "Error: Constraint violated: in.stride.0 (4) == 1 (1)\n"},
        {"input_extent", Kind::Runtime,
         [] {
             Var x("x");
             ImageParam in(Int(32), 1, "in");
             in.dim(0).set_extent(16);
             Func f = named("f");
             f(x) = in(x);
             in.set(Buffer<int>(15));
             f.realize({4});
         },
         "Error: Constraint violated: in.extent.0 (15) == 16 (16)\n"},
        {"input_min", Kind::Runtime,
         [] {
             Var x("x");
             ImageParam in(Int(32), 1, "in");
             in.dim(0).set_min(0);
             Func f = named("f");
             f(x) = in(x + 5);
             Buffer<int> b(15);
             b.set_min(3);
             in.set(b);
             f.realize({4});
         },
         "Error: Constraint violated: in.min.0 (3) == 0 (0)\n"},
        {"bound_too_small", Kind::Runtime,
         [] {
             Var x("x"), y("y");
             Func f = named("f");
             f(x, y) = x;
             f.bound(y, 0, 3);
             Buffer<int> b(4, 4);
             f.realize(b);
         },
         "Error: Bounds given for y in f (from 0 to 2) do not cover required region (from 0 to 3)\n"},
        {"param_too_small", Kind::Runtime,
         [] {
             Var x("x");
             Param<int> p("p", 5, 0, 10);
             p.set(-1);
             Func f = named("f");
             f(x) = p;
             f.realize({4});
         },
         "Error: Parameter p is -1 but must be at least 0\n"},
        {"param_too_large", Kind::Runtime,
         [] {
             Var x("x");
             Param<int> p("p", 5, 0, 10);
             p.set(11);
             Func f = named("f");
             f(x) = p;
             f.realize({4});
         },
         "Error: Parameter p is 11 but must be at most 10\n"},
        {"float_param_too_large", Kind::Runtime,
         [] {
             Var x("x");
             Param<float> p("p", 5, 0, 10);
             p.set(11.5f);
             Func f = named("f");
             f(x) = p;
             f.realize({4});
         },
         "Error: Parameter p is 1.150000e+01 but must be at most 1.000000e+01\n"},
        {"param_unset", Kind::Compile,
         [] {
             Var x("x");
             Param<int> p("p");
             Func f = named("f");
             f(x) = p;
             f.realize({4});
         },
         "Error: Parameter p does not have a valid scalar value.\n"
         "  Give it one with p.set(...) before the pipeline runs.\n"},
        {"image_unset", Kind::Compile,
         [] {
             Var x("x");
             ImageParam p(UInt(8), 1, "in");
             Func f = named("f");
             f(x) = p(x);
             f.realize({4});
         },
         "Error: Can't run the pipeline: ImageParam in has no buffer bound to it.\n"
         "  Bind one with in.set(buffer).\n"},
        {"requirement_in_value", Kind::Runtime,
         [] {
             Var x("x");
             Param<int> p("p");
             p.set(0);
             Func f = named("f");
             f(x) = require(p > 0, x / p, "p is", p);
             f.realize({4});
         },
         "Error: Requirement Failed: ((p > 0)) 0 p is 0\n"},
        {"requirement_of_pipeline", Kind::Runtime,
         [] {
             Var x("x");
             Param<int> p("p");
             p.set(7);
             Func f = named("f");
             f(x) = x + p;
             Pipeline pl(f);
             pl.add_requirement(p % 2 == 0, "p is odd:", p);
             pl.realize({4});
         },
         "Error: Requirement Failed: (((p % 2) == 0)) p is odd: 7\n"},
        {"split_factor_zero", Kind::Runtime,
         [] {
             Var x("x"), xo("xo"), xi("xi");
             Param<int> p("p");
             p.set(0);
             Func f = named("f");
             f(x) = x;
             f.split(x, xo, xi, p);
             f.realize({4});
         },
         "Error: In schedule for f, the factor used to split x into x.xo and x.xi is not strictly positive. The "
         "expression p evaluated to 0\n"},
        {"specialize_fail", Kind::Runtime,
         [] {
             Var x("x");
             Param<int> p("p");
             p.set(3);
             Func f = named("f");
             f(x) = x * p;
             f.specialize(p == 1);
             f.specialize_fail("p must be 1");
             f.realize({4});
         },
         "Error: A schedule branch marked specialize_fail() was reached: p must be 1\n"},
        {"bound_storage_too_small", Kind::Runtime,
         [] {
             Var x("x");
             Func f = named("f"), g = named("g");
             f(x) = x;
             g(x) = f(x) + f(x + 1);
             f.compute_root().bound_storage(x, 4);
             g.realize({10});
         },
         "Error: The explicit storage bound (4) of dimension x of f is too small to store the required region (11)\n"},
        {"fold_factor_too_small", Kind::Runtime,
         [] {
             Var x("x"), y("y");
             Param<int> k("k");
             k.set(5);
             Func f = named("f"), g = named("g");
             f(x, y) = x;
             g(x, y) = f(x, y) + f(x, y + clamp(k, 0, 10));
             f.store_root().compute_at(g, y).fold_storage(y, 2);
             g.realize({4, 4});
         },
         "Error: The fold factor (2) of dimension y of f is too small to store the required region accessed by loop "
         "g.s0.y (6)\n"},
        {"host_null", Kind::Compile,
         [] {
             Var x("x");
             Func f = named("f");
             f(x) = x;
             halide_dimension_t d(0, 4, 1);
             Buffer<int> in(4, "in");
             Func g = named("g");
             ImageParam im(Int(32), 1, "im");
             g(x) = im(x);
             Buffer<int> nothing(Runtime::Buffer<int>((int *)nullptr, 1, &d));
             im.set(nothing);
             Buffer<int> out(4);
             g.realize(out);
         },
         "Error: Can't run the pipeline: the buffer bound to ImageParam im has no memory.\n"
         "  To find out which sizes the inputs need, use infer_input_bounds().\n"},
        {"negative_extent", Kind::Runtime,
         [] {
             Var x("x");
             ImageParam im(Int(32), 1, "im");
             Func g = named("g");
             g(x) = im(x);
             halide_dimension_t d(0, -4, 1);
             int v[8] = {};
             Buffer<int> b(Runtime::Buffer<int>(v, 1, &d));
             im.set(b);
             Buffer<int> out(4);
             g.realize(out);
         },
         "Error: Input buffer im is accessed at 3, which is beyond the max (-5) in dimension 0\n"},
        {"null_output", Kind::Runtime,
         [] {
             Var x("x");
             Func f = named("f");
             f(x) = x;
             f.realize((halide_buffer_t *)nullptr);
         },
         "Error: Buffer argument f is nullptr\n"},
        {"host_alignment", Kind::Runtime,
         [] {
             Var x("x");
             ImageParam im(Int(32), 1, "im");
             im.set_host_alignment(64);
             Func g = named("g");
             g(x) = im(x);
             Buffer<int> big(64);
             Buffer<int> b(big.data() + 1, 16);
             im.set(b);
             g.realize({4});
         },
         "Error: The host pointer of Input buffer im is not aligned to 64 bytes\n"},
        {"extern_stage_failed", Kind::Runtime,
         [] {
             Var x("x");
             Func f = named("f"), g = named("g");
             f.define_extern("runtime_errors_extern", {}, Int(32), 1);
             f.compute_root();
             g(x) = f(x);
             g.realize({4});
         },
         "Error: Extern stage runtime_errors_extern failed with error code 13\n"},
        {"too_large_allocation", Kind::Runtime,
         [] {
             Var x("x"), y("y");
             Func f = named("f"), g = named("g");
             f(x, y) = x + y;
             g(x) = f(x, x) + f(100000 * x, 0) + f(0, 100000 * x);
             f.compute_root();
             g.realize({100});
         },
         "Error: Allocation for buffer f takes 392040079200004 bytes, which exceeds the maximum size of 2147483647\n"},
        {"realize_breaks_bound", Kind::Runtime,
         [] {
             Var x("x"), y("y");
             Func f = named("f");
             f(x, y) = x;
             f.bound(y, 0, 3);
             f.realize({4, 5});
         },
         "Error: Bounds given for y in f (from 0 to 2) do not cover required region (from 0 to 4)\n"},
    };
}

}  // namespace

TEST(Errors, Data) {
    check(cases());
}
