// Loading and saving images for programs around pipelines.
//
// Works with Halide::Buffer and Halide::Runtime::Buffer. Images are planar with coordinates (x, y) or (x, y, channel).
// The format follows from the extension: png, jpg/jpeg, pgm/ppm/pbm/pnm, npy, mat, tmp; tif/tiff can be written only.
// Define HALIDE_NO_PNG or HALIDE_NO_JPEG to do without libpng or libjpeg.
//
// Header-only, because programs include it without linking anything but those two libraries; hence its length.
#ifndef HALIDE_IMAGE_IO_H
#define HALIDE_IMAGE_IO_H

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#ifndef HALIDE_NO_PNG
#include <png.h>
#endif

#ifndef HALIDE_NO_JPEG
extern "C" {
#include <jpeglib.h>

#include <jerror.h>
}
#endif

#include "HalideBuffer.h"

namespace Halide {
namespace Tools {

/// A kind of image that a file format can hold.
struct FormatInfo {
    halide_type_t type;
    int dimensions;

    bool operator<(const FormatInfo &other) const {
        return type != other.type ? type < other.type : dimensions < other.dimensions;
    }
    bool operator==(const FormatInfo &other) const { return type == other.type && dimensions == other.dimensions; }
};

namespace Internal {

inline std::string &last_error_text() {
    static thread_local std::string text;
    return text;
}

/// What happens to a failed check: return false, or print and exit.
typedef bool (*CheckFunc)(bool condition, const char *msg);

inline bool CheckFail(bool condition, const char *msg) {
    if (!condition) {
        fprintf(stderr, "%s\n", msg);
        exit(-1);
    }
    return condition;
}

inline bool CheckReturn(bool condition, const char *) {
    return condition;
}

/// An image of any type and dimensionality; what all formats read and write.
using Image = Halide::Runtime::Buffer<>;
using ConstImage = Halide::Runtime::Buffer<const void>;

/// Empty if all went well.
using Result = std::string;

inline std::string type_name(halide_type_t t) {
    static const char *const names[] = {"int", "uint", "float", "handle", "bfloat"};
    return (t.code <= 4 ? names[t.code] : "type") + std::to_string((int)t.bits);
}

inline std::string extension_of(const std::string &filename) {
    const size_t slash = filename.find_last_of("/\\"), dot = filename.rfind('.');
    if (dot == std::string::npos || (slash != std::string::npos && dot < slash)) {
        return "";
    }
    std::string e = filename.substr(dot + 1);
    std::transform(e.begin(), e.end(), e.begin(), [](unsigned char c) { return (char)std::tolower(c); });
    return e;
}

inline bool little_endian() {
    const uint16_t one = 1;
    uint8_t first;
    memcpy(&first, &one, 1);
    return first == 1;
}

inline void swap_bytes(uint8_t *p, size_t elements, int bytes) {
    for (size_t i = 0; i < elements; i++, p += bytes) {
        std::reverse(p, p + bytes);
    }
}

// ------------------------------------------------------------------------------------------------------- conversion

inline float half_to_float(uint16_t h) {
    const int exponent = (h >> 10) & 31, mantissa = h & 0x3ff;
    const float sign = h & 0x8000 ? -1.f : 1.f;
    if (exponent == 31) {
        return mantissa ? std::numeric_limits<float>::quiet_NaN() : sign * std::numeric_limits<float>::infinity();
    }
    return sign * (exponent ? std::ldexp((float)(mantissa | 0x400), exponent - 25) : std::ldexp((float)mantissa, -24));
}

/// To nearest, ties to even.
inline uint16_t float_to_half(float f) {
    const uint16_t sign = std::signbit(f) ? 0x8000 : 0;
    const float a = std::fabs(f);
    if (a != a) {
        return 0x7e00;
    }
    if (a == 0) {
        return sign;
    }
    if (a >= 65520.f) {
        return (uint16_t)(sign | 0x7c00);
    }
    int exponent = 0;
    std::frexp(a, &exponent);
    // Below 2^-14 the spacing is that of the subnormals.
    const int shift = std::max(exponent, -13) - 11;
    const uint32_t mantissa = (uint32_t)std::nearbyint(std::ldexp(a, -shift));
    return (uint16_t)(sign | (((uint32_t)(shift + 24) << 10) + mantissa));
}

/// The value of an element on a scale where the largest integer, or 1.0, is 1. The type long double holds 64 bits of
/// mantissa or more wherever it matters here.
struct Element {
    halide_type_t type;

    long double full_scale() const {
        if (type.code == halide_type_uint) {
            return type.bits >= 64 ? 18446744073709551615.0L : (long double)((1ull << type.bits) - 1);
        }
        return type.code == halide_type_int ? (long double)((1ull << (type.bits - 1)) - 1) : 1.0L;
    }

    template <typename T>
    static T get(const void *p) {
        T v;
        memcpy(&v, p, sizeof(T));
        return v;
    }

    long double read(const void *p) const {
        switch (type.code) {
        case halide_type_int:
            switch (type.bytes()) {
            case 1:
                return get<int8_t>(p);
            case 2:
                return get<int16_t>(p);
            case 4:
                return get<int32_t>(p);
            default:
                return (long double)get<int64_t>(p);
            }
        case halide_type_uint:
            switch (type.bytes()) {
            case 1:
                return get<uint8_t>(p);
            case 2:
                return get<uint16_t>(p);
            case 4:
                return get<uint32_t>(p);
            default:
                return (long double)get<uint64_t>(p);
            }
        case halide_type_float:
            return type.bits == 16   ? half_to_float(get<uint16_t>(p))
                   : type.bits == 32 ? get<float>(p)
                                     : (long double)get<double>(p);
        case halide_type_bfloat: {
            const uint32_t bits = (uint32_t)get<uint16_t>(p) << 16;
            return get<float>(&bits);
        }
        default:
            return 0;
        }
    }

    template <typename T>
    static void put(void *p, T v) {
        memcpy(p, &v, sizeof(T));
    }

    void write_signed(void *p, int64_t v) const {
        switch (type.bytes()) {
        case 1:
            return put(p, (int8_t)v);
        case 2:
            return put(p, (int16_t)v);
        case 4:
            return put(p, (int32_t)v);
        default:
            return put(p, v);
        }
    }

    void write_unsigned(void *p, uint64_t v) const {
        switch (type.bytes()) {
        case 1:
            return put(p, (uint8_t)v);
        case 2:
            return put(p, (uint16_t)v);
        case 4:
            return put(p, (uint32_t)v);
        default:
            return put(p, v);
        }
    }

    /// To nearest; without adding 0.5 to a number that is as large as the type can hold.
    static long double round(long double v) {
        const long double below = std::floor(v);
        return v - below >= 0.5L ? below + 1 : below;
    }

