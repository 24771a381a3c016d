"""Chances of random reviews, from a table of reviews to the estimates of a window."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pandas as pd
import pytest

from pumonitor import Reviews
from pumonitor.errors import InputError
from pumonitor.monitor.ledger.records.table_bytes import table_from_bytes, table_to_bytes
from pumonitor.monitor.windows.evaluation.reviewed_tables import HowReviewed
from pumonitor.monitor.windows.evaluation.series_tables import tables_of
from pumonitor.ports import CountRequest, Pane, Window
from pumonitor.sources.column_types.monitored_tables import (
    LabelColumns,
    PredictionColumns,
    ReviewColumns,
)
from pumonitor.sources.opening import open_source
from tests.reviews.made_up_queue import read
from tests.reviews.test_unequal_chances import drawn

START = pd.Timestamp("2026-03-02", tz="UTC")
WINDOW = Window(
    start=START.to_pydatetime(), end=(START + pd.Timedelta(days=1)).to_pydatetime(), index=0
)
PANE = Pane(window=WINDOW, number=0, as_of=WINDOW.end + timedelta(days=30), state="mature")


def counted(verdicts, complained, scores, why, chance, *, filled=None):
    """The window's counts, from three tables; perhaps with the score that filled the queue."""
    ids = np.arange(len(scores))
    made = START + pd.to_timedelta(ids, unit="s")
    is_reviewed = ~np.isnan(verdicts)
    source = open_source(
        pd.DataFrame(
            {"id": ids, "made": made, "score": scores, "old": scores if filled is None else filled}
        ),
        PredictionColumns(
            id="id", time="made", score="score", ranked_by=None if filled is None else "old"
        ),
        pd.DataFrame({"id": ids[complained], "known": made[complained]}),
        LabelColumns(id="id", known_at="known"),
        reviews=[
            (
                pd.DataFrame(
                    {
                        "id": ids[is_reviewed],
                        "at": made[is_reviewed],
                        "verdict": verdicts[is_reviewed].astype(int),
                        "why": why[is_reviewed],
                        "chance": np.where(why == "random", chance, np.nan)[is_reviewed],
                    }
                ),
                ReviewColumns(
                    id="id",
                    verdict="verdict",
                    decided_at="at",
                    chosen_by="why",
                    probability="chance",
                ),
            )
        ],
        score_scale="unbounded",
    )
    try:
        return source.counts(CountRequest(window=WINDOW, as_of=(PANE.as_of,), threshold=2.0))
    finally:
        source.close()


def test_a_window_weighs_verdicts_as_evaluate_does():
    rows, complained, verdicts, why, chance = drawn(3, by_amount=True)
    counts = counted(verdicts, complained, rows.scores, why, chance)
    how = HowReviewed(blocks=True, is_reason_given=True)
    (series,) = tables_of(counts, [PANE], threshold=2.0, reviews=how)
    table = table_from_bytes(table_to_bytes(series.table))
    odds = ((1 - chance) / chance)[why == "random"]
    found = odds[verdicts[why == "random"] == 1]
    assert table.reviewed.odds.sum(axis=1) == pytest.approx(
        [len(odds), odds.sum(), (odds**2).sum(), found.sum(), (found**2).sum()]
    )
    by_window = how.read(table, threshold=2.0).estimates["class_prior"]
    reviews = Reviews(verdicts, blocks=True, chosen_by=why, probability=chance)
    by_rows = read(complained, rows.scores, reviews).estimates["class_prior"]
    for end in ("value", "low", "high"):
        assert getattr(by_window, end) == pytest.approx(
            getattr(by_rows, end), abs=0.1 * (by_rows.high - by_rows.low)
        )
    assert by_window.low <= rows.is_positive.mean() <= by_window.high


def test_verdicts_are_weighed_where_another_score_filled_the_queue():
    rows, complained, verdicts, why, chance = drawn(3, by_amount=True)
    model = rows.scores + np.random.default_rng(8).normal(0, 0.5, len(rows.scores))
    counts = counted(verdicts, complained, model, why, chance, filled=rows.scores)
    how = HowReviewed(blocks=True, is_reason_given=True, ranked_by="old", score_scale="unbounded")
    (series,) = tables_of(counts, [PANE], threshold=2.0, reviews=how)
    table = table_from_bytes(table_to_bytes(series.table))
    by_window = how.read(table, threshold=2.0).estimates["class_prior"]
    settings = {"chosen_by": why, "ranked_by": rows.scores}
    weighed, plain = (
        read(complained, model, Reviews(verdicts, blocks=True, **settings, **chances)).estimates[
            "class_prior"
        ]
        for chances in ({"probability": chance}, {})
    )
    assert plain.low > rows.is_positive.mean()
    for end in ("value", "low", "high"):
        assert getattr(by_window, end) == pytest.approx(
            getattr(weighed, end), abs=0.15 * (weighed.high - weighed.low)
        )
    assert by_window.low <= rows.is_positive.mean() <= by_window.high


def test_chances_that_are_none_are_refused_with_their_table():
    rows, complained, verdicts, why, chance = drawn(3, by_amount=True)
    wrong = np.where(np.arange(len(chance)) % 2, chance, 7.0)
    with pytest.raises(InputError, match=r"probability must be above 0 and at most 1 where a case"):
        counted(verdicts, complained, rows.scores, why, wrong)
