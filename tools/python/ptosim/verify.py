"""Checks of a whole traced kernel: vector scopes (part 6), widths of masks (part 8), layouts of grouped loads (9.1),
and the numbers a report shows about it.

Needs a complete trace. Raises VerifyError for the first problem in program order; changes nothing.
"""

from .errors import VerifyError
from .ir import Align, Mask, Physical, Vector
from .types import registers

BOUNDARIES = frozenset((
    "mte_gm_ub", "mte_ub_gm", "mte_ub_ub", "set_flag", "wait_flag", "pipe_barrier", "get_buf", "rls_buf", "scalar_load",
    "scalar_store", "block_idx", "block_num", "call"))
STRUCTURED = frozenset(("for", "if", "while"))


def is_lane_value(value):
    return isinstance(value, (Vector, Mask, Physical, Align))


def is_vector_op(op):
    return op.name not in STRUCTURED and op.name != "vecscope" and (
        any(is_lane_value(v) for v in op.args) or any(is_lane_value(v) for v in op.results))


def is_rebuilt(value):
    """Constant masks, prefix masks of scalars and broadcasts of scalars are made anew in each scope that uses them."""
    op = value.op
    return op is not None and (op.name == "create_mask" or op.name == "vbrc" and op.attrs["form"] == "scalar")


def find_boundary(op):
    """The first boundary inside a loop or branch, or None."""
    for region in op.regions:
        for inner in region.ops:
            if inner.name in BOUNDARIES or inner.name == "vecscope":
                return inner
            if inner.name in STRUCTURED:
                found = find_boundary(inner)
                if found is not None:
                    return found
    return None


class ScopeCheck:
    """Numbers the scopes that the tools infer and refuses values that cross from one to another."""

    def __init__(self, trace):
        self.trace = trace
        self.number = 0
        self.home = {}          # id of a vector or mask → (scope, line)
        self.borders = []       # what ended each scope
        self.used = set()

    def run(self):
        self.split(self.trace.body)
        return len(self.used)

    def next_scope(self, op):
        self.borders.append(op)
        self.number += 1

    def split(self, block):
        """A block whose operations may lie in different scopes."""
        for op in block.ops:
            if op.name in BOUNDARIES:
                self.next_scope(op)
            elif op.name == "vecscope":
                self.explicit(op)
            elif op.name in STRUCTURED:
                boundary = find_boundary(op)
                if boundary is None:
                    self.within(op)
                else:
                    self.cut(op, boundary)
            else:
                self.single(op)

    def explicit(self, op):
        inner = find_boundary(op)
        if inner is not None:
            raise VerifyError(f"{inner.name} inside pto.vecscope: DMA, flags, barriers of pipes, scalar memory "
                              f"accesses and "
                              "block queries end a scope", inner.line)
        self.next_scope(op)
        for nested in op.regions[0].ops:
            self.within(nested) if nested.name in STRUCTURED else self.single(nested, True)
        self.next_scope(op)

    def cut(self, op, boundary):
        """A loop or branch that contains a boundary cannot carry vectors."""
        self.next_scope(boundary)
        for value in op.results:
            if is_lane_value(value):
                raise VerifyError(
                    f"cannot infer resultless pto.vecscope: escaping value {value!r} is carried by the {op.name} of "
                    f"line "
                    f"{op.line}, whose body is cut by {boundary.name} in line {boundary.line}", op.line)
        for region in op.regions:
            self.split(region)
            self.next_scope(boundary)

    def within(self, op):
        """A loop or branch that lies in one scope as a whole."""
        for value in op.args:
            self.use(value, op)
        for region in op.regions:
            for argument in region.arguments:
                self.define(argument, op)
            for inner in region.ops:
                self.within(inner) if inner.name in STRUCTURED else self.single(inner, bool(self.explicit_depth(inner)))
            for value in region.yields:
                self.use(value, op)
        for value in op.results:
            self.define(value, op)

    def explicit_depth(self, op):
        block = op.block
        while block is not None:
            if block.label == "vecscope":
                return 1
            block = block.parent
        return 0

    def single(self, op, inside=False):
        if is_vector_op(op):
            rebuilt = all(is_rebuilt(v) for v in op.results) and bool(op.results)
            if not rebuilt:
                self.used.add(self.number)
                if self.trace.explicit_scopes and not inside and not self.explicit_depth(op):
                    raise VerifyError(f"{op.name} outside pto.vecscope in a kernel that marks its scopes", op.line)
        for value in op.args:
            self.use(value, op)
        for value in op.results:
            self.define(value, op)

    def define(self, value, op):
        if is_lane_value(value):
            self.home[value.id] = (self.number, op.line)

    def use(self, value, op):
        if not is_lane_value(value) or is_rebuilt(value):
            return
        scope, line = self.home[value.id]
        if scope != self.number:
            border = self.borders[scope]
            raise VerifyError(
                f"cannot infer resultless pto.vecscope: escaping value {value!r}, made in line {line}, is used in line "
                f"{op.line} beyond {border.name} in line {border.line}", op.line)


