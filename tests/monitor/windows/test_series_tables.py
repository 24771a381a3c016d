from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pumonitor.errors import InputError
from pumonitor.monitor.ledger.records.collected import StoredSeries
from pumonitor.monitor.ledger.records.table_bytes import table_to_bytes
from pumonitor.monitor.windows.evaluation.series_tables import SeriesTable, pane_digest, tables_of
from pumonitor.ports import InputCounts
from pumonitor.tables import ScoreTable
from tests.monitor.counted_rows import (
    PANES,
    THRESHOLD,
    WINDOW,
    Row,
    counted,
    labels_at,
    some_rows,
)

ROWS = some_rows(1)


def by_name(tables: tuple[SeriesTable, ...]) -> dict[tuple[int, str, str], SeriesTable]:
    return {(one.pane, one.model_version, one.segment): one for one in tables}


def test_every_pane_and_segment_has_the_table_of_its_rows() -> None:
    found = by_name(tables_of(counted(ROWS), PANES, threshold=THRESHOLD, max_cells=100_000))
    assert set(found) == {
        (pane.number, "1", segment)
        for pane in PANES
        for segment in ("", "country=DE", "country=FR")
    }
    scores = np.array([row.score for row in ROWS])
    for (pane, _, segment), one in found.items():
        held = np.array([segment in ("", f"country={row.country}") for row in ROWS])
        labels = labels_at(ROWS, pane)[held]
        exact = ScoreTable.from_arrays(labels, scores[held], thresholds=(THRESHOLD,))
        assert one.table is not None
        assert (one.labeled, one.unlabeled, one.negative) == tuple(
            int(np.count_nonzero(labels == label)) for label in (1, 0, -1)
        )
        assert one.predictions == held.sum()
        assert one.flagged == np.count_nonzero(scores[held] >= THRESHOLD)
        assert (one.table.lower[0], one.table.upper[-1]) == (exact.lower[0], exact.upper[-1])
        at, exact_at = (t.index_of_threshold(THRESHOLD) for t in (one.table, exact))
        assert one.table.labeled[at:].sum() == exact.labeled[exact_at:].sum()
        assert one.table.negative[at:].sum() == exact.negative[exact_at:].sum()
        assert one.table.resolution < 1e-4


def test_tables_are_compressed_with_the_threshold_kept() -> None:
    found = tables_of(counted(ROWS), PANES, threshold=THRESHOLD, max_cells=64)
    for one in found:
        assert one.table is not None
        assert len(one.table) <= 65
        at = one.table.index_of_threshold(THRESHOLD)
        assert float((one.table.labeled + one.table.unlabeled + one.table.negative)[at:].sum()) == (
            one.flagged
        )


def test_model_versions_are_kept_apart() -> None:
    rows = [replace(row, model_version="2") if at % 3 else row for at, row in enumerate(ROWS)]
    found = by_name(tables_of(counted(rows), PANES, threshold=THRESHOLD))
    whole = by_name(tables_of(counted(ROWS), PANES, threshold=THRESHOLD))
    assert {key[1] for key in found} == {"1", "2"}
    for pane in PANES:
        parts = [found[pane.number, version, ""].labeled for version in "12"]
        assert sum(parts) == whole[pane.number, "1", ""].labeled


def test_a_segment_without_a_value_has_its_own_series() -> None:
    rows = [replace(row, country="") for row in ROWS[:500]] + ROWS[500:]
    found = by_name(tables_of(counted(rows), PANES, threshold=THRESHOLD))
    assert found[2, "1", "country="].predictions == 500


@pytest.mark.parametrize("propensities", [False, True])
def test_the_digest_is_that_of_what_a_pane_knows_and_of_nothing_else(propensities: bool) -> None:
    # Rounded, so that a cell holds many rows.
    rows = [replace(row, score=round(row.score, 2), country="DE") for row in ROWS]
    if propensities:
        rows = [replace(row, propensity=(0.8, 0.2)[at % 2]) for at, row in enumerate(rows)]
    every = by_name(tables_of(counted(rows), PANES, threshold=THRESHOLD))
    for number, pane in enumerate(PANES):
        alone = tables_of(counted(rows, (pane,)), (pane,), threshold=THRESHOLD)
        for one in alone:
            assert one.digest == every[number, one.model_version, one.segment].digest
            kept = every[number, one.model_version, one.segment].table
            assert kept is not None
            assert one.table is not None
            assert table_to_bytes(one.table) == table_to_bytes(kept)


def test_the_digest_tells_panes_and_scores_apart() -> None:
    every = by_name(tables_of(counted(ROWS), PANES, threshold=THRESHOLD))
    digests = [every[number, "1", ""].digest for number in range(len(PANES))]
    assert len(set(digests)) == len(PANES)

    changed = [*ROWS[:-1], replace(ROWS[-1], score=ROWS[-1].score + 1e-9)]
    other = by_name(tables_of(counted(changed), PANES, threshold=THRESHOLD))
    assert other[0, "1", ""].digest != every[0, "1", ""].digest


