"""Print the result of a round of work, as text or JSON."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pumonitor.monitor.inspection.held_up import hold_up_notes
from pumonitor.monitor.inspection.undelivered import undelivered
from pumonitor.monitor.inspection.unnotified import unsent_notes
from pumonitor.monitor.windows.input_findings import summed_up
from pumonitor.plain_text import one_line, series_of

if TYPE_CHECKING:
    from pumonitor.cli.terminal import Console
    from pumonitor.monitor.ledger.claims.held_up import HoldUp
    from pumonitor.monitor.ledger.claims.holders import Holder
    from pumonitor.monitor.ledger.outbox import Waiting
    from pumonitor.monitor.ledger.records.windows import Backlog
    from pumonitor.monitor.round import Round
    from pumonitor.monitor.rules.alerts.alert import Alert

__all__ = ["as_json", "print_round"]


_STYLES = {"critical": "bold red", "warning": "yellow", "info": "cyan"}
_DESTINATIONS = {"mlflow": "results to MLflow", "mlflow-files": "reports to MLflow"}


def as_json(
    done: Round,
    backlog: Backlog,
    firing: Sequence[Alert] = (),
    *,
    waiting: Mapping[str, Waiting],
    holders: Sequence[Holder] = (),
    hold_ups: Sequence[HoldUp] = (),
    unnotified: Sequence[Alert] = (),
) -> dict[str, Any]:
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
            "to_collect": backlog.to_collect,
            "to_evaluate": backlog.to_evaluate,
            "failing": backlog.failing,
            "held": [_held_as_json(one) for one in holders],
            "waiting_for": [
                {
                    "monitor": one.monitor,
                    "window_start": one.window.start.isoformat(),
                    "error": one.error,
                    "windows": len(one.waiting),
                    "attempts_left": one.attempts_left,
                    "given_up_from": one.given_up_from and one.given_up_from.isoformat(),
                }
                for one in hold_ups
            ],
        },
        "firing": [
            {
                "monitor": one.monitor,
                "rule": one.rule,
                "severity": one.severity,
                "model_version": one.model_version,
                "segment": one.segment,
                "since": None if one.firing_since is None else one.firing_since.isoformat(),
                "evidence": one.evidence,
                "reason": one.reason,
            }
            for one in firing
        ],
        "untold": [
            {
                "monitor": one.monitor,
                "rule": one.rule,
                "model_version": one.model_version,
                "segment": one.segment,
            }
            for one in unnotified
        ],
        "stopped": {name: since.isoformat() for name, since in done.stopped.items()},
        "deliveries": {
            name: {
                "delivered": one.delivered,
                "failed": one.failed,
                "set_aside": one.set_aside,
                "stopped": one.stopped,
                "reason": one.reason,
                "waiting": waiting[name].messages if name in waiting else 0,
                "held": [
                    _held_as_json(holder)
                    for holder in (waiting[name].holders if name in waiting else ())
                ],
            }
            for name, one in done.deliveries.items()
        },
        "undelivered": list(undelivered(done.deliveries, waiting)),
    }


def _held_as_json(holder: Holder) -> dict[str, Any]:
    return {"by": holder.name, "until": holder.until.isoformat(), "number": holder.held}


def _why(alert: Alert) -> str:
    """The newest window's evidence; introduced as such if it is not the breach that fired."""
    reason = one_line(alert.reason)
    if alert.evidence in (None, "breach"):
        return reason
    since = "" if alert.firing_since is None else f" since {alert.firing_since:%Y-%m-%d %H:%M} UTC"
    says = "is good" if alert.evidence == "good" else "is evidence neither way"
    return f"fires{since}; the newest window {says}: {reason}"


def print_round(
    console: Console,
    done: Round,
    backlog: Backlog,
    firing: Sequence[Alert] = (),
    *,
    waiting: Mapping[str, Waiting],
    holders: Sequence[Holder] = (),
    hold_ups: Sequence[HoldUp] = (),
    unnotified: Sequence[Alert] = (),
) -> None:
    """Print a few lines: failures with their reasons, work done, work left."""
    _print_failures(console, done.failures)
    console.print(
        f"{_number(done.collected, 'window')} collected, {done.evaluated} evaluated"
        f"{_left(done, backlog, holders, hold_ups)}.",
        soft_wrap=True,
    )
    if done.failures:
        console.print("What failed is tried again by later runs; pumonitor doctor says when.")
    stopped = [
        f"{name}: no predictions since {since:%Y-%m-%d %H:%M} UTC; no window is due before there "
        "are others"
        for name, since in done.stopped.items()
    ]
    unnotified_notes = [f"{what}. {how}" for what, how in unsent_notes(unnotified)]
    for note in (*stopped, *hold_up_notes(hold_ups), *summed_up(done.findings), *unnotified_notes):
        console.print("Note: ", style="yellow", end="")
        console.print(note, markup=False, soft_wrap=True)
    for alert in firing:
        where = series_of(alert.model_version, alert.segment, between=", ")
        style = _STYLES[alert.severity]
        console.print(f"Firing, {alert.severity}: ", style=style, end="")
        about = f"{alert.monitor}{f' ({where})' if where else ''}"
        console.print(f"{about}, {alert.rule}: {_why(alert)}", markup=False, soft_wrap=True)
    for name, one in done.deliveries.items():
        line = f"{_DESTINATIONS.get(name, name)}: {_number(one.delivered, 'message')} delivered"
        if one.failed:
            line += f", {one.failed} failed ({one.reason})"
        if one.set_aside:
            line += f", {one.set_aside} set aside ({one.reason})"
        if name in waiting and waiting[name].messages:
            line += _waiting(waiting[name])
        console.print(line, markup=False, soft_wrap=True)
    missed = undelivered(done.deliveries, waiting)
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
    return ", ".join(f"{one.name} until {one.until:%H:%M:%S} UTC" for one in holders)


def _waiting(waiting: Waiting) -> str:
    held = sum(one.held for one in waiting.holders)
    parts = []
    if held:
        parts.append(f"{held} held by {held_by(waiting.holders)}")
    if waiting.messages > held:
        parts.append(f"{waiting.messages - held} wait for the next run")
    return f"; {', '.join(parts)}"


def _left(
    done: Round, backlog: Backlog, holders: Sequence[Holder], hold_ups: Sequence[HoldUp]
) -> str:
    left = backlog.to_collect + backlog.to_evaluate
    if left and holders:
        held = sum(one.held for one in holders)
        return f"; {left} left, {held} held by {held_by(holders)}"
    if left and hold_ups:
        waiting = len(frozenset[str]().union(*(one.waiting for one in hold_ups)))
        return f"; {left} left, {waiting} of them for earlier windows that cannot be counted"
    if left:
        return f"; {left} left to other processes or to the next run"
    # After failures more may be left than is counted, as unplanned windows are in no count.
    return "" if done.failures else "; nothing is left"