# Masks

# Position of the mask and of the value whose width counts, for operations that take a governing mask.
_MASK_OPERANDS = {
    "vcmp": (2, 0), "vcmps": (2, 0), "vsel": (0, 1), "vcadd": (1, 0), "vcmax": (1, 0), "vcmin": (1, 0),
    "vscatter": (3, 0), "vsstb": (4, 0), "vmula": (3, 0), "vaxpy": (3, 0), "vlrelu": (2, 0), "vprelu": (2, 0),
    "vexpdif": (2, 0), "vmull": (2, 0), "vaddc": (2, 0), "vaddcs": (2, 0), "vdhist": (2, 1), "vchist": (2, 1),
    "vintlv": (2, 0), "vdintlv": (2, 0), "vadds": (2, 0), "vmuls": (2, 0), "vmaxs": (2, 0), "vmins": (2, 0),
    "vshls": (2, 0), "vshrs": (2, 0),
}
_BINARY = ("vadd", "vsub", "vmul", "vdiv", "vmax", "vmin", "vand", "vor", "vxor", "vshl", "vshr")
_UNARY = ("vnot", "vabs", "vneg", "vrelu", "vexp", "vln", "vsqrt")


class MaskWidths:
    """Element width of each mask: that of the compare it comes from; masks of `create_mask` serve any width."""

    def __init__(self):
        self.parent = {}
        self.width = {}

    def root(self, value):
        key = value.id
        while self.parent.get(key, key) != key:
            key = self.parent[key]
        return key

    def set(self, value, width, line):
        key = self.root(value)
        if self.width.setdefault(key, width) != width:
            self.conflict(self.width[key], width, line)

    def conflict(self, a, b, line):
        raise VerifyError(f"VMI-LAYOUT-CONTRACT: a mask from {a}-bit data meets one from {b}-bit data", line)

    def join(self, a, b, line):
        if is_rebuilt(a) or is_rebuilt(b):
            return
        first, second = self.root(a), self.root(b)
        if first == second:
            return
        one, two = self.width.get(first), self.width.get(second)
        if one is not None and two is not None and one != two:
            self.conflict(one, two, line)
        self.parent[second] = first
        if one is None and two is not None:
            self.width[first] = two

    def of(self, value):
        return None if is_rebuilt(value) else self.width.get(self.root(value))


def all_ops(block):
    for op in block.ops:
        yield op
        for region in op.regions:
            yield from all_ops(region)


def collect_widths(trace):
    widths = MaskWidths()
    for op in all_ops(trace.body):
        if op.name in ("vcmp", "vcmps"):
            widths.set(op.results[0], op.args[0].dtype.bits, op.line)
        elif op.name in ("vaddc", "vaddcs"):
            widths.set(op.results[1], 32, op.line)
            if op.name == "vaddcs":
                widths.set(op.args[3], 32, op.line) if not is_rebuilt(op.args[3]) else None
        elif op.name in ("mand", "mor", "mxor"):
            widths.join(op.args[0], op.args[1], op.line)
            for argument in op.args:
                widths.join(op.results[0], argument, op.line)
        elif op.name == "mnot":
            widths.join(op.results[0], op.args[0], op.line)
        elif op.name == "for":
            body = op.regions[0]
            for group in zip(op.args[3:], body.arguments[1:], body.yields, op.results):
                join_all(widths, group, op.line)
        elif op.name == "while":
            for group in zip(op.args, op.regions[0].arguments, op.regions[1].yields, op.results):
                join_all(widths, group, op.line)
        elif op.name == "if":
            for group in zip(op.regions[0].yields, op.regions[1].yields, op.results):
                join_all(widths, group, op.line)
    return widths


def join_all(widths, group, line):
    if isinstance(group[0], Mask):
        for other in group[1:]:
            widths.join(group[0], other, line)
        for a, b in zip(group, group[1:]):
            widths.join(a, b, line)


def mask_use(op):
    """(mask, bits of the data it governs, whether a store) of an operation, or None."""
    if op.name == "vstore":
        mask = op.args[3] if op.attrs["form"] != "dintlv" else None
        return (mask, op.args[0].dtype.bits, True) if mask is not None else None
    if op.name == "vgather":
        return op.args[2], op.results[0].dtype.bits, False
    if op.name in _BINARY:
        return (op.args[2], op.args[0].dtype.bits, False) if op.args[2] is not None else None
    if op.name in _UNARY:
        return (op.args[1], op.args[0].dtype.bits, False) if op.args[1] is not None else None
    if op.name in _MASK_OPERANDS:
        where, value = _MASK_OPERANDS[op.name]
        return op.args[where], op.args[value].dtype.bits, op.name == "vsstb"
    return None


