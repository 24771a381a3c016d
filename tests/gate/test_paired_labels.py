"""Paired differences of a window: recall at equal capacity, AUL, entities, propensities."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pumonitor import evaluate
from pumonitor.errors import InputError
from pumonitor.gate import PairedLabels, evidence_of, window_from_bytes


def _rows(seed: int = 0, rows: int = 400) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    positive = rng.random(rows) < 0.2
    labels = (positive & (rng.random(rows) < 0.5)).astype(np.int8)
    labels[rng.choice(np.flatnonzero(labels == 0), 10, replace=False)] = -1
    champion = rng.normal(positive).round(1)
    challenger = rng.normal(1.5 * positive)
    return labels, champion, challenger


def _recall(labels: np.ndarray, scores: np.ndarray, capacity: float) -> float:
    """By drawing lots among rows that tie, many times."""
    rng = np.random.default_rng(1)
    found = []
    for _ in range(3000):
        order = np.lexsort([rng.random(len(scores)), -scores])
        top = order[: round(capacity * len(scores))]
        found.append((labels[top] == 1).sum() / (labels == 1).sum())
    return float(np.mean(found))


def test_recall_is_that_of_the_highest_rows_with_lots_drawn_among_ties() -> None:
    labels, champion, challenger = _rows()
    found = PairedLabels.of_window(labels, champion, challenger, capacity=0.1)
    expected = _recall(labels, challenger, 0.1) - _recall(labels, champion, 0.1)
    assert found.recall.mean() == pytest.approx(expected, abs=0.004)


def test_the_difference_of_aul_is_that_of_evaluate() -> None:
    labels, champion, challenger = _rows(3)
    found = PairedLabels.of_window(labels, champion, challenger, capacity=0.1)
    one, other = (
        evaluate(labels, scores, threshold=0.5, class_prior=0.2)["aul"].value
        for scores in (challenger, champion)
    )
    assert found.aul.mean() == pytest.approx(one - other, abs=1e-4)


def test_positives_of_one_entity_are_one_unit() -> None:
    labels = np.array([1, 1, 1, 0, 0, 0, 0, 0, 0, 0])
    champion = np.arange(10.0)
    challenger = np.array([9.0, 0.0, 8.0, 1, 2, 3, 4, 5, 6, 7])
    entity = np.array(["a", "a", "b", *"cdefghi"])
    each = PairedLabels.of_window(labels, champion, challenger, capacity=0.2)
    found = PairedLabels.of_window(labels, champion, challenger, capacity=0.2, entity=entity)
    assert each.recall.tolist() == [1.0, 0.0, 1.0]
    assert found.recall.tolist() == [0.5, 1.0]
    assert (found.positives, len(found.recall)) == (3, 2)


def test_a_positive_stands_for_one_over_its_propensity() -> None:
    labels, champion, challenger = _rows(5)
    propensity = np.where(labels == 1, 0.25, np.nan)
    found = PairedLabels.of_window(
        labels, champion, challenger, capacity=0.1, propensity=propensity, least_propensity=0.25
    )
    assert set(found.weights) == {4.0}
    assert not found.counts  # with propensities labels need not be fair


def test_before_a_rare_label_is_seen_the_others_decide_nothing() -> None:
    labels, champion, challenger = _rows(5)
    found = PairedLabels.of_window(
        labels,
        champion,
        challenger,
        capacity=0.1,
        propensity=np.full(len(labels), 0.5),
        least_propensity=0.02,
    )
    assert set(found.weights) == {2.0}
    assert found.largest_weight == 50.0
    assert window_from_bytes(found.to_bytes()).largest_weight == 50.0
    one_sided = replace(found, recall=np.full(len(found.weights), -1.0))
    assert evidence_of([one_sided], "recall").upper(error=0.025) > 0
    assert evidence_of([replace(one_sided, largest_weight=2.0)], "recall").upper(error=0.025) < -0.5


@pytest.mark.parametrize(
    ("least", "said"),
    [
        (None, "need least_propensity, the least that any positive has"),
        (0.3, "1 of 2 confirmed positives have a propensity below least_propensity 0.3"),
    ],
)
def test_the_least_propensity_is_needed_and_kept(least: float | None, said: str) -> None:
    with pytest.raises(InputError, match=said):
        PairedLabels.of_window(
            [1, 1, 0],
            [0.1, 0.2, 0.3],
            [0.1, 0.2, 0.3],
            capacity=0.1,
            propensity=[0.5, 0.25, np.nan],
            least_propensity=least,
        )


def test_rows_that_are_there_for_their_label_are_not_ranked_among() -> None:
    labels, champion, challenger = _rows(7)
    alone = PairedLabels.of_window(labels, champion, challenger, capacity=0.1)
    more = np.repeat([0, 1], [len(labels), 30])
    found = PairedLabels.of_window(
        np.append(labels, np.ones(30)),
        np.append(champion, np.full(30, 99.0)),
        np.append(challenger, np.full(30, 99.0)),
        capacity=0.1,
        is_sampled=more == 0,
    )
    assert found.rows == alone.rows
    assert found.recall[: len(alone.recall)].tolist() == alone.recall.tolist()
    assert set(found.recall[-30:]) == {0.0}


def test_what_is_stored_is_read_as_it_was() -> None:
    labels, champion, challenger = _rows(9)
    for propensity in (None, np.full(len(labels), 0.5)):
        found = PairedLabels.of_window(
            labels,
            champion,
            challenger,
            capacity=0.1,
            propensity=propensity,
            least_propensity=None if propensity is None else 0.5,
        )
        again = window_from_bytes(found.to_bytes())
        assert again.recall.tolist() == found.recall.tolist()
        assert again.aul.tolist() == found.aul.tolist()
        assert again.weights.tolist() == found.weights.tolist()
        assert (again.positives, again.rows) == (found.positives, found.rows)
        assert {name: one.labeled.tolist() for name, one in again.counts.items()} == {
            name: one.labeled.tolist() for name, one in found.counts.items()
        }


def test_a_window_without_rows_says_nothing() -> None:
    found = PairedLabels.of_window([], [], [], capacity=0.1)
    assert (found.positives, found.rows, len(found.recall)) == (0, 0, 0)
    assert window_from_bytes(found.to_bytes()).rows == 0


def test_missing_scores_are_refused_with_their_number() -> None:
    with pytest.raises(InputError, match="2 of 3 scores of the challenger are missing"):
        PairedLabels.of_window([1, 0, 0], [0.1, 0.2, 0.3], [np.nan, 0.5, np.inf], capacity=0.1)


def test_propensities_out_of_range_are_refused() -> None:
    with pytest.raises(InputError, match="1 of 2 confirmed positives have a propensity"):
        PairedLabels.of_window(
            [1, 1, 0],
            [0.1, 0.2, 0.3],
            [0.1, 0.2, 0.3],
            capacity=0.1,
            propensity=[0.5, 1.5, 0],
            least_propensity=0.1,
        )
