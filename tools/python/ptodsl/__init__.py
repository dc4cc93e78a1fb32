"""The names a kernel file imports: `from ptodsl import pto, scalar`. Served by the emulator `ptosim`."""

from . import pto, scalar

__all__ = ["pto", "scalar"]
