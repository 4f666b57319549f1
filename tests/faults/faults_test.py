"""What goes wrong around a compilation: nothing that was there is lost, nothing half is left, the next run works.

    python3 faults_test.py        with BURIN (the tool) and BURIN_SCRATCH (a folder) set
"""

from __future__ import annotations

import os
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "tool"))
import tensors

BURIN = os.environ["BURIN"]
SCRATCH = Path(os.environ["BURIN_SCRATCH"])

GRAPH = """#time = #encoder.rows<"time", 9>
module @small {
  func.func @forward(%x: tensor<?x5xf32, #time> {encoder.name = "x"}) -> (tensor<?x5xf32, #time> {encoder.name = "y"}) {
    %W = encoder.parameter "W" init "normal" : tensor<5x5xf32>
    %h = encoder.dense %x, %W : tensor<?x5xf32, #time>, tensor<5x5xf32>
    %a = encoder.attention %h, %h, %h heads 1 scale 0.5 causal true : tensor<?x5xf32, #time>, tensor<?x5xf32, #time>, tensor<?x5xf32, #time>
    return %a : tensor<?x5xf32, #time>
  }
}
"""


CAN_UNSHARE = shutil.which("unshare") and subprocess.run(["unshare", "-m", "-u", "true"], stderr=subprocess.DEVNULL).returncode == 0


def as_a_full_disk(limit: int) -> None:
    """A write stops short after so many bytes of a file, then fails."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


class Faults(unittest.TestCase):
    def setUp(self):
        self.folder = SCRATCH / self._testMethodName
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "tmp").mkdir(parents=True)
        self.graph = self.folder / "small.mlir"
        self.graph.write_text(GRAPH)
        self.cache = self.folder / "cache"
        self.environment = {**os.environ, "BURIN_KERNEL_CACHE": str(self.cache), "TMPDIR": str(self.folder / "tmp")}

    def command(self, *words, output="out") -> list[str]:
        return [BURIN, "compile", str(self.graph), "-o", str(self.folder / output), "--target", "generic-x86-64", *words]

    def compile(self, output="out", limit=None, expect=0) -> str:
        done = subprocess.run(self.command(output=output), text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=self.environment, preexec_fn=(lambda: as_a_full_disk(limit)) if limit else None)
        self.assertEqual(done.returncode == 0, expect == 0, done.stdout)
        return done.stdout

    def files(self, output="out") -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in sorted((self.folder / output).iterdir())}

    def test_a_full_disk_leaves_what_was_there(self):
        self.compile()
        before = self.files()
        self.assertEqual(sorted(before), ["small.h", "small.o"])
        self.graph.write_text(GRAPH.replace("9>", "11>"))
        # As a full disk: a write stops short, then fails; at any of the files that are written on the way.
        for limit in (100, 2000, 5000, 9000, 15000):
            said = self.compile(limit=limit, expect=1)
            self.assertRegex(said, r"error: .+")
            self.assertEqual(self.files(), before, f"after a limit of {limit} bytes")
        self.compile()
        self.assertNotEqual(self.files(), before)

    @unittest.skipUnless(CAN_UNSHARE, "namespaces cannot be made here, and so no disk that is read-only")
    def test_a_read_only_disk_leaves_what_was_there(self):
        self.compile()
        before = self.files()
        self.graph.write_text(GRAPH.replace("9>", "11>"))
        out = shlex.quote(str(self.folder / "out"))
        done = subprocess.run(["unshare", "-m", "sh", "-c", f"mount --bind {out} {out} && mount -o remount,ro,bind {out} && exec \"$@\"",
                               "sh", *self.command()], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=self.environment)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("Read-only file system", done.stdout)
        self.assertEqual(self.files(), before)

    def test_files_of_other_commands_are_whole_or_as_before(self):
        weights, packed, inputs, outputs = (str(self.folder / name) for name in ("weights", "packed", "inputs", "outputs"))
        commands = {weights: ["init", str(self.graph), "-o", weights],
                    packed: ["pack", str(self.graph), "--weights", weights, "-o", packed, "--target", "generic-x86-64"],
                    outputs: ["run", str(self.graph), "--weights", weights, "--inputs", inputs, "-o", outputs,
                              "--target", "generic-x86-64"]}
        tensors.inputs(inputs, "x=9x5")
        for path, words in commands.items():
            subprocess.run([BURIN, *words], check=True, env=self.environment, stdout=subprocess.DEVNULL)
            before = Path(path).read_bytes()
            for limit in (0, 16, 100):
                done = subprocess.run([BURIN, *words], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                      env=self.environment, preexec_fn=lambda limit=limit: as_a_full_disk(limit))
                self.assertEqual(done.returncode, 1, f"{words[0]}, {limit} bytes: {done.stdout}")
                self.assertRegex(done.stdout, r"error: .+")
                self.assertEqual(Path(path).read_bytes(), before, f"{words[0]}, {limit} bytes")
        left = {path.name for path in self.folder.iterdir()}
        self.assertEqual(left, {"tmp", "cache", "small.mlir", "weights", "packed", "inputs", "outputs"})

    def test_a_folder_that_cannot_be_is_an_error(self):
        (self.folder / "out").write_text("a file")
        said = self.compile(expect=1)
        self.assertIn(str(self.folder / "out"), said)
        self.assertEqual((self.folder / "out").read_text(), "a file")

    def test_damaged_cache_entries_are_none(self):
        self.compile()
        good = self.files()
        entries = sorted(self.cache.iterdir())
        self.assertGreater(len(entries), 1)
        damages = [lambda data: b"", lambda data: data[:-1], lambda data: data[:len(data) // 2], lambda data: data + b"x",
                   lambda data: data[:-200] + bytes([data[-200] ^ 1]) + data[-199:], lambda data: b"\xff" * len(data)]
        for number, damage in enumerate(damages):
            for entry in entries:
                entry.write_bytes(damage(entry.read_bytes()))
            self.compile(output=f"out{number}")
            self.assertEqual(self.files(f"out{number}"), good, f"damage {number}")

    def test_two_processes_share_a_cache(self):
        self.compile(output="alone")
        shutil.rmtree(self.cache)
        running = [subprocess.Popen(self.command(output=f"out{number}"), env=self.environment, stdout=subprocess.DEVNULL)
                   for number in range(3)]
        for process in running:
            self.assertEqual(process.wait(), 0)
        for number in range(3):
            self.assertEqual(self.files(f"out{number}"), self.files("alone"))
        self.assertFalse([path for path in self.cache.iterdir() if path.suffix != ".kernel"])

    def test_a_cache_that_cannot_be_written_is_none(self):
        self.cache.write_text("a file")
        self.compile()
        self.assertEqual(self.cache.read_text(), "a file")

    def test_an_ended_compile_loses_nothing(self):
        self.compile(output="good")
        self.graph.write_text(GRAPH.replace("9>", "11>"))
        shutil.rmtree(self.cache)
        self.compile()
        before = self.files()
        self.graph.write_text(GRAPH)
        for wait in (0.0, 0.05, 0.2, 0.5, 1.0):
            process = subprocess.Popen(self.command(), env=self.environment, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL, start_new_session=True)
            time.sleep(wait)
            os.killpg(process.pid, signal.SIGKILL)  # its workers too
            process.wait()
            now = self.files()
            if now != before:  # it was done in time, or had the object and not yet the header
                for name, data in now.items():
                    self.assertIn(data, (before.get(name), self.files("good").get(name)), f"{name} is neither old nor new")
        self.compile()
        self.assertEqual(self.files(), self.files("good"))


if __name__ == "__main__":
    unittest.main()
