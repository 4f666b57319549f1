"""Textual IR of an encoder: the graph that `burin compile` reads, as text that a person can read.

The ops are those of the dialect (compiler/ops/*.td); parameters have the names of the graph language's blocks, and the
biases of an attention, which those have not, are b_Q, b_K, b_V, b_O beside W_Q, W_K, W_V, W_O.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Block:
    """A layer of an encoder: attention of the rows to themselves and a feed-forward, each added to its input."""

    heads: int
    d_ff: int
    activation: str  # an op of the dialect: relu, gelu, gelu_tanh
    norm_first: bool
    eps: tuple[float, float]  # of the norms, first and second
    attention_bias: tuple[bool, bool]  # of the projections to q, k and v; of the one behind
    feed_forward_bias: tuple[bool, bool]


@dataclass(frozen=True)
class Encoder:
    """Blocks on rows [time, d_model], and where `final_eps` is given a norm behind them."""

    name: str
    d_model: int
    max_len: int
    causal: bool
    blocks: tuple[Block, ...]
    final_eps: float | None

    def text(self) -> str:
        return EncoderText(self).text()


def literal(value: float) -> str:
    """A number as MLIR reads it, to the last digit: with a point, also before an exponent."""
    digits, exponent, power = repr(value).partition("e")
    return digits + ("" if "." in digits else ".0") + exponent + power


class EncoderText:
    """Writes ops one after another; each takes and gives names of values with their widths."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder
        self.lines: list[str] = []
        self.scope = ""

    def text(self) -> str:
        encoder = self.encoder
        value = "%x"
        for number, block in enumerate(encoder.blocks):
            self.scope = f"block{number}."
            value = self.block(value, block)
        self.scope = ""
        if encoder.final_eps is not None:
            value = self.norm("ln", value, encoder.final_eps)
        rows = self.rows(encoder.d_model)
        return "\n".join([
            f'#time = #encoder.rows<"time", {encoder.max_len}>',
            f"module @{encoder.name} {{",
            f'  func.func @forward(%x: {rows} {{encoder.name = "x"}}) -> ({rows} {{encoder.name = "y"}}) {{',
            *[f"    {line}" for line in self.lines],
            f"    return {value} : {rows}",
            "  }",
            "}", ""])

    def block(self, x: str, block: Block) -> str:
        def attend(rows: str) -> str:
            return self.attention(rows, block)

        def feed_forward(rows: str) -> str:
            hidden = self.dense("ffn1", rows, self.encoder.d_model, block.d_ff, block.feed_forward_bias[0])
            active = self.op(block.activation, hidden, self.rows(block.d_ff))
            return self.dense("ffn2", active, block.d_ff, self.encoder.d_model, block.feed_forward_bias[1])

        for norm, eps, f in (("ln1", block.eps[0], attend), ("ln2", block.eps[1], feed_forward)):
            if block.norm_first:
                x = self.add(x, f(self.norm(norm, x, eps)))
            else:
                x = self.norm(norm, self.add(x, f(x)), eps)
        return x

    def attention(self, x: str, block: Block) -> str:
        d_model = self.encoder.d_model

        def project(letter: str, rows: str, bias: bool) -> str:
            return self.dense("attn", rows, d_model, d_model, bias, f"W_{letter}", f"b_{letter}")

        q, k, v = (project(letter, x, block.attention_bias[0]) for letter in "QKV")
        rows = self.rows(d_model)
        causal = "true" if self.encoder.causal else "false"
        scale = (d_model // block.heads) ** -0.5
        y = self.op("attention", f"{q}, {k}, {v} heads {block.heads} scale {literal(scale)} causal {causal} "
                    f'{{encoder.scope = "{self.scope}attn"}}', ", ".join([rows] * 3))
        return project("O", y, block.attention_bias[1])

    def dense(self, scope: str, x: str, inputs: int, outputs: int, bias: bool, weight: str = "W", shift: str = "b") -> str:
        operands = [x, self.parameter(f"{scope}.{weight}", (inputs, outputs), "normal")]
        types = [self.rows(inputs), f"tensor<{inputs}x{outputs}xf32>"]
        if bias:
            operands.append(self.parameter(f"{scope}.{shift}", (outputs,), "zeros"))
            types.append(f"tensor<{outputs}xf32>")
        return self.op("dense", ", ".join(operands), ", ".join(types))

    def norm(self, scope: str, x: str, eps: float) -> str:
        width = self.encoder.d_model
        gamma = self.parameter(f"{scope}.gamma", (width,), "ones")
        beta = self.parameter(f"{scope}.beta", (width,), "zeros")
        return self.op("layer_norm", f"{x}, {gamma}, {beta}, {literal(eps)}",
                       f"{self.rows(width)}, tensor<{width}xf32>, tensor<{width}xf32>")

    def add(self, a: str, b: str) -> str:
        rows = self.rows(self.encoder.d_model)
        return self.op("add", f"{a}, {b}", f"{rows}, {rows}")

    def parameter(self, name: str, shape: tuple[int, ...], init: str) -> str:
        extents = "".join(f"{extent}x" for extent in shape)
        return self.line(f'encoder.parameter "{self.scope}{name}" init "{init}" : tensor<{extents}f32>')

    def op(self, name: str, operands: str, types: str) -> str:
        return self.line(f"encoder.{name} {operands} : {types}")

    def line(self, operation: str) -> str:
        value = f"%{len(self.lines)}"
        self.lines.append(f"{value} = {operation}")
        return value

    @staticmethod
    def rows(width: int) -> str:
        return f"tensor<?x{width}xf32, #time>"
