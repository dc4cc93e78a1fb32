// Errors in algorithms and schedules that show when the pipeline is compiled: each case with the full text.

#include "ErrorCases.h"
#include "Halide.h"

using namespace Halide;
using namespace error_cases;

extern "C" __attribute__((visibility("default"))) int lowering_errors_extern(halide_buffer_t *out) {
    return out->is_bounds_query() ? 0 : 13;
}

namespace {

std::vector<Case> cases() {
    return {
        {"compute_at_not_enclosing", Kind::Compile,
         [] {
             Var x("x"), y("y");
             Func f = named("f"), g = named("g"), h = named("h");
             f(x, y) = x;
             g(x, y) = f(x, y);
             h(x, y) = f(x, y) + g(x, y);
             g.compute_root();
             f.compute_at(h, y);
             h.realize({4, 4});
         },
         "Error: Func \"f\" has the schedule f.compute_at(h, y), but that loop does not enclose all uses of it.\n"
         "  Places that enclose all uses of f:\n"
         "    compute_root()\n"},
        {"compute_at_unknown_var", Kind::Compile,
         [] {
             Var x("x"), y("y"), z("z");
             Func f = named("f"), g = named("g");
             f(x, y) = x;
             g(x, y) = f(x, y);
             f.compute_at(g, z);
             g.realize({4, 4});
         },
         "Error: Func \"f\" has the schedule f.compute_at(g, z), but that loop does not enclose all uses of it.\n"
         "  Places that enclose all uses of f:\n"
         "    compute_root()\n"
         "    compute_at(g, Var::outermost())\n"
         "    compute_at(g, y)\n"
         "    compute_at(g, x)\n"},
        {"store_inside_compute", Kind::Compile,
         [] {
             Var x("x"), y("y");
             Func f = named("f"), g = named("g");
             f(x, y) = x;
             g(x, y) = f(x, y);
             f.compute_at(g, y).store_at(g, x);
             g.realize({4, 4});
         },
         "Error: Func \"f\" has the schedule f.store_at(g, x) and f.compute_at(g, y): the place of storage must "
         "enclose the place of computation.\n"},
        {"store_without_compute", Kind::Compile,
         [] {
             Var x("x"), y("y");
             Func f = named("f"), g = named("g");
             f(x, y) = x;
             g(x, y) = f(x, y);
             f.store_root();
             g.realize({4, 4});
         },
         "Error: Func \"f\" is scheduled store_at or hoist_storage, but is inlined.\n"
         "  Give it a compute_at or compute_root as well.\n"},
        {"hoist_inside_store", Kind::Compile,
         [] {
             Var x("x"), y("y");
             Func f = named("f"), g = named("g");
             f(x, y) = x;
             g(x, y) = f(x, y);
             f.compute_at(g, x).store_root().hoist_storage(g, y);
             g.realize({4, 4});
         },
         "Error: Func \"f\" has the schedule f.hoist_storage(g, y) and f.store_root(): the place of allocation must "
         "enclose the place of storage.\n"},
        {"output_not_root", Kind::Compile,
         [] {
             Var x("x");
             Func f = named("f"), g = named("g");
             f(x) = x;
             g(x) = f(x);
             g.compute_at(f, x);
             g.realize({4});
         },
         "Error: Func \"g\" is an output of the pipeline, so it must be scheduled compute_root and store_root, but has "
         "the schedule g.compute_at(f, x).\n"},
        {"unbounded", Kind::Compile,
         [] {
             Var x("x");
             Func f = named("f"), g = named("g");
             ImageParam in(Int(32), 1, "in");
             in.set(Buffer<int>(10));
             f(x) = x;
             g(x) = f(in(x));
             f.compute_root();
             g.realize({4});
         },
         "Error: The pure definition of Function g calls function f in an unbounded way in dimension 0.\n"
         "  Clamp the index, or give the variables in it bounds.\n"},
        {"fold_unprovable", Kind::Runtime,
         [] {
             Var x("x"), y("y");
             Func f = named("f"), g = named("g");
             f(x, y) = x;
             g(x, y) = f(x, 10 - y) + f(x, y);
             f.store_root().compute_at(g, y).fold_storage(y, 3);
             g.realize({4, 8});
         },
         "Error: The fold factor (3) of dimension y of f is too small to store the required region accessed by loop "
         "g.s0.y (11)\n"},
        {"wrapper_not_called", Kind::Compile,
         [] {
             Var x("x");
             Func f = named("f"), g = named("g"), h = named("h");
             f(x) = x;
             g(x) = x + 1;
             h(x) = f(x) + g(x);
             f.in(g).compute_root();
             g.compute_root();
             h.realize({4});
         },
         "Error: Cannot wrap \"f\" in \"g\" because \"g\" does not call \"f\".\n"},
        {"compute_with_inlined", Kind::Compile,
         [] {
             Var x("x");
             Func f = named("f"), g = named("g"), h = named("h");
             f(x) = x;
             g(x) = x + 1;
             h(x) = f(x) + g(x);
             f.compute_root();
             g.compute_with(f, x);
             h.realize({4});
         },
         "Error: Invalid compute_with: g with f, x: g is inlined.\n"},
        {"overflow", Kind::Compile,
         [] {
             Var x("x");
             Func f = named("f");
             f(x) = Expr(2000000000) + Expr(2000000000);
             f.realize({4});
         },
         "Error: Signed integer overflow occurred during constant-folding. Signed integer overflow for int32 and int64 "
         "is undefined behavior in Halide.\n"
         "  Compute in a wider or an unsigned type.\n"},
        {"undefined_level", Kind::Compile,
         [] {
             Var x("x");
             Func f = named("f"), g = named("g");
             f(x) = x;
             g(x) = f(x);
             f.compute_at(LoopLevel());
             g.realize({4});
         },
         "Error: A LoopLevel is used before it was set: call LoopLevel::set() on it, or construct it with a Func and a "
         "Var.\n"},
        {"missing_argument", Kind::Compile,
         [] {
             Var x("x");
             Param<int> p("p");
             ImageParam in(UInt(8), 1, "in");
             Func f = named("f");
             f(x) = p + in(x);
             f.compile_to_module({}, "fn");
         },
         "Error: Generated code refers to image parameter in, which was not found in the argument list.\n"
         "Generated code refers to parameter p, which was not found in the argument list.\n"
         "  Add what is missing to the arguments of fn.\n"},
        {"two_params_one_name", Kind::Compile,
         [] {
             Var x("x");
             Param<int> p("p"), q("p");
             Func f = named("f");
             f(x) = p + q;
             f.infer_arguments();
         },
         "Error: Two different parameters of a pipeline have the name p.\n"
         "  Give one of them another name.\n"},
        {"missing_extern", Kind::Compile,
         [] {
             Var x("x");
             Func f = named("f");
             f(x) = Internal::Call::make(Int(32), "no_such_function", {Expr(x)}, Internal::Call::Extern);
             f.realize({4});
         },
         "Error: Undefined extern function: no_such_function\n"
         "  f calls it, but neither set_jit_externs nor this process defines it.\n"
         "  Link the program with -rdynamic if it is a function of its own.\n"},
        {"async_inlined", Kind::Compile,
         [] {
             Var x("x");
             Func f = named("f"), g = named("g");
             f(x) = x;
             g(x) = f(x);
             f.async();
             g.realize({4});
         },
         "Error: Cannot make Func \"f\" async because the Func is scheduled inline.\n"},
        {"memoize_store", Kind::Compile,
         [] {
             Var x("x"), y("y");
             Func f = named("f"), g = named("g");
             f(x, y) = x;
             g(x, y) = f(x, y);
             f.store_root().compute_at(g, y).memoize();
             g.realize({4, 4});
         },
         "Error: Func \"f\" is memoized, so it must be stored where it is computed: f.compute_at(g, y) and "
         "f.store_root() differ.\n"},
        {"inline_extern_arg", Kind::Compile,
         [] {
             Var x("x");
             Func f = named("f"), g = named("g"), h = named("h");
             f(x) = x;
             g.define_extern("lowering_errors_extern", {f}, Int(32), 1);
             g.compute_root();
             h(x) = g(x);
             h.realize({4});
         },
         "Error: Func \"f\" cannot be computed inline, because it is an argument of the extern Func \"g\", which needs "
         "it in memory.\n"
         "  Give it a compute_root or compute_at.\n"},
        {"reuse_name", Kind::Compile,
         [] {
             Var x("x");
             Func f = named("f"), g = named("f"), h = named("h");
             f(x) = x;
             g(x) = x + 1;
             h(x) = f(x) + g(x);
             f.compute_root();
             g.compute_root();
             h.realize({4});
         },
         "Error: There are multiple Funcs with the name \"f\" in one pipeline.\n"},
    };
}

}  // namespace

TEST(Errors, Lowering) {
    check(cases());
}
