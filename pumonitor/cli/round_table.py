"""Print the result of a round of work, as text or JSON."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pumonitor.cli.conditions import print_condition
from pumonitor.cli.outcome import ALERTED, BAD_INPUT, FAILED
from pumonitor.monitor.inspection.conditions import read_conditions
from pumonitor.monitor.inspection.held_up import hold_up_notes
from pumonitor.monitor.inspection.undelivered import undelivered
from pumonitor.monitor.inspection.unnotified import unsent_notes
from pumonitor.monitor.windows.input_findings import summed_up
from pumonitor.plain_text import one_line, series_of
from pumonitor.text import moment_text

if TYPE_CHECKING:
    from pumonitor.cli.terminal import Console
    from pumonitor.monitor.delivery.sending.delivery import Delivery
    from pumonitor.monitor.jobs import Jobs
    from pumonitor.monitor.ledger.claims.held_up import HoldUp
    from pumonitor.monitor.ledger.claims.holders import Holder
    from pumonitor.monitor.ledger.outbox import Waiting
    from pumonitor.monitor.ledger.records.windows import Backlog
    from pumonitor.monitor.ledger.results.looks import RefusedLook
    from pumonitor.monitor.round import Round
    from pumonitor.monitor.rules.alerts.alert import Alert
    from pumonitor.monitor.views.condition import MonitorCondition

__all__ = ["Left", "as_json", "exit_status", "print_round"]


_STYLES = {"critical": "bold red", "warning": "yellow", "info": "cyan"}
_DESTINATIONS = {"mlflow": "results to MLflow", "mlflow-files": "reports to MLflow"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What is in the state database after a round: work, messages and alerts.

    Attributes
    ----------
    backlog : Backlog
    waiting : mapping of str to Waiting
        Messages by destination.
    holders : sequence of Holder
        Processes that hold claims on windows.
    hold_ups : sequence of HoldUp
        Windows that fail and for which later ones wait.
    refused : sequence of RefusedLook
        Windows whose newest look lost rows, so that the earlier results stay.
    set_aside : mapping of str to sequence of str
        What is left out of the tables of each monitor.
    conditions : sequence of MonitorCondition
    unnotified, firing : sequence of Alert
        Firing alerts without a notification; firing alerts, which a backfill leaves out.
    """

    backlog: Backlog
    waiting: Mapping[str, Waiting]
    holders: Sequence[Holder] = ()
    hold_ups: Sequence[HoldUp] = ()
    refused: Sequence[RefusedLook] = ()
    set_aside: Mapping[str, Sequence[str]] = field(default_factory=dict)
    conditions: Sequence[MonitorCondition] = ()
    unnotified: Sequence[Alert] = ()
    firing: Sequence[Alert] = ()

    @classmethod
    def by(cls, jobs: Jobs, monitor: str | None, *, now: datetime) -> Left:
        """Read it, without the firing alerts; of one monitor, or of all that are configured."""
        ledger = jobs.ledger
        backlog = ledger.counts(now=now, monitor=monitor)
        return cls(
            backlog=backlog,
            waiting=ledger.outbox.waiting(),
            holders=ledger.holders(monitor),
            hold_ups=ledger.hold_ups(monitor) if backlog.failing else (),
            refused=[
                look for look in ledger.refused_looks(monitor) if look.monitor in jobs.monitors
            ],
            set_aside={
                name: standing.set_aside
                for name, standing in ledger.standings.all().items()
                if name in jobs.monitors and standing.set_aside and monitor in (None, name)
            },
            conditions=read_conditions(
                ledger,
                {name: one for name, one in jobs.monitors.items() if monitor in (None, name)},
                now=now,
            ),
            unnotified=[
                one for one in ledger.alerts.unnotified(monitor) if one.monitor in jobs.monitors
            ],
        )


