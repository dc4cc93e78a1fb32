// Image files: round trips, what other programs write, and files that are broken.
#include "halide_image_io.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

using namespace Halide::Tools;
using Halide::Runtime::Buffer;
namespace fs = std::filesystem;

namespace {

/// A directory that vanishes with the test.
struct Directory {
    fs::path path;
    Directory() {
        std::string pattern = (fs::temp_directory_path() / "bromide-io-XXXXXX").string();
        path = mkdtemp(&pattern[0]);
    }
    ~Directory() {
        std::error_code ignored;
        fs::remove_all(path, ignored);
    }
    std::string operator()(const std::string &name) const { return (path / name).string(); }
    size_t files() const { return (size_t)std::distance(fs::directory_iterator(path), fs::directory_iterator()); }
};

std::string read(const std::string &filename) {
    std::ifstream f(filename, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(f), {});
}

void write(const std::string &filename, const std::string &bytes) {
    std::ofstream(filename, std::ios::binary) << bytes;
}

template <typename T>
Buffer<T> picture(int w, int h, int channels) {
    Buffer<T> im = channels ? Buffer<T>(w, h, channels) : Buffer<T>(w, h);
    im.fill([&](const int *p) { return (T)(p[0] * 1237 + p[1] * 7919 + (channels ? p[2] * 31337 : 0)); });
    return im;
}

template <typename A, typename B>
void expect_same(const A &a, const B &b, const std::string &what) {
    ASSERT_EQ(a.dimensions(), b.dimensions()) << what;
    ASSERT_EQ(a.type(), b.type()) << what;
    for (int d = 0; d < a.dimensions(); d++) {
        ASSERT_EQ(a.dim(d).extent(), b.dim(d).extent()) << what;
    }
    int different = 0;
    a.for_each_element([&](const int *pos) { different += a(pos) != b(pos); });
    EXPECT_EQ(different, 0) << what;
}

template <typename T>
void round_trip(const std::string &filename, const Buffer<T> &im) {
    ASSERT_TRUE(save(im, filename)) << last_image_io_error();
    Buffer<T> back;
    ASSERT_TRUE(load(filename, &back)) << last_image_io_error();
    expect_same(im, back, filename);
}

std::string failure(const std::string &filename) {
    Buffer<> im;
    return load(filename, &im) ? "loaded" : last_image_io_error();
}

}  // namespace

TEST(ImageIO, RoundTrips) {
    Directory dir;
    for (int channels : {0, 2, 3, 4}) {
        for (const char *extension : {"png", "npy", "tmp", "mat"}) {
            round_trip(dir("a." + std::string(extension)), picture<uint8_t>(31, 17, channels));
            round_trip(dir("b." + std::string(extension)), picture<uint16_t>(1, 9, channels));
        }
    }
    round_trip(dir("a.pgm"), picture<uint8_t>(5, 4, 0));
    round_trip(dir("b.pgm"), picture<uint16_t>(5, 4, 0));
    round_trip(dir("a.ppm"), picture<uint8_t>(5, 4, 3));
    round_trip(dir("b.ppm"), picture<uint16_t>(5, 4, 3));
    round_trip(dir("a.pnm"), picture<uint8_t>(5, 4, 3));
    round_trip(dir("b.PNG"), picture<uint8_t>(5, 4, 3));
}

TEST(ImageIO, AllElementTypes) {
    Directory dir;
    const auto all = [&](auto zero) {
        using T = decltype(zero);
        for (const char *extension : {"npy", "tmp", "mat"}) {
            round_trip(dir("x." + std::string(extension)), picture<T>(7, 5, 3));
        }
    };
    all((int8_t)0);
    all((uint8_t)0);
    all((int16_t)0);
    all((uint16_t)0);
    all((int32_t)0);
    all((uint32_t)0);
    all((int64_t)0);
    all((uint64_t)0);
    all(0.f);
    all(0.0);
    round_trip(dir("flags.npy"), Buffer<bool>(9, 2).fill([](int x, int y) { return (x + y) % 3 == 0; }));
}

