"""Jobs: one kernel with its arguments, or a launch plan with the host's buffers (format: docs/ptosim.md)."""

import json
import os
import traceback
import types

import numpy as np

from . import assembly_reader, hostbuffers
from .errors import PtoError, TraceError, UsageError, line_of
from .executor import Compiled
from .expressions import evaluate
from .hostbuffers import dtype_named, make_buffer, write_buffer
from .jit import DEFAULT_OPTIONS, Kernel
from .machine import UB_CAPACITY, GlobalBuffer, make_reach
from .minimal import redundant_sync
from .types import BY_NAME, I1, PointerType

_modules = 0


def load_kernels(path):
    """Imports a kernel file and returns its entries by name."""
    global _modules
    if not os.path.exists(path):
        raise UsageError(f"kernel file {path} does not exist")
    if path.endswith(".pto"):
        return assembly_reader.read_file(path)
    _modules += 1
    name = f"ptosim_kernel_{_modules}"
    module = types.ModuleType(name)
    module.__file__ = path
    try:
        # Read here instead of imported: bytecode files beside the kernels would outlive them.
        with open(path) as file:
            exec(compile(file.read(), path, "exec"), module.__dict__)
    except PtoError as error:
        error.file = error.file or path
        error.line = error.line or line_of(error, path)
        raise
    except SyntaxError as error:
        raise TraceError(f"not Python: {error.msg}", error.lineno or 0, path) from None
    except Exception as error:
        raise TraceError(f"importing fails: {type(error).__name__}: {error}", line_of(error, path), path) from None
    kernels = {}
    for value in vars(module).values():
        if isinstance(value, Kernel) and value.entry:
            if value.name in kernels and kernels[value.name] is not value:
                raise TraceError(f"two kernels are called {value.name}", value.line, path)
            kernels[value.name] = value
    if not kernels:
        raise TraceError("the file defines no @pto.jit kernel at module level", 0, path)
    return kernels


