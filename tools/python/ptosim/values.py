"""Scalars of PTODSL (part 17): typed constants, operators, and how Python numbers meet them."""

import math
import struct

from .errors import TraceError
from .floats import BF16, F16, encode
from .ir import Value, caller_line, current
from .types import BY_NAME, I1, INDEX, PointerType, int_range

_COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


class Scalar(Value):
    """A run-time scalar. `const` is its value when tracing knows it."""

    __slots__ = ("const",)
    what = "scalar"

    def __init__(self, trace, dtype, const=None, **where):
        super().__init__(trace, dtype, **where)
        self.const = const

    def __repr__(self):
        return f"{self.dtype} scalar"

    def __add__(self, other):
        return binary("add", self, other)

    def __radd__(self, other):
        return binary("add", other, self)

    def __sub__(self, other):
        return binary("sub", self, other)

    def __rsub__(self, other):
        return binary("sub", other, self)

    def __mul__(self, other):
        return binary("mul", self, other)

    def __rmul__(self, other):
        return binary("mul", other, self)

    def __floordiv__(self, other):
        return binary("floordiv", self, other)

    def __rfloordiv__(self, other):
        return binary("floordiv", other, self)

    def __mod__(self, other):
        return binary("rem", self, other)

    def __rmod__(self, other):
        return binary("rem", other, self)

    def __truediv__(self, other):
        return binary("div", self, other)

    def __rtruediv__(self, other):
        return binary("div", other, self)

    def __and__(self, other):
        return binary("and", self, other)

    def __rand__(self, other):
        return binary("and", other, self)

    def __or__(self, other):
        return binary("or", self, other)

    def __ror__(self, other):
        return binary("or", other, self)

    def __xor__(self, other):
        return binary("xor", self, other)

    def __rxor__(self, other):
        return binary("xor", other, self)

    def __lt__(self, other):
        return compare("lt", self, other)

    def __le__(self, other):
        return compare("le", self, other)

    def __gt__(self, other):
        return compare("gt", self, other)

    def __ge__(self, other):
        return compare("ge", self, other)

    def __eq__(self, other):
        return compare("eq", self, other)

    def __ne__(self, other):
        return compare("ne", self, other)

    __hash__ = object.__hash__

    def _missing(self, *_):
        raise TraceError("unsupported operand type(s): PTO scalars have no unary minus, ~, **, << or >>; write 0 - x, "
                         "x ^ -1, a product, or // by a power of two", caller_line())

    __neg__ = __invert__ = __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = __pow__ = __rpow__ = _missing
    __pos__ = __abs__ = __matmul__ = __divmod__ = _missing

    def _not_python(self, *_):
        raise TraceError(f"a run-time {self.dtype} scalar is not a Python number; it is unknown while tracing",
                         caller_line())

    __int__ = __index__ = __float__ = __len__ = __round__ = _not_python


class Pointer(Value):
    """GM or UB address. `root` is the kernel argument a GM pointer comes from."""

    __slots__ = ("space", "root")
    what = "pointer"

    def __init__(self, trace, dtype, space, root=None, **where):
        super().__init__(trace, dtype, **where)
        self.space = space
        self.root = root

    def __repr__(self):
        return f"ptr({self.dtype}, {self.space})"

    @property
    def type(self):
        return PointerType(self.dtype, self.space)

    def __add__(self, other):
        return advance(self, other)


def advance(pointer, offset):
    """`pto.addptr(p, n)`: n elements further on."""
    trace = current("pto.addptr")
    if not isinstance(pointer, Pointer):
        raise TraceError(f"pto.addptr expects a pointer, got {describe(pointer)}", caller_line())
    offset = as_offset(offset, "pto.addptr")
    op = trace.record("addptr", [pointer, offset])
    result = Pointer(trace, pointer.dtype, pointer.space, pointer.root, op=op)
    op.results.append(result)
    return result


def describe(thing):
    return repr(thing) if isinstance(thing, Value) else f"{type(thing).__name__} {thing!r}"


def is_python_number(thing):
    return isinstance(thing, (int, float)) and not isinstance(thing, bool)


def wrap(value, dtype):
    """Brings an integer into the range that scalars of this type have. Signless scalars are signed."""
    if dtype is INDEX:
        return value
    mask = (1 << dtype.bits) - 1
    value &= mask
    if dtype.kind != "unsigned" and value >> (dtype.bits - 1):
        value -= mask + 1
    return value


def round_float(value, dtype):
    """Nearest value of a float type, as Python float."""
    if math.isnan(value) or math.isinf(value):
        return value
    if dtype.name == "f32":
        try:
            return struct.unpack("<f", struct.pack("<f", value))[0]
        except OverflowError:
            return math.copysign(math.inf, value)
    fmt = F16 if dtype.name == "f16" else BF16
    bits = int(encode(value, fmt, "R", False))
    if fmt is F16:
        return struct.unpack("<e", struct.pack("<H", bits))[0]
    return struct.unpack("<f", struct.pack("<I", bits << 16))[0]