TEST(ImageIO, AnyNumberOfDimensions) {
    Directory dir;
    Buffer<float> scalar = Buffer<float>::make_scalar();
    scalar() = 3.f;
    round_trip(dir("s.npy"), scalar);
    round_trip(dir("l.npy"), Buffer<int>(5).fill([](int x) { return x; }));
    round_trip(dir("m.npy"), Buffer<int>(2, 3, 4, 5, 6).fill([](const int *p) { return p[0] + 10 * p[4]; }));
    round_trip(dir("m.mat"), Buffer<int>(2, 3, 4, 5).fill([](const int *p) { return p[0] + 10 * p[3]; }));
    round_trip(dir("m.tmp"), Buffer<int>(2, 3, 4, 5).fill([](const int *p) { return p[0] + 10 * p[3]; }));
    round_trip(dir("e.npy"), Buffer<int>(3, 0));
}

TEST(ImageIO, AnyLayout) {
    Directory dir;
    const Buffer<uint8_t> planar = picture<uint8_t>(9, 8, 3);
    Buffer<uint8_t> interleaved = planar.copy_to_interleaved();
    Buffer<uint8_t> cropped = planar.cropped({{2, 5}, {3, 4}});
    const halide_dimension_t upside_down[3] = {{0, 9, 1}, {0, 8, -9}, {0, 3, 72}};
    Buffer<uint8_t> flipped(planar.copy().data(), 3, upside_down);
    for (const char *extension : {"png", "ppm", "npy", "tmp", "mat"}) {
        const std::string name = dir("x." + std::string(extension));
        save_image(interleaved, name);
        Buffer<uint8_t> back = load_image(name);
        expect_same(planar, back, name);
        save_image(cropped, name);
        back = load_image(name);
        ASSERT_EQ(back.width(), 5);
        EXPECT_EQ(back(4, 3, 2), planar(6, 6, 2));
        EXPECT_TRUE(back.host_dirty());
    }
}

TEST(ImageIO, Jpeg) {
    Directory dir;
    Buffer<uint8_t> smooth(64, 48, 3);
    smooth.fill([](int x, int y, int c) { return (uint8_t)(2 * x + y + 30 * c); });
    save_image(smooth, dir("a.jpg"));
    Buffer<uint8_t> back = load_image(dir("a.jpg"));
    ASSERT_EQ(back.channels(), 3);
    int worst = 0;
    back.for_each_value([&](uint8_t a, uint8_t b) { worst = std::max(worst, std::abs(a - b)); }, smooth);
    EXPECT_LE(worst, 4);
    Buffer<uint8_t> grey = smooth.sliced(2, 1);
    save_image(grey, dir("g.jpeg"));
    Buffer<uint8_t> grey_back = load_image(dir("g.jpeg"));
    EXPECT_EQ(grey_back.dimensions(), 2);
    EXPECT_NEAR(grey_back(10, 10), grey(10, 10), 3);
    EXPECT_FALSE(save(picture<uint8_t>(8, 8, 4), dir("four.jpg")));
    EXPECT_EQ(last_image_io_error(), "Error: " + dir("four.jpg") + " holds 1 or 3 channels; this image has 4");
}

