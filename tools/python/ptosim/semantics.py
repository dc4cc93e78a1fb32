"""What vector operations compute (parts 8 and 10 to 16), as functions on numpy arrays of lanes.

A *lane-wise* operation is a function of arrays alone; poison of a result lane is the poison of the operand lanes. The
others take and return (array, poison) pairs, because some lanes are dropped, moved or unspecified.
"""

import numpy as np

from .errors import ValueRangeError
from .floats import (BF16, E1M2, E2M1, E4M3, E5M2, F16, bf16_to_f32, bf16x2_to_fp4, encode, f32_to_bf16_nearest,
                     fp4_to_bf16x2, round_integral)
from .types import int_range

_F8 = {"f8e4m3": E4M3, "f8e5m2": E5M2}
_F4 = {"f4e2m1x2": E2M1, "f4e1m2x2": E1M2}


# Masks

def _make_prefixes():
    table = {}
    for lanes in (1, 2, 4, 8, 64, 128, 256):
        rows = np.arange(lanes)[None, :] < np.arange(lanes + 1)[:, None]
        rows.setflags(write=False)
        table[lanes] = list(rows)
    return table


PREFIX = _make_prefixes()


def make_create_mask(lanes, groups):
    if groups == 1:
        table = PREFIX[lanes]
        return lambda n: table[0 if n < 0 else lanes if n > lanes else n]
    row = lanes // groups
    table = [np.tile(np.arange(row) < n, groups) for n in range(row + 1)]
    return lambda n: table[0 if n < 0 else row if n > row else n]


# Lane-wise arithmetic

def _exp(x):
    return np.exp(x.astype(np.float64)).astype(x.dtype)


def _log(x):
    return np.log(x.astype(np.float64)).astype(x.dtype)


def _wide_multiply_add(acc, a, b):
    """acc + a·b in float64, rounded to odd: the product is exact, and rounding the sum once more to 24 bits or fewer
    gives the correctly rounded result."""
    product = a.astype(np.float64) * b.astype(np.float64)
    c = acc.astype(np.float64)
    total = product + c
    back = total - product
    error = (product - (total - back)) + (c - back)
    bits = total.view(np.int64)
    nudge = np.isfinite(total) & (error != 0) & (bits & 1 == 0)
    return np.where(nudge, np.nextafter(total, np.copysign(np.inf, error)), total)


def _fused(acc, a, b):
    return _wide_multiply_add(acc, a, b).astype(acc.dtype)


def _fused_bf16(acc, a, b):
    wide = _wide_multiply_add(*(bf16_to_f32(x) for x in (acc, a, b)))
    return encode(wide, BF16, "R", False).astype(np.uint16)


def _separate(acc, a, b):
    return acc + a * b


_UFUNCS = {
    "vadd": np.add, "vsub": np.subtract, "vmul": np.multiply, "vdiv": np.divide, "vmax": np.maximum, "vmin": np.minimum,
    "vand": np.bitwise_and, "vor": np.bitwise_or, "vxor": np.bitwise_xor,
    "vnot": np.invert, "vabs": np.abs, "vneg": np.negative, "vexp": _exp, "vln": _log, "vsqrt": np.sqrt,
    "vrelu": lambda x: np.maximum(x, x.dtype.type(0)),
    "vlrelu": lambda x, s: np.where(x < 0, s * x, x), "vprelu": lambda x, a: np.where(x < 0, a * x, x),
}


def lanewise(name, dtype, fused):
    """The function of one lane-wise operation on elements of this type."""
    if name in ("vmula", "vaxpy"):
        function = _separate
        if fused:
            function = _fused_bf16 if dtype.name == "bf16" else _fused
        if name == "vaxpy":
            multiply_add = function
            function = lambda x, acc, s: multiply_add(acc, s, x)    # noqa: E731
        if fused:
            return function
    else:
        function = _UFUNCS[name]
    if dtype.name != "bf16":
        return function
    if name == "vabs":
        return lambda a: a & np.uint16(0x7FFF)
    return lambda *operands: f32_to_bf16_nearest(function(*(bf16_to_f32(x) for x in operands)))


