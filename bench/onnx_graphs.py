"""The workloads as ONNX graphs: of standard operators, or with ONNX Runtime's own transformer operators (`fused`).

A fused graph is what ONNX Runtime's transformer optimiser makes of a model whose layout it knows.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from bench.shapes import Encoder, Workload
from bench.weights import Array, Block, float_weights, minilm_weights

OURS = "com.microsoft"
NEVER = np.float32(-1e30)  # added to the score of a pair that may not see each other
Operand = str | Array | np.float32 | np.int64
Form = Literal["plain", "fused"]


class Graph:
    """Nodes and constants, in order of making."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def operand(self, value: Operand) -> str:
        if isinstance(value, str):
            return value
        self.constants.append(numpy_helper.from_array(np.asarray(value, order="C"), f"constant{len(self.constants)}"))
        return self.constants[-1].name

    def several(self, kind: str, outputs: int, *inputs: Operand, **attributes: object) -> list[str]:
        names = [f"value{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, [self.operand(value) for value in inputs], names, **attributes))
        return names

    def op(self, kind: str, *inputs: Operand, **attributes: object) -> str:
        return self.several(kind, 1, *inputs, **attributes)[0]

    def affine(self, x: Operand, weight: Array, bias: Array | None) -> str:
        product = self.op("MatMul", x, weight)
        return product if bias is None else self.op("Add", product, bias)

    def save(self, path: Path, inputs: list[tuple[str, int, list[int | str]]], outputs: dict[str, str]) -> None:
        for name, value in outputs.items():
            self.nodes.append(helper.make_node("Identity", [value], [name]))
        graph = helper.make_graph(self.nodes, "encoder", [helper.make_tensor_value_info(*given) for given in inputs],
                                  [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
                                  self.constants)
        opsets = [helper.make_opsetid("", 20), helper.make_opsetid(OURS, 1)]
        path.parent.mkdir(parents=True, exist_ok=True)
        onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=9), str(path))


def integers(*values: int) -> Array:
    return np.array(values, np.int64)


