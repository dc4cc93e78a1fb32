#pragma once

#include "ir/Enums.h"
#include "ir/Target.h"
#include "ir/Type.h"

#include <vector>

namespace Halide {
namespace Internal {

/// How boolean vectors exist on a target: not at all, as lanes as wide as what was compared, or as predicate registers.
enum class MaskForm { None, LaneWide, Predicate };

/// The address space of an access.
enum class VectorSpace { Global, Local, Image };

/// The shapes of an access or of a data movement that have a cost of their own.
enum class AccessForm { Dense, Strided, Gather, Scatter, Shuffle, Broadcast };

enum class AccessKind { Load, Store };

/// Which lane counts arithmetic on one element type may have: any up to `max`, or only those in `counts`
/// (widest first).
struct LaneRule {
    int max = 1;
    bool any = false;
    std::vector<int> counts;

    bool legal(int lanes) const;
    /// The widest legal count that is at most `lanes`; 1 if there is none.
    int widest(int lanes) const;
};

/// Legal widths in lanes, widest first.
using WidthList = std::vector<int>;

/// What a target can do with vectors. The devectorizer reads all its numbers here (spec devectorize.md 3).
struct VectorTarget {
    /// One vector register as arithmetic sees it; 0: there are none.
    int register_bits = 0;
    /// The same for floats and for integers of 8 and 16 bits, where they differ.
    int float_register_bits = 0;
    int small_int_register_bits = 0;
    /// Registers that one IR vector may span.
    int max_group = 1;
    /// For estimates of pressure only.
    int register_count = 0;
    MaskForm masks = MaskForm::None;
    /// "The first n lanes" is one instruction.
    bool prefix_masks = false;
    /// Any lane count up to the limit, not only powers of two.
    bool any_lanes = false;
    /// Lane counts that vectors may have whatever their element type (PTO); empty: by register size.
    std::vector<int> logical_lanes;
    /// The widest access in bytes.
    int access_bytes = 0;
    /// Element widths in bits of which masked accesses exist, smallest; 0: none.
    int masked_load_min_bits = 0, masked_store_min_bits = 0;
    /// Element widths in bits of which gathers and scatters exist, smallest; 0: none.
    int gather_min_bits = 0, scatter_min_bits = 0;
    /// Strides 2 … this are one instruction; 1: none.
    int max_native_stride = 1;
    /// Gathers exist only in local memory.
    bool gather_local_only = false;
    /// 64-bit floats can be computed with.
    bool has_double = true;
    /// A dense access needs its natural alignment in bytes instead of that of an element.
    bool aligned_accesses = false;
    /// Word of integer registers in bits, for SWAR and MemoryType::GPR.
    int word_bits = 64;

    explicit VectorTarget(const Target &t);
    VectorTarget(const Target &t, DeviceAPI device);

    LaneRule compute_lanes(const Type &elem) const;
    WidthList access_lanes(const Type &elem, VectorSpace space, AccessForm form) const;
    /// Alignment in bytes that an access of this width needs.
    int align_bytes(const Type &elem, VectorSpace space, int lanes) const;
    /// May the access carry a mask?
    bool masked(const Type &elem, VectorSpace space, AccessKind kind) const;
    /// In units of one simple instruction.
    int cost(AccessForm form, const Type &elem, int lanes) const;
};

}  // namespace Internal
}  // namespace Halide
