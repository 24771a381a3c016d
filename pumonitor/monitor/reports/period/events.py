"""What happened in a period: alerts, model versions, configurations, versions of pumonitor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from pumonitor.monitor.charts.time_series import Mark
from pumonitor.monitor.config.changes import changes_between
from pumonitor.monitor.ledger.records.columns import ResultColumns
from pumonitor.monitor.ledger.records.notes import Note
from pumonitor.monitor.ledger.records.windows import WindowRecord
from pumonitor.monitor.views.alerts import AlertEventView
from pumonitor.plain_text import one_line
from pumonitor.text import count_text, moment_cell

_MOST_MARKS: Final = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionShown:
    """A model version that predicted in some windows."""

    name: str
    windows: int
    first: str
    last: str
    predictions: str


def notes_said(notes: Sequence[Note], *, zone: ZoneInfo) -> list[str]:
    """Notes of people with what they are about."""
    return [
        f"{moment_cell(one.at, zone)}"
        f"{'' if one.ends is None else f' to {moment_cell(one.ends, zone)}'}, {one.author}: "
        f"{one_line(one.text)}"
        for one in notes
    ]


def numbers_of(events: Sequence[AlertEventView]) -> dict[int, int]:
    """Numbers of the marks in the charts, of alerts that fired, by the id of the event."""
    fired = [event.id for event in events if event.kind == "fired"]
    return {event: number for number, event in enumerate(fired[:_MOST_MARKS], start=1)}


def marks_of(events: Sequence[AlertEventView]) -> list[Mark]:
    """Marks of the alerts that fired, for the charts."""
    numbers = numbers_of(events)
    return [
        Mark(event.window_start, numbers[event.id], f"{one_line(event.rule)} fired", "alert")
        for event in events
        if event.id in numbers
    ]


def by_window_and_version(columns: ResultColumns, metric: str) -> dict[tuple[datetime, str], float]:
    """Values of a metric of every model version of every window, where there is one.

    The oldest window is left out if the ledger has more results than were read, as it is in
    `metric_over_windows`: of it some may be missing.
    """
    stored = zip(
        columns.window_start, columns.model_version, columns.metric, columns.value, strict=True
    )
    oldest = min(columns.window_start, default=None) if columns.is_cut else None
    return {
        (start, version): value
        for start, version, name, value in stored
        if name == metric and value is not None and start != oldest
    }


def versions_of(columns: ResultColumns, *, zone: ZoneInfo) -> list[VersionShown]:
    """Model versions by their first window, each with all windows in which it predicted."""
    found: dict[str, dict[datetime, float]] = {}
    for (start, version), many in by_window_and_version(columns, "predictions").items():
        found.setdefault(version, {})[start] = many
    return [
        VersionShown(
            name=one_line(version) or "without a version",
            windows=len(some),
            first=moment_cell(min(some), zone),
            last=moment_cell(max(some), zone),
            predictions=count_text(round(sum(some.values()))),
        )
        for version, some in sorted(found.items(), key=lambda one: (min(one[1]), one[0]))
    ]


def configurations_said(
    records: Sequence[WindowRecord],
    stored: Mapping[str, Mapping[str, Any]],
    *,
    current: str | None,
    zone: ZoneInfo,
) -> list[str]:
    """Sentences on windows that were evaluated under other configurations than the present one.

    Parameters
    ----------
    records : sequence of WindowRecord
        Of the period, under all configurations.
    stored : mapping
        Configurations by hash.
    current : str or None
        Hash of the one whose numbers are shown.
    zone : ZoneInfo
    """
    others: dict[str, list[WindowRecord]] = {}
    for one in records:
        if one.configuration != current and any(pane.revision is not None for pane in one.panes):
            others.setdefault(one.configuration, []).append(one)
    found = []
    for configuration, some in others.items():
        now = stored.get(current or "", {})
        changes = changes_between(stored.get(configuration, {}), now)
        first, last = some[0].window.start, some[-1].window.start
        found.append(
            f"{len(some)} windows from {moment_cell(first, zone)} to {moment_cell(last, zone)} "
            f"were also evaluated under another configuration: {'; '.join(changes)}. This report "
            "has the numbers of the present one."
        )
    return found