class Session:
    """Keeps kernels that were loaded and compiled, so that a batch may run one kernel many times."""

    def __init__(self, options=DEFAULT_OPTIONS):
        self.options = options
        self.files = {}
        self.compiled = {}
        self.minimal = False        # whether launches also look for synchronisation that is not needed

    def kernels(self, path):
        stamp = (os.path.getmtime(path), os.path.getsize(path)) if os.path.exists(path) else None
        if path not in self.files or self.files[path][0] != stamp:
            self.compiled = {key: value for key, value in self.compiled.items() if key[0] != path}
            self.files[path] = (stamp, load_kernels(path))
        return self.files[path][1]

    def kernel(self, path, name):
        kernels = self.kernels(path)
        if name is None:
            if len(kernels) != 1:
                raise UsageError(f"{path} has several kernels, name one of {', '.join(sorted(kernels))}")
            name = next(iter(kernels))
        if name not in kernels:
            raise UsageError(f"{path} has no kernel {name}; it has {', '.join(sorted(kernels))}")
        return kernels[name]

    def compile(self, path, name, constants):
        kernel = self.kernel(path, name)
        key = (path, kernel.name, json.dumps(constants, sort_keys=True))
        if key not in self.compiled:
            try:
                self.compiled[key] = Compiled(kernel, constants, self.options)
            except PtoError:
                raise
            except Exception as error:
                raise TraceError(f"{type(error).__name__}: {error}", line_of(error, path), path) from error
        return self.compiled[key]

    def launch(self, compiled, blocks, values, ub_map):
        if self.minimal:
            found = redundant_sync(compiled, blocks, values, ub_map)
            compiled.last.redundant_sync = found
            return compiled.last
        return compiled.launch(blocks, values, ub_map)

    def run(self, job, directory="."):
        """Executes one job; returns the launches of its kernels."""
        def path_of(name):
            return name if os.path.isabs(name) else os.path.join(directory, name)

        self.minimal = bool(job.get("minimal_sync"))
        arguments = {}
        for name, value in job.get("args", {}).items():
            if isinstance(value, dict):
                value = {k: path_of(v) if k in ("file", "out") else v for k, v in value.items()}
            arguments[name] = value
        if "launch" in job:
            return self.run_plan(path_of(job["launch"]), arguments, job.get("blocks"))
        if "kernel" not in job:
            raise UsageError("a job needs \"launch\" or \"kernel\"")
        return self.run_kernel(path_of(job["kernel"]), job.get("name"), arguments, job.get("blocks", 1),
                               job.get("constants", {}), job.get("ub"))

    def check_plan(self, path):
        """Compiles the kernels of a launch plan and compares their arguments and UB map with it."""
        plan = read_plan(path)
        known = {a["name"] for a in plan["arguments"]} | {t["name"] for t in plan.get("temporaries", [])}
        result = []
        for entry in plan["kernels"]:
            kernel_file = os.path.join(os.path.dirname(path) or ".", plan["kernel_file"])
            compiled = self.compile(kernel_file, entry["name"], entry.get("constants", {}))
            for argument, _, _ in plan_arguments(compiled.kernel, entry):
                if "pointer" in argument and argument["pointer"] not in known:
                    raise UsageError(f"kernel {entry['name']}: argument {argument['name']} points to "
                                     f"{argument['pointer']}, which is no buffer")
            make_reach(read_ub_map(entry.get("ub")))
            result.append(compiled)
        return result

    def run_kernel(self, path, name, arguments, blocks, constants, ub_map):
        compiled = self.compile(path, name, constants)
        kernel = compiled.kernel
        known = {n for n, _ in kernel.parameters}
        for given in arguments:
            if given not in known:
                raise UsageError(f"{kernel.name} has no argument {given}; it has {', '.join(sorted(known))}")
        values, buffers = [], []
        for parameter, kind in kernel.parameters:
            if parameter not in arguments:
                raise UsageError(f"{kernel.name}: argument {parameter} is missing")
            value = arguments[parameter]
            if isinstance(kind, PointerType):
                if not isinstance(value, dict):
                    raise UsageError(f"{kernel.name}: argument {parameter} is a pointer, give a file")
                buffer = make_buffer(parameter, kind.dtype, value)
                buffers.append((buffer, value))
                values.append(GlobalBuffer(parameter, buffer.data, readable="file" in value, writable="out" in value))
            else:
                values.append(scalar_value(parameter, kind, value))
        launch = self.launch(compiled, blocks, values, read_ub_map(ub_map))
        for buffer, description in buffers:
            if "out" in description:
                write_buffer(buffer, description["out"])
        return [launch]

    def run_plan(self, path, arguments, blocks):
        plan = read_plan(path)
        directory = os.path.dirname(path) or "."
        environment, buffers = bind_arguments(plan, arguments)
        for check in plan.get("checks", []):
            if not evaluate(check["condition"], environment):
                raise UsageError(f"check of the launch plan fails: {check['message']}")
        memory = {name: b.data for name, b in buffers.items()}
        for temporary in plan.get("temporaries", []):
            size = evaluate(temporary["bytes"], environment)
            memory[temporary["name"]] = np.full(size, hostbuffers.FILL, np.uint8)
        launches = []
        for entry in plan["kernels"]:
            compiled = self.compile(os.path.join(directory, plan["kernel_file"]), entry["name"],
                                    entry.get("constants", {}))
            values = plan_values(compiled.kernel, entry, environment, memory)
            count = blocks if blocks is not None else evaluate(entry["blocks"], environment)
            launches.append(self.launch(compiled, count, values, read_ub_map(entry.get("ub"))))
        for name, buffer in buffers.items():
            if "out" in arguments[name]:
                write_buffer(buffer, arguments[name]["out"])
        return launches


def read_plan(path):
    try:
        with open(path) as file:
            plan = json.load(file)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error}") from None
    except ValueError as error:
        raise UsageError(f"{path} is not JSON: {error}") from None
    if not isinstance(plan, dict) or plan.get("version") != 1:
        raise UsageError(f"{path}: \"version\" must be 1")
    for field in ("kernel_file", "arguments", "kernels"):
        if field not in plan:
            raise UsageError(f"{path}: \"{field}\" is missing")
    return plan


def bind_arguments(plan, arguments):
    environment, buffers = {}, {}
    known = [a["name"] for a in plan["arguments"]]
    for name in arguments:
        if name not in known:
            raise UsageError(f"the launch plan has no argument {name}; it has {', '.join(known)}")
    for argument in plan["arguments"]:
        name = argument["name"]
        if name not in arguments:
            raise UsageError(f"argument {name} is missing")
        value = arguments[name]
        if argument["kind"] == "scalar":
            environment[name] = scalar_value(name, dtype_named(argument["dtype"], name), value)
            continue
        if not isinstance(value, dict):
            raise UsageError(f"argument {name} is a buffer, give its file or extent")
        buffer = make_buffer(name, dtype_named(argument["dtype"], name), value)
        if "dimensions" in argument and len(buffer.extent) != argument["dimensions"]:
            raise UsageError(f"argument {name} has {argument['dimensions']} dimensions, got extent {buffer.extent}")
        environment[name] = buffers[name] = buffer
    return environment, buffers


