#pragma once

#include "ir/Expr.h"

namespace Halide {
namespace Internal {

/// A set of consecutive values, ends included. An end may be infinite.
struct Interval {
    Expr min, max;

    /// Everything.
    Interval()
        : min(neg_inf()), max(pos_inf()) {
    }
    Interval(const Expr &min, const Expr &max);

    static Interval everything() {
        return Interval();
    }
    static Interval nothing() {
        return Interval(pos_inf(), neg_inf());
    }
    static Interval single_point(const Expr &e) {
        return Interval(e, e);
    }

    bool is_empty() const {
        return min.same_as(pos_inf()) || max.same_as(neg_inf());
    }
    bool is_everything() const {
        return !has_lower_bound() && !has_upper_bound();
    }
    /// Both ends are one node.
    bool is_single_point() const {
        return min.same_as(max);
    }
    bool is_single_point(const Expr &e) const {
        return min.same_as(e) && max.same_as(e);
    }
    bool has_upper_bound() const {
        return !max.same_as(pos_inf()) && !is_empty();
    }
    bool has_lower_bound() const {
        return !min.same_as(neg_inf()) && !is_empty();
    }
    bool is_bounded() const {
        return has_upper_bound() && has_lower_bound();
    }
    bool same_as(const Interval &other) const {
        return min.same_as(other.min) && max.same_as(other.max);
    }

    /// Grows the interval to hold another, or a value.
    void include(const Interval &i);
    void include(const Expr &e);

    static Interval make_union(const Interval &a, const Interval &b);
    static Interval make_intersection(const Interval &a, const Interval &b);

    /// max and min that know the infinities and fold constants.
    static Expr make_max(const Expr &a, const Expr &b);
    static Expr make_min(const Expr &a, const Expr &b);

    /// The infinities: two particular nodes, recognized by address.
    static const Expr &pos_inf();
    static const Expr &neg_inf();

    static Expr pos_inf_expr() {
        return pos_inf();
    }
    static Expr neg_inf_expr() {
        return neg_inf();
    }

    /// Equal structure.
    bool operator==(const Interval &other) const;
    bool operator!=(const Interval &other) const {
        return !(*this == other);
    }
};

}  // namespace Internal
}  // namespace Halide
