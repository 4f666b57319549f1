"""CTranslate2's encoder, for MiniLM only; pooling and length in numpy, as its users write them.

W5 is "one", "by4" or "by16". Other precisions than float32 are what it makes of the same files when it opens them; in int8
rows are quantised as they come.
"""

from __future__ import annotations

import ctranslate2
import numpy as np

from bench.contest import precision_of
from bench.contestants.batches import batches_of, run_all
from bench.contestants.contract import NotOffered, Prepared, Setting
from bench.shapes import MINILM, Workload
from bench.weights import Array, minilm_folder, texts


def prepare(workload: Workload, form: str, setting: Setting) -> Prepared:
    if workload.encoder != MINILM:
        raise NotOffered("an encoder of float rows with ReLU is none of its models")
    precision, mode = precision_of(form)
    folder = setting.cache / "ctranslate2"
    if not folder.exists():
        from ctranslate2.converters import TransformersConverter

        TransformersConverter(str(minilm_folder())).convert(str(folder), quantization="float32")
    encoder = ctranslate2.Encoder(str(folder), device="cpu", compute_type=precision, inter_threads=1,
                                  intra_threads=setting.threads)

    def embed(item: tuple[list[list[int]], Array]) -> Array:
        ids, weight = item
        hidden = np.asarray(encoder.forward_batch(ids).last_hidden_state)
        mean = (hidden * weight).sum(1) / weight.sum(1)
        return mean / np.linalg.norm(mean, axis=-1, keepdims=True)

    if workload.mode == "forward":
        ids = texts(workload)[0]
        item = [ids.tolist()], np.ones((1, len(ids), 1), np.float32)
        return Prepared([lambda: embed(item)], np.asarray)
    items = []
    for batch in batches_of(workload, mode):
        rows = [row[:length].tolist() for row, length in zip(batch.ids, batch.mask.sum(1))]
        items.append((batch.which, (rows, batch.mask[:, :, None].astype(np.float32))))
    return Prepared([run_all(workload, items, embed)], np.asarray)
