// The public overloads of the front end, called as programs call them. Most of what is checked here is that it compiles;
// values are compared with what the definitions say.

#include "Halide.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

using namespace Halide;

namespace {

Buffer<int> ramp2d(int w, int h) {
    Buffer<int> b(w, h);
    b.fill([](int x, int y) { return x + 10 * y; });
    return b;
}

template<typename Fn>
void expect_2d(const Buffer<int> &b, int w, int h, Fn expected) {
    ASSERT_EQ(b.dimensions(), 2);
    ASSERT_EQ(b.width(), w);
    ASSERT_EQ(b.height(), h);
    for (int y = 0; y < h; y++) {
        for (int x = 0; x < w; x++) {
            ASSERT_EQ(b(x, y), expected(x, y)) << "at " << x << ", " << y;
        }
    }
}

}  // namespace

TEST(ApiCompile, ConstructionOfFuncs) {
    Var x("x"), y("y");
    Func a, b("b_func"), c(_0 + 1), d(Int(32), 2, "typed"), e({Int(32), Float(32)}, 1, "typed_tuple");
    EXPECT_FALSE(a.defined());
    EXPECT_EQ(a.dimensions(), -1);
    EXPECT_EQ(b.name(), "b_func");

    Buffer<int> im = ramp2d(4, 3);
    Func from_buffer(im);
    EXPECT_EQ(from_buffer.dimensions(), 2);

    Func g = lambda(x, y, x * y);
    Func h = lambda(x, x);
    Func i = lambda(x, y, Var("z"), x + y), j = lambda(x, y, Var("z"), Var("w"), x), k = lambda(from_buffer(_) + 1);
    EXPECT_EQ(k.dimensions(), 2);
    EXPECT_EQ(g.args().size(), 2u);
    EXPECT_EQ(h.dimensions() + i.dimensions() + j.dimensions(), 8);

    d(x, y) = x;
    e(x) = Tuple(x, 1.5f);
    e(x) = {x + 1, 2.5f};
    EXPECT_EQ(e.outputs(), 2);
    EXPECT_EQ(e.types()[1], Float(32));
    EXPECT_EQ(e.num_update_definitions(), 1);
    EXPECT_TRUE(e.has_update_definition());
}

TEST(ApiCompile, RealizeForms) {
    Var x, y;
    Func f("f");
    f(x, y) = x + 10 * y;
    const auto expected = [](int x, int y) { return x + 10 * y; };

    Buffer<int> a = f.realize({4, 3});
    expect_2d(a, 4, 3, expected);
    Buffer<int, 2> b = f.realize(std::vector<int32_t>{5, 2});
    expect_2d(b, 5, 2, expected);
    Realization r = f.realize({4, 3}, get_jit_target_from_environment());
    EXPECT_EQ(r.size(), 1u);
    expect_2d(r[0], 4, 3, expected);

    Buffer<int> c(4, 3);
    f.realize(c);
    expect_2d(c, 4, 3, expected);
    f.realize(c, get_jit_target_from_environment());
    f.realize({c});
    Runtime::Buffer<int> d(4, 3);
    f.realize(d);
    EXPECT_EQ(d(3, 2), 23);
    f.realize(d.raw_buffer());
    Realization into(c);
    f.realize(into);

    JITUserContext context;
    Buffer<int> e = f.realize(&context, {4, 3});
    f.realize(&context, e);
    expect_2d(e, 4, 3, expected);

    Func zero("zero");
    zero() = 17;
    Buffer<int> scalar = zero.realize();
    EXPECT_EQ(scalar(), 17);

    Func multi("multi");
    multi(x) = Tuple(x, cast<float>(x) / 2);
    Realization pair = multi.realize({8});
    Buffer<int> first = pair[0];
    Buffer<float> second = pair[1];
    EXPECT_EQ(first(5), 5);
    EXPECT_EQ(second(5), 2.5f);
    multi.realize({first, second});

    Pipeline p({f, multi.in()});
    EXPECT_EQ(p.outputs().size(), 2u);
    Pipeline p1(f);
    Buffer<int> g = p1.realize({4, 3});
    expect_2d(g, 4, 3, expected);
    p1.realize(g);
}

