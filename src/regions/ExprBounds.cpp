#include "regions/ExprBounds.h"

#include "analysis/ConstantBounds.h"
#include "analysis/ConstantInterval.h"
#include "ir/IREquality.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"
#include "ir/LowerIntrinsics.h"
#include "ir/Substitute.h"
#include "simplify/Simplify.h"

#include <algorithm>
#include <cmath>
#include <limits>

// The rules of interval arithmetic, one per kind of node. Ends are expressions of what is fixed. Types that wrap need a
// proof that they do not; Int(32) and Int(64) are exact integers.

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

namespace {

/// Small enough that repeating it costs nothing, and lets simplification see through it.
bool is_cheap(const Expr &e) {
    if (is_const(e) || e.as<Variable>()) {
        return true;
    }
    return has_at_most_nodes(e, 12);
}

/// Names of the variables in an expression, those bound inside included.
class CollectNames : public IRGraphVisitor {
    using IRGraphVisitor::visit;
    void visit(const Variable *op) override {
        names.insert(op->name);
    }
    void visit(const Let *op) override {
        names.insert(op->name);
        IRGraphVisitor::visit(op);
    }

public:
    std::set<std::string> names;
};

/// Known range of the values in an interval.
ConstantInterval constant_range(const Interval &i, const Type &t) {
    ConstantInterval r = ConstantInterval::everything();
    if (i.has_lower_bound()) {
        const ConstantInterval c = constant_integer_bounds(i.min);
        r.min_defined = c.min_defined;
        r.min = c.min;
    }
    if (i.has_upper_bound()) {
        const ConstantInterval c = constant_integer_bounds(i.max);
        r.max_defined = c.max_defined;
        r.max = c.max;
    }
    if (t.is_uint() && !r.min_defined) {
        r.min_defined = true;
        r.min = 0;
    }
    return r;
}

bool holds_without_wrap(const Type &t, const ConstantInterval &exact) {
    return !t.can_overflow() || t.can_represent(exact);
}

enum class Sign { Zero,
                  Positive,
                  NonNegative,
                  Negative,
                  NonPositive,
                  Unknown };

Sign sign_of(const Interval &i, const Type &t) {
    if (t.is_float()) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        const double lo = i.has_lower_bound() ? as_const_float(i.min).value_or(-infinity) : -infinity;
        const double hi = i.has_upper_bound() ? as_const_float(i.max).value_or(infinity) : infinity;
        if (lo >= 0) {
            return lo > 0 ? Sign::Positive : Sign::NonNegative;
        }
        if (hi <= 0) {
            return hi < 0 ? Sign::Negative : Sign::NonPositive;
        }
        return Sign::Unknown;
    }
    const ConstantInterval c = constant_range(i, t);
    if (c.is_single_point(0)) {
        return Sign::Zero;
    }
    if (c.min_defined && c.min > 0) {
        return Sign::Positive;
    }
    if (c.min_defined && c.min >= 0) {
        return Sign::NonNegative;
    }
    if (c.max_defined && c.max < 0) {
        return Sign::Negative;
    }
    return c.max_defined && c.max <= 0 ? Sign::NonPositive : Sign::Unknown;
}

bool at_least_zero(Sign s) {
    return s == Sign::Zero || s == Sign::Positive || s == Sign::NonNegative;
}
bool at_most_zero(Sign s) {
    return s == Sign::Zero || s == Sign::Negative || s == Sign::NonPositive;
}

Interval bounds_of_bool() {
    return Interval(const_false(), const_true());
}

Expr negated(const Expr &e) {
    return index_sub(make_zero(e.type()), e);
}

/// A value whose arithmetic does not wrap: narrow integers in 32 bits, unsigned ones of 32 bits in 64.
Expr widened(const Expr &e) {
    const Type t = e.type();
    if (t.is_float() || (t.is_int() && t.bits() >= 32) || (t.is_uint() && t.bits() >= 64)) {
        return e;
    }
    return cast(t.bits() < 32 ? Int(32) : Int(64), e);
}

}  // namespace

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

Expr SharedExprs::share(const Expr &e) {
    if (is_cheap(e) || e.same_as(Interval::pos_inf()) || e.same_as(Interval::neg_inf())) {
        return e;
    }
    const std::string name = "@" + std::to_string(bindings.size());
    bindings.emplace_back(name, e);
    return Variable::make(e.type(), name);
}

Interval SharedExprs::share(const Interval &i) {
    if (i.is_single_point()) {
        return Interval::single_point(share(i.min));
    }
    return Interval(share(i.min), share(i.max));
}

Expr SharedExprs::close(const Expr &e) const {
    if (bindings.empty() || e.same_as(Interval::pos_inf()) || e.same_as(Interval::neg_inf())) {
        return e;
    }
    CollectNames used;
    e.accept(&used);
    std::vector<size_t> needed;
    for (size_t i = bindings.size(); i-- > 0;) {
        if (used.names.count(bindings[i].first)) {
            needed.push_back(i);
            bindings[i].second.accept(&used);
        }
    }
    if (needed.empty()) {
        return e;
    }
    // In the order of their definition. What became small, or is used once, is put in its place; the others get names that are
    // not used inside, so that no Let hides what an end refers to.
    std::map<std::string, int> uses;
    auto count = [&](const Expr &x) {
        visit_with(x, [&](auto *, const Variable *op) { uses[op->name]++; });
    };
    count(e);
    for (size_t i : needed) {
        count(bindings[i].second);
    }
    std::map<std::string, Expr> meaning;
    std::vector<std::pair<std::string, Expr>> lets;
    int counter = 0;
    for (auto it = needed.rbegin(); it != needed.rend(); ++it) {
        const std::string &inner_name = bindings[*it].first;
        const Expr value = simplify(substitute(meaning, bindings[*it].second));
        if (uses[inner_name] <= 1 || is_cheap(value)) {
            meaning[inner_name] = value;
            continue;
        }
        std::string name;
        do {
            name = "b" + std::to_string(counter++);
        } while (used.names.count(name));
        lets.emplace_back(name, value);
        meaning[inner_name] = Variable::make(value.type(), name);
    }
    Expr result = substitute(meaning, e);
    for (size_t i = lets.size(); i-- > 0;) {
        result = Let::make(lets[i].first, lets[i].second, result);
    }
    return result;
}

