#pragma once

// Rows of blocks in ggml's quantized formats, presented as Funcs.
//
// A block is a few bytes that hold 32 to 256 small integers (codes) and what turns them into numbers. All formats fit one
// description. The values of a block come in *runs*, whose codes stand in one bit position of adjacent bytes and share
// their scale, so that a run is what a schedule vectorizes:
//
//     value(l, j, b, r) = factor(j, b, r) · quant(l, j, b, r) − offset(j, b, r)       l in the run, j run, b block, r row
//
// quant is a small integer, made of the stored code (minus a bias, or looked up in a table); factor and offset are floats.
// The K formats make them of a float per block and small integers per run: factor = d · scale, offset = dmin · minimum.
// Layouts: shared/spec/ggml-quants.md, section 3.

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "Halide.h"

namespace ggml {

using Halide::Buffer;
using Halide::Expr;
using Halide::Func;
using Halide::ImageParam;
using Halide::Var;
using Halide::cast;
using Halide::Float;
using Halide::Int;
using Halide::reinterpret;
using Halide::select;
using Halide::UInt;

class Blocks;

/// What distinguishes a format from others.
struct Format {
    const char *name;
    int id;           ///< ggml's number of the type
    int values;       ///< per block
    int bytes;        ///< per block
    int run;          ///< values per run
    int bias;         ///< quant = code − bias, if there is no table
    const char *activations;   ///< the format of the other operand of a dot product; null for one that is only that
    void (*define)(Blocks &);  ///< fills in the Funcs

    int runs() const {
        return values / run;
    }
};

const std::vector<Format> &formats();
const Format &format(const std::string &name);

/// A tensor of blocks and what its bytes mean. Funcs that a format does not have stay undefined.
class Blocks {
public:
    const Format &format;
    ImageParam bytes;   ///< UInt(8) [bytes of a block, blocks of a row, rows], without padding

    Var l{"l"}, j{"j"}, b{"b"}, r{"r"};

    Func code;      ///< UInt(8) (l, j, b, r): as stored
    Func quant;     ///< Int(8) (l, j, b, r)
    Func scale;     ///< Int(8) or UInt(8) (j, b, r): of the run
    Func minimum;   ///< UInt(8) (j, b, r): of the run
    Func sums;      ///< Int(16) (k, b, r): of 16 adjacent quants (q8_K)
    Func d;         ///< Float(32) (b, r): of the block
    Func dmin;      ///< Float(32) (b, r): of the block
    Func factor;    ///< Float(32) (j, b, r)
    Func offset;    ///< Float(32) (j, b, r)
    Func value;     ///< Float(32) (l, j, b, r), rounded after each operation as in the format's definition

    Blocks(const std::string &format_name, const std::string &name)
        : format(ggml::format(format_name)), bytes(UInt(8), 3, name), code(name + "_code"), quant(name + "_quant"),
          scale(name + "_scale"), minimum(name + "_minimum"), sums(name + "_sums"), d(name + "_d"),
          dmin(name + "_dmin"), factor(name + "_factor"), offset(name + "_offset"), value(name + "_value") {
        bytes.dim(0).set_bounds(0, format.bytes).set_stride(1);
        bytes.dim(1).set_min(0).set_stride(format.bytes);
        bytes.dim(2).set_min(0);
        format.define(*this);
        if (code.defined() && !quant.defined()) {
            quant(l, j, b, r) = cast<int8_t>(code(l, j, b, r)) - cast<int8_t>(format.bias);
        }
        if (!factor.defined()) {
            factor(j, b, r) = scale.defined() ? d(b, r) * cast<float>(scale(j, b, r)) : d(b, r);
        }
        if (minimum.defined()) {
            offset(j, b, r) = dmin(b, r) * cast<float>(minimum(j, b, r));
        }
        Expr v = factor(j, b, r) * cast<float>(quant(l, j, b, r));
        value(l, j, b, r) = strict_float(offset.defined() ? v - offset(j, b, r) : v);
    }

    /// Value i of a block, of a Func over (l, j, …).
    Expr at(const Func &f, const Expr &i, const Expr &block, const Expr &row) const {
        return f(i % format.run, i / format.run, block, row);
    }

    // Parts of a block, for definitions of formats: byte, 16-bit and 32-bit fields at a byte offset.

