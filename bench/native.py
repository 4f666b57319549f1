"""Programs in C and C++: the machine's peaks, and the small encoders without Python (`ratio_c`)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bench.command import run
from bench.contest import OURS
from bench.contestants.contract import StepArguments
from bench.engines import Bursts, cores_for
from bench.models import model_of, weights_path
from bench.onnx_graphs import Form, onnx_file
from bench.reference import largest_error, reference
from bench.shapes import Workload
from bench.start_up import Start
from bench.weights import Array, float_input

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "bench" / "native"
PACKAGES = Path(np.__file__).resolve().parent.parent
FROM_C = (OURS, "onnxruntime", "openvino", "iree")
C_FLAGS = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Wno-unused-function"]


def pinned(threads: int) -> Callable[[], None]:
    return lambda: os.sched_setaffinity(0, cores_for(threads))


class Program:
    """A program of native/ that serves bursts."""

    def __init__(self, command: list[Path | str], outputs: int) -> None:
        self.start = Start([str(word) for word in command], dict(os.environ, OUTPUTS=str(outputs)))
        self.process = subprocess.Popen(self.start.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=self.start.environment, preexec_fn=pinned(1))
        self.answer = np.array(self.process.stdout.readline().split(), np.float64)
        if not len(self.answer):
            raise RuntimeError(self.process.stderr.read().strip())

    def burst(self, seconds: float) -> list[float]:
        """The shortest and the median call, in microseconds."""
        print(seconds, file=self.process.stdin, flush=True)
        return [float(word) / 1e3 for word in self.process.stdout.readline().split()]

    def alone(self, calls: int) -> list[float]:
        """Microseconds: the median, the 99th and 99.9th percentile and the longest of all calls that were timed so."""
        print(-calls, file=self.process.stdin, flush=True)
        return [float(word) / 1e3 for word in self.process.stdout.readline().split()]

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


class IreeProgram:
    """IREE's own programs, which call a module from C: a burst is a process of its benchmark, which reports a mean; the
    first result comes from `iree-run-module`. The module holds the weights."""

    def __init__(self, module: Path, inputs: dict[str, Path], weight_bytes: int) -> None:
        arguments = [f"--module={module}", "--device=local-sync", "--function=main",
                     *(f"--input=@{path}" for path in inputs.values())]
        self.command = [str(Path(sys.executable).parent / "iree-benchmark-module"), "--benchmark_format=json", *arguments]
        # The program itself: what pip puts on the PATH is Python that starts it.
        run_module = PACKAGES / "iree" / "_runtime_libs" / "iree-run-module"
        self.start = Start([str(run_module), *arguments], dict(os.environ), lambda line: b"f32=" in line,
                           max(module.stat().st_size - weight_bytes, 0))

    def burst(self, seconds: float) -> list[float]:
        done = subprocess.run([*self.command, f"--benchmark_min_time={seconds}s"], capture_output=True, text=True,
                              preexec_fn=pinned(1))
        if done.returncode != 0:
            return []
        units = {"ns": 1e-3, "us": 1, "ms": 1e3}
        return [entry["real_time"] * units[entry["time_unit"]] for entry in json.loads(done.stdout)["benchmarks"]]

    def close(self) -> None:
        pass


class Programs:
    """Builds what a workload needs, with the machine's own compiler."""

    def __init__(self, build: Path, models: Path, cache: Path) -> None:
        self.build, self.models, self.cache = build, models, cache
        self.bin = cache / "native"
        self.bin.mkdir(parents=True, exist_ok=True)
        self.machine_program = self.bin / "machine"
        run(["g++", "-std=c++20", "-O3", "-march=native", "-pthread", "-I", ROOT / "compiler", SOURCES / "machine.cpp",
             ROOT / "compiler" / "tools" / "fma_peak.cpp", "-o", self.machine_program])

    def machine(self, threads: int, weight_bytes: int) -> tuple[float, float]:
        """GFLOP/s and GB/s that so many cores reach, the latter reading so many bytes over and over."""
        done = subprocess.run([self.machine_program, str(threads), str(weight_bytes)], capture_output=True, text=True,
                              check=True, preexec_fn=pinned(threads))
        measured = json.loads(done.stdout)
        return measured["gflops"], measured["gigabytes"][0]

    def of(self, workload: Workload, installed: set[str], say: Callable[[str], None]) -> dict[str, Bursts]:
        """The programs whose answer is right, ready; one that cannot be built is named and left out."""
        makers = dict(zip(FROM_C, (self.burin, self.onnxruntime, self.openvino, self.iree), strict=True))
        arrays = self.arrays(workload)
        expected = reference(workload, self.cache).result
        programs: dict[str, Bursts] = {}
        for name, make in makers.items():
            if name not in installed | {OURS}:
                continue
            try:
                program = make(workload, arrays)
            except (RuntimeError, OSError) as error:
                say(f"  skipping {name} in C: {error}")
                continue
            if isinstance(program, Program) and not largest_error(program.answer, expected)[1]:
                say(f"  skipping {name} in C: its answer is wrong")
                program.close()
                continue
            programs[name] = program
        return programs

    def arrays(self, workload: Workload) -> dict[str, Array]:
        """The peers' inputs, in the order of their programs' parameters."""
        if workload.mode == "forward":
            return {"x": float_input(workload)}
        given = StepArguments.of(workload, reference(workload, self.cache))
        return {"x": given.x, "caches": given.caches, "total": given.total,
                "position": np.array([given.position], np.int64)}

    def tensors(self, workload: Workload, arrays: dict[str, Array]) -> list[str]:
        """Written to files, as native/case.h reads them."""
        words = []
        for name, array in arrays.items():
            shape = "x".join(map(str, array.shape))
            path = self.bin / f"{workload.id}_{name}_{shape}.bin"  # a whole sequence and a step's row are both x
            array.tofile(path)
            kind = "f32" if array.dtype == np.float32 else "i64"
            words.append(f"{name}:{kind}:{shape}:{path}")
        return words

    def compile(self, source: str, output: Path, *options: str | Path) -> Path:
        run(["gcc", *C_FLAGS, SOURCES / source, *options, "-o", output])
        return output

    def burin(self, workload: Workload, _: dict[str, Array]) -> Bursts:
        name, outputs = model_of(workload), workload.encoder.outputs
        folder = self.models / name
        step = ["-DSTEP"] if workload.mode == "step" else []
        program = self.compile("burin_case.c", self.bin / f"burin_{workload.id}", f"-DMODEL={name}",
                               f"-DOUTPUTS={outputs}", *step, "-I", folder, "-I", ROOT / "runtime",
                               folder / f"{name}.o", self.build / "lib" / "libburin_runtime.a", "-lm", "-pthread")
        x = {"x": float_input(workload)}  # the whole sequence: a step's state is made from it
        return Program([program, weights_path(workload, self.cache), *self.tensors(workload, x)], outputs)

    def onnxruntime(self, workload: Workload, arrays: dict[str, Array]) -> Bursts:
        library = next((PACKAGES / "onnxruntime" / "capi").glob("libonnxruntime.so*"))
        link = self.bin / "libonnxruntime.so.1"  # the name that it gives itself, which the wheel leaves out
        link.unlink(missing_ok=True)
        link.symlink_to(library)
        program = self.compile("onnxruntime_case.c", self.bin / "onnxruntime_case", link, f"-Wl,-rpath,{self.bin}")
        form: Form = "plain" if workload.mode == "step" else "fused"
        return Program([program, onnx_file(workload, self.cache, form), *self.tensors(workload, arrays)],
                       workload.encoder.outputs)

    def openvino(self, workload: Workload, arrays: dict[str, Array]) -> Bursts:
        package = PACKAGES / "openvino"
        library = next((package / "libs").glob("libopenvino_c.so*"))
        program = self.compile("openvino_case.c", self.bin / "openvino_case", "-I", package / "include", library,
                               f"-Wl,-rpath,{library.parent}", f"-Wl,-rpath-link,{library.parent}")
        return Program([program, onnx_file(workload, self.cache), *self.tensors(workload, arrays)],
                       workload.encoder.outputs)

    def iree(self, workload: Workload, arrays: dict[str, Array]) -> Bursts:
        module = self.cache / f"{workload.id}.vmfb"
        if not module.exists():
            raise RuntimeError("its module is compiled by its contestant, which did not run")
        paths = {}
        for name, array in arrays.items():
            paths[name] = self.bin / f"{workload.id}_{name}.npy"
            np.save(paths[name], np.int32(array[0]) if name == "position" else array)
        return IreeProgram(module, paths, workload.encoder.weight_bytes())
