#!/usr/bin/env python3
"""Sets up, builds, runs and tests Burin: one command leads from a fresh clone to a result.

    python3 scripts/build.py demo       builds, then runs the examples
    python3 scripts/build.py test       builds, then runs every test; the last line is the count
    python3 scripts/build.py soak       builds, then runs what takes hours; the last line is the count
    python3 scripts/build.py bench      builds, then times Burin beside other engines
    python3 scripts/build.py --help     everything else

Each command does whatever still has to come before it: Debian packages (as root, on Debian 12), the pinned PyPI
packages in `.venv`, CMake, ninja. All of it is skipped where it is already done, so the same command serves the first
build and the hundredth. Nothing outside Python's standard library is used, because this runs before anything is there.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import NamedTuple

from prerequisites import VENV, doctor, halide_cmake, install_packages, make_environment
from progress import ROOT, Failure, run_quietly, run_visibly, say

LLVM_CMAKE = Path("/usr/lib/llvm-22/lib/cmake")
# Two, whatever the machine: a test that compiles kernels starts several worker processes itself.
TEST_JOBS = 2


# ---- CMake and ninja


def read_presets() -> dict[str, dict]:
    presets = json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]
    return {preset["name"]: preset for preset in presets}


def build_folder(preset: str) -> Path:
    """The preset's binaryDir, its own or inherited: CMakePresets.json is the one place that says it."""
    presets = read_presets()
    entry = presets[preset]
    while "binaryDir" not in entry:
        entry = presets[entry["inherits"]]
    return Path(entry["binaryDir"].replace("${sourceDir}", str(ROOT)))


def configure(preset: str) -> None:
    """Runs CMake, each time: with nothing changed it takes a second, and it never builds with yesterday's settings."""
    settings = {
        "CMAKE_MAKE_PROGRAM": VENV / "bin" / "ninja",
        "Halide_DIR": halide_cmake(),
        "MLIR_DIR": LLVM_CMAKE / "mlir",
        "LLVM_DIR": LLVM_CMAKE / "llvm",
        "BURIN_LIT": VENV / "bin" / "lit",
    }
    # Empty where there is no ccache, so that a launcher that CMake's cache remembers goes away with the program. It
    # takes precompiled headers only from those who say that no macro of theirs and no time of day changes them.
    cache = shutil.which("ccache")
    launcher = f"env;CCACHE_SLOPPINESS=pch_defines,time_macros;{cache}" if cache else ""
    for language in ("C", "CXX"):
        settings[f"CMAKE_{language}_COMPILER_LAUNCHER"] = launcher
    options = [f"-D{name}={value}" for name, value in settings.items()]
    run_quietly(f"cmake --preset {preset}", [VENV / "bin" / "cmake", "--preset", preset, *options])


def build(preset: str) -> Path:
    """Everything from packages to programs; returns the build folder."""
    install_packages()
    make_environment()
    configure(preset)
    folder = build_folder(preset)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    status = run_visibly(f"ninja -j{cores}", [VENV / "bin" / "ninja", "-C", folder, f"-j{cores}"])
    if status != 0:
        raise Failure(f"the build failed (ninja's exit status {status})")
    say("built")
    return folder


# ---- tests


class Count(NamedTuple):
    passed: int
    failed: int
    skipped: int

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed" + (f", {self.skipped} skipped" if self.skipped else "")


def count_results(report: Path) -> Count:
    """Counts test cases in ctest's JUnit report. A test that could not start counts as failed, not as skipped."""
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        skip = case.find("skipped")
        said = skip.get("message", "") if skip is not None else ""
        if case.get("status") == "run":
            counts["passed"] += 1
        elif case.get("status") == "disabled" or said.startswith("SKIP_"):
            counts["skipped"] += 1
        else:
            counts["failed"] += 1
    return Count(**counts)


def print_reports(report: Path) -> None:
    """What the tests with the label `report` wrote: ctest shows it only of those that failed."""
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        labels = [entry.get("value", "") for entry in case.iter("property") if entry.get("name") == "cmake_labels"]
        if "report" in ";".join(labels).split(";") and case.get("status") == "run":
            print(f"\n{case.get('name')}\n{case.findtext('system-out', '')}")


def test(preset: str, only: str | None) -> int:
    """Runs what ctest knows: GoogleTest cases, folders of FileCheck tests, example programs."""
    folder = build(preset)
    report = folder / "test_results.xml"
    report.unlink(missing_ok=True)
    command = [VENV / "bin" / "ctest", "--preset", preset, "--output-on-failure", f"-j{TEST_JOBS}",
               "--no-tests=error", "--output-junit", report, "--test-output-size-passed", "1000000"]
    status = run_visibly("ctest", command + (["-R", only] if only else []))
    if report.exists():
        print_reports(report)
    count = count_results(report) if report.exists() else Count(0, 0, 0)
    print(count)
    return 1 if status != 0 or count.failed else 0


# ---- other commands


