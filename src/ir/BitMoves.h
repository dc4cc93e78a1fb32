#pragma once

#include "ir/Expr.h"

#include <cstdint>

namespace Halide {

struct Target;

namespace Internal {

struct Call;

/// @name Bits selected by a constant mask
/// Pure calls on words of 32 or 64 bits that are one instruction where moves_bits_fast() holds; elsewhere what
/// lower_bit_move() gives.
/// @{

/// The bits of the word that the mask has, moved together at the low end, in order.
Expr gather_bits(const Expr &word, uint64_t mask);
/// The low bits of the word, in order, where the mask has bits; zero elsewhere.
Expr scatter_bits(const Expr &word, uint64_t mask);
/// @}

bool is_gather_bits(const Call *op);
bool is_scatter_bits(const Call *op);

/// The meaning of one of these calls in shifts and masks; undefined if it is another one.
Expr lower_bit_move(const Call *op);

/// Whether the target moves bits in one fast instruction. x86 has pext and pdep since Haswell; AMD's processors before
/// Zen 3 take time for each bit. A feature has to promise the instruction, and exclude the slow processors.
bool moves_bits_fast(const Target &t);

}  // namespace Internal
}  // namespace Halide