Expr SharedExprs::expand(const Expr &e) const {
    constexpr int small = 40;
    Expr result = e;
    while (!bindings.empty() && has_at_most_nodes(result, small)) {
        std::map<std::string, Expr> meaning;
        visit_with(result, [&](auto *, const Variable *op) {
            if (op->name[0] == '@') {
                meaning[op->name] = bindings[std::stoul(op->name.substr(1))].second;
            }
        });
        if (meaning.empty()) {
            return simplify(result);
        }
        result = substitute(meaning, result);
    }
    return e;
}

Interval SharedExprs::expand(const Interval &i) const {
    if (i.is_single_point()) {
        return Interval::single_point(expand(i.min));
    }
    return Interval(i.has_lower_bound() ? expand(i.min) : i.min, i.has_upper_bound() ? expand(i.max) : i.max);
}

Interval SharedExprs::close(const Interval &i) const {
    if (i.is_single_point()) {
        return Interval::single_point(close(i.min));
    }
    return Interval(close(i.min), close(i.max));
}

Interval bounds_of_type(const Type &type) {
    const Type t = type.element_of();
    if (t.is_bool()) {
        return bounds_of_bool();
    }
    if (t.is_int_or_uint() && t.bits() <= 16) {
        return Interval(t.min(), t.max());
    }
    if (t.is_uint()) {
        return Interval(make_zero(t), Interval::pos_inf());
    }
    return Interval::everything();
}

Interval ExprBounds::bounds(const Expr &e) {
    if (is_const(e)) {
        const Broadcast *b = e.as<Broadcast>();
        return b ? bounds(b->value) : Interval::single_point(e);
    }
    const bool worth_caching = e.get()->ref_count.value() > 1 && !e.as<Variable>();
    if (worth_caching) {
        auto it = cache.find(e.get());
        if (it != cache.end()) {
            return it->second;
        }
    }
    Interval i = uncached(e);
    if (!i.is_single_point() && !i.is_bounded()) {
        // What is not known is at least a value of the type.
        const Interval t = bounds_of_type(e.type());
        i = Interval(i.has_lower_bound() ? i.min : t.min, i.has_upper_bound() ? i.max : t.max);
    }
    if (worth_caching) {
        if (!i.is_single_point(e)) {
            i = shared.share(i);
        }
        cache[e.get()] = i;
        cached_nodes.push_back(e);
    }
    return i;
}

