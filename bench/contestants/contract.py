"""What an engine hands to the bench: calls with their arguments ready."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.reference import Reference
from bench.shapes import Workload
from bench.weights import Array, float_input


class NotOffered(Exception):
    """This engine, or this form of it, has no such workload; the text says why."""


@dataclass(frozen=True)
class Setting:
    """What a contestant runs under."""

    threads: int
    models: Path  # Burin's compiled models, a folder each
    cache: Path  # for files that a peer converts or compiles; kept between runs
    reference: Reference


@dataclass(frozen=True)
class Prepared:
    """Calls that do the same work; an answer is in the engine's own tensor type until `to_numpy`.

    A call that consumes what it works on (a step moves its state on) comes as several calls on equal copies, and
    `rewind`, which is not timed, makes the copies as they were.
    """

    calls: Sequence[Callable[[], object]]
    to_numpy: Callable[[Any], Array]
    rewind: Callable[[], object] | None = None
    held: object = None  # memory that the calls read or write


@dataclass
class StepArguments:
    """A step of a peer: the row that is new, and a cache with room for it, whose last row is empty."""

    x: Array  # [1, inputs]
    caches: Array  # [depth, 2, heads, rows, d / heads]
    total: Array  # [1, d]
    position: int

    @classmethod
    def of(cls, workload: Workload, reference: Reference) -> StepArguments:
        depth, two, heads, past, width = reference.caches.shape
        caches = np.zeros((depth, two, heads, past + 1, width), np.float32)
        caches[:, :, :, :past] = reference.caches
        return cls(float_input(workload)[past:].copy(), caches, reference.total[None].copy(), past)