def splat(dtype, lanes):
    """Array of a scalar, as scalars are kept by generated code."""
    if dtype.name == "bf16":
        return lambda s: np.full(lanes, int(f32_to_bf16_nearest(np.array([s], np.float32))[0]), np.uint16)
    if dtype.is_int:
        low = (1 << dtype.bits) - 1
        unsigned = dtype.kind != "signed"
        return lambda s: np.full(lanes, s & low if unsigned else s, dtype.numpy)
    return lambda s: np.full(lanes, s, dtype.numpy)


# Shifts: a count outside [0, bits) gives an unspecified lane

def make_shift(name, dtype, line):
    function = np.left_shift if name.startswith("vshl") else np.right_shift
    bits = dtype.bits

    def shift(a, a_poison, counts, count_poison):
        poison = merge(a_poison, count_poison)
        wrong = (counts < 0) | (counts >= bits)
        if wrong.any():
            poison = np.where(wrong, line, 0 if poison is None else poison).astype(np.int32)
            counts = np.where(wrong, 0, counts).astype(counts.dtype)
        return function(a, counts), poison
    return shift


def make_scalar_shift(name, dtype, line):
    function = np.left_shift if name.startswith("vshl") else np.right_shift

    def shift(a, count):
        if not 0 <= count < dtype.bits:
            raise ValueRangeError(f"{name[:-1]}: shift count {count} is outside [0, {dtype.bits})", line)
        return function(a, a.dtype.type(count))
    return shift


def merge(first, second):
    if first is None:
        return second
    if second is None:
        return first
    return np.maximum(first, second)


# Compare, select, permute

def _not_equal_ordered(a, b):
    return (a < b) | (a > b)


_COMPARE = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
            "ge": np.greater_equal}


def make_compare(predicate, dtype):
    """All float predicates are ordered, `ne` too: a NaN gives false."""
    function = _not_equal_ordered if predicate == "ne" and dtype.is_float else _COMPARE[predicate]
    if dtype.name == "bf16":
        return lambda a, b: function(bf16_to_f32(a), bf16_to_f32(b))
    return function


def select(mask, mask_poison, yes, yes_poison, no, no_poison):
    data = np.where(mask, yes, no)
    if mask_poison is None and yes_poison is None and no_poison is None:
        return data, None
    poison = np.where(mask, 0 if yes_poison is None else yes_poison, 0 if no_poison is None else no_poison)
    poison = merge(poison.astype(np.int32), mask_poison)
    return data, poison if poison.any() else None


def make_vselr(lanes, line):
    def permute(v, v_poison, index, index_poison):
        wide = index.astype(np.int64)
        wrong = (wide < 0) | (wide >= lanes)
        safe = np.where(wrong, 0, wide)
        poison = merge(None if v_poison is None else v_poison[safe], index_poison)
        if wrong.any():
            poison = np.where(wrong, line, 0 if poison is None else poison).astype(np.int32)
        return v[safe], poison
    return permute


def interleave(a, a_poison, b, b_poison):
    lanes = len(a)
    data = np.empty(2 * lanes, a.dtype)
    data[::2], data[1::2] = a, b
    if a_poison is None and b_poison is None:
        return data[:lanes], None, data[lanes:], None
    poison = np.zeros(2 * lanes, np.int32)
    poison[::2] = 0 if a_poison is None else a_poison
    poison[1::2] = 0 if b_poison is None else b_poison
    return data[:lanes], poison[:lanes], data[lanes:], poison[lanes:]


