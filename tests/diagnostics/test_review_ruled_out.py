"""Evidence that labels are of no review of the highest rows: exact where there was one."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

from pumonitor.diagnostics.review_ruled_out import (
    SHARES_BELOW,
    LabelsByRank,
    evidence_against_reviews,
    review_depths,
    rules_out_reviews,
)
from pumonitor.tables import ScoreTable

_ROWS = 100
_DEPTH = np.array([0.1])
_EDGES = (0, 4, 7, 10, 13, 16, 20, 30, _ROWS)
"""Of all bands beside a depth of 10 rows: labels between two of them tell the same."""


def _window(*ranks: int) -> LabelsByRank:
    """Of 100 rows, labels at these ranks from the top."""
    labels = np.zeros(_ROWS)
    labels[[_ROWS - 1 - rank for rank in ranks]] = 1
    return LabelsByRank.from_cells(np.ones(_ROWS), labels)


def test_rows_between_labels_have_an_order_and_cells_with_labels_have_none() -> None:
    window = LabelsByRank.from_cells([10.0] * 4, [0.0, 4.0, 0.0, 2.0])
    rows, labels = window.down_to(np.array([0.1, 0.125, 0.3, 0.45, 0.6, 0.65, 2.0]))
    assert rows.tolist() == [0, 10, 12, 18, 20, 30, 40]
    assert labels.tolist() == [0, 2, 2, 2, 2, 6, 6]


@pytest.mark.parametrize("windows", [1, 2])
@pytest.mark.parametrize("place", range(len(SHARES_BELOW)))
def test_under_a_review_the_evidence_gains_nothing_on_average(place: int, windows: int) -> None:
    """All above the depth are looked at and a share below; positives are as frequent everywhere."""
    share = SHARES_BELOW[place]
    parts = list(pairwise(_EDGES))
    chances = np.array(
        [(1.0 if end <= 10 else share) * (end - begin) for begin, end in parts], dtype=float
    )
    chances /= chances.sum()
    mean = 0.0
    for found in product(range(len(parts)), repeat=windows):
        seen = [_window(parts[part][0]) for part in found]
        evidence = evidence_against_reviews(seen, _DEPTH)[0, place]
        mean += float(np.prod(chances[list(found)])) * float(np.exp(evidence))
    assert mean == pytest.approx(1.0, abs=1e-9)


def test_labels_below_speak_against_a_review_and_those_above_for_it() -> None:
    above, fair = _window(0, 2, 5, 8), _window(2, 8, 11, 15, 18, 25)
    for_it, against = (evidence_against_reviews([one] * 3, _DEPTH)[0] for one in (above, fair))
    assert (for_it < 0).all()
    assert (against > 3).all()
    # What refutes a share of the rows below refutes all smaller ones.
    assert (np.diff(against) < 0).all()
    assert evidence_against_reviews([], _DEPTH).tolist() == [[0.0] * len(SHARES_BELOW)]


def test_depths_are_those_around_the_rows_that_can_be_looked_at() -> None:
    depths = review_depths(0.05)
    assert (depths[0], depths[-1]) == pytest.approx((0.01, 0.15))
    assert review_depths(0.3).max() == pytest.approx(0.6)


def test_labels_of_unequal_weight_tell_as_much_as_fewer_of_one_weight() -> None:
    labels, weight = np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([1.0, 1.0, 4.0, *[2.0] * 5])
    scores = np.arange(8.0)[::-1]
    found = LabelsByRank.from_table(ScoreTable.from_arrays(labels, scores, sample_weight=weight))
    assert found.labeled[-1] == pytest.approx(36 / 18)
    assert found.reached[-1] == pytest.approx(16.0)


def test_a_review_is_ruled_out_from_just_as_much_evidence_as_the_error_asks_for() -> None:
    rng = np.random.default_rng(0)
    scores = rng.random(4000)
    labels = (rng.random(4000) < 0.02 + 0.05 * (scores > 0.7)).astype(int)
    table = ScoreTable.from_arrays(labels, scores)
    depths = 0.05 * np.array([1.0, 1.4, 2.0, 3.0])
    least = float(evidence_against_reviews([LabelsByRank.from_table(table)], depths).min())
    assert least > 1
    assert rules_out_reviews(table, error=1.001 * np.exp(-least))
    assert not rules_out_reviews(table, error=0.999 * np.exp(-least))
