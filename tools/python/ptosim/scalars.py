"""The module `scalar` of ptodsl (part 17)."""

from .errors import TraceError
from .ir import caller_line, current
from .memory import load, store
from .types import I1, INDEX, check_dtype
from .values import Scalar, coerce, describe, emit_scalar, is_python_number, unify

__all__ = ["load", "store", "max", "min", "abs", "exp", "log", "sqrt", "select", "index_cast", "cast"]


def _refuse(message):
    raise TraceError(message, caller_line())


def _need_scalar(value, what):
    current(what)
    if not isinstance(value, Scalar):
        _refuse(f"{what} expects a PTO scalar, got {describe(value)}")
    return value


def _extreme(name, a, b):
    what = "scalar." + name
    current(what)
    if not isinstance(a, Scalar) and not isinstance(b, Scalar):
        _refuse(f"{what}: no PTO scalar among the operands")
    a, b = unify(a, b, what)
    if a.dtype is I1:
        _refuse(f"{what}: not for i1")
    return emit_scalar("s." + name, [a, b], a.dtype)


def max(a, b):
    return _extreme("max", a, b)


def min(a, b):
    return _extreme("min", a, b)


def abs(x):
    _need_scalar(x, "scalar.abs")
    if x.dtype is I1 or x.dtype.kind == "unsigned":
        _refuse(f"scalar.abs: unsupported type {x.dtype}")
    return emit_scalar("s.abs", [x], x.dtype)


def _float_function(name, x):
    what = "scalar." + name
    _need_scalar(x, what)
    if not x.dtype.is_float:
        _refuse(f"{what} is for floats, got {x.dtype}")
    return emit_scalar("s." + name, [x], x.dtype)


def exp(x):
    return _float_function("exp", x)


def log(x):
    return _float_function("log", x)


def sqrt(x):
    return _float_function("sqrt", x)


def select(condition, a, b):
    what = "scalar.select"
    _need_scalar(condition, what)
    if condition.dtype is not I1:
        _refuse(f"{what}: the condition is i1, got {condition.dtype}")
    if is_python_number(a) or is_python_number(b):
        _refuse(f"{what} wants PTO values in both arms, such as pto.i32(5)")
    _need_scalar(a, what)
    _need_scalar(b, what)
    if a.dtype is not b.dtype:
        _refuse(f"{what}: arms of type {a.dtype} and {b.dtype}")
    return emit_scalar("s.select", [condition, a, b], a.dtype)


def index_cast(a, b=None):
    """`index_cast(x)` makes an index, `index_cast(pto.i32, i)` an integer of that type."""
    what = "scalar.index_cast"
    if b is None:
        value = _need_scalar(a, what)
        if not value.dtype.is_int and value.dtype is not INDEX:
            _refuse(f"{what}: {value.dtype} is no integer")
        return value if value.dtype is INDEX else emit_scalar("index_cast", [value], INDEX, value.const)
    target = check_dtype(a, what)
    value = _need_scalar(b, what)
    if not target.is_int or value.dtype is not INDEX:
        _refuse(f"{what}: converts an index to an integer type, got {value.dtype} to {target}")
    return emit_scalar("s.cast", [value], target)


def cast(x, dtype):
    what = "scalar.cast"
    if is_python_number(x):
        return coerce(x, check_dtype(dtype, what), what)
    value = _need_scalar(x, what)
    target = check_dtype(dtype, what)
    source = value.dtype
    if source is target:
        return value
    good = (source.is_int and target.is_int or source.is_float and target.is_float or
            source is I1 and target.is_int or source is INDEX and target.name == "i32")
    if not good:
        _refuse(f"{what}: cannot coerce the authored value from {source} to {target}")
    return emit_scalar("s.cast", [value], target)
