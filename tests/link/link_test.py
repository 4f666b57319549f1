"""How a program gets a model: each test is a project of a user, in fresh folders, against an installed prefix.

    python3 link_test.py TEST…        with BURIN_BUILD (the build folder) and BURIN_SCRATCH (where to work) set

`installs` and `cmake_project` come first; ctest knows that. Every program prints the model's outputs in hexadecimal, and
all have to agree: no way of linking changes a bit.
"""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = Path(os.environ["BURIN_BUILD"])
SCRATCH = Path(os.environ["BURIN_SCRATCH"])
CMAKE, NINJA = os.environ["BURIN_CMAKE"], os.environ["BURIN_NINJA"]
PYTHON = os.environ["BURIN_PYTHON"]  # has Halide's Python package
PREFIX = SCRATCH / "prefix"
PROJECT = SCRATCH / "cmake_project"  # its build folder
EMBEDDED = SCRATCH / "whole.safetensors"
MODEL = PROJECT / "small"  # small.o and small.h
WEIGHTS = PROJECT / "small.safetensors"

DENSE = """#time = #encoder.rows<"time", 8>
module @NAME {
  func.func @forward(%x: tensor<?x3xf32, #time> {encoder.name = "x"}) -> (tensor<?xWIDTHxf32, #time> {encoder.name = "y"}) {
    %W = encoder.parameter "W" init "normal" : tensor<3xWIDTHxf32>
    %b = encoder.parameter "b" init "normal" : tensor<WIDTHxf32>
    %y = encoder.dense %x, %W, %b : tensor<?x3xf32, #time>, tensor<3xWIDTHxf32>, tensor<WIDTHxf32>
    return %y : tensor<?xWIDTHxf32, #time>
  }
}
"""

# A Halide library as others make them: with Halide's runtime inside.
NEIGHBOUR = """import halide as hl
x, f = hl.Var("x"), hl.Func("neighbour")
f[x] = hl.f32(x) * 2.0
f.compile_to_static_library("neighbour", [], "neighbour")
"""


def run(*command, folder: Path = SCRATCH, **environment) -> str:
    """Runs a command; returns what it printed, or fails with that and with the line that runs it again."""
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, **environment})
    if done.returncode != 0:
        raise AssertionError(f"cd {folder} && {' '.join(words)}\nexit status {done.returncode}\n{done.stdout}")
    return done.stdout


def write_weights(path: Path, values: list[float]) -> None:
    """A safetensors file of `W` [3, 2]."""
    header = json.dumps({"W": {"dtype": "F32", "shape": [3, 2], "data_offsets": [0, 24]}}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + struct.pack("<6f", *values))


def fresh(name: str) -> Path:
    folder = SCRATCH / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def compile_c(output: Path, source: str, *options, include: Path = MODEL) -> Path:
    run(os.environ.get("CC", "cc"), "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-D_POSIX_C_SOURCE=200809L",
        f"-I{include}", f"-I{PREFIX}/include/burin", "-o", output, HERE / "programs" / source, *options,
        f"-L{PREFIX}/lib", "-lburin_runtime", "-lm")
    return output


def loaded_bytes(file: Path) -> int:
    """Code and data of an object or of an archive's members: what a program grows by. The file has symbols and relocations,
    which the linker uses up."""
    return sum(int(line.split()[3]) for line in run("size", file).splitlines()[1:])


