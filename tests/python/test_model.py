"""Calls of compiled models: golden values, streams, and what threads, copies and closing may not break."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import burin
from conftest import GOLDEN, SOURCE, difference, write_bert

# One sequence each; the batch has a test of its own, and cases without a file of inputs another.
CASES = sorted(path.stem for path in GOLDEN.glob("*.safetensors") if path.stem not in ("digits", "learned_positions"))
STREAMED = ["block_causal_odd", "encoder_causal_page", "mhsa_causal_page"]


@pytest.mark.parametrize("name", CASES)
def test_forward_gives_the_golden_values(compiled: Callable[[str], burin.Compiled], name: str) -> None:
    case = burin.read_case(GOLDEN / f"{name}.safetensors")
    with compiled(name).open() as model:
        lengths = {} if case.inputs else {model.description.time[0].name: len(case.expected["y"])}
        y = model.forward(**case.inputs, lengths=lengths)["y"]
    assert difference(y, case.expected["y"]) < 1


@pytest.mark.parametrize("precision", ["bf16", "int8"])
def test_fewer_bits_give_nearly_the_golden_values(precision: str, tmp_path: Path) -> None:
    case = burin.read_case(GOLDEN / "block_causal_odd.safetensors")
    with burin.compile(GOLDEN / "block_causal_odd.safetensors", tmp_path, precision=precision).open() as model:
        y, expected = model.forward(case.inputs["x"])["y"], case.expected["y"]
    cosines = (y * expected).sum(1) / np.linalg.norm(y, axis=1) / np.linalg.norm(expected, axis=1)
    assert cosines.min() > 0.999
    assert difference(y, expected) > 1


@pytest.mark.parametrize("name", STREAMED)
def test_step_and_advance_give_what_forward_gives(compiled: Callable[[str], burin.Compiled], name: str) -> None:
    case = burin.read_case(GOLDEN / f"{name}.safetensors")
    x = case.inputs["x"]
    with compiled(name).open() as model:
        prefixes = [model.forward(x[:length])["y"] for length in range(1, len(x) + 1)]
        expected = np.stack([y if y.ndim == 1 else y[-1] for y in prefixes])
        state = model.state()
        steps = np.stack([state.step(row)["y"] for row in x])
        assert state.position == len(x)
        state.reset()
        parts = np.concatenate([state.advance(x[:2])["y"], state.advance(x[2:])["y"]])
    assert difference(steps, expected) < 1
    assert difference(parts, expected) < 1


def test_a_batch_gives_the_bits_of_each_sequence_alone(compiled: Callable[[str], burin.Compiled]) -> None:
    case = burin.read_case(GOLDEN / "digits.safetensors")
    offsets = case.inputs["offsets"].astype(np.int64)
    x = case.inputs["x"]
    with compiled("digits").open(threads=2) as model:
        y = model.forward_batch(offsets, x)["y"]
        alone = model.forward(x[offsets[7]:offsets[8]])["y"]
    assert y.shape == (360, 10)
    assert difference(y, case.expected["y"]) < 1
    assert alone.tobytes() == y[7].tobytes()


def test_masks_of_a_batch_are_those_of_each_sequence_one_after_another(
        compiled: Callable[[str], burin.Compiled]) -> None:
    case = burin.read_case(GOLDEN / "sdpa_masked.safetensors")
    given = case.inputs
    with compiled("sdpa_masked").open() as model:
        offsets = {"t_q": np.array([0, 2, 4]), "t_k": np.array([0, 3, 5])}
        masks = [given["mask"][:2, :3], given["mask"][2:, 3:]]
        mask = np.concatenate([mask.ravel() for mask in masks])
        together = model.forward_batch(offsets, given["q"], given["k"], given["v"], mask)["y"]
        first = model.forward(given["q"][:2], given["k"][:3], given["v"][:3], np.ascontiguousarray(masks[0]))["y"]
        second = model.forward(given["q"][2:], given["k"][3:], given["v"][3:], np.ascontiguousarray(masks[1]) != 0)["y"]
    assert together.tobytes() == first.tobytes() + second.tobytes()


def test_a_context_is_appended_and_a_copy_goes_on_alone(two: burin.Compiled) -> None:
    rng = np.random.default_rng(1)
    x, force, frames = (rng.normal(size=shape).astype(np.float32) for shape in ((5, 4), (5, 1), (6, 3)))
    weights = {"W_K": rng.normal(size=(3, 4))}
    with two.open(weights) as model:
        expected = model.forward(x, force, frames)["y"]
        state = model.state()
        assert state.append("camera", frames[:4]) == {}
        other = state.copy()
        state.append("camera", frames=frames[4:])
        assert (state.position_of("camera"), other.position_of("camera"), state.position) == (6, 4, 0)
        steps = np.stack([state.step(x=row, force=signal)["y"] for row, signal in zip(x, force)])
        saved = other.save()
        loaded = model.state()
        loaded.load(saved)
        loaded.append("camera", frames[4:])
        assert loaded.advance(x, force)["y"].shape == (5, 4)
        assert loaded.read("k_cache").shape == (6, 4)
        assert other.read("k_cache").shape == (4, 4)
        with pytest.raises(burin.Error, match="two.append: joints is what step and advance take, expected one of camera"):
            state.append("joints", x)
    assert difference(steps, expected) < 1


def test_a_saved_state_goes_on_with_the_same_bits(causal: burin.Model, x: burin.arrays.Array) -> None:
    state, other = causal.state(), causal.state()
    state.advance(x[:3])
    other.load(state.save())
    assert other.position == 3
    assert other.step(x[3])["y"].tobytes() == state.step(x[3])["y"].tobytes()


def test_the_caches_are_those_of_the_golden_case(causal: burin.Model) -> None:
    case = burin.read_case(GOLDEN / "mhsa_causal_page.safetensors")
    state = causal.state()
    state.advance(case.inputs["x"])
    for name in ("k_cache", "v_cache"):
        assert difference(state.read(name), case.expected[name]) < 1


def test_states_that_the_runtime_refuses_have_its_status(causal: burin.Model, two: burin.Compiled,
                                                         x: burin.arrays.Array) -> None:
    state = causal.state()
    state.advance(x)
    with pytest.raises(burin.Error, match="multi_head_self_attention.step: the state has no room") as full:
        state.step(x[0])
    assert full.value.status is burin.Status.STATE_FULL
    saved = state.save()
    with pytest.raises(burin.Error) as damaged:
        state.load(saved[:-1])
    assert damaged.value.status is burin.Status.STATE_DAMAGED
    with pytest.raises(burin.Error) as empty:
        state.load(b"")
    assert empty.value.status is burin.Status.STATE_DAMAGED
    with two.open({"W_K": np.ones((3, 4))}) as model, pytest.raises(burin.Error) as foreign:
        model.state().load(saved)
    assert foreign.value.status is burin.Status.STATE_FOREIGN
    assert state.position == 5
    with pytest.raises(burin.Error, match="no value v, expected one of k_cache, v_cache"):
        state.read("v")
    with pytest.raises(burin.Error) as position:
        causal.state(position=-1)
    assert position.value.status is burin.Status.TIME_OUT_OF_RANGE


def test_a_graph_that_looks_ahead_has_no_state(compiled: Callable[[str], burin.Compiled]) -> None:
    with compiled("mhsa_page").open() as model:
        with pytest.raises(burin.Error, match="multi_head_self_attention.state: there is no step: .*attention"):
            model.state()


def test_outputs_are_written_to_the_callers_arrays(causal: burin.Model, x: burin.arrays.Array) -> None:
    y = np.full((5, 8), np.nan, np.float32)
    assert causal.forward(x, out={"y": y})["y"] is y
    assert np.isfinite(y).all()


def test_bound_calls_take_what_is_in_their_arrays_at_the_time(causal: burin.Model, x: burin.arrays.Array) -> None:
    sample = np.zeros(8, np.float32)
    state = causal.state()
    step = state.bind_step(sample)
    got = []
    for row in x:
        sample[:] = row
        got.append(step()["y"].copy())
    whole = x.copy()
    forward = causal.bind_forward(whole)
    first = forward()["y"].copy()
    whole[:] = 0
    assert difference(np.stack(got), first) < 1
    assert not forward()["y"].any()
    with pytest.raises(burin.Error) as full:
        step()
    assert full.value.status is burin.Status.STATE_FULL


def test_a_sequence_without_rows_is_one(causal: burin.Model, x: burin.arrays.Array) -> None:
    assert causal.forward(x[:0])["y"].shape == (0, 8)
    assert causal.state().advance(x[:0])["y"].shape == (0, 8)
    assert causal.forward_batch(np.array([0, 0, 2]), x[:2])["y"].tobytes() == causal.forward(x[:2])["y"].tobytes()


def test_outputs_that_overlap_inputs_are_refused(causal: burin.Model, x: burin.arrays.Array) -> None:
    with pytest.raises(burin.Error, match="forward: two buffers of the call overlap") as overlap:
        causal.forward(x, out={"y": x})
    assert overlap.value.status is burin.Status.OVERLAP


def test_ids_outside_the_table_are_refused(tmp_path: Path) -> None:
    write_bert(tmp_path / "tiny")
    with burin.compile(tmp_path / "tiny", tmp_path / "out").open() as model:
        ids = np.array([1, 2, 3], np.int32)
        assert model.description.inputs[0].limit == 11
        assert model.forward(ids)["y"].tobytes() == model.forward(ids[:, None])["y"].tobytes()
        with pytest.raises(burin.Error) as bad:
            model.forward(np.array([11], np.int32))
        assert bad.value.status is burin.Status.BAD_ID


# ---- Lifetimes


def test_a_state_of_a_closed_model_is_an_error_and_not_a_crash(
        compiled: Callable[[str], burin.Compiled], x: burin.arrays.Array) -> None:
    model = compiled("mhsa_causal_page").open()
    state = model.state()
    step, forward = state.bind_step(x[0]), model.bind_forward(x)
    model.close()
    model.close()
    for call in (step, forward, state.save, state.reset, model.state, lambda: state.step(x[0]), lambda: model.isa,
                 lambda: state.position, lambda: model.forward(x)):
        with pytest.raises(burin.Error, match="multi_head_self_attention: the model is closed"):
            call()
    assert repr(model).endswith("closed>")


def test_a_state_keeps_its_model(compiled: Callable[[str], burin.Compiled], x: burin.arrays.Array) -> None:
    state = compiled("mhsa_causal_page").open().state()
    gc.collect()
    assert np.isfinite(state.step(x[0])["y"]).all()
    step = state.bind_step(x[1])
    del state
    gc.collect()
    assert np.isfinite(step()["y"]).all()


def test_closing_waits_for_the_calls_in_progress(compiled: Callable[[str], burin.Compiled]) -> None:
    """Threads that call while the model is closed get results or errors."""
    case = burin.read_case(GOLDEN / "digits.safetensors")
    offsets, x = case.inputs["offsets"].astype(np.int64), case.inputs["x"]
    model = compiled("digits").open()
    expected = model.forward_batch(offsets, x)["y"].tobytes()
    results: list[bytes | str] = []
    started = threading.Barrier(4)

    def call() -> None:
        started.wait()
        while True:
            try:
                results.append(model.forward_batch(offsets, x)["y"].tobytes())
            except burin.Error as error:
                results.append(str(error))
                return

    threads = [threading.Thread(target=call) for _ in range(3)]
    for thread in threads:
        thread.start()
    started.wait()
    while len(results) < 3:
        pass
    model.close()
    for thread in threads:
        thread.join()
    assert set(results) == {expected, "transformer_encoder: the model is closed"}


def test_a_state_belongs_to_one_call_at_a_time(causal: burin.Model, x: burin.arrays.Array) -> None:
    state = causal.state()
    with state._call("held"):
        for call in (lambda: state.step(x[0]), lambda: state.advance(x), state.save, state.copy, state.bind_step(x[0])):
            with pytest.raises(burin.Error, match="the state is in another call"):
                call()
    assert state.position == 0


# ---- Opening


def test_weights_come_as_a_file_as_bytes_or_as_arrays(compiled: Callable[[str], burin.Compiled], tmp_path: Path,
                                                      x: burin.arrays.Array) -> None:
    path = tmp_path / "weights.safetensors"
    parameters = burin.read_case(GOLDEN / "mhsa_causal_page.safetensors").parameters
    burin.save_parameters(path, parameters)
    library = compiled("mhsa_causal_page").library
    results = {burin.open(library, weights).forward(x)["y"].tobytes() for weights in (path, path.read_bytes(), parameters)}
    assert len(results) == 1


def test_weights_that_do_not_fit_are_an_error_that_names_the_tensor(compiled: Callable[[str], burin.Compiled]) -> None:
    library = compiled("mhsa_causal_page").library
    square = np.ones((8, 8), np.float32)
    good = dict.fromkeys(("W_Q", "W_K", "W_V", "W_O"), square)
    for weights, said in (({**good, "W_V": square[:4]}, "W_V"), ({**good, "extra": square}, "extra"),
                          ({"W_Q": square}, "W_K")):
        with pytest.raises(burin.Error, match=said) as error:
            burin.open(library, weights)
        assert error.value.status is burin.Status.WEIGHTS_MISMATCH
    burin.open(library, {**good, "extra": square}, allow_extra_tensors=True)
    with pytest.raises(burin.Error, match="weights are missing, expected a file, its bytes or arrays for 4 parameters"):
        burin.open(library)
    with pytest.raises(burin.Error) as unreadable:
        burin.open(library, "/nowhere")
    assert unreadable.value.status is burin.Status.FILE_UNREADABLE
    for damaged in (b"", b"safetensors", b"\xff" * 64):
        with pytest.raises(burin.Error) as malformed:
            burin.open(library, damaged)
        assert malformed.value.status is burin.Status.FILE_MALFORMED
    with pytest.raises(burin.Error) as isa:
        burin.open(library, good, isa="x86-64-avx1024")
    assert isa.value.status is burin.Status.NO_SUCH_ISA


def test_what_is_no_model_is_refused(tmp_path: Path, compiled: Callable[[str], burin.Compiled]) -> None:
    text = tmp_path / "text.so"
    text.write_text("no library")
    with pytest.raises(burin.Error, match="text.so: cannot be loaded"):
        burin.open(text)
    with pytest.raises(burin.Error, match="nothing.so: no such file"):
        burin.open(text.with_name("nothing.so"))
    with pytest.raises(burin.Error, match="has no description of a model"):
        burin.open(np._core._multiarray_umath.__file__)  # type: ignore[attr-defined]


def test_a_model_that_was_compiled_again_is_the_new_one(tmp_path: Path) -> None:
    """In one process, at one path: the loader must not answer with what stood there before."""
    text = (SOURCE / "tests" / "tool" / "streams.mlir").read_text()
    for most in (6, 4):
        (tmp_path / "two.mlir").write_text(text.replace('"camera", 6', f'"camera", {most}'))
        model = burin.compile(tmp_path / "two.mlir", tmp_path).open({"W_K": np.ones((3, 4))})
        assert model.description.time[1].max == most
