// Buffers written to files: TIFF, MATLAB 5 (.mat), and raw with a small header (.tmp).
#include "runtime_internal.h"

using namespace Halide::Runtime::Internal;

namespace {

constexpr int max_dims = 4;

/// A file that remembers whether everything went well.
class File {
    void *f;
    bool good;

public:
    explicit File(const char *name) : f(fopen(name, "wb")), good(f != nullptr) {}
    File(const File &) = delete;
    File &operator=(const File &) = delete;
    ~File() {
        if (f) {
            fclose(f);
        }
    }
    bool is_open() const { return f != nullptr; }
    void put(const void *data, size_t bytes) { good = good && (bytes == 0 || fwrite(data, bytes, 1, f) == 1); }
    template <typename T>
    void put(T value) {
        put(&value, sizeof(value));
    }
    bool close() {
        good = f && fclose(f) == 0 && good;
        f = nullptr;
        return good;
    }
};

/// What is written: at most four dimensions, missing ones of extent 1.
struct Image {
    const halide_buffer_t *buf;
    int extent[max_dims];
    int64_t stride[max_dims];
    int bytes;
    uint64_t elements;

    explicit Image(const halide_buffer_t *buf) : buf(buf), bytes(buf->type.bytes()), elements(1) {
        for (int d = 0; d < max_dims; d++) {
            extent[d] = d < buf->dimensions ? buf->dim[d].extent : 1;
            stride[d] = d < buf->dimensions ? (int64_t)buf->dim[d].stride * bytes : 0;
            elements *= extent[d];
        }
    }

