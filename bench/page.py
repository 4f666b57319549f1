"""One HTML file that holds a whole run: the table, everyone's times, the plot. It loads nothing."""

from __future__ import annotations

import html
import platform
from pathlib import Path

from bench.record import Record, cells, count_of, duration, headings, losses, precision_of

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 78rem; padding: 0 1rem; color: #1c2128; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .7rem; text-align: right; border-bottom: 1px solid #d8dee4; white-space: nowrap; }
th:first-child, td:first-child, td:nth-child(5), th:nth-child(5) { text-align: left; }
tr.slower td { background: #fff1e5; }
svg { width: 100%; height: auto; }
summary { cursor: pointer; }
"""


def processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def row(values: tuple[str, ...], tag: str = "td", style: str = "") -> str:
    return f"<tr{style}>" + "".join(f"<{tag}>{html.escape(value)}</{tag}>" for value in values) + "</tr>"


def main_table(records: list[Record]) -> str:
    rows = [row(cells(record), style=' class="slower"' if (record["ratio"] or 1) < 1 else "") for record in records]
    return f"<table>{row(headings(precision_of(records)), 'th')}{''.join(rows)}</table>"


def peers_table(record: Record) -> str:
    """Everyone's times, the fastest first."""
    times = {"burin": (record["burin_us"], record["burin_median_us"])}
    times |= {name: (us, record["peer_medians"][name]) for name, us in record["peers"].items()}
    times |= {f"{name}, from C": (us, None) for name, us in record["peers_c"].items()}
    if record.get("burin_float32_us"):
        times["burin, float32"] = (record["burin_float32_us"], None)
    if record["burin_c_us"]:
        times["burin, from C"] = (record["burin_c_us"], None)
    rows = [row((name, duration(minimum), duration(median)))
            for name, (minimum, median) in sorted(times.items(), key=lambda entry: entry[1][0])]
    title = f"{record['workload']}, {count_of(record['threads'], 'thread')}"
    return (f"<details><summary>{title}</summary><table>{row(('engine', 'minimum', 'median'), 'th')}"
            f"{''.join(rows)}</table></details>")


def write_page(records: list[Record], plot: Path, path: Path) -> None:
    lost = losses(records)
    verdict = ("<p>Slower than a peer:</p><ul>" + "".join(f"<li>{html.escape(line)}</li>" for line in lost) + "</ul>"
               if lost else "<p>No case in which a peer is faster.</p>")
    svg = plot.read_text().partition("<svg")
    peak = max((record["fma_peak_gflops"] for record in records if record["threads"] == 1), default=None)
    measured = f"one core's FMA peak in this run: {peak:.0f} GFLOP/s; " if peak else ""
    path.write_text(f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Burin beside its peers</title><style>{STYLE}</style>
<h1>Burin beside its peers</h1>
<p>{html.escape(processor())}; {measured}{precision_of(records)}, called from Python with arguments ready, minima over interleaved
rounds. A ratio is the best peer's time divided by Burin's. docs/performance.md says how each number comes about.</p>
{main_table(records)}
{verdict}
<figure>{svg[1]}{svg[2]}</figure>
<h2>Everyone's times</h2>
{''.join(map(peers_table, records))}
</html>
""")
