"""The mean difference of two series over the windows that both have."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from scipy import stats

from pumonitor.monitor.reports.paired_windows import WindowValue, paired_windows

START = datetime(2026, 1, 1, tzinfo=UTC)


def series(values, *, first=0, reach=math.nan):
    return {
        START + timedelta(days=first + place): WindowValue(one, one - reach, one + reach)
        for place, one in enumerate(values)
    }


def test_the_interval_is_that_of_a_paired_t_test():
    one, other = [0.61, 0.58, 0.72, 0.66, 0.50], [0.55, 0.57, 0.60, 0.64, 0.52]
    found = paired_windows(series(one), series(other), uses_prior=False)
    expected = stats.ttest_rel(one, other).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert found.difference == pytest.approx(np.mean(one) - np.mean(other))


def test_only_windows_that_both_have_count():
    found = paired_windows(
        series([0.1, 0.5, 0.6, 0.8, math.nan]),
        series([0.4, 0.6, 0.7, 9.0], first=1),
        uses_prior=False,
    )
    assert found.windows == 3
    assert (found.one, found.other) == pytest.approx((1.9 / 3, 1.7 / 3))


def test_exchanging_both_turns_the_sign():
    one, other = series([0.6, 0.5, 0.7], reach=0.1), series([0.5, 0.5, 0.55], reach=0.2)
    here = paired_windows(one, other, uses_prior=True)
    there = paired_windows(other, one, uses_prior=True)
    assert (here.difference, here.low, here.high) == pytest.approx(
        (-there.difference, -there.high, -there.low)
    )


@pytest.mark.parametrize(
    ("days", "why"),
    [(0, "no mature window has both"), (2, "fewer than 3 mature windows have both")],
)
def test_too_few_windows_have_no_interval(days, why):
    found = paired_windows(series([0.5] * days), series([0.4] * days), uses_prior=False)
    assert found.why_no_interval == why
    assert math.isnan(found.low)
    assert not found.is_known


def test_what_moves_both_series_does_not_widen_the_interval():
    rng = np.random.default_rng(1)
    common = rng.normal(0, 0.3, 20)
    gains = rng.normal(0.02, 0.01, 20)
    found = paired_windows(series(common + gains), series(common), uses_prior=False)
    assert found.is_known
    assert found.high - found.low < 0.02


def test_intervals_hold_in_95_percent():
    rng = np.random.default_rng(2)
    held = 0
    for _ in range(400):
        common, noise = rng.normal(0.6, 0.1, 8), rng.normal(0.03, 0.02, 8)
        found = paired_windows(series(common + noise), series(common), uses_prior=False)
        held += found.low <= 0.03 <= found.high
    assert stats.binomtest(held, 400, 0.95).pvalue > 0.001


def test_an_error_that_all_windows_of_a_series_share_is_in_the_interval():
    # Two equal series. Each has a class prior that is wrong by one error in all of its windows,
    # which every window's own interval has, and small errors of its windows.
    rng = np.random.default_rng(3)
    of_prior, of_window, runs, windows = 0.05, 0.01, 400, 8
    reach = 1.96 * math.hypot(of_prior, of_window)
    held = held_without = 0
    for _ in range(runs):
        one, other = (
            series(0.6 + rng.normal(0, of_prior) + rng.normal(0, of_window, windows), reach=reach)
            for _ in range(2)
        )
        held += not paired_windows(one, other, uses_prior=True).is_known
        held_without += not paired_windows(one, other, uses_prior=False).is_known
    assert 0.93 < held / runs < 0.985
    assert held_without / runs < 0.3  # the fault: more windows make it worse


def test_more_windows_do_not_lessen_the_error_of_a_class_prior():
    few, many = (
        paired_windows(
            series([0.6, 0.61] * times, reach=0.03),
            series([0.5, 0.52] * times, reach=0.04),
            uses_prior=True,
        )
        for times in (5, 500)
    )
    assert few.high - few.low > many.high - many.low > 2 * 0.05


def test_without_the_windows_intervals_the_error_of_a_class_prior_is_not_known():
    found = paired_windows(series([0.6] * 4), series([0.5] * 4), uses_prior=True)
    assert found.difference == pytest.approx(0.1)
    assert found.why_no_interval.startswith("a window has no interval")
    assert not found.is_known


def test_each_side_of_the_interval_has_its_own_reach():
    day = timedelta(days=1)
    one = {START + place * day: WindowValue(0.5, 0.4, 0.5) for place in range(3)}
    other = {START + place * day: WindowValue(0.3, 0.3, 0.6) for place in range(3)}
    found = paired_windows(one, other, uses_prior=True)
    assert found.low == pytest.approx(0.2 - math.hypot(0.1, 0.3))
    assert found.high == pytest.approx(0.2)
