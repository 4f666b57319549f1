"""What a call refuses: each mistake is one sentence that names the array, what was found and what was expected."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import burin
from conftest import GOLDEN

rows = np.zeros((5, 8), np.float32)
readonly = np.zeros((5, 8), np.float32)
readonly.flags.writeable = False
misaligned = np.zeros(5 * 8 * 4 + 1, np.uint8)[1:].view(np.float32).reshape(5, 8)
NAME = "multi_head_self_attention"

MISTAKES: list[tuple[Callable[[burin.Model], Any], type[Exception], str]] = [
    (lambda m: m.forward(rows.tolist()), TypeError, f"{NAME}.forward: x is a list, expected a numpy array of float32"),
    (lambda m: m.forward(rows.astype(np.float64)), TypeError,
     f"{NAME}.forward: x is float64 [5, 8], expected elements of float32"),
    (lambda m: m.forward(rows.astype(">f4")), TypeError, f"{NAME}.forward: x is >f4 [5, 8], expected elements of float32"),
    (lambda m: m.forward(rows[:, :7].copy()), ValueError,
     f"{NAME}.forward: x is float32 [5, 7], expected float32 [time, 8]"),
    (lambda m: m.forward(rows[None]), ValueError, f"{NAME}.forward: x is float32 [1, 5, 8], expected float32 [time, 8]"),
    (lambda m: m.forward(rows[0]), ValueError, f"{NAME}.forward: x is float32 [8], expected float32 [time, 8]"),
    (lambda m: m.forward(np.zeros((8, 5), np.float32).T), ValueError,
     f"{NAME}.forward: x [5, 8] is not C-contiguous, as its strides (4, 20) say; expected rows one after another "
     "(numpy.ascontiguousarray makes such a copy)"),
    (lambda m: m.forward(misaligned), ValueError,
     f"{NAME}.forward: x is not aligned, expected an address that is a multiple of 4"),
    (lambda m: m.forward(np.zeros((6, 8), np.float32)), ValueError, f"{NAME}.forward: 6 rows of time, expected 0 to 5"),
    (lambda m: m.forward(), TypeError, f"{NAME}.forward was not given input x, expected x"),
    (lambda m: m.forward(rows, rows), TypeError, f"{NAME}.forward was given 2 inputs, expected 1: x"),
    (lambda m: m.forward(rows, x=rows), TypeError, f"{NAME}.forward was given input x twice"),
    (lambda m: m.forward(y=rows), TypeError, f"{NAME}.forward has no input y, expected x"),
    (lambda m: m.forward(rows, lengths={"time": 4}), ValueError,
     f"{NAME}.forward: x has 5 rows of time, lengths has 4"),
    (lambda m: m.forward(rows, out={"z": rows}), TypeError, f"{NAME}.forward has no output z, expected y"),
    (lambda m: m.forward(rows, out={"y": rows[:4]}), ValueError,
     f"{NAME}.forward: out['y'] is float32 [4, 8], expected float32 [5, 8]"),
    (lambda m: m.forward(rows, out={"y": readonly}), ValueError,
     f"{NAME}.forward: out['y'] is read-only, expected an array that can be written"),
    (lambda m: m.forward_batch(np.array([0, 5], np.int32), rows), TypeError,
     f"{NAME}.forward_batch: offsets of time is int32 [2], expected elements of int64"),
    (lambda m: m.forward_batch(np.array([0, 4]), rows), ValueError,
     f"{NAME}.forward_batch: x is float32 [5, 8], expected float32 [4, 8]"),
    (lambda m: m.forward_batch(np.array([[0, 5]]), rows), ValueError,
     f"{NAME}.forward_batch: offsets have shapes {{'time': (1, 2)}}, expected [sequences + 1] for each"),
    (lambda m: m.forward_batch({"rows": np.array([0, 5])}, rows), TypeError,
     f"{NAME}.forward_batch: offsets has rows, expected time"),
    (lambda m: m.forward(rows, lengths={"rows": 5}), TypeError, f"{NAME}.forward: lengths has rows, expected time"),
    (lambda m: m.forward_batch(np.array([0, -3]), rows), ValueError,
     f"{NAME}.forward_batch: offsets of time end with -3, expected 0 to 5"),
    (lambda m: m.forward_batch(np.array([0, 10**15]), rows), ValueError,
     f"{NAME}.forward_batch: offsets of time end with 1000000000000000, expected 0 to 5"),
    (lambda m: m.forward_batch(np.array([1, 5]), rows), burin.Error,
     f"{NAME}.forward_batch: batch offsets do not start at 0, or descend"),
    (lambda m: m.forward_batch(np.array([0, 6, 5]), rows), burin.Error,
     f"{NAME}.forward_batch: a length or position is negative or past the graph's maximum"),
    (lambda m: m.state().step(rows), ValueError, f"{NAME}.step: x is float32 [5, 8], expected float32 [1, 8]"),
    (lambda m: m.state().step(rows[0, :4]), ValueError, f"{NAME}.step: x is float32 [4], expected float32 [8]"),
    (lambda m: m.state().advance(rows[0]), ValueError, f"{NAME}.advance: x is float32 [8], expected float32 [sample, 8]"),
    (lambda m: m.state().append("camera", rows), burin.Error, f"{NAME}: no stream camera, expected one of time"),
]


@pytest.mark.parametrize("call, kind, sentence", MISTAKES, ids=[sentence for _, _, sentence in MISTAKES])
def test_mistake_is_named(causal: burin.Model, call: Callable[[burin.Model], Any], kind: type[Exception],
                          sentence: str) -> None:
    with pytest.raises(kind, match=re.escape(sentence)):
        call(causal)


def test_inputs_must_agree_on_their_rows(compiled: Callable[[str], burin.Compiled]) -> None:
    given = burin.read_case(GOLDEN / "sdpa_masked.safetensors").inputs
    with compiled("sdpa_masked").open() as model:
        with pytest.raises(ValueError, match=r"forward: v has 4 rows of t_k, k has 5$"):
            model.forward(given["q"], given["k"], given["v"][:4], given["mask"])
        with pytest.raises(ValueError, match=r"forward: mask has 4 rows of t_k, k has 5$"):
            model.forward(given["q"], given["k"], given["v"], given["mask"][:, :4].copy())
        with pytest.raises(TypeError, match="mask is int32 .4, 5., expected elements of uint8"):
            model.forward(given["q"], given["k"], given["v"], given["mask"].astype(np.int32))
        with pytest.raises(TypeError, match="offsets is a ndarray, expected a mapping with t_q, t_k"):
            model.forward_batch(np.array([0, 4]), given["q"], given["k"], given["v"], given["mask"])


def test_rows_that_no_input_counts_are_asked_for(compiled: Callable[[str], burin.Compiled]) -> None:
    with compiled("sinusoidal_page").open() as model:
        with pytest.raises(ValueError, match="no input says how many rows of time there are, expected lengths="):
            model.forward()
        with pytest.raises(ValueError, match="no input says how many samples there are, expected count="):
            model.state().advance()
        assert model.forward(lengths={"time": 3})["y"].tobytes() == model.state().advance(count=3)["y"].tobytes()


def test_arrays_are_not_copied(causal: burin.Model, x: burin.arrays.Array) -> None:
    """The address that the runtime is given is the array's."""
    seen: list[tuple[Any, ...]] = []
    library = causal._library
    real = library.forward
    try:
        library.forward = lambda *arguments: seen.append(arguments) or real(*arguments)
        y = causal.forward(x)["y"]
    finally:
        library.forward = real
    assert seen[0][-2:] == (x.ctypes.data, y.ctypes.data)
