"""What the commands say of what they cannot do: a sentence for each, an exit status of 1, and nothing on stdout.

    python3 command_errors_test.py        with BURIN (the tool) and BURIN_SCRATCH (a folder) set
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "tool"))
import tensors

BURIN = os.environ["BURIN"]
SCRATCH = Path(os.environ["BURIN_SCRATCH"]) / "command_errors"


def graph(body: str, inputs: str, results: str, init: str = "normal") -> str:
    """Textual IR with axes `time` and `other`, of at most 8 rows, and a parameter W [4, 4]."""
    text = f"""module @m {{
  func.func @forward({inputs}) -> ({results}) {{
    %W = encoder.parameter "W" init "{init}" : tensor<4x4xf32>
{body}
  }}
}}
"""
    return text.replace("ROWS", 'tensor<?x4xf32, #encoder.rows<"time", 8>>').replace(
        "OTHER", 'tensor<?x4xf32, #encoder.rows<"other", 8>>').replace(
        "MASK", 'tensor<?x?xui8, #encoder.pairs<"time", 8, "time", 8>>')


X, Y = '%x: ROWS {encoder.name = "x"}', 'ROWS {encoder.name = "y"}'
DENSE = "    %y = encoder.dense %x, %W : ROWS, tensor<4x4xf32>\n    return %y : ROWS"
ROW_WISE = graph(DENSE, X, Y)
LOOKS_AHEAD = graph(
    "    %h = encoder.dense %x, %W : ROWS, tensor<4x4xf32>\n"
    "    %y = encoder.attention %h, %h, %h heads 1 scale 0.5 causal false : ROWS, ROWS, ROWS\n    return %y : ROWS", X, Y)
CAUSAL = LOOKS_AHEAD.replace("causal false", "causal true")
MASKED = graph(
    "    %h = encoder.dense %x, %W : ROWS, tensor<4x4xf32>\n"
    "    %y = encoder.attention %h, %h, %h, mask %m heads 1 scale 0.5 causal false : ROWS, ROWS, ROWS, MASK\n"
    "    return %y : ROWS", X + ', %m: MASK {encoder.name = "mask"}', Y)
TWO_AXES = graph(
    "    %h = encoder.dense %x, %W : ROWS, tensor<4x4xf32>\n"
    "    %y = encoder.attention %h, %c, %c heads 1 scale 0.5 causal false : ROWS, OTHER, OTHER\n    return %y : ROWS",
    X + ', %c: OTHER {encoder.name = "c"}', Y)


def values(shape: list[int], kind: str = "F32", of=None) -> tuple:
    count = 1
    for extent in shape:
        count *= extent
    return shape, of or [0] * count, kind


class Commands(unittest.TestCase):
    def setUp(self):
        self.folder = SCRATCH / self._testMethodName
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "tmp").mkdir(parents=True)

    def file(self, name: str, text: str) -> str:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return str(path)

    def tensors(self, name: str, given: dict, metadata: dict | None = None) -> str:
        tensors.write(self.folder / name, given, metadata)
        return str(self.folder / name)

    def said(self, *words: str, expected: str, temporary: str | None = None, tool: list[str] = [BURIN]) -> None:
        environment = {**os.environ, "TMPDIR": temporary or str(self.folder / "tmp")}
        done = subprocess.run([*tool, *words], text=True, capture_output=True, env=environment)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn(expected, done.stderr, " ".join(words))

    # ---- bench

    def test_bench(self):
        self.said("bench", "--kernel", "convolution", "--size", "8x8x8",
                  expected="kernel 'convolution' is not known, expected contract")
        for size in ("8x8", "8x8x0", "axbxc", "8x8x99999999999"):
            self.said("bench", "--kernel", "contract", "--size", size,
                      expected=f"size '{size}', expected MxKxN, such as 128x384x1536")
        self.said("bench", self.file("two.mlir", TWO_AXES), "--times", "2", "--mixed", "2",
                  expected="--mixed: the graph has 2 time symbols, expected 1")
        self.said("bench", self.file("masked.mlir", MASKED), "--times", "2", "--mixed", "2",
                  expected="--mixed: input 'mask' is a mask, expected a graph without one")
        for description in ("[]", "{}"):
            self.file("example/bench.json", description)
            self.said("bench", str(self.folder / "example"),
                      expected="bench.json: no entry 'model', expected an object that names one")

    def test_a_start_up_that_is_not_measured(self):
        # The tool beside another program that opens models.
        tool = self.folder / "tool"
        (tool / "bin").mkdir(parents=True)
        shutil.copy(BURIN, tool / "bin" / "burin")
        (tool / "lib").symlink_to(Path(BURIN).resolve().parents[1] / "lib")
        probe = tool / "bin" / "burin-start-up-probe"
        for does, expected in [("echo out of order; exit 3", "the process that opens the model failed: out of order"),
                               ("echo 1 2", "the process that opens the model wrote '1 2', expected three numbers")]:
            probe.write_text(f"#!/bin/sh\n{does}\n")
            probe.chmod(0o755)
            self.said("bench", self.file("row_wise.mlir", ROW_WISE), "--times", "2", "--start-up", expected=expected,
                      tool=[str(tool / "bin" / "burin")])

    @unittest.skipUnless(shutil.which("qemu-x86_64"), "no emulator of x86")
    def test_a_machine_of_no_target(self):
        self.said("compile", self.file("row_wise.mlir", ROW_WISE), "--target", "host", "-o", str(self.folder / "out"),
                  expected="this machine runs none of the targets, so that there is no 'host'; `burin targets` lists them",
                  tool=["qemu-x86_64", "-cpu", "Conroe", BURIN])  # of 2006, before SSE4.1

    def test_a_folder_for_temporary_files_that_is_not_there(self):
        row_wise, nowhere = self.file("row_wise.mlir", ROW_WISE), str(self.folder / "nowhere")
        self.said("bench", row_wise, "--times", "2", temporary=nowhere, expected="a temporary file cannot be made: ")
        self.said("compile", row_wise, "-o", str(self.folder / "out"), temporary=nowhere, expected="no temporary folder")

    @unittest.skipUnless(shutil.which("qemu-aarch64") and shutil.which("aarch64-linux-gnu-gcc"), "no emulator of ARM")
    def test_emulators_are_not_timed(self):
        self.said("bench", self.file("row_wise.mlir", ROW_WISE), "--target", "arm-64",
                  expected="), whose times say nothing of a processor")

    # ---- run

    def test_run(self):
        row_wise, two = self.file("row_wise.mlir", ROW_WISE), self.file("two.mlir", TWO_AXES)
        weights = self.tensors("weights", {"W": values([4, 4])})

        def said(source: str, given: dict, expected: str):
            self.said("run", source, "--weights", weights, "--inputs", self.tensors("inputs", given), "-o",
                      str(self.folder / "out"), expected=expected)

        said(row_wise, {"x": values([2, 4]), "z": values([1])}, "tensor 'z' is not an input of the graph")
        said(row_wise, {"x": values([4])}, "input 'x' is f32[4], expected a matrix of F32")
        said(row_wise, {"x": values([2, 4]), "offsets": values([2], "F32")},
             "offsets is f32[2], expected i32[sequences + 1]")
        said(row_wise, {"x": values([2, 4]), "offsets": values([3], "I32", [0, 2, 1])},
             "offsets do not start at 0 and ascend")
        said(row_wise, {"x": values([2, 4]), "offsets": values([2], "I32", [1, 2])},
             "offsets do not start at 0 and ascend")
        said(two, {"x": values([2, 4]), "c": values([2, 4]), "offsets": values([2], "I32", [0, 2])},
             "offsets is given, but the graph has 2 time symbols, expected 1")

    # ---- graphs and weights

    def test_graphs(self):
        self.said("init", self.file("no.mlir", "module {"), "-o", str(self.folder / "w"), expected="no.mlir: the graph cannot be read")
        self.said("init", self.file("wrong.mlir", ROW_WISE.replace('"x"', '""')), "-o", str(self.folder / "w"),
                  expected="wrong.mlir: the graph has errors")
        self.said("init", self.file("init.mlir", ROW_WISE.replace('"normal"', '"random"')), "-o", str(self.folder / "w"),
                  expected="parameter 'W' has init 'random', expected normal, zeros, ones or positions")

    def test_configurations(self):
        for name, text, expected in (("config.json", "[1]", "config.json: not an object"),
                                     ("modules.json", "{}", "modules.json: not a list")):
            folder = f"of_{name}"
            self.file(f"{folder}/{name}", text)
            self.said("import", str(self.folder / folder), "-o", str(self.folder / "out.mlir"), expected=expected)
        pooling = json.dumps([{"type": f"sentence_transformers.models.{kind}", "path": path}
                              for kind, path in (("Transformer", ""), ("Pooling", "1_Pooling"))])
        self.file("pooling/modules.json", pooling)
        self.file("pooling/1_Pooling/config.json", "3")
        self.said("import", str(self.folder / "pooling"), "-o", str(self.folder / "out.mlir"),
                  expected="config.json: not an object")

    # ---- cases

    def case(self, text: str, given: dict, expected: str) -> None:
        given = {"param.W": values([4, 4]), "in.x": values([2, 4]), "out.y": values([2, 4], "F64"), **given}
        path = self.tensors("case.safetensors", given, {"graph": text})
        self.said("check", path, "--target", "generic-x86-64", expected=expected)

    def test_cases(self):
        self.case(LOOKS_AHEAD, {"out.steps": values([2, 4], "F64")}, "'out.steps' is given, but the graph has no step: ")
        self.case(CAUSAL, {"out.k_cache": values([1, 1], "F64")},
                  "'out.k_cache' is f64[1,1], the state holds f32[2,4]")
        self.case(ROW_WISE, {"out.k_cache": values([2, 4], "F64")},
                  "'out.k_cache' is given, but 0 state values have that name, expected 1")
        self.case(TWO_AXES, {"in.c": values([2, 4]), "in.offsets": values([2], "I32", [0, 2])},
                  "in.offsets is given, but the graph has 2 time symbols, expected 1")
        self.case(TWO_AXES, {"in.x": values([0, 4]), "in.c": values([2, 4]), "out.y": values([0, 4], "F64"),
                             "out.steps": values([2, 4], "F64")},
                  "'out.steps' is given, but there is no row of 'time' to step with")


if __name__ == "__main__":
    unittest.main()
