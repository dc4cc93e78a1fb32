// Arithmetic on the ends of intervals: what is easy to fold is folded, nothing else is tried.

#include "ir/IREquality.h"
#include "ir/IROperator.h"
#include "regions/ExprBounds.h"
#include "simplify/Simplify.h"

namespace Halide {
namespace Internal {

namespace {

/// e = base + offset; base is undefined if e is a constant.
struct Offset {
    Expr base;
    int64_t offset = 0;
};

Offset split_offset(const Expr &e) {
    if (auto c = as_const_int(e)) {
        return {Expr(), *c};
    }
    if (const Add *add = e.as<Add>()) {
        if (auto c = as_const_int(add->b)) {
            return {add->a, *c};
        }
        if (auto c = as_const_int(add->a)) {
            return {add->b, *c};
        }
    }
    if (const Sub *sub = e.as<Sub>()) {
        if (auto c = as_const_int(sub->b)) {
            return {sub->a, -*c};
        }
    }
    return {e, 0};
}

bool is_index_type(const Type &t) {
    return t.is_scalar() && t.is_int() && t.bits() >= 32;
}

Expr join_offset(const Offset &o, const Type &t) {
    if (!o.base.defined()) {
        return make_const(t, o.offset);
    }
    if (o.offset == 0) {
        return o.base;
    }
    return o.offset > 0 ? Add::make(o.base, make_const(t, o.offset)) : Sub::make(o.base, make_const(t, -o.offset));
}

bool fits(const Type &t, int64_t v) {
    return t.can_represent(v);
}

/// The lesser (or greater) of two ends that differ by a constant; undefined if they do not.
Expr decide(const Expr &a, const Expr &b, bool want_min) {
    if (a.same_as(b)) {
        return a;
    }
    if (!is_index_type(a.type())) {
        return Expr();
    }
    const Offset x = split_offset(a), y = split_offset(b);
    if (x.base.defined() != y.base.defined() || (x.base.defined() && !equal(x.base, y.base))) {
        return Expr();
    }
    return (x.offset <= y.offset) == want_min ? a : b;
}

/// Replaces one operand of a chain of Min (Max) nodes by the result of deciding between it and `b`.
template<typename T>
Expr decide_in_chain(const Expr &chain, const Expr &b, bool want_min, int &budget) {
    const T *op = chain.as<T>();
    if (!op) {
        return budget-- > 0 ? decide(chain, b, want_min) : Expr();
    }
    Expr left = decide_in_chain<T>(op->a, b, want_min, budget);
    if (left.defined()) {
        return left.same_as(op->a) ? chain : T::make(left, op->b);
    }
    Expr right = decide_in_chain<T>(op->b, b, want_min, budget);
    if (right.defined()) {
        return right.same_as(op->b) ? chain : T::make(op->a, right);
    }
    return Expr();
}

/// Subtracts the nodes of a tree from `left`, until nothing is left.
void count_nodes(const Expr &e, int &left) {
    if (left-- <= 0) {
        return;
    }
    if (auto operands = as_binary_operands(e)) {
        count_nodes(operands->first, left);
        count_nodes(operands->second, left);
    } else if (const Cast *op = e.as<Cast>()) {
        count_nodes(op->value, left);
    } else if (const Select *op = e.as<Select>()) {
        count_nodes(op->condition, left);
        count_nodes(op->true_value, left);
        count_nodes(op->false_value, left);
    } else if (!is_const(e) && !e.as<Variable>()) {
        left = -1;
    }
}

}  // namespace

bool has_at_most_nodes(const Expr &e, int limit) {
    count_nodes(e, limit);
    return limit >= 0;
}

Expr index_add(const Expr &a, const Expr &b) {
    if (is_const_zero(a)) {
        return b;
    }
    if (is_const_zero(b)) {
        return a;
    }
    if (is_index_type(a.type())) {
        const Offset x = split_offset(a), y = split_offset(b);
        if ((!x.base.defined() || !y.base.defined()) && fits(a.type(), x.offset) && fits(a.type(), y.offset) &&
            fits(Int(62), x.offset) && fits(Int(62), y.offset) && fits(a.type(), x.offset + y.offset)) {
            return join_offset({x.base.defined() ? x.base : y.base, x.offset + y.offset}, a.type());
        }
    } else if (is_const(a) && is_const(b)) {
        return simplify(Add::make(a, b));
    }
    return Add::make(a, b);
}

Expr index_sub(const Expr &a, const Expr &b) {
    if (is_const_zero(b)) {
        return a;
    }
    if (is_index_type(a.type())) {
        const Offset x = split_offset(a), y = split_offset(b);
        if (x.base.defined() && y.base.defined() && equal(x.base, y.base)) {
            return make_const(a.type(), x.offset - y.offset);
        }
        if (!y.base.defined() && fits(Int(62), x.offset) && fits(Int(62), y.offset) &&
            fits(a.type(), x.offset - y.offset)) {
            return join_offset({x.base, x.offset - y.offset}, a.type());
        }
    } else if (is_const(a) && is_const(b)) {
        return simplify(Sub::make(a, b));
    }
    return Sub::make(a, b);
}

Expr index_mul(const Expr &a, const Expr &b) {
    if (is_const_one(a) || (is_const_zero(b) && !a.type().is_float())) {
        return b;
    }
    if (is_const_one(b) || (is_const_zero(a) && !a.type().is_float())) {
        return a;
    }
    if (is_const(a) && is_const(b)) {
        return simplify(Mul::make(a, b));
    }
    return is_const(a) ? Mul::make(b, a) : Mul::make(a, b);
}

Expr end_min(const Expr &a, const Expr &b) {
    if (a.same_as(b) || a.same_as(Interval::neg_inf()) || b.same_as(Interval::pos_inf())) {
        return a;
    }
    if (b.same_as(Interval::neg_inf()) || a.same_as(Interval::pos_inf())) {
        return b;
    }
    int budget = 16;
    Expr decided = decide_in_chain<Min>(a, b, true, budget);
    if (!decided.defined()) {
        decided = decide_in_chain<Min>(b, a, true, budget);
    }
    return decided.defined() ? decided : Interval::make_min(a, b);
}

Expr end_max(const Expr &a, const Expr &b) {
    if (a.same_as(b) || a.same_as(Interval::pos_inf()) || b.same_as(Interval::neg_inf())) {
        return a;
    }
    if (b.same_as(Interval::pos_inf()) || a.same_as(Interval::neg_inf())) {
        return b;
    }
    int budget = 16;
    Expr decided = decide_in_chain<Max>(a, b, false, budget);
    if (!decided.defined()) {
        decided = decide_in_chain<Max>(b, a, false, budget);
    }
    return decided.defined() ? decided : Interval::make_max(a, b);
}

Interval interval_union(const Interval &a, const Interval &b) {
    if (a.is_empty()) {
        return b;
    }
    if (b.is_empty() || (a.min.same_as(b.min) && a.max.same_as(b.max))) {
        return a;
    }
    return Interval(end_min(a.min, b.min), end_max(a.max, b.max));
}

Interval interval_intersection(const Interval &a, const Interval &b) {
    if (a.is_empty() || b.is_empty()) {
        return Interval::nothing();
    }
    return Interval(end_max(a.min, b.min), end_min(a.max, b.max));
}

}  // namespace Internal
}  // namespace Halide
