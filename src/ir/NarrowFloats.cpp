#include "ir/NarrowFloats.h"

#include "ir/IR.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "support/Error.h"

#include <cmath>
#include <utility>
#include <vector>

// The formats of OCP's "8-bit floating point" and "microscaling" specifications. A narrow code whose exponent and mantissa
// are put where a float32 has them is the value, scaled by a power of two, subnormal codes included; rounding is an
// addition to the bits.

namespace Halide {

using namespace Internal;

namespace {

/// A format with a sign, an exponent and `mantissa` bits.
struct Format {
    int mantissa;
    int bias;
    double largest;
    int nan;  ///< its code without sign
};
constexpr Format e4m3{3, 7, 448, 0x7f}, e5m2{2, 15, 57344, 0x7e}, e2m1{1, 1, 6, 0}, e1m2{2, 1, 1.75, 0};

// Functions of the library with a name of their own, as exp and floor are: a back end that has an instruction finds them by
// it, for all others they are expanded in lowering.
Expr narrow_call(Type t, const char *name, std::vector<Expr> args) {
    return Call::make(t, name, args, Call::PureExtern);
}

Expr checked_code(const char *name, const Expr &e) {
    user_assert(e.defined()) << name << " of undefined Expr.\n";
    user_assert(e.type().element_of() == UInt(8))
        << name << " takes a byte (UInt(8)), not " << e << " of type " << e.type() << ".\n";
    return e;
}

Expr checked_float(const char *name, Expr e) {
    user_assert(e.defined()) << name << " of undefined Expr.\n";
    user_assert(e.type().is_float() && e.type().bits() <= 32)
        << name << " takes a float of at most 32 bits, not " << e << " of type " << e.type() << ".\n";
    const Type wanted = Float(32, e.type().lanes());
    return cast(wanted, std::move(e));
}

Expr decode4(const char *name, const Expr &codes, Expr which) {
    checked_code(name, codes);
    user_assert(which.defined() && which.type().is_int_or_uint())
        << name << ": which of the two values is an integer, not " << which << ".\n";
    return narrow_call(Float(32, codes.type().lanes()), name, {codes, cast(Int(32, which.type().lanes()), which)});
}

Expr encode4(const char *name, Expr first, Expr second) {
    first = checked_float(name, std::move(first));
    second = checked_float(name, std::move(second));
    return narrow_call(UInt(8, first.type().lanes()), name, {first, second});
}

/// The value of a code of `width` bits in the low bits of a UInt(32).
Expr decode(const Expr &code, int width, const Format &f) {
    const Type u = code.type(), real = Float(32, u.lanes());
    auto bits = [&](uint64_t v) { return make_const(u, v); };
    const Expr magnitude = code & bits((1u << (width - 1)) - 1);
    const Expr sign = (code & bits(1u << (width - 1))) << make_const(u, 32 - width);
    const Expr scaled = reinterpret(real, magnitude << make_const(u, 23 - f.mantissa));
    // The scale is itself a float: 2^(127 − bias).
    const Expr scale = reinterpret(real, bits((uint64_t)(127 + 127 - f.bias) << 23));
    return reinterpret(real, reinterpret(u, scaled * scale) | sign);
}

/// The code of a float, in the low bits of a UInt(32).
Expr encode(const Expr &x, int width, const Format &f) {
    const Type u = UInt(32, x.type().lanes()), real = x.type();
    auto bits = [&](uint64_t v) { return make_const(u, v); };
    const Expr word = reinterpret(u, x);
    const Expr positive = reinterpret(real, word & bits(0x7fffffff));
    // Of NaN the comparison is false, so the clamp keeps it out of the integers below.
    const Expr a = select(positive < make_const(real, f.largest), positive, make_const(real, f.largest));
    // Below the least normal number codes are multiples of one quantum.
    const double quantum = std::ldexp(1.0, 1 - f.bias - f.mantissa);
    const Expr subnormal = cast(u, cast(Int(32, u.lanes()), round(a * make_const(real, 1 / quantum))));
    const int cut = 23 - f.mantissa;
    const Expr pattern = reinterpret(u, a);
    const Expr rounded = pattern + bits((1u << (cut - 1)) - 1) + ((pattern >> bits(cut)) & bits(1));
    const Expr normal = (rounded >> bits(cut)) - bits((uint64_t)(127 - f.bias) << f.mantissa);
    const Expr code = select(a < make_const(real, std::ldexp(1.0, 1 - f.bias)), subnormal, normal);
    const Expr is_nan = (word & bits(0x7fffffff)) > bits(0x7f800000);
    const Expr sign = (word >> bits(32 - width)) & bits(1u << (width - 1));
    return select(is_nan, bits(f.nan), code) | sign;
}

Expr decode_nibble(const Call *op, const Format &f) {
    const Type u = UInt(32, op->type.lanes());
    const Expr shift = (cast(u, op->args[1]) & make_const(u, 1)) << make_const(u, 2);
    return decode((cast(u, op->args[0]) >> shift) & make_const(u, 15), 4, f);
}

Expr encode_pair(const Call *op, const Format &f) {
    auto nibble = [&](const Expr &x) {
        return encode(cast(x.type(), cast(BFloat(16, x.type().lanes()), x)), 4, f);
    };
    const Type u = UInt(32, op->type.lanes());
    return cast(op->type, nibble(op->args[0]) | (nibble(op->args[1]) << make_const(u, 4)));
}

}  // namespace

Expr fp8_e4m3_to_float(Expr code) {
    checked_code("fp8_e4m3_to_float", code);
    return narrow_call(Float(32, code.type().lanes()), "fp8_e4m3_to_float", {code});
}
Expr float_to_fp8_e4m3(Expr x) {
    x = checked_float("float_to_fp8_e4m3", std::move(x));
    return narrow_call(UInt(8, x.type().lanes()), "float_to_fp8_e4m3", {x});
}
Expr fp8_e5m2_to_float(Expr code) {
    checked_code("fp8_e5m2_to_float", code);
    return narrow_call(Float(32, code.type().lanes()), "fp8_e5m2_to_float", {code});
}
Expr float_to_fp8_e5m2(Expr x) {
    x = checked_float("float_to_fp8_e5m2", std::move(x));
    return narrow_call(UInt(8, x.type().lanes()), "float_to_fp8_e5m2", {x});
}
Expr fp4_e2m1_to_float(Expr codes, Expr which) {
    return decode4("fp4_e2m1_to_float", codes, std::move(which));
}
Expr float_to_fp4_e2m1(Expr first, Expr second) {
    return encode4("float_to_fp4_e2m1", std::move(first), std::move(second));
}
Expr fp4_e1m2_to_float(Expr codes, Expr which) {
    return decode4("fp4_e1m2_to_float", codes, std::move(which));
}
Expr float_to_fp4_e1m2(Expr first, Expr second) {
    return encode4("float_to_fp4_e1m2", std::move(first), std::move(second));
}

namespace Internal {

Expr lower_narrow_float(const Call *op) {
    if (op->call_type != Call::PureExtern) {
        return Expr();
    }
    const Type u = UInt(32, op->type.lanes());
    const std::string &name = op->name;
    if (name == "fp8_e4m3_to_float") {
        const Expr code = cast(u, op->args[0]);
        const Expr is_nan = (code & make_const(u, 0x7f)) == make_const(u, 0x7f);
        const Expr nan = reinterpret(op->type, make_const(u, 0x7fc00000) | ((code & make_const(u, 0x80)) << make_const(u, 24)));
        return select(is_nan, nan, decode(code, 8, e4m3));
    }
    if (name == "fp8_e5m2_to_float") {
        const Type half = UInt(16, u.lanes());
        return cast(op->type, reinterpret(Float(16, u.lanes()), cast(half, op->args[0]) << make_const(half, 8)));
    }
    if (name == "float_to_fp8_e4m3") {
        return cast(op->type, encode(op->args[0], 8, e4m3));
    }
    if (name == "float_to_fp8_e5m2") {
        return cast(op->type, encode(op->args[0], 8, e5m2));
    }
    if (name == "fp4_e2m1_to_float") {
        return decode_nibble(op, e2m1);
    }
    if (name == "fp4_e1m2_to_float") {
        return decode_nibble(op, e1m2);
    }
    if (name == "float_to_fp4_e2m1") {
        return encode_pair(op, e2m1);
    }
    if (name == "float_to_fp4_e1m2") {
        return encode_pair(op, e1m2);
    }
    return Expr();
}

namespace {

/// Once for each node: expressions are graphs until their shared parts get names.
class LowerNarrowFloats : public IRGraphMutator {
    using IRGraphMutator::visit;
    Expr visit(const Call *op) override {
        const Expr lowered = lower_narrow_float(op);
        return lowered.defined() ? mutate(lowered) : IRGraphMutator::visit(op);
    }
};

}  // namespace

Stmt lower_narrow_floats(const Stmt &s) {
    return LowerNarrowFloats()(s);
}

}  // namespace Internal
}  // namespace Halide
