"""Windows most of whose rows are younger than the first step in which delays are counted."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest

from pumonitor.evaluation import evaluate_table
from pumonitor.monitoring.expected import expected_at_maturity, expected_positives
from pumonitor.monitoring.maturity import ShareKnown, known_by_delay, label_maturity
from pumonitor.tables import ScoreTable

DAY = timedelta(days=1)
MATURITY = 45 * DAY
EDGES = tuple(MATURITY * step / 24 for step in range(1, 25))


def of_exponential_delays(mean: float, *, windows: int = 60) -> np.ndarray:
    """Daily windows with 1000 positives each, all old enough."""
    rng = np.random.default_rng(3)
    days = np.array([0.0, *(edge / DAY for edge in EDGES)])
    delays = np.array([np.histogram(rng.exponential(mean, 1000), days)[0] for _ in range(windows)])
    return known_by_delay(delays, edges=EDGES, seen_for=[MATURITY] * windows)


def test_the_share_known_of_a_day_that_has_just_ended_is_told() -> None:
    # The first step is nearly two days; rows of the day are half a day old on average.
    found = label_maturity(of_exponential_delays(10.0), ages=EDGES)
    of_rows = np.linspace(0, 1, 1001)
    at_maturity = 1 - np.exp(-4.5)
    for age in (0, 1, 3):
        share = found.share_known(age * DAY, over=DAY)
        truth = float(np.mean(1 - np.exp(-(age + of_rows) / 10))) / at_maturity
        assert share.value == pytest.approx(truth, rel=0.1)
        assert share.high - share.low < 0.2 * share.value
    assert found.share_known(timedelta()).value == 0


def test_a_first_age_of_zero_is_taken_as_it_is() -> None:
    found = label_maturity([[30, 60, 100]], ages=[timedelta(), 5 * DAY, 10 * DAY])
    assert found.share_known(timedelta()).value == pytest.approx(0.3)


def test_where_no_label_is_ever_known_so_early_nothing_is_said_of_their_number() -> None:
    """Chargebacks come weeks later at the earliest."""
    delays = np.zeros((5, len(EDGES)))
    delays[:, 15:] = 20
    known = known_by_delay(delays, edges=EDGES, seen_for=[MATURITY] * 5)
    share = label_maturity(known, ages=EDGES).share_known(DAY, over=DAY)
    assert (share.value, share.low) == (0.0, 0.0)
    assert 0 < share.high < 0.05
    for labeled in (0, 3):
        assert np.isnan(expected_positives(labeled, share).value)


def test_estimates_that_do_not_depend_on_the_number_of_labels_are_said_all_the_same() -> None:
    table = ScoreTable.from_counts([2, 10, 28], [700, 250, 50], edges=[0.0, 0.2, 0.8, 1.0])
    now = evaluate_table(table, threshold=0.8, class_prior=0.1, curves=False).estimates
    none_yet = ShareKnown(value=0.0, low=0.0, high=0.01)
    found = expected_at_maturity(table, now, none_yet, threshold=0.8)
    assert {"f1", "recall", "aul", "class_prior"} <= set(found)
    assert not {"f1_pu", "auc_pu", "label_frequency", "unlabeled_prior"} & set(found)
    # Labels to come are all there will be: no narrower than now.
    assert (found["f1"].low, found["f1"].high) == (now["f1"].low, now["f1"].high)
    with_some = expected_at_maturity(
        table, now, ShareKnown(value=0.5, low=0.4, high=0.6), threshold=0.8
    )
    assert set(with_some) == {name for name in now if "_max" not in name}
