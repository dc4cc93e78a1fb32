// Halide::Runtime::Buffer.
#include "runtime/HalideBuffer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

using namespace Halide::Runtime;

namespace {

// What an element should hold, from its coordinates.
int value_at(int x, int y, int c) {
    return 3 * x + 7 * y + 50 * c;
}

Buffer<int32_t> numbered(int w, int h, int c) {
    Buffer<int32_t> b(w, h, c);
    b.fill(value_at);
    return b;
}

std::vector<int> strides_of(const halide_buffer_t *b) {
    std::vector<int> s;
    for (int i = 0; i < b->dimensions; i++) {
        s.push_back(b->dim[i].stride);
    }
    return s;
}

std::vector<int> extents_of(const halide_buffer_t *b) {
    std::vector<int> s;
    for (int i = 0; i < b->dimensions; i++) {
        s.push_back(b->dim[i].extent);
    }
    return s;
}

std::vector<int> mins_of(const halide_buffer_t *b) {
    std::vector<int> s;
    for (int i = 0; i < b->dimensions; i++) {
        s.push_back(b->dim[i].min);
    }
    return s;
}

using Ints = std::vector<int>;

}  // namespace

TEST(HalideBufferT, Layout) {
    EXPECT_EQ(sizeof(halide_type_t), 4u);
    EXPECT_EQ(sizeof(halide_dimension_t), 16u);
    EXPECT_EQ(sizeof(halide_buffer_t), 56u);
    EXPECT_EQ(offsetof(halide_buffer_t, host), 16u);
    EXPECT_EQ(offsetof(halide_buffer_t, type), 32u);
    EXPECT_EQ(offsetof(halide_buffer_t, dim), 40u);
    EXPECT_EQ((uint32_t)halide_type_t(halide_type_uint, 8), 2049u);
    EXPECT_EQ(halide_type_of<uint8_t>().as_u32(), 2049u);
}

TEST(HalideBufferT, Types) {
    const struct {
        halide_type_t type;
        halide_type_code_t code;
        int bits, bytes;
    } cases[] = {
        {halide_type_of<bool>(), halide_type_uint, 1, 1},
        {halide_type_of<int8_t>(), halide_type_int, 8, 1},
        {halide_type_of<uint16_t>(), halide_type_uint, 16, 2},
        {halide_type_of<int32_t>(), halide_type_int, 32, 4},
        {halide_type_of<long>(), halide_type_int, 64, 8},
        {halide_type_of<unsigned long long>(), halide_type_uint, 64, 8},
        {halide_type_of<float>(), halide_type_float, 32, 4},
        {halide_type_of<const double>(), halide_type_float, 64, 8},
        {halide_type_of<void *>(), halide_type_handle, 64, 8},
        {halide_type_of<const char *>(), halide_type_handle, 64, 8},
    };
    for (const auto &c : cases) {
        EXPECT_EQ(c.type.code, c.code);
        EXPECT_EQ((int)c.type.bits, c.bits);
        EXPECT_EQ(c.type.bytes(), c.bytes);
    }
    static_assert(halide_type_of<uint8_t>() == halide_type_t(halide_type_uint, 8));
    static_assert(halide_type_of<uint8_t>() != halide_type_of<int8_t>());
    static_assert(halide_type_of<int8_t>() < halide_type_of<uint8_t>());
}

TEST(HalideBufferT, NegativeStrides) {
    uint16_t data[12];
    halide_dimension_t dim[2] = {{5, 4, -1}, {2, 3, 4}};
    halide_buffer_t b = {};
    b.type = halide_type_of<uint16_t>();
    b.dimensions = 2;
    b.dim = dim;
    b.host = (uint8_t *)(data + 3);
    EXPECT_EQ(b.begin_offset(), -3);
    EXPECT_EQ(b.end_offset(), 9);
    EXPECT_EQ(b.begin(), (uint8_t *)data);
    EXPECT_EQ(b.end(), (uint8_t *)(data + 12));
    EXPECT_EQ(b.size_in_bytes(), sizeof(data));
    EXPECT_EQ(b.number_of_elements(), 12u);
    const int pos[2] = {7, 3};
    EXPECT_EQ(b.address_of(pos), (uint8_t *)(data + 5));
    EXPECT_FALSE(b.is_bounds_query());
    b.host = nullptr;
    EXPECT_TRUE(b.is_bounds_query());
    dim[0].extent = 0;
    EXPECT_EQ(b.size_in_bytes(), 0u);
    EXPECT_EQ(b.device_sync(), 0);
    b.set_device_dirty();
    b.set_host_dirty();
    EXPECT_EQ(b.flags, 3u);
    b.set_host_dirty(false);
    EXPECT_TRUE(b.device_dirty());
    EXPECT_FALSE(b.host_dirty());
}

