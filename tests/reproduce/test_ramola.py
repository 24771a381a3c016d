"""Ramola et al.: the case study exactly, the errors of Figure 2 against scikit-learn."""

from functools import partial

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    f1_score,
    matthews_corrcoef,
)

from benchmarks.reproduce import ramola as paper
from benchmarks.reproduce.data import available
from benchmarks.reproduce.models import out_of_bag_scores

MEASURES = {
    "accuracy": accuracy_score,
    "balanced_accuracy": balanced_accuracy_score,
    "f1": f1_score,
    "mcc": matthews_corrcoef,
}
LOWEST = {"accuracy": 0.0, "balanced_accuracy": 0.5, "f1": 0.0, "mcc": -1.0}


def silent(done, total):
    assert 0 < done <= total


def simulated(*, labeled, unlabeled, prior, purity, seed, apart=2.0):
    """Labels, scores and classes of two normals."""
    rng = np.random.default_rng(seed)
    positive = np.concatenate(
        [
            np.arange(labeled) < round(purity * labeled),
            np.arange(unlabeled) < round(prior * unlabeled),
        ]
    )
    return np.arange(labeled + unlabeled) < labeled, rng.normal(apart * positive), positive


def test_figure_1_has_all_sixteen_printed_numbers():
    figures = paper._figure_1(1, silent).figures
    assert len(figures) == 16
    assert {
        figure.name: (figure.ours, figure.printed) for figure in figures if not figure.inside
    } == {}


def test_corrected_curves_of_figure_1_are_those_of_the_two_classes():
    thresholds, curves = paper.case_study(0.25)
    recall, false = norm.cdf(1 - thresholds), norm.cdf(-1 - thresholds)
    true_positive, false_positive = 0.3 * recall, 0.7 * false
    false_negative, true_negative = 0.3 - true_positive, 0.7 - false_positive
    assert curves["accuracy", ""] == pytest.approx(true_positive + true_negative, abs=1e-12)
    assert curves["balanced_accuracy", ""] == pytest.approx((recall + 1 - false) / 2, abs=1e-12)
    assert curves["f1", ""] == pytest.approx(
        true_positive / (true_positive + (false_positive + false_negative) / 2), abs=1e-12
    )
    flagged = true_positive + false_positive
    assert curves["mcc", ""] == pytest.approx(
        (true_positive * true_negative - false_positive * false_negative)
        / np.sqrt(flagged * (1 - flagged) * 0.3 * 0.7),
        abs=1e-9,
    )


def test_balanced_accuracy_and_mcc_keep_their_threshold_without_correction():
    thresholds, curves = paper.case_study(0.25)
    where = {key: thresholds[np.argmax(curve)] for key, curve in curves.items()}
    for name in ("balanced_accuracy", "mcc"):
        assert where[name, ""] == where[name, "_pu"]
    for name in ("accuracy", "f1"):
        assert abs(where[name, ""] - where[name, "_pu"]) > 0.3


def test_the_other_reading_of_the_damaged_fraction_has_other_maxima():
    thresholds, curves = paper.case_study(0.5)
    assert curves["balanced_accuracy", "_pu"].max() == pytest.approx(0.585, abs=5e-4)
    assert thresholds[np.argmax(curves["accuracy", ""])] == pytest.approx(-0.05, abs=1e-3)


@pytest.mark.parametrize("apart", [2.0, -0.5])
def test_uncorrected_errors_are_those_of_scikit_learn(apart):
    labels, scores, positive = simulated(
        labeled=31, unlabeled=260, prior=0.2, purity=0.9, seed=4, apart=apart
    )
    scores = np.round(scores, 1)  # ties
    errors = paper._errors(labels, scores, positive, prior=0.2, purity=0.9)
    for name, measure in MEASURES.items():
        as_it_comes, truth = (
            np.array([measure(y, scores >= threshold) for threshold in np.unique(scores)])
            for y in (labels, positive)
        )
        shown = np.clip(as_it_comes, LOWEST[name], 1.0)
        # Thresholds that are equally good by the labels are not by the classes.
        possible = (shown - truth)[shown > shown.max() - 1e-12]
        assert np.abs(possible - errors[f"{name} PU"]).min() < 1e-12, name


def test_with_every_positive_labeled_nothing_needs_correction():
    labels, scores, positive = simulated(labeled=40, unlabeled=300, prior=0.0, purity=1.0, seed=2)
    errors = paper._errors(labels, scores, positive, prior=0.0, purity=1.0)
    for name in MEASURES:
        assert errors[f"{name} PU"] == pytest.approx(0.0, abs=1e-12)
        assert errors[f"{name} CR"] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("purity", [1.0, 0.7])
def test_the_real_shares_recover_what_the_uncorrected_numbers_miss(purity):
    drawn = [
        simulated(labeled=4000, unlabeled=40_000, prior=0.25, purity=purity, seed=seed)
        for seed in range(4)
    ]
    runs = [paper._errors(*one, prior=0.25, purity=purity) for one in drawn]
    error = {key: float(np.mean([run[key] for run in runs])) for key in runs[0]}
    # Four standard errors of the mean of four runs, with its optimism, at purity .7: .02.
    for name in MEASURES:
        assert abs(error[f"{name} CR"]) < 0.02, name
    assert error["balanced_accuracy PU"] < -0.08
    assert error["f1 PU"] < -0.3
    assert error["mcc PU"] < -0.2
    assert error["accuracy PU"] > 0.1


def test_a_real_data_set_in_small(monkeypatch):
    if not available("wilt"):
        pytest.skip("data set wilt is not there")
    monkeypatch.setattr(paper, "out_of_bag_scores", partial(out_of_bag_scores, networks=25))
    clean, noisy = (paper._one("wilt", purity, 0) for purity in (1.0, 0.7))
    for name in ("balanced_accuracy", "f1", "mcc"):
        assert noisy[f"{name} PU"] < clean[f"{name} PU"] < 0
        assert abs(noisy[f"{name} CR"]) < abs(noisy[f"{name} PU"])
