"""Encoders of PyTorch: what is exported computes what PyTorch computes, and what does not map is refused."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

import burin
from conftest import difference

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

MAX_LEN = 12

# d_model, heads, layers, options of the layer, final norm
ENCODERS: dict[str, tuple[int, int, int, dict[str, Any], Any]] = {
    "as_pytorch_has_it": (16, 2, 2, {}, None),
    "norms_first_and_last": (24, 3, 2, {"norm_first": True}, nn.LayerNorm(24, eps=1e-6)),
    "gelu_without_biases": (16, 4, 1, {"activation": "gelu", "bias": False}, None),
    "gelu_tanh_as_a_module": (8, 2, 1, {"activation": nn.GELU(approximate="tanh")}, nn.LayerNorm(8, bias=False)),
    "gelu_tanh_as_a_partial": (
        8, 1, 1, {"activation": partial(F.gelu, approximate="tanh"), "layer_norm_eps": 3.1e-3}, None),
    "relu_as_a_module": (
        8, 2, 1, {"activation": nn.ReLU(), "dim_feedforward": 20}, nn.LayerNorm(8, elementwise_affine=False)),
    "float64": (8, 2, 1, {"dtype": torch.float64}, None),
    "bfloat16_batch_first": (8, 2, 2, {"dtype": torch.bfloat16, "batch_first": True}, None),
}


def random_encoder(name: str) -> Any:
    """With parameters that no initial value hides: biases and norms are random too."""
    torch.manual_seed(len(name))
    d_model, heads, layers, options, norm = ENCODERS[name]
    layer = nn.TransformerEncoderLayer(d_model, heads, **{"dim_feedforward": 32, **options})
    encoder = nn.TransformerEncoder(layer, layers, norm=norm, enable_nested_tensor=False).eval()
    with torch.no_grad():
        for parameter in encoder.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.2)
    return encoder


def expected(encoder: Any, x: np.ndarray[Any, Any], causal: bool) -> np.ndarray[Any, Any]:
    """PyTorch's own answer, in double precision of the exported values."""
    mask = nn.Transformer.generate_square_subsequent_mask(len(x), dtype=torch.float64) if causal else None
    rows = torch.from_numpy(x).double()
    axis = 0 if encoder.layers[0].self_attn.batch_first else 1
    with torch.no_grad():
        y = encoder.double()(rows.unsqueeze(axis), mask=mask).squeeze(axis).numpy()
    assert isinstance(y, np.ndarray)
    return y


@pytest.mark.parametrize("name", ENCODERS)
def test_exported_encoder_computes_what_pytorch_computes(name: str, tmp_path: Path) -> None:
    encoder = random_encoder(name)
    x = np.random.default_rng(7).normal(size=(MAX_LEN - 1, ENCODERS[name][0])).astype(np.float32)
    model = burin.compile(burin.export_torch(encoder, tmp_path, max_len=MAX_LEN, name=name), tmp_path).open()
    assert model.name == name
    assert difference(model.forward(x)["y"], expected(encoder, x, causal=False)) < 1
    with pytest.raises(burin.Error, match="there is no step"):
        model.state()


@pytest.mark.parametrize("name", ENCODERS)
def test_steps_of_a_causal_encoder_are_the_rows_of_pytorchs_masked_output(name: str, tmp_path: Path) -> None:
    encoder = random_encoder(name)
    x = np.random.default_rng(8).normal(size=(MAX_LEN, ENCODERS[name][0])).astype(np.float32)
    model = burin.compile(burin.export_torch(encoder, tmp_path, max_len=MAX_LEN, causal=True), tmp_path).open()
    rows = expected(encoder, x, causal=True)
    assert difference(model.forward(x)["y"], rows) < 1
    state = model.state()
    for number, row in enumerate(x):
        assert difference(state.step(row)["y"], rows[number]) < 1, f"row {number}"
    with pytest.raises(burin.Error) as full:
        state.step(x[0])
    assert full.value.status is burin.Status.STATE_FULL


def test_a_layer_alone_and_layers_that_differ(tmp_path: Path) -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
    x = np.random.default_rng(9).normal(size=(5, 8)).astype(np.float32)
    model = burin.compile(burin.export_torch(layer, tmp_path, max_len=5, name="layer"), tmp_path).open()
    assert set(model.description.parameters) == {
        *(f"block0.attn.{kind}_{which}" for kind in "Wb" for which in "QKVO"),
        *(f"block0.{norm}.{part}" for norm in ("ln1", "ln2") for part in ("gamma", "beta")),
        *(f"block0.{dense}.{part}" for dense in ("ffn1", "ffn2") for part in "Wb")}
    with torch.no_grad():
        rows = layer(torch.from_numpy(x)[None])[0].numpy()
    assert difference(model.forward(x)["y"], rows) < 1

    encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    encoder.layers[1] = nn.TransformerEncoderLayer(8, 4, 24, activation="gelu", norm_first=True, batch_first=True)
    encoder.eval()
    model = burin.compile(burin.export_torch(encoder, tmp_path, max_len=5, name="mixed"), tmp_path).open()
    assert difference(model.forward(x)["y"], expected(encoder, x, causal=False)) < 1


