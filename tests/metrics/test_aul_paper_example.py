"""The worked example of the AUL paper, Fig. 1a: 20 rows, prior 0.5, half the positives labeled."""

import pytest

import pumonitor
from pumonitor import metrics

SCORES = [0.92, 0.82, 0.73, 0.66, 0.6, 0.58, 0.54, 0.5, 0.45, 0.43]
SCORES += [0.41, 0.39, 0.38, 0.36, 0.35, 0.3, 0.25, 0.2, 0.15, 0.1]
IS_POSITIVE = [1, 1, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1, 0, 0]
IS_LABELED = [1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0]


def test_true_auc_and_aul_when_every_positive_is_labeled():
    assert metrics.auc(IS_POSITIVE, SCORES, class_prior=0.5).value == pytest.approx(0.740)
    assert metrics.aul(IS_POSITIVE, SCORES).value == pytest.approx(0.620)


def test_observed_aul_and_uncorrected_auc_when_half_are_labeled():
    ev = pumonitor.evaluate(IS_LABELED, SCORES, class_prior=0.5)
    assert ev["aul"].value == pytest.approx(0.615)
    assert ev["auc_pu"].value == pytest.approx(0.653, abs=5e-4)


def test_corrected_auc_follows_from_the_observed_aul():
    # AUL = pi / 2 + (1 - pi) AUC, solved for AUC: (0.615 - 0.25) / 0.5.
    found = metrics.auc(IS_LABELED, SCORES, class_prior=0.5)
    assert found.value == pytest.approx(0.73)
