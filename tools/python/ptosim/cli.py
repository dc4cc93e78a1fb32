"""The command line, `tools/ptosim`."""

import argparse
import json
import os
import sys

from .errors import PtoError, UsageError
from .jit import Options
from .launch import Session, run_job

USAGE = """examples:
  tools/ptosim run axpy.py --arg x=x.npy --arg alpha=2.0 --arg n=300 --out y=y.npy:1200
  tools/ptosim run f.launch.json --arg in=in.npy --shape f=300x20 --out f=out.npy --blocks 3
  tools/ptosim check f.pto.py
  tools/ptosim batch jobs.json
  tools/ptosim serve < jobs.jsonl
"""


def assignments(items, option):
    result = {}
    for item in items or ():
        name, sign, value = item.partition("=")
        if not sign or not name:
            raise UsageError(f"{option} takes NAME=VALUE, got {item!r}")
        if name in result:
            raise UsageError(f"{option} {name} is given twice")
        result[name] = value
    return result


def is_file_name(text):
    return text.endswith((".npy", ".bin", ".raw")) or os.path.sep in text


def job_of(options):
    """The job that the options of `run` describe."""
    args = {}
    for name, value in assignments(options.arg, "--arg").items():
        args[name] = {"file": value} if is_file_name(value) else value
    for name, value in assignments(options.out, "--out").items():
        path, colon, size = value.rpartition(":")
        if not colon:
            path = value
        entry = args.setdefault(name, {})
        if not isinstance(entry, dict):
            raise UsageError(f"--out {name}: --arg {name} is not a file")
        entry["out"] = path
        if colon:
            if not size.isdigit():
                raise UsageError(f"--out {name}: size in bytes expected after the colon, got {size!r}")
            entry["bytes"] = int(size)
    for name, value in assignments(options.shape, "--shape").items():
        try:
            extent = [int(part) for part in value.split("x")]
        except ValueError:
            raise UsageError(f"--shape takes NAME=300x20 (innermost first), got {value!r}") from None
        entry = args.setdefault(name, {})
        if isinstance(entry, dict):
            entry["extent"] = extent
    job = {"args": args, "report": True, "minimal_sync": options.minimal_sync}
    if options.blocks is not None:
        job["blocks"] = options.blocks
    if options.file.endswith(".json"):
        job["launch"] = options.file
    else:
        job["kernel"] = options.file
        job["name"] = options.name
        job["constants"] = {k: json.loads(v) for k, v in assignments(options.const, "--const").items()}
    return job


def command_run(session, options):
    result = run_job(session, job_of(options))
    if not result["ok"]:
        print(result["error"], file=sys.stderr)
        return 1
    from .report import text
    for report in result["report"]["kernels"]:
        if not options.quiet:
            print(text(report))
    if options.report:
        with open(options.report, "w") as file:
            json.dump(result["report"], file, indent=2)
            file.write("\n")
    return 0


def command_check(session, options):
    from .report import static_text
    for path in options.files:
        if path.endswith(".json"):
            for compiled in session.check_plan(path):
                print(static_text(compiled))
            continue
        for name, kernel in session.kernels(path).items():
            given = assignments(options.const, "--const")
            constants = {k: json.loads(v) for k, v in given.items() if k in kernel.constants}
            print(static_text(session.compile(path, name, constants)))
    return 0


def command_batch(session, options):
    with open(options.list) as file:
        jobs = json.load(file)["jobs"]
    directory = os.path.dirname(options.list) or "."
    results = [run_job(session, job, directory) for job in jobs]
    text = json.dumps({"results": results}, indent=None if options.compact else 2)
    if options.result:
        with open(options.result, "w") as file:
            file.write(text + "\n")
    else:
        print(text)
    failed = sum(not r["ok"] for r in results)
    print(f"{len(results)} jobs, {failed} failed", file=sys.stderr)
    return 1 if failed else 0


def command_serve(session, _options):
    answers = sys.stdout
    sys.stdout = sys.stderr     # what a kernel file prints must not look like an answer
    for line in sys.stdin:
        if not line.strip():
            continue
        try:
            job = json.loads(line)
        except ValueError as error:
            print(json.dumps({"id": None, "ok": False, "kind": "usage", "error": f"usage: not JSON: {error}",
                              "line": 0}),
                  file=answers, flush=True)
            continue
        print(json.dumps(run_job(session, job)), file=answers, flush=True)
    return 0


def parser():
    top = argparse.ArgumentParser(prog="ptosim", description="Executes Ascend PTODSL kernels on numpy arrays.",
                                  epilog=USAGE,
                                  formatter_class=argparse.RawDescriptionHelpFormatter)
    top.add_argument("--no-hints", action="store_true", help="refuse unroll hints, as released toolchains do")
    top.add_argument("--two-roundings", action="store_true", help="vmula and vaxpy round the product, too")
    commands = top.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="run a kernel file or a launch plan")
    run.add_argument("file")
    run.add_argument("--name", help="kernel, if the file has several")
    run.add_argument("--arg", action="append", metavar="NAME=VALUE", help="a scalar, or a .npy, .bin, .raw file")
    run.add_argument("--out", action="append", metavar="NAME=FILE[:BYTES]", help="where to write an output")
    run.add_argument("--shape", action="append", metavar="NAME=WxH", help="extents, innermost first")
    run.add_argument("--const", action="append", metavar="NAME=JSON", help="a const_expr parameter")
    run.add_argument("--blocks", type=int)
    run.add_argument("--report", help="write the report as JSON")
    run.add_argument("--minimal-sync", action="store_true", help="also look for flags and barriers that are not needed")
    run.add_argument("--quiet", action="store_true")
    run.set_defaults(function=command_run)
    check = commands.add_parser("check", help="trace and verify only")
    check.add_argument("files", nargs="+")
    check.add_argument("--const", action="append", metavar="NAME=JSON")
    check.set_defaults(function=command_check)
    batch = commands.add_parser("batch", help="run the jobs of a JSON file in one process")
    batch.add_argument("list")
    batch.add_argument("--result", help="file for the results (default: standard output)")
    batch.add_argument("--compact", action="store_true")
    batch.set_defaults(function=command_batch)
    serve = commands.add_parser("serve", help="one job per input line, one result per output line")
    serve.set_defaults(function=command_serve)
    return top


def main(arguments=None):
    options = parser().parse_args(arguments)
    session = Session(Options(hints=not options.no_hints, fused=not options.two_roundings))
    try:
        return options.function(session, options)
    except PtoError as error:
        print(error, file=sys.stderr)
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())     # a reader such as head has seen enough
        return 1
    except (OSError, ValueError, KeyError) as error:
        print(f"usage: {error}", file=sys.stderr)
        return 1
