/// Math functions, divisions, shifts, strict operations.

#include "codegen/llvm/CodeGen_LLVM.h"
#include "codegen/llvm/Operands.h"

#include <limits>
#include <map>

#include "ir/IROperator.h"
#include "ir/LowerIntrinsics.h"
#include "support/Error.h"

namespace Halide::Internal {

namespace {

/// libm's functions by our name without the suffix.
const std::map<std::string, std::string> libm_names = {
    {"sin", "sin"},     {"cos", "cos"},     {"tan", "tan"},     {"asin", "asin"},   {"acos", "acos"},
    {"atan", "atan"},   {"sinh", "sinh"},   {"cosh", "cosh"},   {"tanh", "tanh"},   {"asinh", "asinh"},
    {"acosh", "acosh"}, {"atanh", "atanh"}, {"exp", "exp"},     {"log", "log"},     {"pow", "pow"},
    {"atan2", "atan2"}, {"erf", "erf"},     {"hypot", "hypot"}, {"fmod", "fmod"},
};

const std::map<std::string, llvm::Intrinsic::ID> unary_intrinsics = {
    {"sqrt", llvm::Intrinsic::sqrt},   {"floor", llvm::Intrinsic::floor},     {"ceil", llvm::Intrinsic::ceil},
    {"trunc", llvm::Intrinsic::trunc}, {"round", llvm::Intrinsic::nearbyint}, {"abs", llvm::Intrinsic::fabs},
};

}  // namespace

llvm::Value *CodeGen_LLVM::codegen_math(const Call *op) {
    // <function>_f16, _f32, _f64
    const size_t n = op->name.size();
    if (n < 5 || op->name.compare(n - 4, 2, "_f") != 0) {
        return nullptr;
    }
    const std::string suffix = op->name.substr(n - 2);
    if (suffix != "16" && suffix != "32" && suffix != "64") {
        return nullptr;
    }
    const int bits = std::stoi(suffix);
    const std::string f = op->name.substr(0, n - 4);
    const int lanes = op->type.lanes();
    const Halide::Type t = Float(bits, lanes);

    static const std::map<std::string, double> constants = {
        {"nan", std::numeric_limits<double>::quiet_NaN()},
        {"inf", std::numeric_limits<double>::infinity()},
        {"neg_inf", -std::numeric_limits<double>::infinity()},
    };
    if (const auto it = constants.find(f); it != constants.end() && op->args.empty()) {
        return codegen(make_const(op->type, it->second));
    }
    const bool classifies = f == "is_nan" || f == "is_inf" || f == "is_finite";
    const bool known = classifies || libm_names.count(f) || unary_intrinsics.count(f) || f == "fast_inverse" ||
                       f == "fast_inverse_sqrt";
    if (!known || op->args.empty()) {
        return nullptr;
    }
    // Half precision in single precision, unless the machine has it: one rounding more than needed is harmless.
    const bool one_instruction = unary_intrinsics.count(f) || classifies;
    if (bits == 16 && (!native_type(t) || !one_instruction)) {
        std::vector<Expr> wide;
        for (const Expr &e : op->args) {
            wide.push_back(cast(Float(32, e.type().lanes()), e));
        }
        const Halide::Type type = classifies ? op->type : Float(32, lanes);
        Expr e = Call::make(type, f + "_f32", wide, op->call_type);
        return codegen(classifies ? e : cast(op->type, e));
    }
    if (classifies) {
        llvm::Value *x = codegen(op->args[0]);
        if (f == "is_nan") {
            return builder->CreateFCmpUNO(x, x);
        }
        llvm::Value *magnitude = builder->CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
        llvm::Value *inf = llvm::ConstantFP::getInfinity(x->getType());
        return f == "is_inf" ? builder->CreateFCmpOEQ(magnitude, inf) : builder->CreateFCmpOLT(magnitude, inf);
    }
    if (const auto it = unary_intrinsics.find(f); it != unary_intrinsics.end()) {
        return builder->CreateUnaryIntrinsic(it->second, codegen(op->args[0]));
    }
    if (f == "fast_inverse" || f == "fast_inverse_sqrt") {
        llvm::Value *x = codegen(op->args[0]);
        if (f == "fast_inverse_sqrt") {
            x = builder->CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x);
        }
        return builder->CreateFDiv(llvm::ConstantFP::get(x->getType(), 1.0), x);
    }
    if (bits == 32 && (f == "exp" || f == "log")) {
        // The same arithmetic for scalars, vectors and the interpreter.
        Operands operands(*this);
        const Expr x = operands.name(op->args[0]);
        return codegen(f == "exp" ? halide_exp(x) : halide_log(x));
    }
    return extern_call(libm_names.at(f) + (bits == 32 ? "f" : ""), op->type, op->args, true);
}

