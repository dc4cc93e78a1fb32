#include "ir/IR.h"
#include "ir/IREquality.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/Parameter.h"
#include "ir/Substitute.h"

#include <gtest/gtest.h>

#include <functional>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace Halide;
using namespace Halide::Internal;

template<typename T>
std::string text(const T &x) {
    std::ostringstream s;
    s << x;
    return s.str();
}

Expr var(Type t, const std::string &name = "x") {
    return Variable::make(t, name);
}

/// The text of the CompileError that f raises.
std::string error_of(const std::function<void()> &f) {
    try {
        f();
    } catch (const CompileError &e) {
        return e.what();
    }
    return "(no error)";
}

#define EXPECT_ERROR(statement, words)                                                           \
    do {                                                                                         \
        const std::string message = error_of([&] { statement; });                                \
        EXPECT_NE(message.find(words), std::string::npos) << #statement << " gives: " << message; \
        EXPECT_EQ(message.substr(0, 7), "Error: ") << message;                                   \
    } while (0)

TEST(Operators, TypeMatching) {
    struct Case {
        Type a, b, result;
    } cases[] = {
        {UInt(8), UInt(16), UInt(16)},   {UInt(8), Int(8), Int(8)},         {UInt(16), Int(8), Int(16)},
        {UInt(32), Int(8), Int(32)},     {Int(8), Int(32), Int(32)},        {UInt(8), Float(32), Float(32)},
        {Int(64), Float(16), Float(16)}, {Float(32), Float(64), Float(64)}, {Float(16), Float(32), Float(32)},
        {Bool(), UInt(8), UInt(8)},      {Bool(), Int(16), Int(16)},        {Float(64), BFloat(16), Float(64)},
        {UInt(64), Int(8), Int(64)},     {Int(32), Int(32, 4), Int(32, 4)}, {UInt(8, 4), Int(16), Int(16, 4)},
    };
    for (const Case &c : cases) {
        const Expr a = var(c.a, "a"), b = var(c.b, "b");
        for (const Expr &e : {a + b, b + a, a - b, a * b, a / b, min(a, b), max(b, a)}) {
            EXPECT_EQ(e.type(), c.result) << c.a << ", " << c.b;
        }
        EXPECT_EQ((a < b).type(), Bool(c.result.lanes()));
        EXPECT_EQ((a == b).type(), Bool(c.result.lanes()));
    }
    // At equal width the second operand decides.
    EXPECT_EQ((var(Float(16)) + var(BFloat(16))).type(), BFloat(16));
    EXPECT_EQ((var(BFloat(16)) + var(Float(16))).type(), Float(16));
}

TEST(Operators, ConstantsTakeTheTypeOfTheOtherOperand) {
    const Expr u8 = var(UInt(8)), f64 = var(Float(64)), f16 = var(Float(16));
    EXPECT_EQ((u8 + 255).type(), UInt(8));
    EXPECT_EQ((3 * u8).type(), UInt(8));
    EXPECT_EQ((u8 * 2.5f).type(), Float(32));
    EXPECT_EQ((u8 * 2.5).type(), Float(32));
    EXPECT_EQ((2.5 * u8).type(), Float(32));
    EXPECT_EQ((f64 * 2.5f).type(), Float(64));
    EXPECT_EQ((f16 + 1).type(), Float(16));
    EXPECT_EQ((var(Int(32)) < 2.5).type(), Bool());
    EXPECT_ERROR(u8 + 300, "300");
    EXPECT_ERROR(u8 + (-1), "uint8");
    EXPECT_ERROR(f16 + 2049, "2049");
    EXPECT_ERROR(var(type_of<void *>()) + 1, "1");
    EXPECT_ERROR(var(type_of<void *>()) + var(Int(64)), "pointer");
    EXPECT_ERROR(Expr() + 1, "undefined");
    EXPECT_ERROR(cast(Int(32, 4), var(Int(32))) + cast(Int(32, 8), var(Int(32))), "widths");
}

