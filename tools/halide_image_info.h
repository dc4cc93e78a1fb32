// Text about images: their shape, and for small ones their elements.
#ifndef HALIDE_IMAGE_INFO_H
#define HALIDE_IMAGE_INFO_H

#include <cstdio>
#include <iostream>
#include <ostream>
#include <sstream>
#include <string>

#include "HalideBuffer.h"

namespace Halide {
namespace Tools {

namespace ImageInfoInternal {

inline std::string type_text(halide_type_t t) {
    static const char *const names[] = {"int", "uint", "float", "handle", "bfloat"};
    return (t.code <= 4 ? names[t.code] : "unknown") + std::to_string((int)t.bits);
}

inline void print_element(std::ostream &out, halide_type_t t, const uint8_t *p) {
    const auto get = [p](auto v) {
        memcpy(&v, p, sizeof(v));
        return v;
    };
    if (t.code == halide_type_float && t.bits == 32) {
        out << get(0.f);
    } else if (t.code == halide_type_float && t.bits == 64) {
        out << get(0.0);
    } else if (t.code == halide_type_int && t.bytes() == 1) {
        out << (int)get((int8_t)0);
    } else if (t.code == halide_type_int && t.bytes() == 2) {
        out << get((int16_t)0);
    } else if (t.code == halide_type_int && t.bytes() == 4) {
        out << get((int32_t)0);
    } else if (t.code == halide_type_int && t.bytes() == 8) {
        out << get((int64_t)0);
    } else if (t.bytes() == 1) {
        out << (int)get((uint8_t)0);
    } else if (t.bytes() == 2) {
        out << get((uint16_t)0);
    } else if (t.bytes() == 4) {
        out << get((uint32_t)0);
    } else {
        out << get((uint64_t)0);
    }
}

inline void print_shape(std::ostream &out, const halide_buffer_t *b, const char *tag) {
    out << tag << ": " << type_text(b->type) << ", " << b->dimensions << " dimensions, " << b->number_of_elements()
        << " elements, " << b->size_in_bytes() << " bytes\n"
        << "  host " << (const void *)b->host << (b->host_dirty() ? ", host dirty" : "")
        << (b->device ? ", on a device" : "") << (b->device_dirty() ? ", device dirty" : "") << "\n";
    for (int d = 0; d < b->dimensions; d++) {
        out << "  dimension " << d << ": min " << b->dim[d].min << ", extent " << b->dim[d].extent << ", stride "
            << b->dim[d].stride << "\n";
    }
}

/// The elements, one row of dimension 0 on a line, with the other coordinates in front.
inline void print_elements(std::ostream &out, const halide_buffer_t *b, int d, const uint8_t *p, std::string where) {
    if (d < 0 || b->dimensions == 0) {
        out << "  ";
        print_element(out, b->type, p);
        out << "\n";
        return;
    }
    const ptrdiff_t stride = (ptrdiff_t)b->dim[d].stride * b->type.bytes();
    if (d == 0) {
        out << "  (_" << where << "):";
    }
    for (int i = 0; i < b->dim[d].extent; i++, p += stride) {
        if (d == 0) {
            out << " ";
            print_element(out, b->type, p);
        } else {
            print_elements(out, b, d - 1, p, ", " + std::to_string(b->dim[d].min + i) + where);
        }
    }
    if (d == 0) {
        out << "\n";
    }
}

}  // namespace ImageInfoInternal

/// Prints type, shape and state of an image to standard output.
template <typename ImageType>
void info(const ImageType &img, const char *tag = "Buffer") {
    ImageInfoInternal::print_shape(std::cout, img.raw_buffer(), tag);
    std::cout << std::flush;
}

/// Prints that and all elements.
template <typename ImageType>
void dump(const ImageType &img, const char *tag = "Buffer") {
    const halide_buffer_t *b = img.raw_buffer();
    ImageInfoInternal::print_shape(std::cout, b, tag);
    if (b->host) {
        ImageInfoInternal::print_elements(std::cout, b, b->dimensions - 1, b->host, "");
    }
    std::cout << std::flush;
}

}  // namespace Tools
}  // namespace Halide

#endif  // HALIDE_IMAGE_INFO_H
