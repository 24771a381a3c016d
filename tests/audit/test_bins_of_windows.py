"""Bins of an audit over several tables, whose cells were joined each in their own way."""

from __future__ import annotations

import numpy as np
import pytest

from pumonitor.audit.bins import bins_along, bins_between, pooled, score_bins
from pumonitor.errors import InputError
from pumonitor.tables import ScoreTable

THRESHOLD = 0.9


def rows_of(day: int, rows: int = 20_000) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(day)
    scores = rng.beta(1, 3, rows)
    return (rng.random(rows) < 0.3 * scores).astype(int), scores


def table_of(day: int, rows: int = 20_000) -> ScoreTable:
    labels, scores = rows_of(day, rows)
    made = ScoreTable.from_arrays(labels, scores, thresholds=(THRESHOLD,), density_edges=5000)
    return made.compress(300, thresholds=(THRESHOLD,))


def test_tables_are_pooled_in_the_cells_of_the_largest() -> None:
    tables = [table_of(day, rows) for day, rows in enumerate((20_000, 30_000, 5_000))]
    both = pooled(tables, threshold=THRESHOLD)
    assert both.n_labeled == sum(one.n_labeled for one in tables)
    assert both.n_unlabeled == sum(one.n_unlabeled for one in tables)
    np.testing.assert_array_equal(both.lower, tables[1].lower)
    flagged = [one.unlabeled[one.index_of_threshold(THRESHOLD) :].sum() for one in tables]
    assert both.unlabeled[both.index_of_threshold(THRESHOLD) :].sum() == sum(flagged)
    assert len(score_bins(both, threshold=THRESHOLD).rows) == 14
    # What adding tables would leave of their cells.
    assert len(tables[0] + tables[1]) < 50


def test_bins_near_edges_hold_about_the_rows_between_them() -> None:
    bins = score_bins(pooled([table_of(1), table_of(2)], threshold=THRESHOLD), threshold=THRESHOLD)
    table = table_of(3)
    with pytest.raises(InputError, match="falls inside the score cell"):
        bins_between(table, edges=bins.edges, threshold=THRESHOLD)
    near, kept = bins_along(table, edges=bins.edges, rank=bins.rank, threshold=THRESHOLD)
    assert kept.all()
    labels, scores = rows_of(3)
    place = bins.bin_of(scores)
    exact = np.bincount(place, minlength=len(near.rows))
    assert near.rows.sum() == len(scores)
    # Each end of a bin is at most about one cell away.
    assert np.abs(near.rows - exact).max() <= 2 * len(scores) / 300
    assert near.rows[near.above].sum() == exact[bins.above].sum()
    assert near.labeled.sum() == labels.sum()


def test_bins_near_edges_of_the_table_itself_are_exact() -> None:
    table = table_of(4)
    bins = score_bins(table, threshold=THRESHOLD)
    near, _ = bins_along(table, edges=bins.edges, rank=bins.rank, threshold=THRESHOLD)
    for name in ("rows", "labeled", "concordance", "rank"):
        np.testing.assert_array_equal(getattr(near, name), getattr(bins, name))


def test_a_bin_without_rows_is_left_out() -> None:
    edges = [0.5, 0.500001, THRESHOLD]
    near, kept = bins_along(table_of(5), edges=edges, rank=[-0.5, 0, 0.1, 0.5], threshold=THRESHOLD)
    assert len(near.rows) == kept.sum() == 3
