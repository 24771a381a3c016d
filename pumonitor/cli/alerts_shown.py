"""Print alerts, past incidents and replays of rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pumonitor.names import estimate_text, estimate_with_interval
from pumonitor.plain_text import one_line, series_of
from pumonitor.text import moment_cell, moment_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from pumonitor.cli.terminal import Console
    from pumonitor.monitor.alerts.simulation import RuleReplay
    from pumonitor.monitor.ledger.records.alerts import Silence
    from pumonitor.monitor.rules.alerts.alert import Transition
    from pumonitor.monitor.views.alerts import (
        AlertEventView,
        AlertIdentityView,
        AlertView,
        UserActionView,
    )
    from pumonitor.monitor.views.incidents import IncidentView

_COLOURS: Final = {
    "firing": "red", "recovering": "yellow", "pending": "yellow", "ok": "green",
    "fired": "red", "resolved": "green", "reminder": "yellow",
}  # fmt: skip
_STATES: Final = {"delivered": "", "waiting": " (waits)", "set aside": " (refused it)"}


def print_current(
    console: Console, alerts: Sequence[AlertView], silences: Sequence[Silence], *, without: str
) -> None:
    """Print the states of alerts, firing ones first, their pages, and the silences in force.

    ``without`` is said in their place where there are none.
    """
    from pumonitor.cli.terminal import TableColumn, print_table

    if alerts:
        columns = [
            TableColumn("alert", _about_in_lines),
            TableColumn("state", _state, style=lambda alert: _COLOURS.get(alert.state, "")),
            TableColumn("newest window", _evidence),
        ]
        ordered = sorted(alerts, key=lambda one: (not one.is_firing, one.monitor, one.rule))
        print_table(console, ordered, columns)
    else:
        console.print(without, markup=False)
    for alert in alerts:
        if alert.is_firing and alert.page is not None:
            console.print(f"{_about(alert)}: {alert.page}", markup=False, soft_wrap=True)
    for silence in silences:
        of = silence.rule or silence.metric or "all alerts"
        because = f": {silence.reason}" if silence.reason else ""
        console.print(
            f"silence {silence.id}: {of} of {silence.monitor or 'all monitors'} until "
            f"{moment_text(silence.ends)}, by {silence.author}{because}",
            markup=False,
        )


def _about(alert: AlertIdentityView) -> str:
    of = series_of(alert.model_version, alert.segment)
    return f"{alert.monitor}: {alert.rule}{f' {of}' if of else ''}"


def _about_in_lines(alert: AlertView) -> str:
    series = [one_line(part) for part in (alert.model_version, alert.segment) if part]
    return f"{alert.monitor}: {alert.rule}\n{' '.join([f'({alert.severity})', *series])}"


def _state(alert: AlertView) -> str:
    state = (
        f"{alert.state} since {moment_cell(alert.firing_since)}" if alert.is_firing else alert.state
    )
    silenced = ", silenced" if alert.silenced_until is not None else ""
    return f"{state}{silenced}{', acknowledged' if alert.is_acknowledged else ''}"


def _evidence(alert: AlertView) -> str:
    why = [alert.reason] if alert.state == "unknown" and alert.reason else []
    return "\n".join([moment_cell(alert.window_start), _numbers(alert, alert.limit), *why])


def _numbers(alert: AlertView | Transition, limit: float | None) -> str:
    """The value with its interval, then the limit, then the reference."""
    if alert.value is None:
        return ""
    parts = [estimate_with_interval(alert.metric, alert.value, alert.low, alert.high)]
    parts += [
        f"{name} {estimate_text(alert.metric, number)}"
        for name, number in (("limit", limit), ("reference", alert.reference))
        if number is not None
    ]
    return ", ".join(parts)


def print_history(console: Console, events: Sequence[AlertEventView]) -> None:
    """Print past transitions with their causes, whom they went to, what people did, their pages."""
    if not events:
        console.print("No alert has fired.")
    for event in events:
        unsent = "" if event.notified_at is not None else f"  (not sent: {event.withheld})"
        colour = _COLOURS[event.kind]
        console.print(f"{moment_text(event.as_of)} [{colour}]{event.kind:<8}[/] ", end="")
        about = f"{_about(event)}, incident {event.incident}{unsent}"
        console.print(about, markup=False)
        why = event.cause.get("sentence")
        sent = "" if event.notified_at is None else _sent(event, event.notified_at)
        _print_below(
            console,
            one_line(event.sentence),
            f"cause: {one_line(why)}" if why else "",
            sent,
            *map(_action, event.people),
            event.page or "",
        )


def print_in_full(console: Console, incidents: Sequence[IncidentView]) -> None:
    """Print incidents: their alerts, then cause, what to do about them, and what people did."""
    if not incidents:
        console.print("No alert fires.")
    for incident in incidents:
        for alert in incident.alerts:
            console.print(f"[red]{alert.severity}[/] ", end="")
            console.print(
                f"{_about(alert)}, firing since {moment_cell(alert.firing_since)}", markup=False
            )
            _print_below(console, one_line(alert.sentence))
        _print_below(
            console,
            f"cause: {one_line(incident.cause)}" if incident.cause else "",
            "what to do:",
            *(f"{number}. {step}" for number, step in enumerate(incident.next_steps, start=1)),
            *(_action(action) for alert in incident.alerts for action in alert.people),
            *(alert.page or "" for alert in incident.alerts),
        )


def _print_below(console: Console, *lines: str) -> None:
    for line in lines:
        if line:
            console.print(f"    {line}", markup=False, soft_wrap=True)


def _sent(event: AlertEventView, notified_at: datetime) -> str:
    """Whom a message went to; of deleted messages only when."""
    names = [f"{sent.destination}{_STATES[sent.state]}" for sent in event.destinations]
    to = f" to {', '.join(names)}" if names else ""
    return f"sent {moment_text(notified_at)}{to}"


def _action(action: UserActionView) -> str:
    text = f": {one_line(action.text)}" if action.text else ""
    return f"{moment_text(action.at)} {one_line(action.by)} {action.what}{text}"


def print_replays(console: Console, replays: Sequence[RuleReplay]) -> None:
    """Print the events and false alarms of replayed rules."""
    for replay in replays:
        fired = sum(event.kind == "fired" for event in replay.events)
        known = replay.false_alarms_per_year
        rate = "not known" if known is None else f"{known:g}"
        by = f" ({replay.told_by})" if replay.told_by else ""
        console.print(f"[bold]{replay.rule}[/] ({replay.severity})")
        times = {0: "never fired", 1: "fired once"}.get(fired, f"fired {fired} times")
        many = replay.empty_windows
        empty = f" (and {many} without predictions)" if many else ""
        console.print(
            f"  {replay.windows} windows{empty}, {times}; false alarms a year: {rate}{by}"
        )
        if replay.quiet is not None:
            console.print(f"  in the reference windows: {replay.quiet.said()}")
        if replay.why_unknown:
            console.print(f"  not evaluated yet: {replay.why_unknown}", markup=False)
        for event in replay.events:
            of = series_of(event.model_version, event.segment)
            window = moment_cell(event.window_start)
            console.print(
                f"  {moment_cell(event.as_of)}  {event.kind:<8} window of {window}"
                f"{f', {of}' if of else ''}: {_numbers(event, event.limit_value)}",
                markup=False,
                soft_wrap=True,
            )
