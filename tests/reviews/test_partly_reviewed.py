"""A queue that takes the highest of each day, down to a score that differs from day to day."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.reviews.windows import Cell, counts_of, draw_window
from pumonitor.reviews.bins import cuts_of_queue
from pumonitor.reviews.partly_reviewed import BinParts
from pumonitor.reviews.reading import read_reviews


@pytest.fixture(scope="module")
def window():
    """Two days, which differ in rows and in positives."""
    return draw_window(Cell(rows=100_000, days=2), np.random.default_rng([9, 1]))


def test_bins_between_the_cuts_are_told_apart_and_summed_again(window):
    counts, cuts = counts_of(window), cuts_of_queue(window.score, window.reviews)
    low, high = cuts
    parts = BinParts.of(counts, cuts)
    apart = parts.bin_of_part[parts.size :]

    lower = np.append(-np.inf, counts.bins.edges)
    assert len(apart) > 0
    assert np.all((lower[apart] >= low) & (lower[apart] < high))
    rest = parts.counts.reviewed[: parts.size]
    assert np.all(rest[apart] == 0)
    assert np.all(parts.counts.open_silent[parts.size :] == 0)
    summed = parts.sum_by_bin(parts.counts.table.astype(float))
    assert np.array_equal(summed, counts.table)


def test_without_a_second_cut_there_is_one_part_a_bin(window):
    counts = counts_of(window)

    assert BinParts.of(counts, ()).counts is counts
    assert BinParts.of(counts, cuts_of_queue(window.score, window.reviews)[:1]).counts is counts


def test_rows_of_one_score_are_alike():
    rng = np.random.default_rng(3)
    window = draw_window(Cell(rows=5_000, reviewed=0.1), rng)
    tied = np.round(window.score, 1)
    low = float(tied[window.reviews.rows.verdict >= 0].min())
    window = type(window)(
        score=tied,
        positive=window.positive,
        complained=window.complained,
        reviews=window.reviews,
        threshold=low,
    )
    cuts = cuts_of_queue(tied, window.reviews)

    assert len(cuts) == 2
    assert len(BinParts.of(counts_of(window), cuts).bin_of_part) == len(counts_of(window).bins.rows)


def test_days_with_more_positives_do_not_mislead(window):
    counts, cuts = counts_of(window), cuts_of_queue(window.score, window.reviews)
    truth = window.truth()["recall"]
    estimate = read_reviews(counts, cuts=cuts).estimates["recall"]
    taken_for_chance = read_reviews(counts).estimates["recall"]

    assert estimate.low <= truth <= estimate.high
    assert taken_for_chance.low > truth
