"""Launch plans, jobs, files and the command line (docs/ptosim.md)."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from conftest import HERE, ROOT
from ptosim.expressions import evaluate
from ptosim.errors import UsageError
from ptosim.hostbuffers import make_buffer
from ptosim.launch import Session, run_job
from ptosim.types import BY_NAME

EXAMPLES = os.path.join(HERE, "reference", "examples.py")
TOOL = os.path.join(ROOT, "tools", "ptosim")


class Sizes:
    min, extent, stride = [2, -1], [300, 20], [1, 304]


EXPRESSIONS = {
    "7": 7, "in.extent[0] * 4": 1200, "in.stride[1] * in.extent[1]": 6080, "(n + 127) / 128": 3, "-7 / 2": -4,
    "-7 % 2": 1,
    "7 / 0": 0, "7 % 0": 0, "min(n, 5) + max(1, 2)": 7, "select(n > 3, 10, 20)": 10, "in.min[0] + in.min[1]": 1,
    "1 + 2 * 3 - 4": 3, "!(n == 300)": 0, "n >= 300 && n <= 300": 1, "n < 0 || n != 300": 0, "2 - -3": 5,
    "f.1.extent[1]": 20,
    "gain": 2.5, "0.5": 0.5,
}


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_expressions(text):
    assert evaluate(text, {"in": Sizes, "f.1": Sizes, "n": 300, "gain": 2.5}) == EXPRESSIONS[text]


@pytest.mark.parametrize("text, message", [
    ("m + 1", "unknown name m"), ("1 +", "unexpected end"), ("in.size[0]", "has no size"), ("in.extent[2]",
        "has 2 dimensions"),
    ("pow(2, 3)", "unknown function pow"), ("min(1)", "takes 2 arguments"), ("1 2", "cannot read 2"), ("(1",
        "expected )"),
    ("1 ? 2", "cannot read")])
def test_bad_expressions(text, message):
    with pytest.raises(UsageError) as caught:
        evaluate(text, {"in": Sizes})
    assert message in caught.value.message


def plan(**changes):
    kernel = {
        "name": "scale_add", "blocks": 1,
        "arguments": [
            {"name": "x_gm", "pointer": "x", "dtype": "f32", "offset": 0, "bytes": "x.extent[0] * 4", "access": "read"},
            {"name": "y_gm", "pointer": "y", "dtype": "f32", "offset": "y.min[0] * 4", "bytes": "o.extent[0] * 4",
             "access": "read"},
            {"name": "o_gm", "pointer": "o", "dtype": "f32", "offset": 0, "bytes": "o.extent[0] * 4",
             "access": "write"},
            {"name": "alpha", "dtype": "f32", "value": "gain"}, {"name": "n", "dtype": "i32", "value": "o.extent[0]"}],
        "ub": {"bytes": 49152, "buffers": [{"name": str(k), "address": k * 16384, "bytes": 16384} for k in range(3)]}}
    result = {"version": 1, "name": "f", "kernel_file": EXAMPLES, "arguments": [
        {"name": "x", "kind": "buffer", "dtype": "f32", "dimensions": 1},
        {"name": "y", "kind": "buffer", "dtype": "f32", "dimensions": 1},
        {"name": "o", "kind": "buffer", "dtype": "f32", "dimensions": 1},
        {"name": "gain", "kind": "scalar", "dtype": "f32"}],
        "checks": [{"condition": "x.extent[0] >= o.extent[0]", "message": "x is too short"}], "kernels": [kernel]}
    for path, value in changes.items():
        target = result if not path.startswith("kernel_") or path == "kernel_file" else kernel
        target[path.removeprefix("kernel_") if target is kernel else path] = value
    return result


@pytest.fixture
def files(tmp_path):
    x, y = np.arange(300, dtype=np.float32), np.ones(301, np.float32)
    np.save(tmp_path / "x.npy", x)
    y.tofile(tmp_path / "y.bin")
    return tmp_path, x, y


def job(directory, text, **changes):
    (directory / "f.launch.json").write_text(json.dumps(text))
    args = {"x": {"file": "x.npy"}, "y": {"file": "y.bin", "extent": [301], "min": [1]},
            "o": {"out": "o.npy", "extent": [300]}, "gain": 2.5}
    args.update(changes)
    return {"id": 1, "launch": "f.launch.json", "args": args, "report": True}


def test_plan(files):
    directory, x, _ = files
    result = run_job(Session(), job(directory, plan()), str(directory))
    assert result["ok"], result
    np.testing.assert_array_equal(np.load(directory / "o.npy"), np.float32(2.5) * x + 1)
    report = result["report"]["kernels"][0]
    assert report["dma"] == {"calls": {"mte_gm_ub": 2, "mte_ub_gm": 1}, "in_bytes": 2400, "out_bytes": 1200,
                             "ub_bytes": 0,
                             "in_bursts": 2, "out_bursts": 1}
    assert report["gm_written_bytes"] == {"o_gm": 1200}
    assert report["static_sync"] == {"set_flag": 2, "wait_flag": 2}


PLAN_ERRORS = {
    "version": (plan(version=2), {}, "\"version\" must be 1"),
    "missing argument": (plan(), {"y": None}, "argument y is missing"),
    "unknown argument": (plan(), {"z": 3}, "no argument z"),
    "failed check": (plan(), {"o": {"out": "o.npy", "extent": [400]}}, "x is too short"),
    "buffer too small": (plan(), {"y": {"file": "y.bin", "extent": [301], "min": [2]}}, "needs bytes [8, 1208) of y"),
    "file too small": (plan(), {"y": {"file": "y.bin", "extent": [500]}}, "the file has 1204 bytes"),
    "number for a buffer": (plan(), {"x": 3}, "is a buffer"),
    "file for a number": (plan(), {"gain": {"file": "x.npy"}}, "is a scalar"),
    "dimensions": (plan(), {"x": {"file": "x.npy", "extent": [30, 10]}}, "has 1 dimensions"),
    "kernel that does not exist": (plan(kernel_name="nothing"), {}, "has no kernel nothing"),
    "argument order": (plan(kernel_arguments=plan()["kernels"][0]["arguments"][::-1]), {},
        "is i32 in the launch plan, f32"),
    "argument count": (plan(kernel_arguments=plan()["kernels"][0]["arguments"][1:]), {},
        "the launch plan passes 4 arguments"),
    "argument type": (plan(kernel_arguments=plan()["kernels"][0]["arguments"][:4] +
                           [{"name": "n", "dtype": "si16", "value": "1"}]), {}, "is si16 in the launch plan, i32"),
    "file that does not exist": (plan(kernel_file="nowhere.py"), {}, "does not exist"),
    "UB map too long": (plan(kernel_ub={"bytes": 100, "buffers": [{"address": 0, "bytes": 128}]}), {}, "ends beyond"),
    "key missing": (plan(kernels=[{"name": "scale_add"}]), {}, "'arguments' is missing"),
}


@pytest.mark.parametrize("name", PLAN_ERRORS)
def test_plan_errors(files, name):
    directory, _, _ = files
    text, changes, message = PLAN_ERRORS[name]
    this = job(directory, text)
    this["args"].update(changes)
    this["args"] = {k: v for k, v in this["args"].items() if v is not None}
    result = run_job(Session(), this, str(directory))
    assert not result["ok"] and result["kind"] == "usage" and message in result["error"], result


def test_signedness_of_planned_types_is_free(files):
    directory, _, _ = files
    arguments = plan()["kernels"][0]["arguments"]
    arguments[4]["dtype"] = "si32"
    assert run_job(Session(), job(directory, plan(kernel_arguments=arguments)), str(directory))["ok"]
    arguments[3]["dtype"] = "si32"
    result = run_job(Session(), job(directory, plan(kernel_arguments=arguments)), str(directory))
    assert "is si32 in the launch plan, f32 in the function" in result["error"]


def test_access_outside_the_planned_bytes(files):
    directory, _, _ = files
    arguments = plan()["kernels"][0]["arguments"]
    arguments[0]["bytes"] = 1196
    result = run_job(Session(), job(directory, plan(kernel_arguments=arguments)), str(directory))
    assert result["kind"] == "bounds" and "[0, 1200) of x_gm" in result["error"] and result["line"] == 11


def test_ub_map_is_enforced(files):
    directory, _, _ = files
    small = {"bytes": 49152, "buffers": [{"address": k * 16384, "bytes": 1216} for k in range(3)]}
    result = run_job(Session(), job(directory, plan(kernel_ub=small)), str(directory))
    assert result["kind"] == "bounds" and "UB map" in result["error"]


def test_temporaries_between_kernels(tmp_path):
    (tmp_path / "k.py").write_text("""from ptodsl import pto, scalar