TEST(Operators, CompoundAssignmentKeepsTheType) {
    Expr e = var(UInt(8));
    e += var(Int(32), "y");
    e *= 2.5f;
    EXPECT_EQ(e.type(), UInt(8));
    EXPECT_EQ(text(e), "(((uint8)x + uint8(y))*2_u8)");
}

TEST(Operators, Bitwise) {
    EXPECT_EQ((var(UInt(8)) & var(UInt(16))).type(), UInt(16));
    EXPECT_EQ((var(Int(8)) | 127).type(), Int(8));
    EXPECT_EQ((var(UInt(8)) << var(Int(32))).type(), UInt(32));
    EXPECT_EQ((var(UInt(8)) << 3).type(), UInt(8));
    EXPECT_EQ((var(Int(64)) >> var(UInt(8))).type(), Int(64));
    EXPECT_TRUE((var(Bool()) & var(Bool(), "y")).as<And>());
    EXPECT_TRUE((var(Bool()) | var(Bool(), "y")).as<Or>());
    EXPECT_TRUE((var(Bool()) ^ var(Bool(), "y")).as<NE>());
    EXPECT_ERROR(var(Int(8)) & var(UInt(8)), "signed");
    EXPECT_ERROR(var(Float(32)) & var(UInt(32)), "integers");
    EXPECT_ERROR(~var(Float(32)), "integer");
    EXPECT_ERROR(var(Float(32)) << 2, "integer");
    EXPECT_ERROR(popcount(var(Float(32))), "integer");
    // A negative constant shifts the other way.
    EXPECT_TRUE((var(Int(32)) << -2).as<Call>()->is_intrinsic(Call::shift_right));
}

TEST(Operators, Logic) {
    const Expr b = var(Bool());
    EXPECT_TRUE((b && true).same_as(b));
    EXPECT_TRUE(is_const_zero(b && false));
    EXPECT_TRUE(is_const_one(true || b));
    EXPECT_ERROR(var(Int(32)) && b, "boolean");
    EXPECT_ERROR(!var(Int(32)), "boolean");
}

TEST(Operators, CastsFoldConstants) {
    EXPECT_EQ(text(cast<uint8_t>(300)), text(make_const(UInt(8), 44)));
    EXPECT_EQ(text(cast<bool>(2)), text(make_const(UInt(1), 0)));
    EXPECT_EQ(text(cast<float>(3)), "3.000000f");
    EXPECT_TRUE(is_const(cast<int>(Expr(-2.75f)), -2));
    EXPECT_TRUE(is_const(cast<uint8_t>(Expr((uint64_t)0x1ff)), 255));
    EXPECT_EQ(*as_const_float(cast(Float(16), Expr(65519.0f))), 65504);
    // Rounded once: through double this would be a tie.
    EXPECT_EQ(*as_const_float(cast<float>(Expr(((int64_t)1 << 53) + ((int64_t)1 << 29) + 1))),
              (double)(float)(((int64_t)1 << 53) + ((int64_t)1 << 29) + 1));
    const Expr x = var(Int(32));
    EXPECT_TRUE(cast<int>(x).same_as(x));
    EXPECT_TRUE(cast(Int(8, 4), x).as<Broadcast>());
    EXPECT_ERROR(cast<int>(var(type_of<void *>())), "reinterpret");
    EXPECT_ERROR(cast(Int(8, 4), var(Int(8, 8))), "lanes");
    EXPECT_ERROR(reinterpret<uint8_t>(x), "bits");
    EXPECT_EQ(reinterpret(UInt(8, 4), x).type(), UInt(8, 4));
    EXPECT_TRUE(is_const(saturating_cast<uint8_t>(Expr(300)), 255));
    EXPECT_TRUE(is_const(saturating_cast<uint8_t>(Expr(-300)), 0));
    EXPECT_TRUE(is_const(saturating_cast<int8_t>(Expr(-300)), -128));
}