TEST(ImageIO, StaticTypesAndDimensions) {
    Directory dir;
    save_image(picture<uint8_t>(6, 5, 0), dir("grey.png"));
    save_image(picture<uint8_t>(6, 5, 3), dir("rgb.png"));
    Buffer<uint8_t, 2> grey = load_image(dir("grey.png"));
    EXPECT_EQ(grey.width(), 6);
    Buffer<uint8_t, 3> with_channel = load_image(dir("grey.png"));
    EXPECT_EQ(with_channel.channels(), 1);
    Buffer<const uint8_t> constant = load_image(dir("rgb.png"));
    EXPECT_EQ(constant(5, 4, 2), picture<uint8_t>(6, 5, 3)(5, 4, 2));
    Buffer<> any = load_image(dir("rgb.png"));
    EXPECT_EQ(any.type(), halide_type_of<uint8_t>());

    Buffer<uint8_t, 2> flat;
    EXPECT_FALSE(load(dir("rgb.png"), &flat));
    EXPECT_EQ(last_image_io_error(), "Error: " + dir("rgb.png") + " has 3 dimensions but the image to load into has 2");
    Buffer<float> wrong;
    EXPECT_FALSE(load(dir("rgb.png"), &wrong));
    EXPECT_EQ(last_image_io_error(), "Error: " + dir("rgb.png") +
                                         " has type uint8 but the image to load into has type float32; use "
                                         "load_and_convert_image() to convert it");
    EXPECT_EXIT(
        { Buffer<float> f = load_image(dir("rgb.png")); }, testing::ExitedWithCode(255),
        "has type uint8 but the image");
    Buffer<float> converted = load_and_convert_image(dir("rgb.png"));
    EXPECT_FLOAT_EQ(converted(3, 2, 1), picture<uint8_t>(6, 5, 3)(3, 2, 1) / 255.f);
}

TEST(ImageIO, Conversions) {
    const auto one = [](auto v, auto to) {
        using From = decltype(v);
        using To = decltype(to);
        Buffer<From> im(1);
        im(0) = v;
        return ImageTypeConversion::convert_image<To>(im)(0);
    };
    EXPECT_EQ(one((uint8_t)255, (uint16_t)0), 65535);
    EXPECT_EQ(one((uint8_t)1, (uint16_t)0), 257);
    EXPECT_EQ(one((uint16_t)65535, (uint8_t)0), 255);
    EXPECT_EQ(one((uint16_t)128, (uint8_t)0), 0);
    EXPECT_EQ(one((uint16_t)129, (uint8_t)0), 1);
    EXPECT_EQ(one((uint8_t)255, 0.f), 1.f);
    EXPECT_EQ(one(1.f, (uint8_t)0), 255);
    EXPECT_EQ(one(2.f, (uint8_t)0), 255);
    EXPECT_EQ(one(-1.f, (uint16_t)0), 0);
    EXPECT_EQ(one(NAN, (uint8_t)0), 0);
    EXPECT_EQ(one((uint8_t)255, (uint64_t)0), UINT64_MAX);
    EXPECT_EQ(one(UINT64_MAX, (uint8_t)0), 255);
    EXPECT_EQ(one((uint8_t)1, (uint64_t)0), UINT64_MAX / 255);
    EXPECT_EQ(one((int8_t)127, 0.0), 1.0);
    EXPECT_EQ(one((int8_t)-127, (uint8_t)0), 0);
    EXPECT_EQ(one((int8_t)-127, (int16_t)0), -32767);
    EXPECT_EQ(one(true, (uint8_t)0), 255);
    EXPECT_EQ(one((uint8_t)7, (uint8_t)0), 7);
    for (int v = 0; v < 256; v++) {
        EXPECT_EQ(one(one((uint8_t)v, 0.f), (uint8_t)0), v);
        EXPECT_EQ(one(one((uint8_t)v, (uint32_t)0), (uint8_t)0), v);
    }
    Buffer<uint8_t> im = picture<uint8_t>(4, 3, 2);
    im.set_min(5, 6, 7);
    Buffer<> half = ImageTypeConversion::convert_image(im, halide_type_t(halide_type_float, 16));
    EXPECT_EQ(half.type(), halide_type_t(halide_type_float, 16));
    EXPECT_EQ(half.min(1), 6);
    EXPECT_EQ(ImageTypeConversion::convert_image(half, halide_type_of<uint8_t>()).as<uint8_t>()(6, 7, 8), im(6, 7, 8));
}

