// Pipelines over more than 2^31 elements: memory mapped without reserve, touched where the test looks.

#include "Halide.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

using namespace Halide;

namespace {

/// Zeros that take memory only where something is written.
class SparseMemory {
public:
    explicit SparseMemory(size_t bytes) : bytes(bytes) {
        memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    ~SparseMemory() {
        if (valid()) {
            munmap(memory, bytes);
        }
    }
    SparseMemory(const SparseMemory &) = delete;
    SparseMemory &operator=(const SparseMemory &) = delete;

    bool valid() const { return memory != MAP_FAILED; }

    template<typename T>
    T *at(int64_t element = 0) const {
        return (T *)memory + element;
    }

private:
    size_t bytes;
    void *memory;
};

Target large() {
    return get_jit_target_from_environment().with_feature(Target::LargeBuffers);
}

/// What an element holds, by its index.
template<typename T>
T pattern(int64_t i) {
    return (T)((uint64_t)i * 2654435761u >> 7);
}

template<typename T>
class LargeBuffers : public testing::Test {};

using ElementTypes = testing::Types<uint8_t, float, int64_t>;
TYPED_TEST_SUITE(LargeBuffers, ElementTypes);

constexpr int64_t giga = 1 << 30;

/// Schedules of a Func over x and y, by number.
constexpr int schedules = 6;

void schedule(Func f, Var x, Var y, int number) {
    switch (number) {
    case 0:
        break;
    case 1:
        f.vectorize(x, 8, TailStrategy::GuardWithIf);
        break;
    case 2:
        f.vectorize(x, 16, TailStrategy::Predicate);
        break;
    case 3:
        f.vectorize(x, 8, TailStrategy::ShiftInwards).parallel(y);
        break;
    case 4:
        f.unroll(x, 4, TailStrategy::GuardWithIf).reorder(y, x);
        break;
    case 5:
        f.vectorize(y, 4, TailStrategy::GuardWithIf);
        break;
    }
}

// 3 · 2^30 elements in two dimensions, read at both ends: dense, reversed, strided, and gathered.
TYPED_TEST(LargeBuffers, read_2d) {
    using T = TypeParam;
    constexpr int width = 1 << 20, height = 3 << 10;
    const SparseMemory memory((size_t)width * height * sizeof(T));
    if (!memory.valid()) {
        GTEST_SKIP() << "no address space";
    }
    Buffer<T> all(Runtime::Buffer<T>(memory.at<T>(), width, height));
    constexpr int w = 61, h = 5;
    const auto for_each_corner = [&](const std::function<void(int, int)> &f) {
        f(0, 0);
        f(width - 3 * w, height - h);
    };
    for_each_corner([&](int x0, int y0) {
        for (int y = 0; y < h; y++) {
            for (int x = 0; x < 3 * w; x++) {
                const int64_t i = (int64_t)(y0 + y) * width + x0 + x;
                *memory.at<T>(i) = pattern<T>(i);
            }
        }
    });
    for (int number = 0; number < schedules; number++) {
        for (int access = 0; access < 4; access++) {
            ImageParam in(type_of<T>(), 2, "in"), lut(Int(32), 1, "lut");
            Param<int> left("left");
            Var x("x"), y("y");
            Func f("f");
            const Expr column = access == 0 ? Expr(x) :
                                access == 1 ? left + w - 1 - (x - left) :
                                access == 2 ? left + 3 * (x - left) :
                                              clamp(lut(x - left), 0, in.width() - 1);
            f(x, y) = in(column, y);
            schedule(f, x, y, number);
            in.set(all);
            for_each_corner([&](int x0, int y0) {
                Buffer<int32_t> places(w);
                for (int i = 0; i < w; i++) {
                    places(i) = x0 + (i * 37) % (3 * w);
                }
                lut.set(places);
                left.set(x0);
                Buffer<T> out(w, h);
                out.set_min(x0, y0);
                f.realize(out, large());
                for (int j = 0; j < h; j++) {
                    for (int i = 0; i < w; i++) {
                        const int from = access == 0 ? i : access == 1 ? w - 1 - i : access == 2 ? 3 * i : (i * 37) % (3 * w);
                        ASSERT_EQ(out(x0 + i, y0 + j), pattern<T>((int64_t)(y0 + j) * width + x0 + from))
                            << "from " << x0 << ", schedule " << number << ", access " << access << ", at " << i << ", " << j;
                    }
                }
            });
        }
    }
}

// Both coordinates vary between lanes: rows far apart in one vector.
TYPED_TEST(LargeBuffers, gather_rows) {
    using T = TypeParam;
    constexpr int width = 1 << 20, height = 5 << 10;
    const SparseMemory memory((size_t)width * height * sizeof(T));
    if (!memory.valid()) {
        GTEST_SKIP() << "no address space";
    }
    constexpr int n = 29;
    Buffer<int32_t> columns(n), rows(n);
    for (int i = 0; i < n; i++) {
        columns(i) = width - 1 - (i * 7919) % 5000;
        rows(i) = height - 1 - (i * 1777) % height;
        const int64_t at = (int64_t)rows(i) * width + columns(i);
        *memory.at<T>(at) = pattern<T>(at);
    }
    for (int lanes : {1, 4, 8, 16}) {
        for (TailStrategy tail : {TailStrategy::GuardWithIf, TailStrategy::Predicate, TailStrategy::ShiftInwards}) {
            ImageParam in(type_of<T>(), 2, "in");
            Var x("x");
            Func f("f");
            f(x) = in(clamp(columns(x), 0, width - 1), clamp(rows(x), 0, height - 1));
            if (lanes > 1) {
                f.vectorize(x, lanes, tail);
            }
            in.set(Buffer<T>(Runtime::Buffer<T>(memory.at<T>(), width, height)));
            Buffer<T> out = f.realize({n}, large());
            for (int i = 0; i < n; i++) {
                ASSERT_EQ(out(i), pattern<T>((int64_t)rows(i) * width + columns(i))) << lanes << " lanes, at " << i;
            }
        }
    }
}

// One dimension has at most 2^31 - 1 elements; with a stride they lie further apart than that.
TYPED_TEST(LargeBuffers, strided_1d) {
    using T = TypeParam;
    constexpr int extent = 1 << 30, stride = 5;
    const SparseMemory memory((size_t)extent * stride * sizeof(T));
    if (!memory.valid()) {
        GTEST_SKIP() << "no address space";
    }
    const halide_dimension_t shape[] = {{0, extent, stride}};
    Buffer<T> all(Runtime::Buffer<T>(memory.at<T>(), 1, shape));
    constexpr int n = 77;
    for (int start : {0, extent - n}) {
        for (int i = 0; i < n; i++) {
            *memory.at<T>((int64_t)(start + i) * stride) = pattern<T>(start + i);
        }
        for (int lanes : {1, 8, 32}) {
            for (bool known : {false, true}) {
                ImageParam in(type_of<T>(), 1, "in");
                in.dim(0).set_stride(known ? Expr(stride) : Expr());
                Var x("x");
                Func f("f");
                f(x) = in(x);
                if (lanes > 1) {
                    f.vectorize(x, lanes, TailStrategy::GuardWithIf);
                }
                in.set(all);
                Buffer<T> out(n);
                out.set_min(start);
                f.realize(out, large());
                for (int i = 0; i < n; i++) {
                    ASSERT_EQ(out(start + i), pattern<T>(start + i)) << lanes << " lanes, at " << start + i;
                }
            }
        }
    }
}

// Stores and updates at both ends of an output, dense and scattered, leave the rest alone.
TYPED_TEST(LargeBuffers, write_2d) {
    using T = TypeParam;
    constexpr int width = 1 << 20, height = 3 << 10, w = 45, h = 3;
    for (int lanes : {1, 8, 16}) {
        for (bool scatter : {false, true}) {
            const SparseMemory memory((size_t)width * height * sizeof(T));
            if (!memory.valid()) {
                GTEST_SKIP() << "no address space";
            }
            Var x("x"), y("y");
            Func f("f");
            f(x, y) = undef<T>();
            const int x0 = width - w, y0 = height - h;
            RDom r(0, w, 0, h, "r");
            Buffer<int32_t> order(w);
            for (int i = 0; i < w; i++) {
                order(i) = (i * 11) % w;
            }
            const Expr column = scatter ? clamp(order(r.x), 0, w - 1) : Expr(r.x);
            f(x0 + column, y0 + r.y) = cast<T>(column + 3 * r.y + 1);
            f(column, r.y) = cast<T>(100 + column);
            if (lanes > 1) {
                // Distinct columns: no two lanes write one element.
                f.update(0).allow_race_conditions().vectorize(r.x, lanes, TailStrategy::GuardWithIf);
                f.update(1).allow_race_conditions().vectorize(r.x, lanes, TailStrategy::GuardWithIf);
            }
            Buffer<T> out(Runtime::Buffer<T>(memory.at<T>(), width, height));
            f.realize(out, large());
            for (int j = 0; j < h; j++) {
                for (int i = -2; i < w; i++) {
                    const int64_t far = (int64_t)(y0 + j) * width + x0 + i, near = (int64_t)j * width + i;
                    ASSERT_EQ(*memory.at<T>(far), i < 0 ? T(0) : T(i + 3 * j + 1)) << lanes << " lanes, at " << i << ", " << j;
                    if (i >= 0) {
                        ASSERT_EQ(*memory.at<T>(near), T(100 + i)) << lanes << " lanes, at " << i << ", " << j;
                    }
                }
            }
        }
    }
}

// Storage of the pipeline's own: the stride of its last dimension, 2^32, fits no int.
TEST(LargeBuffersOnly, own_allocation) {
    Var x("x"), y("y"), z("z");
    for (int lanes : {1, 8}) {
        Func g("g"), f("f");
        g(x, y, z) = undef<uint8_t>();
        RDom r(0, 40, "r");
        g(r, 3, 0) = cast<uint8_t>(r + 1);
        g(65535 - r, 65535, 1) = cast<uint8_t>(2 * r + 1);
        f(x) = g(x, 3, 0) + g(65535 - x, 65535, 1);
        g.compute_root().bound(x, 0, 65536).bound(y, 0, 65536).bound(z, 0, 2);
        if (lanes > 1) {
            g.update(0).vectorize(r, lanes);
            g.update(1).vectorize(r, lanes);
            f.vectorize(x, lanes);
        }
        Buffer<uint8_t> out = f.realize({40}, large());
        for (int i = 0; i < 40; i++) {
            ASSERT_EQ(out(i), 3 * i + 2) << lanes << " lanes, at " << i;
        }
    }
}

// Coordinates up to the last int: nothing is added to them that they do not survive.
TEST(LargeBuffersOnly, loop_to_int_max) {
    constexpr int n = 100, start = INT32_MAX - n + 1;
    for (const bool large_buffers : {false, true}) {
        for (int number = 0; number < 8; number++) {
            Var x("x"), xo("xo"), xi("xi");
            ImageParam in(Int(32), 1, "in");
            Func f("f");
            f(x) = in(x) + (x - start);
            switch (number) {
            case 0: break;
            case 1: f.vectorize(x, 8, TailStrategy::GuardWithIf); break;
            case 2: f.vectorize(x, 8, TailStrategy::Predicate); break;
            case 3: f.vectorize(x, 8, TailStrategy::ShiftInwards); break;
            case 4: f.split(x, xo, xi, 7, TailStrategy::GuardWithIf).parallel(xo); break;
            case 5: f.unroll(x, 3, TailStrategy::GuardWithIf); break;
            case 6: f.split(x, xo, xi, 16, TailStrategy::ShiftInwards).vectorize(xi, 4); break;
            case 7: f.parallel(x); break;
            }
            Buffer<int32_t> input(n), out(n);
            input.set_min(start);
            out.set_min(start);
            for (int i = 0; i < n; i++) {
                input.data()[i] = 1000 * i;
            }
            in.set(input);
            f.realize(out, large_buffers ? large() : get_jit_target_from_environment());
            for (int i = 0; i < n; i++) {
                ASSERT_EQ(out.data()[i], 1001 * i) << "schedule " << number << ", at " << i;
            }
        }
    }
}

int code_of(Func f, ImageParam in, const Buffer<> &big, const Buffer<> &out, const Target &t, std::string *message) {
    in.set(big);
    static std::string text;
    text.clear();
    f.jit_handlers().custom_error = [](JITUserContext *, const char *m) { text += m; };
    Callable c = f.compile_to_callable({in}, t);
    Buffer<uint8_t> input(big), output(out);
    const int code = c(input, output);
    *message = text;
    return code;
}

// Without the feature, the limit is 2^31 - 1, and nothing is read.
TEST(LargeBuffersOnly, error_codes) {
    const SparseMemory memory(3 * giga);
    if (!memory.valid()) {
        GTEST_SKIP() << "no address space";
    }
    ImageParam in(UInt(8), 2, "in");
    Var x("x"), y("y");
    Func f("f");
    f(x, y) = in(x, y);
    Buffer<uint8_t> out(4, 4);
    const Target small = get_jit_target_from_environment();
    std::string message;

    // Rows far apart: too many bytes between the first and the last.
    Buffer<uint8_t> big(Runtime::Buffer<uint8_t>(memory.at<uint8_t>(), 1 << 20, 3 << 10));
    EXPECT_EQ(code_of(f, in, big, out, small, &message), halide_error_code_buffer_allocation_too_large);
    EXPECT_EQ(message, "Allocation for buffer in takes 3221225472 bytes, which exceeds the maximum size of 2147483647");
    EXPECT_EQ(code_of(f, in, big, out, large(), &message), halide_error_code_success);
    EXPECT_EQ(message, "");

    // Rows that share their elements: few bytes, but too many elements.
    const halide_dimension_t shape[] = {{0, 1 << 20, 1}, {0, 3 << 10, 0}};
    Buffer<uint8_t> folded(Runtime::Buffer<uint8_t>(memory.at<uint8_t>(), 2, shape));
    EXPECT_EQ(code_of(f, in, folded, out, small, &message), halide_error_code_buffer_extents_too_large);
    EXPECT_EQ(message, "Product of the extents of buffer in is 3221225472, which exceeds the maximum size of 2147483647");
    EXPECT_EQ(code_of(f, in, folded, out, large(), &message), halide_error_code_success);

    // The limit itself is allowed.
    const halide_dimension_t most[] = {{0, INT32_MAX, 1}, {0, 1, INT32_MAX}};
    Buffer<uint8_t> last(Runtime::Buffer<uint8_t>(memory.at<uint8_t>(), 2, most));
    Buffer<uint8_t> row(4, 1);
    EXPECT_EQ(code_of(f, in, last, row, small, &message), halide_error_code_success);
}

// The pipeline's own storage has the same limit.
TEST(LargeBuffersOnly, own_allocation_too_large) {
    Var x("x"), y("y");
    Param<int> n("n");
    Func g(Internal::Function("g")), f("f");
    g(x, y) = undef<uint8_t>();
    g(0, 0) = cast<uint8_t>(1);
    f(x) = g(0, 0) + g(n, n);
    g.compute_root();
    n.set(65535);
    try {
        f.realize({1});
        ADD_FAILURE() << "4 GiB fit 2^31 - 1 bytes";
    } catch (const RuntimeError &e) {
        EXPECT_EQ(e.what(), std::string("Error: Allocation for buffer g takes 4294967296 bytes, which exceeds the maximum "
                                        "size of 2147483647\n"));
    }
}

}  // namespace
