"""What thresholds bring: against counting rows, against the draws, and what must rise or fall."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pumonitor
from pumonitor.decisions import decide, decide_table, nearest_threshold, threshold_of_capacity
from pumonitor.decisions.outcomes import outcome_metrics
from pumonitor.metrics.problem import make_problem
from pumonitor.metrics.rates import Rates, at_threshold
from pumonitor.results import ClassPriorEstimate
from pumonitor.tables import ScoreTable

PRIOR = (0.05, 0.03, 0.08)


def shop(rows=4000, seed=3, confirmed=0.3):
    rng = np.random.default_rng(seed)
    positive = rng.random(rows) < 0.05
    scores = np.round(rng.normal(2.0 * positive), 2)
    return positive & (rng.random(rows) < confirmed), scores, positive


@pytest.fixture(scope="module")
def table():
    labels, scores, _ = shop()
    return ScoreTable.from_arrays(labels, scores, thresholds=(1.5, 2.0))


@pytest.fixture(scope="module")
def found(table):
    return decide_table(
        table, threshold=1.5, other_threshold=2.0, value=50, cost=4, class_prior=PRIOR
    )


def test_with_every_positive_confirmed_it_is_counting():
    _, scores, positive = shop(rows=900)
    for threshold in (-1.0, 1.71):
        now = decide(
            positive,
            scores,
            threshold=threshold,
            value=7.5,
            cost=2.0,
            class_prior=float(positive.mean()),
            propensity=np.ones(900),
        ).now
        both = zip(positive, scores, strict=True)
        caught = sum(1 for one, score in both if one and score >= threshold)
        reviewed = sum(1 for score in scores if score >= threshold)
        assert now["positives_caught"].value == pytest.approx(caught, abs=1e-9)
        assert now["positives_missed"].value == pytest.approx(positive.sum() - caught, abs=1e-9)
        assert now["reviews"].value == pytest.approx(reviewed, abs=1e-9)
        assert now["money"].value == pytest.approx(7.5 * caught - 2.0 * reviewed, abs=1e-9)


def test_shares_are_those_of_an_evaluation(table, found):
    evaluation = pumonitor.evaluate_table(table, threshold=1.5, class_prior=PRIOR)
    for name in ("precision", "recall", "f1"):
        assert found.now[name] == evaluation[name]
        drawn = f"{name}_by_threshold"
        curve, other = found.curves[drawn], evaluation.curves[drawn]
        np.testing.assert_array_equal(curve.low, other.low)
        np.testing.assert_array_equal(curve.y, other.y)


def test_the_interval_of_the_money_is_of_joint_draws(table, found):
    problem = make_problem(table, ClassPriorEstimate.given(PRIOR))
    both = at_threshold(problem, 2.0).both
    rows = 4000
    caught = rows * np.minimum(both.class_prior * both.recall, both.predicted_positive_rate)
    money = 50 * caught - 4 * rows * both.predicted_positive_rate
    low, high = np.quantile(money, [0.025, 0.975])
    assert found.chosen["money"].low == pytest.approx(low, rel=1e-12)
    assert found.chosen["money"].high == pytest.approx(high, rel=1e-12)
    ends = [
        50 * found.chosen["positives_caught"].low - 4 * found.chosen["reviews"].high,
        50 * found.chosen["positives_caught"].high - 4 * found.chosen["reviews"].low,
    ]
    assert ends[0] < low < high < ends[1]


def test_no_more_is_caught_than_is_reviewed_or_there_is():
    metrics = outcome_metrics(100)
    rates = Rates(
        class_prior=np.array([0.5, 0.1, 0.1]),
        recall=np.array([0.9, 1.2, -0.1]),
        false_positive_rate=np.zeros(3),
        predicted_positive_rate=np.array([0.3, 0.4, 0.4]),
    )
    np.testing.assert_allclose(metrics["positives_caught"].formula(rates), [30, 10, 0])
    np.testing.assert_allclose(metrics["positives_missed"].formula(rates), [20, 0, 10])
    assert "money" not in metrics


def test_uncertainty_of_the_class_prior_is_in_the_money(table, found):
    known = decide_table(table, threshold=1.5, value=50, cost=4, class_prior=0.05).now["money"]
    uncertain = found.now["money"]
    assert known.value == uncertain.value
    assert known.high - known.low < 0.8 * (uncertain.high - uncertain.low)
    assert uncertain.se_prior > uncertain.se_sampling


@settings(max_examples=20, deadline=None)
@given(
    value=st.floats(0.5, 1e4),
    cost=st.floats(0.01, 100),
    times=st.floats(0.1, 10),
    threshold=st.sampled_from([1.5, 2.0]),
)
def test_money_rises_with_the_value_and_falls_with_the_cost(table, value, cost, times, threshold):
    problem = make_problem(table, ClassPriorEstimate.given(PRIOR))
    at = at_threshold(problem, threshold)

    def money(value, cost):
        return outcome_metrics(4000, value=value, cost=cost)["money"].estimate(at)

    one, dearer = money(value, cost), money(value, cost * 1.5)
    worth, scaled = money(value * 1.5, cost), money(value * times, cost * times)
    for end in ("low", "value", "high"):
        assert getattr(dearer, end) < getattr(one, end) < getattr(worth, end)
        assert getattr(scaled, end) == pytest.approx(times * getattr(one, end), rel=1e-9, abs=1e-6)


def test_along_the_thresholds_fewer_are_reviewed_caught_and_more_missed(found):
    for name, sign in (("reviews", -1), ("positives_caught", -1), ("positives_missed", 1)):
        curve = found.curves[f"{name}_by_threshold"]
        assert (sign * np.diff(curve.y) >= -1e-9).all()
        assert (curve.low <= curve.y).all()
        assert (curve.y <= curve.high).all()


@pytest.mark.parametrize("capacity", [0.0, 0.013, 0.1, 0.999, 37, 500, 4000, 9999])
def test_a_capacity_is_used_and_kept_to(table, capacity):
    problem = make_problem(table, ClassPriorEstimate.given(PRIOR))
    threshold = threshold_of_capacity(problem, capacity)
    most = capacity if capacity >= 1 else 4000 * capacity
    rows = table.labeled + table.unlabeled
    index = table.index_of_threshold(threshold)
    assert rows[index:].sum() <= most + 1e-9
    if index:
        assert rows[index - 1 :].sum() > most


def test_a_threshold_inside_a_cell_goes_to_its_nearer_end(table):
    wide = np.flatnonzero(table.upper[:-1] > table.lower[:-1])[3]
    low, high = table.lower[wide], table.lower[wide + 1]
    assert nearest_threshold(table, low + 0.1 * (table.upper[wide] - low)) == low
    assert nearest_threshold(table, table.upper[wide]) in (low, high)
    for one in (low, high, -99.0, 99.0):
        assert nearest_threshold(table, one) == one
    coarse = ScoreTable.from_counts([1, 5], [9, 9], edges=[0, 1, 2])
    assert nearest_threshold(coarse, 1.9) == np.nextafter(coarse.upper[-1], np.inf)


def test_what_cannot_be_read_is_refused(table):
    with pytest.raises(ValueError, match="value of a positive and the cost of a review: cost is"):
        decide_table(table, threshold=1.5, value=3, class_prior=0.05)
    with pytest.raises(ValueError, match="cost must satisfy 0 <= cost, got -1"):
        decide_table(table, threshold=1.5, value=3, cost=-1, class_prior=0.05)
    with pytest.raises(ValueError, match="give other_threshold or capacity, not both"):
        decide_table(table, threshold=1.5, other_threshold=2, capacity=3, class_prior=0.05)
    with pytest.raises(ValueError, match="capacity must satisfy 0 <= capacity, got -3"):
        decide_table(table, threshold=1.5, capacity=-3, class_prior=0.05)
    with pytest.raises(ValueError, match="cases must satisfy 0 < cases, got 0"):
        outcome_metrics(0)


def test_it_can_be_written_and_printed(found):
    written = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert written["chosen"]["threshold"] == 2.0
    assert written["best"]["criterion"] == "money"
    assert written["now"]["estimates"]["money"]["value"] == found.now["money"].value
    lines = str(found).splitlines()
    assert lines[0].split() == ["now", "chosen", "best"]
    assert lines[1].split()[:3] == ["threshold", "1.5", "2"]
    assert repr(found) == "<Decision over 4000 cases; print it>"
    alone = decide_table(found.problem.table, threshold=99.0, class_prior=0.05)
    assert alone.now["precision"].undefined_reason
    assert json.loads(json.dumps(alone.to_dict(), allow_nan=False))["chosen"] is None
