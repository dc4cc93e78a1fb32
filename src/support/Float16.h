#pragma once

#include <cstdint>
#include <string>

#include "runtime/HalideRuntime.h"

namespace Halide {

/// IEEE 754 binary16. A storage format with arithmetic: each operation is done in float and rounded to nearest even.
struct float16_t {
    static constexpr int mantissa_bits = 10;
    static constexpr uint16_t sign_mask = 0x8000;
    static constexpr uint16_t exponent_mask = 0x7c00;
    static constexpr uint16_t mantissa_mask = 0x03ff;

    float16_t() = default;
    explicit float16_t(float value);
    explicit float16_t(double value);
    explicit float16_t(int value);
    explicit float16_t(int64_t value);
    explicit float16_t(uint64_t value);
#ifdef HALIDE_CPP_COMPILER_HAS_FLOAT16
    explicit float16_t(_Float16 value)
        : float16_t((float)value) {
    }
    explicit operator _Float16() const {
        return (_Float16)(float)*this;
    }
#endif

    explicit operator float() const;
    explicit operator double() const;
    explicit operator int() const;

    static float16_t make_zero();
    static float16_t make_negative_zero();
    static float16_t make_infinity();
    static float16_t make_negative_infinity();
    static float16_t make_nan();
    static float16_t make_from_bits(uint16_t bits);

    float16_t operator-() const;
    float16_t operator+(float16_t rhs) const;
    float16_t operator-(float16_t rhs) const;
    float16_t operator*(float16_t rhs) const;
    float16_t operator/(float16_t rhs) const;
    float16_t &operator+=(float16_t rhs);
    float16_t &operator-=(float16_t rhs);
    float16_t &operator*=(float16_t rhs);
    float16_t &operator/=(float16_t rhs);

    bool operator==(float16_t rhs) const;
    bool operator!=(float16_t rhs) const;
    bool operator>(float16_t rhs) const;
    bool operator<(float16_t rhs) const;
    bool operator>=(float16_t rhs) const;
    bool operator<=(float16_t rhs) const;

    bool is_nan() const;
    bool is_infinity() const;
    bool is_negative() const;
    bool is_zero() const;
    uint16_t to_bits() const;

private:
    uint16_t data = 0;
};
static_assert(sizeof(float16_t) == 2, "float16_t must be two bytes");

/// The upper half of an IEEE 754 binary32. Arithmetic as for float16_t.
struct bfloat16_t {
    static constexpr int mantissa_bits = 7;
    static constexpr uint16_t sign_mask = 0x8000;
    static constexpr uint16_t exponent_mask = 0x7f80;
    static constexpr uint16_t mantissa_mask = 0x007f;

    static const bfloat16_t zero, negative_zero, infinity, negative_infinity, nan;

    bfloat16_t() = default;
    explicit bfloat16_t(float value);
    explicit bfloat16_t(double value);
    explicit bfloat16_t(int value);
    explicit bfloat16_t(int64_t value);
    explicit bfloat16_t(uint64_t value);

    explicit operator float() const;
    explicit operator double() const;
    explicit operator int() const;

    static bfloat16_t make_zero();
    static bfloat16_t make_negative_zero();
    static bfloat16_t make_infinity();
    static bfloat16_t make_negative_infinity();
    static bfloat16_t make_nan();
    static bfloat16_t make_from_bits(uint16_t bits);

    bfloat16_t operator-() const;
    bfloat16_t operator+(bfloat16_t rhs) const;
    bfloat16_t operator-(bfloat16_t rhs) const;
    bfloat16_t operator*(bfloat16_t rhs) const;
    bfloat16_t operator/(bfloat16_t rhs) const;
    bfloat16_t &operator+=(bfloat16_t rhs);
    bfloat16_t &operator-=(bfloat16_t rhs);
    bfloat16_t &operator*=(bfloat16_t rhs);
    bfloat16_t &operator/=(bfloat16_t rhs);

    bool operator==(bfloat16_t rhs) const;
    bool operator!=(bfloat16_t rhs) const;
    bool operator>(bfloat16_t rhs) const;
    bool operator<(bfloat16_t rhs) const;
    bool operator>=(bfloat16_t rhs) const;
    bool operator<=(bfloat16_t rhs) const;

    bool is_nan() const;
    bool is_infinity() const;
    bool is_negative() const;
    bool is_zero() const;
    uint16_t to_bits() const;

private:
    uint16_t data = 0;
};
static_assert(sizeof(bfloat16_t) == 2, "bfloat16_t must be two bytes");

}  // namespace Halide

template<>
HALIDE_ALWAYS_INLINE constexpr halide_type_t halide_type_of<Halide::float16_t>() {
    return halide_type_t(halide_type_float, 16);
}

template<>
HALIDE_ALWAYS_INLINE constexpr halide_type_t halide_type_of<Halide::bfloat16_t>() {
    return halide_type_t(halide_type_bfloat, 16);
}
