"""Golden cases from functions: `burin check` takes them, and finds what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burin
from burin.arrays import Array
from conftest import GOLDEN

ARGS = {"d_model": 8, "n_heads": 2, "causal": True, "length": 6}
GRAPH = """#time = #encoder.rows<"time", 6>
module @pooled {
  func.func @forward(%x: tensor<?x3xf32, #time> {encoder.name = "x"})
      -> (tensor<?x4xf32, #encoder.per_sequence> {encoder.name = "y"}) {
    %W = encoder.parameter "W" init "normal" : tensor<3x4xf32>
    %rows = encoder.dense %x, %W : tensor<?x3xf32, #time>, tensor<3x4xf32>
    %y = encoder.mean_over_time %rows : tensor<?x4xf32, #time>
    return %y : tensor<?x4xf32, #encoder.per_sequence>
  }
}
"""


def attention(parameters: dict[str, Array], given: dict[str, Array]) -> Array:
    """Causal self-attention of two heads."""
    x = given["x"]
    q, k, v = (x @ parameters[name] for name in ("W_Q", "W_K", "W_V"))
    heads = []
    for head in (slice(0, 4), slice(4, 8)):
        scores = q[:, head] @ k[:, head].T / 2
        weights = np.exp(np.where(np.tri(len(x)) > 0, scores, -np.inf))
        heads.append(weights / weights.sum(1, keepdims=True) @ v[:, head])
    return np.concatenate(heads, axis=1) @ parameters["W_O"]


@pytest.fixture
def given() -> dict[str, Any]:
    rng = np.random.default_rng(3)
    return {"parameters": {name: rng.normal(size=(8, 8)) / 3 for name in ("W_Q", "W_K", "W_V", "W_O")},
            "inputs": {"x": rng.normal(size=(6, 8))}, "op": "multi_head_self_attention", "args": ARGS}


def test_a_function_of_ones_own_is_proven(tmp_path: Path, given: dict[str, Any]) -> None:
    path = tmp_path / "case.safetensors"
    written = burin.write_case(path, attention, prefixes="x", source="numpy", **given)
    comparisons = burin.check(path)
    assert {"forward", "reference", "step against forward", "step against prefixes"} <= {
        found["what"] for found in comparisons}
    read = burin.read_case(path)
    assert (read.op, read.args, read.source) == ("multi_head_self_attention", ARGS, "numpy")
    assert read.expected["prefixes"].tolist() == written.expected["prefixes"].tolist()
    # Causal: what comes after a row says nothing of it.
    assert np.abs(read.expected["prefixes"] - read.expected["y"]).max() < 1e-12
    y = burin.compile(path, tmp_path).open().forward(read.inputs["x"])["y"]
    assert np.abs(y - read.expected["y"]).max() < 1e-5


def test_a_function_that_computes_something_else_is_found(tmp_path: Path, given: dict[str, Any]) -> None:
    path = tmp_path / "wrong.safetensors"
    burin.write_case(path, lambda parameters, inputs: 1.001 * attention(parameters, inputs), **given)
    with pytest.raises(burin.Error, match=r"wrong: forward on .*: at \[\d, \d\] expected .*, got .* \(tolerance 1"):
        burin.check(path)


def test_several_sequences_and_a_graph_as_text(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    path = tmp_path / "pooled.safetensors"
    (tmp_path / "graph.mlir").write_text(GRAPH)

    def pooled(parameters: dict[str, Array], inputs: dict[str, Array]) -> dict[str, Array]:
        return {"y": (inputs["x"] @ parameters["W"]).mean(axis=0)}

    for graph in (GRAPH, tmp_path / "graph.mlir"):
        case = burin.write_case(path, pooled, graph=graph, parameters={"W": rng.normal(size=(3, 4))},
                                inputs={"x": rng.normal(size=(9, 3))}, offsets=[0, 4, 5, 9])
        assert case.expected["y"].shape == (3, 4)
        assert burin.check(path)
        assert burin.read_case(path).graph == GRAPH


def test_masks_ids_and_floats_have_the_types_of_a_case(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    path = tmp_path / "masked.safetensors"
    mask = np.array([[True, False, True], [False, False, False]])

    def masked(parameters: dict[str, Array], given: dict[str, Array]) -> Array:
        weights = np.exp(given["q"] @ given["k"].T / 2) * given["mask"]
        return weights / np.maximum(weights.sum(1, keepdims=True), 1e-300) @ given["v"]

    case = burin.write_case(path, masked, op="scaled_dot_product_attention",
                            args={"t_q": 2, "t_k": 3, "d_k": 4, "d_v": 5, "masked": True},
                            inputs={"q": rng.normal(size=(2, 4)), "k": rng.normal(size=(3, 4)),
                                    "v": rng.normal(size=(3, 5)), "mask": mask})
    assert case.inputs["mask"].dtype == np.uint8
    assert burin.check(path)


def test_prefixes_cut_the_inputs_that_step_takes_and_no_others(tmp_path: Path) -> None:
    """Three queries and three context rows: only the queries are cut."""
    rng = np.random.default_rng(7)
    path = tmp_path / "gated.safetensors"

    def gated(parameters: dict[str, Array], given: dict[str, Array]) -> Array:
        q, k, v = given["xq"] @ parameters["W_Q"], given["xc"] @ parameters["W_K"], given["xc"] @ parameters["W_V"]
        weights = np.exp(q @ k.T / 2)
        update = weights / weights.sum(1, keepdims=True) @ v @ parameters["W_O"]
        return np.where(given["signal"][:, None] > 0.25, given["xq"] + update, given["xq"])

    shapes = {"W_Q": (4, 4), "W_K": (2, 4), "W_V": (2, 4), "W_O": (4, 4)}
    burin.write_case(path, gated, op="gated_cross_attention",
                     args={"d_model": 4, "n_heads": 1, "d_context": 2, "t_q": 3, "t_c": 3, "threshold": 0.25},
                     parameters={name: rng.normal(size=shape) for name, shape in shapes.items()},
                     inputs={"xq": rng.normal(size=(3, 4)), "xc": rng.normal(size=(3, 2)), "signal": [0.0, 1.0, 0.25]},
                     prefixes=("xq", "signal"))
    assert "step against prefixes" in {found["what"] for found in burin.check(path)}


def test_what_makes_no_case_is_refused(tmp_path: Path, given: dict[str, Any]) -> None:
    path = tmp_path / "case.safetensors"
    for changes, said in (({"op": ""}, "op is '' and graph not given, expected one of them"),
                          ({"graph": GRAPH}, "graph given, expected one of them"),
                          ({"prefixes": "z"}, "prefixes names the input z, expected one of x"),
                          ({"prefixes": "x", "offsets": [0, 2, 6]}, "1 outputs and 2 sequences, expected one of each"),
                          ({"inputs": {"x": np.zeros(3, complex)}}, "input x is complex128, expected floats")):
        with pytest.raises(burin.Error, match=said):
            burin.write_case(path, attention, **{**given, **changes})
    burin.write_case(path, attention, **{**given, "args": {**ARGS, "heads": 2}})
    with pytest.raises(burin.Error, match="args has the unknown entry 'heads'"):
        burin.check(path)
    with pytest.raises(burin.Error, match="cannot be read as a golden case"):
        burin.read_case(tmp_path / "nothing")
    burin.save_parameters(path, {"W": np.ones(2)})
    with pytest.raises(burin.Error, match="tensor W is no part of a case, expected param., in. or out. before it"):
        burin.read_case(path)


def test_every_golden_case_can_be_read_and_written_again(tmp_path: Path) -> None:
    for path in GOLDEN.glob("*.safetensors"):
        case = burin.read_case(path)
        burin.golden.write(tmp_path / "again", case)
        again = burin.read_case(tmp_path / "again")
        assert (again.op, again.args, again.source) == (case.op, case.args, case.source)
        for part in ("parameters", "inputs", "expected"):
            first, second = getattr(case, part), getattr(again, part)
            assert {name: array.tobytes() for name, array in first.items()} == {
                name: array.tobytes() for name, array in second.items()}, path