Interval ExprBounds::uncached(const Expr &e) {
    const Type t = e.type().element_of();
    // Nodes whose operands are fixed are fixed themselves: keep the node instead of building it again.
    auto binary = [&](const Expr &x, const Expr &y, auto &&rule) {
        const Interval a = bounds(x), b = bounds(y);
        if (e.type().is_scalar() && a.is_single_point(x) && b.is_single_point(y)) {
            return Interval::single_point(e);
        }
        return rule(a, b);
    };
    switch (e.node_type()) {
    case IRNodeType::IntImm:
    case IRNodeType::UIntImm:
    case IRNodeType::FloatImm:
    case IRNodeType::StringImm:
        return Interval::single_point(e);
    case IRNodeType::Broadcast:
        return bounds(e.as<Broadcast>()->value);
    case IRNodeType::Cast:
        return of_cast(e, e.as<Cast>()->value, t);
    case IRNodeType::Reinterpret: {
        const Interval a = bounds(e.as<Reinterpret>()->value);
        return e.type().is_scalar() && a.is_single_point(e.as<Reinterpret>()->value) ? Interval::single_point(e) :
                                                                                      bounds_of_type(t);
    }
    case IRNodeType::Variable:
        return of_variable(e, e.as<Variable>());
    case IRNodeType::Add:
        return binary(e.as<Add>()->a, e.as<Add>()->b,
                      [&](const Interval &a, const Interval &b) { return of_add(t, a, b); });
    case IRNodeType::Sub:
        return binary(e.as<Sub>()->a, e.as<Sub>()->b,
                      [&](const Interval &a, const Interval &b) { return of_sub(t, a, b); });
    case IRNodeType::Mul:
        return binary(e.as<Mul>()->a, e.as<Mul>()->b,
                      [&](const Interval &a, const Interval &b) { return of_mul(t, a, b); });
    case IRNodeType::Div:
        return binary(e.as<Div>()->a, e.as<Div>()->b,
                      [&](const Interval &a, const Interval &b) { return of_div(t, a, b); });
    case IRNodeType::Mod:
        return binary(e.as<Mod>()->a, e.as<Mod>()->b,
                      [&](const Interval &a, const Interval &b) { return of_mod(t, a, b); });
    case IRNodeType::Min:
        return binary(e.as<Min>()->a, e.as<Min>()->b, [&](const Interval &a, const Interval &b) {
            return Interval(end_min(a.min, b.min), end_min(a.max, b.max));
        });
    case IRNodeType::Max:
        return binary(e.as<Max>()->a, e.as<Max>()->b, [&](const Interval &a, const Interval &b) {
            return Interval(end_max(a.min, b.min), end_max(a.max, b.max));
        });
    case IRNodeType::EQ:
    case IRNodeType::NE:
    case IRNodeType::LT:
    case IRNodeType::LE:
    case IRNodeType::GT:
    case IRNodeType::GE: {
        auto operands = as_binary_operands(e);
        return binary(operands->first, operands->second, [&](const Interval &a, const Interval &b) {
            return of_compare(e.node_type(), a, b);
        });
    }
    case IRNodeType::And:
        return binary(e.as<And>()->a, e.as<And>()->b,
                      [&](const Interval &a, const Interval &b) { return of_and(a, b); });
    case IRNodeType::Or:
        return binary(e.as<Or>()->a, e.as<Or>()->b,
                      [&](const Interval &a, const Interval &b) { return of_or(a, b); });
    case IRNodeType::Not: {
        const Interval a = bounds(e.as<Not>()->a);
        return e.type().is_scalar() && a.is_single_point(e.as<Not>()->a) ? Interval::single_point(e) : of_not(a);
    }
    case IRNodeType::Select:
        return of_select(e.as<Select>()->condition, e.as<Select>()->true_value, e.as<Select>()->false_value);
    case IRNodeType::Load: {
        // The value of memory is a range of the type, whatever the index.
        return bounds_of_type(t);
    }
    case IRNodeType::Ramp: {
        const Ramp *op = e.as<Ramp>();
        const Interval base = bounds(op->base), stride = bounds(op->stride);
        const Interval last = of_mul(t, stride, Interval::single_point(make_const(t, op->lanes - 1)));
        return interval_union(base, of_add(t, base, last));
    }
    case IRNodeType::Call:
        return of_call(e, e.as<Call>());
    case IRNodeType::Let:
        return of_lets(e);
    case IRNodeType::Shuffle: {
        Interval all = Interval::nothing();
        for (const Expr &v : e.as<Shuffle>()->vectors) {
            all = interval_union(all, bounds(v));
        }
        return all;
    }
    case IRNodeType::VectorReduce:
        return of_vector_reduce(e.as<VectorReduce>());
    default:
        internal_error << "not an expression: " << e << "\n";
        return Interval::everything();
    }
}

Interval ExprBounds::of_variable(const Expr &e, const Variable *op) {
    const Interval *known = lets.find(op->name);
    if (!known && lookup) {
        known = lookup(op->name);
    }
    const Type t = op->type.element_of();
    if (known) {
        if (!const_bound) {
            return *known;
        }
        Interval i = *known;
        if (i.is_single_point() && i.min.as<Variable>() && i.min.as<Variable>()->name == op->name) {
            return bounds_of_type(t);
        }
        if (i.has_lower_bound() && !is_const(i.min)) {
            const ConstantInterval c = constant_integer_bounds(i.min);
            i.min = c.min_defined && !t.is_float() ? make_const(t, c.min) : Interval::neg_inf();
        }
        if (i.has_upper_bound() && !is_const(i.max)) {
            const ConstantInterval c = constant_integer_bounds(i.max);
            i.max = c.max_defined && !t.is_float() ? make_const(t, c.max) : Interval::pos_inf();
        }
        return i;
    }
    if (op->param.defined() && !op->param.is_buffer()) {
        Interval range = Interval::everything();
        if (Expr lo = op->param.min_value(); lo.defined() && (!const_bound || is_const(lo))) {
            range.min = lo;
        }
        if (Expr hi = op->param.max_value(); hi.defined() && (!const_bound || is_const(hi))) {
            range.max = hi;
        }
        if (!range.is_everything()) {
            return range;
        }
    }
    return const_bound || op->type.is_vector() ? bounds_of_type(t) : Interval::single_point(e);
}

Interval ExprBounds::of_cast(const Expr &e, const Expr &value, const Type &to) {
    const Interval a = bounds(value);
    const Type from = value.type().element_of();
    if (e.type().is_scalar() && a.is_single_point(value)) {
        return Interval::single_point(e);
    }
    if (a.is_single_point()) {
        return Interval::single_point(cast(to, a.min));
    }
    bool keeps_order = to.can_represent(from) || to.is_float();
    if (!keeps_order && to.is_int() && to.bits() >= 32) {
        // Leaving Int(32) or Int(64) does not happen in a correct program, but half-open ranges would hide that it does.
        keeps_order = !from.is_uint() || a.is_bounded();
    } else if (!keeps_order && a.is_bounded()) {
        if (from.is_float()) {
            auto lo = as_const_float(a.min), hi = as_const_float(a.max);
            keeps_order = lo && hi && to.is_int_or_uint() && to.bits() <= 32 && to.can_represent((int64_t)*lo) &&
                          to.can_represent((int64_t)*hi) && std::abs(*lo) < 1e15 && std::abs(*hi) < 1e15;
        } else {
            keeps_order = to.can_represent(constant_range(a, from));
        }
    }
    Interval i = bounds_of_type(to);
    if (keeps_order) {
        if (a.has_lower_bound()) {
            i.min = cast(to, a.min);
        }
        if (a.has_upper_bound()) {
            i.max = cast(to, a.max);
        }
    }
    return i;
}

