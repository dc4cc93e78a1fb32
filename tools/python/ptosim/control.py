"""Loops, branches and scopes (parts 6, 18 and 20), as far as tracing sees them."""

from .errors import TraceError
from .ir import Mask, Vector, caller_line, current
from .types import I1, INDEX
from .values import Scalar, as_index, coerce, describe, is_python_number

MAX_UNROLL_FACTOR = 1024


def refuse(message):
    raise TraceError(message, caller_line())


def carried_copy(trace, value, block):
    """The value that stands for `value` inside a loop, or after a loop or branch."""
    if isinstance(value, Vector):
        return Vector(trace, value.lanes, value.dtype, block=block)
    if isinstance(value, Mask):
        return Mask(trace, value.lanes, block=block)
    return Scalar(trace, value.dtype, block=block)


def check_carried(value, what, name):
    if isinstance(value, (Scalar, Vector, Mask)):
        return value
    if is_python_number(value):
        refuse(f"{what}: {name} starts as a Python number; types of carried values cannot change, so start it as "
               "pto.const(n, dtype=pto.i32), pto.f32(x) or the like")
    refuse(f"{what}: {name} must be a scalar, vector or mask, got {describe(value)}")


def check_same(value, like, what, name):
    """A new value for a carried one: exactly the same type."""
    if isinstance(like, Scalar):
        if isinstance(value, Scalar) and value.dtype is not like.dtype:
            refuse(f"{what}: {name} has type {like.dtype}, got {value.dtype}")
        return coerce(value, like.dtype, f"{what} {name}")
    if not like.same_type(value):
        refuse(f"{what}: {name} has type {like!r}, got {describe(value)}")
    return value


def check_hints(what, unroll, unroll_factor, trace):
    if unroll is None and unroll_factor is None:
        return None
    if not trace.options.hints:
        refuse(f"{what}: unroll hints are unknown to the chosen toolchain (part 20)")
    if unroll is not None and unroll_factor is not None:
        refuse(f"{what}: unroll and unroll_factor exclude each other")
    if unroll is not None:
        if unroll not in ("full", "enable"):
            refuse(f"{what}: unknown unroll hint {unroll!r}; it is \"full\" or \"enable\"")
        trace.uses_hints = True
        return unroll
    if isinstance(unroll_factor, bool) or not isinstance(unroll_factor, int):
        refuse(f"{what}: unroll_factor must be an integer known while tracing, got {describe(unroll_factor)}")
    if not 1 <= unroll_factor <= MAX_UNROLL_FACTOR:
        refuse(f"{what}: unroll_factor must be 1 … {MAX_UNROLL_FACTOR}, got {unroll_factor}")
    trace.uses_hints = True
    if unroll_factor == 1:
        trace.warn("unroll_factor=1 is dropped")
    return unroll_factor


