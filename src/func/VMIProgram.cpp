#include "func/VMIProgram.h"

#include "ir/IRPrinter.h"
#include "support/Error.h"

namespace Halide {
namespace Internal {

const char *vmi_name(VMIElem e) {
    switch (e) {
    case VMIElem::SI8: return "si8";
    case VMIElem::UI8: return "ui8";
    case VMIElem::I8: return "i8";
    case VMIElem::SI16: return "si16";
    case VMIElem::UI16: return "ui16";
    case VMIElem::I16: return "i16";
    case VMIElem::SI32: return "si32";
    case VMIElem::UI32: return "ui32";
    case VMIElem::I32: return "i32";
    case VMIElem::F16: return "f16";
    case VMIElem::BF16: return "bf16";
    case VMIElem::F32: return "f32";
    case VMIElem::F8E4M3: return "f8e4m3";
    case VMIElem::F8E5M2: return "f8e5m2";
    case VMIElem::F4E2M1X2: return "f4e2m1x2";
    case VMIElem::F4E1M2X2: return "f4e1m2x2";
    case VMIElem::BF16X2: return "vmi.bf16x2";
    }
    return "unknown";
}

int vmi_bits(VMIElem e) {
    switch (e) {
    case VMIElem::SI16:
    case VMIElem::UI16:
    case VMIElem::I16:
    case VMIElem::F16:
    case VMIElem::BF16:
        return 16;
    case VMIElem::SI32:
    case VMIElem::UI32:
    case VMIElem::I32:
    case VMIElem::F32:
    case VMIElem::BF16X2:
        return 32;
    default:
        return 8;
    }
}

VMIElem vmi_elem(const Type &t) {
    internal_assert(t.bits() <= 32) << "No VMI element type for " << t << "\n";
    if (t.is_bfloat()) {
        return VMIElem::BF16;
    }
    if (t.is_float()) {
        return t.bits() == 16 ? VMIElem::F16 : VMIElem::F32;
    }
    if (t.is_int()) {
        return t.bits() == 8 ? VMIElem::SI8 : t.bits() == 16 ? VMIElem::SI16 : VMIElem::SI32;
    }
    return t.bits() <= 8 ? VMIElem::UI8 : t.bits() == 16 ? VMIElem::UI16 : VMIElem::UI32;
}

VMIOperand VMIOperand::of(int value) {
    VMIOperand o;
    o.value = value;
    return o;
}

VMIOperand VMIOperand::of(std::vector<int> values) {
    VMIOperand o;
    o.kind = Kind::Values;
    o.values = std::move(values);
    return o;
}

VMIOperand VMIOperand::offset(const Expr &e) {
    VMIOperand o;
    o.kind = Kind::Scalar;
    o.scalar = e;
    return o;
}

VMIOperand VMIOperand::scalar_of(const Expr &e, VMIElem elem) {
    VMIOperand o = offset(e);
    o.elem = elem;
    o.typed = true;
    return o;
}

VMIOperand VMIOperand::pointer(const std::string &buffer, VMIElem elem, const Expr &first) {
    VMIOperand o;
    o.kind = Kind::Pointer;
    o.buffer = buffer;
    o.scalar = first;
    o.elem = elem;
    return o;
}

}  // namespace Internal
}  // namespace Halide
