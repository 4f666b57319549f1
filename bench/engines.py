"""Engines in processes of their own: started, asked, timed in turn."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from bench.record import Times

START_SECONDS, PREPARE_SECONDS, BURST_SECONDS = 120, 400, 120
PAUSE_SECONDS = 0.005  # between two engines, for threads that spin after a call


def cores_for(threads: int) -> list[int]:
    """The last ones: the first is where a machine tends to its own business."""
    return sorted(os.sched_getaffinity(0))[-threads:]


def worker(name: str, threads: int, models: Path, cache: Path) -> tuple[list[str], dict[str, str]]:
    """The command and the environment of an engine's process."""
    environment = dict(os.environ, TORCHINDUCTOR_CACHE_DIR=str(cache / "inductor"))
    environment |= {name: str(threads) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    for slow in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
        environment.pop(slow, None)
    cores = ",".join(map(str, cores_for(threads)))
    return [sys.executable, "-m", "bench.worker", name, str(threads), cores, str(models), str(cache)], environment


class Engine:
    """A worker process. What it cannot do is an answer with "failed"."""

    def __init__(self, name: str, threads: int, models: Path, cache: Path, log: Path) -> None:
        command, environment = worker(name, threads, models, cache)
        self.name = name
        with log.open("w") as errors:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
                                            text=True, env=environment)
        self.hello = self.reply(START_SECONDS)

    def reply(self, seconds: float) -> dict[str, Any]:
        if not select.select([self.process.stdout], [], [], seconds)[0]:
            self.process.kill()
            return {"failed": f"no answer in {seconds} s"}
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"failed": f"its process ended with status {self.process.wait()}"}

    def ask(self, wait_seconds: float, /, **request: object) -> dict[str, Any]:
        try:
            print(json.dumps(request), file=self.process.stdin, flush=True)
        except BrokenPipeError:
            return {"failed": "its process has ended"}
        return self.reply(wait_seconds)

    def prepare(self, workload: str) -> dict[str, Any]:
        return self.ask(PREPARE_SECONDS, op="prepare", workload=workload)

    def cosines(self, case: Path) -> dict[str, Any]:
        return self.ask(PREPARE_SECONDS, op="cosines", case=str(case))

    def burst(self, seconds: float) -> list[float]:
        return self.ask(BURST_SECONDS, op="burst", seconds=seconds).get("us", [])

    def drop(self) -> None:
        self.ask(BURST_SECONDS, op="drop")

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


class Bursts(Protocol):
    """Anything that can be timed for a while: the microseconds of its calls."""

    def burst(self, seconds: float) -> list[float]: ...

    def close(self) -> None: ...


def in_turn(subjects: Mapping[str, Bursts], rounds: int, seconds: float) -> dict[str, Times]:
    """Rounds in which every subject gets one burst, so that a busy moment of the machine meets all alike."""
    samples: dict[str, list[float]] = {name: [] for name in subjects}
    for _ in range(rounds):
        for name, subject in subjects.items():
            time.sleep(PAUSE_SECONDS)
            samples[name] += subject.burst(seconds)
    return {name: Times.of(found) for name, found in samples.items() if found}
