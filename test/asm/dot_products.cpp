// Reductions of products become the instructions that multiply and add neighbours, where their ranges allow it, and only there.

#include "Halide.h"

#include <gtest/gtest.h>

#include <functional>
#include <regex>
#include <string>
#include <vector>

using namespace Halide;
using namespace Halide::ConciseCasts;

namespace {

struct Inputs {
    ImageParam i8{Int(8), 1, "a_i8"}, other_i8{Int(8), 1, "b_i8"}, u8{UInt(8), 1, "a_u8"}, other_u8{UInt(8), 1, "b_u8"};
    ImageParam i16{Int(16), 1, "a_i16"}, other_i16{Int(16), 1, "b_i16"};
    std::vector<Argument> arguments() const {
        return {i8, other_i8, u8, other_u8, i16, other_i16};
    }
};

struct Check {
    const char *target;
    int lanes;   ///< of the result
    int factor;  ///< products that one lane adds up
    std::function<Expr(Inputs &, Expr)> product;
    std::vector<std::string> instructions, absent;
};

std::string assembly_of(const Check &c) {
    Inputs in;
    Var x("x");
    RDom r(0, c.factor, "r");
    Func f("f");
    const Expr p = c.product(in, c.factor * x + r);
    f(x) = cast(p.type(), 0);
    f(x) += p;
    f.vectorize(x, c.lanes).update().reorder(r, x).vectorize(x, c.lanes).atomic().vectorize(r);
    f.output_buffer().dim(0).set_bounds(0, 1024);
    const Internal::TemporaryFile file("dot_products", ".s");
    f.compile_to_assembly(file.pathname(), in.arguments(), "f",
                          Target(std::string(c.target) + "-no_asserts-no_bounds_query-no_runtime"));
    const std::vector<char> text = Internal::read_entire_file(file.pathname());
    return std::string(text.begin(), text.end());
}

TEST(DotProducts, Instructions) {
    const char *sse = "x86-64-linux-sse41", *avx2 = "x86-64-linux-sse41-avx-avx2-f16c-fma", *zen4 = "x86-64-linux-avx512_zen4";
    const char *neon = "arm-64-linux-arm_dot_prod";
    const auto codes_to_16 = [](Inputs &in, Expr i) { return i16(in.u8(i) & 15) * i16(in.i8(i)); };
    const auto codes_to_32 = [](Inputs &in, Expr i) { return i32(in.u8(i) & 63) * i32(in.i8(i)); };
    const auto any_to_16 = [](Inputs &in, Expr i) { return i16(in.u8(i)) * i16(in.i8(i)); };
    const auto any_to_32 = [](Inputs &in, Expr i) { return i32(in.u8(i)) * i32(in.i8(i)); };
    const auto not_smallest = [](Inputs &in, Expr i) { return i32(in.i8(i)) * i32(max(in.other_i8(i), i8(-127))); };
    const auto signed_bytes = [](Inputs &in, Expr i) { return i32(in.i8(i)) * i32(in.other_i8(i)); };
    const auto unsigned_bytes = [](Inputs &in, Expr i) { return u32(in.u8(i)) * u32(in.other_u8(i)); };
    const auto words = [](Inputs &in, Expr i) { return i32(in.i16(i)) * i32(in.other_i16(i)); };
    const std::vector<Check> checks = {
        {avx2, 16, 2, codes_to_16, {"vpmaddubsw\\s.*ymm"}, {"vpmovsx", "vpmullw", "lock"}},
        {sse, 8, 2, codes_to_16, {"pmaddubsw\\s"}, {"pmullw", "lock"}},
        {zen4, 32, 2, codes_to_16, {"vpmaddubsw\\s.*zmm"}, {"vpmullw"}},
        {avx2, 8, 4, codes_to_32, {"vpmaddubsw\\s.*ymm", "vpmaddwd\\s.*ymm"}, {"vpmovsx", "vpmulld"}},
        {zen4, 16, 4, codes_to_32, {"vpdpbusd\\s.*zmm"}, {"vpmulld"}},
        {zen4, 16, 4, any_to_32, {"vpdpbusd\\s.*zmm"}, {"vpmulld"}},
        // 255·127·2 does not fit 16 bits, and pmaddubsw would saturate where the program wraps around.
        {avx2, 16, 2, any_to_16, {}, {"vpmaddubsw"}},
        {avx2, 8, 4, any_to_32, {"vpmaddwd\\s.*ymm"}, {"vpmaddubsw"}},
        // −128 has no negative.
        {avx2, 8, 4, not_smallest, {"vpsignb\\s.*ymm", "vpabsb\\s.*ymm", "vpmaddubsw\\s.*ymm", "vpmaddwd\\s.*ymm"}, {"vpmovsx"}},
        {avx2, 8, 4, signed_bytes, {"vpmaddwd\\s.*ymm"}, {"vpmaddubsw", "vpmulld"}},
        {avx2, 8, 2, words, {"vpmaddwd\\s.*ymm"}, {"vpmulld"}},
        {neon, 4, 4, codes_to_32, {"sdot\\s.*16b"}, {"smull"}},
        {neon, 4, 4, signed_bytes, {"sdot\\s.*16b"}, {"smull"}},
        {neon, 4, 4, unsigned_bytes, {"udot\\s.*16b"}, {"umull"}},
    };
    for (size_t i = 0; i < checks.size(); i++) {
        const std::string text = assembly_of(checks[i]);
        for (const std::string &wanted : checks[i].instructions) {
            EXPECT_TRUE(std::regex_search(text, std::regex("\\n\\s+" + wanted))) << "case " << i << ": no " << wanted;
        }
        for (const std::string &unwanted : checks[i].absent) {
            EXPECT_FALSE(std::regex_search(text, std::regex("\\n\\s+" + unwanted))) << "case " << i << ": " << unwanted;
        }
    }
}

/// A field of bytes is one load.
TEST(DotProducts, BytesMakeOneWiderLoad) {
    ImageParam in(UInt(8), 1, "in");
    Var x("x");
    Func f("f");
    f(x) = cast<int16_t>(cast<uint16_t>(in(2 * x + 6)) | (cast<uint16_t>(in(2 * x + 7)) << 8));
    f.vectorize(x, 16);
    const Internal::TemporaryFile file("dot_products", ".s");
    f.compile_to_assembly(file.pathname(), {in}, "f",
                          Target("x86-64-linux-sse41-avx-avx2-no_asserts-no_bounds_query-no_runtime"));
    const std::vector<char> bytes = Internal::read_entire_file(file.pathname());
    const std::string text(bytes.begin(), bytes.end());
    EXPECT_TRUE(std::regex_search(text, std::regex("\\n\\s+vmov[du][a-z0-9]*\\s.*ymm|\\n\\s+vmovups\\s.*ymm")));
    EXPECT_FALSE(std::regex_search(text, std::regex("\\n\\s+(vpshufb|vpmovzx|vpsllw|vpor)")));
}

}  // namespace
