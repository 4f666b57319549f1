"""The Markdown pages of the project: their fenced blocks, links and headings.

A fence says in its first line what the block is for:

    sh            commands, run by commands_test.py, one after another in the root of a checkout
    sh fails      the same, of which each has to fail
    sh needs X Y  the same, where these programs are there, on PATH or as files; named as skipped elsewhere
    output        what the last of these commands prints: these lines in this order; `…` stands for anything
    cpp graph.cpp a file of that name, written before the commands behind it run; any language does
    console       commands that no test runs: they install, take minutes, or need what a test cannot have
    text          anything else
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
FENCE = re.compile(r"^( *)```(.*)$")
LANGUAGES = {"sh", "output", "console", "text", "c", "cpp", "cmake", "make", "mlir", "json", "python"}


class Block(NamedTuple):
    language: str
    argument: str  # the rest of the fence's line
    line: int  # of the text's first line, from 1
    text: str


class Link(NamedTuple):
    target: str
    line: int


def all_pages() -> list[Path]:
    """Those that belong to the project, not what a build or an environment brought."""
    outside = {"build", ".venv", ".git", ".cache"}
    return sorted(page for page in ROOT.rglob("*.md") if not outside & set(page.relative_to(ROOT).parts))


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks_of(page: Path) -> list[Block]:
    blocks, opened = [], None
    for number, line in enumerate(page.read_text().splitlines(), start=1):
        fence = FENCE.match(line)
        if fence and opened is None:
            language, _, argument = fence[2].partition(" ")
            opened = Block(language, argument, number + 1, "")
            indent, lines = len(fence[1]), []
        elif fence:
            blocks.append(opened._replace(text="\n".join(lines)))
            opened = None
        elif opened is not None:
            lines.append(line[indent:])
    if opened is not None:
        raise AssertionError(f"{name_of(page)}:{opened.line - 1}: the block has no end")
    return blocks


def prose_of(page: Path) -> list[tuple[int, str]]:
    """The numbered lines outside fenced blocks."""
    inside, lines = False, []
    for number, line in enumerate(page.read_text().splitlines(), start=1):
        if FENCE.match(line):
            inside = not inside
        elif not inside:
            lines.append((number, line))
    return lines


def indented_blocks(page: Path) -> list[int]:
    """Lines at which a block begins that is one by its indent: it says of itself neither language nor use."""
    found, before, in_list = [], "", False
    for number, line in prose_of(page):
        if re.match(r"\s*([-*]|\d+\.)\s", line):
            in_list = True
        elif line and not line.startswith(" "):
            in_list = False
        if line.startswith("    ") and not before.strip() and not in_list:
            found.append(number)
        before = line
    return found


def commands_in(block: Block) -> list[tuple[int, str]]:
    """A block's commands, each with its line; a backslash at a line's end goes on, and so does an open quote."""
    commands, held, start = [], "", 0
    for number, line in enumerate(block.text.splitlines(), start=block.line):
        if not held and (not line.strip() or line.lstrip().startswith("#")):
            continue
        start = start if held else number
        held += ("\n" if held else "") + line
        if not line.endswith("\\") and held.count("'") % 2 == 0:
            commands.append((start, held))
            held = ""
    return commands + ([(start, held)] if held else [])


def links_of(page: Path) -> list[Link]:
    """Targets of [text](target) and of src="target", outside code."""
    links = []
    for number, line in prose_of(page):
        line = re.sub(r"`[^`]*`", "", line)
        for target in re.findall(r"\]\(([^)\s]+)\)", line) + re.findall(r"(?:src|srcset|href)=\"([^\"]+)\"", line):
            links.append(Link(target, number))
    return links


def anchors_of(page: Path) -> set[str]:
    """What `#…` may name on a page: its headings, as GitHub spells them."""
    anchors = set()
    for _, line in prose_of(page):
        if heading := re.match(r"#+ +(.*)", line):
            words = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).lower()
            anchors.add(re.sub(r"[^\w\- ]", "", words).replace(" ", "-"))
    return anchors
