"""What the real tools refuse while tracing, verifying or lowering (parts 2 to 20, 25): each with its words and line."""

import pytest

from ptosim.launch import load_kernels
from support import compile_body, fails, write_kernel

HEAD = """
x = pto.castptr(pto.const(0, dtype=pto.i64), pto.ptr(pto.f32, "ub"))
h = pto.castptr(pto.const(0, dtype=pto.i64), pto.ptr(pto.f16, "ub"))
b = pto.castptr(pto.const(0, dtype=pto.i64), pto.ptr(pto.bf16, "ub"))
u = pto.castptr(pto.const(0, dtype=pto.i64), pto.ptr(pto.ui8, "ub"))
i = pto.castptr(pto.const(0, dtype=pto.i64), pto.ptr(pto.i32, "ub"))
full = pto.vmi.create_mask(64, size=64)
v = pto.vmi.vload(x, 0, size=64)
"""
LINE = 13       # of the first line after HEAD, in the written file

TRACE = {
    # Names and signatures
    "vector operation that does not exist": ("pto.vmi.vsin(v)", "pto.vmi has no 'vsin'"),
    "pto name that does not exist": ("pto.while_(n)", "pto has no 'while_'"),
    "64-bit float": ("pto.f64(1.0)", "pto has no 'f64'"),
    "scalar name that does not exist": ("scalar.sin(n)", "scalar has no 'sin'"),
    "unknown keyword": ("pto.vmi.vadd(v, v, pmode=\"zero\")", "unexpected keyword argument 'pmode'"),
    "size is required": ("pto.vmi.vload(x, 0)", "missing 1 required positional argument: 'size'"),
    "step is by keyword": ("pto.for_(0, n, 1)", "takes 2 positional arguments"),
    # Lanes and types
    "32 lanes": ("pto.vmi.create_mask(3, size=32)", "requires lanes to be one of 1, 2, 4, 8, 64, 128, 256"),
    "100 lanes": ("pto.vmi.vload(x, 0, size=100)", "requires lanes to be one of 1, 2, 4, 8, 64, 128, 256"),
    "lanes at run time": ("pto.vmi.vload(x, 0, size=n)", "must be a Python integer"),
    "lane counts that differ": ("pto.vmi.vadd(v, pto.vmi.vload(x, 0, size=128))", "operands of 64 and 128 lanes"),
    "types that differ": ("pto.vmi.vadd(v, pto.vmi.vload(h, 0, size=64))", "differ"),
    "mask of other lanes": ("pto.vmi.vadd(v, v, pto.vmi.create_mask(1, size=128))",
        "mask of 128 lanes on vectors of 64"),
    "64-bit vectors": ('pto.vmi.vload(pto.castptr(pto.const(0, dtype=pto.i64), pto.ptr(pto.si64, "ub")), 0, size=64)',
                       "VMI element type"),
    "8-bit product": ("pto.vmi.vmul(pto.vmi.vload(u, 0, size=256), pto.vmi.vload(u, 0, size=256))", "VMI element type"),
    "integer quotient": ("pto.vmi.vdiv(pto.vmi.vload(i, 0, size=64), pto.vmi.vload(i, 0, size=64))",
        "VMI element type"),
    "bits of floats": ("pto.vmi.vand(v, v)", "VMI element type"),
    "exponential of bf16": ("pto.vmi.vexp(pto.vmi.vload(b, 0, size=128))", "VMI element type"),
    "negative bf16": ("pto.vmi.vneg(pto.vmi.vload(b, 0, size=128))", "VMI element type"),
    "absolute value of unsigned": ("pto.vmi.vabs(pto.vmi.vload(u, 0, size=256))", "VMI element type"),
    "integer multiply-add": ("k = pto.vmi.vload(i, 0, size=64)\npto.vmi.vmula(k, k, k, full)", "VMI element type"),
    "no fp8 literals": ("pto.f8e4m3(1.0)", "has no literals"),
    "no bool memory": ('pto.ptr(pto.i1, "ub")', "cannot be stored"),
    "memory space": ('pto.ptr(pto.f32, "l1")', "must be 'gm' or 'ub'"),
    "literal too large": ("pto.ui8(256)", "256 does not fit ui8"),
    "negative unsigned literal": ("pto.ui32(-1)", "-1 does not fit ui32"),
    # Masks
    "vector-scalar form without mask": ("pto.vmi.vmul(v, pto.f32(2.0))", "requires a mask operand"),
    "compare without seed": ("pto.vmi.vcmp(v, v, None, \"lt\")", "requires a mask operand"),
    "sum without mask": ("pto.vmi.vcadd(v, None, reassoc=True)", "requires a mask operand"),
    "multiply-add without mask": ("pto.vmi.vmula(v, v, v)", "missing 1 required positional argument: 'mask'"),
    "group does not divide": ("pto.vmi.create_mask(1, size=64, group=7)", "cannot be cut into 7 groups"),
    "too many lanes per group": ("pto.vmi.create_mask(9, size=64, group=8)", "9 active lanes in groups of 8"),
    "mask logic with a governing mask": ("pto.vmi.vand(full, full, full)", "no governing mask"),
    # Forms that do not exist
    "difference with a scalar": ("pto.vmi.vsub(v, pto.f32(1.0), full)", "no vector-scalar form"),
    "quotient by a scalar": ("pto.vmi.vdiv(v, pto.f32(2.0), full)", "no vector-scalar form"),
    "scalar of another type": ("pto.vmi.vadd(v, pto.i32(1), full)", "scalar of type i32 where f32"),
    "float in an integer vector": ("pto.vmi.vadd(pto.vmi.vload(i, 0, size=64), 1.5, full)",
        "cannot coerce the authored value"),
    "Python operators on vectors": ("v + v", "unsupported operand type(s)"),
    "broadcast of a Python number": ("pto.vmi.vbrc(1.0, size=64)", "requires a typed scalar"),
    "lane index of a Python number": ("pto.vmi.vci(0, size=64)", "requires a typed scalar"),
    "broadcast of an index": ("pto.vmi.vbrc(pto.const(1), size=64)", "VMI element type"),
    "lane index in bf16": ("pto.vmi.vci(pto.bf16(0.0), size=128)", "VMI element type"),
    "signed gather offsets": ("pto.vmi.vgather(x, pto.vmi.vinterpret_cast(v, pto.si32), full)",
        "offsets must be unsigned"),
    "sum of floats without reassoc": ("pto.vmi.vcadd(v, full)", "need reassoc=True"),
    "three groups": ("pto.vmi.vcadd(v, full, group=16, reassoc=True)", "group must be 1, 2, 4 or 8"),
    "unknown predicate": ("pto.vmi.vcmp(v, v, full, \"ult\")", "unknown predicate"),
    "ordered predicate on integers": ("k = pto.vmi.vload(i, 0, size=64)\npto.vmi.vcmp(k, k, full, \"olt\")",
                                      "unknown predicate"),
    "rounding where it is not allowed": ("pto.vmi.vcvt(pto.vmi.vload(h, 0, size=64), pto.f32, rounding=\"R\")",
                                         "'rounding' attribute is only valid for"),
    "floor while converting": ("pto.vmi.vcvt(v, pto.si32, rounding=\"F\", saturate=\"SAT\")",
                               "'rounding' attribute is only valid for R, A, Z"),
    "hybrid to integer": ("pto.vmi.vcvt(v, pto.si32, rounding=\"H\", saturate=\"SAT\")",
                          "'rounding' attribute is only valid for R, A, Z"),
    "saturation while widening": ("pto.vmi.vcvt(pto.vmi.vload(u, 0, size=64), pto.ui32, saturate=\"SAT\")",
                                  "'saturate' attribute is not valid"),
    "rounding of integers": ("pto.vmi.vcvt(pto.vmi.vload(i, 0, size=64), pto.i16, rounding=\"R\", saturate=\"SAT\")",
                             "'rounding' attribute is only valid for"),
    "saturation to fp4": ("p = pto.vmi.vinterpret_cast(pto.vmi.vload(b, 0, size=128), pto.vmi.bf16x2)\n"
                          "pto.vmi.vcvt(p, pto.f4e2m1x2, rounding=\"R\", saturate=\"SAT\")",
                              "'saturate' attribute is not valid"),
    "reinterpretation to illegal lanes": ("pto.vmi.vinterpret_cast(pto.vmi.vload(u, 0, size=64), pto.ui32)",
                                          "requires lanes to be one of 1, 2, 4, 8, 64, 128, 256"),
    # Memory
    "vector code on GM": ("pto.vmi.vload(x_gm, 0, size=64)", "vector code reaches UB only"),
    "value into another type": ("pto.vmi.vstore(v, h, 0)", "value of type f32 into a pointer to f16"),
    "float offset": ("pto.vmi.vload(x, 1.5, size=64)", "expects a Python integer, an index or an integer scalar"),
    "group without stride": ("pto.vmi.vload(x, 0, size=128, group=2)", "need a constant stride="),
    "group stride at run time": ("pto.vmi.vload(x, 0, size=128, group=2, stride=n)", "need a constant stride="),
    "stride without group": ("pto.vmi.vload(x, 0, size=64, stride=8)", "belongs to the grouped forms"),
    "masked group store": ("pto.vmi.vstore(v, x, 0, full, group=8, stride=8)", "allows no mask"),
    "unknown distribution": ("pto.vmi.vload(x, 0, size=64, dist_mode=\"foo\")", "unknown dist_mode"),
    "pointer from an index": ('pto.castptr(pto.const(0), pto.ptr(pto.f32, "ub"))', "the address is an i64 scalar"),
    "pointer from a number": ('pto.castptr(0, pto.ptr(pto.f32, "ub"))', "the address is an i64 scalar"),
    "GM pointer from an address": ('pto.castptr(pto.const(0, dtype=pto.i64), pto.ptr(pto.f32, "gm"))',
                                   "only UB pointers"),
    "DMA into GM": ("pto.mte_gm_ub(x_gm, o_gm, 0, 4, nburst=(1, 0, 0))", "the destination must be a UB pointer"),
    "DMA of another type": ("pto.mte_gm_ub(x_gm, h, 0, 4, nburst=(1, 0, 0))", "element types f32 and f16"),
    "DMA without bursts": ("pto.mte_gm_ub(x_gm, x, 0, 4)", "nburst is a triple"),
    "DMA with pairs": ("pto.mte_gm_ub(x_gm, x, 0, 4, nburst=(1, 0))", "nburst is a triple"),
    "cache control": ("pto.mte_gm_ub(x_gm, x, 1, 4, nburst=(1, 0, 0))", "use 0"),
    "scalar of fp8": ('scalar.load(pto.castptr(pto.const(0, dtype=pto.i64), pto.ptr(pto.f8e4m3, "ub")), 0)',
                      "no f8e4m3 scalars"),
    "stored scalar of another type": ("scalar.store(n, x, 0)", "into a pointer to f32"),
    # Synchronisation
    "unknown pipe": ('pto.set_flag("MTE9", "V", event_id=0)', "unknown pipe"),
    "cube pipe": ('pto.set_flag("MTE1", "V", event_id=0)', "does no work in a vector kernel"),
    "flag to itself": ('pto.set_flag("V", "V", event_id=0)', "are both V"),
    "event id": ('pto.set_flag("V", "MTE3", event_id=8)', "outside 0 … 7"),
    "barrier of one pipe": ("pto.pipe_barrier(pto.Pipe.V)", "has no member 'V'"),
    "unknown memory barrier": ("pto.mem_bar(pto.BarrierType.ALL)", "has no member 'ALL'"),
    "memory barrier as text": ('pto.mem_bar("VST_VLD")', "takes a pto.BarrierType"),
    "token id": ('pto.get_buf("V", 32)', "0 … 31"),
    # Scalars
    "shift of a scalar": ("n << 2", "unsupported operand type(s)"),
    "right shift of a scalar": ("n >> 2", "unsupported operand type(s)"),
    "unary minus": ("-n", "unsupported operand type(s)"),
    "complement": ("~n", "unsupported operand type(s)"),
    "true division of integers": ("n / 2", "unsupported operand type(s)"),
    "floor division of floats": ("pto.f32(1.0) // pto.f32(2.0)", "unsupported operand type(s)"),
    "float meets integer": ("n + 1.5", "cannot coerce the authored value"),
    "mixed scalar types": ("n + pto.si32(1)", "operand types i32 and si32 differ"),
    "index and si32": ("pto.const(1) + pto.si32(1)", "differ"),
    "True": ("(n > 1) & True", "True and False"),
    "and": ("(n > 1) and (n < 3)", "no truth value"),
    "not": ("not (n > 1)", "no truth value"),
    "int to float cast": ("scalar.cast(n, pto.f32)", "cannot coerce the authored value from i32 to f32"),
    "float to int cast": ("scalar.cast(pto.f32(1.0), pto.i32)", "cannot coerce the authored value from f32 to i32"),
    "select with Python numbers": ("scalar.select(n > 1, pto.i32(5), 3)", "wants PTO values in both arms"),
    "Python int of a scalar": ("int(n)", "not a Python number"),
    "range over a scalar in Python": ("list(range(n))", "not a Python number"),
    # Control flow
    "step zero": ("pto.for_(0, n, step=0)", "step must be positive"),
    "float bound": ("pto.for_(0, 1.5, step=1)", "expects a Python integer"),
    "carry of a Python number": ("pto.for_(0, n, step=1).carry(r=200)", "cannot change"),
    "carry of a pointer": ("pto.for_(0, n, step=1).carry(r=x)", "must be a scalar, vector or mask"),
    "update is missing": ("loop = pto.for_(0, n, step=1).carry(r=n)\nwith loop:\n    pass",
        "loop.update(…) is missing"),
    "update twice": ("loop = pto.for_(0, n, step=1).carry(r=n)\nwith loop:\n    loop.update(r=loop.r)\n"
                     "    loop.update(r=loop.r)", "exactly once"),
    "update with other names": ("loop = pto.for_(0, n, step=1).carry(r=n)\nwith loop:\n    loop.update(q=loop.r)",
                                "needs all carried names"),
    "update with another type": ("loop = pto.for_(0, n, step=1).carry(r=n)\nwith loop:\n    loop.update(r=loop.iv)",
                                 "has type i32, got index"),
    "update in an inner loop": ("loop = pto.for_(0, n, step=1).carry(r=n)\nwith loop:\n"
                                "    with pto.for_(0, 2, step=1):\n        loop.update(r=loop.r)",
                                    "directly into the body"),
    "final inside": ("loop = pto.for_(0, n, step=1).carry(r=n)\nwith loop:\n    loop.final(\"r\")",
        "available after the loop"),
    "carried name after the loop": ("loop = pto.for_(0, n, step=1).carry(r=n)\nwith loop:\n    "
                                    "loop.update(r=loop.r)\nloop.r",
                                    "use loop.final('r')"),
    "value of a loop used outside": ("with pto.for_(0, n, step=1) as k:\n    w = pto.vmi.vload(x, 0, size=64)\n"
                                     "pto.vmi.vadd(w, w)", "made inside a loop or branch that has ended"),
    "branch on an integer": ("pto.if_(n)", "branches on an i1 scalar"),
    "branch on a Python value": ("pto.if_(True)", "branches on an i1 scalar"),
    "one arm assigns": ("with pto.if_(n > 0) as br:\n    with br.then_:\n        br.assign(y=n)",
        "same names in both arms"),
    "arms of different types": ("with pto.if_(n > 0) as br:\n    with br.then_:\n        br.assign(y=n)\n    with "
                                "br.else_:\n"
                                "        br.assign(y=pto.const(1))",
                                    "i32 scalar in one arm and index scalar in the other"),
    "static_range of a scalar": ("pto.static_range(n)", "takes Python integers"),
    "const_expr of a run-time value": ("pto.const_expr(n > 1)", "needs a value known while tracing"),
    # Unroll hints
    "both hints": ("pto.for_(0, n, step=1, unroll=\"full\", unroll_factor=2)", "exclude each other"),
    "unknown hint": ("pto.for_(0, n, step=1, unroll=\"disable\")", "unknown unroll hint"),
    "factor too large": ("pto.for_(0, n, step=1, unroll_factor=1025)", "must be 1 … 1024"),
    "factor zero": ("pto.for_(0, n, step=1, unroll_factor=0)", "must be 1 … 1024"),
    "factor at run time": ("pto.for_(0, n, step=1, unroll_factor=n)", "known while tracing"),
    "pto.range with a step but no start": ("pto.range(n, step=2)", "takes (stop) or (start, stop, step=…)"),
    "pto.range with three positions": ("pto.range(0, n, 2)", "takes (stop) or (start, stop, step=…)"),
    "pto.range in plain Python": ("[k for k in pto.range(4)]", "only a marker"),
    "return in a loop": ("with pto.for_(0, n, step=1) as k:\n    return", "silently ends the trace"),
}


