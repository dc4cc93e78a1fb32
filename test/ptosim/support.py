"""Short ways to make kernels for one question each."""

import textwrap

import numpy as np
import pytest

from ptodsl import pto
from ptosim.errors import PtoError
from ptosim.launch import load_kernels

NUMPY = {
    "i8": np.uint8, "ui8": np.uint8, "si8": np.int8, "i16": np.uint16, "ui16": np.uint16, "si16": np.int16,
    "i32": np.uint32, "ui32": np.uint32, "si32": np.int32, "f16": np.float16, "bf16": np.uint16, "f32": np.float32,
    "f8e4m3": np.uint8, "f8e5m2": np.uint8, "f4e2m1x2": np.uint8, "f4e1m2x2": np.uint8,
}
INTEGERS = ("i8", "si8", "ui8", "i16", "si16", "ui16", "i32", "si32", "ui32")
FLOATS = ("f16", "bf16", "f32")


def kernel_of(function, parameters):
    """A kernel from a nested function; `parameters` are (name, annotation)."""
    function.__annotations__ = dict(parameters)
    return pto.jit(name="k", target="a5", mode="explicit", kernel_kind="vector")(function)


def ub(address, dtype):
    return pto.castptr(pto.const(address, dtype=pto.i64), pto.ptr(dtype, "ub"))


def sync(source, destination):
    pto.set_flag(source, destination, event_id=0)
    pto.wait_flag(source, destination, event_id=0)


AREA = 16384


def apply(compute, inputs, in_types, out_types, lanes, out_lanes=None, count=None):
    """Runs `compute(vectors, full mask)` on each chunk of `lanes` elements of the inputs and returns the outputs.

    Inputs are numpy arrays whose length is a multiple of `lanes`; outputs have `out_lanes` elements per chunk.
    """
    single = isinstance(out_types, str)
    out_types = [out_types] if single else list(out_types)
    out_lanes = lanes if out_lanes is None else out_lanes
    chunks = len(inputs[0]) // lanes if count is None else count
    ins = [getattr(pto, t) for t in in_types]
    outs = [getattr(pto, t) for t in out_types]

    def body(*pointers):
        sources = [ub(k * AREA, t) for k, t in enumerate(ins)]
        targets = [ub((len(ins) + k) * AREA, t) for k, t in enumerate(outs)]
        for gm, target, array in zip(pointers, sources, inputs):
            pto.mte_gm_ub(gm, target, 0, array.nbytes, nburst=(1, 0, 0))
        sync("MTE2", "V")
        full = pto.vmi.create_mask(lanes, size=lanes)
        with pto.for_(0, chunks, step=1) as i:
            vectors = [pto.vmi.vload(s, i * lanes, size=lanes) for s in sources]
            results = compute(vectors, full)
            for result, target in zip([results] if single else results, targets):
                pto.vmi.vstore(result, target, i * out_lanes)
        sync("V", "MTE3")
        for gm, target, dtype in zip(pointers[len(ins):], targets, outs):
            pto.mte_ub_gm(target, gm, chunks * out_lanes * dtype.bytes, nburst=(1, 0, 0))

    names = [f"a{k}" for k in range(len(ins))] + [f"o{k}" for k in range(len(outs))]
    scope = {"body": body}
    exec(f"def k({', '.join(names)}): body({', '.join(names)})", scope)
    kernel = kernel_of(scope["k"], [(n, pto.ptr(t, "gm")) for n, t in zip(names, ins + outs)])
    results = [np.zeros(chunks * out_lanes, NUMPY[t]) for t in out_types]
    kernel.compile()[1, None](*[np.ascontiguousarray(a) for a in inputs], *results)
    return results[0] if single else results


HEADER = """\
from ptodsl import pto, scalar


@pto.jit(name="k", target="a5", mode="explicit", kernel_kind="vector")
def k({parameters}):
"""


def write_kernel(tmp_path, body, parameters=None):
    """A kernel file with this body; line 1 of the body is line 6 of the file."""
    parameters = parameters or 'x_gm: pto.ptr(pto.f32, "gm"), o_gm: pto.ptr(pto.f32, "gm"), n: pto.i32'
    text = HEADER.format(parameters=parameters) + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ") + "\n"
    path = tmp_path / "kernel.py"
    path.write_text(text)
    return str(path)


def compile_body(tmp_path, body, parameters=None, **constants):
    return load_kernels(write_kernel(tmp_path, body, parameters))["k"].compile(**constants)


def run_body(tmp_path, body, *args, parameters=None, blocks=1, ub_map=None):
    compiled = compile_body(tmp_path, body, parameters)
    compiled.launch(blocks, args, ub_map)
    return compiled


def fails(function, *args, kind, text, line=None, **named):
    """Asserts that a call is refused with this kind and words; returns the error."""
    with pytest.raises(PtoError) as caught:
        function(*args, **named)
    error = caught.value
    assert error.kind == kind, str(error)
    assert text in error.message, str(error)
    if line is not None:
        assert error.line == line, str(error)
    return error