    void write(void *p, long double v) const {
        const long double limit = full_scale();
        switch (type.code) {
        case halide_type_int:
            v = v != v ? 0 : std::min(std::max(v, -limit), limit);
            return write_signed(p, (int64_t)round(v));
        case halide_type_uint:
            v = v != v ? 0 : std::min(std::max(v, 0.0L), limit);
            return write_unsigned(p, (uint64_t)round(v));
        case halide_type_float:
            return type.bits == 16   ? put(p, float_to_half((float)v))
                   : type.bits == 32 ? put(p, (float)v)
                                     : put(p, (double)v);
        case halide_type_bfloat: {
            const float f = (float)v;
            const uint32_t bits = get<uint32_t>(&f);
            return put(p, (uint16_t)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16));
        }
        default:
            return;
        }
    }
};

/// Calls f(pointer to element, …) for all elements of two images of one shape.
template <typename Fn>
void for_each_pair(const halide_buffer_t *a, const halide_buffer_t *b, Fn f, int d, const uint8_t *pa, uint8_t *pb) {
    if (d < 0) {
        f(pa, pb);
        return;
    }
    const ptrdiff_t sa = (ptrdiff_t)a->dim[d].stride * a->type.bytes(),
                    sb = (ptrdiff_t)b->dim[d].stride * b->type.bytes();
    for (int i = 0; i < a->dim[d].extent; i++) {
        for_each_pair(a, b, f, d - 1, pa + i * sa, pb + i * sb);
    }
}

template <typename From, typename To, typename Fn>
void convert_elements(const halide_buffer_t *src, const halide_buffer_t *dst, Fn f) {
    for_each_pair(
        src, dst,
        [&](const uint8_t *p, uint8_t *q) {
            From v;
            memcpy(&v, p, sizeof(v));
            const To w = f(v);
            memcpy(q, &w, sizeof(w));
        },
        src->dimensions - 1, src->host, dst->host);
}

inline Image convert(const ConstImage &src, halide_type_t to) {
    const halide_type_t from = src.type();
    if (from == to) {
        return src.copy();
    }
    const std::vector<halide_dimension_t> dims(src.raw_buffer()->dim, src.raw_buffer()->dim + src.dimensions());
    std::vector<int> extents, mins;
    for (const halide_dimension_t &d : dims) {
        extents.push_back(d.extent);
        mins.push_back(d.min);
    }
    Image dst(to, extents);
    dst.set_min(mins);
    if (std::find(extents.begin(), extents.end(), 0) != extents.end()) {
        return dst;
    }
    const halide_buffer_t *s = src.raw_buffer(), *d = dst.raw_buffer();
    constexpr halide_type_t u8(halide_type_uint, 8), u16(halide_type_uint, 16), f32(halide_type_float, 32);
    const auto unit = [](float v) { return v > 0 ? std::min(v, 1.f) : 0.f; };
    // The cases that occur all the time; the rest goes element by element through the general path.
    if (from == u8 && to == f32) {
        convert_elements<uint8_t, float>(s, d, [](uint8_t v) { return (float)v / 255.f; });
    } else if (from == u16 && to == f32) {
        convert_elements<uint16_t, float>(s, d, [](uint16_t v) { return (float)v / 65535.f; });
    } else if (from == f32 && to == u8) {
        convert_elements<float, uint8_t>(s, d, [=](float v) { return (uint8_t)(unit(v) * 255.f + 0.5f); });
    } else if (from == f32 && to == u16) {
        convert_elements<float, uint16_t>(s, d, [=](float v) { return (uint16_t)(unit(v) * 65535.f + 0.5f); });
    } else if (from == u8 && to == u16) {
        convert_elements<uint8_t, uint16_t>(s, d, [](uint8_t v) { return (uint16_t)(v * 257); });
    } else if (from == u16 && to == u8) {
        convert_elements<uint16_t, uint8_t>(s, d, [](uint16_t v) { return (uint8_t)((v * 255u + 32767u) / 65535u); });
    } else {
        const Element read{from}, write{to};
        const long double up = write.full_scale(), down = read.full_scale();
        for_each_pair(
            s, d, [&](const uint8_t *p, uint8_t *q) { write.write(q, read.read(p) * up / down); }, s->dimensions - 1,
            s->host, d->host);
    }
    return dst;
}

// ------------------------------------------------------------------------------------------------------------ files

struct FileCloser {
    void operator()(FILE *f) const { fclose(f); }
};
using File = std::unique_ptr<FILE, FileCloser>;

inline Result read_file(const std::string &filename, std::vector<uint8_t> *bytes) {
    File f(fopen(filename.c_str(), "rb"));
    if (!f) {
        return "could not be opened for reading";
    }
    bytes->clear();
    uint8_t block[1 << 16];
    for (size_t n; (n = fread(block, 1, sizeof(block), f.get())) > 0;) {
        bytes->insert(bytes->end(), block, block + n);
    }
    return ferror(f.get()) ? "could not be read" : "";
}

/// Writes under another name and renames at the end, so that no half-written file is left behind under this one.
inline Result write_file(const std::string &filename, const std::function<Result(FILE *)> &write) {
    namespace fs = std::filesystem;
    std::error_code ignored;
    fs::path target(filename);
    if (fs::is_symlink(target, ignored)) {
        const fs::path real = fs::canonical(target, ignored);
        target = real.empty() ? target : real;
    }
    // A pipe or device is written directly.
    const bool direct = fs::exists(target, ignored) && !fs::is_regular_file(target, ignored);
    fs::path temporary = target;
    FILE *f = direct ? fopen(target.string().c_str(), "wb") : nullptr;
    for (int i = 0; !direct && !f && i < 1000; i++) {
        // The x asks for a file that does not exist yet.
        temporary = target.string() + ".part" + std::to_string(i);
        f = fopen(temporary.string().c_str(), "wbx");
        if (!f && errno != EEXIST) {
            break;
        }
    }
    if (!f) {
        return "could not be opened for writing";
    }
    Result result = write(f);
    const bool stream_is_good = !ferror(f);
    if ((fclose(f) != 0 || !stream_is_good) && result.empty()) {
        result = "could not be written (is the disk full?)";
    }
    if (!direct) {
        std::error_code error;
        if (result.empty()) {
            fs::rename(temporary, target, error);
            if (error) {
                result = "could not be written: " + error.message();
            }
        }
        if (!result.empty()) {
            fs::remove(temporary, error);
        }
    }
    return result;
}

/// Bytes at a position, with a check that they are there.
class Reader {
    const std::vector<uint8_t> &bytes;
    size_t at = 0;

public:
    explicit Reader(const std::vector<uint8_t> &bytes) : bytes(bytes) {}
    size_t left() const { return bytes.size() - at; }
    const uint8_t *position() const { return bytes.data() + at; }
    bool skip(size_t n) {
        const bool ok = n <= left();
        at += ok ? n : 0;
        return ok;
    }
    bool read(void *to, size_t n) {
        if (n > left()) {
            return false;
        }
        memcpy(to, bytes.data() + at, n);
        at += n;
        return true;
    }
    int next() { return left() ? bytes[at++] : -1; }
};

/// Bytes that elements of these extents take; false if that is nonsense.
inline bool total_bytes(const std::vector<int> &extents, halide_type_t type, uint64_t *bytes) {
    *bytes = type.bytes();
    for (int e : extents) {
        if (e < 0 || (e > 0 && *bytes > ((uint64_t)1 << 46) / (uint64_t)e)) {
            return false;
        }
        *bytes *= (uint64_t)e;
    }
    return true;
}

/// Planar elements in a row, dimension 0 innermost.
inline Result image_from_bytes(Reader &r, halide_type_t type, const std::vector<int> &extents, bool swap, Image *im) {
    uint64_t bytes;
    if (!total_bytes(extents, type, &bytes) || bytes > r.left()) {
        return "is truncated";
    }
    Image result(type, extents);
    if (bytes > 0) {
        r.read(result.data(), (size_t)bytes);
        if (swap) {
            swap_bytes((uint8_t *)result.data(), (size_t)bytes / type.bytes(), type.bytes());
        }
    }
    *im = std::move(result);
    return "";
}

inline void write_bytes(FILE *f, const void *p, size_t n) {
    // The state of the stream is checked at the end.
    (void)(n == 0 || fwrite(p, n, 1, f) == 1);
}

template <typename T>
void write_value(FILE *f, T v) {
    write_bytes(f, &v, sizeof(v));
}

/// Writes all elements, dimension 0 innermost.
inline void write_planar(FILE *f, const ConstImage &im) {
    const halide_buffer_t *b = im.raw_buffer();
    const int bytes = b->type.bytes();
    if (im.number_of_elements() == 0) {
        return;
    }
    std::vector<uint8_t> row((size_t)im.width() * bytes);
    std::vector<int> pos(im.dimensions() + 1, 0);
    const auto write_row = [&](const uint8_t *p) {
        const ptrdiff_t stride = im.dimensions() > 0 ? (ptrdiff_t)b->dim[0].stride * bytes : 0;
        for (int x = 0; x < im.width(); x++) {
            memcpy(&row[(size_t)x * bytes], p + x * stride, bytes);
        }
        write_bytes(f, row.data(), row.size());
    };
    for (int d = 1;;) {
        ptrdiff_t offset = 0;
        for (int i = 1; i < im.dimensions(); i++) {
            offset += (ptrdiff_t)pos[i] * b->dim[i].stride;
        }
        write_row(b->host + offset * bytes);
        for (d = 1; d < im.dimensions() && pos[d] + 1 == b->dim[d].extent; d++) {
            pos[d] = 0;
        }
        if (d >= im.dimensions()) {
            return;
        }
        pos[d]++;
    }
}

/// A picture as libraries want it: rows of pixels of interleaved channels.
struct Pixels {
    int width = 0, height = 0, channels = 0, bytes = 1;
    std::unique_ptr<uint8_t, void (*)(void *)> data{nullptr, free};

