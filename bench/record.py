"""What a run leaves: a record for each workload and number of threads, and the table a person reads.

Standard library only. Times are microseconds; a ratio is the best peer's time over Burin's, both minima, so above 1 is
faster than every peer.
"""

from __future__ import annotations

from statistics import median
from typing import Any, NamedTuple

from bench.shapes import Workload

Record = dict[str, Any]


class Times(NamedTuple):
    """Of the calls of one contestant, over all its bursts."""

    minimum: float
    median: float

    @classmethod
    def of(cls, samples: list[float]) -> Times:
        return cls(min(samples), median(samples))


class Machine(NamedTuple):
    """What the cores in use can do at most, measured in the same run."""

    gflops: float  # fused multiply-adds in registers
    gigabytes: float  # a second, reading as many bytes as the workload's weights have, over and over


def ratio(peers: dict[str, Times], own: Times | None) -> float | None:
    """None where there is nothing to compare."""
    return min(peer.minimum for peer in peers.values()) / own.minimum if peers and own else None


def make_record(workload: Workload, threads: int, own: Times, peers: dict[str, Times], error: float, machine: Machine,
                own_c: Times | None, peers_c: dict[str, Times]) -> Record:
    gflops = workload.flops / own.minimum / 1e3
    gigabytes = workload.encoder.weight_bytes() / own.minimum / 1e3
    return {
        "workload": workload.id,
        "threads": threads,
        "burin_us": own.minimum,
        "peers": {name: times.minimum for name, times in peers.items()},
        "best_peer": min(peers, key=lambda name: peers[name].minimum) if peers else None,
        "ratio": ratio(peers, own),
        "ratio_c": ratio(peers_c, own_c),
        "percent_of_fma_peak": 100 * gflops / machine.gflops,
        "max_abs_error": error,
        "burin_median_us": own.median,
        "peer_medians": {name: times.median for name, times in peers.items()},
        "burin_c_us": own_c.minimum if own_c else None,
        "peers_c": {name: times.minimum for name, times in peers_c.items()},
        "flops": workload.flops,
        "weight_bytes": workload.encoder.weight_bytes(),
        "fma_peak_gflops": machine.gflops,
        "read_gigabytes_per_s": machine.gigabytes,
        "percent_of_read_rate": 100 * gigabytes / machine.gigabytes,
    }


# ---- for a person


def duration(microseconds: float | None) -> str:
    """Three digits and a unit."""
    if microseconds is None:
        return "-"
    for unit, size in (("s", 1e6), ("ms", 1e3), ("µs", 1)):
        if microseconds >= size:
            return f"{microseconds / size:.3g} {unit}"
    return f"{microseconds * 1e3:.3g} ns"


def count_of(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def times_faster(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


HEADINGS = ("workload", "threads", "burin", "median", "best peer", "", "median", "ratio", "ratio_c", "% of peak",
            "error")


def cells(record: Record) -> tuple[str, ...]:
    best = record["best_peer"]
    return (record["workload"], str(record["threads"]), duration(record["burin_us"]),
            duration(record["burin_median_us"]), best or "-", duration(record["peers"].get(best)),
            duration(record["peer_medians"].get(best)), times_faster(record["ratio"]), times_faster(record["ratio_c"]),
            f"{record['percent_of_fma_peak']:.1f}", f"{record['max_abs_error']:.0e}")


def table(records: list[Record]) -> str:
    """A line of headings and a line a record, in columns."""
    rows = [HEADINGS, *map(cells, records)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    left = (0, 4)  # columns of words
    return "\n".join("  ".join(cell.ljust(width) if column in left else cell.rjust(width)
                               for column, (cell, width) in enumerate(zip(row, widths))).rstrip() for row in rows)


def losses(records: list[Record]) -> list[str]:
    """A line for each case where a peer is faster."""
    lines = []
    for record in records:
        if record["ratio"] is not None and record["ratio"] < 1:
            lines.append(f"{record['workload']}, {count_of(record['threads'], 'thread')}: {record['best_peer']} takes "
                         f"{duration(record['peers'][record['best_peer']])}, Burin {duration(record['burin_us'])}")
        if record["ratio_c"] is not None and record["ratio_c"] < 1:
            best = min(record["peers_c"], key=record["peers_c"].get)
            lines.append(f"{record['workload']}, called from C: {best} takes {duration(record['peers_c'][best])}, "
                         f"Burin {duration(record['burin_c_us'])}")
    return lines
