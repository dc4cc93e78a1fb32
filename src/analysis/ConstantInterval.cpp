#include "analysis/ConstantInterval.h"

#include <algorithm>
#include <initializer_list>
#include <limits>

namespace Halide {
namespace Internal {

namespace {

// Ends as 128-bit numbers, with "absent" as a value no finite computation reaches: every operation below is then one
// function on numbers, evaluated at the corners of the box.
using Wide = __int128;
constexpr Wide infinity = Wide(1) << 120;
constexpr Wide int64_min = std::numeric_limits<int64_t>::min();
constexpr Wide int64_max = std::numeric_limits<int64_t>::max();

struct Ends {
    Wide lo, hi;
};

Ends ends(const ConstantInterval &i) {
    return {i.min_defined ? Wide(i.min) : -infinity, i.max_defined ? Wide(i.max) : infinity};
}

ConstantInterval interval(Wide lo, Wide hi) {
    ConstantInterval result;
    if (lo >= int64_min && lo <= int64_max) {
        result.min_defined = true;
        result.min = (int64_t)lo;
    } else if (lo > int64_max) {
        // Everything lies above int64: the best end that can be written.
        result.min_defined = true;
        result.min = (int64_t)int64_max;
    }
    if (hi >= int64_min && hi <= int64_max) {
        result.max_defined = true;
        result.max = (int64_t)hi;
    } else if (hi < int64_min) {
        result.max_defined = true;
        result.max = (int64_t)int64_min;
    }
    return result;
}

bool infinite(Wide x) {
    return x >= infinity || x <= -infinity;
}

Wide clamp_infinite(Wide x) {
    return std::min(std::max(x, -infinity), infinity);
}

Wide add(Wide a, Wide b) {
    if (infinite(a)) {
        return a;
    }
    return infinite(b) ? b : a + b;
}

Wide multiply(Wide a, Wide b) {
    if (a == 0 || b == 0) {
        return 0;
    }
    if (infinite(a) || infinite(b)) {
        return (a < 0) == (b < 0) ? infinity : -infinity;
    }
    return clamp_infinite(a * b);
}

// Euclidean; b ≠ 0.
Wide divide(Wide a, Wide b) {
    if (infinite(b)) {
        if (infinite(a)) {
            return (a < 0) == (b < 0) ? infinity : -infinity;
        }
        return a >= 0 ? 0 : (b > 0 ? -1 : 1);
    }
    if (infinite(a)) {
        return (a < 0) == (b < 0) ? infinity : -infinity;
    }
    Wide q = a / b;
    if (a % b < 0) {
        q += b > 0 ? -1 : 1;
    }
    return q;
}

Wide shift_left(Wide a, Wide b) {
    if (a == 0) {
        return 0;
    }
    if (b >= 0) {
        if (b >= 64 || infinite(a)) {
            return a > 0 ? infinity : -infinity;
        }
        return multiply(a, Wide(1) << (int)b);
    }
    return infinite(a) ? a : a >> (int)std::min(-b, Wide(126));
}

template<typename F>
Ends at_corners(const Ends &a, const Ends &b, F &&f) {
    Ends result{infinity, -infinity};
    for (Wide x : {a.lo, a.hi}) {
        for (Wide y : {b.lo, b.hi}) {
            const Wide v = f(x, y);
            result.lo = std::min(result.lo, v);
            result.hi = std::max(result.hi, v);
        }
    }
    return result;
}

void unite(Ends &a, const Ends &b) {
    a.lo = std::min(a.lo, b.lo);
    a.hi = std::max(a.hi, b.hi);
}

Ends type_ends(const Type &t) {
    if (t.is_int()) {
        return {-(Wide(1) << (t.bits() - 1)), (Wide(1) << (t.bits() - 1)) - 1};
    }
    if (t.is_uint()) {
        return {0, (Wide(1) << t.bits()) - 1};
    }
    return {-infinity, infinity};
}

}  // namespace

ConstantInterval::ConstantInterval(int64_t min, int64_t max)
    : min(min), max(max), min_defined(true), max_defined(true) {
}

ConstantInterval ConstantInterval::everything() {
    return ConstantInterval();
}

ConstantInterval ConstantInterval::single_point(int64_t x) {
    return ConstantInterval(x, x);
}

ConstantInterval ConstantInterval::bounded_below(int64_t min) {
    ConstantInterval result(min, 0);
    result.max_defined = false;
    return result;
}

ConstantInterval ConstantInterval::bounded_above(int64_t max) {
    ConstantInterval result(0, max);
    result.min_defined = false;
    return result;
}

bool ConstantInterval::is_everything() const {
    return !min_defined && !max_defined;
}

bool ConstantInterval::is_single_point() const {
    return is_bounded() && min == max;
}

bool ConstantInterval::is_single_point(int64_t x) const {
    return is_single_point() && min == x;
}

bool ConstantInterval::is_bounded() const {
    return min_defined && max_defined;
}

void ConstantInterval::include(const ConstantInterval &x) {
    *this = make_union(*this, x);
}

void ConstantInterval::include(int64_t x) {
    include(single_point(x));
}

bool ConstantInterval::contains(int32_t x) const {
    return contains((int64_t)x);
}

bool ConstantInterval::contains(int64_t x) const {
    return !(min_defined && x < min) && !(max_defined && x > max);
}

bool ConstantInterval::contains(uint64_t x) const {
    if (x > (uint64_t)std::numeric_limits<int64_t>::max()) {
        return !max_defined;
    }
    return contains((int64_t)x);
}

bool ConstantInterval::contains(const ConstantInterval &x) const {
    const Ends a = ends(*this), b = ends(x);
    return a.lo <= b.lo && b.hi <= a.hi;
}

ConstantInterval ConstantInterval::make_union(const ConstantInterval &a, const ConstantInterval &b) {
    Ends r = ends(a);
    unite(r, ends(b));
    return interval(r.lo, r.hi);
}

ConstantInterval ConstantInterval::make_intersection(const ConstantInterval &a, const ConstantInterval &b) {
    ConstantInterval r = a;
    if (b.min_defined && !(a.min_defined && a.min >= b.min)) {
        r.min = b.min;
        r.min_defined = true;
    }
    if (b.max_defined && !(a.max_defined && a.max <= b.max)) {
        r.max = b.max;
        r.max_defined = true;
    }
    return r;
}

bool ConstantInterval::operator==(const ConstantInterval &other) const {
    const Ends a = ends(*this), b = ends(other);
    return a.lo == b.lo && a.hi == b.hi;
}

void ConstantInterval::operator+=(const ConstantInterval &other) {
    int64_t low = 0, high = 0;
    const bool has_low = min_defined && other.min_defined, has_high = max_defined && other.max_defined;
    if (!(has_low && __builtin_add_overflow(min, other.min, &low)) &&
        !(has_high && __builtin_add_overflow(max, other.max, &high))) {
        min = low, max = high;
        min_defined = has_low, max_defined = has_high;
        return;
    }
    const Ends a = ends(*this), b = ends(other);
    *this = interval(add(a.lo, b.lo), add(a.hi, b.hi));
}

void ConstantInterval::operator-=(const ConstantInterval &other) {
    const Ends a = ends(*this), b = ends(other);
    *this = interval(add(a.lo, -b.hi), add(a.hi, -b.lo));
}

void ConstantInterval::operator*=(const ConstantInterval &other) {
    const bool ordered = !(min_defined && max_defined && min > max);
    if (other.is_single_point() && other.min != 0 && ordered) {
        const int64_t c = other.min;
        const bool rises = c > 0;
        const bool has_low = rises ? min_defined : max_defined, has_high = rises ? max_defined : min_defined;
        int64_t low = 0, high = 0;
        if (!(has_low && __builtin_mul_overflow(rises ? min : max, c, &low)) &&
            !(has_high && __builtin_mul_overflow(rises ? max : min, c, &high))) {
            min = low, max = high;
            min_defined = has_low, max_defined = has_high;
            return;
        }
    }
    const Ends r = at_corners(ends(*this), ends(other), multiply);
    *this = interval(r.lo, r.hi);
}

void ConstantInterval::operator/=(const ConstantInterval &other) {
    const Ends a = ends(*this), b = ends(other);
    Ends r{infinity, -infinity};
    // Between two divisors of one sign the quotient is monotonic in each argument.
    if (b.hi > 0) {
        unite(r, at_corners(a, {std::max(b.lo, Wide(1)), b.hi}, divide));
    }
    if (b.lo < 0) {
        unite(r, at_corners(a, {b.lo, std::min(b.hi, Wide(-1))}, divide));
    }
    if (b.lo <= 0 && b.hi >= 0) {
        unite(r, {0, 0});
    }
    *this = r.lo > r.hi ? everything() : interval(r.lo, r.hi);
}

void ConstantInterval::operator%=(const ConstantInterval &other) {
    const Ends a = ends(*this), b = ends(other);
    const Wide largest = std::max(b.hi, -b.lo);  // of |b|, as far as it matters
    const Wide smallest = b.lo > 0 ? b.lo : (b.hi < 0 ? -b.hi : 0);
    if (a.lo >= 0 && a.hi < smallest) {
        return;
    }
    if (b.lo == b.hi && b.lo != 0 && !infinite(a.lo) && !infinite(a.hi)) {
        const Wide q = divide(a.lo, b.lo);
        if (q == divide(a.hi, b.lo)) {
            *this = interval(a.lo - q * b.lo, a.hi - q * b.lo);
            return;
        }
    }
    Wide hi = infinite(largest) ? infinity : std::max(largest - 1, Wide(0));
    if (a.lo >= 0) {
        hi = std::min(hi, a.hi);
    }
    *this = interval(0, hi);
}

void ConstantInterval::operator+=(int64_t x) {
    *this += single_point(x);
}
void ConstantInterval::operator-=(int64_t x) {
    *this -= single_point(x);
}
void ConstantInterval::operator*=(int64_t x) {
    *this *= single_point(x);
}
void ConstantInterval::operator/=(int64_t x) {
    *this /= single_point(x);
}
void ConstantInterval::operator%=(int64_t x) {
    *this %= single_point(x);
}

ConstantInterval ConstantInterval::operator-() const {
    const Ends a = ends(*this);
    return interval(-a.hi, -a.lo);
}

ConstantInterval ConstantInterval::operator+(const ConstantInterval &other) const {
    ConstantInterval r = *this;
    r += other;
    return r;
}
ConstantInterval ConstantInterval::operator+(int64_t x) const {
    return *this + single_point(x);
}
ConstantInterval ConstantInterval::operator-(const ConstantInterval &other) const {
    ConstantInterval r = *this;
    r -= other;
    return r;
}
ConstantInterval ConstantInterval::operator-(int64_t x) const {
    return *this - single_point(x);
}
ConstantInterval ConstantInterval::operator*(const ConstantInterval &other) const {
    ConstantInterval r = *this;
    r *= other;
    return r;
}
ConstantInterval ConstantInterval::operator*(int64_t x) const {
    return *this * single_point(x);
}
ConstantInterval ConstantInterval::operator/(const ConstantInterval &other) const {
    ConstantInterval r = *this;
    r /= other;
    return r;
}
ConstantInterval ConstantInterval::operator/(int64_t x) const {
    return *this / single_point(x);
}
ConstantInterval ConstantInterval::operator%(const ConstantInterval &other) const {
    ConstantInterval r = *this;
    r %= other;
    return r;
}
ConstantInterval ConstantInterval::operator%(int64_t x) const {
    return *this % single_point(x);
}

void ConstantInterval::cast_to(const Type &t) {
    if (!t.is_int_or_uint()) {
        return;
    }
    const Ends a = ends(*this), range = type_ends(t);
    if (a.lo >= range.lo && a.hi <= range.hi) {
        return;
    }
    const Wide period = Wide(1) << t.bits();
    if (!infinite(a.lo) && !infinite(a.hi)) {
        // Subtract the multiple of the period that brings the lower end into range.
        const Wide turns = divide(a.lo - range.lo, period);
        if (a.hi - turns * period <= range.hi) {
            *this = interval(a.lo - turns * period, a.hi - turns * period);
            return;
        }
    }
    *this = bounds_of_type(t);
}

ConstantInterval ConstantInterval::bounds_of_type(Type t) {
    const Ends e = type_ends(t);
    return interval(e.lo, e.hi);
}

ConstantInterval cast(Type t, const ConstantInterval &a) {
    ConstantInterval result = a;
    result.cast_to(t);
    return result;
}

ConstantInterval saturating_cast(Type t, const ConstantInterval &a) {
    const Ends x = ends(a), range = type_ends(t);
    return interval(std::min(std::max(x.lo, range.lo), range.hi), std::min(std::max(x.hi, range.lo), range.hi));
}

ConstantInterval min(const ConstantInterval &a, const ConstantInterval &b) {
    const Ends x = ends(a), y = ends(b);
    return interval(std::min(x.lo, y.lo), std::min(x.hi, y.hi));
}

ConstantInterval min(const ConstantInterval &a, int64_t b) {
    return min(a, ConstantInterval::single_point(b));
}

ConstantInterval max(const ConstantInterval &a, const ConstantInterval &b) {
    const Ends x = ends(a), y = ends(b);
    return interval(std::max(x.lo, y.lo), std::max(x.hi, y.hi));
}

ConstantInterval max(const ConstantInterval &a, int64_t b) {
    return max(a, ConstantInterval::single_point(b));
}

ConstantInterval abs(const ConstantInterval &a) {
    const Ends x = ends(a);
    const Wide hi = std::max(x.hi, -x.lo);
    const Wide lo = x.lo > 0 ? x.lo : (x.hi < 0 ? -x.hi : 0);
    return interval(lo, hi);
}

ConstantInterval operator<<(const ConstantInterval &a, const ConstantInterval &b) {
    const Ends r = at_corners(ends(a), ends(b), shift_left);
    return interval(r.lo, r.hi);
}

ConstantInterval operator<<(const ConstantInterval &a, int64_t b) {
    return a << ConstantInterval::single_point(b);
}

ConstantInterval operator<<(int64_t a, const ConstantInterval &b) {
    return ConstantInterval::single_point(a) << b;
}

ConstantInterval operator>>(const ConstantInterval &a, const ConstantInterval &b) {
    return a << -b;
}

ConstantInterval operator>>(const ConstantInterval &a, int64_t b) {
    return a >> ConstantInterval::single_point(b);
}

ConstantInterval operator>>(int64_t a, const ConstantInterval &b) {
    return ConstantInterval::single_point(a) >> b;
}

bool operator<=(const ConstantInterval &a, const ConstantInterval &b) {
    return a.max_defined && b.min_defined && a.max <= b.min;
}

bool operator<=(const ConstantInterval &a, int64_t b) {
    return a.max_defined && a.max <= b;
}

bool operator<=(int64_t a, const ConstantInterval &b) {
    return b.min_defined && a <= b.min;
}

bool operator<(const ConstantInterval &a, const ConstantInterval &b) {
    return a.max_defined && b.min_defined && a.max < b.min;
}

bool operator<(const ConstantInterval &a, int64_t b) {
    return a.max_defined && a.max < b;
}

bool operator<(int64_t a, const ConstantInterval &b) {
    return b.min_defined && a < b.min;
}

std::ostream &operator<<(std::ostream &s, const ConstantInterval &i) {
    s << "[";
    if (i.min_defined) {
        s << i.min;
    } else {
        s << "-inf";
    }
    s << ", ";
    if (i.max_defined) {
        s << i.max;
    } else {
        s << "inf";
    }
    return s << "]";
}

}  // namespace Internal

bool Type::can_represent(const Internal::ConstantInterval &in) const {
    if (is_int_or_uint()) {
        return Internal::ConstantInterval::bounds_of_type(*this).contains(in);
    }
    if (is_float()) {
        // All integers up to a power of two are values of a float type, and not all beyond it.
        const int precision = is_bfloat() ? 8 : bits() == 16 ? 11 : bits() == 32 ? 24 : 53;
        const int64_t limit = (int64_t)1 << precision;
        return in.is_bounded() && in.min >= -limit && in.max <= limit;
    }
    return false;
}

}  // namespace Halide