    size_t row_bytes() const { return (size_t)width * channels * bytes; }
    uint8_t *row(int y) const { return data.get() + y * row_bytes(); }
    bool allocate() {
        data.reset((uint8_t *)malloc(std::max<size_t>(1, row_bytes() * height)));
        return data != nullptr;
    }

    template <typename T>
    void scatter(Image &im) const {
        for (int y = 0; y < height; y++) {
            const T *from = (const T *)(const void *)row(y);
            for (int c = 0; c < channels; c++) {
                T *to = (T *)im.data() + ((size_t)c * height + y) * width;
                for (int x = 0; x < width; x++) {
                    to[x] = from[(size_t)x * channels + c];
                }
            }
        }
    }

    Image to_image() const {
        const halide_type_t type(halide_type_uint, (uint8_t)(8 * bytes));
        Image im = channels == 1 ? Image(type, width, height) : Image(type, width, height, channels);
        if (bytes == 1) {
            scatter<uint8_t>(im);
        } else {
            scatter<uint16_t>(im);
        }
        return im;
    }

    template <typename T>
    void gather(const halide_buffer_t *b) {
        const ptrdiff_t sx = b->dim[0].stride, sy = b->dim[1].stride, sc = b->dimensions > 2 ? b->dim[2].stride : 0;
        for (int y = 0; y < height; y++) {
            T *to = (T *)(void *)row(y);
            for (int c = 0; c < channels; c++) {
                const T *from = (const T *)(const void *)b->host + y * sy + c * sc;
                for (int x = 0; x < width; x++) {
                    to[(size_t)x * channels + c] = from[x * sx];
                }
            }
        }
    }

    Result from_image(const ConstImage &im) {
        if (im.dimensions() < 2 || im.dimensions() > 3) {
            return "holds images of 2 or 3 dimensions; this one has " + std::to_string(im.dimensions());
        }
        width = im.width();
        height = im.height();
        channels = im.channels();
        bytes = im.type().bytes();
        if (width == 0 || height == 0 || channels == 0) {
            return "cannot hold an empty image";
        }
        if (!allocate()) {
            return "is too large for the memory there is";
        }
        if (bytes == 1) {
            gather<uint8_t>(im.raw_buffer());
        } else {
            gather<uint16_t>(im.raw_buffer());
        }
        return "";
    }
};

// -------------------------------------------------------------------------------------------------------------- PNG

#ifndef HALIDE_NO_PNG

/// Everything that must survive a longjmp out of libpng. No object with a destructor lives in the functions that set
/// the jump.
struct PngJob {
    png_structp png = nullptr;
    png_infop info = nullptr;
    Pixels pixels;
    std::vector<png_bytep> rows;
    std::string error;

    static void on_error(png_structp png, png_const_charp message) {
        ((PngJob *)png_get_error_ptr(png))->error = message;
        longjmp(png_jmpbuf(png), 1);
    }
    static void on_warning(png_structp, png_const_charp) {}

    bool list_rows() {
        if (!pixels.allocate()) {
            return false;
        }
        rows.resize(pixels.height);
        for (int y = 0; y < pixels.height; y++) {
            rows[y] = pixels.row(y);
        }
        return true;
    }
};

/// Deflate shrinks by a factor of 1032 at most; a header that promises more than that is broken.
inline bool png_is_plausible(const PngJob *job, uint64_t file_bytes) {
    const Pixels &p = job->pixels;
    return (uint64_t)p.row_bytes() / 8 * p.height <= 1100 * file_bytes + 4096;
}

inline void read_png(PngJob *job, FILE *f, uint64_t file_bytes) {
    if (setjmp(png_jmpbuf(job->png))) {
        return;
    }
    png_structp png = job->png;
    png_infop info = job->info;
    png_init_io(png, f);
    png_read_info(png, info);
    // Palettes become colours, few bits eight, transparency a channel.
    png_set_expand(png);
    if (png_get_bit_depth(png, info) == 16 && little_endian()) {
        png_set_swap(png);
    }
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
    job->pixels.width = (int)png_get_image_width(png, info);
    job->pixels.height = (int)png_get_image_height(png, info);
    job->pixels.channels = png_get_channels(png, info);
    job->pixels.bytes = png_get_bit_depth(png, info) / 8;
    if (!png_is_plausible(job, file_bytes) || !job->list_rows()) {
        png_error(png, "the image is larger than the file or the memory allows");
    }
    png_read_image(png, job->rows.data());
    png_read_end(png, nullptr);
}

inline Result load_png(const std::string &filename, Image *im) {
    File f(fopen(filename.c_str(), "rb"));
    if (!f) {
        return "could not be opened for reading";
    }
    png_byte signature[8];
    if (fread(signature, 1, 8, f.get()) != 8 || png_sig_cmp(signature, 0, 8) != 0) {
        return "is not a PNG file";
    }
    fseek(f.get(), 0, SEEK_END);
    const long size = ftell(f.get());
    rewind(f.get());
    PngJob job;
    job.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &job, PngJob::on_error, PngJob::on_warning);
    job.info = job.png ? png_create_info_struct(job.png) : nullptr;
    if (job.info) {
        read_png(&job, f.get(), (uint64_t)std::max(0l, size));
    } else {
        job.error = "libpng could not be initialised";
    }
    png_destroy_read_struct(&job.png, &job.info, nullptr);
    if (!job.error.empty()) {
        return "is not a valid PNG file: " + job.error;
    }
    *im = job.pixels.to_image();
    return "";
}

inline void write_png(PngJob *job, FILE *f) {
    if (setjmp(png_jmpbuf(job->png))) {
        return;
    }
    static const int colour_types[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                       PNG_COLOR_TYPE_RGB_ALPHA};
    const Pixels &p = job->pixels;
    png_init_io(job->png, f);
    png_set_IHDR(job->png, job->info, (png_uint_32)p.width, (png_uint_32)p.height, 8 * p.bytes,
                 colour_types[p.channels - 1], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_BASE, PNG_FILTER_TYPE_BASE);
    png_write_info(job->png, job->info);
    if (p.bytes == 2 && little_endian()) {
        png_set_swap(job->png);
    }
    png_write_image(job->png, job->rows.data());
    png_write_end(job->png, job->info);
}

inline Result save_png(const ConstImage &im, const std::string &filename) {
    PngJob job;
    Result result = job.pixels.from_image(im);
    if (!result.empty()) {
        return result;
    }
    if (job.pixels.channels > 4) {
        return "holds 1 to 4 channels; this image has " + std::to_string(job.pixels.channels);
    }
    job.rows.resize(job.pixels.height);
    for (int y = 0; y < job.pixels.height; y++) {
        job.rows[y] = job.pixels.row(y);
    }
    return write_file(filename, [&](FILE *f) -> Result {
        job.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &job, PngJob::on_error, PngJob::on_warning);
        job.info = job.png ? png_create_info_struct(job.png) : nullptr;
        if (job.info) {
            write_png(&job, f);
        } else {
            job.error = "libpng could not be initialised";
        }
        png_destroy_write_struct(&job.png, &job.info);
        return job.error;
    });
}

#endif  // HALIDE_NO_PNG

// ------------------------------------------------------------------------------------------------------------- JPEG

#ifndef HALIDE_NO_JPEG

/// As PngJob. The error manager stands first because libjpeg hands it back.
struct JpegJob {
    jpeg_error_mgr manager;
    jmp_buf jump;
    jpeg_decompress_struct in;
    jpeg_compress_struct out;
    Pixels pixels;
    std::string error;

