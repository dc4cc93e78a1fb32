"""Arithmetic, comparison, selection (parts 10, 11) against Python integers and correctly rounded fractions."""

import math
import struct
from fractions import Fraction

import numpy as np
import pytest

from ptodsl import pto
from support import FLOATS, INTEGERS, NUMPY, apply, fails

RANDOM = np.random.default_rng(3)


def bits_of(name):
    return int(name.lstrip("siuf"))


def is_signed(name):
    return name.startswith("si")


def integer_samples(name, count):
    """Corner values in all pairs, then random ones."""
    bits = bits_of(name)
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed(name) else (0, (1 << bits) - 1)
    corners = [low, low + 1, high, high - 1, 0, 1, 2, high // 2, high // 3]
    pairs = [(a, b) for a in corners for b in corners]
    a = [p[0] for p in pairs] + [int(v) for v in RANDOM.integers(low, high, count, endpoint=True, dtype=np.int64)]
    b = [p[1] for p in pairs] + [int(v) for v in RANDOM.integers(low, high, count, endpoint=True, dtype=np.int64)]
    return a[:count], b[:count]


def wrap(value, name):
    bits = bits_of(name)
    value &= (1 << bits) - 1
    return value - (1 << bits) if is_signed(name) and value >> bits - 1 else value


INTEGER_OPERATIONS = {
    "vadd": lambda a, b: a + b, "vsub": lambda a, b: a - b, "vmul": lambda a, b: a * b, "vmax": max, "vmin": min,
    "vand": lambda a, b: a & b, "vor": lambda a, b: a | b, "vxor": lambda a, b: a ^ b,
}


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", INTEGER_OPERATIONS)
def test_integer_binary(name, dtype):
    if name == "vmul" and bits_of(dtype) == 8:
        fails(apply, lambda v, m: pto.vmi.vmul(v[0], v[1], m), [np.zeros(256, NUMPY[dtype])] * 2, [dtype] * 2, dtype,
              256,
              kind="trace", text="VMI element type")
        return
    a, b = integer_samples(dtype, 256)
    got = apply(lambda v, m: getattr(pto.vmi, name)(v[0], v[1], m), [np.array(a, NUMPY[dtype]), np.array(b,
        NUMPY[dtype])],
                [dtype] * 2, dtype, 256)
    assert got.tolist() == [wrap(INTEGER_OPERATIONS[name](x, y), dtype) for x, y in zip(a, b)]


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", ["vshl", "vshr"])
def test_shifts(name, dtype):
    bits = bits_of(dtype)
    a, _ = integer_samples(dtype, 256)
    counts = [k % bits for k in range(256)]
    # Right shift: arithmetic for signed, logical for unsigned and signless. Python's >> on the value does both.
    expected = [wrap(x << c if name == "vshl" else x >> c, dtype) for x, c in zip(a, counts)]
    arrays = [np.array(a, NUMPY[dtype]), np.array(counts, NUMPY[dtype])]
    assert apply(lambda v, m: getattr(pto.vmi, name)(v[0], v[1], m), arrays, [dtype] * 2, dtype,
                 256).tolist() == expected
    by_three = apply(lambda v, m: getattr(pto.vmi, name)(v[0], 3, m), arrays[:1], [dtype], dtype, 256)
    assert by_three.tolist() == [wrap(x << 3 if name == "vshl" else x >> 3, dtype) for x in a]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_unary(dtype):
    a, _ = integer_samples(dtype, 256)
    array = [np.array(a, NUMPY[dtype])]
    assert apply(lambda v, m: pto.vmi.vnot(v[0]), array, [dtype], dtype, 256).tolist() == [wrap(~x, dtype) for x in a]
    assert apply(lambda v, m: pto.vmi.vneg(v[0]), array, [dtype], dtype, 256).tolist() == [wrap(-x, dtype) for x in a]
    if is_signed(dtype):
        assert apply(lambda v, m: pto.vmi.vabs(v[0], m), array, [dtype], dtype, 256).tolist() == \
            [wrap(abs(x), dtype) for x in a]
    if dtype == "si32":
        assert apply(lambda v, m: pto.vmi.vrelu(v[0]), array, [dtype], dtype, 256).tolist() == [max(x, 0) for x in a]


# Floats: a value is decoded by hand and results are rounded from exact fractions.

def decode(bits, dtype):
    exponent_bits, mantissa_bits = {"f32": (8, 23), "f16": (5, 10), "bf16": (8, 7)}[dtype]
    bias = (1 << exponent_bits - 1) - 1
    sign = -1 if bits >> exponent_bits + mantissa_bits else 1
    exponent = bits >> mantissa_bits & (1 << exponent_bits) - 1
    mantissa = bits & (1 << mantissa_bits) - 1
    if exponent == (1 << exponent_bits) - 1:
        return math.nan if mantissa else sign * math.inf
    if exponent == 0:
        return sign * Fraction(mantissa, 1) * Fraction(2) ** (1 - bias - mantissa_bits)
    return sign * (1 + Fraction(mantissa, 1 << mantissa_bits)) * Fraction(2) ** (exponent - bias)


def round_to(value, dtype, negative_zero=False):
    """Bits of the nearest value, ties to even, overflow to infinity."""
    exponent_bits, mantissa_bits = {"f32": (8, 23), "f16": (5, 10), "bf16": (8, 7)}[dtype]
    bias = (1 << exponent_bits - 1) - 1
    sign = 1 if value < 0 or value == 0 and negative_zero else 0
    value = abs(Fraction(value))
    if value == 0:
        return sign << exponent_bits + mantissa_bits
    exponent = max(math.floor(math.log2(value)) if value > Fraction(2) ** -140 else -150, 1 - bias)
    while value >= Fraction(2) ** (exponent + 1):
        exponent += 1
    while exponent > 1 - bias and value < Fraction(2) ** exponent:
        exponent -= 1
    steps = value / Fraction(2) ** (exponent - mantissa_bits)
    whole = steps.numerator // steps.denominator
    rest = steps - whole
    if rest > Fraction(1, 2) or rest == Fraction(1, 2) and whole & 1:
        whole += 1
    code = whole if exponent == 1 - bias and whole < 1 << mantissa_bits else \
        (exponent + bias - 1 << mantissa_bits) + whole
    code = min(code, (1 << exponent_bits) - 1 << mantissa_bits)
    return sign << exponent_bits + mantissa_bits | code


def float_bits(dtype, count):
    width = 32 if dtype == "f32" else 16
    unsigned = np.uint32 if width == 32 else np.uint16
    bits = RANDOM.integers(0, (1 << width) - 1, count, endpoint=True, dtype=np.int64)
    # Half of the samples have exponents near 1, so that sums and products do not all overflow.
    middle = {"f32": 120 << 23, "f16": 12 << 10, "bf16": 120 << 7}[dtype]
    spread = {"f32": 15 << 23, "f16": 6 << 10, "bf16": 15 << 7}[dtype]
    near = middle + RANDOM.integers(0, spread, count) + (RANDOM.integers(0, 2, count) << width - 1)
    return np.where(RANDOM.integers(0, 2, count) == 1, bits, near).astype(unsigned)


def as_type(bits, dtype):
    return bits if dtype == "bf16" else bits.view(NUMPY[dtype])


def same_float(got, expected, dtype):
    """Equal bits, or both NaN."""
    nan = math.isnan(decode(int(got), dtype)) if not isinstance(decode(int(got), dtype), Fraction) else False
    return nan if expected is None else int(got) == expected


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["vadd", "vsub", "vmul", "vdiv"])
def test_float_binary_is_correctly_rounded(name, dtype):
    if name == "vdiv" and dtype == "bf16":
        return
    a, b = float_bits(dtype, 512), float_bits(dtype, 512)
    got = apply(lambda v, m: getattr(pto.vmi, name)(v[0], v[1], m), [as_type(a, dtype), as_type(b, dtype)], [dtype] * 2,
                dtype, 128)
    got = got.view(a.dtype)
    checked = 0
    for x, y, z in zip(a.tolist(), b.tolist(), got.tolist()):
        left, right = decode(x, dtype), decode(y, dtype)
        if not isinstance(left, Fraction) or not isinstance(right, Fraction) or name == "vdiv" and right == 0:
            continue
        exact = {"vadd": lambda: left + right, "vsub": lambda: left - right, "vmul": lambda: left * right,
                 "vdiv": lambda: left / right}[name]()
        if exact == 0:
            continue
        assert z == round_to(exact, dtype), (name, dtype, hex(x), hex(y), hex(z))
        checked += 1
    assert checked > 200