def plan_arguments(kernel, entry):
    """The arguments of a launch with name and type of the parameters they go to, checked against each other."""
    described = entry["arguments"]
    if len(described) != len(kernel.parameters):
        raise UsageError(f"kernel {kernel.name}: the launch plan passes {len(described)} arguments, the function takes "
                         f"{[name for name, _ in kernel.parameters]}")
    for argument, (name, kind) in zip(described, kernel.parameters):
        pointer = isinstance(kind, PointerType)
        dtype = kind.dtype if pointer else kind
        if not same_bits(dtype_named(argument["dtype"], name), dtype, pointer):
            raise UsageError(f"kernel {kernel.name}: argument {name} is {argument['dtype']} in the launch plan, "
                             f"{dtype} in the function")
        if pointer != ("pointer" in argument):
            raise UsageError(f"kernel {kernel.name}: argument {name} is a {'pointer' if pointer else 'scalar'} in the "
                             "function")
        yield argument, name, kind


def plan_values(kernel, entry, environment, memory):
    values = []
    for argument, name, kind in plan_arguments(kernel, entry):
        if isinstance(kind, PointerType):
            values.append(plan_pointer(kernel, argument, environment, memory))
        else:
            values.append(scalar_value(name, kind, evaluate(argument["value"], environment)))
    return values


def same_bits(planned, actual, pointer):
    """Whether two types mean the same bits: signedness, and what bytes encode, is the kernel's matter."""
    if pointer and planned is I1:
        planned = BY_NAME["ui8"]
    return planned.bits == actual.bits and planned.is_float == actual.is_float and \
        (not planned.is_float or planned is actual)


def plan_pointer(kernel, argument, environment, memory):
    target = argument["pointer"]
    if target not in memory:
        raise UsageError(f"kernel {kernel.name}: argument {argument['name']} points to {target}, which is no buffer")
    data = memory[target]
    offset = evaluate(argument.get("offset", 0), environment)
    size = evaluate(argument["bytes"], environment)
    if offset < 0 or size < 0 or offset + size > len(data):
        raise UsageError(f"kernel {kernel.name}: argument {argument['name']} needs bytes [{offset}, {offset + size}) "
                         f"of "
                         f"{target}, which has {len(data)}")
    access = argument["access"]
    if access not in ("read", "write", "readwrite"):
        raise UsageError(f"kernel {kernel.name}: access of {argument['name']} is {access!r}")
    return GlobalBuffer(argument["name"], data, offset, size, access != "write", access != "read")


def scalar_value(name, dtype, value):
    """A scalar of a job: a number, or its text."""
    if isinstance(value, str):
        try:
            value = float.fromhex(value) if dtype.is_float and "x" in value else \
                float(value) if dtype.is_float else int(value, 0)
        except ValueError:
            raise UsageError(f"argument {name}: {value!r} is no {dtype} value") from None
    if isinstance(value, (dict, list)) or value is None:
        raise UsageError(f"argument {name} is a scalar of type {dtype}")
    return value


def read_ub_map(description):
    """Buffers of a UB map as (address, bytes)."""
    if description is None:
        return None
    buffers = [(b["address"], b["bytes"]) for b in description["buffers"]]
    for address, size in buffers:
        if address + size > description.get("bytes", UB_CAPACITY):
            raise UsageError(f"UB map: buffer [{address}, {address + size}) ends beyond its \"bytes\"")
    return buffers


def run_job(session, job, directory="."):
    """One job to one result, errors included."""
    result = {"id": job.get("id")} if isinstance(job, dict) else {"id": None}
    try:
        if not isinstance(job, dict):
            raise UsageError("a job is a JSON object")
        launches = session.run(job, directory)
        result["ok"] = True
        if job.get("report"):
            result["report"] = {"kernels": [launch.report() for launch in launches]}
    except PtoError as error:
        result.update(ok=False, kind=error.kind, error=str(error), line=error.line)
        if error.block is not None:
            result["block"] = error.block
    except KeyError as error:
        result.update(ok=False, kind="usage", error=f"usage: {error} is missing in the job or launch plan", line=0)
    except Exception as error:      # a fault of the emulator must not end a batch or a server
        where = traceback.extract_tb(error.__traceback__)[-1]
        result.update(ok=False, kind="internal", line=0, error=f"internal: {type(error).__name__}: {error} "
                      f"({os.path.basename(where.filename)}:{where.lineno})")
    return result
