// User errors in definitions and schedules that are found without compiling anything: each case with the full text.

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

/// Funcs of the cases: names are fixed, so that the texts are.
struct Program {
    Var x{"x"}, y{"y"}, xo{"xo"}, xi{"xi"}, yi{"yi"}, z{"z"};
    RVar ro{"ro"}, ri{"ri"};
    Func f, pure;
    RDom r{0, 10, 0, 20, "r"};

    /// f(x, y) = x + y, then an update that is neither associative nor free of dependences.
    Program()
        : f(Internal::Function("f")), pure(Internal::Function("g")) {
        f(x, y) = x + y;
        f(r.x, y) = f(r.x, y) * 3 + f(r.x + 1, y) - r.y;
        pure(x, y) = x * y;
    }
};

std::string message_of(const std::function<void()> &mistake) {
    try {
        mistake();
    } catch (const CompileError &e) {
        return e.what();
    } catch (const Error &e) {
        return std::string("not a CompileError: ") + e.what();
    }
    return "no error";
}

const std::string loops_of_g = "  Loops of g, innermost first: Vars: x, y, __outermost\n";
const std::string loops_of_update = "  Loops of f.update(0), innermost first: Vars: r$x, r$y, y, __outermost\n";

std::vector<Case> schedule_cases() {
    return {
        {"split_unknown", [] { Program p; p.pure.split(p.z, p.xo, p.xi, 8); },
         "Error: g.split(z, xo, xi, 8): could not find dimension z in the schedule of g.\n" + loops_of_g},
        {"split_by_zero", [] { Program p; p.pure.split(p.x, p.xo, p.xi, 0); },
         "Error: g.split(x, xo, xi, 0): the factor is 0, but split factors must be positive.\n"},
        {"split_by_negative", [] { Program p; p.pure.vectorize(p.x, -4); }, "Error: g.split(x, x, "},
        {"split_undefined_factor", [] { Program p; p.pure.split(p.x, p.xo, p.xi, Expr()); },
         "Error: g.split(x, xo, xi, <undefined>): the factor is undefined.\n"},
        {"split_same_names", [] { Program p; p.pure.split(p.x, p.xi, p.xi, 8); },
         "Error: g.split(x, xi, xi, 8): the outer and the inner loop both have the name xi.\n"
         "  Give them different names.\n"},
        {"split_name_taken", [] { Program p; p.pure.split(p.x, p.y, p.xi, 8); },
         "Error: g.split(x, y, xi, 8): the name y is already used for another loop of g.\n" + loops_of_g},
        {"split_rvar_into_vars", [] { Program p; p.f.update().split(p.r.x, p.xo, p.xi, 2); },
         "Error: f.update(0).split(r$x, xo, xi, 2): r$x is an RVar, so it can be split into RVars only, but xo is a Var.\n"
         "  Declare RVar xo(\"xo\"), xi(\"xi\").\n"},
        {"split_var_into_rvars", [] { Program p; p.pure.split(p.x, p.ro, p.ri, 2); },
         "Error: g.split(x, ro, ri, 2): x is a Var, so it can be split into Vars only, but ro is an RVar.\n"},
        {"split_factor_varies", [] { Program p; p.pure.split(p.x, p.xo, p.xi, p.y + 1); },
         "Error: g.split(x, xo, xi, (y + 1)): the factor depends on the Var y, but it must be the same throughout a run: "
         "use parameters only.\n"},
        {"fuse_with_itself", [] { Program p; p.pure.fuse(p.x, p.x, p.z); },
         "Error: g.fuse(x, x, z): the inner and the outer loop are the same.\n"},
        {"fuse_rvar_to_var", [] { Program p; p.f.update().fuse(p.r.x, p.r.y, p.z); },
         "Error: f.update(0).fuse(r$x, r$y, z): one of the loops is an RVar, so the fused loop is an RVar too, but z is a "
         "Var.\n  Declare RVar z(\"z\").\n"},
        {"fuse_vars_to_rvar", [] { Program p; p.pure.fuse(p.x, p.y, p.ro); },
         "Error: g.fuse(x, y, ro): both loops are Vars, so the fused loop is a Var too, but ro is an RVar.\n"},
        {"rename_kind", [] { Program p; p.pure.rename(p.x, p.ro); },
         "Error: g.rename(x, ro): x is a Var, but ro is an RVar.\n"},
        {"reorder_unknown", [] { Program p; p.pure.reorder(p.z, p.x, p.xo); },
         "Error: g.reorder(z, x, xo): could not find dimension z, xo in the schedule of g.\n" + loops_of_g},
        {"reorder_twice", [] { Program p; p.pure.reorder(p.x, p.y, p.x); },
         "Error: g.reorder(x, y, x): x is listed twice.\n"},
        {"reorder_outermost", [] { Program p; p.pure.reorder(Var::outermost(), p.x); },
         "Error: g.reorder(__outermost, x): Var::outermost() stands for the place outside of all loops and cannot be moved "
         "inward.\n"},
        {"reorder_rvars", [] { Program p; p.f.update().reorder(p.r.y, p.r.x); },
         "Error: f.update(0).reorder(r$y, r$x): cannot reorder RVars r$x and r$y, because that may change the meaning of "
         "the algorithm: the update is not known to be associative and commutative.\n" + loops_of_update},
        {"tile_lengths",
         [] { Program p; p.pure.tile({p.x, p.y}, {p.xo}, {p.xi, p.yi}, {4, 4}); },
         "Error: g.tile: the lists have different lengths: 2 loops to tile, 1 outer and 2 inner names, 2 factors and 2 tail "
         "strategies.\n"},
        {"parallel_rvar", [] { Program p; p.f.update().parallel(p.r.y); },
         "Error: f.update(0).parallel(r$y): r$y is a reduction loop of f.update(0), so running its iterations at the same "
         "time may give a race condition, and the result depends on their order.\n"
         "  Call f.update(0).atomic() first if the update is associative and commutative, split the reduction with rfactor, "
         "or call allow_race_conditions() if you know that the order does not matter.\n"},
        {"vectorize_rvar_not_associative", [] { Program p; p.f.update().atomic().vectorize(p.r.y); },
         "Error: f.update(0).vectorize(r$y): f.update(0) is atomic, but its update is not known to be associative and "
         "commutative, so the order of iterations may change the result.\n"
         "  If it is, call f.update(0).atomic(true).\n"},
        {"blend_with_vectorized_tiles",
         [] {
             Program p;
             p.pure.split(p.x, p.xo, p.xi, 8, TailStrategy::ShiftInwardsAndBlend).vectorize(p.xo);
         },
         "Error: g: the split of x uses a tail strategy that blends with values stored before, and x.xo, a loop over the "
         "same dimension, is vectorized: this is a race condition.\n"
         "  Use TailStrategy::GuardWithIf, or call allow_race_conditions() first.\n"},
        {"blend_with_parallel",
         [] {
             Program p;
             p.pure.split(p.x, p.xo, p.xi, 8, TailStrategy::ShiftInwardsAndBlend).parallel(p.xo);
         },
         "Error: g: the split of x uses a tail strategy that blends with values stored before, and x.xo, a loop over the "
         "same dimension, is parallel: this is a race condition.\n"
         "  Use TailStrategy::GuardWithIf, or call allow_race_conditions() first.\n"},
        {"specialize_type", [] { Program p; p.pure.specialize(Expr(1)); },
         "Error: g.specialize(1): the condition has type int32; it must be a comparison or another boolean (Bool()).\n"},
        {"specialize_varies", [] { Program p; p.pure.specialize(p.x > 3); },
         "Error: g.specialize((x > 3)): the condition depends on the Var x, but a specialization is chosen once per run.\n"
         "  Conditions may use parameters and the shapes of buffers.\n"},
        {"specialize_fail_empty", [] { Program p; p.pure.specialize_fail(""); },
         "Error: g.specialize_fail(\"\"): the message must not be empty.\n"},
        {"specialize_fail_twice", [] { Program p; p.pure.specialize_fail("a"); p.pure.specialize_fail("b"); },
         "Error: g.specialize_fail(\"b\"): there is a specialize_fail() already; only one is possible per stage.\n"},
        {"compute_with_itself", [] { Program p; p.f.update().compute_with(p.f, p.y); },
         "Error: f.update(0).compute_with(f.s0.y): the loops of one Func cannot be merged with each other.\n"},
        {"prefetch_inside",
         [] { Program p; p.f.compute_root(); p.pure.prefetch(p.f, p.y, p.x); },
         "Error: g.prefetch(f, y, x): the loop over x is inside the loop over y, where the prefetch stands; it must be the "
         "same loop or one outside.\n" + loops_of_g},
        {"bound_unknown", [] { Program p; p.pure.bound(p.z, 0, 3); },
         "Error: g.bound(z): can't give bounds for z because g does not use it: it is not a pure variable of g.\n"
         "  Pure variables of g: x, y\n"},
        {"align_bounds_zero", [] { Program p; p.pure.align_bounds(p.x, 0); },
         "Error: g.align_bounds(x): the modulus is 0, but alignments must be positive.\n"},
        {"estimates_count", [] { Program p; p.pure.set_estimates({{0, 10}}); },
         "Error: g.set_estimates: Func g has 2 dimensions, but the estimates passed to set_estimates contain 1 pairs.\n"},
        {"reorder_storage_one", [] { Program p; p.pure.reorder_storage(std::vector<Var>{p.x}); },
         "Error: g.reorder_storage(x): reorder_storage must have at least two dimensions.\n"},
        {"reorder_storage_twice", [] { Program p; p.pure.reorder_storage(p.x, p.x); },
         "Error: g.reorder_storage(x, x): x is listed twice.\n"},
        {"fold_storage_unknown", [] { Program p; p.pure.fold_storage(p.z, 4); },
         "Error: g.fold_storage(z): could not find dimension z in the storage of g.\n  Dimensions of g: x, y\n"},
        {"fold_storage_zero", [] { Program p; p.pure.fold_storage(p.x, 0); },
         "Error: g.fold_storage(x): the factor is 0, but it must be positive.\n"},
        {"memoize_key_type", [] { Program p; p.pure.memoize(EvictionKey(Expr(1.5f))); },
         "Error: g.memoize: the eviction key 1.500000f has type float32; it must be a scalar integer or a handle.\n"},
        {"update_index", [] { Program p; p.f.update(3); },
         "Error: Call to update with index larger than last defined update stage: f.update(3), but f has 1 update "
         "definitions.\n"},
        {"schedule_undefined", [] { Func u(Internal::Function("u")); u.vectorize(Var("x"), 4); },
         "Error: Can't schedule undefined Func u.\n  Its loops are known once it has a definition.\n"},
        {"unscheduled_after_schedule", [] { Program p; p.f.update().unroll(p.y, 2); p.f.update().unscheduled(); },
         "Error: f.update(0).unscheduled(): this stage has a schedule already.\n"},
        {"rfactor_of_pure", [] { Program p; Stage(p.pure).rfactor(p.ro, p.z); },
         "Error: g.rfactor({ro, z}): rfactor() must be called on an update definition, as in g.update(0).rfactor(...).\n"},
        {"rfactor_not_associative", [] { Program p; p.f.update().rfactor(p.r.y, p.z); },
         "Error: f.update(0).rfactor({r$y, z}): failed to call rfactor() on f.update(0) since it can't prove associativity of "
         "the update.\n"
         "  An update that can be factored combines the old value with a new one by +, *, min, max, && or another "
         "associative operator.\n"},
        {"copy_of_expression", [] { Program p; p.pure.copy_to_device(); },
         "Error: g.copy_to_device(): g is defined as (x*y), but a copy must be a plain call of another Func or image with "
         "the same arguments in the same order.\n"},
        {"wrapper_of_itself", [] { Program p; p.pure.in(p.pure); }, "Error: g.in(g): a Func cannot be wrapped in itself.\n"},
    };
}

