"""Print alerts, past incidents and replays of rules, as tables or JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from pumonitor.names import estimate_text, estimate_with_interval
from pumonitor.plain_text import one_line, series_of
from pumonitor.text import moment_cell, moment_text

if TYPE_CHECKING:
    from datetime import datetime

    from pumonitor.cli.terminal import Console
    from pumonitor.monitor.alerts.simulation import RuleReplay
    from pumonitor.monitor.inspection.alerts_shown import AlertShown
    from pumonitor.monitor.inspection.incidents import Deed, Delivery, Happening
    from pumonitor.monitor.ledger.records.alerts import Silence
    from pumonitor.monitor.page_addresses import PageAddresses
    from pumonitor.monitor.rules.alerts.alert import Alert, Transition


_OF_A_REPLAY = (
    "kind", "as_of", "window_start", "model_version", "segment", "metric", "value", "low", "high",
    "limit", "reference",
)  # fmt: skip


_COLOURS = {"firing": "red", "recovering": "yellow", "pending": "yellow", "ok": "green"}


def print_current(
    console: Console,
    current: list[Alert],
    silences: tuple[Silence, ...],
    *,
    now: datetime,
    without: str,
    pages: PageAddresses | None = None,
) -> None:
    """Print the states of alerts, firing ones first, their pages, and the silences in force.

    ``without`` is said in their place where there are none.
    """
    from rich.table import Table

    if current:
        table = Table("alert", "state", "newest window")
        for one in sorted(current, key=lambda one: (not one.is_firing, one.monitor, one.rule)):
            silenced = any(silence.covers(one, now=now) for silence in silences)
            table.add_row(*_alert_cells(one, silenced=silenced))
        console.print(table)
    else:
        console.print(without, markup=False)
    for one in current:
        page = _page(one, pages) if one.is_firing else None
        if page is not None:
            of = series_of(one.model_version, one.segment)
            about = f"{one.monitor}: {one.rule}{f' {of}' if of else ''}: {page}"
            console.print(about, markup=False, soft_wrap=True)
    for silence in silences:
        of = silence.rule or silence.metric or "all alerts"
        because = f": {silence.reason}" if silence.reason else ""
        console.print(
            f"silence {silence.id}: {of} of {silence.monitor or 'all monitors'} until "
            f"{moment_text(silence.ends)}, by {silence.author}{because}",
            markup=False,
        )


def _alert_cells(alert: Alert, *, silenced: bool) -> tuple[str, str, str]:
    """The alert with its series, its state, and the newest window with its numbers."""
    from rich.markup import escape

    state = (
        f"{alert.state} since {moment_cell(alert.firing_since)}" if alert.is_firing else alert.state
    )
    if silenced:
        state += ", silenced"
    if alert.is_firing and alert.acknowledged_incident == alert.incident:
        state += ", acknowledged"
    about = [one_line(part) for part in (alert.model_version, alert.segment) if part]
    numbers = alert_numbers(
        alert.metric,
        value=alert.value,
        low=alert.low,
        high=alert.high,
        limit=alert.limit_value,
        reference=alert.reference,
    )
    why = [escape(alert.reason)] if alert.state == "unknown" and alert.reason else []
    return (
        escape(f"{alert.monitor}: {alert.rule}\n{' '.join([f'({alert.severity})', *about])}"),
        f"[{_COLOURS.get(alert.state, 'default')}]{state}[/]",
        "\n".join([moment_cell(alert.window_start), numbers, *why]),
    )


def alert_numbers(
    metric: str,
    *,
    value: float | None,
    low: float | None,
    high: float | None,
    limit: float | None,
    reference: float | None,
) -> str:
    """Format the value with its interval, then the limit, then the reference.

    Examples
    --------
    >>> alert_numbers("auc", value=0.71, low=0.68, high=0.75, limit=0.78, reference=0.83)
    '0.710 (0.680 to 0.750), limit 0.780, reference 0.830'
    """
    if value is None:
        return ""
    parts = [estimate_with_interval(metric, value, low, high)]
    parts += [
        f"{name} {estimate_text(metric, number)}"
        for name, number in (("limit", limit), ("reference", reference))
        if number is not None
    ]
    return ", ".join(parts)


def print_history(
    console: Console, events: list[Happening], pages: PageAddresses | None = None
) -> None:
    """Print past transitions with their causes, whom they went to, what people did, their pages."""
    from pumonitor.monitor.ledger.records.alerts import WITHHELD_BECAUSE

    if not events:
        console.print("No alert has fired.")
    for happening in events:
        stored, one = happening.stored, happening.stored.transition
        colour = "red" if one.kind == "fired" else "green" if one.kind == "resolved" else "yellow"
        of = series_of(one.model_version, one.segment)
        withheld = WITHHELD_BECAUSE[stored.withheld]
        unsent = "" if stored.told_at is not None else f"  (not sent: {withheld})"
        console.print(f"{moment_text(one.as_of)} [{colour}]{one.kind:<8}[/] ", end="")
        console.print(
            f"{one.monitor}: {one.rule}{f' {of}' if of else ''}, incident {one.incident}{unsent}",
            markup=False,
        )
        console.print(f"    {one_line(one.sentence)}", markup=False, soft_wrap=True)
        why = one.cause.get("sentence")
        if why:
            console.print(f"    cause: {one_line(why)}", markup=False, soft_wrap=True)
        if stored.told_at is not None:
            console.print(f"    {_sent(happening.deliveries, stored.told_at)}", markup=False)
        _print_deeds(console, happening.deeds)
        page = _page(one, pages)
        if page is not None:
            console.print(f"    {page}", markup=False, soft_wrap=True)


def print_in_full(
    console: Console,
    shown: list[AlertShown],
    done: dict[str, list[Deed]],
    pages: PageAddresses | None = None,
) -> None:
    """Print firing alerts with cause, what to do about them, and what people did."""
    if not shown:
        console.print("No alert fires.")
    for one in shown:
        alert = one.alert
        of = series_of(alert.model_version, alert.segment)
        console.print(f"[red]{alert.severity}[/] ", end="")
        firing = f", firing since {moment_cell(alert.firing_since)}"
        about = f"{alert.monitor}: {alert.rule}{f' {of}' if of else ''}{firing}"
        console.print(about, markup=False)
        cause = f"cause: {one.cause}" if one.cause else ""
        for said in (one.sentence, cause):
            if said:
                console.print(f"    {one_line(said)}", markup=False, soft_wrap=True)
        console.print("    what to do:")
        for number, step in enumerate(one.next_steps, start=1):
            console.print(f"    {number}. {step}", markup=False, soft_wrap=True)
        mine = [deed for deed in done.get(alert.lane, ()) if deed.incident == alert.incident]
        _print_deeds(console, tuple(reversed(mine)))
        page = _page(alert, pages)
        if page is not None:
            console.print(f"    {page}", markup=False, soft_wrap=True)


def _sent(deliveries: tuple[Delivery, ...], told_at: datetime) -> str:
    """Whom a message went to; of deleted messages only when."""
    if not deliveries:
        return f"sent {moment_text(told_at)}"
    states = {"delivered": "", "waiting": " (waits)", "set aside": " (refused it)"}
    names = [f"{one.destination}{states[one.state]}" for one in deliveries]
    return f"sent {moment_text(told_at)} to {', '.join(names)}"


def _print_deeds(console: Console, deeds: tuple[Deed, ...]) -> None:
    for deed in deeds:
        text = f": {one_line(deed.text)}" if deed.text else ""
        said = f"{moment_text(deed.at)} {one_line(deed.by)} {deed.what}{text}"
        console.print(f"    {said}", markup=False, soft_wrap=True)


def print_replays(console: Console, found: list[RuleReplay]) -> None:
    """Print the events and false alarms of replayed rules."""
    for one in found:
        fired = [event for event in one.events if event.kind == "fired"]
        rate = (
            "not known" if one.false_alarms_per_year is None else f"{one.false_alarms_per_year:g}"
        )
        by = f" ({one.told_by})" if one.told_by else ""
        console.print(f"[bold]{one.rule}[/] ({one.severity})")
        times = {0: "never fired", 1: "fired once"}.get(len(fired), f"fired {len(fired)} times")
        empty = f" (and {one.empty_windows} without predictions)" if one.empty_windows else ""
        console.print(f"  {one.windows} windows{empty}, {times}; false alarms a year: {rate}{by}")
        if one.quiet is not None:
            console.print(f"  in the reference windows: {one.quiet.said()}")
        if one.why_unknown:
            console.print(f"  not evaluated yet: {one.why_unknown}", markup=False)
        for event in one.events:
            of = series_of(event.model_version, event.segment)
            numbers = alert_numbers(
                event.metric,
                value=event.value,
                low=event.low,
                high=event.high,
                limit=event.limit_value,
                reference=event.reference,
            )
            console.print(
                f"  {moment_cell(event.as_of)}  {event.kind:<8} window of "
                f"{moment_cell(event.window_start)}{f', {of}' if of else ''}: {numbers}",
                markup=False,
                soft_wrap=True,
            )


def plain_json(one: Any) -> Any:
    """A record in JSON types."""
    from pumonitor.monitor.inspection.insights import plain

    return plain(asdict(one))


def alert_json(one: Alert, pages: PageAddresses | None = None) -> dict[str, Any]:
    """An alert, and the address of the page of its newest window."""
    return {**plain_json(one), "page": _page(one, pages)}


def event_json(one: Happening, pages: PageAddresses | None = None) -> dict[str, Any]:
    """A transition as one flat mapping, like its row in the ledger; destinations, people, page."""
    plain = plain_json(one)
    of_the_store = plain["stored"]
    return {
        **of_the_store.pop("transition"),
        **of_the_store,
        "destinations": plain["deliveries"],
        "people": plain["deeds"],
        "page": _page(one.stored.transition, pages),
    }


def shown_json(
    one: AlertShown, done: dict[str, list[Deed]], pages: PageAddresses | None = None
) -> dict[str, Any]:
    """A firing alert with its cause, what to do about it, what people did, and its page."""
    mine = [deed for deed in done.get(one.alert.lane, ()) if deed.incident == one.alert.incident]
    return {
        **alert_json(one.alert, pages),
        "is_acknowledged": one.is_acknowledged,
        "sentence": one.sentence,
        "cause": one.cause,
        "next_steps": [str(step) for step in one.next_steps],
        "people": [plain_json(deed) for deed in reversed(mine)],
    }


def _page(one: Alert | Transition, pages: PageAddresses | None) -> str | None:
    """Address of the page of an alert's window; None if it is not known."""
    if pages is None or one.window_start is None:
        return None
    return pages.window(one.monitor, one.window_start, one.model_version, one.segment)


def replay_json(replay: RuleReplay) -> dict[str, Any]:
    """A replay in JSON types, with the main fields of its events."""
    plain: dict[str, Any] = plain_json(replay)
    events = [
        {name: one["limit_value" if name == "limit" else name] for name in _OF_A_REPLAY}
        for one in plain["events"]
    ]
    return {**plain, "events": events}
