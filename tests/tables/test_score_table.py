"""ScoreTable: exact from any kind of array, approximate with a true bound from counts."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import pumonitor
from pumonitor import ScoreTable
from pumonitor.metrics import aul
from tests.oracles import pairs

LABELS = [1, 0, 0, 1, -1, 0, 1, 0]
SCORES = [0.9, 0.8, 0.4, 0.4, 0.4, 0.3, 0.2, 0.1]


def same(a, b):
    return (
        a.lower.tolist() == b.lower.tolist()
        and a.labeled.tolist() == b.labeled.tolist()
        and a.unlabeled.tolist() == b.unlabeled.tolist()
        and a.negative.tolist() == b.negative.tolist()
    )


@pytest.mark.parametrize(
    "kind",
    [
        np.array,
        tuple,
        pd.Series,
        lambda values: pd.Series(
            values, dtype="Int64" if isinstance(values[0], int) else "Float64"
        ),
        lambda values: pd.Series(values).astype(
            "int64[pyarrow]" if isinstance(values[0], int) else "double[pyarrow]"
        ),
        pl.Series,
        pa.array,
        lambda values: pa.chunked_array([values[:3], values[3:]]),
        lambda values: pd.Series(values, dtype=object),
    ],
)
def test_every_kind_of_array_gives_the_same_table(kind):
    assert same(
        ScoreTable.from_arrays(kind(LABELS), kind(SCORES)), ScoreTable.from_arrays(LABELS, SCORES)
    )


def test_counts_by_cell():
    table = ScoreTable.from_arrays(LABELS, SCORES, density_edges=0)
    rows = list(
        zip(table.lower, table.upper, table.labeled, table.unlabeled, table.negative, strict=True)
    )
    assert rows == [
        (0.1, 0.1, 0, 1, 0),
        (0.2, 0.2, 1, 0, 0),
        (0.3, 0.3, 0, 1, 0),
        (0.4, 0.4, 1, 1, 1),
        (0.8, 0.8, 0, 1, 0),
        (0.9, 0.9, 1, 0, 0),
    ]
    assert (table.n_labeled, table.n_unlabeled, table.n_negative) == (3, 4, 1)


def test_rows_at_the_threshold_are_above_it():
    table = ScoreTable.from_arrays(LABELS, SCORES, thresholds=[0.4])
    index = table.index_of_threshold(0.4)
    assert table.labeled[index:].sum() == 2
    assert table.unlabeled[index:].sum() == 2


def test_threshold_is_compared_in_the_precision_of_the_scores():
    scores = np.array([0.7, 0.1, 0.7, 0.2], dtype=np.float32)
    ev = pumonitor.evaluate([1, 1, 0, 0], scores, threshold=0.7, class_prior=0.6)
    assert ev["recall"].value == np.mean(scores[:2] >= 0.7) == 0.5


def test_threshold_inside_a_cell_is_refused():
    table = ScoreTable.from_counts([1, 3], [5, 5], edges=[0.0, 0.5, 1.0])
    with pytest.raises(ValueError, match=r"threshold 0.7 falls inside the score cell \[0.5, 1\]"):
        pumonitor.evaluate_table(table, threshold=0.7, class_prior=0.4)


def test_blocks_and_threads_count_the_same(monkeypatch):
    from pumonitor import _cells

    rng = np.random.default_rng(0)
    labels = rng.choice([1, 0, -1], 5000, p=[0.1, 0.8, 0.1])
    scores = np.round(rng.normal(size=5000), 2)
    whole = ScoreTable.from_arrays(labels, scores, thresholds=[0.333])
    monkeypatch.setattr(_cells, "_BLOCK_ROWS", 700)
    monkeypatch.setattr(_cells, "_ROWS_PER_BOUNDARY", 0)
    parts = ScoreTable.from_arrays(labels, scores, thresholds=[0.333])
    assert same(whole, parts)
    assert whole.upper.tolist() == parts.upper.tolist()


def test_binned_counts_err_by_less_than_their_resolution():
    rng = np.random.default_rng(4)
    labels = rng.random(4000) < 0.2
    scores = rng.normal(labels * 1.0)
    edges = np.linspace(scores.min(), scores.max() + 1e-9, 13)
    table = ScoreTable.from_counts(
        np.histogram(scores[labels], edges)[0],
        np.histogram(scores[~labels], edges)[0],
        edges=edges,
    )
    exact = ScoreTable.from_arrays(labels, scores)
    coarse, fine = (
        pumonitor.evaluate_table(t, class_prior=0.4, threshold=edges[6])["auc_pu"].value
        for t in (table, ScoreTable.from_arrays(labels, scores, thresholds=[edges[6]]))
    )
    assert exact.resolution == 0
    assert 0 < abs(coarse - fine) <= table.resolution


def test_sum_of_binned_parts_is_the_whole():
    edges = [0.0, 0.2, 0.5, 1.0]
    first = ScoreTable.from_counts([0, 3, 4], [9, 0, 1], edges=edges, negative=[1, 0, 0])
    second = ScoreTable.from_counts([2, 1, 0], [5, 5, 5], edges=edges)
    both = first + second
    assert both.labeled.tolist() == [2, 4, 4]
    assert both.unlabeled.tolist() == [14, 5, 6]
    assert (both.n_labeled, both.n_unlabeled, both.n_negative) == (10, 25, 1)


def test_sum_of_exact_parts_errs_by_less_than_its_resolution():
    rng = np.random.default_rng(6)
    labels = rng.random(900) < 0.3
    scores = rng.normal(labels * 1.2)
    both = ScoreTable.from_arrays(labels[:400], scores[:400]) + ScoreTable.from_arrays(
        labels[400:], scores[400:]
    )
    whole = pairs.aul(labels.tolist(), scores.tolist())
    assert both.n_labeled == labels.sum()
    assert both.labeled.sum() == labels.sum()
    found = pumonitor.evaluate_table(both, class_prior=0.5, threshold=scores.min())["aul"].value
    assert abs(found - whole) <= both.resolution + 1e-12


def test_compression_keeps_totals_and_thresholds_and_states_its_error():
    rng = np.random.default_rng(9)
    labels = rng.random(20_000) < 0.1
    scores = rng.normal(labels * 1.5)
    table = ScoreTable.from_arrays(labels, scores, thresholds=[1.234])
    small = table.compress(64, thresholds=[1.234])
    assert len(small) <= 65
    assert small.labeled.sum() == table.labeled.sum()
    assert small.unlabeled[small.index_of_threshold(1.234) :].sum() == np.sum(
        ~labels & (scores >= 1.234)
    )
    exact = aul(labels, scores).value
    error = pumonitor.evaluate_table(small, class_prior=0.3, threshold=1.234)["aul"].value - exact
    assert abs(error) <= small.resolution < 0.01
    with pytest.raises(ValueError, match="max_cells must satisfy max_cells >= 2, got 1"):
        table.compress(1)


def test_counts_survive_a_round_trip():
    table = ScoreTable.from_arrays(LABELS, SCORES)
    assert same(ScoreTable.from_dict(table.to_dict()), table)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        (
            {"labeled": [1, 1], "unlabeled": [1], "edges": [0, 1, 2]},
            "unlabeled must have one count",
        ),
        (
            {"labeled": [3, -1], "unlabeled": [1, 1], "edges": [0, 1, 2]},
            "labeled must be counts >= 0",
        ),
        ({"labeled": [1, 1], "unlabeled": [1, 1], "edges": [0, 1]}, "edges must be one more"),
        ({"labeled": [1, 1], "unlabeled": [1, 1]}, "give either edges, or both lower and upper"),
        (
            {"labeled": [1, 1], "unlabeled": [1, 1], "lower": [0, 1], "upper": [1.5, 2]},
            "cells must ascend without overlap",
        ),
        ({"labeled": [0, 0], "unlabeled": [1, 1], "edges": [0, 1, 2]}, "none of 2 rows"),
    ],
)
def test_counts_without_meaning_are_refused(counts, message):
    with pytest.raises(ValueError, match=message):
        ScoreTable.from_counts(**counts)


def test_unknown_keys_of_a_table_are_refused():
    with pytest.raises(ValueError, match="unknown keys in table: positives; known are"):
        ScoreTable.from_dict({"labeled": [1], "unlabeled": [1], "positives": [1]})
    with pytest.raises(ValueError, match="table lacks unlabeled"):
        ScoreTable.from_dict({"labeled": [1]})


def test_bins_that_touch_are_half_open():
    edges = np.array([0.0, 0.2, 0.5, 1.0])
    by_bounds = ScoreTable.from_counts([0, 3, 4], [9, 0, 1], lower=edges[:-1], upper=edges[1:])
    by_edges = ScoreTable.from_counts([0, 3, 4], [9, 0, 1], edges=edges)
    assert same(by_bounds, by_edges)
    assert by_bounds.index_of_threshold(0.5) == 2
