#!/usr/bin/env python3
"""Puts random graphs through the laws, and makes what fails smaller.

    random_graphs.py --program build/bin/random_laws --blocks 40 [--of-each N] [--first BLOCK] [--jobs N] [--seconds N]

A block is 250 seeds, whose graphs have few sizes and one target, so that many of their kernels are equal and are compiled
once: compiled kernels are kept until the end. Graphs run in processes of some dozens each, so that a crash ends few of
them. A graph that fails is written down as small as it can be made: a recipe whose
every word is needed for the failure, its textual IR, and the command that runs it again. The exit status says whether
all laws hold.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BATCH = 25
# recipe.h: seedsOfEqualSizes
BLOCK = 250
# A graph of a few ops compiles and is tested in seconds; what takes this long hangs.
SECONDS_OF_A_GRAPH = 240
NOT_VALID = 2
FAILED = re.compile(r"^\[  FAILED  \] (\w+\.\w+/(seed_\d+|random)_on_\w+)", re.MULTILINE)


class Laws:
    """The program, with its folder of compiled kernels, and what it says."""

    def __init__(self, program: Path, target: str | None, kernels: str):
        self.program = program
        self.kernels = kernels
        self.of_seeds = ["--target", target] if target else []

    def run(self, *options: str, graphs: int = 1) -> tuple[int, str]:
        """The exit status, negative for a signal or where the time was up, and what was printed."""
        with tempfile.TemporaryDirectory(prefix="burin-random") as folder:
            environment = {**os.environ, "BURIN_KERNEL_CACHE": self.kernels, "TMPDIR": folder}
            try:
                done = subprocess.run([self.program, *options, "--gtest_brief=1"], text=True, errors="replace",
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment,
                                      timeout=SECONDS_OF_A_GRAPH * graphs)
            except subprocess.TimeoutExpired as late:
                return -1, f"{late.stdout or ''}\nno end after {SECONDS_OF_A_GRAPH * graphs} s"
            return done.returncode, done.stdout

    def failing_seeds(self, first: int, last: int) -> list[int]:
        status, text = self.run("--seeds", f"{first}-{last}", *self.of_seeds, graphs=last - first + 1)
        if status == 0:
            return []
        named = {int(name.removeprefix("seed_")) for _, name in FAILED.findall(text)}
        if status > 0 and named:
            return sorted(named)
        if first == last:
            return [first]
        # It ended in the middle, by a signal: each by itself.
        return [seed for seed in range(first, last + 1) if self.run("--seeds", f"{seed}-{seed}", *self.of_seeds)[0] != 0]

    def describe(self, seed: int) -> tuple[str, str]:
        """Recipe and target of a seed."""
        _, text = self.run("--seeds", f"{seed}-{seed}", *self.of_seeds, "--print")
        return re.search(r"--recipe '(.*)' --target (\S+)", text).groups()


# ---- Making a graph smaller


def words_of(recipe: str) -> list[tuple[str, list[int]]]:
    words = re.findall(r"(\w+)\(([-\d,]*)\)", recipe)
    return [(name, [int(number) for number in numbers.split(",") if number]) for name, numbers in words]


def text_of(words) -> str:
    return " ".join(f"{name}({','.join(map(str, numbers))})" for name, numbers in words)


# How many of a word's numbers, the first ones, are values; the others are sizes and choices.
VALUES = {"rows": 0, "ids": 0, "latents": 0, "add": 2, "attention": 3, "gated_attention": 2}


def without(words, index: int, instead: int | None):
    """The recipe without a word; what took its value takes another, or is left out as well."""
    kept, place = [], {}
    for number, (name, numbers) in enumerate(words):
        values = VALUES.get(name, 1)
        taken = [instead if value == index and instead is not None else value for value in numbers[:values]]
        if number == index or any(value not in place for value in taken):
            continue
        place[number] = len(kept)
        kept.append((name, [place[value] for value in taken] + numbers[values:]))
    return kept


def smaller(words):
    """Recipes that are a little smaller, the largest step first."""
    for index in reversed(range(len(words))):
        yield without(words, index, None)
        for value in words[index][1][:VALUES.get(words[index][0], 1)]:
            yield without(words, index, value)
    for index, (name, numbers) in enumerate(words):
        for place in range(VALUES.get(name, 1), len(numbers)):
            for less in sorted({0, 1, numbers[place] // 2, numbers[place] - 1}):
                if 0 <= less < numbers[place]:
                    yield [*words[:index], (name, [*numbers[:place], less, *numbers[place + 1:]]), *words[index + 1:]]


def shrink(laws: Laws, recipe: str, target: str, seconds: float) -> tuple[str, str]:
    """The smallest recipe found that still fails, and what it says."""
    end = time.monotonic() + seconds
    words, said = words_of(recipe), laws.run("--recipe", recipe, "--target", target)[1]
    found = True
    while found and time.monotonic() < end:
        found = False
        for candidate in smaller(words):
            if time.monotonic() > end:
                break
            if not candidate:
                continue
            status, text = laws.run("--recipe", text_of(candidate), "--target", target)
            if status not in (0, NOT_VALID):
                words, said, found = candidate, text, True
                break
    return text_of(words), said


def report(laws: Laws, seed: int, folder: Path, seconds: float) -> None:
    recipe, target = laws.describe(seed)
    print(f"seed {seed} fails on {target}: {recipe}", flush=True)
    recipe, said = shrink(laws, recipe, target, seconds)
    folder.mkdir(parents=True, exist_ok=True)
    graph = folder / f"seed_{seed}.mlir"
    graph.write_text(laws.run("--recipe", recipe, "--target", target, "--print")[1])
    print("\n".join(said.strip().splitlines()[:40]))
    print(f"smallest: {graph}\nrerun: {laws.program} --recipe '{recipe}' --target {target}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="Puts random graphs through the laws.")
    parser.add_argument("--program", type=Path, required=True, help="random_laws")
    parser.add_argument("--blocks", type=int, default=4, help="of so many blocks of seeds (default: 4)")
    parser.add_argument("--of-each", type=int, default=BLOCK, help=f"so many graphs (default: {BLOCK}, which is all)")
    parser.add_argument("--first", type=int, default=0, help="the first block (default: 0)")
    parser.add_argument("--jobs", type=int, default=2, help="processes at once (default: 2)")
    parser.add_argument("--seconds", type=float, help="begin no more graphs after so long")
    parser.add_argument("--target", help="all of them on this one (default: each block on one of those that run here)")
    parser.add_argument("--failures", type=Path, default=Path("random_failures"), help="where failing graphs are written")
    parser.add_argument("--shrink-seconds", type=float, default=300, help="for each of the first three that fail")
    arguments = parser.parse_args()
    begin = time.monotonic()
    ranges = [(seed, min(seed + BATCH, first + arguments.of_each) - 1)
              for first in range(arguments.first * BLOCK, (arguments.first + arguments.blocks) * BLOCK, BLOCK)
              for seed in range(first, first + arguments.of_each, BATCH)]

    def run_batch(laws: Laws, first: int, last: int) -> tuple[int, list[int]]:
        if arguments.seconds and time.monotonic() - begin > arguments.seconds:
            return 0, []
        return last - first + 1, laws.failing_seeds(first, last)

    with tempfile.TemporaryDirectory(prefix="burin-random-kernels") as kernels:
        laws = Laws(arguments.program, arguments.target, kernels)
        tried, failing, last = 0, [], 0
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            for (_, seed), (count, seeds) in zip(ranges, pool.map(lambda seeds: run_batch(laws, *seeds), ranges)):
                tried += count
                failing += seeds
                last = seed if count else last
                if tried % 500 < BATCH and count:
                    print(f"{tried} graphs, {len(failing)} fail, {time.monotonic() - begin:.0f} s", flush=True)
        for seed in failing[:3]:
            report(laws, seed, arguments.failures, arguments.shrink_seconds)
    print(f"{tried} random graphs, seeds {ranges[0][0]} to {last}: {len(failing)} fail"
          + (f" ({', '.join(map(str, failing))})" if failing else "") + f", {time.monotonic() - begin:.0f} s")
    return 1 if failing or not tried else 0


if __name__ == "__main__":
    sys.exit(main())