Interval ExprBounds::of_add(const Type &t, const Interval &a, const Interval &b) {
    if (!holds_without_wrap(t, t.is_float() ? ConstantInterval() : constant_range(a, t) + constant_range(b, t))) {
        return bounds_of_type(t);
    }
    if (a.is_single_point() && b.is_single_point()) {
        return Interval::single_point(index_add(a.min, b.min));
    }
    Interval i;
    if (a.has_lower_bound() && b.has_lower_bound()) {
        i.min = index_add(a.min, b.min);
    }
    if (a.has_upper_bound() && b.has_upper_bound()) {
        i.max = index_add(a.max, b.max);
    }
    return i;
}

Interval ExprBounds::of_sub(const Type &t, const Interval &a, const Interval &b) {
    if (!holds_without_wrap(t, t.is_float() ? ConstantInterval() : constant_range(a, t) - constant_range(b, t))) {
        return bounds_of_type(t);
    }
    if (a.is_single_point() && b.is_single_point()) {
        return Interval::single_point(index_sub(a.min, b.min));
    }
    Interval i;
    if (a.has_lower_bound() && b.has_upper_bound()) {
        i.min = index_sub(a.min, b.max);
    }
    if (a.has_upper_bound() && b.has_lower_bound()) {
        i.max = index_sub(a.max, b.min);
    }
    return i;
}

Interval ExprBounds::of_mul(const Type &t, Interval a, Interval b) {
    if (!holds_without_wrap(t, t.is_float() ? ConstantInterval() : constant_range(a, t) * constant_range(b, t))) {
        return bounds_of_type(t);
    }
    if (a.is_single_point() && b.is_single_point()) {
        return Interval::single_point(index_mul(a.min, b.min));
    }
    if (a.is_single_point()) {
        std::swap(a, b);
    }
    const Sign sa = sign_of(a, t), sb = sign_of(b, t);
    if (sa == Sign::Zero || sb == Sign::Zero) {
        return Interval::single_point(make_zero(t));
    }
    if (b.is_single_point()) {
        if (at_most_zero(sb)) {
            return Interval(a.has_upper_bound() ? index_mul(a.max, b.min) : Interval::neg_inf(),
                            a.has_lower_bound() ? index_mul(a.min, b.min) : Interval::pos_inf());
        }
        if (at_least_zero(sb)) {
            return Interval(a.has_lower_bound() ? index_mul(a.min, b.min) : Interval::neg_inf(),
                            a.has_upper_bound() ? index_mul(a.max, b.min) : Interval::pos_inf());
        }
        if (!a.is_bounded()) {
            return Interval::everything();
        }
        b = shared.share(b);
        const Expr low = shared.share(index_mul(a.min, b.min)), high = shared.share(index_mul(a.max, b.min));
        const Expr positive = b.min >= make_zero(t);
        return Interval(select(positive, low, high), select(positive, high, low));
    }
    if (at_least_zero(sa) && at_least_zero(sb)) {
        return Interval(index_mul(a.min, b.min),
                        a.has_upper_bound() && b.has_upper_bound() ? index_mul(a.max, b.max) : Interval::pos_inf());
    }
    if (at_least_zero(sb)) {
        std::swap(a, b);
    }
    if (at_least_zero(sign_of(a, t))) {
        // b may have any sign: the extremes are at the largest a, unless b leaves zero on that side.
        Interval i;
        if (a.is_bounded() && b.has_lower_bound()) {
            i.min = end_min(index_mul(a.min, b.min), index_mul(a.max, b.min));
        }
        if (a.is_bounded() && b.has_upper_bound()) {
            i.max = end_max(index_mul(a.min, b.max), index_mul(a.max, b.max));
        }
        return i;
    }
    if (!a.is_bounded() || !b.is_bounded()) {
        return Interval::everything();
    }
    a = shared.share(a);
    b = shared.share(b);
    const Expr p[4] = {shared.share(index_mul(a.min, b.min)), shared.share(index_mul(a.min, b.max)),
                       shared.share(index_mul(a.max, b.min)), shared.share(index_mul(a.max, b.max))};
    return Interval(end_min(end_min(p[0], p[1]), end_min(p[2], p[3])),
                    end_max(end_max(p[0], p[1]), end_max(p[2], p[3])));
}

