#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"
#include "ir/LowerIntrinsics.h"
#include "lower/vector/FindIntrinsics.h"

#include "../support/ScalarEvaluator.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace Halide;
using namespace Halide::Internal;
using ScalarEvaluator::Evaluator;
using ScalarEvaluator::max_of;
using ScalarEvaluator::min_of;
using ScalarEvaluator::Wide;
using ScalarEvaluator::wrap;

constexpr int lanes = 8;

Expr u8(const std::string &n) {
    return Variable::make(UInt(8, lanes), n);
}
Expr i8(const std::string &n) {
    return Variable::make(Int(8, lanes), n);
}
Expr u16(const std::string &n) {
    return Variable::make(UInt(16, lanes), n);
}
Expr i16(const std::string &n) {
    return Variable::make(Int(16, lanes), n);
}
Expr i32(const std::string &n) {
    return Variable::make(Int(32, lanes), n);
}
Expr to(Type t, const Expr &e) {
    return cast(t.with_lanes(lanes), e);
}

/// The fixed-point intrinsics in an expression.
std::set<std::string> intrinsics_in(const Expr &e) {
    std::set<std::string> names;
    visit_with(e, [&](auto *self, const Call *op) {
        if (lower_intrinsic(op).defined()) {
            names.insert(op->name);
        }
        self->visit_base(op);
    });
    return names;
}

std::map<std::string, Type> variables_in(const Expr &e) {
    std::map<std::string, Type> result;
    visit_with(e, [&](auto *self, const Variable *op) { result[op->name] = op->type.element_of(); });
    return result;
}

/// Evaluates both with random and extreme values.
void expect_same_values(const Expr &a, const Expr &b) {
    const auto variables = variables_in(a);
    const Expr la = lower_intrinsics(a), lb = lower_intrinsics(b);
    std::mt19937_64 random(1);
    for (int i = 0; i < 200; i++) {
        Evaluator eval;
        for (const auto &[name, t] : variables) {
            const uint64_t r = random();
            eval.set(name, r % 5 == 0 ? min_of(t) : r % 5 == 1 ? max_of(t) : wrap(t, (Wide)(r >> (8 + r % 50))));
        }
        const Wide expected = eval.integer(la);
        if (!eval.undefined.empty()) {
            continue;
        }
        const Wide actual = eval.integer(lb);
        ASSERT_EQ((int64_t)actual, (int64_t)expected) << a << "\n" << b;
        ASSERT_EQ(eval.undefined, "") << a << "\n" << b;
    }
}

TEST(FindIntrinsics, Patterns) {
    const Expr a = u8("a"), b = u8("b"), c = i8("c"), d = i8("d"), x = i16("x"), y = i16("y"), p = i32("p"), q = i32("q");
    const Type W = UInt(16), I = Int(16), L = Int(32);
    struct Case {
        const char *name;
        Expr e;
    } cases[] = {
        {"widening_add", to(W, a) + to(W, b)},
        {"widening_add", to(L, a) + to(L, b)},
        {"widening_add", to(I, c) + to(I, d)},
        {"widening_add", to(L, x) + to(L, y)},
        {"widening_add", to(I, a) + 3},
        {"widening_sub", to(I, a) - to(I, b)},
        {"widening_sub", to(W, a) - to(W, b)},
        {"widening_mul", to(W, a) * to(W, b)},
        {"widening_mul", to(I, a) * to(I, c)},
        {"widening_mul", to(L, x) * 1000},
        {"halving_add", to(UInt(8), (to(W, a) + to(W, b)) / 2)},
        {"halving_add", to(UInt(8), (to(W, a) + to(W, b)) >> 1)},
        {"halving_add", (to(L, x) + to(L, y)) / 2},
        {"halving_sub", to(UInt(8), (to(I, a) - to(I, b)) / 2)},
        {"halving_sub", to(Int(8), (to(I, c) - to(I, d)) >> 1)},
        {"rounding_halving_add", to(UInt(8), (to(W, a) + to(W, b) + 1) / 2)},
        {"rounding_halving_add", to(UInt(8), (to(W, a) + 1 + to(W, b)) / 2)},
        {"rounding_halving_add", to(UInt(8), (to(L, a) + to(L, b) + 1) >> 1)},
        {"rounding_halving_add", to(Int(16), (to(L, x) + to(L, y) + 1) / 2)},
        {"rounding_shift_right", to(UInt(8), (to(W, a) + 8) >> 4)},
        {"rounding_shift_right", (p + 16) >> 5},
        {"rounding_shift_right", (p + 16) / 32},
        {"rounding_shift_right", to(I, (to(L, x) + 64) / 128)},
        {"saturating_add", to(UInt(8), min(to(W, a) + to(W, b), 255))},
        {"saturating_add", to(Int(8), clamp(to(I, c) + to(I, d), -128, 127))},
        {"saturating_add", to(I, max(min(to(L, x) + to(L, y), 32767), -32768))},
        {"saturating_sub", to(UInt(8), max(to(I, a) - to(I, b), 0))},
        {"saturating_sub", to(UInt(8), clamp(to(L, a) - to(L, b), 0, 255))},
        {"saturating_sub", to(I, clamp(to(L, x) - to(L, y), -32768, 32767))},
        {"saturating_sub", max(a, b) - b},
        {"saturating_cast", to(UInt(8), clamp(x, 0, 255))},
        {"saturating_cast", to(UInt(8), min(u16("w"), 255))},
        {"saturating_cast", to(Int(16), clamp(p, -32768, 32767))},
        {"mul_shift_right", to(I, (to(L, x) * to(L, y)) >> 16)},
        {"mul_shift_right", to(I, clamp((to(L, x) * to(L, y)) >> 15, -32768, 32767))},
        {"mul_shift_right", to(UInt(8), (to(W, a) * to(W, b)) >> 8)},
        {"rounding_mul_shift_right", to(I, clamp((to(L, x) * to(L, y) + (1 << 14)) >> 15, -32768, 32767))},
        {"rounding_mul_shift_right", to(I, (to(L, x) * to(L, y) + (1 << 15)) >> 16)},
        {"absd", select(a < b, b - a, a - b)},
        {"absd", select(x >= y, x - y, y - x)},
        {"absd", max(a, b) - min(b, a)},
        {"absd", to(UInt(8), abs(to(I, a) - to(I, b)))},
        {"absd", abs(p - q)},
    };
    for (const Case &c : cases) {
        const Expr found = find_intrinsics(c.e);
        EXPECT_EQ(found.type(), c.e.type()) << c.e;
        EXPECT_EQ(intrinsics_in(found), std::set<std::string>{c.name}) << c.e << "\n" << found;
        expect_same_values(c.e, found);
    }
}