@pto.jit(name="first", mode="explicit")
def first(t: pto.ptr(pto.i32, "gm"), n: pto.i32):
    with pto.for_(0, n, step=1) as i:
        scalar.store(scalar.index_cast(pto.i32, i) * 3, t, i)


@pto.jit(name="second", mode="explicit")
def second(t: pto.ptr(pto.i32, "gm"), o: pto.ptr(pto.i32, "gm"), n: pto.i32):
    with pto.for_(0, n, step=1) as i:
        scalar.store(scalar.load(t, i) + 1, o, i)
""")

    def pointer(name, target, access):
        return {"name": name, "pointer": target, "dtype": "i32", "bytes": "o.extent[0] * 4", "access": access}

    count = {"name": "n", "dtype": "i32", "value": "o.extent[0]"}
    text = {"version": 1, "kernel_file": "k.py", "arguments": [{"name": "o", "kind": "buffer", "dtype": "si32"}],
            "temporaries": [{"name": "tmp", "dtype": "i32", "bytes": "o.extent[0] * 4"}],
            "kernels": [{"name": "first", "blocks": 1, "arguments": [pointer("t", "tmp", "write"), count]},
                        {"name": "second", "blocks": "1", "arguments": [pointer("t", "tmp", "read"), pointer("o", "o",
                            "write"),
                                count]}]}
    (tmp_path / "f.json").write_text(json.dumps(text))
    result = run_job(Session(), {"launch": "f.json", "args": {"o": {"out": "o.bin", "extent": [5]}}}, str(tmp_path))
    assert result["ok"], result
    assert np.fromfile(tmp_path / "o.bin", np.int32).tolist() == [1, 4, 7, 10, 13]


def test_strided_buffers_keep_their_gaps(tmp_path):
    np.arange(40, dtype=np.int32).tofile(tmp_path / "b.bin")
    buffer = make_buffer("b", BY_NAME["si32"], {"file": str(tmp_path / "b.bin"), "extent": [5, 3], "stride": [1, 12]})
    assert len(buffer.data) == 160 and buffer.extent == [5, 3]
    with pytest.raises(UsageError):
        make_buffer("b", BY_NAME["si32"], {"file": str(tmp_path / "b.bin"), "extent": [5, 4], "stride": [1, 12]})


def test_forgotten_outputs_show_a_pattern(tmp_path):
    buffer = make_buffer("b", BY_NAME["ui8"], {"extent": [3]})
    assert buffer.data.tolist() == [0xCD] * 3


def run_tool(*arguments, text=None, directory=None):
    done = subprocess.run([sys.executable, "-B", TOOL, *arguments], input=text, capture_output=True, text=True,
                          cwd=directory,
                          timeout=400)
    return done.returncode, done.stdout, done.stderr


def test_command_line(files):
    directory, x, _ = files
    arguments = ["run", EXAMPLES, "--name", "scale_add", "--arg", "x_gm=x.npy", "--arg", "y_gm=y.bin", "--arg",
                 "alpha=0x1p1",
                 "--arg", "n=300", "--out", "o_gm=o.npy:1200"]
    code, out, err = run_tool(*arguments, "--report", "r.json", directory=directory)
    assert code == 0, err
    np.testing.assert_array_equal(np.load(directory / "o.npy"), 2 * x + 1)
    assert "inner loop of line 17: 2 iterations of 5 vector" in out
    assert json.loads((directory / "r.json").read_text())["kernels"][0]["vector_instructions"] == 18
    code, out, err = run_tool(*arguments[:-1], "o_gm=o.npy:1000", directory=directory)
    assert code == 1 and "examples.py:28: bounds: mte_ub_gm" in err
    (directory / "f.launch.json").write_text(json.dumps(plan()))
    code, out, err = run_tool("check", str(directory / "f.launch.json"))
    assert code == 0 and out.startswith("scale_add: good;")
    (directory / "f.launch.json").write_text(json.dumps(plan(kernel_arguments=[])))
    code, out, err = run_tool("check", str(directory / "f.launch.json"))
    assert code == 1 and "passes 0 arguments" in err
    code, out, err = run_tool("check", EXAMPLES)
    assert code == 0 and out.count(": good;") == 10


def test_batch_and_serve(files):
    directory, _, _ = files
    (directory / "f.launch.json").write_text(json.dumps(plan()))
    good = job(directory, plan())
    bad = {"id": 2, "kernel": EXAMPLES, "name": "scale_add", "args": {"n": 3}}
    (directory / "jobs.json").write_text(json.dumps({"jobs": [good, bad]}))
    code, out, err = run_tool("batch", str(directory / "jobs.json"))
    results = json.loads(out)["results"]
    assert code == 1 and "2 jobs, 1 failed" in err
    assert results[0]["ok"] and results[1]["error"] == "usage: scale_add: argument x_gm is missing"
    lines = json.dumps(good) + "\nnonsense\n\n" + json.dumps(bad) + "\n"
    code, out, err = run_tool("serve", text=lines, directory=directory)
    answers = [json.loads(line) for line in out.splitlines()]
    assert code == 0 and [a["ok"] for a in answers] == [True, False, False]
    assert [a["id"] for a in answers] == [1, None, 2]


def test_a_server_survives_kernels_that_print_or_crash(tmp_path):
    (tmp_path / "noisy.py").write_text('print("hello")\nfrom ptodsl import pto\n\n\n@pto.jit(mode="explicit")\n'
                                       "def k(n: pto.i32):\n    print(n)\n")
    (tmp_path / "crash.py").write_text("1 / 0\n")
    (tmp_path / "trace.py").write_text('from ptodsl import pto\n\n\n@pto.jit(mode="explicit")\ndef k(n: pto.i32):\n   '
                                       ' [][3]\n')
    jobs = [{"id": name, "kernel": name + ".py", "args": {"n": 1}} for name in ("noisy", "crash", "trace", "noisy")]
    _, out, err = run_tool("serve", text="".join(json.dumps(j) + "\n" for j in jobs), directory=tmp_path)
    answers = [json.loads(line) for line in out.splitlines()]
    assert [a["ok"] for a in answers] == [True, False, False, True]
    assert answers[1]["kind"] == "trace" and "ZeroDivisionError" in answers[1]["error"] and answers[1]["line"] == 1
    assert answers[2]["kind"] == "trace" and "IndexError" in answers[2]["error"] and answers[2]["line"] == 6
    assert err.count("hello") == 1


def test_a_kernel_file_that_changes_is_read_again(tmp_path):
    path = tmp_path / "k.py"
    text = 'from ptodsl import pto, scalar\n\n\n@pto.jit(mode="explicit")\ndef k(o: pto.ptr(pto.i32, "gm")):\n' \
           "    scalar.store({}, o, 0)\n"
    session = Session()
    for value in (5, 1234567):
        path.write_text(text.format(value))
        assert run_job(session, {"kernel": "k.py", "args": {"o": {"out": "o.bin", "bytes": 4}}}, str(tmp_path))["ok"]
        assert np.fromfile(tmp_path / "o.bin", np.int32).tolist() == [value]