def as_json(done: Round, left: Left) -> dict[str, Any]:
    """The result of a round in JSON types."""
    return {
        "planned": done.planned,
        "collected": done.collected,
        "evaluated": done.evaluated,
        "failures": done.failures,
        "findings": [
            {
                "monitor": one.monitor,
                "window_start": one.start.isoformat(),
                "kind": one.kind,
                "finding": one.sentence,
            }
            for one in done.findings
        ],
        "left": {
            "to_collect": left.backlog.to_collect,
            "to_evaluate": left.backlog.to_evaluate,
            "failing": left.backlog.failing,
            "held": [_held_as_json(one) for one in left.holders],
            "lost_rows": [_refused_as_json(one) for one in left.refused],
            "waiting_for": [_hold_up_as_json(one) for one in left.hold_ups],
        },
        "firing": [_firing_as_json(one) for one in left.firing],
        "untold": [
            {
                "monitor": one.monitor,
                "rule": one.rule,
                "model_version": one.model_version,
                "segment": one.segment,
            }
            for one in left.unnotified
        ],
        "notes": done.notes,
        "set_aside": {name: list(some) for name, some in left.set_aside.items()},
        "conditions": [view.to_dict() for view in left.conditions],
        "deliveries": {
            name: _delivery_as_json(one, left.waiting.get(name))
            for name, one in done.deliveries.items()
        },
        "forgotten": asdict(done.forgotten),
        "undelivered": list(undelivered(done.deliveries, left.waiting)),
    }


def _hold_up_as_json(hold_up: HoldUp) -> dict[str, Any]:
    return {
        "monitor": hold_up.monitor,
        "window_start": hold_up.window.start.isoformat(),
        "error": hold_up.error,
        "windows": len(hold_up.waiting),
        "attempts_left": hold_up.attempts_left,
        "given_up_from": hold_up.given_up_from and hold_up.given_up_from.isoformat(),
    }


def _refused_as_json(look: RefusedLook) -> dict[str, Any]:
    return {
        "monitor": look.monitor,
        "window_start": look.window.start.isoformat(),
        "since": look.since.isoformat(),
        "error": look.error,
    }


def _firing_as_json(alert: Alert) -> dict[str, Any]:
    return {
        "monitor": alert.monitor,
        "rule": alert.rule,
        "severity": alert.severity,
        "model_version": alert.model_version,
        "segment": alert.segment,
        "since": None if alert.firing_since is None else alert.firing_since.isoformat(),
        "evidence": alert.evidence,
        "reason": alert.reason,
    }


def _delivery_as_json(delivery: Delivery, waiting: Waiting | None) -> dict[str, Any]:
    return {
        "delivered": delivery.delivered,
        "failed": delivery.failed,
        "set_aside": delivery.set_aside,
        "stopped": delivery.stopped,
        "reason": delivery.reason,
        "waiting": 0 if waiting is None else waiting.messages,
        "held": [] if waiting is None else [_held_as_json(one) for one in waiting.holders],
    }


def _held_as_json(holder: Holder) -> dict[str, Any]:
    return {"by": holder.name, "until": holder.until.isoformat(), "number": holder.held}


def _why(alert: Alert) -> str:
    """The newest window's evidence; introduced as such if it is not the breach that fired."""
    reason = one_line(alert.reason)
    if alert.evidence in (None, "breach"):
        return reason
    since = "" if alert.firing_since is None else f" since {moment_text(alert.firing_since)}"
    says = "is good" if alert.evidence == "good" else "does not decide it"
    return f"fires{since}; the newest window {says}: {reason}"


def print_round(console: Console, done: Round, left: Left) -> None:
    """Print a few lines: failures with their reasons, work done, work left."""
    _print_failures(console, [*done.failures, *_refused_before(done, left)])
    console.print(
        f"{_number(done.collected, 'window')} collected, {done.evaluated} evaluated"
        f"{_work_left(done, left)}.",
        soft_wrap=True,
    )
    if done.failures:
        console.print("Later runs try again what failed; pumonitor doctor shows when.")
    for view in left.conditions:
        if view.condition != "fine":
            print_condition(console, view)
    set_aside = [f"{name}: {what}" for name, some in left.set_aside.items() for what in some]
    unnotified_notes = [f"{what}. {how}" for what, how in unsent_notes(left.unnotified)]
    for note in (
        *done.notes,
        *set_aside,
        *hold_up_notes(left.hold_ups),
        *summed_up(done.findings),
        *unnotified_notes,
    ):
        console.print("Note: ", style="yellow", end="")
        console.print(note, markup=False, soft_wrap=True)
    for alert in left.firing:
        where = series_of(alert.model_version, alert.segment, between=", ")
        style = _STYLES[alert.severity]
        console.print(f"Firing, {alert.severity}: ", style=style, end="")
        about = f"{alert.monitor}{f' ({where})' if where else ''}"
        console.print(f"{about}, {alert.rule}: {_why(alert)}", markup=False, soft_wrap=True)
    _print_deliveries(console, done.deliveries, left.waiting)
    if done.forgotten.evaluations:
        console.print(f"{done.forgotten}.", markup=False, soft_wrap=True)


