"""`pumonitor insights`: summarise a monitor's newest results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pumonitor.cli.changed_configuration import note_changed_configuration
from pumonitor.cli.conditions import print_condition
from pumonitor.cli.monitor_options import DEFAULT_CONFIG, AsJson, Config, SomeMonitor
from pumonitor.cli.opened import opened_ledger
from pumonitor.plain_text import series_of
from pumonitor.text import number_text, signed_text, window_text, with_interval

if TYPE_CHECKING:
    from pumonitor.cli.terminal import Console
    from pumonitor.monitor.views.insights import (
        EstimateOfWindowView,
        InsightView,
        WindowInsightView,
    )


def insights(
    monitor: SomeMonitor = None, *, config: Config = DEFAULT_CONFIG, as_json: AsJson = False
) -> None:
    """Show the newest mature window and the newest window: estimates, changes, and expected values.

    Then the labels: where they come from, how late they are, whether reviewers agree, and what 100
    reviews more would tell (in JSON: labels).

    For a class prior that is followed over windows, also its source, what has changed since, and
    what remains unknown (in JSON: class_prior_said). With pages: address in the configuration, the
    address of the monitor's page (in JSON: page).

    Example: pumonitor insights card-fraud
    """
    from rich.padding import Padding
    from rich.text import Text

    from pumonitor.cli.terminal import Console, print_json

    with opened_ledger(config, monitor) as (configuration, chosen, ledger):
        from pumonitor.monitor.app import utc_now
        from pumonitor.monitor.inspection.conditions import read_conditions
        from pumonitor.monitor.inspection.insights import insight_of
        from pumonitor.monitor.inspection.label_health import label_health
        from pumonitor.monitor.inspection.label_health_text import label_health_sentences
        from pumonitor.monitor.windows.due.due_windows import beginning_of, end_of

        note_changed_configuration(
            ledger, chosen.values(), config, then="To evaluate them under the present one"
        )
        now, standings = utc_now(), ledger.standings.all()
        conditions = read_conditions(ledger, chosen, now=now)
        at = configuration.page_addresses
        found = [
            insight_of(
                ledger,
                name,
                now=now,
                condition=condition,
                beginning=beginning_of(one, standings.get(name)),
                end=end_of(one, standings.get(name), now=now),
                # How labels arrive takes statistics: too long for a few lines without reviews.
                labels=label_health(ledger, one, with_arrivals=as_json or bool(one.reviews)),
                page=None if at is None else at.monitor(name),
            )
            for (name, one), condition in zip(chosen.items(), conditions, strict=True)
        ]
        if as_json:
            print_json(found)
            return
        console = Console(highlight=False)
        for one in found:
            _print(console, one)
            if one.latest and one.labels is not None:
                console.print("\n  Labels")
                for sentence in label_health_sentences(one.labels):
                    console.print(Padding(Text(sentence), (0, 0, 0, 4)))
            if one.page is not None:
                console.print(f"\n  Page: {one.page}", markup=False, soft_wrap=True)


def _print(console: Console, insight: InsightView) -> None:
    console.print(f"[bold]{insight.monitor}[/]")
    backlog = insight.backlog
    left = backlog.to_collect + backlog.to_evaluate
    if left:
        console.print(
            f"  {left} windows are still to be evaluated ({backlog.failing} of them failed "
            "before); pumonitor doctor shows why"
        )
    for note in insight.waiting:
        console.print(f"  {note}", markup=False, soft_wrap=True, style="yellow")
    if insight.condition is not None:
        print_condition(console, insight.condition, indent="  ")
    if insight.evaluated and not insight.latest:
        console.print(
            f"  {insight.evaluated} windows have been evaluated; none of them has predictions"
        )
    for window in insight.latest:
        _print_window(console, window)
    for finding in insight.findings:
        console.print(f"\n  Note: {finding}", markup=False, style="yellow")


def _print_window(console: Console, window: WindowInsightView) -> None:
    from rich.markup import escape
    from rich.padding import Padding

    of = escape(series_of(window.model_version, window.segment))
    console.print(
        f"\n  {window_text(window.start, window.end)}"
        f"{f', {of}' if of else ''}: [bold]{window.state}[/], {window.labeled_positives} of "
        f"{window.predictions} rows confirmed"
    )
    if window.state == "provisional" and window.label_maturity.value is not None:
        console.print(f"    labels that have arrived: {_interval(window.label_maturity)}")
    for name, number in window.estimates.items():
        parts = [_interval(number)]
        expected, change = window.expected.get(name), window.changes.get(f"{name}")
        if window.state == "provisional" and expected is not None and expected.value is not None:
            parts.append(f"expected {_interval(expected)}")
        if change is not None and change.value is not None:
            parts.append(f"change from the reference {_interval(change, signed=True)}")
        _print_parts(console, f"    {name:<18} ", parts)
    if window.class_prior_said:
        said = f"class prior: {escape(window.class_prior_said)}"
        console.print(Padding(said, (0, 0, 0, 4)))
    for reason in _impossible(window):
        console.print(f"    [yellow]{_doubt(reason)}: {escape(reason)}[/]")
    for doubt in window.doubts:
        console.print(f"    [yellow]doubtful: {escape(doubt)}[/]")
    if window.verdict != "unknown":
        console.print(f"    compared with the reference: [bold]{window.verdict}[/]")


def _print_parts(console: Console, name: str, parts: Sequence[str]) -> None:
    """Print parts on one line as far as they fit; none is broken."""
    from rich.text import Text

    line = name + parts[0]
    for part in parts[1:]:
        if Text.from_markup(f"{line}   {part}").cell_len <= console.width:
            line += f"   {part}"
        else:
            console.print(line, soft_wrap=True)
            line = " " * len(name) + part
    console.print(line, soft_wrap=True)


def _impossible(window: WindowInsightView) -> list[str]:
    """Reasons why estimates are impossible; only the class prior's if that is the cause."""
    reasons = {name: one.infeasible_reason for name, one in window.estimates.items()}
    of_prior = reasons.get("class_prior")
    found = [of_prior] if of_prior else [one for one in reasons.values() if one]
    return list(dict.fromkeys(found))


def _doubt(reason: str) -> str:
    from pumonitor.diagnostics.impossible_prior import COMPUTED_FROM

    return "in doubt" if reason.startswith(COMPUTED_FROM) else "impossible"


def _interval(number: EstimateOfWindowView, *, signed: bool = False) -> str:
    if number.value is None:
        return "undefined"

    as_text = signed_text if signed else number_text
    text = with_interval(number.value, number.low, number.high, as_text=as_text)
    if number.infeasible_reason:
        text += f" ({_doubt(number.infeasible_reason)})"
    return f"{text} assumed" if number.assumed else text
