"""Running a program that has to succeed."""

from __future__ import annotations

import subprocess
from pathlib import Path


def run(command: list[Path | str]) -> str:
    """Its standard output; what it said where it failed is the error."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout
