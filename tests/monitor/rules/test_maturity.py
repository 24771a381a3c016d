from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
from numpy.typing import NDArray

from pumonitor.monitor.rules.labels.maturity import label_maturity

FloatArray = NDArray[np.float64]
NAN = float("nan")
AGES = tuple(timedelta(days=day) for day in (0, 7.5, 15, 30))
DAYS = np.array([age / timedelta(days=1) for age in AGES])


def test_the_shares_are_the_chain_ladder_worked_by_hand() -> None:
    known = [[10, 40, 50, 60], [12, 36, 48, NAN], [9, 30, NAN, NAN], [5, NAN, NAN, NAN]]
    found = label_maturity(known, ages=AGES)
    last = 50 / 60
    middle = last * (40 + 36) / (50 + 48)
    first = middle * (10 + 12 + 9) / (40 + 36 + 30)
    assert found.known == pytest.approx([first, middle, last, 1.0])
    assert found.positives == 60


def test_truncation_is_not_taken_for_speed() -> None:
    # Young windows have only quick labels; of all seen, nearly all are quick.
    known = [[50, 60, 80, 100]] + [[50, NAN, NAN, NAN]] * 20
    assert label_maturity(known, ages=AGES).known[0] == pytest.approx(0.5)


def test_between_ages_the_share_is_linear() -> None:
    found = label_maturity([[20, 60, 90, 100]], ages=AGES)
    assert found.share_known(timedelta(days=3.75)).value == pytest.approx(0.4)
    later = found.share_known(timedelta(days=30))
    assert (later.value, later.low, later.high) == (1.0, 1.0, 1.0)
    first = found.share_known(AGES[0])
    assert first.value == pytest.approx(0.2)
    assert first.low < first.value < first.high


def test_where_no_label_comes_early_the_share_known_early_is_none() -> None:
    found = label_maturity([[0, 0, 0, 60], [0, 0, 0, 40]], ages=AGES)
    assert found.known.tolist() == [0.0, 0.0, 0.0, 1.0]
    early = found.share_known(AGES[1])
    assert early.value == early.low == 0.0
    assert early.high < 0.1


def test_fewer_after_retractions_is_a_share_of_one() -> None:
    found = label_maturity([[20, 60, 100, 90]], ages=AGES)
    assert found.known[2] == 1.0
    assert found.share_known(AGES[2]).low < 1.0


@pytest.mark.parametrize(
    ("known", "reason"),
    [
        ([], r"no earlier window has reached the maturity of 30 days.*there is none yet"),
        (
            [[5, 6, NAN, NAN], [7, NAN, NAN, NAN]],
            r"the oldest has been followed up to an age of 7 days, 12:00:00",
        ),
        ([[0, 0, 0, 0], [3, NAN, NAN, NAN]], r"none of the 1 earlier windows that are mature"),
    ],
)
def test_what_cannot_be_told_is_said(known: list[list[float]], reason: str) -> None:
    found = label_maturity(known, ages=AGES).share_known(AGES[1])
    assert np.isnan([found.value, found.low, found.high]).all()
    assert found.undefined_reason is not None
    with pytest.raises(AssertionError, match=reason):
        raise AssertionError(found.undefined_reason)


@pytest.mark.parametrize(
    ("known", "ages", "message"),
    [
        ([[1, 2]], AGES, r"one column per age: got shape \(1, 2\) for 4 ages"),
        ([[1, NAN, 3, NAN]], AGES, r"seen at every age before its last one"),
        ([[1, 2]], AGES[1::-1], r"ages must ascend"),
        ([[]], (), r"hold one at least"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(
    known: list[list[float]], ages: tuple[timedelta, ...], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        label_maturity(known, ages=ages)


def test_a_single_age_is_the_maturity_itself() -> None:
    found = label_maturity([[3], [4]], ages=AGES[:1])
    assert found.share_known(AGES[0]).value == 1.0


def test_the_same_counts_give_the_same_interval() -> None:
    known = [[10, 40, 50, 60], [12, 36, 48, NAN]]
    one, other = (label_maturity(known, ages=AGES).share_known(AGES[1]) for _ in range(2))
    assert one == other


def windows(
    count: int, positives: float, rng: np.random.Generator, *, uneven: float = 0.0
) -> FloatArray:
    """Daily windows, the newest just over; labels come after an exponential time."""
    known = np.full((count, len(DAYS)), NAN)
    for age in range(count):
        rows = rng.poisson(positives)
        mean = 12.0 * (rng.gamma(uneven**-2, uneven**2) if uneven else 1.0)
        time, delay = rng.random(rows), rng.exponential(mean, rows)
        for at, day in enumerate(DAYS):
            if day <= age:
                known[age, at] = np.count_nonzero(delay <= day + time)
    return known


def true_shares(*, uneven: float = 0.0) -> FloatArray:
    rng = np.random.default_rng(0)
    means = 12.0 * (rng.gamma(uneven**-2, uneven**2, 4000) if uneven else np.ones(1))
    ages = DAYS[:, np.newaxis, np.newaxis] + np.linspace(0, 1, 21)[:, np.newaxis]
    known = np.mean(1 - np.exp(-ages / means), axis=(1, 2))
    return np.asarray(known / known[-1])


@pytest.mark.parametrize(
    ("count", "positives", "uneven"),
    [(40, 3.0, 0.0), (60, 30.0, 0.0), (90, 300.0, 0.0), (60, 300.0, 0.3)],
)
def test_intervals_hold_the_share_known_in_small_and_large_windows(
    count: int, positives: float, uneven: float
) -> None:
    truth, repetitions = true_shares(uneven=uneven), 120
    rng = np.random.default_rng(int(positives) + count)
    held = np.zeros(len(DAYS) - 1)
    for seed in range(repetitions):
        found = label_maturity(windows(count, positives, rng, uneven=uneven), ages=AGES, rng=seed)
        for at in range(len(DAYS) - 1):
            share = found.share_known(AGES[at])
            held[at] += share.low <= truth[at] <= share.high
    # 95% less three standard errors of the simulation.
    assert (held / repetitions > 0.95 - 3 * np.sqrt(0.95 * 0.05 / repetitions)).all()


def test_windows_that_scatter_more_than_by_chance_widen_the_interval() -> None:
    even = label_maturity(windows(60, 300.0, np.random.default_rng(1)), ages=AGES)
    uneven = label_maturity(windows(60, 300.0, np.random.default_rng(1), uneven=0.4), ages=AGES)
    assert even.dispersions.max() < 2
    assert uneven.dispersions.max() > 4
    widths = [
        share.high - share.low for share in (one.share_known(AGES[1]) for one in (even, uneven))
    ]
    assert widths[1] > 2 * widths[0]


def test_how_windows_scatter_goes_with_the_share() -> None:
    rng = np.random.default_rng(5)
    even = label_maturity(windows(60, 300.0, rng), ages=AGES).share_known(AGES[1])
    uneven = label_maturity(windows(60, 300.0, rng, uneven=0.4), ages=AGES).share_known(AGES[1])
    assert even.dispersion < 2
    assert uneven.dispersion > 4


def test_one_window_does_not_show_how_windows_scatter() -> None:
    assert label_maturity([[1, 60, 90, 100]], ages=AGES).share_known(AGES[1]).dispersion == 1.0
