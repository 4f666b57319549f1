"""The ways to run many texts of different length through an engine of rectangles: one by one, or batches of a size.

A form of a peer is named for its batch: "one", "by4", "by16"; batches are sorted by length, so that little is padding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from bench.contestants.contract import NotOffered
from bench.shapes import Workload
from bench.weights import Array, Padded, padded_batches

Item = TypeVar("Item")
SIZES = {"one": 1, "by4": 4, "by16": 16}


def batches_of(workload: Workload, mode: str, multiple: int = 1) -> list[Padded]:
    if mode not in SIZES:
        raise NotOffered(f"no way to run a batch is named '{mode}'")
    return padded_batches(workload, SIZES[mode], multiple)


def run_all(workload: Workload, items: list[tuple[Array, Item]],
            embed: Callable[[Item], Array]) -> Callable[[], Array]:
    """A call that fills in the vectors of every item's texts."""
    vectors = np.empty((len(workload.lengths), workload.encoder.d_model), np.float32)

    def call() -> Array:
        for which, item in items:
            vectors[which] = embed(item)
        return vectors

    return call