def test_the_digest_of_a_pane_holds_predictions_left_out_and_no_count_of_labels() -> None:
    tables = tables_of(counted(ROWS, PANES[:1]), PANES[:1], threshold=THRESHOLD)
    found = InputCounts(predictions=3000, label_rows=7)
    digest = pane_digest(tables, found)
    assert pane_digest(tables[::-1], found) == digest
    assert pane_digest(tables, replace(found, label_rows=9)) == digest
    assert pane_digest(tables, replace(found, duplicate_predictions=1)) != digest
    assert pane_digest(tables[:1], found) != digest


def test_propensities_make_the_weights_that_arrays_would() -> None:
    rng = np.random.default_rng(2)
    rows = [
        replace(row, propensity=float(chance))
        for row, chance in zip(ROWS, rng.choice([0.05, 0.2, 0.8], len(ROWS)), strict=True)
    ]
    found = by_name(tables_of(counted(rows), PANES, threshold=THRESHOLD, max_cells=100_000))
    for pane in PANES:
        exact = ScoreTable.from_arrays(
            labels_at(rows, pane.number),
            [row.score for row in rows],
            propensity=[row.propensity for row in rows],
            thresholds=(THRESHOLD,),
        )
        table = found[pane.number, "1", ""].table
        assert table is not None
        assert table.propensities == exact.propensities
        assert table.weights is not None
        assert exact.weights is not None
        for name in ("labeled", "unlabeled", "negative"):
            assert getattr(table, name).sum() == pytest.approx(getattr(exact, name).sum())
        for name in type(exact.weights).__dataclass_fields__:
            mine, theirs = (getattr(one.weights, name).sum() for one in (table, exact))
            assert mine == pytest.approx(theirs), name


def test_the_digest_tells_propensities_apart() -> None:
    rows = [replace(row, propensity=0.5) for row in ROWS]
    others = [replace(row, propensity=0.25) for row in ROWS]
    digests = {
        tables_of(counted(one), PANES, threshold=THRESHOLD)[0].digest
        for one in (ROWS, rows, others)
    }
    assert len(digests) == 3


@pytest.mark.parametrize(
    ("propensities", "message"),
    [
        (
            (0.5, float("nan")),
            r"missing for 1 of 2 confirmed positives in the window from 2026-01-01T00:00:00",
        ),
        ((0.5, 1.5), r"above 0 and at most 1: it is not for 1 of 2 .* for example 1\.5"),
    ],
)
def test_propensities_that_cannot_be_are_refused(
    propensities: tuple[float, float], message: str
) -> None:
    rows = [Row(score=0.1 * at) for at in range(9)]
    rows += [Row(score=0.9, label=1, propensity=one) for one in propensities]
    with pytest.raises(InputError, match=message):
        tables_of(counted(rows), PANES, threshold=THRESHOLD)


def test_too_few_positives_are_counted_all_the_same() -> None:
    rows = [Row(score=0.1 * at) for at in range(9)] + [Row(score=0.9, label=1, known_after=10)]
    found = by_name(tables_of(counted(rows), PANES, threshold=THRESHOLD))
    before, after = found[0, "1", ""], found[1, "1", ""]
    assert (before.table, after.table) == (None, None)
    assert (before.labeled, before.unlabeled, after.labeled, after.flagged) == (0, 10, 1, 5)
    assert before.undefined_reason is not None
    assert before.undefined_reason.startswith("too few positives: none of 10 rows")
    assert after.undefined_reason is not None
    assert "only 1 of 10 rows" in after.undefined_reason


def test_nothing_unlabeled_is_no_lack_of_positives() -> None:
    rows = [Row(score=0.1 * at, label=1) for at in range(9)]
    (found, *_) = tables_of(counted(rows), PANES, threshold=THRESHOLD)
    assert found.undefined_reason is not None
    assert found.undefined_reason.startswith("all 9 rows are confirmed")


def test_what_the_ledger_stores_comes_back() -> None:
    few = [Row(score=0.1), Row(score=0.9, label=1)]
    for rows in (ROWS, few):
        one = tables_of(counted(rows), PANES, threshold=THRESHOLD)[0]
        kept = one.collected({"value": 0.1})
        again = SeriesTable.stored(
            StoredSeries(
                window_key="key",
                window=WINDOW,
                number=one.pane,
                state="provisional",
                as_of=PANES[0].as_of,
                model_version=kept.model_version,
                segment=kept.segment,
                class_prior=kept.class_prior,
                delays=kept.delays,
                table_bytes=None if kept.table is None else table_to_bytes(kept.table),
            )
        )
        for name in ("pane", "segment", "labeled", "flagged", "digest", "undefined_reason"):
            assert getattr(again, name) == getattr(one, name)
        assert (again.table is None) == (one.table is None)
        if again.table is not None and one.table is not None:
            np.testing.assert_array_equal(again.table.labeled, one.table.labeled)
