"""`pto.vmi`: the vector layer (parts 7 to 16), as far as tracing sees it.

Each function checks types, lanes and masks against the tables of the specification and records one operation. What the
front end of the real tools refuses is a TraceError; what traces but has no lowering is a VerifyError with the words of
part 25. Checks that need the whole program (widths of compare masks, scopes, grouped layouts) are in `verify`.
"""

from . import types
from .errors import TraceError, VerifyError
from .ir import Mask, Vector, caller_line, current
from .types import BF16X2, BY_NAME, I1, INDEX, MaskType, VRegType, check_lanes, is_full, registers
from .values import Pointer, Scalar, as_index, as_offset, coerce, describe, is_python_number

bf16x2 = BF16X2
vreg = VRegType
mask = MaskType

_INTS = frozenset(f"{s}{b}" for s in ("i", "si", "ui") for b in (8, 16, 32))
_INTS_16_32 = frozenset(n for n in _INTS if not n.endswith("i8"))
_FLOATS = frozenset(("f16", "bf16", "f32"))
_F16_F32 = frozenset(("f16", "f32"))
_SIGNED = frozenset(("si8", "si16", "si32"))

_BINARY_TYPES = {
    "vadd": _INTS | _FLOATS, "vsub": _INTS | _FLOATS, "vmax": _INTS | _FLOATS, "vmin": _INTS | _FLOATS,
    "vmul": _INTS_16_32 | _FLOATS, "vdiv": _F16_F32,
    "vand": _INTS, "vor": _INTS, "vxor": _INTS, "vshl": _INTS, "vshr": _INTS,
}
_SCALAR_FORM_TYPES = {
    "vadd": _INTS | _FLOATS, "vmul": _INTS_16_32 | _F16_F32,
    "vmax": (_INTS - {"i8", "i16", "i32"}) | _FLOATS, "vmin": (_INTS - {"i8", "i16", "i32"}) | _FLOATS,
    "vshl": _INTS, "vshr": _INTS,
}
_UNARY_TYPES = {
    "vnot": _INTS, "vabs": _SIGNED | _FLOATS, "vneg": _INTS | _F16_F32, "vrelu": frozenset(("si32", "f16", "f32")),
    "vexp": _F16_F32, "vln": _F16_F32, "vsqrt": _F16_F32,
}
_COMMUTING = ("vadd", "vmul", "vmax", "vmin")
_PREDICATES = {"eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge"}
_ORDERED = {"o" + name: name for name in _PREDICATES}


def refuse(message):
    raise TraceError(message, caller_line())


def no_lowering(code, message):
    raise VerifyError(f"{code}: {message}", caller_line())


def need_vector(value, what):
    if not isinstance(value, Vector):
        refuse(f"{what} expects a vector, got {describe(value)}")
    return value


def need_mask(value, lanes, what):
    if value is None:
        refuse(f"{what} requires a mask operand")
    if not isinstance(value, Mask):
        refuse(f"{what} requires a mask operand, got {describe(value)}")
    if value.lanes != lanes:
        refuse(f"{what}: mask of {value.lanes} lanes on vectors of {lanes}")
    return value


def optional_mask(value, lanes, what):
    return None if value is None else need_mask(value, lanes, what)


def need_type(dtype, allowed, what):
    if dtype.name not in allowed:
        refuse(f"{what} requires one of the types {', '.join(sorted(allowed))} as VMI element type, got {dtype}")


def same_lanes(a, b, what):
    if a.lanes != b.lanes:
        refuse(f"{what}: operands of {a.lanes} and {b.lanes} lanes")


def same_type(a, b, what):
    same_lanes(a, b, what)
    if a.dtype is not b.dtype:
        refuse(f"{what}: operand types {a!r} and {b!r} differ")


def emit(name, args, lanes, dtype, **attrs):
    trace = current("pto.vmi." + name)
    op = trace.record(name, args, **attrs)
    result = Vector(trace, lanes, dtype, op=op)
    op.results.append(result)
    return result


def emit_mask(name, args, lanes, **attrs):
    trace = current("pto.vmi." + name)
    op = trace.record(name, args, **attrs)
    result = Mask(trace, lanes, op=op)
    op.results.append(result)
    return result


def emit_pair(name, args, lanes, dtype, **attrs):
    trace = current("pto.vmi." + name)
    op = trace.record(name, args, **attrs)
    op.results.extend(Vector(trace, lanes, dtype, op=op) for _ in range(2))
    return tuple(op.results)


