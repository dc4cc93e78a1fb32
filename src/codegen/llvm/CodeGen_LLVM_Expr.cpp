/// Types, constants, arithmetic and conversions.

#include "codegen/llvm/CodeGen_LLVM.h"
#include "codegen/llvm/Operands.h"

#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/LowerIntrinsics.h"
#include "support/Error.h"
#include "support/Util.h"

namespace Halide::Internal {

bool CodeGen_LLVM::has_native_arithmetic(const Halide::Type &) const {
    return false;
}

bool CodeGen_LLVM::has_native_conversion(const Halide::Type &) const {
    return false;
}

// Small floats that the machine cannot compute with are kept as their bits.
bool CodeGen_LLVM::native_type(const Halide::Type &t) const {
    return !t.is_float() || t.bits() > 16 || has_native_arithmetic(t);
}

llvm::Type *CodeGen_LLVM::vector_type(llvm::Type *element, int lanes) const {
    return lanes == 1 ? element : llvm::FixedVectorType::get(element, (unsigned)lanes);
}

llvm::Type *CodeGen_LLVM::llvm_type(const Halide::Type &t) const {
    llvm::Type *element = nullptr;
    if (t.is_handle()) {
        element = ptr_t;
    } else if (t.is_float() && native_type(t)) {
        element = t.is_bfloat() ? llvm::Type::getBFloatTy(context) :
                  t.bits() == 16 ? f16_t :
                  t.bits() == 32 ? f32_t :
                                   f64_t;
    } else {
        element = llvm::Type::getIntNTy(context, (unsigned)t.bits());
    }
    return vector_type(element, t.lanes());
}

llvm::Type *CodeGen_LLVM::memory_type(const Halide::Type &t) const {
    return t.bits() == 1 ? vector_type(i8_t, t.lanes()) : llvm_type(t);
}

int CodeGen_LLVM::lanes_of(llvm::Value *v) {
    const auto *t = llvm::dyn_cast<llvm::FixedVectorType>(v->getType());
    return t ? (int)t->getNumElements() : 1;
}

llvm::Value *CodeGen_LLVM::splat(llvm::Value *v, int lanes) {
    return lanes == 1 ? v : builder->CreateVectorSplat((unsigned)lanes, v);
}

llvm::Constant *CodeGen_LLVM::int_constant(llvm::Type *t, int64_t v) const {
    // The value may be given as signed or unsigned, and is cut to the type.
    const unsigned bits = t->getScalarSizeInBits();
    return llvm::ConstantInt::get(t, llvm::APInt(64, (uint64_t)v).sextOrTrunc(bits));
}

llvm::Value *CodeGen_LLVM::call_llvm(llvm::Intrinsic::ID id, llvm::Type *result,
                                     const std::vector<llvm::Value *> &args) {
    return builder->CreateIntrinsic(result, id, args);
}

llvm::Value *CodeGen_LLVM::codegen(const Expr &e) {
    internal_assert(e.defined()) << "Code of an undefined expression";
    value = nullptr;
    e.accept(this);
    internal_assert(value) << "No code for " << e;
    internal_assert(value->getType() == llvm_type(e.type()))
        << "Code for " << e << " has another type than " << e.type();
    return value;
}

llvm::Value *CodeGen_LLVM::codegen_index(const Expr &e) {
    const auto binary = [&](const Expr &a, const Expr &b, llvm::Instruction::BinaryOps op) {
        llvm::Value *x = codegen_index(a);
        llvm::Value *y = codegen_index(b);
        llvm::Value *r = builder->CreateBinOp(op, x, y);
        if (auto *i = llvm::dyn_cast<llvm::BinaryOperator>(r)) {
            i->setHasNoSignedWrap(true);
        }
        return r;
    };
    const bool exact = e.type() == Int(32) || e.type() == Int(64);
    if (exact) {
        if (const auto i = as_const_int(e)) {
            return int_constant(i64_t, *i);
        }
        switch (e.node_type()) {
        case IRNodeType::Add:
            return binary(e.as<Add>()->a, e.as<Add>()->b, llvm::Instruction::Add);
        case IRNodeType::Sub:
            return binary(e.as<Sub>()->a, e.as<Sub>()->b, llvm::Instruction::Sub);
        case IRNodeType::Mul:
            return binary(e.as<Mul>()->a, e.as<Mul>()->b, llvm::Instruction::Mul);
        case IRNodeType::Min:
        case IRNodeType::Max: {
            const bool is_min = e.node_type() == IRNodeType::Min;
            llvm::Value *x = codegen_index(is_min ? e.as<Min>()->a : e.as<Max>()->a);
            llvm::Value *y = codegen_index(is_min ? e.as<Min>()->b : e.as<Max>()->b);
            return builder->CreateBinaryIntrinsic(is_min ? llvm::Intrinsic::smin : llvm::Intrinsic::smax, x, y);
        }
        case IRNodeType::Select: {
            const Select *s = e.as<Select>();
            llvm::Value *c = codegen(s->condition);
            llvm::Value *x = codegen_index(s->true_value);
            llvm::Value *y = codegen_index(s->false_value);
            return builder->CreateSelect(c, x, y);
        }
        case IRNodeType::Variable:
            if (const Binding *b = lookup(e.as<Variable>()->name); b && b->wide) {
                return b->wide;
            }
            break;
        case IRNodeType::Let: {
            const Let *let = e.as<Let>();
            const Binding b = codegen_let_value(let->value, let->name);
            bind(let->name, b.value, b.wide);
            llvm::Value *r = codegen_index(let->body);
            unbind(let->name);
            return r;
        }
        case IRNodeType::Cast:
            if (const Expr &v = e.as<Cast>()->value; v.type() == Int(32) && e.type() == Int(64)) {
                return codegen_index(v);
            }
            break;
        case IRNodeType::Call:
            if (const Call *c = e.as<Call>();
                c->is_intrinsic({Call::likely, Call::likely_if_innermost, Call::promise_clamped,
                                 Call::unsafe_promise_clamped})) {
                return codegen_index(c->args[0]);
            }
            break;
        default:
            break;
        }
    }
    return builder->CreateIntCast(codegen(e), i64_t, e.type().is_int());
}

void CodeGen_LLVM::visit(const IntImm *op) {
    value = int_constant(llvm_type(op->type), op->value);
}

void CodeGen_LLVM::visit(const UIntImm *op) {
    value = int_constant(llvm_type(op->type), (int64_t)op->value);
}

void CodeGen_LLVM::visit(const FloatImm *op) {
    if (native_type(op->type) && op->type.bits() > 16) {
        value = llvm::ConstantFP::get(llvm_type(op->type), op->value);
        return;
    }
    const uint16_t bits = op->type.is_bfloat() ? bfloat16_t(op->value).to_bits() : float16_t(op->value).to_bits();
    llvm::Constant *c = int_constant(i16_t, bits);
    value = native_type(op->type) ? builder->CreateBitCast(c, llvm_type(op->type)) : c;
}

void CodeGen_LLVM::visit(const StringImm *op) {
    value = string_constant(op->value);
}

void CodeGen_LLVM::visit(const Variable *op) {
    value = symbol(op->name);
}

void CodeGen_LLVM::visit(const Let *op) {
    const Binding b = codegen_let_value(op->value, op->name);
    bind(op->name, b.value, b.wide);
    value = codegen(op->body);
    unbind(op->name);
}

// Arithmetic

template<typename Op>
bool CodeGen_LLVM::visit_small_float(const Op *op) {
    const Halide::Type t = op->a.type();
    if (native_type(t)) {
        return false;
    }
    const Halide::Type wide = Float(32, t.lanes());
    Expr e = Op::make(cast(wide, op->a), cast(wide, op->b));
    value = codegen(op->type.is_bool() ? e : cast(op->type, e));
    return true;
}

void CodeGen_LLVM::visit(const Add *op) {
    if (!visit_small_float(op)) {
        llvm::Value *a = codegen(op->a);
        llvm::Value *b = codegen(op->b);
        value = op->type.is_float() ? builder->CreateFAdd(a, b) : builder->CreateAdd(a, b);
    }
}

void CodeGen_LLVM::visit(const Sub *op) {
    if (!visit_small_float(op)) {
        llvm::Value *a = codegen(op->a);
        llvm::Value *b = codegen(op->b);
        value = op->type.is_float() ? builder->CreateFSub(a, b) : builder->CreateSub(a, b);
    }
}

void CodeGen_LLVM::visit(const Mul *op) {
    if (!visit_small_float(op)) {
        llvm::Value *a = codegen(op->a);
        llvm::Value *b = codegen(op->b);
        value = op->type.is_float() ? builder->CreateFMul(a, b) : builder->CreateMul(a, b);
    }
}

// a / c, rounded down, for c > 0: for negative a, ~a is not negative and ~(~a / c) is the floor. One unsigned division
// of a non-negative number, which LLVM turns into a multiplication if c is a constant.
llvm::Value *CodeGen_LLVM::euclidean_div(const Halide::Type &t, llvm::Value *a, const Expr &, const Expr &b) {
    const auto c = as_const_int(b);
    if (!c || *c <= 0) {
        return nullptr;
    }
    llvm::Type *type = a->getType();
    if (is_power_of_two(*c)) {
        return builder->CreateAShr(a, int_constant(type, ctz64((uint64_t)*c)));
    }
    llvm::Value *sign = builder->CreateAShr(a, int_constant(type, t.bits() - 1));
    llvm::Value *q = builder->CreateUDiv(builder->CreateXor(a, sign), int_constant(type, *c));
    return builder->CreateXor(q, sign);
}

void CodeGen_LLVM::visit(const Div *op) {
    if (visit_small_float(op)) {
        return;
    }
    if (op->type.is_float()) {
        llvm::Value *a = codegen(op->a);
        llvm::Value *b = codegen(op->b);
        value = builder->CreateFDiv(a, b);
    } else if (const auto u = as_const_uint(op->b); u && *u != 0) {
        value = builder->CreateUDiv(codegen(op->a), int_constant(llvm_type(op->type), (int64_t)*u));
    } else if (const auto c = as_const_int(op->b); c && *c > 0) {
        value = euclidean_div(op->type, codegen(op->a), op->a, op->b);
    } else {
        Operands operands(*this);
        const Expr a = operands.name(op->a), b = operands.name(op->b);
        value = codegen(lower_euclidean_div(a, b));
    }
}

void CodeGen_LLVM::visit(const Mod *op) {
    if (visit_small_float(op)) {
        return;
    }
    if (op->type.is_float()) {
        Operands operands(*this);
        const Expr a = operands.name(op->a), b = operands.name(op->b);
        value = codegen(lower_float_mod(a, b));
        return;
    }
    llvm::Type *type = llvm_type(op->type);
    const auto u = as_const_uint(op->b);
    const auto c = as_const_int(op->b);
    if ((u && is_power_of_two((int64_t)*u)) || (c && *c > 0 && is_power_of_two(*c))) {
        const int64_t d = u ? (int64_t)*u : *c;
        value = builder->CreateAnd(codegen(op->a), int_constant(type, d - 1));
    } else if (u && *u != 0) {
        value = builder->CreateURem(codegen(op->a), int_constant(type, (int64_t)*u));
    } else if (c && *c > 0) {
        llvm::Value *a = codegen(op->a);
        llvm::Value *q = euclidean_div(op->type, a, op->a, op->b);
        value = builder->CreateSub(a, builder->CreateMul(q, int_constant(type, *c)));
    } else {
        Operands operands(*this);
        const Expr a = operands.name(op->a), b = operands.name(op->b);
        value = codegen(lower_euclidean_mod(a, b));
    }
}

// Floats: a < b ? a : b, which is what strict code asks for and what x86 does in one instruction.
llvm::Value *CodeGen_LLVM::min_or_max(const Halide::Type &t, llvm::Value *a, llvm::Value *b, bool is_min) {
    if (t.is_float()) {
        return builder->CreateSelect(is_min ? builder->CreateFCmpOLT(a, b) : builder->CreateFCmpOGT(a, b), a, b);
    }
    if (t.is_handle()) {
        return builder->CreateSelect(is_min ? builder->CreateICmpULT(a, b) : builder->CreateICmpUGT(a, b), a, b);
    }
    const llvm::Intrinsic::ID id = t.is_int() ? (is_min ? llvm::Intrinsic::smin : llvm::Intrinsic::smax) :
                                                (is_min ? llvm::Intrinsic::umin : llvm::Intrinsic::umax);
    return builder->CreateBinaryIntrinsic(id, a, b);
}

void CodeGen_LLVM::visit(const Min *op) {
    if (!visit_small_float(op)) {
        llvm::Value *a = codegen(op->a);
        llvm::Value *b = codegen(op->b);
        value = min_or_max(op->type, a, b, true);
    }
}

void CodeGen_LLVM::visit(const Max *op) {
    if (!visit_small_float(op)) {
        llvm::Value *a = codegen(op->a);
        llvm::Value *b = codegen(op->b);
        value = min_or_max(op->type, a, b, false);
    }
}

llvm::CmpInst::Predicate CodeGen_LLVM::comparison(const Halide::Type &t, IRNodeType n) const {
    using P = llvm::CmpInst;
    const bool f = t.is_float(), s = t.is_int();
    switch (n) {
    case IRNodeType::EQ:
        return f ? P::FCMP_OEQ : P::ICMP_EQ;
    case IRNodeType::NE:
        return f ? P::FCMP_UNE : P::ICMP_NE;
    case IRNodeType::LT:
        return f ? P::FCMP_OLT : s ? P::ICMP_SLT : P::ICMP_ULT;
    case IRNodeType::LE:
        return f ? P::FCMP_OLE : s ? P::ICMP_SLE : P::ICMP_ULE;
    case IRNodeType::GT:
        return f ? P::FCMP_OGT : s ? P::ICMP_SGT : P::ICMP_UGT;
    case IRNodeType::GE:
        return f ? P::FCMP_OGE : s ? P::ICMP_SGE : P::ICMP_UGE;
    default:
        internal_error << "No comparison";
        return P::ICMP_EQ;
    }
}

template<typename Op>
void CodeGen_LLVM::visit_comparison(const Op *op) {
    if (!visit_small_float(op)) {
        llvm::Value *a = codegen(op->a);
        llvm::Value *b = codegen(op->b);
        value = builder->CreateCmp(comparison(op->a.type(), Op::_node_type), a, b);
    }
}

void CodeGen_LLVM::visit(const EQ *op) {
    visit_comparison(op);
}
void CodeGen_LLVM::visit(const NE *op) {
    visit_comparison(op);
}
void CodeGen_LLVM::visit(const LT *op) {
    visit_comparison(op);
}
void CodeGen_LLVM::visit(const LE *op) {
    visit_comparison(op);
}
void CodeGen_LLVM::visit(const GT *op) {
    visit_comparison(op);
}
void CodeGen_LLVM::visit(const GE *op) {
    visit_comparison(op);
}

void CodeGen_LLVM::visit(const And *op) {
    llvm::Value *a = codegen(op->a);
    llvm::Value *b = codegen(op->b);
    value = builder->CreateAnd(a, b);
}

void CodeGen_LLVM::visit(const Or *op) {
    llvm::Value *a = codegen(op->a);
    llvm::Value *b = codegen(op->b);
    value = builder->CreateOr(a, b);
}

void CodeGen_LLVM::visit(const Not *op) {
    value = builder->CreateNot(codegen(op->a));
}

void CodeGen_LLVM::visit(const Select *op) {
    llvm::Value *c = codegen(op->condition);
    llvm::Value *a = codegen(op->true_value);
    llvm::Value *b = codegen(op->false_value);
    value = builder->CreateSelect(c, a, b);
}

// Conversions

void CodeGen_LLVM::visit(const Cast *op) {
    value = convert(codegen(op->value), op->value.type(), op->type);
}

void CodeGen_LLVM::visit(const Reinterpret *op) {
    llvm::Value *v = codegen(op->value);
    llvm::Type *to = llvm_type(op->type);
    const bool from_pointer = v->getType()->isPtrOrPtrVectorTy();
    const bool to_pointer = to->isPtrOrPtrVectorTy();
    if (from_pointer && to_pointer) {
        value = v;
        return;
    }
    if (from_pointer) {
        v = builder->CreatePtrToInt(v, vector_type(i64_t, op->value.type().lanes()));
    }
    if (to_pointer) {
        v = builder->CreateBitCast(v, vector_type(i64_t, op->type.lanes()));
        value = builder->CreateIntToPtr(v, to);
        return;
    }
    value = builder->CreateBitCast(v, to);
}

// f64 to f32 such that rounding again to fewer bits gives what rounding once would have given: toward zero, and the
// last bit set if anything was lost.
llvm::Value *CodeGen_LLVM::round_to_odd_f32(llvm::Value *x, int lanes) {
    llvm::Type *f32v = vector_type(f32_t, lanes);
    llvm::Type *i32v = vector_type(i32_t, lanes);
    llvm::Value *t = builder->CreateFPTrunc(x, f32v);
    llvm::Value *back = builder->CreateFPExt(t, x->getType());
    llvm::Value *inexact = builder->CreateFCmpONE(back, x);
    llvm::Value *away = builder->CreateFCmpOGT(builder->CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back),
                                               builder->CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x));
    llvm::Value *bits = builder->CreateBitCast(t, i32v);
    bits = builder->CreateSub(bits, builder->CreateZExt(away, i32v));
    bits = builder->CreateOr(bits, builder->CreateZExt(inexact, i32v));
    return builder->CreateBitCast(bits, f32v);
}

