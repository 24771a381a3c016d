"""Who is told of what: history, silences, severe alerts, edited rules, lateness by the clock."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import select

from pumonitor.monitor.delivery.notifications.message import AlertMessage
from pumonitor.monitor.ledger.claims.claims import WorkRules
from pumonitor.monitor.ledger.database.schema import outbox
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.alerts import Silence
from pumonitor.monitor.rules.alerts.by_clock import LateResults
from pumonitor.monitor.rules.alerts.by_series import SeriesCondition
from pumonitor.monitor.rules.alerts.limit import Limit
from pumonitor.monitor.rules.alerts.rule import AlertRule
from tests.monitor.alerted_ledger import DAY, FIRST, MONITOR, AlertedLedger, known, rows
from tests.monitor.ledger.monitored_days import run_out

pytestmark = pytest.mark.usefixtures("unsearched_labels")

BELOW = AlertRule(
    key="below", name="too low", metric="auc", condition=Limit(side="below", limit=0.75)
)
WARNING = replace(
    BELOW,
    key="warning",
    name="low",
    condition=Limit(side="below", limit=0.85),
    severity="warning",
)
BAD = {3, 4}


@pytest.fixture
def ledger(tmp_path):
    with opened(f"sqlite:///{tmp_path}/state.db") as one:
        yield one


def opened(address):
    return Ledger.open(address, rules=WorkRules(attempts_allowed=2))


def results_of(values):
    def results(pane):
        number = (pane.window.start - FIRST) // DAY
        value = values.get((number, pane.state), values.get(number, 0.9))
        if value == "nothing":
            return {}
        return {("7", ""): [known("auc", value), rows(1000)]}

    return results


def failing(ledger, *, rules=(BELOW,), values=None, **options):
    values = dict.fromkeys(BAD, 0.5) if values is None else values
    return AlertedLedger(ledger, rules, results_of(values), **options)


def messages(ledger):
    with ledger.database.reading() as connection:
        stored = connection.execute(select(outbox).order_by(outbox.c.id)).all()
    return [AlertMessage.from_payload(row.payload) for row in stored]


def transitions(ledger):
    return [one.transition for one in messages(ledger)]


def told(ledger):
    return [(one.transition.rule, one.transition.kind, one.late) for one in messages(ledger)]


def live(found, last, first=1):
    for number in range(first, last + 1):
        found.run(FIRST + number * DAY)


KINDS = ("kind", "incident", "reason", "as_of", "window_start", "withheld")


def test_what_was_told_live_is_found_by_a_backfill_which_tells_nobody(address, tmp_path):
    with opened(address) as ledger:
        live(failing(ledger), 10)
        # Bad from the fourth day on, which is mature on the sixth.
        assert [(one.kind, one.as_of) for one in transitions(ledger)] == [
            ("fired", FIRST + 6 * DAY),
            ("resolved", FIRST + 8 * DAY),
        ]
        with Ledger.open(f"sqlite:///{tmp_path}/other.db") as other:
            at_once = failing(other, notify=False)
            at_once.run(FIRST + 10 * DAY)
            assert at_once.told(*KINDS[:5]) == failing(ledger).told(*KINDS[:5])
            assert at_once.told("withheld") == [("history",), ("history",)]
            assert messages(other) == []


def test_what_is_older_than_three_days_and_two_windows_is_history(ledger):
    found = failing(ledger)
    found.run(FIRST + 13 * DAY)
    # It fired seven days before that and was over after two: only its end was fresh.
    assert found.told("kind", "withheld") == [("fired", "history"), ("resolved", "untold")]
    assert messages(ledger) == []


def test_what_still_fires_after_a_backfill_is_told_late_and_once(ledger):
    found = failing(ledger, notify=False)
    found.run(FIRST + 6 * DAY)
    found = failing(ledger)
    live(found, 10, first=7)
    assert told(ledger) == [("too low", "fired", True), ("too low", "resolved", False)]
    assert found.told("kind", "withheld") == [("fired", "history"), ("resolved", None)]
    assert all(one.told_at is not None for one in ledger.alerts.history())


def test_a_first_run_tells_what_fires_and_does_not_remind_of_it_at_once(ledger):
    found = failing(
        ledger,
        rules=(replace(BELOW, repeat=DAY),),
        values=dict.fromkeys(range(3, 20), 0.5),
    )
    found.run(FIRST + 9 * DAY)
    assert told(ledger) == [("too low", "fired", False)]
    assert found.told("kind", "withheld") == [
        ("fired", None),
        *([("reminder", "too soon")] * 3),
    ]
    found.run(FIRST + 10 * DAY)
    assert told(ledger)[1:] == [("too low", "reminder", False)]


def test_a_silence_keeps_messages_back_and_changes_no_transition(address):
    with opened(address) as ledger:
        until = FIRST + 7 * DAY
        number = ledger.by_people.silence(
            Silence(starts=FIRST, ends=until, rule="too low", reason="why")
        )
        ledger.by_people.silence(Silence(starts=FIRST, ends=FIRST + 99 * DAY, segment="country=FR"))
        found = failing(ledger)
        live(found, 6)
        assert found.told("kind", "withheld") == [("fired", "silenced")]
        assert messages(ledger) == []
        live(found, 10, first=7)
        assert found.told("kind", "withheld") == [("fired", "silenced"), ("resolved", None)]
        assert told(ledger) == [("too low", "fired", True), ("too low", "resolved", False)]
        assert [one.reason for one in ledger.alerts.silences(at=FIRST)] == ["why", ""]
        assert not ledger.by_people.end_silence(number, at=until, by="alice")
        assert ledger.by_people.end_silence(number, at=FIRST + DAY, by="alice")
        assert len(ledger.alerts.silences(at=FIRST + 2 * DAY)) == 1


def test_a_severe_alert_speaks_for_the_mild_one_until_it_is_over(ledger):
    values = {3: 0.5, 4: 0.8, 5: 0.8, 6: 0.9}
    found = failing(ledger, rules=(WARNING, BELOW), values=values)
    live(found, 10)
    assert told(ledger) == [
        ("too low", "fired", False),
        ("too low", "resolved", False),
        ("low", "fired", True),
        ("low", "resolved", False),
    ]


def test_an_edited_rule_ends_what_it_told_and_begins_anew(ledger):
    live(failing(ledger), 6)
    edited = replace(
        BELOW, key="other", name="much too low", condition=Limit(side="below", limit=0.1)
    )
    found = failing(ledger, rules=(edited,))
    found.run(FIRST + 6 * DAY)
    assert found.told("rule", "kind", "reason") == [
        ("too low", "fired", ""),
        ("too low", "resolved", "configuration"),
    ]
    assert told(ledger)[1] == ("too low", "resolved", False)
    assert [one.rule for one in ledger.alerts.current()] == ["much too low"]
    assert len(ledger.alerts.current(closed=True)) == 2
    # Put back, it is the next incident of the same alert.
    found = failing(ledger)
    found.run(FIRST + 6 * DAY)
    assert found.told("rule", "kind", "incident")[2:] == [("too low", "fired", 2)]
    assert len(told(ledger)) == 3


def test_the_end_of_a_rule_that_is_gone_is_sent_once_its_silence_is_over(ledger):
    live(failing(ledger), 6)
    assert told(ledger) == [("too low", "fired", False)]
    ledger.by_people.silence(Silence(starts=FIRST, ends=FIRST + 7 * DAY, rule="too low"))
    found = failing(ledger, rules=())
    found.run(FIRST + 6 * DAY)
    assert found.told("kind", "withheld") == [("fired", None), ("resolved", "silenced")]
    assert len(told(ledger)) == 1
    found.run(FIRST + 8 * DAY)
    assert [one[:2] for one in told(ledger)] == [("too low", "fired"), ("too low", "resolved")]
    found.run(FIRST + 9 * DAY)
    assert len(told(ledger)) == 2


def test_a_window_revised_to_good_is_a_correction_that_is_reported(ledger):
    values = {3: 0.5, (3, "final"): 0.9, 4: "nothing", 5: "nothing", 6: "nothing", 7: "nothing"}
    found = failing(ledger, values=values)
    live(found, 9)
    assert found.told("kind", "reason", "as_of") == [
        ("fired", "", FIRST + 6 * DAY),
        ("resolved", "revised", FIRST + 8 * DAY),
    ]
    assert transitions(ledger)[1].sentence.startswith("Correction: ")


def test_data_that_are_evaluated_again_are_corrected_and_never_rewritten(address):
    with opened(address) as ledger:
        values = dict.fromkeys(BAD, 0.5)
        found = failing(ledger, values=values)
        live(found, 6)
        values[3] = 0.9
        keys = [one.window_key for one in ledger.windows(MONITOR)]
        ledger.reopen(keys, which="all", actor="test")
        # A worker that knew what was before, and one that did not.
        found.run(FIRST + 6 * DAY)
        assert found.told("kind", "reason") == [("fired", ""), ("resolved", "revised")]
        assert ledger.alerts.progress(MONITOR)["below"].generation == 1
        found.run(FIRST + 7 * DAY)
        assert found.told("kind", "incident")[2:] == [("fired", 2)]


def test_a_window_that_keeps_failing_is_passed_over_and_resolves_nothing(ledger):
    found = failing(ledger)
    live(found, 6)
    found.now = FIRST + 7 * DAY
    found.plan(range(7))
    found.collect()
    for _ in range(2):
        while (claim := found.claim()) is not None:
            if claim.window.start == FIRST + 4 * DAY:
                ledger.release(claim, error="unreadable")
                break
            found.commit(claim)
        run_out(ledger)
    found.advance()
    (alert,) = ledger.alerts.current()
    assert (alert.is_firing, alert.evidence) == (True, "error")
    # It is tried on: what comes of it is taken in later.
    while (claim := found.claim()) is not None:
        found.commit(claim)
    (alert,) = ledger.alerts.current()
    assert (alert.is_firing, alert.evidence, alert.value) == (True, "breach", 0.5)


class Broken(SeriesCondition):
    fires = "never"

    def evidence(self, view, series, context):
        raise ArithmeticError(series)


def test_one_rule_that_fails_holds_up_no_other(ledger):
    broken = replace(BELOW, key="broken", name="broken", condition=Broken())
    found = failing(ledger, rules=(broken, BELOW))
    live(found, 10)
    assert found.told("rule", "kind") == [("too low", "fired"), ("too low", "resolved")]
    assert ledger.alerts.progress(MONITOR)["broken"].last_error


def test_results_that_do_not_come_are_seen_by_the_clock(ledger):
    stale = AlertRule(
        key="stale",
        name="stale",
        metric="health:stale",
        condition=LateResults(limit=timedelta(days=3).total_seconds()),
    )
    found = failing(ledger, rules=(stale,), values={})
    live(found, 5)
    assert messages(ledger) == []
    for hours in (95, 97, 98):
        found.now = FIRST + 5 * DAY + timedelta(hours=hours)
        found.advance()
    assert [(one.kind, one.incident) for one in transitions(ledger)] == [("fired", 1)]
    assert "overdue, and 3d are allowed" in transitions(ledger)[0].sentence
    found.run(FIRST + 10 * DAY)
    assert found.told("kind", "incident", "reason") == [("fired", 1, ""), ("resolved", 1, "good")]


def test_a_round_without_news_leaves_alerts_alone_until_something_may_be_due(ledger):
    found = failing(ledger, values={})
    live(found, 6)
    # All of day 6 is known; its mature look comes with day 8, at midnight.
    assert found.is_quiet()
    found.now = FIRST + 6 * DAY + timedelta(hours=23)
    assert found.is_quiet()
    found.now = FIRST + 7 * DAY
    assert not found.is_quiet()


@pytest.mark.parametrize("what", ["plan", "reopen", "commit", "rules"])
def test_whatever_alerts_read_ends_their_rest(ledger, what):
    found = failing(ledger, values={})
    live(found, 6)
    assert found.is_quiet()
    if what == "plan":
        found.plan([6])
    if what == "reopen":
        keys = [one.window_key for one in ledger.windows(MONITOR)][:1]
        ledger.reopen(keys, which="all", actor="test")
    if what == "commit":
        found.now = FIRST + 7 * DAY
        found.collect()
        claim = found.claim()
        found.now = FIRST + 6 * DAY
        found.alerting.advance(MONITOR)
        found.commit(claim)
    if what == "rules":
        found.rules = (BELOW, WARNING)
    assert not found.is_quiet()


def test_alerts_of_rules_that_are_gone_end_though_nothing_moved(ledger):
    found = failing(ledger)
    live(found, 6)
    assert found.is_quiet()
    found.rules = ()
    found.advance(found.worker())
    assert found.told("kind", "reason")[-1] == ("resolved", "configuration")
    assert found.is_quiet()


def test_reminders_go_on_when_predictions_have_stopped(ledger):
    found = failing(
        ledger, rules=(replace(BELOW, repeat=7 * DAY),), values=dict.fromkeys(range(9), 0.5)
    )
    live(found, 9)
    # All looks are done, and no other window comes.
    for number in range(10, 14):
        found.now = FIRST + number * DAY
        found.collect()
        found.evaluate()
        found.advance()
    found.have_stopped = True
    told = len(messages(ledger))
    for number in range(14, 40):
        found.now = FIRST + number * DAY
        found.advance()
    kinds = [one.kind for one in transitions(ledger)[told:]]
    assert kinds == ["reminder"] * 4
    assert [one.window_start for one in transitions(ledger)[-2:]] == [FIRST + 8 * DAY] * 2


def test_a_reminder_tells_of_the_newest_window_and_of_the_last_bad_one(ledger):
    values = {number: 0.5 if number < 2 else 0.75 for number in range(20)}
    found = failing(ledger, rules=(replace(BELOW, repeat=3 * DAY),), values=values)
    live(found, 12)
    reminder = [one for one in transitions(ledger) if one.kind == "reminder"][-1]
    newest = f"{reminder.window_start:%Y-%m-%d}"
    assert reminder.window_start > FIRST + 5 * DAY
    assert reminder.value == 0.75
    assert reminder.sentence.startswith(f"Since 2026-01-01. Model version 7, {newest}: AUC is 0.75")
    assert "The last bad window, 2026-01-02: AUC is 0.500 (0.480 to 0.520)" in reminder.sentence


def test_results_that_cannot_come_are_not_stale(ledger):
    stale = AlertRule(
        key="stale",
        name="stale",
        metric="health:stale",
        condition=LateResults(limit=timedelta(days=3).total_seconds()),
    )
    found = failing(ledger, rules=(stale,), values={})
    live(found, 5)
    while (pending := found.now) < FIRST + 30 * DAY:
        found.now = pending + DAY
        found.collect()
        found.evaluate()
        found.have_stopped = True
        found.advance()
    assert messages(ledger) == []


def test_everybody_gets_what_a_rule_sends_and_only_those_it_names(ledger):
    named = replace(BELOW, to=("pager",))
    other = replace(BELOW, key="other", name="other")
    live(failing(ledger, rules=(named, other), destinations=("hook", "pager")), 9)
    with ledger.database.reading() as connection:
        stored = connection.execute(select(outbox.c.destination, outbox.c.payload)).all()
    found = {(row.payload["rule"], row.payload["kind"], row.destination) for row in stored}
    assert found == {
        *(("too low", kind, "alerts:pager") for kind in ("fired", "resolved")),
        *(
            ("other", kind, f"alerts:{name}")
            for kind in ("fired", "resolved")
            for name in ("hook", "pager")
        ),
    }
