"""One engine in a process of its own: `python -m bench.worker NAME THREADS CORES MODELS CACHE`.

It says hello, then answers one line of JSON with one line of JSON:

    {"op": "prepare", "workload": ID}            {"error": largest error, "cosine": of the worst row, "right": …, "group": calls}
    {"op": "burst", "seconds": S}                {"us": [time of a call, …]}
    {"op": "first", "workload": ID}              {"first": an answer's values}, without a look at whether they are right
    {"op": "cosines", "case": PATH}              {"worst": …, "mean": …} of the texts of a golden case, with float64
    {"op": "drop"}                               {}

What cannot be done is {"failed": why}, and the process stays.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

GROUP_SECONDS = 20e-6  # calls shorter than this are timed several at once
WARM_SECONDS = 0.04  # calls shorter than this are made once before a burst is timed


class Worker:
    """The engine, and the workload that it has ready."""

    def __init__(self, name: str, threads: int, models: Path, cache: Path) -> None:
        engine, _, self.form = name.partition(":")
        self.engine = importlib.import_module(f"bench.contestants.{engine}")
        self.threads, self.models, self.cache = threads, models, cache
        self.prepared: Any = None
        self.group, self.warm = 1, False

    def made_ready(self, workload: str) -> tuple[Any, Any]:
        """The engine's calls, and what they should say."""
        from bench.contestants.contract import Setting
        from bench.reference import reference
        from bench.shapes import BY_ID

        expected = reference(BY_ID[workload], self.cache)
        setting = Setting(self.threads, self.models, self.cache, expected)
        return self.engine.prepare(BY_ID[workload], self.form, setting), expected

    def first(self, workload: str) -> dict[str, Any]:
        prepared, _ = self.made_ready(workload)
        return {"first": prepared.to_numpy(prepared.calls[0]()).ravel().tolist()}

    def prepare(self, workload: str) -> dict[str, Any]:
        from bench.contest import precision_of
        from bench.reference import Agreement

        prepared, expected = self.made_ready(workload)
        self.prepared, self.group, self.warm = prepared, 1, False
        for _ in range(2):  # twice, because a call must not spoil the next one
            if prepared.rewind:
                prepared.rewind()
            answers = [call() for call in prepared.calls]
        agreement = Agreement.of(prepared.to_numpy(answers[-1]), expected.result, precision_of(self.form)[0])
        seconds = min(self.burst(0.02)["us"]) / 1e6
        self.warm = seconds < WARM_SECONDS
        if not prepared.rewind:
            self.group = max(1, int(GROUP_SECONDS / seconds))
        return agreement._asdict() | {"group": self.group * len(prepared.calls)}

    def cosines(self, case: str) -> dict[str, float]:
        from bench.accuracy import workload_of
        from bench.contestants.contract import Setting
        from bench.reference import cosines

        workload, expected = workload_of(Path(case))
        prepared = self.engine.prepare(workload, self.form, Setting(self.threads, self.models, self.cache, expected))
        found = cosines(prepared.to_numpy(prepared.calls[0]()), expected.result)
        return {"worst": float(found.min()), "mean": float(found.mean())}

    def burst(self, seconds: float) -> dict[str, Any]:
        """Samples for so long, at least one."""
        calls, rewind, clock = list(self.prepared.calls) * self.group, self.prepared.rewind, time.perf_counter_ns
        samples: list[float] = []
        if self.warm:
            for call in calls:
                call()
            if rewind:
                rewind()
        end = clock() + int(seconds * 1e9)
        while not samples or clock() < end:
            if rewind:
                rewind()
            start = clock()
            for call in calls:
                call()
            samples.append((clock() - start) / len(calls) / 1e3)
        return {"us": samples}

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        match request["op"]:
            case "prepare":
                return self.prepare(request["workload"])
            case "first":
                return self.first(request["workload"])
            case "burst":
                return self.burst(request["seconds"])
            case "cosines":
                return self.cosines(request["case"])
        self.prepared = None
        return {}


def failure(error: Exception) -> dict[str, str]:
    text = str(error).strip().splitlines()
    return {"failed": f"{type(error).__name__}: {text[0] if text else ''}"[:200]}


def main() -> None:
    name, threads, cores, models, cache = sys.argv[1:]
    os.sched_setaffinity(0, map(int, cores.split(",")))
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what an engine prints is no reply

    def reply(what: dict[str, Any]) -> None:
        print(json.dumps(what), file=replies, flush=True)

    try:
        worker = Worker(name, int(threads), Path(models), Path(cache))
    except (ImportError, OSError) as error:
        reply(failure(error))
        return
    reply({})
    for line in sys.stdin:
        try:
            reply(worker.answer(json.loads(line)))
        except Exception as error:  # whatever an engine throws: it is named and left out of this workload
            reply(failure(error))


if __name__ == "__main__":
    main()