TEST(Operators, Printing) {
    const Expr a = var(Int(32), "a"), b = var(Int(32), "b");
    struct Case {
        Expr e;
        const char *expected;
    } cases[] = {
        {a + b, "(a + b)"},
        {a * b, "(a*b)"},
        {a / b, "(a/b)"},
        {a % b, "(a % b)"},
        {min(a, b), "min(a, b)"},
        {max(a, b, 3), "max(a, max(b, 3))"},
        {select(a > 3, a, b), "select(a > 3, a, b)"},
        {likely(a), "likely(a)"},
        {a & 3, "(a & 3)"},
        {cast<uint8_t>(a), "uint8(a)"},
        {a << b, "shift_left(a, b)"},
        {clamp(a, 0, 10), "max(min(a, 10), 0)"},
        {Expr(2.5f), "2.500000f"},
        {abs(a), "(uint32)abs(a)"},
        {-Expr(3), "-3"},
    };
    for (const Case &c : cases) {
        EXPECT_EQ(text(c.e), c.expected);
    }
}

TEST(Operators, Select) {
    const Expr c = var(Bool(), "c"), u8 = var(UInt(8));
    EXPECT_EQ(select(c, u8, 3).type(), UInt(8));
    EXPECT_EQ(select(c, 3, u8).type(), UInt(8));
    EXPECT_EQ(select(c, 3, 4).type(), Int(32));
    EXPECT_EQ(select(1, u8, 3).type(), UInt(8));
    EXPECT_EQ(text(select(c, 1, !c, 2, 3)), "select((uint1)c, 1, select(!(uint1)c, 2, 3))");
    EXPECT_ERROR(select(c, u8, var(Int(32))), "matching type");
    EXPECT_ERROR(select(var(Int(32)), u8, u8), "boolean");
    EXPECT_ERROR(mux(var(Int(32)), std::vector<Expr>{}), "at least one");
    EXPECT_ERROR(mux(var(Int(32)), {Expr(1), Expr(2.f)}), "equal types");
    EXPECT_TRUE(mux(var(Int(32)), {u8}).same_as(u8));
}

TEST(Operators, ClampAndPromises) {
    const Expr u8 = var(UInt(8)), i32 = var(Int(32));
    EXPECT_EQ(clamp(u8, 3, 200).type(), UInt(8));
    EXPECT_ERROR(clamp(u8, 0, 300), "clamp");
    EXPECT_ERROR(clamp(u8, 0, i32), "third argument");
    EXPECT_EQ(clamp(i32, u8, 7).type(), Int(32));
    const Expr p = unsafe_promise_clamped(i32, 0, Expr());
    EXPECT_TRUE(p.as<Call>()->is_intrinsic(Call::unsafe_promise_clamped));
    EXPECT_TRUE(is_const(p.as<Call>()->args[2], INT32_MAX));
}

TEST(Operators, AbsAndDistance) {
    EXPECT_EQ(abs(var(Int(16))).type(), UInt(16));
    EXPECT_EQ(abs(var(Float(32))).type(), Float(32));
    testing::internal::CaptureStderr();
    const Expr u8 = var(UInt(8));
    EXPECT_TRUE(abs(u8).same_as(u8));
    EXPECT_EQ(testing::internal::GetCapturedStderr().substr(0, 9), "Warning: ");
    EXPECT_EQ(absd(var(Int(8)), var(UInt(16), "y")).type(), UInt(16));
    EXPECT_EQ(absd(var(Float(32)), var(Float(32), "y")).type(), Float(32));
}

