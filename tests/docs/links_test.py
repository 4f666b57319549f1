"""Whether what the pages link to is there, whether their blocks say what they are, and whether each example has a page.

    python3 links_test.py

Links to other hosts are not followed: a test needs no network.
"""

from __future__ import annotations

import re
import unittest

from pages import LANGUAGES, ROOT, all_pages, anchors_of, blocks_of, indented_blocks, links_of, name_of

# Inline code that looks like a path of this repository.
FOLDERS = "|".join(path.name for path in ROOT.iterdir() if path.is_dir() and path.name not in {"build", "__pycache__"})
PATH = re.compile(rf"`((?:{FOLDERS})/[\w./\-]+)`")


class Pages(unittest.TestCase):

    def test_links_lead_somewhere(self):
        wrong = []
        for page in all_pages():
            for target, line in links_of(page):
                path, _, anchor = target.partition("#")
                if re.match(r"\w+:", target):
                    continue
                linked = (page.parent / path).resolve() if path else page
                if not linked.exists():
                    wrong.append(f"{name_of(page)}:{line}: '{target}' does not exist")
                elif anchor and anchor not in anchors_of(linked):
                    wrong.append(f"{name_of(page)}:{line}: '{target}': no heading is '#{anchor}'")
        self.assertEqual(wrong, [])

    def test_paths_in_the_text_exist(self):
        """A path in `code` that begins with a folder of this repository. Design may name what is planned."""
        wrong = []
        for page in all_pages():
            if page.name == "design.md":
                continue
            for number, line in enumerate(page.read_text().splitlines(), start=1):
                for path in PATH.findall(line):
                    if not (ROOT / path).exists() and not (page.parent / path).exists():
                        wrong.append(f"{name_of(page)}:{number}: '{path}' does not exist")
        self.assertEqual(wrong, [])

    def test_blocks_say_what_they_are(self):
        wrong = []
        for page in all_pages():
            for block in blocks_of(page):
                if block.language not in LANGUAGES:
                    wrong.append(f"{name_of(page)}:{block.line - 1}: a block of '{block.language}', expected one of "
                                 f"{', '.join(sorted(LANGUAGES))}")
            if page.name != "design.md":
                wrong += [f"{name_of(page)}:{line}: a block without a fence" for line in indented_blocks(page)]
        self.assertEqual(wrong, [])

    def test_every_example_has_a_page_and_runs(self):
        """Its README, and a line that makes its program a test and a part of the demo."""
        examples = [folder for folder in sorted((ROOT / "examples").iterdir()) if folder.is_dir()]
        self.assertGreaterEqual(len(examples), 5)
        for example in examples:
            self.assertTrue((example / "README.md").exists(), example.name)
            self.assertIn("example_run(", (example / "CMakeLists.txt").read_text(), example.name)

    def test_every_page_is_reached_from_the_first(self):
        reached, open_pages = set(), [ROOT / "README.md"]
        while open_pages:
            page = open_pages.pop()
            if page in reached or page.suffix != ".md" or not page.exists():
                continue
            reached.add(page)
            open_pages += [(page.parent / link.target.partition("#")[0]).resolve() for link in links_of(page)
                           if not re.match(r"\w+:", link.target) and link.target[0] != "#"]
        self.assertEqual(sorted(map(name_of, set(all_pages()) - reached)), [])


if __name__ == "__main__":
    unittest.main()