# Masks (part 8)

def create_mask(n, size, group=None):
    check_lanes(size, "pto.vmi.create_mask")
    n = as_index(n, "pto.vmi.create_mask")
    groups = 1
    if group is not None:
        groups = check_group(group, size, "pto.vmi.create_mask")
        if n.const is not None and n.const > size // groups:
            refuse(f"pto.vmi.create_mask: {n.const} active lanes in groups of {size // groups}")
    return emit_mask("create_mask", [n], size, groups=groups)


def check_group(group, lanes, what):
    if isinstance(group, bool) or not isinstance(group, int) or group < 1:
        refuse(f"{what}: group must be a positive Python integer, got {describe(group)}")
    if lanes % group:
        refuse(f"{what}: {lanes} lanes cannot be cut into {group} groups")
    return group


# Loads and stores (part 9)

def need_ub(ptr, what):
    if not isinstance(ptr, Pointer):
        refuse(f"{what} expects a UB pointer, got {describe(ptr)}")
    if ptr.space != "ub":
        refuse(f"{what}: vector code reaches UB only, got a GM pointer; move the data with pto.mte_gm_ub")
    if ptr.dtype.bits == 64:
        refuse(f"{what} requires an 8, 16 or 32-bit VMI element type, got {ptr.dtype}")
    return ptr


def vload(ptr, offset, size, group=None, stride=None, dist_mode=None):
    what = "pto.vmi.vload"
    need_ub(ptr, what)
    offset = as_offset(offset, what)
    check_lanes(size, what)
    dtype = ptr.dtype
    if dist_mode not in (None, "brc", "dintlv"):
        if dist_mode == "unpack":
            no_lowering("VMI-RESIDUAL-OP", "vload with dist_mode=\"unpack\" does not lower; load and convert with vcvt")
        refuse(f"{what}: unknown dist_mode {dist_mode!r}")
    if group is None:
        if stride is not None:
            refuse(f"{what}: stride belongs to the grouped forms, give group=")
        if dist_mode is None:
            return emit("vload", [ptr, offset], size, dtype, form="dense")
        if not is_full(size, dtype):
            no_lowering("VMI-UNSUPPORTED", f"vload with dist_mode=\"{dist_mode}\" works for full vectors only, not for "
                        f"{size}x{dtype}")
        if dist_mode == "brc":
            return emit("vload", [ptr, offset], size, dtype, form="brc")
        return emit_pair("vload", [ptr, offset], size, dtype, form="dintlv")
    check_group(group, size, what)
    if dist_mode == "dintlv":
        refuse(f"{what}: dist_mode=\"dintlv\" has no grouped form")
    step = constant_stride(stride, what)
    if dist_mode == "brc":
        if group != 8 or step != 1 or size not in (64, 128, 256):
            no_lowering("VMI-UNSUPPORTED", "grouped broadcast load works for group=8, stride=1 and 64, 128 or 256 "
                        f"lanes, not for {size}x{dtype} group={group} stride={step}")
        return emit("vload", [ptr, offset], size, dtype, form="group_brc", group=group)
    if size == group:
        if dtype.bits != 32 or step != 8:
            no_lowering("VMI-UNSUPPORTED", f"slot load works for 32-bit elements with stride=8, not for {size}x{dtype} "
                        f"stride={step}")
        return emit("vload", [ptr, offset], size, dtype, form="slot", group=group, stride=step)
    if step <= 0 or step * dtype.bytes % 32:
        no_lowering("VMI-UNSUPPORTED", f"grouped load needs a positive row stride that is a multiple of 32 bytes, got "
                    f"{step} elements of {dtype}")
    return emit("vload", [ptr, offset], size, dtype, form="group", group=group, stride=step)


def constant_stride(stride, what):
    if isinstance(stride, Scalar) and stride.const is not None:
        stride = stride.const
    if isinstance(stride, bool) or not isinstance(stride, int):
        refuse(f"{what}: grouped forms need a constant stride=, got {describe(stride)}")
    return stride


