"""`@pto.jit`: kernels and helpers, their arguments, and tracing (parts 2 and 18.2)."""

import inspect

from . import rewrite
from .errors import PtoError, TraceError, line_of
from .ir import Mask, Trace, Vector, begin_trace, caller_line, current, end_trace, tracing
from .types import I1, DType, PointerType
from .values import Pointer, Scalar, coerce, describe, is_python_number

_MODES = ("auto", "explicit")


class Options:
    """What the user of the emulator chooses: `hints` whether the toolchain knows unroll hints, `fused` whether
    multiply-add (vmula, vaxpy) rounds once; the specification does not say."""

    def __init__(self, hints=True, fused=True):
        self.hints = hints
        self.fused = fused


DEFAULT_OPTIONS = Options()


class ConstExpr:
    """`pto.const_expr`: the annotation of compile-time parameters, and the marker of trace-time conditions."""

    def __call__(self, value):
        current("pto.const_expr")
        if isinstance(value, (Scalar, Vector, Mask, Pointer)):
            raise TraceError("pto.const_expr(…) needs a value known while tracing, got a run-time value", caller_line())
        return bool(value)

    def __repr__(self):
        return "pto.const_expr"


const_expr = ConstExpr()


def check_argument_type(kernel, name, annotation):
    if isinstance(annotation, str):
        raise TraceError(f"{kernel.name}: the annotation of {name} is a string; leave out "
                         "`from __future__ import annotations`", kernel.line, kernel.file)
    if isinstance(annotation, PointerType):
        if kernel.entry and annotation.space != "gm":
            raise TraceError(f"{kernel.name}: argument {name} is a UB pointer; an entry takes GM pointers and scalars "
                             f"only",
                             kernel.line, kernel.file)
        return
    if isinstance(annotation, DType) and (annotation.is_int or annotation.is_float or annotation is I1):
        return
    raise TraceError(f"{kernel.name}: argument {name} needs pto.ptr(T, \"gm\") or a scalar type as annotation, got "
                     f"{annotation!r}", kernel.line, kernel.file)


