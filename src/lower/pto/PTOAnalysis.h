#pragma once

/// What the passes of the PTO back end ask about kernel statements. Lane layout, verify and vectorize use the same
/// functions, so they cannot disagree.

#include "ir/IR.h"
#include "ir/ModulusRemainder.h"
#include "ir/Scope.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace Halide {
namespace Internal {

/// base + stride · lane, with a base that is the same in all lanes.
struct LaneAffine {
    Expr base;
    int64_t stride = 0;
};

/// The index in this form; empty if it is none. `aliases` holds the values of index lets.
std::optional<LaneAffine> lane_affine(const Expr &index, const std::string &lane,
                                      const Scope<Expr> &aliases = Scope<Expr>::empty_scope());

/// How the lanes of an access lie in memory.
enum class LaneAccess {
    Uniform,     ///< one element for all lanes
    Contiguous,  ///< consecutive elements, the first on a 32-byte border
    Unaligned,   ///< consecutive elements, wherever the first may be
    Strided,     ///< a constant stride other than 0 and 1
    Irregular,   ///< anything else
};
LaneAccess classify_access(const std::optional<LaneAffine> &index, int element_bytes,
                           const Scope<ModulusRemainder> &facts = Scope<ModulusRemainder>::empty_scope());
/// Whether element `base` of a buffer lies on a 32-byte border.
bool is_block_aligned(const Expr &base, int element_bytes,
                      const Scope<ModulusRemainder> &facts = Scope<ModulusRemainder>::empty_scope());

/// Without `likely` and the like.
Expr without_tags(const Expr &e);

/// A move between memories, a flag, a barrier of pipes: what ends a vector scope (a mem_bar does not).
bool is_pto_call(const Expr &e, const char *name);
bool is_pto_effect(const Stmt &s);

/// Whether the statement contains something that vectors may not live across: moves, flags, scalar accesses of memory,
/// block queries.
bool contains_scope_border(const Stmt &s);

bool contains_vector_loop(const Stmt &s);

/// Buffers that something inside stores to.
std::set<std::string> stored_buffers(const Stmt &s);
std::set<std::string> loaded_buffers(const Stmt &s);
std::set<std::string> loaded_buffers(const Expr &e);

/// By UB allocation: how many elements must be addressable, counting that vector loads always read whole vectors. At
/// least the extent of the allocation. For kernels after pto-lane-layout.
std::map<std::string, int64_t> pto_padded_elements(const Stmt &kernel);

}  // namespace Internal
}  // namespace Halide