def deinterleave(a, a_poison, b, b_poison):
    data = np.concatenate((a, b))
    if a_poison is None and b_poison is None:
        return data[::2].copy(), None, data[1::2].copy(), None
    nothing = np.zeros(len(a), np.int32)
    poison = np.concatenate((nothing if a_poison is None else a_poison, nothing if b_poison is None else b_poison))
    return data[::2].copy(), poison[::2], data[1::2].copy(), poison[1::2]


def make_index(dtype, lanes, order, groups):
    row = lanes // groups
    ramp = np.tile(np.arange(row), groups)
    if order == "DESC":
        ramp = -ramp
    if dtype.is_float:
        return lambda base: (np.float64(base) + ramp).astype(dtype.numpy)
    mask = (1 << dtype.bits) - 1
    unsigned = np.uint8 if dtype.bits == 8 else np.uint16 if dtype.bits == 16 else np.uint32
    return lambda base: ((base + ramp) & mask).astype(unsigned).view(dtype.numpy)


# Conversions (part 12)

def _float_to_int(target, mode, saturate):
    low, high = int_range(target)
    mask = (1 << target.bits) - 1

    def convert(x):
        x = x.astype(np.float64)
        whole = round_integral(np.where(np.isnan(x), 0.0, x), mode)
        if saturate:
            return np.clip(whole, low, high).astype(np.int64).astype(target.numpy)
        inside = np.clip(whole, -2.0 ** 62, 2.0 ** 62).astype(np.int64)
        return (inside & mask).astype(np.uint64).astype(target.numpy)
    return convert


def _narrow_int(target, saturate):
    low, high = int_range(target)
    if saturate:
        return lambda x: np.clip(x.astype(np.int64), low, high).astype(target.numpy)
    return lambda x: x.astype(target.numpy)


def _narrow_float(target, mode, saturate):
    if mode == "H":
        raise ValueRangeError("vcvt: what rounding \"H\" (hybrid) does is not specified, so the emulator cannot "
                              "execute it")
    if target.name in _F8:
        fmt = _F8[target.name]
        return lambda x: encode(x, fmt, mode, saturate).astype(np.uint8)
    if target.name == "bf16":
        if mode == "R" and not saturate:
            return f32_to_bf16_nearest
        return lambda x: encode(x, BF16, mode, saturate).astype(np.uint16)
    if mode == "R" and not saturate:
        return lambda x: x.astype(np.float16)
    return lambda x: encode(x, F16, mode, saturate).astype(np.uint16).view(np.float16)


def make_convert(source, target, rounding, saturate):
    saturate = saturate == "SAT"
    if source.name in _F4:
        fmt = _F4[source.name]
        return lambda x: fp4_to_bf16x2(x, fmt)
    if target.name in _F4:
        fmt = _F4[target.name]
        return lambda x: bf16x2_to_fp4(x, fmt, rounding or "R")
    if source.name in _F8:
        table = _F8[source.name].decode_table()
        return lambda x: table[x]
    if source.is_int and target.is_int:
        if target.bits > source.bits:
            return lambda x: x.astype(target.numpy)
        return _narrow_int(target, saturate)
    if source.is_int:
        return lambda x: x.astype(np.float32)
    widen = bf16_to_f32 if source.name == "bf16" else lambda x: x
    if target.is_int:
        convert = _float_to_int(target, rounding, saturate)
    elif target.bits > source.bits:
        convert = (lambda x: x.astype(np.float32)) if source.name == "f16" else (lambda x: x)
    else:
        convert = _narrow_float(target, rounding, saturate)
    if source.name == "bf16":
        return lambda x: convert(widen(x))
    return convert


