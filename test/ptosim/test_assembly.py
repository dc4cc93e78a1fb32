"""`.pto` text (part 21): the printed module, round trips of whole kernels, and refusals."""

import numpy as np
import pytest

from ptosim.executor import Compiled
from ptosim.jit import DEFAULT_OPTIONS
from ptosim.launch import load_kernels
from reference import examples, kernels
from support import compile_body, fails

# The complete module of part 21, word for word.
TWICE = """module attributes {pto.target_arch = "a5"} {
  module attributes {pto.backend = "vpto", pto.kernel_kind = #pto.kernel_kind<vector>, pto.target_arch = "a5"} {
    func.func @twice(%src: !pto.ptr<f32, gm>, %n: i32) attributes {pto.entry, pto.kernel_kind = #pto.kernel_kind<vector>} {
      %z = arith.constant 0 : i64
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %c1024 = arith.constant 1024 : index
      %a = pto.castptr %z : i64 -> !pto.ptr<f32, ub>
      %m = pto.vmi.create_mask %c64 : index -> !pto.vmi.mask<64xpred>
      scf.for %i = %c0 to %c1024 step %c64 {
        %v = pto.vmi.vload %a[%i] : !pto.ptr<f32, ub> -> !pto.vmi.vreg<64xf32>
        %w = pto.vmi.vadd %v, %v, %m : !pto.vmi.vreg<64xf32>, !pto.vmi.vreg<64xf32>, !pto.vmi.mask<64xpred> -> !pto.vmi.vreg<64xf32>
        pto.vmi.vstore %w, %a[%i], %m : !pto.vmi.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.vmi.mask<64xpred>
      }
      return
    }
  }
}
"""
RANDOM = np.random.default_rng(23)


def read(tmp_path, text):
    path = tmp_path / "k.pto"
    path.write_text(text)
    return load_kernels(str(path))


def test_printed_module(tmp_path):
    compiled = compile_text(tmp_path, TWICE, "twice")
    compiled[1, None](np.zeros(4, np.float32), 0)
    loop, = compiled.report["inner_loops"]
    assert (loop["runs"], loop["ops"], loop["line"]) == (16, {"vadd": 1, "vload": 1, "vstore": 1}, 10)


def compile_text(tmp_path, text, name):
    return Compiled(read(tmp_path, text)[name], {}, DEFAULT_OPTIONS)


