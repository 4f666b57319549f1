"""The bench's own environment: a virtual environment with the pinned peers, each of which may fail to install.

Runs under the system's Python, before anything is installed.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "scripts"))

from progress import Failure, run_quietly, say  # noqa: E402

FOLDER = ROOT / "build" / "bench_venv"
PYTHON = FOLDER / "bin" / "python"
REQUIREMENTS = ROOT / "bench" / "requirements.txt"
NEEDED = "bench"


def groups() -> dict[str, list[str]]:
    """Pins by group, in the order of the file."""
    found: dict[str, list[str]] = {}
    for line in REQUIREMENTS.read_text().splitlines():
        if heading := re.match(r"# group: (\w+)", line):
            found[heading[1]] = []
        elif line and not line.startswith("#"):
            found[list(found)[-1]].append(line.strip())
    return found


def stamp(group: str) -> Path:
    return FOLDER / f"installed_{group}"


def install(group: str, pins: list[str]) -> bool:
    """Whether the group is there afterwards. All pins bind, so that one group does not change another's packages."""
    content = hashlib.sha256("\n".join(pins).encode()).hexdigest()
    if stamp(group).exists() and stamp(group).read_text() == content:
        return True
    command = [PYTHON, "-m", "pip", "install", "--disable-pip-version-check", "--only-binary", ":all:",
               "--constraint", REQUIREMENTS, *pins]
    try:
        run_quietly(f"pip install {' '.join(pins)}", command)
    except Failure as failure:
        if group == NEEDED:
            raise
        say(f"skipping {group}, which cannot be installed: {failure}")
        return False
    stamp(group).write_text(content)
    return True


def make(wanted: set[str]) -> list[str]:
    """Makes the environment where it is missing; returns those of the wanted groups that are in it."""
    if not PYTHON.exists():
        run_quietly(f"making {FOLDER}", [sys.executable, "-m", "venv", FOLDER])
    return [group for group, pins in groups().items() if group in wanted and install(group, pins)]


def run(arguments: list[str]) -> int:
    """Runs the bench in its environment."""
    return subprocess.run([PYTHON, "-m", "bench.run", *arguments], cwd=ROOT).returncode
