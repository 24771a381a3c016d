"""`evaluate` and `decide` with reviews: what they hand back, and what they say of it."""

import json
import math

import numpy as np
import pytest

import pumonitor
from benchmarks.reviews.windows import Cell, counts_of, draw_window
from pumonitor import Reviews
from pumonitor.reviews import KINDS
from pumonitor.reviews.reading import read_reviews
from pumonitor.text import percent_text
from tests.reviews.made_up_queue import read, window

CASE = window(21, rows=6000, class_prior=0.03)
FLAGGED = CASE.scores >= 2.0


def reading_of(case=CASE, *, reviews=None, complained=None, **settings):
    given = Reviews(case.verdicts, blocks=True) if reviews is None else reviews
    labels = case.complained if complained is None else complained
    return read(labels, case.scores, given, **settings)


@pytest.fixture(scope="module")
def evaluation():
    return pumonitor.evaluate(
        CASE.complained, CASE.scores, threshold=2.0, reviews=Reviews(CASE.verdicts, blocks=True)
    )


@pytest.fixture(scope="module")
def decision():
    return pumonitor.decide(
        CASE.complained,
        CASE.scores,
        threshold=2.0,
        capacity=200,
        value=30.0,
        cost=2.0,
        reviews=Reviews(CASE.verdicts, blocks=True),
    )


def sentences(reading):
    return {finding.name: finding.sentence for finding in reading.findings}


def test_estimates_are_those_of_the_draws(evaluation):
    drawn = evaluation.reviews.posterior.metrics()
    for name in ("class_prior", "recall", "precision", "auc", "f1"):
        estimate = evaluation[name]
        assert estimate.method == "reviews"
        assert estimate.value == pytest.approx(np.median(drawn[name]))
        assert (estimate.low, estimate.high) == pytest.approx(
            tuple(np.quantile(drawn[name], [0.025, 0.975]))
        )
    truth = (FLAGGED & CASE.is_positive).sum() / CASE.is_positive.sum()
    assert evaluation["recall"].low <= truth <= evaluation["recall"].high


def test_a_higher_confidence_level_widens_and_keeps_the_middle(evaluation):
    wider = reading_of(confidence_level=0.99).estimates
    for name in ("class_prior", "recall", "auc"):
        assert wider[name].value == evaluation[name].value
        assert wider[name].low < evaluation[name].low
        assert wider[name].high > evaluation[name].high


def test_there_are_no_bounds_and_no_other_class_priors(evaluation):
    assert all(
        math.isnan(bound.low) or bound.undefined_reason for bound in evaluation.bounds.values()
    )
    assert evaluation.at_priors is None
    message = (
        "the class prior of this evaluation is what reviews say, together with all other "
        "estimates: evaluate without reviews to ask for other class priors"
    )
    with pytest.raises(ValueError, match=message):
        evaluation.sensitivity("recall", class_priors=[0.01, 0.02])


def test_the_evaluation_is_plain_json_with_the_reviews_in_it(evaluation):
    plain = json.loads(json.dumps(evaluation.to_dict(), allow_nan=False))
    told = plain["reviews"]
    assert told["blocks"] is True
    assert told["rules"] == []
    assert told["complaint_rate"] is None
    assert told["target"] == plain["settings"]["target"] == "window"
    assert set(told["rows"]) == set(KINDS)
    assert sum(told["rows"].values()) == len(CASE.scores)
    assert told["rows"]["open_complained"] == CASE.complained.sum()
    assert told["rows"]["positive_silent"] == np.nansum(CASE.verdicts)
    assert told["cuts"] == [CASE.scores[~np.isnan(CASE.verdicts)].min()]
    assert 500 < told["independent_draws"] <= 4000
    assert sum(row["rows"] for row in told["bins"]) == len(CASE.scores)
    assert sum(row["complained"] for row in told["bins"]) == CASE.complained.sum()
    assert sum(row["decided"] for row in told["bins"]) == np.isfinite(CASE.verdicts).sum()
    assert "audit" not in plain


def test_the_frame_has_the_estimates_by_reviews(evaluation):
    recall = evaluation.to_frame().loc["recall"]
    estimate = evaluation["recall"]
    assert recall["method"] == "reviews"
    assert tuple(recall[["value", "low", "high"]]) == (estimate.value, estimate.low, estimate.high)


def test_the_class_prior_says_where_it_comes_from(evaluation):
    prior = evaluation.class_prior
    assert prior.method == "reviews"
    assert prior.diagnostics == {"reviews": "reviews"}
    assert prior.low < CASE.is_positive.mean() < prior.high


