"""The ten workloads: what is computed, on how much, and how many floating-point operations that is.

Standard library only: the record format and its test need no environment.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Mode = Literal["forward", "step", "batch"]
Precision = Literal["float32", "bf16", "bf16-dot", "int8"]
WEIGHT_BYTES: dict[Precision, int] = {"float32": 4, "bf16": 2, "bf16-dot": 2, "int8": 1}


@dataclass(frozen=True)
class Encoder:
    """A post-norm transformer encoder, pooled by the mean over time.

    With `inputs` and `outputs` it takes rows of floats, has a projection at each end, ReLU, and no bias in attention;
    without them (0) it is a BERT-family model: token ids, GELU, biases everywhere, a result of length one.
    """

    d_model: int
    heads: int
    d_ff: int
    depth: int
    inputs: int = 0
    outputs: int = 0
    causal: bool = False

    def contracts(self) -> list[tuple[int, int, bool]]:
        """(input features, output features, once a sequence rather than once a row) of every product with weights."""
        d = self.d_model
        block = [(d, d, False)] * 4 + [(d, self.d_ff, False), (self.d_ff, d, False)]
        if not self.inputs:
            return block * self.depth
        return [(self.inputs, d, False), *block * self.depth, (d, self.outputs, True)]

    def contract_flops(self, rows: int, sequences: int) -> int:
        """2 · rows · K · N for each contract."""
        return sum(2 * (sequences if pooled else rows) * k * n for k, n, pooled in self.contracts())

    def weight_bytes(self, precision: Precision = "float32") -> int:
        """What the contracts read at least once a call, scales left out."""
        return sum(WEIGHT_BYTES[precision] * k * n for k, n, _ in self.contracts())


@dataclass(frozen=True)
class Workload:
    """One encoder on sequences of these lengths; a step attends to `lengths[0]` rows, its own included."""

    id: str
    title: str
    encoder: Encoder
    mode: Mode
    lengths: tuple[int, ...]
    case: str = ""  # a golden case that holds the texts, where they are not random

    @property
    def rows(self) -> int:
        return 1 if self.mode == "step" else sum(self.lengths)

    @property
    def flops(self) -> int:
        """Contracts; 4 · d · Σt² for full, 2 · d · Σt(t + 1) for causal attention; nothing else."""
        encoder = self.encoder
        if self.mode == "step":
            attention = 4 * encoder.d_model * self.lengths[0]
        elif encoder.causal:
            attention = 2 * encoder.d_model * sum(t * (t + 1) for t in self.lengths)
        else:
            attention = 4 * encoder.d_model * sum(t * t for t in self.lengths)
        return encoder.contract_flops(self.rows, len(self.lengths)) + encoder.depth * attention


TINY = Encoder(d_model=8, heads=2, d_ff=16, depth=1, inputs=4, outputs=3)
TINY_CAUSAL = Encoder(d_model=8, heads=2, d_ff=16, depth=1, inputs=4, outputs=3, causal=True)
SMALL = Encoder(d_model=64, heads=4, d_ff=256, depth=2, inputs=32, outputs=12, causal=True)
MINILM = Encoder(d_model=384, heads=12, d_ff=1536, depth=6)
BASE = Encoder(d_model=768, heads=12, d_ff=3072, depth=12, inputs=768, outputs=768)

# Tokens of 64 sentences, framing tokens included: a log-normal draw with median 20, cut off at 128.
MIXED = (
    14, 9, 20, 32, 53, 26, 16, 14, 41, 75, 29, 10, 12, 74, 28, 7, 23, 11, 15, 17, 15, 35, 23, 16, 32, 43, 8, 20,
    12, 21, 10, 24, 23, 19, 12, 18, 11, 9, 28, 11, 54, 40, 6, 29, 11, 25, 25, 6, 20, 20, 47, 10, 40, 11, 19, 13,
    66, 36, 128, 38, 43, 43, 16, 23,
)

WORKLOADS = (
    Workload("W1.fwd", "d 8, depth 1: forward, 5 samples", TINY, "forward", (5,)),
    Workload("W1.step", "d 8, depth 1: step at position 15", TINY_CAUSAL, "step", (16,)),
    Workload("W2.fwd", "d 64, depth 2, causal: forward, 64 samples", SMALL, "forward", (64,)),
    Workload("W2.step", "d 64, depth 2, causal: step at position 63", SMALL, "step", (64,)),
    Workload("W3.T8", "MiniLM, 8 tokens", MINILM, "forward", (8,)),
    Workload("W3.T32", "MiniLM, 32 tokens", MINILM, "forward", (32,)),
    Workload("W3.T128", "MiniLM, 128 tokens", MINILM, "forward", (128,)),
    Workload("W3.T256", "MiniLM, 256 tokens", MINILM, "forward", (256,)),
    Workload("W4.fwd", "BERT-base shape: forward, 128 samples", BASE, "forward", (128,)),
    Workload("W5", "MiniLM, 64 texts of mixed length", MINILM, "batch", MIXED),
)
BY_ID = {workload.id: workload for workload in WORKLOADS}
