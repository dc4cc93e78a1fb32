#pragma once

#include <cstdint>
#include <iosfwd>

namespace Halide {
namespace Internal {

/// "The value is `remainder` modulo `modulus`". A modulus of 1 says nothing; a modulus of 0 says that the value is
/// exactly `remainder`.
struct ModulusRemainder {
    int64_t modulus = 1, remainder = 0;

    ModulusRemainder() = default;
    ModulusRemainder(int64_t modulus, int64_t remainder)
        : modulus(modulus), remainder(remainder) {
    }

    /// The strongest fact that follows from either of two.
    static ModulusRemainder unify(const ModulusRemainder &a, const ModulusRemainder &b);
    /// The strongest fact that follows from both of two.
    static ModulusRemainder intersect(const ModulusRemainder &a, const ModulusRemainder &b);

    bool operator==(const ModulusRemainder &other) const {
        return modulus == other.modulus && remainder == other.remainder;
    }
    bool operator!=(const ModulusRemainder &other) const {
        return !(*this == other);
    }
    bool operator<(const ModulusRemainder &other) const {
        return modulus != other.modulus ? modulus < other.modulus : remainder < other.remainder;
    }
};

ModulusRemainder operator+(const ModulusRemainder &a, const ModulusRemainder &b);
ModulusRemainder operator-(const ModulusRemainder &a, const ModulusRemainder &b);
ModulusRemainder operator*(const ModulusRemainder &a, const ModulusRemainder &b);
ModulusRemainder operator/(const ModulusRemainder &a, const ModulusRemainder &b);
ModulusRemainder operator%(const ModulusRemainder &a, const ModulusRemainder &b);

ModulusRemainder operator+(const ModulusRemainder &a, int64_t b);
ModulusRemainder operator-(const ModulusRemainder &a, int64_t b);
ModulusRemainder operator*(const ModulusRemainder &a, int64_t b);
ModulusRemainder operator/(const ModulusRemainder &a, int64_t b);
ModulusRemainder operator%(const ModulusRemainder &a, int64_t b);

std::ostream &operator<<(std::ostream &stream, const ModulusRemainder &m);

}  // namespace Internal
}  // namespace Halide
