// What loops vectorized with VectorizeIn::SWAR and storage in MemoryType::GPR cannot do: each case with the full text.

#include "Halide.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

using namespace Halide;

namespace {

struct Program {
    Var x{"x"}, y{"y"}, xo{"xo"}, xi{"xi"}, yo{"yo"}, yi{"yi"};
    Func f{Internal::Function("f")}, g{Internal::Function("g")};
    ImageParam a{UInt(8), 2, "a"}, b{UInt(8), 2, "b"}, wide{UInt(16), 2, "wide"}, real{Float(32), 2, "real"};

    Program &swar(const Expr &value, int lanes = 4) {
        f(x, y) = value;
        f.split(x, xo, xi, lanes).vectorize(xi, VectorizeIn::SWAR);
        return *this;
    }
};

std::string message_of(const std::function<void(Program &)> &mistake, const char *target) {
    try {
        Program p;
        mistake(p);
        p.f.compile_to_module({p.a, p.b, p.wide, p.real}, "f", Target(target));
    } catch (const CompileError &e) {
        return e.what();
    } catch (const Error &e) {
        return std::string("not a CompileError: ") + e.what();
    }
    return "no error";
}

struct Case {
    const char *name;
    std::function<void(Program &)> mistake;
    std::string message;
};

const std::string in_f = "Error: Func f is vectorized over f.s0.x.xi with VectorizeIn::SWAR, but\n";
// Elements of the images at the first lane, as addresses.
const std::string a_x = "(uint8)a[(f.s0.x.xi.base + (f.s0.y*a.stride.1)) - (a.min.0 + (a.min.1*a.stride.1))]";
const std::string b_x = "(uint8)b[(f.s0.x.xi.base + (f.s0.y*b.stride.1)) - (b.min.0 + (b.min.1*b.stride.1))]";
const std::string wide_x = "(uint16)wide[(f.s0.x.xi.base + (f.s0.y*wide.stride.1)) - (wide.min.0 + (wide.min.1*wide.stride.1))]";
const std::string real_x = "(float32)real[(f.s0.x.xi.base + (f.s0.y*real.stride.1)) - (real.min.0 + (real.min.1*real.stride.1))]";
const std::string instead = "  Use VectorizeIn::SIMD for this loop.\n";

std::vector<Case> cases() {
    return {
        {"gather", [](Program &p) { p.swar(p.a(p.b(p.x, p.y), p.y)); },
         in_f + "    (uint8)a[(int32(" + b_x + ") + (f.s0.y*a.stride.1)) - (a.min.0 + (a.min.1*a.stride.1))]\n"
         "  is a gather: where its lanes come from depends on data.\n" + instead},
        {"product", [](Program &p) { p.swar(p.a(p.x, p.y) * p.b(p.x, p.y)); },
         in_f + "    (" + a_x + "*" + b_x + ")\n"
         "  multiplies two values that both vary by lane. Lanes of a word have one factor, or constant ones.\n" + instead},
        {"quotient", [](Program &p) { p.swar(p.a(p.x, p.y) / p.b(p.x, p.y)); },
         in_f + "    (" + a_x + "/" + b_x + ")\n"
         "  divides by a value that is not a constant. Lanes of a word are divided by constants only.\n" + instead},
        {"wide_value", [](Program &p) { p.swar(p.wide(p.x, p.y) + 1, 8); },
         in_f + "    (" + wide_x + " + 1_u16)\n"
         "  has 16 bits in each of 8 lanes, and an integer register has 64 bits for all of them.\n" + instead},
        {"wide_intermediate", [](Program &p) { p.swar(cast<uint8_t>(cast<uint16_t>(p.a(p.x, p.y)) * 3 / 7), 8); },
         in_f + "    ((uint16)widening_mul(" + a_x + ", 3_u8)/7_u16)\n"
         "  has 16 bits in each of 8 lanes, and an integer register has 64 bits for all of them.\n" + instead},
        {"too_many_lanes", [](Program &p) { p.swar(p.a(p.x, p.y) + 1, 16); },
         in_f + "    (" + a_x + " + 1_u8)\n"
         "  has 8 bits in each of 16 lanes, and an integer register has 64 bits for all of them.\n" + instead},
        {"float", [](Program &p) { p.swar(p.real(p.x, p.y) + 1, 2); },
         in_f + "    (" + real_x + " + 1.000000f)\n"
         "  is floating-point arithmetic, and an integer register has none.\n" + instead},
        {"float_cast", [](Program &p) { p.swar(cast<uint8_t>(p.real(p.x, p.y)), 2); },
         in_f + "    uint8(" + real_x + ")\n"
         "  converts floating-point numbers, which an integer register cannot.\n" + instead},
        {"scatter",
         [](Program &p) {
             RDom r(0, 16, "r");
             p.f(p.x, p.y) = cast<uint8_t>(0);
             p.f(clamp(p.a(r, p.y), 0, 20), p.y) = p.b(r, p.y);
             RVar ro("ro"), ri("ri");
             p.f.update().allow_race_conditions().split(r, ro, ri, 4).vectorize(ri, VectorizeIn::SWAR);
         },
         "Error: Func f is vectorized over f.s1.r$x.ri with VectorizeIn::SWAR, but\n"
         "    (uint8)f[(int32(min((uint8)a[(f.s1.r$x.ri.base + (f.s1.y*a.stride.1)) - (a.min.0 + (a.min.1*a.stride.1))], "
         "20_u8)) + (f.s1.y*f.stride.1)) - (f.min.0 + (f.min.1*f.stride.1))]\n"
         "  is the place of a scatter: where lanes go depends on data.\n" + instead},
        {"simd_inside",
         [](Program &p) {
             p.f(p.x, p.y) = p.a(p.x, p.y);
             p.f.split(p.x, p.xo, p.xi, 4).split(p.y, p.yo, p.yi, 4).reorder(p.xi, p.yi, p.xo, p.yo);
             p.f.vectorize(p.xi).vectorize(p.yi, VectorizeIn::SWAR);
         },
         "Error: The loop f.s0.x.xi is vectorized inside of f.s0.y.yi, which is vectorized with VectorizeIn::SWAR. A word of "
         "lanes cannot hold vectors.\n"
         "  Reorder the loops, so that the SWAR loop is inside the SIMD loop, or vectorize only one of them.\n"},
        {"swar_on_device",
         [](Program &p) {
             p.f(p.x, p.y) = p.a(p.x, p.y);
             p.f.split(p.x, p.xo, p.xi, 4).vectorize(p.xi, VectorizeIn::SWAR).gpu_blocks(p.y, DeviceAPI::CUDA);
         },
         "Error: The loop f.s0.x.xi is vectorized with VectorizeIn::SWAR inside of f.s0.y, which runs on a device. Words of "
         "integer registers are made for CPUs only.\n" + instead},
        {"gpr_on_device",
         [](Program &p) {
             p.g(p.x, p.y) = p.a(p.x, p.y);
             p.f(p.x, p.y) = p.g(p.x, p.y) + p.g(p.x + 1, p.y);
             p.f.gpu_blocks(p.y, DeviceAPI::CUDA);
             p.g.compute_at(p.f, p.x).store_in(MemoryType::GPR);
         },
         "Error: Func g is stored in MemoryType::GPR inside of the loop f.s0.y, which runs on a device. General-purpose "
         "registers are storage on CPUs only.\n"
         "  Use MemoryType::Register there.\n"},
        {"gpr_wide_access",
         [](Program &p) {
             p.g(p.x, p.y) = p.a(p.x, p.y);
             p.f(p.x, p.y) = p.g(p.x, p.y) + p.g(p.x + 1, p.y);
             p.f.bound(p.x, 0, 64).vectorize(p.x, 16);
             p.g.compute_at(p.f, p.y).store_in(MemoryType::GPR).bound_extent(p.x, 65);
         },
         "Error: Func g is stored in MemoryType::GPR, but 16 elements of type uint8 are accessed at once, and an integer "
         "register has 64 bits.\n"
         "  Vectorize accesses of g by at most 8, or use MemoryType::Register.\n"},
        {"gpr_without_size",
         [](Program &p) {
             p.g(p.x, p.y) = p.a(p.x, p.y);
             p.f(p.x, p.y) = p.g(p.x, p.y) + p.g(p.x + 1, p.y);
             p.g.compute_at(p.f, p.y).store_in(MemoryType::GPR);
         },
         "Error: The allocation of g in registers has no constant size: the extent g.x.extent_realized has no constant upper "
         "bound.\n"
         "  Use bound or bound_extent.\n"},
    };
}

TEST(SWARErrors, texts) {
    for (const Case &c : cases()) {
        EXPECT_EQ(message_of(c.mistake, "x86-64-linux-sse41-cuda"), c.message) << c.name;
    }
}

}  // namespace
