// Random expressions mean the same before and after simplify: every integer type, vectors, bounds and congruences of
// variables, assumptions, and can_prove. A failure is reduced to the smallest part that fails by itself.

#include "ExactArithmetic.h"
#include "analysis/ConstantBounds.h"
#include "analysis/ModulusRemainder.h"
#include "analysis/Monotonic.h"
#include "ir/IR.h"
#include "ir/IREquality.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"
#include "simplify/CommonSubexpressions.h"
#include "simplify/Simplify.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>
#include <random>

namespace {

using namespace Halide;
using namespace Halide::Internal;

using Value = std::vector<int64_t>;

// Evaluates integer expressions. Overflow of Int(32) and Int(64) makes the case meaningless: no result.
class Evaluator {
    std::map<std::string, Value> names;

    static std::optional<int64_t> fit(const Type &t, __int128 v) {
        const int bits = t.bits();
        const __int128 period = (__int128)1 << bits;
        if (t.is_int() && bits >= 32) {
            return v >= -period / 2 && v < period / 2 ? std::optional<int64_t>((int64_t)v) : std::nullopt;
        }
        v = ((v % period) + period) % period;
        return (int64_t)(t.is_int() && v >= period / 2 ? v - period : v);
    }

public:
    using Result = std::optional<Value>;

    void set(const std::string &name, Value v) {
        names[name] = std::move(v);
    }

    Result operator()(const Expr &e) {
        return evaluate(e);
    }

private:
    static __int128 saturate(const Type &t, __int128 v) {
        const __int128 lo = t.is_int() ? -((__int128)1 << (t.bits() - 1)) : 0;
        const __int128 hi = ((__int128)1 << (t.is_int() ? t.bits() - 1 : t.bits())) - 1;
        return std::min(std::max(v, lo), hi);
    }

    static std::optional<int64_t> low_bits(const Type &t, __int128 v) {
        const __int128 period = (__int128)1 << t.bits();
        v = ((v % period) + period) % period;
        return (int64_t)(t.is_int() && v >= period / 2 ? v - period : v);
    }

    static std::optional<int64_t> intrinsic(const Call *op, const std::vector<int64_t> &a) {
        const Type t = op->type;
        const __int128 x = a[0], y = a.size() > 1 ? a[1] : 0;
        switch (op->intrinsic_op) {
        case Call::abs:
            return low_bits(t, x < 0 ? -x : x);
        case Call::absd:
            return low_bits(t, x < y ? y - x : x - y);
        case Call::bitwise_and:
            return low_bits(t, x & y);
        case Call::bitwise_or:
            return low_bits(t, x | y);
        case Call::bitwise_xor:
            return low_bits(t, x ^ y);
        case Call::bitwise_not:
            return low_bits(t, ~x);
        case Call::shift_left:
        case Call::shift_right: {
            if (y <= -t.bits() || y >= t.bits()) {
                return std::nullopt;
            }
            const int by = (int)(op->is_intrinsic(Call::shift_left) ? y : -y);
            return low_bits(t, by >= 0 ? x * ((__int128)1 << by) : x >> -by);
        }
        case Call::widening_add:
            return fit(t, x + y);
        case Call::widening_sub:
            return fit(t, x - y);
        case Call::widening_mul:
            return fit(t, x * y);
        case Call::saturating_add:
            return (int64_t)saturate(t, x + y);
        case Call::saturating_sub:
            return (int64_t)saturate(t, x - y);
        case Call::saturating_cast:
            return (int64_t)saturate(t, x);
        case Call::halving_add:
            return low_bits(t, (x + y) >> 1);
        case Call::rounding_halving_add:
            return low_bits(t, (x + y + 1) >> 1);
        case Call::halving_sub:
            return low_bits(t, (x - y) >> 1);
        case Call::likely:
        case Call::likely_if_innermost:
            return a[0];
        case Call::if_then_else:
            return a[0] ? a[1] : a[2];
        case Call::count_leading_zeros:
        case Call::count_trailing_zeros:
        case Call::popcount: {
            int count = 0, bits = t.bits();
            for (int i = 0; i < bits; i++) {
                const int bit = op->is_intrinsic(Call::count_leading_zeros) ? bits - 1 - i : i;
                const bool set = (x >> bit) & 1;
                if (op->is_intrinsic(Call::popcount)) {
                    count += set;
                } else if (set) {
                    return i;
                }
            }
            return op->is_intrinsic(Call::popcount) ? count : bits;
        }
        default:
            return std::nullopt;
        }
    }

