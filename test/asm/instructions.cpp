// Which instructions vector expressions become, on x86-64 and AArch64, compiled on any host.

#include "Halide.h"

#include <gtest/gtest.h>

#include <functional>
#include <regex>
#include <string>
#include <vector>

using namespace Halide;
using namespace Halide::ConciseCasts;

namespace {

/// Inputs of all types, as in0(x + 0 …): named by type.
struct Inputs {
    ImageParam i8{Int(8), 1, "a_i8"}, u8{UInt(8), 1, "a_u8"}, i16{Int(16), 1, "a_i16"}, u16{UInt(16), 1, "a_u16"};
    ImageParam i32{Int(32), 1, "a_i32"}, u32{UInt(32), 1, "a_u32"}, f16{Float(16), 1, "a_f16"};
    ImageParam f32{Float(32), 1, "a_f32"}, f64{Float(64), 1, "a_f64"};
    Var x{"x"};

    std::vector<Argument> arguments() const {
        return {i8, u8, i16, u16, i32, u32, f16, f32, f64};
    }
};

struct Check {
    const char *instruction;  ///< a regular expression for the mnemonic and, if it matters, operands
    int lanes;
    std::function<Expr(Inputs &)> make;
};

std::string assembly_of(const Check &c, const std::string &target) {
    Inputs in;
    Func f("f");
    f(in.x) = c.make(in);
    f.vectorize(in.x, c.lanes);
    const Internal::TemporaryFile file("instructions", ".s");
    const Target t(target + "-no_asserts-no_bounds_query-no_runtime");
    f.compile_to_assembly(file.pathname(), in.arguments(), "f", t);
    const std::vector<char> text = Internal::read_entire_file(file.pathname());
    return std::string(text.begin(), text.end());
}

void check_all(const std::string &target, const std::vector<Check> &checks) {
    for (const Check &c : checks) {
        const std::string text = assembly_of(c, target);
        // A pattern without operands is a whole mnemonic.
        const bool with_operands = std::string(c.instruction).find("\\s") != std::string::npos;
        const std::regex wanted(std::string("\\n\\s+") + c.instruction + (with_operands ? "" : "\\b"));
        EXPECT_TRUE(std::regex_search(text, wanted)) << target << ", " << c.lanes << " lanes: no " << c.instruction;
    }
}

Expr next(ImageParam &p, Var x) {
    return p(x + 64);
}

TEST(Instructions, sse41) {
    check_all("x86-64-linux-sse41", {
        {"paddb", 16, [](Inputs &in) { return in.u8(in.x) + next(in.u8, in.x); }},
        {"paddsb", 16, [](Inputs &in) { return saturating_add(in.i8(in.x), next(in.i8, in.x)); }},
        {"paddusb", 16, [](Inputs &in) { return saturating_add(in.u8(in.x), next(in.u8, in.x)); }},
        {"psubsw", 8, [](Inputs &in) { return saturating_sub(in.i16(in.x), next(in.i16, in.x)); }},
        {"psubusw", 8, [](Inputs &in) { return saturating_sub(in.u16(in.x), next(in.u16, in.x)); }},
        {"paddsw", 8, [](Inputs &in) { return i16_sat(i32(in.i16(in.x)) + i32(next(in.i16, in.x))); }},
        {"pavgb", 16, [](Inputs &in) { return rounding_halving_add(in.u8(in.x), next(in.u8, in.x)); }},
        {"pavgw", 8, [](Inputs &in) { return u16((u32(in.u16(in.x)) + u32(next(in.u16, in.x)) + 1) / 2); }},
        {"pminub", 16, [](Inputs &in) { return min(in.u8(in.x), next(in.u8, in.x)); }},
        {"pminsb", 16, [](Inputs &in) { return min(in.i8(in.x), next(in.i8, in.x)); }},
        {"pmaxuw", 8, [](Inputs &in) { return max(in.u16(in.x), next(in.u16, in.x)); }},
        {"pmaxsd", 4, [](Inputs &in) { return max(in.i32(in.x), next(in.i32, in.x)); }},
        {"pminud", 4, [](Inputs &in) { return min(in.u32(in.x), next(in.u32, in.x)); }},
        {"pabsb", 16, [](Inputs &in) { return abs(in.i8(in.x)); }},
        {"pabsd", 4, [](Inputs &in) { return abs(in.i32(in.x)); }},
        {"pmullw", 8, [](Inputs &in) { return in.i16(in.x) * next(in.i16, in.x); }},
        {"pmulld", 4, [](Inputs &in) { return in.i32(in.x) * next(in.i32, in.x); }},
        {"pmulhw", 8, [](Inputs &in) { return i16((i32(in.i16(in.x)) * i32(next(in.i16, in.x))) / (256 * 256)); }},
        {"pmulhuw", 8, [](Inputs &in) { return u16((u32(in.u16(in.x)) * u32(next(in.u16, in.x))) / (256 * 256)); }},
        {"pmulhuw", 8, [](Inputs &in) { return in.u16(in.x) / 15; }},
        {"pmulhrsw", 8, [](Inputs &in) { return rounding_mul_shift_right(in.i16(in.x), next(in.i16, in.x), 15); }},
        {"pcmpgtw", 8, [](Inputs &in) { return select(in.i16(in.x) > next(in.i16, in.x), in.i16(in.x), i16(7)); }},
        {"pblendvb", 16, [](Inputs &in) { return select(in.u8(in.x) == next(in.u8, in.x), in.u8(in.x + 3), in.u8(in.x + 5)); }},
        {"packsswb", 16, [](Inputs &in) { return i8_sat(in.i16(in.x)); }},
        {"packuswb", 16, [](Inputs &in) { return u8_sat(in.i16(in.x)); }},
        {"packssdw", 8, [](Inputs &in) { return i16_sat(in.i32(in.x)); }},
        {"packusdw", 8, [](Inputs &in) { return u16_sat(in.i32(in.x)); }},
        {"pmovzxbw", 8, [](Inputs &in) { return u16(in.u8(in.x)); }},
        {"pmovsxwd", 4, [](Inputs &in) { return i32(in.i16(in.x)); }},
        {"addps", 4, [](Inputs &in) { return in.f32(in.x) + next(in.f32, in.x); }},
        {"mulpd", 2, [](Inputs &in) { return in.f64(in.x) * next(in.f64, in.x); }},
        {"minps", 4, [](Inputs &in) { return min(in.f32(in.x), next(in.f32, in.x)); }},
        {"maxpd", 2, [](Inputs &in) { return max(in.f64(in.x), next(in.f64, in.x)); }},
        {"sqrtps", 4, [](Inputs &in) { return sqrt(in.f32(in.x)); }},
        {"roundps", 4, [](Inputs &in) { return floor(in.f32(in.x)); }},
        {"roundpd", 2, [](Inputs &in) { return ceil(in.f64(in.x)); }},
        {"rcpps", 4, [](Inputs &in) { return fast_inverse(in.f32(in.x)); }},
        {"rsqrtps", 4, [](Inputs &in) { return fast_inverse_sqrt(in.f32(in.x)); }},
        {"cvttps2dq", 4, [](Inputs &in) { return i32(in.f32(in.x)); }},
        {"cvtdq2ps", 4, [](Inputs &in) { return f32(in.i32(in.x)); }},
        {"shufps", 4, [](Inputs &in) { return in.f32(2 * in.x); }},
        {"pshufb", 16, [](Inputs &in) { return in.u8(3 * in.x); }},
    });
}

TEST(Instructions, avx2) {
    check_all("x86-64-linux-avx-avx2-f16c-fma-sse41", {
        {"vpmaddwd", 8, [](Inputs &in) { return u32(u16(in.u8(in.x)) * u16(in.u8(0))); }},
        {"vpaddb\\s.*ymm", 32, [](Inputs &in) { return in.u8(in.x) + next(in.u8, in.x); }},
        {"vpaddsw\\s.*ymm", 16, [](Inputs &in) { return saturating_add(in.i16(in.x), next(in.i16, in.x)); }},
        {"vpavgb\\s.*ymm", 32, [](Inputs &in) { return rounding_halving_add(in.u8(in.x), next(in.u8, in.x)); }},
        {"vpmulhrsw\\s.*ymm", 16,
         [](Inputs &in) { return rounding_mul_shift_right(in.i16(in.x), next(in.i16, in.x), 15); }},
        {"vpackuswb\\s.*ymm", 32, [](Inputs &in) { return u8_sat(in.i16(in.x)); }},
        {"vpmovzxbw\\s.*ymm", 16, [](Inputs &in) { return u16(in.u8(in.x)); }},
        {"vaddps\\s.*ymm", 8, [](Inputs &in) { return in.f32(in.x) + next(in.f32, in.x); }},
        {"vroundps\\s.*ymm", 8, [](Inputs &in) { return trunc(in.f32(in.x)); }},
        {"vcvtph2ps\\s.*ymm", 8, [](Inputs &in) { return f32(in.f16(in.x)); }},
        {"vcvtps2ph\\s.*ymm", 8, [](Inputs &in) { return f16(in.f32(in.x)); }},
        {"vfmadd\\d*ps\\s.*ymm", 8, [](Inputs &in) { return fma(in.f32(in.x), next(in.f32, in.x), in.f32(in.x + 7)); }},
        {"vpsllvd\\s.*ymm", 8, [](Inputs &in) { return in.u32(in.x) << (next(in.u32, in.x) % 32); }},
    });
}

TEST(Instructions, avx512) {
    check_all("x86-64-linux-avx512_skylake", {
        {"vpaddb\\s.*zmm", 64, [](Inputs &in) { return in.u8(in.x) + next(in.u8, in.x); }},
        {"vaddps\\s.*zmm", 16, [](Inputs &in) { return in.f32(in.x) + next(in.f32, in.x); }},
        {"vpmulhrsw\\s.*zmm", 32,
         [](Inputs &in) { return rounding_mul_shift_right(in.i16(in.x), next(in.i16, in.x), 15); }},
        {"vgatherdps", 16, [](Inputs &in) { return in.f32(clamp(in.i32(in.x), 0, 1000)); }},
    });
}

TEST(Instructions, neon) {
    check_all("arm-64-linux", {
        {"sqadd\\s.*16b", 16, [](Inputs &in) { return saturating_add(in.i8(in.x), next(in.i8, in.x)); }},
        {"uqsub\\s.*8h", 8, [](Inputs &in) { return saturating_sub(in.u16(in.x), next(in.u16, in.x)); }},
        {"shadd\\s.*8h", 8, [](Inputs &in) { return halving_add(in.i16(in.x), next(in.i16, in.x)); }},
        {"urhadd\\s.*16b", 16, [](Inputs &in) { return rounding_halving_add(in.u8(in.x), next(in.u8, in.x)); }},
        {"uhsub\\s.*16b", 16, [](Inputs &in) { return halving_sub(in.u8(in.x), next(in.u8, in.x)); }},
        {"uabd\\s.*16b", 16, [](Inputs &in) { return absd(in.u8(in.x), next(in.u8, in.x)); }},
        {"sabd\\s.*8h", 8, [](Inputs &in) { return absd(in.i16(in.x), next(in.i16, in.x)); }},
        {"sqdmulh\\s.*8h", 8, [](Inputs &in) { return mul_shift_right(in.i16(in.x), next(in.i16, in.x), 15); }},
        {"sqrdmulh\\s.*4s", 4, [](Inputs &in) { return rounding_mul_shift_right(in.i32(in.x), next(in.i32, in.x), 31); }},
        {"smull2?\\s", 8, [](Inputs &in) { return i32(in.i16(in.x)) * next(in.i16, in.x); }},
        {"umull2?\\s", 16, [](Inputs &in) { return u16(in.u8(in.x)) * next(in.u8, in.x); }},
        {"uaddl2?\\s", 16, [](Inputs &in) { return u16(in.u8(in.x)) + next(in.u8, in.x); }},
        {"sqxtn2?\\s", 8, [](Inputs &in) { return i8_sat(in.i16(in.x)); }},
        {"sqxtun2?\\s", 8, [](Inputs &in) { return u8_sat(in.i16(in.x)); }},
        {"uqxtn2?\\s", 8, [](Inputs &in) { return u8_sat(in.u16(in.x)); }},
        {"srshr\\s", 8, [](Inputs &in) { return rounding_shift_right(in.i16(in.x), 3); }},
        {"smin\\s.*4s", 4, [](Inputs &in) { return min(in.i32(in.x), next(in.i32, in.x)); }},
        {"fminnm\\s.*4s", 4, [](Inputs &in) { return min(in.f32(in.x), next(in.f32, in.x)); }},
        {"fmla\\s.*4s", 4, [](Inputs &in) { return fma(in.f32(in.x), next(in.f32, in.x), in.f32(in.x + 7)); }},
        {"frintm\\s.*4s", 4, [](Inputs &in) { return floor(in.f32(in.x)); }},
        {"fsqrt\\s.*2d", 2, [](Inputs &in) { return sqrt(in.f64(in.x)); }},
        {"frecpe\\s.*4s", 4, [](Inputs &in) { return fast_inverse(in.f32(in.x)); }},
        {"fcvtzs\\s.*4s", 4, [](Inputs &in) { return i32(in.f32(in.x)); }},
        {"cnt\\s.*16b", 16, [](Inputs &in) { return popcount(in.u8(in.x)); }},
        {"clz\\s.*8h", 8, [](Inputs &in) { return count_leading_zeros(in.u16(in.x)); }},
    });
}

}  // namespace
