"""What rewritten native control flow calls while tracing: Python if all operands are Python, else PTO operations."""

from .control import RangeMarker, carried_copy, check_same, for_, if_
from .errors import TraceError
from .ir import Mask, Vector, caller_line, current
from .types import I1, INDEX
from .values import Pointer, Scalar, as_index, coerce, describe, is_python_number, make_constant

LANES_AND_SCALARS = (Scalar, Vector, Mask)


class Undefined:
    """Stands for a variable that has no value: not assigned yet, or assigned in a way that cannot leave a loop."""

    def __init__(self, why):
        self.why = why

    def __repr__(self):
        return f"undefined ({self.why})"

    def _use(self, *_):
        refuse(f"an undefined variable is used: {self.why}")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _use
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _use
    __truediv__ = __rtruediv__ = __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __bool__ = _use
    __lt__ = __le__ = __gt__ = __ge__ = _use


UNASSIGNED = Undefined("not assigned before")


def refuse(message):
    raise TraceError(message, caller_line())


def value(read):
    """The variable's value before a construct."""
    try:
        return read()
    except NameError:
        return UNASSIGNED


class Bounds:
    def __init__(self, low, high, step, unroll=None, unroll_factor=None):
        self.low, self.high, self.step = low, high, step
        self.unroll, self.unroll_factor = unroll, unroll_factor


def arguments(*bounds):
    """The arguments of `range(…)`."""
    if not 1 <= len(bounds) <= 3:
        refuse(f"range takes 1 to 3 arguments, got {len(bounds)}")
    low, high = (0, bounds[0]) if len(bounds) == 1 else bounds[:2]
    return Bounds(low, high, bounds[2] if len(bounds) == 3 else 1)


def is_static(bounds):
    return isinstance(bounds, Bounds) and not any(isinstance(b, Scalar) for b in (bounds.low, bounds.high, bounds.step))


def open_loop(bounds):
    if isinstance(bounds, RangeMarker):
        low, high = bounds.bounds
        return for_(low, high, step=bounds.step, unroll=bounds.unroll, unroll_factor=bounds.unroll_factor)
    return for_(bounds.low, bounds.high, step=bounds.step)


def loop(bounds, body, names, values):
    if is_static(bounds):
        for i in range(bounds.low, bounds.high, bounds.step):
            values = body(i, *values)
        return values
    carried = [n for n, v in zip(names, values) if isinstance(v, LANES_AND_SCALARS)]
    explicit = open_loop(bounds)
    if carried:
        explicit.carry(**{n: v for n, v in zip(names, values) if n in carried})
    with explicit:
        inside = [getattr(explicit, n) if n in carried else entering(n, v) for n, v in zip(names, values)]
        after = body(explicit.iv, *inside)
        if carried:
            explicit.update(**{n: v for n, v in zip(names, after) if n in carried})
    return tuple(explicit.final(n) if n in carried else leaving(n, before, now)
                 for n, before, now in zip(names, values, after))


def entering(name, before):
    """What a variable that cannot be carried is inside a run-time loop."""
    if isinstance(before, Pointer):
        return Undefined(f"pointer {name} is assigned in the loop, and pointers cannot be carried")
    return before


def leaving(name, before, after):
    """What it is after the loop."""
    if after is before:
        return before
    if is_python_number(before):
        if is_python_number(after) and type(after) is type(before) and after == before:
            return before
        refuse(f"{name} starts as the Python number {before!r} and changes in a run-time loop; types of carried "
               f"values cannot "
               "change, so start it as pto.const(n, dtype=pto.i32) or the like")
    return Undefined(f"{name} was assigned in a run-time loop without a value before it")


_flags_are_typed = [False]      # innermost loop with jumps: whether it is a run-time loop


def no():
    return make_constant(I1, 0) if _flags_are_typed[-1] else 0


def yes():
    return make_constant(I1, 1) if _flags_are_typed[-1] else 1


def negate(flag):
    return flag ^ make_constant(I1, 1) if isinstance(flag, Scalar) else not flag


def loop_with_break(bounds, body, names, values):
    """A counted loop that may end early; the last variable says whether it has."""
    if is_static(bounds):
        return static_loop_with_break(bounds, body, values)
    if isinstance(bounds, RangeMarker) and (bounds.unroll or bounds.unroll_factor):
        refuse("a loop with break or continue cannot carry unroll hints (part 20)")
    if isinstance(bounds, RangeMarker):
        bounds = Bounds(*bounds.bounds, bounds.step)
    low, high, step = (as_index(b, "range") for b in (bounds.low, bounds.high, bounds.step))
    high, step, counter = to_index(high), to_index(step), to_index(low)
    values = list(values[:-1]) + [make_constant(I1, 0), counter]

    def test(*state):
        return (state[-1] < high) & negate(state[-2])

    def step_body(*state):
        after = flagged(True, body, state[-1], *state[:-1])
        return tuple(after) + (state[-1] + step,)

    return repeat(test, step_body, tuple(names) + ("the counter",), tuple(values))[:-1]


