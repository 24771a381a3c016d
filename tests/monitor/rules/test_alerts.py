"""The table of states, row by row; the fold against a naive one; what is emitted."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pumonitor.monitor.rules.alerts.alert import Alert, Transition
from pumonitor.monitor.rules.alerts.emission import closing, emission
from pumonitor.monitor.rules.alerts.limit import Limit
from pumonitor.monitor.rules.alerts.rule import AlertRule
from pumonitor.monitor.rules.alerts.states import UNKNOWN, AlertState, Evidence, step
from pumonitor.ports import Window
from tests.oracles.naive_alerts import state_after

START = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
KINDS = ("breach", "good", "insufficient", "no_data", "error")
SILENT = KINDS[2:]


def window(number):
    return Window(start=START + number * DAY, end=START + (number + 1) * DAY, index=number)


def evidence(*kinds):
    return [Evidence(window=window(number), kind=kind) for number, kind in enumerate(kinds)]


def fold(found, *, windows, keep):
    """The state after each window."""
    states = [UNKNOWN]
    for one in found:
        states.append(step(states[-1], one, windows=windows, keep=keep))
    return states[1:]


def state(name, count=0, incident=0):
    return AlertState(state=name, count=count, incident=incident)


@pytest.mark.parametrize(
    ("before", "kind", "windows", "keep", "after"),
    [
        (state("unknown"), "breach", 1, 0, ("firing", 0, 1)),
        (state("ok", incident=3), "breach", 1, 0, ("firing", 0, 4)),
        (state("unknown"), "breach", 2, 0, ("pending", 1, 0)),
        (state("ok"), "breach", 3, 0, ("pending", 1, 0)),
        (state("pending", 1), "breach", 3, 0, ("pending", 2, 0)),
        (state("pending", 2), "breach", 3, 0, ("firing", 0, 1)),
        (state("pending", 2), "good", 3, 0, ("ok", 0, 0)),
        (state("unknown"), "good", 1, 0, ("ok", 0, 0)),
        (state("ok"), "good", 1, 0, ("ok", 0, 0)),
        (state("firing", 0, 2), "good", 1, 0, ("ok", 0, 2)),
        (state("firing", 0, 2), "good", 1, 2, ("recovering", 1, 2)),
        (state("firing", 0, 2), "breach", 2, 2, ("firing", 0, 2)),
        (state("recovering", 1, 2), "breach", 2, 2, ("firing", 0, 2)),
        (state("recovering", 1, 2), "good", 2, 2, ("recovering", 2, 2)),
        (state("recovering", 2, 2), "good", 2, 2, ("ok", 0, 2)),
        (state("recovering", 1, 2), "good", 2, 1, ("ok", 0, 2)),
    ],
)
def test_every_row_of_the_table(before, kind, windows, keep, after):
    (one,) = evidence(kind)
    found = step(before, one, windows=windows, keep=keep)
    assert (found.state, found.count, found.incident) == after
    assert found.evidence == kind


@pytest.mark.parametrize("kind", SILENT)
@pytest.mark.parametrize("name", ["unknown", "ok", "pending", "firing", "recovering"])
def test_what_is_not_known_changes_no_state(name, kind):
    before = state(name, count=1, incident=1)
    (one,) = evidence(kind)
    assert replace(step(before, one, windows=1, keep=0), evidence=None) == before


@given(
    kinds=st.lists(st.sampled_from(KINDS), max_size=25),
    windows=st.integers(1, 4),
    keep=st.integers(0, 3),
)
def test_the_fold_is_the_naive_one(kinds, windows, keep):
    states = fold(evidence(*kinds), windows=windows, keep=keep)
    for length in range(1, len(kinds) + 1):
        name, began = state_after(kinds[:length], windows=windows, keep=keep)
        found = states[length - 1]
        assert found.state == name
        if found.is_firing:
            assert found.since == window(began).start
    fired = sum(
        after.incident > before.incident
        for before, after in zip([UNKNOWN, *states], states, strict=False)
    )
    assert fired == (states[-1].incident if states else 0)


def test_keeping_counts_windows_after_the_first_good_one():
    def good_ones_needed(keep):
        states = fold(evidence("breach", *["good"] * 9), windows=1, keep=keep)
        return [one.state for one in states].index("ok")

    assert [good_ones_needed(keep) for keep in range(4)] == [1, 2, 3, 4]


@pytest.mark.parametrize(("windows", "keep"), [(0, 0), (1, -1)])
def test_numbers_of_windows_that_cannot_be_are_refused(windows, keep):
    with pytest.raises(ValueError, match=f"got {windows} and {keep}"):
        step(UNKNOWN, evidence("good")[0], windows=windows, keep=keep)


# -- what is emitted ------------------------------------------------------------------------------

RULE = AlertRule(
    key="5f0c", name="f1 below 0.75", metric="f1", condition=Limit(side="below", limit=0.75)
)
NOTHING = Alert(
    monitor="card-fraud", rule_key="5f0c", model_version="7", segment="", rule="f1 below 0.75",
    metric="f1", severity="critical",
)  # fmt: skip


def emitted(*kinds, before=NOTHING, days=0, repeat=None, keep=0):
    some = evidence(*kinds)
    states = fold(some, windows=1, keep=keep)
    as_of = START + days * DAY
    return emission(before, states, some, rule=RULE, as_of=as_of, repeat=repeat)


FIRING = replace(
    NOTHING, is_firing=True, incident=4, firing_since=START + DAY, emitted_as_of=START + 2 * DAY
)


def test_an_incident_begins_with_the_window_it_is_about():
    found = emitted("good", "breach", "no_data", days=3)
    assert (found.kind, found.incident, found.firing_since) == ("fired", 1, START + DAY)
    assert (found.window_start, found.window_end) == (window(1).start, window(1).end)
    after = NOTHING.after(found)
    assert (after.is_firing, after.incident, after.firing_since) == (True, 1, START + DAY)
    assert after.emitted_as_of == START + 3 * DAY
    assert emitted("good", "breach", before=FIRING) is None


def test_an_incident_ends_with_good_windows_only():
    assert emitted("good", "breach", "no_data", "error", "insufficient", before=FIRING) is None
    found = emitted("good", "breach", "no_data", "good", before=FIRING, days=9)
    assert (found.kind, found.reason, found.window_start) == ("resolved", "good", START + 3 * DAY)
    after = replace(FIRING, reminders=2).after(found)
    assert (after.is_firing, after.incident, after.reminders) == (False, 4, 2)
    assert emitted("good", "breach", "good", before=FIRING, keep=1) is None


def test_a_window_that_turns_out_good_is_a_correction():
    found = emitted("good", "good", "good", before=FIRING)
    assert (found.kind, found.reason) == ("resolved", "revised")
    # An older incident is not this one.
    found = emitted("breach", "good", "good", before=FIRING)
    assert found.reason == "revised"
    # Recovering counts as the incident.
    assert emitted("good", "breach", "good", before=FIRING).reason == "good"


def test_what_turns_out_unknown_resolves_nothing():
    assert emitted("no_data", "insufficient", "error", before=FIRING) is None


def test_reminders_come_when_they_are_due():
    due = {"before": FIRING, "repeat": 3 * DAY}
    assert emitted("good", "breach", days=4, **due) is None
    found = emitted("good", "breach", days=5, **due)
    assert (found.kind, found.reminder, found.as_of) == ("reminder", 1, START + 5 * DAY)
    after = FIRING.after(found)
    assert (after.is_firing, after.reminders, after.emitted_as_of) == (True, 1, START + 5 * DAY)
    assert emitted("good", "breach", days=50, before=FIRING, repeat=None) is None


def test_a_transition_carries_all_that_its_window_says_and_what_changed():
    bad = Evidence(
        window=window(1), kind="breach", value=0.7, low=0.66, high=0.73, limit=0.75, reference=0.82,
        reason="F1 is 0.7", since=START,
    )  # fmt: skip
    alert = NOTHING.at_window(AlertState(state="firing", since=START), bad, as_of=START + 9 * DAY)
    found = emission(
        alert,
        [AlertState(state="firing", since=START)],
        [bad],
        rule=RULE,
        as_of=START + 9 * DAY,
        repeat=None,
        cause=lambda about: {"began": str(about.since)},
    )
    assert found == Transition(
        monitor="card-fraud", rule_key="5f0c", model_version="7", segment="", incident=1,
        kind="fired", reminder=0, rule="f1 below 0.75", metric="f1", severity="critical", reason="",
        window_start=window(1).start, window_end=window(1).end, as_of=START + 9 * DAY,
        firing_since=START, value=0.7, low=0.66, high=0.73, limit_value=0.75, reference=0.82,
        sentence="Model version 7, 2026-01-02: F1 is 0.7.", cause={"began": str(START)},
        onset=START,
    )  # fmt: skip
    assert (found.key, found.dedup_key) == ("card-fraud/5f0c//7/1/fired", "card-fraud/5f0c//7/1")
    closed = closing(alert.after(found), as_of=START + 10 * DAY, cause=found.cause)
    assert closed == replace(
        found,
        kind="resolved",
        reason="configuration",
        as_of=START + 10 * DAY,
        sentence="The rule 'f1 below 0.75' was edited or deleted.",
        onset=None,
    )
    assert alert.last_evidence() == replace(bad, since=None, window=replace(window(1), index=0))


def test_an_end_by_the_clock_is_no_correction():
    some, ok = evidence("good"), [AlertState(state="ok", since=START)]
    asked = {"rule": RULE, "as_of": START + 9 * DAY, "repeat": None}
    assert emission(FIRING, ok, some, **asked).reason == "revised"
    assert emission(FIRING, ok, some, **asked, may_be_revised=False).reason == "good"


def test_a_reminder_has_the_cause_as_it_is_known_by_then():
    """An audit that was read since the alert fired is in it."""
    some = evidence("breach", "breach", "no_data")
    states = fold(some, windows=1, keep=0)
    found = emission(
        FIRING,
        states,
        some,
        rule=RULE,
        as_of=START + 5 * DAY,
        repeat=DAY,
        cause=lambda about: {"window": about.window.start},
    )
    assert found.kind == "reminder"
    assert found.cause == {"window": window(1).start}


def test_an_alert_that_has_seen_no_window_has_no_evidence():
    with pytest.raises(ValueError, match=r"the alert 'f1 below 0\.75' has seen no window"):
        NOTHING.last_evidence()
    for known in ({"window_start": START}, {"window_end": START + DAY}):
        with pytest.raises(ValueError, match="has seen no window"):
            replace(NOTHING, **known).last_evidence()