@pytest.mark.parametrize("name", TRACE)
def test_refused_while_tracing(tmp_path, name):
    body, text = TRACE[name]
    path = write_kernel(tmp_path, HEAD + body)
    from ptosim.launch import Session
    error = fails(Session().compile, path, "k", {}, kind="trace", text=text)
    assert LINE <= error.line <= LINE + body.count("\n"), error


VERIFY = {
    "negation of a partial integer vector": ("pto.vmi.vneg(pto.vmi.vload(u, 0, size=64))", "VMI-RESIDUAL-OP"),
    "broadcast load of a partial vector": ("pto.vmi.vload(h, 0, size=64, dist_mode=\"brc\")", "VMI-UNSUPPORTED"),
    "parity load of a partial vector": ("pto.vmi.vload(h, 0, size=64, dist_mode=\"dintlv\")", "VMI-UNSUPPORTED"),
    "unpacking load": ("pto.vmi.vload(h, 0, size=64, dist_mode=\"unpack\")", "VMI-RESIDUAL-OP"),
    "compare of a partial vector": ("w = pto.vmi.vload(h, 0, size=64)\npto.vmi.vcmp(w, w, full, \"lt\")",
                                    "seed mask type mask<64xpred> does not match"),
    "select of a partial vector": ("w = pto.vmi.vload(u, 0, size=64)\npto.vmi.vsel(full, w, w)",
                                   "does not match src0 vector type"),
    "group load with an odd stride": ("pto.vmi.vload(x, 0, size=128, group=2, stride=65)", "VMI-UNSUPPORTED"),
    "group broadcast in 4 groups": ("pto.vmi.vload(x, 0, size=64, group=4, stride=1, dist_mode=\"brc\")",
                                    "VMI-UNSUPPORTED"),
    "slot load of 16 bits": ("pto.vmi.vload(h, 0, size=4, group=4, stride=8)", "VMI-UNSUPPORTED"),
    "group store of halves": ("pto.vmi.vstore(v, x, 0, group=2, stride=32)", "VMI-UNSUPPORTED"),
    "block store of a partial vector": ("pto.vmi.vsstb(pto.vmi.vload(h, 0, size=64), h, 0, 2, full)",
                                        "VMI-UNSUPPORTED"),
    "interleaving store of partial vectors": ("w = pto.vmi.vload(h, 0, size=64)\n"
                                              "pto.vmi.vstore([w, w], h, 0, dist_mode=\"dintlv\")", "VMI-UNSUPPORTED"),
    "bf16 times scalar": ("pto.vmi.vmul(pto.vmi.vload(b, 0, size=64), pto.bf16(2.0), full)", "VMI-RESIDUAL-OP"),
    "max of signless with a scalar": ("pto.vmi.vmax(pto.vmi.vload(i, 0, size=64), pto.i32(2), full)",
                                      "VMI-RESIDUAL-OP"),
    "unsigned to float": ("pto.vmi.vcvt(pto.vmi.vinterpret_cast(v, pto.ui32), pto.f32)", "VMI-RESIDUAL-OP"),
    "float to unsigned": ("pto.vmi.vcvt(v, pto.ui8, rounding=\"Z\", saturate=\"SAT\")", "VMI-RESIDUAL-OP"),
    "half to 32-bit integer": ("pto.vmi.vcvt(pto.vmi.vload(h, 0, size=64), pto.si32, rounding=\"Z\", saturate=\"SAT\")",
                               "VMI-RESIDUAL-OP"),
    "saturating si32 to si8": ("pto.vmi.vcvt(pto.vmi.vinterpret_cast(v, pto.si32), pto.si8, saturate=\"SAT\")",
                               "NOSAT"),
    "conversion of 8 lanes": ("pto.vmi.vcvt(pto.vmi.vload(h, 0, size=8), pto.f32)", "VMI-RESIDUAL-OP"),
    "permutation of two registers": ("w = pto.vmi.vload(x, 0, size=128)\n"
                                     "pto.vmi.vselr(w, pto.vmi.vinterpret_cast(w, pto.i32))", "VMI-UNSUPPORTED"),
    "signed lane index of two registers": ("pto.vmi.vci(pto.si32(0), size=128)", "VMI-UNSUPPORTED"),
    "broadcast of four groups to 64": ("pto.vmi.vbrc(pto.vmi.vcadd(v, full, group=4, reassoc=True), size=64, group=4)",
                                       "VMI-UNSUPPORTED"),
    "sum of bf16": ("pto.vmi.vcadd(pto.vmi.vload(b, 0, size=64), full, reassoc=True)", "VMI-RESIDUAL-OP"),
    "gather of bytes": ("pto.vmi.vgather(u, pto.vmi.vload(u, 0, size=64), full)", "VMI-UNSUPPORTED"),
    "gather of halves": ("pto.vmi.vgather(h, pto.vmi.vinterpret_cast(pto.vmi.vload(h, 0, size=64), pto.ui16), full)",
                         "VMI-UNSUPPORTED"),
    "block gather": ("pto.vmi.vgatherb(x, v, full)", "VMI-RESIDUAL-OP"),
    "exponential of difference on 64 halves": ("w = pto.vmi.vload(h, 0, size=64)\npto.vmi.vexpdif(w, w, full)",
                                               "VMI-UNSUPPORTED"),
    "bits of an unpacked vector": ("pto.vmi.vinterpret_cast(pto.vmi.vload(h, 0, size=128), pto.ui8)", None),
    # Masks
    "mask of 32-bit data on partial 16-bit data": (
        "c = pto.vmi.vcmp(v, v, full, \"lt\")\nw = pto.vmi.vload(h, 0, size=64)\npto.vmi.vadd(w, w, c)",
        "VMI-LAYOUT-CONTRACT"),
    "mask of 16-bit data on 32-bit data": (
        "w = pto.vmi.vload(h, 0, size=128)\nf2 = pto.vmi.create_mask(128, size=128)\nc = pto.vmi.vcmp(w, w, f2, "
        "\"lt\")\n"
        "z = pto.vmi.vload(x, 0, size=128)\npto.vmi.vsel(c, z, z)", "VMI-LAYOUT-CONTRACT"),
    "masks of different widths": (
        "w = pto.vmi.vload(h, 0, size=128)\nf2 = pto.vmi.create_mask(128, size=128)\nc = pto.vmi.vcmp(w, w, f2, "
        "\"lt\")\n"
        "z = pto.vmi.vload(x, 0, size=128)\nd = pto.vmi.vcmp(z, z, f2, \"lt\")\npto.vmi.vand(c, d)",
        "VMI-LAYOUT-CONTRACT"),
    "carried masks of different widths": (
        "w = pto.vmi.vload(h, 0, size=128)\nf2 = pto.vmi.create_mask(128, size=128)\nc = pto.vmi.vcmp(w, w, f2, "
        "\"lt\")\n"
        "z = pto.vmi.vload(x, 0, size=128)\nloop = pto.for_(0, n, step=1).carry(m=c)\nwith loop:\n"
        "    loop.update(m=pto.vmi.vcmp(z, z, loop.m, \"lt\"))", "VMI-LAYOUT-CONTRACT"),
    "rows of a grouped load stored densely": (
        "pto.vmi.vstore(pto.vmi.vload(x, 0, size=64, group=2, stride=64), x, 0)", "VMI-LAYOUT-CONTRACT"),
    "rows of a grouped load, sum, stored": (
        "g = pto.vmi.vload(x, 0, size=64, group=2, stride=64)\npto.vmi.vstore(pto.vmi.vadd(g, g), x, 0)",
        "VMI-LAYOUT-CONTRACT"),
    "rows reduced in other groups": (
        "g = pto.vmi.vload(x, 0, size=64, group=2, stride=64)\npto.vmi.vcadd(g, full, group=4, reassoc=True)",
        "VMI-LAYOUT-CONTRACT"),
    # Scopes
    "vector across DMA": ("pto.mte_gm_ub(x_gm, x, 0, 4, nburst=(1, 0, 0))\npto.vmi.vstore(v, x, 0)",
                          "cannot infer resultless pto.vecscope"),
    "vector across a flag": ('pto.set_flag("V", "MTE3", event_id=0)\npto.vmi.vadd(v, v)', "escaping value"),
    "vector across a scalar load": ("s = scalar.load(x_gm, 0)\npto.vmi.vadd(v, s, full)", "beyond scalar_load"),
    "vector across a block query": ("pto.get_block_idx()\npto.vmi.vadd(v, v)", "beyond block_idx"),
    "computed mask across a flag": ("c = pto.vmi.vcmp(v, v, full, \"lt\")\npto.set_flag(\"V\", \"MTE3\", event_id=0)\n"
                                    "pto.vmi.vstore(pto.vmi.vbrc(pto.f32(1.0), size=64), x, 0, c)",
                                        "escaping value mask"),
    "combined constant masks across a flag": ("c = pto.vmi.vnot(full)\npto.set_flag(\"V\", \"MTE3\", event_id=0)\n"
                                              "pto.vmi.vstore(pto.vmi.vbrc(pto.f32(1.0), size=64), x, 0, c)",
                                              "escaping value mask"),
    "scalar load in a loop that carries a vector": (
        "loop = pto.for_(0, n, step=1).carry(acc=pto.vmi.vbrc(pto.f32(0.0), size=64))\nwith loop:\n"
        "    s = scalar.load(x_gm, loop.iv)\n    loop.update(acc=pto.vmi.vadd(loop.acc, s, full))",
        "is carried by the for"),
    "outer vector in a loop with DMA": (
        "with pto.for_(0, n, step=1) as k:\n    pto.mte_gm_ub(x_gm, x, 0, 4, nburst=(1, 0, 0))\n"
        "    pto.vmi.vstore(v, x, 0)", "escaping value"),
    "vector result of a branch with a flag": (
        "with pto.if_(n > 1) as br:\n    with br.then_:\n        pto.set_flag(\"V\", \"MTE3\", event_id=0)\n"
        "        br.assign(y=pto.vmi.vload(x, 0, size=64))\n    with br.else_:\n        br.assign(y=pto.vmi.vload(x, "
        "8, size=64))",
        "escaping value"),
    "DMA in an explicit scope": ("with pto.vecscope():\n    pto.mte_gm_ub(x_gm, x, 0, 4, nburst=(1, 0, 0))",
                                 "outside pto.vecscope"),
}


