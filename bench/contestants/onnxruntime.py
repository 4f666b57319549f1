"""ONNX Runtime: the standard graph (""), the graph with its transformer operators ("fused").

W5 is "one", "by4", "by16", "fused-one", … Arguments are bound once (IoBinding), so that no call converts any. In int8 the
fused graph is what its own tool quantises, weights a scale for each output, rows as they come.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import onnxruntime

from bench.contest import precision_of
from bench.contestants.batches import batches_of, run_all
from bench.contestants.contract import NotOffered, Prepared, Setting, StepArguments
from bench.onnx_graphs import onnx_file
from bench.shapes import Workload
from bench.weights import Array, float_input, texts


def quantised(path: Path) -> Path:
    """The graph with int8 products."""
    int8 = path.with_suffix(".int8.onnx")
    if not int8.exists():
        from onnx import TensorProto
        from onnxruntime.quantization import QuantType, quantize_dynamic

        # The type of values whose type is not inferred, behind operators that are not of the standard.
        quantize_dynamic(path, int8, op_types_to_quantize=["MatMul", "Attention"], per_channel=True,
                         weight_type=QuantType.QInt8, extra_options={"DefaultTensorType": TensorProto.FLOAT})
    return int8


def session(path: str, threads: int) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


Values = dict[str, onnxruntime.OrtValue]


def bind(of: onnxruntime.InferenceSession, inputs: dict[str, Array]) -> tuple[Callable[[], None], Values, Values]:
    """A call with inputs and outputs in place; the outputs, and the inputs."""
    binding = of.io_binding()
    held = {name: onnxruntime.OrtValue.ortvalue_from_numpy(array) for name, array in inputs.items()}
    for name, value in held.items():
        binding.bind_ortvalue_input(name, value)
    names = [output.name for output in of.get_outputs()]
    for name in names:
        binding.bind_output(name, "cpu")
    of.run_with_iobinding(binding)  # finds the outputs' sizes
    outputs = dict(zip(names, binding.get_outputs()))
    for name, value in outputs.items():
        binding.bind_ortvalue_output(name, value)

    return partial(of.run_with_iobinding, binding), outputs, held


def view(value: onnxruntime.OrtValue) -> Array:
    pointer = ctypes.cast(value.data_ptr(), ctypes.POINTER(ctypes.c_float))
    return np.ctypeslib.as_array(pointer, tuple(value.shape()))


def prepare(workload: Workload, form: str, setting: Setting) -> Prepared:
    precision, rest = precision_of(form)
    if precision == "bf16":
        raise NotOffered("its CPU has no products in bfloat16")
    fused = precision == "int8" or rest.startswith("fused")
    mode = rest.removeprefix("fused").removeprefix("-")
    if fused and workload.mode == "step":
        raise NotOffered("its attention operator takes no cache laid out like this one")
    path = onnx_file(workload, setting.cache, "fused" if fused else "plain")
    if precision == "int8":
        path = quantised(path)
    running = session(str(path), setting.threads)
    if workload.mode == "batch":
        items = [(batch.which, {"ids": batch.ids, "mask": batch.mask}) for batch in batches_of(workload, mode)]
        return Prepared([run_all(workload, items, lambda item: running.run(None, item)[0])], np.asarray)
    if workload.mode == "step":
        return step(running, StepArguments.of(workload, setting.reference))
    if workload.encoder.inputs:
        inputs = {"x": float_input(workload)}
    else:
        ids = texts(workload)[0][None]
        inputs = {"ids": ids, "mask": np.ones_like(ids)}
    call, outputs, held = bind(running, inputs)
    return Prepared([call], lambda _: outputs["y"].numpy(), held=(inputs, held))


def step(running: onnxruntime.InferenceSession, given: StepArguments) -> Prepared:
    position, caches = given.position, given.caches
    call, outputs, held = bind(running, {"x": given.x, "caches": caches, "total": given.total,
                                         "position": np.array([position], np.int64)})
    new = view(outputs["new"])

    def one_step() -> None:
        call()
        caches[:, :, :, position] = new

    return Prepared([one_step], lambda _: outputs["y"].numpy(), held=(given, held))
