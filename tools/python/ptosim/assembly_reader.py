"""Reads `.pto` text (part 21) into the same trace that a PTODSL kernel gives, through the same checks.

Expected: one operation per line, as MLIR prints it; the table of part 21 for spelling, and what `assembly` writes where
that table is silent. Result types in the text must be those that the operation has.
"""

import re

import numpy as np

from . import assembly, control, memory, vmi
from .errors import PtoError, TraceError
from .ir import Trace, Vector, begin_trace, caller_line, end_trace
from .jit import DEFAULT_OPTIONS
from .types import BF16X2, BY_NAME, I1, INDEX, PointerType
from .values import Pointer, Scalar, compare, describe, emit_scalar, fold, make_constant, wrap

_NAME = r"%[A-Za-z0-9_.$#-]+"
_INTEGER = {"addi": "s.add", "subi": "s.sub", "muli": "s.mul", "andi": "s.and", "ori": "s.or", "xori": "s.xor",
            "floordivsi": "s.floordiv", "remsi": "s.rem", "maxsi": "s.max", "minsi": "s.min"}
_UNSIGNED = {"divui": "s.floordiv", "remui": "s.rem", "maxui": "s.max", "minui": "s.min"}
_FLOAT = {"addf": "s.add", "subf": "s.sub", "mulf": "s.mul", "divf": "s.div", "maximumf": "s.max", "minimumf": "s.min"}
_MATH = {"exp": "s.exp", "log": "s.log", "sqrt": "s.sqrt", "absf": "s.abs", "absi": "s.abs"}
_SCALAR_FORMS = {"vadds": "vadd", "vmuls": "vmul", "vmaxs": "vmax", "vmins": "vmin", "vshls": "vshl", "vshrs": "vshr"}


class TextKernel:
    """A function of a `.pto` file, with the interface of `jit.Kernel` that launches use."""

    def __init__(self, name, file, parameters, lines):
        self.name = name
        self.python_name = name
        self.file = file
        self.line = lines[0][0] if lines else 0
        self.entry = True
        self.parameters = parameters
        self.constants = {}
        self.lines = lines

    def trace(self, constants=None, options=DEFAULT_OPTIONS):
        if constants:
            raise TraceError(f"{self.name}: .pto text has no const_expr parameters", self.line, self.file)
        trace = Trace(self.name, self.file, options)
        reader = Reader(trace, self.lines)
        for name, kind in self.parameters:
            if isinstance(kind, PointerType):
                value = Pointer(trace, kind.dtype, "gm", block=trace.body)
                value.root = value
            else:
                value = Scalar(trace, kind, block=trace.body)
            trace.parameters.append((name, value))
            reader.values["%" + name] = value
        begin_trace(trace)
        try:
            reader.block()
        except PtoError as error:
            error.file = error.file or self.file
            error.line = error.line or trace.line
            raise
        finally:
            end_trace()
            trace.line = 0
        return trace


def parse_type(text):
    """The emulator's form of a type: PointerType, (lanes, dtype) of a vector, lanes of a mask, or a scalar type."""
    text = text.strip()
    match = re.fullmatch(r"!pto\.ptr<(\w+),\s*(\w+)>", text)
    if match:
        return PointerType(scalar_type(match[1]), match[2])
    if re.fullmatch(r"!pto\.vmi\.(vreg|mask)<\d+x\w+>", text):
        return text
    return scalar_type(text)


def scalar_type(name):
    if name == "index":
        return INDEX
    if name == "bf16x2":
        return BF16X2
    if name not in BY_NAME:
        raise TraceError(f"unknown type {name!r}", caller_line())
    return BY_NAME[name]


