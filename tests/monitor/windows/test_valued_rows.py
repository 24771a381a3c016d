"""Counts of a window by cells of value: sums are kept, and estimates are those of the rows."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime, timedelta

import pandas as pd
import pytest

import pumonitor
from pumonitor.monitor.windows.evaluation.series_tables import tables_of
from pumonitor.names import VALUE
from pumonitor.ports import CountRequest, Pane, Window
from pumonitor.sources.column_types.monitored_tables import LabelColumns, PredictionColumns
from pumonitor.sources.opening import open_source
from tests.values.valued_rows import shop

SHOP, THRESHOLD = shop(5), 2.0
FLAGGED = SHOP.scores >= THRESHOLD
DAY = datetime(2026, 1, 5, tzinfo=UTC)
WINDOW = Window(start=DAY, end=DAY + timedelta(days=7), index=1)
LATER = DAY + timedelta(days=40)


@pytest.fixture(scope="module")
def table():
    number = pd.RangeIndex(len(SHOP.scores))
    made = pd.DataFrame({"id": number, "score": SHOP.scores, "amount": SHOP.amounts, "made": DAY})
    source = open_source(
        made,
        PredictionColumns(id="id", time="made", score="score", value="amount"),
        made[["id"]][SHOP.confirmed].assign(known=DAY),
        LabelColumns(id="id", known_at="known"),
        score_scale="unbounded",
    )
    with closing(source):
        counts = source.counts(CountRequest(window=WINDOW, as_of=(LATER,), threshold=THRESHOLD))
    pane = Pane(window=WINDOW, number=0, state="mature", as_of=LATER)
    (series,) = tables_of(counts, [pane], threshold=THRESHOLD)
    return series.table


def test_sums_of_values_are_kept_on_either_side_of_the_threshold(table):
    rows = table.values  # noqa: PD011 (no frame)
    is_flagged, is_known = rows.score >= THRESHOLD, rows.state == 1
    for groups, of_rows in (
        (is_flagged, FLAGGED),
        (~is_flagged, ~FLAGGED),
        (is_known & is_flagged, SHOP.confirmed & FLAGGED),
    ):
        assert rows.rows[groups].sum() == of_rows.sum()
        assert rows.worth[groups].sum() == pytest.approx(SHOP.amounts[of_rows].sum(), rel=0.002)
    assert len(rows.rows) < len(SHOP.scores) / 3


def test_estimates_are_those_of_the_rows_but_for_cells(table):
    of_counts = pumonitor.evaluate_table(table, threshold=THRESHOLD, class_prior=0.03)
    of_rows = pumonitor.evaluate(
        SHOP.confirmed, SHOP.scores, threshold=THRESHOLD, class_prior=0.03, value=SHOP.amounts
    )
    for name in VALUE:
        for end in ("value", "low", "high"):
            counted, exact = getattr(of_counts[name], end), getattr(of_rows[name], end)
            assert counted == pytest.approx(exact, rel=0.04), (name, end)
