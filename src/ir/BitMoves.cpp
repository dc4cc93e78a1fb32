#include "ir/BitMoves.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <string>

#include "ir/IR.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/Target.h"
#include "support/Error.h"

namespace Halide {
namespace Internal {

namespace {

const std::string gather_name = "halide_gather_bits", scatter_name = "halide_scatter_bits";

Expr call(const std::string &name, const Expr &word, uint64_t mask) {
    internal_assert(word.type() == UInt(32) || word.type() == UInt(64)) << "No word to move bits in: " << word.type();
    return Call::make(word.type(), name, {word, make_const(word.type(), mask)}, Call::PureExtern);
}

}  // namespace

Expr gather_bits(const Expr &word, uint64_t mask) {
    return call(gather_name, word, mask);
}

Expr scatter_bits(const Expr &word, uint64_t mask) {
    return call(scatter_name, word, mask);
}

bool is_gather_bits(const Call *op) {
    return op->call_type == Call::PureExtern && op->name == gather_name;
}

bool is_scatter_bits(const Call *op) {
    return op->call_type == Call::PureExtern && op->name == scatter_name;
}

// Adjacent bits of the mask move together.
Expr lower_bit_move(const Call *op) {
    const bool gather = is_gather_bits(op);
    if (!gather && !is_scatter_bits(op)) {
        return Expr();
    }
    const Expr word = op->args[0];
    const Type t = word.type();
    uint64_t mask = *as_const_uint(op->args[1]);
    Expr result = make_zero(t);
    for (int low = 0; mask != 0;) {
        const int at = std::countr_zero(mask), length = std::countr_one(mask >> at);
        const uint64_t run = (length == 64 ? ~(uint64_t)0 : ((uint64_t)1 << length) - 1) << (gather ? at : low);
        const Expr bits = word & make_const(t, run), distance = make_const(t, at - low);
        result = result | (at == low ? bits : gather ? bits >> distance : bits << distance);
        mask &= ~(((length == 64 ? ~(uint64_t)0 : ((uint64_t)1 << length) - 1)) << at);
        low += length;
    }
    return result;
}

bool moves_bits_fast(const Target &t) {
    if (t.arch != Target::X86 || t.bits != 64) {
        return false;
    }
    static const Target::Feature recent[] = {
        Target::AVX512_Skylake, Target::AVX512_Cannonlake,     Target::AVX512_Zen4, Target::AVX512_Zen5,
        Target::AVXVNNI,        Target::AVX512_SapphireRapids, Target::AVX10_1,
    };
    if (std::any_of(std::begin(recent), std::end(recent), [&](Target::Feature f) { return t.has_feature(f); })) {
        return true;
    }
    const bool recent_amd = t.processor_tune == Target::Processor::ZnVer3 ||
                            t.processor_tune == Target::Processor::ZnVer4 || t.processor_tune == Target::Processor::ZnVer5;
    return recent_amd && t.has_feature(Target::AVX2);
}

}  // namespace Internal
}  // namespace Halide