    JpegJob() {
        memset(&in, 0, sizeof(in));
        memset(&out, 0, sizeof(out));
        jpeg_std_error(&manager);
        manager.error_exit = on_error;
        manager.emit_message = on_message;
    }

    static void note(j_common_ptr c) {
        char text[JMSG_LENGTH_MAX];
        c->err->format_message(c, text);
        ((JpegJob *)c->err)->error = text;
    }
    static void on_error(j_common_ptr c) {
        note(c);
        longjmp(((JpegJob *)c->err)->jump, 1);
    }
    /// Damaged data is only a warning to libjpeg, which then makes up the rest of the picture. Not here.
    static void on_message(j_common_ptr c, int level) {
        const int code = c->err->msg_code;
        if (level < 0 && code != JWRN_EXTRANEOUS_DATA && code != JWRN_JFIF_MAJOR && code != JWRN_ADOBE_XFORM) {
            on_error(c);
        }
    }
};

/// Inverted CMYK, as Adobe writes it, to RGB.
inline void cmyk_to_rgb(Pixels *p) {
    for (int y = 0; y < p->height; y++) {
        uint8_t *from = p->data.get() + (size_t)y * p->width * 4, *to = p->data.get() + (size_t)y * p->width * 3;
        for (int x = 0; x < p->width; x++) {
            const int k = from[4 * x + 3];
            for (int c = 0; c < 3; c++) {
                to[3 * x + c] = (uint8_t)((from[4 * x + c] * k + 127) / 255);
            }
        }
    }
    p->channels = 3;
}

inline void read_jpeg(JpegJob *job, FILE *f) {
    if (setjmp(job->jump)) {
        return;
    }
    jpeg_decompress_struct *in = &job->in;
    jpeg_create_decompress(in);
    jpeg_stdio_src(in, f);
    jpeg_read_header(in, TRUE);
    jpeg_start_decompress(in);
    job->pixels.width = (int)in->output_width;
    job->pixels.height = (int)in->output_height;
    job->pixels.channels = in->output_components;
    if (!job->pixels.allocate()) {
        job->error = "the image is too large for the memory there is";
        return;
    }
    while (in->output_scanline < in->output_height) {
        JSAMPROW row = job->pixels.row((int)in->output_scanline);
        jpeg_read_scanlines(in, &row, 1);
    }
    jpeg_finish_decompress(in);
}

inline Result load_jpg(const std::string &filename, Image *im) {
    File f(fopen(filename.c_str(), "rb"));
    if (!f) {
        return "could not be opened for reading";
    }
    JpegJob job;
    job.in.err = &job.manager;
    read_jpeg(&job, f.get());
    jpeg_destroy_decompress(&job.in);
    if (!job.error.empty()) {
        return "is not a valid JPEG file: " + job.error;
    }
    if (job.pixels.channels == 4) {
        cmyk_to_rgb(&job.pixels);
    }
    *im = job.pixels.to_image();
    return "";
}

inline void write_jpeg(JpegJob *job, FILE *f) {
    if (setjmp(job->jump)) {
        return;
    }
    jpeg_compress_struct *out = &job->out;
    jpeg_create_compress(out);
    jpeg_stdio_dest(out, f);
    out->image_width = (JDIMENSION)job->pixels.width;
    out->image_height = (JDIMENSION)job->pixels.height;
    out->input_components = job->pixels.channels;
    out->in_color_space = job->pixels.channels == 3 ? JCS_RGB : JCS_GRAYSCALE;
    jpeg_set_defaults(out);
    jpeg_set_quality(out, 99, TRUE);
    jpeg_start_compress(out, TRUE);
    while (out->next_scanline < out->image_height) {
        JSAMPROW row = job->pixels.row((int)out->next_scanline);
        jpeg_write_scanlines(out, &row, 1);
    }
    jpeg_finish_compress(out);
}

inline Result save_jpg(const ConstImage &im, const std::string &filename) {
    JpegJob job;
    Result result = job.pixels.from_image(im);
    if (!result.empty()) {
        return result;
    }
    if (job.pixels.channels != 1 && job.pixels.channels != 3) {
        return "holds 1 or 3 channels; this image has " + std::to_string(job.pixels.channels);
    }
    return write_file(filename, [&](FILE *f) -> Result {
        job.out.err = &job.manager;
        write_jpeg(&job, f);
        jpeg_destroy_compress(&job.out);
        return job.error;
    });
}

#endif  // HALIDE_NO_JPEG

// -------------------------------------------------------------------------------------------------------------- PNM

/// The next number of a header or of plain-text data; -1 if there is none.
inline int64_t pnm_number(Reader &r) {
    int c = r.next();
    while (c == '#' || (c >= 0 && std::isspace(c))) {
        if (c == '#') {
            while (c >= 0 && c != '\n') {
                c = r.next();
            }
        } else {
            c = r.next();
        }
    }
    if (c < '0' || c > '9') {
        return -1;
    }
    int64_t v = 0;
    for (; c >= '0' && c <= '9'; c = r.next()) {
        v = std::min<int64_t>(v * 10 + (c - '0'), INT32_MAX);
    }
    // One white space ends a number; it belongs to it.
    return c >= 0 && !std::isspace(c) ? -1 : v;
}

/// One sample of plain text: bitmaps need no space between digits.
inline int64_t pnm_bit(Reader &r) {
    int c = r.next();
    while (c >= 0 && std::isspace(c)) {
        c = r.next();
    }
    return c == '0' || c == '1' ? c - '0' : -1;
}

inline Result load_pnm(const std::string &filename, Image *im) {
    std::vector<uint8_t> bytes;
    Result result = read_file(filename, &bytes);
    if (!result.empty()) {
        return result;
    }
    Reader r(bytes);
    const int magic = r.next(), kind = r.next() - '0';
    if (magic != 'P' || kind < 1 || kind > 6) {
        return "is not a PBM, PGM or PPM file";
    }
    const bool bitmap = kind == 1 || kind == 4, plain = kind <= 3;
    const int64_t width = pnm_number(r), height = pnm_number(r), max = bitmap ? 1 : pnm_number(r);
    if (width <= 0 || height <= 0 || max <= 0 || max > 65535) {
        return "has a broken header";
    }
    Pixels p;
    p.width = (int)width;
    p.height = (int)height;
    p.channels = kind == 3 || kind == 6 ? 3 : 1;
    p.bytes = max > 255 ? 2 : 1;
    const uint64_t samples = (uint64_t)width * height * p.channels;
    const uint64_t least = kind == 4 ? (uint64_t)(width + 7) / 8 * height : plain ? samples : samples * p.bytes;
    if (samples > ((uint64_t)1 << 40) || least > r.left() + 1) {
        return "is truncated";
    }
    if (!p.allocate()) {
        return "is too large for the memory there is";
    }
    const int64_t full = p.bytes == 2 ? 65535 : 255;
    for (int y = 0; y < p.height; y++) {
        for (size_t i = 0; i < (size_t)p.width * p.channels; i++) {
            int64_t v;
            if (kind == 4) {
                v = i % 8 == 0 ? r.next() : 0;
                if (v < 0) {
                    return "is truncated";
                }
                for (size_t b = 0; b < 8 && i + b < (size_t)p.width; b++) {
                    p.row(y)[i + b] = (v >> (7 - b)) & 1 ? 0 : 255;
                }
                i += 7;
                continue;
            }
            if (plain) {
                v = bitmap ? pnm_bit(r) : pnm_number(r);
            } else {
                const int high = p.bytes == 2 ? r.next() : 0, low = r.next();
                v = high < 0 || low < 0 ? -1 : high * 256 + low;
            }
            if (v < 0 || v > max) {
                return v < 0 ? "is truncated" : "has a sample above its maximum";
            }
            // In a bitmap, 1 is black.
            v = bitmap ? (v ? 0 : 255) : (v * full + max / 2) / max;
            if (p.bytes == 2) {
                ((uint16_t *)(void *)p.row(y))[i] = (uint16_t)v;
            } else {
                p.row(y)[i] = (uint8_t)v;
            }
        }
    }
    *im = p.to_image();
    return "";
}

