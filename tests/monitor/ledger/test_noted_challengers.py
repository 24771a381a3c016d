"""What is noted of challengers outlives a registry that is away, and no more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.challengers import NotedChallenger
from pumonitor.monitor.ledger.records.promotions import NewPromotion

UNTIL = datetime(2026, 1, 1, tzinfo=UTC)
NEXT = NotedChallenger(
    name="next",
    link="models:/shop@challenger",
    scored_by="models:/shop/8",
    trained_until=UNTIL,
)
COLUMN = NotedChallenger(
    name="v7", link="score_v7", scored_by="column score_v7", trained_until=None
)
AWAY = replace(NEXT, scored_by=None, trained_until=None, problem="no route to host")


def known(ledger: Ledger, monitor: str = "shop") -> dict[str, NotedChallenger]:
    found = ledger.noted_challengers.all(monitor)
    assert all(one.noted_at is not None for one in found)
    return {one.name: replace(one, noted_at=None) for one in found}


def better(ledger: Ledger) -> dict[str, dict[str, str]]:
    return ledger.noted_challengers.better(["shop", "other"])


def judged(ledger: Ledger, verdict: str = "better", monitor: str = "shop") -> None:
    ledger.noted_challengers.note_verdicts(monitor, {"next": verdict}, gate="g", evidence="e")


def test_what_has_not_changed_is_not_written_again(ledger: Ledger) -> None:
    ledger.noted_challengers.note("shop", [NEXT, COLUMN])
    before = ledger.writes()
    ledger.noted_challengers.note("shop", [NEXT, COLUMN])
    assert ledger.writes() == before
    assert known(ledger) == {"next": NEXT, "v7": COLUMN}
    ledger.noted_challengers.note("shop", [NEXT])
    assert ledger.writes() == before + 1
    assert known(ledger) == {"next": NEXT}


def test_a_registry_that_is_away_leaves_where_the_link_led(ledger: Ledger) -> None:
    ledger.noted_challengers.note("shop", [NEXT])
    judged(ledger)
    ledger.noted_challengers.note("shop", [AWAY])
    assert known(ledger) == {"next": replace(NEXT, problem="no route to host")}
    assert better(ledger) == {"shop": {"next": "g"}}
    before = ledger.writes()
    ledger.noted_challengers.note("shop", [AWAY])
    assert ledger.writes() == before
    ledger.noted_challengers.note("shop", [NEXT])
    assert known(ledger) == {"next": NEXT}


def test_another_link_of_the_same_name_leads_nowhere_yet(ledger: Ledger) -> None:
    ledger.noted_challengers.note("shop", [NEXT])
    other = replace(AWAY, link="models:/shop@candidate")
    ledger.noted_challengers.note("shop", [other])
    assert known(ledger) == {"next": other}


def test_a_verdict_is_on_the_version_that_was_judged(ledger: Ledger) -> None:
    ledger.noted_challengers.note("shop", [NEXT])
    judged(ledger)
    assert ledger.noted_challengers.judged_on("shop") == {("next", "g", "e")}
    ledger.noted_challengers.note("shop", [replace(NEXT, scored_by="models:/shop/9")])
    assert better(ledger) == {}
    assert ledger.noted_challengers.judged_on("shop") == {("next", "g", None)}
    judged(ledger, "worse")
    assert better(ledger) == {}


def test_who_was_better_than_what_is_deployed_no_more_is_not_named(ledger: Ledger) -> None:
    for monitor in ("shop", "other"):
        ledger.noted_challengers.note(monitor, [NEXT])
        judged(ledger, monitor=monitor)
    wanted = NewPromotion(
        monitor="shop",
        model="shop",
        alias="champion",
        action="promote",
        from_version="7",
        to_version="8",
        actor="ana",
    )
    begun = ledger.promotions.begin(wanted, lease=timedelta(minutes=1))
    assert set(better(ledger)) == {"shop", "other"}
    ledger.promotions.settle(begun, "done")
    assert set(better(ledger)) == {"other"}
    judged(ledger)
    assert set(better(ledger)) == {"shop", "other"}


def test_secrets_of_problems_are_hidden(open_ledger: Callable[..., Ledger]) -> None:
    ledger = open_ledger(mask=lambda text: text.replace("kanarienvogel", "***"))
    for _ in range(2):
        ledger.noted_challengers.note("shop", [replace(AWAY, problem="kanarienvogel is away")])
    assert known(ledger)["next"].problem == "*** is away"
