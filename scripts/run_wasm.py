"""Runs a WebAssembly program (WASI, preview 1) as if it were one of this machine's: its arguments, standard input and
output, files by their absolute paths, and its exit status.

    .venv/bin/python scripts/run_wasm.py PROGRAM.wasm [ARGUMENT…]

Rejected: the engine's own command line, which its package on PyPI does not hold.
"""

from __future__ import annotations

import sys
from pathlib import Path

import wasmtime


def main(command: list[str]) -> int:
    if not command:
        print("usage: run_wasm.py PROGRAM.wasm [ARGUMENT…]", file=sys.stderr)
        return 2
    program = Path(command[0])
    if not program.is_file():
        print(f"run_wasm.py: {program} is not a file", file=sys.stderr)
        return 2
    engine = wasmtime.Engine()
    system = wasmtime.WasiConfig()
    system.argv = command
    system.inherit_stdin()
    system.inherit_stdout()
    system.inherit_stderr()
    system.preopen_dir("/", "/")
    store = wasmtime.Store(engine)
    store.set_wasi(system)
    linker = wasmtime.Linker(engine)
    linker.define_wasi()
    try:
        module = wasmtime.Module.from_file(engine, str(program))
        start = linker.instantiate(store, module).exports(store)["_start"]
        start(store)
    except wasmtime.ExitTrap as ended:
        return ended.code
    except (wasmtime.WasmtimeError, wasmtime.Trap) as problem:
        print(f"run_wasm.py: {program}: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
