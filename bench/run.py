"""The bench: every workload, Burin and its peers in turn, records, table, plot and page.

In another precision than float32 also how close everyone is to float64, in accuracy.json.

    python -m bench.run --build FOLDER --installed PEER… [--quick] [--threads N…] [--only WORKLOAD…] [--precision P]

`scripts/build.py bench` runs it, in the bench's environment.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import NamedTuple

from bench import latency
from bench.accuracy import CASES, Accuracy, lines_of as accuracy_lines
from bench.contest import NARROW_WORKLOADS, OURS, own_of, peers_of, two_best
from bench.engines import Engine, cores_for, in_turn, worker
from bench.models import NAMES, compile_model
from bench.native import FROM_C, Program, Programs
from bench.page import write_page
from bench.plot import write_plot
from bench.record import Machine, Narrow, Record, Times, count_of, duration, losses, make_record, table
from bench.reference import reference
from bench.shapes import BY_ID, WEIGHT_BYTES, WORKLOADS, Workload
from bench.start_up import Start, StartUp, answer_of_worker, lines_of, own_sizes, record_of, start_up

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"
START = time.monotonic()


class Pace(NamedTuple):
    """How long everyone is timed."""

    rounds: int
    seconds: float  # of a burst; a call is never cut short


QUICK, FULL = Pace(8, 0.06), Pace(16, 0.1)
FROM_PYTHON = "W2.fwd"  # the control loop's encoder: engines without a program in C are started in Python
FEW_PROCESSES = 3  # as these take seconds to start
LARGE_FLOPS = 1e10  # workloads beyond it get half as many rounds: a call of theirs outlasts a burst


def say(text: str) -> None:
    minutes, seconds = divmod(int(time.monotonic() - START), 60)
    print(f"[{minutes:2d}:{seconds:02d}] {text}", flush=True)


class Measured(NamedTuple):
    """Everything about one workload."""

    workload: Workload
    own: Times
    peers: dict[str, Times]
    error: float
    machine: Machine
    own_c: Times | None
    peers_c: dict[str, Times]
    narrow: Narrow | None


class Bench:
    """One run with one number of threads."""

    def __init__(self, options: argparse.Namespace, threads: int, full_run: list[Record]) -> None:
        self.options, self.threads, self.full_run = options, threads, full_run
        self.pace = QUICK if options.quick else FULL
        self.precision, self.own = options.precision, own_of(options.precision)
        self.cache = options.build / "bench"
        self.models = self.cache / "models"
        self.engines: dict[str, Engine | None] = {}
        self.programs = Programs(options.build, self.models, self.cache)
        self.start_ups: dict[str, dict[str, StartUp]] = {}  # by workload, then by engine
        self.latencies: dict[str, latency.Latency] = {}
        self.accuracy: Accuracy = {}

    def engine(self, name: str) -> Engine | None:
        """Started when it is first wanted; None, and named once, where it does not start."""
        if name not in self.engines:
            log = self.cache / f"{name.replace(':', '_')}.log"
            started = Engine(name, self.threads, self.models, self.cache, log)
            if "failed" in started.hello:
                say(f"  skipping {name}: {started.hello['failed']}")
            self.engines[name] = None if "failed" in started.hello else started
        return self.engines[name]

    def ready(self, workload: Workload, names: list[str]) -> tuple[dict[str, Engine], dict[str, dict[str, float]]]:
        """Those of the contestants whose answer is right, and how their answers compare."""
        engines, answers = {}, {}
        for name in names:
            engine = self.engine(name)
            if engine is None:
                continue
            answer = engine.prepare(workload.id)
            if "failed" in answer:
                say(f"  skipping {name}: {answer['failed']}")
            elif not answer["right"]:
                say(f"  skipping {name}: its answer is wrong by {answer['error']:.1e}, cosine {answer['cosine']:.5f}")
            else:
                engines[name], answers[name] = engine, answer
        return engines, answers

    def measure_accuracy(self) -> None:
        """Of Burin and its peers, text by text."""
        names = [name for name in self.contestants(BY_ID["W5"]) if ":" not in name or name.endswith(("-one", self.own))]
        for case in CASES:
            self.accuracy[case.stem] = found = {}
            for name in names:
                engine = self.engine(name)
                answer = engine.cosines(case) if engine else {"failed": "it did not start"}
                if "failed" in answer:
                    say(f"  skipping {name} on {case.name}: {answer['failed']}")
                else:
                    found[name] = answer

    def contestants(self, workload: Workload) -> list[str]:
        available = set(self.options.installed)
        if self.precision != "float32":
            peers = peers_of(workload, self.precision)
            return [self.own, OURS, *(name for name in peers if name.partition(":")[0] in available)]
        if self.options.quick:
            return [OURS, *two_best(workload, self.threads, self.full_run, available)]
        return [OURS, *(name for name in peers_of(workload) if name.partition(":")[0] in available)]

    def measure(self, workload: Workload) -> Measured | None:
        """None where Burin has no time."""
        say(f"{workload.id}: {workload.title}")
        engines, answers = self.ready(workload, self.contestants(workload))
        rounds = self.pace.rounds // (2 if workload.flops > LARGE_FLOPS else 1)
        times = in_turn(engines, rounds, self.pace.seconds)
        for engine in engines.values():
            engine.drop()
        own = times.pop(self.own, None)
        if own is None:
            say("  no time of Burin")
            return None
        say(f"  {self.own} {duration(own.minimum)}" + "".join(
            f", {name} {duration(peer.minimum)}" for name, peer in sorted(times.items(), key=lambda item: item[1])))
        from_python = self.start_ups_from_python(workload, list(engines))
        weight_bytes = workload.encoder.weight_bytes(self.precision)
        machine = Machine(*self.programs.machine(self.threads, weight_bytes))
        own_c, peers_c = self.measure_c(workload)
        if workload.id in self.start_ups:
            self.start_ups[workload.id] |= from_python
        narrow = None
        if self.precision != "float32":
            own_float32 = times.pop(OURS, None)
            narrow = Narrow(self.precision, own_float32, answers[self.own]["cosine"],
                            {name: answers[name]["cosine"] for name in times})
        return Measured(workload, own, times, answers[self.own]["error"], machine, own_c, peers_c, narrow)

    def start_ups_from_python(self, workload: Workload, names: list[str]) -> dict[str, StartUp]:
        """Of those of the contestants that are not called from C, with the encoder of the control loop."""
        if self.threads != 1 or workload.id != FROM_PYTHON:
            return {}
        request = json.dumps({"op": "first", "workload": workload.id}).encode() + b"\n"
        found = {}
        for name in names:
            if name.partition(":")[0] in FROM_C:
                continue
            start = Start(*worker(name, self.threads, self.models, self.cache), answer_of_worker, 0, request)
            try:
                found[f"{name}, Python"] = start_up(start, FEW_PROCESSES)
            except RuntimeError as error:
                say(f"  {name} in a fresh process: {error}")
        return found

    def measure_c(self, workload: Workload) -> tuple[Times | None, dict[str, Times]]:
        """The small encoders with one thread, everyone called from C."""
        if self.threads != 1 or not workload.id.startswith(("W1", "W2")):
            return None, {}
        programs = self.programs.of(workload, set(self.options.installed), say)
        times = in_turn(programs, self.pace.rounds, self.pace.seconds)
        if workload.id == latency.WORKLOAD:
            say(f"  {latency.STEPS:,} steps of each of {', '.join(latency.ENGINES)}")
            self.latencies = latency.measure({name: program for name, program in programs.items()
                                              if name in latency.ENGINES and isinstance(program, Program)})
        for name, program in programs.items():
            program.close()
        self.start_ups[workload.id] = {name: start_up(program.start) for name, program in programs.items()}
        return times.pop(OURS, None), times

    def run(self, workloads: list[Workload]) -> list[Record]:
        """The records; all of them against the best peak that was seen."""
        say(f"{count_of(self.threads, 'thread')}, on core {', '.join(map(str, cores_for(self.threads)))}; "
            f"load of the machine {os.getloadavg()[0]:.1f}")
        try:
            found = [measured for workload in workloads if (measured := self.measure(workload))]
            if self.precision != "float32":
                say("accuracy")
                self.measure_accuracy()
        finally:
            self.close()
        peak = max((measured.machine.gflops for measured in found), default=0)
        return [make_record(measured.workload, self.threads, measured.own, measured.peers, measured.error,
                            measured.machine._replace(gflops=peak), measured.own_c, measured.peers_c, measured.narrow)
                for measured in found]

    def close(self) -> None:
        for engine in self.engines.values():
            if engine:
                engine.close()


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Times Burin beside other engines.")
    parser.add_argument("--build", type=Path, required=True, help="the build folder, with bin/burin")
    parser.add_argument("--burin", type=Path, help="the compiler, unless it is the build folder's")
    parser.add_argument("--installed", nargs="*", default=[], metavar="PEER", help="peers in this environment")
    parser.add_argument("--quick", action="store_true", help="against the two best peers of each workload")
    parser.add_argument("--threads", type=int, nargs="+", help="1 and 2, or with --quick 1")
    parser.add_argument("--only", nargs="+", choices=list(BY_ID), metavar="WORKLOAD")
    parser.add_argument("--precision", choices=list(WEIGHT_BYTES), default="float32",
                        help="in another than float32: the workloads of MiniLM, beside Burin's own float32")
    parser.add_argument("--target", default="host", help="what the model of another precision than float32 is compiled for")
    options = parser.parse_args()
    offered = list(BY_ID) if options.precision == "float32" else NARROW_WORKLOADS
    options.only = options.only or offered
    if missing := sorted(set(options.only) - set(offered)):
        parser.error(f"{', '.join(missing)}: in {options.precision} there are {', '.join(offered)}")
    options.threads = options.threads or ([1] if options.quick or options.precision != "float32" else [1, 2])
    return options


def prepare_models(options: argparse.Namespace, workloads: list[Workload]) -> None:
    cache = options.build / "bench"
    (cache / "models").mkdir(parents=True, exist_ok=True)
    burin = options.burin or options.build / "bin" / "burin"
    for encoder in dict.fromkeys(workload.encoder for workload in workloads):
        say(f"compiling {NAMES[encoder]}")
        compile_model(burin, encoder, cache / "models", cache)
        if options.precision != "float32":
            compile_model(burin, encoder, cache / "models", cache, options.precision, options.target)
    for workload in workloads:
        reference(workload, cache)


def write(records: list[Record], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "latest.json").write_text(json.dumps(records, indent=1) + "\n")
    write_plot(records, folder / "latest.svg")
    write_page(records, folder / "latest.svg", folder / "latest.html")


def read_full_run() -> list[Record]:
    path = RESULTS / "full.json"
    return json.loads(path.read_text()) if path.exists() else []


def main() -> int:
    options = parse_arguments()
    available = len(os.sched_getaffinity(0))
    if max(options.threads) > available:
        print(f"error: --threads {max(options.threads)}: {available} cores are available")
        return 1
    workloads = [workload for workload in WORKLOADS if workload.id in options.only]
    prepare_models(options, workloads)
    full_run = read_full_run()
    benches = [Bench(options, threads, full_run) for threads in options.threads]
    records = [record for bench in benches for record in bench.run(workloads)]
    start_ups = {workload: found for bench in benches for workload, found in bench.start_ups.items()}
    latencies = {name: found for bench in benches for name, found in bench.latencies.items()}
    write(records, RESULTS)
    if not options.quick and options.only == list(BY_ID) and options.precision == "float32":
        (RESULTS / "full.json").write_text((RESULTS / "latest.json").read_text())
    print(f"\n{table(records)}\n")
    if start_ups:
        sizes = own_sizes(options.build)
        print("\n".join(lines_of(start_ups, sizes)) + "\n")
        (RESULTS / "start_up.json").write_text(json.dumps(record_of(start_ups, sizes), indent=1) + "\n")
    if latencies:
        print("\n".join(latency.lines_of(latencies)) + "\n")
        (RESULTS / "latency.json").write_text(
            json.dumps({name: found._asdict() for name, found in latencies.items()}, indent=1) + "\n")
    if options.precision != "float32":
        accuracy = benches[0].accuracy  # the number of threads changes no bit of Burin's, and little of the others'
        (RESULTS / "accuracy.json").write_text(json.dumps({options.precision: accuracy}, indent=1) + "\n")
        print("\n".join(accuracy_lines(accuracy)) + "\n")
    lost = losses(records)
    print("slower than a peer:\n  " + "\n  ".join(lost) if lost else "no case in which a peer is faster")
    print(f"{RESULTS / 'latest.json'}, latest.svg, latest.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
