"""Masks, loads, stores, broadcasts, gathers and shuffles (parts 8, 9, 13, 15) against index arithmetic on plain lists."""

import numpy as np
import pytest

from ptodsl import pto
from support import AREA, NUMPY, apply, fails, kernel_of, sync, ub

RANDOM = np.random.default_rng(7)


def run(build, source, in_type, out_type, out_count, extra=None, prefill=True):
    """`build(in pointer, out pointer)` is the vector code between two moves of whole buffers."""
    dtype, to = getattr(pto, in_type), getattr(pto, out_type)

    def body(x_gm, o_gm):
        x, o = ub(0, dtype), ub(AREA * 4, to)
        pto.mte_gm_ub(x_gm, x, 0, source.nbytes, nburst=(1, 0, 0))
        if prefill:
            pto.mte_gm_ub(o_gm, o, 0, out_count * to.bytes, nburst=(1, 0, 0))
        sync("MTE2", "V")
        build(x, o)
        sync("V", "MTE3")
        pto.mte_ub_gm(o, o_gm, out_count * to.bytes, nburst=(1, 0, 0))

    kernel = kernel_of(body, [("x_gm", pto.ptr(dtype, "gm")), ("o_gm", pto.ptr(to, "gm"))])
    out = np.full(out_count, 7, NUMPY[out_type])
    kernel.compile()[1, None](source, out)
    return out.tolist()


def ramp(count, dtype="f32"):
    return (np.arange(count) % 200).astype(NUMPY[dtype])


@pytest.mark.parametrize("lanes", [1, 2, 4, 8, 64, 128, 256])
@pytest.mark.parametrize("n", [-3, 0, 1, 3, 63, 64, 100, 255, 256, 1000])
def test_prefix_masks_clamp(lanes, n):
    def build(x, o):
        pto.vmi.vstore(pto.vmi.vload(x, 0, size=lanes), o, 0, pto.vmi.create_mask(n, size=lanes))

    active = min(max(n, 0), lanes)
    source = ramp(256) + 100
    assert run(build, source, "f32", "f32", 256) == source[:active].tolist() + [7.0] * (256 - active)


def test_grouped_masks_and_mask_logic():
    source = ramp(64)

    def build(x, o):
        grouped = pto.vmi.create_mask(3, size=64, group=8)
        prefix = pto.vmi.create_mask(20, size=64)
        v = pto.vmi.vload(x, 0, size=64)
        zero = pto.vmi.vbrc(pto.f32(-1.0), size=64)
        for k, m in enumerate((pto.vmi.vand(grouped, prefix), pto.vmi.vor(grouped, prefix), pto.vmi.vxor(grouped,
            prefix),
                               pto.vmi.vnot(grouped))):
            pto.vmi.vstore(pto.vmi.vsel(m, v, zero), o, k * 64)

    got = run(build, source, "f32", "f32", 256)
    grouped = [i % 8 < 3 for i in range(64)]
    prefix = [i < 20 for i in range(64)]
    tables = ([a and b for a, b in zip(grouped, prefix)], [a or b for a, b in zip(grouped, prefix)],
              [a != b for a, b in zip(grouped, prefix)], [not a for a in grouped])
    assert got == [float(i) if active else -1.0 for table in tables for i, active in enumerate(table)]


@pytest.mark.parametrize("dtype", ["f32", "si16", "ui8"])
def test_broadcast_load(dtype):
    lanes = {"f32": 64, "si16": 128, "ui8": 256}[dtype]
    source = ramp(256, dtype)

    def build(x, o):
        pto.vmi.vstore(pto.vmi.vload(x, 13, size=lanes, dist_mode="brc"), o, 0)

    assert run(build, source, dtype, dtype, lanes) == [13] * lanes


def test_parity_load_and_store():
    source = ramp(128)

    def split(x, o):
        even, odd = pto.vmi.vload(x, 0, size=64, dist_mode="dintlv")
        pto.vmi.vstore(even, o, 0)
        pto.vmi.vstore(odd, o, 64)

    assert run(split, source, "f32", "f32", 128) == source[::2].tolist() + source[1::2].tolist()

    def join(x, o):
        pto.vmi.vstore([pto.vmi.vload(x, 0, size=64), pto.vmi.vload(x, 64, size=64)], o, 0, dist_mode="dintlv")

    assert run(join, source, "f32", "f32", 128) == [v for k in range(64) for v in (float(k), float(64 + k))]


