"""The vector core as one block sees it: UB with its state, pipes with their clocks, flags, and global memory.

Work is executed in program order, which is one of the orders the real pipes may take. That every other permitted order
gives the same result is checked as a race detector does it: each pipe has a clock (`epoch`), which advances when it
raises a flag, and a list of how far it knows every other pipe to be (`known`), which grows when it waits. Every byte
remembers in which epoch each pipe last wrote and read it; an access is right only if the conflicting ones are known.
"""

import numpy as np

from .errors import AlignmentError, BoundsError, PoisonError, RaceError, SyncError

UB_BYTES = 256 * 1024
UB_CAPACITY = 253952
MTE2, V, MTE3, S, COPY = range(5)
PIPE_NAMES = ("MTE2", "V", "MTE3", "S", "mte_ub_ub")
_ZEROS = bytes(UB_BYTES)

# For each mem_bar: which earlier accesses it makes known to which later ones. "v" vector, "s" scalar; w store, r load.
_BARRIER_EFFECTS = {
    "VV_ALL": ("vw-vr", "vr-vw", "vw-vw"), "VST_VLD": ("vw-vr",), "VLD_VST": ("vr-vw",), "VST_VST": ("vw-vw",),
    "VS_ALL": ("vw-sr", "vr-sw", "vw-sw"), "VST_LD": ("vw-sr",), "VLD_ST": ("vr-sw",), "VST_ST": ("vw-sw",),
    "SV_ALL": ("sw-vr", "sr-vw", "sw-vw"), "ST_VLD": ("sw-vr",), "LD_VST": ("sr-vw",), "ST_VST": ("sw-vw",),
}


class Shadow:
    """Epoch of the last write and read of every byte, for each pipe. Arrays are made when first needed."""

    def __init__(self, size):
        self.size = size
        self.writes = [None] * 5
        self.reads = [None] * 5
        self.last_write = [0] * 5
        self.last_read = [0] * 5

    def note(self, pipe, start, end, epoch, write):
        times = self.writes if write else self.reads
        if times[pipe] is None:
            times[pipe] = np.zeros(self.size, np.int32)
        times[pipe][start:end] = epoch
        (self.last_write if write else self.last_read)[pipe] = epoch

    def written_bytes(self, start, end):
        """How many bytes some pipe wrote."""
        times = [t[start:end] for t in self.writes if t is not None]
        return int(np.count_nonzero(np.maximum.reduce(times))) if times else 0

    def latest(self, pipe, start, end, write):
        times = (self.writes if write else self.reads)[pipe]
        return 0 if times is None or end <= start else int(times[start:end].max())


class GlobalTracking:
    """What one launch does to a piece of global memory, whichever arguments point to it: hazards inside a block, and
    disagreement between blocks if there are several."""

    def __init__(self, size, blocks, read, written):
        self.shadow = Shadow(size) if written else None
        self.owner = np.zeros(size, np.int32) if written and blocks > 1 else None
        self.reader = np.zeros(size, np.int32) if read and written and blocks > 1 else None


class GlobalBuffer:
    """A kernel's view of global memory through one pointer argument: `size` bytes from `offset`."""

    def __init__(self, name, data, offset=0, size=None, readable=True, writable=True):
        self.name = name
        self.data = data                # uint8 array, contiguous
        self.offset = offset
        self.size = len(data) - offset if size is None else size
        self.readable = readable
        self.writable = writable
        self.tracking = None

    def written_bytes(self):
        """How many bytes the last launch wrote at least once, or None if it had no means to."""
        shadow = self.tracking.shadow
        return None if shadow is None else shadow.written_bytes(self.offset, self.offset + self.size)


def track(buffers, accesses, blocks):
    """Prepares buffers for a launch. `accesses` says for each how the kernel uses it; arguments that point to the same
    memory share what is known about it."""
    groups = {}
    for buffer, access in zip(buffers, accesses):
        groups.setdefault(buffer.data.ctypes.data, []).append((buffer, access))
    for group in groups.values():
        used = set().union(*(access for _, access in group))
        size = max(len(buffer.data) for buffer, _ in group)
        tracking = GlobalTracking(size, blocks, "read" in used, "write" in used)
        for buffer, _ in group:
            buffer.tracking = tracking