llvm::Value *CodeGen_LLVM::small_float_to_f32(llvm::Value *v, const Halide::Type &from) {
    const int lanes = from.lanes();
    llvm::Type *i32v = vector_type(i32_t, lanes);
    llvm::Type *f32v = vector_type(f32_t, lanes);
    if (has_native_conversion(from) && !from.is_bfloat()) {
        return builder->CreateFPExt(builder->CreateBitCast(v, vector_type(f16_t, lanes)), f32v);
    }
    llvm::Value *bits = builder->CreateZExt(v, i32v);
    if (from.is_bfloat()) {
        return builder->CreateBitCast(builder->CreateShl(bits, int_constant(i32v, 16)), f32v);
    }
    // Exponent and mantissa in place, read as a float 2^112 times too small; the multiplication normalizes subnormals.
    llvm::Value *magnitude = builder->CreateShl(builder->CreateAnd(bits, int_constant(i32v, 0x7fff)),
                                                int_constant(i32v, 13));
    llvm::Value *scaled = builder->CreateFMul(builder->CreateBitCast(magnitude, f32v),
                                              llvm::ConstantFP::get(f32v, 0x1p112));
    llvm::Value *is_special = builder->CreateICmpUGE(magnitude, int_constant(i32v, 0x7c00 << 13));
    llvm::Value *result = builder->CreateBitCast(scaled, i32v);
    result = builder->CreateSelect(is_special, builder->CreateOr(magnitude, int_constant(i32v, 0x7f800000)), result);
    llvm::Value *sign = builder->CreateShl(builder->CreateAnd(bits, int_constant(i32v, 0x8000)),
                                           int_constant(i32v, 16));
    return builder->CreateBitCast(builder->CreateOr(result, sign), f32v);
}