@pytest.mark.parametrize("dtype", FLOATS)
def test_float_specials(dtype):
    def bits(value):
        if value == "nan":
            return {"f32": 0x7FC00000, "f16": 0x7E00, "bf16": 0x7FC0}[dtype]
        if math.isinf(value):
            return {"f32": 0x7F800000, "f16": 0x7C00,
                "bf16": 0x7F80}[dtype] | (0 if value > 0 else 1 << (31 if dtype == "f32" else 15))
        return round_to(Fraction(value), dtype, math.copysign(1, value) < 0)

    unsigned = np.uint32 if dtype == "f32" else np.uint16
    values = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf]
    pairs = [(a, b) for a in values for b in values]
    a = np.array([bits(p[0]) for p in pairs] + [0] * (128 - len(pairs)), unsigned)
    b = np.array([bits(p[1]) for p in pairs] + [0] * (128 - len(pairs)), unsigned)
    total = apply(lambda v, m: pto.vmi.vadd(v[0], v[1], m), [as_type(a, dtype), as_type(b, dtype)], [dtype] * 2, dtype,
                  128)
    product = apply(lambda v, m: pto.vmi.vmul(v[0], v[1], m), [as_type(a, dtype), as_type(b, dtype)], [dtype] * 2,
                    dtype,
                    128)
    for (x, y), s, p in zip(pairs, total.view(unsigned), product.view(unsigned)):
        expected = x + y
        assert same_float(s, None if math.isnan(expected) else bits(expected), dtype), (x, y)
        expected = x * y
        assert same_float(p, None if math.isnan(expected) else bits(expected), dtype), (x, y)


