from __future__ import annotations

import numpy as np
import pytest

from pumonitor.monitor.rules.detectors.cusum import Cusum
from pumonitor.monitor.rules.detectors.shifts import SIZES
from tests.monitor.rules.detectors.slow_filters import cusum


def test_it_is_the_largest_sum_over_all_beginnings() -> None:
    rng = np.random.default_rng(0)
    ratios = np.exp(rng.normal(0.0, 0.7, (12, 3)))
    limits = [2.0, 3.0, 4.0]
    state = Cusum(limit=1.0, limits=np.array(limits), sums=np.zeros((1, 3)))
    for row, wanted in zip(ratios, cusum(ratios.tolist(), limits), strict=True):
        state = state.after(np.log(row)[np.newaxis])
        assert state.statistic()[0] == pytest.approx(wanted)


@pytest.mark.parametrize("directions", [1, 2])
def test_false_alarms_of_all_sums_come_at_most_at_the_rate_asked_for(directions: int) -> None:
    rng = np.random.default_rng(1)
    series, windows = 1000, 730
    sizes = np.concatenate([SIZES, -np.array(SIZES)][:directions])
    state = Cusum.of_shifts(series, len(sizes), 365)
    alarms = 0
    for _ in range(windows):
        state = state.after(rng.normal(size=(series, 1)) * sizes - 0.5 * sizes**2)
        due = state.statistic() >= state.limit
        alarms += int(due.sum())
        state = state.cleared(due)
    rate = alarms / series / 2
    assert 0.55 < rate < 0.8


@pytest.mark.parametrize("size", [0, 1, 2])
def test_each_sum_alone_has_its_own_rate(size: int) -> None:
    rng = np.random.default_rng(2)
    limit = Cusum.of_shifts(1, len(SIZES), 40).limits[size]
    alone = 0.75 * len(SIZES) * 40
    series, windows, shift = 1500, 400, SIZES[size]
    total, alarms = np.zeros(series), 0
    for _ in range(windows):
        total = np.maximum(total, 0.0) + shift * rng.normal(size=series) - 0.5 * shift**2
        due = total >= limit
        alarms += int(due.sum())
        total[due] = 0.0
    assert alarms / (series * windows) * alone == pytest.approx(1.0, abs=0.15)


def test_limits_rise_with_the_windows_between_alarms() -> None:
    rare, often = (Cusum.of_shifts(1, 5, count).limits for count in (3650, 12))
    assert (rare > often + 1).all()
    assert (Cusum.of_shifts(1, 5, 0.01).limits > 0).all()
