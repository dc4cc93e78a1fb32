"""Pointers, DMA, synchronisation, and the queries of a block (parts 3, 4, 5), as far as tracing sees them."""

from .errors import TraceError
from .ir import caller_line, current
from .types import BY_NAME, PointerType
from .values import (Pointer, Scalar, advance, as_index, as_offset, describe, emit_scalar, is_python_number,
                     make_constant)

PIPES = ("MTE2", "V", "MTE3", "S")
CUBE_PIPES = ("MTE1", "M", "FIX")
TOP_LEN = (1 << 16) - 1

BARRIERS = ("VV_ALL", "VST_VLD", "VLD_VST", "VST_VST", "VS_ALL", "VST_LD", "VLD_ST", "VST_ST", "SV_ALL", "ST_VLD",
            "LD_VST", "ST_VST")


def refuse(message):
    raise TraceError(message, caller_line())


class Name:
    """A member of pto.Pipe or pto.BarrierType."""

    def __init__(self, kind, name):
        self.kind = kind
        self.name = name

    def __repr__(self):
        return f"pto.{self.kind}.{self.name}"


class _Names:
    def __init__(self, kind, names):
        self._kind = kind
        for name in names:
            setattr(self, name, Name(kind, name))

    def __getattr__(self, name):
        refuse(f"pto.{self._kind} has no member {name!r}")


Pipe = _Names("Pipe", ("ALL",))
BarrierType = _Names("BarrierType", BARRIERS)

ptr = PointerType
addptr = advance


def castptr(address, pointer_type):
    what = "pto.castptr"
    trace = current(what)
    if not isinstance(pointer_type, PointerType):
        refuse(f"{what}: the second argument is a type such as pto.ptr(pto.f32, \"ub\"), got {describe(pointer_type)}")
    if not isinstance(address, Scalar) or address.dtype.name != "i64":
        refuse(f"{what}: the address is an i64 scalar, pto.const(byte_address, dtype=pto.i64), got {describe(address)}")
    if pointer_type.space != "ub":
        refuse(f"{what}: only UB pointers are made from addresses")
    op = trace.record("castptr", [address])
    result = Pointer(trace, pointer_type.dtype, "ub", op=op)
    op.results.append(result)
    return result


def const(value, dtype=None):
    """`pto.const(5)` is an index, `pto.const(5, dtype=pto.i32)` a typed constant."""
    from .types import INDEX, check_dtype
    return make_constant(INDEX if dtype is None else check_dtype(dtype, "pto.const"), value)


# Moves (part 4)

def need_pointer(value, space, what, which):
    if not isinstance(value, Pointer) or value.space != space:
        refuse(f"{what}: {which} must be a {space.upper()} pointer, got {describe(value)}")
    return value


def triple(value, what, which, names):
    if not isinstance(value, (tuple, list)) or len(value) != 3:
        refuse(f"{what}: {which} is a triple ({names}), got {describe(value)}")
    return [as_index(v, f"{what} {which}") for v in value]


def loop_triples(loops, what):
    if loops is None:
        return []
    if not isinstance(loops, (tuple, list)):
        refuse(f"{what}: loops is a list of triples (count, src_stride, dst_stride)")
    return [triple(entry, what, "loops entry", "count, src_stride, dst_stride") for entry in loops]


def same_element(a, b, what):
    if a.dtype is not b.dtype:
        refuse(f"{what}: element types {a.dtype} and {b.dtype} of the two sides differ; cast the UB pointer")


def record_move(name, args, burst, loops, **attrs):
    flat = list(args) + burst
    for entry in loops:
        flat += entry
    current("pto." + name).record(name, flat, loops=len(loops), **attrs)


def mte_gm_ub(gm, ub, l2, len, nburst=None, loops=None, pad=None):
    what = "pto.mte_gm_ub"
    current(what)
    need_pointer(gm, "gm", what, "the source")
    need_pointer(ub, "ub", what, "the destination")
    same_element(gm, ub, what)
    if isinstance(l2, Scalar) or isinstance(l2, bool) or not isinstance(l2, int):
        refuse(f"{what}: the third argument is the cache control, use 0")
    if l2 != 0:
        refuse(f"{what}: cache control {l2} is not documented, use 0")
    length = as_index(len, what)
    burst = triple(nburst, what, "nburst", "count, src_stride, dst_stride")
    fill = None
    if pad is not None:
        fill = pad_value(pad, gm.dtype, what)
    record_move("mte_gm_ub", [gm, ub, length, fill], burst, loop_triples(loops, what))