def vstore(value, ptr, offset, mask=None, dist_mode=None, group=None, stride=None):
    what = "pto.vmi.vstore"
    need_ub(ptr, what)
    offset = as_offset(offset, what)
    if dist_mode is not None:
        if dist_mode != "dintlv":
            refuse(f"{what}: unknown dist_mode {dist_mode!r}")
        return store_interleaved(value, ptr, offset, mask, group, what)
    need_vector(value, what)
    if value.dtype is not ptr.dtype:
        refuse(f"{what}: value of type {value.dtype} into a pointer to {ptr.dtype}")
    trace = current(what)
    if group is None:
        if stride is not None:
            refuse(f"{what}: stride belongs to the grouped form, give group=")
        optional_mask(mask, value.lanes, what)
        trace.record("vstore", [value, ptr, offset, mask], form="dense")
        return None
    check_group(group, value.lanes, what)
    if mask is not None:
        refuse(f"{what}: the grouped form allows no mask")
    step = constant_stride(stride, what)
    if value.lanes // group * value.dtype.bits != 256 or group != 8:
        no_lowering("VMI-UNSUPPORTED", "grouped store works when each of 8 groups is one 32-byte block, not for "
                    f"{value!r} group={group}")
    if step <= 0 or step * value.dtype.bytes % 32:
        no_lowering("VMI-UNSUPPORTED", f"grouped store needs a row stride that is a multiple of 32 bytes, got {step} "
                    f"elements of {value.dtype}")
    trace.record("vstore", [value, ptr, offset, None], form="group", group=group, stride=step)
    return None


def store_interleaved(pair, ptr, offset, mask, group, what):
    if not isinstance(pair, (list, tuple)) or len(pair) != 2:
        refuse(f"{what}: dist_mode=\"dintlv\" stores a pair [even, odd]")
    even, odd = (need_vector(v, what) for v in pair)
    same_type(even, odd, what)
    if even.dtype is not ptr.dtype:
        refuse(f"{what}: values of type {even.dtype} into a pointer to {ptr.dtype}")
    if group is not None:
        refuse(f"{what}: dist_mode=\"dintlv\" has no grouped form")
    if not is_full(even.lanes, even.dtype):
        no_lowering("VMI-UNSUPPORTED", f"interleaving store works for full vectors only, not for {even!r}")
    optional_mask(mask, even.lanes, what)
    trace = current(what)
    if mask is not None:
        trace.warn("the mask of an interleaving store is silently dropped by the toolchain (9.1)")
    trace.record("vstore", [even, odd, ptr, offset, mask], form="dintlv")


def vsstb(value, ptr, offset, block_stride, mask):
    what = "pto.vmi.vsstb"
    need_vector(value, what)
    need_ub(ptr, what)
    offset = as_offset(offset, what)
    if value.dtype is not ptr.dtype:
        refuse(f"{what}: value of type {value.dtype} into a pointer to {ptr.dtype}")
    need_mask(mask, value.lanes, what)
    if not is_full(value.lanes, value.dtype):
        no_lowering("VMI-UNSUPPORTED", f"vsstb works for full vectors only, not for {value!r}")
    block_stride = as_index(block_stride, what)
    current(what).record("vsstb", [value, ptr, offset, block_stride, mask])


# Arithmetic (part 10)

def arithmetic(name, a, b, mask):
    what = "pto.vmi." + name
    if not isinstance(a, Vector) and isinstance(b, Vector) and name in _COMMUTING:
        a, b = b, a
    if name in ("vand", "vor", "vxor") and isinstance(a, Mask):
        return mask_logic(name, a, b, mask)
    need_vector(a, what)
    if isinstance(b, Vector):
        same_type(a, b, what)
        need_type(a.dtype, _BINARY_TYPES[name], what)
        optional_mask(mask, a.lanes, what)
        return emit(name, [a, b, mask], a.lanes, a.dtype)
    if not (isinstance(b, Scalar) or is_python_number(b)):
        refuse(f"{what}: expected a vector or a scalar, got {describe(b)}")
    if name not in _SCALAR_FORM_TYPES:
        refuse(f"{what}: there is no vector-scalar form; broadcast the scalar with vbrc")
    need_mask(mask, a.lanes, what)
    need_type(a.dtype, _BINARY_TYPES[name], what)
    if a.dtype.name not in _SCALAR_FORM_TYPES[name]:
        no_lowering("VMI-RESIDUAL-OP", f"{name} of {a!r} with a scalar has no lowering; broadcast the scalar")
    if name in ("vshl", "vshr"):
        count = as_index(b, what)
        return emit(name + "s", [a, count, mask], a.lanes, a.dtype)
    return emit(name + "s", [a, coerce(b, a.dtype, what), mask], a.lanes, a.dtype)


