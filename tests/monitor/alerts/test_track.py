"""Panes taken in in any order: folds are those of the windows as they are known."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pumonitor.monitor.alerts.track import Track
from pumonitor.monitor.ledger.database.errors import StateError
from pumonitor.monitor.ledger.records.alerts import PaneResults, RecordedPane
from pumonitor.monitor.rules.alerts.change import Change
from pumonitor.monitor.rules.alerts.limit import Limit
from pumonitor.monitor.rules.alerts.rule import AlertRule, KnownReference
from pumonitor.monitor.rules.alerts.shift import Shift
from tests.monitor.alerted_ledger import DAY, day, known, rows

STATES = ("provisional", "mature", "final")
LIMIT = AlertRule(
    key="limit", name="", metric="auc", condition=Limit(side="below", limit=0.75), windows=2
)
RULES = (
    LIMIT,
    replace(LIMIT, key="provisional", provisional=True, keep=1),
    replace(
        LIMIT,
        key="drop",
        condition=Change(direction="drop", amount=0.05, relative=False, over=4 * DAY),
    ),
    replace(
        LIMIT,
        key="shift",
        condition=Shift(
            direction="down",
            false_alarms_per_year=1.0,
            windows_per_year=365.0,
            detector="shiryaev-roberts",
            reference_windows=5,
        ),
    ),
)


def track():
    return Track(RULES, known_reference=None, scores_of=lambda found: None)


def pane(number, look, value):
    """None: the window was given up; NaN: it has no rows; 0: it is undefined."""
    window = day(number)
    results = {}
    if value is not None and value >= 0:
        results = {("7", ""): {"auc": known("auc", value or None), "predictions": rows(9)}}
    return PaneResults(
        pane=RecordedPane(
            window_key=str(number),
            window=window,
            number=look,
            state=STATES[look],
            as_of=window.end + look * timedelta(days=2),
            revision=None if value is None else look,
            counts={},
        ),
        results=results,
    )


VALUES = st.sampled_from([0.5, 0.6, 0.75, 0.8, 0.9, 0.9, 0.0, -1.0, None])
PANES = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 2), VALUES), min_size=1, max_size=40)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(taken=PANES)
def test_what_is_kept_from_before_changes_nothing(taken):
    one, panes = track(), [pane(*args) for args in taken]
    for length, each in enumerate(panes, start=1):
        one.take(each)
        if length % 5 and length != len(panes):
            continue
        anew = track()
        anew.load(panes[:length])
        assert one.broken == anew.broken == {}
        for key, fold in one.folds.items():
            assert fold.evidence == anew.folds[key].evidence
            assert fold.states == anew.folds[key].states


def test_a_rule_that_fails_is_left_out_and_holds_up_no_other():
    def fails(views, index):
        raise ArithmeticError(index)

    one = track()
    one.folds["drop"]._tests = fails
    for number in range(3):
        one.take(pane(number, 1, 0.5))
    assert list(one.broken) == ["drop"]
    assert one.folds["limit"].states[-1]["7", ""].is_firing
    assert "drop" not in one.folds


def test_a_reference_that_cannot_be_read_for_a_moment_breaks_no_rule():
    def away(series):
        raise StateError("database is locked")

    change = Change(direction="drop", amount=0.1, relative=False)
    one = Track(
        [replace(RULES[2], condition=change)],
        known_reference=KnownReference(as_of=day(0).start, end=day(0).start, windows=away),
        scores_of=lambda found: None,
    )
    with pytest.raises(StateError, match="locked"):
        one.take(pane(0, 1, 0.5))
    assert one.broken == {}
    assert "drop" in one.folds


def test_only_what_says_something_new_touches_a_rule():
    one = track()
    assert one.take(pane(0, 0, 0.9)) == {"provisional"}
    assert one.take(pane(0, 1, 0.9)) == {"limit", "drop", "shift"}
    assert one.take(pane(0, 2, 0.9)) == frozenset()
    assert one.take(pane(0, 1, 0.5)) == frozenset(), "the final look is known better"
    assert one.take(pane(0, 2, 0.5)) == {rule.key for rule in RULES}
    assert one.take(pane(0, 2, None)) == frozenset(), "what is known stays known"
