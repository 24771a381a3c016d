"""Bets on paired differences: what they gain on average, and the intervals that follow."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pumonitor.errors import InputError
from pumonitor.gate import MeanEvidence
from pumonitor.gate.labels_needed import labels_needed
from pumonitor.gate.stakes import STAKES


@pytest.mark.parametrize("labels", [1, 3, 7])
def test_bets_on_a_mean_that_is_not_above_gain_nothing_on_average(labels: int) -> None:
    """Exactly: over all outcomes of differences that are 1 or -1 with the same chance."""
    outcomes = list(product([-1.0, 1.0], repeat=labels))
    capitals = [MeanEvidence.of([one]).capital() for one in outcomes]
    assert np.mean(capitals) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("labels", [2, 4, 6])
def test_labels_of_few_positives_gain_nothing_on_average_either(labels: int) -> None:
    """Which positives of a window are confirmed is a draw without replacement."""
    positives = [1.0, -1.0, 0.5, -0.5, 0.25, -0.25]
    capitals = [MeanEvidence.of([one]).capital() for one in combinations(positives, labels)]
    assert np.mean(capitals) <= 1 + 1e-12


def test_weights_gain_nothing_on_average_where_the_largest_is_known() -> None:
    """Two kinds of positives, one confirmed five times as often; models that are equally good."""
    kinds = {(-1.0, 1.0): 5 / 9, (1.0, 5.0): 1 / 9, (0.0, 5.0): 3 / 9}
    assert sum(x * w * chance for (x, w), chance in kinds.items()) == pytest.approx(0.0)
    expected = 0.0
    for drawn in product(kinds, repeat=4):
        differences, weights = zip(*drawn, strict=True)
        chance = np.prod([kinds[one] for one in drawn])
        evidence = MeanEvidence.of([differences], [weights], largest_weight=5.0)
        expected += chance * evidence.capital()
    assert expected == pytest.approx(1.0, abs=1e-12)


def test_bets_on_a_lower_mean_lose_on_average() -> None:
    chances = {-1.0: 0.5, 0.0: 0.2, 1.0: 0.3}
    expected = sum(
        np.prod([chances[one] for one in outcome]) * MeanEvidence.of([outcome]).capital(-0.1)
        for outcome in product(chances, repeat=5)
    )
    assert expected < 1.0


def test_the_capital_is_that_of_betting_one_difference_after_the_other() -> None:
    differences = np.array([0.3, -0.2, 1.0, 0.0, 0.4])
    grown = np.ones(len(STAKES))
    for one in differences:
        grown = grown * (1 + STAKES * (one - 0.1) / 1.1)
    shares = np.where(STAKES <= 0.02, 0.1 / (STAKES <= 0.02).sum(), 0.9 / (STAKES > 0.02).sum())
    assert MeanEvidence.of([differences]).capital(0.1) == pytest.approx(grown @ shares, rel=1e-12)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.floats(-1, 1), min_size=1, max_size=40))
def test_the_interval_is_around_the_mean_and_does_not_depend_on_the_order(
    differences: list[float],
) -> None:
    found = MeanEvidence.of([differences])
    low, high = found.lower(error=0.025), found.upper(error=0.025)
    assert found.mean is not None
    assert -1 <= low <= found.mean <= high <= 1
    again = MeanEvidence.of([differences[::-1]])
    assert again.lower(error=0.025) == pytest.approx(low, abs=1e-9)
    assert found.reversed().upper(error=0.025) == pytest.approx(-low, abs=1e-12)


def test_an_interval_holds_at_all_looks_together() -> None:
    """Differences of recall of two models that disagree in one label of ten."""
    rng = np.random.default_rng(3)
    misses = 0
    for _ in range(100):
        weeks = [rng.choice([-1.0, 0.0, 1.0], 20, p=[0.05, 0.9, 0.05]) for _ in range(20)]
        misses += any(
            MeanEvidence.of(weeks[: 1 + look]).lower(error=0.025) > 0 for look in range(20)
        )
    assert misses <= 6  # 2.5% of 100 are 2.5; more than 6 with probability .01


def test_windows_that_differ_by_themselves_make_it_wider() -> None:
    rng = np.random.default_rng(0)
    alike = [rng.normal(0.05, 0.1, 50) for _ in range(12)]
    differing = [one + shift for one, shift in zip(alike, rng.normal(0, 0.06, 12), strict=True)]
    narrow, wide = (
        MeanEvidence.of([np.clip(one, -1, 1) for one in some]) for some in (alike, differing)
    )
    assert narrow.dispersion < 1.5
    assert wide.dispersion > 4
    length = [one.upper(error=0.025) - one.lower(error=0.025) for one in (narrow, wide)]
    assert length[1] > 1.6 * length[0]


def test_one_window_says_nothing_of_how_windows_differ() -> None:
    assert MeanEvidence.of([[0.1, 0.5, -0.3]]).dispersion == 1.0
    assert MeanEvidence.of([[0.1, 0.5], []]).dispersion == 1.0


def test_weights_count() -> None:
    found = MeanEvidence.of([[1.0, 0.0]], [[3.0, 1.0]])
    assert found.mean == 0.75
    assert found.lower(error=0.5) < MeanEvidence.of([[1.0, 1.0, 1.0, 0.0]]).lower(error=0.5)


def test_without_labels_anything_is_possible() -> None:
    nothing = MeanEvidence.of([])
    assert nothing.mean is None
    assert (nothing.lower(error=0.025), nothing.upper(error=0.025)) == (-1.0, 1.0)
    assert nothing.capital() == pytest.approx(1.0)


@pytest.mark.parametrize("wrong", [1.5, float("nan"), -2.0])
def test_differences_out_of_range_are_refused(wrong: float) -> None:
    with pytest.raises(InputError, match=r"must be within \[-1, 1\]: 1 of 2 are not"):
        MeanEvidence.of([[0.0, wrong]])


@pytest.mark.parametrize("wrong", [0.0, -1.0, float("inf")])
def test_weights_that_are_none_are_refused(wrong: float) -> None:
    with pytest.raises(InputError, match="finite and above 0"):
        MeanEvidence.of([[0.0, 0.5]], [[1.0, wrong]])


def test_labels_needed_are_enough_in_most_repetitions() -> None:
    rng = np.random.default_rng(1)
    seen = MeanEvidence.of([np.clip(rng.normal(0.02, 0.11, 60), -1, 1)])
    number = labels_needed(seen, above=0.0, error=0.025)
    assert number is not None
    surely = 0
    for _ in range(100):
        drawn = rng.choice(seen.differences, number)
        surely += MeanEvidence.of([drawn]).lower(error=0.025) > 0
    assert 70 <= surely <= 99


def test_more_labels_do_not_help_a_model_that_looks_worse() -> None:
    rng = np.random.default_rng(1)
    seen = MeanEvidence.of([np.clip(rng.normal(-0.05, 0.1, 60), -1, 1)])
    assert labels_needed(seen, above=0.0, error=0.025) is None
    assert labels_needed(MeanEvidence.of([[0.5]]), above=0.0, error=0.025) is None