def test_interleave_and_deinterleave():
    source = ramp(128)

    def build(x, o):
        full = pto.vmi.create_mask(64, size=64)
        a, b = pto.vmi.vload(x, 0, size=64), pto.vmi.vload(x, 64, size=64)
        for k, v in enumerate(pto.vmi.vintlv(a, b, full) + pto.vmi.vdintlv(a, b, full)):
            pto.vmi.vstore(v, o, k * 64)

    woven = [v for k in range(64) for v in (float(k), float(64 + k))]
    flat = source.tolist()
    assert run(build, source, "f32", "f32", 256) == woven + flat[::2] + flat[1::2]


def test_group_load_reads_rows():
    source = ramp(1024)

    def build(x, o):
        pto.vmi.vstore(pto.vmi.vload(x, 8, size=256, group=4, stride=120), o, 0)

    assert run(build, source, "f32", "f32",
               256) == [float((8 + g * 120 + j) % 200) for g in range(4) for j in range(64)]


def test_group_broadcast_load():
    source = ramp(64)

    def build(x, o):
        pto.vmi.vstore(pto.vmi.vload(x, 8, size=64, group=8, stride=1, dist_mode="brc"), o, 0)

    assert run(build, source, "f32", "f32", 64) == [float(8 + i // 8) for i in range(64)]


def test_group_broadcast_of_bf16_needs_an_aligned_base():
    def build(x, o):
        pto.vmi.vstore(pto.vmi.vload(x, 8, size=128, group=8, stride=1, dist_mode="brc"), o, 0)

    fails(run, build, ramp(64, "bf16"), "bf16", "bf16", 128, kind="alignment", text="give wrong data")


def test_slot_load():
    source = ramp(128)

    def build(x, o):
        pto.vmi.vstore(pto.vmi.vload(x, 16, size=4, group=4, stride=8), o, 0)

    assert run(build, source, "f32", "f32", 4) == [16.0, 24.0, 32.0, 40.0]


def test_group_store_writes_rows():
    source = ramp(64)

    def build(x, o):
        pto.vmi.vstore(pto.vmi.vload(x, 0, size=64), o, 8, group=8, stride=16)

    expected = [7.0] * 256
    for g in range(8):
        for j in range(8):
            expected[8 + g * 16 + j] = float(g * 8 + j)
    assert run(build, source, "f32", "f32", 256) == expected


def test_block_store():
    source = ramp(64)

    def build(x, o):
        pto.vmi.vsstb(pto.vmi.vload(x, 0, size=64), o, 8, 3, pto.vmi.create_mask(60, size=64))

    expected = [7.0] * 256
    for i in range(60):
        expected[8 + i // 8 * 24 + i % 8] = float(i)
    assert run(build, source, "f32", "f32", 256) == expected


@pytest.mark.parametrize("lanes", [64, 128, 256])
def test_gather_leaves_zero_in_inactive_lanes(lanes):
    source = RANDOM.integers(0, 256, 256, dtype=np.uint32)

    def build(x, o):
        index = pto.vmi.vload(x, 0, size=lanes)
        pto.vmi.vstore(pto.vmi.vgather(x, index, pto.vmi.create_mask(50, size=lanes)), o, 0)

    assert run(build, source, "ui32", "ui32", lanes) == [int(source[source[i]]) if i < 50 else 0 for i in range(lanes)]


def test_gather_of_16_bit_data():
    source = RANDOM.permutation(128).astype(np.uint16)

    def build(x, o):
        pto.vmi.vstore(pto.vmi.vgather(x, pto.vmi.vload(x, 0, size=128), pto.vmi.create_mask(128, size=128)), o, 0)

    assert run(build, source, "ui16", "ui16", 128) == [int(source[source[i]]) for i in range(128)]


def test_scatter_writes_active_lanes():
    source = RANDOM.permutation(64).astype(np.uint32)

    def build(x, o):
        index = pto.vmi.vload(x, 0, size=64)
        value = pto.vmi.vinterpret_cast(pto.vmi.vci(pto.i32(0), size=64), pto.ui32)
        pto.vmi.vscatter(value, o, index, pto.vmi.create_mask(40, size=64))

    expected = [7] * 64
    for i in range(40):
        expected[source[i]] = i
    assert run(build, source, "ui32", "ui32", 64) == expected


def test_scatter_to_one_place_from_two_lanes_is_undefined():
    source = np.zeros(64, np.uint32)

    def build(x, o):
        value = pto.vmi.vinterpret_cast(pto.vmi.vci(pto.i32(0), size=64), pto.ui32)
        pto.vmi.vscatter(value, o, pto.vmi.vload(x, 0, size=64), pto.vmi.create_mask(2, size=64))

    fails(run, build, source, "ui32", "ui32", 64, kind="poison", text="undefined data")

    def same(x, o):
        value = pto.vmi.vbrc(pto.ui32(5), size=64)
        pto.vmi.vscatter(value, o, pto.vmi.vload(x, 0, size=64), pto.vmi.create_mask(2, size=64))

    assert run(same, source, "ui32", "ui32", 64) == [5] + [7] * 63


@pytest.mark.parametrize("dtype", ["i8", "i16", "i32", "f16", "f32", "si32", "ui16"])
def test_lane_index(dtype):
    lanes = {"ui16": 128}.get(dtype, 64)
    to = getattr(pto, dtype)

    def build(_x, o):
        pto.vmi.vstore(pto.vmi.vci(to(5), size=lanes), o, 0)
        pto.vmi.vstore(pto.vmi.vci(to(90), size=lanes, order="DESC"), o, lanes)

    got = run(build, ramp(8), "f32", dtype, 2 * lanes)
    bits = np.dtype(NUMPY[dtype]).itemsize * 8
    down = [90 - i if dtype.startswith(("f", "s")) else (90 - i) % (1 << bits) for i in range(lanes)]
    assert got == [5 + i for i in range(lanes)] + down


def test_lane_index_of_an_index_is_i32():
    def build(_x, o):
        with pto.for_(0, 2, step=1) as i:
            pto.vmi.vstore(pto.vmi.vci(i * 64, size=64), o, i * 64)

    assert run(build, ramp(8), "f32", "i32", 128) == list(range(128))


def test_group_broadcast_of_results():
    source = ramp(64)

    def build(x, o):
        sums = pto.vmi.vcadd(pto.vmi.vload(x, 0, size=64), pto.vmi.create_mask(64, size=64), group=8, reassoc=True)
        pto.vmi.vstore(pto.vmi.vbrc(sums, size=64, group=8), o, 0)

    assert run(build, source, "f32", "f32", 64) == [float(sum(range(i // 8 * 8, i // 8 * 8 + 8))) for i in range(64)]


def test_partial_vectors_load_exactly_their_bytes():
    """64 x f16 reads 128 bytes: the last whole chunk of a buffer at the end of UB is in bounds."""
    source = np.arange(64).astype(np.float16)
    got = apply(lambda v, m: pto.vmi.vadd(v[0], v[0]), [source], ["f16"], "f16", 64)
    assert got.tolist() == (2 * source).tolist()


def test_realigning_pass_with_physical_instructions():
    """Recipe 22.6 (b): a row that starts at element 3 becomes an aligned one."""
    source = ramp(256)

    def build(x, o):
        t = ub(AREA, pto.f32)
        every = pto.pset_b32("PAT_ALL")
        with pto.for_(0, 128, step=64) as i:
            p = pto.addptr(x, i + 3)
            v, _ = pto.vldus(p, pto.vldas(p))
            pto.vsts(v, t, i, every)
        pto.mem_bar(pto.BarrierType.VST_VLD)
        with pto.for_(0, 128, step=64) as i:
            pto.vmi.vstore(pto.vmi.vload(t, i, size=64), o, i)

    assert run(build, source, "f32", "f32", 128) == source[3:131].tolist()

    def missing_barrier(x, o):
        t = ub(AREA, pto.f32)
        v, _ = pto.vldus(x + 3, pto.vldas(x + 3))
        pto.vsts(v, t, 0, pto.pset_b32("PAT_ALL"))
        pto.vmi.vstore(pto.vmi.vload(t, 0, size=64), o, 0)

    fails(run, missing_barrier, source, "f32", "f32", 64, kind="sync", text="VST_VLD")

    def other_address(x, o):
        v, _ = pto.vldus(x + 4, pto.vldas(x + 3))
        pto.vsts(v, o, 0, pto.pset_b32("PAT_ALL"))

    fails(run, other_address, source, "f32", "f32", 64, kind="alignment", text="the alignment state was made for 12")

    def mixed(x, o):
        v, _ = pto.vldus(x + 3, pto.vldas(x + 3))
        pto.vmi.vadd(v, v)

    fails(run, mixed, source, "f32", "f32", 64, kind="trace", text="expects a vector, got physical 64xf32")

    def consecutive(x, o):
        v, al = pto.vldus(x + 3, pto.vldas(x + 3))
        w, al = pto.vldus(x + 67, al)
        every = pto.pset_b32("PAT_ALL")
        pto.vsts(v, o, 0, every)
        pto.vsts(w, o, 64, every)

    assert run(consecutive, source, "f32", "f32", 128) == source[3:131].tolist()
