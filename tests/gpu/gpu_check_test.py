"""scripts/gpu_check.sh where there is no NVIDIA GPU: what it says, and through OpenCL, on a processor, what it does.

    python3 gpu_check_test.py BURIN SCRATCH_FOLDER
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
CASE = ROOT / "tests" / "golden" / "sdpa_rectangular.safetensors"
BURIN, SCRATCH = "", Path()


class GpuCheck(unittest.TestCase):

    def run_script(self, *words: str | Path, path: str | None = None) -> tuple[int, list[dict]]:
        """Its status, and its lines, each of which has to be an object of JSON."""
        done = subprocess.run([ROOT / "scripts" / "gpu_check.sh", *words], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=dict(os.environ, PATH=path or os.environ["PATH"]))
        return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]

    def path_with_nvidia_smi(self, script: str) -> str:
        folder = SCRATCH / "bin"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "nvidia-smi").write_text(f"#!/bin/sh\n{script}\n")
        (folder / "nvidia-smi").chmod(0o755)
        return f"{folder}:{os.environ['PATH']}"

    def test_without_a_gpu_it_says_so(self):
        status, lines = self.run_script("--burin", BURIN, path=self.path_with_nvidia_smi("exit 9"))
        self.assertEqual((status, lines), (77, [{"gpu_check": "skipped",
                                                 "reason": "no NVIDIA GPU: nvidia-smi finds none"}]))

    def test_with_a_gpu_it_names_it_and_the_tool_decides(self):
        """Where the tool finds no driver behind the name, the check fails; it is not skipped."""
        path = self.path_with_nvidia_smi("echo 'A GPU, 1.2'")
        status, lines = self.run_script("--burin", "/bin/false", CASE, path=path)
        self.assertEqual((status, lines), (1, [{"gpu_check": "running", "gpu": "A GPU, 1.2"}]))

    def test_what_is_missing_is_named(self):
        self.assertEqual(self.run_script("--burin", SCRATCH / "absent"),
                         (1, [{"gpu_check": "no program", "reason": f"expected {SCRATCH / 'absent'}"}]))
        absent = SCRATCH / "no_such_folder"
        self.assertEqual(self.run_script("--burin", BURIN, "--kernels", absent),
                         (1, [{"gpu_check": "no kernels", "reason": f"{absent} is not a folder; --prepare makes it"}]))

    def test_wrong_usage_is_told(self):
        self.assertEqual(self.run_script("--burin"), (2, [{"gpu_check": "wrong usage", "reason": "--burin needs a value"}]))
        self.assertEqual(self.run_script("--nonsense"),
                         (2, [{"gpu_check": "wrong usage", "reason": "--nonsense is not an option"}]))

    def test_kernels_are_prepared_without_a_gpu_and_for_cuda(self):
        folder = SCRATCH / "cuda_kernels"
        shutil.rmtree(folder, ignore_errors=True)
        status, lines = self.run_script("--burin", BURIN, "--prepare", folder, CASE)
        self.assertEqual(status, 0)
        self.assertFalse(any(kernel["cached"] for line in lines for kernel in line["kernels"]))
        status, lines = self.run_script("--burin", BURIN, "--prepare", folder, CASE)
        self.assertEqual(status, 0)
        self.assertTrue(all(kernel["cached"] for line in lines for kernel in line["kernels"]))

    def test_a_check_with_prepared_kernels_compiles_none(self):
        targets = [json.loads(line) for line in
                   subprocess.run([BURIN, "targets", "--json"], text=True, capture_output=True).stdout.splitlines()]
        if not any(target.get("name") == "opencl" and target["runs_here"] for target in targets):
            self.skipTest("no OpenCL")
        folder = SCRATCH / "opencl_kernels"
        shutil.rmtree(folder, ignore_errors=True)
        self.assertEqual(self.run_script("--burin", BURIN, "--target", "opencl", "--prepare", folder, CASE)[0], 0)
        prepared = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}
        self.assertTrue(prepared)
        status, lines = self.run_script("--burin", BURIN, "--target", "opencl", "--kernels", folder, CASE)
        self.assertEqual(status, 0, lines)
        self.assertEqual(lines[0], {"gpu_check": "running", "gpu": "opencl"})
        self.assertTrue(any("case" in line for line in lines) and any("entry" in line for line in lines), lines)
        self.assertEqual({path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}, prepared)


if __name__ == "__main__":
    BURIN, SCRATCH = sys.argv[1], Path(sys.argv[2]).resolve()
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
