"""`python3 -m bench --build FOLDER …`: makes the environment, then runs the bench in it; called by scripts/build.py."""

from __future__ import annotations

import sys

from bench.environment import NEEDED, Failure, make, run


def main() -> int:
    try:
        peers = [group for group in make() if group != NEEDED]
        return run([*sys.argv[1:], "--installed", *peers])
    except Failure as failure:
        print(f"error: {failure}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
