"""Whether docs/errors.md has every status of runtime/burin.h, by name and number, and says what to do about it.

    python3 statuses_test.py
"""

from __future__ import annotations

import re
import unittest

from pages import ROOT


class Statuses(unittest.TestCase):

    def test_the_page_has_every_status(self):
        declared = dict(re.findall(r"^  (BURIN_\w+) = (\d+)", (ROOT / "runtime" / "burin.h").read_text(), re.MULTILINE))
        self.assertGreater(len(declared), 20)
        rows = [[cell.strip() for cell in line.strip("|").split("|")]
                for line in (ROOT / "docs" / "errors.md").read_text().splitlines() if line.startswith("| `BURIN_")]
        self.assertEqual({row[0].strip("`"): row[1] for row in rows}, declared)
        for row in rows:
            self.assertEqual(len(row), 5, row)
            self.assertTrue(all(row), f"{row[0]} has an empty cell")


if __name__ == "__main__":
    unittest.main()
