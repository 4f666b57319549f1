"""Writes the corpus: a few inputs for each fuzzer, from which it goes on. Run again where a format changes.

    python3 make_corpus.py FOLDER
"""
import struct
import sys
from pathlib import Path

FOLDER = Path(sys.argv[1])


def write(kind: str, name: str, data: bytes) -> None:
    folder = FOLDER / kind
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


def safetensors(header: str, data: bytes = b"") -> bytes:
    return struct.pack("<Q", len(header)) + header.encode() + data


W, B = '"W":{"dtype":"%s","shape":[3,2],"data_offsets":[0,%d]}', '"b":{"dtype":"%s","shape":[3],"data_offsets":[%d,%d]}'
for kind, size in (("F32", 4), ("F16", 2), ("BF16", 2)):
    text = "{" + W % (kind, 6 * size) + "," + B % (kind, 6 * size, 9 * size) + "}"
    write("safetensors", kind.lower(), safetensors(text, bytes(9 * size)))
write("safetensors", "metadata", safetensors('{"__metadata__":{"a":"\\u00e9\\n"},"x":{"dtype":"BOOL","shape":[],"data_offsets":[0,1]}}', b"\1"))
write("safetensors", "empty", safetensors("{}"))
write("safetensors", "length_of_all_ones", b"\xff" * 8 + b"{}")
write("safetensors", "seven_bytes", bytes(7))

# choices, then magic, version, byte order, checksum, layout, bytes of weights, content, target, model, zeros; weights.
header = struct.pack("<8sIIQQQQ64s128s3856x", b"BURINPK1", 1, 0x01020304, 0, 0, 80, 0, b"x86-64-avx2", b"two_tensors")
write("packed", "checksum_put_right", b"\1" + header + bytes(80))
write("packed", "cut", b"\0" + header[:100])
write("packed", "version", b"\1" + b"BURINPK2" + header[8:])

# choices, then magic, graph, hash of the values, positions and starts; values; hash.
header = struct.pack("<8sQQ4q4q", b"BURINST1", 2000, 0, 0, 0, 0, 0, 0, 0, 0, 0)
write("state", "empty", b"\1" + header + bytes(8))
write("state", "rows", b"\1" + struct.pack("<8sQQ4q4q", b"BURINST1", 2000, 0, 2, 1, 0, 0, 0, 0, 0, 0) + bytes(8 * 2 * 2 + 16))
write("state", "the_good_one", b"\3" + bytes(1))
write("state", "another_position", b"\3" + bytes(24) + b"\4" + bytes(75))