class BlockWriter:
    """Blocks of one encoder, [batch, rows, d] to [batch, rows, d]."""

    def __init__(self, graph: Graph, encoder: Encoder, eps: float, form: Form) -> None:
        self.graph, self.encoder, self.eps, self.fused = graph, encoder, float(eps), form == "fused"

    def projections(self, x: str, block: Block) -> list[str]:
        """Queries, keys and values, [batch, heads, rows, d / heads] each."""
        encoder, op = self.encoder, self.graph.op
        joined = op("Reshape", self.graph.affine(x, block.qkv, block.qkv_bias),
                    integers(0, 0, 3, encoder.heads, encoder.d_model // encoder.heads))
        parts = self.graph.several("Split", 3, op("Transpose", joined, perm=[2, 0, 3, 1, 4]), integers(1, 1, 1), axis=0)
        return [op("Squeeze", part, integers(0)) for part in parts]

    def attend(self, q: str, k: str, v: str, bias: Operand | None) -> str:
        op, d = self.graph.op, self.encoder.d_model
        scaled = op("Mul", q, np.float32((d // self.encoder.heads) ** -0.5))
        scores = op("MatMul", scaled, op("Transpose", k, perm=[0, 1, 3, 2]))
        if bias is not None:
            scores = op("Add", scores, bias)
        mixed = op("MatMul", op("Softmax", scores, axis=-1), v)
        return op("Reshape", op("Transpose", mixed, perm=[0, 2, 1, 3]), integers(0, 0, d))

    def fused_attention(self, x: str, block: Block, mask: str | None) -> str:
        zeros = np.zeros(3 * self.encoder.d_model, np.float32)
        inputs: list[Operand] = [x, block.qkv, zeros if block.qkv_bias is None else block.qkv_bias]
        causal = {"unidirectional": 1} if self.encoder.causal else {}
        return self.graph.op("Attention", *inputs, *([mask] if mask else []), num_heads=self.encoder.heads, domain=OURS,
                             **causal)

    def add_and_norm(self, x: str, product: str, bias: Array | None, gain: Array, shift: Array) -> str:
        op = self.graph.op
        if self.fused:
            bias = np.zeros(self.encoder.d_model, np.float32) if bias is None else bias
            return op("SkipLayerNormalization", product, x, gain, shift, bias, epsilon=self.eps, domain=OURS)
        total = op("Add", x, product if bias is None else op("Add", product, bias))
        return op("LayerNormalization", total, gain, shift, epsilon=self.eps, axis=-1)

    def finish(self, x: str, mixed: str, block: Block) -> str:
        """Everything after attention."""
        op = self.graph.op
        x = self.add_and_norm(x, op("MatMul", mixed, block.out), block.out_bias, block.gain1, block.shift1)
        gelu = not self.encoder.inputs
        if self.fused and gelu:
            hidden = op("BiasGelu", op("MatMul", x, block.up), block.up_bias, domain=OURS)
        else:
            hidden = op("Gelu" if gelu else "Relu", self.graph.affine(x, block.up, block.up_bias))
        return self.add_and_norm(x, op("MatMul", hidden, block.down), block.down_bias, block.gain2, block.shift2)

    def whole(self, x: str, block: Block, bias: Operand | None, mask: str | None) -> str:
        if self.fused:
            return self.finish(x, self.fused_attention(x, block, mask), block)
        return self.finish(x, self.attend(*self.projections(x, block), bias), block)


def onnx_file(workload: Workload, folder: Path, form: Form = "plain", shape: tuple[int, int] | None = None) -> Path:
    """The graph of a workload; `shape` [texts, tokens] fixes MiniLM's, which is free otherwise."""
    if workload.encoder.inputs:
        path = folder / f"{workload.id}_{form}.onnx"
        write = write_step if workload.mode == "step" else write_forward
    else:
        path = folder / f"minilm_{form}{'_%dx%d' % shape if shape else ''}.onnx"
        write = write_minilm
    if not path.exists():
        write(workload, path, form, shape)
    return path


def write_forward(workload: Workload, path: Path, form: Form, _: object) -> None:
    encoder, rows = workload.encoder, workload.rows
    weights, graph = float_weights(encoder, rows), Graph()
    blocks = BlockWriter(graph, encoder, weights.eps, form)
    x = graph.op("Add", graph.affine("x", weights.embed, weights.embed_bias), weights.positions[:rows])
    x = graph.op("Unsqueeze", x, integers(0))
    bias = np.triu(np.full((rows, rows), NEVER, np.float32), 1) if encoder.causal else None
    for block in weights.blocks:
        x = blocks.whole(x, block, bias, None)
    mean = graph.op("ReduceMean", x, integers(1), keepdims=0)
    y = graph.op("Squeeze", graph.affine(mean, weights.head, weights.head_bias), integers(0))
    graph.save(path, [("x", TensorProto.FLOAT, [rows, encoder.inputs])], {"y": y})


def write_step(workload: Workload, path: Path, form: Form, _: object) -> None:
    """The cache is read up to `position` and masked from there; the caller writes the row `new` into it."""
    encoder, rows = workload.encoder, workload.lengths[0]
    weights, graph = float_weights(encoder, rows), Graph()
    blocks, op, width = BlockWriter(graph, encoder, weights.eps, form), graph.op, encoder.d_model // encoder.heads
    x = op("Add", graph.affine("x", weights.embed, weights.embed_bias), op("Gather", weights.positions, "position"))
    x = op("Unsqueeze", x, integers(0))
    # Cached rows, the empty one included, and then the new row, which always counts.
    row = np.append(np.arange(rows), -1)
    bias = op("Where", op("Less", row, "position"), np.float32(0), NEVER)
    new = []
    for number, block in enumerate(weights.blocks):
        cached = op("Gather", "caches", np.int64(number))
        q, k, v = blocks.projections(x, block)
        new += [k, v]
        k, v = (op("Concat", op("Gather", cached, integers(i)), part, axis=2) for i, part in enumerate((k, v)))
        x = blocks.finish(x, blocks.attend(q, k, v, bias), block)
    total = op("Add", "total", op("Squeeze", x, integers(0)))
    mean = op("Div", total, op("Cast", op("Add", "position", integers(1)), to=TensorProto.FLOAT))
    y = op("Squeeze", graph.affine(mean, weights.head, weights.head_bias), integers(0))
    added = op("Reshape", op("Concat", *new, axis=0), integers(encoder.depth, 2, encoder.heads, width))
    inputs = [("x", TensorProto.FLOAT, [1, encoder.inputs]),
              ("caches", TensorProto.FLOAT, [encoder.depth, 2, encoder.heads, rows, width]),
              ("total", TensorProto.FLOAT, [1, encoder.d_model]), ("position", TensorProto.INT64, [1])]
    graph.save(path, inputs, {"y": y, "new": added, "total_after": total})


def write_minilm(workload: Workload, path: Path, form: Form, shape: tuple[int, int] | None) -> None:
    weights, graph, op = minilm_weights(), (made := Graph()), made.op
    blocks = BlockWriter(graph, workload.encoder, weights.eps, form)
    positions = op("Slice", weights.positions, integers(0), op("Shape", "ids", start=1, end=2), integers(0))
    x = op("LayerNormalization", op("Add", op("Gather", weights.words, "ids"), positions), weights.gain, weights.shift,
           epsilon=weights.eps, axis=-1)
    weight = op("Cast", "mask", to=TensorProto.FLOAT)
    mask, bias = None, None
    if form == "fused":
        mask = op("Cast", "mask", to=TensorProto.INT32)
    else:
        bias = op("Unsqueeze", op("Mul", op("Sub", np.float32(1), weight), NEVER), integers(1, 2))
    for block in weights.blocks:
        x = blocks.whole(x, block, bias, mask)
    total = op("ReduceSum", op("Mul", x, op("Unsqueeze", weight, integers(2))), integers(1), keepdims=0)
    mean = op("Div", total, op("ReduceSum", weight, integers(1), keepdims=1))
    y = op("Div", mean, op("ReduceL2", mean, integers(1), keepdims=1))
    sizes: list[int | str] = list(shape) if shape else ["texts", "tokens"]
    graph.save(path, [("ids", TensorProto.INT64, sizes), ("mask", TensorProto.INT64, sizes)], {"y": y})
