"""How late a step may be: very many steps of the control loop, each timed by itself, everyone called from C.

The programs take turns, so that a busy moment of the machine meets all alike. A clock costs some 20 ns, which are in
every time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from bench.native import Program
from bench.record import duration

STEPS, TURNS = 1_000_000, 20
WORKLOAD = "W2.step"
ENGINES = ("burin", "onnxruntime")  # those that many have in their control loops


class Latency(NamedTuple):
    """Microseconds."""

    median: float
    p99: float
    p999: float
    longest: float


def measure(programs: Mapping[str, Program]) -> dict[str, Latency]:
    found = {}
    for _ in range(TURNS):
        for name, program in programs.items():
            found[name] = Latency(*program.alone(STEPS // TURNS))
    return found


def lines_of(found: Mapping[str, Latency]) -> list[str]:
    rows = [f"  {name:14} " + " ".join(f"{duration(time):>10}" for time in latency)
            for name, latency in sorted(found.items(), key=lambda item: item[1].median)]
    return [f"{STEPS:,} steps of {WORKLOAD}, from C, each timed by itself: median, 99 %, 99.9 %, longest", *rows]