@pytest.mark.parametrize("dtype", FLOATS)
def test_float_unary(dtype):
    a = float_bits(dtype, 256)
    top = 31 if dtype == "f32" else 15
    got = apply(lambda v, m: pto.vmi.vabs(v[0]), [as_type(a, dtype)], [dtype], dtype, 128).view(a.dtype)
    for x, z in zip(a.tolist(), got.tolist()):
        if isinstance(decode(x, dtype), Fraction):
            assert z == x & ~(1 << top)
    if dtype == "bf16":
        return
    got = apply(lambda v, m: pto.vmi.vneg(v[0]), [as_type(a, dtype)], [dtype], dtype, 128).view(a.dtype)
    for x, z in zip(a.tolist(), got.tolist()):
        if isinstance(decode(x, dtype), Fraction):
            assert z == x ^ 1 << top
    got = apply(lambda v, m: pto.vmi.vsqrt(v[0]), [as_type(a, dtype)], [dtype], dtype, 128).view(a.dtype)
    for x, z in zip(a.tolist(), got.tolist()):
        value = decode(x, dtype)
        if isinstance(value, Fraction) and value > 0:
            # Correctly rounded: the midpoints to both neighbours enclose the root, compared as squares.
            below, root, above = (decode(c, dtype) for c in (z - 1, z, z + 1))
            assert ((below + root) / 2) ** 2 <= value <= ((root + above) / 2) ** 2


@pytest.mark.parametrize("dtype", ["f16", "f32"])
def test_exp_and_log_within_one_ulp(dtype):
    a = RANDOM.uniform(-8, 8, 256).astype(NUMPY[dtype])
    got = apply(lambda v, m: pto.vmi.vexp(v[0]), [a], [dtype], dtype, 128)
    for x, z in zip(a.tolist(), got):
        assert abs(float(z) - math.exp(x)) <= 0.51 * float(np.spacing(NUMPY[dtype](math.exp(x))))
    positive = np.abs(a) + NUMPY[dtype](0.01)
    got = apply(lambda v, m: pto.vmi.vln(v[0]), [positive], [dtype], dtype, 128)
    for x, z in zip(positive.tolist(), got):
        assert abs(float(z) - math.log(x)) <= 0.51 * float(np.spacing(np.abs(NUMPY[dtype](math.log(x)))))


@pytest.mark.parametrize("dtype", INTEGERS + FLOATS)
def test_scalar_forms(dtype):
    lanes = 256
    small = np.array([k % 100 for k in range(lanes)])
    array = np.array([round_to(Fraction(int(v)), dtype) for v in small], np.uint16) if dtype == "bf16" else \
        small.astype(NUMPY[dtype])

    def number(x):
        return round_to(Fraction(x), "bf16") if dtype == "bf16" else x

    plus = apply(lambda v, m: pto.vmi.vadd(v[0], 7, m), [array], [dtype], dtype, lanes)
    assert plus.tolist() == [number(int(v) + 7) for v in small]
    reverse = apply(lambda v, m: pto.vmi.vadd(7, v[0], m), [array], [dtype], dtype, lanes)
    assert reverse.tolist() == plus.tolist()
    if bits_of(dtype.replace("b", "")) > 8 and dtype != "bf16":
        assert apply(lambda v, m: pto.vmi.vmul(v[0], 3, m), [array], [dtype], dtype, lanes).tolist() == \
            [number(3 * int(v)) for v in small]
    if not dtype.startswith("i"):
        assert apply(lambda v, m: pto.vmi.vmax(v[0], 50, m), [array], [dtype], dtype, lanes).tolist() == \
            [number(max(50, int(v))) for v in small]
        assert apply(lambda v, m: pto.vmi.vmin(v[0], 50, m), [array], [dtype], dtype, lanes).tolist() == \
            [number(min(50, int(v))) for v in small]