def test_pytorch_proves_the_exported_graph_with_a_golden_case(tmp_path: Path) -> None:
    encoder = random_encoder("norms_first_and_last")
    source = burin.export_torch(encoder, tmp_path, max_len=MAX_LEN, causal=True)
    x = np.random.default_rng(10).normal(size=(7, 24))
    assert isinstance(source.weights, Path)
    parameters = load_file(source.weights)
    case = tmp_path / "case.safetensors"
    burin.write_case(case, lambda parameters, inputs: expected(encoder, inputs["x"], causal=True), graph=source.graph,
                     parameters=parameters, inputs={"x": x}, prefixes="x", source=f"torch {torch.__version__}")
    assert "step against prefixes" in {found["what"] for found in burin.check(case)}


class OwnLayer(nn.TransformerEncoderLayer):  # type: ignore[misc]
    pass


def layer_with(change: Any = None, **options: Any) -> Any:
    layer = nn.TransformerEncoderLayer(8, 2, 16, **options)
    if change:
        change(layer)
    return layer


def with_attention(**options: Any) -> Any:
    return lambda layer: setattr(layer, "self_attn", nn.MultiheadAttention(8, 2, **options))


REFUSED: list[tuple[Any, str]] = [
    (lambda: nn.Linear(8, 8), "the module is a Linear, expected an nn.TransformerEncoder"),
    (lambda: OwnLayer(8, 2), "the module is a OwnLayer, expected an nn.TransformerEncoder"),
    (lambda: nn.TransformerEncoder(OwnLayer(8, 2), 1, enable_nested_tensor=False), "layers.0 is a OwnLayer, expected"),
    (lambda: nn.TransformerEncoder(layer_with(), 0), "the encoder has no layers, expected at least one"),
    (lambda: layer_with(activation=torch.tanh), "layers.0 has activation tanh, expected relu or gelu"),
    (lambda: layer_with(activation=nn.SiLU()), "layers.0 has activation SiLU, expected relu or gelu"),
    (lambda: layer_with(with_attention(add_bias_kv=True)), "layers.0.self_attn has add_bias_kv, expected"),
    (lambda: layer_with(with_attention(add_zero_attn=True)), "layers.0.self_attn has add_zero_attn, expected"),
    (lambda: layer_with(with_attention(kdim=4)), "layers.0.self_attn has kdim 4 and vdim 8, expected 8"),
    (lambda: layer_with(lambda layer: setattr(layer, "linear1", nn.Sequential(layer.linear1))),
     "layers.0 has a Sequential, expected an nn.Linear itself"),
    (lambda: layer_with(lambda layer: setattr(layer, "norm2", nn.RMSNorm(8))), "layers.0.norm2 is RMSNorm"),
    (lambda: nn.TransformerEncoder(layer_with(), 1, norm=nn.LayerNorm((4, 8)), enable_nested_tensor=False),
     "norm is LayerNorm((4, 8), "),
]


@pytest.mark.parametrize("module, sentence", REFUSED, ids=[sentence for _, sentence in REFUSED])
def test_what_does_not_map_is_refused_and_nothing_written(module: Any, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(burin.Error) as error:
        burin.export_torch(module(), tmp_path / "out", max_len=4)
    assert sentence in str(error.value)
    assert not (tmp_path / "out").exists()


def test_names_and_lengths_are_checked(tmp_path: Path) -> None:
    with pytest.raises(burin.Error, match="name is 'my encoder', expected a C identifier"):
        burin.export_torch(layer_with(), tmp_path, max_len=4, name="my encoder")
    with pytest.raises(burin.Error, match="max_len is 0, expected at least 1"):
        burin.export_torch(layer_with(), tmp_path, max_len=0)


def test_tensors_with_gradients_are_parameters() -> None:
    weight = torch.full((2, 2), 1.5, requires_grad=True)
    found = burin.flatten_parameters({"W": weight, "b": weight.to(torch.bfloat16)})
    assert found["W"].tolist() == found["b"].tolist() == [[1.5, 1.5], [1.5, 1.5]]
    with pytest.raises(burin.Error, match="parameter ids is int64"):
        burin.flatten_parameters({"ids": torch.arange(3)})