def mask_logic(name, a, b, governing):
    what = "pto.vmi." + name
    if governing is not None:
        refuse(f"{what}: on masks there is no governing mask")
    if not isinstance(b, Mask):
        refuse(f"{what}: a mask combines with a mask, got {describe(b)}")
    same_lanes(a, b, what)
    return emit_mask("m" + name[1:], [a, b], a.lanes)


def _make_binary(name):
    def function(a, b, mask=None):
        return arithmetic(name, a, b, mask)
    function.__name__ = name
    return function


vadd, vsub, vmul, vdiv = (_make_binary(n) for n in ("vadd", "vsub", "vmul", "vdiv"))
vmax, vmin, vand, vor = (_make_binary(n) for n in ("vmax", "vmin", "vand", "vor"))
vxor, vshl, vshr = (_make_binary(n) for n in ("vxor", "vshl", "vshr"))


def _make_old_scalar(name):
    def function(a, b, mask=None):
        if isinstance(b, Vector) or not isinstance(a, Vector):
            refuse(f"pto.vmi.{name}s takes a vector and a scalar")
        current(name).warn(f"pto.vmi.{name}s is deprecated, use pto.vmi.{name}")
        return arithmetic(name, a, b, mask)
    function.__name__ = name + "s"
    return function


vadds, vmuls, vmaxs, vmins, vshls, vshrs = (
    _make_old_scalar(n) for n in ("vadd", "vmul", "vmax", "vmin", "vshl", "vshr"))


def unary(name, a, mask):
    what = "pto.vmi." + name
    if name == "vnot" and isinstance(a, Mask):
        if mask is not None:
            refuse(f"{what}: on masks there is no governing mask")
        return emit_mask("mnot", [a], a.lanes)
    need_vector(a, what)
    need_type(a.dtype, _UNARY_TYPES[name], what)
    optional_mask(mask, a.lanes, what)
    if name == "vneg" and a.dtype.is_int and not is_full(a.lanes, a.dtype):
        no_lowering("VMI-RESIDUAL-OP", f"vneg of integers works for full vectors only, not for {a!r}")
    return emit(name, [a, mask], a.lanes, a.dtype)


def _make_unary(name):
    def function(a, mask=None):
        return unary(name, a, mask)
    function.__name__ = name
    return function


vnot, vabs, vneg, vrelu, vexp, vln, vsqrt = (
    _make_unary(n) for n in ("vnot", "vabs", "vneg", "vrelu", "vexp", "vln", "vsqrt"))


# Compare and select (part 11)

def predicate_of(name, dtype, what):
    if name in _PREDICATES:
        return name
    if name in _ORDERED and dtype.is_float:
        return _ORDERED[name]
    refuse(f"{what}: unknown predicate {name!r} for {dtype}")


def vcmp(a, b, seed, predicate):
    what = "pto.vmi.vcmp"
    need_vector(a, what)
    need_vector(b, what)
    same_type(a, b, what)
    check_compare(a, seed, what)
    return emit_mask("vcmp", [a, b, seed], a.lanes, predicate=predicate_of(predicate, a.dtype, what))


def vcmps(a, s, seed, predicate):
    what = "pto.vmi.vcmps"
    need_vector(a, what)
    check_compare(a, seed, what)
    s = coerce(s, a.dtype, what)
    return emit_mask("vcmps", [a, s, seed], a.lanes, predicate=predicate_of(predicate, a.dtype, what))


def check_compare(a, seed, what):
    need_type(a.dtype, _INTS | _FLOATS, what)
    need_mask(seed, a.lanes, what)
    if not is_full(a.lanes, a.dtype) and a.lanes >= 64 or a.lanes < 64 and a.dtype.bits < 32:
        no_lowering("VMI-RESIDUAL-OP", f"seed mask type {seed!r} does not match: compares of {a!r}, a partial vector, "
                                       f"do "
                    "not lower; widen to 32 bits or use more lanes")


def vsel(m, when_true, when_false):
    what = "pto.vmi.vsel"
    if not isinstance(m, Mask):
        refuse(f"{what} requires a mask operand first, got {describe(m)}")
    need_vector(when_true, what)
    need_vector(when_false, what)
    same_type(when_true, when_false, what)
    need_type(when_true.dtype, _INTS | _FLOATS, what)
    need_mask(m, when_true.lanes, what)
    a = when_true
    if not is_full(a.lanes, a.dtype) and a.lanes >= 64 or a.lanes < 64 and a.dtype.bits < 32:
        no_lowering("VMI-RESIDUAL-OP", f"mask type {m!r} does not match src0 vector type {a!r}: select on a partial "
                    "vector does not lower; widen to 32 bits or use more lanes")
    return emit("vsel", [m, when_true, when_false], a.lanes, a.dtype)