    Result evaluate(const Expr &e) {
        const Type t = e.type();
        const int lanes = t.lanes();
        if (const IntImm *i = e.as<IntImm>()) {
            return Value{i->value};
        } else if (const UIntImm *u = e.as<UIntImm>()) {
            return Value{(int64_t)u->value};
        } else if (const Variable *v = e.as<Variable>()) {
            return names.at(v->name);
        } else if (const Let *let = e.as<Let>()) {
            const Result value = evaluate(let->value);
            if (!value) {
                return value;
            }
            const auto old = names.find(let->name) == names.end() ? std::nullopt : Result(names[let->name]);
            names[let->name] = *value;
            const Result result = evaluate(let->body);
            if (old) {
                names[let->name] = *old;
            } else {
                names.erase(let->name);
            }
            return result;
        } else if (const Broadcast *b = e.as<Broadcast>()) {
            const Result v = evaluate(b->value);
            Value r;
            for (int i = 0; v && i < b->lanes; i++) {
                r.insert(r.end(), v->begin(), v->end());
            }
            return v ? Result(r) : v;
        } else if (const Ramp *ramp = e.as<Ramp>()) {
            const Result base = evaluate(ramp->base), stride = evaluate(ramp->stride);
            Value r;
            for (int i = 0; base && stride && i < ramp->lanes; i++) {
                for (size_t j = 0; j < base->size(); j++) {
                    const auto v = fit(t, (__int128)(*base)[j] + (__int128)i * (*stride)[j]);
                    if (!v) {
                        return std::nullopt;
                    }
                    r.push_back(*v);
                }
            }
            return base && stride ? Result(r) : std::nullopt;
        } else if (const Cast *c = e.as<Cast>()) {
            Result v = evaluate(c->value);
            for (int i = 0; v && i < lanes; i++) {
                (*v)[i] = *low_bits(t, (*v)[i]);
            }
            return v;
        } else if (const Not *n = e.as<Not>()) {
            Result v = evaluate(n->a);
            for (int i = 0; v && i < lanes; i++) {
                (*v)[i] = !(*v)[i];
            }
            return v;
        } else if (const Select *s = e.as<Select>()) {
            const Result c = evaluate(s->condition), x = evaluate(s->true_value), y = evaluate(s->false_value);
            if (!c || !x || !y) {
                return std::nullopt;
            }
            Value r;
            for (int i = 0; i < lanes; i++) {
                r.push_back((*c)[c->size() == 1 ? 0 : i] ? (*x)[i] : (*y)[i]);
            }
            return r;
        } else if (const Shuffle *s = e.as<Shuffle>()) {
            Value all, r;
            for (const Expr &v : s->vectors) {
                const Result x = evaluate(v);
                if (!x) {
                    return x;
                }
                all.insert(all.end(), x->begin(), x->end());
            }
            for (int i : s->indices) {
                r.push_back(all[i]);
            }
            return r;
        } else if (const VectorReduce *v = e.as<VectorReduce>()) {
            const Result x = evaluate(v->value);
            if (!x) {
                return x;
            }
            const int factor = v->value.type().lanes() / lanes;
            Value r;
            for (int i = 0; i < lanes; i++) {
                __int128 acc = (*x)[i * factor];
                for (int j = 1; j < factor; j++) {
                    const __int128 y = (*x)[i * factor + j];
                    acc = v->op == VectorReduce::Add           ? acc + y :
                          v->op == VectorReduce::SaturatingAdd ? saturate(t, acc + y) :
                          v->op == VectorReduce::Mul           ? *low_bits(Int(64), acc * y) :
                          v->op == VectorReduce::Min || v->op == VectorReduce::And ? std::min(acc, y) :
                                                                                     std::max(acc, y);
                }
                const auto f = fit(t, acc);
                if (!f) {
                    return std::nullopt;
                }
                r.push_back(*f);
            }
            return r;
        } else if (const Call *call = e.as<Call>()) {
            std::vector<Value> args;
            for (const Expr &a : call->args) {
                const Result v = evaluate(a);
                if (!v) {
                    return v;
                }
                args.push_back(*v);
            }
            Value r;
            for (int i = 0; i < lanes; i++) {
                std::vector<int64_t> lane;
                for (const Value &a : args) {
                    lane.push_back(a[a.size() == 1 ? 0 : i]);
                }
                const auto v = intrinsic(call, lane);
                if (!v) {
                    return std::nullopt;
                }
                r.push_back(*v);
            }
            return r;
        }
        const auto operands = as_binary_operands(e);
        if (!operands) {
            return std::nullopt;
        }
        const Result a = evaluate(operands->first), b = evaluate(operands->second);
        if (!a || !b) {
            return std::nullopt;
        }
        Value r;
        for (int i = 0; i < lanes; i++) {
            const auto v = exact_arithmetic::binary(e.node_type(), (*a)[i], (*b)[i]);
            const auto f = v ? fit(t, *v) : std::nullopt;
            if (!f) {
                return std::nullopt;
            }
            r.push_back(*f);
        }
        return r;
    }
};

const char *const integer_names[] = {"x", "y", "z", "w"};

class Generator {
    std::mt19937 &random;
    bool lets;

public:
    Generator(std::mt19937 &random, bool lets)
        : random(random), lets(lets) {
    }

