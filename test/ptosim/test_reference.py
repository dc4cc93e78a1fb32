"""The seven hand-written kernels against numpy, and the instruction counts that emitted kernels are measured by."""

import json
import os

import numpy as np
import pytest

from conftest import HERE
from reference import kernels

RANDOM = np.random.default_rng(17)
COUNTS = os.path.join(HERE, "reference", "counts.json")
SIZES = [1, 63, 64, 65, 127, 300, 3000]


def floats(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("n", SIZES)
def test_axpy(n):
    x, y, o = floats(n), floats(n), np.zeros(n, np.float32)
    kernels.axpy.compile()[1, None](x, y, o, 1.7, n)
    np.testing.assert_array_equal(o, np.float32(1.7) * x + y)


@pytest.mark.parametrize("n", SIZES)
def test_blur3(n):
    x, o = floats(n + 2), np.zeros(n, np.float32)
    kernels.blur3.compile()[1, None](x, o, n)
    np.testing.assert_array_equal(o, (x[:n] + x[1:n + 1] + x[2:]) / np.float32(3))


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("rows", [1, 5])
def test_softmax_row(rows, n):
    x, o = floats(rows, n) * 3, np.zeros((rows, n), np.float32)
    kernels.softmax_row.compile()[1, None](x, o, rows, n)
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(o, e / e.sum(axis=1, keepdims=True), rtol=1e-5)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("rows", [1, 5])
def test_layer_norm(rows, n):
    x, g, b, o = floats(rows, n), floats(n), floats(n), np.zeros((rows, n), np.float32)
    kernels.layer_norm.compile()[1, None](x, g, b, o, rows, n, 1 / n, 1e-5)
    wide = x.astype(np.float64)
    centred = wide - wide.mean(axis=1, keepdims=True)
    expected = centred / np.sqrt((centred ** 2).mean(axis=1, keepdims=True) + 1e-5) * g + b
    np.testing.assert_allclose(o, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("n", SIZES)
def test_to_u8(n):
    x, o = floats(n) * 200, np.zeros(n, np.uint8)
    kernels.to_u8.compile()[1, None](x, o, n)
    np.testing.assert_array_equal(o, np.clip(np.rint(x), 0, 255).astype(np.uint8))


@pytest.mark.parametrize("n", SIZES)
def test_table_lookup(n):
    index, table, o = RANDOM.integers(0, 1000, n, dtype=np.uint32), floats(1000), np.zeros(n, np.float32)
    kernels.table_lookup.compile()[1, None](index, table, o, n, 1000)
    np.testing.assert_array_equal(o, table[index])


@pytest.mark.parametrize("pairs", SIZES)
def test_fp4_scale(pairs):
    x, o = RANDOM.integers(0, 256, pairs, dtype=np.uint8), np.zeros(2 * pairs, np.float32)
    kernels.fp4_scale.compile()[1, None](x, o, 1.5, pairs)
    positive = [0, 0.5, 1, 1.5, 2, 3, 4, 6]
    value = np.array(positive + [-v for v in positive], np.float32)
    np.testing.assert_array_equal(o, np.float32(1.5) * np.stack([value[x & 15], value[x >> 4]], axis=1).reshape(-1))


ARGUMENTS = {"axpy": lambda: (floats(300), floats(300), floats(300), 1.0, 300),
             "blur3": lambda: (floats(302), floats(300), 300),
             "softmax_row": lambda: (floats(2, 300), floats(2, 300), 2, 300),
             "layer_norm": lambda: (floats(2, 300), floats(300), floats(300), floats(2, 300), 2, 300, 1 / 300, 1e-5),
             "to_u8": lambda: (floats(300), np.zeros(300, np.uint8), 300),
             "table_lookup": lambda: (np.zeros(300, np.uint32), floats(10), floats(300), 300, 10),
             "fp4_scale": lambda: (np.zeros(300, np.uint8), floats(600), 1.0, 300)}


def measured(name):
    compiled = getattr(kernels, name).compile()
    compiled[1, None](*ARGUMENTS[name]())
    report = compiled.report
    return {"inner_loops": [{k: loop[k] for k in ("vector_ops", "physical", "ops")} for loop in report["inner_loops"]],
            "static_sync": report["static_sync"], "dma_calls": report["dma"]["calls"],
            "vector_registers": report["pressure"]["vector_registers"], "masks": report["pressure"]["masks"]}


def test_recorded_counts_are_true():
    """counts.json is what the compiler's kernels are compared with; UPDATE_COUNTS=1 rewrites it."""
    now = {name: measured(name) for name in ARGUMENTS}
    if os.environ.get("UPDATE_COUNTS"):
        with open(COUNTS, "w") as file:
            json.dump(now, file, indent=2)
            file.write("\n")
    with open(COUNTS) as file:
        assert json.load(file) == now


def test_counts_are_those_of_the_source():
    """Counted by eye in kernels.py, so that a fault of the counter does not record itself."""
    with open(COUNTS) as file:
        recorded = json.load(file)
    loops = {name: [loop["ops"] for loop in entry["inner_loops"]] for name, entry in recorded.items()}
    assert loops["axpy"] == [{"vload": 2, "vmul": 1, "vadd": 1, "vstore": 1}]
    assert loops["blur3"] == [{"vload": 3, "vadd": 2, "vdiv": 1, "vstore": 1}]
    assert loops["softmax_row"] == [{"vload": 1, "vmax": 1}, {"vload": 1, "vsub": 1, "vexp": 1, "vstore": 1, "vadd": 1},
                                    {"vload": 1, "vdiv": 1, "vstore": 1}]
    assert loops["layer_norm"] == [{"vload": 1, "vadd": 1}, {"vload": 1, "vsub": 1, "vmul": 1, "vadd": 1},
                                   {"vload": 3, "vsub": 1, "vmul": 2, "vadd": 1, "vstore": 1}]
    assert loops["to_u8"] == [{"vload": 1, "vcvt": 2, "vstore": 1}]
    assert loops["table_lookup"] == [{"vload": 1, "vgather": 1, "vstore": 1}]
    assert loops["fp4_scale"] == [{"vload": 1, "vcvt": 2, "vinterpret_cast": 1, "vmul": 1, "vstore": 1}]


def test_critical_path():
    """Of axpy: a load (9), a product and a sum (1 each), a store (9); the other load is beside it."""
    compiled = kernels.axpy.compile()
    compiled[1, None](*ARGUMENTS["axpy"]())
    loop, = compiled.report["inner_loops"]
    assert (loop["critical_path"], loop["latency_cycles"], loop["runs"]) == (20, 29, 4)