Interval ExprBounds::of_div(const Type &t, Interval a, Interval b) {
    if (a.is_single_point() && b.is_single_point()) {
        return Interval::single_point(Div::make(a.min, b.min));
    }
    const Sign sa = sign_of(a, t), sb = sign_of(b, t);
    auto quotient = [](const Expr &x, const Expr &y) { return is_const_one(y) ? x : Div::make(x, y); };
    if (b.is_single_point()) {
        if (sb == Sign::Zero) {
            return t.is_float() ? Interval::everything() : Interval::single_point(make_zero(t));
        }
        if (sb == Sign::Positive || (t.is_uint() && a.is_bounded())) {
            return Interval(a.has_lower_bound() ? quotient(a.min, b.min) : Interval::neg_inf(),
                            a.has_upper_bound() ? quotient(a.max, b.min) : Interval::pos_inf());
        }
        if (sb == Sign::Negative) {
            return Interval(a.has_upper_bound() ? quotient(a.max, b.min) : Interval::neg_inf(),
                            a.has_lower_bound() ? quotient(a.min, b.min) : Interval::pos_inf());
        }
        if (!a.is_bounded() || t.is_float()) {
            return Interval::everything();
        }
        b = shared.share(b);
        const Expr low = shared.share(quotient(a.min, b.min)), high = shared.share(quotient(a.max, b.min));
        const Expr positive = b.min >= make_zero(t);
        return Interval(select(positive, low, high), select(positive, high, low));
    }
    if (sb == Sign::Positive) {
        // Dividing by more moves the quotient toward zero (from below: toward −1).
        Interval i;
        const bool up = b.has_upper_bound();
        if (a.has_lower_bound()) {
            if (at_least_zero(sa)) {
                i.min = up ? quotient(a.min, b.max) : make_zero(t);
            } else if (at_most_zero(sa)) {
                i.min = quotient(a.min, b.min);
            } else if (up) {
                a = shared.share(a);
                i.min = end_min(quotient(a.min, b.min), quotient(a.min, b.max));
            } else {
                i.min = end_min(quotient(a.min, b.min), t.is_float() ? make_zero(t) : make_const(t, -1));
            }
        }
        if (a.has_upper_bound()) {
            if (at_least_zero(sa)) {
                i.max = quotient(a.max, b.min);
            } else if (sa == Sign::Negative) {
                i.max = up ? quotient(a.max, b.max) : (t.is_float() ? make_zero(t) : make_const(t, -1));
            } else if (up) {
                a = shared.share(a);
                i.max = end_max(quotient(a.max, b.min), quotient(a.max, b.max));
            } else {
                i.max = end_max(quotient(a.max, b.min), make_zero(t));
            }
        }
        return i;
    }
    if (t.is_float() || !a.is_bounded()) {
        return t.is_uint() ? Interval(make_zero(t), a.max) : Interval::everything();
    }
    if (t.is_uint()) {
        return Interval(make_zero(t), a.max);
    }
    if (sb == Sign::Negative && b.is_bounded()) {
        a = shared.share(a);
        b = shared.share(b);
        const Expr q[4] = {quotient(a.min, b.min), quotient(a.min, b.max), quotient(a.max, b.min),
                           quotient(a.max, b.max)};
        return Interval(end_min(end_min(q[0], q[1]), end_min(q[2], q[3])),
                        end_max(end_max(q[0], q[1]), end_max(q[2], q[3])));
    }
    // The divisor may be zero (then the quotient is zero) or ±1: the magnitude does not grow.
    if (t.bits() < 32) {
        return bounds_of_type(t);
    }
    a = shared.share(a);
    const Expr zero = make_zero(t);
    return Interval(end_min(zero, end_min(a.min, negated(a.max))), end_max(zero, end_max(a.max, negated(a.min))));
}

Interval ExprBounds::of_mod(const Type &t, Interval a, Interval b) {
    if (a.is_single_point() && b.is_single_point()) {
        return Interval::single_point(Mod::make(a.min, b.min));
    }
    if (t.is_float()) {
        return Interval::everything();
    }
    const Sign sb = sign_of(b, t);
    if (sb == Sign::Zero) {
        return Interval::single_point(make_zero(t));
    }
    const Expr zero = make_zero(t), one = make_one(t);
    Interval i(zero, Interval::pos_inf());
    if (b.is_bounded()) {
        if (sb == Sign::Positive) {
            i.max = index_sub(b.max, one);
        } else if (t.is_uint() || at_least_zero(sb)) {
            i.max = index_sub(end_max(b.max, one), one);
        } else if (t.bits() >= 32) {
            b = shared.share(b);
            i.max = index_sub(end_max(end_max(b.max, negated(b.min)), one), one);
        }
    }
    if (at_least_zero(sign_of(a, t)) && a.has_upper_bound()) {
        // A remainder is never more than what is divided.
        i.max = end_min(a.max, i.max);
    }
    if (a.is_bounded() && b.is_single_point() && sb == Sign::Positive && !t.is_uint()) {
        // Within one period the remainder only moves.
        const Expr first = simplify(Div::make(a.min, b.min)), last = simplify(Div::make(a.max, b.min));
        if (equal(first, last)) {
            return Interval(simplify(Mod::make(a.min, b.min)), simplify(Mod::make(a.max, b.min)));
        }
    }
    return i;
}

Interval ExprBounds::of_compare(IRNodeType op, const Interval &a, const Interval &b) {
    if (a.is_single_point() && b.is_single_point()) {
        return Interval::single_point(make_binary_op(op, a.min, b.min));
    }
    Interval i = bounds_of_bool();
    switch (op) {
    case IRNodeType::LT:
    case IRNodeType::LE:
        if (a.has_upper_bound() && b.has_lower_bound()) {
            i.min = make_binary_op(op, a.max, b.min);
        }
        if (a.has_lower_bound() && b.has_upper_bound()) {
            i.max = make_binary_op(op, a.min, b.max);
        }
        return i;
    case IRNodeType::GT:
        return of_compare(IRNodeType::LT, b, a);
    case IRNodeType::GE:
        return of_compare(IRNodeType::LE, b, a);
    case IRNodeType::NE:
        return of_not(of_compare(IRNodeType::EQ, a, b));
    default:
        // Equality is possible if the intervals meet.
        if (a.min.type().is_handle() || a.min.type().is_bool()) {
            return i;
        }
        if (a.has_lower_bound() && b.has_upper_bound()) {
            i.max = LE::make(a.min, b.max);
        }
        if (a.has_upper_bound() && b.has_lower_bound()) {
            const Expr below = LE::make(b.min, a.max);
            i.max = is_const_one(i.max) ? below : And::make(i.max, below);
        }
        return i;
    }
}