TEST(RuntimeBuffer, Default) {
    Buffer<float> b;
    EXPECT_EQ(b.dimensions(), 0);
    EXPECT_EQ(b.data(), nullptr);
    EXPECT_EQ(b.type(), halide_type_of<float>());
    EXPECT_FALSE(b.owns_host_memory());
    EXPECT_EQ(b.width(), 1);
    EXPECT_EQ(b.height(), 1);
    EXPECT_EQ(b.channels(), 1);
    Buffer<float, 3> s;
    EXPECT_EQ(s.dimensions(), 3);
    EXPECT_EQ(extents_of(s.raw_buffer()), (Ints{0, 0, 0}));
}

TEST(RuntimeBuffer, Allocation) {
    Buffer<uint16_t> b(5, 7, 3);
    EXPECT_EQ(extents_of(b), (Ints{5, 7, 3}));
    EXPECT_EQ(strides_of(b), (Ints{1, 5, 35}));
    EXPECT_EQ(mins_of(b), (Ints{0, 0, 0}));
    EXPECT_TRUE(b.owns_host_memory());
    EXPECT_EQ((uintptr_t)b.data() % HALIDE_RUNTIME_BUFFER_ALLOCATION_ALIGNMENT, 0u);
    EXPECT_EQ(b.size_in_bytes(), 210u);
    EXPECT_EQ(b.number_of_elements(), 105u);
    EXPECT_EQ(b.end() - b.begin(), 105);

    EXPECT_FALSE((Buffer<uint8_t>(5, 0, 3)).owns_host_memory());
    EXPECT_EQ(extents_of((Buffer<uint8_t>(5, 0, 3)).raw_buffer()), (Ints{5, 0, 3}));

    Buffer<> v(halide_type_of<double>(), 4, 2);
    EXPECT_EQ(v.type(), halide_type_of<double>());
    EXPECT_EQ(v.size_in_bytes(), 64u);

    Buffer<uint8_t> many(2, 2, 2, 2, 2, 2);
    EXPECT_EQ(many.dimensions(), 6);
    EXPECT_EQ(many.dim(5).stride(), 32);
}

TEST(RuntimeBuffer, SizesAndStorageOrder) {
    Buffer<uint8_t> b(Ints{5, 7, 3});
    EXPECT_EQ(strides_of(b), (Ints{1, 5, 35}));
    Buffer<uint8_t> o(Ints{5, 7, 3}, Ints{2, 0, 1});
    EXPECT_EQ(extents_of(o), (Ints{5, 7, 3}));
    EXPECT_EQ(strides_of(o), (Ints{3, 15, 1}));
    Buffer<> t(halide_type_of<int32_t>(), Ints{5, 7}, Ints{1, 0});
    EXPECT_EQ(strides_of(t), (Ints{7, 1}));
    Buffer<> z(halide_type_of<int32_t>(), Ints{});
    EXPECT_EQ(z.dimensions(), 0);
    EXPECT_TRUE(z.owns_host_memory());
}

TEST(RuntimeBuffer, WrapsArrays) {
    int32_t a[2][3][4] = {};
    Buffer<int32_t> b(a);
    EXPECT_EQ(extents_of(b), (Ints{4, 3, 2}));
    EXPECT_EQ(strides_of(b), (Ints{1, 4, 12}));
    b(3, 2, 1) = 42;
    EXPECT_EQ(a[1][2][3], 42);
    EXPECT_FALSE(b.owns_host_memory());

    const float c[3] = {1, 2, 3};
    Buffer<const float> cb(c);
    EXPECT_EQ(cb(2), 3.f);
    Buffer<int32_t, 3> fixed(a);
    EXPECT_EQ(fixed(3, 2, 1), 42);
}

TEST(RuntimeBuffer, WrapsMemory) {
    std::vector<uint8_t> mem(60);
    std::iota(mem.begin(), mem.end(), (uint8_t)0);
    EXPECT_EQ(Buffer<uint8_t>(mem.data(), 5, 4, 3)(1, 2, 1), 1 + 10 + 20);
    EXPECT_EQ(Buffer<uint8_t>(mem.data(), Ints{5, 12})(1, 2), 11);
    Buffer<> dynamic(halide_type_of<uint8_t>(), mem.data(), 5, 12);
    EXPECT_EQ(dynamic.as<uint8_t>()(1, 2), 11);
    const halide_dimension_t dims[2] = {{10, 4, 2}, {-3, 3, 20}};
    Buffer<uint8_t> s(mem.data(), 2, dims);
    EXPECT_EQ(s(11, -2), 22);
    EXPECT_EQ(s.data(), mem.data());
    EXPECT_EQ(Buffer<uint8_t>(mem.data(), std::vector<halide_dimension_t>{dims[0]})(12), 4);
    EXPECT_EQ((Buffer<const uint8_t, 2>(mem.data(), 5, 12)(0, 1)), 5);
    EXPECT_EQ(Buffer<const void>(halide_type_of<uint8_t>(), mem.data(), 60).data(), (const void *)mem.data());
}

