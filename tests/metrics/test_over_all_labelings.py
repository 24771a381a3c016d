"""Exact expectations: every way to label 4 of 9 positives, against naive oracles.

The window's own value is what the estimates average to (AUL paper, Theorem 1; Tabatabaei 4.1),
and the variance of AUL over labelings is Theorem 1's.
"""

import itertools

import numpy as np
import pytest

import pumonitor
from benchmarks.contingency import of_counts
from pumonitor.metrics import THRESHOLD_METRICS
from tests.given_labels import labels_as_given
from tests.oracles import pairs

SCORES = np.array([9.1, 8.3, 7.7, 7.2, 6.9, 6.1, 5.8, 5.0, 4.4, 4.1, 3.9, 3.0, 2.2, 1.6, 1.1, 0.3])
IS_POSITIVE = np.array([1, 1, 0, 1, 1, 0, 1, 0, 1, 1, 0, 1, 0, 0, 1, 0], dtype=bool)
PRIOR = IS_POSITIVE.mean()
THRESHOLD = 4.3


@pytest.fixture(scope="module")
def over_labelings():
    table = []
    for chosen in itertools.combinations(np.flatnonzero(IS_POSITIVE), 4):
        labels = np.zeros(len(SCORES), dtype=int)
        labels[list(chosen)] = 1
        with labels_as_given():
            ev = pumonitor.evaluate(
                labels, SCORES, threshold=THRESHOLD, class_prior=PRIOR, target="window"
            )
        table.append({name: estimate.value for name, estimate in ev.estimates.items()})
    return table


@pytest.mark.parametrize(
    ("name", "oracle"),
    [("aul", pairs.aul), ("auc", pairs.auc), ("average_precision", pairs.average_precision)],
)
def test_ranking_metrics_are_unbiased_over_labelings(over_labelings, name, oracle):
    mean = np.mean([row[name] for row in over_labelings])
    assert mean == pytest.approx(oracle(IS_POSITIVE, SCORES), abs=1e-12)


def test_threshold_metrics_are_unbiased_over_labelings(over_labelings):
    tp, fp, fn, tn = pairs.table_at(IS_POSITIVE, SCORES, THRESHOLD)
    truth = of_counts(tp, fp, fn, tn)
    # The square of an estimated recall is not right on average.
    for name in {metric.name for metric in THRESHOLD_METRICS} - {"ll_score"}:
        mean = np.mean([row[name] for row in over_labelings])
        assert mean == pytest.approx(truth[name], abs=1e-12), name


def test_variance_of_aul_over_labelings_is_theorem_1(over_labelings):
    placements = [pairs.mean_win([s], SCORES) for s in SCORES[IS_POSITIVE]]
    positives, labeled = len(placements), 4
    theorem = (positives - labeled) / (positives - 1) * np.var(placements) / labeled
    assert np.var([row["aul"] for row in over_labelings]) == pytest.approx(theorem, abs=1e-12)


def test_variance_of_f1_over_labelings_is_hypergeometric(over_labelings):
    # Tabatabaei et al. (2020), section 4.1: Var(F1) = 4 Var(S1) / (rho M1 + S)^2.
    tp, fp, _, _ = pairs.table_at(IS_POSITIVE, SCORES, THRESHOLD)
    positives, labeled = IS_POSITIVE.sum(), 4
    share = tp / positives
    fpc = (positives - labeled) / (positives - 1)
    variance_of_count = labeled * share * (1 - share) * fpc
    expected = 4 * variance_of_count / (labeled / positives * (tp + fp) + labeled) ** 2
    assert np.var([row["f1"] for row in over_labelings]) == pytest.approx(expected, abs=1e-12)