def floats(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


ARGUMENTS = {
    kernels.axpy: lambda: (floats(300), floats(300), floats(300), 1.25, 300),
    kernels.blur3: lambda: (floats(302), floats(300), 300),
    kernels.softmax_row: lambda: (floats(3, 300), floats(3, 300), 3, 300),
    kernels.layer_norm: lambda: (floats(3, 300), floats(300), floats(300), floats(3, 300), 3, 300, 1 / 300, 1e-5),
    kernels.to_u8: lambda: (floats(300) * 200, np.zeros(300, np.uint8), 300),
    kernels.table_lookup: lambda: (RANDOM.integers(0, 10, 300, dtype=np.uint32), floats(10), floats(300), 300, 10),
    kernels.fp4_scale: lambda: (RANDOM.integers(0, 256, 300, dtype=np.uint8), floats(600), 1.5, 300),
    examples.row_sum: lambda: (floats(5, 200), floats(5), 5),
    examples.ramp_select: lambda: (floats(300), 300, 77),
    examples.stream_exp: lambda: (floats(3 * 4096), floats(3 * 4096), 3),
    examples.two_pass: lambda: (floats(1024), floats(1024)),
    examples.matmul_rows: lambda: (floats(5, 32), floats(32, 128), floats(5, 128), 5),
}


@pytest.mark.parametrize("kernel", ARGUMENTS, ids=lambda k: k.name)
def test_text_means_the_same_as_the_kernel(tmp_path, kernel):
    first = kernel.compile()
    args = ARGUMENTS[kernel]()
    other = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    first[1, None](*args)
    second = compile_text(tmp_path, first.mlir_text(), kernel.name)
    second[1, None](*other)
    for a, b in zip(args, other):
        if isinstance(a, np.ndarray):
            np.testing.assert_array_equal(a, b)
    for key in ("instructions", "dma", "sync", "pressure", "scopes"):
        assert first.report[key] == second.report[key]


WIDE = """
x = pto.castptr(pto.const(0, dtype=pto.i64), pto.ptr(pto.f32, "ub"))
h = pto.castptr(pto.const(4096, dtype=pto.i64), pto.ptr(pto.bf16, "ub"))
u = pto.castptr(pto.const(8192, dtype=pto.i64), pto.ptr(pto.ui8, "ub"))
k = pto.castptr(pto.const(12288, dtype=pto.i64), pto.ptr(pto.ui32, "ub"))
pto.mte_gm_ub(x_gm, x, 0, n * 4, nburst=(1, 0, 0), loops=[(1, 0, 0)], pad=(pto.f32(0.5),))
e = n % 2
pto.set_flag("MTE2", "V", event_id=e)
pto.wait_flag("MTE2", "V", event_id=e)
pto.get_buf("V", 3)
pto.rls_buf("V", 3)
full = pto.vmi.create_mask(64, size=64)
some = pto.vmi.vxor(pto.vmi.vnot(pto.vmi.create_mask(3, size=64, group=8)), pto.vmi.create_mask(9, size=64))
v = pto.vmi.vload(x, 0, size=64)
c = pto.vmi.vand(pto.vmi.vcmps(v, pto.f32(0.0), full, "lt"), some)
w = pto.vmi.vsel(c, pto.vmi.vabs(v), pto.vmi.vneg(v))
a, b = pto.vmi.vintlv(v, w, full)
even, odd = pto.vmi.vload(x, 64, size=64, dist_mode="dintlv")
g = pto.vmi.vload(x, 0, size=64, group=8, stride=1, dist_mode="brc")
s = pto.vmi.vbrc(pto.vmi.vcadd(pto.vmi.vadd(a, g), full, group=8, reassoc=True), size=64, group=8)
s = pto.vmi.vmula(s, even, odd, some)
s = pto.vmi.vadd(pto.vmi.vlrelu(s, pto.f32(0.25), full), pto.vmi.vbrc(pto.vmi.vcmax(b, full), size=64))
i = pto.vmi.vinterpret_cast(pto.vmi.vci(pto.i32(3), size=64, order="DESC"), pto.ui32)
i = pto.vmi.vand(pto.vmi.vshl(i, n // n, full), pto.vmi.vbrc(pto.ui32(63), size=64))
lo, hi = pto.vmi.vmull(i, i, full)
sum_, carry = pto.vmi.vaddc(lo, hi, full)
s = pto.vmi.vadd(s, pto.vmi.vgather(x, i, pto.vmi.create_mask(40, size=64)))
pto.vmi.vstore(s, x, 256)
pto.vmi.vstore([even, odd], x, 320, dist_mode="dintlv")
pto.vmi.vstore(s, x, 448, group=8, stride=8)
pto.vmi.vsstb(s, x, 512, 1, some)
pto.vmi.vstore(sum_, k, 0)
pto.vmi.vscatter(lo, k, i, pto.vmi.create_mask(1, size=64))
pto.mem_bar(pto.BarrierType.VV_ALL)
with pto.if_((n > 5) & (n != 7)) as br:
    with br.then_:
        br.assign(y=pto.vmi.vcvt(s, pto.bf16, rounding="A", saturate="NOSAT"), z=n // 3)
    with br.else_:
        br.assign(y=pto.vmi.vcvt(w, pto.bf16, rounding="R", saturate="SAT"), z=scalar.max(n, 2))
pto.vmi.vstore(br.y, h, 0)
with pto.for_(0, 2, step=1, unroll_factor=2) as q:
    pto.vmi.vstore(pto.vmi.vbrc(pto.ui8(200), size=64), u, q * 64)
pto.pipe_barrier(pto.Pipe.ALL)
t = scalar.select(n > 3, pto.f32(1.5), pto.f32(float("nan"))) * scalar.exp(scalar.load(x, 1)) / 3.0
scalar.store(t, x, 0)
d = scalar.cast(scalar.cast(br.z, pto.ui32) // pto.ui32(2), pto.i32)
with pto.if_(scalar.cast(d, pto.si8) < pto.si8(-3)) as neg:
    with neg.then_:
        scalar.store(pto.f32(-9.0), x, 2)
pto.pipe_barrier(pto.Pipe.ALL)
pto.mte_ub_ub(x, x + 1024 * 8, 8, nburst=(1, 0, 0))
pto.pipe_barrier(pto.Pipe.ALL)
pto.mte_ub_gm(x, o_gm, 2048, nburst=(1, 0, 0))
pto.mte_ub_gm(x + 1024, o_gm + 512, 128, nburst=(1, 0, 0))
pto.mte_ub_gm(x + 2048, o_gm + 544, 128, nburst=(1, 0, 0))
pto.mte_ub_gm(x + 3072, o_gm + 576, 256, nburst=(1, 0, 0))
pto.mte_ub_gm(x + 8192, o_gm + 640, 256, nburst=(1, 0, 0))
b_ = scalar.index_cast(pto.get_block_idx() + pto.get_block_num())
scalar.store(pto.f32(4.0), o_gm, b_ * 800)
"""


def test_round_trip_of_nearly_every_operation(tmp_path):
    first = compile_body(tmp_path, WIDE)
    text = first.mlir_text()
    second = compile_text(tmp_path, text, "k")
    x = floats(256)
    outputs = []
    for compiled in (first, second):
        o = np.zeros(1024, np.float32)
        compiled[1, None](x, o, 256)
        outputs.append(o)
    np.testing.assert_array_equal(*[o.view(np.uint32) for o in outputs])
    assert outputs[0].any()
    for key in ("instructions", "dma", "sync", "pressure", "scopes"):
        assert first.report[key] == second.report[key]
    # Writing what was read gives the same operations again.
    def words(t):
        return [line.split(" = ")[-1].split("%")[0] for line in t.splitlines() if "constant" not in line and "cast" not in line]
    assert words(second.mlir_text()) == words(text)


def test_text_reaches_more_than_the_dsl(tmp_path):
    text = TWICE.replace("%w = pto.vmi.vadd %v, %v, %m : !pto.vmi.vreg<64xf32>, !pto.vmi.vreg<64xf32>, "
                         "!pto.vmi.mask<64xpred> -> !pto.vmi.vreg<64xf32>",
                         "%k = pto.vmi.vcvt %v {rounding = \"F\", saturate = \"SAT\"} : !pto.vmi.vreg<64xf32> -> "
                         "!pto.vmi.vreg<64xsi32>\n%w = pto.vmi.vcvt %k : !pto.vmi.vreg<64xsi32> -> "
                         "!pto.vmi.vreg<64xf32>")
    text = text.replace("%c1024 = arith.constant 1024 : index\n", """%c1024 = arith.constant 1024 : index
      %f = arith.sitofp %n : i32 to f32
      %g = arith.addf %f, %f : f32
      pto.store_scalar %g, %src[%c0] : !pto.ptr<f32, gm>, f32
""")
    compiled = compile_text(tmp_path, text, "twice")
    out = np.zeros(4, np.float32)
    compiled[1, None](out, 21)
    assert out[0] == 42.0


BAD = {
    "declared type": (("-> !pto.vmi.vreg<64xf32>\n        pto", "-> !pto.vmi.vreg<64xf16>\n        pto"), "trace",
                      "is declared"),
    "unknown operation": (("pto.vmi.vadd", "pto.vmi.vsin"), "trace", "unknown operation pto.vmi.vsin"),
    "undefined value": (("vadd %v, %v", "vadd %v, %q"), "trace", "%q is not defined"),
    "unknown dialect": (("pto.vmi.vadd", "foo.bar"), "trace", "unknown operation foo.bar"),
    "vector form of a scalar": (("vadd %v, %v", "vadd %v, %n"), "trace", "spelled pto.vmi.vadds"),
    "bounds that are no index": (("%c0 to", "%n to"), "trace", "bounds of scf.for are index"),
    "lanes that do not exist": (("mask<64xpred>\n      scf", "mask<32xpred>\n      scf"), "trace",
        "requires lanes to be one of"),
    "no entry": (("pto.entry, ", ""), "trace", "no function with the attribute pto.entry"),
    "no return": (("      return\n", ""), "trace", "has no return"),
    "unknown type": (("%n: i32", "%n: i33"), "trace", "unknown type 'i33'"),
}


@pytest.mark.parametrize("name", BAD)
def test_refusals(tmp_path, name):
    (old, new), kind, text = BAD[name]
    assert old in TWICE
    fails(compile_text, tmp_path, TWICE.replace(old, new), "twice", kind=kind, text=text)


def test_errors_name_the_line_of_the_text(tmp_path):
    text = TWICE.replace("pto.vmi.vadd %v, %v, %m", "pto.vmi.vadd %v, %v, %v")
    fails(compile_text, tmp_path, text, "twice", kind="trace", text="requires a mask operand", line=12)