inline Result save_pnm(const ConstImage &im, const std::string &filename, int channels) {
    Pixels p;
    Result result = p.from_image(im);
    if (!result.empty()) {
        return result;
    }
    if (channels ? p.channels != channels : p.channels != 1 && p.channels != 3) {
        return "holds " + (channels ? std::to_string(channels) : std::string("1 or 3")) + " channels; this image has " +
               std::to_string(p.channels);
    }
    return write_file(filename, [&](FILE *f) -> Result {
        fprintf(f, "P%d\n%d %d\n%d\n", p.channels == 3 ? 6 : 5, p.width, p.height, p.bytes == 2 ? 65535 : 255);
        if (p.bytes == 2 && little_endian()) {
            swap_bytes(p.data.get(), p.row_bytes() / 2 * p.height, 2);
        }
        write_bytes(f, p.data.get(), p.row_bytes() * p.height);
        return "";
    });
}

inline Result save_pgm(const ConstImage &im, const std::string &filename) {
    return save_pnm(im, filename, 1);
}

inline Result save_ppm(const ConstImage &im, const std::string &filename) {
    return save_pnm(im, filename, 3);
}

inline Result save_any_pnm(const ConstImage &im, const std::string &filename) {
    return save_pnm(im, filename, 0);
}

// -------------------------------------------------------------------------------------------------------------- NPY

/// The text after `'key':` in the header of a .npy file, without leading spaces.
inline std::string npy_field(const std::string &header, const std::string &key) {
    size_t at = header.find("'" + key + "'");
    if (at == std::string::npos) {
        at = header.find("\"" + key + "\"");
    }
    at = at == std::string::npos ? at : header.find(':', at);
    at = at == std::string::npos ? at : header.find_first_not_of(" ", at + 1);
    return at == std::string::npos ? "" : header.substr(at);
}

inline bool npy_type(const std::string &descr, halide_type_t *type, bool *swap) {
    // Quote, byte order, kind, bytes.
    if (descr.size() < 4) {
        return false;
    }
    const char order = descr[1], kind = descr[2];
    const int bytes = atoi(descr.c_str() + 3);
    *swap = bytes > 1 && (order == '>') == little_endian() && (order == '>' || order == '<');
    if (kind == 'f' && (bytes == 2 || bytes == 4 || bytes == 8)) {
        *type = halide_type_t(halide_type_float, (uint8_t)(8 * bytes));
    } else if ((kind == 'u' || kind == 'i') && (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8)) {
        *type = halide_type_t(kind == 'u' ? halide_type_uint : halide_type_int, (uint8_t)(8 * bytes));
    } else if (kind == 'b' && bytes == 1) {
        *type = halide_type_t(halide_type_uint, 1);
    } else {
        return false;
    }
    return true;
}

/// The last axis of a numpy array is dimension 0, unless the array is in Fortran order.
inline Result load_npy(const std::string &filename, Image *im) {
    std::vector<uint8_t> bytes;
    Result result = read_file(filename, &bytes);
    if (!result.empty()) {
        return result;
    }
    Reader r(bytes);
    uint8_t magic[8];
    if (!r.read(magic, 8) || memcmp(magic, "\x93NUMPY", 6) != 0 || magic[6] < 1 || magic[6] > 3) {
        return "is not a .npy file";
    }
    uint8_t length[4] = {0, 0, 0, 0};
    if (!r.read(length, magic[6] == 1 ? 2 : 4)) {
        return "is truncated";
    }
    const uint32_t header_bytes = length[0] | length[1] << 8 | length[2] << 16 | (uint32_t)length[3] << 24;
    if (header_bytes > r.left()) {
        return "is truncated";
    }
    const std::string header((const char *)r.position(), header_bytes);
    r.skip(header_bytes);

    halide_type_t type;
    bool swap = false;
    if (!npy_type(npy_field(header, "descr"), &type, &swap)) {
        return "holds elements of a type that is not supported";
    }
    const bool fortran = npy_field(header, "fortran_order").compare(0, 4, "True") == 0;
    const std::string shape = npy_field(header, "shape");
    if (shape.empty() || shape[0] != '(') {
        return "has a broken header";
    }
    std::vector<int> extents;
    for (const char *s = shape.c_str() + 1; *s && *s != ')';) {
        char *end;
        const long e = strtol(s, &end, 10);
        if (end == s) {
            s++;
            continue;
        }
        if (e < 0 || e > INT32_MAX) {
            return "has a broken header";
        }
        extents.push_back((int)e);
        s = end;
    }
    if (!fortran) {
        std::reverse(extents.begin(), extents.end());
    }
    return image_from_bytes(r, type, extents, swap, im);
}

inline Result save_npy(const ConstImage &im, const std::string &filename) {
    std::ostringstream header;
    const halide_type_t t = im.type();
    const char kind = t.bits == 1 ? 'b' : t.code == halide_type_float ? 'f' : t.code == halide_type_int ? 'i' : 'u';
    header << "{'descr': '"
           << (t.bytes() == 1    ? '|'
               : little_endian() ? '<'
                                 : '>')
           << kind << t.bytes() << "', 'fortran_order': False, 'shape': (";
    for (int d = im.dimensions() - 1; d >= 0; d--) {
        header << im.dim(d).extent() << (d > 0 ? ", " : im.dimensions() == 1 ? "," : "");
    }
    header << "), }";
    std::string text = header.str();
    // Magic and length are 10 bytes; the elements start at a multiple of 64.
    text.resize((10 + text.size() + 1 + 63) / 64 * 64 - 10 - 1, ' ');
    text += '\n';
    return write_file(filename, [&](FILE *f) -> Result {
        const uint8_t head[10] = {
            0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (uint8_t)text.size(), (uint8_t)(text.size() >> 8)};
        write_bytes(f, head, sizeof(head));
        write_bytes(f, text.data(), text.size());
        write_planar(f, im);
        return "";
    });
}

// -------------------------------------------------------------------------------------------------------------- TMP

/// Type codes of .tmp files are indices here.
inline const std::vector<halide_type_t> &tmp_types() {
    static const std::vector<halide_type_t> types = {
        {halide_type_float, 32}, {halide_type_float, 64}, {halide_type_uint, 8},  {halide_type_int, 8},
        {halide_type_uint, 16},  {halide_type_int, 16},   {halide_type_uint, 32}, {halide_type_int, 32},
        {halide_type_uint, 64},  {halide_type_int, 64}};
    return types;
}

inline Result load_tmp(const std::string &filename, Image *im) {
    std::vector<uint8_t> bytes;
    Result result = read_file(filename, &bytes);
    if (!result.empty()) {
        return result;
    }
    Reader r(bytes);
    int32_t header[5];
    if (!r.read(header, sizeof(header)) || header[4] < 0 || header[4] >= (int)tmp_types().size() ||
        *std::min_element(header, header + 4) < 0) {
        return "is not a .tmp file";
    }
    std::vector<int> extents(header, header + 4);
    while (!extents.empty() && extents.back() == 1) {
        extents.pop_back();
    }
    return image_from_bytes(r, tmp_types()[header[4]], extents, false, im);
}

inline Result save_tmp(const ConstImage &im, const std::string &filename) {
    const auto type = std::find(tmp_types().begin(), tmp_types().end(), im.type());
    if (im.dimensions() > 4) {
        return "holds at most 4 dimensions";
    }
    return write_file(filename, [&](FILE *f) -> Result {
        for (int d = 0; d < 4; d++) {
            write_value<int32_t>(f, d < im.dimensions() ? im.dim(d).extent() : 1);
        }
        write_value<int32_t>(f, (int32_t)(type - tmp_types().begin()));
        write_planar(f, im);
        return "";
    });
}

// -------------------------------------------------------------------------------------------------------------- MAT

/// How MATLAB numbers a type, as class of an array and as type of stored data.
struct MatType {
    halide_type_t type;
    uint32_t class_code, data_code;
};