Interval ExprBounds::of_and(const Interval &a, const Interval &b) {
    if (a.is_single_point() && b.is_single_point()) {
        return Interval::single_point(a.min && b.min);
    }
    return Interval(a.min && b.min, a.max && b.max);
}

Interval ExprBounds::of_or(const Interval &a, const Interval &b) {
    if (a.is_single_point() && b.is_single_point()) {
        return Interval::single_point(a.min || b.min);
    }
    return Interval(a.min || b.min, a.max || b.max);
}

Interval ExprBounds::of_not(const Interval &a) {
    if (a.is_single_point()) {
        return Interval::single_point(!a.min);
    }
    return Interval(!a.max, !a.min);
}

Interval ExprBounds::of_select(const Expr &condition, const Expr &true_value, const Expr &false_value) {
    const Interval c = bounds(condition);
    if (!c.is_single_point()) {
        // A condition that varies decides only if it is the same for all values.
        if (is_const_one(simplify(c.min))) {
            return bounds(true_value);
        }
        if (is_const_zero(simplify(c.max))) {
            return bounds(false_value);
        }
    } else if (is_const_one(c.min)) {
        return bounds(true_value);
    } else if (is_const_zero(c.min)) {
        return bounds(false_value);
    }
    const Interval a = bounds(true_value), b = bounds(false_value);
    if (!c.is_single_point() || const_bound || c.min.type().is_vector()) {
        return interval_union(a, b);
    }
    const Expr cond = shared.share(c.min);
    auto choose = [&](const Expr &x, const Expr &y) {
        return equal(x, y) ? x : Select::make(cond, x, y);
    };
    if (a.is_single_point() && b.is_single_point()) {
        return Interval::single_point(choose(a.min, b.min));
    }
    Interval i;
    if (a.has_lower_bound() && b.has_lower_bound()) {
        i.min = choose(a.min, b.min);
    }
    if (a.has_upper_bound() && b.has_upper_bound()) {
        i.max = choose(a.max, b.max);
    }
    return i;
}

Interval ExprBounds::of_lets(Expr e) {
    // Lets can be nested by the thousand: no recursion along the bodies.
    std::vector<std::string> pushed;
    while (const Let *let = e.as<Let>()) {
        lets.push(let->name, shared.share(bounds(let->value)));
        pushed.push_back(let->name);
        cache.clear();
        e = let->body;
    }
    const Interval i = bounds(e);
    for (const std::string &name : pushed) {
        lets.pop(name);
    }
    cache.clear();
    return i;
}

Interval ExprBounds::of_vector_reduce(const VectorReduce *op) {
    const Type t = op->type.element_of();
    const Interval a = bounds(op->value);
    const int factor = op->value.type().lanes() / op->type.lanes();
    switch (op->op) {
    case VectorReduce::Min:
    case VectorReduce::Max:
        return a;
    case VectorReduce::Add:
        return of_mul(t, a, Interval::single_point(make_const(t, factor)));
    case VectorReduce::And:
    case VectorReduce::Or:
        return bounds_of_bool();
    case VectorReduce::SaturatingAdd:
    case VectorReduce::Mul:
        break;
    }
    return bounds_of_type(t);
}

Interval ExprBounds::of_call(const Expr &e, const Call *op) {
    const Type t = op->type.element_of();
    if (op->call_type == Call::Halide || op->call_type == Call::Image) {
        auto it = func_bounds.find({op->name, op->value_index});
        if (it == func_bounds.end() || op->call_type == Call::Image) {
            return bounds_of_type(t);
        }
        Interval i = it->second;
        if (const_bound) {
            i.min = i.has_lower_bound() && is_const(i.min) ? i.min : bounds_of_type(t).min;
            i.max = i.has_upper_bound() && is_const(i.max) ? i.max : bounds_of_type(t).max;
        }
        return i;
    }
    if (op->is_intrinsic()) {
        return of_intrinsic(e, op);
    }
    // Functions of one float that never fall.
    static const std::set<std::string> increasing = {"exp", "floor", "ceil", "round", "trunc", "atan", "sinh",
                                                     "tanh", "asinh", "erf", "fast_exp"};
    const size_t suffix = op->name.rfind("_f");
    if (op->args.size() == 1 && suffix != std::string::npos && t.is_float()) {
        const std::string base = op->name.substr(0, suffix);
        if (increasing.count(base)) {
            return monotonic_call(op, {1});
        }
        if (base == "sin" || base == "cos") {
            return Interval(make_const(t, -1.0), make_const(t, 1.0));
        }
        if (base == "sqrt") {
            const Interval a = bounds(op->args[0]);
            const bool low = at_least_zero(sign_of(a, t));
            return Interval(low ? op->changed(&Call::args, std::vector<Expr>{a.min}) : make_zero(t),
                            a.has_upper_bound() ? op->changed(&Call::args, std::vector<Expr>{a.max}) :
                                                  Interval::pos_inf());
        }
    }
    if (op->call_type == Call::PureExtern || starts_with(op->name, "_halide_buffer_get_")) {
        bool fixed = op->type.is_scalar() && !const_bound, same = true;
        std::vector<Expr> args;
        for (const Expr &arg : op->args) {
            const Interval i = bounds(arg);
            fixed = fixed && i.is_single_point();
            same = same && i.is_single_point(arg);
            args.push_back(i.min);
        }
        if (fixed) {
            return Interval::single_point(same ? e : op->changed(&Call::args, args));
        }
    }
    return bounds_of_type(t);
}

