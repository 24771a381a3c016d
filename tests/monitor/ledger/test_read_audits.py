"""Audits are read with what their verdicts come to, window by window and bin by bin."""

from __future__ import annotations

from dataclasses import replace

from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.audits import ReadAudit, WindowCounts
from tests.monitor.ledger.monitored_days import CONFIGURATION, MONITOR, day
from tests.monitor.ledger.reviewed_audits import DRAWN_AT, put_audit, say


def the_audit(ledger: Ledger) -> ReadAudit:
    (found,) = ledger.read_audits(MONITOR, CONFIGURATION)
    return found


def test_an_audit_is_read_as_it_is_stored(ledger: Ledger) -> None:
    put_audit(ledger)
    assert ledger.read_audits(MONITOR, CONFIGURATION) == []
    for number, verdict in ((1, 0), (2, 0), (3, 1), (4, None), (6, 1), (7, 1)):
        say(ledger, number, verdict)

    found = the_audit(ledger)

    first = WindowCounts(
        rows=(100, 20), labeled=(1, 5), decided=(1, 1), positive=(0, 1), undecided=(0, 0)
    )
    assert found.by_window == {
        day(0).start: first,
        day(1).start: replace(first, decided=(1, 0), positive=(0, 0), undecided=(0, 1)),
    }
    assert (found.name, found.model_version, found.threshold) == ("a1", "7", 0.6)
    assert (found.window_start, found.window_end) == (day(0).start, day(1).end)
    assert (found.drawn_at, found.fair, found.edges) == (DRAWN_AT, "check", (0.5,))
    assert (found.planned, found.cases, found.unread, found.conflicts) == ((3, 3), 6, 2, 0)
    assert (found.seeds_found, found.seeds_known) == (1, 1)


def test_verdicts_that_contradict_each_other_are_undecided_until_one_is_superseded(
    ledger: Ledger,
) -> None:
    put_audit(ledger)
    say(ledger, 1, 0)
    say(ledger, 3, 1, reviewer="ann")
    before = the_audit(ledger)
    say(ledger, 3, 0, reviewer="bob", hours=2)
    torn = the_audit(ledger)
    assert (torn.conflicts, torn.unread) == (1, before.unread)
    assert torn.by_window[day(0).start].undecided == (0, 1)
    say(ledger, 3, 1, reviewer="bob", hours=3)
    settled = the_audit(ledger)
    assert settled == before
    # The second copy of the same case.
    say(ledger, 7, 0, reviewer="ann", hours=4)
    assert the_audit(ledger).conflicts == 1


def test_of_two_verdicts_at_one_moment_neither_supersedes_the_other(ledger: Ledger) -> None:
    put_audit(ledger)
    say(ledger, 1, 0)
    say(ledger, 2, 1)
    say(ledger, 2, 0)
    assert the_audit(ledger).conflicts == 1


def test_audits_come_in_the_order_of_their_windows_and_of_one_configuration(
    ledger: Ledger,
) -> None:
    for name, first in (("b", 4), ("a", 2)):
        put_audit(ledger, name, first=first)
        say(ledger, 1, 1, audit=name)
    put_audit(ledger, "other", configuration="another")
    say(ledger, 1, 1, audit="other")
    assert [one.name for one in ledger.read_audits(MONITOR, CONFIGURATION)] == ["a", "b"]
    assert ledger.read_audits("other", CONFIGURATION) == []


def test_the_digest_follows_what_was_read(ledger: Ledger) -> None:
    put_audit(ledger)
    say(ledger, 1, 0)
    first = the_audit(ledger).digest
    assert the_audit(ledger).digest == first
    say(ledger, 2, 0)
    assert the_audit(ledger).digest != first
