"""Safetensors files for the tests of this folder, with the standard library alone.

  tensors.py inputs FILE x=5x4 force=5 m=u8:5x5 …      float32 tensors of numbers between -1 and 1; of ones, uint8
  tensors.py close A B                        the same names, shapes and, up to rounding, numbers
  tensors.py case FILE GRAPH WEIGHTS INPUTS OUTPUTS    a golden case of a graph in textual IR
"""
import json
import math
import struct
import sys

TOLERANCE = 1e-5


def read(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    tensors = {}
    for name, tensor in header.items():
        if name != "__metadata__":
            first, last = tensor["data_offsets"]
            tensors[name] = (tensor["shape"], struct.unpack(f"<{(last - first) // 4}f", data[first:last]))
    return tensors


def write(path, tensors, metadata=None):
    """Tensors as (shape, values, "F32", "F64", "I32" or "U8")."""
    header, data = {"__metadata__": metadata} if metadata else {}, b""
    for name, (shape, values, kind) in sorted(tensors.items(), key=lambda tensor: tensor[1][2], reverse=True):
        values = struct.pack(f"<{len(values)}{ {'F32': 'f', 'F64': 'd', 'U8': 'B', 'I32': 'i'}[kind]}", *values)
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def inputs(path, *shapes):
    tensors = {}
    for name, extents in (shape.split("=") for shape in shapes):
        isMask = extents.startswith("u8:")
        shape = [int(extent) for extent in extents.removeprefix("u8:").split("x")]
        values = [1 if isMask else math.sin(1 + 37 * i + len(name)) for i in range(math.prod(shape))]
        tensors[name] = (shape, values, "U8" if isMask else "F32")
    write(path, tensors)


def close(a, b):
    a, b = read(a), read(b)
    assert a.keys() == b.keys(), f"{sorted(a)} and {sorted(b)}"
    for name, (shape, values) in a.items():
        assert shape == b[name][0], f"{name}: {shape} and {b[name][0]}"
        error = max(map(lambda x, y: abs(x - y), values, b[name][1]), default=0)
        assert error <= TOLERANCE, f"{name}: largest error {error}"


def case(path, graph, weights, given, outputs):
    tensors = {}
    for prefix, file, kind in (("param", weights, "F32"), ("in", given, "F32"), ("out", outputs, "F64")):
        for name, (shape, values) in read(file).items():
            tensors[f"{prefix}.{name}"] = (shape, values, kind)
    with open(graph) as text:
        write(path, tensors, {"graph": text.read()})


if __name__ == "__main__":
    {"inputs": inputs, "close": close, "case": case}[sys.argv[1]](*sys.argv[2:])
