"""IREE's CPU back end, from the StableHLO that jax exports; shapes are fixed, so W5 is not offered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import iree.runtime as runtime
import numpy as np

from bench.contestants.contract import NotOffered, Prepared, Setting
from bench.shapes import Workload
from bench.weights import Array

# Packed weights: a factor of two or more for wide products, a loss for the smallest ones (both measured).
UNPACKED = ("W1.fwd", "W1.step", "W2.step")


def module_file(workload: Workload, setting: Setting) -> tuple[Path, tuple[Any, ...]]:
    """The compiled module, its weights constants of it, and the arguments."""
    from bench.contestants.jax import program_of

    program, weights, arguments = program_of(workload, setting)
    path = setting.cache / f"{workload.id}.vmfb"
    if not path.exists():
        import iree.compiler.tools as compiler
        import jax

        constants = jax.tree.map(jax.numpy.asarray, weights)
        exported = jax.export.export(jax.jit(lambda *given: program(constants, *given)), platforms=["cpu"])(*arguments)
        packing = [] if workload.id in UNPACKED else ["--iree-opt-data-tiling=true"]
        compiler.compile_str(exported.mlir_module_serialized, input_type="stablehlo", target_backends=["llvm-cpu"],
                             output_file=str(path),
                             extra_args=["--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O3", *packing,
                                         "--iree-llvmcpu-stack-allocation-limit=1048576"])
    return path, arguments


def prepare(workload: Workload, form: str, setting: Setting) -> Prepared:
    if workload.mode == "batch":
        raise NotOffered("its programs have fixed shapes here")
    path, arguments = module_file(workload, setting)
    if setting.threads > 1:
        runtime.flags.parse_flags(f"--task_topology_max_group_count={setting.threads}")
    config = runtime.Config("local-sync" if setting.threads == 1 else "local-task")
    context = runtime.SystemContext(config=config)
    module = runtime.VmModule.mmap(context.instance, str(path))
    context.add_vm_module(module)
    function, vm_context = module.lookup_function("main"), context.vm_context
    inputs = runtime.VmVariantList(len(arguments))
    held = [runtime.asdevicearray(config.device, np.asarray(argument)) for argument in arguments]
    for array in held:
        inputs.push_ref(array._buffer_view)

    def call() -> runtime.VmVariantList:
        outputs = runtime.VmVariantList(1)
        vm_context.invoke(function, inputs, outputs)
        return outputs

    def to_numpy(outputs: Any) -> Array:
        view = outputs.get_as_object(0, runtime.HalBufferView)
        return runtime.DeviceArray(config.device, view, implicit_host_transfer=True).to_host()

    return Prepared([call], to_numpy, held=(context, held))
