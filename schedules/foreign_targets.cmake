# The targets of targets.def for which the runtime is built with another compiler than this machine's own, where that
# compiler is installed: burin_add_foreign_runtime(name compiler flags…), a line each.
burin_add_foreign_runtime(arm-64 aarch64-linux-gnu-gcc)
