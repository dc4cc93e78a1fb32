"""From a traced kernel to a Python function that executes one block.

Tracing runs the kernel's Python once; executing it means running the recorded operations, perhaps many times in loops.
They are written out as Python source, in which each operation is one short statement: scalars are Python integers and
floats, a vector is an array `v` and its poison `p`, a mask is `m` and `q`, a pointer is a byte address. The function
counts how often each block of operations runs, from which the report derives instruction counts.
"""

import numpy as np

from . import dma, semantics, vector_memory
from .errors import InternalError, ValueRangeError
from .floats import bf16_to_f32, f32_to_bf16_nearest
from .ir import Mask, Vector
from .types import INDEX
from .values import Pointer, Scalar

_BINARY = ("vadd", "vsub", "vmul", "vdiv", "vmax", "vmin", "vand", "vor", "vxor")
_SCALAR_FORMS = {"vadds": "vadd", "vmuls": "vmul", "vmaxs": "vmax", "vmins": "vmin"}
_UNARY = ("vnot", "vabs", "vneg", "vrelu", "vexp", "vln", "vsqrt")
_SCALAR_OPERATORS = {"s.add": "+", "s.sub": "-", "s.mul": "*", "s.and": "&", "s.or": "|", "s.xor": "^"}


def floor_divide(line):
    def divide(a, b):
        if b == 0:
            raise ValueRangeError("integer division by zero", line)
        return a // b
    return divide


def remainder(line):
    def rem(a, b):
        if b == 0:
            raise ValueRangeError("integer remainder by zero", line)
        r = abs(a) % abs(b)
        return -r if a < 0 else r
    return rem


def check_step(line):
    def check(step):
        if step <= 0:
            raise ValueRangeError(f"pto.for_: step is {step} at run time, it must be positive", line)
        return step
    return check


def to_float(dtype):
    """Brings the result of a scalar float operation into its type; bf16 scalars are kept as float32."""
    if dtype.name == "bf16":
        return lambda x: bf16_to_f32(f32_to_bf16_nearest(np.array([x], np.float32)))[0]
    return dtype.numpy


