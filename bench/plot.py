"""The plot of a run: how many times faster than the best peer, and a roofline."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402

from bench.record import Record

OURS, PEER, LIMIT = "#1f6feb", "#a0a8b4", "#444c56"
LEAST_READ_BYTES = 1 << 14  # fewer are over before a loop has its stride
SAME_RATE = 0.2  # rates that differ by less are of the same cache
plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "svg.hashsalt": "burin"})


def intensity(record: Record) -> float:
    return record["flops"] / record["weight_bytes"]


def draw_ratios(axes: Axes, records: list[Record]) -> None:
    """A bar a record, on a logarithmic scale; the line is the best peer."""
    shown = [record for record in records if record["ratio"]]
    labels = [f"{record['workload']} ×{record['threads']}" for record in shown]
    ratios = [record["ratio"] for record in shown]
    bars = axes.barh(labels, [value - 1 for value in ratios], left=1,
                     color=[OURS if value >= 1 else PEER for value in ratios])
    for bar, record in zip(bars, shown):
        axes.annotate(f" {record['ratio']:.2f}  {record['best_peer']}", (max(record["ratio"], 1), bar.get_y() + 0.4),
                      va="center", fontsize=8)
    axes.axvline(1, color=LIMIT, linewidth=1)
    axes.set_xscale("log")
    axes.set_xlim(min(0.5, *ratios) if ratios else 0.5, 4 * max(1.0, *ratios) if ratios else 2)
    axes.set_xticks([0.5, 1, 2, 4, 8, 16], ["½", "1", "2", "4", "8", "16"])
    axes.minorticks_off()
    axes.invert_yaxis()
    axes.set_xlabel("the best peer's time ÷ Burin's (workload × threads)")
    axes.set_title("Beside the best peer", loc="left")


def read_rates(records: list[Record]) -> list[tuple[int, float]]:
    """(bytes of weights, GB/s) of each size that a cache of its own shows, the smallest first."""
    found: list[tuple[int, float]] = []
    for size, rate in sorted({record["weight_bytes"]: record["read_gigabytes_per_s"] for record in records}.items()):
        if size >= LEAST_READ_BYTES and all(abs(rate / other - 1) > SAME_RATE for _, other in found):
            found.append((size, rate))
    return found


def draw_roofline(axes: Axes, records: list[Record]) -> None:
    """GFLOP/s over FLOPs per byte of weights, for the fewest threads of the run; the limits are measured in it."""
    threads = min(record["threads"] for record in records)
    shown = sorted((record for record in records if record["threads"] == threads), key=intensity)
    peak = max(record["fma_peak_gflops"] for record in shown)
    low, high = 0.4 * intensity(shown[0]), 2.5 * intensity(shown[-1])
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(low, high)
    axes.plot([low, high], [peak, peak], color=LIMIT, linewidth=1)
    axes.annotate(f" FMA peak {peak:.0f} GFLOP/s", (low, peak), va="bottom", fontsize=8)
    for size, rate in read_rates(shown):
        axes.plot([low, peak / rate], [low * rate, peak], color=LIMIT, linewidth=0.8, linestyle=":")
        axes.annotate(f" reading {size / 1e6:.2g} MB: {rate:.0f} GB/s", (low, low * rate), va="top", fontsize=7)
    for number, record in enumerate(shown):
        x, y = intensity(record), record["flops"] / record["burin_us"] / 1e3
        if record["best_peer"]:
            axes.plot(x, record["flops"] / record["peers"][record["best_peer"]] / 1e3, "o", color=PEER)
        axes.plot(x, y, "o", color=OURS)
        above = number % 2 == 0
        axes.annotate(record["workload"], (x, y), xytext=(0, 8 if above else -8), textcoords="offset points",
                      rotation=60, rotation_mode="anchor", ha="left" if above else "right", fontsize=8)
    axes.set_ylim(top=5 * peak)  # room for names above the limit
    axes.set_xlabel("FLOPs per byte of weights")
    axes.set_ylabel("GFLOP/s")
    axes.set_title(f"Roofline, threads: {threads}; Burin blue, best peer grey", loc="left")


def write_plot(records: list[Record], path: Path) -> None:
    """An SVG; nothing where there is no record."""
    if not records:
        return
    figure, (left, right) = plt.subplots(1, 2, figsize=(13, 1.6 + 0.32 * max(12, len(records))), layout="constrained")
    draw_ratios(left, records)
    draw_roofline(right, records)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