inline const std::vector<MatType> &mat_types() {
    static const std::vector<MatType> types = {{{halide_type_float, 64}, 6, 9}, {{halide_type_float, 32}, 7, 7},
                                               {{halide_type_int, 8}, 8, 1},    {{halide_type_uint, 8}, 9, 2},
                                               {{halide_type_int, 16}, 10, 3},  {{halide_type_uint, 16}, 11, 4},
                                               {{halide_type_int, 32}, 12, 5},  {{halide_type_uint, 32}, 13, 6},
                                               {{halide_type_int, 64}, 14, 12}, {{halide_type_uint, 64}, 15, 13}};
    return types;
}

/// A data element of a level 5 file: short ones (up to 4 bytes) keep type and size in one word.
struct MatElement {
    uint32_t type = 0, bytes = 0;
    std::vector<uint8_t> data;

    bool read(Reader &r) {
        uint32_t first;
        if (!r.read(&first, 4)) {
            return false;
        }
        const bool is_short = (first >> 16) != 0;
        type = first & 0xffff;
        bytes = first >> 16;
        if (!is_short && (!r.read(&bytes, 4))) {
            return false;
        }
        if (bytes > r.left()) {
            return false;
        }
        data.resize(bytes);
        const size_t padding = is_short ? 4 - std::min(bytes, 4u) : (8 - bytes % 8) % 8;
        return (!is_short || bytes <= 4) && r.read(data.data(), bytes) && (r.skip(padding) || r.left() < 8);
    }
};

/// The first variable of an uncompressed level 5 file.
inline Result load_mat(const std::string &filename, Image *im) {
    std::vector<uint8_t> bytes;
    Result result = read_file(filename, &bytes);
    if (!result.empty()) {
        return result;
    }
    Reader r(bytes);
    uint8_t header[128];
    if (!r.read(header, 128) || memcmp(header, "MATLAB 5.0", 10) != 0) {
        return "is not a MATLAB 5 file";
    }
    if (memcmp(header + 126, little_endian() ? "IM" : "MI", 2) != 0) {
        return "was written on a machine of the other byte order, which is not supported";
    }
    uint32_t tag[2];
    if (!r.read(tag, 8) || tag[0] != 14) {
        return tag[0] == 15 ? "is compressed, which is not supported" : "does not begin with an array";
    }
    MatElement flags, dims, name, data;
    if (!flags.read(r) || !dims.read(r) || !name.read(r) || !data.read(r) || flags.bytes < 4 || dims.bytes % 4 != 0) {
        return "is truncated";
    }
    uint32_t class_code;
    memcpy(&class_code, flags.data.data(), 4);
    if (class_code & 0x0800) {
        return "holds complex numbers, which are not supported";
    }
    halide_type_t type, stored;
    for (const MatType &t : mat_types()) {
        type = t.class_code == (class_code & 0xff) ? t.type : type;
        stored = t.data_code == data.type ? t.type : stored;
    }
    if (type.bits == 0 || stored.bits == 0) {
        return "holds elements of a type that is not supported";
    }
    std::vector<int> extents(dims.bytes / 4);
    memcpy(extents.data(), dims.data.data(), dims.bytes);
    // MATLAB stores integers that happen to fit in a smaller type in that.
    Reader elements(data.data);
    Image raw;
    result = image_from_bytes(elements, stored, extents, false, &raw);
    if (!result.empty() || type == stored) {
        *im = std::move(raw);
        return result;
    }
    Image wide(type, extents);
    const Element from{stored}, to{type};
    for_each_pair(
        raw.raw_buffer(), wide.raw_buffer(), [&](const uint8_t *p, uint8_t *q) { to.write(q, from.read(p)); },
        raw.dimensions() - 1, raw.raw_buffer()->host, wide.raw_buffer()->host);
    *im = std::move(wide);
    return "";
}

