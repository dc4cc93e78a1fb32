"""Reductions and special operations (parts 14, 16) against Python sums and exact integers."""

import math
from fractions import Fraction

import numpy as np
import pytest

from ptodsl import pto
from ptosim.jit import DEFAULT_OPTIONS
from support import INTEGERS, NUMPY, apply

RANDOM = np.random.default_rng(11)


def limits(dtype):
    info = np.iinfo(NUMPY[dtype])
    return int(info.min), int(info.max)


@pytest.mark.parametrize("groups", [1, 2, 4, 8])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_reductions(dtype, groups):
    low, high = limits(dtype)
    array = RANDOM.integers(low, high, 256, endpoint=True, dtype=np.int64).astype(NUMPY[dtype])
    bits = array.itemsize * 8
    row = 256 // groups
    active = [i < 200 for i in range(256)]

    def reduce_with(name):
        def compute(v, m):
            mask = pto.vmi.create_mask(200, size=256)
            named = {"reassoc": True} if name == "vcadd" else {}
            return getattr(pto.vmi, name)(v[0], mask, group=groups, **named)
        return compute

    total = apply(reduce_with("vcadd"), [array], [dtype], dtype, 256, out_lanes=groups).tolist()
    for g in range(groups):
        members = [int(array[i]) for i in range(g * row, (g + 1) * row) if active[i]]
        assert total[g] & (1 << bits) - 1 == sum(members) & (1 << bits) - 1
    if groups == 8:
        return      # the last group has no active lane: max and min are undefined there
    for name, function in (("vcmax", max), ("vcmin", min)):
        got = apply(reduce_with(name), [array], [dtype], dtype, 256, out_lanes=groups).tolist()
        for g in range(groups):
            assert got[g] == function(int(array[i]) for i in range(g * row, (g + 1) * row) if active[i])


@pytest.mark.parametrize("lanes", [64, 128, 256])
@pytest.mark.parametrize("active", [1, 17, 64])
def test_float_sum_is_close_and_masked(lanes, active):
    array = RANDOM.standard_normal(lanes).astype(np.float32)
    got = apply(lambda v, m: pto.vmi.vcadd(v[0], pto.vmi.create_mask(active, size=lanes), reassoc=True), [array],
                ["f32"],
                "f32", lanes, out_lanes=1)
    exact = sum(Fraction(float(x)) for x in array[:active])
    bound = active * 2.0 ** -24 * float(np.abs(array[:active]).sum())
    assert abs(float(got[0]) - float(exact)) <= bound


def test_half_sum_has_the_width_of_the_element():
    got = apply(lambda v, m: pto.vmi.vcadd(v[0], m, reassoc=True), [np.full(128, 1000, np.float16)], ["f16"], "f16",
                128,
                out_lanes=1)
    assert math.isinf(got[0])


def test_float_max_and_min():
    array = RANDOM.standard_normal(64).astype(np.float32)
    for name, function in (("vcmax", max), ("vcmin", min)):
        got = apply(lambda v, m: getattr(pto.vmi, name)(v[0], pto.vmi.create_mask(30, size=64)), [array], ["f32"],
                    "f32", 64,
                    out_lanes=1)
        assert got[0] == function(array[:30].tolist())


def test_one_lane_result_broadcasts():
    array = np.arange(64, dtype=np.float32)
    got = apply(lambda v, m: pto.vmi.vbrc(pto.vmi.vcmax(v[0], m), size=64), [array], ["f32"], "f32", 64)
    assert got.tolist() == [63.0] * 64


