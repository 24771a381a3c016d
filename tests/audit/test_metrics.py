"""Metrics of positives by score bin, against those of the rows themselves."""

import numpy as np
import pytest
from sklearn import metrics as standard

from pumonitor.audit.metrics import following_draws, metric_draws
from tests.audit.made_up_audit import bins

ROWS = np.array([400, 300, 150, 90, 60])
POSITIVE = np.array([4, 12, 20, 30, 50])
CONFIRMED = np.array([1, 3, 5, 8, 12])
ABOVE = 2


@pytest.fixture(scope="module")
def rows():
    """Whether each row is positive, and its bin."""
    bin_of = np.repeat(np.arange(len(ROWS)), ROWS)
    positive = np.concatenate(
        [np.arange(count) < found for count, found in zip(ROWS, POSITIVE, strict=True)]
    )
    return positive, bin_of


@pytest.fixture(scope="module")
def draws():
    # Rows of a bin share one score: half of its pairs are won.
    return metric_draws(
        bins(ROWS, CONFIRMED, above=ABOVE, concordance=0.5), POSITIVE[np.newaxis].astype(float)
    )


def test_every_metric_is_that_of_the_rows(rows, draws):
    positive, bin_of = rows
    flagged = bin_of >= len(ROWS) - ABOVE
    auc = standard.roc_auc_score(positive, bin_of)
    expected = {
        "class_prior": positive.mean(),
        "unlabeled_prior": (POSITIVE - CONFIRMED).sum() / (ROWS - CONFIRMED).sum(),
        "label_frequency": CONFIRMED.sum() / POSITIVE.sum(),
        "precision": standard.precision_score(positive, flagged),
        "recall": standard.recall_score(positive, flagged),
        "f1": standard.f1_score(positive, flagged),
        "specificity": standard.recall_score(~positive, ~flagged),
        "accuracy": standard.accuracy_score(positive, flagged),
        "balanced_accuracy": standard.balanced_accuracy_score(positive, flagged),
        "mcc": standard.matthews_corrcoef(positive, flagged),
        "predicted_positive_rate": flagged.mean(),
        "auc": auc,
        "aul": positive.mean() / 2 + (1 - positive.mean()) * auc,
    }
    assert {name: float(one[0]) for name, one in draws.items()} == pytest.approx(expected)


def test_those_that_follow_from_others_are_those_of_the_rows(rows, draws):
    positive, bin_of = rows
    flagged = bin_of >= len(ROWS) - ABOVE
    found = following_draws(draws, beta=2.0)
    expected = standard.fbeta_score(positive, flagged, beta=2.0)
    assert found["f_beta"] == pytest.approx(expected)
    recall = standard.recall_score(positive, flagged)
    assert found["ll_score"] == pytest.approx(recall**2 / flagged.mean())


@pytest.mark.parametrize("above", [0, ABOVE])
def test_f_beta_is_0_like_f1_where_no_positive_is_flagged(above):
    missed = np.array([[4.0, 12.0, 20.0, 0.0, 0.0]])
    draws = metric_draws(bins(ROWS, [1, 3, 5, 0, 0], above=above), missed)
    assert draws["f1"].tolist() == following_draws(draws, beta=2.0)["f_beta"].tolist() == [0.0]
