"""Burin's models of the workloads: compiled before anything is timed, with the weights that everyone gets."""

from __future__ import annotations

from pathlib import Path

from bench.burin_graphs import encoder_text
from bench.command import run
from bench.shapes import BASE, MINILM, SMALL, TINY, TINY_CAUSAL, Encoder, Precision, Workload
from bench.weights import minilm_folder, save_weights

NAMES = {TINY: "w1", TINY_CAUSAL: "w1_causal", SMALL: "w2", MINILM: "minilm", BASE: "w4"}
MOST_ROWS = {TINY: 16, TINY_CAUSAL: 16, SMALL: 64, BASE: 128}


def model_name(encoder: Encoder, precision: Precision) -> str:
    return NAMES[encoder] if precision == "float32" else f"{NAMES[encoder]}_{precision.replace('-', '_')}"


def model_of(workload: Workload, precision: Precision = "float32") -> str:
    return model_name(workload.encoder, precision)


def weights_path(workload: Workload, cache: Path) -> Path:
    if workload.encoder == MINILM:
        return minilm_folder() / "model.safetensors"
    return cache / f"{NAMES[workload.encoder]}.safetensors"


def compile_model(burin: Path, encoder: Encoder, models: Path, cache: Path, precision: Precision = "float32",
                  target: str = "host") -> None:
    """Writes the graph, its weights, `<name>.o`, `<name>.h` and `<name>.so`; the compiler keeps what did not change."""
    name = model_name(encoder, precision)
    graph = cache / f"{name}.mlir"
    if encoder == MINILM:
        run([burin, "import", minilm_folder(), "--name", name, "-o", graph])
    else:
        graph.write_text(encoder_text(name, encoder, MOST_ROWS[encoder]))
        save_weights(encoder, cache / f"{NAMES[encoder]}.safetensors")
    narrow = [] if precision == "float32" else ["--precision", precision, "--target", target]
    run([burin, "compile", graph, "-o", models / name, "--shared", *narrow])
