"""Programs for WebAssembly, as docs/webassembly.md links them, run by an engine.

    .venv/bin/python tests/wasm/wasm_test.py BUILD_FOLDER HALIDE_HEADERS

Status 77, and one line that says why, where compiler, C library or engine are not installed.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
BUILD = HALIDE = WORK = Path()

COMPILE = ["clang-22", "--target=wasm32-wasi", "-Wno-deprecated", "-Wno-unused-command-line-argument", "-O2", "-Wall",
           "-Wextra", "-Werror", "-Wl,-z,stack-size=1048576", "-Wl,--stack-first"]


def run(command: list) -> str:
    answer = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT)
    if answer.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}: status {answer.returncode}\n{answer.stdout}")
    return answer.stdout


class Wasm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """The digits of examples/02_digits, and their program: it compares every score with the golden case."""
        cls.example = BUILD / "examples" / "02_digits"
        run([BUILD / "bin" / "digit_reader_generator", "compile", "-o", WORK, "--target", "wasm"])
        cls.object = WORK / "digit_reader.o"
        cls.program = WORK / "digits.wasm"
        run([*COMPILE, "-std=c99", f"-I{WORK}", f"-I{SOURCE / 'runtime'}", f"-I{cls.example / 'cases'}", "-o",
             cls.program, SOURCE / "examples" / "02_digits" / "digits.c", cls.object,
             BUILD / "lib" / "wasm" / "libburin_runtime.a", "-lm"])

    def test_program_has_the_numbers_of_the_golden_case(self):
        text = run([BUILD / "bin" / "burin-run-wasm", self.program, self.example / "digits_weights.safetensors"])
        self.assertIn("largest difference from the golden scores", text)

    def test_weights_packed_ahead_give_the_same_text(self):
        packed = WORK / "digits.packed"
        run([BUILD / "bin" / "digit_reader_generator", "pack", "--weights",
             self.example / "digits_weights.safetensors", "-o", packed, "--target", "wasm"])
        runner = BUILD / "bin" / "burin-run-wasm"
        self.assertEqual(run([runner, self.program, packed]),
                         run([runner, self.program, self.example / "digits_weights.safetensors"]))

    def test_program_imports_nothing_but_the_system_interface(self):
        module = wasmtime.Module.from_file(wasmtime.Engine(), str(self.program))
        self.assertEqual({entry.module for entry in module.imports}, {"wasi_snapshot_preview1"})

    def test_object_has_vector_instructions_in_its_kernels(self):
        objdump = shutil.which("llvm-objdump-22") or shutil.which("llvm-objdump")
        if not objdump:
            self.skipTest("llvm-objdump is not installed")
        code = run([objdump, "-d", self.object])
        self.assertGreater(code.count("f32x4.mul"), 100)

    def test_object_links_beside_a_library_that_defines_halides_hooks(self):
        main = WORK / "beside.c"
        main.write_text("#include \"digit_reader.h\"\n"
                        "void *halide_malloc(void *context, size_t bytes) { (void)context, (void)bytes; return 0; }\n"
                        "void halide_free(void *context, void *memory) { (void)context, (void)memory; }\n"
                        "void halide_error(void *context, const char *text) { (void)context, (void)text; }\n"
                        "int main(void) { return digit_reader_scratch_bytes(8) == 0; }\n")
        program = WORK / "beside.wasm"
        run([*COMPILE, "-std=c99", f"-I{WORK}", f"-I{SOURCE / 'runtime'}", "-o", program, main, self.object,
             BUILD / "lib" / "wasm" / "libburin_runtime.a"])
        run([BUILD / "bin" / "burin-run-wasm", program])

    def test_sizes_beyond_32_bits_are_refused(self):
        program = WORK / "sizes.wasm"
        run([*COMPILE, "-std=c11", f"-I{SOURCE / 'runtime'}", "-o", program, Path(__file__).parent / "sizes.c",
             BUILD / "lib" / "wasm" / "libburin_runtime.a"])
        self.assertEqual(run([BUILD / "bin" / "burin-run-wasm", program]), "sizes: ok\n")

    def test_descriptors_are_laid_out_as_halides(self):
        run([*COMPILE, "-std=c11", "-fsyntax-only", f"-I{SOURCE / 'runtime'}", "-isystem", HALIDE,
             Path(__file__).parent / "layouts.c"])

    def test_exit_status_and_trap_come_through_the_runner(self):
        for body, status in (("return 5;", 5), ("__builtin_trap();", 1)):
            main = WORK / "status.c"
            main.write_text("int main(void) { %s }\n" % body)
            run([*COMPILE, "-o", WORK / "status.wasm", main])
            ended = subprocess.run([BUILD / "bin" / "burin-run-wasm", WORK / "status.wasm"], stderr=subprocess.PIPE)
            self.assertEqual(ended.returncode, status, ended.stderr)


def missing() -> str:
    if not shutil.which("clang-22"):
        return "clang-22 is not installed"
    if not (BUILD / "lib" / "wasm" / "libburin_runtime.a").exists():
        return "wasi-libc or libclang-rt-22-dev-wasm32 was not installed when this build was configured"
    if not (BUILD / "bin" / "burin-run-wasm").exists():
        return "wasmtime was not in .venv when this build was configured"
    return ""


if __name__ == "__main__":
    BUILD, HALIDE = (Path(argument).resolve() for argument in sys.argv[1:3])
    if why := missing():
        print(f"SKIPPED: {why}")
        sys.exit(77)
    import wasmtime

    with tempfile.TemporaryDirectory() as folder:
        WORK = Path(folder)
        unittest.main(argv=sys.argv[:1] + sys.argv[3:])
