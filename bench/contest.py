"""Who runs what. A contestant is an engine's file in contestants/, and after a colon the form of it.

A form may begin with a precision: "int8-by4" is int8 in batches of four, "fused" is float32.
"""

from __future__ import annotations

from bench.record import Record
from bench.shapes import MINILM, WEIGHT_BYTES, Precision, Workload

OURS = "burin"
ENCODERS = ["onnxruntime", "onnxruntime:fused", "openvino", "iree", "jax", "torch:compile", "torch:aoti"]
STEPS = ["onnxruntime", "openvino", "iree", "jax", "torch:compile", "torch:aoti"]
BATCHES = [f"{engine}{mode}" for engine in ("onnxruntime:", "onnxruntime:fused-", "openvino:", "ctranslate2:", "jax:",
                                            "torch:compile-") for mode in ("one", "by4", "by16")]

# Who has a precision other than float32, and the workloads that are run in it.
NARROW: dict[Precision, list[str]] = {
    "bf16": ["openvino:bf16"],
    "bf16-dot": ["openvino:bf16"],
    "int8": ["openvino:int8", "openvino:int8-wide", "openvino:int8-static", "ctranslate2:int8", "onnxruntime:int8"],
}
NARROW_WORKLOADS = ["W3.T8", "W3.T32", "W3.T128", "W3.T256", "W5"]

# The two that were fastest with one thread where these workloads were measured first: an Intel machine, and for W5, whose
# batches of 4 came later, an AMD one.
FASTEST_ELSEWHERE = {
    "W1.fwd": ["iree", "onnxruntime:fused"],
    "W1.step": ["iree", "torch:aoti"],
    "W2.fwd": ["openvino", "iree"],
    "W2.step": ["iree", "jax"],
    "W3.T8": ["iree", "openvino"],
    "W3.T32": ["openvino", "ctranslate2"],
    "W3.T128": ["ctranslate2", "openvino"],
    "W3.T256": ["openvino", "torch:aoti"],
    "W4.fwd": ["torch:compile", "openvino"],
    "W5": ["openvino:by4", "onnxruntime:by4"],
}


def precision_of(form: str) -> tuple[Precision, str]:
    """The precision of a form, and what else it says."""
    for precision in sorted(WEIGHT_BYTES, key=len, reverse=True):
        if form == precision or form.startswith(precision + "-"):
            return precision, form[len(precision) + 1:]
    return "float32", form


def own_of(precision: Precision) -> str:
    return OURS if precision == "float32" else f"{OURS}:{precision}"


def narrow_peers_of(workload: Workload, precision: Precision) -> list[str]:
    modes = ("-one", "-by4", "-by16") if workload.mode == "batch" else ("",)
    return [name + mode for name in NARROW[precision] for mode in modes]


def peers_of(workload: Workload, precision: Precision = "float32") -> list[str]:
    """All of them."""
    if precision != "float32":
        return narrow_peers_of(workload, precision)
    if workload.mode == "batch":
        return BATCHES
    if workload.mode == "step":
        return STEPS
    return ENCODERS + (["ctranslate2"] if workload.encoder == MINILM else [])


def two_best(workload: Workload, threads: int, full_run: list[Record], available: set[str]) -> list[str]:
    """The fastest two of the last full run on this machine; before there is one, those that were fastest elsewhere."""
    for record in full_run:
        if (record["workload"], record["threads"]) == (workload.id, threads):
            ranked = sorted(record["peers"], key=record["peers"].get)
            break
    else:
        ranked = FASTEST_ELSEWHERE[workload.id] + peers_of(workload)
    usable = [name for name in dict.fromkeys(ranked) if name.partition(":")[0] in available]
    return usable[:2]
