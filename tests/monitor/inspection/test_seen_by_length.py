"""Windows of which length see a fall first, against what the windows of the reference show."""

import math

import numpy as np
import pytest

from pumonitor.monitor.inspection.seen_by_length import said_of_lengths, seen_by_length
from pumonitor.monitor.rules.detectors.labels_needed import Noise, variance_of_means

DAYS = 70


def lengths(values, **options):
    noise = Noise.of_windows(values, np.full(len(values), 0.02), np.full(len(values), 10.0))
    given = {
        "labels": 10,
        "drop": 0.08,
        "window": "1d",
        "window_days": 1.0,
        "false_alarms_per_year": 1.0,
        "reference_windows": len(values),
    }
    return seen_by_length(values, noise, **(given | options))


def test_the_spread_that_was_seen_decides_how_soon():
    rng = np.random.default_rng(0)
    calm, wild = (0.7 + spread * rng.normal(size=DAYS) for spread in (0.02, 0.08))
    day, week = lengths(calm)
    later, later_week = lengths(wild)
    assert (day.window, week.window, week.reference_windows) == ("1d", "1w", 10)
    assert day.median <= 2
    assert 6 <= later.median <= 15
    # A week tells at its end, on average half a week after a fall at any day of it.
    assert 3 <= week.median <= 7
    assert later_week.median > later.median
    assert said_of_lengths((later, later_week)).endswith(
        "in windows of 1w; windows of 1d detect it first"
    )


def test_weekdays_that_cancel_make_weeks_see_it_first():
    rng = np.random.default_rng(1)
    weekdays = np.tile([0.1, 0.1, 0.1, 0.1, 0.1, -0.2, -0.3], 30)
    values = 0.7 + weekdays + 0.01 * rng.normal(size=210)
    assert variance_of_means(values, 7) < 0.4
    day, week = lengths(values, drop=0.07, reference_windows=210)
    assert week.median < day.median
    assert said_of_lengths((day, week)).endswith("windows of 1w detect it first")


def test_weeks_of_days_that_follow_each_other_vary_more():
    rng = np.random.default_rng(2)
    steps = rng.normal(size=400)
    values = np.zeros(400)
    for at in range(1, 400):
        values[at] = 0.6 * values[at - 1] + steps[at]
    assert variance_of_means(values, 7) > 2
    assert variance_of_means(steps, 7) == pytest.approx(1.0, abs=0.25)
    # Thirty windows tell little: what chance makes of them is shrunk away.
    told = [variance_of_means(row, 7) for row in rng.normal(size=(200, 30))]
    assert np.mean(told) == pytest.approx(1.0, abs=0.05)
    assert np.std(told) < 0.2


def test_weeks_without_enough_of_them_are_not_told():
    values = 0.7 + 0.02 * np.random.default_rng(3).normal(size=30)
    day, week = lengths(values)
    assert (week.median, week.most, week.reference_windows) == (None, None, 4)
    assert said_of_lengths((day, week)).endswith(
        "; unknown (there are 4 windows without a change, and 5 are needed) in windows of 1w"
    )


def test_what_is_hardly_ever_seen_has_no_number_of_days():
    values = 0.7 + 0.2 * np.random.default_rng(5).normal(size=30)
    (day, _) = lengths(values, drop=0.01)
    assert said_of_lengths((day,)) == (
        "in fewer than half of all cases within 120 windows in windows of 1d"
    )


def test_a_month_has_no_whole_weeks_and_a_week_no_longer_one():
    values = 0.7 + 0.02 * np.random.default_rng(4).normal(size=30)
    assert [one.window for one in lengths(values, window="1w", window_days=7.0)] == ["1w"]
    hours = lengths(values, window="6h", window_days=0.25)
    assert [one.window for one in hours] == ["6h", "1d", "1w"]
    assert hours[1].median is not None
    assert math.isfinite(hours[1].median)
