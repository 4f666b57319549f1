"""Whether the tuner finds what is there: each class of kernels is tuned from a bad start, and swept, and the gains over
the default of the best points that either tried are compared. Gains, not times: the default takes turns with the others
in every run, so a slow minute counts for both. Where the search starts elsewhere, it is not told what the default takes.

    scripts/tuner_quality.py scripts/tuner_quality.mlir [--points 200] [--only CLASS]
    scripts/tuner_quality.py build/bin/policy_generator --program --only whole

Takes minutes. The exit status says whether the geometric mean of each class reaches 95 % of the sweep's.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

# Of each class, a start that no one would choose.
BAD_STARTS = {
    "contract": "tile_rows=1,depth_unroll=8",
    "attend": "tile_keys=1,tile_queries=1",
    "row_reduce": "row_vectors=8",
    "pointwise": "row_vectors=8",
    "pool": "row_vectors=8",
    "whole": "sum_registers=1,depth_unroll=1",
}


def tune(command: list[str], options: list[str]) -> dict[tuple[str, str], float]:
    """The best gain over the default of every kernel and bucket."""
    with tempfile.TemporaryDirectory() as folder:
        database = str(Path(folder) / "tuned.json")
        done = subprocess.run([*command, "--json", "--database", database, *options], capture_output=True, text=True)
    if done.returncode != 0:
        if "no kernel was measured" in done.stderr:
            return {}
        sys.exit(f"{' '.join(command)} ended with status {done.returncode}: {done.stderr.strip()}")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return {(line["kernel"], line["rows"]): line["best_tried_gain"] for line in lines if "best_tried_gain" in line}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph")
    parser.add_argument("--program", action="store_true", help="GRAPH is a program that declares it")
    parser.add_argument("--points", default="200", help="of the sweep")
    parser.add_argument("--only", choices=sorted(BAD_STARTS))
    given = parser.parse_args()
    burin = str(Path(__file__).parent.parent / "build" / "bin" / "burin")
    command = [given.graph, "tune"] if given.program else [burin, "tune", given.graph]
    good = True
    for kernel_class, start in BAD_STARTS.items():
        if given.only and given.only != kernel_class:
            continue
        only = ["--only", kernel_class, "--budget", "1200s"]
        found = tune(command, [*only, "--start", start])
        swept = tune(command, [*only, "--sweep", given.points])
        both = sorted(found.keys() & swept.keys())
        if not both:
            print(f"{kernel_class}: the graph has none")
            continue
        for key in both:
            print(f"  {key[0]} {key[1]}: search {found[key]:.2f}x, sweep {swept[key]:.2f}x")
        mean = math.exp(sum(math.log(found[key] / swept[key]) for key in both) / len(both))
        print(f"{kernel_class}: from {start} the search reaches {100 * mean:.1f} % of the sweep, mean over {len(both)}")
        good &= mean >= 0.95
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