llvm::Value *CodeGen_LLVM::codegen_shift(const Call *op, bool left) {
    const Halide::Type amount_type = op->args[1].type();
    const auto constant = as_const_int(op->args[1]);
    const bool negative_possible = amount_type.is_int() && !(constant && *constant >= 0);
    if (negative_possible) {
        Operands operands(*this);
        const Expr a = operands.name(op->args[0]), b = operands.name(op->args[1]);
        return codegen(left ? lower_signed_shift_left(a, b) : lower_signed_shift_right(a, b));
    }
    llvm::Value *a = codegen(op->args[0]);
    llvm::Value *b = codegen(op->args[1]);
    b = builder->CreateIntCast(b, a->getType(), false);
    llvm::Value *r = left                  ? builder->CreateShl(a, b) :
                     op->type.is_int() ? builder->CreateAShr(a, b) :
                                             builder->CreateLShr(a, b);
    // Too large an amount gives an unspecified value, which must not be poison.
    return llvm::isa<llvm::Constant>(b) ? r : builder->CreateFreeze(r);
}

// Vectors of integers by way of floats with more bits: exact, because a quotient of n-bit integers is either an integer
// or further from one than the rounding error of 2n bits.
llvm::Value *CodeGen_LLVM::vector_division(const Halide::Type &t, llvm::Value *a, llvm::Value *b) {
    const Halide::Type f = Float(t.bits() <= 8 ? 32 : t.bits() <= 16 ? 32 : 64, t.lanes());
    llvm::Value *q = builder->CreateFDiv(convert(a, t, f), convert(b, t, f));
    return convert(q, f, t);
}

llvm::Value *CodeGen_LLVM::divide_toward_zero(const Call *op, bool remainder) {
    const Halide::Type t = op->type;
    llvm::Value *a = codegen(op->args[0]);
    llvm::Value *b = codegen(op->args[1]);
    if (t.is_vector() && t.bits() > 1 && t.bits() <= 32 && !is_const(op->args[1])) {
        llvm::Value *q = vector_division(t, a, b);
        return remainder ? builder->CreateSub(a, builder->CreateMul(q, b)) : q;
    }
    if (remainder) {
        return t.is_int() ? builder->CreateSRem(a, b) : builder->CreateURem(a, b);
    }
    return t.is_int() ? builder->CreateSDiv(a, b) : builder->CreateUDiv(a, b);
}

llvm::Value *CodeGen_LLVM::codegen_fma(const Call *op) {
    const Halide::Type t = op->type;
    if (!native_type(t)) {
        // The product of halves is exact in double precision.
        const Halide::Type wide = Float(64, t.lanes());
        Expr e = Call::make(wide, Call::strict_fma,
                            {cast(wide, op->args[0]), cast(wide, op->args[1]), cast(wide, op->args[2])},
                            Call::PureIntrinsic);
        return codegen(cast(t, e));
    }
    llvm::Value *a = codegen(op->args[0]);
    llvm::Value *b = codegen(op->args[1]);
    llvm::Value *c = codegen(op->args[2]);
    return call_llvm(llvm::Intrinsic::fma, a->getType(), {a, b, c});
}

llvm::Value *CodeGen_LLVM::strict_operation(const Call *op) {
    const auto binary = [&](IRNodeType n) { return codegen(make_binary_op(n, op->args[0], op->args[1])); };
    if (op->is_intrinsic(Call::strict_add)) {
        return binary(IRNodeType::Add);
    } else if (op->is_intrinsic(Call::strict_sub)) {
        return binary(IRNodeType::Sub);
    } else if (op->is_intrinsic(Call::strict_mul)) {
        return binary(IRNodeType::Mul);
    } else if (op->is_intrinsic(Call::strict_div)) {
        return binary(IRNodeType::Div);
    } else if (op->is_intrinsic(Call::strict_lt)) {
        return binary(IRNodeType::LT);
    } else if (op->is_intrinsic(Call::strict_le)) {
        return binary(IRNodeType::LE);
    } else if (op->is_intrinsic(Call::strict_eq)) {
        return binary(IRNodeType::EQ);
    } else if (op->is_intrinsic(Call::strict_fma)) {
        return codegen_fma(op);
    } else if (op->is_intrinsic(Call::strict_cast)) {
        return codegen(Cast::make(op->type, op->args[0]));
    }
    // min, max: the second operand wherever the comparison is false.
    Operands operands(*this);
    const Expr a = operands.name(op->args[0]), b = operands.name(op->args[1]);
    return codegen(op->is_intrinsic(Call::strict_min) ? Select::make(LT::make(a, b), a, b) :
                                                        Select::make(GT::make(a, b), a, b));
}

}  // namespace Halide::Internal
