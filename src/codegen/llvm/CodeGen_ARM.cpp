/// ARM: NEON of AArch64 with dot products and half precision. 32-bit ARM and SVE use LLVM's generic patterns.

#include "codegen/llvm/CodeGen_LLVM.h"

#include <optional>

#include "ir/IROperator.h"
#include "support/Error.h"
#include "support/Util.h"

namespace Halide::Internal {

namespace {

constexpr auto I = Halide::Type::Int;
constexpr auto U = Halide::Type::UInt;
constexpr auto any = Target::FeatureEnd;

#define BROMIDE_NEON_ROWS(op, result, arg, name)                                   \
    {Call::op, result, 8, {{arg, 8}, {arg, 8}, {arg, 0}}, 16, any, name, {}},      \
        {Call::op, result, 16, {{arg, 16}, {arg, 16}, {arg, 0}}, 8, any, name, {}}, \
        {Call::op, result, 32, {{arg, 32}, {arg, 32}, {arg, 0}}, 4, any, name, {}}

// What one NEON instruction does and LLVM's patterns may miss.
const std::vector<NativeIntrinsic> &neon_table() {
    static const std::vector<NativeIntrinsic> table = {
        BROMIDE_NEON_ROWS(halving_add, I, I, "llvm.aarch64.neon.shadd"),
        BROMIDE_NEON_ROWS(halving_add, U, U, "llvm.aarch64.neon.uhadd"),
        BROMIDE_NEON_ROWS(rounding_halving_add, I, I, "llvm.aarch64.neon.srhadd"),
        BROMIDE_NEON_ROWS(rounding_halving_add, U, U, "llvm.aarch64.neon.urhadd"),
        BROMIDE_NEON_ROWS(halving_sub, I, I, "llvm.aarch64.neon.shsub"),
        BROMIDE_NEON_ROWS(halving_sub, U, U, "llvm.aarch64.neon.uhsub"),
        BROMIDE_NEON_ROWS(absd, U, I, "llvm.aarch64.neon.sabd"),
        BROMIDE_NEON_ROWS(absd, U, U, "llvm.aarch64.neon.uabd"),
    };
    return table;
}
#undef BROMIDE_NEON_ROWS

class CodeGen_ARM : public CodeGen_LLVM {
public:
    CodeGen_ARM(const Target &t, llvm::LLVMContext &context)
        : CodeGen_LLVM(t, context) {
        target.set_implied_features();
    }

protected:
    bool neon64() const {
        return target.bits == 64 && !target.has_feature(Target::NoNEON);
    }

    int native_vector_bits() const override {
        const bool scalable = target.has_feature(Target::SVE2) && target.vector_bits;
        return scalable ? target.vector_bits : 128;
    }

    bool has_native_arithmetic(const Halide::Type &t) const override {
        return !t.is_bfloat() && target.bits == 64 && target.has_feature(Target::ARMFp16);
    }

    bool has_native_conversion(const Halide::Type &t) const override {
        return target.bits == 64 && (!t.is_bfloat() || target.has_feature(Target::ARMv86a));
    }

    bool has_gather(const Halide::Type &t) const override {
        return target.has_feature(Target::SVE2) && target.vector_bits && t.bits() >= 32;
    }

    bool has_scatter(const Halide::Type &t) const override {
        return has_gather(t);
    }

    // fminnm and fmaxnm; comparisons and selects would take two instructions.
    llvm::Value *min_or_max(const Halide::Type &t, llvm::Value *a, llvm::Value *b, bool is_min) override {
        if (t.is_float() && neon64() && !target.has_feature(Target::StrictFloat)) {
            return builder->CreateBinaryIntrinsic(is_min ? llvm::Intrinsic::minnum : llvm::Intrinsic::maxnum, a, b);
        }
        return CodeGen_LLVM::min_or_max(t, a, b, is_min);
    }