TEST(Operators, FixedPointTypes) {
    const Expr u8 = var(UInt(8)), i8 = var(Int(8)), i16 = var(Int(16)), u16 = var(UInt(16));
    EXPECT_EQ(widening_add(u8, u8).type(), UInt(16));
    EXPECT_EQ(widening_sub(u8, u8).type(), Int(16));
    EXPECT_EQ(widening_mul(u8, i8).type(), Int(16));
    EXPECT_EQ(widening_mul(u8, i16).type(), Int(32));
    EXPECT_EQ(widening_mul(u8, var(Float(32))).type(), Float(64));
    EXPECT_EQ(widen_right_add(u16, u8).type(), UInt(16));
    EXPECT_EQ(widening_shift_left(u8, 3).type(), UInt(16));
    EXPECT_EQ(rounding_shift_right(u8, 3).type(), UInt(8));
    EXPECT_EQ(mul_shift_right(i16, i16, 15).type(), Int(16));
    EXPECT_ERROR(widen_right_add(u16, i8), "twice the width");
    EXPECT_ERROR(mul_shift_right(i16, i16, i16), "UInt");
    EXPECT_ERROR(widening_add(var(Int(64)), 1), "64 bits");
    EXPECT_ERROR(widening_mul(var(Int(64)), var(Float(32))), "without loss");
    EXPECT_ERROR(halving_add(var(Float(32)), 1), "integers");
    EXPECT_ERROR(concat_bits({u8, u8, u8}), "power of two");
    EXPECT_ERROR(concat_bits({u8, i8}), "equal types");
    EXPECT_ERROR(div_round_to_zero(var(Float(32)), 2), "integer");
    EXPECT_ERROR(fast_integer_divide(var(Int(64)), u8), "8, 16, or 32 bits");
    EXPECT_ERROR(fast_integer_divide(var(Int(32)), i8), "UInt(8)");
}

TEST(Operators, MathsTypes) {
    EXPECT_EQ(text(sin(var(Int(32)))), "(float32)sin_f32(float32(x))");
    EXPECT_EQ(sqrt(var(Float(64))).type(), Float(64));
    EXPECT_EQ(sqrt(var(Float(16))).as<Call>()->name, "sqrt_f16");
    EXPECT_EQ(exp(var(BFloat(16))).type(), Float(32));
    EXPECT_EQ(pow(var(UInt(8)), 2).type(), UInt(8));
    EXPECT_EQ(text(pow(var(Int(32)), 3)), "(x*(x*x))");
    EXPECT_TRUE(is_const_one(pow(var(Int(32)), 0)));
    EXPECT_EQ(pow(var(Int(32)), 2.5f).type(), Float(32));
    EXPECT_EQ(round(var(BFloat(16))).type(), BFloat(16));
    EXPECT_EQ(is_nan(var(Float(32))).type(), Bool());
    EXPECT_ERROR(is_nan(var(Int(32))), "float");
    EXPECT_ERROR(erf(var(Float(64))), "Float(32)");
    EXPECT_ERROR(fast_log(var(Float(64))), "Float(32)");
    EXPECT_ERROR(fma(var(Float(32)), var(Float(64)), var(Float(32))), "equal type");
    EXPECT_ERROR(lerp(var(UInt(8)), var(UInt(8)), 1.5f), "range");
    EXPECT_ERROR(lerp(var(UInt(8)), var(Int(8)), 0.5f), "matching type");
    EXPECT_ERROR(lerp(var(UInt(8)), var(UInt(8)), var(Int(8))), "weight");
}

TEST(Operators, LosslessCasts) {
    const Expr u8 = var(UInt(8)), i32 = var(Int(32));
    EXPECT_TRUE(lossless_cast(UInt(16), u8).defined());
    EXPECT_FALSE(lossless_cast(UInt(8), i32).defined());
    EXPECT_TRUE(lossless_cast(UInt(8), cast<int>(u8)).same_as(u8));
    EXPECT_TRUE(lossless_cast(UInt(8), Expr(255)).defined());
    EXPECT_FALSE(lossless_cast(UInt(8), Expr(256)).defined());
    EXPECT_TRUE(lossless_cast(Int(16), cast<int>(u8) + cast<int>(var(UInt(8), "y"))).defined());
    EXPECT_FALSE(lossless_cast(UInt(8), cast<int>(u8) + 1).defined());
    EXPECT_TRUE(lossless_cast(UInt(8), i32 % 100).defined());
    EXPECT_TRUE(lossless_cast(Float(32), var(Int(16))).defined());
    EXPECT_FALSE(lossless_cast(Float(32), i32).defined());
}

