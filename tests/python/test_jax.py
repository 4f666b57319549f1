"""JAX pytrees: arrays of JAX, and types that are registered with it. What needs no JAX is in test_parameters.py."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burin
from conftest import GOLDEN, difference

jax = pytest.importorskip("jax", reason="JAX is not installed")
import jax.numpy as jnp  # noqa: E402


@dataclass
class Attention:
    W_Q: Any
    W_K: Any
    W_V: Any
    W_O: Any


jax.tree_util.register_dataclass(Attention, data_fields=["W_Q", "W_K", "W_V", "W_O"], meta_fields=[])


def test_registered_types_are_taken_apart_by_jax() -> None:
    weights = Attention(*(jnp.full((2, 2), float(number), jnp.bfloat16) for number in range(4)))
    found = burin.flatten_parameters({"block": [{"attn": weights}]})
    assert list(found) == [f"block0.attn.W_{letter}" for letter in "QKVO"]
    assert found["block0.attn.W_O"].tolist() == [[3, 3], [3, 3]]


def test_types_that_are_not_registered_are_refused() -> None:
    with pytest.raises(burin.Error, match="W is a object, expected an array"):
        burin.flatten_parameters({"W": object()})


def test_a_jax_function_proves_its_compiled_graph(tmp_path: Path) -> None:
    """JAX computes in float32 here: enough for a layer of this size."""
    case = burin.read_case(GOLDEN / "mhsa_page.safetensors")
    weights = Attention(**{name: jnp.asarray(array) for name, array in case.parameters.items()})

    def attention(parameters: dict[str, Any], inputs: dict[str, Any]) -> Any:
        x = jnp.asarray(inputs["x"])
        q, k, v = ((x @ parameters[name]).reshape(len(x), 2, 4) for name in ("W_Q", "W_K", "W_V"))
        scores = jax.nn.softmax(jnp.einsum("qhd,khd->hqk", q, k) / 2)
        return jnp.einsum("hqk,khd->qhd", scores, v).reshape(len(x), 8) @ parameters["W_O"]

    path = tmp_path / "case.safetensors"
    written = burin.write_case(path, attention, op=case.op, args=case.args, parameters=weights, inputs=case.inputs)
    assert difference(written.expected["y"], case.expected["y"]) < 1
    assert burin.check(path)
    with burin.compile(path, tmp_path).open(vars(weights)) as model:
        assert difference(model.forward(np.asarray(case.inputs["x"]))["y"], case.expected["y"]) < 1