TEST(ApiCompile, OddSizesWithVectors) {
    Var x, y;
    Func f("f");
    f(x, y) = x + 10 * y;
    f.vectorize(x, 8).parallel(y);
    Buffer<int> b = f.realize({5, 3});
    expect_2d(b, 5, 3, [](int x, int y) { return x + 10 * y; });
    EXPECT_EQ(b.dim(0).min(), 0);
}

TEST(ApiCompile, Definitions) {
    Var x("x"), y("y");
    Func f("f"), g("g");
    f(x, y) = x;
    f(x, y) += y;
    f(x, 0) -= 1;
    f(0, y) *= 2;
    f(x, y) = f(x, y) / 1;
    f(x, y) = f(x, y) + 1;
    g(x, _) = f(x, _) * 2;
    EXPECT_EQ(g.dimensions(), 2);
    g(x, _) += f(x, _);

    Func counter("counter");
    RDom r(0, 10);
    counter(r % 3) += 1;
    EXPECT_EQ(counter.dimensions(), 1);
    EXPECT_EQ(counter.value().type(), Int(32));

    Func t("t");
    t(x) = Tuple(x, x * 2);
    t(x)[0] = t(x)[0] + 1;
    t(x)[1] += 5;
    t(x) += Tuple(1, 1);
    t(r) = t(r);
    Expr first = t(x)[0];
    EXPECT_EQ(first.type(), Int(32));
    EXPECT_EQ(Tuple(t(x)).size(), 2u);

    Func u("u");
    u(x) = select(x < 3, t(x), Tuple(0, 0));
    u(x) = select(Tuple(x < 3, x < 4), Tuple(1, 2), Tuple(3, 4));
    Func v("v");
    v(x) = select(x == 0, f(x, 0), x == 1, f(x, 1), f(x, 2)) + mux(x, {f(x, 0), f(x, 1)}) + mux(x, {1, 2, 3}) +
           mux(x, Tuple(1, 2));
    Tuple chosen = mux(x, {Tuple(1, 2), Tuple(3, 4)});
    EXPECT_EQ(chosen.size(), 2u);
    EXPECT_EQ(v.dimensions(), 1);

    Buffer<int> out = g.realize({2, 2});
    // f(0,0): 0 → 0 → -1 → -2 → -2 → -1; g: -2 then + -1
    EXPECT_EQ(out(0, 0), -3);
    // f(1,1): 1 + 1 → 2 → 2 + 1 = 3; g: 6 + 3
    EXPECT_EQ(out(1, 1), 9);
    Buffer<int> count = counter.realize({3});
    EXPECT_EQ(count(0), 4);
    EXPECT_EQ(count(1), 3);
}

TEST(ApiCompile, VarsAndDomains) {
    Var x("x"), unnamed;
    EXPECT_EQ(x.name(), "x");
    EXPECT_NE(unnamed.name(), x.name());
    EXPECT_TRUE(x.same_as(Var("x")));
    EXPECT_TRUE(Var::implicit(3).is_implicit());
    EXPECT_EQ(Var::implicit_index("_7"), 7);
    EXPECT_EQ(Var::implicit_index("x"), -1);
    EXPECT_TRUE(Var(_).is_placeholder());
    Expr e = x + _0 * 2;
    EXPECT_EQ(e.type(), Int(32));

    RDom r(0, 10, "r"), two(0, 4, 1, 5), named(0, 4, 1, 5, "named");
    EXPECT_EQ(r.x.name(), "r$x");
    EXPECT_EQ(named.y.name(), "named$y");
    EXPECT_EQ(two.dimensions(), 2);
    EXPECT_EQ(two[1].name(), two.y.name());
    EXPECT_TRUE(named.defined());
    EXPECT_FALSE(RDom().defined());
    RDom five(0, 1, 0, 2, 0, 3, 0, 4, 0, 5, "five");
    EXPECT_EQ(five[4].name(), "five$4");
    Region region = {{0, 10}, {1, 5}};
    RDom from_region(region);
    Buffer<uint8_t> im(3, 4);
    RDom from_buffer(im);
    ImageParam in(UInt(8), 2, "in_image");
    RDom from_param(in);
    EXPECT_EQ(from_param.x.name(), "in_image$x");
    RVar as_rvar = r;
    Expr as_expr = r;
    RVar ro("ro"), ri;
    two.where(two.x < two.y);
    EXPECT_TRUE(from_region.same_as(from_region));
    EXPECT_EQ(as_rvar.name(), "r$x");
    EXPECT_EQ(as_expr.type(), Int(32));
    EXPECT_EQ(from_buffer.dimensions(), 2);
}

