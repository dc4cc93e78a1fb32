"""Conversions (part 12) against the list of all values of the target format, in exact fractions."""

import bisect
import math
from fractions import Fraction

import numpy as np
import pytest

from ptodsl import pto
from ptosim.vmi import CONVERSIONS
from support import INTEGERS, NUMPY, apply, fails

# Exponent bits, mantissa bits, bias, and what the largest exponent holds.
FORMATS = {"f16": (5, 10, 15, "ieee"), "bf16": (8, 7, 127, "ieee"), "f8e5m2": (5, 2, 15, "ieee"), "f8e4m3": (4, 3, 7,
    "fn"),
           "e2m1": (2, 1, 1, "none"), "e1m2": (1, 2, 1, "none"), "f32": (8, 23, 127, "ieee")}
RANDOM = np.random.default_rng(5)


def value_of(code, name):
    exponent_bits, mantissa_bits, bias, special = FORMATS[name]
    sign = -1 if code >> exponent_bits + mantissa_bits else 1
    exponent = code >> mantissa_bits & (1 << exponent_bits) - 1
    mantissa = code & (1 << mantissa_bits) - 1
    top = exponent == (1 << exponent_bits) - 1
    if special == "ieee" and top:
        return None if mantissa else sign * math.inf
    if special == "fn" and top and mantissa == (1 << mantissa_bits) - 1:
        return None
    if exponent == 0:
        return sign * Fraction(mantissa, 1 << mantissa_bits) * Fraction(2) ** (1 - bias)
    return sign * (1 + Fraction(mantissa, 1 << mantissa_bits)) * Fraction(2) ** (exponent - bias)


def finite_values(name):
    """Non-negative finite values in order; their index is their code."""
    exponent_bits, mantissa_bits = FORMATS[name][:2]
    codes = range(1 << exponent_bits + mantissa_bits)
    return [v for v in (value_of(c, name) for c in codes) if isinstance(v, (Fraction, int))]


TABLES = {name: finite_values(name) for name in FORMATS if name != "f32"}


def expected_code(value, name, mode, saturate):
    """Code of the rounded value, by searching all values of the format. None: a NaN."""
    exponent_bits, mantissa_bits, _, special = FORMATS[name]
    table = TABLES[name]
    top = len(table) - 1
    negative = value < 0 or isinstance(value, float) and math.copysign(1, value) < 0
    sign = int(negative) << exponent_bits + mantissa_bits
    infinity = (1 << exponent_bits) - 1 << mantissa_bits if special == "ieee" else None

    def beyond():
        if saturate or special == "none":
            return sign | top
        return None if infinity is None else sign | infinity

    if isinstance(value, float) and math.isinf(value):
        return beyond()
    magnitude = abs(Fraction(value))
    low = bisect.bisect_right(table, magnitude) - 1
    if table[low] == magnitude:
        return sign | low
    # The format continued beyond its end gives the upper neighbour of the largest value.
    above = table[low + 1] if low < top else table[top] + (table[top] - table[top - 1])
    middle = (table[low] + above) / 2
    up = {"Z": False, "F": negative, "C": not negative}.get(mode)
    if up is None:
        up = magnitude > middle or magnitude == middle and (mode == "A" or low & 1 == 1)
    if low == top and (up or magnitude >= above):
        return beyond()
    return sign | low + int(up)


