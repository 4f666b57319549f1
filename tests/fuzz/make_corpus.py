"""Writes the corpus: a few inputs for each fuzzer, from which it goes on. Run again where a format changes. What a fuzzer
found and was repaired lies beside them, as found_….

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


# ---- What the compiler reads

ROWS = 'tensor<?x4xf32, #time>'
HEAD = '#time = #encoder.rows<"time", 9>\nmodule @m {\n  func.func @forward(%x: ' + ROWS + ' {encoder.name = "x"}) -> (' \
    + ROWS + ' {encoder.name = "y"}) {\n'
TAIL = "  }\n}\n"
write("graph", "relu", (HEAD + f"    %y = encoder.relu %x : {ROWS}\n    return %y : {ROWS}\n" + TAIL).encode())
write("graph", "attention", (HEAD + f"""    %W = encoder.parameter "W" init "normal" : tensor<4x4xf32>
    %h = encoder.dense %x, %W : {ROWS}, tensor<4x4xf32>
    %y = encoder.attention %h, %h, %h heads 2 scale 0.5 causal true window 3 : {ROWS}, {ROWS}, {ROWS}
    return %y : {ROWS}
""" + TAIL).encode())
write("graph", "no_module", b"func.func")

CONFIG = """{"model_type": "bert", "hidden_size": 4, "num_hidden_layers": 1, "num_attention_heads": 2,
 "intermediate_size": 6, "hidden_act": "gelu", "layer_norm_eps": 1e-12, "max_position_embeddings": 5, "vocab_size": 7,
 "type_vocab_size": 2, "position_embedding_type": "absolute", "pad_token_id": 0, "architectures": ["BertModel"]}"""
MODULES = """[{"idx": 0, "path": "", "type": "sentence_transformers.models.Transformer"},
 {"idx": 1, "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
 {"idx": 2, "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}]"""
POOLING = """{"word_embedding_dimension": 4, "pooling_mode_cls_token": false, "pooling_mode_mean_tokens": true}"""
write("config", "bert", CONFIG.encode())
write("config", "sentences", "\n---\n".join((CONFIG, MODULES, POOLING)).encode())
write("config", "huge", CONFIG.replace('"hidden_size": 4', '"hidden_size": 2147483647').encode())

TENSOR = '"%s":{"dtype":"F32","shape":[2,2],"data_offsets":[%d,%d]}'
PAGE = ('{"__metadata__":{"op":"scaled_dot_product_attention","args":"{\\"d_k\\": 2, \\"d_v\\": 2, \\"masked\\": false, '
        '\\"t_k\\": 2, \\"t_q\\": 2}"},'
        + ",".join(TENSOR % (name, 16 * i, 16 * i + 16) for i, name in enumerate(("in.q", "in.k", "in.v", "out.y"))) + "}")
write("case", "attention", safetensors(PAGE, bytes(64)))
GRAPH = (HEAD + f"    %y = encoder.relu %x : {ROWS}\n    return %y : {ROWS}\n" + TAIL).replace('"', '\\"').replace("\n", "\\n")
ROW = '"%s":{"dtype":"F32","shape":[1,4],"data_offsets":[%d,%d]}'
write("case", "graph", safetensors('{"__metadata__":{"graph":"' + GRAPH + '"},' + ROW % ("in.x", 0, 16) + "," + ROW % ("out.y", 16, 32) + "}",
                                   bytes(32)))

# The version is put in where it is read.
RECORD = """{"about": "dense, relu", "compiler": "this compiler", "date": "2025-01-31", "default_seconds": 2e-5,
 "kernel": "contract_5d81c0ffee", "parameters": {"tile_rows": 6, "panel_vectors": 2}, "rows": "%s", "seconds": 1e-5, "target": "x86-64-avx2"}"""
write("database", "two_records", ('{"cpu": "some-cpu", "records": [\n' + RECORD % "1" + ",\n" + RECORD % "5-16" + "\n]}\n").encode())
write("database", "stale", ('{"cpu": "some-cpu", "records": [\n' + RECORD.replace("this", "another") % "1" + "\n]}\n").encode())
write("database", "empty", b'{"cpu": "", "records": []}')
