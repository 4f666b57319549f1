"""`python3 -m bench --build FOLDER …`: makes the environment, then runs the bench in it; called by scripts/build.py."""

from __future__ import annotations

import sys

from bench.contest import NARROW
from bench.environment import NEEDED, Failure, groups, make, run


def wanted(arguments: list[str]) -> set[str]:
    """The groups that a run of these arguments imports."""
    after = dict(zip(arguments, arguments[1:]))
    peers = NARROW.get(after.get("--precision", "float32"))
    if peers is None:
        return set(groups())
    engines = {name.partition(":")[0] for name in peers}
    return {NEEDED, *engines, *({"torch"} if "ctranslate2" in engines else {})}  # it reads what CTranslate2 converts


def main() -> int:
    try:
        peers = [group for group in make(wanted(sys.argv[1:])) if group != NEEDED]
        return run([*sys.argv[1:], "--installed", *peers])
    except Failure as failure:
        print(f"error: {failure}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
