# The targets of targets.def for which the runtime is built with another compiler than this machine's own, where that
# compiler is installed: burin_add_foreign_runtime(name compiler flags…), a line each.
burin_add_foreign_runtime(arm-64 aarch64-linux-gnu-gcc)
burin_add_foreign_runtime(riscv-64 riscv64-linux-gnu-gcc)
burin_add_foreign_runtime(wasm clang-22 SYSTEM wasi --target=wasm32-wasi -Wno-deprecated -msimd128 -mbulk-memory)

# Runners that are part of this project, by the names that the rows have.
burin_add_python_runner(burin-run-wasm run_wasm.py wasmtime)