    llvm::Value *target_call(const Call *op) override {
        if (!neon64()) {
            return nullptr;
        }
        if (op->name == "fast_inverse_f32") {
            return refined_estimate(op, "llvm.aarch64.neon.frecpe", "llvm.aarch64.neon.frecps", false);
        }
        if (op->name == "fast_inverse_sqrt_f32") {
            return refined_estimate(op, "llvm.aarch64.neon.frsqrte", "llvm.aarch64.neon.frsqrts", true);
        }
        if (!op->is_intrinsic() || op->type.is_scalar()) {
            return nullptr;
        }
        if (op->is_intrinsic({Call::mul_shift_right, Call::rounding_mul_shift_right})) {
            return multiply_high(op);
        }
        if (op->is_intrinsic({Call::rounding_shift_right, Call::rounding_shift_left})) {
            return rounding_shift(op);
        }
        return native_intrinsic(op, neon_table());
    }

    llvm::Value *call_named(const char *name, llvm::Type *result, const std::vector<llvm::Value *> &args) {
        const llvm::Intrinsic::ID id = llvm::Intrinsic::lookupIntrinsicID(name);
        internal_assert(id != llvm::Intrinsic::not_intrinsic) << "LLVM has no intrinsic " << name;
        std::vector<llvm::Type *> types;
        for (llvm::Value *a : args) {
            types.push_back(a->getType());
        }
        return builder->CreateCall(llvm::Intrinsic::getOrInsertDeclaration(module.get(), id, result, types), args);
    }

    // One step of Newton's method after the 8-bit estimate.
    llvm::Value *refined_estimate(const Call *op, const char *estimate, const char *step, bool root) {
        llvm::Value *x = codegen(op->args[0]);
        llvm::Value *e = call_named(estimate, x->getType(), {x});
        llvm::Value *y = root ? builder->CreateFMul(e, e) : e;
        return builder->CreateFMul(e, call_named(step, x->getType(), {x, y}));
    }

    // sqdmulh: sat((2·a·b) >> bits).
    llvm::Value *multiply_high(const Call *op) {
        const Halide::Type t = op->type;
        const auto q = as_const_uint(op->args[2]);
        const bool fits = t.is_int() && (t.bits() == 16 || t.bits() == 32) && q && (int)*q == t.bits() - 1 &&
                          op->args[0].type() == t && op->args[1].type() == t;
        if (!fits) {
            return nullptr;
        }
        const bool rounding = op->is_intrinsic(Call::rounding_mul_shift_right);
        const NativeIntrinsic row{op->intrinsic_op, I, t.bits(), {{I, t.bits()}, {I, t.bits()}, {I, 0}}, 128 / t.bits(),
                                  any,
                                  rounding ? "llvm.aarch64.neon.sqrdmulh" : "llvm.aarch64.neon.sqdmulh", {}};
        llvm::Value *a = codegen(op->args[0]);
        llvm::Value *b = codegen(op->args[1]);
        return call_in_pieces(row, t, {a, b});
    }

    // srshl, urshl: negative amounts shift right and round.
    llvm::Value *rounding_shift(const Call *op) {
        const Halide::Type t = op->type, amount_type = op->args[1].type();
        if (!t.is_int_or_uint() || t.bits() > 64 || amount_type.bits() != t.bits()) {
            return nullptr;
        }
        llvm::Value *a = codegen(op->args[0]);
        llvm::Value *b = codegen(op->args[1]);
        if (op->is_intrinsic(Call::rounding_shift_right)) {
            b = builder->CreateNeg(b);
        }
        const NativeIntrinsic row{op->intrinsic_op, t.code(), t.bits(), {{I, 0}, {I, 0}, {I, 0}}, 128 / t.bits(), any,
                                  t.is_int() ? "llvm.aarch64.neon.srshl" : "llvm.aarch64.neon.urshl", {}};
        return call_in_pieces(row, t, {a, b});
    }

    struct Product {
        Expr a, b;
        const char *instruction;
    };

