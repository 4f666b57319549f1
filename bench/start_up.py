"""What a program takes on with an engine, and how long it waits for the first result: a fresh process each time.

Size is every file of code that the process has mapped and that does not come with the system: the program, and the libraries
that it loads, when it loads them; and where the model's code is a file of its own, that file without the weights in it. Time is
from before the process is started to its first answer: loading, opening the model, the first call. The files are in the page
cache.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from bench.command import run
from bench.record import duration

PROCESSES = 10
SYSTEM = ("/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/", "/usr/bin/", "/etc/")


class Start(NamedTuple):
    """How an engine is started with a workload, so that it answers once."""

    command: list[str]
    environment: dict[str, str]
    is_answer: Callable[[bytes], bool] = bool  # of a line that it prints
    model_bytes: int = 0  # of code that is mapped as data
    request: bytes = b""  # on its standard input


def answer_of_worker(line: bytes) -> bool:
    """Of a process of an engine (bench/worker.py), asked for its first result."""
    if b'"failed"' in line:
        raise RuntimeError(line.decode())
    return b'"first"' in line


class StartUp(NamedTuple):
    code_bytes: int
    first_result_us: float  # the best of the processes


def code_of(process: int) -> set[Path]:
    """Files that are mapped to be executed, the system's left out. Empty where the process has ended."""
    lines = Path(f"/proc/{process}/maps").read_text().splitlines()
    paths = {line.split(maxsplit=5)[5] for line in lines if len(line.split(maxsplit=5)) == 6 and "x" in line.split()[1]}
    return {Path(path) for path in paths if path.startswith("/") and not path.startswith(SYSTEM)}


def code_of_program(program: Path) -> set[Path]:
    """The same of a program that does not wait to be looked at: itself, and what it is linked to."""
    words = [word for line in run(["ldd", program]).splitlines() for word in line.split() if word.startswith("/")]
    return {program} | {Path(word) for word in words if not word.startswith(SYSTEM)}


def start_up(start: Start, processes: int = PROCESSES) -> StartUp:
    times, code = [], set()
    for _ in range(processes):
        begin = time.perf_counter_ns()
        process = subprocess.Popen(start.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, env=start.environment)
        try:
            process.stdin.write(start.request)
            process.stdin.flush()
            answered = any(start.is_answer(line.strip()) for line in process.stdout)
            times.append((time.perf_counter_ns() - begin) / 1e3)
            code |= code_of(process.pid)
        finally:
            process.kill()
            process.wait()
        if not answered:
            raise RuntimeError(f"{start.command[0]} gives no answer")
    return StartUp(sum(path.stat().st_size for path in code or code_of_program(Path(start.command[0]))) + start.model_bytes,
                   min(times))


class Size(NamedTuple):
    """Of an object or an archive: what a program grows by, and the file, which has symbols and relocations too."""

    loaded_bytes: int
    file_bytes: int


def size_of(file: Path) -> Size:
    return Size(sum(int(line.split()[3]) for line in run(["size", file]).splitlines()[1:]), file.stat().st_size)


def own_sizes(build: Path) -> dict[str, Size]:
    """What of the control loop's program is the model, and what the runtime."""
    return {"control loop's object": size_of(build / "examples" / "03_control_loop" / "policy" / "policy.o"),
            "runtime core": size_of(build / "lib" / "libburin_runtime_bare.a"),
            "runtime with files, heap and threads": size_of(build / "lib" / "libburin_runtime.a")}


def lines_of(found: Mapping[str, Mapping[str, StartUp]], sizes: Mapping[str, Size]) -> list[str]:
    """`found`: by workload, then by engine."""
    lines = [f"a fresh process to its first result, best of {PROCESSES}, and the code that it maps"]
    for workload, engines in found.items():
        lines += [f"  {workload:8} {name:16} {start.code_bytes / 1e6:9.2f} MB {duration(start.first_result_us):>10}"
                  for name, start in sorted(engines.items(), key=lambda item: item[1].first_result_us)]
    return lines + ["loaded of Burin, in a file of"] + [
        f"  {what:40} {size.loaded_bytes / 1e3:6.1f} KB {size.file_bytes / 1e3:6.1f} KB" for what, size in sizes.items()]


def record_of(found: Mapping[str, Mapping[str, StartUp]], sizes: Mapping[str, Size]) -> dict[str, Any]:
    return {"first_results": {workload: {name: start._asdict() for name, start in engines.items()}
                              for workload, engines in found.items()},
            "sizes": {what: size._asdict() for what, size in sizes.items()}}
