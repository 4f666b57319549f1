"""`nn.TransformerEncoder` of PyTorch: its graph as text and its parameters as safetensors."""

from __future__ import annotations

import os
import re
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from burin.arrays import Array
from burin.compiling import Source
from burin.encoder_graph import Block, Encoder
from burin.errors import Error
from burin.parameters import as_float32, save_parameters


def export_torch(encoder: Any, folder: str | os.PathLike[str], *, max_len: int, causal: bool = False,
                 name: str = "encoder") -> Source:
    """Writes NAME.mlir and NAME.safetensors for an `nn.TransformerEncoder` or an `nn.TransformerEncoderLayer`.

    What it returns is what `compile` takes. The model's input is `x` float32 `[time, d_model]`, its output `y` of the same
    shape: one sequence, so `batch_first` makes no difference, and there is no padding. It computes what the module does in
    eval mode: dropout is for training.

    max_len  most rows of a sequence
    causal   what the call says in PyTorch, with `mask` (nn.Transformer.generate_square_subsequent_mask) or `is_causal`:
             each row sees itself and those before it. Only such an encoder has `step`
    name     of the model, a C identifier

    norm_first, activation (relu, gelu with and without tanh), bias, layer_norm_eps and the final norm are taken over, of
    each layer its own. What has no counterpart is an Error. Parameters are named block0.attn.W_Q, …, with matrices
    `[in, out]` (encoder_graph.py); float16, bfloat16 and float64 become float32.
    """
    from torch import nn

    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise Error(f"name is {name!r}, expected a C identifier")
    if max_len < 1:
        raise Error(f"max_len is {max_len}, expected at least 1")
    norm = None
    if type(encoder) is nn.TransformerEncoder:
        layers, norm = list(encoder.layers), encoder.norm
    elif type(encoder) is nn.TransformerEncoderLayer:
        layers = [encoder]
    else:
        raise Error(f"the module is a {type(encoder).__name__}, expected an nn.TransformerEncoder or an "
                    "nn.TransformerEncoderLayer themselves, as a subclass may compute something else")
    d_model = width_of(layers, norm)
    blocks = []
    parameters: dict[str, Array] = {}
    for number, layer in enumerate(layers):
        blocks.append(block_of(f"layers.{number}", layer))
        parameters |= {f"block{number}.{key}": value for key, value in parameters_of(layer).items()}
    if norm is not None:
        require_norm("norm", norm, d_model)
        parameters |= norm_parameters("ln", norm)

    described = Encoder(name, d_model, max_len, causal, tuple(blocks), None if norm is None else norm.eps)
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    graph, weights = target / f"{name}.mlir", target / f"{name}.safetensors"
    graph.write_text(described.text())
    save_parameters(weights, parameters)
    return Source(graph, weights)


def width_of(layers: list[Any], norm: Any) -> int:
    from torch import nn

    if not layers:
        raise Error("the encoder has no layers, expected at least one")
    for number, layer in enumerate(layers):
        if type(layer) is not nn.TransformerEncoderLayer:
            raise Error(f"layers.{number} is a {type(layer).__name__}, expected an nn.TransformerEncoderLayer itself, as "
                        "another module may compute something else")
    widths = {int(layer.self_attn.embed_dim) for layer in layers}
    if len(widths) != 1:
        raise Error(f"the layers have widths {sorted(widths)}, expected the same d_model in each")
    return widths.pop()


def block_of(path: str, layer: Any) -> Block:
    from torch import nn

    attention = layer.self_attn
    for part, kind in ((attention, nn.MultiheadAttention), (layer.linear1, nn.Linear), (layer.linear2, nn.Linear)):
        if type(part) is not kind:
            raise Error(f"{path} has a {type(part).__name__}, expected an nn.{kind.__name__} itself, as another module "
                        "may compute something else")
    if not attention._qkv_same_embed_dim:
        raise Error(f"{path}.self_attn has kdim {attention.kdim} and vdim {attention.vdim}, expected "
                    f"{attention.embed_dim}")
    if attention.bias_k is not None or attention.bias_v is not None:
        raise Error(f"{path}.self_attn has add_bias_kv, expected an attention without keys and values of its own")
    if attention.add_zero_attn:
        raise Error(f"{path}.self_attn has add_zero_attn, expected an attention without a key of zeros")
    for norm in ("norm1", "norm2"):
        require_norm(f"{path}.{norm}", getattr(layer, norm), attention.embed_dim)
    return Block(
        heads=attention.num_heads,
        d_ff=layer.linear1.out_features,
        activation=activation_of(path, layer.activation),
        norm_first=layer.norm_first,
        eps=(layer.norm1.eps, layer.norm2.eps),
        attention_bias=(attention.in_proj_bias is not None, attention.out_proj.bias is not None),
        feed_forward_bias=(layer.linear1.bias is not None, layer.linear2.bias is not None))


def activation_of(path: str, activation: Any) -> str:
    """The op that computes the function."""
    import torch
    from torch import nn

    functions = {torch.relu: "relu", torch.nn.functional.relu: "relu", torch.nn.functional.gelu: "gelu"}
    if type(activation) is nn.ReLU:
        return "relu"
    approximate = None
    if type(activation) is nn.GELU:
        approximate = activation.approximate
    elif isinstance(activation, partial) and activation.func is torch.nn.functional.gelu and not activation.args:
        if activation.keywords.keys() <= {"approximate"}:
            approximate = activation.keywords.get("approximate", "none")
    if approximate is not None:
        return "gelu_tanh" if approximate == "tanh" else "gelu"
    try:
        return functions[activation]
    except (KeyError, TypeError):
        said = getattr(activation, "__name__", None) or type(activation).__name__
        raise Error(f"{path} has activation {said}, expected relu or gelu, with or without tanh") from None


def require_norm(path: str, norm: Any, width: int) -> None:
    from torch import nn

    if type(norm) is not nn.LayerNorm or tuple(norm.normalized_shape) != (width,):
        raise Error(f"{path} is {norm}, expected an nn.LayerNorm over the {width} features")


def parameters_of(layer: Any) -> dict[str, Array]:
    """By the names of encoder_graph.py; matrices from [out, in] to [in, out]."""
    attention = layer.self_attn
    found = {}
    for letter, weight in zip("QKV", np.split(as_float32("in_proj_weight", attention.in_proj_weight), 3)):
        found[f"attn.W_{letter}"] = weight.T
    if attention.in_proj_bias is not None:
        for letter, bias in zip("QKV", np.split(as_float32("in_proj_bias", attention.in_proj_bias), 3)):
            found[f"attn.b_{letter}"] = bias
    for module, weight_name, bias_name in ((attention.out_proj, "attn.W_O", "attn.b_O"),
                                           (layer.linear1, "ffn1.W", "ffn1.b"), (layer.linear2, "ffn2.W", "ffn2.b")):
        found[weight_name] = as_float32(weight_name, module.weight).T
        if module.bias is not None:
            found[bias_name] = as_float32(bias_name, module.bias)
    return found | norm_parameters("ln1", layer.norm1) | norm_parameters("ln2", layer.norm2)


def norm_parameters(name: str, norm: Any) -> dict[str, Array]:
    """gamma and beta; 1 and 0 where the norm has none, as the op always has both."""
    width = norm.normalized_shape[0]
    gamma = np.ones(width, np.float32) if norm.weight is None else as_float32(f"{name}.gamma", norm.weight)
    beta = np.zeros(width, np.float32) if norm.bias is None else as_float32(f"{name}.beta", norm.bias)
    return {f"{name}.gamma": gamma, f"{name}.beta": beta}
