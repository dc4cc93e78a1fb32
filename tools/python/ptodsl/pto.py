"""`ptodsl.pto` as documented: exactly these names, and no others."""

from ptosim import vmi as _vmi
from ptosim.control import for_, if_, range_ as range, static_range, vecscope
from ptosim.jit import const_expr, jit
from ptosim.memory import (BarrierType, Pipe, addptr, castptr, const, get_block_idx, get_block_num, get_buf, mem_bar,
                           mte_gm_ub, mte_load, mte_store, mte_ub_gm, mte_ub_ub, pipe_barrier, ptr, rls_buf, set_flag,
                           wait_flag)
from ptosim.physical import pset_b32, vldas, vldus, vsts
from ptosim.types import BY_NAME as _BY_NAME

globals().update(_BY_NAME)


class _Vmi:
    """`pto.vmi`."""

    def __init__(self):
        for name in _vmi.EXPORTED:
            setattr(self, name, getattr(_vmi, name))

    def __getattr__(self, name):
        raise AttributeError(f"pto.vmi has no {name!r}: the documented VMI operations do not contain it")


vmi = _Vmi()

__all__ = ["for_", "if_", "range", "static_range", "vecscope", "const_expr", "jit", "BarrierType", "Pipe", "addptr",
           "castptr", "const", "get_block_idx", "get_block_num", "get_buf", "mem_bar", "mte_gm_ub", "mte_load",
           "mte_store",
           "mte_ub_gm", "mte_ub_ub", "pipe_barrier", "pset_b32", "ptr", "rls_buf", "set_flag", "wait_flag",
           "vldas", "vldus", "vsts", "vmi", *_BY_NAME]


def __getattr__(name):
    raise AttributeError(f"pto has no {name!r}: the documented interface does not contain it")
