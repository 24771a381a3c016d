"""Complaints and reviews put together, against what a loop over their rows says."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from pumonitor.reviews.states import PENDING, REVIEWERS_DIFFER
from pumonitor.sources.windows.both_channels import (
    ReviewTable,
    described_queue,
    labels_of_both,
    verdicts_by_reviewer,
    with_queued,
)
from tests.sources.states_by_hand import QUEUED, by_a_loop, state

TABLE = SimpleNamespace(relation=SimpleNamespace(name="reviews r.csv"))


def queue(**settings):
    return ReviewTable(labels=TABLE, **settings)


def table_of(rows, *details):
    """Rows of id, known, label and details."""
    columns = list(zip(*rows, strict=True)) if rows else [()] * (3 + len(details))
    names = ["id", "known", "label", *(f"detail_{place}" for place in range(len(details)))]
    types = [pa.int64()] * 3 + [pa.string()] * len(details)
    return pa.table(
        {
            name: pa.chunked_array([pa.array(values, type=kind)])
            for name, values, kind in zip(names, columns, types, strict=True)
        }
    )


@pytest.mark.parametrize("seed", range(8))
def test_states_are_those_of_a_loop_over_the_rows(seed):
    rng = np.random.default_rng(seed)
    complaints = [
        (int(rng.integers(30)), int(rng.integers(12)), int(rng.choice([1, 1, 1, 0])))
        for _ in range(40)
    ]
    reviews = [
        (
            int(rng.integers(30)),
            int(rng.integers(12)),
            int(rng.choice([1, -1, -1, 0, QUEUED, QUEUED])),
            str(rng.choice(["ann", "bob", "cem"])),
            str(rng.choice(["score", "random", "audit", "complaint", "rule"])),
        )
        for _ in range(80)
    ]
    # Of one id and moment the first reason would depend on the order of rows.
    reviews = list({row[:2]: row for row in reviews}.values())
    labels = labels_of_both(
        table_of(complaints),
        [(queue(has_reviewers=True, reasons={}), table_of(reviews, "reviewer", "reason"))],
    )
    got = {(row["id"], row["known"]): row["label"] for row in labels.to_pylist()}
    assert got == by_a_loop(complaints, reviews)
    assert len(got) == labels.num_rows
    assert labels["propensity"].null_count == labels.num_rows


def test_reviewers_who_differ_leave_a_case_undecided_until_they_agree():
    reviews = [(7, 1, 1, "ann"), (7, 2, -1, "bob"), (7, 5, -1, "ann")]
    labels = labels_of_both(
        table_of([]), [(queue(has_reviewers=True), table_of(reviews, "reviewer"))]
    )
    assert labels["label"].to_pylist() == [
        state(False, 1, "score"),
        state(False, REVIEWERS_DIFFER, "score"),
        state(False, 0, "score"),
    ]


def test_a_case_that_is_queued_waits_until_its_verdict_and_not_again_after_it():
    verdicts = table_of([(7, 3, 1)])
    events = table_of([(7, 1, 1), (7, 5, 1), (8, 2, 1)])
    both = with_queued(verdicts, events)
    labels = labels_of_both(table_of([]), [(queue(), both)])
    assert [(row["id"], row["known"], row["label"]) for row in labels.to_pylist()] == [
        (7, 1, state(False, PENDING, "score")),
        (7, 3, state(False, 1, "score")),
        (7, 5, state(False, 1, "score")),
        (8, 2, state(False, PENDING, "score")),
    ]
    told = described_queue(queue(), both)
    assert (told.positive, told.negative, told.undecided, told.waiting) == (1, 0, 0, 1)


def test_reviewers_are_compared_on_the_cases_that_both_decided():
    reviews = [
        (1, 10, 1, "ann"),
        (1, 11, -1, "bob"),  # differ
        (2, 12, 1, "ann"),
        (2, 13, 1, "bob"),  # agree
        (3, 14, -1, "ann"),
        (3, 15, 0, "bob"),  # one undecided: nothing to compare
        (4, 16, 1, "cem"),
        (5, 17, 1, "ann"),
        (5, 18, -1, "cem"),
        (5, 19, -1, "ann"),  # changed her mind: agree
        (6, 20, 1, ""),  # nobody is named
    ]
    given = verdicts_by_reviewer([(queue(has_reviewers=True), table_of(reviews, "reviewer"))])

    def told(since, until):
        moments = (datetime.fromtimestamp(at / 1e6, UTC) for at in (since, until))
        return {who.name: (who.cases, who.shared, who.differ) for who in given.between(*moments)}

    assert told(0, 30) == {"ann": (4, 3, 1), "bob": (3, 2, 1), "cem": (2, 1, 0)}
    assert told(0, 18) == {"ann": (4, 3, 2), "bob": (3, 2, 1), "cem": (2, 1, 1)}
    assert told(12, 13) == {"ann": (1, 1, 0), "bob": (1, 1, 0)}


def test_queues_without_reviewers_say_nothing_of_who_agrees():
    given = verdicts_by_reviewer([(queue(), table_of([(1, 1, 1)]))])
    assert given.between(*[datetime(2026, 1, 1, tzinfo=UTC)] * 2) == ()


def test_without_reviewers_the_latest_verdict_counts():
    reviews = [(7, 1, 1), (7, 2, -1)]
    labels = labels_of_both(table_of([]), [(queue(), table_of(reviews))])
    assert labels["label"].to_pylist() == [state(False, 1, "score"), state(False, 0, "score")]


def test_words_of_reasons_are_read_as_said_and_others_are_rules():
    reviews = [(1, 1, 1, "Top"), (2, 1, 1, "random"), (3, 1, 1, "large amount")]
    asked = queue(reasons={"top": "score"})
    labels = labels_of_both(table_of([]), [(asked, table_of(reviews, "reason"))])
    assert labels["label"].to_pylist() == [
        state(False, 1, "score"),
        state(False, 1, "random"),
        state(False, 1, "rule"),
    ]
    told = described_queue(asked, table_of(reviews, "reason"))
    assert told.rules == ("large amount",)
    assert dict(told.reasons) == {"large amount": 1, "random": 1, "top": 1}
    assert (told.positive, told.negative, told.undecided) == (3, 0, 0)


def test_the_verdicts_of_two_queues_that_differ_are_undecided():
    labels = labels_of_both(
        table_of([(1, 9, 1)]),
        [(queue(), table_of([(1, 1, 1)])), (queue(always="random"), table_of([(1, 2, -1)]))],
    )
    assert labels["label"].to_pylist() == [
        state(False, 1, "score"),
        state(False, REVIEWERS_DIFFER, "score"),
        state(True, REVIEWERS_DIFFER, "score"),
    ]


def test_nothing_at_all_is_no_row():
    assert labels_of_both(table_of([]), [(queue(), table_of([]))]).num_rows == 0
