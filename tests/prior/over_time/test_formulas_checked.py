"""Properties that an outside check of the formulas asked for."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from pumonitor.prior.followed.founding import WindowRows
from pumonitor.prior.followed.level import estimated_levels, given_level
from pumonitor.prior.over_time import Level, PriorFilter, WindowSummary
from pumonitor.results import ClassPriorEstimate
from pumonitor.tables import ScoreTable

START = datetime(2026, 1, 1, tzinfo=UTC)
END = START + timedelta(days=1)
HIGH, LOW = 8.0, 0.6


def window(rows, confirmed, prior):
    return WindowSummary(
        rows=rows,
        confirmed=confirmed,
        all_mean=prior * HIGH + (1 - prior) * LOW,
        all_variance=5 / rows,
        confirmed_mean=HIGH,
        confirmed_variance=50 / confirmed,
    )


@pytest.mark.parametrize("factor", [1.1, 1.15, 1.3])
def test_a_move_between_two_points_of_the_grid_is_within_its_interval(factor):
    prior, share = 0.05, 0.3
    followed = PriorFilter.begun(
        window(400_000, 400_000 * prior * share, prior), Level.given(0.05, 0.0485, 0.0515)
    )
    for _ in range(8):
        now = prior * factor
        followed = followed.after(window(100_000, 100_000 * now * share, now))
    moved = followed.since_reference()["class_prior"]
    assert moved.low <= factor <= moved.high


def test_fewer_positives_than_were_confirmed_in_the_reference_stay_impossible():
    followed = PriorFilter.begun(window(200_000, 9000, 0.05), Level.given(0.05, 0.03, 0.08))
    for _ in range(6):  # half as many are confirmed
        followed = followed.after(window(20_000, 450, 0.05))
    assert followed.quantiles([0.025])[0] > 0.042


def test_rows_nearly_all_of_which_are_confirmed_have_a_level():
    labels = np.arange(100) < 99
    scores = np.random.default_rng(0).normal(size=100) + labels
    rows = WindowRows(
        start=START,
        end=END,
        table=ScoreTable.from_arrays(labels.astype(int), scores),
        rows=100,
        confirmed=99,
    )
    [origin] = estimated_levels([[rows]], method="auto", label_purity=1.0, seeds=[0])
    assert 0.99 <= origin.told["low"] <= origin.told["value"] <= origin.told["high"] < 1


def test_a_given_interval_may_end_above_the_purity_of_labels():
    rows = WindowRows(start=START, end=END, table=None, rows=1000, confirmed=300)
    given = ClassPriorEstimate.given((0.5, 0.4, 0.6))
    origin = given_level(given, [rows], start=START, end=END, label_purity=0.55)
    assert origin.level.class_prior.max() < 1


@pytest.mark.parametrize("told", [(0.03, 0.022, 0.04), (0.045, 0.035, 0.06)])
def test_a_prior_far_below_what_scores_say_is_no_fall(told):
    """Scores tell an upper bound: where the truth turns out to be a third of it, nothing moved."""
    level = Level.estimated(0.14, 0.10, 0.18, confirmed_share=0.009)
    followed = PriorFilter.begun(window(20_000, 180, 0.1), level)
    for _ in range(20):
        followed = followed.after(window(2000, 18, 0.1))
    assert followed.quantiles([0.025])[0] == pytest.approx(0.09, abs=0.005)
    followed = followed.observed(*told).after(window(2000, 18, 0.1))
    low, high = followed.quantiles([0.025, 0.975])
    assert low < told[0] < high
    assert followed.moved() < 0.05
