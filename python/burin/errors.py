"""What goes wrong: the runtime's statuses, and everything else that Burin refuses, as one exception."""

from __future__ import annotations

from enum import IntEnum


class Status(IntEnum):
    """`burin_status` of runtime/burin.h, without its prefix; the runtime has a sentence for each."""

    OK = 0
    NULL_POINTER = 1
    MISALIGNED = 2
    OVERLAP = 3
    TIME_OUT_OF_RANGE = 4
    BAD_OFFSETS = 5
    STATE_FULL = 6
    STATE_FOREIGN = 7
    SCRATCH_TOO_SMALL = 8
    NO_SUCH_STATE_VALUE = 9
    NO_STEP = 10
    CPU_UNSUPPORTED = 11
    FILE_UNREADABLE = 12
    FILE_MALFORMED = 13
    WEIGHTS_MISMATCH = 14
    OUT_OF_MEMORY = 15
    KERNEL_FAILED = 16
    BAD_ID = 17
    MEMORY_NOT_LOCKED = 18
    STATE_DAMAGED = 19
    NO_SUCH_ISA = 20
    NO_WORKERS = 21


class Error(RuntimeError):
    """A sentence that names the thing, what was found, and what was expected.

    `status` is the runtime's, a `Status` where this package knows it; None where the runtime was not asked. Arrays of
    another type or shape than a call takes are a TypeError or a ValueError instead.
    """

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = Status(status) if status in set(Status) else status
