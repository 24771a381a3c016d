"""Whether the share confirmed has moved: by formula, by simulation, and where nobody can say."""

import math

import numpy as np
import pytest
from scipy import stats

from pumonitor.monitor.rules.labels.confirmed_share import (
    ConfirmedShare,
    confirmed_beyond,
    share_moved,
)


def shares(labeled, rows=1000):
    return [ConfirmedShare(labeled=int(one), rows=rows) for one in labeled]


def naive(now, before):
    return max(naive_on(scale, now, before) for scale in ("arcsine", "log"))


def naive_on(scale, now, before):
    """Window by window, without sharing a line of code."""
    usual = (sum(one.labeled for one in before) + 1 / 2) / sum(one.rows for one in before)

    def value(one):
        if scale == "arcsine":
            return math.asin(math.sqrt((one.labeled + 3 / 8) / (one.rows + 3 / 4)))
        return math.log((one.labeled + 1 / 2) / one.rows)

    def variance(one):
        return 1 / (4 * one.rows + 2) if scale == "arcsine" else 1 / (usual * one.rows + 1 / 2)

    def mean(more):
        total = sum(1 / (variance(one) + more) for one in before)
        return sum(value(one) / (variance(one) + more) for one in before) / total, total

    middle, total = mean(0.0)
    q = sum((value(one) - middle) ** 2 / variance(one) for one in before)
    tau = max(0, (q - len(before) + 1) / (total - sum(variance(o) ** -2 for o in before) / total))
    middle, total = mean(tau)
    left = sum((value(one) - middle) ** 2 / (variance(one) + tau) for one in before)
    error = math.sqrt(max(1, left / (len(before) - 1)) * (tau + variance(now) + 1 / total))
    return 2 * stats.t.sf(abs(value(now) - middle) / error, len(before) - 1)


def test_the_p_value_is_that_of_the_formula():
    before = [
        ConfirmedShare(labeled=labeled, rows=rows)
        for labeled, rows in (
            (21, 900), (11, 700), (40, 1300), (19, 1000), (35, 1100), (16, 650), (24, 990), (9, 480)
        )
    ]  # fmt: skip
    for labeled in (3, 20, 61):
        now = ConfirmedShare(labeled=labeled, rows=870)
        assert share_moved(now, before) == pytest.approx(naive(now, before), rel=1e-9)


@pytest.mark.parametrize(("mean", "spread"), [(5, 0.0), (30, 0.3), (200, 0.6)])
def test_false_alarms_are_fewer_than_one_in_a_hundred_at_that_level(mean, spread):
    rng = np.random.default_rng(7)
    runs, windows = 2000, 20
    rates = 0.02 * np.exp(spread * rng.standard_normal((runs, windows + 1)))
    labeled = rng.binomial(int(mean / 0.02), np.minimum(rates, 1))
    all_shares = [shares(one, int(mean / 0.02)) for one in labeled]
    found = [share_moved(some[-1], some[:-1]) for some in all_shares]
    assert np.mean(np.array(found) < 0.01) < stats.binom.ppf(0.999, runs, 0.01) / runs


def test_a_ninefold_share_is_seen_among_windows_that_differ_by_themselves():
    rng = np.random.default_rng(3)
    before = shares(rng.binomial(1000, 0.02 * np.exp(0.3 * rng.standard_normal(20))))
    assert share_moved(ConfirmedShare(labeled=180, rows=1000), before) < 0.001
    assert share_moved(ConfirmedShare(labeled=24, rows=1000), before) > 0.05


def test_few_windows_and_none_with_rows_say_nothing():
    now = ConfirmedShare(labeled=90, rows=100)
    assert share_moved(now, shares([2] * 7)) == 1.0
    assert share_moved(now, shares([0] * 20, rows=0)) == 1.0
    assert share_moved(ConfirmedShare(labeled=0, rows=0), shares([2] * 20)) == 1.0


def test_more_confirmed_than_assumed_is_counted_exactly():
    assert confirmed_beyond(ConfirmedShare(labeled=0, rows=10), 0.1) == 1.0
    assert confirmed_beyond(ConfirmedShare(labeled=2, rows=2), 0.1) == pytest.approx(0.01)
