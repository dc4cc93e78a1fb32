"""What tracing records: operations in nested blocks, and the values that flow between them.

A kernel body runs once in Python. Every `pto.*` call appends one `Op` to the innermost open `Block`; loops and branches
are operations that own blocks. Nothing is executed here.
"""

import sys
from os.path import dirname

from .errors import InternalError, TraceError

PACKAGE_DIRECTORY = dirname(__file__)


class Value:
    """Result of an operation, argument of a kernel, or loop-carried value."""

    __slots__ = ("id", "op", "block", "dtype")
    what = "value"

    def __init__(self, trace, dtype, op=None, block=None):
        self.id = trace.next_value()
        self.op = op
        self.block = block if block is not None else trace.block
        self.dtype = dtype

    def __bool__(self):
        raise TraceError(
            f"a run-time {self.what} has no truth value while tracing: use pto.if_, & | and `c ^ pto.i1(1)`; Python's "
            "and, or, not, if work on it only where the native syntax is rewritten", caller_line())

    def __iter__(self):
        raise TraceError(f"a run-time {self.what} cannot be iterated", caller_line())

    __hash__ = object.__hash__


class Vector(Value):
    __slots__ = ("lanes",)
    what = "vector"

    def __init__(self, trace, lanes, dtype, **where):
        super().__init__(trace, dtype, **where)
        self.lanes = lanes

    def __repr__(self):
        return f"vreg<{self.lanes}x{self.dtype}>"

    def same_type(self, other):
        return isinstance(other, Vector) and (self.lanes, self.dtype) == (other.lanes, other.dtype)

    def _no_operator(self, *_):
        raise TraceError("unsupported operand type(s): vectors have no Python operators, use pto.vmi.vadd and so on",
                         caller_line())

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = _no_operator
    __and__ = __or__ = __xor__ = _no_operator
    __neg__ = __invert__ = __lt__ = __le__ = __gt__ = __ge__ = _no_operator


class Mask(Value):
    __slots__ = ("lanes",)
    what = "mask"

    def __init__(self, trace, lanes, **where):
        super().__init__(trace, None, **where)
        self.lanes = lanes

    def __repr__(self):
        return f"mask<{self.lanes}xpred>"

    def same_type(self, other):
        return isinstance(other, Mask) and self.lanes == other.lanes

    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __invert__ = Vector._no_operator


class Physical(Value):
    """A register or predicate of the physical layer (recipe 22.6 b); VMI operations do not take it."""

    __slots__ = ("lanes",)
    what = "physical register"

    def __init__(self, trace, lanes, dtype, **where):
        super().__init__(trace, dtype, **where)
        self.lanes = lanes

    def __repr__(self):
        return f"physical {self.lanes}x{self.dtype}" if self.dtype is not None else "physical predicate"


class Align(Value):
    """State of an unaligned load between `vldas` and `vldus`."""

    __slots__ = ()
    what = "alignment state"

    def __init__(self, trace, **where):
        super().__init__(trace, None, **where)

    def __repr__(self):
        return "alignment state"


class Op:
    __slots__ = ("name", "args", "attrs", "results", "regions", "line", "block", "index")

    def __init__(self, name, args, attrs, line, block):
        self.name = name
        self.args = args
        self.attrs = attrs
        self.results = []
        self.regions = []
        self.line = line
        self.block = block
        self.index = 0

    def __repr__(self):
        return f"{self.name}@{self.line}"


class Block:
    """A straight list of operations. `open` is true while the body that fills it is being traced."""

    __slots__ = ("parent", "owner", "ops", "arguments", "yields", "open", "label")

    def __init__(self, parent, owner, label=""):
        self.parent = parent
        self.owner = owner
        self.ops = []
        self.arguments = []
        self.yields = []
        self.open = True
        self.label = label


class Trace:
    """One kernel being traced."""

    def __init__(self, name, file, options):
        self.name = name
        self.file = file
        self.options = options
        self.block = None
        self.values = 0
        self.warnings = []
        self.body = Block(None, None, "kernel")
        self.block = self.body
        self.parameters = []            # (name, Value) in order
        self.constants = {}
        self.explicit_scopes = False
        self.uses_hints = False
        self.line = 0                   # set by a reader of text, whose operations have no Python frame

    def next_value(self):
        self.values += 1
        return self.values

    def push(self, owner, label):
        block = Block(self.block, owner, label)
        owner.regions.append(block)
        self.block = block
        return block

    def pop(self, block):
        if self.block is not block:
            raise InternalError(f"block {block.label} closed out of order")
        block.open = False
        self.block = block.parent

    def record(self, name, args, **attrs):
        """Appends an operation whose operands are `args` (values or None)."""
        line = caller_line()
        for value in args:
            if isinstance(value, Value):
                self.check_visible(value, name, line)
        op = Op(name, list(args), attrs, line, self.block)
        self.block.ops.append(op)
        return op

    def check_visible(self, value, name, line):
        if not value.block.open:
            raise TraceError(
                f"{name}: operand {value!r} was made inside a loop or branch that has ended; carry it out with "
                ".carry/.final or br.assign", line)

    def warn(self, text):
        note = f"line {caller_line()}: {text}"
        if note not in self.warnings:
            self.warnings.append(note)


_active = []


def begin_trace(trace):
    _active.append(trace)


def end_trace():
    return _active.pop()


def tracing():
    return bool(_active)


def current(what):
    if not _active:
        raise TraceError(f"{what} may only be called while a @pto.jit kernel is traced")
    return _active[-1]


def caller_line():
    """The line of kernel code that called into the emulator."""
    if _active and _active[-1].line:
        return _active[-1].line
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE_DIRECTORY):
        frame = frame.f_back
    return frame.f_lineno if frame is not None else 0