class Compiler:
    """Writes the source of one kernel. `counts[i]` counts the runs of the i-th block."""

    def __init__(self, trace, machine, fused):
        self.trace = trace
        self.machine = machine
        self.fused = fused
        self.lines = []
        self.indent = 1
        self.names = {"np": np, "merge": semantics.merge, "select": semantics.select}
        self.blocks = []
        self.clean = set()          # ids of vectors and masks that can never be poisoned
        self.gm_access = {}

    def line(self, text):
        self.lines.append("    " * self.indent + text)

    def bind(self, thing, stem="f"):
        name = f"{stem}_{len(self.names)}"
        self.names[name] = thing
        return name

    def build(self):
        self.block(self.trace.body)
        parameters = ", ".join(f"s{v.id}" if isinstance(v, Scalar) else f"g_{i}"
                               for i, (_, v) in enumerate(self.trace.parameters))
        head = [f"def run(block, blocks, counts, {parameters}):"]
        roots = [f"    a{v.id} = 0" for _, v in self.trace.parameters if isinstance(v, Pointer)]
        source = "\n".join(head + roots + self.lines + ["    return None", ""])
        exec(compile(source, f"<ptosim {self.trace.name}>", "exec"), self.names)
        return self.names["run"], source

    def block(self, block):
        number = len(self.blocks)
        self.blocks.append(block)
        if block.label in ("kernel", "vecscope", "then", "else"):
            self.line(f"counts[{number}] += 1")
        for op in block.ops:
            method = getattr(self, "op_" + op.name.replace(".", "_"), None)
            if method is not None:
                method(op)
            elif op.name in _BINARY:
                self.lanewise(op, op.name, op.args[:2])
            elif op.name in _UNARY:
                self.lanewise(op, op.name, op.args[:1])
            elif op.name in _SCALAR_FORMS:
                self.lanewise(op, _SCALAR_FORMS[op.name], op.args[:2])
            elif op.name in ("vmula", "vaxpy", "vlrelu", "vprelu"):
                self.lanewise(op, op.name, op.args[:-1])
            elif op.name in _SCALAR_OPERATORS:
                self.scalar_operator(op)
            else:
                raise InternalError(f"no execution for operation {op.name}", op.line)
        return number

    # Names of values

    def poison(self, value):
        if value.id in self.clean:
            return "None"
        return f"{'q' if isinstance(value, Mask) else 'p'}{value.id}"

    def both(self, value):
        return f"{'m' if isinstance(value, Mask) else 'v'}{value.id}, {self.poison(value)}"

    def state(self, value):
        """All Python names that make up a value, and the expressions that fill them."""
        if isinstance(value, Scalar):
            return [f"s{value.id}"]
        letter, poison = ("m", "q") if isinstance(value, Mask) else ("v", "p")
        return [f"{letter}{value.id}", f"{poison}{value.id}"]

    def state_of(self, value):
        if isinstance(value, Scalar):
            return [f"s{value.id}"]
        return [f"{'m' if isinstance(value, Mask) else 'v'}{value.id}", self.poison(value)]

    def gm(self, pointer, access):
        """Name of the buffer behind a GM pointer, remembering whether it is read or written."""
        number = [i for i, (_, v) in enumerate(self.trace.parameters) if v is pointer.root][0]
        self.gm_access.setdefault(number, set()).add(access)
        return f"g_{number}"

    # Scalars

    def op_const(self, op):
        result = op.results[0]
        if result.dtype.is_float:
            name = self.bind(to_float(result.dtype)(op.attrs["value"]), "k")
            self.line(f"s{result.id} = {name}")
        else:
            self.line(f"s{result.id} = {op.attrs['value']!r}")

    def assign_int(self, result, expression):
        dtype = result.dtype
        if dtype is INDEX or not dtype.is_int:
            self.line(f"s{result.id} = {expression}")
        elif dtype.kind == "unsigned":
            self.line(f"s{result.id} = ({expression}) & {(1 << dtype.bits) - 1}")
        else:
            half = 1 << (dtype.bits - 1)
            self.line(f"s{result.id} = (({expression}) + {half} & {2 * half - 1}) - {half}")

    def scalar_operator(self, op):
        result, (a, b) = op.results[0], op.args
        expression = f"s{a.id} {_SCALAR_OPERATORS[op.name]} s{b.id}"
        if result.dtype.is_float:
            self.line(f"s{result.id} = {self.bind(to_float(result.dtype))}({expression})")
        elif op.name in ("s.add", "s.sub", "s.mul", "s.xor"):
            self.assign_int(result, expression)
        else:
            self.line(f"s{result.id} = {expression}")

    def op_s_div(self, op):
        result, (a, b) = op.results[0], op.args
        self.line(f"s{result.id} = {self.bind(to_float(result.dtype))}(np.divide(s{a.id}, s{b.id}))")

    def op_s_floordiv(self, op):
        result, (a, b) = op.results[0], op.args
        if b.const:
            self.assign_int(result, f"s{a.id} // s{b.id}")
        else:
            self.assign_int(result, f"{self.bind(floor_divide(op.line))}(s{a.id}, s{b.id})")

    def op_s_rem(self, op):
        result, (a, b) = op.results[0], op.args
        self.line(f"s{result.id} = {self.bind(remainder(op.line))}(s{a.id}, s{b.id})")

    def op_s_cmp(self, op):
        a, b = op.args
        self.line(f"s{op.results[0].id} = int(s{a.id} {op.attrs['predicate']} s{b.id})")

    def op_s_max(self, op):
        a, b = op.args
        function = "max" if not a.dtype.is_float else "np.maximum"
        self.line(f"s{op.results[0].id} = {function}(s{a.id}, s{b.id})")

    def op_s_min(self, op):
        a, b = op.args
        function = "min" if not a.dtype.is_float else "np.minimum"
        self.line(f"s{op.results[0].id} = {function}(s{a.id}, s{b.id})")

    def op_s_abs(self, op):
        self.line(f"s{op.results[0].id} = abs(s{op.args[0].id})")

    def float_function(self, op, function):
        result = op.results[0]
        self.line(f"s{result.id} = {self.bind(to_float(result.dtype))}({function}(np.float64(s{op.args[0].id})))")

    def op_s_exp(self, op):
        self.float_function(op, "np.exp")

    def op_s_log(self, op):
        self.float_function(op, "np.log")

    def op_s_sqrt(self, op):
        self.float_function(op, "np.sqrt")

    def op_s_select(self, op):
        c, a, b = op.args
        self.line(f"s{op.results[0].id} = s{a.id} if s{c.id} else s{b.id}")

    def op_index_cast(self, op):
        self.line(f"s{op.results[0].id} = s{op.args[0].id}")

    def op_s_cast(self, op):
        result, (a,) = op.results[0], op.args
        if result.dtype.is_float:
            self.line(f"s{result.id} = {self.bind(to_float(result.dtype))}(s{a.id})")
        else:
            self.assign_int(result, f"s{a.id}")

    def op_s_from_int(self, op):
        """Reached by `.pto` text only."""
        result = op.results[0]
        self.line(f"s{result.id} = {self.bind(to_float(result.dtype))}(float(s{op.args[0].id}))")

    def op_s_to_int(self, op):
        self.assign_int(op.results[0], f"int(s{op.args[0].id})")

    def op_block_idx(self, op):
        self.line(f"s{op.results[0].id} = block")

    def op_block_num(self, op):
        self.line(f"s{op.results[0].id} = blocks")

    # Pointers, DMA, synchronisation

    def op_castptr(self, op):
        self.line(f"a{op.results[0].id} = s{op.args[0].id}")

    def op_addptr(self, op):
        pointer, offset = op.args
        self.line(f"a{op.results[0].id} = a{pointer.id} + s{offset.id} * {pointer.dtype.bytes}")

    def element(self, pointer, offset):
        width = pointer.dtype.bytes
        if offset.const is not None:
            return f"a{pointer.id} + {offset.const * width}" if offset.const else f"a{pointer.id}"
        return f"a{pointer.id} + s{offset.id}" if width == 1 else f"a{pointer.id} + s{offset.id} * {width}"

    def scalars(self, values):
        return ", ".join(f"s{v.id}" for v in values)

    def op_mte_gm_ub(self, op):
        gm, ub, length, fill = op.args[:4]
        move = self.bind(dma.make_mte_gm_ub(self.machine, op.line, ub.dtype.bytes))
        pad = "None"
        if fill is not None:
            pad = f"{self.bind(lambda v, t=fill.dtype: dma.scalar_bytes(v, t).tobytes())}(s{fill.id})"
        self.line(f"{move}({self.gm(gm, 'read')}, a{gm.id}, a{ub.id}, {pad}, {self.scalars([length] + op.args[4:])})")

    def op_mte_ub_gm(self, op):
        ub, gm = op.args[:2]
        move = self.bind(dma.make_mte_ub_gm(self.machine, op.line))
        self.line(f"{move}(a{ub.id}, {self.gm(gm, 'write')}, a{gm.id}, {self.scalars(op.args[2:])})")

    def op_mte_ub_ub(self, op):
        move = self.bind(dma.make_mte_ub_ub(self.machine, op.line))
        self.line(f"{move}(a{op.args[0].id}, a{op.args[1].id}, {self.scalars(op.args[2:])})")

    def op_set_flag(self, op):
        name = self.bind(self.machine.set_flag)
        self.line(f"{name}({op.attrs['src']}, {op.attrs['dst']}, s{op.args[0].id}, {op.line})")

    def op_wait_flag(self, op):
        name = self.bind(self.machine.wait_flag)
        self.line(f"{name}({op.attrs['src']}, {op.attrs['dst']}, s{op.args[0].id}, {op.line})")

    def op_pipe_barrier(self, op):
        self.line(f"{self.bind(self.machine.pipe_barrier)}({op.line})")

    def op_get_buf(self, op):
        self.line(f"{self.bind(self.machine.get_buf)}({op.attrs['pipe']}, {op.attrs['id']}, {op.line})")

    def op_rls_buf(self, op):
        self.line(f"{self.bind(self.machine.rls_buf)}({op.attrs['pipe']}, {op.attrs['id']}, {op.line})")

    def op_mem_bar(self, op):
        self.line(f"{self.bind(self.machine.mem_bar)}({op.attrs['kind']!r}, {op.line})")

    def op_scalar_load(self, op):
        pointer, offset = op.args
        load = self.bind(dma.make_scalar_load(self.machine, pointer.dtype, pointer.space, op.line))
        gm = "" if pointer.space == "ub" else self.gm(pointer, "read") + ", "
        self.line(f"s{op.results[0].id} = {load}({gm}{self.element(pointer, offset)})")

    def op_scalar_store(self, op):
        value, pointer, offset = op.args
        store = self.bind(dma.make_scalar_store(self.machine, pointer.dtype, pointer.space, op.line))
        gm = "" if pointer.space == "ub" else self.gm(pointer, "write") + ", "
        self.line(f"{store}(s{value.id}, {gm}{self.element(pointer, offset)})")

    # Control flow

    def op_for(self, op):
        low, high, step = op.args[:3]
        body = op.regions[0]
        initial = op.args[3:]
        carried = body.arguments[1:]
        for argument, value in zip(carried, initial):
            for target, source in zip(self.state(argument), self.state_of(value)):
                self.line(f"{target} = {source}")
        by = f"s{step.id}" if step.const else f"{self.bind(check_step(op.line))}(s{step.id})"
        self.line(f"r{op.regions[0].arguments[0].id} = range(s{low.id}, s{high.id}, {by})")
        counter = len(self.blocks)
        self.line(f"counts[{counter}] += len(r{body.arguments[0].id})")
        self.line(f"for s{body.arguments[0].id} in r{body.arguments[0].id}:")
        self.indent += 1
        before = len(self.lines)
        self.block(body)
        if carried:
            targets = [t for argument in carried for t in self.state(argument)]
            sources = [s for value in body.yields for s in self.state_of(value)]
            self.line(f"{', '.join(targets)} = {', '.join(sources)}")
        if len(self.lines) == before:
            self.line("pass")
        self.indent -= 1
        for result, argument in zip(op.results, carried):
            for target, source in zip(self.state(result), self.state(argument)):
                self.line(f"{target} = {source}")

    def op_if(self, op):
        for keyword, region in (("if s%d:" % op.args[0].id, op.regions[0]), ("else:", op.regions[1])):
            self.line(keyword)
            self.indent += 1
            self.block(region)
            for result, value in zip(op.results, region.yields):
                for target, source in zip(self.state(result), self.state_of(value)):
                    self.line(f"{target} = {source}")
            self.indent -= 1

    def op_while(self, op):
        """Carried values; the first region computes the condition, the second the next values."""
        test, body = op.regions
        for argument, value in zip(test.arguments, op.args):
            for target, source in zip(self.state(argument), self.state_of(value)):
                self.line(f"{target} = {source}")
        self.line("while True:")
        self.indent += 1
        self.line(f"counts[{len(self.blocks)}] += 1")
        self.block(test)
        self.line(f"if not s{test.yields[0].id}: break")
        self.line(f"counts[{len(self.blocks)}] += 1")
        self.block(body)
        targets = [t for argument in test.arguments for t in self.state(argument)]
        sources = [s for value in body.yields for s in self.state_of(value)]
        if targets:
            self.line(f"{', '.join(targets)} = {', '.join(sources)}")
        self.indent -= 1
        for result, argument in zip(op.results, test.arguments):
            for target, source in zip(self.state(result), self.state(argument)):
                self.line(f"{target} = {source}")

    def op_vecscope(self, op):
        self.block(op.regions[0])

    def op_call(self, _op):
        """Helpers are traced in place; the operation only marks where one begins and ends."""

    # Masks

    def op_create_mask(self, op):
        result, (n,) = op.results[0], op.args
        make = semantics.make_create_mask(result.lanes, op.attrs["groups"])
        self.clean.add(result.id)
        if n.const is not None:
            self.line(f"m{result.id} = {self.bind(make(n.const), 'k')}")
        else:
            self.line(f"m{result.id} = {self.bind(make)}(s{n.id})")

    def op_mand(self, op):
        self.mask_logic(op, "m{0} & m{1}")

    def op_mor(self, op):
        self.mask_logic(op, "m{0} | m{1}")

    def op_mxor(self, op):
        self.mask_logic(op, "m{0} ^ m{1}")

    def op_mnot(self, op):
        self.mask_logic(op, "~m{0}")

    def mask_logic(self, op, form):
        result = op.results[0]
        self.line(f"m{result.id} = " + form.format(*(a.id for a in op.args)))
        self.merge_poison(result, op.args)

    def merge_poison(self, result, sources):
        """Poison of a lane-wise result."""
        dirty = [s for s in sources if isinstance(s, (Vector, Mask)) and s.id not in self.clean]
        if not dirty:
            self.clean.add(result.id)
            return
        names = [self.poison(s) for s in dict.fromkeys(dirty)]
        expression = names[0]
        for name in names[1:]:
            expression = f"merge({expression}, {name})"
        self.line(f"{self.poison(result)} = {expression}")

    # Vectors

    def lanewise(self, op, name, args):
        result = op.results[0]
        operands = []
        for a in args:
            if isinstance(a, Scalar):
                operands.append(f"{self.bind(semantics.splat(a.dtype, 1))}(s{a.id})")
            else:
                operands.append(f"v{a.id}")
        function = self.bind(semantics.lanewise(name, result.dtype, self.fused))
        self.line(f"v{result.id} = {function}({', '.join(operands)})")
        self.merge_poison(result, args)

    def shift(self, op):
        result, (a, b, _) = op.results[0], op.args
        function = self.bind(semantics.make_shift(op.name, result.dtype, op.line))
        self.line(f"v{result.id}, p{result.id} = {function}({self.both(a)}, {self.both(b)})")

    op_vshl = op_vshr = shift

    def scalar_shift(self, op):
        result, (a, count, _) = op.results[0], op.args
        function = self.bind(semantics.make_scalar_shift(op.name, result.dtype, op.line))
        self.line(f"v{result.id} = {function}(v{a.id}, s{count.id})")
        self.merge_poison(result, [a])

    op_vshls = op_vshrs = scalar_shift

    def op_vcmp(self, op):
        result, (a, b, seed) = op.results[0], op.args
        function = self.bind(semantics.make_compare(op.attrs["predicate"], a.dtype))
        self.line(f"m{result.id} = {function}(v{a.id}, v{b.id}) & m{seed.id}")
        self.compare_poison(result, [a, b], seed)

    def op_vcmps(self, op):
        result, (a, s, seed) = op.results[0], op.args
        function = self.bind(semantics.make_compare(op.attrs["predicate"], a.dtype))
        self.line(f"m{result.id} = {function}(v{a.id}, {self.bind(semantics.splat(a.dtype, 1))}(s{s.id})) & m{seed.id}")
        self.compare_poison(result, [a], seed)

    def compare_poison(self, result, values, seed):
        """A lane that the seed clears is false whatever the operands hold."""
        self.merge_poison(result, values + [seed])
        if result.id not in self.clean:
            name = self.poison(result)
            self.line(f"if {name} is not None: {name} = np.where(m{seed.id}, {name}, 0)")

    def op_vsel(self, op):
        result, (m, a, b) = op.results[0], op.args
        if all(x.id in self.clean for x in op.args):
            self.clean.add(result.id)
            self.line(f"v{result.id} = np.where(m{m.id}, v{a.id}, v{b.id})")
        else:
            self.line(f"v{result.id}, p{result.id} = select({self.both(m)}, {self.both(a)}, {self.both(b)})")

    def general(self, op, function):
        """An operation on (array, poison) pairs."""
        operands = []
        for a in op.args:
            if isinstance(a, (Vector, Mask)):
                operands.append(self.both(a))
            elif isinstance(a, Scalar):
                operands.append(f"s{a.id}")
            elif isinstance(a, Pointer):
                operands.append(f"a{a.id}")
        targets = ", ".join(t for r in op.results for t in self.state(r))
        call = f"{self.bind(function)}({', '.join(operands)})"
        self.line(f"{targets} = {call}" if targets else call)

    def op_vselr(self, op):
        self.general(op, semantics.make_vselr(op.results[0].lanes, op.line))

    def op_vcvt(self, op):
        result, (v,) = op.results[0], op.args
        try:
            convert = semantics.make_convert(op.attrs["source"], result.dtype, op.attrs["rounding"],
                                             op.attrs["saturate"])
        except ValueRangeError as error:
            error.line = op.line
            raise
        self.line(f"v{result.id} = {self.bind(convert)}(v{v.id})")
        self.merge_poison(result, [v])

    def op_vinterpret_cast(self, op):
        result = op.results[0]
        self.general(op, semantics.make_reinterpret(op.attrs["source"], result.dtype, result.lanes))

    def op_vbrc(self, op):
        result, (value,) = op.results[0], op.args
        if op.attrs["form"] == "scalar":
            self.clean.add(result.id)
            splat = semantics.splat(result.dtype, result.lanes)
            self.line(f"v{result.id} = {self.bind(splat)}(s{value.id})")
        else:
            repeat = result.lanes // value.lanes
            self.line(f"v{result.id} = np.repeat(v{value.id}, {repeat})")
            name = self.poison(value)
            self.line(f"p{result.id} = None if {name} is None else np.repeat({name}, {repeat})")

    def op_vci(self, op):
        result, (base,) = op.results[0], op.args
        make = semantics.make_index(result.dtype, result.lanes, op.attrs["order"], op.attrs["group"])
        self.clean.add(result.id)
        self.line(f"v{result.id} = {self.bind(make)}(s{base.id})")

    def op_vintlv(self, op):
        self.pair(op, semantics.interleave)

    def op_vdintlv(self, op):
        self.pair(op, semantics.deinterleave)

    def pair(self, op, function):
        a, b, _ = op.args
        targets = ", ".join(t for r in op.results for t in self.state(r))
        self.line(f"{targets} = {self.bind(function)}({self.both(a)}, {self.both(b)})")

    def reduction(self, op):
        v = op.args[0]
        self.general(op, semantics.make_reduce(op.name, v.dtype, v.lanes, op.attrs["group"], op.line))

    op_vcadd = op_vcmax = op_vcmin = reduction

    def op_vexpdif(self, op):
        self.general(op, semantics.make_vexpdif(op.line))

    def op_vmull(self, op):
        self.general(op, semantics.make_vmull(op.results[0].dtype, op.line))

    def add_with_carry(self, op):
        self.general(op, semantics.make_add_with_carry(op.results[0].dtype, op.line))

    op_vaddc = op_vaddcs = add_with_carry

    def histogram(self, op):
        self.general(op, semantics.make_histogram(op.name, op.line))

    op_vdhist = op_vchist = histogram

    # Vector memory

    def op_vload(self, op):
        pointer, offset = op.args
        load = self.bind(vector_memory.make_vload(self.machine, op, pointer.dtype, op.results[0].lanes))
        targets = ", ".join(t for r in op.results for t in self.state(r))
        self.line(f"{targets} = {load}({self.element(pointer, offset)})")

    def op_vstore(self, op):
        if op.attrs["form"] == "dintlv":
            even, odd, pointer, offset, _ = op.args
            store = self.bind(vector_memory.make_vstore(self.machine, op, pointer.dtype, even.lanes))
            self.line(f"{store}({self.both(even)}, {self.both(odd)}, {self.element(pointer, offset)})")
            return
        value, pointer, offset, mask = op.args
        store = self.bind(vector_memory.make_vstore(self.machine, op, pointer.dtype, value.lanes))
        guard = "" if mask is None else ", " + self.both(mask)
        self.line(f"{store}({self.both(value)}, {self.element(pointer, offset)}{guard})")

    def op_vsstb(self, op):
        value, pointer, offset, stride, mask = op.args
        store = self.bind(vector_memory.make_vsstb(self.machine, op, pointer.dtype, value.lanes))
        self.line(f"{store}({self.both(value)}, {self.element(pointer, offset)}, s{stride.id}, {self.both(mask)})")

    def op_vgather(self, op):
        self.general(op, vector_memory.make_vgather(self.machine, op, op.args[0].dtype, op.results[0].lanes))

    def op_vldas(self, op):
        self.line(f"l{op.results[0].id} = a{op.args[0].id}")

    def op_vldus(self, op):
        pointer, align = op.args
        data, after = op.results
        load = self.bind(vector_memory.make_vldus(self.machine, op, pointer.dtype, data.lanes))
        self.line(f"v{data.id}, p{data.id}, l{after.id} = {load}(a{pointer.id}, l{align.id})")

    def op_pset_b32(self, _op):
        """All lanes: the store needs no operand for it."""

    def op_vsts(self, op):
        value, pointer, offset, _ = op.args
        store = self.bind(vector_memory.make_span_writer(self.machine, pointer.dtype, value.lanes, 32, op.line, "vsts"))
        self.line(f"{store}(v{value.id}, p{value.id}, {self.element(pointer, offset)})")

    def op_vscatter(self, op):
        self.general(op, vector_memory.make_vscatter(self.machine, op, op.args[1].dtype, op.args[0].lanes))