TEST(RuntimeBuffer, WrapsHalideBuffer) {
    Buffer<int32_t> b = numbered(4, 3, 2);
    Buffer<int32_t> w(*b.raw_buffer());
    EXPECT_FALSE(w.owns_host_memory());
    EXPECT_EQ(w.data(), b.data());
    EXPECT_EQ(w(3, 2, 1), value_at(3, 2, 1));
    w.transpose(0, 1);
    EXPECT_EQ(b.width(), 4) << "the shape belongs to each object";
}

TEST(RuntimeBuffer, CopiesShareMemory) {
    Buffer<int32_t> a = numbered(4, 3, 2);
    Buffer<int32_t> b = a;
    b(0, 0, 0) = 99;
    EXPECT_EQ(a(0, 0, 0), 99);
    b.crop(0, 1, 2);
    EXPECT_EQ(a.width(), 4);
    int32_t *p = a.data();
    a.reset();
    EXPECT_EQ(a.data(), nullptr);
    EXPECT_EQ(b.data(), p + 1);
    EXPECT_TRUE(b.owns_host_memory());
    Buffer<int32_t> moved = std::move(b);
    EXPECT_EQ(moved(1, 2, 1), value_at(1, 2, 1));
    EXPECT_EQ(b.data(), nullptr);
    b = moved;
    EXPECT_EQ(b(1, 2, 1), value_at(1, 2, 1));
    Buffer<int32_t> &self = b;
    b = self;
    EXPECT_EQ(b(1, 2, 1), value_at(1, 2, 1));
}

TEST(RuntimeBuffer, ManyDimensionsMoveAndCopy) {
    Buffer<uint8_t> b(2, 3, 2, 3, 2, 3);
    Buffer<uint8_t> c = b;
    EXPECT_EQ(extents_of(c), extents_of(b));
    Buffer<uint8_t> d = std::move(c);
    EXPECT_EQ(extents_of(d), extents_of(b));
    Buffer<uint8_t, 6> e = d;
    EXPECT_EQ(extents_of(e), extents_of(b));
    d = Buffer<uint8_t>(3, 3);
    EXPECT_EQ(d.dimensions(), 2);
}

TEST(RuntimeBuffer, Conversions) {
    Buffer<int32_t, 3> typed = numbered(4, 3, 2);
    Buffer<> any = typed;
    Buffer<const void> any_const = typed;
    Buffer<const int32_t> c = typed;
    Buffer<const int32_t, 3> c3 = any;
    EXPECT_EQ(c(1, 1, 1), value_at(1, 1, 1));
    EXPECT_EQ(c3.data(), typed.data());
    EXPECT_EQ(any.as<int32_t>()(1, 1, 1), value_at(1, 1, 1));
    EXPECT_EQ((any.as<int32_t, 3>()(1, 1, 1)), value_at(1, 1, 1));
    EXPECT_EQ(any_const.as<const int32_t>()(1, 1, 1), value_at(1, 1, 1));
    EXPECT_EQ(typed.as_const()(1, 1, 1), value_at(1, 1, 1));
    static_assert(std::is_same_v<decltype(typed.as_const()), Buffer<const int32_t, 3> &>);

    EXPECT_TRUE((Buffer<int32_t>::can_convert_from(any)));
    EXPECT_FALSE((Buffer<float>::can_convert_from(any)));
    EXPECT_FALSE((Buffer<int32_t, 2>::can_convert_from(any)));
    EXPECT_EQ((Buffer<int32_t, 3>::static_dimensions()), 3);
    EXPECT_TRUE((Buffer<int32_t>::has_static_halide_type));
    EXPECT_FALSE((Buffer<>::has_static_halide_type));
    EXPECT_FALSE((Buffer<int32_t>::has_static_dimensions));
    static_assert(!std::is_convertible_v<Buffer<uint8_t> *, Buffer<int8_t> *>);

    Buffer<> from_temporary = numbered(2, 2, 2).as<void>();
    EXPECT_EQ(from_temporary.as<int32_t>()(1, 1, 1), value_at(1, 1, 1));
}

