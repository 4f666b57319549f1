"""What a program takes on with an engine, and how long it waits for the first result: everyone called from C.

Size is every file that the process has mapped and that does not come with the system: the program, and the libraries that it
loads, when it loads them. Time is from before the process is started to its first answer: loading, opening the model, the first
call. The files are in the page cache.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from bench.command import run
from bench.record import duration

PROCESSES = 10
SYSTEM = ("/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/", "/etc/")


class StartUp(NamedTuple):
    mapped_bytes: int
    first_result_us: float  # the best of the processes


def files_of(process: int) -> set[Path]:
    """The system's left out, and what is no code: weights, a model's file."""
    lines = Path(f"/proc/{process}/maps").read_text().splitlines()
    paths = {line.split(maxsplit=5)[5] for line in lines if len(line.split(maxsplit=5)) == 6 and "x" in line.split()[1]}
    return {Path(path) for path in paths if path.startswith("/") and not path.startswith(SYSTEM)}


def start_up(command: list[str], environment: dict[str, str]) -> StartUp:
    times, size = [], 0
    for _ in range(PROCESSES):
        start = time.perf_counter_ns()
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   env=environment)
        answer = process.stdout.readline()
        times.append((time.perf_counter_ns() - start) / 1e3)
        size = sum(path.stat().st_size for path in files_of(process.pid))
        process.kill()
        process.wait()
        if not answer.strip():
            raise RuntimeError(f"{command[0]} gives no answer")
    return StartUp(size, min(times))


def loaded_bytes(file: Path) -> int:
    """Code and data of an object, or of an archive's members."""
    return sum(int(line.split()[3]) for line in run(["size", file]).splitlines()[1:])


def own_sizes(build: Path) -> dict[str, int]:
    """What of the control loop's program is the model, and what the runtime."""
    return {"control loop's object": loaded_bytes(build / "examples" / "03_control_loop" / "policy" / "policy.o"),
            "runtime core": loaded_bytes(build / "lib" / "libburin_runtime_bare.a"),
            "runtime with files, heap and threads": loaded_bytes(build / "lib" / "libburin_runtime.a")}


def lines_of(workload: str, found: Mapping[str, StartUp], sizes: Mapping[str, int]) -> list[str]:
    rows = [f"  {name:14} {start.mapped_bytes / 1e6:9.2f} MB {duration(start.first_result_us):>10}"
            for name, start in sorted(found.items(), key=lambda item: item[1].first_result_us)]
    return [f"a fresh process to the first result of {workload}, from C, best of {PROCESSES}: code it maps, time", *rows,
            "loaded of Burin: " + ", ".join(f"{what} {size / 1e3:.1f} KB" for what, size in sizes.items())]


def record_of(workload: str, found: Mapping[str, StartUp], sizes: Mapping[str, int]) -> dict[str, Any]:
    return {"workload": workload, "engines": {name: start._asdict() for name, start in found.items()}, "sizes": dict(sizes)}
