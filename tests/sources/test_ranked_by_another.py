"""Counts by cells of two scores: the model's, and the one that filled the queue."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pytest

from pumonitor._score_grid import ScoreGrid
from pumonitor.errors import InputError
from pumonitor.ports import CountRequest, Window
from pumonitor.sources.column_types.monitored_tables import LabelColumns, PredictionColumns
from pumonitor.sources.opening import open_source

START = datetime(2026, 1, 1, tzinfo=UTC)
WINDOW = Window(start=START, end=START + timedelta(days=1), index=0)
REQUEST = CountRequest(window=WINDOW, as_of=(START + timedelta(days=9),), threshold=0.5)


def counted(other, scores):
    """Counts of predictions with this score of the queue."""
    made = [START + timedelta(seconds=second) for second in range(len(scores))]
    frame = pd.DataFrame({"id": range(len(scores)), "made": made, "score": scores, "other": other})
    known = pd.DataFrame({"id": [0], "known": [START + timedelta(days=2)]})
    source = open_source(
        frame,
        PredictionColumns(id="id", time="made", score="score", ranked_by="other"),
        known,
        LabelColumns(id="id", known_at="known"),
    )
    try:
        return source.counts(REQUEST)
    finally:
        source.close()


def test_rows_are_counted_by_the_cells_of_both_scores():
    rng = np.random.default_rng(5)
    scores, other = rng.beta(0.4, 3, 5_000), rng.beta(0.2, 1, 5_000)
    counts = counted(other, scores)

    wanted = Counter(
        (2 * int(cell) + int(score >= 0.5), str(queue_cell))
        for cell, score, queue_cell in zip(cells_of(scores), scores, cells_of(other), strict=True)
    )
    found = Counter()
    for cell, queue, rows in zip(counts.cell, counts.segments["other"], counts.rows, strict=True):
        found[int(cell), str(queue)] += int(rows)
    assert found == wanted
    assert len(set(counts.segments["other"].tolist())) > 1_000


def cells_of(scores):
    """Sixteen cells of the grid as one, by their lower ends."""
    edges = ScoreGrid(scale="probability").lowest(np.arange(57_024))[::16]
    return np.searchsorted(edges, scores, side="right") - 1


def test_a_score_that_cannot_be_used_is_empty():
    counts = counted([0.3, None, 1.2, float("inf")], [0.1, 0.2, 0.3, 0.4])

    assert sorted(counts.segments["other"].tolist()) == ["", "", "", str(cells_of(0.3))]


def test_text_is_no_score():
    with pytest.raises(InputError, match=r"ranked_by column 'other' of .* is stored as VARCHAR"):
        counted(["a", "b"], [0.1, 0.2])