TEST(FindIntrinsics, WhatMayNotChange) {
    const Expr a = u8("a"), b = u8("b"), x = i16("x"), y = i16("y"), w = u16("w");
    struct Case {
        const char *why;
        Expr e;
    } cases[] = {
        {"the sum wraps before the shift", (a + b) >> 1},
        {"the sum may wrap", (w + 8) >> 4},
        {"scalars are left alone", cast<uint16_t>(Variable::make(UInt(8), "s")) + 1},
        {"one bound is missing", to(UInt(8), min(x, 255))},
        {"not the limits of the type", to(UInt(8), clamp(x, 1, 300))},
        {"signed difference may wrap", max(x, y) - y},
        {"wrapped difference", abs(x - y)},
    };
    for (const Case &c : cases) {
        const Expr found = find_intrinsics(c.e);
        std::set<std::string> names = intrinsics_in(found);
        names.erase("abs");
        EXPECT_EQ(names, std::set<std::string>{}) << c.why << ": " << found;
        expect_same_values(c.e, found);
    }
}

/// Random arithmetic over narrow vectors: whatever is found has the same values.
TEST(FindIntrinsics, RandomExpressions) {
    std::mt19937 random(7);
    const auto pick = [&](int n) { return (int)(random() % n); };
    const std::vector<Type> types = {UInt(8), Int(8), UInt(16), Int(16), Int(32)};
    const std::function<Expr(Type, int)> make = [&](Type t, int depth) -> Expr {
        if (depth == 0 || pick(8) == 0) {
            if (pick(4) == 0) {
                const int constants[] = {0, 1, 2, 4, 8, 16, 127, 255, -1, -128};
                return make_const(t.with_lanes(lanes), constants[pick(10)]);
            }
            return Variable::make(t.with_lanes(lanes), std::string(1, (char)('a' + pick(3))) + std::to_string(t.bits()) +
                                                           (t.is_int() ? "i" : "u"));
        }
        const auto operand = [&](Type type) { return make(type, depth - 1); };
        switch (pick(9)) {
        case 0:
            return operand(t) + operand(t);
        case 1:
            return operand(t) - operand(t);
        case 2:
            return operand(t) * operand(t);
        case 3:
            return operand(t) >> (1 + pick(std::min(t.bits() - 1, 9)));
        case 4:
            return operand(t) / (1 << pick(std::min(t.bits() - 1, 5)));
        case 5:
            return min(operand(t), operand(t));
        case 6:
            return max(operand(t), operand(t));
        case 7: {
            const Type from = types[pick((int)types.size())];
            const Type limits = types[pick((int)types.size())];
            Expr e = operand(from);
            if (pick(2) && limits.bits() < from.bits()) {
                e = clamp(e, cast(e.type(), limits.min()), cast(e.type(), limits.max()));
            }
            return to(t, e);
        }
        default:
            return to(t, operand(types[pick((int)types.size())]));
        }
    };
    for (int i = 0; i < 300; i++) {
        const Expr e = make(types[pick((int)types.size())], 4);
        if (is_const(e)) {
            continue;
        }
        const Expr found = find_intrinsics(e);
        ASSERT_EQ(found.type(), e.type());
        expect_same_values(e, found);
        if (HasFatalFailure()) {
            return;
        }
    }
}

}  // namespace
