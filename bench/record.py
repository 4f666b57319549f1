"""What a run leaves: a record for each workload and number of threads, and the table a person reads.

Standard library only. Times are microseconds; a ratio is the best peer's time over Burin's, both minima, so above 1 is
faster than every peer.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any, NamedTuple

from bench.shapes import Precision, Workload

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


class Narrow(NamedTuple):
    """What a run in another precision than float32 adds: cosines with float64, of each contestant's worst text."""

    precision: Precision
    own_float32: Times | None
    cosine: float
    peer_cosines: dict[str, float]


def ratio(peers: dict[str, Times], own: Times | None) -> float | None:
    """None where there is nothing to compare."""
    return min(peer.minimum for peer in peers.values()) / own.minimum if peers and own else None


def make_record(workload: Workload, threads: int, own: Times, peers: dict[str, Times], error: float, machine: Machine,
                own_c: Times | None, peers_c: dict[str, Times], narrow: Narrow | None = None) -> Record:
    precision = narrow.precision if narrow else "float32"
    weight_bytes = workload.encoder.weight_bytes(precision)
    gflops = workload.flops / own.minimum / 1e3
    gigabytes = weight_bytes / own.minimum / 1e3
    record = {
        "workload": workload.id,
        "precision": precision,
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
        "weight_bytes": weight_bytes,
        "fma_peak_gflops": machine.gflops,
        "read_gigabytes_per_s": machine.gigabytes,
        "percent_of_read_rate": 100 * gigabytes / machine.gigabytes,
    }
    if narrow:
        record |= {
            "burin_float32_us": narrow.own_float32.minimum if narrow.own_float32 else None,
            "ratio_to_float32": ratio({"burin": narrow.own_float32} if narrow.own_float32 else {}, own),
            "cosine": narrow.cosine,
            "peer_cosines": narrow.peer_cosines,
        }
    return record


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


def best_of(record: Record, field: str) -> Any:
    return record[field].get(record["best_peer"])


def cosine(value: float | None) -> str:
    return "-" if value is None else f"{value:.5f}"


Column = tuple[str, Callable[[Record], str]]
FIRST_COLUMNS: list[Column] = [
    ("workload", lambda record: record["workload"]),
    ("threads", lambda record: str(record["threads"])),
    ("burin", lambda record: duration(record["burin_us"])),
    ("median", lambda record: duration(record["burin_median_us"])),
    ("best peer", lambda record: record["best_peer"] or "-"),
    ("", lambda record: duration(best_of(record, "peers"))),
    ("median", lambda record: duration(best_of(record, "peer_medians"))),
    ("ratio", lambda record: times_faster(record["ratio"])),
]
FLOAT32_COLUMNS: list[Column] = [
    ("ratio_c", lambda record: times_faster(record["ratio_c"])),
    ("% of peak", lambda record: f"{record['percent_of_fma_peak']:.1f}"),
    ("error", lambda record: f"{record['max_abs_error']:.0e}"),
]
NARROW_COLUMNS: list[Column] = [
    ("own float32", lambda record: duration(record["burin_float32_us"])),
    ("ratio", lambda record: times_faster(record["ratio_to_float32"])),
    ("cosine", lambda record: cosine(record["cosine"])),
    ("the peer's", lambda record: cosine(best_of(record, "peer_cosines"))),
]


def columns_of(precision: Precision) -> list[Column]:
    return FIRST_COLUMNS + (FLOAT32_COLUMNS if precision == "float32" else NARROW_COLUMNS)


def precision_of(records: list[Record]) -> Precision:
    """That of a run, which has one."""
    return records[0]["precision"] if records else "float32"


def headings(precision: Precision) -> tuple[str, ...]:
    return tuple(heading for heading, _ in columns_of(precision))


def cells(record: Record) -> tuple[str, ...]:
    return tuple(cell(record) for _, cell in columns_of(record["precision"]))


def table(records: list[Record]) -> str:
    """A line of headings and a line a record, in columns."""
    rows = [headings(precision_of(records)), *map(cells, records)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
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
