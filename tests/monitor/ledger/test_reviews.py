"""Verdicts are added once, supersede each other, and make windows due for evaluation again."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import select

from pumonitor.audit.given import GivenVerdict
from pumonitor.errors import InputError
from pumonitor.monitor.ledger.database.errors import StaleClaimError
from pumonitor.monitor.ledger.database.schema import review_verdicts
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.reviews import Received
from tests.monitor.ledger.kept_beside_results import evaluate_one
from tests.monitor.ledger.monitored_days import CONFIGURATION, MONITOR, day, judged
from tests.monitor.ledger.reviewed_audits import DRAWN_AT, put_audit


def line(row_id: str, verdict: str, **more: object) -> GivenVerdict:
    return GivenVerdict(id=row_id, verdict=verdict, audit="a1", **more)  # type: ignore[arg-type]


def read(ledger: Ledger, *lines: GivenVerdict, digest: str = "d", source: str = "v") -> Received:
    return ledger.reviews.read(MONITOR, lines, source=source, digest=digest, actor="ann")


def to_evaluate(ledger: Ledger, monitor: str = MONITOR) -> int:
    return ledger.counts(now=day(30).end, monitor=monitor).to_evaluate


def test_new_verdicts_make_evaluated_windows_due_again_and_known_ones_do_not(
    filled: Ledger,
) -> None:
    put_audit(filled)
    assert to_evaluate(filled) == 0
    done = read(filled, line("k0", "1"), line("k1", "undecided"), line("k3", ""))
    assert (done.added, done.known, done.reopened) == (2, 0, 6)
    assert (to_evaluate(filled), to_evaluate(filled, "other")) == (6, 0)
    assert filled.audit()[0].action == "read verdicts"
    assert filled.audit()[0].detail == {
        "monitor": MONITOR,
        "audits": ["a1"],
        "verdicts": 2,
        "windows": 6,
    }
    for _ in range(6):
        evaluate_one(filled, random.Random(4))  # noqa: S311
    again = read(filled, line("k0", "1"), line("k1", "undecided"), digest="other")
    assert (again.added, again.known, again.reopened) == (0, 2, 0)
    assert to_evaluate(filled) == 0
    assert [one.added for one in filled.reviews.readings(MONITOR)] == [0, 2]


def test_a_file_that_is_read_again_without_its_reviewer_adds_nothing(filled: Ledger) -> None:
    put_audit(filled)
    at = DRAWN_AT + timedelta(hours=1)
    told = [line("k0", "1"), line("k1", "undecided"), line("k3", "0", at=at)]
    signed = [replace(one, reviewer="ann") for one in told]
    assert read(filled, *signed).added == 3
    again = read(filled, *told, digest="e")
    assert (again.added, again.known, again.reopened) == (0, 3, 0)
    # What nobody has said yet is new, and so is what contradicts.
    more = read(filled, line("k0", "0"), line("k2", "1"), line("k1", "undecided"), digest="f")
    assert (more.added, more.known) == (2, 1)
    (audit,) = filled.read_audits(MONITOR, CONFIGURATION)
    assert audit.conflicts == 1
    # Another reviewer who says the same is a second opinion.
    bobs = [replace(one, reviewer="bob") for one in told]
    assert read(filled, *bobs, digest="g").added == 3


def test_who_evaluates_meanwhile_has_to_begin_anew(filled: Ledger) -> None:
    put_audit(filled)
    read(filled, line("k0", "1"))
    claim = filled.claim_evaluate("worker 1")
    assert claim is not None
    read(filled, line("k1", "1"), digest="e")
    with pytest.raises(StaleClaimError):
        filled.commit_evaluate(claim, judged(claim))
    assert to_evaluate(filled) == 6


def test_a_later_verdict_supersedes_and_both_stay(ledger: Ledger) -> None:
    put_audit(ledger)
    read(ledger, line("k0", "1", at=DRAWN_AT + timedelta(hours=1)))
    read(ledger, line("k0", "0", at=DRAWN_AT + timedelta(hours=2)), digest="e")
    # One that is older than what is known supersedes nothing.
    read(ledger, line("k0", "1", at=DRAWN_AT + timedelta(minutes=5)), digest="f")
    read(ledger, line("k0", "undecided"), digest="g")
    with ledger.database.reading() as connection:
        rows = connection.execute(select(review_verdicts).order_by(review_verdicts.c.id)).all()
    assert [row.verdict for row in rows] == [1, 0, 1, None]
    assert [row.supersedes for row in rows] == [None, rows[0].id, None, rows[1].id]
    assert ledger.read_audits(MONITOR, CONFIGURATION) == []


def test_what_cannot_be_used_is_counted_and_changes_nothing(filled: Ledger) -> None:
    put_audit(filled)
    done = read(
        filled,
        GivenVerdict(id="k0", verdict="1", audit="b7"),
        line("k9", "1"),
        line("k1", "yes"),
        line("k2", "1", case="8"),
        line("k3", "1", at=DRAWN_AT - timedelta(hours=1)),
        line("k3", "1", at=DRAWN_AT + timedelta(days=90_000)),
        line("k4", "1", is_time_unread=True),
        line("k5", ""),
    )
    assert (done.added, done.reopened) == (0, 0)
    assert {(audit, why): len(named) for (audit, why), named in done.judged.refused.items()} == {
        (None, "other_audit"): 1,
        ("a1", "not_drawn"): 2,
        ("a1", "unknown_word"): 1,
        ("a1", "before_draw"): 1,
        ("a1", "ahead"): 1,
        ("a1", "unread_time"): 1,
    }
    stored = {one.audit: one.refused for one in filled.reviews.readings(MONITOR)}
    assert stored[None] == {"other_audit": 1}
    assert stored["a1"]["not_drawn"] == 2
    assert filled.reviews.is_read(MONITOR, source="v", digest="d")
    assert not filled.reviews.is_read(MONITOR, source="v", digest="e")


def test_a_line_without_an_audit_belongs_to_the_last_drawn_before_it(ledger: Ledger) -> None:
    put_audit(ledger)
    put_audit(ledger, "a2", first=4, drawn_at=DRAWN_AT + timedelta(days=3))
    lines = [
        GivenVerdict(id="k0", verdict="1", at=DRAWN_AT + timedelta(days=days)) for days in (1, 5)
    ]
    done = read(ledger, *lines)
    assert [one.audit for one in done.judged.usable] == ["a1", "a2"]


def test_a_case_given_twice_takes_its_verdicts_in_turn(ledger: Ledger) -> None:
    put_audit(ledger)
    done = read(ledger, line("k2", "1"), line("k2", "0"), line("k2", "1", case="7"))
    assert [(one.number, one.verdict) for one in done.judged.usable] == [(3, 1), (7, 0), (7, 1)]


def test_ids_are_deleted_and_verdicts_still_find_their_case(ledger: Ledger) -> None:
    put_audit(ledger)
    assert ledger.reviews.delete_ids(MONITOR, drawn_before=DRAWN_AT) == 0
    assert ledger.reviews.delete_ids(MONITOR, drawn_before=DRAWN_AT + timedelta(days=1)) == 8
    assert ledger.reviews.delete_ids(MONITOR, drawn_before=DRAWN_AT + timedelta(days=1)) == 0
    assert {one.id for one in ledger.reviews.cases("a1")} == {None}
    assert read(ledger, line("k0", "1")).added == 1
    assert "k0" not in repr(ledger.audit())


def test_audits_are_read_back_as_they_were_stored(ledger: Ledger) -> None:
    put_audit(ledger)
    (found,) = ledger.reviews.all(MONITOR)
    cases = ledger.reviews.cases("a1")
    with pytest.raises(InputError, match="audit a1, drawn on 2026-01-10, has windows among these"):
        ledger.reviews.add(replace(found, name="a2"), cases)
    again = ledger.reviews.add(replace(found, name="a2", model_version="8"), cases)
    assert again.drawn_at > DRAWN_AT
    assert ledger.reviews.all(MONITOR)[-1] == again
    assert ledger.reviews.cases("a2") == cases
    entry = ledger.audit()[0]
    assert entry.action == "draw audit"
    assert (entry.detail["cases"], entry.detail["seeds"], entry.detail["twice"]) == (6, 1, 1)
    assert ledger.reviews.all("other") == ()