class Machine:
    """State of one vector core. One instance serves many kernels; `start_block` gives a fresh core."""

    def __init__(self):
        self.ub = bytearray(UB_BYTES)
        self.bytes = np.frombuffer(self.ub, np.uint8)
        self.views = {t: np.frombuffer(self.ub, t) for t in
                      (np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32, np.uint64, np.int64,
                       np.float16, np.float32)}
        self.defined = bytearray(UB_BYTES)
        self.defined_view = np.frombuffer(self.defined, np.uint8)
        # Line of the poisoned value that was stored there; 0: never written.
        self.origin = np.zeros(UB_BYTES, np.int32)
        self.shadow = Shadow(UB_BYTES)
        # Vector accesses are by far the most frequent: they only set flags here, which move into the shadow when the
        # epoch of V ends.
        self.v_writes = bytearray(UB_BYTES)
        self.v_reads = bytearray(UB_BYTES)
        self.v_writes_view = np.frombuffer(self.v_writes, np.uint8)
        self.v_reads_view = np.frombuffer(self.v_reads, np.uint8)
        self.v_wrote = False
        self.v_read = False
        # Since the last barrier of the kind: what vector stores wrote, what vector loads read and from which address.
        self.v_stored = bytearray(UB_BYTES)
        self.v_loaded = bytearray(UB_BYTES)
        self.v_stored_view = np.frombuffer(self.v_stored, np.uint8)
        self.v_loaded_view = np.frombuffer(self.v_loaded, np.uint8)
        self.v_any_stored = False
        self.v_any_loaded = False
        self.load_ends = np.zeros(UB_BYTES, np.int64)
        self.load_generation = 1 << 20
        self.epoch = [1] * 5
        self.known = [[0] * 5 for _ in range(5)]
        self.barrier_known = {}
        self.events = {}
        self.tokens = {}
        # Line of the last vector load or store that began in each 32-byte block, for error messages only.
        self.load_lines = []
        self.store_lines = []
        # Lines whose synchronisation is left out, and which set and wait belonged together: to find what is not needed.
        self.disabled = frozenset()
        self.pairs = set()
        # If watched: start address + 1 of the last vector store to each byte since the last VST_VST, and lines that
        # stored over bytes of a store from another address. No error, since nothing says that stores overtake stores.
        self.watched_stores = None
        self.overlapping_stores = set()
        self.block = 0
        self.reach = None
        self.high_water = 0
        self.dirty_end = 0
        self.dma_log = []
        self.statistics = {}

    def start_launch(self, ub_map=None):
        self.dirty_end = max(self.dirty_end, self.high_water)
        self.high_water = 0
        self.statistics = {"dma_in_bytes": 0, "dma_out_bytes": 0, "dma_ub_bytes": 0, "dma_in_bursts": 0,
                           "dma_out_bursts": 0, "flags_set": 0, "flags_waited": 0}
        self.pairs = set()
        self.overlapping_stores = set()
        self.reach = make_reach(ub_map)

    def start_block(self, block):
        self.block = block
        # Many launches are small, so only what the last ones touched is cleared.
        end = max(self.dirty_end, self.high_water)
        self.defined[:end] = bytes(end)
        self.origin[:end] = 0
        self.dirty_end = 0
        if self.v_wrote:
            self.v_writes[:] = _ZEROS
        if self.v_read:
            self.v_reads[:] = _ZEROS
        self.v_wrote = self.v_read = False
        self.forget_stored()
        self.forget_loaded()
        self.order_stores()
        now = max(self.epoch)
        self.epoch = [now + 1] * 5
        self.known = [[now] * 5 for _ in range(5)]
        self.barrier_known = {}
        self.events = {}
        self.tokens = {}
        self.dma_log = []
        self.load_lines = [0] * (UB_BYTES // 32)
        self.store_lines = [0] * (UB_BYTES // 32)

    def end_block(self):
        left = [f"{PIPE_NAMES[s]} → {PIPE_NAMES[d]} event {e} (set in line {line})"
                for (s, d, e), (_, line) in sorted(self.events.items())]
        if left:
            raise SyncError("events are left raised at the end: " + ", ".join(left) + "; every set needs a wait")
        held = [f"{token} by {PIPE_NAMES[pipe]}" for token, (state, pipe, _, _) in sorted(self.tokens.items())
                if state == "held"]
        if held:
            raise SyncError("buffer tokens are never released: " + ", ".join(held))

    # Clocks

    def fold_vector(self):
        """Moves the flags of V's current epoch into the shadow."""
        epoch = self.epoch[V]
        shadow = self.shadow
        end = self.high_water
        if self.v_wrote:
            if shadow.writes[V] is None:
                shadow.writes[V] = np.zeros(UB_BYTES, np.int32)
            shadow.writes[V][:end][self.v_writes_view[:end] != 0] = epoch
            shadow.last_write[V] = epoch
            self.v_writes[:end] = bytes(end)
            self.v_wrote = False
        if self.v_read:
            if shadow.reads[V] is None:
                shadow.reads[V] = np.zeros(UB_BYTES, np.int32)
            shadow.reads[V][:end][self.v_reads_view[:end] != 0] = epoch
            shadow.last_read[V] = epoch
            self.v_reads[:end] = bytes(end)
            self.v_read = False

    def advance(self, pipe):
        """Ends the pipe's epoch and returns what is known once all its work so far is done."""
        snapshot = list(self.known[pipe])
        if pipe == V:
            if not self.v_wrote and not self.v_read:
                snapshot[V] = self.epoch[V] - 1     # nothing new since the last flag: both stand for the same work
                return snapshot
            self.fold_vector()
        snapshot[pipe] = self.epoch[pipe]
        self.epoch[pipe] += 1
        return snapshot

    def learn(self, pipe, snapshot):
        known = self.known[pipe]
        for other in range(5):
            if snapshot[other] > known[other]:
                known[other] = snapshot[other]
        if pipe == V and known[V] == self.epoch[V] - 1:
            # Another pipe has seen the end of all vector work up to here, and V waited for that pipe: it is complete.
            self.settle_vector()

    def settle_vector(self):
        if not self.v_wrote:
            self.forget_stored()
        if not self.v_read:
            self.forget_loaded()

    def forget_stored(self):
        if self.v_any_stored:
            self.v_stored[:] = _ZEROS
            self.v_any_stored = False

    def watch_store(self, start, end, line):
        before = self.watched_stores[start:end]
        if ((before != 0) & (before != start + 1)).any():
            self.overlapping_stores.add(line)
        before[...] = start + 1

    def order_stores(self):
        if self.watched_stores is not None:
            self.watched_stores[:] = 0

    def forget_loaded(self):
        if self.v_any_loaded:
            self.v_loaded[:] = _ZEROS
            self.load_generation += 1 << 20
            self.v_any_loaded = False

    def set_flag(self, src, dst, event, line):
        if line in self.disabled:
            return
        self.check_event(event, line)
        key = (src, dst, event)
        if key in self.events:
            raise SyncError(f"event {event} of {PIPE_NAMES[src]} → {PIPE_NAMES[dst]} is set again before a wait "
                            f"(first set in "
                            f"line {self.events[key][1]})", line)
        self.events[key] = (self.advance(src), line)
        self.statistics["flags_set"] += 1

    def wait_flag(self, src, dst, event, line):
        if line in self.disabled:
            return
        self.check_event(event, line)
        raised = self.events.pop((src, dst, event), None)
        if raised is None:
            raise SyncError(f"wait for event {event} of {PIPE_NAMES[src]} → {PIPE_NAMES[dst]}, which nobody has set: "
                            f"the core "
                            "would hang", line)
        self.learn(dst, raised[0])
        self.pairs.add((raised[1], line))
        self.statistics["flags_waited"] += 1

    @staticmethod
    def check_event(event, line):
        if not 0 <= event <= 7:
            raise SyncError(f"event id {event} is outside 0 … 7", line)

    def pipe_barrier(self, line):
        if line in self.disabled:
            return
        snapshots = [self.advance(pipe) for pipe in range(5)]
        for pipe in range(5):
            for snapshot in snapshots:
                self.learn(pipe, snapshot)
        self.forget_stored()
        self.forget_loaded()
        self.order_stores()

    def get_buf(self, pipe, token, line):
        state, holder, snapshot, _ = self.tokens.get(token, ("free", None, None, 0))
        if state == "held":
            raise SyncError(f"buffer token {token} is still held by {PIPE_NAMES[holder]}", line)
        if snapshot is not None:
            self.learn(pipe, snapshot)
        self.tokens[token] = ("held", pipe, None, line)

    def rls_buf(self, pipe, token, line):
        state, holder, _, _ = self.tokens.get(token, ("free", None, None, 0))
        if state != "held" or holder != pipe:
            raise SyncError(f"buffer token {token} is released by {PIPE_NAMES[pipe]}, which does not hold it", line)
        self.tokens[token] = ("free", None, self.advance(pipe), line)

    def mem_bar(self, kind, line):
        if line in self.disabled:
            return
        for effect in _BARRIER_EFFECTS[kind]:
            if effect == "vw-vr":
                self.forget_stored()
            elif effect == "vr-vw":
                self.forget_loaded()
            elif effect == "vw-vw":
                self.order_stores()
            elif effect[0] != effect[3]:
                source = V if effect[0] == "v" else S
                if source == V:
                    self.fold_vector()
                self.barrier_known[effect] = self.epoch[source]
                # What finished before the accesses that the barrier waits for is finished, too.
                inherited = list(self.known[source])
                inherited[source] = 0
                self.learn(S if source == V else V, inherited)
        if kind.startswith("VS") or kind in ("VST_LD", "VLD_ST", "VST_ST"):
            self.epoch[V] += 1
        elif kind.startswith("SV") or kind in ("ST_VLD", "LD_VST", "ST_VST"):
            self.epoch[S] += 1

    # Hazards

    def horizon(self, pipe, other, effect):
        """The last epoch of `other` that `pipe` knows to be complete, for an access of this kind."""
        known = self.known[pipe][other]
        if pipe + other == V + S:
            known = max(known, self.barrier_known.get(effect, 0))
        return known

    def check(self, shadow, pipe, start, end, write, line, what, where):
        """Refuses an access of `pipe` to bytes that another pipe used without a dependence between them."""
        side = "s" if pipe == S else "v"
        for other in range(5):
            if other == pipe:
                continue
            source = "s" if other == S else "v"
            mode = "w" if write else "r"
            known = self.horizon(pipe, other, f"{source}w-{side}{mode}")
            if shadow.last_write[other] > known and shadow.latest(other, start, end, True) > known:
                self.fail_sync(pipe, other, "wrote", what, where, line, start, end)
            if write:
                known = self.horizon(pipe, other, f"{source}r-{side}{mode}")
                if shadow.last_read[other] > known and shadow.latest(other, start, end, False) > known:
                    self.fail_sync(pipe, other, "reads", what, where, line, start, end)
        if pipe != V and shadow is self.shadow:
            if self.v_wrote and self.v_writes.find(1, start, end) >= 0:
                self.fail_sync(pipe, V, "wrote", what, where, line, start, end)
            if write and self.v_read and self.v_reads.find(1, start, end) >= 0:
                self.fail_sync(pipe, V, "reads", what, where, line, start, end)

    def fail_sync(self, pipe, other, verb, what, where, line, start, end):
        doing = "of bytes that pipe" if verb == "wrote" else "over bytes that pipe"
        since = ""
        if other == V:
            since = self.vector_line(self.store_lines if verb == "wrote" else self.load_lines, start, end)
        for log_pipe, low, high, log_line in reversed(self.dma_log):
            if log_pipe == other and low < end and start < high:
                since = f" (line {log_line})"
                break
        if {pipe, other} == {V, S}:
            hint = "a mem_bar between vector and scalar accesses is missing"
        elif COPY in (pipe, other):
            hint = "the pipe of mte_ub_ub is not specified, so only pipe_barrier(pto.Pipe.ALL) orders it"
        else:
            hint = f"no flag {PIPE_NAMES[other]} → {PIPE_NAMES[pipe]} has been set after that and waited for"
        raise SyncError(f"{what} {doing} {PIPE_NAMES[other]} {verb}{since}, {where} [{start}, {end}): {hint}", line)

    @staticmethod
    def vector_line(lines, start, end):
        """Where the vector access probably stands that touched these bytes."""
        for block in range((end - 1) >> 5, max(-1, (start >> 5) - 64), -1):
            if lines[block]:
                return f" (line {lines[block]})"
        return ""

    # UB

    def bad_ub(self, start, end, line, what):
        if start < 0 or end > UB_CAPACITY:
            raise BoundsError(f"{what}: UB bytes [{start}, {end}) are outside [0, {UB_CAPACITY})", line)
        raise BoundsError(f"{what}: UB bytes [{start}, {end}) are not inside one buffer of the UB map", line)

    def check_ub(self, start, end, line, what):
        if not 0 <= start < UB_CAPACITY or end > self.reach[start >> 5]:
            self.bad_ub(start, end, line, what)
        if end > self.high_water:
            self.high_water = end

    def misaligned(self, address, width, line, what):
        raise AlignmentError(f"{what}: UB address {address} is not a multiple of {width} bytes", line)

    def fail_stored(self, start, end, line):
        raise SyncError(f"vector load of UB [{start}, {end}), which an earlier vector store"
                        f"{self.vector_line(self.store_lines, start, end)} wrote: "
                        f"pto.mem_bar(pto.BarrierType.VST_VLD) is missing", line)

    def check_overwrite(self, start, end, line):
        """A store over bytes that loads from other addresses read needs VLD_VST."""
        low = max(0, start - 4096)
        ends = self.load_ends[low:end] - self.load_generation
        ends[start - low] = 0
        if (ends > start).any():
            raise SyncError(f"vector store to UB [{start}, {end}), which earlier vector loads"
                            f"{self.vector_line(self.load_lines, start, end)} read from other addresses: "
                            f"pto.mem_bar(pto.BarrierType.VLD_VST) is missing", line)

    def fail_poison(self, start, end, what, line):
        first = start + self.defined.find(0, start, end) - start
        origin = int(self.origin[first])
        why = f"hold a value that came from undefined data, made in line {origin}" if origin else "were never written"
        raise PoisonError(f"{what}: UB bytes from {first} on {why}", line)

    # Global memory

    def check_gm(self, gm, start, end, write, line, what):
        if start < 0 or end > gm.size:
            raise BoundsError(f"{what}: bytes [{start}, {end}) of {gm.name} are outside [0, {gm.size})", line)
        if write and not gm.writable:
            raise BoundsError(f"{what}: {gm.name} is an input, it may not be written", line)
        if not write and not gm.readable:
            raise BoundsError(f"{what}: {gm.name} is an output, its contents may not be read", line)

    def read_gm(self, gm, start, end, pipe, line, what):
        tracking = gm.tracking
        first, last = gm.offset + start, gm.offset + end
        me = self.block + 1
        if tracking.shadow is not None:
            self.check(tracking.shadow, pipe, first, last, False, line, what, gm.name)
            tracking.shadow.note(pipe, first, last, self.epoch[pipe], False)
        if tracking.owner is not None:
            owner = tracking.owner[first:last]
            if ((owner != 0) & (owner != me)).any():
                raise RaceError(f"{what}: bytes [{start}, {end}) of {gm.name} are read, but another block of the launch "
                                "writes them", line)
        if tracking.reader is not None:
            reader = tracking.reader[first:last]
            reader[...] = np.where((reader == 0) | (reader == me), me, -1)

    def write_gm(self, gm, start, data, pipe, line, what):
        end = start + len(data)
        tracking = gm.tracking
        first, last = gm.offset + start, gm.offset + end
        me = self.block + 1
        self.check(tracking.shadow, pipe, first, last, True, line, what, gm.name)
        tracking.shadow.note(pipe, first, last, self.epoch[pipe], True)
        target = gm.data[first:last]
        if tracking.owner is not None:
            owner = tracking.owner[first:last]
            if ((owner != 0) & (owner != me) & (target != data)).any():
                raise RaceError(f"{what}: bytes [{start}, {end}) of {gm.name} are written with different values by "
                                "several blocks", line)
            owner[...] = me
        if tracking.reader is not None:
            reader = tracking.reader[first:last]
            if ((reader != 0) & (reader != me)).any():
                raise RaceError(f"{what}: bytes [{start}, {end}) of {gm.name} are written, but another block of the "
                                "launch reads them", line)
        target[...] = data


def make_reach(ub_map):
    """For each 32-byte block: how far an access that starts there may go."""
    blocks = UB_CAPACITY // 32
    if ub_map is None:
        return [UB_CAPACITY] * blocks
    reach = [0] * blocks
    for start, size in ub_map:
        end = start + size
        if start < 0 or end > UB_CAPACITY or start % 32:
            raise BoundsError(f"UB map: buffer [{start}, {end}) is not 32-byte aligned inside [0, {UB_CAPACITY})")
        for block in range(start // 32, -(-end // 32)):
            reach[block] = max(reach[block], end)
    return reach