    int below(int n) {
        return (int)(random() % n);
    }

    Type any_type(int lanes) {
        static const Type types[] = {Int(32), Int(32), Int(32), Int(32), Int(64), UInt(8), Int(8),
                                     UInt(16), Int(16), UInt(32)};
        return types[below(10)].with_lanes(lanes);
    }

    Expr constant(const Type &t) {
        static const int values[] = {0, 1, 2, 3, 4, 5, 7, 8, 16, -1, -2, -3, -4, -8, 6, 100};
        return make_const(t, t.is_bool() ? below(2) : values[below(16)]);
    }

    Expr leaf(const Type &t) {
        if (t.lanes() > 1) {
            const Type inner = t.with_lanes(below(2) && t.lanes() % 2 == 0 && t.lanes() > 2 ? t.lanes() / 2 : 1);
            const int n = t.lanes() / inner.lanes();
            if (t.is_bool() || below(2)) {
                return Broadcast::make(leaf(inner), n);
            }
            return Ramp::make(leaf(inner), below(3) ? constant(inner) : leaf(inner), n);
        }
        if (below(3) == 0) {
            return constant(t);
        }
        const std::string name = integer_names[below(4)];
        if (t.is_bool()) {
            return Variable::make(t, name + "_b");
        }
        return Variable::make(t, name + (t == Int(32) ? "" : (t.is_int() ? "_i" : "_u") + std::to_string(t.bits())));
    }

    Expr condition(int lanes, int depth) {
        if (depth <= 0) {
            return leaf(Bool(lanes));
        }
        switch (below(10)) {
        case 0:
            return Not::make(condition(lanes, depth - 1));
        case 1:
            return And::make(condition(lanes, depth - 1), condition(lanes, depth - 1));
        case 2:
            return Or::make(condition(lanes, depth - 1), condition(lanes, depth - 1));
        default: {
            const Type t = any_type(lanes);
            const Expr a = expr(t, depth - 1), b = below(3) ? expr(t, depth - 1) : constant(t);
            static const IRNodeType ops[] = {IRNodeType::LT, IRNodeType::LE, IRNodeType::EQ,
                                             IRNodeType::NE, IRNodeType::GT, IRNodeType::GE};
            return make_binary_op(ops[below(6)], a, b);
        }
        }
    }

    Expr intrinsic(const Type &t, int depth) {
        const Expr a = expr(t, depth - 1), b = expr(t, depth - 1);
        static const Call::IntrinsicOp ops[] = {
            Call::bitwise_and, Call::bitwise_or, Call::bitwise_xor, Call::saturating_add, Call::saturating_sub,
            Call::halving_add, Call::rounding_halving_add, Call::halving_sub};
        switch (below(6)) {
        case 0:
            return Call::make(t, Call::shift_left, {a, make_const(t, below(5))}, Call::PureIntrinsic);
        case 1:
            return Call::make(t, Call::shift_right, {a, make_const(t, below(5))}, Call::PureIntrinsic);
        case 2:
            return t.is_uint() ? abs(cast(t.with_code(Type::Int), a)) : cast(t, abs(a));
        case 3:
            return likely(a);
        default:
            return Call::make(t, ops[below(8)], {a, b}, Call::PureIntrinsic);
        }
    }