class Link(unittest.TestCase):

    def same_bits(self, printed: str) -> None:
        self.assertEqual(printed, run(PROJECT / "outputs_c99", WEIGHTS))

    def test_installs(self):
        """The build folder's parts, without its paths."""
        shutil.rmtree(PREFIX, ignore_errors=True)
        run(CMAKE, "--install", BUILD, "--prefix", PREFIX, folder=BUILD)
        for file in PREFIX.rglob("*.cmake"):
            self.assertNotIn(str(BUILD), file.read_text(), file)
        run(PREFIX / "bin" / "burin", "targets")

    def test_cmake_project(self):
        """find_package(Burin), burin_add_model, C99, C++11 with warnings as errors, burin.hpp with and without exceptions."""
        folder = fresh("cmake_project")
        write_weights(EMBEDDED, [1, 2, 3, 4, 5, 6])
        run(CMAKE, "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={NINJA}", f"-DCMAKE_PREFIX_PATH={PREFIX}",
            f"-DWEIGHTS={EMBEDDED}", "-S", HERE / "cmake_project", "-B", folder)
        run(NINJA, "-C", folder)
        expected = run(folder / "outputs_c99", WEIGHTS)
        self.assertRegex(expected, r"^forward( -?0x\S+){4}\nstep( -?0x\S+){4}\n$")
        for program in ("outputs_cpp11", "outputs_cpp", "outputs_without_exceptions"):
            self.assertEqual(run(folder / program, WEIGHTS), expected, program)
        self.assertEqual(run(folder / "outputs_embedded"), "1 2 3 4 5 6\n")

    def configure_cross(self, folder: Path, processor: str) -> None:
        project = HERE / "cross_project"
        run(CMAKE, "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={NINJA}", f"-DCMAKE_PREFIX_PATH={PREFIX}",
            f"-DWEIGHTS={EMBEDDED}", f"-DCMAKE_TOOLCHAIN_FILE={project / processor}.cmake", "-S", project, "-B", folder)

    def cross_project(self, processor: str, target: str, compiler: str, runner: list[str]) -> None:
        """find_package(Burin) in a project for another processor: its graph's program runs here, and nothing of MLIR or Halide
        is for that processor."""
        if not shutil.which(compiler) or not shutil.which(runner[0]):
            self.skipTest(f"no {compiler}, or no {runner[0]}")
        folder = fresh(f"cross_project_{processor}")
        self.configure_cross(folder, processor)
        cache = (folder / "CMakeCache.txt").read_text()
        self.assertNotRegex(cache, "(?i)halide|mlir|llvm_dir")
        run(NINJA, "-C", folder)
        self.assertIn("no work to do", run(NINJA, "-C", folder))
        self.assertRegex((folder / "small" / "small.h").read_text(), f"compiled by Burin for {target}\\b")
        program = next(folder / name for name in ("outputs", "outputs.wasm") if (folder / name).exists())
        printed = run(*runner, program, folder / "small.safetensors")
        here = run(PROJECT / "outputs_c99", WEIGHTS)
        for word, expected in zip(printed.split(), here.split(), strict=True):  # equal bits are promised within an ISA
            if word.startswith(("0x", "-0x")):
                self.assertAlmostEqual(float.fromhex(word), float.fromhex(expected), delta=1e-5)
            else:
                self.assertEqual(word, expected)
        self.assertEqual(run(*runner, program.with_stem("outputs_embedded")), "1 2 3 4 5 6\n")

    def test_cross_project(self):
        self.cross_project("aarch64", "arm-64", "aarch64-linux-gnu-gcc", ["qemu-aarch64"])

    def test_cross_project_riscv(self):
        self.cross_project("riscv64", "riscv-64", "riscv64-linux-gnu-gcc",
                           ["qemu-riscv64", "-cpu", "rv64,v=true,vlen=128,vext_spec=v1.0"])

    def test_cross_project_wasm(self):
        self.cross_project("wasm32", "wasm", "clang-22", [str(BUILD / "bin" / "burin-run-wasm")])

    def test_cross_project_for_a_processor_without_a_runtime(self):
        with self.assertRaisesRegex(AssertionError, r"has no runtime for processor\s+'z80'"):
            self.configure_cross(fresh("no_such_processor"), "unknown")

    def test_sizes(self):
        """The control loop's object for one ISA, as a file and what is loaded of it; what is loaded of the runtime. Of an object
        with a machine's records only the latter: they bring variants of kernels, and each its names."""
        folder = fresh("sizes")
        rows = []
        compiled = {target: ["--target", target] for target in ("x86-64-sse41", "x86-64-avx2", "x86-64-avx512", "arm-64")}
        for records in sorted((ROOT / "schedules" / "database").glob("*.json")):
            for target in sorted({record["target"] for record in json.loads(records.read_text())["records"]}):
                compiled[f"{target} as tuned on {records.stem}"] = ["--target", target, "--cpu", records.stem]
        for number, (what, options) in enumerate(compiled.items()):
            run(BUILD / "bin" / "policy_generator", "compile", "-o", folder / str(number), *options)
            model = folder / str(number) / "policy.o"
            rows.append((f"loaded of the control loop's object, {what}", loaded_bytes(model), 150_000))
            if "--cpu" not in options:
                rows.append((f"its file, {what}", model.stat().st_size, 150_000))
        for what, archive, limit in (("loaded of the runtime's core", "libburin_runtime_bare.a", 64_000),
                                     ("loaded of the runtime with files, heap and threads", "libburin_runtime.a", 64_000)):
            rows.append((what, loaded_bytes(PREFIX / "lib" / archive), limit))
        for what, size, limit in rows:
            print(f"{what:76} {size / 1000:6.1f} KB of {limit / 1000:.0f}")
        self.assertEqual([row for row in rows if row[1] > row[2]], [])

    def test_rebuilds_what_changed_and_nothing_else(self):
        self.assertIn("no work to do", run(NINJA, "-C", PROJECT))
        sources = fresh("touched")
        shutil.copytree(HERE / "cmake_project", sources / "cmake_project")
        shutil.copytree(HERE / "programs", sources / "programs")
        weights = sources / "whole.safetensors"
        write_weights(weights, [1, 2, 3, 4, 5, 6])
        folder = sources / "build"
        run(CMAKE, "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={NINJA}", f"-DCMAKE_PREFIX_PATH={PREFIX}",
            f"-DWEIGHTS={weights}", "-S", sources / "cmake_project", "-B", folder)
        run(NINJA, "-C", folder, "outputs_c99", "wide")

        def rebuilt(touched: str) -> str:
            path = sources / touched
            path.write_text(path.read_text() + "\n")
            return run(NINJA, "-C", folder, "-n", "-v", "outputs_c99", "wide")

        program = rebuilt("programs/outputs.c")
        self.assertNotIn("compile -o", program)
        run(NINJA, "-C", folder, "outputs_c99", "wide")
        graph = rebuilt("cmake_project/graph.cpp")
        self.assertIn("small_generator compile -o", graph)
        self.assertNotIn("wide_generator compile -o", graph)

        # Weights inside a model: they alone are packed again, the model is not compiled, and the program has the new ones.
        run(NINJA, "-C", folder)
        write_weights(weights, [6, 5, 4, 3, 2, 1])
        planned = run(NINJA, "-C", folder, "-n", "-v")
        self.assertIn("whole_generator pack --weights", planned)
        self.assertNotRegex(planned, r"_generator compile -o|\.cpp\.o -c")
        run(NINJA, "-C", folder)
        self.assertEqual(run(folder / "outputs_embedded"), "6 5 4 3 2 1\n")
        self.assertIn("no work to do", run(NINJA, "-C", folder))

    def test_makefile(self):
        """cc, make and pkg-config."""
        folder = fresh("makefile")
        run("make", "-C", HERE / "makefile", f"MODEL={MODEL}", f"OUT={folder}",
            PKG_CONFIG_PATH=str(PREFIX / "lib" / "pkgconfig"))
        self.same_bits(run(folder / "outputs", WEIGHTS))

    def test_moved_prefix(self):
        """An installation that lies somewhere else than it was installed to compiles and links."""
        folder = fresh("moved")
        shutil.copytree(PREFIX, folder / "elsewhere", symlinks=True)
        (folder / "small.mlir").write_text(DENSE.replace("NAME", "small").replace("WIDTH", "8"))
        run(folder / "elsewhere" / "bin" / "burin", "compile", "small.mlir", "-o", folder / "model", "--shared", folder=folder)
        self.assertTrue((folder / "model" / "small.so").exists())

    def shared_model(self, folder: Path) -> Path:
        run(PROJECT / "small_generator", "compile", "-o", folder, "--shared")
        return folder / "small.so"

    def test_dlopen(self):
        """A shared model, found while running, in a program that links nothing of Burin's but its statuses."""
        folder = fresh("dlopen")
        library = self.shared_model(folder)
        program = compile_c(folder / "dlopen", "dlopen.c")
        self.same_bits(run(program, library, WEIGHTS))

    def test_static_and_shared_at_once(self):
        """The same model twice in one process, once linked and once loaded."""
        folder = fresh("static_and_shared")
        library = self.shared_model(folder)
        program = compile_c(folder / "both", "dlopen.c", "-DLINKED", MODEL / "small.o")
        once = run(PROJECT / "outputs_c99", WEIGHTS)
        self.assertEqual(run(program, library, WEIGHTS), once + once)

    def test_three_models(self):
        folder = fresh("three_models")
        objects, weights = [], []
        for seed, (name, width) in enumerate({"one": 8, "two": 7, "three": 5}.items()):
            source = folder / f"{name}.mlir"
            source.write_text(DENSE.replace("NAME", name).replace("WIDTH", str(width)))
            run(PREFIX / "bin" / "burin", "compile", source, "-o", folder)
            run(PREFIX / "bin" / "burin", "init", source, "-o", folder / f"{name}.safetensors", "--seed", seed)
            objects.append(folder / f"{name}.o")
            weights.append(folder / f"{name}.safetensors")
        program = compile_c(folder / "three_models", "three_models.c", *objects, include=folder)
        self.assertEqual(run(program, *weights), "three models\n")

    def test_beside_halide(self):
        """A model beside an ordinary Halide library with a runtime of its own."""
        folder = fresh("beside_halide")
        run(PYTHON, "-c", NEIGHBOUR, folder=folder)
        include = run(PYTHON, "-c", "import halide; print(halide.install_dir())", folder=folder).strip()
        program = compile_c(folder / "beside_halide", "beside_halide.c", f"-I{folder}", f"-isystem{include}/include",
                            MODEL / "small.o", folder / "neighbour.a", "-lpthread", "-ldl")
        self.assertRegex(run(program, WEIGHTS), r"^neighbour 10, model -?0x\S+\n$")

    def test_unknown_arguments_are_refused(self):
        """burin_add_model in a project that misspells it stops CMake with a sentence."""
        folder = fresh("refused")
        (folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.28)\nproject(refused C)\nfind_package(Burin REQUIRED)\n"
            "burin_add_model(NAME small GRAPF graph.cpp)\n")
        with self.assertRaisesRegex(AssertionError, "burin_add_model: unknown arguments: GRAPF"):
            run(CMAKE, "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={NINJA}", f"-DCMAKE_PREFIX_PATH={PREFIX}", "-S", folder, "-B",
                folder / "build")


if __name__ == "__main__":
    SCRATCH.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=sys.argv[:1] + [f"Link.test_{name}" for name in sys.argv[1:]])
