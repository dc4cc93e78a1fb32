"""Synchronisation (part 5): each hazard is refused, and its proper form is accepted. And undefined data (9.4)."""

import numpy as np
import pytest

from ptosim.minimal import redundant_sync
from support import compile_body, fails, run_body

HEAD = """
x = pto.castptr(pto.const(0, dtype=pto.i64), pto.ptr(pto.f32, "ub"))
t = pto.castptr(pto.const(8192, dtype=pto.i64), pto.ptr(pto.f32, "ub"))
o = pto.castptr(pto.const(16384, dtype=pto.i64), pto.ptr(pto.f32, "ub"))
"""
LOAD = "pto.mte_gm_ub(x_gm, x, 0, 1024, nburst=(1, 0, 0))\n"
STORE = "pto.mte_ub_gm(o, o_gm, 1024, nburst=(1, 0, 0))\n"


def flag(source, destination, event=0):
    return f'pto.set_flag("{source}", "{destination}", event_id={event})\n' \
           f'pto.wait_flag("{source}", "{destination}", event_id={event})\n'


def copy(source, target, offset="i"):
    return f"with pto.for_(0, 256, step=64) as i:\n" \
           f"    pto.vmi.vstore(pto.vmi.vload({source}, {offset}, size=64), {target}, i)\n"


def bar(kind):
    return f"pto.mem_bar(pto.BarrierType.{kind})\n"


IN, OUT = flag("MTE2", "V"), flag("V", "MTE3")
GOOD = {
    "plain": LOAD + IN + copy("x", "o") + OUT + STORE,
    "barrier of all pipes": LOAD + "pto.pipe_barrier(pto.Pipe.ALL)\n" + copy("x", "o") +
                            "pto.pipe_barrier(pto.Pipe.ALL)\n" +
                            STORE,
    "tokens": 'pto.get_buf("MTE2", 3)\n' + LOAD + 'pto.rls_buf("MTE2", 3)\npto.get_buf("V", 3)\n' + copy("x", "o") +
              'pto.rls_buf("V", 3)\npto.get_buf("MTE3", 3)\n' + STORE + 'pto.rls_buf("MTE3", 3)\n',
    "store then load with barrier": LOAD + IN + copy("x", "t") + bar("VST_VLD") + copy("t", "o") + OUT + STORE,
    "VV_ALL instead": LOAD + IN + copy("x", "t") + bar("VV_ALL") + copy("t", "o", "192 - i") + OUT + STORE,
    "in place": LOAD + IN + copy("x", "x") + bar("VST_VLD") + copy("x", "o") + OUT + STORE,
    "overwrite after a load from elsewhere": LOAD + IN + copy("x", "o", "192 - i") + bar("VLD_VST") +
                                             "pto.vmi.vstore(pto.vmi.vbrc(pto.f32(1.0), size=64), x, 32)\n" + OUT + STORE,
    "buffer refilled after vector code read it": LOAD + IN + copy("x", "o") + flag("V", "MTE2") +
                                                LOAD + IN + OUT + STORE,
    "output overwritten after the move": LOAD + IN + copy("x", "o") + OUT + STORE + flag("MTE3", "V") +
                                         copy("x", "o") + OUT +
                                         STORE,
    "flags of other pipes order vector memory too": LOAD + IN + copy("x", "t") + flag("V", "S") + flag("S", "V") +
                                                    copy("t", "o") + OUT + STORE,
    "scalar read after DMA": LOAD + flag("MTE2", "S") + "s = scalar.load(x, 0)\n" + "scalar.store(s, o, 0)\n" +
                             flag("S", "MTE3") + "pto.mte_ub_gm(o, o_gm, 4, nburst=(1, 0, 0))\n",
    "scalar read after vector store": LOAD + IN + copy("x", "o") + bar("VST_LD") +
                                      "s = scalar.load(o, 0)\n" + OUT + STORE,
    "vector read after scalar store": LOAD + IN + copy("x", "o") + bar("VST_ST") +
                                      "scalar.store(pto.f32(1.0), o, 3)\n" +
                                      bar("ST_VLD") + bar("VST_VLD") + copy("o", "t") + OUT +
                                      flag("S", "MTE3", 1) + STORE,
    "a barrier passes on what the vector code waited for": LOAD + IN + copy("x", "o") + bar("VLD_ST") +
                                                           "scalar.store(pto.f32(1.0), x, 0)\n" + OUT + STORE,
}