TEST(RuntimeBuffer, ConversionMismatchAsserts) {
#ifndef NDEBUG
    Buffer<> any(halide_type_of<int32_t>(), 4, 3);
    EXPECT_DEATH(Buffer<float> f = any, "mismatch");
    EXPECT_DEATH((Buffer<int32_t, 3>(any)), "mismatch");
#endif
}

TEST(RuntimeBuffer, Dimensions) {
    Buffer<uint8_t> b(5, 7);
    b.set_min(10, -3);
    EXPECT_EQ(b.dim(0).min(), 10);
    EXPECT_EQ(b.dim(0).max(), 14);
    EXPECT_EQ(b.dim(1).stride(), 5);
    EXPECT_EQ(b.left(), 10);
    EXPECT_EQ(b.right(), 14);
    EXPECT_EQ(b.top(), -3);
    EXPECT_EQ(b.bottom(), 3);
    EXPECT_EQ(b.min(1), -3);
    EXPECT_EQ(b.extent(1), 7);
    EXPECT_EQ(b.stride(1), 5);
    Ints visited;
    for (int x : b.dim(0)) {
        visited.push_back(x);
    }
    EXPECT_EQ(visited, (Ints{10, 11, 12, 13, 14}));
    EXPECT_TRUE(b.contains(10, -3));
    EXPECT_TRUE(b.contains(14, 3));
    EXPECT_TRUE(b.contains(14));
    EXPECT_FALSE(b.contains(15, 3));
    EXPECT_FALSE(b.contains(14, -4));
    EXPECT_FALSE(b.contains(Ints{9, 0}));
}

TEST(RuntimeBuffer, ElementAccess) {
    Buffer<int32_t> b = numbered(4, 3, 2);
    EXPECT_EQ(b(3, 2, 1), value_at(3, 2, 1));
    EXPECT_EQ(b(3), value_at(3, 0, 0));
    EXPECT_EQ(b(), value_at(0, 0, 0));
    const int pos[3] = {2, 1, 1};
    EXPECT_EQ(b(pos), value_at(2, 1, 1));
    b.set_host_dirty(false);
    const Buffer<int32_t> &c = b;
    EXPECT_EQ(c(1, 2, 1), value_at(1, 2, 1));
    EXPECT_FALSE(b.host_dirty());
    b(1, 2, 1) = 5;
    EXPECT_TRUE(b.host_dirty());
    b.set_min(100, 200, 300);
    EXPECT_EQ(c(101, 202, 301), 5);
#ifndef NDEBUG
    EXPECT_DEATH(b(99, 200, 300) = 1, "");
    EXPECT_DEATH(b(104, 200, 300) = 1, "");
#endif
}

TEST(RuntimeBuffer, Crop) {
    Buffer<int32_t> b = numbered(10, 8, 3);
    b.crop(0, 2, 5);
    EXPECT_EQ(mins_of(b), (Ints{2, 0, 0}));
    EXPECT_EQ(extents_of(b), (Ints{5, 8, 3}));
    EXPECT_EQ(b(2, 7, 1), value_at(2, 7, 1));
    const Buffer<int32_t> c = b.cropped({{3, 2}, {4, 4}});
    EXPECT_EQ(c(4, 7, 2), value_at(4, 7, 2));
    EXPECT_EQ(c.width(), 2);
    EXPECT_EQ(c.height(), 4);
    EXPECT_EQ(c.channels(), 3);
    EXPECT_EQ(&c(3, 4, 0), &((const Buffer<int32_t> &)b)(3, 4, 0));
    EXPECT_EQ(b.cropped(1, 2, 0).height(), 0);
#ifndef NDEBUG
    EXPECT_DEATH(b.crop(0, 0, 3), "inside");
    EXPECT_DEATH(b.crop(0, 2, 6), "inside");
#endif
    // A bounds query can be cropped too.
    Buffer<int32_t> query(nullptr, 10, 10);
    query.crop(0, 3, 2);
    EXPECT_EQ(query.data(), nullptr);
}

