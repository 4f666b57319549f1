"""OpenVINO on the CPU: hint for latency, float32 throughout, tensors shared with numpy. W5 as "one", "by4", "by16".

In bf16 it is told to compute so. In int8 its own tool, NNCF, makes weights symmetric int8, a scale for each output, and rows
are quantised as they come, in groups.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import openvino

from bench.contest import precision_of
from bench.contestants.batches import batches_of, run_all
from bench.contestants.contract import Prepared, Setting, StepArguments
from bench.onnx_graphs import onnx_file
from bench.shapes import Precision, Workload
from bench.weights import Array, float_input, texts

GROUP_SIZE = 32


def compressed(path: Path) -> Path:
    """The graph with int8 weights."""
    int8 = path.with_suffix(".int8.xml")
    if not int8.exists():
        import nncf

        model = nncf.compress_weights(openvino.Core().read_model(path), mode=nncf.CompressWeightsMode.INT8_SYM)
        openvino.save_model(model, int8)
    return int8


def request(path: Path, threads: int, precision: Precision) -> openvino.InferRequest:
    settings = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1,
                "INFERENCE_PRECISION_HINT": "bf16" if precision == "bf16" else "f32"}
    if precision == "int8":
        path = compressed(path)
        settings["DYNAMIC_QUANTIZATION_GROUP_SIZE"] = GROUP_SIZE
    return openvino.Core().compile_model(path, "CPU", settings).create_infer_request()


def inputs_of(workload: Workload, setting: Setting) -> dict[str, Array]:
    if workload.mode == "step":
        given = StepArguments.of(workload, setting.reference)
        return {"x": given.x, "caches": given.caches, "total": given.total,
                "position": np.array([given.position], np.int64)}
    if workload.encoder.inputs:
        return {"x": float_input(workload)}
    ids = texts(workload)[0][None]
    return {"ids": ids, "mask": np.ones_like(ids)}


def prepare(workload: Workload, form: str, setting: Setting) -> Prepared:
    precision, mode = precision_of(form)
    if workload.mode == "batch":
        running = request(onnx_file(workload, setting.cache), setting.threads, precision)
        items = [(batch.which, {"ids": batch.ids, "mask": batch.mask}) for batch in batches_of(workload, mode)]
        return Prepared([run_all(workload, items, lambda item: running.infer(
            item, share_inputs=True, share_outputs=True)[0])], np.asarray)
    inputs = inputs_of(workload, setting)
    shape = None if workload.encoder.inputs else inputs["ids"].shape
    running = request(onnx_file(workload, setting.cache, shape=shape), setting.threads, precision)
    held = {name: openvino.Tensor(array, shared_memory=True) for name, array in inputs.items()}
    for name, tensor in held.items():
        running.set_tensor(name, tensor)
    running.infer()
    y = running.get_tensor("y").data
    if workload.mode == "forward":
        return Prepared([running.infer], lambda _: y, held=(held, inputs))
    caches, new, position = inputs["caches"], running.get_tensor("new").data, int(inputs["position"][0])

    def step() -> None:
        running.infer()
        caches[:, :, :, position] = new

    return Prepared([step], lambda _: y, held=(held, inputs))