/// Bounds of a call that is monotonic in each argument: 1 rising, -1 falling, 0 not used.
Interval ExprBounds::monotonic_call(const Call *op, const std::vector<int> &directions) {
    std::vector<Expr> low, high;
    bool has_low = true, has_high = true, fixed = op->type.is_scalar();
    for (size_t i = 0; i < op->args.size(); i++) {
        const Interval a = bounds(op->args[i]);
        fixed = fixed && a.is_single_point();
        const bool rising = directions[i] >= 0;
        has_low = has_low && (rising ? a.has_lower_bound() : a.has_upper_bound());
        has_high = has_high && (rising ? a.has_upper_bound() : a.has_lower_bound());
        low.push_back(rising ? a.min : a.max);
        high.push_back(rising ? a.max : a.min);
    }
    const Type t = op->type.element_of();
    auto make = [&](const std::vector<Expr> &args) {
        return Call::make(t, op->name, args, op->call_type);
    };
    if (fixed) {
        return Interval::single_point(make(low));
    }
    return Interval(has_low ? make(low) : Interval::neg_inf(), has_high ? make(high) : Interval::pos_inf());
}

Interval ExprBounds::of_abs(const Type &t, const Interval &a) {
    const Sign s = sign_of(a, a.min.type().is_handle() ? t : a.min.type());
    const Type unbounded = t;
    if (at_least_zero(s) && a.has_lower_bound()) {
        return Interval(cast(t, a.min), a.has_upper_bound() ? cast(t, a.max) : Interval::pos_inf());
    }
    if (!a.is_bounded()) {
        return Interval(make_zero(unbounded), bounds_of_type(unbounded).max);
    }
    const Expr lo = widened(a.min), hi = widened(a.max), zero = make_zero(lo.type());
    if (at_most_zero(s)) {
        return Interval(cast(t, negated(hi)), cast(t, negated(lo)));
    }
    return Interval(cast(t, end_max(zero, end_max(lo, negated(hi)))), cast(t, end_max(hi, negated(lo))));
}

Interval ExprBounds::of_shift(const Expr &e, const Call *op, bool left) {
    const Type t = op->type.element_of();
    const Interval a = bounds(op->args[0]), b = bounds(op->args[1]);
    if (e.type().is_scalar() && a.is_single_point(op->args[0]) && b.is_single_point(op->args[1])) {
        return Interval::single_point(e);
    }
    const ConstantInterval amount = constant_range(b, op->args[1].type().element_of());
    if (!b.is_bounded() || !amount.is_bounded() || amount.min <= -t.bits() || amount.max >= t.bits()) {
        return left ? bounds_of_type(t) : interval_union(a, Interval::single_point(make_zero(t)));
    }
    // The result is monotonic in the amount for each value: the extremes are at the ends of both.
    const ConstantInterval value = constant_range(a, t);
    if (!holds_without_wrap(t, left ? value << amount : value >> amount)) {
        return bounds_of_type(t);
    }
    auto shift = [&](const Expr &x, const Expr &y) {
        if (auto c = as_const_int(y); c && *c < 0) {
            return left ? x >> (int)-*c : x << (int)-*c;
        }
        return Call::make(t, op->name, {x, y}, op->call_type);
    };
    Interval i = Interval::nothing();
    for (const Expr &y : {b.min, b.max}) {
        i = interval_union(i, Interval(a.has_lower_bound() ? shift(a.min, y) : Interval::neg_inf(),
                                       a.has_upper_bound() ? shift(a.max, y) : Interval::pos_inf()));
        if (b.is_single_point()) {
            break;
        }
    }
    return i;
}

Interval ExprBounds::of_bitwise(const Type &t, const Call *op) {
    const Interval a = bounds(op->args[0]);
    if (op->is_intrinsic(Call::bitwise_not)) {
        if (t.is_uint()) {
            const Expr top = t.max();
            return a.is_bounded() ? Interval(index_sub(top, a.max), index_sub(top, a.min)) : bounds_of_type(t);
        }
        return of_sub(t, Interval::single_point(make_const(t, -1)), a);
    }
    const Interval b = bounds(op->args[1]);
    const bool a_up = at_least_zero(sign_of(a, t)), b_up = at_least_zero(sign_of(b, t));
    if (op->is_intrinsic(Call::bitwise_and)) {
        // Masking a value that is not negative only takes bits away.
        if (!a_up && !b_up) {
            return bounds_of_type(t);
        }
        Interval i(make_zero(t), Interval::pos_inf());
        if (a_up && a.has_upper_bound()) {
            i.max = a.max;
        }
        if (b_up && b.has_upper_bound()) {
            i.max = end_min(i.max, b.max);
        }
        return i;
    }
    if (!a_up || !b_up) {
        return bounds_of_type(t);
    }
    Interval i(make_zero(t), Interval::pos_inf());
    if (op->is_intrinsic(Call::bitwise_or)) {
        i.min = a.has_lower_bound() && b.has_lower_bound() ? end_max(a.min, b.min) : i.min;
    }
    const ConstantInterval ca = constant_range(a, t), cb = constant_range(b, t);
    if (ca.max_defined && cb.max_defined) {
        // No bit above the highest of either.
        uint64_t all = (uint64_t)std::max(ca.max, cb.max);
        for (int s = 1; s < 64; s *= 2) {
            all |= all >> s;
        }
        if (t.can_represent((int64_t)all)) {
            i.max = make_const(t, (int64_t)all);
        }
    }
    return i;
}