def vselr(v, idx):
    what = "pto.vmi.vselr"
    need_vector(v, what)
    need_vector(idx, what)
    same_lanes(v, idx, what)
    need_type(v.dtype, _INTS | _FLOATS, what)
    if not idx.dtype.is_int or idx.dtype.bits != v.dtype.bits:
        refuse(f"{what}: indices must be integers of {v.dtype.bits} bits, got {idx.dtype}")
    if v.lanes < 64 or registers(v.lanes, v.dtype) != 1:
        no_lowering("VMI-UNSUPPORTED", f"vselr works within one physical register, not for {v!r}")
    return emit("vselr", [v, idx], v.lanes, v.dtype)


# Conversions (part 12)

_NARROW_FLOAT = {"rounding": "RAHZ", "saturate": True}
_FLOAT_TO_INT = {"rounding": "RAZ", "saturate": True}
_NARROW_INT = {"rounding": "", "saturate": True}
_EXACT = {"rounding": "", "saturate": False}
_TO_FP4 = {"rounding": "RAFZC", "saturate": False}


def _conversion_pairs():
    pairs = {}

    def add(sources, targets, rule):
        for s in sources.split():
            for t in targets.split():
                pairs[s, t] = rule

    add("i8 ui8", "i16 ui16 i32 ui32", _EXACT)
    add("si8", "si16 si32", _EXACT)
    add("i16 ui16", "i32 ui32", _EXACT)
    add("i16 ui16", "i8 ui8", _NARROW_INT)
    add("si16", "si32", _EXACT)
    add("si16", "i8 ui8", _NARROW_INT)
    add("i32 ui32", "i16 si16 ui16 i8 ui8", _NARROW_INT)
    add("si32", "f32", _EXACT)
    add("si32", "i16 si16 ui16 i8 ui8 si8", _NARROW_INT)
    add("f16", "f32", _EXACT)
    add("f16", "si16 si8 i8 ui8", _FLOAT_TO_INT)
    add("f16", "f8e4m3 f8e5m2", _NARROW_FLOAT)
    add("bf16", "f32", _EXACT)
    add("bf16", "si32", _FLOAT_TO_INT)
    add("bf16", "f16 f8e4m3 f8e5m2", _NARROW_FLOAT)
    add("f32", "si32 si16", _FLOAT_TO_INT)
    add("f32", "f16 bf16 f8e4m3 f8e5m2", _NARROW_FLOAT)
    add("f8e4m3 f8e5m2", "f32", _EXACT)
    add("f4e2m1x2 f4e1m2x2", "bf16x2", _EXACT)
    add("bf16x2", "f4e2m1x2 f4e1m2x2", _TO_FP4)
    return pairs


CONVERSIONS = _conversion_pairs()

# `.pto` text reaches a little more than PTODSL (part 21): floor and ceiling while converting to integers, f16 to si32.
TEXT_CONVERSIONS = {pair: {"rounding": "RAZFC", "saturate": True} if rule is _FLOAT_TO_INT else rule
                    for pair, rule in CONVERSIONS.items()}
TEXT_CONVERSIONS["f16", "si32"] = {"rounding": "RAZFC", "saturate": False}


def vcvt(v, to_dtype, rounding=None, saturate=None):
    return convert(v, to_dtype, rounding, saturate, CONVERSIONS)


