"""Moves between GM and UB (part 4): what they move, and the limits of their fields."""

import numpy as np
import pytest

from support import fails, run_body

HEAD = """
u = pto.castptr(pto.const(0, dtype=pto.i64), pto.ptr(pto.ui8, "ub"))
w = pto.castptr(pto.const(131072, dtype=pto.i64), pto.ptr(pto.ui8, "ub"))
"""
FLAG = 'pto.set_flag("MTE2", "MTE3", event_id=0)\npto.wait_flag("MTE2", "MTE3", event_id=0)\n'
PARAMETERS = 'x_gm: pto.ptr(pto.ui8, "gm"), o_gm: pto.ptr(pto.ui8, "gm"), n: pto.i32'
RANDOM = np.random.default_rng(13)


def run(tmp_path, body, source, out_bytes, n=0):
    out = np.full(out_bytes, 7, np.uint8)
    run_body(tmp_path, HEAD + body, source, out, n, parameters=PARAMETERS)
    return out.tolist()


def test_tile_with_padded_pitch(tmp_path):
    """5 rows of 37 bytes with pitch 50 in GM and 64 in UB; out with pitch 40, only valid bytes written."""
    source = RANDOM.integers(0, 256, 250, dtype=np.uint8)
    got = run(tmp_path, "pto.mte_gm_ub(x_gm, u, 0, 37, nburst=(5, 50, 64))\n" + FLAG +
              "pto.mte_ub_gm(u, o_gm, 37, nburst=(5, 64, 40))\n", source, 200)
    expected = [7] * 200
    for row in range(5):
        expected[row * 40:row * 40 + 37] = source[row * 50:row * 50 + 37].tolist()
    assert got == expected


def test_outer_loops_innermost_first(tmp_path):
    source = RANDOM.integers(0, 256, 4096, dtype=np.uint8)
    got = run(tmp_path,
              "pto.mte_gm_ub(x_gm, u, 0, 20, nburst=(2, 100, 32), loops=[(3, 300, 64), (2, 1000, 256)])\n" + FLAG +
              "pto.mte_ub_gm(u, o_gm, 20, nburst=(2, 32, 20), loops=[(3, 64, 40), (2, 256, 120)])\n", source, 240)
    expected = []
    for a in range(2):
        for b in range(3):
            for c in range(2):
                start = a * 1000 + b * 300 + c * 100
                expected += source[start:start + 20].tolist()
    assert got == expected


def test_pad_fills_to_the_next_border(tmp_path):
    source = RANDOM.integers(0, 256, 100, dtype=np.uint8)
    got = run(tmp_path, "pto.mte_gm_ub(x_gm, u, 0, 20, nburst=(2, 50, 32), pad=(9,))\n" + FLAG +
              "pto.mte_ub_gm(u, o_gm, 64, nburst=(1, 0, 0))\n", source, 64)
    assert got == source[:20].tolist() + [9] * 12 + source[50:70].tolist() + [9] * 12


def test_run_time_lengths_and_aliases(tmp_path):
    source = RANDOM.integers(0, 256, 300, dtype=np.uint8)
    got = run(tmp_path, "pto.mte_load(pto.addptr(x_gm, 3), u, 0, n * 2, nburst=(n - 39, 0, 0))\n" + FLAG +
              "pto.mte_store(u, o_gm + 1, n * 2, nburst=(1, 0, 0))\n", source, 100, 40)
    assert got == [7] + source[3:83].tolist() + [7] * 19


def test_copy_inside_ub_counts_blocks_and_gaps(tmp_path):
    source = RANDOM.integers(0, 256, 256, dtype=np.uint8)
    got = run(tmp_path, "pto.mte_gm_ub(x_gm, u, 0, 256, nburst=(1, 0, 0))\npto.pipe_barrier(pto.Pipe.ALL)\n"
              "pto.mte_ub_ub(u, w, 2, nburst=(2, 1, 0))\npto.pipe_barrier(pto.Pipe.ALL)\n"
              "pto.mte_ub_gm(w, o_gm, 128, nburst=(1, 0, 0))\n", source, 128)
    assert got == source[:64].tolist() + source[96:160].tolist()


