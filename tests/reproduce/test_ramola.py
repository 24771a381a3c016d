import numpy as np
import pytest

from benchmarks.reproduce import ramola as paper


def silent(done, total):
    assert 0 < done <= total


def test_figure_1_has_all_sixteen_numbers():
    result = paper._figure_1(1, silent)
    assert len(result.figures) == 16
    assert [figure.name for figure in result.figures if not figure.inside] == []


def test_the_other_reading_of_the_damaged_fractions_does_not():
    _, curves = paper.case_study(0.5)
    assert curves["balanced_accuracy", "_pu"].max() == pytest.approx(0.585, abs=0.001)
    assert curves["f1", ""].max() > 0.8


def test_corrected_errors_vanish_and_those_of_the_numbers_as_they_come_do_not():
    """The pattern of figure 2 on normal scores, where a network would only add noise."""
    rng = np.random.default_rng(1)
    labeled, unlabeled, prior, purity = 1000, 10_000, 0.3, 0.8
    positive = np.concatenate(
        [np.arange(labeled) < purity * labeled, np.arange(unlabeled) < prior * unlabeled]
    )
    labels = np.arange(labeled + unlabeled) < labeled
    errors = paper._errors(labels, rng.normal(2.0 * positive), positive, prior=prior, purity=purity)
    assert errors["accuracy PU"] > 0.1
    for name in ("balanced_accuracy", "f1", "mcc"):
        assert errors[f"{name} PU"] < -0.1, name
    for name in ("accuracy", "balanced_accuracy", "f1", "mcc"):
        assert abs(errors[f"{name} CR"]) < 0.03, name