@pytest.mark.parametrize("name", GOOD)
def test_good(tmp_path, name):
    run_body(tmp_path, HEAD + GOOD[name], np.ones(256, np.float32), np.zeros(256, np.float32), 256)


BAD = {
    "loaded data used by vector code": (LOAD + copy("x", "o") + OUT + STORE, "no flag MTE2 → V"),
    "loaded data read with scalar.load": (LOAD + "s = scalar.load(x, 0)\n", "no flag MTE2 → S"),
    "vector result written to GM": (LOAD + IN + copy("x", "o") + STORE, "no flag V → MTE3"),
    "buffer refilled without V → MTE2": (LOAD + IN + copy("x", "o") + LOAD, "no flag V → MTE2"),
    "output overwritten without MTE3 → V": (LOAD + IN + copy("x", "o") + OUT + STORE + copy("x", "o"),
        "no flag MTE3 → V"),
    "scalar store moved out": ("scalar.store(pto.f32(1.0), o, 0)\n" + STORE.replace("1024", "4"), "no flag S → MTE3"),
    "moved out and refilled": (LOAD + flag("MTE2", "MTE3") + "pto.mte_ub_gm(x, o_gm, 1024, nburst=(1, 0, 0))\n" + LOAD,
                               "no flag MTE3 → MTE2"),
    "DMA in, DMA out": (LOAD + "pto.mte_ub_gm(x, o_gm, 1024, nburst=(1, 0, 0))\n", "no flag MTE2 → MTE3"),
    "store then load": (LOAD + IN + copy("x", "t") + copy("t", "o"), "VST_VLD"),
    "masked store then load": (LOAD + IN + "m = pto.vmi.create_mask(3, size=64)\n"
                               "pto.vmi.vstore(pto.vmi.vload(x, 0, size=64), t, 0, m)\n" + copy("t", "o"), "VST_VLD"),
    "scattered store then load": (LOAD + IN + "m = pto.vmi.create_mask(3, size=64)\nk = pto.vmi.vci(pto.i32(0), "
                                              "size=64)\n"
                                  "pto.vmi.vscatter(pto.vmi.vload(x, 0, size=64), t, k, m)\n" + copy("t", "o"),
                                  "VST_VLD"),
    "store then gather": (LOAD + IN + copy("x", "t") + "m = pto.vmi.create_mask(3, size=64)\n"
                          "k = pto.vmi.vci(pto.i32(0), size=64)\npto.vmi.vstore(pto.vmi.vgather(t, k, m), o, 0)\n",
                          "VST_VLD"),
    "gather then refill": (LOAD + IN + "m = pto.vmi.create_mask(3, size=64)\nk = pto.vmi.vci(pto.i32(0), size=64)\n"
                           "pto.vmi.vstore(pto.vmi.vgather(x, k, m), o, 0)\n" + LOAD, "no flag V → MTE2"),
    "gather of data that is still on its way": (
        LOAD + "m = pto.vmi.create_mask(3, size=64)\nk = pto.vmi.vci(pto.i32(0), size=64)\n"
        "pto.vmi.vstore(pto.vmi.vgather(x, k, m), o, 0)\n", "no flag MTE2 → V"),
    "wrong barrier": (LOAD + IN + copy("x", "t") + bar("VLD_VST") + copy("t", "o"), "VST_VLD"),
    "store then load in one loop": (LOAD + IN + "with pto.for_(64, 256, step=64) as i:\n"
                                    "    pto.vmi.vstore(pto.vmi.vload(x, i - 64, size=64), x, i)\n", "VST_VLD"),
    "overwrite after a load from another address": (
        LOAD + IN + copy("x", "o") + "pto.vmi.vstore(pto.vmi.vbrc(pto.f32(1.0), size=64), x, 32)\n", "VLD_VST"),
    "scalar read after vector store": (LOAD + IN + copy("x", "o") + "s = scalar.load(o, 0)\n", "a mem_bar"),
    "scalar write after vector load": (LOAD + IN + flag("MTE2", "S") + copy("x", "o") +
                                       "scalar.store(pto.f32(1.0), x, 0)\n", "a mem_bar"),
    "vector read after scalar store": (LOAD + IN + flag("MTE2", "S") + "scalar.store(pto.f32(1.0), x, 0)\n" +
                                       copy("x", "o"),
                                       "a mem_bar"),
    "wait without set": ('pto.wait_flag("MTE2", "V", event_id=2)\n', "would hang"),
    "set twice": ('pto.set_flag("MTE2", "V", event_id=2)\npto.set_flag("MTE2", "V", event_id=2)\n',
        "set again before a wait"),
    "event left raised": ('pto.set_flag("MTE2", "V", event_id=2)\n', "left raised at the end: MTE2 → V event 2"),
    "wait for another event": ('pto.set_flag("MTE2", "V", event_id=2)\npto.wait_flag("MTE2", "V", event_id=1)\n',
                               "would hang"),
    "event id at run time": ('pto.set_flag("MTE2", "V", event_id=n)\n', "outside 0 … 7"),
    "flag before the work": (flag("MTE2", "V") + LOAD + copy("x", "o"), "no flag MTE2 → V"),
    "work between set and wait is not covered": (
        'pto.set_flag("MTE2", "V", event_id=0)\n' + LOAD + 'pto.wait_flag("MTE2", "V", event_id=0)\n' + copy("x", "o"),
        "no flag MTE2 → V"),
    "token held by another pipe": ('pto.get_buf("MTE2", 1)\npto.get_buf("V", 1)\n', "still held by MTE2"),
    "token never released": ('pto.get_buf("MTE2", 1)\n', "never released"),
    "token of another": ('pto.get_buf("MTE2", 1)\npto.rls_buf("V", 1)\n', "does not hold it"),
    "copy inside UB": (LOAD + IN + copy("x", "t") + "pto.mte_ub_ub(t, o, 32, nburst=(1, 0, 0))\n", "pipe_barrier"),
    "GM read after write": (LOAD + flag("MTE2", "MTE3") + "pto.mte_ub_gm(x, o_gm, 1024, nburst=(1, 0, 0))\n"
                            "pto.mte_gm_ub(o_gm, t, 0, 1024, nburst=(1, 0, 0))\n", "no flag MTE3 → MTE2"),
    "second half of a double buffer": (
        "with pto.for_(0, 2, step=1) as h:\n"
        "    pto.mte_gm_ub(x_gm, pto.addptr(x, h * 128), 0, 512, nburst=(1, 0, 0))\n"
        "    pto.set_flag(\"MTE2\", \"V\", event_id=h)\n"
        "pto.wait_flag(\"MTE2\", \"V\", event_id=0)\n" + copy("x", "o"), "no flag MTE2 → V"),
}


