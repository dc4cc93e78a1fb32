"""Execution of the moves between GM and UB (part 4), and of single scalar accesses (parts 3 and 17)."""

import numpy as np

from .errors import AlignmentError, BoundsError
from .machine import COPY, MTE2, MTE3, S

LEN_MAX = (1 << 16) - 1
COUNT_MAX = (1 << 16) - 1
LOOP_MAX = (1 << 21) - 1
GM_STRIDE_MAX = (1 << 40) - 1
UB_STRIDE_MAX = (1 << 21) - 1


def check_field(value, limit, name, bits, what, line):
    if not 0 <= value <= limit:
        hint = "; split longer rows into several bursts" if name == "len" else ""
        raise BoundsError(f"{what}: {name} = {value} does not fit its field of {bits} bits{hint}", line)


def rows_of(burst, loops, what, line, source_is_gm):
    """Byte offsets (source, destination) of all rows, in the order the engine moves them."""
    def check(count, source, destination, limit, bits, which):
        check_field(count, limit, f"{which} count", bits, what, line)
        for value, is_gm, side in ((source, source_is_gm, "source"), (destination, not source_is_gm, "destination")):
            if is_gm:
                check_field(value, GM_STRIDE_MAX, f"{which} {side} stride", 40, what, line)
            else:
                check_field(value, UB_STRIDE_MAX, f"{which} {side} stride", 21, what, line)
                if value % 32:
                    raise AlignmentError(f"{what}: {which} {side} stride {value} in UB is not a multiple of 32 bytes",
                                         line)

    check(*burst, COUNT_MAX, 16, "nburst")
    count, source, destination = burst
    rows = [(i * source, i * destination) for i in range(count)]
    for count, source, destination in loops:
        check(count, source, destination, LOOP_MAX, 21, "loop")
        rows = [(i * source + s, i * destination + d) for i in range(count) for s, d in rows]
    return rows


def triples(flat):
    return [flat[i:i + 3] for i in range(0, len(flat), 3)]


def check_ub_address(address, what, line):
    if address % 32:
        raise AlignmentError(f"{what}: UB address {address} is not a multiple of 32 bytes", line)