TEST(ApiCompile, LoopDirectives) {
    Var x("x"), y("y"), c("c"), xo("xo"), yo("yo"), xi("xi"), yi("yi"), t("t"), u, v;
    Func f("f");
    f(x, y, c) = x + y + c;
    f.reorder(c, x, y).bound(c, 0, 3).unroll(c);
    f.tile(x, y, xo, yo, xi, yi, 8, 8).fuse(xo, yo, t).parallel(t).vectorize(xi, 4).unroll(yi, 2);
    f.rename(t, u).serial(u);

    Func g("g");
    g(x, y) = x;
    g.split(x, xo, xi, 8, TailStrategy::GuardWithIf)
        .split(y, yo, yi, 4)
        .reorder({xi, yi, xo, yo})
        .never_partition(xo, yo)
        .always_partition(yi)
        .partition(xi, Partition::Auto)
        .vectorize(xi);
    g.never_partition_all();
    Func h("h");
    h(x, y) = y;
    h.tile(x, y, xi, yi, 4, 4, TailStrategy::RoundUp).unroll_hint(xi).unroll_hint(yi, 2);
    Func k("k");
    k(x, y) = y;
    k.tile({x, y}, {xo, yo}, {xi, yi}, {4, 4}).tile({xi, yi}, {u, v}, {2, 2}, TailStrategy::Auto);
    Func l("l");
    l(x, y) = y;
    l.tile({x, y}, {xo, yo}, {xi, yi}, {4, 4}, {TailStrategy::RoundUp, TailStrategy::ShiftInwards});
    VarOrRVar order[] = {xi, yi, xo, yo};
    l.reorder(order);

    RDom r(0, 16, "r");
    RVar ro("ro"), ri("ri");
    Func s("s");
    s(x) = 0;
    s(x) += r * x;
    s.update(0).split(r, ro, ri, 4).reorder(x, ri, ro).vectorize(x, 4).unroll(ri);
    s.update().atomic();
    EXPECT_EQ(s.update(0).name(), "s.update(0)");
    EXPECT_EQ(s.rvars().size(), 1u);
    EXPECT_EQ(Stage(s).name(), s.name());

    Buffer<int> b = f.realize({16, 16, 3});
    EXPECT_EQ(b(3, 4, 2), 9);
    Buffer<int> bg = g.realize({13, 7});
    EXPECT_EQ(bg(12, 6), 12);
    Buffer<int> bs = s.realize({4});
    EXPECT_EQ(bs(2), 240);
}

TEST(ApiCompile, PlacesAndStorage) {
    Var x("x"), y("y"), yo, yi;
    Func f("f"), g("g"), h("h"), out("out");
    f(x, y) = x + y;
    g(x, y) = f(x, y) + f(x + 1, y);
    h(x, y) = g(x, y) + g(x, y + 1);
    out(x, y) = h(x, y);
    out.split(y, yo, yi, 4);
    LoopLevel level;
    f.compute_at(level).store_in(MemoryType::Heap);
    level.set(LoopLevel(h, y));
    g.compute_at(h, y).store_at(h, Var::outermost()).fold_storage(y, 2).align_storage(x, 8);
    h.compute_at(out, Var::outermost()).store_root().reorder_storage(y, x).reorder_storage({x, y});
    out.compute_root().bound_extent(x, 8).align_bounds(y, 4).align_extent(y, 4).set_estimate(x, 0, 8);
    out.set_estimates({{0, 8}, {0, 8}});
    EXPECT_EQ(LoopLevel(f, y), LoopLevel(f, y));
    Buffer<int> b = out.realize({8, 8});
    // h = g(x,y) + g(x,y+1), g = 2x + 1 + 2y
    EXPECT_EQ(b(3, 4), 2 * 3 + 1 + 8 + 2 * 3 + 1 + 10);

    Func p("p"), q("q");
    p(x) = x;
    q(x) = p(x);
    p.compute_inline().compute_root().hoist_storage_root().bound_storage(x, 64).memoize();
    EvictionKey key(Expr(5));
    p.memoize(key).async().ring_buffer(2).no_profiling();
    p.trace_loads().trace_stores().trace_realizations().add_trace_tag("tag");
}

