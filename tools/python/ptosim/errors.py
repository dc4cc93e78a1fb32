"""Every refusal of the emulator: what was written, where, and which rule of the specification it breaks."""


class PtoError(Exception):
    """Base of all refusals. `kind` is machine readable, `line` is a line of the kernel file (0: unknown)."""

    kind = "usage"

    def __init__(self, message, line=0, file=None):
        super().__init__(message)
        self.message = message
        self.line = line
        self.file = file
        self.block = None       # launch block in which a run-time error happened

    def __str__(self):
        where = ""
        if self.line:
            where = f"{self.file or 'kernel'}:{self.line}: "
        block = "" if self.block is None else f" (block {self.block})"
        return f"{where}{self.kind}: {self.message}{block}"


class UsageError(PtoError):
    """The command line, a job or a launch plan is wrong."""
    kind = "usage"


class TraceError(PtoError):
    """`ptodsl` would refuse this while tracing."""
    kind = "trace"


class VerifyError(PtoError):
    """The traced program would not pass the verifier or has no lowering in `ptoas`."""
    kind = "verify"


class BoundsError(PtoError):
    """An access outside its memory, or a field that does not fit."""
    kind = "bounds"


class AlignmentError(PtoError):
    kind = "alignment"


class SyncError(PtoError):
    """A dependence without flag or barrier, or flags that do not pair up."""
    kind = "sync"


class PoisonError(PtoError):
    """Bytes that nobody wrote reach a place where they matter."""
    kind = "poison"


class RaceError(PtoError):
    """Two blocks of one launch disagree about a byte of global memory."""
    kind = "race"


class ValueRangeError(PtoError):
    """A run-time value outside what the instruction takes."""
    kind = "range"


class InternalError(PtoError):
    kind = "internal"


def line_of(error, path):
    """The last line of the kernel file in a traceback."""
    line = 0
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