def test_a_stated_rate_of_complaints_narrows(evaluation):
    stated = reading_of(complaint_rate=(0.45, 0.55))
    width = [
        each["class_prior"].high - each["class_prior"].low
        for each in (evaluation, stated.estimates)
    ]
    assert width[1] < 0.8 * width[0]
    assert stated.to_dict()["complaint_rate"] == [0.45, 0.55]


def test_a_rate_of_complaints_is_about_rows_without_a_review():
    """Positives above the cut all complain: the rate of the others is as stated all the same."""
    case = window(22, rows=20_000, class_prior=0.03, complaint_rate=0.4, blocks=False)
    in_queue = ~np.isnan(case.verdicts)
    complained = case.complained | (in_queue & case.is_positive)
    reviews = Reviews(case.verdicts, blocks=False)
    drawn = reading_of(
        case, reviews=reviews, complained=complained, complaint_rate=(0.39, 0.41)
    ).posterior
    below = drawn.counts.reviewed == 0
    share = drawn.counts.open_complained.sum() / drawn.positives[:, below].sum(axis=1)
    assert np.median(share) == pytest.approx(0.4, abs=0.03)


def test_an_evaluation_of_rows_that_were_all_reviewed_is_exact():
    case = window(24, rows=500, reviewed=1.0, class_prior=0.1)
    known = pumonitor.evaluate(
        case.complained, case.scores, threshold=2.0, reviews=Reviews(case.verdicts, blocks=True)
    )
    flagged = case.scores >= 2.0
    recall = (flagged & case.is_positive).sum() / case.is_positive.sum()
    for end in ("low", "value", "high"):
        assert getattr(known["recall"], end) == pytest.approx(recall, abs=1e-12)
    assert "complaints_below_the_cut" not in sentences(known.reviews)


def test_reviewers_who_miss_positives_leave_more_hidden(evaluation):
    missing = reading_of(reviews=Reviews(CASE.verdicts, blocks=True, detection_rate=(0.6, 0.7)))
    precision = missing.estimates["precision"]
    assert precision.value > 1.2 * evaluation["precision"].value
    assert precision.high > precision.low
    assert missing.posterior.s.mean() == pytest.approx(0.65, abs=0.05)


def test_cleared_cases_that_complain_are_positives_and_a_note():
    case = window(23, rows=20_000, class_prior=0.03, found=0.8)
    found = reading_of(case)
    mistaken = case.complained & (case.verdicts == 0)
    assert mistaken.sum() > 5
    assert sentences(found)["cleared_and_complained"] == (
        f"{mistaken.sum()} rows complained after they had been cleared: reviewers miss positives, "
        "and all estimates allow for that."
    )
    truth = case.is_positive[case.scores >= 2.0].mean()
    assert found.estimates["precision"].low <= truth <= found.estimates["precision"].high


def test_complaints_of_blocked_rows_are_a_warning():
    complained = CASE.complained.copy()
    blocked = np.flatnonzero(CASE.verdicts == 1)[:3]
    complained[blocked] = True
    found = reading_of(complained=complained)
    assert sentences(found)["blocked_and_complained"] == (
        "3 rows complained after a positive verdict, which was said to block them. If labels hold "
        "the verdicts too, give complaints alone. Only if these cases did complain all the same, "
        "say that review does not block."
    )


def test_what_lies_below_the_cut_is_a_note(evaluation):
    assert sentences(evaluation.reviews)["complaints_below_the_cut"].endswith(
        "recall is lower than its interval. A week with a lower cut, or an audit, tells."
    )


@pytest.mark.parametrize(("share", "severity"), [(0.1, "note"), (0.5, "warning")])
def test_stopped_rows_are_told_of(share, severity):
    rng = np.random.default_rng(6)
    stopped = FLAGGED & np.isnan(CASE.verdicts) & ~CASE.complained
    stopped &= rng.random(len(FLAGGED)) < share
    found = reading_of(reviews=Reviews(CASE.verdicts, blocks=True, stopped=stopped))
    told = {finding.name: finding for finding in found.findings}["stopped_unseen"]
    assert told.severity == severity
    assert told.sentence.startswith(
        f"{percent_text(stopped[FLAGGED].mean())} of the flagged rows were stopped"
    )


