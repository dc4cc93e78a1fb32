"""Launches: a traced kernel, verified and compiled, runs block after block on numpy arrays."""

import numpy as np

from . import assembly, report, verify
from .compile import Compiler
from .errors import PtoError, UsageError
from .machine import GlobalBuffer, Machine, track
from .types import I1, PointerType
from .values import constant_value, wrap

_machine = None


def machine():
    """One core per process, because its memory and the state of every byte take some time to set up."""
    global _machine
    if _machine is None:
        _machine = Machine()
    return _machine


class Launch:
    """What one launch did. The report costs as much as a small launch, so it is made on request."""

    def __init__(self, compiled, blocks, counts, statistics, high_water, buffers):
        self.compiled = compiled
        self.buffers = buffers
        self.blocks = blocks
        self.counts = counts
        self.statistics = statistics
        self.high_water = high_water
        self.redundant_sync = None

    def report(self):
        return report.make(self.compiled, self)


class Compiled:
    """A kernel with its constants bound: traced and verified once, launched any number of times."""

    def __init__(self, kernel, constants, options):
        self.kernel = kernel
        self.options = options
        self.trace = kernel.trace(constants, options)
        try:
            self.facts = verify.verify(self.trace)
            compiler = Compiler(self.trace, machine(), options.fused)
            self.function, self.source = compiler.build()
        except PtoError as error:
            error.file = error.file or kernel.file
            raise
        self.blocks = compiler.blocks
        self.gm_access = compiler.gm_access
        self.last = None

    @property
    def report(self):
        """The report of the last launch."""
        return self.last.report()

    def mlir_text(self):
        """The traced module as `.pto` text."""
        return assembly.mlir_text(self.trace)

    def verify(self):
        """Verification happened when the kernel was compiled."""
        return True

    def __getitem__(self, grid):
        blocks = grid[0] if isinstance(grid, tuple) else grid

        def launch(*args):
            self.launch(blocks, args)
        return launch

    def argument(self, name, kind, value):
        if isinstance(kind, PointerType):
            if isinstance(value, GlobalBuffer):
                return value
            if not isinstance(value, np.ndarray):
                raise UsageError(f"argument {name} of {self.kernel.name} is a pointer: pass a numpy array")
            if not value.flags.c_contiguous:
                raise UsageError(f"argument {name} of {self.kernel.name}: the array must be contiguous")
            return GlobalBuffer(name, value.reshape(-1).view(np.uint8))
        if isinstance(value, np.generic):
            value = value.item()
        if kind is I1 and isinstance(value, bool):
            value = int(value)
        if kind.is_int and isinstance(value, int):
            # The host passes bits: 200 for an si8 is a mistake, 0x80000000 for a signless i32 is not.
            low = -(1 << (kind.bits - 1))
            high = (1 << kind.bits) - 1 if kind.kind != "signed" else -low - 1
            if not (0 if kind.kind == "unsigned" else low) <= value <= high:
                raise UsageError(f"argument {name} of {self.kernel.name}: {value} does not fit {kind}")
            return wrap(value, kind)
        try:
            number = constant_value(kind, value, f"argument {name} of {self.kernel.name}")
        except PtoError as error:
            raise UsageError(error.message) from None
        if kind.is_float:
            return np.float32(number) if kind.name == "bf16" else kind.numpy(number)
        return number

    def launch(self, blocks, args, ub_map=None):
        """Runs the grid and returns what happened."""
        kernel = self.kernel
        if len(args) != len(kernel.parameters):
            raise UsageError(f"{kernel.name} takes {len(kernel.parameters)} arguments, got {len(args)}")
        if isinstance(blocks, bool) or not isinstance(blocks, int) or blocks < 1:
            raise UsageError(f"{kernel.name}: the number of blocks must be a positive integer, got {blocks!r}")
        values = [self.argument(name, kind, value) for (name, kind), value in zip(kernel.parameters, args)]
        numbers = [k for k, value in enumerate(values) if isinstance(value, GlobalBuffer)]
        buffers = [values[k] for k in numbers]
        track(buffers, [self.gm_access.get(k, set()) for k in numbers], blocks)
        core = machine()
        counts = [0] * len(self.blocks)
        block = None
        try:
            core.start_launch(ub_map)
            with np.errstate(all="ignore"):
                for block in range(blocks):
                    core.start_block(block)
                    self.function(block, blocks, counts, *values)
                    core.end_block()
        except PtoError as error:
            error.file = error.file or kernel.file
            if blocks > 1 and error.block is None:
                error.block = block
            raise
        self.last = Launch(self, blocks, counts, dict(core.statistics), core.high_water,
                           [values[k] for k in numbers if "write" in self.gm_access.get(k, ())])
        return self.last
