#pragma once

#include "ir/IROperator.h"

namespace Halide {

/// Casts with the names of their types. Lanes are kept; `_sat` casts clamp to the range of the type.
namespace ConciseCasts {

// @{
inline Expr f64(const Expr &e) {
    return cast(Float(64, e.type().lanes()), e);
}
inline Expr f32(const Expr &e) {
    return cast(Float(32, e.type().lanes()), e);
}
inline Expr f16(const Expr &e) {
    return cast(Float(16, e.type().lanes()), e);
}
inline Expr bf16(const Expr &e) {
    return cast(BFloat(16, e.type().lanes()), e);
}
inline Expr i64(const Expr &e) {
    return cast(Int(64, e.type().lanes()), e);
}
inline Expr i32(const Expr &e) {
    return cast(Int(32, e.type().lanes()), e);
}
inline Expr i16(const Expr &e) {
    return cast(Int(16, e.type().lanes()), e);
}
inline Expr i8(const Expr &e) {
    return cast(Int(8, e.type().lanes()), e);
}
inline Expr u64(const Expr &e) {
    return cast(UInt(64, e.type().lanes()), e);
}
inline Expr u32(const Expr &e) {
    return cast(UInt(32, e.type().lanes()), e);
}
inline Expr u16(const Expr &e) {
    return cast(UInt(16, e.type().lanes()), e);
}
inline Expr u8(const Expr &e) {
    return cast(UInt(8, e.type().lanes()), e);
}
inline Expr i64_sat(const Expr &e) {
    return saturating_cast(Int(64, e.type().lanes()), e);
}
inline Expr i32_sat(const Expr &e) {
    return saturating_cast(Int(32, e.type().lanes()), e);
}
inline Expr i16_sat(const Expr &e) {
    return saturating_cast(Int(16, e.type().lanes()), e);
}
inline Expr i8_sat(const Expr &e) {
    return saturating_cast(Int(8, e.type().lanes()), e);
}
inline Expr u64_sat(const Expr &e) {
    return saturating_cast(UInt(64, e.type().lanes()), e);
}
inline Expr u32_sat(const Expr &e) {
    return saturating_cast(UInt(32, e.type().lanes()), e);
}
inline Expr u16_sat(const Expr &e) {
    return saturating_cast(UInt(16, e.type().lanes()), e);
}
inline Expr u8_sat(const Expr &e) {
    return saturating_cast(UInt(8, e.type().lanes()), e);
}
// @}

}  // namespace ConciseCasts
}  // namespace Halide
