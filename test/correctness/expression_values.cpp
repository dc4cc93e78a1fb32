#include "Halide.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

// What expressions compute on the machine, over all pairs of 8-bit values or many of wider types, scalar and vectorized.

namespace {

using namespace Halide;

int64_t floor_div(int64_t a, int64_t b) {
    const int64_t q = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

template<typename T>
int64_t saturate(int64_t v) {
    return v < (int64_t)std::numeric_limits<T>::min() ? (int64_t)std::numeric_limits<T>::min() :
           v > (int64_t)std::numeric_limits<T>::max() ? (int64_t)std::numeric_limits<T>::max() :
                                                        v;
}

struct Operation {
    const char *name;
    std::function<Expr(Expr, Expr)> build;
    /// The value in exact integers, to be wrapped to the type of the result.
    std::function<int64_t(int64_t, int64_t)> expected;
};

/// Every fixed-point operation, and the plain arithmetic that stands for it.
template<typename T, typename Wide>
std::vector<Operation> operations() {
    const auto lo = (int64_t)std::numeric_limits<T>::min(), hi = (int64_t)std::numeric_limits<T>::max();
    const int bits = 8 * sizeof(T);
    const auto wide = [](Expr e) { return cast<Wide>(e); };
    const auto narrow = [](Expr e) { return cast<T>(e); };
    const auto limit = [=](Expr e) { return cast<T>(clamp(e, cast(e.type(), type_of<T>().min()), cast(e.type(), type_of<T>().max()))); };
    return {
        {"add", [](Expr a, Expr b) { return a + b; }, [](int64_t a, int64_t b) { return a + b; }},
        {"sub", [](Expr a, Expr b) { return a - b; }, [](int64_t a, int64_t b) { return a - b; }},
        {"mul", [](Expr a, Expr b) { return a * b; }, [](int64_t a, int64_t b) { return a * b; }},
        {"div", [](Expr a, Expr b) { return a / b; },
         [](int64_t a, int64_t b) { return b == 0 ? 0 : b > 0 ? floor_div(a, b) : -floor_div(a, -b); }},
        {"mod", [](Expr a, Expr b) { return a % b; },
         [](int64_t a, int64_t b) { return b == 0 ? 0 : a - std::abs(b) * floor_div(a, std::abs(b)); }},
        {"div 7", [](Expr a, Expr b) { return a / 7; }, [](int64_t a, int64_t b) { return floor_div(a, 7); }},
        {"mod 10", [](Expr a, Expr b) { return a % 10; }, [](int64_t a, int64_t b) { return a - 10 * floor_div(a, 10); }},
        {"div 16", [](Expr a, Expr b) { return a / 16; }, [](int64_t a, int64_t b) { return floor_div(a, 16); }},
        {"widening_add", [](Expr a, Expr b) { return widening_add(a, b); }, [](int64_t a, int64_t b) { return a + b; }},
        {"widening_sub", [](Expr a, Expr b) { return widening_sub(a, b); }, [](int64_t a, int64_t b) { return a - b; }},
        {"widening_mul", [](Expr a, Expr b) { return widening_mul(a, b); }, [](int64_t a, int64_t b) { return a * b; }},
        {"wide sum", [=](Expr a, Expr b) { return wide(a) + wide(b); }, [](int64_t a, int64_t b) { return a + b; }},
        {"wide product", [=](Expr a, Expr b) { return wide(a) * wide(b); }, [](int64_t a, int64_t b) { return a * b; }},
        {"saturating_add", [](Expr a, Expr b) { return saturating_add(a, b); },
         [](int64_t a, int64_t b) { return saturate<T>(a + b); }},
        {"saturating_sub", [](Expr a, Expr b) { return saturating_sub(a, b); },
         [](int64_t a, int64_t b) { return saturate<T>(a - b); }},
        {"clamped sum", [=](Expr a, Expr b) { return limit(cast<int32_t>(a) + cast<int32_t>(b)); },
         [](int64_t a, int64_t b) { return saturate<T>(a + b); }},
        {"clamped difference", [=](Expr a, Expr b) { return limit(cast<int32_t>(a) - cast<int32_t>(b)); },
         [](int64_t a, int64_t b) { return saturate<T>(a - b); }},
        {"halving_add", [](Expr a, Expr b) { return halving_add(a, b); },
         [](int64_t a, int64_t b) { return floor_div(a + b, 2); }},
        {"average", [=](Expr a, Expr b) { return narrow((wide(a) + wide(b)) / 2); },
         [](int64_t a, int64_t b) { return floor_div(a + b, 2); }},
        {"rounding_halving_add", [](Expr a, Expr b) { return rounding_halving_add(a, b); },
         [](int64_t a, int64_t b) { return floor_div(a + b + 1, 2); }},
        {"rounded average", [=](Expr a, Expr b) { return narrow((wide(a) + wide(b) + 1) / 2); },
         [](int64_t a, int64_t b) { return floor_div(a + b + 1, 2); }},
        {"halving_sub", [](Expr a, Expr b) { return halving_sub(a, b); },
         [](int64_t a, int64_t b) { return floor_div(a - b, 2); }},
        {"absd", [](Expr a, Expr b) { return absd(a, b); }, [](int64_t a, int64_t b) { return std::abs(a - b); }},
        {"select distance", [](Expr a, Expr b) { return select(a < b, b - a, a - b); },
         [](int64_t a, int64_t b) { return std::abs(a - b); }},
        {"rounding_shift_right", [](Expr a, Expr b) { return rounding_shift_right(a, 3); },
         [](int64_t a, int64_t b) { return floor_div(a + 4, 8); }},
        {"rounded shift", [=](Expr a, Expr b) { return narrow((cast<int32_t>(a) + 8) >> 4); },
         [](int64_t a, int64_t b) { return floor_div(a + 8, 16); }},
        {"mul_shift_right", [=](Expr a, Expr b) { return mul_shift_right(a, b, bits - 1); },
         [=](int64_t a, int64_t b) { return saturate<T>((a * b) >> (bits - 1)); }},
        {"high half", [=](Expr a, Expr b) { return narrow((wide(a) * wide(b)) >> bits); },
         [=](int64_t a, int64_t b) { return (a * b) >> bits; }},
        {"rounding_mul_shift_right", [=](Expr a, Expr b) { return rounding_mul_shift_right(a, b, bits); },
         [=](int64_t a, int64_t b) { return saturate<T>((a * b + ((int64_t)1 << (bits - 1))) >> bits); }},
        {"lerp", [](Expr a, Expr b) { return lerp(a, b, cast<uint8_t>(100)); },
         [=](int64_t a, int64_t b) {
             const int64_t m = ((int64_t)1 << bits) - 1, w = 100 * (m / 255);
             return floor_div((a - lo) * (m - w) + (b - lo) * w + m / 2, m) + lo;
         }},
        {"min", [](Expr a, Expr b) { return min(a, b); }, [](int64_t a, int64_t b) { return std::min(a, b); }},
        {"max", [](Expr a, Expr b) { return max(a, b); }, [](int64_t a, int64_t b) { return std::max(a, b); }},
        {"saturating_cast", [](Expr a, Expr b) { return saturating_cast<int8_t>(a); },
         [](int64_t a, int64_t b) { return saturate<int8_t>(a); }},
        {"fast_integer_divide", [](Expr a, Expr b) { return fast_integer_divide(a, cast<uint8_t>(b)); },
         [](int64_t a, int64_t b) { return (b & 255) == 0 ? 0 : floor_div(a, b & 255); }},
        {"popcount", [](Expr a, Expr b) { return popcount(a & b); },
         [=](int64_t a, int64_t b) { return __builtin_popcountll((uint64_t)(a & b) & ((uint64_t)hi * 2 + 1) & ((1ull << bits) - 1)); }},
        {"leading zeros", [](Expr a, Expr b) { return count_leading_zeros(a ^ b); },
         [=](int64_t a, int64_t b) {
             const uint64_t v = (uint64_t)(a ^ b) & ((1ull << bits) - 1);
             return (int64_t)(v ? __builtin_clzll(v) - (64 - bits) : bits);
         }},
    };
}

template<typename T>
int64_t input_value(int i) {
    // All 8-bit values; of wider types the extremes and a spread.
    return sizeof(T) == 1 ? (T)i : (T)(i < 4 ? i - 2 : i < 8 ? (int64_t)std::numeric_limits<T>::max() - (i - 5) : i * 257 + i * i * 13);
}

template<typename T, typename Wide>
void check_all() {
    constexpr int size = 256;
    Buffer<T> in(size);
    for (int i = 0; i < size; i++) {
        in(i) = (T)input_value<T>(i);
    }
    const std::vector<Operation> all = operations<T, Wide>();
    // Several at a time, as elements of a Tuple: most of the time goes into compiling.
    constexpr size_t group = 6;
    for (size_t begin = 0; begin < all.size(); begin += group) {
        const std::vector<Operation> some(all.begin() + begin, all.begin() + std::min(begin + group, all.size()));
        for (bool vectorized : {false, true}) {
            Var x("x"), y("y");
            Func f("f");
            std::vector<Expr> values;
            std::vector<Type> types;
            for (const Operation &op : some) {
                const Expr value = op.build(in(x), in(y));
                types.push_back(value.type());
                values.push_back(cast<int64_t>(value));
            }
            f(x, y) = Tuple(values);
            if (vectorized) {
                f.vectorize(x, 32);
            }
            const Realization out = f.realize({size, size});
            for (size_t k = 0; k < some.size(); k++) {
                const Buffer<int64_t> actual = out[k];
                const int shift = 64 - types[k].bits();
                for (int j = 0; j < size; j++) {
                    for (int i = 0; i < size; i++) {
                        const int64_t exact = some[k].expected(in(i), in(j));
                        const int64_t expected = types[k].is_int() ? (int64_t)((uint64_t)exact << shift) >> shift :
                                                                     (int64_t)((uint64_t)exact << shift >> shift);
                        ASSERT_EQ(actual(i, j), expected)
                            << some[k].name << " of " << (int64_t)in(i) << ", " << (int64_t)in(j)
                            << (vectorized ? " vectorized" : " scalar");
                    }
                }
            }
        }
    }
}

TEST(ExpressionValues, UInt8) {
    check_all<uint8_t, uint16_t>();
}
TEST(ExpressionValues, Int8) {
    check_all<int8_t, int16_t>();
}
TEST(ExpressionValues, UInt16) {
    check_all<uint16_t, uint32_t>();
}
TEST(ExpressionValues, Int16) {
    check_all<int16_t, int32_t>();
}

TEST(ExpressionValues, FloatFunctions) {
    struct Case {
        const char *name;
        std::function<Expr(Expr)> build;
        double (*expected)(double);
        double relative_error;
    } cases[] = {
        {"exp", [](Expr x) { return exp(x); }, std::exp, 1.2e-7},
        {"log", [](Expr x) { return log(x); }, std::log, 1.5e-7},
        {"sqrt", [](Expr x) { return sqrt(x); }, std::sqrt, 6e-8},
        {"erf", [](Expr x) { return erf(x); }, std::erf, 5e-7},
        {"sin", [](Expr x) { return sin(x); }, std::sin, 5e-7},
        {"tanh", [](Expr x) { return tanh(x); }, std::tanh, 5e-7},
        {"floor", [](Expr x) { return floor(x); }, std::floor, 0},
        {"round", [](Expr x) { return round(x); }, std::nearbyint, 0},
        {"trunc", [](Expr x) { return trunc(x); }, std::trunc, 0},
        {"fast_exp", [](Expr x) { return fast_exp(x); }, std::exp, 3e-6},
        {"fast_log", [](Expr x) { return fast_log(x); }, std::log, 3e-6},
    };
    Buffer<float> in(1000);
    for (int i = 0; i < 1000; i++) {
        in(i) = 0.0137f + 0.0173f * (float)i;
    }
    for (const Case &c : cases) {
        Buffer<float> first;
        for (bool vectorized : {false, true}) {
            Var x("x");
            Func f("f");
            f(x) = c.build(in(x));
            if (vectorized) {
                f.vectorize(x, 8);
            }
            const Buffer<float> out = f.realize({1000});
            for (int i = 0; i < 1000; i++) {
                const double expected = c.expected(in(i));
                ASSERT_NEAR(out(i), expected, c.relative_error * std::max(std::fabs(expected), 1e-3))
                    << c.name << "(" << in(i) << ")";
                if (vectorized) {
                    ASSERT_EQ(out(i), first(i)) << c.name << "(" << in(i) << ") differs when vectorized";
                }
            }
            first = out;
        }
    }
}

TEST(ExpressionValues, RandomNumbers) {
    Func f("f");
    Var x("x"), y("y");
    f(x, y) = random_float(3);
    const Buffer<float> serial = f.realize({100, 100});
    f.vectorize(x, 8).parallel(y);
    const Buffer<float> scheduled = f.realize({100, 100});
    double sum = 0;
    for (int j = 0; j < 100; j++) {
        for (int i = 0; i < 100; i++) {
            ASSERT_GE(serial(i, j), 0.0f);
            ASSERT_LT(serial(i, j), 1.0f);
            ASSERT_EQ(serial(i, j), scheduled(i, j));
            sum += serial(i, j);
        }
    }
    EXPECT_NEAR(sum / 10000, 0.5, 0.02);
}

}  // namespace