TEST(RuntimeBuffer, SliceAndEmbed) {
    Buffer<int32_t> b = numbered(5, 4, 3);
    Buffer<int32_t> plane = b.sliced(2, 1);
    EXPECT_EQ(plane.dimensions(), 2);
    EXPECT_EQ(plane(4, 3), value_at(4, 3, 1));
    Buffer<int32_t, 3> fixed = b;
    Buffer<int32_t, 2> row = fixed.sliced(1, 2);
    EXPECT_EQ(row(4, 2), value_at(4, 2, 2));
    b.slice(0, 3);
    EXPECT_EQ(b(2, 1), value_at(3, 2, 1));
    b.slice(0);
    EXPECT_EQ(b(2), value_at(3, 0, 2));
    b.slice(0);
    EXPECT_EQ(b.dimensions(), 0);
    EXPECT_EQ(b(), value_at(3, 0, 0));

    plane.embed(1, 7);
    EXPECT_EQ(extents_of(plane), (Ints{5, 1, 4}));
    EXPECT_EQ(mins_of(plane), (Ints{0, 7, 0}));
    EXPECT_EQ(plane(4, 7, 3), value_at(4, 3, 1));
    Buffer<int32_t, 3> again = row.embedded(1, 2);
    EXPECT_EQ(again(4, 2, 2), value_at(4, 2, 2));
}

TEST(RuntimeBuffer, AddDimension) {
    Buffer<uint8_t> b(5, 4);
    b.add_dimension();
    EXPECT_EQ(extents_of(b), (Ints{5, 4, 1}));
    EXPECT_EQ(b.dim(2).stride(), 20);
    b.add_dimension_with_stride(17);
    b.add_dimension();
    b.add_dimension();
    EXPECT_EQ(b.dimensions(), 6);
    EXPECT_EQ(b.dim(3).stride(), 17);
}

TEST(RuntimeBuffer, TranslateAndTranspose) {
    Buffer<int32_t> b = numbered(5, 4, 3);
    b.translate(0, 10);
    b.translate({1, -5});
    EXPECT_EQ(mins_of(b), (Ints{11, -5, 0}));
    EXPECT_EQ(b(11, -5, 0), value_at(0, 0, 0));
    EXPECT_EQ(mins_of(b.translated(2, 4)), (Ints{11, -5, 4}));
    EXPECT_EQ(mins_of(b.translated({-11, 5})), (Ints{0, 0, 0}));
    b.set_min(Ints{0, 0});
    Buffer<int32_t> t = b.transposed(0, 2);
    EXPECT_EQ(t(2, 3, 4), value_at(4, 3, 2));
    Buffer<int32_t> p = b.transposed({2, 0, 1});
    EXPECT_EQ(extents_of(p), (Ints{3, 5, 4}));
    EXPECT_EQ(p(2, 4, 3), value_at(4, 3, 2));
    b.transpose(1, 2);
    EXPECT_EQ(b(4, 2, 3), value_at(4, 3, 2));
}

TEST(RuntimeBuffer, Factories) {
    Buffer<uint8_t> i = Buffer<uint8_t>::make_interleaved(5, 4, 3);
    EXPECT_EQ(strides_of(i), (Ints{3, 15, 1}));
    EXPECT_EQ(extents_of(i), (Ints{5, 4, 3}));
    std::vector<uint8_t> mem(60);
    std::iota(mem.begin(), mem.end(), (uint8_t)0);
    EXPECT_EQ((Buffer<uint8_t, 3>::make_interleaved(mem.data(), 5, 4, 3)(2, 1, 2)), 15 + 6 + 2);
    Buffer<> dynamic = Buffer<>::make_interleaved(halide_type_of<float>(), 2, 2, 2);
    EXPECT_EQ(dynamic.type(), halide_type_of<float>());
    auto s = Buffer<float>::make_scalar();
    s() = 3.f;
    EXPECT_EQ(s.dimensions(), 0);
    EXPECT_EQ(s.number_of_elements(), 1u);
    float f = 5.f;
    EXPECT_EQ((Buffer<float, 0>::make_scalar(&f)()), 5.f);
    EXPECT_EQ(Buffer<>::make_scalar(halide_type_of<int8_t>()).size_in_bytes(), 1u);

    Buffer<int32_t> cropped = numbered(9, 8, 3).cropped(0, 2, 4).transposed(0, 2);
    Buffer<int32_t> like = Buffer<int32_t>::make_with_shape_of(cropped);
    EXPECT_EQ(extents_of(like), extents_of(cropped));
    EXPECT_EQ(mins_of(like), mins_of(cropped));
    EXPECT_EQ(strides_of(like), (Ints{32, 4, 1})) << "dense, same nesting order";
    EXPECT_EQ(Buffer<uint8_t>::make_with_shape_of(cropped).type(), halide_type_of<uint8_t>());
    EXPECT_EQ(Buffer<>::make_with_shape_of(cropped).type(), halide_type_of<int32_t>());
}