class Loop:
    """What `pto.for_` returns: a context manager, after `.carry(…)` with state."""

    def __init__(self, low, high, step, hint):
        self._range = (low, high, step)
        self._hint = hint
        self._initial = {}
        self._state = "new"
        self._updated = None
        self._values = {}
        self._finals = {}
        self._op = None
        self._block = None

    def carry(self, **initial):
        if self._state != "new" or self._initial:
            refuse("pto.for_: .carry(…) is called once, before the loop is entered")
        if not initial:
            refuse("pto.for_: .carry(…) without names")
        for name, value in initial.items():
            if name in ("iv", "update", "final", "carry") or name.startswith("_"):
                refuse(f"pto.for_: a carried value cannot be called {name!r}")
            check_carried(value, "pto.for_.carry", name)
        self._initial = dict(initial)
        return self

    def __enter__(self):
        if self._state != "new":
            refuse("pto.for_: a loop object is entered once")
        trace = current("pto.for_")
        self._op = trace.record("for", list(self._range) + list(self._initial.values()), hint=self._hint,
                                names=list(self._initial))
        self._block = trace.push(self._op, "for")
        variable = Scalar(trace, INDEX, block=self._block)
        self._block.arguments.append(variable)
        self.iv = variable
        for name, value in self._initial.items():
            self._values[name] = carried_copy(trace, value, self._block)
            self._block.arguments.append(self._values[name])
        self._state = "open"
        return self if self._initial else variable

    def __exit__(self, kind, *_):
        if kind is not None:
            return False
        trace = current("pto.for_")
        if self._initial and self._updated is None:
            refuse("pto.for_: loop.update(…) is missing; carried values are updated exactly once per iteration")
        self._block.yields = [self._updated[name] for name in self._initial] if self._initial else []
        trace.pop(self._block)
        for name, value in self._initial.items():
            self._finals[name] = carried_copy(trace, value, trace.block)
            self._finals[name].op = self._op
            self._op.results.append(self._finals[name])
        self._state = "closed"
        return False

    def update(self, **values):
        if self._state != "open" or current("loop.update").block is not self._block:
            refuse("loop.update(…) belongs directly into the body of its loop")
        if self._updated is not None:
            refuse("loop.update(…) is called exactly once")
        if set(values) != set(self._initial):
            refuse(f"loop.update(…) needs all carried names {sorted(self._initial)}, got {sorted(values)}")
        self._updated = {name: check_same(value, self._initial[name], "loop.update", name)
                         for name, value in values.items()}
        trace = current("loop.update")
        for value in self._updated.values():
            trace.check_visible(value, "loop.update", caller_line())

    def final(self, name):
        if self._state != "closed":
            refuse("loop.final(…) is available after the loop")
        if name not in self._finals:
            refuse(f"loop.final: {name!r} is not carried; carried are {sorted(self._finals)}")
        return self._finals[name]

    def __getattr__(self, name):
        values = self.__dict__.get("_values", {})
        if name not in values:
            raise TraceError(f"the loop carries no {name!r}", caller_line())
        if self._state != "open":
            refuse(f"loop.{name} is the value inside the loop; afterwards use loop.final({name!r})")
        return values[name]


def for_(start, stop, *, step, unroll=None, unroll_factor=None):
    trace = current("pto.for_")
    low, high, by = (as_index(v, "pto.for_") for v in (start, stop, step))
    if by.const is not None and by.const <= 0:
        refuse(f"pto.for_: step must be positive, got {by.const}")
    hint = check_hints("pto.for_", unroll, unroll_factor, trace)
    if hint is not None and any(bound.const is None for bound in (low, high, by)):
        trace.warn("the tools drop an unroll hint on a loop whose trip count is known at run time only")
    return Loop(low, high, by, hint)


class _Arm:
    def __init__(self, branch, label):
        self._branch = branch
        self._label = label
        self._block = None

    def __enter__(self):
        return self._branch._enter(self)

    def __exit__(self, kind, *_):
        if kind is None:
            self._branch._leave(self)
        return False