TEST(ApiCompile, DeviceDirectivesAreDeclarations) {
    Var x("x"), y("y"), z("z"), bx, by, bz, tx, ty, tz;
    const auto make = [&]() {
        Func f;
        f(x, y, z) = x + y + z;
        return f;
    };
    make().gpu_tile(x, y, z, bx, by, bz, tx, ty, tz, 8, 8, 2);
    make().gpu_tile(x, y, z, tx, ty, tz, 8, 8, 2);
    make().gpu_tile(x, y, bx, by, tx, ty, 8, 8, TailStrategy::GuardWithIf);
    make().gpu_tile(x, y, tx, ty, 8, 8);
    make().gpu_tile(x, bx, tx, 8).gpu_tile(y, ty, 8);
    make().gpu_blocks(z).gpu_threads(x, y);
    make().gpu_blocks(y, z, DeviceAPI::CUDA).gpu_threads(x);
    make().gpu(y, x);
    make().gpu_single_thread();
    make().gpu_lanes(x);
    make().hexagon().vectorize(x, 128);
    make().hexagon(y);
    make().sme_streaming(y).host(x);
    make().pto_blocks(z);
    make().pto_blocks(y, z);
    Func f = make(), g;
    g(x, y, z) = f(x, y, z);
    g.copy_to_device();
    g.copy_to_host();
}

TEST(ApiCompile, Specializations) {
    Var x("x");
    Param<int> p("p");
    Param<bool> fast("fast");
    Func f("f");
    f(x) = x * p;
    f.specialize(p == 1).vectorize(x, 4);
    Stage s = f.specialize(fast && p > 2);
    s.unroll(x, 2);
    f.specialize_fail("neither");
    p.set(1);
    fast.set(false);
    Buffer<int> b = f.realize({8});
    EXPECT_EQ(b(7), 7);
    p.set(2);
    EXPECT_THROW(f.realize({8}), RuntimeError);
}

TEST(ApiCompile, Wrappers) {
    Var x("x"), y("y");
    ImageParam in(Int(32), 2, "in");
    Func f("f"), g("g"), h("h");
    f(x, y) = in(x, y) + in(std::vector<Expr>{x, y});
    g(x, y) = f(x, y) + 1;
    h(x, y) = f(x, y) + g(x, y);
    Func w = f.in(g);
    EXPECT_EQ(f.in(g).name(), w.name());
    w.compute_root();
    Func c = f.clone_in(h);
    c.compute_root();
    Func i = in.in();
    i.compute_root();
    EXPECT_EQ(in.in().name(), i.name());
    in.set(ramp2d(4, 4));
    Buffer<int> b = h.realize({4, 4});
    EXPECT_EQ(b(3, 2), 4 * 23 + 1);
}

