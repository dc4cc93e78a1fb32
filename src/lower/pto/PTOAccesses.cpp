#include "lower/pto/PTOVectorizer.h"
#include "lower/pto/PTOUtil.h"

#include "analysis/ModulusRemainder.h"
#include "ir/IREquality.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/Substitute.h"
#include "simplify/Simplify.h"
#include "support/Error.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>

// Loads and stores of the unified buffer (spec pto-vmi.md 9 and 15): each kind of index has its instruction, and what
// has none is a gather, a scatter, or refused.

namespace Halide {
namespace Internal {

namespace {

std::string text_of(const Expr &e) {
    std::ostringstream text;
    text << e;
    return text.str();
}

}  // namespace

void PTOVectorizer::barrier(const char *kind) {
    VMIInst inst;
    inst.kind = VMIInst::Kind::Effect;
    inst.scalar = Call::make(Int(32), "pto_mem_bar", {Expr(std::string(kind))}, Call::Extern);
    b.append(std::move(inst));
}

VMIPlacement PTOVectorizer::before_load(const std::string &buffer, const Expr &index) {
    if (stores_since.count(buffer)) {
        barrier("VST_VLD");
        stores_since.clear();
    }
    loads_since[buffer].push_back(index);
    // Behind the store that it must see.
    return stored_here.count(buffer) ? VMIPlacement::Local : VMIPlacement::Load;
}

void PTOVectorizer::before_store(const std::string &buffer, const Expr &index) {
    for (const Expr &i : loads_since[buffer]) {
        if (!equal(i, index)) {
            barrier("VLD_VST");
            loads_since.clear();
            break;
        }
    }
    for (const Expr &i : stores_since[buffer]) {
        auto distance = as_const_int(simplify(i - index));
        if (!distance || std::abs(*distance) < lane.lanes) {
            barrier("VST_VST");
            stores_since.clear();
            break;
        }
    }
    stores_since[buffer].push_back(index);
    stored_here.insert(buffer);
}

int PTOVectorizer::load(const Load *op) {
    return load_as(op, vmi_elem(op->type));
}

int PTOVectorizer::load_as(const Load *op, VMIElem elem) {
    auto reg = registers.find(op->name);
    if (reg != registers.end()) {
        return to_lanes(register_value(op->name), lane.lanes);
    }
    if (!ub_types.count(op->name)) {
        refuse("memory access", "`" + text_of(op) + "` reads global memory in vector code",
               "Stage " + op->name + " in the unified buffer, as in.in(f).compute_at(f, xo).store_in(MemoryType::UB) does.");
    }
    const int bytes = vmi_bits(elem) / 8;
    const VMIType t{elem, lane.lanes, false};
    const std::string var = lane.uniform ? "" : lane.var;
    const VMIPlacement placement = before_load(op->name, op->index);
    auto index = lane_affine(op->index, var, aliases);
    if (index && !scalar_unit_computes(index->base)) {
        index.reset();   // an address that only vectors can compute
    }
    auto dense = [&](const Expr &base, const char *mode) {
        std::vector<VMIAttribute> attributes = {vmi_number("size", lane.lanes)};
        if (mode) {
            attributes.push_back(vmi_word("dist_mode", mode));
        }
        return b.op("vload", t, {VMIOperand::pointer(op->name, elem), VMIOperand::offset(base)}, attributes,
                    placement);
    };
    switch (classify_access(index, bytes, facts)) {
    case LaneAccess::Uniform: {
        if (t.bits() >= 2048) {
            return dense(index->base, "brc");
        }
        const int one = b.op("vload", VMIType{elem, 1, false},
                             {VMIOperand::pointer(op->name, elem), VMIOperand::offset(index->base)},
                             {vmi_number("size", 1)}, placement);
        return to_lanes(one, lane.lanes);
    }
    case LaneAccess::Contiguous:
        return dense(index->base, nullptr);
    case LaneAccess::Strided: {
        if (index->stride != 2 || t.bits() < 2048) {
            break;
        }
        const ModulusRemainder parity = modulus_remainder(index->base, facts);
        if (parity.modulus % 2) {
            break;
        }
        const int odd = (int)(((parity.remainder % 2) + 2) % 2);
        const Expr base = simplify(index->base - odd);
        if (!is_block_aligned(base, bytes, facts)) {
            break;
        }
        const auto parts = b.op("vload", std::vector<VMIType>{t, t},
                                {VMIOperand::pointer(op->name, elem), VMIOperand::offset(base)},
                                {vmi_number("size", lane.lanes), vmi_word("dist_mode", "dintlv")}, placement);
        return parts[odd];
    }
    case LaneAccess::Unaligned:
    case LaneAccess::Irregular:
        break;
    }
    if (index && index->stride == -1 && t.bits() <= 2048) {
        // Backwards within one register: a permutation.
        const Expr first = simplify(index->base - (lane.lanes - 1));
        if (is_block_aligned(first, bytes, facts) && (t.bits() == 2048 || vmi_bits(elem) < 32)) {
            const VMIElem number = vmi_bits(elem) == 32 ? VMIElem::I32 : vmi_bits(elem) == 16 ? VMIElem::I16 : VMIElem::I8;
            const int order = b.op("vci", VMIType{number, lane.lanes, false},
                                   {VMIOperand::scalar_of(make_const(Int(32), lane.lanes - 1), number)},
                                   {vmi_number("size", lane.lanes), vmi_word("order", "DESC")});
            return b.op("vselr", t, {VMIOperand::of(dense(first, nullptr)), VMIOperand::of(order)});
        }
    }
    return load_irregular(op, index);
}

/// Element offsets, without sign.
int PTOVectorizer::offset_vector(const Expr &index, const std::optional<LaneAffine> &affine, Expr &first) {
    first = make_zero(Int(32));
    if (!affine || lane.uniform) {
        return as(eval(index), VMIElem::I32);
    }
    // The lanes' distances from the first are the same everywhere; where the first lane runs its address is one.
    const Expr lanes = simplify(Variable::make(Int(32), lane.var) * (int)affine->stride);
    if (affine->stride > 0 && is_scalar(affine->base) && (guard < 0 || prefixes.count(guard))) {
        first = affine->base;
        return as(eval(lanes), VMIElem::I32);
    }
    return as(eval(simplify(affine->base + lanes)), VMIElem::I32);
}

int PTOVectorizer::gather(const std::string &buffer, const Type &t, int offsets, const Expr &first) {
    const int m = seed_or_full(guard);
    const VMIType wide{VMIElem::UI32, lane.lanes, false};
    const VMIPlacement placement = stored_here.count(buffer) ? VMIPlacement::Local : VMIPlacement::Load;
    if (t.bits() == 32) {
        return b.op("vgather", vtype(t),
                    {VMIOperand::pointer(buffer, vmi_elem(t), first), VMIOperand::of(offsets), VMIOperand::of(m)}, {},
                    placement);
    }
    // Narrow elements come in the 32-bit word around them.
    const int per_word = 32 / t.bits();
    const int full = full_mask(lane.lanes);
    auto shift = [&](const char *name, int v, int count) {
        return b.op(name, wide, {VMIOperand::of(v), VMIOperand::offset(make_const(Int(32), count)), VMIOperand::of(full)});
    };
    auto low_bits = [&](int v, int mask) {
        return binary("vand", wide, v, splat(make_const(UInt(32), mask)));
    };
    int index = as(offsets, VMIElem::UI32);
    if (!is_const_zero(first)) {
        index = as(with_scalar("vadd", as(offsets, VMIElem::SI32), first, Int(32)), VMIElem::UI32);
    }
    const int log2_words = per_word == 4 ? 2 : 1;
    const int words = b.op("vgather", wide,
                           {VMIOperand::pointer(buffer, VMIElem::UI32), VMIOperand::of(shift("vshr", index, log2_words)),
                            VMIOperand::of(m)},
                           {}, placement);
    const int position = shift("vshl", low_bits(index, per_word - 1), per_word == 4 ? 3 : 4);
    const int value = low_bits(binary("vshr", wide, words, position), (1 << t.bits()) - 1);
    const Type bits = UInt(t.bits());
    return as(convert(value, UInt(32), bits), vmi_elem(t));
}

int PTOVectorizer::load_irregular(const Load *op, const std::optional<LaneAffine> &index) {
    const Type t = op->type.is_bool() ? UInt(8) : op->type;
    ctx.explain("PTO: " + where() + ": `" + text_of(op) + "` is a gather of " + std::to_string(lane.lanes) + " lanes" +
                (index && index->stride == 1 ? ", because its first element is not known to be on a 32-byte border" : ""));
    Expr first;
    const int offsets = offset_vector(op->index, index, first);
    return gather(op->name, t, offsets, first);
}

Expr PTOVectorizer::first_pair(const Expr &byte_index, const Expr &which) {
    if (lane.uniform || lane.lanes < 128) {
        return Expr();
    }
    auto at = [&](const Expr &e, int i) { return simplify(substitute(lane.var, make_const(Int(32), i), e)); };
    const Expr first = at(byte_index, 0);
    for (int i = 0; i < lane.lanes; i++) {
        auto step = as_const_int(simplify(at(byte_index, i) - first));
        auto nibble = as_const_int(simplify(at(which, i) % 2));
        if (!step || *step != i / 2 || !nibble || *nibble != i % 2) {
            return Expr();
        }
    }
    return is_scalar(first) && is_block_aligned(first, 1, facts) ? first : Expr();
}

int PTOVectorizer::load_bytes_as(const Expr &bytes, VMIElem elem) {
    const Load *load = bytes.as<Load>();
    if (load && !registers.count(load->name) && !lane.uniform &&
        classify_access(lane_affine(load->index, lane.var, aliases), 1, facts) == LaneAccess::Contiguous) {
        return load_as(load, elem);
    }
    return as(eval(bytes), elem);
}

void PTOVectorizer::store(const Store *op) {
    if (!ub_types.count(op->name)) {
        refuse("memory access", "`" + op->name + "[" + text_of(op->index) + "]` is written in global memory by vector code",
               "Store " + op->name + " in the unified buffer and copy it out.");
    }
    const Type t = op->value.type();
    const VMIElem elem = vmi_elem(t);
    const int bytes = vmi_bits(elem) / 8;
    VMIOperand pointer = VMIOperand::pointer(op->name, elem);
    if (lane.uniform) {
        const VectorReduce *reduce = op->value.as<VectorReduce>();
        int v;
        if (reduce && guard < 0) {
            v = eval_reduce(reduce);
        } else {
            v = eval(t.is_bool() ? select(op->value, make_one(UInt(8)), make_zero(UInt(8))) : op->value);
            if (guard >= 0) {
                v = choose(guard, v, eval(Load::make(t.is_bool() ? UInt(8) : t, op->name, op->index)));
            }
            // There is no maximum of bfloat16, with which one lane is taken out.
            const bool bits = elem == VMIElem::BF16;
            v = one_lane(bits ? as(v, VMIElem::UI16) : v);
            pointer = bits ? VMIOperand::pointer(op->name, VMIElem::UI16) : pointer;
        }
        const auto index = lane_affine(op->index, "", aliases);
        if (!index || !is_scalar(index->base)) {
            refuse("memory access", "the address `" + op->name + "[" + text_of(op->index) + "]` depends on data",
                   "Vector code cannot make an address of a value that it loaded.");
        }
        before_store(op->name, op->index);
        b.op("vstore", std::vector<VMIType>{}, {VMIOperand::of(v), pointer, VMIOperand::offset(index->base)}, {},
             VMIPlacement::Here);
        return;
    }
    const auto index = lane_affine(op->index, lane.var, aliases);
    const LaneAccess access = classify_access(index, bytes, facts);
    const Call *narrow = op->value.as<Call>();
    int v;
    if (narrow && is_narrow_float(narrow) && access == LaneAccess::Contiguous) {
        // The code goes to memory under its own element type.
        v = eval_narrow_float(narrow);
    } else {
        v = t.is_bool() ? eval(select(op->value, make_one(UInt(8)), make_zero(UInt(8)))) : eval(op->value);
    }
    before_store(op->name, op->index);
    switch (access) {
    case LaneAccess::Contiguous: {
        std::vector<VMIOperand> operands = {VMIOperand::of(v), VMIOperand::pointer(op->name, b.type(v).elem),
                                            VMIOperand::offset(index->base)};
        if (guard >= 0) {
            operands.push_back(VMIOperand::of(guard));
        }
        b.op("vstore", std::vector<VMIType>{}, operands, {}, VMIPlacement::Here);
        return;
    }
    case LaneAccess::Uniform:
        refuse("memory access", "all lanes write the same element `" + op->name + "[" + text_of(op->index) + "]`",
               "If it is a reduction that may be reordered, say so with atomic().");
    default:
        scatter(op, v, index);
    }
}

namespace {

/// Whether no two lanes have the same address.
bool lanes_differ(const Expr &index, const std::string &lane, int lanes) {
    std::set<int64_t> offsets;
    const Expr first = substitute(lane, make_zero(Int(32)), index);
    for (int i = 0; i < lanes; i++) {
        auto d = as_const_int(simplify(substitute(lane, make_const(Int(32), i), index) - first));
        if (!d || !offsets.insert(*d).second) {
            return false;
        }
    }
    return true;
}

}  // namespace

void PTOVectorizer::scatter(const Store *op, int value, const std::optional<LaneAffine> &index) {
    const Type t = op->value.type();
    const std::string place = "`" + op->name + "[" + text_of(op->index) + "]`";
    if (!index && !lanes_differ(op->index, lane.var, lane.lanes)) {
        refuse("memory access", "two lanes may write the same element " + place,
               "A scatter has no order among its lanes: only addresses that provably differ can be written at once.");
    }
    if (t.bits() == 8 || (t.bits() == 16 && lane.lanes == 64)) {
        refuse("memory access", "there is no scatter of " + std::to_string(lane.lanes) + " elements of " +
                                    std::to_string(t.bits()) + " bits, which " + place + " would need",
               "Store 32-bit elements, or make the first element of each vector lie on a 32-byte border.");
    }
    ctx.explain("PTO: " + where() + ": " + place + " is a scatter of " + std::to_string(lane.lanes) + " lanes");
    Expr first;
    int offsets = offset_vector(op->index, index, first);
    if (t.bits() == 16) {
        offsets = cvt(as(offsets, VMIElem::UI32), VMIElem::UI16, nullptr, "NOSAT");
    }
    b.op("vscatter", std::vector<VMIType>{},
         {VMIOperand::of(value), VMIOperand::pointer(op->name, vmi_elem(t), first), VMIOperand::of(offsets),
          VMIOperand::of(seed_or_full(guard))},
         {}, VMIPlacement::Here);
}

}  // namespace Internal
}  // namespace Halide
