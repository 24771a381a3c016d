"""Coverage of what a window is expected to become: `python -m benchmarks.monitoring.expected`.

Windows of 4000 rows (8000 for 200 labels), positives N(2, 1), negatives N(0, 1), of whose labels
a share is known now; the share itself is estimated from 400 earlier positives. How often the 95%
interval holds the estimate that the window has when all of them are known.
"""

from __future__ import annotations

import argparse
import itertools
from collections import Counter

import numpy as np

from pumonitor.evaluation import evaluate_table
from pumonitor.monitor.rules.labels.expected import expected_at_maturity, expected_positives
from pumonitor.monitor.rules.labels.maturity import ShareKnown
from pumonitor.tables import ScoreTable

THRESHOLD = 1.5
OLDER = 400


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=100)
    arguments = parser.parse_args()
    for labeled, share, prior in itertools.product((10, 40, 200), (0.3, 0.7, 0.95), (0.05, "auto")):
        held: Counter[str] = Counter()
        told: Counter[str] = Counter()
        rng = np.random.default_rng([labeled, int(100 * share), int(prior == "auto")])
        for _ in range(arguments.seeds):
            for name, is_held in _one(labeled, share, prior, rng).items():
                held[name] += is_held
                told[name] += 1
        figures = " ".join(f"{name} {held[name] / told[name]:.2f}" for name in told)
        print(f"{labeled} labels, {share:g} of all, class prior {prior}: {figures}", flush=True)


def _one(
    labeled: int, share: float, prior: float | str, rng: np.random.Generator
) -> dict[str, bool]:
    rows = 8000 if labeled == 200 else 4000
    true_prior = 0.1 if prior == "auto" else 0.05
    frequency = min(labeled / share / (rows * true_prior), 0.95)
    n_now = 0
    while n_now < 2:
        positive = rng.random(rows) < true_prior
        later = positive & (rng.random(rows) < frequency)
        now = later & (rng.random(rows) < share)
        n_now = int(now.sum())
    scores = rng.normal(2.0 * positive)
    tables = [
        ScoreTable.from_arrays(labels, scores, thresholds=(THRESHOLD,)).compress(
            2048, thresholds=(THRESHOLD,)
        )
        for labels in (now, later)
    ]
    before, mature = (
        evaluate_table(table, threshold=THRESHOLD, class_prior=prior, curves=False).estimates
        for table in tables
    )
    seen = rng.beta(OLDER * share, OLDER * (1 - share))
    reach = 1.96 * np.sqrt(seen * (1 - seen) / OLDER)
    known = ShareKnown(value=seen, low=seen - reach, high=min(seen + reach, 1.0))
    found = expected_at_maturity(tables[0], before, known, threshold=THRESHOLD)
    held = {
        name: one.low - 1e-9 <= mature[name].value <= one.high + 1e-9 for name, one in found.items()
    }
    positives = expected_positives(n_now, known)
    return held | {"labeled_positives": positives.low <= later.sum() <= positives.high}


if __name__ == "__main__":
    main()
