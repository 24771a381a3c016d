"""Rows of a window counted by what reviews and complaints said of them at several moments."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import numpy as np
import pandas as pd
import pytest

from pumonitor.conformance.cases.reviews import cases_of_reviews
from pumonitor.conformance.outcome import outcome_of
from pumonitor.ports import CountRequest, Window
from pumonitor.sources.column_types.monitored_tables import (
    LabelColumns,
    PredictionColumns,
    ReviewColumns,
)
from pumonitor.sources.opening import open_source
from pumonitor.sources.windows.both_channels import BOTH_CHANNELS
from tests.sources.states_by_hand import by_a_loop

START = pd.Timestamp("2026-03-02", tz="UTC")
WINDOW = Window(
    start=START.to_pydatetime(), end=(START + pd.Timedelta(days=1)).to_pydatetime(), index=0
)
AS_OF = tuple(WINDOW.end + timedelta(days=age) for age in (0, 3, 9, 30))


def after(days):
    return START + pd.to_timedelta(days, unit="D")


@pytest.mark.parametrize("kind", ["number", "text"])
def test_states_at_each_moment_are_those_of_a_loop(kind):
    rng = np.random.default_rng(3)
    ids = np.arange(60)
    named = ids if kind == "number" else np.array([f"p{number}" for number in ids])
    predictions = pd.DataFrame(
        {"id": named, "made": after(rng.random(60)), "score": rng.random(60)}
    )
    complaints = [(int(rng.integers(60)), int(rng.integers(1, 12)), 1) for _ in range(30)]
    reviews = {
        (int(rng.integers(60)), int(rng.integers(1, 12))): (
            int(rng.choice([1, -1, 0])),
            str(rng.choice(["ann", "bob"])),
            str(rng.choice(["score", "audit", "rule"])),
        )
        for _ in range(70)
    }
    decided = pd.DataFrame(
        {
            "id": [named[who] for who, _ in reviews],
            "at": [after(day) for _, day in reviews],
            "verdict": [{1: "1", -1: "0", 0: "undecided"}[row[0]] for row in reviews.values()],
            "who": [row[1] for row in reviews.values()],
            "why": [row[2] for row in reviews.values()],
        }
    )
    source = open_source(
        predictions,
        PredictionColumns(id="id", time="made", score="score"),
        pd.DataFrame(
            {
                "id": [named[who] for who, _, _ in complaints],
                "known": [after(day) for _, day, _ in complaints],
            }
        ),
        LabelColumns(id="id", known_at="known"),
        reviews=[
            (
                decided,
                ReviewColumns(
                    id="id", verdict="verdict", decided_at="at", reviewer="who", chosen_by="why"
                ),
            )
        ],
    )
    counts = source.counts(CountRequest(window=WINDOW, as_of=AS_OF, threshold=0.5))
    source.close()
    said = by_a_loop(complaints, [(who, day, *row) for (who, day), row in reviews.items()])
    for moment, as_of in enumerate(AS_OF):
        limit = (pd.Timestamp(as_of) - START).days
        expected = Counter()
        for number in ids.tolist():
            days = [day for who, day in said if who == number and day <= limit]
            expected[said[number, max(days)] if days else 0] += 1
        got = Counter()
        states = BOTH_CHANNELS.of_histories(counts.history, moment)
        for state, rows in zip(states.tolist(), counts.rows.tolist(), strict=True):
            got[state] += rows
        assert got == expected
    assert counts.rules == ("rule",)


def test_complaints_and_reviews_of_one_table_count_as_those_of_two():
    cases = {case.name: case for case in cases_of_reviews()}

    def counted(name):
        case = cases[name]
        return outcome_of(
            case, {role: table.arrow() for role, table in case.tables.items()}, timeout=60.0
        ).facts

    together = counted("reviews and complaints in one table")
    assert together == counted("reviews beside complaints")
    assert len(together) > 50