@pytest.mark.parametrize("name", VERIFY)
def test_refused_by_the_verifier(tmp_path, name):
    body, text = VERIFY[name]
    if text is None:
        compile_body(tmp_path, HEAD + body)
        return
    error = fails(compile_body, tmp_path, HEAD + body, kind="verify", text=text)
    assert error.line >= LINE or "explicit" in name


def test_partial_bits_are_refused(tmp_path):
    body = HEAD + "pto.vmi.vinterpret_cast(pto.vmi.vload(u, 0, size=128), pto.ui16)"
    fails(compile_body, tmp_path, body, kind="verify", text="kept unpacked")


GOOD = {
    "rebuilt values cross scopes": 'z = pto.vmi.vbrc(pto.f32(1.0), size=64)\npto.set_flag("V", "MTE3", event_id=0)\n'
                                   "m = pto.vmi.create_mask(n, size=64)\npto.get_block_idx()\npto.vmi.vstore(z, x, 0, "
                                   "m)",
    "mem_bar does not end a scope": "pto.mem_bar(pto.BarrierType.VST_VLD)\npto.vmi.vstore(v, x, 0)",
    "carried vectors in a pure loop": "loop = pto.for_(0, n, step=1).carry(acc=v)\nwith loop:\n"
                                      "    loop.update(acc=pto.vmi.vadd(loop.acc, "
                                      "v))\npto.vmi.vstore(loop.final(\"acc\"), x, 0)",
    "32-bit mask guards a narrow store": "c = pto.vmi.vcmp(v, v, full, \"lt\")\n"
                                         "pto.vmi.vstore(pto.vmi.vload(u, 0, size=64), u, 0, c)",
    "32-bit mask on full 16-bit data": "z = pto.vmi.vload(x, 0, size=128)\nf2 = pto.vmi.create_mask(128, size=128)\n"
                                       "c = pto.vmi.vcmp(z, z, f2, \"lt\")\nw = pto.vmi.vload(h, 0, size=128)\n"
                                       "pto.vmi.vsel(c, w, w)",
    "one prefix mask with masks of two widths": "w = pto.vmi.vload(h, 0, size=128)\nz = pto.vmi.vload(x, 0, size=128)\n"
                                                "f2 = pto.vmi.create_mask(128, size=128)\n"
                                                "pto.vmi.vand(f2, pto.vmi.vcmp(w, w, f2, \"lt\"))\n"
                                                "pto.vmi.vand(f2, pto.vmi.vcmp(z, z, f2, \"lt\"))",
    "grouped rows into a grouped sum": "g = pto.vmi.vload(x, 0, size=64, group=2, stride=64)\n"
                                       "pto.vmi.vstore(pto.vmi.vcadd(pto.vmi.vadd(g, g), full, group=2, "
                                       "reassoc=True), x, 0)",
    "grouped rows stored where documented": "pto.vmi.vstore(pto.vmi.vload(x, 0, size=256, group=4, stride=64), x, 0)",
    "hints": "with pto.for_(0, 8, step=1, unroll=\"full\") as k:\n    pto.vmi.vadd(v, v)\n"
             "with pto.for_(0, n, step=1, unroll_factor=4) as k:\n    pto.vmi.vadd(v, v)",
}