@pytest.mark.parametrize("name", BAD)
def test_missing_synchronisation(tmp_path, name):
    body, text = BAD[name]
    fails(run_body, tmp_path, HEAD + body, np.ones(256, np.float32), np.zeros(256, np.float32), 256, kind="sync",
          text=text)


def test_the_error_names_both_lines(tmp_path):
    body = HEAD + LOAD + copy("x", "o")
    error = fails(run_body, tmp_path, body, np.ones(256, np.float32), np.zeros(256, np.float32), 256, kind="sync",
                  text="MTE2 wrote (line 9)", line=11)
    assert str(error).startswith(error.file + ":11: sync: vload")


def test_the_error_names_the_vector_access(tmp_path):
    body = HEAD + LOAD + IN + copy("x", "o") + STORE
    fails(run_body, tmp_path, body, np.ones(256, np.float32), np.zeros(256, np.float32), 256, kind="sync",
          text="V wrote (line 13)", line=14)
    body = HEAD + LOAD + IN + copy("x", "t") + copy("t", "o")
    fails(run_body, tmp_path, body, np.ones(256, np.float32), np.zeros(256, np.float32), 256, kind="sync",
          text="vector store (line 13) wrote", line=15)


POISON = {
    "never written": (copy("x", "o") + OUT + STORE, "came from undefined data, made in line 10"),
    "never stored": (STORE, "were never written"),
    "beyond the row": (LOAD.replace("1024", "1000") + IN + copy("x", "o") + OUT + STORE, "came from undefined data"),
    "reduction": (LOAD.replace("1024", "200") + IN + "full = pto.vmi.create_mask(64, size=64)\n"
                  "pto.vmi.vstore(pto.vmi.vcadd(pto.vmi.vload(x, 0, size=64), full, reassoc=True), o, 0)\n" + OUT +
                  STORE.replace("1024", "4"), "came from undefined data"),
    "mask": ("full = pto.vmi.create_mask(64, size=64)\nv = pto.vmi.vload(x, 0, size=64)\n"
             "pto.vmi.vstore(v, o, 0, pto.vmi.vcmps(v, pto.f32(0.0), full, \"lt\"))\n",
                 "the mask depends on undefined data"),
    "scalar": ("s = scalar.load(x, 0)\n", "were never written"),
    "shift count": ("full = pto.vmi.create_mask(64, size=64)\nu = pto.vmi.vbrc(pto.ui32(40), size=64)\n"
                    "o = pto.castptr(pto.const(16384, dtype=pto.i64), pto.ptr(pto.ui32, \"ub\"))\n"
                    "of = pto.castptr(pto.const(16384, dtype=pto.i64), pto.ptr(pto.f32, \"ub\"))\n"
                    "pto.vmi.vstore(pto.vmi.vshl(u, u), o, 0)\n" + OUT +
                    "pto.mte_ub_gm(of, o_gm, 4, nburst=(1, 0, 0))\n", "came from undefined data, made in line 13"),
    "selection by an undefined mask": (
        "full = pto.vmi.create_mask(64, size=64)\nv = pto.vmi.vload(x, 0, size=64)\n"
        "one = pto.vmi.vbrc(pto.f32(1.0), size=64)\nc = pto.vmi.vcmps(v, pto.f32(0.0), full, \"lt\")\n"
        "pto.vmi.vstore(pto.vmi.vsel(c, one, one), o, 0)\n" + OUT + STORE.replace("1024", "4"),
            "came from undefined data"),
    "max of no lane": ("none = pto.vmi.create_mask(0, size=64)\n"
                       "pto.vmi.vstore(pto.vmi.vcmax(pto.vmi.vbrc(pto.f32(1.0), size=64), none), o, 0)\n" + OUT +
                       STORE.replace("1024", "4"), "came from undefined data"),
}