def test_nothing_moved(tmp_path):
    assert run(tmp_path, "pto.mte_gm_ub(x_gm, u, 0, n, nburst=(1, 0, 0))\npto.mte_ub_gm(u, o_gm, 4, nburst=(n, 0, "
                         "0))\n",
               np.zeros(4, np.uint8), 4) == [7] * 4


LIMITS = {
    "row too long": ("pto.mte_gm_ub(x_gm, u, 0, 65536, nburst=(1, 0, 0))", "bounds",
        "len = 65536 does not fit its field of 16"),
    "too many rows": ("pto.mte_gm_ub(x_gm, u, 0, 1, nburst=(65536, 0, 0))", "bounds", "nburst count = 65536"),
    "negative length": ("pto.mte_gm_ub(x_gm, u, 0, n - 10, nburst=(1, 0, 0))", "bounds", "len = -10"),
    "too many repetitions": ("pto.mte_gm_ub(x_gm, u, 0, 1, nburst=(1, 0, 0), loops=[(2097152, 0, 0)])", "bounds",
                             "loop count = 2097152 does not fit its field of 21"),
    "GM stride": ("pto.mte_gm_ub(x_gm, u, 0, 1, nburst=(1, 1099511627776, 0))", "bounds", "field of 40"),
    "negative GM stride": ("pto.mte_gm_ub(x_gm, u, 0, 1, nburst=(2, -1, 32))", "bounds", "source stride = -1"),
    "UB stride": ("pto.mte_gm_ub(x_gm, u, 0, 1, nburst=(2, 1, 2097152))", "bounds", "field of 21"),
    "UB stride not aligned": ("pto.mte_gm_ub(x_gm, u, 0, 1, nburst=(2, 1, 40))", "alignment",
        "40 in UB is not a multiple"),
    "UB address not aligned": ("pto.mte_gm_ub(x_gm, u + 8, 0, 1, nburst=(1, 0, 0))", "alignment", "UB address 8"),
    "UB source not aligned": ("pto.mte_ub_gm(u + 8, o_gm, 1, nburst=(1, 0, 0))", "alignment", "UB address 8"),
    "beyond UB": ("pto.mte_gm_ub(x_gm, w + 122880, 0, 64, nburst=(1, 0, 0))", "bounds", "outside [0, 253952)"),
    "beyond the input": ("pto.mte_gm_ub(x_gm, u, 0, 101, nburst=(1, 0, 0))", "bounds",
        "[0, 101) of x_gm are outside [0, 100)"),
    "before the input": ("pto.mte_gm_ub(x_gm + (n - 1), u, 0, 8, nburst=(1, 0, 0))", "bounds", "[-1, 7) of x_gm"),
    "last row beyond the input": ("pto.mte_gm_ub(x_gm, u, 0, 10, nburst=(3, 46, 32))", "bounds", "[0, 102) of x_gm"),
    "beyond the output": ("pto.mte_gm_ub(x_gm, u, 0, 100, nburst=(1, 0, 0))\n" + FLAG +
                          "pto.mte_ub_gm(u, o_gm + 1, 100, nburst=(1, 0, 0))", "bounds", "[1, 101) of o_gm"),
    "padding of half an element": (
        "f = pto.castptr(pto.const(0, dtype=pto.i64), pto.ptr(pto.ui8, \"ub\"))\n"
        "pto.mte_gm_ub(x_gm, f, 0, 10, nburst=(1, 0, 0), pad=(pto.i16(1),))", "trace", "pad value must be"),
}


@pytest.mark.parametrize("name", LIMITS)
def test_limits(tmp_path, name):
    body, kind, text = LIMITS[name]
    fails(run, tmp_path, body, np.zeros(100, np.uint8), 100, kind=kind, text=text)


