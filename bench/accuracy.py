"""How close the vectors of each engine are to float64, on the texts of golden cases: part of a run in another precision than float32.

Every text runs alone, so that an engine's arithmetic is all that there is to see, not what it does with padding. Nobody is left
out for being far off.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file

from bench.reference import Reference
from bench.shapes import MINILM, Workload

MODELS = Path(__file__).resolve().parent.parent / "tests" / "models"
CASES = (MODELS / "minilm.safetensors", MODELS / "minilm_200.safetensors")

Cosines = dict[str, float]  # "worst" and "mean" of the texts
Accuracy = dict[str, dict[str, Cosines]]  # by case, by contestant


def workload_of(case: Path) -> tuple[Workload, Reference]:
    """The texts of a case, and their vectors."""
    tensors = load_file(case)
    lengths = tuple(int(length) for length in np.diff(tensors["in.offsets"]))
    return (Workload(case.stem, f"the texts of {case.name}", MINILM, "batch", lengths, str(case)),
            Reference(tensors["out.y"], np.empty(0), np.empty(0)))


def lines_of(accuracy: Accuracy) -> Iterable[str]:
    """For a person: a line each, the best first."""
    for case, found in accuracy.items():
        yield f"cosine with float64, texts of {case}.safetensors: at worst, on average"
        for name, cosines in sorted(found.items(), key=lambda item: -item[1]["worst"]):
            yield f"  {name:24} {cosines['worst']:.6f}  {cosines['mean']:.6f}"
