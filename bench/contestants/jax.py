"""jax.jit, compiled before the first call. Weights of small encoders are constants of the program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from bench.contestants.batches import batches_of, run_all
from bench.contestants.contract import Prepared, Setting, StepArguments
from bench.shapes import Encoder, Workload
from bench.weights import Array, float_input, float_weights, minilm_weights, texts

CONSTANT_BYTES = 4 << 20
Weights = dict[str, Any]
Program = Callable[..., Any]


def norm(x: jax.Array, gain: jax.Array, shift: jax.Array, eps: float) -> jax.Array:
    centred = x - x.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + eps) * gain + shift


def projections(x: jax.Array, block: Weights, heads: int) -> jax.Array:
    """[3, batch, heads, rows, d / heads]."""
    joined = x @ block["qkv"]
    if block["qkv_bias"] is not None:
        joined = joined + block["qkv_bias"]
    batch, rows, _ = joined.shape
    return joined.reshape(batch, rows, 3, heads, -1).transpose(2, 0, 3, 1, 4)


def attend(q: jax.Array, k: jax.Array, v: jax.Array, bias: Any) -> jax.Array:
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) * np.float32(q.shape[-1] ** -0.5)
    weight = jax.nn.softmax(scores if bias is None else scores + bias, axis=-1)
    mixed = jnp.einsum("bhqk,bhkd->bhqd", weight, v).transpose(0, 2, 1, 3)
    return mixed.reshape(*mixed.shape[:2], -1)


def finish(x: jax.Array, mixed: jax.Array, block: Weights, eps: float, gelu: bool) -> jax.Array:
    out = mixed @ block["out"]
    if block["out_bias"] is not None:
        out = out + block["out_bias"]
    x = norm(x + out, block["gain1"], block["shift1"], eps)
    hidden = x @ block["up"] + block["up_bias"]
    hidden = jax.nn.gelu(hidden, approximate=False) if gelu else jax.nn.relu(hidden)
    return norm(x + (hidden @ block["down"] + block["down_bias"]), block["gain2"], block["shift2"], eps)


def minilm(encoder: Encoder, eps: float) -> Program:
    def program(weights: Weights, ids: jax.Array, mask: jax.Array) -> jax.Array:
        bias = jnp.where(mask[:, None, None] > 0, 0.0, -1e30)
        x = weights["words"][ids] + weights["positions"][:ids.shape[1]]
        x = norm(x, weights["gain"], weights["shift"], eps)
        for block in weights["blocks"]:
            x = finish(x, attend(*projections(x, block, encoder.heads), bias), block, eps, gelu=True)
        weight = mask[:, :, None].astype(x.dtype)
        mean = (x * weight).sum(1) / weight.sum(1)
        return mean / jnp.linalg.norm(mean, axis=-1, keepdims=True)

    return program


def forward(encoder: Encoder, eps: float) -> Program:
    def program(weights: Weights, x: jax.Array) -> jax.Array:
        rows = x.shape[0]
        bias = np.triu(np.full((rows, rows), -1e30, np.float32), 1) if encoder.causal else None
        x = (x @ weights["embed"] + weights["embed_bias"] + weights["positions"][:rows])[None]
        for block in weights["blocks"]:
            x = finish(x, attend(*projections(x, block, encoder.heads), bias), block, eps, gelu=False)
        return x[0].mean(0) @ weights["head"] + weights["head_bias"]

    return program


def step(encoder: Encoder, eps: float) -> Program:
    def program(weights: Weights, x: jax.Array, caches: jax.Array, total: jax.Array, position: jax.Array) -> Any:
        here = jax.lax.dynamic_slice_in_dim(weights["positions"], position, 1)
        x = (x @ weights["embed"] + weights["embed_bias"] + here)[None]
        bias = jnp.where(jnp.arange(caches.shape[3]) <= position, 0.0, -1e30)
        for number, block in enumerate(weights["blocks"]):
            q, k, v = projections(x, block, encoder.heads)
            new = jnp.stack([k[0], v[0]])[None]
            caches = jax.lax.dynamic_update_slice(caches, new, (number, 0, 0, position, 0))
            x = finish(x, attend(q, caches[number, :1], caches[number, 1:], bias), block, eps, gelu=False)
        total = total + x[0]
        return ((total / (position + 1)) @ weights["head"] + weights["head_bias"])[0], caches, total

    return program


def program_of(workload: Workload, setting: Setting) -> tuple[Program, Weights, tuple[Any, ...]]:
    """A function of (weights, *arguments), its weights, and the arguments; none for a batch."""
    encoder = workload.encoder
    if not encoder.inputs:
        made = minilm_weights()
        program = minilm(encoder, made.eps)
        arguments: tuple[Any, ...] = ()
        if workload.mode == "forward":
            ids = texts(workload)[0][None].astype(np.int32)
            arguments = ids, np.ones_like(ids)
    else:
        made = float_weights(encoder, workload.lengths[0])
        program = (step if workload.mode == "step" else forward)(encoder, made.eps)
        arguments = (float_input(workload),)
        if workload.mode == "step":
            given = StepArguments.of(workload, setting.reference)
            arguments = given.x, given.caches, given.total, np.int32(given.position)
    return program, {name: value for name, value in asdict(made).items() if name != "eps"}, arguments


def prepare(workload: Workload, form: str, setting: Setting) -> Prepared:
    jax.config.update("jax_cpu_enable_async_dispatch", False)
    program, weights, arguments = program_of(workload, setting)
    if workload.mode == "batch":
        return batch(workload, form, program, weights)
    arguments = jax.device_put(arguments)
    if sum(array.nbytes for array in jax.tree.leaves(weights)) < CONSTANT_BYTES:
        kept = (1,) if workload.mode == "step" else ()  # the cache is updated in place
        compiled: Program = jax.jit(lambda *given: program(weights, *given), donate_argnums=kept).lower(
            *arguments).compile()
    else:
        on_device = jax.device_put(weights)
        compiled = partial(jax.jit(program).lower(on_device, *arguments).compile(), on_device)

    if workload.mode == "step":
        x, caches, total, position = arguments
        held = [caches]

        def one_step() -> jax.Array:
            y, held[0], _ = compiled(x, held[0], total, position)
            return y.block_until_ready()

        return Prepared([one_step], np.asarray)
    return Prepared([lambda: compiled(*arguments).block_until_ready()], np.asarray)


def batch(workload: Workload, form: str, program: Program, weights: Weights) -> Prepared:
    """Lengths rounded up to a multiple of 16, so that there are few programs to compile."""
    on_device, run = jax.device_put(weights), jax.jit(program)
    items = [(part.which, (part.ids.astype(np.int32), part.mask.astype(np.int32)))
             for part in batches_of(workload, form, multiple=16)]

    def embed(item: tuple[Array, Array]) -> Array:
        return np.asarray(run(on_device, *item))

    return Prepared([run_all(workload, items, embed)], np.asarray)