class Branch:
    """What `with pto.if_(c) as br` gives."""

    def __init__(self, condition):
        self._condition = condition
        self._op = None
        self._arms = {}
        self._assigned = {}
        self._results = {}
        self._state = "new"
        self._outer = None
        self.then_ = _Arm(self, "then")
        self.else_ = _Arm(self, "else")

    def __enter__(self):
        if self._state != "new":
            refuse("pto.if_: a branch object is entered once")
        trace = current("pto.if_")
        self._op = trace.record("if", [self._condition], names=[])
        self._outer = trace.block
        self._state = "open"
        return self

    def _enter(self, arm):
        trace = current("pto.if_")
        if self._state != "open" or trace.block is not self._outer:
            refuse("br.then_ and br.else_ are entered directly inside `with pto.if_(…) as br`")
        if arm._block is not None:
            refuse(f"br.{arm._label}_ is entered once")
        if arm is self.then_ and self.else_._block is not None:
            refuse("br.then_ comes before br.else_")
        arm._block = trace.push(self._op, arm._label)
        self._arms[arm._label] = arm._block
        return self

    def _leave(self, arm):
        current("pto.if_").pop(arm._block)

    def assign(self, **values):
        trace = current("br.assign")
        for label, block in self._arms.items():
            if trace.block is block:
                break
        else:
            refuse("br.assign(…) belongs directly into br.then_ or br.else_")
        slot = self._assigned.setdefault(label, {})
        for name, value in values.items():
            if name.startswith("_") or name in ("then_", "else_", "assign"):
                refuse(f"br.assign: a result cannot be called {name!r}")
            if not isinstance(value, (Scalar, Vector, Mask)):
                refuse(f"br.assign: {name} must be a PTO scalar, vector or mask, got {describe(value)}")
            trace.check_visible(value, "br.assign", caller_line())
            slot[name] = value

    def __exit__(self, kind, *_):
        if kind is not None:
            return False
        trace = current("pto.if_")
        if "then" not in self._arms:
            refuse("pto.if_: br.then_ is missing")
        if trace.block is not self._outer:
            refuse("pto.if_: an arm is still open")
        if len(self._op.regions) == 1:
            trace.pop(trace.push(self._op, "else"))
        then, otherwise = self._assigned.get("then", {}), self._assigned.get("else", {})
        if set(then) != set(otherwise):
            refuse("br.assign(…) must give the same names in both arms; "
                   f"then has {sorted(then)}, else has {sorted(otherwise)}")
        for name, value in then.items():
            other = otherwise[name]
            if isinstance(value, Scalar):
                same = isinstance(other, Scalar) and value.dtype is other.dtype
            else:
                same = value.same_type(other)
            if not same:
                refuse(f"br.assign: {name} is {value!r} in one arm and {other!r} in the other")
            self._op.regions[0].yields.append(value)
            self._op.regions[1].yields.append(other)
            result = carried_copy(trace, value, trace.block)
            result.op = self._op
            self._op.results.append(result)
            self._results[name] = result
        self._op.attrs["names"] = list(then)
        self._state = "closed"
        return False

    def __getattr__(self, name):
        results = self.__dict__.get("_results", {})
        if name not in results:
            raise TraceError(f"the branch assigns no {name!r} (results exist after the `with`)", caller_line())
        return results[name]


def if_(condition):
    current("pto.if_")
    if not isinstance(condition, Scalar) or condition.dtype is not I1:
        refuse(f"pto.if_ branches on an i1 scalar, got {describe(condition)}")
    return Branch(condition)


class _Scope:
    def __enter__(self):
        trace = current("pto.vecscope")
        block = trace.block
        while block is not None:
            if block.label == "vecscope":
                refuse("pto.vecscope: scopes do not nest")
            block = block.parent
        trace.explicit_scopes = True
        self._block = trace.push(trace.record("vecscope", []), "vecscope")

    def __exit__(self, kind, *_):
        if kind is None:
            current("pto.vecscope").pop(self._block)
        return False


def vecscope():
    current("pto.vecscope")
    return _Scope()


def static_range(*bounds):
    """Unrolled while tracing: a plain Python range over Python integers."""
    current("pto.static_range")
    for bound in bounds:
        if isinstance(bound, bool) or not isinstance(bound, int):
            refuse(f"pto.static_range takes Python integers, got {describe(bound)}")
    return range(*bounds)


class RangeMarker:
    """`pto.range(…)`: means something only as the iterable of a native `for` that is rewritten."""

    def __init__(self, bounds, step, unroll, unroll_factor):
        self.bounds = bounds
        self.step = step
        self.unroll = unroll
        self.unroll_factor = unroll_factor

    def __iter__(self):
        refuse("pto.range(…) is only a marker for native `for` in a rewritten kernel; it cannot be iterated in plain "
               "Python "
               "(use pto.for_, or pto.static_range to unroll while tracing)")


def range_(*bounds, step=None, unroll=None, unroll_factor=None):
    trace = current("pto.range")
    if not 1 <= len(bounds) <= 2 or len(bounds) == 1 and step is not None:
        refuse("pto.range takes (stop) or (start, stop, step=…)")
    step = 1 if step is None else step
    if not trace.options.hints:
        refuse("pto.range is unknown to the chosen toolchain (part 20)")
    check_hints("pto.range", unroll, unroll_factor, trace)
    low, high = bounds if len(bounds) == 2 else (0, bounds[0])
    return RangeMarker((low, high), step, unroll, unroll_factor)