TEST(ApiCompile, Parameters) {
    Param<int> a, b("b"), c(5), d("d", 5), e(5, 0, 10), f("f", 5, 0, 10);
    Param<float> g("g", 1.5f);
    Param<bool> h("h");
    Param<uint8_t> i(7);
    Param<> dynamic(Int(16), "dynamic");
    Param<void> unnamed(Float(32));
    Param<const char *> text("text");
    b.set(3);
    b.set((int64_t)4);
    EXPECT_EQ(b.get(), 4);
    EXPECT_EQ(c.get(), 5);
    h.set(true);
    g.set(2);
    dynamic.set(12);
    EXPECT_EQ(dynamic.get<int16_t>(), 12);
    EXPECT_EQ(dynamic.type(), Int(16));
    unnamed.set(0.5f);
    EXPECT_THROW(b.set(1.5), CompileError);
    EXPECT_THROW(i.set(300), CompileError);
    EXPECT_THROW(Param<int>("__user_context"), CompileError);
    b.set_range(0, 10);
    b.set_min_value(1);
    b.set_max_value(9);
    b.set_estimate(5);
    EXPECT_TRUE(b.min_value().defined());
    Param<> same = b;
    EXPECT_EQ(same.name(), "b");
    Expr sum = b + c * 2 + cast<int>(g) + select(h, 1, 2) + i;
    EXPECT_EQ(sum.type(), Int(32));
    Argument arg = b;
    EXPECT_TRUE(arg.is_scalar());
    ExternFuncArgument extern_arg = b;
    EXPECT_TRUE(extern_arg.is_expr());
    EXPECT_EQ(evaluate<int>(b + 1), 5);
    EXPECT_EQ(evaluate<float>(g * 2.0f), 4.0f);

    ImageParam im(UInt(8), 3, "im"), anonymous(Float(32), 2);
    im.dim(0).set_stride(3).set_bounds(0, 16).dim(2).set_stride(1).set_extent(3).set_min(0);
    im.dim(1).set_estimate(0, 100);
    im.set_host_alignment(16);
    im.set_estimates({{0, 16}, {0, 16}, {0, 3}});
    Expr size = im.width() * im.height() * im.channels() + im.left() + im.right() + im.top() + im.bottom();
    EXPECT_EQ(size.type(), Int(32));
    EXPECT_EQ(im.dimensions(), 3);
    EXPECT_EQ(im.type(), UInt(8));
    Argument image_arg = im;
    EXPECT_TRUE(image_arg.is_buffer());
    Buffer<float> bound(4, 4);
    anonymous.set(bound);
    EXPECT_TRUE(anonymous.get().defined());
    anonymous.reset();
    EXPECT_FALSE(anonymous.get().defined());
    EXPECT_THROW(anonymous.set(Buffer<int>(4, 4)), CompileError);
}

TEST(ApiCompile, InlineReductions) {
    Var x("x");
    Func f("f"), g("g"), holder("holder");
    f(x) = x * x;
    RDom r(0, 5), q(0, 3);
    g(x) = sum(f(x + r)) + product(r + 1) + maximum(r, f(x + r)) + minimum(f(r)) + sum(r, f(r)) + sum(sum(r, f(r) * q.x)) +
           sum(f(r), "named") + sum(f(r), holder) + saturating_sum(r, cast<int>(r)) + argmax(f(r))[0] +
           argmin(r, f(r), "am")[1];
    EXPECT_TRUE(holder.defined());
    holder.compute_root();
    EXPECT_THROW(sum(f(x)), CompileError);
}

TEST(ApiCompile, InlineReductionValues) {
    Var x("x");
    Func f("f");
    f(x) = (x * 7) % 5;
    RDom r(0, 10);
    struct {
        Expr e;
        int expected;
    } cases[] = {
        {sum(f(r)), 20},          {product(f(r) + 1), 14400}, {maximum(f(r)), 4},   {minimum(f(r)), 0},
        {argmax(f(r))[0], 2},     {argmax(f(r))[1], 4},       {argmin(f(r))[0], 0}, {saturating_sum(f(r)), 20},
        {sum(r, f(r) * f(r)), 60},
    };
    for (size_t i = 0; i < std::size(cases); i++) {
        EXPECT_EQ(evaluate<int>(cases[i].e), cases[i].expected) << "case " << i;
    }
}

