#include "ir/Interval.h"

#include "ir/IR.h"
#include "ir/IRConstants.h"
#include "ir/IREquality.h"

#include <algorithm>

namespace Halide {
namespace Internal {

Interval::Interval(const Expr &min, const Expr &max)
    : min(min), max(max) {
    internal_assert(min.defined() && max.defined()) << "An end of an Interval must be a value or an infinity\n";
}

const Expr &Interval::pos_inf() {
    // Never destroyed: intervals may live in static objects.
    static const Expr &inf = *new Expr(Variable::make(Handle(), "pos_inf"));
    return inf;
}

const Expr &Interval::neg_inf() {
    static const Expr &inf = *new Expr(Variable::make(Handle(), "neg_inf"));
    return inf;
}

namespace {

// The greater (or lesser) of two constants; undefined if they are not both constants of a number type.
Expr fold_extreme(const Expr &a, const Expr &b, bool greater) {
    auto choose = [&](bool a_is_less) { return a_is_less == greater ? b : a; };
    if (auto x = as_const_int(a), y = as_const_int(b); x && y) {
        return choose(*x < *y);
    }
    if (auto x = as_const_uint(a), y = as_const_uint(b); x && y) {
        return choose(*x < *y);
    }
    if (auto x = as_const_float(a), y = as_const_float(b); x && y && *x == *x && *y == *y) {
        return choose(*x < *y);
    }
    return Expr();
}

}  // namespace

Expr Interval::make_max(const Expr &a, const Expr &b) {
    if (a.same_as(b)) {
        return a;
    }
    if (a.same_as(pos_inf()) || b.same_as(neg_inf())) {
        return a;
    }
    if (b.same_as(pos_inf()) || a.same_as(neg_inf())) {
        return b;
    }
    Expr folded = fold_extreme(a, b, true);
    if (folded.defined()) {
        return folded;
    }
    return equal(a, b) ? a : Max::make(a, b);
}

Expr Interval::make_min(const Expr &a, const Expr &b) {
    if (a.same_as(b)) {
        return a;
    }
    if (a.same_as(neg_inf()) || b.same_as(pos_inf())) {
        return a;
    }
    if (b.same_as(neg_inf()) || a.same_as(pos_inf())) {
        return b;
    }
    Expr folded = fold_extreme(a, b, false);
    if (folded.defined()) {
        return folded;
    }
    return equal(a, b) ? a : Min::make(a, b);
}

void Interval::include(const Interval &i) {
    max = make_max(max, i.max);
    min = make_min(min, i.min);
}

void Interval::include(const Expr &e) {
    max = make_max(max, e);
    min = make_min(min, e);
}

Interval Interval::make_union(const Interval &a, const Interval &b) {
    Interval result = a;
    result.include(b);
    return result;
}

Interval Interval::make_intersection(const Interval &a, const Interval &b) {
    return Interval(make_max(a.min, b.min), make_min(a.max, b.max));
}

bool Interval::operator==(const Interval &other) const {
    // The infinities are particular nodes: a variable that happens to have their name is not one.
    auto same_end = [](const Expr &a, const Expr &b) {
        auto is_infinite = [](const Expr &e) { return e.same_as(pos_inf()) || e.same_as(neg_inf()); };
        return is_infinite(a) || is_infinite(b) ? a.same_as(b) : equal(a, b);
    };
    return same_end(min, other.min) && same_end(max, other.max);
}

}  // namespace Internal
}  // namespace Halide
