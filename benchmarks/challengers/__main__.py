"""Challengers: `python -m benchmarks.challengers [--quick] [--only SECTION ...] [--seeds N]`.

Real data sets, half of each to learn from and half to judge by; a line a result: what, measured,
claimed.
"""

from __future__ import annotations

import argparse
import time

from benchmarks.challengers.learning import LARGE, NINE
from benchmarks.challengers.sections import SECTIONS, Extent


def main() -> None:
    """Print what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="one seed of one set: does it run?")
    parser.add_argument("--only", nargs="+", choices=list(SECTIONS), default=list(SECTIONS))
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--sets", nargs="+", choices=(*NINE, *LARGE), default=(*NINE, *LARGE))
    asked = parser.parse_args()
    extent = Extent(seeds=asked.seeds, sets=tuple(asked.sets))
    if asked.quick:
        extent = Extent(seeds=1, sets=("concrete",))
    for name in asked.only:
        section, began = SECTIONS[name], time.monotonic()
        print(f"\n{section.__doc__}\n", flush=True)
        for row in section(extent):
            claimed = f" [claimed: {row.claimed}]" if row.claimed else ""
            print(f"{row.what}: {row.measured}{claimed}", flush=True)
        print(f"({extent.seeds} seeds, {time.monotonic() - began:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
