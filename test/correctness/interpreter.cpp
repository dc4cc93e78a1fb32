#include "interp/Interpreter.h"
#include "ir/IRConstants.h"
#include "ir/IROperator.h"
#include "ir/IRText.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace {

using namespace Halide;
using namespace Halide::Internal;

Buffer<int32_t> ints(int n) {
    Buffer<int32_t> b(n);
    std::iota(b.begin(), b.end(), 0);
    return b;
}

int64_t eval_int(const char *text) {
    return Interpreter().evaluate(parse_expr(text)).i;
}
double eval_float(const char *text) {
    return Interpreter().evaluate(parse_expr(text)).f;
}

TEST(Interpreter, Integers) {
    const std::pair<const char *, int64_t> cases[] = {
        // Euclidean division, total.
        {"-7 / 2", -4},
        {"-7 % 2", 1},
        {"-7 / -2", 4},
        {"-7 % -2", 1},
        {"7 / -2", -3},
        {"7 % -2", 1},
        {"5 / 0", 0},
        {"5 % 0", 0},
        {"-128_i8 / -1_i8", -128},
        {"-128_i8 % -1_i8", 0},
        // Wrapping.
        {"200_u8 + 100_u8", 44},
        {"100_i8 + 100_i8", -56},
        {"3_u8 - 10_u8", 249},
        {"i32(u8(300))", 44},
        {"i32(bool(2))", 0},
        {"i32(bool(3))", 1},
        {"i64(-1)", -1},
        {"u32(-1)", 4294967295},
        {"i8(200_u8)", -56},
        // Floats to integers.
        {"i32(2.9)", 2},
        {"i32(-2.9)", -2},
        {"reinterpret<i32>(1.0)", 0x3f800000},
        // Intrinsics.
        {"abs(-128_i8):u8", 128},
        {"absd(3_u8, 10_u8):u8", 7},
        {"widening_add(200_u8, 100_u8):u16", 300},
        {"widening_sub(3_u8, 10_u8):i16", -7},
        {"widening_mul(-100_i8, 100_i8):i16", -10000},
        {"saturating_add(200_u8, 100_u8):u8", 255},
        {"saturating_sub(-100_i8, 100_i8):i8", -128},
        {"halving_add(-3_i8, -4_i8):i8", -4},
        {"rounding_halving_add(-3_i8, -4_i8):i8", -3},
        {"halving_sub(3_u8, 10_u8):u8", 252},
        {"rounding_shift_right(-100_i8, 1_i8):i8", -50},
        {"rounding_shift_right(-100_i8, 3_i8):i8", -12},
        {"rounding_shift_right(-100_i8, 7_i8):i8", -1},
        {"rounding_shift_right(3_u8, -1_i8):u8", 6},
        {"shift_left(200_u8, 1_u8):u8", 144},
        {"shift_right(-100_i8, 2_i8):i8", -25},
        {"shift_left(-100_i8, -2_i8):i8", -25},
        {"mul_shift_right(-100_i8, 100_i8, 7_u8):i8", -79},
        {"rounding_mul_shift_right(100_i8, 100_i8, 7_u8):i8", 78},
        {"saturating_cast(300):u8", 255},
        {"saturating_cast(-3.0):u8", 0},
        {"popcount(255_u8):u8", 8},
        {"count_leading_zeros(1_u16):u16", 15},
        {"count_leading_zeros(0_u16):u16", 16},
        {"count_trailing_zeros(0_u32):u32", 32},
        {"extract_bits(43981_u16, 12):u8", 10},
        {"concat_bits(52_u8, 18_u8):u16", 0x1234},
        {"lerp(42_u8, 69_u8, 0.5):u8", 55},
        {"lerp(69_u8, 42_u8, 0.5):u8", 56},
        {"lerp(42_u8, 69_u8, 128_u8):u8", 56},
        {"mux(1, 10, 20, 30)", 20},
        {"mux(-1, 10, 20, 30)", 30},
        {"mux(7, 10, 20, 30)", 30},
        {"div_round_to_zero(-7, 2)", -3},
        {"mod_round_to_zero(-7, 2)", -1},
        {"(let x = 3 in (let y = (x + 1) in (x * y)))", 12},
        {"reduce(+, r(1, 1, 4), 1)", 10},
        {"i32(reduce(and, (r(1, 1, 4) > 0⟨4⟩), 1))", 1},
        {"(reduce(max, r(1, 1, 6), 2)).lanes(0, 1, 1)", 3},
        {"(r(5, -2, 4)).lanes(3, 1, 1)", -1},
        {"reinterpret<i32>(1_u8 ++ 2_u8 ++ 3_u8 ++ 4_u8)", 0x04030201},
        {"intrinsic if_then_else((1 > 0), 1, A[1000])", 1},
    };
    for (const auto &[text, expected] : cases) {
        EXPECT_EQ(eval_int(text), expected) << text;
    }
}

