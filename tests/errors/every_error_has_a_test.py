"""Every status and every sentence about a mistake is provoked by a test that reads it.

    python3 every_error_has_a_test.py

Sentences are the string literals in what reports them, in the sources; a sentence has a test where its longest literal
stands in a test. Those without one are listed in sentences_without_a_test.txt, each below a line that says why no test
can provoke it: a new sentence comes with its test, and one that has a test leaves the list.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LITERAL = r'"((?:[^"\\\n]|\\.)*)"'

# Where mistakes are reported, and how a report begins; it goes to the end of the statement.
REPORTS = [
    ("compiler/ops/*.cpp", r"\brefuse\("),
    ("compiler/passes/*.cpp", r"\b(?:refuse|error|emitError)\("),
    ("compiler/import/*.cpp", r"\b(?:failure|refuse|createStringError)\("),
    ("compiler/tools/*.cpp", r"\bfailure\("),
    ("compiler/emit/*.cpp", r"\b(?:createStringError|failed)\("),
    ("dsl/*.cpp", r"\brefuse\("),
    ("runtime/*.c", r"\b(?:fail|fail_numbers|fail_hashes|burin_message_text)\("),
]

LISTED = Path(__file__).resolve().with_name("sentences_without_a_test.txt")


def statements(text: str, begin: str):
    """The line and the text of each statement that begins so."""
    for match in re.finditer(begin, text):
        depth, place, quoted = 0, match.end() - 1, False
        while place < len(text):
            character = text[place]
            if quoted:
                if character == "\\":
                    place += 1
                elif character == '"':
                    quoted = False
            elif character == '"':
                quoted = True
            elif character == "(":
                depth += 1
            elif character == ")":
                depth -= 1
            elif character == ";" and depth <= 0:
                break
            place += 1
        yield text.count("\n", 0, match.start()) + 1, text[match.start():place]


def sentences():
    """Place and longest literal of each report."""
    for pattern, begin in REPORTS:
        for path in sorted(ROOT.glob(pattern)):
            for line, statement in statements(path.read_text(), begin):
                joined = re.sub(r'"\s*\n\s*"', "", statement)  # literals that only a line parts
                literals = [literal for literal in re.findall(LITERAL, joined) if re.search(r"[a-z]{3}", literal)]
                if literals:
                    yield f"{path.relative_to(ROOT)}:{line}", max(literals, key=len)


def main() -> int:
    tests = ""
    for path in sorted((ROOT / "tests").rglob("*")):
        if path.is_file() and path.suffix in (".cpp", ".h", ".py", ".mlir", ".c") and path != Path(__file__).resolve():
            tests += re.sub(r'"\s*\n\s*"', "", path.read_text(errors="replace"))
    wrong = []
    header = (ROOT / "runtime/burin.h").read_text()
    for status in re.findall(r"^\s+(BURIN_\w+) = \d+", header, re.MULTILINE):
        if not re.search(rf"\b{status}\b", tests):
            wrong.append(f"runtime/burin.h: no test reads status {status}")
    reason, listed = "", set()
    for line in LISTED.read_text().splitlines():
        if line.startswith("# "):
            reason = line
        elif line:
            listed.add(line)
            if not reason:
                wrong.append(f'{LISTED.name}: "{line}" stands below no reason')
        else:
            reason = ""
    without, seen = set(), set()
    for place, literal in sentences():
        seen.add(literal)
        said = literal.strip(" :;,'")
        if said in tests or said.replace('\\"', '"') in tests:
            continue
        without.add(literal)
        if literal not in listed:
            wrong.append(f'{place}: no test reads "{literal}"')
    wrong += [f'{LISTED.name}: "{literal}" has a test now, or is gone' for literal in sorted(listed - without)]
    for line in wrong:
        print(line)
    print(f"{len(seen)} sentences, {len(without)} without a test")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
