"""Which flags and barriers of a kernel order nothing: it is launched once more without each of them.

A set and a wait that met in the first launch are left out together. If no hazard appears, no dependence needed them,
given all the others. Two barriers that replace each other are both reported.

That VST_VST orders two overlapping vector stores counts as a need, although leaving it out is no hazard that the
specification names.
"""

import numpy as np

from .errors import SyncError
from .executor import machine
from .machine import PIPE_NAMES, UB_BYTES
from .verify import all_ops

BARRIERS = ("mem_bar", "pipe_barrier")


def joined(pairs):
    """Groups of lines that must be left out together, since a set may meet several waits."""
    groups = []
    for pair in sorted(pairs):
        touching = [g for g in groups if g & set(pair)]
        groups = [g for g in groups if not g & set(pair)] + [set(pair).union(*touching)]
    return groups


def describe(op):
    if op.name == "mem_bar":
        return f"mem_bar {op.attrs['kind']}"
    if op.name == "pipe_barrier":
        return "pipe_barrier ALL"
    return f"flag {PIPE_NAMES[op.attrs['src']]} → {PIPE_NAMES[op.attrs['dst']]}"


def redundant_sync(compiled, blocks, args, ub_map=None):
    """Launches `compiled` as usual and returns [{"lines": […], "what": …}] for what it does not need. The arrays of
    `args` hold the results of the ordinary launch afterwards."""
    core = machine()
    arrays = [getattr(a, "data", a) for a in args if isinstance(getattr(a, "data", a), np.ndarray)]
    before = [a.copy() for a in arrays]
    core.watched_stores = np.zeros(UB_BYTES, np.int32)
    try:
        return search(compiled, blocks, args, ub_map, core, arrays, before)
    finally:
        core.watched_stores = None


def search(compiled, blocks, args, ub_map, core, arrays, before):
    compiled.launch(blocks, args, ub_map)
    overlapping = core.overlapping_stores
    result = compiled.last
    after = [a.copy() for a in arrays]
    names = {}
    for op in all_ops(compiled.trace.body):
        if op.name in BARRIERS or op.name == "set_flag":
            names.setdefault(op.line, describe(op))
    candidates = joined(core.pairs)
    candidates += [{op.line} for op in all_ops(compiled.trace.body) if op.name in BARRIERS]
    found = []
    for lines in candidates:
        restore(arrays, before)
        core.disabled = frozenset(lines)
        try:
            compiled.launch(blocks, args, ub_map)
            if core.overlapping_stores == overlapping:
                found.append({"lines": sorted(lines), "what": next(names[n] for n in sorted(lines) if n in names)})
        except SyncError:
            pass
        finally:
            core.disabled = frozenset()
    restore(arrays, after)
    compiled.last = result
    return sorted(found, key=lambda entry: entry["lines"])


def restore(arrays, values):
    for array, value in zip(arrays, values):
        array[...] = value
