/// x86: SSE4.1 to AVX-512. What LLVM finds by itself (pavgb, packs, pmulhw …) needs no entry here.

#include "codegen/llvm/CodeGen_LLVM.h"

#include <optional>

#include "analysis/ConstantBounds.h"
#include "ir/BitMoves.h"
#include "ir/IROperator.h"
#include "support/Error.h"
#include "support/Util.h"

namespace Halide::Internal {

namespace {

class CodeGen_X86 : public CodeGen_LLVM {
    using CodeGen_LLVM::visit;

public:
    CodeGen_X86(const Target &t, llvm::LLVMContext &context)
        : CodeGen_LLVM(t, context) {
        target.set_implied_features();
    }

protected:
    bool has_avx512_bytes() const {
        return target.has_feature(Target::AVX512_Skylake);
    }

    int native_vector_bits() const override {
        if (has_avx512_bytes()) {
            return 512;
        }
        return target.has_feature(Target::AVX) || target.has_feature(Target::AVX2) ? 256 : 128;
    }

    bool has_native_arithmetic(const Halide::Type &t) const override {
        return !t.is_bfloat() && target.has_feature(Target::AVX512_SapphireRapids);
    }

    bool has_native_conversion(const Halide::Type &t) const override {
        return target.has_feature(t.is_bfloat() ? Target::AVX512_Zen4 : Target::F16C);
    }

    bool has_gather(const Halide::Type &t) const override {
        return target.has_feature(Target::AVX512) && t.bits() >= 32;
    }

    bool has_scatter(const Halide::Type &t) const override {
        return target.has_feature(Target::AVX512_Skylake) && t.bits() >= 32;
    }

    // Intrinsics come in widths of 128, 256 (with AVX2) and 512 bits (with AVX-512 for bytes and words): the narrowest
    // that holds `bits`, or the widest.
    const char *by_width(int bits, const char *w128, const char *w256, const char *w512, int *width) const {
        if (bits > 256 && w512 && has_avx512_bytes()) {
            *width = 512;
            return w512;
        }
        if (bits > 128 && target.has_feature(Target::AVX2)) {
            *width = 256;
            return w256;
        }
        *width = 128;
        return w128;
    }

