#include "lower/pto/PTOVectorizer.h"

#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/LowerIntrinsics.h"
#include "ir/NarrowFloats.h"
#include "simplify/Simplify.h"
#include "support/Error.h"

#include <sstream>

// Conversions: what vcvt has (spec pto-vmi.md 12) and, of what it has not, the chains and recipes of part 22.

namespace Halide {
namespace Internal {

int PTOVectorizer::cvt(int v, VMIElem to, const char *rounding, const char *saturate) {
    std::vector<VMIAttribute> attributes = {vmi_element("to_dtype", to)};
    if (rounding) {
        attributes.push_back(vmi_word("rounding", rounding));
    }
    if (saturate) {
        attributes.push_back(vmi_word("saturate", saturate));
    }
    return b.op("vcvt", VMIType{to, b.type(v).lanes, false}, {VMIOperand::of(v)}, attributes);
}

int PTOVectorizer::as(int v, VMIElem to) {
    const VMIType t = b.type(v);
    if (t.elem == to) {
        return v;
    }
    return b.op("vinterpret_cast", VMIType{to, t.lanes * vmi_bits(t.elem) / vmi_bits(to), false}, {VMIOperand::of(v)},
                {vmi_element("to_dtype", to)});
}

int PTOVectorizer::convert(int v, const Type &from_type, const Type &to_type) {
    const Type from = from_type.is_bool() ? UInt(8) : from_type, to = to_type;
    if (from == to) {
        return v;
    }
    if (from.bits() > 32 || to.bits() > 32) {
        std::ostringstream text;
        text << "a conversion from " << from << " to " << to << " has 64-bit lanes";
        refuse("dtype", text.str(), "Vectors have elements of at most 32 bits.");
    }
    const bool from_int = from.is_int_or_uint(), to_int = to.is_int_or_uint();
    if (from_int && to_int) {
        if (from.bits() == to.bits()) {
            return as(v, vmi_elem(to));
        }
        // Signedness of the source decides how it grows; what is cut off has none.
        const Type middle = to.bits() > from.bits() ? to.with_code(from.code()) :
                            to == Int(16)           ? (from == UInt(32) ? UInt(16) : to) :
                                                      to.with_code(Type::UInt);
        const int wide = cvt(v, vmi_elem(middle), nullptr, to.bits() > from.bits() ? nullptr : "NOSAT");
        return as(wide, vmi_elem(to));
    }
    if (from_int) {
        if (to == Float(32)) {
            if (from == UInt(32)) {
                return uint32_to_float(v);
            }
            return cvt(as(convert(v, from, from.with_bits(32)), VMIElem::SI32), VMIElem::F32);
        }
        if (to.is_bfloat() && from.bits() == 32) {
            std::ostringstream text;
            text << "a conversion from " << from << " to bfloat16 would round twice";
            refuse("dtype/cast", text.str(), "Convert to float32 first if that is what you want.");
        }
        return convert(convert(v, from, Float(32)), Float(32), to);
    }
    if (to_int) {
        if (from == Float(16) && to == Int(16)) {
            return cvt(v, VMIElem::SI16, "Z", "SAT");
        }
        return float_to_int(convert(v, from, Float(32)), to, "Z");
    }
    if (to == Float(32)) {
        return cvt(v, VMIElem::F32);
    }
    if (from != Float(32)) {
        return convert(convert(v, from, Float(32)), Float(32), to);
    }
    // Beyond the range lies infinity, as IEEE rounding has it.
    return cvt(v, vmi_elem(to), "R", "NOSAT");
}

/// From float32, to any integer. What is out of range may give anything.
int PTOVectorizer::float_to_int(int v, const Type &to, const char *rounding) {
    if (to == UInt(32)) {
        return float_to_uint32(v);
    }
    if (to == Int(16)) {
        return cvt(v, VMIElem::SI16, rounding, "SAT");
    }
    return convert(cvt(v, VMIElem::SI32, rounding, "SAT"), Int(32), to);
}

/// Both halves are exact in float32, and so is the product; the sum rounds once.
int PTOVectorizer::uint32_to_float(int v) {
    const VMIType u{VMIElem::UI32, lane.lanes, false};
    const VMIType f{VMIElem::F32, lane.lanes, false};
    const int full = full_mask(lane.lanes);
    const int high = b.op("vshr", u, {VMIOperand::of(v), VMIOperand::offset(make_const(Int(32), 16)), VMIOperand::of(full)});
    const int low = binary("vand", u, v, splat(make_const(UInt(32), 65535)));
    const int high_float = cvt(as(high, VMIElem::SI32), VMIElem::F32), low_float = cvt(as(low, VMIElem::SI32), VMIElem::F32);
    return binary("vadd", f, with_scalar("vmul", high_float, make_const(Float(32), 65536), Float(32)), low_float);
}

/// Numbers from 2^31 on are converted without their top bit, which is put back.
int PTOVectorizer::float_to_uint32(int v) {
    const VMIType u{VMIElem::UI32, lane.lanes, false};
    const Type f = Float(32);
    const int full = full_mask(lane.lanes);
    const Expr top = make_const(f, 2147483648.0);
    const int is_large = b.op("vcmps", VMIType::mask(lane.lanes),
                              {VMIOperand::of(v), VMIOperand::scalar_of(top, VMIElem::F32), VMIOperand::of(full)},
                              {vmi_word("cmp", "ge")});
    const int less = with_scalar("vadd", v, make_const(f, -2147483648.0), f);
    const int small = cvt(choose(is_large, less, v), VMIElem::SI32, "Z", "SAT");
    const int bit = choose(is_large, splat(make_const(UInt(32), (uint64_t)1 << 31)), splat(make_zero(UInt(32))));
    return binary("vxor", u, as(small, VMIElem::UI32), bit);
}

int PTOVectorizer::convert_saturating(const Expr &value, const Type &to) {
    const Type from = value.type();
    if (from.bits() > 32 || to.bits() > 32) {
        return eval(lower_saturating_cast(to, value));
    }
    const bool to_int = to.is_int_or_uint();
    if (from.is_float() && to_int) {
        Expr x = value;
        const char *rounding = "Z";
        const Call *c = value.as<Call>();
        if (c && c->is_intrinsic(Call::round)) {
            x = c->args[0];
            rounding = "R";
        }
        if (to == Int(32) || to == UInt(8) || to == UInt(16) || to == Int(16)) {
            const int f = convert(eval(x), from, Float(32));
            if (to == Int(16)) {
                return cvt(f, VMIElem::SI16, rounding, "SAT");
            }
            const int i = cvt(f, VMIElem::SI32, rounding, "SAT");
            return to == Int(32) ? i : cvt(i, vmi_elem(to), nullptr, "SAT");
        }
        if (to == Int(8)) {
            const int i = cvt(convert(eval(x), from, Float(32)), VMIElem::SI32, rounding, "SAT");
            const int clamped = with_scalar("vmax", with_scalar("vmin", i, 127, Int(32)), -128, Int(32));
            return cvt(clamped, VMIElem::SI8, nullptr, "NOSAT");
        }
        // UInt(32): negative numbers first.
        return float_to_uint32(with_scalar("vmax", with_scalar("vmin", convert(eval(value), from, Float(32)),
                                                               make_const(Float(32), 4294967040.0), Float(32)),
                                           make_zero(Float(32)), Float(32)));
    }
    if (from.is_int_or_uint() && to_int && to.bits() < from.bits() && to != Int(8) && !(from.is_uint() && to.is_int())) {
        return cvt(eval(value), vmi_elem(to), nullptr, "SAT");
    }
    if (to == Float(16) && from == Float(32)) {
        return cvt(eval(value), VMIElem::F16, "R", "SAT");
    }
    const Expr lowered = lower_saturating_cast(to, value);
    const Call *c = lowered.as<Call>();
    if (c && c->is_intrinsic(Call::saturating_cast)) {
        return eval(cast(to, value));
    }
    return eval(lowered);
}

Expr PTOVectorizer::floor_to_int(const Call *op) const {
    // Toward zero, then one step where that went the wrong way.
    const Expr x = cast(Float(32), op->args[0]);
    const Expr i = cast(Int(32), x), back = cast(Float(32), i);
    return op->name[0] == 'f' ? i - select(back > x, 1, 0) : i + select(back < x, 1, 0);
}

int PTOVectorizer::eval_rounded(const Expr &value, const std::string &how) {
    const Type t = value.type();
    if (t != Float(32)) {
        return convert(eval_rounded(cast(Float(32), value), how), Float(32), t);
    }
    // Floats from 2^23 on are integers already; so are infinities, and NaN compares false.
    const VMIType f = vtype(t), bits{VMIElem::UI32, lane.lanes, false};
    const int x = eval(value);
    const int full = full_mask(lane.lanes);
    int r = cvt(cvt(x, VMIElem::SI32, how == "round" ? "R" : "Z", "SAT"), VMIElem::F32);
    if (how == "floor" || how == "ceil") {
        const int wrong = b.op("vcmp", VMIType::mask(lane.lanes), {VMIOperand::of(r), VMIOperand::of(x), VMIOperand::of(full)},
                               {vmi_word("cmp", how == "floor" ? "gt" : "lt")});
        r = choose(wrong, with_scalar("vadd", r, make_const(t, how == "floor" ? -1.0 : 1.0), t), r);
    }
    // The result has the sign of x, zeros too.
    const int sign = binary("vand", bits, as(x, VMIElem::UI32), splat(make_const(UInt(32), (uint64_t)1 << 31)));
    const int magnitude = unary("vabs", f, r);
    r = as(binary("vor", bits, as(magnitude, VMIElem::UI32), sign), VMIElem::F32);
    const int is_small = b.op("vcmps", VMIType::mask(lane.lanes),
                              {VMIOperand::of(unary("vabs", f, x)),
                               VMIOperand::scalar_of(make_const(t, 8388608.0), VMIElem::F32), VMIOperand::of(full)},
                              {vmi_word("cmp", "lt")});
    return choose(is_small, r, x);
}

namespace {

struct Division {
    Expr quotient, remainder;
};

/// Of 32-bit numbers without sign, for a divisor other than 0. A quotient of floats has about 23 digits, and is made a little
/// smaller, so that it is never too large: the first covers all but a 2^19th part of the dividend, the second leaves less than
/// twice the divisor, and then at most one is missing.
Division divide_unsigned(const Expr &dividend, const Expr &divisor) {
    const Type u = UInt(32), f = Float(32);
    const Expr below = make_const(f, 1 - 1.0 / (1 << 20));
    const Expr d = cast(f, divisor);
    const Expr q1 = cast(u, Mul::make(Div::make(cast(f, dividend), d), below));
    const Expr r1 = Sub::make(dividend, Mul::make(q1, divisor));
    const Expr q2 = cast(u, Mul::make(Div::make(cast(f, r1), d), below));
    const Expr r2 = Sub::make(r1, Mul::make(q2, divisor));
    const Expr q = Add::make(q1, q2), one_more = GE::make(r2, divisor);
    return {Select::make(one_more, Add::make(q, make_one(u)), q), Select::make(one_more, Sub::make(r2, divisor), r2)};
}

/// Of 32-bit numbers: the remainder is never negative, and dividing by 0 gives 0 twice.
Division divide_32_bits(const Expr &a, const Expr &c) {
    const Type t = a.type(), u = UInt(32);
    const Expr zero = make_zero(u), one = make_one(u);
    const Expr by_zero = c == make_zero(t);
    if (t.is_uint()) {
        const Division d = divide_unsigned(a, c);
        return {select(by_zero, zero, d.quotient), select(by_zero, zero, d.remainder)};
    }
    const Expr n = Call::make(u, Call::abs, {a}, Call::PureIntrinsic), m = Call::make(u, Call::abs, {c}, Call::PureIntrinsic);
    const Division d = divide_unsigned(n, m);
    // −n = −(q + 1)·m + (m − r)
    const Expr up = a < make_zero(t) && d.remainder != zero;
    const Expr q = select(up, d.quotient + one, d.quotient), r = select(up, m - d.remainder, d.remainder);
    const Expr negative = (a < make_zero(t)) != (c < make_zero(t));
    return {cast(t, select(by_zero, zero, negative, zero - q, q)), cast(t, select(by_zero, zero, r))};
}

}  // namespace

Expr PTOVectorizer::divide_integers(const Expr &a, const Expr &c) const {
    const Type t = a.type();
    if (is_const(c)) {
        return lower_int_uint_div(a, c);
    }
    if (t.bits() == 32) {
        return divide_32_bits(a, c).quotient;
    }
    // Numbers of 16 bits are exact in float32, and the quotient is off by less than one. Rounded down from a positive
    // divisor's side, then corrected by the remainder; a remainder is never negative; x / 0 is 0.
    const Type i = Int(32), f = Float(32);
    const Expr x = cast(i, a), y = cast(i, c);
    const Expr q = cast(i, cast(f, x) / cast(f, y));
    const Expr r = x - q * y;
    const Expr step = select(y > 0, 1, -1);
    const Expr fixed = select(r < 0, q - step, select(r >= select(y > 0, y, 0 - y), q + step, q));
    return cast(t, select(y == 0, 0, fixed));
}

Expr PTOVectorizer::remainder_of_integers(const Expr &a, const Expr &c) const {
    const Type t = a.type();
    if (t.bits() == 32) {
        return divide_32_bits(a, c).remainder;
    }
    const Type i = Int(32);
    const Expr x = cast(i, a), y = cast(i, c);
    return cast(t, select(y == 0, 0, x - cast(i, divide_integers(a, c)) * y));
}

bool PTOVectorizer::is_narrow_float(const Call *op) {
    for (const char *format : {"fp8_e4m3", "fp8_e5m2", "fp4_e2m1", "fp4_e1m2"}) {
        if (op->name == std::string(format) + "_to_float" || op->name == std::string("float_to_") + format) {
            return true;
        }
    }
    return false;
}

int PTOVectorizer::eval_narrow_float(const Call *op) {
    const int full = full_mask(lane.lanes);
    const VMIType words{VMIElem::UI32, lane.lanes, false};
    auto shift_left = [&](int v) {
        return b.op("vshl", words, {VMIOperand::of(v), VMIOperand::offset(make_const(Int(32), 16)), VMIOperand::of(full)});
    };
    const bool decode = op->type.is_float();
    const std::string format = decode ? op->name.substr(0, 8) : op->name.substr(9);
    const VMIElem elem = format == "fp8_e4m3" ? VMIElem::F8E4M3 :
                         format == "fp8_e5m2" ? VMIElem::F8E5M2 :
                         format == "fp4_e2m1" ? VMIElem::F4E2M1X2 :
                                                VMIElem::F4E1M2X2;
    if (format[2] == '8') {
        return decode ? cvt(load_bytes_as(op->args[0], elem), VMIElem::F32) : cvt(eval(op->args[0]), elem, "R", "SAT");
    }
    if (decode) {
        if (auto which = as_const_int(simplify(op->args[1]))) {
            // One bfloat16 of the pair, put where a float32 has its upper half.
            const int pairs = as(cvt(load_bytes_as(op->args[0], elem), VMIElem::BF16X2), VMIElem::UI32);
            const int half = *which % 2 ? binary("vand", words, pairs, splat(make_const(UInt(32), 0xffff0000u))) :
                                          shift_left(pairs);
            return as(half, VMIElem::F32);
        }
        const Load *load = op->args[0].as<Load>();
        const Expr first = load && ub_types.count(load->name) ? first_pair(load->index, op->args[1]) : Expr();
        if (!first.defined()) {
            return eval(lower_narrow_float(op));
        }
        const int half = lane.lanes / 2;
        const VMIPlacement placement = before_load(load->name, load->index);
        const int bytes = b.op("vload", VMIType{elem, half, false},
                               {VMIOperand::pointer(load->name, elem), VMIOperand::offset(first)},
                               {vmi_number("size", half)}, placement);
        return cvt(as(cvt(bytes, VMIElem::BF16X2), VMIElem::BF16), VMIElem::F32);
    }
    auto half = [&](int i) {
        const int rounded = cvt(eval(op->args[i]), VMIElem::BF16, "R", "NOSAT");
        return cvt(as(rounded, VMIElem::UI16), VMIElem::UI32);
    };
    const int low = half(0), high = half(1);
    return cvt(as(binary("vor", words, low, shift_left(high)), VMIElem::BF16X2), elem, "R");
}

}  // namespace Internal
}  // namespace Halide