TEST(Operators, StrictFloat) {
    const Expr x = var(Float(32)), y = var(Float(32), "y");
    const Expr e = strict_float(x * y + 1.0f);
    EXPECT_TRUE(e.as<Call>()->is_intrinsic(Call::strict_add));
    EXPECT_TRUE(e.as<Call>()->args[0].as<Call>()->is_intrinsic(Call::strict_mul));
    EXPECT_TRUE(strict_float(x > y).as<Call>()->is_intrinsic(Call::strict_lt));
    EXPECT_TRUE(strict_float(x != y).as<Not>());
    EXPECT_TRUE(strict_float(var(Int(32)) + 1).as<Add>());
    EXPECT_TRUE(strict_float(cast<int>(x)).as<Call>()->is_intrinsic(Call::strict_cast));
}

TEST(Operators, PrintAndRequire) {
    const Expr x = var(Int(32));
    const Expr p = print(x, "and", var(Float(32), "y"));
    EXPECT_EQ(p.type(), Int(32));
    EXPECT_FALSE(is_pure(p));
    EXPECT_TRUE(p.as<Call>()->is_intrinsic(Call::return_second));
    const Expr r = require(x > 0, x, "must be positive");
    EXPECT_TRUE(r.as<Call>()->is_intrinsic(Call::require));
    EXPECT_NE(text(r).find("x > 0"), std::string::npos);
    EXPECT_ERROR(require(x, x), "boolean");
    EXPECT_ERROR(random_float(Expr(1.0f)), "Int(32)");
    EXPECT_ERROR(scatter(x, var(Int(8))), "same type");
}

TEST(Operators, AssertsDoNotEvaluateTheirMessage) {
    int evaluated = 0;
    const auto count = [&] { return ++evaluated; };
    user_assert(evaluated == 0) << count();
    EXPECT_EQ(evaluated, 0);
    EXPECT_NE(error_of([&] { user_assert(evaluated == 1) << count(); }), "(no error)");
    EXPECT_EQ(evaluated, 1);
    if (evaluated == 2)
        user_assert(false) << "an else must not bind here";
    else
        evaluated = 5;
    EXPECT_EQ(evaluated, 5);
    bool is_runtime_error = false;
    try {
        halide_runtime_error << "x";
    } catch (const RuntimeError &) {
        is_runtime_error = true;
    }
    EXPECT_TRUE(is_runtime_error);
    try {
        internal_assert(evaluated == 0) << "details";
    } catch (const InternalError &e) {
        EXPECT_NE(std::string(e.what()).find("Internal error at "), std::string::npos);
        EXPECT_NE(std::string(e.what()).find("Condition failed: evaluated == 0"), std::string::npos);
    }
}

TEST(Operators, Reporter) {
    struct Reporter : public CompileTimeErrorReporter {
        std::string warnings;
        void warning(const char *message) override {
            warnings += message;
        }
        [[noreturn]] void error(const char *message) override {
            throw std::string(message);
        }
    } reporter;
    set_custom_compile_time_error_reporter(&reporter);
    abs(var(UInt(8)));
    std::string error;
    try {
        var(UInt(8)) + 300;
    } catch (const std::string &s) {
        error = s;
    }
    set_custom_compile_time_error_reporter(nullptr);
    EXPECT_EQ(reporter.warnings.substr(0, 9), "Warning: ");
    EXPECT_EQ(error.substr(0, 7), "Error: ");
}

