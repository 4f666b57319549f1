#!/usr/bin/env python3
"""Texts to token ids, so that the program that embeds them is plain C.

    tokenise.py MODEL_DIR TEXTS [-o FILE] [--truncate]

TEXTS has a text per line ("-" reads standard input). FILE gets a line for each: its ids, separated by spaces, a tab, the text. A text
of more tokens than the model takes is an error that names its line; with --truncate its first tokens are taken, and a
line on stderr says so.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tokenizers import Tokenizer


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="folder with tokenizer.json and config.json")
    parser.add_argument("texts", help="a file with a text per line, or -")
    parser.add_argument("-o", "--output", type=Path, help="where to write; standard output by default")
    parser.add_argument("--truncate", action="store_true", help="take the first tokens of a text that is too long")
    arguments = parser.parse_args()

    limit = json.loads((arguments.model / "config.json").read_text())["max_position_embeddings"]
    tokenizer = Tokenizer.from_file(str(arguments.model / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()  # the file may ask for a silent one
    if arguments.truncate:
        tokenizer.enable_truncation(limit)

    source = sys.stdin if arguments.texts == "-" else open(arguments.texts, encoding="utf-8")
    lines, too_long = [], 0
    for number, text in enumerate(source, 1):
        text = text.rstrip("\n").replace("\t", " ")
        encoding = tokenizer.encode(text)
        if encoding.overflowing:
            print(f"{arguments.texts}:{number}: cut to {limit} tokens", file=sys.stderr)
        if len(encoding.ids) > limit:
            print(f"{arguments.texts}:{number}: error: {len(encoding.ids)} tokens, expected at most {limit}; "
                  "--truncate takes the first", file=sys.stderr)
            too_long += 1
        lines.append(" ".join(map(str, encoding.ids)) + "\t" + text + "\n")
    if too_long:
        return 1
    if arguments.output:
        arguments.output.write_text("".join(lines), encoding="utf-8")
    else:
        sys.stdout.writelines(lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