TEST(ApiCompile, BoundaryConditionForms) {
    using namespace BoundaryConditions;
    Var x("x"), y("y");
    Buffer<int> im = ramp2d(4, 3);
    ImageParam in(Int(32), 2);
    in.set(im);
    Func f("f");
    f(x, y) = in(x, y);
    const Region region = {{0, 4}, {0, 3}};

    const auto at = [&](Func g, int px, int py) {
        Func h;
        h() = g(px, py);
        Buffer<int> b = h.realize();
        return b();
    };
    EXPECT_EQ(at(constant_exterior(im, 7), -1, 0), 7);
    EXPECT_EQ(at(constant_exterior(in, 7), 1, 1), 11);
    EXPECT_EQ(at(constant_exterior(f, 7, region), 1, 3), 7);
    EXPECT_EQ(at(constant_exterior(f, 7, 0, 4, 0, 3), 4, 0), 7);
    EXPECT_EQ(at(constant_exterior(f, Tuple(7), {{0, 4}, {0, 3}}), 4, 0), 7);
    EXPECT_EQ(at(constant_exterior(in, 7, {{Expr(), Expr()}, {0, 3}}), 2, -1), 7);
    EXPECT_EQ(at(repeat_edge(im), -5, 7), 20);
    EXPECT_EQ(at(repeat_edge(in, region), 9, 1), 13);
    EXPECT_EQ(at(repeat_edge(f, 0, 4, 0, 3), 9, 1), 13);
    EXPECT_EQ(at(repeat_edge(f, {{0, 4}, {0, 3}}), 9, 1), 13);
    EXPECT_EQ(at(repeat_image(im), -1, 3), 3);
    EXPECT_EQ(at(repeat_image(f, region), 5, 1), 11);
    EXPECT_EQ(at(mirror_image(im), -1, 3), 20);
    EXPECT_EQ(at(mirror_image(in, 0, 4, 0, 3), 4, 0), 3);
    EXPECT_EQ(at(mirror_interior(im), -1, 3), 11);
    EXPECT_EQ(at(mirror_interior(f, region), 4, 0), 2);
}

TEST(ApiCompile, PipelineMethods) {
    Var x("x"), y("y");
    ImageParam in(UInt(8), 2, "in");
    Param<int> offset("offset");
    Func f("f");
    f(x, y) = cast<int>(in(x, y)) + in(x + 1, y) + offset;

    std::vector<Argument> args = f.infer_arguments();
    ASSERT_EQ(args.size(), 2u);
    EXPECT_EQ(args[0].name, "in");
    EXPECT_EQ(args[1].name, "offset");

    Pipeline p(f);
    EXPECT_EQ(p.get_func(p.infer_arguments().size() - 1).name(), f.name());
    p.add_requirement(offset < 100, "offset is", offset);
    offset.set(3);
    p.infer_input_bounds({4, 3});
    Buffer<uint8_t> bound = in.get();
    EXPECT_EQ(bound.width(), 5);
    EXPECT_EQ(bound.height(), 3);
    bound.fill(2);
    Buffer<int> out = p.realize({4, 3});
    EXPECT_EQ(out(0, 0), 7);
    offset.set(100);
    EXPECT_THROW(p.realize({4, 3}), RuntimeError);
    offset.set(5);
    p.compile_jit();
    p.compile_jit(get_jit_target_from_environment());
    p.invalidate_cache();

    in.reset();
    Buffer<int> target(6, 6);
    f.infer_input_bounds(target);
    EXPECT_EQ(Buffer<>(in.get()).width(), 7);
    in.reset();
    f.infer_input_bounds({2, 2}, get_jit_target_from_environment());
    EXPECT_EQ(Buffer<>(in.get()).width(), 3);

    testing::internal::CaptureStderr();
    f.print_loop_nest();
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "produce f:\n  for y:\n    for x:\n      f(...) = ...\n");

    Module m = f.compile_to_module({in, offset}, "name_of_function");
    EXPECT_EQ(m.functions().back().name, "name_of_function");
    EXPECT_THROW(f.compile_to_module({in}, "missing_one"), CompileError);
}

