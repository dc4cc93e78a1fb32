"""Execution of vector loads, stores, gathers and scatters (parts 9 and 15).

Each `make_…` returns a function for one operation of a kernel. A vector is an array of its lanes and, beside it, None
or an array that holds for each poisoned lane the line where the poison came from (0: a good lane).
"""

import numpy as np

from .errors import AlignmentError, BoundsError, PoisonError
from .machine import UB_CAPACITY, V

_ONES = b"\1" * 8192


def cross_check(machine, start, end, write, line, what):
    machine.check(machine.shadow, V, start, end, write, line, what, "UB")


def gather_poison(machine, start, end, width, line):
    """Lines of origin for the lanes of bytes [start, end)."""
    good = machine.defined_view[start:end].reshape(-1, width).all(axis=1)
    origin = machine.origin[start:end].reshape(-1, width).max(axis=1)
    return np.where(good, 0, np.where(origin > 0, origin, line)).astype(np.int32)


def make_span_reader(machine, dtype, count, alignment, line):
    """Reads `count` elements at an address; the building block of all loads."""
    width = dtype.bytes
    size = count * width
    view = machine.views[dtype.numpy]
    shadow, load_ends = machine.shadow, machine.load_ends
    defined, v_stored, v_loaded, v_reads = machine.defined, machine.v_stored, machine.v_loaded, machine.v_reads
    writes = shadow.last_write
    ones = _ONES[:size]
    low_bits = alignment - 1
    what = "vload"

    def read(address):
        end = address + size
        if address & low_bits:
            machine.misaligned(address, alignment, line, what)
        if not 0 <= address < UB_CAPACITY or end > machine.reach[address >> 5]:
            machine.bad_ub(address, end, line, what)
        if end > machine.high_water:
            machine.high_water = end
        known = machine.known[V]
        if writes[0] > known[0] or writes[3] > known[3] or writes[4] > known[4]:
            cross_check(machine, address, end, False, line, what)
        if machine.v_any_stored and v_stored.find(1, address, end) >= 0:
            machine.fail_stored(address, end, line)
        machine.load_lines[address >> 5] = line
        v_reads[address:end] = ones
        v_loaded[address:end] = ones
        if load_ends[address] < machine.load_generation + end:
            load_ends[address] = machine.load_generation + end
        machine.v_read = machine.v_any_loaded = True
        first = address // width
        data = view[first:first + count].copy()
        if defined.find(0, address, end) < 0:
            return data, None
        return data, gather_poison(machine, address, end, width, line)
    return read


