// Which integers compute addresses: 64 bits for scalars, 32 for offsets of gathers, narrow ones to count lanes.

#include "Halide.h"

#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

using namespace Halide;

namespace {

std::string text_of(Func f, const std::vector<Argument> &args, const std::string &target, OutputFileType type) {
    const Internal::TemporaryFile file("indices", ".txt");
    f.compile_to({{type, file.pathname()}}, args, "f", Target(target + "-no_asserts-no_bounds_query-no_runtime"));
    const std::vector<char> text = Internal::read_entire_file(file.pathname());
    return std::string(text.begin(), text.end());
}

int count(const std::string &text, const std::string &pattern) {
    const std::regex regex(pattern);
    return (int)std::distance(std::sregex_iterator(text.begin(), text.end(), regex), std::sregex_iterator());
}

// A row is found in 64 bits, what varies inside it takes 32: 16 floats are one gather, whatever the size of the buffer.
TEST(Indices, gather_i32_offsets) {
    for (const std::string features : {"", "-large_buffers"}) {
        ImageParam in(Float(32), 2, "in"), places(Int(32), 1, "places");
        Var x("x"), y("y");
        Func f("f");
        f(x, y) = in(clamp(places(x), 0, 10000), y);
        f.vectorize(x, 16);
        const std::string text =
            text_of(f, {in, places}, "x86-64-linux-avx512_skylake" + features, OutputFileType::assembly);
        EXPECT_GT(count(text, "vgatherdps\\s.*zmm"), 0) << features;
        EXPECT_EQ(count(text, "vgatherqps"), 0) << features;
    }
}

// Both coordinates vary: with an unknown stride, the product wraps in 32 bits as long as the buffer is known to be small.
TEST(Indices, wrapping_offsets_carry_no_flags) {
    ImageParam in(Float(32), 2, "in"), places(Int(32), 1, "places");
    Var x("x");
    Func f("f");
    f(x) = in(clamp(places(x), 0, 10000), clamp(places(x + 100), 0, 10000));
    f.vectorize(x, 8);
    const std::string small = text_of(f, {in, places}, "x86-64-linux-avx512_skylake", OutputFileType::llvm_assembly);
    EXPECT_GT(count(small, "mul <8 x i32>"), 0);
    EXPECT_EQ(count(small, "mul (nuw |nsw )+<8 x i32>"), 0);
    const std::string large =
        text_of(f, {in, places}, "x86-64-linux-avx512_skylake-large_buffers", OutputFileType::llvm_assembly);
    EXPECT_GT(count(large, "mul (nuw |nsw )*<8 x i64>"), 0);
}

// The mask of a tail is one comparison of bytes for 32 bytes, and needs no wider vectors (but vpcmpeqd also makes ones).
TEST(Indices, lanes_are_counted_in_bytes) {
    ImageParam in(UInt(8), 1, "in");
    Var x("x");
    Func f("f");
    f(x) = in(x) + cast<uint8_t>(1);
    f.vectorize(x, 32, TailStrategy::Predicate);
    const std::string text = text_of(f, {in}, "x86-64-linux-avx512_skylake", OutputFileType::assembly);
    EXPECT_GT(count(text, "vpcmp\\w*b\\s"), 0);
    EXPECT_EQ(count(text, "vpcmp(?!eq)\\w*(d|q)\\s"), 0);
}

}  // namespace
