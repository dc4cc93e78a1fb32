"""What a launch did: instructions by kind, moves, synchronisation, memory, pressure, and a cost from the documented
latencies (part 1)."""

from .ir import Mask, Vector
from .types import registers
from .verify import STRUCTURED, all_ops, is_vector_op

# Cycles of one physical instruction where the documentation gives a number; everything else counts 1.
_LATENCY = {"vload": 9, "vstore": 9, "vgather": 28, "vscatter": 17, "vsstb": 9, "vldas": 9, "vldus": 9, "vsts": 9}
_INTERLEAVING_STORE = 12
FREE = ("vinterpret_cast",)
_SYNC = ("set_flag", "wait_flag", "mem_bar", "pipe_barrier", "get_buf", "rls_buf")
_MOVES = ("mte_gm_ub", "mte_ub_gm", "mte_ub_ub")


def weight(op):
    """Physical instructions of one logical operation; reading bits as another type is none."""
    if op.name in FREE:
        return 0
    vectors = [v for v in list(op.args) + list(op.results) if isinstance(v, Vector)]
    most = max((registers(v.lanes, v.dtype) for v in vectors), default=1)
    return 2 * most if op.attrs.get("form") == "dintlv" else most


def count(operations):
    return sum(number for name, number in operations.items() if name not in FREE)


def latency(op):
    if op.name in FREE:
        return 0
    if op.name == "vstore" and op.attrs["form"] == "dintlv":
        return _INTERLEAVING_STORE
    return _LATENCY.get(op.name, 1)


def label(op):
    """Name of an operation in reports; the distribution of a load or store is part of it."""
    form = op.attrs.get("form")
    return f"{op.name}.{form}" if form not in (None, "dense", "scalar") else op.name


def nested_loops(block):
    return any(op.name in ("for", "while") for op in all_ops(block))


def describe_block(block, runs):
    """The operations of one block, branches inside it included. The critical path is the longest chain of dependent
    vector operations of one run, in cycles by the documented latencies."""
    operations, scalars, physical, cycles = {}, 0, 0, 0
    ready = {}
    for op in all_ops(block):
        if is_vector_op(op):
            done = max((ready.get(v.id, 0) for v in op.args if isinstance(v, (Vector, Mask))), default=0) + latency(op)
            ready.update((v.id, done) for v in op.results)
            ready[None] = max(ready.get(None, 0), done)
            operations[label(op)] = operations.get(label(op), 0) + 1
            physical += weight(op)
            cycles += weight(op) * latency(op)
        elif op.name not in STRUCTURED and op.name not in _SYNC and op.name not in _MOVES and op.name != "const":
            scalars += 1
    return {"runs": runs, "vector_ops": count(operations), "physical": physical, "latency_cycles": cycles,
            "critical_path": ready.get(None, 0), "scalar_ops": scalars, "ops": dict(sorted(operations.items()))}


def inner_loops(compiled, counts):
    """Innermost loops that contain vector operations, in program order."""
    loops = []
    for number, block in enumerate(compiled.blocks):
        if block.label not in ("for", "body") or nested_loops(block):
            continue
        description = describe_block(block, counts[number])
        if description["vector_ops"]:
            owner = block.owner
            loops.append({"line": owner.line, "hint": owner.attrs.get("hint"),
                          "carried": sum(isinstance(v, (Vector, Mask)) for v in block.arguments), **description})
    return loops


def make(compiled, launch):
    counts = launch.counts
    executed, physical, moves, sync, static_sync = {}, 0, {}, {}, {}
    cycles = scalars = 0
    for number, block in enumerate(compiled.blocks):
        runs = counts[number]
        for op in block.ops:
            if op.name in _SYNC:
                static_sync[op.name] = static_sync.get(op.name, 0) + 1
                sync[op.name] = sync.get(op.name, 0) + runs
            elif op.name in _MOVES:
                moves[op.name] = moves.get(op.name, 0) + runs
            elif is_vector_op(op):
                executed[label(op)] = executed.get(label(op), 0) + runs
                physical += weight(op) * runs
                cycles += weight(op) * latency(op) * runs
            elif op.name not in STRUCTURED and op.name not in ("const", "vecscope"):
                scalars += runs
    statistics = launch.statistics
    extra = {} if launch.redundant_sync is None else {"redundant_sync": launch.redundant_sync}
    return {
        "kernel": compiled.kernel.name, "blocks": launch.blocks,
        "instructions": dict(sorted(executed.items())),
        "vector_instructions": count(executed), "physical_instructions": physical, "scalar_operations": scalars,
        "latency_cycles": cycles,
        "inner_loops": inner_loops(compiled, counts),
        "dma": {"calls": dict(sorted(moves.items())), "in_bytes": statistics["dma_in_bytes"],
                "out_bytes": statistics["dma_out_bytes"], "ub_bytes": statistics["dma_ub_bytes"],
                "in_bursts": statistics["dma_in_bursts"], "out_bursts": statistics["dma_out_bursts"]},
        "gm_written_bytes": {b.name: b.written_bytes() for b in launch.buffers},
        "sync": dict(sorted(sync.items())), "static_sync": dict(sorted(static_sync.items())),
        "ub": {"high_water": launch.high_water},
        "pressure": {k: compiled.facts[k] for k in ("vector_registers", "masks")}, "scopes": compiled.facts["scopes"],
        "warnings": list(compiled.trace.warnings), **extra,
    }


def text(report):
    """The report for people."""
    dma = report["dma"]
    lines = [
        f"{report['kernel']}: {report['blocks']} block(s), {report['vector_instructions']} vector instructions "
        f"({report['physical_instructions']} physical), {report['scalar_operations']} scalar operations, "
        f"{report['latency_cycles']} cycles by documented latencies",
        "  " + ", ".join(f"{name} {count}" for name, count in report["instructions"].items()),
        f"  DMA: {dma['in_bytes']} bytes in ({dma['in_bursts']} bursts), {dma['out_bytes']} bytes out "
        f"({dma['out_bursts']} bursts)",
        "  sync: " + (", ".join(f"{name} {count}" for name, count in report["sync"].items()) or "none"),
        f"  UB: {report['ub']['high_water']} bytes; live at most: {report['pressure']['vector_registers']} of 32 "
        f"vector "
        f"registers, {report['pressure']['masks']} of 8 masks; {report['scopes']} vector scope(s)",
    ]
    for loop in report["inner_loops"]:
        lines.append(f"  inner loop of line {loop['line']}: {loop['runs']} iterations of {loop['vector_ops']} vector "
                     f"({loop['physical']} physical) and {loop['scalar_ops']} scalar operations: " +
                     ", ".join(f"{name} {count}" for name, count in loop["ops"].items()))
    for entry in report.get("redundant_sync", ()):
        lines.append(f"  not needed: {entry['what']} in line {', '.join(map(str, entry['lines']))}")
    lines += [f"  note: {warning}" for warning in report["warnings"]]
    return "\n".join(lines)


def static_text(compiled):
    """What `ptosim check` says about a kernel that passed."""
    facts = compiled.facts
    lines = [f"{compiled.kernel.name}: good; {facts['scopes']} vector scope(s), at most {facts['vector_registers']} "
             f"vector "
             f"registers and {facts['masks']} masks live"]
    for loop in inner_loops(compiled, [0] * len(compiled.blocks)):
        lines.append(f"  inner loop of line {loop['line']}: {loop['vector_ops']} vector operations: " +
                     ", ".join(f"{name} {count}" for name, count in loop["ops"].items()))
    lines += [f"  note: {warning}" for warning in compiled.trace.warnings]
    return "\n".join(lines)
