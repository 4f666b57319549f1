"""Burin's graphs as textual IR: the encoders that `transformer_encoder` of dsl/layers.h declares, with its names.

Text, because a program that declares them would be one more thing to build before the first number.
"""

from __future__ import annotations

from bench.shapes import Encoder


class GraphText:
    """Lines of a function's body; values are numbered, parameters named."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.count = 0

    def value(self, expression: str) -> str:
        self.count += 1
        self.lines.append(f"    %{self.count} = encoder.{expression}")
        return f"%{self.count}"

    def parameter(self, name: str, start: str, *sizes: int) -> tuple[str, str]:
        """The value and its type."""
        of_type = f"tensor<{'x'.join(map(str, sizes))}xf32>"
        return self.value(f'parameter "{name}" init "{start}" : {of_type}'), of_type


def rows_of(features: int) -> str:
    return f"tensor<?x{features}xf32, #time>"


def pooled_rows_of(features: int) -> str:
    return f"tensor<?x{features}xf32, #encoder.per_sequence>"


def encoder_text(name: str, encoder: Encoder, rows: int) -> str:
    """A module `name` of sequences of at most `rows` rows: x [time, inputs] to y [sequence, outputs]."""
    graph = GraphText()
    d, rows_type = encoder.d_model, rows_of(encoder.d_model)

    def dense(x: str, x_type: str, prefix: str, inputs: int, outputs: int, bias: str | None) -> str:
        weight, weight_type = graph.parameter(prefix, "normal", inputs, outputs)
        operands, types = [x, weight], [x_type, weight_type]
        if bias:
            value, value_type = graph.parameter(bias, "zeros", outputs)
            operands, types = [*operands, value], [*types, value_type]
        return graph.value(f"dense {', '.join(operands)} : {', '.join(types)}")

    def norm(x: str, y: str, prefix: str) -> str:
        total = graph.value(f"add {x}, {y} : {rows_type}, {rows_type}")
        gain, of_type = graph.parameter(prefix + "gamma", "ones", d)
        shift, _ = graph.parameter(prefix + "beta", "zeros", d)
        return graph.value(f"layer_norm {total}, {gain}, {shift}, 1.0e-5 : {rows_type}, {of_type}, {of_type}")

    def block(x: str, scope: str) -> str:
        q, k, v = (dense(x, rows_type, f"{scope}attn.W_{name}", d, d, None) for name in "QKV")
        mixed = graph.value(
            f"attention {q}, {k}, {v} heads {encoder.heads} scale {(d // encoder.heads) ** -0.5!r} "
            f'causal {str(encoder.causal).lower()} {{encoder.scope = "{scope}attn"}} : '
            f"{rows_type}, {rows_type}, {rows_type}")
        x = norm(x, dense(mixed, rows_type, scope + "attn.W_O", d, d, None), scope + "ln1.")
        hidden = dense(x, rows_type, scope + "ffn1.W", d, encoder.d_ff, scope + "ffn1.b")
        hidden = graph.value(f"relu {hidden} : {rows_of(encoder.d_ff)}")
        out = dense(hidden, rows_of(encoder.d_ff), scope + "ffn2.W", encoder.d_ff, d, scope + "ffn2.b")
        return norm(x, out, scope + "ln2.")

    x = dense("%x", rows_of(encoder.inputs), "embed.W", encoder.inputs, d, "embed.b")
    positions = graph.value(f"sinusoidal_positions %t, {d} : tensor<?x1xi64, #time>")
    x = graph.value(f"add {x}, {positions} : {rows_type}, {rows_type}")
    for number in range(encoder.depth):
        x = block(x, f"block{number}.")
    mean = graph.value(f"mean_over_time {x} : {rows_type}")
    y = dense(mean, pooled_rows_of(d), "head.W", d, encoder.outputs, "head.b")
    y_type = pooled_rows_of(encoder.outputs)
    return "\n".join([
        f'#time = #encoder.rows<"time", {rows}>',
        f"module @{name} {{",
        f'  func.func @forward(%x: {rows_of(encoder.inputs)} {{encoder.name = "x"}}, '
        "%t: tensor<?x1xi64, #time> {encoder.positions}) "
        f'-> ({y_type} {{encoder.name = "y"}}) {{',
        *graph.lines,
        f"    return {y} : {y_type}",
        "  }",
        "}",
        "",
    ])