def constant_value(dtype, value, what):
    """Checks and converts a Python number to a value of a scalar type."""
    if dtype is I1:
        if isinstance(value, bool) or value in (0, 1):
            return int(value)
        raise TraceError(f"{what}: an i1 constant is 0 or 1, got {value!r}", caller_line())
    if not is_python_number(value):
        raise TraceError(f"{what}: expected a Python number for {dtype}, got {describe(value)}", caller_line())
    if dtype.is_float:
        return round_float(float(value), dtype)
    if dtype.is_int or dtype is INDEX:
        if isinstance(value, float):
            raise TraceError(f"{what}: cannot coerce the authored value {value!r} (Python float) to {dtype}",
                             caller_line())
        low, high = (-(1 << 63), (1 << 63) - 1) if dtype is INDEX else int_range(dtype)
        if dtype.kind == "signless":
            low = -(1 << (dtype.bits - 1))
        if not low <= value <= high:
            raise TraceError(f"{what}: {value} does not fit {dtype}", caller_line())
        return wrap(value, dtype)
    raise TraceError(f"{what}: {dtype} has no literals", caller_line())


def make_constant(dtype, value):
    """`pto.f32(0.5)` and its kin."""
    trace = current(f"pto.{dtype}(…)")
    if isinstance(value, Scalar):
        raise TraceError(f"pto.{dtype}(…) makes constants of Python numbers; convert scalars with scalar.cast",
                         caller_line())
    number = constant_value(dtype, value, f"pto.{dtype}")
    op = trace.record("const", [], value=number)
    result = Scalar(trace, dtype, number, op=op)
    op.results.append(result)
    return result


for _dtype in list(BY_NAME.values()) + [INDEX]:
    _dtype.make_constant = make_constant


def as_index(value, what):
    """Index or integer scalar; Python integers become index constants."""
    if isinstance(value, Scalar) and (value.dtype is INDEX or value.dtype.is_int):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return make_constant(INDEX, value)
    raise TraceError(f"{what} expects a Python integer, an index or an integer scalar, got {describe(value)}",
                     caller_line())


as_offset = as_index


def coerce(value, dtype, what):
    """A scalar operand that must have exactly this type; Python numbers are converted."""
    if isinstance(value, Scalar):
        if value.dtype is not dtype:
            raise TraceError(f"{what}: scalar of type {value.dtype} where {dtype} is needed", caller_line())
        return value
    if is_python_number(value):
        return make_constant(dtype, value)
    raise TraceError(f"{what}: expected a {dtype} scalar or a Python number, got {describe(value)}", caller_line())


def unify(a, b, what):
    """Operand types of a binary operation on scalars."""
    if isinstance(a, bool) or isinstance(b, bool):
        raise TraceError(f"{what}: the literals True and False do not meet run-time values; use pto.i1(1), pto.i1(0)",
                         caller_line())
    if isinstance(a, Scalar) and isinstance(b, Scalar):
        if a.dtype is b.dtype:
            return a, b
        pair = {a.dtype.name, b.dtype.name}
        if pair == {"index", "i32"}:
            return to_index(a), to_index(b)
        raise TraceError(f"{what}: operand types {a.dtype} and {b.dtype} differ; use scalar.cast or scalar.index_cast",
                         caller_line())
    if isinstance(a, Scalar):
        return a, coerce(b, a.dtype, what)
    if isinstance(b, Scalar):
        return coerce(a, b.dtype, what), b
    raise TraceError(f"{what}: no PTO scalar among the operands", caller_line())


def to_index(value):
    if value.dtype is INDEX:
        return value
    return emit_scalar("index_cast", [value], INDEX)


def emit_scalar(name, args, dtype, const=None, **attrs):
    trace = current(name)
    op = trace.record(name, args, **attrs)
    result = Scalar(trace, dtype, const, op=op)
    op.results.append(result)
    return result


def fold(name, a, b, dtype):
    """Value of an integer operation on constants, so that `n // 128 * 128` of constants stays a known number."""
    if a.const is None or b.const is None or dtype.is_float:
        return None
    try:
        return evaluate_int(name, a.const, b.const, dtype)
    except ZeroDivisionError:
        return None


def evaluate_int(name, x, y, dtype):
    if name == "add":
        return wrap(x + y, dtype)
    if name == "sub":
        return wrap(x - y, dtype)
    if name == "mul":
        return wrap(x * y, dtype)
    if name == "floordiv":
        return wrap(x // y, dtype)
    if name == "rem":
        remainder = abs(x) % abs(y)
        return -remainder if x < 0 else remainder
    if name == "and":
        return x & y
    if name == "or":
        return x | y
    return x ^ y if dtype is I1 else wrap(x ^ y, dtype)


def binary(name, a, b):
    if isinstance(a, Pointer) or isinstance(b, Pointer):
        raise TraceError("pointer arithmetic is p + n with an integer n", caller_line())
    if not all(isinstance(x, Scalar) or isinstance(x, (int, float)) for x in (a, b)):
        return NotImplemented
    a, b = unify(a, b, f"scalar {name}")
    dtype = a.dtype
    logical = name in ("and", "or", "xor")
    if dtype is I1 and not logical:
        raise TraceError(f"scalar {name}: i1 values combine with &, |, ^ only", caller_line())
    if dtype.is_float and (logical or name in ("floordiv", "rem")):
        raise TraceError(f"unsupported operand type(s) for scalar {name}: {dtype}", caller_line())
    if not dtype.is_float and name == "div":
        raise TraceError(f"unsupported operand type(s) for /: {dtype}; integers divide with //", caller_line())
    return emit_scalar("s." + name, [a, b], dtype, fold(name, a, b, dtype))


def compare(predicate, a, b):
    if not all(isinstance(x, Scalar) or isinstance(x, (int, float)) for x in (a, b)):
        raise TraceError(f"scalar comparison with {describe(b)}", caller_line())
    a, b = unify(a, b, "scalar comparison")
    return emit_scalar("s.cmp", [a, b], I1, predicate=_COMPARISONS[predicate])

