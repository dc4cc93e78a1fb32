"""The `.pto` text of a traced kernel (part 21), as `kernel.compile().mlir_text()` returns it.

Spelling follows the table of part 21. Where the table is silent (outer DMA loops, padding, flags with run-time events,
carried loops, …) the nearest form is used; docs/ptosim.md says which those are.
"""

from .errors import UsageError
from .ir import Mask, Vector
from .memory import PIPES
from .types import I1, INDEX
from .values import Pointer

_INTEGER_OPS = {"s.add": "addi", "s.sub": "subi", "s.mul": "muli", "s.and": "andi", "s.or": "ori", "s.xor": "xori"}
_FLOAT_OPS = {"s.add": "addf", "s.sub": "subf", "s.mul": "mulf", "s.div": "divf", "s.max": "maximumf",
              "s.min": "minimumf"}
_SIGNED_OPS = {"s.floordiv": "floordivsi", "s.rem": "remsi", "s.max": "maxsi", "s.min": "minsi"}
_UNSIGNED_OPS = {"s.floordiv": "divui", "s.rem": "remui", "s.max": "maxui", "s.min": "minui"}
_PREDICATE = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_MATH = {"s.exp": "exp", "s.log": "log", "s.sqrt": "sqrt"}
_WITH_MASK = ("vadds", "vmuls", "vmaxs", "vmins", "vshls", "vshrs", "vmula", "vaxpy", "vlrelu", "vprelu", "vexpdif",
              "vmull",
              "vaddc", "vaddcs", "vdhist", "vchist", "vintlv", "vdintlv")
_PLAIN = ("vadd", "vsub", "vmul", "vdiv", "vmax", "vmin", "vand", "vor", "vxor", "vshl", "vshr", "vnot", "vabs",
          "vneg", "vrelu",
          "vexp", "vln", "vsqrt", "vselr", "vsel") + _WITH_MASK


def type_of(value):
    if isinstance(value, Vector):
        return f"!pto.vmi.vreg<{value.lanes}x{value.dtype}>"
    if isinstance(value, Mask):
        return f"!pto.vmi.mask<{value.lanes}xpred>"
    if isinstance(value, Pointer):
        return f"!pto.ptr<{value.dtype}, {value.space}>"
    return value.dtype.name


def signless_name(dtype):
    return f"i{dtype.bits}" if dtype.is_int else dtype.name