def exit_status(done: Round, left: Left, *, fail_on_alert: bool = False) -> int:
    """Exit status of a command that did a round."""
    if done.failures:
        return BAD_INPUT if done.bad_input else FAILED
    if left.refused:
        return FAILED
    if fail_on_alert and any(one.severity == "critical" for one in left.firing):
        return ALERTED
    return FAILED if undelivered(done.deliveries, left.waiting) else 0


def _print_deliveries(
    console: Console, deliveries: Mapping[str, Delivery], waiting: Mapping[str, Waiting]
) -> None:
    for name, one in deliveries.items():
        line = f"{_DESTINATIONS.get(name, name)}: {_number(one.delivered, 'message')} delivered"
        if one.failed:
            line += f", {one.failed} failed ({one.reason})"
        if one.set_aside:
            line += f", {one.set_aside} set aside ({one.reason})"
        if name in waiting and waiting[name].messages:
            line += _waiting(waiting[name])
        console.print(line, markup=False, soft_wrap=True)
    missed = undelivered(deliveries, waiting)
    if missed:
        console.print("Not delivered: ", style="red", end="")
        names = ", ".join(_DESTINATIONS.get(name, name) for name in missed)
        console.print(f"{names}. Later runs try again.", markup=False, soft_wrap=True)


def _print_failures(console: Console, failures: Sequence[str]) -> None:
    for failure, others in _alike(failures):
        console.print("Failed: ", style="red", end="")
        console.print(failure, markup=False, soft_wrap=True)
        if others:
            console.print(f"  {_number(others, 'other window')} failed for the same reason")


def _refused_before(done: Round, left: Left) -> list[str]:
    """What earlier rounds found of lost rows, where this one did not look again."""
    texts = [
        f"{look.monitor}, window of {moment_text(look.window.start)}: {look.error}"
        for look in left.refused
    ]
    return [text for text in texts if text not in done.failures]


def _alike(failures: Sequence[str]) -> list[tuple[str, int]]:
    """The first of failures that differ in their numbers alone, and how many others there are."""
    first: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for failure in failures:
        key = re.sub(r"\d+", "", failure) if ", window of " in failure else failure
        first.setdefault(key, failure)
        counts[key] += 1
    return [(failure, counts[key] - 1) for key, failure in first.items()]


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def held_by(holders: Sequence[Holder]) -> str:
    """The processes that hold claims, and the ends of their leases."""
    return ", ".join(f"{one.name} until {moment_text(one.until)}" for one in holders)


def _waiting(waiting: Waiting) -> str:
    held = sum(one.held for one in waiting.holders)
    parts = []
    if held:
        parts.append(f"{held} held by {held_by(waiting.holders)}")
    if waiting.messages > held:
        parts.append(f"{waiting.messages - held} wait for the next run")
    return f"; {', '.join(parts)}"


def _work_left(done: Round, left: Left) -> str:
    number = left.backlog.to_collect + left.backlog.to_evaluate
    if number and left.holders:
        held = sum(one.held for one in left.holders)
        return f"; {number} left, {held} held by {held_by(left.holders)}"
    if number and left.hold_ups:
        waiting = len(frozenset[str]().union(*(one.waiting for one in left.hold_ups)))
        return f"; {number} left, {waiting} of them for earlier windows that cannot be counted"
    if number:
        return f"; {number} left to other processes or to the next run"
    # After failures more may be left than is counted, as unplanned windows are in no count.
    return "" if done.failures else "; nothing is left"