def split_types(text):
    """Types of a comma-separated list; commas inside <…> do not separate."""
    parts, depth, current = [], 0, ""
    for character in text:
        depth += {"<": 1, ">": -1, "(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += character
    return [p for p in parts + [current.strip()] if p]


def attributes_of(text):
    """The dictionary in braces, and the text without it."""
    match = re.search(r"\{([^{}]*)\}", text)
    if not match:
        return {}, text
    result = {}
    for part in split_types(match[1]):
        key, sign, value = (p.strip() for p in part.partition("="))
        value = value.split(" : ")[0].strip()
        result[key] = True if not sign else value.strip('"') if value.startswith('"') else int(value)
    return result, text[:match.start()] + text[match.end():]


def read_file(path):
    """The entry functions of a `.pto` file by name."""
    with open(path) as file:
        return read_lines(file.read().splitlines(), path)


def read_lines(text, path):
    lines = [(number, re.sub(r"//.*", "", line).strip()) for number, line in enumerate(text, 1)]
    lines = [(number, line) for number, line in lines if line]
    kernels, position = {}, 0
    while position < len(lines):
        number, line = lines[position]
        position += 1
        if not line.startswith("func.func"):
            if not re.match(r"module|\}", line):
                raise TraceError(f"expected a module or function, found {line!r}", number, path)
            continue
        match = re.fullmatch(r"func\.func (?:public )?@(\w+)\((.*?)\)(?: attributes \{(.*)\})? \{", line)
        if match is None:
            raise TraceError(f"cannot read the function header {line!r}", number, path)
        end = position
        while lines[end][1] != "return":
            end += 1
            if end == len(lines):
                raise TraceError(f"function {match[1]} has no return", number, path)
        if "pto.entry" in (match[3] or ""):
            kernels[match[1]] = TextKernel(match[1], path, read_parameters(match[2]), lines[position:end])
        position = end + 1
    if not kernels:
        raise TraceError("the file has no function with the attribute pto.entry", 0, path)
    return kernels


def read_parameters(text):
    parameters = []
    for part in split_types(text):
        name, _, kind = part.partition(":")
        parameters.append((name.strip().lstrip("%"), parse_type(kind)))
    return parameters


class Reader:
    def __init__(self, trace, lines):
        self.trace = trace
        self.lines = lines
        self.position = 0
        self.values = {}

    def refuse(self, message):
        raise TraceError(message, self.trace.line)

    def value(self, name):
        if name not in self.values:
            self.refuse(f"{name} is not defined")
        return self.values[name]

    def next_line(self):
        if self.position == len(self.lines):
            return None
        self.trace.line, line = self.lines[self.position]
        self.position += 1
        return line

    def block(self):
        """Operations up to the brace that closes the block; returns the names in scf.yield and that brace's line."""
        yields = []
        while True:
            line = self.next_line()
            if line is None or line.startswith("}"):
                return yields, line
            if line.startswith("scf.yield"):
                yields = re.findall(_NAME, line.partition(" : ")[0])
            else:
                self.operation(line)

    def operation(self, line):
        match = re.match(rf"((?:{_NAME}(?::\d+)?(?:, )?)+) = (.*)", line)
        names, text = (self.result_names(match[1]), match[2]) if match else ([], line)
        name = re.match(r"[\w.]+", text)
        if name is None:
            self.refuse(f"cannot read {line!r}")
        name = name[0]
        rest = text[len(name):]
        if name == "scf.for":
            return self.loop(names, rest)
        if name == "scf.if":
            return self.branch(names, rest)
        if name == "pto.vecscope":
            with control.vecscope():
                self.block()
            return None
        attributes, rest = attributes_of(rest)
        operand_text, _, kinds = rest.partition(" : ")
        if "=" not in operand_text and " : " not in rest and rest.startswith(": "):
            operand_text, kinds = "", rest[2:]
        operands = [self.value(n) for n in re.findall(_NAME, operand_text)]
        dialect, _, short = name.partition(".")
        result_types = split_types(kinds.partition("->")[2]) if "->" in kinds else []
        method = getattr(self, "op_" + name.replace(".", "_"), None)
        if method is not None:
            result = method(operands, attributes, operand_text, kinds, result_types)
        elif dialect == "arith" or dialect == "math":
            result = self.arithmetic(short, operands, operand_text, kinds)
        elif name.startswith("pto.vmi."):
            result = self.vector(name[8:], operands)
        else:
            self.refuse(f"unknown operation {name}")
        self.define(names, result, result_types)
        return None

    @staticmethod
    def result_names(text):
        names = []
        for part in text.split(","):
            name, _, count = part.strip().partition(":")
            names += [f"{name}#{k}" for k in range(int(count))] if count else [name]
        return names

    def define(self, names, result, kinds):
        results = () if result is None else result if isinstance(result, tuple) else (result,)
        if len(names) != len(results):
            self.refuse(f"{len(names)} results are named, the operation has {len(results)}")
        for name, value, kind in zip(names, results, kinds or [None] * len(names)):
            if kind is not None and assembly.type_of(value) != kind:
                self.refuse(f"{name} is declared {kind}, the operation gives {assembly.type_of(value)}")
            self.values[name] = value

    # Control flow

    def loop(self, names, text):
        match = re.fullmatch(rf" ({_NAME}) = ({_NAME}) to ({_NAME}) step ({_NAME})(?: iter_args\((.*?)\) -> "
                             rf"\((.*)\))? \{{", text)
        if match is None:
            self.refuse(f"cannot read scf.for{text}")
        low, high, step = (self.value(match[k]) for k in (2, 3, 4))
        for bound in (low, high, step):
            if bound.dtype is not INDEX:
                self.refuse(f"bounds of scf.for are index, got {bound.dtype}")
        pairs = [p.split(" = ") for p in split_types(match[5])] if match[5] else []
        loop = control.Loop(low, high, step, None)
        keys = [f"c{k}" for k in range(len(pairs))]
        if pairs:
            loop.carry(**{key: self.value(initial) for key, (_, initial) in zip(keys, pairs)})
        with loop:
            self.values[match[1]] = loop.iv
            for key, (name, _) in zip(keys, pairs):
                self.values[name] = getattr(loop, key)
            yields, closing = self.block()
            if len(yields) != len(pairs):
                self.refuse(f"the loop carries {len(pairs)} values, scf.yield gives {len(yields)}")
            if pairs:
                loop.update(**{key: self.value(name) for key, name in zip(keys, yields)})
        hints, _ = attributes_of(closing[1:])
        if hints:
            unroll, factor = hints.get("pto.unroll"), hints.get("pto.unroll_factor")
            loop._op.attrs["hint"] = control.check_hints("scf.for", unroll, factor, self.trace)
        self.define(names, tuple(loop.final(key) for key in keys), [])

    def branch(self, names, text):
        match = re.fullmatch(rf" ({_NAME})(?: -> \((.*)\))? \{{", text)
        if match is None:
            self.refuse(f"cannot read scf.if{text}")
        keys = [f"r{k}" for k in range(len(names))]
        with control.if_(self.value(match[1])) as branch:
            closing = self.arm(branch, branch.then_, keys)
            if closing == "} else {":
                self.arm(branch, branch.else_, keys)
        self.define(names, tuple(getattr(branch, key) for key in keys), split_types(match[2] or ""))

    def arm(self, branch, arm, keys):
        with arm:
            yields, closing = self.block()
            if len(yields) != len(keys):
                self.refuse(f"scf.if has {len(keys)} results, scf.yield gives {len(yields)}")
            if keys:
                branch.assign(**{key: self.value(name) for key, name in zip(keys, yields)})
        return closing

    # Scalars

    def op_arith_constant(self, _operands, _attributes, text, kinds, _results):
        text = text.strip()
        if text in ("true", "false"):
            return make_constant(I1, int(text == "true"))
        dtype = scalar_type(kinds.strip())
        if dtype.kind in ("signed", "unsigned"):
            self.refuse(f"arith.constant makes signless integers, got {dtype}")
        if not dtype.is_float:
            return make_constant(dtype, wrap(int(text), dtype))
        if text.startswith("0x"):
            raw = int(text, 16)
            if dtype.name == "f16":
                return make_constant(dtype, float(np.uint16(raw).view(np.float16)))
            word = np.uint32(raw << 16 if dtype.name == "bf16" else raw)
            return make_constant(dtype, float(word.view(np.float32)))
        return make_constant(dtype, float(text))

    def op_builtin_unrealized_conversion_cast(self, operands, _attributes, _text, kinds, _results):
        target = scalar_type(kinds.split(" to ")[1].strip())
        source = operands[0]
        if source.dtype.bits != target.bits or not source.dtype.is_int or not target.is_int:
            self.refuse(f"unrealized_conversion_cast changes signedness only, got {source.dtype} to {target}")
        if source.const is not None:
            return make_constant(target, wrap(source.const, target))
        return emit_scalar("s.cast", [source], target)

    def retyped(self, value, kind):
        """The same bits as signed or unsigned."""
        if value.dtype is INDEX:
            return value
        target = BY_NAME[f"{kind}{value.dtype.bits}"]
        return value if value.dtype is target else emit_scalar("s.cast", [value], target)

    def arithmetic(self, short, operands, text, kinds):
        for value in operands:
            if not isinstance(value, Scalar):
                self.refuse(f"arith.{short} works on scalars, got {describe(value)}")
            if value.dtype.kind in ("signed", "unsigned"):
                self.refuse(f"arith.{short} takes signless integers, got {value.dtype}")
        first = operands[0]
        if short in ("cmpi", "cmpf"):
            return self.comparison(text.split(",")[0].strip(), operands)
        if short == "select":
            return emit_scalar("s.select", operands, operands[1].dtype)
        if short in _MATH:
            return emit_scalar(_MATH[short], operands, first.dtype)
        if short in _FLOAT or short in _INTEGER:
            if any(v.dtype is not first.dtype for v in operands) or (short in _FLOAT) != first.dtype.is_float:
                self.refuse(f"arith.{short} on {', '.join(str(v.dtype) for v in operands)}")
            name = _FLOAT.get(short) or _INTEGER[short]
            foldable = name[2:] in ("add", "sub", "mul", "floordiv", "rem")
            known = fold(name[2:], *operands, first.dtype) if foldable else None
            return emit_scalar(name, operands, first.dtype, known)
        if short in _UNSIGNED:
            unsigned = [self.retyped(v, "ui") for v in operands]
            return self.back(emit_scalar(_UNSIGNED[short], unsigned, unsigned[0].dtype))
        if " to " in kinds:
            return self.conversion(short, first, scalar_type(kinds.split(" to ")[1].strip()))
        return self.refuse(f"unknown operation arith.{short}")

    def back(self, value):
        return value if value.dtype is INDEX else emit_scalar("s.cast", [value], BY_NAME[f"i{value.dtype.bits}"])

    def comparison(self, predicate, operands):
        plain = predicate[1:] if predicate not in ("eq", "ne") else predicate
        if predicate[0] == "u" and not operands[0].dtype.is_float:
            operands = [self.retyped(v, "ui") for v in operands]
        return compare(plain, *operands)

    def conversion(self, short, value, target):
        if short in ("extui", "index_castui") and value.dtype is not I1:
            value = self.retyped(value, "ui")
        if short in ("sitofp", "uitofp"):
            return emit_scalar("s.from_int", [self.retyped(value, "ui") if short == "uitofp" else value], target)
        if short == "fptosi":
            return emit_scalar("s.to_int", [value], target)
        if short not in ("index_cast", "index_castui", "extsi", "extui", "trunci", "extf", "truncf"):
            self.refuse(f"unknown operation arith.{short}")
        if target is INDEX:
            return emit_scalar("index_cast", [value], INDEX, value.const)
        known = wrap(value.const, target) if value.const is not None and target.is_int else None
        return emit_scalar("s.cast", [value], target, known)

    # Pointers, moves, synchronisation

    def op_pto_castptr(self, operands, _attributes, _text, _kinds, results):
        return memory.castptr(operands[0], parse_type(results[0]))

    def op_pto_addptr(self, operands, *_):
        return memory.addptr(*operands)

    def op_pto_get_block_idx(self, *_):
        return memory.get_block_idx()

    def op_pto_get_block_num(self, *_):
        return memory.get_block_num()

    def op_pto_load_scalar(self, operands, *_):
        return memory.load(*operands)

    def op_pto_store_scalar(self, operands, *_):
        return memory.store(*operands)

    def move_parts(self, text):
        """The operands before nburst, the burst, the loops and the pad value."""
        head = [self.value(n) for n in re.findall(_NAME, re.split(r" nburst\(", text)[0])]
        groups = {}
        for word in ("nburst", "loop", "pad"):
            parts = re.findall(rf"{word}\(([^)]*)\)", text)
            groups[word] = [[self.value(n) for n in re.findall(_NAME, part)] for part in parts]
        if len(groups["nburst"]) != 1:
            self.refuse("a move has one nburst(count, source stride, destination stride)")
        pad = tuple(groups["pad"][0]) if groups["pad"] else None
        return head, tuple(groups["nburst"][0]), [tuple(g) for g in groups["loop"]] or None, pad

    def op_pto_mte_gm_ub(self, _operands, _attributes, text, *_):
        (gm, ub, cache, length), burst, loops, pad = self.move_parts(text)
        memory.mte_gm_ub(gm, ub, cache.const, length, nburst=burst, loops=loops, pad=pad)

    def op_pto_mte_ub_gm(self, _operands, _attributes, text, *_):
        (ub, gm, length), burst, loops, _ = self.move_parts(text)
        memory.mte_ub_gm(ub, gm, length, nburst=burst, loops=loops)

    def op_pto_mte_ub_ub(self, _operands, _attributes, text, *_):
        (source, target, length), burst, _, _ = self.move_parts(text)
        memory.mte_ub_ub(source, target, length, nburst=burst)

    def flag(self, operands, text, function):
        pipes = re.findall(r"<PIPE_(\w+)>", text)
        event = re.search(r"<EVENT_ID(\d+)>", text)
        if len(pipes) != 2 or not (event or operands):
            self.refuse(f"cannot read the flag {text.strip()!r}")
        function(*pipes, event_id=int(event[1]) if event else operands[0])

    def op_pto_set_flag(self, operands, _attributes, text, *_):
        self.flag(operands, text, memory.set_flag)

    def op_pto_wait_flag(self, operands, _attributes, text, *_):
        self.flag(operands, text, memory.wait_flag)

    def op_pto_barrier(self, _operands, _attributes, text, *_):
        if text.strip() != "<PIPE_ALL>":
            self.refuse(f"pto.barrier takes <PIPE_ALL>, got {text.strip()}")
        memory.pipe_barrier(memory.Pipe.ALL)

    def token(self, text, function):
        match = re.fullmatch(r"\s*\[<PIPE_(\w+)>, (\d+)\]", text)
        if match is None:
            self.refuse(f"cannot read the token {text.strip()!r}")
        function(match[1], int(match[2]))

    def op_pto_get_buf(self, _operands, _attributes, text, *_):
        self.token(text, memory.get_buf)

    def op_pto_rls_buf(self, _operands, _attributes, text, *_):
        self.token(text, memory.rls_buf)

    def op_pto_mem_bar(self, _operands, _attributes, text, *_):
        memory.mem_bar(getattr(memory.BarrierType, text.strip().strip('"')))

    # Vectors

    def lanes_of(self, kinds):
        match = re.fullmatch(r"!pto\.vmi\.(?:vreg|mask)<(\d+)x(\w+)>", kinds[0]) if kinds else None
        if match is None:
            self.refuse("the result type of a vector operation is missing")
        return int(match[1]), match[2]

    def op_pto_vmi_create_mask(self, operands, _attributes, _text, _kinds, results):
        return vmi.create_mask(operands[0], size=self.lanes_of(results)[0])

    def op_pto_vmi_create_group_mask(self, operands, attributes, _text, _kinds, results):
        lanes = self.lanes_of(results)[0]
        if attributes["num_groups"] * attributes["group_size"] != lanes:
            self.refuse(f"{attributes['num_groups']} groups of {attributes['group_size']} are not {lanes} lanes")
        return vmi.create_mask(operands[0], size=lanes, group=attributes["num_groups"])

    def op_pto_vmi_vload(self, operands, attributes, _text, _kinds, results):
        named = {"dist_mode": attributes.get("dist_mode"), "group": attributes.get("group")}
        if len(operands) == 3:
            named["stride"] = operands[2]
        return vmi.vload(*operands[:2], size=self.lanes_of(results)[0], **named)

    def op_pto_vmi_vstore(self, operands, attributes, *_):
        count = 2 if attributes.get("dist_mode") == "dintlv" else 1
        value = operands[0] if count == 1 else operands[:2]
        pointer, offset, *more = operands[count:]
        named = {"dist_mode": attributes.get("dist_mode")}
        if "group" in attributes:
            named.update(group=attributes["group"], stride=more.pop(0))
        if more:
            named["mask"] = more[0]
        vmi.vstore(value, pointer, offset, **named)

    def op_pto_vmi_vcmp(self, operands, attributes, *_):
        return vmi.vcmp(*operands, attributes.get("cmp"))

    def op_pto_vmi_vcmps(self, operands, attributes, *_):
        return vmi.vcmps(*operands, attributes.get("cmp"))

    def op_pto_vmi_vcvt(self, operands, attributes, _text, _kinds, results):
        target = scalar_type(self.lanes_of(results)[1])
        return vmi.convert(operands[0], target, attributes.get("rounding"), attributes.get("saturate"),
                           vmi.TEXT_CONVERSIONS)

    def op_pto_vmi_vinterpret_cast(self, operands, _attributes, _text, _kinds, results):
        return vmi.vinterpret_cast(operands[0], scalar_type(self.lanes_of(results)[1]))

    def op_pto_vmi_vbrc(self, operands, attributes, _text, _kinds, results):
        return vmi.vbrc(operands[0], size=self.lanes_of(results)[0], group=attributes.get("group"))

    def op_pto_vmi_vci(self, operands, attributes, _text, _kinds, results):
        return vmi.vci(operands[0], size=self.lanes_of(results)[0], order=attributes.get("order", "ASC"),
                       group=attributes.get("group"))

    def op_pto_vmi_vcadd(self, operands, attributes, *_):
        return vmi.vcadd(*operands, group=attributes.get("group"), reassoc=attributes.get("reassoc"))

    def op_pto_vmi_vcmax(self, operands, attributes, *_):
        return vmi.vcmax(*operands, group=attributes.get("group"))

    def op_pto_vmi_vcmin(self, operands, attributes, *_):
        return vmi.vcmin(*operands, group=attributes.get("group"))

    def vector(self, name, operands):
        """Operations whose operands are in the order of the PTODSL function."""
        if name in _SCALAR_FORMS:
            if isinstance(operands[1], Vector):
                self.refuse(f"pto.vmi.{name} takes a vector and a scalar")
            return vmi.arithmetic(_SCALAR_FORMS[name], operands[0], operands[1],
                                  operands[2] if len(operands) > 2 else None)
        if name not in vmi.EXPORTED or not callable(getattr(vmi, name)):
            self.refuse(f"unknown operation pto.vmi.{name}")
        if any(isinstance(v, Scalar) for v in operands[:2]) and name in vmi._BINARY_TYPES:
            self.refuse(f"the vector-scalar form is spelled pto.vmi.{name}s")
        try:
            return getattr(vmi, name)(*operands)
        except TypeError as error:
            return self.refuse(f"pto.vmi.{name}: {error}")
