"""The mean difference of two series over the windows that both have."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from scipy import stats

from pumonitor.monitor.reports.paired_windows import paired_windows

START = datetime(2026, 1, 1, tzinfo=UTC)


def series(values, *, first=0):
    return {START + timedelta(days=first + place): one for place, one in enumerate(values)}


def test_the_interval_is_that_of_a_paired_t_test():
    one, other = [0.61, 0.58, 0.72, 0.66, 0.50], [0.55, 0.57, 0.60, 0.64, 0.52]
    found = paired_windows(series(one), series(other))
    expected = stats.ttest_rel(one, other).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert found.difference == pytest.approx(np.mean(one) - np.mean(other))


def test_only_windows_that_both_have_count():
    found = paired_windows(
        series([0.1, 0.5, 0.6, 0.8, math.nan]), series([0.4, 0.6, 0.7, 9.0], first=1)
    )
    assert found.windows == 3
    assert (found.one, found.other) == pytest.approx((1.9 / 3, 1.7 / 3))


def test_exchanging_both_turns_the_sign():
    one, other = series([0.6, 0.5, 0.7]), series([0.5, 0.5, 0.55])
    here, there = paired_windows(one, other), paired_windows(other, one)
    assert (here.difference, here.low, here.high) == pytest.approx(
        (-there.difference, -there.high, -there.low)
    )


@pytest.mark.parametrize(
    ("days", "why"),
    [(0, "no mature window has both"), (2, "fewer than 3 mature windows have both")],
)
def test_too_few_windows_have_no_interval(days, why):
    found = paired_windows(series([0.5] * days), series([0.4] * days))
    assert found.why_no_interval == why
    assert math.isnan(found.low)
    assert not found.is_known


def test_what_moves_both_series_does_not_widen_the_interval():
    rng = np.random.default_rng(1)
    common = rng.normal(0, 0.3, 20)
    gains = rng.normal(0.02, 0.01, 20)
    found = paired_windows(series(common + gains), series(common))
    assert found.is_known
    assert found.high - found.low < 0.02


def test_intervals_hold_in_95_percent():
    rng = np.random.default_rng(2)
    held = 0
    for _ in range(400):
        common, noise = rng.normal(0.6, 0.1, 8), rng.normal(0.03, 0.02, 8)
        found = paired_windows(series(common + noise), series(common))
        held += found.low <= 0.03 <= found.high
    assert stats.binomtest(held, 400, 0.95).pvalue > 0.001