inline Result save_mat(const ConstImage &im, const std::string &filename) {
    const auto type =
        std::find_if(mat_types().begin(), mat_types().end(), [&](const MatType &t) { return t.type == im.type(); });
    std::string name = filename.substr(filename.find_last_of("/\\") + 1);
    name = name.substr(0, std::min<size_t>(name.find('.'), 60));
    std::replace_if(name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
    if (name.empty() || !std::isalpha((unsigned char)name[0])) {
        name = "v" + name;
    }
    const auto pad = [](uint64_t n) { return (n + 7) / 8 * 8; };
    const int dims = std::max(2, im.dimensions());
    const uint64_t payload = (uint64_t)im.number_of_elements() * im.type().bytes();
    const uint64_t total = 16 + 8 + pad(dims * 4) + 8 + pad(name.size()) + 8 + pad(payload);
    if (total > UINT32_MAX) {
        return "cannot hold an image of 4 GB or more";
    }
    return write_file(filename, [&](FILE *f) -> Result {
        static const char zeros[8] = {0};
        char header[128];
        memset(header, ' ', 124);
        memcpy(header, "MATLAB 5.0 MAT-file, produced by Halide", 39);
        const uint16_t version = 0x0100, endian = 'M' << 8 | 'I';
        memcpy(header + 124, &version, 2);
        memcpy(header + 126, &endian, 2);
        write_bytes(f, header, 128);
        for (uint32_t word : {14u, (uint32_t)total, 6u, 8u, type->class_code, 0u, 5u, (uint32_t)dims * 4}) {
            write_value(f, word);
        }
        for (int d = 0; d < dims; d++) {
            write_value<int32_t>(f, d < im.dimensions() ? im.dim(d).extent() : 1);
        }
        write_bytes(f, zeros, (size_t)pad(dims * 4) - dims * 4);
        write_value(f, 1u);
        write_value(f, (uint32_t)name.size());
        write_bytes(f, name.data(), name.size());
        write_bytes(f, zeros, (size_t)pad(name.size()) - name.size());
        write_value(f, type->data_code);
        write_value(f, (uint32_t)payload);
        write_planar(f, im);
        write_bytes(f, zeros, (size_t)(pad(payload) - payload));
        return "";
    });
}

// ------------------------------------------------------------------------------------------------------------- TIFF

inline Result load_tiff(const std::string &, Image *) {
    return "is a TIFF file, and TIFF can only be written";
}

/// Uncompressed, in the byte order of the machine; the channels are stored one after the other.
inline Result save_tiff(const ConstImage &im, const std::string &filename) {
    const uint32_t width = (uint32_t)im.width(), height = (uint32_t)im.height(), samples = (uint32_t)im.channels();
    const uint64_t plane = (uint64_t)width * height * im.type().bytes();
    struct Tag {
        uint16_t id;
        bool is_long;
        std::vector<uint32_t> values;
    };
    const uint32_t format = im.type().code == halide_type_float ? 3 : im.type().code == halide_type_int ? 2 : 1;
    const bool rgb = samples == 3 || samples == 4;
    std::vector<Tag> tags = {
        {256, true, {width}},
        {257, true, {height}},
        {258, false, std::vector<uint32_t>(samples, (uint32_t)im.type().bytes() * 8)},
        {259, false, {1}},
        {262, false, {rgb ? 2u : 1u}},
        {273, true, std::vector<uint32_t>(samples)},
        {274, false, {1}},
        {277, false, {samples}},
        {278, true, {height}},
        {279, true, std::vector<uint32_t>(samples, (uint32_t)plane)},
        {284, false, {samples == 1 ? 1u : 2u}},
        {338, false, std::vector<uint32_t>(rgb ? samples - 3 : samples - 1)},
        {339, false, std::vector<uint32_t>(samples, format)},
    };
    if (im.dimensions() > 3 || samples == 0 || samples > 65535 || plane * samples + 65536ull * 16 > UINT32_MAX) {
        return "cannot hold an image of this shape";
    }
    tags.erase(std::remove_if(tags.begin(), tags.end(), [](const Tag &t) { return t.values.empty(); }), tags.end());

    // Values that do not fit in their tag stand behind the directory, and the elements behind those.
    const auto bytes_of = [](const Tag &t) { return (uint32_t)t.values.size() * (t.is_long ? 4 : 2); };
    uint32_t data = 8 + 2 + (uint32_t)tags.size() * 12 + 4;
    for (const Tag &t : tags) {
        data += bytes_of(t) > 4 ? (bytes_of(t) + 3) / 4 * 4 : 0;
    }
    for (Tag &t : tags) {
        for (uint32_t i = 0; t.id == 273 && i < samples; i++) {
            t.values[i] = (uint32_t)(data + i * plane);
        }
    }
    return write_file(filename, [&](FILE *f) -> Result {
        const auto write_values = [&](const Tag &t) {
            for (uint32_t v : t.values) {
                if (t.is_long) {
                    write_value(f, v);
                } else {
                    write_value(f, (uint16_t)v);
                }
            }
            write_bytes(f, "\0\0\0", (4 - bytes_of(t) % 4) % 4);
        };
        write_bytes(f, little_endian() ? "II" : "MM", 2);
        write_value<uint16_t>(f, 42);
        write_value<uint32_t>(f, 8);
        write_value(f, (uint16_t)tags.size());
        uint32_t at = 8 + 2 + (uint32_t)tags.size() * 12 + 4;
        for (const Tag &t : tags) {
            write_value(f, t.id);
            write_value<uint16_t>(f, t.is_long ? 4 : 3);
            write_value(f, (uint32_t)t.values.size());
            if (bytes_of(t) <= 4) {
                write_values(t);
            } else {
                write_value(f, at);
                at += (bytes_of(t) + 3) / 4 * 4;
            }
        }
        write_value<uint32_t>(f, 0);
        for (const Tag &t : tags) {
            if (bytes_of(t) > 4) {
                write_values(t);
            }
        }
        write_planar(f, im);
        return "";
    });
}

// ---------------------------------------------------------------------------------------------------------- formats

struct ImageFormat {
    std::vector<std::string> extensions;
    Result (*load)(const std::string &, Image *);
    Result (*save)(const ConstImage &, const std::string &);
    std::set<FormatInfo> kinds;
};

inline std::set<FormatInfo> all_of(const std::vector<halide_type_t> &types, int min_dims, int max_dims) {
    std::set<FormatInfo> kinds;
    for (halide_type_t t : types) {
        for (int d = min_dims; d <= max_dims; d++) {
            kinds.insert({t, d});
        }
    }
    return kinds;
}

inline const std::vector<ImageFormat> &image_formats() {
    static const std::vector<ImageFormat> formats = [] {
        const halide_type_t u8(halide_type_uint, 8), u16(halide_type_uint, 16);
        std::vector<halide_type_t> mat, with_half = tmp_types();
        with_half.push_back(halide_type_t(halide_type_float, 16));
        std::vector<halide_type_t> with_bool = with_half;
        with_bool.push_back(halide_type_t(halide_type_uint, 1));
        for (const MatType &t : mat_types()) {
            mat.push_back(t.type);
        }
        return std::vector<ImageFormat>{
#ifndef HALIDE_NO_PNG
            {{"png"}, load_png, save_png, all_of({u8, u16}, 2, 3)},
#endif
#ifndef HALIDE_NO_JPEG
            {{"jpg", "jpeg"}, load_jpg, save_jpg, all_of({u8}, 2, 3)},
#endif
            {{"pgm"}, load_pnm, save_pgm, all_of({u8, u16}, 2, 3)},
            {{"ppm"}, load_pnm, save_ppm, all_of({u8, u16}, 3, 3)},
            {{"pnm", "pbm"}, load_pnm, save_any_pnm, all_of({u8, u16}, 2, 3)},
            {{"npy"}, load_npy, save_npy, all_of(with_bool, 0, 16)},
            {{"tmp"}, load_tmp, save_tmp, all_of(tmp_types(), 0, 4)},
            {{"mat"}, load_mat, save_mat, all_of(mat, 0, 16)},
            {{"tif", "tiff"}, load_tiff, save_tiff, all_of(with_half, 1, 3)},
        };
    }();
    return formats;
}

inline const ImageFormat *find_format(const std::string &filename) {
    const std::string extension = extension_of(filename);
    for (const ImageFormat &f : image_formats()) {
        if (std::find(f.extensions.begin(), f.extensions.end(), extension) != f.extensions.end()) {
            return &f;
        }
    }
    return nullptr;
}

inline Result unknown_format() {
    std::string list;
    for (const ImageFormat &f : image_formats()) {
        for (const std::string &e : f.extensions) {
            list += (list.empty() ? "" : ", ") + e;
        }
    }
    return "has an extension that is not known; supported are " + list;
}

/// Puts the file in front of what is wrong with it.
inline Result about(const std::string &filename, const Result &result) {
    last_error_text() = result.empty() ? "" : "Error: " + filename + " " + result;
    return last_error_text();
}

inline Result load_any(const std::string &filename, Image *im) {
    const ImageFormat *format = find_format(filename);
    return format ? format->load(filename, im) : unknown_format();
}

inline Result save_any(const ConstImage &im, const std::string &filename) {
    const ImageFormat *format = find_format(filename);
    if (!format) {
        return unknown_format();
    }
    if (im.raw_buffer()->host == nullptr && im.number_of_elements() > 0) {
        return "cannot be written: the image has no memory";
    }
    if (format->kinds.count({im.type(), im.dimensions()}) == 0) {
        return "cannot hold an image of type " + type_name(im.type()) + " with " + std::to_string(im.dimensions()) +
               " dimensions; convert_and_save_image() chooses one that it can";
    }
    return format->save(im, filename);
}

// ---------------------------------------------------------------------------- images of the types that programs use

/// The same class of image with another element type, or another number of dimensions.
template <typename ImageType>
struct ImageTraits;

template <template <typename, int> class Buffer, typename T, int Dims>
struct ImageTraits<Buffer<T, Dims>> {
    using Elem = T;
    static constexpr int dims = Dims;
    template <typename T2>
    using with_elem = Buffer<T2, Dims>;
};

template <template <typename, int, int> class Buffer, typename T, int Dims, int Storage>
struct ImageTraits<Buffer<T, Dims, Storage>> {
    using Elem = T;
    static constexpr int dims = Dims;
    template <typename T2>
    using with_elem = Buffer<T2, Dims, Storage>;
};

template <typename ImageType>
struct ImageTraits<const ImageType> : ImageTraits<ImageType> {};

template <typename ImageType, typename T>
using ImageTypeWithElemType = typename ImageTraits<ImageType>::template with_elem<T>;

/// Any image, its data brought to the host, as one without static type. Shares the memory but does not own it.
template <typename ImageType>
ConstImage view_of(const ImageType &im) {
    halide_buffer_t *raw = const_cast<halide_buffer_t *>(im.raw_buffer());
    if (raw->device_dirty() && raw->device_interface) {
        raw->device_interface->copy_to_host(nullptr, raw);
    }
    halide_buffer_t host_only = *raw;
    host_only.device = 0;
    host_only.device_interface = nullptr;
    host_only.flags = 0;
    return ConstImage(host_only);
}

template <typename ImageType>
constexpr bool has_static_type = !std::is_void_v<typename ImageTraits<ImageType>::Elem>;

template <typename ImageType>
constexpr halide_type_t static_type() {
    using T = std::remove_const_t<typename ImageTraits<ImageType>::Elem>;
    return halide_type_of<std::conditional_t<std::is_void_v<T>, uint8_t, T>>();
}

/// Adds dimensions of extent 1, or drops such at the end, until there are `dims`.
inline Result adapt_dimensions(Image *im, int dims) {
    const int found = im->dimensions();
    while (im->dimensions() < dims) {
        im->add_dimension();
    }
    while (im->dimensions() > dims) {
        if (im->dim(im->dimensions() - 1).extent() != 1) {
            return "has " + std::to_string(found) + " dimensions but the image to load into has " +
                   std::to_string(dims);
        }
        im->slice(im->dimensions() - 1);
    }
    return "";
}

template <typename ImageType>
Result assign_image(Image &&loaded, ImageType *im) {
    if constexpr (ImageTraits<ImageType>::dims >= 0) {
        const Result result = adapt_dimensions(&loaded, ImageTraits<ImageType>::dims);
        if (!result.empty()) {
            return result;
        }
    }
    if constexpr (has_static_type<ImageType>) {
        if (loaded.type() != static_type<ImageType>()) {
            return "has type " + type_name(loaded.type()) + " but the image to load into has type " +
                   type_name(static_type<ImageType>()) + "; use load_and_convert_image() to convert it";
        }
    }
    loaded.set_host_dirty();
    *im = ImageType(std::move(loaded));
    return "";
}

template <typename ImageType, CheckFunc check>
bool load_with(Result (*load)(const std::string &, Image *), const std::string &filename, ImageType *im) {
    Image loaded;
    Result result = load(filename, &loaded);
    if (result.empty()) {
        result = assign_image(std::move(loaded), im);
    }
    result = about(filename, result);
    return check(result.empty(), result.c_str());
}

template <typename ImageType, CheckFunc check>
bool save_with(Result (*save)(const ConstImage &, const std::string &), const ImageType &im,
               const std::string &filename) {
    const Result result = about(filename, save(view_of(im), filename));
    return check(result.empty(), result.c_str());
}

}  // namespace Internal

