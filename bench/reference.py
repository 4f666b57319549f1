"""What is right: every workload in float64, with plain numpy, kept in a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import erf

from bench.shapes import MINILM, Precision, Workload
from bench.weights import Array, Block, float_input, float_weights, minilm_weights, texts

TOLERANCE = 1e-5  # as golden cases have it: of max(1, the largest value)
# Of an answer with the reference, the worst of its rows: below it a contestant's time counts for nothing. What is lower
# than these by itself is an answer to something else; how good each is stands beside its time.
LEAST_COSINE: dict[Precision, float] = {"bf16": 0.999, "bf16-dot": 0.999, "int8": 0.95}


@dataclass(frozen=True)
class Reference:
    """The result; and for a step, what the past left in memory."""

    result: Array  # [values] or [texts, d], float64
    caches: Array  # [depth, 2, heads, past rows, d / heads], keys and values, float32; empty but for a step
    total: Array  # [d], sum of the past rows, float32


def normalized(x: Array, gain: Array, shift: Array, eps: float) -> Array:
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + eps) * gain + shift


def attention(x: Array, block: Block, heads: int, causal: bool) -> tuple[Array, Array]:
    """What attention adds to [rows, d], and its keys and values [2, heads, rows, d / heads]."""
    rows, d = x.shape
    projected = x @ block.qkv + (0 if block.qkv_bias is None else block.qkv_bias)
    q, k, v = projected.reshape(rows, 3, heads, d // heads).transpose(1, 2, 0, 3)
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(d // heads)
    if causal:
        scores[:, np.triu(np.ones((rows, rows), bool), 1)] = -np.inf
    weight = np.exp(scores - scores.max(-1, keepdims=True))
    mixed = (weight / weight.sum(-1, keepdims=True) @ v).transpose(1, 0, 2).reshape(rows, d)
    return mixed @ block.out + (0 if block.out_bias is None else block.out_bias), np.stack([k, v])


def feed_forward(x: Array, block: Block, gelu: bool) -> Array:
    hidden = x @ block.up + block.up_bias
    hidden = hidden * 0.5 * (1 + erf(hidden / np.sqrt(2))) if gelu else np.maximum(hidden, 0)
    return hidden @ block.down + block.down_bias


def run_blocks(x: Array, blocks: tuple[Block, ...], heads: int, eps: float, causal: bool,
               gelu: bool) -> tuple[Array, list[Array]]:
    caches = []
    for block in blocks:
        added, cache = attention(x, block, heads, causal)
        caches.append(cache)
        x = normalized(x + added, block.gain1, block.shift1, eps)
        x = normalized(x + feed_forward(x, block, gelu), block.gain2, block.shift2, eps)
    return x, caches


def of_floats(workload: Workload) -> Reference:
    encoder, rows = workload.encoder, workload.lengths[0]
    weights = float_weights(encoder, rows)
    x = float_input(workload).astype(np.float64) @ weights.embed + weights.embed_bias + weights.positions[:rows]
    x, caches = run_blocks(x, weights.blocks, encoder.heads, weights.eps, encoder.causal, gelu=False)
    past = np.stack(caches)[:, :, :, :-1].astype(np.float32)
    return Reference(x.mean(0) @ weights.head + weights.head_bias, past, x[:-1].sum(0).astype(np.float32))


def embedding(ids: Array) -> Array:
    """MiniLM's vector of one text, [d]."""
    weights = minilm_weights()
    x = weights.words[ids].astype(np.float64) + weights.positions[:len(ids)]
    x = normalized(x, weights.gain, weights.shift, weights.eps)
    x, _ = run_blocks(x, weights.blocks, MINILM.heads, weights.eps, causal=False, gelu=True)
    mean = x.mean(0)
    return mean / np.linalg.norm(mean)


def of_tokens(workload: Workload) -> Reference:
    return Reference(np.stack([embedding(ids) for ids in texts(workload)]), np.empty(0), np.empty(0))


def reference(workload: Workload, folder: Path) -> Reference:
    """From the file in `folder` where there is one."""
    path = folder / f"reference_{workload.id}.npz"
    if not path.exists():
        made = of_floats(workload) if workload.encoder.inputs else of_tokens(workload)
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez(path, result=made.result, caches=made.caches, total=made.total)
    with np.load(path) as kept:
        return Reference(kept["result"], kept["caches"], kept["total"])


def largest_error(answer: Array, expected: Array) -> tuple[float, bool]:
    """The largest |answer − expected|, and whether it is within the tolerance."""
    if answer.size != expected.size:
        raise ValueError(f"{answer.size} values, expected {expected.size}")
    error = float(np.abs(answer.astype(np.float64).reshape(expected.shape) - expected).max())
    return error, error <= TOLERANCE * max(1.0, float(np.abs(expected).max()))


def cosines(answer: Array, expected: Array) -> Array:
    """Of each row with its own, [rows]."""
    rows = expected.reshape(-1, expected.shape[-1])
    got = answer.astype(np.float64).reshape(rows.shape)
    return (got * rows).sum(-1) / (np.linalg.norm(got, axis=-1) * np.linalg.norm(rows, axis=-1))


class Agreement(NamedTuple):
    """How an answer compares with the reference; NaN is never right."""

    error: float
    cosine: float  # of the worst row
    right: bool

    @classmethod
    def of(cls, answer: Array, expected: Array, precision: Precision) -> Agreement:
        error, right = largest_error(answer, expected)
        cosine = float(cosines(answer, expected).min())
        return cls(error, cosine, right if precision == "float32" else cosine >= LEAST_COSINE[precision])
