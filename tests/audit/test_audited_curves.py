"""Average precision, best thresholds, the top of the list and curves by the draws of an audit."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, f1_score, precision_score, recall_score

import pumonitor
from pumonitor import audit_plan
from pumonitor.audit.bins import score_bins
from pumonitor.audit.counts import AuditCounts
from pumonitor.audit.evaluated import AUDITED, AUDITED_ROWS
from pumonitor.audit.frequency import UNKNOWN
from pumonitor.audit.posterior import AuditPosterior
from pumonitor.audited_curves import audited_curves, audited_estimates
from pumonitor.metrics.f_beta import F1
from pumonitor.metrics.problem import Problem, make_problem
from pumonitor.results import ClassPriorEstimate
from pumonitor.tables import ScoreTable

ROWS, THRESHOLD = 1500, 1.5


@pytest.fixture(scope="module")
def known() -> tuple[np.ndarray, np.ndarray, Problem, AuditPosterior]:
    """An audit that knows every positive: all are confirmed, and none is hidden."""
    return _known(decimals=2)


def _known(*, decimals: int) -> tuple[np.ndarray, np.ndarray, Problem, AuditPosterior]:
    rng = np.random.default_rng(3)
    positive = rng.random(ROWS) < 0.2
    scores = rng.normal(1.2 * positive).round(decimals)
    table = ScoreTable.from_arrays(positive, scores, thresholds=(THRESHOLD,))
    bins = score_bins(table, threshold=THRESHOLD)
    shape = (5, len(bins.rows))
    posterior = AuditPosterior(
        counts=AuditCounts.of(bins, decided=0, positive=0),
        believed=UNKNOWN,
        line=np.zeros((3, 5)),
        p=np.full(shape, 0.5),
        e=np.full(shape, 0.5),
        positives=np.tile(bins.labeled.astype(float), (5, 1)),
        concordance=np.full(shape, 0.5),
    )
    prior = ClassPriorEstimate.given(float(positive.mean()))
    return scores, positive, make_problem(table, prior, target="window"), posterior


def best_f1(positive: np.ndarray, scores: np.ndarray) -> float:
    """Over all thresholds, each of which flags all rows of a score or none."""
    order = np.argsort(-scores, kind="stable")
    found, flagged = np.cumsum(positive[order]), np.arange(1, len(scores) + 1)
    last = np.append(np.diff(scores[order]) != 0, True)
    return float((2 * found / (flagged + found[-1]))[last].max())


def test_where_every_positive_is_known_they_are_those_of_scikit_learn(known) -> None:
    scores, positive, problem, posterior = known
    found = audited_estimates(problem, posterior, threshold=THRESHOLD, top_k=0.2)
    tops = np.argsort(-scores, kind="stable")[: ROWS // 5]
    best = best_f1(positive, scores)
    close = {"abs": 4e-3}
    assert found["average_precision"].value == pytest.approx(
        average_precision_score(positive, scores), **close
    )
    assert found["f1_max"].value == pytest.approx(best, **close)
    at_best = found["f1_max_threshold"].value
    assert f1_score(positive, scores >= at_best) == pytest.approx(best, **close)
    assert found["precision_at_k"].value == pytest.approx(positive[tops].mean(), **close)
    assert found["recall_at_k"].value == pytest.approx(
        positive[tops].sum() / positive.sum(), **close
    )
    assert found["lift_at_k"].value == pytest.approx(found["recall_at_k"].value / 0.2)
    assert all(one.low == one.value == one.high for one in found.values())


def test_average_precision_of_tied_scores_is_that_of_scikit_learn() -> None:
    scores, positive, problem, posterior = _known(decimals=0)
    assert len(np.unique(scores)) < 10
    found = audited_estimates(problem, posterior, threshold=THRESHOLD, top_k=0.2)
    assert found["average_precision"].value == pytest.approx(
        average_precision_score(positive, scores), abs=1e-12
    )


def test_curves_pass_through_the_rates_of_scikit_learn(known) -> None:
    scores, positive, problem, posterior = known
    curves = audited_curves(problem, posterior, threshold=THRESHOLD, metrics=(F1,))
    by = curves["f1_by_threshold"]
    for at in range(5, len(by.x), 20):
        assert by.y[at] == pytest.approx(f1_score(positive, scores >= by.x[at]), abs=5e-3)
    flagged = scores >= THRESHOLD
    recall, precision = recall_score(positive, flagged), precision_score(positive, flagged)
    shown = curves["precision_recall"]
    assert np.interp(recall, shown.x, shown.y) == pytest.approx(precision, abs=0.01)
    lift = curves["lift"]
    assert np.interp(flagged.mean(), lift.x, lift.y) == pytest.approx(recall, abs=0.01)


@pytest.fixture(scope="module")
def unfair() -> tuple[np.ndarray, np.ndarray, pumonitor.Evaluation]:
    """High scores are confirmed five times as often as low ones."""
    rng = np.random.default_rng(7)
    size = 8000
    positive = rng.random(size) < 0.08
    scores = rng.normal(2.0 * positive).round(3)
    labels = (positive & (rng.random(size) < np.where(scores >= 2.2, 0.6, 0.12))).astype(int)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(audit_plan, "AUDITS", 2)
        plan = pumonitor.plan_audit(labels, scores, threshold=2.0, cases=250, class_prior=0.08)
    drawn = pumonitor.draw_audit(range(size), labels, scores, plan=plan, seed="March")
    verdicts = {case.id: int(positive[int(case.id)]) for case in drawn.cases}
    audit = pumonitor.read_verdicts(drawn, verdicts)
    return scores, positive, pumonitor.evaluate(labels, scores, threshold=2.0, audit=audit)


def test_they_hold_the_truth_where_labels_are_unfair(unfair) -> None:
    scores, positive, ev = unfair
    tops = np.argsort(-scores, kind="stable")[: len(scores) // 10]
    true = {
        "average_precision": average_precision_score(positive, scores),
        "f1_max": best_f1(positive, scores),
        "precision_at_k": positive[tops].mean(),
        "recall_at_k": positive[tops].sum() / positive.sum(),
    }
    for name, value in true.items():
        assert ev[name].low < value < ev[name].high
    by = ev.curves["f1_by_threshold"]
    held = [
        low <= f1_score(positive, scores >= at) <= high
        for at, low, high in zip(by.x[::10], by.low[::10], by.high[::10], strict=True)
    ]
    assert np.mean(held) >= 0.9


def test_all_estimates_of_an_audit_agree(unfair) -> None:
    ev = unfair[2]
    assert {name for name, one in ev.estimates.items() if one.method == "audit"} == {
        *AUDITED,
        *AUDITED_ROWS,
    }
    assert ev.audit.to_dict()["audited"] == [*AUDITED, *AUDITED_ROWS]
    assert ev["f1_max"].value >= ev["f1"].value - 1e-9
    assert ev["mcc_max"].value >= ev["mcc"].value - 1e-9
    prior, recall = ev["class_prior"].value, ev["recall_at_k"].value
    assert ev["precision_at_k"].value == pytest.approx(10 * prior * recall, rel=0.05)
    by = ev.curves["f1_by_threshold"]
    # A curve has the cell that begins at the threshold.
    assert by.y[np.searchsorted(by.x, 2.0)] == pytest.approx(ev["f1"].value, abs=0.01)
    assert np.trapezoid(ev.curves["roc"].y, ev.curves["roc"].x) == pytest.approx(
        ev["auc"].value, abs=0.02
    )
