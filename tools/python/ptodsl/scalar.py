"""`ptodsl.scalar` as documented: exactly these names, and no others."""

from ptosim.scalars import abs, cast, exp, index_cast, load, log, max, min, select, sqrt, store

__all__ = ["abs", "cast", "exp", "index_cast", "load", "log", "max", "min", "select", "sqrt", "store"]


def __getattr__(name):
    raise AttributeError(f"scalar has no {name!r}: the documented interface does not contain it")