    Expr byte(const Expr &at) const {
        return bytes(at, b, r);
    }
    Expr u16(const Expr &at) const {
        return cast<uint16_t>(byte(at)) | (cast<uint16_t>(byte(at + 1)) << 8);
    }
    Expr u32(const Expr &at) const {
        return cast<uint32_t>(byte(at)) | (cast<uint32_t>(byte(at + 1)) << 8) | (cast<uint32_t>(byte(at + 2)) << 16) |
               (cast<uint32_t>(byte(at + 3)) << 24);
    }
    Expr half(const Expr &at) const {
        return cast<float>(reinterpret(Float(16), u16(at)));
    }
    Expr single(const Expr &at) const {
        return reinterpret(Float(32), u32(at));
    }

    /// The low (h = 0) or high (h = 1) four bits of a byte. A shift by a uniform amount, so `h` may vary over loops.
    static Expr nibble(const Expr &byte, const Expr &h) {
        return (byte >> cast<uint8_t>(4 * h)) & 15;
    }
    /// Bits k, k + 1, … of a byte.
    static Expr bits(const Expr &byte, const Expr &k, int count) {
        return (byte >> cast<uint8_t>(k)) & cast<uint8_t>((1 << count) - 1);
    }
};

namespace definitions {

// Formats of 32 values: byte k holds values k and k + 16, so that a run is 16 values.

inline Expr nibble_of_32(Blocks &t, int offset) {
    return Blocks::nibble(t.byte(offset + t.l), t.j);
}

/// A fifth bit from the 32-bit word at `offset`, one bit per value.
inline Expr fifth_bit(Blocks &t, int offset) {
    const Expr i = 16 * t.j + t.l;
    return Blocks::bits(t.byte(offset + i / 8), i % 8, 1) << 4;
}

inline void block_scale(Blocks &t, int offset) {
    t.d(t.b, t.r) = t.half(offset);
}

/// y = code·d + m is code·d − (−m).
inline void block_offset(Blocks &t, int offset) {
    t.offset(t.j, t.b, t.r) = -t.half(offset);
}

inline void q4_0(Blocks &t) {
    block_scale(t, 0);
    t.code(t.l, t.j, t.b, t.r) = nibble_of_32(t, 2);
}

inline void q4_1(Blocks &t) {
    block_scale(t, 0);
    block_offset(t, 2);
    t.code(t.l, t.j, t.b, t.r) = nibble_of_32(t, 4);
}

inline void q5_0(Blocks &t) {
    block_scale(t, 0);
    t.code(t.l, t.j, t.b, t.r) = nibble_of_32(t, 6) | fifth_bit(t, 2);
}

inline void q5_1(Blocks &t) {
    block_scale(t, 0);
    block_offset(t, 2);
    t.code(t.l, t.j, t.b, t.r) = nibble_of_32(t, 8) | fifth_bit(t, 4);
}

inline void q8_0(Blocks &t) {
    block_scale(t, 0);
    t.quant(t.l, t.j, t.b, t.r) = reinterpret(Int(8), t.byte(2 + t.l));
}

inline void q8_1(Blocks &t) {
    block_scale(t, 0);
    t.quant(t.l, t.j, t.b, t.r) = reinterpret(Int(8), t.byte(4 + t.l));
    Var k("k");
    // s = d·Σ quants, as a half, stands where others have their minimum.
    t.dmin(t.b, t.r) = t.half(2);
}

/// What a code of four bits stands for.
inline void table(Blocks &t, const std::vector<int> &entries) {
    Buffer<int8_t> values((int)entries.size());
    for (size_t i = 0; i < entries.size(); i++) {
        values((int)i) = (int8_t)entries[i];
    }
    t.quant(t.l, t.j, t.b, t.r) = values(Halide::unsafe_promise_clamped(cast<int>(t.code(t.l, t.j, t.b, t.r)), 0, 15));
}

const std::vector<int> nonlinear = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
const std::vector<int> e2m1 = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};   // twice the value

inline void iq4_nl(Blocks &t) {
    q4_0(t);
    table(t, nonlinear);
}

inline void mxfp4(Blocks &t) {
    // 2^(e − 128): the exponent field of a float is e − 1; below that, subnormals of one bit.
    const Expr e = cast<uint32_t>(t.byte(0));
    t.d(t.b, t.r) = reinterpret(Float(32), select(e < 2, cast<uint32_t>(0x200000) << e, (e - 1) << 23));
    t.code(t.l, t.j, t.b, t.r) = nibble_of_32(t, 1);
    table(t, e2m1);
}

inline void q1_0(Blocks &t) {
    block_scale(t, 0);
    const Expr i = 32 * t.j + t.l;
    t.code(t.l, t.j, t.b, t.r) = Blocks::bits(t.byte(2 + i / 8), i % 8, 1);
    t.quant(t.l, t.j, t.b, t.r) = 2 * cast<int8_t>(t.code(t.l, t.j, t.b, t.r)) - 1;
}

inline void q2_0(Blocks &t) {
    block_scale(t, 0);
    const Expr i = 32 * t.j + t.l;
    t.code(t.l, t.j, t.b, t.r) = Blocks::bits(t.byte(2 + i / 4), 2 * (i % 4), 2);
}

inline void nvfp4(Blocks &t) {
    t.code(t.l, t.j, t.b, t.r) = Blocks::nibble(t.byte(4 + 8 * t.j + t.l % 8), t.l / 8);
    table(t, e2m1);
    // Half of an unsigned float of four exponent and three mantissa bits, bias 7; 0 and 127 mean 0. The top bit is unused.
    const Expr s = cast<uint32_t>(t.byte(t.j)), exponent = (s >> 3) & 15, mantissa = s & 7;
    const Expr normal = reinterpret(Float(32), ((exponent + 119) << 23) | (mantissa << 20));
    const Expr subnormal = cast<float>(mantissa) * (1.0f / 1024);
    t.factor(t.j, t.b, t.r) = select(s == 0 || s == 127, 0.0f, exponent == 0, subnormal, normal);
}

inline void tq2_0(Blocks &t) {
    block_scale(t, 64);
    t.code(t.l, t.j, t.b, t.r) = Blocks::bits(t.byte(32 * (t.j / 4) + t.l), 2 * (t.j % 4), 2);
}

inline void tq1_0(Blocks &t) {
    block_scale(t, 52);
    // Byte and trit of runs 0–9, 10–14 and 15. Trit n of v is ((v·3^n mod 256)·3) >> 8.
    const Expr middle = t.j < 15;
    const Expr at = select(t.j < 10, 16 * (t.j % 2) + t.l, middle, 32 + t.l, 48 + t.l % 4);
    const Expr trit = select(t.j < 10, t.j / 2, middle, t.j - 10, t.l / 4);
    const Expr power = cast<uint8_t>(select(trit == 0, 1, trit == 1, 3, trit == 2, 9, trit == 3, 27, 81));
    t.code(t.l, t.j, t.b, t.r) = cast<uint8_t>((cast<uint16_t>(t.byte(at) * power) * 3) >> 8);
}

// The K formats: 256 values.

/// Scales and minima of q4_K and q5_K: 6 bits each in the 12 bytes from byte 4. Runs 0–3 and 4–7 are words of four bytes.
inline void six_bit_scales(Blocks &t) {
    const Expr low = t.j % 4, upper = t.j >= 4;
    const Expr a = t.byte(4 + low), m = t.byte(8 + low), c = t.byte(12 + low);
    t.scale(t.j, t.b, t.r) = select(upper, (c & 15) | ((a >> 2) & 0x30), a & 63);
    t.minimum(t.j, t.b, t.r) = select(upper, (c >> 4) | ((m >> 2) & 0x30), m & 63);
    block_scale(t, 0);
    t.dmin(t.b, t.r) = t.half(2);
}

/// Four bits of the order P: 32 bytes hold run 2g in their low halves and run 2g + 1 in their high ones.
inline Expr nibble_of_pair(Blocks &t, int offset) {
    return Blocks::nibble(t.byte(offset + 32 * (t.j / 2) + t.l), t.j % 2);
}

inline void q4_K(Blocks &t) {
    six_bit_scales(t);
    t.code(t.l, t.j, t.b, t.r) = nibble_of_pair(t, 16);
}

inline void q5_K(Blocks &t) {
    six_bit_scales(t);
    t.code(t.l, t.j, t.b, t.r) = nibble_of_pair(t, 48) | (Blocks::bits(t.byte(16 + t.l), t.j, 1) << 4);
}

/// Two bits of the order Q, in runs of 16: a half of 128 values has 32 bytes, each with four codes.
inline Expr two_bits(Blocks &t, int offset) {
    return Blocks::bits(t.byte(offset + 32 * (t.j / 8) + 16 * (t.j % 2) + t.l), 2 * (t.j % 8 / 2), 2);
}

inline void q2_K(Blocks &t) {
    block_scale(t, 80);
    t.dmin(t.b, t.r) = t.half(82);
    t.scale(t.j, t.b, t.r) = t.byte(t.j) & 15;
    t.minimum(t.j, t.b, t.r) = t.byte(t.j) >> 4;
    t.code(t.l, t.j, t.b, t.r) = two_bits(t, 16);
}

inline void q3_K(Blocks &t) {
    block_scale(t, 108);
    const Expr low = Blocks::nibble(t.byte(96 + t.j % 8), t.j / 8);
    const Expr high = Blocks::bits(t.byte(104 + t.j % 4), 2 * (t.j / 4), 2);
    t.scale(t.j, t.b, t.r) = cast<int8_t>(low | (high << 4)) - cast<int8_t>(32);
    t.code(t.l, t.j, t.b, t.r) = two_bits(t, 32) | (Blocks::bits(t.byte(16 * (t.j % 2) + t.l), t.j / 2, 1) << 2);
}

inline void q6_K(Blocks &t) {
    block_scale(t, 208);
    t.scale(t.j, t.b, t.r) = reinterpret(Int(8), t.byte(192 + t.j));
    const Expr half = t.j / 8, quarter = t.j % 8 / 2, column = 16 * (t.j % 2) + t.l;
    const Expr low = Blocks::nibble(t.byte(64 * half + 32 * (quarter % 2) + column), quarter / 2);
    const Expr high = Blocks::bits(t.byte(128 + 32 * half + column), 2 * quarter, 2);
    t.code(t.l, t.j, t.b, t.r) = low | (high << 4);
}

inline void iq4_xs(Blocks &t) {
    block_scale(t, 0);
    const Expr s = t.j / 2;   // a scale is for two runs
    const Expr low = Blocks::nibble(t.byte(4 + s / 2), s % 2);
    const Expr high = Blocks::bits(t.byte(2 + s / 4), 2 * (s % 4), 2);
    t.scale(t.j, t.b, t.r) = cast<int8_t>(low | (high << 4)) - cast<int8_t>(32);
    t.code(t.l, t.j, t.b, t.r) = Blocks::nibble(t.byte(8 + 16 * s + t.l), t.j % 2);
    table(t, nonlinear);
}

inline void q8_K(Blocks &t) {
    t.d(t.b, t.r) = t.single(0);
    t.quant(t.l, t.j, t.b, t.r) = reinterpret(Int(8), t.byte(4 + t.l));
    Var k("k");
    t.sums(k, t.b, t.r) = reinterpret(Int(16), t.u16(260 + 2 * k));
}

}  // namespace definitions