def make_vload(machine, op, dtype, lanes):
    form = op.attrs["form"]
    line = op.line
    width = dtype.bytes
    if form == "dense":
        return make_span_reader(machine, dtype, lanes, width if lanes == 1 else 32, line)
    if form == "brc":
        read_one = make_span_reader(machine, dtype, 1, width, line)

        def load_broadcast(address):
            data, poison = read_one(address)
            return np.repeat(data, lanes), None if poison is None else np.repeat(poison, lanes)
        return load_broadcast
    if form == "dintlv":
        read_both = make_span_reader(machine, dtype, 2 * lanes, 32, line)

        def load_parity(address):
            data, poison = read_both(address)
            if poison is None:
                return data[::2].copy(), None, data[1::2].copy(), None
            return data[::2].copy(), poison[::2], data[1::2].copy(), poison[1::2]
        return load_parity
    group = op.attrs["group"]
    if form == "group_brc":
        read_some = make_span_reader(machine, dtype, group, width, line)

        def load_group_broadcast(address):
            if dtype.name == "bf16" and address & 31:
                raise AlignmentError(f"vload: grouped broadcast of bf16 from UB address {address}: bases that are no "
                                     f"multiple of "
                                     "32 bytes give wrong data (9.1)", line)
            data, poison = read_some(address)
            return np.repeat(data, lanes // group), None if poison is None else np.repeat(poison, lanes // group)
        return load_group_broadcast
    row = lanes // group
    step = op.attrs["stride"] * width
    read_row = make_span_reader(machine, dtype, row, 32 if form == "group" else width, line)

    def load_rows(address):
        if address & 31:
            machine.misaligned(address, 32, line, "vload")
        parts = [read_row(address + g * step) for g in range(group)]
        data = np.concatenate([p[0] for p in parts])
        if all(p[1] is None for p in parts):
            return data, None
        return data, np.concatenate([np.zeros(row, np.int32) if p[1] is None else p[1] for p in parts])
    return load_rows


def make_vldus(machine, op, dtype, lanes):
    read = make_span_reader(machine, dtype, lanes, dtype.bytes, op.line)

    def load_unaligned(address, prepared):
        if address != prepared:
            raise AlignmentError(f"vldus from UB address {address}, but the alignment state was made for {prepared}",
                                 op.line)
        data, poison = read(address)
        return data, poison, address + lanes * dtype.bytes
    return load_unaligned


def make_span_writer(machine, dtype, count, alignment, line, what="vstore"):
    """Writes `count` consecutive lanes, those of a mask only; the building block of all stores."""
    width = dtype.bytes
    size = count * width
    view = machine.views[dtype.numpy]
    shadow = machine.shadow
    defined, v_stored, v_loaded, v_writes = machine.defined, machine.v_stored, machine.v_loaded, machine.v_writes
    writes, reads = shadow.last_write, shadow.last_read
    low_bits = alignment - 1
    ones = _ONES[:size]
    full = np.ones(count, bool)

    def write(data, poison, address, mask=None, mask_poison=None):
        if address & low_bits:
            machine.misaligned(address, alignment, line, what)
        if mask_poison is not None and mask_poison.any():
            raise PoisonError(f"{what}: the mask depends on undefined data from line {int(mask_poison.max())}", line)
        if mask is not None:
            active = int(np.count_nonzero(mask))
            if active == 0:
                return
            if active == count:
                mask = None
        if mask is None:
            last = count
        else:
            last = count - int(mask[::-1].argmax())
        end = address + last * width
        if not 0 <= address < UB_CAPACITY or end > machine.reach[address >> 5]:
            machine.bad_ub(address, end, line, what)
        if end > machine.high_water:
            machine.high_water = end
        known = machine.known[V]
        if (writes[0] > known[0] or writes[3] > known[3] or writes[4] > known[4] or reads[2] > known[2]
                or reads[3] > known[3] or reads[4] > known[4]):
            cross_check(machine, address, end, True, line, what)
        if machine.v_any_loaded and v_loaded.find(1, address, end) >= 0:
            machine.check_overwrite(address, end, line)
        machine.v_wrote = machine.v_any_stored = True
        machine.store_lines[address >> 5] = line
        if machine.watched_stores is not None:
            machine.watch_store(address, end, line)
        first = address // width
        if mask is None:
            view[first:first + count] = data
            v_stored[address:end] = ones
            v_writes[address:end] = ones
            defined[address:end] = ones
            if poison is not None:
                mark_poison(machine, address, count, width, poison, full)
            return
        np.copyto(view[first:first + last], data[:last], where=mask[:last])
        touched = np.repeat(mask[:last], width) if width > 1 else mask[:last]
        for flags in (machine.defined_view, machine.v_writes_view):
            flags[address:end] |= touched
        machine.v_stored_view[address:end] |= touched
        if poison is not None:
            mark_poison(machine, address, last, width, poison[:last], mask[:last])
    return write


def mark_poison(machine, address, count, width, poison, mask):
    bad = (poison != 0) & mask
    if bad.any():
        end = address + count * width
        wide = np.repeat(bad, width)
        machine.defined_view[address:end][wide] = 0
        machine.origin[address:end][wide] = np.repeat(poison, width)[wide]


def make_vstore(machine, op, dtype, lanes):
    form = op.attrs["form"]
    width = dtype.bytes
    if form == "dense":
        return make_span_writer(machine, dtype, lanes, width if lanes == 1 else 32, op.line)
    if form == "dintlv":
        write_both = make_span_writer(machine, dtype, 2 * lanes, 32, op.line)

        def store_parity(even, even_poison, odd, odd_poison, address):
            data = np.empty(2 * lanes, even.dtype)
            data[::2], data[1::2] = even, odd
            poison = None
            if even_poison is not None or odd_poison is not None:
                poison = np.zeros(2 * lanes, np.int32)
                poison[::2] = 0 if even_poison is None else even_poison
                poison[1::2] = 0 if odd_poison is None else odd_poison
            write_both(data, poison, address)
        return store_parity
    group = op.attrs["group"]
    row = lanes // group
    step = op.attrs["stride"] * width
    write_row = make_span_writer(machine, dtype, row, 32, op.line)

    def store_rows(data, poison, address, _mask=None, _mask_poison=None):
        for g in range(group):
            part = slice(g * row, (g + 1) * row)
            write_row(data[part], None if poison is None else poison[part], address + g * step)
    return store_rows


def make_vsstb(machine, op, dtype, lanes):
    row = 32 // dtype.bytes
    write_block = make_span_writer(machine, dtype, row, 32, op.line, "vsstb")

    def store_blocks(data, poison, address, block_stride, mask, mask_poison):
        for g in range(lanes // row):
            part = slice(g * row, (g + 1) * row)
            write_block(data[part], None if poison is None else poison[part], address + g * block_stride * 32,
                        mask[part],
                        None if mask_poison is None else mask_poison[part])
    return store_blocks


def active_addresses(machine, base, offsets, offset_poison, mask, mask_poison, width, line, what):
    """Lane numbers and byte addresses of the active lanes, checked."""
    if base % width:
        machine.misaligned(base, width, line, what)
    if mask_poison is not None and mask_poison.any():
        raise PoisonError(f"{what}: the mask depends on undefined data from line {int(mask_poison.max())}", line)
    lanes = np.flatnonzero(mask)
    if offset_poison is not None and offset_poison[lanes].any():
        raise PoisonError(f"{what}: an active lane has an undefined offset, from line "
                          f"{int(offset_poison[lanes].max())}",
                          line)
    addresses = base + offsets[lanes].astype(np.int64) * width
    if lanes.size:
        low, high = int(addresses.min()), int(addresses.max()) + width
        if low < 0 or high > UB_CAPACITY:
            raise BoundsError(f"{what}: UB bytes [{low}, {high}) are outside [0, {UB_CAPACITY})", line)
        end = high if high <= machine.reach[base >> 5] else None
        if end is None:
            machine.bad_ub(low, high, line, what)
        if high > machine.high_water:
            machine.high_water = high
    return lanes, addresses


def make_vgather(machine, op, dtype, lanes):
    width = dtype.bytes
    line = op.line
    view = machine.views[dtype.numpy]
    what = "vgather"

    def gather(base, offsets, offset_poison, mask, mask_poison):
        active, addresses = active_addresses(machine, base, offsets, offset_poison, mask, mask_poison, width, line,
                                             what)
        data = np.zeros(lanes, dtype.numpy)
        if not active.size:
            return data, None
        low, high = int(addresses.min()), int(addresses.max()) + width
        cross_check_lanes(machine, addresses, width, low, high, False, line, what)
        touched = (addresses[:, None] + np.arange(width)).ravel()
        if machine.v_any_stored and machine.v_stored_view[touched].any():
            machine.fail_stored(low, high, line)
        machine.v_reads_view[touched] = 1
        machine.v_loaded_view[touched] = 1
        ends = machine.load_generation + addresses + width
        machine.load_ends[addresses] = np.maximum(machine.load_ends[addresses], ends)
        machine.v_read = machine.v_any_loaded = True
        data[active] = view[addresses // width]
        good = machine.defined_view[touched].reshape(-1, width).all(axis=1)
        if good.all():
            return data, None
        poison = np.zeros(lanes, np.int32)
        poison[active[~good]] = line
        return data, poison
    return gather


def cross_check_lanes(machine, addresses, width, low, high, write, line, what):
    """The span of all lanes is the cheap first question; only if it is in doubt are lanes looked at one by one."""
    known, shadow = machine.known[V], machine.shadow
    doubtful = any(shadow.last_write[p] > known[p] or write and shadow.last_read[p] > known[p] for p in (0, 2, 3, 4))
    if doubtful:
        for address in addresses:
            cross_check(machine, int(address), int(address) + width, write, line, what)


def make_vscatter(machine, op, dtype, lanes):
    width = dtype.bytes
    line = op.line
    view = machine.views[dtype.numpy]
    what = "vscatter"

    def scatter(data, poison, base, offsets, offset_poison, mask, mask_poison):
        active, addresses = active_addresses(machine, base, offsets, offset_poison, mask, mask_poison, width, line,
                                             what)
        if not active.size:
            return
        low, high = int(addresses.min()), int(addresses.max()) + width
        cross_check_lanes(machine, addresses, width, low, high, True, line, what)
        touched = (addresses[:, None] + np.arange(width)).ravel()
        if machine.v_any_loaded and machine.v_loaded_view[touched].any():
            for address in addresses:
                machine.check_overwrite(int(address), int(address) + width, line)
        view[addresses // width] = data[active]
        if machine.watched_stores is not None:
            for address in addresses:
                machine.watch_store(int(address), int(address) + width, line)
        for flags in (machine.v_writes_view, machine.v_stored_view, machine.defined_view):
            flags[touched] = 1
        machine.v_wrote = machine.v_any_stored = True
        bad = np.zeros(active.size, bool) if poison is None else poison[active] != 0
        # Two active lanes with one offset: which wins is unspecified, so the element is undefined unless both agree.
        order = np.argsort(addresses, kind="stable")
        ordered = addresses[order]
        twice = ordered[1:] == ordered[:-1]
        if twice.any():
            values = np.ascontiguousarray(data[active][order]).view(np.uint8).reshape(-1, width)
            disagree = twice & (values[1:] != values[:-1]).any(axis=1)
            for address in ordered[1:][disagree]:
                machine.defined_view[address:address + width] = 0
                machine.origin[address:address + width] = line
        for address in addresses[bad]:
            machine.defined_view[address:address + width] = 0
            machine.origin[address:address + width] = line
    return scatter