TEST(ImageIO, ConvertAndSave) {
    Directory dir;
    Buffer<float> f(5, 4, 3);
    f.fill([](int x, int y, int c) { return (float)(x + y + c) / 10.f; });
    convert_and_save_image(f, dir("f.png"));
    Buffer<> png = load_image(dir("f.png"));
    EXPECT_EQ(png.type(), halide_type_of<uint16_t>());
    EXPECT_EQ(png.as<uint16_t>()(4, 3, 2), (uint16_t)std::lround(0.9 * 65535));
    convert_and_save_image(f, dir("f.jpg"));
    Buffer<uint8_t> jpg = load_image(dir("f.jpg"));
    EXPECT_NEAR(jpg(4, 3, 2), 230, 25);
    convert_and_save_image(f, dir("f.npy"));
    Buffer<float> npy = load_image(dir("f.npy"));
    expect_same(f, npy, "npy");
    EXPECT_EXIT(convert_and_save_image(Buffer<uint8_t>(4, 4, 1).fill(9), dir("one.ppm")), testing::ExitedWithCode(255),
                "one.ppm holds 3 channels; this image has 1");
}

TEST(ImageIO, SaveQuery) {
    std::set<FormatInfo> info;
    EXPECT_TRUE(save_query("x.jpg", &info));
    EXPECT_EQ(info, (std::set<FormatInfo>{{halide_type_of<uint8_t>(), 2}, {halide_type_of<uint8_t>(), 3}}));
    EXPECT_TRUE(save_query("a.b/x.ppm", &info));
    EXPECT_EQ(info.size(), 2u);
    EXPECT_FALSE(save_query("a.png/x", &info));
}

TEST(ImageIO, PnmVariants) {
    Directory dir;
    const struct {
        const char *bytes;
        size_t size;
        std::vector<int> expected;
    } cases[] = {
        {"P2 # a comment\n2 1\n# another\n255\n 7   250\n", 0, {7, 250}},
        {"P2\n2 1\n100\n0 50\n", 0, {0, 128}},
        {"P1\n3 1\n1 0\n1\n", 0, {0, 255, 0}},
        {"P1\n3 1\n101\n", 0, {0, 255, 0}},
        {"P4\n9 1\n\x80\x80", 0, {0, 255, 255, 255, 255, 255, 255, 255, 0}},
        {"P5\n2 1\n15\n\x0f\x01", 0, {255, 17}},
    };
    for (const auto &c : cases) {
        write(dir("x.pnm"), c.bytes);
        Buffer<uint8_t> im;
        ASSERT_TRUE(load(dir("x.pnm"), &im)) << last_image_io_error() << c.bytes;
        ASSERT_EQ((size_t)im.width(), c.expected.size());
        for (int x = 0; x < im.width(); x++) {
            EXPECT_EQ(im(x, 0), c.expected[x]) << c.bytes;
        }
    }
    write(dir("x.ppm"), "P3\n1 1\n65535\n1 2 65535\n");
    Buffer<uint16_t> im = load_image(dir("x.ppm"));
    EXPECT_EQ(im(0, 0, 2), 65535);
}

TEST(ImageIO, NumpyVariants) {
    Directory dir;
    const auto file = [](std::string header, const std::string &data) {
        return std::string("\x93NUMPY\x01\x00", 8) + (char)header.size() + '\0' + header + data;
    };
    write(dir("c.npy"), file("{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }\n", "\1\2\3\4\5\6"));
    Buffer<uint8_t> c = load_image(dir("c.npy"));
    EXPECT_EQ(c.width(), 3);
    EXPECT_EQ(c(1, 1), 5);
    write(dir("f.npy"), file("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }\n", "\1\2\3\4\5\6"));
    Buffer<uint8_t> f = load_image(dir("f.npy"));
    EXPECT_EQ(f.width(), 2);
    EXPECT_EQ(f(1, 1), 4);
    write(dir("b.npy"),
          file("{'descr': '>u2', 'fortran_order': False, 'shape': (2,), }\n", std::string("\1\2\0\3", 4)));
    Buffer<uint16_t> b = load_image(dir("b.npy"));
    EXPECT_EQ(b(0), 0x102);
    EXPECT_EQ(b(1), 3);
    write(dir("o.npy"), file("{'descr': '|O', 'fortran_order': False, 'shape': (2,), }\n", "xx"));
    EXPECT_EQ(failure(dir("o.npy")), "Error: " + dir("o.npy") + " holds elements of a type that is not supported");
}

