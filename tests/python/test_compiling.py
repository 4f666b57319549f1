"""Where the program is found, and what it compiles."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

import burin
from conftest import SOURCE, difference, write_bert


@pytest.fixture
def program() -> Path:
    return burin.find_program()


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An environment without the program; a prefix that has one."""
    monkeypatch.delenv("BURIN", raising=False)
    monkeypatch.delenv("CMAKE_PREFIX_PATH", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    (tmp_path / "prefix" / "bin").mkdir(parents=True)
    found = tmp_path / "prefix" / "bin" / "burin"
    found.write_text("#!/bin/sh\n")
    found.chmod(0o755)
    return found


def test_program_is_found_where_it_is_said_to_be(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(burin.Error, match="the program burin is not on PATH"):
        burin.find_program()
    prefix = nowhere.parent.parent
    assert burin.find_program(nowhere) == burin.find_program(prefix) == nowhere
    with monkeypatch.context() as changed:
        changed.setenv("CMAKE_PREFIX_PATH", os.pathsep.join(["/nowhere", str(prefix)]))
        assert burin.find_program() == nowhere
    with monkeypatch.context() as changed:
        changed.setenv("PATH", str(nowhere.parent))
        assert burin.find_program() == nowhere
    with monkeypatch.context() as changed:
        changed.setenv("BURIN", str(prefix))
        assert burin.find_program() == nowhere
        changed.setenv("BURIN", "/nowhere/burin")
        with pytest.raises(burin.Error, match="/nowhere/burin, which the variable BURIN says, is not a program"):
            burin.find_program()
        assert burin.find_program(nowhere) == nowhere


def test_model_directory_has_its_weights(tmp_path: Path) -> None:
    write_bert(tmp_path / "tiny_bert")
    compiled = burin.compile(tmp_path / "tiny_bert", tmp_path / "out", jobs=1)
    assert (compiled.library.name, compiled.header.name, compiled.object.name) == (
        "tiny_bert.so", "tiny_bert.h", "tiny_bert.o")
    with compiled.open() as model:
        assert model.name == "tiny_bert"
        assert repr(model) == "<burin.Model tiny_bert: ids i32 [time, 1] -> y f32 [time, 8]>"
        y = model.forward(np.array([3, 1, 4], np.int32))["y"]
    weights = load_file(tmp_path / "tiny_bert" / "model.safetensors")
    last = {part: weights[f"encoder.layer.0.output.LayerNorm.{part}"].astype(np.float64) for part in ("weight", "bias")}
    normalized = (y - last["bias"]) / last["weight"]
    assert np.allclose(normalized.mean(axis=1), 0, atol=1e-4) and np.allclose(normalized.std(axis=1), 1, atol=1e-4)


def test_sentence_transformers_directory_has_its_weights_below(tmp_path: Path) -> None:
    folder = tmp_path / "sentences"
    write_bert(folder / "0_Transformer")
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"word_embedding_dimension": 8, "pooling_mode_mean_tokens": true}')
    (folder / "modules.json").write_text(
        '[{"path": "0_Transformer", "type": "sentence_transformers.models.Transformer"},'
        ' {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}]')
    with burin.compile(folder, tmp_path / "out").open() as model:
        ids = np.array([3, 1, 4, 1, 5], np.int32)
        y = model.forward_batch(np.array([0, 2, 5]), ids)["y"]
        assert y.shape == (2, 8)
        assert model.forward(ids[2:])["y"].tobytes() == y[1].tobytes()
    with burin.compile(folder / "0_Transformer", tmp_path / "rows").open() as encoder:
        assert difference(y[1], encoder.forward(ids[2:])["y"].astype(np.float64).mean(axis=0)) < 1


def test_several_instruction_sets_in_one_library(tmp_path: Path) -> None:
    graph = SOURCE / "tests" / "tool" / "streams.mlir"
    compiled = burin.compile(graph, tmp_path, target="x86-64-sse41,generic-x86-64")
    weights = {"W_K": np.ones((3, 4))}
    x, force, frames = (np.ones(shape, np.float32) for shape in ((5, 4), (5, 1), (6, 3)))
    results = {}
    for isa in ("x86-64-sse41", "generic-x86-64"):
        with compiled.open(weights, isa=isa) as model:
            assert model.isa == isa
            assert set(model.description.targets) == {"x86-64-sse41", "generic-x86-64"}
            results[isa] = model.forward(x, force, frames)["y"]
    assert difference(results["x86-64-sse41"], results["generic-x86-64"].astype(np.float64)) < 1


def test_only_the_shared_library_has_the_description(tmp_path: Path) -> None:
    """A program that links the object has its header."""
    compiled = burin.compile(SOURCE / "tests" / "tool" / "streams.mlir", tmp_path)
    assert b"burin_library_description" in compiled.library.read_bytes()
    assert b"burin_library_description" not in compiled.object.read_bytes()


def test_program_that_declares_its_own_graph(tmp_path: Path, program: Path) -> None:
    """A generator is any program with the tool's commands; here one that passes them on."""
    generator = tmp_path / "two_generator"
    graph = SOURCE / "tests" / "tool" / "streams.mlir"
    generator.write_text(f'#!/bin/sh\ncommand=$1; shift\nexec {program} "$command" {graph} "$@"\n')
    generator.chmod(0o755)
    assert burin.compile(generator, tmp_path / "out").library.name == "two.so"


def test_errors_of_the_program_are_errors_with_its_words(tmp_path: Path) -> None:
    graph = tmp_path / "wrong.mlir"
    graph.write_text("module @wrong {}")
    with pytest.raises(burin.Error, match=r"(?s)exit status 1: .*wrong.mlir.*forward"):
        burin.compile(graph, tmp_path)
    with pytest.raises(burin.Error, match="nothing.mlir: no such file or directory, expected a graph"):
        burin.compile(tmp_path / "nothing.mlir", tmp_path)
    shutil.copy(SOURCE / "tests" / "tool" / "streams.mlir", graph)
    with pytest.raises(burin.Error, match="(?s)exit status 1: .*x86-64-avx1024"):
        burin.compile(graph, tmp_path, target="x86-64-avx1024")
    (tmp_path / "folder").mkdir()
    with pytest.raises(burin.Error, match="a folder without config.json"):
        burin.compile(tmp_path / "folder", tmp_path)
