"""Executes the kernels that test_pto_internal left in the build folder and compares what they give.

    python3 test/pto/emulate.py BUILD/pto_suite/jobs.json [WORD]     only runs whose name contains WORD

One process runs all of them. A result must equal the interpreter's run of the lowered statement bit for bit, except for
`ulp` units in the last place where approximate functions are used, and what the order of a float sum allows.
"""

import json
import os
import sys
import time

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools", "python"))

from ptosim.jit import Options  # noqa: E402  (the path must be set first)
from ptosim.launch import Session, run_job  # noqa: E402


# Runs that fail, and are known to. A run that does not fail any more has to leave this list.
KNOWN_FAULTS = {
    "every_second_u8_127x5": "bytes beside a gathered one count as undefined in the emulator",
    "constant_exterior_staged_300x5": "a barrier between the loads of one tile and the stores of the next is missing",
}


def as_float(raw, name):
    """Elements as float64."""
    if name == "float32":
        return raw.view(np.float32).astype(np.float64)
    if name == "float16":
        return raw.view(np.float16).astype(np.float64)
    if name == "bfloat16":
        return (raw.view(np.uint16).astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return raw.view(name).astype(np.float64)


MANTISSA = {"float32": 23, "float16": 10, "bfloat16": 7}


def difference(job):
    want = np.fromfile(job["expected"], np.uint8)
    out = next(a["out"] for a in job["args"].values() if isinstance(a, dict) and "out" in a)
    got = np.fromfile(out, np.uint8)
    if want.size != got.size:
        return f"{got.size} bytes, must be {want.size}"
    if np.array_equal(want, got):
        return None
    a, b = as_float(want, job["type"]), as_float(got, job["type"])
    allowed = np.zeros(a.shape)
    if job["ulp"] and job["type"] in MANTISSA:
        with np.errstate(divide="ignore", invalid="ignore"):
            exponent = np.floor(np.log2(np.abs(a)))
        unit = np.ldexp(1.0, (np.where(np.isfinite(exponent), exponent, -126) - MANTISSA[job["type"]]).astype(int))
        allowed = job["ulp"] * unit
    if "allowed" in job:
        allowed = np.maximum(allowed, np.fromfile(job["allowed"], np.float32))
    with np.errstate(invalid="ignore"):
        wrong = ~((a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= allowed))
    if not wrong.any():
        return None
    i = int(np.argmax(wrong))
    return f"{int(wrong.sum())} elements differ; element {i} is {b[i]!r}, must be {a[i]!r}"


def kernel_of(job):
    plan = job["launch"]
    with open(os.path.join(os.path.dirname(plan), json.load(open(plan))["kernel_file"])) as file:
        return file.read()


def quality(job, report):
    """What the kernel needs more than the hand-written one in its inner loops. Synchronisation that this run does not need is a
    note: what separates iterations of a loop that this run goes through once may be needed by others."""
    problems = []
    needless = [what["what"] for kernel in report["kernels"] for what in kernel.get("redundant_sync") or []]
    if needless:
        print(f"note: {job['id']} would do without {', '.join(needless)}")
    if job["measure"] == "-":
        return problems
    with open(os.path.join(ROOT, "test", "ptosim", "reference", "counts.json")) as file:
        reference = json.load(file)[job["measure"]]["inner_loops"]
    # The masked chunk of ours is a loop of at most one iteration; the reference has none.
    blocks = max(1, max(loop["runs"] for kernel in report["kernels"] for loop in kernel["inner_loops"]) // 4)
    main = [loop for kernel in report["kernels"] for loop in kernel["inner_loops"] if loop["runs"] > blocks]
    if len(main) != len(reference):
        problems.append(f"{len(main)} inner loops, the reference has {len(reference)}")
    for ours, theirs in zip(main, reference):
        if ours["vector_ops"] > theirs["vector_ops"]:
            problems.append(f"line {ours['line']}: {ours['vector_ops']} vector operations {ours['ops']}, the reference has "
                            f"{theirs['vector_ops']} {theirs['ops']}")
    return problems


def main():
    path, words = sys.argv[1], sys.argv[2:]
    with open(path) as file:
        jobs = [j for j in json.load(file)["jobs"] if all(w in j["id"] for w in words)]
    # About one in ten of the fuzzer's kernels fails here (docs/ascend.md, "Known faults"); until these faults are repaired,
    # only a full run, or one that asks for them, has them.
    if not words and not os.environ.get("BROMIDE_FULL"):
        fuzzed = sum(j["id"].startswith("fuzz_") for j in jobs)
        jobs = [j for j in jobs if not j["id"].startswith("fuzz_")]
        print(f"left out: {fuzzed} kernels of the fuzzer (BROMIDE_FULL=1 runs them)")
    session = Session(Options())
    failures, begin, shown = 0, time.time(), set()
    for number, job in enumerate(jobs):
        result = run_job(session, job, os.path.dirname(path))
        problem = difference(job) if result["ok"] else result["error"]
        if problem is None and "measure" in job:
            problem = "; ".join(quality(job, result["report"])) or None
        if job["id"] in KNOWN_FAULTS:
            if problem is not None:
                print(f"known fault: {job['id']}: {KNOWN_FAULTS[job['id']]}")
                continue
            problem = "does not fail any more: take it out of KNOWN_FAULTS"
        if problem is not None:
            failures += 1
            print(f"FAILED {job['id']}: {problem}")
            if job["launch"] not in shown and len(shown) < 5:
                shown.add(job["launch"])
                print(kernel_of(job))
        if sys.stdout.isatty() or number % 200 == 199:
            print(f"{number + 1} of {len(jobs)}, {failures} failed, {time.time() - begin:.0f} s", flush=True)
    print(f"{len(jobs)} runs, {failures} failed, {time.time() - begin:.0f} s")
    return 1 if failures or not jobs else 0


sys.exit(main())