TEST(RuntimeBuffer, DeepCopies) {
    const Buffer<const int32_t> b = numbered(6, 5, 3).cropped(1, 1, 3);
    Buffer<int32_t> copies[] = {b.copy(), b.copy_to_planar(), b.copy_to_interleaved()};
    EXPECT_EQ(strides_of(copies[0]), (Ints{1, 6, 18}));
    EXPECT_EQ(strides_of(copies[1]), (Ints{1, 6, 18}));
    EXPECT_EQ(strides_of(copies[2]), (Ints{3, 18, 1}));
    for (Buffer<int32_t> &c : copies) {
        EXPECT_NE(c.data(), b.data());
        EXPECT_EQ(mins_of(c), mins_of(b.raw_buffer()));
        c.for_each_element([&](int x, int y, int k) { ASSERT_EQ(c(x, y, k), value_at(x, y, k)); });
    }
    EXPECT_EQ(copies[0].alias().data(), copies[0].data());
}

TEST(RuntimeBuffer, CopyFromCopiesTheIntersection) {
    Buffer<int32_t> src = numbered(6, 5, 2);
    Buffer<int32_t> dst(4, 8, 2);
    dst.set_min(3, -2, 1);
    dst.fill(-1);
    dst.copy_from(src);
    dst.for_each_element([&](int x, int y, int c) {
        ASSERT_EQ(dst(x, y, c), src.contains(x, y, c) ? value_at(x, y, c) : -1) << x << " " << y << " " << c;
    });
    Buffer<int32_t> elsewhere(2, 2, 2);
    elsewhere.set_min(100, 100, 100);
    elsewhere.fill(7);
    elsewhere.copy_from(src);
    EXPECT_TRUE(elsewhere.all_equal(7));

    // Any element size, any strides, also through void.
    Buffer<uint8_t> bytes(5, 6);
    bytes.fill([](int x, int y) { return (uint8_t)(x + 10 * y); });
    Buffer<> turned = bytes.transposed(0, 1).copy();
    turned.transpose(0, 1);
    Buffer<> out(halide_type_of<uint8_t>(), 5, 6);
    out.copy_from(turned);
    EXPECT_EQ(out.as<uint8_t>()(4, 3), 34);
    Buffer<double> d0 = Buffer<double>::make_scalar(), d1 = Buffer<double>::make_scalar();
    d0() = 2.5;
    d1.copy_from(d0);
    EXPECT_EQ(d1(), 2.5);
}

TEST(RuntimeBuffer, Fill) {
    Buffer<float> f(4, 3);
    f.fill(1.5f);
    EXPECT_TRUE(f.all_equal(1.5f));
    f.fill([](const int *pos) { return pos[0] + 0.5f * pos[1]; });
    EXPECT_EQ(f(3, 2), 4.f);
    EXPECT_FALSE(f.all_equal(4.f));
    Buffer<bool> b(5);
    b.fill([](int x) { return x > 2; });
    EXPECT_FALSE(b(2));
    EXPECT_TRUE(b(3));
    b.fill(true);
    EXPECT_TRUE(b.all_equal(true));
    // Gaps between elements stay as they are.
    std::vector<uint8_t> mem(20, 9);
    const halide_dimension_t dims[1] = {{0, 5, 4}};
    Buffer<uint8_t>(mem.data(), 1, dims).fill(1);
    for (int i = 0; i < 20; i++) {
        EXPECT_EQ(mem[i], i % 4 == 0 ? 1 : 9);
    }
    Buffer<uint8_t, 2> fixed(3, 3);
    fixed.fill([](auto... pos) { return (uint8_t)(... + pos); });
    EXPECT_EQ(fixed(2, 1), 3);
}

TEST(RuntimeBuffer, ForEachElement) {
    Buffer<uint8_t> b(3, 2);
    b.set_min(5, -1);
    std::vector<std::pair<int, int>> order;
    b.for_each_element([&](int x, int y) { order.emplace_back(x, y); });
    EXPECT_EQ(order, (std::vector<std::pair<int, int>>{{5, -1}, {6, -1}, {7, -1}, {5, 0}, {6, 0}, {7, 0}}));
    int n = 0;
    b.for_each_element([&](const int *pos) { n += pos[0] - 5 + pos[1] + 1; });
    EXPECT_EQ(n, 3 + 3 + 3);
    Buffer<uint8_t>(4, 0).for_each_element([&](int, int) { FAIL(); });
    int calls = 0;
    Buffer<uint8_t>::make_scalar().for_each_element([&]() { calls++; });
    EXPECT_EQ(calls, 1);
    Buffer<uint8_t>(2, 2, 2, 2, 2).for_each_element([&](int, int, int, int, int) { calls++; });
    EXPECT_EQ(calls, 33);
}

