"""Which of several conditions a monitor is in, and what is said of it."""

from datetime import UTC, datetime, timedelta
from typing import get_args

import pytest

from pumonitor.monitor.ledger.records.windows import MonitorWork
from pumonitor.monitor.views.condition import (
    Condition,
    ExpectedLook,
    FiringAlert,
    condition_badge,
    condition_text,
    condition_view,
    headline_text,
    urgency,
)

NOW = datetime(2026, 3, 10, 6, tzinfo=UTC)
DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
EVALUATED = {
    "last_evaluated": NOW - HOUR,
    "looked_at": NOW - HOUR,
    "newest_end": NOW - 6 * HOUR,
    "last_prediction": NOW - 2 * HOUR,
}
UNREACHABLE = {"problem": "no answer from db", "problem_since": NOW - 2 * DAY}
FAILING = {"failing": 2, "failing_since": NOW - 4 * DAY, "due": 2, "oldest_due": NOW - 4 * DAY}
OVERDUE = {"due": 3, "to_collect": 3, "oldest_due": NOW - 1.5 * DAY}
HELD = {"held": 1, "windows": 365, "due": 134, "oldest_due": NOW - 200 * DAY}
UNSEEN = ExpectedLook(last=NOW - 9 * DAY, due=NOW - 7 * DAY, ended=9)
CRITICAL = FiringAlert(rule="too few found", severity="critical", firing_since=NOW - 3 * DAY)
KNOWN = FiringAlert(rule="f1", severity="warning", firing_since=NOW - 5 * DAY, is_acknowledged=True)
SILENCED = FiringAlert(
    rule="auc", severity="critical", firing_since=NOW - DAY, silenced_until=NOW + DAY
)
INFO = FiringAlert(rule="volume", severity="info", firing_since=NOW - DAY)


def view(work=(), firing=(), **others):
    return condition_view(
        "shop", MonitorWork(**{**EVALUATED, **dict(work)}), firing, source="p.parquet",
        now=NOW, **others,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("work", "firing", "others", "condition", "said"),
    [
        (
            UNREACHABLE | OVERDUE, [CRITICAL], {"look": UNSEEN}, "source unreachable",
            "source unreachable since 2026-03-08 06: its tables cannot be read: no answer from db; "
            "firing: a critical alert, too few found",
        ),
        (
            FAILING, [CRITICAL], {"look": UNSEEN}, "late",
            "late since 2026-03-01 06: no round of work has looked at it for 9 windows; "
            "firing: a critical alert, too few found",
        ),
        (
            OVERDUE, [], {"work_due": NOW - 1.5 * DAY}, "late",
            "late since 2026-03-08 18: 3 windows are due and not evaluated",
        ),
        # What fails is late by itself.
        (
            FAILING, [CRITICAL], {"work_due": NOW - 4 * DAY}, "failing",
            "failing since 2026-03-06 06: 2 windows cannot be counted; firing: a critical alert, "
            "too few found",
        ),
        (
            {}, [CRITICAL, SILENCED, KNOWN], {}, "firing",
            "firing since 2026-03-07 06: a critical alert, too few found",
        ),
        (
            {"last_prediction": None}, [], {}, "no data",
            "no data: there are no predictions in p.parquet, and no window is due before there "
            "are some",
        ),
        (
            {"last_prediction": NOW - 4 * DAY}, [KNOWN], {"has_stopped": True}, "no data",
            "no data since 2026-03-06 06: there are no new predictions in p.parquet, and no window "
            "is due before there are some; firing: a warning alert, f1",
        ),
        (
            {"last_evaluated": None, "newest_end": None, "last_prediction": None}, [], {},
            "no data",
            "no data: there are no predictions in p.parquet, and no window is due before there "
            "are some",
        ),
        (
            {}, [SILENCED, KNOWN, INFO], {}, "acknowledged",
            "acknowledged: a warning alert, f1, firing since 2026-03-05 06",
        ),
        (
            {}, [SILENCED], {}, "silenced",
            "silenced: a critical alert, auc, firing since 2026-03-09 06",
        ),
        ({}, [INFO], {}, "firing", "firing since 2026-03-09 06: an info alert, volume"),
        (
            HELD, [], {"look": UNSEEN}, "backfilling",
            "backfilling: 231 of 365 windows are evaluated",
        ),
        (
            {"last_evaluated": None, "newest_end": None, "looked_at": None}, [], {},
            "no results yet", "no results yet: it has never run",
        ),
        (
            {"last_evaluated": None}, [], {},
            "no results yet", "no results yet: no window has been evaluated",
        ),
        ({}, [], {}, "fine", "fine"),
        ({"due": 3, "oldest_due": NOW - 20 * HOUR}, [], {}, "fine", "fine"),
    ],
)  # fmt: skip
def test_the_most_urgent_condition_is_said(work, firing, others, condition, said):
    found = view(work, firing, **others)
    assert found.condition == condition
    assert condition_text(found, "{:%Y-%m-%d %H}".format) == said
    assert bool(found.remedy) == (condition in {"source unreachable", "late", "failing", "no data",
                                                "no results yet"})  # fmt: skip


def test_needed_are_people_where_nobody_knows_of_it_yet():
    needed = {
        "source unreachable": view(UNREACHABLE),
        "late": view(OVERDUE, work_due=NOW - 2 * DAY),
        "failing": view(FAILING),
        "no data": view(has_stopped=True),
        "firing": view(firing=[CRITICAL]),
        "acknowledged": view(firing=[KNOWN]),
        "silenced": view(firing=[SILENCED]),
        "backfilling": view(HELD),
        "no results yet": view({"last_evaluated": None}),
        "fine": view(),
    }
    assert {name: found.condition for name, found in needed.items()} == {
        name: name for name in get_args(Condition)
    }
    assert [found.needs_somebody for found in needed.values()] == [True] * 5 + [False] * 5
    assert sorted(needed.values(), key=urgency) == list(needed.values())
    note = view(firing=[INFO])
    assert (note.needs_somebody, condition_badge(note)) == (False, ("quiet", "firing, info"))
    assert condition_badge(needed["firing"]) == ("critical", "firing, critical")
    assert condition_badge(needed["silenced"]) == ("quiet", "silenced, critical")
    assert condition_badge(needed["late"]) == ("failing", "late")


def test_an_acknowledged_alert_beside_a_new_one_does_not_hide_it():
    both = view(firing=[FiringAlert(rule="f1", severity="warning", firing_since=NOW), SILENCED])
    assert (both.condition, both.severity, both.firing) == ("firing", "warning", 2)


def test_the_headline_counts_conditions():
    known, fine = view(firing=[KNOWN]), view()
    for conditions, said in (
        ([], "No monitors"),
        ([fine], "The monitor needs no attention: fine"),
        ([view(UNREACHABLE)], "The monitor needs attention: source unreachable"),
        (
            [fine, view(OVERDUE, work_due=NOW - 2 * DAY), known, view(firing=[CRITICAL]), fine],
            "2 of 5 monitors need attention: 1 late, 1 firing, 1 acknowledged, 2 fine",
        ),
        # No calm word above alerts.
        ([known, fine], "Alerts fire that somebody knows of: 1 acknowledged, 1 fine"),
        ([view(HELD), fine], "No monitor needs attention: 1 backfilling, 1 fine"),
    ):
        assert headline_text(conditions) == said
