"""Coverage of the share of labels known: `python -m benchmarks.monitoring.label_maturity`.

Daily windows of Poisson many positives whose labels come after an exponential time, looked at
0, 7.5, 15 and 30 days after their end; the newest has just ended. `uneven` is the coefficient of
variation of the mean delay from window to window. Coverage and mean width of the 95% interval of
the share known at the first three ages, and how often there was none.
"""

from __future__ import annotations

import argparse
import itertools
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from pumonitor.monitor.rules.labels.maturity import label_maturity

FloatArray = NDArray[np.float64]
DAYS = np.array([0.0, 7.5, 15.0, 30.0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=400)
    arguments = parser.parse_args()
    ages = [timedelta(days=day) for day in DAYS]
    print("windows positives uneven mean delay | coverage             width              none")
    for count, positives, uneven, mean in itertools.product(
        (32, 40, 90), (2.0, 20.0, 300.0), (0.0, 0.3), (3.0, 12.0)
    ):
        truth = _truth(mean, uneven)
        rng = np.random.default_rng([count, int(positives), int(10 * uneven), int(mean)])
        held, width, none = np.zeros(3), np.zeros(3), 0
        for seed in range(arguments.seeds):
            known = _windows(count, positives, uneven, mean, rng)
            found = label_maturity(known, ages=ages, rng=seed)
            shares = [found.share_known(age) for age in ages[:-1]]
            none += found.undefined_reason is not None
            held += [one.low <= at <= one.high for one, at in zip(shares, truth, strict=True)]
            width += [np.nan_to_num(one.high - one.low) for one in shares]
        told = max(arguments.seeds - none, 1)
        print(
            f"{count:7d} {positives:9g} {uneven:6g} {mean:10g} | {(held / told).round(3)} "
            f"{(width / told).round(3)} {none / arguments.seeds:.3f}",
            flush=True,
        )


def _windows(
    count: int, positives: float, uneven: float, mean: float, rng: np.random.Generator
) -> FloatArray:
    known = np.full((count, len(DAYS)), np.nan)
    for age in range(count):
        rows = rng.poisson(positives)
        of_window = mean * (rng.gamma(uneven**-2, uneven**2) if uneven else 1.0)
        time, delay = rng.random(rows), rng.exponential(of_window, rows)
        for at, day in enumerate(DAYS):
            if day <= age:
                known[age, at] = np.count_nonzero(delay <= day + time)
    return known


def _truth(mean: float, uneven: float) -> FloatArray:
    rng = np.random.default_rng(0)
    means = mean * (rng.gamma(uneven**-2, uneven**2, 4000) if uneven else np.ones(1))
    ages = DAYS[:, np.newaxis, np.newaxis] + np.linspace(0, 1, 21)[:, np.newaxis]
    known = np.mean(1 - np.exp(-ages / means), axis=(1, 2))
    return np.asarray(known[:-1] / known[-1])


if __name__ == "__main__":
    main()
