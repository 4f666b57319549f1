"""Parameters of any tree, by name, as the runtime reads them."""

from __future__ import annotations

from collections import namedtuple
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

import burin

Norm = namedtuple("Norm", ["gamma", "beta"])
one = np.ones((2, 3), np.float32)


def test_names_are_paths_and_indices_follow_what_they_count() -> None:
    tree = {"embed": {"W": one}, "block": [{"attn": {"W_Q": one}}, {"ln1": Norm(one, one)}], "head": (one,), "none": None,
            "layer": {0: one}}
    assert list(burin.flatten_parameters(tree)) == ["embed.W", "block0.attn.W_Q", "block1.ln1.gamma", "block1.ln1.beta",
                                                    "head0", "layer0"]


def test_names_can_be_changed() -> None:
    tree = {"params": {"Dense_0": {"kernel": one, "bias": one[0]}}}
    names = {"params.Dense_0.kernel": "embed.W", "params.Dense_0.bias": "embed.b"}
    assert list(burin.flatten_parameters(tree, names)) == ["embed.W", "embed.b"]
    assert list(burin.flatten_parameters(tree, lambda path: path.removeprefix("params."))) == [
        "Dense_0.kernel", "Dense_0.bias"]
    with pytest.raises(burin.Error, match="parameter W is there twice"):
        burin.flatten_parameters(tree, lambda path: "W")


def test_float32_is_not_copied_and_other_floats_are_rounded() -> None:
    found = burin.flatten_parameters({"a": one, "b": np.float64(1) / np.full(3, 3.0), "c": np.ones(2, np.float16)})
    assert np.shares_memory(found["a"], one)
    assert {array.dtype for array in found.values()} == {np.dtype(np.float32)}
    assert found["b"][0] == np.float32(1 / 3)


def test_arrays_in_another_order_are_written_in_theirs(tmp_path: Path) -> None:
    weight = np.arange(6, dtype=np.float64).reshape(2, 3)
    burin.save_parameters(tmp_path / "w", {"transposed": weight.T, "reversed": weight[::-1], "part": weight[:, 1:]})
    read = load_file(tmp_path / "w")
    for name, expected in (("transposed", weight.T), ("reversed", weight[::-1]), ("part", weight[:, 1:])):
        assert read[name].tolist() == expected.tolist(), name


@pytest.mark.parametrize("tree, sentence", [
    ({"W": [1.0]}, "W0 is a float, expected an array, a mapping or a sequence of them"),
    ({"W": "text"}, "W is a str, expected an array"),
    ({"a": {1.5: one}}, "a has the key 1.5, expected names or indices"),
    ({"W": np.ones(3, np.int64)}, "parameter W is int64 [3], expected floats"),
    ({"W": np.ones(2, np.complex64)}, "parameter W is complex64 [2], expected floats"),
    ({"W": np.array([1e39, 1.0])}, "parameter W has values beyond float32, largest 1e+39, expected at most 3.40282e+38"),
], ids=str)
def test_what_is_no_parameter_is_refused(tree: Any, sentence: str) -> None:
    with pytest.raises(burin.Error) as error:
        burin.flatten_parameters(tree)
    assert sentence in str(error.value)


def test_values_that_are_not_finite_stay_as_they_are() -> None:
    found = burin.flatten_parameters({"W": np.array([np.inf, np.nan, -np.inf])})
    assert np.array_equal(found["W"], np.array([np.inf, np.nan, -np.inf], np.float32), equal_nan=True)