llvm::Value *CodeGen_LLVM::f32_to_small_float(llvm::Value *v, const Halide::Type &to) {
    const int lanes = to.lanes();
    llvm::Type *i32v = vector_type(i32_t, lanes);
    llvm::Type *f32v = vector_type(f32_t, lanes);
    llvm::Type *i16v = vector_type(i16_t, lanes);
    const auto c = [&](int64_t x) { return int_constant(i32v, x); };
    if (has_native_conversion(to)) {
        llvm::Type *small = to.is_bfloat() ? llvm::Type::getBFloatTy(context) : f16_t;
        return builder->CreateBitCast(builder->CreateFPTrunc(v, vector_type(small, lanes)), i16v);
    }
    llvm::Value *bits = builder->CreateBitCast(v, i32v);
    llvm::Value *magnitude = builder->CreateAnd(bits, c(0x7fffffff));
    llvm::Value *is_nan = builder->CreateICmpUGT(magnitude, c(0x7f800000));
    // Adding just less than half of the last place, plus the bit above, rounds to nearest even.
    const auto round = [&](llvm::Value *x, int drop) {
        llvm::Value *odd = builder->CreateAnd(builder->CreateLShr(x, c(drop)), c(1));
        x = builder->CreateAdd(x, builder->CreateAdd(odd, c((1 << (drop - 1)) - 1)));
        return builder->CreateLShr(x, c(drop));
    };
    llvm::Value *result = nullptr;
    if (to.is_bfloat()) {
        llvm::Value *nan = builder->CreateOr(builder->CreateLShr(bits, c(16)), c(0x40));
        result = builder->CreateSelect(is_nan, nan, round(bits, 16));
    } else {
        llvm::Value *normal = round(builder->CreateSub(magnitude, c(112 << 23)), 13);
        // Below 2^-14: adding 0.5 leaves the subnormal's bits, rounded, at the end of the mantissa.
        llvm::Value *shifted = builder->CreateFAdd(builder->CreateBitCast(magnitude, f32v),
                                                   llvm::ConstantFP::get(f32v, 0.5));
        llvm::Value *subnormal = builder->CreateSub(builder->CreateBitCast(shifted, i32v), c(126 << 23));
        llvm::Value *nan = builder->CreateOr(
            c(0x7e00), builder->CreateAnd(builder->CreateLShr(magnitude, c(13)), c(0x3ff)));
        result = builder->CreateSelect(builder->CreateICmpULT(magnitude, c(113 << 23)), subnormal, normal);
        result = builder->CreateSelect(builder->CreateICmpUGE(magnitude, c(143 << 23)), c(0x7c00), result);
        result = builder->CreateSelect(is_nan, nan, result);
        result = builder->CreateOr(result, builder->CreateAnd(builder->CreateLShr(bits, c(16)), c(0x8000)));
    }
    return builder->CreateTrunc(result, i16v);
}

