"""Scalars (part 17), loops, branches and native syntax (part 18), hints (part 20), helpers, against plain Python."""

import math

import numpy as np
import pytest

from ptosim.launch import Session, load_kernels
from support import compile_body, fails, run_body, write_kernel

OUT = 'o_gm: pto.ptr(pto.{t}, "gm"), n: pto.{a}'


def scalars(tmp_path, body, *args, parameters, count=8, dtype=np.int32):
    """Runs scalar code that writes its results to GM with scalar.store."""
    out = np.zeros(count, dtype)
    run_body(tmp_path, body, out, *args, parameters='o_gm: pto.ptr(pto.%s, "gm"), ' % {
        np.int32: "i32", np.float32: "f32", np.uint32: "ui32", np.int8: "si8"}[dtype] + parameters)
    return out.tolist()


def stores(*expressions):
    return "\n".join(f"scalar.store({e}, o_gm, {k})" for k, e in enumerate(expressions))


@pytest.mark.parametrize("a", [7, -7, 2147483647, -2147483648, 0])
@pytest.mark.parametrize("b", [2, -3, 5, 2147483647])
def test_signless_arithmetic(tmp_path, a, b):
    def wrap(x):
        return (x + 2 ** 31) % 2 ** 32 - 2 ** 31

    got = scalars(tmp_path, stores("a + b", "a - b", "a * b", "a // b", "a % b", "a & b", "a | b", "a ^ b", "0 - a",
                                   "a + 1",
                                   "scalar.max(a, b)", "scalar.min(a, 3)"), a, b, parameters="a: pto.i32, b: pto.i32",
                                   count=12)
    assert got == [wrap(a + b), wrap(a - b), wrap(a * b), wrap(a // b), int(math.fmod(a, b)), a & b, a | b, a ^ b,
                   wrap(-a),
                   wrap(a + 1), max(a, b), min(a, 3)]


def test_unsigned_division_and_comparison(tmp_path):
    big = 0xFFFFFFF0
    body = stores("a // b", "a % b", "scalar.max(a, b)", "scalar.select(a > b, pto.ui32(1), pto.ui32(0))")
    assert scalars(tmp_path, body, big, 7, parameters="a: pto.ui32, b: pto.ui32", count=4, dtype=np.uint32) == \
        [big // 7, big % 7, big, 1]


def test_constants_fold_as_run_time_does(tmp_path):
    pairs = [(7, 2), (-7, 2), (7, -2), (-7, -2)]
    body = stores(*[f"pto.i32({a}) {op} pto.i32({b})" for a, b in pairs for op in ("//", "%")])
    assert scalars(tmp_path, body, parameters="n: pto.i32", count=8, *[0]) == \
        [v for a, b in pairs for v in (a // b, int(math.fmod(a, b)))]


def test_comparisons_and_i1(tmp_path):
    names = ["a < b", "a <= b", "a > b", "a >= b", "a == b", "a != b", "(a < b) & (a == b)", "(a < b) | (a == b)",
             "(a < b) ^ pto.i1(1)"]
    body = stores(*[f"scalar.cast({e}, pto.i32)" for e in names])
    for a, b in ((1, 2), (2, 1), (3, 3), (-1, 1)):
        assert scalars(tmp_path, body, a, b, parameters="a: pto.i32, b: pto.i32", count=9) == \
            [int(v) for v in (a < b, a <= b, a > b, a >= b, a == b, a != b, a < b and a == b, a < b or a == b,
                              not a < b)]


def test_integer_casts(tmp_path):
    body = stores("scalar.cast(scalar.cast(n, pto.si8), pto.i32)", "scalar.cast(scalar.cast(n, pto.ui8), pto.i32)",
                  "scalar.cast(scalar.cast(n, pto.i8), pto.i32)", "scalar.cast(scalar.cast(n, pto.i64), pto.i32)",
                  "scalar.index_cast(pto.i32, scalar.index_cast(n) * 2)", "scalar.cast(pto.const(9), pto.i32)")
    # Signless counts as signed here, unlike in vectors: 200 as i8 is -56.
    assert scalars(tmp_path, body, 200, parameters="n: pto.i32", count=6) == [-56, 200, -56, 200, 400, 9]


def test_float_scalars(tmp_path):
    body = stores("a + b", "a / b", "a * 2", "scalar.exp(a)", "scalar.log(a)", "scalar.sqrt(a)", "scalar.abs(b)",
                  "scalar.select(a < b, a, b)")
    a, b = np.float32(1.5), np.float32(-0.1)
    got = scalars(tmp_path, body, 1.5, -0.1, parameters="a: pto.f32, b: pto.f32", dtype=np.float32)
    expected = [a + b, a / b, a * 2, math.exp(1.5), math.log(1.5), math.sqrt(1.5), abs(b), b]
    assert got == [float(np.float32(v)) for v in expected]


def test_half_and_bf16_scalars_round(tmp_path):
    body = stores("scalar.cast(pto.f16(0.1) + pto.f16(0.2), pto.f32)",
        "scalar.cast(pto.bf16(0.1) * pto.bf16(3.0), pto.f32)",
                  "scalar.cast(scalar.cast(pto.f32(1.00390625), pto.bf16), pto.f32)")
    got = scalars(tmp_path, body, 0, parameters="n: pto.i32", dtype=np.float32, count=3)
    bf16 = 0x3DCD      # 0.1 in bf16
    product = np.float32(np.uint32(bf16 << 16).view(np.float32)) * np.float32(3)
    assert got == [float(np.float16(0.1) + np.float16(0.2)), float(np.uint32(0x3E9A << 16).view(np.float32)), 1.0]
    assert abs(float(product) - got[1]) <= 0.5 * 2.0 ** -9


def test_division_by_zero_is_an_error(tmp_path):
    fails(scalars, tmp_path, stores("a // b"), 1, 0, parameters="a: pto.i32, b: pto.i32", kind="range", text="by zero")
    fails(scalars, tmp_path, stores("a % b"), 1, 0, parameters="a: pto.i32, b: pto.i32", kind="range", text="by zero")


def test_scalar_memory(tmp_path):
    source = np.arange(10, dtype=np.int32)
    out = np.zeros(4, np.int32)
    run_body(tmp_path, "scalar.store(scalar.load(x_gm, n) * 3, o_gm, 1)\nscalar.store(7, o_gm + 2, 0)\n"
             "scalar.store(scalar.load(o_gm, 1), o_gm, 3)", source, out, 4,
             parameters='x_gm: pto.ptr(pto.i32, "gm"), o_gm: pto.ptr(pto.i32, "gm"), n: pto.i32')
    assert out.tolist() == [0, 12, 7, 12]


def test_signless_scalars_in_memory_are_signed(tmp_path):
    source = np.array([0xFFFFFFF9], np.uint32)
    out = np.zeros(1, np.uint32)
    run_body(tmp_path, "scalar.store(scalar.load(x_gm, 0) // 2, o_gm, 0)", source, out, 0,
             parameters='x_gm: pto.ptr(pto.i32, "gm"), o_gm: pto.ptr(pto.i32, "gm"), n: pto.i32')
    assert out.view(np.int32)[0] == -4


def test_known_constants_follow_the_same_rules(tmp_path):
    """A mask of a folded constant: -7 % 2 is -1, -7 // 2 is -4."""
    compiled = compile_body(tmp_path, "a = pto.i32(-7) % 2 + 3\nb = pto.i32(-7) // 2 + 6\nc = pto.i32(2147483647) + 1\n"
                            "d = pto.i32(6) ^ -1\nfor v in (a, b, c, d):\n    pto.vmi.create_mask(v, size=64)",
                            "n: pto.i32")
    masks = [op for op in compiled.trace.body.ops if op.name == "create_mask"]
    assert [op.args[0].const for op in masks] == [2, 2, -2147483648, -7]


def test_signed_bytes_in_memory(tmp_path):
    out = np.zeros(2, np.int8)
    run_body(tmp_path, "scalar.store(n, o_gm, 0)\nscalar.store(scalar.load(o_gm, 0) - 1, o_gm, 1)", out, -128,
             parameters='o_gm: pto.ptr(pto.si8, "gm"), n: pto.si8')
    assert out.tolist() == [-128, 127]


def test_counted_loops(tmp_path):
    body = """
        loop = pto.for_(lo, hi, step=st).carry(s=pto.i32(0), c=pto.i32(0), last=pto.const(-1))
        with loop:
            t = pto.for_(loop.iv, hi, step=1).carry(k=loop.c)
            with t:
                t.update(k=t.k + 1)
            loop.update(s=loop.s + scalar.index_cast(pto.i32, loop.iv), c=t.final("k"), last=loop.iv)
        """ + "\n        ".join([""] + stores('loop.final("s")', 'loop.final("c")',
                                              'scalar.cast(loop.final("last"), pto.i32)').split("\n"))
    for lo, hi, st in ((0, 10, 1), (3, 20, 4), (5, 5, 1), (7, 2, 3), (-4, 4, 3)):
        got = scalars(tmp_path, body, lo, hi, st, parameters="lo: pto.i32, hi: pto.i32, st: pto.i32", count=3)
        indices = list(range(lo, hi, st))
        assert got == [sum(indices), sum(hi - i for i in indices), indices[-1] if indices else -1]
    fails(scalars, tmp_path, body, 0, 3, 0, parameters="lo: pto.i32, hi: pto.i32, st: pto.i32", kind="range",
          text="step is 0 at run time")


def test_updates_happen_at_once(tmp_path):
    body = """
        loop = pto.for_(0, n, step=1).carry(a=pto.i32(0), b=pto.i32(1))
        with loop:
            loop.update(a=loop.b, b=loop.a + loop.b)
        swap = pto.for_(0, n, step=1).carry(a=pto.i32(3), b=pto.i32(4))
        with swap:
            swap.update(a=swap.b, b=swap.a)
        scalar.store(loop.final("a"), o_gm, 0)
        scalar.store(swap.final("a"), o_gm, 1)
        scalar.store(swap.final("b"), o_gm, 2)
        """
    assert scalars(tmp_path, body, 10, parameters="n: pto.i32", count=3) == [55, 3, 4]
    assert scalars(tmp_path, body, 11, parameters="n: pto.i32", count=3) == [89, 4, 3]


def test_branches(tmp_path):
    body = """
        with pto.if_(n > 3) as br:
            with br.then_:
                br.assign(y=n * 2, z=pto.i32(1))
            with br.else_:
                br.assign(z=pto.i32(0), y=n - 1)
        with pto.if_(n == 5) as only:
            with only.then_:
                scalar.store(77, o_gm, 2)
        scalar.store(br.y, o_gm, 0)
        scalar.store(br.z, o_gm, 1)
        """
    assert scalars(tmp_path, body, 5, parameters="n: pto.i32", count=3) == [10, 1, 77]
    assert scalars(tmp_path, body, 2, parameters="n: pto.i32", count=3) == [1, 0, 0]


NATIVE = {
    "sum": ("s = pto.i32(0)\nfor i in range(n):\n    s = s + scalar.index_cast(pto.i32, i)\nscalar.store(s, o_gm, 0)",
            lambda n: sum(range(n))),
    "start and step": ("s = pto.i32(0)\nfor i in range(2, n, 3):\n    s += scalar.index_cast(pto.i32, i)\n"
                       "scalar.store(s, o_gm, 0)", lambda n: sum(range(2, n, 3))),
    "branch in a loop": ("s = pto.i32(0)\nfor i in range(n):\n    if i % 3 == 1:\n        s = s + 5\n    else:\n"
                         "        s = s - 1\nscalar.store(s, o_gm, 0)",
                         lambda n: sum(5 if i % 3 == 1 else -1 for i in range(n))),
    "elif": ("if n > 10:\n    s = pto.i32(3)\nelif n > 5:\n    s = pto.i32(2)\nelse:\n    s = pto.i32(1)\n"
             "scalar.store(s, o_gm, 0)", lambda n: 3 if n > 10 else 2 if n > 5 else 1),
    "while": ("m = n\nc = pto.i32(0)\nwhile m > 1:\n    if m % 2 == 0:\n        m = m // 2\n    else:\n        m = m "
              "* 3 + 1\n"
              "    c = c + 1\nscalar.store(c, o_gm, 0)", None),
    "break": ("s = pto.i32(0)\nfor i in range(n):\n    if i * i > 30:\n        break\n    s = s + 1\nscalar.store(s, "
              "o_gm, 0)",
              lambda n: sum(1 for i in range(n) if i * i <= 30)),
    "continue": ("s = pto.i32(0)\nfor i in range(n):\n    if i % 2 == 0:\n        continue\n    s = s + 1\n"
                 "scalar.store(s, o_gm, 0)", lambda n: n // 2),
    "break after work, in else": ("s = pto.i32(0)\nfor i in range(n):\n    s = s + 1\n    if i < 4:\n        s = s + "
                                  "10\n    else:\n"
                                  "        break\n    s = s + 100\nscalar.store(s, o_gm, 0)", None),
    "trace-time loops and conditions": ("s = pto.i32(0)\nfor k in pto.static_range(4):\n    if pto.const_expr(k != "
                                        "2):\n"
                                        "        s = s + n * k\nfor k in range(3):\n    if k == 1:\n        s = s + k\n"
                                        "scalar.store(s, o_gm, 0)", lambda n: 4 * n + 1),
    "variables of a loop body": ("s = pto.i32(0)\nfor i in range(n):\n    t = scalar.index_cast(pto.i32, i) * 2\n    "
                                 "u = t + 1\n"
                                 "    s = s + u\nscalar.store(s, o_gm, 0)", lambda n: sum(2 * i + 1 for i in range(n))),
    "python number in one arm": ("s = n\nif n > 5:\n    s = 5\nscalar.store(s, o_gm, 0)", lambda n: min(n, 5)),
    "pto.range": ("s = pto.i32(0)\nfor i in pto.range(1, 9, step=2, unroll_factor=4):\n    s = s + n\nscalar.store(s, "
                  "o_gm, 0)",
                  lambda n: 4 * n),
}


@pytest.mark.parametrize("n", [0, 1, 6, 12, 27])
@pytest.mark.parametrize("name", NATIVE)
def test_native_control_flow(tmp_path, name, n):
    body, function = NATIVE[name]
    if name == "while":
        m, c = n, 0
        while m > 1:
            m, c = m // 2 if m % 2 == 0 else 3 * m + 1, c + 1
        expected = c
    elif name == "break after work, in else":
        expected = 0
        for i in range(n):
            expected += 1
            if i < 4:
                expected += 10
            else:
                break
            expected += 100
    else:
        expected = function(n)
    assert scalars(tmp_path, body, n, parameters="n: pto.i32", count=1) == [expected]


NATIVE_ERRORS = {
    "python accumulator": ("s = 0\nfor i in range(n):\n    s = s + n\nscalar.store(s, o_gm, 0)",
                           "starts as the Python number 0 and changes in a run-time loop"),
    "return in a branch": ("if n > 3:\n    return\nscalar.store(n, o_gm, 0)", "silently ends the trace"),
    "return in a loop": ("for i in range(n):\n    return", "silently ends the trace"),
    "value that leaves a loop unset": ("for i in range(n):\n    t = n + 1\nscalar.store(t, o_gm, 0)",
                                       "was assigned in a run-time loop without a value before it"),
    "value that leaves a while loop unset": ("m = n\nwhile m > 3:\n    t = m\n    m = m - 1\nscalar.store(t, o_gm, 0)",
                                             "was assigned in a run-time loop without a value before it"),
    "value set in one arm": ("if n > 3:\n    t = n + 1\nscalar.store(t, o_gm, 0)",
        "in one arm of a run-time `if` only"),
    "type that changes": ("s = pto.i32(0)\nfor i in range(n):\n    s = i\n", "has type i32, got index"),
    "numbers that differ": ("if n > 3:\n    t = 1\nelse:\n    t = 2\nscalar.store(t, o_gm, 0)", "give them a type"),
    "else of a loop": ("for i in range(n):\n    pass\nelse:\n    pass", "no PTO form"),
    "hint and break": ("for i in pto.range(n, unroll_factor=2):\n    if i > 3:\n        break",
        "cannot carry unroll hints"),
    "pointer that is carried": ("p = o_gm\nfor i in range(n):\n    p = p + 1\n", "pointers cannot be carried"),
    "and": ("if n > 3 and n < 5:\n    pass", "no truth value"),
}


@pytest.mark.parametrize("name", NATIVE_ERRORS)
def test_native_errors(tmp_path, name):
    body, text = NATIVE_ERRORS[name]
    path = write_kernel(tmp_path, body, 'o_gm: pto.ptr(pto.i32, "gm"), n: pto.i32')
    fails(Session().compile, path, "k", {}, kind="trace", text=text)


def test_native_loop_carries_vectors_and_a_hint(tmp_path):
    body = """
        x = pto.castptr(pto.const(0, dtype=pto.i64), pto.ptr(pto.f32, "ub"))
        acc = pto.vmi.vbrc(pto.f32(0.0), size=64)
        one = pto.vmi.vbrc(pto.f32(1.0), size=64)
        for i in pto.range(n, unroll_factor=8):
            acc = pto.vmi.vadd(acc, one)
        pto.vmi.vstore(acc, x, 0)
        pto.set_flag("V", "MTE3", event_id=0)
        pto.wait_flag("V", "MTE3", event_id=0)
        pto.mte_ub_gm(x, o_gm, 256, nburst=(1, 0, 0))
        """
    out = np.zeros(64, np.float32)
    compiled = run_body(tmp_path, body, out, 11, parameters='o_gm: pto.ptr(pto.f32, "gm"), n: pto.i32')
    assert out.tolist() == [11.0] * 64
    loop, = compiled.report["inner_loops"]
    assert (loop["hint"], loop["runs"], loop["ops"], loop["carried"]) == (8, 11, {"vadd": 1}, 1)


def test_rewriting_can_be_turned_off(tmp_path):
    path = tmp_path / "kernel.py"
    path.write_text('from ptodsl import pto\n\n\n@pto.jit(mode="explicit", ast_rewrite=False)\ndef k(n: pto.i32):\n'
                    "    for i in range(n):\n        pass\n")
    fails(Session().compile, str(path), "k", {}, kind="trace", text="not a Python number", line=6)


def test_compile_time_constants(tmp_path):
    path = tmp_path / "kernel.py"
    path.write_text('from ptodsl import pto, scalar\n\n\n@pto.jit(mode="explicit")\n'
                    'def k(o_gm: pto.ptr(pto.i32, "gm"), *, N: pto.const_expr = 3, FLAG: pto.const_expr):\n'
                    "    for i in pto.static_range(N):\n        scalar.store(i + 1, o_gm, i)\n"
                    "    if pto.const_expr(FLAG):\n        scalar.store(99, o_gm, 0)\n")
    kernel = load_kernels(str(path))["k"]
    out = np.zeros(5, np.int32)
    kernel.compile(N=5, FLAG=True)[1, None](out)
    assert out.tolist() == [99, 2, 3, 4, 5]
    out[:] = 0
    kernel.compile(FLAG=False)[1, None](out)
    assert out.tolist() == [1, 2, 3, 0, 0]
    fails(kernel.compile, kind="trace", text="FLAG needs a value")
    fails(kernel.compile, FLAG=1, M=2, kind="trace", text="no const_expr parameter M")


def test_helpers_and_python_functions(tmp_path):
    path = tmp_path / "kernel.py"
    path.write_text('from ptodsl import pto, scalar\n\n\n@pto.jit(mode="explicit", entry=False)\n'
                    'def twice(p: pto.ptr(pto.i32, "gm"), n: pto.i32):\n    scalar.store(n * 2, p, 0)\n\n\n'
                    "def thrice(p, n):\n    scalar.store(n * 3, p, 1)\n    return n + 1\n\n\n"
                    '@pto.jit(mode="explicit")\ndef k(o_gm: pto.ptr(pto.i32, "gm"), n: pto.i32):\n    twice(o_gm, n)\n'
                    "    m = thrice(o_gm, n)\n    twice(o_gm + 2, m)\n")
    out = np.zeros(3, np.int32)
    load_kernels(str(path))["k"].compile()[1, None](out, 5)
    assert out.tolist() == [10, 15, 12]


def test_block_queries(tmp_path):
    body = "b = pto.get_block_idx()\ni = scalar.index_cast(b)\nscalar.store(scalar.cast(pto.get_block_num() * 10 + b, pto.i32), o_gm, i)"
    out = np.zeros(4, np.int32)
    run_body(tmp_path, body, out, 0, parameters='o_gm: pto.ptr(pto.i32, "gm"), n: pto.i32', blocks=4)
    assert out.tolist() == [40, 41, 42, 43]


def test_line_numbers_survive_rewriting(tmp_path):
    body = "s = pto.i32(0)\nfor i in range(n):\n    if i > 2:\n        s = s + 1\n        s = s << 1\n"
    path = write_kernel(tmp_path, body, 'o_gm: pto.ptr(pto.i32, "gm"), n: pto.i32')
    fails(Session().compile, path, "k", {}, kind="trace", text="unsupported operand", line=10)


def test_pressure_counts_live_registers(tmp_path):
    body = """
        x = pto.castptr(pto.const(0, dtype=pto.i64), pto.ptr(pto.f32, "ub"))
        full = pto.vmi.create_mask(128, size=128)
        a = pto.vmi.vload(x, 0, size=128)
        b = pto.vmi.vload(x, 128, size=128)
        loop = pto.for_(0, n, step=1).carry(acc=a)
        with loop:
            c = pto.vmi.vadd(loop.acc, b, full)
            loop.update(acc=pto.vmi.vadd(c, pto.vmi.vload(x, 256, size=128), full))
        pto.vmi.vstore(loop.final("acc"), x, 0, full)
        """
    compiled = compile_body(tmp_path, body, "n: pto.i32")
    # In the loop: b, the sum so far and the loaded vector, two registers each; one mask.
    assert (compiled.facts["vector_registers"], compiled.facts["masks"]) == (6, 1)


def test_too_many_registers_are_noted(tmp_path):
    body = 'x = pto.castptr(pto.const(0, dtype=pto.i64), pto.ptr(pto.f32, "ub"))\n' + \
        "vs = [pto.vmi.vload(x, k * 256, size=256) for k in range(9)]\n" + \
        "for v in vs:\n    pto.vmi.vstore(v, x, 0)\n"
    compiled = compile_body(tmp_path, body, "n: pto.i32")
    assert any("36 vector registers are live" in w for w in compiled.trace.warnings)