def test_rules_are_named_and_do_not_change_the_others():
    rng = np.random.default_rng(9)
    ruled = np.isnan(CASE.verdicts) & CASE.is_positive & ~CASE.complained & (rng.random(6000) < 0.5)
    reviews = Reviews(
        np.where(ruled, 1.0, CASE.verdicts),
        blocks=True,
        chosen_by=np.where(ruled, "large amount", "score"),
    )
    found = reading_of(reviews=reviews)
    assert (
        "Rows chosen by large amount are read as chosen by rules"
        in sentences(found)["reviewed_by_rules"]
    )
    assert found.to_dict()["rules"] == ["large amount"]
    assert found.estimates["class_prior"].low * 6000 >= ruled.sum()
    assert (
        found.estimates["class_prior"].low
        <= CASE.is_positive.mean()
        <= found.estimates["class_prior"].high
    )


def test_undecided_rows_widen_what_they_leave_open():
    rng = np.random.default_rng(10)
    left = ~np.isnan(CASE.verdicts) & (rng.random(6000) < 0.3)
    verdicts = np.where(left, "undecided", np.where(np.isnan(CASE.verdicts), "", "0"))
    verdicts[(CASE.verdicts == 1) & ~left] = "1"
    found = reading_of(reviews=Reviews(verdicts, blocks=True))
    as_the_decided = found.posterior.estimates(method="reviews")
    assert found.estimates["precision"].low < as_the_decided["precision"].low - 0.01
    assert found.estimates["precision"].high > as_the_decided["precision"].high + 0.01
    assert found.estimates["precision"].value == as_the_decided["precision"].value
    assert found.to_dict()["rows"]["undecided_silent"] == left.sum()


def test_a_decision_stands_on_the_same_draws(evaluation, decision):
    assert decision.now["recall"].value == pytest.approx(evaluation["recall"].value, rel=0.01)
    assert decision.now["precision"].value == pytest.approx(evaluation["precision"].value, rel=0.01)
    truth = (FLAGGED & CASE.is_positive).sum()
    caught = decision.now["positives_caught"]
    assert caught.method == "reviews"
    assert caught.low <= truth <= caught.high
    assert decision.chosen["reviews"].value <= 200
    assert decision.now["money"].value <= decision.best["money"].high
    json.dumps(decision.to_dict(), allow_nan=False)


def test_a_decision_by_reviews_plans_no_audit(decision):
    message = "what more reviews would narrow is planned for audits: pumonitor.plan_audit"
    with pytest.raises(ValueError, match=message):
        decision.reviews(100)


@pytest.mark.parametrize("threshold", [-9.0, 2.0, 2.6])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_estimates_at_the_threshold_lie_on_the_curves(threshold, seed):
    case = window(seed)
    ev = pumonitor.evaluate(
        case.complained,
        case.scores,
        threshold=threshold,
        reviews=pumonitor.Reviews(case.verdicts, blocks=True),
    )
    points = {
        "precision_recall": (ev["recall"].value, ev["precision"].value),
        "roc": (1 - ev["specificity"].value, ev["recall"].value),
        "lift": (ev["predicted_positive_rate"].value, ev["recall"].value),
    }
    for name, (x, y) in points.items():
        curve = ev.curves[name]
        assert np.all(np.diff(curve.x) > 0)
        assert np.interp(x, curve.x, curve.y) == pytest.approx(y, abs=0.002), name
        assert np.all((curve.low <= curve.y) & (curve.y <= curve.high))


@pytest.mark.parametrize("blocks", [True, False])
@pytest.mark.parametrize("complained_by_now", [0.0, 0.1])
def test_before_complaints_have_come_recall_is_not_too_high_for_sure(blocks, complained_by_now):
    cell = Cell(blocks=blocks, complains=max(0.6 * complained_by_now, 1e-9))
    wide, held = [], []
    for run in range(6):
        window = draw_window(cell, np.random.default_rng([33, run]))
        truth = window.truth()
        estimates = read_reviews(counts_of(window), is_early=True).estimates
        held += [
            estimates[metric].low <= truth[metric] <= estimates[metric].high
            for metric in ("recall", "class_prior", "f1")
        ]
        wide.append(estimates["recall"].high - estimates["recall"].low)
        # What the queue has decided is known as surely as ever.
        assert estimates["precision"].high - estimates["precision"].low < 0.3
    # The three go together, and of 24 windows one is missed by 95% intervals. As if labels were
    # mature, 15 of 24 would be.
    assert sum(held) >= 15
    assert 0.3 < np.median(wide) < 0.85


def test_a_stated_rate_is_of_the_maturity_and_plays_no_part_before():
    window = draw_window(Cell(complains=0.06), np.random.default_rng(34))
    counts = counts_of(window)
    early = read_reviews(counts, is_early=True)
    stated = read_reviews(counts, is_early=True, complaint_rate=(0.5, 0.7))
    assert stated.estimates["recall"].low == early.estimates["recall"].low
