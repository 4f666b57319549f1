"""Writes docs/dialect.md from the .td files: what mlir-tblgen says of the dialect, without what concerns C++ alone.

    python3 scripts/dialect_page.py            writes the page
    python3 scripts/dialect_page.py --check    says whether the page is what would be written; the exit status as well
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LLVM = Path("/usr/lib/llvm-22")
PAGE = ROOT / "docs" / "dialect.md"
HEAD = """# The dialect

<!-- Written by scripts/dialect_page.py from the .td files. Change those. -->

What a graph is made of, as text. A graph is `func.func @forward` in a module that has the model's name. `burin import`
writes such text, `burin-opt` runs passes on it. Ops about state appear only behind `derive_step`. Which op may
look where in time, and what it computes, says its room in `compiler/ops/`; [the design](design.md) has the table.
"""


def generated() -> str:
    command = [LLVM / "bin" / "mlir-tblgen", "-gen-dialect-doc", "-dialect=encoder", "-I", ROOT / "compiler", "-I",
               LLVM / "include", ROOT / "compiler" / "dialect" / "ops.td"]
    return subprocess.run(command, check=True, text=True, capture_output=True).stdout


def summaries() -> dict[str, str]:
    """As the .td files spell them: mlir-tblgen makes their first letters large, which changes `x + y`."""
    text = "".join(path.read_text() for path in sorted(ROOT.glob("compiler/**/*.td")))
    return {written[0].upper() + written[1:]: written for written in re.findall(r'let summary = "(.*)";', text)}


def page() -> str:
    text = generated().partition("[TOC]\n")[2]
    text = re.sub(r"^(### `?encoder\.\w+`?) \(.*\)$", r"\1", text, flags=re.MULTILINE)
    text = re.sub(r"^### (\w+)Attr$", lambda found: f"### {found[1]}", text, flags=re.MULTILINE)
    text = re.sub(r"^(Traits|Interfaces|Effects): .*\n\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"^(<tr><td>.*</td><td>)::mlir::(\w+)(</td>)", r"\1\2\3", text, flags=re.MULTILINE)
    inside = False
    lines = []
    for line in text.splitlines():
        if line.startswith("```"):
            line = line if inside or line != "```" else "```text"
            inside = not inside
        elif line.startswith("_") and line.endswith("_"):
            line = f"*{summaries().get(line[1:-1], line[1:-1])}*"
        lines.append(line.rstrip())
    return HEAD + re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


def main() -> int:
    if sys.argv[1:] != ["--check"]:
        PAGE.write_text(page())
        return 0
    if PAGE.read_text() == page():
        return 0
    print(f"{PAGE.relative_to(ROOT)} is not what the .td files say; `python3 scripts/dialect_page.py` writes it")
    return 1


if __name__ == "__main__":
    sys.exit(main())
