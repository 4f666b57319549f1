"""OpenVINO on the CPU: hint for latency, float32 throughout, tensors shared with numpy. W5 as "one", "by4", "by16".

In bf16 it is told to compute so. In int8 its own tool, NNCF, quantises:

    int8            weights, with a scale for each output; rows as they come, in groups of 32 values, its default
    int8-wide       the same in groups of 128, which is faster and further off
    int8-static     weights and rows, with ranges seen on texts before: half of those that accuracy is measured on
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import openvino

from bench.accuracy import CASES, workload_of
from bench.contest import precision_of
from bench.contestants.batches import batches_of, run_all
from bench.contestants.contract import Prepared, Setting, StepArguments
from bench.onnx_graphs import onnx_file
from bench.shapes import BY_ID, Precision, Workload
from bench.weights import Array, float_input, texts

GROUP_SIZES = {"": 32, "wide": 128}
CALIBRATION_TEXTS = 100
MINILM_WORKLOAD = BY_ID["W5"]  # any: the graph is the same


def compressed(path: Path) -> Path:
    """The graph with int8 weights, as a file."""
    int8 = path.with_suffix(".int8.xml")
    if not int8.exists():
        import nncf

        model = nncf.compress_weights(openvino.Core().read_model(path), mode=nncf.CompressWeightsMode.INT8_SYM)
        openvino.save_model(model, int8)
    return int8


def calibrated(path: Path) -> Path:
    """The graph with int8 products, of any shape, as a file."""
    int8 = path.with_suffix(".static.xml")
    if not int8.exists():
        import nncf

        workload, _ = workload_of(CASES[1])
        feeds = [{"ids": ids[None], "mask": np.ones((1, len(ids)), np.int64)} for ids in texts(workload)[::2]]
        model = nncf.quantize(openvino.Core().read_model(path), nncf.Dataset(feeds), model_type=nncf.ModelType.TRANSFORMER,
                              subset_size=CALIBRATION_TEXTS)
        openvino.save_model(model, int8)
    return int8


def request(model: openvino.Model | Path, threads: int, rest: Precision | None, **more: object) -> openvino.InferRequest:
    """`rest` is what is computed in where the graph does not say int8; None leaves it to OpenVINO."""
    settings = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1} | more
    if rest:
        settings["INFERENCE_PRECISION_HINT"] = "bf16" if rest == "bf16" else "f32"
    return openvino.Core().compile_model(model, "CPU", settings).create_infer_request()


def minilm_request(form: str, shape: tuple[int, int] | None, setting: Setting) -> openvino.InferRequest:
    """In a form without its batches."""
    precision, kind = precision_of(form)
    if precision != "int8":
        return request(onnx_file(MINILM_WORKLOAD, setting.cache, shape=shape), setting.threads, precision)
    if kind == "static":
        model = openvino.Core().read_model(calibrated(onnx_file(MINILM_WORKLOAD, setting.cache)))
        if shape:
            model.reshape({"ids": shape, "mask": shape})
        return request(model, setting.threads, None)
    model = compressed(onnx_file(MINILM_WORKLOAD, setting.cache, shape=shape))
    return request(model, setting.threads, "float32", DYNAMIC_QUANTIZATION_GROUP_SIZE=GROUP_SIZES[kind])


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
        form, _, mode = form.rpartition("-")
        running = minilm_request(form, None, setting)
        items = [(batch.which, {"ids": batch.ids, "mask": batch.mask}) for batch in batches_of(workload, mode)]
        return Prepared([run_all(workload, items, lambda item: running.infer(
            item, share_inputs=True, share_outputs=True)[0])], np.asarray)
    inputs = inputs_of(workload, setting)
    if workload.encoder.inputs:
        running = request(onnx_file(workload, setting.cache), setting.threads, "float32")
    else:
        running = minilm_request(form, inputs["ids"].shape, setting)
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
