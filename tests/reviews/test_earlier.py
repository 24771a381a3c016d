"""A window read with those before it: narrower, and it still holds what changed."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.reviews.changes import table_of
from benchmarks.reviews.streams import STREAMS
from pumonitor.audited_curves import where_bins_begin
from pumonitor.monitor.windows.evaluation.earlier_windows import earlier_windows
from pumonitor.reviews.counts import KINDS
from pumonitor.reviews.earlier import EarlierWindows
from pumonitor.reviews.kinds_by_bin import bin_of_cell
from pumonitor.reviews.of_table import read_table

BY_NAME = {stream.name: stream for stream in STREAMS}


def windows_of(name, *, blocks, since=0, seed=3):
    stream = BY_NAME[name]
    stream = replace(stream, cell=replace(stream.cell, blocks=blocks))
    windows = stream.windows(5 - since, since, np.random.default_rng(seed))
    return windows, [table_of(window) for window in windows]


def read(tables, threshold, *, blocks, earlier):
    estimates = read_table(
        tables[-1], threshold=threshold, blocks=blocks, earlier=earlier
    ).estimates
    return {name: estimates[name] for name in ("class_prior", "recall", "precision", "auc")}


@pytest.fixture(scope="module", params=[True, False], ids=["blocks", "does not block"])
def still(request):
    windows, tables = windows_of("nothing", blocks=request.param)
    threshold = windows[-1].threshold
    earlier = EarlierWindows.of(tables[:-1], tables[-1], threshold=threshold)
    return request.param, windows, tables, threshold, earlier


def test_earlier_windows_make_intervals_narrower_that_hold_the_truth(still):
    blocks, windows, tables, threshold, earlier = still
    alone = read(tables, threshold, blocks=blocks, earlier=None)
    together = read(tables, threshold, blocks=blocks, earlier=earlier)
    truth = windows[-1].truth()
    for name, estimate in together.items():
        assert estimate.low <= truth[name] <= estimate.high, name
    width = {
        name: (estimate.high - estimate.low) / (alone[name].high - alone[name].low)
        for name, estimate in together.items()
        if name != "precision"  # all that is flagged was reviewed
    }
    assert width["recall"] < 0.95
    assert width["class_prior"] < 0.95


def test_rows_are_those_of_the_earlier_windows_alone(still):
    _, _, tables, _, earlier = still
    assert earlier.windows == 4
    for kind, rows in earlier.rows.items():
        at = KINDS.index(kind)
        assert sum(rows) == sum(table.reviewed.kinds[at].sum() for table in tables[:-1]), kind


def test_what_is_stored_of_them_reads_the_same(still):
    blocks, _, tables, threshold, earlier = still
    stored = EarlierWindows.from_json(json.loads(json.dumps(earlier.to_json())))
    assert stored == earlier
    if not blocks:  # one regime tells
        first, again = (
            read(tables, threshold, blocks=blocks, earlier=each) for each in (earlier, stored)
        )
        assert first == again


def test_curves_keep_the_rows_of_bins_that_begin_inside_a_cell(still):
    _, _, tables, _, _ = still
    table = tables[-1]
    inside = np.flatnonzero(table.upper > table.lower)[::20]
    edges = table.lower[inside] + 0.3 * (table.upper - table.lower)[inside]
    assert len(edges) > 3
    rows_by_bin = [
        np.bincount(bin_of_cell(cells, edges), weights=cells.labeled + cells.unlabeled)
        for cells in (table, table.compress(50, thresholds=where_bins_begin(table, edges)))
    ]
    np.testing.assert_array_equal(*rows_by_bin)


@pytest.mark.parametrize("name", ["class prior doubled", "ranking broken", "complaints doubled"])
def test_the_first_window_since_a_change_holds_the_truth(name):
    windows, tables = windows_of(name, blocks=False, since=1)
    threshold = windows[-1].threshold
    earlier = EarlierWindows.of(tables[:-1], tables[-1], threshold=threshold)
    truth = windows[-1].truth()
    for metric, estimate in read(tables, threshold, blocks=False, earlier=earlier).items():
        assert estimate.low <= truth[metric] <= estimate.high, metric


# Where it blocks, reviewed rows between the cuts stand apart from those that complain.
@pytest.mark.parametrize("still", [False], ids=["does not block"], indirect=True)
def test_an_earlier_lower_cut_tells_more_than_windows_like_this_one(still):
    blocks, _, tables, threshold, earlier = still
    windows, others = windows_of("one earlier lower cut", blocks=blocks)
    lower = EarlierWindows.of(others[:-1], others[-1], threshold=windows[-1].threshold)
    usual = read(tables, threshold, blocks=blocks, earlier=earlier)["recall"]
    told = read(others, windows[-1].threshold, blocks=blocks, earlier=lower)["recall"]
    assert told.high - told.low < 0.9 * (usual.high - usual.low)


def moved(table, by):
    """The same rows with other scores."""
    cuts = tuple(cut + by for cut in table.reviewed.cuts)
    edges = tuple(edge + by for edge in table.reviewed.edges)
    reviewed = replace(table.reviewed, cuts=cuts, edges=edges)
    return replace(table, lower=table.lower + by, upper=table.upper + by, reviewed=reviewed)


def test_scores_that_moved_leave_a_window_to_itself(still):
    blocks, windows, tables, threshold, _ = still
    now = moved(tables[-1], 2.0)
    earlier = EarlierWindows.of(tables[:-1], now, threshold=threshold + 2)
    assert earlier is None
    few = EarlierWindows.of([moved(tables[0], 2.0), *tables[:-1]], now, threshold=threshold + 2)
    assert few.windows == 1
    alone = read([now], threshold + 2, blocks=blocks, earlier=earlier)
    truth = windows[-1].truth()
    for name, estimate in alone.items():
        assert estimate.low <= truth[name] <= estimate.high, name


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_no_change_of_a_stream_leaves_a_window_out(name):
    windows, tables = windows_of(name, blocks=True, since=2)
    earlier = EarlierWindows.of(tables[:-1], tables[-1], threshold=windows[-1].threshold)
    assert earlier.windows == len(tables) - 1


def test_windows_without_reviews_and_with_the_queue_of_another_score_are_none():
    windows, tables = windows_of("nothing", blocks=True)
    threshold = windows[-1].threshold
    assert EarlierWindows.of([], tables[-1], threshold=threshold) is None
    unreviewed = replace(tables[0], reviewed=None)
    assert EarlierWindows.of([unreviewed], tables[-1], threshold=threshold) is None
    other = replace(tables[0], reviewed=replace(tables[0].reviewed, queue=SimpleNamespace()))
    assert EarlierWindows.of([other], tables[-1], threshold=threshold) is None


def test_while_complaints_are_to_come_no_earlier_window_is_read():
    """Another share of their positives has complained: nothing of the ledger is even asked."""
    stored = SimpleNamespace(table=object)
    monitor, pane = SimpleNamespace(reviews=(1,)), SimpleNamespace(state="provisional")
    assert earlier_windows(None, monitor, "", stored, pane) is None
