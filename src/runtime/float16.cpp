#include "runtime_internal.h"

namespace {

// The bits of the float32 of the same value.
uint32_t widen(uint16_t h) {
    const uint32_t sign = (uint32_t)(h & 0x8000) << 16;
    uint32_t exponent = (h >> 10) & 31, mantissa = h & 0x3ff;
    if (exponent == 31) {
        return sign | 0x7f800000 | (mantissa << 13);
    }
    if (exponent == 0) {
        if (mantissa == 0) {
            return sign;
        }
        // Subnormal: shift the leading one to where it is implied.
        exponent = 1;
        while (!(mantissa & 0x400)) {
            mantissa <<= 1;
            exponent--;
        }
        mantissa &= 0x3ff;
    }
    return sign | ((exponent + 112) << 23) | (mantissa << 13);
}

}  // namespace

extern "C" {

WEAK float halide_float16_bits_to_float(uint16_t bits) {
    const uint32_t wide = widen(bits);
    float f;
    memcpy(&f, &wide, sizeof(f));
    return f;
}

WEAK double halide_float16_bits_to_double(uint16_t bits) {
    return (double)halide_float16_bits_to_float(bits);
}

}  // extern "C"
