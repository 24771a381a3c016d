"""Rules on audits, and rules that take audited windows alone for evidence."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import TypeAdapter, ValidationError

from pumonitor.audit.fairness import check_fairness
from pumonitor.monitor.config.sections.rules import Rule
from pumonitor.monitor.ledger.records.audits import ReadAudit, WindowCounts
from pumonitor.monitor.rules.alerts.by_clock import (
    ClockView,
    ConflictingVerdicts,
    OverdueAudit,
    UnfairConfirmations,
    UnreadAudit,
)
from pumonitor.monitor.rules.alerts.fold import FOUR_LOOKS, RuleFold
from pumonitor.monitor.rules.alerts.limit import Limit
from pumonitor.monitor.rules.alerts.rule import (
    AlertRule,
    Reading,
    WindowView,
)
from pumonitor.monitor.rules.reference.one_prior import AUDITED_SHARE
from pumonitor.monitor.windows.class_prior.by_audits import past_audit
from pumonitor.ports import Window
from tests.audit.made_up_audit import CONFIRMED, FOUND, ROWS

START = datetime(2026, 3, 2, tzinfo=UTC)
DAY = timedelta(days=1)
WINDOW = Window(start=START, end=START + 7 * DAY, index=0)


def audit(*, found=FOUND, unread=0, conflicts=0, cases=300, drawn=0):
    """Twelve bins of 25 verdicts each."""
    window = WindowCounts(
        rows=tuple(ROWS.tolist()),
        labeled=tuple(CONFIRMED.tolist()),
        decided=(25,) * 12,
        positive=tuple(int(one) for one in found),
        undecided=(0,) * 12,
    )
    return ReadAudit(
        name="a1",
        monitor="m",
        configuration="c",
        model_version="",
        window_start=START,
        window_end=WINDOW.end,
        as_of=WINDOW.end,
        drawn_at=START + drawn * DAY,
        threshold=8.0,
        fair="check",
        edges=tuple(float(one) for one in range(1, 12)),
        by_window={START: window},
        planned=(25,) * 12,
        seeds_found=0,
        seeds_known=0,
        conflicts=conflicts,
        unread=unread,
        cases=cases,
        digest="",
    )


KINDS = {
    "audit_overdue": OverdueAudit,
    "audit_unread": UnreadAudit,
    "audit_conflicts": ConflictingVerdicts,
    "unfair_labels": lambda limit: UnfairConfirmations(),
}


def said(kind, audits, *, limit=0.0, days=40):
    view = ClockView(
        now=START + days * DAY,
        newest=WINDOW,
        first=START,
        audits=lambda: audits,
        fairness=lambda one: check_fairness(past_audit(one).counts),
    )
    found = KINDS[kind](limit=limit).evidence_now(view)
    assert not found.reason.endswith(".")
    return found.kind, found.reason


def test_audit_is_overdue_since_the_last_draw_or_the_first_window():
    limit = (30 * DAY).total_seconds()
    assert said("audit_overdue", [], limit=limit) == (
        "breach",
        "there has been no audit for 40d, and one is meant every 30d: draw the next one",
    )
    kind, reason = said("audit_overdue", [audit(drawn=5), audit(drawn=20)], limit=limit)
    assert (kind, reason) == (
        "good",
        "the last audit was drawn 20d ago; one is meant every 30d",
    )
    assert said("audit_overdue", [audit(drawn=5)], limit=limit)[0] == "breach"


def test_cases_wait_for_a_verdict_for_so_long():
    limit = (14 * DAY).total_seconds()
    kind, reason = said("audit_unread", [audit(unread=30, drawn=10)], limit=limit)
    assert kind == "breach"
    assert "30 of 300 cases of the audit a1 have no verdict 30d after the draw" in reason
    assert said("audit_unread", [audit(unread=30, drawn=30)], limit=limit)[0] == "good"
    assert said("audit_unread", [audit()], limit=limit)[0] == "good"


def test_verdicts_contradict_each_other():
    assert said("audit_conflicts", [], limit=5.0)[0] == "good"
    assert said("audit_conflicts", [audit(conflicts=5)], limit=5.0)[0] == "good"
    kind, reason = said("audit_conflicts", [audit(conflicts=6)], limit=5.0)
    assert kind == "breach"
    assert "6 cases of the audit a1 have verdicts that contradict each other" in reason


def test_unfair_labels_are_said_once_a_quarter_is_read():
    # Many hidden positives in the lowest bins, hardly any in the highest.
    unfair = [3, 3, 3, 3, 4, 4, 4, 4, 4, 3, 2, 1]
    assert said("unfair_labels", [audit(found=unfair, unread=230)])[0] == "insufficient"
    kind, reason = said("unfair_labels", [audit(found=unfair)])
    assert kind == "breach"
    assert reason.startswith("positives of the highest scores get confirmed ")
    assert said("unfair_labels", [audit(found=unfair), audit()])[0] == "good"


def view(share, low=0.40, high=0.48):
    readings = {"f1": Reading(value=0.44, low=low, high=high, se=0.02)}
    if share is not None:
        readings[AUDITED_SHARE] = Reading(value=share, low=share, high=share)
    return WindowView(window=WINDOW, pane=1, as_of=START, readings={("", ""): readings})


def evidence(one, *, audited=True):
    rule = AlertRule(
        key="k", name="n", metric="f1", condition=Limit(side="below", limit=0.5), audited=audited
    )
    assert (AUDITED_SHARE in rule.metrics) is audited
    fold = RuleFold(rule)
    fold.refold([one], 0)
    return fold.evidence[0]["", ""]


def test_only_windows_with_an_audit_of_their_own_are_evidence():
    assert evidence(view(None), audited=False).kind == "breach"
    missing = evidence(view(None))
    assert (missing.kind, missing.reason) == (
        "insufficient",
        "F1 is undefined: no audit was drawn from the window",
    )
    assert "10% of the cases of its audit have a verdict" in evidence(view(0.1)).reason
    assert evidence(view(0.25)).kind == "breach"


def test_audited_intervals_are_those_for_four_looks():
    near = view(1.0, high=0.49)
    assert evidence(near, audited=False).kind == "breach"
    found = evidence(near)
    assert found.kind == "insufficient"
    assert found.high == pytest.approx(0.44 + FOUR_LOOKS * 0.05)
    assert replace(found, kind="breach").value == 0.44


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"audit": "fair"}, "audit must be 'unfair_labels'"),
        ({"audit": "unfair_labels", "below": 1}, "has below, which audit: unfair_labels does not"),
        ({"health": "audit_unread"}, "needs after with health: audit_unread"),
        ({"health": "audit_conflicts"}, "needs above with health: audit_conflicts"),
        (
            {"metric": "f1", "below": 0.5, "evidence": "audited", "per": "country"},
            "has evidence: audited with a segment",
        ),
    ],
)
def test_rules_that_cannot_be_are_refused(given, problem):
    with pytest.raises(ValidationError, match=problem):
        TypeAdapter(Rule).validate_python(given)
