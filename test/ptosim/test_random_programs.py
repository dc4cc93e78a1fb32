"""Random nests of loops and branches over scalars, vectors and masks: traced and executed, and evaluated with plain Python
lists by an evaluator that shares nothing with the emulator."""

import random

import numpy as np
import pytest

from ptodsl import pto, scalar
from ptosim.assembly_reader import read_lines
from ptosim.executor import Compiled
from ptosim.jit import DEFAULT_OPTIONS
from support import kernel_of, sync, ub

LANES = 64
WORD = (1 << 32) - 1


class Plain:
    """The meaning of a program on Python numbers and lists."""

    def __init__(self, n):
        self.n = n

    @staticmethod
    def wrap(x):
        x &= WORD
        return x - (1 << 32) if x >> 31 else x

    def scalar(self, op, a, b):
        if op == "add":
            return self.wrap(a + b)
        if op == "mul":
            return self.wrap(a * b)
        if op == "rem":
            return abs(a) % 7 * (-1 if a < 0 else 1)
        return max(a, b)

    def vector(self, op, a, b):
        if op == "add":
            return [(x + y) & WORD for x, y in zip(a, b)]
        if op == "mul":
            return [x * y & WORD for x, y in zip(a, b)]
        if op == "max":
            return [max(x, y) for x, y in zip(a, b)]
        return [x ^ y for x, y in zip(a, b)]

    def broadcast(self, a):
        return [a & WORD] * LANES

    def compare(self, a, b):
        return [x < y for x, y in zip(a, b)]

    def prefix(self, a):
        return [i < a % 64 if a >= 0 else False for i in range(LANES)]

    def select(self, m, a, b):
        return [x if c else y for c, x, y in zip(m, a, b)]

    def loop(self, count, state, body):
        for i in range(count):
            state = body(i, state)
        return state

    def branch(self, a, b, state, then, otherwise):
        return then(state) if a < b else otherwise(state)


class Device:
    """The same meaning as PTO operations."""

    def __init__(self, n):
        self.n = n
        self.full = pto.vmi.create_mask(LANES, size=LANES)

    def scalar(self, op, a, b):
        if op == "add":
            return a + b
        if op == "mul":
            return a * b
        if op == "rem":
            return a % 7
        return scalar.max(a, b)

    def vector(self, op, a, b):
        return {"add": pto.vmi.vadd, "mul": pto.vmi.vmul, "max": pto.vmi.vmax, "xor": pto.vmi.vxor}[op](a, b, self.full)

    def broadcast(self, a):
        return pto.vmi.vbrc(scalar.cast(a, pto.ui32), size=LANES)

    def compare(self, a, b):
        return pto.vmi.vcmp(a, b, self.full, "lt")

    def prefix(self, a):
        return pto.vmi.create_mask(scalar.select(a >= 0, a % 64, pto.i32(0)), size=LANES)

    def select(self, m, a, b):
        return pto.vmi.vsel(m, a, b)

    def loop(self, count, state, body):
        names = [f"x{k}" for k in range(len(state))]
        loop = pto.for_(0, count, step=1).carry(**dict(zip(names, state)))
        with loop:
            after = body(scalar.index_cast(pto.i32, loop.iv), [getattr(loop, name) for name in names])
            loop.update(**dict(zip(names, after)))
        return [loop.final(name) for name in names]

    def branch(self, a, b, state, then, otherwise):
        names = [f"x{k}" for k in range(len(state))]
        with pto.if_(a < b) as branch:
            with branch.then_:
                branch.assign(**dict(zip(names, then(list(state)))))
            with branch.else_:
                branch.assign(**dict(zip(names, otherwise(list(state)))))
        return [getattr(branch, name) for name in names]


KINDS = "ssvvvm"      # kinds of the variables of a program: scalar, vector, mask