TEST(Interpreter, Floats) {
    const std::pair<const char *, double> cases[] = {
        {"0.1 + 0.2", (double)(0.1f + 0.2f)},
        {"0.1_f64 + 0.2_f64", 0.1 + 0.2},
        {"-1.5 % 1.0", 0.5},
        {"1.0 / 0.0", INFINITY},
        // Each operation rounds: 2048 + 1 is no half.
        {"(2048_f16 + 1_f16) + 1_f16", 2048},
        {"256_bf16 + 1_bf16", 256},
        {"f16(65520)", INFINITY},
        {"f32(16777217)", 16777216},
        {"round(2.5):f32", 2},
        {"round(3.5):f32", 4},
        {"pure_extern sqrt_f32(2.0):f32", (double)std::sqrt(2.0f)},
        {"pure_extern floor_f32(-0.5):f32", -1},
        {"max(nan_f32, 1.0)", 1},
        {"min(1.0, 2.0)", 1},
        {"lerp(0.0, 10.0, 0.25):f32", 2.5},
        {"strict_fma(0.1, 0.1, -0.01):f32", (double)std::fma(0.1f, 0.1f, -0.01f)},
    };
    for (const auto &[text, expected] : cases) {
        EXPECT_EQ(eval_float(text), expected) << text;
    }
    EXPECT_TRUE(std::isnan(eval_float("max(1.0, nan_f32)")));
}

TEST(Interpreter, FlatMemory) {
    Buffer<int32_t> in = ints(10), out(10);
    Interpreter interp;
    interp.set_buffer("in", in);
    interp.set_buffer("out", out);
    Stmt s = parse_stmt(R"(
        allocate tmp[i32, 10] in Heap
        produce tmp {
          for x in [0, 9] { tmp[x] = (in[x] * 2) }
        }
        consume tmp {
          out[r(0, 1, 8)] = (tmp[r(0, 1, 8)]:i32x8 + 1⟨8⟩)
          for x in [8, 9] { out[x] = (tmp[x] + 1) }
        }
        free tmp
    )");
    EXPECT_EQ(interp.run(s), 0);
    for (int i = 0; i < 10; i++) {
        EXPECT_EQ(out(i), 2 * i + 1);
    }
    EXPECT_EQ(interp.undefined_elements("out"), 0);
    EXPECT_EQ(interp.overflow(), "");
}

