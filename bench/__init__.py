"""Burin beside other inference engines, in one run: `python3 scripts/build.py bench`. See docs/performance.md."""
