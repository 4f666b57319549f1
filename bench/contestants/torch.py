"""PyTorch: eager (""), torch.compile ("compile") and AOTInductor ("aoti"); W5 as "one", "compile-one", …"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch._inductor.config
from torch import nn
from torch.nn import functional

from bench.contestants.batches import batches_of, run_all
from bench.contestants.contract import NotOffered, Prepared, Setting, StepArguments
from bench.shapes import SMALL, TINY, TINY_CAUSAL, Workload
from bench.weights import Array, Block, float_input, float_weights, minilm_weights, texts

# Inductor's packed weights gain from MiniLM's size up and cost a factor of two below (both measured).
UNPACKED = (TINY, TINY_CAUSAL, SMALL)


def tensor(array: Array) -> torch.Tensor:
    return torch.from_numpy(np.array(array))


def linear(weight: Array, bias: Array | None) -> nn.Linear:
    made = nn.Linear(weight.shape[0], weight.shape[1], bias=bias is not None)
    made.weight.data = tensor(weight.T.copy())
    if bias is not None:
        made.bias.data = tensor(bias)
    return made


def norm(gain: Array, shift: Array, eps: float) -> nn.LayerNorm:
    made = nn.LayerNorm(len(gain), eps)
    made.weight.data, made.bias.data = tensor(gain), tensor(shift)
    return made


class BlockModule(nn.Module):
    def __init__(self, block: Block, heads: int, eps: float, activate: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.qkv, self.out = linear(block.qkv, block.qkv_bias), linear(block.out, block.out_bias)
        self.up, self.down = linear(block.up, block.up_bias), linear(block.down, block.down_bias)
        self.norm1, self.norm2 = norm(block.gain1, block.shift1, eps), norm(block.gain2, block.shift2, eps)
        self.heads, self.activate = heads, activate

    def finish(self, x: torch.Tensor, mixed: torch.Tensor) -> torch.Tensor:
        x = self.norm1(x + self.out(mixed))
        return self.norm2(x + self.down(self.activate(self.up(x))))

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None, causal: bool) -> torch.Tensor:
        batch, rows, d = x.shape
        q, k, v = self.qkv(x).view(batch, rows, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal)
        return self.finish(x, mixed.transpose(1, 2).reshape(batch, rows, d))

    def step(self, x: torch.Tensor, cache: torch.Tensor, position: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        joined = self.qkv(x).view(3, self.heads, 1, -1)
        cache.index_copy_(2, position, joined[1:])
        mixed = functional.scaled_dot_product_attention(joined[:1], cache[:1], cache[1:], attn_mask=mask)
        return self.finish(x, mixed.view(1, -1))


class FloatEncoder(nn.Module):
    def __init__(self, workload: Workload) -> None:
        super().__init__()
        encoder = workload.encoder
        weights = float_weights(encoder, workload.lengths[0])
        self.embed, self.head = linear(weights.embed, weights.embed_bias), linear(weights.head, weights.head_bias)
        self.register_buffer("positions", tensor(weights.positions))
        self.blocks = nn.ModuleList(
            BlockModule(block, encoder.heads, weights.eps, functional.relu) for block in weights.blocks)
        self.causal = encoder.causal

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = (self.embed(x) + self.positions[:x.shape[0]])[None]
        for block in self.blocks:
            x = block(x, None, self.causal)
        return self.head(x.mean(1))[0]


class FloatStep(FloatEncoder):
    """At a position that is a tensor, the cache masked behind it: one compiled program serves every position."""

    def forward(self, x: torch.Tensor, caches: torch.Tensor, total: torch.Tensor,
                position: torch.Tensor) -> torch.Tensor:
        x = self.embed(x) + self.positions.index_select(0, position)
        mask = (torch.arange(caches.shape[3]) <= position)[None, None, None]
        for number, block in enumerate(self.blocks):
            x = block.step(x, caches[number], position, mask)
        return self.head((total + x) / (position + 1))[0]


class MiniLM(nn.Module):
    def __init__(self, heads: int) -> None:
        super().__init__()
        weights = minilm_weights()
        self.words = nn.Embedding.from_pretrained(tensor(weights.words))
        self.register_buffer("positions", tensor(weights.positions))
        self.norm = norm(weights.gain, weights.shift, weights.eps)
        self.blocks = nn.ModuleList(
            BlockModule(block, heads, weights.eps, functional.gelu) for block in weights.blocks)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        x = self.norm(self.words(ids) + self.positions[:ids.shape[1]])
        bias = torch.where(mask[:, None, None] > 0, 0.0, -1e30)
        for block in self.blocks:
            x = block(x, bias, False)
        weight = mask[:, :, None].to(x.dtype)
        return functional.normalize((x * weight).sum(1) / weight.sum(1), dim=-1)


def module_of(workload: Workload, setting: Setting) -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    """The module, and the arguments of a call; none for a batch."""
    if not workload.encoder.inputs:
        ids = tensor(texts(workload)[0][None])
        module = MiniLM(workload.encoder.heads).eval()
        return module, (ids, torch.ones_like(ids)) if workload.mode == "forward" else ()
    if workload.mode == "forward":
        return FloatEncoder(workload).eval(), (tensor(float_input(workload)),)
    given = StepArguments.of(workload, setting.reference)
    return FloatStep(workload).eval(), (tensor(given.x), tensor(given.caches), tensor(given.total),
                                        torch.tensor([given.position]))


def packaged(workload: Workload, module: nn.Module, arguments: tuple[torch.Tensor, ...], setting: Setting) -> Path:
    """The library that AOTInductor makes of the module."""
    path = setting.cache / f"{workload.id}_{setting.threads}.pt2"
    if not path.exists():
        exported = torch.export.export(module, arguments)
        torch._inductor.aoti_compile_and_package(exported, package_path=str(path),
                                                 inductor_configs={"freezing": workload.encoder not in UNPACKED})
    return path


def prepare(workload: Workload, form: str, setting: Setting) -> Prepared:
    torch.set_num_threads(setting.threads)
    torch.set_grad_enabled(False)
    module, arguments = module_of(workload, setting)
    kind, _, mode = form.rpartition("-") if workload.mode == "batch" else (form, "", "")
    run: Callable[..., Any] = module
    if kind == "compile":
        torch._inductor.config.freezing = workload.encoder not in UNPACKED
        run = torch.compile(module, dynamic=workload.mode == "batch")
    elif kind == "aoti":
        if workload.mode == "batch":
            raise NotOffered("exported for one shape")
        loader = torch._inductor.aoti_load_package(str(packaged(workload, module, arguments, setting))).loader
        inputs = list(arguments)
        return Prepared([lambda: loader.run(inputs)[0]], lambda y: y.numpy())

    def call() -> torch.Tensor:
        with torch.inference_mode():
            return run(*arguments)

    if workload.mode != "batch":
        return Prepared([call], lambda y: y.numpy())
    items = [(part.which, (tensor(part.ids), tensor(part.mask))) for part in batches_of(workload, mode)]

    def embed(item: tuple[torch.Tensor, torch.Tensor]) -> Array:
        with torch.inference_mode():
            return run(*item).numpy()

    return Prepared([run_all(workload, items, embed)], np.asarray)
