// A program that instantiates the templates of Halide.h, compiled with every warning a careful user has switched on.
#include "Halide.h"
#include "halide_benchmark.h"
#include "halide_image_io.h"
#include "halide_thread_pool.h"

using namespace Halide;

int main() {
    Buffer<int> named(3, 4, "named"), typed(Int(32), 3, 4);
    int storage[12] = {};
    Buffer<int, 2> borrowed(storage, 3, 4);
    Runtime::Buffer<uint16_t, 3> planar(4, 5, 3);
    planar.for_each_element([&](int i, int j, int c) { planar(i, j, c) = (uint16_t)(i + j + c); });
    borrowed.for_each_value([](int &v) { v++; });

    Var x("x"), y("y");
    Func f("f"), g("g"), pair("pair");
    RDom r(0, 3, 0, 2, "r");
    Param<float> gain("gain", 1.0f, 0.0f, 2.0f);
    ImageParam image(UInt(8), 2, "image");
    f(x, y) = print(cast<float>(x + y), "at", x, y) + gain + image(x, y);
    g(x) = 0;
    g(clamp(named(r.x, r.y), 0, 7)) += 1;
    pair(x, y) = Tuple(f(x, y), maximum(f(x + r.x, y + r.y)), select(x > 3, 1, x > 2, 2, 3));
    pair.compute_root().tile(x, y, Var("xi"), Var("yi"), 8, 8).vectorize(Var("xi")).parallel(y);
    Expr widest = fast_integer_divide(cast<uint8_t>(x), cast<uint8_t>(3)) + mux(x, {1, 2, 3}) + strict_float(gain);
    image.set(Buffer<uint8_t>(16, 16));
    Pipeline both({f, g});
    Buffer<int> out = g.realize({8}, get_jit_target_from_environment());
    double best = Tools::benchmark(1, 1, [&] { g.realize(out); });
    Tools::ThreadPool<int> pool;
    return out(0) + named.width() + typed.width() + (int)best + (int)widest.type().bits() +
           pool.async([] { return 0; }).get();
}