Interval ExprBounds::of_intrinsic(const Expr &e, const Call *op) {
    const Type t = op->type.element_of();
    switch (op->intrinsic_op) {
    case Call::likely:
    case Call::likely_if_innermost:
    case Call::memoize_expr:
    case Call::strict_cast:
        if (op->is_intrinsic(Call::strict_cast)) {
            return of_cast(e, op->args[0], t);
        }
        return bounds(op->args[0]);
    case Call::return_second:
    case Call::require:
        return bounds(op->args[1]);
    case Call::promise_clamped:
    case Call::unsafe_promise_clamped: {
        Interval i = bounds(op->args[0]);
        const Interval lo = bounds(op->args[1]), hi = bounds(op->args[2]);
        if (i.is_single_point()) {
            // The compiler's own promise says where a guarded loop ends; beyond, nothing is needed.
            if (op->is_intrinsic(Call::promise_clamped) && hi.has_upper_bound()) {
                return Interval::single_point(end_min(i.max, hi.max));
            }
            return i;
        }
        return Interval(lo.has_lower_bound() ? end_max(i.min, lo.min) : i.min,
                        hi.has_upper_bound() ? end_min(i.max, hi.max) : i.max);
    }
    case Call::abs:
        return of_abs(t, bounds(op->args[0]));
    case Call::absd: {
        const Interval a = bounds(op->args[0]), b = bounds(op->args[1]);
        if (!a.is_bounded() || !b.is_bounded()) {
            return Interval(make_zero(t), bounds_of_type(t).max);
        }
        const Interval difference(index_sub(widened(a.min), widened(b.max)), index_sub(widened(a.max), widened(b.min)));
        return of_abs(t, difference);
    }
    case Call::shift_left:
        return of_shift(e, op, true);
    case Call::shift_right:
        return of_shift(e, op, false);
    case Call::bitwise_and:
    case Call::bitwise_or:
    case Call::bitwise_xor:
    case Call::bitwise_not: {
        bool fixed = op->type.is_scalar();
        for (const Expr &arg : op->args) {
            fixed = fixed && bounds(arg).is_single_point(arg);
        }
        return fixed ? Interval::single_point(e) : of_bitwise(t, op);
    }
    case Call::popcount:
    case Call::count_leading_zeros:
    case Call::count_trailing_zeros:
        return Interval(make_zero(t), make_const(t, op->args[0].type().bits()));
    case Call::lerp:
        return interval_union(bounds(op->args[0]), bounds(op->args[1]));
    case Call::if_then_else:
        if (op->args.size() == 2) {
            return bounds(op->args[1]);
        }
        return of_select(op->args[0], op->args[1], op->args[2]);
    case Call::mux: {
        Interval all = Interval::nothing();
        for (size_t i = 1; i < op->args.size(); i++) {
            all = interval_union(all, bounds(op->args[i]));
        }
        return all;
    }
    case Call::scatter_gather: {
        // Each evaluation takes one of them.
        Interval all = Interval::nothing();
        for (const Expr &e : op->args) {
            all = interval_union(all, bounds(e));
        }
        return all;
    }
    case Call::round:
        return monotonic_call(op, {1});
    case Call::widening_add:
    case Call::saturating_add:
    case Call::halving_add:
    case Call::rounding_halving_add:
    case Call::sorted_avg:
        return monotonic_call(op, {1, 1});
    case Call::widening_sub:
    case Call::saturating_sub:
        return monotonic_call(op, {1, -1});
    case Call::saturating_cast: {
        const Interval a = bounds(op->args[0]);
        return Interval(a.has_lower_bound() ? saturating_cast(t, a.min) : bounds_of_type(t).min,
                        a.has_upper_bound() ? saturating_cast(t, a.max) : bounds_of_type(t).max);
    }
    case Call::strict_add:
        return of_add(t, bounds(op->args[0]), bounds(op->args[1]));
    case Call::strict_sub:
        return of_sub(t, bounds(op->args[0]), bounds(op->args[1]));
    case Call::strict_mul:
        return of_mul(t, bounds(op->args[0]), bounds(op->args[1]));
    case Call::strict_div:
        return of_div(t, bounds(op->args[0]), bounds(op->args[1]));
    case Call::strict_fma:
        return of_add(t, of_mul(t, bounds(op->args[0]), bounds(op->args[1])), bounds(op->args[2]));
    case Call::strict_min: {
        const Interval a = bounds(op->args[0]), b = bounds(op->args[1]);
        return Interval(end_min(a.min, b.min), end_min(a.max, b.max));
    }
    case Call::strict_max: {
        const Interval a = bounds(op->args[0]), b = bounds(op->args[1]);
        return Interval(end_max(a.min, b.min), end_max(a.max, b.max));
    }
    case Call::extract_bits:
    case Call::concat_bits:
    case Call::random:
        return bounds_of_type(t);
    default:
        break;
    }
    // Tags and values without effects that do not vary stay as they are.
    if (op->call_type == Call::PureIntrinsic && op->type.is_scalar() && !const_bound) {
        bool fixed = true;
        for (const Expr &arg : op->args) {
            fixed = fixed && bounds(arg).is_single_point(arg);
        }
        if (fixed) {
            return Interval::single_point(e);
        }
    }
    if (op->call_type == Call::PureIntrinsic && (t.is_int_or_uint() || t.is_float())) {
        if (Expr expansion = lower_intrinsic(op); expansion.defined()) {
            return bounds(expansion);
        }
    }
    return bounds_of_type(t);
}

}  // namespace Internal
}  // namespace Halide