@pytest.mark.parametrize("fused", [True, False])
def test_multiply_add(fused, monkeypatch):
    """a·b = 1 + 2^-11 + 2^-24 needs 25 bits: rounded to f32 first, the last bit is gone before it meets the accumulator."""
    monkeypatch.setattr(DEFAULT_OPTIONS, "fused", fused)
    a = np.full(64, 1 + 2.0 ** -12, np.float32)
    acc = np.full(64, -1.0, np.float32)
    expected = 2.0 ** -11 + 2.0 ** -24 if fused else 2.0 ** -11
    got = apply(lambda v, m: pto.vmi.vmula(v[1], v[0], v[0], m), [a, acc], ["f32"] * 2, "f32", 64)
    assert got[0] == expected
    got = apply(lambda v, m: pto.vmi.vaxpy(v[0], v[1], pto.f32(1 + 2.0 ** -12), m), [a, acc], ["f32"] * 2, "f32", 64)
    assert got[0] == expected


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
def test_fused_multiply_add_is_correctly_rounded(dtype):
    """Products that nearly cancel against the accumulator: the result is the nearest value of the type."""
    bits = {"f32": 24, "f16": 11, "bf16": 8}[dtype]

    def value(code):
        if dtype == "bf16":
            return float(np.uint32(int(code) << 16).view(np.float32))
        return float(np.array(code).view(NUMPY[dtype]))

    def encode(x):
        if dtype == "bf16":
            return (np.asarray(x, np.float32).view(np.uint32) >> 16).astype(np.uint16)
        return np.asarray(x).astype(NUMPY[dtype])

    a, b = (encode(RANDOM.uniform(0.5, 2, 512)) for _ in range(2))
    floats = [np.array([value(v) for v in x]) for x in (a, b)]
    c = encode(-floats[0] * floats[1] * (1 + RANDOM.integers(-4, 4, 512) * 2.0 ** -bits))
    got = apply(lambda v, m: pto.vmi.vmula(v[2], v[0], v[1], m), [a, b, c], [dtype] * 3, dtype, 128)
    for x, y, z, w in zip(a, b, c, got):
        exact = Fraction(value(x)) * Fraction(value(y)) + Fraction(value(z))
        error = abs(Fraction(value(w)) - exact)
        code = int(np.array(w).view(np.uint32 if dtype == "f32" else np.uint16))
        for neighbour in (code - 1, code + 1) if value(w) != 0 else ():
            other = value(neighbour) if dtype == "bf16" else float(
                np.array(neighbour, np.uint32 if dtype == "f32" else np.uint16).view(NUMPY[dtype]))
            assert error <= abs(Fraction(other) - exact)


def test_leaky_and_parametric_relu():
    x = np.array([-2.0, -0.5, 0.0, 3.0] * 16, np.float32)
    slope = np.full(64, 0.25, np.float32)
    expected = [-0.5, -0.125, 0.0, 3.0] * 16
    assert apply(lambda v, m: pto.vmi.vlrelu(v[0], 0.25, m), [x], ["f32"], "f32", 64).tolist() == expected
    assert apply(lambda v, m: pto.vmi.vprelu(v[0], v[1], m), [x, slope], ["f32"] * 2, "f32", 64).tolist() == expected


@pytest.mark.parametrize("dtype", ["f32", "f16"])
def test_exponential_of_difference(dtype):
    x = RANDOM.uniform(-3, 3, 128).astype(NUMPY[dtype])
    top = np.full(128, 3, NUMPY[dtype])
    got = apply(lambda v, m: pto.vmi.vexpdif(v[0], v[1], m), [x, top], [dtype] * 2, "f32", 128)
    for a, z in zip(x.tolist(), got.tolist()):
        assert abs(z - math.exp(a - 3)) <= 1e-7 * math.exp(a - 3)


@pytest.mark.parametrize("dtype", ["i32", "ui32"])
def test_wide_multiply(dtype):
    a, b = (RANDOM.integers(0, 1 << 32, 64, dtype=np.uint32) for _ in range(2))
    low, high = apply(lambda v, m: pto.vmi.vmull(v[0], v[1], m), [a, b], [dtype] * 2, [dtype] * 2, 64)
    assert [int(h) << 32 | int(w) for w, h in zip(low, high)] == [int(x) * int(y) for x, y in zip(a, b)]


def test_add_with_carry():
    words = [RANDOM.integers(0, 1 << 32, 64, dtype=np.uint32) for _ in range(4)]
    words[0][:8] = 0xFFFFFFFF

    def compute(v, m):
        low, carry = pto.vmi.vaddc(v[0], v[1], m)
        high, over = pto.vmi.vaddcs(v[2], v[3], carry, m)
        one, zero = (pto.vmi.vbrc(pto.ui32(x), size=64) for x in (1, 0))
        return low, high, pto.vmi.vsel(over, one, zero)

    low, high, over = apply(compute, words, ["ui32"] * 4, ["ui32"] * 3, 64)
    for i in range(64):
        a = int(words[2][i]) << 32 | int(words[0][i])
        b = int(words[3][i]) << 32 | int(words[1][i])
        assert int(over[i]) << 64 | int(high[i]) << 32 | int(low[i]) == a + b


def test_histograms():
    source = RANDOM.integers(0, 256, 256, dtype=np.uint8)
    start = RANDOM.integers(0, 100, 256, dtype=np.uint16)

    def compute(v, m):
        mask = pto.vmi.create_mask(100, size=256)
        return pto.vmi.vdhist(v[1], v[0], mask), pto.vmi.vchist(v[1], v[0], mask)

    plain, cumulative = apply(compute, [source, start], ["ui8", "ui16"], ["ui16"] * 2, 256)
    for k in range(256):
        assert plain[k] == start[k] + sum(1 for x in source[:100] if x == k)
        assert cumulative[k] == start[k] + sum(1 for x in source[:100] if x <= k)
