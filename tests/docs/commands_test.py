"""Runs the commands that the pages show, and prints a table of them.

    python3 commands_test.py BUILD_FOLDER SCRATCH_FOLDER [PAGE…]

Each page gets a fresh folder that looks like the root of a checkout: links to everything that is there, and `build` to the
build folder. What a command writes lands in that folder. `pages.py` says which blocks are commands.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from pages import ROOT, Block, all_pages, blocks_of, commands_in, name_of

SECONDS_PER_COMMAND = 120


class Result(NamedTuple):
    page: str
    line: int  # 0: not of a page
    command: str
    problem: str  # empty where all is well
    seconds: float
    output: str
    skipped: str = ""


def make_checkout(folder: Path, build: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for entry in ROOT.iterdir():
        if entry.name not in {".git", "build", "__pycache__"}:
            (folder / entry.name).symlink_to(entry)
    (folder / "build").symlink_to(build)


def write_file(folder: Path, block: Block, page: str) -> None:
    path = folder / block.argument
    path.parent.mkdir(parents=True, exist_ok=True)
    if folder.resolve() not in path.resolve().parents:
        raise AssertionError(f"{page}:{block.line - 1}: '{block.argument}' is a file of the checkout")
    path.write_text(block.text + "\n")


def missing_line(expected: str, output: str) -> str | None:
    """The first of the expected lines that the output does not have, in this order."""
    lines = iter(output.splitlines())
    for wanted in filter(str.strip, expected.splitlines()):
        pattern = re.compile(".*".join(re.escape(part) for part in wanted.split("…")))
        if not any(pattern.fullmatch(line.rstrip()) for line in lines):
            return wanted
    return None


class PageRun:
    """One page's commands, in one folder after another's."""

    def __init__(self, page: Path, build: Path, folder: Path) -> None:
        self.page, self.folder = page, folder
        self.environment = dict(os.environ, BURIN_KERNEL_CACHE=str(build / "tests" / "kernels"), LC_ALL="C.UTF-8")
        make_checkout(folder, build)

    def run(self) -> list[Result]:
        results: list[Result] = []
        for block in blocks_of(self.page):
            if block.language == "sh":
                missing = self.missing_programs(block)
                results += [self.run_command(line, command, block.argument == "fails") if not missing else
                            Result(name_of(self.page), line, command, "", 0, "", f"skipped: no {missing[0]}")
                            for line, command in commands_in(block)]
            elif block.language == "output" and results:
                last = results[-1]
                missing = missing_line(block.text, last.output)
                if missing and not last.problem and not last.skipped:
                    results[-1] = last._replace(problem=f"does not print '{missing.strip()}'")
            elif block.argument:
                write_file(self.folder, block, name_of(self.page))
        return results

    def missing_programs(self, block: Block) -> list[str]:
        needed = block.argument.split()[1:] if block.argument.startswith("needs ") else []
        return [name for name in needed if not shutil.which(name) and not (self.folder / name).exists()]

    def run_command(self, line: int, command: str, fails: bool) -> Result:
        start = time.monotonic()
        try:
            done = subprocess.run(["sh", "-e", "-c", command], cwd=self.folder, env=self.environment, text=True,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  timeout=SECONDS_PER_COMMAND, errors="replace")
            output, status = done.stdout, done.returncode
            problem = "" if (status != 0) == fails else f"exit status {status}"
        except subprocess.TimeoutExpired as error:
            output = (error.stdout or b"").decode(errors="replace")
            problem = f"not done after {SECONDS_PER_COMMAND} s"
        return Result(name_of(self.page), line, command, problem, time.monotonic() - start, output)


def shortened(command: str, width: int = 78) -> str:
    words = " ".join(command.replace("\\\n", " ").split())
    return words if len(words) <= width else words[:width - 1] + "…"


def print_table(results: list[Result]) -> None:
    rows = [(f"{result.page}:{result.line}" if result.line else result.page, shortened(result.command), result.problem or result.skipped or "ok",
             f"{result.seconds:.1f} s") for result in results]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        print(f"{row[0]:{widths[0]}}  {row[1]:{widths[1]}}  {row[2]:{widths[2]}}  {row[3]:>7}")


def main() -> int:
    build, scratch = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    scratch.mkdir(parents=True, exist_ok=True)
    scratch = scratch.resolve()
    pages = [ROOT / name for name in sys.argv[3:]] or all_pages()
    results: list[Result] = []
    for page in pages:
        if any(block.language == "sh" for block in blocks_of(page)):
            results += PageRun(page, build, scratch / name_of(page).replace("/", "_").removesuffix(".md")).run()
    if not results:
        print("no page shows a command")
        return 1
    failed = [result for result in results if result.problem]
    for result in failed:
        print(f"{result.page}:{result.line}: {result.problem}\n$ {result.command}\n{result.output}\n")
    print_table(results)
    skipped = sum(bool(result.skipped) for result in results)
    print(f"{len(results)} commands, {len(failed)} failed, {skipped} skipped, "
          f"{sum(result.seconds for result in results):.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