TEST(RuntimeBuffer, ForEachValue) {
    Buffer<int32_t> a = numbered(5, 4, 3);
    Buffer<int32_t> interleaved = a.copy_to_interleaved();
    Buffer<float> out(5, 4, 3);
    out.for_each_value([](float &o, int32_t x, const int32_t &y) { o = (float)(x + y); }, a, interleaved);
    out.for_each_element([&](int x, int y, int c) { ASSERT_EQ(out(x, y, c), 2.f * value_at(x, y, c)); });
    int64_t sum = 0;
    ((const Buffer<int32_t> &)a).for_each_value([&](int32_t v) { sum += v; });
    int64_t expected = 0;
    a.for_each_element([&](int x, int y, int c) { expected += value_at(x, y, c); });
    EXPECT_EQ(sum, expected);
    // Broadcast and reversed dimensions.
    int32_t seven = 7;
    const halide_dimension_t constant[3] = {{0, 5, 0}, {0, 4, 0}, {0, 3, 0}};
    Buffer<int32_t> broadcast(&seven, 3, constant);
    int matches = 0;
    a.for_each_value([&](int32_t, int32_t v) { matches += v == 7; }, broadcast);
    EXPECT_EQ(matches, 60);
    const halide_dimension_t reversed[1] = {{0, 60, -1}};
    Buffer<int32_t> backwards(a.data() + 59, 1, reversed);
    int64_t back = 0;
    backwards.for_each_value([&](int32_t &v) { back += v; });
    EXPECT_EQ(back, expected);
}

namespace {
int allocations = 0, releases = 0;
void *counting_malloc(size_t n) {
    allocations++;
    return malloc(n);
}
void counting_free(void *p) {
    releases++;
    free(p);
}
}  // namespace

TEST(RuntimeBuffer, Allocators) {
    allocations = releases = 0;
    {
        Buffer<uint8_t> b(nullptr, 10, 10);
        b.allocate(counting_malloc, counting_free);
        Buffer<uint8_t> c = b;
        b.deallocate();
        EXPECT_EQ(b.data(), nullptr);
        EXPECT_EQ(releases, 0);
        c.fill(1);
    }
    EXPECT_EQ(allocations, 1);
    EXPECT_EQ(releases, 1);
    Buffer<>::set_default_allocate_fn(counting_malloc);
    Buffer<>::set_default_deallocate_fn(counting_free);
    {
        Buffer<float> b(3, 3);
        Buffer<>::set_default_deallocate_fn(nullptr);
        // The deallocator is the one of the time of the allocation.
    }
    Buffer<>::set_default_allocate_fn(nullptr);
    EXPECT_EQ(allocations, 2);
    EXPECT_EQ(releases, 2);
}

TEST(RuntimeBuffer, NegativeStrideAllocation) {
    const halide_dimension_t dims[2] = {{0, 5, -1}, {0, 3, 5}};
    Buffer<int32_t> b(nullptr, 2, dims);
    b.allocate();
    b.fill([](int x, int y) { return x + 10 * y; });
    EXPECT_EQ(b.begin()[0], 4);
    EXPECT_EQ(b(4, 2), 24);
}

// ------------------------------------------------------------------------------- a device that keeps data on the host

namespace {

int live_device_allocations = 0, live_crops = 0;

int fake_malloc(void *, halide_buffer_t *b, const halide_device_interface_t *i) {
    if (!b->device) {
        b->device = (uint64_t)(uintptr_t)new uint8_t[b->size_in_bytes() + 1];
        b->device_interface = i;
        live_device_allocations++;
    }
    return 0;
}
int fake_free(void *, halide_buffer_t *b) {
    delete[] (uint8_t *)(uintptr_t)b->device;
    b->device = 0;
    b->device_interface = nullptr;
    live_device_allocations--;
    return 0;
}
int fake_sync(void *, halide_buffer_t *) {
    return 0;
}
void fake_release(void *, const halide_device_interface_t *) {}
int fake_to_host(void *, halide_buffer_t *b) {
    memcpy(b->begin(), (void *)(uintptr_t)b->device, b->size_in_bytes());
    b->set_device_dirty(false);
    return 0;
}
int fake_to_device(void *, halide_buffer_t *b, const halide_device_interface_t *i) {
    fake_malloc(nullptr, b, i);
    memcpy((void *)(uintptr_t)b->device, b->begin(), b->size_in_bytes());
    b->set_host_dirty(false);
    return 0;
}
int fake_crop(void *, const halide_buffer_t *src, halide_buffer_t *dst) {
    dst->device = src->device;
    dst->device_interface = src->device_interface;
    live_crops++;
    return 0;
}
int fake_slice(void *, const halide_buffer_t *src, int, int, halide_buffer_t *dst) {
    return fake_crop(nullptr, src, dst);
}
int fake_release_crop(void *, halide_buffer_t *b) {
    b->device = 0;
    b->device_interface = nullptr;
    live_crops--;
    return 0;
}
int fake_wrap(void *, halide_buffer_t *b, uint64_t handle, const halide_device_interface_t *i) {
    b->device = handle;
    b->device_interface = i;
    return 0;
}
int fake_detach(void *, halide_buffer_t *b) {
    b->device = 0;
    b->device_interface = nullptr;
    return 0;
}

const halide_device_interface_t fake_device = {
    fake_malloc, fake_free, fake_sync,  fake_release,      fake_to_host, fake_to_device, fake_malloc, fake_free,
    nullptr,     fake_crop, fake_slice, fake_release_crop, fake_wrap,    fake_detach,    nullptr,     nullptr};

}  // namespace