def convert(v, to_dtype, rounding, saturate, pairs):
    what = "pto.vmi.vcvt"
    need_vector(v, what)
    types.check_dtype(to_dtype, what)
    source = v.dtype
    rule = pairs.get((source.name, to_dtype.name))
    if rule is None:
        no_lowering("VMI-RESIDUAL-OP", f"vcvt from {source} to {to_dtype} is not among the conversions (12.1)")
    if v.lanes < 64:
        no_lowering("VMI-RESIDUAL-OP", f"vcvt works on 64, 128 or 256 lanes, not on {v!r}")
    if rounding is not None and rounding not in rule["rounding"] or rounding == "":
        if not rule["rounding"]:
            refuse(f"{what}: 'rounding' attribute is only valid for float narrowing and float to integer, not for "
                   f"{source} to {to_dtype}")
        refuse(f"{what}: 'rounding' attribute is only valid for {', '.join(rule['rounding'])} from {source} to "
               f"{to_dtype}, got {rounding!r}")
    if saturate is not None:
        if not rule["saturate"]:
            refuse(f"{what}: 'saturate' attribute is not valid from {source} to {to_dtype}")
        if saturate not in ("SAT", "NOSAT"):
            refuse(f"{what}: 'saturate' attribute is not valid: {saturate!r}")
    trace = current(what)
    if rule["saturate"] and saturate is None:
        if (source.name, to_dtype.name) == ("bf16", "f16"):
            refuse(f"{what}: bf16 to f16 needs saturate=\"SAT\" written out (12.1)")
        trace.warn("vcvt without saturate= relies on the default (12.2)")
        saturate = "SAT"
    if rule["rounding"] and rounding is None:
        trace.warn("vcvt without rounding= relies on the default (12.2)")
        rounding = "R"
    if (source.name, to_dtype.name) == ("si32", "si8") and saturate != "NOSAT":
        no_lowering("VMI-RESIDUAL-OP", "vcvt from si32 to si8 lowers with saturate=\"NOSAT\" only")
    if (source.name, to_dtype.name) == ("bf16", "f16") and saturate != "SAT":
        no_lowering("VMI-RESIDUAL-OP", "vcvt from bf16 to f16 is documented with saturate=\"SAT\" only")
    return emit("vcvt", [v], v.lanes, to_dtype, source=source, rounding=rounding, saturate=saturate)