def make_mte_gm_ub(machine, line, element_bytes):
    what = "mte_gm_ub"

    def move(gm, gm_address, ub_address, fill, length, count, source_stride, destination_stride, *loops):
        check_ub_address(ub_address, what, line)
        check_field(length, LEN_MAX, "len", 16, what, line)
        rows = rows_of((count, source_stride, destination_stride), triples(loops), what, line, True)
        if not rows or not length:
            return
        if not loops and source_stride == length == destination_stride and length % 32 == 0:
            length, rows = length * count, [(0, 0)]
        low = ub_address + min(d for _, d in rows)
        padded = (length + 31) // 32 * 32
        high = ub_address + max(d for _, d in rows) + padded
        machine.check_ub(low, high, line, what)
        first = gm_address + min(s for s, _ in rows)
        last = gm_address + max(s for s, _ in rows) + length
        machine.check_gm(gm, first, last, False, line, what)
        if fill is not None and (padded - length) % element_bytes:
            raise BoundsError(f"{what}: len {length} with pad is not a whole number of elements", line)
        pad = None if fill is None else np.frombuffer(fill * ((padded - length) // element_bytes), np.uint8)
        # Rows that leave gaps in UB touch only their own bytes; the check of the whole span is the cheap first try.
        ub, defined, shadow = machine.bytes, machine.defined, machine.shadow
        ones, zeros = b"\1" * length, bytes(padded - length)
        base = gm.offset + gm_address
        for source, destination in rows:
            start = ub_address + destination
            end = start + padded
            machine.check(shadow, MTE2, start, end, True, line, what, "UB")
            shadow.note(MTE2, start, end, machine.epoch[MTE2], True)
            machine.read_gm(gm, gm_address + source, gm_address + source + length, MTE2, line, what)
            ub[start:start + length] = gm.data[base + source:base + source + length]
            defined[start:start + length] = ones
            if padded > length:
                machine.origin[start + length:end] = 0
                if pad is None:
                    defined[start + length:end] = zeros
                else:
                    ub[start + length:end] = pad
                    defined[start + length:end] = b"\1" * (padded - length)
        machine.dma_log.append((MTE2, low, high, line))
        machine.statistics["dma_in_bytes"] += length * len(rows)
        machine.statistics["dma_in_bursts"] += len(rows)
    return move


def make_mte_ub_gm(machine, line):
    what = "mte_ub_gm"

    def move(ub_address, gm, gm_address, length, count, source_stride, destination_stride, *loops):
        check_ub_address(ub_address, what, line)
        check_field(length, LEN_MAX, "len", 16, what, line)
        rows = rows_of((count, source_stride, destination_stride), triples(loops), what, line, False)
        if not rows or not length:
            return
        if not loops and source_stride == length == destination_stride:
            length, rows = length * count, [(0, 0)]
        low = ub_address + min(s for s, _ in rows)
        high = ub_address + max(s for s, _ in rows) + length
        machine.check_ub(low, high, line, what)
        first = gm_address + min(d for _, d in rows)
        last = gm_address + max(d for _, d in rows) + length
        machine.check_gm(gm, first, last, True, line, what)
        ub, defined, shadow = machine.bytes, machine.defined, machine.shadow
        for source, destination in rows:
            start = ub_address + source
            end = start + length
            machine.check(shadow, MTE3, start, end, False, line, what, "UB")
            shadow.note(MTE3, start, end, machine.epoch[MTE3], False)
            if defined.find(0, start, end) >= 0:
                machine.fail_poison(start, end, what, line)
            machine.write_gm(gm, gm_address + destination, ub[start:end], MTE3, line, what)
        machine.dma_log.append((MTE3, low, high, line))
        machine.statistics["dma_out_bytes"] += length * len(rows)
        machine.statistics["dma_out_bursts"] += len(rows)
    return move


def make_mte_ub_ub(machine, line):
    what = "mte_ub_ub"

    def move(source, destination, length32, count, source_gap, destination_gap):
        check_ub_address(source, what, line)
        check_ub_address(destination, what, line)
        for value, name in ((length32, "len"), (count, "count"), (source_gap, "source gap"),
                            (destination_gap, "destination gap")):
            check_field(value, COUNT_MAX, name, 16, what, line)
        length = length32 * 32
        for row in range(count):
            start = source + row * (length + source_gap * 32)
            target = destination + row * (length + destination_gap * 32)
            machine.check_ub(start, start + length, line, what)
            machine.check_ub(target, target + length, line, what)
            machine.check(machine.shadow, COPY, start, start + length, False, line, what, "UB")
            machine.check(machine.shadow, COPY, target, target + length, True, line, what, "UB")
            machine.shadow.note(COPY, start, start + length, machine.epoch[COPY], False)
            machine.shadow.note(COPY, target, target + length, machine.epoch[COPY], True)
            machine.bytes[target:target + length] = machine.bytes[start:start + length].copy()
            machine.defined[target:target + length] = machine.defined[start:start + length]
            machine.origin[target:target + length] = machine.origin[start:start + length].copy()
        machine.statistics["dma_ub_bytes"] += length * count
    return move


def to_python(value, dtype):
    """A scalar as the generated code keeps it: int for integers (signless is signed), numpy float32 for floats."""
    if dtype.kind == "signless":
        value = int(value)
        return value - (1 << dtype.bits) if value >> (dtype.bits - 1) else value
    if dtype.is_int:
        return int(value)
    if dtype.name == "bf16":
        return np.uint32(int(value) << 16).view(np.float32)
    return value


def make_scalar_load(machine, dtype, space, line):
    what = "scalar.load"
    width = dtype.bytes

    def load_ub(address):
        if address % width:
            machine.misaligned(address, width, line, what)
        end = address + width
        machine.check_ub(address, end, line, what)
        machine.check(machine.shadow, S, address, end, False, line, what, "UB")
        machine.shadow.note(S, address, end, machine.epoch[S], False)
        if machine.defined.find(0, address, end) >= 0:
            machine.fail_poison(address, end, what, line)
        return to_python(machine.views[dtype.numpy][address // width], dtype)

    def load_gm(gm, address):
        if address % width:
            raise AlignmentError(f"{what}: GM byte offset {address} is not a multiple of {width}", line)
        machine.check_gm(gm, address, address + width, False, line, what)
        machine.read_gm(gm, address, address + width, S, line, what)
        start = gm.offset + address
        return to_python(gm.data[start:start + width].view(dtype.numpy)[0], dtype)

    return load_ub if space == "ub" else load_gm


def scalar_bytes(value, dtype):
    """Memory form of a scalar."""
    if dtype.name == "bf16":
        return (np.array([value], np.float32).view(np.uint32) >> 16).astype(np.uint16).view(np.uint8)
    if dtype.is_int:
        return np.frombuffer(int(value & ((1 << dtype.bits) - 1)).to_bytes(dtype.bytes, "little"), np.uint8)
    return np.array([value], dtype.numpy).view(np.uint8)


def make_scalar_store(machine, dtype, space, line):
    what = "scalar.store"
    width = dtype.bytes

    def store_ub(value, address):
        if address % width:
            machine.misaligned(address, width, line, what)
        end = address + width
        machine.check_ub(address, end, line, what)
        machine.check(machine.shadow, S, address, end, True, line, what, "UB")
        machine.shadow.note(S, address, end, machine.epoch[S], True)
        machine.bytes[address:end] = scalar_bytes(value, dtype)
        machine.defined[address:end] = b"\1" * width

    def store_gm(value, gm, address):
        if address % width:
            raise AlignmentError(f"{what}: GM byte offset {address} is not a multiple of {width}", line)
        machine.check_gm(gm, address, address + width, True, line, what)
        machine.write_gm(gm, address, scalar_bytes(value, dtype), S, line, what)

    return store_ub if space == "ub" else store_gm