class Writer:
    def __init__(self, trace):
        self.trace = trace
        self.lines = []
        self.indent = 3
        self.names = {}
        self.temporaries = 0

    def line(self, text):
        self.lines.append("  " * self.indent + text)

    def name(self, value):
        if value.id not in self.names:
            self.names[value.id] = f"%{len(self.names)}"
        return self.names[value.id]

    def temporary(self, text, kind):
        self.temporaries += 1
        name = f"%t{self.temporaries}"
        self.line(f"{name} = {text}")
        return name, kind

    def text(self):
        arguments = []
        for parameter, value in self.trace.parameters:
            self.names[value.id] = "%" + parameter
            arguments.append(f"%{parameter}: {type_of(value)}")
        self.block(self.trace.body)
        head = ['module attributes {pto.target_arch = "a5"} {',
                '  module attributes {pto.backend = "vpto", pto.kernel_kind = #pto.kernel_kind<vector>, '
                'pto.target_arch = "a5"} {',
                f"    func.func @{self.trace.name}({', '.join(arguments)}) attributes "
                "{pto.entry, pto.kernel_kind = #pto.kernel_kind<vector>} {"]
        return "\n".join(head + self.lines + ["      return", "    }", "  }", "}", ""])

    def block(self, block):
        for op in block.ops:
            method = getattr(self, "op_" + op.name.replace(".", "_"), None)
            if method is not None:
                method(op)
            elif op.name in _PLAIN:
                self.plain(op, "pto.vmi." + op.name)
            elif op.name.startswith("s."):
                self.scalar(op)
            else:
                raise UsageError(f"operation {op.name} of line {op.line} has no documented spelling in .pto text")

    def plain(self, op, name, attributes="", operands=None):
        operands = [a for a in (op.args if operands is None else operands) if a is not None]
        names = ", ".join(self.name(a) for a in operands)
        kinds = ", ".join(type_of(a) for a in operands)
        results = ", ".join(type_of(r) for r in op.results)
        left = ", ".join(self.name(r) for r in op.results)
        self.line(f"{left + ' = ' if left else ''}{name} {names}{attributes} : "
                  f"{kinds}{' -> ' + results if results else ''}")

    # Scalars

    def op_const(self, op):
        result = op.results[0]
        dtype, value = result.dtype, op.attrs["value"]
        if dtype is I1:
            self.line(f"{self.name(result)} = arith.constant {'true' if value else 'false'}")
            return
        if dtype.is_float:
            self.line(f"{self.name(result)} = arith.constant {self.float_text(value, dtype)} : {dtype}")
            return
        if dtype.kind in ("signed", "unsigned"):
            plain, kind = self.temporary(f"arith.constant {value} : i{dtype.bits}", f"i{dtype.bits}")
            self.line(f"{self.name(result)} = builtin.unrealized_conversion_cast {plain} : {kind} to {dtype}")
            return
        self.line(f"{self.name(result)} = arith.constant {value} : {dtype}")

    @staticmethod
    def float_text(value, dtype):
        """Finite f32 as decimal that reads back exactly, everything else by its bits."""
        from .dma import scalar_bytes
        if dtype.name == "f32" and value == value and abs(value) != float("inf"):
            return f"{float(value):.9e}"
        raw = scalar_bytes(dtype.numpy(value) if dtype.name != "bf16" else value, dtype)
        return "0x" + bytes(raw)[::-1].hex().upper()

    def signless(self, value):
        """Arithmetic of the `arith` dialect takes signless integers only."""
        if value.dtype.kind in ("signed", "unsigned"):
            return self.temporary(f"builtin.unrealized_conversion_cast {self.name(value)} : {value.dtype} to "
                                  f"i{value.dtype.bits}",
                                  f"i{value.dtype.bits}")[0]
        return self.name(value)

    def give(self, result, text):
        """Result of an `arith` operation in the type that the trace gave it."""
        if result.dtype.kind in ("signed", "unsigned"):
            plain, kind = self.temporary(text, signless_name(result.dtype))
            self.line(f"{self.name(result)} = builtin.unrealized_conversion_cast {plain} : {kind} to {result.dtype}")
        else:
            self.line(f"{self.name(result)} = {text}")

    def scalar(self, op):
        result = op.results[0]
        a = op.args[0]
        dtype = a.dtype
        if op.name in _MATH:
            self.give(result, f"math.{_MATH[op.name]} {self.name(a)} : {dtype}")
            return
        if dtype.is_float:
            word = _FLOAT_OPS[op.name]
        elif op.name in _INTEGER_OPS:
            word = _INTEGER_OPS[op.name]
        else:
            word = (_UNSIGNED_OPS if dtype.kind == "unsigned" else _SIGNED_OPS)[op.name]
        operands = ", ".join(self.signless(v) for v in op.args)
        self.give(result, f"arith.{word} {operands} : {signless_name(dtype)}")

    def op_s_abs(self, op):
        a = op.args[0]
        self.give(op.results[0], f"math.{'absf' if a.dtype.is_float else 'absi'} {self.signless(a)} : "
                                 f"{signless_name(a.dtype)}")

    def op_s_cmp(self, op):
        a, b = op.args
        word = _PREDICATE[op.attrs["predicate"]]
        if a.dtype.is_float:
            # Python's != is true for NaN, the other comparisons are ordered.
            word = "cmpf " + ("une" if word == "ne" else "o" + word)
        else:
            sign = "" if word in ("eq", "ne") else "u" if a.dtype.kind == "unsigned" else "s"
            word = f"cmpi {sign}{word}"
        self.give(op.results[0], f"arith.{word}, {self.signless(a)}, {self.signless(b)} : {signless_name(a.dtype)}")

    def op_s_select(self, op):
        c, a, b = op.args
        self.give(op.results[0], f"arith.select {self.name(c)}, {self.signless(a)}, {self.signless(b)} : "
                  f"{signless_name(a.dtype)}")

    def op_index_cast(self, op):
        self.convert(op.args[0], op.results[0])

    def op_s_cast(self, op):
        self.convert(op.args[0], op.results[0])

    def convert(self, a, result):
        source, target = a.dtype, result.dtype
        kinds = f"{signless_name(source)} to {signless_name(target)}"
        if source is INDEX or target is INDEX:
            word = "index_castui" if source.kind == "unsigned" else "index_cast"
        elif source.is_float:
            word = "extf" if target.bits > source.bits else "truncf"
        elif target.bits > source.bits:
            word = "extui" if source.kind == "unsigned" or source is I1 else "extsi"
        elif target.bits < source.bits:
            word = "trunci"
        else:
            self.give(result, f"builtin.unrealized_conversion_cast {self.signless(a)} : {kinds}")
            return
        self.give(result, f"arith.{word} {self.signless(a)} : {kinds}")

    def op_block_idx(self, op):
        self.line(f"{self.name(op.results[0])} = pto.get_block_idx : i64")

    def op_block_num(self, op):
        self.line(f"{self.name(op.results[0])} = pto.get_block_num : i64")

    def wide(self, value):
        """Lengths, counts and strides of moves are i64."""
        if value.dtype.bits == 64 and value.dtype is not INDEX:
            return self.signless(value)
        word = "index_cast" if value.dtype is INDEX else "extui" if value.dtype.kind == "unsigned" else "extsi"
        return self.temporary(f"arith.{word} {self.signless(value)} : {signless_name(value.dtype)} to i64", "i64")[0]

    def offset(self, value):
        if value.dtype is INDEX:
            return self.name(value)
        word = "index_castui" if value.dtype.kind == "unsigned" else "index_cast"
        return self.temporary(f"arith.{word} {self.signless(value)} : {signless_name(value.dtype)} to index",
                              "index")[0]

    # Memory and synchronisation

    def op_castptr(self, op):
        self.plain(op, "pto.castptr")

    def op_addptr(self, op):
        pointer, offset = op.args
        self.line(f"{self.name(op.results[0])} = pto.addptr {self.name(pointer)}, {self.offset(offset)} : "
                  f"{type_of(pointer)} -> "
                  f"{type_of(op.results[0])}")

    def move(self, op, pointers, lengths, burst, fill=None):
        words = [self.wide(v) for v in burst]
        text = f" nburst({', '.join(words[:3])})"
        for k in range(3, len(words), 3):
            text += f" loop({', '.join(words[k:k + 3])})"
        kinds = [type_of(p) for p in pointers] + ["i64"] * (len(lengths) + len(words))
        if fill is not None:
            text += f" pad({self.name(fill)})"
            kinds.append(type_of(fill))
        operands = ", ".join([self.name(p) for p in pointers] + lengths)
        self.line(f"pto.{op.name} {operands}{text} : {', '.join(kinds)}")

    def op_mte_gm_ub(self, op):
        gm, ub, length, fill = op.args[:4]
        zero = self.temporary("arith.constant 0 : i64", "i64")[0]
        self.move(op, [gm, ub], [zero, self.wide(length)], op.args[4:], fill)

    def op_mte_ub_gm(self, op):
        self.move(op, op.args[:2], [self.wide(op.args[2])], op.args[3:])

    def op_mte_ub_ub(self, op):
        self.move(op, op.args[:2], [self.wide(op.args[2])], op.args[3:])

    def flag(self, op):
        event = op.args[0]
        word = f"<EVENT_ID{event.const}>" if event.const is not None else self.offset(event)
        self.line(f"pto.{op.name}[<PIPE_{PIPES[op.attrs['src']]}>, <PIPE_{PIPES[op.attrs['dst']]}>, {word}]")

    op_set_flag = op_wait_flag = flag

    def op_pipe_barrier(self, _op):
        self.line("pto.barrier <PIPE_ALL>")

    def token(self, op):
        self.line(f"pto.{op.name} [<PIPE_{PIPES[op.attrs['pipe']]}>, {op.attrs['id']}]")

    op_get_buf = op_rls_buf = token

    def op_mem_bar(self, op):
        self.line(f"pto.mem_bar \"{op.attrs['kind']}\"")

    def op_scalar_load(self, op):
        pointer, offset = op.args
        self.line(f"{self.name(op.results[0])} = pto.load_scalar {self.name(pointer)}[{self.offset(offset)}] : "
                  f"{type_of(pointer)} "
                  f"-> {type_of(op.results[0])}")

    def op_scalar_store(self, op):
        value, pointer, offset = op.args
        self.line(f"pto.store_scalar {self.name(value)}, {self.name(pointer)}[{self.offset(offset)}] : "
                  f"{type_of(pointer)}, "
                  f"{type_of(value)}")

    # Vectors

    def op_create_mask(self, op):
        result, groups = op.results[0], op.attrs["groups"]
        n = self.offset(op.args[0])
        if groups == 1:
            self.line(f"{self.name(result)} = pto.vmi.create_mask {n} : index -> {type_of(result)}")
        else:
            self.line(f"{self.name(result)} = pto.vmi.create_group_mask {n} {{num_groups = {groups}, group_size = "
                      f"{result.lanes // groups}}} : index -> {type_of(result)}")

    def op_vload(self, op):
        pointer, offset = op.args
        form = op.attrs["form"]
        place = f"{self.name(pointer)}[{self.offset(offset)}]"
        attributes, kinds = "", type_of(pointer)
        if form in ("brc", "dintlv"):
            attributes = f" {{dist_mode = \"{form}\"}}"
        elif form in ("group", "slot", "group_brc"):
            stride = 1 if form == "group_brc" else op.attrs["stride"]
            step = self.temporary(f"arith.constant {stride} : index", "index")[0]
            mode = "dist_mode = \"brc\", " if form == "group_brc" else ""
            place += f", {step}"
            kinds += ", index"
            attributes = f" {{{mode}group = {op.attrs['group']}}}"
        left = ", ".join(self.name(r) for r in op.results)
        self.line(f"{left} = pto.vmi.vload {place}{attributes} : {kinds} -> "
                  f"{', '.join(type_of(r) for r in op.results)}")

    def op_vstore(self, op):
        form = op.attrs["form"]
        count = 2 if form == "dintlv" else 1
        values = op.args[:count]
        pointer, offset, mask = op.args[count:]
        text = ", ".join(self.name(v) for v in values) + f", {self.name(pointer)}[{self.offset(offset)}]"
        kinds = [type_of(v) for v in values] + [type_of(pointer)]
        attributes = " {dist_mode = \"dintlv\"}" if form == "dintlv" else ""
        if form == "group":
            text += ", " + self.temporary(f"arith.constant {op.attrs['stride']} : index", "index")[0]
            kinds.append("index")
            attributes = f" {{group = {op.attrs['group']}}}"
        if mask is not None:
            text += f", {self.name(mask)}"
            kinds.append(type_of(mask))
        self.line(f"pto.vmi.vstore {text}{attributes} : {', '.join(kinds)}")

    def op_vsstb(self, op):
        value, pointer, offset, stride, mask = op.args
        self.line(f"pto.vmi.vsstb {self.name(value)}, {self.name(pointer)}[{self.offset(offset)}], "
                  f"{self.offset(stride)}, "
                  f"{self.name(mask)} : {type_of(value)}, {type_of(pointer)}, index, {type_of(mask)}")

    def op_mand(self, op):
        self.plain(op, "pto.vmi.vand")

    def op_mor(self, op):
        self.plain(op, "pto.vmi.vor")

    def op_mxor(self, op):
        self.plain(op, "pto.vmi.vxor")

    def op_mnot(self, op):
        self.plain(op, "pto.vmi.vnot")

    def compare(self, op):
        self.plain(op, "pto.vmi." + op.name, f" {{cmp = \"{op.attrs['predicate']}\"}}")

    op_vcmp = op_vcmps = compare

    def op_vcvt(self, op):
        words = [f"{key} = \"{op.attrs[key]}\"" for key in ("rounding", "saturate") if op.attrs[key]]
        self.plain(op, "pto.vmi.vcvt", f" {{{', '.join(words)}}}" if words else "")

    def op_vinterpret_cast(self, op):
        self.plain(op, "pto.vmi.vinterpret_cast")

    def op_vbrc(self, op):
        self.plain(op, "pto.vmi.vbrc", f" {{group = {op.attrs['group']}}}" if op.attrs["form"] == "group" else "")

    def op_vci(self, op):
        result, base = op.results[0], op.args[0]
        words = [] if op.attrs["order"] == "ASC" else ["order = \"DESC\""]
        words += [f"group = {op.attrs['group']}"] if op.attrs["group"] != 1 else []
        operand, kind = self.name(base), type_of(base)
        if base.dtype is INDEX:
            operand, kind = self.temporary(f"arith.index_cast {operand} : index to i32", "i32")
        self.line(f"{self.name(result)} = pto.vmi.vci {operand}{' {' + ', '.join(words) + '}' if words else ''} : "
                  f"{kind} -> "
                  f"{type_of(result)}")

    def reduction(self, op):
        words = [f"group = {op.attrs['group']}"] if op.attrs["group"] != 1 else []
        words += ["reassoc"] if op.name == "vcadd" else []
        self.plain(op, "pto.vmi." + op.name, f" {{{', '.join(words)}}}" if words else "")

    op_vcadd = op_vcmax = op_vcmin = reduction

    def op_vgather(self, op):
        pointer, offsets, mask = op.args
        self.line(f"{self.name(op.results[0])} = pto.vmi.vgather {self.name(pointer)}[{self.name(offsets)}], "
                  f"{self.name(mask)} : "
                  f"{type_of(pointer)}, {type_of(offsets)}, {type_of(mask)} -> {type_of(op.results[0])}")

    def op_vscatter(self, op):
        value, pointer, offsets, mask = op.args
        self.line(f"pto.vmi.vscatter {self.name(value)}, {self.name(pointer)}[{self.name(offsets)}], "
                  f"{self.name(mask)} : "
                  f"{type_of(value)}, {type_of(pointer)}, {type_of(offsets)}, {type_of(mask)}")

    # Control flow

    def nested(self, block, yields=True):
        self.indent += 1
        self.block(block)
        if block.yields and yields:
            self.line(f"scf.yield {', '.join(self.name(v) for v in block.yields)} : "
                      f"{', '.join(type_of(v) for v in block.yields)}")
        self.indent -= 1

    def op_for(self, op):
        low, high, step = (self.offset(v) for v in op.args[:3])
        block = op.regions[0]
        carried = block.arguments[1:]
        text = f"scf.for {self.name(block.arguments[0])} = {low} to {high} step {step}"
        if carried:
            pairs = ", ".join(f"{self.name(a)} = {self.name(v)}" for a, v in zip(carried, op.args[3:]))
            text = f"{', '.join(self.name(r) for r in op.results)} = {text} iter_args({pairs}) -> " \
                   f"({', '.join(type_of(a) for a in carried)})"
        self.line(text + " {")
        self.nested(block)
        hint = op.attrs["hint"]
        words = ""
        if hint is not None:
            text = f"pto.unroll = \"{hint}\"" if isinstance(hint, str) else f"pto.unroll_factor = {hint} : i32"
            words = " {" + text + "}"
        self.line("}" + words)

    def op_if(self, op):
        left = f"{', '.join(self.name(r) for r in op.results)} = " if op.results else ""
        kinds = f" -> ({', '.join(type_of(r) for r in op.results)})" if op.results else ""
        self.line(f"{left}scf.if {self.name(op.args[0])}{kinds} {{")
        self.nested(op.regions[0])
        if op.regions[1].ops or op.results:
            self.line("} else {")
            self.nested(op.regions[1])
        self.line("}")

    def op_vecscope(self, op):
        self.line("pto.vecscope {")
        self.nested(op.regions[0])
        self.line("}")

    def op_call(self, _op):
        """Helpers are traced in place."""


def mlir_text(trace):
    return Writer(trace).text()