def interesting(name):
    """f32 values at, between and beyond the values of a format, exact ties included."""
    table = TABLES[name]
    step = max(1, len(table) // 60)
    values = []
    for k in range(0, len(table) - 1, step):
        a, b = table[k], table[k + 1]
        values += [a, (a + b) / 2, a + (b - a) / 4, a + (b - a) * 3 / 4]
    top = table[-1]
    values += [top, top + (top - table[-2]) / 4, top + (top - table[-2]) / 2, top + (top - table[-2]) * 3 / 4, top * 2]
    with np.errstate(over="ignore"):
        floats = [float(np.float32(float(v))) for v in values]
    floats += [math.inf, 0.0, 3.0e38, 1e-45]
    floats += [-v for v in floats]
    return np.array(floats, np.float32)


def padded(values, lanes, dtype):
    count = -len(values) % lanes
    return np.concatenate([values, np.zeros(count, values.dtype)]).astype(dtype)


@pytest.mark.parametrize("saturate", ["SAT", "NOSAT"])
@pytest.mark.parametrize("mode", ["R", "A", "Z"])
@pytest.mark.parametrize("target", ["f16", "bf16", "f8e4m3", "f8e5m2"])
def test_f32_to_narrow_float(target, mode, saturate):
    source = padded(interesting(target), 64, np.float32)
    got = apply(lambda v, m: pto.vmi.vcvt(v[0], getattr(pto, target), rounding=mode, saturate=saturate), [source],
                ["f32"],
                target, 64)
    got = got.view(np.uint16 if target in ("f16", "bf16") else np.uint8)
    for x, code in zip(source.tolist(), got.tolist()):
        expected = expected_code(x if math.isinf(x) or x == 0 else Fraction(x), target, mode, saturate == "SAT")
        if x == 0:
            expected = expected_code(x, target, mode, True)
        if expected is None:
            assert value_of(code, target) is None
        else:
            assert code == expected, (x, hex(code), hex(expected))


@pytest.mark.parametrize("target", ["f16", "bf16", "f8e4m3", "f8e5m2"])
def test_nan_stays_nan(target):
    source = np.full(64, np.nan, np.float32)
    for saturate in ("SAT", "NOSAT"):
        got = apply(lambda v, m: pto.vmi.vcvt(v[0], getattr(pto, target), rounding="R", saturate=saturate), [source],
                    ["f32"],
                    target, 64)
        got = got.view(np.uint16 if target in ("f16", "bf16") else np.uint8)
        assert all(value_of(int(c), target) is None for c in got)


@pytest.mark.parametrize("source", ["f16", "bf16"])
@pytest.mark.parametrize("target", ["f8e4m3", "f8e5m2"])
def test_half_to_fp8(source, target):
    codes = RANDOM.integers(0, 1 << 16, 512, dtype=np.uint16)
    array = codes.view(np.float16) if source == "f16" else codes
    got = apply(lambda v, m: pto.vmi.vcvt(v[0], getattr(pto, target), rounding="R", saturate="SAT"), [array], [source],
                target, 64)
    for code, z in zip(codes.tolist(), got.tolist()):
        value = value_of(code, source)
        expected = None if value is None else expected_code(float(value) if value == 0 and code >> 15 == 0 else
                                                            -0.0 if value == 0 else value, target, "R", True)
        assert value_of(z, target) is None if expected is None else z == expected, (hex(code), hex(z))


def test_bf16_to_f16():
    codes = RANDOM.integers(0, 1 << 16, 512, dtype=np.uint16)
    got = apply(lambda v, m: pto.vmi.vcvt(v[0], pto.f16, rounding="Z", saturate="SAT"), [codes], ["bf16"], "f16", 128)
    for code, z in zip(codes.tolist(), got.view(np.uint16).tolist()):
        value = value_of(code, "bf16")
        if value is None:
            assert value_of(z, "f16") is None
        elif value != 0:
            assert z == expected_code(value, "f16", "Z", True), hex(code)


@pytest.mark.parametrize("source", ["f16", "bf16", "f8e4m3", "f8e5m2"])
def test_widening_to_f32_is_exact_for_every_code(source):
    bits = 16 if source in ("f16", "bf16") else 8
    codes = np.arange(1 << bits).astype(np.uint16 if bits == 16 else np.uint8)
    got = []
    for start in range(0, len(codes), 2048):
        part = codes[start:start + 2048]
        array = part.view(np.float16) if source == "f16" else part
        got += apply(lambda v, m: pto.vmi.vcvt(v[0], pto.f32), [array], [source], "f32", 128).tolist()
    for code, z in zip(codes.tolist(), got):
        value = value_of(code, source)
        assert math.isnan(z) if value is None else Fraction(z) == value if isinstance(value, Fraction) else z == value


def rounded_integer(value, mode):
    value = Fraction(value)
    low = math.floor(value)
    rest = value - low
    if rest == 0:
        return low
    if mode == "Z":
        return low if value > 0 else low + 1
    if rest != Fraction(1, 2):
        return low + int(rest > Fraction(1, 2))
    if mode == "A":
        return low + 1 if value > 0 else low
    return low + (low & 1)


def integer_limits(name):
    bits = int(name.lstrip("siu"))
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if name.startswith("si") else (0, (1 << bits) - 1)


@pytest.mark.parametrize("mode", ["R", "A", "Z"])
@pytest.mark.parametrize("pair", [p for p, rule in CONVERSIONS.items() if p[0] in ("f16", "bf16",
    "f32") and p[1] in INTEGERS])
def test_float_to_integer(pair, mode):
    source, target = pair
    values = [0.0, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.25, -0.75, 100.5, -100.5, 127.5, 128.0, 200.0, 255.0, 255.5,
              256.0, -1.0,
              -128.0, -128.5, -129.0, 1e4, 4e4, -4e4, 1e9, 2.0 ** 31, -2.0 ** 31, 3e9, -3e9, 1e20, math.inf, -math.inf]
    array = padded(np.array(values, np.float32), 64, np.float32)
    if source == "f16":
        with np.errstate(over="ignore"):
            array = array.astype(np.float16)
        exact = array.astype(np.float64)
    elif source == "bf16":
        array = (array.view(np.uint32) >> 16).astype(np.uint16)
        exact = (array.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    else:
        exact = array.astype(np.float64)
    low, high = integer_limits(target)
    got = apply(lambda v, m: pto.vmi.vcvt(v[0], getattr(pto, target), rounding=mode, saturate="SAT"), [array], [source],
                target, 64)
    for x, z in zip(exact.tolist(), got.tolist()):
        expected = high if x == math.inf else low if x == -math.inf else min(max(rounded_integer(x, mode), low), high)
        assert z == expected, x


@pytest.mark.parametrize("pair", [p for p in CONVERSIONS if p[0] in INTEGERS and p[1] in INTEGERS])
def test_integer_to_integer(pair):
    source, target = pair
    low, high = integer_limits(source)
    values = [low, low + 1, high, high - 1, 0, 1] + RANDOM.integers(low, high, 250, endpoint=True,
        dtype=np.int64).tolist()
    array = np.array(values, np.int64).astype(NUMPY[source])
    widening = integer_limits(target)[1] > high and int(target.lstrip("siu")) > int(source.lstrip("siu"))
    to_low, to_high = integer_limits(target)
    bits = int(target.lstrip("siu"))
    for saturate in [None] if widening else ["NOSAT"] if pair == ("si32", "si8") else ["SAT", "NOSAT"]:
        got = apply(lambda v, m: pto.vmi.vcvt(v[0], getattr(pto, target), saturate=saturate), [array], [source],
                    target, 64)
        for x, z in zip(values, got.tolist()):
            if saturate == "SAT":
                assert z == min(max(x, to_low), to_high), x
            else:
                assert z & (1 << bits) - 1 == x & (1 << bits) - 1 and to_low <= z <= to_high, x


def test_si32_to_f32_rounds_to_nearest_even():
    array = np.array([0, 1, -1, 16777217, 16777219, -16777217, 2 ** 31 - 1, -2 ** 31, 123456789] + [7] * 55, np.int32)
    got = apply(lambda v, m: pto.vmi.vcvt(v[0], pto.f32), [array], ["si32"], "f32", 64)
    assert got[:9].tolist() == [0, 1, -1, 16777216, 16777220, -16777216, 2147483648.0, -2147483648.0, 123456792]


@pytest.mark.parametrize("name", ["e2m1", "e1m2"])
def test_fp4_unpacks_every_code_low_nibble_first(name):
    dtype = f"f4{name}x2"
    codes = np.arange(256).astype(np.uint8)
    got = apply(lambda v, m: pto.vmi.vinterpret_cast(pto.vmi.vcvt(v[0], pto.vmi.bf16x2), pto.bf16), [codes], [dtype],
                "bf16",
                64, out_lanes=128)
    values = (got.astype(np.uint32) << 16).view(np.float32)
    for code in range(256):
        assert values[2 * code] == value_of(code & 15, name) and values[2 * code + 1] == value_of(code >> 4, name)


@pytest.mark.parametrize("mode", ["R", "A", "F", "C", "Z"])
@pytest.mark.parametrize("name", ["e2m1", "e1m2"])
def test_fp4_packs(name, mode):
    dtype = f"f4{name}x2"
    source = interesting(name)
    codes = padded((source[np.isfinite(source)].view(np.uint32) >> 16).astype(np.uint16), 128, np.uint16)

    def compute(v, m):
        return pto.vmi.vcvt(pto.vmi.vinterpret_cast(v[0], pto.vmi.bf16x2), getattr(pto, dtype), rounding=mode)

    got = apply(compute, [codes], ["bf16"], dtype, 128, out_lanes=64)
    nibbles = np.stack([got & 15, got >> 4], axis=1).reshape(-1)
    for code, z in zip(codes.tolist(), nibbles.tolist()):
        value = value_of(code, "bf16")
        if value != 0:
            assert z == expected_code(value, name, mode, True), (float(value), z)


def test_known_fp8_codes():
    """Values from the OCP 8-bit floating point specification: largest, smallest normal, smallest subnormal."""
    codes = np.array([0x7E, 0x08, 0x01, 0xFE] + [0] * 60, np.uint8)
    got = apply(lambda v, m: pto.vmi.vcvt(v[0], pto.f32), [codes], ["f8e4m3"], "f32", 64)
    assert got[:4].tolist() == [448.0, 2.0 ** -6, 2.0 ** -9, -448.0]
    codes = np.array([0x7B, 0x04, 0x01, 0x7C] + [0] * 60, np.uint8)
    got = apply(lambda v, m: pto.vmi.vcvt(v[0], pto.f32), [codes], ["f8e5m2"], "f32", 64)
    assert got[:4].tolist() == [57344.0, 2.0 ** -14, 2.0 ** -16, math.inf]


def test_interpret_cast_keeps_bits_and_memory_order():
    words = RANDOM.integers(0, 1 << 32, 64, dtype=np.uint32)
    got = apply(lambda v, m: pto.vmi.vinterpret_cast(v[0], pto.ui16), [words], ["ui32"], "ui16", 64, out_lanes=128)
    assert got.tolist() == words.view(np.uint16).tolist()
    got = apply(lambda v, m: pto.vmi.vinterpret_cast(v[0], pto.f32), [words], ["ui32"], "f32", 64)
    assert got.view(np.uint32).tolist() == words.tolist()


NAMES = list(INTEGERS) + ["f16", "bf16", "f32", "f8e4m3", "f8e5m2", "f4e2m1x2", "f4e1m2x2"]

# Table 12.1, typed again from the page.
TABLE = """
i8 ui8 > i16 ui16 i32 ui32
si8 > si16 si32
i16 ui16 > i32 ui32 i8 ui8
si16 > si32 i8 ui8
i32 ui32 > i16 si16 ui16 i8 ui8
si32 > f32 i16 si16 ui16 i8 ui8 si8
f16 > f32 si16 si8 i8 ui8 f8e4m3 f8e5m2
bf16 > f32 si32 f16 f8e4m3 f8e5m2
f32 > si32 si16 f16 bf16 f8e4m3 f8e5m2
f8e4m3 f8e5m2 > f32
"""


def test_exactly_the_documented_pairs_exist():
    allowed = set()
    for row in TABLE.strip().splitlines():
        sources, targets = (side.split() for side in row.split(">"))
        allowed |= {(s, t) for s in sources for t in targets}
    for source in NAMES:
        for target in NAMES:
            if (source, target) in allowed:
                assert (source, target) in CONVERSIONS
                continue
            zeros = np.zeros(256, NUMPY[source])
            fails(apply, lambda v, m: pto.vmi.vcvt(v[0], getattr(pto, target)), [zeros], [source], target, 256,
                  kind="verify",
                  text="not among the conversions")