@pytest.mark.parametrize("name", POISON)
def test_undefined_data_is_refused_where_it_matters(tmp_path, name):
    body, text = POISON[name]
    fails(run_body, tmp_path, HEAD + body, np.ones(256, np.float32), np.zeros(256, np.float32), 256, kind="poison",
          text=text)


HARMLESS = {
    "masked tail": LOAD.replace("1024", "200") + IN + "m = pto.vmi.create_mask(50, size=64)\n"
                   "v = pto.vmi.vload(x, 0, size=64)\npto.vmi.vstore(pto.vmi.vadd(v, v), o, 0, m)\n" + OUT +
                   STORE.replace("1024", "200"),
    "unmasked store, valid bytes moved": LOAD.replace("1024", "200") + IN + copy("x", "o").replace("256", "64") + OUT +
                                         STORE.replace("1024", "200"),
    "masked reduction": LOAD.replace("1024", "200") + IN + "m = pto.vmi.create_mask(50, size=64)\n"
                        "pto.vmi.vstore(pto.vmi.vcadd(pto.vmi.vload(x, 0, size=64), m, reassoc=True), o, 0)\n" + OUT +
                        STORE.replace("1024", "4"),
    "selected away": LOAD.replace("1024", "200") + IN + "m = pto.vmi.create_mask(50, size=64)\n"
                     "zero = pto.vmi.vbrc(pto.f32(0.0), size=64)\nfull = pto.vmi.create_mask(64, size=64)\n"
                     "v = pto.vmi.vsel(m, pto.vmi.vload(x, 0, size=64), zero)\n"
                     "pto.vmi.vstore(pto.vmi.vcadd(v, full, reassoc=True), o, 0)\n" + OUT + STORE.replace("1024", "4"),
    "pad value": "pto.mte_gm_ub(x_gm, x, 0, 1000, nburst=(1, 0, 0), pad=(0.0,))\n" + IN + copy("x", "o") + OUT + STORE,
    "compare under a seed": LOAD.replace("1024", "200") + IN + "m = pto.vmi.create_mask(50, size=64)\n"
                            "v = pto.vmi.vload(x, 0, size=64)\nzero = pto.vmi.vbrc(pto.f32(0.0), size=64)\n"
                            "c = pto.vmi.vcmps(v, pto.f32(0.0), m, \"gt\")\n"
                            "pto.vmi.vstore(pto.vmi.vsel(c, v, zero), o, 0)\n" + OUT + STORE.replace("1024", "256"),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_undefined_lanes_may_exist(tmp_path, name):
    run_body(tmp_path, HEAD + HARMLESS[name], np.ones(256, np.float32), np.zeros(256, np.float32), 256)


def test_each_block_starts_with_undefined_memory(tmp_path):
    body = HEAD + "b = pto.get_block_idx()\nwith pto.if_(b == 0) as br:\n    with br.then_:\n        " + LOAD + \
        flag("MTE2", "MTE3") + "pto.mte_ub_gm(x, o_gm, 1024, nburst=(1, 0, 0))\n"
    error = fails(run_body, tmp_path, body, np.ones(256, np.float32), np.zeros(256, np.float32), 256, blocks=2,
                  kind="poison",
                  text="were never written")
    assert error.block == 1


BLOCKS = """
b = scalar.index_cast(pto.get_block_idx())
pto.mte_gm_ub(x_gm, x, 0, 128, nburst=(1, 0, 0))
pto.set_flag("MTE2", "V", event_id=0)
pto.wait_flag("MTE2", "V", event_id=0)
v = pto.vmi.vload(x, 0, size=64)
v = pto.vmi.vadd(v, pto.vmi.vcvt(pto.vmi.vinterpret_cast(pto.vmi.vbrc(scalar.index_cast(pto.i32, b), size=64), pto.si32), pto.f32))
pto.vmi.vstore(v, o, 0)
pto.set_flag("V", "MTE3", event_id=0)
pto.wait_flag("V", "MTE3", event_id=0)
"""


def test_blocks_that_disagree_about_a_byte(tmp_path):
    args = np.ones(256, np.float32), np.zeros(256, np.float32), 256
    body = HEAD + BLOCKS + "pto.mte_ub_gm(o, pto.addptr(o_gm, b * {}), 128, nburst=(1, 0, 0))\n"
    run_body(tmp_path, body.format(32), *args, blocks=4)
    error = fails(run_body, tmp_path, body.format(16), *args, blocks=4, kind="race",
        text="written with different values")
    assert error.block == 1


def test_a_block_may_not_read_what_another_writes(tmp_path):
    args = np.ones(256, np.float32), np.ones(256, np.float32), 256
    body = HEAD + BLOCKS.replace("x_gm",
                                 "o_gm") + "pto.mte_ub_gm(o, pto.addptr(o_gm, 32 + b * 32), 128, nburst=(1, 0, 0))\n"
    run_body(tmp_path, body, *args, blocks=4)
    swapped = body.replace("o_gm, 32 + b * 32", "o_gm, b * 32")
    fails(run_body, tmp_path, swapped, *args, blocks=4, kind="race", text="another block of the launch")


def test_a_block_may_not_write_what_another_reads(tmp_path):
    """The reader comes first in the order of execution, the writer second."""
    args = np.ones(256, np.float32), np.ones(256, np.float32), 256
    body = HEAD + BLOCKS.replace("x_gm",
                                 "o_gm") + "pto.mte_ub_gm(o, pto.addptr(o_gm, 96 - b * 32), 128, nburst=(1, 0, 0))\n"
    error = fails(run_body, tmp_path, body, *args, blocks=4, kind="race",
        text="are written, but another block of the launch reads")
    assert error.block == 3


MINIMAL = {
    "nothing to leave out": (LOAD + IN + copy("x", "t") + bar("VST_VLD") + copy("t", "o") + OUT + STORE, []),
    "flag without a dependence": (LOAD + IN + flag("MTE2", "S") + copy("x", "o") + OUT + STORE, ["flag MTE2 → S"]),
    "barrier without a dependence": (LOAD + IN + copy("x", "o") + bar("VST_VLD") + OUT + STORE, ["mem_bar VST_VLD"]),
    "two barriers where one would do": (LOAD + IN + copy("x", "t") + bar("VST_VLD") + bar("VV_ALL") +
                                        copy("t", "o") + OUT + STORE,
                                        ["mem_bar VST_VLD", "mem_bar VV_ALL"]),
    "stores that do not overlap": (LOAD + IN + copy("x", "o") + bar("VST_VST") +
                                   "pto.vmi.vstore(pto.vmi.vload(x, 0, size=64), o, 256)\n" + OUT + STORE,
                                   ["mem_bar VST_VST"]),
    "stores that overlap": (LOAD + IN + "pto.vmi.vstore(pto.vmi.vload(x, 8, size=64), o, 8)\n" + bar("VST_VST") +
                            copy("x", "o") + OUT + STORE, []),
    "a barrier of all pipes too many": (LOAD + "pto.pipe_barrier(pto.Pipe.ALL)\n" + copy("x", "o") + OUT + STORE +
                                        "pto.pipe_barrier(pto.Pipe.ALL)\n", ["pipe_barrier ALL"]),
    "a loop whose flags meet across iterations": (
        'pto.set_flag("V", "MTE2", event_id=1)\npto.set_flag("MTE3", "V", event_id=1)\n'
        "with pto.for_(0, 3, step=1) as r:\n"
        '    pto.wait_flag("V", "MTE2", event_id=1)\n    ' + LOAD + '    pto.set_flag("MTE2", "V", event_id=0)\n'
        '    pto.wait_flag("MTE2", "V", event_id=0)\n    pto.wait_flag("MTE3", "V", event_id=1)\n'
        "    pto.vmi.vstore(pto.vmi.vload(x, 0, size=64), o, 0)\n"
        '    pto.set_flag("V", "MTE2", event_id=1)\n    pto.set_flag("V", "MTE3", event_id=0)\n'
        '    pto.wait_flag("V", "MTE3", event_id=0)\n    pto.mte_ub_gm(o, o_gm, 256, nburst=(1, 0, 0))\n'
        '    pto.set_flag("MTE3", "V", event_id=1)\n'
        'pto.wait_flag("V", "MTE2", event_id=1)\npto.wait_flag("MTE3", "V", event_id=1)\n', []),
}


@pytest.mark.parametrize("name", MINIMAL)
def test_synchronisation_that_is_not_needed_is_found(tmp_path, name):
    body, expected = MINIMAL[name]
    compiled = compile_body(tmp_path, HEAD + body)
    source, out = np.arange(256, dtype=np.float32), np.zeros(256, np.float32)
    found = redundant_sync(compiled, 1, (source, out, 256))
    assert [entry["what"] for entry in found] == expected
    count = 64 if "loop" in name else 256
    assert out[:count].tolist() == source[:count].tolist()


def test_the_printed_examples_need_all_their_synchronisation():
    from reference import examples
    x = np.ones(3 * 4096, np.float32)
    assert redundant_sync(examples.stream_exp.compile(), 1, (x, np.zeros_like(x), 3)) == []
    x = np.ones(1024, np.float32)
    assert redundant_sync(examples.two_pass.compile(), 1, (x, np.zeros_like(x))) == []


def test_two_arguments_may_point_to_one_piece_of_memory(tmp_path):
    """Written through one pointer, read through the other: the same rules hold."""
    memory = np.ones(256, np.float32)
    unordered = HEAD + LOAD + IN + copy("x", "o") + OUT + STORE + LOAD.replace("x, 0", "t, 0")
    fails(run_body, tmp_path, unordered, memory, memory, 256, kind="sync", text="no flag MTE3 → MTE2")
    run_body(tmp_path, unordered, memory, np.zeros(256, np.float32), 256)
    ordered = HEAD + LOAD + IN + copy("x", "o") + OUT + flag("MTE2", "MTE3") + STORE + flag("MTE3", "MTE2") + \
        LOAD.replace("x, 0", "t, 0")
    run_body(tmp_path, ordered, memory, memory, 256)
    body = HEAD + BLOCKS + "pto.mte_ub_gm(o, pto.addptr(o_gm, 32 + b * 32), 128, nburst=(1, 0, 0))\n"
    run_body(tmp_path, body.replace("pto.mte_ub_gm", 'pto.set_flag("MTE2", "MTE3", event_id=1)\n'
                                    'pto.wait_flag("MTE2", "MTE3", event_id=1)\npto.mte_ub_gm'), memory, memory, 256, blocks=4)
    fails(run_body, tmp_path, body.replace("o_gm, 32 + ", "o_gm, ").replace(
        "pto.mte_ub_gm", 'pto.set_flag("MTE2", "MTE3", event_id=1)\npto.wait_flag("MTE2", "MTE3", event_id=1)\npto.mte_ub_gm'),
        memory, memory, 256, blocks=4, kind="race", text="another block of the launch")
