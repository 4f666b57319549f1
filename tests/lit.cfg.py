# How lit runs the .mlir files under tests/: each file's RUN lines, in lit's own shell, with our tools and LLVM's.
#
# lit gives this file `config` and `lit_config`. By hand, in the repository's root:
#     .venv/bin/lit -v build/tests/passes/form_kernels.mlir
import os
import re
import shutil

import lit.formats

if not hasattr(config, "burin_tools"):
    lit_config.fatal("tests are run through the build folder: lit -v build/tests/passes")

config.name = "burin"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.test_source_root = os.path.dirname(__file__)


def substitute_tool(name, folder):
    """Replaces a tool's name by its path, so that a printed command can be run as it stands and no other is found."""
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        lit_config.fatal(f"{path} is missing; python3 scripts/build.py build makes or installs it")
    # Only the bare word: neither --burin-derive-step, nor a path that holds the name, nor burin in burin-opt.
    config.substitutions.append((rf"(?<![\w./\-]){re.escape(name)}(?![\w./\-])", path))


for tool in ("burin", "burin-opt"):
    substitute_tool(tool, config.burin_tools)
for tool in ("FileCheck", "llvm-objdump", "not"):
    substitute_tool(tool, config.llvm_tools)

# What links and runs programs of ARM here; without it, the tests that ask for it are reported as unsupported.
if shutil.which("qemu-aarch64") and shutil.which("aarch64-linux-gnu-gcc"):
    config.available_features.add("arm-64")

# Compiled kernels are cached below the home folder; lit passes on no variable that is not named.
for variable in ("HOME", "XDG_CACHE_HOME"):
    if variable in os.environ:
        config.environment[variable] = os.environ[variable]
