#include "support/Float16.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace Halide {

namespace {

/// A binary format of 16 bits with a sign, so many mantissa bits, and an exponent in between.
struct Format {
    int mantissa_bits;

    int exponent_bits() const {
        return 15 - mantissa_bits;
    }
    int bias() const {
        return (1 << (exponent_bits() - 1)) - 1;
    }
    uint16_t exponent_mask() const {
        return (uint16_t)(0x7fff & ~((1 << mantissa_bits) - 1));
    }
    uint16_t quiet_nan() const {
        return (uint16_t)(exponent_mask() | (1 << (mantissa_bits - 1)));
    }
};

constexpr Format half{float16_t::mantissa_bits};
constexpr Format brain{bfloat16_t::mantissa_bits};

/// ±significand · 2^exponent, rounded once to nearest even.
uint16_t encode(const Format &f, bool negative, uint64_t significand, int exponent) {
    const uint16_t sign = negative ? 0x8000 : 0;
    if (significand == 0) {
        return sign;
    }
    const int smallest_exponent = 1 - f.bias();
    const int leading = exponent + 63 - __builtin_clzll(significand);
    const int binade = leading > smallest_exponent ? leading : smallest_exponent;
    if (binade > f.bias()) {
        return sign | f.exponent_mask();
    }
    // The last place of the result is worth 2^(binade − mantissa_bits).
    const int dropped = binade - f.mantissa_bits - exponent;
    uint64_t quotient = 0;
    if (dropped <= 0) {
        quotient = significand << -dropped;
    } else if (dropped <= 64) {
        quotient = dropped == 64 ? 0 : significand >> dropped;
        const uint64_t rest = significand << (64 - dropped);
        const uint64_t tie = (uint64_t)1 << 63;
        if (rest > tie || (rest == tie && (quotient & 1))) {
            quotient++;
        }
    }
    // The leading one of a normal number adds one to the exponent field, a carry out of the mantissa another.
    const uint64_t bits = ((uint64_t)(binade - smallest_exponent) << f.mantissa_bits) + quotient;
    return sign | (bits >= f.exponent_mask() ? f.exponent_mask() : (uint16_t)bits);
}

uint16_t encode(const Format &f, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    const bool negative = bits >> 63;
    const int exponent = (int)(bits >> 52) & 0x7ff;
    const uint64_t mantissa = bits & 0x000fffffffffffff;
    if (exponent == 0x7ff) {
        return (uint16_t)((negative ? 0x8000 : 0) | (mantissa ? f.quiet_nan() : f.exponent_mask()));
    }
    return exponent == 0 ? encode(f, negative, mantissa, -1074) :
                           encode(f, negative, mantissa | ((uint64_t)1 << 52), exponent - 1075);
}

uint16_t encode(const Format &f, int64_t value) {
    return encode(f, value < 0, value < 0 ? (uint64_t)0 - (uint64_t)value : (uint64_t)value, 0);
}

/// Exact: every value of either format is a float.
float decode(const Format &f, uint16_t bits) {
    const int exponent = (bits & f.exponent_mask()) >> f.mantissa_bits;
    const int mantissa = bits & ((1 << f.mantissa_bits) - 1);
    const bool special = exponent == (1 << f.exponent_bits()) - 1;
    float magnitude;
    if (special) {
        magnitude = mantissa ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity();
    } else if (exponent == 0) {
        magnitude = std::ldexp((float)mantissa, 1 - f.bias() - f.mantissa_bits);
    } else {
        magnitude = std::ldexp((float)(mantissa | (1 << f.mantissa_bits)), exponent - f.bias() - f.mantissa_bits);
    }
    return std::copysign(magnitude, bits & 0x8000 ? -1.0f : 1.0f);
}

}  // namespace

float16_t::float16_t(float value)
    : data(encode(half, (double)value)) {
}
float16_t::float16_t(double value)
    : data(encode(half, value)) {
}
float16_t::float16_t(int value)
    : data(encode(half, (int64_t)value)) {
}
float16_t::float16_t(int64_t value)
    : data(encode(half, value)) {
}
float16_t::float16_t(uint64_t value)
    : data(encode(half, false, value, 0)) {
}
float16_t::operator float() const {
    return decode(half, data);
}
float16_t::operator double() const {
    return decode(half, data);
}
float16_t::operator int() const {
    return (int)decode(half, data);
}

bfloat16_t::bfloat16_t(float value)
    : data(encode(brain, (double)value)) {
}
bfloat16_t::bfloat16_t(double value)
    : data(encode(brain, value)) {
}
bfloat16_t::bfloat16_t(int value)
    : data(encode(brain, (int64_t)value)) {
}
bfloat16_t::bfloat16_t(int64_t value)
    : data(encode(brain, value)) {
}
bfloat16_t::bfloat16_t(uint64_t value)
    : data(encode(brain, false, value, 0)) {
}
bfloat16_t::operator float() const {
    return decode(brain, data);
}
bfloat16_t::operator double() const {
    return decode(brain, data);
}
bfloat16_t::operator int() const {
    return (int)decode(brain, data);
}

// The two classes differ in their format only.

