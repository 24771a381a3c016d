from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from pumonitor.metrics import auc
from pumonitor.monitor.rules.detectors.betting import STAKES, Bets, auc_bounds
from pumonitor.monitor.rules.detectors.seen import Seen
from pumonitor.monitor.rules.detectors.shiryaev_roberts import ShiryaevRoberts
from pumonitor.monitor.rules.detectors.standardise import Expected
from pumonitor.monitor.rules.detectors.watch import DetectorState


def ratios(
    value: np.ndarray, *, level: float, bounds: tuple[float, float], direction: str, spread: float
) -> np.ndarray:
    nothing = np.zeros(len(value))
    seen = Seen(
        value=value,
        expected=Expected(mean=nothing, spread=nothing, z=nothing),
        level=np.full(len(value), level),
        level_spread=np.full(len(value), spread),
        bounds=np.tile(bounds, (len(value), 1)),
    )
    return np.exp(Bets.of(direction).log_ratios(seen))  # type: ignore[arg-type]


@pytest.mark.parametrize("bounds", [(0.0, 1.0), (-0.25, 1.25), (2.0, 5.0)])
def test_no_distribution_with_the_mean_makes_a_bet_worth_more_than_its_stake(
    bounds: tuple[float, float],
) -> None:
    """All distributions on five points in steps of a tenth."""
    points = np.linspace(*bounds, 5)
    for counts in itertools.product(range(11), repeat=4):
        if sum(counts) > 10:
            continue
        shares = np.array([*counts, 10 - sum(counts)]) / 10
        mean = float(shares @ points)
        for direction in ("down", "up"):
            values = ratios(points, level=mean, bounds=bounds, direction=direction, spread=0.0)
            assert (values >= 0).all()
            assert (shares @ values <= 1 + 1e-12).all()


def test_a_mean_beyond_the_one_bet_against_is_worth_more() -> None:
    points, shares = np.array([0.0, 0.5, 1.0]), np.array([0.2, 0.3, 0.5])
    mean = float(shares @ points)
    for direction, level in (("down", mean + 0.1), ("up", mean - 0.1)):
        values = ratios(points, level=level, bounds=(0.0, 1.0), direction=direction, spread=0.0)
        assert (shares @ values > 1.01).all()
        against = ratios(
            points, level=2 * mean - level, bounds=(0.0, 1.0), direction=direction, spread=0.0
        )
        assert (shares @ against < 1).all()


def test_an_uncertain_level_is_bet_against_with_care() -> None:
    value = np.array([0.7])
    sure, unsure = (
        ratios(value, level=0.8, bounds=(0.0, 1.0), direction="any", spread=spread)
        for spread in (0.0, 0.1)
    )
    assert (unsure < sure).all()
    assert sure.shape == (1, 2 * len(STAKES))
    assert (sure[0, : len(STAKES)] > 1).all()
    assert (sure[0, len(STAKES) :] < 1).all()


def test_at_the_end_of_what_can_be_nothing_is_staked() -> None:
    values = ratios(
        np.array([0.0, 0.4, 1.0]), level=1.0, bounds=(0.0, 1.0), direction="down", spread=0.0
    )
    assert np.array_equal(values, np.ones_like(values))


@pytest.mark.parametrize("kind", ["skewed", "dependent"])
def test_run_length_holds_for_awkward_distributions(kind: str) -> None:
    """The mean number of windows until an alarm, restarted at each, is at least the one asked for.

    Windows are nearly always a little above the mean and rarely far below, or all alike for a
    while with a mean that is the same given the past.
    """
    rng = np.random.default_rng(0)
    series, windows, wanted = 2000, 300, 60.0
    state = ShiryaevRoberts.of_bets(series, len(STAKES), wanted)
    alarms, wild = 0, np.zeros(series, dtype=bool)
    for _ in range(windows):
        if kind == "skewed":
            values = np.where(rng.random(series) < 0.02, 0.0, 0.8 / 0.98)
        else:
            wild = np.where(rng.random(series) < 0.1, ~wild, wild)
            values = 0.8 + np.where(wild, 0.2, 0.02) * rng.choice([-1, 1], series)
        bets = ratios(values, level=0.8, bounds=(0.0, 1.0), direction="down", spread=0.0)
        with np.errstate(divide="ignore"):
            state = state.after(np.log(bets))
        due = state.statistic() >= state.limit
        alarms += int(due.sum())
        state = state.cleared(due)
    rate = alarms * wanted / (series * windows)
    assert rate < 1 + 4 * math.sqrt(wanted / (series * windows))
    assert rate > 0.2


def test_bounds_of_auc_are_those_of_its_placements() -> None:
    """Positives above or below everything, for AUC; rows are of their own population."""
    low, high = auc_bounds(0.2)
    for top, end in ((0.0, low), (1.0, high)):
        scores = [0.5] * 1998 + [top] * 2
        labels = [0] * 1998 + [1] * 2
        value = auc(labels, scores, class_prior=0.2).value
        assert low < value < high
        assert value == pytest.approx(end, abs=1e-3)


def test_run_length_holds_with_a_mean_learned_from_few_windows() -> None:
    """A tenth of windows are at 0: gross errors to the standardiser, part of the mean to bets."""
    rng = np.random.default_rng(1)
    series, reference, windows, wanted = 150, 20, 180, 60.0
    values = np.where(rng.random((series, reference + windows)) < 0.1, 0.0, 0.8 / 0.9)
    errors, bounds = np.full(series, 0.05), np.tile([0.0, 1.0], (series, 1))
    watch = DetectorState.begun_after(
        values[:, :reference],
        np.tile(errors[:, np.newaxis], reference),
        np.ones(reference, dtype=np.intp),
        direction="down",
        windows_per_alarm=wanted,
        detector="betting",
    )
    alarms = 0
    for at in range(reference, reference + windows):
        before = watch.on
        watch = watch.after(values[:, at], errors, bounds=bounds)
        alarms += int((watch.on & ~before).sum())
    rate = alarms * wanted / (series * windows)
    assert 0.2 < rate < 1.0
