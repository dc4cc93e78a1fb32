#include "func/VectorTarget.h"

#include "support/Util.h"

#include <algorithm>

namespace Halide {
namespace Internal {

bool LaneRule::legal(int lanes) const {
    if (any) {
        return lanes >= 1 && lanes <= max;
    }
    return std::find(counts.begin(), counts.end(), lanes) != counts.end();
}

int LaneRule::widest(int lanes) const {
    if (any) {
        return std::max(1, std::min(lanes, max));
    }
    for (int c : counts) {
        if (c <= lanes) {
            return c;
        }
    }
    return 1;
}

namespace {

/// Widths of memory accesses as element sizes in bits: the rows of the table in spec devectorize.md 3.
void set_x86(VectorTarget &v, const Target &t) {
    v.word_bits = t.bits;
    const bool avx512 = t.features_any_of({Target::AVX512, Target::AVX512_KNL, Target::AVX512_Skylake,
                                           Target::AVX512_Cannonlake, Target::AVX512_Zen4, Target::AVX512_Zen5,
                                           Target::AVX512_SapphireRapids});
    // BW and VL came with Skylake.
    const bool bw_vl = t.features_any_of({Target::AVX512_Skylake, Target::AVX512_Cannonlake, Target::AVX512_Zen4,
                                          Target::AVX512_Zen5, Target::AVX512_SapphireRapids}) ||
                       (t.has_feature(Target::AVX10_1) && t.vector_bits >= 512);
    v.masks = MaskForm::LaneWide;
    v.register_count = 16;
    v.register_bits = v.float_register_bits = v.small_int_register_bits = 128;
    v.access_bytes = 16;
    if (avx512 || bw_vl) {
        v.register_bits = v.float_register_bits = 512;
        v.small_int_register_bits = bw_vl ? 512 : 256;
        v.register_count = 32;
        v.access_bytes = 64;
        v.masks = MaskForm::Predicate;
        v.masked_load_min_bits = v.masked_store_min_bits = bw_vl ? 8 : 32;
        v.gather_min_bits = v.scatter_min_bits = 32;
    } else if (t.has_feature(Target::AVX2)) {
        v.register_bits = v.float_register_bits = v.small_int_register_bits = 256;
        v.access_bytes = 32;
        v.masked_load_min_bits = v.masked_store_min_bits = 32;
        v.gather_min_bits = 32;
    } else if (t.has_feature(Target::AVX)) {
        v.float_register_bits = 256;
        v.access_bytes = 32;
        v.masked_load_min_bits = v.masked_store_min_bits = 32;
    }
    if (t.vector_bits > 0 && t.vector_bits < v.register_bits) {
        v.register_bits = t.vector_bits;
        v.float_register_bits = std::min(v.float_register_bits, t.vector_bits);
        v.small_int_register_bits = std::min(v.small_int_register_bits, t.vector_bits);
        v.access_bytes = std::min(v.access_bytes, t.vector_bits / 8);
    }
}

void set_arm(VectorTarget &v, const Target &t) {
    v.word_bits = t.bits;
    if (t.has_feature(Target::NoNEON)) {
        return;
    }
    v.register_bits = v.float_register_bits = v.small_int_register_bits = 128;
    v.register_count = t.bits == 64 ? 32 : 16;
    v.access_bytes = 16;
    v.masks = MaskForm::LaneWide;
    v.max_native_stride = 4;
    v.has_double = t.bits == 64;
    const bool sve2 = t.has_feature(Target::SVE2), sve = t.has_feature(Target::SVE) || sve2;
    if (sve && t.vector_bits > 0) {
        v.float_register_bits = t.vector_bits;
        if (sve2) {
            v.register_bits = v.small_int_register_bits = t.vector_bits;
        }
        v.access_bytes = t.vector_bits / 8;
        v.masks = MaskForm::Predicate;
        v.prefix_masks = true;
        v.any_lanes = true;
        v.masked_load_min_bits = v.masked_store_min_bits = 8;
        v.gather_min_bits = v.scatter_min_bits = 32;
    }
}

void set_rvv(VectorTarget &v, const Target &t) {
    v.word_bits = t.bits;
    if (!t.has_feature(Target::RVV) || t.vector_bits <= 0) {
        return;
    }
    v.register_bits = v.float_register_bits = v.small_int_register_bits = t.vector_bits;
    // Eight registers a group would leave four groups, and everything would spill.
    v.max_group = 4;
    v.register_count = 32;
    v.access_bytes = t.vector_bits * v.max_group / 8;
    v.masks = MaskForm::Predicate;
    v.prefix_masks = true;
    v.any_lanes = true;
    v.masked_load_min_bits = v.masked_store_min_bits = 8;
    v.gather_min_bits = v.scatter_min_bits = 8;
    v.max_native_stride = 1 << 30;
}

void set_pto(VectorTarget &v) {
    v.register_bits = v.float_register_bits = v.small_int_register_bits = 2048;
    v.max_group = 8;
    v.register_count = 32;
    v.logical_lanes = {256, 128, 64};
    v.access_bytes = 256 * v.max_group;
    v.masks = MaskForm::Predicate;
    v.prefix_masks = true;
    // Loads read their whole footprint.
    v.masked_load_min_bits = 0;
    v.masked_store_min_bits = 8;
    v.gather_min_bits = v.scatter_min_bits = 8;
    v.gather_local_only = true;
    v.has_double = false;
    v.aligned_accesses = true;
}

void set_device_thread(VectorTarget &v) {
    v.register_bits = v.float_register_bits = v.small_int_register_bits = 128;
    v.register_count = 64;
    v.access_bytes = 16;
    v.masks = MaskForm::LaneWide;
}

}  // namespace

VectorTarget::VectorTarget(const Target &t) : VectorTarget(t, DeviceAPI::Host) {
}

VectorTarget::VectorTarget(const Target &t, DeviceAPI device) {
    word_bits = t.bits == 32 ? 32 : 64;
    switch (device) {
    case DeviceAPI::PTO:
        set_pto(*this);
        return;
    case DeviceAPI::None:
    case DeviceAPI::Host:
    case DeviceAPI::SMEStreaming:
        break;
    default:
        set_device_thread(*this);
        return;
    }
    switch (t.arch) {
    case Target::X86:
        set_x86(*this, t);
        break;
    case Target::ARM:
        set_arm(*this, t);
        break;
    case Target::RISCV:
        set_rvv(*this, t);
        break;
    case Target::WebAssembly:
        if (t.has_feature(Target::WasmSimd128)) {
            register_bits = float_register_bits = small_int_register_bits = 128;
            register_count = 16;
            access_bytes = 16;
            masks = MaskForm::LaneWide;
        }
        break;
    case Target::POWERPC:
        if (t.has_feature(Target::VSX)) {
            register_bits = float_register_bits = small_int_register_bits = 128;
            register_count = 64;
            access_bytes = 16;
            masks = MaskForm::LaneWide;
        }
        break;
    default:
        break;
    }
}

LaneRule VectorTarget::compute_lanes(const Type &elem) const {
    LaneRule rule;
    if (!logical_lanes.empty()) {
        if (elem.bits() == 64 && !has_double) {
            rule.counts = {1};
            return rule;
        }
        rule.counts = logical_lanes;
        rule.max = logical_lanes.front();
        rule.counts.push_back(1);
        return rule;
    }
    const int bits = std::max(elem.bits(), 8);
    const int width = elem.is_float() ? float_register_bits : bits <= 16 ? small_int_register_bits : register_bits;
    rule.max = std::max(1, width * max_group / bits);
    if (elem.is_float() && bits == 64 && !has_double) {
        rule.max = 1;
    }
    rule.any = any_lanes;
    for (int lanes = rule.max; lanes >= 1; lanes /= 2) {
        rule.counts.push_back(lanes);
    }
    return rule;
}

WidthList VectorTarget::access_lanes(const Type &elem, VectorSpace space, AccessForm form) const {
    WidthList widths;
    const int bytes = std::max(elem.bytes(), 1);
    if (space == VectorSpace::Image) {
        return {4, 1};
    }
    if (form == AccessForm::Gather || form == AccessForm::Scatter) {
        const int least = form == AccessForm::Gather ? gather_min_bits : scatter_min_bits;
        if (least == 0 || elem.bits() < least || (gather_local_only && space != VectorSpace::Local)) {
            return {1};
        }
    }
    if (form == AccessForm::Strided && max_native_stride < 2) {
        return {1};
    }
    if (!logical_lanes.empty()) {
        // Vectors reach only the local memory.
        return space == VectorSpace::Local ? logical_lanes : WidthList{1};
    }
    for (int b = access_bytes; b >= bytes; b /= 2) {
        widths.push_back(b / bytes);
    }
    if (widths.empty()) {
        widths.push_back(1);
    }
    return widths;
}

int VectorTarget::align_bytes(const Type &elem, VectorSpace space, int lanes) const {
    const int natural = elem.bytes() * std::max(lanes, 1);
    return aligned_accesses && lanes > 1 ? std::min(natural, 32) : elem.bytes();
}

bool VectorTarget::masked(const Type &elem, VectorSpace space, AccessKind kind) const {
    const int least = kind == AccessKind::Load ? masked_load_min_bits : masked_store_min_bits;
    return least > 0 && elem.bits() >= least;
}

int VectorTarget::cost(AccessForm form, const Type &elem, int lanes) const {
    const int width = elem.is_float() ? float_register_bits : register_bits;
    const int registers = width > 0 ? std::max(1, (lanes * elem.bits() + width - 1) / width) : lanes;
    switch (form) {
    case AccessForm::Dense:
    case AccessForm::Broadcast:
        return registers;
    case AccessForm::Shuffle:
        return registers;
    case AccessForm::Strided:
        return max_native_stride > 1 ? 2 * registers : 2 * lanes;
    case AccessForm::Gather:
        return gather_min_bits > 0 && elem.bits() >= gather_min_bits ? registers + lanes : 2 * lanes;
    case AccessForm::Scatter:
        return scatter_min_bits > 0 && elem.bits() >= scatter_min_bits ? registers + lanes : 2 * lanes;
    }
    return lanes;
}

}  // namespace Internal
}  // namespace Halide