inline const std::vector<Format> &formats() {
    using namespace definitions;
    static const std::vector<Format> all = {
        // name   id  values bytes run bias activations
        {"q4_0", 2, 32, 18, 16, 8, "q8_0", q4_0},
        {"q4_1", 3, 32, 20, 16, 0, "q8_1", q4_1},
        {"q5_0", 6, 32, 22, 16, 16, "q8_0", q5_0},
        {"q5_1", 7, 32, 24, 16, 0, "q8_1", q5_1},
        {"q8_0", 8, 32, 34, 32, 0, "q8_0", q8_0},
        {"q8_1", 9, 32, 36, 32, 0, nullptr, q8_1},
        {"q2_K", 10, 256, 84, 16, 0, "q8_K", q2_K},
        {"q3_K", 11, 256, 110, 16, 4, "q8_K", q3_K},
        {"q4_K", 12, 256, 144, 32, 0, "q8_K", q4_K},
        {"q5_K", 13, 256, 176, 32, 0, "q8_K", q5_K},
        {"q6_K", 14, 256, 210, 16, 32, "q8_K", q6_K},
        {"q8_K", 15, 256, 292, 256, 0, nullptr, q8_K},
        {"iq4_nl", 20, 32, 18, 16, 0, "q8_0", iq4_nl},
        {"iq4_xs", 23, 256, 136, 16, 0, "q8_K", iq4_xs},
        {"tq1_0", 34, 256, 54, 16, 1, "q8_K", tq1_0},
        {"tq2_0", 35, 256, 66, 32, 1, "q8_K", tq2_0},
        {"mxfp4", 39, 32, 17, 16, 0, "q8_0", mxfp4},
        {"nvfp4", 40, 64, 36, 16, 0, "q8_0", nvfp4},
        {"q1_0", 41, 128, 18, 32, 0, "q8_0", q1_0},
        {"q2_0", 42, 64, 18, 32, 1, "q8_0", q2_0},
    };
    return all;
}

inline const Format &format(const std::string &name) {
    for (const Format &f : formats()) {
        if (name == f.name) {
            return f;
        }
    }
    throw std::runtime_error("no format is called " + name);
}

}  // namespace ggml
