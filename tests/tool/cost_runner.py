"""A runner for tests of `burin tune`: takes bits from the program that it is given, and times from a formula, so that a
search has the same course on every machine and its best point is known: tile_rows=3, depth_unroll=4, sum_registers=8.

    cost_runner.py [--fail] [--garbled] [--interrupt COUNT_FILE CALL] PROGRAM

--interrupt sends SIGINT to the tuner when it is called for that time.
"""

import math
import os
import signal
import subprocess
import sys

BEST = {"tile_rows": 3, "depth_unroll": 4, "sum_registers": 8, "tile_keys": 4, "tile_queries": 4, "value_vectors": 1,
        "row_vectors": 2, "block_rows": 48}

*options, program = sys.argv[1:]
if "--fail" in options:
    sys.exit("the board is not there")
if "--garbled" in options:
    print("kernel 0 rows what seconds ?\nhello")
    sys.exit(0)
if "--interrupt" in options:
    count_file, last_call = options[options.index("--interrupt") + 1 :][:2]
    calls = int(open(count_file).read()) + 1 if os.path.exists(count_file) else 1
    with open(count_file, "w") as file:
        file.write(str(calls))
    if calls == int(last_call):
        parent = os.getppid() # the shell that runs this, or the tuner itself
        with open(f"/proc/{parent}/stat") as file:
            name, rest = file.read().rsplit(")", 1)
        os.kill(int(rest.split()[1]) if name.endswith("(sh") or name.endswith("(dash") else parent, signal.SIGINT)

print(subprocess.run([program, "bits"], check=True, capture_output=True, text=True).stdout.replace("done\n", ""), end="")
described = subprocess.run([program, "describe"], check=True, capture_output=True, text=True).stdout.split("\n")
kernels = [line.split()[3] if len(line.split()) > 3 else "" for line in described if line.startswith("kernel")]
sizes = [int(line.split()[1]) for line in described if line.startswith("rows") and line.endswith("timed 1")]
for number, parameters in enumerate(kernels):
    cost = 1e-6
    for pair in filter(None, parameters.split(",")):
        name, value = pair.split("=")
        cost *= 1 + 0.2 * abs(math.log2((int(value) + 1) / (BEST.get(name, 1) + 1)))
    for rows in sizes:
        print(f"kernel {number} rows {rows} seconds {cost * rows:.9g}")
print("done")