TEST(RuntimeBufferDevice, CopiesAndOwnership) {
    live_device_allocations = 0;
    {
        Buffer<int32_t> b = numbered(4, 3, 2);
        b.set_host_dirty();
        EXPECT_EQ(b.copy_to_device(&fake_device), 0);
        EXPECT_TRUE(b.has_device_allocation());
        EXPECT_FALSE(b.host_dirty());
        EXPECT_EQ(live_device_allocations, 1);
        Buffer<int32_t> c = b;
        b.reset();
        EXPECT_EQ(live_device_allocations, 1);
        memset(c.data(), 0, c.size_in_bytes());
        c.set_device_dirty();
        EXPECT_EQ(c.copy_to_host(), 0);
        EXPECT_EQ(c(3, 2, 1), value_at(3, 2, 1));
        EXPECT_EQ(c.device_sync(), 0);
    }
    EXPECT_EQ(live_device_allocations, 0);
    Buffer<int32_t> d(4, 4);
    EXPECT_EQ(d.device_malloc(&fake_device), 0);
    EXPECT_EQ(d.device_ownership(), BufferDeviceOwnership::Allocated);
    EXPECT_EQ(d.device_free(), 0);
    EXPECT_EQ(live_device_allocations, 0);
    EXPECT_FALSE(d.has_device_allocation());
    EXPECT_EQ(d.device_and_host_malloc(&fake_device), 0);
    EXPECT_EQ(d.device_ownership(), BufferDeviceOwnership::AllocatedDeviceAndHost);
    EXPECT_EQ(d.device_and_host_free(), 0);
    EXPECT_EQ(live_device_allocations, 0);
}

TEST(RuntimeBufferDevice, WrapNative) {
    Buffer<int32_t> b(4, 4);
    EXPECT_EQ(b.device_wrap_native(&fake_device, 1234), 0);
    EXPECT_EQ(b.raw_buffer()->device, 1234u);
    EXPECT_EQ(b.device_ownership(), BufferDeviceOwnership::WrappedNative);
    Buffer<int32_t> c = b;
    c.reset();
    EXPECT_EQ(b.device_detach_native(), 0);
    EXPECT_EQ(b.raw_buffer()->device, 0u);
}

TEST(RuntimeBufferDevice, CropKeepsTheParentAlive) {
    live_device_allocations = live_crops = 0;
    {
        Buffer<int32_t> b = numbered(8, 8, 2);
        b.set_host_dirty();
        b.copy_to_device(&fake_device);
        Buffer<int32_t> c = b.cropped(0, 2, 3);
        Buffer<int32_t> s = c.sliced(2, 1);
        c.crop(1, 1, 2);
        EXPECT_EQ(c.device_ownership(), BufferDeviceOwnership::Cropped);
        EXPECT_TRUE(s.has_device_allocation());
        b.reset();
        EXPECT_EQ(live_device_allocations, 1);
        EXPECT_EQ(c(2, 1, 0), value_at(2, 1, 0));
    }
    EXPECT_EQ(live_crops, 0);
    EXPECT_EQ(live_device_allocations, 0);
}

TEST(RuntimeBufferDevice, TranslateDropsTheDevice) {
    live_device_allocations = 0;
    Buffer<int32_t> b(4, 4);
    b.device_malloc(&fake_device);
    b.translate(0, 3);
    EXPECT_FALSE(b.has_device_allocation());
    EXPECT_EQ(live_device_allocations, 0);
    Buffer<int32_t> unmanaged(4, 4);
    unmanaged.device_malloc(&fake_device);
    {
        Buffer<int32_t> view(*unmanaged.raw_buffer());
        EXPECT_EQ(view.device_ownership(), BufferDeviceOwnership::Unmanaged);
    }
    EXPECT_EQ(live_device_allocations, 1);
}
