"""With every positive labeled and the true prior given, each metric is scikit-learn's."""

import numpy as np
import pytest
from sklearn import metrics as reference

import pumonitor
from benchmarks.contingency import of_counts
from pumonitor.metrics import THRESHOLD_METRICS
from tests.given_labels import labels_as_given
from tests.oracles import pairs

THRESHOLD = 0.9


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(20)
    is_positive = rng.random(1703) < 0.23
    # One decimal makes many ties; a skewed negative score breaks symmetry.
    scores = np.round(np.where(is_positive, rng.normal(1.4, 1.3, 1703), rng.gumbel(size=1703)), 1)
    return is_positive, scores, rng.integers(1, 6, 1703).astype(float)


def expected(y, scores, threshold, weight=None):
    flagged = scores >= threshold
    w = {"sample_weight": weight}
    return {
        "auc": reference.roc_auc_score(y, scores, **w),
        "average_precision": reference.average_precision_score(y, scores, **w),
        "recall": reference.recall_score(y, flagged, **w),
        "precision": reference.precision_score(y, flagged, **w),
        "specificity": reference.recall_score(~y, ~flagged, **w),
        "f1": reference.f1_score(y, flagged, **w),
        "f_beta": reference.fbeta_score(y, flagged, beta=2, **w),
        "accuracy": reference.accuracy_score(y, flagged, **w),
        "balanced_accuracy": reference.balanced_accuracy_score(y, flagged, **w),
        "mcc": reference.matthews_corrcoef(y, flagged, **w),
    }


@pytest.mark.parametrize("target", ["process", "window"])
def test_every_metric_when_all_positives_are_labeled(data, target):
    y, scores, _ = data
    ev = pumonitor.evaluate(
        y, scores, threshold=THRESHOLD, class_prior=float(y.mean()), target=target
    )
    for name, value in expected(y, scores, THRESHOLD).items():
        assert ev[name].value == pytest.approx(value, abs=1e-12), name


def test_every_metric_of_a_decision_is_that_of_its_counts(data):
    y, scores, _ = data
    ev = pumonitor.evaluate(y, scores, threshold=THRESHOLD, class_prior=float(y.mean()))
    truth = of_counts(*pairs.table_at(y.tolist(), scores.tolist(), THRESHOLD))
    for metric in THRESHOLD_METRICS:
        assert ev[metric.name].value == pytest.approx(truth[metric.name], abs=1e-12), metric.name


def test_every_metric_with_sample_weights(data):
    y, scores, weight = data
    prior = float(np.sum(weight * y) / np.sum(weight))
    ev = pumonitor.evaluate(y, scores, threshold=THRESHOLD, class_prior=prior, sample_weight=weight)
    for name, value in expected(y, scores, THRESHOLD, weight).items():
        assert ev[name].value == pytest.approx(value, abs=1e-12), name


def test_confirmed_negatives_are_the_other_class(data):
    y, scores, _ = data
    labels = y.astype(int)
    labels[np.flatnonzero(~y)[:300]] = -1
    ev = pumonitor.evaluate(labels, scores, threshold=THRESHOLD, class_prior=float(y.mean()))
    for name, value in expected(y, scores, THRESHOLD).items():
        assert ev[name].value == pytest.approx(value, abs=1e-12), name


def test_case_control_with_all_positives_drawn(data):
    """Labeled rows are the same positives once more; all but average precision are exact.

    Average precision in case-control takes labeled rows to be a sample of their own.
    """
    y, scores, _ = data
    labels = np.concatenate([np.ones(y.sum()), np.zeros(len(y))])
    ev = pumonitor.evaluate(
        labels,
        np.concatenate([scores[y], scores]),
        threshold=THRESHOLD,
        class_prior=float(y.mean()),
        scenario="case-control",
    )
    for name, value in expected(y, scores, THRESHOLD).items():
        tolerance = 0.02 if name == "average_precision" else 1e-12
        assert ev[name].value == pytest.approx(value, abs=tolerance), name


def test_uncorrected_metrics_are_those_of_labeled_against_the_rest(data):
    y, scores, _ = data
    labeled = y & (np.arange(len(y)) % 3 == 0)
    ev = pumonitor.evaluate(labeled, scores, threshold=THRESHOLD, class_prior=float(y.mean()))
    naive = expected(labeled, scores, THRESHOLD)
    for name in ("auc", "average_precision", "f1", "accuracy", "balanced_accuracy", "mcc"):
        assert ev[f"{name}_pu"].value == pytest.approx(naive[name], abs=1e-12), name


def test_maxima_are_those_over_all_thresholds(data):
    y, scores, _ = data
    ev = pumonitor.evaluate(y, scores, class_prior=float(y.mean()), target="window")
    by_threshold = {t: expected(y, scores, t) for t in np.unique(scores)}
    for name in ("f1", "balanced_accuracy", "mcc"):
        best = max(values[name] for values in by_threshold.values())
        assert ev[f"{name}_max"].value == pytest.approx(best, abs=1e-12)
        at = ev[f"{name}_max_threshold"].value
        assert by_threshold[at][name] == pytest.approx(best, abs=1e-12)
    nothing_flagged = 1 - y.mean()
    best = max(nothing_flagged, *(values["accuracy"] for values in by_threshold.values()))
    assert ev["accuracy_max"].value == pytest.approx(best, abs=1e-12)


def test_top_k_without_ties_counts_the_k_highest_rows():
    rng = np.random.default_rng(3)
    y = rng.random(500) < 0.3
    scores = rng.normal(y * 1.0)
    ev = pumonitor.evaluate(y, scores, class_prior=float(y.mean()), top_k=37)
    hits = y[np.argsort(-scores)[:37]].sum()
    assert ev["precision_at_k"].value == pytest.approx(hits / 37, abs=1e-12)
    assert ev["recall_at_k"].value == pytest.approx(hits / y.sum(), abs=1e-12)
    assert ev["lift_at_k"].value == pytest.approx(hits / y.sum() / (37 / 500), abs=1e-12)


@pytest.mark.parametrize("rows", [30, 200, 1000])
def test_areas_without_ties_and_a_good_ranking(rows):
    """Rounding must not undo a vertical step of the curve that average precision is read from."""
    for seed in range(20):
        rng = np.random.default_rng([rows, seed])
        positive = rng.random(rows) < 0.3
        scores = rng.normal(2.2 * positive)
        with labels_as_given():
            ev = pumonitor.evaluate(positive, scores, class_prior=float(positive.mean()))
        assert ev["auc"].value == pytest.approx(
            reference.roc_auc_score(positive, scores), abs=1e-12
        )
        assert ev["average_precision"].value == pytest.approx(
            reference.average_precision_score(positive, scores), abs=1e-12
        )