    /// Planar, dimension 0 innermost.
    void write_elements(File &f) const {
        char row[4096];
        size_t used = 0;
        for (int w = 0; w < extent[3]; w++) {
            for (int z = 0; z < extent[2]; z++) {
                for (int y = 0; y < extent[1]; y++) {
                    const uint8_t *p = buf->host + w * stride[3] + z * stride[2] + y * stride[1];
                    for (int x = 0; x < extent[0]; x++, p += stride[0]) {
                        if (used + bytes > sizeof(row)) {
                            f.put(row, used);
                            used = 0;
                        }
                        memcpy(row + used, p, bytes);
                        used += bytes;
                    }
                }
            }
        }
        f.put(row, used);
    }
};

bool has_extension(const char *name, const char *extension) {
    const size_t n = strlen(name), e = strlen(extension);
    return n >= e && strcmp(name + n - e, extension) == 0;
}

/// Index of the type among float32, float64, uint8, int8, uint16, int16, uint32, int32, uint64, int64; -1 for others.
int standard_type(halide_type_t t) {
    if (t.code == halide_type_float) {
        return t.bits == 32 ? 0 : t.bits == 64 ? 1 : -1;
    }
    if (t.code != halide_type_int && t.code != halide_type_uint) {
        return -1;
    }
    const int is_signed = t.code == halide_type_int;
    switch (t.bytes()) {
    case 1:
        return 2 + is_signed;
    case 2:
        return 4 + is_signed;
    case 4:
        return 6 + is_signed;
    case 8:
        return 8 + is_signed;
    }
    return -1;
}

/// Five int32: the extents and the type; then the elements.
bool write_tmp(File &f, const Image &image) {
    for (int e : image.extent) {
        f.put<int32_t>(e);
    }
    f.put<int32_t>(standard_type(image.buf->type));
    image.write_elements(f);
    return true;
}

/// MATLAB 5.0 MAT-file format, one variable named like the file. Elements are tagged (type, bytes), padded to 8 bytes.
bool write_mat(File &f, const Image &image, const char *filename) {
    static const uint8_t class_codes[] = {7, 6, 9, 8, 11, 10, 13, 12, 15, 14};
    static const uint8_t data_codes[] = {7, 9, 2, 1, 4, 3, 6, 5, 13, 12};
    constexpr uint32_t mi_int8 = 1, mi_int32 = 5, mi_uint32 = 6, mi_matrix = 14;
    const int type = standard_type(image.buf->type);

    char name[64];
    uint32_t name_bytes = 0;
    const char *base = filename;
    for (const char *c = filename; *c; c++) {
        base = *c == '/' || *c == '\\' ? c + 1 : base;
    }
    for (const char *c = base; *c && *c != '.' && name_bytes < 60; c++) {
        const bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z');
        const bool other = (*c >= '0' && *c <= '9') || *c == '_';
        if (name_bytes == 0 && !letter) {
            name[name_bytes++] = 'v';
        }
        name[name_bytes++] = letter || other ? *c : '_';
    }
    if (name_bytes == 0) {
        name[name_bytes++] = 'v';
    }
    const uint32_t name_padded = (name_bytes + 7) & ~7u;
    const int dims = image.buf->dimensions < 2 ? 2 : image.buf->dimensions;
    const uint32_t dims_padded = (dims * 4 + 7) & ~7u;
    const uint64_t payload = image.elements * image.bytes, padded = (payload + 7) & ~7ull;
    const uint64_t matrix_bytes = 16 + 8 + dims_padded + 8 + name_padded + 8 + padded;
    if (matrix_bytes > UINT32_MAX) {
        return false;
    }

    char header[128];
    memset(header, ' ', 124);
    static const char text[] = "MATLAB 5.0 MAT-file, produced by Halide";
    memcpy(header, text, sizeof(text) - 1);
    const uint16_t version = 0x0100, endian = 'M' << 8 | 'I';
    memcpy(header + 124, &version, 2);
    memcpy(header + 126, &endian, 2);
    f.put(header, sizeof(header));

    const char zeros[8] = {0};
    f.put<uint32_t>(mi_matrix);
    f.put<uint32_t>((uint32_t)matrix_bytes);
    f.put<uint32_t>(mi_uint32);
    f.put<uint32_t>(8);
    f.put<uint32_t>(class_codes[type]);
    f.put<uint32_t>(0);
    f.put<uint32_t>(mi_int32);
    f.put<uint32_t>(dims * 4);
    for (int d = 0; d < dims; d++) {
        f.put<int32_t>(image.extent[d]);
    }
    f.put(zeros, dims_padded - dims * 4);
    f.put<uint32_t>(mi_int8);
    f.put<uint32_t>(name_bytes);
    f.put(name, name_bytes);
    f.put(zeros, name_padded - name_bytes);
    f.put<uint32_t>(data_codes[type]);
    f.put<uint32_t>((uint32_t)payload);
    image.write_elements(f);
    f.put(zeros, (size_t)(padded - payload));
    return true;
}

/// TIFF 6.0, little or big endian as the machine is. Dimension 2 is the samples of a pixel, stored plane by plane;
/// each index of dimension 3 is a page.
bool write_tiff(File &f, const Image &image) {
    struct Entry {
        uint16_t tag, type;
        uint32_t count, value;
    };
    constexpr uint16_t is_short = 3, is_long = 4;
    const uint32_t width = image.extent[0], height = image.extent[1], samples = image.extent[2],
                   pages = image.extent[3];
    const uint64_t plane = (uint64_t)width * height * image.bytes;
    constexpr uint32_t num_entries = 13;
    // Behind each directory: bits per sample, sample formats, extra samples, strip offsets, strip sizes.
    const uint32_t shorts = 2 * ((3 * samples + 1) & ~1u), tables = shorts + 8 * samples;
    const uint64_t directory = 2 + num_entries * 12 + 4 + tables;
    const uint64_t first_plane = 8 + pages * directory;
    if (samples == 0 || samples > UINT16_MAX || first_plane + pages * samples * plane > UINT32_MAX) {
        return false;
    }
    const uint32_t format = image.buf->type.code == halide_type_float ? 3
                            : image.buf->type.code == halide_type_int ? 2
                                                                      : 1;
    const uint32_t bits = image.bytes * 8;
    const bool rgb = samples == 3 || samples == 4;
    const uint32_t extra = rgb ? samples - 3 : samples - 1;

    const uint16_t one = 1;
    f.put(*(const uint8_t *)&one ? "II" : "MM", 2);
    f.put<uint16_t>(42);
    f.put<uint32_t>(8);
    for (uint32_t page = 0; page < pages; page++) {
        const uint32_t start = 8 + page * (uint32_t)directory;
        const uint32_t at_bits = start + 2 + num_entries * 12 + 4, at_formats = at_bits + 2 * samples;
        const uint32_t at_extra = at_formats + 2 * samples;
        const uint32_t at_offsets = at_bits + shorts, at_sizes = at_offsets + 4 * samples;
        const uint32_t page_data = (uint32_t)(first_plane + page * samples * plane);
        // A short value stands in the first half of the field; in big endian that is the upper one.
        const auto one_short = [&](uint32_t v) { return *(const uint8_t *)&one ? v : v << 16; };
        const auto shorts_or_offset = [&](uint32_t n, uint32_t v, uint32_t offset) {
            return n == 1 ? one_short(v) : n == 2 ? v | v << 16 : offset;
        };
        const Entry entries[num_entries] = {
            {256, is_long, 1, width},
            {257, is_long, 1, height},
            {258, is_short, samples, shorts_or_offset(samples, bits, at_bits)},
            {259, is_short, 1, one_short(1)},            // not compressed
            {262, is_short, 1, one_short(rgb ? 2 : 1)},  // RGB, or 0 is black
            {273, is_long, samples, samples == 1 ? page_data : at_offsets},
            {274, is_short, 1, one_short(1)},  // first row on top
            {277, is_short, 1, one_short(samples)},
            {278, is_long, 1, height},  // one strip per plane
            {279, is_long, samples, samples == 1 ? (uint32_t)plane : at_sizes},
            {284, is_short, 1, one_short(samples == 1 ? 1 : 2)},  // planes
            {338, is_short, extra, shorts_or_offset(extra, 0, at_extra)},
            {339, is_short, samples, shorts_or_offset(samples, format, at_formats)},
        };
        const uint16_t used = extra == 0 ? num_entries - 1 : num_entries;
        f.put<uint16_t>(used);
        for (const Entry &e : entries) {
            if (e.count != 0) {
                f.put(&e, sizeof(e));
            }
        }
        f.put<uint32_t>(page + 1 < pages ? start + (uint32_t)directory : 0);
        if (extra == 0) {
            f.put("\0\0\0\0\0\0\0\0\0\0\0\0", 12);  // the entry that is not there
        }
        for (uint32_t i = 0; i < samples; i++) {
            f.put<uint16_t>((uint16_t)bits);
        }
        for (uint32_t i = 0; i < samples; i++) {
            f.put<uint16_t>((uint16_t)format);
        }
        for (uint32_t i = 2 * samples; i < shorts / 2; i++) {
            f.put<uint16_t>(0);
        }
        for (uint32_t i = 0; i < samples; i++) {
            f.put<uint32_t>((uint32_t)(page_data + i * plane));
        }
        for (uint32_t i = 0; i < samples; i++) {
            f.put<uint32_t>((uint32_t)plane);
        }
    }
    image.write_elements(f);
    return true;
}

int fail(void *user_context, const char *filename, const char *why) {
    Text t;
    t << "debug_to_file: " << filename << ": " << why;
    halide_error(user_context, t.str());
    return halide_error_code_debug_to_file_failed;
}

}  // namespace

