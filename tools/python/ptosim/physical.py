"""The few physical instructions of recipe 22.6 (b), which realign a row of f32 inside UB.

    al = pto.vldas(p)                                       begin at any element of UB
    v, al = pto.vldus(p, al)                                64 elements from there
    pto.vsts(v, tmp, i, pto.pset_b32("PAT_ALL"))            to an aligned place

Only the shape that was tried on the real tools is accepted: 64 lanes of f32, all lanes active.
"""

from .errors import TraceError
from .ir import Align, Physical, caller_line, current
from .types import BY_NAME
from .values import Pointer, as_offset, describe

LANES = 64


def refuse(message):
    raise TraceError(message, caller_line())


def need_f32_in_ub(pointer, what):
    if not isinstance(pointer, Pointer) or pointer.space != "ub" or pointer.dtype.name != "f32":
        refuse(f"{what}: only UB pointers to f32 are known to work, got {describe(pointer)}")


def vldas(pointer):
    what = "pto.vldas"
    trace = current(what)
    need_f32_in_ub(pointer, what)
    op = trace.record("vldas", [pointer])
    op.results.append(Align(trace, op=op))
    return op.results[0]


def vldus(pointer, align):
    what = "pto.vldus"
    trace = current(what)
    need_f32_in_ub(pointer, what)
    if not isinstance(align, Align):
        refuse(f"{what}: the second operand is the state that vldas or vldus gave, got {describe(align)}")
    op = trace.record("vldus", [pointer, align])
    op.results.extend((Physical(trace, LANES, BY_NAME["f32"], op=op), Align(trace, op=op)))
    return tuple(op.results)


def pset_b32(pattern):
    what = "pto.pset_b32"
    trace = current(what)
    if pattern != "PAT_ALL":
        refuse(f"{what}: only \"PAT_ALL\" is documented, got {pattern!r}")
    op = trace.record("pset_b32", [])
    op.results.append(Physical(trace, LANES, None, op=op))
    return op.results[0]


def vsts(value, pointer, offset, mask):
    what = "pto.vsts"
    trace = current(what)
    need_f32_in_ub(pointer, what)
    if not isinstance(value, Physical) or value.dtype is None:
        refuse(f"{what} stores a physical register (from vldus), got {describe(value)}")
    if not isinstance(mask, Physical) or mask.dtype is not None:
        refuse(f"{what}: the mask comes from pto.pset_b32, got {describe(mask)}")
    trace.record("vsts", [value, pointer, as_offset(offset, what), mask])