PREDICATES = {"eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
              "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b}


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("predicate", PREDICATES)
def test_integer_compare_and_select(predicate, dtype):
    a, b = integer_samples(dtype, 256)
    a[::5] = b[::5]
    arrays = [np.array(a, NUMPY[dtype]), np.array(b, NUMPY[dtype])]
    got = apply(lambda v, m: pto.vmi.vsel(pto.vmi.vcmp(v[0], v[1], m, predicate), v[0], v[1]), arrays, [dtype] * 2,
                dtype,
                256)
    assert got.tolist() == [x if PREDICATES[predicate](x, y) else y for x, y in zip(a, b)]


@pytest.mark.parametrize("predicate", list(PREDICATES) + ["o" + p for p in PREDICATES])
def test_float_compare_is_ordered(predicate):
    values = [0.0, -0.0, 1.0, -2.0, math.inf, -math.inf, math.nan]
    pairs = [(a, b) for a in values for b in values]
    a = np.array([p[0] for p in pairs] + [0.0] * (64 - len(pairs)), np.float32)
    b = np.array([p[1] for p in pairs] + [0.0] * (64 - len(pairs)), np.float32)

    def compute(v, m):
        one, zero = (pto.vmi.vbrc(pto.f32(x), size=64) for x in (1.0, 0.0))
        return pto.vmi.vsel(pto.vmi.vcmp(v[0], v[1], m, predicate), one, zero)

    got = apply(compute, [a, b], ["f32"] * 2, "f32", 64)
    for (x, y), z in zip(pairs, got):
        ordered = not math.isnan(x) and not math.isnan(y)
        assert z == float(ordered and PREDICATES[predicate.lstrip("o") if predicate[0] == "o" else predicate](x, y)), (x, y)


def test_compare_with_scalar_uses_the_signedness_of_the_type():
    array = np.array([-1, 0, 1, 5] * 16, np.int32)

    def is_less(v, m):
        return pto.vmi.vsel(pto.vmi.vcmps(v[0], 1, m, "lt"), v[0], pto.vmi.vsub(v[0], v[0]))

    assert apply(is_less, [array], ["si32"], "si32", 64).tolist() == [-1, 0, 0, 0] * 16
    assert apply(is_less, [array.view(np.uint32)], ["ui32"], "ui32", 64).tolist() == [0, 0, 0, 0] * 16
    # Signless counts as unsigned in vectors: 0xFFFFFFFF is large.
    assert apply(is_less, [array.view(np.uint32)], ["i32"], "i32", 64).tolist() == [0, 0, 0, 0] * 16


def test_seed_mask_is_anded_into_the_compare():
    array = np.arange(64, dtype=np.float32)

    def compute(v, m):
        seed = pto.vmi.create_mask(10, size=64)
        c = pto.vmi.vcmps(v[0], pto.f32(4.0), seed, "ge")
        return pto.vmi.vsel(c, v[0], pto.vmi.vbrc(pto.f32(-1.0), size=64))

    assert apply(compute, [array], ["f32"], "f32",
                 64).tolist() == [float(i) if 4 <= i < 10 else -1.0 for i in range(64)]


def test_vselr_permutes():
    array = np.arange(64, dtype=np.float32)
    index = RANDOM.integers(0, 64, 64, dtype=np.uint32)
    got = apply(lambda v, m: pto.vmi.vselr(v[0], v[1]), [array, index], ["f32", "ui32"], "f32", 64)
    assert got.tolist() == [float(k) for k in index]


def test_masks_are_ignored_by_arithmetic():
    """Part 8.1: inactive lanes hold whatever the operation gives."""
    array = np.arange(64, dtype=np.float32)
    got = apply(lambda v, m: pto.vmi.vadd(v[0], v[0], pto.vmi.create_mask(3, size=64)), [array], ["f32"], "f32", 64)
    assert got.tolist() == (2 * array).tolist()


def test_fraction_rounding_helper_against_struct():
    for value in (0.1, 1 / 3, 1e-40, 3.4e38, 65504.0, 5.96e-8):
        assert round_to(Fraction(value), "f32") == struct.unpack("<I", struct.pack("<f", value))[0]