TEST(Interpreter, Funcs) {
    Buffer<uint8_t> in(6, 4), out(4, 4);
    in.fill([](int x, int y) { return (uint8_t)(10 * y + x); });
    out.set_min(1, 0);
    Interpreter interp;
    interp.set_buffer("in", in);
    interp.set_buffer("out", out);
    Stmt s = parse_stmt(R"(
        realize f[0, 6][out.min.1, out.extent.1] : u16, u8 in Auto {
          produce f {
            parallel y in [0, 3] {
              for x in [0, 5] { f(x, y) = {u16(image in(x, y):u8), 1_u8} }
            }
          }
          consume f {
            for y in [0, 3] {
              vectorized x in [1, 4] { out(x, y) = u8(((f(x - 1, y):u16 + f(x + 1, y):u16) / 2_u16)) + f(x, y)#1:u8 }
            }
          }
        }
    )");
    EXPECT_EQ(interp.run(s), 0);
    for (int y = 0; y < 4; y++) {
        for (int x = 1; x < 5; x++) {
            EXPECT_EQ(out(x, y), 10 * y + x + 1);
        }
    }
}

TEST(Interpreter, BufferStructures) {
    Buffer<int32_t> in(5, 3), out(5, 3);
    in.fill([](int x, int y) { return x + 100 * y; });
    in.translate({10, 20});
    Interpreter interp;
    interp.set_buffer("in", in);
    interp.set_buffer("out", out);
    interp.set_scalar("k", Expr(7));
    Stmt s = parse_stmt(R"(
        assert !(extern _halide_buffer_is_bounds_query(in.buffer:handle):bool), extern halide_error_host_is_null("in")
        let in = extern _halide_buffer_get_host(in.buffer:handle):handle
        let in.min.0 = extern _halide_buffer_get_min(in.buffer:handle, 0)
        let in.stride.1 = extern _halide_buffer_get_stride(in.buffer:handle, 1)
        assert (in.min.0 == 10), extern halide_error_constraint_violated("in.min.0", in.min.0, "10", 10)
        for y in [0, 2] {
          for x in [0, 4] { out[x + y*out.stride.1] = in[x + y*in.stride.1] + k }
        }
    )");
    EXPECT_EQ(interp.run(s), 0) << interp.error_message();
    EXPECT_EQ(out(4, 2), 204 + 7);
}

TEST(Interpreter, Assertions) {
    Interpreter interp;
    interp.set_scalar("p", Expr(3));
    Stmt s = parse_stmt(
        R"(assert (p == 4), extern halide_error_requirement_failed("p == 4", stringify("p is ", p):handle<char | const *>))");
    EXPECT_EQ(interp.run(s), halide_error_code_requirement_failed);
    EXPECT_EQ(interp.error_message(), "Requirement Failed: (p == 4) p is 3");
    EXPECT_EQ(interp.run(parse_stmt(R"(assert (p < 3), extern halide_error_param_too_large_i64("p", 3, 2))")),
              halide_error_code_param_too_large);
    EXPECT_EQ(interp.run(parse_stmt("assert (p == 3), extern halide_error_out_of_memory()")), 0);
}

TEST(Interpreter, Faults) {
    const std::pair<const char *, const char *> cases[] = {
        {"out[10] = 1", "store to out[10] is outside of out"},
        {"out[-1] = 1", "store to out[-1] is outside of out"},
        {"out[0] = out[10]", "load from out[10] is outside of out"},
        {"out(10) = 1", "store to out(10): dimension 0 goes from 0 to 9"},
        {"out[0] = f(3)", "load from f(3): nothing realizes it"},
        {"out[0] = y", "nothing binds the name y"},
        {"allocate a[i32, 4] in Heap\nfree a\na[0] = 1", "store to a[0]: a has been freed"},
        {"allocate a[i32, 4] in Heap if false\na[0] = 1", "store to a, which is null"},
        {"out[r(0, 8, 4)] = r(0, 8, 4)", "store to out[16] is outside of out"},
        {"acquire s.semaphore:handle, 1 { out[0] = 1 }", "deadlock"},
        {"out[0] = extern no_such_function(1)", "does not know the function no_such_function"},
    };
    for (const auto &[program, expected] : cases) {
        Buffer<int32_t> out = ints(10);
        Interpreter interp;
        interp.set_buffer("out", out);
        interp.set_scalar("s.semaphore", make_zero(Handle()));
        try {
            interp.run(parse_stmt(program));
            ADD_FAILURE() << program;
        } catch (const InterpreterFault &f) {
            EXPECT_NE(std::string(f.what()).find(expected), std::string::npos) << f.what();
        }
    }
}

TEST(Interpreter, DeadLanes) {
    Buffer<int32_t> in = ints(5), out(8);
    out.fill(-1);
    Interpreter interp;
    interp.set_buffer("in", in);
    interp.set_buffer("out", out);
    // Dead lanes may have any address; their values are marked, and masked stores do not write them.
    EXPECT_EQ(interp.run(parse_stmt("out[r(0, 1, 8)] when (r(0, 1, 8) < 5⟨8⟩) = "
                                    "(in[r(0, 1, 8) * 1000⟨8⟩]:i32x8 when (r(0, 1, 8) < 1⟨8⟩))")),
              0);
    EXPECT_EQ(out(0), 0);
    EXPECT_EQ(out(5), -1);
    EXPECT_EQ(interp.undefined_elements("out"), 4);
    // A select that drops them drops the mark.
    EXPECT_EQ(interp.run(parse_stmt("out[r(0, 1, 8)] = select((r(0, 1, 8) < 5⟨8⟩), "
                                    "(in[r(0, 1, 8)]:i32x8 when (r(0, 1, 8) < 5⟨8⟩)), 9⟨8⟩)")),
              0);
    EXPECT_EQ(interp.undefined_elements("out"), 0);
    EXPECT_EQ(out(7), 9);
    // So does uninitialized memory; a branch on it is noted.
    EXPECT_EQ(interp.run(parse_stmt("allocate t[i32, 4] in Heap\nif (t[1] > 0) { out[0] = t[2] }")), 0);
    EXPECT_NE(interp.undefined_branch(), "");
}

TEST(Interpreter, StoreOrder) {
    Buffer<int32_t> out = ints(8);
    Interpreter interp;
    interp.set_buffer("out", out);
    // All loads come first.
    EXPECT_EQ(interp.run(parse_stmt("out[r(1, 1, 7)] = out[r(0, 1, 7)]:i32x7")), 0);
    for (int i = 1; i < 8; i++) {
        EXPECT_EQ(out(i), i - 1);
    }
    // The last live lane wins.
    EXPECT_EQ(interp.run(parse_stmt("out[0⟨4⟩] when (r(0, 1, 4) < 3⟨4⟩) = r(10, 1, 4)")), 0);
    EXPECT_EQ(out(0), 12);
}

TEST(Interpreter, Overflow) {
    Buffer<int32_t> out = ints(8);
    Interpreter interp;
    interp.set_buffer("out", out);
    interp.set_scalar("big", Expr(2147483647));
    // An intermediate result outside of the type is exact, and noted.
    EXPECT_EQ(interp.run(parse_stmt("out[(big + 5) - big] = 1")), 0);
    EXPECT_EQ(out(5), 1);
    EXPECT_NE(interp.overflow().find("2147483652"), std::string::npos);
    EXPECT_EQ(interp.run(parse_stmt("out[0] = i32(255_u8 + 1_u8)")), 0);
    EXPECT_EQ(interp.overflow(), "");
}

TEST(Interpreter, ParallelOrder) {
    // A loop whose iterations depend on each other, though it says parallel.
    Stmt race = parse_stmt("parallel x in [1, 7] { out[x] = out[x - 1] + 1 }");
    Stmt fine = parse_stmt("parallel x in [1, 7] { out[x] = x * x }");
    auto result = [](const Stmt &s, Interpreter::ParallelOrder order) {
        Buffer<int32_t> out = ints(8);
        out.fill(0);
        Interpreter interp;
        interp.set_buffer("out", out);
        interp.set_parallel_order(order, 3);
        EXPECT_EQ(interp.run(s), 0);
        return std::vector<int32_t>(out.begin(), out.end());
    };
    using Order = Interpreter::ParallelOrder;
    EXPECT_NE(result(race, Order::Ascending), result(race, Order::Descending));
    EXPECT_EQ(result(fine, Order::Ascending), result(fine, Order::Descending));
    EXPECT_EQ(result(fine, Order::Ascending), result(fine, Order::Shuffled));
}

TEST(Interpreter, ForksAndSemaphores) {
    // A producer one slot ahead of its consumer, in a buffer of two slots.
    Stmt s = parse_stmt(R"(
        allocate data[i32, 2] in Heap
        allocate full[u64, 2] in Heap
        allocate empty[u64, 2] in Heap
        evaluate extern halide_semaphore_init(full:handle, 0)
        evaluate extern halide_semaphore_init(empty:handle, 2)
        fork {
          for x in [0, 9] {
            acquire empty:handle, 1 {
              data[x % 2] = x * 3
              evaluate extern halide_semaphore_release(full:handle, 1)
            }
          }
        } {
          for x in [0, 9] {
            acquire full:handle, 1 {
              out[x] = data[x % 2]
              evaluate extern halide_semaphore_release(empty:handle, 1)
            }
          }
        }
    )");
    Buffer<int32_t> out = ints(10);
    Interpreter interp;
    interp.set_buffer("out", out);
    EXPECT_EQ(interp.run(s), 0);
    for (int i = 0; i < 10; i++) {
        EXPECT_EQ(out(i), 3 * i);
    }
    EXPECT_EQ(interp.undefined_elements("out"), 0);
    // An error in one branch ends the other.
    Stmt failing = parse_stmt(R"(
        allocate never[u64, 2] in Heap
        fork { acquire never:handle, 1 { out[0] = 1 } } { assert false, extern halide_error_out_of_memory() }
    )");
    EXPECT_EQ(interp.run(failing), halide_error_code_out_of_memory);
}

TEST(Interpreter, ExternFunctionsAndPrinting) {
    Buffer<int32_t> out = ints(4);
    Interpreter interp;
    interp.set_buffer("out", out);
    interp.set_extern("twice", [](const std::vector<Interpreter::Argument> &args) {
        return Interpreter::Argument{Int(32), 2 * args[0].i, 0};
    });
    Stmt s = parse_stmt(R"(
        out[r(0, 1, 4)] = extern twice(r(1, 1, 4)):i32x4
        evaluate extern halide_print(stringify("x = ", out[3], " ", 2.5, "\n"):handle<char | const *>)
    )");
    EXPECT_EQ(interp.run(s), 0);
    EXPECT_EQ(out(3), 8);
    EXPECT_EQ(interp.printed(), "x = 8 2.500000\n");
}

TEST(Interpreter, EmbeddedImages) {
    Buffer<int32_t> table = ints(6);
    Expr e = Call::make(table, {Expr(4)}) + Load::make(Int(32), table.name(), Expr(2), table, Parameter(),
                                                       const_true(), ModulusRemainder());
    EXPECT_EQ(Interpreter().evaluate(e).i, 6);
    Parameter p(UInt(8), false, 0, "p");
    p.set_scalar<uint8_t>(200);
    EXPECT_EQ(Interpreter().evaluate(Variable::make(UInt(8), "p", p)).i, 200);
}

}  // namespace