def flagged(typed_flags, body, *arguments_of_body):
    _flags_are_typed.append(typed_flags)
    try:
        return body(*arguments_of_body)
    finally:
        _flags_are_typed.pop()


def to_index(scalar):
    from .scalars import index_cast
    return index_cast(scalar) if scalar.dtype is not INDEX else scalar


def static_loop_with_break(bounds, body, values):
    for i in range(bounds.low, bounds.high, bounds.step):
        values = flagged(False, body, i, *values)
        if isinstance(values[-1], Scalar):
            refuse("a run-time `break` in a loop over Python numbers; give range a run-time bound such as pto.const(4)")
        if values[-1]:
            break
    return values


def repeat(test, body, names, values):
    """`while`: the test decides whether it is a run-time loop."""
    trace = current("while")
    op = trace.record("while", [])
    region = trace.push(op, "test")
    carried = [i for i, v in enumerate(values) if isinstance(v, LANES_AND_SCALARS)]
    inside = list(values)
    for i in range(len(values)):
        inside[i] = carried_copy(trace, values[i], region) if i in carried else entering(names[i], values[i])
    go_on = test(*inside)
    if not isinstance(go_on, Scalar):
        trace.pop(region)
        trace.block.ops.pop()
        while test(*values):
            values = body(*values)
        return values
    if go_on.dtype is not I1:
        refuse(f"while needs an i1 condition, got {go_on.dtype}")
    region.arguments.extend(inside[i] for i in carried)
    region.yields.append(go_on)
    # The body sees the values that the test saw, so its block lies inside the test's.
    inner = trace.push(op, "body")
    after = body(*inside)
    inner.yields.extend(check_same(after[i], values[i], "while", names[i]) for i in carried)
    trace.pop(inner)
    trace.pop(region)
    op.args.extend(values[i] for i in carried)
    results = list(leaving_all(names, values, after, carried))
    for i in carried:
        results[i] = carried_copy(trace, values[i], trace.block)
        results[i].op = op
        op.results.append(results[i])
    return tuple(results)


def leaving_all(names, values, after, carried):
    for i, (name, before, now) in enumerate(zip(names, values, after)):
        yield None if i in carried else leaving(name, before, now)


def branch(condition, then, otherwise, names, values):
    if not isinstance(condition, Scalar):
        return then(*values) if condition else otherwise(*values)
    explicit = if_(condition)
    with explicit:
        with explicit.then_:
            first = then(*values)
        with explicit.else_:
            second = otherwise(*values)
        results = {}
        for name, a, b in zip(names, first, second):
            if a is b:
                results[name] = a
            elif isinstance(a, LANES_AND_SCALARS) or isinstance(b, LANES_AND_SCALARS):
                a, b = typed(explicit, "then", a, b), typed(explicit, "else", b, a)
                if isinstance(a, LANES_AND_SCALARS) and isinstance(b, LANES_AND_SCALARS):
                    explicit._assigned.setdefault("then", {})[name] = a
                    explicit._assigned.setdefault("else", {})[name] = b
                    continue
                results[name] = Undefined(f"{name} is assigned in one arm of a run-time `if` only")
            elif is_python_number(a) and is_python_number(b):
                if type(a) is not type(b) or a != b:
                    refuse(f"{name} gets the Python numbers {a!r} and {b!r} in the arms of a run-time `if`; give them "
                           f"a type, "
                           "such as pto.i32(…)")
                results[name] = a
            else:
                results[name] = Undefined(f"{name} differs between the arms of a run-time `if`: {describe(a)}, "
                                          f"{describe(b)}")
    return tuple(results[n] if n in results else getattr(explicit, n) for n in names)


def typed(explicit, arm, value_here, value_there):
    """A Python number becomes a constant of the other arm's type, recorded in its own arm."""
    if not is_python_number(value_here) or not isinstance(value_there, Scalar):
        return value_here
    trace = current("if")
    block = explicit._arms[arm]
    outer, trace.block, block.open = trace.block, block, True
    result = coerce(value_here, value_there.dtype, "if")
    trace.block, block.open = outer, False
    return result