TEST(Operators, SubstituteRespectsScopes) {
    const Expr x = var(Int(32)), y = var(Int(32), "y");
    EXPECT_TRUE(equal(substitute("x", y, x + 1), y + 1));
    EXPECT_TRUE(equal(substitute("x", y, Let::make("x", x + 2, x * 3)), Let::make("x", y + 2, x * 3)));
    EXPECT_TRUE(equal(substitute(x + 1, y, (x + 1) * 2), y * 2));
    EXPECT_TRUE(equal(substitute({{"x", y}, {"y", x}}, x - y), y - x));
    EXPECT_TRUE(equal(substitute_in_all_lets(Let::make("t", x + 1, Let::make("u", var(Int(32), "t") * 2,
                                                                              var(Int(32), "u") + var(Int(32), "t")))),
                      (x + 1) * 2 + (x + 1)));
    const Expr unchanged = Let::make("z", x, x + 1);
    EXPECT_TRUE(substitute("q", y, unchanged).same_as(unchanged));
}

TEST(Operators, UniqueNames) {
    EXPECT_EQ(unique_name("operators_test"), "operators_test");
    EXPECT_EQ(unique_name("operators_test"), "operators_test$1");
    EXPECT_EQ(unique_name("operators_test"), "operators_test$2");
    EXPECT_EQ(unique_name("q7777"), "q7777$0");
    EXPECT_EQ(unique_name("a$b"), "a$b$0");
    const std::string first = unique_name('k'), second = unique_name('k');
    EXPECT_EQ(first[0], 'k');
    EXPECT_NE(first, second);
}

TEST(Operators, Parameters) {
    Parameter p(Int(16), false, 0, "p");
    EXPECT_FALSE(p.has_scalar_value());
    EXPECT_ERROR(p.scalar<int16_t>(), "does not have a valid scalar value");
    p.set_scalar<int16_t>(-7);
    EXPECT_EQ(p.scalar<int16_t>(), -7);
    EXPECT_TRUE(is_const(p.scalar_expr(), -7));
    EXPECT_ERROR(p.set_scalar<int32_t>(3), "int32");
    EXPECT_ERROR(p.set_min_value(Expr(3)), "min value");
    EXPECT_ERROR(p.set_host_alignment(16), "scalar");
    Parameter image(UInt(8), true, 2, "image");
    EXPECT_TRUE(is_const_one(image.stride_constraint(0)));
    EXPECT_FALSE(image.stride_constraint(1).defined());
    Dimension d(image, 1);
    d.set_bounds(0, 64).set_stride(var(Int(32)));
    EXPECT_TRUE(is_const(image.extent_constraint(1), 64));
    EXPECT_EQ(text(d.max()), "((image.min.1 + image.extent.1) - 1)");
    EXPECT_ERROR(Dimension(image, 2), "dimension 2");
    EXPECT_ERROR(image.set_buffer(Buffer<float>(3, 4)), "type");
    EXPECT_ERROR(image.set_buffer(Buffer<uint8_t>(3)), "dimensions");
    image.set_buffer(Buffer<uint8_t>(3, 4));
    EXPECT_EQ(image.buffer().width(), 3);
}

TEST(Operators, BufferAccesses) {
    const Buffer<uint8_t> b(4, 5, "img");
    const Expr x = var(Int(32));
    EXPECT_EQ(b(x, 3).type(), UInt(8));
    EXPECT_EQ(text(b(x, cast<uint8_t>(x))), "(uint8)img(x, int32(uint8(x)))");
    EXPECT_EQ(text(b(x, var(Int(32), "_"))), "(uint8)img(x, _0)");
    EXPECT_ERROR(b(x), "2 dimensions");
    EXPECT_ERROR(b(x, 1.5f), "argument 2");
    EXPECT_ERROR((Buffer<float>(Buffer<>(b))), "Type mismatch constructing Buffer");
    EXPECT_ERROR((Buffer<uint8_t, 3>(Buffer<>(b))), "Type mismatch constructing Buffer");
    EXPECT_ERROR(Buffer<float>().width(), "Undefined buffer");
    static_assert(!std::is_convertible_v<Buffer<float>, Buffer<int>>);
    static_assert(std::is_convertible_v<Buffer<float>, Buffer<const float>>);
    static_assert(!std::is_convertible_v<Buffer<const float>, Buffer<float>>);
}

}  // namespace
