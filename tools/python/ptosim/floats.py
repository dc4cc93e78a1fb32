"""Exact conversions of bf16, fp8 and fp4, and rounding of f32 to narrower formats.

All roundings go through one function on float64, in which every f32, f16, bf16 and fp8 value and every midpoint between
two neighbours of a narrower format is exact, so nothing is rounded twice.
"""

import numpy as np


class Format:
    """A small binary float. `max_finite` ends the finite range; `special` says what the top exponent means."""

    def __init__(self, name, exponent_bits, mantissa_bits, bias, special):
        self.name = name
        self.exponent_bits = exponent_bits
        self.mantissa_bits = mantissa_bits
        self.bias = bias
        self.special = special          # "ieee": inf and NaN; "fn": one NaN, no infinity; "none": all codes finite
        self.bits = 1 + exponent_bits + mantissa_bits
        self.min_exponent = 1 - bias
        top = (1 << exponent_bits) - 1
        if special == "ieee":
            self.max_finite = 2.0 ** (top - 1 - bias) * (2.0 - 2.0 ** -mantissa_bits)
        elif special == "fn":
            self.max_finite = 2.0 ** (top - bias) * (2.0 - 2.0 * 2.0 ** -mantissa_bits)
        else:
            self.max_finite = 2.0 ** (top - bias) * (2.0 - 2.0 ** -mantissa_bits)
        self._table = None

    def decode_table(self):
        """Value (float32) of every code; for formats of at most 8 bits."""
        if self._table is None:
            codes = np.arange(1 << self.bits)
            self._table = np.array([self._decode(int(c)) for c in codes], np.float32)
        return self._table

    def _decode(self, code):
        sign = -1.0 if code >> (self.bits - 1) else 1.0
        exponent = code >> self.mantissa_bits & ((1 << self.exponent_bits) - 1)
        mantissa = code & ((1 << self.mantissa_bits) - 1)
        top = (1 << self.exponent_bits) - 1
        if self.special == "ieee" and exponent == top:
            return sign * np.inf if mantissa == 0 else np.nan
        if self.special == "fn" and exponent == top and mantissa == (1 << self.mantissa_bits) - 1:
            return np.nan
        if exponent == 0:
            return sign * mantissa * 2.0 ** (self.min_exponent - self.mantissa_bits)
        return sign * (1.0 + mantissa * 2.0 ** -self.mantissa_bits) * 2.0 ** (exponent - self.bias)

    def nan_code(self):
        """The canonical quiet NaN without sign."""
        top = (1 << self.exponent_bits) - 1
        if self.special == "ieee":
            return top << self.mantissa_bits | 1 << (self.mantissa_bits - 1)
        return (1 << (self.bits - 1)) - 1

    def inf_code(self):
        return ((1 << self.exponent_bits) - 1) << self.mantissa_bits


F16 = Format("f16", 5, 10, 15, "ieee")
BF16 = Format("bf16", 8, 7, 127, "ieee")
E4M3 = Format("f8e4m3", 4, 3, 7, "fn")
E5M2 = Format("f8e5m2", 5, 2, 15, "ieee")
E2M1 = Format("f4e2m1", 2, 1, 1, "none")
E1M2 = Format("f4e1m2", 1, 2, 1, "none")


def round_integral(x, mode):
    """Rounds float64 to integers: R nearest even, A nearest away from zero, F floor, C ceiling, Z toward zero."""
    if mode == "R":
        return np.rint(x)
    if mode == "Z":
        return np.trunc(x)
    if mode == "F":
        return np.floor(x)
    if mode == "C":
        return np.ceil(x)
    whole = np.trunc(x)
    return whole + np.where(np.abs(x - whole) >= 0.5, np.copysign(1.0, x), 0.0)


def encode(values, fmt, mode, saturate):
    """Codes of float64 `values` in `fmt`. Saturation clamps everything beyond the largest finite value, infinities
    included; without it such values become infinity, or NaN in a format without infinities. NaN stays NaN."""
    x = np.asarray(values, np.float64)
    nan = np.isnan(x)
    magnitude = np.where(nan, 0.0, np.abs(x))
    infinite = np.isinf(magnitude)
    magnitude = np.where(infinite, 0.0, magnitude)
    sign = np.signbit(x)
    _, exponent = np.frexp(magnitude)
    exponent = np.maximum(exponent - 1, fmt.min_exponent)
    quantum = np.ldexp(1.0, exponent - fmt.mantissa_bits)
    steps = round_integral(np.where(sign, -1.0, 1.0) * (magnitude / quantum), mode)
    rounded = np.abs(steps) * quantum
    overflow = infinite | (rounded > fmt.max_finite)
    rounded = np.where(overflow, fmt.max_finite, rounded)
    _, exponent = np.frexp(rounded)
    exponent = np.maximum(exponent - 1, fmt.min_exponent)
    mantissa = np.ldexp(rounded, fmt.mantissa_bits - exponent).astype(np.int64)
    normal = mantissa >= (1 << fmt.mantissa_bits)
    code = np.where(normal, ((exponent + fmt.bias) << fmt.mantissa_bits) + mantissa - (1 << fmt.mantissa_bits),
                    mantissa)
    if not saturate and fmt.special != "none":
        code = np.where(overflow, fmt.inf_code() if fmt.special == "ieee" else fmt.nan_code(), code)
    code = np.where(nan, fmt.nan_code() if fmt.special != "none" else 0, code)
    return code | np.where(sign, 1 << (fmt.bits - 1), 0)


def bf16_to_f32(bits):
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def f32_to_bf16_nearest(values):
    """Round to nearest even, overflow to infinity: what arithmetic on bf16 does with its f32 result."""
    bits = np.asarray(values, np.float32).view(np.uint32)
    rounded = (bits + (np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1)))) >> np.uint32(16)
    nan = (bits & np.uint32(0x7FFFFFFF)) > np.uint32(0x7F800000)
    return np.where(nan, (bits >> np.uint32(16)) | np.uint32(0x40), rounded).astype(np.uint16)


def fp4_to_bf16x2(codes, fmt):
    """One byte is two values, the low nibble first; the result is a pair of bf16 in one word, the first value low."""
    table = (fmt.decode_table().view(np.uint32) >> np.uint32(16)).astype(np.uint32)
    return table[codes & 15] | table[codes >> 4] << np.uint32(16)


def bf16x2_to_fp4(words, fmt, mode):
    low = bf16_to_f32((words & np.uint32(0xFFFF)).astype(np.uint16))
    high = bf16_to_f32((words >> np.uint32(16)).astype(np.uint16))
    return (encode(low, fmt, mode, True) | encode(high, fmt, mode, True) << 4).astype(np.uint8)
