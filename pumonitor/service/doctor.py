"""What is late, stuck or unreachable, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from pumonitor.errors import PumonitorError
from pumonitor.service.app import open_ledger
from pumonitor.service.config import Configuration, Monitor
from pumonitor.service.configuration_changes import stored_hash
from pumonitor.service.connections import check_tracking
from pumonitor.service.problems import Problem, shown_place
from pumonitor.store.ledger import Ledger

__all__ = ["Complaint", "examine", "unread_complaints"]

Severity = Literal["error", "warning"]
_LATE = timedelta(days=1)
_UNDELIVERED = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """Something that is not as it should be.

    Attributes
    ----------
    severity : {"error", "warning"}
    what : str
    remedy : str
    """

    severity: Severity
    what: str
    remedy: str


def unread_complaints(unread: Iterable[Problem]) -> list[Complaint]:
    """Variables that a run from here would miss."""
    return [
        Complaint(
            severity="warning",
            what=f"{shown_place(problem.place)} {problem.message}",
            remedy="set it where pumonitor run or serve is started; reading needs none of it",
        )
        for problem in unread
    ]


def examine(configuration: Configuration, *, now: datetime) -> list[Complaint]:
    """Look at the state database, the windows, the outbox and the tracking server."""
    complaints: list[Complaint] = []
    try:
        ledger = open_ledger(configuration)
    except PumonitorError as error:
        return [
            Complaint(
                severity="error",
                what=f"the state database cannot be used: {error}",
                remedy="nothing is evaluated until it can; check its address and that it is up",
            )
        ]
    with ledger:
        for name, monitor in configuration.monitors.items():
            complaints += _of_monitor(ledger, name, monitor, now=now)
        complaints += _of_outbox(ledger)
    if configuration.tracking is not None:
        try:
            check_tracking(configuration.tracking.address)
        except PumonitorError as error:
            complaints.append(
                Complaint(
                    severity="error",
                    what=f"MLflow: {error}",
                    remedy="evaluation goes on; results wait in the outbox until it answers",
                )
            )
    return complaints


def _of_monitor(ledger: Ledger, name: str, monitor: Monitor, *, now: datetime) -> list[Complaint]:
    found: list[Complaint] = []
    registered = ledger.configuration(name)
    if registered is None:
        return [
            Complaint(
                severity="warning",
                what=f"{name} has never run",
                remedy=f"pumonitor run {name}, or pumonitor backfill {name} --from ... --to ...",
            )
        ]
    if registered != stored_hash(ledger, monitor):
        found.append(
            Complaint(
                severity="warning",
                what=f"the configuration of {name} means something else than when it last ran",
                remedy="the next run evaluates all its windows anew under the new configuration",
            )
        )
    failing = [one for one in ledger.windows(name) if one.last_error and one.attempts]
    for one in failing[:5]:
        again = "" if one.not_before is None else f", next try {one.not_before:%Y-%m-%d %H:%M} UTC"
        found.append(
            Complaint(
                severity="error",
                what=f"{name}: the window of {one.window.start:%Y-%m-%d %H:%M} failed "
                f"{one.attempts} times{again}: {one.last_error}",
                remedy=f"mend the cause, then pumonitor backfill {name} --reprocess failed "
                f"--from {one.window.start:%Y-%m-%d} "
                f"--to {one.window.end + timedelta(days=1):%Y-%m-%d}",
            )
        )
    if len(failing) > 5:
        found.append(
            Complaint(
                severity="error",
                what=f"{name}: {len(failing) - 5} further windows fail",
                remedy="pumonitor results shows which are missing",
            )
        )
    backlog = ledger.counts(now=now, monitor=name)
    if backlog.oldest_unfinished is not None and now - backlog.oldest_unfinished > _LATE:
        found.append(
            Complaint(
                severity="warning",
                what=f"{name}: {backlog.to_collect + backlog.to_evaluate} windows are late, the "
                f"oldest was due {backlog.oldest_unfinished:%Y-%m-%d %H:%M} UTC",
                remedy="is pumonitor run in cron, or pumonitor serve up? pumonitor run catches up",
            )
        )
    newest = max((one.window.end for one in ledger.windows(name)), default=None)
    if newest is not None and now - newest > 2 * _longest_gap(monitor, newest) + _LATE:
        found.append(
            Complaint(
                severity="warning",
                what=f"{name}: no window was planned since {newest:%Y-%m-%d %H:%M} UTC",
                remedy="run pumonitor run; if predictions have stopped, pumonitor check shows it",
            )
        )
    return found


def _longest_gap(monitor: Monitor, moment: datetime) -> timedelta:
    window = monitor.windows.containing(moment)
    return window.end - window.start


def _of_outbox(ledger: Ledger) -> list[Complaint]:
    found = []
    for name, waiting in ledger.outbox.waiting().items():
        because = f": {waiting.last_error}" if waiting.last_error else ""
        if waiting.set_aside:
            found.append(
                Complaint(
                    severity="error",
                    what=f"{name}: {waiting.set_aside} messages were refused and set aside"
                    f"{'' if waiting.messages else because}",
                    remedy=f"mend the cause, then pumonitor doctor --take-up {name}",
                )
            )
        if waiting.messages and waiting.oldest > _UNDELIVERED:
            hours = waiting.oldest.total_seconds() / 3600
            found.append(
                Complaint(
                    severity="warning",
                    what=f"{name}: {waiting.messages} messages wait, the oldest {hours:.0f} h"
                    f"{because}",
                    remedy="they are sent by the next run once the destination answers",
                )
            )
    return found
