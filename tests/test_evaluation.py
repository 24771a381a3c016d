"""The Evaluation: what is in it, how it is written down, its curves."""

import json

import numpy as np
import pytest

import pumonitor
from pumonitor.metrics import THRESHOLD_METRICS
from pumonitor.names import TITLES, VALUE
from tests.oracles import pairs


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(12)
    is_positive = rng.random(8000) < 0.1
    return is_positive, is_positive & (rng.random(8000) < 0.4), rng.normal(2.0 * is_positive)


@pytest.fixture(scope="module")
def ev(data):
    _, labels, scores = data
    return pumonitor.evaluate(labels, scores, threshold=1.5, class_prior=(0.1, 0.09, 0.11))


def test_all_names_are_there(ev):
    assert sorted(ev.estimates) == sorted(set(TITLES) - set(VALUE))
    assert {metric.name for metric in THRESHOLD_METRICS} < set(ev.estimates)


def test_written_as_json_without_nan(ev):
    written = json.loads(json.dumps(ev.to_dict(), allow_nan=False))
    assert written["schema_version"] == 1
    assert set(written) == {
        "schema_version",
        "assumption",
        "settings",
        "class_prior",
        "estimates",
        "bounds",
        "warnings",
        "curves",
    }
    assert set(written["estimates"]["f1"]) == {
        "name", "value", "low", "high", "se", "se_sampling", "se_prior", "prior_bias",
        "confidence_level", "method", "n_labeled", "n_unlabeled", "undefined_reason",
        "infeasible",
    }  # fmt: skip


def test_written_as_json_in_the_worst_case():
    ev = pumonitor.evaluate([1, 1, 0], [0.3, 0.3, 0.1], threshold=5.0, class_prior=0.9)
    json.dumps(ev.to_dict(), allow_nan=False)


def test_frame_has_a_row_per_estimate(ev):
    frame = ev.to_frame()
    assert list(frame.index) == list(ev.estimates)
    assert frame.loc["auc", "value"] == ev["auc"].value


def test_estimates_cannot_be_changed(ev):
    with pytest.raises(TypeError):
        ev.estimates["f1"] = None


def test_the_same_data_give_the_same_evaluation(data):
    _, labels, scores = data
    first, second = (
        pumonitor.evaluate(labels, scores, class_prior=0.1).to_dict() for _ in range(2)
    )
    assert first == second


def test_roc_curve_is_that_of_the_true_classes(data, ev):
    is_positive, _, scores = data
    curve = ev.curves["roc"]
    negatives = np.sort(scores[~is_positive])
    thresholds = np.quantile(negatives, 1 - curve.x[1:-1])
    truth = np.array([np.mean(scores[is_positive] >= t) for t in thresholds])
    inside = (curve.low[1:-1] <= truth) & (truth <= curve.high[1:-1])
    assert np.mean(inside) > 0.9
    assert np.abs(curve.y[1:-1] - truth).max() < 0.12
    assert (np.diff(curve.y) >= 0).all()


def test_area_under_the_lift_curve_is_aul(ev):
    curve = ev.curves["lift"]
    assert np.trapezoid(curve.y, curve.x) == pytest.approx(ev["aul"].value, abs=0.004)


def test_area_under_the_roc_curve_is_auc(ev):
    curve = ev.curves["roc"]
    assert np.trapezoid(curve.y, curve.x) == pytest.approx(ev["auc"].value, abs=0.01)


def test_metrics_by_threshold_hold_the_estimate_at_the_threshold(ev):
    for name in ("recall", "precision", "specificity", "f1", "mcc", "accuracy"):
        curve = ev.curves[f"{name}_by_threshold"]
        at = int(np.searchsorted(curve.x, 1.5))
        assert curve.y[at] == pytest.approx(ev[name].value, abs=1e-12), name
        assert curve.low[at] == pytest.approx(ev[name].low, abs=0.03), name
        assert curve.high[at] == pytest.approx(ev[name].high, abs=0.03), name


def test_precision_recall_curve_is_near_the_truth(data, ev):
    is_positive, _, scores = data
    curve = ev.curves["precision_recall"]
    ranked = np.sort(scores[is_positive])[::-1]
    at = [ranked[max(int(np.ceil(r * len(ranked))) - 1, 0)] for r in curve.x]
    truth = []
    for t in at:
        tp, fp, _, _ = pairs.table_at(is_positive.tolist(), scores.tolist(), t)
        truth.append(tp / (tp + fp))
    later = curve.x > 0.1
    inside = (curve.low <= truth) & (np.array(truth) <= curve.high)
    assert np.mean(inside[later]) > 0.85


def test_score_histogram_sums_to_one(ev):
    assert ev.scores["labeled"].sum() == pytest.approx(1)
    assert ev.scores["unlabeled"].sum() == pytest.approx(1)
    assert len(ev.scores["edges"]) == len(ev.scores["labeled"]) + 1


def test_printed_as_one_line_per_estimate(ev):
    lines = str(ev).splitlines()
    assert len(lines) == 1 + len(ev.estimates)
    assert lines.pop(0) == ev.assumption.sentence
    assert lines[4].startswith("aul 0.")


@pytest.mark.parametrize("method", ["auto", "distcurve"])
def test_an_estimated_class_prior_has_one_interval(data, method):
    _, labels, scores = data
    estimated = pumonitor.estimate_class_prior(labels, scores, method=method)
    for given in (method, estimated):
        evaluated = pumonitor.evaluate(labels, scores, threshold=1.5, class_prior=given)
        shown, made = evaluated["class_prior"], evaluated.class_prior
        assert (shown.low, shown.value, shown.high) == (made.low, made.value, made.high)
        # Cells have an edge at the threshold here and not there, which moves the estimate a little.
        assert (made.low, made.value, made.high) == pytest.approx(
            (estimated.low, estimated.value, estimated.high), rel=1e-6
        )