def pad_value(pad, dtype, what):
    if not isinstance(pad, (tuple, list)) or not 1 <= len(pad) <= 3:
        refuse(f"{what}: pad is (value[, left, right])")
    for side in pad[1:]:
        if not isinstance(side, int) or side != 0:
            refuse(f"{what}: what left and right padding do is not specified; use pad=(value,)")
    value = pad[0]
    if is_python_number(value):
        if dtype.kind in ("f8", "f4"):
            dtype = BY_NAME["ui8"]
        return make_constant(dtype, value)
    if isinstance(value, Scalar) and value.dtype.bytes == dtype.bytes and (value.dtype.is_int or value.dtype.is_float):
        return value
    refuse(f"{what}: pad value must be a number or a scalar of {dtype.bytes} bytes, got {describe(value)}")


def mte_ub_gm(ub, gm, len, nburst=None, loops=None, l2_cache="nmfv"):
    what = "pto.mte_ub_gm"
    current(what)
    need_pointer(ub, "ub", what, "the source")
    need_pointer(gm, "gm", what, "the destination")
    same_element(gm, ub, what)
    if l2_cache != "nmfv":
        refuse(f"{what}: l2_cache={l2_cache!r} is not documented")
    length = as_index(len, what)
    burst = triple(nburst, what, "nburst", "count, src_stride, dst_stride")
    record_move("mte_ub_gm", [ub, gm, length], burst, loop_triples(loops, what))


def mte_ub_ub(src, dst, len32, nburst=None):
    what = "pto.mte_ub_ub"
    current(what)
    need_pointer(src, "ub", what, "the source")
    need_pointer(dst, "ub", what, "the destination")
    same_element(src, dst, what)
    length = as_index(len32, what)
    burst = triple(nburst, what, "nburst", "count, src_gap, dst_gap")
    record_move("mte_ub_ub", [src, dst, length], burst, [])


mte_load = mte_gm_ub
mte_store = mte_ub_gm


# Synchronisation (part 5)

def check_pipe(pipe, what):
    if pipe in CUBE_PIPES:
        refuse(f"{what}: pipe {pipe} does no work in a vector kernel")
    if pipe not in PIPES:
        refuse(f"{what}: unknown pipe {pipe!r}; pipes are \"MTE2\", \"V\", \"MTE3\", \"S\"")


def flag(name, src, dst, event_id):
    what = "pto." + name
    check_pipe(src, what)
    check_pipe(dst, what)
    if src == dst:
        refuse(f"{what}: source and destination pipe are both {src}")
    event = as_index(event_id, what)
    if event.const is not None and not 0 <= event.const <= 7:
        refuse(f"{what}: event_id {event.const} is outside 0 … 7")
    current(what).record(name, [event], src=PIPES.index(src), dst=PIPES.index(dst))


def set_flag(src, dst, *, event_id):
    flag("set_flag", src, dst, event_id)


def wait_flag(src, dst, *, event_id):
    flag("wait_flag", src, dst, event_id)


def pipe_barrier(pipe):
    if pipe is not Pipe.ALL:
        refuse(f"pto.pipe_barrier takes pto.Pipe.ALL, got {describe(pipe)}")
    current("pto.pipe_barrier").record("pipe_barrier", [])


def token(name, pipe, id):
    what = "pto." + name
    check_pipe(pipe, what)
    if isinstance(id, bool) or not isinstance(id, int) or not 0 <= id <= 31:
        refuse(f"{what}: the token is a Python integer 0 … 31, got {describe(id)}")
    current(what).record(name, [], pipe=PIPES.index(pipe), id=id)


def get_buf(pipe, id):
    token("get_buf", pipe, id)


def rls_buf(pipe, id):
    token("rls_buf", pipe, id)


def mem_bar(kind):
    if not isinstance(kind, Name) or kind.kind != "BarrierType":
        refuse(f"pto.mem_bar takes a pto.BarrierType, got {describe(kind)}")
    current("pto.mem_bar").record("mem_bar", [], kind=kind.name)


# The launch grid (2.3) and single elements (part 3)

def get_block_idx():
    return emit_scalar("block_idx", [], BY_NAME["i64"])


def get_block_num():
    return emit_scalar("block_num", [], BY_NAME["i64"])


def scalar_element(pointer, what):
    if not isinstance(pointer, Pointer):
        refuse(f"{what} expects a pointer, got {describe(pointer)}")
    if not (pointer.dtype.is_int or pointer.dtype.is_float):
        refuse(f"{what}: there are no {pointer.dtype} scalars")
    return pointer


def load(pointer, offset):
    scalar_element(pointer, "scalar.load")
    offset = as_offset(offset, "scalar.load")
    return emit_scalar("scalar_load", [pointer, offset], pointer.dtype)


def store(value, pointer, offset):
    what = "scalar.store"
    scalar_element(pointer, what)
    offset = as_offset(offset, what)
    if is_python_number(value):
        value = make_constant(pointer.dtype, value)
    if not isinstance(value, Scalar) or value.dtype is not pointer.dtype:
        refuse(f"{what}: value {describe(value)} into a pointer to {pointer.dtype}")
    current(what).record("scalar_store", [value, pointer, offset])