@pytest.mark.parametrize("name", GOOD)
def test_accepted(tmp_path, name):
    compile_body(tmp_path, HEAD + GOOD[name])


HEADERS = {
    "UB pointer at an entry": ('@pto.jit(target="a5", mode="explicit")\ndef k(x: pto.ptr(pto.f32, "ub")):\n    pass\n',
                               "an entry takes GM pointers"),
    "a3": ('@pto.jit(target="a3", mode="explicit")\ndef k(n: pto.i32):\n    pass\n', 'target must be "a5"'),
    "emitc": ('@pto.jit(backend="emitc", mode="explicit")\ndef k(n: pto.i32):\n    pass\n', 'backend must be "vpto"'),
    "cube": ('@pto.jit(kernel_kind="cube", mode="explicit")\ndef k(n: pto.i32):\n    pass\n',
        'kernel_kind must be "vector"'),
    "automatic mode": ('@pto.jit(target="a5")\ndef k(n: pto.i32):\n    pass\n', 'mode="explicit" only'),
    "unknown argument": ('@pto.jit(nme="k")\ndef k(n: pto.i32):\n    pass\n', "unexpected keyword argument 'nme'"),
    "no annotation": ('@pto.jit(mode="explicit")\ndef k(n):\n    pass\n', "needs pto.ptr"),
    "Python annotation": ('@pto.jit(mode="explicit")\ndef k(n: int):\n    pass\n', "needs pto.ptr"),
    "default value": ('@pto.jit(mode="explicit")\ndef k(n: pto.i32 = 3):\n    pass\n', "has a default"),
    "keyword that is no constant": ('@pto.jit(mode="explicit")\ndef k(*, n: pto.i32):\n    pass\n',
                                    "must be annotated pto.const_expr"),
    "starred": ('@pto.jit(mode="explicit")\ndef k(*n: pto.i32):\n    pass\n', "not possible in a kernel"),
    "no kernel": ("x = 1\n", "no @pto.jit kernel"),
    "same name twice": ('@pto.jit(name="k", mode="explicit")\ndef a(n: pto.i32):\n    pass\n\n'
                        '@pto.jit(name="k", mode="explicit")\ndef b(n: pto.i32):\n    pass\n',
                            "two kernels are called k"),
    "import of a name that is not exported": ("from ptodsl import pto, vmi\n", "cannot import name 'vmi'"),
    "syntax": ("def k(:\n", "not Python"),
}


