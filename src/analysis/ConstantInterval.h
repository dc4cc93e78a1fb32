#pragma once

#include "ir/Type.h"

#include <cstdint>
#include <ostream>

namespace Halide {
namespace Internal {

/// A set of consecutive integers with ends in int64, each of which may be absent (unbounded).
///
/// Arithmetic is that of exact integers: an end that leaves int64 becomes unbounded, so results always contain
/// every value that the operation can produce.
struct ConstantInterval {
    int64_t min = 0, max = 0;
    bool min_defined = false, max_defined = false;

    ConstantInterval() = default;
    ConstantInterval(int64_t min, int64_t max);

    static ConstantInterval everything();
    static ConstantInterval single_point(int64_t x);
    static ConstantInterval bounded_below(int64_t min);
    static ConstantInterval bounded_above(int64_t max);

    bool is_everything() const;
    bool is_single_point() const;
    bool is_single_point(int64_t x) const;
    bool is_bounded() const;

    /// Grows the interval just enough to hold `x`.
    void include(const ConstantInterval &x);
    void include(int64_t x);

    /// Whether every value of the argument is inside. Values above int64 are inside only if there is no upper end.
    bool contains(int32_t x) const;
    bool contains(int64_t x) const;
    bool contains(uint64_t x) const;
    bool contains(const ConstantInterval &x) const;

    static ConstantInterval make_union(const ConstantInterval &a, const ConstantInterval &b);
    /// The common part; if there is none, an inverted interval (min > max).
    static ConstantInterval make_intersection(const ConstantInterval &a, const ConstantInterval &b);

    bool operator==(const ConstantInterval &other) const;
    bool operator!=(const ConstantInterval &other) const {
        return !(*this == other);
    }

    void operator+=(const ConstantInterval &other);
    void operator+=(int64_t x);
    void operator-=(const ConstantInterval &other);
    void operator-=(int64_t x);
    void operator*=(const ConstantInterval &other);
    void operator*=(int64_t x);
    void operator/=(const ConstantInterval &other);
    void operator/=(int64_t x);
    void operator%=(const ConstantInterval &other);
    void operator%=(int64_t x);

    ConstantInterval operator-() const;
    ConstantInterval operator+(const ConstantInterval &other) const;
    ConstantInterval operator+(int64_t x) const;
    ConstantInterval operator-(const ConstantInterval &other) const;
    ConstantInterval operator-(int64_t x) const;
    ConstantInterval operator*(const ConstantInterval &other) const;
    ConstantInterval operator*(int64_t x) const;
    ConstantInterval operator/(const ConstantInterval &other) const;
    ConstantInterval operator/(int64_t x) const;
    ConstantInterval operator%(const ConstantInterval &other) const;
    ConstantInterval operator%(int64_t x) const;

    /// Restricts to a type: the interval itself if the type holds all of it, otherwise what a wrapping cast can give.
    void cast_to(const Type &t);
    static ConstantInterval bounds_of_type(Type);
};

ConstantInterval cast(Type t, const ConstantInterval &a);
ConstantInterval saturating_cast(Type t, const ConstantInterval &a);
ConstantInterval min(const ConstantInterval &a, const ConstantInterval &b);
ConstantInterval min(const ConstantInterval &a, int64_t b);
ConstantInterval max(const ConstantInterval &a, const ConstantInterval &b);
ConstantInterval max(const ConstantInterval &a, int64_t b);
ConstantInterval abs(const ConstantInterval &a);
ConstantInterval operator<<(const ConstantInterval &a, const ConstantInterval &b);
ConstantInterval operator<<(const ConstantInterval &a, int64_t b);
ConstantInterval operator<<(int64_t a, const ConstantInterval &b);
ConstantInterval operator>>(const ConstantInterval &a, const ConstantInterval &b);
ConstantInterval operator>>(const ConstantInterval &a, int64_t b);
ConstantInterval operator>>(int64_t a, const ConstantInterval &b);

/// Comparisons hold if they hold for every pair of values.
bool operator<=(const ConstantInterval &a, const ConstantInterval &b);
bool operator<=(const ConstantInterval &a, int64_t b);
bool operator<=(int64_t a, const ConstantInterval &b);
bool operator<(const ConstantInterval &a, const ConstantInterval &b);
bool operator<(const ConstantInterval &a, int64_t b);
bool operator<(int64_t a, const ConstantInterval &b);

inline bool operator>=(const ConstantInterval &a, const ConstantInterval &b) {
    return b <= a;
}
inline bool operator>(const ConstantInterval &a, const ConstantInterval &b) {
    return b < a;
}
inline bool operator>=(const ConstantInterval &a, int64_t b) {
    return b <= a;
}
inline bool operator>(const ConstantInterval &a, int64_t b) {
    return b < a;
}
inline bool operator>=(int64_t a, const ConstantInterval &b) {
    return b <= a;
}
inline bool operator>(int64_t a, const ConstantInterval &b) {
    return b < a;
}

std::ostream &operator<<(std::ostream &s, const ConstantInterval &i);

}  // namespace Internal
}  // namespace Halide
