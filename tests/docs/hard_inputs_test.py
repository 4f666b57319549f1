"""Whether the tests that docs/hard_inputs.md names are there.

    python3 hard_inputs_test.py
"""

from __future__ import annotations

import re
import unittest
from pathlib import Path

from pages import ROOT

GOOGLE_TEST = re.compile(r"^TEST(?:_P|_F)?\((\w+), (\w+)\)", re.MULTILINE)


def texts(pattern: str) -> list[str]:
    return [path.read_text() for path in sorted((ROOT / "tests").rglob(pattern))]


def is_there(name: str, google_tests: set[str]) -> bool:
    if "/" in name:
        return (ROOT / name).is_file()
    suite, test = name.split(".")
    if suite == "link":
        return f"def test_{test}(" in (ROOT / "tests/link/link_test.py").read_text()
    if suite == "gpu":
        return f"NAME {name} " in (ROOT / "tests/gpu/CMakeLists.txt").read_text()
    if suite == "python":
        return Path(ROOT / "tests/python" / f"test_{test}.py").is_file()
    return name in google_tests


class HardInputs(unittest.TestCase):

    def test_every_test_that_the_page_names_is_there(self):
        google_tests = {f"{suite}.{test}" for text in texts("*.cpp") for suite, test in GOOGLE_TEST.findall(text)}
        rows = [line for line in (ROOT / "docs/hard_inputs.md").read_text().splitlines() if re.match(r"\| (?!what|-)", line)]
        self.assertGreater(len(rows), 35)
        for row in rows:
            _, what, where, tests, _ = (cell.strip() for cell in row.split("|"))
            self.assertTrue(what and "#" in where, row)
            names = [name for name in re.findall(r"`([^`]+)`", tests) if not name.startswith("scripts/")]
            self.assertTrue(names, f"'{what}' names no test")
            for name in names:
                self.assertTrue(is_there(name, google_tests), f"there is no test {name}, of '{what}'")


if __name__ == "__main__":
    unittest.main()
