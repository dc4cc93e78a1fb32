#pragma once

/// A kernel as a program of VMI instructions: what PTOVectorize makes and CodeGen_PTO prints (spec pto-vmi.md).
///
/// Vector and mask values are numbered and assigned once; loops carry them. Scalars stay expressions of the ordinary IR
/// over kernel arguments, loop variables and scalar lets, because both texts can write them in place.

#include "func/PTOKernel.h"

#include <optional>

namespace Halide {
namespace Internal {

/// Element types of vectors and pointers (spec 7.1).
enum class VMIElem {
    SI8, UI8, I8, SI16, UI16, I16, SI32, UI32, I32, F16, BF16, F32, F8E4M3, F8E5M2, F4E2M1X2, F4E1M2X2, BF16X2,
};

/// The name in PTODSL, without `pto.`.
const char *vmi_name(VMIElem e);
int vmi_bits(VMIElem e);
/// The element type that holds this type's values: signed as si, unsigned as ui, bool as ui8.
VMIElem vmi_elem(const Type &t);

struct VMIType {
    VMIElem elem = VMIElem::F32;
    int lanes = 0;
    bool is_mask = false;

    static VMIType mask(int lanes) {
        return {VMIElem::UI8, lanes, true};
    }
    bool operator==(const VMIType &other) const {
        return elem == other.elem && lanes == other.lanes && is_mask == other.is_mask;
    }
    int bits() const {
        return lanes * vmi_bits(elem);
    }
};

struct VMIOperand {
    enum class Kind {
        Value,    ///< a vector or mask
        Values,   ///< a list of vectors
        Scalar,   ///< an expression; if `typed`, of element type `elem`, else an offset or a count
        Pointer,  ///< a buffer seen as elements of type `elem`, from element `scalar` on if that is defined
    };
    Kind kind = Kind::Value;
    int value = -1;
    std::vector<int> values;
    Expr scalar;
    VMIElem elem = VMIElem::I32;
    bool typed = false;
    std::string buffer;

    static VMIOperand of(int value);
    static VMIOperand of(std::vector<int> values);
    static VMIOperand offset(const Expr &e);
    static VMIOperand scalar_of(const Expr &e, VMIElem elem);
    static VMIOperand pointer(const std::string &buffer, VMIElem elem, const Expr &first = Expr());
};

/// A keyword argument of an operation, in the order in which it is written.
struct VMIAttribute {
    enum class Kind { Number, Word, Element, Flag };
    std::string name;
    Kind kind = Kind::Number;
    int64_t number = 0;
    std::string word;
    VMIElem elem = VMIElem::F32;
};

struct VMIInst {
    enum class Kind {
        Op,      ///< an operation on vectors
        Let,     ///< a scalar: `name` = `scalar`
        For,     ///< `name` from `begin` up to `end` (excluded) by `step`
        If,      ///< a branch on the scalar `scalar`
        Store,   ///< a scalar store: `name`[`begin`] = `scalar`
        Effect,  ///< a move, flag or barrier: the call in `scalar`
    };
    Kind kind = Kind::Op;

    std::string op;
    std::vector<int> results;
    std::vector<VMIOperand> operands;
    std::vector<VMIAttribute> attributes;

    std::string name;
    Expr scalar, begin, end;
    int64_t step = 1;
    UnrollHint hint;
    Type type;  ///< Store: of the element

    /// What a loop carries, or what the arms of a branch yield.
    struct Carried {
        std::string name;
        int init = -1;    ///< loops: value before
        int inner = -1;   ///< loops: value at the start of an iteration
        int next = -1;    ///< value at the end of the body (of the `then` arm)
        int other = -1;   ///< branches: value at the end of the `else` arm
        int result = -1;  ///< value after it
    };
    std::vector<Carried> carried;
    std::vector<VMIInst> body, else_body;
};

struct VMIBuffer {
    std::string name;
    VMIElem elem;
    int64_t address = 0;
};

struct VMIKernel {
    std::string name;
    std::vector<PTOKernelArg> args;
    std::vector<VMIBuffer> buffers;   ///< UB, each under the element type of its allocation
    std::vector<VMIType> values;      ///< by number
    std::vector<std::string> hints;   ///< names to print values with; may be empty or equal
    std::vector<VMIInst> body;
};

}  // namespace Internal
}  // namespace Halide
