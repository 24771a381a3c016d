"""What people change is stored with its entry in the audit log, or neither is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from pumonitor.monitor.ledger.alerts.alerts import AlertTables
from pumonitor.monitor.ledger.database.schema import notes
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.alerts import Silence
from pumonitor.monitor.ledger.records.notes import Note, NotedAlert
from pumonitor.monitor.rules.alerts.alert import Alert

START = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
ALERT = NotedAlert(rule_key="k", model_version="1", segment="", incident=2)


@pytest.fixture
def ledger(address):
    with Ledger.open(address) as found:
        yield found


def audit(ledger):
    return [(one.actor, one.action, one.detail) for one in ledger.audit()]


def test_a_note_is_kept_with_its_author_and_is_not_changed(ledger):
    given = Note(monitor="m", at=START, ends=START + DAY, text="é\n'", author="alice", alert=ALERT)
    stored = ledger.notes.add(given)
    [found] = ledger.notes.all("m")
    assert found == stored
    assert (found.alert, found.text, found.ends) == (ALERT, "é\n'", START + DAY)
    assert found.created_at is not None
    [(actor, action, detail)] = audit(ledger)
    assert (actor, action, detail["id"]) == ("alice", "note", stored.id)
    assert detail["at"] == "2026-01-01T00:00:00+00:00"


def test_a_withdrawn_note_stays_but_is_not_shown(ledger):
    number = ledger.notes.add(Note(monitor="m", at=START, text="x", author="alice")).id
    assert ledger.notes.withdraw(number, by="bob")
    assert not ledger.notes.withdraw(number, by="bob")
    assert not ledger.notes.withdraw(number + 1, by="bob")
    assert ledger.notes.all() == ()
    [kept] = ledger.notes.all(withdrawn=True)
    assert kept.withdrawn_at is not None
    assert [one[:2] for one in audit(ledger)] == [("bob", "withdraw note"), ("alice", "note")]


def test_notes_are_chosen_by_monitor_and_time(ledger):
    for day, monitor in enumerate("aab"):
        at = START + day * DAY
        ledger.notes.add(Note(monitor=monitor, at=at, text=str(day), author="alice"))

    def texts(**options):
        return [one.text for one in ledger.notes.all(**options)]

    assert texts() == ["0", "1", "2"]
    assert texts(monitors=["b"]) == ["2"]
    assert texts(monitors=[]) == []
    assert texts(since=START + DAY) == ["1", "2"]
    assert texts(until=START + DAY) == ["0"]
    assert texts(limit=1) == ["2"]


def test_a_note_about_a_period_that_ends_before_it_begins_is_none():
    with pytest.raises(ValueError, match="ends after it begins"):
        Note(monitor="m", at=START, ends=START - DAY, text="x", author="a")


def test_a_silence_is_in_the_audit_with_its_number(ledger):
    number = ledger.by_people.silence(Silence(starts=START, ends=START + DAY, author="alice"))
    assert not ledger.by_people.end_silence(number + 1, at=START, by="bob")
    assert ledger.by_people.end_silence(number, at=START, by="bob")
    assert [(*one[:2], one[2]["id"]) for one in audit(ledger)] == [
        ("bob", "unsilence", number),
        ("alice", "silence", number),
    ]


def test_what_cannot_be_written_to_the_audit_is_not_done(ledger, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("full")

    monkeypatch.setattr("pumonitor.monitor.ledger.notes.record", fail)
    monkeypatch.setattr("pumonitor.monitor.ledger.by_people.record", fail)
    with pytest.raises(RuntimeError):
        ledger.notes.add(Note(monitor="m", at=START, text="x", author="alice"))
    with pytest.raises(RuntimeError):
        ledger.by_people.silence(Silence(starts=START, ends=START + DAY))
    with ledger.database.reading() as connection:
        assert connection.execute(notes.select()).all() == []
    assert ledger.alerts.silences() == ()


def test_notes_of_several_monitors_are_read_in_stretches(ledger):
    numbers = [
        ledger.notes.add(Note(monitor=name, at=START, text="x", author="alice")).id
        for name in ("m", "n", "others", "m")
    ]
    ledger.notes.withdraw(numbers[0], by="bob")
    first = ledger.notes.newest(["m", "n"], limit=1)
    rest = ledger.notes.newest(["m", "n"], before=first[0].id, limit=9)
    assert [one.id for one in (*first, *rest)] == [numbers[3], numbers[1]]


def test_alerts_are_read_in_stretches(ledger):
    # Sorted by monitor, rule, key, model version and segment, each of which decides once.
    places = [
        *(("m", "a", "k", "1", ""), ("m", "a", "k", "1", "s"), ("m", "a", "k", "2", "")),
        *(("m", "a", "l", "1", ""), ("m", "b", "j", "1", ""), ("n", "a", "k", "1", "")),
    ]
    names = ("monitor", "rule", "rule_key", "model_version", "segment")
    with ledger.database.writing() as connection:
        AlertTables(connection, ledger.database).put_alerts(
            Alert(**dict(zip(names, one, strict=True)), metric="f1", severity="critical")
            for one in [*places[::-1], ("others", "a", "k", "1", "")]
        )
    found, after = [], None
    while some := ledger.alerts.current(monitors=["m", "n"], after=after, limit=2):
        assert len(some) <= 2
        found += some
        after = [getattr(some[-1], name) for name in names]
    assert [tuple(getattr(one, name) for name in names) for one in found] == places


def test_silences_are_read_up_to_a_limit_and_those_who_send_read_all(ledger):
    for number in range(3):
        starts = START + number * DAY
        silence = Silence(starts=starts, ends=starts + 9 * DAY, author=f"a{number}")
        ledger.by_people.silence(silence)
    assert [one.author for one in ledger.alerts.silences(limit=2)] == ["a1", "a2"]
    at = START + 2 * DAY
    assert [one.author for one in ledger.alerts.silences(at=at, limit=1)] == ["a2"]
    with ledger.database.reading() as connection:
        every = AlertTables(connection, ledger.database).silences(at=at)
    assert [one.author for one in every] == ["a0", "a1", "a2"]