extern "C" WEAK int32_t halide_debug_to_file(void *user_context, const char *filename, halide_buffer_t *buf) {
    if (buf->is_bounds_query()) {
        return fail(user_context, filename, "the buffer is a bounds query");
    }
    if (buf->dimensions > max_dims) {
        return fail(user_context, filename, "the buffer has more than four dimensions");
    }
    if (const int r = halide_copy_to_host(user_context, buf)) {
        return r;
    }
    if (!buf->host) {
        return fail(user_context, filename, "the buffer has no host memory");
    }
    const bool tmp = has_extension(filename, ".tmp"), mat = has_extension(filename, ".mat");
    const bool tiff = has_extension(filename, ".tiff") || has_extension(filename, ".tif");
    if (!tmp && !mat && !tiff) {
        return fail(user_context, filename, "the extension must be .tiff, .tif, .mat or .tmp");
    }
    const bool half = buf->type.code == halide_type_float && buf->type.bits == 16;
    if (standard_type(buf->type) < 0 && !(tiff && half)) {
        return fail(user_context, filename, "this format has no such element type");
    }
    File f(filename);
    if (!f.is_open()) {
        return fail(user_context, filename, "the file could not be opened for writing");
    }
    const Image image(buf);
    const bool fits = tmp ? write_tmp(f, image) : mat ? write_mat(f, image, filename) : write_tiff(f, image);
    if (!f.close() || !fits) {
        remove(filename);
        return fail(user_context, filename, fits ? "writing failed" : "the buffer is too large for this format");
    }
    return 0;
}
