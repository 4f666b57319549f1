"""Running commands so that a person sees what happens: which step, since when, and everything of one that fails."""

from __future__ import annotations

import shlex
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEARTBEAT_SECONDS = 5
START = time.monotonic()


class Failure(Exception):
    """Something a person has to read; the text is the whole message."""


def say(text: str) -> None:
    """Prints a line of progress with the time since the start."""
    minutes, seconds = divmod(int(time.monotonic() - START), 60)
    print(f"[{minutes:2d}:{seconds:02d}] {text}")


def run_visibly(title: str, command: list, folder: Path = ROOT) -> int:
    """Runs a command that reports its own progress, and returns its exit status."""
    say(title)
    return subprocess.run([str(word) for word in command], cwd=folder).returncode


def run_quietly(title: str, command: list) -> None:
    """Runs a command whose output matters only when it fails; shows signs of life meanwhile."""
    say(title)
    began = time.monotonic()
    words = [str(word) for word in command]
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(words, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
        while True:
            try:
                status = process.wait(timeout=HEARTBEAT_SECONDS)
                break
            except subprocess.TimeoutExpired:
                say(f"  … {time.monotonic() - began:.0f} s")
        if status != 0:
            output.seek(0)
            print(output.read().decode(errors="replace"))
            raise Failure(f"exit status {status} from: {shlex.join(words)}")