using Internal::CheckFail;
using Internal::CheckReturn;

/// Text of the last failure on this thread, which names the file; empty if the last call succeeded.
inline std::string last_image_io_error() {
    return Internal::last_error_text();
}

/// Conversions of whole images that keep the scale: 255 of uint8, 65535 of uint16 and 1.0 of float mean the same.
struct ImageTypeConversion {
    /// @returns a new image with elements of type DstElemType.
    template <typename DstElemType, typename ImageType>
    static Internal::ImageTypeWithElemType<ImageType, DstElemType> convert_image(const ImageType &src) {
        return Internal::ImageTypeWithElemType<ImageType, DstElemType>(
            Internal::convert(Internal::view_of(src), halide_type_of<DstElemType>()));
    }

    /// @returns a new image with elements of a type given at run time.
    template <typename ImageType>
    static Internal::ImageTypeWithElemType<ImageType, void> convert_image(const ImageType &src,
                                                                          const halide_type_t &dst_type) {
        return Internal::ImageTypeWithElemType<ImageType, void>(Internal::convert(Internal::view_of(src), dst_type));
    }
};

/// Loads an image. @returns false on failure (with CheckReturn), see last_image_io_error().
template <typename ImageType, Internal::CheckFunc check = Internal::CheckReturn>
bool load(const std::string &filename, ImageType *im) {
    return Internal::load_with<ImageType, check>(Internal::load_any, filename, im);
}

/// Saves an image. A failure leaves no half-written file, and the old one as it was.
template <typename ImageType, Internal::CheckFunc check = Internal::CheckReturn>
bool save(const ImageType &im, const std::string &filename) {
    return Internal::save_with<ImageType, check>(Internal::save_any, im, filename);
}

/// Which kinds of image a file of this name can hold. @returns false if the extension is not known.
template <typename ImageType = Halide::Runtime::Buffer<>, Internal::CheckFunc check = Internal::CheckReturn>
bool save_query(const std::string &filename, std::set<FormatInfo> *info) {
    const Internal::ImageFormat *format = Internal::find_format(filename);
    if (format) {
        *info = format->kinds;
    }
    const std::string text = Internal::about(filename, format ? "" : Internal::unknown_format());
    return check(format != nullptr, text.c_str());
}

// One format, whatever the extension says.
#define HALIDE_IMAGE_IO_FORMAT(name, loader, saver)                                                                    \
    template <typename ImageType, Internal::CheckFunc check = Internal::CheckReturn>                                   \
    bool load_##name(const std::string &filename, ImageType *im) {                                                     \
        return Internal::load_with<ImageType, check>(Internal::loader, filename, im);                                  \
    }                                                                                                                  \
    template <typename ImageType, Internal::CheckFunc check = Internal::CheckReturn>                                   \
    bool save_##name(const ImageType &im, const std::string &filename) {                                               \
        return Internal::save_with<ImageType, check>(Internal::saver, im, filename);                                   \
    }

#ifndef HALIDE_NO_PNG
HALIDE_IMAGE_IO_FORMAT(png, load_png, save_png)
#endif
#ifndef HALIDE_NO_JPEG
HALIDE_IMAGE_IO_FORMAT(jpg, load_jpg, save_jpg)
#endif
HALIDE_IMAGE_IO_FORMAT(pgm, load_pnm, save_pgm)
HALIDE_IMAGE_IO_FORMAT(ppm, load_pnm, save_ppm)
HALIDE_IMAGE_IO_FORMAT(npy, load_npy, save_npy)
HALIDE_IMAGE_IO_FORMAT(tmp, load_tmp, save_tmp)
HALIDE_IMAGE_IO_FORMAT(mat, load_mat, save_mat)
HALIDE_IMAGE_IO_FORMAT(tiff, load_tiff, save_tiff)
#undef HALIDE_IMAGE_IO_FORMAT

/// Loads an image on assignment: `Buffer<uint8_t> im = load_image("in.png");`. Prints and exits on failure; the type of
/// the file must be that of the image.
class load_image {
public:
    explicit load_image(const std::string &f) : filename(f) {}

    template <typename ImageType>
    operator ImageType() {
        ImageType im;
        (void)load<ImageType, Internal::CheckFail>(filename, &im);
        return im;
    }

private:
    const std::string filename;
};

/// The same, but converts to the type of the image.
class load_and_convert_image {
public:
    explicit load_and_convert_image(const std::string &f) : filename(f) {}

    template <typename ImageType>
    operator ImageType() {
        Internal::Image loaded;
        Internal::Result result = Internal::load_any(filename, &loaded);
        ImageType im;
        if (result.empty()) {
            if constexpr (Internal::has_static_type<ImageType>) {
                if (loaded.type() != Internal::static_type<ImageType>()) {
                    loaded = Internal::convert(loaded, Internal::static_type<ImageType>());
                }
            }
            result = Internal::assign_image(std::move(loaded), &im);
        }
        result = Internal::about(filename, result);
        (void)Internal::CheckFail(result.empty(), result.c_str());
        return im;
    }

private:
    const std::string filename;
};

/// Saves an image; prints and exits on failure.
template <typename ImageType, Internal::CheckFunc check = Internal::CheckFail>
void save_image(const ImageType &im, const std::string &filename) {
    (void)save<ImageType, check>(im, filename);
}

/// Saves an image in the type that the format can hold and that loses least.
template <typename ImageType, Internal::CheckFunc check = Internal::CheckFail>
void convert_and_save_image(const ImageType &im, const std::string &filename) {
    std::set<FormatInfo> kinds;
    if (!save_query<ImageType, check>(filename, &kinds)) {
        return;
    }
    const Internal::ConstImage src = Internal::view_of(im);
    const halide_type_t have = src.type();
    // Lower is better: same dimensions first, then same type, same class, and no fewer bits than there are.
    const auto cost = [&](const FormatInfo &k) {
        int c = 10000 * std::abs(k.dimensions - src.dimensions());
        c += k.type == have ? 0 : 100;
        c += k.type.code == have.code ? 0 : 500;
        return c + (k.type.bits >= have.bits ? k.type.bits - have.bits : 1000 + have.bits - k.type.bits);
    };
    const FormatInfo best = *std::min_element(
        kinds.begin(), kinds.end(), [&](const FormatInfo &a, const FormatInfo &b) { return cost(a) < cost(b); });
    Internal::Image converted = Internal::convert(src, best.type);
    Internal::Result result = Internal::adapt_dimensions(&converted, best.dimensions);
    result = result.empty() ? Internal::save_any(converted, filename) : "cannot hold an image of this shape";
    result = Internal::about(filename, result);
    (void)check(result.empty(), result.c_str());
}

}  // namespace Tools
}  // namespace Halide

#endif  // HALIDE_IMAGE_IO_H
