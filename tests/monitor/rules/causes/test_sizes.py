"""Sizes of changes and their usual variation, worked by hand for a few cells."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pumonitor.monitor.rules.causes.period import Period
from pumonitor.monitor.rules.causes.sizes import labels_needed, score_size
from pumonitor.monitor.rules.causes.variation import RowVariation, share_variation


def period(*windows, labeled=None):
    rows = np.array(windows, dtype=float)
    return Period(labeled=np.zeros_like(rows) if labeled is None else labeled, rows=rows)


def test_as_many_labels_are_needed_as_bring_the_error_down_to_the_change():
    """One label at the middle of ten cells: a placement's variance is taken to be 1 / 24."""
    labeled = np.zeros((1, 10))
    labeled[0, 4] = 1
    before = period([10] * 10, labeled=labeled)
    number = labels_needed(before, 0.1, change=0.05, reach=1.96)

    def error(labels):
        return 1.96 * math.sqrt(1 / 24 / labels) / 0.9

    assert error(number) <= 0.05 < error(number - 1)
    # Half of what a positive is above all rows is lost where half of the labels are right.
    assert labels_needed(before, 0.1, change=0.05, reach=1.96, label_purity=0.55) == pytest.approx(
        4 * number, abs=4
    )


def test_a_mean_score_is_as_uncertain_as_that_of_so_many_rows():
    rng = np.random.default_rng(1)
    counts = [np.histogram(rng.normal(size=n), bins=np.linspace(-4, 4, 81))[0] for n in (9000, 900)]
    found = score_size(period(counts[0]), period(counts[1]), reach=1.96)
    error = math.sqrt(1 / 9000 + 1 / 900)
    assert found.high - found.change == pytest.approx(1.96 * error, rel=0.05)
    assert found.change - found.low == pytest.approx(1.96 * error, rel=0.05)


def by_chance(rng, windows, *, between=0.0):
    """Days of 20 cells, whose upper half has more or fewer rows from day to day."""
    high = np.repeat([0.0, 1.0], 10)
    shares = [np.exp(between * rng.normal() * high) for _ in range(windows)]
    return np.array([rng.multinomial(20_000, one / one.sum()) for one in shares], dtype=float)


@pytest.mark.parametrize("between", [0.0, 0.4])
def test_confirmed_shares_of_windows_that_differ_vary_more_than_by_chance(between):
    rng = np.random.default_rng(4)
    labeled = rng.poisson(200 * np.exp(between * rng.normal(size=(60, 1)))).astype(float)
    before = period(*[[10_000]] * 60, labeled=labeled)
    now = period(*[[10_000]] * 4, labeled=labeled[:4])
    # The means of 60 and of 4 windows; below .05 what varies is not told from nothing.
    expected = max(between * math.sqrt(1 / 60 + 1 / 4), 0.05)
    assert share_variation(before, now) == pytest.approx(expected, rel=0.25)


def test_few_windows_tell_by_how_much_they_differ_but_not_along_what():
    rng = np.random.default_rng(2)
    now = by_chance(rng, 1)[0]
    alike, apart = (
        RowVariation.learned(by_chance(rng, 4, between=between), now, apart=0.5)
        for between in (0.0, 0.2)
    )
    assert alike.dispersion == pytest.approx(1.0, abs=0.5)
    assert 3 < apart.dispersion < 100
    assert len(alike.directions) == len(apart.directions) == 0


def test_many_windows_tell_along_what_they_differ():
    rng = np.random.default_rng(3)
    found = RowVariation.learned(by_chance(rng, 12, between=0.2), by_chance(rng, 1)[0], apart=0.5)
    (direction,) = found.directions
    # Up in one half and down in the other.
    assert abs(direction[:10].sum() - direction[10:].sum()) == pytest.approx(np.sqrt(20), rel=0.05)
    assert found.dispersion < 1.5