llvm::Value *CodeGen_LLVM::convert(llvm::Value *v, const Halide::Type &from, const Halide::Type &to) {
    const int lanes = to.lanes();
    llvm::Type *type = llvm_type(to);
    if (from == to || (from.is_handle() && to.is_handle())) {
        return v;
    }
    if (from.is_handle()) {
        v = builder->CreatePtrToInt(v, vector_type(i64_t, lanes));
        return builder->CreateIntCast(v, type, false);
    }
    if (to.is_handle()) {
        return builder->CreateIntToPtr(builder->CreateIntCast(v, vector_type(i64_t, lanes), from.is_int()), type);
    }
    if (!native_type(from)) {
        const Halide::Type f32 = Float(32, lanes);
        return convert(small_float_to_f32(v, from), f32, to);
    }
    if (!native_type(to)) {
        // To a float32 that rounds to the right result.
        llvm::Value *f = nullptr;
        llvm::Type *f64v = vector_type(f64_t, lanes);
        if (from.is_float()) {
            f = from.bits() == 64 ? round_to_odd_f32(v, lanes) : convert(v, from, Float(32, lanes));
        } else if (from.bits() <= 16) {
            f = convert(v, from, Float(32, lanes));
        } else if (from.bits() == 32) {
            f = round_to_odd_f32(convert(v, from, Float(64, lanes)), lanes);
        } else {
            // 64 bits do not fit in a double: keep the upper 53 and whether there was more.
            llvm::Type *i64v = v->getType();
            llvm::Value *low = builder->CreateAnd(v, int_constant(i64v, 0x7ff));
            llvm::Value *sticky = builder->CreateZExt(builder->CreateICmpNE(low, int_constant(i64v, 0)), i64v);
            sticky = builder->CreateShl(sticky, int_constant(i64v, 11));
            llvm::Value *cut = builder->CreateOr(builder->CreateAnd(v, int_constant(i64v, ~0x7ffll)), sticky);
            llvm::Value *small = from.is_int() ?
                                     builder->CreateICmpULT(builder->CreateAdd(v, int_constant(i64v, 1ll << 52)),
                                                            int_constant(i64v, 1ll << 53)) :
                                     builder->CreateICmpULT(v, int_constant(i64v, 1ll << 53));
            llvm::Value *exact = builder->CreateSelect(small, v, cut);
            f = from.is_int() ? builder->CreateSIToFP(exact, f64v) : builder->CreateUIToFP(exact, f64v);
            f = round_to_odd_f32(f, lanes);
        }
        return f32_to_small_float(f, to);
    }
    if (from.is_float() && to.is_float()) {
        return builder->CreateFPCast(v, type);
    }
    if (from.is_float()) {
        // A value out of range gives some value of the type. Narrow results are cut from signed 32-bit ones, which
        // machines convert to directly.
        if (to.bits() < 32) {
            llvm::Value *i = builder->CreateFreeze(builder->CreateFPToSI(v, vector_type(i32_t, lanes)));
            return builder->CreateTrunc(i, type);
        }
        return builder->CreateFreeze(to.is_int() ? builder->CreateFPToSI(v, type) : builder->CreateFPToUI(v, type));
    }
    if (to.is_float()) {
        return from.is_int() ? builder->CreateSIToFP(v, type) : builder->CreateUIToFP(v, type);
    }
    return builder->CreateIntCast(v, type, from.is_int());
}

}  // namespace Halide::Internal
