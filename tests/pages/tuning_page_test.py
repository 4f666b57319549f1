"""Looks at the page of `burin tune --html` in a headless Chromium, as a phone and as a wide screen show it.

    tuning_page_test.py FOLDER TUNE COMMAND

A command is a whole one, such as `bin/burin tune small.mlir`; `--json`, `--html` and a database are added. What the page must
show is what the command says in JSON. Exit status 77 where there is no Chromium: ctest shows the test as skipped.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from browser import Browser, find_chromium

SCREENS = {"phone": (390, 844), "wide": (1280, 800)}

SEEN = """(attribute => [...document.querySelectorAll('[' + attribute + ']')].filter(element => {
  const box = element.getBoundingClientRect();
  return box.width > 40 && box.height > 8 && box.left >= 0 && box.right <= innerWidth && element.checkVisibility();
}).map(element => element.getAttribute(attribute)))"""


def complaints_about(browser: Browser, lines: list[dict]) -> list[str]:
    found = [f"console: {text}" for text in browser.complaints()]
    found += [f"the page asks for {url[:80]}" for url in browser.requests() if not url.startswith(("file:", "data:"))]
    width, seen = browser.evaluate("document.scrollingElement.scrollWidth"), browser.evaluate("innerWidth")
    if width > seen:
        found.append(f"the page is {width} pixels wide on a screen of {seen}")
    expected = sorted(f"{line['kernel']} {line['rows']}" for line in lines if "rows" in line)
    for attribute in ("data-gain", "data-search"):
        if (shown := sorted(browser.evaluate(f"({SEEN})('{attribute}')"))) != expected:
            found.append(f"{attribute} is shown of {shown}, expected {expected}")
    points = browser.evaluate("[...document.querySelectorAll('[data-search] .chart')].map(c => "
                              "c.querySelectorAll('.point, .refused').length)")
    tried = [line["tried"] for line in lines if "rows" in line]
    if points != tried:
        found.append(f"charts have {points} points, expected {tried}")
    if browser.evaluate("document.querySelectorAll('.heat td[style]').length") == 0:
        found.append("no landscape is drawn")
    smallest = browser.evaluate("Math.min(...[...document.querySelectorAll('body *')].filter(e => e.checkVisibility() && "
                                "!e.closest('svg') && [...e.childNodes].some(n => n.nodeType == 3 && n.data.trim()))"
                                ".map(e => parseFloat(getComputedStyle(e).fontSize)))")
    if smallest < 11:
        found.append(f"text of {smallest} pixels, expected at least 11")
    return found


def main() -> int:
    program = find_chromium()
    if program is None:
        print("skipped: chromium is not installed")
        return 77
    folder, command = Path(sys.argv[1]), sys.argv[2:]
    folder.mkdir(parents=True, exist_ok=True)
    page, database = folder / "tuned.html", folder / "tuned.json"
    database.unlink(missing_ok=True)
    said = subprocess.run([*command, "--json", "--html", page, "--database", database], check=True, stdout=subprocess.PIPE)
    lines = [json.loads(line) for line in said.stdout.splitlines()]
    bad = 0
    with Browser(program) as browser:
        for screen, (width, height) in SCREENS.items():
            for scheme in ("light", "dark"):
                browser.open(page, width, height, dark=scheme == "dark")
                browser.screenshot(folder / f"tuned_{screen}_{scheme}.png")
                for complaint in complaints_about(browser, lines):
                    print(f"{screen}, {scheme}: {complaint}")
                    bad += 1
    print(f"{len(lines)} searches on {len(SCREENS)} screens, light and dark: {bad or 'nothing'} to complain about")
    return 1 if bad or not lines else 0


if __name__ == "__main__":
    sys.exit(main())