@pytest.mark.parametrize("name", HEADERS)
def test_bad_files(tmp_path, name):
    text, message = HEADERS[name]
    path = tmp_path / "kernel.py"
    path.write_text("from ptodsl import pto, scalar\n\n\n" + text)
    fails(load_kernels, str(path), kind="trace", text=message)


@pytest.mark.parametrize("body, text", [
    ("return n", "returns a value"), ("helper(x_gm)", "takes 2 positional"), ("helper(x_gm, n)",
        "is ptr(f32, ub), got"),
    ("helper(pto.castptr(pto.const(0, dtype=pto.i64), pto.ptr(pto.f32, 'ub')), 1.5)", "cannot coerce"),
    ("k(x_gm, x_gm, n)", "is an entry")])
def test_calls(tmp_path, body, text):
    path = tmp_path / "kernel.py"
    path.write_text('from ptodsl import pto\n\n\n@pto.jit(mode="explicit", entry=False)\n'
                    'def helper(p: pto.ptr(pto.f32, "ub"), n: pto.i32):\n    pass\n\n\n@pto.jit(mode="explicit")\n'
                    'def k(x_gm: pto.ptr(pto.f32, "gm"), o_gm: pto.ptr(pto.f32, "gm"), n: pto.i32):\n    ' + body + "\n")
    fails(lambda: load_kernels(str(path))["k"].compile(), kind="trace", text=text)


def test_hints_are_refused_for_released_toolchains(tmp_path):
    from ptosim.jit import Options
    kernel = load_kernels(write_kernel(tmp_path, "pto.for_(0, n, step=1, unroll_factor=4)"))["k"]
    fails(kernel.trace, {}, Options(hints=False), kind="trace", text="unknown to the chosen toolchain")


def test_deprecated_names_warn(tmp_path):
    compiled = compile_body(tmp_path, HEAD + "pto.vmi.vadds(v, pto.f32(1.0), full)\npto.vmi.vcvt(v, pto.f16)\n"
                            "pto.vmi.vci(n, size=64)")
    notes = "\n".join(compiled.trace.warnings)
    assert "vadds is deprecated" in notes and "relies on the default" in notes and "ignored by some simulators" in notes


def test_calling_outside_a_trace():
    from ptodsl import pto
    fails(pto.vmi.create_mask, 3, size=64, kind="trace", text="only be called while a @pto.jit kernel is traced")