TEST(ImageIO, PngFlavours) {
    Directory dir;
    // Written with libpng: a palette with transparency, few bits, interlaced, and 16 bits with alpha.
    const auto write_png = [&](const std::string &name, int colour, int bits, int interlace,
                               const std::vector<std::vector<png_byte>> &rows, int width, bool palette) {
        FILE *f = fopen(name.c_str(), "wb");
        png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
        png_infop info = png_create_info_struct(png);
        png_init_io(png, f);
        png_set_IHDR(png, info, width, (png_uint_32)rows.size(), bits, colour, interlace, PNG_COMPRESSION_TYPE_BASE,
                     PNG_FILTER_TYPE_BASE);
        const png_color colours[3] = {{10, 20, 30}, {40, 50, 60}, {70, 80, 90}};
        const png_byte alpha[2] = {0, 128};
        if (palette) {
            png_set_PLTE(png, info, colours, 3);
            png_set_tRNS(png, info, alpha, 2, nullptr);
        }
        png_write_info(png, info);
        std::vector<png_bytep> pointers;
        for (const auto &r : rows) {
            pointers.push_back(const_cast<png_bytep>(r.data()));
        }
        png_write_image(png, pointers.data());
        png_write_end(png, info);
        png_destroy_write_struct(&png, &info);
        fclose(f);
    };
    write_png(dir("palette.png"), PNG_COLOR_TYPE_PALETTE, 8, PNG_INTERLACE_NONE, {{0, 1, 2}}, 3, true);
    Buffer<uint8_t> palette = load_image(dir("palette.png"));
    ASSERT_EQ(palette.channels(), 4);
    EXPECT_EQ(palette(1, 0, 2), 60);
    EXPECT_EQ(palette(0, 0, 3), 0);
    EXPECT_EQ(palette(1, 0, 3), 128);
    EXPECT_EQ(palette(2, 0, 3), 255);

    write_png(dir("bits.png"), PNG_COLOR_TYPE_GRAY, 2, PNG_INTERLACE_ADAM7, {{0x1b}, {0xe4}}, 4, false);
    Buffer<uint8_t> bits = load_image(dir("bits.png"));
    EXPECT_EQ(bits.dimensions(), 2);
    EXPECT_EQ(bits(1, 0), 85);
    EXPECT_EQ(bits(0, 1), 255);

    std::vector<std::vector<png_byte>> rows(9, std::vector<png_byte>(11 * 8));
    for (int y = 0; y < 9; y++) {
        for (int i = 0; i < 11 * 8; i++) {
            rows[y][i] = (png_byte)(y * 31 + i * 7);
        }
    }
    write_png(dir("rgba16.png"), PNG_COLOR_TYPE_RGB_ALPHA, 16, PNG_INTERLACE_ADAM7, rows, 11, false);
    Buffer<uint16_t> rgba = load_image(dir("rgba16.png"));
    ASSERT_EQ(rgba.channels(), 4);
    rgba.for_each_element([&](int x, int y, int c) {
        ASSERT_EQ(rgba(x, y, c), rows[y][x * 8 + c * 2] << 8 | rows[y][x * 8 + c * 2 + 1]);
    });
}

