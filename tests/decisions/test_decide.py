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
from pumonitor.diagnostics.impossible_prior import doubted_estimates
from pumonitor.metrics.problem import make_problem
from pumonitor.metrics.rates import Rates, at_threshold
from pumonitor.report.decision_words import best_said
from pumonitor.results import ClassPriorEstimate
from pumonitor.tables import ScoreTable
from pumonitor.text import number_text

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


def test_caught_and_missed_say_why_they_do_not_add_up_with_recall():
    """1 of 8 confirmed positives is among 2 flagged: recall would be 12.5 of 100 positives."""
    small = ScoreTable.from_counts([7, 1], [991, 1], edges=[0.0, 0.8, 1.0])
    found = decide_table(small, threshold=0.8, value=50, cost=4, class_prior=0.1)
    now, said = found.now, "Precision came out at 6.25 ("
    assert now["recall"].value * 100 == pytest.approx(12.5)
    assert now["positives_caught"].value == pytest.approx(now["reviews"].value) == pytest.approx(2)
    assert now["positives_missed"].value == pytest.approx(98)
    assert set(now.reasons) == {"precision", "f1", "positives_caught", "positives_missed", "money"}
    assert all(said in why for why in now.reasons.values())
    assert now.reasons["positives_caught"].startswith(
        "recall would make it 12.5, but no more than 2 can be: "
    )
    # It is chance, so the class prior is not doubted, and no more than this threshold is.
    assert found.doubt is None
    assert ": by chance, or the class prior is wrong" in now.reasons["precision"]
    everything = decide_table(small, threshold=0.0, value=50, cost=4, class_prior=0.1)
    assert not everything.now.reasons
    assert "1.00! (" in str(found)
    assert "\n! now, money: computed with the positives caught held to 2: " in str(found)
    assert json.loads(json.dumps(found.to_dict()))["now"]["reasons"] == now.reasons


def test_to_review_nobody_is_sure_and_a_present_threshold_stands_by_itself(table):
    found = decide_table(table, threshold=1.5, value=10, cost=4, class_prior=PRIOR)
    best = found.best
    for name in ("reviews", "positives_caught", "money", "recall", "f1"):
        assert best[name].displayed == (0.0, 0.0, 0.0)
    assert (found.choice.low, found.choice.high) == best["money"].displayed[1:]
    assert best["positives_missed"].displayed == pytest.approx(
        tuple(found.cases * one for one in PRIOR), rel=0.05
    )
    assert best["precision"].undefined_reason is not None
    assert found.now["money"].displayed[1] < 0
    assert best_said(found).endswith("highest where nothing is reviewed.")
    # Its own interval is above 0, the wider one that holds at all thresholds at once is not.
    narrow = decide_table(table, threshold=2.88, value=11, cost=4, class_prior=PRIOR)
    low = narrow.now["money"].displayed[1]
    assert low > 0 > narrow.choice.band(narrow.now["money"])[0]
    assert narrow.best["reviews"].value == 0
    assert best_said(narrow).endswith(f"the bound of its own interval holds, {number_text(low)}.")


def test_an_impossible_class_prior_makes_all_that_stands_on_it_doubtful():
    """As `evaluate` says of the same rows, at every threshold."""
    table = ScoreTable.from_counts([2, 10, 28], [7000, 2500, 500], edges=[0.0, 0.2, 0.8, 1.0])
    found = decide_table(table, threshold=0.8, other_threshold=0.2, class_prior=0.3)
    estimates = pumonitor.evaluate_table(table, threshold=0.8, class_prior=0.3).estimates
    assert found.doubt == doubted_estimates(estimates, pure=True)["f1"]
    assert found.chosen.reasons["f1"] == found.chosen.reasons["positives_missed"] == found.doubt
    assert not {"recall", "reviews"} & set(found.chosen.reasons)
    assert best_said(found).endswith(f" That is evidence of nothing: {found.doubt}.")


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
    assert not any("e+" in line or "e-" in line for line in lines)
    assert lines[0].split() == ["now", "chosen", "best"]
    assert lines[1].split()[:3] == ["threshold", "1.5", "2"]
    assert repr(found) == "<Decision over 4000 cases; print it>"
    alone = decide_table(found.problem.table, threshold=99.0, class_prior=0.05)
    assert alone.now["precision"].undefined_reason
    assert json.loads(json.dumps(alone.to_dict(), allow_nan=False))["chosen"] is None