def vinterpret_cast(v, to_dtype):
    what = "pto.vmi.vinterpret_cast"
    need_vector(v, what)
    types.check_dtype(to_dtype, what)
    if to_dtype in (I1, INDEX) or to_dtype.bits == 64:
        refuse(f"{what} requires an 8, 16 or 32-bit VMI element type, got {to_dtype}")
    bits = v.lanes * v.dtype.bits
    if bits % to_dtype.bits or bits // to_dtype.bits not in types.MASK_LANES:
        refuse(f"{what} requires lanes to be one of 1, 2, 4, 8, 64, 128, 256, got {bits / to_dtype.bits:g} for {v!r} "
               f"as "
               f"{to_dtype}")
    if to_dtype.bits != v.dtype.bits and bits < types.REGISTER_BITS:
        no_lowering("VMI-LAYOUT-CONTRACT", f"{v!r} is kept unpacked, its bits cannot be read as {to_dtype}")
    return emit("vinterpret_cast", [v], bits // to_dtype.bits, to_dtype, source=v.dtype)


# Broadcast, index, permutation (part 13)

_GROUP_BROADCAST = {32: {(64, 8), (128, 2), (128, 8), (256, 2), (256, 4), (256, 8)},
                    16: {(64, 8), (128, 8), (256, 2), (256, 8)}, 8: set()}


def vbrc(value, size, group=None):
    what = "pto.vmi.vbrc"
    check_lanes(size, what)
    if isinstance(value, Scalar):
        if group is not None:
            refuse(f"{what}: group belongs to vectors of group results")
        if value.dtype is INDEX or value.dtype is I1 or value.dtype.bits == 64:
            refuse(f"{what} requires an 8, 16 or 32-bit VMI element type, got {value.dtype}")
        return emit("vbrc", [value], size, value.dtype, form="scalar")
    if not isinstance(value, Vector):
        refuse(f"{what} requires a typed scalar (pto.f32(0.5), an argument, a loaded value) or a vector, got "
               f"{describe(value)}")
    need_type(value.dtype, _INTS | _FLOATS, what)
    if group is None:
        if value.lanes != 1:
            refuse(f"{what}: without group the vector must have one lane, got {value!r}")
        return emit("vbrc", [value], size, value.dtype, form="one")
    check_group(group, size, what)
    if value.lanes != group:
        refuse(f"{what}: group={group} needs a vector of {group} lanes, got {value!r}")
    if (size, group) not in _GROUP_BROADCAST[value.dtype.bits]:
        no_lowering("VMI-UNSUPPORTED", f"vbrc to {size} lanes of {value.dtype} in {group} groups has no lowering (13)")
    return emit("vbrc", [value], size, value.dtype, form="group", group=group)


def vci(base, size, order="ASC", group=None):
    what = "pto.vmi.vci"
    check_lanes(size, what)
    if not isinstance(base, Scalar):
        refuse(f"{what} requires a typed scalar or an index, got {describe(base)}")
    dtype = BY_NAME["i32"] if base.dtype is INDEX else base.dtype
    need_type(dtype, _INTS | _F16_F32, what)
    if order not in ("ASC", "DESC"):
        refuse(f"{what}: order must be \"ASC\" or \"DESC\", got {order!r}")
    if dtype.kind in ("signed", "unsigned") and registers(size, dtype) != 1:
        no_lowering("VMI-UNSUPPORTED", f"vci of {dtype} fills one register only; use the signless type and "
                    f"vinterpret_cast for {size} lanes")
    if group is not None:
        check_group(group, size, what)
    if base.const is None or base.const != 0:
        current(what).warn("vci with a base other than the constant 0 is ignored by some simulators (13); adding it "
                           "with vadd is safer")
    return emit("vci", [base], size, dtype, order=order, group=group or 1)


def vintlv(a, b, mask):
    return shuffle_pair("vintlv", a, b, mask)


def vdintlv(a, b, mask):
    return shuffle_pair("vdintlv", a, b, mask)


def shuffle_pair(name, a, b, mask):
    what = "pto.vmi." + name
    need_vector(a, what)
    need_vector(b, what)
    same_type(a, b, what)
    need_mask(mask, a.lanes, what)
    return emit_pair(name, [a, b, mask], a.lanes, a.dtype)


# Reductions (part 14)

def reduce(name, v, mask, group, reassoc):
    what = "pto.vmi." + name
    need_vector(v, what)
    need_mask(mask, v.lanes, what)
    need_type(v.dtype, _INTS | _FLOATS, what)
    if v.dtype.name == "bf16":
        no_lowering("VMI-RESIDUAL-OP", f"{name} of bf16 has no lowering; widen to f32")
    groups = 1
    if group is not None:
        groups = check_group(group, v.lanes, what)
        if groups not in (1, 2, 4, 8):
            refuse(f"{what}: group must be 1, 2, 4 or 8, got {groups}")
    if v.lanes < 64:
        no_lowering("VMI-UNSUPPORTED", f"{name} works on 64, 128 or 256 lanes, not on {v!r}")
    if name == "vcadd" and v.dtype.is_float and reassoc is None:
        refuse(f"{what}: sums of floats need reassoc=True")
    return emit(name, [v, mask], groups, v.dtype, group=groups)


def vcadd(v, mask, group=None, reassoc=None):
    return reduce("vcadd", v, mask, group, reassoc)


def vcmax(v, mask, group=None):
    return reduce("vcmax", v, mask, group, None)


def vcmin(v, mask, group=None):
    return reduce("vcmin", v, mask, group, None)


# Gather and scatter (part 15)

def check_offsets(name, data, offsets, mask):
    what = "pto.vmi." + name
    need_vector(offsets, what)
    need_mask(mask, offsets.lanes, what)
    if offsets.dtype.kind not in ("signless", "unsigned"):
        refuse(f"{what}: offsets must be unsigned, got {offsets.dtype}; use vinterpret_cast")
    lanes = offsets.lanes
    if data.bits == 32:
        good = offsets.dtype.bits == 32 and lanes in (64, 128, 256)
    elif data.bits == 16 and name == "vgather":
        good = data.name == "ui16" and offsets.dtype.name == "ui16" and lanes in (64, 128)
    elif data.bits == 16:
        good = offsets.dtype.name == "ui16" and lanes in (128, 256)
    else:
        good = False
    if not good:
        no_lowering("VMI-UNSUPPORTED", f"{name} of {data} with {offsets!r} offsets has no lowering (15)")


def vgather(ptr, offsets, mask):
    what = "pto.vmi.vgather"
    need_ub(ptr, what)
    check_offsets("vgather", ptr.dtype, offsets, mask)
    return emit("vgather", [ptr, offsets, mask], offsets.lanes, ptr.dtype)


def vscatter(value, ptr, offsets, mask):
    what = "pto.vmi.vscatter"
    need_vector(value, what)
    need_ub(ptr, what)
    if value.dtype is not ptr.dtype:
        refuse(f"{what}: value of type {value.dtype} into a pointer to {ptr.dtype}")
    check_offsets("vscatter", ptr.dtype, offsets, mask)
    same_lanes(value, offsets, what)
    current(what).record("vscatter", [value, ptr, offsets, mask])


def vgatherb(*_args, **_named):
    no_lowering("VMI-RESIDUAL-OP", "vgatherb does not lower (15)")


# Special operations (part 16)

def vmula(acc, a, b, mask):
    what = "pto.vmi.vmula"
    for operand in (acc, a, b):
        need_vector(operand, what)
    same_type(acc, a, what)
    same_type(a, b, what)
    need_type(acc.dtype, _FLOATS, what)
    need_mask(mask, acc.lanes, what)
    return emit("vmula", [acc, a, b, mask], acc.lanes, acc.dtype)


def vaxpy(x, acc, s, mask):
    what = "pto.vmi.vaxpy"
    need_vector(x, what)
    need_vector(acc, what)
    same_type(x, acc, what)
    need_type(x.dtype, _FLOATS, what)
    need_mask(mask, x.lanes, what)
    return emit("vaxpy", [x, acc, coerce(s, x.dtype, what), mask], x.lanes, x.dtype)


def vlrelu(x, s, mask):
    what = "pto.vmi.vlrelu"
    need_vector(x, what)
    need_type(x.dtype, _FLOATS, what)
    need_mask(mask, x.lanes, what)
    return emit("vlrelu", [x, coerce(s, x.dtype, what), mask], x.lanes, x.dtype)


def vprelu(x, a, mask):
    what = "pto.vmi.vprelu"
    need_vector(x, what)
    need_vector(a, what)
    same_type(x, a, what)
    need_type(x.dtype, _FLOATS, what)
    need_mask(mask, x.lanes, what)
    return emit("vprelu", [x, a, mask], x.lanes, x.dtype)


def vexpdif(x, mx, mask):
    what = "pto.vmi.vexpdif"
    need_vector(x, what)
    need_vector(mx, what)
    same_type(x, mx, what)
    need_type(x.dtype, _F16_F32, what)
    need_mask(mask, x.lanes, what)
    if x.dtype.name == "f16" and x.lanes not in (128, 256):
        no_lowering("VMI-UNSUPPORTED", f"vexpdif of f16 works on 128 or 256 lanes, not on {x!r}")
    return emit("vexpdif", [x, mx, mask], x.lanes, BY_NAME["f32"])


def vmull(a, b, mask):
    what = "pto.vmi.vmull"
    need_vector(a, what)
    need_vector(b, what)
    same_type(a, b, what)
    need_type(a.dtype, ("i32", "ui32"), what)
    need_mask(mask, a.lanes, what)
    return emit_pair("vmull", [a, b, mask], a.lanes, a.dtype)


def vaddc(a, b, mask):
    return add_with_carry("vaddc", a, b, None, mask)


def vaddcs(a, b, carry, mask):
    return add_with_carry("vaddcs", a, b, carry, mask)


def add_with_carry(name, a, b, carry, mask):
    what = "pto.vmi." + name
    need_vector(a, what)
    need_vector(b, what)
    same_type(a, b, what)
    need_type(a.dtype, ("i32", "si32", "ui32"), what)
    need_mask(mask, a.lanes, what)
    args = [a, b, mask]
    if name == "vaddcs":
        args.append(need_mask(carry, a.lanes, what))
    trace = current(what)
    op = trace.record(name, args)
    op.results.extend((Vector(trace, a.lanes, a.dtype, op=op), Mask(trace, a.lanes, op=op)))
    return tuple(op.results)


def vdhist(acc, src, mask):
    return histogram("vdhist", acc, src, mask)


def vchist(acc, src, mask):
    return histogram("vchist", acc, src, mask)


def histogram(name, acc, src, mask):
    what = "pto.vmi." + name
    need_vector(acc, what)
    need_vector(src, what)
    need_mask(mask, 256, what)
    if (acc.lanes, acc.dtype.name, src.lanes, src.dtype.name) != (256, "ui16", 256, "ui8"):
        refuse(f"{what} takes 256xui16 and 256xui8, got {acc!r} and {src!r}")
    return emit(name, [acc, src, mask], 256, acc.dtype)


# What `from ptodsl import pto` shows as `pto.vmi.NAME`.
EXPORTED = tuple(sorted(
    name for name, thing in list(globals().items())
    if name in ("bf16x2", "vreg", "mask", "create_mask") or name.startswith("v") and callable(thing)))