class Kernel:
    """A function decorated with `@pto.jit`. Nothing is traced before it is compiled or called."""

    def __init__(self, function, name, target, backend, mode, kernel_kind, entry, insert_sync, ast_rewrite):
        self.function = function
        self.python_name = function.__name__
        self.name = name if name is not None else function.__name__
        self.mode = mode
        self.entry = entry
        self.ast_rewrite = ast_rewrite
        self.file = function.__code__.co_filename
        self.line = function.__code__.co_firstlineno
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self.check_header(target, backend, mode, kernel_kind, entry, insert_sync)
        self.parameters = []
        self.constants = {}
        self.read_signature()
        self.body = None

    def check_header(self, target, backend, mode, kernel_kind, entry, insert_sync):
        def refuse(text):
            raise TraceError(f"@pto.jit of {self.python_name}: {text}", self.line, self.file)

        if not isinstance(self.name, str) or not self.name.isidentifier():
            refuse(f"name must be a symbol, got {self.name!r}")
        if target != "a5":
            refuse(f"target must be \"a5\" (\"a3\" has no VMI), got {target!r}")
        if backend != "vpto":
            refuse(f"backend must be \"vpto\" for VMI, got {backend!r}")
        if mode not in _MODES:
            refuse(f"mode must be \"auto\" or \"explicit\", got {mode!r}")
        if mode != "explicit":
            refuse("the emulator executes mode=\"explicit\" only; in auto mode the tools plan tile buffers themselves")
        if kernel_kind not in (None, "vector"):
            refuse(f"kernel_kind must be \"vector\", got {kernel_kind!r}")
        if not isinstance(entry, bool):
            refuse("entry must be True or False")
        if insert_sync not in (None, False):
            refuse("insert_sync inserts nothing for raw UB pointers (2.2); set flags yourself")

    def read_signature(self):
        for name, parameter in inspect.signature(self.function).parameters.items():
            if parameter.kind == parameter.POSITIONAL_OR_KEYWORD:
                if parameter.default is not parameter.empty:
                    raise TraceError(f"{self.name}: positional argument {name} has a default", self.line, self.file)
                check_argument_type(self, name, parameter.annotation)
                self.parameters.append((name, parameter.annotation))
            elif parameter.kind == parameter.KEYWORD_ONLY:
                if not self.entry:
                    raise TraceError(f"{self.name}: a helper has no const_expr parameters", self.line, self.file)
                if parameter.annotation is not const_expr:
                    raise TraceError(f"{self.name}: keyword-only parameter {name} must be annotated pto.const_expr",
                                     self.line, self.file)
                self.constants[name] = parameter.default
            else:
                raise TraceError(f"{self.name}: *{name} is not possible in a kernel", self.line, self.file)

    def traced_function(self):
        """The body, with native control flow rewritten where the source is at hand (2.1)."""
        if self.body is None:
            self.body = rewrite.rewrite(self.function, self.file, self.ast_rewrite)
        return self.body

    def __call__(self, *args, **named):
        if not tracing():
            raise TraceError(f"{self.name} is a kernel: compile it and launch it, kernel.compile()[blocks, stream](…)",
                             caller_line())
        if self.entry:
            raise TraceError(f"{self.name} is an entry; a traced body calls helpers (entry=False) only", caller_line())
        if named or len(args) != len(self.parameters):
            raise TraceError(f"helper {self.name} takes {len(self.parameters)} positional arguments", caller_line())
        trace = current(self.name)
        passed = []
        for (name, kind), value in zip(self.parameters, args):
            what = f"argument {name} of helper {self.name}"
            if isinstance(value, (Vector, Mask)):
                raise TraceError(f"{what}: signatures cannot carry vectors or masks", caller_line())
            if isinstance(kind, PointerType):
                if not isinstance(value, Pointer) or value.type != kind:
                    raise TraceError(f"{what} is {kind!r}, got {describe(value)}", caller_line())
                passed.append(value)
            else:
                passed.append(coerce(value, kind, what))
        trace.record("call", [], callee=self.name)
        if self.traced_function()(*passed) is not None:
            raise TraceError(f"helper {self.name} returns a value; helpers have no result", caller_line())
        trace.record("call", [], callee=self.name)
        return None

    def trace(self, constants=None, options=DEFAULT_OPTIONS):
        """Runs the body once and returns what it recorded."""
        if not self.entry:
            raise TraceError(f"{self.name} is a helper, it cannot be launched", self.line, self.file)
        trace = Trace(self.name, self.file, options)
        trace.constants = self.bind_constants(constants or {})
        args = []
        for name, kind in self.parameters:
            if isinstance(kind, PointerType):
                value = Pointer(trace, kind.dtype, "gm", block=trace.body)
                value.root = value
            else:
                value = Scalar(trace, kind, block=trace.body)
            trace.parameters.append((name, value))
            args.append(value)
        begin_trace(trace)
        try:
            result = self.traced_function()(*args, **trace.constants)
        except PtoError as error:
            error.file = error.file or self.file
            error.line = error.line or line_of(error, self.file)
            raise
        finally:
            end_trace()
        if result is not None:
            raise TraceError(f"{self.name} returns a value; a kernel has no result", self.line, self.file)
        if trace.block is not trace.body:
            raise TraceError(f"{self.name}: a `return` left a loop or branch; everything after it is missing from the "
                             "kernel", self.line, self.file)
        return trace

    def bind_constants(self, given):
        unknown = sorted(set(given) - set(self.constants))
        if unknown:
            raise TraceError(f"{self.name} has no const_expr parameter {', '.join(unknown)}", self.line, self.file)
        bound = dict(self.constants)
        bound.update(given)
        for name, value in bound.items():
            if value is inspect.Parameter.empty:
                raise TraceError(f"{self.name}: const_expr parameter {name} needs a value", self.line, self.file)
            if not (is_python_number(value) or isinstance(value, (bool, str))):
                raise TraceError(f"{self.name}: const_expr parameter {name} must be a Python constant", self.line,
                                 self.file)
        return bound

    def compile(self, **constants):
        """The launchable form, as in `kernel.compile(N=4)[blocks, stream](x, y, n)`."""
        from .executor import Compiled
        return Compiled(self, constants, DEFAULT_OPTIONS)


def jit(*, name=None, target="a5", backend="vpto", mode="auto", kernel_kind=None, entry=True, insert_sync=None,
        ast_rewrite=True, source=None):
    """The decorator of kernels."""
    if source is not None:
        raise TraceError("@pto.jit: source= takes .pto text, which the emulator does not read", caller_line())

    def decorate(function):
        if not inspect.isfunction(function):
            raise TraceError("@pto.jit decorates a function", caller_line())
        return Kernel(function, name, target, backend, mode, kernel_kind, entry, insert_sync, ast_rewrite)
    return decorate
