"""Looks at the pages of `burin inspect --html` in a headless Chromium, as a phone and as a wide screen show them.

    inspect_page_test.py FOLDER -- INSPECT COMMAND [-- INSPECT COMMAND]…

A command is a whole one, such as `bin/burin inspect two.mlir`; pages and what they look like land in FOLDER. Exit status
77 where there is no Chromium: ctest shows the test as skipped.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

from browser import Browser, find_chromium

SCREENS = {"phone": (390, 844), "wide": (1280, 800)}

# Names in the order of the page, of elements that have an area; a box inside the page's width counts only.
VISIBLE = """(attribute => [...document.querySelectorAll('[' + attribute + ']')].filter(element => {
  const box = element.getBoundingClientRect();
  return box.width > 40 && box.height > 8 && box.left >= 0 && box.right <= innerWidth && element.checkVisibility();
}).map(element => element.getAttribute(attribute)))"""

# Boxes of a flow, and headings with them, that lie over one another.
OVERLAPS = """[...document.querySelectorAll('.flow')].flatMap(flow => {
  const boxes = [...flow.querySelectorAll(':scope > .box, .heading')].map(e => [e, e.getBoundingClientRect()]);
  return boxes.flatMap(([a, p], i) => boxes.slice(i + 1).filter(([b, q]) => p.height && q.height &&
    p.top < q.bottom - 1 && q.top < p.bottom - 1 && p.left < q.right && q.left < p.right)
    .map(([b]) => a.textContent + ' / ' + b.textContent)); })"""

# Text that its box cuts off and that a reader cannot do without.
CUT = """[...document.querySelectorAll('.box .line > b, .box .line > .right, .bar span, .fact b, td')].filter(e => {
  const outer = e.closest('.box, .fact, .bar, table').getBoundingClientRect(), inner = e.getBoundingClientRect();
  return e.checkVisibility() && (e.scrollWidth > e.clientWidth && e.clientWidth > 0 || inner.right > outer.right + 1);
}).map(e => e.textContent)"""

SMALLEST_TEXT = """Math.min(...[...document.querySelectorAll('body *')].filter(e => e.checkVisibility() &&
  [...e.childNodes].some(n => n.nodeType == 3 && n.data.trim())).map(e => parseFloat(getComputedStyle(e).fontSize)))"""


def complaints_about(browser: Browser, report: dict, is_wide: bool) -> list[str]:
    """Everything that is wrong with the open page; folded parts are opened first."""
    found = [f"console: {text}" for text in browser.complaints()]
    found += [f"the page asks for {url[:80]}" for url in browser.requests() if not url.startswith(("file:", "data:"))]

    def overflow(when: str) -> None:
        width, seen = browser.evaluate("document.scrollingElement.scrollWidth"), browser.evaluate("innerWidth")
        if width > seen:
            found.append(f"{when} the page is {width} pixels wide on a screen of {seen}")

    overflow("as opened")
    cards = Counter(browser.evaluate(VISIBLE + "('data-card')"))
    expected = Counter(kernel["name"] for kernel in report["kernels"])
    if cards != expected:
        found.append(f"cards of kernels {dict(cards)}, expected {dict(expected)}")
    schedules = Counter(browser.evaluate(VISIBLE + "('data-schedule')"))
    expected = Counter({kernel["name"]: len(kernel["schedules"]) for kernel in report["kernels"]})
    if schedules != expected:
        found.append(f"origins of schedules {dict(schedules)}, expected {dict(expected)}")
    first_calls = set(browser.evaluate(VISIBLE + "('data-kernel')"))
    missing = {call["kernel"] for call in report["entries"][0]["calls"]} - first_calls
    if missing:
        found.append(f"no box of forward shows {sorted(missing)}")

    browser.evaluate("document.querySelectorAll('details').forEach(details => details.open = true)")
    overflow("unfolded,")
    calls = Counter(browser.evaluate(VISIBLE + "('data-kernel')"))
    for kernel, count in Counter(call["kernel"] for entry in report["entries"] for call in entry["calls"]).items():
        if calls[kernel] < count:
            found.append(f"{kernel} has {calls[kernel]} boxes, expected one for each of {count} calls")
    ops = set(browser.evaluate(VISIBLE + "('data-op')"))
    missing = {op["name"] for op in report["graph"]} - ops
    if missing:
        found.append(f"no box shows the ops {sorted(missing)}")
    bars = Counter(browser.evaluate(VISIBLE + "('data-bar')"))
    timed = {entry["entry"] for entry in report.get("measured", {"entries": []})["entries"]}
    expected = Counter(kernel["name"] for kernel in report["kernels"] for entry, count in kernel["calls"].items() if count)
    if bars != expected:
        found.append(f"bars {dict(bars)}, expected {dict(expected)} (measured: {sorted(timed)})")
    values = sum(write["to"] == "scratch" for entry in report["entries"] for call in entry["calls"]
                 for write in call["writes"]) + len(report["state"]["values"])
    drawn = browser.evaluate("[...document.querySelectorAll('.memory rect')].filter(r => { const b = "
                             "r.getBoundingClientRect(); return b.width > 0.5 && b.height > 0.5; }).length")
    if drawn != values:
        found.append(f"{drawn} values in memory are drawn, expected {values}")
    found += [f"one over the other: {pair}" for pair in browser.evaluate(OVERLAPS)]
    found += [f"cut off: {text}" for text in browser.evaluate(CUT)]
    if (size := browser.evaluate(SMALLEST_TEXT)) < 11:
        found.append(f"text of {size} pixels, expected at least 11")
    columns = browser.evaluate("getComputedStyle(document.querySelector('.columns')).gridTemplateColumns.split(' ').length")
    if columns != (2 if is_wide else 1):
        found.append(f"graph and kernels stand in {columns} columns")
    return found


def main() -> int:
    program = find_chromium()
    if program is None:
        print("skipped: chromium is not installed")
        return 77
    folder, commands = Path(sys.argv[1]), []
    for word in sys.argv[2:]:
        if word == "--":
            commands.append([])
        else:
            commands[-1].append(word)
    folder.mkdir(parents=True, exist_ok=True)
    bad = 0
    with Browser(program) as browser:
        for command in commands:
            report = json.loads(subprocess.run(command + ["--json"], check=True, stdout=subprocess.PIPE).stdout)
            page = folder / f"{report['model']}.html"
            subprocess.run(command + ["--html", page], check=True)
            for screen, (width, height) in SCREENS.items():
                for scheme in ("light", "dark"):
                    browser.open(page, width, height, dark=scheme == "dark")
                    browser.screenshot(folder / f"{report['model']}_{screen}_{scheme}.png")
                    for complaint in complaints_about(browser, report, is_wide=width > 900):
                        print(f"{report['model']}, {screen}, {scheme}: {complaint}")
                        bad += 1
                    browser.screenshot(folder / f"{report['model']}_{screen}_{scheme}_unfolded.png")
    print(f"{len(commands)} pages on {len(SCREENS)} screens, light and dark: {bad or 'nothing'} to complain about")
    return 1 if bad or not commands else 0


if __name__ == "__main__":
    sys.exit(main())
