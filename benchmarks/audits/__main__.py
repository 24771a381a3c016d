"""Audits: `python -m benchmarks.audits [--quick] [--only SECTION ...] [--runs N]`.

Real scores (casp, bank, covertype, spambase), half of each set trains the model; windows of 20,000
rows whose truth is known; audits planned with odds of c that are 40% too high or too low. A line a
result: what, measured, claimed. One run takes about .15 s of one core.
"""

from __future__ import annotations

import argparse
import time

from benchmarks.audits.rows import Extent
from benchmarks.audits.sections import SECTIONS
from benchmarks.audits.windows import SETS


def main() -> None:
    """Print what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="two runs of one cell: does it run?")
    parser.add_argument("--only", nargs="+", choices=list(SECTIONS), default=list(SECTIONS))
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    parser.add_argument("--priors", type=float, nargs="+", default=[0.01, 0.05, 0.16])
    parser.add_argument("--frequencies", type=float, nargs="+", default=[0.1, 0.2, 0.4])
    parser.add_argument("--cases", type=int, nargs="+", default=[50, 100, 300, 1000])
    asked = parser.parse_args()
    extent = Extent(
        runs=asked.runs,
        sets=tuple(asked.sets),
        priors=tuple(asked.priors),
        frequencies=tuple(asked.frequencies),
        cases=tuple(asked.cases),
    )
    if asked.quick:
        extent = Extent(
            runs=2, sets=("spambase",), priors=(0.05,), frequencies=(0.2,), cases=(100,)
        )
    for name in asked.only:
        section, began = SECTIONS[name], time.monotonic()
        print(f"\n{section.__doc__}\n", flush=True)
        for row in section(extent):
            claimed = f" [claimed: {row.claimed}]" if row.claimed else ""
            print(f"{row.what}: {row.measured}{claimed}", flush=True)
        print(f"({extent.runs} runs a cell, {time.monotonic() - began:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