    llvm::Value *target_call(const Call *op) override {
        if (op->is_intrinsic(Call::rounding_mul_shift_right)) {
            return multiply_high_rounding(op);
        }
        if (op->is_intrinsic(Call::rounding_halving_add) && op->type.is_uint() && op->type.bits() <= 16 &&
            op->type.is_vector()) {
            return average(op);
        }
        if (op->name == "fast_inverse_f32") {
            return estimate(op, llvm::Intrinsic::not_intrinsic, "llvm.x86.sse.rcp.ss", "llvm.x86.sse.rcp.ps",
                            "llvm.x86.avx.rcp.ps.256");
        }
        if (op->name == "fast_inverse_sqrt_f32") {
            return estimate(op, llvm::Intrinsic::not_intrinsic, "llvm.x86.sse.rsqrt.ss", "llvm.x86.sse.rsqrt.ps",
                            "llvm.x86.avx.rsqrt.ps.256");
        }
        if ((is_gather_bits(op) || is_scatter_bits(op)) && op->type.is_scalar() && moves_bits_fast(target)) {
            const bool gather = is_gather_bits(op);
            const char *name = op->type.bits() == 64 ? (gather ? "llvm.x86.bmi.pext.64" : "llvm.x86.bmi.pdep.64") :
                                                       (gather ? "llvm.x86.bmi.pext.32" : "llvm.x86.bmi.pdep.32");
            llvm::Value *word = codegen(op->args[0]);
            return call_named(name, word->getType(), {word, codegen(op->args[1])});
        }
        return nullptr;
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

    // The form in which LLVM finds pavgb and pavgw.
    llvm::Value *average(const Call *op) {
        const int lanes = op->type.lanes();
        llvm::Type *wide = vector_type(llvm_type(UInt(op->type.bits() * 2)), lanes);
        llvm::Value *a = builder->CreateZExt(codegen(op->args[0]), wide);
        llvm::Value *b = builder->CreateZExt(codegen(op->args[1]), wide);
        llvm::Value *sum = builder->CreateNUWAdd(builder->CreateNUWAdd(a, b), int_constant(wide, 1));
        return builder->CreateTrunc(builder->CreateLShr(sum, int_constant(wide, 1)), llvm_type(op->type));
    }

    // Reciprocal estimates, scalars in the first lane.
    llvm::Value *estimate(const Call *op, llvm::Intrinsic::ID, const char *scalar, const char *w128,
                          const char *w256) {
        llvm::Value *x = codegen(op->args[0]);
        const int lanes = lanes_of(x);
        if (lanes == 1) {
            llvm::Value *v = builder->CreateInsertElement(llvm::Constant::getNullValue(vector_type(f32_t, 4)), x,
                                                          (uint64_t)0);
            return builder->CreateExtractElement(call_named(scalar, v->getType(), {v}), (uint64_t)0);
        }
        const int step = lanes > 4 && target.has_feature(Target::AVX) ? 8 : 4;
        std::vector<llvm::Value *> parts;
        for (int i = 0; i < lanes; i += step) {
            llvm::Value *p = slice(x, i, step);
            parts.push_back(call_named(step == 8 ? w256 : w128, p->getType(), {p}));
        }
        return slice(concat(parts), 0, lanes);
    }

    // pmulhrsw is (a·b + 2^14) >> 15, except that −2^15 · −2^15 wraps to −2^15, a result that no other product has:
    // it is flipped to 2^15 − 1.
    llvm::Value *multiply_high_rounding(const Call *op) {
        const Halide::Type t = op->type;
        const auto shift = as_const_uint(op->args[2]);
        if (!t.is_vector() || t.element_of() != Int(16) || !shift || *shift != 15 ||
            op->args[0].type().element_of() != Int(16) || op->args[1].type().element_of() != Int(16) ||
            !target.has_feature(Target::SSE41)) {
            return nullptr;
        }
        llvm::Value *a = codegen(op->args[0]);
        llvm::Value *b = codegen(op->args[1]);
        int width = 0;
        const char *name = by_width(t.lanes() * 16, "llvm.x86.ssse3.pmul.hr.sw.128", "llvm.x86.avx2.pmul.hr.sw",
                                    "llvm.x86.avx512.pmul.hr.sw.512", &width);
        const int step = width / 16;
        std::vector<llvm::Value *> parts;
        for (int i = 0; i < t.lanes(); i += step) {
            llvm::Value *x = slice(a, i, step);
            llvm::Value *r = call_named(name, x->getType(), {x, slice(b, i, step)});
            llvm::Value *wrapped = builder->CreateICmpEQ(r, int_constant(r->getType(), -32768));
            parts.push_back(builder->CreateXor(r, builder->CreateSExt(wrapped, r->getType())));
        }
        return slice(concat(parts), 0, t.lanes());
    }

    /// The operands of an exact product, or a value and one, as vectors of these types.
    std::optional<std::pair<Expr, Expr>> product_of(Expr e, const Halide::Type &ta, const Halide::Type &tb) const {
        const int lanes = e.type().lanes();
        while (const Cast *c = e.as<Cast>()) {
            // A wider copy of an exact product is the same number.
            const bool exact = c->value.type().is_int_or_uint() && c->type.can_represent(c->value.type());
            if (!exact) {
                return std::nullopt;
            }
            e = c->value;
        }
        Expr a, b;
        bool widened = e.type().bits() >= ta.bits() + tb.bits();
        if (const Mul *m = e.as<Mul>()) {
            a = m->a;
            b = m->b;
        } else if (const Call *c = Call::as_intrinsic(e, {Call::widening_mul})) {
            a = c->args[0];
            b = c->args[1];
            widened = true;
        } else {
            a = e;
            b = make_one(e.type());
            widened = true;
        }
        if (!widened) {
            return std::nullopt;  // the product may have wrapped around in fewer bits
        }
        for (const bool swapped : {false, true}) {
            Expr x = lossless_cast(ta.with_lanes(lanes), swapped ? b : a);
            Expr y = lossless_cast(tb.with_lanes(lanes), swapped ? a : b);
            if (x.defined() && y.defined()) {
                return std::make_pair(x, y);
            }
        }
        return std::nullopt;
    }

    // A product of bytes that is wanted in 32 bits: one pmaddwd of extended operands, of which the one that is the same in
    // all lanes is extended once, instead of a product of 16 bits and its extension.
    void visit(const Cast *op) override {
        const Halide::Type t = op->type;
        if (t.is_vector() && t.is_int_or_uint() && t.bits() == 32 && Call::as_intrinsic(op->value, {Call::widening_mul}) &&
            op->value.type().bits() == 16) {
            const auto operands = product_of(op, Int(16), Int(16));
            if (operands && (operands->first.as<Broadcast>() || operands->second.as<Broadcast>())) {
                value = codegen(cast(t, operands->first) * cast(t, operands->second));
                return;
            }
        }
        CodeGen_LLVM::visit(op);
    }

    /// Bytes whose products are summed in pairs of 16 bits, in the order that pmaddubsw takes: unsigned, signed. The
    /// instruction saturates, so the ranges must show that no sum of two leaves 16 bits.
    struct BytePairs {
        Expr a, b;
        /// Both are signed: |a| and b with the sign of a stand for them.
        bool moves_sign = false;
    };

    std::optional<BytePairs> pairs_of_bytes(const Expr &value) const {
        const auto in_16_bits = [](int64_t a_max, const ConstantInterval &b) {
            return b.is_bounded() && 2 * a_max * b.max <= 32767 && 2 * a_max * b.min >= -32768;
        };
        if (const auto p = product_of(value, UInt(8), Int(8))) {
            const ConstantInterval a = constant_integer_bounds(p->first);
            if (a.is_bounded() && in_16_bits(a.max, constant_integer_bounds(p->second))) {
                return BytePairs{p->first, p->second};
            }
        }
        if (const auto p = product_of(value, Int(8), Int(8))) {
            // −128 has no negative: the operand that takes the sign must not be it.
            for (const auto &[a, b] : {*p, std::make_pair(p->second, p->first)}) {
                const ConstantInterval range = constant_integer_bounds(b);
                if (range.is_bounded() && range.min > -128) {
                    return BytePairs{a, b, true};
                }
            }
        }
        return std::nullopt;
    }

    llvm::Value *add_pairs_of_bytes(llvm::Value *a, llvm::Value *b, bool moves_sign, int width) {
        if (moves_sign) {
            const char *sign = width == 256 ? "llvm.x86.avx2.psign.b" : "llvm.x86.ssse3.psign.b.128";
            if (width == 512) {
                llvm::Value *halves[2];
                for (int i = 0; i < 2; i++) {
                    llvm::Value *x = slice(a, 32 * i, 32);
                    halves[i] = call_named("llvm.x86.avx2.psign.b", x->getType(), {slice(b, 32 * i, 32), x});
                }
                b = concat({halves[0], halves[1]});
            } else {
                b = call_named(sign, b->getType(), {b, a});
            }
            a = builder->CreateBinaryIntrinsic(llvm::Intrinsic::abs, a, llvm::ConstantInt::getFalse(context));
        }
        const char *name = width == 512 ? "llvm.x86.avx512.pmaddubs.w.512" :
                           width == 256 ? "llvm.x86.avx2.pmadd.ub.sw" :
                                          "llvm.x86.ssse3.pmadd.ub.sw.128";
        return call_named(name, vector_type(i16_t, width / 16), {a, b});
    }

    llvm::Value *add_pairs_of_words(llvm::Value *a, llvm::Value *b, int width) {
        const char *name = width == 512 ? "llvm.x86.avx512.pmaddw.d.512" :
                           width == 256 ? "llvm.x86.avx2.pmadd.wd" :
                                          "llvm.x86.sse2.pmadd.wd";
        return call_named(name, vector_type(i32_t, width / 32), {a, b});
    }

    // Sums of `group` adjacent products by one or two instructions, then the generic tree for the rest.
    llvm::Value *sum_of_products(const VectorReduce *op, llvm::Value *a, llvm::Value *b, int group, int element_bits,
                                 const std::function<llvm::Value *(llvm::Value *, llvm::Value *, int)> &instruction) {
        const int lanes = lanes_of(a);
        int width = std::min(native_vector_bits(), (int)next_power_of_two(lanes * element_bits));
        if (!target.has_feature(Target::AVX2)) {
            width = 128;
        }
        width = std::max(width, 128);
        const int step = width / element_bits;
        std::vector<llvm::Value *> parts;
        for (int i = 0; i < lanes; i += step) {
            parts.push_back(instruction(slice(a, i, step), slice(b, i, step), width));
        }
        llvm::Value *sums = slice(concat(parts), 0, lanes / group);
        const int factor = op->value.type().lanes() / op->type.lanes() / group;
        if (factor == 1) {
            return sums;
        }
        Operand name(*this, op->type.with_lanes(lanes / group), sums);
        return codegen(VectorReduce::make(op->op, name.expr, op->type.lanes()));
    }

    /// A name for a value, while it exists.
    struct Operand {
        CodeGen_X86 &g;
        std::string name;
        Expr expr;
        Operand(CodeGen_X86 &g, const Halide::Type &t, llvm::Value *v)
            : g(g), name("reduced." + std::to_string(g.temporaries++)), expr(Variable::make(t, name)) {
            g.symbols[name].push_back({v, nullptr});
        }
        ~Operand() {
            g.unbind(name);
        }
    };

    llvm::Value *target_reduce(const VectorReduce *op) override {
        const int factor = op->value.type().lanes() / op->type.lanes();
        const int bits = op->type.bits();
        if (op->op != VectorReduce::Add || !op->type.is_int_or_uint() || (bits != 16 && bits != 32) || factor % 2) {
            return nullptr;
        }
        const int of_bytes = bits / 8;   // how many products of bytes an instruction adds, or two in a row
        const bool vnni = target.has_feature(Target::AVX512_Zen4) || target.has_feature(Target::AVXVNNI);
        if (bits == 32 && factor % 4 == 0 && vnni) {
            if (const auto p = product_of(op->value, UInt(8), Int(8))) {
                llvm::Value *a = codegen(p->first);
                llvm::Value *b = codegen(p->second);
                return sum_of_products(op, a, b, 4, 8, [&](llvm::Value *x, llvm::Value *y, int width) {
                    llvm::Type *sums = vector_type(i32_t, width / 32);
                    const char *name = width == 512 ? "llvm.x86.avx512.vpdpbusd.512" :
                                       width == 256 ? "llvm.x86.avx512.vpdpbusd.256" :
                                                      "llvm.x86.avx512.vpdpbusd.128";
                    return call_named(name, sums, {llvm::Constant::getNullValue(sums), x, y});
                });
            }
        }
        if (factor % of_bytes == 0 && target.has_feature(Target::SSE41)) {
            if (const auto p = pairs_of_bytes(op->value)) {
                llvm::Value *a = codegen(p->a);
                llvm::Value *b = codegen(p->b);
                return sum_of_products(op, a, b, of_bytes, 8, [&](llvm::Value *x, llvm::Value *y, int width) {
                    llvm::Value *pairs = add_pairs_of_bytes(x, y, p->moves_sign, width);
                    return bits == 16 ? pairs : add_pairs_of_words(pairs, int_constant(pairs->getType(), 1), width);
                });
            }
        }
        if (bits == 32) {
            if (const auto p = product_of(op->value, Int(16), Int(16))) {
                llvm::Value *a = codegen(p->first);
                llvm::Value *b = codegen(p->second);
                return sum_of_products(op, a, b, 2, 16, [&](llvm::Value *x, llvm::Value *y, int width) {
                    return add_pairs_of_words(x, y, width);
                });
            }
        }
        return nullptr;
    }
};

}  // namespace

std::unique_ptr<CodeGen_LLVM> new_CodeGen_X86(const Target &t, llvm::LLVMContext &context) {
    return std::make_unique<CodeGen_X86>(t, context);
}

}  // namespace Halide::Internal
