"""Expected widths after a review, against beta distributions and against reviewing."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from pumonitor.decisions import decide_table, review_options, review_refusal
from pumonitor.decisions.reviews import _Believed, _expected, _split
from pumonitor.metrics.problem import make_problem
from pumonitor.results import ClassPriorEstimate
from pumonitor.tables import ScoreTable


def table_of(rows=20_000, seed=1, **options):
    rng = np.random.default_rng(seed)
    positive = rng.random(rows) < 0.05
    scores = rng.normal(2.0 * positive)
    labels = positive & (rng.random(rows) < 0.3)
    return ScoreTable.from_arrays(labels, scores, thresholds=(1.5,), **options)


@pytest.fixture(scope="module")
def problem():
    return make_problem(table_of(), ClassPriorEstimate.given((0.05, 0.03, 0.08)), rng=1)


@pytest.mark.parametrize(("where", "cases"), [("above", 40), ("below", 200), ("all", 120)])
def test_where_beliefs_are_beta_widths_are_those_of_the_conjugate(where, cases):
    rng = np.random.default_rng(2)
    beliefs = {"above": (6.0, 9.0), "below": (3.0, 90.0)}
    above, below = (rng.beta(*beliefs[one], size=4000) for one in ("above", "below"))
    believed = _Believed(
        above=above,
        below=below,
        rows=(1000, 3000),
        weights=(1000.0, 3000.0),
        metrics={"a": above, "b": below},
    )
    found = _expected(believed, where, cases, tail=0.025, rng=rng)
    split = {"above": (1, 0), "below": (0, 1), "all": (0.25, 0.75)}[where]
    reviewed = [round(cases * share) for share in split]
    for name, side, many in zip("ab", ("above", "below"), reviewed, strict=True):
        a, b = beliefs[side]
        hits = np.arange(many + 1)
        low, high = (stats.beta.ppf(q, a + hits, b + many - hits) for q in (0.025, 0.975))
        expected = float(np.sum(stats.betabinom.pmf(hits, many, a, b) * (high - low)))
        assert found.widths[name] == pytest.approx(expected, rel=0.06)
    assert found.cases == cases
    mean = [side[0] / sum(side) for side in beliefs.values()]
    assert found.positives == pytest.approx(np.dot(reviewed, mean), rel=0.05)


def test_after_a_review_the_class_prior_that_it_tells_gives_that_width(problem):
    """The truth is looked up in 1,000 cases above, and the class prior read from it, 25 times."""
    promised = review_options(problem, 1.5, 300).options[0].widths["precision"]
    rng = np.random.default_rng(0)
    truth = rng.choice(problem.prior_draws, size=25)
    index = problem.table.index_of_threshold(1.5)
    flagged = float(problem.population_above[index])
    recall = float(problem.labeled_above[index])
    widths = []
    for prior in truth:
        hits = rng.binomial(300, min(prior * recall / flagged, 1.0))
        low, high = stats.beta.ppf([0.025, 0.975], hits + 0.5, 300.5 - hits)
        widths.append(high - low)
    # Without what is believed beforehand, and of confirmed cases too.
    assert 0.6 * np.mean(widths) < promised < 1.05 * np.mean(widths)


def test_more_cases_tell_more_and_none_widens(problem):
    by_size = [review_options(problem, 1.5, cases) for cases in (10, 100, 1000)]
    for metric, now in by_size[0].now.items():
        for place in range(3):
            widths = [one.options[place].widths[metric] for one in by_size]
            assert widths[0] < 1.05 * now
            assert widths[2] < 1.02 * widths[1] < 1.04 * widths[0]


def test_reviews_above_tell_most_of_precision_and_those_below_of_nothing_above(problem):
    found = review_options(problem, 1.5, 200)
    assert found.best("precision").where == "above"
    above, below, both = found.options
    assert below.widths["precision"] > both.widths["precision"] > above.widths["precision"]
    # Which positives are flagged is told by the confirmed ones.
    assert above.widths["recall"] == pytest.approx(found.now["recall"], rel=0.05)
    assert above.positives > both.positives > below.positives


def test_no_more_cases_than_there_are(problem):
    found = {one.where: one for one in review_options(problem, 1.5, 2000).options}
    unlabeled = problem.table.unlabeled[problem.table.index_of_threshold(1.5) :].sum()
    assert found["above"].cases == unlabeled < 2000
    assert (found["below"].cases, found["all"].cases) == (2000, 2000)
    nothing = review_options(problem, 99.0, 50)
    assert nothing.options[0].cases == 0
    assert nothing.options[0].widths["recall"] == pytest.approx(nothing.now["recall"], rel=0.01)
    written = json.loads(json.dumps(nothing.to_dict(), allow_nan=False))
    assert written["now"]["precision"] is None


@pytest.mark.parametrize("weight", [0.01, 7.0])
def test_cases_are_rows_whatever_all_of_them_weigh(problem, weight):
    weighted = table_of(sample_weight=np.full(20_000, weight))
    assert problem.table.weights is None
    same = make_problem(weighted, problem.class_prior, rng=1)
    for cases in (300, 2000):
        found, expected = (review_options(one, 1.5, cases) for one in (same, problem))
        for one, other in zip(found.options, expected.options, strict=True):
            assert one.cases == other.cases
            assert one.positives == pytest.approx(other.positives, rel=0.02)
            assert one.widths["precision"] == pytest.approx(other.widths["precision"], rel=0.1)


def test_heavy_rows_above_are_picked_more_often_than_they_are_many():
    rng = np.random.default_rng(1)
    labels, scores = rng.random(2000) < 0.1, rng.random(2000)
    weight = np.where(scores >= 0.5, 3.0, 1.0)
    table = ScoreTable.from_arrays(labels, scores, thresholds=(0.5,), sample_weight=weight)
    weighted = make_problem(table, ClassPriorEstimate.given(0.2), rng=1)
    above, below, both = review_options(weighted, 0.5, 2000).options
    unlabeled = ~labels
    assert above.cases == (unlabeled & (scores >= 0.5)).sum()
    assert below.cases == (unlabeled & (scores < 0.5)).sum()
    # By their number 200 of 400 would be above; 3 of 4 are by weight.
    heavy = 3 * above.cases / (3 * above.cases + below.cases)
    assert _split("all", 400, _Believed.of(weighted, 0.5))[0] == round(400 * heavy) > 290
    assert both.cases <= above.cases + below.cases


def test_with_every_case_of_a_kind_reviewed_before_there_is_nothing_to_believe():
    """In case-control no row of the population is confirmed, so all count."""
    table = table_of()
    options = {"scenario": "case-control", "rng": 1}
    prior = ClassPriorEstimate.given((0.05, 0.03, 0.08))
    elsewhere = review_options(make_problem(table, prior, **options), 1.5, 200).options[0]
    here = review_options(make_problem(table, prior, rng=1), 1.5, 200).options[0]
    assert elsewhere.positives > 1.2 * here.positives


def test_what_cannot_be_answered_is_refused(problem):
    for cases in (0, 2001):
        with pytest.raises(ValueError, match=f"1 <= cases <= 2000, got {cases}"):
            review_options(problem, 1.5, cases)
    rng = np.random.default_rng(0)
    labels, scores = rng.random(500) < 0.1, rng.normal(size=500)
    weighted = ScoreTable.from_arrays(labels, scores, propensity=np.where(labels, 0.5, np.nan))
    found = decide_table(weighted, threshold=float(weighted.lower[9]), class_prior=0.4)
    with pytest.raises(ValueError, match="reviews are not compared where rows have propensities"):
        found.reviews(10)


def test_of_one_window_no_review_is_compared():
    found = decide_table(table_of(rows=2000), threshold=1.5, class_prior=0.05, target="window")
    with pytest.raises(ValueError, match='reviews are compared for the target "process" only'):
        found.reviews(10)
    assert review_refusal(replace(found.problem, target="process")) == ""
