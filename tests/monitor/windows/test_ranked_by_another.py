"""A window whose queue another score filled: from its rows to estimates, through the ledger."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import pumonitor
from pumonitor._entities import rank_design_effect
from pumonitor.monitor.ledger.records.table_bytes import table_from_bytes, table_to_bytes
from pumonitor.monitor.windows.evaluation.entity_rows import with_entities
from pumonitor.monitor.windows.evaluation.reviewed_tables import HowReviewed
from pumonitor.monitor.windows.evaluation.series_tables import tables_of
from pumonitor.ports import CountRequest, Pane, Window
from pumonitor.sources.column_types.monitored_tables import (
    LabelColumns,
    PredictionColumns,
    ReviewColumns,
)
from pumonitor.sources.opening import open_source
from tests.reviews.two_models import shop

START = datetime(2026, 1, 1, tzinfo=UTC)
WINDOW = Window(start=START, end=START + timedelta(days=1), index=0)
PANE = Pane(window=WINDOW, number=0, state="mature", as_of=START + timedelta(days=9))
METRICS = ("class_prior", "recall", "precision", "f1", "auc")


def series_of(rows, *, ranked_by="champion", missing=0, waiting=(), card=None):
    """The challenger's series, counted from three tables; some cases wait for their verdict."""
    number = np.arange(len(rows.verdicts))
    champion = expit(rows.scores["champion"])
    champion[:missing] = np.nan
    made = pd.DataFrame(
        {
            "id": number,
            "made": START + pd.to_timedelta(number, unit="s"),
            "score": expit(rows.scores["challenger"]),
            "champion": champion,
            "card": number if card is None else card,
        }
    )
    later = START + timedelta(days=3)
    known = pd.DataFrame({"id": number[rows.complained], "known": later})
    looked_at = ~np.isnan(rows.verdicts)
    reviewed = pd.DataFrame(
        {"id": number[looked_at], "verdict": rows.verdicts[looked_at].astype(int), "at": later}
    )
    reviewed["verdict"] = reviewed["verdict"].astype("Int64").mask(reviewed["id"].isin(waiting))
    reviewed["queued"] = START + timedelta(days=2)
    threshold = float(expit(rows.thresholds["challenger"]))
    source = open_source(
        made,
        PredictionColumns(id="id", time="made", score="score", ranked_by=ranked_by, group="card"),
        known,
        LabelColumns(id="id", known_at="known"),
        reviews=[
            (
                reviewed,
                ReviewColumns(id="id", verdict="verdict", decided_at="at", queued_at="queued"),
            )
        ],
    )
    counts = source.counts(CountRequest(window=WINDOW, as_of=(PANE.as_of,), threshold=threshold))
    how = HowReviewed(blocks=rows.blocks, ranked_by=ranked_by)
    tables = tables_of(counts, [PANE], threshold=threshold, reviews=how)
    if card is not None:
        tables = with_entities(tables, [PANE], WINDOW, source, how)
    source.close()
    (series,) = tables
    return how, threshold, series


@pytest.mark.parametrize("blocks", [True, False])
def test_estimates_are_those_of_the_rows_themselves(blocks):
    rows = shop(4, blocks=blocks)
    how, threshold, series = series_of(rows)
    stored = table_from_bytes(table_to_bytes(series.table))
    read = how.read(stored, threshold=threshold)
    of_rows = pumonitor.evaluate(
        rows.complained,
        expit(rows.scores["challenger"]),
        threshold=threshold,
        reviews=pumonitor.Reviews(
            rows.verdicts, blocks=blocks, ranked_by=expit(rows.scores["champion"])
        ),
    )
    truth = {**rows.truth()["challenger"], "class_prior": rows.is_positive.mean()}

    assert read.posterior is not read.by_queue[0]
    for metric in METRICS:
        estimate, expected = read.estimates[metric], of_rows[metric]
        wide = expected.high - expected.low
        assert estimate.low <= truth[metric] <= estimate.high
        assert abs(estimate.value - expected.value) < 0.2 * wide, metric
        assert 0.75 < (estimate.high - estimate.low) / wide < 1.33, metric


def test_entities_count_along_the_score_of_the_queue():
    rows = shop(4, blocks=False)
    champion = expit(rows.scores["champion"])
    # Positives of about the same score of the queue are of one card.
    card = np.arange(len(champion))
    card[rows.is_positive] = -1 - np.argsort(np.argsort(champion[rows.is_positive])) // 8
    how, threshold, series = series_of(rows, card=card)
    stored = table_from_bytes(table_to_bytes(series.table))
    known = rows.complained | (rows.verdicts == 1)
    along, of_model = (
        rank_design_effect(card[known], rows.scores[name][known])
        for name in ("champion", "challenger")
    )

    assert stored.reviewed.queue.design_effect == pytest.approx(along, rel=0.02)
    assert stored.rank_design_effect == pytest.approx(of_model, rel=0.02)
    assert along > 1.5 * of_model
    alone = series_of(rows, card=np.arange(len(card)))[2]
    for metric in ("class_prior", "recall"):
        widths = [
            how.read(table, threshold=threshold).estimates[metric]
            for table in (stored, alone.table)
        ]
        together, apart = (estimate.high - estimate.low for estimate in widths)
        assert together > 1.2 * apart, metric


def test_a_missing_score_of_the_queue_is_told():
    _, _, series = series_of(shop(4), missing=7)

    assert series.table is None
    assert series.undefined_reason == (
        "column 'champion', the score that filled the queue (ranked_by in reviews), is no finite "
        "number within [0, 1] in 7 of 20000 rows: give it for every row, or write score_scale: "
        "unbounded if it may be outside"
    )


def test_rows_of_the_queue_add_up_after_cells_are_joined():
    _, threshold, series = series_of(shop(4))
    few = series.table.compress(200, thresholds=[threshold])
    before, after = series.table.reviewed.queue, few.reviewed.queue

    assert len(few) <= 201
    assert np.array_equal(after.known.sum(axis=1), before.known.sum(axis=1))
    assert np.array_equal(after.possible.sum(axis=1), before.possible.sum(axis=1))
    assert np.array_equal(few.reviewed.kinds.sum(axis=1), after.kinds.sum(axis=1))


def test_a_case_that_waits_was_taken_by_the_queue():
    rows = shop(4)
    waiting = np.argsort(rows.scores["champion"])[-3:]
    _, _, series = series_of(rows, waiting=waiting)
    # Had the queue left the highest of all, it would have taken every case from nowhere on.
    assert series.table.reviewed.cuts == series_of(rows)[2].table.reviewed.cuts
