"""The race detector against all interleavings of the pipes.

A random program moves tokens between four buffers on three pipes, with random flags. Every order that in-order pipes and
flags permit is tried on a small model. The emulator must accept the program exactly if all orders agree on what each
operation reads and on the order of writes to each buffer.
"""

import random

import numpy as np
import pytest

from ptodsl import pto
from ptosim.errors import SyncError
from support import kernel_of, ub

BUFFERS = 4
PIPES = ("MTE2", "V", "MTE3")


def make_program(rng):
    """Operations (pipe, kind, reads, writes) and flags (kind, source pipe, destination pipe, event) in program order."""
    steps = []
    for _ in range(rng.randint(3, 6)):
        kind = rng.choice(("in", "copy", "out"))
        a, b = rng.sample(range(BUFFERS), 2)
        steps.append({"in": ("MTE2", "in", (), (a,)), "copy": ("V", "copy", (a,), (b,)), "out": ("MTE3", "out", (a,), ())}[kind])
    events = {}
    for _ in range(rng.randint(1, 5)):
        source, target = rng.sample(PIPES, 2)
        event = events.get((source, target), 0)
        events[source, target] = event + 1
        first, second = sorted(rng.randint(0, len(steps)) for _ in range(2))
        # The wait goes in later, so that both positions still count the operations and earlier flags.
        steps.insert(second, ("wait", source, target, event))
        steps.insert(first, ("set", source, target, event))
    return steps


def outcomes(steps):
    """What the program can do: for each order, what every read saw and in which order buffers were written."""
    queues = {pipe: [] for pipe in PIPES}
    for number, step in enumerate(steps):
        if step[0] == "set":
            queues[step[1]].append((number, step))
        elif step[0] == "wait":
            queues[step[2]].append((number, step))
        else:
            queues[step[0]].append((number, step))
    results = set()
    seen = set()

    def explore(positions, raised, writers, reads):
        state = (positions, raised, writers, reads)
        if state in seen:
            return
        seen.add(state)
        moved = False
        for index, pipe in enumerate(PIPES):
            if positions[index] == len(queues[pipe]):
                continue
            number, step = queues[pipe][positions[index]]
            following = positions[:index] + (positions[index] + 1,) + positions[index + 1:]
            if step[0] == "set":
                explore(following, raised | {step[1:]}, writers, reads)
            elif step[0] == "wait":
                if step[1:] not in raised:
                    continue
                explore(following, raised - {step[1:]}, writers, reads)
            else:
                observed = reads | {(number, b, writers[b][-1]) for b in step[2]}
                after = tuple(w + (number,) if b in step[3] else w for b, w in enumerate(writers))
                explore(following, raised, after, observed)
            moved = True
        if not moved:
            assert all(p == len(queues[pipe]) for p, pipe in zip(positions, PIPES)), "the program can hang"
            results.add((writers, reads))

    explore((0,) * len(PIPES), frozenset(), ((-1,),) * BUFFERS, frozenset())
    return results


def accepted(steps):
    def body(x_gm, o_gm):
        buffers = [ub(k * 1024, pto.f32) for k in range(BUFFERS)]
        for buffer in buffers:
            pto.mte_gm_ub(x_gm, buffer, 0, 256, nburst=(1, 0, 0))
        pto.pipe_barrier(pto.Pipe.ALL)
        for number, step in enumerate(steps):
            if step[0] == "set":
                pto.set_flag(step[1], step[2], event_id=step[3])
            elif step[0] == "wait":
                pto.wait_flag(step[1], step[2], event_id=step[3])
            elif step[1] == "in":
                pto.mte_gm_ub(x_gm + 64 * number, buffers[step[3][0]], 0, 256, nburst=(1, 0, 0))
            elif step[1] == "out":
                pto.mte_ub_gm(buffers[step[2][0]], o_gm + 64 * number, 256, nburst=(1, 0, 0))
            else:
                pto.vmi.vstore(pto.vmi.vload(buffers[step[2][0]], 0, size=64), buffers[step[3][0]], 0)
                pto.mem_bar(pto.BarrierType.VV_ALL)

    kernel = kernel_of(body, [("x_gm", pto.ptr(pto.f32, "gm")), ("o_gm", pto.ptr(pto.f32, "gm"))])
    try:
        kernel.compile()[1, None](np.zeros(64 * 32, np.float32), np.zeros(64 * 32, np.float32))
    except SyncError as error:
        assert "no flag" in error.message, error
        return False
    return True


@pytest.mark.parametrize("batch", range(10))
def test_verdict_is_that_of_all_interleavings(batch):
    verdicts = []
    for seed in range(batch * 60, batch * 60 + 60):
        steps = make_program(random.Random(seed))
        verdicts.append(accepted(steps))
        assert verdicts[-1] == (len(outcomes(steps)) == 1), (seed, steps)
    assert 5 <= sum(verdicts) <= 55