    Expr expr(const Type &t, int depth) {
        if (depth <= 0) {
            return leaf(t);
        }
        if (t.is_bool()) {
            return condition(t.lanes(), depth);
        }
        const int lanes = t.lanes();
        switch (below(22)) {
        case 0:
            return Select::make(condition(below(2) ? lanes : 1, depth - 1), expr(t, depth - 1), expr(t, depth - 1));
        case 1:
            return cast(t, expr(any_type(lanes), depth - 1));
        case 2:
            return intrinsic(t, depth);
        case 3:
            if (lets && lanes == 1) {
                // Names of variables are also names of lets.
                const Expr value = expr(Int(32), depth - 1);
                return Let::make(integer_names[below(4)], value, expr(t, depth - 1));
            }
            return leaf(t);
        case 4:
            if (lanes > 1 && below(2)) {
                const Expr a = expr(t, depth - 1), b = expr(t, depth - 1);
                std::vector<int> indices;
                for (int i = 0; i < lanes; i++) {
                    indices.push_back(below(2 * lanes));
                }
                return below(2) ? Shuffle::make({a, b}, indices) :
                                  Shuffle::make_slice(Shuffle::make_interleave({a, b}), below(2), 1 + below(2), lanes - 1 > 0 ? lanes : lanes);
            } else if (lanes <= 2) {
                static const VectorReduce::Operator ops[] = {VectorReduce::Add, VectorReduce::Min, VectorReduce::Max};
                return VectorReduce::make(ops[below(3)], expr(t.with_lanes(lanes * 2), depth - 1), lanes);
            }
            return leaf(t);
        case 5:
        case 6:
        case 7: {
            // Division and remainder by constants, mostly positive ones.
            const Expr a = expr(t, depth - 1);
            static const int by[] = {2, 3, 4, 8, 16, 5, 1, 0, -2, -3};
            const Expr b = below(8) ? make_const(t, by[below(10)]) : expr(t, depth - 1);
            return below(2) ? Div::make(a, b) : Mod::make(a, b);
        }
        case 8:
        case 9:
            return Mul::make(expr(t, depth - 1), below(4) ? constant(t) : expr(t, depth - 1));
        case 10:
        case 11:
        case 12:
            return Min::make(expr(t, depth - 1), expr(t, depth - 1));
        case 13:
        case 14:
        case 15:
            return Max::make(expr(t, depth - 1), expr(t, depth - 1));
        case 16:
        case 17:
        case 18:
            return Sub::make(expr(t, depth - 1), expr(t, depth - 1));
        default:
            return Add::make(expr(t, depth - 1), expr(t, depth - 1));
        }
    }
};

struct Facts {
    Scope<Interval> bounds;
    Scope<ConstantInterval> constant_bounds;
    Scope<ModulusRemainder> alignment;
    std::vector<Expr> assumptions;
};

struct Assignments {
    std::vector<std::map<std::string, int64_t>> all;
};

// Values for all names, of which x is within [lo, hi] and y is r modulo m.
std::map<std::string, int64_t> assignment(std::mt19937 &random, int lo, int hi, int m, int r) {
    std::map<std::string, int64_t> result;
    auto small = [&]() -> int64_t {
        switch (random() % 4) {
        case 0:
            return (int64_t)(random() % 7) - 3;
        case 1:
            return (int64_t)(random() % 41) - 20;
        case 2:
            return (int64_t)(random() % 2001) - 1000;
        default:
            return (int64_t)(random() % 17);
        }
    };
    for (const std::string name : integer_names) {
        result[name] = small();
        result[name + "_i64"] = small();
        result[name + "_b"] = random() % 2;
        result[name + "_i8"] = (int8_t)small();
        result[name + "_u8"] = (uint8_t)small();
        result[name + "_i16"] = (int16_t)(small() * (random() % 3 ? 1 : 31));
        result[name + "_u16"] = (uint16_t)(small() * (random() % 3 ? 1 : 31));
        result[name + "_u32"] = (uint32_t)small();
    }
    result["x"] = lo + (int64_t)(random() % (hi - lo + 1));
    result["y"] = small() * m + r;
    return result;
}

std::optional<Value> evaluate(const Expr &e, const std::map<std::string, int64_t> &values) {
    Evaluator evaluator;
    for (const auto &[name, v] : values) {
        evaluator.set(name, {v});
    }
    return evaluator(e);
}

std::string to_string(const std::optional<Value> &v) {
    if (!v) {
        return "overflow";
    }
    std::string s;
    for (int64_t x : *v) {
        s += std::to_string(x) + " ";
    }
    return s;
}

// Empty, or how the simplified expression differs.
using Check = std::function<std::string(const Expr &)>;

// The smallest subexpression that fails by itself.
Expr reduce_failure(const Expr &e, const Check &check) {
    class Parts : public IRVisitor {
    public:
        std::vector<Expr> parts;
        void collect(const Expr &e) {
            e.accept(this);
        }
#define HALIDE_COLLECT(T)                  \
    void visit(const T *op) override {     \
        parts.push_back(op);               \
        IRVisitor::visit(op);              \
    }
        HALIDE_FOR_EACH_IR_EXPR(HALIDE_COLLECT)
#undef HALIDE_COLLECT
    };
    Parts p;
    p.collect(e);
    Expr best = e;
    size_t best_size = p.parts.size();
    for (const Expr &part : p.parts) {
        Parts inner;
        inner.collect(part);
        if (inner.parts.size() < best_size && !check(part).empty()) {
            best = part;
            best_size = inner.parts.size();
        }
    }
    return best;
}

void expect_same(const Expr &e, const Check &check) {
    const std::string problem = check(e);
    if (!problem.empty()) {
        const Expr small = reduce_failure(e, check);
        ADD_FAILURE() << check(small) << "\nfound in " << e;
    }
}

int cases() {
    return getenv("BROMIDE_FULL") ? 200000 : 6000;
}

TEST(SimplifyRandom, KeepsValues) {
    for (int seed = 0; seed < cases(); seed++) {
        std::mt19937 random(seed);
        Generator g(random, seed % 3 == 0);
        const int lanes = seed % 4 == 3 ? (1 << (1 + seed / 4 % 3)) : 1;
        const Expr e = seed % 5 == 4 ? g.condition(lanes, 4) : g.expr(g.any_type(lanes), 2 + seed % 4);
        std::vector<std::map<std::string, int64_t>> values;
        for (int i = 0; i < 12; i++) {
            values.push_back(assignment(random, -1000, 1000, 1, 0));
        }
        expect_same(e, [&](const Expr &e) -> std::string {
            const Expr s = simplify(e);
            for (const auto &v : values) {
                const auto before = evaluate(e, v);
                const auto after = before ? evaluate(s, v) : before;
                // What does not overflow before may not do so afterwards where it matters; partial results may.
                if (before && after && *before != *after) {
                    std::ostringstream o;
                    o << "seed " << seed << ": " << e << "\n  became " << s << "\n  " << to_string(before) << "against "
                      << to_string(after) << "for";
                    for (const auto &[name, x] : v) {
                        o << " " << name << "=" << x;
                    }
                    return o.str();
                }
            }
            return "";
        });
        if (::testing::Test::HasFailure()) {
            break;
        }
    }
}

TEST(SimplifyRandom, UsesFactsRightly) {
    for (int seed = 0; seed < cases(); seed++) {
        std::mt19937 random(seed + 1000000);
        Generator g(random, seed % 3 == 0);
        const int lo = (int)(random() % 20) - 10, hi = lo + (int)(random() % 20);
        const int m = 1 + (int)(random() % 8), r = (int)(random() % m);
        Facts f;
        f.bounds.push("x", Interval(lo, hi));
        f.constant_bounds.push("x", ConstantInterval(lo, hi));
        f.alignment.push("y", ModulusRemainder(m, r));
        // z is between x and x + 9.
        const Expr x = Variable::make(Int(32), "x");
        f.bounds.push("z", Interval(x, x + 9));
        const Expr assumption = g.condition(1, 2);
        const Expr e = seed % 2 ? g.condition(1, 4) : g.expr(Int(32), 2 + seed % 4);
        std::vector<std::map<std::string, int64_t>> values;
        for (int i = 0; i < 16; i++) {
            auto v = assignment(random, lo, hi, m, r);
            v["z"] = v["x"] + (int64_t)(random() % 10);
            const auto holds = evaluate(assumption, v);
            if (holds && (*holds)[0]) {
                values.push_back(v);
            }
        }
        expect_same(e, [&](const Expr &e) -> std::string {
            const Expr s = simplify(e, f.bounds, f.alignment, {assumption});
            const bool proved = e.type().is_bool() && e.type().is_scalar() && can_prove(!assumption || e, f.bounds);
            const ConstantInterval b = constant_integer_bounds(e, f.constant_bounds);
            const ModulusRemainder k = modulus_remainder(e, f.alignment);
            for (const auto &v : values) {
                const auto before = evaluate(e, v);
                if (!before) {
                    continue;
                }
                const auto after = evaluate(s, v);
                std::ostringstream o;
                if (after && *before != *after) {
                    o << "became " << s << "\n  " << to_string(before) << "against " << to_string(after);
                }
                if (proved && !(*before)[0]) {
                    o << "was proved and is false";
                }
                for (int64_t x : *before) {
                    if (!b.contains(x)) {
                        o << x << " is not in " << b;
                    }
                    if (k.modulus == 0 ? x != k.remainder : mod_imp(x - k.remainder, k.modulus) != 0) {
                        o << x << " is not " << k.remainder << " modulo " << k.modulus;
                    }
                }
                if (!o.str().empty()) {
                    std::ostringstream where;
                    where << "seed " << seed << ": " << e << "\n  with " << lo << " <= x <= " << hi << ", y % " << m << " == " << r
                          << ", x <= z <= x + 9, " << assumption << "\n  " << o.str() << "\n  for";
                    for (const auto &[name, x] : v) {
                        where << " " << name << "=" << x;
                    }
                    return where.str();
                }
            }
            return "";
        });
        if (::testing::Test::HasFailure()) {
            break;
        }
    }
}

TEST(SimplifyRandom, DerivativesAreRight) {
    for (int seed = 0; seed < cases() / 2; seed++) {
        std::mt19937 random(seed + 2000000);
        Generator g(random, seed % 3 == 0);
        const Expr e = seed % 3 == 2 ? g.condition(1, 3) : g.expr(g.any_type(1), 1 + seed % 4);
        const ConstantInterval d = derivative_bounds(e, "x");
        if (d.is_everything()) {
            continue;
        }
        for (int i = 0; i < 16; i++) {
            auto v = assignment(random, -20, 20, 1, 0);
            const auto before = evaluate(e, v);
            v["x"]++;
            const auto after = evaluate(e, v);
            if (before && after) {
                ASSERT_TRUE(d.contains((*after)[0] - (*before)[0]))
                    << "seed " << seed << ": " << e << " moves by " << (*after)[0] - (*before)[0] << ", not in " << d
                    << " at x = " << v["x"] - 1;
            }
        }
    }
}

TEST(SimplifyRandom, CommonSubexpressionsKeepValues) {
    for (int seed = 0; seed < cases() / 4; seed++) {
        std::mt19937 random(seed + 3000000);
        Generator g(random, seed % 2 == 0);
        const Expr a = g.expr(Int(32), 3), b = g.expr(Int(32), 2);
        const Expr e = Select::make(a < b, Add::make(a, Mul::make(b, a)), Min::make(a, Max::make(b, g.expr(Int(32), 3))));
        const Expr c = common_subexpression_elimination(e, seed % 3 == 0);
        EXPECT_TRUE(equal(c, common_subexpression_elimination(c, seed % 3 == 0))) << e << "\n" << c;
        for (int i = 0; i < 4; i++) {
            const auto v = assignment(random, -1000, 1000, 1, 0);
            ASSERT_EQ(to_string(evaluate(e, v)), to_string(evaluate(c, v))) << "seed " << seed << ": " << e << "\n" << c;
        }
    }
}

}  // namespace
