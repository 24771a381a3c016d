"""Windows that have just ended: few of their labels are there, or none ever are so early."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest

from pumonitor.evaluation import evaluate_table
from pumonitor.monitor.rules.labels.expected import expected_at_maturity, expected_positives
from pumonitor.monitor.rules.labels.maturity import ShareKnown, label_maturity
from pumonitor.results import ClassPriorEstimate
from pumonitor.tables import ScoreTable

DAY = timedelta(days=1)


def test_a_first_age_of_zero_is_taken_as_it_is() -> None:
    found = label_maturity([[30, 60, 100]], ages=[timedelta(), 5 * DAY, 10 * DAY])
    assert found.share_known(timedelta()).value == pytest.approx(0.3)


def test_where_no_label_is_ever_known_so_early_nothing_is_said_of_their_number() -> None:
    """Chargebacks come weeks later at the earliest."""
    ages = [timedelta(), 20 * DAY, 45 * DAY]
    share = label_maturity([[0, 40, 180]] * 5, ages=ages).share_known(timedelta())
    assert (share.value, share.low) == (0.0, 0.0)
    assert 0 < share.high < 0.05
    for labeled in (0, 3):
        assert np.isnan(expected_positives(labeled, share).value)


def test_estimates_that_do_not_depend_on_the_number_of_labels_are_said_all_the_same() -> None:
    table = ScoreTable.from_counts([2, 10, 28], [700, 250, 50], edges=[0.0, 0.2, 0.8, 1.0])
    prior = ClassPriorEstimate.given(0.1)
    now = evaluate_table(table, threshold=0.8, class_prior=prior, curves=False).estimates
    none_yet = ShareKnown(value=0.0, low=0.0, high=0.01)
    found = expected_at_maturity(table, now, none_yet, class_prior=prior, threshold=0.8)
    assert {"f1", "recall", "aul", "class_prior"} <= set(found)
    assert not {"f1_pu", "auc_pu", "label_frequency", "unlabeled_prior"} & set(found)
    # Labels to come are all there will be: no narrower than now.
    assert (found["f1"].low, found["f1"].high) == (now["f1"].low, now["f1"].high)
    with_some = expected_at_maturity(
        table,
        now,
        ShareKnown(value=0.5, low=0.4, high=0.6),
        class_prior=prior,
        threshold=0.8,
    )
    assert set(with_some) == {name for name in now if "_max" not in name}
