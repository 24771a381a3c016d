"""What each row counts as, by its verdict, its complaint, and why it was reviewed."""

import numpy as np
import pytest

from pumonitor.errors import InputError
from pumonitor.reviews import KINDS, ReviewCounts, Reviews
from pumonitor.reviews.bins import count_rows, cuts_of_queue, kinds_of_rows, labels_of_kinds
from pumonitor.reviews.counts import kind_of_rows
from pumonitor.reviews.estimation import estimate_reviews
from pumonitor.tables import ScoreTable
from tests.reviews.made_up_queue import ALL_KINDS, counts_of, window

# verdict, chosen by, complained, stopped: kind, label.
ROWS = {
    ("", "", 0, 0): ("open_silent", 0),
    ("", "", 1, 0): ("open_complained", 1),
    ("1", "score", 0, 0): ("positive_silent", 1),
    ("1", "score", 1, 0): ("positive_complained", 1),
    ("1", "random", 0, 0): ("positive_silent", 1),
    ("0", "score", 0, 0): ("cleared_silent", -1),
    ("0", "score", 1, 0): ("cleared_complained", 1),
    ("0", "random", 1, 0): ("cleared_complained", 1),
    ("undecided", "score", 0, 0): ("undecided_silent", 0),
    ("undecided", "score", 1, 0): ("undecided_complained", 1),
    ("1", "audit", 0, 0): ("drawn_positive", 1),
    ("0", "audit", 0, 0): ("drawn_negative", -1),
    ("0", "audit", 1, 0): ("drawn_negative", -1),
    ("1", "large amount", 0, 0): ("known_positive", 1),
    ("0", "large amount", 0, 0): ("known_negative", -1),
    ("0", "large amount", 1, 0): ("known_positive", 1),
    ("1", "complaint", 1, 0): ("open_complained", 1),
    ("1", "complaint", 0, 0): ("open_complained", 1),
    ("0", "complaint", 1, 0): ("known_negative", -1),
    ("", "", 0, 1): ("stopped", 0),
    ("", "", 1, 1): ("known_positive", 1),
    ("undecided", "score", 0, 1): ("stopped", 0),
    ("1", "score", 0, 1): ("positive_silent", 1),
    ("0", "score", 0, 1): ("cleared_silent", -1),
}


def reviews_of_rows():
    verdicts, reasons, _, stopped = zip(*ROWS, strict=True)
    return Reviews(
        np.array(verdicts), blocks=True, chosen_by=np.array(reasons), stopped=np.array(stopped)
    )


@pytest.mark.parametrize(
    ("row", "expected"),
    list(enumerate(ROWS.values())),
    ids=[" ".join(map(str, row)) for row in ROWS],
)
def test_a_row_counts_as_what_is_known_of_it(row, expected):
    complained = np.array([case[2] for case in ROWS]) == 1
    reviews = reviews_of_rows()
    kinds = kind_of_rows(
        verdict=reviews.rows.verdict,
        chosen_by=reviews.rows.chosen_by,
        complained=complained,
        stopped=reviews.rows.stopped,
    )
    assert (KINDS[kinds[row]], labels_of_kinds(kinds)[row]) == expected


def test_known_positives_of_a_draw_are_the_rows_labeled_positive():
    counts = counts_of(ALL_KINDS, blocks=False)
    positives = estimate_reviews(counts).positives
    assert np.all(positives >= counts.bins.labeled)
    surely_negative = counts.known_negative + counts.drawn_negative
    assert np.all(positives <= counts.bins.rows - surely_negative)


def test_rows_whose_complaint_was_reviewed_count_as_complaints_without_a_review():
    """Set aside, they left open rows without a complaint: nearly no positive complained then."""
    case = window(5, class_prior=0.03, blocks=False)
    in_queue = ~np.isnan(case.verdicts)
    later = case.complained & ~in_queue
    plain = Reviews(case.verdicts, blocks=False)
    confirmed = Reviews(
        np.where(later, 1.0, case.verdicts),
        blocks=False,
        chosen_by=np.where(later, "complaint", "score"),
    )
    tables = []
    for reviews in (plain, confirmed):
        cuts = cuts_of_queue(case.scores, reviews)
        kinds = kinds_of_rows(case.complained, reviews)
        labels = labels_of_kinds(kinds)
        table = ScoreTable.from_arrays(labels, case.scores, thresholds=(2.0, *cuts))
        counts = count_rows(
            table, case.scores, kinds, threshold=2.0, cuts=cuts, blocks=reviews.blocks
        )
        tables.append(counts.table)
    assert np.array_equal(*tables)


def test_a_queue_that_took_the_highest_scores_has_one_cut():
    scores = np.array([0.1, 0.4, 0.5, 0.8, 0.9])
    reviews = Reviews([None, None, 0, 1, 1], blocks=True)
    assert cuts_of_queue(scores, reviews) == (0.5,)


def test_a_queue_of_several_days_has_two_cuts():
    scores = np.array([0.1, 0.4, 0.5, 0.8, 0.9])
    reviews = Reviews([None, 0, None, 1, 1], blocks=True, chosen_by="score")
    assert cuts_of_queue(scores, reviews) == (0.4, 0.8)


def test_rows_left_over_among_those_that_tie_at_the_cut_are_no_rows_passed_over():
    scores = np.array([0.1, 0.5, 0.5, 0.5, 0.9])
    reviews = Reviews([None, None, 0, 1, 1], blocks=True)
    assert cuts_of_queue(scores, reviews) == (0.5, 0.9)


def test_stopped_rows_are_not_passed_over():
    scores = np.array([0.1, 0.5, 0.7, 0.9])
    reviews = Reviews([None, 0, None, 1], blocks=True, stopped=[0, 0, 1, 0])
    assert cuts_of_queue(scores, reviews) == (0.5,)


def test_verdicts_at_random_make_no_cut():
    scores = np.array([0.1, 0.5, 0.7, 0.9])
    assert cuts_of_queue(scores, Reviews([0, None, 1, None], blocks=True, chosen_by="random")) == ()


def test_counts_are_those_of_the_bins():
    counts = counts_of(ALL_KINDS, blocks=True)
    table = counts.table.copy()
    table[0, 1] += 1
    with pytest.raises(
        InputError, match="rows of all kinds must be those of the bin: 171 of 170 in"
    ):
        ReviewCounts.of_table(counts.bins, table, blocks=True)
    table[0, 1] = -2
    with pytest.raises(InputError, match="got -2 of kind open_complained in bin 1"):
        ReviewCounts.of_table(counts.bins, table, blocks=True)


def test_a_bin_has_an_edge_at_the_threshold_and_at_every_cut():
    case = window(3)
    reviews = Reviews(
        np.where(case.scores > 1.5, case.is_positive, np.nan), blocks=True, chosen_by="score"
    )
    cuts = cuts_of_queue(case.scores, reviews)
    kinds = kinds_of_rows(case.complained, reviews)
    labels = labels_of_kinds(kinds)
    table = ScoreTable.from_arrays(labels, case.scores, thresholds=(2.0, *cuts))
    counts = count_rows(table, case.scores, kinds, threshold=2.0, cuts=cuts, blocks=reviews.blocks)
    assert {2.0, *cuts} <= set(counts.bins.edges)
    assert counts.open_silent[counts.bins.edges.searchsorted(cuts[0]) + 1 :].sum() == 0
    assert counts.bins.rows.sum() == len(case.scores)