std::vector<Case> definition_cases() {
    return {
        {"argument_is_not_a_var", [] { Func u(Internal::Function("u")); Var x("x"); u(x + 1) = x; },
         "Error: Argument 0 of the pure definition of u, (x + 1), is not a Var.\n"
         "  The first definition of a Func gives its values everywhere, as in u(x, y) = ...; single places are set by "
         "updates after it.\n"},
        {"undefined_value", [] { Func u(Internal::Function("u")); u(Var("x")) = Expr(); },
         "Error: u(...) = ...: the right side is undefined.\n"},
        {"wrong_number_of_arguments", [] { Program p; Expr e = p.pure(p.x); },
         "Error: Func \"g\" was called with 1 arguments, but was defined with 2.\n"},
        {"two_placeholders", [] { Program p; Expr e = p.pure(_, _); },
         "Error: g: `_` occurs twice among the arguments; it can stand for the remaining dimensions only once.\n"},
        {"call_of_undefined", [] { Func u(Internal::Function("u")); Expr e = u(Var("x")) + 1; },
         "Error: Can't call Func \"u\" because it has not yet been defined.\n"},
        {"implicit_var_without_place", [] { Program p; Func u(Internal::Function("u")); u(p.x) = p.pure(p.x, _); },
         "Error: u: the right side of this definition uses the implicit Var _0, which is not among the arguments on the "
         "left.\n  Put `_` where the implicit Vars belong, as in u(_) = ...\n"},
        {"tuple_as_expr",
         [] { Func u(Internal::Function("u")); Var x("x"); u(x) = Tuple(x, x); Expr e = Expr(u(x)) + 1; },
         "Error: Can't convert a reference to Func \"u\" to an Expr, because u returns a Tuple of 2 values.\n"
         "  Choose one, as in u(...)[0].\n"},
        {"tuple_index",
         [] { Func u(Internal::Function("u")); Var x("x"); u(x) = Tuple(x, x); Expr e = u(x)[2]; },
         "Error: Tuple index out of range in reference to Func \"u\": element 2 of 2.\n"},
        {"rdom_bounds_vary", [] { RDom r(0, Var("x"), "r"); },
         "Error: RDom: the bounds of an RDom may depend on parameters and buffer sizes only, but the extent of r$x, x, depends "
         "on the Var x.\n  Use larger bounds, and leave points out with RDom::where.\n"},
        {"rdom_index", [] { RDom r(0, 4, "r"); r[1]; },
         "Error: RDom index out of bounds: dimension 1 of an RDom with 1.\n"},
        {"where_after_use",
         [] { Program p; p.r.where(p.r.x > 3); },
         "Error: RDom::where((r$x > 3)): the RDom of r$x has been used in a definition already.\n"
         "  Call where() before the first use.\n"},
        {"sum_without_rvar", [] { Program p; sum(p.pure(p.x, p.y)); },
         "Error: Inline reduction \"sum\" must contain a reduction variable, but g(x, y) has none.\n"
         "  Use the variables of an RDom in it, or pass an RDom as the first argument.\n"},
        {"sum_over_two_domains", [] { Program p; RDom q(0, 4, "q"); maximum(p.pure(p.r.x, q)); },
         "Error: Inline reduction \"maximum\" must contain variables of one RDom only, but its expression uses q$x and "
         "r$x.\n  Pass the RDom to reduce over as the first argument.\n"},
        {"param_value", [] { Param<uint8_t> p("p"); p.set(300); },
         "Error: The value 300 of Param p cannot be losslessly converted to its type, uint8.\n"},
        {"image_param_type", [] { ImageParam im(UInt(8), 2, "im"); im.set(Buffer<float>(4, 4, "b")); },
         "Error: Can't bind ImageParam im of type uint8 and dimensionality 2 to Buffer b of type float32 and dimensionality "
         "2.\n"},
        {"image_dimension", [] { ImageParam im(UInt(8), 2, "im"); im.dim(2).set_stride(1); },
         "Error: im.dim(2): im has 2 dimensions, counted from 0.\n"},
        {"boundary_bounds", [] { Program p; BoundaryConditions::repeat_edge(p.pure, {{0, 1}, {0, 1}, {0, 1}}); },
         "Error: repeat_edge called with more bounds (3) than dimensions (2) of the source g.\n"},
        {"boundary_half_bounds", [] { Program p; BoundaryConditions::repeat_edge(p.pure, {{0, Expr()}}); },
         "Error: repeat_edge: of the bounds of dimension 0 of g, min is defined and extent is not.\n"
         "  Give both, or {Expr(), Expr()} for a dimension without limits.\n"},
        {"evaluate_type", [] { evaluate<float>(Expr(3)); },
         "Error: Can't evaluate expression 3 of type int32 as a scalar of type float32.\n"},
        {"requirement_varies",
         [] { Program p; Pipeline(p.pure).add_requirement(p.x > 3); },
         "Error: Pipeline::add_requirement((x > 3)): the condition depends on the Var x, but it is checked once, before "
         "anything is computed.\n"
         "  It may use parameters and the shapes of buffers. For values, use require().\n"},
        {"realize_dimensions", [] { Program p; p.pure.realize({4}); },
         "Error: Func g is defined with 2 dimensions, but realize() is requesting a realization with 1 dimensions.\n"},
        {"realize_undefined", [] { Func(Internal::Function("u")).realize({4}); },
         "Error: Can't realize undefined Func u.\n  Give it a definition, as in u(x, y) = ..., first.\n"},
        {"realize_count", [] { Program p; Buffer<int> a(4, 4), b(4, 4); p.pure.realize({a, b}); },
         "Error: Can't realize into 2 buffers: the pipeline of g has 1 output values.\n"},
        {"memoized_output", [] { Program p; p.pure.memoize(); p.pure.realize({4, 4}); },
         "Error: Can't compile Func g as an output of a pipeline, because it is memoized: the caller owns its memory.\n"
         "  Memoize a Func that the output reads.\n"},
    };
}

void check(const std::vector<Case> &cases) {
    for (const Case &c : cases) {
        const std::string message = message_of(c.mistake);
        // A fresh name is part of some texts: these cases give the beginning only.
        const bool prefix = c.message.empty() || c.message.back() != '\n';
        EXPECT_EQ(prefix ? message.substr(0, c.message.size()) : message, c.message) << "case " << c.name;
    }
}

}  // namespace

TEST(Errors, Schedules) {
    check(schedule_cases());
}

TEST(Errors, Definitions) {
    check(definition_cases());
}

TEST(Errors, ProcessGoesOn) {
    Program p;
    EXPECT_THROW(p.pure.split(p.z, p.xo, p.xi, 8), CompileError);
    EXPECT_EQ(p.pure.get_schedule().dims().size(), 3u);
    EXPECT_TRUE(p.pure.get_schedule().splits().empty());
}
