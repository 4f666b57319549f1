"""Models that several tests call: each is compiled once a run, in a folder of the run.

    BURIN=build/bin/burin PYTHONPATH=python .venv/bin/python -m pytest tests/python

Tests of PyTorch and JAX run where these are installed; elsewhere they are named as skipped.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import burin

SOURCE = Path(__file__).resolve().parents[2]
GOLDEN = SOURCE / "tests" / "golden"
TOLERANCE = 1e-5  # as `burin check` has it, of the largest expected value, or of 1


def difference(got: burin.arrays.Array, expected: burin.arrays.Array) -> float:
    """The largest difference, in units of the tolerance."""
    assert got.shape == expected.shape, f"got {got.shape}, expected {expected.shape}"
    scale = max(1.0, float(np.abs(expected).max(initial=0)))
    return float(np.abs(got - expected).max(initial=0)) / scale / TOLERANCE


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], burin.Compiled]:
    """The model of a golden case, by the case's name."""
    known: dict[str, burin.Compiled] = {}

    def of(name: str) -> burin.Compiled:
        if name not in known:
            known[name] = burin.compile(GOLDEN / f"{name}.safetensors", tmp_path_factory.mktemp(name))
        return known[name]

    return of


@pytest.fixture(scope="session")
def two(tmp_path_factory: pytest.TempPathFactory) -> burin.Compiled:
    """Two streams: joints, which step takes, look at camera frames where a force opens a gate."""
    return burin.compile(SOURCE / "tests" / "tool" / "streams.mlir", tmp_path_factory.mktemp("two"))


@pytest.fixture(scope="session")
def causal(compiled: Callable[[str], burin.Compiled]) -> burin.Model:
    """A causal attention, 5 samples of 8 features."""
    return compiled("mhsa_causal_page").open()


@pytest.fixture
def x() -> burin.arrays.Array:
    return burin.read_case(GOLDEN / "mhsa_causal_page.safetensors").inputs["x"]


def write_bert(folder: Path, tokens: int = 11, width: int = 8, layers: int = 1, d_ff: int = 16, length: int = 6) -> None:
    """A model's directory as transformers saves it, with weights from a seed and a tensor that the graph does not read."""
    rng = np.random.default_rng(5)
    config = {"model_type": "bert", "vocab_size": tokens, "hidden_size": width, "num_hidden_layers": layers,
              "num_attention_heads": 2, "intermediate_size": d_ff, "max_position_embeddings": length,
              "hidden_act": "gelu", "layer_norm_eps": 1e-12, "type_vocab_size": 2}
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config))
    shapes: dict[str, tuple[int, ...]] = {"pooler.dense.weight": (width, width)}

    def linear(name: str, outputs: int, inputs: int) -> None:
        shapes[f"{name}.weight"], shapes[f"{name}.bias"] = (outputs, inputs), (outputs,)

    def norm(name: str) -> None:
        shapes[f"{name}.weight"] = shapes[f"{name}.bias"] = (width,)

    for table, rows in (("word", tokens), ("position", length), ("token_type", 2)):
        shapes[f"embeddings.{table}_embeddings.weight"] = (rows, width)
    norm("embeddings.LayerNorm")
    for layer in (f"encoder.layer.{number}." for number in range(layers)):
        for part in ("query", "key", "value"):
            linear(f"{layer}attention.self.{part}", width, width)
        linear(f"{layer}attention.output.dense", width, width)
        norm(f"{layer}attention.output.LayerNorm")
        linear(f"{layer}intermediate.dense", d_ff, width)
        linear(f"{layer}output.dense", width, d_ff)
        norm(f"{layer}output.LayerNorm")
    burin.save_parameters(folder / "model.safetensors",
                          {name: rng.normal(size=shape) for name, shape in shapes.items()})