TEST(ImageIO, TiffStructure) {
    Directory dir;
    Buffer<uint16_t> im = picture<uint16_t>(5, 4, 3);
    save_image(im, dir("x.tiff"));
    const std::string bytes = read(dir("x.tiff"));
    const auto u16 = [&](size_t at) { return (uint8_t)bytes[at] | (uint8_t)bytes[at + 1] << 8; };
    const auto u32 = [&](size_t at) { return (uint32_t)u16(at) | (uint32_t)u16(at + 2) << 16; };
    ASSERT_EQ(bytes.substr(0, 4), std::string("II\x2a\0", 4));
    std::map<int, std::vector<uint32_t>> tags;
    int previous = 0;
    for (int i = 0; i < u16(8); i++) {
        const size_t at = 10 + 12 * i;
        const int type = u16(at + 2), n = (int)u32(at + 4), size = type == 3 ? 2 : 4;
        EXPECT_GT(u16(at), previous) << "tags ascend";
        previous = u16(at);
        const size_t values = n * size <= 4 ? at + 8 : u32(at + 8);
        for (int v = 0; v < n; v++) {
            tags[u16(at)].push_back(type == 3 ? (uint32_t)u16(values + 2 * v) : u32(values + 4 * v));
        }
    }
    using Values = std::vector<uint32_t>;
    EXPECT_EQ(tags[256], Values{5});
    EXPECT_EQ(tags[257], Values{4});
    EXPECT_EQ(tags[258], (Values{16, 16, 16}));
    EXPECT_EQ(tags[262], Values{2});
    EXPECT_EQ(tags[277], Values{3});
    EXPECT_EQ(tags[284], Values{2});
    EXPECT_EQ(tags[339], (Values{1, 1, 1}));
    EXPECT_EQ(tags[279], (Values{40, 40, 40}));
    EXPECT_EQ(u16(tags[273][2] + 2 * (3 * 5 + 4)), im(4, 3, 2));
    EXPECT_EQ(bytes.size(), tags[273][2] + 40);
    EXPECT_EQ(failure(dir("x.tiff")), "Error: " + dir("x.tiff") + " is a TIFF file, and TIFF can only be written");
}

TEST(ImageIO, BrokenFilesNameTheFile) {
    Directory dir;
    const struct {
        const char *name, *bytes, *problem;
    } cases[] = {
        {"missing.png", nullptr, "could not be opened for reading"},
        {"empty.png", "", "is not a PNG file"},
        {"text.png", "hello, world, this is not an image", "is not a PNG file"},
        {"text.jpg", "hello, world, this is not an image", "is not a valid JPEG file: "},
        {"empty.jpg", "", "is not a valid JPEG file: "},
        {"empty.ppm", "", "is not a PBM, PGM or PPM file"},
        {"kind.ppm", "P9\n1 1\n255\n1", "is not a PBM, PGM or PPM file"},
        {"size.pgm", "P5\n-3 4\n255\n", "has a broken header"},
        {"max.pgm", "P5\n3 4\n70000\n", "has a broken header"},
        {"short.pgm", "P5\n3 4\n255\n12345", "is truncated"},
        {"huge.pgm", "P5\n999999999 999999999\n255\n12345", "is truncated"},
        {"plain.pgm", "P2\n2 2\n255\n1 2 3", "is truncated"},
        {"above.pgm", "P2\n2 1\n100\n1 101\n", "has a sample above its maximum"},
        {"x.npy", "not numpy at all", "is not a .npy file"},
        {"x.tmp", "short", "is not a .tmp file"},
        {"x.mat", "short", "is not a MATLAB 5 file"},
        {"x.bmp", "BM", "has an extension that is not known; supported are png, jpg, jpeg, pgm"},
        {"noextension", "", "has an extension that is not known"},
    };
    for (const auto &c : cases) {
        if (c.bytes) {
            write(dir(c.name), c.bytes);
        }
        const std::string text = failure(dir(c.name));
        EXPECT_EQ(text.find("Error: " + dir(c.name) + " " + c.problem), 0u) << text;
    }
    EXPECT_EXIT(
        { Buffer<> b = load_image(dir("missing.png")); }, testing::ExitedWithCode(255),
        "missing.png could not be opened for reading");
}

