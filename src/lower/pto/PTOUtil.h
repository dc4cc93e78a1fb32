#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/IR.h"
#include "ir/Interval.h"
#include "ir/Scope.h"

namespace Halide {
namespace Internal {

/// Numbers of the device (spec pto-vmi.md 1 and 4).
constexpr int64_t pto_ub_bytes = 253952;
constexpr int pto_align_bytes = 32;
constexpr int64_t pto_max_burst_bytes = 65535;

/// A loop that the schedule put on the launch grid.
inline bool is_pto_block(const For *op) {
    return op->for_type == ForType::GPUBlock && op->device_api == DeviceAPI::PTO;
}

/// Bytes that one element takes in memory.
inline int pto_element_bytes(const Type &t) {
    return t.element_of().bytes();
}

/// How many elements make the alignment that moves and vector accesses need.
inline int pto_align_elements(const Type &t) {
    return pto_align_bytes / pto_element_bytes(t);
}

/// Whether an offset in elements of this type is provably a multiple of 32 bytes.
bool is_aligned(const Expr &offset, const Type &t);

/// The change of `e` when `var` grows by one, if `e` is linear in it. Undefined if it is not.
Expr linear_coefficient(const Expr &e, const std::string &var);

/// A constant that `e` never exceeds. `lets` are definitions around it, outermost first; they are written out a layer at a
/// time until a bound shows. Undefined if none does.
Expr constant_upper_bound(const Expr &e, const std::vector<std::pair<std::string, Expr>> &lets, const Scope<Interval> &bounds);

/// Free variables of a statement or expression with their types, in order of first use.
std::vector<std::pair<std::string, Type>> free_variables(const Stmt &s);

/// Whether the scalar unit has operations for all of a value: integer arithmetic, and copies of anything. Floats, and what only
/// vectors can do, is not for it.
bool scalar_unit_computes(const Expr &e);

/// `f.s0.x` as users say it: "the loop over x in the pure definition of f".
std::string loop_in_words(const std::string &name);

/// The Var of a loop: x of `f.s0.x`.
std::string var_of_loop(const std::string &name);

/// Whether a value is decided by index arithmetic alone: no load, no call with effects.
bool is_index_arithmetic(const Expr &e);

}  // namespace Internal
}  // namespace Halide