def run_listed(folder: Path, name: str, minutes: float | None = None) -> tuple[int, list[str]]:
    """Runs the programs of a list that CMake writes, <name>.txt: one command a line, relative to the build folder.

    A number in braces is for how many seconds a program runs; together they are made as many as `minutes` are, where
    those are given. Returns how many programs there are, and what failed.
    """
    listing = folder / f"{name}.txt"
    lines = [line.strip() for line in listing.read_text().splitlines() if line.strip()]
    if not lines:
        raise Failure(f"{listing} names no program")
    seconds = [int(number) for line in lines for number in re.findall(r"\{(\d+)\}", line)]
    factor = 60 * minutes / sum(seconds) if minutes and seconds else 1
    lines = [re.sub(r"\{(\d+)\}", lambda found: str(max(1, round(int(found[1]) * factor))), line) for line in lines]
    failed = []
    for number, line in enumerate(lines, start=1):
        print()
        program, *options = shlex.split(line)
        status = run_visibly(f"{name} {number} of {len(lines)}: {line}", [folder / program, *options], folder)
        failed += [f"{line} (exit status {status})"] if status != 0 else []
    return len(lines), failed


def demo(preset: str) -> int:
    """Runs the examples."""
    _, failed = run_listed(build(preset), "demo")
    if failed:
        raise Failure("failed: " + ", ".join(failed))
    return 0


def soak(preset: str, minutes: float | None) -> int:
    """Runs programs that take too long for every day, or measure times, which a test does not."""
    count, failed = run_listed(build(preset), "soak", minutes)
    print()
    for line in failed:
        print(f"failed: {line}")
    print(Count(count - len(failed), len(failed), 0))
    return 1 if failed else 0


def bench(arguments: argparse.Namespace) -> int:
    """Times Burin beside other engines, which it installs into an environment of their own (bench/)."""
    options = ["--quick"] if arguments.quick else []
    options += ["--threads", *arguments.threads] if arguments.threads else []
    options += ["--only", *arguments.only] if arguments.only else []
    options += ["--precision", arguments.precision] if arguments.precision else []
    options += ["--target", arguments.target] if arguments.target else []
    return run_visibly("bench", [sys.executable, "-m", "bench", "--build", build(arguments.preset), *options])


def clean(everything: bool) -> int:
    for folder in [ROOT / "build"] + ([VENV] if everything else []):
        say(f"removing {folder}")
        shutil.rmtree(folder, ignore_errors=True)
    return 0


# ---- command line


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Sets up, builds, runs and tests Burin.",
                                     epilog="Example: python3 scripts/build.py test --only docs")
    commands = parser.add_subparsers(dest="command", required=True)
    visible = [name for name, preset in read_presets().items() if not preset.get("hidden")]

    def add_command(name: str, description: str, example: str = "") -> argparse.ArgumentParser:
        return commands.add_parser(name, help=description, description=description,
                                   epilog=f"Example: python3 scripts/build.py {name}{example}")

    def add_build_command(name: str, description: str, example: str = "") -> argparse.ArgumentParser:
        command = add_command(name, description, example)
        command.add_argument("--preset", choices=visible, default="dev", help="from CMakePresets.json (default: dev)")
        return command

    add_build_command("build", "install what is missing, configure, build")
    add_build_command("demo", "build, then run the examples")
    add_build_command("test", "build, then run the tests; the last line counts them", " --only docs").add_argument(
        "--only", metavar="NAME", help="run only tests whose name matches this regular expression")
    add_build_command("soak", "build, then run long streams, random graphs and fuzzers; the last line counts the programs",
                      " --minutes 30").add_argument(
        "--minutes", type=float, metavar="N",
        help="for random graphs and fuzzers in all (default: six hours and one)")
    beside = add_build_command("bench", "build, then time Burin beside other engines; see docs/performance.md",
                               " --quick --only W2.fwd")
    beside.add_argument("--quick", action="store_true", help="only the two best peers of each workload")
    beside.add_argument("--threads", nargs="+", metavar="N", help="how many (default: 1 and then 2; with --quick 1)")
    beside.add_argument("--only", nargs="+", metavar="W", help="only these workloads, W1.fwd to W5")
    beside.add_argument("--precision", choices=["float32", "bf16", "bf16-dot", "int8"],
                        help="in another than float32 only MiniLM's workloads, W3 and W5, beside peers in that precision")
    beside.add_argument("--target", metavar="T", help="what Burin's model of --precision is compiled for (default: host)")
    add_command("clean", "remove what was built").add_argument(
        "--all", action="store_true", help="remove .venv too")
    add_command("doctor", "say what is installed and what is missing; change nothing")
    return parser.parse_args()


def main() -> int:
    # Programs write straight to the terminal or pipe; our own lines must not lag behind theirs.
    sys.stdout.reconfigure(line_buffering=True, errors="replace")
    arguments = parse_arguments()
    actions = {
        "build": lambda: build(arguments.preset) and 0,
        "demo": lambda: demo(arguments.preset),
        "test": lambda: test(arguments.preset, arguments.only),
        "soak": lambda: soak(arguments.preset, arguments.minutes),
        "bench": lambda: bench(arguments),
        "clean": lambda: clean(arguments.all),
        "doctor": doctor,
    }
    try:
        return actions[arguments.command]()
    except (Failure, OSError) as failure:
        print(f"error: {failure}")
        return 1
    except KeyboardInterrupt:
        print("stopped")
        return 130


if __name__ == "__main__":
    sys.exit(main())