TEST(ImageIO, TruncatedAtEveryByte) {
    Directory dir;
    const Buffer<uint8_t> im = picture<uint8_t>(24, 16, 3);
    for (const char *extension : {"png", "ppm", "npy", "tmp", "mat", "jpg"}) {
        const std::string whole = dir("whole." + std::string(extension)), part = dir("part." + std::string(extension));
        save_image(im, whole);
        const std::string bytes = read(whole);
        // The last two bytes of a JPEG file only mark its end.
        const size_t step = std::max<size_t>(1, bytes.size() / 150);
        for (size_t n = 0; n + 2 < bytes.size(); n += step) {
            write(part, bytes.substr(0, n));
            const std::string text = failure(part);
            ASSERT_EQ(text.find("Error: " + part + " "), 0u) << extension << " cut at " << n << ": " << text;
        }
    }
}

TEST(ImageIO, DamagedBytesNeverCrash) {
    Directory dir;
    const Buffer<uint8_t> im = picture<uint8_t>(24, 16, 3);
    uint32_t random = 1;
    for (const char *extension : {"png", "ppm", "npy", "tmp", "mat", "jpg"}) {
        const std::string name = dir("x." + std::string(extension));
        save_image(im, name);
        const std::string bytes = read(name);
        for (int i = 0; i < 150; i++) {
            std::string damaged = bytes;
            for (int k = 0; k < 3; k++) {
                random = random * 1664525 + 1013904223;
                const size_t at = (random >> 8) % (i % 2 ? std::min<size_t>(bytes.size(), 200) : bytes.size());
                damaged[at] = (char)(random >> 3);
            }
            write(name, damaged);
            Buffer<> loaded;
            (void)load(name, &loaded);
        }
    }
}

TEST(ImageIO, FailedWritesLeaveTheOldFile) {
    Directory dir;
    const Buffer<uint8_t> im = picture<uint8_t>(8, 8, 3);
    save_image(im, dir("a.png"));
    const std::string before = read(dir("a.png"));
    EXPECT_FALSE(save(picture<uint8_t>(8, 8, 5), dir("a.png")));
    EXPECT_EQ(last_image_io_error(), "Error: " + dir("a.png") + " holds 1 to 4 channels; this image has 5");
    EXPECT_FALSE(save(Buffer<float>(3, 3).fill(0.f), dir("a.png")));
    EXPECT_FALSE(save(Buffer<uint8_t>(nullptr, 3, 3), dir("a.png")));
    EXPECT_NE(last_image_io_error().find("the image has no memory"), std::string::npos);
    EXPECT_EQ(read(dir("a.png")), before);
    EXPECT_FALSE(save(im, dir("no/such/directory.png")));
    EXPECT_EQ(last_image_io_error(), "Error: " + dir("no/such/directory.png") + " could not be opened for writing");
    EXPECT_EQ(dir.files(), 1u) << "no temporary files";
    // A full disk.
    if (fs::exists("/dev/full")) {
        fs::create_symlink("/dev/full", dir("full.npy"));
        EXPECT_FALSE(save(picture<uint8_t>(200, 200, 3), dir("full.npy")));
        EXPECT_NE(last_image_io_error().find("could not be written"), std::string::npos) << last_image_io_error();
        EXPECT_TRUE(fs::is_character_file("/dev/full")) << "a device is not replaced by a file";
    }
    // Through a symbolic link, the file behind it is written.
    fs::create_symlink(dir("a.png"), dir("link.png"));
    save_image(im.cropped(0, 0, 4), dir("link.png"));
    EXPECT_TRUE(fs::is_symlink(dir("link.png")));
    EXPECT_NE(read(dir("a.png")), before);
}

TEST(ImageIO, OneFormatWhateverTheExtension) {
    Directory dir;
    const Buffer<uint8_t> im = picture<uint8_t>(8, 8, 3);
    EXPECT_TRUE(save_png(im, dir("x.bin")));
    Buffer<uint8_t> back;
    EXPECT_TRUE(load_png(dir("x.bin"), &back));
    expect_same(im, back, "png");
    EXPECT_FALSE((load_ppm<Buffer<uint8_t>, CheckReturn>(dir("x.bin"), &back)));
    EXPECT_TRUE(save_npy(im, dir("y.bin")));
    EXPECT_TRUE(load_npy(dir("y.bin"), &back));
}