TEST(ApiCompile, Callables) {
    Var x("x");
    ImageParam in(Float(32), 1, "in");
    Param<float> scale("scale");
    Func f("f");
    f(x) = in(x) * scale;
    Callable c = f.compile_to_callable({in, scale});
    EXPECT_TRUE(c.defined());
    EXPECT_FALSE(Callable().defined());
    Buffer<float, 1> input(8), output(8);
    input.fill(2.0f);
    EXPECT_EQ(c(input, 3.0f, output), 0);
    EXPECT_EQ(output(5), 6.0f);
    JITUserContext context;
    EXPECT_EQ(c(&context, input, 4.0f, output), 0);
    EXPECT_EQ(output(5), 8.0f);
    EXPECT_EQ(c(input.raw_buffer(), 5.0f, output.raw_buffer()), 0);
    Runtime::Buffer<float> runtime_output(8);
    EXPECT_EQ(c(input, 5.0f, runtime_output), 0);
    EXPECT_EQ(runtime_output(1), 10.0f);
    auto fn = c.make_std_function<Buffer<float, 1>, float, Buffer<float, 1>>();
    EXPECT_EQ(fn(input, 6.0f, output), 0);
    EXPECT_EQ(output(5), 12.0f);
    auto with_context = c.make_std_function<JITUserContext *, Buffer<float, 1>, float, Buffer<float, 1>>();
    EXPECT_EQ(with_context(&context, input, 7.0f, output), 0);
    EXPECT_THROW(c(input, 3, output), RuntimeError);
    EXPECT_THROW(c(input, output), RuntimeError);
    EXPECT_THROW((c.make_std_function<int, float, Buffer<float, 1>>()), RuntimeError);
}

namespace {

class CountLoops : public Internal::IRMutator {
    using IRMutator::visit;
    int &count;

    Internal::Stmt visit(const Internal::For *op) override {
        count++;
        return IRMutator::visit(op);
    }

public:
    explicit CountLoops(int &count)
        : count(count) {
    }
};

int twice(int x) {
    return 2 * x;
}

}  // namespace

HalideExtern_1(int, api_compile_thrice, int);
HalidePureExtern_2(float, api_compile_mean, float, float);

TEST(ApiCompile, PassesHandlersAndExterns) {
    Var x("x"), y("y");
    Func f("f");
    f(x, y) = x + y;
    int loops = 0;
    f.add_custom_lowering_pass(new CountLoops(loops));
    EXPECT_EQ(f.custom_lowering_passes().size(), 1u);
    f.realize({4, 4});
    EXPECT_EQ(loops, 2);
    f.clear_custom_lowering_passes();

    Func g("g");
    Expr call = Internal::Call::make(Int(32), "twice_of_x", {Expr(x)}, Internal::Call::Extern);
    g(x) = call;
    g.set_jit_externs({{"twice_of_x", JITExtern(twice)}});
    Buffer<int> b = g.realize({5});
    EXPECT_EQ(b(4), 8);

    g.jit_handlers().custom_print = [](JITUserContext *, const char *) {};
    Expr extern_call = api_compile_thrice(x), pure = api_compile_mean(1.0f, 2.0f);
    EXPECT_EQ(extern_call.type(), Int(32));
    EXPECT_EQ(pure.type(), Float(32));
    EXPECT_THROW(api_compile_mean(x, 2.0f), CompileError);

    Func h("h");
    h.define_extern("some_function", {f, Expr(3), user_context_value()}, Int(32), 2);
    EXPECT_TRUE(h.is_extern());
    EXPECT_EQ(h.extern_function_name(), "some_function");
}

TEST(ApiCompile, FactoredReduction) {
    Var x("x"), u("u");
    Func f("f");
    f(x) = (x * 13) % 17;
    RDom r(0, 100, "r");
    Func s("s");
    s() = 0;
    s() += f(r);
    RVar ro("ro"), ri("ri");
    s.update().split(r, ro, ri, 8);
    Func intm = s.update().rfactor({{ri, u}});
    intm.compute_root().vectorize(u, 8).update().vectorize(u, 8);
    Buffer<int> b = s.realize();
    int expected = 0;
    for (int i = 0; i < 100; i++) {
        expected += (i * 13) % 17;
    }
    EXPECT_EQ(b(), expected);
}

TEST(ApiCompile, ConciseCastNames) {
    using namespace ConciseCasts;
    Var x("x");
    EXPECT_EQ(u8(x).type(), UInt(8));
    EXPECT_EQ(i16_sat(x).type(), Int(16));
    EXPECT_EQ(f32(x).type(), Float(32));
    EXPECT_EQ(bf16(x).type(), BFloat(16));
    EXPECT_EQ(evaluate<uint8_t>(u8_sat(Expr(300))), 255);
}
