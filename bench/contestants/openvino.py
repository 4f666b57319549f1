"""OpenVINO on the CPU: hint for latency, float32 throughout, tensors shared with numpy. W5 as "one", "by4", "by16"."""

from __future__ import annotations

import numpy as np
import openvino

from bench.contestants.batches import batches_of, run_all
from bench.contestants.contract import Prepared, Setting, StepArguments
from bench.onnx_graphs import onnx_file
from bench.shapes import Workload
from bench.weights import Array, float_input, texts


def request(path: str, threads: int) -> openvino.InferRequest:
    settings = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32",
                "NUM_STREAMS": 1}
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
    if workload.mode == "batch":
        running = request(str(onnx_file(workload, setting.cache)), setting.threads)
        items = [(batch.which, {"ids": batch.ids, "mask": batch.mask}) for batch in batches_of(workload, form)]
        return Prepared([run_all(workload, items, lambda item: running.infer(
            item, share_inputs=True, share_outputs=True)[0])], np.asarray)
    inputs = inputs_of(workload, setting)
    shape = None if workload.encoder.inputs else inputs["ids"].shape
    running = request(str(onnx_file(workload, setting.cache, shape=shape)), setting.threads)
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