def make_block(rng, depth):
    """A random list of steps; each names variables by number only, so both sides can run it."""
    steps = []
    for _ in range(rng.randint(2, 5)):
        kind = rng.choice("ssvvvmm" + ("LB" * 2 if depth else ""))
        if kind == "s":
            steps.append(("s", rng.randrange(2), rng.choice(("add", "mul", "rem", "max")), rng.randrange(2), rng.randrange(2)))
        elif kind == "v":
            how = rng.choice(("add", "mul", "max", "xor", "broadcast", "select"))
            steps.append(("v", 2 + rng.randrange(3), how, 2 + rng.randrange(3), 2 + rng.randrange(3), rng.randrange(2)))
        elif kind == "m":
            how = rng.choice(("compare", "prefix"))
            steps.append(("m", 5, how, 2 + rng.randrange(3), 2 + rng.randrange(3), rng.randrange(2)))
        elif kind == "L":
            steps.append(("L", rng.randrange(4), rng.random() < 0.5, make_block(rng, depth - 1)))
        else:
            steps.append(("B", rng.randrange(2), rng.randrange(2), make_block(rng, depth - 1), make_block(rng, depth - 1)))
    # Rotating variables makes a wrong order of assignments visible.
    steps.append(("R", rng.choice(((1, 0, 3, 4, 2, 5), (0, 1, 4, 2, 3, 5), (1, 0, 2, 4, 3, 5)))))
    return steps


def run_block(side, steps, state):
    state = list(state)
    for step in steps:
        if step[0] == "s":
            _, target, op, a, b = step
            state[target] = side.scalar(op, state[a], state[b])
        elif step[0] == "v":
            _, target, how, a, b, s = step
            if how == "broadcast":
                state[target] = side.broadcast(state[s])
            elif how == "select":
                state[target] = side.select(state[5], state[a], state[b])
            else:
                state[target] = side.vector(how, state[a], state[b])
        elif step[0] == "m":
            _, target, how, a, b, s = step
            state[target] = side.compare(state[a], state[b]) if how == "compare" else side.prefix(state[s])
        elif step[0] == "L":
            _, count, runtime, body = step

            def iteration(i, inner, body=body):
                inner = list(inner)
                inner[0] = side.scalar("add", inner[0], i)
                return run_block(side, body, inner)

            # A trip count at run time is count · n with n = 1.
            state = list(side.loop(side.n * count if runtime else count, state, iteration))
        elif step[0] == "B":
            _, a, b, then, otherwise = step
            state = list(side.branch(state[a], state[b], state, lambda x, t=then: run_block(side, t, x),
                                     lambda x, t=otherwise: run_block(side, t, x)))
        else:
            state = [state[k] for k in step[1]]
    return state


@pytest.mark.parametrize("seed", range(60))
def test_random_program(seed):
    rng = random.Random(seed)
    program = make_block(rng, 3)
    source = np.array([rng.getrandbits(32) for _ in range(3 * LANES)], np.uint32)
    a, b = rng.randint(-100, 100), rng.randint(-100, 100)

    def body(x_gm, o_gm, p, q, n):
        x, o = ub(0, pto.ui32), ub(4096, pto.ui32)
        pto.mte_gm_ub(x_gm, x, 0, source.nbytes, nburst=(1, 0, 0))
        sync("MTE2", "V")
        device = Device(n)
        vectors = [pto.vmi.vload(x, k * LANES, size=LANES) for k in range(3)]
        state = run_block(device, program, [p, q, *vectors, device.compare(vectors[0], vectors[1])])
        for k in range(3):
            pto.vmi.vstore(state[2 + k], o, k * LANES)
        for k in range(2):
            pto.vmi.vstore(device.broadcast(state[k]), o, (3 + k) * LANES)
        one, zero = (pto.vmi.vbrc(pto.ui32(v), size=LANES) for v in (1, 0))
        pto.vmi.vstore(pto.vmi.vsel(state[5], one, zero), o, 5 * LANES)
        sync("V", "MTE3")
        pto.mte_ub_gm(o, o_gm, 6 * LANES * 4, nburst=(1, 0, 0))

    kernel = kernel_of(body, [("x_gm", pto.ptr(pto.ui32, "gm")), ("o_gm", pto.ptr(pto.ui32, "gm")), ("p", pto.i32),
                              ("q", pto.i32), ("n", pto.i32)])
    out = np.zeros(6 * LANES, np.uint32)
    compiled = kernel.compile()
    compiled[1, None](source, out, a, b, 1)

    plain = Plain(1)
    words = source.tolist()
    vectors = [words[k * LANES:(k + 1) * LANES] for k in range(3)]
    state = run_block(plain, program, [a, b, *vectors, plain.compare(vectors[0], vectors[1])])
    expected = state[2] + state[3] + state[4] + plain.broadcast(state[0]) + plain.broadcast(state[1]) + \
        [int(m) for m in state[5]]
    assert out.tolist() == expected

    # The same program as text.
    again = Compiled(read_lines(compiled.mlir_text().splitlines(), "k.pto")["k"], {}, DEFAULT_OPTIONS)
    out[:] = 0
    again[1, None](source, out, a, b, 1)
    assert out.tolist() == expected
