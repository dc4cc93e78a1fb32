"""Element types of PTODSL (part 7 of the specification) and their form in numpy.

Vectors keep signless and unsigned integers as numpy unsigned, because that is how compare, max/min, right shift and
conversion treat them. bf16, fp8 and fp4 have no numpy type: their bits are kept in unsigned integers.
"""

import numpy as np

from .errors import TraceError

MASK_LANES = (1, 2, 4, 8, 64, 128, 256)
REGISTER_BITS = 2048


class DType:
    """One element type. Calling it makes a typed constant, as in `pto.f32(0.5)`."""

    __slots__ = ("name", "bits", "kind", "numpy", "make_constant")

    def __init__(self, name, bits, kind, numpy):
        self.name = name
        self.bits = bits
        self.kind = kind            # index, i1, signless, signed, unsigned, float, f8, f4, bf16x2
        self.numpy = numpy
        self.make_constant = None   # set by the scalar front end, which owns the class of results

    def __repr__(self):
        return self.name

    def __call__(self, value):
        return self.make_constant(self, value)

    @property
    def bytes(self):
        return (self.bits + 7) // 8

    @property
    def is_int(self):
        return self.kind in ("signless", "signed", "unsigned")

    @property
    def is_float(self):
        return self.kind == "float"

    @property
    def in_vectors(self):
        """Whether the type may be an element of a vector that arithmetic sees."""
        return (self.is_int and self.bits <= 32) or self.is_float


INDEX = DType("index", 64, "index", None)
I1 = DType("i1", 1, "i1", None)

_UINT = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}
_SINT = {8: np.int8, 16: np.int16, 32: np.int32, 64: np.int64}

BY_NAME = {"i1": I1}
for _bits in (8, 16, 32, 64):
    BY_NAME[f"i{_bits}"] = DType(f"i{_bits}", _bits, "signless", _UINT[_bits])
    BY_NAME[f"si{_bits}"] = DType(f"si{_bits}", _bits, "signed", _SINT[_bits])
    BY_NAME[f"ui{_bits}"] = DType(f"ui{_bits}", _bits, "unsigned", _UINT[_bits])
BY_NAME["f16"] = DType("f16", 16, "float", np.float16)
BY_NAME["bf16"] = DType("bf16", 16, "float", np.uint16)
BY_NAME["f32"] = DType("f32", 32, "float", np.float32)
BY_NAME["f8e4m3"] = DType("f8e4m3", 8, "f8", np.uint8)
BY_NAME["f8e5m2"] = DType("f8e5m2", 8, "f8", np.uint8)
BY_NAME["f4e2m1x2"] = DType("f4e2m1x2", 8, "f4", np.uint8)
BY_NAME["f4e1m2x2"] = DType("f4e1m2x2", 8, "f4", np.uint8)
BF16X2 = DType("bf16x2", 32, "bf16x2", np.uint32)


def dtype_of(name):
    return BY_NAME[name]


def registers(lanes, dtype):
    """K: physical registers of one logical vector. Partial vectors are kept unpacked in one."""
    return max(1, -(-lanes * dtype.bits // REGISTER_BITS))


def is_full(lanes, dtype):
    return lanes * dtype.bits >= REGISTER_BITS


def int_range(dtype):
    """Range of the values of an integer vector element; signless counts as unsigned."""
    if dtype.kind == "signed":
        return -(1 << (dtype.bits - 1)), (1 << (dtype.bits - 1)) - 1
    return 0, (1 << dtype.bits) - 1


def check_dtype(dtype, what):
    if not isinstance(dtype, DType):
        raise TraceError(f"{what} expects an element type such as pto.f32, got {dtype!r}")
    return dtype


class PointerType:
    """`pto.ptr(T, "gm"|"ub")`."""

    __slots__ = ("dtype", "space")

    def __init__(self, dtype, space):
        check_dtype(dtype, "pto.ptr")
        if dtype in (I1, INDEX, BF16X2):
            raise TraceError(f"pto.ptr: {dtype} cannot be stored in memory")
        if space not in ("gm", "ub"):
            raise TraceError(f"pto.ptr: memory space must be 'gm' or 'ub', got {space!r}")
        self.dtype = dtype
        self.space = space

    def __repr__(self):
        return f"ptr({self.dtype}, {self.space})"

    def __eq__(self, other):
        return isinstance(other, PointerType) and (self.dtype, self.space) == (other.dtype, other.space)

    def __hash__(self):
        return hash((self.dtype.name, self.space))


class VRegType:
    """`pto.vmi.vreg(L, T)`."""

    __slots__ = ("lanes", "dtype")

    def __init__(self, lanes, dtype):
        check_lanes(lanes, "pto.vmi.vreg")
        check_dtype(dtype, "pto.vmi.vreg")
        self.lanes = lanes
        self.dtype = dtype

    def __repr__(self):
        return f"vreg<{self.lanes}x{self.dtype}>"


class MaskType:
    """`pto.vmi.mask(L)`."""

    __slots__ = ("lanes",)

    def __init__(self, lanes):
        check_lanes(lanes, "pto.vmi.mask")
        self.lanes = lanes

    def __repr__(self):
        return f"mask<{self.lanes}xpred>"


def check_lanes(lanes, what):
    if isinstance(lanes, bool) or not isinstance(lanes, int):
        raise TraceError(f"{what}: the lane count must be a Python integer, got {lanes!r}")
    if lanes not in MASK_LANES:
        raise TraceError(f"{what} requires lanes to be one of 1, 2, 4, 8, 64, 128, 256, got {lanes}")
    return lanes