float16_t float16_t::make_zero() {
    return make_from_bits(0);
}
float16_t float16_t::make_negative_zero() {
    return make_from_bits(sign_mask);
}
float16_t float16_t::make_infinity() {
    return make_from_bits(exponent_mask);
}
float16_t float16_t::make_negative_infinity() {
    return make_from_bits(sign_mask | exponent_mask);
}
float16_t float16_t::make_nan() {
    return make_from_bits(half.quiet_nan());
}
float16_t float16_t::make_from_bits(uint16_t bits) {
    float16_t f;
    f.data = bits;
    return f;
}
float16_t float16_t::operator-() const {
    return make_from_bits(data ^ sign_mask);
}
float16_t float16_t::operator+(float16_t rhs) const {
    return float16_t((float)*this + (float)rhs);
}
float16_t &float16_t::operator+=(float16_t rhs) {
    return *this = *this + rhs;
}
float16_t float16_t::operator-(float16_t rhs) const {
    return float16_t((float)*this - (float)rhs);
}
float16_t &float16_t::operator-=(float16_t rhs) {
    return *this = *this - rhs;
}
float16_t float16_t::operator*(float16_t rhs) const {
    return float16_t((float)*this * (float)rhs);
}
float16_t &float16_t::operator*=(float16_t rhs) {
    return *this = *this * rhs;
}
float16_t float16_t::operator/(float16_t rhs) const {
    return float16_t((float)*this / (float)rhs);
}
float16_t &float16_t::operator/=(float16_t rhs) {
    return *this = *this / rhs;
}
bool float16_t::operator==(float16_t rhs) const {
    return (float)*this == (float)rhs;
}
bool float16_t::operator!=(float16_t rhs) const {
    return (float)*this != (float)rhs;
}
bool float16_t::operator>(float16_t rhs) const {
    return (float)*this > (float)rhs;
}
bool float16_t::operator<(float16_t rhs) const {
    return (float)*this < (float)rhs;
}
bool float16_t::operator>=(float16_t rhs) const {
    return (float)*this >= (float)rhs;
}
bool float16_t::operator<=(float16_t rhs) const {
    return (float)*this <= (float)rhs;
}
bool float16_t::is_nan() const {
    return (data & exponent_mask) == exponent_mask && (data & mantissa_mask) != 0;
}
bool float16_t::is_infinity() const {
    return (data & ~sign_mask) == exponent_mask;
}
bool float16_t::is_negative() const {
    return data & sign_mask;
}
bool float16_t::is_zero() const {
    return (data & ~sign_mask) == 0;
}
uint16_t float16_t::to_bits() const {
    return data;
}

bfloat16_t bfloat16_t::make_zero() {
    return make_from_bits(0);
}
bfloat16_t bfloat16_t::make_negative_zero() {
    return make_from_bits(sign_mask);
}
bfloat16_t bfloat16_t::make_infinity() {
    return make_from_bits(exponent_mask);
}
bfloat16_t bfloat16_t::make_negative_infinity() {
    return make_from_bits(sign_mask | exponent_mask);
}
bfloat16_t bfloat16_t::make_nan() {
    return make_from_bits(brain.quiet_nan());
}
bfloat16_t bfloat16_t::make_from_bits(uint16_t bits) {
    bfloat16_t f;
    f.data = bits;
    return f;
}
bfloat16_t bfloat16_t::operator-() const {
    return make_from_bits(data ^ sign_mask);
}
bfloat16_t bfloat16_t::operator+(bfloat16_t rhs) const {
    return bfloat16_t((float)*this + (float)rhs);
}
bfloat16_t &bfloat16_t::operator+=(bfloat16_t rhs) {
    return *this = *this + rhs;
}
bfloat16_t bfloat16_t::operator-(bfloat16_t rhs) const {
    return bfloat16_t((float)*this - (float)rhs);
}
bfloat16_t &bfloat16_t::operator-=(bfloat16_t rhs) {
    return *this = *this - rhs;
}
bfloat16_t bfloat16_t::operator*(bfloat16_t rhs) const {
    return bfloat16_t((float)*this * (float)rhs);
}
bfloat16_t &bfloat16_t::operator*=(bfloat16_t rhs) {
    return *this = *this * rhs;
}
bfloat16_t bfloat16_t::operator/(bfloat16_t rhs) const {
    return bfloat16_t((float)*this / (float)rhs);
}
bfloat16_t &bfloat16_t::operator/=(bfloat16_t rhs) {
    return *this = *this / rhs;
}
bool bfloat16_t::operator==(bfloat16_t rhs) const {
    return (float)*this == (float)rhs;
}
bool bfloat16_t::operator!=(bfloat16_t rhs) const {
    return (float)*this != (float)rhs;
}
bool bfloat16_t::operator>(bfloat16_t rhs) const {
    return (float)*this > (float)rhs;
}
bool bfloat16_t::operator<(bfloat16_t rhs) const {
    return (float)*this < (float)rhs;
}
bool bfloat16_t::operator>=(bfloat16_t rhs) const {
    return (float)*this >= (float)rhs;
}
bool bfloat16_t::operator<=(bfloat16_t rhs) const {
    return (float)*this <= (float)rhs;
}
bool bfloat16_t::is_nan() const {
    return (data & exponent_mask) == exponent_mask && (data & mantissa_mask) != 0;
}
bool bfloat16_t::is_infinity() const {
    return (data & ~sign_mask) == exponent_mask;
}
bool bfloat16_t::is_negative() const {
    return data & sign_mask;
}
bool bfloat16_t::is_zero() const {
    return (data & ~sign_mask) == 0;
}
uint16_t bfloat16_t::to_bits() const {
    return data;
}

const bfloat16_t bfloat16_t::zero = make_zero();
const bfloat16_t bfloat16_t::negative_zero = make_negative_zero();
const bfloat16_t bfloat16_t::infinity = make_infinity();
const bfloat16_t bfloat16_t::negative_infinity = make_negative_infinity();
const bfloat16_t bfloat16_t::nan = make_nan();

}  // namespace Halide
