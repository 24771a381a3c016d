"""What an audit would make of a class prior, by the filter itself."""

from datetime import UTC, datetime

import numpy as np
import pytest

from pumonitor.prior.followed.founding import WindowRows
from pumonitor.prior.followed.worth_of_audits import worth_of_audits
from pumonitor.tables import ScoreTable

START, END = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 11, tzinfo=UTC)


def rows_of(*, apart, prior=0.05, confirmed=0.3, rows=20_000):
    rng = np.random.default_rng(11)
    positive = rng.random(rows) < prior
    scores = rng.normal(size=rows) + apart * positive
    labels = (positive & (rng.random(rows) < confirmed)).astype(int)
    table = ScoreTable.from_arrays(labels, scores)
    return WindowRows(start=START, end=END, table=table, rows=rows, confirmed=labels.sum())


def widths(worth):
    return [(high - low) / value for value, low, high in (worth.now, worth.after_break)]


def of(rows, *, label_purity=1.0):
    return worth_of_audits(rows, windows=10, method="auto", label_purity=label_purity, rng=0)


def test_an_audit_narrows_what_a_weak_model_tells_and_a_break_moves_nothing():
    measured, small, large = of(rows_of(apart=0.8))
    assert min(widths(measured)) > 1.5
    assert max(widths(large)) < 0.9
    assert widths(large)[1] < widths(small)[1] < 0.6 * widths(measured)[1]
    for worth in (measured, small, large):
        assert worth.after_break[0] == pytest.approx(worth.now[0], rel=0.1)
        assert widths(worth)[0] <= widths(worth)[1] * 1.05


def test_what_a_good_model_tells_is_not_made_to_look_wide():
    measured, small, large = of(rows_of(apart=4.0))
    assert max(widths(measured)) < min(widths(large)) < min(widths(small))


def test_confirmations_that_are_half_wrong_halve_the_class_prior():
    rows = rows_of(apart=2.5)
    whole, half = of(rows)[0].now[0], of(rows, label_purity=0.5)[0].now[0]
    assert half == pytest.approx(0.5 * whole, rel=0.2)


def test_rows_that_tell_nothing_have_no_outlook():
    nothing = WindowRows(start=START, end=END, table=None, rows=100, confirmed=0)
    assert of(nothing) == []