def check_masks(trace):
    widths = collect_widths(trace)
    for op in all_ops(trace.body):
        found = mask_use(op)
        if found is None:
            continue
        mask, used, is_store = found
        made = widths.of(mask)
        if made is None or made == used:
            continue
        lanes = mask.lanes
        if used < made:
            good = lanes * used >= 2048 or is_store and made == 32
        else:
            good = (made, used, lanes) in ((16, 32, 64), (8, 16, 128))
        if not good:
            raise VerifyError(f"VMI-LAYOUT-CONTRACT: {op.name} on {used}-bit data of {lanes} lanes cannot use a mask "
                              f"that comes "
                              f"from {made}-bit data (8)", op.line)


# Grouped loads

_GROUP_TO_DENSE = {("f32", 128, 2), ("f32", 256, 2), ("f32", 256, 4), ("f16", 256, 2)}
_LANEWISE = frozenset(_BINARY + _UNARY + ("vadds", "vmuls", "vmaxs", "vmins", "vshls", "vshrs", "vmula", "vaxpy",
                                          "vlrelu",
                                          "vprelu", "vsel"))


def check_groups(trace):
    """Values of grouped loads keep their rows apart; most may only go into a reduction with the same groups."""
    grouped = {}
    for op in all_ops(trace.body):
        if op.name == "vload" and op.attrs["form"] == "group":
            result = op.results[0]
            if (result.dtype.name, result.lanes, op.attrs["group"]) not in _GROUP_TO_DENSE:
                grouped[result.id] = (op.attrs["group"], op.line)
            continue
        found = next((grouped[v.id] for v in op.args if isinstance(v, Vector) and v.id in grouped), None)
        if found is None:
            continue
        group, line = found
        if op.name in _LANEWISE:
            grouped[op.results[0].id] = found
        elif op.name in ("vcadd", "vcmax", "vcmin") and op.attrs["group"] == group:
            continue
        elif op.name == "for":
            for value, argument, result in zip(op.args[3:], op.regions[0].arguments[1:], op.results):
                if value.id in grouped:
                    grouped[argument.id] = grouped[result.id] = grouped[value.id]
        elif op.name != "vcmp" and op.name != "vcmps":
            raise VerifyError(f"VMI-LAYOUT-CONTRACT: {op.name} cannot take rows of the grouped load of line {line}; "
                              f"they go "
                              f"into reductions with group={group} (9.1)", op.line)


# Pressure

class Pressure:
    """Largest number of vector registers and masks that are live at once, in the order of the program."""

    def __init__(self, trace):
        self.vectors = (0, 0)
        self.masks = (0, 0)
        self.walk(trace.body, set())

    def note(self, live, line):
        data = [v for v in live if isinstance(v, (Vector, Physical)) and v.dtype is not None]
        vectors = sum(registers(v.lanes, v.dtype) for v in data)
        masks = sum(isinstance(v, Mask) or isinstance(v, Physical) and v.dtype is None for v in live)
        if vectors > self.vectors[0]:
            self.vectors = (vectors, line)
        if masks > self.masks[0]:
            self.masks = (masks, line)

    def walk(self, block, live):
        """From the end to the start; `live` is what is needed after the block, and becomes what is needed before."""
        for op in reversed(block.ops):
            if op.regions:
                self.region(op, live)
                continue
            results = [r for r in op.results if is_lane_value(r)]
            if results or any(is_lane_value(a) for a in op.args):
                self.note(live | set(results), op.line)
            live.difference_update(results)
            live.update(a for a in op.args if is_lane_value(a))
            self.note(live, op.line)

    def region(self, op, live):
        live.difference_update(op.results)
        outer = self.outer_uses(op)
        after = live | outer
        for region in op.regions:
            inside = after | {v for v in region.yields if is_lane_value(v)}
            self.walk(region, inside)
            inside.difference_update(region.arguments)
        live.update(outer)
        live.update(a for a in op.args if is_lane_value(a))

    def outer_uses(self, op):
        """Values from outside that the body needs, in a loop up to its end."""
        inner, used = set(), set()
        for region in op.regions:
            inner.update(v for v in region.arguments if is_lane_value(v))
            used.update(v for v in region.yields if is_lane_value(v))
            for nested in all_ops(region):
                inner.update(v for v in nested.results if is_lane_value(v))
                used.update(v for v in nested.args if is_lane_value(v))
                for block in nested.regions:
                    inner.update(v for v in block.arguments if is_lane_value(v))
                    used.update(v for v in block.yields if is_lane_value(v))
        return used - inner


def verify(trace):
    """All checks; returns facts for the report."""
    scopes = ScopeCheck(trace).run()
    check_masks(trace)
    check_groups(trace)
    pressure = Pressure(trace)
    if pressure.vectors[0] > 32:
        trace.warnings.append(f"line {pressure.vectors[1]}: {pressure.vectors[0]} vector registers are live, there "
                              f"are 32")
    if pressure.masks[0] > 8:
        trace.warnings.append(f"line {pressure.masks[1]}: {pressure.masks[0]} masks are live, there are 8")
    return {"scopes": scopes, "vector_registers": pressure.vectors[0], "vector_registers_line": pressure.vectors[1],
            "masks": pressure.masks[0], "masks_line": pressure.masks[1]}