def test_ub_map_bounds_every_access(tmp_path):
    body = HEAD + "pto.mte_gm_ub(x_gm, u, 0, 96, nburst=(1, 0, 0))\n" + FLAG + "pto.mte_ub_gm(u, o_gm, 96, nburst=(1, 0, 0))\n"
    args = np.zeros(100, np.uint8), np.zeros(100, np.uint8), 0
    run_body(tmp_path, body, *args, parameters=PARAMETERS, ub_map=[(0, 96), (96, 64)])
    fails(run_body, tmp_path, body, *args, parameters=PARAMETERS, ub_map=[(0, 64), (64, 64)], kind="bounds",
          text="not inside one buffer")


def test_vector_bounds_and_alignment(tmp_path):
    head = 'x = pto.castptr(pto.const({}, dtype=pto.i64), pto.ptr(pto.f32, "ub"))\n'
    parameters = "n: pto.i32"

    def run_one(address, body, n=0):
        run_body(tmp_path, head.format(address) + body, n, parameters=parameters)

    run_one(253952 - 256, "v = pto.vmi.vload(x, n, size=64)")
    fails(run_one, 253952 - 256, "v = pto.vmi.vload(x, n + 8, size=64)", kind="bounds", text="outside [0, 253952)")
    fails(run_one, 0, "v = pto.vmi.vload(x, n - 8, size=64)", kind="bounds", text="[-32, 224)")
    fails(run_one, 0, "v = pto.vmi.vload(x, n + 1, size=64)", kind="alignment",
        text="UB address 4 is not a multiple of 32")
    fails(run_one, 0, "pto.vmi.vstore(pto.vmi.vbrc(pto.f32(0.0), size=64), x, n + 4)", kind="alignment",
          text="UB address 16")
    run_one(0, "pto.vmi.vstore(pto.vmi.vbrc(pto.f32(0.0), size=1), x, n + 1)")
    run_one(0, 'v = pto.vmi.vload(x, n + 1, size=64, dist_mode="brc")')
    fails(run_one, 2, 'v = pto.vmi.vload(x, n, size=64, dist_mode="brc")', kind="alignment", text="multiple of 4")
    fails(run_one, 0, 'v = pto.vmi.vload(x, n + 4, size=8)', kind="alignment", text="multiple of 32")
    fails(run_one, 0, 'p = pto.vmi.vload(x, n + 4, size=64, dist_mode="dintlv")', kind="alignment",
        text="multiple of 32")
    # Inactive lanes are not written, so only the active ones must be in bounds.
    store = "pto.vmi.vstore(pto.vmi.vbrc(pto.f32(0.0), size=64), x, 0, pto.vmi.create_mask({}, size=64))"
    run_one(253952 - 32, store.format(8))
    fails(run_one, 253952 - 32, store.format(9), kind="bounds", text="outside [0, 253952)")


def test_gather_bounds(tmp_path):
    head = 'x = pto.castptr(pto.const(253824, dtype=pto.i64), pto.ptr(pto.f32, "ub"))\n' \
           "m = pto.vmi.create_mask(n, size=64)\nk = pto.vmi.vci(pto.i32(0), size=64)\n"
    run_body(tmp_path, head + "v = pto.vmi.vgather(x, k, m)", 32, parameters="n: pto.i32")
    fails(run_body, tmp_path, head + "v = pto.vmi.vgather(x, k, m)", 33, parameters="n: pto.i32", kind="bounds",
          text="outside [0, 253952)")


def test_an_input_may_not_be_written_nor_an_output_read(tmp_path):
    from ptosim.machine import GlobalBuffer
    data = np.zeros(64, np.uint8)

    def run_with(body, readable, writable):
        buffer = GlobalBuffer("x_gm", data, readable=readable, writable=writable)
        run_body(tmp_path, HEAD + body, buffer, np.zeros(64, np.uint8), 0, parameters=PARAMETERS)

    fails(run_with, "pto.mte_gm_ub(x_gm, u, 0, 64, nburst=(1, 0, 0))", False, True, kind="bounds",
        text="may not be read")
    fails(run_with, "scalar.store(pto.ui8(1), x_gm, 0)", True, False, kind="bounds", text="may not be written")