    // A sum of exact products of bytes: what sdot, udot and usdot do.
    std::optional<Product> product_of_bytes(Expr e) const {
        const int lanes = e.type().lanes();
        while (const Cast *c = e.as<Cast>()) {
            if (!c->value.type().is_int_or_uint() || !c->type.can_represent(c->value.type())) {
                return std::nullopt;
            }
            e = c->value;
        }
        Expr a = e, b = make_one(e.type());
        if (const Call *c = Call::as_intrinsic(e, {Call::widening_mul})) {
            a = c->args[0];
            b = c->args[1];
        } else if (const Mul *m = e.as<Mul>()) {
            if (e.type().bits() != 32) {
                return std::nullopt;
            }
            a = m->a;
            b = m->b;
        }
        struct Row {
            Halide::Type a, b;
            const char *name;
            Target::Feature feature;
        };
        const Row rows[] = {{Int(8), Int(8), "llvm.aarch64.neon.sdot", Target::ARMDotProd},
                            {UInt(8), UInt(8), "llvm.aarch64.neon.udot", Target::ARMDotProd},
                            {UInt(8), Int(8), "llvm.aarch64.neon.usdot", Target::ARMv86a}};
        for (const Row &row : rows) {
            for (const bool swapped : {false, true}) {
                if (!target.has_feature(row.feature)) {
                    continue;
                }
                Expr x = lossless_cast(row.a.with_lanes(lanes), swapped ? b : a);
                Expr y = lossless_cast(row.b.with_lanes(lanes), swapped ? a : b);
                if (x.defined() && y.defined()) {
                    return Product{x, y, row.name};
                }
            }
        }
        return std::nullopt;
    }

    llvm::Value *reduce_rest(const VectorReduce *op, llvm::Value *sums, int done) {
        const int lanes = op->value.type().lanes() / done;
        if (lanes == op->type.lanes()) {
            return sums;
        }
        const std::string name = "reduced." + std::to_string(temporaries++);
        symbols[name].push_back({sums, nullptr});
        Expr v = Variable::make(op->type.with_lanes(lanes), name);
        llvm::Value *r = codegen(VectorReduce::make(op->op, v, op->type.lanes()));
        unbind(name);
        return r;
    }

    llvm::Value *target_reduce(const VectorReduce *op) override {
        const int lanes = op->value.type().lanes();
        const int factor = lanes / op->type.lanes();
        const Halide::Type t = op->type;
        if (!neon64() || op->op != VectorReduce::Add || !t.is_int_or_uint()) {
            return nullptr;
        }
        if (t.bits() == 32 && factor % 4 == 0) {
            if (const auto p = product_of_bytes(op->value)) {
                llvm::Value *a = codegen(p->a);
                llvm::Value *b = codegen(p->b);
                llvm::Type *sums = vector_type(i32_t, 4);
                std::vector<llvm::Value *> parts;
                for (int i = 0; i < lanes; i += 16) {
                    parts.push_back(call_named(p->instruction, sums,
                                               {llvm::Constant::getNullValue(sums), slice(a, i, 16), slice(b, i, 16)}));
                }
                return reduce_rest(op, slice(concat(parts), 0, lanes / 4), 4);
            }
        }
        // saddlp, uaddlp: sums of pairs in twice the bits.
        if (factor % 2 == 0 && t.bits() >= 16 && t.bits() <= 64) {
            const Halide::Type half = t.with_bits(t.bits() / 2).with_lanes(lanes);
            for (const Halide::Type &narrow : {half.with_code(I), half.with_code(U)}) {
                if (!op->value.as<Cast>()) {
                    break;
                }
                const Expr n = lossless_cast(narrow, op->value);
                if (!n.defined()) {
                    continue;
                }
                llvm::Value *v = codegen(n);
                const int step = 128 / narrow.bits();
                llvm::Type *sums = vector_type(llvm_type(t.element_of()), step / 2);
                std::vector<llvm::Value *> parts;
                for (int i = 0; i < lanes; i += step) {
                    parts.push_back(call_named(narrow.is_int() ? "llvm.aarch64.neon.saddlp" : "llvm.aarch64.neon.uaddlp",
                                               sums, {slice(v, i, step)}));
                }
                return reduce_rest(op, slice(concat(parts), 0, lanes / 2), 2);
            }
        }
        return nullptr;
    }
};

}  // namespace

std::unique_ptr<CodeGen_LLVM> new_CodeGen_ARM(const Target &t, llvm::LLVMContext &context) {
    return std::make_unique<CodeGen_ARM>(t, context);
}

}  // namespace Halide::Internal