def make_reinterpret(source, target, lanes):
    ratio_in, ratio_out = source.bytes, target.bytes

    def reinterpret(x, poison):
        data = np.ascontiguousarray(x).view(target.numpy)
        if poison is None or ratio_in == ratio_out:
            return data, poison
        if ratio_in > ratio_out:
            return data, np.repeat(poison, ratio_in // ratio_out)
        return data, poison.reshape(-1, ratio_out // ratio_in).max(axis=1)
    return reinterpret


# Reductions (part 14)

def _tree(function, rows):
    """Halves the last axis until one column is left: one of the orders that `reassoc` permits."""
    while rows.shape[1] > 1:
        half = rows.shape[1] // 2
        rows = function(rows[:, :half], rows[:, half:])
    return rows[:, 0]


def _identity(name, dtype):
    if name == "vcadd":
        return dtype.numpy(0)
    if dtype.is_float:
        return dtype.numpy(-np.inf if name == "vcmax" else np.inf)
    low, high = int_range(dtype)
    return dtype.numpy(low if name == "vcmax" else high)


def make_reduce(name, dtype, lanes, groups, line):
    function = {"vcadd": np.add, "vcmax": np.maximum, "vcmin": np.minimum}[name]
    neutral = _identity(name, dtype)
    row = lanes // groups

    def reduce(v, v_poison, mask, mask_poison):
        rows = _tree(function, np.where(mask, v, neutral).reshape(groups, row))
        poison = None
        if v_poison is not None or mask_poison is not None:
            lane_poison = np.zeros(lanes, np.int32)
            if v_poison is not None:
                lane_poison[mask] = v_poison[mask]
            poison = merge(lane_poison, mask_poison).reshape(groups, row).max(axis=1)
            if not poison.any():
                poison = None
        if name != "vcadd":
            empty = ~mask.reshape(groups, row).any(axis=1)
            if empty.any():
                poison = np.where(empty, line, 0 if poison is None else poison).astype(np.int32)
        return rows, poison
    return reduce


# Special operations (part 16): the mask goes to the instruction, inactive lanes are unspecified

def _unspecified(mask, mask_poison, poison, line):
    if not mask.all():
        poison = np.where(mask, 0 if poison is None else poison, line).astype(np.int32)
    return merge(poison, mask_poison)


def make_vexpdif(line):
    def expdif(x, x_poison, top, top_poison, mask, mask_poison):
        data = np.exp(x.astype(np.float64) - top.astype(np.float64)).astype(np.float32)
        return data, _unspecified(mask, mask_poison, merge(x_poison, top_poison), line)
    return expdif


def make_vmull(dtype, line):
    def multiply(a, a_poison, b, b_poison, mask, mask_poison):
        wide = a.astype(np.uint64) * b.astype(np.uint64)
        poison = _unspecified(mask, mask_poison, merge(a_poison, b_poison), line)
        low = (wide & np.uint64(0xFFFFFFFF)).astype(np.uint32)
        return low, poison, (wide >> np.uint64(32)).astype(np.uint32), poison
    return multiply


def make_add_with_carry(dtype, line):
    def add(a, a_poison, b, b_poison, mask, mask_poison, carry=None, carry_poison=None):
        wide = a.view(np.uint32).astype(np.uint64) + b.view(np.uint32).astype(np.uint64)
        if carry is not None:
            wide = wide + carry.astype(np.uint64)
        poison = merge(merge(a_poison, b_poison), carry_poison)
        poison = _unspecified(mask, mask_poison, poison, line)
        data = (wide & np.uint64(0xFFFFFFFF)).astype(np.uint32).view(dtype.numpy)
        return data, poison, (wide >> np.uint64(32)) != 0, poison
    return add


def make_histogram(name, line):
    def histogram(acc, acc_poison, src, src_poison, mask, mask_poison):
        counts = np.bincount(src[mask], minlength=256)
        if name == "vchist":
            counts = np.cumsum(counts)
        poison = acc_poison
        reached = 0
        if src_poison is not None:
            reached = int(src_poison[mask].max(initial=0))
        if mask_poison is not None:
            reached = max(reached, int(mask_poison.max()))
        if reached:
            poison = np.full(256, reached, np.int32)
        return acc + counts.astype(np.uint16), poison
    return histogram
