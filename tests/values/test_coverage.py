"""Intervals hold the truth, in miniature: `python -m benchmarks.values` does it at length."""

import numpy as np
import pytest

from benchmarks.values import drawn_window, draws_of, estimates_of, truth_of
from pumonitor.names import VALUE

RUNS = 5


@pytest.mark.parametrize(
    ("labels", "shape"), [("fair, prior known", "pareto 1.5"), ("does not block", "lognormal 2")]
)
def test_intervals_hold_the_truth(labels, shape):
    held = {0.0: 0, 0.5: 0}
    for run in range(RUNS):
        rng = np.random.default_rng([19, run])
        valued = drawn_window(labels, shape, "rising", rng)
        draws = draws_of(valued, labels, rng)
        # At the threshold, and at a lower one inside of a score bin.
        for lower in held:
            truth = truth_of(valued, lower=lower)
            estimates = estimates_of(draws, valued.window.threshold, lower=lower)
            for name in VALUE:
                rounding = 1e-9 * truth[name]
                low, high = estimates[name].low - rounding, estimates[name].high + rounding
                held[lower] += low <= truth[name] <= high
    # 20 intervals, of which half go together: three or more miss in 1 of 50 such tests at .95.
    assert min(held.values()) >= 16
