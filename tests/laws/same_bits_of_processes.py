"""A sequence has the same bits in every process, for each instruction set that this machine has.

    python3 same_bits_of_processes.py BURIN RUNTIME_LIBRARY RUNTIME_HEADERS SCRATCH

A program that links an object for several targets prints the bytes of its results. It runs again and again: at fixed
addresses, with another environment on its stack, on threads, with weights that were packed ahead.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "tool"))
import tensors

ROWS = 'tensor<?x24xf32, #encoder.rows<"time", 70>>'
GRAPH = """module @small {
  func.func @forward(%x: ROWS {encoder.name = "x"}) -> (ROWS {encoder.name = "y"}) {
    %W = encoder.parameter "W" init "normal" : tensor<24x24xf32>
    %V = encoder.parameter "V" init "normal" : tensor<24x24xf32>
    %g = encoder.parameter "g" init "normal" : tensor<24xf32>
    %h = encoder.dense %x, %W : ROWS, tensor<24x24xf32>
    %a = encoder.attention %h, %h, %h heads 3 scale 0.3 causal true : ROWS, ROWS, ROWS
    %d = encoder.dense %a, %V : ROWS, tensor<24x24xf32>
    %s = encoder.add %x, %d : ROWS, ROWS
    %y = encoder.layer_norm %s, %g, %g, 1.0e-05 : ROWS, tensor<24xf32>, tensor<24xf32>
    return %y : ROWS
  }
}
""".replace("ROWS", ROWS)

PROGRAM = """#include "small.h"
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  static float x[70 * 24], y[70 * 24];
  burin_open_options options = {0};
  burin_model *model = NULL;
  FILE *file = fopen(argv[2], "rb");
  if (argc != 5 || !file || fread(x, sizeof x, 1, file) != 1)
    return 1;
  options.weights_path = argv[1];
  options.isa = argv[3];
  options.threads = atoi(argv[4]);
  if (small_open(&options, &model) != BURIN_OK)
    return 2;
  for (int rows = 1; rows <= 70; rows += 23) {
    size_t bytes = small_scratch_bytes(rows);
    void *scratch = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (small_forward(model, scratch, bytes, rows, x, y) != BURIN_OK)
      return 3;
    fwrite(y, sizeof(float) * 24, (size_t)rows, stdout);
    free(scratch);
  }
  size_t bytes = small_scratch_bytes(1), state_bytes = (small_state_bytes() + 63) / 64 * 64;
  void *state = aligned_alloc(64, state_bytes), *scratch = aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (small_reset(model, state, state_bytes) != BURIN_OK)
    return 4;
  for (int row = 0; row < 40; ++row) {
    if (small_step(model, state, scratch, bytes, x + 24 * row, y) != BURIN_OK)
      return 5;
    fwrite(y, sizeof(float), 24, stdout);
  }
  small_close(model);
  return 0;
}
"""


def main() -> int:
    burin, library, headers, scratch = sys.argv[1:5]
    folder = Path(scratch)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    graph, weights = folder / "small.mlir", folder / "weights"
    graph.write_text(GRAPH)
    (folder / "main.c").write_text(PROGRAM)
    subprocess.run([burin, "init", graph, "-o", weights, "--seed", "3"], check=True)
    tensors.inputs(str(folder / "inputs"), "x=70x24")
    (folder / "x").write_bytes((folder / "inputs").read_bytes()[-70 * 24 * 4:])
    subprocess.run([burin, "compile", graph, "-o", folder, "--target", "x86-64"], check=True)
    program = folder / "program"
    subprocess.run(["cc", "-std=c11", "-O1", "-I", folder, "-I", headers, folder / "main.c", folder / "small.o", library,
                    "-lm", "-pthread", "-o", program], check=True)

    def bits(target: str, threads: int = 1, before=(), file: Path = weights, **environment: str) -> bytes:
        done = subprocess.run([*before, program, file, folder / "x", target, str(threads)], stdout=subprocess.PIPE,
                              env={**os.environ, **environment})
        if done.returncode != 0:
            raise SystemExit(f"{target}: the program ends with status {done.returncode}")
        return done.stdout

    rows = [json.loads(line) for line in subprocess.run([burin, "targets", "--json"], check=True, text=True,
                                                        stdout=subprocess.PIPE).stdout.splitlines()]
    targets = [row["name"] for row in rows if row.get("runs_here") and row["name"] in (folder / "small.h").read_text()]
    fixed = ["setarch", "-R"]
    can_fix = shutil.which("setarch") and subprocess.run([*fixed, "true"], stderr=subprocess.DEVNULL).returncode == 0
    wrong = 0
    for target in targets:
        packed = folder / f"{target}.packed"
        subprocess.run([burin, "pack", graph, "--weights", weights, "-o", packed, "--target", target], check=True)
        expected = bits(target)
        processes = {"another process": bits(target), "another environment": bits(target, A_LONG_NAME="x" * 10007),
                     "3 threads": bits(target, 3), "7 threads": bits(target, 7), "packed weights": bits(target, file=packed)}
        if can_fix:
            processes["fixed addresses"] = bits(target, before=fixed)
        for name, got in processes.items():
            if got != expected:
                first = next(i for i in range(0, len(expected), 4) if got[i:i + 4] != expected[i:i + 4]) // 4
                print(f"{target}, {name}: number {first} of {len(expected) // 4} has other bits")
                wrong += 1
        print(f"{target}: {len(processes)} processes, {len(expected)} bytes")
    return 1 if wrong or len(targets) < 1 else 0


if __name__ == "__main__":
    sys.exit(main())
