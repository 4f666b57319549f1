"""Which lines of the runtime its own tests run: a table, and the whole in the last line.

    python3 coverage.py --tools FOLDER --scratch FOLDER --least PERCENT PROGRAM…

The programs are compiled with clang's counters. `least` is a floor that what is reached may not fall below.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path


def main() -> int:
    parser = argparse.ArgumentParser(description="Which lines of the runtime its own tests run.")
    parser.add_argument("--tools", type=Path, required=True, help="with llvm-profdata and llvm-cov")
    parser.add_argument("--scratch", type=Path, required=True)
    parser.add_argument("--least", type=float, required=True, help="percent of all lines")
    parser.add_argument("programs", nargs="+")
    arguments = parser.parse_args()
    arguments.scratch.mkdir(parents=True, exist_ok=True)
    profiles = []
    for program in arguments.programs:
        profiles.append(str(arguments.scratch / (Path(program).name + ".profraw")))
        done = subprocess.run([program, "--gtest_brief=1"], env={**os.environ, "LLVM_PROFILE_FILE": profiles[-1]},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        if done.returncode != 0:
            print(done.stdout)
            return 1
    merged = arguments.scratch / "merged.profdata"
    subprocess.run([arguments.tools / "llvm-profdata", "merge", "-o", merged, *profiles], check=True)
    others = [word for program in arguments.programs[1:] for word in ("-object", program)]
    export = subprocess.run([arguments.tools / "llvm-cov", "export", "-summary-only", f"-instr-profile={merged}",
                             arguments.programs[0], *others], check=True, stdout=subprocess.PIPE).stdout
    data = json.loads(export)["data"][0]
    for file in sorted(data["files"], key=lambda file: file["summary"]["lines"]["percent"]):
        lines = file["summary"]["lines"]
        if lines["count"]:
            print(f"  {Path(file['filename']).name:24} {lines['percent']:6.1f} % of {lines['count']} lines")
    lines = data["totals"]["lines"]
    print(f"the runtime's tests run {lines['percent']:.1f} % of its {lines['count']} lines, expected at least "
          f"{arguments.least:g} %")
    return 0 if lines["percent"] >= arguments.least else 1


if __name__ == "__main__":
    sys.exit(main())
